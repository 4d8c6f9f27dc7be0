//! Settings that the admins of a chat changed. Each is a nullable column of `chat`; NULL means the operator's setting.

use std::time::Duration;

use super::sql::{Statements, params};
use super::{Language, Reader, Result, Writer};
use chime_core::{Askers, ChatKey, Grounding, LinkReading, Zone};

/// Settings of one chat. `None` means the operator's setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatSettings {
    pub grounding: Option<Grounding>,
    /// `true` if members see an answer while it is being written.
    pub streaming: Option<bool>,
    pub links: Option<LinkReading>,
    /// `false` if answers must not search the web.
    pub web: Option<bool>,
    pub memory: Option<bool>,
    /// Length of silence that ends a session.
    pub session_idle: Option<Duration>,
    pub daily_tokens: Option<u64>,
}

pub fn load(conn: &Reader, chat: ChatKey) -> Result<ChatSettings> {
    let found = conn.map_first(
        "SELECT grounding, streaming, links, web, memory, session_idle, daily_tokens FROM chat WHERE chat_key = :chat",
        params! { ":chat": chat },
        |row| {
            Ok(ChatSettings {
                grounding: row.get("grounding")?,
                streaming: row.get("streaming")?,
                links: row.get("links")?,
                web: row.get("web")?,
                memory: row.get("memory")?,
                session_idle: row.get::<Option<_>>("session_idle")?.map(Duration::from_secs),
                daily_tokens: row.get("daily_tokens")?,
            })
        },
    )?;
    Ok(found.unwrap_or_default())
}

/// Sets the language of the bot's own texts; `None` means the language of the chat's messages. [`load`] does not return
/// it: it is loaded with the chat row, because every text needs it.
pub fn set_language(tx: &Writer<'_>, chat: ChatKey, language: Option<Language>) -> Result<()> {
    tx.run(
        "UPDATE chat SET own_language = :language WHERE chat_key = :chat",
        params! { ":language": language, ":chat": chat },
    )
}

/// Sets the time zone of a chat; `None` means the operator's time zone.
pub fn set_time_zone(tx: &Writer<'_>, chat: ChatKey, zone: Option<Zone>) -> Result<()> {
    tx.run(
        "UPDATE chat SET time_zone = :zone WHERE chat_key = :chat",
        params! { ":zone": zone.map(Zone::name), ":chat": chat },
    )
}

pub fn set_grounding(tx: &Writer<'_>, chat: ChatKey, grounding: Grounding) -> Result<()> {
    tx.run(
        "UPDATE chat SET grounding = :grounding WHERE chat_key = :chat",
        params! { ":grounding": grounding, ":chat": chat },
    )
}

pub fn set_streaming(tx: &Writer<'_>, chat: ChatKey, is_on: bool) -> Result<()> {
    tx.run("UPDATE chat SET streaming = :on WHERE chat_key = :chat", params! { ":on": is_on, ":chat": chat })
}

pub fn set_links(tx: &Writer<'_>, chat: ChatKey, reading: LinkReading) -> Result<()> {
    tx.run("UPDATE chat SET links = :links WHERE chat_key = :chat", params! { ":links": reading, ":chat": chat })
}

pub fn set_web(tx: &Writer<'_>, chat: ChatKey, is_on: bool) -> Result<()> {
    tx.run("UPDATE chat SET web = :on WHERE chat_key = :chat", params! { ":on": is_on, ":chat": chat })
}

pub fn set_daily_tokens(tx: &Writer<'_>, chat: ChatKey, tokens: Option<u64>) -> Result<()> {
    tx.run(
        "UPDATE chat SET daily_tokens = :tokens WHERE chat_key = :chat",
        params! { ":tokens": tokens, ":chat": chat },
    )
}

/// Sets the members who may ask the bot: everyone or only admins. Loaded with the chat row, like the language.
pub fn set_askers(tx: &Writer<'_>, chat: ChatKey, askers: Askers) -> Result<()> {
    tx.run("UPDATE chat SET askers = :askers WHERE chat_key = :chat", params! { ":askers": askers, ":chat": chat })
}
