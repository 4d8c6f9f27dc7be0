//! Does a fragment take up an earlier matter? The features of the pair.

use crate::context::links::dot;
use crate::context::matters::fragment::{Fragment, StemUse};
use crate::context::matters::ground::Ground;
use crate::context::matters::matter::Matter;
use crate::context::matters::weights::Weights;

pub const FEATURES: usize = 24;
/// In the order of their places.
pub const NAMES: [&str; FEATURES] = [
    "ldt", "ld", "mq", "ovl", "auth_nb", "auth_cos", "starter", "lex_nb", "lex_cos", "lex_max", "lex_nbb", "emb_cos",
    "men", "lT", "lf", "fq", "fgreet", "fst", "nT", "tst", "emb_ctr", "lex_ctr", "auth_ctr", "rank",
];
const LD: usize = 1;
const AUTH_NB: usize = 4;
const LEX_COS: usize = 8;
const EMB_COS: usize = 11;
/// A feature, and the one that it centres by its mean over all matters.
const CENTRED: [(usize, usize); 3] = [(20, EMB_COS), (21, LEX_COS), (22, AUTH_NB)];
const RANK: usize = 23;

/// The features of a fragment with each matter, kept from one fragment to the next so that nothing is allocated.
pub type Rows = Vec<[f64; FEATURES]>;

/// The scores of a fragment with each earlier matter: log odds against "a new matter". `is_trigger` adds what the words
/// of a trigger weigh more.
pub fn scores(
    ground: &Ground<'_>,
    fragment: &Fragment,
    matters: &[Matter],
    is_trigger: bool,
    (weights, rows): (&Weights, &mut Rows),
) -> Vec<f64> {
    rows.clear();
    rows.extend(matters.iter().map(|matter| features(ground, fragment, matter, matters.len())));
    centre(rows, matters);
    rows.iter()
        .map(|row| {
            let base = weights.bias + weights.bias_slow * ground.slowness;
            row.iter().zip(&weights.terms).zip(&weights.of_trigger).fold(
                base,
                |sum, ((value, (weight, low, high)), extra)| {
                    let weight = if is_trigger { weight + extra } else { *weight };
                    sum + weight * value.clamp(*low, *high)
                },
            )
        })
        .collect()
}

fn features(ground: &Ground<'_>, fragment: &Fragment, matter: &Matter, matters: usize) -> [f64; FEATURES] {
    let start = fragment.start();
    let before = matter.members.last_before(start);
    let near = before.unwrap_or(matter.first);
    let seconds = (ground.remarks[start].at - ground.remarks[near].at).abs();
    let silence = ground.silences.between(near.min(start) + 1, near.max(start) + 1);
    let overlaps = matter.members.last() > Some(start);
    let starter = ground.authors[start];
    let (auth_nb, auth_cos) = people(ground, fragment, matter);
    let words = words(ground, fragment, matter);
    let named = fragment.named.iter().any(|who| matter.authors[*who] > 0.0);
    let logarithms = &ground.logarithms;
    [
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
        meaning(fragment, matter),
        flag(named),
        logarithms.after(matter.count - 1),
        logarithms.after(fragment.count() - 1),
        flag(ground.remarks[start].is_question),
        flag(ground.remarks[start].is_greeting),
        fragment.stem_count.ln_1p(),
        logarithms.after(matters),
        matter.stem_count.ln_1p(),
        // These say how the matter compares with the others, and are filled in when all are known.
        0.0,
        0.0,
        0.0,
        0.0,
    ]
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

/// What is usual here is no sign: subtracts means over all matters, and ranks the matters by nearness.
fn centre(rows: &mut [[f64; FEATURES]], matters: &[Matter]) {
    let total: f64 = matters.iter().map(|matter| matter.count as f64).sum();
    for (centred, of) in CENTRED {
        let sum: f64 = rows.iter().zip(matters).map(|(row, matter)| row[of] * matter.count as f64).sum();
        let mean = if total > 0.0 { sum / total } else { 0.0 };
        rows.iter_mut().for_each(|row| row[centred] = row[of] - mean);
    }
    for place in 0..rows.len() {
        let nearer = rows.iter().filter(|row| row[LD] < rows[place][LD]).count();
        rows[place][RANK] = (nearer as f64).ln_1p();
    }
}

fn flag(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}
