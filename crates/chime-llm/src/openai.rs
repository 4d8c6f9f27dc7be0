//! Chat completions from an OpenAI-compatible server, with retries and fallback within one deadline.
//!
//! Every answer is requested as a stream, because a call fails when its server sends nothing for too long.

mod call;
mod discover;
mod probe;
mod refused_parameters;
mod timeouts;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::diagnose::{is_about_request, is_unexplained, may_be_length};
use crate::dialect::Dialect;
use crate::facts::{ServerFacts, Speeds};
use crate::failure::ServerFailure;
use crate::openai::call::{TimedAnswer, refuses_streams};
use crate::openai::refused_parameters::Attempts;
use crate::transport::{Incoming, Server};
use crate::wire;
use crate::{AnswerProgress, Completion, LlmError, LlmOptions, Prompt, Recovery};
use chime_core::Timestamp;
use chime_runtime::clock::Clock;
use chime_runtime::resilience::{RetryPolicy, random, within};

/// At most two retries: a member waits for the answer.
const RETRIES: RetryPolicy =
    RetryPolicy { max_retries: 2, base: Duration::from_millis(500), cap: Duration::from_secs(15) };

/// Factor of the delay before the last retry at a server that is starting or overloaded, if there is no other server.
const STARTING: u32 = 15;

/// Time after which a refused feature (tools, pictures) is tried again, because the server may have been updated.
const REFUSALS_STAY: Duration = Duration::from_hours(24);

/// Time limit of one call, even if the server keeps sending.
const LONGEST_CALL: Duration = Duration::from_hours(1);

#[derive(Debug)]
pub struct OpenAi {
    primary: Model,
    fallback: Option<Model>,
    /// Longest time without new data within an answer.
    timeout: Duration,
    deadline: Duration,
    /// Backoff between retries. Tests set shorter delays.
    pub(super) retries: RetryPolicy,
}

#[derive(Debug)]
struct Model {
    name: String,
    /// Shared by models of the same server.
    server: Arc<Server>,
    learned: Mutex<Learned>,
}

/// Facts about a model that its responses showed.
#[derive(Debug, Default)]
struct Learned {
    dialect: Dialect,
    refused_tools_at: Option<Timestamp>,
    /// `true` if it once accepted a request with tools. A later refusal is then about its own call of a tool.
    takes_tools: bool,
    refused_pictures_at: Option<Timestamp>,
    /// `true` if its reasoning starts without a tag. Then nothing is shown before the end, because it could be
    /// reasoning.
    thinks_unannounced: bool,
    /// `true` if its reasoning once used up the tokens of an answer: later calls allow more.
    needs_room: bool,
    /// Tokens that the server read of the last prompt that it truncated.
    cut_at: Option<usize>,
    /// Most tokens that the server counted in a prompt.
    most_read: usize,
    /// `true` if the operator was warned of a truncated prompt.
    warned_of_cut: bool,
    refuses_streams: bool,
    /// Facts that the server reports.
    facts: ServerFacts,
    /// Context size that its answers and refusals showed, if the server reports none or a larger one.
    shown_context: Option<usize>,
    /// Last refusal of a long prompt that named no context size.
    refusal: Option<UnsizedRefusal>,
    speeds: Speeds,
}

/// Time after which a refusal that named no context size counts half as much: it may have had another reason than the
/// size, or the operator may have changed the server.
const UNSIZED_STAYS: Duration = Duration::from_hours(1);

/// Refusal of a prompt as too long that named no context size. No longer prompt is sent while it counts.
#[derive(Debug, Clone, Copy)]
struct UnsizedRefusal {
    at: Timestamp,
    /// Estimated tokens of the prompt.
    tokens: usize,
    /// Context size into which a prompt of half the size fits, or a longer one that was answered since then.
    fitting: Option<usize>,
}

impl UnsizedRefusal {
    fn context(self) -> usize {
        self.fitting.unwrap_or(self.tokens - self.tokens / 10)
    }
}

/// A prompt, the receiver of the answer's text, and the clock.
#[derive(Clone, Copy)]
struct ServerCall<'a> {
    prompt: &'a Prompt,
    /// Channel for the text while it arrives. `None` if the caller needs only the whole answer.
    progress: Option<&'a AnswerProgress>,
    clock: &'a Clock,
}

/// A server that answers calls of a client.
#[derive(Debug, Clone, Copy)]
pub struct UsedServer<'a> {
    /// Host and port.
    pub address: &'a str,
    pub facts: ServerFacts,
    pub is_own: bool,
}

impl OpenAi {
    pub(super) fn new(options: LlmOptions) -> Result<Self, LlmError> {
        let server = Arc::new(Server::new(&options)?);
        if options.model.trim().is_empty() {
            return Err(LlmError::NotConfigured("MODEL is empty"));
        }
        let fallback = match &options.fallback {
            Some(model) if model.server.is_some() => {
                let own = Server::new(&options.clone().on(model.server.as_ref()))?;
                Some(Model::new(model.name.clone(), Arc::new(own)))
            }
            Some(model) if model.name != options.model && !model.name.trim().is_empty() => {
                Some(Model::new(model.name.clone(), Arc::clone(&server)))
            }
            Some(_) | None => None,
        };
        let LlmOptions { model, timeout, deadline, .. } = options;
        Ok(Self { primary: Model::new(model, server), fallback, timeout, deadline, retries: RETRIES })
    }

    pub fn model_name(&self) -> &str {
        &self.primary.name
    }

    pub fn host(&self) -> &str {
        self.primary.server.host()
    }

    /// Returns the models that refuse tools, with the time of the last refusal.
    pub fn tool_refusals(&self) -> Vec<(String, Timestamp)> {
        let refusal = |model: &Model| Some((model.name.clone(), model.learned.lock().refused_tools_at?));
        self.models().filter_map(refusal).collect()
    }

    /// Restores a refusal of tools from an earlier run: requests to `model` contain no tools until a day after `at`.
    pub fn recall_tool_refusal(&self, model: &str, at: Timestamp) {
        for known in self.models().filter(|known| known.name == model) {
            known.learned.lock().refused_tools_at = Some(at);
        }
    }

    pub fn sees_pictures(&self, now: Timestamp) -> bool {
        !self.primary.dialect(now).no_pictures
    }

    pub fn facts(&self) -> ServerFacts {
        self.primary.facts()
    }

    pub fn is_own(&self) -> bool {
        self.primary.server.is_own()
    }

    /// Returns `true` if the primary model is small, see [`ServerFacts::is_small`].
    pub fn is_small(&self) -> bool {
        self.facts().is_small()
    }

    fn models(&self) -> impl Iterator<Item = &Model> {
        [Some(&self.primary), self.fallback.as_ref()].into_iter().flatten()
    }

    /// Returns the primary model and the fallback, in the order of calls. If `cheaply`, the fallback is
    /// first.
    fn in_order(&self, cheaply: bool) -> (&Model, Option<&Model>) {
        match &self.fallback {
            Some(cheaper) if cheaply => (cheaper, Some(&self.primary)),
            fallback => (&self.primary, fallback.as_ref()),
        }
    }

    /// Returns the server of each model, in the order of calls.
    pub fn servers(&self, cheaply: bool) -> impl Iterator<Item = UsedServer<'_>> {
        let (first, second) = self.in_order(cheaply);
        [Some(first), second].into_iter().flatten().map(|model| UsedServer {
            address: model.server.address(),
            facts: model.facts(),
            is_own: model.server.is_own(),
        })
    }

    /// Calls the primary model with retries, then the fallback once; if `cheaply`, the fallback comes first. Streams
    /// the text to `progress`; once part of it was shown, retries only once and streams no more. Waits for
    /// `change_server` before a call goes on at another server. The primary model is not asked after the deadline;
    /// dropping the future ends the call.
    ///
    /// # Errors
    /// Returns the first model's error, even if the other failed after it.
    pub async fn complete<C: Future<Output = ()>>(
        &self,
        prompt: &Prompt,
        progress: Option<&AnswerProgress>,
        cheaply: bool,
        clock: &Clock,
        change_server: impl FnOnce() -> C,
    ) -> Result<Completion, LlmError> {
        let (call, (first, second)) = (ServerCall { prompt, progress, clock }, self.in_order(cheaply));
        // No further attempt starts after this time.
        let deadline = clock.now().plus(self.deadline);
        let deadline = prompt.until.map_or(deadline, |sooner| sooner.min(deadline));
        let error = match self.ask_patiently(first, call, deadline, second.is_none()).await {
            Ok(completion) => return Ok(completion),
            Err(error) => error,
        };
        let is_elsewhere = |second: &Model| !first.server.has_account_of(&second.server);
        let second = second.filter(|second| error.another_model_may_help(is_elsewhere(second)));
        // A primary model that sends nothing uses up the time, so the fallback is called even after the deadline,
        // unless the prompt has its own time limit.
        let has_time = matches!(error, LlmError::TimedOut) && prompt.until.is_none() || clock.now() < deadline;
        let Some(second) = second.filter(|_| has_time) else { return Err(error) };
        tracing::warn!(model.name = first.name, %error, "the model failed, asking {} instead", second.name);
        if first.server.address() != second.server.address()
            && within(clock, self.deadline, change_server()).await.is_none()
        {
            return Err(error);
        }
        self.ask(second, call.again()).await.map_err(|another| {
            tracing::warn!(model.name = second.name, error = %another, "the other model failed too");
            error
        })
    }

    /// Returns the policy for the next retry at a server. One that is starting or overloaded gets more time if it
    /// `is_only`: there is no other.
    pub(crate) fn policy(&self, error: &LlmError, retries: u32, is_only: bool) -> RetryPolicy {
        match is_only && retries > 0 && error.is_of_busy_server() {
            true => RetryPolicy { base: self.retries.base * STARTING, ..self.retries },
            false => self.retries,
        }
    }

    /// Calls a model until it answers, fails permanently, or retries or time run out.
    async fn ask_patiently(
        &self,
        model: &Model,
        call: ServerCall<'_>,
        deadline: Timestamp,
        is_only: bool,
    ) -> Result<Completion, LlmError> {
        let clock = call.clock;
        let mut retries = 0;
        loop {
            let error = match self.ask(model, call.again()).await {
                Ok(completion) => return Ok(completion),
                Err(error) => error,
            };
            let policy = self.policy(&error, retries, is_only);
            let delay = match (call.is_shown(), &error) {
                (true, _) if retries > 0 => None,
                // A server that stopped in the middle of an answer is not slow.
                (true, LlmError::TimedOut) if is_only => Some(policy.base),
                _ => delay(policy, &error, retries),
            };
            let delay = delay.filter(|delay| clock.now().plus(*delay) < deadline);
            let Some(delay) = delay else { return Err(error) };
            retries += 1;
            tracing::warn!(
                model.name = model.name,
                %error,
                delay_ms = delay.as_millis(),
                "model call failed, retry {retries} of {}",
                self.retries.max_retries,
            );
            clock.sleep(delay).await;
        }
    }

    /// Makes one call, or two if the model turns out to need more tokens for its reasoning.
    async fn ask(&self, model: &Model, call: ServerCall<'_>) -> Result<Completion, LlmError> {
        let roomy = || Prompt { max_answer_tokens: model.with_room(call.prompt), ..call.prompt.clone() };
        if model.learned.lock().needs_room {
            return self.ask_once(model, ServerCall { prompt: &roomy(), ..call }).await;
        }
        match self.ask_once(model, call).await {
            Err(LlmError::NoRoom) => {
                model.learned.lock().needs_room = true;
                let asked = self.ask_once(model, ServerCall { prompt: &roomy(), ..call }).await;
                asked.map_err(|_| LlmError::NoRoom)
            }
            answered => answered,
        }
    }

    /// Makes one call, which fails when the server stays silent for too long.
    async fn ask_once(&self, model: &Model, call: ServerCall<'_>) -> Result<Completion, LlmError> {
        let ServerCall { prompt, clock, .. } = call;
        let left = prompt.until.map_or(LONGEST_CALL, |until| until.since(clock.now()).min(LONGEST_CALL));
        let answered = within(clock, left, self.call(model, call)).await.ok_or(LlmError::TimedOut)??;
        let TimedAnswer { answer, first_word, first_token } = answered;
        model.learned.lock().thinks_unannounced |= answer.thinks_unannounced;
        let reading = answer.reading;
        let completion = Completion { first_word, ..answer.completed(&model.name, prompt) };
        model.learn_size(&completion, prompt);
        model.learn_from_shorter(&completion, prompt, clock.now());
        let read = completion.tokens.prompt.saturating_sub(completion.reused.unwrap_or(0));
        if let Some(speed) = reading.speed(read, first_token) {
            model.learned.lock().speeds.add(speed);
        }
        Ok(completion)
    }

    /// Sends the prompt, and repeats it in another dialect after each refusal that suggests one. Returns the open
    /// answer.
    async fn open(&self, model: &Model, call: ServerCall<'_>, streaming: bool) -> Result<Incoming, ServerFailure> {
        let (prompt, now) = (call.prompt, call.clock.now());
        let written = if streaming { wire::streaming_request } else { wire::request };
        let mut attempts = Attempts::new(model.dialect(now), prompt);
        let mut answers_others = false;
        loop {
            match model.server.open(&written(&model.name, prompt, attempts.dialect)).await {
                Ok(incoming) => {
                    model.learn(&attempts, prompt, now);
                    return Ok(incoming);
                }
                Err(failure) if streaming && refuses_streams(&failure) => return Err(failure),
                Err(failure) if attempts.is_first() && may_be_length(&failure, attempts.dialect, prompt) => {
                    let failure = model.refusal_of_shortest(failure, call.clock).await;
                    attempts.refused(failure, prompt)?;
                    answers_others = true;
                }
                Err(failure) => match attempts.refused(failure, prompt) {
                    Ok(()) => {}
                    Err(failure) if answers_others || !is_about_request(&failure) => return Err(failure),
                    Err(failure) => {
                        let failure = model.refusal_of_shortest(failure, call.clock).await;
                        // The shortest prompt was not streamed, so that its answer may show what is refused.
                        if !streaming || !is_about_request(&failure) {
                            return Err(failure);
                        }
                        let whole = wire::request(&model.name, prompt, model.dialect(now));
                        let incoming = model.server.open(&whole).await.map_err(|_| failure)?;
                        model.learned.lock().refuses_streams = true;
                        return Ok(incoming);
                    }
                },
            }
        }
    }
}

/// Returns the context size that leaves `tokens` for a prompt, beside the part that is reserved for its answer.
fn context_of(tokens: usize, prompt: &Prompt) -> usize {
    tokens.saturating_add((prompt.max_answer_tokens as usize).min(tokens / 3))
}

/// Returns the delay before the next retry, or `None` if the error allows none.
fn delay(policy: RetryPolicy, error: &LlmError, retries: u32) -> Option<Duration> {
    match (error, error.recovery()) {
        // No retry after a timeout: a slow model stays slow, and the server may still work on the first call.
        (LlmError::TimedOut, _) => None,
        (_, Recovery::RetryLater(retry_after)) => policy.delay(retries, retry_after, random()),
        (_, Recovery::ShrinkPrompt | Recovery::GiveUp) => None,
    }
}

impl ServerCall<'_> {
    /// Returns the call for the next attempt. After part of an answer was shown, the next one is shown when it is
    /// complete: the text must not shrink while somebody reads it.
    fn again(self) -> Self {
        Self { progress: self.progress.filter(|progress| !progress.is_shown()), ..self }
    }

    /// Returns `true` if part of the answer was already shown in the chat.
    fn is_shown(&self) -> bool {
        self.progress.is_some_and(AnswerProgress::is_shown)
    }
}

impl Model {
    fn new(name: String, server: Arc<Server>) -> Self {
        Self { name, server, learned: Mutex::default() }
    }

    /// Sends the shortest prompt, without optional parameters and not as a stream, after an unexplained refusal. If it
    /// is refused too, the reason is neither the prompt nor a parameter.
    async fn refusal_of_shortest(&self, failure: ServerFailure, clock: &Clock) -> ServerFailure {
        /// A refusal comes at once. Whatever takes longer is an answer.
        const REFUSED_WITHIN: Duration = Duration::from_secs(10);
        let plainest = Dialect { no_limit: true, ..Dialect::default() };
        let request = wire::request(&self.name, &probe::question("Hello"), plainest);
        match (failure, within(clock, REFUSED_WITHIN, self.server.open(&request)).await) {
            (ServerFailure::Refusal(refusal), Some(Err(again))) if is_unexplained(&again, plainest) => {
                ServerFailure::RefusesAll(refusal)
            }
            (failure, _) => failure,
        }
    }

    fn dialect(&self, now: Timestamp) -> Dialect {
        let learned = self.learned.lock();
        let is_refused = |at: Option<Timestamp>| at.is_some_and(|at| now.since(at) < REFUSALS_STAY);
        Dialect {
            no_tools: is_refused(learned.refused_tools_at),
            no_pictures: is_refused(learned.refused_pictures_at),
            ..learned.dialect
        }
    }

    /// Stores the dialect that the model accepted, and the time of a new refusal of tools or pictures.
    fn learn(&self, attempts: &Attempts, prompt: &Prompt, now: Timestamp) {
        let (known, accepted) = (self.dialect(now), attempts.accepted(prompt));
        let mut learned = self.learned.lock();
        learned.takes_tools |= prompt.tools.are_offered() && !accepted.no_tools;
        if accepted.no_tools && !known.no_tools && !learned.takes_tools {
            learned.refused_tools_at = Some(now);
        }
        if attempts.sees_nothing {
            learned.refused_pictures_at = Some(now);
        }
        learned.dialect = accepted;
    }

    /// Returns the answer limit for a model with long reasoning: four times the prompt's limit, at least 4,096 tokens,
    /// but not more than the context has left.
    fn with_room(&self, prompt: &Prompt) -> u32 {
        const LEAST: u32 = 4_096;
        let wanted = prompt.max_answer_tokens.saturating_mul(4).max(LEAST);
        let left = self.facts().context.map(|context| context.saturating_sub(prompt.estimated_tokens()));
        let left = left.and_then(|left| u32::try_from(left).ok());
        left.map_or(wanted, |left| wanted.min(left).max(prompt.max_answer_tokens))
    }

    /// Notes the context size that the answer of a server that truncates prompts shows, and warns the operator once.
    fn learn_size(&self, completion: &Completion, prompt: &Prompt) {
        const LEAST_CONTEXT: usize = 512;
        let read = usize::try_from(completion.tokens.prompt).unwrap_or(usize::MAX);
        let mut learned = self.learned.lock();
        let has_read_more = learned.most_read > read;
        if completion.tokens_counted {
            learned.most_read = learned.most_read.max(read);
        }
        // Some servers count only tokens that were not in their cache. Such counts vary, and may be small.
        if !completion.prompt_cut || read < LEAST_CONTEXT {
            return;
        }
        let is_same = learned.cut_at.replace(read) == Some(read);
        let warns = !learned.warned_of_cut && (is_same || !has_read_more);
        learned.warned_of_cut |= warns;
        drop(learned);
        if read.is_power_of_two() || is_same {
            self.note_context(read);
        }
        if warns {
            tracing::warn!(
                model.name = self.name,
                tokens.read = completion.tokens.prompt,
                tokens.estimated = prompt.estimated_tokens(),
                "the model server reads only a part of the prompt: raise its context size (num_ctx; of Ollama: \
                 OLLAMA_CONTEXT_LENGTH)",
            );
        }
    }

    /// After a refusal that named no context size, notes the size of a shorter prompt that was answered, so that the next
    /// prompts are about as short at once. A longer prompt that is answered shows that the refusal had another reason.
    fn learn_from_shorter(&self, completion: &Completion, prompt: &Prompt, now: Timestamp) {
        /// Divisor: a smaller part of the estimate is not the size of the prompt, because some servers count only
        /// tokens that were not in their cache.
        const PLAUSIBLE: usize = 3;
        let (estimated, mut learned) = (prompt.estimated_tokens(), self.learned.lock());
        let Some(refusal) = learned.refusal.as_mut() else { return };
        if estimated >= refusal.tokens {
            learned.refusal = None;
            return;
        }
        let counted = usize::try_from(completion.tokens.prompt).unwrap_or(0);
        let read = if counted >= estimated / PLAUSIBLE { counted.min(estimated) } else { estimated };
        // A much shorter prompt says nothing of the sizes between them. Half of what was refused, as the server counts,
        // is then the first guess.
        let half = refusal.tokens.saturating_mul(read) / estimated.max(1) / 2;
        let known = refusal.fitting.unwrap_or(context_of(half, prompt));
        refusal.fitting = Some(known.max(context_of(read, prompt)));
        if now.since(refusal.at) >= UNSIZED_STAYS {
            refusal.at = now;
            refusal.tokens = refusal.tokens.saturating_mul(2);
            refusal.fitting = refusal.fitting.map(|fitting| fitting.saturating_mul(2));
        }
    }

    /// Notes that a prompt was refused as too long, without a context size. If a longer one was refused before, half of
    /// this one probably fits.
    fn note_refusal(&self, prompt: &Prompt, now: Timestamp) {
        let (tokens, mut learned) = (prompt.estimated_tokens(), self.learned.lock());
        let last = learned.refusal.filter(|last| now.since(last.at) < UNSIZED_STAYS);
        learned.refusal = Some(match last {
            Some(last) if tokens >= last.tokens => UnsizedRefusal { at: now, ..last },
            last => UnsizedRefusal { at: now, tokens, fitting: last.map(|_| context_of(tokens / 2, prompt)) },
        });
    }

    fn facts(&self) -> ServerFacts {
        let learned = self.learned.lock();
        let fitting = learned.refusal.map(UnsizedRefusal::context);
        let context = learned.facts.context.into_iter().chain(learned.shown_context).chain(fitting).min();
        ServerFacts { context, reads_per_second: learned.speeds.typical(), ..learned.facts }.or_of_name(&self.name)
    }

    /// Stores what the server reports. Another context size than before replaces what answers and refusals showed.
    fn note_facts(&self, facts: ServerFacts) {
        let mut learned = self.learned.lock();
        if learned.facts.context.is_some() && facts.context.is_some() && learned.facts.context != facts.context {
            (learned.shown_context, learned.refusal) = (None, None);
        }
        learned.facts = facts.or(learned.facts);
    }

    /// Stores a context size that an answer or a refusal showed, unless a smaller one is known.
    fn note_context(&self, tokens: usize) {
        let mut learned = self.learned.lock();
        learned.shown_context = learned.shown_context.into_iter().chain([tokens]).min();
    }
}
