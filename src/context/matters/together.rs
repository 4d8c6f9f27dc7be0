//! How often two candidates are found together, over all worlds.

use crate::context::places::PlaceSet;

/// Who lies in one fragment with whom. In a slow chat hardly anybody: the pairs are few.
#[derive(Debug)]
pub struct Together {
    count: usize,
    /// In how many worlds two candidates lie in one fragment, row after row.
    times: Vec<u8>,
    /// What one world counts.
    share: f64,
    /// Of each candidate, those that it was ever together with.
    near: Vec<Vec<usize>>,
}

impl Together {
    /// `worlds` are the fragments of each, at most 255; together they hold all of `count` candidates.
    pub fn of(worlds: &[Vec<PlaceSet>], count: usize) -> Self {
        let mut times = vec![0_u8; count * count];
        let mut members = Vec::with_capacity(count);
        for fragment in worlds.iter().flatten() {
            members.clear();
            members.extend(fragment.places());
            for one in &members {
                let row = &mut times[one * count..][..count];
                members.iter().for_each(|other| row[*other] += 1);
            }
        }
        let met =
            |row: &[u8]| row.iter().enumerate().filter(|(_, times)| **times > 0).map(|(place, _)| place).collect();
        let near = times.chunks(count.max(1)).map(met).collect();
        Self { count, times, share: 1.0 / worlds.len().max(1) as f64, near }
    }

    /// The share of the worlds in which two candidates lie in one fragment; 1 for a candidate with itself.
    pub fn share(&self, one: usize, other: usize) -> f64 {
        f64::from(self.times[one * self.count + other]) * self.share
    }

    /// The candidates that `one` was ever together with, itself included, each with its share; ascending.
    pub fn with(&self, one: usize) -> impl Iterator<Item = (usize, f64)> {
        self.near[one].iter().map(move |other| (*other, self.share(one, *other)))
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

/// The share of `worlds` in which each of `count` candidates lies in one set with `one`.
pub fn shares_with(one: usize, worlds: &[Vec<PlaceSet>], count: usize) -> Vec<f64> {
    let mut shares = vec![0.0; count];
    let share = 1.0 / worlds.len().max(1) as f64;
    let own = worlds.iter().filter_map(|sets| sets.iter().find(|set| set.contains(one)));
    own.flat_map(PlaceSet::places).for_each(|place| shares[place] += share);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worlds() -> Vec<Vec<PlaceSet>> {
        let sets = |sets: &[&[usize]]| sets.iter().map(|places| PlaceSet::of(places.iter().copied())).collect();
        vec![sets(&[&[0, 1], &[2]]), sets(&[&[0], &[1, 2]])]
    }

    #[test]
    fn shares_count_the_worlds_in_which_two_are_together() {
        let together = Together::of(&worlds(), 3);
        assert_eq!(together.with(1).collect::<Vec<_>>(), [(0, 0.5), (1, 1.0), (2, 0.5)]);
        assert_eq!((together.share(0, 2), together.share(2, 2)), (0.0, 1.0));
        assert_eq!(together.sizes(), [1.5, 2.0, 1.5]);
        assert_eq!(shares_with(1, &worlds(), 3), [0.5, 1.0, 0.5]);
    }

    #[test]
    fn what_one_has_its_company_has_in_part() {
        let together = Together::of(&worlds(), 3);
        assert_eq!(together.gathered([(2, 4.0)].into_iter()), [0.0, 2.0, 4.0]);
    }
}
