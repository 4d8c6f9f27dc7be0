//! Converts domain values to request payloads. Pure.

use std::time::Duration;

use serde::Serialize;
use teloxide::payloads::{DeleteMessage, EditMessageText, SendChatAction, SendMessage, SetMessageReaction};
use teloxide::requests::Payload;
use teloxide::types as wire;

use crate::error::TelegramError;
use crate::update::ALLOWED_UPDATES;
use chime_core::texts::Menu;
use chime_core::{
    Button, ChatId, CommandName, Entity, EntityKind, FormattedText, ForumTopicId, MenuScope, MessageId, Outgoing, Poll,
    ReplyTarget, UserId,
};

/// Updates per poll: the server's maximum.
const BATCH: u8 = 100;

const NO_PREVIEW: wire::LinkPreviewOptions = wire::LinkPreviewOptions {
    is_disabled: true,
    url: None,
    prefer_small_media: false,
    prefer_large_media: false,
    show_above_text: false,
};

/// Declares requests, with the names of their methods, and parts of requests. They are those that teloxide lacks, or of
/// which it lacks fields. An entry gives the required fields, then the optional ones.
macro_rules! wire_structs {
    ($($name:ident $(= $method:literal)? {
        $($(#[$attribute:meta])* $field:ident: $type:ty),*; $($optional:ident: $inner:ty),* $(,)?
    })*) => {$(
        #[derive(Debug, Serialize)]
        pub struct $name {
            $($(#[$attribute])* $field: $type,)*
            $(#[serde(skip_serializing_if = "Option::is_none")] $optional: Option<$inner>,)*
        }

        $(impl Payload for $name {
            type Output = wire::True;
            const NAME: &'static str = $method;
        })?
    )*};
}

wire_structs! {
    GetUpdates = "GetUpdates" { limit: u8, timeout: u32, allowed_updates: &'static [&'static str]; offset: i32 }
    SendTextMessage = "SendMessage" {
        #[serde(flatten)]
        message: SendMessage;
        ephemeral_message_parameters: EphemeralMessageParameters,
        reply_parameters: ReplyParameters,
    }
    EphemeralMessageParameters { receiver_user_id: wire::UserId; }
    ReplyParameters {; message_id: i32, allow_sending_without_reply: bool, ephemeral_message_id: i64 }
    EditEphemeralMessageText = "EditEphemeralMessageText" {
        chat_id: wire::Recipient,
        receiver_user_id: wire::UserId,
        ephemeral_message_id: i64,
        text: String,
        link_preview_options: wire::LinkPreviewOptions;
        entities: Vec<wire::MessageEntity>,
        reply_markup: wire::InlineKeyboardMarkup,
    }
    SendMessageDraft = "SendMessageDraft" {
        chat_id: wire::Recipient, draft_id: i64, text: String;
        message_thread_id: wire::ThreadId, entities: Vec<wire::MessageEntity>,
    }
    SendPoll = "SendPoll" {
        chat_id: wire::Recipient, question: String, options: Vec<wire::InputPollOption>;
        message_thread_id: wire::ThreadId, reply_parameters: ReplyParameters,
    }
    SetMyCommands = "SetMyCommands" {
        commands: Vec<BotCommand>, scope: wire::BotCommandScope; language_code: &'static str
    }
    BotCommand { command: &'static str, description: &'static str; is_ephemeral: bool }
    AnswerGuestQuery = "AnswerGuestQuery" { guest_query_id: String, result: wire::InlineQueryResult; }
    EditInlineMessage = "EditMessageText" {
        inline_message_id: String, text: String, link_preview_options: wire::LinkPreviewOptions;
        entities: Vec<wire::MessageEntity>,
    }
}

pub fn get_updates(offset: Option<i64>, timeout: Duration) -> Result<GetUpdates, TelegramError> {
    Ok(GetUpdates {
        offset: offset.map(|offset| narrow(offset, "offset")).transpose()?,
        limit: BATCH,
        timeout: u32::try_from(timeout.as_secs()).unwrap_or(u32::MAX),
        allowed_updates: ALLOWED_UPDATES,
    })
}

/// Builds a message with entities instead of a parse mode, so that nothing in the text can make the send fail.
pub fn send_message(outgoing: &Outgoing) -> Result<SendTextMessage, TelegramError> {
    let target = outgoing.to;
    let mut message = SendMessage::new(chat_id(target.chat), outgoing.content.text.clone());
    message.message_thread_id = target.forum_topic.map(forum_topic_id).transpose()?;
    message.entities = entities(&outgoing.content);
    message.link_preview_options = Some(NO_PREVIEW);
    message.reply_markup = keyboard(&outgoing.buttons).map(wire::ReplyMarkup::InlineKeyboard);
    let receiver = outgoing.receiver.map(user_id).transpose()?;
    Ok(SendTextMessage {
        message,
        ephemeral_message_parameters: receiver.map(|receiver_user_id| EphemeralMessageParameters { receiver_user_id }),
        reply_parameters: reply_parameters(target)?,
    })
}

pub fn send_poll(to: ReplyTarget, poll: &Poll) -> Result<SendPoll, TelegramError> {
    Ok(SendPoll {
        chat_id: chat_id(to.chat),
        message_thread_id: to.forum_topic.map(forum_topic_id).transpose()?,
        question: poll.question.clone(),
        options: poll.options.iter().map(|(text, _)| wire::InputPollOption::new(text)).collect(),
        reply_parameters: reply_parameters(to)?,
    })
}

fn reply_parameters(to: ReplyTarget) -> Result<Option<ReplyParameters>, TelegramError> {
    let Some(message) = to.reply_to else { return Ok(None) };
    Ok(Some(match message.ephemeral_number() {
        Some(number) => {
            ReplyParameters { message_id: None, allow_sending_without_reply: None, ephemeral_message_id: Some(number) }
        }
        None => ReplyParameters {
            message_id: Some(message_id(message)?.0),
            allow_sending_without_reply: Some(true),
            ephemeral_message_id: None,
        },
    }))
}

pub fn edit_message(
    chat: ChatId,
    message: MessageId,
    content: &FormattedText,
    buttons: &[Vec<Button>],
) -> Result<EditMessageText, TelegramError> {
    let mut request = EditMessageText::new(chat_id(chat), message_id(message)?, content.text.clone());
    request.entities = entities(content);
    request.link_preview_options = Some(NO_PREVIEW);
    request.reply_markup = keyboard(buttons);
    Ok(request)
}

/// Replaces the text of the ephemeral message with this number.
pub fn edit_ephemeral(
    chat: ChatId,
    receiver: UserId,
    number: i64,
    content: &FormattedText,
    buttons: &[Vec<Button>],
) -> Result<EditEphemeralMessageText, TelegramError> {
    Ok(EditEphemeralMessageText {
        chat_id: chat_id(chat),
        receiver_user_id: user_id(receiver)?,
        ephemeral_message_id: number,
        text: content.text.clone(),
        entities: entities(content),
        link_preview_options: NO_PREVIEW,
        reply_markup: keyboard(buttons),
    })
}

pub fn answer_guest_query(query: &str, content: &FormattedText) -> AnswerGuestQuery {
    let mut text = wire::InputMessageContentText::new(&content.text);
    text.entities = entities(content);
    let result = wire::InlineQueryResultArticle::new("answer", "answer", wire::InputMessageContent::Text(text));
    AnswerGuestQuery { guest_query_id: query.to_owned(), result: wire::InlineQueryResult::Article(result) }
}

pub fn edit_inline_message(inline_message: &str, content: &FormattedText) -> EditInlineMessage {
    EditInlineMessage {
        inline_message_id: inline_message.to_owned(),
        text: content.text.clone(),
        link_preview_options: NO_PREVIEW,
        entities: entities(content),
    }
}

/// Builds a draft. Drafts with the same `answer_to` update one another.
pub fn send_message_draft(
    chat: ChatId,
    forum_topic: Option<ForumTopicId>,
    answer_to: MessageId,
    content: &FormattedText,
) -> Result<SendMessageDraft, TelegramError> {
    Ok(SendMessageDraft {
        chat_id: chat_id(chat),
        message_thread_id: forum_topic.map(forum_topic_id).transpose()?,
        draft_id: answer_to.0,
        text: content.text.clone(),
        entities: entities(content),
    })
}

pub fn delete_message(chat: ChatId, message: MessageId) -> Result<DeleteMessage, TelegramError> {
    Ok(DeleteMessage::new(chat_id(chat), message_id(message)?))
}

fn keyboard(rows: &[Vec<Button>]) -> Option<wire::InlineKeyboardMarkup> {
    let button = |button: &Button| wire::InlineKeyboardButton::callback(&button.label, &button.data);
    let row = |row: &Vec<Button>| row.iter().map(button).collect::<Vec<_>>();
    (!rows.is_empty()).then(|| wire::InlineKeyboardMarkup::new(rows.iter().map(row)))
}

fn entities(content: &FormattedText) -> Option<Vec<wire::MessageEntity>> {
    let entities: Vec<_> = content.entities.iter().filter_map(entity).collect();
    (!entities.is_empty()).then_some(entities)
}

pub fn typing(chat: ChatId, forum_topic: Option<ForumTopicId>) -> Result<SendChatAction, TelegramError> {
    let mut request = SendChatAction::new(chat_id(chat), wire::ChatAction::Typing);
    request.message_thread_id = forum_topic.map(forum_topic_id).transpose()?;
    Ok(request)
}

pub fn react(chat: ChatId, message: MessageId, emoji: Option<&str>) -> Result<SetMessageReaction, TelegramError> {
    let mut request = SetMessageReaction::new(chat_id(chat), message_id(message)?);
    request.reaction =
        Some(emoji.map(|emoji| wire::ReactionType::Emoji { emoji: emoji.to_owned() }).into_iter().collect());
    Ok(request)
}

pub fn set_commands(menu: &Menu) -> SetMyCommands {
    let command = |(name, description): &(CommandName, &'static str)| BotCommand {
        command: name.as_str(),
        description,
        // Telegram has ephemeral messages in groups only.
        is_ephemeral: (menu.scope != MenuScope::Private && name.is_for_asker()).then_some(true),
    };
    SetMyCommands {
        commands: menu.commands.iter().map(command).collect(),
        scope: match menu.scope {
            MenuScope::Private => wire::BotCommandScope::AllPrivateChats,
            MenuScope::Groups => wire::BotCommandScope::AllGroupChats,
            MenuScope::Admins => wire::BotCommandScope::AllChatAdministrators,
        },
        // Telegram shows the menu without a language to users without a menu in their own.
        language_code: (menu.language != "en").then_some(menu.language),
    }
}

pub fn chat_id(chat: ChatId) -> wire::Recipient {
    wire::Recipient::Id(wire::ChatId(chat.0))
}

/// Converts the id of a person.
///
/// # Errors
/// [`TelegramError::Refused`] for the id of a chat: a chat in whose name somebody writes is no member.
pub fn user_id(user: UserId) -> Result<wire::UserId, TelegramError> {
    u64::try_from(user.0).map(wire::UserId).map_err(|_| TelegramError::unsendable("user id is that of a chat"))
}

fn message_id(message: MessageId) -> Result<wire::MessageId, TelegramError> {
    narrow(message.0, "message id").map(wire::MessageId)
}

fn forum_topic_id(forum_topic: ForumTopicId) -> Result<wire::ThreadId, TelegramError> {
    narrow(forum_topic.0, "thread id").map(|id| wire::ThreadId(wire::MessageId(id)))
}

/// Narrows the id of a message or update, which has 32 bits on the wire.
fn narrow(id: i64, what: &str) -> Result<i32, TelegramError> {
    i32::try_from(id).map_err(|_| TelegramError::unsendable(format!("{what} out of range")))
}

/// Converts an entity. `None` if it cannot be sent: its text is then sent without formatting.
fn entity(entity: &Entity) -> Option<wire::MessageEntity> {
    use wire::MessageEntityKind as Wire;
    let kind = match &entity.kind {
        EntityKind::Mention => Wire::Mention,
        EntityKind::TextMention { user } => Wire::TextMention {
            // The server uses only the id.
            user: wire::User {
                id: user_id(user.id).ok()?,
                is_bot: false,
                first_name: String::new(),
                last_name: None,
                username: None,
                language_code: None,
                is_premium: false,
                added_to_attachment_menu: false,
            },
        },
        EntityKind::TextLink { url } => Wire::TextLink { url: reqwest::Url::parse(url).ok()? },
        EntityKind::BotCommand => Wire::BotCommand,
        EntityKind::Bold => Wire::Bold,
        EntityKind::Italic => Wire::Italic,
        EntityKind::Underline => Wire::Underline,
        EntityKind::Strikethrough => Wire::Strikethrough,
        EntityKind::Spoiler => Wire::Spoiler,
        EntityKind::Code => Wire::Code,
        EntityKind::Pre { language } => Wire::Pre { language: language.clone() },
        EntityKind::Blockquote => Wire::Blockquote,
        EntityKind::ExpandableBlockquote => Wire::ExpandableBlockquote,
        EntityKind::Url => Wire::Url,
        EntityKind::Email => Wire::Email,
        EntityKind::Hashtag => Wire::Hashtag,
        EntityKind::Other => return None,
    };
    Some(wire::MessageEntity::new(kind, entity.offset, entity.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::method_name;
    use chime_core::UserRef;
    use chime_testkit::updates::{BotApi, validate_request};
    use expect_test::{Expect, expect};

    /// Checks the request against the Bot API's description and shows it.
    #[track_caller]
    fn check<P: Payload + Serialize>(request: Result<P, TelegramError>, expected: Expect) {
        let shown = match request {
            Ok(payload) => {
                let params = serde_json::to_value(payload).unwrap();
                validate_request(BotApi::bundled(), &method_name::<P>(), &params).unwrap();
                format!("{} {params}", method_name::<P>())
            }
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    }

    fn outgoing(forum_topic: Option<i64>, reply_to: Option<i64>, entities: Vec<Entity>) -> Outgoing {
        let to = ReplyTarget {
            chat: ChatId(-1001),
            forum_topic: forum_topic.map(ForumTopicId),
            reply_to: reply_to.map(MessageId),
        };
        Outgoing::new(to, FormattedText { text: "see this".to_owned(), entities })
    }

    #[test]
    fn a_reply_names_topic_and_message_and_survives_a_deleted_target() {
        check(
            send_message(&outgoing(Some(7), Some(42), vec![])),
            expect![[
                r#"sendMessage {"chat_id":-1001,"link_preview_options":{"is_disabled":true},"message_thread_id":7,"reply_parameters":{"allow_sending_without_reply":true,"message_id":42},"text":"see this"}"#
            ]],
        );
    }

    #[test]
    fn without_a_topic_no_thread_is_named() {
        check(
            send_message(&outgoing(None, None, vec![])),
            expect![[r#"sendMessage {"chat_id":-1001,"link_preview_options":{"is_disabled":true},"text":"see this"}"#]],
        );
    }

    #[test]
    fn a_button_stands_below_its_message() {
        let button = Button { label: "Another conversation".to_owned(), data: "other".to_owned() };
        let buttons = vec![vec![button]];
        check(
            send_message(&Outgoing { buttons, ..outgoing(None, None, vec![]) }),
            expect![[
                r#"sendMessage {"chat_id":-1001,"link_preview_options":{"is_disabled":true},"reply_markup":{"inline_keyboard":[[{"callback_data":"other","text":"Another conversation"}]]},"text":"see this"}"#
            ]],
        );
    }

    #[test]
    fn formatting_goes_as_entities_and_what_cannot_be_sent_is_left_out() {
        let at = |kind| Entity { offset: 4, length: 4, kind };
        check(
            send_message(&outgoing(
                None,
                None,
                vec![
                    at(EntityKind::Bold),
                    at(EntityKind::TextLink { url: "https://t.me/c/1/2".to_owned() }),
                    at(EntityKind::TextLink { url: "not a url".to_owned() }),
                    at(EntityKind::TextMention { user: UserRef { id: UserId(5) } }),
                    at(EntityKind::Pre { language: Some("rust".to_owned()) }),
                    at(EntityKind::Other),
                ],
            )),
            expect![[
                r#"sendMessage {"chat_id":-1001,"entities":[{"length":4,"offset":4,"type":"bold"},{"length":4,"offset":4,"type":"text_link","url":"https://t.me/c/1/2"},{"length":4,"offset":4,"type":"text_mention","user":{"first_name":"","id":5,"is_bot":false}},{"language":"rust","length":4,"offset":4,"type":"pre"}],"link_preview_options":{"is_disabled":true},"text":"see this"}"#
            ]],
        );
    }

    #[test]
    fn a_draft_is_as_the_bot_api_wants_it() {
        let content = FormattedText { text: "half".to_owned(), entities: vec![] };
        check(
            send_message_draft(ChatId(5), None, MessageId(3), &content),
            expect![[r#"sendMessageDraft {"chat_id":5,"draft_id":3,"text":"half"}"#]],
        );
        check(
            edit_message(ChatId(-1001), MessageId(3), &content, &[]),
            expect![[
                r#"editMessageText {"chat_id":-1001,"link_preview_options":{"is_disabled":true},"message_id":3,"text":"half"}"#
            ]],
        );
    }

    #[test]
    fn an_id_that_does_not_fit_the_wire_is_refused() {
        check(
            send_message(&outgoing(None, Some(1 << 40), vec![])),
            expect!["refused with 400: message id out of range"],
        );
        check(get_updates(Some(i64::MAX), Duration::ZERO), expect!["refused with 400: offset out of range"]);
        assert!(user_id(UserId(-1001)).is_err());
    }

    #[test]
    fn every_poll_says_what_it_wants() {
        let request = get_updates(Some(12), Duration::from_secs(50)).unwrap();
        let params = serde_json::to_value(&request).unwrap();
        assert_eq!(params["allowed_updates"], serde_json::json!(ALLOWED_UPDATES));
        check(
            Ok(request),
            expect![[
                r#"getUpdates {"allowed_updates":["message","edited_message","channel_post","edited_channel_post","message_reaction","callback_query","my_chat_member","poll","guest_message"],"limit":100,"offset":12,"timeout":50}"#
            ]],
        );
    }

    #[test]
    fn a_reaction_is_set_and_taken_back() {
        let to = (ChatId(-1001), MessageId(3));
        check(
            react(to.0, to.1, Some("👀")),
            expect![[
                r#"setMessageReaction {"chat_id":-1001,"message_id":3,"reaction":[{"emoji":"👀","type":"emoji"}]}"#
            ]],
        );
        check(
            react(to.0, to.1, None),
            expect![[r#"setMessageReaction {"chat_id":-1001,"message_id":3,"reaction":[]}"#]],
        );
    }

    #[test]
    fn typing_and_commands_are_as_the_bot_api_wants_them() {
        check(
            typing(ChatId(-1001), Some(ForumTopicId(7))),
            expect![[r#"sendChatAction {"action":"typing","chat_id":-1001,"message_thread_id":7}"#]],
        );
        check(
            Ok(set_commands(&Menu {
                scope: MenuScope::Groups,
                language: "de",
                commands: vec![(CommandName::Ask, "Fragen"), (CommandName::Why, "Warum")],
            })),
            expect![[
                r#"setMyCommands {"commands":[{"command":"ask","description":"Fragen"},{"command":"why","description":"Warum","is_ephemeral":true}],"language_code":"de","scope":{"type":"all_group_chats"}}"#
            ]],
        );
    }
}
