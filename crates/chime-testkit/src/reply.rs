//! Replies of the scripted model server, good and bad.

use std::time::Duration;

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::sync::watch;

/// Reply of the scripted model server.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Good completion with this text.
    Text(String),
    /// Good completion after a delay.
    Slow(Duration, String),
    /// Completion cut off at the token limit.
    Truncated(String),
    /// Tool calls, by name with arguments.
    Tools(Vec<(&'static str, Value)>),
    /// This body with status 200.
    Body(Value),
    /// This status and body.
    Status(u16, String),
    /// This status with these headers, and the body in chunks.
    Raw { status: u16, headers: Vec<(String, String)>, body: Vec<Vec<u8>> },
    /// Stream of these chunks: the first at once, each later one and the end after another
    /// [`ModelServer::release`](super::ModelServer::release).
    Stream(Vec<String>),
    /// Stream that breaks off after these chunks.
    BrokenStream(Vec<String>),
    /// 429 with `Retry-After` in seconds.
    Throttle(u64),
    /// No answer until [`ModelServer::release`](super::ModelServer::release), then an empty 200.
    Hang,
    /// No answer until the release, then a good completion.
    Held(String),
    /// A proxy's error page.
    Html502,
    /// Web page with status 200.
    Html200,
    /// Empty list of choices.
    EmptyChoices,
    /// `"choices": null`.
    NullChoices,
    /// White space only.
    Blank,
    /// Connection broken in the middle of the body.
    CutBody,
    /// JSON that ends too early, in a complete HTTP response.
    CutJson,
    /// Bytes that are not UTF-8.
    Garbage,
    /// Withheld by a content filter.
    Filtered,
    /// Text without a finish reason, as if generation broke off.
    NoFinish,
    /// Status 200 with an upstream error in the body.
    ErrorIn200,
    /// Completion with a text of this many bytes.
    Huge(usize),
}

impl Reply {
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the delay before the answer.
    pub(super) fn pause(&self) -> Duration {
        if let Self::Slow(span, _) = self { *span } else { Duration::ZERO }
    }

    /// Returns `true` if the reply waits for a release.
    pub(super) fn hangs(&self) -> bool {
        matches!(self, Self::Hang | Self::Held(_))
    }

    /// Converts the reply to an HTTP response to `request`.
    pub(super) fn into_response(self, request: &Value) -> Response {
        let good = |text: &str| completion(request, &json!(text), Some("stop"));
        match self {
            Self::Text(text) | Self::Slow(_, text) | Self::Held(text) => ok(&good(&text)),
            Self::Truncated(text) => ok(&completion(request, &json!(text), Some("length"))),
            Self::Tools(calls) => ok(&calling(request, &calls)),
            Self::Body(body) => ok(&body),
            Self::Status(status, body) => with_status(status, body),
            Self::Raw { status, headers, body } => raw(status, headers, body),
            // The request wants no stream, so the whole text is sent at once.
            Self::Stream(pieces) => ok(&good(&pieces.concat())),
            Self::BrokenStream(_) => with_status(500, String::new()),
            Self::Throttle(secs) => throttled(secs),
            Self::Hang => StatusCode::OK.into_response(),
            Self::Html502 => html(StatusCode::BAD_GATEWAY, "<h1>502 Bad Gateway</h1>"),
            Self::Html200 => html(StatusCode::OK, "<h1>Welcome</h1>"),
            Self::EmptyChoices => ok(&json!({"id": "x", "object": "chat.completion", "choices": []})),
            Self::NullChoices => ok(&json!({"id": "x", "object": "chat.completion", "choices": null})),
            Self::Blank => ok(&good(" \n\t ")),
            Self::CutBody => cut_body(&good("They settled on Friday.").to_string()),
            Self::CutJson => json_bytes(half(&good("They settled on Friday.").to_string()).to_owned()),
            Self::Garbage => json_bytes(vec![0xFF, 0x00, 0xC3, 0x28]),
            Self::Filtered => ok(&completion(request, &json!(""), Some("content_filter"))),
            Self::NoFinish => ok(&completion(request, &json!("They settled on"), None)),
            Self::ErrorIn200 => ok(&json!({"error": {"message": "Provider returned error", "code": 502}})),
            Self::Huge(bytes) => ok(&good(&"x".repeat(bytes))),
        }
    }
}

/// Streams `pieces`, each after the first on a change of `released`. Ends properly if `is_whole`.
pub(super) fn streamed(pieces: Vec<String>, mut released: watch::Receiver<usize>, is_whole: bool) -> Response {
    let event = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!("data: {}\n\n", json!({"object": "chat.completion.chunk", "choices": [choice]}))
    };
    let mut events: Vec<String> = pieces.iter().map(|piece| event(json!({"content": piece}), None)).collect();
    if is_whole {
        events.push(format!("{}data: [DONE]\n\n", event(json!({}), Some("stop"))));
    }
    released.mark_unchanged();
    let body =
        stream::unfold((events.into_iter(), released, true), |(mut events, mut released, is_first)| async move {
            let event = events.next()?;
            if !is_first {
                released.changed().await.ok();
            }
            Some((Ok::<_, std::io::Error>(event), (events, released, false)))
        });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Returns a completion body in OpenAI's format.
fn completion(request: &Value, content: &Value, finish_reason: Option<&str>) -> Value {
    // A server reads the definitions of tools too.
    let read = ["messages", "tools"].into_iter().filter_map(|part| request.get(part));
    let prompt_tokens = read.map(|part| part.to_string().len()).sum::<usize>() / 4;
    let completion_tokens = content.to_string().len() / 4;
    json!({
        "id": "chatcmpl-test",
        "object": "chat.completion",
        "created": 1_763_632_800,
        "model": request["model"],
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": content, "refusal": null, "annotations": []},
            "logprobs": null,
            "finish_reason": finish_reason,
        }],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
        "service_tier": "default",
        "system_fingerprint": "fp_test",
    })
}

/// Returns a completion body with tool calls.
fn calling(request: &Value, calls: &[(&'static str, Value)]) -> Value {
    let call = |(place, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"id": format!("call_test_{place}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    let mut body = completion(request, &Value::Null, Some("tool_calls"));
    body["choices"][0]["message"]["tool_calls"] = json!(calls);
    body
}

fn ok(body: &Value) -> Response {
    json_bytes(body.to_string())
}

fn json_bytes(body: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body.into()).into_response()
}

fn with_status(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn raw(status: u16, headers: Vec<(String, String)>, body: Vec<Vec<u8>>) -> Response {
    let pieces = stream::iter(body).then(|piece| async {
        // Yields, because chunks that are ready together would be sent as one.
        tokio::task::yield_now().await;
        Ok::<_, std::io::Error>(piece)
    });
    let mut response = with_status(status, String::new());
    *response.body_mut() = Body::from_stream(pieces);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (header::HeaderName::try_from(name), header::HeaderValue::try_from(value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn throttled(secs: u64) -> Response {
    let body = json!({"error": {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}});
    let headers = [(header::RETRY_AFTER, secs.to_string())];
    (StatusCode::TOO_MANY_REQUESTS, headers, ok(&body)).into_response()
}

fn html(status: StatusCode, heading: &str) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html")], format!("<html><body>{heading}</body></html>")).into_response()
}

/// Sends half of `body`, then fails, which closes the connection.
fn cut_body(body: &str) -> Response {
    let cut = std::io::Error::new(std::io::ErrorKind::ConnectionReset, "cut by the script");
    json_bytes(Body::from_stream(stream::iter([Ok(half(body).to_owned()), Err(cut)])))
}

fn half(body: &str) -> &str {
    body.get(..body.len() / 2).unwrap_or_default()
}
