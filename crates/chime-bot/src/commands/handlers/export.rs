//! `/export`: sends a chat's data as a file in private. The chat's creator gets it at once, other admins after a day,
//! in which it can be cancelled.

use std::io::{self, Write};
use std::time::Duration;

use crate::archive::import::{ExportError, export};
use crate::commands::handlers::forget::unless_unknown;
use crate::commands::handlers::{CommandRequest, Commands, of_telegram};
use chime_answer::answering::format_own;
use chime_core::texts::{Texts, texts};
use chime_core::{ChatId, ChatKind, ForumTopicId, Job, JobKind, JobPayload, MessageAt, ReplyTarget, UserId};
use chime_jobs::{JobError, JobResult};
use chime_privacy::wording;
use chime_privacy::{Asker, ExportRequest, RequestDecision, decide_export};
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Language, chats, jobs};
use chime_telegram::TelegramError;

/// Maximum size of the file in bytes, since it is built in memory. For more data, the operator runs `chime export`.
const LARGEST_BYTES: usize = 20 * 1024 * 1024;

enum Exported {
    Sent,
    TooLarge,
    /// The member has never opened a private chat with the bot, so the bot may not write there.
    CannotWrite,
    NoSuchChat,
}

impl Exported {
    /// Returns the reply to the command, or `None` if the chat is unknown.
    fn reply_text(&self, texts: &Texts) -> Option<String> {
        match self {
            Self::Sent => Some(texts.export_sent.clone()),
            Self::TooLarge => Some(texts.export_large.clone()),
            Self::CannotWrite => Some(texts.export_write_first.clone()),
            Self::NoSuchChat => None,
        }
    }
}

impl Commands {
    pub(super) async fn export(&self, job: &Job, command: CommandRequest) -> JobResult {
        if command.is_in_the_name_of_the_chat() {
            return self.say(job, &command, &command.texts().export_anonymous).await;
        }
        let message = &command.message.message;
        let owns_the_bot = self.owns_the_bot(message.sender.id).await?;
        let role = self.role_of(message.chat, message.sender.id).await?;
        let request = ExportRequest::parse(&command.args);
        match (decide_export(request, Asker { owns_the_bot, role, is_author: false }), request) {
            (RequestDecision::Refused(_), _) => {
                let words = unless_unknown(role, &command.texts().export_who, command.chat.speaks());
                self.say(job, &command, words).await
            }
            (RequestDecision::After(wait), _) => self.announce_export(job, &command, wait).await,
            (RequestDecision::Now, ExportRequest::Stop) => self.call_off_exports(job, &command).await,
            (RequestDecision::Now, ExportRequest::Send) => self.export_now(job, &command).await,
        }
    }

    async fn export_now(&self, job: &Job, command: &CommandRequest) -> JobResult {
        let message = &command.message.message;
        let exported = self.send_export(message.chat, message.sender.id, job.attempts).await?;
        match exported.reply_text(command.texts()) {
            // In private no other reply than the file is needed.
            Some(_) if matches!(exported, Exported::Sent) && command.chat.chat.kind == ChatKind::Private => {
                self.finish(job).await
            }
            Some(text) => self.say(job, command, text).await,
            None => self.finish(job).await,
        }
    }

    /// Announces in the chat that an admin will get the file after `wait`. If it is announced already, its time does
    /// not change.
    async fn announce_export(&self, job: &Job, command: &CommandRequest, wait: Duration) -> JobResult {
        let message = &command.message.message;
        let at = MessageAt { chat: message.chat, message: message.id };
        let later = JobPayload::Export { at, forum_topic: message.forum_topic, asked_by: message.sender.id };
        let (now, wanted) = (self.base.clock.now(), later.clone());
        let pending = self.base.store.read(move |conn| jobs::find(conn, &wanted)).await?;
        let due_at = pending.map_or(now.plus(wait), |pending| pending.due_at);
        let text = wording::export_announced(due_at.since(now), command.texts());
        self.answer(job, command, &text, move |tx| jobs::add_unless_due(tx, &later, due_at)).await
    }

    async fn call_off_exports(&self, job: &Job, command: &CommandRequest) -> JobResult {
        let chat = command.message.message.chat;
        let lane = move |conn: &chime_store::Reader| jobs::is_any_due(conn, JobKind::Export, chat);
        let texts = command.texts();
        let text = match self.base.store.read(lane).await? {
            true => &texts.export_called_off,
            false => &texts.export_not_pending,
        };
        let end = move |tx: &chime_store::Writer<'_>| jobs::end_kind_of(tx, JobKind::Export, chat);
        self.answer(job, command, text, end).await
    }

    /// Handles an `export` job: sends the announced file, if its receiver is still an admin.
    pub async fn export_announced(
        &self,
        job: &Job,
        at: MessageAt,
        forum_topic: Option<ForumTopicId>,
        asked_by: UserId,
    ) -> JobResult {
        let row = self.base.store.read(move |conn| chats::find(conn, at.chat)).await?;
        let texts = texts(row.map_or(Language::DEFAULT, |row| row.speaks()).code());
        let text = if self.role_of(at.chat, asked_by).await?.is_admin() {
            match self.send_export(at.chat, asked_by, job.attempts).await?.reply_text(texts) {
                Some(text) => text,
                None => return self.finish(job).await,
            }
        } else {
            texts.export_no_longer_admin.clone()
        };
        let key = format!("{}:{}", job.payload.reply_key(), at.message);
        let to = ReplyTarget { chat: at.chat, forum_topic, reply_to: Some(at.message) };
        self.settle(job, NewReply::own(Purpose::Command, key, to, format_own(&text)), |_| Ok(())).await
    }

    async fn send_export(&self, chat: ChatId, to: UserId, attempts: u32) -> Result<Exported, JobError> {
        let mut file = Bounded::default();
        match export(&self.base.store, chat, &mut file).await {
            Ok(_) => {}
            Err(ExportError::Store(error)) => return Err(error.into()),
            Err(ExportError::Io(_)) => return Ok(Exported::TooLarge),
            Err(ExportError::NoSuchChat(_)) => return Ok(Exported::NoSuchChat),
        }
        // A private chat has the same id as its user.
        Ok(match self.base.telegram.send_file(ChatId(to.0), "chat.json", file.bytes).await {
            Ok(()) => Exported::Sent,
            Err(TelegramError::Gone { .. } | TelegramError::Refused { .. }) => Exported::CannotWrite,
            // The file may have arrived, so only one more attempt is made: getting it twice does little harm, getting
            // it every few seconds would.
            Err(error @ (TelegramError::Unknown(_) | TelegramError::Malformed { .. })) if attempts == 0 => {
                return Err(JobError::Failed(format!("sending an export: {error}")));
            }
            Err(TelegramError::Unknown(_) | TelegramError::Malformed { .. }) => Exported::Sent,
            Err(error) => return Err(of_telegram(&error, "sending an export")),
        })
    }
}

/// Writer into memory that fails if it gets more than [`LARGEST_BYTES`].
#[derive(Debug, Default)]
struct Bounded {
    bytes: Vec<u8>,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > LARGEST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
