//! `chime chats`: lists the chats in the database, with the settings that their admins have made.

use std::io::Write;

use serde_json::{Map, Value, json};

use crate::cli::arguments::ChatsOptions;
use crate::cli::database;
use crate::cli::exit::{CommandResult, Exit};
use chime_core::config::format_duration;
use chime_core::{Askers, Language, grouped};
use chime_store::chats::ChatRow;
use chime_store::{Reader, Store, chat_settings, chats, messages};

/// Chat in the list.
struct ListedChat {
    row: ChatRow,
    messages: u64,
    /// Settings that differ from the default, by their names.
    settings: Map<String, Value>,
}

/// Prints the list of chats.
pub async fn run(options: ChatsOptions) -> CommandResult {
    let listed = Store::open_to_read(&database::path()?)?.read(list).await?;
    let lines = listed.iter().map(|chat| if options.json { chat.as_json().to_string() } else { chat.in_words() });
    let lines: Vec<String> =
        if listed.is_empty() && !options.json { vec!["no chats yet".to_owned()] } else { lines.collect() };
    for line in lines {
        // Fails if the reader closed the pipe, as `head` does, which is not an error.
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    Ok(Exit::Done)
}

fn list(conn: &Reader) -> chime_store::Result<Vec<ListedChat>> {
    let listed = chats::all(conn)?.into_iter().map(|row| {
        let (messages, settings) = (messages::count(conn, row.key)?, own_settings(conn, &row)?);
        Ok(ListedChat { row, messages, settings })
    });
    listed.collect()
}

fn own_settings(conn: &Reader, row: &ChatRow) -> chime_store::Result<Map<String, Value>> {
    let own = chat_settings::load(conn, row.key)?;
    let askers = (row.askers != Askers::default()).then(|| row.askers.as_str());
    let all = [
        ("grounding", own.grounding.map(|grounding| json!(grounding.as_str()))),
        ("memory", own.memory.map(|is_on| json!(is_on))),
        ("streaming", own.streaming.map(|is_on| json!(is_on))),
        ("session_idle", own.session_idle.map(|idle| json!(format_duration(idle)))),
        ("askers", askers.map(|askers| json!(askers))),
        ("daily_tokens", own.daily_tokens.map(|tokens| json!(tokens))),
        ("language", row.own_language.map(Language::code).map(|code| json!(code))),
        ("time_zone", row.time_zone.map(|zone| json!(zone.name()))),
    ];
    Ok(all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

impl ListedChat {
    fn as_json(&self) -> Value {
        let chat = &self.row.chat;
        json!({
            "id": chat.id.0,
            "title": chat.title,
            "username": chat.username,
            "kind": chat.kind.as_str(),
            "is_member": self.row.is_present,
            "messages": self.messages,
            "settings": self.settings,
        })
    }

    /// Formats the chat as a line with its id, kind, number of messages, title and settings.
    fn in_words(&self) -> String {
        let chat = &self.row.chat;
        let title = chat.title.as_deref().unwrap_or("(no title)").replace(char::is_control, " ");
        let left = if self.row.is_present { "" } else { "  (left)" };
        let settings: String = (self.settings.iter())
            .map(|(name, value)| {
                format!("  {name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            })
            .collect();
        format!(
            "{:<15} {:<10} {:>9} messages  {title}{left}{settings}",
            chat.id.0,
            chat.kind.as_str(),
            grouped(self.messages)
        )
    }
}
