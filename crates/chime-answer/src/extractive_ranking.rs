//! Chooses the messages that an answer without a model quotes, by ranking the messages of a window.

mod quotes;
mod shared_words;

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::support::{Support, SupportFeatures, content_words, has_number, probability};
use chime_core::embed::Embedder;
use chime_core::trigger::{Languages, is_generic};
use chime_core::{BotIdentity, Citable, Message, Part, Reason, Role, SourceId};
use chime_relevance::context::{ContextWindow, Entry};
use chime_relevance::retrieval::languages::{PhraseTable, all};
use chime_relevance::retrieval::names_time;
use chime_relevance::retrieval::words::words;

pub use quotes::{bullets, is_tag, says_something};
pub use shared_words::{shared_word_count, shared_word_ratio, stem_substring_ratios};

/// Weights of the features of a message as the answer to a question. Those of [`crate::support`] are for the sentences of
/// an answer, which have the words of their source.
const WEIGHTS: SupportFeatures = [-2.5, 3.88, 10.0, 5.0, 0.0, 0.0, -1.0];
/// Minimum match of a message for it to count as an answer.
const ANSWER: f64 = 0.5;
/// Minimum match of a message outside the focus. A smaller one is considered a coincidence.
const COINCIDENCE: f64 = 0.3;
/// Minimum match of a message that may have to do with a question.
const RELATED: f64 = 0.2;
/// Score added for a full match. For comparison, membership in the focus adds at most 1.
const MATCH: f64 = 2.0;
/// Score added for a message with at least [`ENOUGH_WORDS`] content words.
const SAYS_SOMETHING: f64 = 0.3;
const ENOUGH_WORDS: usize = 6;
/// Score added for the message that a question points at.
const POINTED_AT: f64 = 255.0;
/// Minimum weight of the words that a statement shares with what is shown to count as an update of it. A word that two
/// messages have weighs .7.
const SAME_MATTER: f64 = 0.7;
/// Maximum number of updates that are shown.
const UPDATES: usize = 2;
/// Number of messages before a trigger without words among which the question that it points at is looked for.
const LAST_MESSAGES: usize = 3;
/// Minimum number of content words of a reply that is shown with the message that it replies to.
const REPLY_WORDS: usize = 3;
/// Maximum number of messages after adding what was said next. An answer may share no word with its question.
const FILL_UP_TO: usize = 4;
/// Number of messages after a shown one that may be shown too.
const NEXT: usize = 2;

/// A question, and the bot that was asked.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// The question without the mention of the bot.
    pub ask: &'a str,
    pub bot: &'a BotIdentity,
    /// Embedding model, for matches in other words or another language. `None` if there is none.
    pub embedder: Option<&'a Embedder>,
}

/// Returns at most `most` entries that answer the question best, in order of time. An entry ranks by its score in the
/// focus and by how well it matches the question. Triggers and the bot's own messages are left out unless the trigger
/// replies to them.
pub fn most_telling<'w>(window: &'w ContextWindow, query: Query<'_>, most: usize) -> Vec<&'w Entry> {
    let search = Search::new(window, query);
    // If a message matches the question, such messages come first: else the rest of the focus would fill the places.
    let is_found = search.is_found();
    if !is_found && search.is_about_something_else() {
        return Vec::new();
    }
    let mut places = search.ranked(is_found);
    places.truncate(most);
    search.add_replies(&mut places, most);
    if is_found {
        search.add_updates(&mut places, most);
        // A tag without words is about the whole subject.
        search.add_next(&mut places, if search.open.is_some() { most } else { most.min(FILL_UP_TO) });
    }
    places.sort_unstable();
    places.into_iter().filter_map(|place| window.entries.get(place)).collect()
}

/// Returns `true` if no message of the window matches a question, although the question may be about what was said:
/// [`most_telling`] then shows the newest subject.
pub fn is_unclear(window: &ContextWindow, query: Query<'_>) -> bool {
    let search = Search::new(window, query);
    let has_words = search.has_words() && !query.ask.trim().is_empty() && window.anchor.is_none();
    // Nobody spoke of the subject of a question with several words.
    has_words && subject_words(query.ask) <= 1 && (search.open.is_some() || !search.is_found())
}

/// Returns `true` if a message of the window matches the question.
pub fn is_said(window: &ContextWindow, query: Query<'_>) -> bool {
    let search = Search::new(window, query);
    search.open.is_none() && search.is_found()
}

/// Search of a window for the answer to a question.
struct Search<'w, 'q> {
    window: &'w ContextWindow,
    query: Query<'q>,
    /// The message that is searched for, if the question to the bot has no words of its own.
    open: Option<usize>,
    /// How well each entry matches what is searched for, 0 to 1.
    matched: Vec<f64>,
    /// Content words of each entry.
    said: Vec<BTreeSet<String>>,
    /// `true` if the question names a day or a member: it wants the messages of that day or member, not those with that
    /// word.
    is_named: bool,
}

impl<'w, 'q> Search<'w, 'q> {
    fn new(window: &'w ContextWindow, query: Query<'q>) -> Self {
        let is_named = window.entries.iter().any(|entry| entry.reason == Reason::Named);
        let open = if is_named { None } else { open_question(window, query) };
        let asked = match open {
            Some(place) => window.entries[place].message.message.text.as_str(),
            None if is_named => "",
            None => query.ask,
        };
        let embed = |text: &str| query.embedder.map(|embedder| embedder.embed(text)).unwrap_or_default();
        let sources: Vec<Citable> = window.entries.iter().map(source).collect();
        let mut features = Support::new(&sources, "", &embed).features(asked);
        features.resize(sources.len(), SupportFeatures::default());
        let is_asked = |place: usize| content_words(asked).is_empty() || open == Some(place);
        let score = |place: usize| if is_asked(place) { 0.0 } else { probability(&features[place], &WEIGHTS) };
        let matched = (0..sources.len()).map(score).collect();
        let said = sources.iter().map(|source| content_words(&source.text)).collect();
        Self { window, query, open, matched, said, is_named }
    }

    fn message(&self, place: usize) -> &'w Message {
        &self.window.entries[place].message.message
    }

    fn places(&self) -> std::ops::Range<usize> {
        0..self.window.entries.len()
    }

    fn may_show(&self, place: usize) -> bool {
        let entry = &self.window.entries[place];
        // A notice of the bot, such as an apology, says nothing about the talk.
        let is_pointed_at = entry.reason.is_anchor() && entry.message.message.role != Role::System;
        is_pointed_at || (says_something(entry) && !is_tag(entry, self.query.bot))
    }

    fn has_words(&self) -> bool {
        !is_generic(self.query.ask, Languages::shipped())
    }

    fn is_found(&self) -> bool {
        self.has_match(ANSWER)
    }

    fn has_match(&self, least: f64) -> bool {
        self.places().any(|place| self.matched[place] >= least && self.may_show(place))
    }

    /// Returns `true` if nobody spoke of the subject of a question: it has several content words, and no entry has much
    /// to do with it.
    fn is_about_something_else(&self) -> bool {
        // In a language that the embedding model does not cover, nothing is known about what was spoken of.
        let is_covered = self.query.embedder.is_none_or(|embedder| !embedder.embed(self.query.ask).is_empty());
        let has_subject = self.open.is_none() && self.has_words() && subject_words(self.query.ask) > 1;
        is_covered && !self.has_match(RELATED) && has_subject && self.window.anchor.is_none() && !self.is_named
    }

    /// Returns the places of the entries to show, best first.
    fn ranked(&self, is_found: bool) -> Vec<usize> {
        let entries = &self.window.entries;
        let has_focus = entries.iter().any(|entry| entry.part() == Part::Focus);
        // Without a focus and without words to search for, the newest messages are shown.
        let shows_newest = !has_focus && content_words(self.query.ask).is_empty();
        let is_pointed_at = |place: usize| entries[place].reason.is_anchor() || self.open == Some(place);
        let is_in = |place: &usize| {
            let is_of_focus = !is_found && (entries[*place].part() == Part::Focus || shows_newest);
            self.may_show(*place) && (is_pointed_at(*place) || is_of_focus || self.matched[*place] >= COINCIDENCE)
        };
        let score = |place: usize| {
            let base = match entries[place].part() {
                Part::Focus => entries[place].score,
                Part::Surroundings if shows_newest => place as f64 / entries.len() as f64,
                Part::Surroundings => 0.0,
            };
            let pointed_at = if is_pointed_at(place) { POINTED_AT } else { 0.0 };
            let telling = SAYS_SOMETHING * self.said[place].len().min(ENOUGH_WORDS) as f64 / ENOUGH_WORDS as f64;
            pointed_at + base + telling + MATCH * self.matched[place]
        };
        let mut ranked: Vec<(usize, f64)> = self.places().filter(is_in).map(|place| (place, score(place))).collect();
        if ranked.is_empty() && has_focus {
            // The focus consists of triggers and answers only: the messages around them are shown.
            let shown = self.places().filter(|place| self.may_show(*place));
            ranked = shown.map(|place| (place, place as f64)).collect();
        }
        ranked.sort_by(|(a, one), (b, other)| other.partial_cmp(one).unwrap_or(Ordering::Equal).then(b.cmp(a)));
        ranked.into_iter().map(|(place, _)| place).collect()
    }

    /// Adds, while there is room, to each place in `shown` the first reply to that message that says something and is no
    /// question: what came of it.
    fn add_replies(&self, shown: &mut Vec<usize>, most: usize) {
        let mut next = 0;
        while next < shown.len() && shown.len() < most {
            let parent = Some(self.message(shown[next]).id);
            let is_reply = |place: &usize| {
                self.message(*place).reply_to == parent
                    && self.may_show(*place)
                    && self.said[*place].len() >= REPLY_WORDS
                    && !is_question(self.message(*place))
            };
            if !shown.iter().any(|place| self.message(*place).reply_to == parent) {
                shown.extend(self.places().find(is_reply));
            }
            next += 1;
        }
    }

    /// Adds to the shown places, of which there are at most `most`, later statements that may change what one of them
    /// says: each has a number or time too, and shares rare words with what is shown. They replace the worst ones.
    fn add_updates(&self, shown: &mut Vec<usize>, most: usize) {
        let has_value = |place: &usize| {
            let text = &self.message(*place).text;
            names_time(text) || has_number(text)
        };
        let Some(first) = shown.iter().copied().filter(has_value).min() else { return };
        let subject: BTreeSet<&String> = shown.iter().flat_map(|place| &self.said[*place]).collect();
        // Rare words weigh more.
        let weight = |word: &String| 1.0 / (self.said.iter().filter(|said| said.contains(word)).count() as f64).sqrt();
        let shared =
            |place: usize| -> f64 { self.said[place].iter().filter(|word| subject.contains(word)).map(weight).sum() };
        let is_update = |place: &usize| {
            !shown.contains(place)
                && self.may_show(*place)
                && !is_question(self.message(*place))
                && has_value(place)
                && shared(*place) >= SAME_MATTER
        };
        let mut updates: Vec<usize> = (first + 1..self.said.len()).filter(is_update).collect();
        updates.sort_by(|a, b| shared(*b).total_cmp(&shared(*a)).then(b.cmp(a)));
        updates.truncate(UPDATES);
        shown.truncate(most.saturating_sub(updates.len()));
        shown.extend(updates);
    }

    /// Adds to the shown places, while there is room, what was said right after each of them.
    fn add_next(&self, shown: &mut Vec<usize>, most: usize) {
        for near in 1..=NEXT {
            for at in 0..shown.len() {
                let place = shown[at] + near;
                let is_new = self.places().contains(&place) && !shown.contains(&place) && self.may_show(place);
                if shown.len() < most && is_new {
                    shown.push(place);
                }
            }
        }
    }
}

/// Returns the place of the message that a question without words of its own points at: the one that it replies to,
/// else the newest question among the last messages of the focus, unless somebody replied to it.
fn open_question(window: &ContextWindow, query: Query<'_>) -> Option<usize> {
    if !content_words(query.ask).is_empty() && !is_generic(query.ask, Languages::shipped()) {
        return None;
    }
    if let Some(anchor) = window.entries.iter().position(|entry| entry.reason.is_anchor()) {
        return Some(anchor);
    }
    let said = |place: &usize| says_something(&window.entries[*place]) && !is_tag(&window.entries[*place], query.bot);
    let is_asked = |place: &usize| {
        let (entry, id) = (&window.entries[*place], Some(window.entries[*place].message.message.id));
        let is_answered = window.entries[*place..].iter().any(|later| later.message.message.reply_to == id);
        entry.part() == Part::Focus && !is_answered && is_question(&entry.message.message)
    };
    (0..window.entries.len()).rev().filter(said).take(LAST_MESSAGES).find(is_asked)
}

/// Returns the number of content words of a question, without the phrase that asks for a time, such as "a qué hora".
fn subject_words(ask: &str) -> usize {
    let (said, codes) = (words(ask), Languages::shipped().likely_codes(ask));
    let is_likely = |table: &&PhraseTable| table.short.is_some_and(|code| codes.contains(&code));
    let when = |place: usize| {
        let length = all().filter(is_likely).filter_map(|table| table.asks_when.at(&said, place)).max()?;
        Some(place..place + length)
    };
    let when = (0..said.len()).find_map(when).unwrap_or(0..0);
    content_words(&[&said[..when.start], &said[when.end..]].concat().join(" ")).len()
}

fn is_question(message: &Message) -> bool {
    Languages::shipped().is_question(&message.text)
}

/// Returns an entry in the form in which it is compared with the question.
fn source(Entry { message, .. }: &Entry) -> Citable {
    Citable {
        id: SourceId::message(message.seq.0),
        name: message.message.sender.name.clone(),
        is_own: message.message.role != Role::User,
        sent_at: message.message.sent_at,
        text: message.message.text.clone(),
        link: None,
        rests_on: Vec::new(),
    }
}
