//! Converts a message with its sender and the message that it replies to.

use crate::dto::{self, filled};
use crate::extract::content::{formatted, in_one_line, kind};
use crate::extract::is_direct_messages;
use crate::extract::{chat, id_of, message_id, service};
use crate::files::file_of;
use chime_core::{
    Arrival, Borrowed, ChatId, Entity, EntityKind, Event, FormattedText, ForumTopicId, GuestQuestion, Kind, Message,
    MessageId, Migration, Origin, Role, Sender, Timestamp, TopicName, UserId, utf16_slice,
};

pub fn arrived(wire: &dto::TelegramMessage, bot: UserId) -> Result<Vec<Event>, String> {
    let Some(arrival) = arrival(wire, bot)? else {
        return Ok(vec![]);
    };
    let migration = migration(arrival.chat.id, &wire.service);
    Ok([Event::Message(Box::new(arrival))].into_iter().chain(migration.map(Event::Migration)).collect())
}

pub fn edited(wire: &dto::TelegramMessage, bot: UserId) -> Result<Vec<Event>, String> {
    Ok(arrival(wire, bot)?.map(|arrival| Event::Edit(Box::new(arrival))).into_iter().collect())
}

#[derive(Default)]
struct RepliedMessage {
    to: Option<MessageId>,
    parent: Option<Message>,
    quote: Option<String>,
    snapshot: Option<String>,
}

/// Converts a question in a chat without the bot; `None` if a bot asks it, or it has no text.
pub fn guest(wire: &dto::TelegramMessage, bot: UserId) -> Option<Event> {
    let chat = chat(wire.head.chat.as_ref()).ok()?.id;
    let asked = message(wire, chat, bot, Origin::Update).ok()?;
    let parent = wire.head.reply_to_message.as_ref().filter(|parent| !is_confidential(parent));
    let parent = parent.and_then(|parent| message(parent, chat, bot, Origin::Snapshot).ok());
    if asked.sender.is_bot || asked.text.is_empty() {
        return None;
    }
    let (query, by) = (wire.head.guest_query_id.clone()?, asked.sender.id);
    let parent_by = parent.as_ref().map(|parent| parent.sender.id);
    let said = [Some(asked), parent].into_iter().flatten().map(|said| (said.sender.name.clone(), said.rendered()));
    Some(Event::Guest(GuestQuestion { query, chat, by, said: said.collect(), parent_by }))
}

/// Converts a message and the message that it replies to. `None` for a message that must not be stored: from a chat
/// without the bot, written to a channel in private, or visible to only some members, unless it is a command to the
/// bot.
fn arrival(wire: &dto::TelegramMessage, bot: UserId) -> Result<Option<Arrival>, String> {
    let is_to_channel = wire.head.direct_messages_topic.is_some() || is_direct_messages(wire.head.chat.as_ref());
    let is_command = is_ephemeral_command(wire);
    if is_confidential(wire) && !is_command || is_to_channel || wire.head.guest_query_id.is_some() {
        return Ok(None);
    }
    // A scheduled message has id 0, so it cannot be stored or replied to.
    if wire.head.message_id == Some(0) && !is_command {
        return Ok(None);
    }
    let chat = chat(wire.head.chat.as_ref())?;
    let mut message = message(wire, chat.id, bot, Origin::Update)?;
    let reply = reply(wire, chat.id, bot);
    message.reply_to = reply.to;
    message.quote = reply.quote;
    message.snapshot = reply.snapshot;
    let topic = topic_name(wire, chat.id, bot);
    let language = wire.head.from.as_ref().and_then(|from| from.language_code.clone());
    let (named, joined_bots) = (service::named(&wire.service), service::joined_bots(&wire.service));
    let left = service::left(&wire.service);
    Ok(Some(Arrival { chat, message, parent: reply.parent, named, left, joined_bots, topic, language }))
}

/// Converts a message without the message that it replies to.
fn message(wire: &dto::TelegramMessage, chat: ChatId, bot: UserId, origin: Origin) -> Result<Message, String> {
    let head = &wire.head;
    let FormattedText { text, entities } = formatted(&wire.content);
    let (kind, detail) = kind(wire, &text);
    let sender = sender(head, chat);
    let role = match kind {
        Kind::Service => Role::System,
        _ if sender.id == bot => Role::Assistant,
        // Commands address a bot and not people. They are stored, but do not count as conversation.
        _ if is_command(&text, &entities) => Role::System,
        _ => Role::User,
    };
    // Telegram itself forwards the posts of a linked channel to its group: these are no forwards by a member.
    let forwarded = head.forward_origin.as_ref().filter(|_| head.is_automatic_forward != Some(true));
    Ok(Message {
        chat,
        id: id_of(head.message_id, head.ephemeral_message_id).ok_or_else(|| "no message id".to_owned())?,
        forum_topic: forum_topic(head),
        sender,
        role,
        sent_at: head.date.filter(|date| *date > 0).map(Timestamp::from_secs).ok_or_else(|| "no date".to_owned())?,
        edited_at: head.edit_date.filter(|date| *date > 0).map(Timestamp::from_secs),
        kind,
        detail,
        file: file_of(&wire.content),
        text,
        entities,
        reply_to: None,
        quote: None,
        snapshot: None,
        forward_origin: forwarded.and_then(origin_name),
        borrowed: borrowed(head, chat),
        album: filled(head.media_group_id.as_deref()),
        via_bot: head.via_bot.as_ref().and_then(|bot| filled(bot.username.as_deref()).or_else(|| bot.display_name())),
        origin,
        is_trigger: false,
    })
}

/// Returns `true` if a text starts with a command for any bot, possibly after a mention of it. `/ask` does not count:
/// the text after it is an ordinary question.
fn is_command(text: &str, entities: &[Entity]) -> bool {
    let is_first = |entity: &&Entity| {
        let before = utf16_slice(text, 0, entity.offset).trim();
        before.is_empty() || before.starts_with('@') && !before.contains(char::is_whitespace)
    };
    let leading = entities.iter().find(|entity| entity.kind == EntityKind::BotCommand).filter(is_first);
    leading.is_some_and(|entity| {
        let command = utf16_slice(text, entity.offset, entity.length).trim_start_matches('/');
        let name = command.split('@').next().unwrap_or(command);
        !name.eq_ignore_ascii_case("ask")
    })
}

/// Returns `true` if only one member can see the message (an ephemeral message).
fn is_confidential(wire: &dto::TelegramMessage) -> bool {
    wire.head.receiver_user.is_some() || wire.head.ephemeral_message_id.is_some()
}

/// Returns `true` if a member sends the bot a command that nobody else in the group sees.
fn is_ephemeral_command(wire: &dto::TelegramMessage) -> bool {
    let FormattedText { text, entities } = formatted(&wire.content);
    wire.head.ephemeral_message_id.is_some_and(|number| number > 0) && is_command(&text, &entities)
}

/// Returns the sender: `sender_chat` if there is one, because `from` is then only a placeholder account. Without
/// either, as in some channel posts, the chat itself.
fn sender(head: &dto::Head, chat: ChatId) -> Sender {
    let in_the_name_of = |author: Option<&dto::Chat>| Sender {
        id: UserId(author.and_then(|author| author.id).unwrap_or(chat.0)),
        name: author.and_then(dto::Chat::display_name).unwrap_or_else(|| "someone".to_owned()),
        username: filled(author.and_then(|author| author.username.as_deref())),
        is_bot: false,
        is_chat: true,
    };
    let user = head.from.as_ref().and_then(|from| Some((from, from.id?)));
    match (&head.sender_chat, user) {
        (Some(author), _) if author.id.is_some() => in_the_name_of(Some(author)),
        (_, Some((from, id))) => Sender {
            id: UserId(id),
            name: from.display_name().unwrap_or_else(|| "someone".to_owned()),
            username: filled(from.username.as_deref()),
            is_bot: from.is_bot == Some(true),
            is_chat: false,
        },
        (_, None) => in_the_name_of(head.chat.as_ref()),
    }
}

/// Returns the forum topic. Replies outside of topics have a `message_thread_id` too: only `is_topic_message` indicates
/// a topic.
fn forum_topic(head: &dto::Head) -> Option<ForumTopicId> {
    head.message_thread_id.filter(|_| head.is_topic_message == Some(true)).map(ForumTopicId)
}

fn reply(wire: &dto::TelegramMessage, chat: ChatId, bot: UserId) -> RepliedMessage {
    let head = &wire.head;
    let quote = head.quote.as_ref().and_then(|quote| filled(quote.text.as_deref()));
    match (&head.reply_to_message, &head.external_reply) {
        (Some(parent), _) if is_topic_root(parent, head) || is_confidential(parent) => RepliedMessage::default(),
        (Some(parent), _) if parent.head.chat.as_ref().is_some_and(|other| other.id != Some(chat.0)) => {
            let place = parent.head.chat.as_ref().and_then(dto::Chat::display_name);
            RepliedMessage {
                snapshot: Some(snapshot(place, &parent.content, quote.as_deref())),
                quote,
                ..RepliedMessage::default()
            }
        }
        (Some(parent), _) => RepliedMessage {
            to: message_id(parent.head.message_id).ok(),
            parent: message(parent, chat, bot, Origin::Snapshot).ok(),
            quote,
            snapshot: None,
        },
        (None, Some(external)) => {
            let place = external.place.origin.as_ref().and_then(origin_name);
            let place = place.or_else(|| external.place.chat.as_ref().and_then(dto::Chat::display_name));
            // A message in another topic of the same group. It may be stored; if not, there is the snapshot.
            let is_here = external.place.chat.as_ref().is_some_and(|other| other.id == Some(chat.0));
            RepliedMessage {
                to: is_here.then(|| message_id(external.place.message_id).ok()).flatten(),
                snapshot: Some(snapshot(place, &external.content, quote.as_deref())),
                quote,
                parent: None,
            }
        }
        (None, None) => RepliedMessage {
            quote,
            snapshot: head.reply_to_story.is_some().then(|| "[story]".to_owned()),
            ..RepliedMessage::default()
        },
    }
}

/// Returns the name of the message's forum topic if the message sets it, or if it encloses the message that created the
/// topic. An enclosed message has the first name of the topic, even if it was renamed.
fn topic_name(wire: &dto::TelegramMessage, chat: ChatId, bot: UserId) -> Option<TopicName> {
    let named = |topic: &Option<dto::Named>| topic.as_ref().and_then(|topic| filled(topic.name.as_deref()));
    let said = named(&wire.service.forum_topic_created).or_else(|| named(&wire.service.forum_topic_edited));
    let enclosed = || {
        let root = wire.head.reply_to_message.as_ref()?;
        let name = named(&root.service.forum_topic_created)?;
        let given_in = message(root, chat, bot, Origin::Snapshot).ok()?;
        Some(TopicName { name, given_in: Some(Box::new(given_in)) })
    };
    match said {
        Some(name) => Some(TopicName { name, given_in: None }),
        None => enclosed(),
    }
}

/// Returns `true` if `parent` is the message that created the forum topic. Telegram sends it as the replied-to message
/// of every message in the topic that is no reply.
fn is_topic_root(parent: &dto::TelegramMessage, head: &dto::Head) -> bool {
    let root = forum_topic(head).is_some_and(|topic| parent.head.message_id == Some(topic.0));
    root || parent.service.forum_topic_created.is_some()
}

/// Describes a replied-to message that is not stored, in one line: its author or chat, and the quoted part or the
/// content.
fn snapshot(place: Option<String>, parent: &dto::Content, quote: Option<&str>) -> String {
    let what = quote.map_or_else(|| in_one_line(parent), str::to_owned);
    let place = place.unwrap_or_else(|| "elsewhere".to_owned());
    if what.is_empty() { place } else { format!("{place}: {what}") }
}

/// Returns the ids of the original chat, message and author of a forwarded message or of a reply to another chat.
/// `None` for other messages. A hidden account has no id.
fn borrowed(head: &dto::Head, chat: ChatId) -> Option<Borrowed> {
    match (&head.forward_origin, &head.external_reply, &head.reply_to_message) {
        (Some(origin), _, _) => Some(origin_of(origin)),
        (None, Some(external), _) => {
            let origin = external.place.origin.as_ref().map(origin_of).unwrap_or_default();
            Some(Borrowed {
                chat: external.place.chat.as_ref().and_then(|chat| chat.id).map(ChatId).or(origin.chat),
                message: external.place.message_id.map(MessageId).or(origin.message),
                ..origin
            })
        }
        (None, None, Some(parent)) => {
            let place = parent.head.chat.as_ref().and_then(|chat| chat.id).map(ChatId)?;
            (place != chat).then(|| Borrowed {
                chat: Some(place),
                message: parent.head.message_id.map(MessageId),
                author: Some(sender(&parent.head, place).id),
                sent_at: parent.head.date.map(Timestamp::from_secs),
            })
        }
        (None, None, None) => None,
    }
}

fn origin_of(origin: &dto::MessageOrigin) -> Borrowed {
    let chat = origin.sender_chat.as_ref().or(origin.chat.as_ref()).and_then(|chat| chat.id);
    Borrowed {
        chat: chat.map(ChatId),
        message: origin.message_id.map(MessageId),
        author: origin.sender_user.as_ref().and_then(|user| user.id).or(chat).map(UserId),
        sent_at: origin.date.filter(|date| *date > 0).map(Timestamp::from_secs),
    }
}

/// Returns the name of a forwarded message's origin as Telegram displays it, with the author's signature in brackets.
fn origin_name(origin: &dto::MessageOrigin) -> Option<String> {
    let user = origin.sender_user.as_ref().and_then(dto::User::display_name);
    let chat = || origin.sender_chat.as_ref().or(origin.chat.as_ref()).and_then(dto::Chat::display_name);
    let name = user.or_else(|| filled(origin.sender_user_name.as_deref())).or_else(chat);
    match (name, filled(origin.author_signature.as_deref())) {
        (Some(name), Some(signature)) => Some(format!("{name} ({signature})")),
        (name, signature) => name.or(signature).or_else(|| Some("someone".to_owned())),
    }
}

fn migration(chat: ChatId, service: &dto::Service) -> Option<Migration> {
    let to = service.migrate_to_chat_id.map(|to| Migration { from: chat, to: ChatId(to) });
    to.or(service.migrate_from_chat_id.map(|from| Migration { from: ChatId(from), to: chat }))
}
