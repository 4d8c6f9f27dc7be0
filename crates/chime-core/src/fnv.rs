//! FNV-1a: a short, stable hash that is not safe against chosen collisions.

/// Hash of nothing.
pub const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Continues the hash `from` with `bytes`.
pub fn fnv1a(from: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(from, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
