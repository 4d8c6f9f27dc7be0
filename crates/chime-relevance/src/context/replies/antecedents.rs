//! Converts the scores of the reply model to probabilities of a message's antecedents: the earlier messages that it may
//! reply to, or none.

use std::sync::Arc;

use crate::context::features::mentions::NamedInHistory;
use crate::context::features::message::MessageFeatures;
use crate::context::features::rhythm::WINDOW;
use crate::context::replies::model::{FactorValues, ReplyModel};
use crate::context::replies::pairs::{RAW, pairs};
use chime_core::UserId;

/// Maximum number of antecedents stored for a message. Further ones hardly ever change a result.
const KEPT: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Antecedent {
    /// Number of messages back; 1 is the message right before.
    pub distance: usize,
    pub probability: f32,
}

/// Possible antecedents of a message, the likeliest first. The difference between 1 and the sum of their probabilities
/// is the probability that the message starts something new.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Antecedents(pub Vec<Antecedent>);

impl Antecedents {
    /// Returns the probability that the message starts something new.
    pub fn starts_new(&self) -> f32 {
        (1.0 - self.0.iter().map(|link| link.probability).sum::<f32>()).max(0.0)
    }

    /// Drops all but the `KEPT` likeliest antecedents, and rescales these so that the probability of starting something
    /// new does not change.
    #[must_use]
    pub fn kept(mut self) -> Self {
        let all: f32 = self.0.iter().map(|link| link.probability).sum();
        self.0.truncate(KEPT);
        // The list stays in memory for as long as the message may be needed, and its unused capacity would take ten
        // times as much.
        self.0.shrink_to_fit();
        let kept: f32 = self.0.iter().map(|link| link.probability).sum();
        for link in &mut self.0 {
            link.probability *= all / kept.max(f32::MIN_POSITIVE);
        }
        self
    }

    /// Returns only the antecedents that are at most `distance` messages back.
    pub fn within(&self, distance: usize) -> Self {
        Self(self.0.iter().filter(|link| link.distance <= distance).copied().collect())
    }

    /// Adds a reply link to the message `distance` messages back; `None` changes nothing.
    #[must_use]
    pub fn with_reply(mut self, distance: Option<usize>) -> Self {
        /// Probability that a reply link gives. It is below 1, since some replies only mean "somewhere here".
        const CERTAIN: f32 = 0.97;
        let Some(distance) = distance else { return self };
        for link in &mut self.0 {
            link.probability *= 1.0 - CERTAIN;
        }
        match self.0.iter_mut().find(|link| link.distance == distance) {
            Some(link) => link.probability += CERTAIN,
            None => self.0.push(Antecedent { distance, probability: CERTAIN }),
        }
        self.0.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.distance.cmp(&b.distance)));
        self
    }
}

/// A message and the messages before it, with the members that each of them names, ready to compute antecedents.
pub struct ReplyContext<'a> {
    message: &'a MessageFeatures,
    past: &'a [Arc<MessageFeatures>],
    hearing: NamedInHistory,
}

impl<'a> ReplyContext<'a> {
    /// Prepares `message` and the last [`WINDOW`] messages of `past`, which is ordered oldest first.
    pub fn of(past: &'a [Arc<MessageFeatures>], message: &'a MessageFeatures) -> Self {
        let past = &past[past.len().saturating_sub(WINDOW)..];
        Self { message, past, hearing: NamedInHistory::of(past, message) }
    }

    pub fn mentions(self) -> Vec<UserId> {
        self.hearing.message.mentions
    }

    /// Computes the distribution over the message's antecedents with `model`. With `bare`, the words of the message are
    /// ignored.
    pub fn antecedents(&self, model: &ReplyModel, bare: bool) -> Antecedents {
        let (mut scores, mut values) = (Vec::with_capacity(self.past.len()), FactorValues::default());
        self.pairs(bare, |place, raw| scores.push((self.past.len() - place, model.score(raw, &mut values))));
        // "Starts something new" has the score 0.
        let highest = scores.iter().map(|(_, score)| *score).fold(0.0, f32::max);
        let sum = (-highest).exp() + scores.iter().map(|(_, score)| (score - highest).exp()).sum::<f32>();
        let mut links: Vec<Antecedent> = scores
            .into_iter()
            .map(|(distance, score)| Antecedent { distance, probability: (score - highest).exp() / sum })
            .collect();
        links.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.distance.cmp(&b.distance)));
        Antecedents(links)
    }

    /// Calls `each` for every earlier message, newest first, with its distance and the products that the weights of
    /// `model` apply to. Used to fit the weights.
    pub fn rows(&self, model: &ReplyModel, bare: bool, mut each: impl FnMut(usize, Vec<f32>)) {
        let mut values = FactorValues::default();
        self.pairs(bare, |place, raw| each(self.past.len() - place, model.products(raw, &mut values)));
    }

    fn pairs(&self, bare: bool, each: impl FnMut(usize, &[f32; RAW])) {
        pairs(self.message, self.past, &self.hearing, bare, each);
    }
}
