//! TPC-H: its tables, queries over them, and the stream of rows that they follow.

mod queries;
pub mod stream;
mod tables;
mod text;
