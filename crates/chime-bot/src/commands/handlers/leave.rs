//! Sends an unauthorised chat one notice about how to get access, and then leaves the chat.

use std::time::Duration;

use crate::commands::handlers::{Commands, of_telegram};
use chime_access::admission::served;
use chime_access::{Access, is_unclaimed};
use chime_answer::answering::format_own;
use chime_core::config::PrivateChats;
use chime_core::texts::{Texts, filled, texts};
use chime_core::{ChatId, ChatKind, Job, ReplyTarget, UserId};
use chime_jobs::{JobOutcome, JobResult};
use chime_privacy::wording::no_longer_allowed;
use chime_store::chats::ChatRow;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Reader, Writer, admission, chats, messages, outbox};
use chime_telegram::TelegramError;

/// Interval for checking whether the notice was sent: the bot must not leave before that.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// State of the chat when the job runs.
enum LeaveState {
    /// Unknown, or authorised meanwhile: the bot does not leave.
    Welcome,
    NotTold {
        row: ChatRow,
        is_any_kept: bool,
        can_be_claimed: bool,
    },
    BeingTold,
    Told(ChatKind),
}

impl Commands {
    /// Handles a `leave` job: sends the notice, or leaves the chat if the notice was sent.
    pub async fn leave(&self, job: &Job, chat: ChatId) -> JobResult {
        let key = format!("leave:{chat}");
        match self.place(chat, key.clone()).await? {
            LeaveState::NotTold { row, is_any_kept, can_be_claimed } => {
                let texts = texts(row.speaks().code());
                let markdown = match (row.chat.kind, is_any_kept) {
                    (ChatKind::Private, _) => {
                        turned_away_in_private(chat, self.base.config.access.private_chats, can_be_claimed, texts)
                    }
                    (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, false) => turned_away(chat, texts),
                    (ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel, true) => {
                        no_longer_allowed(chat, texts)
                    }
                };
                let to = ReplyTarget { chat, forum_topic: None, reply_to: None };
                let parts = format_own(&markdown);
                self.write(NewReply::own(Purpose::Notice, key, to, parts)).await?;
                Ok(self.later())
            }
            LeaveState::BeingTold => Ok(self.later()),
            LeaveState::Welcome | LeaveState::Told(ChatKind::Private) => self.end(job, |_| Ok(())).await,
            LeaveState::Told(ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel) => self.go(job, chat).await,
        }
    }

    async fn place(&self, chat: ChatId, key: String) -> chime_store::Result<LeaveState> {
        let access = self.base.config.access.clone();
        let has_code = self.has_claim_code;
        self.base
            .store
            .read(move |conn: &Reader| {
                let Some(row) = chats::find(conn, chat)? else { return Ok(LeaveState::Welcome) };
                // A private chat has the same id as its user. In a group the sender does not matter.
                if served(conn, &row.chat, UserId(chat.0), &access)? == Access::Allowed {
                    return Ok(LeaveState::Welcome);
                }
                Ok(match outbox::unsent_parts(conn, &key)? {
                    None => {
                        let can_be_claimed = has_code && is_unclaimed(&access, admission::has_owner(conn)?);
                        let is_any_kept = messages::is_any_kept(conn, row.key)?;
                        LeaveState::NotTold { row, is_any_kept, can_be_claimed }
                    }
                    Some(0) => LeaveState::Told(row.chat.kind),
                    Some(_) => LeaveState::BeingTold,
                })
            })
            .await
    }

    async fn go(&self, job: &Job, chat: ChatId) -> JobResult {
        match self.base.telegram.leave_chat(chat).await {
            Ok(()) => tracing::info!(chat.id = chat.0, "left chat {chat}, which is not allowed"),
            // The bot is out of the chat already, or can never reach it again.
            Err(error @ (TelegramError::Gone { .. } | TelegramError::Refused { .. })) => {
                tracing::info!(chat.id = chat.0, %error, "chat {chat} cannot be left");
            }
            Err(error) => return Err(of_telegram(&error, "leaving")),
        }
        let now = self.base.clock.now();
        self.end(job, move |tx| match chats::find(tx, chat)? {
            Some(row) => chats::set_removed(tx, row.key, now),
            None => Ok(()),
        })
        .await
    }

    /// Finishes the job and runs `note` in the same transaction. Does neither if the bot was added to the chat again
    /// meanwhile: the job then runs again.
    async fn end<F>(&self, job: &Job, note: F) -> JobResult
    where
        F: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static,
    {
        let job = job.clone();
        let ended = move |tx: &Writer<'_>| {
            let is_done = chime_store::jobs::finish_unless_moved(tx, &job)?;
            if is_done {
                note(tx)?;
            }
            Ok(is_done)
        };
        match self.base.store.write(Priority::Background, ended).await? {
            true => Ok(JobOutcome::Finished),
            false => Ok(JobOutcome::WaitUntil(self.base.clock.now())),
        }
    }

    async fn write(&self, reply: NewReply) -> chime_store::Result<()> {
        let now = self.base.clock.now();
        self.base.store.write(Priority::Answering, move |tx| outbox::add(tx, &reply, now)).await?;
        self.base.wake.wake();
        Ok(())
    }

    fn later(&self) -> JobOutcome {
        JobOutcome::WaitUntil(self.base.clock.now().plus(LOOK_AGAIN))
    }
}

/// Returns the notice to an unauthorised group or channel.
fn turned_away(chat: ChatId, texts: &Texts) -> String {
    filled(&texts.access.turned_away, &[("chat", &chat.to_string())])
}

/// Returns the notice to a user who may not use the bot in private.
fn turned_away_in_private(
    chat: ChatId,
    private_chats: PrivateChats,
    can_be_claimed: bool,
    Texts { access, .. }: &Texts,
) -> String {
    let whom = match private_chats {
        PrivateChats::Owners => &access.only_owners,
        PrivateChats::Members | PrivateChats::All => &access.only_members,
    };
    let your_id = filled(&access.your_id, &[("chat", &chat.to_string())]);
    let claim = can_be_claimed.then_some(access.claim.as_str());
    [Some(whom.as_str()), Some(&your_id), claim].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}
