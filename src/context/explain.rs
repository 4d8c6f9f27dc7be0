//! What decided about each message, for whoever wants to know why. Off the path of answers: it takes the same steps again
//! and writes down what each feature added.

use crate::context::candidates::CandidateSet;
use crate::context::contributions::{Feature, by_candidate};
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
    let (choice, mut columns) = ((&*params.scorers, params.focus_limit), Vec::new());
    let picked = pick::pick(asking, &conversation, &history.evidence, choice, Some(&mut columns));
    let features = by_candidate(&columns, conversation.len());
    let explained = |(place, features): (usize, Vec<Feature>)| Explained {
        id: conversation[place].message.id,
        probability: f64::from(picked.marginals.get(place).copied().unwrap_or(0.0)),
        features,
    };
    features.into_iter().enumerate().map(explained).collect()
}
