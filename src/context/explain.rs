//! What decided about each message, for whoever wants to know why. Off the path of answers: it takes the same steps again
//! and writes down what each feature added.

use std::collections::BTreeMap;

use crate::context::candidates::CandidateSet;
use crate::context::contributions::Feature;
use crate::context::history::History;
use crate::context::params::Params;
use crate::context::pick;
use crate::context::pick::Asking;
use crate::domain::MessageId;

/// What is known of a message that could have been chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    pub id: MessageId,
    /// How likely it belongs to what the trigger is about, 0 to 1.
    pub probability: f64,
    /// The weightiest first.
    pub features: Vec<Feature>,
}

/// Explains every candidate of a trigger, oldest first.
pub fn explain(history: &History, params: &Params) -> Vec<Explained> {
    let pool = CandidateSet::new(history, &[]);
    let conversation = pool.talk();
    let asking = Asking::of(history, pool.older, params.seed);
    let (picked, features) =
        pick::explain(asking, &conversation, &history.evidence, &params.scorers, params.focus_limit);
    let likely: BTreeMap<usize, f32> = picked.marginals.into_iter().collect();
    let explained = |(place, features): (usize, Vec<Feature>)| Explained {
        id: conversation[place].message.id,
        probability: f64::from(likely.get(&place).copied().unwrap_or(0.0)),
        features,
    };
    features.into_iter().map(explained).collect()
}
