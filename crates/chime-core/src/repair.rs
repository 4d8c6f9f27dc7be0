//! Repair of JSON with invalid Unicode escapes.

use std::borrow::Cow;

/// Length of `\uXXXX`.
const ESCAPE: usize = 6;

/// Replaces the escape of half a surrogate pair, such as `\ud800` alone, by `\ufffd`.
///
/// Some Telegram apps cut text inside a surrogate pair, and some model servers split a pair between two chunks of an
/// answer. Without the repair, `serde_json` rejects the whole JSON text.
pub fn repair(json: &str) -> Cow<'_, str> {
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let here = at + found;
        match unit(json, here) {
            // Skips both bytes of any other escape, because the second may be a backslash.
            None => at = here + 2,
            Some(0xD800..=0xDBFF) if matches!(unit(json, here + ESCAPE), Some(0xDC00..=0xDFFF)) => {
                at = here + 2 * ESCAPE;
            }
            Some(0xD800..=0xDFFF) => {
                repaired.push_str(json.get(copied..here).unwrap_or_default());
                repaired.push_str("\\ufffd");
                at = here + ESCAPE;
                copied = at;
            }
            Some(_) => at = here + ESCAPE,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    repaired.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(repaired)
}

/// Parses the UTF-16 unit of a `\uXXXX` escape at byte `at`. Returns `None` if there is no such escape.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(json: &str, expected: Expect) {
        expected.assert_eq(&repair(json));
    }

    #[test]
    fn a_lone_half_becomes_a_replacement_character() {
        check(r#""a\ud800b""#, expect![[r#""a\ufffdb""#]]);
        check(r#""\uDE00""#, expect![[r#""\ufffd""#]]);
        check(r#""\ud83d\ud83d\ude00""#, expect![[r#""\ufffd\ud83d\ude00""#]]);
        check(r#""\ude00\ud83d""#, expect![[r#""\ufffd\ufffd""#]]);
    }

    #[test]
    fn a_whole_pair_stays() {
        check(r#""\ud83d\ude00""#, expect![[r#""\ud83d\ude00""#]]);
    }

    #[test]
    fn an_escaped_backslash_before_a_u_is_text() {
        check(r#""\\ud800""#, expect![[r#""\\ud800""#]]);
        check(r#""\\\ud800""#, expect![[r#""\\\ufffd""#]]);
    }

    #[test]
    fn nothing_to_repair_copies_nothing() {
        assert!(matches!(repair(r#"{"text":"ä \n \u00e4 😀"}"#), Cow::Borrowed(_)));
    }

    #[test]
    fn cut_escapes_are_left_to_the_parser() {
        check(r#""\ud8"#, expect![[r#""\ud8"#]]);
        check("\"\\", expect![[r#""\"#]]);
        check("\\ü", expect![[r#"\ü"#]]);
    }
}
