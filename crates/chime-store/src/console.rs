//! Queries for the owners' page (`chime-console`). Each reads a bounded part of the database.

use super::messages::VISIBLE;
use super::row::row_id;
use super::sql::{Columns, Statements, params, rows};
use super::usage::MOST;
use super::{Reader, Result};
use chime_core::{AnswerId, ChatKey, Seq, SessionId, Timestamp, UserId};

/// Number of answers whose time the percentiles are computed from: the newest.
const TIMED: u32 = 1_000;

/// Counts of a chat on one UTC day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChatDay {
    pub chat: ChatKey,
    /// Days since 1970-01-01.
    pub day: i64,
    pub counts: DayCounts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayCounts {
    pub messages: u64,
    /// Triggers that got a reply of any kind.
    pub triggers: u64,
    /// Triggers that a model answered.
    pub answers: u64,
    pub tokens: u64,
    /// Millionths of the currency.
    pub cost_micros: u64,
}

impl DayCounts {
    pub fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.triggers += other.triggers;
        self.answers += other.answers;
        self.tokens += other.tokens;
        self.cost_micros += other.cost_micros;
    }
}

rows! {
    ListedOptOut { chat = "chat_key", user = "user_id", since }
    ListedSession { id, started_at, ended_at, messages }
    TopicDay { topic, day, sessions }
}

/// Returns the counts from the UTC day of `from` on. Several rows may be of the same chat and day.
pub fn activity(conn: &Reader, from: Timestamp) -> Result<Vec<ChatDay>> {
    let day = from.day();
    let row = |raw: &Columns<'_>, counts| Ok(ChatDay { chat: raw.get("chat_key")?, day: raw.get("day")?, counts });
    let mut days = conn.map(
        // CROSS JOIN keeps the order: one range of the index message_by_age for each chat.
        "SELECT chat.chat_key AS chat_key, ts / 86400 AS day, count(*) AS messages
         FROM chat CROSS JOIN message ON message.chat_key = chat.chat_key AND ts >= :from GROUP BY 1, 2",
        params! { ":from": day * 86400 },
        |raw| row(raw, DayCounts { messages: raw.get("messages")?, ..DayCounts::default() }),
    )?;
    days.extend(conn.map(
        "SELECT chat_key, created_at / 86400000 AS day, count(*) AS triggers, sum(status = 'answered') AS answers
         FROM answer WHERE id >= :first GROUP BY 1, 2",
        params! { ":first": AnswerId(Timestamp::from_secs(day * 86400).ulid(0)) },
        |raw| {
            let counts =
                DayCounts { triggers: raw.get("triggers")?, answers: raw.get("answers")?, ..DayCounts::default() };
            row(raw, counts)
        },
    )?);
    days.extend(conn.map(
        &format!(
            "SELECT chat_key, day, sum(min(prompt_tokens, {MOST}) + min(completion_tokens, {MOST})) AS tokens,
                    sum(min(cost_micros, {MOST})) AS cost
             FROM token_usage WHERE day >= :day GROUP BY 1, 2"
        ),
        params! { ":day": day },
        |raw| {
            let counts =
                DayCounts { tokens: raw.get("tokens")?, cost_micros: raw.get("cost")?, ..DayCounts::default() };
            row(raw, counts)
        },
    )?);
    Ok(days)
}

/// Returns the durations in milliseconds of the newest answers by models since `from`, sorted.
pub fn answer_times(conn: &Reader, from: Timestamp) -> Result<Vec<u64>> {
    conn.all(
        "SELECT latency_ms FROM (SELECT latency_ms FROM answer WHERE id >= :first AND status = 'answered'
                                 ORDER BY id DESC LIMIT :limit) ORDER BY 1",
        params! { ":first": AnswerId(from.ulid(0)), ":limit": TIMED },
    )
}

pub fn newest_messages(conn: &Reader) -> Result<Vec<(ChatKey, Timestamp)>> {
    conn.all(
        "SELECT chat_key, (SELECT max(ts) FROM message WHERE message.chat_key = chat.chat_key) * 1000 AS newest
         FROM chat WHERE newest IS NOT NULL",
        &[],
    )
}

/// Returns the number of the first message of a chat at or after `at`.
pub fn first_since(conn: &Reader, chat: ChatKey, at: Timestamp) -> Result<Option<Seq>> {
    conn.first(
        "SELECT seq FROM message WHERE chat_key = :chat AND ts >= :at ORDER BY ts LIMIT 1",
        params! { ":chat": chat, ":at": at.secs() },
    )
}

/// Returns the answers to the messages `from..=to` of a chat, each with its trigger, without those that are withheld
/// (see [`is_answer_withheld`]).
pub fn answers_between(conn: &Reader, chat: ChatKey, from: Seq, to: Seq) -> Result<Vec<(Seq, AnswerId)>> {
    let found: Vec<(Seq, AnswerId)> = conn.all(
        "SELECT trigger_seq, id FROM answer
         WHERE chat_key = :chat AND trigger_seq BETWEEN :from AND :to ORDER BY trigger_seq",
        params! { ":chat": chat, ":from": from, ":to": to },
    )?;
    let mut shown = Vec::new();
    for (trigger, answer) in found {
        if !is_answer_withheld(conn, chat, answer)? {
            shown.push((trigger, answer));
        }
    }
    Ok(shown)
}

/// Returns `true` if an answer rests on a message that may not be read, such as one of a member who opted out. A job
/// deletes such answers a little later.
pub fn is_answer_withheld(conn: &Reader, chat: ChatKey, answer: AnswerId) -> Result<bool> {
    conn.any(
        &format!(
            "SELECT 1 FROM answer_use JOIN message
                 ON message.id BETWEEN (:chat << 32) + (block << 6) AND (:chat << 32) + (block << 6) + 63
                 AND (bits >> (message.seq & 63)) & 1
             WHERE answer_use.answer_id = :answer AND answer_use.chat_key = :chat AND NOT ({VISIBLE})
             UNION ALL
             SELECT 1 FROM answer JOIN opt_out ON opt_out.user_id = asked_by AND opt_out.chat_key IN (0, :chat)
             WHERE answer.id = :answer"
        ),
        params! { ":chat": chat, ":answer": answer },
    )
}

/// Returns `true` if a concept of the chat comes from an answer that rests on messages of a member who opted out. A job
/// deletes such concepts a little later.
pub fn are_concepts_withheld(conn: &Reader, chat: ChatKey) -> Result<bool> {
    conn.any(
        "SELECT 1 FROM opt_out JOIN message_in_answer AS said ON said.user_id = opt_out.user_id AND said.chat_key = :chat
         JOIN concept ON concept.answer_id = said.answer_id
         WHERE opt_out.chat_key IN (0, :chat)",
        params! { ":chat": chat },
    )
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedSession {
    pub id: SessionId,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub messages: u32,
}

/// Returns the sessions of a chat that begin with one of the messages `from..=to`, newest first, at most `limit`.
pub fn sessions_between(conn: &Reader, chat: ChatKey, from: Seq, to: Seq, limit: u32) -> Result<Vec<ListedSession>> {
    conn.all(
        "SELECT id, started_at * 1000 AS started_at, ended_at * 1000 AS ended_at, messages
         FROM session WHERE id BETWEEN :from AND :to ORDER BY id DESC LIMIT :limit",
        params! { ":from": row_id(chat, from), ":to": row_id(chat, to), ":limit": limit },
    )
}

/// Sessions about a topic that ended on one UTC day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicDay {
    pub topic: String,
    /// Days since 1970-01-01.
    pub day: i64,
    pub sessions: u64,
}

/// Returns the days from the UTC day `first` on that had sessions about the topics of a chat.
pub fn topic_days(conn: &Reader, chat: ChatKey, first: i64) -> Result<Vec<TopicDay>> {
    conn.all(
        "SELECT coalesce(main.name, tag.name) AS topic, ended_at / 86400 AS day, count(DISTINCT session_id) AS sessions
         FROM session JOIN session_tag ON session_id = session.id JOIN tag ON tag.id = tag_id
             LEFT JOIN tag AS main ON main.id = tag.same_as
         WHERE session.chat_key = :chat AND ended_at >= :from GROUP BY 1, 2",
        params! { ":chat": chat, ":from": first * 86400 },
    )
}

/// Opt-out of a member. Chat 0 stands for every chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedOptOut {
    pub chat: ChatKey,
    pub user: UserId,
    pub since: Timestamp,
}

pub fn opt_outs(conn: &Reader, limit: u32) -> Result<Vec<ListedOptOut>> {
    conn.all(
        "SELECT chat_key, user_id, since FROM opt_out ORDER BY since DESC LIMIT :limit",
        params! { ":limit": limit },
    )
}

/// Numbers of messages and other data that forgetting a member deletes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgettable {
    pub messages: u64,
    pub answers: u64,
    pub summaries: u64,
    pub notes: u64,
    pub reminders: u64,
}

/// Counts what forgetting `user` in a chat, or in all chats, would delete.
pub fn forgettable(conn: &Reader, chat: Option<ChatKey>, user: UserId) -> Result<Forgettable> {
    let count = |sql: &str| conn.one(sql, params! { ":user": user, ":chat": chat });
    Ok(Forgettable {
        messages: count("SELECT count(*) FROM message WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)")?,
        answers: count(
            "SELECT count(DISTINCT answer_id) FROM message_in_answer
             WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)",
        )?,
        summaries: conn.one(
            "SELECT count(*) FROM mini_summary WHERE session_id BETWEEN :first AND :last
             AND EXISTS (SELECT 1 FROM json_each(bullets) AS bullet CROSS JOIN json_each(bullet.value, '$.sources') AS source
                             CROSS JOIN message ON message.id = (session_id >> 32 << 32) + source.value
                         WHERE user_id = :user)",
            params! {
                ":user": user, ":first": row_id(chat.unwrap_or(ChatKey(0)), Seq(0)),
                ":last": row_id(chat.unwrap_or(ChatKey(u32::MAX >> 1)), Seq(u32::MAX)),
            },
        )?,
        notes: count(
            "SELECT count(DISTINCT note_id) FROM message JOIN note_source USING (chat_key, seq)
             WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)",
        )?,
        reminders: count(
            "SELECT count(*) FROM reminder WHERE user_id = :user AND (:chat IS NULL OR chat_key = :chat)",
        )?,
    })
}
