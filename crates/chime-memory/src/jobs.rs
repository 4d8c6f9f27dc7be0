//! Drives memory: reads what a step needs, has it decided, asks the model where that is allowed, and writes the outcome in
//! one transaction with the end of the job.

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
use chime_access::gateway::{AskError, Purpose};
use chime_core::config::MemoryConfig;
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_core::{ChatId, ChatKey, Conversation, Job, Seq, SessionId, Zone};
use chime_jobs::worker::{Outcome, Wake};
use chime_llm::{Embeddings, LlmError};
use chime_runtime::clock::Clock;
use chime_store::{Store, StoreError};

pub use model::SummaryModel;
pub use reading::remembered;
pub use slots::pieces;
pub use strand::strand_summary;
pub use topic_summary::{active_topics, remembered_topics, topic_pieces};

/// Attempts at a text after which a model that wrote nothing usable is not asked again.
const WORTHWHILE: u32 = 3;
/// Tokens of the day that ran out while a step was under way are looked at again after this.
const BUDGET_AGAIN: Duration = Duration::from_secs(60 * 60);

/// Makes and keeps what is remembered.
pub struct Memory {
    pub store: Store,
    pub clock: Clock,
    pub wake: Wake,
    pub prompts: Arc<Prompts>,
    pub config: MemoryConfig,
    /// In which times are told where a chat has none of its own.
    pub zone: Zone,
    pub model: SummaryModel,
    pub vectors: SummaryVectors,
    /// Whether chats are told what is kept of them before anything of theirs is sent out for summaries.
    pub announces: bool,
    pub ranking: Mutex<Ranking>,
}

/// What makes vectors of summaries.
pub enum SummaryVectors {
    Off,
    /// The model inside the program, by the name that is kept with its vectors.
    Local {
        embedder: Arc<Embedder>,
        name: String,
    },
    Server(Arc<Embeddings>),
}

/// Why a step ended without its outcome.
#[derive(Debug, thiserror::Error)]
pub(super) enum StepError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model failed, or what it wrote cannot be used. Holds no message content.
    #[error("{0}")]
    Model(String),
    /// The model was asked and wrote nothing that can be used, which may be the doing of what it was given to read. Holds
    /// no message content.
    #[error("{0}")]
    Unusable(String),
    /// The model cannot be asked for so long, whatever for.
    #[error("{1}")]
    Later(Duration, String),
    #[error(transparent)]
    Prompt(#[from] chime_core::prompts::PromptError),
}

impl Memory {
    pub(super) fn ranking(&self) -> MutexGuard<'_, Ranking> {
        self.ranking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the periodic `sessions` job.
    pub async fn divide(&self) -> Outcome {
        match self.divide_noted().await {
            Ok(()) => Outcome::UntilNextRun,
            Err(error) => Outcome::of_store(&error, "dividing conversations into sessions"),
        }
    }

    /// Works on the periodic `memory_upkeep` job.
    pub async fn keep_up(&self) -> Outcome {
        match self.see_to_the_rest().await {
            Ok(()) => Outcome::UntilNextRun,
            Err(error) => Outcome::of_store(&error, "seeing to what memory lacks"),
        }
    }

    /// Works on a `summary` job.
    pub async fn summarize(&self, job: &Job, session: SessionId) -> Outcome {
        self.outcome(job, self.make_mini(job, session).await)
    }

    /// Works on a `tags` job.
    pub async fn tag(&self, job: &Job, session: SessionId) -> Outcome {
        self.outcome(job, self.make_tags(job, session).await)
    }

    /// Works on a `summary_vector` job.
    pub async fn embed(&self, job: &Job, session: SessionId) -> Outcome {
        self.outcome(job, self.make_vector(job, session).await)
    }

    /// Works on a `recent` job.
    pub async fn roll_recent(&self, job: &Job, chat: ChatId, key: ChatKey) -> Outcome {
        self.outcome(job, self.make_recent(job, chat, key).await)
    }

    /// Works on a `strand` job about the oldest part of a strand.
    pub async fn sum_up_strand(&self, job: &Job, conversation: Conversation, oldest: &[Seq]) -> Outcome {
        self.outcome(job, self.extend_strand(job, conversation, oldest).await)
    }

    /// Works on a `history` job.
    pub async fn fold_history(&self, job: &Job, chat: ChatId, key: ChatKey) -> Outcome {
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
    /// The extract stands in where the model has written nothing usable often enough: nobody who writes in a chat can keep
    /// it from being summarized.
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

    fn outcome(&self, job: &Job, done: Result<Outcome, StepError>) -> Outcome {
        match done {
            Ok(outcome) => outcome,
            Err(StepError::Store(error)) => Outcome::of_store(&error, job),
            Err(StepError::Later(pause, why)) => {
                tracing::info!(job.id = job.id.0, why, "job {} waits for the model", job.id);
                Outcome::WaitUntil(self.clock.now().plus(pause))
            }
            Err(error) => Outcome::Failed(format!("{job}: {error}")),
        }
    }

    /// The name of the model that writes summaries.
    fn summary_model(&self) -> String {
        self.model.gateway.model_name(Purpose::Summary).to_owned()
    }
}

/// Whether no further attempt is worth what it costs where the model writes nothing usable.
pub(super) fn is_given_up(job: &Job) -> bool {
    job.attempts + 1 >= WORTHWHILE
}

/// A code that nobody outside this process has seen when the members wrote.
pub(super) fn fence() -> String {
    let code = ulid::Ulid::from_parts(0, chime_runtime::resilience::random().into()).to_string();
    code.get(12..).unwrap_or(&code).to_owned()
}
