//! Storage and lookup of messages. A stored message is only replaced by a later edit or by a more complete copy of it.
//! A stub is a row that records that a message exists, but not its text.

mod conversation;
mod rows;

pub use conversation::{
    after, before, between, newest_between, newest_of, page, page_before, withheld_answers, within, written_by,
};
use rows::COLUMNS;

use super::chats::{self, ChatRow};
use super::derived;
use super::family::Cause;
use super::row::row_id;
use super::search::Indexed;
use super::sql::{Json, Statements, params};
use super::{Reader, Result, Writer, search};
use chime_core::Language;
use chime_core::{
    ChatId, ChatKey, Message, MessageAt, MessageId, Origin, Sender, Seq, StoredMessage, Timestamp, UserId,
};

/// SQL condition for messages that may be read: no stubs, and no messages of members who opted out, even if they were
/// sent before or forwarded by others. The unary plus keeps SQLite from building a temporary table of the two keys for
/// each row.
pub(super) const VISIBLE: &str =
    "is_stub = 0 AND NOT EXISTS (SELECT 1 FROM opt_out WHERE opt_out.user_id = message.user_id
                           AND +opt_out.chat_key IN (0, message.chat_key))
     AND (origin_user_id IS NULL OR forward_origin IS NULL
          OR NOT EXISTS (SELECT 1 FROM opt_out WHERE opt_out.user_id = message.origin_user_id
                         AND +opt_out.chat_key IN (0, message.chat_key)))";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenIn {
    New(StoredMessage),
    /// The message was stored already; its row now has a later edit or a more complete version.
    Replaced(StoredMessage),
    /// The message was stored already; its row was not changed.
    Known(StoredMessage),
}

impl TakenIn {
    pub fn message(&self) -> &StoredMessage {
        match self {
            Self::New(message) | Self::Replaced(message) | Self::Known(message) => message,
        }
    }
}

/// Stores `message`, or updates its row if it is known. A message from an update or import replaces a snapshot (a copy
/// that came inside a reply), and a later edit replaces an earlier text, but never the reverse. A stub stays a stub.
pub fn take_in(tx: &Writer<'_>, chat: &ChatRow, message: &Message) -> Result<TakenIn> {
    let Some(known) = find_any(tx, message.chat, message.id)? else {
        return insert(tx, chat, message).map(TakenIn::New);
    };
    if is_stub(tx, message.chat, message.id)? || !supersedes(message, &known.message) {
        return Ok(TakenIn::Known(known));
    }
    let mut message = message.clone();
    if message.lacks_transcript() && known.message.origin == Origin::Snapshot {
        // The snapshot's text may be the transcript of this recording.
        message.text.clone_from(&known.message.text);
    }
    change(tx, chat, known, message).map(TakenIn::Replaced)
}

/// Sets the transcript of a recording that has none. Returns the changed message, or `None` if the message may not be
/// read or has a text already.
pub fn set_transcript(tx: &Writer<'_>, chat: &ChatRow, at: MessageAt, words: &str) -> Result<Option<StoredMessage>> {
    let Some(known) = find(tx, at.chat, at.message)?.filter(|known| known.message.lacks_transcript()) else {
        return Ok(None);
    };
    let transcribed = Message { text: words.to_owned(), ..known.message.clone() };
    change(tx, chat, known, transcribed).map(Some)
}

/// Notes that a message addresses the bot.
pub fn mark_trigger(tx: &Writer<'_>, at: MessageAt) -> Result<()> {
    tx.run(
        "UPDATE message SET is_trigger = 1 WHERE telegram_chat_id = :chat AND message_id = :id AND is_stub = 0",
        params! { ":chat": at.chat, ":id": at.message },
    )
}

fn change(tx: &Writer<'_>, chat: &ChatRow, known: StoredMessage, message: Message) -> Result<StoredMessage> {
    derived::words_gone(tx, &known, Cause::Edited)?;
    let changed = StoredMessage { message, ..known };
    replace(tx, chat.language, &changed)?;
    Ok(changed)
}

/// Returns `true` if `incoming` is later or more complete than `kept` and must replace it.
fn supersedes(incoming: &Message, kept: &Message) -> bool {
    match (incoming.origin, kept.origin) {
        (Origin::Update | Origin::Import, Origin::Snapshot) => true,
        (Origin::Snapshot, _) | (Origin::Import, Origin::Update) => false,
        // Telegram also sends edits without a visible change, so the content must differ.
        (Origin::Update | Origin::Import, Origin::Update | Origin::Import) => {
            let is_same_with_transcript = incoming.lacks_transcript() && incoming.edited_at == kept.edited_at;
            // Not `>`, because dates are in seconds: two edits within one second have the same date.
            incoming.edited_at >= kept.edited_at
                && !is_same_with_transcript
                && (incoming.text != kept.text
                    || incoming.entities != kept.entities
                    || incoming.detail != kept.detail
                    || file_of(incoming) != file_of(kept))
        }
    }
}

/// Returns the id of a message's file that does not change when the file is sent again.
fn file_of(message: &Message) -> Option<&str> {
    message.file.as_ref().map(|file| file.unique_id.as_str())
}

fn insert(tx: &Writer<'_>, chat: &ChatRow, message: &Message) -> Result<StoredMessage> {
    let stored = StoredMessage { chat: chat.key, seq: chats::next_seq(tx, chat.key)?, message: message.clone() };
    write(tx, &stored, chat.language, Stub::No)?;
    search::insert(tx, &indexed(&stored, chat.language))?;
    Ok(stored)
}

fn replace(tx: &Writer<'_>, language: Language, changed: &StoredMessage) -> Result<()> {
    unindex(tx, changed.chat, changed.seq)?;
    write(tx, changed, language, Stub::No)?;
    search::insert(tx, &indexed(changed, language))
}

/// Records that a message exists, without its text, names and quotes. Returns `false` if the message is already stored.
pub fn insert_stub(tx: &Writer<'_>, chat: &ChatRow, message: &Message) -> Result<bool> {
    if find_any(tx, message.chat, message.id)?.is_some() {
        return Ok(false);
    }
    let stored = StoredMessage { chat: chat.key, seq: chats::next_seq(tx, chat.key)?, message: bare(message) };
    write(tx, &stored, chat.language, Stub::Yes)?;
    Ok(true)
}

/// Replaces a message with a stub that has no author. The row must stay: if a later reply contains a copy of the
/// message, the stub keeps the text from being stored again.
pub fn blank(tx: &Writer<'_>, stored: &StoredMessage) -> Result<()> {
    unindex(tx, stored.chat, stored.seq)?;
    let mut message = bare(&stored.message);
    message.sender.id = UserId(0);
    message.album = None;
    write(tx, &StoredMessage { message, ..stored.clone() }, Language::DEFAULT, Stub::Yes)
}

/// Deletes a message without leaving a stub.
pub fn delete(tx: &Writer<'_>, chat: ChatKey, seq: Seq) -> Result<()> {
    unindex(tx, chat, seq)?;
    tx.run("DELETE FROM message WHERE id = :id", params! { ":id": row_id(chat, seq) })
}

fn bare(message: &Message) -> Message {
    Message {
        sender: Sender { name: String::new(), username: None, ..message.sender.clone() },
        detail: None,
        file: None,
        text: String::new(),
        entities: Vec::new(),
        quote: None,
        snapshot: None,
        forward_origin: None,
        borrowed: None,
        via_bot: None,
        is_trigger: false,
        ..message.clone()
    }
}

enum Stub {
    Yes,
    No,
}

fn write(tx: &Writer<'_>, stored: &StoredMessage, language: Language, stub: Stub) -> Result<()> {
    let StoredMessage { chat, seq, message } = stored;
    let borrowed = message.borrowed.unwrap_or_default();
    let entities = if message.entities.is_empty() { None } else { Some(Json(&message.entities)) };
    tx.run("INSERT OR REPLACE INTO message (id, chat_key, seq, telegram_chat_id, message_id, forum_topic_id, user_id,
             sender_chat_id, sender_name, sender_username, role, is_bot, ts, edit_ts, kind, kind_detail, file, text, entities,
             reply_to_id, quote_text, context_snapshot, forward_origin, origin_chat_id, origin_message_id, origin_user_id,
             origin_ts, media_group_id, via_bot, source, is_trigger, is_stub, stem_language)
         VALUES (:id, :chat_key, :seq, :telegram_chat_id, :message_id, :forum_topic_id, :user_id,
             :sender_chat_id, :sender_name, :sender_username, :role, :is_bot, :ts, :edit_ts, :kind, :kind_detail, :file, :text,
             :entities, :reply_to_id, :quote_text, :context_snapshot, :forward_origin, :origin_chat_id,
             :origin_message_id, :origin_user_id, :origin_ts, :media_group_id, :via_bot, :source, :is_trigger, :is_stub,
             :stem_language)", params! {
        ":id": row_id(*chat, *seq), ":chat_key": chat, ":seq": seq,
        ":telegram_chat_id": message.chat, ":message_id": message.id, ":forum_topic_id": message.forum_topic,
        ":user_id": message.sender.id,
        ":sender_chat_id": message.sender.is_chat.then_some(message.sender.id.0),
        ":sender_name": message.sender.name, ":sender_username": message.sender.username,
        ":role": message.role, ":is_bot": message.sender.is_bot,
        ":ts": message.sent_at.secs(), ":edit_ts": message.edited_at.map(Timestamp::secs),
        ":kind": message.kind, ":kind_detail": message.detail,
        ":file": message.file.as_ref().map(Json), ":text": message.text, ":entities": entities,
        ":reply_to_id": message.reply_to, ":quote_text": message.quote,
        ":context_snapshot": message.snapshot, ":forward_origin": message.forward_origin,
        ":origin_chat_id": borrowed.chat, ":origin_message_id": borrowed.message,
        ":origin_user_id": borrowed.author, ":origin_ts": borrowed.sent_at.map(Timestamp::secs),
        ":media_group_id": message.album, ":via_bot": message.via_bot, ":source": message.origin,
        ":is_trigger": message.is_trigger,
        ":is_stub": matches!(stub, Stub::Yes), ":stem_language": language,
    })
}

fn indexed(stored: &StoredMessage, language: Language) -> Indexed<'_> {
    Indexed {
        chat: stored.chat,
        seq: stored.seq,
        text: stored.message.searched_text(),
        author: &stored.message.sender.name,
        language,
    }
}

/// Removes a message from the full-text index. The index can only delete the exact words it was given, so this must run
/// while the old text is still stored.
fn unindex(tx: &Writer<'_>, chat: ChatKey, seq: Seq) -> Result<()> {
    let language = stem_language(tx, chat, seq)?;
    match any_by_seq(tx, chat, seq)? {
        Some(stored) => search::remove(tx, &indexed(&stored, language)),
        None => Ok(()),
    }
}

/// Indexes the newest messages of a chat, at most `limit`, in `language` if they were indexed in another one.
pub fn index_in(tx: &Writer<'_>, chat: ChatKey, language: Language, limit: u32) -> Result<()> {
    let others: Vec<StoredMessage> = tx.all(
        &format!(
            "SELECT {COLUMNS} FROM message WHERE id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295
             AND stem_language <> :language AND is_stub = 0 ORDER BY id DESC LIMIT :limit"
        ),
        params! { ":chat": chat, ":language": language, ":limit": limit },
    )?;
    for stored in others {
        unindex(tx, chat, stored.seq)?;
        tx.run(
            "UPDATE message SET stem_language = :language WHERE id = :id",
            params! { ":language": language, ":id": row_id(chat, stored.seq) },
        )?;
        search::insert(tx, &indexed(&stored, language))?;
    }
    Ok(())
}

/// Adds all messages to the full-text index if it is empty.
pub(super) fn fill_empty_index(tx: &Writer<'_>) -> Result<()> {
    /// Number of messages that are read at once.
    const CHUNK: u32 = 1000;
    if !search::is_empty(tx)? {
        return Ok(());
    }
    let mut after = -1;
    loop {
        let chunk: Vec<StoredMessage> = tx.all(
            &format!("SELECT {COLUMNS} FROM message WHERE id > :after AND is_stub = 0 ORDER BY id LIMIT :limit"),
            params! { ":after": after, ":limit": CHUNK },
        )?;
        let Some(last) = chunk.last() else { return Ok(()) };
        after = row_id(last.chat, last.seq);
        for stored in &chunk {
            search::insert(tx, &indexed(stored, stem_language(tx, stored.chat, stored.seq)?))?;
        }
    }
}

/// Returns the language whose stemmer was used to index a message. Removing the message needs the same stems.
pub fn stem_language(conn: &Reader, chat: ChatKey, seq: Seq) -> Result<Language> {
    let code: Option<String> =
        conn.first("SELECT stem_language FROM message WHERE id = :id", params! { ":id": row_id(chat, seq) })?;
    Ok(code.map_or(Language::DEFAULT, |code| Language::from_code(&code)))
}

/// Returns `true` if the message is stored, no stub, and neither written by nor forwarded from a member who opted out.
pub(super) fn is_readable(conn: &Reader, chat: ChatKey, seq: Seq) -> Result<bool> {
    conn.any(&format!("SELECT 1 FROM message WHERE id = :id AND {VISIBLE}"), params! { ":id": row_id(chat, seq) })
}

/// Returns a message, or `None` if it is not stored, is a stub, or its author opted out.
pub fn find(conn: &Reader, chat: ChatId, id: MessageId) -> Result<Option<StoredMessage>> {
    conn.first(
        &format!("SELECT {COLUMNS} FROM message WHERE telegram_chat_id = :chat AND message_id = :id AND {VISIBLE}"),
        params! { ":chat": chat, ":id": id },
    )
}

/// Returns a message even if it is a stub or its author opted out.
pub fn find_any(conn: &Reader, chat: ChatId, id: MessageId) -> Result<Option<StoredMessage>> {
    conn.first(
        &format!("SELECT {COLUMNS} FROM message WHERE telegram_chat_id = :chat AND message_id = :id"),
        params! { ":chat": chat, ":id": id },
    )
}

/// Returns the id of the message that `author` sent at `at` (compared in whole seconds), unless it was imported. A stub
/// without an author also matches, because the message may have been forgotten.
pub fn heard_from(conn: &Reader, chat: ChatId, author: UserId, at: Timestamp) -> Result<Option<MessageId>> {
    let found = conn.first(
        "SELECT message_id FROM message JOIN chat_alias USING (chat_key)
         WHERE chat_alias.telegram_chat_id = :chat AND message.telegram_chat_id = :chat AND ts = :ts
             AND source <> 'import' AND (user_id = :user OR user_id = 0 AND is_stub = 1)
         ORDER BY user_id = 0, message_id LIMIT 1",
        params! { ":chat": chat, ":user": author, ":ts": at.secs() },
    )?;
    Ok(found.map(MessageId))
}

pub fn is_stub(conn: &Reader, chat: ChatId, id: MessageId) -> Result<bool> {
    conn.one(
        "SELECT EXISTS (SELECT 1 FROM message WHERE telegram_chat_id = :chat AND message_id = :id AND is_stub = 1)
         AS found",
        params! { ":chat": chat, ":id": id },
    )
}

/// Returns `true` if the chat has any message that is not a stub.
pub fn is_any_kept(conn: &Reader, chat: ChatKey) -> Result<bool> {
    conn.any(
        "SELECT 1 FROM message WHERE id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND is_stub = 0 LIMIT 1",
        params! { ":chat": chat },
    )
}

/// Returns `true` if a message is stored but is a stub or by a member who opted out.
pub fn is_withheld(conn: &Reader, chat: ChatId, id: MessageId) -> Result<bool> {
    Ok(find_any(conn, chat, id)?.is_some() && find(conn, chat, id)?.is_none())
}

pub fn by_seq(conn: &Reader, chat: ChatKey, seq: Seq) -> Result<Option<StoredMessage>> {
    conn.first(
        &format!("SELECT {COLUMNS} FROM message WHERE id = :id AND {VISIBLE}"),
        params! { ":id": row_id(chat, seq) },
    )
}

/// Returns the messages with these numbers in the chat, in this order, without those that [`by_seq`] does not find.
pub fn by_seqs(conn: &Reader, chat: ChatKey, seqs: impl IntoIterator<Item = Seq>) -> Result<Vec<StoredMessage>> {
    seqs.into_iter().filter_map(|seq| by_seq(conn, chat, seq).transpose()).collect()
}

pub fn are_visible(conn: &Reader, chat: ChatKey, seqs: impl IntoIterator<Item = Seq>) -> Result<bool> {
    for seq in seqs {
        if !conn
            .any(&format!("SELECT 1 FROM message WHERE id = :id AND {VISIBLE}"), params! { ":id": row_id(chat, seq) })?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the same as [`find_any`], but finds the message by its number in the chat.
pub fn any_by_seq(conn: &Reader, chat: ChatKey, seq: Seq) -> Result<Option<StoredMessage>> {
    conn.first(&format!("SELECT {COLUMNS} FROM message WHERE id = :id"), params! { ":id": row_id(chat, seq) })
}

pub fn replies_to(conn: &Reader, chat: ChatId, id: MessageId, limit: usize) -> Result<Vec<StoredMessage>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message
             WHERE telegram_chat_id = :chat AND reply_to_id = :id AND {VISIBLE} AND role <> 'system'
             ORDER BY ts, message_id LIMIT :limit"
        ),
        params! { ":chat": chat, ":id": id, ":limit": limit },
    )
}

/// Returns the messages of an album, oldest first. The unary plus keeps SQLite from reading the whole chat in the order
/// of message ids.
pub fn album(conn: &Reader, chat: ChatId, album: &str) -> Result<Vec<StoredMessage>> {
    conn.all(
        &format!(
            "SELECT {COLUMNS} FROM message
             WHERE telegram_chat_id = :chat AND media_group_id = :album AND {VISIBLE} ORDER BY +message_id"
        ),
        params! { ":chat": chat, ":album": album },
    )
}

/// Returns the newest messages of a chat with a document before `before`, newest first, at most `limit`.
pub fn documents(conn: &Reader, chat: ChatKey, before: Seq, limit: u32) -> Result<Vec<StoredMessage>> {
    conn.all(&format!(
            "SELECT {COLUMNS} FROM message
             WHERE chat_key = :chat AND kind = 'document' AND seq < :before AND {VISIBLE} ORDER BY seq DESC LIMIT :limit"
        ),
        params! { ":chat": chat, ":before": before, ":limit": limit },
    )
}

/// Returns the bot as the sender of its last message in a chat, or `None` if it has sent none.
pub fn own_sender(conn: &Reader, chat: ChatKey) -> Result<Option<Sender>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM message WHERE id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND role = 'assistant'
         ORDER BY id DESC LIMIT 1"
    );
    Ok(conn.first(&sql, params! { ":chat": chat })?.map(|stored: StoredMessage| stored.message.sender))
}

/// Returns the ids of an album's messages, including stubs and messages of members who opted out. The `bool` is `true`
/// if the message has no text.
pub fn of_album(conn: &Reader, chat: ChatId, album: &str) -> Result<Vec<(MessageId, bool)>> {
    conn.all(
        "SELECT message_id, text = '' AS is_wordless FROM message
         WHERE telegram_chat_id = :chat AND media_group_id = :album ORDER BY +message_id",
        params! { ":chat": chat, ":album": album },
    )
}

/// Returns all messages of a chat, including stubs and messages of members who opted out. Loads them all at once, so
/// only for small chats.
pub fn all_of(conn: &Reader, chat: ChatKey) -> Result<Vec<StoredMessage>> {
    conn.all(&format!("SELECT {COLUMNS} FROM message WHERE chat_key = :chat ORDER BY seq"), params! { ":chat": chat })
}

/// Counts the messages of a chat without stubs.
pub fn count(conn: &Reader, chat: ChatKey) -> Result<u64> {
    conn.one(
        "SELECT count(*) AS messages FROM message
         WHERE id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND is_stub = 0",
        params! { ":chat": chat },
    )
}

/// Returns the time since which the bot can read the chat: when the earliest received or imported message was sent. `None` if there are only copies from replies.
pub fn earliest(conn: &Reader, chat: ChatKey) -> Result<Option<Timestamp>> {
    conn.one(
        "SELECT (SELECT ts * 1000 FROM message WHERE chat_key = :chat AND source <> 'snapshot' ORDER BY ts LIMIT 1) AS ts",
        params! { ":chat": chat },
    )
}

/// Returns the newest texts of a chat, for detecting its language.
pub fn recent_texts(conn: &Reader, chat: ChatKey, limit: usize) -> Result<Vec<String>> {
    conn.all(
        &format!(
            "SELECT text FROM message WHERE id BETWEEN :chat << 32 AND (:chat << 32) | 4294967295 AND text <> ''
             AND role = 'user' AND {VISIBLE} ORDER BY id DESC LIMIT :limit"
        ),
        params! { ":chat": chat, ":limit": limit },
    )
}
