//! A segment: messages that hang together with no long silence between them. What does not depend on the matters that it
//! may take up is worked out when it is first met: the same segments come again in most forests.

use crate::context::features::corpus::Corpus;
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

/// A stem of a segment. There are thousands of segments, each with the stems of all its messages: what can be looked up is not
/// kept.
#[derive(Debug, Clone, Copy)]
pub struct StemUse {
    stem: u32,
    /// Messages of the segment that use it.
    pub here: u16,
    /// Messages that use it elsewhere.
    pub elsewhere: u16,
}

impl StemUse {
    pub fn stem(&self) -> usize {
        self.stem as usize
    }

    /// Its weight: damped count times rarity.
    pub fn weight(&self, corpus: &Corpus<'_>) -> f64 {
        corpus.logarithms.damped(usize::from(self.here)) * corpus.idf[self.stem()]
    }
}

impl Segment {
    pub fn new(places: Vec<usize>, corpus: &Corpus<'_>) -> Self {
        let authors = counted(places.iter().map(|place| corpus.authors[*place]));
        let counts = counted(places.iter().flat_map(|place| corpus.stems[*place].iter().copied()));
        let used = |(stem, here): (u32, u16)| StemUse { stem, here, elsewhere: corpus.spread[stem as usize] - here };
        let mut segment = Self {
            authors_length: authors.iter().map(|(_, times)| f64::from(*times).powi(2)).sum::<f64>().sqrt(),
            authors: authors.into_iter().map(|(author, times)| (author as usize, f64::from(times))).collect(),
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
        let logarithms = &corpus.logarithms;
        let mut square = 0.0;
        for used in &self.stems {
            square += used.weight(corpus).powi(2);
            if used.elsewhere > 0 {
                let idf = corpus.idf[used.stem()];
                self.shared_stems += 1;
                self.strangeness += idf * (logarithms.seldom(0) - logarithms.seldom(usize::from(used.elsewhere)));
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

/// Each of `numbers` once with how often it occurs, ascending.
fn counted(numbers: impl Iterator<Item = usize>) -> Vec<(u32, u16)> {
    let mut sorted: Vec<u32> = numbers.map(|number| u32::try_from(number).unwrap_or(u32::MAX)).collect();
    sorted.sort_unstable();
    let mut counted = Vec::with_capacity(sorted.len());
    counted.extend(sorted.chunk_by(PartialEq::eq).map(|run| (run[0], u16::try_from(run.len()).unwrap_or(u16::MAX))));
    counted
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
