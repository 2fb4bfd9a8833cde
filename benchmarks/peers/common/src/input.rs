//! Input files: sections of pairs of `u32`, as `benchmarks/inputs.py` writes them.
//!
//! All numbers are little-endian: a `u64` with the number of sections, a `u64` with the number
//! of pairs of each, and then the pairs of every section in turn.

use std::fs;

pub type Pair = (u32, u32);

/// The sections of the file at `path`.
pub fn read(path: &str) -> Vec<Vec<Pair>> {
    let bytes = fs::read(path).unwrap_or_else(|e| panic!("cannot read {path}: {e}"));
    let (head, rest) = bytes.split_at(8);
    let sections = u64::from_le_bytes(head.try_into().unwrap()) as usize;
    let (lengths, mut rest) = rest.split_at(8 * sections);
    let sections = lengths
        .chunks_exact(8)
        .map(|length| {
            let pairs = u64::from_le_bytes(length.try_into().unwrap()) as usize;
            let (mine, others) = rest.split_at(8 * pairs);
            rest = others;
            mine.chunks_exact(8).map(pair).collect()
        })
        .collect();
    assert!(rest.is_empty(), "{path} is longer than its sections");
    sections
}

fn pair(bytes: &[u8]) -> Pair {
    let (first, second) = bytes.split_at(4);
    (
        u32::from_le_bytes(first.try_into().unwrap()),
        u32::from_le_bytes(second.try_into().unwrap()),
    )
}
