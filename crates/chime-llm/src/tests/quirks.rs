//! Servers that need another dialect, and answers that need special treatment, over several calls.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{Log, MODEL, client, options, prompt, reported, started, with_fallback};
use crate::{
    AnswerFormat, AnswerProgress, Audio, Check, Embeddings, LlmError, LlmOptions, OpenAi, Prompt, PromptMessage,
    PromptRole, Tool, ToolRound, Tools, Transcriptions,
};
use chime_core::{Timestamp, estimate_tokens};
use chime_runtime::clock::Clock;
use chime_testkit::{ModelServer, Reply};

fn refusal(status: u16, message: &str) -> Reply {
    Reply::Status(status, json!({"error": {"message": message, "code": "bad_request"}}).to_string())
}

fn body(message: &Value, finish: &str) -> Reply {
    Reply::Body(json!({"choices": [{"message": message, "finish_reason": finish}]}))
}

fn with_rules() -> Prompt {
    let message = |role, content: &str| PromptMessage { role, content: content.to_owned() };
    let messages = vec![message(PromptRole::System, "Be brief."), message(PromptRole::User, "When is the dinner?")];
    Prompt { messages, ..prompt() }
}

fn with_tools() -> Prompt {
    let tool = Tool { name: "search_messages", description: "Searches.", parameters: json!({"type": "object"}) };
    Prompt { tools: Tools { offered: vec![tool], ..Tools::default() }, ..with_rules() }
}

fn with_form() -> Prompt {
    Prompt { format: AnswerFormat::Json { name: "tags", schema: json!({"type": "object"}) }, ..with_rules() }
}

fn large() -> Prompt {
    sized(3_600)
}

/// Returns a prompt of about this many estimated tokens.
fn sized(tokens: usize) -> Prompt {
    const SENTENCE: &str = "They talked about the dinner on Friday. ";
    let content = SENTENCE.repeat(tokens / estimate_tokens(SENTENCE));
    Prompt { messages: vec![PromptMessage { role: PromptRole::User, content }], ..prompt() }
}

/// An answer of a server that counted this many tokens of the prompt.
fn counted(prompt: u64) -> Reply {
    let usage =
        json!({"prompt_tokens": prompt, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 640}});
    let choice = json!({"message": {"content": "Friday."}, "finish_reason": "stop"});
    Reply::Body(json!({"choices": [choice], "usage": usage}))
}

/// Plays `script` for two calls and returns their outcomes; the whole script must be used.
async fn asked_twice(model: &OpenAi, server: &ModelServer, prompt: &Prompt, script: Vec<Reply>) -> [String; 2] {
    server.script(script);
    let first = model.answer(prompt, &Clock::system()).await;
    let second = model.answer(prompt, &Clock::system()).await;
    assert!(server.leftover().is_empty() && server.unexpected().is_empty(), "{:?}", server.unexpected());
    [reported(&first), reported(&second)]
}

#[tokio::test]
async fn a_model_without_a_system_role_finds_the_rules_in_the_question_from_then_on() {
    for (status, words) in [
        (400, "System role not supported"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (500, "Only user and assistant roles are supported!"),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
        (400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    ] {
        let server = started().await;
        let script = vec![refusal(status, words), Reply::text("Friday."), Reply::text("At seven.")];
        let reported = asked_twice(&client(options(&server)), &server, &with_rules(), script).await;
        assert_eq!(reported, ["test-model: Friday.", "test-model: At seven."], "{words}");
        let merged = json!([{"role": "user", "content": "Be brief.\n\nWhen is the dinner?"}]);
        assert_eq!(server.requests()[2]["messages"], merged, "{words}");
    }
}

#[tokio::test]
async fn thoughts_go_back_with_a_call_where_the_server_wants_them() {
    let server = started().await;
    let function = json!({"name": "search_messages", "arguments": "{}"});
    let call = json!({
        "content": "", "reasoning_content": "I should look.", "tool_calls": [{"id": "a", "type": "function", "function": function}],
    });
    server.script([body(&call, "tool_calls")]);
    let (model, clock) = (client(options(&server)), Clock::system());
    let mut prompt = with_tools();
    let calls = model.answer(&prompt, &clock).await.expect("a call").calls;
    assert_eq!(calls[0].thoughts.as_deref(), Some("I should look."));
    prompt.tools.rounds.push(ToolRound { said: String::new(), calls, results: vec!["the red tent".into()] });
    let missing = "Missing `reasoning_content` field in the assistant message at message index 2.";
    server.script([refusal(400, missing), Reply::text("It is red.")]);
    assert_eq!(reported(&model.answer(&prompt, &clock).await), "test-model: It is red.");
    let requests = server.requests();
    assert!(requests[1]["messages"][2].get("reasoning_content").is_none());
    assert_eq!(requests[2]["messages"][2]["reasoning_content"], "I should look.");
}

#[tokio::test]
async fn a_refusal_in_unknown_words_is_tried_without_what_is_optional_and_the_culprit_is_found() {
    let server = started().await;
    let model = client(options(&server));
    let no = || refusal(400, "I do not like this.");
    let prompt = Prompt { tools: with_tools().tools, ..with_form() };
    // First call: refused, then accepted without optional parameters. Second: refused without temperature, accepted
    // without format.
    let script = vec![no(), Reply::text("{}"), no(), Reply::text("{}")];
    assert_eq!(asked_twice(&model, &server, &prompt, script).await, ["test-model: {}", "test-model: {}"]);
    assert_eq!(
        asked_twice(&model, &server, &prompt, vec![Reply::text("{}"), Reply::text("{}")]).await[1],
        "test-model: {}"
    );
    let parts = ["temperature", "response_format", "tools"];
    let sent: Vec<String> = server
        .requests()
        .iter()
        .map(|request| parts.iter().map(|part| if request.get(part).is_some() { &part[..1] } else { "-" }).collect())
        .collect();
    assert_eq!(sent, ["trt", "---", "-rt", "---", "t-t", "t-t"]);
}

#[tokio::test]
async fn a_system_role_that_is_refused_in_unknown_words_is_found() {
    let server = started().await;
    let no = || refusal(400, "I do not like this.");
    let (model, prompt) = (client(options(&server)), Prompt { temperature: None, ..with_rules() });
    let script = vec![no(), Reply::text("Friday."), no(), Reply::text("At seven.")];
    assert_eq!(asked_twice(&model, &server, &prompt, script).await, ["test-model: Friday.", "test-model: At seven."]);
    asked_twice(&model, &server, &prompt, vec![Reply::text("On foot."), Reply::text("Yes.")]).await;
    let asked: Vec<(bool, bool)> = server
        .requests()
        .iter()
        .map(|request| (request["messages"][0]["role"] == "system", request.get("stream_options").is_some()))
        .collect();
    // The token count of the stream is tried first; then the system role, which was the cause.
    let (both, none) = ((true, true), (false, false));
    assert_eq!(asked, [both, none, (true, false), none, (false, true), (false, true)]);
}

#[tokio::test]
async fn a_limit_of_answers_that_is_refused_is_lowered_or_left_out_from_then_on() {
    let unsupported = "azure does not support parameters: ['max_tokens', 'max_completion_tokens'], for model=o1";
    for (refusals, limits) in [
        (vec!["Invalid max_tokens value, the valid range of max_tokens is [1, 64]"], [Some(64), None]),
        (vec![unsupported], [None, Some(100)]),
        (vec![unsupported, unsupported], [None, None]),
    ] {
        let server = started().await;
        let script: Vec<Reply> = refusals.iter().map(|words| refusal(400, words)).collect();
        let script = [script, vec![Reply::text("Friday."), Reply::text("At seven.")]].concat();
        let reported = asked_twice(&client(options(&server)), &server, &with_rules(), script).await;
        assert_eq!(reported, ["test-model: Friday.", "test-model: At seven."], "{refusals:?}");
        let last = &server.requests()[refusals.len() + 1];
        let names = ["max_tokens", "max_completion_tokens"];
        assert_eq!(names.map(|name| last.get(name).and_then(Value::as_u64)), limits, "{refusals:?}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_streams_in_unknown_words_is_asked_for_whole_answers() {
    let server = started().await;
    let no = || refusal(400, "I do not like this.");
    let script = vec![no(), no(), Reply::text("Hello."), Reply::text("Friday."), Reply::text("At seven.")];
    let reported = asked_twice(&client(options(&server)), &server, &with_rules(), script).await;
    assert_eq!(reported, ["test-model: Friday.", "test-model: At seven."]);
    let requests = server.requests();
    let streamed: Vec<bool> = requests.iter().map(|request| request["stream"] == true).collect();
    assert_eq!(streamed, [true, true, false, false, false]);
    assert!(requests[3..].iter().all(|request| request.get("temperature").is_some()), "{requests:?}");
}

#[tokio::test]
async fn a_large_prompt_that_is_refused_in_unknown_words_may_be_too_long() {
    let server = started().await;
    let model = client(options(&server));
    let no = || refusal(400, "I do not like this.");
    // The shortest prompt is accepted.
    let once = || [no(), Reply::text("Hello."), no()];
    let script = once().into_iter().chain(once()).collect();
    let [first, second] = asked_twice(&model, &server, &large(), script).await;
    assert_eq!(first, "the prompt is too long for the model -> ShrinkPrompt");
    assert_eq!(second, first, "nothing was learnt");
    server.script([no(), no(), Reply::text("Hello."), no()]);
    let small = model.answer(&prompt(), &Clock::system()).await;
    assert!(matches!(small, Err(LlmError::Refused { check: Check::Request, .. })), "{small:?}");
    assert!(server.leftover().is_empty() && server.unexpected().is_empty());
}

#[tokio::test]
async fn a_refusal_of_everything_costs_two_requests_and_the_fallback_gets_the_full_prompt() {
    let server = started().await;
    let no = || refusal(412, "I do not like this.");
    server.script([no(), no()]);
    let error = client(options(&server)).answer(&large(), &Clock::system()).await.expect_err("a refusal");
    assert!(matches!(error, LlmError::Refused { check: Check::EveryRequest, .. }), "{error}");
    assert!(server.leftover().is_empty());
    server.script([no(), no(), Reply::text("Friday.")]);
    let answer = client(with_fallback(&server)).answer(&large(), &Clock::system()).await;
    assert_eq!(reported(&answer), "spare-model: Friday.");
    let sizes: Vec<usize> = server.requests().iter().map(|request| request["messages"].to_string().len()).collect();
    assert_eq!(sizes[4], sizes[0]);
    assert!(sizes[1] < 100, "{sizes:?}");
}

#[tokio::test]
async fn a_shorter_prompt_that_helped_shows_the_size_that_a_refusal_did_not_name() {
    let server = started().await;
    let (model, clock) = (client(options(&server)), Clock::system());
    let no = || refusal(400, "I do not like this.");
    server.script([no(), Reply::text("Hello."), no(), counted(400), counted(1_100), counted(60)]);
    assert!(matches!(model.answer(&large(), &clock).await, Err(LlmError::PromptTooLong)));
    let refused = model.facts().context.expect("nothing as long is sent again");
    assert!((3_000..3_400).contains(&refused), "{refused}");
    assert!(model.answer(&sized(600), &clock).await.is_ok());
    let half = model.facts().context.expect("half of what was refused is tried");
    assert!((1_200..1_500).contains(&half), "{half}: much shorter ones tell little");
    assert!(model.answer(&sized(1_800), &clock).await.is_ok());
    let fitting = model.facts().context.expect("the size is known");
    assert!((1_100..1_500).contains(&fitting), "{fitting}");
    assert!(model.answer(&prompt(), &clock).await.is_ok());
    assert_eq!(model.facts().context, Some(fitting));
    server.script([counted(2_200)]);
    assert!(model.answer(&large(), &clock).await.is_ok());
    assert_eq!(model.facts().context, None, "it was refused for another reason");
}

#[tokio::test]
async fn after_two_refusals_without_a_size_half_of_the_shorter_prompt_fits() {
    let server = started().await;
    let (model, clock) = (client(options(&server)), Clock::system());
    let too_long = || refusal(400, "The prompt is too long.");
    server.script([too_long(), too_long(), too_long()]);
    for (tokens, is_known) in [(3_600, false), (1_800, true), (3_600, true)] {
        assert!(matches!(model.answer(&sized(tokens), &clock).await, Err(LlmError::PromptTooLong)));
        let context = model.facts().context;
        assert_eq!(context.is_some_and(|context| (800..1_200).contains(&context)), is_known, "{context:?}");
    }
}

#[tokio::test]
async fn longer_prompts_are_tried_again_step_by_step_after_a_refusal_without_a_size() {
    let server = started().await;
    let (model, clock) = (client(options(&server)), Clock::starting_at(Timestamp::from_secs(1_000_000)));
    // Only the first prompt has tool definitions, and the server is at once known to read fast.
    server.script([refusal(413, "Limit 1000."), Reply::text("Friday.")]);
    assert!(matches!(model.answer(&sized(1_500), &clock).await, Err(LlmError::PromptTooLong)));
    assert!(model.answer(&sized(400), &clock).await.is_ok());
    let first = model.facts().context.expect("a limit");
    assert!((600..800).contains(&first), "{first}");
    for times in [2, 4] {
        clock.advance(Duration::from_hours(1));
        server.script([Reply::text("Friday.")]);
        assert!(model.answer(&sized(700), &clock).await.is_ok());
        let context = model.facts().context.expect("a limit");
        assert!((first * times * 9 / 10..=first * times * 11 / 10).contains(&context), "{context}");
    }
}

#[tokio::test]
async fn a_context_that_a_refusal_names_stays_until_the_server_reports_another() {
    let server = started().await;
    let (model, clock) = (client(options(&server)), Clock::system());
    let reports = |context: usize| server.tell("/props", json!({"default_generation_settings": {"n_ctx": context}}));
    reports(8192);
    assert!(model.discover(&clock).await);
    server.script([refusal(400, "maximum context length is 4096 tokens")]);
    assert!(model.answer(&large(), &clock).await.is_err());
    assert_eq!(model.facts().context, Some(4096));
    model.discover(&clock).await;
    assert_eq!(model.facts().context, Some(4096), "the smaller one is kept");
    reports(16_384);
    model.discover(&clock).await;
    assert_eq!(model.facts().context, Some(16_384), "the operator has changed it");
}

#[tokio::test]
async fn ollama_is_known_whoever_published_its_models() {
    for (owner, loaded, context) in [("library", 8192, 8192), ("bartowski", 8192, 8192), ("bartowski", 0, 4096)] {
        let server = started().await;
        let listed = json!([{"id": "hf.co/bartowski/Qwen2.5:Q4", "owned_by": owner}, {"id": MODEL, "owned_by": "ann"}]);
        server.tell("/v1/models", json!({"data": listed}));
        server.tell("/props", Value::Null);
        server.tell("/api/ps", json!({"models": [{"name": "test-model:latest", "context_length": loaded}]}));
        let info = json!({"general.parameter_count": 1_500_000_000_u64, "qwen2.context_length": 32_768});
        server.tell("/api/show", json!({"model_info": info}));
        let model = client(options(&server));
        assert!(model.discover(&Clock::system()).await);
        let facts = model.facts();
        assert_eq!((facts.context, facts.parameters), (Some(context), Some(1_500_000_000)), "{owner}");
        assert!(server.unexpected().is_empty(), "{:?}", server.unexpected());
    }
}

#[tokio::test]
async fn other_servers_tell_the_context_of_the_loaded_model() {
    let listed = json!([{"id": MODEL, "max_context_length": 32_768, "loaded_context_length": 4096}]);
    for (path, told) in [
        ("/api/v0/models", json!({"data": listed})),
        ("/api/extra/true_max_context_length", json!({"value": 4096})),
        ("/info", json!({"max_total_tokens": 4096})),
        ("/v1/model", json!({"id": "x", "parameters": {"max_seq_len": 4096}})),
    ] {
        let server = started().await;
        server.tell("/props", Value::Null);
        server.tell(path, told);
        let model = client(options(&server));
        assert!(model.discover(&Clock::system()).await);
        assert_eq!(model.facts().context, Some(4096), "{path}");
    }
}

#[tokio::test]
async fn a_server_that_fails_at_a_form_is_asked_without_one() {
    let failed = |status| Reply::Status(status, r#"{"error":{"message":"Internal Server Error"}}"#.to_owned());
    let broken = || failed(500);
    for status in [500, 501] {
        let server = started().await;
        let script = vec![failed(status), Reply::text("{}"), Reply::text("{}")];
        let reported = asked_twice(&client(options(&server)), &server, &with_form(), script).await;
        assert_eq!(reported, ["test-model: {}", "test-model: {}"], "{status}");
        assert!(server.requests()[1..].iter().all(|request| request.get("response_format").is_none()), "{status}");
    }
    // The server followed the format before, so status 500 is a failure of the server and no refusal of the format.
    let server = started().await;
    let script = vec![Reply::text("{}"), broken(), Reply::text("{}")];
    asked_twice(&client(options(&server)), &server, &with_form(), script).await;
    assert!(server.requests()[2].get("response_format").is_some());
}

#[tokio::test]
async fn a_model_that_thinks_too_long_is_given_more_room_once_and_from_then_on() {
    let thinking = || body(&json!({"content": "", "reasoning_content": "Hm, two dates"}), "length");
    let server = started().await;
    let script = vec![thinking(), Reply::text("Friday."), Reply::text("At seven.")];
    let reported = asked_twice(&client(options(&server)), &server, &prompt(), script).await;
    assert_eq!(reported, ["test-model: Friday.", "test-model: At seven."]);
    let limits: Vec<Value> = server.requests().iter().map(|request| request["max_tokens"].clone()).collect();
    assert_eq!(limits, [json!(100), json!(4096), json!(4096)]);
    let server = started().await;
    let script = vec![thinking(), body(&json!({"content": "<think>Hm"}), "length"), thinking()];
    let reported = asked_twice(&client(options(&server)), &server, &prompt(), script).await;
    let named = "the model thinks longer than the limit of tokens allows, and gave no answer -> GiveUp";
    assert_eq!(reported, [named, named]);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_asked_for_again() {
    let event = |content: &str, finish: &str| {
        let choice = json!({"index": 0, "delta": {"content": content}, "finish_reason": finish});
        format!("data: {}\n\n", json!({"choices": [choice]})).into_bytes()
    };
    let cut = || Reply::Raw { status: 200, headers: Vec::new(), body: vec![event("Friday", "")] };
    let done =
        Reply::Raw { status: 200, headers: Vec::new(), body: vec![event("Friday.", ""), b"data: [DONE]\n\n".to_vec()] };
    let server = started().await;
    server.script([cut(), done]);
    let (model, progress) = (client(options(&server)), AnswerProgress::default());
    let outcome = model.answer_streaming(&prompt(), &progress, &Clock::system()).await;
    assert_eq!(reported(&outcome), "test-model: Friday.");
    server.script([cut(), cut(), cut()]);
    let outcome = model.answer(&prompt(), &Clock::system()).await;
    assert_eq!(reported(&outcome), "the model server's answer broke off -> RetryLater(None)");
}

/// Returns the outcome of a call whose server sends `begin` and then `again` for ever, or cuts the connection if that
/// is empty.
async fn answered_by(begin: &str, again: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base_url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let options = LlmOptions { base_url, timeout: Duration::from_millis(200), ..options(&started().await) };
    let (clock, prompt) = (Clock::system(), prompt());
    let serving = async {
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        while let Ok((mut socket, _)) = listener.accept().await {
            let _ = socket.read(&mut [0; 4_096]).await;
            let _ = socket.write_all(format!("{head}{}", chunk(begin)).as_bytes()).await;
            while !again.is_empty() && socket.write_all(chunk(again).as_bytes()).await.is_ok() {
                clock.sleep(Duration::from_millis(20)).await;
            }
        }
    };
    let model = client(options);
    tokio::select! {
        outcome = model.answer(&prompt, &clock) => reported(&outcome),
        () = serving => panic!("nobody listens any more"),
    }
}

#[tokio::test]
async fn an_answer_ends_with_its_finish_reason_and_comments_prolong_none() {
    let begun = "data: {\"choices\":[{\"delta\":{\"content\":\"Friday.\"}}]}\n\n";
    let whole = format!("{begun}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n");
    let (comment, late) = (": keep-alive\n\n", "the model took too long -> RetryLater(None)");
    assert_eq!(answered_by(&whole, "").await, "test-model: Friday.");
    assert_eq!(answered_by(&whole, comment).await, "test-model: Friday.");
    assert_eq!(answered_by(begun, comment).await, late);
    assert_eq!(answered_by(comment, comment).await, late);
}

#[tokio::test]
async fn a_stream_that_loops_is_not_read_to_its_end() {
    let server = started().await;
    // The server never sends the second piece: the loop in the first one must end the call.
    let pieces = [format!("On Friday. {}", "the moment: ".repeat(60)), "and so on".to_owned()];
    server.script([Reply::Stream(pieces.to_vec())]);
    let (model, progress) = (client(options(&server)), AnswerProgress::default());
    let outcome = model.answer_streaming(&prompt(), &progress, &Clock::system()).await;
    assert_eq!(reported(&outcome), "test-model: On Friday. the moment:");
}

#[tokio::test]
async fn a_server_that_reads_half_of_a_prompt_is_told_of_once() {
    let log = Log::listen();
    let server = started().await;
    server.script([counted(900), counted(800), counted(800), counted(2_600), counted(10), counted(10), counted(10)]);
    let model = client(with_fallback(&server));
    let (mut cut, mut contexts) = (Vec::new(), Vec::new());
    for prompt in [large(), large(), large(), large(), prompt(), large(), large()] {
        let completion = model.answer(&prompt, &Clock::system()).await.expect("an answer");
        assert_eq!(completion.reused, Some(640));
        cut.push(completion.prompt_cut);
        contexts.push(model.facts().context);
    }
    assert_eq!(cut, [true, true, true, false, false, true, true]);
    assert_eq!(log.text().matches("OLLAMA_CONTEXT_LENGTH").count(), 1);
    // The same count twice is the size of the context. Tiny counts leave out what was in the server's cache.
    assert_eq!(contexts, [None, None, Some(800), Some(800), Some(800), Some(800), Some(800)]);
    // A server that read all of a prompt before counts only what was not in its cache, or its operator changed it.
    let told = || log.text().matches("OLLAMA_CONTEXT_LENGTH").count();
    let (model, before) = (client(options(&server)), told());
    for (count, warnings) in [(9, 0), (2_600, 0), (9, 0), (9, 0), (700, 0), (800, 0), (800, 1)] {
        server.script([counted(count)]);
        model.answer(&large(), &Clock::system()).await.expect("an answer");
        assert_eq!(told() - before, warnings, "{count}");
    }
    // A count of exactly a usual context size is another sign.
    for (estimated, count, is_cut) in [(6_000, 4_096, true), (6_000, 4_000, false), (4_300, 4_096, false)] {
        server.script([counted(count)]);
        let model = client(options(&server));
        let completion = model.answer(&sized(estimated), &Clock::system()).await.expect("an answer");
        assert_eq!(completion.prompt_cut, is_cut, "{count} of {estimated}");
        assert_eq!(model.facts().context, is_cut.then_some(4_096));
    }
}

#[tokio::test]
async fn a_call_in_the_text_is_run_and_never_shown() {
    let server = started().await;
    let text =
        "Let me look.\n<tool_call>{\"name\": \"search_messages\", \"arguments\": {\"query\": \"tent\"}}</tool_call>";
    server.script([Reply::text(text), Reply::text(text)]);
    let (model, progress, clock) = (client(options(&server)), AnswerProgress::default(), Clock::system());
    let prompt = with_tools();
    let streamed = model.answer_streaming(&prompt, &progress, &clock).await.expect("a call");
    assert_eq!((streamed.text.as_str(), streamed.calls.len()), ("Let me look.", 1));
    assert!("Let me look.".starts_with(progress.watch().borrow().as_str()));
    let whole = model.answer(&prompt, &clock).await.expect("a call");
    assert_eq!((whole.calls, whole.text), (streamed.calls, streamed.text));
    let unasked = Prompt { tools: Tools::default(), ..prompt };
    server.script([Reply::text(text)]);
    let answer = model.answer(&unasked, &clock).await.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("Let me look.", 0));
}

#[tokio::test]
async fn what_was_looked_up_is_part_of_the_question_where_roles_must_alternate() {
    let server = started().await;
    server.script([Reply::text("<tool_call>{\"name\": \"search_messages\", \"arguments\": {}}</tool_call>")]);
    let (model, clock) = (client(options(&server)), Clock::system());
    let mut prompt = with_tools();
    prompt.tools.is_silent = true;
    let calls = model.answer(&prompt, &clock).await.expect("a call").calls;
    prompt.tools.rounds.push(ToolRound { said: String::new(), calls, results: vec!["the red tent".into()] });
    server.script([Reply::text("It is red.")]);
    assert_eq!(reported(&model.answer(&prompt, &clock).await), "test-model: It is red.");
    let request = &server.requests()[1];
    let roles: Vec<&Value> = request["messages"].as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user"]);
    assert!(request["messages"][1]["content"].as_str().unwrap().contains("the red tent"));
}

#[tokio::test]
async fn a_failed_proxy_is_no_refusal_to_stream() {
    let server = started().await;
    let broken = "upstream connect error or disconnect/reset before headers";
    server.script([Reply::Status(503, broken.to_owned()), Reply::text("Friday."), Reply::text("At seven.")]);
    let model = client(options(&server));
    for expected in ["test-model: Friday.", "test-model: At seven."] {
        assert_eq!(reported(&model.answer(&prompt(), &Clock::system()).await), expected);
    }
    assert!(server.requests().iter().all(|request| request["stream"] == true));
}

#[tokio::test]
async fn an_answer_that_never_began_is_asked_for_again() {
    let server = started().await;
    let cut = |body: &str| Reply::Raw { status: 200, headers: Vec::new(), body: vec![body.into()] };
    server.script([cut(""), cut(": keep-alive\n\n"), Reply::text("Friday.")]);
    let outcome = client(options(&server)).answer(&prompt(), &Clock::system()).await;
    assert_eq!(reported(&outcome), "test-model: Friday.");
}

#[tokio::test]
async fn texts_are_embedded_within_the_limits_of_the_server() {
    let server = started().await;
    server.limit_embedding(10, 500);
    let embeddings = Embeddings::new(&options(&server), str::to_owned).expect("usable options");
    let mut texts: Vec<String> = (0..64).map(|n| format!("{n} {}", "tent ".repeat(n % 7))).collect();
    texts[40] = "the long one ".repeat(100);
    texts[41] = " ".to_owned();
    let sent: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embeddings.embed(&sent, &Clock::system()).await.expect("vectors");
    server.limit_embedding(usize::MAX, usize::MAX);
    let alone = embeddings.embed(&sent[..40], &Clock::system()).await.expect("vectors");
    assert_eq!((vectors.len(), &vectors[..40]), (64, &alone[..]));
    server.refuse_to_embed(true);
    let before = server.embedded().len();
    assert!(embeddings.embed(&sent, &Clock::system()).await.is_err());
    assert_eq!(server.embedded().len(), before + 64, "a server that is down is asked once");
}

#[tokio::test]
async fn a_server_without_details_of_transcripts_is_asked_without() {
    let server = started().await;
    server.refuse_verbose_transcripts();
    server.hear(["See you on Friday."]);
    let options = LlmOptions { model: "openai/whisper-small".to_owned(), ..options(&server) };
    let audio = Audio { file_name: "voice.ogg".to_owned(), bytes: vec![0; 9], seconds: 3 };
    let heard = Transcriptions::new(&options).expect("usable options").transcribe(audio, &Clock::system()).await;
    assert_eq!(heard.expect("a transcript").text, "See you on Friday.");
}

#[tokio::test]
async fn one_call_that_fails_costs_a_model_no_tools() {
    let server = started().await;
    let failed = || refusal(400, "Failed to call a function. Please adjust your prompt. See 'failed_generation'.");
    let (model, clock) = (client(options(&server)), Clock::system());
    server.script([Reply::text("Friday."), failed(), Reply::text("At seven."), Reply::text("On foot.")]);
    for expected in ["test-model: Friday.", "test-model: At seven.", "test-model: On foot."] {
        assert_eq!(reported(&model.answer(&with_tools(), &clock).await), expected);
    }
    let sent: Vec<bool> = server.requests().iter().map(|request| request.get("tools").is_some()).collect();
    assert_eq!(sent, [true, true, false, true]);
    assert!(model.tool_refusals().is_empty());
}

/// Some servers send events for every request.
#[tokio::test]
async fn tools_are_probed_however_the_server_sends_a_call() {
    let server = started().await;
    let call = json!({"index": 0, "id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}});
    let event = json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    server.script([
        Reply::Status(200, format!("data: {event}\n\ndata: [DONE]\n\n")),
        Reply::Tools(vec![("ping", json!({}))]),
        Reply::text("pong"),
        refusal(400, "test-model does not support tools"),
        Reply::text("pong"),
    ]);
    let (model, clock) = (client(options(&server)), Clock::system());
    let mut called = Vec::new();
    for _ in 0..4 {
        called.push(model.probe_tools(&clock).await.expect("an answer"));
    }
    assert_eq!(called, [true, true, false, false]);
    assert!(server.leftover().is_empty() && server.unexpected().is_empty());
}
