//! Parses the time spans in a question: "in May 2023", "on saturday", "last week", "three weeks ago".

use chrono::{Datelike, Days, Months, NaiveDate};

use crate::retrieval::languages::{PhraseTable, Tables};
use crate::retrieval::words::words;
use chime_core::trigger::Languages;
use chime_core::{Timestamp, Zone};

/// Time span that includes `from`; `to` is the first moment after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan {
    pub from: Timestamp,
    pub to: Timestamp,
}

/// Splits a text into words as [`words`] does, but a date in digits, such as "2026-05-01" or "5/11", is one word.
pub fn date_words(text: &str, tables: Tables) -> Vec<String> {
    let parts = |token: &str| match digit_date(token, tables) {
        Some(date) => vec![date],
        None => words(token).into_iter().flat_map(|word| without_joined_unit(word, tables)).collect(),
    };
    text.split_whitespace().flat_map(parts).collect()
}

/// Splits a number from the unit that is written behind it in some languages without a file: "9시에", "3일".
pub fn without_joined_unit(word: String, tables: Tables) -> Vec<String> {
    let digits = word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let unit = [word[digits..].to_owned()];
    let is_unit = |table: &PhraseTable| {
        let units = [&table.oclock, &table.minute, &table.hour, &table.day, &table.week, &table.before_time];
        table.short.is_none() && units.into_iter().any(|names| names.at(&unit, 0).is_some())
    };
    if digits > 0 && tables.iter().any(is_unit) {
        return vec![word[..digits].to_owned(), word[digits..].to_owned()];
    }
    vec![word]
}

/// Returns a date such as "2026-05-01" in the form "01.05.2026", and others, such as "5-11-2026" and "5/11", with slashes.
/// In Dutch, "5-11" is a date too. The date need not exist.
pub fn digit_date(token: &str, tables: Tables) -> Option<String> {
    let token = token.trim_matches(|c: char| !c.is_alphanumeric());
    let parts: Vec<&str> = token.split(['-', '/', '.']).collect();
    let is_number = |part: &&str| matches!(part.len(), 1..=4) && part.chars().all(|c| c.is_ascii_digit());
    if !parts.iter().all(is_number) {
        return None;
    }
    let is_dutch = || tables.iter().any(|table| table.short == Some("nl"));
    match parts[..] {
        [year, month, day] if year.len() == 4 => Some(format!("{day}.{month}.{year}")),
        [_, _, year] if !token.contains('.') && year.len() % 2 == 0 => Some(parts.join("/")),
        // "2026-05" names no year.
        [year, month] if year.len() == 4 && month.len() < 3 && !token.contains('.') => Some(token.to_owned()),
        [day, month]
            if day.len().max(month.len()) < 3 && (token.contains('/') || token.contains('-') && is_dutch()) =>
        {
            Some(parts.join("/"))
        }
        _ => None,
    }
}

/// Returns the spans that `words` name, as of `now` in `zone`. A weekday, month or season without a year is the last
/// past one, since messages are from the past.
pub fn spans_named(words: &[String], tables: Tables, now: Timestamp, zone: Zone) -> Vec<TimeSpan> {
    let today = zone.local(now).date_naive();
    let (mut found, mut names_last_night) = (Vec::new(), false);
    for table in tables.iter() {
        let mut reader =
            DateReader { words, table, today, is_ahead: false, spans: Vec::new(), names_last_night: false };
        reader.read();
        names_last_night |= reader.names_last_night;
        found.extend(reader.spans);
    }
    let start = |day: NaiveDate| zone.moment(day.into());
    let days = found.into_iter().filter(|(from, to)| from < to);
    let mut spans: Vec<TimeSpan> = days.map(|(from, to)| TimeSpan { from: start(from), to: start(to) }).collect();
    if names_last_night {
        let at = |day: NaiveDate, hour: u32| zone.moment(day.and_hms_opt(hour, 0, 0).unwrap_or_default());
        let yesterday = today.pred_opt().unwrap_or(today);
        spans.push(TimeSpan { from: at(yesterday, NIGHT.0), to: at(today, NIGHT.1) });
    }
    spans.dedup();
    spans
}

/// Returns the spans of a text that consists of times, such as "since last tuesday" and "this week". Returns none if it
/// has other words, except function words.
pub fn spans_alone(words: &[String], tables: Tables, now: Timestamp, zone: Zone) -> Vec<TimeSpan> {
    let length_at = |place: usize| {
        let of_table = |table: &PhraseTable| {
            let others = [&table.since, &table.last].map(|phrases| phrases.at(words, place));
            others.into_iter().chain([table.time_at(words, place)]).max().flatten()
        };
        let known = tables.iter().filter_map(of_table).max();
        known.or_else(|| tables.is_stop_word(&words[place]).then_some(1))
    };
    let mut place = 0;
    while place < words.len() {
        let Some(length) = length_at(place) else { return Vec::new() };
        place += length;
    }
    spans_named(words, tables, now, zone)
}

/// First hour of a night, on the day before, and the hour at which it ends.
const NIGHT: (u32, u32) = (18, 6);

pub(super) struct DateReader<'a> {
    pub words: &'a [String],
    pub table: &'static PhraseTable,
    pub today: NaiveDate,
    /// `true` if a day without a year is the next one, not the last one.
    pub is_ahead: bool,
    pub spans: Vec<(NaiveDate, NaiveDate)>,
    /// `true` for "last night" or "yesterday evening", which is not in `spans`.
    pub names_last_night: bool,
}

impl DateReader<'_> {
    fn read(&mut self) {
        let mut place = 0;
        while place < self.words.len() {
            let known = self.spans.len();
            let read = self
                .numeric_date(place)
                .or_else(|| self.slashed(place))
                .or_else(|| self.day_and_month(place))
                .or_else(|| self.day_of_month(place))
                .or_else(|| self.month_alone(place))
                .or_else(|| self.season(place))
                .or_else(|| self.long_ago(place))
                .or_else(|| self.last_night(place))
                .or_else(|| self.relative(place))
                .or_else(|| self.weekday(place))
                .or_else(|| self.past(place))
                .or_else(|| self.year_alone(place));
            let end = place + read.unwrap_or(1);
            if self.is_since(place, end) {
                let tomorrow = self.today.checked_add_days(Days::new(1)).unwrap_or(self.today);
                self.spans[known..].iter_mut().for_each(|span| span.1 = tomorrow);
            }
            place = end;
        }
    }

    /// Returns `true` if the date at `place..end` begins a span up to now: "since monday", "since the 3rd",
    /// "pazartesiden beri".
    fn is_since(&self, place: usize, end: usize) -> bool {
        let is_at = |at: usize| self.table.since.at(self.words, at).is_some();
        place.checked_sub(1).is_some_and(is_at) || place.checked_sub(2).is_some_and(is_at) || is_at(end)
    }

    /// Parses "the last three days", "les trois derniers jours", "the past week", "l'année dernière", as a span that ends
    /// today.
    fn past(&mut self, place: usize) -> Option<usize> {
        let table = self.table;
        let last = |at: usize| table.last.at(self.words, at);
        let is_last_year = table.year.at(self.words, place) == Some(1) && last(place + 1).is_some();
        let before = self.count_at(place).filter(|_| last(place + 1).is_some());
        let length = match before {
            Some(_) => 1 + last(place + 1)?,
            None if is_last_year => 0,
            None => last(place)?,
        };
        let behind = self.count_at(place + length).filter(|_| before.is_none());
        let (count, used) = before.map_or((behind.unwrap_or(1), usize::from(behind.is_some())), |count| (count, 0));
        let unit = place + length + used;
        let days = [(&table.day, 1), (&table.week, 7), (&table.month, 30), (&table.year, 365)]
            .into_iter()
            .find_map(|(of, days)| of.at(self.words, unit).map(|_| days))?;
        let from = self.today.checked_sub_days(Days::new(u64::from(count) * days))?;
        self.spans.push((from, self.today.succ_opt()?));
        Some(length + used + 1)
    }

    pub fn count_at(&self, place: usize) -> Option<u32> {
        let word = self.words.get(place)?;
        word.parse().ok().or_else(|| self.table.counts.get(word).copied())
    }

    /// Parses "12.03." or "12.03.2024": day, month, year.
    pub fn numeric_date(&mut self, place: usize) -> Option<usize> {
        let word = self.words.get(place)?;
        let mut parts = word.split('.').map(str::parse::<u32>);
        let (Some(Ok(day)), Some(Ok(month))) = (parts.next(), parts.next()) else { return None };
        let year = match parts.next() {
            Some(Ok(year)) => Some(if year < 100 { year + 2000 } else { year }),
            Some(Err(_)) => return None,
            None => None,
        };
        // Without a year, "7.3" is too short for a date, and "7.30" has no valid month: it is a time or a price.
        ((1..=12).contains(&month) && (1..=31).contains(&day) && (year.is_some() || word.len() >= 4)).then_some(())?;
        self.add_day(year, month, day);
        Some(1)
    }

    /// Returns the numbers of "20/5" and "5/20/2024": two that may be a day and a month, and the year.
    pub fn slashed_numbers(&self, place: usize) -> Option<(u32, u32, Option<u32>)> {
        let numbers: Option<Vec<u32>> = self.words.get(place)?.split('/').map(|number| number.parse().ok()).collect();
        match numbers?[..] {
            [first, second] => Some((first, second, None)),
            [first, second, year] => Some((first, second, Some(if year < 100 { year + 2000 } else { year }))),
            _ => None,
        }
    }

    /// Parses "5/11/2026" and, alone or behind a word such as "on", "5/11". In English, that may be in May or in November,
    /// so both are added.
    fn slashed(&mut self, place: usize) -> Option<usize> {
        let (first, second, year) = self.slashed_numbers(place)?;
        let Self { words, table, .. } = *self;
        let marks = [&table.month_marks, &table.on_the, &table.before_time, &table.since, &table.until];
        let is_mark = |at: usize| marks.iter().any(|names| names.at(words, at) == Some(1));
        let is_date = year.is_some() || words.len() == 1 || place.checked_sub(1).is_some_and(is_mark);
        let known = self.spans.len();
        if is_date {
            self.add_day(year, second, first);
        }
        if is_date && (table.short == Some("en") || second > 12) {
            self.add_day(year, first, second);
        }
        (self.spans.len() > known).then_some(1)
    }

    /// Parses "on the 5th", "le 5", "5 числа" as the last such day.
    fn day_of_month(&mut self, place: usize) -> Option<usize> {
        let Self { words, table, today, .. } = *self;
        let before = table.on_the.at(words, place);
        let number = place + before.unwrap_or(0);
        let number_of_day = self.day_number(number)?;
        let behind = table.of_month.at(words, number + 1);
        let end = number + 1 + behind.unwrap_or(0);
        // "Le 5 mai" is a whole date, and "le 5 portes" is none.
        let is_whole = table.months.iter().any(|month| month.at(words, number + 1).is_some());
        let is_end = |next: &String| Languages::shipped().is_stop_word_of(next, table.short.iter());
        let ends = words.get(end).is_none_or(is_end) && !is_whole;
        (behind.is_some() || before.is_some() && ends).then_some(())?;
        // "The 3rd of May".
        let known = self.spans.len();
        let is_date = self.day_and_month(number).is_some();
        self.spans.truncate(known);
        let days = std::iter::successors(Some(today), |day| day.pred_opt()).take(62);
        let day = days.filter(|_| !is_date).find(|day| day.day() == number_of_day)?;
        self.spans.push((day, day.succ_opt()?));
        Some(end - place)
    }

    /// Parses "3 June 2023", "the 3rd of June", "June 3", "3. juuni".
    pub fn day_and_month(&mut self, place: usize) -> Option<usize> {
        let before = self.day_number(place).and_then(|day| {
            let skip = usize::from(matches!(self.words.get(place + 1).map(String::as_str), Some("of" | "de" | "di")));
            let (month, length) = self.month_at(place + 1 + skip)?;
            Some((day, month, 1 + skip + length))
        });
        if let Some((day, month, length)) = before {
            let (year, used) = self.year_after(place + length);
            self.add_day(year, month, day);
            return Some(length + used);
        }
        let (month, length) = self.month_at(place)?;
        let day = self.day_number(place + length)?;
        let (year, used) = self.year_after(place + length + 1);
        self.add_day(year, month, day);
        Some(length + 1 + used)
    }

    /// Parses "in May 2023", or "in May" as the last May that has begun.
    fn month_alone(&mut self, place: usize) -> Option<usize> {
        let (month, length) = self.month_at(place)?;
        let (year, used) = self.year_after(place + length);
        if used == 0 && !self.is_clear(place, length) {
            return None;
        }
        let year = year.unwrap_or_else(|| {
            let this = self.today.year();
            if month > self.today.month() { this - 1 } else { this }
        });
        let first = NaiveDate::from_ymd_opt(year, month, 1)?;
        self.spans.push((first, first.checked_add_months(Months::new(1))?));
        Some(length + used)
    }

    /// Returns `true` unless the name of a month or day at `place` is an ambiguous word. A longer name
    /// ("segunda-feira") and a mark before it ("in may") make it clear.
    fn is_clear(&self, place: usize, length: usize) -> bool {
        let is_marked = place > 0 && self.table.month_marks.at(self.words, place - 1) == Some(1);
        is_marked || self.table.ambiguous.at(self.words, place).is_none_or(|part| part < length)
    }

    /// Parses "last summer", "summer 2023".
    fn season(&mut self, place: usize) -> Option<usize> {
        let season = (1..).zip(&self.table.seasons).find_map(|(n, one)| one.at(self.words, place).map(|_| n))?;
        let (year, used) = self.year_after(place + 1);
        let near = [place.checked_sub(1), Some(place + 1)];
        let is_marked = near.into_iter().flatten().any(|at| self.table.season_marks.at(self.words, at).is_some());
        if used == 0 && !is_marked {
            return None;
        }
        let start = |year: i32| NaiveDate::from_ymd_opt(year, season * 3, 1);
        let this = self.today.year();
        let year =
            year.unwrap_or_else(|| if start(this).is_some_and(|from| from > self.today) { this - 1 } else { this });
        let from = start(year)?;
        self.spans.push((from, from.checked_add_months(Months::new(3))?));
        Some(1 + used)
    }

    /// Parses "three weeks ago", "vor drei Wochen". The span around that day is wider for longer units, since such a
    /// count is rarely exact.
    pub fn long_ago(&mut self, place: usize) -> Option<usize> {
        let count = self.count_at(place)?;
        let table = self.table;
        let (length, (days, slack)) =
            [(&table.day, (1, 0)), (&table.week, (7, 3)), (&table.month, (30, 12)), (&table.year, (365, 120))]
                .into_iter()
                .find_map(|(unit, days)| unit.at(self.words, place + 1).map(|length| (length, days)))?;
        let before = (1..=3)
            .filter_map(|back| place.checked_sub(back))
            .any(|at| self.table.ago.at(self.words, at).is_some_and(|length| at + length == place));
        if !before && self.table.ago.at(self.words, place + 1 + length).is_none() {
            return None;
        }
        let middle = self.today.checked_sub_days(Days::new(u64::from(count) * days))?;
        let from = middle.checked_sub_days(Days::new(slack))?;
        self.spans.push((from, middle.checked_add_days(Days::new(slack + 1))?));
        Some(1 + length)
    }

    /// Parses "last night", "gestern Abend", "ontem à noite". "Since last night" is read as "since yesterday".
    fn last_night(&mut self, place: usize) -> Option<usize> {
        let part_at = |at: usize| {
            let parts = [&self.table.evening, &self.table.night];
            Some(at + parts.into_iter().filter_map(|part| part.at(self.words, at)).max()?)
        };
        let day_end = place + self.table.yesterday.at(self.words, place)?;
        let end = part_at(place).or_else(|| part_at(day_end))?.max(day_end);
        if self.is_since(place, end) {
            return None;
        }
        self.names_last_night = true;
        Some(end - place)
    }

    pub fn relative(&mut self, place: usize) -> Option<usize> {
        let today = self.today;
        let back = |days: u64| today.checked_sub_days(Days::new(days)).unwrap_or(today);
        let on = |day: NaiveDate, days: u64| day.checked_add_days(Days::new(days)).unwrap_or(day);
        let monday = back(u64::from(today.weekday().num_days_from_monday()));
        let week_before = monday.checked_sub_days(Days::new(7)).unwrap_or(monday);
        let month = today.with_day(1).unwrap_or(today);
        let month_before = month.checked_sub_months(Months::new(1)).unwrap_or(month);
        let saturday = back((u64::from(today.weekday().num_days_from_monday()) + 2) % 7);
        let relative = self.table;
        let known = [
            (&relative.days_before, back(2), back(1)),
            (&relative.yesterday, back(1), today),
            (&relative.today, today, on(today, 1)),
            (&relative.last_weekend, saturday, on(saturday, 2)),
            (&relative.last_week, week_before, monday),
            (&relative.this_week, monday, on(monday, 7)),
            (&relative.last_month, month_before, month),
            (&relative.this_month, month, on(month, 31)),
        ];
        let (length, from, to) = known
            .into_iter()
            .filter_map(|(phrases, from, to)| Some((phrases.at(self.words, place)?, from, to)))
            .max_by_key(|(length, ..)| *length)?;
        self.spans.push((from, to));
        Some(length)
    }

    /// Parses a weekday as the last such day before today, or the next one after it. On that weekday, "on friday" may
    /// mean a week ago or today, so both are added.
    pub fn weekday(&mut self, place: usize) -> Option<usize> {
        let (number, length) =
            (0..).zip(&self.table.weekdays).find_map(|(n, one)| Some((n, one.at(self.words, place)?)))?;
        if !self.is_clear(place, length) || self.is_ordinal(place, place + length) {
            return None;
        }
        let today: u64 = self.today.weekday().num_days_from_monday().into();
        let back = match (today + 7 - number) % 7 {
            0 => 7,
            days => days,
        };
        let from = match self.is_ahead {
            true => self.today.checked_add_days(Days::new(if back == 7 { 7 } else { 7 - back }))?,
            false => self.today.checked_sub_days(Days::new(back))?,
        };
        self.spans.push((from, from.checked_add_days(Days::new(1))?));
        let is_last = place.checked_sub(1).is_some_and(|before| self.table.last.at(self.words, before).is_some());
        if back == 7 && !self.is_ahead && !is_last {
            self.spans.push((self.today, self.today.checked_add_days(Days::new(1))?));
        }
        Some(length)
    }

    /// Returns `true` if an ambiguous name of a day at `place..end` belongs to the word after it: "na segunda reunião".
    fn is_ordinal(&self, place: usize, end: usize) -> bool {
        let Self { words, table, .. } = self;
        let Some(next) = words.get(end) else { return false };
        let is_time = table.time_at(words, end).or(table.last.at(words, end)).is_some();
        let is_word = is_time || Languages::shipped().is_stop_word_of(next, table.short.iter());
        // "Na segunda semana".
        let is_unit =
            [&table.day, &table.week, &table.month, &table.year].iter().any(|unit| unit.at(words, end).is_some());
        (is_unit || !is_word) && table.ambiguous.at(words, place) == Some(end - place)
    }

    fn year_alone(&mut self, place: usize) -> Option<usize> {
        let (year, used) = self.year_after(place);
        let from = NaiveDate::from_ymd_opt(year?, 1, 1)?;
        self.spans.push((from, from.checked_add_months(Months::new(12))?));
        Some(used)
    }

    /// Returns the month at `place`, and its number of words. Where two names of months match, as 月 and 11月 do in 十一月,
    /// the longer one counts.
    pub fn month_at(&self, place: usize) -> Option<(u32, usize)> {
        let months = (1..).zip(&self.table.months);
        months.filter_map(|(number, month)| Some((number, month.at(self.words, place)?))).max_by_key(|month| month.1)
    }

    /// Parses a day of a month: "3", "3rd", "3-го".
    pub fn day_number(&self, place: usize) -> Option<u32> {
        let word = self.words.get(place)?;
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        let rest = word.strip_prefix(digits.as_str())?;
        let is_ordinal =
            rest.is_empty() || matches!(rest, "st" | "nd" | "rd" | "th" | "er" | "e" | "ste" | "de" | "го" | "일");
        digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
    }

    /// Returns the year at `place`, or after a preposition there ("of 2023"), and the number of words used; 0 if there
    /// is none.
    fn year_after(&self, place: usize) -> (Option<i32>, usize) {
        let year = |at: usize| {
            let word = self.words.get(at)?;
            word.parse::<i32>().ok().filter(|year| word.len() == 4 && (1900..2100).contains(year))
        };
        match (year(place), self.words.get(place).map(String::as_str)) {
            (Some(found), _) => (Some(found), 1),
            (None, Some("of" | "de")) => year(place + 1).map_or((None, 0), |found| (Some(found), 2)),
            (None, _) => (None, 0),
        }
    }

    /// Adds the span of one day. Without a year, adds that day of this year and of last year, or the next such day.
    /// Adds nothing if no calendar has that day.
    pub fn add_day(&mut self, year: Option<impl TryInto<i32>>, month: u32, day: u32) {
        let this = self.today.year();
        let years = match year.and_then(|year| year.try_into().ok()) {
            Some(year) => vec![year],
            None if self.is_ahead => {
                // 29 February comes once in four years, or in eight.
                let is_ahead =
                    |year: &i32| NaiveDate::from_ymd_opt(*year, month, day).is_some_and(|date| date >= self.today);
                (this..=this + 8).find(is_ahead).into_iter().collect()
            }
            None => vec![this, this - 1],
        };
        for from in years.into_iter().filter_map(|year| NaiveDate::from_ymd_opt(year, month, day)) {
            self.spans.extend(from.succ_opt().map(|to| (from, to)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::words::words;
    use chime_core::Language;

    /// Checks the spans that a question of Wednesday, 15 May 2024, 12:00 UTC, names, as first day and day after the
    /// last.
    #[track_caller]
    fn check(code: &str, question: &str, expected: &[&str]) {
        let now = Timestamp::from_secs(1_715_774_400);
        let tables = Tables::of(Language::from_code(code), question);
        let spans = spans_named(&date_words(question, tables), tables, now, Zone::UTC);
        let shown: Vec<String> = (spans.iter())
            .map(|span| format!("{}..{}", span.from.to_utc().format("%Y-%m-%d"), span.to.to_utc().format("%Y-%m-%d")))
            .collect();
        assert_eq!(shown, expected, "{question}");
    }

    #[test]
    fn dates_are_read_with_and_without_a_year() {
        check("eng", "What happened on 3 June 2023?", &["2023-06-03..2023-06-04"]);
        check("eng", "who came on June 3rd", &["2024-06-03..2024-06-04", "2023-06-03..2023-06-04"]);
        check("eng", "the trip in may of 2023", &["2023-05-01..2023-06-01"]);
        check("eng", "what may we do", &[]);
        check("eng", "in november", &["2023-11-01..2023-12-01"]);
        check("eng", "in 2022", &["2022-01-01..2023-01-01"]);
        check("deu", "Was war am 12.03.2024?", &["2024-03-12..2024-03-13"]);
        check("rus", "что было 3 мая 2024", &["2024-05-03..2024-05-04"]);
    }

    #[test]
    fn dates_in_digits_are_read() {
        let day = "2023-11-05..2023-11-06";
        for (code, question) in [
            ("eng", "what happened on 2023-11-05?"),
            ("eng", "what happened on 2023/11/05?"),
            ("fra", "que s'est-il passé le 05/11/2023 ?"),
            ("spa", "¿qué pasó el 5-11-2023?"),
            ("ita", "cosa è successo il 05/11/2023?"),
            ("nld", "wat gebeurde er op 5-11-2023?"),
        ] {
            check(code, question, &[day]);
        }
        check("fra", "que s'est-il passé le 5/11 ?", &["2024-11-05..2024-11-06", day]);
        check("nld", "wat gebeurde er op 5-11?", &["2024-11-05..2024-11-06", day]);
        check("eng", "what happened on 27/11/2023?", &["2023-11-27..2023-11-28"]);
        check("eng", "what happened on 5/11/2023?", &[day, "2023-05-11..2023-05-12"]);
        for question in ["on 2023-13-45", "since 2023-13", "3/4 of the people", "in room 9-10", "open 24/7"] {
            check("eng", question, &[]);
        }
    }

    #[test]
    fn days_of_a_month_are_the_last_ones() {
        for (code, question) in [
            ("eng", "what did we say on the 5th?"),
            ("eng", "what did we say on the 5th about the boat?"),
            ("fra", "qu'a-t-on dit le 5 ?"),
            ("deu", "Was war am 5.?"),
            ("por", "o que rolou no dia 5?"),
            ("rus", "что было 5 числа?"),
            ("tur", "ayın 5'inde ne oldu?"),
        ] {
            check(code, question, &["2024-05-05..2024-05-06"]);
        }
        check("eng", "on the 20th", &["2024-04-20..2024-04-21"]);
        check("eng", "on the 5th floor", &[]);
        check("fra", "le 5 portes", &[]);
    }

    #[test]
    fn days_begin_at_midnight_of_their_own_half_of_the_year() {
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let tables = Tables::of(Language::DEFAULT, "in january");
        let spans = spans_named(&words("in january"), tables, Timestamp::from_secs(1_715_774_400), zone);
        let [TimeSpan { from, to }] = spans[..] else { panic!("{spans:?}") };
        assert_eq!([from, to].map(|at| zone.clock_time(at)), ["00:00", "00:00"]);
        assert_eq!([from, to].map(|at| zone.date(at)), ["1 Jan 2024", "1 Feb 2024"]);
    }

    #[test]
    fn days_are_named_from_today_on() {
        check("eng", "what did we say yesterday?", &["2024-05-14..2024-05-15"]);
        check("eng", "who came on saturday?", &["2024-05-11..2024-05-12"]);
        check("eng", "what happened on wednesday?", &["2024-05-08..2024-05-09", "2024-05-15..2024-05-16"]);
        check("eng", "what happened last wednesday?", &["2024-05-08..2024-05-09"]);
        check("eng", "what was it last week", &["2024-05-06..2024-05-13"]);
        check("rus", "что решили в субботу?", &["2024-05-11..2024-05-12"]);
        check("est", "mis eile juhtus?", &["2024-05-14..2024-05-15"]);
        check("deu", "Was war letzte Woche?", &["2024-05-06..2024-05-13"]);
    }

    #[test]
    fn last_night_is_from_evening_to_morning() {
        let said = [
            ("eng", "what happened last night?"),
            ("deu", "Was war gestern Abend los?"),
            ("spa", "¿qué pasó anoche?"),
            ("por", "o que aconteceu ontem à noite?"),
            ("nld", "wat gebeurde er gisteravond?"),
            ("rus", "что было вчера вечером?"),
        ];
        for (code, question) in said {
            let zone = Zone::parse("Europe/Berlin").unwrap();
            let tables = Tables::of(Language::from_code(code), question);
            let spans = spans_named(&date_words(question, tables), tables, Timestamp::from_secs(1_715_774_400), zone);
            let [TimeSpan { from, to }] = spans[..] else { panic!("{question}: {spans:?}") };
            assert_eq!([from, to].map(|at| zone.clock_time(at)), ["18:00", "06:00"], "{question}");
            assert_eq!([from, to].map(|at| zone.date(at)), ["14 May 2024", "15 May 2024"], "{question}");
        }
        check("eng", "what was said since last night?", &["2024-05-14..2024-05-16"]);
    }

    #[test]
    fn spans_are_counted_back() {
        check("eng", "two days ago", &["2024-05-13..2024-05-14"]);
        check("eng", "three weeks ago", &["2024-04-21..2024-04-28"]);
        check("deu", "Was war vor zwei Tagen?", &["2024-05-13..2024-05-14"]);
        check("spa", "hace dos días", &["2024-05-13..2024-05-14"]);
        check("rus", "две недели назад", &["2024-04-28..2024-05-05"]);
        check("eng", "the movie takes two days", &[]);
    }

    #[test]
    fn dates_are_read_in_languages_without_a_file() {
        for (code, question, expected) in [
            ("pes", "دیروز چی شد؟", "2024-05-14..2024-05-15"),
            ("pes", "سه‌شنبه‌ي پیش", "2024-05-14..2024-05-15"),
            ("pes", "۳ روز پیش", "2024-05-12..2024-05-13"),
            ("ara", "ماذا حدث يوم الإثنين؟", "2024-05-13..2024-05-14"),
            ("ara", "قبل ٣ أيام", "2024-05-12..2024-05-13"),
            ("hin", "सोमवार को क्या हुआ?", "2024-05-13..2024-05-14"),
            ("hin", "कल क्या हुआ?", "2024-05-14..2024-05-15"),
            ("cmn", "昨天发生了什么？", "2024-05-14..2024-05-15"),
            ("cmn", "周一谁来了", "2024-05-13..2024-05-14"),
            ("cmn", "3天前说的", "2024-05-12..2024-05-13"),
            ("jpn", "月曜日に何があった？", "2024-05-13..2024-05-14"),
            ("jpn", "11月の話", "2023-11-01..2023-12-01"),
            ("kor", "어제는 무슨 일이 있었어?", "2024-05-14..2024-05-15"),
            ("kor", "월요일에 누가 왔어?", "2024-05-13..2024-05-14"),
            ("ind", "apa kata dia kemarin?", "2024-05-14..2024-05-15"),
            ("ind", "3 hari yang lalu", "2024-05-12..2024-05-13"),
            ("ell", "τι έγινε τη Δευτέρα;", "2024-05-13..2024-05-14"),
            ("ces", "před 3 dny", "2024-05-12..2024-05-13"),
            ("pes", "دو روز پیش چی شد؟", "2024-05-13..2024-05-14"),
            ("cmn", "两天前说的", "2024-05-13..2024-05-14"),
            ("jpn", "二日前の話", "2024-05-13..2024-05-14"),
            ("kor", "2일 전에 뭐라고 했어?", "2024-05-13..2024-05-14"),
            ("ind", "2 hari lalu", "2024-05-13..2024-05-14"),
            ("tha", "2 วันก่อน", "2024-05-13..2024-05-14"),
            ("hin", "2 दिन पहले", "2024-05-13..2024-05-14"),
            ("vie", "hai ngày trước", "2024-05-13..2024-05-14"),
            ("ell", "πριν από δύο μέρες", "2024-05-13..2024-05-14"),
            ("heb", "מה היה אתמול?", "2024-05-14..2024-05-15"),
            ("tha", "เมื่อวานเกิดอะไรขึ้น", "2024-05-14..2024-05-15"),
            ("vie", "hôm qua có gì?", "2024-05-14..2024-05-15"),
        ] {
            check(code, question, &[expected]);
        }
        check("ces", "co bylo ve středu?", &["2024-05-08..2024-05-09", "2024-05-15..2024-05-16"]);
    }

    #[test]
    fn spans_reach_until_now() {
        check("eng", "what happened since monday?", &["2024-05-13..2024-05-16"]);
        check("eng", "what's new since the 3rd of May", &["2024-05-03..2024-05-16", "2023-05-03..2024-05-16"]);
        check("eng", "the last three days", &["2024-05-12..2024-05-16"]);
        check("fra", "les trois derniers jours", &["2024-05-12..2024-05-16"]);
        check("ita", "gli ultimi 3 giorni", &["2024-05-12..2024-05-16"]);
        check("spa", "el año pasado", &["2023-05-16..2024-05-16"]);
        check("deu", "Was wurde seit Montag gesagt?", &["2024-05-13..2024-05-16"]);
        check("rus", "что решили за последние две недели?", &["2024-05-01..2024-05-16"]);
    }

    #[test]
    fn seasons_need_a_mark() {
        check("eng", "last summer", &["2023-06-01..2023-09-01"]);
        check("eng", "the garden in spring 2023", &["2023-03-01..2023-06-01"]);
        check("eng", "does this spring break", &["2024-03-01..2024-06-01"]);
        check("eng", "a spring mattress", &[]);
    }

    #[test]
    fn an_ambiguous_name_needs_a_mark_or_a_longer_form() {
        for (code, question, expected) in [
            ("tur", "Pazartesi ne konuşuldu?", "2024-05-13..2024-05-14"),
            ("tur", "pazar günü ne oldu?", "2024-05-12..2024-05-13"),
            ("tur", "martta ne oldu?", "2024-03-01..2024-04-01"),
            ("tur", "Ekim'de ne oldu?", "2023-10-01..2023-11-01"),
            ("tur", "ekim ayında ne oldu?", "2023-10-01..2023-11-01"),
            ("por", "o que foi decidido na segunda-feira?", "2024-05-13..2024-05-14"),
            ("por", "o que foi decidido na reunião de segunda?", "2024-05-13..2024-05-14"),
            ("ukr", "що було у червні?", "2023-06-01..2023-07-01"),
            ("ukr", "що вирішили у травні?", "2024-05-01..2024-06-01"),
            ("ukr", "що було в липні?", "2023-07-01..2023-08-01"),
            ("eng", "what happened on Mon?", "2024-05-13..2024-05-14"),
        ] {
            check(code, question, &[expected]);
        }
        for (code, question) in [("por", "o que rolou na quarta?"), ("ukr", "що було в середу?")] {
            check(code, question, &["2024-05-08..2024-05-09", "2024-05-15..2024-05-16"]);
        }
        for (code, question) in [
            ("por", "o que foi dito na segunda parte?"),
            ("por", "vimos um carro de segunda mão"),
            ("tur", "martılar ve martı"),
            ("tur", "pazar çok kalabalık"),
            ("ukr", "червона трава серед лип"),
            ("eng", "we may set it out in the sun"),
            ("eng", "they march on and wed"),
        ] {
            check(code, question, &[]);
        }
    }

    #[test]
    fn everyday_forms_are_read_in_languages_without_a_file() {
        for (code, question, expected) in [
            ("hin", "पिछले हफ्ते क्या हुआ?", "2024-05-06..2024-05-13"),
            ("hin", "पिछले सप्ताह क्या तय हुआ?", "2024-05-06..2024-05-13"),
            ("ell", "τι έγινε τον Αύγουστο;", "2023-08-01..2023-09-01"),
            ("ell", "τι είπαμε στη συνάντηση της Δευτέρας;", "2024-05-13..2024-05-14"),
            ("ell", "τι έγινε χτες;", "2024-05-14..2024-05-15"),
            ("ces", "co se dělo v srpnu?", "2023-08-01..2023-09-01"),
            ("ces", "co bylo do pátku?", "2024-05-10..2024-05-11"),
            ("kor", "지난주에 무슨 일이 있었어?", "2024-05-06..2024-05-13"),
            ("kor", "이번주 회의에서 뭐라고 했어?", "2024-05-13..2024-05-20"),
            ("cmn", "这周聊了什么", "2024-05-13..2024-05-20"),
            ("cmn", "上星期发生了什么？", "2024-05-06..2024-05-13"),
            ("cmn", "礼拜一说了什么？", "2024-05-13..2024-05-14"),
            ("cmn", "8月发生了什么？", "2023-08-01..2023-09-01"),
            ("jpn", "八月に何があった？", "2023-08-01..2023-09-01"),
            ("jpn", "きのう何を話した？", "2024-05-14..2024-05-15"),
            ("pes", "هفته پیش چه اتفاقی افتاد؟", "2024-05-06..2024-05-13"),
            ("ara", "ماذا حدث بالأمس؟", "2024-05-14..2024-05-15"),
            ("ara", "ماذا قلنا البارحة؟", "2024-05-14..2024-05-15"),
            ("heb", "מה קרה באוגוסט?", "2023-08-01..2023-09-01"),
            ("hun", "mi volt hétfőn?", "2024-05-13..2024-05-14"),
            ("fin", "mitä maanantain palaverissa sovittiin?", "2024-05-13..2024-05-14"),
        ] {
            check(code, question, &[expected]);
        }
        for (code, question) in [("kor", "이번 주제는 뭐야?"), ("ara", "هذا أب جيد"), ("jpn", "東京で勉強した")]
        {
            check(code, question, &[]);
        }
    }
}
