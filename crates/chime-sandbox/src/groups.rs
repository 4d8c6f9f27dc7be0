//! Changes of chats: the bot's status, migration to a supergroup, forum topics.

use crate::message::BOT;
use crate::state::{ANONYMOUS_ADMIN, SandboxState, Topic};
use crate::{ChatMemberStatus, NewChat, Post, PostContent, wire};
use chime_core::{ChatId, ChatKind, ForumTopicId, MessageId, Timestamp, UserId};

impl SandboxState {
    /// Changes the bot's status and queues the update.
    pub(super) fn move_bot(&mut self, chat: ChatId, to: ChatMemberStatus, by: UserId, at: Timestamp) {
        let Some(target) = self.chats.get_mut(&chat) else {
            return self.note_unexpected(format!("the bot's standing in chat {chat}, which does not exist"));
        };
        let from = target.members.insert(BOT, to).unwrap_or(ChatMemberStatus::Left);
        let is_group = matches!(target.kind, ChatKind::Group | ChatKind::Supergroup);
        if let Some(chat) = self.chats.get(&chat) {
            let payload = wire::own_membership(self, chat, by, at, from, to);
            self.queue.push("my_chat_member", &payload.to_string());
        }
        if is_group && !from.is_present() && to.is_present() {
            self.say(chat, Post::new(by, "", at).with(PostContent::Joined(vec![BOT])));
        }
    }

    /// Returns an admin other than the bot, else another member, else the account of anonymous admins.
    pub(super) fn someone_in_charge(&self, chat: ChatId) -> UserId {
        let members = self.chats.get(&chat).into_iter().flat_map(|chat| &chat.members);
        let people = members.filter(|(user, _)| **user != BOT);
        people.max_by_key(|(_, status)| status.is_admin()).map_or(ANONYMOUS_ADMIN, |(user, _)| *user)
    }

    /// Converts a basic group to a supergroup: a new chat with another id, whose message ids start at 1. Posts a
    /// service message in both and returns the new id.
    pub(super) fn migrate(&mut self, old: ChatId, at: Timestamp) -> ChatId {
        let Some(group) = self.chats.get(&old).filter(|chat| chat.kind == ChatKind::Group) else {
            self.note_unexpected(format!("a migration of chat {old}, which is not a basic group"));
            return old;
        };
        let members = group.members.clone();
        let new = NewChat::supergroup(group.title.as_str());
        let by = self.someone_in_charge(old);
        let new = self.add_chat(new);
        if let Some(supergroup) = self.chats.get_mut(&new) {
            supergroup.members = members;
        }
        self.say(old, Post::new(by, "", at).with(PostContent::MigratedTo(new)));
        self.say(new, Post::new(by, "", at).with(PostContent::MigratedFrom(old)));
        if let Some(group) = self.chats.get_mut(&old) {
            group.migrated_to = Some(new);
        }
        new
    }

    pub(super) fn create_topic(&mut self, chat: ChatId, name: &str, by: UserId, at: Timestamp) -> ForumTopicId {
        let MessageId(id) =
            self.say(chat, Post::new(by, "", at).with(PostContent::TopicCreated { name: name.to_owned() }));
        let topic = ForumTopicId(id);
        if let Some(chat) = self.chats.get_mut(&chat) {
            chat.topics.insert(topic, Topic { closed: false });
        }
        topic
    }

    pub(super) fn close_topic(&mut self, chat: ChatId, topic: ForumTopicId, at: Timestamp) {
        match self.chats.get_mut(&chat).and_then(|chat| chat.topics.get_mut(&topic)) {
            Some(open) => open.closed = true,
            None => return self.note_unexpected(format!("topic {topic} of chat {chat}, which does not exist")),
        }
        let by = self.someone_in_charge(chat);
        self.say(chat, Post::new(by, "", at).with(PostContent::TopicClosed).in_forum_topic(topic));
    }

    pub(super) fn delete_topic(&mut self, chat: ChatId, topic: ForumTopicId) {
        if let Some(chat) = self.chats.get_mut(&chat) {
            chat.topics.remove(&topic);
            chat.messages.retain(|id, message| message.forum_topic != Some(topic) && id.0 != topic.0);
        }
    }
}
