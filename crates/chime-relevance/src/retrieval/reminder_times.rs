//! Parses the time of a reminder: "on friday at nine", "in 20 minutes", "every monday 9:00 until 1 June".

use std::time::Duration;

use chrono::{Datelike, Days, Months, NaiveDate, NaiveDateTime, NaiveTime, Weekday};

use crate::retrieval::dates::{DateReader, spans_named};
use crate::retrieval::languages::{PhraseTable, Phrases, Tables};
use crate::retrieval::words::words;
use chime_core::trigger::Languages;
use chime_core::{Language, Timestamp, Zone};

/// Hour of a reminder that names only a day.
const DEFAULT_HOUR: u32 = 9;
/// Hours of the parts of a day: morning, noon, afternoon, evening.
const PART_HOURS: [u32; 4] = [9, 12, 15, 19];
/// An hour up to this one, without a part of the day, is in the afternoon: "at three".
const LAST_SMALL_HOUR: u32 = 6;
/// Longest time until a reminder, in years.
const YEARS: u32 = 5;

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

/// Returns `true` if a text names a time near its own, such as "at five", "tomorrow" or "next month".
pub fn names_time(text: &str) -> bool {
    const NOW: Timestamp = Timestamp::from_secs(1_770_000_000);
    const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
    let (said, tables) = (words(text), Tables::of(Language::DEFAULT, text));
    let is_phrase = |place| tables.iter().any(|table| table.time.at(&said, place).is_some_and(|length| length > 1));
    spans_named(&said, tables, NOW, 0).iter().any(|span| span.to.since(span.from) <= WEEK)
        || (0..said.len()).any(is_phrase)
        || reminder_time(text, Language::DEFAULT, NOW, Zone::UTC).is_some()
}

/// Returns the time after `now` that `text` names, or `None` if it names none or a repetition that is no [`Repeat`].
/// `zone` and `language` belong to the chat; the text may be in another language.
pub fn reminder_time(text: &str, language: Language, now: Timestamp, zone: Zone) -> Option<ReminderTime> {
    let words = words(&joined(text));
    let tables = Tables::of(language, text);
    let read = tables.of_question().into_iter().chain(tables.iter()).map(|table| {
        let mut reader = MomentReader::new(&words, table, zone.local(now).naive_local());
        reader.read();
        (reader.has_other_repeat, reader.time(now, zone))
    });
    let read: Vec<(bool, Option<ReminderTime>)> = read.collect();
    if read.iter().any(|(has_other_repeat, _)| *has_other_repeat) {
        return None;
    }
    let times: Vec<ReminderTime> = read.into_iter().filter_map(|(_, time)| time).collect();
    // The language of a few words is uncertain, and the wrong one may know their time but not their repetition.
    times.iter().find(|time| time.repeat.is_some()).or(times.first()).copied()
}

/// Returns `true` if `ask` names a repetition that is no [`Repeat`], such as "every two weeks".
pub fn has_other_repeat(ask: &str, language: Language, now: Timestamp, zone: Zone) -> bool {
    let words = words(&joined(ask));
    Tables::of(language, ask).iter().any(|table| {
        let mut moment = MomentReader::new(&words, table, zone.local(now).naive_local());
        moment.read();
        moment.has_other_repeat
    })
}

/// Returns `true` if `ask` asks for a reminder at a time that is past, such as "remind us on 2020-01-01". In a request in
/// plain words, the time must come first: "remind me of the wood we ordered yesterday" is a question.
pub fn is_for_past_time(ask: &str, language: Language, now: Timestamp, zone: Zone) -> bool {
    let words = words(&joined(ask));
    // A preposition may stand before the date.
    let places = Languages::shipped().words_to_remind(ask).map_or(0..words.len(), |begin| begin..begin + 2);
    let today = zone.local(now).date_naive();
    Tables::of(language, ask).iter().any(|table| {
        let mut moment = MomentReader::new(&words, table, zone.local(now).naive_local());
        let mut dates = DateReader { words: &words, table, today, is_ahead: false, spans: Vec::new() };
        places.clone().any(|place| moment.day(place).is_some_and(|(day, _)| day <= today))
            || (dates.long_ago(places.start).or_else(|| dates.relative(places.start)).is_some()
                && dates.spans.iter().all(|(_, to)| *to <= today))
    })
}

/// Writes `9:30` as `9h30` and `2026-05-01` as `01.05.2026`, so that each is one word.
fn joined(text: &str) -> String {
    let tokens = text.split_whitespace().map(|token| {
        let token = token.trim_end_matches([',', '.', ';', '!', '?']);
        if let Ok(day) = token.trim_end_matches(':').parse::<NaiveDate>() {
            return day.format("%d.%m.%Y").to_string();
        }
        match token.split_once(':') {
            // A colon may also end a time, a date or a span: "until 01.06.2026: water the plants", "in 2h30: the oven".
            Some((number, "")) => number.to_owned(),
            Some((hour, rest)) if hour.ends_with(|c: char| c.is_ascii_digit()) && !hour.contains('.') => {
                format!("{hour}h{rest}")
            }
            _ => token.to_owned(),
        }
    });
    tokens.collect::<Vec<_>>().join(" ")
}

/// Time of day as it is written, before it is known if it is in the morning or the afternoon.
#[derive(Debug, Clone, Copy)]
struct ClockTime {
    hour: u32,
    minute: u32,
    /// `true` if the time cannot be meant twelve hours later, as in "at 21:00" or "9 am".
    is_exact: bool,
}

struct MomentReader<'a> {
    dates: DateReader<'a>,
    now: NaiveDateTime,
    date: Option<NaiveDate>,
    /// `true` if the date was named by its weekday only.
    is_weekday: bool,
    time: Option<ClockTime>,
    /// Hour of a part of the day.
    part: Option<u32>,
    after: Option<Duration>,
    repeat: Option<Repeat>,
    /// `true` if the text names a repetition that is none of [`Repeat`], such as "every two weeks".
    has_other_repeat: bool,
    until: Option<NaiveDate>,
}

impl<'a> MomentReader<'a> {
    fn new(words: &'a [String], table: &'static PhraseTable, now: NaiveDateTime) -> Self {
        let dates = DateReader { words, table, today: now.date(), is_ahead: true, spans: Vec::new() };
        Self {
            dates,
            now,
            date: None,
            is_weekday: false,
            time: None,
            part: None,
            after: None,
            repeat: None,
            has_other_repeat: false,
            until: None,
        }
    }

    fn read(&mut self) {
        let mut place = 0;
        while place < self.dates.words.len() {
            let used = self
                .repeat(place)
                .or_else(|| self.until(place))
                .or_else(|| self.span(place))
                .or_else(|| self.clock(place))
                .or_else(|| self.day_and_part(place));
            place += used.unwrap_or(1);
        }
    }

    fn at(&self, phrases: &Phrases, place: usize) -> Option<usize> {
        phrases.at(self.dates.words, place)
    }

    /// Parses "daily", "every day", "every monday", and the first word of "every evening".
    fn repeat(&mut self, place: usize) -> Option<usize> {
        let table = self.dates.table;
        if let Some(used) = self.at(&table.daily, place) {
            self.repeat = Some(Repeat::Daily);
            return Some(used);
        }
        let unit = place + self.at(&table.every, place)?;
        if let Some(used) = self.at(&table.day, unit) {
            self.repeat = Some(Repeat::Daily);
            return Some(unit + used - place);
        }
        if table.parts_of_day().iter().any(|part| self.at(part, unit).is_some()) {
            self.repeat = Some(Repeat::Daily);
            return Some(unit - place);
        }
        let counted = unit + usize::from(self.number(unit).is_some());
        let units = [&table.minute, &table.hour, &table.day, &table.week, &table.month];
        // Behind a date it is part of what to be reminded of: "tomorrow: take a pill every 8 hours".
        let has_date = self.after.is_some() || self.date.is_some() && !self.is_weekday;
        if !has_date && units.iter().any(|it| self.at(it, counted).is_some()) {
            self.has_other_repeat = true;
        }
        let weekday = |place| {
            (0_u8..).zip(&table.weekdays).find(|(_, names)| self.at(names, place).is_some()).map(|(day, _)| day)
        };
        let day = weekday(unit)?;
        // "Every monday and friday" is no single repetition.
        self.has_other_repeat |= (1..=2).any(|next| weekday(unit + next).is_some());
        self.repeat = Weekday::try_from(day).ok().map(Repeat::Weekly);
        Some(unit + 1 - place)
    }

    /// Parses "until 1 June". An article may stand before the date.
    fn until(&mut self, place: usize) -> Option<usize> {
        let begin = place + self.at(&self.dates.table.until, place)?;
        let (day, end) = (begin..begin + 2).find_map(|at| self.day(at).map(|(day, used)| (day, at + used)))?;
        self.until = Some(day);
        Some(end - place)
    }

    /// Parses "in 20 minutes", "in an hour", "in 2h30", "in 1 hour and 30 minutes", "20 dakika sonra", "in three days".
    fn span(&mut self, place: usize) -> Option<usize> {
        let phrases = self.dates.table;
        let before = self.at(&phrases.ahead, place);
        let begin = place + before.unwrap_or(0);
        let is_clock = self.dates.words.get(place).is_some_and(|word| word == "after");
        if before.is_some()
            && !is_clock
            && let Some((length, end)) =
                self.decimal_hours(begin).or_else(|| Some((self.glued_span(begin)?, begin + 1)))
        {
            self.after = Some(length);
            return Some(end - place);
        }
        let (count, unit) = match self.number(begin) {
            Some(count) if count > 0 => (count, begin + 1),
            _ => (1, begin),
        };
        let units = self.dates.table;
        let is_half = self.at(&phrases.half_hour, begin);
        let lengths = [&phrases.minute, &phrases.hour, &units.day, &units.week, &units.month];
        let found = (0..).zip(lengths).find_map(|(n, names)| self.at(names, unit).map(|used| (n, unit + used)));
        let (length, end) = is_half.map(|used| (5, begin + used)).or(found)?;
        let (minutes, end) = self.minutes(end).filter(|_| length == 1).unwrap_or((0, end));
        let end = match before {
            Some(_) => end,
            None => end + self.at(&phrases.after, end)?,
        };
        let later = |days: u32| self.dates.today.checked_add_days(Days::new(u64::from(days)));
        match length {
            0 => self.after = Some(Duration::from_secs(60 * u64::from(count))),
            1 => self.after = Some(Duration::from_secs(60 * (60 * u64::from(count) + u64::from(minutes)))),
            2 => self.date = later(count),
            3 => self.date = later(count.saturating_mul(7)),
            4 => self.date = self.dates.today.checked_add_months(Months::new(count)),
            _ => self.after = Some(Duration::from_secs(30 * 60)),
        }
        Some(end - place)
    }

    /// Parses a span in one word: "2h", "30min", "2h30m", "2h30".
    fn glued_span(&self, place: usize) -> Option<Duration> {
        let table = self.dates.table;
        let units = [("m", &table.minute, 60), ("h", &table.hour, 3600), ("d", &table.day, 86_400)];
        let mut rest = self.dates.words.get(place)?.as_str();
        let (mut secs, mut is_hours) = (0_u64, false);
        while !rest.is_empty() {
            let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            let count: u64 = rest[..rest.len() - behind.len()].parse().ok()?;
            rest = behind.trim_start_matches(char::is_alphabetic);
            let unit = &behind[..behind.len() - rest.len()];
            let is_unit = |(short, names): (&str, &Phrases)| unit == short || names.at(&[unit.to_owned()], 0).is_some();
            let named = units.iter().find(|(short, names, _)| is_unit((short, names))).map(|(_, _, secs)| *secs);
            let of_unit = named.or((unit.is_empty() && is_hours).then_some(60))?;
            is_hours = of_unit == 3600;
            secs = secs.checked_add(count.checked_mul(of_unit)?)?;
        }
        (secs > 0).then(|| Duration::from_secs(secs))
    }

    /// Parses "1.5 hours". Returns also the place behind it.
    fn decimal_hours(&self, place: usize) -> Option<(Duration, usize)> {
        let (whole, tenths) = self.dates.words.get(place)?.split_once(['.', ','])?;
        let (whole, tenths): (u64, u64) = (whole.parse().ok()?, Some(tenths).filter(|it| it.len() == 1)?.parse().ok()?);
        let end = place + 1 + self.at(&self.dates.table.hour, place + 1)?;
        Some((Duration::from_secs(whole.checked_mul(3600)? + tenths * 360), end))
    }

    /// Parses the minutes after hours, perhaps behind a word such as "and". Returns also the place behind them.
    fn minutes(&self, place: usize) -> Option<(u32, usize)> {
        let at = |place: usize| Some((self.number(place)?, place + 1 + self.at(&self.dates.table.minute, place + 1)?));
        at(place).or_else(|| at(place + 1))
    }

    fn number(&self, place: usize) -> Option<u32> {
        let in_words = || self.dates.table.clock_numbers.get(self.dates.words.get(place)?).copied();
        self.dates.count_at(place).or_else(in_words)
    }

    /// Parses "at nine", "9h30", "9 pm", "half past nine", "um halb zehn", "в 7 вечера".
    fn clock(&mut self, place: usize) -> Option<usize> {
        let phrases = self.dates.table;
        let mark = self.at(&phrases.at, place);
        let begin = place + mark.unwrap_or(0);
        if let Some(used) = self.at(&phrases.half_to, begin)
            && let Some(hour) = self.number(begin + used)
        {
            self.time = Some(ClockTime { hour: hour.checked_sub(1)?, minute: 30, is_exact: false });
            return Some(begin + used + 1 - place);
        }
        let half_before = self.at(&phrases.half_past, begin).unwrap_or(0);
        let begin = begin + half_before;
        // "к 3 мая" is a day, although a time may follow the preposition.
        let (known, is_date) = (self.dates.spans.len(), self.dates.day_and_month(begin).is_some());
        self.dates.spans.truncate(known);
        if is_date {
            return None;
        }
        let (mut time, is_time) = match clock_time(self.dates.words.get(begin)?, mark.is_some()) {
            Some(time) => (time, true),
            None => (ClockTime { hour: self.number(begin)?, minute: 0, is_exact: false }, false),
        };
        let mut end = begin + 1;
        let oclock = self.at(&phrases.oclock, end);
        end += oclock.unwrap_or(0);
        let half_behind = self.at(&phrases.half_past, end).unwrap_or(0);
        end += half_behind;
        let is_half = half_before + half_behind > 0;
        if is_half {
            time.minute = 30;
        }
        let half_day = self.dates.words.get(end).map(|word| word.replace('.', ""));
        let is_late = match half_day.as_deref() {
            Some("am") => Some(false),
            Some("pm") => Some(true),
            _ => None,
        };
        let part = (0..).zip(phrases.parts_of_day()).find_map(|(n, part)| self.at(part, end).map(|used| (n, used)));
        // A number is a time only together with a word such as "at" or "pm".
        if !is_time && !is_half && mark.is_none() && oclock.is_none() && is_late.is_none() && part.is_none() {
            return None;
        }
        end += is_late.map_or(part.map_or(0, |(_, used)| used), |_| 1);
        time.set_half(is_late.or(part.map(|(n, _)| n > 1)));
        (time.hour < 24 && time.minute < 60).then(|| self.time = Some(time))?;
        Some(end - place)
    }

    /// Parses "tomorrow", "tomorrow evening", "on friday", "3 June".
    fn day_and_part(&mut self, place: usize) -> Option<usize> {
        let parts = PART_HOURS.into_iter().zip([
            &self.dates.table.morning,
            &self.dates.table.noon,
            &self.dates.table.afternoon,
            &self.dates.table.evening,
        ]);
        let part = parts.filter_map(|(hour, part)| self.at(part, place).map(|used| (used, hour))).max();
        let day = self.day(place);
        self.part = part.map(|(_, hour)| hour).or(self.part);
        match (part, day) {
            // In "por la mañana" the last word is no day.
            (Some((used, _)), Some((_, of_day))) if used > of_day => Some(used),
            (part, Some((day, used))) => {
                self.date = Some(day);
                Some(used.max(part.map_or(0, |(used, _)| used)))
            }
            (part, None) => part.map(|(used, _)| used),
        }
    }

    fn day(&mut self, place: usize) -> Option<(NaiveDate, usize)> {
        let (today, table) = (self.dates.today, self.dates.table);
        let relative = [(&table.today, 0), (&table.tomorrow, 1), (&table.after_tomorrow, 2)];
        let named = relative.into_iter().filter_map(|(names, days)| Some((self.at(names, place)?, days))).max();
        if let Some((used, days)) = named {
            return Some((today.checked_add_days(Days::new(days))?, used));
        }
        let date = self.dates.numeric_date(place).or_else(|| self.dates.day_and_month(place));
        let used = date.or_else(|| self.dates.weekday(place))?;
        self.is_weekday |= date.is_none();
        Some((self.dates.spans.pop()?.0, used))
    }

    /// Returns `true` if the date has the weekday of today.
    fn is_today(&self) -> bool {
        self.date.is_some_and(|day| day.weekday() == self.dates.today.weekday())
    }

    /// Returns the time that the text names, if it is after `now`.
    fn time(&self, now: Timestamp, zone: Zone) -> Option<ReminderTime> {
        if let Some(after) = self.after {
            let is_near = after < Duration::from_secs(60 * 60 * 24 * 365 * u64::from(YEARS));
            return is_near.then(|| ReminderTime { at: now.plus(after), repeat: None, until: None });
        }
        if self.date.is_none() && self.time.is_none() && self.part.is_none() && self.repeat.is_none() {
            return None;
        }
        let time =
            self.time.unwrap_or(ClockTime { hour: self.part.unwrap_or(DEFAULT_HOUR), minute: 0, is_exact: true });
        let time = ClockTime { hour: if self.is_small(time) { time.hour + 12 } else { time.hour }, ..time };
        let clock = NaiveTime::from_hms_opt(time.hour, time.minute, 0)?;
        // "Every friday: plan for monday" begins this friday.
        let is_start = !(self.is_weekday && matches!(self.repeat, Some(Repeat::Weekly(_))));
        let first = self.date.filter(|_| is_start).unwrap_or(self.dates.today);
        let mut days = first.iter_days().take(8).filter(|day| self.repeat.is_none_or(|repeat| repeat.includes(*day)));
        let is_ahead = |day: &NaiveDate| day.and_time(clock) > self.now;
        let day = match self.date {
            // "On friday", said on a friday before that time, is today.
            Some(_) if self.repeat.is_none() && self.is_weekday && is_ahead(&self.dates.today) && self.is_today() => {
                Some(self.dates.today)
            }
            Some(day) if self.repeat.is_none() => Some(day).filter(is_ahead),
            _ => days.find(is_ahead),
        };
        let local = match day {
            Some(day) => day.and_time(clock),
            // "Today at nine", asked at ten, is in the evening.
            None if !time.is_exact && time.hour < 12 => first.and_time(clock) + chrono::TimeDelta::hours(12),
            None => return None,
        };
        let end = |day: NaiveDate| Some(zone.moment(day.succ_opt()?.and_time(NaiveTime::MIN)));
        let until = self.until.and_then(end);
        let latest = self.now.checked_add_months(Months::new(12 * YEARS))?;
        let at = zone.moment(local);
        (local > self.now && local < latest && until.is_none_or(|until| at < until)).then_some(ReminderTime {
            at,
            repeat: self.repeat,
            until,
        })
    }

    /// Returns `true` for "at three", which is in the afternoon.
    fn is_small(&self, time: ClockTime) -> bool {
        !time.is_exact
            && match self.part {
                Some(part) => part > 12 && time.hour < 12,
                None => (1..=LAST_SMALL_HOUR).contains(&time.hour),
            }
    }
}

impl ClockTime {
    /// Sets the half of the day; `true` means the afternoon.
    fn set_half(&mut self, is_late: Option<bool>) {
        match is_late {
            Some(true) if self.hour < 12 => self.hour += 12,
            Some(false) if self.hour == 12 => self.hour = 0,
            _ => {}
        }
        self.is_exact |= is_late.is_some();
    }
}

/// Parses `9h30`, `9h`, `9am`, `9.30pm`, and `9.30` after a preposition.
fn clock_time(word: &str, is_marked: bool) -> Option<ClockTime> {
    let halves = [("am", false), ("pm", true)];
    let half = halves.into_iter().find_map(|(end, is_late)| Some((word.strip_suffix(end)?, is_late)));
    let digits = half.map_or(word, |(digits, _)| digits);
    let parts = digits.split_once('h').or_else(|| digits.split_once('.').filter(|_| is_marked || half.is_some()));
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

#[cfg(test)]
mod tests;
