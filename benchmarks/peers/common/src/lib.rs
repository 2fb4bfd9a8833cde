//! What every peer's program reads and prints: its command line, input files, and a line of JSON
//! for each case.

pub mod arguments;
pub mod input;
pub mod report;
