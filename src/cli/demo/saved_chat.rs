//! Continues the chat of an earlier demo from its database, with new ids for new messages.

use std::path::Path;

use crate::cli::exit::{CommandError, Exit};
use chime_core::{ChatId, MessageId, UpdateId};
use chime_sandbox::{NewChat, Sandbox};
use chime_store::numbering::{self, Numbering};

/// Adds the chat of the demo to `sandbox`. Its next ids follow those in the database at `path`, which is only read.
///
/// # Errors
/// Fails if the database belongs to a real bot or cannot be read.
pub fn chat(sandbox: &Sandbox, path: &Path, title: &str) -> Result<ChatId, CommandError> {
    let chat = sandbox.add_chat(NewChat::supergroup(title));
    let Some(Numbering { chats, last_message, last_update }) = numbering::of_file(path)? else { return Ok(chat) };
    // The embedded Telegram gives its first group an id that no real group has. Any other chat in the database belongs
    // to a real bot.
    let is_of_bot = if chats.is_empty() { last_update.is_some() } else { chats != [chat] };
    if is_of_bot {
        let what = "is the database of a bot; the demo writes only to one of its own: choose another file";
        return Err(CommandError::new(format!("{} {what}", path.display()), Exit::Failed));
    }
    if let Some(last) = last_message {
        sandbox.number_messages_from(chat, MessageId(last.0 + 1));
    }
    if let Some(last) = last_update {
        sandbox.restart_update_ids(UpdateId(last.0 + 1));
    }
    Ok(chat)
}
