//! Segment: messages of one thread without a long silence between them, with sums over these messages.

use crate::context::features::corpus::{Corpus, StemId};
use crate::context::features::lexical::damped;
use chime_core::dot;

#[derive(Debug)]
pub struct Segment {
    /// Indices of the segment's messages, ascending.
    pub places: Vec<usize>,
    /// Author numbers, each with the number of messages.
    pub authors: Vec<(usize, f64)>,
    pub authors_length: f64,
    /// Stems of the messages, ascending, each with its count.
    pub stems: Vec<StemUse>,
    /// `ln(1 + n)`, where n is the number of stems in all messages, repetitions included.
    pub wordiness: f64,
    /// Norm of the vector of stem weights, see [`StemUse::weight`].
    pub lexical_length: f64,
    /// Sum of the embeddings of its messages.
    pub vector: Vec<f32>,
    pub vector_length: f32,
}

#[derive(Debug, Clone, Copy)]
pub struct StemUse {
    pub stem: StemId,
    /// Number of messages of the segment that have the stem.
    pub here: u16,
}

impl StemUse {
    /// Returns the idf of the stem times its count, which is damped so that repetitions add less and less.
    pub fn weight(&self, corpus: &Corpus<'_>) -> f64 {
        damped(f64::from(self.here)) * corpus.idf[self.stem as usize]
    }
}

impl Segment {
    pub fn new(places: Vec<usize>, corpus: &Corpus<'_>) -> Self {
        let authors = counted(places.iter().map(|place| corpus.authors[*place]));
        let counts = counted(places.iter().flat_map(|place| corpus.stems[*place].iter().copied()));
        let stems: Vec<StemUse> = counts.iter().map(|(stem, here)| StemUse { stem: *stem, here: *here }).collect();
        let vector = sum(places.iter().map(|place| corpus.utterances[*place].features.vector.as_slice()));
        Self {
            authors_length: length(authors.iter().map(|(_, times)| f64::from(*times))),
            authors: authors.into_iter().map(|(author, times)| (author, f64::from(times))).collect(),
            wordiness: counts.iter().map(|(_, times)| f64::from(*times)).sum::<f64>().ln_1p(),
            lexical_length: length(stems.iter().map(|used| used.weight(corpus))),
            stems,
            vector_length: dot(&vector, &vector).sqrt(),
            vector,
            places,
        }
    }

    pub fn start(&self) -> usize {
        self.places[0]
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }
}

fn length(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum::<f64>().sqrt()
}

/// Returns each distinct number with how often it occurs, ascending by number.
fn counted<N: Ord + Copy>(numbers: impl Iterator<Item = N>) -> Vec<(N, u16)> {
    let mut sorted: Vec<N> = numbers.collect();
    sorted.sort_unstable();
    sorted.chunk_by(PartialEq::eq).map(|run| (run[0], u16::try_from(run.len()).unwrap_or(u16::MAX))).collect()
}

fn sum<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> Vec<f32> {
    let mut sum: Vec<f32> = Vec::new();
    for vector in vectors {
        add(&mut sum, vector);
    }
    sum
}

/// Adds a vector to `sum`, which may still be empty and then becomes that vector.
pub fn add(sum: &mut Vec<f32>, vector: &[f32]) {
    if sum.is_empty() {
        sum.extend_from_slice(vector);
    } else {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
}
