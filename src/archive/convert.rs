//! From an exported message to one of ours: pure, and lenient with everything but what a message cannot be without.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::archive::content::{filled, shown};
use crate::archive::{happened, text};
use crate::domain::{
    Borrowed, Chat, ChatId, ChatKind, FormattedText, Kind, Message, MessageId, Origin, Role, Sender, ThreadId,
    Timestamp, UserId,
};

/// Telegram's ids of supergroups and channels for bots: below this, by the number that exports use.
const SUPERGROUPS: i64 = -1_000_000_000_000;

/// A chat as an export names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedChat {
    pub name: Option<String>,
    pub kind: String,
    pub id: i64,
}

/// Why a chat is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("it is between two people, and the bot is not in it")]
    BetweenPeople,
    #[error("it is with another bot")]
    AnotherBot,
    #[error("it is of a kind that this version does not know")]
    UnknownKind,
}

impl ExportedChat {
    /// The chat as the bot knows it. The export of a private chat with the bot names the bot; `partner` is the person.
    pub fn known_to_bot_as(&self, bot: UserId, partner: Option<UserId>) -> Result<Option<Chat>, Unusable> {
        let (id, kind) = match self.kind.as_str() {
            "private_group" => (ChatId(-self.id), ChatKind::Group),
            "private_supergroup" | "public_supergroup" => (ChatId(SUPERGROUPS - self.id), ChatKind::Supergroup),
            "private_channel" | "public_channel" => (ChatId(SUPERGROUPS - self.id), ChatKind::Channel),
            "bot_chat" if self.id == bot.0 => match partner {
                Some(person) => (ChatId(person.0), ChatKind::Private),
                None => return Ok(None),
            },
            "bot_chat" => return Err(Unusable::AnotherBot),
            "personal_chat" | "saved_messages" | "replies" | "verification_codes" => {
                return Err(Unusable::BetweenPeople);
            }
            _ => return Err(Unusable::UnknownKind),
        };
        // In private the name is the bot's.
        let title = self.name.clone().filter(|_| kind != ChatKind::Private);
        Ok(Some(Chat { id, kind, title, username: None }))
    }
}

/// The forum topics of a chat, as far as it was read: an export tells the topic of a message only by what it replies to.
#[derive(Debug, Default)]
pub struct Topics {
    roots: BTreeSet<i64>,
    /// Messages in topics. Empty in chats that have none.
    within: BTreeMap<i64, i64>,
}

impl Topics {
    /// The topic of a message and what it truly replies to.
    fn place(&mut self, id: i64, parent: Option<i64>, is_root: bool) -> (Option<ThreadId>, Option<MessageId>) {
        if is_root {
            self.roots.insert(id);
            return (Some(ThreadId(id)), None);
        }
        let root = parent.filter(|parent| self.roots.contains(parent));
        let topic = root.or_else(|| parent.and_then(|parent| self.within.get(&parent).copied()));
        if let Some(topic) = topic {
            self.within.insert(id, topic);
        }
        (topic.map(ThreadId), parent.filter(|_| root.is_none()).map(MessageId))
    }
}

/// None for what cannot be read: no id, no date.
pub fn converted(value: &Value, chat: ChatId, bot: UserId, topics: &mut Topics) -> Option<Message> {
    let id = value["id"].as_i64().filter(|id| *id != 0)?;
    let sent_at = moment(value, "date")?;
    let is_service = value["type"].as_str() == Some("service");
    let is_topic = value["action"].as_str() == Some("topic_created");
    // A reply to another chat names that chat.
    let is_elsewhere = value["reply_to_peer_id"].is_string();
    let parent = value["reply_to_message_id"].as_i64().filter(|_| !is_elsewhere);
    let (thread, reply_to) = topics.place(id, parent, is_topic);
    let sender = sender(value, chat, bot, is_service);
    let FormattedText { text, entities } = said(value);
    let (kind, detail) = match (is_service, shown(value)) {
        (true, _) => (Kind::Service, happened::describe(value)),
        (false, Some(shown)) => shown,
        (false, None) if !text.is_empty() => (Kind::Text, None),
        (false, None) => (Kind::Other, Some("unsupported message".to_owned())),
    };
    let role = match kind {
        Kind::Service => Role::System,
        _ if sender.id == bot => Role::Assistant,
        _ => Role::User,
    };
    Some(Message {
        chat,
        id: MessageId(id),
        thread,
        sender,
        role,
        sent_at,
        edited_at: moment(value, "edited"),
        kind,
        detail,
        text: if is_service { String::new() } else { text },
        entities: if is_service { Vec::new() } else { entities },
        reply_to,
        quote: None,
        snapshot: is_elsewhere.then(|| "elsewhere".to_owned()),
        forward_origin: forwarded(value),
        borrowed: account(&value["forwarded_from_id"])
            .map(|(author, _)| Borrowed { author: Some(author), ..Borrowed::default() }),
        album: None,
        via_bot: value["via_bot"].as_str().map(|name| name.trim_start_matches('@').to_owned()),
        origin: Origin::Import,
    })
}

/// The person who wrote a message, where it is one: in a private chat this is whose chat it is.
pub fn person(value: &Value) -> Option<UserId> {
    account(&value["from_id"]).filter(|(_, is_chat)| !is_chat).map(|(id, _)| id)
}

/// `user12`, `channel34`, `chat56`; whether it is a chat. Exports of before 2022 have the bare number of a user: an author
/// who is none would have been numbered alike, and who asks to be forgotten must be found.
fn account(id: &Value) -> Option<(UserId, bool)> {
    if let Some(user) = id.as_i64().filter(|user| *user > 0) {
        return Some((UserId(user), false));
    }
    let id = id.as_str()?;
    let number = |prefix: &str| id.strip_prefix(prefix)?.parse::<i64>().ok();
    let user = number("user").map(|id| (UserId(id), false));
    let channel = || number("channel").map(|id| (UserId(SUPERGROUPS - id), true));
    user.or_else(channel).or_else(|| number("chat").map(|id| (UserId(-id), true)))
}

/// Nobody is named where an account was deleted; its id is still there.
fn sender(value: &Value, chat: ChatId, bot: UserId, is_service: bool) -> Sender {
    let (name, id) = if is_service { ("actor", "actor_id") } else { ("from", "from_id") };
    let (id, is_chat) = account(&value[id]).unwrap_or((UserId(chat.0), true));
    Sender {
        id,
        name: filled(value[name].as_str()).unwrap_or_else(|| "someone".to_owned()),
        username: None,
        is_bot: id == bot,
        is_chat,
    }
}

/// The key is there, and null, where the name is hidden.
fn forwarded(value: &Value) -> Option<String> {
    let from = value.get("forwarded_from")?;
    Some(from.as_str().filter(|name| !name.is_empty()).unwrap_or("someone").to_owned())
}

/// Exports of before 2022 have no time zone: taken for UTC.
fn moment(value: &Value, name: &str) -> Option<Timestamp> {
    let unix = &value[format!("{name}_unixtime").as_str()];
    let secs = unix.as_i64().or_else(|| unix.as_str()?.parse().ok());
    let local = || {
        let date = chrono::NaiveDateTime::parse_from_str(value[name].as_str()?, "%Y-%m-%dT%H:%M:%S").ok()?;
        Some(date.and_utc().timestamp())
    };
    secs.or_else(local).filter(|secs| *secs > 0).map(Timestamp::from_secs)
}

/// Newer exports say the same twice, older ones in `text` alone.
fn said(value: &Value) -> FormattedText {
    let said = text::formatted(value.get("text"));
    if said.text.is_empty() { text::formatted(value.get("text_entities")) } else { said }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(more: Value, expected: Expect) {
        let mut value =
            json!({"id": 7, "type": "message", "date": "2020-05-01T10:00:00", "from": "Zoe", "text": "hello"});
        if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
            value.extend(more);
        }
        let told = converted(&value, ChatId(-100), UserId(9), &mut Topics::default()).map(|message| {
            let lender = message.borrowed.and_then(|borrowed| borrowed.author).map(|author| author.0);
            let Message { sender, role, .. } = message;
            format!("{} chat {} {} lender {lender:?}", sender.id, sender.is_chat, role.as_str())
        });
        expected.assert_eq(&told.unwrap_or_else(|| "unreadable".to_owned()));
    }

    #[test]
    fn an_author_is_named_with_the_kind_of_account() {
        check(json!({"from_id": "user12"}), expect!["12 chat false user lender None"]);
        check(json!({"from_id": "channel34"}), expect!["-1000000000034 chat true user lender None"]);
        check(json!({"from_id": "chat56"}), expect!["-56 chat true user lender None"]);
    }

    #[test]
    fn the_bare_number_of_an_old_export_is_a_user() {
        check(json!({"from_id": 12}), expect!["12 chat false user lender None"]);
        check(json!({"from_id": 9}), expect!["9 chat false assistant lender None"]);
        check(
            json!({"type": "service", "action": "create_group", "actor": "Zoe", "actor_id": 12}),
            expect!["12 chat false system lender None"],
        );
        check(
            json!({"from_id": 12, "forwarded_from": "Ann", "forwarded_from_id": 13}),
            expect!["12 chat false user lender Some(13)"],
        );
        assert_eq!(person(&json!({"from_id": 12})), Some(UserId(12)));
    }

    #[test]
    fn without_an_author_the_chat_wrote_it() {
        check(json!({"from_id": null}), expect!["-100 chat true user lender None"]);
        check(json!({}), expect!["-100 chat true user lender None"]);
    }
}
