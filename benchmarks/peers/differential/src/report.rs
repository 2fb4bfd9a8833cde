//! What a run prints: one JSON object for each case, on a line of its own.

use std::fs;
use std::time::Duration;

use differential_dataflow::consolidation::consolidate_updates;
use libmimalloc_sys::mi_collect;

/// An output change: row, time, diff.
pub type Change<R> = (R, u64, isize);

/// Two words of 64 bits: what every workload's output rows are.
pub trait Row: Ord + Copy {
    fn words(&self) -> [u64; 2];
}

impl Row for (u32, u32) {
    fn words(&self) -> [u64; 2] {
        [u64::from(self.0), u64::from(self.1)]
    }
}

impl Row for (u64, isize) {
    fn words(&self) -> [u64; 2] {
        [self.0, self.1 as u64]
    }
}

impl Row for (u64, u64) {
    fn words(&self) -> [u64; 2] {
        [self.0, self.1]
    }
}

/// The accumulated output, as the number of its rows and the sum of a mix of each.
#[derive(Clone, Copy, Default)]
pub struct Answer {
    rows: i64,
    sum: u64,
}

impl Answer {
    /// Takes `changes` in, in any order, and tells how many they are once consolidated.
    pub fn absorb<R: Row>(&mut self, changes: &mut Vec<Change<R>>) -> usize {
        consolidate_updates(changes);
        for (row, _, diff) in changes.iter() {
            self.rows += *diff as i64;
            self.sum = self.sum.wrapping_add(mix(row.words()).wrapping_mul(*diff as u64));
        }
        changes.len()
    }

    /// Prints a case: each element of `times` is how long one round took.
    pub fn print(&self, case: &str, times: &[Duration], differences: usize) {
        let nanoseconds: Vec<_> = times.iter().map(|t| t.as_nanos().to_string()).collect();
        println!(
            "{{\"case\": \"{case}\", \"ns\": [{}], \"rows\": {}, \"sum\": {}, \"differences\": {differences}}}",
            nanoseconds.join(", "),
            self.rows,
            self.sum,
        );
    }
}

/// The memory that the process holds, freed memory not counted.
pub fn resident_bytes() -> usize {
    // SAFETY: it may be called at any time, by any thread.
    unsafe { mi_collect(true) };
    let statm = fs::read_to_string("/proc/self/statm").expect("Linux");
    4096 * statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages")
}

/// A 64-bit mix of a row, the finisher of splitmix64 chained over its words.
fn mix(words: [u64; 2]) -> u64 {
    words.iter().fold(0, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
