//! Words as hashes, since words are compared often and never shown; and maps with a fast hasher.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};

/// Hash of a word or of a stem.
pub type Token = u64;

pub fn token(word: &str) -> Token {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Map with tokens or ids as keys and a fast hasher. The picker does thousands of lookups for each message: the default
/// hasher, which resists collision attacks, would take most of its time.
pub type Quick<K, V> = HashMap<K, V, BuildHasherDefault<QuickHasher>>;
pub type QuickSet<K> = HashSet<K, BuildHasherDefault<QuickHasher>>;

/// Fast hasher that multiplies, like the one in the Rust compiler. It does not resist collision attacks.
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
        // Hash tables use the low bits, but multiplication mixes the high bits best.
        self.0.rotate_left(26)
    }
}
