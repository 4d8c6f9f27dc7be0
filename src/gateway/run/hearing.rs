//! Has spoken words written down: budget, breaker, model, ledger.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::access::Allowance;
use crate::clock::Clock;
use crate::domain::{Because, Conversation, UserId};
use crate::gateway::{AskError, Budget};
use crate::llm::{Audio, LlmError, Transcriptions};
use crate::resilience::{Admission, Breaker, Outcome};
use crate::store::usage::{self, Call};
use crate::store::{Priority, Store};

/// The model that writes down what is spoken, and whether it may be asked.
pub struct Hearing {
    store: Store,
    clock: Clock,
    model: Transcriptions,
    budget: Budget,
    breaker: Mutex<Breaker>,
}

impl Hearing {
    pub fn new(store: Store, clock: Clock, model: Transcriptions, budget: Budget) -> Self {
        Self { store, clock, model, budget, breaker: Mutex::default() }
    }

    /// What is said in `audio`, which may be nothing. It is counted for the chat, and for the member who waits for it.
    ///
    /// # Errors
    /// Each says what the caller can do.
    pub async fn hear(
        &self,
        conversation: Conversation,
        on_behalf_of: Option<UserId>,
        audio: Audio,
    ) -> Result<String, AskError> {
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
        let heard = self.model.transcribe(audio, &self.clock).await;
        self.settle(heard.as_ref().err());
        let heard = heard.map_err(AskError::of_model)?;
        let call = Call {
            at: self.clock.now(),
            chat,
            user: on_behalf_of,
            tokens: heard.tokens,
            cost_micros: self.budget.cost_micros(heard.tokens),
        };
        self.store.write(Priority::Background, move |tx| usage::add(tx, &call)).await?;
        Ok(heard.text)
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
            None | Some(LlmError::PromptTooLong | LlmError::Filtered | LlmError::Empty) => Outcome::Succeeded,
            Some(_) => Outcome::Failed,
        };
        let mut breaker = self.lock();
        *breaker = std::mem::take(&mut *breaker).settle(outcome, self.clock.now());
    }

    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
