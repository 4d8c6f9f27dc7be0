//! One world: its fragments, and which of them take up the same matter.

use crate::context::matters::ground::Ground;
use crate::context::matters::kinship::{Matter, scores};
use crate::context::matters::weights::Weights;

/// The matters of one world.
#[derive(Debug, Clone, PartialEq)]
pub struct Matters {
    /// For every candidate, the number of its matter.
    pub of: Vec<usize>,
    pub count: usize,
    /// How likely the trigger's own words take up each matter; empty where they do not count.
    pub taken_up: Vec<f64>,
}

impl Matters {
    /// `antecedents` are those that the world drew for the `candidates` first remarks of the ground; `chances` decide, one
    /// for each candidate. What the ground holds beyond the candidates is the trigger; `is_asking` where its words weigh
    /// more than another message's.
    pub fn draw(
        ground: &Ground<'_>,
        antecedents: &[Option<usize>],
        chances: &[f32],
        is_asking: bool,
        weights: &Weights,
    ) -> Self {
        let candidates = antecedents.len();
        let mut matters: Vec<Matter> = Vec::new();
        let mut of = vec![0; candidates];
        for fragment in fragments(ground, antecedents, weights.far) {
            let probabilities = likelihoods(ground, &fragment, &matters, false, weights);
            let chosen = drawn(&probabilities, f64::from(chances[fragment[0]])).unwrap_or(matters.len());
            if chosen == matters.len() {
                matters.push(Matter::default());
            }
            matters[chosen].add(&fragment, ground);
            fragment.iter().for_each(|place| of[*place] = chosen);
        }
        let taken_up = if ground.remarks.len() > candidates {
            likelihoods(ground, &[candidates], &matters, is_asking, weights)
        } else {
            Vec::new()
        };
        Self { of, count: matters.len(), taken_up }
    }
}

/// Strands, cut where a silence is long and no reply bridges it; in the order of their first messages.
fn fragments(ground: &Ground<'_>, antecedents: &[Option<usize>], far: f64) -> Vec<Vec<usize>> {
    let mut fragments: Vec<Vec<usize>> = Vec::new();
    let mut of: Vec<usize> = Vec::with_capacity(antecedents.len());
    for (place, antecedent) in antecedents.iter().enumerate() {
        let remark = &ground.remarks[place];
        let joined =
            antecedent.filter(|from| remark.at - ground.remarks[*from].at <= far || remark.reply == Some(*from));
        let fragment = match joined {
            Some(from) => of[from],
            None => {
                fragments.push(Vec::new());
                fragments.len() - 1
            }
        };
        fragments[fragment].push(place);
        of.push(fragment);
    }
    fragments
}

/// How likely a fragment takes up each matter; what is missing to 1 is that it begins a new one.
fn likelihoods(
    ground: &Ground<'_>,
    fragment: &[usize],
    matters: &[Matter],
    is_trigger: bool,
    weights: &Weights,
) -> Vec<f64> {
    let mut own = Matter::default();
    own.add(fragment, ground);
    let scores = scores(ground, &own, matters, is_trigger, weights);
    let highest = scores.iter().copied().fold(0.0, f64::max);
    let sum = (-highest).exp() + scores.iter().map(|score| (score - highest).exp()).sum::<f64>();
    scores.into_iter().map(|score| (score - highest).exp() / sum).collect()
}

fn drawn(probabilities: &[f64], chance: f64) -> Option<usize> {
    let mut below = 0.0;
    probabilities.iter().position(|probability| {
        below += probability;
        chance < below
    })
}
