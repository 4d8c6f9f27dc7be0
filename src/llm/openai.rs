//! One completion from a server that speaks OpenAI's chat completions: retries, fallback, and one deadline over all.

mod probe;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::domain::Timestamp;
use crate::llm::diagnose::diagnose_prompt;
use crate::llm::dialect::{Attempts, Dialect};
use crate::llm::stream::Assembly;
use crate::llm::transport::{Failure, Incoming, Server};
use crate::llm::wire::{self, Answer};
use crate::llm::{Completion, LlmError, LlmOptions, Progress, Prompt, Recovery};
use crate::resilience::{RetryPolicy, random, within};

/// Members wait for an answer: two more tries are worth it, a third is not.
const RETRIES: RetryPolicy =
    RetryPolicy { max_retries: 2, base: Duration::from_millis(500), cap: Duration::from_secs(15) };

/// A model that takes no tools or sees no pictures is given some again after this: servers are updated.
const REFUSALS_STAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A server and the models to ask there.
#[derive(Debug)]
pub struct OpenAi {
    server: Server,
    primary: Model,
    fallback: Option<Model>,
    timeout: Duration,
    deadline: Duration,
    /// Tests have no time for the real delays and set shorter ones.
    pub(super) retries: RetryPolicy,
}

/// A model by name, and what it has taught us about how to ask it.
#[derive(Debug)]
struct Model {
    name: String,
    dialect: Mutex<Dialect>,
    /// When it last said that it takes no tools.
    refused_tools_at: Mutex<Option<Timestamp>>,
    /// When it last said that it sees no pictures.
    refused_pictures_at: Mutex<Option<Timestamp>>,
    /// Whether its thoughts come without a sign at their start: then nothing can be shown before the end.
    thinks_unannounced: AtomicBool,
    /// Whether its thoughts once took all the tokens of an answer: then it is given more of them.
    needs_room: AtomicBool,
    /// Whether the operator was told that the server cuts prompts.
    warned_of_cut: AtomicBool,
}

/// One question and everything that asking it depends on.
#[derive(Clone, Copy)]
struct Question<'a> {
    prompt: &'a Prompt,
    /// Where the words go as they come; without one the answer comes at once.
    progress: Option<&'a Progress>,
    clock: &'a Clock,
}

/// The end of all patience with one completion.
struct Deadline {
    until: Timestamp,
    span: Duration,
}

impl OpenAi {
    pub(super) fn new(options: LlmOptions) -> Result<Self, LlmError> {
        let server = Server::new(&options)?;
        let LlmOptions { model, fallback, timeout, deadline, .. } = options;
        if model.trim().is_empty() {
            return Err(LlmError::NotConfigured("MODEL is empty"));
        }
        let fallback = fallback.filter(|name| *name != model && !name.trim().is_empty()).map(Model::new);
        Ok(Self { server, primary: Model::new(model), fallback, timeout, deadline, retries: RETRIES })
    }

    pub fn model_name(&self) -> &str {
        &self.primary.name
    }

    pub fn host(&self) -> &str {
        self.server.host()
    }

    /// The models that take no tools, with when they last said so.
    pub fn tool_refusals(&self) -> Vec<(String, Timestamp)> {
        let refusal = |model: &Model| Some((model.name.clone(), (*lock(&model.refused_tools_at))?));
        self.models().filter_map(refusal).collect()
    }

    /// Has `model` offered no tools until a day after `at`, when it said that it takes none.
    pub fn recall_tool_refusal(&self, model: &str, at: Timestamp) {
        for known in self.models().filter(|known| known.name == model) {
            *lock(&known.refused_tools_at) = Some(at);
        }
    }

    /// Whether the model that is asked first may be shown pictures.
    pub fn sees_pictures(&self, now: Timestamp) -> bool {
        !self.primary.dialect(now).no_pictures
    }

    fn models(&self) -> impl Iterator<Item = &Model> {
        [Some(&self.primary), self.fallback.as_ref()].into_iter().flatten()
    }

    /// Asks the model, again when that may help, and in the end the fallback. Returns within the deadline; dropping
    /// the future ends the call.
    ///
    /// # Errors
    /// What the first model failed with, also when the fallback failed after it.
    pub async fn complete(&self, prompt: &Prompt, clock: &Clock) -> Result<Completion, LlmError> {
        let question = Question { prompt, progress: None, clock };
        self.complete_with(&self.primary, self.fallback.as_ref(), question).await
    }

    /// As [`complete`](Self::complete), with the words going to `progress` as they come. Once somebody has seen some of
    /// them, nothing is asked again.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    pub async fn complete_streaming(
        &self,
        prompt: &Prompt,
        progress: &Progress,
        clock: &Clock,
    ) -> Result<Completion, LlmError> {
        let question = Question { prompt, progress: Some(progress), clock };
        self.complete_with(&self.primary, self.fallback.as_ref(), question).await
    }

    /// As [`complete`](Self::complete), with the fallback asked first: it is the cheaper model.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    pub async fn complete_cheaply(&self, prompt: &Prompt, clock: &Clock) -> Result<Completion, LlmError> {
        let question = Question { prompt, progress: None, clock };
        match &self.fallback {
            Some(cheaper) => self.complete_with(cheaper, Some(&self.primary), question).await,
            None => self.complete(prompt, clock).await,
        }
    }

    async fn complete_with(
        &self,
        first: &Model,
        second: Option<&Model>,
        question: Question<'_>,
    ) -> Result<Completion, LlmError> {
        let deadline = self.deadline(question);
        let error = match self.ask_patiently(first, question, &deadline).await {
            Ok(completion) => return Ok(completion),
            Err(error) => error,
        };
        let second = second.filter(|_| error.another_model_may_help() && !question.is_shown());
        let Some(second) = second.filter(|_| !deadline.left(question.clock).is_zero()) else { return Err(error) };
        tracing::warn!(model.name = first.name, %error, "the model failed, asking {} instead", second.name);
        self.ask(second, question, &deadline).await.map_err(|another| {
            tracing::warn!(model.name = second.name, error = %another, "the other model failed too");
            error
        })
    }

    fn deadline(&self, question: Question<'_>) -> Deadline {
        let until = question.clock.now().plus(self.deadline);
        Deadline { until: question.prompt.until.map_or(until, |sooner| sooner.min(until)), span: self.deadline }
    }

    /// Asks a model until it answers, cannot, or the retries or the time are used up.
    async fn ask_patiently(
        &self,
        model: &Model,
        question: Question<'_>,
        deadline: &Deadline,
    ) -> Result<Completion, LlmError> {
        let clock = question.clock;
        let mut retries = 0;
        loop {
            let error = match self.ask(model, question, deadline).await {
                Ok(completion) => return Ok(completion),
                Err(error) => error,
            };
            let delay = self.delay(&error, retries).filter(|delay| *delay < deadline.left(clock));
            let Some(delay) = delay.filter(|_| !question.is_shown()) else { return Err(error) };
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

    /// How long to wait before the same model is asked again. `None`: it is not.
    fn delay(&self, error: &LlmError, retries: u32) -> Option<Duration> {
        match (error, error.recovery()) {
            // A model that hung for a whole timeout would eat up the time that another one can still use.
            (LlmError::TimedOut, _) if self.fallback.is_some() => None,
            (_, Recovery::RetryLater(retry_after)) => self.retries.delay(retries, retry_after, random()),
            (_, Recovery::ShrinkPrompt | Recovery::GiveUp) => None,
        }
    }

    /// One call; two where the model turns out to need more room for its thoughts.
    async fn ask(&self, model: &Model, question: Question<'_>, deadline: &Deadline) -> Result<Completion, LlmError> {
        let roomy =
            || Prompt { max_answer_tokens: with_room(question.prompt.max_answer_tokens), ..question.prompt.clone() };
        if model.needs_room.load(Ordering::Relaxed) {
            return self.ask_once(model, Question { prompt: &roomy(), ..question }, deadline).await;
        }
        match self.ask_once(model, question, deadline).await {
            Err(LlmError::NoRoom) => {
                model.needs_room.store(true, Ordering::Relaxed);
                let asked = self.ask_once(model, Question { prompt: &roomy(), ..question }, deadline).await;
                asked.map_err(|_| LlmError::NoRoom)
            }
            answered => answered,
        }
    }

    /// One call, within its own timeout and what the deadline leaves.
    async fn ask_once(
        &self,
        model: &Model,
        question: Question<'_>,
        deadline: &Deadline,
    ) -> Result<Completion, LlmError> {
        let Question { prompt, progress, clock } = question;
        let span = self.timeout.min(deadline.left(clock));
        let mut first_word = None;
        let answer = match progress {
            Some(progress) => {
                let streaming = self.stream(model, (prompt, progress), clock, &mut first_word);
                within(clock, span, streaming).await.ok_or(LlmError::TimedOut)??
            }
            None => {
                let body =
                    within(clock, span, self.post(model, prompt, clock.now())).await.ok_or(LlmError::TimedOut)?;
                wire::read(body.map_err(|failure| diagnose_prompt(failure, prompt))?, prompt)?
            }
        };
        model.note(&answer);
        let completion = Completion { first_word, ..answer.completed(&model.name, prompt) };
        model.warn_of_cut(&completion, prompt);
        Ok(completion)
    }

    /// Asks for a stream, and hands the words on as they come.
    async fn stream(
        &self,
        model: &Model,
        (prompt, progress): (&Prompt, &Progress),
        clock: &Clock,
        first_word: &mut Option<Duration>,
    ) -> Result<Answer, LlmError> {
        let watch = clock.stopwatch();
        // What an earlier attempt began with is no part of this one.
        progress.write("");
        let diagnose = |failure| diagnose_prompt(failure, prompt);
        let mut incoming = self.open(model, prompt, clock.now()).await.map_err(diagnose)?;
        let mut assembly = Assembly::default();
        while let Some(bytes) = incoming.next().await.map_err(diagnose)? {
            assembly.feed(bytes.as_ref())?;
            let text = if model.thinks_unannounced() { String::new() } else { assembly.shown(prompt) };
            if !text.is_empty() {
                first_word.get_or_insert_with(|| watch.elapsed());
                progress.write(&text);
            }
            if assembly.is_done() {
                break;
            }
        }
        assembly.conclude(prompt)
    }

    /// Sends the prompt, and once more in another form for each form that the model turns out not to take.
    async fn post(&self, model: &Model, prompt: &Prompt, now: Timestamp) -> Result<serde_json::Value, Failure> {
        let mut attempts = Attempts::new(model.dialect(now), prompt);
        loop {
            match self.server.post(&wire::request(&model.name, prompt, attempts.dialect)).await {
                Ok(body) => {
                    model.learn(&attempts, prompt, now);
                    return Ok(body);
                }
                Err(failure) => attempts.refused(failure, prompt)?,
            }
        }
    }

    /// The same for a stream.
    async fn open(&self, model: &Model, prompt: &Prompt, now: Timestamp) -> Result<Incoming, Failure> {
        let mut attempts = Attempts::new(model.dialect(now), prompt);
        loop {
            match self.server.open(&wire::streaming_request(&model.name, prompt, attempts.dialect)).await {
                Ok(incoming) => {
                    model.learn(&attempts, prompt, now);
                    return Ok(incoming);
                }
                Err(failure) => attempts.refused(failure, prompt)?,
            }
        }
    }
}

impl Question<'_> {
    /// Whether somebody has seen some of the answer.
    fn is_shown(&self) -> bool {
        self.progress.is_some_and(Progress::is_shown)
    }
}

impl Model {
    fn new(name: String) -> Self {
        Self {
            name,
            dialect: Mutex::default(),
            refused_tools_at: Mutex::default(),
            refused_pictures_at: Mutex::default(),
            thinks_unannounced: AtomicBool::new(false),
            needs_room: AtomicBool::new(false),
            warned_of_cut: AtomicBool::new(false),
        }
    }

    fn dialect(&self, now: Timestamp) -> Dialect {
        let is_refused = |at: &Mutex<Option<Timestamp>>| lock(at).is_some_and(|at| now.since(at) < REFUSALS_STAY);
        let no_tools = is_refused(&self.refused_tools_at);
        Dialect { no_tools, no_pictures: is_refused(&self.refused_pictures_at), ..*lock(&self.dialect) }
    }

    /// Keeps the form that was accepted.
    fn learn(&self, attempts: &Attempts, prompt: &Prompt, now: Timestamp) {
        let (known, accepted) = (self.dialect(now), attempts.accepted(prompt));
        if accepted.no_tools && !known.no_tools {
            *lock(&self.refused_tools_at) = Some(now);
        }
        if attempts.sees_nothing {
            *lock(&self.refused_pictures_at) = Some(now);
        }
        *lock(&self.dialect) = accepted;
    }

    /// Tells the operator once that the server reads only a part of its prompts.
    fn warn_of_cut(&self, completion: &Completion, prompt: &Prompt) {
        if completion.prompt_cut && !self.warned_of_cut.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                model.name = self.name,
                tokens.read = completion.tokens.prompt,
                tokens.estimated = prompt.estimated_tokens(),
                "the model server reads only a part of the prompt: raise its context size (num_ctx; of Ollama: \
                 OLLAMA_CONTEXT_LENGTH)",
            );
        }
    }

    fn thinks_unannounced(&self) -> bool {
        self.thinks_unannounced.load(Ordering::Relaxed)
    }

    fn note(&self, answer: &Answer) {
        self.thinks_unannounced.fetch_or(answer.thinks_unannounced, Ordering::Relaxed);
    }
}

impl Deadline {
    /// Never more than the whole span, should the wall clock be set back.
    fn left(&self, clock: &Clock) -> Duration {
        self.until.since(clock.now()).min(self.span)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The limit for an answer of a model that thinks long before it.
fn with_room(max_answer_tokens: u32) -> u32 {
    const LEAST: u32 = 4_096;
    max_answer_tokens.saturating_mul(4).max(LEAST)
}
