//! Partitions of the candidates into threads, segments and subjects, one partition for each sampled forest, and the
//! consensus of these partitions.

use std::collections::BTreeMap;

use crate::context::features::corpus::Corpus;
use crate::context::index_set::IndexSet;

/// One partition of the candidates into sets for each forest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partitions {
    count: usize,
    /// Number of the set of each candidate, one forest after the other. A byte is enough, since there are at most as
    /// many sets as candidates.
    labels: Vec<u8>,
}

impl Partitions {
    /// Builds the partitions from the sets of each forest. In each forest, each of `count` candidates is in exactly one
    /// set.
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

    /// Returns, for each candidate, the number of forests in which it and `one` are in the same set.
    pub fn times_with(&self, one: usize) -> Vec<u8> {
        let mut times = vec![0; self.count];
        for labels in self.forests() {
            let own = labels[one];
            times.iter_mut().zip(labels).for_each(|(times, label)| *times += u8::from(*label == own));
        }
        times
    }

    /// Returns the sets that the trigger may continue. `links` holds the probability that it continues each candidate,
    /// and a set gets the sum over its candidates. Each set comes with its share of all sums (the shares add up to 1)
    /// and with its members, as 0 or 1 for each candidate.
    pub fn led_to(&self, links: &[f64]) -> Vec<(f32, Vec<f32>)> {
        /// Links of lower probability are ignored.
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

    /// Returns the weight of one forest: 1 divided by the number of forests.
    pub fn share(&self) -> f64 {
        1.0 / self.forests().count().max(1) as f64
    }

    fn forests(&self) -> impl Iterator<Item = &[u8]> {
        self.labels.chunks_exact(self.count.max(1))
    }
}

/// Consensus matrix: for any two candidates, the share of the forests that put them in one segment. It is stored
/// without zeros, since in a slow chat most entries are zero.
#[derive(Debug)]
pub struct Consensus {
    /// Row of each candidate without the zeros: indices and shares, ascending by index, the candidate itself included.
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

    /// Returns the share of the forests that put both candidates in one segment; 1 for a candidate with itself.
    pub fn share(&self, one: usize, other: usize) -> f64 {
        let near = &self.near[one];
        near.binary_search_by_key(&other, |(place, _)| *place).map_or(0.0, |found| near[found].1)
    }

    /// Returns the row of `one` without the zeros: index and share, ascending, itself included.
    pub fn with(&self, one: usize) -> impl Iterator<Item = (usize, f64)> {
        self.near[one].iter().copied()
    }

    /// Spreads values over segments: returns the product of the matrix with a sparse vector, given as indices and
    /// values.
    pub fn gathered(&self, what: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut gathered = vec![0.0; self.near.len()];
        for (place, value) in what {
            for (other, share) in self.with(place) {
                gathered[other] += share * value;
            }
        }
        gathered
    }

    /// Returns the mean number of messages of each candidate's segment over all forests, which is the sum of its row.
    pub fn sizes(&self) -> Vec<f64> {
        self.near.iter().map(|near| near.iter().map(|(_, share)| share).sum()).collect()
    }
}

/// Returns the threads of a forest, which are the trees given by `antecedents`, in the order of their first messages.
/// With `far`, returns segments: threads cut at silences of more than `far` seconds and after answers of the bot,
/// except where a reply link connects both sides.
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

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partitioned {
    /// Threads: the trees of each forest.
    pub threads: Partitions,
    /// Segments: threads cut at long silences and after answers of the bot.
    pub segments: Partitions,
    /// Subjects: segments about the same thing, linked across silences.
    pub subjects: Partitions,
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
    fn consensus_is_the_share_of_forests_in_which_two_are_together() {
        let consensus = Consensus::of(&forests());
        assert_eq!(consensus.with(1).collect::<Vec<_>>(), [(0, 0.5), (1, 1.0), (2, 0.5)]);
        assert_eq!((consensus.share(0, 2), consensus.share(2, 2)), (0.0, 1.0));
        assert_eq!(consensus.sizes(), [1.5, 2.0, 1.5]);
        assert_eq!((forests().times_with(1), forests().share()), (vec![1, 2, 1], 0.5));
    }

    #[test]
    fn a_value_is_spread_over_the_candidates_of_its_segment_by_their_shares() {
        let consensus = Consensus::of(&forests());
        assert_eq!(consensus.gathered([(2, 4.0)].into_iter()), [0.0, 2.0, 4.0]);
    }
}
