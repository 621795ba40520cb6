//! Commands that run other commands: which ones, as far as their arguments say.

use super::command::Stdin;
use super::word::Word;

/// What is inside a command.
#[derive(Debug)]
pub(super) enum Inner {
    /// Another command.
    Command(Vec<Word>),
    /// A text that a shell runs.
    Script(Word),
    /// Something that cannot be known.
    Unclear(&'static str),
}

/// A program that runs the command behind its own options.
struct Wrapper {
    name: &'static str,
    /// Options that take the next word.
    with_value: &'static [&'static str],
    /// Words before the command that are not options.
    operands: usize,
}

const fn wrapper(
    name: &'static str,
    with_value: &'static [&'static str],
    operands: usize,
) -> Wrapper {
    Wrapper {
        name,
        with_value,
        operands,
    }
}

const WRAPPERS: [Wrapper; 20] = [
    wrapper("command", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("coproc", &[], 0),
    wrapper("nohup", &[], 0),
    wrapper("setsid", &[], 0),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "-p", "--class", "--classdata"], 0),
    wrapper("chrt", &["-p"], 1),
    wrapper("taskset", &["-p"], 1),
    wrapper("timeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper("gtimeout", &["-s", "-k", "--signal", "--kill-after"], 1),
    wrapper(
        "stdbuf",
        &["-i", "-o", "-e", "--input", "--output", "--error"],
        0,
    ),
    wrapper("unbuffer", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("strace", &["-e", "-o", "-s"], 0),
    wrapper("chroot", &[], 1),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
];
/// Options of `xargs` that take the next word.
const XARGS_VALUES: [&str; 12] = [
    "-I",
    "-n",
    "-P",
    "-L",
    "-d",
    "-a",
    "-E",
    "-s",
    "--max-args",
    "--max-procs",
    "--arg-file",
    "--delimiter",
];
/// Shells, which run a text.
const SHELLS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash",
];
/// Options of a shell that take the next word.
const SHELL_VALUES: [&str; 6] = ["-o", "+o", "-O", "+O", "--rcfile", "--init-file"];

const OPTIONS_UNKNOWN: &str = "which program it runs is only known at run time";
const STDIN_UNKNOWN: &str = "a shell runs a text that is only known at run time";

/// What the command `name` with `args` runs itself.
pub(super) fn inside(name: &str, args: &[Word], stdin: &Stdin) -> Vec<Inner> {
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        if name == "command" && matches!(args.first().and_then(Word::literal), Some("-v" | "-V")) {
            return Vec::new();
        }
        return one(
            behind_options(args, wrapper.with_value, wrapper.operands).map(<[Word]>::to_vec)
        );
    }
    if SHELLS.contains(&name) {
        return shell(args, stdin);
    }
    match name {
        "env" => env(args),
        "xargs" => xargs(args, stdin),
        "find" => find(args),
        "eval" => vec![Inner::Script(joined(args))],
        "watch" => match behind_options(args, &["-n", "--interval"], 0) {
            Some(script) => vec![Inner::Script(joined(script))],
            None => vec![Inner::Unclear(OPTIONS_UNKNOWN)],
        },
        "trap" => match args {
            [script, _, ..] => vec![Inner::Script(script.clone())],
            _ => Vec::new(),
        },
        "source" | "." => match args.first() {
            Some(file) if file.is_unknown() || file.start().starts_with("/dev/") => {
                vec![Inner::Unclear(STDIN_UNKNOWN)]
            }
            Some(_) | None => Vec::new(),
        },
        "parallel" => vec![Inner::Unclear(
            "what `parallel` runs is only known at run time",
        )],
        _ => Vec::new(),
    }
}

fn one(words: Option<Vec<Word>>) -> Vec<Inner> {
    match words {
        Some(words) if words.is_empty() => Vec::new(),
        Some(words) => vec![Inner::Command(words)],
        None => vec![Inner::Unclear(OPTIONS_UNKNOWN)],
    }
}

/// `args` from the first word on that is no option, nor the value of one, nor one of the first `operands`; nothing if
/// a word before it is not known.
fn behind_options<'a>(
    args: &'a [Word],
    with_value: &[&str],
    operands: usize,
) -> Option<&'a [Word]> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        match arg.literal() {
            Some("--") => {
                at += 1;
                break;
            }
            Some(option) if option.starts_with('-') && option.len() > 1 => {
                at += if with_value.contains(&option) { 2 } else { 1 };
            }
            Some(_) => break,
            None if arg.start().starts_with('-') && !arg.is_loose() => at += 1,
            None => {
                return if operands > 0 && !arg.is_loose() {
                    args.get(at + operands..)
                } else {
                    None
                };
            }
        }
    }
    Some(args.get(at + operands..).unwrap_or_default())
}

fn env(args: &[Word]) -> Vec<Inner> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let Some(text) = arg.literal() else {
            if arg.start().contains('=') && !arg.start().starts_with('-') {
                at += 1;
                continue;
            }
            return vec![Inner::Unclear(OPTIONS_UNKNOWN)];
        };
        match text {
            "-S" | "--split-string" => {
                return vec![Inner::Script(joined(&args[at + 1..]))];
            }
            "-u" | "-C" | "--unset" | "--chdir" => at += 2,
            _ if text.starts_with("-S") || text.starts_with("--split-string=") => {
                return vec![Inner::Unclear(OPTIONS_UNKNOWN)];
            }
            _ if text.starts_with('-') || text.contains('=') => at += 1,
            _ => break,
        }
    }
    one(Some(args.get(at..).unwrap_or_default().to_vec()))
}

fn xargs(args: &[Word], stdin: &Stdin) -> Vec<Inner> {
    let Some(command) = behind_options(args, &XARGS_VALUES, 0) else {
        return vec![Inner::Unclear(OPTIONS_UNKNOWN)];
    };
    let mut words = command.to_vec();
    match stdin {
        Stdin::Text(text) if !words.is_empty() => match text.literal() {
            Some(text) => words.extend(text.split_whitespace().map(Word::known)),
            None => words.push(Word::unknown()),
        },
        Stdin::Text(_) | Stdin::Piped | Stdin::Plain => words.push(Word::unknown()),
    }
    if command.is_empty() {
        return Vec::new(); // it says what it reads
    }
    vec![Inner::Command(words)]
}

/// The commands of `-exec` and its like; `{}` stands for something under the first starting point.
fn find(args: &[Word]) -> Vec<Inner> {
    let start = find_starts(args).first().cloned();
    let mut inner = Vec::new();
    let mut rest = args;
    while let Some(at) = rest.iter().position(|word| {
        matches!(
            word.literal(),
            Some("-exec" | "-execdir" | "-ok" | "-okdir")
        )
    }) {
        rest = &rest[at + 1..];
        let end = rest
            .iter()
            .position(|word| matches!(word.literal(), Some(";" | "+")))
            .unwrap_or(rest.len());
        let words = rest[..end]
            .iter()
            .map(|word| match (&start, word.literal()) {
                (Some(start), Some("{}")) if start.literal().is_some() => {
                    Word::known(&format!("{}/found", start.without_unknown()))
                }
                (Some(_), Some("{}")) => Word::unknown(),
                (None, Some("{}")) => Word::known("./found"),
                _ => word.clone(),
            });
        inner.push(Inner::Command(words.collect()));
        rest = &rest[end..];
    }
    inner
}

/// Where `find` begins.
pub(super) fn find_starts(args: &[Word]) -> &[Word] {
    let skipped = args
        .iter()
        .take_while(|word| matches!(word.literal(), Some("-H" | "-L" | "-P")))
        .count();
    let args = &args[skipped..];
    let end = args
        .iter()
        .position(|word| word.start().starts_with(['-', '(', '!']))
        .unwrap_or(args.len());
    &args[..end]
}

fn shell(args: &[Word], stdin: &Stdin) -> Vec<Inner> {
    let mut at = 0;
    let mut takes_text = false;
    let mut reads_stdin = false;
    while let Some(arg) = args.get(at) {
        let Some(text) = arg.literal() else { break };
        if !text.starts_with(['-', '+']) || text == "--" || text == "-" {
            at += usize::from(text.starts_with('-'));
            break;
        }
        let short = text.starts_with('-') && !text.starts_with("--");
        takes_text |= short && text.contains('c') || text == "--command";
        reads_stdin |= short && text.contains('s');
        let value = SHELL_VALUES.contains(&text) || short && text.ends_with('o');
        at += if value { 2 } else { 1 };
    }
    let operand = args.get(at);
    match operand {
        Some(script) if takes_text => vec![Inner::Script(script.clone())],
        Some(file) if file.is_unknown() => vec![Inner::Unclear(STDIN_UNKNOWN)],
        Some(file) if !reads_stdin && !file.start().starts_with("/dev/") => Vec::new(),
        Some(_) | None => match stdin {
            Stdin::Plain => Vec::new(),
            Stdin::Text(text) => vec![Inner::Script(text.clone())],
            Stdin::Piped => vec![Inner::Unclear(STDIN_UNKNOWN)],
        },
    }
}

/// All words with spaces between them, as `eval` takes them.
fn joined(words: &[Word]) -> Word {
    let texts: Option<Vec<String>> = words.iter().map(Word::pattern).collect();
    match texts {
        Some(texts) => Word::known(&texts.join(" ")),
        None => Word::unknown(),
    }
}
