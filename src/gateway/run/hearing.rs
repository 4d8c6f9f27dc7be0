//! Has spoken words written down: budget, breaker, model, ledger.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::access::Allowance;
use crate::clock::Clock;
use crate::domain::{Because, Conversation, TokenUse, UserId};
use crate::gateway::{AskError, Budget};
use crate::llm::{Audio, LlmError, Transcriptions, tokens_of};
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
        let unheard = TokenUse { prompt: tokens_of(audio.seconds), completion: 0 };
        let heard = self.model.transcribe(audio, &self.clock).await;
        self.settle(heard.as_ref().err());
        let (tokens, is_counted) = match &heard {
            Ok(heard) => (heard.tokens, heard.is_counted),
            Err(error) if error.may_have_cost() => (unheard, false),
            Err(_) => (TokenUse::default(), false),
        };
        if tokens != TokenUse::default() {
            let cost_micros = if is_counted { self.budget.cost_micros(tokens) } else { 0 };
            let call = Call { at: self.clock.now(), chat, user: on_behalf_of, tokens, cost_micros };
            self.store.write(Priority::Background, move |tx| usage::add(tx, &call)).await?;
        }
        heard.map(|heard| heard.text).map_err(AskError::of_model)
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
