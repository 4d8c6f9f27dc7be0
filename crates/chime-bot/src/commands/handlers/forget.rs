//! `/forget`: checks whether the sender may delete the requested data, and deletes it.

use std::time::Duration;

use crate::commands::handlers::{CommandRequest, Commands, of_telegram};
use chime_answer::answering::format_own;
use chime_core::texts::{Texts, notices, texts};
use chime_core::{
    ChatId, ChatKey, ChatKind, Job, JobKind, JobPayload, Message, MessagePlace, ReplyTarget, StoredMessage, Timestamp,
    UserId,
};
use chime_jobs::{JobError, JobResult};
use chime_privacy::wording::{self, Counts};
use chime_privacy::worker::prepare;
use chime_privacy::{Asker, ChatRole, ForgetRequest, ForgetTarget, RequestDecision, decide, repeats};
use chime_store::Language;
use chime_store::deletions::{self, Deletion, DeletionTarget, Progress};
use chime_store::family::Cause;
use chime_store::forget::{self, ForgetOptions, Replacement};
use chime_store::outbox::{NewReply, Purpose};
use chime_store::{Priority, Reader, Writer, chats, jobs, messages};
use chime_telegram::{MemberStatus, TelegramError};

/// Number of messages deleted per transaction: few enough not to delay answers.
const AT_ONCE: u32 = 16;

impl Commands {
    pub(super) async fn forget_on_request(&self, job: &Job, invocation: CommandRequest) -> JobResult {
        let message = &invocation.message.message;
        let Some(request) = ForgetRequest::parse(&invocation.args, message.reply_to.is_some()) else {
            return self.say(job, &invocation, &invocation.texts().forget_what).await;
        };
        if matches!(request, ForgetRequest::Me { .. }) && invocation.is_in_the_name_of_the_chat() {
            return self.say_anonymous(job, &invocation).await;
        }
        let Some((place, target)) = self.target(&invocation, &request).await? else {
            return self.say(job, &invocation, &invocation.texts().not_kept).await;
        };
        let is_author = target.as_ref().is_some_and(|target| target.message.sender.id == message.sender.id);
        let owns_the_bot = self.owns_the_bot(message.sender.id).await?;
        let role = match (&request, is_author) {
            (ForgetRequest::Me { .. }, _) | (_, true) => ChatRole::Member,
            _ => self.role_of(place, message.sender.id).await?,
        };
        match decide(&request, Asker { owns_the_bot, role, is_author }) {
            // Somebody who is not in the chat must not learn whether the message exists, so the reply is the same as
            // for an unknown message.
            RequestDecision::Refused(_) if place != message.chat => {
                self.say(job, &invocation, &invocation.texts().not_kept).await
            }
            RequestDecision::Refused(refusal) => {
                let words = wording::refused(refusal, invocation.texts());
                self.say(job, &invocation, unless_unknown(role, words, invocation.chat.speaks())).await
            }
            RequestDecision::After(wait) => self.announce_deletion(job, &invocation, wait).await,
            RequestDecision::Now if request == ForgetRequest::CancelAll => self.call_off(job, &invocation).await,
            RequestDecision::Now => match what(&invocation, &request, target.as_ref()) {
                Some(what) => self.start_forgetting(job, &invocation, what).await,
                None => self.say(job, &invocation, &invocation.texts().not_kept).await,
            },
        }
    }

    /// Returns the chat of a request, and the message that the request names, if any. Returns `None` if the named
    /// message does not exist.
    async fn target(
        &self,
        invocation: &CommandRequest,
        request: &ForgetRequest,
    ) -> chime_store::Result<Option<(ChatId, Option<StoredMessage>)>> {
        let here = invocation.message.message.chat;
        let target = match (request, invocation.message.message.reply_to) {
            (ForgetRequest::Me { .. } | ForgetRequest::All | ForgetRequest::CancelAll, _) => {
                return Ok(Some((here, None)));
            }
            (ForgetRequest::Message(ForgetTarget::RepliedTo), Some(parent)) => MessagePlace::Ids(here, parent),
            (ForgetRequest::Message(ForgetTarget::RepliedTo), None) => return Ok(None),
            (ForgetRequest::Message(ForgetTarget::Place(place)), _) => place.clone(),
        };
        let found = self.base.store.read(move |conn| find(conn, &target)).await?;
        Ok(found.map(|stored| (stored.message.chat, Some(stored))))
    }

    /// Asks Telegram for the role of a user in a chat.
    pub(super) async fn role_of(&self, chat: ChatId, user: UserId) -> Result<ChatRole, JobError> {
        Ok(match self.base.telegram.member_status(chat, user).await {
            Ok(MemberStatus::Owner) => ChatRole::Creator,
            Ok(MemberStatus::Admin) => ChatRole::Admin,
            Ok(MemberStatus::Member) => ChatRole::Member,
            Ok(MemberStatus::Outside) | Err(TelegramError::Gone { .. }) => ChatRole::Outside,
            Err(TelegramError::Refused { .. }) => ChatRole::Unknown,
            Err(error) => return Err(of_telegram(&error, "asking for a member's role")),
        })
    }

    /// Stores the request and enqueues the job that deletes the data. That job also sends the reply.
    async fn start_forgetting(&self, job: &Job, invocation: &CommandRequest, what: DeletionTarget) -> JobResult {
        let (request, now) = (self.request(invocation, what, false), self.base.clock.now());
        let (command, here) = ((invocation.message.chat, invocation.message.seq), invocation.message.message.chat);
        self.finish_with(job, move |tx| {
            if let DeletionTarget::Chat(chat) = what {
                call_off(tx, chat)?;
            }
            let id = deletions::add(tx, &request)?;
            jobs::add_or_move(tx, &JobPayload::Forget { request: id, chat: here }, now)?;
            // The command itself is deleted now, without being counted: members do not expect it among their messages.
            let options = ForgetOptions { cause: Cause::Forgotten, replacement: Replacement::Stub, repeats };
            forget::messages(tx, &[command], options).map(drop)
        })
        .await
    }

    async fn announce_deletion(&self, job: &Job, invocation: &CommandRequest, wait: Duration) -> JobResult {
        let (chat, here) = (invocation.chat.key, invocation.message.message.chat);
        let pending = self.base.store.read(move |conn| pending_for(conn, chat)).await?;
        let now = self.base.clock.now();
        let request = self.request(invocation, DeletionTarget::Chat(chat), true);
        let due_at = pending.map_or(now, |pending| pending.request.asked_at).plus(wait);
        let words = wording::announced(due_at.since(now), invocation.texts());
        self.answer(job, invocation, &words, move |tx| {
            if pending.is_none() {
                let id = deletions::add(tx, &request)?;
                jobs::add_or_move(tx, &JobPayload::Forget { request: id, chat: here }, due_at)?;
            }
            Ok(())
        })
        .await
    }

    async fn call_off(&self, job: &Job, invocation: &CommandRequest) -> JobResult {
        let chat = invocation.chat.key;
        let was_pending = self.base.store.read(move |conn| pending_for(conn, chat)).await?.is_some();
        self.answer(job, invocation, &wording::called_off(was_pending, invocation.texts()), move |tx| {
            call_off(tx, chat)
        })
        .await
    }

    /// Handles a `forget` job. `id` is the row number of the stored request.
    pub async fn forget(&self, job: &Job, id: i64) -> JobResult {
        let Some(deletion) = self.base.store.read(move |conn| deletions::find(conn, id)).await? else {
            return self.finish(job).await;
        };
        if deletion.request.was_announced {
            let place = deletion.request.to.map_or(ChatId(job.lane()), |to| to.chat);
            if !self.role_of(place, deletion.request.asked_by).await?.is_admin() {
                return self.tell(job, &deletion, self.texts_of(&deletion).await?.no_longer_admin.clone()).await;
            }
        }
        // Must happen before the deletion, which also deletes the age of the messages.
        let request = deletion.request;
        prepare(&self.base, self.base.store.read(move |conn| deletions::oldest(conn, &request)).await?).await?;
        while self.forget_some(&deletion).await? == Progress::More {}
        // Deleted text remains in unused parts of the database file. The scrub job overwrites it in the background.
        let now = self.base.clock.now();
        let scrub = move |tx: &Writer<'_>| jobs::add_or_move(tx, &JobPayload::Scrub {}, now);
        self.base.store.write(Priority::Background, scrub).await?;
        let done = self.base.store.read(move |conn| deletions::find(conn, id)).await?.unwrap_or(deletion);
        let counts = Counts { messages: done.forgotten.messages, answers: done.forgotten.answers };
        tracing::info!(
            messages = counts.messages,
            answers = counts.answers,
            "forgot {} messages and {} answers on request",
            counts.messages,
            counts.answers,
        );
        let texts = self.texts_of(&deletion).await?;
        self.tell(job, &deletion, wording::forgotten(counts, texts)).await
    }

    /// Returns the texts in the language of the chat that gets the reply, or in the default language if there is no
    /// reply.
    async fn texts_of(&self, deletion: &Deletion) -> chime_store::Result<&'static Texts> {
        let Some(to) = deletion.request.to else { return Ok(texts(Language::DEFAULT.code())) };
        let row = self.base.store.read(move |conn| chats::find(conn, to.chat)).await?;
        Ok(texts(row.map_or(Language::DEFAULT, |row| row.speaks()).code()))
    }

    async fn forget_some(&self, deletion: &Deletion) -> chime_store::Result<Progress> {
        let (deletion, now) = (*deletion, self.base.clock.now());
        self.base
            .store
            .write(Priority::Background, move |tx| {
                chime_store::scrub::want(tx, now)?;
                deletions::step(tx, &deletion, AT_ONCE, repeats)
            })
            .await
    }

    /// Replies with the result and deletes the request. A request without a reply target is deleted silently.
    async fn tell(&self, job: &Job, deletion: &Deletion, markdown: String) -> JobResult {
        let id = deletion.id;
        let Some(to) = deletion.request.to else {
            return self.finish_with(job, move |tx| deletions::remove(tx, id)).await;
        };
        let key = format!("forget:{id}:{}", deletion.request.asked_at.millis());
        let reply = NewReply::own(Purpose::Command, key, to, format_own(&markdown));
        self.settle(job, reply, move |tx| deletions::remove(tx, id)).await
    }

    fn request(
        &self,
        invocation: &CommandRequest,
        what: DeletionTarget,
        was_announced: bool,
    ) -> deletions::DeletionRequest {
        let message = &invocation.message.message;
        deletions::DeletionRequest {
            what,
            asked_at: self.base.clock.now(),
            until: asked_at(message),
            asked_by: message.sender.id,
            was_announced,
            to: Some(ReplyTarget { chat: message.chat, forum_topic: message.forum_topic, reply_to: Some(message.id) }),
        }
    }
}

/// Returns `usual`, the refusal of somebody who is no admin, or what to do about it if `role` is unknown.
pub(super) fn unless_unknown(role: ChatRole, usual: impl Into<String>, language: Language) -> String {
    if role == ChatRole::Unknown { notices(language.code()).admins_unknown.clone() } else { usual.into() }
}

/// Returns the data to delete. Returns `None` if the request is to stop a deletion, or names a message that does not
/// exist.
fn what(
    invocation: &CommandRequest,
    request: &ForgetRequest,
    target: Option<&StoredMessage>,
) -> Option<DeletionTarget> {
    match (request, target) {
        (ForgetRequest::Message(_), Some(target)) => {
            Some(DeletionTarget::Message { chat: target.chat, seq: target.seq })
        }
        (ForgetRequest::Me { lately }, _) => Some(DeletionTarget::Member {
            chat: (invocation.chat.chat.kind != ChatKind::Private).then_some(invocation.chat.key),
            user: invocation.message.message.sender.id,
            since: lately.map(|span| asked_at(&invocation.message.message).minus(span)),
        }),
        (ForgetRequest::All, _) => Some(DeletionTarget::Chat(invocation.chat.key)),
        (ForgetRequest::CancelAll, _) | (ForgetRequest::Message(_), None) => None,
    }
}

/// Returns the time of the command or of its edit. It is a time of Telegram's clock, like the times of messages.
fn asked_at(message: &Message) -> Timestamp {
    message.edited_at.unwrap_or(message.sent_at)
}

fn find(conn: &Reader, place: &MessagePlace) -> chime_store::Result<Option<StoredMessage>> {
    let Some((chat, message)) = chats::ids_of(conn, place)? else { return Ok(None) };
    messages::find_any(conn, chat, message)
}

fn pending_for(conn: &Reader, chat: ChatKey) -> chime_store::Result<Option<Deletion>> {
    match deletions::announced_for(conn, chat)?.first() {
        Some(id) => deletions::find(conn, *id),
        None => Ok(None),
    }
}

fn call_off(tx: &Writer<'_>, chat: ChatKey) -> chime_store::Result<()> {
    for id in deletions::announced_for(tx, chat)? {
        deletions::remove(tx, id)?;
        jobs::finish(tx, JobKind::Forget, &id.to_string())?;
    }
    Ok(())
}
