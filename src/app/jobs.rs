//! Which room works on which job.

use crate::answer::run::{Answering, Delivery};
use crate::commands::run::Commands;
use crate::domain::{Job, JobKind};
use crate::privacy::run::Keeper;
use crate::scheduler::run::Outcome;

/// Everybody who can work.
pub struct Crew {
    pub answering: Answering,
    pub commands: Commands,
    pub delivery: Delivery,
    pub keeper: Keeper,
}

impl Crew {
    pub async fn work(&self, job: Job) -> Outcome {
        match job.kind {
            JobKind::Answer | JobKind::Another => self.answering.run(&job).await,
            JobKind::Press => self.answering.press(&job).await,
            JobKind::Command => self.commands.run(&job).await,
            JobKind::Send => self.delivery.run(&job).await,
            JobKind::Backlog => self.commands.tell_backlog(&job).await,
            JobKind::Refusal => self.commands.tell_refusal(&job).await,
            JobKind::Leave => self.commands.leave(&job).await,
            JobKind::Announce => self.commands.announce(&job).await,
            JobKind::Forget => self.commands.forget(&job).await,
            JobKind::Retention => self.keeper.run(&job).await,
        }
    }
}
