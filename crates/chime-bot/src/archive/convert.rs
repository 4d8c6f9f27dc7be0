//! Converts exported messages to [`Message`]s. Pure. A message needs only an id and a date; anything else may be
//! missing or malformed.

use serde_json::Value;

use crate::archive::accounts::{AccountIdFormat, SUPERGROUPS, account, bare};
use crate::archive::content::shown;
use crate::archive::topics::{TopicHints, Topics, replies_elsewhere};
use crate::archive::{service_messages, text};
use chime_core::{
    Borrowed, Chat, ChatId, ChatKind, FormattedText, Kind, Message, MessageId, Origin, Role, Sender, Timestamp, UserId,
};
use chime_telegram::filled;

/// Edit times before this are ignored: some exporters give unedited messages an edit time in 1970.
const FIRST_EDIT: Timestamp = Timestamp::from_secs(365 * 24 * 3600);

/// Chat as an export describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedChat {
    pub name: Option<String>,
    pub kind: String,
    pub id: i64,
}

/// Reason for not importing a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("it is between two people, and the bot is not in it")]
    BetweenPeople,
    #[error("it is with another bot")]
    AnotherBot,
    #[error("it is of a kind that this version does not know")]
    UnknownKind,
    #[error(
        "the file does not say which chat it is: before its `messages`, add its `id` and its `type`, such as `\"type\": \"private_supergroup\"`"
    )]
    Nameless,
}

impl ExportedChat {
    /// Returns `true` if the file names the id and the kind of the chat.
    pub fn is_known(&self) -> bool {
        !self.kind.is_empty() && self.id != 0
    }

    /// Returns the chat with the id that the bot uses for it. The export of a private chat with the bot has the bot's
    /// id, so the other person must be given as `partner`; without it, returns `Ok(None)`.
    pub fn known_to_bot_as(&self, bot: UserId, partner: Option<UserId>) -> Result<Option<Chat>, Unusable> {
        if !self.is_known() {
            return Err(Unusable::Nameless);
        }
        let number = bare(self.id);
        let (id, kind) = match self.kind.as_str() {
            "private_group" if self.id > SUPERGROUPS => (ChatId(-number), ChatKind::Group),
            "private_group" | "private_supergroup" | "public_supergroup" => {
                (ChatId(SUPERGROUPS - number), ChatKind::Supergroup)
            }
            "private_channel" | "public_channel" => (ChatId(SUPERGROUPS - number), ChatKind::Channel),
            "bot_chat" if [self.id, number].contains(&bot.0) => match partner {
                Some(person) => (ChatId(person.0), ChatKind::Private),
                None => return Ok(None),
            },
            "bot_chat" => return Err(Unusable::AnotherBot),
            "personal_chat" | "saved_messages" | "replies" | "verification_codes" => {
                return Err(Unusable::BetweenPeople);
            }
            _ => return Err(Unusable::UnknownKind),
        };
        // In the export of a private chat the title is the bot's name, which is not stored.
        let title = self.name.clone().filter(|_| kind != ChatKind::Private);
        Ok(Some(Chat { id, kind, title, username: None }))
    }
}

/// Converts the messages of one chat, in the order of the file.
#[derive(Debug)]
pub struct Conversion {
    bot: UserId,
    numbering: AccountIdFormat,
    topics: Topics,
}

impl Conversion {
    pub fn new(bot: UserId, chat: &ExportedChat, hints: &TopicHints) -> Self {
        Self { bot, numbering: AccountIdFormat::of_chat(chat.id), topics: hints.topics() }
    }

    /// Converts the next message of `chat`. Returns `None` if it has no id or no valid date.
    pub fn convert(&mut self, value: &Value, chat: ChatId) -> Option<Message> {
        let id = value["id"].as_i64().filter(|id| *id != 0)?;
        let sent_at = moment(value, "date")?;
        let numbering = self.numbering.at(sent_at);
        let is_service = value["type"].as_str() == Some("service");
        let (forum_topic, reply_to) = self.topics.place(id, value);
        let sender = self.sender(value, chat, numbering);
        let FormattedText { text, entities } = said(value);
        let (kind, detail) = match (is_service, shown(value)) {
            (true, _) => (Kind::Service, service_messages::describe(value)),
            (false, Some(shown)) => shown,
            (false, None) if !text.is_empty() => (Kind::Text, None),
            (false, None) => (Kind::Other, Some("unsupported message".to_owned())),
        };
        let role = match kind {
            Kind::Service => Role::System,
            _ if sender.id == self.bot => Role::Assistant,
            _ => Role::User,
        };
        Some(Message {
            chat,
            id: MessageId(id),
            forum_topic,
            sender,
            role,
            sent_at,
            edited_at: moment(value, "edited").filter(|at| *at >= FIRST_EDIT),
            kind,
            detail,
            file: None,
            text: if is_service { String::new() } else { text },
            entities: if is_service { Vec::new() } else { entities },
            reply_to,
            quote: None,
            snapshot: replies_elsewhere(value).then(|| "elsewhere".to_owned()),
            forward_origin: forwarded(value),
            borrowed: account(&value["forwarded_from_id"], numbering)
                .map(|(author, _)| Borrowed { author: Some(author), ..Borrowed::default() }),
            album: None,
            via_bot: value["via_bot"].as_str().map(|name| name.trim_start_matches('@').to_owned()),
            origin: Origin::Import,
            is_trigger: false,
        })
    }

    /// Returns the author of a message, or `None` if that is not a person or is the bot. In a private chat the result
    /// is the bot's partner.
    pub fn person(&self, value: &Value) -> Option<UserId> {
        let numbering = self.numbering.at(moment(value, "date")?);
        let (id, is_chat) = account(&value["from_id"], numbering)?;
        Some(id).filter(|id| !is_chat && *id != self.bot)
    }

    /// Returns the author of a message. The author's account may be deleted: it then has an id but no name.
    fn sender(&self, value: &Value, chat: ChatId, numbering: AccountIdFormat) -> Sender {
        let is_service = value["type"].as_str() == Some("service");
        let (name, id) = if is_service { ("actor", "actor_id") } else { ("from", "from_id") };
        let (id, is_chat) = account(&value[id], numbering).unwrap_or((UserId(chat.0), true));
        Sender {
            id,
            name: filled(value[name].as_str()).unwrap_or_else(|| "someone".to_owned()),
            username: None,
            is_bot: id == self.bot,
            is_chat,
        }
    }
}

/// Returns the name of the original author of a forwarded message; `someone` if the name is hidden. Returns `None` if
/// the message is not forwarded.
fn forwarded(value: &Value) -> Option<String> {
    let from = value.get("forwarded_from")?;
    Some(from.as_str().filter(|name| !name.is_empty()).unwrap_or("someone").to_owned())
}

/// Parses a time. Exports from before 2022 have only a local time without its time zone, which is taken as UTC.
fn moment(value: &Value, name: &str) -> Option<Timestamp> {
    let unix = &value[format!("{name}_unixtime").as_str()];
    let secs = unix.as_i64().or_else(|| unix.as_str()?.parse().ok());
    let local = || {
        let date = chrono::NaiveDateTime::parse_from_str(value[name].as_str()?, "%Y-%m-%dT%H:%M:%S").ok()?;
        Some(date.and_utc().timestamp())
    };
    secs.or_else(local).filter(|secs| *secs > 0).map(Timestamp::from_secs)
}

/// Returns the text with its formatting. New exports have the formatting in `text` and `text_entities`, old ones in
/// `text` only, and exports of some other programs in `text_entities` only.
fn said(value: &Value) -> FormattedText {
    let said = text::formatted(value.get("text"));
    if !said.entities.is_empty() {
        return said;
    }
    let parts = text::formatted(value.get("text_entities"));
    if said.text.is_empty() || said.text == parts.text { parts } else { said }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn conversion() -> Conversion {
        Conversion::new(UserId(9), &ExportedChat::default(), &TopicHints::default())
    }

    #[track_caller]
    fn check(more: Value, expected: Expect) {
        let mut value =
            json!({"id": 7, "type": "message", "date": "2020-05-01T10:00:00", "from": "Zoe", "text": "hello"});
        if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
            value.extend(more);
        }
        let reply = conversion().convert(&value, ChatId(-100)).map(|message| {
            let lender = message.borrowed.and_then(|borrowed| borrowed.author).map(|author| author.0);
            let Message { sender, role, .. } = message;
            format!("{} chat {} {} lender {lender:?}", sender.id, sender.is_chat, role.as_str())
        });
        expected.assert_eq(&reply.unwrap_or_else(|| "unreadable".to_owned()));
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
        let message = json!({"from_id": 12, "date": "2020-05-01T10:00:00"});
        assert_eq!(conversion().person(&message), Some(UserId(12)));
    }

    #[test]
    fn without_an_author_the_chat_wrote_it() {
        check(json!({"from_id": null}), expect!["-100 chat true user lender None"]);
        check(json!({}), expect!["-100 chat true user lender None"]);
    }
}
