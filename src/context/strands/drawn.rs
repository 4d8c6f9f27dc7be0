//! The worlds that are drawn from where each candidate may go on from.

use std::sync::Arc;

use crate::context::links::Antecedents;
use crate::context::reading::{address, antecedents_by};
use crate::context::strands::Candidates;
use crate::context::worlds::{TAG_WORLDS, Worlds};
use crate::domain::StoredMessage;

/// What a world drew for the candidates.
#[derive(Debug)]
pub(super) struct World {
    pub antecedents: Vec<Option<usize>>,
    pub chances: Vec<f32>,
}

impl Candidates<'_> {
    /// Those that a tag is asked in.
    pub(super) fn drawn(&self) -> Vec<World> {
        let worlds = self.worlds(TAG_WORLDS);
        let chances = worlds.chances().into_iter().enumerate();
        chances.map(|(world, chances)| World { antecedents: worlds.antecedents(world), chances }).collect()
    }

    pub(super) fn worlds(&self, count: usize) -> Worlds {
        let addresses = self.messages.iter().map(|stored| address(stored));
        Worlds::draw(count, addresses.zip(self.rows().iter().map(Arc::as_ref)))
    }

    /// Where each goes on from.
    fn rows(&self) -> Vec<Arc<Antecedents>> {
        let first = self.of_all.len() - self.messages.len();
        let row = |((place, stored), parent): ((usize, &&StoredMessage), &Option<usize>)| {
            let known = match self.evidence.antecedents.get(&address(stored)) {
                // What was left out between the older candidates and the others is no antecedent here.
                Some(known) if self.older > 0 => Arc::new(known.within(place.saturating_sub(self.older))),
                Some(known) => Arc::clone(known),
                None => Arc::new(antecedents_by(self.links, self.of_all, place)),
            };
            match parent {
                Some(distance) => Arc::new(Antecedents::clone(&known).with_reply(*distance)),
                None => known,
            }
        };
        (first..).zip(self.messages).zip(&self.parents).map(row).collect()
    }
}
