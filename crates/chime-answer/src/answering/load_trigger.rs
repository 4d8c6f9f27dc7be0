//! Loads the trigger of a job: decides if it is still to be answered, and finds its question.

use std::borrow::Cow;
use std::time::Duration;

use crate::answering::services::Services;
use chime_access::Access;
use chime_access::admission::{is_owner, served};
use chime_core::chat_settings::{ASKERS, ChatSettings};
use chime_core::trigger::{self, Languages, author_run, calls_bot};
use chime_core::{
    AddressedBy, Askers, ChatId, Language, MessageAt, MessageId, MessagePlace, ParsedTrigger, StoredMessage, Timestamp,
    UserId, Zone, parse_message_link,
};
use chime_memory::context::TriggerInput;
use chime_relevance::context::without_bots;
use chime_relevance::retrieval::item_question;
use chime_store::chats::{self, ChatRow};
use chime_store::{Reader, answers, chat_settings, consent, messages};

/// Maximum number of messages just before a trigger that are read to find a question of its author.
const IN_A_ROW: usize = 6;

/// Reason why a trigger is not to be answered any more when its job starts.
pub enum ClosedTrigger {
    Gone,
    Answered,
    /// The trigger waited too long, because of a crash or a downtime.
    Old(Box<StoredMessage>),
}

/// A trigger that is to be answered, before its history is read.
pub struct LoadedTrigger {
    pub asked: TriggerInput,
    pub chat: ChatRow,
    pub settings: ChatSettings,
    /// `true` if the question has no words of its own and only refers to the conversation ("thoughts?").
    pub generic: bool,
}

/// Reads the message `at` and decides if it is still to be answered. A trigger older than `max_age` is not answered but
/// counted in a notice.
pub fn load_trigger(
    conn: &Reader,
    services: &Services,
    now: Timestamp,
    max_age: Duration,
    at: MessageAt,
    parsed: &ParsedTrigger,
) -> chime_store::Result<Result<LoadedTrigger, ClosedTrigger>> {
    let (Some(mut trigger), Some(chat)) = (consent::for_job(conn, at.chat, at.message)?, chats::find(conn, at.chat)?)
    else {
        return Ok(Err(ClosedTrigger::Gone));
    };
    let settings = chat_settings::load(conn, trigger.conversation())?;
    // The chat was allowed when the trigger came in; the operator may have changed that since.
    if served(conn, &chat.chat, trigger.message.sender.id, &services.base.config.access)? == Access::Refused {
        return Ok(Err(ClosedTrigger::Gone));
    }
    let asked_at = trigger.message.edited_at.unwrap_or(trigger.message.sent_at);
    // Messages are dated by Telegram's clock.
    if services.base.telegram.server_date().unwrap_or(now).since(asked_at) > max_age {
        return Ok(Err(ClosedTrigger::Old(Box::new(trigger))));
    }
    if answers::to_trigger(conn, trigger.chat, trigger.seq)?.is_some() {
        return Ok(Err(ClosedTrigger::Answered));
    }
    if trigger.message.reply_to.is_none() {
        trigger.message.reply_to = linked(conn, &chat, &trigger)?;
    }
    if let Some(parent) = trigger.message.reply_to
        && messages::is_withheld(conn, trigger.message.chat, parent)?
    {
        // A quote would show text of the withheld message.
        trigger.message.quote = None;
        trigger.message.snapshot = None;
    }
    let parsed = &as_transcribed(parsed, &trigger);
    let (asked, generic) = asked(conn, trigger, chat.language, settings.zone(services.base.zone()), parsed)?;
    Ok(Ok(LoadedTrigger { asked, chat, settings, generic }))
}

/// Returns `true` if `user` may ask in a chat: anybody if its settings have no restriction, else admins of the chat and
/// owners of the bot. While Telegram cannot be asked, the member may ask, since an answer to the wrong person does
/// less harm than a refusal.
pub(super) async fn may_ask(
    services: &Services,
    chat: ChatId,
    settings: &ChatSettings,
    user: UserId,
) -> chime_store::Result<bool> {
    if settings.get(ASKERS) != Some(Askers::Admins) {
        return Ok(true);
    }
    let access = services.base.config.access.clone();
    if services.base.store.read(move |conn| is_owner(conn, user, &access)).await? {
        return Ok(true);
    }
    Ok(match services.base.telegram.member_status(chat, user).await {
        Ok(status) => status.is_admin(),
        Err(error) => {
            tracing::info!(%error, "Telegram did not tell if the asker is an admin");
            !error.is_lasting()
        }
    })
}

/// Returns the message of the same chat that the trigger links to. A question about a link is a reply to its message.
fn linked(conn: &Reader, chat: &ChatRow, trigger: &StoredMessage) -> chime_store::Result<Option<MessageId>> {
    let place = trigger.message.addresses().find_map(|address| match parse_message_link(address)? {
        MessagePlace::Ids(of, message) => (of == trigger.message.chat).then_some(message),
        MessagePlace::Public { username, message } => {
            let is_here = chat.chat.username.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(&username));
            is_here.then_some(message)
        }
    });
    let known = place.map_or(Ok(None), |id| messages::find_any(conn, trigger.message.chat, id))?;
    Ok(known.filter(|linked| linked.seq != trigger.seq).map(|linked| linked.message.id))
}

/// Decides again if a voice message has a question of its own: its words were unknown when it arrived.
fn as_transcribed(parsed: &ParsedTrigger, trigger: &StoredMessage) -> ParsedTrigger {
    let mut parsed = parsed.clone();
    if trigger.message.kind.is_spoken() {
        parsed.is_generic = trigger::is_generic(&trigger::ask_of(&trigger.message, &parsed));
    }
    parsed
}

/// Returns the question of a trigger, and `true` if it only refers to the conversation ("thoughts?").
pub fn asked(
    conn: &Reader,
    trigger: StoredMessage,
    language: Language,
    zone: Zone,
    parsed: &ParsedTrigger,
) -> chime_store::Result<(TriggerInput, bool)> {
    let ask = trigger::ask_of(&trigger.message, parsed);
    let may_follow_tag = parsed.how == AddressedBy::Mention && parsed.cut.is_empty();
    // "What do I have to do?" consists of common words, but asks for tasks.
    let is_generic = parsed.is_generic && item_question(&ask, language).is_none();
    let (ask, generic) = match (is_generic, may_follow_tag) {
        (true, _) => in_pieces(conn, &trigger, ask)?,
        (false, true) => (after_tag(conn, &trigger, ask)?, false),
        (false, false) => (ask, false),
    };
    let is_tag = parsed.how == AddressedBy::Mention;
    Ok((TriggerInput { trigger, ask, is_tag, language, zone }, generic))
}

/// Returns the question for a trigger that has none: what its author wrote just before it, in one message or several.
/// The flag is `true` if there was nothing. A trigger that is a reply refers to the replied-to message instead.
fn in_pieces(conn: &Reader, trigger: &StoredMessage, ask: String) -> chime_store::Result<(String, bool)> {
    if trigger.message.reply_to.is_some() {
        return Ok((ask, true));
    }
    let moment = (trigger.message.sent_at, trigger.message.id);
    let before = messages::before(conn, trigger.conversation(), moment, IN_A_ROW)?;
    let run = author_run(&before, trigger);
    // Messages up to an earlier trigger with words belong to that question, unless this trigger continues it: "and?".
    let is_asked = |stored: &&StoredMessage| calls_bot(&stored.message.text) && !only_names(&stored.message.text);
    let asked = run.iter().rposition(is_asked).filter(|_| !Languages::shipped().goes_on(&ask));
    let question = joined(&run[asked.map_or(0, |last| last + 1)..], &ask);
    Ok(question.map_or((ask, true), |question| (question, false)))
}

/// Returns the question of a trigger whose author mentioned the bot in a separate message before, alone or with words.
/// Includes the parts of the question before and after that mention.
fn after_tag(conn: &Reader, trigger: &StoredMessage, ask: String) -> chime_store::Result<String> {
    let moment = (trigger.message.sent_at, trigger.message.id);
    let before = messages::before(conn, trigger.conversation(), moment, IN_A_ROW)?;
    let run = author_run(&before, trigger);
    if !run.iter().any(|stored| calls_bot(&stored.message.text)) {
        return Ok(ask);
    }
    Ok(joined(&run, &ask).unwrap_or(ask))
}

/// Joins the messages of `run`, from the first that is a question, and `ask`. `None` if none is a question.
fn joined(run: &[&StoredMessage], ask: &str) -> Option<String> {
    let question = run.iter().position(|stored| Languages::shipped().is_question(&stored.message.text))?;
    let texts = run[question..].iter().map(|stored| stored.message.text.as_str()).filter(|text| !only_names(text));
    let pieces = texts.map(without_bots).chain([Cow::Borrowed(ask)]);
    Some(pieces.filter(|piece| !piece.trim().is_empty()).collect::<Vec<_>>().join("\n"))
}

fn only_names(text: &str) -> bool {
    !text.is_empty() && text.split_whitespace().all(|word| word.starts_with('@'))
}
