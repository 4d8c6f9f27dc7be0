//! How often two candidates are found together, over all forests.

use std::collections::BTreeMap;

use crate::context::features::corpus::Corpus;
use crate::context::features::message::{Address, address};
use crate::context::index_set::IndexSet;
use crate::domain::StoredMessage;

/// Sets that each of a number of forests puts the candidates into, each candidate into one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partitions {
    count: usize,
    /// The number of each candidate's set, forest after forest: there are fewer sets than a byte can tell apart, since there
    /// are no more than candidates.
    labels: Vec<u8>,
}

impl Partitions {
    /// `forests` are the sets of each, which together hold all of `count` candidates.
    pub fn of<'a>(forests: impl IntoIterator<Item = &'a [IndexSet]>, count: usize) -> Self {
        let mut labels = Vec::new();
        for sets in forests {
            let start = labels.len();
            labels.resize(start + count, 0);
            for (label, set) in (0..).zip(sets) {
                set.places().for_each(|place| labels[start + place] = label);
            }
        }
        Self { count, labels }
    }

    /// In how many forests each candidate lies in one set with `one`.
    pub fn times_with(&self, one: usize) -> Vec<u8> {
        let mut times = vec![0; self.count];
        for labels in self.forests() {
            let own = labels[one];
            times.iter_mut().zip(labels).for_each(|(times, label)| *times += u8::from(*label == own));
        }
        times
    }

    /// The sets of all forests that `links` lead to, a probability for each candidate: how likely each set is meant, the
    /// weights of all summing to 1, and 1 for each of its members.
    pub fn led_to(&self, links: &[f64]) -> Vec<(f32, Vec<f32>)> {
        /// Links weaker than this lead nowhere.
        const WEAK: f64 = 0.002;
        let mut sets: BTreeMap<IndexSet, f64> = BTreeMap::new();
        for labels in self.forests() {
            let mut of_label: BTreeMap<u8, f64> = BTreeMap::new();
            for (label, link) in labels.iter().zip(links).filter(|(_, link)| **link >= WEAK) {
                *of_label.entry(*label).or_default() += link;
            }
            for (label, link) in of_label {
                let members = labels.iter().enumerate().filter(|(_, other)| **other == label);
                *sets.entry(IndexSet::of(members.map(|(place, _)| place))).or_default() += link;
            }
        }
        let all: f64 = sets.values().sum::<f64>().max(1e-9);
        let members = |set: &IndexSet| (0..self.count).map(|place| f32::from(u8::from(set.contains(place)))).collect();
        sets.iter().map(|(set, weight)| ((weight / all) as f32, members(set))).collect()
    }

    /// What one forest counts.
    pub fn share(&self) -> f64 {
        1.0 / self.forests().count().max(1) as f64
    }

    fn forests(&self) -> impl Iterator<Item = &[u8]> {
        self.labels.chunks_exact(self.count.max(1))
    }
}

/// Who lies in one segment with whom. In a slow chat hardly anybody: the pairs are few.
#[derive(Debug)]
pub struct Consensus {
    /// The candidates that each was ever together with, itself included, ascending; each with the share of the forests.
    near: Vec<Vec<(usize, f64)>>,
}

impl Consensus {
    pub fn of(segments: &Partitions) -> Self {
        let share = segments.share();
        let near = |one: usize| {
            let met = segments.times_with(one).into_iter().enumerate().filter(|(_, times)| *times > 0);
            met.map(|(place, times)| (place, f64::from(times) * share)).collect()
        };
        Self { near: (0..segments.count).map(near).collect() }
    }

    /// The share of the forests in which two candidates lie in one segment; 1 for a candidate with itself.
    pub fn share(&self, one: usize, other: usize) -> f64 {
        let near = &self.near[one];
        near.binary_search_by_key(&other, |(place, _)| *place).map_or(0.0, |found| near[found].1)
    }

    /// The candidates that `one` was ever together with, itself included, each with its share; ascending.
    pub fn with(&self, one: usize) -> impl Iterator<Item = (usize, f64)> {
        self.near[one].iter().copied()
    }

    /// For every candidate the sum of what those have that it was together with: `what` as places and values.
    pub fn gathered(&self, what: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut gathered = vec![0.0; self.near.len()];
        for (place, value) in what {
            for (other, share) in self.with(place) {
                gathered[other] += share * value;
            }
        }
        gathered
    }

    /// How many messages each candidate's segment has, itself included, as a mean over the forests.
    pub fn sizes(&self) -> Vec<f64> {
        self.near.iter().map(|near| near.iter().map(|(_, share)| share).sum()).collect()
    }
}

/// Strands of a forest, which drew these `antecedents`, in the order of their first messages. With `far`, they are cut where a
/// silence is longer than so many seconds, and behind an answer of the bot, unless a reply bridges it: what is said after an
/// answer may be about anything.
pub fn segments(corpus: &Corpus<'_>, antecedents: &[Option<usize>], far: Option<f64>) -> Vec<IndexSet> {
    let mut segments: Vec<IndexSet> = Vec::new();
    let mut of: Vec<usize> = Vec::with_capacity(antecedents.len());
    for (place, antecedent) in antecedents.iter().enumerate() {
        let utterance = &corpus.utterances[place];
        let is_near = |from: usize, far: f64| {
            utterance.at - corpus.utterances[from].at <= far && corpus.answers[place] == corpus.answers[from]
        };
        let goes_on = |from: &usize| far.is_none_or(|far| is_near(*from, far)) || utterance.reply == Some(*from);
        let joined = antecedent.filter(goes_on);
        let segment = match joined {
            Some(from) => of[from],
            None => {
                segments.push(IndexSet::default());
                segments.len() - 1
            }
        };
        segments[segment].insert(place);
        of.push(segment);
    }
    segments
}

/// How the candidates of a conversation hang together, in every forest. With two hundred of them it takes 12 KB.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampledStrands {
    /// Whom it is about, oldest first: the sets below count from the first of them.
    pub candidates: Vec<Address>,
    pub partitioned: Partitioned,
}

/// The sets that each forest puts the candidates into.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partitioned {
    /// Strands of stage one, never cut.
    pub strands: Partitions,
    /// Strands, cut where the silence is long or the bot answered.
    pub segments: Partitions,
    /// Segments that take up each other.
    pub matters: Partitions,
}

impl SampledStrands {
    /// Whether it is about just these. A tag may have others: pictures of its own album that came after it.
    pub fn is_of(&self, candidates: &[&StoredMessage]) -> bool {
        candidates.iter().map(|stored| address(stored)).eq(self.candidates.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forests() -> Partitions {
        let sets = |sets: &[&[usize]]| sets.iter().map(|places| IndexSet::of(places.iter().copied())).collect();
        let forests: [Vec<IndexSet>; 2] = [sets(&[&[0, 1], &[2]]), sets(&[&[0], &[1, 2]])];
        Partitions::of(forests.iter().map(Vec::as_slice), 3)
    }

    #[test]
    fn shares_count_the_worlds_in_which_two_are_together() {
        let consensus = Consensus::of(&forests());
        assert_eq!(consensus.with(1).collect::<Vec<_>>(), [(0, 0.5), (1, 1.0), (2, 0.5)]);
        assert_eq!((consensus.share(0, 2), consensus.share(2, 2)), (0.0, 1.0));
        assert_eq!(consensus.sizes(), [1.5, 2.0, 1.5]);
        assert_eq!((forests().times_with(1), forests().share()), (vec![1, 2, 1], 0.5));
    }

    #[test]
    fn what_one_has_its_company_has_in_part() {
        let consensus = Consensus::of(&forests());
        assert_eq!(consensus.gathered([(2, 4.0)].into_iter()), [0.0, 2.0, 4.0]);
    }
}
