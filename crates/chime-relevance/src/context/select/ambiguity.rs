//! Detects two subjects that are about equally likely, so that the answer can say which one it is about.
//!
//! Guesses that share most of their messages are clustered into one subject; then the two likeliest subjects are
//! compared.

use crate::context::index_set::IndexSet;
use crate::context::select::expected_f1::{Guess, Taken, best_set};

/// Share of the smaller guess's messages that must be in the larger one for both to be one subject.
const SAME: f32 = 0.5;
/// Minimum probability of a message that counts as part of a guess.
const LIKELY: f32 = 0.5;
/// Most subjects that are compared. Guesses beyond them are too unlikely to be the second one.
const MATTERS: usize = 8;
/// Minimum probability of a second subject.
const LEAST: f32 = 0.25;
/// Largest difference in probability at which both are reported. On dense channels this happens for one in eleven
/// triggers without words and one in thirty with words; in a fourth of these cases the second subject was meant.
const SMALL_MARGIN: f32 = 0.2;

/// Two subjects, neither of which is much likelier.
#[derive(Debug, Clone, PartialEq)]
pub struct Rivals {
    /// Difference of their probabilities, 0 to 1.
    pub margin: f32,
    /// Messages of the likelier subject, best first.
    pub first: Vec<Taken>,
    /// Messages of the other subject that are not in `first`.
    pub second: Vec<Taken>,
}

/// Returns the two likeliest subjects among `guesses`, whose weights sum to 1, if both are about equally likely.
pub fn of_guesses(guesses: &[Guess], most: usize) -> Option<Rivals> {
    let mass = |matter: &[usize]| matter.iter().map(|guess| guesses[*guess].weight).sum::<f32>();
    let mut matters = matters(guesses);
    matters.sort_by(|a, b| mass(b).total_cmp(&mass(a)));
    let [first, second, ..] = matters.as_slice() else { return None };
    let margin = mass(first) - mass(second);
    if mass(second) < LEAST || margin > SMALL_MARGIN {
        return None;
    }
    let taken = |matter: &[usize]| {
        let scaled = |guess: &usize| Guess { weight: guesses[*guess].weight / mass(matter), ..guesses[*guess].clone() };
        best_set(&matter.iter().map(scaled).collect::<Vec<_>>(), most, &[])
    };
    let (first, mut second) = (taken(first), taken(second));
    second.retain(|one| first.iter().all(|other| other.place != one.place));
    (!first.is_empty() && !second.is_empty()).then_some(Rivals { margin, first, second })
}

/// Groups guesses about the same subject, the likeliest guess of each group first.
fn matters(guesses: &[Guess]) -> Vec<Vec<usize>> {
    let likely = |guess: &Guess| {
        let members = guess.members.iter().enumerate();
        IndexSet::of(members.filter(|(_, member)| **member >= LIKELY).map(|(place, _)| place))
    };
    let likely: Vec<IndexSet> = guesses.iter().map(likely).collect();
    let mut by_weight: Vec<usize> = (0..guesses.len()).collect();
    by_weight.sort_by(|a, b| guesses[*b].weight.total_cmp(&guesses[*a].weight).then(a.cmp(b)));
    let mut matters: Vec<Vec<usize>> = Vec::new();
    for guess in by_weight {
        let is_full = matters.len() == MATTERS;
        match matters.iter_mut().find(|matter| overlap(&likely[matter[0]], &likely[guess]) >= SAME) {
            Some(matter) => matter.push(guess),
            None if is_full => {}
            None => matters.push(vec![guess]),
        }
    }
    matters
}

/// Returns the share of the smaller set that is in the larger one, 0 to 1.
fn overlap(a: &IndexSet, b: &IndexSet) -> f32 {
    a.shared_with(b) as f32 / a.len().min(b.len()).max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(taken: &[Taken]) -> Vec<usize> {
        let mut places: Vec<usize> = taken.iter().map(|taken| taken.place).collect();
        places.sort_unstable();
        places
    }

    /// Each guess is a weight and the indices of its members.
    #[track_caller]
    fn check(guesses: &[(f32, &[usize])], expected: Option<(&[usize], &[usize])>) {
        const COUNT: usize = 8;
        let guesses: Vec<Guess> = guesses
            .iter()
            .map(|(weight, members)| Guess {
                weight: *weight,
                members: (0..COUNT).map(|place| if members.contains(&place) { 1.0 } else { 0.0 }).collect(),
            })
            .collect();
        let found = of_guesses(&guesses, 20).map(|rivals| (places(&rivals.first), places(&rivals.second)));
        assert_eq!(found, expected.map(|(first, second)| (first.to_vec(), second.to_vec())));
    }

    #[test]
    fn two_likely_matters_are_open() {
        check(&[(0.55, &[0, 2, 4]), (0.45, &[1, 3, 5])], Some((&[0, 2, 4], &[1, 3, 5])));
    }

    #[test]
    fn guesses_that_share_most_messages_are_one_matter() {
        check(&[(0.3, &[0, 2, 4]), (0.44, &[1, 3, 5]), (0.26, &[0, 2])], Some((&[0, 2, 4], &[1, 3, 5])));
        check(&[(0.5, &[0, 2, 4]), (0.5, &[2, 4])], None);
    }

    #[test]
    fn a_clear_first_leaves_nothing_open() {
        check(&[(0.7, &[0, 2, 4]), (0.3, &[1, 3, 5])], None);
        check(&[(0.4, &[0, 2]), (0.2, &[1, 3]), (0.2, &[5]), (0.2, &[6, 7])], None);
        check(&[(1.0, &[0, 1])], None);
        check(&[], None);
    }
}
