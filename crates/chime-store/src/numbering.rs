//! Telegram ids that a database contains. The embedded Telegram of the demo continues numbering after them, so that no
//! id is used twice.

use std::path::Path;

use super::sql::Statements;
use super::{Reader, Result, open};
use chime_core::{ChatId, MessageId, Timestamp, UpdateId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    /// Current Telegram id of each chat.
    pub chats: Vec<ChatId>,
    /// Highest message id in any chat; `None` if there are no messages.
    pub last_message: Option<MessageId>,
    /// Highest id of a received update; `None` if there was none.
    pub last_update: Option<UpdateId>,
    /// Id, text and time of each message, sorted by id.
    pub messages: Vec<(MessageId, String, Timestamp)>,
}

/// Reads a file of any version, before it is opened for writing. Returns `None` if there is no database yet.
///
/// # Errors
/// If the file is not a Chime database or is newer than this program.
pub fn of_file(path: &Path) -> Result<Option<Numbering>> {
    if !open::exists(path)? {
        return Ok(None);
    }
    let conn = open::connect_to_read(path)?;
    if open::check(&conn, path)? == 0 { Ok(None) } else { read(&conn).map(Some) }
}

fn read(conn: &Reader) -> Result<Numbering> {
    // Messages that the bot sent are in `outbox`. Not all of them are also in `message`.
    let messages =
        "SELECT max(message_id) FROM (SELECT message_id FROM message UNION ALL SELECT message_id FROM outbox)";
    // The ids of old updates are deleted, but the stored polling offset shows the highest one.
    let updates =
        "SELECT max(id) FROM (SELECT update_id AS id FROM inbox UNION ALL SELECT next_offset - 1 FROM poll_state)";
    let chats: Vec<ChatId> = conn.all("SELECT telegram_chat_id FROM chat ORDER BY chat_key", &[])?;
    // The demo has one chat; the messages of a bot may be many.
    let messages_of_one = "SELECT message_id, text, ts * 1000 FROM message ORDER BY message_id";
    Ok(Numbering {
        last_message: conn.one(messages, &[])?,
        last_update: conn.one(updates, &[])?,
        messages: if chats.len() == 1 { conn.all(messages_of_one, &[])? } else { Vec::new() },
        chats,
    })
}
