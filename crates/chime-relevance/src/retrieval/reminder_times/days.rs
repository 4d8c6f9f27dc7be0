//! Parses days and parts of a day: "tomorrow evening", "on the 20th", "20/5".

use chrono::{Datelike, Days, NaiveDate};

use crate::retrieval::languages::Phrases;
use crate::retrieval::reminder_times::moment::{Moment, PART_HOURS, Span};
use crate::retrieval::reminder_times::reader::MomentReader;
use chime_core::PhraseWord;

impl MomentReader<'_> {
    /// Parses "tomorrow", "tomorrow evening", "on friday", "3 June", "evening".
    pub(super) fn day_and_part(&mut self, place: usize) -> Option<(Moment, usize)> {
        let part = self.part(place);
        let moment = Moment { part: part.map(|(_, hour)| hour), ..Moment::default() };
        match (part, self.day(place)) {
            // In "por la mañana" the last word is no day.
            (Some((used, _)), Some((_, of_day))) if used > of_day => Some((moment, used)),
            (_, Some((day, used))) => {
                let part = moment.part.or_else(|| self.part_in_word(place).filter(|_| day.is_weekday));
                Some((Moment { part, ..day }, used))
            }
            (part, None) => part.map(|(used, _)| (moment, used)),
        }
    }

    fn parts(&self) -> impl Iterator<Item = (u32, &Phrases)> {
        PART_HOURS.into_iter().zip(self.dates.table.parts_of_day())
    }

    /// Parses a part of the day. Returns its number of words and its hour.
    pub(super) fn part(&self, place: usize) -> Option<(usize, u32)> {
        self.parts().filter_map(|(hour, part)| Some((self.at(part, place)?, hour))).max()
    }

    /// Returns the hour of a part of the day behind the name of a weekday, as in "Freitagabend", but not in "Sonnabend".
    pub(super) fn part_in_word(&self, place: usize) -> Option<u32> {
        let word = self.dates.words.get(place)?;
        let names = self.dates.table.weekdays.iter().flat_map(Phrases::all).flatten();
        let rest = names.filter(|name| name.is_open).filter_map(|name| word.strip_prefix(name.text.as_str())).next()?;
        let is_end = |phrase: &[PhraseWord]| phrase.iter().all(|end| rest.ends_with(&end.text)) && phrase.len() == 1;
        self.parts().filter(|(_, part)| part.all().any(is_end)).map(|(hour, _)| hour).last()
    }

    /// Parses a day. Returns also its number of words.
    pub(super) fn day(&mut self, place: usize) -> Option<(Moment, usize)> {
        let (today, table) = (self.dates.today, self.dates.table);
        let on = |day: NaiveDate| Moment { date: Some(day), ..Moment::default() };
        let relative = [(&table.today, 0), (&table.tomorrow, 1), (&table.after_tomorrow, 2)];
        let named = relative.into_iter().filter_map(|(names, days)| Some((self.at(names, place)?, days))).max();
        if let Some((used, days)) = named {
            return Some((Moment { is_relative: true, ..on(today.checked_add_days(Days::new(days))?) }, used));
        }
        let date = self.dates.numeric_date(place).or_else(|| self.dates.day_and_month(place));
        if let Some(used) = date {
            return Some((on(self.dates.spans.pop()?.0), used));
        }
        // "Fri" and "mon" are days where a time is expected.
        if (self.is_first || self.at(&table.ambiguous, place).is_none())
            && let Some((weekday, used)) = self.weekday_of(&table.weekdays, place)
        {
            if let Some(used) = self.range_end(place + used).filter(|_| self.is_first) {
                return Some((Moment { is_unsupported: true, ..Moment::default() }, used - place));
            }
            let day = today.iter_days().skip(1).find(|day| day.weekday() == weekday)?;
            return Some((Moment { is_weekday: true, ..on(day) }, used));
        }
        self.day_of_month(place).map(|(day, used)| (on(day), used))
    }

    /// Parses "to friday" after "monday". Returns the place after it.
    fn range_end(&self, place: usize) -> Option<usize> {
        let last = place + self.at(&self.dates.table.up_to, place)?;
        Some(last + self.weekday_of(&self.dates.table.weekdays, last)?.1)
    }

    /// Parses "20/5" and "5/20/2024". In English, "5/6" may be in May or in June.
    pub(super) fn slashed_date(&mut self, place: usize) -> Option<(Moment, usize)> {
        let (first, second, year) = self.dates.slashed_numbers(place)?;
        if !self.ends_before(place + 1) || self.at(&self.dates.table.oclock, place + 1).is_some() {
            return None;
        }
        let is_english = self.dates.table.short == Some("en");
        if is_english && first <= 12 && second <= 12 {
            return self.is_first.then_some((Moment { is_unsupported: true, ..Moment::default() }, 1));
        }
        let (day, month) = if second > 12 { (second, first) } else { (first, second) };
        self.dates.add_day(year, month, day);
        let date = self.dates.spans.pop().map(|(day, _)| day);
        let is_impossible_date = date.is_none() && (1..=12).contains(&month) && (1..=self.last_number()).contains(&day);
        (date.is_some() || is_impossible_date).then_some((Moment { date, is_impossible_date, ..Moment::default() }, 1))
    }

    /// Parses a date that no calendar has, such as "31 February" or "the 32nd of May". Returns its number of words.
    pub(super) fn impossible_date(&mut self, place: usize) -> Option<usize> {
        let begin = place + self.at(&self.dates.table.on_the, place).unwrap_or(0);
        let named = self.dates.numeric_date(begin).or_else(|| self.dates.day_and_month(begin));
        let exists = !self.dates.spans.is_empty();
        self.dates.spans.clear();
        let used = match named {
            Some(used) => Some(used).filter(|_| !exists),
            None => self.too_high_day(begin),
        };
        used.map(|used| begin - place + used)
    }

    /// Parses "32 May", "the 40th of June" and "32.5.".
    fn too_high_day(&self, place: usize) -> Option<usize> {
        let is_of = |at: usize| matches!(self.dates.words.get(at).map(String::as_str), Some("of" | "de" | "di"));
        let word = self.dates.words.get(place)?;
        let is_too_high = |day: &str| day.parse().is_ok_and(|day| (32..=self.last_number()).contains(&day));
        if let Some((day, rest)) = word.split_once('.') {
            let month = rest.split('.').next().and_then(|month| month.parse().ok());
            let is_date = is_too_high(day) && month.is_some_and(|month| (1..=12).contains(&month));
            return is_date.then_some(1);
        }
        is_too_high(word.trim_end_matches(char::is_alphabetic)).then_some(())?;
        let month = place + 1 + usize::from(is_of(place + 1));
        Some(self.dates.month_at(month)?.1 + month - place)
    }

    /// Returns the largest number that is taken for the day of a month, even if no month has it: larger ones where a
    /// time is expected than in the words of the task.
    fn last_number(&self) -> u32 {
        if self.is_first { 99 } else { 31 }
    }

    /// Returns `true` if a number before `place` is a day, and not part of the task, as in "on the 20th floor".
    fn ends_before(&self, place: usize) -> bool {
        self.is_first || place >= self.dates.words.len() || self.at(&self.dates.table.at, place).is_some()
    }

    /// Parses "on the 20th", "am 20.", "20 числа".
    fn day_of_month(&mut self, place: usize) -> Option<(NaiveDate, usize)> {
        let table = self.dates.table;
        let before = self.at(&table.on_the, place);
        let number = place + before.unwrap_or(0);
        let day = self.dates.day_number(number)?;
        let behind = self.at(&table.of_month, number + 1);
        let end = number + 1 + behind.unwrap_or(0);
        // "Am 3. Juni" is a whole date.
        let is_whole = self.dates.day_and_month(number).is_some();
        self.dates.spans.clear();
        let is_count = self.length(number, true, &mut Span::default()).is_some();
        // "The 8th" alone may be the eighth thing.
        let is_ordinal = || self.dates.words.get(number).is_some_and(|word| word.ends_with(char::is_alphabetic));
        let is_alone = || end >= self.dates.words.len() || self.at(&table.at, end).is_some();
        let is_marked = before.is_some() || is_ordinal() && (is_alone() || self.is_behind_weekday(place));
        let is_day = is_marked && !is_whole && !is_count && self.ends_before(end);
        let day = self.dates.today.iter_days().take(62).find(|date| date.day() == day)?;
        (is_day || behind.is_some()).then_some((day, end - place))
    }

    /// Returns `true` for "8th" in "tuesday the 8th".
    fn is_behind_weekday(&self, place: usize) -> bool {
        let is_weekday = |before: usize| self.weekday_of(&self.dates.table.weekdays, before).is_some();
        (1..=2).filter_map(|back| place.checked_sub(back)).any(is_weekday)
    }
}
