//! Retention periods.

use std::time::Duration;

use chime_core::Timestamp;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Retention of raw updates, which only serve to diagnose recent problems.
const RAW_UPDATES: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Retention of a chat after the bot's removal, which may have been a mistake.
const AFTER_REMOVAL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Time after their last change for which a conversation's concepts are kept: later it is about something else.
const IDLE_CONTEXT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Clock difference above which nothing is deleted.
const LARGE_SKEW: Duration = DAY;

/// Time by which the age of data is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reckoning {
    By(Timestamp),
    /// The clocks differ by this much, so nothing is deleted.
    Refused(Duration),
}

/// Returns the earlier of both clocks: `here` is this machine's, `there` Telegram's, which dates the messages. Without
/// an answer from Telegram, uses the date of the `newest` message instead.
pub fn reckon(here: Timestamp, there: Option<Timestamp>, newest: Option<Timestamp>) -> Reckoning {
    match (there, newest) {
        (Some(there), _) => match here.since(there).max(there.since(here)) {
            skew if skew > LARGE_SKEW => Reckoning::Refused(skew),
            _ => Reckoning::By(here.min(there)),
        },
        (None, Some(newest)) => Reckoning::By(here.min(newest)),
        (None, None) => Reckoning::By(here),
    }
}

/// Times before which data expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// Messages by date of sending, in chats without a setting of their own; `None` keeps them forever.
    pub messages: Option<Timestamp>,
    /// Raw updates by time of arrival.
    pub raw_updates: Timestamp,
    /// All data of a chat, by the time of the bot's removal.
    pub removals: Timestamp,
    /// Concepts of a conversation, by the time of their last change.
    pub contexts: Timestamp,
}

/// Computes the cutoffs. `retention` is the operator's. A raw update expires no later than its message, but not within
/// a day.
pub fn cutoffs(now: Timestamp, retention: Option<Duration>) -> Cutoffs {
    Cutoffs {
        messages: retention.map(|span| now.minus(span)),
        raw_updates: now.minus(retention.map_or(RAW_UPDATES, |span| span.max(DAY).min(RAW_UPDATES))),
        removals: now.minus(AFTER_REMOVAL),
        contexts: now.minus(IDLE_CONTEXT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_clock_counts_and_clocks_far_apart_delete_nothing() {
        let at = |day: i64| Timestamp::from_secs(day * 86_400);
        let an_hour = |day: i64| at(day).plus(Duration::from_secs(3600));
        assert_eq!(reckon(an_hour(400), Some(at(400)), None), Reckoning::By(at(400)));
        assert_eq!(reckon(at(400), Some(an_hour(400)), Some(at(1))), Reckoning::By(at(400)));
        assert_eq!(reckon(at(800), Some(at(400)), None), Reckoning::Refused(DAY * 400));
        assert_eq!(reckon(at(400), Some(at(800)), None), Reckoning::Refused(DAY * 400));
        assert_eq!(reckon(at(800), None, Some(at(400))), Reckoning::By(at(400)), "out of reach");
    }

    #[test]
    fn a_raw_update_goes_after_two_weeks_or_with_its_message() {
        let now = Timestamp::from_secs(400 * 86_400);
        let days_ago = |days: u32| now.minus(DAY * days);
        let year = cutoffs(now, Some(DAY * 365));
        assert_eq!((year.messages, year.raw_updates), (Some(days_ago(365)), days_ago(14)));
        let week = cutoffs(now, Some(DAY * 7));
        assert_eq!((week.messages, week.raw_updates), (Some(days_ago(7)), days_ago(7)));
        let for_good = cutoffs(now, None);
        assert_eq!((for_good.messages, for_good.raw_updates, for_good.removals), (None, days_ago(14), days_ago(30)));
    }
}
