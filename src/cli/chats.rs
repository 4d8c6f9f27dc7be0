//! `chime chats`: lists the chats in the database, with the settings that their admins have made.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Value, json};

use crate::cli::arguments::ChatsOptions;
use crate::cli::database;
use crate::cli::exit::{CommandResult, Exit};
use chime_core::chat_settings::{ChatSettings, SettingEntry};
use chime_core::{Conversation, grouped};
use chime_store::chats::ChatRow;
use chime_store::{Reader, Store, chat_settings, chats, messages};

struct ListedChat {
    row: ChatRow,
    settings: ChatSettings,
    messages: u64,
}

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
        let settings = chat_settings::load(conn, Conversation::whole(row.key))?;
        Ok(ListedChat { messages: messages::count(conn, row.key)?, settings, row })
    });
    listed.collect()
}

impl ListedChat {
    /// Returns the chat's own settings. Of a text by a member, only its length.
    fn settings(&self) -> impl Iterator<Item = (&str, String)> {
        self.settings.iter().map(|(name, value)| {
            let is_written = SettingEntry::find(name).is_some_and(|entry| entry.is_written);
            let length = || format!("{} characters", value.chars().count());
            (name, if is_written { length() } else { value.to_owned() })
        })
    }

    fn as_json(&self) -> Value {
        let chat = &self.row.chat;
        json!({
            "id": chat.id.0,
            "title": chat.title,
            "username": chat.username,
            "kind": chat.kind.as_str(),
            "is_member": self.row.is_present,
            "messages": self.messages,
            "settings": self.settings().collect::<BTreeMap<_, _>>(),
        })
    }

    /// Formats the chat as a line with its id, kind, number of messages, title and settings.
    fn in_words(&self) -> String {
        let chat = &self.row.chat;
        let title = chat.title.as_deref().unwrap_or("(no title)").replace(char::is_control, " ");
        let left = if self.row.is_present { "" } else { "  (left)" };
        let settings: String = self.settings().map(|(name, value)| format!("  {name}={value}")).collect();
        format!(
            "{:<15} {:<10} {:>9} messages  {title}{left}{settings}",
            chat.id.0,
            chat.kind.as_str(),
            grouped(self.messages)
        )
    }
}
