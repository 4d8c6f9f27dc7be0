//! Calls the handler of each job.

use std::sync::Arc;

use crate::app::DailyBackups;
use chime_answer::answering::{Services, answer, answer_unasked, capture_missed, capture_new, deliver};
use chime_bot::commands::handlers::Commands;
use chime_bot::recap::worker::Recaps;
use chime_core::{Conversation, ForumTopicId, Job, JobPayload};
use chime_jobs::{JobOutcome, JobResult};
use chime_memory::jobs::Memory;
use chime_memory::recall::VectorIndexer;
use chime_privacy::worker::RetentionWorker;

pub struct JobHandlers {
    pub services: Services,
    pub commands: Commands,
    pub keeper: RetentionWorker,
    pub backups: DailyBackups,
    pub memory: Arc<Memory>,
    pub recaps: Recaps,
    pub vectors: VectorIndexer,
}

impl JobHandlers {
    pub async fn work(&self, job: Job) -> JobResult {
        match &job.payload {
            JobPayload::Answer { at, parsed } => answer(&self.services, &job, *at, parsed).await,
            JobPayload::Press { query, .. } => self.commands.press(&job, query).await,
            JobPayload::Command { at, name, parsed } => self.commands.run(&job, *at, *name, parsed).await,
            JobPayload::Thank { at } => self.commands.thank(&job, *at).await,
            JobPayload::Send { reply, made_by, .. } => deliver(&self.services, &job, reply, made_by.as_deref()).await,
            JobPayload::Backlog { chat } => self.commands.tell_backlog(&job, *chat).await,
            JobPayload::Refusal { at } => self.commands.tell_refusal(&job, *at).await,
            JobPayload::Leave { chat } => self.commands.leave(&job, *chat).await,
            JobPayload::Imported { chat, count } => self.commands.tell_imported(&job, *chat, *count).await,
            JobPayload::Announce { chat } => self.commands.announce(&job, *chat).await,
            JobPayload::Forget { request, .. } => self.commands.forget(&job, *request).await,
            JobPayload::Export { at, forum_topic, asked_by } => {
                self.commands.export_announced(&job, *at, *forum_topic, *asked_by).await
            }
            JobPayload::Scrub {} => self.keeper.scrub(&job).await,
            JobPayload::Capture { answer, .. } => capture_new(&self.services, &job, *answer).await,
            JobPayload::Concepts {} => capture_missed(&self.services).await,
            JobPayload::Summary { session, .. } => self.memory.summarize(&job, *session).await,
            JobPayload::Tags { session, .. } => self.memory.tag(&job, *session).await,
            JobPayload::SummaryVector { session, .. } => self.memory.embed(&job, *session).await,
            JobPayload::Recent { key, .. } => self.memory.roll_recent(&job, *key).await,
            JobPayload::History { chat, key } => self.memory.fold_history(&job, *chat, *key).await,
            JobPayload::Thread { key, forum_topic, messages, .. } => {
                let conversation = Conversation { chat: *key, forum_topic: *forum_topic };
                self.memory.summarize_thread(&job, conversation, messages).await
            }
            JobPayload::Sessions {} => self.memory.divide().await,
            JobPayload::MemoryUpkeep {} => self.memory.keep_up().await,
            JobPayload::Vectors {} => {
                let outcome = self.vectors.run().await?;
                // After a change of the embedding model, summaries need new vectors too, after the messages.
                if matches!(outcome, JobOutcome::UntilNextRun) {
                    self.memory.fill_in_vectors().await?;
                }
                Ok(outcome)
            }
            JobPayload::Topic { key, forum_topic, .. } => {
                let conversation = Conversation { chat: *key, forum_topic: *forum_topic };
                self.memory.find_topic(&job, conversation).await
            }
            JobPayload::TopicSummary { key, tag, .. } => self.memory.sum_up_topic(&job, *key, *tag).await,
            JobPayload::Recap { at, since, until, personal } => {
                self.recaps.run(&job, *at, *since, *until, *personal).await
            }
            JobPayload::ChatRecap { key, forum_topic, since, until, .. } => {
                let conversation = Conversation { chat: *key, forum_topic: forum_topic.map(ForumTopicId) };
                self.recaps.run_subscribed(&job, conversation, (*since, *until)).await
            }
            JobPayload::Ambient { at } => answer_unasked(&self.services, &job, *at).await,
            JobPayload::Reminders {} => self.commands.send_due_reminders().await,
            JobPayload::Transcribe { at } => self.services.voice.run(&job, *at).await,
            JobPayload::Recaps {} => self.recaps.start_due().await,
            JobPayload::Retention {} => {
                let outcome = self.keeper.run().await;
                // It waits while this clock and Telegram's are far apart: a backup would get a wrong date. Backups are
                // made last, since the database then holds no remains of expired text.
                if !matches!(outcome, Ok(JobOutcome::WaitUntil(_))) {
                    self.backups.run().await;
                }
                outcome
            }
        }
    }
}
