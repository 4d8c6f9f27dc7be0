//! Word and phrase lists for understanding triggers, read from the table `trigger` of each language.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::lang::{LanguageFile, tables};
use crate::rows::rows;
use crate::texts::{RecapWords, texts};
use crate::tokenize::{is_greek, lower_words};
use crate::trigger::words::words;

/// Largest number of words of a phrase in the lists.
const LONGEST: usize = 8;
/// Largest number of words of a greeting that contains names.
const NAMED_GREETING: usize = 5;
/// Number of words at the start of a text from which its language is detected.
const TELLING_WORDS: usize = 24;
/// Number of bytes at the start of a text in which the beginning of a question is looked for.
const OPENING: usize = 400;

/// Word and phrase lists of all languages: questions without a subject, thanks, stop words and more.
#[derive(Debug, Default)]
pub struct Languages {
    pub(super) tables: Vec<LanguagePhrases>,
    /// Stop words of all languages. Bit n is set if the word is a stop word of the language at index n of `tables`.
    stop_words: HashMap<String, u32>,
    /// Words that carry meaning in one language and are stop words of another: "car" is "because" in French.
    content_words: HashSet<String>,
}

/// Phrases of one language: its lists, and further lists that are derived from them.
#[derive(Debug)]
pub(super) struct LanguagePhrases {
    /// ISO 639-1 code.
    code: &'static str,
    /// ISO 639-3 code.
    pub(super) long_code: &'static str,
    lists: TriggerLists,
    /// Single words that are ignored anywhere in a question: fillers, polite words, and words such as "this" that refer
    /// to messages.
    fillers: HashSet<String>,
    /// Phrases without a subject of their own: they only refer to messages ("what do you think of this") or are polite.
    /// Fillers are removed from them.
    generic: HashSet<String>,
    /// Requests for missed messages ("what did I miss"), without fillers.
    missed: HashSet<String>,
    /// Requests for a summary, and for the list of reminders, without fillers.
    summary: HashSet<String>,
    reminders: HashSet<String>,
    /// Words of times, and beginnings of such words.
    times: HashSet<String>,
    time_beginnings: Vec<String>,
    /// Fillers and polite phrases that are not thanks. A text of thanks or greetings may contain them too.
    around: HashSet<String>,
}

rows! {
    /// Lists of a language. `lang/en.toml` explains them.
    struct TriggerLists {
        fillers: PhraseSet, politeness: PhraseSet, pointers: PhraseSet, phrases: PhraseSet, ideas: PhraseSet,
        choices: PhraseSet, polls: PhraseSet, poll_words: PhraseSet, thanks: PhraseSet, greetings: PhraseSet, courtesies: PhraseSet, consents: PhraseSet,
        questions: PhraseSet, stop_words: Vec<String>, content_words: Vec<String>, ours: PhraseSet, missed: PhraseSet, absent: PhraseSet,
        happened: PhraseSet, goes_on: PhraseSet, to_group: PhraseSet,
        about_bot: PhraseSet, help: PhraseSet, privacy: PhraseSet, private_asks: PhraseSet, private_things: PhraseSet,
        private_first: PhraseSet,
        amounts: PhraseSet, search: PhraseSet, search_last: PhraseSet, link: PhraseSet, link_last: PhraseSet,
        remind: PhraseSet, remind_others: PhraseSet, that: Vec<String>, add: Vec<String>, delete: PhraseSet, summary: PhraseSet, reminders: PhraseSet,
    }
}

/// Phrases, each stored as its [`words`], joined by spaces.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<String>")]
struct PhraseSet(HashSet<String>);

impl Languages {
    pub fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Languages> = LazyLock::new(|| Languages::of(tables("trigger")));
        &SHIPPED
    }

    fn of(tables: Vec<(&'static LanguageFile, TriggerLists)>) -> Self {
        let mut languages = Self::default();
        for (place, (language, lists)) in tables.into_iter().enumerate() {
            for word in &lists.stop_words {
                *languages.stop_words.entry(word.clone()).or_default() |= 1 << place;
            }
            languages.content_words.extend(lists.content_words.iter().cloned());
            languages.tables.push(LanguagePhrases::of(language, lists));
        }
        languages
    }

    /// Returns `true` if a lower-case word is a stop word in a text whose possible languages are `codes` (two letters).
    /// Stop words of any language count, except words that carry meaning in another language: these must be stop words
    /// of one of `codes`.
    pub fn is_stop_word_of(&self, word: &str, codes: impl Iterator<Item = impl AsRef<str>>) -> bool {
        let is_known = self.stop_words.contains_key(word);
        is_known && (!self.content_words.contains(word) || self.has_stop_word(word, codes))
    }

    /// Like [`is_stop_word_of`](Self::is_stop_word_of), but detects the language from the other stop words of `text`.
    pub fn is_stop_word_in(&self, word: &str, text: &str) -> bool {
        let Some(of) = self.stop_words.get(word) else { return false };
        if !self.content_words.contains(word) {
            return true;
        }
        let counts = self.stop_words_in(text);
        let most = |is_own: bool| {
            let of_these = counts.iter().enumerate().filter(|(place, _)| (of >> place & 1 == 1) == is_own);
            of_these.map(|(_, count)| *count).max().unwrap_or_default()
        };
        // The word itself does not count as evidence of its language.
        let others = most(true).saturating_sub(1);
        others > 0 && others >= most(false)
    }

    /// Returns `true` if a lower-case word is a stop word of one of the languages `codes` (two letters).
    pub fn has_stop_word(&self, word: &str, mut codes: impl Iterator<Item = impl AsRef<str>>) -> bool {
        let Some(of) = self.stop_words.get(word) else { return false };
        codes.any(|code| {
            self.tables.iter().position(|table| table.code == code.as_ref()).is_some_and(|at| of >> at & 1 == 1)
        })
    }

    /// Returns `true` if a lower-case word is a stop word of English, the first language of `tables`.
    pub fn is_english_stop_word(&self, word: &str) -> bool {
        self.stop_words.get(word).is_some_and(|of| of & 1 == 1)
    }

    /// Returns the words by which a request to list or to cancel reminders names one of them: "bins" in "cancel the bins
    /// reminder".
    pub fn reminder_named(&self, ask: &str) -> String {
        let phrases = || self.tables.iter().flat_map(|language| &language.reminders);
        let is_of_phrase = |plain: &String| phrases().any(|phrase| phrase.split(' ').any(|part| part == plain));
        let is_of_request = |word: &String| words(word).iter().any(is_of_phrase);
        let names = |word: &String| {
            word.contains(char::is_alphabetic) && !self.stop_words.contains_key(word) && !is_of_request(word)
        };
        lower_words(ask).into_iter().filter(names).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn greets(&self, word: &str) -> bool {
        let word = words(word).join(" ");
        self.tables.iter().any(|table| table.lists.greetings.contains(&word))
    }

    /// Returns `true` if a lower-case word alone is a greeting or thanks in any language.
    pub fn is_courtesy(&self, word: &str) -> bool {
        self.tables.iter().any(|table| table.lists.greetings.contains(word) || table.lists.thanks.contains(word))
    }

    /// Returns `true` if a text asks a question: it has a question mark outside links, or begins like a question in its
    /// likely languages ("was machen wir" is a question in German, "was there twice" is not one in English).
    pub fn is_question(&self, text: &str) -> bool {
        let has_mark = |word: &str| {
            let link = word.find("://").or_else(|| word.find("www."));
            // A question mark inside a link does not count, but one after it ends the sentence.
            ends_like_question(word) || word[..link.unwrap_or(word.len())].contains(QUESTION_MARKS)
        };
        if text.split_whitespace().any(has_mark) {
            return true;
        }
        let head = text.get(..text.floor_char_boundary(OPENING)).unwrap_or(text);
        let opening = words(head);
        self.likely(head).any(|language| language.begins_question(&opening))
    }

    /// Returns the number of words about the chat's members, their messages or their plans: the largest among the
    /// likely languages of the text. A question with such words is rarely about general knowledge.
    pub fn ours_in(&self, text: &str) -> usize {
        let said = words(text);
        let counts =
            self.likely(text).map(|language| said.iter().filter(|word| language.lists.ours.contains(word)).count());
        counts.max().unwrap_or_default()
    }

    /// Returns `true` if the beginning of a question shows that it continues the previous question or answer.
    pub fn goes_on(&self, question: &str) -> bool {
        let said = words(question);
        self.likely(question).any(|language| begins_with(&said, &language.lists.goes_on))
    }

    /// Returns `true` if the beginning of a text refers to what was said before, so that the text cannot be understood
    /// alone ("and that too", "yes, because …").
    pub fn looks_back(&self, text: &str) -> bool {
        let said = words(text.get(..text.floor_char_boundary(OPENING)).unwrap_or(text));
        self.likely(text).any(|language| {
            let TriggerLists { goes_on, pointers, consents, thanks, .. } = &language.lists;
            [goes_on, pointers, consents, thanks].into_iter().any(|list| begins_with(&said, list))
        })
    }

    /// Returns `true` if a question addresses the group or one of its members ("does anybody know").
    pub fn is_to_group(&self, question: &str) -> bool {
        let said = words(question);
        self.likely(question).any(|language| has_phrase(&said, &language.lists.to_group))
    }

    /// Returns `true` if a question asks for a number ("how many", "what budget").
    pub fn asks_for_amount(&self, question: &str) -> bool {
        let said = words(question);
        self.likely(question).any(|language| has_phrase(&said, &language.lists.amounts))
    }

    /// Returns the words for a time in a request for missed messages: "since yesterday" in "what did I miss since
    /// yesterday?" and in "was habe ich seit gestern verpasst?". Where several parts of it may be the time, returns
    /// each.
    pub fn missed_since(&self, ask: &str) -> Vec<String> {
        const MOST_WORDS: usize = 12;
        let said: Vec<&str> = ask.split_whitespace().collect();
        let ends = |start: usize| start + 1..=said.len();
        let spans = (0..said.len()).flat_map(|start| ends(start).map(move |end| start..end));
        let time = |span: Range<usize>| {
            let others = words(&[&said[..span.start], &said[span.end..]].concat().join(" "));
            let time = said[span].join(" ").to_lowercase();
            let time = time.trim_matches(|c: char| !c.is_alphanumeric());
            let is_missed = |it: &LanguagePhrases| it.names_time(time) && it.asks_what_was_missed(&others);
            self.tables.iter().any(is_missed).then(|| time.to_owned())
        };
        spans.filter(|_| said.len() <= MOST_WORDS).filter_map(time).collect()
    }

    /// Returns the words to search for if `ask` asks to search the chat ("search for the wood").
    pub fn searched<'a>(&self, ask: &'a str) -> Option<&'a str> {
        let ask = ask.trim();
        // In English, "such a plan" is no search, although "such" is one in German.
        let likely: Vec<_> = self.likely(ask).collect();
        let ends = ask.match_indices(char::is_whitespace).map(|(end, _)| end).take(LONGEST);
        let is_search = |end: &usize| {
            let head = words(ask.get(..*end).unwrap_or_default()).join(" ");
            likely.iter().any(|language| language.lists.search.contains(&head))
        };
        let is_last = |start: &usize| {
            let tail = words(ask.get(*start..).unwrap_or_default()).join(" ");
            likely.iter().any(|language| language.lists.search_last.contains(&tail))
        };
        let starts = ask.match_indices(char::is_whitespace).map(|(start, _)| start).rev().take(LONGEST);
        let sought = match ends.filter(is_search).last() {
            Some(end) => ask.get(end..)?.trim(),
            None => ask.get(..starts.filter(is_last).last()?)?.trim(),
        };
        // "Find what he wrote" is a question.
        let asks = likely.iter().any(|language| language.begins_question(&words(sought)));
        (!sought.is_empty() && !ends_like_question(sought) && !asks).then_some(sought)
    }

    /// Returns `true` if `ask` asks for the address of a page, and not for what it says ("what's the link to the
    /// call?").
    pub fn asks_for_link(&self, ask: &str) -> bool {
        let said = words(ask);
        self.tables.iter().any(|language| language.asks_for_link(&said))
    }

    /// Returns the number of words at the start of `ask` that ask for a reminder: 2 in "remind us tomorrow", 0 if they
    /// come last. `None` if it asks for none.
    pub fn reminder_prefix_len(&self, ask: &str) -> Option<usize> {
        let said = words(ask);
        self.tables.iter().find_map(|language| language.words_to_remind(&said))
    }

    /// Returns the text of a note without "add" before it, or the word for it in the chat's language (ISO 639-3):
    /// "lisa" means "add" in Estonian, and elsewhere it is a name. A word with a capital letter may be one everywhere.
    pub fn without_add<'a>(&self, note: &'a str, chat_language: &str) -> Option<&'a str> {
        let (first, rest) = note.trim_start().split_once(char::is_whitespace)?;
        let word = first.trim_end_matches([':', ',']);
        let is_own = |table: &&LanguagePhrases| table.code == "en" || table.long_code == chat_language;
        let is_add = self.tables.iter().filter(is_own).any(|table| table.lists.add.iter().any(|add| add == word));
        Some(rest.trim_start()).filter(|rest| is_add && !rest.is_empty())
    }

    /// Returns the text without a word for "delete", in any language, at its beginning or its end: "elimina n1" and "n1
    /// löschen". `None` if there is no such word.
    pub fn without_delete<'a>(&self, text: &'a str) -> Option<&'a str> {
        let text = text.trim();
        let is_delete = |word: &&str| {
            let word = words(word).join(" ");
            self.tables.iter().any(|table| table.lists.delete.contains(&word))
        };
        let first = text.split_whitespace().next().filter(is_delete);
        let last = || text.split_whitespace().next_back().filter(is_delete);
        first.and_then(|first| text.strip_prefix(first)).or_else(|| text.strip_suffix(last()?)).map(str::trim)
    }

    /// Returns the languages of which a text contains the most stop words, or all languages if it contains none.
    fn likely(&self, text: &str) -> impl Iterator<Item = &LanguagePhrases> {
        let counts = self.stop_words_in(text);
        let most = counts.iter().copied().max().unwrap_or_default();
        self.tables.iter().zip(counts).filter(move |(_, count)| *count == most).map(|(language, _)| language)
    }

    /// Counts the stop words of each language in a text, in the order of `tables`.
    fn stop_words_in(&self, text: &str) -> Vec<u32> {
        let mut counts = vec![0_u32; self.tables.len()];
        let lower = text.to_lowercase();
        for of in telling_words(&lower).take(TELLING_WORDS).filter_map(|word| self.stop_words.get(word)) {
            for (place, count) in counts.iter_mut().enumerate() {
                *count += of >> place & 1;
            }
        }
        counts
    }

    /// Returns the languages (ISO 639-3) with the number of their stop words in a text. Words that carry meaning in
    /// another language do not count.
    pub fn common_words(&self, text: &str) -> Vec<(&str, u32)> {
        let lower = text.to_lowercase();
        let telling: Vec<&str> = telling_words(&lower).filter(|word| !self.content_words.contains(*word)).collect();
        let counts = self.stop_words_in(&telling.join(" "));
        self.tables.iter().map(|table| table.long_code).zip(counts).collect()
    }

    /// Returns the share of the words of a text that are stop words of a language (ISO 639-3).
    pub fn stop_word_share(&self, text: &str, code: &str) -> f64 {
        let Some(place) = self.tables.iter().position(|table| table.long_code == code) else { return 0.0 };
        let lower = text.to_lowercase();
        let words: Vec<&str> = telling_words(&lower).filter(|word| word.contains(char::is_alphabetic)).collect();
        let is_common = |word: &&&str| self.stop_words.get(**word).is_some_and(|of| of >> place & 1 == 1);
        share(words.iter().filter(is_common).count(), words.len())
    }

    /// Returns the stop words of the language `own` (ISO 639-3) in a lower-case text that are no word of `other` in any
    /// list.
    pub fn words_of_one<'t>(&self, lower: &'t str, own: &str, other: &str) -> Vec<&'t str> {
        let place = |code: &str| self.tables.iter().position(|table| table.long_code == code);
        let is_of = |word: &str, place: usize| self.stop_words.get(word).is_some_and(|of| of >> place & 1 == 1);
        let is_known = |word: &str, place: usize| {
            let LanguagePhrases { fillers, lists, .. } = &self.tables[place];
            is_of(word, place) || fillers.contains(word) || lists.phrases.contains(word)
        };
        let (Some(own), other) = (place(own), place(other)) else { return Vec::new() };
        let is_own = |word: &&str| is_of(word, own) && !self.content_words.contains(*word);
        let told = telling_words(lower).filter(is_own);
        told.filter(|word| other.is_none_or(|other| !is_known(word, other))).collect()
    }

    /// Returns `true` if a text begins like a question of the language (ISO 639-3).
    pub fn asks_in(&self, text: &str, code: &str) -> bool {
        let said = words(text);
        self.tables.iter().any(|table| table.long_code == code && table.begins_question(&said))
    }

    /// Returns the two-letter codes of the languages of which a text contains the most stop words, or all codes if it
    /// contains none.
    pub fn likely_codes(&self, text: &str) -> Vec<&str> {
        self.likely(text).map(|language| language.code).collect()
    }
}

impl PhraseSet {
    fn contains(&self, phrase: &str) -> bool {
        self.0.contains(phrase)
    }
}

impl From<Vec<String>> for PhraseSet {
    fn from(list: Vec<String>) -> Self {
        Self(list.iter().map(|phrase| words(phrase).join(" ")).collect())
    }
}

impl LanguagePhrases {
    fn of(language: &'static LanguageFile, mut lists: TriggerLists) -> Self {
        lists.phrases.0.extend(lists.ideas.0.iter().chain(&lists.choices.0).cloned());
        let of = |sets: &[&PhraseSet]| sets.iter().flat_map(|set| set.0.clone()).collect::<HashSet<String>>();
        // Words that refer to messages count as fillers, because they also occur inside phrases: *sellest* ("of this")
        // in "mida sa sellest arvad".
        let mut fillers = of(&[&lists.fillers, &lists.politeness, &lists.pointers]);
        fillers.retain(|phrase| !phrase.contains(' '));
        let bare = |phrase: String| {
            let words: Vec<&str> = phrase.split(' ').filter(|word| !fillers.contains(*word)).collect();
            (!words.is_empty()).then(|| words.join(" "))
        };
        let generic = of(&[&lists.politeness, &lists.pointers, &lists.phrases]).into_iter().filter_map(bare).collect();
        let bare_of = |set: &PhraseSet| set.0.iter().cloned().filter_map(bare).collect();
        let (missed, summary, reminders) = (bare_of(&lists.missed), bare_of(&lists.summary), bare_of(&lists.reminders));
        let (times, time_beginnings) = time_words(language);
        let mut around = of(&[&lists.fillers, &lists.politeness]);
        around.retain(|phrase| !lists.thanks.contains(phrase));
        Self {
            code: &language.short,
            long_code: &language.code,
            lists,
            fillers,
            generic,
            missed,
            summary,
            reminders,
            times,
            time_beginnings,
            around,
        }
    }

    fn begins_question(&self, said: &[String]) -> bool {
        begins_with(said, &self.lists.questions)
    }

    /// Returns `true` if lower-case words begin or end with "since", or are "today" or "yesterday".
    fn names_time(&self, said: &str) -> bool {
        let RecapWords { since, today, yesterday, .. } = &texts(self.long_code).recap.words;
        let has = |list: &[String], said: Option<&str>| list.iter().any(|word| Some(word.as_str()) == said);
        has(since, said.split(' ').next())
            || has(since, said.split(' ').next_back())
            || has(today, Some(said))
            || has(yesterday, Some(said))
    }

    /// Returns `true` if `asked` asks what the member missed, ignoring fillers.
    pub(super) fn asks_what_was_missed(&self, asked: &[String]) -> bool {
        self.missed.contains(&self.without_fillers(asked).join(" ")) || self.asks_about_absence(asked)
    }

    /// Returns `true` if `asked` begins or ends with a phrase for the member's absence, and the other words ask what
    /// happened and name nothing ("anything happen since I left?").
    fn asks_about_absence(&self, asked: &[String]) -> bool {
        let is_absence = |said: &[String]| self.lists.absent.contains(&said.join(" "));
        let is_empty_word = |word: &String| self.fillers.contains(word) || self.lists.stop_words.contains(word);
        let asks_what_happened = |others: &[String]| {
            let (happened, others): (Vec<_>, Vec<_>) =
                others.iter().partition(|word| self.lists.happened.contains(word.as_str()));
            !happened.is_empty() && others.into_iter().all(is_empty_word)
        };
        (1..asked.len()).any(|place| {
            let (head, tail) = asked.split_at(place);
            is_absence(tail) && asks_what_happened(head) || is_absence(head) && asks_what_happened(tail)
        })
    }

    /// Returns `true` if `asked` asks for a summary, and of nothing in particular, ignoring fillers.
    pub(super) fn asks_for_summary(&self, asked: &[String]) -> bool {
        let is_summary = |said: &[String]| self.summary.contains(&self.without_fillers(said).join(" "));
        is_summary(asked) || is_summary(self.without_politeness(asked))
    }

    pub(super) fn asks_for_link(&self, asked: &[String]) -> bool {
        let (link, last) = (&self.lists.link, &self.lists.link_last);
        let polite = self.without_politeness(asked);
        let begins =
            |said: &[String]| (2..=said.len().min(LONGEST)).any(|length| link.contains(&said[..length].join(" ")));
        let is_all = match polite {
            [word, rest @ ..] => link.contains(word) && rest.iter().all(|word| self.fillers.contains(word)),
            [] => false,
        };
        is_all
            || begins(asked)
            || begins(polite)
            || (0..asked.len()).any(|start| last.contains(&asked[start..].join(" ")))
    }

    /// Returns `true` if `asked` asks to list or to cancel reminders, ignoring fillers: "which reminders are set",
    /// "cancel the wine reminder", "erinnerung löschen".
    pub(super) fn asks_for_reminders(&self, asked: &[String]) -> bool {
        self.names_reminders(asked) || self.names_reminders(self.without_politeness(asked))
    }

    fn names_reminders(&self, asked: &[String]) -> bool {
        /// Most words behind a request for the list, such as "set". With more, it is a question about something else:
        /// "which reminders did Ann send us?"
        const BEHIND: usize = 1;
        /// Most other words of a request to cancel one.
        const OTHERS: usize = 2;
        let rest = self.without_fillers(asked);
        let has = |words: &[&str]| self.reminders.contains(&words.join(" "));
        let lengths = |others: usize| rest.len().saturating_sub(others).max(2)..=rest.len().min(LONGEST);
        // One word may stand between the verb and the noun.
        let skips_word = |length: usize| length > 2 && has(&[&rest[..1], &rest[2..length]].concat());
        let cancels = |length: usize| has(&rest[..length]) || skips_word(length) || has(&rest[rest.len() - length..]);
        has(&rest)
            || lengths(BEHIND).any(|length| has(&rest[..length]))
            || !self.begins_question(asked) && lengths(OTHERS).any(cancels)
    }

    /// Returns the number of words at the start of `said` that ask for a reminder, 0 if they stand elsewhere.
    fn words_to_remind(&self, said: &[String]) -> Option<usize> {
        /// Largest number of words of a time before the words that ask: "tomorrow at 9 remind me".
        const TIME_WORDS: usize = 8;
        let fillers = |words: &[String]| words.iter().take_while(|word| self.fillers.contains(*word)).count();
        let first = |words: &[String]| (0..=fillers(words)).find_map(|begin| self.remind_end(words, begin, true));
        let asks = |begin: usize| self.begins_question(&said[begin..]);
        let has_that = |end: usize| said[end..].iter().any(|word| self.lists.that.contains(word));
        let is_fact = |end: usize| asks(end) && !has_that(end);
        // "Could you please remind me". "Do you have a reminder" asks for none.
        let places = self.places_without_politeness(said);
        let rest: Vec<String> = places.iter().map(|place| said[*place].clone()).collect();
        let polite_first = || {
            let end = (0..=fillers(&rest)).find_map(|begin| self.remind_end(&rest, begin, false))?;
            Some(places[end - 1] + 1)
        };
        if let Some(end) = first(said).or_else(polite_first) {
            return (!is_fact(end)).then_some(end);
        }
        // "Remind Ben tomorrow to call", but not "remind Ben what we said".
        let is_of_others = |end: &usize| self.lists.remind_others.contains(&rest[..*end].join(" "));
        if let Some(end) = (1..=2.min(rest.len())).find(is_of_others) {
            let behind = places[end - 1] + 1;
            let is_fact = (behind..said.len().min(behind + 3)).any(|begin| asks(begin) && !has_that(begin));
            return (!is_fact && behind < said.len()).then_some(behind);
        }
        // "Kas" begins a question in Estonian, but not in "kas saad".
        let is_polite = |place: &usize| !places.contains(place) || self.fillers.contains(&said[*place]);
        let lead = (0..said.len()).take_while(is_polite).count();
        let is_lead_polite = (0..lead).any(|place| !places.contains(&place));
        let polite = if is_lead_polite { lead } else { said.len() - self.without_politeness(said).len() };
        let is_request = |begin: usize, end: usize| {
            let is_statement = !(polite..begin).any(asks);
            // In Turkish the verb comes last, in German after "kannst du", or before "daran erinnern, dass".
            let is_last = end == said.len() || self.lists.that.contains(&said[begin]);
            let is_behind_time = begin <= TIME_WORDS && said[..begin].iter().all(|word| self.is_of_time(word));
            is_last && is_statement && (end == said.len() || !asks(end))
                || is_behind_time && self.remind_end(said, begin, false).is_some() && !is_fact(end)
        };
        let is_request_at = |begin: usize| self.remind_end(said, begin, true).is_some_and(|end| is_request(begin, end));
        (0..said.len()).any(is_request_at).then_some(0)
    }

    /// Returns the place behind a phrase such as "remind me" at `begin`. Nouns such as "reminder" count if `may_be_noun`.
    fn remind_end(&self, said: &[String], begin: usize, may_be_noun: bool) -> Option<usize> {
        let is_noun = |word: &str| self.reminders.iter().any(|phrase| phrase.split(' ').any(|part| part == word));
        let is_known = |length: &usize| {
            let phrase = said[begin..begin + length].join(" ");
            self.lists.remind.contains(&phrase) && (may_be_noun || *length > 1 || !is_noun(&phrase))
        };
        let lengths = 1..=said.len().saturating_sub(begin).min(LONGEST);
        lengths.rev().find(is_known).map(|length| begin + length)
    }

    /// Returns the places of the words that belong to no polite phrase.
    fn places_without_politeness(&self, said: &[String]) -> Vec<usize> {
        let (mut places, mut place) = (Vec::new(), 0);
        while place < said.len() {
            let rest = self.without_politeness(&said[place..]).len();
            if place + rest == said.len() {
                places.push(place);
                place += 1;
            } else {
                place = said.len() - rest;
            }
        }
        places
    }

    /// Returns `true` for a number and for a word that belongs to times, such as "tomorrow" and "at".
    fn is_of_time(&self, word: &str) -> bool {
        word.starts_with(|c: char| c.is_ascii_digit())
            || self.times.contains(word)
            || self.time_beginnings.iter().any(|beginning| word.starts_with(beginning.as_str()))
    }

    /// Returns the words behind a polite phrase at their beginning, such as "can you".
    fn without_politeness<'a>(&self, said: &'a [String]) -> &'a [String] {
        let is_polite = |length: &usize| self.lists.politeness.contains(&said[..*length].join(" "));
        let length = (1..=said.len().min(LONGEST)).rev().find(is_polite);
        &said[length.unwrap_or(0)..]
    }

    fn without_fillers<'a>(&self, said: &'a [String]) -> Vec<&'a str> {
        said.iter().map(String::as_str).filter(|word| !self.fillers.contains(*word)).collect()
    }

    /// Returns `true` if `asked` has no subject of its own: it consists of fillers and of phrases that refer to
    /// messages or ask in general.
    pub(super) fn only_points(&self, asked: &[String]) -> bool {
        is_made_of(&self.without_fillers(asked), |phrase| self.generic.contains(phrase))
    }

    /// Returns `true` if `said` consists of phrases that refer to messages or ask in general, with no other words.
    pub(super) fn only_asks(&self, said: &[String]) -> bool {
        is_made_of(said, |phrase| self.lists.pointers.contains(phrase) || self.lists.phrases.contains(phrase))
    }

    /// Returns `true` if `asked` asks for ideas about what was said, and of nothing in particular.
    pub(super) fn asks_for_ideas(&self, asked: &[String]) -> bool {
        self.only_asks_by(&self.lists.ideas, asked)
    }

    /// Returns `true` if `asked` asks for a poll of things named before, with no words of its own. Unless it `is_short`, it
    /// needs a word such as "make".
    pub(super) fn asks_for_poll(&self, asked: &[String], is_short: bool) -> bool {
        let TriggerLists { polls, poll_words, fillers, politeness, pointers, .. } = &self.lists;
        let lists = [polls, poll_words, fillers, politeness, pointers];
        let wants_one = is_short || has_phrase(asked, poll_words);
        has_phrase(asked, polls)
            && wants_one
            && is_made_of(asked, |phrase| lists.iter().any(|list| list.contains(phrase)))
    }

    /// Returns `true` if `asked` chooses from things named before, with no words of its own.
    pub(super) fn asks_to_choose(&self, asked: &[String]) -> bool {
        self.only_asks_by(&self.lists.choices, asked)
    }

    fn only_asks_by(&self, phrases: &PhraseSet, asked: &[String]) -> bool {
        let TriggerLists { fillers, politeness, pointers, .. } = &self.lists;
        let lists = [phrases, fillers, politeness, pointers];
        has_phrase(asked, phrases) && is_made_of(asked, |phrase| lists.iter().any(|list| list.contains(phrase)))
    }

    pub(super) fn consents(&self, said: &[String]) -> bool {
        has_phrase(said, &self.lists.consents)
    }

    /// Returns `true` if `said` consists of greetings, wishes, thanks, a yes or laughter. A short text with a greeting
    /// may have up to `names` other words.
    pub(super) fn only_small_talk(&self, said: &[String], names: usize) -> bool {
        let is_known = |phrase: &str| {
            self.greets_in(phrase)
                || is_laughter(phrase)
                || [&self.lists.thanks, &self.lists.consents].into_iter().any(|list| list.contains(phrase))
        };
        // Unknown words may be names, but only next to a greeting, or one next to thanks.
        let is_named =
            |unknown| has_phrase(said, &self.lists.greetings) || unknown == 1 && has_phrase(said, &self.lists.thanks);
        let unknown = unknown_words(said, is_known);
        unknown == 0 || unknown <= names && unknown < said.len() && said.len() <= NAMED_GREETING && is_named(unknown)
    }

    /// Returns `true` if `said` asks others how they are, perhaps with a greeting.
    pub(super) fn only_courtesies(&self, said: &[String]) -> bool {
        has_phrase(said, &self.lists.courtesies) && is_made_of(said, |phrase| self.greets_in(phrase))
    }

    fn greets_in(&self, phrase: &str) -> bool {
        self.around.contains(phrase)
            || [&self.lists.greetings, &self.lists.courtesies].into_iter().any(|list| list.contains(phrase))
    }

    /// Returns `true` if `said` asks about the bot itself ("who are you"), perhaps with greetings and polite words.
    pub(super) fn asks_about_bot(&self, said: &[String]) -> bool {
        has_phrase(said, &self.lists.about_bot) && self.only_meets(said)
    }

    /// Returns `true` if `said` consists of greetings, questions about the bot itself, wishes for help, and polite words.
    pub(super) fn only_meets(&self, said: &[String]) -> bool {
        let TriggerLists { greetings, courtesies, about_bot, help, .. } = &self.lists;
        let lists = [greetings, courtesies, about_bot, help];
        let is_new = |phrase: &str| lists.iter().any(|list| list.contains(phrase));
        lists.iter().any(|list| has_phrase(said, list))
            && is_made_of(said, |phrase| is_new(phrase) || self.around.contains(phrase))
    }

    /// Returns `true` if `said` asks what the bot stores or reads, or wishes that it deletes or stops something, with
    /// no other words ("who can read my messages"), or begins to ask it to delete a message.
    pub(super) fn asks_about_privacy(&self, said: &[String]) -> bool {
        let TriggerLists { privacy, private_asks, private_things, private_first, .. } = &self.lists;
        let lists = [privacy, private_asks, private_things];
        let is_known = |phrase: &str| self.around.contains(phrase) || lists.iter().any(|list| list.contains(phrase));
        let is_whole = has_phrase(said, privacy) || has_phrase(said, private_asks) && has_phrase(said, private_things);
        is_whole && is_made_of(said, is_known) || begins_with(self.without_politeness(said), private_first)
    }

    /// Returns `true` if `said` consists of thanks, greetings and polite words, and has at least one word of thanks.
    pub(super) fn only_thanks(&self, said: &[String]) -> bool {
        let around = |phrase: &str| self.around.contains(phrase) || self.lists.greetings.contains(phrase);
        is_made_of(said, |phrase| self.lists.thanks.contains(phrase) || around(phrase)) && !is_made_of(said, around)
    }
}

/// Returns the words of the lists for times in the table `recall` of a language, and the beginnings of words there.
fn time_words(language: &LanguageFile) -> (HashSet<String>, Vec<String>) {
    const LISTS: &str = "time months weekdays today tomorrow after_tomorrow next_week day week month year minute hour \
                         half_hour quarter_hour ahead after at oclock half_to half_past quarter_past quarter_to morning noon \
                         afternoon evening night midnight before_time on_the counts clock_numbers";
    let recall = language.tables.get("recall").and_then(toml::Value::as_table);
    let lists = LISTS.split(' ').filter_map(|name| recall?.get(name));
    let texts = lists.flat_map(|list| match list {
        toml::Value::Table(numbers) => numbers.keys().map(String::as_str).collect(),
        toml::Value::Array(rows) => rows.iter().filter_map(toml::Value::as_str).collect(),
        text => text.as_str().into_iter().collect::<Vec<_>>(),
    });
    let parts: HashSet<&str> = texts.flat_map(|text| text.split([',', '|', ' '])).collect();
    let (open, whole): (Vec<&str>, Vec<&str>) = parts.into_iter().partition(|part| part.ends_with('*'));
    let whole = whole.into_iter().flat_map(words).collect();
    (whole, open.into_iter().flat_map(words).collect())
}

/// Returns the words of a text that may show its language: without English endings such as the "s" of "yesterday's", which
/// is a stop word of French.
fn telling_words(text: &str) -> impl Iterator<Item = &str> {
    const ENDINGS: [&str; 7] = ["s", "t", "d", "m", "ll", "re", "ve"];
    let tokens = text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’'));
    let parts = tokens.flat_map(|token| token.split(['\'', '’']).enumerate());
    parts.filter(|(place, part)| !part.is_empty() && (*place == 0 || !ENDINGS.contains(part))).map(|(_, part)| part)
}

/// Returns the share of `count` in `of`; 0 if `of` is 0.
pub fn share(count: usize, of: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the number of words of some messages")]
    let (count, of) = (count as f64, of.max(1) as f64);
    count / of
}

/// Question marks of all scripts but the Greek one, which is a semicolon.
pub const QUESTION_MARKS: [char; 6] = ['?', '？', '؟', '¿', '՞', '፧'];

/// Returns `true` if a text ends with a question mark, or with the word that makes a sentence a question in Chinese and
/// Japanese.
pub fn ends_like_question(text: &str) -> bool {
    let asks_in_greek = || text.strip_suffix([';', '\u{37e}']).is_some_and(|said| said.ends_with(is_greek));
    text.ends_with(QUESTION_MARKS) || text.trim_end_matches('。').ends_with(['吗', '嗎', '呢', 'か']) || asks_in_greek()
}

fn begins_with(words: &[String], phrases: &PhraseSet) -> bool {
    (1..=words.len().min(LONGEST)).any(|length| phrases.contains(&words[..length].join(" ")))
}

/// Returns `true` for laughter of any length ("hahahaha", "ахахаха"): a long word of one or two letters.
fn is_laughter(word: &str) -> bool {
    const SHORTEST: usize = 6;
    let letters: Vec<char> = word.chars().collect();
    letters.len() >= SHORTEST
        && letters.iter().collect::<HashSet<_>>().len() <= 2
        && letters.iter().all(|c| c.is_alphabetic())
}

/// Returns `true` if `words` can be divided into phrases that are all `known`, or is empty.
fn is_made_of(words: &[impl Borrow<str>], known: impl Fn(&str) -> bool) -> bool {
    unknown_words(words, known) == 0
}

/// Returns the smallest possible number of words that are in no `known` phrase.
fn unknown_words(words: &[impl Borrow<str>], known: impl Fn(&str) -> bool) -> usize {
    let mut left = vec![0; words.len() + 1];
    for end in 1..=words.len() {
        let starts = end.saturating_sub(LONGEST)..end;
        let covered = starts.filter(|start| known(&words[*start..end].join(" "))).map(|start| left[start]).min();
        left[end] = covered.unwrap_or(usize::MAX).min(left[end - 1] + 1);
    }
    left[words.len()]
}

/// Returns `true` if any adjacent words are one of the phrases.
fn has_phrase(words: &[String], phrases: &PhraseSet) -> bool {
    (0..words.len()).any(|start| begins_with(&words[start..], phrases))
}

#[cfg(test)]
mod tests;
