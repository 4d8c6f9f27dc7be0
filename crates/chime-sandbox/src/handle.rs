//! The handle: starting and ending, setting up, speaking, looking.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::message::{BotAction, Cursor, SandboxMessage};
use crate::state::{BOT, State};
use crate::world::World;
use crate::{NewChat, NewMember, Post, Standing, server};
use chime_core::{ChatId, MessageId, ThreadId, Timestamp, UpdateId, UserId};
use chime_runtime::clock::Clock;

/// The bot that this Telegram knows, and its time.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Without `@`.
    pub bot_username: String,
    pub bot_name: String,
    /// `false` is privacy mode: plain mentions are not delivered unless the bot is an admin.
    pub reads_all: bool,
    /// Dates what the bot says, and ends its polls.
    pub clock: Clock,
}

impl Default for Setup {
    fn default() -> Self {
        Self { bot_username: "bot".to_owned(), bot_name: "Bot".to_owned(), reads_all: true, clock: Clock::system() }
    }
}

/// A running Telegram. Clones are the same one; with the last of them the server ends and every connection is cut.
#[derive(Debug, Clone)]
pub struct Sandbox {
    pub(super) world: Arc<World>,
    address: SocketAddr,
    _running: Arc<DropGuard>,
}

impl Sandbox {
    /// Starts a server on a free port of the loopback interface.
    pub async fn start(setup: Setup) -> io::Result<Self> {
        let state = State::new(&setup.bot_name, &setup.bot_username, setup.reads_all);
        let world = Arc::new(World::new(state, random_token(), setup.clock));
        let stop = CancellationToken::new();
        let address = server::serve(Arc::clone(&world), stop.clone()).await?;
        Ok(Self { world, address, _running: Arc::new(stop.drop_guard()) })
    }

    /// What `TELEGRAM_API_URL` is to be.
    pub fn api_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What `TELEGRAM_BOT_TOKEN` is to be.
    pub fn token(&self) -> &str {
        &self.world.token
    }

    pub fn bot_id(&self) -> UserId {
        BOT
    }

    /// Sets up a chat. No update tells of it.
    pub fn add_chat(&self, chat: NewChat) -> ChatId {
        self.world.change(|state| state.add_chat(chat))
    }

    /// Puts somebody into a chat, or changes their standing there. No update tells of it. The same name is the same
    /// person everywhere.
    pub fn add_member(&self, chat: ChatId, member: impl Into<NewMember>) -> UserId {
        let member = member.into();
        self.world.change(|state| state.add_member(chat, &member))
    }

    /// `by` adds the bot to a chat, or changes its standing there: `my_chat_member`, and a service message.
    pub fn add_bot_to(&self, chat: ChatId, standing: Standing, by: UserId) {
        let now = self.world.clock.now();
        self.world.change(|state| state.move_bot(chat, standing, by, now));
    }

    /// Somebody kicks the bot out of a chat; in a private chat, the person blocks it.
    pub fn kick_bot(&self, chat: ChatId) {
        let now = self.world.clock.now();
        self.world.change(|state| {
            let by = state.someone_in_charge(chat);
            state.move_bot(chat, Standing::Kicked, by, now);
        });
    }

    /// Says something in a chat.
    pub fn say(&self, chat: ChatId, post: Post) -> MessageId {
        self.world.change(|state| state.say(chat, post))
    }

    /// Says many things at once: whoever polls wakes up once.
    pub fn say_many(&self, chat: ChatId, posts: impl IntoIterator<Item = Post>) -> Vec<MessageId> {
        self.world.change(|state| posts.into_iter().map(|post| state.say(chat, post)).collect())
    }

    /// What stands in every document of this name. Photos are called `photo.jpg`, voice
    /// messages `voice.oga`, video notes `video_note.mp4`.
    pub fn put_file(&self, file_name: &str, bytes: impl Into<Vec<u8>>) {
        self.world.change(|state| state.files.insert(file_name.to_owned(), bytes.into()));
    }

    /// Edits a text or caption. The same text again is an edit that changes nothing visible.
    pub fn edit(&self, chat: ChatId, message: MessageId, text: &str, at: Timestamp) {
        self.world.change(|state| state.edit(chat, message, text, at));
    }

    /// Deletes a message. Bots are not told.
    pub fn delete(&self, chat: ChatId, message: MessageId) {
        self.world.change(|state| state.delete(chat, message));
    }

    /// `by` now reacts with `emoji`, which may be none. Told only to a bot that is an admin and asked for it.
    pub fn react(&self, chat: ChatId, message: MessageId, by: UserId, emoji: &[&str]) {
        let now = self.world.clock.now();
        self.world.change(|state| state.react(chat, message, by, emoji, now));
    }

    /// `by` presses a button of a message of the bot. Returns the id that is to be answered.
    pub fn press(&self, chat: ChatId, message: MessageId, by: UserId, data: &str) -> String {
        self.world.change(|state| state.press(chat, message, by, data))
    }

    /// Makes a supergroup of a basic group, and returns its new id.
    pub fn migrate(&self, chat: ChatId) -> ChatId {
        let now = self.world.clock.now();
        self.world.change(|state| state.migrate(chat, now))
    }

    /// Somebody in charge opens a topic.
    pub fn create_topic(&self, chat: ChatId, name: &str) -> ThreadId {
        let by = self.world.read(|state| state.someone_in_charge(chat));
        self.create_topic_by(chat, name, by)
    }

    /// `by` opens a topic; the bot itself may.
    pub fn create_topic_by(&self, chat: ChatId, name: &str, by: UserId) -> ThreadId {
        let now = self.world.clock.now();
        self.world.change(|state| state.create_topic(chat, name, by, now))
    }

    pub fn close_topic(&self, chat: ChatId, topic: ThreadId) {
        let now = self.world.clock.now();
        self.world.change(|state| state.close_topic(chat, topic, now));
    }

    /// Deletes a topic with everything in it. Bots are not told.
    pub fn delete_topic(&self, chat: ChatId, topic: ThreadId) {
        self.world.change(|state| state.delete_topic(chat, topic));
    }

    /// Queues any text as an update. An object without `update_id` gets the next one. An id that has passed already
    /// is delivered once, in front of the others.
    pub fn push_raw(&self, update_json: impl AsRef<str>) {
        self.world.change(|state| state.queue.push_raw(update_json.as_ref()));
    }

    /// Delivers an earlier update once more under its own id. Tells whether it is still known.
    pub fn redeliver(&self, update: UpdateId) -> bool {
        self.world.change(|state| state.queue.redeliver(update))
    }

    /// Delivers an earlier update once more under a new id, which is returned.
    pub fn duplicate(&self, update: UpdateId) -> Option<UpdateId> {
        self.world.change(|state| state.queue.duplicate(update))
    }

    /// Goes on with other update ids, as after a week without updates. What is pending is forgotten.
    pub fn restart_update_ids(&self, next: UpdateId) {
        self.world.change(|state| state.queue.restart_ids(next));
    }

    /// Gives the chat's next message this id: what came before was said in another sandbox.
    pub fn number_messages_from(&self, chat: ChatId, first: MessageId) {
        self.world.change(|state| state.number_messages_from(chat, first));
    }

    /// The id of the newest update.
    pub fn latest_update(&self) -> Option<UpdateId> {
        self.world.read(|state| state.queue.latest())
    }

    /// How many updates the bot has not confirmed.
    pub fn pending_updates(&self) -> usize {
        self.world.read(|state| state.queue.len())
    }

    /// Waits until the bot has confirmed everything.
    pub async fn all_confirmed(&self) {
        self.world.wait_for(|state| (state.queue.len() == 0).then_some(())).await;
    }

    /// Waits until the bot was given everything, confirmed or not.
    pub async fn all_handed_out(&self) {
        self.world.wait_for(|state| state.queue.is_handed_out().then_some(())).await;
    }

    /// The bot has confirmed every update below this id.
    pub fn confirmed_offset(&self) -> i64 {
        self.world.read(|state| state.queue.confirmed_offset())
    }

    /// What is in a chat now, oldest first, the bot's own messages included.
    pub fn messages(&self, chat: ChatId) -> Vec<SandboxMessage> {
        self.world
            .read(|state| state.chats.get(&chat).into_iter().flat_map(|chat| chat.messages.values().cloned()).collect())
    }

    pub fn message(&self, chat: ChatId, id: MessageId) -> Option<SandboxMessage> {
        self.world.read(|state| state.message(chat, id).cloned())
    }

    /// What the bot said in a chat and is still there, oldest first.
    pub fn sent_by_bot(&self, chat: ChatId) -> Vec<SandboxMessage> {
        let is_own = |message: &SandboxMessage| message.from == BOT && !message.content.is_service();
        self.messages(chat).into_iter().filter(is_own).collect()
    }

    /// The line under the bot's name.
    pub fn short_description(&self) -> String {
        self.world.read(|state| state.short_description.clone())
    }

    /// The commands that are set, as JSON, each with the JSON of its scope.
    pub fn commands(&self) -> Vec<(String, serde_json::Value)> {
        self.world.read(|state| state.commands.clone().into_iter().collect())
    }

    /// What no correct bot or test does: unknown methods, foreign parameters, chats that do not exist. No message text.
    pub fn unexpected(&self) -> Vec<String> {
        self.world.read(|state| state.unexpected().to_vec())
    }

    /// The place after everything the bot has done so far.
    pub fn cursor(&self) -> Cursor {
        self.world.read(|state| Cursor(state.actions.len()))
    }

    /// What the bot has done since `after`.
    pub fn actions_since(&self, after: Cursor) -> Vec<BotAction> {
        self.world.read(|state| state.actions.get(after.0..).unwrap_or_default().to_vec())
    }

    /// Waits for the first thing that the bot does after `after`, and returns it with the place behind it.
    pub async fn next_from_bot(&self, after: Cursor) -> (BotAction, Cursor) {
        let seen = |state: &mut State| state.actions.get(after.0).cloned();
        (self.world.wait_for(seen).await, Cursor(after.0 + 1))
    }

    /// Waits for the first message that the bot sends after `after`, past whatever else it does.
    pub async fn next_sent(&self, after: Cursor) -> (SandboxMessage, Cursor) {
        let sent = |state: &mut State| {
            state.actions.iter().enumerate().skip(after.0).find_map(|(index, action)| match action {
                BotAction::Sent(message) => Some((SandboxMessage::clone(message), Cursor(index + 1))),
                BotAction::Edited(_)
                | BotAction::Uploaded { .. }
                | BotAction::Drafted { .. }
                | BotAction::Deleted { .. }
                | BotAction::Reacted { .. }
                | BotAction::Acting { .. }
                | BotAction::Left { .. }
                | BotAction::PressAnswered { .. } => None,
            })
        };
        self.world.wait_for(sent).await
    }
}

/// A token that nobody else on this machine knows: other programs can reach the loopback interface too.
fn random_token() -> String {
    // The standard library's hash seeds come from the system's source of randomness.
    let random = || RandomState::new().hash_one(());
    format!("{BOT}:AAS{:016x}{:016x}", random(), random())
}
