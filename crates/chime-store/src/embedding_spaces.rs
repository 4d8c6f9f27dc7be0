//! Embedding spaces. A space contains the vectors of one model in one dimension. Only one space is searched; another
//! may be filled at the same time. Vectors of different spaces are never compared.

use super::family::{Cause, Family};
use super::row::row_id;
use super::sql::{Statements, params, rows};
use super::vector_tables::{Space, SpaceState, TABLES};
use super::{Reader, Result, Writer, vector_index};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp};

/// Number of newest messages in a chat for which no vectors are stored: their texts still change often, and every
/// search reads them anyway.
pub const NEAR: u32 = 30;

const COLUMNS: &str = "id, model, dimension, state";

rows! {
    Space { id, model, dimension, state }
}

pub fn active(conn: &Reader) -> Result<Option<Space>> {
    one(conn, "state = 'active'", params! {})
}

/// Returns the space of a model, or `None`. If the model's dimension has changed, there may be two: then the newer one.
pub fn of_model(conn: &Reader, model: &str) -> Result<Option<Space>> {
    one(conn, "model = :model", params! { ":model": model })
}

/// Returns a space that another one has replaced and that is still to be deleted.
pub fn left(conn: &Reader) -> Result<Option<Space>> {
    one(conn, "state = 'left'", params! {})
}

fn one(conn: &Reader, condition: &str, params: &[(&str, &dyn rusqlite::ToSql)]) -> Result<Option<Space>> {
    conn.first(&format!("SELECT {COLUMNS} FROM vector_space WHERE {condition} ORDER BY id DESC LIMIT 1"), params)
}

/// Finds the space of `model` in `dimension`, or creates it with its index. The first space of a database becomes the
/// one that is searched.
pub fn ensure(tx: &Writer<'_>, model: &str, dimension: usize) -> Result<Space> {
    let params = params! { ":model": model, ":dimension": dimension };
    if let Some(known) = one(tx, "model = :model AND dimension = :dimension", params)? {
        if known.state == SpaceState::Left {
            // The operator switched back to this model before its space was deleted.
            set_state(tx, known.id, SpaceState::Filling)?;
            return Ok(Space { state: SpaceState::Filling, ..known });
        }
        return Ok(known);
    }
    let state = if active(tx)?.is_none() { SpaceState::Active } else { SpaceState::Filling };
    tx.run(
        "INSERT INTO vector_space (model, dimension, state) VALUES (:model, :dimension, :state)",
        params! {
            ":model": model, ":dimension": dimension, ":state": state,
        },
    )?;
    let space = Space { id: tx.last_insert_rowid(), model: model.to_owned(), dimension, state };
    vector_index::create(tx, &space)?;
    Ok(space)
}

pub fn activate(tx: &Writer<'_>, space: i64) -> Result<()> {
    tx.run("UPDATE vector_space SET state = 'left' WHERE state = 'active' AND id <> :id", params! { ":id": space })?;
    set_state(tx, space, SpaceState::Active)
}

fn set_state(tx: &Writer<'_>, space: i64, state: SpaceState) -> Result<()> {
    tx.run("UPDATE vector_space SET state = :state WHERE id = :id", params! { ":state": state, ":id": space })
}

/// Deletes part of a replaced space: first its index, then its vectors, at most `limit` at a time, and at the end the
/// space itself. Returns `true` if it must be called again.
pub fn delete_some(tx: &Writer<'_>, space: &Space, limit: u32) -> Result<bool> {
    if vector_index::exists(tx, space)? {
        vector_index::remove(tx, space)?;
        return Ok(true);
    }
    for table in TABLES {
        let deleted = tx.changed(
            &format!(
                "DELETE FROM {name} WHERE ({key}, space) IN
                 (SELECT {key}, space FROM {name} WHERE space = :space LIMIT :limit)",
                name = table.name,
                key = table.key,
            ),
            params! { ":space": space.id, ":limit": limit },
        )?;
        if deleted > 0 {
            return Ok(true);
        }
    }
    tx.run("DELETE FROM vector_space WHERE id = :id", params! { ":id": space.id })?;
    Ok(false)
}

/// Messages for which vectors must be made, and the progress that [`settle`] records afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub texts: Vec<(i64, String)>,
    settles: Settles,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Settles {
    Chat(ChatKey, Seq),
    Changed(Vec<i64>),
}

/// Builds the SQL condition for messages that may have a vector: text of members or the bot that may be read.
fn visible() -> String {
    format!("{} AND role <> 'system' AND trim(text) <> ''", super::messages::VISIBLE)
}

/// Returns about `limit` messages for which `space` needs vectors: first those whose text has changed, then older ones
/// without a vector. The newest `near` of each chat need none. Returns `None` if no message needs one.
pub fn next_batch(conn: &Reader, space: &Space, near: u32, limit: u32) -> Result<Option<Batch>> {
    let changed: Vec<i64> =
        conn.all("SELECT id FROM vector_due ORDER BY id LIMIT :limit", params! { ":limit": limit })?;
    if let (Some(first), Some(last)) = (changed.first(), changed.last()) {
        let sql = format!(
            "SELECT message.id AS id, text FROM vector_due JOIN message USING (id)
             WHERE vector_due.id BETWEEN :first AND :last AND {}",
            visible()
        );
        let texts = conn.all(&sql, params! { ":first": first, ":last": last })?;
        return Ok(Some(Batch { texts, settles: Settles::Changed(changed) }));
    }
    let behind: Option<(ChatKey, u32, u32)> = conn.first(
        "SELECT chat.chat_key AS chat_key, coalesce(seq, 0) AS done, next_seq - 1 - :near AS last
         FROM chat LEFT JOIN vector_progress
             ON vector_progress.space = :space AND vector_progress.chat_key = chat.chat_key
         WHERE next_seq - 1 - :near > coalesce(seq, 0) LIMIT 1",
        params! { ":space": space.id, ":near": near },
    )?;
    let Some((chat, done, last)) = behind else { return Ok(None) };
    let upto = Seq(last.min(done + limit));
    let from = Seq(done + 1);
    let sql = format!("SELECT id, text FROM message WHERE id BETWEEN :first AND :last AND {}", visible());
    let (first, last) = (row_id(chat, from), row_id(chat, upto));
    let texts = conn.all(&sql, params! { ":first": first, ":last": last })?;
    Ok(Some(Batch { texts, settles: Settles::Chat(chat, upto) }))
}

/// Returns at most `limit` messages that have a vector in the space `old` but none in `new`, to compute one for `new`.
pub fn to_carry_over(conn: &Reader, old: i64, new: i64, limit: u32) -> Result<Vec<(i64, String)>> {
    let sql = format!(
        "SELECT message.id AS id, text FROM message_vector AS kept JOIN message USING (id)
         WHERE kept.space = :old AND {}
               AND NOT EXISTS (SELECT 1 FROM message_vector AS made WHERE made.id = kept.id AND made.space = :new)
         LIMIT :limit",
        visible()
    );
    conn.all(&sql, params! { ":old": old, ":new": new, ":limit": limit })
}

/// Returns `true` if any summary has a vector in the space `old` but none in `new`.
pub fn lacks_summaries(conn: &Reader, old: i64, new: i64) -> Result<bool> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM summary_vector AS kept WHERE kept.space = :old
         AND NOT EXISTS (SELECT 1 FROM summary_vector AS made
                         WHERE made.session_id = kept.session_id AND made.space = :new)) AS lacks",
        params! { ":old": old, ":new": new },
    )
}

/// Records that the vectors of a batch are stored.
pub fn settle(tx: &Writer<'_>, space: i64, batch: &Batch) -> Result<()> {
    match &batch.settles {
        Settles::Chat(chat, upto) => {
            tx.run(
                "INSERT INTO vector_progress (space, chat_key, seq) VALUES (:space, :chat, :seq)
                 ON CONFLICT (space, chat_key) DO UPDATE SET seq = max(seq, excluded.seq)",
                params! { ":space": space, ":chat": chat, ":seq": upto },
            )?;
        }
        Settles::Changed(ids) => {
            for id in ids {
                tx.run("DELETE FROM vector_due WHERE id = :id", params! { ":id": id })?;
            }
        }
    }
    Ok(())
}

/// Returns the number of the last message of a chat up to which a space has vectors; 0 for none.
pub fn made_up_to(conn: &Reader, space: i64, chat: ChatKey) -> Result<Seq> {
    let made = conn.first(
        "SELECT seq FROM vector_progress WHERE space = :space AND chat_key = :chat",
        params! { ":space": space, ":chat": chat },
    )?;
    Ok(made.unwrap_or(Seq(0)))
}

/// Number of vectors of a model that exist and that are needed, as pairs of (existing, needed).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorCoverage {
    pub messages: (u64, u64),
    pub summaries: (u64, u64),
    /// Model whose vectors are searched for now, if it is another one.
    pub searched: Option<String>,
}

/// Counts the vectors that `model` has made and that it needs. The newest `near` messages of a chat need none.
pub fn coverage(conn: &Reader, model: &str, near: u32) -> Result<VectorCoverage> {
    let space = of_model(conn, model)?.map_or(-1, |space| space.id);
    let count = |sql: &str, params: &[(&str, &dyn rusqlite::ToSql)]| conn.one(sql, params);
    let of_space = params! { ":space": space };
    let kept =
        |space: i64| count("SELECT count(*) AS n FROM message_vector WHERE space = :space", &[(":space", &space)]);
    let is_recorded = count("SELECT count(*) AS n FROM vector_progress WHERE space = :space", of_space)? > 0;
    let done = count(
        "SELECT coalesce(sum(min(seq, max(next_seq - 1 - :near, 0))), 0) AS n
         FROM vector_progress JOIN chat USING (chat_key) WHERE space = :space",
        params! { ":space": space, ":near": near },
    )?;
    let far = count("SELECT coalesce(sum(max(next_seq - 1 - :near, 0)), 0) AS n FROM chat", params! { ":near": near })?;
    let made = count("SELECT count(*) AS n FROM summary_vector WHERE space = :space", of_space)?;
    let summaries = count("SELECT count(*) AS n FROM mini_summary WHERE bullets <> '[]'", params! {})?;
    let active = active(conn)?.filter(|active| active.model != model);
    // A model on a server has no progress rows. It needs vectors only for new messages and for those that have a vector
    // of the previous model.
    let of_server = (kept(space)?, kept(active.as_ref().map_or(space, |active| active.id))?);
    let messages = if is_recorded || of_server.1 == 0 { (done, far) } else { of_server };
    let searched = active.map(|space| space.model);
    Ok(VectorCoverage { messages, summaries: (made, summaries), searched })
}

pub(super) const FAMILY: Family = Family {
    tables: &["vector_space", "vector_progress", "vector_due"],
    words_gone: |tx, stored, cause| match cause {
        Cause::Edited => make_again(tx, stored),
        Cause::Forgotten | Cause::Expired => Ok(()),
    },
    chat_gone,
    merged: |tx, chats| chat_gone(tx, chats.from, Timestamp::default()),
    ..Family::UNTOUCHED
};

/// Schedules a new vector for a message whose text changed, if a space has vectors up to this message.
fn make_again(tx: &Writer<'_>, stored: &StoredMessage) -> Result<()> {
    tx.run(
        "INSERT OR IGNORE INTO vector_due (id)
         SELECT :id FROM vector_progress WHERE chat_key = :chat AND seq >= :seq LIMIT 1",
        params! { ":id": row_id(stored.chat, stored.seq), ":chat": stored.chat, ":seq": stored.seq },
    )
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, _: Timestamp) -> Result<()> {
    tx.run(
        "DELETE FROM vector_due WHERE id BETWEEN :from AND :to",
        params! { ":from": row_id(chat, Seq(0)), ":to": row_id(chat, Seq(u32::MAX)) },
    )?;
    // If messages remain, the progress stays valid: new messages get higher numbers. Otherwise it is deleted.
    tx.run(
        "DELETE FROM vector_progress
         WHERE chat_key = :chat AND NOT EXISTS (SELECT 1 FROM message WHERE message.chat_key = :chat)",
        params! { ":chat": chat },
    )
}
