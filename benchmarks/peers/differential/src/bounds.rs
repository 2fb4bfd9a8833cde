//! What the machine gives: sequential bandwidth, and the time of a read that misses the caches.

use std::hint::black_box;
use std::time::Instant;

/// Words read: 512 MiB of them, more than any cache.
const WORDS: usize = 1 << 26;
const READS: usize = 1 << 22;

pub fn run() {
    let mut words: Vec<u64> = (0..WORDS as u64).collect();
    let mut seconds = f64::INFINITY;
    for _ in 0..5 {
        let began = Instant::now();
        black_box(black_box(&words).iter().fold(0u64, |sum, word| sum.wrapping_add(*word)));
        seconds = seconds.min(began.elapsed().as_secs_f64());
    }
    let bandwidth = (8 * WORDS) as f64 / seconds;
    one_cycle(&mut words);
    let mut at = 0;
    let began = Instant::now();
    for _ in 0..READS {
        at = words[at] as usize;
    }
    black_box(at);
    let miss = began.elapsed().as_secs_f64() / READS as f64;
    println!(
        "{{\"read bytes per second\": {bandwidth:.0}, \"dependent miss ns\": {:.1}}}",
        miss * 1e9
    );
}

/// Sattolo's shuffle: following the words visits all of them, in no order that can be foreseen.
fn one_cycle(words: &mut [u64]) {
    let mut state = 1u64;
    for i in (1..words.len()).rev() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        words.swap(i, (state >> 33) as usize % i);
    }
}
