//! Computes the times at which subscribed recaps are due, in the time zone of the chat.

use chrono::{Datelike, Days, Weekday};

use chime_core::{Timestamp, Zone};

/// Number of days that are searched for the next time.
const AHEAD: u64 = 9;
/// Maximum number of missed times that are skipped one by one after a long downtime.
const CAUGHT_UP: usize = 400;

/// Time of day, either of each day or of one weekday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecapTime {
    pub weekday: Option<Weekday>,
    /// Minutes since midnight.
    pub minute: u16,
}

impl RecapTime {
    /// Parses `18:00`, or `mon 9:00` if `is_weekly`. `weekday` parses the day. Returns `None` for any other form.
    pub fn parse(words: &[&str], is_weekly: bool, weekday: impl Fn(&str) -> Option<Weekday>) -> Option<Self> {
        match (words, is_weekly) {
            ([time], false) => Some(Self { weekday: None, minute: minute_of(time)? }),
            ([day, time], true) => Some(Self { weekday: Some(weekday(day)?), minute: minute_of(time)? }),
            _ => None,
        }
    }

    /// Returns the first time after `after` at which a recap is due.
    pub fn next(self, after: Timestamp, zone: Zone) -> Option<Timestamp> {
        let today = zone.local(after).date_naive();
        let (hour, minute) = (u32::from(self.minute) / 60, u32::from(self.minute) % 60);
        // Starts with the day before, in case the clocks were set back over midnight.
        (0..AHEAD)
            .filter_map(|days| today.pred_opt()?.checked_add_days(Days::new(days)))
            .filter(|day| self.weekday.is_none_or(|weekday| day.weekday() == weekday))
            .filter_map(|day| Some(zone.moment(day.and_hms_opt(hour, minute, 0)?)))
            .find(|at| *at > after)
    }

    /// Returns the last time after `since` and up to `now` at which a recap is due. Earlier ones are skipped: missed
    /// recaps become a single one.
    pub fn due(self, since: Timestamp, now: Timestamp, zone: Zone) -> Option<Timestamp> {
        let times = std::iter::successors(self.next(since, zone), |at| self.next(*at, zone));
        times.take_while(|at| *at <= now).take(CAUGHT_UP).last()
    }
}

/// Parses `9:00`, `18.30`, `9h` or `9`. Returns minutes since midnight, or `None` if it is no time.
fn minute_of(time: &str) -> Option<u16> {
    let (hour, minute) = time.split_once([':', '.', 'h']).unwrap_or((time, "0"));
    let minute = if minute.is_empty() { "0" } else { minute };
    let (hour, minute): (u16, u16) = (hour.parse().ok()?, minute.parse().ok()?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const HOUR: u64 = 3600;

    fn berlin() -> Zone {
        Zone::parse("Europe/Berlin").unwrap()
    }

    fn at(text: &str) -> Timestamp {
        let local = chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").unwrap();
        berlin().moment(local)
    }

    fn time(text: &str) -> RecapTime {
        let words: Vec<&str> = text.split_whitespace().collect();
        RecapTime::parse(&words, words.len() > 1, |day| day.parse().ok()).unwrap()
    }

    #[test]
    fn a_time_stays_where_the_clocks_of_the_chat_show_it() {
        let daily = time("18:00");
        // In Berlin, clocks are set forward in the night to 29 March 2026 and back in the night to 25 October.
        let before = daily.next(at("2026-03-27 20:00"), berlin()).unwrap();
        let after = daily.next(before, berlin()).unwrap();
        assert_eq!((before, after), (at("2026-03-28 18:00"), at("2026-03-29 18:00")));
        assert_eq!(after.since(before), Duration::from_secs(23 * HOUR));
        let longer = daily.next(at("2026-10-24 18:00"), berlin()).unwrap();
        assert_eq!(longer.since(at("2026-10-24 18:00")), Duration::from_secs(25 * HOUR));
    }

    #[test]
    fn a_time_that_is_skipped_or_comes_twice_is_due_once() {
        let early = time("2:30");
        let first = early.next(at("2026-03-29 01:00"), berlin()).unwrap();
        assert!(first > at("2026-03-29 01:00") && first < at("2026-03-29 04:00"), "{first:?}");
        assert_eq!(early.next(first, berlin()), Some(at("2026-03-30 02:30")));
        let autumn = early.next(at("2026-10-25 00:00"), berlin()).unwrap();
        assert_eq!(early.next(autumn, berlin()), Some(at("2026-10-26 02:30")));
    }

    #[test]
    fn what_was_missed_is_one_recap() {
        let weekly = time("mon 9:00");
        assert_eq!(weekly.next(at("2026-11-22 12:00"), berlin()), Some(at("2026-11-23 09:00")));
        assert_eq!(weekly.due(at("2026-11-23 09:00"), at("2026-11-29 23:00"), berlin()), None);
        assert_eq!(weekly.due(at("2026-11-01 12:00"), at("2026-11-24 12:00"), berlin()), Some(at("2026-11-23 09:00")));
    }
}
