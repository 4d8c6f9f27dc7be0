//! `chime memory`: shows the memory of a chat, or rebuilds a part of it.

use std::io::Write;

use crate::cli::arguments::MemoryOptions;
use crate::cli::database;
use crate::cli::exit::{Exit, report};
use chime_console::reading::recap;
use chime_console::rebuild::rebuild;
use chime_core::ChatId;
use chime_runtime::clock::Clock;
use chime_store::{Store, amend, chats};

#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error("no chat with this id is known; chime knows the chats that it was in")]
    Chat,
    #[error("the chat has no such topic")]
    Topic,
}

pub async fn run(options: MemoryOptions) -> Exit {
    let (path, zone) = match database::path_and_zone() {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let chat = ChatId(options.chat);
    if let Some(what) = options.rebuild {
        let now = Clock::system().now();
        let rebuilt = amend(&path, |tx| chats::find(tx, chat)?.map(|row| rebuild(tx, &row, &what, now)).transpose());
        return match rebuilt {
            Ok(Some(true)) => say("it is made anew in the background; a running daemon starts within 30 s"),
            Ok(Some(false)) => report(&Unknown::Topic, Exit::Failed),
            Ok(None) => report(&Unknown::Chat, Exit::Failed),
            Err(error) => report(&error, Exit::of_store(&error)),
        };
    }
    let found = match Store::open_to_read(&path) {
        Ok(store) => {
            store.read(move |conn| chats::find(conn, chat)?.map(|row| recap(conn, &row, zone)).transpose()).await
        }
        Err(error) => Err(error),
    };
    match found {
        Ok(Some(text)) => say(&text),
        Ok(None) => report(&Unknown::Chat, Exit::Failed),
        Err(error) => report(&error, Exit::of_store(&error)),
    }
}

fn say(text: &str) -> Exit {
    // Fails if the reader closed the pipe, which is not an error.
    let _ = writeln!(std::io::stdout(), "{text}");
    Exit::Done
}
