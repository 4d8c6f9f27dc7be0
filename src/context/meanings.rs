//! What each candidate means: its vector without what is usual in the window, since two messages of one chat are alike anyway.

use crate::context::features::corpus::Corpus;
use crate::context::strands::Consensus;
use crate::domain::{add_share, dot};

#[derive(Debug)]
pub struct Meanings {
    usual: Vec<f32>,
    /// One a candidate; zeros where a vector is not known.
    vectors: Vec<Vec<f32>>,
}

impl Meanings {
    pub fn of(corpus: &Corpus<'_>) -> Self {
        /// The mean is that of as many more vectors of zero: of few messages it says little.
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

    /// A vector without what is usual; zeros for one that is not known.
    pub fn centred(&self, vector: &[f32]) -> Vec<f32> {
        let mut centred = vec![0.0; self.usual.len()];
        if !vector.is_empty() {
            add_share(&mut centred, vector, 1.0);
            add_share(&mut centred, &self.usual, -1.0);
        }
        centred
    }

    /// The same of each candidate's segment: vectors weighed by how often two were together.
    pub fn of_segments(&self, consensus: &Consensus) -> Self {
        let sum = |place: usize| {
            let mut sum = vec![0.0; self.usual.len()];
            consensus.with(place).for_each(|(other, share)| add_share(&mut sum, &self.vectors[other], share as f32));
            sum
        };
        Self { usual: self.usual.clone(), vectors: (0..self.vectors.len()).map(sum).collect() }
    }

    /// The cosine of each candidate's meaning with a centred vector.
    pub fn cosines(&self, centred: &[f32]) -> Vec<f64> {
        let length = |vector: &[f32]| f64::from(dot(vector, vector).sqrt()).max(1e-6);
        let own = length(centred);
        let cosine = |vector: &Vec<f32>| f64::from(dot(vector, centred)) / own / length(vector);
        self.vectors.iter().map(cosine).collect()
    }
}
