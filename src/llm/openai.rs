//! One completion from a server that speaks OpenAI's chat completions: retries, fallback, and one deadline over all.

mod probe;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::domain::{Timestamp, TokenUse, estimate_tokens};
use crate::llm::diagnose::{diagnose, other_dialect};
use crate::llm::transport::{Failure, Server};
use crate::llm::wire::{self, Answer, Dialect};
use crate::llm::{Completion, LlmError, LlmOptions, Prompt, Recovery};
use crate::resilience::{RetryPolicy, random, within};

/// Members wait for an answer: two more tries are worth it, a third is not.
const RETRIES: RetryPolicy =
    RetryPolicy { max_retries: 2, base: Duration::from_millis(500), cap: Duration::from_secs(15) };

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

    /// Asks the model, again when that may help, and in the end the fallback. Returns within the deadline; dropping
    /// the future ends the call.
    ///
    /// # Errors
    /// What the first model failed with, also when the fallback failed after it.
    pub async fn complete(&self, prompt: &Prompt, clock: &Clock) -> Result<Completion, LlmError> {
        self.complete_with(&self.primary, self.fallback.as_ref(), prompt, clock).await
    }

    /// As [`complete`](Self::complete), with the fallback asked first: it is the cheaper model.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    pub async fn complete_cheaply(&self, prompt: &Prompt, clock: &Clock) -> Result<Completion, LlmError> {
        match &self.fallback {
            Some(cheaper) => self.complete_with(cheaper, Some(&self.primary), prompt, clock).await,
            None => self.complete(prompt, clock).await,
        }
    }

    async fn complete_with(
        &self,
        first: &Model,
        second: Option<&Model>,
        prompt: &Prompt,
        clock: &Clock,
    ) -> Result<Completion, LlmError> {
        let deadline = self.deadline(clock);
        let error = match self.ask_patiently(first, prompt, &deadline, clock).await {
            Ok(completion) => return Ok(completion),
            Err(error) => error,
        };
        let second = second.filter(|_| error.another_model_may_help());
        let Some(second) = second.filter(|_| !deadline.left(clock).is_zero()) else { return Err(error) };
        tracing::warn!(model.name = first.name, %error, "the model failed, asking {} instead", second.name);
        self.ask(second, prompt, &deadline, clock).await.map_err(|another| {
            tracing::warn!(model.name = second.name, error = %another, "the other model failed too");
            error
        })
    }

    fn deadline(&self, clock: &Clock) -> Deadline {
        Deadline { until: clock.now().plus(self.deadline), span: self.deadline }
    }

    /// Asks a model until it answers, cannot, or the retries or the time are used up.
    async fn ask_patiently(
        &self,
        model: &Model,
        prompt: &Prompt,
        deadline: &Deadline,
        clock: &Clock,
    ) -> Result<Completion, LlmError> {
        let mut retries = 0;
        loop {
            let error = match self.ask(model, prompt, deadline, clock).await {
                Ok(completion) => return Ok(completion),
                Err(error) => error,
            };
            let delay = self.delay(&error, retries).filter(|delay| *delay < deadline.left(clock));
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
    async fn ask(
        &self,
        model: &Model,
        prompt: &Prompt,
        deadline: &Deadline,
        clock: &Clock,
    ) -> Result<Completion, LlmError> {
        let span = self.timeout.min(deadline.left(clock));
        let body = within(clock, span, self.post(model, prompt)).await.ok_or(LlmError::TimedOut)?;
        let answer = wire::read(body.map_err(diagnose)?)?;
        Ok(completion(answer, model, prompt))
    }

    /// Sends the prompt, and once more in another form for each form that the model turns out not to take.
    async fn post(&self, model: &Model, prompt: &Prompt) -> Result<serde_json::Value, Failure> {
        loop {
            let dialect = model.dialect();
            let failure = match self.server.post(&wire::request(&model.name, prompt, dialect)).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            // Ends, because a dialect is never unlearned.
            match other_dialect(&failure, dialect) {
                Some(other) => model.learn(other),
                None => return Err(failure),
            }
        }
    }
}

impl Model {
    fn new(name: String) -> Self {
        Self { name, dialect: Mutex::default() }
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, dialect: Dialect) {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner) = dialect;
    }
}

impl Deadline {
    /// Never more than the whole span, should the wall clock be set back.
    fn left(&self, clock: &Clock) -> Duration {
        self.until.since(clock.now()).min(self.span)
    }
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
        text: answer.text,
    }
}
