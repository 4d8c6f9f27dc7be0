//! Reads the parts of a moment, such as "on friday" and "at nine", one after another.

use chrono::Weekday;

use crate::retrieval::dates::DateReader;
use crate::retrieval::languages::Phrases;
use crate::retrieval::reminder_times::moment::{Moment, Repeat, Span};
use crate::retrieval::reminder_times::{COLON, ZONE};
use chime_core::is_unspaced;

/// Reads the moments of a text in one language.
pub(super) struct MomentReader<'a> {
    pub(super) dates: DateReader<'a>,
    /// `true` while the time right after the words that ask is read, where short forms are clear.
    pub(super) is_first: bool,
    /// Place at which "20 minutes" means "in 20 minutes".
    pub(super) bare_span: Option<usize>,
    /// Returns `true` if a comma or a dash stands before the word at a place.
    pub(super) breaks_at: &'a dyn Fn(usize) -> bool,
    /// `true` if further words for a time beside the time that was read make it unreadable.
    pub(super) is_strict: bool,
}

fn is_of(word: &str) -> bool {
    matches!(word, "of" | "de" | "di" | "van")
}

impl MomentReader<'_> {
    /// Returns the time named at word `begin` or later. If it is at `begin`, also returns the place after it. Words
    /// that may precede a time ("on the") and words that `skips` accepts may stand between.
    pub(super) fn read(&mut self, begin: usize, skips: impl Fn(&str) -> bool) -> (Moment, Option<usize>) {
        let (mut moment, end) = self.read_known(begin, skips);
        if self.is_strict && self.dates.table.short.is_none() {
            moment.is_unreadable |= moment.is_named() && end.is_none_or(|end| self.leaves_time(&moment, end));
        }
        (moment, end)
    }

    /// Returns `true` if the words from `end` to the next colon may belong to the time. In a language without a file few
    /// words for times are known, so a word that may be one counts wherever it is.
    fn leaves_time(&self, moment: &Moment, end: usize) -> bool {
        let (table, words) = (self.dates.table, self.dates.words);
        let colon = words[end..].iter().position(|word| word == COLON).map_or(words.len(), |at| end + at);
        let is_syllable = |at: usize| words[at].starts_with(is_unspaced) && words[at].chars().nth(1).is_none();
        let is_part = |at: usize| table.parts_of_day().into_iter().any(|part| self.at(part, at).is_some());
        let names_time = |at: usize| {
            self.starts_with_digit(at)
                || self.number(at).is_some_and(|number| number > 1)
                || is_part(at)
                || self.at(&table.every, at).is_some()
                || self.time_word(at).is_some_and(|length| length > 1 || !is_syllable(at))
        };
        let knows_no_hours = table.every.all().next().is_none();
        let is_open = moment.time.is_none() && moment.after.is_none() && end < colon;
        is_open && (knows_no_hours || self.at(&table.at, end).is_some()) || (end..colon).any(names_time)
    }

    fn read_known(&mut self, begin: usize, skips: impl Fn(&str) -> bool) -> (Moment, Option<usize>) {
        let mut place = begin;
        while self.element(place).is_none() {
            let Some(word) = self.dates.words.get(place) else { break };
            let skipped = self.at(&self.dates.table.before_all, place).or_else(|| self.linking(place));
            let Some(used) = skipped.or_else(|| skips(word).then_some(1)) else { break };
            place += used;
            self.bare_span = self.bare_span.map(|_| place);
        }
        let (mut moment, mut end) = self.group(place);
        (self.is_first, self.bare_span) = (false, None);
        if end == place {
            return (self.read_anywhere(begin, place), None);
        }
        if moment.time.is_none() && (moment.part.is_some() || moment.has_day_only()) {
            // "Friday 17" may be a date.
            let is_clear = moment.part.is_some() || moment.is_relative || moment.repeat.is_some();
            moment.time = self.lone_hour(end).filter(|_| is_clear);
            end += usize::from(moment.time.is_some());
            moment.is_unreadable |= moment.time.is_none() && self.is_unread_number(end);
        }
        let first_end = end;
        self.refuse_rest(&mut moment, end);
        // "Tomorrow to call mum at 5".
        if moment.has_day_only() {
            let mut last = Moment::default();
            while end < self.dates.words.len() {
                moment.is_unreadable |= self.is_impossible_clock(end);
                let (next, used) = self.element(end).unwrap_or_default();
                last = next;
                end += used.max(1);
            }
            moment.time = last.time;
        }
        (moment, Some(first_end))
    }

    /// Returns the last day and the last time of day from word `begin` on. Words before `first` may precede a time.
    fn read_anywhere(&mut self, begin: usize, first: usize) -> Moment {
        let (mut moment, mut place, mut last_end) = (Moment::default(), begin, first);
        while place < self.dates.words.len() {
            let begins = self.element(place).is_some();
            let (mut next, end) = if begins { self.group(place) } else { (Moment::default(), place) };
            if next.is_weekday {
                self.refuse_rest(&mut next, end);
            }
            let is_part =
                end > place && self.is_strict && (self.follows_time_word(place, last_end) || self.names_zone(end));
            let is_unreadable = next.is_unreadable || is_part || self.is_impossible_clock(end);
            moment.replace_by(Moment { is_unreadable, ..next });
            last_end = if end > place { end } else { last_end };
            place = end.max(place + 1);
        }
        // "Half an hour before the meeting", "before friday", "the second tuesday of december".
        let is_length = self.length(first, true, &mut Span::default()).is_some();
        let is_begun = self.time_word(first).or(self.at(&self.dates.table.earlier, first)).is_some();
        let is_begun = is_length || moment.is_named() && is_begun;
        Moment { is_unreadable: moment.is_unreadable || self.is_strict && is_begun, ..moment }
    }

    /// Marks a moment as not supported or unreadable if words at `end`, right after it, belong to it too.
    fn refuse_rest(&mut self, moment: &mut Moment, end: usize) {
        if !self.is_strict || self.begins_task(moment, end) {
            return;
        }
        let table = self.dates.table;
        let listed = self.at(&table.and, end).map(|used| end + used);
        let is_number =
            |at: usize, least: u32| self.is_in_words(at) && self.number(at).is_some_and(|number| number >= least);
        moment.is_unsupported |= listed.is_some_and(|next| self.starts_with_digit(next) || is_number(next, 2));
        // "Every day for two weeks".
        let is_long = |at: usize| {
            let mut span = Span::default();
            self.length(at, true, &mut span).is_some() && span.days + span.months > 0
        };
        let ends = self.at(&table.until, end).is_some() || (end..end + 3).any(is_long);
        moment.is_unsupported |= moment.repeat.is_some() && ends;
        let mut place = end;
        while self.at(&table.unread, place).is_none()
            && let Some(used) =
                self.linking(place).or_else(|| self.dates.words.get(place).is_some_and(|word| is_of(word)).then_some(1))
        {
            place += used;
        }
        let is_span = moment.after.is_some() || moment.span.is_some();
        let is_earlier = is_span && self.at(&table.earlier, end).is_some() || self.names_earlier(end);
        // "In one hour twenty".
        let is_minute = is_number(end, 10);
        // "Mon wed fri".
        let is_weekday = |at: usize| self.weekday_of(&table.weekdays, at).is_some();
        let is_list = moment.is_weekday && [end, place].into_iter().any(is_weekday);
        let is_named = [end, place].into_iter().any(|at| self.element(at).is_some_and(|(next, _)| next.is_named()));
        moment.is_unreadable |= is_earlier || is_minute || is_list || is_named || self.time_word(place).is_some();
    }

    /// Returns the length of a word for a time at `place`, such as "week" or "midnight". Ambiguous words do not count.
    fn time_word(&self, place: usize) -> Option<usize> {
        let (table, words) = (self.dates.table, self.dates.words);
        let begins_past = [&table.ago, &table.since].into_iter().any(|names| self.at(names, place).is_some());
        let others = [&table.minute, &table.hour, &table.second, &table.midnight, &table.unread];
        let named = others.into_iter().chain(table.parts_of_day()).filter_map(|names| self.at(names, place)).max();
        let length = named.max(table.time_phrase_at(words, place))?;
        (!begins_past && self.at(&table.ambiguous, place) != Some(length)).then_some(length)
    }

    /// Returns `true` for "ten minutes before" at `place`, as it stands after a time in Turkish.
    fn names_earlier(&self, place: usize) -> bool {
        let end = self.length(place, true, &mut Span::default());
        end.is_some_and(|end| self.at(&self.dates.table.earlier, end).is_some())
    }

    /// Returns `true` if a word for a time stands before `place`, perhaps with words such as "on the" between.
    fn follows_time_word(&self, place: usize, last_end: usize) -> bool {
        let table = self.dates.table;
        let links = |at: usize| {
            let links = [self.linking(at), self.at(&table.earlier, at), self.at(&table.until, at)];
            links.contains(&Some(1))
        };
        let mut end = place;
        while end > last_end && links(end - 1) {
            end -= 1;
        }
        (1..=2).any(|length| end >= last_end + length && self.time_word(end - length) == Some(length))
    }

    fn names_zone(&self, place: usize) -> bool {
        self.dates.words.get(place).is_some_and(|word| word == ZONE)
    }

    pub(super) fn starts_with_digit(&self, place: usize) -> bool {
        self.dates.words.get(place).is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Reads one moment of several parts, with only words such as "on the" between them: "on friday at nine". Returns
    /// also the place after it, which is `begin` if there is none.
    fn group(&mut self, begin: usize) -> (Moment, usize) {
        let (mut moment, mut end, mut place, mut is_listed) = (Moment::default(), begin, begin, false);
        loop {
            if let Some((next, used)) = self.element(place) {
                if self.begins_task(&moment, place) || !moment.join(next, is_listed && self.is_first) {
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

    /// Returns `true` if the words of the task begin after `moment` with a word such as "weekly" or "night":
    /// "friday 18:00 weekly shopping", "22:00 night watch". Without a day before it, the former may be a repetition;
    /// after an hour without minutes, the latter may be its part of the day.
    pub(super) fn begins_task(&mut self, moment: &Moment, place: usize) -> bool {
        let table = self.dates.table;
        let has_day = moment.date.is_some() || moment.repeat.is_some();
        let has_exact_time = moment.time.is_some_and(|time| time.is_exact);
        let repeat = self.at(&table.task_repeats, place).filter(|_| has_day);
        let used = repeat.or_else(|| self.at(&table.task_parts, place).filter(|_| has_exact_time));
        used.is_some_and(|used| self.continues_task(place + used))
    }

    /// Returns `true` if the words at `place` belong to the word before them, and are neither a time nor after a comma:
    /// "shopping", "of games", "at the museum".
    fn continues_task(&mut self, place: usize) -> bool {
        let table = self.dates.table;
        let begins =
            [&table.before_all, &table.minutes_to, &table.and].into_iter().any(|it| self.at(it, place).is_some());
        if begins && !self.dates.words.get(place).is_some_and(|word| is_of(word)) || (self.breaks_at)(place) {
            return false;
        }
        let mut next = place;
        while let Some(used) = self.linking(next) {
            next += used;
        }
        self.dates.words.get(next).is_some_and(|word| word != COLON) && self.element(next).is_none()
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
    pub(super) fn linking(&self, place: usize) -> Option<usize> {
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
        // In Hebrew and Thai, the names of weekdays begin with "day".
        if let Some((day, length)) = self.weekday_of(&table.weekdays, next) {
            let part = self.part_in_word(next);
            return Some((Moment { part, ..repeats(Repeat::Weekly(day)) }, used + length));
        }
        if let Some(unit) = self.at(&table.day, next) {
            return Some((repeats(Repeat::Daily), used + unit));
        }
        if let Some((length, hour)) = self.part(next) {
            return Some((Moment { part: Some(hour), ..repeats(Repeat::Daily) }, used + length));
        }
        if let Some(end) = self.length(next, false, &mut Span::default()) {
            return Some((is_unsupported, end - place));
        }
        every.map(|_| (Moment { is_vague: true, ..Moment::default() }, used))
    }

    pub(super) fn weekday_of(&self, names: &[Phrases], place: usize) -> Option<(Weekday, usize)> {
        let mut days = (0_u8..).zip(names);
        days.find_map(|(day, names)| Some((Weekday::try_from(day).ok()?, self.at(names, place)?)))
    }

    /// Parses "until 1 June". An article may stand before the date.
    fn until(&mut self, place: usize) -> Option<(Moment, usize)> {
        let begin = place + self.at(&self.dates.table.until, place)?;
        let mut day_at = |at: usize| {
            let until =
                |day: Moment| Moment { until: day.date, is_unsupported: day.is_unsupported, ..Moment::default() };
            let day = self.day(at).map(|(day, used)| (until(day), at + used));
            day.or_else(|| Some((Moment::of_impossible_date(), at + self.impossible_date(at)?)))
        };
        let (moment, end) = (begin..begin + 2).find_map(&mut day_at)?;
        Some((moment, end - place))
    }

    /// Parses "yesterday", "last week", "two days ago", "vor zwei Tagen", "last friday".
    fn past(&mut self, place: usize) -> Option<(Moment, usize)> {
        let table = self.dates.table;
        // In Hindi, the word for yesterday also means tomorrow.
        let is_ahead =
            [&table.tomorrow, &table.after_tomorrow].into_iter().any(|names| self.at(names, place).is_some());
        let named = [&table.days_before, &table.yesterday, &table.last_week, &table.last_month];
        let named = named.into_iter().filter(|_| !is_ahead).filter_map(|names| self.at(names, place)).max();
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
