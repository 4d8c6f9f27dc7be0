//! Finds the former chat of old messages: when a basic group becomes a supergroup, its export contains the messages of
//! both.

use chime_core::{ChatId, ChatKind, Message, MessageId};
use chime_store::chats::ChatRow;
use chime_store::{Reader, admission, messages};

/// Number that Telegram Desktop adds to the ids of messages from the basic group in the export of its supergroup
/// (`kMigratedMessagesIdShift`).
const SHIFT: i64 = -1_000_000_000;

/// Returns the basic group that became this supergroup, or `None` if the bot does not know it.
pub fn former_group(conn: &Reader, row: &ChatRow) -> chime_store::Result<Option<ChatId>> {
    if row.chat.kind != ChatKind::Supergroup {
        return Ok(None);
    }
    Ok(admission::ids_of(conn, row.key)?.into_iter().find(|id| *id != row.chat.id))
}

/// Returns a message from before the migration with the chat and id that it had in the basic group. Returns any other
/// message unchanged, also if the basic group is unknown.
pub fn put_back(conn: &Reader, former: Option<ChatId>, message: &Message) -> chime_store::Result<Message> {
    let (Some(chat), Some(id)) = (former, number_before(message.id)) else { return Ok(message.clone()) };
    if messages::find_any(conn, message.chat, message.id)?.is_some() {
        // An earlier import stored the message in the supergroup, when the bot did not know the basic group yet.
        return Ok(message.clone());
    }
    let reply_to = message.reply_to.map(|parent| number_before(parent).unwrap_or(parent));
    let restored = Message { chat, id, reply_to, ..message.clone() };
    let numbered_alike = messages::find_any(conn, chat, id)?;
    if numbered_alike.as_ref().is_some_and(|known| known.message.sent_at == message.sent_at) {
        return Ok(restored);
    }
    // In a basic group each account numbers the messages differently, so the bot may have stored this one with another
    // id.
    match (messages::heard_from(conn, chat, message.sender.id, message.sent_at)?, numbered_alike) {
        (Some(heard), _) => Ok(Message { id: heard, ..restored }),
        (None, None) => Ok(restored),
        (None, Some(_)) => Ok(message.clone()),
    }
}

fn number_before(id: MessageId) -> Option<MessageId> {
    (id.0 < 0 && id.0 > SHIFT).then(|| MessageId(id.0 - SHIFT))
}
