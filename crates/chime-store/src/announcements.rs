//! Records of the privacy notices that were posted in a chat.

use super::sql::{Statements, params};
use super::{Reader, Result, Writer};
use chime_core::{Announced, ChatKey, Timestamp};

/// Returns `true` if the notice about stored data was posted in the chat.
pub fn is_told(conn: &Reader, key: ChatKey) -> Result<bool> {
    conn.one("SELECT announced_at IS NOT NULL AS told FROM chat WHERE chat_key = :key", params! { ":key": key })
}

pub fn write(tx: &Writer<'_>, key: ChatKey, announced: Announced, now: Timestamp) -> Result<()> {
    tx.run(
        "UPDATE chat SET announced_at = :now, memory_told_at = iif(:memory, :now, memory_told_at),
         voice_told_at = iif(:voice, :now, voice_told_at) WHERE chat_key = :key",
        params! {
            ":now": now, ":memory": announced.memory, ":voice": announced.voice, ":key": key,
        },
    )
}

/// Returns `true` if the notice that voice messages are transcribed was posted in the chat.
pub fn is_told_of_voice(conn: &Reader, key: ChatKey) -> Result<bool> {
    conn.one("SELECT voice_told_at IS NOT NULL AS told FROM chat WHERE chat_key = :key", params! { ":key": key })
}
