//! What a run prints: one JSON object for each case, on a line of its own.

use std::time::Duration;

/// A value of one word of 64 bits.
pub trait Word {
    fn word(&self) -> u64;
}

macro_rules! integers {
    ($($t:ty)*) => { $(impl Word for $t {
        fn word(&self) -> u64 {
            *self as u64
        }
    })* };
}

integers!(u32 u64 i32 isize);

impl<W: Word> Word for Option<W> {
    fn word(&self) -> u64 {
        self.as_ref().map_or(u64::MAX, W::word)
    }
}

/// An output row: a word for each of its columns.
pub trait Row {
    fn words(&self) -> impl IntoIterator<Item = u64>;
}

macro_rules! rows {
    ($(($($column:ident)*))*) => { $(impl<$($column: Word),*> Row for ($($column,)*) {
        #[allow(non_snake_case)]
        fn words(&self) -> impl IntoIterator<Item = u64> {
            let ($($column,)*) = self;
            [$($column.word()),*]
        }
    })* };
}

rows!((A)(A B)(A B C)(A B C D)(A B C D E)(A B C D E F)(A B C D E F G)(A B C D E F G H));

/// The accumulated output, as the number of its rows and the sum of a mix of each.
#[derive(Clone, Copy, Default)]
pub struct Answer {
    rows: i64,
    sum: u64,
}

impl Answer {
    /// Takes one change in: `diff` more copies of `row`.
    pub fn absorb<R: Row>(&mut self, row: &R, diff: i64) {
        self.rows += diff;
        self.sum = self.sum.wrapping_add(mix(row.words()).wrapping_mul(diff as u64));
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

/// A 64-bit mix of a row, the finisher of splitmix64 chained over its words.
fn mix(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}
