//! [`Sandbox`], which programs and tests use to start a sandbox, set up chats, cause events and inspect the results.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::message::BOT;
use crate::message::{BotAction, Cursor, SandboxMessage};
use crate::shared::SharedState;
use crate::state::SandboxState;
use crate::{ChatMemberStatus, NewChat, NewMember, Post, server};
use chime_core::{ChatId, ForumTopicId, MessageId, Timestamp, UpdateId, UserId};
use chime_runtime::clock::Clock;

/// Settings of a sandbox: the bot's account and the clock.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Username without `@`.
    pub bot_username: String,
    pub bot_name: String,
    /// `false` for privacy mode: plain mentions are not delivered unless the bot is an admin.
    pub reads_all: bool,
    /// Clock that dates the bot's messages and limits its polls.
    pub clock: Clock,
}

impl Default for Setup {
    fn default() -> Self {
        Self { bot_username: "bot".to_owned(), bot_name: "Bot".to_owned(), reads_all: true, clock: Clock::system() }
    }
}

/// A running sandbox. Clones share one server; dropping the last one stops it and closes all connections.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(super) world: Arc<SharedState>,
    address: SocketAddr,
    _running: Arc<DropGuard>,
}

impl Sandbox {
    /// Starts a server on a free port of the loopback interface.
    pub async fn start(setup: Setup) -> io::Result<Self> {
        let state = SandboxState::new(&setup.bot_name, &setup.bot_username, setup.reads_all);
        let world = Arc::new(SharedState::new(state, random_token(), setup.clock));
        let stop = CancellationToken::new();
        let address = server::serve(Arc::clone(&world), stop.clone()).await?;
        Ok(Self { world, address, _running: Arc::new(stop.drop_guard()) })
    }

    /// Returns the value for `TELEGRAM_API_URL`.
    pub fn api_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the value for `TELEGRAM_BOT_TOKEN`.
    pub fn token(&self) -> &str {
        &self.world.token
    }

    pub fn bot_id(&self) -> UserId {
        BOT
    }

    /// Adds a chat. The bot gets no update about it.
    pub fn add_chat(&self, chat: NewChat) -> ChatId {
        self.world.change(|state| state.add_chat(chat))
    }

    /// Adds a person to a chat, or changes their status. The bot gets no update about it. Equal names denote the same
    /// person in all chats.
    pub fn add_member(&self, chat: ChatId, member: impl Into<NewMember>) -> UserId {
        let member = member.into();
        self.world.change(|state| state.add_member(chat, &member))
    }

    /// Adds the bot to a chat in the name of `by`, or changes its status: queues `my_chat_member` and a service
    /// message.
    pub fn add_bot_to(&self, chat: ChatId, status: ChatMemberStatus, by: UserId) {
        let now = self.world.clock.now();
        self.world.change(|state| state.move_bot(chat, status, by, now));
    }

    /// Removes the bot from a chat; in a private chat, the person blocks it.
    pub fn kick_bot(&self, chat: ChatId) {
        let now = self.world.clock.now();
        self.world.change(|state| {
            let by = state.someone_in_charge(chat);
            state.move_bot(chat, ChatMemberStatus::Kicked, by, now);
        });
    }

    pub fn say(&self, chat: ChatId, post: Post) -> MessageId {
        self.world.change(|state| state.say(chat, post))
    }

    /// Posts several messages at once, so that a waiting poll returns all of them together.
    pub fn say_many(&self, chat: ChatId, posts: impl IntoIterator<Item = Post>) -> Vec<MessageId> {
        self.world.change(|state| posts.into_iter().map(|post| state.say(chat, post)).collect())
    }

    /// Stores `bytes` as the content of every document with this file name, for download by the bot. Photos are named
    /// `photo.jpg`, voice messages `voice.oga`.
    pub fn put_file(&self, file_name: &str, bytes: impl Into<Vec<u8>>) {
        self.world.change(|state| state.files.insert(file_name.to_owned(), bytes.into()));
    }

    /// Changes the bot's username, as its owner does with BotFather. The bot gets no update about it.
    pub fn rename_bot(&self, username: &str) {
        self.world.change(|state| {
            if let Some(bot) = state.people.get_mut(&BOT) {
                bot.username = Some(username.to_owned());
            }
        });
    }

    /// Switches the bot's privacy mode on, as its owner does with BotFather.
    pub fn set_privacy_mode(&self) {
        self.world.change(|state| state.reads_all = false);
    }

    /// Makes this a server older than Bot API 10.3, which shows ephemeral messages of the bot to everybody.
    pub fn become_older(&self) {
        self.world.change(|state| state.is_older = true);
    }

    /// Edits a text or caption. The same text simulates an edit without a visible change.
    pub fn edit(&self, chat: ChatId, message: MessageId, text: &str, at: Timestamp) {
        self.world.change(|state| state.edit(chat, message, text, at));
    }

    /// Deletes a message. Bots get no update.
    pub fn delete(&self, chat: ChatId, message: MessageId) {
        self.world.change(|state| state.delete(chat, message));
    }

    /// Sets the reactions of `by`, possibly to none. Delivered only to a bot that is an admin and requested such
    /// updates.
    pub fn react(&self, chat: ChatId, message: MessageId, by: UserId, emoji: &[&str]) {
        let now = self.world.clock.now();
        self.world.change(|state| state.react(chat, message, by, emoji, now));
    }

    /// Presses a button of a bot's message in the name of `by`. Returns the id of the press, which the bot must answer.
    pub fn press(&self, chat: ChatId, message: MessageId, by: UserId, data: &str) -> String {
        self.world.change(|state| state.press(chat, message, by, data))
    }

    /// Converts a basic group to a supergroup and returns its new id.
    pub fn migrate(&self, chat: ChatId) -> ChatId {
        let now = self.world.clock.now();
        self.world.change(|state| state.migrate(chat, now))
    }

    /// Opens a forum topic in the name of an admin.
    pub fn create_topic(&self, chat: ChatId, name: &str) -> ForumTopicId {
        let by = self.world.read(|state| state.someone_in_charge(chat));
        self.create_topic_by(chat, name, by)
    }

    /// Opens a forum topic in the name of `by`, who may be the bot.
    pub fn create_topic_by(&self, chat: ChatId, name: &str, by: UserId) -> ForumTopicId {
        let now = self.world.clock.now();
        self.world.change(|state| state.create_topic(chat, name, by, now))
    }

    pub fn close_topic(&self, chat: ChatId, topic: ForumTopicId) {
        let now = self.world.clock.now();
        self.world.change(|state| state.close_topic(chat, topic, now));
    }

    /// Deletes a forum topic with its messages. Bots get no update.
    pub fn delete_topic(&self, chat: ChatId, topic: ForumTopicId) {
        self.world.change(|state| state.delete_topic(chat, topic));
    }

    /// Queues any text as an update. Adds the next `update_id` to an object without one. An update whose id is below
    /// the next one is delivered once, before the others.
    pub fn push_raw(&self, update_json: impl AsRef<str>) {
        self.world.change(|state| state.queue.push_raw(update_json.as_ref()));
    }

    /// Delivers an earlier update again with the same id. Returns `false` if it is no longer stored.
    pub fn redeliver(&self, update: UpdateId) -> bool {
        self.world.change(|state| state.queue.redeliver(update))
    }

    /// Delivers an earlier update again with a new id and returns this id, or `None` if the update is no longer stored.
    pub fn duplicate(&self, update: UpdateId) -> Option<UpdateId> {
        self.world.change(|state| state.queue.duplicate(update))
    }

    /// Drops pending updates and continues with update id `next`: the real server chooses new ids after a week without
    /// updates.
    pub fn restart_update_ids(&self, next: UpdateId) {
        self.world.change(|state| state.queue.restart_ids(next));
    }

    /// Sets the id of the chat's next message, for a bot that already has messages of the chat from an earlier sandbox.
    pub fn number_messages_from(&self, chat: ChatId, first: MessageId) {
        self.world.change(|state| state.number_messages_from(chat, first));
    }

    pub fn latest_update(&self) -> Option<UpdateId> {
        self.world.read(|state| state.queue.latest())
    }

    /// Returns the number of updates that the bot has not confirmed.
    pub fn pending_updates(&self) -> usize {
        self.world.read(|state| state.queue.len())
    }

    pub async fn all_confirmed(&self) {
        self.world.wait_for(|state| (state.queue.len() == 0).then_some(())).await;
    }

    /// Waits until all updates are delivered, even if the bot has not confirmed them.
    pub async fn all_handed_out(&self) {
        self.world.wait_for(|state| state.queue.is_handed_out().then_some(())).await;
    }

    /// Returns the id below which all updates are confirmed.
    pub fn confirmed_offset(&self) -> i64 {
        self.world.read(|state| state.queue.confirmed_offset())
    }

    /// Returns the current messages of a chat, oldest first, including the bot's own.
    pub fn messages(&self, chat: ChatId) -> Vec<SandboxMessage> {
        self.world
            .read(|state| state.chats.get(&chat).into_iter().flat_map(|chat| chat.messages.values().cloned()).collect())
    }

    pub fn message(&self, chat: ChatId, id: MessageId) -> Option<SandboxMessage> {
        self.world.read(|state| state.message(chat, id).cloned())
    }

    /// Returns the bot's current messages in a chat, oldest first.
    pub fn sent_by_bot(&self, chat: ChatId) -> Vec<SandboxMessage> {
        let is_own = |message: &SandboxMessage| message.from == BOT && !message.content.is_service();
        self.messages(chat).into_iter().filter(is_own).collect()
    }

    pub fn short_description(&self) -> String {
        self.world.read(|state| state.short_description.clone())
    }

    /// Returns the command lists, each after its key: the JSON of its scope, followed by its language code.
    pub fn commands(&self) -> Vec<(String, serde_json::Value)> {
        self.world.read(|state| state.commands.clone().into_iter().collect())
    }

    /// Returns the mistakes of the bot or test so far, such as unknown methods, or chats that do not exist. Contains no
    /// message text.
    pub fn unexpected(&self) -> Vec<String> {
        self.world.read(|state| state.unexpected().to_vec())
    }

    /// Returns the position after the bot's latest action.
    pub fn cursor(&self) -> Cursor {
        self.world.read(|state| Cursor(state.actions.len()))
    }

    /// Returns the bot's actions since `after`.
    pub fn actions_since(&self, after: Cursor) -> Vec<BotAction> {
        self.world.read(|state| state.actions.get(after.0..).unwrap_or_default().to_vec())
    }

    /// Waits for the bot's first action after `after`, and returns it with the position after it.
    pub async fn next_from_bot(&self, after: Cursor) -> (BotAction, Cursor) {
        let seen = |state: &mut SandboxState| state.actions.get(after.0).cloned();
        (self.world.wait_for(seen).await, Cursor(after.0 + 1))
    }

    /// Waits for the bot's first message after `after`, ignoring other actions.
    pub async fn next_sent(&self, after: Cursor) -> (SandboxMessage, Cursor) {
        let sent = |state: &mut SandboxState| {
            state.actions.iter().enumerate().skip(after.0).find_map(|(index, action)| {
                let BotAction::Sent(message) = action else { return None };
                Some((SandboxMessage::clone(message), Cursor(index + 1)))
            })
        };
        self.world.wait_for(sent).await
    }
}

/// Returns a random token, so that other programs on this machine cannot use the server.
fn random_token() -> String {
    // The standard library seeds its hashes from the system's random source.
    let random = || RandomState::new().hash_one(());
    format!("{BOT}:AAS{:016x}{:016x}", random(), random())
}
