//! How much a message says what earlier ones said: in the same rare words, and in meaning.

use crate::context::features::lexical::rarity;
use crate::context::features::mentions::{Names, Turn, Vector};
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
        let own = idf.length(message.stems);
        let compare = |turn: &Turn<'_>| if idf.share(turn) { idf.compare(own, turn.stems) } else { (0.0, 0.0) };
        let (words, rarest) = past.iter().map(compare).unzip();
        let meaning: Vec<f32> = past.iter().map(|turn| dot(message.vector, turn.vector)).collect();
        let recent = &meaning[meaning.len().saturating_sub(50)..];
        let background = if recent.is_empty() { 0.0 } else { recent.iter().sum::<f32>() / recent.len() as f32 };
        Self { words, rarest, meaning, background }
    }
}

/// How rare words are in the window: what everybody says tells nothing, and a name is no matter.
struct Rarity<'a> {
    /// Ascending.
    own: Vec<Token>,
    count: usize,
    documents: Quick<Token, f64>,
    names: &'a Names,
}

impl<'a> Rarity<'a> {
    fn of(message: Turn<'_>, past: &[Turn<'_>], names: &'a Names) -> Self {
        let own = message.stems.iter().copied().filter(|stem| !names.has(*stem)).collect();
        let mut rarity = Self { own, count: past.len() + 1, documents: Quick::default(), names };
        // How rare a word is matters only for those who share one: the others are not compared.
        let shared = past.iter().filter(|turn| rarity.share(turn)).chain([&message]).flat_map(|turn| turn.stems);
        rarity.documents = shared.map(|stem| (*stem, 0.0)).collect();
        for stem in past.iter().flat_map(|turn| turn.stems) {
            if let Some(times) = rarity.documents.get_mut(stem) {
                *times += 1.0;
            }
        }
        rarity
    }

    fn share(&self, turn: &Turn<'_>) -> bool {
        turn.stems.iter().any(|stem| self.own.binary_search(stem).is_ok())
    }

    fn idf(&self, stem: Token) -> f32 {
        rarity(self.count, self.documents.get(&stem).copied().unwrap_or(0.0)) as f32
    }

    fn length(&self, stems: &[Token]) -> f32 {
        let squares = stems.iter().filter(|stem| !self.names.has(**stem)).map(|stem| self.idf(*stem).powi(2));
        squares.sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
    }

    /// Cosine with the words of another message, the message's own being `own` long, and how rare the rarest shared word is,
    /// 0 to 1.
    fn compare(&self, own: f32, others: &[Token]) -> (f32, f32) {
        let shared = others.iter().filter(|stem| self.own.binary_search(stem).is_ok()).map(|stem| self.idf(*stem));
        let (product, rarest) = shared.fold((0.0, 0.0_f32), |(sum, most), idf| (sum + idf * idf, most.max(idf)));
        (product / (own * self.length(others)), rarest / rarity(self.count, 0.0) as f32)
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

/// Adds a share of a vector to a sum of the same length.
pub fn add(sum: &mut Vector, vector: &Vector, share: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
}
