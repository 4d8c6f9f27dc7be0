//! What a `/recap` asks for.

use std::time::Duration;

use crate::domain::Timestamp;
use crate::recap::RecapTime;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// What `/recap` alone covers.
const USUAL: Duration = Duration::from_secs(DAY);
/// The longest stretch. More is what `/memory` is for.
const LONGEST: Duration = Duration::from_secs(31 * DAY);
/// Whoever wrote within this before the command was here then.
const PRESENT: Duration = Duration::from_secs(10 * MINUTE);

/// What a member wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// The last so and so long.
    Span(Duration),
    /// Since midnight.
    Today,
    /// Since the message that is replied to.
    SinceReply,
    /// Since the asker last wrote something.
    SinceSeen,
    /// From now on, at this time.
    Subscribe(RecapTime),
    Unsubscribe,
    Unclear,
}

impl Request {
    /// Reads what stands behind `/recap`.
    pub fn parse(args: &str, is_reply: bool) -> Self {
        let lower = args.to_lowercase();
        let words: Vec<&str> = lower.split_whitespace().collect();
        match words.as_slice() {
            [] if is_reply => Self::SinceReply,
            [] => Self::Span(USUAL),
            ["today"] => Self::Today,
            ["off"] => Self::Unsubscribe,
            ["since"] if is_reply => Self::SinceReply,
            ["since", ..] | ["what", "did", "i", ..] | ["missed", ..] => Self::SinceSeen,
            ["daily", rest @ ..] | ["weekly", rest @ ..] => {
                let is_weekly = words[0] == "weekly";
                RecapTime::parse(rest, is_weekly).map_or(Self::Unclear, Self::Subscribe)
            }
            [span] => span_of(span).map_or(Self::Unclear, Self::Span),
            [number, unit] => span_of(&format!("{number}{unit}")).map_or(Self::Unclear, Self::Span),
            _ => Self::Unclear,
        }
    }
}

/// `2h`, `90m`, `3d`, `1w`, `2hours`.
fn span_of(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let secs = match unit {
        "m" | "min" | "minutes" => MINUTE,
        "h" | "hour" | "hours" => HOUR,
        "d" | "day" | "days" => DAY,
        "w" | "week" | "weeks" => 7 * DAY,
        _ => return None,
    };
    let number: u64 = number.parse().ok().filter(|number| *number > 0)?;
    Some(Duration::from_secs(number.saturating_mul(secs)).min(LONGEST))
}

/// When somebody was here before they asked at `asked_at`: `wrote` are the moments at which they wrote, newest first. What
/// they wrote in one go with the asking does not count.
pub fn last_seen(asked_at: Timestamp, wrote: &[Timestamp]) -> Option<Timestamp> {
    let mut present = asked_at;
    for at in wrote {
        if present.since(*at) > PRESENT {
            return Some((*at).max(asked_at.minus(LONGEST)));
        }
        present = *at;
    }
    None
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testkit::moment;

    #[track_caller]
    fn check(args: &[&str], expected: Expect) {
        let told: Vec<String> = args.iter().map(|args| format!("{args}: {:?}", Request::parse(args, false))).collect();
        expected.assert_eq(&told.join("\n"));
    }

    #[test]
    fn every_form_of_the_command_is_read() {
        check(
            &[
                "",
                "2h",
                "2 hours",
                "90m",
                "1w",
                "999d",
                "0h",
                "2x",
                "today",
                "since",
                "since I was here",
                "What did I miss?",
                "daily 18:00",
                "weekly mon 9:00",
                "weekly 9:00",
                "daily 25:00",
                "off",
                "the tent",
            ],
            expect![[r#"
                : Span(86400s)
                2h: Span(7200s)
                2 hours: Span(7200s)
                90m: Span(5400s)
                1w: Span(604800s)
                999d: Span(2678400s)
                0h: Unclear
                2x: Unclear
                today: Today
                since: SinceSeen
                since I was here: SinceSeen
                What did I miss?: SinceSeen
                daily 18:00: Subscribe(RecapTime { weekday: None, minute: 1080 })
                weekly mon 9:00: Subscribe(RecapTime { weekday: Some(Mon), minute: 540 })
                weekly 9:00: Unclear
                daily 25:00: Unclear
                off: Unsubscribe
                the tent: Unclear"#]],
        );
        assert_eq!(Request::parse("", true), Request::SinceReply);
        assert_eq!(Request::parse("since", true), Request::SinceReply);
        assert_eq!(Request::parse("2h", true), Request::Span(Duration::from_secs(2 * HOUR)));
    }

    #[test]
    fn what_is_written_in_one_go_with_the_asking_is_not_the_last_visit() {
        let wrote = ["12:00", "11:55", "11:46", "09:00", "08:59"].map(moment);
        assert_eq!(last_seen(moment("12:02"), &wrote), Some(moment("09:00")));
        assert_eq!(last_seen(moment("12:02"), &wrote[..3]), None);
        assert_eq!(last_seen(moment("13:02"), &wrote), Some(moment("12:00")));
    }
}
