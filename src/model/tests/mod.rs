//! Tests of the client's pure parts, on captures of running servers and on what servers are known to do.

mod broken;
mod cached;
mod forms;
mod generated;
mod history;
mod long;
mod reader;
mod retrying;
mod streams;
mod survive;
