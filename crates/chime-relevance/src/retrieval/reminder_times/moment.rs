//! Parts of a moment that a text names, such as its day and its hour, and the time that they mean.

use std::time::Duration;

use chrono::{Datelike, Months, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Weekday};

use chime_core::{Timestamp, Zone};

/// Hour of a reminder that names only a day.
const DEFAULT_HOUR: u32 = 9;
/// Hours of the parts of a day: morning, noon, afternoon, evening.
pub(super) const PART_HOURS: [u32; 4] = [9, 12, 15, 19];
/// An hour up to this one, without a part of the day, is in the afternoon: "at three".
const LAST_SMALL_HOUR: u32 = 6;
/// Longest time until a reminder, in years.
const YEARS: u32 = 5;
pub(super) const DAY_SECS: u64 = 86_400;
/// Stands for the length of a month, which differs.
pub(super) const MONTH: u64 = 0;

/// What a request says about its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedTime {
    Time(ReminderTime),
    /// Repetition other than [`Repeat`], several times at once, or a date that can be read in two ways, such as "5/6".
    Unsupported,
    Past,
    /// A number where the time of day stands that is none, such as "at 25:00", or a date that no calendar has, such as
    /// "31 February".
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
#[derive(Debug, Clone, Copy)]
pub(super) struct ClockTime {
    pub(super) hour: u32,
    pub(super) minute: u32,
    /// `true` if the time cannot be meant twelve hours later, as in "at 21:00" or "9 am".
    pub(super) is_exact: bool,
}

/// Time that a text names, or one part of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Moment {
    pub(super) date: Option<NaiveDate>,
    /// `true` if the date was named by its weekday only.
    pub(super) is_weekday: bool,
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
    /// `true` if a number stands where the time of day does, and is none.
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
            (MONTH, _) => return None,
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
    /// `is_listed` is `true` behind a word such as "and": a second time is then a request for several reminders.
    pub(super) fn join(&mut self, next: Moment, is_listed: bool) -> bool {
        let is_second_day = self.date.is_some() && next.date.is_some();
        let refines = is_second_day && self.is_weekday != next.is_weekday && !is_listed;
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
        // In "friday, 17 May", the date is more exact.
        let date = if next.is_weekday { self.date.or(next.date) } else { next.date.or(self.date) };
        let is_weekday =
            date.is_some() && (self.date.is_none() || self.is_weekday) && (next.date.is_none() || next.is_weekday);
        let is_impossible_date = self.is_impossible_date || next.is_impossible_date;
        *self = Moment { date, is_weekday, is_impossible_date, ..self.with(next) };
        true
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

    /// Returns what the moment means at `now`. `is_first` tells if it stands directly behind the words that ask.
    pub(super) fn asked_time(&self, is_first: bool, now: Timestamp, zone: Zone) -> AskedTime {
        // In the words of the task, "each guest" is no repetition of a reminder that has a date.
        let is_once = !is_first && (self.date.is_some() || self.after.is_some());
        if self.is_unsupported || self.is_vague && !is_once {
            return AskedTime::Unsupported;
        }
        if self.is_unreadable || self.is_impossible_date {
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
        let end = |day: NaiveDate| Some(zone.moment(day.succ_opt()?.and_time(NaiveTime::MIN)));
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
        let time = self.time.unwrap_or(ClockTime { hour, minute: 0, is_exact: true });
        let hour = if self.is_small(time) { time.hour + 12 } else { time.hour };
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

    /// Returns `true` for "at three", which is in the afternoon.
    fn is_small(&self, time: ClockTime) -> bool {
        !time.is_exact
            && match self.part {
                Some(part) => part > 12 && time.hour < 12,
                None => time.hour <= LAST_SMALL_HOUR,
            }
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
    let mut time = ClockTime { hour, minute, is_exact: parts.is_some() };
    time.set_half(half.map(|(_, is_late)| is_late));
    Some(time)
}

/// Parses "20", "1.5" or "2,25" as hundredths.
pub(super) fn hundredths(number: &str) -> Option<u64> {
    let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, "0"));
    let scale = [10, 1].get(fraction.len().checked_sub(1)?)?;
    Some(u64::from(whole.parse::<u32>().ok()?) * 100 + fraction.parse::<u64>().ok()? * scale)
}
