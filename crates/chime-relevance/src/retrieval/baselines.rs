//! Simple rankings with which the fitted one is compared.

use std::collections::HashMap;

use crate::retrieval::frequencies::Frequencies;
use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::{Passage, PassageProperties};
use crate::retrieval::profile::Profile;
use crate::retrieval::question::ParsedQuestion;
use crate::retrieval::words::lower;
use chime_core::{dot, folded, search_words};

/// Constants of Okapi BM25. With a low B, the length of a message hardly counts.
const K1: f64 = 0.9;
const B: f64 = 0.1;
/// Maximum ages in days of recent and of fairly recent messages, and the recency of both and of all older ones.
const RECENT_DAYS: (f64, f64) = (28.0, 180.0);
const RECENCY: (f64, f64, f64) = (1.0, 0.6, 0.3);
const DAY_MS: f64 = 86_400_000.0;

/// Returns the score of each passage under `profile`. `vector` is the embedding of the question, empty if there is
/// none.
pub(super) fn scores(
    profile: Profile,
    question: &ParsedQuestion,
    passages: &[Passage<'_>],
    readings: &[PassageProperties],
    frequencies: &Frequencies,
    vector: &[f32],
    lexicon: &mut Lexicon<'_>,
) -> Vec<f64> {
    let mut asked: Vec<Box<str>> = Vec::new();
    for word in &question.words {
        let id = lexicon.id(word);
        let stem = lexicon.word(id).stem.clone();
        if !asked.contains(&stem) {
            asked.push(stem);
        }
    }
    let lengths: Vec<f64> = readings.iter().map(|reading| reading.words.len() as f64).collect();
    let mean = (lengths.iter().sum::<f64>() / lengths.len().max(1) as f64).max(1.0);
    let newest = passages.iter().map(|passage| passage.sent_at.millis()).max().unwrap_or(0);
    (0..passages.len())
        .map(|index| {
            let counts = counts(&passages[index], lexicon);
            let share =
                asked.iter().filter(|stem| counts.contains_key(*stem)).count() as f64 / asked.len().max(1) as f64;
            match profile {
                Profile::Bm25 => asked
                    .iter()
                    .map(|stem| {
                        let times = counts.get(stem).copied().unwrap_or(0.0);
                        let norm = K1 * (1.0 - B + B * lengths[index] / mean);
                        frequencies.idf(stem) * times * (K1 + 1.0) / (times + norm)
                    })
                    .sum(),
                Profile::Tags => share,
                _ => {
                    let similarity = f64::from(dot(passages[index].vector, vector));
                    let age = (newest - passages[index].sent_at.millis()) as f64 / DAY_MS;
                    0.6 * similarity + 0.25 * share + 0.15 * recency(age)
                }
            }
        })
        .collect()
}

fn counts(passage: &Passage<'_>, lexicon: &mut Lexicon<'_>) -> HashMap<Box<str>, f64> {
    let mut counts = HashMap::new();
    for word in search_words(&folded(passage.text)) {
        let id = lexicon.id(&lower(word));
        *counts.entry(lexicon.word(id).stem.clone()).or_insert(0.0) += 1.0;
    }
    counts
}

/// Returns the recency that [`Profile::SeedBlend`] gives to a message of this age in days.
pub fn recency(days: f64) -> f64 {
    match days {
        days if days <= RECENT_DAYS.0 => RECENCY.0,
        days if days <= RECENT_DAYS.1 => RECENCY.1,
        _ => RECENCY.2,
    }
}
