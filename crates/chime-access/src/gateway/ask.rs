//! Asks: budget, queue, breaker, model, ledger.

mod queue;
mod transcriber;

pub use transcriber::{Transcribed, Transcriber};

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::Allowance;
use crate::gateway::ask::queue::{Queue, Slot, Urgency};
use crate::gateway::{
    AskError, Budget, Economy, GuardState, ModelGuard, Purpose, answer_tokens, room_for_answer, room_for_prompt, slots,
    talk_tokens,
};
use chime_core::config::ContextTokens;
use chime_core::{Conversation, Spent, Timestamp, TokenCalibration, TokenUse, UserId};
use chime_llm::{AnswerFormat, Completion, Llm, LlmError, OpenAi, Progress, Prompt, ServerFacts};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;
use chime_store::usage::{self, Call};
use chime_store::{Priority, Reader, Store, Writer};

/// Between two questions to a server about itself: while it does not answer, and later, since models are replaced.
const ASK_AGAIN: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_secs(10 * 60);
/// The first call waits no longer for what the server tells of itself.
const FACTS_WITHIN: Duration = Duration::from_secs(2);
/// Before background work that gave way to an answer is tried again.
const GIVE_WAY: Duration = Duration::from_secs(15);

/// Asks models on behalf of every room. Clones are the same one.
#[derive(Clone)]
pub struct Gateway(Arc<Shared>);

struct Shared {
    parts: GatewayParts,
    queue: Queue,
    /// How models count tokens, by name, as far as it was learned since the start.
    calibrations: Mutex<HashMap<String, TokenCalibration>>,
    /// Whether nobody is about to ask the server about itself.
    is_discovered: watch::Sender<bool>,
}

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
    pub fn write(&self, tx: &Writer<'_>) -> chime_store::Result<()> {
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
        let shared = Shared {
            parts,
            queue: Queue::default(),
            calibrations: Mutex::default(),
            is_discovered: watch::Sender::new(true),
        };
        shared.widen_queue();
        Self(Arc::new(shared))
    }

    /// Asks the model server about its size, now and again. Never returns.
    pub async fn watch_server(&self) -> std::convert::Infallible {
        let (parts, mut is_known) = (&self.0.parts, false);
        let models = [&parts.models.answer, &parts.models.summary, &parts.models.extract];
        loop {
            for llm in models {
                let Llm::OpenAi(model) = llm else { continue };
                is_known |= model.discover(&parts.clock).await;
            }
            self.0.widen_queue();
            self.0.is_discovered.send_replace(true);
            parts.clock.sleep(if is_known { LOOK_AGAIN } else { ASK_AGAIN }).await;
        }
    }

    /// Waits until the server was asked about itself after the start, two seconds at most: the facts shape the first prompt too.
    pub async fn wait_for_facts(&self) {
        let mut discovered = self.0.is_discovered.subscribe();
        let is_known = discovered.wait_for(|is_discovered| *is_discovered);
        let _ = within(&self.0.parts.clock, FACTS_WITHIN, is_known).await;
    }

    /// Returns what is known about the server and the model for `purpose`.
    pub fn server_facts(&self, purpose: Purpose) -> ServerFacts {
        match self.llm(purpose) {
            Llm::OpenAi(model) => model.facts(),
            Llm::Offline => ServerFacts::default(),
        }
    }

    /// Returns the tokens of talk that go into the prompt of an answer, by the model's own count.
    pub fn talk_tokens(&self, setting: ContextTokens) -> usize {
        match setting {
            ContextTokens::Auto => talk_tokens(self.server_facts(Purpose::Answer)),
            ContextTokens::Fixed(tokens) => tokens,
        }
    }

    /// Returns the tokens that a whole prompt may have, as we estimate them; none where the context is not known.
    pub fn prompt_room(&self, purpose: Purpose) -> Option<usize> {
        let facts = self.server_facts(purpose);
        let room = room_for_prompt(answer_tokens(purpose, facts), facts.context)?;
        Some(self.0.calibration(self.model_name(purpose)).room(room))
    }

    /// Reads which models took no tools before this start, and how they count. [`watch_server`](Self::watch_server) finds the
    /// rest, and the first call waits for that.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn recall_tool_refusals(&self) -> chime_store::Result<()> {
        let (parts, models) = (&self.0.parts, &self.0.parts.models);
        self.0.is_discovered.send_replace(false);
        for llm in [&models.answer, &models.summary, &models.extract] {
            let Llm::OpenAi(model) = llm else { continue };
            let server = model.host().to_owned();
            for (name, at) in parts.store.read(move |conn| usage::tool_refusals(conn, &server)).await? {
                model.recall_tool_refusal(&name, at);
            }
            let name = model.model_name().to_owned();
            let known = parts.store.read(move |conn| usage::calibration(conn, &name)).await?;
            self.0.learn(model.model_name(), |_| known);
        }
        Ok(())
    }

    /// Whether no model is configured.
    pub fn is_offline(&self) -> bool {
        self.0.parts.models.answer.is_offline()
    }

    /// Whether the answering model may be shown pictures.
    pub fn sees_pictures(&self) -> bool {
        match self.llm(Purpose::Answer) {
            Llm::OpenAi(model) => model.sees_pictures(self.0.parts.clock.now()),
            Llm::Offline => false,
        }
    }

    /// The name of the model that is asked first, or `offline`.
    pub fn model_name(&self, purpose: Purpose) -> &str {
        self.llm(purpose).model_name()
    }

    /// What an operator sees of the breakers of the answering model.
    pub fn state(&self) -> GuardState {
        self.0.parts.guard.state()
    }

    /// What the day's tokens still allow after `spent`.
    pub fn allowance(&self, spent: Spent) -> Allowance {
        match self.is_offline() {
            true => Allowance::Ample,
            false => self.0.parts.budget.allowance(spent),
        }
    }

    /// How the model of `purpose` counts tokens.
    pub fn calibration(&self, conn: &Reader, purpose: Purpose) -> chime_store::Result<TokenCalibration> {
        usage::calibration(conn, self.model_name(purpose))
    }

    /// What tokens cost, in millionths of the operator's currency; 0 where no prices are set.
    pub fn cost_micros(&self, tokens: TokenUse) -> u64 {
        self.0.parts.budget.cost_micros(tokens)
    }

    /// Asks, and writes down what it took.
    ///
    /// # Errors
    /// Each says what the caller can do.
    pub async fn ask(&self, ask: Ask<'_>) -> Result<Completion, AskError> {
        let (chat, user, now) = (ask.conversation.chat, ask.on_behalf_of, self.0.parts.clock.now());
        // Nobody is user 0: what the background took is counted for the chat and the day.
        let user = user.unwrap_or(UserId(0));
        let spent = self.0.parts.store.read(move |conn| usage::spent(conn, now, chat, user)).await?;
        if let Allowance::Over(because) = self.allowance(spent) {
            return Err(AskError::OverBudget(because));
        }
        let (completion, bill) = self.ask_within_budget(ask).await?;
        self.0.parts.store.write(Priority::Background, move |tx| bill.write(tx)).await?;
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
        let parts = &self.0.parts;
        let Llm::OpenAi(model) = self.llm(ask.purpose) else { return Err(AskError::Offline) };
        // Nobody waits in line behind a call that only finds out whether the server is back.
        if let Some(retry_after) = parts.guard.wait(ask.purpose, parts.clock.now()) {
            return Err(AskError::BreakerOpen { retry_after });
        }
        let slot = self.slot(&ask, model).await?;
        let prompt = self.sized(&ask, model)?;
        let ask = Ask { prompt: &prompt, ..ask };
        let subject = (ask.purpose, ask.conversation);
        if let Err(retry_after) = parts.guard.admit(subject, parts.clock.now()) {
            return Err(AskError::BreakerOpen { retry_after });
        }
        let watch = parts.clock.stopwatch();
        let calling = async {
            match (ask.economy, progress) {
                (Economy::Best, Some(progress)) => model.complete_streaming(ask.prompt, progress, &parts.clock).await,
                (Economy::Best, None) => model.complete(ask.prompt, &parts.clock).await,
                (Economy::Cheaper, _) => model.complete_cheaply(ask.prompt, &parts.clock).await,
            }
        };
        let completed = tokio::select! {
            biased;
            completed = calling => Some(completed),
            () = slot.called_off() => None,
        };
        drop(slot);
        let estimated = ask.prompt.estimated_tokens();
        match completed {
            Some(Ok(completion)) => {
                parts.guard.settle(subject, None, watch.elapsed(), parts.clock.now());
                Ok(self.billed(&ask, model, completion))
            }
            Some(Err(error)) => {
                parts.guard.settle(subject, Some(&error), watch.elapsed(), parts.clock.now());
                if error.may_have_cost() {
                    self.charge(self.call(&ask, TokenUse { prompt: estimated as u64, completion: 0 })).await;
                }
                Err(AskError::of_model(error))
            }
            None => {
                parts.guard.withdraw(subject, parts.clock.now());
                self.charge(self.call(&ask, TokenUse { prompt: estimated as u64, completion: 0 })).await;
                Err(AskError::GaveWay { retry_after: GIVE_WAY })
            }
        }
    }

    /// Waits for a slot of the server. Background work waits elsewhere while a slow server is needed for answers.
    async fn slot(&self, ask: &Ask<'_>, model: &OpenAi) -> Result<Slot, AskError> {
        let (parts, queue) = (&self.0.parts, &self.0.queue);
        let urgency = if ask.on_behalf_of.is_some() { Urgency::Answer } else { Urgency::Background };
        self.wait_for_facts().await;
        if urgency == Urgency::Background
            && model.facts().is_slow()
            && let Some(retry_after) = queue.until_quiet(parts.clock.now())
        {
            return Err(AskError::GaveWay { retry_after });
        }
        let entering = queue.enter(urgency, parts.clock.now());
        match ask.prompt.until {
            None => Ok(entering.await),
            Some(until) => within(&parts.clock, until.since(parts.clock.now()), entering)
                .await
                .ok_or(AskError::RetryLater(LlmError::TimedOut)),
        }
    }

    /// The prompt, with no more asked for than the context leaves to the answer.
    fn sized<'a>(&self, ask: &Ask<'a>, model: &OpenAi) -> Result<Cow<'a, Prompt>, AskError> {
        let facts = model.facts();
        let wanted = ask.prompt.max_answer_tokens.min(answer_tokens(ask.purpose, facts));
        let tokens = self.0.calibration(model.model_name()).apply(ask.prompt.estimated_tokens());
        let max_answer_tokens = room_for_answer(tokens, wanted, facts.context).ok_or(AskError::TooLong)?;
        // Hosted servers refuse schemas with limits in them.
        let is_bounded = model.is_own() && ask.prompt.format != AnswerFormat::Text;
        if max_answer_tokens == ask.prompt.max_answer_tokens && !is_bounded {
            return Ok(Cow::Borrowed(ask.prompt));
        }
        let mut prompt = Prompt { max_answer_tokens, ..ask.prompt.clone() };
        if is_bounded {
            prompt.format = prompt.format.bounded();
        }
        Ok(Cow::Owned(prompt))
    }

    /// The answer with what it took.
    fn billed(&self, ask: &Ask<'_>, model: &OpenAi, completion: Completion) -> (Completion, Bill) {
        let estimated = ask.prompt.estimated_tokens();
        // Servers disagree about what a picture takes: it says nothing about how words are counted.
        let is_telling = completion.tokens_counted && !completion.prompt_cut && ask.prompt.pictures.is_empty();
        let counted = is_telling.then_some((estimated, completion.tokens.prompt));
        if let Some((estimated, real)) = counted {
            self.0.learn(&completion.model, |known| known.observe(estimated, real));
        }
        let call = self.call(ask, completion.tokens);
        let (server, tool_refusals) = (model.host().to_owned(), model.tool_refusals());
        let bill = Bill { call, model: completion.model.clone(), counted, server, tool_refusals };
        (completion, bill)
    }

    /// Writes down a failed call. That the ledger cannot be written must not hide why the call failed.
    async fn charge(&self, call: Call) {
        if let Err(error) = self.0.parts.store.write(Priority::Answering, move |tx| usage::add(tx, &call)).await {
            tracing::warn!(%error, "a failed model call is missing in the day's budget");
        }
    }

    fn call(&self, ask: &Ask<'_>, tokens: TokenUse) -> Call {
        Call {
            at: self.0.parts.clock.now(),
            chat: ask.conversation.chat,
            user: ask.on_behalf_of,
            tokens,
            cost_micros: self.0.parts.budget.cost_micros(tokens),
        }
    }

    fn llm(&self, purpose: Purpose) -> &Llm {
        let models = &self.0.parts.models;
        match purpose {
            Purpose::Answer => &models.answer,
            Purpose::Summary => &models.summary,
            Purpose::Extract => &models.extract,
        }
    }
}

impl Shared {
    /// Lets as many calls through as the server is known to work on at once.
    fn widen_queue(&self) {
        if let Llm::OpenAi(model) = &self.parts.models.answer {
            self.queue.set_slots(slots(model.facts(), model.is_own()));
        }
    }

    fn calibration(&self, model: &str) -> TokenCalibration {
        let known = self.calibrations.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(model).copied().unwrap_or_default()
    }

    fn learn(&self, model: &str, observe: impl FnOnce(TokenCalibration) -> TokenCalibration) {
        let mut known = self.calibrations.lock().unwrap_or_else(PoisonError::into_inner);
        let observed = observe(known.get(model).copied().unwrap_or_default());
        known.insert(model.to_owned(), observed);
    }
}
