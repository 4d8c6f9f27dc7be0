//! Tests of the client against a real HTTP server with scripted misbehaviour.

use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};

use super::*;
use chime_core::TokenUse;
use chime_core::config::{ModelConfig, ModelServerConfig};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::RetryPolicy;
use chime_testkit::{ModelServer, Reply};

mod matrix;
mod quirks;

const MODEL: &str = "test-model";
const FALLBACK: &str = "spare-model";

fn options(server: &ModelServer) -> LlmOptions {
    LlmOptions {
        api_key: Some("sk-secret".into()),
        base_url: server.base_url(),
        model: MODEL.into(),
        fallback: None,
        // Long enough for the largest answer in these tests on a busy machine.
        timeout: Duration::from_secs(30),
        deadline: Duration::from_mins(1),
    }
}

fn with_fallback(server: &ModelServer) -> LlmOptions {
    LlmOptions { fallback: Some(ModelConfig::named(FALLBACK)), ..options(server) }
}

/// A client with negligible retry delays. Delays that a server asks for remain.
fn client(options: LlmOptions) -> OpenAi {
    let mut client = OpenAi::new(options).expect("usable options");
    client.retries = quick();
    client
}

impl OpenAi {
    async fn answer(&self, prompt: &Prompt, clock: &Clock) -> Result<Completion, LlmError> {
        self.complete(prompt, None, false, clock, async || {}).await
    }

    async fn answer_streaming(
        &self,
        prompt: &Prompt,
        progress: &AnswerProgress,
        clock: &Clock,
    ) -> Result<Completion, LlmError> {
        self.complete(prompt, Some(progress), false, clock, async || {}).await
    }
}

fn quick() -> RetryPolicy {
    RetryPolicy { max_retries: 2, base: Duration::from_millis(2), cap: Duration::from_secs(15) }
}

fn prompt() -> Prompt {
    let content = "When is the dinner? PRIVATE WORDS".to_owned();
    let messages = vec![PromptMessage { role: PromptRole::User, content }];
    Prompt { temperature: Some(0.3), ..Prompt::new(messages, 100) }
}

async fn started() -> ModelServer {
    ModelServer::start(Clock::system()).await.expect("a port")
}

fn reported(outcome: &Result<Completion, LlmError>) -> String {
    match outcome {
        Ok(Completion { text, model, truncated, .. }) => {
            format!("{model}: {text}{}", if *truncated { " (truncated)" } else { "" })
        }
        Err(error) => format!("{error} -> {:?}", error.recovery()),
    }
}

/// Plays `script` without a fallback model; compares the outcome and the number of requests.
async fn check(script: Vec<Reply>, expected: Expect) {
    let server = started().await;
    server.script(script);
    let outcome = client(options(&server)).answer(&prompt(), &Clock::system()).await;
    expected.assert_eq(&format!("{} [{}]", reported(&outcome), server.requests().len()));
    assert!(server.unexpected().is_empty(), "{:?}", server.unexpected());
    assert!(server.leftover().is_empty(), "{:?}", server.leftover());
}

#[tokio::test]
async fn an_answer_comes_with_its_model_and_counted_tokens() {
    let server = started().await;
    server.script(["  Friday at seven. "]);
    let completion = client(options(&server)).answer(&prompt(), &Clock::system()).await.expect("an answer");
    assert_eq!(completion.text, "Friday at seven.");
    assert_eq!(completion.model, MODEL);
    assert!(completion.tokens_counted);
    assert!(completion.tokens.prompt > 0 && completion.tokens.completion > 0, "{:?}", completion.tokens);
    assert_eq!(server.authorizations(), [Some("Bearer sk-secret".to_owned())]);
    let question = serde_json::json!([{"role": "user", "content": "When is the dinner? PRIVATE WORDS"}]);
    assert_eq!(server.requests()[0]["messages"], question);
}

#[tokio::test]
async fn tokens_that_the_server_does_not_count_are_estimated() {
    let server = started().await;
    let body = serde_json::json!({"choices": [{"message": {"content": "Friday."}, "finish_reason": "stop"}]});
    server.script([Reply::Body(body)]);
    let completion = client(options(&server)).answer(&prompt(), &Clock::system()).await.expect("an answer");
    assert!(!completion.tokens_counted);
    assert_eq!(completion.tokens, TokenUse { prompt: prompt().estimated_tokens() as u64, completion: 3 });
}

#[tokio::test]
async fn no_key_sends_no_header_and_a_trailing_slash_does_no_harm() {
    let server = started().await;
    server.script(["Friday."]);
    let base_url = format!("{}/", server.base_url());
    let options = LlmOptions { api_key: None, base_url, ..options(&server) };
    assert!(client(options).answer(&prompt(), &Clock::system()).await.is_ok());
    assert_eq!(server.authorizations(), [None]);
}

#[tokio::test]
async fn passing_trouble_is_retried_twice_at_most() {
    let broken = || Reply::Status(500, String::new());
    check(vec![broken(), Reply::text("Friday.")], expect!["test-model: Friday. [2]"]).await;
    check(vec![Reply::Html502, Reply::CutBody, Reply::text("Friday.")], expect!["test-model: Friday. [3]"]).await;
    check(vec![Reply::ErrorIn200, Reply::Throttle(0), Reply::text("Friday.")], expect!["test-model: Friday. [3]"])
        .await;
    check(
        vec![broken(), broken(), broken()],
        expect!["the model server is out of order (HTTP 500) -> RetryLater(None) [3]"],
    )
    .await;
    check(
        vec![Reply::Throttle(0), Reply::Throttle(0), Reply::Throttle(0)],
        expect!["the model server asks us to slow down -> RetryLater(Some(0ns)) [3]"],
    )
    .await;
    check(
        vec![Reply::CutBody, Reply::CutBody, Reply::CutBody],
        expect!["the model server cannot be reached -> RetryLater(None) [3]"],
    )
    .await;
}

#[tokio::test]
async fn the_only_server_gets_time_to_start() {
    let server = started().await;
    let loading = || Reply::Status(503, r#"{"error":{"message":"Loading model"}}"#.to_owned());
    check(vec![loading(), loading(), Reply::text("Friday.")], expect!["test-model: Friday. [3]"]).await;
    let (model, usual) = (client(options(&server)), quick().base);
    let starting = LlmError::Unavailable { status: 503, retry_after: None };
    let base = |error: &LlmError, retries, is_only| model.policy(error, retries, is_only).base;
    assert!(base(&starting, 1, true) > 5 * usual);
    assert_eq!([base(&starting, 0, true), base(&starting, 1, false)], [usual; 2]);
    assert_eq!(base(&LlmError::BrokeOff, 1, true), usual);
}

#[tokio::test]
async fn an_answer_may_be_sent_as_a_web_page() {
    let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
    let body = br#"{"choices":[{"message":{"content":"Friday."},"finish_reason":"stop"}]}"#.to_vec();
    check(vec![Reply::Raw { status: 200, headers, body: vec![body] }], expect!["test-model: Friday. [1]"]).await;
}

#[tokio::test]
async fn what_will_not_change_is_not_retried() {
    let status = |status, code: &str| {
        vec![Reply::Status(status, format!(r#"{{"error":{{"message":"no PRIVATE WORDS","code":"{code}"}}}}"#))]
    };
    // Repeated once without optional parameters, and then compared with the shortest prompt. The error reports the
    // first refusal.
    let twice = [status(400, "invalid_request_error"), status(400, "no_idea")].concat();
    check(
        [twice.clone(), status(400, "no_idea")].concat(),
        expect![
            "the model server refused (HTTP 400, invalid_request_error): check the model's name, the account and the model server's own log -> GiveUp [3]"
        ],
    )
    .await;
    check(
        [twice, vec![Reply::text("Hello.")], status(400, "no_idea")].concat(),
        expect![
            "the model server refused (HTTP 400, invalid_request_error): check that this model can chat -> GiveUp [4]"
        ],
    )
    .await;
    check(
        status(401, "invalid_api_key"),
        expect!["the model server refused (HTTP 401, invalid_api_key): check OPENAI_API_KEY -> GiveUp [1]"],
    )
    .await;
    check(
        status(403, ""),
        expect!["the model server refused (HTTP 403): check that OPENAI_API_KEY may use this model -> GiveUp [1]"],
    )
    .await;
    check(
        status(404, "model_not_found"),
        expect![
            "the model server refused (HTTP 404, model_not_found): check the model's name and OPENAI_BASE_URL -> GiveUp [1]"
        ],
    )
    .await;
    check(status(400, "context_length_exceeded"), expect!["the prompt is too long for the model -> ShrinkPrompt [1]"])
        .await;
    check(
        status(429, "insufficient_quota"),
        expect![
            "the model server refused (HTTP 429, insufficient_quota): check the account's credit and limits -> GiveUp [1]"
        ],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_none_is_a_failure_with_a_name() {
    check(
        vec![Reply::EmptyChoices],
        expect!["the model server's answer cannot be used: it has no choices -> GiveUp [1]"],
    )
    .await;
    check(
        vec![Reply::NullChoices],
        expect!["the model server's answer cannot be used: it has no choices -> GiveUp [1]"],
    )
    .await;
    check(vec![Reply::Blank], expect!["the model answered without text -> GiveUp [1]"]).await;
    check(vec![Reply::Filtered], expect!["the model's content filter withheld the answer -> GiveUp [1]"]).await;
    check(vec![Reply::CutJson; 3], expect!["the model server's answer broke off -> RetryLater(None) [3]"]).await;
    check(vec![Reply::Garbage], expect!["the model server's answer cannot be used: it is not JSON -> GiveUp [1]"])
        .await;
    check(
        vec![Reply::Html200],
        expect!["the model server refused (a web page): check OPENAI_BASE_URL, which ends in /v1 -> GiveUp [1]"],
    )
    .await;
    check(
        vec![Reply::Huge(9 * 1024 * 1024)],
        expect!["the model server's answer cannot be used: it is far too large -> GiveUp [1]"],
    )
    .await;
    check(vec![Reply::Truncated("Friday, be".into())], expect!["test-model: Friday, be (truncated) [1]"]).await;
    check(vec![Reply::NoFinish], expect!["test-model: They settled on [1]"]).await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable() {
    // Port 1 is reserved and has no listener.
    let options = LlmOptions { base_url: "http://127.0.0.1:1/secret/v1".into(), ..options(&started().await) };
    let error = client(options).answer(&prompt(), &Clock::system()).await.expect_err("nobody listens");
    assert!(matches!(error, LlmError::Unreachable(_)), "{error:?}");
    let chain = format!("{:?}", anyhow::Error::from(error));
    assert!(!chain.contains("secret"), "an address may hold a key: {chain}");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Collects everything that any test logs from now on. Global, because a call site first reached by a thread
    /// without a subscriber stays disabled for all threads.
    fn listen() -> &'static Self {
        static LOG: LazyLock<Log> = LazyLock::new(|| {
            let log = Log::default();
            let writer = log.clone();
            let subscriber = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::TRACE)
                .with_writer(move || writer.clone())
                .finish();
            tracing::subscriber::set_global_default(subscriber).expect("the only subscriber among these tests");
            log
        });
        &LOG
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("a log")).into_owned()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a log").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn nothing_of_the_conversation_or_the_key_is_logged_at_any_level() {
    let log = Log::listen();
    let server = started().await;
    let body = r#"{"error":{"message":"PRIVATE WORDS"}}"#;
    server.script([
        Reply::Status(500, body.into()),
        Reply::Status(200, "PRIVATE WORDS".into()),
        Reply::Status(400, body.into()),
        Reply::Body(serde_json::json!({"choices": "PRIVATE WORDS"})),
        Reply::text("PRIVATE WORDS"),
    ]);
    let model = client(options(&server));
    for _ in 0..4 {
        let _ = model.answer(&prompt(), &Clock::system()).await;
    }
    assert!(server.leftover().is_empty());
    let log = log.text();
    assert!(log.contains("model call failed, retry 1 of 2"), "{log}");
    assert!(!log.contains("PRIVATE WORDS") && !log.contains("sk-secret"), "{log}");
}

#[tokio::test]
async fn the_server_is_given_the_time_it_asks_for() {
    let server = started().await;
    server.script([Reply::Throttle(1), Reply::text("Friday.")]);
    let clock = Clock::system();
    let watch = clock.stopwatch();
    let outcome = client(options(&server)).answer(&prompt(), &clock).await;
    assert_eq!(reported(&outcome), "test-model: Friday.");
    assert!(watch.elapsed() >= Duration::from_secs(1), "asked again after {:?}", watch.elapsed());
}

#[tokio::test]
async fn nobody_waits_for_a_retry_beyond_the_deadline() {
    let server = started().await;
    server.script([Reply::Throttle(600)]);
    let options = LlmOptions { deadline: Duration::from_secs(5), ..options(&server) };
    let clock = Clock::system();
    let watch = clock.stopwatch();
    let outcome = client(options).answer(&prompt(), &clock).await;
    assert_eq!(reported(&outcome), "the model server asks us to slow down -> RetryLater(Some(600s))");
    assert!(watch.elapsed() < Duration::from_secs(4), "took {:?}", watch.elapsed());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_call_that_hangs_ends_and_is_not_tried_again() {
    let server = started().await;
    server.script([Reply::Hang]);
    let options = LlmOptions { timeout: Duration::from_millis(50), ..options(&server) };
    let outcome = client(options).answer(&prompt(), &Clock::system()).await;
    assert_eq!(reported(&outcome), "the model took too long -> RetryLater(None)");
    assert_eq!(server.requests().len(), 1, "what was slow will be slow again");
}

#[tokio::test]
async fn a_call_ends_when_nobody_waits_for_it_any_more() {
    let server = started().await;
    server.always(Reply::Hang);
    let clock = Clock::system();
    let watch = clock.stopwatch();
    let until = Some(clock.now().plus(Duration::from_millis(300)));
    let outcome = client(options(&server)).answer(&Prompt { until, ..prompt() }, &clock).await;
    assert_eq!(reported(&outcome), "the model took too long -> RetryLater(None)");
    let took = watch.elapsed();
    assert!((250..5000).contains(&took.as_millis()), "took {took:?}");
    assert_eq!(server.requests().len(), 1);
}

const MINUTE: Duration = Duration::from_mins(1);

#[tokio::test]
async fn patience_is_measured_by_our_clock_and_longer_before_the_first_word() {
    let server = started().await;
    server.always(Reply::Hang);
    let clock = Clock::system();
    let model = client(LlmOptions { timeout: MINUTE, deadline: MINUTE, ..options(&server) });
    let question = prompt();
    let (outcome, ()) = tokio::join!(model.answer(&question, &clock), async {
        server.wait_for_requests(1).await.expect("a request");
        clock.advance(MINUTE * 5);
    });
    assert!(matches!(outcome, Err(LlmError::TimedOut)), "{outcome:?}");
    let (outcome, ()) = tokio::join!(model.answer(&question, &clock), async {
        server.wait_for_requests(2).await.expect("a request");
        clock.advance(MINUTE * 4);
        server.script(["late"]);
        server.release();
    });
    assert!(!matches!(outcome, Err(LlmError::TimedOut)), "{outcome:?}");
}

/// Plays a stream of three words, `pause` apart.
async fn stream_slowly(pause: Duration) -> Result<Completion, LlmError> {
    let server = started().await;
    server.script([Reply::Stream(["At", " half past", " nine."].map(str::to_owned).to_vec())]);
    let (clock, progress) = (Clock::system(), AnswerProgress::default());
    let model = client(LlmOptions { timeout: MINUTE, deadline: MINUTE, ..options(&server) });
    let mut words = progress.watch();
    let question = prompt();
    let speaking = async {
        while words.changed().await.is_ok() {
            if words.borrow().is_empty() {
                continue;
            }
            clock.advance(pause);
            server.release();
        }
    };
    tokio::select! {
        outcome = model.answer_streaming(&question, &progress, &clock) => outcome,
        () = speaking => panic!("nobody writes any more"),
    }
}

#[tokio::test]
async fn a_timeout_counts_silence_and_not_how_long_an_answer_takes() {
    assert_eq!(reported(&stream_slowly(MINUTE - Duration::from_secs(5)).await), "test-model: At half past nine.");
    // On the test clock, more time than allowed passes between two words.
    let cut = stream_slowly(MINUTE * 2).await;
    assert!(matches!(cut, Err(LlmError::TimedOut)), "{cut:?}");
}

#[tokio::test]
async fn a_server_that_refuses_to_stream_is_asked_for_whole_answers() {
    let server = started().await;
    let refusal = r#"{"error":{"message":"streaming is not supported by this deployment"}}"#;
    server.script([Reply::Status(400, refusal.to_owned()), Reply::text("Friday."), Reply::text("At seven.")]);
    let model = client(options(&server));
    for expected in ["test-model: Friday.", "test-model: At seven."] {
        assert_eq!(reported(&model.answer(&prompt(), &Clock::system()).await), expected);
    }
    let streams: Vec<bool> = server.requests().iter().map(|request| request["stream"] == true).collect();
    assert_eq!(streams, [true, false, false]);
}

#[tokio::test]
async fn the_server_is_asked_about_itself_and_a_refusal_teaches_too() {
    let (server, clock) = (started().await, Clock::system());
    let model = client(options(&server));
    assert_eq!(model.facts(), ServerFacts::default());
    server.tell_of_itself(serde_json::json!({"default_generation_settings": {"n_ctx": 8192}, "total_slots": 2}));
    assert!(model.discover(&clock).await);
    assert_eq!((model.facts().context, model.facts().slots), (Some(8192), Some(2)));
    let refusal = r#"{"error":{"type":"exceed_context_size_error","message":"the request exceeds the available context size","n_ctx":4096}}"#;
    server.script([Reply::Status(400, refusal.to_owned())]);
    assert!(model.answer(&prompt(), &clock).await.is_err());
    assert_eq!(model.facts().context, Some(4096));
}

#[tokio::test]
async fn the_reading_speed_is_learned_from_answers() {
    let server = started().await;
    let timed = |speed: f64| {
        Reply::Body(serde_json::json!({
            "choices": [{"message": {"content": "Friday."}, "finish_reason": "stop"}],
            "timings": {"prompt_n": 600, "prompt_per_second": speed},
        }))
    };
    let refusal = r#"{"error":{"message":"stream must be false"}}"#;
    server.script([Reply::Status(400, refusal.to_owned()), timed(110.0), timed(130.0), timed(9000.0)]);
    let model = client(options(&server));
    for _ in 0..3 {
        assert!(model.answer(&prompt(), &Clock::system()).await.is_ok());
    }
    assert_eq!(model.facts().reads_per_second, Some(130.0));
}

/// Plays `script` with a fallback model; compares the outcome and the models called.
async fn check_fallback(script: Vec<Reply>, expected: Expect) {
    let server = started().await;
    server.script(script);
    let options = LlmOptions { timeout: Duration::from_millis(300), ..with_fallback(&server) };
    let outcome = client(options).answer(&prompt(), &Clock::system()).await;
    let asked: Vec<String> = server.requests().iter().map(|request| request["model"].to_string()).collect();
    expected.assert_eq(&format!("{} [{}]", reported(&outcome), asked.join(", ")));
    assert!(server.leftover().is_empty() && server.unexpected().is_empty());
}

#[tokio::test]
async fn the_fallback_answers_when_the_model_cannot() {
    let broken = || Reply::Status(503, String::new());
    let unknown = || Reply::Status(404, r#"{"error":{"code":"model_not_found"}}"#.into());
    check_fallback(
        vec![broken(), broken(), broken(), Reply::text("Friday.")],
        expect![[r#"spare-model: Friday. ["test-model", "test-model", "test-model", "spare-model"]"#]],
    )
    .await;
    check_fallback(
        vec![unknown(), Reply::text("Friday.")],
        expect![[r#"spare-model: Friday. ["test-model", "spare-model"]"#]],
    )
    .await;
    check_fallback(
        vec![Reply::Filtered, Reply::text("Friday.")],
        expect![[r#"spare-model: Friday. ["test-model", "spare-model"]"#]],
    )
    .await;
    check_fallback(
        vec![Reply::Hang, Reply::text("Friday.")],
        expect![[r#"spare-model: Friday. ["test-model", "spare-model"]"#]],
    )
    .await;
}

#[tokio::test]
async fn the_fallback_is_asked_once_and_its_failure_does_not_hide_the_first() {
    let unknown = Reply::Status(404, r#"{"error":{"code":"model_not_found"}}"#.into());
    check_fallback(
        vec![Reply::Blank, unknown],
        expect![[r#"the model answered without text -> GiveUp ["test-model", "spare-model"]"#]],
    )
    .await;
    check_fallback(
        vec![Reply::Blank, Reply::Html502],
        expect![[r#"the model answered without text -> GiveUp ["test-model", "spare-model"]"#]],
    )
    .await;
}

#[tokio::test]
async fn the_fallback_is_not_asked_when_it_cannot_help() {
    check_fallback(
        vec![Reply::Status(401, String::new())],
        expect![[r#"the model server refused (HTTP 401): check OPENAI_API_KEY -> GiveUp ["test-model"]"#]],
    )
    .await;
    check_fallback(
        vec![Reply::Status(413, String::new())],
        expect![[r#"the prompt is too long for the model -> ShrinkPrompt ["test-model"]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_fallback_with_another_address_or_key_is_asked_after_a_wrong_key_or_address() {
    let html = || Reply::Raw { status: 200, headers: Vec::new(), body: vec![b"<!DOCTYPE html><html></html>".to_vec()] };
    let wrong_key = || Reply::Status(401, String::new());
    for (refusal, is_at_own_server, key) in [
        (wrong_key(), true, "sk-secret"),
        (wrong_key(), false, "sk-other"),
        (html(), true, "sk-secret"),
        (Reply::Status(301, String::new()), true, "sk-secret"),
    ] {
        let (server, other) = (started().await, started().await);
        let second = if is_at_own_server { &other } else { &server };
        server.script([refusal]);
        second.script([Reply::text("Friday.")]);
        let at = ModelServerConfig { base_url: second.base_url(), api_key: Some(key.into()) };
        let fallback = ModelConfig { server: Some(at), ..ModelConfig::named(FALLBACK) };
        let model = client(LlmOptions { fallback: Some(fallback), ..options(&server) });
        assert_eq!(reported(&model.answer(&prompt(), &Clock::system()).await), "spare-model: Friday.");
    }
}

#[tokio::test]
async fn a_model_that_takes_another_form_of_request_is_asked_in_that_form_from_then_on() {
    let server = started().await;
    let refusal = |message: &str| {
        Reply::Status(400, serde_json::json!({"error": {"message": message, "code": "unsupported_value"}}).to_string())
    };
    server.script([
        refusal("'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
        refusal("'temperature' does not support 0.3 with this model."),
        Reply::text("Friday."),
        Reply::text("At seven."),
    ]);
    let model = client(options(&server));
    let clock = Clock::system();
    assert_eq!(reported(&model.answer(&prompt(), &clock).await), "test-model: Friday.");
    assert_eq!(reported(&model.answer(&prompt(), &clock).await), "test-model: At seven.");
    let last = &server.requests()[3];
    assert_eq!(last["max_completion_tokens"], 100);
    assert!(last.get("max_tokens").is_none() && last.get("temperature").is_none(), "{last}");
}

#[tokio::test]
async fn an_answer_that_broke_off_while_somebody_read_it_is_asked_for_once_more_unseen() {
    let events = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n");
    let cut = || Reply::Raw { status: 200, headers: Vec::new(), body: vec![events("Friday").into_bytes()] };
    let server = started().await;
    let (model, clock, progress) = (client(options(&server)), Clock::system(), AnswerProgress::default());
    progress.note_shown();
    server.script([cut(), Reply::text("Friday at seven.")]);
    let outcome = model.answer_streaming(&prompt(), &progress, &clock).await;
    assert_eq!(reported(&outcome), "test-model: Friday at seven.");
    assert_eq!(progress.watch().borrow().as_str(), "", "nothing of it is shown before it is complete");
    server.script([cut(), cut()]);
    assert!(model.answer_streaming(&prompt(), &progress, &clock).await.is_err());
    assert!(server.leftover().is_empty());
    server.script([cut(), cut(), Reply::text("On Friday.")]);
    let model = client(with_fallback(&server));
    assert_eq!(reported(&model.answer_streaming(&prompt(), &progress, &clock).await), "spare-model: On Friday.");
    let asked = server.requests().len();
    let progress = AnswerProgress::default();
    let end = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let whole = format!("{}{end}\n\n", events("Friday at seven."));
    server.script([cut(), Reply::Raw { status: 200, headers: Vec::new(), body: vec![whole.into_bytes()] }]);
    // No part of the answer was shown, so the call is retried.
    let outcome = model.answer_streaming(&prompt(), &progress, &clock).await;
    assert_eq!(reported(&outcome), "test-model: Friday at seven.");
    assert!(outcome.is_ok_and(|answer| answer.first_word.is_some()));
    assert_eq!(server.requests().len(), asked + 2);
}

#[tokio::test]
async fn a_server_that_does_not_count_streams_is_asked_without_counts() {
    let server = started().await;
    let refusal = r#"{"error":{"message":"Unknown parameter: 'stream_options'","code":"unknown_parameter"}}"#;
    server.script([Reply::Status(400, refusal.to_owned()), Reply::text("Friday.")]);
    let (model, progress) = (client(options(&server)), AnswerProgress::default());
    let outcome = model.answer_streaming(&prompt(), &progress, &Clock::system()).await;
    assert_eq!(reported(&outcome), "test-model: Friday.");
    assert_eq!(server.requests()[0]["stream_options"], serde_json::json!({"include_usage": true}));
    assert!(server.requests()[1].get("stream_options").is_none());
    assert_eq!(server.requests()[1]["stream"], true);
}

#[test]
fn options_that_can_never_work_are_refused_at_once() {
    let good = LlmOptions {
        api_key: None,
        base_url: "https://models.example/v1".into(),
        model: MODEL.into(),
        fallback: None,
        timeout: Duration::from_mins(1),
        deadline: Duration::from_secs(90),
    };
    let check = |options: LlmOptions, expected: Expect| match Llm::new(options) {
        Ok(llm) => expected.assert_eq(&format!("{} at {:?}", llm.model_name(), llm.host())),
        Err(error) => expected.assert_eq(&error.to_string()),
    };
    check(good.clone(), expect![[r#"test-model at Some("models.example")"#]]);
    check(
        LlmOptions { base_url: "models.example/v1".into(), ..good.clone() },
        expect!["the model is not configured: OPENAI_BASE_URL is not an http or https address"],
    );
    check(
        LlmOptions { base_url: "ftp://models.example".into(), ..good.clone() },
        expect!["the model is not configured: OPENAI_BASE_URL is not an http or https address"],
    );
    check(LlmOptions { model: " ".into(), ..good.clone() }, expect!["the model is not configured: MODEL is empty"]);
    check(
        LlmOptions { api_key: Some("sk-\n".into()), ..good },
        expect!["the model is not configured: OPENAI_API_KEY has characters that no key has"],
    );
}

#[test]
fn offline_there_is_no_host_and_nothing_to_call() {
    assert!(Llm::Offline.is_offline());
    assert_eq!((Llm::Offline.model_name(), Llm::Offline.host()), ("offline", None));
}

#[test]
fn the_key_is_in_no_debug_output() {
    let options = LlmOptions {
        api_key: Some("sk-secret".into()),
        base_url: "https://models.example/v1".into(),
        model: MODEL.into(),
        fallback: None,
        timeout: Duration::from_mins(1),
        deadline: Duration::from_secs(90),
    };
    let shown = format!("{options:?} {:?}", Llm::new(options.clone()).expect("usable options"));
    assert!(shown.contains("models.example") && !shown.contains("sk-secret"), "{shown}");
}
