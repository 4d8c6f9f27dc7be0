//! Does a fragment take up an earlier matter? The features of the pair.

use crate::context::matters::ground::Ground;
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

/// Fragments that take up each other.
#[derive(Debug, Clone, Default)]
pub struct Matter {
    /// Places, ascending within each fragment.
    pub members: Vec<usize>,
    /// Messages by author.
    authors: Vec<f64>,
    /// Members by stem.
    stems: Vec<f64>,
    stem_count: f64,
    vector: Vec<f32>,
    vector_length: f32,
    /// Length of the stems' weights.
    lexical_length: f64,
}

impl Matter {
    pub fn add(&mut self, fragment: &[usize], ground: &Ground<'_>) {
        self.authors.resize(ground.people, 0.0);
        self.stems.resize(ground.spread.len(), 0.0);
        for place in fragment {
            self.members.push(*place);
            self.authors[ground.authors[*place]] += 1.0;
            self.stem_count += ground.stems[*place].len() as f64;
            ground.stems[*place].iter().for_each(|stem| self.stems[*stem] += 1.0);
            let vector = ground.remarks[*place].vector;
            if self.vector.is_empty() {
                self.vector = vector.to_vec();
            } else {
                self.vector.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
            }
        }
        self.vector_length = length(&self.vector);
        let squares = self.stems.iter().zip(&ground.idf).filter(|(count, _)| **count > 0.0);
        self.lexical_length = squares.map(|(count, idf)| ((1.0 + count.ln()) * idf).powi(2)).sum::<f64>().sqrt();
    }
}

/// The scores of a fragment with each earlier matter: log odds against "a new matter". `is_trigger` adds what the words
/// of a trigger weigh more.
pub fn scores(
    ground: &Ground<'_>,
    fragment: &Matter,
    matters: &[Matter],
    is_trigger: bool,
    weights: &Weights,
) -> Vec<f64> {
    let mut rows: Vec<[f64; FEATURES]> =
        matters.iter().map(|matter| features(ground, fragment, matter, matters.len())).collect();
    centre(&mut rows, matters);
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

fn features(ground: &Ground<'_>, fragment: &Matter, matter: &Matter, matters: usize) -> [f64; FEATURES] {
    let start = fragment.members[0];
    let before = matter.members.iter().copied().filter(|place| *place < start);
    let (count, earlier) = (matter.members.len(), before.clone().count());
    let near = before.max().unwrap_or(matter.members[0]);
    let seconds = (ground.remarks[start].at - ground.remarks[near].at).abs();
    let between = near.min(start) + 1..=near.max(start);
    let silence = ground.remarks[between].iter().map(|remark| remark.silence).fold(0.0, f64::max);
    let starter = ground.authors[start];
    let (auth_nb, auth_cos) = people(ground, fragment, matter);
    let words = words(ground, fragment, matter);
    let named =
        fragment.members.iter().flat_map(|place| &ground.mentions[*place]).any(|who| matter.authors[*who] > 0.0);
    [
        (seconds / 60.0).ln_1p().min(7.0),
        (start.abs_diff(near) as f64).ln_1p(),
        silence,
        flag(earlier < count),
        auth_nb,
        auth_cos,
        flag(matter.authors[starter] > 0.0),
        words.likelihood,
        words.cosine,
        words.rarest,
        words.support,
        meaning(fragment, matter),
        flag(named),
        (count as f64).ln(),
        (fragment.members.len() as f64).ln(),
        flag(ground.remarks[start].is_question),
        flag(ground.remarks[start].is_greeting),
        fragment.stem_count.ln_1p(),
        (matters as f64).ln_1p(),
        matter.stem_count.ln_1p(),
        // These say how the matter compares with the others, and are filled in when all are known.
        0.0,
        0.0,
        0.0,
        0.0,
    ]
}

/// How much more the fragment's people speak in the matter than elsewhere, and the cosine of both.
fn people(ground: &Ground<'_>, fragment: &Matter, matter: &Matter) -> (f64, f64) {
    let (own, count, all) = (fragment.members.len() as f64, matter.members.len() as f64, ground.remarks.len() as f64);
    let (mut likelihood, mut product) = (0.0, 0.0);
    for (author, times) in fragment.authors.iter().enumerate().filter(|(_, times)| **times > 0.0) {
        let there = matter.authors[author];
        product += times * there;
        let elsewhere = (ground.spoken[author] - times - there + 1.0) / (all - own - count + ground.people as f64);
        likelihood += times * ((there + 3.0 * elsewhere) / (count + 3.0) / elsewhere).ln();
    }
    let lengths = square_length(&fragment.authors) * square_length(&matter.authors);
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

fn words(ground: &Ground<'_>, fragment: &Matter, matter: &Matter) -> Words {
    let (own, count, all) = (fragment.members.len() as f64, matter.members.len() as f64, ground.remarks.len() as f64);
    let (mut likelihood, mut support, mut product, mut rarest, mut used) = (0.0, 0.0, 0.0, 0.0_f64, 0.0);
    for (stem, times) in fragment.stems.iter().enumerate().filter(|(_, times)| **times > 0.0) {
        let others = ground.spread[stem] - times;
        if others <= 0.0 {
            continue;
        }
        let (there, idf) = (matter.stems[stem], ground.idf[stem]);
        let inside = (there + 0.3) / (count + 1.0);
        let ratio = (inside / ((others - there + 0.3) / (all - own - count + 1.0))).ln();
        likelihood += ratio * idf;
        used += 1.0;
        if there > 0.0 {
            support += ratio.max(0.0) * idf / 5.0;
            product += (1.0 + times.ln()) * idf * (1.0 + there.ln()) * idf;
            rarest = rarest.max(idf);
        }
    }
    Words {
        likelihood: (likelihood / 5.0 / (1.0_f64 + used).sqrt()).clamp(-2.0, 4.0),
        cosine: product / (fragment.lexical_length * matter.lexical_length).max(1e-6),
        rarest: rarest / 5.0,
        support: (support / (1.0 + own).sqrt()).min(3.0),
    }
}

fn meaning(fragment: &Matter, matter: &Matter) -> f64 {
    let lengths = fragment.vector_length * matter.vector_length;
    if lengths <= 0.0 {
        return 0.0;
    }
    let product: f32 = fragment.vector.iter().zip(&matter.vector).map(|(a, b)| a * b).sum();
    f64::from(product / lengths.max(1e-6))
}

/// What is usual here is no sign: subtracts means over all matters, and ranks the matters by nearness.
fn centre(rows: &mut [[f64; FEATURES]], matters: &[Matter]) {
    let total: f64 = matters.iter().map(|matter| matter.members.len() as f64).sum();
    for (centred, of) in CENTRED {
        let sum: f64 = rows.iter().zip(matters).map(|(row, matter)| row[of] * matter.members.len() as f64).sum();
        let mean = if total > 0.0 { sum / total } else { 0.0 };
        rows.iter_mut().for_each(|row| row[centred] = row[of] - mean);
    }
    let distances: Vec<f64> = rows.iter().map(|row| row[LD]).collect();
    for row in rows {
        row[RANK] = (distances.iter().filter(|distance| **distance < row[LD]).count() as f64).ln_1p();
    }
}

fn length(vector: &[f32]) -> f32 {
    vector.iter().map(|value| value * value).sum::<f32>().sqrt()
}

fn square_length(counts: &[f64]) -> f64 {
    counts.iter().map(|count| count * count).sum::<f64>().sqrt()
}

fn flag(is: bool) -> f64 {
    if is { 1.0 } else { 0.0 }
}
