//! How long a server may stay silent before a call is given up: pure.

use std::time::Duration;

/// While it reads the prompt, a server may be silent this many times longer than later, as long as its speed is not known.
const READING: u32 = 5;
/// A prompt may take this many times longer to be read than the learned speed says.
const SLACK: f64 = 3.0;
/// The longest that reading is waited for, as a multiple of the silence that is allowed later.
const LONGEST: u32 = 15;

/// Returns how long the first word of an answer may take. `silence` is allowed between later ones.
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
        let first = |tokens, speed| first_word(Duration::from_secs(60), tokens, speed).as_secs();
        assert_eq!(first(2000, None), 300);
        assert_eq!(first(2000, Some(5000.0)), 60, "never less than later");
        assert_eq!(first(3000, Some(50.0)), 180);
        assert_eq!(first(3000, Some(0.001)), 900, "never for ever");
        assert_eq!(first(3000, Some(0.0)), 300);
    }
}
