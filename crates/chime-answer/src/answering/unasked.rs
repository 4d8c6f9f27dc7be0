//! Answers questions to the chat that nobody answered, if the admins have switched this on (ambient mode). Stays silent
//! if in doubt: there is no answer without a source, and no notice of any kind.

use std::time::Duration;

use chime_core::chat_settings::AMBIENT;
use chime_core::trigger::Languages;
use chime_core::{JobKind, Kind, MessageAt, StoredMessage, Timestamp};
use chime_store::{Reader, chat_settings, chats, consent, jobs, messages};

/// Largest number of such answers in a chat within a day.
const MOST_A_DAY: u64 = 3;
/// Number of later messages that are read for an answer by a member.
const LATER: usize = 50;

/// Returns `true` if the question still stands, the chat still wants an answer, and nobody has written one. Any later
/// message may be an answer, or the asker's withdrawal, unless it replies to something else.
pub(super) fn is_left_open(conn: &Reader, at: MessageAt, now: Timestamp) -> chime_store::Result<bool> {
    let (Some(asked), Some(chat)) = (messages::find(conn, at.chat, at.message)?, chats::find(conn, at.chat)?) else {
        return Ok(false);
    };
    let message = &asked.message;
    if chat_settings::get(conn, asked.conversation(), AMBIENT)? != Some(true)
        || !Languages::shipped().is_question(&message.text)
        || consent::is_withheld(conn, chat.key, message)?
        || jobs::done_since(conn, JobKind::Ambient, at.chat, now.minus(Duration::from_hours(24)))? >= MOST_A_DAY
    {
        return Ok(false);
    }
    for later in messages::after(conn, asked.conversation(), (message.sent_at, message.id), LATER)? {
        if !is_about_another(conn, &later, at)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns `true` if a message replies to another one than the question. In a forum topic each message replies to the
/// service message that opened it, which does not count.
fn is_about_another(conn: &Reader, later: &StoredMessage, question: MessageAt) -> chime_store::Result<bool> {
    let Some(parent) = later.message.reply_to.filter(|parent| *parent != question.message) else { return Ok(false) };
    let parent = messages::find_any(conn, question.chat, parent)?;
    Ok(parent.is_some_and(|parent| parent.message.kind != Kind::Service))
}
