//! How much a message says what earlier ones said: in the same rare words, and in meaning.

use crate::context::features::mentions::Names;
use crate::context::features::mentions::{Turn, Vector};
use crate::context::features::token::{Quick, Token};

/// Similarities of the message to each of the past.
pub struct Similarity {
    pub words: Vec<f32>,
    pub rarest: Vec<f32>,
    pub meaning: Vec<f32>,
    /// Mean of `meaning` over the last 50.
    pub background: f32,
}

impl Similarity {
    pub fn none(count: usize) -> Self {
        Self { words: vec![0.0; count], rarest: vec![0.0; count], meaning: vec![0.0; count], background: 0.0 }
    }

    pub fn of(message: Turn<'_>, past: &[Turn<'_>], names: &Names) -> Self {
        let idf = Rarity::of(message, past, names);
        let (mut words, mut rarest) = (Vec::with_capacity(past.len()), Vec::with_capacity(past.len()));
        let own = idf.weights(&message.speech.words);
        for turn in past {
            let (cosine, rare) = idf.compare(&own, &turn.speech.words);
            words.push(cosine);
            rarest.push(rare);
        }
        let meaning: Vec<f32> = past.iter().map(|turn| dot(message.vector, turn.vector)).collect();
        let recent = &meaning[meaning.len().saturating_sub(50)..];
        let background = if recent.is_empty() { 0.0 } else { recent.iter().sum::<f32>() / recent.len() as f32 };
        Self { words, rarest, meaning, background }
    }
}

/// How rare words are in the window: what everybody says tells nothing, and a name is no matter.
struct Rarity<'a> {
    count: f32,
    documents: Quick<Token, f32>,
    names: &'a Names,
}

impl<'a> Rarity<'a> {
    fn of(message: Turn<'_>, past: &[Turn<'_>], names: &'a Names) -> Self {
        let own: Quick<Token, f32> = message.speech.words.iter().map(|(word, _)| (*word, 0.0)).collect();
        let mut documents = own.clone();
        // How rare a word is matters only for those who share one: the others are not compared.
        let shares = |turn: &&Turn<'_>| turn.speech.words.iter().any(|(word, _)| own.contains_key(word));
        for turn in past.iter().filter(shares) {
            documents.extend(turn.speech.words.iter().map(|(word, _)| (*word, 0.0)));
        }
        for (word, _) in past.iter().flat_map(|turn| &turn.speech.words) {
            if let Some(times) = documents.get_mut(word) {
                *times += 1.0;
            }
        }
        Self { count: past.len() as f32 + 1.0, documents, names }
    }

    fn idf(&self, word: Token) -> f32 {
        ((self.count + 20.0) / (self.documents.get(&word).copied().unwrap_or(0.0) + 0.5)).ln()
    }

    /// Words with their idf and weight, before scaling to unit length.
    fn weighed(&self, words: &[(Token, u32)]) -> impl Iterator<Item = (Token, f32, f32)> {
        words.iter().filter(|(word, _)| !self.names.has(*word)).map(|(word, times)| {
            let idf = self.idf(*word);
            (*word, idf, (1.0 + (*times as f32).ln()) * idf)
        })
    }

    /// Weights of unit length.
    fn weights(&self, words: &[(Token, u32)]) -> Quick<Token, f32> {
        let weights: Quick<Token, f32> = self.weighed(words).map(|(word, _, weight)| (word, weight)).collect();
        let length = weights.values().map(|weight| weight * weight).sum::<f32>().sqrt();
        if length == 0.0 {
            weights
        } else {
            weights.into_iter().map(|(word, weight)| (word, weight / length)).collect()
        }
    }

    /// Cosine with the words of another message, and how rare the rarest shared word is, 0 to 1.
    fn compare(&self, own: &Quick<Token, f32>, others: &[(Token, u32)]) -> (f32, f32) {
        if own.is_empty() || !others.iter().any(|(word, _)| own.contains_key(word)) {
            return (0.0, 0.0);
        }
        let (mut product, mut length, mut rarest) = (0.0, 0.0_f32, 0.0_f32);
        for (word, idf, weight) in self.weighed(others) {
            length += weight * weight;
            if let Some(own) = own.get(&word) {
                product += own * weight;
                rarest = rarest.max(idf);
            }
        }
        (product / length.sqrt().max(f32::MIN_POSITIVE), rarest / ((self.count + 20.0) / 0.5).ln())
    }
}

/// The product of two vectors, 0 where one is empty. In lanes, so that the processor adds several at once: one sum would
/// have to be added in order.
pub fn dot(a: &Vector, b: &Vector) -> f32 {
    const LANES: usize = 8;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}
