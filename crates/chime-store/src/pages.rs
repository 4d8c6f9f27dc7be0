//! Web pages that members linked to and documents that they posted, as they were read for an answer. Each chat has its
//! own copy, which is deleted with the last message from which it was read.

use super::family::{Cause, Family, Merged, OptOutScope};
use super::messages::VISIBLE;
use super::sql::{FromRow, Statements, params, rows};
use super::{Reader, Result, Writer};
use chime_core::{ChatKey, Seq, StoredMessage, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPage {
    /// Number by which citations name it (`p3`, `d3`). Pages and documents are counted together, per chat.
    pub number: u32,
    pub title: String,
    /// Date of the page, as it gives it.
    pub published: Option<String>,
    pub text: String,
    /// `true` if only the beginning was kept.
    pub is_cut: bool,
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

pub(super) const FAMILY: Family =
    Family { tables: &["page", "page_source"], words_gone, opted_out, chat_gone, merged, ..Family::UNTOUCHED };

/// Deletes the pages of the chat that ends: both chats count theirs from 1. They are read again.
fn merged(tx: &Writer<'_>, chats: Merged) -> Result<()> {
    tx.run("DELETE FROM page_source WHERE chat_key = :from", params! { ":from": chats.from })?;
    tx.run("DELETE FROM page WHERE chat_key = :from", params! { ":from": chats.from })
}

rows! {
    StoredPage { number, title, published, text, is_cut }
}

/// Deletes the pages that were read from this message only. An edited message may not contain the link any more.
fn words_gone(tx: &Writer<'_>, stored: &StoredMessage, _: Cause) -> Result<()> {
    let key = params! { ":chat": stored.chat, ":seq": stored.seq };
    tx.run(
        "DELETE FROM page WHERE id IN (SELECT page_id FROM page_source WHERE chat_key = :chat AND seq = :seq)
             AND NOT EXISTS (SELECT 1 FROM page_source WHERE page_id = page.id AND seq <> :seq AND chat_key = :chat)",
        key,
    )?;
    tx.run("DELETE FROM page_source WHERE chat_key = :chat AND seq = :seq", key)
}

fn opted_out(tx: &Writer<'_>, scope: OptOutScope, user: UserId) -> Result<()> {
    tx.run(
        "DELETE FROM page WHERE (:chat IS NULL OR chat_key = :chat) AND id IN
             (SELECT page_id FROM page_source JOIN message USING (chat_key, seq) WHERE message.user_id = :user)",
        params! { ":user": user, ":chat": scope.chat() },
    )
}

fn chat_gone(tx: &Writer<'_>, chat: ChatKey, until: Timestamp) -> Result<()> {
    tx.run("DELETE FROM page WHERE chat_key = :chat AND read_at <= :until", params! { ":chat": chat, ":until": until })
}

/// Returns the page of a link if it was read after `since`.
pub fn find(conn: &Reader, link: &PostedLink, since: Timestamp) -> Result<Option<StoredPage>> {
    conn.first(
        "SELECT number, title, published, text, is_cut FROM page
         WHERE chat_key = :chat AND address = :address AND read_at > :since",
        params! { ":chat": link.chat, ":address": link.address, ":since": since },
    )
}

/// A text that is kept, with a link or file by which it was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPage {
    pub link: PostedLink,
    pub page: StoredPage,
}

/// Returns the texts of a chat that were read after `since` and posted by a message before `before` that may be read,
/// the last read first, at most `limit`, of together at most `bytes`.
pub fn kept(
    conn: &Reader,
    chat: ChatKey,
    before: Seq,
    since: Timestamp,
    limit: u32,
    bytes: u32,
) -> Result<Vec<KeptPage>> {
    let sql = format!(
        "SELECT number, title, published, page.text AS text, is_cut, address, max(message.seq) AS posted
         FROM (SELECT id, sum(octet_length(text)) OVER (ORDER BY read_at DESC, id) AS total FROM page
               WHERE chat_key = :chat AND read_at > :since ORDER BY read_at DESC, id LIMIT :limit) AS newest
         JOIN page ON page.id = newest.id JOIN page_source ON page_source.page_id = page.id
         JOIN message ON message.id = (page_source.chat_key << 32) | page_source.seq
         WHERE total <= :bytes AND message.seq < :before AND {VISIBLE}
         GROUP BY page.id ORDER BY read_at DESC, page.id"
    );
    let params = params! { ":chat": chat, ":before": before, ":since": since, ":limit": limit, ":bytes": bytes };
    conn.map(&sql, params, |row| {
        let link = PostedLink { chat, posted: row.get("posted")?, address: row.get("address")? };
        Ok(KeptPage { link, page: StoredPage::from_row(row)? })
    })
}

pub fn of_chat(conn: &Reader, chat: ChatKey) -> Result<Vec<(String, StoredPage)>> {
    conn.map(
        "SELECT number, title, published, text, is_cut, address FROM page WHERE chat_key = :chat ORDER BY number",
        params! { ":chat": chat },
        |row| {
            let page = StoredPage::from_row(row)?;
            Ok((row.get("address")?, page))
        },
    )
}

/// Stores the page of a link and returns it with its number. A page that is read again keeps its number.
pub fn save(tx: &Writer<'_>, link: &PostedLink, page: StoredPage, now: Timestamp) -> Result<StoredPage> {
    let (id, number): (i64, u32) = tx.one(
        "INSERT INTO page (chat_key, number, address, title, published, text, is_cut, read_at)
         VALUES (:chat, (SELECT coalesce(max(number), 0) + 1 FROM page WHERE chat_key = :chat), :address, :title,
             :published, :text, :cut, :now)
         ON CONFLICT (chat_key, address) DO UPDATE SET title = excluded.title, published = excluded.published,
             text = excluded.text, is_cut = excluded.is_cut, read_at = excluded.read_at
         RETURNING id, number",
        params! {
            ":chat": link.chat, ":address": link.address, ":title": page.title, ":published": page.published,
            ":text": page.text, ":cut": page.is_cut, ":now": now,
        },
    )?;
    tx.run(
        "INSERT OR IGNORE INTO page_source (chat_key, seq, page_id) VALUES (:chat, :seq, :id)",
        params! { ":chat": link.chat, ":seq": link.posted, ":id": id },
    )?;
    Ok(StoredPage { number, ..page })
}

/// Records that the page of `link` was read from this message too.
pub fn add_source(tx: &Writer<'_>, link: &PostedLink) -> Result<()> {
    tx.run(
        "INSERT OR IGNORE INTO page_source (chat_key, seq, page_id)
         SELECT :chat, :seq, id FROM page WHERE chat_key = :chat AND address = :address",
        params! { ":chat": link.chat, ":seq": link.posted, ":address": link.address },
    )
}

/// Deletes pages that were read before `before`, at most `limit`. Returns their number.
pub fn prune(tx: &Writer<'_>, before: Timestamp, limit: u32) -> Result<usize> {
    tx.changed(
        "DELETE FROM page WHERE id IN (SELECT id FROM page WHERE read_at < :before ORDER BY read_at LIMIT :limit)",
        params! { ":before": before, ":limit": limit },
    )
}
