//! Estimates for two candidates, at any distance, whether they share a subject: the features of a linear classifier.

use crate::context::features::corpus::Corpus;
use crate::context::focus::log_minutes;
use crate::context::relatedness::matrix::Matrix;
use crate::context::threads::{Consensus, Partitioned, Partitions};
use chime_core::{add_share, dot};

pub const FEATURES: usize = 11;
pub const NAMES: [&str; FEATURES] = [
    "same_segment",
    "same_thread",
    "same_subject_odds",
    "reply",
    "minutes_between",
    "word_cosine",
    "segment_word_cosine",
    "rarest_shared_word",
    "segment_people_cosine",
    "segment_size",
    "other_segment_size",
];
pub type PairFeatures = [f64; FEATURES];

/// Tables from which the features of any pair of candidates are read.
pub struct Pairwise<'a> {
    corpus: &'a Corpus<'a>,
    consensus: &'a Consensus,
    threads: &'a Partitions,
    subjects: &'a Partitions,
    /// Log odds that two candidates share a subject, indexed by the number of forests that put them in one subject.
    agreed: Vec<f64>,
    /// Candidates that use each stem, ascending.
    holders: Vec<Vec<usize>>,
    /// Dot products of the idf vectors of any two candidates. `of_segments` holds their sums over the segment of the
    /// first candidate.
    words: Matrix,
    of_segments: Matrix,
    /// Expected number of messages of each author (column) in each candidate's segment (row).
    people: Matrix,
    /// Lengths (norms) of the word vector and the author vector of each candidate's segment, for cosines.
    word_lengths: Vec<f32>,
    people_lengths: Vec<f32>,
    /// Natural logarithm of the number of messages in each candidate's segment.
    sizes: Vec<f64>,
}

impl<'a> Pairwise<'a> {
    pub fn new(corpus: &'a Corpus<'a>, consensus: &'a Consensus, partitioned: &'a Partitioned) -> Self {
        let Partitioned { threads, subjects, .. } = partitioned;
        let log_odds = |share: f64| ((share + 0.03) / (1.03 - share)).ln();
        let forests = subjects.share().recip().round() as u32;
        let count = corpus.utterances.len();
        let holders = holders_of(corpus);
        let words = word_products(corpus, &holders);
        let (mut of_segments, mut people) = (Matrix::zeros(count, count), Matrix::zeros(count, corpus.spoken.len()));
        for place in 0..count {
            for (other, share) in consensus.with(place) {
                add_share(of_segments.row_mut(place), words.row(other), share as f32);
                people.row_mut(place)[corpus.authors[other]] += share as f32;
            }
        }
        let mut pairwise = Self {
            people_lengths: people.rows().map(|row| dot(row, row).sqrt()).collect(),
            word_lengths: Vec::new(),
            sizes: consensus.sizes().into_iter().map(f64::ln).collect(),
            agreed: (0..=forests).map(|times| log_odds(f64::from(times) * subjects.share())).collect(),
            corpus,
            consensus,
            threads,
            subjects,
            holders,
            words,
            of_segments,
            people,
        };
        pairwise.word_lengths = (0..count).map(|place| pairwise.segment_words(place, place).sqrt()).collect();
        pairwise
    }

    /// Returns the dot product of the word vectors of the segments of two candidates.
    fn segment_words(&self, one: usize, other: usize) -> f32 {
        let row = self.of_segments.row(one);
        self.consensus.with(other).map(|(place, share)| row[place] * share as f32).sum()
    }

    /// Returns the features of each of `places` paired with `target`, in the order of [`NAMES`].
    pub fn rows(&self, target: usize, places: &[usize]) -> Vec<PairFeatures> {
        let (in_thread, in_subject) = (self.threads.times_with(target), self.subjects.times_with(target));
        let (share, rarest) = (self.threads.share(), self.rarest_shared(target));
        let cosine = |product: f32, lengths: &[f32], place: usize| {
            f64::from(product / (lengths[target].max(1e-6) * lengths[place].max(1e-6)))
        };
        let segment_words = |place| cosine(self.segment_words(target, place), &self.word_lengths, place);
        let people = self.people.row(target);
        let segment_people = |place| cosine(dot(people, self.people.row(place)), &self.people_lengths, place);
        let features = |place: &usize| {
            let (first, last) = (target.min(*place), target.max(*place));
            let (earlier, later) = (&self.corpus.utterances[first], &self.corpus.utterances[last]);
            [
                f64::from(self.in_segment(target, *place)),
                f64::from(in_thread[*place]) * share,
                self.agreed[usize::from(in_subject[*place])],
                f64::from(later.reply == Some(first)),
                log_minutes(later.at - earlier.at),
                f64::from(self.words.cosine(target, *place)),
                segment_words(*place),
                rarest[*place] / 5.0,
                segment_people(*place),
                self.sizes[*place],
                self.sizes[target],
            ]
        };
        places.iter().map(features).collect()
    }

    /// Returns, for each candidate, the idf of the rarest word that it shares with `target`.
    fn rarest_shared(&self, target: usize) -> Vec<f64> {
        let mut rarest = vec![0.0_f64; self.count()];
        for stem in &self.corpus.stems[target] {
            let stem = *stem as usize;
            let rarity = self.corpus.idf[stem];
            self.holders[stem].iter().for_each(|place| rarest[*place] = rarest[*place].max(rarity));
        }
        rarest
    }

    pub fn count(&self) -> usize {
        self.corpus.utterances.len()
    }

    /// Returns the share of the forests in which two candidates are in one segment.
    pub fn in_segment(&self, one: usize, other: usize) -> f32 {
        self.consensus.share(one, other) as f32
    }
}

/// Returns the candidates that use each stem, ascending.
fn holders_of(corpus: &Corpus<'_>) -> Vec<Vec<usize>> {
    let mut holders = vec![Vec::new(); corpus.spread.len()];
    for (place, stems) in corpus.stems.iter().enumerate() {
        for stem in stems {
            holders[*stem as usize].push(place);
        }
    }
    holders
}

fn word_products(corpus: &Corpus<'_>, holders: &[Vec<usize>]) -> Matrix {
    let mut products = Matrix::zeros(corpus.stems.len(), corpus.stems.len());
    for (holders, idf) in holders.iter().zip(&corpus.idf) {
        for one in holders {
            let row = products.row_mut(*one);
            holders.iter().for_each(|other| row[*other] += (idf * idf) as f32);
        }
    }
    products
}
