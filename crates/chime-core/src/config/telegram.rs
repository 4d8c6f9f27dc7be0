//! Configuration of the connection to Telegram.

use std::time::Duration;

use secrecy::SecretString;

use crate::config::keys;
use crate::config::settings::Settings;

/// The bot's token and the timeouts of its requests.
#[derive(Debug, Clone)]
pub struct TelegramConfig {
    pub token: SecretString,
    /// `TELEGRAM_API_URL`, default `https://api.telegram.org`; without a trailing slash.
    pub api_url: String,
    /// Longest time that the server waits for updates before it answers a poll. Telegram allows at most 50s.
    pub poll_timeout: Duration,
    /// Time limit for every other request.
    pub send_timeout: Duration,
}

impl TelegramConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let allowed = "the token from @BotFather: digits, a colon, letters and digits";
        let (second, tenth) = (Duration::from_secs(1), Duration::from_millis(100));
        Self {
            token: settings.required(&keys::TELEGRAM_BOT_TOKEN, allowed, token),
            api_url: settings.url(&keys::TELEGRAM_API_URL),
            poll_timeout: settings.duration(&keys::POLL_TIMEOUT, second..=Duration::from_secs(50)),
            send_timeout: settings.duration(&keys::SEND_TIMEOUT, tenth..=Duration::from_secs(300)),
        }
    }
}

/// Parses a token. Does not check the length: Telegram has changed the length of tokens before, and rejects wrong
/// tokens itself.
fn token(raw: &str) -> Option<SecretString> {
    let (bot, secret) = raw.split_once(':')?;
    let digits = !bot.is_empty() && bot.bytes().all(|b| b.is_ascii_digit());
    let safe = !secret.is_empty() && secret.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    (digits && safe).then(|| raw.into())
}
