//! Continues the chat of an earlier demo from its database, with new ids for new messages only.

use std::path::Path;

use crate::cli::demo::chat::{ChatFile, ChatFileMessage};
use crate::cli::exit::{CommandError, Exit};
use chime_core::{ChatId, MessageId, UpdateId};
use chime_sandbox::{NewChat, Sandbox};
use chime_store::numbering::{self, Numbering};

/// Place of a chat file in the embedded Telegram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SavedChat {
    pub id: ChatId,
    /// Highest message id in the database; `None` if it does not contain the messages of the file.
    pub last: Option<MessageId>,
}

/// Adds the chat of the demo to `sandbox`. Its next ids follow those in the database at `path`, which is only read. If an
/// earlier demo stored the messages of `file`, they get their stored times, and the next ids are theirs.
///
/// # Errors
/// Fails if the database belongs to a real bot or cannot be read.
pub fn chat(sandbox: &Sandbox, path: &Path, file: &mut ChatFile) -> Result<SavedChat, CommandError> {
    let id = sandbox.add_chat(NewChat::supergroup(&file.title));
    let new = SavedChat { id, last: None };
    let Some(Numbering { chats, last_message, last_update, messages }) = numbering::of_file(path)? else {
        return Ok(new);
    };
    // The embedded Telegram gives its first group an id that no real group has. Any other chat in the database belongs
    // to a real bot.
    let is_of_bot = if chats.is_empty() { last_update.is_some() } else { chats != [id] };
    if is_of_bot {
        let what = "is the database of a bot; the demo writes only to one of its own: choose another file";
        return Err(CommandError::new(format!("{} {what}", path.display()), Exit::Failed));
    }
    if let Some(last) = last_update {
        sandbox.restart_update_ids(UpdateId(last.0 + 1));
    }
    // The first messages may have been forgotten.
    let is_line = |(at, line): (i64, &ChatFileMessage)| {
        let stored = messages.iter().rfind(|(_, text, _)| *text == line.text);
        stored.map(|(id, ..)| id.0 - at).filter(|first| *first > 0)
    };
    let Some(first) = (0..).zip(&file.messages).find_map(is_line) else {
        if let Some(last) = last_message {
            sandbox.number_messages_from(id, MessageId(last.0 + 1));
        }
        return Ok(new);
    };
    for (at, line) in (first..).zip(&mut file.messages) {
        let stored = messages.iter().find(|(id, ..)| id.0 == at);
        line.sent_at = stored.map_or(line.sent_at, |(.., sent_at)| *sent_at);
    }
    sandbox.number_messages_from(id, MessageId(first));
    Ok(SavedChat { id, last: last_message })
}
