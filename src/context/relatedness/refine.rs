//! A second and a third look at who belongs together: the neighbors that two candidates keep.
//!
//! Whether two messages are about one matter is hard to tell from the two alone. Once it is guessed of all pairs of those
//! that come into question, more can be seen: whether what goes with the one goes with the other too.

use crate::context::contributions::Column;
use crate::context::linear::Terms;
use crate::context::relatedness::matrix::{Matrix, SparseMatrix};
use crate::context::relatedness::pairwise;
use crate::context::relatedness::pairwise::{OfOne, Pairs, Pairwise};

/// What a look sees of the neighbors, beside all that is known of the pair.
const OF_COMPANY: usize = 9;
pub const FEATURES: usize = pairwise::FEATURES + OF_COMPANY;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = {
    let of_company = [
        "odds_before",
        "segment_chance",
        "segment_odds",
        "common_neighbors",
        "neighbor_word_cosine",
        "neighbor_meaning_cosine",
        "neighbor_people_cosine",
        "covered_by_neighbors",
        "mean_chance",
    ];
    let mut names = [""; FEATURES];
    names.split_at_mut(pairwise::FEATURES).0.copy_from_slice(&pairwise::NAMES);
    names.split_at_mut(pairwise::FEATURES).1.copy_from_slice(&of_company);
    names
};

/// The most candidates that come into question: with 40 of them F1 over 80 hand-labelled partitioned is .003 less.
const MOST: usize = 64;
/// Fewer keep no neighbors to speak of: what was seen at first sight stays.
const FEW: usize = 8;
/// A candidate that is less likely than this to belong to any of the targets does not come into question.
const FAINT: f32 = 0.03;
/// Two that are less likely than this to belong together are no neighbors to each other.
const CLOSE: f32 = 0.15;
/// The odds of a candidate's belonging to itself, where sure ones would drown all others.
const ITSELF: f32 = 3.0;

/// The candidates that may belong to one of the targets, and what is thought of each two of them.
pub struct Refinement<'a> {
    pairwise: &'a Pairwise<'a>,
    targets: Vec<Target>,
    /// Who comes into question, ascending.
    places: Vec<usize>,
    /// Of each with those before it, and with itself.
    pairs: Pairs,
    of_one: OfOne,
    /// Who lies in one segment with each, as shares that sum to 1.
    segments: SparseMatrix,
    /// The products of any two one's words, meanings and people.
    words: Matrix,
    meanings: Matrix,
    people: Matrix,
    /// The log odds that any two belong together: what the last look said of the later one's matter.
    scores: Matrix,
}

/// A candidate that the tag may point at.
struct Target {
    place: usize,
    /// How likely each of all candidates belongs to it, at first sight.
    first: Vec<f32>,
    /// With all candidates.
    pairs: Pairs,
}

impl<'a> Refinement<'a> {
    /// Who may belong to `targets`, at first sight.
    pub fn around(pairwise: &'a Pairwise<'a>, targets: &[usize], first: &Terms<{ pairwise::FEATURES }>) -> Self {
        let targets: Vec<Target> = targets.iter().map(|target| Target::of(pairwise, *target, first)).collect();
        let places = in_question(&targets, pairwise.corpus().utterances.len());
        let places = if places.len() < FEW { Vec::new() } else { places };
        let known: Vec<(usize, &Pairs)> = targets.iter().map(|target| (target.place, &target.pairs)).collect();
        let pairs = pairwise.among(&places, &known);
        let (side, of_one) = (places.len(), pairwise.of_one().of(&places));
        let feature = |feature: usize| {
            Matrix::symmetric(side, |row, values| values.copy_from_slice(of_row(&pairs, row)[feature]))
        };
        let wordiness: Vec<f32> = places.iter().map(|place| pairwise.wordiness(*place)).collect();
        let scores = Matrix::symmetric(side, |row, sums| {
            sums.fill(first.bias as f32);
            of_one.each_feature(row, of_row(&pairs, row), |feature, values| first.terms[feature].add(values, sums));
        });
        Self {
            segments: SparseMatrix::of(&feature(CF), 0.0).with_sums_of_one(),
            words: feature(LEX).multiplied(&wordiness),
            meanings: feature(EMB),
            people: feature(SAUTH),
            scores,
            pairwise,
            targets,
            places,
            pairs,
            of_one,
        }
    }

    /// Looks again at each pair.
    pub fn look(&mut self, weights: &Terms<FEATURES>) {
        let mut neighbors = Neighbors::of(self, (0..self.places.len()).collect());
        self.scores = Matrix::symmetric(self.places.len(), |row, sums| {
            neighbors.score((row, of_row(&self.pairs, row)), weights, sums);
        });
    }

    /// Looks a last time, and says how likely each of all candidates belongs to each of the targets.
    pub fn of_targets(self, weights: &Terms<FEATURES>) -> Vec<Vec<f32>> {
        let (mut neighbors, rows) = self.neighbors_of_targets();
        let mut scores = vec![0.0; self.places.len()];
        let of = |(target, row): (&Target, Option<usize>)| {
            let mut likely = target.first.clone();
            if let Some(row) = row {
                let pairs = target.pairs_with(&self.places);
                neighbors.score((row, pairs.all()), weights, &mut scores);
                self.places.iter().zip(&scores).for_each(|(place, score)| likely[*place] = likelihood(*score));
            }
            likely[target.place] = 1.0;
            likely
        };
        self.targets.iter().zip(rows).map(of).collect()
    }

    /// The neighbors of the targets, and the row in it of each that comes into question.
    fn neighbors_of_targets(&self) -> (Neighbors<'_>, Vec<Option<usize>>) {
        let mut asked = Vec::new();
        let row = |target: &Target| {
            asked.push(self.places.binary_search(&target.place).ok()?);
            Some(asked.len() - 1)
        };
        let rows = self.targets.iter().map(row).collect();
        (Neighbors::of(self, asked), rows)
    }

    /// The features of each in question with each of the targets, itself left out.
    pub fn rows(&self) -> Vec<Vec<(usize, [f64; FEATURES])>> {
        let (mut neighbors, rows) = self.neighbors_of_targets();
        let of = |(target, row): (&Target, Option<usize>)| {
            let mut rows = vec![[0.0; FEATURES]; self.places.len()];
            if let Some(row) = row {
                let pairs = target.pairs_with(&self.places);
                neighbors.each_feature((row, pairs.all()), |feature, values| {
                    rows.iter_mut().zip(values).for_each(|(row, value)| row[feature] = f64::from(*value));
                });
            }
            self.places.iter().copied().zip(rows).filter(|(place, _)| *place != target.place).collect()
        };
        self.targets.iter().zip(rows).map(of).collect()
    }

    /// What each feature of a candidate is, and what it adds to the score of its belonging to the matter of the likeliest
    /// target.
    pub fn columns(&self, first: &Terms<{ pairwise::FEATURES }>, last: &Terms<FEATURES>) -> Vec<Column> {
        let Some(target) = self.targets.first() else { return Vec::new() };
        // Who does not come into question was judged at first sight.
        let mut rows: Vec<([f64; FEATURES], [f64; FEATURES])> = (self.pairwise.rows(target.place).iter())
            .map(|values| (widened(values), widened(&first.parts(values))))
            .collect();
        for (place, values) in self.rows().swap_remove(0) {
            rows[place] = (values, last.parts(&values));
        }
        // The target belongs to its own matter, whatever its features are.
        rows[target.place] = ([0.0; FEATURES], [0.0; FEATURES]);
        let column = |(feature, name): (usize, &&str)| Column {
            name: format!("pair.{name}"),
            rows: rows.iter().map(|(values, parts)| (values[feature], parts[feature])).collect(),
        };
        NAMES.iter().enumerate().map(column).collect()
    }
}

impl Target {
    fn of(pairwise: &Pairwise<'_>, place: usize, terms: &Terms<{ pairwise::FEATURES }>) -> Self {
        let pairs = pairwise.pairs(place);
        let mut first = vec![terms.bias as f32; pairwise.corpus().utterances.len()];
        pairwise.of_one().each_feature(place, pairs.all(), |feature, values| {
            terms.terms[feature].add(values, &mut first);
        });
        first.iter_mut().for_each(|score| *score = likelihood(*score));
        first[place] = 1.0;
        Self { place, first, pairs }
    }

    fn pairs_with(&self, places: &[usize]) -> Pairs {
        let mut pairs = Pairs::default();
        pairs.add(&self.pairs, places);
        pairs
    }
}

/// What is of the one of that row with those before it, and with itself.
fn of_row(pairs: &Pairs, row: usize) -> [&[f32]; pairwise::OF_PAIR] {
    let start = row * (row + 1) / 2;
    pairs.between(start, start + row + 1)
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

fn widened(values: &[f64; pairwise::FEATURES]) -> [f64; FEATURES] {
    let mut wide = [0.0; FEATURES];
    wide[..pairwise::FEATURES].copy_from_slice(values);
    wide
}

/// What goes with each one in question, by what was thought of them before; and for some of them, a row each, what that has in
/// common with what goes with the others.
struct Neighbors<'a> {
    refinement: &'a Refinement<'a>,
    /// Whose rows there are.
    asked: Vec<usize>,
    /// The log odds that any two belong together.
    odds: Matrix,
    /// What the segments of two are to each other, on average: the chance, and the log odds.
    fragment_chances: Matrix,
    fragment_odds: Matrix,
    /// Who goes with each.
    close: SparseMatrix,
    /// How many go with both of two, for how many go with either.
    shared: Matrix,
    /// How alike the words, the meanings and the people are of all that goes with either.
    words: Matrix,
    meanings: Matrix,
    people: Matrix,
    /// How likely anybody belongs with it.
    usual: Vec<f32>,
    /// How much each says: the sum of how rare its words are.
    said: Vec<f32>,
    /// Room to work in: how often each word is said by those that go with somebody.
    spoken: Vec<f32>,
}

impl<'a> Neighbors<'a> {
    fn of(refinement: &'a Refinement<'a>, asked: Vec<usize>) -> Self {
        let Refinement { segments, scores, places, .. } = refinement;
        let side = places.len();
        let kin = scores.map(likelihood).with_diagonal(1.0);
        let odds = scores.map(|score| score.clamp(-SUREST, SUREST)).with_diagonal(ITSELF);
        let close = SparseMatrix::of(&kin, CLOSE);
        let count: Vec<f32> =
            close.0.iter().map(|row| row.iter().map(|(_, chance)| chance).sum::<f32>().sqrt().max(1e-3)).collect();
        let corpus = refinement.pairwise.corpus();
        let rarity = |place: &usize| corpus.stems[*place].iter().map(|stem| corpus.idf[*stem] as f32).sum::<f32>();
        let shared = close.times(asked.iter().copied(), &close.transposed());
        Self {
            fragment_chances: segments.around(&asked, &kin).0,
            fragment_odds: segments.around(&asked, &odds).0,
            shared: shared.divided(asked.iter().map(|row| count[*row]), &count),
            words: alike((&close, &asked), &refinement.words),
            meanings: alike((&close, &asked), &refinement.meanings),
            people: alike((&close, &asked), &refinement.people),
            usual: (0..side).map(|row| kin.row(row).iter().sum::<f32>() / side as f32).collect(),
            said: places.iter().map(rarity).collect(),
            spoken: vec![0.0; corpus.idf.len()],
            refinement,
            asked,
            odds,
            close,
        }
    }

    /// The log odds that some belong with the one that row is of; `pairs` are theirs.
    fn score(&mut self, row: (usize, [&[f32]; pairwise::OF_PAIR]), weights: &Terms<FEATURES>, sums: &mut [f32]) {
        sums.fill(weights.bias as f32);
        self.each_feature(row, |feature, values| weights.terms[feature].add(values, sums));
    }

    /// Shows the columns of all features of the first so many with the one that row is of, as many as there are `pairs`.
    fn each_feature(
        &mut self,
        (row, pairs): (usize, [&[f32]; pairwise::OF_PAIR]),
        mut show: impl FnMut(usize, &[f32]),
    ) {
        let (count, one) = (pairs[0].len(), self.asked[row]);
        self.refinement.of_one.each_feature(one, pairs, &mut show);
        let covered = self.covered(one, count);
        let Self { odds, fragment_chances, fragment_odds, shared, words, meanings, people, usual, .. } = self;
        let chances: Vec<f32> = fragment_chances.row(row)[..count].iter().copied().map(log_odds).collect();
        let of_rows = [fragment_odds, shared, words, meanings, people].map(|of_rows| of_rows.row(row));
        let columns = [odds.row(one), &chances].into_iter().chain(of_rows).chain([&covered[..], usual]);
        (pairwise::FEATURES..).zip(columns).for_each(|(feature, column)| show(feature, &column[..count]));
    }

    /// Of each of the first `count` the share of its words, the rare ones heavier, that the neighbors of one says too.
    fn covered(&mut self, one: usize, count: usize) -> Vec<f32> {
        let (corpus, places) = (self.refinement.pairwise.corpus(), &self.refinement.places);
        let of = |other: &usize| corpus.stems[places[*other]].iter();
        for (other, chance) in &self.close.0[one] {
            of(other).for_each(|stem| self.spoken[*stem] += chance);
        }
        let share = |(other, said): (usize, &f32)| {
            let shared: f32 = of(&other).map(|stem| corpus.idf[*stem] as f32 * self.spoken[*stem].min(1.0)).sum();
            shared / said.max(1e-6)
        };
        let covered = self.said[..count].iter().enumerate().map(share).collect();
        for (other, _) in &self.close.0[one] {
            of(other).for_each(|stem| self.spoken[*stem] = 0.0);
        }
        covered
    }
}

/// The cosines of the sums of what goes with some and with everybody; `products` are those of any two that are summed.
fn alike((close, rows): (&SparseMatrix, &[usize]), products: &Matrix) -> Matrix {
    let (of_sums, own) = close.around(rows, products);
    let lengths: Vec<f32> = own.into_iter().map(|own| own.max(0.0).sqrt().max(1e-6)).collect();
    of_sums.divided(rows.iter().map(|row| lengths[*row]), &lengths)
}

/// Places of features of the pair.
const CF: usize = 0;
const SAUTH: usize = 3;
const LEX: usize = 9;
const EMB: usize = 13;

/// Nothing is surer than a chance of .995, or of .005 that it is not: the log odds of that.
const SUREST: f32 = 5.293_305;

fn log_odds(chance: f32) -> f32 {
    let chance = chance.clamp(0.005, 0.995);
    (chance / (1.0 - chance)).ln()
}

fn likelihood(score: f32) -> f32 {
    1.0 / (1.0 + (-score).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_the_same_are_alike_and_of_strangers_are_not() {
        let products = Matrix::of_rows(&[4.0, 0.0, 0.0, 9.0]);
        let alike = |close: &[f32]| alike((&SparseMatrix::of(&Matrix::of_rows(close), 0.0), &[0, 1]), &products).values;
        assert_eq!(alike(&[1.0, 0.0, 0.0, 1.0]), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(alike(&[1.0, 0.0, 2.0, 0.0]), [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_likeliest_of_any_anchor_come_into_question() {
        let target = |first: Vec<f32>| Target { place: 0, first, pairs: Pairs::default() };
        let both = [target(vec![0.02, 0.5, 1.0]), target(vec![0.01, 0.04, 0.01])];
        assert_eq!(in_question(&both, 3), [1, 2]);
        let crowd: Vec<f32> = (0..100_u8).map(|place| f32::from(place) / 100.0).collect();
        assert_eq!(in_question(&[target(crowd)], 100), (36..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_features_of_the_pair_are_found_by_their_places() {
        assert_eq!(
            [NAMES[CF], NAMES[SAUTH], NAMES[LEX], NAMES[EMB]],
            ["same_segment", "same_author", "word_cosine", "meaning_product"]
        );
    }
}
