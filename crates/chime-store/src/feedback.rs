//! Ratings of answers, which members give by a reaction. One row for each member and answer.

use super::family::{Family, OptOutScope};
use super::sql::{Statements, params};
use super::{Result, Writer};
use chime_core::{AnswerId, Timestamp, UserId};

pub(super) const FAMILY: Family = Family { tables: &["feedback"], opted_out, ..Family::UNTOUCHED };

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM feedback WHERE user_id = :user AND (:chat IS NULL OR answer_id IN
         (SELECT id FROM answer WHERE answer.id = feedback.answer_id AND answer.chat_key = :chat))",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

/// Stores the current rating of an answer by `user`; `None` removes it. Returns `true` if anything changed.
pub fn set(tx: &Writer<'_>, answer: AnswerId, user: UserId, is_good: Option<bool>, now: Timestamp) -> Result<bool> {
    let changed = match is_good {
        Some(is_good) => tx.changed(
            "INSERT INTO feedback (answer_id, user_id, is_good, given_at) VALUES (:answer, :user, :good, :now)
             ON CONFLICT (answer_id, user_id) DO UPDATE SET is_good = excluded.is_good, given_at = excluded.given_at
             WHERE feedback.is_good <> excluded.is_good",
            params! {
                ":answer": answer, ":user": user, ":good": is_good, ":now": now,
            },
        )?,
        None => tx.changed(
            "DELETE FROM feedback WHERE answer_id = :answer AND user_id = :user",
            params! { ":answer": answer, ":user": user },
        )?,
    };
    Ok(changed > 0)
}

/// Returns the number of good ratings and the number of bad ratings, of all chats together.
pub fn counts(conn: &super::Reader) -> Result<(u64, u64)> {
    conn.one(
        "SELECT count(*) FILTER (WHERE is_good = 1) AS good, count(*) FILTER (WHERE is_good = 0) AS bad FROM feedback",
        &[],
    )
}
