//! Embeddings of the candidates minus their mean: all messages of a chat are similar, so only the differences count.

use crate::context::features::corpus::Corpus;
use crate::context::threads::Consensus;
use chime_core::{add_share, dot};

#[derive(Debug)]
pub struct Meanings {
    /// Mean that is subtracted from every vector.
    usual: Vec<f32>,
    /// Vectors of all candidates, concatenated; zeros for a candidate without a vector.
    vectors: Vec<f32>,
    count: usize,
}

impl Meanings {
    pub fn of(corpus: &Corpus<'_>) -> Self {
        /// Number of zero vectors that are added to the mean, since the mean of few messages is unreliable.
        const SHRINK: f32 = 5.0;
        let vectors = || corpus.utterances.iter().map(|utterance| utterance.features.vector.as_slice());
        let known: Vec<&[f32]> = vectors().filter(|vector| !vector.is_empty()).collect();
        let mut usual = vec![0.0; known.iter().map(|vector| vector.len()).max().unwrap_or(0)];
        known.iter().for_each(|vector| add_share(&mut usual, vector, 1.0));
        usual.iter_mut().for_each(|value| *value /= known.len() as f32 + SHRINK);
        let mut meanings = Self { usual, vectors: Vec::new(), count: corpus.utterances.len() };
        meanings.vectors = meanings.zeros();
        let Self { usual, vectors: centred, .. } = &mut meanings;
        let places = centred.chunks_exact_mut(usual.len().max(1));
        places.zip(vectors()).for_each(|(place, vector)| centre(place, vector, usual));
        meanings
    }

    fn zeros(&self) -> Vec<f32> {
        vec![0.0; self.count * self.usual.len()]
    }

    fn vector(&self, place: usize) -> &[f32] {
        &self.vectors[place * self.usual.len()..][..self.usual.len()]
    }

    /// Returns a vector minus the mean; zeros for an empty vector.
    pub fn centred(&self, vector: &[f32]) -> Vec<f32> {
        let mut centred = vec![0.0; self.usual.len()];
        centre(&mut centred, vector, &self.usual);
        centred
    }

    /// Returns the sum of the vectors in each candidate's segment, weighted by the share of the forests that put both
    /// in one segment.
    pub fn of_segments(&self, consensus: &Consensus) -> Self {
        let mut sums = self.zeros();
        for (place, sum) in sums.chunks_exact_mut(self.usual.len().max(1)).enumerate() {
            consensus.with(place).for_each(|(other, share)| add_share(sum, self.vector(other), share as f32));
        }
        Self { usual: self.usual.clone(), vectors: sums, count: self.count }
    }

    /// Returns the cosine of each candidate's vector with `centred`, from which the mean is subtracted already.
    pub fn cosines(&self, centred: &[f32]) -> Vec<f64> {
        let length = |vector: &[f32]| f64::from(dot(vector, vector).sqrt()).max(1e-6);
        let own = length(centred);
        let cosine = |vector: &[f32]| f64::from(dot(vector, centred)) / own / length(vector);
        (0..self.count).map(|place| cosine(self.vector(place))).collect()
    }
}

/// Writes `vector` minus the mean into `zeros`. An empty vector leaves the zeros.
fn centre(zeros: &mut [f32], vector: &[f32], usual: &[f32]) {
    if !vector.is_empty() {
        add_share(zeros, vector, 1.0);
        add_share(zeros, usual, -1.0);
    }
}
