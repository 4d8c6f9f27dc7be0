//! Requests to forget messages. A request is stored when it is made, processed in steps, and deleted once the requester
//! has been sent the result.

use rusqlite::ToSql;
use serde::{Deserialize, Serialize};

use super::derived;
use super::family::{Cause, Family, Merged};
use super::forget::{self, ForgetOptions, Forgotten, Replacement};
use super::sql::{Json, Statements, params};
use super::{Reader, Result, Writer, answers, chat_settings, chats, memory, quotes_and_forwards, row, usage};
use chime_core::{ChatKey, ReplyTarget, Seq, Timestamp, UserId};

/// Data that a request wants forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeletionTarget {
    Message {
        chat: ChatKey,
        seq: Seq,
    },
    /// All messages of a member, in every chat if `chat` is `None`.
    Member {
        chat: Option<ChatKey>,
        user: UserId,
        since: Option<Timestamp>,
    },
    Chat(ChatKey),
    /// Answers that are based on messages of an opted-out member, in every chat if `chat` is `None`.
    Derived {
        chat: Option<ChatKey>,
        user: UserId,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeletionRequest {
    pub what: DeletionTarget,
    /// Time of the request by this machine's clock.
    pub asked_at: Timestamp,
    /// Time by Telegram's clock, which also dates the messages. Messages sent later are not forgotten.
    pub until: Timestamp,
    pub asked_by: UserId,
    /// `true` if the chat was notified first and could object.
    pub was_announced: bool,
    /// Place where the result is reported; `None` for no report.
    pub to: Option<ReplyTarget>,
}

/// Stored request, with the numbers of messages and answers forgotten so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deletion {
    pub id: i64,
    pub request: DeletionRequest,
    pub forgotten: Forgotten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    More,
    Done,
}

impl DeletionTarget {
    fn chat(self) -> Option<ChatKey> {
        match self {
            Self::Message { chat, .. } | Self::Chat(chat) => Some(chat),
            Self::Member { chat, .. } | Self::Derived { chat, .. } => chat,
        }
    }

    /// Returns the same target after a merge of two chats.
    fn merged(self, chats: Merged) -> Self {
        let chat = chats.into;
        match self {
            Self::Message { seq, .. } => Self::Message { chat, seq: chats.number(seq) },
            Self::Member { user, since, .. } => Self::Member { chat: Some(chat), user, since },
            Self::Chat(_) => Self::Chat(chat),
            Self::Derived { user, .. } => Self::Derived { chat: Some(chat), user },
        }
    }
}

pub fn add(tx: &Writer<'_>, request: &DeletionRequest) -> Result<i64> {
    tx.run(
        "INSERT INTO deletion (chat_key, request) VALUES (:chat, :request)",
        params! { ":chat": request.what.chat(), ":request": Json(request) },
    )?;
    Ok(tx.last_insert_rowid())
}

pub fn find(conn: &Reader, id: i64) -> Result<Option<Deletion>> {
    let sql = "SELECT request, messages, answers FROM deletion WHERE id = :id";
    conn.map_first(sql, params! { ":id": id }, |row| {
        let forgotten = Forgotten { messages: row.get("messages")?, answers: row.get("answers")? };
        Ok(Deletion { id, request: row.json("request")?, forgotten })
    })
}

/// Returns the requests to forget all of a chat that its members were told of first.
pub fn announced_for(conn: &Reader, chat: ChatKey) -> Result<Vec<i64>> {
    let requests = of_chat(conn, chat)?.into_iter();
    let announced = |(_, request): &(i64, DeletionRequest)| {
        request.was_announced && matches!(request.what, DeletionTarget::Chat(_))
    };
    Ok(requests.filter(announced).map(|(id, _)| id).collect())
}

fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<(i64, DeletionRequest)>> {
    conn.map("SELECT id, request FROM deletion WHERE chat_key = :chat", params! { ":chat": chat }, |row| {
        Ok((row.get("id")?, row.json("request")?))
    })
}

pub fn remove(tx: &Writer<'_>, id: i64) -> Result<()> {
    tx.run("DELETE FROM deletion WHERE id = :id", params! { ":id": id })
}

/// Returns the time of the oldest message that the request covers, or `None` if it covers none.
pub fn oldest(conn: &Reader, request: &DeletionRequest) -> Result<Option<Timestamp>> {
    let (rule, values) = rule(request);
    let sql = format!("SELECT min(ts) * 1000 AS ts FROM message WHERE {rule}");
    conn.one(&sql, params(&values).as_slice())
}

/// Forgets at most `limit` messages of a request, and everything derived from them. Must be repeated until it returns
/// [`Progress::Done`].
pub fn step(tx: &Writer<'_>, deletion: &Deletion, limit: u32, repeats: fn(&str, &str) -> bool) -> Result<Progress> {
    let request = &deletion.request;
    let replacement = match request.what {
        DeletionTarget::Message { .. } | DeletionTarget::Member { .. } | DeletionTarget::Derived { .. } => {
            Replacement::Stub
        }
        DeletionTarget::Chat(chat) => {
            forget::set_forgotten_until(tx, chat, request.until)?;
            memory::forget_chat(tx, chat)?;
            Replacement::Nothing
        }
    };
    let options = ForgetOptions { cause: Cause::Forgotten, replacement, repeats };
    if let DeletionTarget::Derived { chat, user } = request.what {
        let rows = answers::grounds_of_member(tx, chat, user, request.asked_at, limit)?;
        forget::answers_on(tx, &rows, options)?;
        return Ok(if rows.is_empty() { Progress::Done } else { Progress::More });
    }
    let rows = next(tx, request, limit)?;
    let forgotten = forget::messages(tx, &rows, options)?;
    tx.run(
        "UPDATE deletion SET messages = messages + :messages, answers = answers + :answers WHERE id = :id",
        params! { ":messages": forgotten.messages, ":answers": forgotten.answers, ":id": deletion.id },
    )?;
    if !rows.is_empty() {
        return Ok(Progress::More);
    }
    if let DeletionTarget::Member { chat, user, since } = request.what {
        // Other members wrote these messages, so they are not in the counts reported to the requester.
        let rows = quotes_and_forwards::about_member(tx, chat, user, since.unwrap_or_default(), request.until, limit)?;
        forget::messages(tx, &rows, options)?;
        if !rows.is_empty() {
            return Ok(Progress::More);
        }
    }
    match request.what {
        DeletionTarget::Member { chat, user, since: None } => {
            tx.run(
                "DELETE FROM member WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)",
                params! { ":user": user, ":chat": chat },
            )?;
            memory::forget_number(tx, chat, user)?;
            usage::forget_member(tx, chat, user, request.asked_at)?;
            chat_settings::forget_author(tx, chat, user)?;
            if chat.is_none() {
                chats::forget_private_name(tx, user)?;
            }
        }
        DeletionTarget::Chat(chat) => derived::chat_gone(tx, chat, request.asked_at)?,
        DeletionTarget::Message { .. }
        | DeletionTarget::Member { since: Some(_), .. }
        | DeletionTarget::Derived { .. } => {}
    }
    Ok(Progress::Done)
}

pub(super) const FAMILY: Family = Family { tables: &["deletion"], merged, ..Family::UNTOUCHED };

/// Moves requests to the merged chat. A request for either of the two chats then covers all of it.
fn merged(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    for (id, request) in of_chat(tx, chats.from)? {
        let request = DeletionRequest { what: request.what.merged(chats), ..request };
        tx.run(
            "UPDATE deletion SET chat_key = :into, request = :request WHERE id = :id",
            params! { ":into": chats.into, ":request": Json(request), ":id": id },
        )?;
    }
    Ok(())
}

fn next(conn: &Reader, request: &DeletionRequest, limit: u32) -> Result<Vec<(ChatKey, Seq)>> {
    let (rule, values) = rule(request);
    let sql = format!("SELECT chat_key, seq FROM message WHERE {rule} LIMIT {limit}");
    conn.all(&sql, params(&values).as_slice())
}

type SqlParameters = Vec<(&'static str, i64)>;

/// Returns an SQL condition and its parameters. It selects the messages that a request covers and that are not
/// forgotten yet.
fn rule(request: &DeletionRequest) -> (&'static str, SqlParameters) {
    let until = (":until", request.until.secs());
    match request.what {
        DeletionTarget::Message { chat, seq } => {
            ("id = :id AND NOT (is_stub = 1 AND user_id = 0)", vec![(":id", row::row_id(chat, seq))])
        }
        DeletionTarget::Member { chat: Some(chat), user, since } => (
            "user_id = :user AND chat_key = :chat AND ts BETWEEN :since AND :until",
            vec![(":user", user.0), (":chat", chat.0.into()), (":since", since.map_or(0, Timestamp::secs)), until],
        ),
        DeletionTarget::Member { chat: None, user, since } => (
            "user_id = :user AND ts BETWEEN :since AND :until",
            vec![(":user", user.0), (":since", since.map_or(0, Timestamp::secs)), until],
        ),
        DeletionTarget::Chat(chat) => ("chat_key = :chat AND ts <= :until", vec![(":chat", chat.0.into()), until]),
        // A `Derived` request deletes answers but no messages, so this selects none.
        DeletionTarget::Derived { user, .. } => ("FALSE AND user_id = :user", vec![(":user", user.0)]),
    }
}

fn params(values: &SqlParameters) -> Vec<(&str, &dyn ToSql)> {
    values.iter().map(|(name, value)| (*name, value as &dyn ToSql)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::new_store;
    use crate::{Priority, chat_migration, messages};
    use chime_core::testkit::moment;
    use chime_core::{Chat, ChatId, ChatKind, Message, MessageId, Migration, Sender};

    #[tokio::test]
    async fn requests_follow_their_messages_into_the_merged_chat() {
        let (_folder, store) = new_store().await;
        let work = |tx: &Writer<'_>| -> Result<()> {
            let chat = |id, kind| chats::upsert(tx, &Chat { id: ChatId(id), kind, title: None, username: None });
            let (old, new) = (chat(-1, ChatKind::Group)?, chat(-100, ChatKind::Supergroup)?);
            for (row, number) in [(&old, 1), (&new, 1), (&new, 2), (&new, 3)] {
                let sender = Sender::person(UserId(7), "Ann".to_owned());
                messages::take_in(tx, row, &Message::new(row.chat.id, MessageId(number), sender, moment("10:00")))?;
            }
            let message = |seq| DeletionTarget::Message { chat: new.key, seq: Seq(seq) };
            let (now, asked_by) = (moment("11:00"), UserId(7));
            let mut ids = Vec::new();
            tx.run("DELETE FROM message WHERE chat_key = :chat AND seq = 3", params! { ":chat": new.key })?;
            for what in [DeletionTarget::Chat(new.key), message(2), message(3)] {
                let request =
                    DeletionRequest { what, asked_at: now, until: now, asked_by, was_announced: true, to: None };
                ids.push(add(tx, &request)?);
            }
            chat_migration::migrate(tx, Migration { from: old.chat.id, to: new.chat.id })?;
            assert_eq!(announced_for(tx, old.key)?, ids[..1]);
            let targets: Vec<DeletionTarget> = of_chat(tx, old.key)?.into_iter().map(|(_, it)| it.what).collect();
            let moved = |seq| DeletionTarget::Message { chat: old.key, seq: Seq(seq) };
            assert_eq!(targets, [DeletionTarget::Chat(old.key), moved(66), moved(67)]);
            let numbers: Vec<Seq> = messages::all_of(tx, old.key)?.into_iter().map(|it| it.seq).collect();
            assert_eq!(numbers, [Seq(1), Seq(65), Seq(66)]);
            assert_eq!(chats::next_seq(tx, old.key)?, Seq(68), "a message that is gone is no other one");
            Ok(())
        };
        store.write(Priority::Background, work).await.expect("a merge");
    }
}
