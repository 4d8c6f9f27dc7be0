//! Do two candidates belong to one matter, however far apart? The features of a pair, and how likely it is.

use crate::context::features::corpus::Corpus;
use crate::context::focus::{flag, minutes};
use crate::context::relatedness::neighborhood::{Meanings, People, Words};
use crate::context::replies::similarity::dot;
use crate::context::strands::{Consensus, Partitions};

pub const FEATURES: usize = 20;
/// The first of them are of the pair, whichever of the two is asked about.
pub const OF_PAIR: usize = 16;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = [
    "same_segment",
    "same_strand",
    "same_matter_odds",
    "same_author",
    "mention",
    "reply",
    "minutes_between",
    "messages_between",
    "longest_silence",
    "word_cosine",
    "segment_word_cosine",
    "rarest_shared_word",
    "shared_numbers",
    "meaning_product",
    "segment_meaning_cosine",
    "segment_people_cosine",
    "segment_size",
    "other_segment_size",
    "distinct_stems",
    "length",
];

/// Everything that pairs are compared by.
pub struct Pairwise<'a> {
    corpus: &'a Corpus<'a>,
    /// In one segment.
    consensus: &'a Consensus,
    strands: &'a Partitions,
    matters: &'a Partitions,
    /// The log odds of having been in one matter in so many forests.
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
    /// ln of how many messages its segment has.
    sizes: Vec<f32>,
    /// How much it says: ln(1 + its words) and ln(1 + its letters).
    words: Vec<f32>,
    letters: Vec<f32>,
}

/// What is of pairs, whichever of the two is asked about: a column each feature.
#[derive(Debug, Default)]
pub struct Pairs([Vec<f32>; OF_PAIR]);

impl<'a> Pairwise<'a> {
    /// `strands` and `matters` are those of every forest, `meanings` those of the candidates and those of their segments.
    pub fn new(
        corpus: &'a Corpus<'a>,
        consensus: &'a Consensus,
        (strands, matters): (&'a Partitions, &'a Partitions),
        (meanings, meanings_around): (&'a Meanings, &'a Meanings),
    ) -> Self {
        let log_odds = |share: f64| ((share + 0.03) / (1.03 - share)).ln() as f32;
        let forests = matters.share().recip().round() as u32;
        Self {
            words: Words::of(corpus, consensus),
            people: People::of(corpus, consensus),
            of_one: OfOne {
                sizes: consensus.sizes().into_iter().map(|size| size.ln() as f32).collect(),
                words: corpus.stems.iter().map(|stems| (stems.len() as f32).ln_1p()).collect(),
                letters: corpus.utterances.iter().map(|utterance| (utterance.chars as f32).ln_1p()).collect(),
            },
            agreed: (0..=forests).map(|times| log_odds(f64::from(times) * matters.share())).collect(),
            corpus,
            consensus,
            strands,
            matters,
            meanings,
            meanings_around,
        }
    }

    /// Everybody's pairs with `target`.
    pub fn pairs(&self, target: usize) -> Pairs {
        let all: Vec<usize> = (0..self.corpus.utterances.len()).collect();
        let mut pairs = Pairs::with_room(all.len());
        self.compare(target, &all, &mut pairs);
        pairs
    }

    /// The features of each candidate with `target`.
    pub fn rows(&self, target: usize) -> Vec<[f64; FEATURES]> {
        let mut rows = vec![[0.0; FEATURES]; self.corpus.utterances.len()];
        self.of_one.each_feature(target, self.pairs(target).all(), |feature, values| {
            rows.iter_mut().zip(values).for_each(|(row, value)| row[feature] = f64::from(*value));
        });
        rows
    }

    /// The pairs of any two of `places`, row after row: of each with those before it, and with itself. `known` are the pairs
    /// of some with all candidates.
    pub fn among(&self, places: &[usize], known: &[(usize, &Pairs)]) -> Pairs {
        let mut pairs = Pairs::with_room(places.len() * (places.len() + 1) / 2);
        for (row, target) in places.iter().enumerate() {
            match known.iter().find(|(place, _)| place == target) {
                Some((_, known)) => pairs.add(known, &places[..=row]),
                None => self.compare(*target, &places[..=row], &mut pairs),
            }
        }
        pairs
    }

    /// Adds the pairs of `target` with each of `places`.
    fn compare(&self, target: usize, places: &[usize], pairs: &mut Pairs) {
        let Self { corpus, consensus, words, meanings, meanings_around, .. } = self;
        let in_fragment = |place: usize| consensus.share(target, place) as f32;
        let in_strand: Vec<f32> = self.strands.shares_with(target).collect();
        let in_matter = self.matters.times_with(target);
        let shared = self.shared_words(target);
        let author = corpus.authors[target];
        let named = &corpus.mentions[target];
        let names = |place: usize| named.contains(&corpus.authors[place]) || corpus.mentions[place].contains(&author);
        let [cf, cb, lct, sauth, men, rep, ldt, ld, mq, lex, lexs, lexm, num, emb, embs, auths] = &mut pairs.0;
        // How often both are in one segment, in one strand, in one matter (as log odds).
        extend(cf, places, in_fragment);
        extend(cb, places, |place| in_strand[place]);
        extend(lct, places, |place| self.agreed[usize::from(in_matter[place])]);
        // One author; one speaks to the other; one replies to the other.
        extend(sauth, places, |place| flag(author == corpus.authors[place]) as f32);
        extend(men, places, |place| flag(names(place)) as f32);
        extend(rep, places, |place| flag(corpus.utterances[place.max(target)].reply == Some(place.min(target))) as f32);
        // Minutes and messages between them, and the longest silence for this chat.
        extend(ldt, places, |place| minutes((corpus.utterances[place].at - corpus.utterances[target].at).abs()) as f32);
        extend(ld, places, |place| corpus.logarithms.after(place.abs_diff(target)) as f32);
        extend(mq, places, |place| corpus.silences.between(place.min(target) + 1, place.max(target) + 1) as f32);
        // Their words, those of their segments, the rarest that both have, and numbers that both have.
        extend(lex, places, |place| words.cosine(target, place));
        extend(lexs, places, |place| words.cosine_around(target, place, consensus));
        extend(lexm, places, |place| shared[place].rarest / 5.0);
        extend(num, places, |place| shared[place].numbers.min(2.0));
        // What they mean beyond what is usual here, and what their segments do.
        extend(emb, places, |place| dot(meanings.vector(target), meanings.vector(place)));
        extend(embs, places, |place| meanings_around.cosine(target, place) as f32);
        // Who speaks in their segments.
        extend(auths, places, |place| self.people.cosine(target, place));
    }

    fn shared_words(&self, target: usize) -> Vec<Shared> {
        let corpus = self.corpus;
        let mut shared = vec![Shared::default(); corpus.utterances.len()];
        for stem in &corpus.stems[target] {
            let (rarity, number) = (corpus.idf[*stem] as f32, flag(corpus.digits[*stem]) as f32);
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

    pub fn corpus(&self) -> &Corpus<'_> {
        self.corpus
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
        // In their order: how long their segments are, and how much the other says.
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
