//! Compares questions and messages by meaning.

use crate::extractive_ranking::query::{ANSWER, Query};
use crate::extractive_ranking::words::stems;
use crate::support::has_number;
use chime_core::Part;
use chime_core::trigger::{Languages, ends_like_question};
use chime_relevance::context::ContextWindow;
use chime_relevance::retrieval::languages::{PhraseTable, all};
use chime_relevance::retrieval::names_time;
use chime_relevance::retrieval::words::words;

/// Match of a time with a question for one. It is higher, since such a question also matches all numbers.
const TIME: f64 = 0.8;
/// Minimum cosine at which a message is on the subject of the question. At `SAME`, it counts as much as a message with
/// all the same words.
const CLOSE: f64 = 0.3;
const SAME: f64 = 0.6;
/// Cosine from which a message certainly answers the question, so that other messages with a time do not matter.
const CLEAR: f64 = 0.45;
/// Minimum share of the best cosine at which further messages are shown too.
const NEARLY_BEST: f64 = 0.7;

/// Returns the similarity in meaning of each entry to the question, 0 to 1. Entries that are not close get 0, except
/// that a statement with a number matches a question for a number, and a time in the focus one for a time.
pub(super) fn by_meaning(window: &ContextWindow, query: Query<'_>, may_show: impl Fn(usize) -> bool) -> Vec<f64> {
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
pub(super) fn words_of_when(ask: &str) -> Option<usize> {
    let (said, codes) = (words(ask), Languages::shipped().likely_codes(ask));
    let is_likely = |table: &&PhraseTable| table.short.is_some_and(|code| codes.contains(&code));
    let when = |place: usize| {
        let length = all().filter(is_likely).filter_map(|table| table.asks_when.at(&said, place)).max()?;
        Some((place, length))
    };
    let (place, length) = (0..said.len()).find_map(when)?;
    Some(stems(&[&said[..place], &said[place + length..]].concat().join(" ")).len())
}
