//! A second and a third look at who belongs together: the company that two candidates keep.
//!
//! Whether two messages are about one matter is hard to tell from the two alone. Once it is guessed of all pairs of those
//! that come into question, more can be seen: whether what goes with the one goes with the other too.

use crate::context::explain::Column;
use crate::context::linear::{Terms, chance};
use crate::context::matters::kin::{self, Kinship};
use crate::context::matters::square::{Sparse, Square};
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
const FAINT: f64 = 0.03;
/// Two that are less likely than this to belong together are no company to each other.
const CLOSE: f32 = 0.15;
/// The odds of a candidate's belonging to itself, where sure ones would drown all others.
const ITSELF: f32 = 3.0;

/// The candidates that may belong to one of the anchors, and what is thought of each two of them.
pub struct Circle<'a> {
    kinship: &'a Kinship<'a>,
    anchors: Vec<usize>,
    /// How likely each of all candidates belongs to each anchor, at first sight.
    first: Vec<Vec<f64>>,
    /// Who comes into question, ascending.
    places: Vec<usize>,
    pairs: Pairs,
    /// Who lies in one fragment with each, as shares that sum to 1.
    fragments: Sparse,
    /// The products of any two one's words, meanings and people.
    words: Square,
    meanings: Square,
    people: Square,
    /// How likely any two belong together: what the last look said of the later one's matter. 1 for each with itself.
    kin: Square,
}

impl<'a> Circle<'a> {
    /// Who may belong to `anchors`, at first sight.
    pub fn around(kinship: &'a Kinship<'a>, anchors: Vec<usize>, weights: &TagWeights) -> Self {
        let rows: Vec<(usize, Vec<_>)> = anchors.iter().map(|anchor| (*anchor, kinship.rows(*anchor))).collect();
        let first: Vec<Vec<f64>> = rows.iter().map(|(anchor, rows)| at_first_sight(*anchor, rows, weights)).collect();
        let places = in_question(&first, kinship.ground().remarks.len());
        let places = if places.len() < FEW { Vec::new() } else { places };
        let pairs = Pairs(kinship.among(&places, &rows));
        let side = places.len();
        let feature = |feature: usize| Square::symmetric(side, |row, column| pairs.of(row, column)[feature] as f32);
        let wordiness: Vec<f64> = places.iter().map(|place| kinship.wordiness(*place)).collect();
        let words = |row: usize, column: usize| pairs.of(row, column)[LEX] * wordiness[row] * wordiness[column];
        let likely = |later: usize, earlier: usize| {
            chance(weights.kinship.score(&pairs.complete(kinship, &places, (later, earlier)))) as f32
        };
        Self {
            fragments: Sparse::of(&feature(CF), 0.0).with_sums_of_one(),
            words: Square::symmetric(side, |row, column| words(row, column) as f32),
            meanings: feature(EMB),
            people: feature(SAUTH),
            kin: Square::symmetric(side, likely).with_diagonal(1.0),
            kinship,
            anchors,
            first,
            places,
            pairs,
        }
    }

    /// Looks again at each pair.
    pub fn look(&mut self, weights: &Terms<FEATURES>) {
        let company = Company::of(self);
        let around: Vec<Around<'_>> = (0..self.places.len()).map(|row| company.around(row)).collect();
        let likely = |later: usize, earlier: usize| chance(weights.score(&around[later].with(earlier))) as f32;
        self.kin = Square::symmetric(self.places.len(), likely).with_diagonal(1.0);
    }

    /// Looks a last time, and says how likely each of all candidates belongs to each of the anchors.
    pub fn of_anchors(self, weights: &Terms<FEATURES>) -> Vec<Vec<f64>> {
        let company = Company::of(&self);
        let of = |(anchor, first): (&usize, &Vec<f64>)| {
            let mut likely = first.clone();
            for (place, values) in company.rows(*anchor) {
                likely[place] = chance(weights.score(&values));
            }
            likely[*anchor] = 1.0;
            likely
        };
        self.anchors.iter().zip(&self.first).map(of).collect()
    }

    /// The features of each in question with `anchor`, itself left out.
    pub fn rows(&self, anchor: usize) -> Vec<(usize, [f64; FEATURES])> {
        Company::of(self).rows(anchor)
    }

    /// What each feature of a candidate is, and what it adds to the score of its belonging to the matter of `anchor`.
    pub fn columns(&self, anchor: usize, weights: &TagWeights, last: &Terms<FEATURES>) -> Vec<Column> {
        // Who does not come into question was judged at first sight.
        let mut rows: Vec<([f64; FEATURES], [f64; FEATURES])> = (self.kinship.rows(anchor).iter())
            .map(|values| (widened(values), widened(&weights.kinship.parts(values))))
            .collect();
        for (place, values) in self.rows(anchor) {
            rows[place] = (values, last.parts(&values));
        }
        // The anchor belongs to its own matter, whatever its features are.
        rows[anchor] = ([0.0; FEATURES], [0.0; FEATURES]);
        let column = |(feature, name): (usize, &&str)| Column {
            name: format!("kin.{name}"),
            rows: rows.iter().map(|(values, parts)| (values[feature], parts[feature])).collect(),
        };
        NAMES.iter().enumerate().map(column).collect()
    }
}

/// How likely each candidate belongs to the matter of `anchor`, which surely does, by the features of the two.
fn at_first_sight(anchor: usize, rows: &[[f64; kin::FEATURES]], weights: &TagWeights) -> Vec<f64> {
    let mut likely: Vec<f64> = rows.iter().map(|row| chance(weights.kinship.score(row))).collect();
    likely[anchor] = 1.0;
    likely
}

/// Who is likely enough to belong to one of the anchors at first sight; of too many the likeliest.
fn in_question(first: &[Vec<f64>], count: usize) -> Vec<usize> {
    let likeliest = |place: usize| first.iter().map(|of_anchor| of_anchor[place]).fold(0.0, f64::max);
    let mut likely: Vec<(usize, f64)> =
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

/// What goes with each one in question, by what was thought of them before.
struct Company<'a> {
    circle: &'a Circle<'a>,
    /// The log odds that two belong together.
    odds: Square,
    /// What the fragments of two are to each other, on average: the log odds of the chance, and the odds.
    fragment_chances: Square,
    fragment_odds: Square,
    /// Who goes with each.
    close: Sparse,
    /// How many go with both of two, for how many go with either.
    shared: Square,
    /// How alike the words, the meanings and the people are of all that goes with either.
    words: Square,
    meanings: Square,
    people: Square,
    /// How likely anybody belongs with it.
    usual: Vec<f32>,
}

impl<'a> Company<'a> {
    fn of(circle: &'a Circle<'a>) -> Self {
        let Circle { fragments, kin, .. } = circle;
        let side = circle.places.len();
        let odds = Square::symmetric(side, |row, column| log_odds(kin.row(row)[column])).with_diagonal(ITSELF);
        let close = Sparse::of(kin, CLOSE);
        let count: Vec<f32> =
            close.0.iter().map(|row| row.iter().map(|(_, chance)| chance).sum::<f32>().sqrt().max(1e-3)).collect();
        Self {
            fragment_chances: fragments.around(kin).map(log_odds),
            fragment_odds: fragments.around(&odds),
            shared: close.times(&close.transposed()).divided(&count),
            words: alike(&close, &circle.words),
            meanings: alike(&close, &circle.meanings),
            people: alike(&close, &circle.people),
            usual: (0..side).map(|row| kin.row(row).iter().sum::<f32>() / side as f32).collect(),
            circle,
            odds,
            close,
        }
    }

    /// The features of each in question with the candidate `anchor`, itself left out.
    fn rows(&self, anchor: usize) -> Vec<(usize, [f64; FEATURES])> {
        let places = &self.circle.places;
        let Ok(row) = places.binary_search(&anchor) else { return Vec::new() };
        let around = self.around(row);
        let rows = places.iter().enumerate().map(|(column, place)| (*place, around.with(column)));
        rows.filter(|(place, _)| *place != anchor).collect()
    }

    /// What the one of that row sees of the others.
    fn around(&self, row: usize) -> Around<'_> {
        let ground = self.circle.kinship.ground();
        let mut words = vec![0.0; ground.idf.len()];
        for (other, chance) in &self.close.0[row] {
            let stems = &ground.stems[self.circle.places[*other]];
            stems.iter().for_each(|stem| words[*stem] += f64::from(*chance));
        }
        Around { company: self, row, words }
    }
}

/// The company of one.
struct Around<'a> {
    company: &'a Company<'a>,
    row: usize,
    /// How often each word is said by those that go with it.
    words: Vec<f64>,
}

impl Around<'_> {
    /// The features of the one of that column.
    fn with(&self, column: usize) -> [f64; FEATURES] {
        let Self { company, row, .. } = *self;
        let Company { circle, odds, fragment_chances, fragment_odds, shared, words, meanings, people, .. } = company;
        let mut values = widened(&circle.pairs.complete(circle.kinship, &circle.places, (row, column)));
        let of_two = [odds, fragment_chances, fragment_odds, shared, words, meanings, people];
        let of_company = of_two.map(|of_two| of_two.row(row)[column]).into_iter();
        let of_one = [self.covered(circle.places[column]), company.usual[column]];
        values[kin::FEATURES..].iter_mut().zip(of_company.chain(of_one)).for_each(|(value, of)| *value = f64::from(of));
        values
    }

    /// The share of a candidate's words, the rare ones heavier, that the company says too.
    fn covered(&self, place: usize) -> f32 {
        let ground = self.company.circle.kinship.ground();
        let (mut all, mut shared) = (0.0, 0.0);
        for stem in &ground.stems[place] {
            all += ground.idf[*stem];
            shared += ground.idf[*stem] * self.words[*stem].min(1.0);
        }
        (shared / all.max(1e-6)) as f32
    }
}

/// The cosines of the sums of what goes with any two; `products` are those of any two that are summed.
fn alike(close: &Sparse, products: &Square) -> Square {
    let of_sums = close.around(products);
    let lengths: Vec<f32> = of_sums.diagonal().map(|own| own.max(0.0).sqrt().max(1e-6)).collect();
    of_sums.divided(&lengths)
}

/// What is of the pair of any two in question: of each with those before it, and with itself.
struct Pairs(Vec<[f64; kin::OF_PAIR]>);

impl Pairs {
    fn of(&self, row: usize, column: usize) -> &[f64; kin::OF_PAIR] {
        let (later, earlier) = (row.max(column), row.min(column));
        &self.0[later * (later + 1) / 2 + earlier]
    }

    /// All features of the one of the column with that of the row.
    fn complete(&self, kinship: &Kinship<'_>, places: &[usize], (row, column): (usize, usize)) -> [f64; kin::FEATURES] {
        kinship.complete(*self.of(row, column), places[row], places[column])
    }
}

/// Places of features of the pair.
const CF: usize = 0;
const SAUTH: usize = 3;
const LEX: usize = 9;
const EMB: usize = 13;

fn log_odds(chance: f32) -> f32 {
    let chance = chance.clamp(0.005, 0.995);
    (chance / (1.0 - chance)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_the_same_are_alike_and_of_strangers_are_not() {
        let products = Square::of_rows(&[4.0, 0.0, 0.0, 9.0]);
        let alike = |close: &[f32]| alike(&Sparse::of(&Square::of_rows(close), 0.0), &products).values;
        assert_eq!(alike(&[1.0, 0.0, 0.0, 1.0]), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(alike(&[1.0, 0.0, 2.0, 0.0]), [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn the_likeliest_of_any_anchor_come_into_question() {
        let first = [vec![0.02, 0.5, 1.0], vec![0.01, 0.04, 0.01]];
        assert_eq!(in_question(&first, 3), [1, 2]);
        let crowd: Vec<f64> = (0..100).map(|place| f64::from(place) / 100.0).collect();
        assert_eq!(in_question(&[crowd], 100), (36..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_features_of_the_pair_are_found_by_their_places() {
        assert_eq!([NAMES[CF], NAMES[SAUTH], NAMES[LEX], NAMES[EMB]], ["cf", "sauth", "lex", "emb"]);
    }
}
