//! Downloads a recording, transcribes it, and stores the transcript.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex as Turn;

use crate::voice::{MOST_BYTES, file_name, is_short_enough, is_transcribed_unasked};
use chime_access::Access;
use chime_access::admission::served;
use chime_access::gateway::AskError;
use chime_access::gateway::ask::{Transcribed, Transcriber};
use chime_core::{Job, JobPayload, MessageAt, MessageFile, StoredMessage, UserId};
use chime_jobs::worker::record;
use chime_jobs::{Base, JobError, JobOutcome, JobResult};
use chime_llm::Audio;
use chime_store::chats::ChatRow;
use chime_store::{Priority, Reader, StoreError, Writer, announcements, chats, jobs, memory, messages, sessions};
use chime_telegram::TelegramError;

pub struct Voice {
    pub base: Base,
    /// Client of the transcription server; `None` if voice messages are not transcribed.
    pub transcriber: Option<Transcriber>,
    pub under_way: UnderWay,
}

/// Recordings that are being transcribed. A second caller for the same recording waits for the first, and then finds
/// its transcript.
#[derive(Default)]
pub struct UnderWay {
    turns: Mutex<HashMap<MessageAt, Arc<Turn<()>>>>,
    /// Recordings in which no speech was recognised. They are not sent again, since each attempt costs.
    silent: Mutex<VecDeque<MessageAt>>,
}

/// Maximum number of recordings in `silent`; the oldest are removed.
const MOST_SILENT: usize = 1_000;

/// Pause before a failed transcription is tried again while a member waits.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Decides if a recording is transcribed although no question is about it.
enum TranscriptionDecision {
    Yes,
    No,
    /// The chat must first get a notice that voice messages are transcribed.
    Untold,
}

struct Untranscribed {
    message: StoredMessage,
    chat: ChatRow,
    recording: MessageFile,
}

#[derive(Debug, thiserror::Error)]
enum TranscribeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Telegram(#[from] TelegramError),
    #[error(transparent)]
    Model(#[from] AskError),
}

impl Voice {
    /// Runs a `transcribe` job for the message `at`.
    pub async fn run(&self, job: &Job, at: MessageAt) -> JobResult {
        match self.is_wanted(at).await? {
            TranscriptionDecision::Yes => match self.transcribe(at, None).await {
                // If the daily tokens are used up, a recording that no question is about is not transcribed. A question
                // about it still transcribes it later.
                Ok(()) | Err(TranscribeError::Model(AskError::OverBudget(_))) => {}
                Err(error) => return Err(job_error(error)),
            },
            TranscriptionDecision::No => {}
            TranscriptionDecision::Untold => self.have_told(at).await?,
        }
        let (kind, key) = (job.kind(), job.key());
        self.base.store.write(Priority::Background, move |tx| jobs::finish(tx, kind, &key)).await?;
        Ok(JobOutcome::Finished)
    }

    pub fn transcribes(&self) -> bool {
        self.transcriber.is_some()
    }

    /// Transcribes the message `at` for an answer to `member`, with one retry. Returns `false` after an error, which is
    /// logged; the question is then answered without the transcript.
    pub async fn transcribe_for(&self, member: UserId, at: MessageAt) -> bool {
        let mut transcribed = self.transcribe(at, Some(member)).await;
        if matches!(transcribed, Err(TranscribeError::Model(AskError::RetryLater(_)))) {
            self.base.clock.sleep(RETRY_AFTER).await;
            transcribed = self.transcribe(at, Some(member)).await;
        }
        if let Err(trouble) = &transcribed {
            tracing::warn!(error = %trouble, "a voice message could not be transcribed");
        }
        transcribed.is_ok()
    }

    async fn is_wanted(&self, at: MessageAt) -> chime_store::Result<TranscriptionDecision> {
        let (now, config) = (self.base.clock.now(), Arc::clone(&self.base.config));
        let remembers = config.memory.is_on && self.transcribes();
        self.base
            .store
            .read(move |conn| {
                let (row, message) = (chats::find(conn, at.chat)?, messages::find(conn, at.chat, at.message)?);
                let (Some(row), Some(message)) = (row, message) else { return Ok(TranscriptionDecision::No) };
                let is_served = served(conn, &row.chat, message.message.sender.id, &config.access)? == Access::Allowed;
                let kept = memory::memory_state(conn, row.key)?;
                let is_remembered = remembers && is_served && !kept.is_off && kept.is_present;
                let is_wanted = is_transcribed_unasked(is_remembered, kept.asked_at, now);
                Ok(match is_wanted {
                    false => TranscriptionDecision::No,
                    true if config.privacy.announces && !announcements::is_told_of_voice(conn, row.key)? => {
                        TranscriptionDecision::Untold
                    }
                    true => TranscriptionDecision::Yes,
                })
            })
            .await
    }

    async fn have_told(&self, at: MessageAt) -> chime_store::Result<()> {
        let (job, now) = (JobPayload::Announce { chat: at.chat }, self.base.clock.now());
        self.base.store.write(Priority::Background, move |tx| jobs::add_unless_due(tx, &job, now)).await?;
        self.base.wake.wake();
        Ok(())
    }

    async fn transcribe(&self, at: MessageAt, on_behalf_of: Option<UserId>) -> Result<(), TranscribeError> {
        let Some(transcriber) = &self.transcriber else { return Ok(()) };
        let turn = self.under_way.turn(at);
        let _turn = turn.lock().await;
        if self.under_way.is_silent(at) {
            return Ok(());
        }
        // Read only after the lock is taken: its previous holder may have stored a transcript.
        let Some(found) = self.base.store.read(move |conn| find(conn, at)).await? else { return Ok(()) };
        let Untranscribed { message, chat, recording } = found;
        let Some(bytes) = self.fetch(&recording).await? else { return Ok(()) };
        let audio = Audio {
            file_name: file_name(&message.message, &recording),
            bytes,
            seconds: recording.seconds.unwrap_or(0),
        };
        let transcribed = match transcriber.transcribe(message.conversation(), on_behalf_of, audio).await {
            Err(error) if is_for_good(&error) => {
                self.under_way.note_silent(at);
                return if on_behalf_of.is_some() { Err(error.into()) } else { Ok(()) };
            }
            transcribed => transcribed?,
        };
        if transcribed.text.is_empty() {
            self.under_way.note_silent(at);
        }
        // The transcript has been paid for and must not be lost: `record` retries while the disk is full.
        record(&self.base.store, &self.base.clock, move |tx| write(tx, &chat, at, &transcribed)).await?;
        Ok(())
    }

    /// Downloads the recording; `None` if it is not available.
    async fn fetch(&self, recording: &MessageFile) -> Result<Option<Vec<u8>>, TelegramError> {
        match self.base.telegram.download(&recording.id, MOST_BYTES).await {
            Err(TelegramError::Gone { .. } | TelegramError::Refused { .. }) => Ok(None),
            fetched => fetched,
        }
    }
}

fn job_error(error: TranscribeError) -> JobError {
    match error {
        TranscribeError::Store(error) | TranscribeError::Model(AskError::Store(error)) => error.into(),
        TranscribeError::Telegram(TelegramError::Throttled { retry_after })
        | TranscribeError::Model(AskError::BreakerOpen { retry_after, .. }) => JobError::Later(retry_after),
        TranscribeError::Telegram(error @ TelegramError::NotSent(_)) => JobError::Transient(error.to_string()),
        TranscribeError::Telegram(_) | TranscribeError::Model(_) => JobError::Failed(error.to_string()),
    }
}

impl UnderWay {
    /// Returns the lock for transcribing the message `at`.
    fn turn(&self, at: MessageAt) -> Arc<Turn<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(at).or_default())
    }

    fn is_silent(&self, at: MessageAt) -> bool {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner).contains(&at)
    }

    fn note_silent(&self, at: MessageAt) {
        let mut silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        silent.push_back(at);
        if silent.len() > MOST_SILENT {
            silent.pop_front();
        }
    }
}

/// Returns the message `at` if it is a voice message without a transcript and short enough.
fn find(conn: &Reader, at: MessageAt) -> chime_store::Result<Option<Untranscribed>> {
    let Some(message) = messages::find(conn, at.chat, at.message)?.filter(|found| found.message.lacks_transcript())
    else {
        return Ok(None);
    };
    let Some(chat) = chats::find(conn, at.chat)? else { return Ok(None) };
    let recording = message.message.file.clone().filter(is_short_enough);
    Ok(recording.map(|recording| Untranscribed { message, chat, recording }))
}

/// Returns `true` if the same recording would be refused again.
fn is_for_good(error: &AskError) -> bool {
    match error {
        AskError::TooLong => true,
        AskError::Final(error) => error.is_about_the_request(),
        _ => false,
    }
}

/// Stores the transcript. The message now counts as text, so the sessions that contain it are summarised again.
fn write(tx: &Writer<'_>, chat: &ChatRow, at: MessageAt, transcribed: &Transcribed) -> chime_store::Result<()> {
    transcribed.write_bill(tx)?;
    if transcribed.text.is_empty() {
        return Ok(());
    }
    match messages::set_transcript(tx, chat, at, &transcribed.text)? {
        Some(message) => sessions::note(tx, message.conversation(), message.message.sent_at),
        None => Ok(()),
    }
}
