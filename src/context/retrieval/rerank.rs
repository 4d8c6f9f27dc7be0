//! Is what was said there about the same?

use std::sync::LazyLock;

use serde::Deserialize;

use crate::context::contributions::Feature;
use crate::context::features::token::Token;
use crate::context::linear::{Terms, chance};
use crate::context::retrieval::passages::Span;
use crate::context::retrieval::query::Sought;
use crate::context::weights::Table;
use crate::domain::{MessageId, Seq, StoredMessage, Timestamp};

pub const FEATURES: usize = 4;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = ["words", "asker", "people", "rank"];

/// A span that was read.
#[derive(Debug, Clone)]
pub struct ReadSpan {
    pub span: Span,
    /// The hits and those [`beside`] them, oldest first, and the stems of each.
    pub messages: Vec<StoredMessage>,
    pub stems: Vec<Vec<Token>>,
}

/// What was thought of a span.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Its hits, oldest first.
    pub hits: Vec<(Seq, MessageId)>,
    /// How likely it is about the same, 0 to 1.
    pub probability: f64,
    pub is_accepted: bool,
    /// The weightiest first.
    pub features: Vec<Feature>,
}

/// Messages on either side of a hit that are compared with it: what a talk is about is seldom said in one.
pub const BESIDE: u32 = 2;

/// Of `messages` around `hits` (oldest first, of one conversation) those that are read with them.
pub fn beside(messages: Vec<StoredMessage>, hits: &[Seq]) -> Vec<StoredMessage> {
    /// Seconds of silence after which it is another talk.
    const TALK: u64 = 3600;
    let of_hits: Vec<(Seq, Timestamp)> = (messages.iter())
        .filter(|stored| hits.contains(&stored.seq))
        .map(|stored| (stored.seq, stored.message.sent_at))
        .collect();
    let is_beside = |stored: &StoredMessage| {
        of_hits.iter().any(|(seq, at)| {
            let apart = stored.message.sent_at.secs().abs_diff(at.secs());
            seq.0.abs_diff(stored.seq.0) <= BESIDE && apart <= TALK
        })
    };
    messages.into_iter().filter(is_beside).collect()
}

/// What is thought of each span, the likeliest first.
pub fn judged(sought: &Sought, read: &[ReadSpan], weights: &Weights) -> Vec<Judged> {
    /// Spans that are accepted at most: what a tag is about did not begin in many places.
    const MOST: usize = 2;
    let is_hit = |read: &ReadSpan, stored: &StoredMessage| read.span.hits.contains(&stored.seq);
    let judged_one = |(features, read): ([f64; FEATURES], &ReadSpan)| Judged {
        hits: read
            .messages
            .iter()
            .filter(|stored| is_hit(read, stored))
            .map(|stored| (stored.seq, stored.message.id))
            .collect(),
        probability: weights.probability(&features),
        is_accepted: false,
        features: weights.explained(&features),
    };
    let mut judged: Vec<Judged> = compared(sought, read).into_iter().zip(read).map(judged_one).collect();
    judged.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(b.hits.cmp(&a.hits)));
    judged.iter_mut().take(MOST).for_each(|one| one.is_accepted = one.probability >= weights.threshold);
    judged
}

/// The features of each span, which come the strongest first.
pub fn compared(sought: &Sought, read: &[ReadSpan]) -> Vec<[f64; FEATURES]> {
    (0..).zip(read).map(|(rank, read)| features(sought, read, rank)).collect()
}

fn features(sought: &Sought, read: &ReadSpan, rank: u32) -> [f64; FEATURES] {
    let ReadSpan { messages, stems, .. } = read;
    let authors = || messages.iter().map(|stored| stored.message.sender.id);
    let known: f64 = authors().filter_map(|author| sought.authors.get(&author)).sum();
    [
        // How alike the words are beyond what is usual here. Meanings were tried, and say nothing more once words are shared.
        sought.words_shared(stems.iter().map(Vec::as_slice)),
        // Whether who asks now spoke there, and how many of those who speak now.
        if authors().any(|author| author == sought.asker) { 1.0 } else { 0.0 },
        known / messages.len().max(1) as f64,
        // How many spans tell more.
        f64::from(rank).ln_1p(),
    ]
}

/// Fitted by `cargo bench --bench fit -- --beyond` on hand-written groups whose older part was hidden among other groups of
/// the same language; the threshold was set, not fitted.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Table")]
pub struct Weights {
    /// What is less likely is not taken.
    pub threshold: f64,
    terms: Terms<FEATURES>,
}

impl TryFrom<Table> for Weights {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        Ok(Self { threshold: table.threshold, terms: table.terms(&NAMES)? })
    }
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
static SHIPPED: LazyLock<Weights> =
    LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).expect("weights of the right form"));

impl Weights {
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// How likely a span with these features is about the same.
    pub fn probability(&self, features: &[f64; FEATURES]) -> f64 {
        chance(self.terms.score(features))
    }

    /// What each feature adds, the weightiest first.
    pub fn explained(&self, features: &[f64; FEATURES]) -> Vec<Feature> {
        let parts = self.terms.parts(features);
        let feature = |((name, value), contribution): ((&&str, &f64), &f64)| Feature {
            name: format!("beyond.{name}"),
            value: *value,
            contribution: *contribution,
        };
        let mut explained: Vec<Feature> = NAMES.iter().zip(features).zip(&parts).map(feature).collect();
        explained.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        explained
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights = Weights::shipped();
        assert!(weights.terms.terms.iter().all(|term| term.weight != 0.0 && term.low <= term.high));
        assert!((0.0..1.0).contains(&weights.threshold));
    }
}
