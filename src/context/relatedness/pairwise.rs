//! Do two candidates belong to one matter, however far apart? The features of a pair, and how likely it is.

use crate::context::features::corpus::Corpus;
use crate::context::focus::{flag, minutes};
use crate::context::relatedness::neighborhood::{People, Words};
use crate::context::strands::{Consensus, Partitions};

pub const FEATURES: usize = 13;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = [
    "same_segment",
    "same_strand",
    "same_matter_odds",
    "same_author",
    "reply",
    "minutes_between",
    "messages_between",
    "longest_silence",
    "segment_word_cosine",
    "rarest_shared_word",
    "segment_people_cosine",
    "segment_size",
    "other_segment_size",
];
pub type Row = [f64; FEATURES];

/// Everything that pairs are compared by.
pub struct Pairwise<'a> {
    corpus: &'a Corpus<'a>,
    /// In one segment.
    consensus: &'a Consensus,
    strands: &'a Partitions,
    matters: &'a Partitions,
    /// The log odds of having been in one matter in so many forests.
    agreed: Vec<f64>,
    words: Words,
    people: People,
    /// ln of how many messages each one's segment has.
    sizes: Vec<f64>,
}

impl<'a> Pairwise<'a> {
    /// `strands` and `matters` are those of every forest.
    pub fn new(
        corpus: &'a Corpus<'a>,
        consensus: &'a Consensus,
        (strands, matters): (&'a Partitions, &'a Partitions),
    ) -> Self {
        let log_odds = |share: f64| ((share + 0.03) / (1.03 - share)).ln();
        let forests = matters.share().recip().round() as u32;
        Self {
            words: Words::of(corpus, consensus),
            people: People::of(corpus, consensus),
            sizes: consensus.sizes().into_iter().map(f64::ln).collect(),
            agreed: (0..=forests).map(|times| log_odds(f64::from(times) * matters.share())).collect(),
            corpus,
            consensus,
            strands,
            matters,
        }
    }

    /// The features of each of `places` with `target`, in the order of their names.
    pub fn rows(&self, target: usize, places: &[usize]) -> Vec<Row> {
        let Self { corpus, consensus, words, people, .. } = self;
        let (in_strand, in_matter) = (self.strands.times_with(target), self.matters.times_with(target));
        let share = self.strands.share();
        let (rarest, silences) = (self.rarest_shared(target), self.longest_silences(target));
        let features = |place: &usize| {
            let (first, last) = (target.min(*place), target.max(*place));
            let (earlier, later) = (&corpus.utterances[first], &corpus.utterances[last]);
            [
                consensus.share(target, *place),
                f64::from(in_strand[*place]) * share,
                self.agreed[usize::from(in_matter[*place])],
                flag(corpus.authors[first] == corpus.authors[last]),
                flag(later.reply == Some(first)),
                minutes(later.at - earlier.at),
                ((last - first) as f64).ln_1p(),
                silences[*place],
                f64::from(words.cosine_around(target, *place, consensus)),
                rarest[*place] / 5.0,
                f64::from(people.cosine(target, *place)),
                self.sizes[*place],
                self.sizes[target],
            ]
        };
        places.iter().map(features).collect()
    }

    /// Rarity of the rarest word that each candidate shares with `target`.
    fn rarest_shared(&self, target: usize) -> Vec<f64> {
        let mut rarest = vec![0.0_f64; self.count()];
        for stem in &self.corpus.stems[target] {
            let rarity = self.corpus.idf[*stem];
            self.words.holders(*stem).iter().for_each(|place| rarest[*place] = rarest[*place].max(rarity));
        }
        rarest
    }

    /// The longest silence between each candidate and `target`, for this chat.
    fn longest_silences(&self, target: usize) -> Vec<f64> {
        let silences = &self.corpus.silences;
        let mut longest = vec![0.0_f64; self.count()];
        (target + 1..self.count()).for_each(|place| longest[place] = longest[place - 1].max(silences[place]));
        (0..target).rev().for_each(|place| longest[place] = longest[place + 1].max(silences[place + 1]));
        longest
    }

    /// How many candidates there are.
    pub fn count(&self) -> usize {
        self.corpus.utterances.len()
    }

    /// The share of the forests in which two lie in one segment.
    pub fn in_segment(&self, one: usize, other: usize) -> f32 {
        self.consensus.share(one, other) as f32
    }
}
