//! Fetches a recording, has it written down, and stores the words.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Mutex as Turn;

use crate::clock::Clock;
use crate::domain::{Job, MessageAt, Origin, StoredMessage, UserId};
use crate::gateway::AskError;
use crate::gateway::run::Hearing;
use crate::llm::Audio;
use crate::memory::policy::ASKED_LATELY;
use crate::scheduler::run::Outcome;
use crate::store::chats::ChatRow;
use crate::store::{self, Priority, Reader, Store, StoreError, Writer, chats, inbox, jobs, memory, messages, sessions};
use crate::telegram::{Recording, Telegram, TelegramError, recording};
use crate::voice::{MOST_BYTES, Standing, file_name, is_heard, is_written_down_unasked};

/// Listens to voice messages and video notes.
pub struct Listener {
    pub store: Store,
    pub telegram: Telegram,
    pub clock: Clock,
    pub hearing: Hearing,
    /// Whether the operator lets chats be remembered.
    pub remembers: bool,
    pub under_way: UnderWay,
}

/// The recordings that are being listened to: whoever wants the same one waits, and finds its words.
#[derive(Default)]
pub struct UnderWay(Mutex<HashMap<MessageAt, Arc<Turn<()>>>>);

/// A spoken message whose words nobody wrote down yet.
struct Unheard {
    message: StoredMessage,
    chat: ChatRow,
    recording: Recording,
}

/// Why a recording was not written down.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Telegram(#[from] TelegramError),
    #[error(transparent)]
    Model(#[from] AskError),
}

impl Listener {
    /// Works on a `transcribe` job.
    pub async fn run(&self, job: &Job, at: MessageAt) -> Outcome {
        let outcome = match self.is_wanted(at).await {
            Ok(true) => self.listen(at, None).await,
            Ok(false) => Ok(()),
            Err(error) => Err(Trouble::Store(error)),
        };
        match outcome {
            Ok(()) => self.finish(job).await,
            Err(trouble) => self.after(job, trouble).await,
        }
    }

    /// Writes down what is said in the message `at`, for a member who waits for an answer about it. What goes wrong costs the
    /// words and not the answer.
    pub async fn hear_for(&self, member: UserId, at: MessageAt) {
        if let Err(trouble) = self.listen(at, Some(member)).await {
            tracing::warn!(error = %trouble, "a voice message could not be written down");
        }
    }

    async fn is_wanted(&self, at: MessageAt) -> store::Result<bool> {
        let (now, remembers) = (self.clock.now(), self.remembers);
        self.store
            .read(move |conn| {
                let Some(row) = chats::find(conn, at.chat)? else { return Ok(false) };
                let kept = memory::standing(conn, row.key)?;
                Ok(is_written_down_unasked(Standing {
                    remembers: remembers && kept.own_setting != Some(false) && kept.is_present,
                    was_asked_lately: kept.asked_at.is_some_and(|at| now.since(at) < ASKED_LATELY),
                }))
            })
            .await
    }

    async fn listen(&self, at: MessageAt, on_behalf_of: Option<UserId>) -> Result<(), Trouble> {
        let turn = self.under_way.turn(at);
        let _turn = turn.lock().await;
        // Not before it is our turn: whoever had it before may have written the words down.
        let Some(unheard) = self.store.read(move |conn| find(conn, at)).await? else { return Ok(()) };
        let Unheard { message, chat, recording } = unheard;
        let Some(bytes) = self.fetch(&recording).await? else { return Ok(()) };
        let audio = Audio { file_name: file_name(&message.message), bytes, seconds: recording.seconds };
        let words = self.hearing.hear(message.conversation(), on_behalf_of, audio).await?;
        if !words.is_empty() {
            self.store.write(Priority::Answering, move |tx| write_down(tx, &chat, at, &words)).await?;
        }
        Ok(())
    }

    /// The recording; none where it cannot be had.
    async fn fetch(&self, recording: &Recording) -> Result<Option<Vec<u8>>, TelegramError> {
        match self.telegram.download(&recording.id, MOST_BYTES).await {
            Err(TelegramError::Gone { .. } | TelegramError::Refused { .. }) => Ok(None),
            fetched => fetched,
        }
    }

    async fn finish(&self, job: &Job) -> Outcome {
        let (kind, key) = (job.kind(), job.key());
        match self.store.write(Priority::Background, move |tx| jobs::finish(tx, kind, &key)).await {
            Ok(()) => Outcome::Finished,
            Err(error) => Outcome::of_store(&error, job),
        }
    }

    async fn after(&self, job: &Job, trouble: Trouble) -> Outcome {
        match &trouble {
            Trouble::Store(error) => Outcome::of_store(error, job),
            Trouble::Telegram(TelegramError::Throttled { retry_after }) => {
                Outcome::WaitUntil(self.clock.now().plus(*retry_after))
            }
            Trouble::Telegram(error) if !error.is_lasting() => Outcome::Hindered(format!("{job}: {error}")),
            // The day's tokens are for those who ask. Asked about later, it is written down then.
            Trouble::Model(AskError::OverBudget(_)) => self.finish(job).await,
            Trouble::Model(AskError::BreakerOpen { retry_after }) => {
                Outcome::WaitUntil(self.clock.now().plus(*retry_after))
            }
            Trouble::Telegram(_) | Trouble::Model(_) => Outcome::Failed(format!("{job}: {trouble}")),
        }
    }
}

impl UnderWay {
    /// The turn of whoever listens to the message `at`.
    fn turn(&self, at: MessageAt) -> Arc<Turn<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(turns.entry(at).or_default())
    }
}

/// The message `at`, where it is spoken, without words yet, and short enough.
fn find(conn: &Reader, at: MessageAt) -> store::Result<Option<Unheard>> {
    let Some(message) = messages::find(conn, at.chat, at.message)?.filter(|found| found.message.is_unheard()) else {
        return Ok(None);
    };
    let (Some(chat), Some(raw)) = (chats::find(conn, at.chat)?, inbox::of_message(conn, at.chat, at.message)?) else {
        return Ok(None);
    };
    // What came with a reply to it stands in the update of that reply.
    let recording = recording(&raw, message.message.origin == Origin::Snapshot).filter(is_heard);
    Ok(recording.map(|recording| Unheard { message, chat, recording }))
}

/// It is read from now on as if it had been written: sessions that hold it are told anew.
fn write_down(tx: &Writer<'_>, chat: &ChatRow, at: MessageAt, words: &str) -> store::Result<()> {
    match messages::write_down(tx, chat, at.message, words)? {
        Some(heard) => sessions::note(tx, heard.conversation(), heard.message.sent_at),
        None => Ok(()),
    }
}
