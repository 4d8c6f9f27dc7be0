//! Web pages that members linked to and documents that they posted, as they were read for an answer. A chat has its own
//! copy, which goes with the last message from which it was read.

use rusqlite::{OptionalExtension, named_params};

use super::family::{Cause, Family, Merged, OptOutScope, run_merged};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp, UserId};

/// Page or document as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPage {
    /// Number by which citations name it (`p3`, `d3`). Pages and documents are counted together, per chat.
    pub number: u32,
    pub title: String,
    /// Date of the page, as it gives it.
    pub published: Option<String>,
    pub text: String,
}

/// Link or file by which a member posted a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedLink {
    pub chat: ChatKey,
    /// Message that contains it.
    pub posted: Seq,
    /// Web address, or `file:` and Telegram's unique id of a file.
    pub address: String,
}

pub(super) const FAMILY: Family = Family { tables: &["page", "page_source"], words_gone, opted_out, chat_gone, merged };

/// Deletes the pages that were read from this message only. An edited message may not contain the link any more.
fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, _: Cause) -> Result<()> {
    let key = named_params! { ":chat": stored.chat.0, ":seq": stored.seq.0 };
    tx.prepare_cached(
        "DELETE FROM page WHERE id IN (SELECT page_id FROM page_source WHERE chat_key = :chat AND seq = :seq)
             AND NOT EXISTS (SELECT 1 FROM page_source WHERE page_id = page.id AND seq <> :seq AND chat_key = :chat)",
    )?
    .execute(key)?;
    tx.prepare_cached("DELETE FROM page_source WHERE chat_key = :chat AND seq = :seq")?.execute(key)?;
    Ok(())
}

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.prepare_cached(
        "DELETE FROM page WHERE (:chat IS NULL OR chat_key = :chat) AND id IN
             (SELECT page_id FROM page_source JOIN message USING (chat_key, seq) WHERE message.user_id = :user)",
    )?
    .execute(named_params! { ":user": user.0, ":chat": scope.chat().map(|key| key.0) })?;
    Ok(())
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.prepare_cached("DELETE FROM page WHERE chat_key = :chat AND read_at <= :until")?
        .execute(named_params! { ":chat": chat.0, ":until": until.millis() })?;
    Ok(())
}

/// Deletes the pages of `chats.from`. They are read again when they are needed.
fn merged(tx: &Writer<'_>, chats: &Merged) -> Result<()> {
    run_merged(tx, chats, &["DELETE FROM page WHERE chat_key = :from AND :into <> :from"])
}

/// Returns the page of a link if it was read after `since`.
pub fn find(conn: &Reader, link: &PostedLink, since: Timestamp) -> Result<Option<StoredPage>> {
    Ok(conn
        .prepare_cached(
            "SELECT number, title, published, text FROM page
             WHERE chat_key = :chat AND address = :address AND read_at > :since",
        )?
        .query_row(named_params! { ":chat": link.chat.0, ":address": link.address, ":since": since.millis() }, |raw| {
            Ok(StoredPage {
                number: raw.get("number")?,
                title: raw.get("title")?,
                published: raw.get("published")?,
                text: raw.get("text")?,
            })
        })
        .optional()?)
}

/// Stores the page of a link and returns it with its number. A page that is read again keeps its number.
pub fn save(tx: &Writer<'_>, link: &PostedLink, page: StoredPage, now: Timestamp) -> Result<StoredPage> {
    let (id, number): (i64, u32) = tx
        .prepare_cached(
            "INSERT INTO page (chat_key, number, address, title, published, text, read_at)
             VALUES (:chat, (SELECT coalesce(max(number), 0) + 1 FROM page WHERE chat_key = :chat), :address, :title,
                 :published, :text, :now)
             ON CONFLICT (chat_key, address) DO UPDATE SET title = excluded.title, published = excluded.published,
                 text = excluded.text, read_at = excluded.read_at
             RETURNING id, number",
        )?
        .query_row(
            named_params! {
                ":chat": link.chat.0, ":address": link.address, ":title": page.title, ":published": page.published,
                ":text": page.text, ":now": now.millis(),
            },
            |raw| Ok((raw.get("id")?, raw.get("number")?)),
        )?;
    tx.prepare_cached("INSERT OR IGNORE INTO page_source (chat_key, seq, page_id) VALUES (:chat, :seq, :id)")?
        .execute(named_params! { ":chat": link.chat.0, ":seq": link.posted.0, ":id": id })?;
    Ok(StoredPage { number, ..page })
}

/// Records that the page of `link` was read from this message too.
pub fn add_source(tx: &Writer<'_>, link: &PostedLink) -> Result<()> {
    tx.prepare_cached(
        "INSERT OR IGNORE INTO page_source (chat_key, seq, page_id)
         SELECT :chat, :seq, id FROM page WHERE chat_key = :chat AND address = :address",
    )?
    .execute(named_params! { ":chat": link.chat.0, ":seq": link.posted.0, ":address": link.address })?;
    Ok(())
}

/// Deletes pages that were read before `before`, at most `limit`. Returns their number.
pub fn prune(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    Ok(tx
        .prepare_cached(
            "DELETE FROM page WHERE id IN (SELECT id FROM page WHERE read_at < :before ORDER BY read_at LIMIT :limit)",
        )?
        .execute(named_params! { ":before": before.millis(), ":limit": limit })?)
}
