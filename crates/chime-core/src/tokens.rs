//! Estimate of the number of tokens of a text, without a tokenizer.
//!
//! Every model splits text in its own way. The tokenizer of one would take megabytes and be exact for one vendor only.
//! The estimate is therefore high on purpose, and [`TokenCalibration`] corrects it by the counts that the server
//! reports.

use serde::{Deserialize, Serialize};

/// Factor, in tenths, that raises the estimate, so that a prompt that should fit into the model's context does fit.
const MARGIN_TENTHS: usize = 12;

/// Costs of the parts of a text, in hundredths of a token: usual values for large vocabularies, rounded up.
mod cost {
    /// Each byte of the text: prose has about four bytes per token. This sum is the lower limit of the estimate.
    pub const BYTE: usize = 25;
    /// Each word. Common words are one token; names and inflected words are more.
    pub const WORD: usize = 130;
    /// Up to three digits.
    pub const DIGITS: usize = 100;
    /// Punctuation or symbol. JSON and markup consist mostly of these, and counting bytes alone would underestimate
    /// them.
    pub const SIGN: usize = 100;
    pub const IDEOGRAPH: usize = 100;
    /// Emoji, or a joiner or selector inside one.
    pub const EMOJI: usize = 250;
}

/// Number of digits that tokenizers combine into one token.
const DIGITS_PER_TOKEN: usize = 3;

/// Estimates the tokens of `text`, preferring too many over too few. Empty text costs nothing.
pub fn estimate_tokens(text: &str) -> usize {
    let hundredths = (text.len() * cost::BYTE).max(cost_of_pieces(text));
    (hundredths * MARGIN_TENTHS).div_ceil(1000)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Space,
    Letters,
    Digits,
    Sign,
    Ideograph,
    Emoji,
}

fn cost_of_pieces(text: &str) -> usize {
    let mut total = 0;
    let mut before = CharClass::Space;
    let mut digits = 0;
    for c in text.chars() {
        let piece = piece_of(c);
        digits = if piece == CharClass::Digits { digits + 1 } else { 0 };
        total += match piece {
            CharClass::Space => 0,
            CharClass::Letters if before == CharClass::Letters => 0,
            CharClass::Letters => cost::WORD,
            CharClass::Digits if digits % DIGITS_PER_TOKEN == 1 => cost::DIGITS,
            CharClass::Digits => 0,
            CharClass::Sign => cost::SIGN,
            CharClass::Ideograph => cost::IDEOGRAPH,
            CharClass::Emoji => cost::EMOJI,
        };
        before = piece;
    }
    total
}

fn piece_of(c: char) -> CharClass {
    match c {
        _ if c.is_whitespace() => CharClass::Space,
        _ if c.is_ascii_digit() => CharClass::Digits,
        // Kana, CJK and Hangul, including the supplementary planes.
        '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' => {
            CharClass::Ideograph
        }
        '\u{20000}'..='\u{3FFFF}' => CharClass::Ideograph,
        // Joiner, variation selectors, dingbats and pictographs.
        '\u{200D}' | '\u{FE00}'..='\u{FE0F}' | '\u{2600}'..='\u{27BF}' | '\u{1F000}'..='\u{1FAFF}' => CharClass::Emoji,
        '\u{E0000}'..='\u{E007F}' => CharClass::Emoji,
        _ if c.is_alphanumeric() => CharClass::Letters,
        _ => CharClass::Sign,
    }
}

/// Ratio of a model's real token counts to [`estimate_tokens`], as a moving average. One is stored for each model name.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenCalibration {
    ratio: f64,
}

impl Default for TokenCalibration {
    fn default() -> Self {
        Self { ratio: 1.0 }
    }
}

impl TokenCalibration {
    /// Smallest ratio. Outside the bounds, the server counts something other than the text: images, instructions of its
    /// own, or only what is not cached.
    const LOWEST: f64 = 0.5;
    /// Largest ratio.
    const HIGHEST: f64 = 3.0;
    /// Weight of the newest observation. After ten calls with the same ratio, the average has moved nine tenths of the
    /// way to it.
    const WEIGHT: f64 = 0.2;

    /// Restores a stored ratio, clamped to the bounds.
    pub fn of_ratio(ratio: f64) -> Self {
        Self { ratio: clamped(ratio) }
    }

    /// Updates the ratio after a prompt estimated at `estimated` tokens was counted as `real`. Ignores zeros.
    #[must_use]
    pub fn observe(self, estimated: usize, real: u64) -> Self {
        if estimated == 0 || real == 0 {
            return self;
        }
        let seen = clamped(real as f64 / estimated as f64);
        Self { ratio: clamped(self.ratio + Self::WEIGHT * (seen - self.ratio)) }
    }

    /// Converts estimated tokens to the model's tokens, rounded up.
    pub fn apply(self, estimated: usize) -> usize {
        (estimated as f64 * self.ratio()).ceil() as usize
    }

    /// Converts the model's tokens to estimated tokens, rounded down.
    pub fn room(self, real: usize) -> usize {
        (real as f64 / self.ratio()) as usize
    }

    /// Returns real tokens per estimated token, 0.5 to 3. A stored value outside these bounds is clamped.
    pub fn ratio(self) -> f64 {
        clamped(self.ratio)
    }
}

fn clamped(ratio: f64) -> f64 {
    ratio.clamp(TokenCalibration::LOWEST, TokenCalibration::HIGHEST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `real` is about the count of a current vocabulary of 200,000 entries.
    #[track_caller]
    fn check(text: &str, real: usize) {
        let estimate = estimate_tokens(text);
        assert!(estimate >= real, "{text:?}: {estimate} is under the real {real}");
        assert!(estimate <= real * 3 + 2, "{text:?}: {estimate} is far over the real {real}");
    }

    #[test]
    fn prose_is_not_under_counted() {
        check("", 0);
        check("a", 1);
        check("hello world", 2);
        check("The quick brown fox jumps over the lazy dog.", 10);
        check("Привет, как дела? Встретимся завтра в семь.", 13);
    }

    #[test]
    fn markup_numbers_and_emoji_are_not_under_counted() {
        check(r#"{"id": 17, "ok": true, "tags": ["a", "b"]}"#, 18);
        check("12345678901234567890", 7);
        check("👍", 1);
        check("👨‍👩‍👧‍👦", 11);
        check("🇩🇪🇫🇷", 8);
        check("❤️❤️❤️", 6);
    }

    #[test]
    fn scripts_without_spaces_are_not_under_counted() {
        check("今日は天気がいいですね", 8);
        check("我们明天晚上几点见面？", 9);
        check("오늘 저녁에 어디서 만날까요?", 10);
    }

    #[test]
    fn a_thousand_words_of_english_cost_about_fifteen_hundred() {
        assert_eq!(estimate_tokens(&"word ".repeat(1000)), 1560);
    }

    #[test]
    fn calibration_moves_towards_what_the_server_counted() {
        let mut calibration = TokenCalibration::default();
        for _ in 0..10 {
            calibration = calibration.observe(100, 60);
        }
        assert!((0.60..0.65).contains(&calibration.ratio()), "{calibration:?}");
        assert_eq!(TokenCalibration::default().observe(100, 60).apply(1000), 920);
        assert_eq!(TokenCalibration::default().observe(100, 60).room(920), 1000);
    }

    #[test]
    fn one_absurd_count_cannot_ruin_the_calibration() {
        let after = TokenCalibration::default().observe(1, u64::MAX);
        assert!((after.ratio() - 1.4).abs() < 1e-9, "{after:?}");
        assert_eq!(TokenCalibration::default().observe(0, 5), TokenCalibration::default());
        assert_eq!(TokenCalibration::default().observe(5, 0), TokenCalibration::default());
    }

    #[test]
    fn a_stored_ratio_out_of_bounds_is_brought_back() {
        let stored: TokenCalibration = serde_json::from_str("1000.0").expect("a number");
        assert_eq!(stored.apply(10), 30);
    }

    proptest! {
        #[test]
        fn more_text_never_costs_less(start in any::<String>(), end in any::<String>()) {
            let both = format!("{start}{end}");
            prop_assert!(estimate_tokens(&both) >= estimate_tokens(&start));
            prop_assert!(estimate_tokens(&both) <= estimate_tokens(&start) + estimate_tokens(&end));
        }

        #[test]
        fn the_ratio_stays_in_its_bounds(counts in prop::collection::vec((any::<u16>(), any::<u32>()), 0..40)) {
            let end = counts.into_iter().fold(TokenCalibration::default(), |calibration, (estimated, real)| {
                calibration.observe(usize::from(estimated), u64::from(real))
            });
            prop_assert!((0.5..=3.0).contains(&end.ratio()));
        }
    }
}
