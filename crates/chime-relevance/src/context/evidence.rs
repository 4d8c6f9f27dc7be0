//! Features and reply distributions that were computed ahead of the trigger, by message.

use std::sync::Arc;

use crate::context::features::message::{Address, MessageFeatures, address, without_bots};
use crate::context::features::rhythm::WINDOW;
use crate::context::features::token::Quick;
use crate::context::replies::antecedents::{Antecedents, Past};
use crate::context::replies::model::ReplyModel;
use crate::context::strands::SampledStrands;
use chime_core::embed::Embedder;
use chime_core::{MessageId, StoredMessage, unless_it_panics};

/// What was computed ahead of the trigger. All of it may be missing: then it is computed where it is needed, or done without.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    pub readings: Quick<Address, Arc<MessageFeatures>>,
    /// Antecedents from the text alone: reply links are added where they are used.
    pub antecedents: Quick<Address, Arc<Antecedents>>,
    /// Ids of the messages right before the oldest candidate, oldest first: replies may lead there.
    pub earlier: Vec<MessageId>,
    /// Sampled reply forests of the newest messages, as they stood when these were sampled.
    pub sampled: Option<Arc<SampledStrands>>,
    /// The model that made the vectors, where it is at hand.
    pub embedder: Option<Arc<Embedder>>,
}

impl Evidence {
    /// The vector of a text; none without a model, or where it does not know the text.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        let embedder = self.embedder.as_ref()?;
        unless_it_panics(|| embedder.embed(text)).filter(|vector| !vector.is_empty())
    }

    /// The features of a message; without a vector where none were computed ahead.
    pub fn reading(&self, stored: &StoredMessage) -> Arc<MessageFeatures> {
        match self.readings.get(&address(stored)) {
            Some(reading) => Arc::clone(reading),
            None => Arc::new(MessageFeatures::of(&stored.message, &without_bots(&stored.message.text), Vec::new())),
        }
    }
}

/// The likeliest antecedents of the message at `place` among `readings` (oldest first), reply links left out.
pub fn antecedents_by(model: &ReplyModel, readings: &[Arc<MessageFeatures>], place: usize) -> Antecedents {
    Past::of(&readings[..place], &readings[place]).antecedents(model, false).kept()
}

/// The same of every message of a conversation, oldest first.
pub fn antecedent_rows(
    conversation: &[StoredMessage],
    evidence: &Evidence,
    links: &ReplyModel,
) -> Quick<Address, Arc<Antecedents>> {
    let readings: Vec<Arc<MessageFeatures>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let rows = (0..readings.len()).map(|place| Arc::new(antecedents_by(links, &readings, place)));
    conversation.iter().map(address).zip(rows).collect()
}

/// Fingerprints of messages, each with the up to [`WINDOW`] before it that it is scored against. The same fingerprint
/// means the same antecedents. `marks` are those of the messages, oldest first; of the first `earlier` none is made.
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
