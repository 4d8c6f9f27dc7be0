//! Telegram's objects, as far as we read them.
//!
//! Every field may be missing or of unexpected type: it is `None` then, and the rest of the object is still read.
//! Unknown fields are ignored.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use chime_core::event_words;

/// A field of which only the presence matters.
pub type Present = IgnoredAny;

/// The unparsed fields of an object. The last one counts if a field occurs twice.
type RawFields<'a> = BTreeMap<String, &'a RawValue>;

/// Declares structs whose fields are `None` if invalid. serde's derive would also accept lists as objects and fail on
/// duplicate fields.
macro_rules! wire {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $name {
            $(pub $field: Option<$type>,)*
        }

        impl From<&RawFields<'_>> for $name {
            fn from(fields: &RawFields<'_>) -> Self {
                Self { $($field: lenient(fields, stringify!($field)),)* }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                RawFields::deserialize(deserializer).map(|fields| Self::from(&fields))
            }
        }
    )*};
}

wire! {
    User { id: i64, is_bot: bool, first_name: String, last_name: String, username: String, can_read_all_group_messages: bool,
        language_code: String, active_usernames: Items<String> }
    Chat { id: i64, r#type: String, title: String, username: String, first_name: String, last_name: String,
        is_direct_messages: bool }
    Entity { r#type: String, offset: i64, length: i64, url: String, user: User, language: String }

    /// Fields of a message other than its content.
    Head {
        message_id: i64, message_thread_id: i64, is_topic_message: bool, from: User, sender_chat: Chat, chat: Chat,
        date: i64, edit_date: i64, is_automatic_forward: bool, forward_origin: MessageOrigin, via_bot: User,
        reply_to_message: Box<TelegramMessage>, external_reply: ExternalReply, quote: Quote, reply_to_story: Present,
        media_group_id: String,
        receiver_user: Present, ephemeral_message_id: i64, guest_query_id: String,
        direct_messages_topic: Present,
    }
    /// The content of a message, or of a replied-to message from another chat.
    Content {
        text: String, entities: Items<Entity>, caption: String, caption_entities: Items<Entity>, rich_message: Value,
        animation: File, audio: File, document: File, video: File, video_note: File, voice: File,
        live_photo: Present, photo: Items<File>, paid_media: Present, sticker: Sticker, story: Present,
        checklist: Checklist, contact: Contact, dice: Dice, game: Titled, poll: Poll, venue: Venue, location: Present,
        invoice: Titled, giveaway: Present, giveaway_winners: Present,
    }
    /// Service message: an event in the chat.
    Service {
        new_chat_members: Items<User>, left_chat_member: User, new_chat_title: String, migrate_to_chat_id: i64,
        migrate_from_chat_id: i64, chat_owner_changed: NewOwner, forum_topic_created: Named,
        forum_topic_edited: Named, video_chat_ended: File, video_chat_participants_invited: Users,
    }

    MessageOrigin { sender_user: User, sender_user_name: String, sender_chat: Chat, chat: Chat, message_id: i64, date: i64,
        author_signature: String }
    Quote { text: String }
    File { file_id: String, file_unique_id: String, file_size: u64, duration: u32, file_name: String, mime_type: String,
        title: String, performer: String, width: u64, height: u64 }
    Sticker { emoji: String }
    Checklist { title: String, tasks: Items<Text> }
    Poll { id: String, question: String, options: Items<PollOption> }
    PollOption { text: String, voter_count: u32 }
    Text { text: String }
    Contact { first_name: String, last_name: String, phone_number: String }
    Venue { title: String, address: String }
    Dice { emoji: String, value: i64 }
    Titled { title: String }
    Named { name: String }
    NewOwner { new_owner: User }
    Users { users: Items<User> }

    ChatMemberUpdated { chat: Chat, from: User, new_chat_member: ChatMember }
    ChatMember { status: String, is_member: bool, can_send_messages: bool, user: User }
    Webhook { url: String }
    Download { file_path: String }
    ReactionUpdated { chat: Chat, message_id: i64, user: User, actor_chat: Chat, new_reaction: Items<ReactionType> }
    ReactionType { emoji: String }
    ShortDescription { short_description: String }
    CallbackQuery { id: String, from: User, message: MessageReference, data: String }
    /// The fields that a message still has when it is no longer accessible.
    MessageReference { chat: Chat, message_id: i64, ephemeral_message_id: i64, date: i64, poll: Poll,
        reply_markup: ReplyMarkup }
    ReplyMarkup { inline_keyboard: Items<Items<InlineButton>> }
    InlineButton { callback_data: String }
    SentGuestMessage { inline_message_id: String }

    /// The response of every method.
    ApiResponse { ok: bool, error_code: u16, description: String, parameters: Parameters, result: Box<RawValue> }
    Parameters { retry_after: u64, migrate_to_chat_id: i64 }
}

/// A message. Its fields are split into three structs.
#[derive(Debug)]
pub struct TelegramMessage {
    pub head: Head,
    pub content: Content,
    pub service: Service,
    /// Words for an event without details.
    pub event: Option<&'static str>,
}

/// A replied-to message from another chat or forum topic.
#[derive(Debug)]
pub struct ExternalReply {
    pub place: External,
    pub content: Content,
}

wire! {
    External { origin: MessageOrigin, chat: Chat, message_id: i64 }
}

/// A list. Elements that cannot be parsed are left out.
#[derive(Debug)]
pub struct Items<T>(pub Vec<T>);

impl<'de> Deserialize<'de> for TelegramMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = &RawFields::deserialize(deserializer)?;
        let is_present = |name: &&String| lenient::<Present>(fields, name).is_some();
        let event = fields.keys().filter(is_present).find_map(|name| event_words(name));
        Ok(Self { head: fields.into(), content: fields.into(), service: fields.into(), event })
    }
}

impl<'de> Deserialize<'de> for ExternalReply {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = &RawFields::deserialize(deserializer)?;
        Ok(Self { place: fields.into(), content: fields.into() })
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Items<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Vec::<&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.into_iter().filter_map(|item| serde_json::from_str(item.get()).ok()).collect()))
    }
}

/// Parses a field separately from its object, so that a failure affects only the field.
fn lenient<T: DeserializeOwned>(fields: &RawFields<'_>, name: &str) -> Option<T> {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let raw = fields.get(name)?.get();
    if raw == "null" { None } else { serde_json::from_str(raw).ok() }
}

impl<T> Items<T> {
    /// Returns the elements of an optional list, none if it is missing.
    pub fn of(list: Option<&Self>) -> &[T] {
        list.map_or(&[], |items| &items.0)
    }
}

impl User {
    /// Returns the first and last name, or else the username.
    pub fn display_name(&self) -> Option<String> {
        full_name(self.first_name.as_deref(), self.last_name.as_deref()).or_else(|| filled(self.username.as_deref()))
    }
}

impl Chat {
    /// Returns the title, or a private chat's first and last name, or else the username.
    pub fn display_name(&self) -> Option<String> {
        filled(self.title.as_deref())
            .or_else(|| full_name(self.first_name.as_deref(), self.last_name.as_deref()))
            .or_else(|| filled(self.username.as_deref()))
    }
}

/// Joins first and last name. `None` if both are missing or empty.
pub fn full_name(first: Option<&str>, last: Option<&str>) -> Option<String> {
    let parts: Vec<&str> = [first, last].into_iter().flatten().map(str::trim).filter(|part| !part.is_empty()).collect();
    filled(Some(&parts.join(" ")))
}

/// Formats seconds as `m:ss`.
pub fn minutes(seconds: u32) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

pub fn filled(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_the_wrong_type_is_missing_and_the_rest_is_there() {
        let user: User =
            serde_json::from_str(r#"{"id":1,"is_bot":"yes","first_name":5,"username":"ana","new":{}}"#).unwrap();
        assert_eq!(
            (user.id, user.is_bot, user.first_name, user.username.as_deref()),
            (Some(1), None, None, Some("ana"))
        );
    }

    #[test]
    fn a_list_is_no_object_and_of_two_fields_the_last_counts() {
        assert!(serde_json::from_str::<User>("[1, true]").is_err());
        assert_eq!(serde_json::from_str::<User>(r#"{"id":1,"id":2}"#).unwrap().id, Some(2));
    }

    #[test]
    fn a_bad_element_leaves_its_list_standing() {
        let poll: Poll = serde_json::from_str(r#"{"options":[{"text":"a"},null,7,{"text":"b"}]}"#).unwrap();
        let options: Vec<_> = Items::of(poll.options.as_ref()).iter().filter_map(|o| o.text.as_deref()).collect();
        assert_eq!(options, ["a", "b"]);
    }

    #[test]
    fn null_is_absent_also_where_only_presence_counts() {
        let head: Head = serde_json::from_str(r#"{"receiver_user":null,"guest_query_id":""}"#).unwrap();
        assert!(head.receiver_user.is_none());
        assert!(head.guest_query_id.is_some());
    }

    #[test]
    fn a_name_is_whatever_there_is() {
        assert_eq!(full_name(Some("Ana "), Some("Kask")), Some("Ana Kask".to_owned()));
        assert_eq!(full_name(None, Some("Kask")), Some("Kask".to_owned()));
        assert_eq!(full_name(Some("  "), None), None);
    }
}
