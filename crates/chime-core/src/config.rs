//! Operator settings, parsed and validated as a whole before the program starts.
//!
//! [`KEYS`] lists all names. Call [`Environment::read`], then [`Config::load`]; tests pass a map to [`Settings::new`].
//! Secrets never appear in errors, log lines or `Debug` output.

mod environment;
mod keys;
mod load;
mod problem;
mod settings;
mod units;

mod access;
mod components;
mod limits;
mod llm;
mod memory;
mod privacy;
mod telegram;

pub use access::{AccessConfig, AllowedChats, PrivateChats};
pub use components::{
    AnswerConfig, BackupConfig, ConsoleConfig, ContextConfig, ContextTokens, EmbeddingConfig, HttpConfig, IngestConfig,
    LogConfig, LogFormat, PromptConfig, StoreConfig, Streaming, TimeConfig, WebSearchConfig, WebSearchService,
};
pub use environment::Environment;
pub use keys::{KEYS, Key};
pub use limits::{DailyTokens, LimitsConfig, Prices, RateLimit};
pub use llm::{ListedModel, LlmConfig, ModelConfig, ModelServerConfig, host_of};
pub use load::{Config, DemoPlace};
pub use memory::{MemoryConfig, Redaction, SessionIdle};
pub use privacy::{PrivacyConfig, retention};
pub use problem::{ConfigError, Problem, Warning};
pub use settings::{SettingInForce, Settings};
pub use telegram::TelegramConfig;
pub use units::{format_duration, parse_amount, parse_duration, rounded_size};
