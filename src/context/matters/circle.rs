//! A second and a third look at who belongs together: the company that two candidates keep.
//!
//! Whether two messages are about one matter is hard to tell from the two alone. Once it is guessed of all pairs of those
//! that come into question, more can be seen: whether what goes with the one goes with the other too.

use crate::context::explain::Column;
use crate::context::linear::Terms;
use crate::context::matters::grid::{Grid, Sparse};
use crate::context::matters::kin::{self, Kinship, OfOne, Pairs};
use crate::context::matters::weights::TagWeights;

/// What a look sees of the company, beside all that is known of the pair.
const OF_COMPANY: usize = 9;
pub const FEATURES: usize = kin::FEATURES + OF_COMPANY;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = {
    let of_company = ["lq", "fq", "fl", "path", "plex", "pemb", "pauth", "cov", "mean"];
    let mut names = [""; FEATURES];
    names.split_at_mut(kin::FEATURES).0.copy_from_slice(&kin::NAMES);
    names.split_at_mut(kin::FEATURES).1.copy_from_slice(&of_company);
    names
};

/// The most candidates that come into question: with 40 of them F1 over 80 hand-labelled groups is .003 less.
const MOST: usize = 64;
/// Fewer keep no company to speak of: what was seen at first sight stays.
const FEW: usize = 8;
/// A candidate that is less likely than this to belong to any of the anchors does not come into question.
const FAINT: f32 = 0.03;
/// Two that are less likely than this to belong together are no company to each other.
const CLOSE: f32 = 0.15;
/// The odds of a candidate's belonging to itself, where sure ones would drown all others.
const ITSELF: f32 = 3.0;

/// The candidates that may belong to one of the anchors, and what is thought of each two of them.
pub struct Circle<'a> {
    kinship: &'a Kinship<'a>,
    anchors: Vec<Anchor>,
    /// Who comes into question, ascending.
    places: Vec<usize>,
    /// Of each with those before it, and with itself.
    pairs: Pairs,
    of_one: OfOne,
    /// Who lies in one fragment with each, as shares that sum to 1.
    fragments: Sparse,
    /// The products of any two one's words, meanings and people.
    words: Grid,
    meanings: Grid,
    people: Grid,
    /// The log odds that any two belong together: what the last look said of the later one's matter.
    scores: Grid,
}

/// A candidate that the tag may hang on.
struct Anchor {
    place: usize,
    /// How likely each of all candidates belongs to it, at first sight.
    first: Vec<f32>,
    /// With all candidates.
    pairs: Pairs,
}

impl<'a> Circle<'a> {
    /// Who may belong to `anchors`, at first sight.
    pub fn around(kinship: &'a Kinship<'a>, anchors: &[usize], weights: &TagWeights) -> Self {
        let anchors: Vec<Anchor> = anchors.iter().map(|anchor| Anchor::of(kinship, *anchor, weights)).collect();
        let places = in_question(&anchors, kinship.ground().remarks.len());
        let places = if places.len() < FEW { Vec::new() } else { places };
        let known: Vec<(usize, &Pairs)> = anchors.iter().map(|anchor| (anchor.place, &anchor.pairs)).collect();
        let pairs = kinship.among(&places, &known);
        let (side, of_one) = (places.len(), kinship.of_one().of(&places));
        let feature =
            |feature: usize| Grid::symmetric(side, |row, values| values.copy_from_slice(of_row(&pairs, row)[feature]));
        let wordiness: Vec<f32> = places.iter().map(|place| kinship.wordiness(*place)).collect();
        let scores = Grid::symmetric(side, |row, sums| {
            sums.fill(weights.kinship.bias as f32);
            of_one.each_feature(row, of_row(&pairs, row), |feature, values| {
                weights.kinship.terms[feature].add(values, sums)
            });
        });
        Self {
            fragments: Sparse::of(&feature(CF), 0.0).with_sums_of_one(),
            words: feature(LEX).multiplied(&wordiness),
            meanings: feature(EMB),
            people: feature(SAUTH),
            scores,
            kinship,
            anchors,
            places,
            pairs,
            of_one,
        }
    }

    /// Looks again at each pair.
    pub fn look(&mut self, weights: &Terms<FEATURES>) {
        let mut company = Company::of(self, (0..self.places.len()).collect());
        self.scores = Grid::symmetric(self.places.len(), |row, sums| {
            company.score((row, of_row(&self.pairs, row)), weights, sums);
        });
    }

    /// Looks a last time, and says how likely each of all candidates belongs to each of the anchors.
    pub fn of_anchors(self, weights: &Terms<FEATURES>) -> Vec<Vec<f32>> {
        let (mut company, rows) = self.company_of_anchors();
        let mut scores = vec![0.0; self.places.len()];
        let of = |(anchor, row): (&Anchor, Option<usize>)| {
            let mut likely = anchor.first.clone();
            if let Some(row) = row {
                let pairs = anchor.pairs_with(&self.places);
                company.score((row, pairs.all()), weights, &mut scores);
                self.places.iter().zip(&scores).for_each(|(place, score)| likely[*place] = likelihood(*score));
            }
            likely[anchor.place] = 1.0;
            likely
        };
        self.anchors.iter().zip(rows).map(of).collect()
    }

    /// The company of the anchors, and the row in it of each that comes into question.
    fn company_of_anchors(&self) -> (Company<'_>, Vec<Option<usize>>) {
        let mut asked = Vec::new();
        let row = |anchor: &Anchor| {
            asked.push(self.places.binary_search(&anchor.place).ok()?);
            Some(asked.len() - 1)
        };
        let rows = self.anchors.iter().map(row).collect();
        (Company::of(self, asked), rows)
    }

    /// The features of each in question with each of the anchors, itself left out.
    pub fn rows(&self) -> Vec<Vec<(usize, [f64; FEATURES])>> {
        let (mut company, rows) = self.company_of_anchors();
        let of = |(anchor, row): (&Anchor, Option<usize>)| {
            let mut rows = vec![[0.0; FEATURES]; self.places.len()];
            if let Some(row) = row {
                let pairs = anchor.pairs_with(&self.places);
                company.each_feature((row, pairs.all()), |feature, values| {
                    rows.iter_mut().zip(values).for_each(|(row, value)| row[feature] = f64::from(*value));
                });
            }
            self.places.iter().copied().zip(rows).filter(|(place, _)| *place != anchor.place).collect()
        };
        self.anchors.iter().zip(rows).map(of).collect()
    }

    /// What each feature of a candidate is, and what it adds to the score of its belonging to the matter of the likeliest
    /// anchor.
    pub fn columns(&self, weights: &TagWeights, last: &Terms<FEATURES>) -> Vec<Column> {
        let Some(anchor) = self.anchors.first() else { return Vec::new() };
        // Who does not come into question was judged at first sight.
        let mut rows: Vec<([f64; FEATURES], [f64; FEATURES])> = (self.kinship.rows(anchor.place).iter())
            .map(|values| (widened(values), widened(&weights.kinship.parts(values))))
            .collect();
        for (place, values) in self.rows().swap_remove(0) {
            rows[place] = (values, last.parts(&values));
        }
        // The anchor belongs to its own matter, whatever its features are.
        rows[anchor.place] = ([0.0; FEATURES], [0.0; FEATURES]);
        let column = |(feature, name): (usize, &&str)| Column {
            name: format!("kin.{name}"),
            rows: rows.iter().map(|(values, parts)| (values[feature], parts[feature])).collect(),
        };
        NAMES.iter().enumerate().map(column).collect()
    }
}

impl Anchor {
    fn of(kinship: &Kinship<'_>, place: usize, weights: &TagWeights) -> Self {
        let pairs = kinship.pairs(place);
        let mut first = vec![weights.kinship.bias as f32; kinship.ground().remarks.len()];
        kinship.of_one().each_feature(place, pairs.all(), |feature, values| {
            weights.kinship.terms[feature].add(values, &mut first);
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
fn of_row(pairs: &Pairs, row: usize) -> [&[f32]; kin::OF_PAIR] {
    let start = row * (row + 1) / 2;
    pairs.between(start, start + row + 1)
}

/// Who is likely enough to belong to one of the anchors at first sight; of too many the likeliest.
fn in_question(anchors: &[Anchor], count: usize) -> Vec<usize> {
    let likeliest = |place: usize| anchors.iter().map(|anchor| anchor.first[place]).fold(0.0, f32::max);
    let mut likely: Vec<(usize, f32)> =
        (0..count).map(|place| (place, likeliest(place))).filter(|(_, chance)| *chance >= FAINT).collect();
    likely.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    likely.truncate(MOST);
    let mut places: Vec<usize> = likely.into_iter().map(|(place, _)| place).collect();
    places.sort_unstable();
    places
}

fn widened(values: &[f64; kin::FEATURES]) -> [f64; FEATURES] {
    let mut wide = [0.0; FEATURES];
    wide[..kin::FEATURES].copy_from_slice(values);
    wide
}

/// What goes with each one in question, by what was thought of them before; and for some of them, a row each, what that has in
/// common with what goes with the others.
struct Company<'a> {
    circle: &'a Circle<'a>,
    /// Whose rows there are.
    asked: Vec<usize>,
    /// The log odds that any two belong together.
    odds: Grid,
    /// What the fragments of two are to each other, on average: the chance, and the log odds.
    fragment_chances: Grid,
    fragment_odds: Grid,
    /// Who goes with each.
    close: Sparse,
    /// How many go with both of two, for how many go with either.
    shared: Grid,
    /// How alike the words, the meanings and the people are of all that goes with either.
    words: Grid,
    meanings: Grid,
    people: Grid,
    /// How likely anybody belongs with it.
    usual: Vec<f32>,
    /// How much each says: the sum of how rare its words are.
    said: Vec<f32>,
    /// Room to work in: how often each word is said by those that go with somebody.
    spoken: Vec<f32>,
}

impl<'a> Company<'a> {
    fn of(circle: &'a Circle<'a>, asked: Vec<usize>) -> Self {
        let Circle { fragments, scores, places, .. } = circle;
        let side = places.len();
        let kin = scores.map(likelihood).with_diagonal(1.0);
        let odds = scores.map(|score| score.clamp(-SUREST, SUREST)).with_diagonal(ITSELF);
        let close = Sparse::of(&kin, CLOSE);
        let count: Vec<f32> =
            close.0.iter().map(|row| row.iter().map(|(_, chance)| chance).sum::<f32>().sqrt().max(1e-3)).collect();
        let ground = circle.kinship.ground();
        let rarity = |place: &usize| ground.stems[*place].iter().map(|stem| ground.idf[*stem] as f32).sum::<f32>();
        let shared = close.times(asked.iter().copied(), &close.transposed());
        Self {
            fragment_chances: fragments.around(&asked, &kin).0,
            fragment_odds: fragments.around(&asked, &odds).0,
            shared: shared.divided(asked.iter().map(|row| count[*row]), &count),
            words: alike((&close, &asked), &circle.words),
            meanings: alike((&close, &asked), &circle.meanings),
            people: alike((&close, &asked), &circle.people),
            usual: (0..side).map(|row| kin.row(row).iter().sum::<f32>() / side as f32).collect(),
            said: places.iter().map(rarity).collect(),
            spoken: vec![0.0; ground.idf.len()],
            circle,
            asked,
            odds,
            close,
        }
    }

    /// The log odds that some belong with the one that row is of; `pairs` are theirs.
    fn score(&mut self, row: (usize, [&[f32]; kin::OF_PAIR]), weights: &Terms<FEATURES>, sums: &mut [f32]) {
        sums.fill(weights.bias as f32);
        self.each_feature(row, |feature, values| weights.terms[feature].add(values, sums));
    }

    /// Shows the columns of all features of the first so many with the one that row is of, as many as there are `pairs`.
    fn each_feature(&mut self, (row, pairs): (usize, [&[f32]; kin::OF_PAIR]), mut show: impl FnMut(usize, &[f32])) {
        let (count, one) = (pairs[0].len(), self.asked[row]);
        self.circle.of_one.each_feature(one, pairs, &mut show);
        let covered = self.covered(one, count);
        let Self { odds, fragment_chances, fragment_odds, shared, words, meanings, people, usual, .. } = self;
        let chances: Vec<f32> = fragment_chances.row(row)[..count].iter().copied().map(log_odds).collect();
        let of_rows = [fragment_odds, shared, words, meanings, people].map(|of_rows| of_rows.row(row));
        let columns = [odds.row(one), &chances].into_iter().chain(of_rows).chain([&covered[..], usual]);
        (kin::FEATURES..).zip(columns).for_each(|(feature, column)| show(feature, &column[..count]));
    }

    /// Of each of the first `count` the share of its words, the rare ones heavier, that the company of one says too.
    fn covered(&mut self, one: usize, count: usize) -> Vec<f32> {
        let (ground, places) = (self.circle.kinship.ground(), &self.circle.places);
        let of = |other: &usize| ground.stems[places[*other]].iter();
        for (other, chance) in &self.close.0[one] {
            of(other).for_each(|stem| self.spoken[*stem] += chance);
        }
        let share = |(other, said): (usize, &f32)| {
            let shared: f32 = of(&other).map(|stem| ground.idf[*stem] as f32 * self.spoken[*stem].min(1.0)).sum();
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
fn alike((close, rows): (&Sparse, &[usize]), products: &Grid) -> Grid {
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
        let products = Grid::of_rows(&[4.0, 0.0, 0.0, 9.0]);
        let alike = |close: &[f32]| alike((&Sparse::of(&Grid::of_rows(close), 0.0), &[0, 1]), &products).values;
        assert_eq!(alike(&[1.0, 0.0, 0.0, 1.0]), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(alike(&[1.0, 0.0, 2.0, 0.0]), [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_likeliest_of_any_anchor_come_into_question() {
        let anchor = |first: Vec<f32>| Anchor { place: 0, first, pairs: Pairs::default() };
        let both = [anchor(vec![0.02, 0.5, 1.0]), anchor(vec![0.01, 0.04, 0.01])];
        assert_eq!(in_question(&both, 3), [1, 2]);
        let crowd: Vec<f32> = (0..100_u8).map(|place| f32::from(place) / 100.0).collect();
        assert_eq!(in_question(&[anchor(crowd)], 100), (36..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_features_of_the_pair_are_found_by_their_places() {
        assert_eq!([NAMES[CF], NAMES[SAUTH], NAMES[LEX], NAMES[EMB]], ["cf", "sauth", "lex", "emb"]);
    }
}
