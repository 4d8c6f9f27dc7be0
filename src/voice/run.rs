//! Fetches a recording, has it written down, and stores the words.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Mutex as Turn;

use crate::access::Access;
use crate::access::run::served;
use crate::clock::Clock;
use crate::config::AccessConfig;
use crate::domain::{Job, JobPayload, MessageAt, StoredMessage, UserId};
use crate::gateway::AskError;
use crate::gateway::run::Hearing;
use crate::llm::Audio;
use crate::memory::policy::ASKED_LATELY;
use crate::scheduler::run::{Outcome, Wake};
use crate::store::chats::ChatRow;
use crate::store::{self, Priority, Reader, Store, StoreError, Writer, chats, inbox, jobs, memory, messages, sessions};
use crate::telegram::{Recording, Telegram, TelegramError, recording};
use crate::voice::{MOST_BYTES, Standing, file_name, is_heard, is_written_down_unasked};

/// Listens to voice messages and video notes.
pub struct Listener {
    pub store: Store,
    pub telegram: Telegram,
    pub clock: Clock,
    pub wake: Wake,
    /// None: nobody listens.
    pub hearing: Option<Hearing>,
    /// Whether the operator lets chats be remembered.
    pub remembers: bool,
    /// Whether chats are told what is kept of them.
    pub announces: bool,
    pub access: AccessConfig,
    pub under_way: UnderWay,
}

/// The recordings that are being listened to: whoever wants the same one waits, and finds its words.
#[derive(Default)]
pub struct UnderWay {
    turns: Mutex<HashMap<MessageAt, Arc<Turn<()>>>>,
    /// Of which nobody understood a word: it would cost the same again.
    silent: Mutex<VecDeque<MessageAt>>,
}

/// Recordings that are remembered as silent.
const MOST_SILENT: usize = 1_000;

/// Whether a recording is to be written down unasked.
enum Wanted {
    Yes,
    No,
    /// Once the chat was told that voice messages are written down.
    Untold,
}

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
            Ok(Wanted::Yes) => self.listen(at, None).await,
            Ok(Wanted::No) => Ok(()),
            Ok(Wanted::Untold) => self.have_told(at).await.map_err(Trouble::Store),
            Err(error) => Err(Trouble::Store(error)),
        };
        match outcome {
            Ok(()) => self.finish(job).await,
            Err(trouble) => self.after(job, trouble).await,
        }
    }

    /// Whether anybody listens at all.
    pub fn listens(&self) -> bool {
        self.hearing.is_some()
    }

    /// Writes down what is said in the message `at`, for a member who waits for an answer about it. What goes wrong costs the
    /// words and not the answer.
    pub async fn hear_for(&self, member: UserId, at: MessageAt) {
        if let Err(trouble) = self.listen(at, Some(member)).await {
            tracing::warn!(error = %trouble, "a voice message could not be written down");
        }
    }

    async fn is_wanted(&self, at: MessageAt) -> store::Result<Wanted> {
        let (now, remembers, announces) = (self.clock.now(), self.remembers && self.listens(), self.announces);
        let access = self.access.clone();
        self.store
            .read(move |conn| {
                let (row, message) = (chats::find(conn, at.chat)?, messages::find(conn, at.chat, at.message)?);
                let (Some(row), Some(message)) = (row, message) else { return Ok(Wanted::No) };
                let is_served = served(conn, &row.chat, message.message.sender.id, &access)? == Access::Allowed;
                let kept = memory::standing(conn, row.key)?;
                let is_wanted = is_written_down_unasked(Standing {
                    remembers: remembers && is_served && kept.own_setting != Some(false) && kept.is_present,
                    was_asked_lately: kept.asked_at.is_some_and(|at| now.since(at) < ASKED_LATELY),
                });
                Ok(match is_wanted {
                    false => Wanted::No,
                    true if announces && !chats::is_told_of_voice(conn, row.key)? => Wanted::Untold,
                    true => Wanted::Yes,
                })
            })
            .await
    }

    async fn have_told(&self, at: MessageAt) -> store::Result<()> {
        let (job, now) = (JobPayload::Announce { chat: at.chat }, self.clock.now());
        self.store.write(Priority::Background, move |tx| jobs::add_unless_due(tx, &job, now)).await?;
        self.wake.wake();
        Ok(())
    }

    async fn listen(&self, at: MessageAt, on_behalf_of: Option<UserId>) -> Result<(), Trouble> {
        let Some(hearing) = &self.hearing else { return Ok(()) };
        let turn = self.under_way.turn(at);
        let _turn = turn.lock().await;
        if self.under_way.is_silent(at) {
            return Ok(());
        }
        // Not before it is our turn: whoever had it before may have written the words down.
        let Some(unheard) = self.store.read(move |conn| find(conn, at)).await? else { return Ok(()) };
        let Unheard { message, chat, recording } = unheard;
        let Some(bytes) = self.fetch(&recording).await? else { return Ok(()) };
        let audio = Audio { file_name: file_name(&message.message), bytes, seconds: recording.seconds };
        let words = match hearing.hear(message.conversation(), on_behalf_of, audio).await {
            // The same recording will be refused again.
            Err(AskError::TooLong) => String::new(),
            Err(AskError::Final(error)) if error.is_about_the_request() => String::new(),
            heard => heard?,
        };
        if words.is_empty() {
            self.under_way.note_silent(at);
            return Ok(());
        }
        self.store.write(Priority::Answering, move |tx| write_down(tx, &chat, at, &words)).await?;
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
            Trouble::Telegram(error @ TelegramError::NotSent(_)) => Outcome::Hindered(format!("{job}: {error}")),
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

/// The message `at`, where it is spoken, without words yet, and short enough.
fn find(conn: &Reader, at: MessageAt) -> store::Result<Option<Unheard>> {
    let Some(message) = messages::find(conn, at.chat, at.message)?.filter(|found| found.message.is_unheard()) else {
        return Ok(None);
    };
    let Some(chat) = chats::find(conn, at.chat)? else { return Ok(None) };
    // Its own update, or that of a reply to it.
    let raws = inbox::that_hold(conn, at.chat, at.message)?;
    let recording = raws.iter().find_map(|raw| recording(raw, at)).filter(is_heard);
    Ok(recording.map(|recording| Unheard { message, chat, recording }))
}

/// It is read from now on as if it had been written: sessions that hold it are told anew.
fn write_down(tx: &Writer<'_>, chat: &ChatRow, at: MessageAt, words: &str) -> store::Result<()> {
    match messages::write_down(tx, chat, at, words)? {
        Some(heard) => sessions::note(tx, heard.conversation(), heard.message.sent_at),
        None => Ok(()),
    }
}
