//! Words for dates, numbers and kinds of questions in each language, in one data file per language. To add a language,
//! add a file and a line in `FILES`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::retrieval::words::words;
use chime_core::Language;
use chime_core::rows::{read, rows};
use chime_core::trigger::Languages;

const FILES: [&str; 12] = [
    include_str!("languages/en.toml"),
    include_str!("languages/de.toml"),
    include_str!("languages/es.toml"),
    include_str!("languages/et.toml"),
    include_str!("languages/fr.toml"),
    include_str!("languages/it.toml"),
    include_str!("languages/nl.toml"),
    include_str!("languages/pl.toml"),
    include_str!("languages/pt.toml"),
    include_str!("languages/ru.toml"),
    include_str!("languages/tr.toml"),
    include_str!("languages/uk.toml"),
];

rows! {
    /// Contents of a language's file. `languages/en.toml` explains the lists.
    struct PhraseFile {
        language: String,
        short: String,
        asks_when: String,
        asks_number: String,
        asks_oneself: String,
        asks_talk: String,
        talks: String,
        last: String,
        since: String,
        asks_news: String,
        time: String,
        numbers: String,
        counts: String,
        months: String,
        weekdays: String,
        month_marks: String,
        ambiguous: String,
        seasons: String,
        season_marks: String,
        today: String,
        tomorrow: String,
        yesterday: String,
        days_before: String,
        this_week: String,
        last_week: String,
        last_weekend: String,
        this_month: String,
        last_month: String,
        day: String,
        week: String,
        month: String,
        year: String,
        ago: String,
        minute: String,
        hour: String,
        ahead: String,
        after: String,
        half_hour: String,
        every: String,
        daily: String,
        until: String,
        at: String,
        oclock: String,
        half_to: String,
        clock_numbers: String,
        morning: String,
        noon: String,
        afternoon: String,
        evening: String,
        after_tomorrow: String,
    }
}

/// Phrases of one language: for dates, numbers and kinds of questions.
#[derive(Debug)]
pub struct PhraseTable {
    /// Language code of three letters (ISO 639-3).
    code: String,
    /// Language code of two letters (ISO 639-1).
    short: String,
    pub asks_when: Phrases,
    pub asks_number: Phrases,
    pub asks_oneself: Phrases,
    pub asks_talk: Phrases,
    /// Kinds of conversation: a meeting, a call.
    pub talks: Phrases,
    /// Words for "the last" or "the previous".
    pub last: Phrases,
    pub since: Phrases,
    pub asks_news: Phrases,
    pub time: Phrases,
    pub numbers: Phrases,
    pub counts: HashMap<String, u32>,
    /// Names of the months, January first.
    pub months: Vec<Phrases>,
    /// Names of the weekdays, Monday first.
    pub weekdays: Vec<Phrases>,
    pub month_marks: Phrases,
    pub ambiguous: Phrases,
    /// Names of the seasons: spring, summer, autumn, winter.
    pub seasons: Vec<Phrases>,
    pub season_marks: Phrases,
    pub relative: Relative,
    pub units: Units,
    pub ago: Phrases,
    pub reminders: ReminderPhrases,
}

/// Phrases for the time of a reminder.
#[derive(Debug)]
pub struct ReminderPhrases {
    pub minute: Phrases,
    pub hour: Phrases,
    /// Words before and after a span that begins now: "in" and "later".
    pub ahead: Phrases,
    pub after: Phrases,
    pub half_hour: Phrases,
    pub every: Phrases,
    pub daily: Phrases,
    pub until: Phrases,
    /// Words before and after an hour: "at", "o'clock".
    pub at: Phrases,
    pub oclock: Phrases,
    /// Word before the hour that a half hour leads to.
    pub half_to: Phrases,
    pub clock_numbers: HashMap<String, u32>,
    /// Parts of a day: morning, noon, afternoon, evening.
    pub parts: [Phrases; 4],
    pub after_tomorrow: Phrases,
}

/// Days and spans relative to today.
#[derive(Debug)]
pub struct Relative {
    pub today: Phrases,
    pub tomorrow: Phrases,
    pub yesterday: Phrases,
    pub day_before_yesterday: Phrases,
    pub this_week: Phrases,
    pub last_week: Phrases,
    pub last_weekend: Phrases,
    pub this_month: Phrases,
    pub last_month: Phrases,
}

impl Relative {
    fn all(&self) -> [&Phrases; 9] {
        let Self { today, tomorrow, yesterday, day_before_yesterday, last_weekend, .. } = self;
        let Self { this_week, last_week, this_month, last_month, .. } = self;
        [today, tomorrow, yesterday, day_before_yesterday, last_weekend, this_week, last_week, this_month, last_month]
    }
}

#[derive(Debug)]
pub struct Units {
    pub day: Phrases,
    pub week: Phrases,
    pub month: Phrases,
    pub year: Phrases,
}

/// Phrases (sequences of words) with the same meaning. A word marked with `*` matches with any ending.
#[derive(Debug, Default)]
pub struct Phrases {
    /// Phrases whose first word must match exactly, keyed by that word.
    closed: HashMap<String, Vec<Vec<Pattern>>>,
    /// Phrases whose first word matches with any ending. They have to be tried one by one.
    open: Vec<Vec<Pattern>>,
}

#[derive(Debug, Clone)]
struct Pattern {
    text: String,
    is_open: bool,
}

impl Pattern {
    fn meets(&self, word: &str) -> bool {
        if self.is_open { word.starts_with(&self.text) } else { word == self.text }
    }
}

impl Phrases {
    fn parse(list: &str) -> Self {
        let mut phrases = Self::default();
        for phrase in list.split([',', '|']).map(str::trim).filter(|phrase| !phrase.is_empty()) {
            phrases.add(phrase);
        }
        phrases
    }

    fn add(&mut self, phrase: &str) {
        let patterns: Vec<Pattern> = (phrase.split(' ').flat_map(|word| {
            let is_open = word.ends_with('*');
            let parts: Vec<Pattern> = words(word).into_iter().map(|text| Pattern { text, is_open }).collect();
            parts
        }))
        .collect();
        match patterns.first() {
            Some(first) if first.is_open => self.open.push(patterns),
            Some(first) => self.closed.entry(first.text.clone()).or_default().push(patterns),
            None => {}
        }
    }

    /// Returns the number of words of the longest phrase that begins at index `place` of `words`; `None` if no phrase
    /// does.
    pub fn at(&self, words: &[String], place: usize) -> Option<usize> {
        let first = words.get(place)?;
        let closed = self.closed.get(first.as_str()).into_iter().flatten();
        closed
            .chain(&self.open)
            .filter(|patterns| {
                let rest = &words[place..];
                rest.len() >= patterns.len() && patterns.iter().zip(rest).all(|(pattern, word)| pattern.meets(word))
            })
            .map(Vec::len)
            .max()
    }

    /// Returns the phrases that are a single word, each with `true` if it matches with any ending.
    pub fn single_words(&self) -> impl Iterator<Item = (&str, bool)> {
        let all = self.closed.values().flatten().chain(&self.open).filter(|patterns| patterns.len() == 1);
        all.flatten().map(|pattern| (pattern.text.as_str(), pattern.is_open))
    }

    pub fn any_in(&self, words: &[String]) -> bool {
        (0..words.len()).any(|place| self.at(words, place).is_some())
    }
}

impl PhraseTable {
    fn parse(toml: &str) -> Result<Self, String> {
        let file: PhraseFile = read(toml)?;
        let each = |list: &str| list.split(',').map(Phrases::parse).collect::<Vec<_>>();
        let of = |list: &str| Phrases::parse(list);
        let count = |entry: &str| {
            let (word, count) = entry.split_once('=')?;
            Some((word.trim().to_owned(), count.parse().ok()?))
        };
        Ok(Self {
            code: file.language,
            short: file.short,
            asks_when: of(&file.asks_when),
            asks_number: of(&file.asks_number),
            asks_oneself: of(&file.asks_oneself),
            asks_talk: of(&file.asks_talk),
            talks: of(&file.talks),
            last: of(&file.last),
            since: of(&file.since),
            asks_news: of(&file.asks_news),
            time: of(&file.time),
            numbers: of(&file.numbers),
            counts: file.counts.split(',').filter_map(count).collect(),
            months: each(&file.months),
            weekdays: each(&file.weekdays),
            month_marks: of(&file.month_marks),
            ambiguous: of(&file.ambiguous),
            seasons: each(&file.seasons),
            season_marks: of(&file.season_marks),
            relative: Relative {
                today: of(&file.today),
                tomorrow: of(&file.tomorrow),
                yesterday: of(&file.yesterday),
                day_before_yesterday: of(&file.days_before),
                this_week: of(&file.this_week),
                last_week: of(&file.last_week),
                last_weekend: of(&file.last_weekend),
                this_month: of(&file.this_month),
                last_month: of(&file.last_month),
            },
            units: Units { day: of(&file.day), week: of(&file.week), month: of(&file.month), year: of(&file.year) },
            ago: of(&file.ago),
            reminders: ReminderPhrases {
                minute: of(&file.minute),
                hour: of(&file.hour),
                ahead: of(&file.ahead),
                after: of(&file.after),
                half_hour: of(&file.half_hour),
                every: of(&file.every),
                daily: of(&file.daily),
                until: of(&file.until),
                at: of(&file.at),
                oclock: of(&file.oclock),
                half_to: of(&file.half_to),
                clock_numbers: file.clock_numbers.split(',').filter_map(count).collect(),
                parts: [&file.morning, &file.noon, &file.afternoon, &file.evening].map(|list| of(list)),
                after_tomorrow: of(&file.after_tomorrow),
            },
        })
    }

    /// Returns the number of words of the longest time expression, or part of one, that begins at index `place` of
    /// `words`. A number counts as one word; `None` if there is neither.
    pub fn time_at(&self, words: &[String], place: usize) -> Option<usize> {
        let Units { day, week, month, year } = &self.units;
        let phrases = [&self.time, &self.ago, &self.month_marks, &self.season_marks, day, week, month, year]
            .into_iter()
            .chain(self.relative.all())
            .chain(&self.months)
            .chain(&self.weekdays)
            .chain(&self.seasons);
        let read = phrases.filter_map(|phrases| phrases.at(words, place)).max();
        let word = words.get(place)?;
        let is_number = || self.counts.contains_key(word) || word.starts_with(|c: char| c.is_ascii_digit());
        read.or_else(|| is_number().then_some(1))
    }
}

/// Phrase tables of all languages. A file that does not parse is skipped; a test checks that every file parses.
static SHIPPED: LazyLock<Vec<PhraseTable>> =
    LazyLock::new(|| FILES.iter().filter_map(|file| PhraseTable::parse(file).ok()).collect());

pub fn all() -> impl Iterator<Item = &'static PhraseTable> {
    SHIPPED.iter()
}

/// Returns the two-letter code of a language; `None` if the language has no table.
pub fn short_code(language: Language) -> Option<&'static str> {
    SHIPPED.iter().find(|table| table.code == language.code()).map(|table| table.short.as_str())
}

/// Phrase tables for one question: of the chat's language and, if it is another, of the question's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tables {
    of_chat: Option<&'static PhraseTable>,
    of_question: Option<&'static PhraseTable>,
}

impl Tables {
    /// Selects the table of the chat's language and, if the question seems to be in another language by its stop words,
    /// the table of that language.
    pub fn of(chat: Language, question: &str) -> Self {
        let likely = Languages::shipped().likely_codes(question);
        let of_chat = SHIPPED.iter().find(|table| table.code == chat.code());
        let is_likely = |table: &&PhraseTable| likely.contains(&table.short.as_str());
        // If the question may be in any language or in the chat's, the chat's table is enough.
        let is_known = likely.len() < SHIPPED.len() && !of_chat.is_some_and(|table| is_likely(&table));
        Self { of_chat, of_question: SHIPPED.iter().filter(|_| is_known).find(is_likely) }
    }

    pub fn iter(self) -> impl Iterator<Item = &'static PhraseTable> {
        self.of_chat.into_iter().chain(self.of_question)
    }

    /// Returns the table of the question's language if that is known, else of the chat's.
    pub fn of_question(self) -> Option<&'static PhraseTable> {
        self.of_question.or(self.of_chat)
    }

    /// Returns `true` if `word` is a stop word of one of these languages.
    pub fn is_stop_word(self, word: &str) -> bool {
        Languages::shipped().is_stop_word_of(word, self.iter().map(|table| &table.short))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_parses_and_names_all_months_and_days() {
        assert_eq!(SHIPPED.len(), FILES.len());
        for table in SHIPPED.iter() {
            assert_eq!((table.months.len(), table.weekdays.len(), table.seasons.len()), (12, 7, 4), "{}", table.code);
        }
    }

    #[test]
    fn a_question_in_another_language_than_its_chat_brings_its_own_table() {
        let codes = |chat: &str, question: &str| {
            Tables::of(Language::from_code(chat), question).iter().map(|table| table.code.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(codes("eng", "When is the party?"), ["eng"]);
        assert_eq!(codes("eng", "Когда у нас вечеринка?"), ["eng", "rus"]);
        assert_eq!(codes("est", "Millal on pidu?"), ["est"]);
    }

    #[test]
    fn phrases_are_met_with_open_endings() {
        let phrases = Phrases::parse("суббот*,what day");
        assert!(phrases.any_in(&words("в субботу?")) && phrases.any_in(&words("On what day is it")));
        assert!(!phrases.any_in(&words("what a day")));
    }
}
