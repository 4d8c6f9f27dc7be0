//! How often two candidates are found together, over all worlds.

use crate::context::places::PlaceSet;

/// Sets that each of a number of worlds puts the candidates into, each candidate into one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partitions {
    count: usize,
    /// The number of each candidate's set, world after world: there are fewer sets than a byte can tell apart, since there
    /// are no more than candidates.
    labels: Vec<u8>,
}

impl Partitions {
    /// `worlds` are the sets of each, which together hold all of `count` candidates.
    pub fn of<'a>(worlds: impl IntoIterator<Item = &'a [PlaceSet]>, count: usize) -> Self {
        let mut labels = Vec::new();
        for sets in worlds {
            let start = labels.len();
            labels.resize(start + count, 0);
            for (label, set) in (0..).zip(sets) {
                set.places().for_each(|place| labels[start + place] = label);
            }
        }
        Self { count, labels }
    }

    /// In how many worlds each candidate lies in one set with `one`.
    pub fn times_with(&self, one: usize) -> Vec<u8> {
        let mut times = vec![0; self.count];
        for labels in self.worlds() {
            let own = labels[one];
            times.iter_mut().zip(labels).for_each(|(times, label)| *times += u8::from(*label == own));
        }
        times
    }

    /// What one world counts.
    pub fn share(&self) -> f64 {
        1.0 / self.worlds().count().max(1) as f64
    }

    fn worlds(&self) -> impl Iterator<Item = &[u8]> {
        self.labels.chunks_exact(self.count.max(1))
    }
}

/// Who lies in one fragment with whom. In a slow chat hardly anybody: the pairs are few.
#[derive(Debug)]
pub struct Together {
    count: usize,
    /// In how many worlds two candidates lie in one fragment, row after row.
    times: Vec<u8>,
    /// What one world counts.
    share: f64,
    /// The candidates that each was ever together with, itself included, one's after the other's, ascending; each with its
    /// share.
    near: Vec<(usize, f32)>,
    /// Where each one's begin, and the end.
    starts: Vec<usize>,
}

impl Together {
    /// `fragments` are those of at most 255 worlds.
    pub fn of(fragments: &Partitions) -> Self {
        let (count, share) = (fragments.count, fragments.share());
        let (mut times, mut near, mut starts) = (Vec::with_capacity(count * count), Vec::new(), vec![0]);
        for one in 0..count {
            let row = fragments.times_with(one);
            let met = (0..).zip(&row).filter(|(_, times)| **times > 0);
            near.extend(met.map(|(place, times)| (place, f32::from(*times) * share as f32)));
            starts.push(near.len());
            times.extend(row);
        }
        Self { count, times, share, near, starts }
    }

    /// The share of the worlds in which two candidates lie in one fragment; 1 for a candidate with itself.
    pub fn share(&self, one: usize, other: usize) -> f64 {
        f64::from(self.times[one * self.count + other]) * self.share
    }

    /// The candidates that `one` was ever together with, itself included, each with its share; ascending.
    pub fn with(&self, one: usize) -> impl Iterator<Item = (usize, f64)> {
        self.near(one).iter().map(move |(other, _)| (*other, self.share(one, *other)))
    }

    /// The same, as precise as vectors are.
    pub fn near(&self, one: usize) -> &[(usize, f32)] {
        &self.near[self.starts[one]..self.starts[one + 1]]
    }

    /// For every candidate the sum of what those have that it was together with: `what` as places and values.
    pub fn gathered(&self, what: impl Iterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut gathered = vec![0.0; self.count];
        for (place, value) in what {
            for (other, share) in self.with(place) {
                gathered[other] += share * value;
            }
        }
        gathered
    }

    /// How many messages each candidate's fragment has, itself included, as a mean over the worlds.
    pub fn sizes(&self) -> Vec<f64> {
        (0..self.count).map(|place| self.with(place).map(|(_, share)| share).sum()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worlds() -> Partitions {
        let sets = |sets: &[&[usize]]| sets.iter().map(|places| PlaceSet::of(places.iter().copied())).collect();
        let worlds: [Vec<PlaceSet>; 2] = [sets(&[&[0, 1], &[2]]), sets(&[&[0], &[1, 2]])];
        Partitions::of(worlds.iter().map(Vec::as_slice), 3)
    }

    #[test]
    fn shares_count_the_worlds_in_which_two_are_together() {
        let together = Together::of(&worlds());
        assert_eq!(together.with(1).collect::<Vec<_>>(), [(0, 0.5), (1, 1.0), (2, 0.5)]);
        assert_eq!((together.share(0, 2), together.share(2, 2)), (0.0, 1.0));
        assert_eq!(together.sizes(), [1.5, 2.0, 1.5]);
        assert_eq!((worlds().times_with(1), worlds().share()), (vec![1, 2, 1], 0.5));
    }

    #[test]
    fn what_one_has_its_company_has_in_part() {
        let together = Together::of(&worlds());
        assert_eq!(together.gathered([(2, 4.0)].into_iter()), [0.0, 2.0, 4.0]);
    }
}
