//! One-time code by which the first owner registers if the configuration names no owner.

/// Capital letters and digits, without those that look alike, such as `O` and `0`.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// Number of characters. At 5 bits each, the code has 60 random bits, too many to guess by sending messages.
const LENGTH: usize = 12;
/// Number of characters between two hyphens when the code is shown.
const GROUP: usize = 4;

/// Code that `chime run` prints and the first owner sends with `/claim`. Never stored: each start of the program makes
/// a new code.
#[derive(Clone, PartialEq, Eq)]
pub struct ClaimCode(String);

impl ClaimCode {
    /// Derives the code from 60 bits of `random`, which must be unpredictable.
    pub fn new(random: u64) -> Self {
        let letter = |place: usize| {
            let index = (random >> (place * 5)) & 31;
            char::from(ALPHABET.get(usize::try_from(index).unwrap_or(0)).copied().unwrap_or(b'A'))
        };
        Self((0..LENGTH).map(letter).collect())
    }

    /// Formats the code in groups of four, such as `K7QM-2XPA-9FHT`.
    pub fn shown(&self) -> String {
        let letters: Vec<char> = self.0.chars().collect();
        letters.chunks(GROUP).map(String::from_iter).collect::<Vec<_>>().join("-")
    }

    /// Returns `true` if `offered` is the code, ignoring case, spaces and hyphens.
    pub fn matches(&self, offered: &str) -> bool {
        let typed: String = offered.chars().filter(char::is_ascii_alphanumeric).collect();
        typed.eq_ignore_ascii_case(&self.0)
    }
}

/// Hides the code, so that logs do not contain it.
impl std::fmt::Debug for ClaimCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClaimCode(…)")
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_code_is_easy_to_type_and_hidden_from_the_log() {
        let code = ClaimCode::new(0x0123_4567_89ab_cdef);
        expect!["RRVZ-4E8N-F4JC"].assert_eq(&code.shown());
        expect!["ClaimCode(…)"].assert_eq(&format!("{code:?}"));
    }

    #[test]
    fn a_code_is_known_in_any_case_and_grouping_and_nothing_else_is() {
        let code = ClaimCode::new(0x0123_4567_89ab_cdef);
        for typed in [code.shown(), code.shown().to_lowercase(), format!(" {} ", code.shown().replace('-', " "))] {
            assert!(code.matches(&typed), "{typed}");
        }
        for typed in ["", "RRVZ", "RRVZ-4E8N-F4JD", "RRVZ-4E8N-F4JC-A"] {
            assert!(!code.matches(typed), "{typed}");
        }
    }
}
