//! Cache of a conversation's newest messages, updated incrementally: each trigger needs two hundred messages, of which
//! usually one is new.

use chime_core::{Conversation, MessageId, Seq, StoredMessage, Timestamp};
use chime_relevance::context::features::rhythm::WINDOW;
use chime_store::chats::{self, Revision};
use chime_store::marks::Mark;
use chime_store::{Reader, messages};

/// Extra messages in the cache, because a trigger may be slightly older than the newest message.
const BEHIND: usize = 40;
const MOST: usize = WINDOW + BEHIND;

/// Position after all messages.
pub const END: (Timestamp, MessageId) = (Timestamp::from_secs(i64::MAX), MessageId(i64::MAX));

/// Newest messages of a conversation, up to [`MOST`].
#[derive(Debug, Clone)]
pub struct Newest {
    /// Revision of the chat at the time of reading; `None` if this is not to be extended.
    revision: Option<i64>,
    /// Newest message of the chat at that time.
    last: Seq,
    /// Oldest first.
    messages: Vec<StoredMessage>,
    /// Marks of these messages, and of up to [`WINDOW`] messages before them.
    marks: Vec<Mark>,
    /// `true` if `marks` begin at the start of the conversation.
    is_from_start: bool,
}

/// Messages before a position, oldest first.
#[derive(Debug, Clone, Copy, Default)]
pub struct Before<'a> {
    /// At most [`WINDOW`].
    pub messages: &'a [StoredMessage],
    pub marks: &'a [Mark],
    /// Marks of up to [`WINDOW`] messages before these.
    pub earlier: &'a [Mark],
}

impl Newest {
    /// Reads the newest messages, reusing `known` if the chat only grew since.
    pub fn read(conn: &Reader, conversation: Conversation, known: Option<Self>) -> chime_store::Result<Self> {
        let Some(now) = chats::revision(conn, conversation.chat)? else {
            return Self::read_before(conn, conversation, END);
        };
        if let Some(known) = known.filter(|known| known.revision == Some(now.number) && known.last <= now.last)
            && let Some(extended) = known.extended(conn, conversation, now)?
        {
            return Ok(extended);
        }
        let newest = Self::until(conn, conversation, (END, MOST))?;
        Ok(Self { revision: Some(now.number), last: now.last, ..newest })
    }

    /// Reads the messages before `moment`, for positions older than the cached messages.
    pub fn read_before(
        conn: &Reader,
        conversation: Conversation,
        moment: (Timestamp, MessageId),
    ) -> chime_store::Result<Self> {
        Self::until(conn, conversation, (moment, WINDOW))
    }

    fn until(
        conn: &Reader,
        conversation: Conversation,
        (moment, most): ((Timestamp, MessageId), usize),
    ) -> chime_store::Result<Self> {
        let (messages, mut marks) = messages::before_marked(conn, conversation, moment, most)?;
        let mut is_from_start = messages.len() < most;
        if let Some(first) = messages.first().filter(|_| !is_from_start) {
            let mut earlier = messages::marks_before(conn, conversation, moment_of(first), WINDOW)?;
            is_from_start = earlier.len() < WINDOW;
            earlier.append(&mut marks);
            marks = earlier;
        }
        Ok(Self { revision: None, last: Seq(0), messages, marks, is_from_start })
    }

    /// Appends the messages since the last read. Returns `None` if one of them is older than a cached one.
    fn extended(
        mut self,
        conn: &Reader,
        conversation: Conversation,
        now: Revision,
    ) -> chime_store::Result<Option<Self>> {
        if self.last == now.last {
            return Ok(Some(self));
        }
        if (now.last.0 - self.last.0) as usize > MOST {
            return Ok(None);
        }
        let (messages, marks) = messages::since_marked(conn, conversation, self.last)?;
        self.messages.extend(messages);
        self.marks.extend(marks);
        self.last = now.last;
        let surplus = self.messages.len().saturating_sub(MOST);
        self.messages.drain(..surplus);
        let surplus = self.marks.len().saturating_sub(MOST + WINDOW);
        self.is_from_start &= surplus == 0;
        self.marks.drain(..surplus);
        Ok(self.messages.is_sorted_by_key(moment_of).then_some(self))
    }

    /// Returns the messages before `moment`, or `None` if older messages than these are needed.
    pub fn before(&self, moment: (Timestamp, MessageId)) -> Option<Before<'_>> {
        let end = self.messages.partition_point(|stored| moment_of(stored) < moment);
        let start = end.saturating_sub(WINDOW);
        // The marks begin earlier than the messages.
        let further = self.marks.len() - self.messages.len();
        let (first, last) = (further + start, further + end);
        let is_all = end - start == WINDOW || further == 0 && self.is_from_start;
        let are_all_earlier = first >= WINDOW || self.is_from_start;
        (is_all && are_all_earlier).then(|| Before {
            messages: &self.messages[start..end],
            marks: &self.marks[first..last],
            earlier: &self.marks[first.saturating_sub(WINDOW)..first],
        })
    }

    /// Returns the messages with their marks, or nothing if the chat has changed since.
    pub fn as_of(&self, now: Revision) -> impl Iterator<Item = (&StoredMessage, &Mark)> {
        let further = self.marks.len() - self.messages.len();
        let known = self.messages.iter().zip(&self.marks[further..]);
        known.take(if self.revision == Some(now.number) { usize::MAX } else { 0 })
    }

    /// Returns the approximate size in memory.
    pub fn bytes(&self) -> usize {
        let words = |stored: &StoredMessage| stored.message.text.len() + stored.message.sender.name.len();
        self.messages.iter().map(words).sum::<usize>()
            + self.messages.len() * size_of::<StoredMessage>()
            + self.marks.len() * size_of::<Mark>()
    }
}

fn moment_of(stored: &StoredMessage) -> (Timestamp, MessageId) {
    (stored.message.sent_at, stored.message.id)
}
