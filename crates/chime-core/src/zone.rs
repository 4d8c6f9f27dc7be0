//! Time zones, and formatting of times for members.

use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone};
use chrono_tz::Tz;

use super::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Zone(Tz);

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

impl Zone {
    pub const UTC: Self = Self(Tz::UTC);

    /// Parses an IANA name such as `Europe/Berlin`, ignoring case.
    pub fn parse(name: &str) -> Option<Self> {
        let known = |zone: &Tz| zone.name().eq_ignore_ascii_case(name);
        chrono_tz::TZ_VARIANTS.iter().copied().find(known).map(Self)
    }

    /// Returns the IANA name; `UTC` for `Etc/UTC`, which is what machines without a time zone report.
    pub fn name(self) -> &'static str {
        match self.0 {
            Tz::Etc__UTC => "UTC",
            zone => zone.name(),
        }
    }

    pub fn local(self, at: Timestamp) -> DateTime<Tz> {
        at.to_utc().with_timezone(&self.0)
    }

    /// Returns the offset from UTC at this moment, in seconds; positive east of Greenwich.
    pub fn ahead_secs(self, at: Timestamp) -> i32 {
        self.local(at).offset().fix().local_minus_utc()
    }

    /// Returns the first moment at which clocks in the zone show `local`. If the change to summer time skips `local`,
    /// computes the moment with the offset before the change.
    pub fn moment(self, local: NaiveDateTime) -> Timestamp {
        let shown = self.0.from_local_datetime(&local).earliest().map(|found| found.timestamp());
        shown.map_or_else(
            || {
                let as_utc = Timestamp::from_secs(local.and_utc().timestamp());
                let before = Timestamp::from_secs(as_utc.secs() - 24 * 60 * 60);
                Timestamp::from_secs(as_utc.secs() - i64::from(self.ahead_secs(before)))
            },
            Timestamp::from_secs,
        )
    }

    /// Returns the first moment of a day.
    pub fn midnight(self, day: NaiveDate) -> Timestamp {
        self.moment(day.and_time(NaiveTime::MIN))
    }

    /// Returns `true` if both moments are on the same local day.
    pub fn same_day(self, one: Timestamp, other: Timestamp) -> bool {
        self.local(one).date_naive() == self.local(other).date_naive()
    }

    /// Formats the time like `14:02`.
    pub fn clock_time(self, at: Timestamp) -> String {
        self.local(at).format("%H:%M").to_string()
    }

    /// Formats the date like `Monday 5 January 2026`.
    pub fn day_in_words(self, at: Timestamp) -> String {
        self.local(at).format("%A %-d %B %Y").to_string()
    }

    /// Formats a span of time like `Monday 5 January 2026, 14:02-16:40`, with both days if they differ.
    pub fn period_in_words(self, from: Timestamp, to: Timestamp) -> String {
        let start = format!("{}, {}", self.day_in_words(from), self.clock_time(from));
        match (self.same_day(from, to), self.clock_time(to)) {
            (true, end) if start.ends_with(&end) => start,
            (true, end) => format!("{start}-{end}"),
            (false, end) => format!("{start} - {}, {end}", self.day_in_words(to)),
        }
    }

    /// Formats the date like `5 Jan 2026`.
    pub fn date(self, at: Timestamp) -> String {
        self.local(at).format("%-d %b %Y").to_string()
    }

    /// Formats the date like `14 Oct`, with the year unless it is the current year.
    pub fn short_date(self, at: Timestamp, now: Timestamp) -> String {
        let year = |at| self.local(at).format("%Y").to_string();
        let form = if year(at) == year(now) { "%-d %b" } else { "%-d %b %Y" };
        self.local(at).format(form).to_string()
    }

    /// Formats the time like `14:02`. If the zone is UTC, adds "UTC", because the clocks of most members show another
    /// time.
    pub fn told_time(self, at: Timestamp) -> String {
        format!("{}{}", self.clock_time(at), self.label())
    }

    /// Returns the day of the month, the month counted from 0, and the year.
    pub fn day(self, at: Timestamp) -> (u32, u32, i32) {
        let local = self.local(at);
        (local.day(), local.month0(), local.year())
    }

    /// Returns `true` if a date without its year would be misunderstood: it is in another year and more than half a
    /// year ago.
    pub fn needs_year(self, at: Timestamp, now: Timestamp) -> bool {
        const HALF_A_YEAR: Duration = Duration::from_hours(182 * 24);
        now.since(at) > HALF_A_YEAR && self.local(at).year() != self.local(now).year()
    }

    fn label(self) -> &'static str {
        match self.0 {
            Tz::UTC | Tz::UCT | Tz::Universal | Tz::Zulu | Tz::GMT | Tz::Greenwich => " UTC",
            Tz::Etc__UTC | Tz::Etc__UCT | Tz::Etc__Universal | Tz::Etc__Zulu | Tz::Etc__GMT | Tz::Etc__Greenwich => {
                " UTC"
            }
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::NaiveDate;

    use super::*;

    const BERLIN: Zone = Zone(Tz::Europe__Berlin);
    const NOW: Timestamp = Timestamp::from_secs(1_767_657_720);

    #[test]
    fn names_are_read_in_any_case_and_others_are_refused() {
        let read = |name| Zone::parse(name).map(Zone::name);
        let names = ["Europe/Berlin", "america/new_york", "UTC", "Berlin", "+02:00", ""].map(read);
        assert_eq!(names, [Some("Europe/Berlin"), Some("America/New_York"), Some("UTC"), None, None, None]);
    }

    #[test]
    fn moments_are_told_as_clocks_there_show_them() {
        assert_eq!(BERLIN.day_in_words(NOW), "Tuesday 6 January 2026");
        assert_eq!(BERLIN.clock_time(NOW), "01:02");
        assert_eq!(BERLIN.short_date(NOW, NOW), "6 Jan");
        let until = |hours: u64| BERLIN.period_in_words(NOW, NOW.plus(Duration::from_secs(hours * 3600)));
        assert_eq!(until(2), "Tuesday 6 January 2026, 01:02-03:02");
        assert_eq!(until(25), "Tuesday 6 January 2026, 01:02 - Wednesday 7 January 2026, 02:02");
        assert_eq!(BERLIN.ahead_secs(NOW), 3600);
    }

    #[test]
    fn utc_is_named_where_members_see_it() {
        let days_ago = |days: u64| NOW.minus(Duration::from_secs(days * 86_400));
        assert!(!BERLIN.needs_year(days_ago(30), NOW));
        assert!(BERLIN.needs_year(days_ago(300), NOW), "nobody takes it for last March's");
        assert_eq!([BERLIN, Zone::UTC].map(|zone| zone.told_time(NOW)), ["01:02", "00:02 UTC"]);
        assert_eq!(Zone::UTC.clock_time(NOW), "00:02");
    }

    #[test]
    fn a_time_of_day_is_a_moment_also_where_clocks_are_changed() {
        let at = |day, hour| NaiveDate::from_ymd_opt(2026, 3, day).unwrap().and_hms_opt(hour, 30, 0).unwrap();
        assert_eq!(BERLIN.clock_time(BERLIN.moment(at(28, 9))), "09:30");
        // Clocks skip 02:30 on this day.
        assert_eq!(BERLIN.clock_time(BERLIN.moment(at(29, 2))), "03:30");
    }
}
