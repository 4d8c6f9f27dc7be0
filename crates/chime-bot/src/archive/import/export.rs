//! Writes the stored data of a chat as JSON. Of the messages, only one page and the ids are in memory at a time.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Value, json};

use crate::archive::import::kept::KeptReader;
use chime_core::{ChatId, ChatKey, Seq, StoredMessage, message_link};
use chime_store::chats::ChatRow;
use chime_store::pages::{self, StoredPage};
use chime_store::{Store, StoreError, chats, messages};

/// Number of messages read at once.
const PAGE: usize = 1_000;

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("chat {0} is not known here")]
    NoSuchChat(ChatId),
    #[error("cannot write the export: {0}")]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Writes the readable messages of a chat, the pages and documents that were read there, and what else is kept of it to
/// `out`. Leaves out forgotten messages and members who opted out. Returns the number of messages.
pub async fn export(store: &Store, chat: ChatId, out: &mut impl Write) -> Result<u64, ExportError> {
    let found = store.read(move |conn| chats::find(conn, chat)).await?;
    let Some(row) = found else { return Err(ExportError::NoSuchChat(chat)) };
    let key = row.key;
    let members = store.read(move |conn| chats::members(conn, key)).await?;
    let members: Vec<Value> =
        members.into_iter().map(|it| json!({"id": it.id, "name": it.name, "username": it.username})).collect();
    let head = json!({"id": row.chat.id, "type": row.chat.kind.as_str(), "title": row.chat.title, "username": row.chat.username});
    write!(out, "{{\"chat\":{head},\n\"members\":{},\n\"messages\":[", Value::from(members))?;
    let mut after = Seq(0);
    let mut ids = BTreeMap::new();
    loop {
        let page = page(store, key, after).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for stored in &page {
            let separator = if ids.is_empty() { "\n" } else { ",\n" };
            write!(out, "{separator}{}", message(&row, stored))?;
            ids.insert(stored.seq, stored.message.id);
        }
    }
    let pages = store.read(move |conn| pages::of_chat(conn, key)).await?;
    let page =
        |(address, page): (String, StoredPage)| json!({"address": address, "title": page.title, "text": page.text});
    write!(out, "\n],\n\"pages\":{}", pages.into_iter().map(page).collect::<Value>())?;
    let count = ids.len() as u64;
    for (name, part) in store.read(move |conn| KeptReader::new(conn, key, &ids)?.parts()).await? {
        write!(out, ",\n\"{name}\":{part}")?;
    }
    writeln!(out, "}}")?;
    out.flush()?;
    Ok(count)
}

async fn page(store: &Store, key: ChatKey, after: Seq) -> chime_store::Result<Vec<StoredMessage>> {
    store.read(move |conn| messages::page(conn, key, after, PAGE)).await
}

fn message(row: &ChatRow, stored: &StoredMessage) -> Value {
    let said = &stored.message;
    let mut object = json!({
        "id": said.id, "date": said.sent_at.secs(), "from": said.sender.name, "from_id": said.sender.id,
        "type": said.kind.as_str(), "text": said.text,
    });
    let optional = [
        ("edited", said.edited_at.map(|at| json!(at.secs()))),
        ("topic", said.forum_topic.map(|id| json!(id))),
        ("reply_to", said.reply_to.map(|id| json!(id))),
        ("detail", said.detail.as_ref().map(|it| json!(it))),
        ("entities", (!said.entities.is_empty()).then(|| json!(said.entities))),
        ("quote", said.quote.as_ref().map(|it| json!(it))),
        ("reply_elsewhere", said.snapshot.as_ref().map(|it| json!(it))),
        ("forwarded_from", said.forward_origin.as_ref().map(|it| json!(it))),
        ("via_bot", said.via_bot.as_ref().map(|it| json!(it))),
        ("link", message_link(&row.chat, said).map(|it| json!(it))),
    ];
    if let Some(object) = object.as_object_mut() {
        object.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    object
}
