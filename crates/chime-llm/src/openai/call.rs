//! One model call: a stream with a time limit on its pauses, or a whole answer from a server that refuses to stream.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{Model, ModelCall, OpenAi, timeouts};
use crate::diagnose::diagnose_prompt;
use crate::facts::{ReadingTime, context_in_refusal};
use crate::failure::{ErrorResponse, ServerFailure};
use crate::stream::Assembly;
use crate::wire::{self, ModelAnswer};
use crate::{LlmError, Prompt};
use chime_runtime::resilience::within;

pub(super) struct TimedAnswer {
    pub answer: ModelAnswer,
    /// Time from the call to the first word of the answer.
    pub first_word: Option<Duration>,
    /// Time from the call to the first token, which may belong to the reasoning.
    pub first_token: Option<Duration>,
    pub reading: ReadingTime,
}

/// Reason why a call returned no answer.
enum CallFailure {
    TooSilent,
    /// Refusal by the server, or a broken connection.
    Refused(ServerFailure),
    Unusable(LlmError),
}

impl CallFailure {
    /// Converts the failure to an error. Stores the context size in `model` if a refusal names it.
    fn diagnosed(self, model: &Model, prompt: &Prompt) -> LlmError {
        match self {
            Self::TooSilent => LlmError::TimedOut,
            Self::Unusable(error) => error,
            Self::Refused(failure) => {
                let size = match &failure {
                    ServerFailure::Refusal(ErrorResponse { body, .. }) => context_in_refusal(body),
                    _ => None,
                };
                let error = diagnose_prompt(failure, prompt);
                if let (LlmError::PromptTooLong, Some(size)) = (&error, size) {
                    model.note_context(size);
                }
                error
            }
        }
    }
}

impl From<ServerFailure> for CallFailure {
    fn from(failure: ServerFailure) -> Self {
        Self::Refused(failure)
    }
}

impl From<LlmError> for CallFailure {
    fn from(error: LlmError) -> Self {
        Self::Unusable(error)
    }
}

impl OpenAi {
    /// Requests a stream, or a whole answer if the server refuses to stream.
    pub(super) async fn call(&self, model: &Model, call: ModelCall<'_>) -> Result<TimedAnswer, LlmError> {
        let refused = match model.refuses_streams() {
            true => None,
            false => match self.stream(model, call).await {
                Err(CallFailure::Refused(failure)) if refuses_streams(&failure) => Some(failure),
                answered => return answered.map_err(|failure| failure.diagnosed(model, call.prompt)),
            },
        };
        let answered = self.whole(model, call).await.map_err(|failure| failure.diagnosed(model, call.prompt))?;
        if refused.is_some() {
            model.refuses_streams.store(true, Ordering::Relaxed);
        }
        Ok(answered)
    }

    /// Requests a stream and forwards the text to `progress` as it arrives.
    async fn stream(&self, model: &Model, call: ModelCall<'_>) -> Result<TimedAnswer, CallFailure> {
        let ModelCall { prompt, progress, clock } = call;
        let watch = clock.stopwatch();
        let patience = self.first_word(model, prompt);
        let first_until = clock.now().plus(patience);
        let write = |text: &str| progress.inspect(|progress| progress.write(text)).is_some();
        // Clears the text of an earlier attempt.
        write("");
        let opening = self.open(model, prompt, clock.now());
        let mut incoming = within(clock, patience, opening).await.ok_or(CallFailure::TooSilent)??;
        let (mut assembly, mut first_word, mut first_token) = (Assembly::default(), None, None);
        loop {
            let reading =
                if assembly.has_begun() { Duration::ZERO } else { first_until.since(clock.now()).min(patience) };
            let next = within(clock, self.timeout.max(reading), incoming.next()).await.ok_or(CallFailure::TooSilent)?;
            let Some(bytes) = next? else { break };
            assembly.feed(bytes.as_ref())?;
            if assembly.has_begun() {
                first_token.get_or_insert_with(|| watch.elapsed());
            }
            let text = if model.thinks_unannounced() { String::new() } else { assembly.shown(prompt) };
            if !text.is_empty() {
                first_word.get_or_insert_with(|| watch.elapsed());
                write(&text);
            }
            if assembly.is_done() {
                break;
            }
        }
        let reading = assembly.reading();
        Ok(TimedAnswer { answer: assembly.conclude(prompt)?, first_word, first_token, reading })
    }

    /// Requests the whole answer at once. The server stays silent until it is complete, so the time limit is doubled.
    async fn whole(&self, model: &Model, call: ModelCall<'_>) -> Result<TimedAnswer, CallFailure> {
        let ModelCall { prompt, clock, .. } = call;
        let patience = self.first_word(model, prompt).saturating_mul(2);
        let posting = self.post(model, prompt, clock.now());
        let body = within(clock, patience, posting).await.ok_or(CallFailure::TooSilent)??;
        let reading = ReadingTime::of(&body);
        Ok(TimedAnswer { answer: wire::read(body, prompt)?, first_word: None, first_token: None, reading })
    }

    fn first_word(&self, model: &Model, prompt: &Prompt) -> Duration {
        timeouts::first_word(self.timeout, prompt.estimated_tokens(), model.facts().reads_per_second)
    }
}

/// Returns whether a refusal may be about streaming; only a call without streaming can confirm it.
pub(super) fn refuses_streams(failure: &ServerFailure) -> bool {
    let ServerFailure::Refusal(ErrorResponse { status: 400.., body, .. }) = failure else { return false };
    body.to_lowercase().replace("stream_options", "").contains("stream")
}
