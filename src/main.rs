//! The program: parse, run, print one error, exit code.

use std::io::{Write, stderr};
use std::process::ExitCode;

use plimsoll::cli::Cli;
use plimsoll::text::clean;

fn main() -> ExitCode {
    let cli = match Cli::from_process() {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is nothing to report.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    match plimsoll::run(cli) {
        Ok(code) => ExitCode::from(code),
        Err(failed) => {
            if failed.code != 0 {
                let text = format!("{:#}", failed.error);
                let _ = writeln!(stderr(), "plimsoll: {}", clean(&text));
            }
            ExitCode::from(failed.code)
        }
    }
}
