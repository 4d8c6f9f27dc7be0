//! Words as hashes, and maps with a fast hasher: words are compared often and never shown.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// A word or the beginning of one.
pub type Token = u64;

/// The hash of a word.
pub fn token(word: &str) -> Token {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// A map whose keys are tokens or ids. A scorer asks thousands of times for each message, and a hash that also resists an
/// attacker takes most of that time.
pub type Quick<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;
/// The same without values.
pub type QuickSet<K> = HashSet<K, BuildHasherDefault<QuickHasher>>;

/// Multiplies, as the hasher of the Rust compiler does.
#[derive(Debug, Default, Clone, Copy)]
pub struct QuickHasher(u64);

impl Hasher for QuickHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (numbers, rest) = bytes.as_chunks::<8>();
        numbers.iter().for_each(|number| self.write_u64(u64::from_le_bytes(*number)));
        rest.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.wrapping_add(number).wrapping_mul(0xf135_7aea_2e62_a9c5);
    }

    fn finish(&self) -> u64 {
        // A table takes the low bits, and multiplying leaves the best ones on top.
        self.0.rotate_left(26)
    }
}
