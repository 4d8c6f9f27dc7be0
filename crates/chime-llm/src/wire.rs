//! The chat completions format, as servers really write it.
//!
//! Many servers are "OpenAI-compatible" and few agree on the details: ids are missing, counts are floats, content comes
//! in parts. A field of unexpected type therefore counts as absent. Only the text of an answer and its end must be
//! present.

use async_openai::types::chat::{
    ChatCompletionRequestMessageContentPartImage, ChatCompletionRequestUserMessageContentPart as Part, ImageUrl,
    ResponseFormat, ResponseFormatJsonSchema,
};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::diagnose::diagnose_body;
use crate::dialect::Dialect;
use crate::facts::ReadingTime;
use crate::fields::{LenientNumber, lenient};
use crate::tools::{self, CallPiece, ToolCall};
use crate::usage::Usage;
use crate::visible::{Visible, visible};
use crate::{AnswerFormat, Completion, LlmError, Picture, Prompt, PromptMessage, PromptRole};
use chime_core::{TokenUse, estimate_tokens, is_blank};

#[derive(Debug, Clone, PartialEq)]
pub struct ModelAnswer {
    /// Empty only if there are `calls`.
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub truncated: bool,
    /// `true` if the reasoning started without a tag.
    pub thinks_unannounced: bool,
    /// `None` if the server does not count.
    pub tokens: Option<TokenUse>,
    /// Prompt tokens that the server took from its cache, if it reports them.
    pub reused: Option<u64>,
    pub reading: ReadingTime,
}

impl ModelAnswer {
    pub fn completed(self, model: &str, prompt: &Prompt) -> Completion {
        /// Estimated tokens above which a low count shows truncation. For shorter prompts, estimate and count differ
        /// too much.
        const TELLING: u64 = 1_000;
        let estimated = prompt.estimated_tokens() as u64;
        let counted = self.tokens.filter(|_| prompt.pictures.is_empty());
        let completion = estimate_tokens(&self.text) as u64;
        Completion {
            model: model.to_owned(),
            tokens: self.tokens.unwrap_or(TokenUse { prompt: estimated, completion }),
            tokens_counted: self.tokens.is_some(),
            reused: self.reused,
            prompt_cut: counted.is_some_and(|TokenUse { prompt, .. }| {
                // Contexts often have a power of two as their size: a count of exactly such a size is probably the
                // limit.
                let is_usual = prompt >= 2_048 && prompt.is_power_of_two() && prompt * 5 < estimated * 4;
                estimated > TELLING && (prompt * 2 < estimated || is_usual)
            }),
            truncated: self.truncated,
            first_word: None,
            calls: self.calls,
            text: self.text,
        }
    }
}

pub fn request(model: &str, prompt: &Prompt, dialect: Dialect) -> Value {
    let with_tools = prompt.tools.are_offered() && !dialect.no_tools;
    let looked_up = if with_tools { None } else { prompt.tools.as_message() };
    let mut body = json!({
        "model": model,
        "messages": messages(prompt.messages.iter().cloned().chain(looked_up), dialect),
        "stream": false,
    });
    if !dialect.no_limit {
        let limit = if dialect.completion_limit { "max_completion_tokens" } else { "max_tokens" };
        body[limit] = json!(dialect.answer_tokens(prompt.max_answer_tokens));
    }
    if !dialect.no_pictures {
        show(&prompt.pictures, &mut body["messages"]);
    }
    if with_tools {
        if let Some(messages) = body["messages"].as_array_mut() {
            messages.extend(prompt.tools.messages(dialect.wants_thoughts));
        }
        body["tools"] = prompt.tools.definitions();
    }
    if let Some(temperature) = prompt.temperature.filter(|_| !dialect.default_temperature) {
        // Rounded as f64, because 0.3 as f32 would be sent as 0.30000001192092896.
        body["temperature"] = json!((f64::from(temperature) * 1000.0).round() / 1000.0);
    }
    if let AnswerFormat::Json { name, schema } = &prompt.format
        && !dialect.free_form
    {
        let (name, schema) = ((*name).to_owned(), schema.clone());
        let json_schema = ResponseFormatJsonSchema { name, schema, strict: Some(true), description: None };
        body["response_format"] = json!(ResponseFormat::JsonSchema { json_schema });
    }
    body
}

/// Returns the messages. Messages of one role in a row become one, because many chat templates accept no others. Without a
/// system role, system messages become part of the first user message.
fn messages(messages: impl Iterator<Item = PromptMessage>, dialect: Dialect) -> Vec<PromptMessage> {
    let mut described: Vec<PromptMessage> = Vec::new();
    for PromptMessage { role, content } in messages {
        let role = if dialect.no_system && role == PromptRole::System { PromptRole::User } else { role };
        match described.last_mut().filter(|last| last.role == role) {
            Some(last) => last.content = format!("{}\n\n{content}", last.content),
            None => described.push(PromptMessage { role, content }),
        }
    }
    described
}

/// Appends pictures to the text of the last message, each after its label.
fn show(pictures: &[Picture], messages: &mut Value) {
    let last = messages.as_array_mut().and_then(|messages| messages.last_mut());
    let Some(last) = last.filter(|_| !pictures.is_empty()) else { return };
    let text = |text: &str| json!(Part::Text(text.into()));
    let mut parts = vec![text(last["content"].as_str().unwrap_or_default())];
    for Picture { label, media_type, bytes } in pictures {
        let url = format!("data:{media_type};base64,{}", BASE64_STANDARD.encode(bytes));
        let image_url = ImageUrl { url, detail: None };
        let picture = ChatCompletionRequestMessageContentPartImage { image_url, prompt_cache_breakpoint: None };
        parts.extend([text(label), json!(Part::ImageUrl(picture))]);
    }
    last["content"] = Value::Array(parts);
}

pub fn streaming_request(model: &str, prompt: &Prompt, dialect: Dialect) -> Value {
    let mut body = request(model, prompt, dialect);
    body["stream"] = json!(true);
    if !dialect.uncounted_stream {
        body["stream_options"] = json!({"include_usage": true});
    }
    body
}

/// The parts of a completion, from a whole response or collected from the events of a stream.
#[derive(Debug, Default)]
pub struct Pieces {
    pub text: String,
    /// Reasoning that the server sends in a separate field.
    pub thoughts: String,
    pub calls: Vec<CallPiece>,
    pub is_refused: bool,
    /// `true` if it was received to its end, with or without a finish reason.
    pub is_complete: bool,
    pub finish: Option<String>,
    pub error: Option<Value>,
    pub usage: Usage,
    /// llama.cpp's count of cached prompt tokens.
    pub reused: LenientNumber,
    /// The last prompt timings that the server reported.
    pub reading: ReadingTime,
}

impl Pieces {
    /// Returns `true` if a finish reason was received.
    pub fn is_finished(&self) -> bool {
        self.finish.as_deref().is_some_and(|reason| Finish::of(reason).is_some())
    }

    /// Builds the answer. If the model `may_think_unannounced`, text before a closing tag is always reasoning.
    ///
    /// # Errors
    /// The reason why it is no answer: an error with status 200, a filter, no text, no end.
    pub fn conclude(self, prompt: &Prompt, may_think_unannounced: bool) -> Result<ModelAnswer, LlmError> {
        let is_cut_off = match self.finish.as_deref().and_then(Finish::of) {
            Some(Finish::Filtered) => return Err(LlmError::Filtered),
            Some(Finish::Broken) => return Err(self.error.map_or(LlmError::BrokeOff, |error| diagnose_body(&error))),
            None if !self.is_complete => return Err(LlmError::BrokeOff),
            Some(Finish::CutOff) => true,
            Some(Finish::Whole) | None => false,
        };
        let is_whole = !is_cut_off && !may_think_unannounced;
        let Visible { text, calls: written, was_cut, is_noise, thinks_unannounced } =
            visible(&self.text, prompt, is_whole);
        let mut calls = if prompt.tools.may_be_called() { tools::joined(self.calls) } else { Vec::new() };
        if calls.is_empty() {
            calls = written;
        }
        prompt.tools.recognise(&mut calls);
        if is_blank(&text) && calls.is_empty() {
            return Err(match () {
                () if self.is_refused => LlmError::Filtered,
                () if is_noise => LlmError::Noise,
                () if is_cut_off => LlmError::NoRoom,
                () if is_blank(&self.text) && !is_blank(&self.thoughts) => LlmError::OnlyThoughts,
                () => LlmError::Empty,
            });
        }
        if let Some(first) = calls.first_mut().filter(|_| !self.thoughts.is_empty()) {
            first.thoughts = Some(self.thoughts);
        }
        Ok(ModelAnswer {
            truncated: is_cut_off && !was_cut,
            thinks_unannounced,
            tokens: self.usage.counted(),
            reused: [self.reused, self.usage.reused()]
                .into_iter()
                .map(LenientNumber::whole)
                .max()
                .filter(|reused| *reused > 0),
            reading: self.reading,
            calls,
            text,
        })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum ChoiceMessage {
    Words(String),
    Message(ReceivedMessage),
}

impl Default for ChoiceMessage {
    fn default() -> Self {
        Self::Message(ReceivedMessage::default())
    }
}

impl ChoiceMessage {
    pub fn read(self) -> ReceivedMessage {
        match self {
            Self::Words(words) => {
                ReceivedMessage { content: Some(MessageContent::Text(words)), ..ReceivedMessage::default() }
            }
            Self::Message(reading) => reading,
        }
    }
}

/// The message of a choice, or the part of it that a stream event adds.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ReceivedMessage {
    #[serde(deserialize_with = "lenient")]
    pub content: Option<MessageContent>,
    #[serde(deserialize_with = "lenient")]
    pub refusal: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub tool_calls: Vec<CallPiece>,
    #[serde(deserialize_with = "lenient")]
    reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient")]
    reasoning: Option<String>,
}

impl ReceivedMessage {
    pub fn take_thoughts(&mut self) -> String {
        self.reasoning_content.take().or(self.reasoning.take()).unwrap_or_default()
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum MessageContent {
    Text(String),
    Parts(Vec<ContentPiece>),
    Part(ContentPart),
}

#[derive(Deserialize)]
#[serde(untagged)]
pub enum ContentPiece {
    Text(String),
    Part(ContentPart),
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ContentPart {
    #[serde(rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(deserialize_with = "lenient")]
    text: String,
}

enum Finish {
    Whole,
    CutOff,
    Filtered,
    Broken,
}

impl MessageContent {
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Part(part) => part.into_text(),
            Self::Parts(pieces) => pieces
                .into_iter()
                .map(|piece| match piece {
                    ContentPiece::Text(text) => text,
                    ContentPiece::Part(part) => part.into_text(),
                })
                .collect(),
        }
    }
}

impl ContentPart {
    /// Returns the text of a text part. Other parts are reasoning, images and calls.
    fn into_text(self) -> String {
        if matches!(self.kind.as_str(), "" | "text" | "output_text") { self.text } else { String::new() }
    }
}

impl Finish {
    /// Parses a finish reason. Names differ (`stop`, `eos`, `end_turn`), so every name not known as bad is a normal
    /// end. Some servers send an empty name with every event, and some add details after a colon.
    fn of(reason: &str) -> Option<Self> {
        let reason = reason.to_ascii_lowercase();
        Some(match reason.split(':').next().unwrap_or_default().trim() {
            "" | "null" | "none" => return None,
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "model_length"
            | "max_length"
            | "model_context_window_exceeded"
            | "context_length_exceeded"
            | "repetition_truncation" => Self::CutOff,
            "content_filter"
            | "safety"
            | "recitation"
            | "prohibited_content"
            | "blocklist"
            | "refusal"
            | "spii"
            | "guardrail_intervened"
            | "sensitive" => Self::Filtered,
            "error"
            | "abort"
            | "aborted"
            | "cancelled"
            | "insufficient_system_resource"
            | "network_error"
            | "malformed_function_call"
            | "function_call_filter" => Self::Broken,
            _ => Self::Whole,
        })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::stream::Assembly;
    use crate::{PromptMessage, PromptRole};

    #[track_caller]
    fn check(body: &str, expected: Expect) {
        expected.assert_eq(&described(body));
    }

    fn read(body: &str) -> Result<ModelAnswer, LlmError> {
        let mut assembly = Assembly::default();
        assembly.feed(body.as_bytes())?;
        assembly.conclude(&Prompt::new(Vec::new(), 100))
    }

    fn described(body: &str) -> String {
        match read(body) {
            Ok(ModelAnswer { text, truncated, tokens, .. }) => {
                let tokens = tokens.map_or("uncounted".to_owned(), |t| format!("{} + {}", t.prompt, t.completion));
                format!("{text:?}, {tokens}{}", if truncated { ", truncated" } else { "" })
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_name_for_a_good_end_is_accepted() {
        for reason in ["stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", ""] {
            let body = format!(r#"{{"choices":[{{"message":{{"content":"Friday."}},"finish_reason":"{reason}"}}]}}"#);
            assert_eq!(described(&body), "\"Friday.\", uncounted", "finish reason {reason:?}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_off_is_kept_and_marked() {
        check(
            r#"{"choices":[{"message":{"content":"Friday, because"},"finish_reason":"length"}],"usage":{"prompt_tokens":9.0,"completion_tokens":3.0}}"#,
            expect![[r#""Friday, because", 9 + 3, truncated"#]],
        );
        check(
            r#"{"choices":[{"message":{"content":"Friday"},"finish_reason":"model_context_window_exceeded"}]}"#,
            expect![[r#""Friday", uncounted, truncated"#]],
        );
        check(
            r#"{"choices":[{"message":{"content":"<think>So"},"finish_reason":"length"}]}"#,
            expect!["the model thinks longer than the limit of tokens allows, and gave no answer"],
        );
    }

    #[test]
    fn every_kind_of_nothing_is_a_failure() {
        for body in [
            r#"{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"message":{"content":" \n\t"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"message":{"content":"\u030a\u200b \u2060"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"message":{"content":17},"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"message":null,"finish_reason":"stop"}]}"#,
            r#"{"choices":[{"message":{"content":null,"tool_calls":[{}]},"finish_reason":"tool_calls"}]}"#,
        ] {
            assert_eq!(described(body), "the model answered without text");
        }
        for body in
            [r#"{"choices":[]}"#, r#"{"choices":null}"#, "{}", "[]", "null", r#""Friday.""#, r#"{"choices":"Friday."}"#]
        {
            assert_eq!(described(body), "the model server's answer cannot be used: it has no choices");
        }
    }

    #[test]
    fn noise_is_told_from_an_answer_that_needs_more_tokens() {
        for reason in ["stop", "length"] {
            let noise = "!".repeat(900);
            let body = format!(r#"{{"choices":[{{"message":{{"content":"{noise}"}},"finish_reason":"{reason}"}}]}}"#);
            assert_eq!(described(&body), "the model writes only noise: one character or word again and again");
        }
    }

    #[test]
    fn a_body_that_came_whole_needs_no_finish_reason() {
        for finish in [r#""finish_reason":null"#, r#""finish_reason":"""#, r#""finish_reason":{}"#, r#""index":0"#] {
            let body = format!(r#"{{"choices":[{{"message":{{"content":"Friday."}},{finish}}}]}}"#);
            assert_eq!(described(&body), "\"Friday.\", uncounted", "{finish}");
        }
    }

    #[test]
    fn tokens_that_were_read_before_are_told_by_many_names() {
        let reused = |usage: &str, more: &str| {
            let body = format!(
                r#"{{"choices":[{{"message":{{"content":"Friday."}},"finish_reason":"stop"}}],"usage":{usage}{more}}}"#
            );
            let answer = read(&body).expect("an answer");
            (answer.reused, answer.tokens.map(|tokens| tokens.prompt))
        };
        let named = [
            r#"{"prompt_tokens":900,"prompt_tokens_details":{"cached_tokens":640,"audio_tokens":null}}"#,
            r#"{"prompt_tokens":900,"prompt_cache_hit_tokens":640,"prompt_cache_miss_tokens":260}"#,
            r#"{"prompt_tokens":900,"cached_tokens":640}"#,
            r#"{"input_tokens":260,"cache_read_input_tokens":640}"#,
        ];
        for usage in named {
            assert_eq!(reused(usage, ""), (Some(640), Some(900)), "{usage}");
        }
        let timings = r#","timings":{"cache_n":640,"prompt_n":260,"prompt_per_second":110.5}"#;
        assert_eq!(reused(r#"{"prompt_tokens":900}"#, timings), (Some(640), Some(900)));
        assert_eq!(reused(r#"{"prompt_tokens":900,"prompt_tokens_details":null}"#, ""), (None, Some(900)));
    }

    #[test]
    fn filters_are_recognised() {
        for body in [
            r#"{"choices":[{"message":{"content":"Fri"},"finish_reason":"content_filter"}]}"#,
            r#"{"choices":[{"message":{"content":null},"finish_reason":"SAFETY"}]}"#,
            r#"{"choices":[{"message":{"content":"Fri"},"finish_reason":"content_filter: PROHIBITED_CONTENT"}]}"#,
            r#"{"choices":[{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}"#,
        ] {
            assert_eq!(described(body), "the model's content filter withheld the answer");
        }
    }

    #[test]
    fn an_error_in_disguise_is_taken_for_what_it_is() {
        check(
            r#"{"error":{"message":"Provider returned error","code":502}}"#,
            expect!["the model server is out of order (HTTP 502)"],
        );
        check(
            r#"{"error":{"message":"slow down","code":"429"},"choices":null}"#,
            expect!["the model server asks us to slow down"],
        );
        check(
            r#"{"error":"model runner has unexpectedly stopped"}"#,
            expect!["the model server is out of order (HTTP 200)"],
        );
        check(
            r#"{"error":{"message":"maximum context length is 4096 tokens"}}"#,
            expect!["the prompt is too long for the model"],
        );
        check(
            r#"[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]"#,
            expect!["the model server is out of order (HTTP 503)"],
        );
        check(
            r#"{"choices":[{"message":{"content":"Fri"},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]}"#,
            expect!["the model server is out of order (HTTP 502)"],
        );
        check(
            r#"{"choices":[{"message":{"content":"Fri"},"finish_reason":"error"}]}"#,
            expect!["the model server's answer broke off"],
        );
        check(
            r#"{"choices":[{"message":{"content":"Fri"},"finish_reason":"malformed_function_call"}]}"#,
            expect!["the model server's answer broke off"],
        );
    }

    #[test]
    fn the_request_is_said_in_the_dialect_of_the_model() {
        let messages = vec![PromptMessage { role: PromptRole::System, content: "Be brief.".into() }];
        let prompt = Prompt { temperature: Some(0.3), ..Prompt::new(messages.clone(), 300) };
        let plain = json!({
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}],
            "stream": false,
            "max_tokens": 300,
            "temperature": 0.3,
        });
        assert_eq!(request("m", &prompt, Dialect::default()), plain);
        let merged = PromptMessage { role: PromptRole::User, content: "When?".into() };
        let asked = Prompt { messages: [messages.clone(), vec![merged]].concat(), ..prompt.clone() };
        let described = request("m", &asked, Dialect { no_system: true, ..Dialect::default() });
        assert_eq!(described["messages"], json!([{"role": "user", "content": "Be brief.\n\nWhen?"}]));
        let newest = Dialect { completion_limit: true, default_temperature: true, ..Dialect::default() };
        let messages = &plain["messages"];
        let said = json!({"model": "m", "messages": messages, "stream": false, "max_completion_tokens": 300});
        assert_eq!(request("m", &prompt, newest), said);
        let format = AnswerFormat::Json { name: "tags", schema: json!({"type": "object"}) };
        let strict = request("m", &Prompt { format, ..prompt.clone() }, Dialect::default());
        assert_eq!(strict["response_format"]["json_schema"]["name"], "tags");
        let plain = Dialect { free_form: true, ..Dialect::default() };
        assert_eq!(
            request("m", &Prompt { format: AnswerFormat::Text, ..prompt }, plain)["response_format"],
            Value::Null
        );
    }
}
