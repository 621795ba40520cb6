//! `replay`: a saved history through the pipeline, without a model, a file or a clock. Text in, a report out.

mod error;
mod events;
mod parse;
mod report;
mod state;

pub use error::ReplayError;
pub use parse::Recording;
pub use report::{Report, StageLine};
