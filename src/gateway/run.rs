//! Asks: budget, breaker, model, ledger.

mod transcriber;

pub use transcriber::{Transcribed, Transcriber};

use std::sync::Arc;

use crate::access::Allowance;
use crate::clock::Clock;
use crate::domain::{Conversation, Spent, Timestamp, TokenCalibration, TokenUse, UserId};
use crate::gateway::{AskError, Budget, Economy, GuardState, ModelGuard, Purpose};
use crate::llm::{Completion, Llm, Progress, Prompt};
use crate::store::usage::{self, Call};
use crate::store::{self, Priority, Reader, Store, Writer};

/// Asks models on behalf of every room. Clones are the same one.
#[derive(Clone)]
pub struct Gateway(Arc<GatewayParts>);

/// What asking needs.
pub struct GatewayParts {
    pub store: Store,
    pub clock: Clock,
    pub models: Models,
    pub guard: ModelGuard,
    pub budget: Budget,
}

/// A model for each purpose.
#[derive(Debug)]
pub struct Models {
    pub answer: Llm,
    pub summary: Llm,
    pub extract: Llm,
}

/// One question.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    pub purpose: Purpose,
    pub conversation: Conversation,
    /// The member who asked. None for work in the background, which counts against the caps of the chat and of the day.
    pub on_behalf_of: Option<UserId>,
    pub economy: Economy,
    pub prompt: &'a Prompt,
}

/// What a call took, to be written down in the caller's own transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a call that is not written down is missing in the day's budget"]
pub struct Bill {
    call: Call,
    model: String,
    /// Tokens of the prompt: as we estimated them, and as the server counted them, where it did.
    counted: Option<(usize, u64)>,
    server: String,
    /// Models of the server that take no tools, with when they last said so.
    tool_refusals: Vec<(String, Timestamp)>,
}

impl Bill {
    pub fn write(&self, tx: &Writer<'_>) -> store::Result<()> {
        usage::add(tx, &self.call)?;
        for (model, at) in &self.tool_refusals {
            usage::note_tool_refusal(tx, &self.server, model, *at)?;
        }
        match self.counted {
            Some((estimated, real)) => usage::calibrate(tx, &self.model, estimated, real),
            None => Ok(()),
        }
    }
}

impl Gateway {
    pub fn new(parts: GatewayParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Reads which models took no tools before this start.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn recall_tool_refusals(&self) -> store::Result<()> {
        let models = &self.0.models;
        for llm in [&models.answer, &models.summary, &models.extract] {
            let Llm::OpenAi(model) = llm else { continue };
            let server = model.host().to_owned();
            for (name, at) in self.0.store.read(move |conn| usage::tool_refusals(conn, &server)).await? {
                model.recall_tool_refusal(&name, at);
            }
        }
        Ok(())
    }

    /// Whether no model is configured.
    pub fn is_offline(&self) -> bool {
        self.0.models.answer.is_offline()
    }

    /// Whether the answering model may be shown pictures.
    pub fn sees_pictures(&self) -> bool {
        match self.llm(Purpose::Answer) {
            Llm::OpenAi(model) => model.sees_pictures(self.0.clock.now()),
            Llm::Offline => false,
        }
    }

    /// The name of the model that is asked first, or `offline`.
    pub fn model_name(&self, purpose: Purpose) -> &str {
        self.llm(purpose).model_name()
    }

    /// What an operator sees of the breakers of the answering model.
    pub fn state(&self) -> GuardState {
        self.0.guard.state()
    }

    /// What the day's tokens still allow after `spent`.
    pub fn allowance(&self, spent: Spent) -> Allowance {
        match self.is_offline() {
            true => Allowance::Ample,
            false => self.0.budget.allowance(spent),
        }
    }

    /// How the model of `purpose` counts tokens.
    pub fn calibration(&self, conn: &Reader, purpose: Purpose) -> store::Result<TokenCalibration> {
        usage::calibration(conn, self.model_name(purpose))
    }

    /// What tokens cost, in millionths of the operator's currency; 0 where no prices are set.
    pub fn cost_micros(&self, tokens: TokenUse) -> u64 {
        self.0.budget.cost_micros(tokens)
    }

    /// Asks, and writes down what it took.
    ///
    /// # Errors
    /// Each says what the caller can do.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<Completion, AskError> {
        let (chat, user, now) = (ask.conversation.chat, ask.on_behalf_of, self.0.clock.now());
        // Nobody is user 0: what the background took is counted for the chat and the day.
        let user = user.unwrap_or(UserId(0));
        let spent = self.0.store.read(move |conn| usage::spent(conn, now, chat, user)).await?;
        if let Allowance::Over(because) = self.allowance(spent) {
            return Err(AskError::OverBudget(because));
        }
        let (completion, bill) = self.ask_within_budget(ask).await?;
        self.0.store.write(Priority::Background, move |tx| bill.write(tx)).await?;
        Ok(completion)
    }

    /// Asks for a caller who has looked at the budget, and who writes the bill in a transaction of its own.
    ///
    /// # Errors
    /// Each says what the caller can do.
    pub async fn ask_within_budget(&self, ask: Ask<'_>) -> Result<(Completion, Bill), AskError> {
        self.ask_with(ask, None).await
    }

    /// As [`ask_within_budget`](Self::ask_within_budget), with the words going to `progress` as they come.
    ///
    /// # Errors
    /// Each says what the caller can do.
    pub async fn ask_showing(&self, ask: Ask<'_>, progress: &Progress) -> Result<(Completion, Bill), AskError> {
        self.ask_with(ask, Some(progress)).await
    }

    async fn ask_with(&self, ask: Ask<'_>, progress: Option<&Progress>) -> Result<(Completion, Bill), AskError> {
        let parts = &*self.0;
        let Llm::OpenAi(model) = self.llm(ask.purpose) else { return Err(AskError::Offline) };
        let subject = (ask.purpose, ask.conversation);
        if let Err(retry_after) = parts.guard.admit(subject, parts.clock.now()) {
            return Err(AskError::BreakerOpen { retry_after });
        }
        let completed = match (ask.economy, progress) {
            (Economy::Best, Some(progress)) => model.complete_streaming(ask.prompt, progress, &parts.clock).await,
            (Economy::Best, None) => model.complete(ask.prompt, &parts.clock).await,
            (Economy::Cheaper, _) => model.complete_cheaply(ask.prompt, &parts.clock).await,
        };
        parts.guard.settle(subject, completed.as_ref().err(), parts.clock.now());
        let estimated = ask.prompt.estimated_tokens();
        match completed {
            Ok(completion) => {
                // Servers disagree about what a picture takes: it says nothing about how words are counted.
                let is_telling = completion.tokens_counted && !completion.prompt_cut && ask.prompt.pictures.is_empty();
                let counted = is_telling.then_some((estimated, completion.tokens.prompt));
                let call = self.call(&ask, completion.tokens);
                let (server, tool_refusals) = (model.host().to_owned(), model.tool_refusals());
                let bill = Bill { call, model: completion.model.clone(), counted, server, tool_refusals };
                Ok((completion, bill))
            }
            Err(error) => {
                if error.may_have_cost() {
                    let tokens = TokenUse { prompt: estimated as u64, completion: 0 };
                    self.charge(self.call(&ask, tokens)).await;
                }
                Err(AskError::of_model(error))
            }
        }
    }

    /// Writes down a failed call. That the ledger cannot be written must not hide why the call failed.
    async fn charge(&self, call: Call) {
        if let Err(error) = self.0.store.write(Priority::Answering, move |tx| usage::add(tx, &call)).await {
            tracing::warn!(%error, "a failed model call is missing in the day's budget");
        }
    }

    fn call(&self, ask: &Ask<'_>, tokens: TokenUse) -> Call {
        Call {
            at: self.0.clock.now(),
            chat: ask.conversation.chat,
            user: ask.on_behalf_of,
            tokens,
            cost_micros: self.0.budget.cost_micros(tokens),
        }
    }

    fn llm(&self, purpose: Purpose) -> &Llm {
        match purpose {
            Purpose::Answer => &self.0.models.answer,
            Purpose::Summary => &self.0.models.summary,
            Purpose::Extract => &self.0.models.extract,
        }
    }
}
