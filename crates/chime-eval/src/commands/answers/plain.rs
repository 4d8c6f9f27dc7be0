//! Asks the model with a plain prompt.

use std::time::Duration;

use serde_json::{Value, json};

use crate::answers::{Case, CaseAnswer};
use crate::arguments::EvalAnswersOptions;
use chime_runtime::clock::Clock;

const SYSTEM: &str = "You are a helpful member of a group chat. Answer the last question briefly, from the messages.";
/// Number of chat messages in the prompt.
const MESSAGES: usize = 30;
/// Longest answer, in tokens.
const MAX_TOKENS: u32 = 500;
const TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub struct Plain {
    client: reqwest::Client,
    address: String,
    model: String,
    key: Option<String>,
}

impl Plain {
    pub fn new(options: &EvalAnswersOptions) -> Result<Self, reqwest::Error> {
        Ok(Self {
            client: reqwest::Client::builder().timeout(TIMEOUT).build()?,
            address: format!("{}/chat/completions", options.server.url.trim_end_matches('/')),
            model: options.server.model.clone(),
            key: std::env::var("OPENAI_API_KEY").ok().filter(|key| !key.trim().is_empty()),
        })
    }

    /// Asks the model the question of a case, after the last messages of its chat. An error of the server counts as no
    /// answer.
    pub async fn answer(&self, case: &Case, clock: &Clock) -> CaseAnswer {
        let watch = clock.stopwatch();
        self.asked(case, clock).await.unwrap_or_else(|error| CaseAnswer {
            below: error.to_string(),
            is_apology: true,
            seconds: watch.elapsed().as_secs_f64(),
            ..CaseAnswer::default()
        })
    }

    async fn asked(&self, case: &Case, clock: &Clock) -> Result<CaseAnswer, reqwest::Error> {
        let messages = json!([
            { "role": "system", "content": SYSTEM },
            { "role": "user", "content": user_message(case) },
        ]);
        let body = json!({ "model": self.model, "messages": messages, "max_tokens": MAX_TOKENS });
        let mut request = self.client.post(&self.address).json(&body);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key.trim());
        }
        let watch = clock.stopwatch();
        let reply: Value = request.send().await?.error_for_status()?.json().await?;
        let text = reply["choices"][0]["message"]["content"].as_str().unwrap_or_default().to_owned();
        let tokens = |name: &str| reply["usage"][name].as_u64().unwrap_or(0);
        Ok(CaseAnswer {
            text,
            seconds: watch.elapsed().as_secs_f64(),
            prompt_tokens: tokens("prompt_tokens"),
            answer_tokens: tokens("completion_tokens"),
            ..CaseAnswer::default()
        })
    }
}

/// Formats the last messages, one per line, and the question without the bot's name. A mention without words stays as
/// it is.
fn user_message(case: &Case) -> String {
    let lines = case.lines.iter().skip(case.lines.len().saturating_sub(MESSAGES));
    let mut text: String = lines.map(|line| format!("{}: {}\n", line.name, line.text)).collect();
    let question = case.ask.replace("@bot", "").trim().to_owned();
    let question = if question.is_empty() { &case.ask } else { &question };
    text.push_str(&format!("{}: {question}", case.asker));
    text
}
