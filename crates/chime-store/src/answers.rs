//! Stored answers and the messages that each is based on.

use super::answer_sources::BLOCK;
use super::family::{Family, Merged, OptOutScope};
use super::sql::{Columns, Json, Statements, params};
use super::{Reader, Result, Writer, answer_sources, follow_ups};
use chime_core::{AnswerId, AnswerRecord, ChatKey, Seq, Timestamp, TokenUse, Uncertainty, UserId};

const COLUMNS: &str = "id, chat_key, forum_topic_id, trigger_seq, asked_by, created_at, status, text, anchor_id, \
                       context_window, omitted, slots, sources, model, prompt_tokens, \
                       completion_tokens, latency_ms, uncertainty, guard_used, removed";

/// Stores an answer and the messages it is based on. Fails if its trigger already has an answer.
pub fn save(tx: &Writer<'_>, record: &AnswerRecord) -> Result<()> {
    tx.run(
        "INSERT INTO answer (id, chat_key, forum_topic_id, trigger_seq, asked_by, created_at, status, text, anchor_id,
             context_window, omitted, slots, sources, model, prompt_tokens, completion_tokens, latency_ms,
             uncertainty, guard_used, removed)
         VALUES (:id, :chat_key, :forum_topic_id, :trigger_seq, :asked_by, :created_at, :status, :text, :anchor_id,
             :context_window, :omitted, :slots, :sources, :model, :prompt_tokens, :completion_tokens,
             :latency_ms, :uncertainty, :guard_used, :removed)",
        params! {
            ":id": record.id, ":chat_key": record.chat, ":forum_topic_id": record.forum_topic,
            ":trigger_seq": record.trigger, ":asked_by": record.asked_by,
            ":created_at": record.created_at,
            ":status": record.status, ":text": record.text, ":anchor_id": record.anchor,
            ":context_window": Json(&record.window),
            ":omitted": Json(&record.omitted), ":slots": Json(&record.slots),
            ":sources": Json(&record.sources),
            ":model": record.model,
            ":prompt_tokens": record.tokens.prompt, ":completion_tokens": record.tokens.completion,
            ":latency_ms": record.latency_ms, ":uncertainty": record.uncertainty.map(Uncertainty::as_str),
            ":guard_used": record.guard_used, ":removed": Json(&record.removed),
        },
    )?;
    let given: Vec<Seq> = record.window.iter().map(|chosen| chosen.seq).chain([record.trigger]).collect();
    rest_on(tx, record, &given)
}

/// Records further messages that an answer is based on, which are not in its context window.
pub fn rest_on(tx: &Writer<'_>, record: &AnswerRecord, seqs: &[Seq]) -> Result<()> {
    answer_sources::note(tx, record.chat, record.id, seqs)
}

/// Returns the messages that an answer is based on. The trigger is one of them.
pub fn grounds(conn: &Reader, answer: AnswerId) -> Result<Vec<Seq>> {
    let blocks = conn.all(
        "SELECT answer_use.block AS block, answer_use.bits AS bits FROM answer
         JOIN answer_use ON answer_use.chat_key = answer.chat_key AND answer_use.answer_id = answer.id
         WHERE answer.id = :id ORDER BY answer_use.block",
        params! { ":id": answer },
    )?;
    Ok(answer_sources::seqs(blocks))
}

/// Returns the answers that are based on a message. The answer to a trigger is based on the trigger.
pub fn resting_on(conn: &Reader, chat: ChatKey, seq: Seq) -> Result<Vec<AnswerId>> {
    conn.all(
        "SELECT answer_id FROM answer_use WHERE chat_key = :chat AND block = :seq >> 6 AND (bits >> (:seq & 63)) & 1",
        params! { ":chat": chat, ":seq": seq },
    )
}

/// Has no `words_gone`: `super::forget` decides which answers are deleted with a message, because that depends on the
/// text of the answers.
pub(super) const FAMILY: Family = Family {
    tables: &["answer", "answer_use"],
    moved: &[("answer", Some("trigger_seq"))],
    opted_out: hide,
    merged: give_numbers,
    ..Family::UNTOUCHED
};

/// Marks the messages that show answers based on the member's messages as stubs, so that they are no longer read. A job
/// deletes their text later.
fn hide(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "UPDATE message SET is_stub = 1 WHERE is_stub = 0 AND (telegram_chat_id, message_id) IN
         (SELECT outbox.telegram_chat_id, outbox.message_id
          FROM message_in_answer AS said
          JOIN outbox ON outbox.answer_id = said.answer_id
          WHERE (said.user_id = :user OR (said.origin_user_id = :user AND said.forward_origin IS NOT NULL))
              AND (:chat IS NULL OR said.chat_key = :chat) AND outbox.message_id IS NOT NULL)",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

/// Returns at most `limit` messages by a member, or forwarded from the member, on which an answer created up to `until`
/// is based. `None` means all chats.
pub fn grounds_of_member(
    conn: &Reader,
    chat: Option<ChatKey>,
    user: UserId,
    until: Timestamp,
    limit: u32,
) -> Result<Vec<(ChatKey, Seq)>> {
    conn.all(
        "SELECT DISTINCT said.chat_key AS chat_key, said.seq AS seq
         FROM message_in_answer AS said
         JOIN answer ON answer.id = said.answer_id AND answer.created_at <= :until
         WHERE (said.user_id = :user OR (said.origin_user_id = :user AND said.forward_origin IS NOT NULL))
             AND (:chat IS NULL OR said.chat_key = :chat) LIMIT :limit",
        params! {
            ":user": user, ":chat": chat, ":until": until, ":limit": limit,
        },
    )
}

/// Changes the message numbers that the answers of `chats.from` contain, and the numbers of the messages that they are based
/// on.
fn give_numbers(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    let ids: Vec<AnswerId> = tx.all("SELECT id FROM answer WHERE chat_key = :from", params! { ":from": chats.from })?;
    for id in ids {
        let Some(mut record) = find(tx, id)? else { continue };
        record.window.iter_mut().for_each(|chosen| chosen.seq = chats.number(chosen.seq));
        let shown = record
            .slots
            .iter_mut()
            .flat_map(|slot| slot.sources.iter_mut().chain(slot.found.iter_mut().map(|found| &mut found.id)));
        for id in shown.chain(record.sources.iter_mut().map(|source| &mut source.id)) {
            // Message id as the model reads it, for example `m17`.
            if let Some(was) = id.strip_prefix('m').and_then(|seq| seq.parse().ok()) {
                *id = format!("m{}", chats.number(Seq(was)));
            }
        }
        tx.run(
            "UPDATE answer SET context_window = :window, slots = :slots, sources = :sources WHERE id = :id",
            params! {
                ":id": id, ":window": Json(&record.window), ":slots": Json(&record.slots),
                ":sources": Json(&record.sources),
            },
        )?;
    }
    chats.run(
        tx,
        &format!("UPDATE answer_use SET chat_key = :into, block = block + :shift / {BLOCK} WHERE chat_key = :from"),
    )
}

/// Deletes an answer and clears the text of its replies. The rows of the replies stay: a member's reply to one of them
/// must still be recognised as addressed to the bot.
pub fn forget(tx: &Writer<'_>, id: AnswerId) -> Result<()> {
    // Concepts are deleted with the row of the answer. Follow-ups need a call, because they may belong to a later
    // answer by now.
    follow_ups::forget(tx, id)?;
    for sql in [
        // An unsent reply is only cleared, not deleted: the sender then sees that the text was forgotten.
        "UPDATE outbox SET text = '', entities = '[]', button = NULL, poll = NULL, answer_id = NULL WHERE answer_id = :id",
        "DELETE FROM answer_use WHERE answer_id = :id",
        "DELETE FROM answer WHERE id = :id",
    ] {
        tx.run(sql, params! { ":id": id })?;
    }
    Ok(())
}

pub fn find(conn: &Reader, id: AnswerId) -> Result<Option<AnswerRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM answer WHERE id = :id");
    conn.map_first(&sql, params! { ":id": id }, from_row)
}

/// Returns the answer to a trigger, or `None` if it has none.
pub fn to_trigger(conn: &Reader, chat: ChatKey, trigger: Seq) -> Result<Option<AnswerRecord>> {
    let sql = format!("SELECT {COLUMNS} FROM answer WHERE chat_key = :chat AND trigger_seq = :seq");
    conn.map_first(&sql, params! { ":chat": chat, ":seq": trigger }, from_row)
}

fn from_row(raw: &Columns<'_>) -> Result<AnswerRecord> {
    Ok(AnswerRecord {
        id: raw.get("id")?,
        chat: raw.get("chat_key")?,
        forum_topic: raw.get("forum_topic_id")?,
        trigger: raw.get("trigger_seq")?,
        asked_by: raw.get("asked_by")?,
        created_at: raw.get("created_at")?,
        status: raw.get("status")?,
        text: raw.get("text")?,
        anchor: raw.get("anchor_id")?,
        window: raw.json("context_window")?,
        omitted: raw.json("omitted")?,
        slots: raw.json("slots")?,
        sources: raw.json("sources")?,
        model: raw.get("model")?,
        tokens: TokenUse { prompt: raw.get("prompt_tokens")?, completion: raw.get("completion_tokens")? },
        latency_ms: raw.get("latency_ms")?,
        uncertainty: raw.get("uncertainty")?,
        guard_used: raw.get("guard_used")?,
        removed: raw.json("removed")?,
    })
}
