//! Decides whether a chat may use the bot. An unauthorised chat gets one notice about how to get access, and the bot
//! leaves it.

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

/// Delay before the notice to an unauthorised chat: the update that an owner has added the bot may arrive after the
/// first message.
const ADMISSION_SETTLES: Duration = Duration::from_secs(3);

/// Returns the stored row of an authorised chat, and creates it if needed. The title of a private chat is the member's
/// name, so it is not stored if the member opted out.
pub fn keep_chat(tx: &Writer<'_>, chat: &Chat) -> chime_store::Result<ChatRow> {
    if chat.kind == ChatKind::Private && consent::is_out_everywhere(tx, UserId(chat.id.0))? {
        return chats::upsert(tx, &nameless(chat));
    }
    chats::upsert(tx, chat)
}

/// Removes the names of an unauthorised chat, which must not be stored.
fn nameless(chat: &Chat) -> Chat {
    Chat { title: None, username: None, ..chat.clone() }
}

/// Stores a message from an unauthorised chat without its content, and the language of the author's app. Returns the
/// chat if the message is a privacy command, which is still obeyed in a chat that was authorised before.
pub fn store_stub(
    tx: &Writer<'_>,
    arrival: &Arrival,
    setting: &IntakeSettings,
) -> chime_store::Result<Option<ChatKey>> {
    let row = chats::upsert(tx, &nameless(&arrival.chat))?;
    set_language_of_app(tx, row.key, arrival.language.as_deref())?;
    let is_news = messages::insert_stub(tx, &row, &arrival.message)?;
    let is_asked = is_news && command_in(arrival, setting).is_some_and(|(command, _)| command.is_about_privacy());
    Ok((is_asked && messages::is_any_kept(tx, row.key)?).then_some(row.key))
}

/// Sets the language of the bot's own texts in a new chat. `app` is the app language of the user who wrote there or
/// added the bot.
pub fn set_language_of_app(tx: &Writer<'_>, chat: ChatKey, app: Option<&str>) -> chime_store::Result<()> {
    match app.and_then(language_of_app) {
        Some(code) => chats::set_first_language(tx, chat, Language::from_code(code)),
        None => Ok(()),
    }
}

/// Decides whether a message may use the bot. Also lets a user become the owner with the correct claim code.
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
        // Everybody may see and delete their own data, even without access to the bot.
        if command.is_about_privacy() {
            return Ok(Access::Allowed);
        }
        if command == CommandName::Claim && is_unclaimed(&setting.config.access, admission::has_owner(tx)?) {
            if setting.claim.as_ref().is_some_and(|code| code.matches(&args)) {
                admission::add_owner(tx, sender, now)?;
                tracing::info!(user.id = sender.0, "user {sender} claimed the bot and owns it now");
            }
            // A message with a wrong code is accepted too, so that it gets a reply.
            return Ok(Access::Allowed);
        }
    }
    served(tx, &arrival.chat, sender, &setting.config.access)
}

/// Schedules the job that sends an unauthorised chat the notice and leaves it.
pub fn reject(tx: &Writer<'_>, chat: ChatId, now: Timestamp) -> chime_store::Result<()> {
    jobs::add_unless_due(tx, &JobPayload::Leave { chat }, now.plus(ADMISSION_SETTLES))
}

/// Handles the update that the bot was added to a chat or unblocked by a user. Returns the chat's access.
pub fn enter(
    tx: &Writer<'_>,
    membership: &Membership,
    setting: &IntakeSettings,
    now: Timestamp,
) -> chime_store::Result<Access> {
    let Membership { chat, by, .. } = membership;
    if is_owner(tx, *by, &setting.config.access)? && chat.kind != ChatKind::Private {
        let row = chats::upsert(tx, chat)?;
        admission::allow(tx, row.key, *by, now)?;
    }
    let access = served(tx, chat, *by, &setting.config.access)?;
    match (access, chat.kind) {
        (Access::Allowed, _) => keep_chat(tx, chat).map(drop)?,
        // The user has only unblocked the bot and written nothing, so there is nothing to reply to.
        (Access::Refused, ChatKind::Private) => {}
        (Access::Refused, ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel) => {
            // Creates the row of the chat if there is none; the notice needs it.
            let row = chats::upsert(tx, &nameless(chat))?;
            set_language_of_app(tx, row.key, membership.language.as_deref())?;
            jobs::add_or_move(tx, &JobPayload::Leave { chat: chat.id }, now)?;
        }
    }
    Ok(access)
}

fn command_in(arrival: &Arrival, setting: &IntakeSettings) -> Option<(CommandName, String)> {
    let rules = Rules { parent_is_answer: false, is_only_bot: false, said_before: None, called: None };
    let found = trigger::find(&arrival.message, arrival.parent.as_ref(), setting.bot, arrival.chat.kind, &rules)?;
    match found {
        Trigger { kind: TriggerKind::Command(command, args), .. } => Some((command, args)),
        Trigger { kind: TriggerKind::Ask | TriggerKind::Thanks, .. } => None,
    }
}
