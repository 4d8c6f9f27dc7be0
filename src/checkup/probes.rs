//! Runs the checks, in this order: this machine, Telegram, the model.

mod sample;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::checkup::judge::{self, Ability, ModelSettings, Obstacle, PortState};
use crate::checkup::{CheckFinding, Severity};
use chime_core::Chat;
use chime_core::config::{
    AccessConfig, AnswerConfig, BackupConfig, Config, ConfigError, ConsoleConfig, EmbeddingConfig, Environment,
    HttpConfig, LlmConfig, ModelConfig, PromptConfig, Settings, StoreConfig, TelegramConfig, WebSearchConfig,
};
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_links::{UnreadablePage, WebSearch};
use chime_llm::{Embeddings, Llm, LlmOptions, Transcriptions};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;
use chime_store::admission::{self, Admitted};
use chime_store::disk::{folder_of, free_space};
use chime_store::embedding_spaces::{self, VectorCoverage};
use chime_store::jobs::ParkedJob;
use chime_store::{Reader, Store, backups, chats, inbox, inspect, jobs};
use chime_telegram::{MemberStatus, Telegram, TelegramError};

/// Maximum number of groups whose settings are checked. If there are more, these are enough to show a wrong setting.
const GROUPS: u32 = 50;
/// Maximum number of parked jobs that are loaded.
const PARKED: u32 = 10;
/// Maximum time for a search of the web, as in answers.
const SEARCH_PATIENCE: Duration = Duration::from_secs(10);

/// Run of all checks.
#[derive(Debug)]
pub struct Checkup<'a> {
    pub environment: &'a Environment,
    pub clock: Clock,
    /// `true` to check only this machine, without requests to Telegram or the model.
    pub offline: bool,
}

/// Contents of the database that several checks need.
#[derive(Debug, Default)]
struct DatabaseContents {
    groups: Vec<Chat>,
    admitted: Admitted,
    open: u64,
    parked: Vec<ParkedJob>,
    all_parked: u64,
    parked_updates: u64,
    /// Number of texts with vectors; `None` if there is no embedding model.
    vectors: Option<VectorCoverage>,
}

impl Checkup<'_> {
    /// Runs all checks and passes each finding to `tell` at once. Returns the worst severity. An error in one part of
    /// the configuration does not prevent the checks of the other parts.
    pub async fn run(&self, mut tell: impl FnMut(&CheckFinding)) -> Severity {
        let mut worst = Severity::Ok;
        let mut tell = |finding: CheckFinding| {
            worst = worst.max(finding.severity);
            tell(&finding);
        };
        self.config().into_iter().for_each(&mut tell);
        let mut kept = DatabaseContents::default();
        if let Some(StoreConfig { path, backups }) = self.valid(StoreConfig::load) {
            kept = self.database(&path, &mut tell).await;
            if let Some(BackupConfig { folder, .. }) = backups {
                let now = self.clock.now();
                let copies = backups::daily(&path, &folder, now);
                judge::backups(&folder, is_writable(&folder), &copies, now).into_iter().for_each(&mut tell);
            } else {
                tell(judge::no_backups());
            }
        }
        if let Some(access) = self.valid(AccessConfig::load) {
            tell(judge::access(&access, kept.admitted));
        }
        if let Some(embedding @ EmbeddingConfig::Model2Vec(folder)) = &self.valid(EmbeddingConfig::load) {
            tell(judge::model_of_folder(folder, &Embedder::load(embedding)));
        }
        let listening = [
            ("HTTP_ADDR", self.valid(HttpConfig::load).and_then(|config| config.address)),
            ("CONSOLE_ADDR", self.valid(ConsoleConfig::load).and_then(|config| config.address)),
        ];
        for (key, address) in listening {
            if let Some(address) = address {
                tell(judge::port_state(key, &address, &port_state(address).await));
            }
        }
        if let Some(PromptConfig { dir: Some(folder) }) = self.valid(PromptConfig::load) {
            tell(judge::prompts(&folder, &templates(&folder)));
        }
        if self.offline {
            return worst;
        }
        if let Some(telegram) = self.valid(TelegramConfig::load) {
            self.telegram(telegram, kept.groups, &mut tell).await;
        }
        if let Some(llm) = self.valid(LlmConfig::load) {
            if let (Some(EmbeddingConfig::OpenAi(model)), Some(_)) = (self.valid(EmbeddingConfig::load), &llm.model) {
                self.embeddings(&llm, model, &mut tell).await;
            }
            self.transcriptions(&llm, &mut tell).await;
            self.other_models(&llm, &mut tell).await;
            self.model(&llm, &mut tell).await;
            self.summaries(&llm).await.into_iter().for_each(&mut tell);
        }
        if let Some(AnswerConfig { web: Some(web), .. }) = self.valid(AnswerConfig::load) {
            tell(self.web_search(web).await);
        }
        worst
    }

    /// Returns the part of the configuration that `load` reads; `None` if a setting in it is invalid.
    fn valid<T>(&self, load: impl FnOnce(&Settings<'_>) -> T) -> Option<T> {
        let settings = self.environment.settings();
        settings.finish(load(&settings)).ok().map(|(config, _)| config)
    }

    /// Returns the name under which the vectors of the configured embedding model are stored; `None` without a model.
    fn embedding_model(&self) -> Option<String> {
        match self.valid(EmbeddingConfig::load)? {
            EmbeddingConfig::OpenAi(model) => Some(model.name),
            local => Some(Embedder::load(&local).ok()??.name().to_owned()),
        }
    }

    fn config(&self) -> Vec<CheckFinding> {
        let (problems, mut warnings) = match Config::load(&self.environment.settings()) {
            Ok(Config { warnings, .. }) => (Vec::new(), warnings),
            Err(ConfigError { problems }) => (problems, Vec::new()),
        };
        warnings.extend(self.environment.warnings());
        if problems.is_empty() && warnings.is_empty() {
            return vec![CheckFinding::ok("config", "every setting is valid")];
        }
        problems.iter().map(judge::problem).chain(warnings.iter().map(judge::warning)).collect()
    }

    async fn database(&self, path: &Path, tell: &mut impl FnMut(CheckFinding)) -> DatabaseContents {
        if let Some(found) = obstacle(path) {
            tell(judge::obstacle(path, found));
            return DatabaseContents::default();
        }
        let inspected = inspect(path);
        let bytes = inspected.as_ref().map_or(0, |inspection| inspection.bytes);
        let is_readable = inspected.as_ref().is_ok_and(|found| found.damage.is_none() && found.version == found.known);
        tell(judge::database(path, &inspected));
        tell(judge::disk(free_space(folder_of(path)).ok(), bytes));
        if !is_readable {
            return DatabaseContents::default();
        }
        let read = match Store::open_to_read(path) {
            Ok(store) => {
                let model = self.embedding_model();
                let access = self.valid(AccessConfig::load).unwrap_or_else(AccessConfig::open);
                store.read(move |conn| look(conn, model.as_deref(), &access)).await
            }
            Err(error) => Err(error),
        };
        match read {
            Ok(kept) => {
                tell(judge::jobs(kept.open, &kept.parked, kept.all_parked));
                judge::updates(kept.parked_updates).into_iter().for_each(&mut *tell);
                kept.vectors.iter().for_each(|coverage| tell(judge::vectors(coverage)));
                kept
            }
            Err(error) => {
                tell(judge::database(path, &Err(error)));
                DatabaseContents::default()
            }
        }
    }

    async fn telegram(&self, config: TelegramConfig, groups: Vec<Chat>, tell: &mut impl FnMut(CheckFinding)) {
        let telegram = match Telegram::new(config) {
            Ok(telegram) => telegram,
            Err(error) => return tell(judge::telegram(&Err(error))),
        };
        let met = telegram.get_me().await;
        let now = self.clock.now();
        tell(judge::telegram(&met));
        if let Some(date) = telegram.server_date() {
            tell(judge::clock(now.since(date), date.since(now)));
        }
        let Ok(bot) = met else { return };
        tell(judge::webhook(&telegram.webhook_host().await));
        let mut known = Vec::new();
        for chat in groups {
            let status = match telegram.get_chat_member(chat.id, bot.id).await {
                Err(TelegramError::Gone { .. }) => Some(MemberStatus::Outside),
                status => status.ok(),
            };
            known.push((chat, status));
        }
        judge::privacy(&bot, &known).into_iter().for_each(tell);
    }

    async fn embeddings(&self, config: &LlmConfig, model: ModelConfig, tell: &mut impl FnMut(CheckFinding)) {
        let options = LlmOptions::placed(config, &model);
        let watch = self.clock.stopwatch();
        let made = match Embeddings::new(&options, str::to_owned) {
            Ok(embeddings) => embeddings.embed(&["ready"], &self.clock).await,
            Err(error) => Err(error),
        };
        let dimension = made.map(|vectors| vectors.first().map_or(0, Vec::len));
        tell(judge::embeddings(&model.name, dimension.as_ref().copied(), watch.elapsed()));
    }

    async fn transcriptions(&self, config: &LlmConfig, tell: &mut impl FnMut(CheckFinding)) {
        let (Some(model), false) = (&config.model_transcribe, config.is_offline()) else { return };
        let watch = self.clock.stopwatch();
        let heard = match Transcriptions::new(&LlmOptions::placed(config, model)) {
            Ok(transcriptions) => transcriptions.probe(&self.clock).await,
            Err(error) => Err(error),
        };
        tell(judge::transcriptions(&model.name, heard.as_ref().copied(), watch.elapsed()));
    }

    /// Asks the summary model, and each model that admins may choose, for one word.
    async fn other_models(&self, config: &LlmConfig, tell: &mut impl FnMut(CheckFinding)) {
        let listed = config.models.iter().map(|listed| ("MODELS", ModelConfig::named(listed.name.clone())));
        let is_other = |model: &ModelConfig| model.server.is_some() || Some(&model.name) != config.model.as_ref();
        let others = config.model_summary.iter().cloned().map(|model| ("MODEL_SUMMARY", model)).chain(listed);
        for (setting, model) in others.filter(|(_, model)| !config.is_offline() && is_other(model)) {
            let settings = ModelSettings::of(setting, model.server.is_some());
            match Llm::new(LlmOptions::placed(config, &model)) {
                Ok(Llm::OpenAi(server)) => {
                    for (name, asked) in server.probe_chat(&self.clock).await {
                        tell(judge::model(name, &settings, asked.as_ref().copied()));
                    }
                }
                Ok(Llm::Offline) => {}
                Err(error) => tell(judge::model(&model.name, &settings, Err(&error))),
            }
        }
    }

    /// Searches the web for one word.
    async fn web_search(&self, config: WebSearchConfig) -> CheckFinding {
        let host = config.host().unwrap_or_default();
        let watch = self.clock.stopwatch();
        let searching = async {
            let search = WebSearch::new(config).map_err(|_| UnreadablePage::Unreachable)?;
            Ok(search.search("weather").await?.len())
        };
        let found = within(&self.clock, SEARCH_PATIENCE, searching).await.unwrap_or(Err(UnreadablePage::TooSlow));
        judge::web_search(&host, found, watch.elapsed())
    }

    /// Reports if the model that would write summaries is too small for it.
    async fn summaries(&self, config: &LlmConfig) -> Option<CheckFinding> {
        let answering = || config.model.clone().map(ModelConfig::named);
        let model = config.model_summary.clone().or_else(answering)?;
        let Ok(Llm::OpenAi(server)) = Llm::new(LlmOptions::placed(config, &model)) else { return None };
        server.discover(&self.clock).await;
        server.is_small().then(|| judge::small_summary_model(&model.name))
    }

    async fn model(&self, config: &LlmConfig, tell: &mut impl FnMut(CheckFinding)) {
        let Some(model) = config.model.clone() else { return tell(judge::no_model()) };
        let settings = ModelSettings::of("MODEL", false);
        let of_fallback =
            config.model_fallback.as_ref().map(|spare| ModelSettings::of("MODEL_FALLBACK", spare.server.is_some()));
        let options = LlmOptions { fallback: config.model_fallback.clone(), ..LlmOptions::of(config, &model) };
        let server = match Llm::new(options) {
            Ok(Llm::OpenAi(server)) => server,
            Ok(Llm::Offline) => return tell(judge::no_model()),
            Err(error) => return tell(judge::model(&model, &settings, Err(&error))),
        };
        let mut answers = false;
        // The fallback is asked second.
        for ((name, asked), settings) in
            server.probe_chat(&self.clock).await.into_iter().zip([Some(settings), of_fallback])
        {
            answers = answers || asked.is_ok();
            let settings = settings.unwrap_or_else(|| ModelSettings::of("MODEL", false));
            tell(judge::model(name, &settings, asked.as_ref().copied()));
        }
        // Tools can only be checked if the server answers at all.
        if answers {
            tell(judge::ability(Ability::Tools, &server.probe_tools(&self.clock).await));
            tell(judge::ability(Ability::Streaming, &server.probe_streaming(&self.clock).await));
            self.answers(&server).await.into_iter().for_each(tell);
        }
    }
}

fn look(conn: &Reader, model: Option<&str>, access: &AccessConfig) -> chime_store::Result<DatabaseContents> {
    let (open, all_parked) = jobs::counts(conn)?;
    let groups = chats::groups(conn, GROUPS)?.into_iter().map(|row| row.chat).collect();
    let admitted = admission::count_further(conn, access)?;
    let vectors = model.map(|model| embedding_spaces::coverage(conn, model)).transpose()?;
    let (parked, parked_updates) = (jobs::parked(conn, PARKED)?, inbox::counts(conn)?.1);
    Ok(DatabaseContents { groups, admitted, open, parked, all_parked, parked_updates, vectors })
}

/// Returns the reason why the database cannot be used at `path`, if one can be seen without opening the file.
fn obstacle(path: &Path) -> Option<Obstacle> {
    use rustix::fs::{Access, access};
    let folder = folder_of(path);
    if path.is_dir() {
        Some(Obstacle::IsFolder)
    } else if !folder.is_dir() {
        Some(Obstacle::NoFolder)
    } else if access(folder, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        Some(Obstacle::LockedFolder)
    } else if path.exists() && access(path, Access::READ_OK).is_err() {
        Some(Obstacle::Unreadable)
    } else {
        None
    }
}

/// Returns `true` if this user can write in `folder`, or create it.
fn is_writable(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    let place = if folder.exists() { folder } else { folder_of(folder) };
    place.is_dir() && access(place, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Checks whether `address` is free, or used by a running Chime, or by another program.
async fn port_state(address: SocketAddr) -> PortState {
    let error = match TcpListener::bind(address).await {
        Ok(_) => return PortState::Free,
        Err(error) => error,
    };
    if error.kind() != ErrorKind::AddrInUse {
        return PortState::Unusable(error.to_string());
    }
    // Only responses of Chime contain this field, or name this setting.
    match answer_at(address).await {
        Ok(answer) if answer.contains("last_poll_age_s") || answer.contains("CONSOLE_URL") => PortState::Ours,
        Ok(_) | Err(_) => PortState::Taken,
    }
}

/// Requests `/healthz` from `address` and returns the response.
async fn answer_at(address: SocketAddr) -> std::io::Result<String> {
    /// Limits the wait, since another program may accept the connection and never respond.
    const PATIENCE: Duration = Duration::from_secs(2);
    let asked = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: chime\r\nConnection: close\r\n\r\n").await?;
        let mut answer = Vec::new();
        stream.take(64 * 1024).read_to_end(&mut answer).await?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    within(&Clock::system(), PATIENCE, asked).await.unwrap_or_else(|| Err(ErrorKind::TimedOut.into()))
}

/// Returns the number of templates in `folder` and the placeholders missing in them. Returns an error if a template
/// cannot be used.
fn templates(folder: &Path) -> Result<(usize, Vec<String>), String> {
    let prompts = Prompts::load(Some(folder)).map_err(|error| error.to_string())?;
    let files = std::fs::read_dir(folder).map_err(|error| error.to_string())?.flatten();
    let count = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "md")).count();
    Ok((count, prompts.gaps().to_vec()))
}
