//! Records work that new messages cause for the memory: sessions to divide, topics to find, voice messages to
//! transcribe.

use std::collections::{HashMap, HashSet};

use chime_core::{
    ChatId, ChatKey, CloseReason, Conversation, JobPayload, Message, MessageAt, Role, SessionCut, TOPIC_CLOSED,
    Timestamp,
};
use chime_store::messages::TakenIn;
use chime_store::{Writer, jobs, sessions, topics};

/// Hours of conversations in which messages were added or changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedHours(HashSet<(Conversation, i64)>);

impl ChangedHours {
    /// Adds the hour in which a new or changed message was sent.
    pub fn add(&mut self, chat: ChatKey, message: &Message) {
        let hour = message.sent_at.secs().div_euclid(sessions::NOTE_SPAN.as_secs().cast_signed());
        self.0.insert((Conversation { chat, forum_topic: message.forum_topic }, hour));
    }

    /// Moves the hours of chat `ended` to chat `into`, after the two were merged.
    pub fn move_to(&mut self, ended: ChatKey, into: ChatKey) {
        let moved = std::mem::take(&mut self.0).into_iter().map(|(conversation, hour)| match conversation {
            Conversation { chat, forum_topic } if chat == ended => (Conversation { chat: into, forum_topic }, hour),
            other => (other, hour),
        });
        self.0 = moved.collect();
    }

    pub fn write(&self, tx: &Writer<'_>) -> chime_store::Result<()> {
        for (conversation, hour) in &self.0 {
            let hour = Timestamp::from_secs(hour * sessions::NOTE_SPAN.as_secs().cast_signed());
            sessions::note(tx, *conversation, hour)?;
        }
        Ok(())
    }
}

/// Number of new messages by members in each conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewMessageCounts(HashMap<Conversation, (ChatId, u32)>);

impl NewMessageCounts {
    pub fn add(&mut self, chat: ChatKey, message: &Message) {
        if message.role == Role::User && !message.sender.is_bot {
            let conversation = Conversation { chat, forum_topic: message.forum_topic };
            self.0.entry(conversation).or_insert((message.chat, 0)).1 += 1;
        }
    }

    /// Stores the counts, and enqueues the search for the topic in conversations with enough new messages. While a
    /// conversation is being answered, the end of the answer does that. Returns `true` if a job was added.
    pub fn write(
        &self,
        tx: &Writer<'_>,
        is_answered: impl Fn(&Conversation) -> bool,
        now: Timestamp,
    ) -> chime_store::Result<bool> {
        let mut is_any = false;
        for (conversation, (chat, turns)) in &self.0 {
            if topics::count_turns(tx, *conversation, *turns)? && !is_answered(conversation) {
                jobs::add_unless_due(tx, &JobPayload::topic(*chat, *conversation), now)?;
                is_any = true;
            }
        }
        Ok(is_any)
    }
}

/// Enqueues the transcription of a voice message. Returns `true` if there is something to transcribe.
pub fn start_transcript(tx: &Writer<'_>, taken: &TakenIn, now: Timestamp) -> chime_store::Result<bool> {
    let is_news = matches!(taken, TakenIn::New(_) | TakenIn::Replaced(_));
    if !is_news || !taken.message().message.lacks_transcript() {
        return Ok(false);
    }
    jobs::add_again(tx, &JobPayload::Transcribe { at: MessageAt::of(taken.message()) }, now)?;
    Ok(true)
}

/// Ends the current session if the message reports that its forum topic was closed.
pub fn cut_closed_topic(tx: &Writer<'_>, chat: ChatKey, message: &Message) -> chime_store::Result<()> {
    if message.detail.as_deref() != Some(TOPIC_CLOSED) {
        return Ok(());
    }
    let cut = SessionCut { after: (message.sent_at, message.id), reason: CloseReason::Topic };
    sessions::cut(tx, Conversation { chat, forum_topic: message.forum_topic }, cut)
}
