//! Authorizes chats. An unauthorised chat gets one notice about how to get access; then the bot leaves it.

use std::time::Duration;

use crate::ingest::intake::settings::IntakeSettings;
use chime_access::admission::{is_owner, served};
use chime_access::{Access, is_unclaimed};
use chime_core::trigger::{self, Rules, Trigger, TriggerKind};
use chime_core::{
    Arrival, Chat, ChatId, ChatKey, ChatKind, CommandName, JobPayload, Language, Membership, Timestamp, UserId,
};
use chime_privacy::language_of_app;
use chime_store::chats::ChatRow;
use chime_store::{Writer, admission, chats, consent, jobs, messages};

/// Wait before turning a chat away: the update that an owner added the bot may come after the chat's first message.
const ADMISSION_SETTLES: Duration = Duration::from_secs(3);

/// Finds or creates the row of an authorised chat. The title of a private chat is its member's name, so it is omitted
/// if the member opted out.
pub fn keep_chat(tx: &Writer<'_>, chat: &Chat) -> chime_store::Result<ChatRow> {
    if chat.kind == ChatKind::Private && consent::is_out_everywhere(tx, UserId(chat.id.0))? {
        return chats::upsert(tx, &nameless(chat));
    }
    chats::upsert(tx, chat)
}

/// Returns the chat without its names, which are not stored for an unauthorised chat.
fn nameless(chat: &Chat) -> Chat {
    Chat { title: None, username: None, ..chat.clone() }
}

/// Stores a stub for a message in an unauthorised chat, and the language of the author's app. Also returns whether the
/// message is a privacy command: these are still handled in a chat that was authorised before.
pub fn store_stub(
    tx: &Writer<'_>,
    arrival: &Arrival,
    setting: &IntakeSettings,
) -> chime_store::Result<(ChatKey, Asks)> {
    let row = chats::upsert(tx, &nameless(&arrival.chat))?;
    set_language_of_app(tx, row.key, arrival.language.as_deref())?;
    let is_news = messages::insert_stub(tx, &row, &arrival.message)?;
    let is_asked = is_news && command_in(arrival, setting).is_some_and(|(command, _)| command.spec().is_about_privacy);
    let asks = if is_asked && messages::is_any_kept(tx, row.key)? { Asks::AboutPrivacy } else { Asks::Nothing };
    Ok((row.key, asks))
}

/// Sets the language of the bot's own texts in a new chat to the app language of the user who wrote there or added it.
pub fn set_language_of_app(tx: &Writer<'_>, chat: ChatKey, app: Option<&str>) -> chime_store::Result<()> {
    match app.and_then(language_of_app) {
        Some(code) => chats::set_first_language(tx, chat, Language::from_code(code)),
        None => Ok(()),
    }
}

/// Requests that are still handled in an unauthorised chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    AboutPrivacy,
    Nothing,
}

/// Decides whether a message is from an authorised chat or user.
pub fn admit(
    tx: &Writer<'_>,
    arrival: &Arrival,
    setting: &IntakeSettings,
    now: Timestamp,
) -> chime_store::Result<Access> {
    let sender = arrival.message.sender.id;
    if arrival.chat.kind == ChatKind::Private
        && let Some((command, args)) = command_in(arrival, setting)
    {
        // Everybody may see and delete their data, even if they may not write anywhere else.
        if command.spec().is_about_privacy {
            return Ok(Access::Allowed);
        }
        if command == CommandName::Claim && is_unclaimed(&setting.access, admission::has_owner(tx)?) {
            if setting.claim.as_ref().is_some_and(|code| code.matches(&args)) {
                admission::add_owner(tx, sender, now)?;
                tracing::info!(user.id = sender.0, "user {sender} claimed the bot and owns it now");
            }
            // A wrong code gets a reply too.
            return Ok(Access::Allowed);
        }
    }
    served(tx, &arrival.chat, sender, &setting.access)
}

/// Schedules the notice to an unauthorised chat, after which the bot leaves it.
pub fn reject(tx: &Writer<'_>, chat: ChatId, now: Timestamp) -> chime_store::Result<()> {
    jobs::add_unless_due(tx, &JobPayload::Leave { chat }, now.plus(ADMISSION_SETTLES))
}

/// Handles a change of the bot's membership in a chat. Returns whether the chat is authorised.
pub fn enter(
    tx: &Writer<'_>,
    membership: &Membership,
    setting: &IntakeSettings,
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
        // A user who unblocked the bot has not written anything yet.
        (Access::Refused, ChatKind::Private) => {}
        (Access::Refused, ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel) => {
            // The chat may have no row yet.
            let row = chats::upsert(tx, &nameless(chat))?;
            set_language_of_app(tx, row.key, membership.language.as_deref())?;
            jobs::add_or_move(tx, &JobPayload::Leave { chat: chat.id }, now)?;
        }
    }
    Ok(access)
}

fn command_in(arrival: &Arrival, setting: &IntakeSettings) -> Option<(CommandName, String)> {
    let languages = setting.languages;
    let rules = Rules { parent_is_answer: false, languages, is_only_bot: false, said_before: None };
    let found = trigger::find(&arrival.message, arrival.parent.as_ref(), &setting.bot, arrival.chat.kind, &rules)?;
    match found {
        Trigger { kind: TriggerKind::Command(command, args), .. } => Some((command, args)),
        Trigger { kind: TriggerKind::Ask | TriggerKind::Thanks, .. } => None,
    }
}
