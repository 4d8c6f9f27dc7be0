//! Has recordings transcribed: budget, breaker, model, ledger.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Allowance;
use crate::gateway::{AskError, Budget};
use chime_core::{Because, Conversation, TokenUse, UserId};
use chime_llm::{Audio, LlmError, Transcriptions, tokens_of};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::{Admission, Breaker, Outcome};
use chime_store::usage::{self, Call};
use chime_store::{Priority, Store, Writer};

/// The model that transcribes, and whether it may be asked.
pub struct Transcriber {
    store: Store,
    clock: Clock,
    model: Transcriptions,
    budget: Budget,
    breaker: Mutex<Breaker>,
}

/// A transcript, and what it took, to be written down in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a call that is not written down is missing in the day's budget"]
pub struct Transcribed {
    /// Empty where nobody says anything.
    pub text: String,
    call: Call,
}

impl Transcribed {
    pub fn write_bill(&self, tx: &Writer<'_>) -> chime_store::Result<()> {
        usage::add(tx, &self.call)
    }
}

impl Transcriber {
    pub fn new(store: Store, clock: Clock, model: Transcriptions, budget: Budget) -> Self {
        Self { store, clock, model, budget, breaker: Mutex::default() }
    }

    /// Has `audio` transcribed. It counts for the chat, and for the member who waits for it.
    ///
    /// # Errors
    /// Each says what the caller can do.
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
            return Err(AskError::OverBudget(Because::DailyTokens));
        }
        self.admit()?;
        let call = |tokens, cost_micros| Call { at: self.clock.now(), chat, user: on_behalf_of, tokens, cost_micros };
        let of_failure = TokenUse { prompt: tokens_of(audio.seconds), completion: 0 };
        let transcribed = self.model.transcribe(audio, &self.clock).await;
        self.settle(transcribed.as_ref().err());
        match transcribed {
            Ok(transcript) => {
                let cost = if transcript.is_counted { self.budget.cost_micros(transcript.tokens) } else { 0 };
                Ok(Transcribed { call: call(transcript.tokens, cost), text: transcript.text })
            }
            Err(error) => {
                if error.may_have_cost() {
                    self.charge(call(of_failure, 0)).await;
                }
                Err(AskError::of_model(error))
            }
        }
    }

    /// Writes down a failed call. That the ledger cannot be written must not hide why the call failed.
    async fn charge(&self, call: Call) {
        if let Err(error) = self.store.write(Priority::Background, move |tx| usage::add(tx, &call)).await {
            tracing::warn!(%error, "a failed transcription is missing in the day's budget");
        }
    }

    fn admit(&self) -> Result<(), AskError> {
        let mut breaker = self.lock();
        let (admitted, admission) = std::mem::take(&mut *breaker).admit(self.clock.now());
        *breaker = admitted;
        match admission {
            Admission::Go => Ok(()),
            Admission::Wait(retry_after) => Err(AskError::BreakerOpen { retry_after }),
        }
    }

    /// A server that answers is well, whatever it thinks of the recording.
    fn settle(&self, failure: Option<&LlmError>) {
        let outcome = match failure {
            None => Outcome::Succeeded,
            Some(error) if error.is_about_the_request() => Outcome::Succeeded,
            Some(_) => Outcome::Failed,
        };
        let mut breaker = self.lock();
        *breaker = std::mem::take(&mut *breaker).settle(outcome, self.clock.now());
    }

    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
