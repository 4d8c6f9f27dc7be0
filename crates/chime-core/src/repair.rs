//! Repair of JSON with halves of surrogate pairs.

use std::borrow::Cow;

/// Length of the longest sequence that must be complete to be repaired: two escapes such as `\ud83d\ude00`.
const LONGEST: usize = 12;

/// Replaces the escape of half a surrogate pair, such as `\ud800` alone, by `\ufffd`.
///
/// Some Telegram apps cut text inside a surrogate pair, and some model servers split a pair between two chunks of an
/// answer. Without the repair, `serde_json` rejects the whole JSON text.
pub fn repair(json: &str) -> Cow<'_, str> {
    if !json.contains("\\ud") && !json.contains("\\uD") {
        return Cow::Borrowed(json);
    }
    let mut bytes = json.as_bytes().to_vec();
    repair_bytes(&mut bytes, true);
    String::from_utf8(bytes).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Replaces halves of surrogate pairs, as escapes or as UTF-8, which is invalid then. The replacement has the same
/// length, so that the positions in error messages are right. Returns the number of bytes that are final: unless these
/// are the last ones, some may depend on the bytes after them.
pub fn repair_bytes(bytes: &mut [u8], is_end: bool) -> usize {
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| matches!(byte, b'\\' | 0xed)) {
        at += next;
        if bytes.len() - at < LONGEST && !is_end {
            return at;
        }
        at += repair_one(&mut bytes[at..]);
    }
    bytes.len()
}

/// Repairs the escape or character at the start of `bytes`. Returns its length in bytes.
fn repair_one(bytes: &mut [u8]) -> usize {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let (first, second) = (unit(0), unit(6));
    match (bytes, first) {
        (_, Some(0xd800..=0xdbff)) if matches!(second, Some(0xdc00..=0xdfff)) => LONGEST,
        (bytes, Some(0xd800..=0xdfff)) => {
            bytes[..6].copy_from_slice(b"\\ufffd");
            6
        }
        (_, Some(_)) => 6,
        ([first @ 0xed, second @ 0xa0..=0xbf, third, ..], None) => {
            [*first, *second, *third] = [0xef, 0xbf, 0xbd];
            3
        }
        // Skips both bytes of any other escape, because the second may be a backslash.
        ([b'\\', _, ..], None) => 2,
        (_, None) => 1,
    }
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
