//! Time limits for a server that sends nothing yet. Pure functions.

use std::time::Duration;

/// Time limit for the first word if the prompt speed is unknown, as a multiple of the allowed silence.
const READING: u32 = 5;
/// Time limit for the first word if the prompt speed is known, as a multiple of the expected processing time.
const SLACK: f64 = 3.0;
/// Maximum time limit for the first word, as a multiple of the allowed silence.
const LONGEST: u32 = 15;

/// Returns the time limit for the first word of an answer. `silence` is the time limit between later words.
pub fn first_word(silence: Duration, prompt_tokens: usize, reads_per_second: Option<f64>) -> Duration {
    let Some(speed) = reads_per_second.filter(|speed| *speed > 0.0) else { return silence.saturating_mul(READING) };
    let longest = silence.saturating_mul(LONGEST);
    let expected = Duration::try_from_secs_f64(prompt_tokens as f64 / speed * SLACK).unwrap_or(longest);
    expected.clamp(silence, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_takes_as_long_as_the_learned_speed_says() {
        let first = |tokens, speed| first_word(Duration::from_mins(1), tokens, speed).as_secs();
        assert_eq!(first(2000, None), 300);
        assert_eq!(first(2000, Some(5000.0)), 60, "never less than later");
        assert_eq!(first(3000, Some(50.0)), 180);
        assert_eq!(first(3000, Some(0.001)), 900, "never for ever");
        assert_eq!(first(3000, Some(0.0)), 300);
    }
}
