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

/// Logarithms of small counts.
#[derive(Debug)]
pub struct Logarithms {
    /// ln(n + 0.3)
    seldom: Vec<f64>,
    /// ln(n + 1)
    after: Vec<f64>,
}

impl Logarithms {
    pub fn up_to(count: usize) -> Self {
        let counts = || (0..=count).map(|n| n as f64);
        Self { seldom: counts().map(|n| (n + 0.3).ln()).collect(), after: counts().map(f64::ln_1p).collect() }
    }

    /// ln(n + 0.3): a word that was met `n` times, shrunk.
    pub fn seldom(&self, n: usize) -> f64 {
        self.seldom[n]
    }

    /// ln(n + 1)
    pub fn after(&self, n: usize) -> f64 {
        self.after[n]
    }

    /// 1 + ln(n), for n of 1 and more: what a word counts that was met `n` times.
    pub fn damped(&self, n: usize) -> f64 {
        1.0 + self.after[n - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_those_of_the_counts() {
        let logarithms = Logarithms::up_to(9);
        assert_eq!(logarithms.after(9), 10_f64.ln());
        assert_eq!(logarithms.damped(1), 1.0);
        assert!((logarithms.seldom(4) - 4.3_f64.ln()).abs() < 1e-12);
    }
}
