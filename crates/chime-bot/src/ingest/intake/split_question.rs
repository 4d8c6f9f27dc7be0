//! Joins two messages to one question: one that only mentions the bot, and its author's next one, which has the
//! question; or a question and its second half, sent at once.

use std::time::Duration;

use crate::ingest::intake::album::answer_to;
use chime_core::trigger::{Languages, Trigger, TriggerKind, is_generic, is_thanks};
use chime_core::{AddressedBy, Conversation, EntityKind, JobKind, Kind, Message, MessageAt, Role, StoredMessage};
use chime_store::{Reader, Writer, jobs, messages};

/// Delay of the answer to a message that only mentions the bot: its author may be sending the question.
pub const SETTLES: Duration = Duration::from_millis(1500);
/// Maximum time between two messages that are sent together. Telegram's times are whole seconds.
const AT_ONCE: Duration = Duration::from_secs(2);
/// Maximum time between the mention and the question.
const WITHIN: Duration = Duration::from_mins(1);
/// Number of messages before the question in which the mention is searched.
const LOOKED_AT: usize = 6;
/// Number of messages before the question whose authors count as present, so that the question may be addressed to
/// them.
const HEARD: usize = 40;

/// Returns `true` if a trigger only mentions the bot, so that the question may follow in another message. None follows
/// "@bot ^", which points at an earlier one.
pub fn awaits_question(found: &Trigger, message: &Message) -> bool {
    is_by_mention(found) && found.ask.trim().is_empty() && message.kind == Kind::Text && message.reply_to.is_none()
}

/// Returns the earlier message that `message` completes: its author's previous message, if that only mentions the bot,
/// or if it is itself the second half of such a question and not answered yet, or if it is a question that `message`
/// adds to at once. Only a message sent at once may complete it without being a question. Returns `None` if `message`
/// addresses a member or the group, or if the earlier message was answered and `message` does not continue that answer.
/// `as_trigger` returns the trigger in a message.
pub fn tag_before(
    conn: &Reader,
    message: &Message,
    conversation: Conversation,
    as_trigger: impl Fn(&Message) -> chime_store::Result<Option<Trigger>>,
) -> chime_store::Result<Option<MessageAt>> {
    let may_ask = message.kind == Kind::Text
        && message.reply_to.is_none()
        && message.forward_origin.is_none()
        && !message.entities.iter().any(|entity| names_somebody(&entity.kind))
        && !Languages::shipped().is_to_group(&message.text);
    if !may_ask {
        return Ok(None);
    }
    let is_question = Languages::shipped().is_question(&message.text);
    let within = if is_question { WITHIN } else { AT_ONCE };
    let moment = (message.sent_at, message.id);
    let before = messages::before(conn, conversation, moment, LOOKED_AT)?;
    let Some(tag) = same_thought(&before, message, within) else { return Ok(None) };
    let is_answered = before.iter().any(|it| it.message.role == Role::Assistant && it.message.reply_to == Some(tag.id));
    let goes_on = || {
        let (languages, text) = (Languages::shipped(), &message.text);
        languages.goes_on(text) || is_generic(text)
    };
    let is_open = || jobs::is_due(conn, &answer_to(MessageAt { chat: tag.chat, message: tag.id }));
    let is_tag = match as_trigger(tag)? {
        Some(found) if says_nothing(&found) => is_question || !is_thanks(&message.text) && is_open()?,
        Some(found) => {
            is_question && is_by_mention(&found) && message.sent_at.since(tag.sent_at) <= AT_ONCE && is_open()?
        }
        // This message does not mention the bot. If it is being answered, it was joined to a mention before it.
        None => is_open()?,
    };
    if is_answered && !goes_on() || !is_tag {
        return Ok(None);
    }
    let heard = messages::before(conn, conversation, moment, HEARD)?;
    let is_to_member = calls_member(message, heard.iter().map(|stored| &stored.message));
    Ok((!is_to_member).then_some(MessageAt { chat: tag.chat, message: tag.id }))
}

/// Returns the earlier message whose answer the question in `message`, itself a trigger, replaces: its author's previous
/// message, if that only mentions the bot and is not answered yet.
pub fn bare_tag_before(
    conn: &Reader,
    message: &Message,
    conversation: Conversation,
    as_trigger: impl Fn(&Message) -> chime_store::Result<Option<Trigger>>,
) -> chime_store::Result<Option<MessageAt>> {
    let before = messages::before(conn, conversation, (message.sent_at, message.id), LOOKED_AT)?;
    let Some(tag) = same_thought(&before, message, WITHIN) else { return Ok(None) };
    let at = MessageAt { chat: tag.chat, message: tag.id };
    let is_bare = |found: Trigger| is_by_mention(&found) && found.ask.trim().is_empty();
    let is_replaced = as_trigger(tag)?.is_some_and(is_bare) && jobs::is_due(conn, &answer_to(at))?;
    Ok(is_replaced.then_some(at))
}

/// Returns the last of the messages `before`, if the author of `message` wrote it within this time, not as a reply.
fn same_thought<'a>(before: &'a [StoredMessage], message: &Message, within: Duration) -> Option<&'a Message> {
    let last = before.iter().rev().map(|stored| &stored.message).find(|earlier| earlier.role == Role::User)?;
    let is_same =
        last.sender.id == message.sender.id && last.reply_to.is_none() && message.sent_at.since(last.sent_at) <= within;
    is_same.then_some(last)
}

/// Returns `true` for a question in words to the bot in a group.
pub fn asks(found: &Trigger) -> bool {
    found.kind == TriggerKind::Ask && found.how != AddressedBy::Private && !says_nothing(found)
}

fn is_by_mention(found: &Trigger) -> bool {
    found.kind == TriggerKind::Ask && found.how == AddressedBy::Mention
}

fn says_nothing(found: &Trigger) -> bool {
    is_by_mention(found) && !found.ask.contains(char::is_alphanumeric)
}

fn names_somebody(kind: &EntityKind) -> bool {
    matches!(kind, EntityKind::Mention | EntityKind::TextMention { .. })
}

/// Returns `true` if a message addresses another member who wrote recently: by name at its start, or between commas.
fn calls_member<'a>(message: &Message, before: impl Iterator<Item = &'a Message>) -> bool {
    let first_word = |text: &str| text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default().to_lowercase();
    let asides = message.text.split([',', ':', '?', '!']).map(|aside| aside.trim().to_lowercase());
    let called: Vec<String> = asides.chain([first_word(message.text.trim_start())]).collect();
    let others = before.filter(|earlier| earlier.sender.id != message.sender.id);
    others.map(|earlier| first_word(&earlier.sender.name)).any(|name| !name.is_empty() && called.contains(&name))
}

/// Returns the trigger for a message that completes a mention. The question is its whole text.
pub fn trigger(message: &Message) -> Trigger {
    let ask = message.text.trim().to_owned();
    let generic = is_generic(&ask);
    Trigger { kind: TriggerKind::Ask, how: AddressedBy::Mention, ask, generic, cut: Vec::new() }
}

/// Cancels the answer to the mention if it is not given yet. Returns `true` if it was cancelled.
pub fn supersede(tx: &Writer<'_>, tag: MessageAt) -> chime_store::Result<bool> {
    let of_tag = answer_to(tag);
    let is_open = jobs::is_due(tx, &of_tag)?;
    if is_open {
        jobs::finish(tx, JobKind::Answer, &of_tag.key())?;
    }
    Ok(is_open)
}
