//! Mini-summaries of sessions, and the two summaries of a whole chat, Recent and History. Each is stored with the
//! messages it is based on, so that it can cite them and is deleted when one of them is forgotten.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::sessions;
use super::sql::{Columns, FromRow, Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{Bullet, BulletKind, ChatKey, Rolling, Seq, Session, SessionId, Summary, Timestamp, UserId};

const COLUMNS: &str = "text, tokens, method, model, built_at";

/// Stored Recent or History: a summary of many sessions of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollingSummary {
    pub summary: Summary,
    pub sessions: u32,
}

pub fn mini(conn: &Reader, id: SessionId) -> Result<Option<Summary>> {
    let Some(summary) = conn.map_first(
        &format!("SELECT {COLUMNS}, kinds FROM mini_summary WHERE session_id = :id"),
        params! { ":id": id },
        mini_from_row,
    )?
    else {
        return Ok(None);
    };
    let sources = conn.all(
        "SELECT bullet, seq FROM summary_source WHERE session_id = :id ORDER BY bullet, seq",
        params! { ":id": id },
    )?;
    Ok(Some(with_sources(summary, sources)))
}

/// Stores the mini-summary of a session and returns `true`. Stores nothing and returns `false` if the session's
/// messages have changed since they were read for the summary.
pub fn save_mini(tx: &Writer<'_>, session: &Session, summary: &Summary) -> Result<bool> {
    if !settle(tx, session)? {
        return Ok(false);
    }
    drop_mini(tx, session.id)?;
    tx.run(
        "INSERT INTO mini_summary (session_id, text, kinds, tokens, method, model, built_at)
         VALUES (:id, :text, :kinds, :tokens, :method, :model, :built_at)",
        params! {
            ":id": session.id, ":text": text(&summary.bullets), ":kinds": kinds(&summary.bullets), ":tokens": summary.tokens,
            ":method": summary.method, ":model": summary.model, ":built_at": summary.built_at,
        },
    )?;
    for (bullet, seq) in sources_of(&summary.bullets) {
        tx.run(
            "INSERT OR IGNORE INTO summary_source (session_id, bullet, seq) VALUES (:id, :bullet, :seq)",
            params! { ":id": session.id, ":bullet": bullet, ":seq": seq },
        )?;
    }
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

/// Deletes a mini-summary with its sources and its vector (by foreign keys), but not the session's tags, which are
/// replaced separately.
fn drop_mini(tx: &Writer<'_>, id: SessionId) -> Result<()> {
    tx.run("DELETE FROM mini_summary WHERE session_id = :id", params! { ":id": id })
}

/// SQL for sessions of a chat that ended in `from..until` and have a mini-summary, newest first, at most `limit`.
const SUMMARIZED: &str = "FROM session JOIN mini_summary ON session_id = session.id
    WHERE chat_key = :chat AND ended_at >= :from AND ended_at < :until ORDER BY ended_at DESC, id DESC LIMIT :limit";

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
    let sql = format!(
        "SELECT session_id, bullet, seq FROM summary_source WHERE session_id IN (SELECT session_id {SUMMARIZED})
         ORDER BY session_id, bullet, seq"
    );
    let mut sources = HashMap::<SessionId, BulletSources>::new();
    for (id, bullet, seq) in conn.all(&sql, params)? {
        sources.entry(id).or_default().push((bullet, seq));
    }
    conn.map(&format!("SELECT {}, {COLUMNS}, kinds {SUMMARIZED}", sessions::COLUMNS), params, |row| {
        let session = Session::from_row(row)?;
        let sources = sources.remove(&session.id).unwrap_or_default();
        Ok((session, with_sources(mini_from_row(row)?, sources)))
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
    let found = sessions::unfolded(conn, chat, until, limit)?;
    found.into_iter().filter_map(|session| with_mini(conn, session).transpose()).collect()
}

fn with_mini(conn: &Reader, session: Session) -> Result<Option<(Session, Summary)>> {
    Ok(mini(conn, session.id)?.map(|summary| (session, summary)))
}

pub fn rolling(conn: &Reader, chat: ChatKey, kind: Rolling) -> Result<Option<RollingSummary>> {
    let sql = format!("SELECT {COLUMNS}, sessions FROM rolling_summary WHERE chat_key = :chat AND kind = :kind");
    let found = conn
        .map_first(&sql, params! { ":chat": chat, ":kind": kind }, |row| Ok((from_row(row)?, row.get("sessions")?)))?;
    let Some((summary, sessions)) = found else { return Ok(None) };
    let sources = conn.all(
        "SELECT bullet, seq FROM rolling_source WHERE chat_key = :chat AND kind = :kind ORDER BY bullet, seq",
        params! { ":chat": chat, ":kind": kind },
    )?;
    let summary = with_sources(summary, sources);
    Ok(Some(RollingSummary { summary, sessions }))
}

/// Replaces Recent or History. If the new summary has no bullets, the old one is only deleted.
pub fn save_rolling(tx: &Writer<'_>, chat: ChatKey, kind: Rolling, rolling: &RollingSummary) -> Result<()> {
    drop_rolling(tx, chat, kind)?;
    let RollingSummary { summary, sessions } = rolling;
    if summary.bullets.is_empty() {
        return Ok(());
    }
    tx.run(
        "INSERT INTO rolling_summary (chat_key, kind, text, tokens, sessions, method, model, built_at)
         VALUES (:chat, :kind, :text, :tokens, :sessions, :method, :model, :built_at)",
        params! {
            ":chat": chat, ":kind": kind, ":text": text(&summary.bullets), ":tokens": summary.tokens,
            ":sessions": sessions, ":method": summary.method, ":model": summary.model,
            ":built_at": summary.built_at,
        },
    )?;
    for (bullet, seq) in sources_of(&summary.bullets) {
        tx.run(
            "INSERT OR IGNORE INTO rolling_source (chat_key, kind, bullet, seq) VALUES (:chat, :kind, :bullet, :seq)",
            params! { ":chat": chat, ":kind": kind, ":bullet": bullet, ":seq": seq },
        )?;
    }
    Ok(())
}

/// Returns `true` if a message that Recent or History is based on is no longer stored.
pub fn rests_on_what_is_gone(conn: &Reader, chat: ChatKey, kind: Rolling) -> Result<bool> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM rolling_source
                    WHERE chat_key = :chat AND kind = :kind
                          AND NOT EXISTS (SELECT 1 FROM message WHERE id = rolling_source.chat_key << 32 | seq))
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
    conn.all(
        "SELECT DISTINCT seq FROM summary_source WHERE session_id = :id ORDER BY bullet, seq LIMIT :limit",
        params! { ":id": session, ":limit": limit },
    )
}

/// Returns all messages that Recent or History of a chat is based on.
pub fn rolled_up(conn: &Reader, chat: ChatKey) -> Result<HashSet<Seq>> {
    Ok(conn
        .all("SELECT seq FROM rolling_source WHERE chat_key = :chat", params! { ":chat": chat })?
        .into_iter()
        .collect())
}

pub(super) type BulletSources = Vec<(usize, Seq)>;

pub(super) fn sources_of(bullets: &[Bullet]) -> impl Iterator<Item = (u32, Seq)> {
    (0..).zip(bullets).flat_map(|(place, bullet)| bullet.sources.iter().map(move |seq| (place, *seq)))
}

pub(super) fn with_sources(mut summary: Summary, sources: BulletSources) -> Summary {
    for (place, seq) in sources {
        if let Some(bullet) = summary.bullets.get_mut(place) {
            bullet.sources.push(seq);
        }
    }
    summary
}

/// Joins the texts of bullets, one per line. Line breaks within a bullet become spaces.
pub(super) fn text(bullets: &[Bullet]) -> String {
    bullets.iter().map(|bullet| bullet.text.replace('\n', " ")).collect::<Vec<_>>().join("\n")
}

pub(super) fn from_row(raw: &Columns<'_>) -> Result<Summary> {
    let text: String = raw.get("text")?;
    Ok(Summary {
        bullets: text.lines().map(|line| Bullet::fact(line, Vec::new())).collect(),
        tokens: raw.get("tokens")?,
        method: raw.get("method")?,
        model: raw.get("model")?,
        built_at: raw.get("built_at")?,
    })
}

fn mini_from_row(raw: &Columns<'_>) -> Result<Summary> {
    let (mut summary, kinds) = (from_row(raw)?, raw.get::<String>("kinds")?);
    for (bullet, kind) in summary.bullets.iter_mut().zip(kinds.split(' ')) {
        bullet.kind = BulletKind::parse(kind).unwrap_or_default();
    }
    Ok(summary)
}

fn kinds(bullets: &[Bullet]) -> String {
    bullets.iter().map(|bullet| bullet.kind.as_str()).collect::<Vec<_>>().join(" ")
}
