//! Does a segment take up an earlier matter? The features of the pair.

use crate::context::features::corpus::Corpus;
use crate::context::linear::{Term, Terms};
use crate::context::matters::matter::Matter;
use crate::context::matters::segment::Segment;
use crate::context::replies::similarity::dot;

pub const FEATURES: usize = 24;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = [
    "minutes_between",
    "messages_between",
    "longest_silence",
    "overlaps",
    "people_likelihood",
    "people_cosine",
    "starter_spoke_there",
    "word_likelihood",
    "word_cosine",
    "rarest_shared_word",
    "shared_word_support",
    "meaning_cosine",
    "mention",
    "matter_size",
    "segment_size",
    "begins_with_question",
    "begins_with_greeting",
    "segment_stems",
    "matters_so_far",
    "matter_stems",
    "meaning_above_mean",
    "words_above_mean",
    "people_above_mean",
    "nearer_matters",
];
const N_T: usize = 18;
const EMB_CTR: usize = 20;
const LEX_CTR: usize = 21;
const AUTH_CTR: usize = 22;
const RANK: usize = 23;

/// Whether a segment takes up an earlier matter.
#[derive(Debug, Clone)]
pub struct SegmentLink {
    /// What a slow chat adds to every score: there matters are taken up more often than new ones begun.
    pub slow: f64,
    pub terms: Terms<FEATURES>,
}

impl SegmentLink {
    /// Weighs nothing but the feature at `place`, and that as it is.
    pub fn probe(place: usize) -> Self {
        let mut terms = Terms::empty();
        terms.terms[place] = Term { weight: 1.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        Self { slow: 0.0, terms }
    }

    /// What a feature adds to a score, by its place.
    pub fn weigh(&self, place: usize, value: f64) -> f64 {
        self.terms.terms[place].weigh(value)
    }
}

/// What a segment and a matter have in common whatever other matters there are: the same in every forest that has both.
#[derive(Debug, Clone, Copy)]
pub struct Bond {
    /// The weighted sum of all features but those that compare the matter with the others.
    base: f64,
    /// Messages between the two.
    distance: usize,
    meaning: f64,
    words: f64,
    people: f64,
}

/// Looks at a segment and a matter.
pub fn bond(corpus: &Corpus<'_>, (segment, matter): (&Segment, &Matter), segment_link: &SegmentLink) -> Bond {
    let start = segment.start();
    let near = matter.members.last_before(start).unwrap_or(matter.first);
    let seconds = (corpus.utterances[start].at - corpus.utterances[near].at).abs();
    let silence = corpus.silences.between(near.min(start) + 1, near.max(start) + 1);
    let overlaps = matter.members.last() > Some(start);
    let starter = corpus.authors[start];
    let (auth_nb, auth_cos) = people(corpus, segment, matter);
    let words = words(corpus, segment, matter);
    let named = segment.named.iter().any(|who| matter.authors[*who] > 0.0);
    let (logarithms, emb_cos) = (&corpus.logarithms, meaning(segment, matter));
    // In the order of their names; those that compare are added when all matters are known.
    let features = [
        (seconds / 60.0).ln_1p().min(7.0),
        logarithms.after(start.abs_diff(near)),
        silence,
        flag(overlaps),
        auth_nb,
        auth_cos,
        flag(matter.authors[starter] > 0.0),
        words.likelihood,
        words.cosine,
        words.rarest,
        words.support,
        emb_cos,
        flag(named),
        logarithms.after(matter.count - 1),
        logarithms.after(segment.count() - 1),
        flag(corpus.utterances[start].is_question),
        flag(corpus.utterances[start].is_greeting),
        segment.wordiness,
    ];
    let own = features.into_iter().enumerate().chain([(N_T + 1, matter.wordiness)]);
    Bond {
        base: own.map(|(place, value)| segment_link.weigh(place, value)).sum(),
        distance: start.abs_diff(near),
        meaning: emb_cos,
        words: words.cosine,
        people: auth_nb,
    }
}

/// Room for what is counted at each distance, to be used again.
#[derive(Debug, Default)]
pub struct Ranks(Vec<usize>);

/// The scores of a segment with each earlier matter: log odds against "a new matter". Each bond comes with the number of
/// the matter's members.
pub fn scores(corpus: &Corpus<'_>, bonds: &[(Bond, usize)], segment_link: &SegmentLink, ranks: &mut Ranks) -> Vec<f64> {
    let total: f64 = bonds.iter().map(|(_, count)| *count as f64).sum();
    // What is usual here is no sign: means over all matters are subtracted.
    let mean = |of: fn(&Bond) -> f64| {
        let sum: f64 = bonds.iter().map(|(bond, count)| of(bond) * *count as f64).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    };
    let (meaning, words, people) = (mean(|bond| bond.meaning), mean(|bond| bond.words), mean(|bond| bond.people));
    let nearer = ranks.nearer(corpus.utterances.len(), bonds);
    let weigh = |place, value| segment_link.weigh(place, value);
    let logarithms = &corpus.logarithms;
    let base =
        segment_link.terms.bias + segment_link.slow * corpus.slowness + weigh(N_T, logarithms.after(bonds.len()));
    bonds
        .iter()
        .map(|(bond, _)| {
            base + bond.base
                + weigh(EMB_CTR, bond.meaning - meaning)
                + weigh(LEX_CTR, bond.words - words)
                + weigh(AUTH_CTR, bond.people - people)
                + weigh(RANK, logarithms.after(nearer[bond.distance]))
        })
        .collect()
}

impl Ranks {
    /// For every distance, how many matters are nearer.
    fn nearer(&mut self, distances: usize, bonds: &[(Bond, usize)]) -> &[usize] {
        let Self(at) = self;
        at.clear();
        at.resize(distances + 1, 0);
        bonds.iter().for_each(|(bond, _)| at[bond.distance] += 1);
        let mut sum = 0;
        for count in at.iter_mut() {
            let here = std::mem::replace(count, sum);
            sum += here;
        }
        at
    }
}

/// How much more the segment's people speak in the matter than elsewhere, and the cosine of both.
fn people(corpus: &Corpus<'_>, segment: &Segment, matter: &Matter) -> (f64, f64) {
    let (own, count, all) = (segment.count() as f64, matter.count as f64, corpus.utterances.len() as f64);
    let (mut likelihood, mut product) = (0.0, 0.0);
    for (author, times) in &segment.authors {
        let there = matter.authors[*author];
        product += times * there;
        let elsewhere = (corpus.spoken[*author] - times - there + 1.0) / (all - own - count + corpus.people as f64);
        likelihood += times * ((there + 3.0 * elsewhere) / (count + 3.0) / elsewhere).ln();
    }
    let lengths = segment.authors_length * matter.authors_length();
    (likelihood / own.sqrt(), product / lengths.max(1e-6))
}

struct Words {
    /// How much more the segment's words are used in the matter than elsewhere.
    likelihood: f64,
    cosine: f64,
    /// Rarity of the rarest shared word.
    rarest: f64,
    /// The likelihood of shared words alone.
    support: f64,
}

/// Only shared words are looked at one by one: what all the others come to is known of the segment.
fn words(corpus: &Corpus<'_>, segment: &Segment, matter: &Matter) -> Words {
    let logarithms = &corpus.logarithms;
    let rest = corpus.utterances.len() - segment.count() - matter.count;
    let sizes = logarithms.after(rest) - logarithms.after(matter.count);
    let mut likelihood = segment.strangeness + sizes * segment.rarity;
    let (mut support, mut product, mut rarest) = (0.0, 0.0, 0.0_f64);
    for used in &segment.stems {
        let there = usize::from(matter.stems[used.stem()]);
        if there == 0 {
            continue;
        }
        let (elsewhere, idf) = (usize::from(used.elsewhere), corpus.idf[used.stem()]);
        let here = logarithms.seldom(there) - logarithms.seldom(elsewhere - there);
        likelihood += idf * (here - logarithms.seldom(0) + logarithms.seldom(elsewhere));
        support += (here + sizes).max(0.0) * idf / 5.0;
        product += used.weight(corpus) * logarithms.damped(there) * idf;
        rarest = rarest.max(idf);
    }
    Words {
        likelihood: (likelihood / 5.0 / (1.0 + segment.shared_stems as f64).sqrt()).clamp(-2.0, 4.0),
        cosine: product / (segment.lexical_length * matter.lexical_length()).max(1e-6),
        rarest: rarest / 5.0,
        support: (support / (1.0 + segment.count() as f64).sqrt()).min(3.0),
    }
}

fn meaning(segment: &Segment, matter: &Matter) -> f64 {
    let lengths = segment.vector_length * matter.vector_length;
    if lengths <= 0.0 { 0.0 } else { f64::from(dot(&segment.vector, &matter.vector) / lengths.max(1e-6)) }
}

fn flag(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}
