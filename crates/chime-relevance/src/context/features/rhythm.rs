//! Time relative to the usual gaps of a chat: how unusual a silence is, and how slow the chat is.

/// Maximum number of messages before a message that are considered as its antecedent; also the maximum number of
/// candidates.
pub const WINDOW: usize = 200;

/// Returns `-ln(1.02 - q)` of a quantile q from 0 to 1. It rises steeply for the longest silences, up to 3.9.
pub fn rhythm_of(quantile: f32) -> f32 {
    -(1.02 - quantile).ln()
}

/// Returns the slowness of a chat, computed from the times of its messages in seconds: 0 at a mean gap of up to two
/// minutes, 1 from a quarter of an hour on.
pub fn slowness(moments: impl Iterator<Item = f64> + Clone) -> f64 {
    /// Maximum seconds of a single gap, so that nights do not dominate the mean.
    const GAP_CAP: f64 = 21_600.0;
    let gaps = moments.clone().zip(moments.skip(1)).map(|(earlier, later)| (later - earlier).clamp(0.0, GAP_CAP));
    let (sum, count) = gaps.fold((0.0, 0.0), |(sum, count), gap| (sum + gap, count + 1.0));
    let usual: f64 = (sum + 600.0) / (count + 10.0);
    ((usual.ln() - 120_f64.ln()) / (900_f64.ln() - 120_f64.ln())).clamp(0.0, 1.0)
}
