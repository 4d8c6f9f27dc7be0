//! Parses the time of a reminder: "on friday at nine", "in 20 minutes", "every monday 9:00 until 1 June".

use std::time::Duration;

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

use crate::retrieval::dates::{DateReader, spans_named};
use crate::retrieval::languages::{PhraseTable, Phrases, Tables, shipped};
use crate::retrieval::words::words;
use chime_core::trigger::Languages;
use chime_core::{Language, PhraseWord, Timestamp, Zone};
pub use moment::{AskedTime, ReminderTime, Repeat};
use moment::{ClockTime, DAY_SECS, MONTH, Moment, PART_HOURS, Span, clock_time, hundredths};

mod moment;

const HOUR_SECS: u64 = 3600;
/// Seconds of a month, a second, a minute, an hour, a day and a week.
const UNIT_SECS: [u64; 6] = [MONTH, 1, 60, HOUR_SECS, DAY_SECS, 7 * DAY_SECS];
/// Word that stands for a colon behind a word, where the words of the task begin.
const COLON: &str = ":";

/// Returns `true` if a text names a time near its own, such as "at five", "tomorrow" or "next month".
pub fn names_time(text: &str) -> bool {
    const NOW: Timestamp = Timestamp::from_secs(1_770_000_000);
    const WEEK: Duration = Duration::from_secs(7 * DAY_SECS);
    let (said, tables) = (words(text), Tables::of(Language::DEFAULT, text));
    let is_phrase = |place| tables.iter().any(|table| table.time.at(&said, place).is_some_and(|length| length > 1));
    spans_named(&said, tables, NOW, 0).iter().any(|span| span.to.since(span.from) <= WEEK)
        || (0..said.len()).any(is_phrase)
        || matches!(
            ReminderRequest::new(text, Language::DEFAULT, NOW, Zone::UTC).usual_reading().asked,
            AskedTime::Time(_)
        )
}

/// Reads the time of the reminder for which `ask` asks, in plain words or behind `/remind`. `zone` and `language` belong
/// to the chat; the text may be in another language.
///
/// The time that begins directly behind the words that ask is the one that counts; if it is only a day, an hour at the
/// end of the text is added. Without a time there, the last date and the last time of day in the text count.
pub fn reminder_time(ask: &str, language: Language, now: Timestamp, zone: Zone) -> AskedTime {
    ReminderRequest::new(ask, language, now, zone).best_reading().asked
}

/// Returns the words behind the time with which `ask`, the words behind `/remind`, begins: "tea" in "in 20 minutes tea".
/// Returns all of it if it begins otherwise, or if no words follow.
pub fn reminder_task(ask: &str, language: Language, now: Timestamp, zone: Zone) -> &str {
    let request = ReminderRequest::new(ask, language, now, zone);
    let last = request.best_reading().end.checked_sub(1).filter(|_| request.asking.is_none());
    let Some(last) = last else { return ask };
    let task = ask[request.token_ends[last]..]
        .trim_start_matches(|c: char| c.is_whitespace() || [':', ',', '-', '–', '—'].contains(&c));
    if task.is_empty() { ask } else { task }
}

/// Request for a reminder, split into words.
struct ReminderRequest<'a> {
    ask: &'a str,
    words: Vec<String>,
    /// Place behind the token of `ask` that each word is part of, in bytes.
    token_ends: Vec<usize>,
    /// Number of words that ask; `None` behind `/remind`.
    asking: Option<usize>,
    /// Place of the first word behind those that ask.
    begin: usize,
    tables: Tables,
    now: Timestamp,
    zone: Zone,
}

/// What a request says about its time, read in one language.
#[derive(Clone, Copy)]
struct ReminderReading {
    asked: AskedTime,
    /// Place behind the time that begins directly behind the words that ask; 0 if none does.
    end: usize,
}

impl ReminderReading {
    const NOTHING: Self = Self { asked: AskedTime::None, end: 0 };

    /// The language of a few words is uncertain, and the wrong one may know a part of their time only, such as the day
    /// but not the hour or the repetition.
    fn rank(&self) -> (u8, usize) {
        let rank = match self.asked {
            AskedTime::Unsupported => 3,
            AskedTime::Time(time) if time.repeat.is_some() => 2,
            AskedTime::Time(_) | AskedTime::Past | AskedTime::Unreadable => 1,
            AskedTime::None => 0,
        };
        (rank, self.end)
    }
}

impl<'a> ReminderRequest<'a> {
    fn new(ask: &'a str, language: Language, now: Timestamp, zone: Zone) -> Self {
        let (words, token_ends) = moment_words(ask);
        let asking = Languages::shipped().words_to_remind(ask);
        let behind = (0..words.len()).filter(|place| words[*place] != COLON).nth(asking.unwrap_or(0));
        let begin = behind.unwrap_or(words.len());
        Self { ask, words, token_ends, asking, begin, tables: Tables::of(language, ask), now, zone }
    }

    fn read(&self, table: &'static PhraseTable) -> ReminderReading {
        let today = self.zone.local(self.now).date_naive();
        let dates = DateReader { words: &self.words, table, today, is_ahead: true, spans: Vec::new() };
        let mut reader = MomentReader { dates, is_first: true };
        // Where the verb comes last, words such as "kannst du mich" may come first.
        let skips = |word: &str| self.asking == Some(0) && self.tables.is_stop_word(word);
        let (moment, end) = reader.read(self.begin, skips);
        let asked = match moment.asked_time(end.is_some(), self.now, self.zone) {
            // A past day in the words of a question is no time: "remind me of the wood we ordered yesterday".
            AskedTime::Past if self.asking.is_some() && (end.is_none() || ends_in_question(self.ask)) => {
                AskedTime::None
            }
            asked => asked,
        };
        ReminderReading { asked, end: end.unwrap_or(0) }
    }

    /// Reads the request in the languages of the chat and of the request.
    fn usual_reading(&self) -> ReminderReading {
        // The table of the question comes last, and of equal readings the last one counts.
        let read = self.tables.iter().map(|table| self.read(table));
        read.max_by_key(ReminderReading::rank).unwrap_or(ReminderReading::NOTHING)
    }

    /// Reads the request. If another language knows more words of the time at its beginning, that one counts.
    fn best_reading(&self) -> ReminderReading {
        let usual = self.usual_reading();
        if usual.rank().0 > 1 {
            return usual;
        }
        // One word, such as a day, may be any word in another language, unless a time is expected: behind `/remind`, or
        // because another language has one there too.
        let expects_time = self.asking.is_none() || usual.end > 0;
        let is_more = |other: &ReminderReading| match other.asked {
            AskedTime::Time(_) => other.end > usual.end.max(self.begin + 1),
            AskedTime::Unreadable => expects_time && other.end >= usual.end.max(1),
            AskedTime::Unsupported | AskedTime::Past | AskedTime::None => false,
        };
        let others = shipped().map(|table| self.read(table)).filter(is_more);
        others.max_by_key(|other| other.end).unwrap_or(usual)
    }
}

/// Returns `true` if a question follows another part of the text: "remind me, yesterday we met: where was it?".
fn ends_in_question(ask: &str) -> bool {
    let mut tokens = ask.split_whitespace();
    tokens.next_back().is_some_and(|last| last.ends_with('?')) && tokens.any(|token| token.ends_with([',', ':', ';']))
}

/// Splits a text into words. A clock time ("9:30"), a date ("2026-05-01", "20/5") and a colon are words of their own.
/// Returns also, for each word, the place in `text` behind the token that it is part of, in bytes.
fn moment_words(text: &str) -> (Vec<String>, Vec<usize>) {
    let (mut found, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
    for token in text.split_whitespace() {
        end = text[end..].find(token).map_or(text.len(), |at| end + at + token.len());
        let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != ':');
        let bare = token.trim_end_matches(':');
        if let Ok(day) = bare.parse::<NaiveDate>() {
            found.push(day.format("%d.%m.%Y").to_string());
        } else {
            // In "18:00-19:00" the first time counts. In Turkish a suffix follows: "18:30'da".
            let first = bare.split(['-', '–', '\'', '’']).next().unwrap_or(bare);
            let is_time = first.starts_with(|c: char| c.is_ascii_digit()) && first.contains([':', '/']);
            if is_time && first.chars().all(|c| c.is_alphanumeric() || [':', '/', '.'].contains(&c)) {
                found.push(first.to_lowercase());
            } else {
                found.extend(words(bare));
            }
        }
        if bare.len() < token.len() {
            found.push(COLON.to_owned());
        }
        ends.resize(found.len(), end);
    }
    (found, ends)
}

/// Reads the moments of a text in one language.
struct MomentReader<'a> {
    dates: DateReader<'a>,
    /// `true` while the time directly behind the words that ask is read, where short forms are clear.
    is_first: bool,
}

impl MomentReader<'_> {
    /// Returns the time that the text names from word `begin` on, and the place behind it if it begins there, perhaps
    /// behind words that may precede it or that `skips` accepts.
    fn read(&mut self, begin: usize, skips: impl Fn(&str) -> bool) -> (Moment, Option<usize>) {
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

    /// Returns `true` if a number follows a day, perhaps behind a word such as "at": it is no time of day, or it cannot
    /// be told from the number of something: "tomorrow at 25", "tomorrow 3 eggs".
    fn is_unread_number(&self, place: usize) -> bool {
        let number = place + self.at(&self.dates.table.at, place).unwrap_or(0);
        self.starts_with_digit(number)
    }

    /// Returns `true` for a time that no day has, such as "at 9:75" and "um 25 Uhr".
    fn is_impossible_clock(&mut self, place: usize) -> bool {
        let table = self.dates.table;
        let Some(mark) = self.at(&table.at, place) else { return false };
        let number = place + mark;
        // A ratio such as 16:9 is no time.
        let minutes = |word: &String| word.split_once(':').is_some_and(|(_, minutes)| minutes.len() == 2);
        let has_colon = self.dates.words.get(number).is_some_and(minutes);
        let is_clock = has_colon || self.at(&table.oclock, number + 1).is_some();
        self.starts_with_digit(number) && is_clock && self.element(place).is_none()
    }

    fn starts_with_digit(&self, place: usize) -> bool {
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
    fn element(&mut self, place: usize) -> Option<(Moment, usize)> {
        self.repeat(place)
            .or_else(|| self.until(place))
            .or_else(|| self.past(place))
            .or_else(|| self.span(place))
            .or_else(|| self.clock(place))
            .or_else(|| self.day_and_part(place))
            .or_else(|| self.slashed_date(place))
    }

    fn at(&self, phrases: &Phrases, place: usize) -> Option<usize> {
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

    fn weekday_of(&self, names: &[Phrases], place: usize) -> Option<(Weekday, usize)> {
        let mut days = (0_u8..).zip(names);
        days.find_map(|(day, names)| Some((Weekday::try_from(day).ok()?, self.at(names, place)?)))
    }

    /// Parses "until 1 June". An article may stand before the date.
    fn until(&mut self, place: usize) -> Option<(Moment, usize)> {
        let begin = place + self.at(&self.dates.table.until, place)?;
        let (day, end) = (begin..begin + 2).find_map(|at| self.day(at).map(|(day, _, used)| (day, at + used)))?;
        Some((Moment { until: Some(day), ..Moment::default() }, end - place))
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

    /// Parses "in 20 minutes", "in an hour", "in 1h and 30m", "20 dakika sonra", "in three days".
    fn span(&mut self, place: usize) -> Option<(Moment, usize)> {
        let table = self.dates.table;
        let before = self.at(&table.ahead, place);
        let begin = place + before.unwrap_or(0);
        // "After 11:30" is a time of day, "in 2:30" is a span.
        let is_span = before.is_some() && self.at(&table.at, place).is_none();
        let mut span = Span::default();
        let colons = is_span.then(|| self.length_in_word(begin, true, &mut span)).flatten();
        let mut end = colons.or_else(|| self.length(begin, false, &mut span))?;
        while let Some(next) = [end, end + self.at(&table.and, end).unwrap_or(0)]
            .into_iter()
            .find_map(|at| self.length(at, true, &mut span))
        {
            end = next;
        }
        if before.is_none() {
            end += self.at(&table.after, end)?;
        }
        let moment = if span.secs > 0 && span.months == 0 {
            Moment { after: Some(span.days * DAY_SECS + span.secs), ..Moment::default() }
        } else {
            let months = Months::new(u32::try_from(span.months).ok()?);
            let date = self.dates.today.checked_add_months(months)?.checked_add_days(Days::new(span.days))?;
            Moment { date: Some(date).filter(|date| *date > self.dates.today), ..Moment::default() }
        };
        (moment.date.is_some() || moment.after.is_some()).then_some((moment, end - place))
    }

    /// Parses one part of a span, such as "20 minutes", "an hour and a half", "1.5 hours" or "2h30m", and adds it to
    /// `span`. Returns the place behind it.
    fn length(&self, place: usize, needs_number: bool, span: &mut Span) -> Option<usize> {
        let table = self.dates.table;
        let fixed = [(&table.hour_and_half, 5400), (&table.half_hour, 1800)];
        if let Some((secs, used)) = fixed.into_iter().find_map(|(names, secs)| Some((secs, self.at(names, place)?))) {
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
        let units = [&table.month, &table.second, &table.minute, &table.hour, &table.day, &table.week];
        let named = UNIT_SECS.into_iter().zip(units).find_map(|(secs, names)| Some((secs, self.at(names, begin)?)));
        let letter = || Some((self.unit_of(self.dates.words.get(begin)?)?, 1)).filter(|_| begin > place);
        let (unit, used) = named.or_else(letter)?;
        let half = self.at(&table.half_past, begin + used).filter(|_| unit == HOUR_SECS);
        span.add(count + half.map_or(0, |_| 50), unit)?;
        Some(begin + used + half.unwrap_or(0))
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
        let named = names.into_iter().zip(&UNIT_SECS[1..]);
        named
            .into_iter()
            .find(|((short, names), _)| unit == *short || names.at(&word, 0).is_some())
            .map(|(_, secs)| *secs)
    }

    /// Parses a number such as "20", "1.5", "two and a half", "a few" or "twenty five", in hundredths. Returns also the
    /// place behind it.
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

    fn number(&self, place: usize) -> Option<u32> {
        let in_words = || self.dates.table.clock_numbers.get(self.dates.words.get(place)?).copied();
        self.dates.count_at(place).or_else(in_words)
    }

    fn is_in_words(&self, place: usize) -> bool {
        self.dates.words.get(place).is_some_and(|word| word.starts_with(char::is_alphabetic))
    }

    /// Parses "at nine", "9h30", "9 pm", "half past nine", "ten to nine", "um halb zehn", "в 7 вечера".
    fn clock(&mut self, place: usize) -> Option<(Moment, usize)> {
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
        let (mut time, is_time) = match clock_time(self.dates.words.get(begin)?, mark.is_some()) {
            Some(time) => (time, true),
            None => {
                let hour = self.number(begin)?;
                (ClockTime { hour, minute: 0, is_exact: hour == 0 || hour > 12 }, false)
            }
        };
        let mut end = begin + 1;
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
        let part = self.part(end);
        let is_marked = mark.is_some() || oclock.is_some() || before.is_some() || behind.is_some();
        // A number is a time only together with a word such as "at" or "pm".
        if !is_time && !is_marked && is_late.is_none() && part.is_none() {
            return None;
        }
        end += is_late.map_or(part.map_or(0, |(used, _)| used), |_| 1);
        time.set_half(is_late.or(part.map(|(_, hour)| hour >= 12)));
        let minutes =
            i64::from(time.hour) * 60 + i64::from(time.minute) + offset + behind.map_or(0, |(minutes, _)| minutes);
        let minutes = u32::try_from(minutes.rem_euclid(24 * 60)).ok().filter(|_| time.hour < 24 && time.minute < 60)?;
        let time = ClockTime { hour: minutes / 60, minute: minutes % 60, ..time };
        Some((Moment { time: Some(time), ..Moment::default() }, end - place))
    }

    /// Parses what may stand before an hour: "half past", "quarter to", "ten past", "halb". Returns the minutes that it
    /// adds to the hour, and the place of the hour.
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
        named.or_else(counted).filter(|(_, hour)| self.number(*hour).is_some())
    }

    /// Parses "tomorrow", "tomorrow evening", "on friday", "3 June", "evening".
    fn day_and_part(&mut self, place: usize) -> Option<(Moment, usize)> {
        let part = self.part(place);
        let moment = Moment { part: part.map(|(_, hour)| hour), ..Moment::default() };
        match (part, self.day(place)) {
            // In "por la mañana" the last word is no day.
            (Some((used, _)), Some((_, _, of_day))) if used > of_day => Some((moment, used)),
            (_, Some((day, is_weekday, used))) => {
                let part = moment.part.or_else(|| self.part_in_word(place).filter(|_| is_weekday));
                Some((Moment { date: Some(day), is_weekday, part, ..moment }, used))
            }
            (part, None) => part.map(|(used, _)| (moment, used)),
        }
    }

    fn parts(&self) -> impl Iterator<Item = (u32, &Phrases)> {
        PART_HOURS.into_iter().zip(self.dates.table.parts_of_day())
    }

    /// Parses a part of the day. Returns its number of words and its hour.
    fn part(&self, place: usize) -> Option<(usize, u32)> {
        self.parts().filter_map(|(hour, part)| Some((self.at(part, place)?, hour))).max()
    }

    /// Returns the hour of a part of the day at the end of a longer word, as in "Freitagabend".
    fn part_in_word(&self, place: usize) -> Option<u32> {
        let word = self.dates.words.get(place)?;
        let is_end = |phrase: &[PhraseWord]| {
            phrase.iter().all(|end| word.len() > end.text.len() && word.ends_with(&end.text)) && phrase.len() == 1
        };
        self.parts().filter(|(_, part)| part.all().any(is_end)).map(|(hour, _)| hour).last()
    }

    /// Parses a day. Returns also `true` if it is named by its weekday only, and the number of words.
    fn day(&mut self, place: usize) -> Option<(NaiveDate, bool, usize)> {
        let (today, table) = (self.dates.today, self.dates.table);
        let relative = [(&table.today, 0), (&table.tomorrow, 1), (&table.after_tomorrow, 2)];
        let named = relative.into_iter().filter_map(|(names, days)| Some((self.at(names, place)?, days))).max();
        if let Some((used, days)) = named {
            return Some((today.checked_add_days(Days::new(days))?, false, used));
        }
        let date = self.dates.numeric_date(place).or_else(|| self.dates.day_and_month(place));
        if let Some(used) = date {
            return Some((self.dates.spans.pop()?.0, false, used));
        }
        // "Fri" and "mon" are days where a time is expected.
        if (self.is_first || self.at(&table.ambiguous, place).is_none())
            && let Some((weekday, used)) = self.weekday_of(&table.weekdays, place)
        {
            let day = today.iter_days().skip(1).find(|day| day.weekday() == weekday)?;
            return Some((day, true, used));
        }
        self.day_of_month(place).map(|(day, used)| (day, false, used))
    }

    /// Parses "20/5" and "5/20/2024". In English, "5/6" may be in May or in June.
    fn slashed_date(&mut self, place: usize) -> Option<(Moment, usize)> {
        let numbers: Option<Vec<u32>> =
            self.dates.words.get(place)?.split('/').map(|number| number.parse().ok()).collect();
        let (first, second, year) = match numbers?[..] {
            [first, second] => (first, second, None),
            [first, second, year] => (first, second, Some(if year < 100 { year + 2000 } else { year })),
            _ => return None,
        };
        if !self.ends_before(place + 1) {
            return None;
        }
        let is_english = self.dates.table.short == Some("en");
        if is_english && first <= 12 && second <= 12 {
            return self.is_first.then_some((Moment { is_unsupported: true, ..Moment::default() }, 1));
        }
        let (day, month) = if second > 12 { (second, first) } else { (first, second) };
        self.dates.add_day(year, month, day);
        let date = Some(self.dates.spans.pop()?.0);
        Some((Moment { date, ..Moment::default() }, 1))
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
        let is_day = before.is_some() && !is_whole && !is_count && self.ends_before(end);
        let day = self.dates.today.iter_days().take(62).find(|date| date.day() == day)?;
        (is_day || behind.is_some()).then_some((day, end - place))
    }
}

#[cfg(test)]
mod tests;
