//! Parts of a moment that a text names, such as its day and its hour, and the time that they mean.

use std::time::Duration;

use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Weekday};

use chime_core::{Timestamp, Zone};

/// Hour of a reminder that names only a day.
const DEFAULT_HOUR: u32 = MORNING;
const MORNING: u32 = 9;
const NOON: u32 = 12;
const AFTERNOON: u32 = 15;
const EVENING: u32 = 19;
const NIGHT: u32 = 21;
/// Hours of the parts of a day.
pub(super) const PART_HOURS: [u32; 5] = [MORNING, NOON, AFTERNOON, EVENING, NIGHT];
/// An hour up to this one, without a part of the day, is in the afternoon: "at three".
const LAST_SMALL_HOUR: u32 = 6;
/// Longest time until a reminder, in years.
const YEARS: u32 = 5;
pub(super) const DAY_SECS: u64 = 86_400;
/// Stand for the length of a month and of a year, which differ.
pub(super) const MONTH: u64 = 0;
pub(super) const YEAR: u64 = u64::MAX;

/// What a request says about its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedTime {
    Time(ReminderTime),
    /// Repetition other than [`Repeat`], several times at once, or a date that can be read in two ways, such as "5/6".
    Unsupported,
    Past,
    /// A time that is not understood as a whole: a number where the time of day stands that is none, such as "at 25:00",
    /// a date that no calendar has, such as "31 February", or further words for a time, such as "9:00 in the EST zone".
    Unreadable,
    /// No time: a request in plain words is a question.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReminderTime {
    /// The first time.
    pub at: Timestamp,
    pub repeat: Option<Repeat>,
    /// End of the last day on which it repeats, excluded.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    Daily,
    Weekly(Weekday),
}

impl Repeat {
    fn includes(self, day: NaiveDate) -> bool {
        match self {
            Self::Daily => true,
            Self::Weekly(weekday) => day.weekday() == weekday,
        }
    }
}

/// Time of day as it is written, before it is known if it is in the morning or the afternoon.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClockTime {
    pub(super) hour: u32,
    pub(super) minute: u32,
    /// `true` if the time cannot be meant twelve hours later, as in "at 21:00" or "9 am".
    pub(super) is_exact: bool,
    /// `true` if the words after the hour say its half of the day, as in "9 am" or "8 in the evening".
    pub(super) has_half: bool,
    /// `true` if it is at the end of a day, as in "at midnight".
    pub(super) is_midnight: bool,
}

/// Span of days that names a day, which a weekday or another day next to it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DaySpan {
    /// "Next week".
    NextWeek,
    /// "In two weeks".
    Days(u64),
    /// "Next month".
    Longer,
}

/// Time that a text names, or one part of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moment {
    pub(super) date: Option<NaiveDate>,
    /// `true` if the date was named by its weekday only.
    pub(super) is_weekday: bool,
    /// `true` if the date was named by its distance, as in "tomorrow".
    pub(super) is_relative: bool,
    /// Span by which the date was named, such as "next week" or "in two weeks"; `None` if it was named otherwise.
    pub(super) span: Option<DaySpan>,
    pub(super) time: Option<ClockTime>,
    /// Hour of a part of the day.
    pub(super) part: Option<u32>,
    /// Time from now, in seconds.
    pub(super) after: Option<u64>,
    pub(super) repeat: Option<Repeat>,
    pub(super) until: Option<NaiveDate>,
    /// `true` if it is a day before today, such as "yesterday".
    pub(super) is_past: bool,
    pub(super) is_unsupported: bool,
    /// `true` if words that belong to the time were not understood.
    pub(super) is_unreadable: bool,
    /// `true` if the date is one that no calendar has.
    pub(super) is_impossible_date: bool,
    /// `true` if a word such as "every" stands before a word that is no unit of time.
    pub(super) is_vague: bool,
}

/// Span of time, such as "two days" or "1h 30m".
#[derive(Debug, Default)]
pub(super) struct Span {
    pub(super) months: u64,
    pub(super) days: u64,
    pub(super) secs: u64,
}

impl Span {
    /// Adds a number of units, in hundredths.
    pub(super) fn add(&mut self, hundredths: u64, unit_secs: u64) -> Option<()> {
        match (unit_secs, hundredths % 100) {
            (MONTH, 0) => self.months += hundredths / 100,
            (YEAR, 0) => self.months += hundredths / 100 * 12,
            (MONTH | YEAR, _) => return None,
            (DAY_SECS.., 0) => self.days += hundredths / 100 * (unit_secs / DAY_SECS),
            _ => self.secs += hundredths * unit_secs / 100,
        }
        Some(())
    }
}

impl Moment {
    /// Returns the moment of a date that no calendar has.
    pub(super) fn of_impossible_date() -> Self {
        Self { is_impossible_date: true, ..Self::default() }
    }

    pub(super) fn is_named(&self) -> bool {
        self.date.is_some()
            || self.time.is_some()
            || self.part.is_some()
            || self.after.is_some()
            || self.repeat.is_some()
    }

    pub(super) fn has_day_only(&self) -> bool {
        (self.date.is_some() || self.repeat.is_some()) && self.time.is_none() && self.part.is_none()
    }

    /// Adds the next part of the same moment. Returns `false`, and adds nothing, if it belongs to something else.
    /// `is_listed` is `true` after a word such as "and": a second time is then a request for several reminders.
    pub(super) fn join(&mut self, next: Moment, is_listed: bool) -> bool {
        let is_second_day = self.date.is_some() && next.date.is_some();
        let has_span = self.span.is_some() != next.span.is_some();
        let refines = is_second_day && (self.is_weekday != next.is_weekday || has_span) && !is_listed;
        let is_other = |day: NaiveDate| self.repeat.is_some_and(|repeat| !repeat.includes(day));
        let is_other_day = next.is_weekday && next.date.is_some_and(is_other);
        let is_other_repeat = is_other_day || self.repeat.is_some() && next.repeat.is_some();
        let clashes = is_second_day && !refines
            || self.time.is_some() && next.time.is_some()
            || self.part.is_some() && next.part.is_some()
            || self.after.is_some() && next.is_named()
            || self.is_named() && next.after.is_some()
            || self.date.is_some() && next.is_past
            || is_other_repeat;
        if clashes {
            self.is_unsupported |= is_other_repeat || is_listed || self.repeat.is_some() && is_second_day;
            return false;
        }
        let is_unreadable = self.is_unreadable || refines && self.common_day(next).is_none();
        let date = if refines { self.common_day(next).or(self.date) } else { next.date.or(self.date) };
        let is_weekday =
            date.is_some() && (self.date.is_none() || self.is_weekday) && (next.date.is_none() || next.is_weekday);
        let is_impossible_date = self.is_impossible_date || next.is_impossible_date;
        *self = Moment { date, is_weekday, is_impossible_date, is_unreadable, ..self.with(next) };
        true
    }

    /// Returns the day that two parts of a moment name together, such as "friday, 17 May", "next week on friday" and "today
    /// in a week". `None` if they name no common day, or it may be one or another.
    fn common_day(&self, next: Moment) -> Option<NaiveDate> {
        let (of_span, other) = if next.span.is_some() { (&next, self) } else { (self, &next) };
        let (date, day) = (of_span.date?, other.date?);
        let in_week = || {
            let monday = date.checked_sub_days(Days::new(date.weekday().num_days_from_monday().into()))?;
            monday.checked_add_days(Days::new(day.weekday().num_days_from_monday().into()))
        };
        match of_span.span {
            Some(DaySpan::NextWeek) if other.is_weekday => in_week(),
            // "Monday in two weeks" is two weeks after monday, or monday of the week after next.
            Some(DaySpan::Days(days)) if other.is_weekday => {
                let later = if days % 7 == 0 { day.checked_add_days(Days::new(days))? } else { date };
                Some(later).filter(|later| Some(*later) == in_week())
            }
            Some(DaySpan::NextWeek) => day.checked_add_days(Days::new(7)).filter(|_| other.is_relative),
            Some(DaySpan::Days(days)) => day.checked_add_days(Days::new(days)).filter(|_| other.is_relative),
            Some(DaySpan::Longer) => None,
            // In "friday, 17 May", the date is more exact.
            None => {
                let exact = if next.is_weekday { self.date } else { next.date };
                exact.filter(|exact| [date, day].iter().all(|day| day.weekday() == exact.weekday()))
            }
        }
    }

    /// Takes over what a later moment of the text names.
    pub(super) fn replace_by(&mut self, later: Moment) {
        let is_other_repeat = self.repeat.is_some() && later.repeat.is_some();
        // "Every friday to plan for monday" begins on friday.
        let later = if self.repeat.is_some() { Moment { date: None, ..later } } else { later };
        let is_weekday = if later.date.is_some() { later.is_weekday } else { self.is_weekday };
        let is_unsupported = is_other_repeat || self.is_unsupported || later.is_unsupported;
        *self = Moment { is_weekday, is_unsupported, ..self.with(later) };
    }

    fn with(self, later: Moment) -> Moment {
        Moment {
            date: later.date.or(self.date),
            is_weekday: later.is_weekday,
            is_relative: self.is_relative || later.is_relative,
            span: later.span.or(self.span),
            time: later.time.or(self.time),
            part: later.part.or(self.part),
            after: later.after.or(self.after),
            repeat: later.repeat.or(self.repeat),
            until: later.until.or(self.until),
            is_past: self.is_past || later.is_past,
            is_unsupported: self.is_unsupported || later.is_unsupported,
            is_unreadable: self.is_unreadable || later.is_unreadable,
            is_impossible_date: later.is_impossible_date || self.is_impossible_date && later.date.is_none(),
            is_vague: self.is_vague || later.is_vague,
        }
    }

    /// Returns what the moment means at `now`. `is_first` is `true` if it stands right after the words that ask.
    pub(super) fn asked_time(&self, is_first: bool, now: Timestamp, zone: Zone) -> AskedTime {
        // In the words of the task, "each guest" is no repetition of a reminder that has a date.
        let is_once = !is_first && (self.date.is_some() || self.after.is_some());
        if self.is_unsupported || self.is_vague && !is_once {
            return AskedTime::Unsupported;
        }
        let today = zone.local(now).date_naive();
        if self.is_unreadable || self.is_impossible_date || self.is_of_one_of_two_nights(today) {
            return AskedTime::Unreadable;
        }
        if self.is_past && is_first {
            return AskedTime::Past;
        }
        if let Some(secs) = self.after {
            let is_near = secs < DAY_SECS * 365 * u64::from(YEARS);
            let time = || ReminderTime { at: now.plus(Duration::from_secs(secs)), repeat: None, until: None };
            return if is_near { AskedTime::Time(time()) } else { AskedTime::None };
        }
        let now = zone.local(now).naive_local();
        if !self.is_named() {
            return AskedTime::None;
        }
        let Some(local) = self.next_after(now) else { return AskedTime::Past };
        let end = |day: NaiveDate| Some(zone.midnight(day.succ_opt()?));
        let (at, until) = (zone.moment(local), self.until.and_then(end));
        if now.checked_add_months(Months::new(12 * YEARS)).is_none_or(|latest| local >= latest) {
            return AskedTime::None;
        }
        match until {
            Some(until) if at >= until => AskedTime::Past,
            _ => AskedTime::Time(ReminderTime { at, repeat: self.repeat, until }),
        }
    }

    /// Returns the first local time after `now`.
    fn next_after(&self, now: NaiveDateTime) -> Option<NaiveDateTime> {
        let (today, date) = (now.date(), self.date.filter(|_| self.repeat.is_none()));
        // "Today" without an hour is the next part of the day.
        let is_today = date == Some(today);
        let next_part = PART_HOURS.into_iter().find(|hour| is_today && *hour > now.hour()).unwrap_or(DEFAULT_HOUR);
        let hour = self.part.unwrap_or(next_part);
        let time = self.time.unwrap_or(ClockTime { hour, is_exact: true, ..ClockTime::default() });
        let (hour, is_of_night) = self.hour_of(time);
        // "Tonight at one" is tomorrow.
        let date = date.filter(|_| !is_of_night);
        let clock = NaiveTime::from_hms_opt(hour, time.minute, 0)?;
        let is_ahead = |day: &NaiveDate| day.and_time(clock) > now;
        let day = match date {
            // "On friday", said on a friday before that time, is today.
            Some(day) if self.is_weekday && day.weekday() == today.weekday() && is_ahead(&today) => Some(today),
            Some(day) => Some(day).filter(is_ahead),
            None => {
                let first = self.date.unwrap_or(today).max(today);
                let is_day = |day: &NaiveDate| self.repeat.is_none_or(|repeat| repeat.includes(*day)) && is_ahead(day);
                first.iter_days().take(8).find(is_day)
            }
        };
        match day {
            Some(day) => Some(day.and_time(clock)),
            // "Today at nine", asked at ten, is in the evening.
            None if !time.is_exact && hour < 12 && self.part.is_none() => {
                Some(date?.and_time(clock) + TimeDelta::hours(12)).filter(|local| *local > now)
            }
            None => None,
        }
    }

    /// Returns the hour of a time, and `true` if it is in the night that follows the day: "tonight at one", "at midnight".
    fn hour_of(&self, time: ClockTime) -> (u32, bool) {
        match self.part {
            Some(part) if part > NOON && !time.has_half => hour_in_part(time.hour, part),
            // "At three" is in the afternoon.
            None if !time.is_exact && time.hour <= LAST_SMALL_HOUR => (time.hour + 12, false),
            _ => (time.hour, time.is_midnight),
        }
    }

    /// Returns `true` for "tomorrow at midnight" and "friday night at one", which may be in the night before that day or
    /// after it.
    fn is_of_one_of_two_nights(&self, today: NaiveDate) -> bool {
        let is_of_night = self.time.is_some_and(|time| self.hour_of(time).1);
        let is_of_day = self.date.is_some_and(|day| day != today) || matches!(self.repeat, Some(Repeat::Weekly(_)));
        is_of_night && is_of_day
    }
}

/// Returns the hour that "8" means in a part of the day, and `true` if it is in the night that follows the day.
fn hour_in_part(hour: u32, part: u32) -> (u32, bool) {
    let first = if part == NIGHT { 6 } else { 5 };
    match part {
        _ if hour > 12 => (hour, false),
        EVENING | NIGHT if hour < first || hour == 12 => (hour % 12, true),
        AFTERNOON | EVENING | NIGHT => (hour % 12 + 12, false),
        NOON if hour < 6 => (hour + 12, false),
        MORNING => (hour % 12, false),
        _ => (hour, false),
    }
}

impl ClockTime {
    /// Sets the half of the day; `true` means the afternoon.
    pub(super) fn set_half(&mut self, is_late: Option<bool>) {
        match is_late {
            Some(true) if self.hour < 12 => self.hour += 12,
            Some(false) if self.hour == 12 => self.hour = 0,
            _ => {}
        }
        self.is_exact |= is_late.is_some();
        self.has_half |= is_late.is_some();
    }

    /// Sets the part of the day that stands after the hour: "8 in the evening".
    pub(super) fn set_part(&mut self, part: u32) {
        let (hour, is_of_night) = hour_in_part(self.hour, part);
        // "Tomorrow at 3 in the night" is on that day, but twelve is at its end.
        self.is_midnight = is_of_night && hour == 0;
        (self.hour, self.is_exact, self.has_half) = (hour, true, true);
    }
}

/// Parses `9:30`, `9h30`, `9h`, `9am`, `9.30pm`, and `9.30` after a preposition.
pub(super) fn clock_time(word: &str, is_marked: bool) -> Option<ClockTime> {
    let halves = [("am", false), ("pm", true)];
    let half = halves.into_iter().find_map(|(end, is_late)| Some((word.strip_suffix(end)?, is_late)));
    let digits = half.map_or(word, |(digits, _)| digits);
    let colon = digits.split_once(':').map(|(hour, minute)| (hour, minute.trim_end_matches(char::is_alphabetic)));
    let parts = colon
        .or_else(|| digits.split_once('h'))
        .or_else(|| digits.split_once('.').filter(|_| is_marked || half.is_some()));
    let (hour, minute) = match parts {
        Some((hour, "")) => (hour.parse().ok()?, 0),
        Some((hour, minute)) if minute.len() == 2 => (hour.parse().ok()?, minute.parse().ok()?),
        Some(_) => return None,
        None => (half.is_some().then(|| digits.parse().ok())??, 0),
    };
    let mut time = ClockTime { hour, minute, is_exact: parts.is_some(), ..ClockTime::default() };
    time.set_half(half.map(|(_, is_late)| is_late));
    Some(time)
}

/// Parses "20", "1.5" or "2,25" as hundredths.
pub(super) fn hundredths(number: &str) -> Option<u64> {
    let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let scale = [10, 1].get(fraction.len().checked_sub(1)?)?;
    Some(u64::from(whole.parse::<u32>().ok()?) * 100 + fraction.parse::<u64>().ok()? * scale)
}
