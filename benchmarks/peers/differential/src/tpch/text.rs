//! Strings that live as long as the process: a row is copied without its texts.

use std::fmt;

use common::report::Word;
use serde::{Deserialize, Deserializer, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Text(pub &'static str);

impl Text {
    /// Whether it is `LIKE '%first%second%'`.
    pub fn has_in_turn(&self, first: &str, second: &str) -> bool {
        self.0.find(first).is_some_and(|at| self.0[at + first.len()..].contains(second))
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Text(text.leak()))
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Word for Text {
    /// The FNV-1a hash of its UTF-8.
    fn word(&self) -> u64 {
        self.0.bytes().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
            (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}
