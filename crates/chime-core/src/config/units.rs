//! Parsing of durations and amounts, formatting of durations and sizes: `250ms`, `1h30m`, `28d`, `50k`, `64 MiB`.

use std::time::Duration;

/// Units of time with their milliseconds. A duration must use them in this order, the largest first.
const TIME_UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Parses a duration such as `1h30m`: whole numbers with units, the largest unit first, each at most once. Rejects a
/// number without a unit, because `90` could mean seconds or minutes.
pub fn parse_duration(raw: &str) -> Option<Duration> {
    let mut rest = raw.trim();
    let mut units = TIME_UNITS.iter();
    let mut millis: u64 = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, after) = leading_number(rest)?;
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let (_, worth) = units.find(|(name, _)| *name == unit)?;
        millis = millis.checked_add(number.checked_mul(*worth)?)?;
        rest = after;
    }
    Some(Duration::from_millis(millis))
}

/// Formats a duration as [`parse_duration`] reads it, rounded down to milliseconds.
pub fn format_duration(span: Duration) -> String {
    let mut left = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    if left == 0 {
        return "0s".to_owned();
    }
    let mut written = String::new();
    for (unit, worth) in TIME_UNITS {
        if left >= worth {
            written.push_str(&format!("{}{unit}", left / worth));
            left %= worth;
        }
    }
    written
}

/// Formats a size for people: `3.4 GiB`, `120 MiB` or `12 KiB`.
pub fn rounded_size(bytes: u64) -> String {
    match bytes {
        ..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

/// Parses a count, optionally with `k` or `M` for thousands and millions: `50000`, `50k`, `2M`.
pub fn parse_amount(raw: &str) -> Option<u64> {
    let (number, unit) = leading_number(raw.trim())?;
    let worth = match unit {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        _ => return None,
    };
    number.checked_mul(worth)
}

/// Splits `text` into the number at its start and the rest. Returns `None` if it does not start with a digit.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(raw: &[&str], parse: impl Fn(&str) -> String, expected: Expect) {
        let lines: Vec<String> = raw.iter().map(|raw| format!("{raw:?} -> {}", parse(raw))).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_span_needs_a_unit_and_the_units_come_in_order() {
        check(
            &[
                "250ms", "15s", "15m", "1h", "28d", "1h30m", " 2d12h ", "0s", "90", "", "m", "1h 30m", "30m1h", "1s1s",
                "-5s", "1.5h", "5y",
            ],
            |raw| parse_duration(raw).map_or_else(|| "refused".to_owned(), |span| format!("{span:?}")),
            expect![[r#"
                "250ms" -> 250ms
                "15s" -> 15s
                "15m" -> 900s
                "1h" -> 3600s
                "28d" -> 2419200s
                "1h30m" -> 5400s
                " 2d12h " -> 216000s
                "0s" -> 0ns
                "90" -> refused
                "" -> refused
                "m" -> refused
                "1h 30m" -> refused
                "30m1h" -> refused
                "1s1s" -> refused
                "-5s" -> refused
                "1.5h" -> refused
                "5y" -> refused"#]],
        );
    }

    #[test]
    fn an_amount_may_be_in_thousands_or_millions() {
        check(
            &["50000", "50k", " 2M ", "2m", "1.5M", "k", "", "99999999999999M"],
            |raw| parse_amount(raw).map_or_else(|| "refused".to_owned(), |amount| amount.to_string()),
            expect![[r#"
                "50000" -> 50000
                "50k" -> 50000
                " 2M " -> 2000000
                "2m" -> refused
                "1.5M" -> refused
                "k" -> refused
                "" -> refused
                "99999999999999M" -> refused"#]],
        );
    }

    proptest! {
        #[test]
        fn a_written_span_is_read_back(millis in any::<u64>()) {
            let span = Duration::from_millis(millis);
            prop_assert_eq!(parse_duration(&format_duration(span)), Some(span));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC*", numeric in "[0-9dhms -]{0,30}") {
            for raw in [text, numeric] {
                let _ = parse_duration(&raw);
            }
        }
    }
}
