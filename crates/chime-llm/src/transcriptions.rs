//! Client for OpenAI's `/audio/transcriptions`.

use std::time::Duration;

use reqwest::multipart::{Form, Part};
use serde_json::Value;

use crate::diagnose::diagnose;
use crate::loudness::is_faint;
use crate::silence::{is_judged, spoken};
use crate::transport::Server;
use crate::{Check, LlmError, LlmOptions};
use chime_core::{TokenUse, estimate_tokens, is_blank};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;

/// Estimated tokens per second of speech, for servers that report no token counts.
const TOKENS_A_SECOND: u64 = 10;
/// Longest transcript in characters: models repeat themselves endlessly on noise.
const MOST_CHARS: usize = 12_000;
/// Two seconds of silence, in the format of Telegram's voice messages.
const SILENCE: &[u8] = include_bytes!("silence.ogg");

#[derive(Debug)]
pub struct Transcriptions {
    server: Server,
    model: String,
    timeout: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audio {
    /// File name with the extension of the format, such as `voice.ogg`.
    pub file_name: String,
    pub bytes: Vec<u8>,
    pub seconds: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// Empty if nobody speaks.
    pub text: String,
    pub tokens: TokenUse,
    /// `true` if the server counted `tokens`, so that a price per token applies. Many servers charge by the minute
    /// instead.
    pub is_counted: bool,
}

impl Transcriptions {
    /// Builds a client for `options.model`, without a fallback.
    pub fn new(options: &LlmOptions) -> Result<Self, LlmError> {
        Ok(Self { server: Server::new(options)?, model: options.model.clone(), timeout: options.timeout })
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn host(&self) -> &str {
        self.server.host()
    }

    /// Transcribes `audio`. One call, or two if the server refuses the format that shows silence. The transcript of a
    /// recording that is too faint for speech is empty, unless the server judges silence itself.
    pub async fn transcribe(&self, audio: Audio, clock: &Clock) -> Result<Transcript, LlmError> {
        let body = match self.model.contains("whisper") {
            true => match self.request(&audio, "verbose_json", clock).await {
                Err(LlmError::Refused { check: Check::Request, .. }) => self.request(&audio, "json", clock).await?,
                answered => answered?,
            },
            false => self.request(&audio, "json", clock).await?,
        };
        let transcript = read(&body, audio.seconds)?;
        if transcript.text.is_empty() || is_judged(&body) {
            return Ok(transcript);
        }
        // A decoder that panics shows nothing about the loudness.
        let is_faint = tokio::task::spawn_blocking(move || is_faint(&audio.bytes)).await.unwrap_or(false);
        Ok(if is_faint { Transcript { text: String::new(), ..transcript } } else { transcript })
    }

    async fn request(&self, audio: &Audio, format: &'static str, clock: &Clock) -> Result<Value, LlmError> {
        let form = Form::new()
            .text("model", self.model.clone())
            .text("response_format", format)
            .part("file", Part::bytes(audio.bytes.clone()).file_name(audio.file_name.clone()));
        let call = self.server.transcription(form);
        within(clock, self.timeout, call).await.ok_or(LlmError::TimedOut)?.map_err(diagnose)
    }

    /// Transcribes silence to check that the model is available.
    pub async fn probe(&self, clock: &Clock) -> Result<(), LlmError> {
        let audio = Audio { file_name: "silence.ogg".to_owned(), bytes: SILENCE.to_vec(), seconds: 2 };
        self.transcribe(audio, clock).await.map(drop)
    }
}

/// Returns the estimated tokens of this many seconds of speech.
pub fn tokens_of(seconds: u32) -> u64 {
    u64::from(seconds) * TOKENS_A_SECOND
}

fn read(body: &Value, seconds: u32) -> Result<Transcript, LlmError> {
    let text = body["text"].as_str().ok_or(LlmError::Malformed { what: "no text" })?.trim();
    let text = spoken(text, body, seconds);
    let text: String = if is_blank(&text) { String::new() } else { text.chars().take(MOST_CHARS).collect() };
    let counted = |name: &str| body["usage"][name].as_u64();
    let tokens = TokenUse {
        prompt: counted("input_tokens").unwrap_or_else(|| tokens_of(seconds)),
        completion: counted("output_tokens").unwrap_or(estimate_tokens(&text) as u64),
    };
    Ok(Transcript { text, tokens, is_counted: counted("input_tokens").is_some() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(body: Value, expected: Option<(&str, u64, u64)>) {
        let found = read(&body, 12).ok();
        let found = found.as_ref().map(|it| (it.text.as_str(), it.tokens.prompt, it.tokens.completion));
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn the_text_is_read_with_or_without_a_count_of_tokens() {
        check(json!({"text": " See you on Friday. "}), Some(("See you on Friday.", 120, 8)));
        let usage = json!({"type": "tokens", "input_tokens": 14, "output_tokens": 6, "total_tokens": 20});
        check(json!({"text": "See you on Friday.", "usage": usage}), Some(("See you on Friday.", 14, 6)));
        check(json!({"text": "Hi", "usage": {"type": "duration", "seconds": 3}}), Some(("Hi", 120, 2)));
    }

    #[test]
    fn silence_is_no_text_and_anything_else_is_no_transcript() {
        check(json!({"text": " \n"}), Some(("", 120, 0)));
        check(json!({"text": "[BLANK_AUDIO]"}), Some(("", 120, 0)));
        check(json!({"error": {"message": "x"}}), None);
        check(json!([]), None);
    }
}
