//! Reads the parts of a moment, such as "on friday" and "at nine", one after another.

use chrono::Weekday;

use crate::retrieval::dates::DateReader;
use crate::retrieval::languages::Phrases;
use crate::retrieval::reminder_times::moment::{Moment, Repeat, Span};

/// Reads the moments of a text in one language.
pub(super) struct MomentReader<'a> {
    pub(super) dates: DateReader<'a>,
    /// `true` while the time directly behind the words that ask is read, where short forms are clear.
    pub(super) is_first: bool,
}

impl MomentReader<'_> {
    /// Returns the time that the text names from word `begin` on, and the place behind it if it begins there, perhaps
    /// behind words that may precede it or that `skips` accepts.
    pub(super) fn read(&mut self, begin: usize, skips: impl Fn(&str) -> bool) -> (Moment, Option<usize>) {
        let mut place = begin;
        while self.element(place).is_none() {
            let Some(word) = self.dates.words.get(place) else { break };
            let skipped = self.at(&self.dates.table.before_all, place).or_else(|| self.linking(place));
            let Some(used) = skipped.or_else(|| skips(word).then_some(1)) else { break };
            place += used;
        }
        let (mut moment, mut end) = self.group(place);
        self.is_first = false;
        if end > place {
            let first_end = end;
            // "Tomorrow to call mum at 5".
            if moment.has_day_only() {
                moment.is_unreadable = self.is_unread_number(end);
                let mut last = Moment::default();
                while end < self.dates.words.len() {
                    moment.is_unreadable |= self.is_impossible_clock(end);
                    let (next, used) = self.element(end).unwrap_or_default();
                    last = next;
                    end += used.max(1);
                }
                moment.time = last.time;
            }
            return (moment, Some(first_end));
        }
        let (mut moment, mut place) = (Moment::default(), begin);
        while place < self.dates.words.len() {
            let (next, end) = self.group(place);
            moment.replace_by(Moment { is_unreadable: self.is_impossible_clock(end), ..next });
            place = end.max(place + 1);
        }
        (moment, None)
    }

    pub(super) fn starts_with_digit(&self, place: usize) -> bool {
        self.dates.words.get(place).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Reads one moment of several parts, with only words such as "on the" between them: "on friday at nine". Returns
    /// also the place behind it, which is `begin` if there is none.
    fn group(&mut self, begin: usize) -> (Moment, usize) {
        let (mut moment, mut end, mut place, mut is_listed) = (Moment::default(), begin, begin, false);
        loop {
            if let Some((next, used)) = self.element(place) {
                if !moment.join(next, is_listed && self.is_first) {
                    return (moment, end);
                }
                place += used;
                (end, is_listed) = (place, false);
            } else if let Some(used) = self.at(&self.dates.table.and, place) {
                place += used;
                is_listed = true;
            } else if let Some(used) = self.linking(place) {
                place += used;
            } else {
                return (moment, end);
            }
        }
    }

    /// Parses one part of a moment. Returns also its number of words.
    pub(super) fn element(&mut self, place: usize) -> Option<(Moment, usize)> {
        self.repeat(place)
            .or_else(|| self.until(place))
            .or_else(|| self.past(place))
            .or_else(|| self.span(place))
            .or_else(|| self.clock(place))
            .or_else(|| self.day_and_part(place))
            .or_else(|| self.slashed_date(place))
            .or_else(|| Some((Moment::of_impossible_date(), self.impossible_date(place)?)))
    }

    pub(super) fn at(&self, phrases: &Phrases, place: usize) -> Option<usize> {
        phrases.at(self.dates.words, place)
    }

    /// Returns the number of words at `place` that may stand between the parts of a moment.
    fn linking(&self, place: usize) -> Option<usize> {
        let table = self.dates.table;
        [&table.before_time, &table.ahead, &table.after, &table.at]
            .into_iter()
            .filter_map(|it| self.at(it, place))
            .max()
    }

    /// Parses "daily", "every day", "mondays", "every monday", "every evening", and repetitions that are not supported.
    fn repeat(&mut self, place: usize) -> Option<(Moment, usize)> {
        let table = self.dates.table;
        let repeats = |repeat| Moment { repeat: Some(repeat), ..Moment::default() };
        let is_unsupported = Moment { is_unsupported: true, ..Moment::default() };
        if let Some(used) = self.at(&table.daily, place) {
            return Some((Moment { part: self.part(place).map(|(_, hour)| hour), ..repeats(Repeat::Daily) }, used));
        }
        if let Some((day, used)) = self.weekday_of(&table.weekly, place) {
            return Some((repeats(Repeat::Weekly(day)), used));
        }
        if let Some(used) = self.at(&table.other_repeats, place) {
            let next = place + used;
            // In "send the weekly report" it belongs to the task.
            let is_named = self.is_first || next >= self.dates.words.len() || self.element(next).is_some();
            return is_named.then_some((is_unsupported, used));
        }
        let every = self.at(&table.every, place);
        let used = every.max(self.at(&table.all_the, place))?;
        let next = place + used;
        if let Some(unit) = self.at(&table.day, next) {
            return Some((repeats(Repeat::Daily), used + unit));
        }
        if let Some((length, hour)) = self.part(next) {
            return Some((Moment { part: Some(hour), ..repeats(Repeat::Daily) }, used + length));
        }
        if let Some((day, length)) = self.weekday_of(&table.weekdays, next) {
            let part = self.part_in_word(next);
            return Some((Moment { part, ..repeats(Repeat::Weekly(day)) }, used + length));
        }
        if let Some(end) = self.length(next, false, &mut Span::default()) {
            return Some((is_unsupported, end - place));
        }
        let is_year = self.at(&table.year, next + usize::from(self.number(next).is_some())).is_some();
        let is_vague = Moment { is_vague: every.is_some(), is_unsupported: is_year, ..Moment::default() };
        (is_year || every.is_some()).then_some((is_vague, used))
    }

    pub(super) fn weekday_of(&self, names: &[Phrases], place: usize) -> Option<(Weekday, usize)> {
        let mut days = (0_u8..).zip(names);
        days.find_map(|(day, names)| Some((Weekday::try_from(day).ok()?, self.at(names, place)?)))
    }

    /// Parses "until 1 June". An article may stand before the date.
    fn until(&mut self, place: usize) -> Option<(Moment, usize)> {
        let begin = place + self.at(&self.dates.table.until, place)?;
        let mut day_at = |at: usize| {
            let day = self.day(at).map(|(day, _, used)| (Moment { until: Some(day), ..Moment::default() }, at + used));
            day.or_else(|| Some((Moment::of_impossible_date(), at + self.impossible_date(at)?)))
        };
        let (moment, end) = (begin..begin + 2).find_map(&mut day_at)?;
        Some((moment, end - place))
    }

    /// Parses "yesterday", "last week", "two days ago", "vor zwei Tagen", "last friday".
    fn past(&mut self, place: usize) -> Option<(Moment, usize)> {
        let table = self.dates.table;
        let named = [&table.days_before, &table.yesterday, &table.last_week, &table.last_month];
        let named = named.into_iter().filter_map(|names| self.at(names, place)).max();
        let last_day = || {
            let last = self.at(&table.last, place)?;
            Some(last + self.weekday_of(&table.weekdays, place + last)?.1)
        };
        let used = named.or_else(last_day).or_else(|| {
            let before = self.at(&table.ago, place).unwrap_or(0);
            Some(before + self.dates.long_ago(place + before)?)
        });
        self.dates.spans.clear();
        Some((Moment { is_past: true, ..Moment::default() }, used?))
    }
}
