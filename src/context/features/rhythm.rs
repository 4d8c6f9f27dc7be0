//! Time as a chat keeps it: how long a silence is for this chat, and how slow the chat is.

/// Messages before one that may be its antecedent.
pub const WINDOW: usize = 200;
/// How long the silence before each message was for its chat, from the moments of the messages in seconds: `-ln(1.02 - q)`,
/// q being its rank among the silences before it.
pub fn silence_ranks(moments: &[f64]) -> Vec<f32> {
    let gaps: Vec<f64> = moments.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).collect();
    (0..moments.len())
        .map(|place| match place.checked_sub(1) {
            None => rhythm_of(0.5),
            Some(last) => {
                let known = &gaps[last.saturating_sub(WINDOW)..last];
                rank_among(gaps[last], known)
            }
        })
        .collect()
}

fn rank_among(gap: f64, known: &[f64]) -> f32 {
    let below = known.iter().filter(|other| **other < gap).count() as f32;
    let ties = known.iter().filter(|other| **other == gap).count() as f32;
    rhythm_of((below + ties / 2.0 + 5.0) / (known.len() as f32 + 10.0))
}

/// `-ln(1.02 - q)`: how unusual a rank is, 3.9 at most.
pub fn rhythm_of(quantile: f32) -> f32 {
    -(1.02 - quantile).ln()
}

/// How slow a chat is, from the moments of its messages: 0 at two minutes a message, 1 at a quarter of an hour.
pub fn slowness(moments: impl Iterator<Item = f64> + Clone) -> f64 {
    /// A night counts no more than this, in seconds.
    const GAP_CAP: f64 = 21_600.0;
    let gaps = moments.clone().zip(moments.skip(1)).map(|(earlier, later)| (later - earlier).clamp(0.0, GAP_CAP));
    let (sum, count) = gaps.fold((0.0, 0.0), |(sum, count), gap| (sum + gap, count + 1.0));
    let usual: f64 = (sum + 600.0) / (count + 10.0);
    ((usual.ln() - 120_f64.ln()) / (900_f64.ln() - 120_f64.ln())).clamp(0.0, 1.0)
}
