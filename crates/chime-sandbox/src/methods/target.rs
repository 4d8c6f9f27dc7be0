//! Checks the target of a message.

use std::time::Duration;

use serde::Deserialize;

use crate::ChatMemberStatus;
use crate::message::BOT;
use crate::params::{ApiError, RequestParams};
use crate::state::{SandboxChat, SandboxState};
use chime_core::{ChatId, ChatKind, ForumTopicId, MessageId, ReplyTarget, Timestamp, UserId};

/// The fields of `ReplyParameters` that a correct bot sends here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyParameters {
    message_id: Option<MessageId>,
    ephemeral_message_id: Option<i64>,
    allow_sending_without_reply: Option<bool>,
}

/// Returns the target of a message if it is valid.
pub(super) fn target(state: &mut SandboxState, params: &RequestParams) -> Result<ReplyTarget, ApiError> {
    let chat = chat_to_write(state, params)?;
    let asked = topic(state, chat, params)?;
    let reply = params.parsed::<ReplyParameters>("reply_parameters").inspect_err(|_| {
        state.note_unexpected("reply_parameters that do not parse");
    })?;
    let mut place = ReplyTarget { chat, forum_topic: asked, reply_to: None };
    if let Some(reply) = reply {
        attach(&mut place, state, reply)?;
    }
    if is_closed(&place, state) {
        return Err(ApiError::bad_request("TOPIC_CLOSED"));
    }
    Ok(place)
}

/// Makes `place` a reply if the message exists in the same topic. Otherwise returns an error, unless the message does
/// not exist and the bot allows sending without a reply.
fn attach(place: &mut ReplyTarget, state: &mut SandboxState, reply: ReplyParameters) -> Result<(), ApiError> {
    let id = reply.ephemeral_message_id.map(MessageId::ephemeral).or(reply.message_id);
    let id = id.ok_or_else(|| ApiError::bad_request("message identifier is not specified"))?;
    let target = state.message(place.chat, id);
    if target.is_some_and(|target| place.forum_topic.is_some() && target.forum_topic != place.forum_topic) {
        state.note_unexpected("a reply to another topic");
        return Err(ApiError::bad_request("message to be replied not found"));
    }
    match target {
        Some(target) => {
            place.forum_topic = place.forum_topic.or(target.forum_topic);
            place.reply_to = Some(id);
            Ok(())
        }
        None if reply.allow_sending_without_reply == Some(true) => Ok(()),
        None => Err(ApiError::bad_request("message to be replied not found")),
    }
}

fn is_closed(place: &ReplyTarget, state: &SandboxState) -> bool {
    let Some(chat) = state.chats.get(&place.chat) else { return false };
    let topic = place.forum_topic.and_then(|topic| chat.topics.get(&topic));
    topic.is_some_and(|topic| topic.closed) && !chat.status_of(BOT).is_admin()
}

/// Receiver of an ephemeral message.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EphemeralMessageParameters {
    receiver_user_id: UserId,
}

/// Returns the only member who is to see a message, if it is ephemeral. A bot that is not an admin may only answer an
/// ephemeral command, within 15 seconds.
pub(super) fn receiver(
    state: &SandboxState,
    place: &ReplyTarget,
    params: &RequestParams,
    now: Timestamp,
) -> Result<Option<UserId>, ApiError> {
    const ANSWERED_WITHIN: Duration = Duration::from_secs(15);
    let name = "ephemeral_message_parameters";
    let Some(to) = params.parsed::<EphemeralMessageParameters>(name)?.filter(|_| !state.is_older) else {
        return Ok(None);
    };
    let Some(chat) = state.chats.get(&place.chat) else { return Err(ApiError::bad_request("chat not found")) };
    let asked = place.reply_to.filter(|id| id.ephemeral_number().is_some()).and_then(|id| chat.messages.get(&id));
    let is_fresh =
        asked.is_some_and(|asked| asked.from == to.receiver_user_id && now.since(asked.date) <= ANSWERED_WITHIN);
    let is_group = matches!(chat.kind, ChatKind::Group | ChatKind::Supergroup);
    if !is_group || !chat.status_of(BOT).is_admin() && !is_fresh {
        return Err(ApiError::bad_request("not enough rights to send ephemeral messages to the chat"));
    }
    if !chat.status_of(to.receiver_user_id).is_present() {
        return Err(ApiError::bad_request("USER_NOT_PARTICIPANT"));
    }
    Ok(Some(to.receiver_user_id))
}

/// Returns the chat of `chat_id` if the bot is in it.
pub(super) fn chat_to_see(state: &SandboxState, params: &RequestParams) -> Result<ChatId, ApiError> {
    let chat = named(state, params)?;
    if let Some(to) = chat.migrated_to {
        return Err(ApiError::upgraded(to));
    }
    let noun = match chat.kind {
        ChatKind::Private => "private",
        ChatKind::Group => "group",
        ChatKind::Supergroup => "supergroup",
        ChatKind::Channel => "channel",
    };
    match (chat.status_of(BOT), chat.kind) {
        (ChatMemberStatus::Kicked | ChatMemberStatus::Left, ChatKind::Private) => {
            Err(ApiError::forbidden("bot was blocked by the user"))
        }
        (ChatMemberStatus::Kicked, _) => Err(ApiError::forbidden(format!("bot was kicked from the {noun} chat"))),
        (ChatMemberStatus::Left, _) => Err(ApiError::forbidden(format!("bot is not a member of the {noun} chat"))),
        (
            ChatMemberStatus::Creator
            | ChatMemberStatus::Administrator
            | ChatMemberStatus::Member
            | ChatMemberStatus::Restricted,
            _,
        ) => Ok(chat.id),
    }
}

/// Returns the chat of `chat_id` if the bot may write there.
pub(super) fn chat_to_write(state: &SandboxState, params: &RequestParams) -> Result<ChatId, ApiError> {
    let id = chat_to_see(state, params)?;
    let status = state.chats.get(&id).map(|chat| chat.status_of(BOT));
    match status {
        Some(ChatMemberStatus::Restricted) => {
            Err(ApiError::bad_request("not enough rights to send text messages to the chat"))
        }
        _ => Ok(id),
    }
}

/// Returns the forum topic of `message_thread_id`, or `None` if it is absent or the chat has no topics. An unknown
/// topic is an error.
pub(super) fn topic(
    state: &mut SandboxState,
    chat: ChatId,
    params: &RequestParams,
) -> Result<Option<ForumTopicId>, ApiError> {
    let Some(asked) = params.integer("message_thread_id").map(ForumTopicId) else { return Ok(None) };
    let (is_forum, is_known) = match state.chats.get(&chat) {
        Some(chat) => (chat.forum, chat.topics.contains_key(&asked)),
        None => (false, false),
    };
    match (is_forum, is_known) {
        (true, true) => Ok(Some(asked)),
        (true, false) => Err(ApiError::bad_request("message thread not found")),
        (false, _) => {
            // The real server ignores the parameter. A bot that sends it has mistaken a reply thread for a forum topic.
            state.note_unexpected("message_thread_id in a chat without topics");
            Ok(None)
        }
    }
}

pub(super) fn message_id(params: &RequestParams) -> Result<MessageId, ApiError> {
    let unnamed = || ApiError::bad_request("message identifier is not specified");
    params.integer("message_id").map(MessageId).ok_or_else(unnamed)
}

fn named<'a>(state: &'a SandboxState, params: &RequestParams) -> Result<&'a SandboxChat, ApiError> {
    let chat = params.integer("chat_id").and_then(|id| state.chats.get(&ChatId(id)));
    chat.ok_or_else(|| ApiError::bad_request("chat not found"))
}
