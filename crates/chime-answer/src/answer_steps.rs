//! Decides the steps of an answer, from its job to the reply. Pure functions; `answering::write_draft` runs each step
//! and returns the result.

use crate::grounding::NoSource;
use chime_access::gateway::ModelPreference;
use chime_core::RefusalReason;

/// Number of attempts after which the member gets an apology and the model is not asked again. The process may have
/// crashed in each of them.
const MAX_MODEL_ATTEMPTS: u32 = 3;

/// Next step of an answer. `C` is the type of the model's completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<C> {
    /// Ask the model, and pass the outcome to [`ModelAttempt::ended`].
    Ask(ModelAttempt),
    Reply(C),
    /// Reply with the relevant messages themselves: no model is configured.
    Digest,
    /// Ask this clarifying question.
    AskBack(String),
    /// Reply that no source is relevant enough.
    NoSource(NoSource),
    /// Reply that the model failed, with the reason and the relevant messages.
    Apologise(Blame),
    /// Do not answer, since the daily tokens are used up. A notice says so.
    Refuse(RefusalReason),
}

/// One call of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelAttempt {
    pub window: WindowSize,
    pub choice: ModelPreference,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSize {
    Full,
    /// Half of the token budget: the daily tokens run low, or the prompt was too long.
    Halved,
    /// The messages and the question in the plainest prompt: the model's answer could not be shown.
    Plainest,
}

/// Failure of a call of the model, after its own retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelFailure {
    PromptTooLong,
    /// The answer cannot be shown: it repeats the prompt, or holds only reasoning or citations.
    Unusable,
    /// The call failed and a retry would not help, or the circuit breaker did not allow it.
    Final(Blame),
}

/// Cause of a failure that the apology names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// A temporary failure.
    Passing,
    /// The model gave no answer that can be shown.
    NoAnswer,
    /// Even the halved prompt is too long for the model.
    TooLong,
    /// The server does not accept the API key.
    Key,
    /// The server does not know the model.
    Model,
    /// The server refuses requests for another lasting reason.
    Refusal,
}

/// Returns the first step for a trigger whose job was started `attempts` times before: `chosen`, or an apology after too
/// many attempts. Every trigger ends in exactly one reply.
pub fn begin<C>(attempts: u32, chosen: Step<C>) -> Step<C> {
    if attempts >= MAX_MODEL_ATTEMPTS { Step::Apologise(Blame::Passing) } else { chosen }
}

impl ModelAttempt {
    /// First attempt, if there are enough tokens.
    pub const USUAL: Self = Self { window: WindowSize::Full, choice: ModelPreference::Best };
    /// First attempt while the daily tokens run low.
    pub const THRIFTY: Self = Self { window: WindowSize::Halved, choice: ModelPreference::Cheaper };

    /// Returns the step after a call of the model.
    pub fn ended<C>(self, outcome: Result<C, ModelFailure>) -> Step<C> {
        match (outcome, self.window) {
            (Ok(completion), _) => Step::Reply(completion),
            (Err(ModelFailure::PromptTooLong), WindowSize::Full) => {
                Step::Ask(Self { window: WindowSize::Halved, choice: self.choice })
            }
            (Err(ModelFailure::PromptTooLong), _) => Step::Apologise(Blame::TooLong),
            (Err(ModelFailure::Unusable), WindowSize::Full | WindowSize::Halved) => {
                Step::Ask(Self { window: WindowSize::Plainest, choice: self.choice })
            }
            (Err(ModelFailure::Unusable), WindowSize::Plainest) => Step::Apologise(Blame::NoAnswer),
            (Err(ModelFailure::Final(blame)), _) => Step::Apologise(blame),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: ModelAttempt = ModelAttempt::USUAL;
    const TOO_LONG: Result<&str, ModelFailure> = Err(ModelFailure::PromptTooLong);

    #[test]
    fn a_trigger_is_answered_by_the_model() {
        assert_eq!(begin(0, Step::<&str>::Ask(FULL)), Step::Ask(FULL));
        assert_eq!(FULL.ended(Ok("Friday.")), Step::Reply("Friday."));
        assert_eq!(FULL.ended::<&str>(Err(ModelFailure::Final(Blame::Key))), Step::Apologise(Blame::Key));
    }

    #[test]
    fn a_prompt_that_is_too_long_is_halved_once() {
        let halved = ModelAttempt { window: WindowSize::Halved, ..FULL };
        assert_eq!(FULL.ended(TOO_LONG), Step::Ask(halved));
        assert_eq!(halved.ended(TOO_LONG), Step::Apologise(Blame::TooLong));
        assert_eq!(ModelAttempt::THRIFTY.ended(TOO_LONG), Step::Apologise(Blame::TooLong));
    }

    #[test]
    fn a_trigger_that_keeps_killing_the_process_gets_an_apology_without_a_model_call() {
        assert_eq!(begin::<()>(3, Step::Ask(FULL)), Step::Apologise(Blame::Passing));
    }
}
