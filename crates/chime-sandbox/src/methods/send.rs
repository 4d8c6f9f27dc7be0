//! Methods that send messages, drafts and typing status.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::cleaning::cleaned;
use crate::entities::{check, trimmed};
use crate::message::BOT;
use crate::message::{BotAction, SandboxMessage};
use crate::methods::target::{chat_to_write, receiver, target, topic};
use crate::params::{ApiError, MethodResult, RequestParams};
use crate::state::SandboxState;
use crate::{Post, PostContent, wire};
use chime_core::{ChatKind, Entity, EntityKind, FormattedText, Timestamp, utf16_len};

/// Longest message in UTF-16 units.
const LONGEST_TEXT: usize = 4096;
/// Maximum number of entities per message: the real server drops the rest.
const MOST_ENTITIES: usize = 100;
/// Longest button data in bytes.
const LONGEST_BUTTON_DATA: usize = 64;

/// Start of the ids of guest queries that are open: tests choose them.
const GUEST_QUERY: &str = "guest-";

pub(super) fn send_message(state: &mut SandboxState, params: &RequestParams, now: Timestamp) -> MethodResult {
    let place = target(state, params)?;
    let FormattedText { text, entities } = text(state, params)?;
    let buttons = buttons(state, params)?;
    let receiver = receiver(state, &place, params, now)?;
    let post = Post {
        forum_topic: place.forum_topic,
        reply_to: place.reply_to,
        entities: Some(entities),
        ..Post::new(BOT, text, now)
    };
    sent(state, SandboxMessage { buttons, receiver, ..SandboxMessage::from_post(place.chat, post) })
}

pub(super) fn send_poll(state: &mut SandboxState, params: &RequestParams, now: Timestamp) -> MethodResult {
    let place = target(state, params)?;
    let question = params.text("question").unwrap_or_default().to_owned();
    let options = params.parsed::<Vec<PollOption>>("options")?.unwrap_or_default();
    let options: Vec<String> = options.into_iter().map(|option| option.text).collect();
    if !(1..=300).contains(&question.chars().count()) {
        return Err(ApiError::bad_request("poll question must be non-empty and at most 300 characters long"));
    }
    if !(1..=12).contains(&options.len()) {
        return Err(ApiError::bad_request("poll must have at least 1 and at most 12 options"));
    }
    if options.iter().any(|option| !(1..=100).contains(&option.chars().count())) {
        return Err(ApiError::bad_request("poll options length must not exceed 100"));
    }
    let content = PostContent::Poll { question, options };
    let post =
        Post { forum_topic: place.forum_topic, reply_to: place.reply_to, ..Post::new(BOT, "", now).with(content) };
    sent(state, SandboxMessage::from_post(place.chat, post))
}

#[derive(Deserialize)]
struct PollOption {
    text: String,
}

/// Stores a message of the bot and returns it as the result.
fn sent(state: &mut SandboxState, message: SandboxMessage) -> MethodResult {
    let chat = message.chat;
    let id = state.keep(message);
    let chat = state.chats.get(&chat);
    let (Some(chat), Some(id)) = (chat, id) else { return Err(ApiError::bad_request("chat not found")) };
    let Some(message) = chat.messages.get(&id) else { return Err(ApiError::bad_request("chat not found")) };
    let answer = wire::message(state, chat, message);
    let sent = BotAction::Sent(Box::new(message.clone()));
    state.actions.push(sent);
    Ok(answer)
}

/// Sends an answer to a guest query, which can be answered once.
pub(super) fn answer_guest_query(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let query = params.text("guest_query_id").unwrap_or_default().to_owned();
    if !query.starts_with(GUEST_QUERY) || state.guest_queries.contains(&query) {
        return Err(ApiError::bad_request("query is too old and response timeout expired or query ID is invalid"));
    }
    let result = params.parsed::<Value>("result")?.unwrap_or_default();
    let text = result.pointer("/input_message_content/message_text").and_then(Value::as_str).unwrap_or_default();
    let inline_message = state.guest_queries.len().to_string();
    state.actions.push(BotAction::GuestAnswered { inline_message: inline_message.clone(), text: text.to_owned() });
    state.guest_queries.push(query);
    Ok(json!({"inline_message_id": inline_message}))
}

pub(super) fn send_document(state: &mut SandboxState, params: &RequestParams, now: Timestamp) -> MethodResult {
    let chat = chat_to_write(state, params)?;
    let Some((file_name, text)) = params.file("document") else {
        return Err(ApiError::bad_request("there is no document in the request"));
    };
    let (file_name, text) = (file_name.to_owned(), text.to_owned());
    let content = PostContent::Document { file_name: file_name.clone() };
    let post = Post::new(BOT, params.text("caption").unwrap_or_default(), now).with(content);
    let answer = sent(state, SandboxMessage::from_post(chat, post))?;
    state.actions.push(BotAction::Uploaded { chat, file_name, text });
    Ok(answer)
}

/// Shows a draft, which is not a message and disappears by itself.
pub(super) fn send_message_draft(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let chat = chat_to_write(state, params)?;
    if state.chats.get(&chat).is_some_and(|chat| chat.kind != ChatKind::Private) {
        return Err(ApiError::bad_request("TEXTDRAFT_PEER_INVALID"));
    }
    if params.integer("draft_id").unwrap_or_default() == 0 {
        return Err(ApiError::bad_request("draft_id must be non-zero"));
    }
    let FormattedText { text, .. } = text(state, params)?;
    state.actions.push(BotAction::Drafted { chat, text });
    Ok(true.into())
}

pub(super) fn send_chat_action(state: &mut SandboxState, params: &RequestParams, _now: Timestamp) -> MethodResult {
    let chat = chat_to_write(state, params)?;
    let forum_topic = topic(state, chat, params)?;
    if params.text("action") != Some("typing") {
        return Err(ApiError::bad_request("wrong parameter action in request"));
    }
    state.actions.push(BotAction::Typing { chat, forum_topic });
    Ok(true.into())
}

/// Parses the text and its entities, checks them, and trims them as the real server does.
pub(super) fn text(state: &mut SandboxState, params: &RequestParams) -> Result<FormattedText, ApiError> {
    let raw = params.text("text").unwrap_or_default();
    let given = params.parsed::<Vec<Entity>>("entities")?.unwrap_or_default();
    if given.len() > MOST_ENTITIES {
        state.note_unexpected("more entities than a message can have");
    }
    check(raw, &given).map_err(ApiError::bad_request)?;
    given.iter().try_for_each(|entity| check_target(state, &entity.kind))?;
    let FormattedText { text, entities } = cleaned(raw, given);
    let shown = trimmed(&text, entities);
    if shown.text.is_empty() {
        return Err(ApiError::bad_request("message text is empty"));
    }
    if utf16_len(&shown.text) > LONGEST_TEXT {
        return Err(ApiError::bad_request("message is too long"));
    }
    let entities = SandboxState::entities(&shown.text, shown.entities);
    Ok(FormattedText { text: shown.text, entities })
}

/// Parses `reply_markup`, which may contain only inline buttons.
pub(super) fn buttons(state: &mut SandboxState, params: &RequestParams) -> Result<Option<Value>, ApiError> {
    let Some(markup) = params.parsed::<Value>("reply_markup")? else { return Ok(None) };
    let Some(rows) = markup.get("inline_keyboard").and_then(Value::as_array) else {
        state.note_unexpected("a reply_markup without inline buttons");
        return Ok(None);
    };
    for button in rows.iter().filter_map(Value::as_array).flatten() {
        if button.get("text").and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(ApiError::bad_request("text buttons are unallowed in the inline keyboard"));
        }
        let data = button.get("callback_data").and_then(Value::as_str);
        if data.is_some_and(|data| data.is_empty() || data.len() > LONGEST_BUTTON_DATA) {
            return Err(ApiError::bad_request("BUTTON_DATA_INVALID"));
        }
    }
    Ok(if rows.is_empty() { None } else { Some(markup) })
}

/// Refuses entities with an invalid target.
fn check_target(state: &SandboxState, kind: &EntityKind) -> Result<(), ApiError> {
    match kind {
        EntityKind::Other => Err(ApiError::bad_request("can't parse MessageEntity: Unsupported type specified")),
        EntityKind::TextMention { user } if !state.people.contains_key(&user.id) => {
            Err(ApiError::bad_request("user not found"))
        }
        EntityKind::TextLink { url } if !url.starts_with("tg://") && !is_address(url) => {
            Err(ApiError::bad_request("entity URL is invalid: Wrong HTTP URL"))
        }
        _ => Ok(()),
    }
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://")).unwrap_or(url);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.contains('.') && !rest.contains(char::is_whitespace)
}
