//! Background jobs of the memory. Each reads its input, asks the model if that is allowed, and ends itself in the
//! transaction that stores its result.

mod divide;
mod error;
mod fence;
mod items;
mod load;
mod memory;
mod memory_lines;
mod mini;
mod model;
mod new_summary;
mod recap;
mod rolling;
mod tagging;
#[cfg(test)]
mod tests;
mod thread_summary;
mod topic_summary;
mod topics;

use chime_core::{ChatId, ChatKey, Conversation, Job, Seq, SessionId};
use chime_jobs::JobOutcome;

pub use items::{ItemList, item_pieces, items};
pub use load::remembered;
pub use memory::{Memory, SummaryVectors};
pub use memory_lines::pieces;
pub use model::SummaryModel;
pub use thread_summary::strand_summary;
pub use topic_summary::{active_topics, remembered_topics, topic_pieces};

impl Memory {
    /// Runs the periodic `sessions` job: divides changed conversations into sessions and enqueues summaries.
    pub async fn divide(&self) -> JobOutcome {
        match self.divide_noted().await {
            Ok(()) => JobOutcome::UntilNextRun,
            Err(error) => JobOutcome::of_store(&error, "dividing conversations into sessions"),
        }
    }

    /// Runs the periodic `memory_upkeep` job: updates Recent and History, and makes missing vectors.
    pub async fn keep_up(&self) -> JobOutcome {
        match self.see_to_the_rest().await {
            Ok(()) => JobOutcome::UntilNextRun,
            Err(error) => JobOutcome::of_store(&error, "seeing to what memory lacks"),
        }
    }

    pub async fn summarize(&self, job: &Job, session: SessionId) -> JobOutcome {
        self.outcome(job, self.make_mini(job, session).await)
    }

    pub async fn tag(&self, job: &Job, session: SessionId) -> JobOutcome {
        self.outcome(job, self.make_tags(job, session).await)
    }

    /// Runs a `summary_vector` job: makes the vector of a session's summary with the server.
    pub async fn embed(&self, job: &Job, session: SessionId) -> JobOutcome {
        self.outcome(job, self.make_vector(job, session).await)
    }

    pub async fn roll_recent(&self, job: &Job, chat: ChatId, key: ChatKey) -> JobOutcome {
        self.outcome(job, self.make_recent(job, chat, key).await)
    }

    /// Runs a `strand` job, which summarizes the oldest part of a thread.
    pub async fn sum_up_strand(&self, job: &Job, conversation: Conversation, oldest: &[Seq]) -> JobOutcome {
        self.outcome(job, self.extend_strand(job, conversation, oldest).await)
    }

    pub async fn fold_history(&self, job: &Job, chat: ChatId, key: ChatKey) -> JobOutcome {
        self.outcome(job, self.fold(job, chat, key).await)
    }
}
