//! Retention periods, and the clock that decides if data is older than they allow.

use std::time::Duration;

use chime_core::Timestamp;
use chime_store::retention::cutoff;

const DAY: Duration = Duration::from_hours(24);
/// Longest time to keep the ids of received updates, and pages that were read. The updates themselves are not stored.
const UPDATES_AND_PAGES: Duration = Duration::from_hours(14 * 24);
/// Time to keep the data of a chat after the bot was removed from it, because the removal may have been a mistake.
const AFTER_REMOVAL: Duration = Duration::from_hours(30 * 24);

/// Time to keep the concepts in scope of a conversation after their last change. Later the conversation is probably
/// about something else.
const IDLE_CONTEXT: Duration = Duration::from_hours(30 * 24);

/// If this machine's clock and Telegram's differ by more than this, no data counts as expired.
const LARGE_SKEW: Duration = DAY;

/// Current time for measuring the age of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpiryClock {
    By(Timestamp),
    /// The two clocks differ by this much, so neither can be trusted and nothing may be deleted.
    Refused(Duration),
}

/// Returns the earlier time of two clocks, so that nothing is deleted too soon. `here` is this machine's clock; `there`
/// is Telegram's, which dates the messages. If Telegram did not answer, the date of the `newest` message replaces its
/// clock.
pub fn expiry_clock(here: Timestamp, there: Option<Timestamp>, newest: Option<Timestamp>) -> ExpiryClock {
    match (there, newest) {
        (Some(there), _) => match here.since(there).max(there.since(here)) {
            skew if skew > LARGE_SKEW => ExpiryClock::Refused(skew),
            _ => ExpiryClock::By(here.min(there)),
        },
        (None, Some(newest)) => ExpiryClock::By(here.min(newest)),
        (None, None) => ExpiryClock::By(here),
    }
}

/// For each kind of data, the time before which it is expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// Messages sent before this time, in chats without a retention setting of their own. `None` keeps them forever.
    pub messages: Option<Timestamp>,
    /// Ids of updates that arrived before this time, and pages that were read before it.
    pub updates_and_pages: Timestamp,
    /// All data of chats from which the bot was removed before this time.
    pub removals: Timestamp,
    /// Concepts in scope of conversations where they last changed before this time.
    pub contexts: Timestamp,
}

/// Computes the cutoffs. `retention` is the period that the operator chose, `None` for no limit. Ids of updates, and
/// pages, expire after the same period, but no sooner than after a day and no later than after 14 days. `copies` is the
/// longest age of a daily copy.
pub fn cutoffs(now: Timestamp, retention: Option<Duration>, copies: Duration) -> Cutoffs {
    Cutoffs {
        messages: retention.map(|span| cutoff(now, span, copies)),
        updates_and_pages: now.minus(retention.map_or(UPDATES_AND_PAGES, |span| span.max(DAY).min(UPDATES_AND_PAGES))),
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
        let an_hour = |day: i64| at(day).plus(Duration::from_hours(1));
        assert_eq!(expiry_clock(an_hour(400), Some(at(400)), None), ExpiryClock::By(at(400)));
        assert_eq!(expiry_clock(at(400), Some(an_hour(400)), Some(at(1))), ExpiryClock::By(at(400)));
        assert_eq!(expiry_clock(at(800), Some(at(400)), None), ExpiryClock::Refused(DAY * 400));
        assert_eq!(expiry_clock(at(400), Some(at(800)), None), ExpiryClock::Refused(DAY * 400));
        assert_eq!(expiry_clock(at(800), None, Some(at(400))), ExpiryClock::By(at(400)), "out of reach");
    }

    #[test]
    fn updates_go_after_two_weeks_or_with_their_messages() {
        let now = Timestamp::from_secs(400 * 86_400);
        let days_ago = |days: u32| now.minus(DAY * days);
        let year = cutoffs(now, Some(DAY * 365), Duration::ZERO);
        assert_eq!((year.messages, year.updates_and_pages), (Some(days_ago(365)), days_ago(14)));
        let copied = cutoffs(now, Some(DAY * 365), DAY * 7);
        assert_eq!(copied.messages, Some(days_ago(358)), "copies of the last week hold nothing older than a year");
        assert_eq!(cutoffs(now, Some(DAY * 30), DAY * 7).messages, Some(days_ago(27)));
        let week = cutoffs(now, Some(DAY * 7), Duration::ZERO);
        assert_eq!((week.messages, week.updates_and_pages), (Some(days_ago(7)), days_ago(7)));
        let for_good = cutoffs(now, None, Duration::ZERO);
        assert_eq!(
            (for_good.messages, for_good.updates_and_pages, for_good.removals),
            (None, days_ago(14), days_ago(30))
        );
    }
}
