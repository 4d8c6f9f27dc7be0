//! Chooses the messages that an answer without a model quotes, by ranking the messages of a window.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::sanitize::{clean_name, escape_markdown, gist};
use crate::support::has_number;
use chime_core::embed::Embedder;
use chime_core::texts::Texts;
use chime_core::trigger::{Languages, ends_like_question, is_generic, is_small_talk};
use chime_core::{
    BotIdentity, EntityKind, Message, Part, Reason, Role, folded, is_unspaced, pieces, short_stem, split_words,
    utf16_slice, without_citations,
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
/// Minimum share of the question's words in a message outside the focus. A smaller share is considered a coincidence.
const COINCIDENCE: f64 = 0.3;

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
/// focus and by the question's words in it; the answer to a matching question ranks with it. Triggers and the bot's own
/// messages are left out unless the trigger replies to them.
pub fn most_telling<'w>(window: &'w ContextWindow, query: Query<'_>, most: usize) -> Vec<&'w Entry> {
    // A question that names a day or a member wants the messages of that day or member, not those with that word.
    let is_named = window.entries.iter().any(|entry| entry.reason == Reason::Named);
    let words = QueryWords::of(window, if is_named { "" } else { query.ask });
    let may_show = |place: usize| {
        let entry = &window.entries[place];
        let is_repeat = words.is_repeat(window, place) && !is_generic(query.ask, Languages::shipped());
        entry.reason.is_anchor() || (says_something(entry) && !is_tag(entry, query.bot) && !is_repeat)
    };
    let with_replies = |direct: &[f64]| -> Vec<f64> {
        (0..direct.len()).map(|place| direct[place].max(taken_over(window, direct, place))).collect()
    };
    let is_found = |matched: &[f64]| (0..matched.len()).any(|place| matched[place] >= ANSWER && may_show(place));
    let mut matched = with_replies(&words.matched);
    if !is_found(&matched) && !is_named && !is_generic(query.ask, Languages::shipped()) {
        matched = with_replies(&by_meaning(window, query, &may_show));
    }
    // If a question has several content words and no entry has any of them, nobody spoke of its subject.
    let is_said = (0..matched.len()).any(|place| words.matched[place] > 0.0 && may_show(place));
    // In a language that the embedding model does not cover, nothing is known about what was spoken of.
    let is_covered = query.embedder.is_none_or(|embedder| !embedder.embed(query.ask).is_empty());
    let is_foreign = is_covered && !is_said && words.asked > 1 && !is_generic(query.ask, Languages::shipped());
    if is_foreign && !is_found(&matched) && window.anchor.is_none() && !is_named {
        return Vec::new();
    }
    // If a message matches the question in words or in meaning, only such messages and the anchor are shown: the rest
    // of the focus would hide them.
    let found = is_found(&matched);
    let has_focus = window.entries.iter().any(|entry| entry.part() == Part::Focus);
    let answered = window.anchor_entry().and_then(|anchor| anchor.message.message.reply_to);
    let mut ranked: Vec<(usize, f64)> = window
        .entries
        .iter()
        .enumerate()
        .filter(|(place, _)| may_show(*place))
        .filter_map(|(place, entry)| {
            let matched = matched[place];
            let base = match entry.part() {
                Part::Focus => entry.score,
                // Without a focus and without words to search for, the newest messages are shown.
                Part::Surroundings if has_focus || words.asked > 0 => 0.0,
                Part::Surroundings => place as f64 / window.entries.len() as f64,
            };
            let is_in = match found {
                true => matched >= COINCIDENCE || entry.reason.is_anchor(),
                false => entry.part() == Part::Focus || matched >= COINCIDENCE || (words.asked == 0 && !has_focus),
            };
            let base = base + words.telling(place);
            let anchor = if entry.reason.is_anchor() { f64::from(u8::MAX) } else { 0.0 };
            // Without the message that the anchor replies to, the anchor is hard to understand.
            let anchor = if answered == Some(entry.message.message.id) { 1.0 } else { anchor };
            is_in.then_some((place, anchor + base + WORDS_OF_ASK * matched))
        })
        .collect();
    if ranked.is_empty() && has_focus {
        // The focus consists of triggers and answers only: the messages around them are shown.
        let shown = (0..window.entries.len()).filter(|place| may_show(*place));
        ranked = shown.map(|place| (place, place as f64)).collect();
    }
    ranked.sort_by(|(a, one), (b, other)| other.partial_cmp(one).unwrap_or(Ordering::Equal).then(b.cmp(a)));
    ranked.truncate(most);
    let mut places: Vec<usize> = ranked.into_iter().map(|(place, _)| place).collect();
    add_replies(window, &mut places, most, |place| may_show(place) && words.counts[place] >= REPLY_WORDS);
    places.sort_unstable();
    places.into_iter().filter_map(|place| window.entries.get(place)).collect()
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
    let words = QueryWords::of(window, query.ask);
    let is_shown = |place: usize| says_something(&window.entries[place]) && !is_tag(&window.entries[place], query.bot);
    let meaning = by_meaning(window, query, &is_shown);
    let is_found = |place: usize| is_shown(place) && words.matched[place].max(meaning[place]) >= ANSWER;
    // Nobody spoke of the subject of a question with several words.
    words.asked <= 1 && !(0..window.entries.len()).any(is_found)
}

/// Matches between the question's words and the entries.
struct QueryWords {
    /// Share of the question's words in each entry, 0 to 1; rare words count more.
    matched: Vec<f64>,
    /// Number of content words of the question.
    asked: usize,
    /// Number of content words in each entry.
    counts: Vec<usize>,
}

impl QueryWords {
    fn of(window: &ContextWindow, ask: &str) -> Self {
        let asked = stems(ask);
        let said: Vec<Vec<String>> = window.entries.iter().map(|entry| stems(&entry.message.message.text)).collect();
        let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
        for stem in &asked {
            holders.insert(stem, said.iter().filter(|words| words.contains(stem)).count());
        }
        let weight = |stem: &str| match holders.get(stem) {
            None | Some(0) => 0.0,
            Some(count) => 1.0 / (*count as f64).sqrt(),
        };
        let all: f64 = asked.iter().map(|stem| weight(stem)).sum();
        let share = |words: &Vec<String>| {
            let held: f64 = asked.iter().filter(|stem| words.contains(stem)).map(|stem| weight(stem)).sum();
            if all > 0.0 { held / all } else { 0.0 }
        };
        let counts = said.iter().map(Vec::len).collect();
        Self { matched: said.iter().map(share).collect(), asked: asked.len(), counts }
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
    let languages = Languages::shipped();
    let lower = folded(text).to_lowercase();
    let is_long = |word: &str| word.chars().count() >= MIN_WORD_CHARS || word.starts_with(is_unspaced);
    let telling =
        split_words(&lower).flat_map(pieces).filter(|word| is_long(word) && !languages.is_stop_word_in(word, &lower));
    let mut found: Vec<String> = telling.map(|word| short_stem(word).to_owned()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the similarity in meaning of each entry to the question, 0 to 1. Entries that are not close get 0, except
/// that a statement with a number matches a question for a number, and a time in the focus one for a time.
fn by_meaning(window: &ContextWindow, query: Query<'_>, may_show: &impl Fn(usize) -> bool) -> Vec<f64> {
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
