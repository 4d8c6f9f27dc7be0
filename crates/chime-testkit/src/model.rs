//! Scripted language model: a real HTTP server on loopback with OpenAI's chat completions API, which replies by script
//! and records the requests.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Reply;
use crate::reply::streamed;
use chime_runtime::clock::Clock;

/// Timeout of waits, in real time; nothing in a test takes this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Scripted model server. Stops and closes its connections on drop.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    stage: Arc<ServerState>,
}

/// State shared by server and test.
#[derive(Debug)]
struct ServerState {
    play: Mutex<Play>,
    /// Number of completion requests so far.
    asked: watch::Sender<usize>,
    /// Number of releases so far; a held reply waits for the next.
    released: watch::Sender<usize>,
    closed: CancellationToken,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Play {
    script: VecDeque<Reply>,
    always: Option<Reply>,
    improvises: Option<fn(&Value) -> Reply>,
    requests: Vec<Value>,
    authorizations: Vec<Option<String>>,
    embedded: Vec<String>,
    refuses_to_embed: bool,
    /// Most texts of a request for embeddings, and most characters of a text.
    embeds_at_most: Option<(usize, usize)>,
    hears: VecDeque<String>,
    always_hears: Option<String>,
    /// Probability of silence that transcripts report.
    silence: Option<f64>,
    refuses_to_hear: bool,
    hears_only_plainly: bool,
    recordings: Vec<String>,
    unexpected: Vec<String>,
    /// Bodies by path of what the server reports of itself; `null` for a path that it does not have.
    told: HashMap<&'static str, Value>,
}

impl ModelServer {
    /// Listens on a free loopback port. Delays of replies use `clock`.
    pub async fn start(clock: Clock) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let stage = Arc::new(ServerState {
            play: Mutex::default(),
            asked: watch::Sender::new(0),
            released: watch::Sender::new(0),
            closed: CancellationToken::new(),
            clock,
        });
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .route("/v1/embeddings", post(embed))
            .route("/v1/audio/transcriptions", post(transcribe))
            .fallback(tell)
            .with_state(Arc::clone(&stage));
        let closed = stage.closed.clone();
        // Sends chunks at once, as real servers do. A failure only delays them.
        let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
        let serving = axum::serve(listener, router).with_graceful_shutdown(closed.cancelled_owned());
        #[expect(clippy::disallowed_methods, reason = "the server's only task, which ends with the handle")]
        tokio::spawn(serving.into_future());
        Ok(Self { address, stage })
    }

    /// Returns the value for `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn script<R: Into<Reply>>(&self, replies: impl IntoIterator<Item = R>) {
        self.stage.play().script.extend(replies.into_iter().map(Into::into));
    }

    /// Sets the reply for requests beyond the script.
    pub fn always(&self, reply: impl Into<Reply>) {
        self.stage.play().always = Some(reply.into());
    }

    /// Sets a function that makes the reply for requests beyond the script.
    pub fn improvise(&self, reply: fn(&Value) -> Reply) {
        self.stage.play().improvises = Some(reply);
    }

    /// Returns the bodies of all completion requests, oldest first.
    pub fn requests(&self) -> Vec<Value> {
        self.stage.play().requests.clone()
    }

    /// Returns the `Authorization` header of each of [`requests`](Self::requests).
    pub fn authorizations(&self) -> Vec<Option<String>> {
        self.stage.play().authorizations.clone()
    }

    /// Returns all texts sent for embedding, oldest first.
    pub fn embedded(&self) -> Vec<String> {
        self.stage.play().embedded.clone()
    }

    /// Sets the limits of requests for embeddings: number of texts, and characters of each.
    pub fn limit_embedding(&self, texts: usize, chars: usize) {
        self.stage.play().embeds_at_most = Some((texts, chars));
    }

    /// Makes requests for transcripts with details fail.
    pub fn refuse_verbose_transcripts(&self) {
        self.stage.play().hears_only_plainly = true;
    }

    /// Sets if requests for embeddings fail.
    pub fn refuse_to_embed(&self, refuses: bool) {
        self.stage.play().refuses_to_embed = refuses;
    }

    /// Adds transcripts for the next recordings, in order. Without one, transcription fails.
    pub fn hear<S: Into<String>>(&self, said: impl IntoIterator<Item = S>) {
        self.stage.play().hears.extend(said.into_iter().map(Into::into));
    }

    /// Sets the transcript for recordings for which [`hear`](Self::hear) gave none.
    pub fn hear_always(&self, said: &str) {
        self.stage.play().always_hears = Some(said.to_owned());
    }

    /// Makes transcripts report that nobody spoke with this probability.
    pub fn judge_silence(&self, probability: f64) {
        self.stage.play().silence = Some(probability);
    }

    /// Rejects every recording from now on as unreadable.
    pub fn refuse_to_hear(&self) {
        self.stage.play().refuses_to_hear = true;
    }

    /// Returns the bodies of all transcription requests, oldest first.
    pub fn recordings(&self) -> Vec<String> {
        self.stage.play().recordings.clone()
    }

    /// Sets the answer to `/props`, as llama.cpp gives it. The default reports 64 slots.
    pub fn tell_of_itself(&self, props: Value) {
        self.tell("/props", props);
    }

    /// Sets the answer to requests of `path`, such as `/v1/models` or Ollama's `/api/show`; `null` for status 404.
    pub fn tell(&self, path: &'static str, body: Value) {
        self.stage.play().told.insert(path, body);
    }

    /// Returns the replies of the script that were not used.
    pub fn leftover(&self) -> Vec<Reply> {
        self.stage.play().script.iter().cloned().collect()
    }

    /// Returns the calls beyond the script, and calls of unknown paths.
    pub fn unexpected(&self) -> Vec<String> {
        self.stage.play().unexpected.clone()
    }

    /// Releases all held replies.
    pub fn release(&self) {
        self.stage.released.send_modify(|count| *count += 1);
    }

    /// Waits until `count` completions have been requested since the start.
    ///
    /// # Errors
    /// Returns a description of what was seen if that takes too long.
    pub async fn wait_for_requests(&self, count: usize) -> Result<(), String> {
        let mut asked = self.stage.asked.subscribe();
        let enough = asked.wait_for(|seen| *seen >= count);
        match tokio::time::timeout(PATIENCE, enough).await {
            Ok(_) => Ok(()),
            Err(_) => Err(format!("waited for {count} model requests and saw {}", self.requests().len())),
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.stage.closed.cancel();
    }
}

impl ServerState {
    fn play(&self) -> MutexGuard<'_, Play> {
        self.play.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a request and returns its reply from the script.
    fn take_reply(&self, headers: &HeaderMap, request: &Value) -> Reply {
        let mut play = self.play();
        let reply = play.script.pop_front().or_else(|| play.always.clone());
        let reply = reply.or_else(|| play.improvises.map(|improvise| improvise(request)));
        let reply = reply.unwrap_or_else(|| {
            let call = format!("completion {} has no reply in the script", play.requests.len() + 1);
            play.unexpected.push(call.clone());
            Reply::Status(500, json!({"error": {"message": call}}).to_string())
        });
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        play.authorizations.push(authorization.map(str::to_owned));
        play.requests.push(request.clone());
        reply
    }
}

async fn complete(State(stage): State<Arc<ServerState>>, headers: HeaderMap, Json(request): Json<Value>) -> Response {
    let reply = stage.take_reply(&headers, &request);
    // Both are done before the request is announced, since a test may react to it at once by moving the clock or
    // releasing.
    let mut released = stage.released.subscribe();
    let until = stage.clock.now().plus(reply.pause());
    stage.asked.send_modify(|count| *count += 1);
    let waiting = async {
        if reply.hangs() {
            let _ = released.changed().await;
        }
        stage.clock.sleep_until(until).await;
    };
    tokio::select! {
        () = waiting => {}
        () = stage.closed.cancelled() => {}
    }
    match reply {
        Reply::Stream(pieces) => streamed(pieces, released, true),
        Reply::BrokenStream(pieces) => streamed(pieces, released, false),
        reply => reply.into_response(&request),
    }
}

/// Embeds a text as its counts of letters, enough to tell two texts apart.
async fn embed(State(stage): State<Arc<ServerState>>, Json(request): Json<Value>) -> Response {
    let texts: Vec<String> = serde_json::from_value(request["input"].clone()).unwrap_or_default();
    let mut play = stage.play();
    play.embedded.extend(texts.iter().cloned());
    if play.refuses_to_embed {
        return Reply::Status(503, json!({"error": {"message": "overloaded"}}).to_string()).into_response(&request);
    }
    if let Some((most, chars)) = play.embeds_at_most {
        if texts.len() > most {
            let refusal = json!({"message": format!("batch size {} > maximum allowed batch size {most}", texts.len())});
            return Reply::Status(413, refusal.to_string()).into_response(&request);
        }
        if texts.iter().any(|text| text.chars().count() > chars) {
            let refusal = json!({"error": {"code": 500, "message": "input is too large to process"}});
            return Reply::Status(500, refusal.to_string()).into_response(&request);
        }
    }
    let vector = |text: &String| -> Vec<usize> { ('a'..='z').map(|c| text.matches(c).count() + 1).collect() };
    let data: Vec<Value> = (0_usize..)
        .zip(&texts)
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)}))
        .collect();
    let body = json!({"object": "list", "data": data, "model": request["model"]});
    Reply::Body(body).into_response(&request)
}

/// Records the request body as it was sent, so that tests can check it.
async fn transcribe(State(stage): State<Arc<ServerState>>, body: Bytes) -> Response {
    let mut play = stage.play();
    play.recordings.push(String::from_utf8_lossy(&body).into_owned());
    if play.hears_only_plainly && play.recordings.last().is_some_and(|form| form.contains("verbose_json")) {
        let refusal = json!({"error": {"message": "Currently only support response_format `text` or `json`"}});
        return Reply::Status(400, refusal.to_string()).into_response(&Value::Null);
    }
    if play.refuses_to_hear {
        let refusal = json!({"error": {"message": "Audio file is too short", "type": "invalid_request_error"}});
        return Reply::Status(400, refusal.to_string()).into_response(&Value::Null);
    }
    match play.hears.pop_front().or_else(|| play.always_hears.clone()) {
        Some(text) => Reply::Body(transcript(&text, play.silence)).into_response(&Value::Null),
        None => Reply::Status(503, json!({"error": {"message": "overloaded"}}).to_string()).into_response(&Value::Null),
    }
}

fn transcript(text: &str, silence: Option<f64>) -> Value {
    match silence {
        Some(silence) => {
            let segment = json!({"text": text, "no_speech_prob": silence, "avg_logprob": -0.2});
            json!({"text": text, "segments": [segment]})
        }
        None => json!({"text": text}),
    }
}

/// Answers with what the server reports of itself. Any other path is unexpected.
async fn tell(State(stage): State<Arc<ServerState>>, request: Request) -> Response {
    let (path, mut play) = (request.uri().path(), stage.play());
    let usual = || match path {
        "/v1/models" => Some(json!({
            "object": "list",
            "data": [{"id": "test-model", "object": "model", "created": 1_763_632_800, "owned_by": "test"}],
        })),
        "/props" => Some(json!({"total_slots": 64})),
        // Only other servers have these.
        "/api/v0/models" | "/api/extra/true_max_context_length" | "/info" | "/v1/model" => Some(Value::Null),
        _ => None,
    };
    let body = play.told.get(path).cloned().or_else(usual);
    if body.is_none() {
        play.unexpected.push(format!("{} {path}", request.method()));
    }
    match body.filter(|body| !body.is_null()) {
        Some(body) => Reply::Body(body).into_response(&Value::Null),
        None => Reply::Status(404, "404 page not found".to_owned()).into_response(&Value::Null),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn started() -> (ModelServer, reqwest::Client) {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        (ModelServer::start(Clock::system()).await.expect("a port"), http)
    }

    async fn ask(server: &ModelServer, http: &reqwest::Client) -> (u16, Value) {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "when?"}]});
        let url = format!("{}/chat/completions", server.base_url());
        let response = http.post(url).json(&body).send().await.expect("an answer");
        (response.status().as_u16(), response.json().await.expect("JSON"))
    }

    #[tokio::test]
    async fn it_follows_the_script_and_reports_what_does_not() {
        let (server, http) = started().await;
        server.script(["Friday.", "Saturday."]);
        assert_eq!(ask(&server, &http).await.1["choices"][0]["message"]["content"], "Friday.");
        assert_eq!(server.leftover(), [Reply::text("Saturday.")]);
        assert_eq!(ask(&server, &http).await.0, 200);
        assert!(server.unexpected().is_empty());
        assert_eq!(ask(&server, &http).await.0, 500);
        assert_eq!(server.unexpected(), ["completion 3 has no reply in the script"]);
        assert_eq!(server.requests().len(), 3);
        assert_eq!(server.requests()[0]["messages"][0]["content"], "when?");
        server.always("Sunday.");
        assert_eq!(ask(&server, &http).await.0, 200);
    }

    #[tokio::test]
    async fn a_path_that_it_does_not_know_is_unexpected() {
        let (server, http) = started().await;
        let models = http.get(format!("{}/models", server.base_url())).send().await.expect("an answer");
        assert_eq!(models.status(), 200);
        let other = http.get(format!("{}/nowhere", server.base_url())).send().await.expect("an answer");
        assert_eq!(other.status(), 404);
        assert_eq!(server.unexpected(), ["GET /v1/nowhere"]);
    }

    #[tokio::test]
    async fn a_hanging_reply_ends_with_its_release_and_a_slow_one_with_the_clock() {
        let (server, http) = started().await;
        let hour = Duration::from_hours(1);
        server.script([Reply::Hang, Reply::Slow(hour, "Friday.".into())]);
        let url = format!("{}/chat/completions", server.base_url());
        let (hung, ()) = tokio::join!(http.post(&url).json(&json!({})).send(), async {
            server.wait_for_requests(1).await.expect("a request");
            server.release();
        });
        assert_eq!(hung.expect("an answer").status(), 200);
        let (slow, ()) = tokio::join!(ask(&server, &http), async {
            server.wait_for_requests(2).await.expect("a request");
            server.stage.clock.advance(hour);
        });
        assert_eq!(slow.0, 200);
    }
}
