//! A segment: messages that hang together with no long silence between them. What does not depend on the matters that it
//! may take up is worked out when it is first met: the same segments come again in most forests.

use crate::context::features::corpus::Corpus;
use crate::context::features::lexical::damped;
use crate::context::replies::similarity::dot;

#[derive(Debug)]
pub struct Segment {
    /// Ascending.
    pub places: Vec<usize>,
    /// Messages by author.
    pub authors: Vec<(usize, f64)>,
    pub authors_length: f64,
    /// Ascending.
    pub stems: Vec<StemUse>,
    /// How many of them are also used elsewhere.
    pub shared_stems: usize,
    /// ln(1 + stems of all messages)
    pub wordiness: f64,
    /// What the words say of a matter that uses none of them, but for how long it is.
    pub strangeness: f64,
    /// Sum of the rarities.
    pub rarity: f64,
    /// Length of the stems' weights.
    pub lexical_length: f64,
    /// Sum of the vectors.
    pub vector: Vec<f32>,
    pub vector_length: f32,
}

/// A stem of a segment.
#[derive(Debug, Clone, Copy)]
pub struct StemUse {
    pub stem: usize,
    /// Messages of the segment that use it.
    pub here: u16,
    /// Messages that use it elsewhere.
    pub elsewhere: u16,
}

impl StemUse {
    /// Its weight: damped count times rarity.
    pub fn weight(&self, corpus: &Corpus<'_>) -> f64 {
        damped(usize::from(self.here)) * corpus.idf[self.stem]
    }
}

impl Segment {
    pub fn new(places: Vec<usize>, corpus: &Corpus<'_>) -> Self {
        let authors = counted(places.iter().map(|place| corpus.authors[*place]));
        let counts = counted(places.iter().flat_map(|place| corpus.stems[*place].iter().copied()));
        let used = |(stem, here): (usize, u16)| StemUse { stem, here, elsewhere: corpus.spread[stem] - here };
        let mut segment = Self {
            authors_length: authors.iter().map(|(_, times)| f64::from(*times).powi(2)).sum::<f64>().sqrt(),
            authors: authors.into_iter().map(|(author, times)| (author, f64::from(times))).collect(),
            wordiness: counts.iter().map(|(_, times)| f64::from(*times)).sum::<f64>().ln_1p(),
            stems: counts.into_iter().map(used).collect(),
            shared_stems: 0,
            strangeness: 0.0,
            rarity: 0.0,
            lexical_length: 0.0,
            vector: sum(places.iter().map(|place| corpus.utterances[*place].vector)),
            vector_length: 0.0,
            places,
        };
        segment.vector_length = dot(&segment.vector, &segment.vector).sqrt();
        segment.weigh_stems(corpus);
        segment
    }

    fn weigh_stems(&mut self, corpus: &Corpus<'_>) {
        let mut square = 0.0;
        for used in &self.stems {
            square += used.weight(corpus).powi(2);
            if used.elsewhere > 0 {
                let idf = corpus.idf[used.stem];
                self.shared_stems += 1;
                self.strangeness += idf * (seldom(0) - seldom(usize::from(used.elsewhere)));
                self.rarity += idf;
            }
        }
        self.lexical_length = square.sqrt();
    }

    pub fn start(&self) -> usize {
        self.places[0]
    }

    pub fn count(&self) -> usize {
        self.places.len()
    }
}

/// ln of how often a word is met, shrunk.
pub fn seldom(times: usize) -> f64 {
    (times as f64 + 0.3).ln()
}

/// Each of `numbers` once with how often it occurs, ascending.
fn counted(numbers: impl Iterator<Item = usize>) -> Vec<(usize, u16)> {
    let mut sorted: Vec<usize> = numbers.collect();
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

/// Adds a vector, the first of which may be the longer.
pub fn add(sum: &mut Vec<f32>, vector: &[f32]) {
    if sum.is_empty() {
        sum.extend_from_slice(vector);
    } else {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
}
