//! Tokens and cost of model calls for each UTC day, needed for the daily budgets. Also the token calibration of each
//! model, and the models that refused tools.

use super::family::{Family, Merged};
use super::sql::{Params, Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Spent, Timestamp, TokenCalibration, TokenUse, UserId};

/// Upper limit of every stored number: about a trillion tokens, or a million units of the currency. Sums of such
/// numbers cannot exceed SQLite's largest integer.
pub(super) const MOST: u64 = 1 << 40;

pub(super) const FAMILY: Family = Family { tables: &["token_usage"], chat_gone, merged, ..Family::UNTOUCHED };

/// Adds the counts of the chat that ends to the counts of the remaining chat, since daily budgets depend on them.
fn merged(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    add_again(tx, ":into", "user_id", "chat_key = :from", params! { ":into": chats.into, ":from": chats.from })?;
    tx.run("DELETE FROM token_usage WHERE chat_key = :from", params! { ":from": chats.from })
}

/// Adds the counts of a forgotten member, in one chat or in all (`None`), to the counts of background work. The counts
/// of the day of `now` stay for a day, because its limits depend on them: [`forget_strangers`].
pub(super) fn forget_member(tx: &Writer<'_>, chat: Option<ChatKey>, user: UserId, now: Timestamp) -> Result<()> {
    const COUNTS: &str = "user_id = :user AND day < :day AND (:chat IS NULL OR chat_key = :chat)";
    add_to_nobody(tx, COUNTS, params! { ":user": user, ":day": now.day(), ":chat": chat })
}

/// Adds the counts of the last days of users who are no members of the chat, such as forgotten ones, to the
/// counts of background work.
pub fn forget_strangers(tx: &Writer<'_>, now: Timestamp) -> Result<()> {
    const COUNTS: &str = "day BETWEEN :day - 7 AND :day - 1 AND user_id <> 0
         AND NOT EXISTS (SELECT 1 FROM member WHERE member.chat_key = token_usage.chat_key
                             AND member.user_id = token_usage.user_id)";
    add_to_nobody(tx, COUNTS, params! { ":day": now.day() })
}

fn add_to_nobody(tx: &Writer<'_>, condition: &str, params: Params<'_>) -> Result<()> {
    add_again(tx, "chat_key", "0", condition, params)?;
    tx.run(&format!("DELETE FROM token_usage WHERE {condition}"), params)
}

/// Adds the counts of the rows that fulfil `condition` to the counts of another chat and user.
fn add_again(tx: &Writer<'_>, chat: &str, user: &str, condition: &str, params: Params<'_>) -> Result<()> {
    let sum = |column| format!("{column} = min(min({column}, {MOST}) + min(excluded.{column}, {MOST}), {MOST})");
    let sums = ["calls", "prompt_tokens", "completion_tokens", "cost_micros"].map(sum).join(", ");
    tx.run(
        &format!(
            "INSERT INTO token_usage
             SELECT day, {chat}, {user}, model, calls, prompt_tokens, completion_tokens, cost_micros
             FROM token_usage WHERE {condition}
             ON CONFLICT (day, chat_key, user_id, model) DO UPDATE SET {sums}"
        ),
        params,
    )
}

/// Deletes the token counts of a chat except today's. Without these, emptying the chat would allow it to spend its
/// daily budget again.
fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.run(
        "DELETE FROM token_usage WHERE chat_key = :chat AND day < :day",
        params! { ":chat": chat, ":day": until.day() },
    )
}

rows! { Spent { total, of_chat, of_member, own_cap_of_chat } }

/// User id that is stored for background work, which no member requested.
const NOBODY: i64 = 0;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallUsage {
    pub at: Timestamp,
    pub chat: ChatKey,
    /// Member who asked; `None` for background work.
    pub user: Option<UserId>,
    pub model: String,
    pub tokens: TokenUse,
    pub cost_micros: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DayTotal {
    pub calls: u64,
    pub tokens: TokenUse,
    pub cost_micros: u64,
}

pub fn add(tx: &Writer<'_>, call: &CallUsage) -> Result<()> {
    tx.run(
        &format!(
            "INSERT INTO token_usage (day, chat_key, user_id, model, calls, prompt_tokens, completion_tokens, cost_micros)
             VALUES (:day, :chat, :user, :model, 1, :prompt, :completion, :cost)
             ON CONFLICT (day, chat_key, user_id, model) DO UPDATE
             SET calls = min(calls, {MOST}) + 1,
                 prompt_tokens = min(min(prompt_tokens, {MOST}) + excluded.prompt_tokens, {MOST}),
                 completion_tokens = min(min(completion_tokens, {MOST}) + excluded.completion_tokens, {MOST}),
                 cost_micros = min(min(cost_micros, {MOST}) + excluded.cost_micros, {MOST})"
        ),
        params! {
            ":day": call.at.day(), ":chat": call.chat, ":user": call.user.map_or(NOBODY, |user| user.0),
            ":model": call.model,
            ":prompt": call.tokens.prompt.min(MOST), ":completion": call.tokens.completion.min(MOST),
            ":cost": call.cost_micros.min(MOST),
        },
    )
}

pub fn spent(conn: &Reader, at: Timestamp, chat: ChatKey, user: UserId) -> Result<Spent> {
    conn.one(&format!(
            "SELECT coalesce(sum(tokens), 0) AS total, coalesce(sum(tokens) FILTER (WHERE chat_key = :chat), 0) AS of_chat,
                    coalesce(sum(tokens) FILTER (WHERE user_id = :user), 0) AS of_member,
                    (SELECT CAST(value AS INTEGER) FROM chat_setting
                     WHERE chat_setting.chat_key = :chat AND forum_topic_id = 0 AND key = 'daily_tokens') AS own_cap_of_chat
             FROM (SELECT chat_key, user_id, min(prompt_tokens, {MOST}) + min(completion_tokens, {MOST}) AS tokens
                   FROM token_usage WHERE day = :day)"
        ), params! { ":day": at.day(), ":chat": chat, ":user": user })
}

/// Tokens of a chat that a member used with one model: today, and since the first day of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberUsage {
    /// `None` for background work.
    pub user: Option<UserId>,
    pub model: String,
    pub today: u64,
    pub all: u64,
    pub cost_micros: u64,
}

/// Returns the usage of a chat from the day `first` to the day of `at`.
pub fn of_chat(conn: &Reader, chat: ChatKey, first: i64, at: Timestamp) -> Result<Vec<MemberUsage>> {
    conn.map(
        &format!(
            "SELECT user_id, model, sum(iif(day = :today, tokens, 0)) AS today, sum(tokens) AS tokens, sum(cost) AS cost
             FROM (SELECT day, user_id, model, min(cost_micros, {MOST}) AS cost,
                          min(prompt_tokens, {MOST}) + min(completion_tokens, {MOST}) AS tokens
                   FROM token_usage WHERE day BETWEEN :first AND :today AND chat_key = :chat)
             GROUP BY user_id, model"
        ),
        params! { ":chat": chat, ":first": first, ":today": at.day() },
        |row| {
            let user: UserId = row.get("user_id")?;
            Ok(MemberUsage {
                user: (user.0 != NOBODY).then_some(user),
                model: row.get("model")?,
                today: row.get("today")?,
                all: row.get("tokens")?,
                cost_micros: row.get("cost")?,
            })
        },
    )
}

pub fn of_day(conn: &Reader, at: Timestamp) -> Result<DayTotal> {
    let (calls, prompt, completion, cost_micros) = conn.one(
        &format!(
            "SELECT coalesce(sum(min(calls, {MOST})), 0) AS calls,
                    coalesce(sum(min(prompt_tokens, {MOST})), 0) AS prompt,
                    coalesce(sum(min(completion_tokens, {MOST})), 0) AS completion,
                    coalesce(sum(min(cost_micros, {MOST})), 0) AS cost
             FROM token_usage WHERE day = :day"
        ),
        params! { ":day": at.day() },
    )?;
    Ok(DayTotal { calls, tokens: TokenUse { prompt, completion }, cost_micros })
}

/// Returns the ratio of the tokens that a model counts to the tokens that were estimated; 1 if unknown.
pub fn calibration(conn: &Reader, model: &str) -> Result<TokenCalibration> {
    let ratio = conn.first("SELECT ratio FROM token_calibration WHERE model = :model", params! { ":model": model })?;
    Ok(ratio.map_or_else(TokenCalibration::default, TokenCalibration::of_ratio))
}

/// Returns the models of a server that refused calls with tools, each with the time of its last refusal.
pub fn tool_refusals(conn: &Reader, server: &str) -> Result<Vec<(String, Timestamp)>> {
    conn.all("SELECT model, refused_at FROM tool_refusal WHERE server = :server", params! { ":server": server })
}

pub fn note_tool_refusal(tx: &Writer<'_>, server: &str, model: &str, at: Timestamp) -> Result<()> {
    tx.run(
        "INSERT INTO tool_refusal (server, model, refused_at) VALUES (:server, :model, :at)
         ON CONFLICT (server, model) DO UPDATE SET refused_at = excluded.refused_at
         WHERE tool_refusal.refused_at < excluded.refused_at",
        params! { ":server": server, ":model": model, ":at": at },
    )
}

/// Updates the ratio of a model after a call: its prompt was estimated at `estimated` tokens, and the model counted
/// `real`.
pub fn calibrate(tx: &Writer<'_>, model: &str, estimated: usize, real: u64) -> Result<()> {
    let calibration = calibration(tx, model)?.observe(estimated, real);
    tx.run(
        "INSERT INTO token_calibration (model, ratio) VALUES (:model, :ratio)
         ON CONFLICT (model) DO UPDATE SET ratio = excluded.ratio",
        params! { ":model": model, ":ratio": calibration.ratio() },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;
    use crate::testkit::new_store;

    #[tokio::test]
    async fn counters_at_the_end_of_the_integers_lose_no_answer() {
        let now = Timestamp::from_secs(1_750_000_000);
        let (_folder, store) = new_store().await;
        let tokens = TokenUse { prompt: u64::MAX, completion: u64::MAX };
        let call = CallUsage {
            at: now,
            chat: ChatKey(1),
            user: Some(UserId(7)),
            model: "m".to_owned(),
            tokens,
            cost_micros: u64::MAX,
        };
        let (spent, total) = store
            .write(Priority::Answering, move |tx| {
                // Values above the limit, which an earlier version may have stored.
                tx.execute_batch(&format!(
                    "INSERT INTO token_usage (day, chat_key, user_id, model, calls, prompt_tokens, completion_tokens, cost_micros)
                     VALUES ({day}, 1, 7, 'm', 9223372036854775807, 9223372036854775807, 9223372036854775807, 9223372036854775807),
                            ({day}, 2, 7, 'm', 1, 9223372036854775807, 9223372036854775807, 1)",
                    day = now.day()
                ))?;
                add(tx, &call)?;
                add(tx, &call)?;
                Ok((super::spent(tx, now, ChatKey(1), UserId(7))?, of_day(tx, now)?))
            })
            .await
            .unwrap();
        assert_eq!((spent.of_chat, spent.of_member, spent.total), (2 * MOST, 4 * MOST, 4 * MOST));
        assert_eq!((total.tokens.prompt, total.cost_micros), (2 * MOST, MOST + 1));
    }
}
