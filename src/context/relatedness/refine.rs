//! A second and a third look at who belongs together: the neighbors that two candidates keep.
//!
//! Whether two messages are about one matter is hard to tell from the two alone. Once it is guessed of all pairs of those
//! that come into question, more can be seen: whether what goes with the one goes with the other too.

use crate::context::contributions::{self, ByCandidate};
use crate::context::linear::{Terms, chance};
use crate::context::relatedness::matrix::Matrix;
use crate::context::relatedness::pairwise;
use crate::context::relatedness::pairwise::Pairwise;

/// What a look sees of the neighbors, beside all that is known of the pair.
const OF_NEIGHBORS: usize = 5;
pub const FEATURES: usize = pairwise::FEATURES + OF_NEIGHBORS;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = {
    let of_neighbors = ["odds_before", "segment_chance", "segment_odds", "common_neighbors", "mean_chance"];
    let mut names = [""; FEATURES];
    names.split_at_mut(pairwise::FEATURES).0.copy_from_slice(&pairwise::NAMES);
    names.split_at_mut(pairwise::FEATURES).1.copy_from_slice(&of_neighbors);
    names
};
pub type Row = [f64; FEATURES];

/// The most candidates that come into question: with 40 of them F1 over 80 hand-labelled groups is .003 less.
const MOST: usize = 64;
/// A candidate that is less likely than this to belong to any of the targets does not come into question.
const FAINT: f32 = 0.03;
/// Two that are less likely than this to belong together are no neighbors to each other.
const CLOSE: f32 = 0.15;
/// The odds of a candidate's belonging to itself, where sure ones would drown all others.
const ITSELF: f32 = 3.0;
/// Nothing is surer than these log odds: a chance of .995.
const SUREST: f32 = 5.293_305;

/// The candidates that may belong to one of the targets, and what is thought of each two of them.
pub struct Refinement {
    targets: Vec<Target>,
    /// Who comes into question, ascending.
    places: Vec<usize>,
    /// The features of each with those before it, and with itself.
    rows: Vec<Vec<pairwise::Row>>,
    /// Who lies in one segment with each, as shares that sum to 1.
    segments: Matrix,
    /// The log odds that any two belong together: what the last look said of the later one's matter.
    scores: Matrix,
}

/// A candidate that the tag may point at.
struct Target {
    place: usize,
    /// The features of all candidates with it, and how likely each belongs to it at first sight.
    rows: Vec<pairwise::Row>,
    first: Vec<f32>,
}

impl Refinement {
    /// Who may belong to `targets`, at first sight.
    pub fn around(pairwise: &Pairwise<'_>, targets: &[usize], first: &Terms<{ pairwise::FEATURES }>) -> Self {
        let targets: Vec<Target> = targets.iter().map(|target| Target::of(pairwise, *target, first)).collect();
        let places = in_question(&targets, pairwise.count());
        let row = |(row, place): (usize, &usize)| match targets.iter().find(|target| target.place == *place) {
            Some(target) => places[..=row].iter().map(|other| target.rows[*other]).collect(),
            None => pairwise.rows(*place, &places[..=row]),
        };
        let rows: Vec<Vec<pairwise::Row>> = places.iter().enumerate().map(row).collect();
        let share = |row: usize, column: usize| pairwise.in_segment(places[row], places[column]);
        Self {
            segments: Matrix::symmetric(places.len(), share).with_row_sums_of_one(),
            scores: Matrix::symmetric(places.len(), |row, column| first.score(&rows[row][column]) as f32),
            targets,
            rows,
            places,
        }
    }

    /// Looks again at each pair.
    pub fn look(&mut self, weights: &Terms<FEATURES>) {
        let neighbors = Neighbors::of(self, (0..self.places.len()).collect());
        self.scores = Matrix::symmetric(self.places.len(), |row, column| {
            weights.score(&neighbors.row(row, column, &self.rows[row][column])) as f32
        });
    }

    /// Looks a last time, and says how likely each of all candidates belongs to each of the targets.
    pub fn of_targets(&self, weights: &Terms<FEATURES>) -> Vec<Vec<f32>> {
        let mut of_targets = self.targets.iter().map(|target| target.first.clone()).collect::<Vec<_>>();
        for ((target, rows), likely) in self.targets.iter().zip(self.rows()).zip(&mut of_targets) {
            rows.iter().for_each(|(place, row)| likely[*place] = chance(weights.score(row)) as f32);
            likely[target.place] = 1.0;
        }
        of_targets
    }

    /// The features of each in question with each of the targets, itself left out; none where the target does not come into
    /// question.
    pub fn rows(&self) -> Vec<Vec<(usize, Row)>> {
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

    /// Notes what each feature adds to the score of each candidate's belonging to the matter of the likeliest target.
    pub fn explain(&self, first: &Terms<{ pairwise::FEATURES }>, last: &Terms<FEATURES>, to: &mut ByCandidate) {
        let Some(target) = self.targets.first() else { return };
        // Who does not come into question was judged at first sight.
        let mut rows: Vec<(Row, Row)> =
            target.rows.iter().map(|values| (widened(values), widened(&first.parts(values)))).collect();
        for (place, values) in self.rows().swap_remove(0) {
            rows[place] = (values, last.parts(&values));
        }
        // The target belongs to its own matter, whatever its features are.
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

/// Who is likely enough to belong to one of the targets at first sight; of too many the likeliest.
fn in_question(targets: &[Target], count: usize) -> Vec<usize> {
    let likeliest = |place: usize| targets.iter().map(|target| target.first[place]).fold(0.0, f32::max);
    let mut likely: Vec<(usize, f32)> =
        (0..count).map(|place| (place, likeliest(place))).filter(|(_, chance)| *chance >= FAINT).collect();
    likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    likely.truncate(MOST);
    let mut places: Vec<usize> = likely.into_iter().map(|(place, _)| place).collect();
    places.sort_unstable();
    places
}

fn widened(values: &pairwise::Row) -> Row {
    let mut wide = [0.0; FEATURES];
    wide[..pairwise::FEATURES].copy_from_slice(values);
    wide
}

/// What goes with each one in question, by what was thought of them before; and for some of them, a row each, what that has in
/// common with what goes with the others.
struct Neighbors {
    /// Whose rows there are.
    asked: Vec<usize>,
    /// The log odds that any two belong together.
    odds: Matrix,
    /// What the segments of two are to each other, on average: the chance, and the log odds.
    segment_chances: Matrix,
    segment_odds: Matrix,
    /// How many go with both of two, and the root of how many go with each.
    shared: Matrix,
    count: Vec<f32>,
    /// How likely anybody belongs with it.
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

    /// The features of a candidate with the one that a row is of; `pair` are those of the pair.
    fn row(&self, row: usize, other: usize, pair: &pairwise::Row) -> Row {
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
    fn the_likeliest_of_any_target_come_into_question() {
        let target = |first: Vec<f32>| Target { place: 0, first, rows: Vec::new() };
        let both = [target(vec![0.02, 0.5, 1.0]), target(vec![0.01, 0.04, 0.01])];
        assert_eq!(in_question(&both, 3), [1, 2]);
        let crowd: Vec<f32> = (0..100_u8).map(|place| f32::from(place) / 100.0).collect();
        assert_eq!(in_question(&[target(crowd)], 100), (36..100).collect::<Vec<_>>());
    }
}
