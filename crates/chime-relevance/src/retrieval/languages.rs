//! Words for dates, numbers and kinds of questions, read from the table `recall` of each language.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::retrieval::words::words;
use chime_core::lang::{cldr_tables, tables};
use chime_core::rows::rows;
use chime_core::trigger::Languages;
use chime_core::{Language, PhraseIndex, PhraseWord, is_unspaced};

rows! {
    /// Phrases of one language. `lang/en.toml` explains them. Months begin with January, weekdays with Monday, seasons
    /// with spring.
    pub struct RecallPhrases {
        asks_when: Phrases, asks_number: Phrases, asks_oneself: Phrases, asks_talk: Phrases, talks: Phrases,
        last: Phrases, messages: Phrases, since: Phrases, asks_news: Phrases, asks_decisions: Phrases, asks_open: Phrases,
        asks_own_tasks: Phrases, time: Phrases, numbers: Phrases,
        counts: HashMap<String, u32>, months: Vec<Phrases>, weekdays: Vec<Phrases>, month_marks: Phrases,
        ambiguous: Phrases, seasons: Vec<Phrases>, season_marks: Phrases, today: Phrases, tomorrow: Phrases,
        yesterday: Phrases, days_before: Phrases, this_week: Phrases, last_week: Phrases, last_weekend: Phrases,
        this_month: Phrases, last_month: Phrases, day: Phrases, week: Phrases, month: Phrases, year: Phrases,
        ago: Phrases, minute: Phrases, hour: Phrases, ahead: Phrases, after: Phrases, half_hour: Phrases,
        every: Phrases, daily: Phrases, until: Phrases, at: Phrases, oclock: Phrases, half_to: Phrases, half_past: Phrases,
        clock_numbers: HashMap<String, u32>, morning: Phrases, noon: Phrases, afternoon: Phrases, evening: Phrases,
        after_tomorrow: Phrases, second: Phrases, hour_and_half: Phrases, all_the: Phrases, other_repeats: Phrases,
        task_repeats: Phrases, task_parts: Phrases, weekly: Vec<Phrases>, before_all: Phrases, before_time: Phrases,
        and: Phrases, quarter_past: Phrases, quarter_to: Phrases, quarter_towards: Phrases, minutes_past: Phrases, minutes_to: Phrases, on_the: Phrases,
        of_month: Phrases, night: Phrases, midnight: Phrases, next_week: Phrases, quarter_hour: Phrases,
        three_quarters: Phrases, up_to: Phrases, earlier: Phrases, unread: Phrases,
    }
}

/// Phrases (sequences of words) with the same meaning. A word marked with `*` matches with any ending.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Phrases(PhraseIndex<()>);

impl From<String> for Phrases {
    fn from(list: String) -> Self {
        let parse = |phrase: &str| -> Vec<PhraseWord> {
            let word = |word: &str| {
                let is_open = word.ends_with('*');
                words(word).into_iter().map(move |text| PhraseWord { text, is_open })
            };
            phrase.trim().split(' ').flat_map(word).collect()
        };
        Self(list.split([',', '|']).map(|phrase| (parse(phrase), ())).collect())
    }
}

impl Phrases {
    /// Returns the number of words of the longest phrase that begins at index `place` of `words`; `None` if no phrase
    /// does.
    pub fn at(&self, words: &[String], place: usize) -> Option<usize> {
        self.0.longest(words.get(place..)?).map(|(length, ())| length)
    }

    pub fn all(&self) -> impl Iterator<Item = &[PhraseWord]> {
        self.0.phrases()
    }

    pub fn any_in(&self, words: &[String]) -> bool {
        (0..words.len()).any(|place| self.at(words, place).is_some())
    }
}

/// Phrases of one language.
#[derive(Debug)]
pub struct PhraseTable {
    /// ISO 639-3 code.
    code: &'static str,
    /// ISO 639-1 code; `None` for a language without a file in `lang/`, of which only names of days and months, parts of
    /// the day and numbers are known, and in some the everyday words around them.
    pub short: Option<&'static str>,
    phrases: RecallPhrases,
}

impl Deref for PhraseTable {
    type Target = RecallPhrases;

    fn deref(&self) -> &RecallPhrases {
        &self.phrases
    }
}

impl RecallPhrases {
    pub fn parts_of_day(&self) -> [&Phrases; 5] {
        [&self.morning, &self.noon, &self.afternoon, &self.evening, &self.night]
    }

    /// Returns the number of words of the longest time expression, or part of one, that begins at index `place` of
    /// `words`. A number counts as one word; `None` if there is neither.
    pub fn time_at(&self, words: &[String], place: usize) -> Option<usize> {
        let word = words.get(place)?;
        let is_number = || self.counts.contains_key(word) || word.starts_with(|c: char| c.is_ascii_digit());
        self.time_phrase_at(words, place).or_else(|| is_number().then_some(1))
    }

    /// Like [`time_at`](Self::time_at), without numbers.
    pub fn time_phrase_at(&self, words: &[String], place: usize) -> Option<usize> {
        let Self { time, ago, month_marks, season_marks, day, week, month, year, today, tomorrow, .. } = self;
        let Self { yesterday, days_before, last_weekend, this_week, last_week, this_month, last_month, .. } = self;
        let phrases = [time, ago, month_marks, season_marks, day, week, month, year]
            .into_iter()
            .chain([today, tomorrow, yesterday, days_before, last_weekend])
            .chain([this_week, last_week, this_month, last_month])
            .chain(&self.months)
            .chain(&self.weekdays)
            .chain(&self.seasons);
        phrases.filter_map(|phrases| phrases.at(words, place)).max()
    }
}

impl PhraseTable {
    /// Splits `words` into time expressions without numbers, and single other words. In scripts where a character
    /// counts as a word, a single character ("day") is not a time expression, since it is usually part of another word.
    pub fn times_in<'w>(&self, words: &'w [String]) -> Vec<(&'w [String], bool)> {
        let (mut found, mut rest) = (Vec::new(), words);
        while let Some(word) = rest.first() {
            let least = if word.starts_with(is_unspaced) && word.chars().nth(1).is_none() { 2 } else { 1 };
            let time = self.time_phrase_at(rest, 0).filter(|length| *length >= least);
            let (part, after) = rest.split_at(time.unwrap_or(1));
            found.push((part, time.is_some()));
            rest = after;
        }
        found
    }
}

/// Phrase tables of the languages of the bot.
static SHIPPED: LazyLock<Vec<PhraseTable>> = LazyLock::new(|| {
    let tables = tables("recall").into_iter();
    tables.map(|(file, phrases)| PhraseTable { code: &file.code, short: Some(&file.short), phrases }).collect()
});

/// Phrase tables of other languages.
static OTHERS: LazyLock<Vec<PhraseTable>> = LazyLock::new(|| {
    let read = |(code, mut phrases): (&'static str, RecallPhrases)| {
        phrases.counts = phrases.counts.into_iter().map(|(word, count)| (words(&word).concat(), count)).collect();
        PhraseTable { code, short: None, phrases }
    };
    cldr_tables("recall").into_iter().map(read).collect()
});

pub fn all() -> impl Iterator<Item = &'static PhraseTable> {
    SHIPPED.iter().chain(OTHERS.iter())
}

/// Returns the phrase tables of the languages of the bot.
pub fn shipped() -> impl Iterator<Item = &'static PhraseTable> {
    SHIPPED.iter()
}

fn of_code(code: &str) -> Option<&'static PhraseTable> {
    all().find(|table| table.code == code)
}

/// Returns `true` if a lower-case word names a time in some language, such as "tomorrow" or "friday".
pub fn is_time_word(word: &str) -> bool {
    let word = [word.to_owned()];
    all().any(|table| {
        let phrases = [&table.time, &table.today, &table.tomorrow, &table.yesterday];
        phrases.into_iter().chain(&table.weekdays).any(|phrases| phrases.at(&word, 0).is_some())
    })
}

/// Phrase tables for one question: of the chat's language and, if it is another, of the question's.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tables {
    of_chat: Option<&'static PhraseTable>,
    of_question: Option<&'static PhraseTable>,
}

impl Tables {
    /// Selects the table of the chat's language and, if the question seems to be in another language by its script or
    /// its stop words, the table of that language.
    pub fn of(chat: Language, question: &str) -> Self {
        let of_chat = of_code(chat.code());
        let is_other = of_chat.is_some_and(|table| table.short.is_none());
        let of_other = || Language::of_question(question, "", chat).filter(|_| is_other);
        // The chat's language decides between languages that are written in the same script.
        let of_script = || Language::of_script(question);
        if let Some(language) = of_script().and_then(|_| of_other()).or_else(of_script).or_else(of_other) {
            return Self { of_chat, of_question: of_code(language.code()).filter(|_| language != chat) };
        }
        let likely = Languages::shipped().likely_codes(question);
        let is_likely = |table: &&PhraseTable| table.short.is_some_and(|short| likely.contains(&short));
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

    /// Replaces each word with an apostrophe by its part that names a time or a conversation: "monday's" by "monday",
    /// "d'hier" by "hier", "nell'ultima" by "ultima".
    pub fn without_elisions(self, words: Vec<String>) -> Vec<String> {
        let is_known = |part: &&str| {
            let part = [(*part).to_owned()];
            let is_in = |table: &PhraseTable| table.time_at(&part, 0).or(table.last.at(&part, 0)).is_some();
            part[0].chars().nth(1).is_some() && self.iter().any(|table| is_in(table) || table.talks.any_in(&part))
        };
        let known_part = |word: String| {
            let (before, after) = word.split_once('\'').unwrap_or_default();
            let part = [word.as_str(), after, before].into_iter().find(is_known).map(str::to_owned);
            part.unwrap_or(word)
        };
        words.into_iter().map(known_part).collect()
    }

    /// Returns `true` if `word` is a stop word of one of these languages.
    pub fn is_stop_word(self, word: &str) -> bool {
        Languages::shipped().is_stop_word_of(word, self.codes())
    }

    /// Returns `true` if `word` may be a name: no language of the chat or the question has it as a stop word. Anna and
    /// Mia are stop words elsewhere.
    pub fn may_be_name(self, word: &str) -> bool {
        let is_stop_word = match self.codes().next() {
            Some(_) => Languages::shipped().has_stop_word(word, self.codes()),
            None => self.is_stop_word(word),
        };
        word.chars().nth(1).is_some() && !is_stop_word
    }

    fn codes(self) -> impl Iterator<Item = &'static str> {
        self.iter().filter_map(|table| table.short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_names_all_months_and_days() {
        for table in all() {
            let counts = (table.months.len(), table.weekdays.len(), table.seasons.len());
            assert_eq!(counts, (12, 7, if table.short.is_some() { 4 } else { 0 }), "{}", table.code);
        }
    }

    #[test]
    fn a_question_in_another_language_than_its_chat_brings_its_own_table() {
        let codes = |chat: &str, question: &str| {
            Tables::of(Language::from_code(chat), question).iter().map(|table| table.code).collect::<Vec<_>>()
        };
        assert_eq!(codes("eng", "When is the party?"), ["eng"]);
        assert_eq!(codes("eng", "Когда у нас вечеринка?"), ["eng", "rus"]);
        assert_eq!(codes("est", "Millal on pidu?"), ["est"]);
        assert_eq!(codes("eng", "다음 주 금요일에 만나나요?"), ["eng", "kor"]);
        assert_eq!(codes("ces", "kdy se sejdeme na chatě o víkendu?"), ["ces"]);
    }

    #[test]
    fn phrases_are_met_with_open_endings() {
        let phrases = Phrases::from("суббот*,what day".to_owned());
        assert!(phrases.any_in(&words("в субботу?")) && phrases.any_in(&words("On what day is it")));
        assert!(!phrases.any_in(&words("what a day")));
    }
}
