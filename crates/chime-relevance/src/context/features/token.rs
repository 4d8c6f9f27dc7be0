//! Words as hashes, since words are compared often and never shown; and maps with a fast hasher.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Hash of a word or of a stem.
pub type Token = u64;

pub fn token(word: &str) -> Token {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Map with tokens or ids as keys and a fast hasher. The picker does thousands of lookups for each message: the default
/// hasher, which resists collision attacks, would take most of its time.
pub type Quick<K, V> = rustc_hash::FxHashMap<K, V>;
pub type QuickSet<K> = rustc_hash::FxHashSet<K>;
