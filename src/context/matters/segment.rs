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
    /// Of each stem that is also used elsewhere.
    pub stems: Vec<StemUse>,
    /// All stems with how often they occur here, those included that are used nowhere else.
    pub all_stems: Vec<(usize, u16)>,
    pub stem_count: f64,
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
    /// Who is mentioned.
    pub named: Vec<usize>,
}

#[derive(Debug, Clone, Copy)]
pub struct StemUse {
    pub stem: usize,
    /// Messages that use it elsewhere.
    pub elsewhere: usize,
    pub idf: f64,
    /// Its weight: damped count times rarity.
    pub weight: f64,
}

impl Segment {
    pub fn new(places: Vec<usize>, corpus: &Corpus<'_>) -> Self {
        let authors = counted(places.iter().map(|place| corpus.authors[*place]));
        let all_stems = counted(places.iter().flat_map(|place| corpus.stems[*place].iter().copied()));
        let mut segment = Self {
            authors_length: authors.iter().map(|(_, times)| f64::from(*times).powi(2)).sum::<f64>().sqrt(),
            authors: authors.into_iter().map(|(author, times)| (author, f64::from(times))).collect(),
            stems: Vec::with_capacity(all_stems.len()),
            stem_count: all_stems.iter().map(|(_, times)| f64::from(*times)).sum(),
            all_stems,
            wordiness: 0.0,
            strangeness: 0.0,
            rarity: 0.0,
            lexical_length: 0.0,
            vector: sum(places.iter().map(|place| corpus.utterances[*place].vector)),
            vector_length: 0.0,
            named: places.iter().flat_map(|place| corpus.mentions[*place].iter().copied()).collect(),
            places,
        };
        segment.vector_length = dot(&segment.vector, &segment.vector).sqrt();
        segment.wordiness = segment.stem_count.ln_1p();
        segment.weigh_stems(corpus);
        segment
    }

    fn weigh_stems(&mut self, corpus: &Corpus<'_>) {
        let logarithms = &corpus.logarithms;
        let mut square = 0.0;
        for (stem, times) in &self.all_stems {
            let idf = corpus.idf[*stem];
            let weight = logarithms.damped(usize::from(*times)) * idf;
            square += weight * weight;
            let elsewhere = usize::from(corpus.spread[*stem] - times);
            if elsewhere > 0 {
                self.stems.push(StemUse { stem: *stem, elsewhere, idf, weight });
                self.strangeness += idf * (logarithms.seldom(0) - logarithms.seldom(elsewhere));
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
fn counted(numbers: impl Iterator<Item = usize>) -> Vec<(usize, u16)> {
    let mut sorted: Vec<usize> = numbers.collect();
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
