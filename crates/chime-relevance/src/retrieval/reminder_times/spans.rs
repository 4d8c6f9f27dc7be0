//! Parses spans of time and numbers: "in 20 minutes", "an hour and a half".

use chrono::{Days, Months};

use crate::retrieval::languages::Phrases;
use crate::retrieval::reminder_times::moment::{DAY_SECS, DaySpan, MONTH, Moment, Span, YEAR, hundredths};
use crate::retrieval::reminder_times::reader::MomentReader;

const HOUR_SECS: u64 = 3600;
/// Seconds of a month, a year, a second, a minute, an hour, a day and a week.
const UNIT_SECS: [u64; 7] = [MONTH, YEAR, 1, 60, HOUR_SECS, DAY_SECS, 7 * DAY_SECS];

impl MomentReader<'_> {
    /// Parses "in 20 minutes", "in an hour", "in 1h and 30m", "20 dakika sonra", "in three days".
    pub(super) fn span(&mut self, place: usize) -> Option<(Moment, usize)> {
        let table = self.dates.table;
        let today = self.dates.today;
        if let Some(used) = self.at(&table.next_week, place) {
            let date = Some(today.checked_add_days(Days::new(7))?);
            return Some((Moment { date, span: Some(DaySpan::NextWeek), ..Moment::default() }, used));
        }
        let before = self.at(&table.ahead, place);
        let begin = place + before.unwrap_or(0);
        // "After 11:30" is a time of day, "in 2:30" is a span.
        let is_span = before.is_some() && self.at(&table.at, place).is_none();
        // In Vietnamese, "25 tháng 12" is a date.
        let is_date = before.is_none() && self.dates.day_and_month(begin).is_some();
        self.dates.spans.clear();
        if is_date {
            return None;
        }
        let mut span = Span::default();
        let colons = is_span.then(|| self.length_in_word(begin, true, &mut span)).flatten();
        // "/remind 20 minutes tea"; "2 heures" is a time of day.
        let is_bare = before.is_none() && self.bare_span == Some(place);
        let mut end = colons.or_else(|| self.length(begin, is_bare, &mut span))?;
        while let Some(next) = [end, end + self.at(&table.and, end).unwrap_or(0)]
            .into_iter()
            .find_map(|at| self.length(at, true, &mut span))
        {
            end = next;
        }
        if before.is_none() {
            let is_hour = || self.at(&table.oclock, end - 1).is_some() || self.has_unit_of(&table.oclock, place);
            let is_span = |used: &usize| *used > 0 || is_bare && !is_hour();
            end += Some(self.at(&table.after, end).unwrap_or(0)).filter(is_span)?;
        }
        let moment = if span.secs > 0 && span.months == 0 {
            Moment { after: Some(span.days * DAY_SECS + span.secs), ..Moment::default() }
        } else {
            let months = Months::new(u32::try_from(span.months).ok()?);
            let date = today.checked_add_months(months)?.checked_add_days(Days::new(span.days))?;
            let kind = if span.months > 0 { DaySpan::Longer } else { DaySpan::Days(span.days) };
            Moment { date: Some(date).filter(|date| *date > today), span: Some(kind), ..Moment::default() }
        };
        (moment.date.is_some() || moment.after.is_some()).then_some((moment, end - place))
    }

    /// Parses one part of a span, such as "20 minutes", "an hour and a half", "1.5 hours" or "2h30m", and adds it to
    /// `span`. Returns the place after it.
    pub(super) fn length(&self, place: usize, needs_number: bool, span: &mut Span) -> Option<usize> {
        let table = self.dates.table;
        let fixed = [
            (&table.hour_and_half, 5400),
            (&table.half_hour, 1800),
            (&table.three_quarters, 2700),
            (&table.quarter_hour, 900),
        ];
        // In "za kwadrans ósma" (a quarter to eight) an hour follows: "kwadrans" is part of a clock time and no span.
        let is_before_hour = |end: usize| self.is_in_words(end) && self.number(end).is_some();
        let named = fixed.into_iter().find_map(|(names, secs)| Some((secs, self.at(names, place)?)));
        if let Some((secs, used)) = named.filter(|(_, used)| !is_before_hour(place + used)) {
            span.secs += secs;
            return Some(place + used);
        }
        if let Some(end) = self.length_in_word(place, false, span) {
            return Some(end);
        }
        let counted = self.count(place);
        if needs_number && counted.is_none() {
            return None;
        }
        let (count, begin) = counted.unwrap_or((100, place));
        let units = [&table.month, &table.year, &table.second, &table.minute, &table.hour, &table.day, &table.week];
        let named = UNIT_SECS.into_iter().zip(units).find_map(|(secs, names)| Some((secs, self.at(names, begin)?)));
        let letter = || Some((self.unit_of(self.dates.words.get(begin)?)?, 1)).filter(|_| begin > place);
        let (unit, used) = named.or_else(letter)?;
        let parts = [(&table.half_past, 50), (&table.quarter_past, 25)].into_iter();
        let mut parts = parts.filter_map(|(names, hundredths)| Some((hundredths, self.at(names, begin + used)?)));
        let (part, used_by_part) = parts.next().filter(|_| unit == HOUR_SECS).unwrap_or_default();
        span.add(count + part, unit)?;
        Some(begin + used + used_by_part)
    }

    /// Returns `true` for a span in one word with one of these units, such as "2h".
    fn has_unit_of(&self, units: &Phrases, place: usize) -> bool {
        let word = self.dates.words.get(place).map(|word| word.trim_start_matches(|c: char| c.is_ascii_digit()));
        word.is_some_and(|word| {
            let unit = word.trim_end_matches(|c: char| c.is_ascii_digit());
            units.at(&[unit.to_owned()], 0).is_some()
        })
    }

    /// Parses a span in one word: "2h", "30min", "2h30m", "2h30", "1.5h" and, if `has_colon`, "2:30".
    fn length_in_word(&self, place: usize, has_colon: bool, span: &mut Span) -> Option<usize> {
        let word = self.dates.words.get(place)?.replace("h:", "h");
        let word = if has_colon { word.replace(':', "h") } else { word };
        let (mut rest, mut read, mut is_hours) = (word.as_str(), Span::default(), false);
        while !rest.is_empty() {
            let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
            let count = hundredths(&rest[..rest.len() - behind.len()])?;
            rest = behind.trim_start_matches(char::is_alphabetic);
            let unit = &behind[..behind.len() - rest.len()];
            let secs = self.unit_of(unit).or((unit.is_empty() && is_hours).then_some(60))?;
            is_hours = secs == HOUR_SECS;
            read.add(count, secs)?;
        }
        span.days += read.days;
        span.secs += read.secs;
        Some(place + 1)
    }

    /// Returns the seconds of a unit that is written right behind its number, such as "h" or "min".
    fn unit_of(&self, unit: &str) -> Option<u64> {
        let table = self.dates.table;
        let names =
            [("s", &table.second), ("m", &table.minute), ("h", &table.hour), ("d", &table.day), ("w", &table.week)];
        let word = [unit.to_owned()];
        let named = names.into_iter().zip(&UNIT_SECS[2..]);
        named
            .into_iter()
            .find(|((short, names), _)| unit == *short || names.at(&word, 0).is_some())
            .map(|(_, secs)| *secs)
    }

    /// Parses a number such as "20", "1.5", "two and a half", "a few" or "twenty five", in hundredths. Returns also the
    /// place after it.
    fn count(&self, place: usize) -> Option<(u64, usize)> {
        let first = hundredths(self.dates.words.get(place)?).or_else(|| Some(u64::from(self.number(place)?) * 100))?;
        if let Some(used) = self.at(&self.dates.table.half_past, place + 1) {
            return Some((first + 50, place + 1 + used));
        }
        let second = self.number(place + 1).filter(|_| self.is_in_words(place) && self.is_in_words(place + 1));
        let second = second.map(|it| u64::from(it) * 100);
        Some(match second {
            Some(second) if first >= 2000 && second < 1000 => (first + second, place + 2),
            Some(second) if first == 100 => (second, place + 2),
            _ => (first, place + 1),
        })
    }

    pub(super) fn number(&self, place: usize) -> Option<u32> {
        let in_words = || self.dates.table.clock_numbers.get(self.dates.words.get(place)?).copied();
        self.dates.count_at(place).or_else(in_words)
    }

    pub(super) fn is_in_words(&self, place: usize) -> bool {
        self.dates.words.get(place).is_some_and(|word| word.starts_with(char::is_alphabetic))
    }
}
