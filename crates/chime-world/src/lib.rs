//! Test world: the whole daemon with an embedded Telegram, a scripted model, and a clock that tests can move.
//!
//! [`World::run`] starts and ends a test. At the end nothing may be left over: no message of the bot that the test did
//! not read, no unused scripted answer, no unexpected call, no open or parked job.

#![recursion_limit = "256"]
#![expect(clippy::panic, clippy::expect_used, reason = "a test that cannot go on says so by panicking")]

mod waiting;

use std::collections::BTreeMap;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use chime::app::{App, AppError};
use chime_access::ClaimCode;
use chime_core::config::{Config, Settings};
use chime_core::testkit::transcript;
use chime_core::{AnswerRecord, ChatId, MessageId, StoredMessage, Timestamp, UserId};
use chime_runtime::clock::Clock;
use chime_sandbox::{BotAction, Cursor, NewChat, Post, Sandbox, SandboxMessage, Setup};
use chime_store::testkit::write_new_database;
use chime_store::{Reader, Result, Store, StoreError, answers, chats, inbox, jobs, messages, outbox};
use chime_testkit::ModelServer;
use chime_testkit::updates::{BotApi, validate_request};

/// Real time that a test waits for an event before it fails. Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Running daemon and its surroundings.
pub struct World {
    pub telegram: Sandbox,
    pub model: ModelServer,
    pub clock: Clock,
    /// Clock of the daemon, if it differs from the world's.
    daemon_clock: Option<Clock>,
    /// Default group of a test.
    pub chat: ChatId,
    settings: BTreeMap<String, String>,
    folder: TempDir,
    daemon: Option<Daemon>,
    read: Cursor,
    /// `true` if chats get the notice about kept data, as in production.
    announces: bool,
    /// `true` if concepts are extracted from answers, as in production.
    captures_concepts: bool,
    /// Web servers of the test by host name.
    sites: BTreeMap<String, SocketAddr>,
    /// Path of the program `chime`, which the daemon starts to read documents.
    program: Option<PathBuf>,
}

struct Daemon {
    store: Store,
    claim: Option<ClaimCode>,
    stop: CancellationToken,
    finished: Pin<Box<dyn Future<Output = std::result::Result<(), AppError>>>>,
}

impl World {
    /// Runs `test` against a daemon that has a model.
    pub async fn run(test: impl AsyncFnOnce(&mut World)) {
        Self::with(&[], test).await;
    }

    /// Runs `test` against a daemon without a model.
    pub async fn offline(test: impl AsyncFnOnce(&mut World)) {
        Self::with(&[("OPENAI_BASE_URL", ""), ("MODEL", "")], test).await;
    }

    /// Runs `test` against a daemon with these settings.
    pub async fn with(settings: &[(&str, &str)], test: impl AsyncFnOnce(&mut World)) {
        let mut world = Self::build(Self::noon(), settings).await;
        write_new_database(&world.database()).await;
        world.start().await;
        test(&mut world).await;
        world.end().await;
    }

    /// Runs `test` without a daemon in this process. The test starts one as a separate process, with
    /// [`environment`](Self::environment).
    pub async fn without_daemon(test: impl AsyncFnOnce(&mut World)) {
        let mut world = Self::build(Clock::system(), &[]).await;
        test(&mut world).await;
        world.end().await;
    }

    /// Returns a clock that begins at noon, so that "yesterday" and "this morning" mean the same whenever tests run.
    fn noon() -> Clock {
        let clock = Clock::system();
        let noon = clock.now().next_day().plus(Duration::from_hours(12));
        clock.advance(noon.since(clock.now()));
        clock
    }

    async fn build(clock: Clock, settings: &[(&str, &str)]) -> Self {
        let telegram = Sandbox::start(Setup { clock: clock.clone(), ..Setup::default() })
            .await
            .expect("start the embedded Telegram");
        let model = ModelServer::start(clock.clone()).await.expect("start the scripted model");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let chat = telegram.add_chat(NewChat::supergroup("Friday table"));
        let mut all = BTreeMap::from([
            ("TELEGRAM_API_URL".to_owned(), telegram.api_url()),
            ("TELEGRAM_BOT_TOKEN".to_owned(), telegram.token().to_owned()),
            ("OPENAI_BASE_URL".to_owned(), model.base_url()),
            ("MODEL".to_owned(), "scripted".to_owned()),
            ("DATABASE_PATH".to_owned(), folder.path().join("chime.db").display().to_string()),
            ("ALLOWED_CHATS".to_owned(), "*".to_owned()),
            ("PRIVATE_CHATS".to_owned(), "all".to_owned()),
            // Tests move the clock by days; only tests of memory should get sessions summarized.
            ("MEMORY".to_owned(), "off".to_owned()),
            ("TIME_ZONE".to_owned(), "Atlantic/Reykjavik".to_owned()),
            // Tests write faster than people.
            ("RATE_LIMIT".to_owned(), "off".to_owned()),
            // Small prompts keep tests fast.
            ("CONTEXT_TOKENS".to_owned(), "1600".to_owned()),
            // Short, so that stopping does not wait for a poll.
            ("POLL_TIMEOUT".to_owned(), "2s".to_owned()),
        ]);
        all.extend(settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let read = telegram.cursor();
        let daemon_clock = None;
        Self {
            telegram,
            model,
            clock,
            daemon_clock,
            chat,
            settings: all,
            folder,
            daemon: None,
            read,
            announces: false,
            captures_concepts: false,
            sites: BTreeMap::new(),
            program: None,
        }
    }

    /// Starts the daemon, for example after [`World::stop`].
    pub async fn start(&mut self) {
        /// A process that another test starts holds all our file locks between its fork and its exec.
        const TRIES_WHILE_LOCKED: usize = 200;
        for _ in 0..TRIES_WHILE_LOCKED {
            match self.try_start().await {
                Err(AppError::Store(StoreError::AlreadyRunning { .. })) => {
                    self.clock.sleep(Duration::from_millis(10)).await;
                }
                started => return started.unwrap_or_else(|error| panic!("the daemon did not start: {error}")),
            }
        }
        panic!("the lock of the daemon before is still held");
    }

    /// Starts the daemon.
    ///
    /// # Errors
    /// Returns the errors of [`App::start`].
    pub async fn try_start(&mut self) -> std::result::Result<(), AppError> {
        let settings = Settings::new(|name| self.settings.get(name).cloned());
        let mut config = Config::load(&settings).unwrap_or_else(|error| panic!("{error}"));
        config.privacy.announces = self.announces;
        config.llm.captures_concepts = self.captures_concepts;
        config.answer.test_servers = self.sites.clone();
        config.answer.test_program.clone_from(&self.program);
        let stop = CancellationToken::new();
        let app = App::start(config, self.daemon_clock.as_ref().unwrap_or(&self.clock).clone(), stop.clone()).await?;
        let (store, claim) = (app.store.clone(), app.claim.clone());
        self.daemon = Some(Daemon { store, claim, stop, finished: Box::pin(app.finished()) });
        Ok(())
    }

    pub async fn stop(&mut self) {
        let daemon = self.daemon.take().expect("the daemon runs");
        daemon.stop.cancel();
        let ended = tokio::time::timeout(PATIENCE, daemon.finished).await.expect("the daemon stops in time");
        ended.unwrap_or_else(|error| panic!("the daemon failed: {error}"));
    }

    /// Sets the daemon's clock ahead of the world's, from the next start on.
    pub fn set_daemon_ahead(&mut self, span: Duration) {
        self.set_daemon_at(self.clock.now().plus(span));
    }

    /// Sets the daemon's clock to `at`, from the next start on.
    pub fn set_daemon_at(&mut self, at: Timestamp) {
        let clock = Clock::system();
        clock.advance(at.since(clock.now()));
        self.daemon_clock = Some(clock);
    }

    /// Gives the daemon the world's clock again, from the next start on.
    pub fn set_daemon_here(&mut self) {
        self.daemon_clock = None;
    }

    /// Sets the daemon's own clock back while it runs; see [`World::set_daemon_ahead`].
    pub fn set_daemon_back(&self, span: Duration) {
        self.daemon_clock.as_ref().unwrap_or(&self.clock).set_back(span);
    }

    /// Moves the daemon's own clock forward; see [`World::set_daemon_ahead`].
    pub fn advance_daemon(&self, span: Duration) {
        self.daemon_clock.as_ref().unwrap_or(&self.clock).advance(span);
    }

    /// Switches on the notice about kept data, from the next start on.
    pub fn announce(&mut self) {
        self.announces = true;
    }

    /// Switches on the extraction of concepts from answers, from the next start on.
    pub fn capture_concepts(&mut self) {
        self.captures_concepts = true;
    }

    /// Lets the daemon reach a web server of the test by the name `host`, from the next start on.
    pub fn add_site(&mut self, host: &str, at: SocketAddr) {
        self.sites.insert(host.to_owned(), at);
    }

    /// Starts the daemon again with the program that reads documents: `env!("CARGO_BIN_EXE_chime")`.
    pub async fn read_documents_with(&mut self, program: &str) {
        self.program = Some(program.into());
        self.restart().await;
    }

    /// Returns the code that `chime run` shows if the bot has no owner.
    pub fn claim_code(&self) -> Option<String> {
        self.daemon.as_ref().and_then(|daemon| daemon.claim.as_ref()).map(ClaimCode::shown)
    }

    pub async fn restart(&mut self) {
        self.stop().await;
        self.start().await;
    }

    /// Waits until the daemon ends with an error.
    pub async fn failure(&mut self) -> AppError {
        let daemon = self.daemon.take().expect("the daemon runs");
        match tokio::time::timeout(PATIENCE, daemon.finished).await {
            Ok(Err(error)) => error,
            Ok(Ok(())) => panic!("the daemon ended without an error"),
            Err(_) => panic!("the daemon goes on"),
        }
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("chime.db")
    }

    /// Returns the daemon's environment variables.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.settings
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.insert(name.to_owned(), value.to_owned());
    }

    /// Adds a member to the group.
    pub fn member(&self, name: &str) -> UserId {
        self.telegram.add_member(self.chat, name)
    }

    /// Posts `text` by `name` in the group, now.
    pub fn say(&self, name: &str, text: &str) -> MessageId {
        self.say_in(self.chat, name, text)
    }

    pub fn say_in(&self, chat: ChatId, name: &str, text: &str) -> MessageId {
        let from = self.telegram.add_member(chat, name);
        self.telegram.say(chat, Post::new(from, text, self.clock.now()))
    }

    /// Posts `text` by `name` as a reply to `parent`, now.
    pub fn reply(&self, name: &str, parent: MessageId, text: &str) -> MessageId {
        let from = self.member(name);
        self.telegram.say(self.chat, Post::new(from, text, self.clock.now()).reply_to(parent))
    }

    /// Plays a transcript so that its last message is two minutes old. Returns the ids in the order of its lines.
    pub fn play(&self, chat: &str) -> Vec<MessageId> {
        let lines = transcript(chat);
        let last = lines.iter().map(|line| line.message.sent_at).max().expect("a transcript with messages");
        let now = self.clock.now();
        let mut ids = BTreeMap::new();
        let mut said = Vec::new();
        for line in &lines {
            let message = &line.message;
            let from = self.member(&message.sender.name);
            let at = now.minus(last.since(message.sent_at) + Duration::from_secs(120));
            let mut post = Post::new(from, message.text.as_str(), at);
            if let Some(parent) = message.reply_to.and_then(|parent| ids.get(&parent)) {
                post = post.reply_to(*parent);
            }
            let id = self.telegram.say(self.chat, post);
            ids.insert(message.id, id);
            said.push(id);
        }
        said
    }

    /// Reads the daemon's database, also if the daemon is a separate process.
    pub async fn read_store<T: Send + 'static>(&self, work: impl FnOnce(&Reader) -> Result<T> + Send + 'static) -> T {
        let store = match &self.daemon {
            Some(daemon) => daemon.store.clone(),
            None => Store::open_to_read(&self.database()).expect("open the database"),
        };
        store.read(work).await.expect("read the store")
    }

    pub async fn stored(&self, chat: ChatId, id: MessageId) -> Option<StoredMessage> {
        self.read_store(move |conn| messages::find(conn, chat, id)).await
    }

    /// Returns all stored messages of a chat, oldest first.
    pub async fn all_stored(&self, chat: ChatId) -> Vec<StoredMessage> {
        self.read_store(move |conn| match chats::find(conn, chat)? {
            Some(row) => messages::all_of(conn, row.key),
            None => Ok(Vec::new()),
        })
        .await
    }

    /// Returns the record of the answer in `sent`.
    pub async fn record_of(&self, sent: &SandboxMessage) -> AnswerRecord {
        let (chat, id) = (sent.chat, sent.id);
        self.until("the send is recorded", move |conn| Ok(outbox::by_message(conn, chat, id)?.is_some())).await;
        self.read_store(move |conn| {
            let part = outbox::by_message(conn, chat, id)?.expect("a part of the outbox");
            answers::find(conn, part.answer.expect("an answer"))
        })
        .await
        .expect("a record")
    }

    /// Returns the number of updates in the inbox, and the number of those that are parked.
    pub async fn inbox(&self) -> (u64, u64) {
        self.read_store(inbox::counts).await
    }

    /// Marks everything that the bot has sent so far as read.
    pub fn ignore_what_was_sent(&mut self) {
        self.read = self.telegram.cursor();
    }

    fn what_was_seen(&self) -> String {
        let mut lines = vec!["The chat:".to_owned()];
        for message in self.telegram.messages(self.chat) {
            lines.push(format!("  #{} from {}: {}", message.id, message.from, message.text));
        }
        lines.push(format!("Telegram did not expect: {:?}", self.telegram.unexpected()));
        lines.push(format!("The model did not expect: {:?}", self.model.unexpected()));
        lines.push(format!("Requests to the model: {}", self.model.requests().len()));
        lines.join("\n")
    }

    async fn end(mut self) {
        if self.daemon.is_some() {
            self.settled().await;
            let parked = self.read_store(|conn| jobs::parked(conn, 10)).await;
            assert!(parked.is_empty(), "jobs were put aside: {parked:?}");
            self.stop().await;
        }
        let unread: Vec<String> = self
            .telegram
            .actions_since(self.read)
            .into_iter()
            .filter_map(|action| match action {
                BotAction::Sent(message) => Some(message.text.clone()),
                _ => None,
            })
            .collect();
        assert!(unread.is_empty(), "the bot said what the test did not read: {unread:#?}");
        assert_eq!(self.invalid_requests(), Vec::<String>::new(), "requests that Telegram would not understand");
        assert_eq!(self.telegram.unexpected(), Vec::<String>::new(), "calls that Telegram did not expect");
        assert_eq!(self.model.unexpected(), Vec::<String>::new(), "calls that the model did not expect");
        assert!(
            self.model.leftover().is_empty(),
            "answers that nobody asked the model for: {:?}",
            self.model.leftover()
        );
    }

    /// Returns the daemon's requests that violate the Bot API's description.
    fn invalid_requests(&self) -> Vec<String> {
        let api = BotApi::bundled();
        let calls = self.telegram.calls();
        calls.iter().filter_map(|call| validate_request(api, &call.method, &call.params).err()).collect()
    }
}
