//! The whole state: people, chats, messages and queued updates.

use std::collections::BTreeMap;

use crate::message::{BOT, BotAction, SandboxMessage};
use crate::queue::UpdateQueue;
use crate::{ChatMemberStatus, NewChat, NewMember, PostContent, entities};
use chime_core::{ChatId, ChatKind, Entity, ForumTopicId, MessageId, UserId};

/// `@GroupAnonymousBot`, the sender of messages by anonymous admins.
pub(super) const ANONYMOUS_ADMIN: UserId = UserId(1_087_968_824);
/// `@Channel_Bot`, the sender of messages that a channel posts in a group.
pub(super) const CHANNEL_BOT: UserId = UserId(136_817_688);

#[derive(Debug)]
pub(super) struct Topic {
    pub(super) closed: bool,
}

#[derive(Debug)]
pub(super) struct SandboxChat {
    pub(super) id: ChatId,
    pub(super) kind: ChatKind,
    pub(super) title: String,
    pub(super) username: Option<String>,
    pub(super) forum: bool,
    /// Status by user, including the bot.
    pub(super) members: BTreeMap<UserId, ChatMemberStatus>,
    pub(super) messages: BTreeMap<MessageId, SandboxMessage>,
    pub(super) topics: BTreeMap<ForumTopicId, Topic>,
    pub(super) migrated_to: Option<ChatId>,
    next_message: i64,
    next_ephemeral: i64,
}

impl SandboxChat {
    pub(super) fn status_of(&self, user: UserId) -> ChatMemberStatus {
        self.members.get(&user).copied().unwrap_or(ChatMemberStatus::Left)
    }
}

/// The state of the simulated Telegram.
#[derive(Debug, Default)]
pub(super) struct SandboxState {
    pub(super) reads_all: bool,
    /// People and bots. Their status in each chat is in `SandboxChat::members`.
    pub(super) people: BTreeMap<UserId, NewMember>,
    pub(super) chats: BTreeMap<ChatId, SandboxChat>,
    pub(super) queue: UpdateQueue,
    pub(super) actions: Vec<BotAction>,
    /// Command lists by the JSON of their scope, followed by their language code.
    pub(super) commands: BTreeMap<String, serde_json::Value>,
    pub(super) short_description: String,
    /// Content of files sent by members, by file name.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// Ids of unanswered button presses.
    pub(super) open_presses: Vec<String>,
    pub(super) presses: u64,
    /// Answered guest queries: inline message N answers the Nth.
    pub(super) guest_queries: Vec<String>,
    /// `true` if the simulated Bot API is of a version without ephemeral messages, which one member alone sees.
    pub(super) is_older: bool,
    unexpected: Vec<String>,
}

impl SandboxState {
    pub(super) fn new(bot_name: &str, bot_username: &str, reads_all: bool) -> Self {
        let people = [
            (BOT, NewMember::named(bot_name).username(bot_username).bot()),
            (ANONYMOUS_ADMIN, NewMember::named("Group").username("GroupAnonymousBot").bot()),
            (CHANNEL_BOT, NewMember::named("Channel").username("Channel_Bot").bot()),
        ];
        Self { reads_all, people: BTreeMap::from(people), ..Self::default() }
    }

    /// Notes a mistake of the bot or test. `what` must not contain message text.
    pub(super) fn note_unexpected(&mut self, what: impl Into<String>) {
        self.unexpected.push(what.into());
    }

    pub(super) fn unexpected(&self) -> &[String] {
        &self.unexpected
    }

    pub(super) fn person(&mut self, new: &NewMember) -> UserId {
        const FIRST_USER: i64 = 101;
        if let Some((id, known)) = self.people.iter_mut().find(|(id, person)| **id != BOT && person.name == new.name) {
            known.username = new.username.clone().or(known.username.take());
            return *id;
        }
        let mut id = UserId(FIRST_USER);
        while self.people.contains_key(&id) {
            id.0 += 1;
        }
        self.people.insert(id, new.clone());
        id
    }

    pub(super) fn add_chat(&mut self, new: NewChat) -> ChatId {
        let mut members = BTreeMap::from([(BOT, new.bot)]);
        let id = match new.kind {
            ChatKind::Private => {
                let person = NewMember { username: new.username.clone(), ..NewMember::named(new.title.as_str()) };
                let user = self.person(&person);
                members.insert(user, ChatMemberStatus::Member);
                ChatId(user.0)
            }
            ChatKind::Group => self.free_chat_id(-4_001),
            ChatKind::Supergroup | ChatKind::Channel => self.free_chat_id(-1_001_000_000_001),
        };
        let chat = SandboxChat {
            id,
            kind: new.kind,
            title: new.title,
            username: new.username,
            forum: new.forum,
            members,
            messages: BTreeMap::new(),
            topics: BTreeMap::new(),
            migrated_to: None,
            next_message: 1,
            next_ephemeral: 1,
        };
        self.chats.entry(id).or_insert(chat);
        id
    }

    pub(super) fn number_messages_from(&mut self, chat: ChatId, first: MessageId) {
        match self.chats.get_mut(&chat) {
            Some(chat) => chat.next_message = first.0,
            None => self.note_unexpected(format!("a number for chat {chat}, which does not exist")),
        }
    }

    /// Stores `message` with the next id of its chat and returns this id. `None` if the chat does not exist.
    pub(super) fn keep(&mut self, mut message: SandboxMessage) -> Option<MessageId> {
        let Some(chat) = self.chats.get_mut(&message.chat) else {
            self.note_unexpected(format!("a message for chat {}, which does not exist", message.chat));
            return None;
        };
        let (next, id): (_, fn(i64) -> MessageId) = match message.receiver {
            Some(_) => (&mut chat.next_ephemeral, MessageId::ephemeral),
            None => (&mut chat.next_message, MessageId),
        };
        let id = id(*next);
        *next += 1;
        if let Some(parent) = message.reply_to.and_then(|parent| chat.messages.get(&parent)) {
            message.forum_topic = message.forum_topic.or(parent.forum_topic);
            let in_chain = chat.kind == ChatKind::Supergroup && message.forum_topic.is_none();
            message.reply_thread = in_chain.then(|| parent.reply_thread.unwrap_or(parent.id));
        }
        if matches!(message.content, PostContent::TopicCreated { .. }) {
            message.forum_topic = Some(ForumTopicId(id.0));
        }
        message.id = id;
        chat.messages.insert(id, message);
        Some(id)
    }

    pub(super) fn message(&self, chat: ChatId, id: MessageId) -> Option<&SandboxMessage> {
        self.chats.get(&chat)?.messages.get(&id)
    }

    /// Returns the `given` entities of `text` and those that Telegram finds in it.
    pub(super) fn entities(text: &str, given: Vec<Entity>) -> Vec<Entity> {
        entities::complete(text, given)
    }

    fn free_chat_id(&self, first: i64) -> ChatId {
        let mut id = ChatId(first);
        while self.chats.contains_key(&id) {
            id.0 -= 1;
        }
        id
    }
}
