//! `chime memory`: shows the memory of a chat, or rebuilds a part of it.

use std::io::Write;

use crate::cli::arguments::{MemoryOptions, Rebuilt};
use crate::cli::database;
use crate::cli::exit::{CommandError, CommandResult, Exit};
use chime_answer::answering::format_own;
use chime_answer::concepts::MAX_ACTIVE;
use chime_core::texts::texts;
use chime_core::{ChatId, EntityKind, FormattedText, JobPayload, Rolling, Timestamp, Zone, utf16_len, utf16_slice};
use chime_memory::jobs::remembered;
use chime_memory::tags::normalized;
use chime_memory::wording;
use chime_runtime::clock::Clock;
use chime_store::chats::ChatRow;
use chime_store::{Reader, Store, Writer, amend, chats, concepts, jobs, messages, summaries, tags, topics};

#[derive(Debug, thiserror::Error)]
enum Unknown {
    #[error("no chat with this id is known; chime knows the chats that it was in")]
    Chat,
    #[error("the chat has no such topic")]
    Topic,
}

pub async fn run(options: MemoryOptions) -> CommandResult {
    let (path, zone) = database::path_and_zone()?;
    let chat = ChatId(options.chat);
    let unknown = |error: Unknown| CommandError::new(error, Exit::Failed);
    let told = match options.rebuild {
        Some(what) => {
            let now = Clock::system().now();
            amend(&path, |tx| rebuild(tx, chat, what, now))?.map_err(unknown)?;
            "it is made anew in the background; a running daemon starts within 30 s".to_owned()
        }
        None => {
            let read = move |conn: &Reader| chats::find(conn, chat)?.map(|row| shown(conn, &row, zone)).transpose();
            let found = Store::open_to_read(&path)?.read(read).await?;
            found.ok_or(Unknown::Chat).map_err(unknown)?
        }
    };
    // Fails if the reader closed the pipe, which is not an error.
    let _ = writeln!(std::io::stdout(), "{told}");
    Ok(Exit::Done)
}

/// Returns what is remembered of a chat, as plain text.
pub fn shown(conn: &Reader, row: &ChatRow, zone: Zone) -> chime_store::Result<String> {
    Ok(in_terminal(&wording::shown(&remembered(conn, row, zone)?, texts("eng"))))
}

/// Schedules a rebuild.
fn rebuild(tx: &Writer<'_>, chat: ChatId, what: Rebuilt, now: Timestamp) -> chime_store::Result<Result<(), Unknown>> {
    let Some(row) = chats::find(tx, chat)? else { return Ok(Err(Unknown::Chat)) };
    let (chat, key) = (row.chat.id, row.key);
    match what {
        Rebuilt::Recent => {
            summaries::drop_rolling(tx, key, Rolling::Recent)?;
            jobs::add_or_move(tx, &JobPayload::Recent { chat, key }, now)?;
        }
        Rebuilt::History => {
            summaries::reset_history(tx, key)?;
            jobs::add_or_move(tx, &JobPayload::History { chat, key }, now)?;
        }
        Rebuilt::Topic(slug) => {
            let found = normalized(&slug, 1.0).map(|tag| tags::find(tx, key, &tag.key)).transpose()?.flatten();
            let Some(tag) = found else { return Ok(Err(Unknown::Topic)) };
            topics::drop_summary(tx, tag.id)?;
            jobs::add_or_move(tx, &JobPayload::TopicSummary { chat, key, tag: tag.id }, now)?;
        }
        Rebuilt::Concepts => {
            // Without a message by the bot there are no answers to find concepts in.
            if let Some(bot) = messages::own_sender(tx, key)? {
                concepts::rebuild(tx, bot.id, key, MAX_ACTIVE, now)?;
                jobs::add_or_move(tx, &JobPayload::Concepts {}, now)?;
            }
        }
    }
    Ok(Ok(()))
}

/// Converts Markdown to plain text. The address of a link follows its text.
fn in_terminal(markdown: &str) -> String {
    format_own(markdown).iter().map(with_links).collect::<Vec<_>>().join("\n")
}

fn with_links(formatted: &FormattedText) -> String {
    let FormattedText { text, entities } = formatted;
    let (mut shown, mut from) = (String::new(), 0);
    for entity in entities {
        let EntityKind::TextLink { url } = &entity.kind else { continue };
        let until = entity.offset + entity.length;
        shown.push_str(utf16_slice(text, from, until - from));
        shown.push_str(&format!(" ({url})"));
        from = until;
    }
    shown.push_str(utf16_slice(text, from, utf16_len(text) - from));
    shown
}
