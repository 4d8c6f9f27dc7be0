//! The chat completions format, as servers really write it.
//!
//! Many servers speak "OpenAI-compatible" and few agree on the details: ids are missing, counts are floats, content
//! comes in parts. So a field of an unexpected shape counts as absent, and only what is needed for an answer
//! is insisted on: text, and a sign that it is complete.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::domain::{TokenUse, is_blank};
use crate::llm::diagnose::diagnose_body;
use crate::llm::thinking::without_thinking;
use crate::llm::{AnswerFormat, LlmError, Prompt};

/// Which form of the request a model takes. The default suits most servers, and refusals teach the rest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialect {
    /// The limit is called `max_completion_tokens`: OpenAI's reasoning models refuse the older name.
    pub completion_limit: bool,
    /// No temperature but the default one is accepted.
    pub default_temperature: bool,
    /// The form of the answer cannot be asked for beside the prompt.
    pub free_form: bool,
}

/// The text of a completion and what is known about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub text: String,
    pub truncated: bool,
    /// `None` when the server does not count.
    pub tokens: Option<TokenUse>,
}

pub fn request(model: &str, prompt: &Prompt, dialect: Dialect) -> Value {
    let limit = if dialect.completion_limit { "max_completion_tokens" } else { "max_tokens" };
    let mut body = json!({
        "model": model,
        "messages": prompt.messages,
        "stream": false,
        limit: prompt.max_answer_tokens,
    });
    if let Some(temperature) = prompt.temperature.filter(|_| !dialect.default_temperature) {
        // Rounded as f64, or 0.3 is sent as 0.30000001192092896.
        body["temperature"] = json!((f64::from(temperature) * 1000.0).round() / 1000.0);
    }
    if let AnswerFormat::Json { name, schema } = &prompt.format
        && !dialect.free_form
    {
        let schema = json!({"name": name, "strict": true, "schema": schema});
        body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    }
    body
}

/// Reads the body of a success.
///
/// # Errors
/// Whatever keeps it from being an answer: an error in disguise, a filter, no text, no end.
pub fn read(body: Value) -> Result<Answer, LlmError> {
    let reply = Reply::deserialize(&body).unwrap_or_default();
    let Some(choice) = reply.choices.into_iter().next() else {
        let is_error = body.get("error").or_else(|| body.get(0)?.get("error")).is_some_and(|error| !error.is_null());
        return Err(if is_error { diagnose_body(&body) } else { LlmError::Malformed { what: "it has no choices" } });
    };
    let text = choice.message.content.map(Content::into_text).unwrap_or_default();
    let text = without_thinking(&text).to_owned();
    match choice.finish_reason.map(Finish::of) {
        Some(Finish::Filtered) => Err(LlmError::Filtered),
        Some(Finish::Broken) => Err(choice.error.map_or_else(Finish::broken, |error| diagnose_body(&error))),
        None => Err(LlmError::Malformed { what: "it breaks off without a finish reason" }),
        Some(Finish::Whole | Finish::CutOff) if is_blank(&text) => Err(match choice.message.refusal {
            Some(_) => LlmError::Filtered,
            None => LlmError::Empty,
        }),
        Some(Finish::Whole) => Ok(Answer { text, truncated: false, tokens: reply.usage.counted() }),
        Some(Finish::CutOff) => Ok(Answer { text, truncated: true, tokens: reply.usage.counted() }),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply {
    #[serde(deserialize_with = "lenient")]
    choices: Vec<Choice>,
    #[serde(deserialize_with = "lenient")]
    usage: Usage,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice {
    #[serde(deserialize_with = "lenient")]
    message: Reading,
    #[serde(deserialize_with = "lenient")]
    finish_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    error: Option<Value>,
}

/// The message of a choice.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reading {
    #[serde(deserialize_with = "lenient")]
    content: Option<Content>,
    #[serde(deserialize_with = "lenient")]
    refusal: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    #[serde(rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(deserialize_with = "lenient")]
    text: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Usage {
    #[serde(deserialize_with = "lenient")]
    prompt_tokens: f64,
    #[serde(deserialize_with = "lenient")]
    completion_tokens: f64,
}

/// How the generation ended.
enum Finish {
    Whole,
    CutOff,
    Filtered,
    Broken,
}

impl Content {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            // Other parts are thoughts, images, calls.
            Self::Parts(parts) => parts
                .into_iter()
                .filter(|part| matches!(part.kind.as_str(), "" | "text"))
                .map(|part| part.text)
                .collect(),
        }
    }
}

impl Usage {
    fn counted(&self) -> Option<TokenUse> {
        // A float becomes the nearest whole number in range: saturating is what `as` does.
        let tokens = TokenUse { prompt: self.prompt_tokens as u64, completion: self.completion_tokens as u64 };
        (tokens.prompt > 0).then_some(tokens)
    }
}

impl Finish {
    /// Names differ (`stop`, `eos`, `end_turn`, an empty one); whatever is not known to be bad is a good end.
    fn of(reason: String) -> Self {
        match reason.to_ascii_lowercase().as_str() {
            "length" | "max_tokens" | "max_output_tokens" => Self::CutOff,
            "content_filter" | "safety" | "recitation" | "prohibited_content" | "blocklist" | "refusal" => {
                Self::Filtered
            }
            "error" | "abort" | "cancelled" => Self::Broken,
            _ => Self::Whole,
        }
    }

    fn broken() -> LlmError {
        LlmError::Malformed { what: "the model stopped with an error" }
    }
}

/// A field that is null, or of a shape nobody expected, counts as absent.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(field: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(field)?).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::llm::{PromptMessage, PromptRole};

    #[track_caller]
    fn check(body: &str, expected: Expect) {
        expected.assert_eq(&told(body));
    }

    fn told(body: &str) -> String {
        match read(serde_json::from_str(body).expect("JSON")) {
            Ok(Answer { text, truncated, tokens }) => {
                let tokens = tokens.map_or("uncounted".to_owned(), |t| format!("{} + {}", t.prompt, t.completion));
                format!("{text:?}, {tokens}{}", if truncated { ", truncated" } else { "" })
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn answers_of_real_servers_are_read() {
        check(
            include_str!("../../tests/data/model/openai.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 812 + 14"#]],
        );
        check(
            include_str!("../../tests/data/model/ollama.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 798 + 41"#]],
        );
        check(
            include_str!("../../tests/data/model/vllm.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 801 + 14"#]],
        );
        check(
            include_str!("../../tests/data/model/openrouter.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 833 + 16"#]],
        );
        check(
            include_str!("../../tests/data/model/groq.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 806 + 14"#]],
        );
        check(
            include_str!("../../tests/data/model/lm_studio.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 799 + 15"#]],
        );
        check(
            include_str!("../../tests/data/model/llama_cpp.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 803 + 14"#]],
        );
        check(
            include_str!("../../tests/data/model/gemini.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 790 + 13"#]],
        );
        check(
            include_str!("../../tests/data/model/mistral_parts.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", 815 + 38"#]],
        );
        check(
            include_str!("../../tests/data/model/bare.json"),
            expect![[r#""They settled on Friday at seven [source: m17].", uncounted"#]],
        );
    }

    #[test]
    fn every_name_for_a_good_end_is_accepted() {
        for reason in ["stop", "STOP", "eos", "eos_token", "end_turn", "stop_sequence", "tool_calls", ""] {
            let body = format!(r#"{{"choices":[{{"message":{{"content":"Friday."}},"finish_reason":"{reason}"}}]}}"#);
            assert_eq!(told(&body), "\"Friday.\", uncounted", "finish reason {reason:?}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_off_is_kept_and_marked() {
        check(
            r#"{"choices":[{"message":{"content":"Friday, because"},"finish_reason":"length"}],"usage":{"prompt_tokens":9.0,"completion_tokens":3.0}}"#,
            expect![[r#""Friday, because", 9 + 3, truncated"#]],
        );
        check(
            r#"{"choices":[{"message":{"content":"<think>So"},"finish_reason":"length"}]}"#,
            expect!["the model answered without text"],
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
            assert_eq!(told(body), "the model answered without text");
        }
        for body in
            [r#"{"choices":[]}"#, r#"{"choices":null}"#, "{}", "[]", "null", r#""Friday.""#, r#"{"choices":"Friday."}"#]
        {
            assert_eq!(told(body), "the model server's answer cannot be used: it has no choices");
        }
        check(
            r#"{"choices":[{"message":{"content":"Fri"},"finish_reason":null}]}"#,
            expect!["the model server's answer cannot be used: it breaks off without a finish reason"],
        );
        check(
            r#"{"choices":[{"message":{"content":"Fri"}}]}"#,
            expect!["the model server's answer cannot be used: it breaks off without a finish reason"],
        );
    }

    #[test]
    fn filters_are_recognised() {
        for body in [
            r#"{"choices":[{"message":{"content":"Fri"},"finish_reason":"content_filter"}]}"#,
            r#"{"choices":[{"message":{"content":null},"finish_reason":"SAFETY"}]}"#,
            r#"{"choices":[{"message":{"content":null,"refusal":"I cannot."},"finish_reason":"stop"}]}"#,
        ] {
            assert_eq!(told(body), "the model's content filter withheld the answer");
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
            expect!["the model server's answer cannot be used: the model stopped with an error"],
        );
    }

    #[test]
    fn the_request_is_said_in_the_dialect_of_the_model() {
        let prompt = Prompt {
            messages: vec![PromptMessage { role: PromptRole::System, content: "Be brief.".into() }],
            max_answer_tokens: 300,
            temperature: Some(0.3),
            format: AnswerFormat::Text,
        };
        let plain = json!({
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}],
            "stream": false,
            "max_tokens": 300,
            "temperature": 0.3,
        });
        assert_eq!(request("m", &prompt, Dialect::default()), plain);
        let newest = Dialect { completion_limit: true, default_temperature: true, free_form: false };
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
