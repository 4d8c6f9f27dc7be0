//! Ratings of answers, which members give by a reaction. One row for each member and answer.

use rusqlite::named_params;

use super::family::{Family, OptOutScope};
use super::{Result, Writer};
use chime_core::{AnswerId, Timestamp, UserId};

pub(super) const FAMILY: Family = Family { tables: &["feedback"], opted_out, ..Family::UNTOUCHED };

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM feedback WHERE user_id = :user AND (:chat IS NULL OR answer_id IN
             (SELECT id FROM answer WHERE answer.id = feedback.answer_id AND answer.chat_key = :chat))",
    )?
    .execute(named_params! { ":user": user.0, ":chat": scope.chat().map(|key| key.0) })?;
    Ok(())
}

/// Stores the current rating of an answer by `user`; `None` removes it. Returns `true` if anything changed.
pub fn set(tx: &Writer<'_>, answer: AnswerId, user: UserId, is_good: Option<bool>, now: Timestamp) -> Result<bool> {
    let answer = answer.0.to_string();
    let changed = match is_good {
        Some(is_good) => tx
            .prepare_cached(
                "INSERT INTO feedback (answer_id, user_id, is_good, given_at) VALUES (:answer, :user, :good, :now)
                 ON CONFLICT (answer_id, user_id) DO UPDATE SET is_good = excluded.is_good, given_at = excluded.given_at
                 WHERE feedback.is_good <> excluded.is_good",
            )?
            .execute(named_params! {
                ":answer": answer, ":user": user.0, ":good": is_good, ":now": now.millis(),
            })?,
        None => tx
            .prepare_cached("DELETE FROM feedback WHERE answer_id = :answer AND user_id = :user")?
            .execute(named_params! { ":answer": answer, ":user": user.0 })?,
    };
    Ok(changed > 0)
}

/// Returns the number of good ratings and the number of bad ratings, of all chats together.
pub fn counts(conn: &super::Reader) -> Result<(u64, u64)> {
    Ok(conn
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE is_good = 1) AS good, count(*) FILTER (WHERE is_good = 0) AS bad FROM feedback",
        )?
        .query_row([], |raw| Ok((raw.get("good")?, raw.get("bad")?)))?)
}
