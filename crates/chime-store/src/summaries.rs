//! Mini-summaries of sessions, and the two summaries of a whole chat, Recent and History. Each is stored with the
//! messages it is based on, so that it can cite them and is deleted when one of them is forgotten.

use std::collections::{BTreeMap, HashSet};

use super::sessions;
use super::sql::{Columns, FromRow, Json, Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{Bullet, ChatKey, Rolling, Seq, Session, SessionId, Summary, Timestamp, UserId};

const COLUMNS: &str = "bullets, tokens, method, model, built_at";

/// Stored Recent or History: a summary of many sessions of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollingSummary {
    pub summary: Summary,
    pub sessions: u32,
}

pub fn mini(conn: &Reader, id: SessionId) -> Result<Option<Summary>> {
    conn.first(&format!("SELECT {COLUMNS} FROM mini_summary WHERE session_id = :id"), params! { ":id": id })
}

/// Stores the mini-summary of a session and returns `true`. Stores nothing and returns `false` if the session's
/// messages have changed since they were read for the summary.
pub fn save_mini(tx: &Writer<'_>, session: &Session, summary: &Summary) -> Result<bool> {
    if !settle(tx, session)? {
        return Ok(false);
    }
    drop_mini(tx, session.id)?;
    tx.run(
        "INSERT INTO mini_summary (session_id, bullets, tokens, method, model, built_at)
         VALUES (:id, :bullets, :tokens, :method, :model, :built_at)",
        params! {
            ":id": session.id, ":bullets": Json(&summary.bullets), ":tokens": summary.tokens, ":method": summary.method,
            ":model": summary.model, ":built_at": summary.built_at,
        },
    )?;
    Ok(true)
}

/// Records that a session has too little content for a summary. Records nothing and returns `false` if the session's
/// messages have changed since they were read.
pub fn settle_without(tx: &Writer<'_>, session: &Session) -> Result<bool> {
    let is_settled = settle(tx, session)?;
    if is_settled {
        drop_mini(tx, session.id)?;
    }
    Ok(is_settled)
}

/// Requests a new summary of a session, for example from a model if the stored one is an extract. The old summary stays
/// until the new one is stored.
pub fn unsettle(tx: &Writer<'_>, id: SessionId) -> Result<()> {
    tx.run("UPDATE session SET summarized = NULL WHERE id = :id", params! { ":id": id })
}

fn settle(tx: &Writer<'_>, session: &Session) -> Result<bool> {
    let settled = tx.changed(
        "UPDATE session SET summarized = :fingerprint WHERE id = :id AND fingerprint = :fingerprint",
        params! { ":id": session.id, ":fingerprint": session.fingerprint },
    )?;
    Ok(settled == 1)
}

/// Deletes a mini-summary with its vector (by a foreign key), but not the session's tags, which are replaced separately.
fn drop_mini(tx: &Writer<'_>, id: SessionId) -> Result<()> {
    tx.run("DELETE FROM mini_summary WHERE session_id = :id", params! { ":id": id })
}

/// SQL for sessions of a chat that ended in `from..until` and have a mini-summary with bullets, newest first, at most
/// `limit`.
const SUMMARIZED: &str = "FROM session JOIN mini_summary ON session_id = session.id
    WHERE chat_key = :chat AND ended_at >= :from AND ended_at < :until AND bullets <> '[]'
    ORDER BY ended_at DESC, id DESC LIMIT :limit";

/// Returns the sessions of a chat that ended in `from..until` with their mini-summaries, newest first, at most `limit`.
pub fn minis_between(
    conn: &Reader,
    chat: ChatKey,
    from: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(Session, Summary)>> {
    let params = params! {
        ":chat": chat, ":from": from.secs(), ":until": until.secs(), ":limit": limit,
    };
    conn.map(&format!("SELECT {}, {COLUMNS} {SUMMARIZED}", sessions::COLUMNS), params, |row| {
        Ok((Session::from_row(row)?, Summary::from_row(row)?))
    })
}

/// Returns the sessions that [`minis_between`] finds, each with the creation time of its mini-summary. A changed time
/// shows that the summary was replaced.
pub fn made_between(
    conn: &Reader,
    chat: ChatKey,
    from: Timestamp,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(SessionId, Timestamp)>> {
    let params = params! {
        ":chat": chat, ":from": from.secs(), ":until": until.secs(), ":limit": limit,
    };
    conn.all(&format!("SELECT session_id, built_at {SUMMARIZED}"), params)
}

/// Returns sessions that ended before `until` and are not yet in History, with their mini-summaries, oldest first, at
/// most `limit`.
pub fn to_fold(conn: &Reader, chat: ChatKey, until: Timestamp, limit: u32) -> Result<Vec<(Session, Summary)>> {
    let mut found = Vec::new();
    for session in sessions::unfolded(conn, chat, until, limit)? {
        found.extend(mini(conn, session.id)?.map(|summary| (session, summary)));
    }
    Ok(found)
}

pub fn rolling(conn: &Reader, chat: ChatKey, kind: Rolling) -> Result<Option<RollingSummary>> {
    let sql = format!("SELECT {COLUMNS}, sessions FROM rolling_summary WHERE chat_key = :chat AND kind = :kind");
    conn.map_first(&sql, params! { ":chat": chat, ":kind": kind }, |row| {
        Ok(RollingSummary { summary: Summary::from_row(row)?, sessions: row.get("sessions")? })
    })
}

/// Replaces Recent or History. If the new summary has no bullets, the old one is only deleted.
pub fn save_rolling(tx: &Writer<'_>, chat: ChatKey, kind: Rolling, rolling: &RollingSummary) -> Result<()> {
    drop_rolling(tx, chat, kind)?;
    let RollingSummary { summary, sessions } = rolling;
    if summary.bullets.is_empty() {
        return Ok(());
    }
    tx.run(
        "INSERT INTO rolling_summary (chat_key, kind, bullets, tokens, sessions, method, model, built_at)
         VALUES (:chat, :kind, :bullets, :tokens, :sessions, :method, :model, :built_at)",
        params! {
            ":chat": chat, ":kind": kind, ":bullets": facts(summary), ":tokens": summary.tokens,
            ":sessions": sessions, ":method": summary.method, ":model": summary.model,
            ":built_at": summary.built_at,
        },
    )
}

/// Returns `true` if a message that Recent or History is based on is no longer stored.
pub fn rests_on_what_is_gone(conn: &Reader, chat: ChatKey, kind: Rolling) -> Result<bool> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM rolling_summary, json_each(bullets) AS bullet,
                            json_each(bullet.value, '$.sources') AS source
                    WHERE chat_key = :chat AND kind = :kind
                          AND NOT EXISTS (SELECT 1 FROM message WHERE id = rolling_summary.chat_key << 32 | source.value))
         AS found",
        params! { ":chat": chat, ":kind": kind },
    )
}

/// Returns the number of summarised sessions that ended before `until` and are not yet in History.
pub fn count_to_fold(conn: &Reader, chat: ChatKey, until: Timestamp) -> Result<u32> {
    conn.one(
        "SELECT count(*) AS found FROM session JOIN mini_summary ON session_id = session.id
         WHERE chat_key = :chat AND ended_at < :until AND history_included_at IS NULL AND summarized = fingerprint",
        params! { ":chat": chat, ":until": until.secs() },
    )
}

pub fn drop_rolling(tx: &Writer<'_>, chat: ChatKey, kind: Rolling) -> Result<()> {
    tx.run(
        "DELETE FROM rolling_summary WHERE chat_key = :chat AND kind = :kind",
        params! { ":chat": chat, ":kind": kind },
    )
}

/// Stores a new History `after`, which includes the sessions `folded`, and marks these as included. `before` is the
/// History from which it was made. Stores nothing and returns `false` if History or one of the sessions has changed
/// since: then the new History must be made again.
pub fn fold(
    tx: &Writer<'_>,
    chat: ChatKey,
    folded: &[Session],
    before: Option<&RollingSummary>,
    after: &RollingSummary,
) -> Result<bool> {
    if rolling(tx, chat, Rolling::History)?.as_ref() != before {
        return Ok(false);
    }
    for session in folded {
        let is_as_read: bool = tx.one(
            "SELECT EXISTS (SELECT 1 FROM session WHERE id = :id AND fingerprint = :fingerprint
             AND summarized = fingerprint AND history_included_at IS NULL) AS found",
            params! { ":id": session.id, ":fingerprint": session.fingerprint },
        )?;
        if !is_as_read {
            return Ok(false);
        }
    }
    save_rolling(tx, chat, Rolling::History, after)?;
    for session in folded {
        tx.run(
            "UPDATE session SET history_included_at = :at WHERE id = :id",
            params! { ":id": session.id, ":at": after.summary.built_at },
        )?;
    }
    Ok(true)
}

/// Deletes History and marks all sessions as not included, so that History is rebuilt from their mini-summaries.
pub fn reset_history(tx: &Writer<'_>, chat: ChatKey) -> Result<()> {
    drop_rolling(tx, chat, Rolling::History)?;
    tx.run(
        "UPDATE session SET history_included_at = NULL WHERE chat_key = :chat AND history_included_at IS NOT NULL",
        params! { ":chat": chat },
    )
}

/// Returns the number that replaces a member's name in the summaries of a chat. Assigns a number on first use.
pub fn member_number(tx: &Writer<'_>, chat: ChatKey, user: UserId) -> Result<u32> {
    let params = params! { ":chat": chat, ":user": user };
    tx.run(
        "INSERT INTO summary_member (chat_key, number, user_id)
         SELECT :chat, coalesce(max(number), 0) + 1, :user FROM summary_member WHERE chat_key = :chat
         ON CONFLICT (chat_key, user_id) DO NOTHING",
        params,
    )?;
    tx.one("SELECT number FROM summary_member WHERE chat_key = :chat AND user_id = :user", params)
}

/// Returns the numbers that replace the names of members in the summaries of a chat, and the highest number in use,
/// which may belong to a forgotten member.
pub fn member_numbers(conn: &Reader, chat: ChatKey) -> Result<(BTreeMap<UserId, u32>, u32)> {
    let numbers: Vec<(UserId, u32)> = conn.all(
        "SELECT user_id, number FROM summary_member WHERE chat_key = :chat AND user_id IS NOT NULL",
        params! { ":chat": chat },
    )?;
    let highest = conn.one(
        "SELECT coalesce(max(number), 0) AS highest FROM summary_member WHERE chat_key = :chat",
        params! { ":chat": chat },
    )?;
    Ok((numbers.into_iter().collect(), highest))
}

/// Returns the current names of members by the numbers that replace them in a chat's summaries, without members who
/// were forgotten or opted out.
pub fn member_names(conn: &Reader, chat: ChatKey) -> Result<BTreeMap<u32, String>> {
    let names: Vec<(u32, String)> = conn.all(
        "SELECT number, name FROM summary_member JOIN member USING (chat_key, user_id)
         WHERE chat_key = :chat
               AND NOT EXISTS (SELECT 1 FROM opt_out WHERE opt_out.user_id = summary_member.user_id
                                   AND +opt_out.chat_key IN (0, :chat))",
        params! { ":chat": chat },
    )?;
    Ok(names.into_iter().collect())
}

/// Returns the messages that the summary of a session is based on, at most `limit`.
pub fn grounds(conn: &Reader, session: SessionId, limit: u32) -> Result<Vec<Seq>> {
    let Some(summary) = mini(conn, session)? else { return Ok(Vec::new()) };
    let mut seen = HashSet::new();
    Ok(sources(summary).filter(|seq| seen.insert(*seq)).take(limit as usize).collect())
}

/// Returns the bullets of a summary of several sessions, as they are stored: all as facts, because tasks and decisions
/// are listed from the mini-summaries.
pub(super) fn facts(summary: &Summary) -> Json<Vec<Bullet>> {
    Json(summary.bullets.iter().map(|bullet| Bullet::fact(&bullet.text, bullet.sources.clone())).collect())
}

fn sources(summary: Summary) -> impl Iterator<Item = Seq> {
    summary.bullets.into_iter().flat_map(|bullet| bullet.sources)
}

impl FromRow for Summary {
    fn from_row(raw: &Columns<'_>) -> Result<Self> {
        Ok(Self {
            bullets: raw.json("bullets")?,
            tokens: raw.get("tokens")?,
            method: raw.get("method")?,
            model: raw.get("model")?,
            built_at: raw.get("built_at")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::new_store;
    use crate::{Priority, chats, memory};
    use chime_core::testkit::CHAT;
    use chime_core::{Chat, ChatKind};

    #[tokio::test]
    async fn the_number_of_a_forgotten_member_stays_taken() {
        let (_folder, store) = new_store().await;
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        store
            .write(Priority::Answering, move |tx| {
                let key = chats::upsert(tx, &chat)?.key;
                let numbers = [UserId(1), UserId(2)].map(|user| member_number(tx, key, user));
                assert!(matches!(numbers, [Ok(1), Ok(2)]));
                memory::forget_number(tx, Some(key), UserId(2))?;
                assert_eq!(member_numbers(tx, key)?, (BTreeMap::from([(UserId(1), 1)]), 2));
                Ok(())
            })
            .await
            .unwrap();
    }
}
