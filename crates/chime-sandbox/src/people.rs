//! Actions of people: post, edit, delete, react, press a button.

use crate::delivery::MessageEvent;
use crate::message::BOT;
use crate::message::SandboxMessage;
use crate::state::{ANONYMOUS_ADMIN, CHANNEL_BOT, SandboxState};
use crate::{NewMember, Post, wire};
use chime_core::{ChatId, MessageId, Timestamp, UserId};

impl SandboxState {
    pub(super) fn add_member(&mut self, chat: ChatId, member: &NewMember) -> UserId {
        let user = self.person(member);
        match self.chats.get_mut(&chat) {
            Some(chat) => {
                chat.members.insert(user, member.status);
            }
            None => self.note_unexpected(format!("a member for chat {chat}, which does not exist")),
        }
        user
    }

    /// Posts a message and returns its id. If the chat does not exist, notes a mistake and returns 0.
    pub(super) fn say(&mut self, chat: ChatId, post: Post) -> MessageId {
        let silent = post.silent;
        let as_sent = post.entities.is_some();
        let mut message = SandboxMessage::from_post(chat, post);
        if !as_sent {
            message.entities = Self::entities(&message.text, Vec::new());
        }
        match message.sender_chat {
            None if message.from == ANONYMOUS_ADMIN => message.sender_chat = Some(chat),
            Some(own) if own == chat => message.from = ANONYMOUS_ADMIN,
            Some(_) => message.from = CHANNEL_BOT,
            None => {}
        }
        let Some(id) = self.keep(message) else { return MessageId(0) };
        if !silent {
            self.announce(chat, id, MessageEvent::Said);
        }
        id
    }

    /// Changes the text or caption. The same text simulates an edit without a visible change.
    pub(super) fn edit(&mut self, chat: ChatId, id: MessageId, text: &str, at: Timestamp) {
        let Some(message) = self.message_mut(chat, id) else { return };
        message.entities = Self::entities(text, Vec::new());
        text.clone_into(&mut message.text);
        message.edited_at = Some(at);
        self.announce(chat, id, MessageEvent::Edited);
    }

    /// Deletes a message. Bots get no update.
    pub(super) fn delete(&mut self, chat: ChatId, id: MessageId) {
        if self.message_mut(chat, id).is_some()
            && let Some(chat) = self.chats.get_mut(&chat)
        {
            chat.messages.remove(&id);
        }
    }

    /// Sets the reactions of `by`. The bot gets an update only if it is an admin and requested `message_reaction`.
    pub(super) fn react(&mut self, chat: ChatId, id: MessageId, by: UserId, emoji: &[&str], at: Timestamp) {
        let new: Vec<String> = emoji.iter().map(|&emoji| emoji.to_owned()).collect();
        let Some(message) = self.message_mut(chat, id) else { return };
        let old = message.reactions.insert(by, new.clone()).unwrap_or_default();
        if let Some(chat) = self.chats.get(&chat)
            && chat.status_of(BOT).is_admin()
        {
            let payload = wire::reaction(self, chat, id, by, at, &old, &new);
            self.queue.push("message_reaction", &payload.to_string());
        }
    }

    /// Presses a button of the bot's message and returns the id of the press.
    pub(super) fn press(&mut self, chat: ChatId, id: MessageId, by: UserId, data: &str) -> String {
        self.presses += 1;
        let press = format!("press-{}", self.presses);
        if self.message_mut(chat, id).is_some()
            && let Some(chat) = self.chats.get(&chat)
            && let Some(message) = chat.messages.get(&id)
        {
            let payload = wire::press(self, chat, message, by, &press, data);
            self.queue.push("callback_query", &payload.to_string());
            self.open_presses.push(press.clone());
        }
        press
    }

    fn message_mut(&mut self, chat: ChatId, id: MessageId) -> Option<&mut SandboxMessage> {
        if self.message(chat, id).is_none() {
            self.note_unexpected(format!("something done to message {id} of chat {chat}, which does not exist"));
        }
        self.chats.get_mut(&chat)?.messages.get_mut(&id)
    }
}
