//! Tags: short names of the subjects of sessions, in words that members of the chat used.

use std::collections::{BTreeMap, HashSet};

use super::postings::{self, Range};
use super::sql::{Statements, params, rows};
use super::{Reader, Result, Writer, chats, messages};
use chime_core::{ChatKey, Seq, SessionId, StoredMessage, stems};

/// Tag of a chat. Forms of one word, such as singular and plural, have the same `key` and are therefore one tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub id: i64,
    pub name: String,
    pub key: String,
    /// Number of sessions that have the tag or one of its synonyms. [`find`] does not count them and sets 0.
    pub sessions: u32,
}

/// New tag of a session. `name` is shown to members; `key` is the same for all forms of the word.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTag {
    pub name: String,
    pub key: String,
    /// Confidence that the tag fits the session, 0 to 1.
    pub confidence: f32,
}

rows! {
    Tag { id, name, key, sessions }
}

/// Returns the tags of a chat, those with the most sessions first, at most `limit`. Synonyms are counted for their main
/// tag and not returned.
pub fn inventory(conn: &Reader, chat: ChatKey, limit: u32) -> Result<Vec<Tag>> {
    conn.all(// Without synonyms, no session is counted twice, so the slower DISTINCT is not needed.
        "SELECT id, name, key, sessions FROM (
             SELECT id, name, key,
                    CASE WHEN EXISTS (SELECT 1 FROM tag AS form WHERE form.same_as = tag.id)
                        THEN (SELECT count(DISTINCT session_id) FROM session_tag
                              WHERE tag_id = tag.id OR tag_id IN (SELECT form.id FROM tag AS form WHERE form.same_as = tag.id))
                        ELSE (SELECT count(*) FROM session_tag WHERE tag_id = tag.id) END AS sessions
             FROM tag WHERE chat_key = :chat AND same_as IS NULL)
         WHERE sessions > 0 ORDER BY sessions DESC, name LIMIT :limit", params! { ":chat": chat, ":limit": limit })
}

/// Finds a tag by its key. If the tag is a synonym, returns its main tag. `sessions` is always 0.
pub fn find(conn: &Reader, chat: ChatKey, key: &str) -> Result<Option<Tag>> {
    conn.first(
        "SELECT main.id AS id, main.name AS name, main.key AS key, 0 AS sessions
         FROM tag JOIN tag AS main ON main.id = coalesce(tag.same_as, tag.id)
         WHERE tag.chat_key = :chat AND tag.key = :key",
        params! { ":chat": chat, ":key": key },
    )
}

/// Replaces the tags of a session. A tag whose key exists in the chat is used again, even if it is a synonym.
pub fn save(tx: &Writer<'_>, session: SessionId, tags: &[NewTag]) -> Result<()> {
    tx.run("DELETE FROM session_tag WHERE session_id = :id", params! { ":id": session })?;
    for tag in tags {
        let id = find_or_add(tx, session.chat, tag)?;
        tx.run(
            "INSERT INTO session_tag (session_id, tag_id, confidence) VALUES (:session, :tag, :confidence)
             ON CONFLICT (session_id, tag_id) DO UPDATE SET confidence = max(confidence, excluded.confidence)",
            params! { ":session": session, ":tag": id, ":confidence": tag.confidence },
        )?;
    }
    drop_unused(tx, session.chat)
}

fn find_or_add(tx: &Writer<'_>, chat: ChatKey, tag: &NewTag) -> Result<i64> {
    let known: Option<i64> = tx.first(
        "SELECT id FROM tag WHERE chat_key = :chat AND key = :key",
        params! { ":chat": chat, ":key": tag.key },
    )?;
    if let Some(id) = known {
        return Ok(id);
    }
    tx.run(
        "INSERT INTO tag (chat_key, name, key) VALUES (:chat, :name, :key)",
        params! { ":chat": chat, ":name": tag.name, ":key": tag.key },
    )?;
    Ok(tx.last_insert_rowid())
}

/// Deletes tags that no session has any more, because their names are words of members. If a deleted tag has synonyms
/// in use, the oldest of them becomes the main tag.
pub fn drop_unused(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    let heirs: Vec<(i64, i64)> = tx.all(
        "SELECT tag.id AS gone, min(form.id) AS heir
             FROM tag JOIN tag AS form ON form.same_as = tag.id
             WHERE tag.chat_key = :chat AND NOT EXISTS (SELECT 1 FROM session_tag WHERE tag_id = tag.id)
                   AND EXISTS (SELECT 1 FROM session_tag WHERE tag_id = form.id)
             GROUP BY tag.id",
        params! { ":chat": chat },
    )?;
    for (gone, heir) in heirs {
        for sql in [
            "UPDATE tag SET same_as = nullif(:heir, id) WHERE same_as = :gone",
            "UPDATE active_topic SET tag_id = :heir WHERE tag_id = :gone",
        ] {
            tx.run(sql, params! { ":heir": heir, ":gone": gone })?;
        }
    }
    tx.run(
        "DELETE FROM tag WHERE chat_key = :chat AND NOT EXISTS (SELECT 1 FROM session_tag WHERE tag_id = tag.id)",
        params! { ":chat": chat },
    )
}

/// Number of messages with a word that are looked at, to find one that may be read.
const LOOKED_AT: u32 = 64;

/// Deletes the tags of a chat that contain a word which only messages have that may no longer be read: a model may have
/// used such a tag for other sessions too. `gone` is a message that is about to be deleted; then only its words count.
pub fn drop_unsaid(tx: &Writer<'_>, chat: ChatKey, gone: Option<&StoredMessage>) -> Result<()> {
    let Some(row) = chats::by_key(tx, chat)? else { return Ok(()) };
    let language = match gone {
        Some(stored) => messages::stem_language(tx, chat, stored.seq)?,
        None => row.language,
    };
    let words: Option<HashSet<String>> =
        gone.map(|stored| stems(&stored.message.searched_text(), language).into_iter().collect());
    if words.as_ref().is_some_and(HashSet::is_empty) {
        return Ok(());
    }
    let tags: Vec<(i64, String)> =
        tx.all("SELECT id, name FROM tag WHERE chat_key = :chat", params! { ":chat": chat })?;
    let range = Range { chat, from: Seq(0), before: Seq(u32::MAX), limit: LOOKED_AT };
    for (id, name) in tags {
        for stem in stems(&name, language) {
            if words.as_ref().is_some_and(|words| !words.contains(&stem)) {
                continue;
            }
            let said = postings::of_stem(tx, &range, &stem)?.seqs;
            if !said.is_empty() && !is_any_readable(tx, chat, &said, gone.map(|stored| stored.seq))? {
                tx.run("DELETE FROM tag WHERE id = :id", params! { ":id": id })?;
                break;
            }
        }
    }
    Ok(())
}

fn is_any_readable(tx: &Writer<'_>, chat: ChatKey, seqs: &[Seq], but: Option<Seq>) -> Result<bool> {
    for seq in seqs.iter().filter(|seq| Some(**seq) != but) {
        if messages::is_readable(tx, chat, *seq)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the tags of a session with their confidence, highest first. A synonym appears under the name of its main
/// tag.
pub fn of_session(conn: &Reader, session: SessionId) -> Result<Vec<(String, f32)>> {
    conn.all(
        "SELECT coalesce(main.name, tag.name) AS name, max(confidence) AS confidence
         FROM session_tag JOIN tag ON tag.id = tag_id LEFT JOIN tag AS main ON main.id = tag.same_as
         WHERE session_id = :id GROUP BY coalesce(main.id, tag.id) ORDER BY confidence DESC, name",
        params! { ":id": session },
    )
}

/// Returns the newest sessions that have a tag or one of its synonyms, at most `limit`.
pub fn sessions_with(conn: &Reader, tag: i64, limit: u32) -> Result<Vec<SessionId>> {
    conn.all(
        "SELECT DISTINCT session.id, ended_at FROM session JOIN session_tag ON session_id = session.id
             JOIN tag ON tag.id = tag_id
         WHERE tag.id = :tag OR tag.same_as = :tag ORDER BY ended_at DESC, session.id DESC LIMIT :limit",
        params! { ":tag": tag, ":limit": limit },
    )
}

/// Returns sessions with a tag whose key is one of `stems`, or begins with it and a hyphen, and sessions with a synonym
/// of such a tag. At most `limit` per stem, the newest. Each session has the highest confidence of these tags.
pub fn sessions_named(conn: &Reader, chat: ChatKey, stems: &[String], limit: u32) -> Result<Vec<(SessionId, f64)>> {
    // Words in a key are joined by hyphens. `.` is the character after `-`, so the range contains all keys that begin
    // with the stem and a hyphen.
    const NAMED: &str = "WITH named AS (SELECT coalesce(same_as, id) AS id FROM tag
                        WHERE chat_key = :chat AND (key = :stem OR key > :stem || '-' AND key < :stem || '.'))
         SELECT tag.id AS id FROM named JOIN tag ON tag.id = named.id
         UNION SELECT tag.id AS id FROM named JOIN tag ON tag.same_as = named.id";
    // Session ids increase with time and the index is sorted by them, so only the newest rows of a tag are read.
    const NEWEST: &str =
        "SELECT session_id, confidence FROM session_tag WHERE tag_id = :tag ORDER BY session_id DESC LIMIT :limit";
    let mut found = Vec::new();
    for stem in stems {
        let tags: Vec<i64> = conn.all(NAMED, params! { ":chat": chat, ":stem": stem })?;
        let mut of_stem: BTreeMap<SessionId, f64> = BTreeMap::new();
        for tag in tags {
            for (session, confidence) in conn.all(NEWEST, params! { ":tag": tag, ":limit": limit })? {
                let known = of_stem.entry(session).or_insert(confidence);
                *known = known.max(confidence);
            }
        }
        found.extend(of_stem.into_iter().rev().take(limit as usize));
    }
    Ok(found)
}
