//! Sends the parts of a reply and stores the outcome of each.

use tracing::Instrument;

use crate::answering::log;
use crate::answering::own_message::{keep, own_message};
use crate::answering::services::Services;
use crate::answering::stream::take_back;
use crate::delivery::{FRESH_FOR, PartState, SendStep, after_mark, after_send, may_resume, pause};
use chime_core::texts::texts;
use chime_core::{
    BACKLOG_SETTLES, ChatId, Entity, EntityKind, Job, JobKind, JobPayload, MessageId, Migration, Outgoing, Timestamp,
    message_link, utf16_len,
};
use chime_jobs::{Base, JobError, JobOutcome, JobResult};
use chime_store::outbox::{Purpose, ReplyPart, State};
use chime_store::{Priority, Writer, backlog, chat_migration, chats, jobs, messages, outbox, reply_streams};
use chime_telegram::TelegramError;

/// Reaction on a trigger whose reply could not be delivered, or may not have been. Bots may use only a few emoji.
pub const UNDELIVERED_REACTION: &str = "😢";

/// Work on one `send` job.
struct Delivery<'a> {
    services: &'a Services,
    job: &'a Job,
}

/// Result of a step that did not fail: the next part is due, or the job has ended.
enum Next {
    Part,
    End,
}

/// Runs a `send` job: sends the reply with the key `reply`. If a source of the reply is forgotten before it is sent,
/// the job `made_by` makes the answer again.
pub async fn deliver(services: &Services, job: &Job, reply: &str, made_by: Option<&JobPayload>) -> JobResult {
    Delivery { services, job }.deliver(reply, made_by).instrument(log::reply_span()).await?;
    Ok(JobOutcome::Finished)
}

impl Delivery<'_> {
    async fn deliver(&self, reply: &str, made_by: Option<&JobPayload>) -> Result<Next, JobError> {
        let key = reply.to_owned();
        let (parts, stream) = self
            .services
            .base
            .store
            .read(move |conn| Ok((outbox::parts(conn, &key)?, reply_streams::find(conn, &key)?)))
            .await?;
        let is_untouched = parts.iter().all(|part| is_surely_unsent(part, self.job));
        let failed: Vec<ReplyPart> = parts.iter().filter(|part| part.state == State::Failed).cloned().collect();
        let open: Vec<ReplyPart> =
            parts.into_iter().filter(|part| matches!(part.state, State::Pending | State::Sending)).collect();
        let Some(last) = open.last() else {
            return self.leave_mark(failed.first()).await;
        };
        log::reply_to(last.outgoing.to, last.answer);
        if last.is_forgotten() {
            return self.start_over(made_by.filter(|_| is_untouched)).await;
        }
        let last = last.id;
        for part in open {
            let is_last = part.id == last;
            // The first part replaces the message in which its beginning was shown.
            let shown = stream.filter(|stream| part.part == 0 && stream.chat == part.outgoing.to.chat);
            match self.deliver_part(part, shown.and_then(|stream| stream.message), is_last).await? {
                Next::Part => {}
                other => return Ok(other),
            }
        }
        Ok(Next::End)
    }

    /// Makes the answer again, since one of its sources was forgotten before it was sent. If a part may already be in
    /// the chat, gives the reply up instead.
    async fn start_over(&self, made_by: Option<&JobPayload>) -> Result<Next, JobError> {
        let Some(made_by) = made_by.cloned() else {
            return self.give_up("what it rests on was forgotten").await;
        };
        let (key, now) = (self.job.key(), self.services.base.clock.now());
        self.record(move |tx| {
            outbox::remove(tx, &key)?;
            // The new job is added before this one ends, since the data for an answer is deleted when no job about it
            // is left.
            jobs::add_or_move(tx, &made_by, now)?;
            jobs::finish(tx, JobKind::Send, &key)
        })
        .await?;
        self.services.base.wake.wake();
        Ok(Next::End)
    }

    async fn give_up_without_right(&self, part: &ReplyPart, why: &str, now: Timestamp) -> Result<Next, JobError> {
        let chat = part.outgoing.to.chat;
        self.record(move |tx| chats::set_sending_refused(tx, chat, Some(now))).await?;
        self.give_up_visibly(part, why, None).await
    }

    /// Delivers one part. `shown` is the message that already shows the beginning of the part.
    async fn deliver_part(
        &self,
        mut part: ReplyPart,
        mut shown: Option<MessageId>,
        is_last: bool,
    ) -> Result<Next, JobError> {
        if let Some(next) = self.make_ready(&mut part, shown).await? {
            return Ok(next);
        }
        let mut moves = 0;
        loop {
            let watch = self.services.base.clock.stopwatch();
            let result = self.send(&mut part, &mut shown).await;
            if result.is_ok() {
                log::sent(watch.elapsed());
            }
            let now = self.services.base.clock.now();
            let state = PartState { moves, is_edit: shown.is_some(), ..state(&part, self.job, now) };
            return match after_send(result, state, now) {
                SendStep::Record(message) => self.mark_sent(part, message, is_last).await,
                SendStep::ShowToAll { chat_refuses, sent } => {
                    match (self.show_to_all(&mut part, chat_refuses, sent.is_some()).await?, sent) {
                        (false, _) => self.give_up("only the asker may see it").await,
                        (true, Some(message)) => self.mark_sent(part, message, is_last).await,
                        (true, None) => continue,
                    }
                }
                SendStep::SendWithoutReply if part.outgoing.to.reply_to.is_some() => {
                    part.outgoing.to.reply_to = None;
                    continue;
                }
                SendStep::SendWithoutReply => {
                    self.give_up("Telegram reports a missing reply target, but none was sent").await
                }
                SendStep::SendWithoutForumTopic => {
                    // The part cannot be a reply either, since a reply would appear in the topic again. That it answers
                    // a command that only one member sees must not be lost.
                    part.outgoing.to.forum_topic = None;
                    part.outgoing.to.reply_to = part.outgoing.to.reply_to.filter(|_| part.outgoing.is_unseen());
                    continue;
                }
                SendStep::SendInPrivate(why) => match self.readdress_to_asker(&mut part).await? {
                    true => continue,
                    false => self.give_up_visibly(&part, &why, None).await,
                },
                SendStep::SendPlain => {
                    part.outgoing.content.entities.clear();
                    part.outgoing.buttons.clear();
                    continue;
                }
                SendStep::Follow(to) => {
                    self.follow(&part, to).await?;
                    moves += 1;
                    part.outgoing.to.chat = to;
                    part.outgoing.to.forum_topic = None;
                    part.outgoing.to.reply_to = None;
                    continue;
                }
                SendStep::RetryAt { at, why, is_unknown } => {
                    let (id, error) = (part.id, why.clone());
                    let count = if is_unknown { outbox::count_unknown } else { outbox::mark_pending };
                    self.record(move |tx| count(tx, id, &error)).await?;
                    Err(JobError::RetryAt(at, why))
                }
                SendStep::HoldChatUntil(until) => {
                    self.services.state.traffic.hold(part.outgoing.to.chat, self.services.base.clock.now(), until);
                    self.mark_waiting(&part).await?;
                    Err(JobError::Later(until.since(self.services.base.clock.now())))
                }
                SendStep::GiveUpWithoutRight(why) => self.give_up_without_right(&part, &why, now).await,
                SendStep::GiveUpAndHold { until, why } => {
                    self.services.state.traffic.hold(part.outgoing.to.chat, now, until);
                    self.give_up_visibly(&part, &why, None).await
                }
                SendStep::GiveUp(why) => self.give_up(&why).await,
                SendStep::GiveUpVisibly(why) => self.give_up_visibly(&part, &why, None).await,
                SendStep::GiveUpUnknown(why) => self.give_up_visibly(&part, &why, Some(part.id)).await,
            };
        }
    }

    /// Marks the part as being sent, or returns the step to take instead.
    async fn make_ready(&self, part: &mut ReplyPart, shown: Option<MessageId>) -> Result<Option<Next>, JobError> {
        let (id, now) = (part.id, self.services.base.clock.now());
        if part.state == State::Sending && self.job.attempts > 0 {
            // An earlier attempt began to send the part, but stored no result.
            self.record(move |tx| outbox::count_unknown(tx, id, "an attempt broke off")).await?;
            part.unknown_sends += 1;
            part.state = State::Pending;
        }
        // An edit (`shown`) can be repeated safely.
        if shown.is_none() && !may_resume(part.unknown_sends, now.since(awaited_since(part, now))) {
            // A fresh answer is not counted as unanswered: its interrupted send has probably arrived.
            if now.since(part.created_at) > FRESH_FOR {
                self.count_as_old(part).await?;
            }
            return self.give_up_visibly(part, "an interrupted send that is no longer fresh", None).await.map(Some);
        }
        if let Some(until) = self.services.state.traffic.held_until(part.outgoing.to.chat, now) {
            self.mark_waiting(part).await?;
            return Err(JobError::Later(until.since(now)));
        }
        if part.unknown_sends > 0
            && shown.is_none()
            && let Err(error) = self.services.base.telegram.get_me().await
        {
            // Only one repeat is allowed, so it waits until Telegram can be reached.
            return Err(JobError::RetryAt(now.plus(pause(self.job.attempts)), error.to_string()));
        }
        if part.state == State::Pending
            && !self.services.base.store.write(Priority::Answering, move |tx| begin(tx, id)).await?
        {
            return self.give_up("what it rests on was forgotten").await.map(Some);
        }
        Ok(None)
    }

    /// Addresses a part for one member so that everybody in the target chat sees it. Returns `false` if it has no target
    /// chat. If `chat_refuses`, records that the chat refuses ephemeral messages.
    async fn show_to_all(&self, part: &mut ReplyPart, chat_refuses: bool, is_sent: bool) -> chime_store::Result<bool> {
        let Some(receiver) = part.outgoing.receiver.take() else { return Ok(false) };
        let (id, was, now) = (part.id, part.outgoing.to, self.services.base.clock.now());
        let has_buttons = !part.outgoing.buttons.is_empty();
        let readdress = move |tx: &Writer<'_>| {
            if chat_refuses {
                chats::set_ephemeral_refused(tx, was.chat, Some(now))?;
            }
            let to = if is_sent { Some(was) } else { outbox::for_all_or_private(tx, was, receiver, has_buttons)? };
            to.map(|to| outbox::readdress(tx, id, to)).transpose()?;
            Ok(to)
        };
        let to = chime_jobs::worker::record(&self.services.base.store, &self.services.base.clock, readdress).await?;
        part.outgoing.to = to.unwrap_or(was);
        Ok(to.is_some())
    }

    /// Addresses a part to the private chat of the member whose message it replies to, with a link to that message.
    /// Returns `false` if the message is not stored or there is no private chat.
    async fn readdress_to_asker(&self, part: &mut ReplyPart) -> chime_store::Result<bool> {
        let (id, was, mut content) = (part.id, part.outgoing.to, part.outgoing.content.clone());
        let Some(request) = was.reply_to else { return Ok(false) };
        let find = move |tx: &Writer<'_>| {
            let (asked, row) = (messages::find(tx, was.chat, request)?, chats::find(tx, was.chat)?);
            let (Some(asked), Some(row)) = (asked, row) else { return Ok(None) };
            let to = outbox::for_all_or_private(tx, was, asked.message.sender.id, false)?;
            let Some(to) = to.filter(|to| to.chat != was.chat) else { return Ok(None) };
            if let Some(url) = message_link(&row.chat, &asked.message) {
                let words = &texts(row.speaks().code()).reminders.began;
                content.text.push_str("\n\n");
                let (offset, length) = (utf16_len(&content.text), utf16_len(words));
                content.text.push_str(words);
                content.entities.push(Entity { offset, length, kind: EntityKind::TextLink { url } });
            }
            outbox::readdress(tx, id, to)?;
            outbox::rewrite(tx, id, &content)?;
            Ok(Some((to, content)))
        };
        let found = chime_jobs::worker::record(&self.services.base.store, &self.services.base.clock, find).await?;
        let Some((to, content)) = found else { return Ok(false) };
        (part.outgoing.to, part.outgoing.content) = (to, content);
        Ok(true)
    }

    /// Sends a part, or edits the message `shown`. If that message was deleted or cannot be edited any more, `shown`
    /// becomes `None`, and the part is sent as a new message.
    async fn send(&self, part: &mut ReplyPart, shown: &mut Option<MessageId>) -> Result<MessageId, TelegramError> {
        let Outgoing { to, content, buttons, .. } = &part.outgoing;
        let telegram = &self.services.base.telegram;
        self.services.state.traffic.note_sent(to.chat, self.services.base.clock.now());
        if let Some(poll) = &part.outgoing.poll {
            let (message, id) = telegram.send_poll(*to, poll).await?;
            part.poll_id = Some(id);
            return Ok(message);
        }
        if let Some(message) = *shown {
            match telegram.edit(to.chat, message, content, buttons).await {
                Err(TelegramError::Refused { .. }) => {
                    telegram.delete(to.chat, message).await.ok();
                    *shown = None;
                }
                edited => return edited.map(|()| message),
            }
        }
        telegram.send(&part.outgoing).await.map(|sent| sent.id)
    }

    async fn mark_sent(&self, part: ReplyPart, message: MessageId, is_last: bool) -> Result<Next, JobError> {
        let now = self.services.base.clock.now();
        let own = own_message(self.services.base.bot(), &part, message, now);
        let key = self.job.key();
        self.record(move |tx| {
            outbox::mark_sent(tx, &part, message)?;
            if part.part == 0 {
                reply_streams::close(tx, &key)?;
            }
            // A message that only one member sees is not stored as a message of the group.
            if message.ephemeral_number().is_none() {
                keep(tx, own, &part)?;
            }
            if is_last { jobs::finish(tx, JobKind::Send, &key) } else { Ok(()) }
        })
        .await?;
        Ok(if is_last { Next::End } else { Next::Part })
    }

    /// Gives up a reply without any sign in the chat.
    async fn give_up(&self, why: &str) -> Result<Next, JobError> {
        self.mark_failed(why, None).await?;
        self.finish().await?;
        Ok(Next::End)
    }

    /// Gives up a reply in a chat that can be written to. The asker sees a reaction, which cannot appear twice.
    /// `unknown` is the part whose last send may have arrived.
    async fn give_up_visibly(&self, part: &ReplyPart, why: &str, unknown: Option<i64>) -> Result<Next, JobError> {
        self.mark_failed(why, unknown).await?;
        self.leave_mark(Some(part)).await
    }

    /// Sets the reaction for an undelivered reply on the message it answers, and ends the job. A failed reaction is
    /// retried later.
    async fn leave_mark(&self, failed: Option<&ReplyPart>) -> Result<Next, JobError> {
        let target = failed.and_then(|part| Some((part.outgoing.to.chat, part.outgoing.to.reply_to?, part.created_at)));
        if let Some((chat, message, created_at)) = target {
            let Services { base: Base { telegram, clock, .. }, state, .. } = self.services;
            let now = clock.now();
            let failure = match state.traffic.held_until(chat, now) {
                Some(until) => Some(TelegramError::Throttled { retry_after: until.since(now) }),
                None => telegram.react(chat, message, Some(UNDELIVERED_REACTION)).await.err(),
            };
            after_mark(failure, now.since(created_at), self.job.attempts, now)?;
        }
        self.finish().await?;
        Ok(Next::End)
    }

    /// Marks all open parts as failed, and removes the message that shows the beginning of the reply.
    async fn mark_failed(&self, why: &str, unknown: Option<i64>) -> chime_store::Result<()> {
        log::undeliverable(why);
        take_back(self.services, &self.job.key()).await?;
        let (key, error) = (self.job.key(), why.to_owned());
        self.record(move |tx| {
            if let Some(id) = unknown {
                outbox::count_unknown(tx, id, &error)?;
            }
            for open in outbox::parts(tx, &key)? {
                if matches!(open.state, State::Pending | State::Sending) {
                    outbox::mark_failed(tx, open.id, &error)?;
                }
            }
            Ok(())
        })
        .await
    }

    /// Adds the trigger to the count in the chat's notice about unanswered messages, since its author may never have
    /// seen the reply.
    async fn count_as_old(&self, part: &ReplyPart) -> chime_store::Result<()> {
        if matches!(part.purpose, Purpose::Notice | Purpose::Reminder) {
            return Ok(());
        }
        let (to, due_at) = (part.outgoing.to, self.services.base.clock.now().plus(BACKLOG_SETTLES));
        self.record(move |tx| backlog::count_one(tx, to.chat, to.forum_topic, due_at)).await?;
        self.services.base.wake.wake();
        Ok(())
    }

    async fn follow(&self, part: &ReplyPart, to: ChatId) -> chime_store::Result<()> {
        let from = part.outgoing.to.chat;
        self.record(move |tx| {
            chat_migration::migrate(tx, Migration { from, to })?;
            outbox::redirect(tx, from, to)
        })
        .await
    }

    /// Marks a waiting part as pending, so that a restart does not take it for an interrupted send.
    async fn mark_waiting(&self, part: &ReplyPart) -> chime_store::Result<()> {
        let id = part.id;
        self.record(move |tx| outbox::mark_pending(tx, id, "the chat is throttled")).await
    }

    async fn finish(&self) -> chime_store::Result<()> {
        let key = self.job.key();
        self.record(move |tx| jobs::finish(tx, JobKind::Send, &key)).await
    }

    async fn record<W>(&self, work: W) -> chime_store::Result<()>
    where
        W: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Clone + Send + 'static,
    {
        chime_jobs::worker::record(&self.services.base.store, &self.services.base.clock, work).await
    }
}

/// Marks a part as being sent. Returns `false` instead if one of its sources was forgotten after the part was read,
/// while earlier parts were sent.
fn begin(tx: &Writer<'_>, part: i64) -> chime_store::Result<bool> {
    if outbox::is_forgotten(tx, part)? {
        return Ok(false);
    }
    outbox::mark_sending(tx, part)?;
    Ok(true)
}

/// Returns `true` if a part was never given to Telegram. The first part is stored as `Sending` before its first
/// attempt.
fn is_surely_unsent(part: &ReplyPart, job: &Job) -> bool {
    let is_waiting = part.state == State::Pending || part.state == State::Sending && job.attempts == 0;
    is_waiting && part.unknown_sends == 0
}

/// Returns the time from which the age of a part counts. Reminders do not age, since the member was promised one.
fn awaited_since(part: &ReplyPart, now: Timestamp) -> Timestamp {
    if part.purpose == Purpose::Reminder { now } else { part.created_at }
}

fn state(part: &ReplyPart, job: &Job, now: Timestamp) -> PartState {
    let to = part.outgoing.to;
    PartState {
        created_at: awaited_since(part, now),
        unknown_sends: part.unknown_sends,
        attempts: job.attempts,
        moves: 0,
        is_edit: false,
        is_for_one: part.outgoing.receiver.is_some(),
        is_unseen: part.outgoing.is_unseen(),
        is_plain: part.outgoing.content.entities.is_empty() && part.outgoing.buttons.is_empty(),
        is_in_private_topic: to.chat.0 > 0 && to.forum_topic.is_some(),
        is_promised: part.purpose == Purpose::Reminder,
    }
}
