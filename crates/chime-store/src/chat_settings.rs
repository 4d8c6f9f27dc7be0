//! Settings that the admins of a chat changed. Each is a nullable column of `chat`; NULL means the operator's setting.

use std::time::Duration;

use rusqlite::{OptionalExtension, named_params};

use super::{Language, Reader, Result, Writer, row};
use chime_core::{Askers, ChatKey, Grounding, LinkReading, Zone};

/// Settings of one chat. `None` means the operator's setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatSettings {
    pub grounding: Option<Grounding>,
    /// `true` if members see an answer while it is being written.
    pub streaming: Option<bool>,
    pub links: Option<LinkReading>,
    pub memory: Option<bool>,
    /// Length of silence that ends a session.
    pub session_idle: Option<Duration>,
    pub daily_tokens: Option<u64>,
}

pub fn load(conn: &Reader, chat: ChatKey) -> Result<ChatSettings> {
    let found = conn
        .prepare_cached(
            "SELECT grounding, streaming, links, memory, session_idle, daily_tokens FROM chat WHERE chat_key = :chat",
        )?
        .query_row(named_params! { ":chat": chat.0 }, |raw| {
            let grounding: Option<String> = raw.get("grounding")?;
            let idle: Option<i64> = raw.get("session_idle")?;
            let tokens: Option<i64> = raw.get("daily_tokens")?;
            let links: Option<String> = raw.get("links")?;
            Ok((grounding, raw.get("streaming")?, links, raw.get("memory")?, idle, tokens))
        })
        .optional()?;
    let Some((grounding, streaming, links, memory, idle, tokens)) = found else { return Ok(ChatSettings::default()) };
    Ok(ChatSettings {
        grounding: grounding.map(|word| row::word(&word, "grounding", Grounding::parse)).transpose()?,
        streaming,
        links: links.map(|word| row::word(&word, "links", LinkReading::parse)).transpose()?,
        memory,
        session_idle: idle.map(|secs| row::number(secs, "session_idle").map(Duration::from_secs)).transpose()?,
        daily_tokens: tokens.map(|tokens| row::number(tokens, "daily_tokens")).transpose()?,
    })
}

/// Sets the language of the bot's own texts; `None` means the language of the chat's messages. [`load`] does not return
/// it: it is loaded with the chat row, because every text needs it.
pub fn set_language(tx: &Writer<'_>, chat: ChatKey, language: Option<Language>) -> Result<()> {
    tx.prepare_cached("UPDATE chat SET own_language = :language WHERE chat_key = :chat")?
        .execute(named_params! { ":language": language.map(Language::code), ":chat": chat.0 })?;
    Ok(())
}

/// Sets the time zone of a chat; `None` means the operator's time zone.
pub fn set_time_zone(tx: &Writer<'_>, chat: ChatKey, zone: Option<Zone>) -> Result<()> {
    tx.prepare_cached("UPDATE chat SET time_zone = :zone WHERE chat_key = :chat")?
        .execute(named_params! { ":zone": zone.map(Zone::name), ":chat": chat.0 })?;
    Ok(())
}

pub fn set_grounding(tx: &Writer<'_>, chat: ChatKey, grounding: Grounding) -> Result<()> {
    tx.prepare_cached("UPDATE chat SET grounding = :grounding WHERE chat_key = :chat")?
        .execute(named_params! { ":grounding": grounding.as_str(), ":chat": chat.0 })?;
    Ok(())
}

pub fn set_streaming(tx: &Writer<'_>, chat: ChatKey, is_on: bool) -> Result<()> {
    tx.prepare_cached("UPDATE chat SET streaming = :on WHERE chat_key = :chat")?
        .execute(named_params! { ":on": is_on, ":chat": chat.0 })?;
    Ok(())
}

pub fn set_links(tx: &Writer<'_>, chat: ChatKey, reading: LinkReading) -> Result<()> {
    tx.prepare_cached("UPDATE chat SET links = :links WHERE chat_key = :chat")?
        .execute(named_params! { ":links": reading.as_str(), ":chat": chat.0 })?;
    Ok(())
}

pub fn set_daily_tokens(tx: &Writer<'_>, chat: ChatKey, tokens: Option<u64>) -> Result<()> {
    tx.prepare_cached("UPDATE chat SET daily_tokens = :tokens WHERE chat_key = :chat")?
        .execute(named_params! { ":tokens": tokens, ":chat": chat.0 })?;
    Ok(())
}

/// Sets the members who may ask the bot: everyone or only admins. Loaded with the chat row, like the language.
pub fn set_askers(tx: &Writer<'_>, chat: ChatKey, askers: Askers) -> Result<()> {
    tx.prepare_cached("UPDATE chat SET askers = :askers WHERE chat_key = :chat")?
        .execute(named_params! { ":askers": askers.as_str(), ":chat": chat.0 })?;
    Ok(())
}
