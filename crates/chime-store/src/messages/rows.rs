//! Columns of the message table, and the conversion of a row to a message.

use crate::Result;
use crate::sql::{Columns, FromRow, Json};
use chime_core::{Borrowed, Message, Sender, StoredMessage, Timestamp};

pub(super) const COLUMNS: &str = "chat_key, seq, telegram_chat_id, message_id, forum_topic_id, user_id, sender_chat_id, sender_name, \
                       sender_username, is_bot, role, ts, edit_ts, kind, kind_detail, file, text, entities, reply_to_id, \
                       quote_text, context_snapshot, forward_origin, origin_chat_id, origin_message_id, origin_user_id, \
                       origin_ts, media_group_id, via_bot, source, is_trigger";

/// Reads the columns [`COLUMNS`].
impl FromRow for StoredMessage {
    fn from_row(columns: &Columns<'_>) -> Result<Self> {
        Ok(Self {
            chat: columns.get("chat_key")?,
            seq: columns.get("seq")?,
            message: Message {
                chat: columns.get("telegram_chat_id")?,
                id: columns.get("message_id")?,
                forum_topic: columns.get("forum_topic_id")?,
                sender: Sender {
                    id: columns.get("user_id")?,
                    is_chat: columns.get::<Option<i64>>("sender_chat_id")?.is_some(),
                    name: columns.get("sender_name")?,
                    username: columns.get("sender_username")?,
                    is_bot: columns.get("is_bot")?,
                },
                role: columns.get("role")?,
                sent_at: Timestamp::from_secs(columns.get("ts")?),
                edited_at: columns.get::<Option<i64>>("edit_ts")?.map(Timestamp::from_secs),
                kind: columns.get("kind")?,
                detail: columns.get("kind_detail")?,
                file: columns.get::<Option<_>>("file")?.map(|Json(file)| file),
                text: columns.get("text")?,
                entities: columns.get::<Option<_>>("entities")?.map_or_else(Vec::new, |Json(entities)| entities),
                reply_to: columns.get("reply_to_id")?,
                quote: columns.get("quote_text")?,
                snapshot: columns.get("context_snapshot")?,
                forward_origin: columns.get("forward_origin")?,
                borrowed: borrowed(columns)?,
                album: columns.get("media_group_id")?,
                via_bot: columns.get("via_bot")?,
                origin: columns.get("source")?,
                is_trigger: columns.get("is_trigger")?,
            },
        })
    }
}

/// Reads the four columns about the origin of a quote or forward. Returns `None` if all are empty.
fn borrowed(columns: &Columns<'_>) -> Result<Option<Borrowed>> {
    let found = Borrowed {
        chat: columns.get("origin_chat_id")?,
        message: columns.get("origin_message_id")?,
        author: columns.get("origin_user_id")?,
        sent_at: columns.get::<Option<i64>>("origin_ts")?.map(Timestamp::from_secs),
    };
    Ok((found != Borrowed::default()).then_some(found))
}
