//! Refines the scores of pairs: further passes over all pairs, with features of the neighbours of both candidates
//! (collective classification).
//!
//! Two messages alone rarely show whether they share a subject. Once all pairs of the likely candidates have a score,
//! the next pass can compare the neighbours of one with the neighbours of the other.

use crate::context::contributions::{self, ByCandidate};
use crate::context::linear::{Terms, chance};
use crate::context::relatedness::matrix::Matrix;
use crate::context::relatedness::pairwise;
use crate::context::relatedness::pairwise::Pairwise;

/// Number of neighbour features, added to the pair features.
const OF_NEIGHBORS: usize = 5;
pub const FEATURES: usize = pairwise::FEATURES + OF_NEIGHBORS;
pub const NAMES: [&str; FEATURES] = {
    let of_neighbors = ["odds_before", "segment_chance", "segment_odds", "common_neighbors", "mean_chance"];
    let mut names = [""; FEATURES];
    names.split_at_mut(pairwise::FEATURES).0.copy_from_slice(&pairwise::NAMES);
    names.split_at_mut(pairwise::FEATURES).1.copy_from_slice(&of_neighbors);
    names
};
pub type RefineFeatures = [f64; FEATURES];

/// Maximum number of refined candidates. With 40, F1 over 80 hand-labelled groups is .003 lower than with 64.
const MOST: usize = 64;
/// Minimum probability of a refined candidate to share the subject of at least one target.
const FAINT: f32 = 0.03;
/// Probability of sharing a subject above which two candidates are neighbours.
const CLOSE: f32 = 0.15;
/// Log odds of a candidate with itself. The true value, infinity, would outweigh all others in a mean.
const ITSELF: f32 = 3.0;
/// Log odds are clamped to this value and its negative: a probability of .995.
const SUREST: f32 = 5.293_305;

/// Candidates that may belong to one of the targets' subjects, with the current scores of all their pairs.
pub struct Refinement {
    targets: Vec<Target>,
    /// Indices of the refined candidates, ascending.
    places: Vec<usize>,
    /// Pair features of each refined candidate with those before it in `places`, and at the end with itself.
    rows: Vec<Vec<pairwise::PairFeatures>>,
    /// For any two refined candidates, the share of the forests that put them in one segment. Each row is scaled to a
    /// sum of 1.
    segments: Matrix,
    /// Log odds that two refined candidates share a subject, from the latest pass.
    scores: Matrix,
}

/// Candidate that the trigger may refer to.
struct Target {
    place: usize,
    /// Pair features of each candidate with the target. `first` holds the probabilities, by the pairwise classifier,
    /// that both share a subject.
    rows: Vec<pairwise::PairFeatures>,
    first: Vec<f32>,
}

impl Refinement {
    /// Selects the candidates that may belong to the subjects of `targets`, and scores all their pairs with the
    /// pairwise classifier.
    pub fn around(pairwise: &Pairwise<'_>, targets: &[usize], first: &Terms<{ pairwise::FEATURES }>) -> Self {
        let targets: Vec<Target> = targets.iter().map(|target| Target::of(pairwise, *target, first)).collect();
        let places = likely_members(&targets, pairwise.count());
        let row = |(row, place): (usize, &usize)| match targets.iter().find(|target| target.place == *place) {
            Some(target) => places[..=row].iter().map(|other| target.rows[*other]).collect(),
            None => pairwise.rows(*place, &places[..=row]),
        };
        let rows: Vec<Vec<pairwise::PairFeatures>> = places.iter().enumerate().map(row).collect();
        let share = |row: usize, column: usize| pairwise.in_segment(places[row], places[column]);
        Self {
            segments: Matrix::symmetric(places.len(), share).with_row_sums_of_one(),
            scores: Matrix::symmetric(places.len(), |row, column| first.score(&rows[row][column]) as f32),
            targets,
            rows,
            places,
        }
    }

    /// Runs one more pass over all pairs; its scores replace the current ones.
    pub fn look(&mut self, weights: &Terms<FEATURES>) {
        let neighbors = Neighbors::of(self, (0..self.places.len()).collect());
        self.scores = Matrix::symmetric(self.places.len(), |row, column| {
            weights.score(&neighbors.row(row, column, &self.rows[row][column])) as f32
        });
    }

    /// Runs the last pass and returns, for each target, the probability that each candidate shares its subject.
    /// Candidates that are not refined keep the probability of the pairwise classifier.
    pub fn of_targets(&self, weights: &Terms<FEATURES>) -> Vec<Vec<f32>> {
        let mut of_targets = self.targets.iter().map(|target| target.first.clone()).collect::<Vec<_>>();
        for ((target, rows), likely) in self.targets.iter().zip(self.rows()).zip(&mut of_targets) {
            rows.iter().for_each(|(place, row)| likely[*place] = chance(weights.score(row)) as f32);
            likely[target.place] = 1.0;
        }
        of_targets
    }

    /// Returns, for each target, the other candidates in `places`, each with the pair's features. Empty for a target
    /// that is not in `places`.
    pub fn rows(&self) -> Vec<Vec<(usize, RefineFeatures)>> {
        let asked: Vec<usize> =
            self.targets.iter().filter_map(|target| self.places.binary_search(&target.place).ok()).collect();
        let neighbors = Neighbors::of(self, asked);
        let of = |target: &Target| {
            let one = self.places.binary_search(&target.place).ok();
            let Some(row) = one.and_then(|one| neighbors.asked.iter().position(|asked| *asked == one)) else {
                return Vec::new();
            };
            let others = self.places.iter().enumerate().filter(|(_, place)| **place != target.place);
            others.map(|(other, place)| (*place, neighbors.row(row, other, &target.rows[*place]))).collect()
        };
        self.targets.iter().map(of).collect()
    }

    /// Records in `to` how much each feature contributes to the score of each candidate with the likeliest target.
    pub fn explain(&self, first: &Terms<{ pairwise::FEATURES }>, last: &Terms<FEATURES>, to: &mut ByCandidate) {
        let Some(target) = self.targets.first() else { return };
        let mut rows: Vec<(RefineFeatures, RefineFeatures)> =
            target.rows.iter().map(|values| (widened(values), widened(&first.parts(values)))).collect();
        for (place, values) in self.rows().swap_remove(0) {
            rows[place] = (values, last.parts(&values));
        }
        // The target always belongs to its own subject, so no feature contributes to that.
        rows[target.place] = ([0.0; FEATURES], [0.0; FEATURES]);
        contributions::add(to, "pair", &NAMES, &rows);
    }
}

impl Target {
    fn of(pairwise: &Pairwise<'_>, place: usize, terms: &Terms<{ pairwise::FEATURES }>) -> Self {
        let rows = pairwise.rows(place, &(0..pairwise.count()).collect::<Vec<_>>());
        let mut first: Vec<f32> = rows.iter().map(|row| chance(terms.score(row)) as f32).collect();
        first[place] = 1.0;
        Self { place, rows, first }
    }
}

/// Returns the candidates that are likely enough, by the pairwise classifier, to belong to a target's subject: the
/// likeliest [`MOST`] at most, ascending.
fn likely_members(targets: &[Target], count: usize) -> Vec<usize> {
    let likeliest = |place: usize| targets.iter().map(|target| target.first[place]).fold(0.0, f32::max);
    let mut likely: Vec<(usize, f32)> =
        (0..count).map(|place| (place, likeliest(place))).filter(|(_, chance)| *chance >= FAINT).collect();
    likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    likely.truncate(MOST);
    let mut places: Vec<usize> = likely.into_iter().map(|(place, _)| place).collect();
    places.sort_unstable();
    places
}

fn widened(values: &pairwise::PairFeatures) -> RefineFeatures {
    let mut wide = [0.0; FEATURES];
    wide[..pairwise::FEATURES].copy_from_slice(values);
    wide
}

/// Tables for the neighbour features, computed from the scores of the previous pass. Matrices that are not square have
/// one row for each entry of `asked`.
struct Neighbors {
    /// Candidates for which features are computed, as indices into `Refinement::places`.
    asked: Vec<usize>,
    /// Clamped log odds that two candidates share a subject.
    odds: Matrix,
    /// Mean probability that a message of one candidate's segment and a message of the other's share a subject.
    /// `segment_odds` holds the mean log odds.
    segment_chances: Matrix,
    segment_odds: Matrix,
    /// Expected number of neighbours that two candidates have in common. `count` holds the square root of each
    /// candidate's expected number of neighbours.
    shared: Matrix,
    count: Vec<f32>,
    /// Mean probability, for each candidate, that another one shares its subject.
    mean: Vec<f32>,
}

impl Neighbors {
    fn of(refinement: &Refinement, asked: Vec<usize>) -> Self {
        let Refinement { segments, scores, places, .. } = refinement;
        let with_itself = |itself: f32, of: &dyn Fn(f32) -> f32| {
            Matrix::symmetric(places.len(), |one, other| if one == other { itself } else { of(scores.row(one)[other]) })
        };
        let chances = with_itself(1.0, &|score| chance(f64::from(score)) as f32);
        let odds = with_itself(ITSELF, &|score| score.clamp(-SUREST, SUREST));
        let near = |one: usize, other: usize| Some(chances.row(one)[other]).filter(|chance| *chance > CLOSE);
        let close = Matrix::symmetric(places.len(), |one, other| near(one, other).unwrap_or(0.0));
        Self {
            segment_chances: segments.around(&asked, &chances),
            segment_odds: segments.around(&asked, &odds),
            shared: close.times(&asked, &close),
            count: close.rows().map(|row| row.iter().sum::<f32>().sqrt().max(1e-3)).collect(),
            mean: chances.rows().map(|row| row.iter().sum::<f32>() / row.len() as f32).collect(),
            odds,
            asked,
        }
    }

    /// Returns the features of candidate `other` with the one in row `row` of the tables; `pair` holds their pair
    /// features.
    fn row(&self, row: usize, other: usize, pair: &pairwise::PairFeatures) -> RefineFeatures {
        let (mut values, one) = (widened(pair), self.asked[row]);
        let chance = self.segment_chances.row(row)[other].clamp(0.005, 0.995);
        let of_neighbors = [
            self.odds.row(one)[other],
            (chance / (1.0 - chance)).ln(),
            self.segment_odds.row(row)[other],
            self.shared.row(row)[other] / (self.count[one] * self.count[other]),
            self.mean[other],
        ];
        values[pairwise::FEATURES..].copy_from_slice(&of_neighbors.map(f64::from));
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_of_any_target_are_refined() {
        let target = |first: Vec<f32>| Target { place: 0, first, rows: Vec::new() };
        let both = [target(vec![0.02, 0.5, 1.0]), target(vec![0.01, 0.04, 0.01])];
        assert_eq!(likely_members(&both, 3), [1, 2]);
        let crowd: Vec<f32> = (0..100_u8).map(|place| f32::from(place) / 100.0).collect();
        assert_eq!(likely_members(&[target(crowd)], 100), (36..100).collect::<Vec<_>>());
    }
}
