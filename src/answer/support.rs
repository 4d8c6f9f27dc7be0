//! Finds the messages that a sentence of an answer rests on, whether or not the model cited them.
//!
//! A sentence is compared with each source by its words, weighted by how rare they are among the sources, by its numbers, and by
//! embeddings where there is a model. `data/answers/support.jsonl` has labelled sentences; the test below holds the figures.

use std::collections::{BTreeSet, HashMap};

use unicode_segmentation::UnicodeSegmentation;

use crate::domain::Citable;
use crate::trigger::Languages;

/// Characters that the forms of a word share, in most languages.
const STEM_CHARS: usize = 5;
/// Shorter words tell little, unless they are numbers or ideographs.
const MIN_WORD_CHARS: usize = 3;
/// Weight of a word that the question holds too: every answer repeats some of these.
const ASKED: f64 = 0.3;
/// From this score on a source supports a sentence.
pub const SUPPORTS: f64 = 0.5;
/// Below this score a citation is taken for a mistake, if another source supports the sentence.
pub const DOUBTFUL: f64 = 0.2;
/// A second source is named where it says this share of a sentence beyond what the first says.
const ADDS: f64 = 0.35;
/// Cosine of sentence and source from which meaning alone begins to count, and the one that counts in full.
const COSINE: (f64, f64) = (0.45, 0.85);

/// The words of a text that tell something, as stems; numbers whole.
pub fn telling_words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let stem = |word: &str| {
        if word.chars().any(char::is_numeric) {
            return Some(word.trim_matches(|c: char| !c.is_alphanumeric()).to_owned());
        }
        let is_ideograph = word.chars().all(|c| ('\u{2e80}'..='\u{9fff}').contains(&c));
        let is_telling = is_ideograph
            || word.chars().count() >= MIN_WORD_CHARS && !Languages::shipped().is_stop_word_in(word, &lower);
        is_telling.then(|| word.chars().take(STEM_CHARS).collect())
    };
    lower.unicode_words().filter_map(stem).collect()
}

/// Returns the vector of a text, or nothing without an embedding model.
pub type Embed<'a> = &'a (dyn Fn(&str) -> Vec<f32> + Sync);

/// Sources, prepared to be compared with sentences.
pub struct Support<'a> {
    sources: Vec<Prepared>,
    asked: BTreeSet<String>,
    /// Words that stand in one source in two, and so on: the rarer, the heavier.
    weights: HashMap<String, f64>,
    embed: Embed<'a>,
}

struct Prepared {
    words: BTreeSet<String>,
    /// The author's name: "Ana brings the cake" may rest on Ana's "I bring the cake".
    name: BTreeSet<String>,
    is_question: bool,
    /// The bot's own words are no source.
    is_own: bool,
    vector: Vec<f32>,
}

impl<'a> Support<'a> {
    pub fn new(sources: &[Citable], question: &str, bot_name: &str, embed: Embed<'a>) -> Self {
        let prepared: Vec<Prepared> = sources
            .iter()
            .map(|source| Prepared {
                words: telling_words(&source.text),
                name: telling_words(&source.name),
                is_question: source.text.trim_end().ends_with(['?', '？', '؟']),
                is_own: source.name == bot_name,
                vector: embed(&source.text),
            })
            .collect();
        let mut spread: HashMap<String, f64> = HashMap::new();
        for word in prepared.iter().flat_map(|source| &source.words) {
            *spread.entry(word.clone()).or_default() += 1.0;
        }
        let count = prepared.len() as f64;
        let weights = spread.into_iter().map(|(word, times)| (word, (1.0 + count / times).ln())).collect();
        Self { sources: prepared, asked: telling_words(question), weights, embed }
    }

    /// Returns how well each source supports `sentence`, 0 to 1, in the order of the sources. All are 0 for a sentence
    /// without telling words.
    pub fn scores(&self, sentence: &str) -> Vec<f64> {
        let words = telling_words(sentence);
        let total: f64 = words.iter().map(|word| self.weight(word)).sum();
        if total <= 0.0 {
            return vec![0.0; self.sources.len()];
        }
        let numbers: Vec<&String> = words.iter().filter(|word| is_number(word)).collect();
        let vector = (self.embed)(sentence);
        self.sources.iter().map(|source| self.score(source, (&words, &numbers, total), &vector)).collect()
    }

    /// Returns another source that says a good part of what `first` does not say of `sentence`.
    pub fn second(&self, sentence: &str, first: usize) -> Option<usize> {
        let words = telling_words(sentence);
        let total: f64 = words.iter().map(|word| self.weight(word)).sum();
        let covered = &self.sources.get(first)?.words;
        let rest: Vec<&String> = words.iter().filter(|word| !covered.contains(*word)).collect();
        let adds = |source: &Prepared| -> f64 {
            rest.iter().filter(|word| source.words.contains(**word)).map(|word| self.weight(word)).sum()
        };
        (self.sources.iter().enumerate())
            .filter(|(place, source)| *place != first && !source.is_own && !source.is_question)
            .map(|(place, source)| (place, adds(source)))
            .filter(|(_, share)| *share >= ADDS * total)
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(place, _)| place)
    }

    /// Returns whether `sentence` has telling words beside those of the question.
    pub fn is_checkable(&self, sentence: &str) -> bool {
        telling_words(sentence).iter().filter(|word| !self.asked.contains(*word)).count() >= 1
    }

    fn score(
        &self,
        source: &Prepared,
        (words, numbers, total): (&BTreeSet<String>, &[&String], f64),
        vector: &[f32],
    ) -> f64 {
        if source.is_own {
            return 0.0;
        }
        let shared: f64 = words.iter().filter(|word| source.words.contains(*word)).map(|word| self.weight(word)).sum();
        let named: f64 = words
            .iter()
            .filter(|word| source.name.contains(*word) && !source.words.contains(*word))
            .map(|word| self.weight(word) * 0.5)
            .sum();
        // A name alone supports nothing.
        let coverage = if shared > 0.0 { (shared + named) / total } else { 0.0 };
        let meaning = cosine(&source.vector, vector)
            .map_or(0.0, |cosine| ((cosine - COSINE.0) / (COSINE.1 - COSINE.0)).clamp(0.0, 1.0));
        let base = coverage.max(0.6 * coverage + 0.5 * meaning);
        let agreeing = numbers.iter().filter(|number| source.words.contains(**number)).count();
        let factor = match (numbers.len(), agreeing) {
            (0, _) => 1.0,
            (_, 0) => 0.4,
            (all, some) if some == all => 1.3,
            _ => 1.0,
        };
        let question = if source.is_question { 0.6 } else { 1.0 };
        (base * factor * question).min(1.0)
    }

    fn weight(&self, word: &str) -> f64 {
        let rarest = (1.0 + self.sources.len() as f64).ln();
        let weight = self.weights.get(word).copied().unwrap_or(rarest);
        if self.asked.contains(word) { weight * ASKED } else { weight }
    }
}

fn is_number(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit())
}

fn cosine(a: &[f32], b: &[f32]) -> Option<f64> {
    (!a.is_empty() && a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum())
}
