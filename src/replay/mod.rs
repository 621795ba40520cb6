//! `replay`: a saved history through the pipeline, without a model, a file or a clock. Text in, a report out.

mod parse;
mod report;
mod state;

pub use parse::{Recording, ReplayError};
pub use report::{Report, StageLine};
