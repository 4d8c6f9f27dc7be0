//! Converts the state to Telegram's JSON.

use serde_json::{Map, Value, json};

use crate::message::BOT;
use crate::message::SandboxMessage;
use crate::state::{SandboxChat, SandboxState};
use crate::{ChatMemberStatus, NewMember, PostContent};
use chime_core::{ChatId, ChatKind, ForumTopicId, MessageId, Timestamp, UserId, utf16_len};

/// Returns the JSON of a message, including the message that it replies to.
pub(super) fn message(state: &SandboxState, chat: &SandboxChat, message: &SandboxMessage) -> Value {
    let mut object = plain_message(state, chat, message);
    // In a forum topic, a message without a reply replies to the message that created the topic.
    let creation = message.forum_topic.map(|ForumTopicId(topic)| MessageId(topic));
    let creation = creation.filter(|creation| *creation != message.id && message.reply_elsewhere.is_none());
    if let Some(parent) = message.reply_to.or(creation).and_then(|parent| chat.messages.get(&parent)) {
        object.insert("reply_to_message".to_owned(), plain_message(state, chat, parent).into());
        if let Some(part) = &message.quote {
            let position =
                parent.text.find(part.as_str()).and_then(|start| parent.text.get(..start)).map_or(0, utf16_len);
            object.insert("quote".to_owned(), json!({"text": part, "position": position, "is_manual": true}));
        }
    }
    object.into()
}

/// Returns the result of `getMe`.
pub(super) fn own_account(state: &SandboxState) -> Value {
    let mut account = user(state, BOT);
    if let Some(account) = account.as_object_mut() {
        account.insert("can_read_all_group_messages".to_owned(), state.reads_all.into());
    }
    account
}

/// Returns a `ChatMember` with the only right that the bot reads. A restricted member lacks it.
pub(super) fn member(state: &SandboxState, who: UserId, status: ChatMemberStatus) -> Value {
    let mut member = json!({"status": status.as_str(), "user": user(state, who)});
    if status == ChatMemberStatus::Restricted {
        member["can_send_messages"] = Value::Bool(false);
    }
    member
}

/// Returns a `my_chat_member` update.
pub(super) fn own_membership(
    state: &SandboxState,
    of: &SandboxChat,
    by: UserId,
    at: Timestamp,
    old: ChatMemberStatus,
    new: ChatMemberStatus,
) -> Value {
    json!({
        "chat": chat(state, of),
        "from": user(state, by),
        "date": at.secs(),
        "old_chat_member": member(state, BOT, old),
        "new_chat_member": member(state, BOT, new),
    })
}

/// Returns a `message_reaction` update.
pub(super) fn reaction(
    state: &SandboxState,
    of: &SandboxChat,
    id: MessageId,
    by: UserId,
    at: Timestamp,
    old: &[String],
    new: &[String],
) -> Value {
    let shown = |emoji: &[String]| -> Vec<Value> {
        emoji.iter().map(|emoji| json!({"type": "emoji", "emoji": emoji})).collect()
    };
    json!({
        "chat": chat(state, of),
        "message_id": id,
        "user": user(state, by),
        "date": at.secs(),
        "old_reaction": shown(old),
        "new_reaction": shown(new),
    })
}

/// Returns a `callback_query` update.
pub(super) fn press(
    state: &SandboxState,
    of: &SandboxChat,
    on: &SandboxMessage,
    by: UserId,
    id: &str,
    data: &str,
) -> Value {
    json!({
        "id": id,
        "from": user(state, by),
        "chat_instance": of.id.to_string(),
        "message": message(state, of, on),
        "data": data,
    })
}

/// Returns the JSON of a message without the one that it replies to: `reply_to_message` never nests.
fn plain_message(state: &SandboxState, of: &SandboxChat, message: &SandboxMessage) -> Map<String, Value> {
    let mut object = content(state, message);
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(name.to_owned(), value);
        }
    };
    let account = |id: UserId| user(state, id);
    let ephemeral = message.id.ephemeral_number();
    put("message_id", Some(ephemeral.map_or(message.id.0, |_| 0).into()));
    put("ephemeral_message_id", ephemeral.map(Value::from));
    put("receiver_user", message.receiver.map(account));
    put("date", Some(message.date.secs().into()));
    put("chat", Some(chat(state, of).into()));
    if of.kind == ChatKind::Channel {
        put("sender_chat", Some(chat(state, of).into()));
    } else {
        put("from", Some(account(message.from)));
        put("sender_chat", message.sender_chat.map(|id| sender_chat(state, id)));
    }
    let reply_thread = message.reply_thread.map(|MessageId(first)| ForumTopicId(first));
    put("message_thread_id", message.forum_topic.or(reply_thread).map(|forum_topic| forum_topic.0.into()));
    put("is_topic_message", message.forum_topic.map(|_| true.into()));
    put("edit_date", message.edited_at.map(|at| at.secs().into()));
    put("media_group_id", message.album.as_deref().map(Value::from));
    put("reply_markup", message.buttons.clone());
    let hidden = message
        .forwarded_from
        .as_ref()
        .map(|name| json!({"type": "hidden_user", "sender_user_name": name, "date": message.date.secs()}));
    put("forward_origin", message.forward_of.and_then(|(chat, id)| origin(state, chat, id)).or(hidden));
    let is_automatic = message.forward_of.is_some_and(|(chat, _)| message.sender_chat == Some(chat));
    put("is_automatic_forward", is_automatic.then(|| true.into()));
    put("external_reply", message.reply_elsewhere.and_then(|(chat, id)| external_reply(state, chat, id)));
    put("quote", message.reply_elsewhere.and(message.quote.as_ref()).map(|part| json!({"text": part, "position": 0})));
    let (text, entities) = match message.content {
        PostContent::Text => ("text", "entities"),
        _ => ("caption", "caption_entities"),
    };
    put(text, (!message.text.is_empty()).then(|| message.text.as_str().into()));
    put(entities, (!message.entities.is_empty()).then(|| json!(message.entities)));
    object
}

/// Returns the origin of a forwarded message or of a replied-to message in another chat: author and date, for a channel
/// post also the message id.
fn origin(state: &SandboxState, chat: ChatId, id: MessageId) -> Option<Value> {
    let of = state.chats.get(&chat)?;
    let message = of.messages.get(&id)?;
    let date = message.date.secs();
    Some(match (of.kind, message.sender_chat) {
        (ChatKind::Channel, _) => {
            json!({"type": "channel", "chat": self::chat(state, of), "message_id": id, "date": date})
        }
        (_, Some(sender)) => json!({"type": "chat", "sender_chat": sender_chat(state, sender), "date": date}),
        (_, None) => json!({"type": "user", "sender_user": user(state, message.from), "date": date}),
    })
}

fn external_reply(state: &SandboxState, chat: ChatId, id: MessageId) -> Option<Value> {
    let of = state.chats.get(&chat)?;
    Some(json!({"origin": origin(state, chat, id)?, "chat": self::chat(state, of), "message_id": id}))
}

/// Returns the fields for the content of a message.
fn content(state: &SandboxState, message: &SandboxMessage) -> Map<String, Value> {
    let id = format!("file-{}-{}", message.chat, message.id);
    let file = |more: Value| {
        let mut file = json!({"file_id": id, "file_unique_id": id});
        if let (Some(file), Value::Object(more)) = (file.as_object_mut(), more) {
            file.extend(more);
        }
        file
    };
    let picture = || json!({"width": 640, "height": 480});
    let (name, value) = match &message.content {
        PostContent::Text => return Map::new(),
        PostContent::Photo => ("photo", json!([file(picture())])),
        PostContent::Video { seconds } => ("video", file(json!({"width": 640, "height": 480, "duration": seconds}))),
        PostContent::Voice { seconds } => ("voice", file(json!({"duration": seconds}))),
        PostContent::Document { file_name } => match state.files.get(file_name) {
            Some(bytes) => {
                let size =
                    json!({"file_name": file_name, "file_size": bytes.len(), "mime_type": media_type(file_name)});
                ("document", file(size))
            }
            None => ("document", file(json!({"file_name": file_name, "mime_type": media_type(file_name)}))),
        },
        PostContent::Sticker { emoji } => ("sticker", file(json!({"emoji": emoji}))),
        PostContent::Poll { question, options } => ("poll", poll(&id, question, options)),
        PostContent::Location => ("location", json!({"latitude": 59.437, "longitude": 24.7536})),
        PostContent::Joined(users) => ("new_chat_members", users.iter().map(|id| user(state, *id)).collect()),
        PostContent::LeftChat(id) => ("left_chat_member", user(state, *id)),
        PostContent::Titled(title) => ("new_chat_title", json!(title)),
        PostContent::TopicCreated { name } => ("forum_topic_created", json!({"name": name, "icon_color": 7_322_096})),
        PostContent::TopicClosed => ("forum_topic_closed", json!({})),
        PostContent::MigratedTo(chat) => ("migrate_to_chat_id", json!(chat)),
        PostContent::MigratedFrom(chat) => ("migrate_from_chat_id", json!(chat)),
    };
    Map::from_iter([(name.to_owned(), value)])
}

/// Returns the type that Telegram's apps give a file, by its extension.
fn media_type(file_name: &str) -> &'static str {
    match file_name.rsplit('.').next().unwrap_or_default() {
        "png" => "image/png",
        "jpg" => "image/jpeg",
        "m4a" => "audio/x-m4a",
        "txt" | "md" => "text/plain",
        _ => "application/octet-stream",
    }
}

fn poll(id: &str, question: &str, options: &[String]) -> Value {
    let options: Vec<Value> = options.iter().map(|text| json!({"text": text, "voter_count": 0})).collect();
    json!({"id": id, "question": question, "options": options})
}

fn chat(state: &SandboxState, of: &SandboxChat) -> Map<String, Value> {
    let name = if of.kind == ChatKind::Private { "first_name" } else { "title" };
    let mut object = Map::from_iter([
        ("id".to_owned(), of.id.0.into()),
        ("type".to_owned(), of.kind.as_str().into()),
        (name.to_owned(), of.title.as_str().into()),
    ]);
    let person = state.people.get(&UserId(of.id.0)).and_then(|person| person.username.as_deref());
    if let Some(username) = of.username.as_deref().or(person) {
        object.insert("username".to_owned(), username.into());
    }
    if of.forum {
        object.insert("is_forum".to_owned(), true.into());
    }
    object
}

/// Returns the chat in whose name a message is sent, or a placeholder channel if it does not exist here.
fn sender_chat(state: &SandboxState, id: ChatId) -> Value {
    match state.chats.get(&id) {
        Some(of) => chat(state, of).into(),
        None => json!({"id": id, "type": "channel", "title": "Some channel"}),
    }
}

fn user(state: &SandboxState, id: UserId) -> Value {
    let person = state.people.get(&id).cloned().unwrap_or_else(|| NewMember::named(id.to_string()));
    let mut object = json!({"id": id, "is_bot": person.is_bot, "first_name": person.name});
    for (name, value) in [("username", person.username), ("language_code", person.language)] {
        if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
            object.insert(name.to_owned(), value.into());
        }
    }
    object
}
