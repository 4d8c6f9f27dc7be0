//! Errors of requests, classified by what the caller can do.

use std::sync::LazyLock;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::dto::ApiResponse;
use chime_core::{ChatId, json_fault as fault};

/// Delay after a 429 that states none. Telegram's shortest delays are a few seconds.
const UNNAMED_WAIT: Duration = Duration::from_secs(5);

/// Longest stored description of an error, in words.
const DESCRIPTION_WORDS: usize = 30;

/// The lists of `refusals.toml`, which describes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusalWords {
    reply_gone: Vec<String>,
    forum_topic_gone: Vec<String>,
    gone: Vec<String>,
    known_words: String,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and the tests read it")]
static REFUSALS: LazyLock<RefusalWords> =
    LazyLock::new(|| toml::from_str(include_str!("refusals.toml")).expect("refusals of the right form"));

/// Reason why a request has no result.
#[derive(Debug, thiserror::Error)]
pub enum TelegramError {
    /// Repeat the request after `retry_after`, not sooner.
    #[error("throttled for {} s", .retry_after.as_secs())]
    Throttled { retry_after: Duration },
    /// The token is wrong or revoked: no request will succeed.
    #[error("the bot token is not valid")]
    Unauthorized,
    /// The bot was moved to another Bot API server, or has left one less than ten minutes ago.
    #[error(
        "the bot is logged out at this Bot API server: set TELEGRAM_API_URL to the one at which it works, or wait ten \
         minutes after the move"
    )]
    LoggedOut,
    /// Another process polls with this token, or a webhook is set.
    #[error("somebody else receives the updates: {description}")]
    Conflict { description: String },
    /// The group has a new id: send there.
    #[error("the group became supergroup {to}")]
    Migrated { to: ChatId },
    /// The message to reply to is gone: send without a reply.
    #[error("the message to reply to is gone")]
    ReplyGone,
    /// The forum topic is closed, deleted or does not exist.
    #[error("the topic is closed or gone")]
    ForumTopicGone,
    /// Nothing can be sent to this chat any more.
    #[error("the chat is out of reach: {description}")]
    Gone { description: String },
    /// The edited message already has this content, so callers treat this as success.
    #[error("nothing to change")]
    NotModified,
    /// No connection was made, so the request certainly did not arrive.
    #[error("no connection")]
    NotSent(#[source] reqwest::Error),
    /// The request may or may not have been executed.
    #[error("the outcome is not known")]
    Unknown(#[source] LostReply),
    /// The server failed without executing the request: may be repeated.
    #[error("status {status}: {description}")]
    Failed { status: u16, description: String },
    /// Our request is invalid: repeating it is useless.
    #[error("refused with {status}: {description}")]
    Refused { status: u16, description: String },
    /// The request succeeded with an unreadable result. A message may have been sent.
    #[error("unreadable answer: {fault}")]
    Malformed { fault: String },
}

impl TelegramError {
    /// Returns `true` if it is useless to repeat the same request.
    pub fn is_lasting(&self) -> bool {
        matches!(
            self,
            Self::Unauthorized | Self::Gone { .. } | Self::NotModified | Self::Refused { .. } | Self::Malformed { .. }
        )
    }

    /// Builds the error for a request that cannot be serialized.
    pub fn unsendable(description: impl Into<String>) -> Self {
        Self::Refused { status: 400, description: description.into() }
    }
}

/// Reason why a request was sent but Telegram's response did not arrive.
#[derive(Debug, thiserror::Error)]
pub enum LostReply {
    #[error("the connection was lost")]
    Connection(#[source] reqwest::Error),
    /// A gateway in between answered instead of Telegram.
    #[error("status {0} without a word from Telegram")]
    Gateway(u16),
}

/// Returns the JSON of `result` from a response, or the error that it reports.
///
/// # Errors
/// Every [`TelegramError`] but [`NotSent`](TelegramError::NotSent).
pub fn classify(status: u16, body: &str) -> Result<Box<RawValue>, TelegramError> {
    let answer: ApiResponse = match serde_json::from_str(body) {
        Ok(answer) => answer,
        Err(error) => return Err(without_json(status, &error)),
    };
    if let (200..300, Some(true), Some(result)) = (status, answer.ok, answer.result) {
        return Ok(result);
    }
    // A proxy may change every status to 200: the code in the body is Telegram's own.
    let Some(code) = answer.error_code.or((answer.ok == Some(false)).then_some(status)).filter(|code| *code >= 300)
    else {
        return Err(match status {
            200..300 => TelegramError::Malformed { fault: "no result".to_owned() },
            _ => refusal_without_words(status),
        });
    };
    let parameters = answer.parameters.unwrap_or_default();
    if let Some(to) = parameters.migrate_to_chat_id {
        return Err(TelegramError::Migrated { to: ChatId(to) });
    }
    let description = answer.description.unwrap_or_default();
    Err(match code {
        429 => {
            TelegramError::Throttled { retry_after: parameters.retry_after.map_or(UNNAMED_WAIT, Duration::from_secs) }
        }
        _ => refusal(code, description),
    })
}

/// Returns a description with "…" for the words that are not Telegram's own: some servers repeat the refused text.
fn without_content(description: &str) -> String {
    let mut kept = String::new();
    for word in description.split_inclusive(|c: char| !c.is_alphanumeric()).take(DESCRIPTION_WORDS) {
        let (letters, end) = word.split_at(word.trim_end_matches(|c: char| !c.is_alphanumeric()).len());
        let is_known = letters.is_empty()
            || REFUSALS.known_words.split_whitespace().any(|known| letters.eq_ignore_ascii_case(known));
        match is_known {
            true => kept.push_str(letters),
            false if !kept.trim_end().ends_with('…') => kept.push('…'),
            false => {}
        }
        kept.push_str(if end.chars().all(|c| c.is_ascii_punctuation() || c == ' ') { end } else { " " });
    }
    kept.trim_end().to_owned()
}

fn without_json(status: u16, error: &serde_json::Error) -> TelegramError {
    match status {
        200..300 => TelegramError::Malformed { fault: fault(error) },
        _ => refusal_without_words(status),
    }
}

/// Classifies a response whose body is not Telegram's: a proxy, a load balancer or a captive portal sent it. A request
/// that one of these refuses never reached Telegram, and the refusal says nothing about the request or the token.
fn refusal_without_words(status: u16) -> TelegramError {
    let description = "no description".to_owned();
    match status {
        429 => TelegramError::Throttled { retry_after: UNNAMED_WAIT },
        // The request itself is invalid, whether Telegram or a proxy refuses it.
        400 | 413 => TelegramError::Refused { status, description },
        // Redirects are not followed. 502 and 503: the gateway found no server for the request.
        300..=499 | 502 | 503 => TelegramError::Failed { status, description },
        // 504: the gateway passed the request on and received no answer in time.
        _ => TelegramError::Unknown(LostReply::Gateway(status)),
    }
}

/// Converts a refusal by Telegram. Its codes are coarse, so the description distinguishes between the 400s.
fn refusal(code: u16, description: String) -> TelegramError {
    let shown = || without_content(&description);
    match code {
        401 => TelegramError::Unauthorized,
        // Telegram's answer to a malformed token. Its description of an unknown method is longer.
        404 if description == "Not Found" => TelegramError::Unauthorized,
        403 => TelegramError::Gone { description: shown() },
        409 => TelegramError::Conflict { description: shown() },
        300..=399 | 408 | 500.. => TelegramError::Failed { status: code, description: shown() },
        _ => bad_request(code, &description),
    }
}

fn bad_request(status: u16, description: &str) -> TelegramError {
    let lower = description.to_lowercase();
    let says = |phrases: &[String]| phrases.iter().any(|phrase| lower.contains(phrase));
    if lower.contains("message is not modified") {
        TelegramError::NotModified
    } else if lower.contains("logged out") {
        TelegramError::LoggedOut
    } else if says(&REFUSALS.reply_gone) {
        TelegramError::ReplyGone
    } else if says(&REFUSALS.forum_topic_gone) {
        TelegramError::ForumTopicGone
    } else if says(&REFUSALS.gone) {
        TelegramError::Gone { description: without_content(description) }
    } else {
        TelegramError::Refused { status, description: without_content(description) }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, expected: Expect) {
        let shown = match classify(status, body) {
            Ok(result) => format!("result {result}"),
            Err(error) => format!("{error:?}"),
        };
        expected.assert_eq(&shown);
    }

    /// Builds a refusal in Telegram's format.
    fn refused(code: u16, description: &str) -> String {
        serde_json::json!({"ok": false, "error_code": code, "description": description}).to_string()
    }

    #[track_caller]
    fn check_refusal(code: u16, description: &str, expected: Expect) {
        check(code, &refused(code, description), expected);
    }

    #[test]
    fn a_bot_that_works_at_another_server_is_logged_out() {
        check_refusal(400, "Logged out", expect!["LoggedOut"]);
    }

    #[test]
    fn success_gives_the_result_as_it_is() {
        check(200, r#"{"ok":true,"result":[1, "\ud800"]}"#, expect![[r#"result [1, "\ud800"]"#]]);
        check(200, r#"{"ok":true,"result":false}"#, expect!["result false"]);
    }

    #[test]
    fn success_without_a_readable_result_is_malformed() {
        check(200, "", expect![[r#"Malformed { fault: "eof error at line 1 column 0" }"#]]);
        check(200, "<html>hello</html>", expect![[r#"Malformed { fault: "syntax error at line 1 column 1" }"#]]);
        check(
            200,
            r#"{"ok":true,"result":{"mess"#,
            expect![[r#"Malformed { fault: "eof error at line 1 column 26" }"#]],
        );
        check(200, r#"{"ok":true}"#, expect![[r#"Malformed { fault: "no result" }"#]]);
        check(200, "null", expect![[r#"Malformed { fault: "data error at line 1 column 4" }"#]]);
        check(200, r#"{"result":5}"#, expect![[r#"Malformed { fault: "no result" }"#]]);
    }

    #[test]
    fn a_429_waits_as_long_as_it_says() {
        check(
            429,
            r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 17","parameters":{"retry_after":17}}"#,
            expect!["Throttled { retry_after: 17s }"],
        );
        check_refusal(429, "Too Many Requests", expect!["Throttled { retry_after: 5s }"]);
        check(429, "<html>slow down</html>", expect!["Throttled { retry_after: 5s }"]);
    }

    #[test]
    fn a_wrong_token_is_unauthorized() {
        check_refusal(401, "Unauthorized", expect!["Unauthorized"]);
        check_refusal(404, "Not Found", expect!["Unauthorized"]);
        check_refusal(
            404,
            "Not Found: method not found",
            expect![[r#"Refused { status: 404, description: "Not Found: method not found" }"#]],
        );
    }

    #[test]
    fn only_telegram_itself_can_refuse_the_token() {
        for body in ["", "<html>Sign in to the network</html>", r#"{"error":"login required"}"#] {
            check(401, body, expect![[r#"Failed { status: 401, description: "no description" }"#]]);
        }
        check(403, "<html>", expect![[r#"Failed { status: 403, description: "no description" }"#]]);
        check(404, "<html>", expect![[r#"Failed { status: 404, description: "no description" }"#]]);
    }

    #[test]
    fn another_poller_is_a_conflict() {
        check_refusal(
            409,
            "Conflict: terminated by other getUpdates request",
            expect![[r#"Conflict { description: "Conflict: terminated by other getUpdates request" }"#]],
        );
    }

    #[test]
    fn a_migrated_group_names_its_new_id() {
        check(
            400,
            r#"{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat",
            "parameters":{"migrate_to_chat_id":-1001234567890}}"#,
            expect!["Migrated { to: ChatId(-1001234567890) }"],
        );
    }

    #[test]
    fn a_400_is_sorted_by_its_words() {
        check_refusal(400, "Bad Request: message to be replied not found", expect!["ReplyGone"]);
        check_refusal(400, "Bad Request: message thread not found", expect!["ForumTopicGone"]);
        check_refusal(400, "Bad Request: TOPIC_CLOSED", expect!["ForumTopicGone"]);
        check_refusal(400, "Bad Request: TOPIC_DELETED", expect!["ForumTopicGone"]);
        check_refusal(400, "Bad Request: message is not modified: specified new message", expect!["NotModified"]);
        check_refusal(
            400,
            "Bad Request: chat not found",
            expect![[r#"Gone { description: "Bad Request: chat not found" }"#]],
        );
        check_refusal(
            400,
            "Bad Request: not enough rights to send text messages to the chat",
            expect![[r#"Gone { description: "Bad Request: not enough rights to send text messages to the chat" }"#]],
        );
        check_refusal(
            400,
            "Bad Request: message text is empty",
            expect![[r#"Refused { status: 400, description: "Bad Request: message text is empty" }"#]],
        );
    }

    #[test]
    fn a_403_means_that_the_chat_is_out_of_reach() {
        check_refusal(
            403,
            "Forbidden: bot was kicked from the supergroup chat",
            expect![[r#"Gone { description: "Forbidden: bot was kicked from the supergroup chat" }"#]],
        );
        check_refusal(
            403,
            "Forbidden: user is deactivated",
            expect![[r#"Gone { description: "Forbidden: user is deactivated" }"#]],
        );
    }

    #[test]
    fn a_5xx_of_telegrams_own_did_nothing_and_any_other_is_unknown() {
        check_refusal(
            500,
            "Internal Server Error: restart",
            expect![[r#"Failed { status: 500, description: "Internal Server Error: restart" }"#]],
        );
        check(502, "<html>Bad Gateway</html>", expect![[r#"Failed { status: 502, description: "no description" }"#]]);
        check(503, r#"{"error":"upstream"}"#, expect![[r#"Failed { status: 503, description: "no description" }"#]]);
        check(504, "", expect!["Unknown(Gateway(504))"]);
        check(500, r#"{"ok":fal"#, expect!["Unknown(Gateway(500))"]);
    }

    #[test]
    fn a_refusal_behind_a_flattening_proxy_is_still_one() {
        check(200, &refused(403, "Forbidden"), expect![[r#"Gone { description: "Forbidden" }"#]]);
        check(302, "", expect![[r#"Failed { status: 302, description: "no description" }"#]]);
        check(413, "<html>", expect![[r#"Refused { status: 413, description: "no description" }"#]]);
    }

    #[test]
    fn fields_of_the_wrong_type_do_not_hide_the_status() {
        check(
            400,
            r#"{"ok":"no","error_code":"400","description":7,"parameters":[]}"#,
            expect![[r#"Refused { status: 400, description: "no description" }"#]],
        );
    }

    #[test]
    fn a_description_loses_what_is_not_telegrams() {
        check_refusal(
            400,
            "Bad Request: can't parse entities in \"Ben said zqsecret7x, call 555-0199\" at offset 9",
            expect![[
                r#"Refused { status: 400, description: "Bad Request: can't parse entities in \"…  , … -…\" at offset …" }"#
            ]],
        );
        check_refusal(
            400,
            "Bad Request: REACTION_INVALID",
            expect![[r#"Refused { status: 400, description: "Bad Request: REACTION_INVALID" }"#]],
        );
    }
}
