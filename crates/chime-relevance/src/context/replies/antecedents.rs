//! Converts scores to a distribution over antecedents: the messages that one may reply to, or none.

use std::sync::Arc;

use crate::context::features::mentions::Hearing;
use crate::context::features::message::MessageFeatures;
use crate::context::features::rhythm::WINDOW;
use crate::context::replies::model::{FactorValues, ReplyModel};
use crate::context::replies::pairs::{RAW, pairs};
use chime_core::UserId;

/// Most antecedents kept for a message. The others hardly ever change a result.
const KEPT: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Antecedent {
    /// Distance in messages; 1 is the message right before.
    pub distance: usize,
    pub probability: f32,
}

/// Possible antecedents, the likeliest first. The rest to 1 is the probability of starting something new.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Antecedents(pub Vec<Antecedent>);

impl Antecedents {
    /// Returns the probability that the message starts something new.
    pub fn starts_new(&self) -> f32 {
        (1.0 - self.0.iter().map(|link| link.probability).sum::<f32>()).max(0.0)
    }

    /// Keeps the likeliest `KEPT`, rescaled so that the probability of "starts something new" does not change.
    #[must_use]
    pub fn kept(mut self) -> Self {
        let all: f32 = self.0.iter().map(|link| link.probability).sum();
        self.0.truncate(KEPT);
        // These stay in memory, and the unused capacity would take ten times as much.
        self.0.shrink_to_fit();
        let kept: f32 = self.0.iter().map(|link| link.probability).sum();
        for link in &mut self.0 {
            link.probability *= all / kept.max(f32::MIN_POSITIVE);
        }
        self
    }

    /// Returns the antecedents at most `distance` messages back.
    pub fn within(&self, distance: usize) -> Self {
        Self(self.0.iter().filter(|link| link.distance <= distance).copied().collect())
    }

    /// Adds the reply link to the message `distance` back, if there is one.
    #[must_use]
    pub fn with_reply(mut self, distance: Option<usize>) -> Self {
        /// Probability of a reply link. Below 1, since some replies only mean "somewhere here".
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

/// A message and the messages before it, ready to be compared.
pub struct ReplyContext<'a> {
    message: &'a MessageFeatures,
    past: &'a [Arc<MessageFeatures>],
    hearing: Hearing,
}

impl<'a> ReplyContext<'a> {
    /// Prepares `message` and the last [`WINDOW`] messages of `past`, which is ordered oldest first.
    pub fn of(past: &'a [Arc<MessageFeatures>], message: &'a MessageFeatures) -> Self {
        let past = &past[past.len().saturating_sub(WINDOW)..];
        Self { message, past, hearing: Hearing::of(past, message) }
    }

    pub fn mentions(self) -> Vec<UserId> {
        self.hearing.message.mentions
    }

    /// Computes the distribution of the message by `model`. With `bare`, the message counts as one without words.
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

    /// Calls `each` with the distance of every candidate, newest first, and the products that `model` weighs.
    pub fn rows(&self, model: &ReplyModel, bare: bool, mut each: impl FnMut(usize, Vec<f32>)) {
        let mut values = FactorValues::default();
        self.pairs(bare, |place, raw| each(self.past.len() - place, model.products(raw, &mut values)));
    }

    fn pairs(&self, bare: bool, each: impl FnMut(usize, &[f32; RAW])) {
        pairs(self.message, self.past, &self.hearing, bare, each);
    }
}
