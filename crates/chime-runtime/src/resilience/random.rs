//! Random numbers for jitter, passed around as plain values.

use std::hash::{BuildHasher, RandomState};

/// Returns a number that differs between calls and processes. Good for jitter, not for secrets.
pub fn random() -> u64 {
    // The standard library seeds every `RandomState` differently, which is random enough for jitter.
    RandomState::new().hash_one(0_u8)
}

/// Maps `seed` evenly to `0.0 <= x < 1.0`. Consecutive seeds give unrelated results (splitmix64's finalizer).
pub fn jitter(seed: u64) -> f64 {
    let mut x = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    // An f64 holds exactly 53 bits.
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_even_and_within_bounds() {
        let mut buckets = [0_u32; 10];
        for seed in 0..10_000 {
            let x = jitter(seed);
            assert!((0.0..1.0).contains(&x), "{seed} gave {x}");
            buckets[(x * 10.0) as usize] += 1;
        }
        assert!(buckets.iter().all(|&count| (850..1150).contains(&count)), "{buckets:?}");
    }

    #[test]
    fn random_numbers_differ() {
        assert_ne!(random(), random());
    }
}
