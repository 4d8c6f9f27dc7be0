//! Configuration of components that need only a few settings each.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tracing::level_filters::LevelFilter;

use crate::config::keys::{self, Key};
use crate::config::llm::{ModelConfig, host_of};
use crate::config::settings::{Settings, base_url};
use crate::{ChatKind, LinkReading, Zone};

const DAY: Duration = Duration::from_hours(24);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    pub path: PathBuf,
    /// `None` if no daily backups are made.
    pub backups: Option<BackupConfig>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupConfig {
    pub folder: PathBuf,
    pub kept: usize,
}

impl StoreConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let folder = settings.optional(&keys::BACKUP_DIR, "the path of a folder", |raw| Some(PathBuf::from(raw)));
        let kept = settings.count(&keys::BACKUP_KEEP, 1..=30);
        Self {
            path: settings.required(&keys::DATABASE_PATH, "the path of a file", |raw| Some(PathBuf::from(raw))),
            backups: folder.map(|folder| BackupConfig { folder, kept }),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub enum EmbeddingConfig {
    /// The model that is compiled into the program.
    #[default]
    Local,
    Off,
    /// Another static model, loaded from this directory.
    Model2Vec(PathBuf),
    /// A model of a server.
    OpenAi(ModelConfig),
}

impl EmbeddingConfig {
    /// Returns the embedding model if it runs on a server, otherwise `None`.
    pub fn server_model(&self) -> Option<&ModelConfig> {
        match self {
            Self::OpenAi(model) => Some(model),
            Self::Local | Self::Off | Self::Model2Vec(_) => None,
        }
    }

    pub fn load(settings: &Settings<'_>) -> Self {
        let parse = |raw: &str| match raw.split_once(':') {
            None if raw.eq_ignore_ascii_case("local") => Some(Self::Local),
            None if raw.eq_ignore_ascii_case("off") => Some(Self::Off),
            Some(("model2vec", folder)) if !folder.is_empty() => Some(Self::Model2Vec(PathBuf::from(folder))),
            Some(("openai", model)) => ModelConfig::parse(model).map(Self::OpenAi),
            None | Some(_) => None,
        };
        let chosen =
            settings.required(&keys::EMBEDDING, "local, off, model2vec: and a folder, or openai: and a model", parse);
        let has_server =
            [&keys::OPENAI_API_KEY, &keys::OPENAI_BASE_URL].into_iter().any(|key| settings.raw(key).is_some());
        if matches!(chosen, Self::OpenAi(_)) && !has_server {
            settings.warn(
                &keys::EMBEDDING,
                "has no effect without OPENAI_API_KEY or OPENAI_BASE_URL; messages are compared by their words alone",
            );
        }
        let model = ModelConfig::with_key(chosen.server_model().cloned(), settings, &keys::EMBEDDING_KEY);
        model.map_or(chosen, Self::OpenAi)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextConfig {
    pub tokens: ContextTokens,
    pub lookback_limit: usize,
    pub time_threshold: Duration,
}

impl ContextConfig {
    /// Environment variables that influence which messages are chosen.
    pub const KEYS: [&Key; 4] = [&keys::CONTEXT_TOKENS, &keys::LOOKBACK_LIMIT, &keys::TIME_THRESHOLD, &keys::EMBEDDING];

    pub fn load(settings: &Settings<'_>) -> Self {
        let allowed = "auto, or a whole number from 100 to 1000000";
        Self {
            tokens: settings.required(&keys::CONTEXT_TOKENS, allowed, ContextTokens::parse),
            lookback_limit: settings.count(&keys::LOOKBACK_LIMIT, 1..=1000),
            time_threshold: settings.duration(&keys::TIME_THRESHOLD, Duration::from_secs(1)..=DAY * 365),
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ContextTokens {
    /// As many tokens as the model server reads in about eight seconds, 600 to 6000.
    #[default]
    Auto,
    Fixed(usize),
}

impl ContextTokens {
    /// Returns the token budget to use if the reading speed of the server is unknown.
    pub fn or_default(self) -> usize {
        match self {
            Self::Auto => 1600,
            Self::Fixed(tokens) => tokens,
        }
    }

    fn parse(raw: &str) -> Option<Self> {
        if raw.eq_ignore_ascii_case("auto") {
            return Some(Self::Auto);
        }
        raw.parse().ok().filter(|tokens| (100..=1_000_000).contains(tokens)).map(Self::Fixed)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeConfig {
    pub zone: Zone,
}

impl TimeConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let allowed = "a time zone by its IANA name such as Europe/Berlin, or UTC";
        let named = settings.optional(&keys::TIME_ZONE, allowed, Zone::parse);
        Self { zone: named.unwrap_or_else(|| machine_zone(settings)) }
    }
}

/// Returns the time zone from `TZ` or the system, or UTC if neither names one.
fn machine_zone(settings: &Settings<'_>) -> Zone {
    let of_process = settings.value_of("TZ").and_then(|name| Zone::parse(name.trim_start_matches(':')));
    let of_system = || iana_time_zone::get_timezone().ok().and_then(|name| Zone::parse(&name));
    of_process.or_else(of_system).unwrap_or(Zone::UTC)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestConfig {
    pub backlog_max_age: Duration,
}

impl IngestConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        Self { backlog_max_age: settings.duration(&keys::BACKLOG_MAX_AGE, Duration::ZERO..=DAY * 28) }
    }
}

#[derive(Debug, Clone)]
pub struct AnswerConfig {
    pub streaming: Streaming,
    pub links: LinkReading,
    pub web: Option<WebSearchConfig>,
    /// Servers of a test, by host name, which may be used although they are not public. No setting fills this field.
    pub test_servers: BTreeMap<String, SocketAddr>,
    /// Path of the program `chime`, for a test that runs the daemon inside another program. No setting fills this
    /// field.
    pub test_program: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub struct WebSearchConfig {
    pub service: WebSearchService,
    pub key: Option<SecretString>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebSearchService {
    /// Address of a SearXNG server, without a trailing slash.
    SearXng(String),
    Brave,
    Tavily,
    Exa,
}

impl WebSearchConfig {
    fn load(settings: &Settings<'_>) -> Option<Self> {
        let parse = |raw: &str| match raw.to_lowercase().as_str() {
            "off" => Some(None),
            "brave" => Some(Some(WebSearchService::Brave)),
            "tavily" => Some(Some(WebSearchService::Tavily)),
            "exa" => Some(Some(WebSearchService::Exa)),
            _ => Some(Some(WebSearchService::SearXng(base_url(raw)?))),
        };
        let allowed = "off, the address of a SearXNG server, or brave, tavily or exa";
        let service = settings.required(&keys::WEB_SEARCH, allowed, parse);
        let key = settings.secret(&keys::WEB_SEARCH_KEY, "the key that the search service gave you, without spaces");
        let service = service?;
        if settings.raw(&keys::WEB_SEARCH_KEY).is_none() && !matches!(service, WebSearchService::SearXng(_)) {
            settings.refuse(&keys::WEB_SEARCH_KEY, "the key of the service that WEB_SEARCH names");
        }
        Some(Self { service, key })
    }

    pub fn host(&self) -> Option<String> {
        let base = match &self.service {
            WebSearchService::SearXng(base) => base,
            WebSearchService::Brave => "https://api.search.brave.com",
            WebSearchService::Tavily => "https://api.tavily.com",
            WebSearchService::Exa => "https://api.exa.ai",
        };
        host_of(base)
    }
}

/// Chats in which answers are shown while they are generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streaming {
    Off,
    Private,
    All,
}

impl Streaming {
    /// Returns `true` if answers are streamed in chats of `kind` that have no setting of their own.
    pub fn in_chats_of(self, kind: ChatKind) -> bool {
        match self {
            Self::Off => false,
            Self::Private => kind == ChatKind::Private,
            Self::All => true,
        }
    }
}

impl AnswerConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let choices = [("off", Streaming::Off), ("private", Streaming::Private), ("all", Streaming::All)];
        Self {
            streaming: settings.choice(&keys::STREAMING, &choices),
            links: settings.choice(&keys::LINKS, &LinkReading::ALL.map(|reading| (reading.as_str(), reading))),
            web: WebSearchConfig::load(settings),
            test_servers: BTreeMap::new(),
            test_program: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    pub format: LogFormat,
    pub level: LevelFilter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable on a terminal, JSON otherwise.
    Auto,
    Human,
    Json,
}

impl LogConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let choices = [("auto", LogFormat::Auto), ("human", LogFormat::Human), ("json", LogFormat::Json)];
        let levels = [
            ("error", LevelFilter::ERROR),
            ("warn", LevelFilter::WARN),
            ("info", LevelFilter::INFO),
            ("debug", LevelFilter::DEBUG),
            ("trace", LevelFilter::TRACE),
        ];
        Self { format: settings.choice(&keys::LOG_FORMAT, &choices), level: settings.choice(&keys::LOG_LEVEL, &levels) }
    }
}

/// Settings of the HTTP endpoint for health checks and metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpConfig {
    pub address: Option<SocketAddr>,
}

impl HttpConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        Self { address: listening_address(settings, &keys::HTTP_ADDR) }
    }
}

fn listening_address(settings: &Settings<'_>, key: &Key) -> Option<SocketAddr> {
    let allowed = format!("an address and a port such as {}, or off", key.example);
    settings.required(key, &allowed, |raw| match raw {
        off if off.eq_ignore_ascii_case("off") => Some(None),
        address => address.parse().ok().map(Some),
    })
}

#[derive(Debug, Clone)]
pub struct ConsoleConfig {
    pub address: Option<SocketAddr>,
    /// `CONSOLE_URL`, without a slash at its end.
    pub url: Option<String>,
    /// `CONSOLE_TOKEN`. Without it, chats cannot be read as JSON.
    pub token: Option<SecretString>,
}

impl ConsoleConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        const SHORTEST_TOKEN: usize = 32;
        let address = listening_address(settings, &keys::CONSOLE_ADDR);
        let url = settings.raw(&keys::CONSOLE_URL).map(|_| settings.url(&keys::CONSOLE_URL));
        let allowed = "at least 32 letters, digits and signs without spaces";
        let token = settings.secret(&keys::CONSOLE_TOKEN, allowed);
        if token.as_ref().is_some_and(|token| token.expose_secret().len() < SHORTEST_TOKEN) {
            settings.refuse(&keys::CONSOLE_TOKEN, allowed);
        }
        let has_tls = url.as_ref().is_some_and(|url| url.starts_with("https://"));
        if address.is_some_and(|address| !address.ip().is_loopback()) && !has_tls {
            settings.warn(
                &keys::CONSOLE_ADDR,
                "listens for other machines without TLS: what members wrote can be read on the way; \
                 listen at 127.0.0.1, or set CONSOLE_URL to the https:// address of a proxy",
            );
        }
        Self { address, url, token }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptConfig {
    pub dir: Option<PathBuf>,
}

impl PromptConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        Self { dir: settings.optional(&keys::PROMPTS_DIR, "the path of a folder", |raw| Some(PathBuf::from(raw))) }
    }
}
