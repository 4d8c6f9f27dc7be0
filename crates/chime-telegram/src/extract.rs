//! Converts updates to events. Pure functions that never panic. Only the essential fields of a message are required.

mod content;
mod message;
mod rich;
mod service;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::dto::{self, Items, filled};
use crate::update::{RawUpdate, is_unused};
use chime_core::json_fault as fault;
use chime_core::repair;
use chime_core::{Chat, ChatId, ChatKind, Event, Membership, MessageId, Poll, PollState, Press, Reaction, UserId};

/// Reason why an update cannot be parsed. Contains no message text, so that it can be logged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("unknown kind of update")]
    UnknownKind,
    #[error("malformed `{kind}`: {fault}")]
    Malformed { kind: String, fault: String },
}

/// Parses an update for the bot with id `bot`. Known kinds that are irrelevant to the bot return no events.
///
/// # Errors
/// [`Unreadable`] for an unknown kind or malformed content.
pub fn extract(update: &RawUpdate, bot: UserId) -> Result<Vec<Event>, Unreadable> {
    let kind = update.kind.as_str();
    let malformed = |fault: String| Unreadable::Malformed { kind: kind.to_owned(), fault };
    let text = repair(&update.json);
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(&text).map_err(|error| malformed(fault(&error)))?;
    let content = || fields.get(kind).copied().ok_or_else(|| "content is missing".to_owned());
    let events = match kind {
        "message" | "channel_post" => content().and_then(read).and_then(|m| message::arrived(&m, bot)),
        "edited_message" | "edited_channel_post" => content().and_then(read).and_then(|m| message::edited(&m, bot)),
        "my_chat_member" => content().and_then(read).and_then(|m| membership(&m)),
        "message_reaction" => content().and_then(read).and_then(|r| reaction(&r)),
        "callback_query" => content().and_then(read).and_then(callback),
        "poll" => content().and_then(read).map(poll),
        // A guest message that cannot be parsed is dropped, because nothing from a chat without the bot may be stored.
        "guest_message" => {
            Ok(content().and_then(read).ok().and_then(|m| message::guest(&m, bot)).into_iter().collect())
        }
        known if is_unused(known) => Ok(vec![]),
        _ => return Err(Unreadable::UnknownKind),
    };
    events.map_err(malformed)
}

fn read<T: DeserializeOwned>(raw: &RawValue) -> Result<T, String> {
    serde_json::from_str(raw.get()).map_err(|error| fault(&error))
}

fn membership(update: &dto::ChatMemberUpdated) -> Result<Vec<Event>, String> {
    if is_direct_messages(update.chat.as_ref()) {
        return Ok(vec![]);
    }
    let member = update.new_chat_member.as_ref().and_then(|member| Some((member.status()?, member.may_send())));
    let (status, may_send) = member.ok_or_else(|| "no standing".to_owned())?;
    Ok(vec![Event::Membership(Membership {
        chat: chat(update.chat.as_ref())?,
        language: update.from.as_ref().and_then(|from| from.language_code.clone()),
        by: UserId(update.from.as_ref().and_then(|from| from.id).ok_or_else(|| "nobody did it".to_owned())?),
        is_member: status.is_member(),
        is_admin: status.is_admin(),
        may_send,
    })])
}

fn reaction(update: &dto::ReactionUpdated) -> Result<Vec<Event>, String> {
    let actor = update.actor_chat.as_ref().and_then(|chat| chat.id);
    let reactions = Items::of(update.new_reaction.as_ref()).iter();
    Ok(vec![Event::Reaction(Reaction {
        chat: chat(update.chat.as_ref())?.id,
        message: message_id(update.message_id)?,
        by: update.user.as_ref().and_then(|user| user.id).or(actor).map(UserId),
        emoji: reactions.filter_map(|reaction| filled(reaction.emoji.as_deref())).collect(),
    })])
}

/// Converts a button press. Buttons of inline messages and games lack a message or data and are ignored. Clients can
/// send any data, so it is empty if the message has no such button; of a message that is no longer accessible (its date
/// is 0), this is unknown.
fn callback(query: dto::CallbackQuery) -> Result<Vec<Event>, String> {
    let (Some(message), Some(data)) = (query.message, query.data) else {
        return Ok(vec![]);
    };
    let rows = message.reply_markup.as_ref().and_then(|markup| markup.inline_keyboard.as_ref());
    let mut buttons = rows.into_iter().flat_map(|Items(rows)| rows).flat_map(|Items(row)| row);
    let has_button = buttons.any(|button| button.callback_data.as_deref() == Some(&data));
    let data = if has_button || message.date == Some(0) { data } else { String::new() };
    Ok(vec![Event::Press(Press {
        query: query.id.ok_or_else(|| "no id".to_owned())?,
        chat: chat(message.chat.as_ref())?.id,
        message: message.id().ok_or_else(|| "no message id".to_owned())?,
        by: UserId(query.from.and_then(|from| from.id).ok_or_else(|| "nobody pressed it".to_owned())?),
        data,
    })])
}

fn poll(poll: dto::Poll) -> Vec<Event> {
    let (Some(id), Some(question), Some(Items(options))) = (poll.id, poll.question, poll.options) else {
        return vec![];
    };
    let option = |option: dto::PollOption| Some((option.text?, option.voter_count.unwrap_or(0)));
    let options = options.into_iter().filter_map(option).collect();
    vec![Event::Poll(PollState { id, poll: Poll { question, options } })]
}

fn chat(chat: Option<&dto::Chat>) -> Result<Chat, String> {
    let chat = chat.ok_or_else(|| "no chat".to_owned())?;
    let id = chat.id.ok_or_else(|| "no chat id".to_owned())?;
    let kind = chat.r#type.as_deref().and_then(ChatKind::parse).unwrap_or_else(|| kind_by_id(id));
    Ok(Chat { id: ChatId(id), kind, title: chat.display_name(), username: filled(chat.username.as_deref()) })
}

/// Returns `true` if a chat holds the direct messages of a channel. These are private conversations of many people with
/// its admins, so one person's messages must not enter the prompt for another.
fn is_direct_messages(chat: Option<&dto::Chat>) -> bool {
    chat.is_some_and(|chat| chat.is_direct_messages == Some(true))
}

/// Derives the kind of a chat from Telegram's ranges of ids, if its type is newer than this program.
fn kind_by_id(id: i64) -> ChatKind {
    const SUPERGROUPS: i64 = -1_000_000_000_000;
    match id {
        0.. => ChatKind::Private,
        i64::MIN..=SUPERGROUPS => ChatKind::Supergroup,
        _ => ChatKind::Group,
    }
}

impl dto::MessageReference {
    /// Returns the id of the message, or of the ephemeral message.
    pub fn id(&self) -> Option<MessageId> {
        id_of(self.message_id, self.ephemeral_message_id)
    }
}

/// Returns the id of a message. An ephemeral one has the ordinary id 0.
fn id_of(ordinary: Option<i64>, ephemeral: Option<i64>) -> Option<MessageId> {
    let ephemeral = ephemeral.filter(|number| *number > 0).map(MessageId::ephemeral);
    ephemeral.or_else(|| message_id(ordinary).ok())
}

fn message_id(id: Option<i64>) -> Result<MessageId, String> {
    id.filter(|id| *id > 0).map(MessageId).ok_or_else(|| "no message id".to_owned())
}
