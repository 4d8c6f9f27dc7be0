//! Builds the query for messages older than all candidates.

use std::sync::Arc;

use crate::context::features::lexical;
use crate::context::features::lexical::{damped, holding, stems, stems_of_name, words_of};
use crate::context::features::message::MessageFeatures;
use crate::context::features::token::{Quick, QuickSet, Token};
use crate::retrieval::WeightedWord;
use chime_core::{Seq, StoredMessage, UserId};

/// Maximum number of words that are searched for. Each costs an index lookup.
const WORDS: usize = 8;
/// Factor on the weight of a word of the question, relative to a word of a picked message only.
const ASKED: f64 = 2.0;

/// Candidate with its features and its score in the focus: up to 1, and 0 if it was not picked.
pub type Candidate<'a> = (&'a StoredMessage, Arc<MessageFeatures>, f64);

#[derive(Debug, Clone, PartialEq)]
pub struct OlderQuery {
    /// Words to search for, by descending weight.
    pub words: Vec<WeightedWord>,
    /// Only messages before this one are searched.
    pub before: Seq,
    /// Authors of picked messages, each with the highest score of their messages.
    pub authors: Quick<UserId, f64>,
}

impl OlderQuery {
    /// Builds the query from the `trigger` (whose text without the bot's name is `ask`) and from the picked messages of
    /// `talk`. Returns `None` if no word is worth a search.
    pub fn of(trigger: &StoredMessage, ask: &str, talk: &[Candidate<'_>], before: Seq) -> Option<Self> {
        let picked = || talk.iter().filter(|(.., share)| *share > 0.0);
        let names = names(talk.iter().map(|(stored, ..)| *stored).chain([trigger]));
        let asked = stems(ask);
        let mut said: Quick<Token, f64> = asked.iter().map(|stem| (*stem, 1.0)).collect();
        let mut authors: Quick<UserId, f64> = Quick::default();
        for (stored, reading, share) in picked() {
            reading.stems.iter().for_each(|stem| *said.entry(*stem).or_default() += share);
            let known = authors.entry(stored.message.sender.id).or_default();
            *known = known.max(*share);
        }
        said.retain(|stem, _| !names.contains(stem));
        let weight = |(stem, times): (&Token, &f64)| damped(*times) * if asked.contains(stem) { ASKED } else { 1.0 };
        let weights: Quick<Token, f64> = said.iter().map(|one| (*one.0, weight(one))).collect();
        let of_picked = picked().map(|(stored, reading, _)| (stored.message.text.as_str(), reading.stems.as_slice()));
        let words = most_telling(std::iter::once((ask, &asked[..])).chain(of_picked), &weights, &rarity(talk, &said));
        (!words.is_empty()).then_some(Self { words, before, authors })
    }
}

/// Returns the stems of the names of members, which say nothing about a subject.
fn names<'a>(said: impl Iterator<Item = &'a StoredMessage>) -> QuickSet<Token> {
    let mut seen = QuickSet::default();
    let new = said.map(|stored| &stored.message.sender).filter(|sender| seen.insert(sender.id));
    let called = new.flat_map(|sender| [Some(sender.name.as_str()), sender.username.as_deref()]).flatten();
    called.flat_map(stems_of_name).collect()
}

/// Returns the idf among the candidates of each stem in `of`.
fn rarity(talk: &[Candidate<'_>], of: &Quick<Token, f64>) -> Quick<Token, f64> {
    let holding = holding(of.keys().copied(), talk.iter().map(|(_, features, _)| &features.stems));
    holding.into_iter().map(|(stem, count)| (stem, lexical::rarity(talk.len(), count))).collect()
}

/// Returns the [`WORDS`] words of `texts` with the highest product of weight and idf, each stem once. Each text comes
/// with its stems.
fn most_telling<'a>(
    texts: impl Iterator<Item = (&'a str, &'a [Token])>,
    weights: &Quick<Token, f64>,
    rarity: &Quick<Token, f64>,
) -> Vec<WeightedWord> {
    let telling = |stem: &Token| weights[stem] * rarity[stem];
    let mut most: Vec<f64> = weights.keys().map(telling).collect();
    most.sort_by(|a, b| b.total_cmp(a));
    let least = most.get(WORDS - 1).copied().unwrap_or(f64::NEG_INFINITY);
    // Only the words with these stems are looked up in the texts, since splitting a text into words takes longer than
    // everything else here.
    let mut wanted: QuickSet<Token> = weights.keys().copied().filter(|stem| telling(stem) >= least).collect();
    let mut words: Vec<(f64, WeightedWord)> = Vec::new();
    for (text, stems) in texts {
        if stems.iter().any(|stem| wanted.contains(stem)) {
            let found = words_of(text).into_iter().filter(|(stem, _)| wanted.remove(stem));
            words.extend(found.map(|(stem, text)| (telling(&stem), WeightedWord { text, weight: weights[&stem] })));
        }
    }
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.text.cmp(&b.1.text)));
    words.into_iter().take(WORDS).map(|(_, word)| word).collect()
}
