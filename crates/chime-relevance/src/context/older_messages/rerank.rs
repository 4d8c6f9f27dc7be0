//! Ranks the messages that were found further back by their probability of sharing the trigger's subject.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::context::contributions::Feature;
use crate::context::linear::{Terms, chance};
use crate::context::older_messages::query::OlderQuery;
use crate::retrieval::FoundMessage;
use chime_core::StoredMessage;

/// Maximum number of messages that are accepted into the focus; subjects hardly ever have more of them.
pub const ACCEPTED: usize = 8;
pub const FEATURES: usize = 10;
pub const NAMES: [&str; FEATURES] = [
    "words",
    "several_words",
    "linked_words",
    "words_beside",
    "words_around",
    "question_before",
    "is_own",
    "calls_bot",
    "people",
    "messages_back",
];

const LINKED_WORDS: usize = 2;
/// Minimum share of the query, by idf, that an accepted message covers together with the messages it replies to and its
/// replies.
const SAID: f64 = 0.15;

#[derive(Debug, Clone, PartialEq)]
pub struct Reranked {
    pub message: StoredMessage,
    /// Probability that the message shares the trigger's subject, 0 to 1.
    pub probability: f64,
    /// `true` if the message joins the focus; the others may become surroundings.
    pub is_accepted: bool,
    values: [f64; FEATURES],
}

impl Reranked {
    /// Returns the features with their contributions to the score, the largest contribution first.
    pub fn features(&self) -> Vec<Feature> {
        let parts = RerankWeights::shipped().terms.parts(&self.values);
        let feature = |((name, value), contribution): ((&&str, &f64), &f64)| Feature {
            name: format!("beyond.{name}"),
            value: *value,
            contribution: *contribution,
        };
        let mut features: Vec<Feature> = NAMES.iter().zip(&self.values).zip(&parts).map(feature).collect();
        features.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        features
    }
}

/// Scores the messages that were found and marks those accepted into the focus. Returns the likeliest first.
pub fn rerank(query: &OlderQuery, found: Vec<FoundMessage>, weights: &RerankWeights) -> Vec<Reranked> {
    /// Maximum number of messages that are returned.
    const KEPT: usize = 80;
    let score = |met: FoundMessage| {
        let values = values(query, &met);
        Reranked { probability: weights.probability(&values), is_accepted: false, values, message: met.message }
    };
    let mut reranked: Vec<Reranked> = found.into_iter().map(score).collect();
    reranked.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(b.message.seq.cmp(&a.message.seq)));
    reranked.truncate(KEPT);
    let sure = reranked.iter_mut().filter(|one| weights.is_sure(&one.values, weights.threshold));
    sure.take(ACCEPTED).for_each(|one| one.is_accepted = true);
    accept_albums(&mut reranked);
    reranked
}

/// Accepts the other messages of each album that has an accepted one.
fn accept_albums(reranked: &mut [Reranked]) {
    let accepted = reranked.iter().filter(|one| one.is_accepted);
    let albums: Vec<String> = accepted.filter_map(|one| one.message.message.album.clone()).collect();
    for one in reranked {
        one.is_accepted |= one.message.message.album.as_ref().is_some_and(|album| albums.contains(album));
    }
}

/// Computes the features of a message that was found.
pub fn values(query: &OlderQuery, met: &FoundMessage) -> [f64; FEATURES] {
    /// Distance in messages up to which all messages count as equally near.
    const NEAREST: u32 = 16;
    let FoundMessage { message, features, words } = met;
    let back = query.before.0.saturating_sub(message.seq.0).max(NEAREST);
    [
        features.own_coverage,
        f64::from(u8::from(*words > 1)),
        features.linked_coverage,
        features.window_coverage,
        features.wide_coverage,
        features.question_before,
        features.is_own,
        features.calls_bot,
        query.authors.get(&message.message.sender.id).copied().unwrap_or_default(),
        f64::from(back).ln(),
    ]
}

/// Weights fitted by `cargo bench --bench fit -- --beyond` on hand-written group chats, whose older part was hidden
/// among other chats of the same language. The threshold was set by hand.
#[derive(Debug, Clone, Deserialize)]
pub struct RerankWeights {
    /// Minimum probability of a message that is accepted into the focus.
    pub threshold: f64,
    #[serde(flatten)]
    terms: Terms<FEATURES>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
static SHIPPED: LazyLock<RerankWeights> =
    LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).expect("weights of the right form"));

impl RerankWeights {
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// Returns the probability that a message with these features shares the subject.
    pub fn probability(&self, values: &[f64; FEATURES]) -> f64 {
        chance(self.terms.score(values))
    }

    /// Returns `true` if a message with these features reaches `threshold` and covers enough of the query.
    pub fn is_sure(&self, values: &[f64; FEATURES], threshold: f64) -> bool {
        self.probability(values) >= threshold && values[LINKED_WORDS] >= SAID
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights = RerankWeights::shipped();
        assert!(weights.terms.terms.iter().all(|term| term.weight != 0.0 && term.low <= term.high));
        assert!((0.0..1.0).contains(&weights.threshold));
    }
}
