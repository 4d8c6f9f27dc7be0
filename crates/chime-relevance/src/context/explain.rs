//! Explains for each candidate why it was picked or not. This runs the picker a second time, so it is not done while
//! answering.

use crate::context::candidates::CandidateSet;
use crate::context::contributions::{ByCandidate, Feature, shown};
use crate::context::history::History;
use crate::context::params::Params;
use crate::context::pick::pick;
use chime_core::{MessageId, StoredMessage};

#[derive(Debug, Clone, PartialEq)]
pub struct Explained {
    pub id: MessageId,
    /// Probability that the candidate belongs to the subject of the trigger, 0 to 1.
    pub probability: f64,
    /// Features that decided, the largest contribution first.
    pub features: Vec<Feature>,
}

/// Explains every candidate of a trigger, oldest first.
pub fn explain(history: &History, params: &Params) -> Vec<Explained> {
    let (pool, mut features) = (CandidateSet::new(history, &[]), ByCandidate::new());
    let selection = pick(&pool, history, params, Some(&mut features));
    let explained = |(place, (stored, features)): (usize, (&StoredMessage, Vec<Feature>))| Explained {
        id: stored.message.id,
        probability: f64::from(selection.marginals.get(place).copied().unwrap_or(0.0)),
        features: shown(features),
    };
    pool.talk().into_iter().zip(features).enumerate().map(explained).collect()
}
