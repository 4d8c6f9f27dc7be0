//! Handles command jobs: looks up the chat and the messages that a command is about, and stores the reply for sending.

mod announce;
mod concepts;
mod consent;
mod console;
mod decisions;
mod export;
mod forget;
mod help;
mod leave;
mod memory;
mod note_file;
mod notes;
mod poll;
mod press;
mod recap;
mod refusal;
pub mod remind;
mod search;
mod settings;
mod topics;
mod usage;
mod why;

use std::sync::Arc;

use crate::commands::shown::Shown;
use chime_access::Access;
use chime_access::admission::served;
use chime_access::console_tokens::ConsoleTokens;
use chime_answer::answering::{format_own, format_parts};
use chime_answer::documents::DocumentReader;
use chime_core::chat_settings::{ChatSettings, OperatorDefaults};
use chime_core::config::AccessConfig;
use chime_core::texts::{Notices, Texts, notices, texts};
use chime_core::trigger;
use chime_core::{
    AddressedBy, Button, ChatId, ChatKind, CommandName, FormattedText, Job, JobPayload, MessageAt, ParsedTrigger,
    ReplyTarget, StoredMessage, clip, grouped,
};
use chime_jobs::{Base, JobError, JobOutcome, JobResult};
use chime_privacy::PrivacyFacts;
use chime_store::chats::ChatRow;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Language, Priority, Reader, Writer, backlog, chat_settings, chats, jobs, messages, outbox};
use chime_telegram::TelegramError;

/// Emoji with which the bot reacts to a message that only says thanks.
const THANKS_REACTION: &str = "👍";

/// Handlers of in-chat commands.
pub struct Commands {
    pub base: Base,
    pub privacy_facts: PrivacyFacts,
    pub defaults: OperatorDefaults,
    /// Reads the files that are saved as notes.
    pub documents: DocumentReader,
    /// The owners' page; `None` if it is switched off.
    pub console: Option<ConsoleLinks>,
    /// `true` if the bot has no owner yet and a claim code is valid, by which a member becomes the owner.
    pub has_claim_code: bool,
}

/// Makes the links by which owners log in to their page.
#[derive(Clone)]
pub struct ConsoleLinks {
    /// Address of the page without a slash at its end.
    pub url: String,
    pub tokens: Arc<ConsoleTokens>,
}

/// Command with its message and chat.
struct CommandRequest {
    message: StoredMessage,
    chat: ChatRow,
    settings: ChatSettings,
    args: String,
}

impl Commands {
    /// Handles a `command` job: executes the command `name` in the message `at`.
    pub async fn run(&self, job: &Job, at: MessageAt, name: CommandName, parsed: &ParsedTrigger) -> JobResult {
        let (access, parsed) = (self.base.config.access.clone(), parsed.clone());
        let found = self.base.store.read(move |conn| find(conn, at, name, &parsed, &access)).await?;
        let Some(request) = found else { return self.finish(job).await };
        macro_rules! call_handler {
            ($($command:ident = $name:literal, $handler:ident, $addressing:ident, $limits:ident;)+) => {
                match name {
                    $(CommandName::$command => self.$handler(job, request).await,)+
                }
            };
        }
        chime_core::commands!(call_handler)
    }

    /// Handles a `thank` job: reacts to the message `at`.
    pub async fn thank(&self, job: &Job, at: MessageAt) -> JobResult {
        // An error is only logged: the chat may forbid reactions, and nobody waits for this one.
        if let Err(error) = self.base.telegram.react(at.chat, at.message, Some(THANKS_REACTION)).await {
            tracing::info!(%error, "no reaction");
        }
        self.finish(job).await
    }

    /// Handles a `backlog` job: reports in one message how many of the chat's triggers were too old to be answered.
    /// Counting and storing the report are one transaction, so a trigger that arrives meanwhile is in the next report.
    pub async fn tell_backlog(&self, job: &Job, chat: ChatId) -> JobResult {
        let now = self.base.clock.now();
        self.finish_with(job, move |tx| {
            let Some(skipped) = backlog::find(tx, chat)? else { return Ok(()) };
            let count = usize::try_from(skipped.count).unwrap_or(usize::MAX);
            let to = ReplyTarget { chat, forum_topic: skipped.forum_topic, reply_to: None };
            let key = format!("backlog:{chat}:{}", now.millis());
            let sentence = notices_of(tx, chat)?.missed(count, &grouped(skipped.count));
            let parts = format_own(&sentence.unwrap_or_default());
            outbox::add(tx, &NewReply::own(Purpose::Notice, key, to, parts), now)?;
            backlog::clear(tx, chat)
        })
        .await
    }

    /// Returns the message that a command replies to, if it is stored.
    async fn parent_of(&self, request: &CommandRequest) -> chime_store::Result<Option<StoredMessage>> {
        let message = &request.message.message;
        let (chat, Some(parent)) = (message.chat, message.reply_to) else { return Ok(None) };
        self.base.store.read(move |conn| messages::find(conn, chat, parent)).await
    }

    /// Replies with text that contains words of members.
    async fn answer_showing(&self, job: &Job, request: &CommandRequest, shown: Shown) -> JobResult {
        // Text with members' names must not be formatted like text written by the bot.
        let reply = request.reply(job, format_parts(&shown.markdown, &shown.urls(), &[]));
        let (key, made_by) = (job.payload.reply_key(), Some(job.payload.clone()));
        let also = move |tx: &Writer<'_>| outbox::note_uses(tx, &key, shown.chat, shown.rests_on);
        self.settle(job, NewReply { made_by, buttons: shown.buttons, ..reply }, also).await
    }

    /// Replies to a command with text of the bot and finishes the job.
    async fn say(&self, job: &Job, request: &CommandRequest, markdown: impl AsRef<str>) -> JobResult {
        self.settle(job, request.reply(job, format_own(markdown.as_ref())), |_| Ok(())).await
    }

    /// Replies to a command with text of the bot that everybody sees, because the command changes something for
    /// everybody, and finishes the job. `also` makes the change in the same transaction.
    async fn answer<F>(&self, job: &Job, request: &CommandRequest, markdown: &str, also: F) -> JobResult
    where
        F: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static,
    {
        self.settle(job, reply_to(job, &request.message, format_own(markdown)), also).await
    }

    /// Stores a reply and finishes the job. `also` runs in the same transaction.
    async fn settle<F>(&self, job: &Job, reply: NewReply, also: F) -> JobResult
    where
        F: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static,
    {
        let now = self.base.clock.now();
        self.finish_with(job, move |tx| {
            also(tx)?;
            outbox::add(tx, &reply, now)
        })
        .await
    }

    /// Finishes the job and starts another one for the same message.
    async fn hand_on(&self, job: &Job, other: JobPayload) -> JobResult {
        let now = self.base.clock.now();
        self.finish_with(job, move |tx| jobs::add(tx, &other, now).map(drop)).await
    }

    async fn finish(&self, job: &Job) -> JobResult {
        self.finish_with(job, |_| Ok(())).await
    }

    /// Runs `work` and finishes the job, in one transaction.
    async fn finish_with<F>(&self, job: &Job, work: F) -> JobResult
    where
        F: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static,
    {
        let (kind, key) = (job.kind(), job.key());
        let work = move |tx: &Writer<'_>| {
            work(tx)?;
            jobs::finish(tx, kind, &key)
        };
        self.base.store.write(Priority::Answering, work).await?;
        self.base.wake.wake();
        Ok(JobOutcome::Finished)
    }
}

impl CommandRequest {
    /// Returns the bot's texts in the language of the chat.
    fn texts(&self) -> &'static Texts {
        texts(self.chat.speaks().code())
    }

    /// Returns a reply that only the asker sees, if the command is for them alone.
    fn reply(&self, job: &Job, parts: Vec<FormattedText>) -> NewReply {
        let message = &self.message.message;
        let is_ephemeral = message.id.ephemeral_number().is_some();
        let is_for_asker = match &job.payload {
            JobPayload::Command { name, .. } => name.is_for_asker() && self.chat.chat.kind != ChatKind::Private,
            _ => false,
        };
        let is_alone = is_ephemeral || is_for_asker && !message.sender.is_chat;
        let reply = reply_to(job, &self.message, parts);
        let to = ReplyTarget { reply_to: Some(message.id), ..reply.to };
        if is_alone { NewReply { to, receiver: Some(message.sender.id), ..reply } } else { reply }
    }
}

/// Returns the job that answers the request of a command as a question, if it was not typed as a command but asked in
/// plain words.
fn in_plain_words(job: &Job) -> Option<JobPayload> {
    let JobPayload::Command { at, parsed, .. } = &job.payload else { return None };
    (parsed.how != AddressedBy::Command).then(|| JobPayload::Answer { at: *at, parsed: parsed.clone() })
}

/// Returns a reply that everybody in the chat sees.
fn reply_to(job: &Job, trigger: &StoredMessage, parts: Vec<FormattedText>) -> NewReply {
    let message = &trigger.message;
    // The group does not see an ephemeral command.
    let reply_to = Some(message.id).filter(|id| id.ephemeral_number().is_none());
    let to = ReplyTarget { chat: message.chat, forum_topic: message.forum_topic, reply_to };
    NewReply::own(Purpose::Command, job.payload.reply_key(), to, parts)
}

/// Returns a row with one button, labelled with the title of a chat.
fn chat_button(chat: &ChatRow, data: String) -> Vec<Button> {
    const LABEL_CHARS: usize = 40;
    let title = chat.chat.title.as_deref().unwrap_or("?");
    vec![Button { label: clip(title, LABEL_CHARS).into_owned(), data }]
}

/// Converts an error of Telegram. `doing` names the request in the log; it must be safe to repeat.
fn of_telegram(error: &TelegramError, doing: &str) -> JobError {
    match error {
        TelegramError::Throttled { retry_after } => JobError::Later(*retry_after),
        error if error.is_lasting() => JobError::Failed(format!("{doing}: {error}")),
        error => JobError::Transient(format!("{doing}: {error}")),
    }
}

/// Returns the bot's short texts in the language of the chat.
fn notices_of(conn: &Reader, chat: ChatId) -> chime_store::Result<&'static Notices> {
    let language = chats::find(conn, chat)?.map_or(Language::DEFAULT, |row| row.speaks());
    Ok(notices(language.code()))
}

/// Returns the command in the message `at`, or `None` if it is not to be handled any more.
fn find(
    conn: &Reader,
    at: MessageAt,
    name: CommandName,
    parsed: &ParsedTrigger,
    access: &AccessConfig,
) -> chime_store::Result<Option<CommandRequest>> {
    let (message, row) = (chime_store::consent::for_job(conn, at.chat, at.message)?, chats::find(conn, at.chat)?);
    let (Some(message), Some(chat)) = (message, row) else { return Ok(None) };
    let settings = chat_settings::load(conn, message.conversation())?;
    let is_open_to_all = name.is_about_privacy() || name == CommandName::Claim;
    // Access was checked when the command arrived, but the operator may have withdrawn it since.
    if !is_open_to_all && served(conn, &chat.chat, message.message.sender.id, access)? == Access::Refused {
        return Ok(None);
    }
    let args = trigger::ask_of(&message.message, parsed);
    Ok(Some(CommandRequest { message, chat, settings, args }))
}
