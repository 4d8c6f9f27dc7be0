//! Makes model calls: checks the budget, waits in the queue, asks the circuit breaker, calls the model, records the
//! usage.

mod queue;
mod transcriber;

pub use transcriber::{Transcribed, Transcriber};

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Allowance;
use crate::gateway::ask::queue::{CallQueue, ServerSlot, Urgency};
use crate::gateway::{
    AskError, DailyBudget, GuardState, GuardedCall, ModelGuard, ModelPreference, ModelPurpose, answer_tokens,
    fitting_talk, room_for_answer, room_for_prompt, slots, talk_tokens,
};
use chime_core::chat_settings::ModelName;
use chime_core::config::ContextTokens;
use chime_core::{Conversation, Spent, Timestamp, TokenCalibration, TokenUse, UserId};
use chime_llm::{AnswerFormat, AnswerProgress, Completion, Llm, LlmError, OpenAi, Prompt, ServerFacts};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;
use chime_store::usage::{self, CallUsage};
use chime_store::{Priority, Store, Writer};

/// Interval between requests for the server's facts (context size, parallel calls, speed) until it answers the first
/// time.
const ASK_AGAIN: Duration = Duration::from_mins(1);
/// Interval after the first answer. The requests go on, because the operator may replace the model.
const LOOK_AGAIN: Duration = Duration::from_mins(10);
/// Longest time that calls wait for the first request of the server's facts after the start.
const FACTS_WITHIN: Duration = Duration::from_secs(2);
/// Delay before a background call is retried that was cancelled because an answer needed its slot.
const GIVE_WAY: Duration = Duration::from_secs(15);

/// Client for all model calls. Clones share one state.
#[derive(Clone)]
pub struct Gateway {
    state: Arc<GatewayState>,
    /// Place in [`Models::listed`] of the model that answers; `None` for [`Models::answer`].
    chosen: Option<usize>,
}

struct GatewayState {
    parts: GatewayParts,
    /// Queues by address of the server.
    queues: HashMap<String, CallQueue>,
    /// Token calibration by model name: the stored one, updated by the calls since the start.
    calibrations: Mutex<HashMap<String, TokenCalibration>>,
    /// `false` from loading the stored facts until the server's facts were first requested.
    is_discovered: watch::Sender<bool>,
}

pub struct GatewayParts {
    pub store: Store,
    pub clock: Clock,
    pub models: Models,
    pub guard: ModelGuard,
    pub budget: DailyBudget,
}

#[derive(Debug)]
pub struct Models {
    pub answer: Llm,
    pub summary: Llm,
    pub extract: Llm,
    /// Models among which the admins of a chat may choose for its answers.
    pub listed: Vec<Llm>,
}

impl Models {
    /// Returns all models, the answering one first.
    fn all(&self) -> impl Iterator<Item = &OpenAi> {
        [&self.answer, &self.summary, &self.extract].into_iter().chain(&self.listed).filter_map(|llm| match llm {
            Llm::OpenAi(model) => Some(model.as_ref()),
            Llm::Offline => None,
        })
    }
}

#[derive(Debug, Clone, Copy)]
pub struct ModelCall<'a> {
    pub purpose: ModelPurpose,
    pub conversation: Conversation,
    /// Member who waits for the result. `None` for background work: its tokens count for the chat and for the day's
    /// total, not for any member.
    pub on_behalf_of: Option<UserId>,
    pub preference: ModelPreference,
    pub prompt: &'a Prompt,
}

impl ModelCall<'_> {
    fn urgency(&self) -> Urgency {
        if self.on_behalf_of.is_some() { Urgency::Answer } else { Urgency::Background }
    }

    fn is_cheap(&self) -> bool {
        self.preference == ModelPreference::Cheaper
    }
}

/// Usage record of a call. The caller stores it in its own transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a call that is not written down is missing in the day's budget"]
pub struct UsageRecord {
    call: CallUsage,
    /// Tokens of the prompt: our estimate and the server's count. `None` if the server gave no count that can be
    /// compared with the estimate.
    counted: Option<(usize, u64)>,
    server: String,
    /// Names of the server's models that reject tools, each with the time of its latest rejection.
    tool_refusals: Vec<(String, Timestamp)>,
}

impl UsageRecord {
    pub fn write(&self, tx: &Writer<'_>) -> chime_store::Result<()> {
        usage::add(tx, &self.call)?;
        for (model, at) in &self.tool_refusals {
            usage::note_tool_refusal(tx, &self.server, model, *at)?;
        }
        match self.counted {
            Some((estimated, real)) => usage::calibrate(tx, &self.call.model, estimated, real),
            None => Ok(()),
        }
    }
}

impl Gateway {
    pub fn new(parts: GatewayParts) -> Self {
        let servers = parts.models.all().flat_map(|model| model.servers(false));
        let queues = servers.map(|server| (server.address.to_owned(), CallQueue::default())).collect();
        let shared =
            GatewayState { parts, queues, calibrations: Mutex::default(), is_discovered: watch::Sender::new(true) };
        shared.widen_queues();
        Self { state: Arc::new(shared), chosen: None }
    }

    /// Returns a gateway whose answers come from the listed model of this name, or from the usual one if there is no
    /// such model.
    #[must_use]
    pub fn with_model(&self, name: Option<ModelName>) -> Self {
        let is_named = |llm: &Llm| name.as_ref().is_some_and(|name| name.0 == llm.model_name());
        let chosen = self.state.parts.models.listed.iter().position(is_named);
        Self { state: Arc::clone(&self.state), chosen }
    }

    /// Requests the server's facts at intervals, and adapts the number of parallel calls to them. Never returns.
    pub async fn watch_server(&self) -> std::convert::Infallible {
        let (parts, mut is_known) = (&self.state.parts, false);
        loop {
            let mut models = parts.models.all();
            if let Some(main) = models.next() {
                is_known |= main.discover(&parts.clock).await;
                self.state.widen_queues();
            }
            // Answers wait for the main server only: another one may hang.
            self.state.is_discovered.send_replace(true);
            for model in models {
                model.discover(&parts.clock).await;
            }
            for model in parts.models.all() {
                model.discover_fallback(&parts.clock).await;
            }
            self.state.widen_queues();
            parts.clock.sleep(if is_known { LOOK_AGAIN } else { ASK_AGAIN }).await;
        }
    }

    /// Waits until the facts of the answering model's server were requested once after the start, but at most two
    /// seconds. The sizes of prompts depend on them.
    pub async fn wait_for_facts(&self) {
        let mut discovered = self.state.is_discovered.subscribe();
        let is_known = discovered.wait_for(|is_discovered| *is_discovered);
        let _ = within(&self.state.parts.clock, FACTS_WITHIN, is_known).await;
    }

    /// Returns the known facts about the model for `purpose`, all unknown without a server.
    pub fn server_facts(&self, purpose: ModelPurpose) -> ServerFacts {
        match self.llm(purpose) {
            Llm::OpenAi(model) => model.facts(),
            Llm::Offline => ServerFacts::default(),
        }
    }

    /// Returns how many tokens the chat messages in an answer's prompt may have, as the model counts them.
    pub fn talk_tokens(&self, setting: ContextTokens) -> usize {
        match setting {
            ContextTokens::Auto => talk_tokens(self.server_facts(ModelPurpose::Answer)),
            ContextTokens::Fixed(tokens) => fitting_talk(tokens, self.server_facts(ModelPurpose::Answer)),
        }
    }

    /// Returns the maximal size of a prompt, in tokens of [`estimate_tokens`](chime_core::estimate_tokens), or `None`
    /// if the model's context size is unknown.
    pub fn prompt_room(&self, purpose: ModelPurpose) -> Option<usize> {
        let facts = self.server_facts(purpose);
        let room = room_for_prompt(answer_tokens(purpose, facts), facts.context)?;
        Some(self.estimated(purpose, room))
    }

    /// Loads the stored tool rejections and token calibrations. From then on, calls wait (at most two seconds) for the
    /// first round of [`watch_server`](Self::watch_server), which requests the server's facts.
    pub async fn recall_tool_refusals(&self) -> chime_store::Result<()> {
        let (parts, models) = (&self.state.parts, &self.state.parts.models);
        self.state.is_discovered.send_replace(false);
        for model in models.all() {
            let server = model.host().to_owned();
            for (name, at) in parts.store.read(move |conn| usage::tool_refusals(conn, &server)).await? {
                model.recall_tool_refusal(&name, at);
            }
            let name = model.model_name().to_owned();
            let known = parts.store.read(move |conn| usage::calibration(conn, &name)).await?;
            self.state.learn(model.model_name(), |_| known);
        }
        Ok(())
    }

    pub fn is_offline(&self) -> bool {
        self.state.parts.models.answer.is_offline()
    }

    /// Returns `true` if the model for `purpose` is small, see [`ServerFacts::is_small`].
    pub fn is_small(&self, purpose: ModelPurpose) -> bool {
        match self.llm(purpose) {
            Llm::OpenAi(model) => model.is_small(),
            Llm::Offline => false,
        }
    }

    pub fn sees_pictures(&self) -> bool {
        match self.llm(ModelPurpose::Answer) {
            Llm::OpenAi(model) => model.sees_pictures(self.state.parts.clock.now()),
            Llm::Offline => false,
        }
    }

    pub fn model_name(&self, purpose: ModelPurpose) -> &str {
        self.llm(purpose).model_name()
    }

    /// Returns the state of the answering model's breakers, for the health endpoint.
    pub fn state(&self) -> GuardState {
        self.state.parts.guard.state(self.model_name(ModelPurpose::Answer))
    }

    /// Compares today's usage with the caps. Always `Ample` without a model, because then nothing is used.
    pub fn allowance(&self, spent: Spent) -> Allowance {
        match self.is_offline() {
            true => Allowance::Ample,
            false => self.state.parts.budget.allowance(spent),
        }
    }

    /// Converts tokens of the model for `purpose` to estimated tokens.
    pub fn estimated(&self, purpose: ModelPurpose, tokens: usize) -> usize {
        self.state.calibration(self.model_name(purpose)).room(tokens)
    }

    /// Returns the cost of a call of `model` in millionths of the operator's currency; 0 if no prices are set.
    pub fn cost_micros(&self, model: &str, tokens: TokenUse) -> u64 {
        self.state.parts.budget.cost_micros(model, tokens)
    }

    /// Checks the budget, calls the model and stores the usage record.
    pub async fn ask(&self, ask: ModelCall<'_>) -> Result<Completion, AskError> {
        let (chat, user, now) = (ask.conversation.chat, ask.on_behalf_of, self.state.parts.clock.now());
        // No Telegram user has id 0, so for background work the usage of the member is 0.
        let user = user.unwrap_or(UserId(0));
        let spent = self.state.parts.store.read(move |conn| usage::spent(conn, now, chat, user)).await?;
        if let Allowance::Over(because) = self.allowance(spent) {
            return Err(AskError::OverBudget(because));
        }
        let (completion, record) = self.ask_within_budget(ask, None).await?;
        self.state.parts.store.write(Priority::Background, move |tx| record.write(tx)).await?;
        Ok(completion)
    }

    /// Calls the model without a budget check, and streams the answer to `progress`, if given. The caller must have
    /// checked the budget, and stores the usage record in its own transaction.
    pub async fn ask_within_budget(
        &self,
        ask: ModelCall<'_>,
        progress: Option<&AnswerProgress>,
    ) -> Result<(Completion, UsageRecord), AskError> {
        let parts = &self.state.parts;
        let Llm::OpenAi(model) = self.llm(ask.purpose) else { return Err(AskError::Offline) };
        // Checked before queueing: while the breaker blocks calls or waits for its probe, a call should fail at once
        // instead of waiting for a slot.
        let call = GuardedCall { purpose: ask.purpose, model: model.model_name(), conversation: ask.conversation };
        if let Some(retry_after) = parts.guard.wait(call, parts.clock.now()) {
            return Err(AskError::BreakerOpen { retry_after, refusal: parts.guard.refusal(call) });
        }
        let called_off = CancellationToken::new();
        let slot = self.slot(&ask, model, &called_off).await?;
        let prompt = self.sized(&ask, model)?;
        let ask = ModelCall { prompt: &prompt, ..ask };
        let blocked = |retry_after| AskError::BreakerOpen { retry_after, refusal: None };
        parts.guard.admit(call, parts.clock.now()).map_err(blocked)?;
        let watch = parts.clock.stopwatch();
        let held = Mutex::new(Some(slot));
        let change_server = async || {
            held.lock().take();
            let Some(other) = model.servers(ask.is_cheap()).nth(1) else { return };
            let queue = self.state.queue_of(other.address);
            let slot = queue.enter(ask.urgency(), parts.clock.now(), &called_off).await;
            *held.lock() = Some(slot);
        };
        let progress = progress.filter(|_| !ask.is_cheap());
        let calling = model.complete(ask.prompt, progress, ask.is_cheap(), &parts.clock, change_server);
        let completed = tokio::select! {
            biased;
            completed = calling => Some(completed),
            () = called_off.cancelled() => None,
        };
        drop(held.lock().take());
        let spent = TokenUse { prompt: ask.prompt.estimated_tokens() as u64, completion: 0 };
        let of_failure = self.call(&ask, model.model_name(), spent);
        match completed {
            Some(Ok(completion)) => {
                parts.guard.settle(call, None, watch.elapsed(), parts.clock.now());
                Ok(self.with_usage(&ask, model, completion))
            }
            Some(Err(error)) => {
                parts.guard.settle(call, Some(&error), watch.elapsed(), parts.clock.now());
                if error.may_have_cost() {
                    charge(&parts.store, Priority::Answering, of_failure).await;
                }
                Err(AskError::of_model(error))
            }
            None => {
                parts.guard.withdraw(call, parts.clock.now());
                charge(&parts.store, Priority::Answering, of_failure).await;
                Err(AskError::GaveWay { retry_after: GIVE_WAY })
            }
        }
    }

    /// Waits for a slot of the server that is asked first, up to the prompt's deadline. On a slow server, background
    /// work fails at once while answers need it or needed it within the last two minutes.
    async fn slot(
        &self,
        ask: &ModelCall<'_>,
        model: &OpenAi,
        called_off: &CancellationToken,
    ) -> Result<ServerSlot, AskError> {
        let (parts, urgency) = (&self.state.parts, ask.urgency());
        self.wait_for_facts().await;
        let server = model.servers(ask.is_cheap()).next().ok_or(AskError::Offline)?;
        let queue = self.state.queue_of(server.address);
        if urgency == Urgency::Background
            && server.facts.is_slow()
            && let Some(retry_after) = queue.until_quiet(parts.clock.now())
        {
            return Err(AskError::GaveWay { retry_after });
        }
        let entering = queue.enter(urgency, parts.clock.now(), called_off);
        match ask.prompt.until {
            None => Ok(entering.await),
            Some(until) => within(&parts.clock, until.since(parts.clock.now()), entering)
                .await
                .ok_or(AskError::RetryLater(LlmError::TimedOut)),
        }
    }

    /// Returns the prompt with its answer limit reduced to what the model's context leaves free. Fails if too little is
    /// left.
    fn sized<'a>(&self, ask: &ModelCall<'a>, model: &OpenAi) -> Result<Cow<'a, Prompt>, AskError> {
        let facts = model.facts();
        let wanted = ask.prompt.max_answer_tokens.min(answer_tokens(ask.purpose, facts));
        let tokens = self.state.calibration(model.model_name()).apply(ask.prompt.estimated_tokens());
        let max_answer_tokens = room_for_answer(tokens, wanted, facts.context).ok_or(AskError::TooLong)?;
        // Only the operator's own servers get limits in the JSON schema: hosted ones reject `maxItems` and `maxLength`.
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

    /// Builds the usage record of a completion, and updates the token calibration in memory.
    fn with_usage(&self, ask: &ModelCall<'_>, model: &OpenAi, completion: Completion) -> (Completion, UsageRecord) {
        let estimated = ask.prompt.estimated_tokens();
        // The calibration is for text: it learns nothing from prompts with pictures, which each server counts
        // differently, from truncated prompts, and from counts that are estimates.
        let is_telling = completion.tokens_counted && !completion.prompt_cut && ask.prompt.pictures.is_empty();
        let counted = is_telling.then_some((estimated, completion.tokens.prompt));
        if let Some((estimated, real)) = counted {
            self.state.learn(&completion.model, |known| known.observe(estimated, real));
        }
        let call = self.call(ask, &completion.model, completion.tokens);
        let (server, tool_refusals) = (model.host().to_owned(), model.tool_refusals());
        (completion, UsageRecord { call, counted, server, tool_refusals })
    }

    fn call(&self, ask: &ModelCall<'_>, model: &str, tokens: TokenUse) -> CallUsage {
        CallUsage {
            at: self.state.parts.clock.now(),
            chat: ask.conversation.chat,
            user: ask.on_behalf_of,
            model: model.to_owned(),
            tokens,
            cost_micros: self.state.parts.budget.cost_micros(model, tokens),
        }
    }

    fn llm(&self, purpose: ModelPurpose) -> &Llm {
        let models = &self.state.parts.models;
        match purpose {
            ModelPurpose::Answer => self.chosen.and_then(|place| models.listed.get(place)).unwrap_or(&models.answer),
            ModelPurpose::Summary => &models.summary,
            ModelPurpose::Extract => &models.extract,
        }
    }
}

impl GatewayState {
    /// Sets the slots of each queue to the number of calls that its server handles in parallel.
    fn widen_queues(&self) {
        let servers: Vec<_> = self.parts.models.all().flat_map(|model| model.servers(false)).collect();
        // Reversed, so that the answering model, whose facts are known first, decides for a server that several share.
        for server in servers.into_iter().rev() {
            self.queue_of(server.address).set_slots(slots(server.facts, server.is_own));
        }
    }

    fn queue_of(&self, address: &str) -> CallQueue {
        self.queues.get(address).cloned().unwrap_or_default()
    }

    fn calibration(&self, model: &str) -> TokenCalibration {
        let known = self.calibrations.lock();
        known.get(model).copied().unwrap_or_default()
    }

    fn learn(&self, model: &str, observe: impl FnOnce(TokenCalibration) -> TokenCalibration) {
        let mut known = self.calibrations.lock();
        let observed = observe(known.get(model).copied().unwrap_or_default());
        known.insert(model.to_owned(), observed);
    }
}

/// Stores the usage of a failed call. An error of storing is only logged, so that the caller gets the reason why the
/// call failed.
async fn charge(store: &Store, priority: Priority, call: CallUsage) {
    if let Err(error) = store.write(priority, move |tx| usage::add(tx, &call)).await {
        tracing::warn!(%error, "a failed model call is missing in the day's budget");
    }
}
