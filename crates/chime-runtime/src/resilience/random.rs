//! Random numbers that spread retries in time. Functions that need one get it as an argument.

use std::hash::{BuildHasher, RandomState};

/// Returns a random number, good enough to spread retries, but not for secrets.
pub fn random() -> u64 {
    // The standard library gives every `RandomState` a different seed.
    RandomState::new().hash_one(0_u8)
}

/// Maps `seed` to a number from 0 up to, but not including, 1, evenly distributed. Consecutive seeds give unrelated
/// results (splitmix64's finalizer).
pub fn jitter(seed: u64) -> f64 {
    let mut x = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    // An f64 has a precision of 53 bits.
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
