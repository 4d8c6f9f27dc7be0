//! The answer job as a state machine: pure. `run.rs` performs the effects and feeds their results back.

/// Attempts that may have killed the process. After them the member gets an apology instead of another try.
const MAX_MODEL_ATTEMPTS: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Fresh,
    Asking { window: WindowSize, choice: Choice },
    Settled,
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The job was taken up; `attempts` began before.
    Begun {
        attempts: u32,
        backend: Backend,
    },
    /// An answer to this trigger is already stored.
    FoundAnswered,
    /// The trigger is no longer there: forgotten, or its author opted out.
    FoundGone,
    ModelAnswered,
    ModelFailed(Failure),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    Model,
    /// The model, while the day's tokens run low.
    Thrifty,
    /// The model, but the day's tokens are used up.
    Spent,
    Offline,
}

/// Why the model did not answer, after its own retries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    PromptTooLong,
    /// It failed so often lately that it was not asked at all, or failed for good.
    Final,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    AskModel {
        window: WindowSize,
        choice: Choice,
    },
    ReplyWithAnswer,
    ReplyWithDigest,
    ReplyWithApology,
    /// No answer today; the member is told.
    Refuse,
    /// Nothing to say: close the job.
    Close,
}

impl Stage {
    /// One step. Every trigger ends in exactly one reply, unless it is gone or was answered before.
    pub fn step(self, event: Event) -> (Self, Option<Effect>) {
        match (self, event) {
            (Self::Fresh, Event::FoundAnswered | Event::FoundGone) => (Self::Settled, Some(Effect::Close)),
            (Self::Fresh, Event::Begun { attempts, .. }) if attempts >= MAX_MODEL_ATTEMPTS => {
                (Self::Settled, Some(Effect::ReplyWithApology))
            }
            (Self::Fresh, Event::Begun { backend: Backend::Offline, .. }) => {
                (Self::Settled, Some(Effect::ReplyWithDigest))
            }
            (Self::Fresh, Event::Begun { backend: Backend::Spent, .. }) => (Self::Settled, Some(Effect::Refuse)),
            (Self::Fresh, Event::Begun { backend: Backend::Model, .. }) => ask(WindowSize::Full, Choice::Best),
            (Self::Fresh, Event::Begun { backend: Backend::Thrifty, .. }) => ask(WindowSize::Halved, Choice::Cheaper),
            (Self::Asking { .. }, Event::ModelAnswered) => (Self::Settled, Some(Effect::ReplyWithAnswer)),
            (Self::Asking { window: WindowSize::Full, choice }, Event::ModelFailed(Failure::PromptTooLong)) => {
                ask(WindowSize::Halved, choice)
            }
            (Self::Asking { .. }, Event::ModelFailed(Failure::PromptTooLong | Failure::Final)) => {
                (Self::Settled, Some(Effect::ReplyWithApology))
            }
            // Anything else is an echo of what is over.
            (stage @ Self::Fresh, Event::ModelAnswered | Event::ModelFailed(_))
            | (stage @ Self::Asking { .. }, Event::Begun { .. } | Event::FoundAnswered | Event::FoundGone)
            | (stage @ Self::Settled, _) => (stage, None),
        }
    }
}

fn ask(window: WindowSize, choice: Choice) -> (Stage, Option<Effect>) {
    (Stage::Asking { window, choice }, Some(Effect::AskModel { window, choice }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(events: &[Event], expected: &[Effect]) {
        let mut stage = Stage::Fresh;
        let mut effects = Vec::new();
        for event in events {
            let (next, effect) = stage.step(*event);
            stage = next;
            effects.extend(effect);
        }
        assert_eq!(effects, expected);
    }

    const BEGUN: Event = Event::Begun { attempts: 0, backend: Backend::Model };
    const FULL: Effect = Effect::AskModel { window: WindowSize::Full, choice: Choice::Best };
    const HALVED: Effect = Effect::AskModel { window: WindowSize::Halved, choice: Choice::Best };

    #[test]
    fn a_trigger_is_answered_by_the_model() {
        check(&[BEGUN, Event::ModelAnswered], &[FULL, Effect::ReplyWithAnswer]);
    }

    #[test]
    fn without_a_model_a_digest_goes_out() {
        check(&[Event::Begun { attempts: 0, backend: Backend::Offline }], &[Effect::ReplyWithDigest]);
    }

    #[test]
    fn a_prompt_that_is_too_long_is_halved_once() {
        let too_long = Event::ModelFailed(Failure::PromptTooLong);
        check(&[BEGUN, too_long, Event::ModelAnswered], &[FULL, HALVED, Effect::ReplyWithAnswer]);
        check(&[BEGUN, too_long, too_long], &[FULL, HALVED, Effect::ReplyWithApology]);
    }

    #[test]
    fn when_tokens_run_low_a_smaller_question_goes_to_the_cheaper_model() {
        let thrifty = Event::Begun { attempts: 0, backend: Backend::Thrifty };
        let asked = Effect::AskModel { window: WindowSize::Halved, choice: Choice::Cheaper };
        check(&[thrifty, Event::ModelAnswered], &[asked, Effect::ReplyWithAnswer]);
        check(&[thrifty, Event::ModelFailed(Failure::PromptTooLong)], &[asked, Effect::ReplyWithApology]);
    }

    #[test]
    fn when_tokens_are_used_up_the_trigger_is_refused() {
        check(&[Event::Begun { attempts: 0, backend: Backend::Spent }], &[Effect::Refuse]);
    }

    #[test]
    fn a_final_failure_is_told() {
        check(&[BEGUN, Event::ModelFailed(Failure::Final)], &[FULL, Effect::ReplyWithApology]);
    }

    #[test]
    fn a_trigger_that_keeps_killing_the_process_gets_an_apology_without_a_model_call() {
        check(&[Event::Begun { attempts: 3, backend: Backend::Model }], &[Effect::ReplyWithApology]);
    }

    #[test]
    fn what_was_answered_or_is_gone_is_closed_in_silence() {
        check(&[Event::FoundAnswered], &[Effect::Close]);
        check(&[Event::FoundGone, BEGUN], &[Effect::Close]);
    }

    #[test]
    fn nothing_is_said_twice() {
        check(&[BEGUN, Event::ModelAnswered, Event::ModelAnswered, BEGUN], &[FULL, Effect::ReplyWithAnswer]);
    }
}
