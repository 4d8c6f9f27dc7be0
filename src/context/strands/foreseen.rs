//! What is worked out before anybody tags: how the candidates hang together by themselves, whoever asks about them. It is
//! two fifths of all that a tag takes.

use std::sync::Arc;

use crate::context::links::{Hearing, silence_ranks};
use crate::context::matters::{Drawing, Ground, Partitions, Weights, fragments, slowness};
use crate::context::places::PlaceSet;
use crate::context::reading::{Address, Evidence, Reading, address};
use crate::context::scorers::Scorers;
use crate::context::strands::drawn::World;
use crate::context::strands::{Candidates, seconds};
use crate::domain::{StoredMessage, UserId};

/// How the candidates of a conversation hang together, in every world. With two hundred of them it takes 12 KB.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Foreseen {
    /// Whom it is about, oldest first: the sets below count from the first of them.
    candidates: Vec<Address>,
    pub(super) groups: Groups,
}

/// The sets that each world puts the candidates into.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Groups {
    /// Strands of stage one, never cut.
    pub strands: Partitions,
    /// Strands, cut where the silence is long.
    pub fragments: Partitions,
    /// Fragments that take up each other.
    pub matters: Partitions,
}

/// What the next tag in a `conversation` (oldest first) finds; none without weights. The last
/// [`WINDOW`](crate::context::links::WINDOW) messages are its candidates.
pub fn foresee(conversation: &[&StoredMessage], evidence: &Evidence, scorers: &Scorers) -> Option<Foreseen> {
    let weights = scorers.matters.as_ref()?;
    let readings: Vec<Arc<Reading>> = conversation.iter().map(|stored| evidence.reading(stored)).collect();
    let candidates = Candidates::of((conversation, 0), &readings, evidence, &scorers.links);
    Some(candidates.foreseen_in(&candidates.drawn(), weights))
}

impl Candidates<'_> {
    /// How the candidates hang together in `worlds`.
    pub(super) fn foreseen_in(&self, worlds: &[World], weights: &Weights) -> Foreseen {
        let talk = self.talk();
        let candidates = self.messages.iter().map(|stored| address(stored)).collect();
        Foreseen { candidates, groups: Groups::of(&self.ground(&talk), worlds, weights) }
    }

    /// What is known of the candidates without a trigger.
    pub(super) fn talk(&self) -> Talk {
        let moments: Vec<f64> = self.messages.iter().copied().map(seconds).collect();
        Talk {
            slowness: slowness(moments.iter().copied()),
            silences: silence_ranks(&moments).into_iter().map(f64::from).collect(),
            mentions: Hearing::of(self.readings.iter().map(|reading| &reading.speech)).mentions(),
        }
    }

    pub(super) fn ground<'a>(&'a self, talk: &'a Talk) -> Ground<'a> {
        // Nobody asks yet: whoever spoke last adds no person.
        let last = self.messages.last().map_or(UserId(0), |stored| stored.message.sender.id);
        Ground::new(self.remarks(&talk.mentions), &talk.silences, last, talk.slowness)
    }
}

/// The candidates by themselves.
pub(super) struct Talk {
    slowness: f64,
    /// How long the silence before each candidate was for this chat.
    silences: Vec<f64>,
    /// Whom each candidate speaks to.
    mentions: Vec<Vec<UserId>>,
}

impl Foreseen {
    /// Whether it is about just these. A tag may have others: pictures of its own album that came after it.
    pub(super) fn is_of(&self, candidates: &[&StoredMessage]) -> bool {
        candidates.iter().map(|stored| address(stored)).eq(self.candidates.iter().copied())
    }
}

impl Groups {
    pub(super) fn of(ground: &Ground<'_>, worlds: &[World], weights: &Weights) -> Self {
        let cut = |far: f64| -> Vec<Vec<PlaceSet>> {
            worlds.iter().map(|world| fragments(ground, &world.antecedents, far)).collect()
        };
        let partitions = |sets: &[Vec<PlaceSet>]| Partitions::of(sets.iter().map(Vec::as_slice), ground.remarks.len());
        let fragments = cut(weights.far);
        let mut drawing = Drawing::new(ground, false, &weights.tag.bridge);
        let drawn = |(fragments, world): (&Vec<PlaceSet>, &World)| {
            drawing.world(fragments, &world.chances).into_iter().map(|drawn| drawn.members).collect()
        };
        let matters: Vec<Vec<PlaceSet>> = fragments.iter().zip(worlds).map(drawn).collect();
        Self {
            strands: partitions(&cut(f64::INFINITY)),
            fragments: partitions(&fragments),
            matters: partitions(&matters),
        }
    }
}
