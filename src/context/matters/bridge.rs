//! Does a fragment take up an earlier matter? The features of the pair.

use crate::context::links::dot;
use crate::context::matters::fragment::{Fragment, StemUse};
use crate::context::matters::ground::Ground;
use crate::context::matters::matter::Matter;
use crate::context::matters::weights::Bridge;

pub const FEATURES: usize = 24;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = [
    "ldt", "ld", "mq", "ovl", "auth_nb", "auth_cos", "starter", "lex_nb", "lex_cos", "lex_max", "lex_nbb", "emb_cos",
    "men", "lT", "lf", "fq", "fgreet", "fst", "nT", "tst", "emb_ctr", "lex_ctr", "auth_ctr", "rank",
];
const N_T: usize = 18;
const EMB_CTR: usize = 20;
const LEX_CTR: usize = 21;
const AUTH_CTR: usize = 22;
const RANK: usize = 23;

/// What a fragment and a matter have in common whatever other matters there are: the same in every world that has both.
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

/// Looks at a fragment and a matter. `is_trigger` adds what the words of a trigger weigh more.
pub fn bond(ground: &Ground<'_>, (fragment, matter): (&Fragment, &Matter), is_trigger: bool, bridge: &Bridge) -> Bond {
    let start = fragment.start();
    let near = matter.members.last_before(start).unwrap_or(matter.first);
    let seconds = (ground.remarks[start].at - ground.remarks[near].at).abs();
    let silence = ground.silences.between(near.min(start) + 1, near.max(start) + 1);
    let overlaps = matter.members.last() > Some(start);
    let starter = ground.authors[start];
    let (auth_nb, auth_cos) = people(ground, fragment, matter);
    let words = words(ground, fragment, matter);
    let named = fragment.named.iter().any(|who| matter.authors[*who] > 0.0);
    let (logarithms, emb_cos) = (&ground.logarithms, meaning(fragment, matter));
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
        logarithms.after(fragment.count() - 1),
        flag(ground.remarks[start].is_question),
        flag(ground.remarks[start].is_greeting),
        fragment.wordiness,
    ];
    let own = features.into_iter().enumerate().chain([(N_T + 1, matter.wordiness)]);
    Bond {
        base: own.map(|(place, value)| bridge.weigh(place, value, is_trigger)).sum(),
        distance: start.abs_diff(near),
        meaning: emb_cos,
        words: words.cosine,
        people: auth_nb,
    }
}

/// Room for what is counted at each distance, to be used again.
#[derive(Debug, Default)]
pub struct Ranks(Vec<usize>);

/// The scores of a fragment with each earlier matter: log odds against "a new matter". Each bond comes with the number of
/// the matter's members.
pub fn scores(
    ground: &Ground<'_>,
    bonds: &[(Bond, usize)],
    is_trigger: bool,
    bridge: &Bridge,
    ranks: &mut Ranks,
) -> Vec<f64> {
    let total: f64 = bonds.iter().map(|(_, count)| *count as f64).sum();
    // What is usual here is no sign: means over all matters are subtracted.
    let mean = |of: fn(&Bond) -> f64| {
        let sum: f64 = bonds.iter().map(|(bond, count)| of(bond) * *count as f64).sum();
        if total > 0.0 { sum / total } else { 0.0 }
    };
    let (meaning, words, people) = (mean(|bond| bond.meaning), mean(|bond| bond.words), mean(|bond| bond.people));
    let nearer = ranks.nearer(ground.remarks.len(), bonds);
    let weigh = |place, value| bridge.weigh(place, value, is_trigger);
    let logarithms = &ground.logarithms;
    let base = bridge.bias + bridge.bias_slow * ground.slowness + weigh(N_T, logarithms.after(bonds.len()));
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

/// How much more the fragment's people speak in the matter than elsewhere, and the cosine of both.
fn people(ground: &Ground<'_>, fragment: &Fragment, matter: &Matter) -> (f64, f64) {
    let (own, count, all) = (fragment.count() as f64, matter.count as f64, ground.remarks.len() as f64);
    let (mut likelihood, mut product) = (0.0, 0.0);
    for (author, times) in &fragment.authors {
        let there = matter.authors[*author];
        product += times * there;
        let elsewhere = (ground.spoken[*author] - times - there + 1.0) / (all - own - count + ground.people as f64);
        likelihood += times * ((there + 3.0 * elsewhere) / (count + 3.0) / elsewhere).ln();
    }
    let lengths = fragment.authors_length * matter.authors_length();
    (likelihood / own.sqrt(), product / lengths.max(1e-6))
}

struct Words {
    /// How much more the fragment's words are used in the matter than elsewhere.
    likelihood: f64,
    cosine: f64,
    /// Rarity of the rarest shared word.
    rarest: f64,
    /// The likelihood of shared words alone.
    support: f64,
}

/// Only shared words are looked at one by one: what all the others come to is known of the fragment.
fn words(ground: &Ground<'_>, fragment: &Fragment, matter: &Matter) -> Words {
    let logarithms = &ground.logarithms;
    let rest = ground.remarks.len() - fragment.count() - matter.count;
    let sizes = logarithms.after(rest) - logarithms.after(matter.count);
    let mut likelihood = fragment.strangeness + sizes * fragment.rarity;
    let (mut support, mut product, mut rarest) = (0.0, 0.0, 0.0_f64);
    for StemUse { stem, elsewhere, idf, weight } in fragment.stems.iter().copied() {
        let there = usize::from(matter.stems[stem]);
        if there == 0 {
            continue;
        }
        let here = logarithms.seldom(there) - logarithms.seldom(elsewhere - there);
        likelihood += idf * (here - logarithms.seldom(0) + logarithms.seldom(elsewhere));
        support += (here + sizes).max(0.0) * idf / 5.0;
        product += weight * logarithms.damped(there) * idf;
        rarest = rarest.max(idf);
    }
    Words {
        likelihood: (likelihood / 5.0 / (1.0 + fragment.stems.len() as f64).sqrt()).clamp(-2.0, 4.0),
        cosine: product / (fragment.lexical_length * matter.lexical_length()).max(1e-6),
        rarest: rarest / 5.0,
        support: (support / (1.0 + fragment.count() as f64).sqrt()).min(3.0),
    }
}

fn meaning(fragment: &Fragment, matter: &Matter) -> f64 {
    let lengths = fragment.vector_length * matter.vector_length;
    if lengths <= 0.0 { 0.0 } else { f64::from(dot(&fragment.vector, &matter.vector) / lengths.max(1e-6)) }
}

fn flag(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}
