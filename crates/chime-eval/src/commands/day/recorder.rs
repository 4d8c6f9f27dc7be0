//! Forwards requests to a model server, and records its completions.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode};
use http_body_util::BodyExt;
use serde::Serialize;
use serde_json::Value;
use tokio::net::TcpListener;

/// Longest request that is forwarded, in bytes.
const MOST_BYTES: usize = 16 << 20;
/// Number of characters of a prompt by which its kind is recognized.
const KIND_CHARS: usize = 44;

/// One completion: the request and the text of the answer.
#[derive(Debug, Serialize)]
pub struct ModelExchange {
    /// Beginning of the prompt, which differs between kinds of work.
    pub kind: String,
    pub request: Value,
    pub answer: String,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    pub answer_tokens: u64,
}

/// Request and the bytes of its answer so far.
type RawExchange = (Value, Arc<Mutex<Vec<u8>>>);

/// Server on loopback in front of a model server.
#[derive(Debug, Clone)]
pub struct Recorder {
    client: reqwest::Client,
    /// Address of the model server without its path.
    origin: String,
    exchanges: Arc<Mutex<Vec<RawExchange>>>,
}

impl Recorder {
    /// Starts to record what goes to the model server at `url`. Returns the recorder and the URL to use in its place.
    #[expect(clippy::disallowed_methods, reason = "the server ends with the program")]
    pub async fn start(url: &str) -> anyhow::Result<(Self, String)> {
        let upstream = reqwest::Url::parse(url)?;
        let recorder = Self {
            client: reqwest::Client::new(),
            origin: upstream.origin().ascii_serialization(),
            exchanges: Arc::default(),
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}{}", listener.local_addr()?, upstream.path());
        let server = Router::new().fallback(forward).with_state(recorder.clone());
        tokio::spawn(async move { axum::serve(listener, server).await });
        Ok((recorder, url))
    }

    /// Returns the completions so far, those that were cancelled included.
    pub fn exchanges(&self) -> Vec<ModelExchange> {
        let exchanges = self.exchanges.lock().unwrap_or_else(PoisonError::into_inner);
        exchanges.iter().map(|(request, bytes)| exchange(request, &locked(bytes))).collect()
    }
}

fn locked(bytes: &Mutex<Vec<u8>>) -> Vec<u8> {
    bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

async fn forward(State(recorder): State<Recorder>, request: Request) -> Response<Body> {
    let refused = |error: String| {
        let mut response = Response::new(Body::from(error));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        response
    };
    let (parts, body) = request.into_parts();
    let body = match axum::body::to_bytes(body, MOST_BYTES).await {
        Ok(body) => body,
        Err(error) => return refused(error.to_string()),
    };
    let url = format!("{}{}", recorder.origin, parts.uri);
    let mut headers = parts.headers;
    headers.remove("host");
    let sent = recorder.client.request(parts.method, url).headers(headers).body(body.clone()).send().await;
    let response: Response<reqwest::Body> = match sent {
        Ok(response) => response.into(),
        Err(error) => return refused(error.to_string()),
    };
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    if parts.uri.path().ends_with("/completions") {
        let request = serde_json::from_slice(&body).unwrap_or_default();
        recorder.exchanges.lock().unwrap_or_else(PoisonError::into_inner).push((request, Arc::clone(&seen)));
    }
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let data: Option<&Bytes> = frame.data_ref();
            data.inspect(|data| seen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(data));
            frame
        }))
    })
}

/// Reads an exchange; the answer is one JSON object or a stream of events.
fn exchange(request: &Value, bytes: &[u8]) -> ModelExchange {
    let text = String::from_utf8_lossy(bytes);
    let events = text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok());
    let events: Vec<Value> = serde_json::from_str(&text).map_or_else(|_| events.collect(), |whole| vec![whole]);
    let choice = |event: &Value| {
        let choice = &event["choices"][0];
        let said = [&choice["message"], &choice["delta"]].into_iter().find_map(|said| said["content"].as_str());
        said.unwrap_or_default().to_owned()
    };
    let tokens = |pointer: &str| events.iter().filter_map(|event| event.pointer(pointer)?.as_u64()).max().unwrap_or(0);
    let first = request["messages"][0]["content"].as_str().unwrap_or_default();
    ModelExchange {
        kind: first.chars().take(KIND_CHARS).take_while(|c| *c != '\n').collect(),
        request: request.clone(),
        answer: events.iter().map(choice).collect(),
        prompt_tokens: tokens("/usage/prompt_tokens"),
        cached_tokens: tokens("/usage/prompt_tokens_details/cached_tokens"),
        answer_tokens: tokens("/usage/completion_tokens"),
    }
}
