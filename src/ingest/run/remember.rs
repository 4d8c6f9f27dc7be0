//! What taking in leaves behind for memory: notes of where sessions are to be looked at again, and no more.

use std::collections::HashSet;

use crate::domain::{ChatKey, Closed, Conversation, Message, SessionCut, TOPIC_CLOSED, Timestamp};
use crate::store::{self, Writer, sessions};

/// Hours of conversations in which something came in or changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Touched(HashSet<(Conversation, i64)>);

impl Touched {
    /// A message came in or changed.
    pub fn add(&mut self, chat: ChatKey, message: &Message) {
        let hour = message.sent_at.secs().div_euclid(sessions::NOTE_SPAN.as_secs().cast_signed());
        self.0.insert((Conversation { chat, thread: message.thread }, hour));
    }

    /// A chat went on under the key of another, and with it what this batch brought.
    pub fn move_to(&mut self, ended: ChatKey, into: ChatKey) {
        let moved = std::mem::take(&mut self.0).into_iter().map(|(conversation, hour)| match conversation {
            Conversation { chat, thread } if chat == ended => (Conversation { chat: into, thread }, hour),
            other => (other, hour),
        });
        self.0 = moved.collect();
    }

    pub fn write(&self, tx: &Writer<'_>) -> store::Result<()> {
        for (conversation, hour) in &self.0 {
            let hour = Timestamp::from_secs(hour * sessions::NOTE_SPAN.as_secs().cast_signed());
            sessions::note(tx, *conversation, hour)?;
        }
        Ok(())
    }
}

/// The closing of a forum topic ends its session.
pub fn cut_closed_topic(tx: &Writer<'_>, chat: ChatKey, message: &Message) -> store::Result<()> {
    if message.detail.as_deref() != Some(TOPIC_CLOSED) {
        return Ok(());
    }
    let cut = SessionCut { after: (message.sent_at, message.id), reason: Closed::Topic };
    sessions::cut(tx, Conversation { chat, thread: message.thread }, cut)
}
