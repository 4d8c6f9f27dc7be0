//! Handles a press on a button: the result is an answer or a short notice.

use crate::answering::ask::Answering;
use crate::notices::notices;
use crate::press::{Facts, Outcome as Pressed, Told, outcome};
use chime_access::admission::recent;
use chime_access::{Decision, admit};
use chime_core::trigger::{self, Languages, Rules};
use chime_core::{
    Alternative, AnswerRecord, BotIdentity, ChatKind, Job, JobKind, JobPayload, MessageAt, ParsedTrigger, Press,
    StoredMessage, Timestamp,
};
use chime_jobs::worker::Outcome;
use chime_store::chats::ChatRow;
use chime_store::{Priority, Reader, Writer, answers, chats, jobs, messages, outbox, presses, refusals, usage};
use chime_telegram::TelegramError;

/// Attempts after which a notice about a press is given up: Telegram soon forgets presses.
const NOTICE_ATTEMPTS: u32 = 3;

/// A press with the stored answer that it is about.
struct Found {
    press: Press,
    chat: ChatRow,
    answer: Option<AnswerRecord>,
    trigger: Option<StoredMessage>,
    /// `true` if a message of the other subject may still be read.
    is_kept: bool,
}

enum Written {
    Answering(Option<Job>),
    Telling(Told),
}

impl Answering {
    /// Works on a `press` job; `query` is Telegram's id of the press.
    pub async fn press(&self, job: &Job, query: &str) -> Outcome {
        match self.see_to(job, query).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome::of_store(&error, job),
        }
    }

    async fn see_to(&self, job: &Job, query: &str) -> chime_store::Result<Outcome> {
        let key = query.to_owned();
        let Some(found) = self.parts.store.read(move |conn| find(conn, &key)).await? else {
            self.close(job).await?;
            return Ok(Outcome::Finished);
        };
        let (query, code) = (found.press.query.clone(), found.chat.speaks().code());
        let is_member = self.is_member(&found).await;
        match self.write_press(job, found, is_member).await? {
            Written::Answering(another) => {
                self.parts.wake.offer(another);
                // The answer is the result; this only ends the progress mark on the button.
                if let Err(error) = self.parts.telegram.answer_callback(&query, None).await {
                    tracing::info!(%error, "a press was not confirmed");
                }
                Ok(Outcome::Finished)
            }
            Written::Telling(told) => self.tell(job, &query, &told.in_words(notices(code))).await,
        }
    }

    /// Returns `true` if the presser is a member of the chat. In a private chat they always are. If Telegram does not
    /// say, the press is allowed.
    async fn is_member(&self, found: &Found) -> bool {
        if found.chat.chat.kind == ChatKind::Private {
            return true;
        }
        match self.parts.telegram.get_chat_member(found.press.chat, found.press.by).await {
            Ok(status) => status.is_member(),
            Err(error) => {
                tracing::info!(%error, "whether a member pressed is not known");
                true
            }
        }
    }

    /// Decides, and starts the answer in the same transaction, so that a second press finds it.
    async fn write_press(&self, job: &Job, found: Found, is_member: bool) -> chime_store::Result<Written> {
        let (rate, gateway, now) = (self.parts.rate, self.parts.gateway.clone(), self.parts.clock.now());
        let key = job.key();
        let rules = (self.parts.bot.clone(), self.parts.languages);
        self.parts
            .store
            .write(Priority::Answering, move |tx| {
                // Read again: another press may have come first.
                let answer = match &found.answer {
                    Some(answer) => answers::find(tx, answer.id)?,
                    None => None,
                };
                let conversation = found.trigger.as_ref().map(StoredMessage::conversation);
                let by = found.press.by;
                let admission = match (rate, conversation) {
                    (Some(limit), Some(conversation)) => admit(now, &recent(tx, conversation, by, now, limit)?, limit),
                    (None, _) | (_, None) => Decision::Allow,
                };
                let allowance = gateway.allowance(usage::spent(tx, now, found.chat.key, by)?);
                let facts = Facts {
                    data: &found.press.data,
                    is_member,
                    answer: answer.as_ref(),
                    is_kept: found.is_kept,
                    admission,
                    allowance,
                    now,
                };
                match (outcome(&facts), answer, found.trigger) {
                    (Pressed::Answer, Some(answer), Some(trigger)) => {
                        if let Some(limit) = rate {
                            let counted = refusals::Counted {
                                conversation: trigger.conversation(),
                                chat: found.press.chat,
                                message: found.press.message,
                                user: by,
                            };
                            refusals::add_trigger(tx, counted, now, now.minus(limit.per))?;
                        }
                        let parsed = parse(tx, &trigger, found.chat.chat.kind, &rules)?;
                        let another = start(tx, (answer, &trigger), parsed, &found.press, now)?;
                        jobs::finish(tx, JobKind::Press, &key)?;
                        Ok(Written::Answering(another))
                    }
                    (Pressed::Answer, ..) => Ok(Written::Telling(Told::NoLongerKept)),
                    (Pressed::Tell(told), ..) => Ok(Written::Telling(told)),
                }
            })
            .await
    }

    async fn tell(&self, job: &Job, query: &str, words: &str) -> chime_store::Result<Outcome> {
        match self.parts.telegram.answer_callback(query, Some(words)).await {
            Ok(()) => {}
            Err(TelegramError::Throttled { retry_after }) => {
                return Ok(Outcome::WaitUntil(self.parts.clock.now().plus(retry_after)));
            }
            Err(error @ (TelegramError::NotSent(_) | TelegramError::Unknown(_) | TelegramError::Failed { .. }))
                if job.attempts < NOTICE_ATTEMPTS =>
            {
                return Ok(Outcome::Failed(format!("{job}: {error}")));
            }
            Err(error) => tracing::info!(%error, "whoever pressed a button was not told what came of it"),
        }
        self.close(job).await?;
        Ok(Outcome::Finished)
    }
}

fn find(conn: &Reader, query: &str) -> chime_store::Result<Option<Found>> {
    let Some(press) = presses::find(conn, query)? else { return Ok(None) };
    let Some(chat) = chats::find(conn, press.chat)? else { return Ok(None) };
    let part = outbox::by_message(conn, press.chat, press.message)?;
    let answer = match part.and_then(|part| part.answer) {
        Some(answer) => answers::find(conn, answer)?,
        None => None,
    };
    let trigger = match &answer {
        Some(answer) => readable_trigger(conn, answer)?,
        None => None,
    };
    let other = answer.iter().filter_map(|answer| answer.alternative.as_ref()).flat_map(|it| &it.other);
    let mut is_kept = false;
    for chosen in other {
        is_kept = is_kept || messages::by_seq(conn, chat.key, chosen.seq)?.is_some();
    }
    Ok(Some(Found { press, chat, is_kept: is_kept && trigger.is_some(), answer, trigger }))
}

fn readable_trigger(conn: &Reader, answer: &AnswerRecord) -> chime_store::Result<Option<StoredMessage>> {
    match messages::any_by_seq(conn, answer.chat, answer.trigger)? {
        Some(trigger) => messages::find(conn, trigger.message.chat, trigger.message.id),
        None => Ok(None),
    }
}

/// Stores who asked for the other subject, and adds the job that answers.
fn start(
    tx: &Writer<'_>,
    (answer, trigger): (AnswerRecord, &StoredMessage),
    parsed: ParsedTrigger,
    press: &Press,
    now: Timestamp,
) -> chime_store::Result<Option<Job>> {
    if let Some(alternative) = answer.alternative {
        answers::set_alternative(tx, answer.id, &Alternative { asked_by: Some(press.by), ..alternative })?;
    }
    let another = JobPayload::Another { at: MessageAt::of(trigger), parsed };
    jobs::add(tx, &another, now)?;
    jobs::find(tx, &another)
}

/// Parses the trigger again: the job that held the parsed form is done.
fn parse(
    conn: &Reader,
    trigger: &StoredMessage,
    kind: ChatKind,
    (bot, languages): &(BotIdentity, &Languages),
) -> chime_store::Result<ParsedTrigger> {
    let message = &trigger.message;
    let parent = match message.reply_to {
        Some(parent) => messages::find(conn, message.chat, parent)?.map(|stored| stored.message),
        None => None,
    };
    let rules = Rules { parent_is_answer: true, languages, said_before: None };
    let found = trigger::find(message, parent.as_ref(), bot, kind, &rules);
    Ok(found.map(|found| found.parsed()).unwrap_or_default())
}
