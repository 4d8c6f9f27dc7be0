//! Which room works on which job.

use crate::answer::run::{Answering, Delivery};
use crate::commands::run::Commands;
use crate::domain::{Job, JobKind};
use crate::scheduler::run::Outcome;

/// Everybody who can work.
pub struct Crew {
    pub answering: Answering,
    pub commands: Commands,
    pub delivery: Delivery,
}

impl Crew {
    pub async fn work(&self, job: Job) -> Outcome {
        match job.kind {
            JobKind::Answer => self.answering.run(&job).await,
            JobKind::Command => self.commands.run(&job).await,
            JobKind::Send => self.delivery.run(&job).await,
            JobKind::Backlog => self.commands.tell_backlog(&job).await,
            JobKind::Refusal => self.commands.tell_refusal(&job).await,
        }
    }
}
