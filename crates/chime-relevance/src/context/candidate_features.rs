//! Features and antecedents of the candidates, which the caller computes or takes from a cache.

use std::sync::Arc;

use crate::context::features::message::{MessageAddress, MessageFeatures, address, without_bots};
use crate::context::features::rhythm::WINDOW;
use crate::context::features::token::Quick;
use crate::context::replies::antecedents::{Antecedents, ReplyContext};
use crate::context::replies::model::ReplyModel;
use chime_core::embed::{Embedder, SHIPPED_NAME};
use chime_core::{MessageId, StoredMessage, unless_it_panics};

/// Features of the candidates and of the trigger. Any of them may be missing: it is then computed on demand or not
/// used.
#[derive(Debug, Clone, Default)]
pub struct CandidateFeatures {
    pub readings: Quick<MessageAddress, Arc<MessageFeatures>>,
    /// Antecedents without reply links, which are added when they are used.
    pub antecedents: Quick<MessageAddress, Arc<Antecedents>>,
    /// Ids of the messages right before the oldest candidate, oldest first, since candidates may reply to them.
    pub earlier: Vec<MessageId>,
    /// Model that computed the vectors; `None` if no model is loaded.
    pub embedder: Option<Arc<Embedder>>,
}

impl CandidateFeatures {
    /// Returns the vector of a text; `None` without a model, or if it knows no word of the text or panics.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let embedder = self.embedder.as_ref()?;
        unless_it_panics(|| embedder.embed(text)).filter(|vector| !vector.is_empty())
    }

    /// Returns the vector of a text by the shipped model, empty if it knows no word of the text; `None` if another
    /// model or none is loaded.
    pub fn embed_as_shipped(&self, text: &str) -> Option<Vec<f32>> {
        let is_shipped = self.embedder.as_ref().is_some_and(|embedder| embedder.name() == SHIPPED_NAME);
        is_shipped.then(|| self.embed(text).unwrap_or_default())
    }

    /// Returns the features of a message. If they were not computed before, they are computed now, but without a
    /// vector.
    pub fn reading(&self, stored: &StoredMessage) -> Arc<MessageFeatures> {
        match self.readings.get(&address(stored)) {
            Some(reading) => Arc::clone(reading),
            None => Arc::new(MessageFeatures::of(&stored.message, &without_bots(&stored.message.text), Vec::new())),
        }
    }
}

/// Returns the likeliest antecedents of the message at `place` among `readings` (oldest first). Reply links are
/// ignored.
pub fn antecedents_by(model: &ReplyModel, readings: &[Arc<MessageFeatures>], place: usize) -> Antecedents {
    ReplyContext::of(&readings[..place], &readings[place]).antecedents(model, false).kept()
}

/// Returns a fingerprint of each message from index `earlier` on, computed from its hash and the hashes of up to
/// [`WINDOW`] messages before it. If it is unchanged, the message's antecedents are too. `marks` holds the hashes,
/// oldest first.
pub fn fingerprints(marks: &[u64], earlier: usize) -> Vec<i64> {
    let fingerprint = |place: usize| {
        let past = marks[place.saturating_sub(WINDOW)..place].iter().fold(0, |all, mark| all ^ mark);
        (past ^ marks[place].rotate_left(1)).cast_signed()
    };
    (earlier..marks.len()).map(fingerprint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_of_the_message_and_the_window_before_it() {
        let marks: Vec<u64> = (1..=WINDOW as u64 + 2).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let all = fingerprints(&marks, 0);
        assert_eq!(fingerprints(&marks, 5), all[5..], "whatever is asked for");
        assert_eq!(fingerprints(&marks[1..], WINDOW + 1), [] as [i64; 0]);
        assert_eq!(fingerprints(&marks[1..], WINDOW), all[WINDOW + 1..], "what is further back does not matter");
        let mut edited = marks.clone();
        edited[1] ^= 1;
        let after = fingerprints(&edited, 0);
        assert_eq!(after[0], all[0]);
        assert!((1..=WINDOW + 1).all(|place| after[place] != all[place]), "it and all that follow within the window");
    }
}
