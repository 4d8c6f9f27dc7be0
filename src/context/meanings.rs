//! Embeddings of the candidates, centred on their mean: two messages of one chat are similar anyway.

use crate::context::features::corpus::Corpus;
use crate::context::strands::Consensus;
use crate::domain::{add_share, dot};

#[derive(Debug)]
pub struct Meanings {
    /// The mean that was subtracted.
    usual: Vec<f32>,
    /// One for each candidate; zeros where its vector is not known.
    vectors: Vec<Vec<f32>>,
}

impl Meanings {
    pub fn of(corpus: &Corpus<'_>) -> Self {
        /// So many zero vectors are counted in: the mean of few messages says little.
        const SHRINK: f32 = 5.0;
        let vectors = || corpus.utterances.iter().map(|utterance| utterance.features.vector.as_slice());
        let known: Vec<&[f32]> = vectors().filter(|vector| !vector.is_empty()).collect();
        let mut usual = vec![0.0; known.iter().map(|vector| vector.len()).max().unwrap_or(0)];
        known.iter().for_each(|vector| add_share(&mut usual, vector, 1.0));
        usual.iter_mut().for_each(|value| *value /= known.len() as f32 + SHRINK);
        let mut meanings = Self { usual, vectors: Vec::new() };
        meanings.vectors = vectors().map(|vector| meanings.centred(vector)).collect();
        meanings
    }

    /// A vector minus the mean; zeros for one that is not known.
    pub fn centred(&self, vector: &[f32]) -> Vec<f32> {
        let mut centred = vec![0.0; self.usual.len()];
        if !vector.is_empty() {
            add_share(&mut centred, vector, 1.0);
            add_share(&mut centred, &self.usual, -1.0);
        }
        centred
    }

    /// The vectors of each candidate's segment, summed with their share of the forests as weights.
    pub fn of_segments(&self, consensus: &Consensus) -> Self {
        let sum = |place: usize| {
            let mut sum = vec![0.0; self.usual.len()];
            consensus.with(place).for_each(|(other, share)| add_share(&mut sum, &self.vectors[other], share as f32));
            sum
        };
        Self { usual: self.usual.clone(), vectors: (0..self.vectors.len()).map(sum).collect() }
    }

    /// The cosine of each candidate with a centred vector.
    pub fn cosines(&self, centred: &[f32]) -> Vec<f64> {
        let length = |vector: &[f32]| f64::from(dot(vector, vector).sqrt()).max(1e-6);
        let own = length(centred);
        let cosine = |vector: &Vec<f32>| f64::from(dot(vector, centred)) / own / length(vector);
        self.vectors.iter().map(cosine).collect()
    }
}
