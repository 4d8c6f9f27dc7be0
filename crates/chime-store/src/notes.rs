//! Notes: texts that a chat saved to be cited later. A note is stored in pieces.

use super::family::{Cause, Family, Merged, OptOutScope};
use super::sql::{Json, Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Number by which citations name the note (`n3`). Notes are counted per chat, and no number is given twice.
    pub number: u32,
    pub title: String,
    pub saved_at: Timestamp,
    /// Message with the command that saved the note, and the message whose text was saved.
    pub sources: Vec<Seq>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    pub chat: ChatKey,
    pub title: String,
    pub saved_at: Timestamp,
    /// Message with the command that saves the note, and the message whose text is saved.
    pub sources: Vec<Seq>,
    /// Text of the note in pieces. Each is short enough for a prompt.
    pub pieces: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotePiece {
    pub number: u32,
    pub title: String,
    pub saved_at: Timestamp,
    pub text: String,
}

pub(super) const FAMILY: Family = Family {
    tables: &["note", "note_source"],
    moved: &[("note_source", Some("seq"))],
    words_gone,
    opted_out,
    chat_gone,
    merged,
};

rows! {
    NotePiece { number, title, saved_at, text }
}

/// Deletes the notes that have this message as a source, when it is forgotten or expires. An edit does not change a
/// note.
fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause == Cause::Edited {
        return Ok(());
    }
    tx.run(
        "DELETE FROM note WHERE id IN (SELECT note_id FROM note_source WHERE chat_key = :chat AND seq = :seq)",
        params! { ":chat": stored.chat, ":seq": stored.seq },
    )
}

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM note WHERE (:chat IS NULL OR chat_key = :chat) AND id IN
         (SELECT note_id FROM note_source JOIN message USING (chat_key, seq) WHERE message.user_id = :user)",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.run("DELETE FROM note WHERE chat_key = :chat AND saved_at <= :until", params! { ":chat": chat, ":until": until })
}

/// Moves the notes of `chats.from` to the remaining chat. They get numbers above all numbers used there.
fn merged(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    let keys = params! { ":into": chats.into, ":from": chats.from };
    tx.run(
        "UPDATE note SET chat_key = :into,
             number = number + (SELECT next_note - 1 FROM chat WHERE chat.chat_key = :into) WHERE chat_key = :from",
        keys,
    )?;
    tx.run(
        "UPDATE chat SET next_note = next_note + (SELECT next_note - 1 FROM chat AS other WHERE other.chat_key = :from)
         WHERE chat_key = :into",
        keys,
    )
}

pub fn add(tx: &Writer<'_>, note: &NewNote) -> Result<u32> {
    let key = params! { ":chat": note.chat };
    let number: u32 = tx.one("SELECT next_note FROM chat WHERE chat_key = :chat", key)?;
    tx.run("UPDATE chat SET next_note = next_note + 1 WHERE chat_key = :chat", key)?;
    tx.run(
        "INSERT INTO note (chat_key, number, title, saved_at, pieces) VALUES (:chat, :number, :title, :now, :pieces)",
        params! {
            ":chat": note.chat, ":number": number, ":title": note.title, ":now": note.saved_at,
            ":pieces": Json(&note.pieces),
        },
    )?;
    let id = tx.last_insert_rowid();
    for seq in &note.sources {
        tx.run(
            "INSERT OR IGNORE INTO note_source (chat_key, seq, note_id) VALUES (:chat, :seq, :id)",
            params! { ":chat": note.chat, ":seq": seq, ":id": id },
        )?;
    }
    Ok(number)
}

/// Deletes a note. Returns `false` if the chat has no note with this number.
pub fn remove(tx: &Writer<'_>, chat: ChatKey, number: u32) -> Result<bool> {
    let removed = tx.changed(
        "DELETE FROM note WHERE chat_key = :chat AND number = :number",
        params! { ":chat": chat, ":number": number },
    )?;
    Ok(removed > 0)
}

pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<Note>> {
    let sql = "SELECT id, number, title, saved_at FROM note WHERE chat_key = :chat ORDER BY number";
    conn.map(sql, params! { ":chat": chat }, |row| {
        Ok(Note {
            sources: sources(conn, row.get("id")?)?,
            number: row.get("number")?,
            title: row.get("title")?,
            saved_at: row.get("saved_at")?,
        })
    })
}

fn sources(conn: &Reader, note: i64) -> Result<Vec<Seq>> {
    conn.all("SELECT seq FROM note_source WHERE note_id = :id ORDER BY seq", params! { ":id": note })
}

/// Returns the messages that are the sources of a note. Empty if there is no such note.
pub fn sources_of(conn: &Reader, chat: ChatKey, number: u32) -> Result<Vec<Seq>> {
    let id: Option<i64> = conn.first(
        "SELECT id FROM note WHERE chat_key = :chat AND number = :number",
        params! { ":chat": chat, ":number": number },
    )?;
    id.map_or(Ok(Vec::new()), |id| sources(conn, id))
}

pub fn pieces(conn: &Reader, chat: ChatKey) -> Result<Vec<NotePiece>> {
    conn.all(
        "SELECT number, title, saved_at, piece.value AS text FROM note, json_each(pieces) AS piece
         WHERE chat_key = :chat ORDER BY number, piece.key",
        params! { ":chat": chat },
    )
}

pub fn count(conn: &Reader, chat: ChatKey) -> Result<usize> {
    conn.one("SELECT count(*) AS notes FROM note WHERE chat_key = :chat", params! { ":chat": chat })
}

pub fn count_pieces(conn: &Reader, chat: ChatKey) -> Result<usize> {
    conn.one(
        "SELECT coalesce(sum(json_array_length(pieces)), 0) AS pieces FROM note WHERE chat_key = :chat",
        params! { ":chat": chat },
    )
}

pub fn next_number(conn: &Reader, chat: ChatKey) -> Result<u32> {
    conn.one("SELECT next_note FROM chat WHERE chat_key = :chat", params! { ":chat": chat })
}
