//! Moves messages from before a supergroup migration back to the basic group they were written in.

use chime_core::{ChatId, ChatKind, Message, MessageId};
use chime_store::chats::ChatRow;
use chime_store::{Reader, admission, messages};

/// Offset of message ids from the former basic group: Telegram Desktop exports a supergroup together with that group
/// and shifts its ids by this number (`kMigratedMessagesIdShift`).
const SHIFT: i64 = -1_000_000_000;

/// Returns the basic group that a supergroup was before, if the bot knows it.
pub fn former_group(conn: &Reader, row: Option<&ChatRow>) -> chime_store::Result<Option<ChatId>> {
    let Some(row) = row.filter(|row| row.chat.kind == ChatKind::Supergroup) else { return Ok(None) };
    Ok(admission::ids_of(conn, row.key)?.into_iter().find(|id| *id != row.chat.id))
}

/// Returns `message` with the chat and id under which the bot knows it or would know it. A message from after the
/// migration, or of a chat whose former group is unknown, is returned unchanged.
pub fn put_back(conn: &Reader, former: Option<ChatId>, message: &Message) -> chime_store::Result<Message> {
    let (Some(chat), Some(id)) = (former, number_before(message.id)) else { return Ok(message.clone()) };
    if messages::find_any(conn, message.chat, message.id)?.is_some() {
        // An earlier import stored it before the bot knew the former chat.
        return Ok(message.clone());
    }
    let reply_to = message.reply_to.map(|parent| number_before(parent).unwrap_or(parent));
    let restored = Message { chat, id, reply_to, ..message.clone() };
    let numbered_alike = messages::find_any(conn, chat, id)?;
    if numbered_alike.as_ref().is_some_and(|known| known.message.sent_at == message.sent_at) {
        return Ok(restored);
    }
    // Message ids in a basic group differ for each account, so the bot may know this message by another id.
    match (messages::heard_from(conn, chat, message.sender.id, message.sent_at)?, numbered_alike) {
        (Some(heard), _) => Ok(Message { id: heard, ..restored }),
        (None, None) => Ok(restored),
        (None, Some(_)) => Ok(message.clone()),
    }
}

fn number_before(id: MessageId) -> Option<MessageId> {
    (id.0 < 0 && id.0 > SHIFT).then(|| MessageId(id.0 - SHIFT))
}
