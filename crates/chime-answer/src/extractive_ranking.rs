//! Chooses the messages that an answer without a model quotes, by ranking the messages of a window.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::sanitize::{clean_name, escape_markdown, gist};
use crate::support::has_number;
use chime_core::embed::Embedder;
use chime_core::texts::Texts;
use chime_core::trigger::{Languages, ends_like_question, is_generic, is_small_talk};
use chime_core::{
    BotIdentity, EntityKind, Language, Message, Part, Reason, Role, WordStemmer, folded, is_unspaced, pieces,
    short_stem, split_words, utf16_slice, without_citations,
};
use chime_relevance::context::{ContextWindow, Entry};
use chime_relevance::retrieval::languages::{PhraseTable, all};
use chime_relevance::retrieval::names_time;
use chime_relevance::retrieval::words::words;

/// Maximum number of characters of each quoted message.
const QUOTE_CHARS: usize = 200;
/// Minimum number of characters of a content word.
const MIN_WORD_CHARS: usize = 3;
/// Score added for a message that contains all words of the question. For comparison, membership in the focus adds at
/// most 1.
const WORDS_OF_ASK: f64 = 2.0;
/// Share of a question's match that the answer to that question inherits. The match says how well a message fits the
/// words of the query.
const OF_QUESTION: f64 = 0.9;
/// Share of a message's match that a reply to it inherits, if the message is not a question.
const OF_REMARK: f64 = 0.5;
/// Maximum time between a question and the next message for that message to count as its answer without being a reply.
const ANSWERED_WITHIN: Duration = Duration::from_secs(30 * 60);
/// Minimum match (share of the question's words) of a message for it to count as an answer.
const ANSWER: f64 = 0.5;
/// Match of a time with a question for one. It is higher, since such a question also matches all numbers.
const TIME: f64 = 0.8;
/// A message with at least this many content words gets the full bonus `SAYS_SOMETHING`.
const ENOUGH_WORDS: usize = 6;
const SAYS_SOMETHING: f64 = 0.3;
/// A question to the bot with fewer content words depends on an earlier one: "@bot cheaper". Without spaces between
/// words, each two letters count as one.
const TELLING_ASK: usize = 4;
const TELLING_UNSPACED_ASK: usize = 8;
/// Minimum cosine at which a message is on the subject of the question. At `SAME`, it counts as much as a message with
/// all the same words.
const CLOSE: f64 = 0.3;
const SAME: f64 = 0.6;
/// Cosine from which a message certainly answers the question, so that other messages with a time do not matter.
const CLEAR: f64 = 0.45;
/// Minimum share of the best cosine at which further messages are shown too.
const NEARLY_BEST: f64 = 0.7;
/// Minimum number of content words of a reply that is shown with the message that it replies to.
const REPLY_WORDS: usize = 3;
/// Minimum weight of the words that a statement shares with what is shown to count as an update of it. A word that two
/// messages have weighs .7.
const SAME_MATTER: f64 = 0.7;
/// Maximum number of updates that are shown.
const UPDATES: usize = 2;
/// Number of messages up to which others of the focus, and those said next, are added to the ones that match: an answer
/// may have no word of its question.
const FILLED: usize = 4;
/// Number of messages after a shown one that may be shown too.
const NEXT: usize = 2;
/// Number of messages before a trigger without words among which the question that it points at is looked for.
const LAST_MESSAGES: usize = 3;
/// Share of a match for a word that only begins like one of the question, in languages whose forms of words are known.
const SAME_BEGINNING: f64 = 0.7;
/// Minimum share of the question's words in a message outside the focus. A smaller share is considered a coincidence.
const COINCIDENCE: f64 = 0.3;

/// A question, and the bot that was asked.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The question without the mention of the bot.
    pub ask: &'a str,
    pub bot: &'a BotIdentity,
    /// Language of the chat.
    pub language: Language,
    /// Embedding model, for matches in other words or another language. `None` if there is none.
    pub embedder: Option<&'a Embedder>,
}

/// Returns at most `most` entries that answer the question best, in order of time. An entry ranks by its score in the
/// focus and by the question's words in it; the answer to a matching question ranks with it. Triggers and the bot's own
/// messages are left out unless the trigger replies to them.
pub fn most_telling<'w>(window: &'w ContextWindow, query: Query<'_>, most: usize) -> Vec<&'w Entry> {
    let mut search = Search::new(window, query);
    let matched = search.matches();
    // If a message matches the question in words or in meaning, such messages come first: the rest of the focus would
    // hide them.
    let is_found = search.is_found(&matched);
    if !is_found && search.is_about_something_else(&matched) {
        return Vec::new();
    }
    let mut places = search.ranked(&matched, is_found);
    places.truncate(most);
    let may_show = |place: usize| search.may_show(place);
    add_replies(window, &mut places, most, |place| may_show(place) && search.words.counts[place] >= REPLY_WORDS);
    if is_found {
        search.add_updates(&mut places, most);
        let filled = match search.open {
            // A tag without words is about the whole subject.
            Some(_) => most,
            None if is_answered(window, &places) => places.len(),
            None => most.min(FILLED),
        };
        add_focus(window, &mut places, filled, may_show);
        add_next(window, &mut places, filled, may_show);
    }
    places.sort_unstable();
    places.into_iter().filter_map(|place| window.entries.get(place)).collect()
}

/// Search of a window for the answer to a question.
struct Search<'w, 'q> {
    window: &'w ContextWindow,
    query: Query<'q>,
    /// The message whose words are searched for, if the question to the bot has none of its own.
    open: Option<usize>,
    words: QueryWords,
    /// `true` if the question names a day or a member: it wants the messages of that day or member, not those with that
    /// word.
    is_named: bool,
    /// `true` if the question was asked before, and nothing else is found.
    shows_repeats: bool,
}

impl<'w, 'q> Search<'w, 'q> {
    fn new(window: &'w ContextWindow, query: Query<'q>) -> Self {
        let is_named = window.entries.iter().any(|entry| entry.reason == Reason::Named);
        let open = if is_named { None } else { open_question(window, query) };
        let asked = match open {
            Some(place) => &window.entries[place].message.message.text,
            None if is_named => "",
            None => query.ask,
        };
        Self {
            window,
            query,
            open,
            words: QueryWords::of(window, asked, open, query.language),
            is_named,
            shows_repeats: false,
        }
    }

    fn may_show(&self, place: usize) -> bool {
        let entry = &self.window.entries[place];
        let is_repeat = self.open.is_none() && self.words.is_repeat(self.window, place) && self.has_words();
        let is_repeat = is_repeat && !self.shows_repeats;
        entry.reason.is_anchor() || (says_something(entry) && !is_tag(entry, self.query.bot) && !is_repeat)
    }

    fn has_words(&self) -> bool {
        !is_generic(self.query.ask, Languages::shipped())
    }

    /// Returns how well each entry, or the question that it answers, fits what is searched for, 0 to 1.
    fn matches(&mut self) -> Vec<f64> {
        let by_words = self.with_replies(&self.words.matched);
        if self.is_found(&by_words) || self.is_named || (self.open.is_none() && !self.has_words()) {
            return by_words;
        }
        let may_show = |place| self.open != Some(place) && self.may_show(place);
        let by_meaning = self.with_replies(&by_meaning(self.window, self.searched(), may_show));
        if self.is_found(&by_meaning) {
            return by_meaning;
        }
        self.shows_repeats = true;
        if self.is_found(&by_words) { by_words } else { by_meaning }
    }

    /// Returns the query with the text that is searched for.
    fn searched(&self) -> Query<'_> {
        match self.open {
            Some(place) => Query { ask: &self.window.entries[place].message.message.text, ..self.query },
            None => self.query,
        }
    }

    fn with_replies(&self, direct: &[f64]) -> Vec<f64> {
        (0..direct.len()).map(|place| direct[place].max(taken_over(self.window, direct, place))).collect()
    }

    fn is_found(&self, matched: &[f64]) -> bool {
        (0..matched.len()).any(|place| matched[place] >= ANSWER && self.may_show(place))
    }

    /// Returns `true` if nobody spoke of the subject of a question: it has several content words, and no entry has any.
    fn is_about_something_else(&self, matched: &[f64]) -> bool {
        let is_said = (0..matched.len()).any(|place| self.words.matched[place] > 0.0 && self.may_show(place));
        // In a language that the embedding model does not cover, nothing is known about what was spoken of.
        let is_covered = self.query.embedder.is_none_or(|embedder| !embedder.embed(self.query.ask).is_empty());
        let has_subject = self.open.is_none() && self.has_words() && self.words.asked > 1;
        is_covered && !is_said && has_subject && self.window.anchor.is_none() && !self.is_named
    }

    /// Adds to the shown places, of which there are at most `most`, later statements that may change what one of them
    /// says: each has a number or time too, and shares rare words with what is shown. They replace the worst ones.
    fn add_updates(&self, shown: &mut Vec<usize>, most: usize) {
        let entries = &self.window.entries;
        let text = |place: usize| entries[place].message.message.text.as_str();
        let is_question = |place: usize| Languages::shipped().is_question(text(place));
        let value = |place: usize| Value::of(text(place));
        let wanted = self.wanted_value();
        let shown_values = shown.iter().map(|place| value(*place)).fold(Value::default(), Value::or).and(wanted);
        let is_value = |place: usize| value(place).and(shown_values) != Value::default();
        let Some(first) = shown.iter().copied().filter(|place| is_value(*place)).min() else { return };
        let subject: BTreeSet<&String> = shown.iter().flat_map(|place| &self.words.said[*place]).collect();
        let shared = |place: usize| -> f64 {
            self.words.said[place]
                .iter()
                .filter(|stem| subject.contains(stem))
                .map(|stem| self.words.weight(stem))
                .sum()
        };
        let is_update = |place: &usize| {
            !shown.contains(place)
                && self.may_show(*place)
                && !is_question(*place)
                && is_value(*place)
                && shared(*place) >= SAME_MATTER
        };
        let mut updates: Vec<usize> = (first + 1..entries.len()).filter(is_update).collect();
        updates.sort_by(|a, b| shared(*b).total_cmp(&shared(*a)).then(b.cmp(a)));
        updates.truncate(UPDATES);
        shown.truncate(most.saturating_sub(updates.len()));
        shown.extend(updates);
    }

    /// Returns the kinds of values that answer what is searched for.
    fn wanted_value(&self) -> Value {
        let ask = self.searched().ask;
        let (has_time, has_number) = (words_of_when(ask).is_some(), Languages::shipped().asks_for_amount(ask));
        match has_time || has_number {
            true => Value { has_time, has_number },
            false => Value { has_time: true, has_number: true },
        }
    }

    /// Returns the places of the entries to show, best first.
    fn ranked(&self, matched: &[f64], is_found: bool) -> Vec<usize> {
        let entries = &self.window.entries;
        let has_focus = entries.iter().any(|entry| entry.part() == Part::Focus);
        // Without a focus and without words to search for, the newest messages are shown.
        let shows_newest = !has_focus && self.words.asked == 0;
        let is_in = |place: usize| {
            let is_pointed_at = entries[place].reason.is_anchor() || self.open == Some(place);
            let is_of_focus = !is_found && (entries[place].part() == Part::Focus || shows_newest);
            self.may_show(place) && (is_pointed_at || is_of_focus || matched[place] >= COINCIDENCE)
        };
        // Without the message that the anchor replies to, the anchor is hard to understand.
        let before_anchor = self.window.anchor_entry().and_then(|anchor| anchor.message.message.reply_to);
        let score = |place: usize| {
            let entry = &entries[place];
            let base = match entry.part() {
                Part::Focus => entry.score,
                Part::Surroundings if shows_newest => place as f64 / entries.len() as f64,
                Part::Surroundings => 0.0,
            };
            let pointed_at = match entry.reason.is_anchor() || self.open == Some(place) {
                _ if before_anchor == Some(entry.message.message.id) => 1.0,
                true => f64::from(u8::MAX),
                false => 0.0,
            };
            pointed_at + base + self.words.telling(place) + WORDS_OF_ASK * matched[place]
        };
        let mut ranked: Vec<(usize, f64)> =
            (0..entries.len()).filter(|place| is_in(*place)).map(|place| (place, score(place))).collect();
        if ranked.is_empty() && has_focus {
            // The focus consists of triggers and answers only: the messages around them are shown.
            let shown = (0..entries.len()).filter(|place| self.may_show(*place));
            ranked = shown.map(|place| (place, place as f64)).collect();
        }
        ranked.sort_by(|(a, one), (b, other)| other.partial_cmp(one).unwrap_or(Ordering::Equal).then(b.cmp(a)));
        ranked.into_iter().map(|(place, _)| place).collect()
    }
}

/// Kinds of values that a text has: a day or time of day, or another number.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Value {
    has_time: bool,
    has_number: bool,
}

impl Value {
    fn of(text: &str) -> Self {
        let has_time = names_time(text);
        Self { has_time, has_number: !has_time && has_number(text) }
    }

    fn or(self, other: Self) -> Self {
        Self { has_time: self.has_time || other.has_time, has_number: self.has_number || other.has_number }
    }

    fn and(self, other: Self) -> Self {
        Self { has_time: self.has_time && other.has_time, has_number: self.has_number && other.has_number }
    }
}

/// Returns the place of the message that a question without words of its own points at: the one that it replies to,
/// else the newest question among the last messages of the focus, unless somebody replied to it.
fn open_question(window: &ContextWindow, query: Query<'_>) -> Option<usize> {
    if !stems(query.ask).is_empty() && !is_generic(query.ask, Languages::shipped()) {
        return None;
    }
    if let Some(anchor) = window.entries.iter().position(|entry| entry.reason.is_anchor()) {
        return Some(anchor);
    }
    let said = |place: &usize| says_something(&window.entries[*place]) && !is_tag(&window.entries[*place], query.bot);
    let is_asked = |place: &usize| {
        let (entry, id) = (&window.entries[*place], Some(window.entries[*place].message.message.id));
        let is_answered = window.entries[*place..].iter().any(|later| later.message.message.reply_to == id);
        entry.part() == Part::Focus && !is_answered && Languages::shipped().is_question(&entry.message.message.text)
    };
    (0..window.entries.len()).rev().filter(said).take(LAST_MESSAGES).find(is_asked)
}

/// Returns `true` if a question is shown with what was said to it.
fn is_answered(window: &ContextWindow, shown: &[usize]) -> bool {
    let is_question = |place: &usize| Languages::shipped().is_question(&window.entries[*place].message.message.text);
    let is_answer = |place: &usize| {
        !is_question(place)
            && continued(window, *place).is_some_and(|before| shown.contains(&before) && is_question(&before))
    };
    shown.iter().any(is_answer)
}

/// Adds to the `shown` places, while there is room, the messages of the focus after the first of them: an answer may
/// have no word of its question. Those with a higher score come first.
fn add_focus(window: &ContextWindow, shown: &mut Vec<usize>, most: usize, may_show: impl Fn(usize) -> bool) {
    let Some(first) = shown.iter().copied().min() else { return };
    let is_left =
        |place: &usize| window.entries[*place].part() == Part::Focus && !shown.contains(place) && may_show(*place);
    let mut left: Vec<usize> = (first..window.entries.len()).filter(is_left).collect();
    left.sort_by(|a, b| window.entries[*b].score.total_cmp(&window.entries[*a].score));
    left.truncate(most.saturating_sub(shown.len()));
    shown.extend(left);
}

/// Adds to the `shown` places, while there is room, what was said right after each of them.
fn add_next(window: &ContextWindow, shown: &mut Vec<usize>, most: usize, may_show: impl Fn(usize) -> bool) {
    for near in 1..=NEXT {
        for at in 0..shown.len() {
            let place = shown[at] + near;
            if shown.len() < most && place < window.entries.len() && !shown.contains(&place) && may_show(place) {
                shown.push(place);
            }
        }
    }
}

/// Adds, while there is room, to each place in `shown` the first reply to that message that `says` something and is no
/// question: what came of it.
fn add_replies(window: &ContextWindow, shown: &mut Vec<usize>, most: usize, says: impl Fn(usize) -> bool) {
    let mut next = 0;
    while next < shown.len() && shown.len() < most {
        let parent = window.entries[shown[next]].message.message.id;
        let is_reply = |place: &usize| {
            let message = &window.entries[*place].message.message;
            message.reply_to == Some(parent)
                && !shown.contains(place)
                && says(*place)
                && !Languages::shipped().is_question(&message.text)
        };
        let has_reply = shown.iter().any(|place| window.entries[*place].message.message.reply_to == Some(parent));
        let reply = (0..window.entries.len()).find(is_reply).filter(|_| !has_reply);
        shown.extend(reply);
        next += 1;
    }
}

/// Returns `true` if no message of the window fits the words or the meaning of a question, although the question may be
/// about what was said: [`most_telling`] then shows the newest subject.
pub fn is_unclear(window: &ContextWindow, query: Query<'_>) -> bool {
    if is_generic(query.ask, Languages::shipped()) || query.ask.trim().is_empty() || window.anchor.is_some() {
        return false;
    }
    let words = QueryWords::of(window, query.ask, None, query.language);
    let is_shown = |place: usize| says_something(&window.entries[place]) && !is_tag(&window.entries[place], query.bot);
    let meaning = by_meaning(window, query, is_shown);
    let is_found = |place: usize| is_shown(place) && words.matched[place].max(meaning[place]) >= ANSWER;
    // Nobody spoke of the subject of a question with several words.
    words.asked <= 1 && !(0..window.entries.len()).any(is_found)
}

/// Returns `true` if a message of the window has most of the question's words.
pub fn is_said(window: &ContextWindow, query: Query<'_>) -> bool {
    let search = Search::new(window, query);
    search.open.is_none() && search.is_found(&search.words.matched)
}

/// Matches between the question's words and the entries.
struct QueryWords {
    /// Share of the question's words in each entry, 0 to 1; rare words count more.
    matched: Vec<f64>,
    /// Number of content words of the question.
    asked: usize,
    /// Number of content words in each entry.
    counts: Vec<usize>,
    /// Stems of the content words of each entry.
    said: Vec<Vec<String>>,
}

/// Returns the weight of a word that so many entries have.
fn rarity(holders: usize) -> f64 {
    if holders == 0 { 0.0 } else { 1.0 / (holders as f64).sqrt() }
}

/// A content word: its first letters, and its stem in the language of the chat.
struct WordForms {
    short: String,
    stem: String,
}

/// Compares words in the language of a chat.
struct Forms {
    language: Language,
    stemmer: WordStemmer,
}

impl Forms {
    fn new(language: Language) -> Self {
        Self { language, stemmer: WordStemmer::new(language) }
    }

    /// Returns the content words of a text, without repeats.
    fn of(&self, text: &str) -> Vec<WordForms> {
        let lower = folded(text).to_lowercase();
        let mut found: Vec<WordForms> = Vec::new();
        for word in content_words(&lower) {
            let (short, stem) = (short_stem(word), self.stemmer.stem(word));
            if !found.iter().any(|other| other.short == short && other.stem == stem) {
                found.push(WordForms { short: short.to_owned(), stem: stem.into_owned() });
            }
        }
        found
    }

    /// Returns how surely a text with these words has the word `asked`: 1 for the word and its forms, alone or in a
    /// compound.
    fn held(&self, asked: &WordForms, words: &[WordForms]) -> f64 {
        let is_form = |word: &WordForms| self.language.is_word_or_compound(&asked.stem, &word.stem);
        match words.iter().any(is_form) {
            true => 1.0,
            false if !words.iter().any(|word| word.short == asked.short) => 0.0,
            false if self.language.has_stemmer() => SAME_BEGINNING,
            false => 1.0,
        }
    }
}

impl QueryWords {
    /// `asked_in` is the entry that contains `ask`. It does not count as a match.
    fn of(window: &ContextWindow, ask: &str, asked_in: Option<usize>, language: Language) -> Self {
        let forms = Forms::new(language);
        let asked = forms.of(ask);
        let mut said: Vec<Vec<WordForms>> =
            window.entries.iter().map(|entry| forms.of(&entry.message.message.text)).collect();
        let counts = said.iter().map(Vec::len).collect();
        if let Some(place) = asked_in {
            said[place].clear();
        }
        // Rare words weigh more, and one that no entry has weighs nothing.
        let held: Vec<Vec<f64>> = asked
            .iter()
            .map(|word| {
                let held: Vec<f64> = said.iter().map(|words| forms.held(word, words)).collect();
                let weight = rarity(held.iter().filter(|share| **share > 0.0).count());
                held.into_iter().map(|share| share * weight).chain([weight]).collect()
            })
            .collect();
        let all: f64 = held.iter().filter_map(|of_word| of_word.last()).sum();
        let share = |place: usize| match all > 0.0 {
            true => held.iter().map(|of_word| of_word[place]).sum::<f64>() / all,
            false => 0.0,
        };
        let matched = (0..said.len()).map(share).collect();
        let said = said.into_iter().map(|words| words.into_iter().map(|word| word.short).collect()).collect();
        Self { matched, asked: asked.len(), counts, said }
    }

    fn weight(&self, stem: &str) -> f64 {
        rarity(self.said.iter().filter(|words| words.iter().any(|word| word == stem)).count())
    }

    /// Returns `true` if an entry only asks what the question asks, and nobody continued it.
    fn is_repeat(&self, window: &ContextWindow, place: usize) -> bool {
        let is_same = self.matched[place] >= 1.0 && self.counts[place] <= self.asked + 1;
        is_same
            && Languages::shipped().is_question(&window.entries[place].message.message.text)
            && !(place + 1..window.entries.len()).any(|later| continued(window, later) == Some(place))
    }

    /// Returns the bonus of an entry for its number of content words.
    fn telling(&self, place: usize) -> f64 {
        let count = self.counts.get(place).copied().unwrap_or_default().min(ENOUGH_WORDS);
        SAYS_SOMETHING * count as f64 / ENOUGH_WORDS as f64
    }
}

/// Returns the share of the content words of `ask` found in `text`, 0 to 1.
pub fn shared_words(ask: &str, text: &str) -> f64 {
    let (asked, said) = (stems(ask), stems(text));
    match asked.len() {
        0 => 0.0,
        all => asked.iter().filter(|stem| said.binary_search(stem).is_ok()).count() as f64 / all as f64,
    }
}

/// Returns the share of the content words of `ask` whose stems occur in each text, 0 to 1.
pub fn shares_of_words(ask: &str, texts: &[String]) -> Vec<f64> {
    let asked = stems(ask);
    let share = |text: &String| {
        let text = text.to_lowercase();
        asked.iter().filter(|stem| text.contains(stem.as_str())).count() as f64 / asked.len().max(1) as f64
    };
    texts.iter().map(share).collect()
}

/// Returns the stems of the content words of a text, sorted, without repeats.
fn stems(text: &str) -> Vec<String> {
    let lower = folded(text).to_lowercase();
    let mut found: Vec<String> = content_words(&lower).map(|word| short_stem(word).to_owned()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the content words of a text in lower case.
fn content_words(lower: &str) -> impl Iterator<Item = &str> {
    let languages = Languages::shipped();
    let is_long = |word: &str| word.chars().count() >= MIN_WORD_CHARS || word.starts_with(is_unspaced);
    split_words(lower).flat_map(pieces).filter(move |word| is_long(word) && !languages.is_stop_word_in(word, lower))
}

/// Returns the similarity in meaning of each entry to the question, 0 to 1. Entries that are not close get 0, except
/// that a statement with a number matches a question for a number, and a time in the focus one for a time.
fn by_meaning(window: &ContextWindow, query: Query<'_>, may_show: impl Fn(usize) -> bool) -> Vec<f64> {
    let asked = query.embedder.map(|embedder| embedder.embed(query.ask)).unwrap_or_default();
    let cosine = |place: usize| match query.embedder {
        Some(embedder) if !asked.is_empty() && may_show(place) => {
            let said = embedder.embed(&window.entries[place].message.message.text);
            asked.iter().zip(&said).map(|(a, b)| f64::from(a * b)).sum()
        }
        Some(_) | None => 0.0,
    };
    let cosines: Vec<f64> = (0..window.entries.len()).map(cosine).collect();
    let best = cosines.iter().copied().fold(0.0, f64::max);
    let languages = Languages::shipped();
    // "When do we meet?" is about the current talk, "when was the moon landing?" is not.
    let wants_time = words_of_when(query.ask).is_some_and(|count| count <= 1) && best < CLEAR;
    let wants_number = languages.asks_for_amount(query.ask);
    let score = |place: usize| {
        let is_close = cosines[place] >= CLOSE.max(best * NEARLY_BEST);
        let entry = &window.entries[place];
        let text = &entry.message.message.text;
        match is_close {
            true => (cosines[place] / SAME).min(1.0),
            false if wants_time && entry.part() == Part::Focus && names_time(text) => TIME,
            false if wants_number && has_number(text) && !ends_like_question(text.trim_end()) => ANSWER,
            false => 0.0,
        }
    };
    (0..cosines.len()).map(score).collect()
}

/// Returns the number of content words of a question for a time, without its question phrase such as "a qué hora".
/// `None` if it asks for no time.
fn words_of_when(ask: &str) -> Option<usize> {
    let (said, codes) = (words(ask), Languages::shipped().likely_codes(ask));
    let is_likely = |table: &&PhraseTable| table.short.is_some_and(|code| codes.contains(&code));
    let when = |place: usize| {
        let length = all().filter(is_likely).filter_map(|table| table.asks_when.at(&said, place)).max()?;
        Some((place, length))
    };
    let (place, length) = (0..said.len()).find_map(when)?;
    Some(stems(&[&said[..place], &said[place + length..]].concat().join(" ")).len())
}

/// Returns the place of the message that the entry at `place` continues: the one it replies to, else the one that
/// another member wrote just before.
fn continued(window: &ContextWindow, place: usize) -> Option<usize> {
    let message = &window.entries.get(place)?.message.message;
    match message.reply_to {
        Some(parent) => window.entries[..place].iter().rposition(|other| other.message.message.id == parent),
        None => place.checked_sub(1).filter(|before| follows(&window.entries[*before].message.message, message)),
    }
}

/// Returns the match that the entry at `place` inherits from the message it continues, if that is a question or it
/// replies to it.
fn taken_over(window: &ContextWindow, matched: &[f64], place: usize) -> f64 {
    let Some(earlier) = continued(window, place) else { return 0.0 };
    let is_question = Languages::shipped().is_question(&window.entries[earlier].message.message.text);
    let share = match (is_question, window.entries[place].message.message.reply_to) {
        (true, _) => OF_QUESTION,
        (false, Some(_)) => OF_REMARK,
        (false, None) => 0.0,
    };
    share * matched[earlier]
}

/// Returns `true` if `later` is another member's quick response to `earlier`.
fn follows(earlier: &Message, later: &Message) -> bool {
    earlier.sender.id != later.sender.id && later.sent_at.since(earlier.sent_at) <= ANSWERED_WITHIN
}

/// Formats a bullet for each entry: author, text and citation.
pub fn bullets(entries: &[&Entry], texts: &Texts) -> String {
    entries.iter().map(|entry| bullet(entry, texts)).collect::<Vec<_>>().join("\n")
}

fn bullet(entry: &Entry, texts: &Texts) -> String {
    let message = &entry.message.message;
    let text = match message.role {
        Role::Assistant => without_citations(&message.text),
        Role::User | Role::System | Role::SystemSummary => message.rendered(),
    };
    let name = escape_markdown(&clean_name(&message.sender.name));
    let quote = texts.quoted(&escape_markdown(&gist(&text, QUOTE_CHARS)));
    format!("- **{name}**: {quote} [source: m{}]", entry.message.seq)
}

/// Returns `true` for a member's message that is neither empty nor a greeting. A reply such as "yes" says something.
pub fn says_something(entry: &Entry) -> bool {
    let message = &entry.message.message;
    let is_greeting = message.reply_to.is_none()
        && !message.text.trim().is_empty()
        && is_small_talk(&message.text, Languages::shipped());
    message.role == Role::User && !message.rendered().trim().is_empty() && !is_greeting
}

/// Returns `true` if a message only mentions the bot, or asks it a question, for a search or for a reminder: none of
/// these answers anybody.
pub fn is_tag(entry: &Entry, bot: &BotIdentity) -> bool {
    let message = &entry.message.message;
    let names_us = message.entities.iter().any(|entity| match &entity.kind {
        EntityKind::Mention => {
            let shown = utf16_slice(&message.text, entity.offset, entity.length);
            bot.is_called(shown.trim_start_matches('@'))
        }
        EntityKind::TextMention { user } => user.id == bot.id,
        _ => false,
    });
    let languages = Languages::shipped();
    let rest: Vec<&str> = message.text.split_whitespace().filter(|word| !word.starts_with('@')).collect();
    let rest = rest.join(" ");
    let is_ask = languages.is_question(&rest) || languages.searched(&rest).is_some() || languages.asks_to_remind(&rest);
    let telling = if rest.contains(is_unspaced) { TELLING_UNSPACED_ASK } else { TELLING_ASK };
    names_us && (is_ask || is_generic(&rest, languages) || stems(&rest).len() < telling)
}
