//! One model call: a stream with a time limit on its pauses, or a whole answer from a server that refuses to stream.

use std::time::Duration;

use super::{Model, OpenAi, ServerCall, timeouts};
use crate::diagnose::diagnose_prompt;
use crate::facts::context_in_refusal;
use crate::failure::{ErrorResponse, ServerFailure};
use crate::stream::Assembly;
use crate::wire::ModelAnswer;
use crate::{LlmError, Prompt};
use chime_core::Timestamp;
use chime_runtime::resilience::within;

pub(super) struct TimedAnswer {
    pub answer: ModelAnswer,
    pub first_word: Option<Duration>,
    /// Time from the call to the first token, which may belong to the reasoning.
    pub first_token: Option<Duration>,
}

/// Longest time, in time limits, for which comments and empty events replace a part of an answer.
const HIDDEN_WORK: u32 = 5;
/// Growth of an answer after which its visible part is computed again, as a fraction of its size. Each time reads all of
/// the text.
const NEWS: usize = 20;
/// Longest wait for token counts after the end of an answer.
const COUNTING: Duration = Duration::from_secs(3);

/// Reason why a call returned no answer.
enum CallFailure {
    TooSilent,
    /// Refusal by the server, or a broken connection.
    Refused(ServerFailure),
    Unusable(LlmError),
}

impl CallFailure {
    /// Converts the failure to an error. Stores in `model` the context size that a refusal names, or that it names none.
    fn diagnosed(self, model: &Model, prompt: &Prompt, now: Timestamp) -> LlmError {
        match self {
            Self::TooSilent => LlmError::TimedOut,
            Self::Unusable(error) => error,
            Self::Refused(failure) => {
                let size = match &failure {
                    ServerFailure::Refusal(ErrorResponse { body, .. }) => context_in_refusal(body),
                    _ => None,
                };
                let error = diagnose_prompt(failure, prompt);
                match (&error, size) {
                    (LlmError::PromptTooLong, Some(size)) => model.note_context(size),
                    (LlmError::PromptTooLong, None) => model.note_refusal(prompt, now),
                    _ => {}
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
    pub(super) async fn call(&self, model: &Model, call: ServerCall<'_>) -> Result<TimedAnswer, LlmError> {
        let streaming = !model.learned.lock().refuses_streams;
        let mut answered = self.listen(model, call, streaming).await;
        if streaming && matches!(&answered, Err(CallFailure::Refused(failure)) if refuses_streams(failure)) {
            answered = self.listen(model, call, false).await;
            model.learned.lock().refuses_streams = answered.is_ok();
        }
        answered.map_err(|failure| failure.diagnosed(model, call.prompt, call.clock.now()))
    }

    /// Requests an answer and forwards its text to `progress` as it arrives. A server that does not stream stays silent
    /// until the answer is complete, so its time limit is doubled.
    async fn listen(&self, model: &Model, call: ServerCall<'_>, streaming: bool) -> Result<TimedAnswer, CallFailure> {
        let ServerCall { prompt, progress, clock } = call;
        let watch = clock.stopwatch();
        let patience = self.first_word(model, prompt) * if streaming { 1 } else { 2 };
        let write = |text: &str| progress.inspect(|progress| progress.write(text)).is_some();
        // Clears the text of an earlier attempt.
        write("");
        let opening = self.open(model, call, streaming);
        let mut incoming = within(clock, patience, opening).await.ok_or(CallFailure::TooSilent)??;
        let thinks_unannounced = model.learned.lock().thinks_unannounced;
        let mut assembly = Assembly::new(thinks_unannounced);
        let (mut first_word, mut first_token, mut until) = (None, None, patience.max(watch.elapsed() + self.timeout));
        let mut latest = until.max(watch.elapsed() + self.timeout * HIDDEN_WORK);
        let mut seen = 0;
        loop {
            let next = within(clock, until.saturating_sub(watch.elapsed()), incoming.next()).await;
            let bytes = match next {
                Some(Ok(Some(bytes))) => bytes,
                Some(Ok(None)) => break,
                // Some servers neither end the stream nor close the connection properly.
                None | Some(Err(_)) if assembly.is_finished() => break,
                None => return Err(CallFailure::TooSilent),
                Some(Err(failure)) => return Err(failure.into()),
            };
            let size = assembly.size();
            assembly.feed(bytes.as_ref())?;
            if assembly.size() > size {
                first_token.get_or_insert_with(|| watch.elapsed());
                (until, latest) = (watch.elapsed() + self.timeout, watch.elapsed() + self.timeout * HIDDEN_WORK);
            } else {
                // A server that only shows that it lives may be thinking without telling.
                until = until.max(watch.elapsed() + self.timeout).min(latest);
            }
            if assembly.is_finished() {
                until = until.min(watch.elapsed() + COUNTING);
            }
            if assembly.size() > seen + seen / NEWS && (progress.is_some() || first_word.is_none()) {
                seen = assembly.size();
                let text = assembly.shown(prompt);
                if !text.is_empty() {
                    first_word.get_or_insert_with(|| watch.elapsed());
                    write(&text);
                }
            }
            if assembly.is_done() {
                break;
            }
        }
        Ok(TimedAnswer { answer: assembly.conclude(prompt)?, first_word, first_token })
    }

    fn first_word(&self, model: &Model, prompt: &Prompt) -> Duration {
        timeouts::first_word(self.timeout, prompt.estimated_tokens(), model.facts().reads_per_second)
    }
}

/// Returns `true` if a refusal may be about streaming; only a call without streaming can confirm it.
pub(super) fn refuses_streams(failure: &ServerFailure) -> bool {
    let ServerFailure::Refusal(ErrorResponse { status: 400.., body, .. }) = failure else { return false };
    // Whole words: proxies write of an "upstream" that failed, and `stream_options` is another parameter.
    let lower = body.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| matches!(word, "stream" | "streams" | "streaming"))
}
