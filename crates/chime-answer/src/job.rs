//! What happens to a trigger, from its job to the reply: pure. `run.rs` does what each step says and feeds the result back.

use crate::grounding::Guard;
use chime_core::Because;

/// Attempts that may have killed the process. After them the member gets an apology instead of another try.
const MAX_MODEL_ATTEMPTS: u32 = 3;

/// What is to be done next. `C` is a completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step<C> {
    /// Ask the model, and tell [`Asking::ended`] how that went.
    Ask(Asking),
    Reply(C),
    /// Reply with what the window holds: no model is configured.
    Digest,
    /// Ask back what the ask means, in these words.
    AskBack(String),
    /// Say that nothing known is relevant enough.
    Guard(Guard),
    /// Reply that the model failed, and why, with the messages themselves.
    Apologise(Blame),
    /// No answer today; the member is told.
    Refuse(Because),
}

/// A call of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking {
    pub window: WindowSize,
    pub choice: Choice,
}

/// Which of the two models is asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    Best,
    Cheaper,
}

/// How much of the context the model is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSize {
    Full,
    /// Half of the budget: the day's tokens run low, or the model said that the prompt was too long.
    Halved,
    /// The newest messages and the question, in the plainest prompt: the model gave nothing that can be shown.
    Plainest,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backend {
    Model,
    /// The model, while the day's tokens run low.
    Thrifty,
    /// The model, but the day's tokens are used up.
    Spent(Because),
    Offline,
    /// None: what the ask means has to be asked back first, in these words.
    NotNeeded(String),
    /// None: the chat wants sources, and nothing known is relevant enough.
    Guarded(Guard),
}

/// Why the model did not answer, after its own retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    PromptTooLong,
    /// It answered, and nothing of that can be shown: a repetition of the prompt, thoughts, citations alone.
    Unusable,
    /// It failed so often lately that it was not asked at all, or failed for good.
    Final(Blame),
}

/// What a failure is put down to, as far as a member should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// It may be over in a minute.
    Passing,
    /// The model gave no answer that can be shown, twice.
    NoAnswer,
    /// The server does not accept our key.
    Key,
    /// The server does not know our model.
    Model,
    /// The server refuses us for another reason that lasts.
    Refusal,
}

/// The first step for a trigger whose job was begun `attempts` times before. Every one ends in exactly one reply.
pub fn begin<C>(attempts: u32, backend: Backend) -> Step<C> {
    match backend {
        _ if attempts >= MAX_MODEL_ATTEMPTS => Step::Apologise(Blame::Passing),
        Backend::Offline => Step::Digest,
        Backend::NotNeeded(question) => Step::AskBack(question),
        Backend::Guarded(guard) => Step::Guard(guard),
        Backend::Spent(because) => Step::Refuse(because),
        Backend::Model => Step::Ask(Asking { window: WindowSize::Full, choice: Choice::Best }),
        Backend::Thrifty => Step::Ask(Asking { window: WindowSize::Halved, choice: Choice::Cheaper }),
    }
}

impl Asking {
    /// What follows a call that ended.
    pub fn ended<C>(self, outcome: Result<C, Failure>) -> Step<C> {
        match (outcome, self.window) {
            (Ok(completion), _) => Step::Reply(completion),
            (Err(Failure::PromptTooLong), WindowSize::Full) => {
                Step::Ask(Self { window: WindowSize::Halved, choice: self.choice })
            }
            (Err(Failure::PromptTooLong), _) => Step::Apologise(Blame::Passing),
            (Err(Failure::Unusable), WindowSize::Full | WindowSize::Halved) => {
                Step::Ask(Self { window: WindowSize::Plainest, choice: self.choice })
            }
            (Err(Failure::Unusable), WindowSize::Plainest) => Step::Apologise(Blame::NoAnswer),
            (Err(Failure::Final(blame)), _) => Step::Apologise(blame),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Asking = Asking { window: WindowSize::Full, choice: Choice::Best };
    const TOO_LONG: Result<&str, Failure> = Err(Failure::PromptTooLong);

    fn first(backend: Backend) -> Step<&'static str> {
        begin(0, backend)
    }

    #[test]
    fn a_trigger_is_answered_by_the_model() {
        assert_eq!(first(Backend::Model), Step::Ask(FULL));
        assert_eq!(FULL.ended(Ok("Friday.")), Step::Reply("Friday."));
        assert_eq!(FULL.ended::<&str>(Err(Failure::Final(Blame::Key))), Step::Apologise(Blame::Key));
    }

    #[test]
    fn without_a_model_a_digest_goes_out() {
        assert_eq!(first(Backend::Offline), Step::Digest);
    }

    #[test]
    fn what_is_unclear_is_asked_back_without_a_model() {
        let question = "Which one?".to_owned();
        assert_eq!(first(Backend::NotNeeded(question.clone())), Step::AskBack(question));
    }

    #[test]
    fn what_nothing_known_is_about_is_not_asked_of_a_model() {
        assert_eq!(first(Backend::Guarded(Guard::NothingKnown)), Step::Guard(Guard::NothingKnown));
    }

    #[test]
    fn a_prompt_that_is_too_long_is_halved_once() {
        let halved = Asking { window: WindowSize::Halved, ..FULL };
        assert_eq!(FULL.ended(TOO_LONG), Step::Ask(halved));
        assert_eq!(halved.ended(TOO_LONG), Step::Apologise(Blame::Passing));
    }

    #[test]
    fn when_tokens_run_low_a_smaller_question_goes_to_the_cheaper_model() {
        let thrifty = Asking { window: WindowSize::Halved, choice: Choice::Cheaper };
        assert_eq!(first(Backend::Thrifty), Step::Ask(thrifty));
        assert_eq!(thrifty.ended(TOO_LONG), Step::Apologise(Blame::Passing));
    }

    #[test]
    fn when_tokens_are_used_up_the_trigger_is_refused() {
        assert_eq!(first(Backend::Spent(Because::DailyTokens)), Step::Refuse(Because::DailyTokens));
    }

    #[test]
    fn a_trigger_that_keeps_killing_the_process_gets_an_apology_without_a_model_call() {
        assert_eq!(begin::<()>(3, Backend::Model), Step::Apologise(Blame::Passing));
    }
}
