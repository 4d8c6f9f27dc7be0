//! One completion from a server that speaks OpenAI's chat completions: retries, fallback, and one deadline over all.

mod probe;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::domain::{Timestamp, TokenUse, estimate_tokens, is_blank};
use crate::llm::diagnose::{Extras, diagnose, other_dialect, sees_nothing};
use crate::llm::stream::Assembly;
use crate::llm::thinking::without_thinking_so_far;
use crate::llm::transport::{Failure, Incoming, Server};
use crate::llm::wire::{self, Answer, Dialect};
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

    /// One call, within its own timeout and what the deadline leaves.
    async fn ask(&self, model: &Model, question: Question<'_>, deadline: &Deadline) -> Result<Completion, LlmError> {
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
                wire::read(body.map_err(diagnose)?)?
            }
        };
        model.note(&answer);
        let answer = with_offered_calls(answer, prompt)?;
        Ok(Completion { first_word, ..completion(answer, model, prompt) })
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
        let mut incoming = self.open(model, prompt, clock.now()).await.map_err(diagnose)?;
        let mut assembly = Assembly::default();
        while let Some(bytes) = incoming.next().await.map_err(diagnose)? {
            assembly.feed(bytes.as_ref())?;
            let text = if model.thinks_unannounced() { "" } else { without_thinking_so_far(assembly.text()) };
            if !text.is_empty() {
                first_word.get_or_insert_with(|| watch.elapsed());
                progress.write(text);
            }
            if assembly.is_done() {
                break;
            }
        }
        assembly.conclude()
    }

    /// Sends the prompt, and once more in another form for each form that the model turns out not to take.
    async fn post(&self, model: &Model, prompt: &Prompt, now: Timestamp) -> Result<serde_json::Value, Failure> {
        let mut dialect = model.dialect(now);
        loop {
            match self.server.post(&wire::request(&model.name, prompt, dialect)).await {
                Ok(body) => return Ok(body),
                Err(failure) => dialect = model.learn_from(failure, dialect, prompt, now)?,
            }
        }
    }

    /// The same for a stream.
    async fn open(&self, model: &Model, prompt: &Prompt, now: Timestamp) -> Result<Incoming, Failure> {
        let mut dialect = model.dialect(now);
        loop {
            match self.server.open(&wire::streaming_request(&model.name, prompt, dialect)).await {
                Ok(incoming) => return Ok(incoming),
                Err(failure) => dialect = model.learn_from(failure, dialect, prompt, now)?,
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
        }
    }

    fn dialect(&self, now: Timestamp) -> Dialect {
        let is_refused = |at: &Mutex<Option<Timestamp>>| lock(at).is_some_and(|at| now.since(at) < REFUSALS_STAY);
        let no_tools = is_refused(&self.refused_tools_at);
        Dialect { no_tools, no_pictures: is_refused(&self.refused_pictures_at), ..*lock(&self.dialect) }
    }

    /// The dialect to say it in instead, where that is all that is wrong. Ends, because nothing is unlearned within one call.
    fn learn_from(
        &self,
        failure: Failure,
        spoken: Dialect,
        prompt: &Prompt,
        now: Timestamp,
    ) -> Result<Dialect, Failure> {
        let extras = Extras { tools: prompt.tools.are_offered(), pictures: !prompt.pictures.is_empty() };
        let Some(other) = other_dialect(&failure, spoken, extras) else { return Err(failure) };
        if other.no_tools && !spoken.no_tools {
            *lock(&self.refused_tools_at) = Some(now);
        }
        // Another one may please it: only who takes none at all is shown none from now on.
        if other.no_pictures && !spoken.no_pictures && sees_nothing(&failure) {
            *lock(&self.refused_pictures_at) = Some(now);
        }
        *lock(&self.dialect) = other;
        Ok(other)
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

/// An answer that calls tools only where the prompt offers some, also where the model wrote a call down as its answer.
fn with_offered_calls(answer: Answer, prompt: &Prompt) -> Result<Answer, LlmError> {
    if !prompt.tools.are_offered() {
        let answer = Answer { calls: Vec::new(), ..answer };
        return if is_blank(&answer.text) { Err(LlmError::Empty) } else { Ok(answer) };
    }
    let written = if answer.calls.is_empty() { prompt.tools.written_in(&answer.text) } else { Vec::new() };
    Ok(if written.is_empty() { answer } else { Answer { text: String::new(), calls: written, ..answer } })
}

fn completion(answer: Answer, model: &Model, prompt: &Prompt) -> Completion {
    let estimate = |answer: &Answer| TokenUse {
        prompt: prompt.estimated_tokens() as u64,
        completion: estimate_tokens(&answer.text) as u64,
    };
    Completion {
        model: model.name.clone(),
        tokens: answer.tokens.unwrap_or_else(|| estimate(&answer)),
        tokens_counted: answer.tokens.is_some(),
        truncated: answer.truncated,
        first_word: None,
        calls: answer.calls,
        text: answer.text,
    }
}
