//! Do two candidates belong to one matter, however far apart? The features of a pair, and how likely it is.

use crate::context::links::dot;
use crate::context::matters::anchor::{flag, minutes};
use crate::context::matters::bursts::{Meanings, People, Words};
use crate::context::matters::ground::Ground;
use crate::context::matters::together::{Partitions, Together};

pub const FEATURES: usize = 20;
/// The first of them are of the pair, whichever of the two is asked about.
pub const OF_PAIR: usize = 16;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = [
    "cf", "cb", "lct", "sauth", "men", "rep", "ldt", "ld", "mq", "lex", "lexs", "lexm", "num", "emb", "embs", "auths",
    "nj", "nk", "nstj", "lenj",
];

/// Everything that pairs are compared by.
pub struct Kinship<'a> {
    ground: &'a Ground<'a>,
    /// In one fragment.
    together: &'a Together,
    strands: &'a Partitions,
    matters: &'a Partitions,
    /// The log odds of having been in one matter in so many worlds.
    agreed: Vec<f32>,
    words: Words,
    people: People,
    meanings: &'a Meanings,
    meanings_around: &'a Meanings,
    of_one: OfOne,
}

/// What is of one candidate alone, a column each.
#[derive(Debug, Default)]
pub struct OfOne {
    /// ln of how many messages its fragment has.
    sizes: Vec<f32>,
    /// How much it says: ln(1 + its words) and ln(1 + its letters).
    words: Vec<f32>,
    letters: Vec<f32>,
}

/// What is of pairs, whichever of the two is asked about: a column each feature.
#[derive(Debug, Default)]
pub struct Pairs([Vec<f32>; OF_PAIR]);

impl<'a> Kinship<'a> {
    /// `strands` and `matters` are those of every world, `meanings` those of the candidates and those of their fragments.
    pub fn new(
        ground: &'a Ground<'a>,
        together: &'a Together,
        (strands, matters): (&'a Partitions, &'a Partitions),
        (meanings, meanings_around): (&'a Meanings, &'a Meanings),
    ) -> Self {
        let log_odds = |share: f64| ((share + 0.03) / (1.03 - share)).ln() as f32;
        let worlds = matters.share().recip().round() as u32;
        Self {
            words: Words::of(ground, together),
            people: People::of(ground, together),
            of_one: OfOne {
                sizes: together.sizes().into_iter().map(|size| size.ln() as f32).collect(),
                words: ground.stems.iter().map(|stems| (stems.len() as f32).ln_1p()).collect(),
                letters: ground.remarks.iter().map(|remark| (remark.chars as f32).ln_1p()).collect(),
            },
            agreed: (0..=worlds).map(|times| log_odds(f64::from(times) * matters.share())).collect(),
            ground,
            together,
            strands,
            matters,
            meanings,
            meanings_around,
        }
    }

    /// Everybody's pairs with `anchor`.
    pub fn pairs(&self, anchor: usize) -> Pairs {
        let all: Vec<usize> = (0..self.ground.remarks.len()).collect();
        let mut pairs = Pairs::with_room(all.len());
        self.compare(anchor, &all, &mut pairs);
        pairs
    }

    /// The features of each candidate with `anchor`.
    pub fn rows(&self, anchor: usize) -> Vec<[f64; FEATURES]> {
        let mut rows = vec![[0.0; FEATURES]; self.ground.remarks.len()];
        self.of_one.each_feature(anchor, self.pairs(anchor).all(), |feature, values| {
            rows.iter_mut().zip(values).for_each(|(row, value)| row[feature] = f64::from(*value));
        });
        rows
    }

    /// The pairs of any two of `places`, row after row: of each with those before it, and with itself. `known` are the pairs
    /// of some with all candidates.
    pub fn among(&self, places: &[usize], known: &[(usize, &Pairs)]) -> Pairs {
        let mut pairs = Pairs::with_room(places.len() * (places.len() + 1) / 2);
        for (row, anchor) in places.iter().enumerate() {
            match known.iter().find(|(place, _)| place == anchor) {
                Some((_, known)) => pairs.add(known, &places[..=row]),
                None => self.compare(*anchor, &places[..=row], &mut pairs),
            }
        }
        pairs
    }

    /// Adds the pairs of `anchor` with each of `places`.
    fn compare(&self, anchor: usize, places: &[usize], pairs: &mut Pairs) {
        let Self { ground, together, words, meanings, meanings_around, .. } = self;
        let in_fragment = |place: usize| together.share(anchor, place) as f32;
        let (in_strand, share) = (self.strands.times_with(anchor), self.strands.share() as f32);
        let in_matter = self.matters.times_with(anchor);
        let shared = self.shared_words(anchor);
        let author = ground.authors[anchor];
        let named = &ground.mentions[anchor];
        let names = |place: usize| named.contains(&ground.authors[place]) || ground.mentions[place].contains(&author);
        let [cf, cb, lct, sauth, men, rep, ldt, ld, mq, lex, lexs, lexm, num, emb, embs, auths] = &mut pairs.0;
        // How often both are in one fragment, in one strand, in one matter (as log odds).
        extend(cf, places, in_fragment);
        extend(cb, places, |place| f32::from(in_strand[place]) * share);
        extend(lct, places, |place| self.agreed[usize::from(in_matter[place])]);
        // One author; one speaks to the other; one replies to the other.
        extend(sauth, places, |place| flag(author == ground.authors[place]) as f32);
        extend(men, places, |place| flag(names(place)) as f32);
        extend(rep, places, |place| flag(ground.remarks[place.max(anchor)].reply == Some(place.min(anchor))) as f32);
        // Minutes and messages between them, and the longest silence for this chat.
        extend(ldt, places, |place| minutes((ground.remarks[place].at - ground.remarks[anchor].at).abs()) as f32);
        extend(ld, places, |place| ground.logarithms.after(place.abs_diff(anchor)) as f32);
        extend(mq, places, |place| ground.silences.between(place.min(anchor) + 1, place.max(anchor) + 1) as f32);
        // Their words, those of their fragments, the rarest that both have, and numbers that both have.
        extend(lex, places, |place| words.cosine(anchor, place));
        extend(lexs, places, |place| words.cosine_around(anchor, place, together));
        extend(lexm, places, |place| shared[place].rarest / 5.0);
        extend(num, places, |place| shared[place].numbers.min(2.0));
        // What they mean beyond what is usual here, and what their fragments do.
        extend(emb, places, |place| dot(meanings.vector(anchor), meanings.vector(place)));
        extend(embs, places, |place| meanings_around.cosine(anchor, place) as f32);
        // Who speaks in their fragments.
        extend(auths, places, |place| self.people.cosine(anchor, place));
    }

    fn shared_words(&self, anchor: usize) -> Vec<Shared> {
        let ground = self.ground;
        let mut shared = vec![Shared::default(); ground.remarks.len()];
        for stem in &ground.stems[anchor] {
            let (rarity, number) = (ground.idf[*stem] as f32, flag(ground.digits[*stem]) as f32);
            for place in self.words.holders(*stem) {
                let Shared { rarest, numbers } = &mut shared[*place];
                (*rarest, *numbers) = (rarest.max(rarity), *numbers + number);
            }
        }
        shared
    }

    /// The length of a candidate's words, each as heavy as it is rare.
    pub fn wordiness(&self, place: usize) -> f32 {
        self.words.length(place)
    }

    pub fn ground(&self) -> &Ground<'_> {
        self.ground
    }

    /// What is of each candidate alone.
    pub fn of_one(&self) -> &OfOne {
        &self.of_one
    }
}

impl OfOne {
    /// Those of some candidates.
    pub fn of(&self, places: &[usize]) -> Self {
        let of = |column: &[f32]| places.iter().map(|place| column[*place]).collect();
        Self { sizes: of(&self.sizes), words: of(&self.words), letters: of(&self.letters) }
    }

    /// Shows the columns of all features of some with the candidate of that row; `pairs` are theirs.
    pub fn each_feature(&self, row: usize, pairs: [&[f32]; OF_PAIR], mut show: impl FnMut(usize, &[f32])) {
        pairs.iter().enumerate().for_each(|(feature, column)| show(feature, column));
        let own = vec![self.sizes[row]; pairs[0].len()];
        // In their order: how long their fragments are, and how much the other says.
        let in_order = [&self.sizes, &own, &self.words, &self.letters];
        in_order.iter().enumerate().for_each(|(place, column)| show(OF_PAIR + place, &column[..own.len()]));
    }
}

impl Pairs {
    fn with_room(count: usize) -> Self {
        Self(std::array::from_fn(|_| Vec::with_capacity(count)))
    }

    /// The columns of the pairs from one to another.
    pub fn between(&self, from: usize, to: usize) -> [&[f32]; OF_PAIR] {
        self.0.each_ref().map(|column| &column[from..to])
    }

    /// All columns.
    pub fn all(&self) -> [&[f32]; OF_PAIR] {
        self.0.each_ref().map(Vec::as_slice)
    }

    /// Adds some of the pairs of `others`.
    pub fn add(&mut self, others: &Self, places: &[usize]) {
        for (column, other) in self.0.iter_mut().zip(&others.0) {
            column.extend(places.iter().map(|place| other[*place]));
        }
    }
}

fn extend(column: &mut Vec<f32>, places: &[usize], value: impl Fn(usize) -> f32) {
    column.extend(places.iter().map(|place| value(*place)));
}

/// Words that two candidates share.
#[derive(Debug, Clone, Copy, Default)]
struct Shared {
    /// Rarity of the rarest.
    rarest: f32,
    /// How many have a digit.
    numbers: f32,
}
