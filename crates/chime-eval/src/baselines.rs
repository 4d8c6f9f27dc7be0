//! Simple rankings with which the daemon's own is compared.

use std::collections::HashMap;

use chime_core::dot;
use chime_relevance::retrieval::{Frequencies, Lexicon, ParsedQuestion, Passage};

/// Constants of Okapi BM25. With a low B, the length of a message hardly counts.
const K1: f64 = 0.9;
const B: f64 = 0.1;
/// Maximum ages in days of recent and of fairly recent messages, and the recency of both and of all older ones.
const RECENT_DAYS: (f64, f64) = (28.0, 180.0);
const RECENCY: (f64, f64, f64) = (1.0, 0.6, 0.3);
const DAY_MS: f64 = 86_400_000.0;

/// Retriever under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Retriever {
    /// The daemon's, on the pack's messages in a store
    Fitted,
    /// The same features and weights over every message of the chat, without preselection
    Exhaustive,
    /// The same without vectors
    Lexical,
    /// Vectors alone
    Vectors,
    /// Weighted sum of similarity, tag overlap and recency, as in the first design
    SeedBlend,
    Bm25,
    Tags,
}

/// Ranks all passages by a simple formula, best first: their indices and scores.
pub fn ranked(
    retriever: Retriever,
    question: &ParsedQuestion,
    passages: &[Passage<'_>],
    lexicon: &mut Lexicon<'_>,
) -> Vec<(usize, f64)> {
    let mut asked: Vec<Box<str>> = Vec::new();
    for word in &question.words {
        let id = lexicon.id(word);
        let stem = lexicon.word(id).stem.clone();
        if !asked.contains(&stem) {
            asked.push(stem);
        }
    }
    let counts: Vec<HashMap<Box<str>, f64>> = passages.iter().map(|passage| counts(passage.text, lexicon)).collect();
    let mut frequencies = Frequencies { messages: passages.len() as f64, ..Frequencies::default() };
    for stem in counts.iter().flat_map(HashMap::keys) {
        *frequencies.holding.entry(stem.to_string()).or_insert(0.0) += 1.0;
    }
    let mean = (counts.iter().map(HashMap::len).sum::<usize>() as f64 / passages.len().max(1) as f64).max(1.0);
    let newest = passages.iter().map(|passage| passage.sent_at.millis()).max().unwrap_or(0);
    let vector = lexicon.embedder().map(|embedder| embedder.embed(&question.bare)).unwrap_or_default();
    let score = |(passage, counts): (&Passage<'_>, &HashMap<Box<str>, f64>)| {
        let share = asked.iter().filter(|stem| counts.contains_key(*stem)).count() as f64 / asked.len().max(1) as f64;
        match retriever {
            Retriever::Bm25 => asked
                .iter()
                .map(|stem| {
                    let times = counts.get(stem).copied().unwrap_or(0.0);
                    let norm = K1 * (1.0 - B + B * counts.len() as f64 / mean);
                    frequencies.idf(stem) * times * (K1 + 1.0) / (times + norm)
                })
                .sum(),
            Retriever::Tags => share,
            _ => {
                let similarity = f64::from(dot(passage.vector, &vector));
                let age = (newest - passage.sent_at.millis()) as f64 / DAY_MS;
                0.6 * similarity + 0.25 * share + 0.15 * recency(age)
            }
        }
    };
    let mut ranked: Vec<(usize, f64)> = passages.iter().zip(&counts).map(score).enumerate().collect();
    ranked.sort_by(|(one, a), (other, b)| b.total_cmp(a).then(one.cmp(other)));
    ranked
}

/// Counts how often each stem of a content word occurs in a text.
fn counts(text: &str, lexicon: &mut Lexicon<'_>) -> HashMap<Box<str>, f64> {
    let mut counts = HashMap::new();
    for id in lexicon.telling(text) {
        *counts.entry(lexicon.word(id).stem.clone()).or_insert(0.0) += 1.0;
    }
    counts
}

/// Returns the recency of a message of this age in days.
fn recency(days: f64) -> f64 {
    match days {
        days if days <= RECENT_DAYS.0 => RECENCY.0,
        days if days <= RECENT_DAYS.1 => RECENCY.1,
        _ => RECENCY.2,
    }
}
