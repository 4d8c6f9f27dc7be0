//! Outgoing replies. A reply is stored before it is sent, and each of its parts is marked when Telegram has accepted
//! it.

use super::family::{Cause, Family, OptOutScope};
use super::forget::{self, Replacement};
use super::sql::{Columns, Json, Statements, params, texts};
use super::{Reader, Result, Writer, chats, jobs, messages};
use chime_core::{
    AnswerId, Button, ChatId, ChatKey, FormattedText, JobPayload, MessageId, Outgoing, Poll, ReplyTarget, Seq,
    StoredMessage, Timestamp, UserId,
};

/// Kind of reply. A member's reply to an answer addresses the bot; a reply to a notice or command output does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Answer,
    Command,
    Notice,
    /// A reply that was promised for a certain time, so it is sent however late.
    Reminder,
}

chime_core::words!(Purpose { Answer = "answer", Command = "command", Notice = "notice", Reminder = "reminder" });
texts! { words: Purpose, State }

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Pending,
    /// Handed to Telegram. If the process crashes in this state, it is unknown if Telegram received the part.
    Sending,
    Sent,
    /// Sending was given up after an error.
    Failed,
}

chime_core::words!(State { Pending = "pending", Sending = "sending", Sent = "sent", Failed = "failed" });

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewReply {
    pub key: String,
    pub purpose: Purpose,
    pub answer: Option<AnswerId>,
    pub to: ReplyTarget,
    pub parts: Vec<FormattedText>,
    /// Rows of buttons, shown below the last part.
    pub buttons: Vec<Vec<Button>>,
    /// Job that makes the reply again if, before it is sent, a message it is based on is forgotten.
    pub made_by: Option<JobPayload>,
    /// Only member of the group who is to see the reply, if Telegram can do that.
    pub receiver: Option<UserId>,
    /// Poll to send; the only part has the poll's text.
    pub poll: Option<Poll>,
}

impl NewReply {
    /// Creates a reply whose text is not an answer: command output or a notice.
    pub fn own(purpose: Purpose, key: String, to: ReplyTarget, parts: Vec<FormattedText>) -> Self {
        Self { key, purpose, answer: None, to, parts, buttons: Vec::new(), made_by: None, receiver: None, poll: None }
    }

    pub fn send_job(&self) -> JobPayload {
        let made_by = self.made_by.clone().map(Box::new);
        JobPayload::Send { reply: self.key.clone(), chat: self.to.chat, made_by }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyPart {
    pub id: i64,
    pub part: u32,
    pub purpose: Purpose,
    pub answer: Option<AnswerId>,
    pub outgoing: Outgoing,
    pub state: State,
    pub unknown_sends: u32,
    pub created_at: Timestamp,
    pub message: Option<MessageId>,
    pub poll_id: Option<String>,
}

impl ReplyPart {
    /// Returns `true` if the answer shown by this part was deleted, or its text was cleared because it showed a
    /// forgotten message. Replies are never stored without text, so an empty one was cleared.
    pub fn is_forgotten(&self) -> bool {
        self.purpose == Purpose::Answer && self.answer.is_none() || self.outgoing.content.text.is_empty()
    }
}

const COLUMNS: &str = "id, part, purpose, answer_id, telegram_chat_id, forum_topic_id, reply_to_id, text, entities, state, \
                       unknown_sends, created_at, message_id, button, receiver_id, poll, poll_id";

pub(super) const FAMILY: Family = Family {
    tables: &["outbox", "reply_use"],
    moved: &[("reply_use", Some("seq"))],
    words_gone,
    opted_out,
    chat_gone,
    ..Family::UNTOUCHED
};

/// Records that a reply without an answer record, such as a recap, shows the text or author of these messages. When one
/// of them is deleted, the reply is cleared.
pub fn note_uses(tx: &Writer<'_>, key: &str, chat: ChatKey, seqs: impl IntoIterator<Item = Seq>) -> Result<()> {
    for seq in seqs {
        tx.run(
            "INSERT OR IGNORE INTO reply_use (chat_key, seq, reply_key) VALUES (:chat, :seq, :key)",
            params! { ":chat": chat, ":seq": seq, ":key": key },
        )?;
    }
    Ok(())
}

/// Clears replies that show the deleted message, as recorded by [`note_uses`]. After an edit they stay. Replies that
/// show an answer are deleted with the answer.
fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, cause: Cause) -> Result<()> {
    if cause == Cause::Edited {
        return Ok(());
    }
    let keys: Vec<String> = tx.all(
        "SELECT reply_key FROM reply_use WHERE chat_key = :chat AND seq = :seq",
        params! { ":chat": stored.chat, ":seq": stored.seq },
    )?;
    take_back(tx, keys, cause)
}

/// Clears replies that show messages of the member, as recorded by [`note_uses`].
fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    let keys = tx.all(
        "SELECT DISTINCT reply_key FROM reply_use JOIN message USING (chat_key, seq)
         WHERE (user_id = :user OR (origin_user_id = :user AND forward_origin IS NOT NULL))
             AND (:chat IS NULL OR reply_use.chat_key = :chat)",
        params! { ":user": user, ":chat": scope.chat() },
    )?;
    take_back(tx, keys, Cause::Forgotten)
}

fn take_back(tx: &Writer<'_>, keys: Vec<String>, cause: Cause) -> Result<()> {
    for key in keys {
        tx.run("DELETE FROM reply_use WHERE reply_key = :key", params! { ":key": key })?;
        for part in parts(tx, &key)? {
            tx.run(
                "UPDATE outbox SET text = '', entities = '[]', button = NULL, poll = NULL, error = NULL WHERE id = :id",
                params! { ":id": part.id },
            )?;
            let Some(id) = part.message else { continue };
            if let Some(carrier) = messages::find_any(tx, part.outgoing.to.chat, id)? {
                forget::remove(tx, &carrier, Replacement::Stub, cause)?;
            }
        }
    }
    Ok(())
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    // Buttons in the private chats of its members may bear its title.
    tx.run(
        "UPDATE outbox SET button = NULL WHERE button IS NOT NULL
         AND telegram_chat_id IN (SELECT user_id FROM member WHERE chat_key = :chat)
         AND instr(button, (SELECT substr(json_quote(title), 1, 30) FROM chat WHERE chat_key = :chat AND title <> '')) > 0",
        params! { ":chat": chat },
    )?;
    tx.run(
        "DELETE FROM outbox WHERE created_at <= :until AND state IN ('sent', 'failed') AND answer_id IS NULL
         AND telegram_chat_id IN (SELECT telegram_chat_id FROM chat_alias WHERE chat_key = :chat)",
        params! { ":chat": chat, ":until": until },
    )
}

/// Stores a reply and the job that sends it. CONTRIBUTING.md lists the messages that are sent without it. The first
/// part is stored as `Sending` at once, which saves a commit before it is sent; the others are `Pending`.
pub fn add(tx: &Writer<'_>, reply: &NewReply, now: Timestamp) -> Result<()> {
    let (to, receiver) = target(tx, reply, now)?;
    for (number, part) in (0u32..).zip(&reply.parts) {
        let state = if number == 0 { State::Sending } else { State::Pending };
        let is_last = number as usize + 1 == reply.parts.len();
        let buttons = Some(&reply.buttons).filter(|rows| is_last && !rows.is_empty());
        tx.run(
            "INSERT INTO outbox (reply_key, part, purpose, answer_id, telegram_chat_id, forum_topic_id, reply_to_id, text,
                 entities, state, created_at, button, receiver_id, poll)
             VALUES (:key, :part, :purpose, :answer, :chat, :forum_topic, :reply_to, :text, :entities, :state, :now, :button,
                 :receiver, :poll)
             ON CONFLICT (reply_key, part) DO NOTHING",
            params! {
                ":key": reply.key, ":part": number, ":purpose": reply.purpose,
                ":answer": reply.answer, ":chat": to.chat,
                ":forum_topic": to.forum_topic, ":reply_to": to.reply_to,
                ":text": part.text, ":entities": Json(&part.entities), ":state": state,
                ":now": now, ":button": buttons.map(Json), ":receiver": receiver, ":poll": reply.poll.as_ref().map(Json),
            },
        )?;
    }
    // If the reply was removed and made again, the send job of the removed one is done and becomes due again.
    jobs::add_unless_due(tx, &reply.send_job(), now)
}

/// Returns the target of a reply, and the only member who is to see it. In a chat in which Telegram lately refused to
/// show messages to one member alone, the target is the result of [`for_all_or_private`].
fn target(conn: &Reader, reply: &NewReply, now: Timestamp) -> Result<(ReplyTarget, Option<UserId>)> {
    if let Some(receiver) = reply.receiver
        && chats::refuses_ephemeral(conn, reply.to.chat, now)?
        && let Some(to) = for_all_or_private(conn, reply.to, receiver, !reply.buttons.is_empty())?
        && reply.to.reply_to.is_none_or(|asked| asked.ephemeral_number().is_none())
    {
        return Ok((to, None));
    }
    Ok((reply.to, reply.receiver))
}

/// Returns the target of a reply that Telegram does not show to `receiver` alone: their private chat with the bot, or
/// else the group. A reply with buttons goes to the group, since a button acts on the chat in which it is pressed.
/// `None` if only the receiver knows what they asked, and there is no private chat.
pub fn for_all_or_private(
    conn: &Reader,
    to: ReplyTarget,
    receiver: UserId,
    has_buttons: bool,
) -> Result<Option<ReplyTarget>> {
    // A private chat has the same id as its user. An anonymous admin has the id of the group.
    let private = ChatId(receiver.0);
    if !has_buttons && private.0 > 0 && chats::find(conn, private)?.is_some_and(|row| row.is_present) {
        return Ok(Some(ReplyTarget { chat: private, forum_topic: None, reply_to: None }));
    }
    Ok(Some(to).filter(|to| to.reply_to.is_none_or(|asked| asked.ephemeral_number().is_none())))
}

/// Sends a part to `to`, for everybody there to see.
pub fn readdress(tx: &Writer<'_>, id: i64, to: ReplyTarget) -> Result<()> {
    tx.run(
        "UPDATE outbox SET telegram_chat_id = :chat, forum_topic_id = :forum_topic, reply_to_id = :reply_to, receiver_id = NULL
         WHERE id = :id",
        params! { ":id": id, ":chat": to.chat, ":forum_topic": to.forum_topic, ":reply_to": to.reply_to },
    )
}

/// Replaces the text of a part that was not sent.
pub fn rewrite(tx: &Writer<'_>, id: i64, content: &FormattedText) -> Result<()> {
    tx.run(
        "UPDATE outbox SET text = :text, entities = :entities WHERE id = :id",
        params! { ":id": id, ":text": content.text, ":entities": Json(&content.entities) },
    )
}

pub fn by_poll(conn: &Reader, poll: &str) -> Result<Option<ReplyPart>> {
    let sql = format!("SELECT {COLUMNS} FROM outbox WHERE poll_id = :poll");
    conn.map_first(&sql, params! { ":poll": poll }, from_row)
}

pub fn exists(conn: &Reader, key: &str) -> Result<bool> {
    conn.any("SELECT 1 FROM outbox WHERE reply_key = :key", params! { ":key": key })
}

/// Removes the failed parts of a reply. Returns `true` if other parts are left: they were or will be sent.
pub fn remove_failed(tx: &Writer<'_>, key: &str) -> Result<bool> {
    tx.run("DELETE FROM outbox WHERE reply_key = :key AND state = 'failed'", params! { ":key": key })?;
    exists(tx, key)
}

/// Records that only the first `end` bytes of a part belong to the answer. The rest is other text, such as the bot's
/// introduction.
pub fn set_talk_end(tx: &Writer<'_>, key: &str, part: usize, end: usize) -> Result<()> {
    tx.run(
        "UPDATE outbox SET talk_end = :end WHERE reply_key = :key AND part = :part",
        params! { ":key": key, ":part": part, ":end": end },
    )
}

/// Returns the number of bytes of a part that belong to the answer, or `None` if all do.
pub fn talk_end(conn: &Reader, id: i64) -> Result<Option<usize>> {
    conn.one("SELECT talk_end FROM outbox WHERE id = :id", params! { ":id": id })
}

pub fn parts(conn: &Reader, key: &str) -> Result<Vec<ReplyPart>> {
    let sql = format!("SELECT {COLUMNS} FROM outbox WHERE reply_key = :key ORDER BY part");
    conn.map(&sql, params! { ":key": key }, from_row)
}

/// Reads a part again and returns `true` if it has been forgotten, as defined by [`ReplyPart::is_forgotten`].
pub fn is_forgotten(conn: &Reader, id: i64) -> Result<bool> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM outbox
         WHERE id = :id AND (purpose = 'answer' AND answer_id IS NULL OR text = '')) AS gone",
        params! { ":id": id },
    )
}

/// Deletes a reply. Only for replies of which no part was sent.
pub fn remove(tx: &Writer<'_>, key: &str) -> Result<()> {
    tx.run("DELETE FROM outbox WHERE reply_key = :key", params! { ":key": key })
}

pub fn by_message(conn: &Reader, chat: ChatId, message: MessageId) -> Result<Option<ReplyPart>> {
    let sql = format!("SELECT {COLUMNS} FROM outbox WHERE telegram_chat_id = :chat AND message_id = :message");
    conn.map_first(&sql, params! { ":chat": chat, ":message": message }, from_row)
}

/// Returns `true` if a message is a recap, either requested by a member or scheduled.
pub fn is_recap(conn: &Reader, chat: ChatId, message: MessageId) -> Result<bool> {
    conn.any(
        "SELECT 1 FROM outbox WHERE telegram_chat_id = :chat AND message_id = :message
         AND (reply_key GLOB 'recap:*' OR reply_key GLOB 'chat_recap:*') AND reply_key NOT GLOB '*:here'",
        params! { ":chat": chat, ":message": message },
    )
}

/// Returns the sent messages that show an answer. A long answer has several.
pub fn messages_of(conn: &Reader, answer: AnswerId) -> Result<Vec<(ChatId, MessageId)>> {
    conn.all(
        "SELECT telegram_chat_id, message_id FROM outbox WHERE answer_id = :answer AND message_id IS NOT NULL",
        params! { ":answer": answer },
    )
}

/// Returns the number of parts that are still to be sent, or `None` if the reply does not exist.
pub fn unsent_parts(conn: &Reader, key: &str) -> Result<Option<u64>> {
    let (parts, open): (u64, u64) = conn.one(
        "SELECT count(*) AS parts, count(*) FILTER (WHERE state IN ('pending', 'sending')) AS open
         FROM outbox WHERE reply_key = :key",
        params! { ":key": key },
    )?;
    Ok((parts > 0).then_some(open))
}

pub fn mark_sending(tx: &Writer<'_>, id: i64) -> Result<()> {
    set_state(tx, id, State::Sending, None)
}

/// Marks a part to be sent again. Only if it is certain that Telegram did not accept it; else see [`count_unknown`].
pub fn mark_pending(tx: &Writer<'_>, id: i64, error: &str) -> Result<()> {
    set_state(tx, id, State::Pending, Some(error))
}

pub fn mark_failed(tx: &Writer<'_>, id: i64, error: &str) -> Result<()> {
    set_state(tx, id, State::Failed, Some(error))
}

pub fn mark_sent(tx: &Writer<'_>, part: &ReplyPart, message: MessageId) -> Result<()> {
    tx.run(
        "UPDATE outbox SET state = 'sent', message_id = :message, poll_id = :poll, error = NULL WHERE id = :id",
        params! { ":id": part.id, ":message": message, ":poll": part.poll_id },
    )
}

/// Marks a part to be sent again when it is unknown if Telegram accepted it, and counts this as an unknown send.
pub fn count_unknown(tx: &Writer<'_>, id: i64, error: &str) -> Result<()> {
    tx.run(
        "UPDATE outbox SET unknown_sends = unknown_sends + 1, state = 'pending', error = :error WHERE id = :id",
        params! { ":id": id, ":error": error },
    )
}

/// Marks parts that were being sent during a crash to be sent again, and counts an unknown send for each. Returns their
/// number.
pub fn recover(tx: &Writer<'_>) -> Result<usize> {
    // The first condition makes SQLite use the index `outbox_open`.
    Ok(tx.execute(
        "UPDATE outbox SET unknown_sends = unknown_sends + 1, state = 'pending', error = 'interrupted'
         WHERE state IN ('pending', 'sending') AND state = 'sending'",
        [],
    )?)
}

/// Redirects unsent parts to the new id of a chat. They are sent as normal messages and not as replies, because message
/// ids differ in the new chat. The negative id of a command that only one member sees stays, so that nobody else gets
/// the reply.
pub fn redirect(tx: &Writer<'_>, from: ChatId, to: ChatId) -> Result<()> {
    tx.run(
        "UPDATE outbox SET telegram_chat_id = :to, forum_topic_id = NULL,
             reply_to_id = CASE WHEN receiver_id IS NOT NULL AND reply_to_id < 0 THEN reply_to_id END
         WHERE telegram_chat_id = :from AND state IN ('pending', 'sending')",
        params! { ":from": from, ":to": to },
    )
}

fn set_state(tx: &Writer<'_>, id: i64, state: State, error: Option<&str>) -> Result<()> {
    tx.run(
        "UPDATE outbox SET state = :state, error = :error WHERE id = :id",
        params! { ":id": id, ":state": state, ":error": error },
    )
}

fn from_row(raw: &Columns<'_>) -> Result<ReplyPart> {
    Ok(ReplyPart {
        id: raw.get("id")?,
        part: raw.get("part")?,
        purpose: raw.get("purpose")?,
        answer: raw.get("answer_id")?,
        outgoing: Outgoing {
            to: ReplyTarget {
                chat: raw.get("telegram_chat_id")?,
                forum_topic: raw.get("forum_topic_id")?,
                reply_to: raw.get("reply_to_id")?,
            },
            content: FormattedText { text: raw.get("text")?, entities: raw.json("entities")? },
            buttons: raw.get::<Option<_>>("button")?.map_or_else(Vec::new, |Json(rows)| rows),
            receiver: raw.get("receiver_id")?,
            poll: raw.get::<Option<_>>("poll")?.map(|Json(poll)| poll),
        },
        state: raw.get("state")?,
        unknown_sends: raw.get("unknown_sends")?,
        created_at: raw.get("created_at")?,
        message: raw.get("message_id")?,
        poll_id: raw.get("poll_id")?,
    })
}
