//! Handles command jobs: looks up the chat and the messages that a command is about, and stores the reply for sending.

mod announce;
mod consent;
mod export;
mod forget;
mod leave;
mod memory;
mod note_file;
mod notes;
mod recap;
mod refusal;
mod settings;
mod topics;

use crate::commands::notice::{Notice, for_command};
use chime_access::Access;
use chime_access::admission::served;
use chime_answer::answering::{format_own, format_parts};
use chime_answer::concepts;
use chime_answer::documents::DocumentReader;
use chime_answer::notices::{Notices, notices};
use chime_answer::why::WhyExtras;
use chime_answer::why::{self, UsedMessage};
use chime_core::config::{AccessConfig, MemoryConfig, Streaming};
use chime_core::texts::{Texts, texts};
use chime_core::trigger;
use chime_core::{
    AnswerRecord, BotIdentity, ChatId, ChatKind, CommandName, FormattedText, Job, LinkReading, MessageAt,
    ParsedTrigger, ReplyTarget, Role, Seq, StoredMessage, Timestamp, Zone, grouped, message_link,
};
use chime_jobs::JobOutcome;
use chime_jobs::worker::Wake;
use chime_privacy::PrivacyFacts;
use chime_runtime::clock::Clock;
use chime_store::chats::ChatRow;
use chime_store::concepts::ContextKey;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{
    Language, Priority, Reader, Store, Writer, answers, backlog, chats, follow_ups, jobs, messages, outbox,
};
use chime_telegram::{Telegram, TelegramError};

/// Emoji with which the bot reacts to a message that only says thanks.
const THANKS_REACTION: &str = "👍";

/// Handlers of in-chat commands.
pub struct Commands {
    pub store: Store,
    pub telegram: Telegram,
    pub clock: Clock,
    pub wake: Wake,
    pub bot: BotIdentity,
    pub access: AccessConfig,
    /// Time zone of chats that have set none.
    pub zone: Zone,
    pub privacy_facts: PrivacyFacts,
    pub memory: MemoryConfig,
    /// Default for showing answers while they are written; a chat may override it.
    pub streaming: Streaming,
    /// Reads the files that are saved as notes.
    pub documents: DocumentReader,
    /// The operator's setting for reading linked pages.
    pub links: LinkReading,
    /// `true` if a claim code is in force, with which a member becomes the owner of the bot.
    pub has_claim_code: bool,
}

/// Work that a command needs.
enum CommandStep {
    Say(Box<(StoredMessage, Notice)>),
    /// Runs the handler of this command, for example because the command changes data.
    Do(Box<CommandRequest>),
    Nothing,
}

/// Command with its message and chat.
struct CommandRequest {
    message: StoredMessage,
    chat: ChatRow,
    command: CommandName,
    args: String,
}

impl Commands {
    /// Handles a `command` job: executes the command `name` in the message `at`.
    pub async fn run(&self, job: &Job, at: MessageAt, name: CommandName, parsed: &ParsedTrigger) -> JobOutcome {
        match self.react(job, at, name, parsed.clone()).await {
            Ok(outcome) => outcome,
            Err(error) => JobOutcome::of_store(&error, job),
        }
    }

    async fn react(
        &self,
        job: &Job,
        at: MessageAt,
        name: CommandName,
        parsed: ParsedTrigger,
    ) -> chime_store::Result<JobOutcome> {
        let (bot, access, zone) = (self.bot.clone(), self.access.clone(), self.zone);
        match self.store.read(move |conn| find(conn, at, name, &parsed, &bot, &access, zone)).await? {
            CommandStep::Say(said) => {
                let (trigger, notice) = *said;
                self.answer_showing(job, &trigger, &notice).await?;
            }
            CommandStep::Do(order) => return self.handle(job, *order).await,
            CommandStep::Nothing => self.finish(job).await?,
        }
        Ok(JobOutcome::Finished)
    }

    /// Handles a `thank` job: reacts to the message `at`.
    pub async fn thank(&self, job: &Job, at: MessageAt) -> JobOutcome {
        // An error is only logged: the chat may forbid reactions, and nobody waits for this one.
        if let Err(error) = self.telegram.react(at.chat, at.message, Some(THANKS_REACTION)).await {
            tracing::info!(%error, "no reaction");
        }
        match self.finish(job).await {
            Ok(()) => JobOutcome::Finished,
            Err(error) => JobOutcome::of_store(&error, job),
        }
    }

    /// Handles a `backlog` job: reports in one message how many of the chat's triggers were too old to be answered.
    pub async fn tell_backlog(&self, job: &Job, chat: ChatId) -> JobOutcome {
        match self.tell_skipped(job, chat).await {
            Ok(()) => JobOutcome::Finished,
            Err(error) => JobOutcome::of_store(&error, job),
        }
    }

    /// Counts the triggers and stores the report in one transaction, so that a trigger that arrives meanwhile is
    /// counted in the next report.
    async fn tell_skipped(&self, job: &Job, chat: ChatId) -> chime_store::Result<()> {
        let (kind, job_key, now) = (job.kind(), job.key(), self.clock.now());
        self.store
            .write(Priority::Answering, move |tx| {
                if let Some(skipped) = backlog::find(tx, chat)? {
                    let count = usize::try_from(skipped.count).unwrap_or(usize::MAX);
                    let to = ReplyTarget { chat, thread: skipped.thread, reply_to: None };
                    let key = format!("backlog:{chat}:{}", now.millis());
                    let told = notices_of(tx, chat)?.missed(count, &grouped(skipped.count));
                    let parts = format(&Notice::Own(told.unwrap_or_default()));
                    outbox::add(tx, &NewReply::own(Purpose::Notice, key, to, parts), now)?;
                    backlog::clear(tx, chat)?;
                }
                jobs::finish(tx, kind, &job_key)
            })
            .await?;
        self.wake.wake();
        Ok(())
    }

    /// Replies with text that contains words of members. The reply's text is deleted when one of these messages is
    /// forgotten.
    async fn answer_showing(&self, job: &Job, trigger: &StoredMessage, notice: &Notice) -> chime_store::Result<()> {
        let key = job.payload.reply_key();
        let shown = match notice {
            Notice::Why { record, rests_on, .. } => Some((record.chat, rests_on.clone())),
            Notice::Concepts { chat, rests_on, .. }
            | Notice::Notes { chat, rests_on, .. }
            | Notice::Memory { chat, rests_on, .. } => Some((*chat, rests_on.clone())),
            Notice::Help { .. } | Notice::WhyWhat(_) | Notice::Own(_) => None,
        };
        let made_by = shown.as_ref().map(|_| job.payload.clone());
        let reply = NewReply { made_by, ..reply_to(job, trigger, notice) };
        self.settle(job, reply, move |tx| match shown {
            Some((chat, seqs)) => outbox::note_uses(tx, &key, chat, seqs),
            None => Ok(()),
        })
        .await
    }

    /// Stores a reply to a command and finishes the job. `also` runs in the same transaction.
    async fn answer<F>(&self, job: &Job, trigger: &StoredMessage, notice: &Notice, also: F) -> chime_store::Result<()>
    where
        F: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static,
    {
        self.settle(job, reply_to(job, trigger, notice), also).await
    }

    /// Stores a reply and finishes the job. `also` runs in the same transaction.
    async fn settle<F>(&self, job: &Job, reply: NewReply, also: F) -> chime_store::Result<()>
    where
        F: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static,
    {
        let (kind, job_key, now) = (job.kind(), job.key(), self.clock.now());
        self.store
            .write(Priority::Answering, move |tx| {
                also(tx)?;
                outbox::add(tx, &reply, now)?;
                jobs::finish(tx, kind, &job_key)
            })
            .await?;
        self.wake.wake();
        Ok(())
    }

    async fn finish(&self, job: &Job) -> chime_store::Result<()> {
        let (kind, key) = (job.kind(), job.key());
        self.store.write(Priority::Answering, move |tx| jobs::finish(tx, kind, &key)).await
    }
}

fn reply_to(job: &Job, trigger: &StoredMessage, notice: &Notice) -> NewReply {
    let message = &trigger.message;
    let to = ReplyTarget { chat: message.chat, thread: message.thread, reply_to: Some(message.id) };
    NewReply::own(Purpose::Command, job.payload.reply_key(), to, format(notice))
}

/// Converts an error of Telegram to a job outcome. `doing` names the request in the log; it must be safe to repeat.
fn of_telegram(error: &TelegramError, doing: &str, now: Timestamp) -> JobOutcome {
    match error {
        TelegramError::Throttled { retry_after } => JobOutcome::WaitUntil(now.plus(*retry_after)),
        error if error.is_lasting() => JobOutcome::Failed(format!("{doing}: {error}")),
        error => JobOutcome::Hindered(format!("{doing}: {error}")),
    }
}

fn format(notice: &Notice) -> Vec<FormattedText> {
    let markdown = notice.markdown().unwrap_or_default();
    match notice {
        // This text contains members' names, so it must not be formatted like text written by the bot.
        Notice::Why { used, .. } => {
            let urls: Vec<&str> = used.iter().filter_map(|message| message.link.as_deref()).collect();
            format_parts(&markdown, &urls, &[])
        }
        Notice::Concepts { .. } | Notice::Notes { .. } => format_parts(&markdown, &[], &[]),
        Notice::Memory { links, .. } => {
            let urls: Vec<&str> = links.iter().map(String::as_str).collect();
            format_parts(&markdown, &urls, &[])
        }
        Notice::Help { .. } | Notice::WhyWhat(_) | Notice::Own(_) => format_own(&markdown),
    }
}

/// Returns the bot's short texts in the language of the chat.
fn notices_of(conn: &Reader, chat: ChatId) -> chime_store::Result<&'static Notices> {
    let language = chats::find(conn, chat)?.map_or(Language::DEFAULT, |row| row.speaks());
    Ok(notices(language.code()))
}

fn find(
    conn: &Reader,
    at: MessageAt,
    command: CommandName,
    parsed: &ParsedTrigger,
    bot: &BotIdentity,
    access: &AccessConfig,
    zone: Zone,
) -> chime_store::Result<CommandStep> {
    let (message, row) = (chime_store::consent::for_job(conn, at.chat, at.message)?, chats::find(conn, at.chat)?);
    let (Some(message), Some(chat)) = (message, row) else { return Ok(CommandStep::Nothing) };
    let is_open_to_all = command.spec().is_about_privacy || command == CommandName::Claim;
    // Access was checked when the command arrived, but the operator may have withdrawn it since.
    if !is_open_to_all && served(conn, &chat.chat, message.message.sender.id, access)? == Access::Refused {
        return Ok(CommandStep::Nothing);
    }
    let (texts, is_private) = (texts(chat.speaks().code()), chat.chat.kind == ChatKind::Private);
    let explained = if command == CommandName::Why {
        explain(conn, &message, chat.zone(zone), texts)?
    } else if command == CommandName::Concepts {
        Some(concepts_of(conn, &message, bot, texts)?)
    } else {
        None
    };
    Ok(match explained.or_else(|| for_command(command, bot.username(), is_private, texts)) {
        Some(notice) => CommandStep::Say(Box::new((message, notice))),
        None => {
            let args = trigger::ask_of(&message.message, parsed);
            CommandStep::Do(Box::new(CommandRequest { message, chat, command, args }))
        }
    })
}

/// Explains the bot's answer that `message` replies to, or says that it was forgotten. Returns `None` if `message` does
/// not reply to an answer of the bot.
fn explain(
    conn: &Reader,
    message: &StoredMessage,
    zone: Zone,
    texts: &'static Texts,
) -> chime_store::Result<Option<Notice>> {
    let Some(target) = message.message.reply_to else { return Ok(None) };
    let answer = outbox::by_message(conn, message.message.chat, target)?.and_then(|part| part.answer);
    let record = answer.map_or(Ok(None), |answer| answers::find(conn, answer))?;
    let (Some(answer), Some(record)) = (answer, record) else {
        // A forgotten answer leaves a stub, a row without content.
        let left = messages::find_any(conn, message.message.chat, target)?;
        let was_ours = left.is_some_and(|left| left.message.role == Role::Assistant);
        let is_gone = was_ours && messages::is_stub(conn, message.message.chat, target)?;
        return Ok(is_gone.then(|| Notice::Own(texts.why_gone.clone())));
    };
    let used = used(conn, &record)?;
    let mut rests_on = answers::grounds(conn, answer)?;
    let concepts = labels_of(conn, &record)?;
    if !concepts.is_empty() {
        rests_on.extend(chime_store::concepts::grounds(conn, record.chat)?);
    }
    let extras = WhyExtras { follow_up: follow_ups::find(conn, answer)?.map(Box::new), concepts };
    let to = why::WhyReader { member: message.message.sender.id, zone, texts };
    Ok(Some(Notice::Why { record: Box::new(record), used, extras, to, rests_on }))
}

/// Returns the names of the concepts that an answer used. Concepts that the chat has deleted are left out.
fn labels_of(conn: &Reader, record: &AnswerRecord) -> chime_store::Result<Vec<String>> {
    let referenced = chime_store::concepts::referenced(conn, record.id)?;
    if referenced.is_empty() {
        return Ok(Vec::new());
    }
    let known = chime_store::concepts::of_chat(conn, record.chat)?;
    let labels = referenced.iter().filter_map(|id| known.iter().find(|concept| concept.id == *id));
    Ok(labels.map(|concept| concept.label.clone()).collect())
}

/// Returns the concepts of the chat. Those that apply to the current conversation come first.
fn concepts_of(
    conn: &Reader,
    message: &StoredMessage,
    bot: &BotIdentity,
    texts: &Texts,
) -> chime_store::Result<Notice> {
    let key = ContextKey { bot: bot.id, chat: message.chat, thread: message.message.thread };
    let context = chime_store::concepts::load(conn, key)?.unwrap_or_default();
    let known = chime_store::concepts::of_chat(conn, message.chat)?;
    let markdown = concepts::listing(&context, &known, &texts.concepts);
    let rests_on = chime_store::concepts::grounds(conn, message.chat)?;
    Ok(Notice::Concepts { markdown, chat: message.chat, rests_on })
}

fn used(conn: &Reader, record: &AnswerRecord) -> chime_store::Result<Vec<UsedMessage>> {
    let Some(row) = chats::by_key(conn, record.chat)? else { return Ok(Vec::new()) };
    // Source ids of summaries are `s` and the number of a message.
    let of_summaries = record.slots.iter().flat_map(|slot| &slot.sources).filter_map(|id| id.strip_prefix('s'));
    let mut seqs: Vec<Seq> = record.window.iter().map(|chosen| chosen.seq).collect();
    for seq in of_summaries.filter_map(|number| number.parse().ok().map(Seq)) {
        if !seqs.contains(&seq) {
            seqs.push(seq);
        }
    }
    let mut used = Vec::new();
    for seq in seqs {
        if let Some(stored) = messages::by_seq(conn, record.chat, seq)? {
            used.push(UsedMessage {
                seq: stored.seq,
                id: stored.message.id,
                role: stored.message.role,
                sent_at: stored.message.sent_at,
                reply_to: stored.message.reply_to,
                link: message_link(&row.chat, &stored.message),
                text: stored.message.rendered(),
                name: stored.message.sender.name.clone(),
            });
        }
    }
    Ok(used)
}
