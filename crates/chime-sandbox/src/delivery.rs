//! Delivery of messages to the bot, subject to privacy mode.

use crate::message::BOT;
use crate::message::SandboxMessage;
use crate::state::{SandboxChat, SandboxState};
use crate::wire;
use chime_core::{ChatId, ChatKind, EntityKind, MessageId, utf16_slice};

/// Event of a message that the bot may get an update about.
#[derive(Debug, Clone, Copy)]
pub(super) enum MessageEvent {
    Said,
    Edited,
}

impl SandboxState {
    /// Queues an update about a message if the bot receives it.
    pub(super) fn announce(&mut self, chat: ChatId, id: MessageId, news: MessageEvent) {
        let Some(chat) = self.chats.get(&chat) else { return };
        let Some(message) = chat.messages.get(&id) else { return };
        if !self.bot_hears(chat, message) {
            return;
        }
        let kind = match (chat.kind, news) {
            (ChatKind::Channel, MessageEvent::Said) => "channel_post",
            (ChatKind::Channel, MessageEvent::Edited) => "edited_channel_post",
            (ChatKind::Private | ChatKind::Group | ChatKind::Supergroup, MessageEvent::Said) => "message",
            (ChatKind::Private | ChatKind::Group | ChatKind::Supergroup, MessageEvent::Edited) => "edited_message",
        };
        let payload = wire::message(self, chat, message).to_string();
        self.queue.push(kind, &payload);
    }

    /// Returns `true` if the bot receives `message`: it is in the chat, no other bot wrote it, and privacy mode allows
    /// it.
    fn bot_hears(&self, chat: &SandboxChat, message: &SandboxMessage) -> bool {
        let status = chat.status_of(BOT);
        let by_a_bot = message.sender_chat.is_none() && self.people.get(&message.from).is_some_and(|who| who.is_bot);
        if by_a_bot || !status.is_present() {
            return false;
        }
        let hears_all = self.reads_all || status.is_admin();
        let is_group = matches!(chat.kind, ChatKind::Group | ChatKind::Supergroup);
        hears_all || !is_group || message.content.is_service() || self.is_for_the_bot(chat, message)
    }

    /// Returns `true` if a bot in privacy mode receives `message`: commands without another bot's name and replies to
    /// the bot, but no plain mentions.
    fn is_for_the_bot(&self, chat: &SandboxChat, message: &SandboxMessage) -> bool {
        let own_name = self.people.get(&BOT).and_then(|bot| bot.username.as_deref()).unwrap_or_default();
        let is_own_command =
            message.entities.iter().filter(|entity| entity.kind == EntityKind::BotCommand).any(|entity| {
                match utf16_slice(&message.text, entity.offset, entity.length).split_once('@') {
                    Some((_, name)) => name.eq_ignore_ascii_case(own_name),
                    None => true,
                }
            });
        let parent = message.reply_to.and_then(|parent| chat.messages.get(&parent));
        is_own_command || parent.is_some_and(|parent| parent.from == BOT)
    }
}
