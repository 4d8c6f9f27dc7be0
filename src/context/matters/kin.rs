//! Do two candidates belong to one matter, however far apart? The features of a pair, and how likely it is.

use std::cell::LazyCell;

use crate::context::links::dot;
use crate::context::matters::anchor::{flag, minutes};
use crate::context::matters::bursts::{Meanings, Rows};
use crate::context::matters::ground::Ground;
use crate::context::matters::together::{Together, shares_with};
use crate::context::places::PlaceSet;

pub const FEATURES: usize = 20;
/// The first of them are of the pair, whichever of the two is asked about.
pub const OF_PAIR: usize = 16;
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
    /// How much each says: ln(1 + its words) and ln(1 + its letters).
    lengths: Vec<[f64; 2]>,
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
            lengths: (ground.stems.iter().zip(&ground.remarks))
                .map(|(stems, remark)| [(stems.len() as f64).ln_1p(), (remark.chars as f64).ln_1p()])
                .collect(),
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

    /// What is of the pair of any two of `places`, row after row: of each with those before it, and with
    /// itself. `known` are the rows of some, by their places.
    pub fn among(&self, places: &[usize], known: &[(usize, Vec<[f64; FEATURES]>)]) -> Vec<[f64; OF_PAIR]> {
        let known = |anchor: usize| known.iter().find(|(place, _)| *place == anchor).map(|(_, rows)| rows.as_slice());
        let known: Vec<Option<&[[f64; FEATURES]]>> = places.iter().map(|place| known(*place)).collect();
        let mut pairs = Vec::with_capacity(places.len() * (places.len() + 1) / 2);
        for (row, anchor) in places.iter().enumerate() {
            let view = LazyCell::new(|| View::new(self, *anchor));
            pairs.extend(places[..=row].iter().zip(&known).map(|(place, of_place)| match (known[row], of_place) {
                (Some(of_anchor), _) => pair_of(&of_anchor[*place]),
                (None, Some(of_place)) => pair_of(&of_place[*anchor]),
                (None, None) => view.of_pair(*place),
            }));
        }
        pairs
    }

    /// The length of a candidate's words, each as heavy as it is rare.
    pub fn wordiness(&self, place: usize) -> f64 {
        self.words.length(place)
    }

    pub fn ground(&self) -> &Ground<'_> {
        self.ground
    }

    /// Adds what is of the two in their order: how long their fragments are, and how much the candidate says.
    pub fn complete(&self, of_pair: [f64; OF_PAIR], anchor: usize, place: usize) -> [f64; FEATURES] {
        let mut features = [0.0; FEATURES];
        features[..OF_PAIR].copy_from_slice(&of_pair);
        let [words, letters] = self.lengths[place];
        features[OF_PAIR..].copy_from_slice(&[self.sizes[place], self.sizes[anchor], words, letters]);
        features
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
        self.kinship.complete(self.of_pair(place), self.anchor, place)
    }

    fn of_pair(&self, place: usize) -> [f64; OF_PAIR] {
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

fn pair_of(row: &[f64; FEATURES]) -> [f64; OF_PAIR] {
    std::array::from_fn(|feature| row[feature])
}

/// Words that two candidates share.
struct Shared {
    /// Rarity of the rarest.
    rarest: f64,
    /// How many have a digit.
    numbers: f64,
}
