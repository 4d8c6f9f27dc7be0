//! A set of candidates as a bitmap over their indices.

use crate::context::features::rhythm::WINDOW;

/// Number of 64-bit words of the bitmap, which has one bit for each candidate and one for the trigger.
const WORDS: usize = (WINDOW + 1).div_ceil(64);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexSet([u64; WORDS]);

impl IndexSet {
    pub fn of(places: impl IntoIterator<Item = usize>) -> Self {
        let mut set = Self::default();
        places.into_iter().for_each(|place| set.insert(place));
        set
    }

    pub fn insert(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    pub fn contains(&self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Iterates over the indices, ascending.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(index * 64 + bit as usize)
            })
        })
    }

    pub fn last_before(&self, end: usize) -> Option<usize> {
        let below = |index: usize| match end.checked_sub(index * 64) {
            Some(bits @ 0..64) => (1 << bits) - 1,
            Some(_) => u64::MAX,
            None => 0,
        };
        let last = |(index, word): (usize, &u64)| Some(index * 64 + (word & below(index)).checked_ilog2()? as usize);
        self.0.iter().enumerate().rev().find_map(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_knows_its_places_and_the_last_before_another() {
        let places = [0, 63, 64, 130, WINDOW];
        let set = IndexSet::of(places);
        assert_eq!(set.places().collect::<Vec<_>>(), places);
        assert_eq!((set.len(), set.last_before(WINDOW + 1)), (5, Some(WINDOW)));
        assert!(set.contains(130) && !set.contains(131) && !set.contains(10_000));
        for place in 0..=WINDOW {
            let expected = places.iter().copied().filter(|other| *other < place).max();
            assert_eq!(set.last_before(place), expected, "{place}");
        }
        assert_eq!(IndexSet::default().last_before(WINDOW), None);
    }
}
