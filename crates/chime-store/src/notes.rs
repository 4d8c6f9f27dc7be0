//! Notes: texts that a chat saved to be cited later. A note is stored in pieces.

use rusqlite::{OptionalExtension, Row, named_params};

use super::family::{Cause, Family, Merged, OptOutScope, run_merged};
use super::{Reader, Result, Writer, row};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Number by which citations name the note (`n3`). Notes are counted per chat, and a number is never used again.
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

pub(super) const FAMILY: Family =
    Family { tables: &["note", "note_piece", "note_source"], words_gone, opted_out, chat_gone, merged };

/// Deletes the notes for which the message is a source, when it is forgotten or expires. An edit does not change a
/// note.
fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause == Cause::Edited {
        return Ok(());
    }
    tx.prepare_cached(
        "DELETE FROM note WHERE id IN (SELECT note_id FROM note_source WHERE chat_key = :chat AND seq = :seq)",
    )?
    .execute(named_params! { ":chat": stored.chat.0, ":seq": stored.seq.0 })?;
    Ok(())
}

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM note WHERE (:chat IS NULL OR chat_key = :chat) AND id IN
             (SELECT note_id FROM note_source JOIN message USING (chat_key, seq) WHERE message.user_id = :user)",
    )?
    .execute(named_params! { ":user": user.0, ":chat": scope.chat().map(|key| key.0) })?;
    Ok(())
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.prepare_cached("DELETE FROM note WHERE chat_key = :chat AND saved_at <= :until")?
        .execute(named_params! { ":chat": chat.0, ":until": until.millis() })?;
    Ok(())
}

/// Moves the notes of `chats.from` to the remaining chat. They get numbers above all numbers used there.
fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    for (was, now) in &chats.seqs {
        tx.prepare_cached(
            "UPDATE OR REPLACE note_source SET chat_key = :into, seq = :now WHERE chat_key = :from AND seq = :was",
        )?
        .execute(named_params! {
            ":into": chats.into.0, ":now": now.0, ":from": chats.from.0, ":was": was.0,
        })?;
    }
    run_merged(
        tx,
        chats,
        &[
            "DELETE FROM note_source WHERE chat_key = :from AND :into <> :from",
            "UPDATE note SET chat_key = :into,
                 number = number + (SELECT next_note - 1 FROM chat WHERE chat.chat_key = :into) WHERE chat_key = :from",
            "UPDATE chat SET next_note = next_note + (SELECT next_note - 1 FROM chat AS other WHERE other.chat_key = :from)
             WHERE chat_key = :into",
        ],
    )
}

/// Saves a note and returns the number that it got.
pub fn add(tx: &Writer<'_>, note: &NewNote) -> Result<u32> {
    let key = named_params! { ":chat": note.chat.0 };
    let number: u32 = tx
        .prepare_cached("SELECT next_note FROM chat WHERE chat_key = :chat")?
        .query_row(key, |raw| raw.get("next_note"))?;
    tx.prepare_cached("UPDATE chat SET next_note = next_note + 1 WHERE chat_key = :chat")?.execute(key)?;
    tx.prepare_cached("INSERT INTO note (chat_key, number, title, saved_at) VALUES (:chat, :number, :title, :now)")?
        .execute(named_params! {
            ":chat": note.chat.0, ":number": number, ":title": note.title, ":now": note.saved_at.millis(),
        })?;
    let id = tx.last_insert_rowid();
    for (position, text) in (0_i64..).zip(&note.pieces) {
        tx.prepare_cached("INSERT INTO note_piece (note_id, position, text) VALUES (:id, :position, :text)")?
            .execute(named_params! { ":id": id, ":position": position, ":text": text })?;
    }
    for seq in &note.sources {
        tx.prepare_cached("INSERT OR IGNORE INTO note_source (chat_key, seq, note_id) VALUES (:chat, :seq, :id)")?
            .execute(named_params! { ":chat": note.chat.0, ":seq": seq.0, ":id": id })?;
    }
    Ok(number)
}

/// Deletes a note. Returns `false` if the chat has no note with this number.
pub fn remove(tx: &Writer<'_>, chat: ChatKey, number: u32) -> Result<bool> {
    let removed = tx
        .prepare_cached("DELETE FROM note WHERE chat_key = :chat AND number = :number")?
        .execute(named_params! { ":chat": chat.0, ":number": number })?;
    Ok(removed > 0)
}

pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<Note>> {
    let mut statement =
        conn.prepare_cached("SELECT id, number, title, saved_at FROM note WHERE chat_key = :chat ORDER BY number")?;
    let rows = statement
        .query_map(named_params! { ":chat": chat.0 }, |raw| Ok((raw.get::<_, i64>("id")?, note_from_row(raw)?)))?;
    rows.map(|found| {
        let (id, note) = found?;
        Ok(Note { sources: sources(conn, id)?, ..note })
    })
    .collect()
}

fn note_from_row(raw: &Row<'_>) -> rusqlite::Result<Note> {
    Ok(Note {
        number: raw.get("number")?,
        title: raw.get("title")?,
        saved_at: Timestamp::from_millis(raw.get("saved_at")?),
        sources: Vec::new(),
    })
}

fn sources(conn: &Reader, note: i64) -> Result<Vec<Seq>> {
    let mut statement = conn.prepare_cached("SELECT seq FROM note_source WHERE note_id = :id ORDER BY seq")?;
    let rows = statement.query_map(named_params! { ":id": note }, |raw| raw.get("seq").map(Seq))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the messages that are the sources of a note. Empty if there is no such note.
pub fn sources_of(conn: &Reader, chat: ChatKey, number: u32) -> Result<Vec<Seq>> {
    let id: Option<i64> = conn
        .prepare_cached("SELECT id FROM note WHERE chat_key = :chat AND number = :number")?
        .query_row(named_params! { ":chat": chat.0, ":number": number }, |raw| raw.get("id"))
        .optional()?;
    id.map_or(Ok(Vec::new()), |id| sources(conn, id))
}

pub fn pieces(conn: &Reader, chat: ChatKey) -> Result<Vec<NotePiece>> {
    let mut statement = conn.prepare_cached(
        "SELECT number, title, saved_at, text FROM note JOIN note_piece ON note_piece.note_id = note.id
         WHERE chat_key = :chat ORDER BY number, position",
    )?;
    let rows = statement.query_map(named_params! { ":chat": chat.0 }, |raw| {
        Ok(NotePiece {
            number: raw.get("number")?,
            title: raw.get("title")?,
            saved_at: Timestamp::from_millis(raw.get("saved_at")?),
            text: raw.get("text")?,
        })
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

pub fn count(conn: &Reader, chat: ChatKey) -> Result<usize> {
    let count: i64 = conn
        .prepare_cached("SELECT count(*) AS notes FROM note WHERE chat_key = :chat")?
        .query_row(named_params! { ":chat": chat.0 }, |raw| raw.get("notes"))?;
    row::number(count, "notes")
}

pub fn count_pieces(conn: &Reader, chat: ChatKey) -> Result<usize> {
    let count: i64 = conn
        .prepare_cached(
            "SELECT count(*) AS pieces FROM note_piece JOIN note ON note.id = note_piece.note_id WHERE chat_key = :chat",
        )?
        .query_row(named_params! { ":chat": chat.0 }, |raw| raw.get("pieces"))?;
    row::number(count, "pieces")
}

pub fn next_number(conn: &Reader, chat: ChatKey) -> Result<u32> {
    Ok(conn
        .prepare_cached("SELECT next_note FROM chat WHERE chat_key = :chat")?
        .query_row(named_params! { ":chat": chat.0 }, |raw| raw.get("next_note"))?)
}
