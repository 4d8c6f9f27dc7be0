//! What is said around each candidate: its words, people and meaning, and in part those of whoever it hangs together with.

use crate::context::features::corpus::Corpus;
use crate::context::relatedness::matrix::{Matrix, add_all};
use crate::context::replies::similarity::dot;
use crate::context::strands::Consensus;

/// The candidates' vectors without what is usual in their window: two messages of one chat are alike anyway.
#[derive(Debug)]
pub struct Meanings {
    width: usize,
    usual: Vec<f32>,
    /// One after the other; zeros where a vector is not known.
    vectors: Vec<f32>,
    lengths: Vec<f32>,
}

impl Meanings {
    pub fn of(corpus: &Corpus<'_>) -> Self {
        /// The mean is that of as many more vectors of zero: of few messages it says little.
        const SHRINK: f32 = 5.0;
        let vectors = || corpus.utterances.iter().map(|utterance| utterance.vector);
        let known = || vectors().filter(|vector| !vector.is_empty());
        let width = known().map(<[f32]>::len).max().unwrap_or(0);
        let mut usual = vec![0.0; width];
        known().for_each(|vector| add(&mut usual, vector, 1.0));
        let count = known().count() as f32 + SHRINK;
        usual.iter_mut().for_each(|value| *value /= count);
        let mut meanings =
            Self { width, usual, vectors: Vec::with_capacity(width * corpus.utterances.len()), lengths: Vec::new() };
        for vector in vectors() {
            let centred = meanings.centred(vector);
            meanings.lengths.push(dot(&centred, &centred).sqrt());
            meanings.vectors.extend_from_slice(&centred);
        }
        meanings
    }

    /// A vector without what is usual; zeros for one that is not known.
    pub fn centred(&self, vector: &[f32]) -> Vec<f32> {
        let mut centred = vec![0.0; self.width];
        if !vector.is_empty() {
            add(&mut centred, vector, 1.0);
            add(&mut centred, &self.usual, -1.0);
        }
        centred
    }

    pub fn vector(&self, place: usize) -> &[f32] {
        &self.vectors[place * self.width..][..self.width]
    }

    pub fn length(&self, place: usize) -> f64 {
        f64::from(self.lengths[place])
    }

    /// The same, each with that of its segment: vectors weighed by how often two were together.
    pub fn gathered(&self, consensus: &Consensus) -> Self {
        let Self { width, ref usual, .. } = *self;
        let mut vectors = vec![0.0; self.vectors.len()];
        for (place, sum) in vectors.chunks_exact_mut(width.max(1)).enumerate() {
            for (other, share) in consensus.with(place).filter(|(other, _)| self.lengths[*other] > 0.0) {
                add(sum, self.vector(other), share as f32);
            }
        }
        let length = |place: usize| {
            let vector = &vectors[place * width..][..width];
            dot(vector, vector).sqrt()
        };
        let lengths = (0..self.lengths.len()).map(length).collect();
        Self { width, usual: usual.clone(), vectors, lengths }
    }
}

/// How alike the words are, the rare ones heavier, of any two candidates and of their segments.
#[derive(Debug)]
pub struct Words {
    /// The candidates that use each stem, ascending.
    holders: Vec<Vec<usize>>,
    /// The same of one's segment, by row, and of the other alone. The words of two segments are multiplied by way of these:
    /// segments have many words, and few messages.
    around: Matrix,
    /// Lengths of the words of one's segment.
    lengths: Vec<f32>,
}

impl Words {
    pub fn of(corpus: &Corpus<'_>, consensus: &Consensus) -> Self {
        let mut holders = vec![Vec::new(); corpus.idf.len()];
        for (place, stems) in corpus.stems.iter().enumerate() {
            stems.iter().for_each(|stem| holders[*stem].push(place));
        }
        let count = corpus.stems.len();
        let mut own = Matrix::zeros(count, count);
        for (holders, idf) in holders.iter().zip(&corpus.idf) {
            let product = (idf * idf) as f32;
            for one in holders {
                let row = own.row_mut(*one);
                holders.iter().for_each(|other| row[*other] += product);
            }
        }
        let mut words = Self { around: Matrix::zeros(count, count), lengths: Vec::new(), holders };
        for one in 0..count {
            add_all(words.around.row_mut(one), consensus.near(one).iter().copied(), |other| own.row(other));
            words.lengths.push(words.product_around(one, one, consensus).sqrt().max(1e-6));
        }
        words
    }

    /// The candidates that use a stem.
    pub fn holders(&self, stem: usize) -> &[usize] {
        &self.holders[stem]
    }

    /// The cosine of the words of their segments.
    pub fn cosine_around(&self, one: usize, other: usize, consensus: &Consensus) -> f32 {
        self.product_around(one, other, consensus) / (self.lengths[one] * self.lengths[other])
    }

    fn product_around(&self, one: usize, other: usize, consensus: &Consensus) -> f32 {
        let around = self.around.row(one);
        consensus.near(other).iter().map(|(place, share)| share * around[*place]).sum()
    }
}

/// Who speaks in each candidate's segment, and how much of it.
#[derive(Debug)]
pub struct People {
    /// How many there are.
    width: usize,
    /// One candidate's after the other's.
    shares: Vec<f32>,
    lengths: Vec<f32>,
}

impl People {
    pub fn of(corpus: &Corpus<'_>, consensus: &Consensus) -> Self {
        let (width, count) = (corpus.people, corpus.authors.len());
        let mut shares = vec![0.0; width * count];
        for (one, own) in shares.chunks_exact_mut(width.max(1)).enumerate() {
            consensus.near(one).iter().for_each(|(other, share)| own[corpus.authors[*other]] += share);
        }
        let lengths = shares.chunks_exact(width.max(1)).map(|own| dot(own, own).sqrt().max(1e-6)).collect();
        Self { width, shares, lengths }
    }

    pub fn cosine(&self, one: usize, other: usize) -> f32 {
        let own = |place: usize| &self.shares[place * self.width..][..self.width];
        dot(own(one), own(other)) / (self.lengths[one] * self.lengths[other])
    }
}

fn add(sum: &mut [f32], vector: &[f32], share: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
}
