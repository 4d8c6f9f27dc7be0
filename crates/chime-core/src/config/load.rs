//! The complete configuration, composed of one struct per concern.

use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};

use crate::config::problem::{ConfigError, Warning};
use crate::config::settings::{SettingInForce, Settings};
use crate::config::{
    AccessConfig, AnswerConfig, ConsoleConfig, ContextConfig, EmbeddingConfig, HttpConfig, IngestConfig, LimitsConfig,
    LlmConfig, LogConfig, MemoryConfig, PrivacyConfig, PromptConfig, StoreConfig, TelegramConfig, TimeConfig,
};

/// Declares the configuration with its sections, and the function that reads them.
macro_rules! sections {
    ($($field:ident: $section:ident),+ $(,)?) => {
        #[derive(Debug, Clone)]
        pub struct Config {
            $(pub $field: $section,)+
            /// Warnings about valid settings that are probably a mistake, shown once at start.
            pub warnings: Vec<Warning>,
            /// All settings as they were read, for the owners' page.
            pub in_force: Vec<SettingInForce>,
        }

        impl Config {
            fn read(settings: &Settings<'_>) -> Self {
                Self {
                    $($field: $section::load(settings),)+
                    warnings: Vec::new(),
                    in_force: settings.in_force(),
                }
            }
        }
    };
}

sections! {
    telegram: TelegramConfig,
    llm: LlmConfig,
    store: StoreConfig,
    access: AccessConfig,
    privacy: PrivacyConfig,
    context: ContextConfig,
    time: TimeConfig,
    embedding: EmbeddingConfig,
    ingest: IngestConfig,
    answer: AnswerConfig,
    limits: LimitsConfig,
    memory: MemoryConfig,
    log: LogConfig,
    http: HttpConfig,
    console: ConsoleConfig,
    prompts: PromptConfig,
}

/// Address of the demo's embedded Telegram, and path of its database.
#[derive(Debug, Clone)]
pub struct DemoPlace {
    pub api_url: String,
    pub token: SecretString,
    pub database: PathBuf,
}

impl Config {
    /// Reads all settings. Returns an error with all problems, not only the first.
    pub fn load(settings: &Settings<'_>) -> Result<Self, ConfigError> {
        let (config, warnings) = settings.finish(Self::read(settings))?;
        Ok(Self { warnings, ..config })
    }

    /// Returns the configuration of the demo. It takes only the model settings (`OPENAI_*`, `MODEL*`, `EMBEDDING`), the
    /// time zone and the sizes of prompts and sessions from the operator. The rest is `place`, defaults and open access;
    /// messages are kept for good, since a chat file may be old.
    pub fn for_demo(settings: &Settings<'_>, place: &DemoPlace) -> Result<Self, ConfigError> {
        let demo = Settings::new(|name| match name {
            "TELEGRAM_API_URL" => Some(place.api_url.clone()),
            "TELEGRAM_BOT_TOKEN" => Some(place.token.expose_secret().to_owned()),
            model
                if model.starts_with("OPENAI_")
                    || model.starts_with("MODEL")
                    || matches!(model, "EMBEDDING" | "TZ" | "TIME_ZONE" | "CONTEXT_TOKENS" | "SESSION_IDLE") =>
            {
                settings.value_of(model)
            }
            "RETENTION_DAYS" => Some("0".to_owned()),
            _ => None,
        })
        .with_problems(settings.noted());
        let config = Self::load(&demo)?;
        Ok(Self {
            store: StoreConfig { path: place.database.clone(), backups: None },
            access: AccessConfig::open(),
            limits: LimitsConfig::open(),
            // The chat of the demo has no members who need a notice, only the user who started it.
            privacy: PrivacyConfig { announces: false, ..config.privacy.clone() },
            ..config
        })
    }
}
