//! Parses times of day: "at nine", "half past nine".

use crate::retrieval::reminder_times::COLON;
use crate::retrieval::reminder_times::moment::{ClockTime, Moment, clock_time};
use crate::retrieval::reminder_times::reader::MomentReader;

impl MomentReader<'_> {
    /// Returns `true` if a number follows a day, perhaps behind a word such as "at": it is no time of day, or it cannot
    /// be told from the number of something: "tomorrow at 25", "tomorrow 3 eggs".
    pub(super) fn is_unread_number(&self, place: usize) -> bool {
        let number = place + self.linking(place).unwrap_or(0);
        // "Ein" and "a" are articles too.
        self.starts_with_digit(number) || self.number(number).is_some_and(|number| number > 1)
    }

    /// Parses an hour that is followed by nothing or by a colon: "tonight 9", "tomorrow evening 9: tea".
    pub(super) fn lone_hour(&self, place: usize) -> Option<ClockTime> {
        let hour = self.dates.words.get(place)?.parse().ok().filter(|hour| *hour < 24)?;
        let is_last = self.dates.words.get(place + 1).is_none_or(|word| word == COLON);
        is_last.then_some(ClockTime { hour, is_exact: hour == 0 || hour > 12, ..ClockTime::default() })
    }

    /// Returns `true` for a time that no day has, such as "at 9:75" and "um 25 Uhr".
    pub(super) fn is_impossible_clock(&mut self, place: usize) -> bool {
        let table = self.dates.table;
        let Some(mark) = self.at(&table.at, place) else { return false };
        let number = place + mark;
        // A ratio such as 16:9 is no time.
        let minutes = |word: &String| word.split_once(':').is_some_and(|(_, minutes)| minutes.len() == 2);
        let has_colon = self.dates.words.get(number).is_some_and(minutes);
        let is_clock = has_colon || self.at(&table.oclock, number + 1).is_some();
        self.starts_with_digit(number) && is_clock && self.element(place).is_none()
    }

    /// Parses "at nine", "9h30", "9 pm", "half past nine", "ten to nine", "um halb zehn", "в 7 вечера".
    pub(super) fn clock(&mut self, place: usize) -> Option<(Moment, usize)> {
        let table = self.dates.table;
        let mark = self.at(&table.at, place);
        let before = self.minutes_before(place + mark.unwrap_or(0), mark.is_some());
        let (offset, begin) = before.unwrap_or((0, place + mark.unwrap_or(0)));
        // "к 3 мая" is a day, although a time may follow the preposition.
        let is_date = self.dates.day_and_month(begin).is_some();
        self.dates.spans.clear();
        if is_date {
            return None;
        }
        let (mut time, used, is_time) = match clock_time(self.dates.words.get(begin)?, mark.is_some()) {
            Some(time) => (time, 1, true),
            None => self.hour(begin).map(|(time, used)| (time, used, false))?,
        };
        let mut end = begin + used;
        let oclock = self.at(&table.oclock, end);
        end += oclock.unwrap_or(0);
        // "9 Uhr 30", "seven thirty".
        let is_minute = !is_time && (oclock.is_some() || self.is_in_words(begin) && self.is_in_words(end));
        if let Some(minute) = self.number(end).filter(|minute| is_minute && (10..60).contains(minute)) {
            time.minute = minute;
            end += 1;
        }
        let behind = [(&table.half_past, 30), (&table.quarter_past, 15), (&table.quarter_to, -15)];
        let behind = behind.into_iter().find_map(|(names, minutes)| Some((minutes, self.at(names, end)?)));
        end += behind.map_or(0, |(_, used)| used);
        let half_day = self.dates.words.get(end).map(|word| word.replace('.', ""));
        let is_late = match half_day.as_deref() {
            Some("am") => Some(false),
            Some("pm") => Some(true),
            _ => None,
        };
        let part = self.part(end).filter(|_| !self.begins_task(&Moment { time: Some(time), ..Moment::default() }, end));
        let is_marked =
            mark.or(oclock).or(behind.map(|(_, used)| used)).is_some() || before.is_some() || time.is_midnight;
        // A number is a time only together with a word such as "at" or "pm".
        if !is_time && !is_marked && is_late.is_none() && part.is_none() {
            return None;
        }
        end += is_late.map_or(part.map_or(0, |(used, _)| used), |_| 1);
        match (is_late, part) {
            (None, Some((_, part))) if !time.is_midnight => time.set_part(part),
            _ => time.set_half(is_late),
        }
        let minutes =
            i64::from(time.hour) * 60 + i64::from(time.minute) + offset + behind.map_or(0, |(minutes, _)| minutes);
        let minutes = u32::try_from(minutes.rem_euclid(24 * 60)).ok().filter(|_| time.hour < 24 && time.minute < 60)?;
        let time = ClockTime { hour: minutes / 60, minute: minutes % 60, ..time };
        Some((Moment { time: Some(time), ..Moment::default() }, end - place))
    }

    /// Parses "nine", "midnight" and, before "and a half", "noon". Returns also the number of words.
    fn hour(&self, place: usize) -> Option<(ClockTime, usize)> {
        let table = self.dates.table;
        if let Some(used) = self.at(&table.midnight, place) {
            return Some((
                ClockTime { is_exact: true, has_half: true, is_midnight: true, ..ClockTime::default() },
                used,
            ));
        }
        let noon = self.at(&table.noon, place).filter(|used| self.at(&table.half_past, place + used).is_some());
        let (hour, used) = noon.map(|used| (12, used)).or_else(|| Some((self.number(place)?, 1)))?;
        Some((ClockTime { hour, is_exact: hour == 0 || hour > 12, ..ClockTime::default() }, used))
    }

    /// Parses what may stand before an hour: "half past", "quarter to", "ten past", "halb", "fünf vor halb". Returns the
    /// minutes that it adds to the hour, and the place of the hour.
    fn minutes_before(&self, place: usize, is_marked: bool) -> Option<(i64, usize)> {
        let table = self.dates.table;
        let phrases = [
            (&table.half_to, -30),
            (&table.quarter_towards, -45),
            (&table.half_past, 30),
            (&table.quarter_past, 15),
            (&table.quarter_to, -15),
        ];
        let named = phrases.into_iter().find_map(|(names, minutes)| Some((minutes, place + self.at(names, place)?)));
        // "From 9 to 5" is no time.
        let counted = || {
            let count = i64::from(self.number(place).filter(|count| is_marked && *count < 60)?);
            let signs = [(&table.minutes_past, 1), (&table.minutes_to, -1)];
            signs.into_iter().find_map(|(names, sign)| Some((sign * count, place + 1 + self.at(names, place + 1)?)))
        };
        let (minutes, hour) = named.or_else(counted)?;
        if self.hour(hour).is_some() {
            return Some((minutes, hour));
        }
        let (more, hour) = self.minutes_before(hour, false)?;
        Some((minutes + more, hour))
    }
}
