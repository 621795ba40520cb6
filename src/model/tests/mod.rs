//! Tests of the client's pure parts, on captures of running servers and on what servers are known to do.

mod forms;
mod history;
mod retrying;
mod streams;
