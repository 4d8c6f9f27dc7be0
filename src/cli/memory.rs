//! `chime memory`: shows the memory of a chat, or rebuilds a part of it.

use std::io::Write;

use crate::cli::arguments::MemoryOptions;
use crate::cli::database;
use crate::cli::exit::{CommandResult, Exit};
use chime_console::reading::recap;
use chime_console::rebuild::rebuild;
use chime_core::{ChatId, Conversation};
use chime_runtime::clock::Clock;
use chime_store::{Reader, Store, Writer, amend, chat_settings, chats};

#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error("no chat with this id is known; chime knows the chats that it was in")]
    Chat,
    #[error("the chat has no such topic")]
    Topic,
}

pub async fn run(options: MemoryOptions) -> CommandResult {
    let (path, operators) = database::path_and_zone()?;
    let chat = ChatId(options.chat);
    let shown = match options.rebuild {
        Some(what) => {
            let now = Clock::system().now();
            let rebuild = |tx: &Writer<'_>| chats::find(tx, chat)?.map(|row| rebuild(tx, &row, &what, now)).transpose();
            let is_known = amend(&path, rebuild)?.ok_or(Unknown::Chat)?;
            is_known.then_some(()).ok_or(Unknown::Topic)?;
            "it is made anew in the background; a running daemon starts within 30 s".to_owned()
        }
        None => {
            let read = move |conn: &Reader| {
                let Some(row) = chats::find(conn, chat)? else { return Ok(None) };
                let zone = chat_settings::zone(conn, Conversation::whole(row.key), operators)?;
                recap(conn, &row, zone).map(Some)
            };
            Store::open_to_read(&path)?.read(read).await?.ok_or(Unknown::Chat)?
        }
    };
    // Fails if the reader closed the pipe, which is not an error.
    let _ = writeln!(std::io::stdout(), "{shown}");
    Ok(Exit::Done)
}
