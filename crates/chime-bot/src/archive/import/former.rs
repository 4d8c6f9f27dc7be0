//! Messages from before a migration, put back into the basic group in which they were written.

use chime_core::{ChatId, ChatKind, Message, MessageId};
use chime_store::chats::ChatRow;
use chime_store::{Reader, admission, messages};

/// Telegram Desktop writes a supergroup together with the basic group that it was, whose numbers it moves by this
/// (`kMigratedMessagesIdShift`).
const SHIFT: i64 = -1_000_000_000;

/// The basic group that a chat was before, where the bot was told.
pub fn former_group(conn: &Reader, row: Option<&ChatRow>) -> chime_store::Result<Option<ChatId>> {
    let Some(row) = row.filter(|row| row.chat.kind == ChatKind::Supergroup) else { return Ok(None) };
    Ok(admission::ids_of(conn, row.key)?.into_iter().find(|id| *id != row.chat.id))
}

/// Gives `message` the chat and the number under which the bot knows it, or would. One that is not from before the migration
/// stays as it is, and so does every one where the bot does not know what the chat was before.
pub fn put_back(conn: &Reader, former: Option<ChatId>, message: &Message) -> chime_store::Result<Message> {
    let (Some(chat), Some(id)) = (former, number_before(message.id)) else { return Ok(message.clone()) };
    if messages::find_any(conn, message.chat, message.id)?.is_some() {
        // It was imported while the former chat was not known.
        return Ok(message.clone());
    }
    let reply_to = message.reply_to.map(|parent| number_before(parent).unwrap_or(parent));
    let restored = Message { chat, id, reply_to, ..message.clone() };
    let numbered_alike = messages::find_any(conn, chat, id)?;
    if numbered_alike.as_ref().is_some_and(|known| known.message.sent_at == message.sent_at) {
        return Ok(restored);
    }
    // Each account numbers the messages of a basic group by itself: the bot's number may be another.
    match (messages::heard_from(conn, chat, message.sender.id, message.sent_at)?, numbered_alike) {
        (Some(heard), _) => Ok(Message { id: heard, ..restored }),
        (None, None) => Ok(restored),
        (None, Some(_)) => Ok(message.clone()),
    }
}

fn number_before(id: MessageId) -> Option<MessageId> {
    (id.0 < 0 && id.0 > SHIFT).then(|| MessageId(id.0 - SHIFT))
}
