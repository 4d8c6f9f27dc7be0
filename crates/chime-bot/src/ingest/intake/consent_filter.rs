//! Consent filter: decides which parts of an arriving message must not be stored, because somebody opted out.

use chime_core::{Arrival, ChatKey, ChatKind, CommandName, JobPayload, Message, Timestamp};
use chime_privacy::Withheld;
use chime_store::chats::ChatRow;
use chime_store::deletions::DeletionTarget;
use chime_store::family::OptOutScope;
use chime_store::{Reader, Writer, answers, consent, deletions, jobs};

/// Returns the parts of `arrival` that must not be stored.
pub fn withheld(conn: &Reader, chat: &ChatRow, arrival: &Arrival) -> chime_store::Result<Withheld> {
    let copied = |message: &Message| consent::is_author_out(conn, chat.key, message);
    let mut named = false;
    for user in &arrival.named {
        named = named || consent::opted_out(conn, chat.key, *user)?.is_some();
    }
    Ok(Withheld {
        message: consent::is_withheld(conn, chat.key, &arrival.message)?,
        parent: arrival.parent.as_ref().map_or(Ok(false), |parent| consent::is_withheld(conn, chat.key, parent))?,
        copied: copied(&arrival.message)?,
        parent_copied: arrival.parent.as_ref().map_or(Ok(false), copied)?,
        named,
    })
}

/// Handles `/optin` and `/optout` at once, so that they apply to the next message. Returns `true` if a job was
/// scheduled.
pub fn apply_command(
    tx: &Writer<'_>,
    command: CommandName,
    arrival: &Arrival,
    chat: ChatKey,
    now: Timestamp,
) -> chime_store::Result<bool> {
    let message = &arrival.message;
    // The sender is an anonymous admin, so it is unknown which person wants to opt in or out.
    if message.sender.is_chat && message.sender.id.0 == message.chat.0 {
        return Ok(false);
    }
    let user = message.sender.id;
    // In private the command applies to all chats.
    let scope = if arrival.chat.kind == ChatKind::Private { OptOutScope::EveryChat } else { OptOutScope::Chat(chat) };
    match command {
        CommandName::Optin => consent::opt_in(tx, scope, user).map(|()| false),
        CommandName::Optout if consent::opt_out(tx, scope, &message.sender, now)? => {
            if answers::grounds_of_member(tx, scope.chat(), user, now, 1)?.is_empty() {
                return Ok(false);
            }
            // Answers with the member's words are hidden from now on. A job deletes them when no more important work is
            // left.
            let what = DeletionTarget::Derived { chat: scope.chat(), user };
            let until = message.sent_at;
            let request = deletions::DeletionRequest {
                what,
                asked_at: now,
                until,
                asked_by: user,
                was_announced: false,
                to: None,
            };
            let id = deletions::add(tx, &request)?;
            jobs::add_or_move(tx, &JobPayload::Forget { request: id, chat: message.chat }, now)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}
