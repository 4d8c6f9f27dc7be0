//! What the operator set, typed and checked whole before anything starts.
//!
//! *Owns*: the names in [`KEYS`], one struct per concern, how durations, sizes, ids and secrets are written, the `.env` file.
//! *Never*: passed whole into a room (each receives its own struct); a secret in an error, a log line or `Debug`.
//! *Entry*: [`Environment::read`] then [`Config::load`]; tests hand [`Settings::new`] a map instead.

mod environment;
mod keys;
mod load;
mod problem;
mod settings;
mod units;

mod access;
mod limits;
mod llm;
mod memory;
mod privacy;
mod rooms;
mod telegram;

pub use access::{AccessConfig, AllowedChats, PrivateChats};
pub use environment::Environment;
pub use keys::{KEYS, Key};
pub use limits::{DailyTokens, LimitsConfig, Prices, RateLimit};
pub use llm::LlmConfig;
pub use load::{Config, DemoPlace};
pub use memory::{MemoryConfig, Redaction, SessionIdle};
pub use privacy::{PrivacyConfig, retention};
pub use problem::{ConfigError, Problem, Warning};
pub use rooms::{
    AnswerConfig, ContextConfig, ContextTokens, EmbeddingConfig, HttpConfig, IngestConfig, LogConfig, LogFormat,
    PromptConfig, StoreConfig, Streaming, TimeConfig,
};
pub use settings::{Noted, Settings};
pub use telegram::TelegramConfig;
pub use units::{format_duration, format_size, parse_amount, parse_duration, parse_size};
