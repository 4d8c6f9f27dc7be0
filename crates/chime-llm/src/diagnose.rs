//! Classifies refusals of model servers. Each server has its own error format, and the status alone is ambiguous.

use std::sync::LazyLock;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use crate::dialect::Dialect;
use crate::failure::{ErrorResponse, ServerFailure};
use crate::phrases::PHRASES;
use crate::{AnswerFormat, Check, LlmError, Prompt};
use chime_core::pattern;

/// A delay that an error names in its text, such as `"retryDelay": "39s"`, “try again in 1m2.5s” or “retry after 26
/// seconds”.
static DELAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r#"(?:retrydelay"\s*:\s*"|(?:retry|try again) (?:in|after) )"#,
        r"(?:(?P<ms>\d+(?:\.\d+)?) ?ms|(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+(?:\.\d+)?) ?s)?)",
    ))
});

/// A limit of answers that a refusal names, as in “max_tokens must be less than or equal to 1024” or “the range of
/// max_tokens is [1, 1024]”.
static ANSWER_LIMIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"max_(?:completion_)?tokens.{0,80}?",
        r"(?:less than(?: or equal to)?|at most|up to|exceed|maximum|[<>]=?|≤|between \d+ and|[\[(] ?\d+ ?,)",
        r"\D{0,4}(?P<most>\d+)",
    ))
});

/// Estimated tokens of a prompt above which a refusal without a known reason means that the prompt is too long.
const LARGE: usize = 2_000;

pub fn diagnose(failure: ServerFailure) -> LlmError {
    match failure {
        ServerFailure::Transport(error) if error.is_timeout() => LlmError::TimedOut,
        ServerFailure::Transport(error) => LlmError::Unreachable(error),
        ServerFailure::Refusal(refusal) => of_refusal(&refusal, &Complaint::parse(&refusal.body)),
        ServerFailure::RefusesAll(refusal) => {
            Complaint::parse(&refusal.body).refused(refusal.status, Check::EveryRequest)
        }
        ServerFailure::NotJson => LlmError::Malformed { what: "it is not JSON" },
        ServerFailure::WebPage => LlmError::Refused { reason: "a web page".into(), check: Check::Address },
        ServerFailure::TooLarge => LlmError::Malformed { what: "it is far too large" },
    }
}

/// Converts a refused `prompt` to an error. A refused large prompt without a known reason counts as too long.
pub fn diagnose_prompt(failure: ServerFailure, prompt: &Prompt) -> LlmError {
    match diagnose(failure) {
        LlmError::Refused { reason, check: Check::Request } if prompt.estimated_tokens() > LARGE => {
            tracing::warn!(reason, "the model server refused a large prompt: it may be too long");
            LlmError::PromptTooLong
        }
        error => error,
    }
}

/// Converts an error that arrived with status 200. Gateways send such responses when the server behind them fails.
pub fn diagnose_body(body: &Value) -> LlmError {
    let complaint = Complaint::of(body);
    let status = complaint.status.unwrap_or(200);
    of_refusal(&ErrorResponse { status, retry_after: None, body: String::new() }, &complaint)
}

/// Returns the dialect to try next: without the part of the request that the refusal names. `None` if it names no known
/// part, or if `spoken` already omits it.
pub fn named(failure: &ServerFailure, spoken: Dialect, prompt: &Prompt) -> Option<Dialect> {
    let ServerFailure::Refusal(ErrorResponse { status, body, .. }) = failure else { return None };
    let complaint = Complaint::parse(body);
    // Statuses of a rejected parameter: 400 is usual; gateways without a suitable provider send 404, and servers that
    // validate late send 500.
    if complaint.says(&PHRASES.too_long) || !matches!(status, 400 | 404 | 415 | 422 | 500 | 501) {
        return None;
    }
    let is_strict = matches!(status, 400 | 422);
    let has_system = prompt.has_system();
    let has_format = prompt.format != AnswerFormat::Text;
    let of_pictures = complaint.says(&PHRASES.sees_nothing)
        || complaint.says(&PHRASES.of_pictures) && !complaint.says(&PHRASES.filtered);
    let says = |words: &[&str]| complaint.says(words);
    let limited = other_limit(&complaint, spoken, prompt).filter(|_| is_strict).unwrap_or(spoken);
    let others = [
        (says(&["reasoning_content"]), Dialect { wants_thoughts: true, ..spoken }),
        (has_system && complaint.says(&PHRASES.no_system), Dialect { no_system: true, ..spoken }),
        (!prompt.pictures.is_empty() && of_pictures, Dialect { no_pictures: true, ..spoken }),
        (says(&["max_completion_tokens"]), limited),
        (has_format && says(&["response_format", "json_schema", "grammar"]), Dialect { free_form: true, ..spoken }),
        (is_strict && says(&["stream_options", "include_usage"]), Dialect { uncounted_stream: true, ..spoken }),
        (
            is_strict && prompt.temperature.is_some() && says(&["temperature"]),
            Dialect { default_temperature: true, ..spoken },
        ),
        // Late, since other errors repeat the request, in which both words occur.
        (has_system && says(&["role"]) && says(&["system"]), Dialect { no_system: true, ..spoken }),
        (prompt.tools.are_offered() && says(&["tool", "function call"]), Dialect { no_tools: true, ..spoken }),
        (true, limited),
    ];
    others.into_iter().find(|(is_named, other)| *is_named && *other != spoken).map(|(_, other)| other)
}

/// Returns the dialect to try after a refusal of the answer's limit: the limit that the refusal names, else the other
/// name of the parameter, else no limit.
fn other_limit(complaint: &Complaint, spoken: Dialect, prompt: &Prompt) -> Option<Dialect> {
    /// A smaller number is the least that the server accepts.
    const LEAST: u32 = 16;
    if spoken.no_limit || !complaint.says(&["max_tokens", "max_completion_tokens"]) {
        return None;
    }
    let sent = spoken.answer_tokens(prompt.max_answer_tokens);
    let mut named = ANSWER_LIMIT.captures_iter(&complaint.text).filter_map(|it| it.name("most")?.as_str().parse().ok());
    Some(match named.find(|most| (LEAST..sent).contains(most)) {
        Some(most) => Dialect { most_tokens: Some(most), ..spoken },
        None if spoken.completion_limit => Dialect { no_limit: true, ..spoken },
        None => Dialect { completion_limit: true, ..spoken },
    })
}

/// Returns `true` if a refusal gives no known reason, so that any part of the request may be the cause. Status 500
/// counts too, unless the model accepted a `response_format` before: servers without structured output fail with 500.
pub fn is_unexplained(failure: &ServerFailure, spoken: Dialect) -> bool {
    is_about_request(failure)
        || matches!(failure, ServerFailure::Refusal(refusal) if matches!(
            of_refusal(refusal, &Complaint::parse(&refusal.body)),
            LlmError::Unavailable { status: 500, .. } if !spoken.takes_forms
        ))
}

/// Returns `true` if a server refuses a request for a reason that is not known.
pub fn is_about_request(failure: &ServerFailure) -> bool {
    let ServerFailure::Refusal(refusal) = failure else { return false };
    let error = of_refusal(refusal, &Complaint::parse(&refusal.body));
    matches!(error, LlmError::Refused { check: Check::Request, .. })
}

/// Returns `true` if the refusal of `prompt` gives no known reason, and may be about the prompt's length.
pub fn may_be_length(failure: &ServerFailure, spoken: Dialect, prompt: &Prompt) -> bool {
    prompt.estimated_tokens() > LARGE && is_unexplained(failure, spoken) && named(failure, spoken, prompt).is_none()
}

pub fn is_about_pictures(other: Dialect, spoken: Dialect) -> bool {
    other.no_pictures && !spoken.no_pictures
}

/// Returns `true` if the refusal says that the model accepts no pictures at all.
pub fn sees_nothing(failure: &ServerFailure) -> bool {
    let ServerFailure::Refusal(ErrorResponse { body, .. }) = failure else { return false };
    Complaint::parse(body).says(&PHRASES.sees_nothing)
}

fn of_refusal(refusal: &ErrorResponse, complaint: &Complaint) -> LlmError {
    let ErrorResponse { status, retry_after, .. } = *refusal;
    match status {
        // The text of the error is checked before the status: servers report a long prompt or missing credit with
        // several statuses.
        413 => LlmError::PromptTooLong,
        _ if complaint.says(&PHRASES.too_long) => LlmError::PromptTooLong,
        400..500 if complaint.says(&PHRASES.no_credit) => complaint.refused(status, Check::Credit),
        400..500 if complaint.says(&PHRASES.not_loaded) => LlmError::Unavailable { status, retry_after },
        429 => LlmError::Throttled { retry_after: retry_after.or_else(|| delay_in(&complaint.text)) },
        408 => LlmError::TimedOut,
        // The server lacks something that the request needs, and will lack it at the next attempt.
        501 => complaint.refused(status, Check::Request),
        // Status 2xx: the gateway answered, but a server behind it failed, and the body states no other status.
        200..=299 | 500.. => LlmError::Unavailable { status, retry_after },
        _ if complaint.says(&PHRASES.filtered) => LlmError::Filtered,
        _ if complaint.says(&PHRASES.no_access) => complaint.refused(status, Check::Access),
        401 => complaint.refused(status, Check::Key),
        402 => complaint.refused(status, Check::Credit),
        403 => complaint.refused(status, Check::Access),
        404 => complaint.refused(status, Check::Model),
        ..=399 | 405 => complaint.refused(status, Check::Address),
        _ if complaint.says(&PHRASES.wrong_key) => complaint.refused(status, Check::Key),
        _ if complaint.is_about_model || complaint.says(&PHRASES.unknown_model) => {
            complaint.refused(status, Check::Model)
        }
        _ => complaint.refused(status, Check::Request),
    }
}

/// Parses the delay before a retry from an error in lower case.
fn delay_in(text: &str) -> Option<Duration> {
    let found = DELAY.captures(text)?;
    let secs_of = |(name, secs): (&str, f64)| Some(found.name(name)?.as_str().parse::<f64>().ok()? * secs);
    let parts = [("ms", 0.001), ("h", 3600.0), ("m", 60.0), ("s", 1.0)].into_iter().filter_map(secs_of);
    let secs = parts.reduce(|one, other| one + other)?;
    Duration::try_from_secs_f64(secs).ok()
}

/// The parts of an error body that all servers have in common.
#[derive(Debug, Default)]
struct Complaint {
    /// Message and code in lower case, for phrase search. May quote the prompt: never log it.
    text: String,
    /// The error's code or type, if it is an identifier.
    code: Option<String>,
    /// `true` if the error names the parameter `model`.
    is_about_model: bool,
    /// The status in the body: gateways may answer 200 and state the real one there.
    status: Option<u16>,
}

impl Complaint {
    fn parse(body: &str) -> Self {
        match serde_json::from_str(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { text: body.to_lowercase(), ..Self::default() },
        }
    }

    /// Parses OpenAI's `{"error": {…}}`, Gemini's array of it, `{"error": "…"}`, `{"detail": …}` and `{"message": …}`.
    fn of(body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let error = body.get("error").unwrap_or(body);
        let names = ["code", "type", "status"].map(|key| error.get(key));
        let code = names.iter().flatten().filter_map(|name| identifier(name)).next();
        let status = names.iter().flatten().filter_map(|name| http_status(name)).next();
        let is_about_model = error.get("param").is_some_and(|param| param == "model");
        Self { text: error.to_string().to_lowercase(), code, is_about_model, status }
    }

    fn says<P: AsRef<str>>(&self, phrases: &[P]) -> bool {
        phrases.iter().any(|phrase| self.text.contains(phrase.as_ref()))
    }

    fn refused(&self, status: u16, check: Check) -> LlmError {
        let reason = match &self.code {
            Some(code) => format!("HTTP {status}, {code}"),
            None => format!("HTTP {status}"),
        };
        LlmError::Refused { reason, check }
    }
}

/// Returns a code that is safe to log: a word such as `model_not_found`, never a sentence that could quote the prompt.
fn identifier(value: &Value) -> Option<String> {
    const LONGEST: usize = 48;
    let code = value.as_str()?.to_lowercase();
    let is_word = !code.is_empty() && code.len() <= LONGEST && code.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    is_word.then_some(code)
}

fn http_status(value: &Value) -> Option<u16> {
    let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::{Picture, PromptMessage, PromptRole, Tool, Tools};

    #[track_caller]
    fn check(status: u16, body: &str, expected: Expect) {
        let error =
            diagnose(ServerFailure::Refusal(ErrorResponse { status, retry_after: None, body: body.to_owned() }));
        let reported = match &error {
            LlmError::Refused { reason, check } => format!("refused, {reason}: check {check:?}"),
            other => other.to_string(),
        };
        expected.assert_eq(&format!("{reported} -> {:?}", error.recovery()));
    }

    #[test]
    fn a_bad_key_names_the_key() {
        check(
            401,
            r#"{"error":{"message":"Incorrect API key provided: sk-abc","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
            expect!["refused, HTTP 401, invalid_api_key: check Key -> GiveUp"],
        );
        check(
            400,
            r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#,
            expect!["refused, HTTP 400, invalid_argument: check Key -> GiveUp"],
        );
    }

    #[test]
    fn what_lasts_is_recognised_in_the_words_of_a_bad_request() {
        for (said, expected) in [
            ("Your credit balance is too low to access the API.", "Credit"),
            ("Arrearage: make sure that your account is in good standing.", "Credit"),
            ("Missing or invalid Authorization header.", "Key"),
            ("User location is not supported for the API use.", "Access"),
            ("foo/bar is not a valid model ID", "Model"),
            ("Invalid model: big", "Model"),
            ("Invalid model name passed in model=big.", "Model"),
            ("The model `x` has been decommissioned.", "Model"),
            ("Incorrect API key provided: gs***Q6. You can obtain an API key from https://console.x.ai.", "Key"),
            ("Model not found: grok-9", "Model"),
            ("Model Not Exist", "Model"),
            ("The supported API model names are deepseek-v4-pro, but you passed deepseek-chat.", "Model"),
            ("Unknown Model, please check the model code.", "Model"),
            (r#"{"error":{"message":"Please choose another.","param":"model"}}"#, "Model"),
            (r#"{"error":{"message":"Budget has been exceeded!","type":"budget_exceeded","code":"400"}}"#, "Credit"),
            ("Your team has used all available credits or reached its monthly spending limit.", "Credit"),
            ("Invalid value", "Request"),
        ] {
            let refusal = ErrorResponse { status: 400, retry_after: None, body: said.to_owned() };
            let error = diagnose(ServerFailure::Refusal(refusal));
            let LlmError::Refused { check, .. } = error else { panic!("{error}") };
            assert_eq!(format!("{check:?}"), expected, "{said}");
        }
    }

    #[test]
    fn what_lasts_is_recognised_whatever_its_status() {
        check(
            403,
            r#"{"error":"Your team has either used all available credits or reached its monthly spending limit."}"#,
            expect!["refused, HTTP 403: check Credit -> GiveUp"],
        );
        check(
            412,
            r#"{"error":{"message":"Account x is suspended, possibly due to reaching the monthly spending limit."}}"#,
            expect!["refused, HTTP 412: check Credit -> GiveUp"],
        );
        check(
            404,
            r#"{"error":{"message":"No endpoints available matching your guardrail restrictions and data policy.","code":404}}"#,
            expect!["refused, HTTP 404: check Access -> GiveUp"],
        );
    }

    #[test]
    fn a_model_that_is_not_loaded_is_passing_trouble() {
        for said in [
            r#"{"error":{"message":"No models loaded. Please load a model.","type":"invalid_request_error","param":"model","code":null}}"#,
            r#"{"error":"Failed to load model \"gpt-oss-20b\". Error: Error loading model."}"#,
            r#"{"error":"The model has crashed without additional information. (Exit code: 18446744072635812000)"}"#,
        ] {
            check(400, said, expect!["the model server is out of order (HTTP 400) -> RetryLater(None)"]);
        }
    }

    #[test]
    fn an_unknown_model_names_the_model() {
        check(
            404,
            r#"{"error":{"message":"model \"llama9\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
            expect!["refused, HTTP 404, api_error: check Model -> GiveUp"],
        );
        check(
            404,
            r#"{"object":"error","message":"The model `x` does not exist.","type":"NotFoundError","param":null,"code":404}"#,
            expect!["refused, HTTP 404, notfounderror: check Model -> GiveUp"],
        );
        check(404, "404 page not found", expect!["refused, HTTP 404: check Model -> GiveUp"]);
    }

    #[test]
    fn a_prompt_that_is_too_long_is_recognised_in_every_dialect() {
        let bodies = [
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000.","type":"BadRequestError","code":400}"#,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":4096}}"#,
            r#"{"error":"Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens."}"#,
            r#"[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
            r#"{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error"}}"#,
            r#"{"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000","error_type":"validation"}"#,
            r#"{"error":{"message":"Input validation error: `inputs` must have less than 4097 tokens. Given: 5000"}}"#,
            r#"{"message":"Input is too long for requested model."}"#,
            r#"{"error":"This model's maximum prompt length is 8192 but the request contains 9000 tokens."}"#,
            r#"{"error":{"message":"Input length 131393 exceeds the maximum allowed input length of 131040 tokens."}}"#,
            r#"{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"}}"#,
            r#"{"error":{"message":"Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"}}"#,
            r#"{"message":"too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs."}"#,
            r#"{"error":"Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)"}"#,
            r#"{"error":{"code":"1261","message":"Prompt 超长"}}"#,
            r#"{"error":{"code":"1261","message":"Prompt exceeds max length"}}"#,
            r#"{"message":"The decoder prompt (length 5535) is longer than the maximum model length of 4096."}"#,
            r#"{"error":{"message":"max_tokens must be at least 1, got -133.","param":"max_tokens","code":400}}"#,
        ];
        for body in bodies {
            check(400, body, expect!["the prompt is too long for the model -> ShrinkPrompt"]);
        }
        check(413, "", expect!["the prompt is too long for the model -> ShrinkPrompt"]);
    }

    #[test]
    fn throttling_is_told_from_an_empty_purse() {
        check(
            429,
            r#"{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}"#,
            expect!["the model server asks us to slow down -> RetryLater(None)"],
        );
        check(
            429,
            r#"{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429}}"#,
            expect!["the model server asks us to slow down -> RetryLater(None)"],
        );
        check(
            429,
            r#"[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED"}}]"#,
            expect!["the model server asks us to slow down -> RetryLater(None)"],
        );
        check(
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
            expect!["refused, HTTP 429, insufficient_quota: check Credit -> GiveUp"],
        );
    }

    #[test]
    fn a_delay_is_read_where_no_header_names_it() {
        for (said, expected) in [
            (
                r#"{"error":{"code":429,"details":[{"@type":"x/google.rpc.RetryInfo","retryDelay":"39.5s"}]}}"#,
                Some(39_500),
            ),
            (r#"{"error":{"message":"Rate limit reached. Please try again in 1m7.66s. Need more?"}}"#, Some(67_660)),
            (r#"{"error":{"message":"Please try again in 250ms."}}"#, Some(250)),
            (r#"{"error":{"message":"Please try again in 2h3m."}}"#, Some(7_380_000)),
            (r#"{"error":{"code":"429","message":"Please retry after 26 seconds."}}"#, Some(26_000)),
            (r#"{"error":{"message":"Please try again in a while."}}"#, None),
            (r#"{"error":{"message":"Slow down."}}"#, None),
        ] {
            let refusal = ErrorResponse { status: 429, retry_after: None, body: said.to_owned() };
            let error = diagnose(ServerFailure::Refusal(refusal));
            let LlmError::Throttled { retry_after } = error else { panic!("{error}") };
            assert_eq!(retry_after, expected.map(Duration::from_millis), "{said}");
        }
    }

    #[test]
    fn outages_and_filters_have_their_own_errors() {
        check(
            502,
            "<html><body>Bad Gateway</body></html>",
            expect!["the model server is out of order (HTTP 502) -> RetryLater(None)"],
        );
        check(500, "", expect!["the model server is out of order (HTTP 500) -> RetryLater(None)"]);
        check(501, "", expect!["refused, HTTP 501: check Request -> GiveUp"]);
        check(529, "{}", expect!["the model server is out of order (HTTP 529) -> RetryLater(None)"]);
        check(408, "", expect!["the model took too long -> RetryLater(None)"]);
        check(
            400,
            r#"{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400}}"#,
            expect!["the model's content filter withheld the answer -> GiveUp"],
        );
        check(
            403,
            r#"{"error":{"code":403,"message":"x/y requires moderation on z. Your input was flagged for \"violence\"."}}"#,
            expect!["the model's content filter withheld the answer -> GiveUp"],
        );
        check(
            400,
            r#"{"error":{"message":"Content Exists Risk","code":"invalid_request_error"}}"#,
            expect!["the model's content filter withheld the answer -> GiveUp"],
        );
        check(301, "", expect!["refused, HTTP 301: check Address -> GiveUp"]);
    }

    #[test]
    fn a_refused_parameter_is_said_in_another_way_once() {
        let refusal = |message: &str| {
            let body = serde_json::json!({"error": {"message": message, "code": "unsupported_parameter"}}).to_string();
            ServerFailure::Refusal(ErrorResponse { status: 400, retry_after: None, body })
        };
        let limit = refusal(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
        let temperature = refusal("Unsupported value: 'temperature' does not support 0.3 with this model.");
        let plain = Dialect::default();
        let newer = Dialect { completion_limit: true, ..plain };
        let newest = Dialect { default_temperature: true, ..newer };
        let other_dialect = |failure, spoken| named(failure, spoken, &prompt());
        assert_eq!(other_dialect(&limit, plain), Some(newer));
        let unlimited = Dialect { no_limit: true, ..newer };
        assert_eq!(other_dialect(&limit, newer), Some(unlimited));
        assert_eq!(other_dialect(&limit, unlimited), None);
        assert_eq!(other_dialect(&temperature, newer), Some(newest));
        assert_eq!(other_dialect(&temperature, newest), None);
        assert_eq!(other_dialect(&ServerFailure::NotJson, plain), None);
    }

    #[test]
    fn a_limit_that_is_too_large_is_lowered_to_the_one_that_is_named() {
        let asked = Prompt { max_answer_tokens: 1_500, ..prompt() };
        let other = |message: &str, spoken| {
            let body = serde_json::json!({"error": {"message": message, "code": "400"}}).to_string();
            named(&ServerFailure::Refusal(ErrorResponse { status: 400, retry_after: None, body }), spoken, &asked)
        };
        let plain = Dialect::default();
        let limited = Dialect { most_tokens: Some(1024), ..plain };
        for message in [
            "Invalid max_tokens value, the valid range of max_tokens is [1, 1024]",
            "`max_tokens` must be less than or equal to `1024`, the maximum value for `max_tokens` is less than the \
             `context_window` for this model",
            "max_tokens is too large: 1500. This model supports at most 1024 completion tokens, whereas you provided \
             1500.",
            "max_tokens: 1500 > 1024, which is the maximum allowed number of output tokens for x",
            "max_completion_tokens should be between 1 and 1024",
            "max_tokens must be <= 1024",
        ] {
            assert_eq!(other(message, plain), Some(limited), "{message}");
            assert_ne!(other(message, limited), Some(limited), "{message}");
        }
        let renamed = Dialect { completion_limit: true, ..plain };
        for message in [
            "litellm.UnsupportedParamsError: azure does not support parameters: ['max_tokens'], for model=o1.",
            "max_tokens is not permitted",
            "max_tokens must be > 0",
            "max_tokens must be at most 4096",
        ] {
            assert_eq!(other(message, plain), Some(renamed), "{message}");
            assert_eq!(other(message, renamed), Some(Dialect { no_limit: true, ..renamed }), "{message}");
        }
        for message in ["At most 100 pictures", "tokens per minute: at most 1024", ""] {
            assert_eq!(other(message, plain), None, "{message}");
        }
    }

    #[test]
    fn models_without_a_system_role_are_asked_without_one() {
        let refusal = |status, body: &str| {
            ServerFailure::Refusal(ErrorResponse { status, retry_after: None, body: body.to_owned() })
        };
        let plain = Dialect::default();
        for (status, body) in NO_SYSTEM_ROLE {
            let other = named(&refusal(status, body), plain, &with_tools());
            assert_eq!(other, Some(Dialect { no_system: true, ..plain }), "{body}");
            let reported = Prompt { messages: prompt().messages.split_off(1), ..prompt() };
            assert_eq!(named(&refusal(status, body), plain, &reported), None, "{body}");
        }
        let thoughts =
            r#"{"error":{"message":"Missing `reasoning_content` field in the assistant message at message index 2"}}"#;
        let other = named(&refusal(400, thoughts), plain, &with_tools());
        assert_eq!(other, Some(Dialect { wants_thoughts: true, ..plain }));
    }

    const NO_SYSTEM_ROLE: [(u16, &str); 6] = [
        (500, r#"{"error":{"code":500,"message":"System role not supported","type":"server_error"}}"#),
        (
            400,
            r#"{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","code":400}"#,
        ),
        (400, r#"{"object":"error","message":"Only user and assistant roles are supported!","code":400}"#),
        (
            400,
            r#"[{"error":{"code":400,"message":"Developer instruction is not enabled for models/gemma-3-27b-it","status":"INVALID_ARGUMENT"}}]"#,
        ),
        (
            400,
            r#"{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","type":"invalid_request_error","param":"messages[0].role","code":"unsupported_value"}}"#,
        ),
        (422, r#"{"detail":"Unexpected role 'system' for the first message"}"#),
    ];

    #[test]
    fn models_that_see_nothing_are_asked_without_pictures() {
        let refusal = |status, body: &str| {
            ServerFailure::Refusal(ErrorResponse { status, retry_after: None, body: body.to_owned() })
        };
        let refused = [
            (
                400,
                r#"{"error":{"message":"Invalid content type. image_url is only supported by certain models.","type":"invalid_request_error"}}"#,
            ),
            (404, r#"{"error":{"message":"No endpoints found that support image input","code":404}}"#),
            (400, r#"{"object":"error","message":"llama is not a multimodal model","code":400}"#),
            (
                500,
                r#"{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}"#,
            ),
            (400, r#"{"error":{"message":"'messages.1.content' : value must be a string"}}"#),
            (
                422,
                r#"{"error":{"message":"Failed to deserialize the JSON body: unknown variant `image_url`, expected `text`"}}"#,
            ),
        ];
        let (plain, blind) = (Dialect::default(), Dialect { no_pictures: true, ..Dialect::default() });
        for (status, body) in refused {
            let other = |spoken, prompt: &Prompt| named(&refusal(status, body), spoken, prompt);
            assert_eq!(other(plain, &shown()), Some(blind), "{body}");
            assert!(sees_nothing(&refusal(status, body)), "{body}");
            assert_eq!(other(blind, &shown()), None, "{body}");
            assert_eq!(other(plain, &with_tools()), None, "{body}");
        }
    }

    #[test]
    fn one_picture_that_is_refused_says_nothing_of_the_next() {
        let refusal = |body: &str| {
            ServerFailure::Refusal(ErrorResponse { status: 400, retry_after: None, body: body.to_owned() })
        };
        let plain = Dialect::default();
        let shown = shown();
        let many = refusal(r#"{"error":{"message":"At most 1 image(s) may be provided in one request."}}"#);
        assert_eq!(named(&many, plain, &shown), Some(Dialect { no_pictures: true, ..plain }));
        assert!(!sees_nothing(&many));
        let filtered = refusal(r#"{"error":{"message":"The image was rejected","code":"content_filter"}}"#);
        assert_eq!(named(&filtered, plain, &shown), None);
    }

    fn prompt() -> Prompt {
        let message = |role| PromptMessage { role, content: "When is the dinner?".to_owned() };
        let messages = vec![message(PromptRole::System), message(PromptRole::User)];
        Prompt { temperature: Some(0.3), ..Prompt::new(messages, 100) }
    }

    fn with_tools() -> Prompt {
        let tool = Tool { name: "search", description: "Searches.", parameters: serde_json::json!({"type": "object"}) };
        let tools = Tools { offered: vec![tool], ..Tools::default() };
        Prompt { tools, ..prompt() }
    }

    fn shown() -> Prompt {
        let picture = Picture { label: "photo".to_owned(), media_type: "image/jpeg", bytes: Arc::from([0]) };
        Prompt { pictures: vec![picture], ..with_tools() }
    }

    #[test]
    fn servers_without_tools_are_asked_without_them() {
        let refusal = |status, body: &str| {
            ServerFailure::Refusal(ErrorResponse { status, retry_after: None, body: body.to_owned() })
        };
        let refused = [
            (
                400,
                r#"{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error"}}"#,
            ),
            (
                400,
                r#"{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice to be set","code":400}"#,
            ),
            (500, r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#),
            (404, r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#),
        ];
        let plain = Dialect::default();
        let without = Dialect { no_tools: true, ..plain };
        for (status, body) in refused {
            assert_eq!(named(&refusal(status, body), plain, &with_tools()), Some(without), "{body}");
            assert_eq!(named(&refusal(status, body), without, &with_tools()), None, "{body}");
            assert_eq!(named(&refusal(status, body), plain, &prompt()), None, "{body}");
        }
        let too_long = r#"{"error":{"message":"maximum context length is 8192 tokens, 300 of them in the tools"}}"#;
        assert_eq!(named(&refusal(400, too_long), plain, &with_tools()), None);
    }
}
