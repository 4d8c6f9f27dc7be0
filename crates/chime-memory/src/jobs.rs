//! Background jobs of the memory: each reads its input, asks the model if allowed, and stores the result in the same
//! transaction that ends the job.

mod divide;
mod mini;
mod model;
mod reading;
mod recap;
mod rolling;
mod slots;
mod strand;
mod tagging;
#[cfg(test)]
mod tests;
mod topic_summary;
mod topics;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::extract::Ranking;
use crate::jobs::mini::Made;
use chime_access::gateway::{AskError, ModelPurpose};
use chime_core::config::MemoryConfig;
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_core::{ChatId, ChatKey, Conversation, Job, Seq, SessionId, Zone};
use chime_jobs::JobOutcome;
use chime_jobs::worker::Wake;
use chime_llm::{Embeddings, LlmError};
use chime_runtime::clock::Clock;
use chime_store::{Store, StoreError};

pub use model::SummaryModel;
pub use reading::remembered;
pub use slots::pieces;
pub use strand::strand_summary;
pub use topic_summary::{active_topics, remembered_topics, topic_pieces};

/// Attempts after which a model without usable output is not asked again.
const WORTHWHILE: u32 = 3;
/// Delay before retrying after the daily tokens ran out.
const BUDGET_AGAIN: Duration = Duration::from_secs(60 * 60);

/// Makes and updates the summaries of all chats.
pub struct Memory {
    pub store: Store,
    pub clock: Clock,
    pub wake: Wake,
    pub prompts: Arc<Prompts>,
    pub config: MemoryConfig,
    /// Time zone of chats without their own.
    pub zone: Zone,
    pub model: SummaryModel,
    pub vectors: SummaryVectors,
    /// `true` if a chat gets its privacy notice before anything is sent to a server for summaries.
    pub announces: bool,
    pub ranking: Mutex<Ranking>,
}

pub enum SummaryVectors {
    Off,
    /// Embedded model, and the name stored with its vectors.
    Local {
        embedder: Arc<Embedder>,
        name: String,
    },
    Server(Arc<Embeddings>),
}

#[derive(Debug, thiserror::Error)]
pub(super) enum StepError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model failed. Holds no message content.
    #[error("{0}")]
    Model(String),
    /// The model's output is unusable, perhaps because of the messages it read. Holds no message content.
    #[error("{0}")]
    Unusable(String),
    /// The model is not available for this long.
    #[error("{1}")]
    Later(Duration, String),
    #[error(transparent)]
    Prompt(#[from] chime_core::prompts::PromptError),
}

impl Memory {
    pub(super) fn ranking(&self) -> MutexGuard<'_, Ranking> {
        self.ranking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the periodic `sessions` job.
    pub async fn divide(&self) -> JobOutcome {
        match self.divide_noted().await {
            Ok(()) => JobOutcome::UntilNextRun,
            Err(error) => JobOutcome::of_store(&error, "dividing conversations into sessions"),
        }
    }

    /// Runs the periodic `memory_upkeep` job.
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

    /// Runs a `summary_vector` job.
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

impl StepError {
    fn of_ask(error: &AskError) -> Self {
        match error {
            AskError::TooLong | AskError::RetryLater(LlmError::Empty | LlmError::NoRoom | LlmError::Filtered) => {
                Self::Unusable(error.to_string())
            }
            AskError::Final(cause) if cause.is_about_the_request() => Self::Unusable(error.to_string()),
            AskError::BreakerOpen { retry_after } | AskError::GaveWay { retry_after } => {
                Self::Later(*retry_after, error.to_string())
            }
            AskError::OverBudget(_) => Self::Later(BUDGET_AGAIN, error.to_string()),
            AskError::Offline | AskError::RetryLater(_) | AskError::Final(_) | AskError::Store(_) => {
                Self::Model(error.to_string())
            }
        }
    }
}

impl Memory {
    /// Falls back to the extract after repeated unusable output, so that no message can prevent the summary of a chat.
    fn or_extract(
        &self,
        job: &Job,
        made: Result<Made, StepError>,
        extract: impl FnOnce() -> Made,
    ) -> Result<Made, StepError> {
        match made {
            Err(StepError::Unusable(why)) if is_given_up(job) => {
                tracing::warn!(job.id = job.id.0, why, "job {}: an extract stands in for the model's summary", job.id);
                Ok(Made { given_up_by: Some(self.summary_model()), ..extract() })
            }
            made => made,
        }
    }

    fn outcome(&self, job: &Job, done: Result<JobOutcome, StepError>) -> JobOutcome {
        match done {
            Ok(outcome) => outcome,
            Err(StepError::Store(error)) => JobOutcome::of_store(&error, job),
            Err(StepError::Later(pause, why)) => {
                tracing::info!(job.id = job.id.0, why, "job {} waits for the model", job.id);
                JobOutcome::WaitUntil(self.clock.now().plus(pause))
            }
            Err(error) => JobOutcome::Failed(format!("{job}: {error}")),
        }
    }

    fn summary_model(&self) -> String {
        self.model.gateway.model_name(ModelPurpose::Summary).to_owned()
    }
}

/// Returns `true` if this attempt is the last one worth making when the model's output is unusable.
pub(super) fn is_given_up(job: &Job) -> bool {
    job.attempts + 1 >= WORTHWHILE
}

/// Returns a random delimiter for untrusted text, unknown to its authors.
pub(super) fn fence() -> String {
    let code = ulid::Ulid::from_parts(0, chime_runtime::resilience::random().into()).to_string();
    code.get(12..).unwrap_or(&code).to_owned()
}
