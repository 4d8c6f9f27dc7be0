//! `chime demo`: runs the real daemon with an embedded Telegram in a terminal.

mod bundled;
mod buttons;
pub mod chat;
mod input;
mod opening;
pub mod recorded;
mod saved_chat;
mod screen;
mod sources;

use std::collections::HashMap;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::{App, AppError};
use crate::cli::arguments::DemoOptions;
use crate::cli::database;
pub use crate::cli::demo::bundled::Bundled;
use crate::cli::demo::chat::ChatFile;
use crate::cli::demo::input::{DemoCommand, Input, YOU};
use crate::cli::demo::recorded::{BOT, RecordedMessage};
use crate::cli::demo::saved_chat::SavedChat;
use crate::cli::demo::screen::{Screen, ShownSource};
use crate::cli::exit::{CommandError, CommandResult, Exit};
use crate::telemetry;
use chime_core::Class;
use chime_core::config::{Config, DemoPlace, LogFormat};
use chime_core::{AnswerRecord, ChatId, JobKind, MessageId, UserId};
use chime_runtime::clock::Clock;
use chime_sandbox::{BotAction, Cursor, Post, Sandbox, SandboxMessage, Setup};
use chime_sandbox::{ChatMemberStatus, NewMember, PostContent};
use chime_store::{Store, jobs, outbox};

/// The chat is moved in time so that its last message has this age at the start.
const LAST_MESSAGE_AGE: Duration = Duration::from_mins(2);
/// Maximum time between the sending of a message and its record in the outbox.
const RECORDED_WITHIN: Duration = Duration::from_secs(10);
/// Interval for checking whether the daemon still has work.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Hint that is printed after a message that does not tag the bot.
const UNTAGGED: &str = "            The bot reads this and stays quiet until it is tagged: @bot …";

pub async fn run(options: DemoOptions) -> CommandResult {
    telemetry::start_quietly(LogFormat::Auto);
    let clock = Clock::system();
    let chat = opening::chat(&options)?;
    let folder = tempfile::Builder::new().prefix("chime-demo-").tempdir()?;
    let sandbox = Sandbox::start(Setup { clock: clock.clone(), ..Setup::default() }).await?;
    let place = DemoPlace {
        api_url: sandbox.api_url(),
        token: sandbox.token().to_owned().into(),
        database: options.database.clone().unwrap_or_else(|| folder.path().join("demo.db")),
    };
    let environment = database::environment()?;
    let config = Config::for_demo(&environment.settings(), &place)?;
    let zone = config.time.zone;
    let mut chat = chat.moved_to(clock.now().minus(LAST_MESSAGE_AGE), zone);
    let stop = CancellationToken::new();
    let model = config.llm.model.clone();
    let group = saved_chat::chat(&sandbox, &place.database, &mut chat)?;
    let (mut stage, said) = DemoSession::set((sandbox, group), &chat, Screen::new(options.json, zone), clock.clone());
    (stage.bundled, stage.is_bundled) = (options.chat, options.file.is_none());
    let group = recorded::group(stage.chat, &stage.title);
    recorded::record(&place.database, group, said, clock.now()).await?;
    let app = App::start(config, clock, stop.clone()).await?;
    stage.store = Some(app.store.clone());
    let mut finished: Finished = Box::pin(app.finished());
    let shown = stage.show(model.as_deref(), &mut finished).await;
    stop.cancel();
    finished.await?;
    shown.map(|()| Exit::Done)
}

/// Returns the user's login name with a capital letter, or `Guest` if there is none of a person.
fn login_name() -> String {
    let login = ["USER", "USERNAME"].into_iter().find_map(|key| std::env::var(key).ok()).unwrap_or_default();
    let mut letters = login.trim().chars();
    match letters.next() {
        Some(first) if login.trim() != "root" => first.to_uppercase().chain(letters).collect(),
        _ => "Guest".to_owned(),
    }
}

type Finished = Pin<Box<dyn Future<Output = Result<(), AppError>> + Send>>;

/// Chat of the demo with its members, and the state of the terminal.
struct DemoSession {
    sandbox: Sandbox,
    clock: Clock,
    chat: ChatId,
    title: String,
    people: HashMap<String, UserId>,
    names: HashMap<UserId, String>,
    cursor: Cursor,
    screen: Screen,
    store: Option<Store>,
    bundled: Bundled,
    /// `true` if the chat is a bundled one, `false` if it is the user's own file.
    is_bundled: bool,
}

impl DemoSession {
    /// Adds the messages of `file` to the chat. Returns the messages up to the bot's last one, which must be recorded
    /// in the database. The daemon gets the later ones as updates. If the database has them all, returns none.
    fn set(place: (Sandbox, SavedChat), file: &ChatFile, screen: Screen, clock: Clock) -> (Self, Vec<RecordedMessage>) {
        let (sandbox, SavedChat { id: chat, last }) = place;
        let names = HashMap::from([(sandbox.bot_id(), BOT.to_owned())]);
        let people = HashMap::from([(BOT.to_owned(), sandbox.bot_id())]);
        let cursor = sandbox.cursor();
        let title = file.title.clone();
        let mut stage = Self {
            sandbox,
            clock,
            chat,
            title,
            people,
            names,
            cursor,
            screen,
            store: None,
            bundled: Bundled::default(),
            is_bundled: false,
        };
        let (mut ids, mut said) = (HashMap::new(), Vec::new());
        let written = if last.is_some() { file.messages.len() } else { recorded::length(file) };
        for (at, line) in file.messages.iter().enumerate() {
            let from = stage.person(&line.name);
            let mut post = Post::new(from, line.text.as_str(), line.sent_at);
            let reply_to = line.reply_to.and_then(|id| ids.get(&id).copied());
            if let Some(parent) = reply_to {
                post = post.reply_to(parent);
            }
            if at < written {
                post = post.silently();
            }
            let id = stage.sandbox.say(chat, post);
            ids.insert(line.id, id);
            if at < written && last.is_none() {
                said.push(RecordedMessage { line: line.clone(), id, from, reply_to });
            }
        }
        if let Some(last) = last {
            stage.sandbox.number_messages_from(chat, MessageId(last.0 + 1));
        }
        (stage, said)
    }

    fn person(&mut self, name: &str) -> UserId {
        if let Some(id) = self.people.get(name) {
            return *id;
        }
        // The user is the chat's creator, so that the commands of admins can be tried.
        let status = if name == YOU { ChatMemberStatus::Creator } else { ChatMemberStatus::Member };
        // The terminal shows "You"; the model and the bot's texts need a name that reads as one.
        let login = if name == YOU { login_name() } else { name.to_owned() };
        let id = self.sandbox.add_member(self.chat, NewMember::named(login.as_str()).status(status));
        self.people.insert(name.to_owned(), id);
        self.names.insert(id, name.to_owned());
        id
    }

    async fn show(&mut self, model: Option<&str>, finished: &mut Finished) -> Result<(), CommandError> {
        self.opening(model);
        for message in self.sandbox.messages(self.chat) {
            self.show_said(&message);
        }
        if !self.screen.is_json() {
            self.screen.say("");
            self.speak(self.bundled.first_question());
            self.until_quiet(finished).await?;
            if let Some(recorded) = self.bundled.recorded_answer()
                && model.is_none()
                && self.is_bundled
            {
                self.screen.say(recorded);
            }
            self.screen.say(&self.closing());
        }
        self.converse(finished).await?;
        self.until_quiet(finished).await
    }

    /// Returns examples of lines to type next. They contain message ids of this chat.
    fn closing(&self) -> String {
        self.bundled.closing(self.sandbox.messages(self.chat).first().map_or(1, |message| message.id.0))
    }

    fn opening(&self, model: Option<&str>) {
        let model = match model {
            Some(model) => format!("The model is {model}."),
            None => {
                "No model is configured, so answers are digests; set OPENAI_BASE_URL and MODEL to hear one.".to_owned()
            }
        };
        self.screen.say(&format!(
            "A group chat on this machine, \"{}\". The bot reads it as it would on Telegram.",
            self.title
        ));
        self.screen.say(&model);
        if !self.is_bundled {
            self.screen.say("The dates are moved so that the last message was sent two minutes ago.");
        }
    }

    /// Posts the lines of the input until it ends, and shows the bot's actions. A person sees them after each line. A
    /// program may write lines at any time, and gets the actions as they come.
    async fn converse(&mut self, finished: &mut Finished) -> Result<(), CommandError> {
        let is_json = self.screen.is_json();
        let mut input = Input::new(is_json);
        loop {
            let cursor = self.cursor;
            let read = tokio::select! {
                read = input.next() => read?,
                (action, next) = self.sandbox.next_from_bot(cursor), if is_json => {
                    self.cursor = next;
                    self.show_done(action).await?;
                    continue;
                }
                _ = tokio::signal::ctrl_c(), if is_json => return Ok(()),
                ended = &mut *finished => return Ok(ended?),
            };
            let Some(text) = read else { return Ok(()) };
            for line in text.lines() {
                if self.take(line).is_break() {
                    return Ok(());
                }
                if !is_json {
                    self.until_quiet(finished).await?;
                }
            }
        }
    }

    /// Handles a typed line. Returns `Break` if the user wants to quit.
    fn take(&mut self, line: &str) -> ControlFlow<()> {
        match input::order(line) {
            Some(DemoCommand::Quit) => return ControlFlow::Break(()),
            Some(DemoCommand::Help) => self.screen.say(&self.closing()),
            None => self.speak(line),
        }
        ControlFlow::Continue(())
    }

    fn speak(&mut self, line: &str) {
        let Some(said) = input::parse(line, |name| name != BOT && self.people.contains_key(name)) else { return };
        let reply_to = said.reply_to.map(MessageId);
        if let Some(missing) = reply_to.filter(|id| self.sandbox.message(self.chat, *id).is_none()) {
            return self.screen.error(&format!("there is no message #{missing} to reply to"));
        }
        if let Some(id) = reply_to.filter(|_| said.text.is_empty()) {
            return self.screen.error(&format!("say something behind the number: `> {id} @bot`"));
        }
        let from = self.person(said.name);
        if let (Some(id), Some(label)) = (reply_to, buttons::pressed(said.text)) {
            let below = self.buttons(id);
            match below.iter().flatten().find(|button| button.is_named(label)) {
                Some(button) => {
                    self.sandbox.press(self.chat, id, from, &button.data);
                }
                None if below.is_empty() => self.screen.error(&format!("message #{id} has no button to press")),
                None => self.screen.error(&format!("message #{id} has no button \"{label}\"")),
            }
            return;
        }
        let text = input::addressed(said.text, BOT);
        let mut post = Post::new(from, text.as_str(), self.clock.now());
        if let Some(parent) = reply_to {
            post = post.reply_to(parent);
        }
        let id = self.sandbox.say(self.chat, post);
        if let Some(message) = self.sandbox.message(self.chat, id) {
            self.show_said(&message);
        }
        let is_for_bot = reply_to.is_some() || text.to_lowercase().contains("@bot") || text.starts_with('/');
        if !is_for_bot && said.name == YOU {
            self.screen.say(UNTAGGED);
        }
    }

    /// Shows the bot's actions until the daemon has no more work that a member waits for.
    async fn until_quiet(&mut self, finished: &mut Finished) -> Result<(), CommandError> {
        loop {
            let cursor = self.cursor;
            tokio::select! {
                biased;
                (action, next) = self.sandbox.next_from_bot(cursor) => {
                    self.cursor = next;
                    self.show_done(action).await?;
                }
                ended = &mut *finished => return Ok(ended?),
                () = self.clock.sleep(LOOK_EVERY) => {
                    if self.is_quiet().await? && self.sandbox.cursor() == self.cursor {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Returns `true` if all updates were taken in and no job is left that a member waits for. Periodic jobs and those
    /// in the background do not count.
    async fn is_quiet(&self) -> Result<bool, CommandError> {
        let Some(store) = &self.store else { return Ok(true) };
        if self.sandbox.pending_updates() > 0 {
            return Ok(false);
        }
        let open = store.read(jobs::counts_by_kind).await?;
        let waits = |kind: &JobKind| kind.policy().class != Class::Background && !kind.policy().is_periodic();
        Ok(open.iter().all(|(kind, due, _)| *due == 0 || !waits(kind)))
    }

    fn name(&self, id: UserId) -> &str {
        self.names.get(&id).map_or("somebody", String::as_str)
    }

    fn show_said(&mut self, message: &SandboxMessage) {
        let from = self.name(message.from).to_owned();
        self.screen.message(message, &from);
    }

    fn buttons(&self, id: MessageId) -> Vec<Vec<buttons::ShownButton>> {
        self.sandbox.message(self.chat, id).map(|message| buttons::below(&message)).unwrap_or_default()
    }

    async fn show_done(&mut self, action: BotAction) -> Result<(), CommandError> {
        match action {
            BotAction::Sent(message) | BotAction::Edited(message) => {
                let found = self.what_it_is(message.id).await?;
                let from = self.name(message.from).to_owned();
                match found {
                    Some((record, sources)) => self.screen.answer(&message, &from, &record, &sources),
                    None => self.screen.notice(&message, &from),
                }
                if let PostContent::Poll { question, options } = &message.content {
                    self.screen.say(&format!("            {question} {}", options.join(" / ")));
                }
                for line in buttons::lines(message.id.0, &self.buttons(message.id)) {
                    self.screen.say(&line);
                }
            }
            BotAction::Reacted { message, emoji, .. } => self.screen.reaction(message.0, &emoji.join(" ")),
            BotAction::Deleted { .. }
            | BotAction::Drafted { .. }
            | BotAction::Uploaded { .. }
            | BotAction::Typing { .. }
            | BotAction::Left { .. }
            | BotAction::GuestAnswered { .. }
            | BotAction::PressAnswered { text: None, .. } => {}
            BotAction::PressAnswered { text: Some(text), .. } => self.screen.say(&format!("            {text}")),
        }
        Ok(())
    }

    /// Returns the answer that the message `id` of the bot contains, with its sources. Waits until the daemon has
    /// recorded that the message was sent.
    async fn what_it_is(&self, id: MessageId) -> Result<Option<(AnswerRecord, Vec<ShownSource>)>, CommandError> {
        let Some(store) = &self.store else { return Ok(None) };
        let chat = self.chat;
        let until = self.clock.now().plus(RECORDED_WITHIN);
        while self.clock.now() < until {
            if let Some(part) = store.read(move |conn| outbox::by_message(conn, chat, id)).await? {
                return Ok(store.read(move |conn| sources::answer_of(conn, &part)).await?);
            }
            self.clock.sleep(LOOK_EVERY).await;
        }
        Ok(None)
    }
}
