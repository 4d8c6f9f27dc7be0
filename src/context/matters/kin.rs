//! Do two candidates belong to one matter, however far apart? The features of a pair, and how likely it is.

use crate::context::explain::Column;
use crate::context::links::dot;
use crate::context::matters::anchor::{flag, minutes};
use crate::context::matters::bursts::{Meanings, Rows};
use crate::context::matters::ground::Ground;
use crate::context::matters::together::{Together, shares_with};
use crate::context::matters::weights::Terms;
use crate::context::places::PlaceSet;

pub const FEATURES: usize = 20;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = [
    "cf", "cb", "lct", "sauth", "men", "rep", "ldt", "ld", "mq", "lex", "lexs", "lexm", "num", "emb", "embs", "auths",
    "nj", "nk", "nstj", "lenj",
];

/// The sets that each world puts the candidates into.
#[derive(Clone, Copy)]
pub struct Groupings<'a> {
    /// Strands of stage one, never cut.
    pub strands: &'a [Vec<PlaceSet>],
    pub matters: &'a [Vec<PlaceSet>],
}

/// Everything that pairs are compared by.
pub struct Kinship<'a> {
    ground: &'a Ground<'a>,
    /// In one fragment.
    together: &'a Together,
    groupings: Groupings<'a>,
    words: Rows,
    /// Of whole fragments.
    words_around: Rows,
    people_around: Rows,
    meanings: &'a Meanings,
    meanings_around: &'a Meanings,
    /// ln of how many messages each one's fragment has.
    sizes: Vec<f64>,
}

impl<'a> Kinship<'a> {
    /// `meanings` are those of the candidates and those of their fragments.
    pub fn new(
        ground: &'a Ground<'a>,
        together: &'a Together,
        groupings: Groupings<'a>,
        (meanings, meanings_around): (&'a Meanings, &'a Meanings),
    ) -> Self {
        let words = Rows::words(ground);
        Self {
            words_around: words.gathered(together, ground.idf.len()),
            people_around: Rows::people(ground).gathered(together, ground.people),
            sizes: together.sizes().into_iter().map(f64::ln).collect(),
            ground,
            together,
            groupings,
            words,
            meanings,
            meanings_around,
        }
    }

    /// The features of each candidate with `anchor`.
    pub fn rows(&self, anchor: usize) -> Vec<[f64; FEATURES]> {
        let view = View::new(self, anchor);
        (0..self.ground.remarks.len()).map(|place| view.features(place)).collect()
    }

    /// How likely each candidate belongs to the matter of `anchor`, which surely does.
    pub fn of(&self, anchor: usize, weights: &Terms<FEATURES>) -> Vec<f64> {
        let view = View::new(self, anchor);
        let probability = |place: usize| match place == anchor {
            true => 1.0,
            false => 1.0 / (1.0 + (-weights.score(&view.features(place))).exp()),
        };
        (0..self.ground.remarks.len()).map(probability).collect()
    }
}

impl Kinship<'_> {
    /// What each feature of a candidate is, and what it adds to the score of its belonging to the matter of `anchor`.
    pub fn columns(&self, anchor: usize, weights: &Terms<FEATURES>) -> Vec<Column> {
        let view = View::new(self, anchor);
        let rows: Vec<[f64; FEATURES]> = (0..self.ground.remarks.len()).map(|place| view.features(place)).collect();
        let parts: Vec<[f64; FEATURES]> = rows.iter().map(|values| weights.parts(values)).collect();
        let column = |(feature, name): (usize, &&str)| {
            let both = rows.iter().zip(&parts).enumerate();
            // The anchor belongs to its own matter, whatever its features are.
            let of = |(place, (values, parts)): (usize, (&[f64; FEATURES], &[f64; FEATURES]))| {
                if place == anchor { (0.0, 0.0) } else { (values[feature], parts[feature]) }
            };
            Column { name: format!("kin.{name}"), rows: both.map(of).collect() }
        };
        NAMES.iter().enumerate().map(column).collect()
    }
}

/// The candidates as one of them sees the others.
struct View<'a> {
    kinship: &'a Kinship<'a>,
    anchor: usize,
    /// The share of the worlds in which they are of its strand, and of its matter.
    in_strand: Vec<f64>,
    in_matter: Vec<f64>,
    /// What it says and who says it, as wide as all there is.
    words: Vec<f64>,
    words_around: Vec<f64>,
    people_around: Vec<f64>,
}

impl<'a> View<'a> {
    fn new(kinship: &'a Kinship<'a>, anchor: usize) -> Self {
        let Kinship { ground, groupings, words, words_around, people_around, .. } = kinship;
        let count = ground.remarks.len();
        Self {
            in_strand: shares_with(anchor, groupings.strands, count),
            in_matter: shares_with(anchor, groupings.matters, count),
            words: words.spread(anchor, ground.idf.len()),
            words_around: words_around.spread(anchor, ground.idf.len()),
            people_around: people_around.spread(anchor, ground.people),
            kinship,
            anchor,
        }
    }

    fn features(&self, place: usize) -> [f64; FEATURES] {
        let Self { kinship, anchor, .. } = *self;
        let Kinship { ground, together, words, words_around, people_around, meanings, meanings_around, .. } = kinship;
        let (earlier, later) = (place.min(anchor), place.max(anchor));
        let (first, second) = (&ground.remarks[earlier], &ground.remarks[later]);
        let names = |from: usize, to: usize| ground.mentions[from].contains(&ground.authors[to]);
        let matter = self.in_matter[place];
        let shared = self.shared_words(place);
        [
            // How often both are in one fragment, in one strand, in one matter (as log odds).
            together.share(anchor, place),
            self.in_strand[place],
            ((matter + 0.03) / (1.03 - matter)).ln(),
            // One author; one speaks to the other; one replies to the other.
            flag(ground.authors[anchor] == ground.authors[place]),
            flag(names(anchor, place) || names(place, anchor)),
            flag(second.reply == Some(earlier)),
            // Minutes and messages between them, and the longest silence for this chat.
            minutes(second.at - first.at),
            ground.logarithms.after(later - earlier),
            ground.silences.between(earlier + 1, later + 1),
            // Their words, those of their fragments, the rarest that both have, and numbers that both have.
            words.cosine(place, &self.words, words.length(anchor)),
            words_around.cosine(place, &self.words_around, words_around.length(anchor)),
            shared.rarest / 5.0,
            shared.numbers.min(2.0),
            // What they mean beyond what is usual here, and what their fragments do.
            f64::from(dot(meanings.vector(anchor), meanings.vector(place))),
            meanings_around.cosine(anchor, place),
            // Who speaks in their fragments.
            people_around.cosine(place, &self.people_around, people_around.length(anchor)),
            // How long their fragments are, and how much the candidate says.
            kinship.sizes[place],
            kinship.sizes[anchor],
            (ground.stems[place].len() as f64).ln_1p(),
            (ground.remarks[place].chars as f64).ln_1p(),
        ]
    }

    fn shared_words(&self, place: usize) -> Shared {
        let mut shared = Shared { rarest: 0.0, numbers: 0.0 };
        let ground = self.kinship.ground;
        for stem in ground.stems[place].iter().filter(|stem| self.words[**stem] > 0.0) {
            shared.rarest = shared.rarest.max(ground.idf[*stem]);
            shared.numbers += flag(ground.digits[*stem]);
        }
        shared
    }
}

/// Words that two candidates share.
struct Shared {
    /// Rarity of the rarest.
    rarest: f64,
    /// How many have a digit.
    numbers: f64,
}
