//! Dependencies of the memory jobs.

use std::sync::Arc;

use crate::jobs::error::{StepError, is_given_up};
use crate::jobs::model::SummaryModel;
use crate::jobs::new_summary::NewSummary;
use crate::recall::VectorSource;
use chime_access::gateway::ModelPurpose;
use chime_core::config::MemoryConfig;
use chime_core::prompts::Prompts;
use chime_core::{Job, Zone};
use chime_jobs::worker::Wake;
use chime_jobs::{JobOutcome, JobResult};
use chime_runtime::clock::Clock;
use chime_store::{Priority, Store, jobs};

/// Makes and updates the summaries of all chats.
pub struct Memory {
    pub store: Store,
    pub clock: Clock,
    pub wake: Wake,
    pub prompts: Arc<Prompts>,
    pub config: MemoryConfig,
    /// Time zone of chats that have set none.
    pub zone: Zone,
    pub model: SummaryModel,
    pub vectors: VectorSource,
    /// `true` if a chat must get the privacy notice before its messages may be sent to a server for summaries.
    pub announces: bool,
}

impl Memory {
    /// Returns the summary in `made`. If the output was unusable and this is the last attempt, returns an extract
    /// instead, so that a message that confuses the model cannot prevent the summary.
    pub(super) fn or_extract(
        &self,
        job: &Job,
        made: Result<NewSummary, StepError>,
        extract: impl FnOnce() -> NewSummary,
    ) -> Result<NewSummary, StepError> {
        match made {
            Err(StepError::Unusable(why)) if is_given_up(job) => {
                tracing::warn!(job.id = job.id.0, why, "job {}: an extract stands in for the model's summary", job.id);
                Ok(NewSummary { given_up_by: Some(self.summary_model()), ..extract() })
            }
            made => made,
        }
    }

    /// Returns the name of the model that writes summaries.
    pub(super) fn summary_model(&self) -> String {
        self.model.gateway.model_name(ModelPurpose::Summary).to_owned()
    }

    /// Ends a job that has nothing to store. Returns the outcome for the worker.
    pub(super) async fn finish(&self, job: &Job) -> JobResult {
        let payload = job.payload.clone();
        self.store.write(Priority::Background, move |tx| jobs::finish(tx, payload.kind(), &payload.key())).await?;
        Ok(JobOutcome::Finished)
    }
}
