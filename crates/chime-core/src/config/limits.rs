//! Configuration of rate limits, daily token caps and prices.

use std::time::Duration;

use crate::TokenUse;
use crate::config::keys::{self, Key};
use crate::config::settings::Settings;
use crate::config::units::{format_duration, parse_amount, parse_duration};

/// Limits for conversations, chats, members and the whole bot.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitsConfig {
    /// `RATE_LIMIT`, default `60/300s`. `None` (`off`) disables the rate limit, the flood limit, and all daily caps
    /// that are not set explicitly.
    pub rate: Option<RateLimit>,
    pub daily_tokens: DailyTokens,
    /// `PRICE_IN` and `PRICE_OUT`. If only one is set, the other is 0; `None` if neither is set.
    pub prices: Option<Prices>,
}

/// Largest number of triggers within a period. Applies to each conversation and, separately, to each member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    pub triggers: usize,
    pub per: Duration,
}

/// Daily token caps; a day is a UTC day. `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DailyTokens {
    pub total: Option<u64>,
    pub per_chat: Option<u64>,
    pub per_member: Option<u64>,
}

/// Prices per million tokens, in any currency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    pub prompt: f64,
    pub completion: f64,
}

impl LimitsConfig {
    pub fn load(settings: &Settings<'_>) -> Self {
        let rate = settings.required(&keys::RATE_LIMIT, "on, off, or so many within a time such as 60/300s", rate);
        let is_off = rate.is_none();
        let mut unbounded = false;
        let mut tokens = |key: &Key| {
            // `RATE_LIMIT=off` is for load tests, which the default daily caps would stop.
            if is_off && settings.raw(key).is_none() {
                unbounded = true;
                return None;
            }
            settings.required(key, "a number of tokens such as 50000, 50k or 2M, or off", |raw| match raw {
                off if off.eq_ignore_ascii_case("off") => Some(None),
                amount => parse_amount(amount).filter(|tokens| *tokens > 0).map(Some),
            })
        };
        let daily_tokens = DailyTokens {
            total: tokens(&keys::DAILY_TOKENS),
            per_chat: tokens(&keys::DAILY_TOKENS_PER_CHAT),
            per_member: tokens(&keys::DAILY_TOKENS_PER_MEMBER),
        };
        if unbounded {
            settings.warn(&keys::RATE_LIMIT, "is off, and with it the daily token caps that are not set");
        }
        let price = |key: &Key| settings.optional(key, "the price of a million tokens, such as 0.40", price);
        let prices = match (price(&keys::PRICE_IN), price(&keys::PRICE_OUT)) {
            (None, None) => None,
            (prompt, completion) => {
                Some(Prices { prompt: prompt.unwrap_or(0.0), completion: completion.unwrap_or(0.0) })
            }
        };
        Self { rate, daily_tokens, prices }
    }

    /// Returns a configuration without limits, for test and demo environments.
    pub fn open() -> Self {
        Self { rate: None, daily_tokens: DailyTokens::default(), prices: None }
    }
}

impl Prices {
    /// Returns the cost in millionths of the currency unit, rounded.
    pub fn cost_micros(&self, tokens: TokenUse) -> u64 {
        let cost = tokens.prompt as f64 * self.prompt + tokens.completion as f64 * self.completion;
        // Numbers out of range become the nearest possible value.
        cost.round() as u64
    }
}

impl Default for RateLimit {
    fn default() -> Self {
        Self { triggers: 60, per: Duration::from_secs(300) }
    }
}

impl std::fmt::Display for RateLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.triggers, format_duration(self.per))
    }
}

fn rate(raw: &str) -> Option<Option<RateLimit>> {
    const RANGE: std::ops::RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(24);
    match raw.to_ascii_lowercase().as_str() {
        "off" => return Some(None),
        "on" => return Some(Some(RateLimit::default())),
        _ => {}
    }
    let (triggers, per) = raw.split_once('/')?;
    let triggers = triggers.trim().parse().ok().filter(|triggers| (1..=10_000).contains(triggers))?;
    let per = parse_duration(per).filter(|per| RANGE.contains(per))?;
    Some(Some(RateLimit { triggers, per }))
}

pub(super) fn price(raw: &str) -> Option<f64> {
    raw.parse().ok().filter(|price: &f64| price.is_finite() && (0.0..=1_000_000.0).contains(price))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(raw: &[&str], expected: Expect) {
        let rendered = |raw: &str| match rate(raw) {
            Some(Some(limit)) => limit.to_string(),
            Some(None) => "off".to_owned(),
            None => "refused".to_owned(),
        };
        let lines: Vec<String> = raw.iter().map(|raw| format!("{raw} -> {}", rendered(raw))).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    /// The default caps allow 42 full answers a day per member and 168 per chat.
    #[test]
    fn the_default_caps_are_counted_in_full_answers() {
        let answers = |key: &Key| {
            let tokens = key.default.and_then(parse_amount).expect("a default");
            tokens / crate::FULL_ANSWER_TOKENS
        };
        assert_eq!(answers(&keys::DAILY_TOKENS_PER_MEMBER), 42);
        assert!((168..=175).contains(&answers(&keys::DAILY_TOKENS_PER_CHAT)));
        assert!(answers(&keys::DAILY_TOKENS) >= 10 * 168);
    }

    #[test]
    fn prices_are_for_a_million_tokens() {
        let prices = Prices { prompt: 0.4, completion: 1.6 };
        assert_eq!(prices.cost_micros(TokenUse { prompt: 1_000_000, completion: 0 }), 400_000);
        assert_eq!(prices.cost_micros(TokenUse { prompt: 812, completion: 90 }), 469);
    }

    #[test]
    fn a_rate_is_on_off_or_so_many_within_a_time() {
        check(
            &["on", "Off", "60/300s", "5 / 1m", "0/1m", "5/0s", "5/2d", "60", "60/300", "-1/1m", "x/1m"],
            expect![[r#"
                on -> 60/5m
                Off -> off
                60/300s -> 60/5m
                5 / 1m -> 5/1m
                0/1m -> refused
                5/0s -> refused
                5/2d -> refused
                60 -> refused
                60/300 -> refused
                -1/1m -> refused
                x/1m -> refused"#]],
        );
    }
}
