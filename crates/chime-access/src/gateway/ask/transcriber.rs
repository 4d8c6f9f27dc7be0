//! Transcribes recordings: checks the budget, asks the circuit breaker, calls the model, records the usage.

use parking_lot::Mutex;

use super::charge;
use crate::Allowance;
use crate::gateway::{AskError, DailyBudget};
use chime_core::{Conversation, RefusalReason, TokenUse, UserId};
use chime_llm::{Audio, LlmError, Transcriptions, tokens_of};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::{Breaker, CallOutcome};
use chime_store::usage::{self, CallUsage};
use chime_store::{Priority, Store, Writer};

/// Client of the transcription model, with its own circuit breaker.
pub struct Transcriber {
    store: Store,
    clock: Clock,
    model: Transcriptions,
    budget: DailyBudget,
    breaker: Mutex<Breaker>,
}

/// Transcript with its usage record. The caller stores both in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a call that is not written down is missing in the day's budget"]
pub struct Transcribed {
    /// Empty if nobody speaks in the recording.
    pub text: String,
    call: CallUsage,
}

impl Transcribed {
    pub fn write_bill(&self, tx: &Writer<'_>) -> chime_store::Result<()> {
        usage::add(tx, &self.call)
    }
}

impl Transcriber {
    pub fn new(store: Store, clock: Clock, model: Transcriptions, budget: DailyBudget) -> Self {
        Self { store, clock, model, budget, breaker: Mutex::default() }
    }

    /// Transcribes `audio`. Its tokens count for the chat and for the member who waits. If nobody waits, at most half
    /// of each daily cap may be used.
    pub async fn transcribe(
        &self,
        conversation: Conversation,
        on_behalf_of: Option<UserId>,
        audio: Audio,
    ) -> Result<Transcribed, AskError> {
        let (chat, now) = (conversation.chat, self.clock.now());
        let user = on_behalf_of.unwrap_or(UserId(0));
        let spent = self.store.read(move |conn| usage::spent(conn, now, chat, user)).await?;
        if let Allowance::Over(because) = self.budget.allowance(spent) {
            return Err(AskError::OverBudget(because));
        }
        if on_behalf_of.is_none() && !self.budget.has_room_unasked(spent) {
            return Err(AskError::OverBudget(RefusalReason::DailyTokens));
        }
        let blocked = |retry_after| AskError::BreakerOpen { retry_after, refusal: None };
        self.breaker.lock().admit(self.clock.now()).map_err(blocked)?;
        let call = |tokens, cost_micros| CallUsage {
            at: self.clock.now(),
            chat,
            user: on_behalf_of,
            model: self.model.model().to_owned(),
            tokens,
            cost_micros,
        };
        let of_failure = TokenUse { prompt: tokens_of(audio.seconds), completion: 0 };
        let transcribed = self.model.transcribe(audio, &self.clock).await;
        self.settle(transcribed.as_ref().err());
        match transcribed {
            Ok(transcript) => {
                let cost = if transcript.is_counted {
                    self.budget.cost_micros(self.model.model(), transcript.tokens)
                } else {
                    0
                };
                Ok(Transcribed { call: call(transcript.tokens, cost), text: transcript.text })
            }
            Err(error) => {
                if error.may_have_cost() {
                    charge(&self.store, Priority::Background, call(of_failure, 0)).await;
                }
                Err(AskError::of_model(error))
            }
        }
    }

    /// Reports the result to the breaker. An error about the recording itself counts as a success, because the server
    /// works.
    fn settle(&self, failure: Option<&LlmError>) {
        let outcome = match failure {
            None => CallOutcome::Succeeded,
            Some(error) if error.is_about_the_request() => CallOutcome::Succeeded,
            Some(_) => CallOutcome::Failed,
        };
        self.breaker.lock().settle(outcome, self.clock.now());
    }
}
