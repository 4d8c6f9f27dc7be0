//! Handles recap jobs: loads the messages, has the points written from them, and stores the reply for sending.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::recap::wording::{self, Recap};
use crate::recap::{A_SECOND, RecapTime};
use chime_access::Access;
use chime_access::admission::served;
use chime_answer::answering::{format_own, format_parts, keep_typing};
use chime_core::texts::{filled, texts};
use chime_core::trigger::is_for_bot;
use chime_core::{
    ChatId, ChatKey, Conversation, FormattedText, ForumTopicId, Job, JobPayload, MessageAt, MessageId, ReplyTarget,
    Role, Seq, StoredMessage, Timestamp, UserId, Zone,
};
use chime_jobs::{Base, JobError, JobOutcome, JobResult};
use chime_memory::jobs::{Memory, places};
use chime_store::chats::ChatRow;
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Reader, Writer, chat_settings, chats, jobs, messages, outbox, recaps, summaries};
use chime_telegram::{MemberStatus, TelegramError};

/// Maximum number of messages read for a recap. Of more, the newest are used.
const MOST_MESSAGES: usize = 3000;

/// Handlers of recap jobs.
pub struct Recaps {
    pub base: Base,
    pub memory: Arc<Memory>,
}

/// Messages to recap, with their chat.
struct RecapInput {
    chat: ChatRow,
    zone: Zone,
    said: Vec<StoredMessage>,
    is_cut: bool,
}

/// Reply that contains words of these messages: its text is deleted when one of them is forgotten.
struct Showing {
    reply: NewReply,
    chat: ChatKey,
    seqs: Vec<Seq>,
}

/// Period and receiver of a recap.
struct RecapRequest {
    conversation: Conversation,
    span: (Timestamp, Timestamp),
    /// `true` if the period ends before the request.
    has_end: bool,
    /// When the recap was asked for or was due.
    asked_at: Timestamp,
    /// Last message to include. It is needed besides the time, because several messages may have the last second of the
    /// span.
    last: MessageId,
    on_behalf_of: Option<UserId>,
    /// Private chat that the recap is sent to; `None` to send it to the chat of the conversation.
    private: Option<ChatId>,
}

impl Recaps {
    /// Handles a `recap` job: replies to the message `at` with a recap since `since`, or until `until`, excluded. If
    /// `personal`, only the author sees it where Telegram allows that; else it goes to their private chat, if there is one.
    pub async fn run(
        &self,
        job: &Job,
        at: MessageAt,
        since: Timestamp,
        until: Option<Timestamp>,
        personal: bool,
    ) -> JobResult {
        let (operators, now) = (self.base.zone(), self.base.clock.now());
        let found = self
            .base
            .store
            .read(move |conn| {
                let Some(asking) = asking(conn, at)? else { return Ok(None) };
                // A channel and an anonymous admin have no private chat: such a sender has the id of a chat.
                let private = ChatId(asking.message.sender.id.0);
                let is_open =
                    !asking.message.sender.is_chat && chats::find(conn, private)?.is_some_and(|row| row.is_present);
                let texts = chats::by_key(conn, asking.chat)?.map_or(texts("eng"), |row| texts(row.speaks().code()));
                let zone = chat_settings::zone(conn, asking.conversation(), operators)?;
                Ok(Some((asking, is_open.then_some(private), texts, zone)))
            })
            .await?;
        let Some((asking, private, texts, zone)) = found else { return self.write(job, None, None).await };
        let asker = asking.message.sender.id;
        let is_ephemeral = at.message.ephemeral_number().is_some();
        let is_person = !asking.message.sender.is_chat;
        let receiver = (is_ephemeral || personal && is_person && self.shows_alone(at.chat).await?).then_some(asker);
        let private = match private.filter(|private| personal && *private != at.chat && receiver.is_none()) {
            Some(private) if self.is_out_of_reach(private).await => None,
            open_or_none => open_or_none,
        };
        let order = RecapRequest {
            conversation: asking.conversation(),
            span: (since, until.map_or(asking.message.sent_at, |until| until.minus(A_SECOND))),
            has_end: until.is_some(),
            asked_at: asking.message.sent_at,
            // The message that asks for the recap is not part of it.
            last: if is_ephemeral || until.is_some() { MessageId(i64::MAX) } else { MessageId(at.message.0 - 1) },
            on_behalf_of: Some(asker),
            private,
        };
        let reply_here =
            ReplyTarget { chat: at.chat, forum_topic: asking.message.forum_topic, reply_to: Some(at.message) };
        let key = job.payload.reply_key();
        let made = tokio::select! {
            made = self.recap(&order) => made?,
            never = keep_typing(&self.base, at.chat, asking.message.forum_topic) => match never {},
        };
        let Some((recap, rests_on)) = made else {
            let period = wording::period(since, until, now, zone, texts);
            let parts = format_own(&filled(&texts.recap.nothing, &[("period", &period)]));
            let reply = NewReply { receiver, ..NewReply::own(Purpose::Command, key, reply_here, parts) };
            return self.write(job, None, Some(reply)).await;
        };
        let could_be_private = personal && private.is_none() && receiver.is_none() && at.chat.0 != asker.0;
        let parts = formatted(&recap, could_be_private.then(|| texts.recap.could_be_private.clone()));
        let to = private.map_or(reply_here, |chat| ReplyTarget { chat, forum_topic: None, reply_to: None });
        let made_by = Some(job.payload.clone());
        let reply = NewReply { made_by, receiver, ..NewReply::own(Purpose::Command, key.clone(), to, parts) };
        let pointer = private.map(|_| {
            NewReply::own(Purpose::Command, format!("{key}:here"), reply_here, format_own(&texts.recap.in_private))
        });
        self.write(job, Some(Showing { reply, chat: asking.chat, seqs: rests_on }), pointer).await
    }

    /// Handles the periodic `recaps` job: starts the subscribed recaps that are due.
    pub async fn start_due(&self) -> JobResult {
        let (now, zone) = (self.base.clock.now(), self.base.zone());
        self.base.store.write(Priority::Background, move |tx| start_due(tx, now, zone)).await?;
        self.base.wake.wake();
        Ok(JobOutcome::UntilNextRun)
    }

    /// Returns `true` if a message to a group can be shown to one member alone: the bot is an admin, and Telegram did
    /// not refuse that lately.
    async fn shows_alone(&self, chat: ChatId) -> chime_store::Result<bool> {
        let now = self.base.clock.now();
        // Only groups have negative ids.
        if chat.0 > 0 || self.base.store.read(move |conn| chats::refuses_ephemeral(conn, chat, now)).await? {
            return Ok(false);
        }
        Ok(self.base.telegram.member_status(chat, self.base.bot().id).await.is_ok_and(MemberStatus::is_admin))
    }

    /// Returns `true` if Telegram reports that the bot may not write to the private chat. If a user has blocked the
    /// bot, Telegram does not always report it.
    async fn is_out_of_reach(&self, private: ChatId) -> bool {
        matches!(self.base.telegram.typing(private, None).await, Err(TelegramError::Gone { .. }))
    }

    /// Handles a `chat_recap` job: sends a recap that a chat subscribed to.
    pub async fn run_subscribed(
        &self,
        job: &Job,
        conversation: Conversation,
        span: (Timestamp, Timestamp),
    ) -> JobResult {
        let access = self.base.config.access.clone();
        let chat = self
            .base
            .store
            .read(move |conn| {
                let Some(row) = chats::by_key(conn, conversation.chat)?.filter(|row| row.is_present) else {
                    return Ok(None);
                };
                let is_served = served(conn, &row.chat, UserId(row.chat.id.0), &access)? != Access::Refused;
                Ok(is_served.then_some(row.chat.id))
            })
            .await?;
        let Some(chat) = chat else { return self.write(job, None, None).await };
        let last = MessageId(i64::MAX);
        let order = RecapRequest {
            conversation,
            span,
            has_end: false,
            asked_at: span.1,
            last,
            on_behalf_of: None,
            private: None,
        };
        // If nothing happened in the period, the chat gets no message.
        let Some((recap, rests_on)) = self.recap(&order).await? else { return self.write(job, None, None).await };
        let to = ReplyTarget { chat, forum_topic: conversation.forum_topic, reply_to: None };
        let (made_by, parts) = (Some(job.payload.clone()), formatted(&recap, None));
        let reply = NewReply { made_by, ..NewReply::own(Purpose::Command, job.payload.reply_key(), to, parts) };
        self.write(job, Some(Showing { reply, chat: conversation.chat, seqs: rests_on }), None).await
    }

    /// Returns the recap and its source messages. Returns `None` if the messages have nothing to report.
    async fn recap(&self, order: &RecapRequest) -> Result<Option<(Recap, Vec<Seq>)>, JobError> {
        let (conversation, span, last) = (order.conversation, order.span, order.last);
        let operators = self.base.zone();
        let found =
            self.base.store.read(move |conn| load_input(conn, conversation, operators, span.0, (span.1, last))).await?;
        let Some(RecapInput { chat, zone, said, is_cut }) = found else { return Ok(None) };
        let (Some(first), people) = (said.first(), said.iter().map(|it| it.message.sender.id).collect::<BTreeSet<_>>())
        else {
            return Ok(None);
        };
        let since = if is_cut { first.message.sent_at } else { span.0 };
        let until = order.has_end.then(|| span.1.plus(A_SECOND));
        let messages = said.len();
        let (points, method) =
            self.memory.recap(conversation, order.on_behalf_of, said, span.1, order.asked_at).await?;
        let rests_on: BTreeSet<Seq> = points.iter().flat_map(|point| point.sources.iter().copied()).collect();
        let wanted = rests_on.clone();
        let (names, places, chat) = self
            .base
            .store
            .read(move |conn| Ok((summaries::member_names(conn, chat.key)?, places(conn, &chat, wanted)?, chat)))
            .await?;
        // A point needs a link to at least one message that can still be read.
        let points: Vec<_> =
            points.into_iter().filter(|point| point.sources.iter().any(|seq| places.contains_key(seq))).collect();
        if points.is_empty() {
            return Ok(None);
        }
        let title = order.private.and(chat.chat.title.clone());
        let (now, people) = (self.base.clock.now(), people.len());
        let texts = texts(chat.speaks().code());
        let recap =
            Recap { points, method, since, until, now, zone, messages, people, is_cut, names, places, title, texts };
        Ok(Some((recap, rests_on.into_iter().collect())))
    }

    /// Stores the recap and a second reply, if given, and finishes the job. If a source message was forgotten
    /// meanwhile, stores nothing and runs the job again.
    async fn write(&self, job: &Job, recap: Option<Showing>, also: Option<NewReply>) -> JobResult {
        let (payload, now) = (job.payload.clone(), self.base.clock.now());
        let is_written = self
            .base
            .store
            .write(Priority::Answering, move |tx| {
                if !jobs::is_due(tx, &payload)? {
                    return Ok(true);
                }
                if let Some(Showing { reply, chat, seqs }) = &recap {
                    if !messages::are_visible(tx, *chat, seqs.iter().copied())? {
                        return Ok(false);
                    }
                    outbox::note_uses(tx, &reply.key, *chat, seqs.iter().copied())?;
                    outbox::add(tx, reply, now)?;
                }
                if let Some(reply) = &also {
                    outbox::add(tx, reply, now)?;
                }
                jobs::finish(tx, payload.kind(), &payload.key())?;
                Ok(true)
            })
            .await?;
        self.base.wake.wake();
        Ok(if is_written { JobOutcome::Finished } else { JobOutcome::WaitUntil(now) })
    }
}

fn formatted(recap: &Recap, note: Option<String>) -> Vec<FormattedText> {
    let links: Vec<&str> = recap.places.values().filter_map(|place| place.link.as_deref()).collect();
    let markdown = std::iter::once(wording::shown(recap)).chain(note).collect::<Vec<_>>().join("\n\n");
    format_parts(&markdown, &links, &[])
}

/// Returns the message that asks for a recap. If its author opted out, its text is missing, but only the author is
/// needed. Returns `None` if the message was forgotten: its stub has no author.
fn asking(conn: &Reader, at: MessageAt) -> chime_store::Result<Option<StoredMessage>> {
    let found = messages::find_any(conn, at.chat, at.message)?;
    Ok(found.filter(|asking| asking.message.sender.id != UserId(0)))
}

/// Loads the messages of members in the span. Leaves out commands and questions to a bot.
fn load_input(
    conn: &Reader,
    conversation: Conversation,
    operators: Zone,
    from: Timestamp,
    until: (Timestamp, MessageId),
) -> chime_store::Result<Option<RecapInput>> {
    let Some(chat) = chats::by_key(conn, conversation.chat)? else { return Ok(None) };
    let zone = chat_settings::zone(conn, conversation, operators)?;
    let said = messages::within(conn, conversation, (from, MessageId(i64::MIN)), until)?;
    let is_talk = |stored: &StoredMessage| {
        let message = &stored.message;
        let is_said = message.role == Role::User && !message.sender.is_bot && !is_for_bot(message);
        is_said && !message.rendered().trim().is_empty()
    };
    let mut said: Vec<StoredMessage> = said.into_iter().filter(is_talk).collect();
    let more = said.len().saturating_sub(MOST_MESSAGES);
    said.drain(..more);
    Ok(Some(RecapInput { chat, zone, said, is_cut: more > 0 }))
}

/// Starts each subscribed recap that is due once, and records its end as the start of the next one.
fn start_due(tx: &Writer<'_>, now: Timestamp, operators: Zone) -> chime_store::Result<()> {
    for subscription in recaps::all(tx)? {
        let Some(row) = chats::by_key(tx, subscription.chat)? else { continue };
        let Some(time) = time_of(&subscription) else { continue };
        let recaps::Subscription { chat: key, forum_topic, since, .. } = subscription;
        let zone = chat_settings::zone(tx, Conversation { chat: key, forum_topic }, operators)?;
        let Some(until) = time.due(since, now, zone) else { continue };
        if row.is_present {
            let forum_topic = forum_topic.map(|ForumTopicId(id)| id);
            jobs::add(tx, &JobPayload::ChatRecap { chat: row.chat.id, key, forum_topic, since, until }, now)?;
        }
        recaps::advance(tx, key, until)?;
    }
    Ok(())
}

/// Returns the time at which a subscribed recap is sent. Returns `None` if the stored row is invalid.
pub fn time_of(subscription: &recaps::Subscription) -> Option<RecapTime> {
    let weekday = match subscription.weekday {
        Some(day) => Some(chrono::Weekday::try_from(day).ok()?),
        None => None,
    };
    Some(RecapTime { weekday, minute: subscription.minute })
}
