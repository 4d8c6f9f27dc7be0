//! Chooses the messages that an answer without a model quotes, by ranking the messages of a window.

mod additions;
mod meaning;
mod query;
mod quotes;
mod replies;
mod words;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::extractive_ranking::additions::{FILL_UP_TO, REPLY_WORDS, add_focus, add_next, add_replies, is_answered};
use crate::extractive_ranking::meaning::{by_meaning, words_of_when};
use crate::extractive_ranking::query::ANSWER;
use crate::extractive_ranking::replies::taken_over;
use crate::extractive_ranking::words::{QueryWords, stems};
use crate::support::has_number;
use chime_core::trigger::{Languages, is_generic};
use chime_core::{Part, Reason, Role};
use chime_relevance::context::{ContextWindow, Entry};
use chime_relevance::retrieval::names_time;

pub use query::Query;
pub use quotes::{bullets, is_tag, says_something};
pub use words::{shared_word_count, shared_word_ratio, stem_substring_ratios};

/// Score added for a message that contains all words of the question. For comparison, membership in the focus adds at
/// most 1.
const WORDS_OF_ASK: f64 = 2.0;
/// Score added for the message that a question points at, and for the one before it, without which it is hard to
/// understand.
const POINTED_AT: f64 = 255.0;
const BEFORE_ANCHOR: f64 = 1.0;
/// Minimum weight of the words that a statement shares with what is shown to count as an update of it. A word that two
/// messages have weighs .7.
const SAME_MATTER: f64 = 0.7;
/// Maximum number of updates that are shown.
const UPDATES: usize = 2;
/// Number of messages before a trigger without words among which the question that it points at is looked for.
const LAST_MESSAGES: usize = 3;
/// Minimum share of the question's words in a message outside the focus. A smaller share is considered a coincidence.
const COINCIDENCE: f64 = 0.3;

/// Returns at most `most` entries that answer the question best, in order of time. An entry ranks by its score in the
/// focus and by the question's words in it; the answer to a matching question ranks with it. Triggers and the bot's own
/// messages are left out unless the trigger replies to them.
pub fn most_telling<'w>(window: &'w ContextWindow, query: Query<'_>, most: usize) -> Vec<&'w Entry> {
    let mut search = Search::new(window, query);
    let matched = search.find_matches();
    // If a message matches the question in words or in meaning, such messages come first: else the rest of the focus
    // would fill the places.
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
            None => most.min(FILL_UP_TO),
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
        // A notice of the bot, such as an apology, says nothing about the talk.
        let is_pointed_at = entry.reason.is_anchor() && entry.message.message.role != Role::System;
        is_pointed_at || (says_something(entry) && !is_tag(entry, self.query.bot) && !is_repeat)
    }

    fn has_words(&self) -> bool {
        !is_generic(self.query.ask)
    }

    /// Returns how well each entry, or the question that it answers, fits what is searched for, 0 to 1. Then sets
    /// `shows_repeats`, on which [`may_show`](Self::may_show) depends.
    fn find_matches(&mut self) -> Vec<f64> {
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

    /// Returns `true` if nobody spoke of the subject of a question: it has several content words or a code ("OPS-999"),
    /// and no entry has any of them.
    fn is_about_something_else(&self, matched: &[f64]) -> bool {
        let is_said = (0..matched.len()).any(|place| self.words.matched[place] > 0.0 && self.may_show(place));
        // In a language that the embedding model does not cover, nothing is known about what was spoken of.
        let is_covered = self.query.embedder.is_none_or(|embedder| !embedder.embed(self.query.ask).is_empty());
        let is_code = |word: &str| word.contains(char::is_alphabetic) && word.contains(|c: char| c.is_ascii_digit());
        let is_telling = self.words.asked > 1 || self.query.ask.split_whitespace().any(is_code);
        let has_subject = self.open.is_none() && self.has_words() && is_telling;
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
        let is_pointed_at = |place: usize| entries[place].reason.is_anchor() || self.open == Some(place);
        let is_in = |place: usize| {
            let is_of_focus = !is_found && (entries[place].part() == Part::Focus || shows_newest);
            self.may_show(place) && (is_pointed_at(place) || is_of_focus || matched[place] >= COINCIDENCE)
        };
        let before_anchor = self.window.anchor_entry().and_then(|anchor| anchor.message.message.reply_to);
        let score = |place: usize| {
            let entry = &entries[place];
            let base = match entry.part() {
                Part::Focus => entry.score,
                Part::Surroundings if shows_newest => place as f64 / entries.len() as f64,
                Part::Surroundings => 0.0,
            };
            let pointed_at = if before_anchor == Some(entry.message.message.id) {
                BEFORE_ANCHOR
            } else if is_pointed_at(place) {
                POINTED_AT
            } else {
                0.0
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
    if !stems(query.ask).is_empty() && !is_generic(query.ask) {
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

/// Returns `true` if no message of the window fits the words or the meaning of a question, although the question may be
/// about what was said: [`most_telling`] then shows the newest subject.
pub fn is_unclear(window: &ContextWindow, query: Query<'_>) -> bool {
    if is_generic(query.ask) || query.ask.trim().is_empty() || window.anchor.is_some() {
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
