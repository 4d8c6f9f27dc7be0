//! The numbers of Telegram that the file holds: a pretended Telegram goes on with them.

use std::path::Path;

use super::{Reader, Result, open, row};
use chime_core::{ChatId, MessageId, UpdateId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbering {
    /// By their present ids.
    pub chats: Vec<ChatId>,
    /// The highest of any chat; none without a message.
    pub last_message: Option<MessageId>,
    /// None where no update was ever taken in.
    pub last_update: Option<UpdateId>,
}

/// Reads a file of whatever version, before anybody opens it for writing. None where there is no database yet.
///
/// # Errors
/// When the file is none of ours, or newer than this program.
pub fn of_file(path: &Path) -> Result<Option<Numbering>> {
    if !open::exists(path)? {
        return Ok(None);
    }
    let conn = open::connect_to_read(path)?;
    if open::check(&conn, path)? == 0 { Ok(None) } else { read(&conn).map(Some) }
}

fn read(conn: &Reader) -> Result<Numbering> {
    let mut statement = conn.prepare("SELECT telegram_chat_id FROM chat ORDER BY chat_key")?;
    let chats = statement.query_map([], |raw| row::get(raw, "telegram_chat_id").map(ChatId))?;
    // What the bot sent is in the outbox, and not all of it is a message of the chat.
    let last_message: Option<i64> = conn.query_row(
        "SELECT max(message_id) AS last FROM (SELECT message_id FROM message UNION ALL SELECT message_id FROM outbox)",
        [],
        |raw| row::get(raw, "last"),
    )?;
    // Old updates are deleted, the offset stays.
    let last_update: Option<i64> = conn.query_row(
        "SELECT max(id) AS last FROM (SELECT update_id AS id FROM inbox UNION ALL SELECT next_offset - 1 FROM poll_state)",
        [],
        |raw| row::get(raw, "last"),
    )?;
    Ok(Numbering {
        chats: chats.collect::<rusqlite::Result<_>>()?,
        last_message: last_message.map(MessageId),
        last_update: last_update.map(UpdateId),
    })
}
