//! Admission of chats: one that may not be served is told once how that changes, and left.

use std::time::Duration;

use crate::ingest::intake::apply::Setting;
use chime_access::admission::{is_owner, served};
use chime_access::{Access, is_unclaimed};
use chime_core::trigger::{self, Rules, Trigger, TriggerKind};
use chime_core::{
    Arrival, Chat, ChatId, ChatKey, ChatKind, CommandName, JobPayload, Language, Membership, Timestamp, UserId,
};
use chime_privacy::language_of_app;
use chime_store::chats::ChatRow;
use chime_store::{Writer, admission, chats, consent, jobs, messages};

/// An update that an owner added the bot may come after the first message of the chat: so long is waited for it.
const ADMISSION_SETTLES: Duration = Duration::from_secs(3);

/// Finds or creates the row of a chat that is served. A private chat is called by the name of its member, who may object.
pub fn keep_chat(tx: &Writer<'_>, chat: &Chat) -> chime_store::Result<ChatRow> {
    if chat.kind == ChatKind::Private && consent::is_out_everywhere(tx, UserId(chat.id.0))? {
        return chats::upsert(tx, &nameless(chat));
    }
    chats::upsert(tx, chat)
}

/// What a chat is called is none of what is kept of one that is not served.
fn nameless(chat: &Chat) -> Chat {
    Chat { title: None, username: None, ..chat.clone() }
}

/// Keeps nothing of a message in a chat that is not served but that there was one, and the language of its author's app. Gives
/// whether it asks for what a chat that was served before may still be asked: about what is kept of whoever wrote it.
pub fn keep_out(tx: &Writer<'_>, arrival: &Arrival, setting: &Setting) -> chime_store::Result<(ChatKey, Asks)> {
    let row = chats::upsert(tx, &nameless(&arrival.chat))?;
    set_language_of_app(tx, row.key, arrival.language.as_deref())?;
    let is_news = messages::insert_stub(tx, &row, &arrival.message)?;
    let is_asked = is_news && command_in(arrival, setting).is_some_and(|(command, _)| command.spec().is_about_privacy);
    let asks = if is_asked && messages::is_any_kept(tx, row.key)? { Asks::AboutPrivacy } else { Asks::Nothing };
    Ok((row.key, asks))
}

/// A chat is spoken to at first in the language of the app of whoever wrote there, or brought the bot.
pub fn set_language_of_app(tx: &Writer<'_>, chat: ChatKey, app: Option<&str>) -> chime_store::Result<()> {
    match app.and_then(language_of_app) {
        Some(code) => chats::set_first_language(tx, chat, Language::from_code(code)),
        None => Ok(()),
    }
}

/// What a chat that is not served is still answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    AboutPrivacy,
    Nothing,
}

/// Whether what came in is served.
pub fn admit(tx: &Writer<'_>, arrival: &Arrival, setting: &Setting, now: Timestamp) -> chime_store::Result<Access> {
    let sender = arrival.message.sender.id;
    if arrival.chat.kind == ChatKind::Private
        && let Some((command, args)) = command_in(arrival, setting)
    {
        // Everybody may know what is kept of them and have it deleted, wherever else they may write.
        if command.spec().is_about_privacy {
            return Ok(Access::Allowed);
        }
        if command == CommandName::Claim && is_unclaimed(&setting.access, admission::has_owner(tx)?) {
            if setting.claim.as_ref().is_some_and(|code| code.matches(&args)) {
                admission::add_owner(tx, sender, now)?;
                tracing::info!(user.id = sender.0, "user {sender} claimed the bot and owns it now");
            }
            // Whoever mistyped the code is told so.
            return Ok(Access::Allowed);
        }
    }
    served(tx, &arrival.chat, sender, &setting.access)
}

/// A chat that wrote to us without being allowed: it is told how to be, once, and left.
pub fn turn_away(tx: &Writer<'_>, chat: ChatId, now: Timestamp) -> chime_store::Result<()> {
    jobs::add_unless_due(tx, &JobPayload::Leave { chat }, now.plus(ADMISSION_SETTLES))
}

/// The bot came into a chat, or its standing there changed. Gives whether the chat is served.
pub fn enter(
    tx: &Writer<'_>,
    membership: &Membership,
    setting: &Setting,
    now: Timestamp,
) -> chime_store::Result<Access> {
    let Membership { chat, by, .. } = membership;
    if is_owner(tx, *by, &setting.access)? && chat.kind != ChatKind::Private {
        let row = chats::upsert(tx, chat)?;
        admission::allow(tx, row.key, *by, now)?;
    }
    let access = served(tx, chat, *by, &setting.access)?;
    match (access, chat.kind) {
        (Access::Allowed, _) => keep_chat(tx, chat).map(drop)?,
        // Whoever unblocks the bot has not said anything yet.
        (Access::Refused, ChatKind::Private) => {}
        (Access::Refused, ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel) => {
            // Nothing may have been said there yet.
            let row = chats::upsert(tx, &nameless(chat))?;
            set_language_of_app(tx, row.key, membership.language.as_deref())?;
            jobs::add_or_move(tx, &JobPayload::Leave { chat: chat.id }, now)?;
        }
    }
    Ok(access)
}

fn command_in(arrival: &Arrival, setting: &Setting) -> Option<(CommandName, String)> {
    let languages = setting.languages;
    let rules = Rules { parent_is_answer: false, languages, is_only_bot: false, said_before: None };
    let found = trigger::find(&arrival.message, arrival.parent.as_ref(), &setting.bot, arrival.chat.kind, &rules)?;
    match found {
        Trigger { kind: TriggerKind::Command(command, args), .. } => Some((command, args)),
        Trigger { kind: TriggerKind::Ask | TriggerKind::Thanks, .. } => None,
    }
}
