//! Runs the daemon on an embedded Telegram. Each case gets a chat of its own.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use anyhow::bail;
use chrono::{NaiveDate, NaiveTime, TimeDelta};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::answers::{Case, CaseAnswer, CaseKind, CaseLine};
use crate::arguments::EvalServer;
use chime::app::{App, AppError};
use chime::cli::demo::chat;
use chime::cli::demo::recorded::{BOT, RecordedMessage, record_in};
use chime_core::config::{Config, Environment, KEYS, PrivacyConfig};
use chime_core::{
    AnswerStatus, Chat, ChatId, ChatKind, EntityKind, JobKind, MessageId, MessagePlace, Seq, Timestamp, UserId, Zone,
    parse_message_link,
};
use chime_runtime::clock::{Clock, Stopwatch};
use chime_sandbox::{NewChat, Post, Sandbox, SandboxMessage, Setup};
use chime_store::{Reader, Store, answers, jobs, messages, outbox};

/// Day of a run's first case, a Thursday. It is fixed, so that dates in prompts are the same in every run.
const FIRST_DAY: NaiveDate = match NaiveDate::from_ymd_opt(2026, 11, 26) {
    Some(day) => day,
    None => NaiveDate::MIN,
};
/// Days between cases: all are on the same weekday, each at its own time of day.
const DAYS_APART: i64 = 7;
const GROUP: &str = "Group";
/// Interval for checking whether an answer is finished.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Time without a change of the text, after the work is done, from which an answer is final.
const SETTLED: Duration = Duration::from_millis(400);
/// Longest step of the clock in a day, and the time without due jobs that ends a step.
const STEP: Duration = Duration::from_secs(10 * 60);
const IDLE: Duration = Duration::from_millis(60);
const STORED_WITHIN: Duration = Duration::from_secs(60);
/// Longest wait for an answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15 * 60);
/// Jobs that a question can start.
const WORK: [JobKind; 6] =
    [JobKind::Answer, JobKind::Send, JobKind::Command, JobKind::Recap, JobKind::Refusal, JobKind::Thank];

/// Running daemon that answers cases, one after the other.
pub struct CaseRunner {
    sandbox: Sandbox,
    clock: Clock,
    zone: Zone,
    store: Store,
    stop: CancellationToken,
    finished: Pin<Box<dyn Future<Output = Result<(), AppError>> + Send>>,
    /// Number of cases played so far.
    played: i64,
    /// Keeps the temporary database until the end.
    _folder: TempDir,
}

/// Chat of a case, with message ids by line number.
struct CaseChat {
    chat: ChatId,
    people: HashMap<String, UserId>,
    ids: BTreeMap<i64, MessageId>,
}

impl CaseRunner {
    /// Starts the daemon with a new database. `defaults` are settings that the environment may override.
    pub async fn set(server: &EvalServer, defaults: &[(&'static str, &str)]) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("chime-eval-").tempdir()?;
        // A day earlier, so that the first case is in the future in every time zone.
        let start = FIRST_DAY.and_time(NaiveTime::MIN) - TimeDelta::days(1);
        let clock = Clock::starting_at(Zone::UTC.moment(start));
        let sandbox = Sandbox::start(Setup { clock: clock.clone(), ..Setup::default() }).await?;
        let config = configuration(server, defaults, &sandbox, folder.path())?;
        let zone = config.time.zone;
        let stop = CancellationToken::new();
        let app = App::start(config, clock.clone(), stop.clone()).await?;
        let store = app.store.clone();
        let finished = Box::pin(app.finished());
        Ok(Self { sandbox, clock, zone, store, stop, finished, played: 0, _folder: folder })
    }

    pub async fn close(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.finished.await?)
    }

    /// Plays a case in a new chat and returns the bot's answer.
    pub async fn answer(&mut self, case: &Case) -> anyhow::Result<CaseAnswer> {
        let moments = self.moments();
        self.clock.advance(moments(case.asked_at).since(self.clock.now()));
        let mut room = self.open(case);
        let (recorded, delivered) = case.lines.split_at(recorded(case));
        let said: Vec<RecordedMessage> =
            recorded.iter().map(|line| self.record(&mut room, line, moments(line.at))).collect();
        let chat = Chat { id: room.chat, kind: kind(case), title: Some(title(case)), username: None };
        record_in(&self.store, chat, said).await?;
        for line in delivered {
            self.say(&mut room, line, moments(line.at));
        }
        if let Some(last) = delivered.last().and_then(|line| room.ids.get(&line.number).copied()) {
            self.until_stored(case, room.chat, last).await?;
        }
        let from = self.person(&mut room, &case.asker);
        let reply_to = case.reply_to.and_then(|number| room.ids.get(&number).copied());
        let watch = self.clock.stopwatch();
        let post = Post::new(from, case.ask.as_str(), self.clock.now());
        let asked = self.sandbox.say(room.chat, reply_to.into_iter().fold(post, Post::reply_to));
        let (sent, seconds) = self.until_answered(room.chat, asked, watch).await?;
        self.described(&room, asked, &sent, seconds).await
    }

    pub fn store(&self) -> Store {
        self.store.clone()
    }

    /// Plays the messages of a day in a group, with the pauses between them, and passes what the bot says to `show`.
    pub async fn play_day(&mut self, lines: &[CaseLine], show: &impl Fn(String)) -> anyhow::Result<()> {
        let moments = self.moments();
        let chat = self.sandbox.add_chat(NewChat::supergroup(GROUP));
        let mut room = CaseChat { chat, people: HashMap::new(), ids: BTreeMap::new() };
        let mut shown = 0;
        for line in lines {
            self.live_until(moments(line.at)).await?;
            let watch = self.clock.stopwatch();
            self.say(&mut room, line, moments(line.at));
            let said = room.ids.get(&line.number).copied().unwrap_or(MessageId(0));
            if line.text.starts_with('/') || line.text.contains("@bot") {
                show(format!("> {}: {}", line.name, line.text));
                self.until_answered(chat, said, watch).await?;
            }
            let sent = self.sandbox.sent_by_bot(chat);
            sent.iter().skip(shown).for_each(|message| show(message.text.clone()));
            shown = sent.len();
        }
        self.live_until(self.clock.now()).await
    }

    /// Moves the clock in steps to `end`. After each step, waits until no job is due, so that model calls take no time.
    async fn live_until(&mut self, end: Timestamp) -> anyhow::Result<()> {
        loop {
            let mut idle = self.clock.stopwatch();
            while idle.elapsed() < IDLE {
                self.wait().await?;
                let now = self.clock.now();
                let due = self.store.read(move |conn| jobs::due(conn, now, 1, 100)).await?;
                if due.iter().any(|job| !job.kind().policy().is_periodic()) || self.sandbox.pending_updates() > 0 {
                    idle = self.clock.stopwatch();
                }
            }
            let left = end.since(self.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            self.clock.advance(left.min(STEP));
        }
    }

    /// Returns a function from seconds after midnight of the next case's day to times.
    fn moments(&mut self) -> impl Fn(i64) -> Timestamp + use<> {
        let midnight = FIRST_DAY.and_time(NaiveTime::MIN) + TimeDelta::days(DAYS_APART * self.played);
        self.played += 1;
        let zone = self.zone;
        move |seconds| zone.moment(midnight + TimeDelta::seconds(seconds))
    }

    fn open(&self, case: &Case) -> CaseChat {
        let new = match case.kind {
            CaseKind::Private => NewChat::private(case.asker.as_str()),
            _ => NewChat::supergroup(title(case)),
        };
        let chat = self.sandbox.add_chat(new);
        let mut people = HashMap::from([(BOT.to_owned(), self.sandbox.bot_id())]);
        if case.kind == CaseKind::Private {
            people.insert(case.asker.clone(), UserId(chat.0));
        }
        CaseChat { chat, people, ids: BTreeMap::new() }
    }

    fn person(&self, room: &mut CaseChat, name: &str) -> UserId {
        let (sandbox, chat) = (&self.sandbox, room.chat);
        *room.people.entry(name.to_owned()).or_insert_with(|| sandbox.add_member(chat, name))
    }

    fn say(&self, room: &mut CaseChat, line: &CaseLine, at: Timestamp) {
        let post = self.post(room, line, at);
        let id = self.sandbox.say(room.chat, post);
        room.ids.insert(line.number, id);
    }

    /// Posts a line without an update; the daemon gets it as part of the recorded history.
    fn record(&self, room: &mut CaseChat, line: &CaseLine, at: Timestamp) -> RecordedMessage {
        let post = self.post(room, line, at).silently();
        let (from, reply_to) = (post.from, post.reply_to);
        let id = self.sandbox.say(room.chat, post);
        room.ids.insert(line.number, id);
        let line = chat::ChatFileMessage {
            id: line.number,
            sent_at: at,
            name: name(line).to_owned(),
            reply_to: line.reply_to,
            text: line.text.clone(),
        };
        RecordedMessage { line, id, from, reply_to }
    }

    fn post(&self, room: &mut CaseChat, line: &CaseLine, at: Timestamp) -> Post {
        let from = self.person(room, name(line));
        let reply_to = line.reply_to.and_then(|number| room.ids.get(&number).copied());
        reply_to.into_iter().fold(Post::new(from, line.text.as_str(), at), Post::reply_to)
    }

    /// Waits a moment. Fails if the daemon ended.
    async fn wait(&mut self) -> anyhow::Result<()> {
        tokio::select! {
            ended = &mut self.finished => {
                ended?;
                bail!("the daemon ended by itself")
            }
            () = self.clock.sleep(LOOK_EVERY) => Ok(()),
        }
    }

    async fn until_stored(&mut self, case: &Case, chat: ChatId, id: MessageId) -> anyhow::Result<()> {
        let watch = self.clock.stopwatch();
        while watch.elapsed() < STORED_WITHIN {
            if self.store.read(move |conn| messages::find(conn, chat, id)).await?.is_some() {
                return Ok(());
            }
            self.wait().await?;
        }
        bail!("case {}: the daemon did not store its messages", case.id)
    }

    /// Returns the bot's final messages in reply to a question, and the seconds until the last change.
    async fn until_answered(
        &mut self,
        chat: ChatId,
        asked: MessageId,
        watch: Stopwatch,
    ) -> anyhow::Result<(Vec<SandboxMessage>, f64)> {
        let (mut sent, mut changed) = (Vec::new(), Duration::ZERO);
        let mut busy = Duration::ZERO;
        while watch.elapsed() < ANSWERED_WITHIN && watch.elapsed().saturating_sub(changed.max(busy)) < SETTLED {
            self.wait().await?;
            let mut now = self.sandbox.sent_by_bot(chat);
            now.retain(|message| message.id > asked);
            let texts = |messages: &[SandboxMessage]| -> Vec<String> {
                messages.iter().map(|message| message.text.clone()).collect()
            };
            if texts(&now) != texts(&sent) {
                changed = watch.elapsed();
            }
            sent = now;
            if self.store.read(move |conn| is_busy(conn, chat, asked)).await? {
                busy = watch.elapsed();
            }
        }
        Ok((sent, changed.as_secs_f64()))
    }

    async fn described(
        &self,
        room: &CaseChat,
        asked: MessageId,
        sent: &[SandboxMessage],
        seconds: f64,
    ) -> anyhow::Result<CaseAnswer> {
        let chat = room.chat;
        let record = self.store.read(move |conn| record_of(conn, chat, asked)).await?;
        let ids: Vec<MessageId> = sent.iter().map(|message| message.id).collect();
        let ends: Vec<_> =
            self.store.read(move |conn| ids.iter().map(|id| talk_end(conn, chat, *id)).collect()).await?;
        let (text, below) = divided(sent, &ends);
        let mut linked: Vec<MessageId> = sent.iter().flat_map(|message| links(message, chat)).collect();
        let mut answer = CaseAnswer { text, below, is_apology: true, seconds, ..CaseAnswer::default() };
        if let Some(Record { status, sources, prompt_tokens, answer_tokens }) = record {
            linked.extend(sources);
            let is_apology = matches!(status, AnswerStatus::Offline | AnswerStatus::Apologised);
            answer = CaseAnswer { is_apology, prompt_tokens, answer_tokens, ..answer };
        }
        answer.links = room.ids.iter().filter(|(_, id)| linked.contains(id)).map(|(number, _)| *number).collect();
        Ok(answer)
    }
}

/// Relevant fields of an answer record.
struct Record {
    status: AnswerStatus,
    sources: Vec<MessageId>,
    prompt_tokens: u64,
    answer_tokens: u64,
}

fn record_of(conn: &Reader, chat: ChatId, asked: MessageId) -> chime_store::Result<Option<Record>> {
    let Some(trigger) = messages::find(conn, chat, asked)? else { return Ok(None) };
    let Some(record) = answers::to_trigger(conn, trigger.chat, trigger.seq)? else { return Ok(None) };
    let cited = record.sources.iter().filter_map(|source| source.id.trim_start_matches('m').parse().ok().map(Seq));
    let sources = messages::by_seqs(conn, trigger.chat, cited)?;
    Ok(Some(Record {
        status: record.status,
        sources: sources.into_iter().map(|stored| stored.message.id).collect(),
        prompt_tokens: record.tokens.prompt,
        answer_tokens: record.tokens.completion,
    }))
}

/// Returns the byte at which the answer in a message ends, if there is more text below it.
fn talk_end(conn: &Reader, chat: ChatId, message: MessageId) -> chime_store::Result<Option<usize>> {
    let part = outbox::by_message(conn, chat, message)?;
    part.map_or(Ok(None), |part| outbox::talk_end(conn, part.id))
}

/// Splits the messages into the answer and the text below it, which begins with the list of sources.
fn divided(sent: &[SandboxMessage], ends: &[Option<usize>]) -> (String, String) {
    let (mut text, mut below) = (Vec::new(), Vec::new());
    for (message, end) in sent.iter().zip(ends) {
        let end = end.filter(|end| message.text.is_char_boundary(*end)).unwrap_or(message.text.len());
        let (answer, rest) = message.text.split_at(end);
        // `Sources: [1] Ana 21 Apr 20:30`: a date of it is no part of the answer.
        let is_list = |(_, last): &(&str, &str)| last.split_once(": [1]").is_some_and(|(head, _)| !head.contains('\n'));
        let (answer, sources) = answer.rsplit_once("\n\n").filter(is_list).unwrap_or((answer, ""));
        text.push(answer);
        below.extend([sources, rest.trim()]);
    }
    (text.join("\n"), below.join("\n").trim().to_owned())
}

/// Returns `true` while the question is not stored or jobs for it are open.
fn is_busy(conn: &Reader, chat: ChatId, asked: MessageId) -> chime_store::Result<bool> {
    let is_stored = messages::find(conn, chat, asked)?.is_some();
    let due: chime_store::Result<Vec<bool>> = WORK.into_iter().map(|kind| jobs::is_any_due(conn, kind, chat)).collect();
    Ok(!is_stored || due?.contains(&true))
}

/// Returns the messages of `chat` that a message links to.
fn links(message: &SandboxMessage, chat: ChatId) -> Vec<MessageId> {
    let urls = message.entities.iter().filter_map(|entity| match &entity.kind {
        EntityKind::TextLink { url } => parse_message_link(url),
        _ => None,
    });
    urls.filter_map(|place| match place {
        MessagePlace::Ids(of, id) if of == chat => Some(id),
        MessagePlace::Ids(..) | MessagePlace::Public { .. } => None,
    })
    .collect()
}

/// Builds the configuration from the environment, with the addresses of this run and the `defaults`.
fn configuration(
    server: &EvalServer,
    defaults: &[(&'static str, &str)],
    sandbox: &Sandbox,
    folder: &Path,
) -> anyhow::Result<Config> {
    let environment = Environment::read(&std::env::current_dir()?);
    let is_unset = |name: &str| {
        let settings = environment.settings();
        KEYS.iter().any(|key| key.name == name && settings.raw(key).is_none())
    };
    let defaults = defaults.iter().filter(|(name, _)| is_unset(name)).map(|(name, value)| (*name, (*value).to_owned()));
    let place = [
        ("TELEGRAM_API_URL", sandbox.api_url()),
        ("TELEGRAM_BOT_TOKEN", sandbox.token().to_owned()),
        ("DATABASE_PATH", folder.join("eval.db").display().to_string()),
        ("OPENAI_BASE_URL", server.url.clone()),
        ("MODEL", server.model.clone()),
        ("ALLOWED_CHATS", "*".to_owned()),
        ("PRIVATE_CHATS", "all".to_owned()),
        ("HTTP_ADDR", "off".to_owned()),
        // Short, so that stopping does not wait for a poll.
        ("POLL_TIMEOUT", "2s".to_owned()),
    ];
    let given: Vec<(String, String)> =
        place.into_iter().chain(defaults).map(|(name, value)| (name.to_owned(), value)).collect();
    let config = Config::load(&environment.with(given).settings())?;
    // These chats have no real members to inform.
    Ok(Config { privacy: PrivacyConfig { announces: false, ..config.privacy.clone() }, ..config })
}

/// Returns the number of lines that are recorded before the start: all lines of a private chat, and in a group those up
/// to the last line that the bot wrote or would answer.
fn recorded(case: &Case) -> usize {
    if case.kind == CaseKind::Private {
        return case.lines.len();
    }
    let is_for_bot = |line: &CaseLine| {
        let parent = line.reply_to.and_then(|number| case.line(number));
        let is_named = line.text.split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case(BOT));
        line.is_of_bot() || is_named || parent.is_some_and(CaseLine::is_of_bot)
    };
    case.lines.iter().rposition(is_for_bot).map_or(0, |last| last + 1)
}

/// Returns the sender's name; for the bot, its name in the demo.
fn name(line: &CaseLine) -> &str {
    if line.is_of_bot() { BOT } else { &line.name }
}

fn title(case: &Case) -> String {
    case.title.clone().unwrap_or_else(|| GROUP.to_owned())
}

fn kind(case: &Case) -> ChatKind {
    if case.kind == CaseKind::Private { ChatKind::Private } else { ChatKind::Supergroup }
}
