//! Methods for existing messages: edit, delete, react, answer a button press.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::message::BOT;
use crate::message::BotAction;
use crate::methods::send::{buttons, text};
use crate::methods::target::{chat_to_see, chat_to_write, message_id};
use crate::params::{ApiError, MethodResult, RequestParams};
use crate::state::SandboxState;
use crate::wire;
use chime_core::{FormattedText, MessageId, Timestamp, UserId};

/// Every emoji that Bot API 10.1 allows as a reaction.
const REACTIONS: &str = "❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 \
                         🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 \
                         😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡";

pub(super) fn edit_message_text(state: &mut SandboxState, params: &RequestParams, now: Timestamp) -> MethodResult {
    if let Some(inline_message) = params.text("inline_message_id").map(str::to_owned) {
        let text = text(state, params)?.text;
        state.actions.push(BotAction::GuestAnswered { inline_message, text });
        return Ok(true.into());
    }
    let id = message_id(params)?;
    edit(state, params, id, now)
}

/// Edits an ephemeral message. It must be one that this member sees.
pub(super) fn edit_ephemeral_message_text(
    state: &mut SandboxState,
    params: &RequestParams,
    now: Timestamp,
) -> MethodResult {
    let chat = chat_to_write(state, params)?;
    let id = params.integer("ephemeral_message_id").map(MessageId::ephemeral);
    let receiver = params.integer("receiver_user_id").map(UserId);
    let found = id.filter(|id| state.message(chat, *id).is_some_and(|found| found.receiver == receiver));
    let id = found.ok_or_else(|| ApiError::bad_request("message to edit not found"))?;
    edit(state, params, id, now).map(|_| true.into())
}

fn edit(state: &mut SandboxState, params: &RequestParams, id: MessageId, now: Timestamp) -> MethodResult {
    let chat = chat_to_write(state, params)?;
    let FormattedText { text, entities } = text(state, params)?;
    let buttons = buttons(state, params)?;
    let found = state.chats.get_mut(&chat).and_then(|chat| chat.messages.get_mut(&id));
    let message = found.ok_or_else(|| ApiError::bad_request("message to edit not found"))?;
    if message.from != BOT || message.content.is_service() {
        return Err(ApiError::bad_request("message can't be edited"));
    }
    if (&message.text, &message.entities, &message.buttons) == (&text, &entities, &buttons) {
        return Err(ApiError::bad_request(
            "message is not modified: specified new message content and reply markup are exactly the same as a current \
             content and reply markup of the message",
        ));
    }
    (message.text, message.entities, message.buttons) = (text, entities, buttons);
    message.edited_at = Some(now);
    let edited = message.clone();
    let answer = state.chats.get(&chat).map(|chat| wire::message(state, chat, &edited)).unwrap_or_default();
    state.actions.push(BotAction::Edited(Box::new(edited)));
    Ok(answer)
}

pub(super) fn delete_message(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let chat = chat_to_see(state, params)?;
    let id = message_id(params)?;
    let Some(place) = state.chats.get_mut(&chat) else { return Err(ApiError::bad_request("chat not found")) };
    match place.messages.get(&id) {
        None => return Err(ApiError::bad_request("message to delete not found")),
        Some(message) if message.from != BOT && !place.status_of(BOT).is_admin() => {
            return Err(ApiError::bad_request("message can't be deleted"));
        }
        Some(_) => place.messages.remove(&id),
    };
    state.actions.push(BotAction::Deleted { chat, message: id });
    Ok(true.into())
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ReactionType {
    Emoji {
        emoji: String,
    },
    #[serde(other)]
    Other,
}

pub(super) fn set_message_reaction(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let chat = chat_to_see(state, params)?;
    let id = message_id(params)?;
    let asked = params.parsed::<Vec<ReactionType>>("reaction")?.unwrap_or_default();
    if asked.len() > 1 {
        return Err(ApiError::bad_request("REACTIONS_TOO_MANY"));
    }
    let emoji: Option<Vec<String>> = asked.into_iter().map(known_emoji).collect();
    let emoji = emoji.ok_or_else(|| ApiError::bad_request("REACTION_INVALID"))?;
    let found = state.chats.get_mut(&chat).and_then(|chat| chat.messages.get_mut(&id));
    let message = found.ok_or_else(|| ApiError::bad_request("message to react not found"))?;
    set(&mut message.reactions, emoji.clone());
    state.actions.push(BotAction::Reacted { chat, message: id, emoji });
    Ok(true.into())
}

pub(super) fn answer_callback_query(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let press = params.text("callback_query_id").unwrap_or_default().to_owned();
    let Some(open) = state.open_presses.iter().position(|waiting| *waiting == press) else {
        return Err(ApiError::bad_request("query is too old and response timeout expired or query ID is invalid"));
    };
    state.open_presses.remove(open);
    let text = params.text("text").map(str::to_owned);
    state.actions.push(BotAction::PressAnswered { press, text });
    Ok(true.into())
}

fn known_emoji(reaction: ReactionType) -> Option<String> {
    match reaction {
        ReactionType::Emoji { emoji } => REACTIONS.split_whitespace().any(|known| known == emoji).then_some(emoji),
        ReactionType::Other => None,
    }
}

fn set(reactions: &mut BTreeMap<UserId, Vec<String>>, emoji: Vec<String>) {
    if emoji.is_empty() {
        reactions.remove(&BOT);
    } else {
        reactions.insert(BOT, emoji);
    }
}
