//! Circuit breakers for model calls: for each purpose, one for every model and one for every conversation.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::gateway::ModelPurpose;
use chime_core::{Conversation, Timestamp};
use chime_llm::{Check, LlmError};
use chime_runtime::resilience::{Breaker, Breakers, CallOutcome};

/// Largest number of conversations with recent failures whose breakers are remembered.
const CONVERSATIONS: usize = 1024;

/// Call that the breakers admit or block.
#[derive(Debug, Clone, Copy)]
pub struct GuardedCall<'a> {
    pub purpose: ModelPurpose,
    pub model: &'a str,
    pub conversation: Conversation,
}

/// Blocks calls to a model that keeps failing. Clones share one state.
#[derive(Debug, Clone)]
pub struct ModelGuard(Arc<Mutex<Guarded>>);

#[derive(Debug)]
struct Guarded {
    models: HashMap<(ModelPurpose, String), GuardedModel>,
    conversations: Breakers<(ModelPurpose, Conversation)>,
}

#[derive(Debug, Default)]
struct GuardedModel {
    breaker: Breaker,
    has_failed: bool,
    /// What an operator has to check if the server refused the last call.
    refusal: Option<Check>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardState {
    /// `true` if the breaker of the answering model is closed.
    pub is_closed: bool,
    /// `true` if the last call of the answering model failed.
    pub has_failed: bool,
    /// Number of breakers of conversations that are not closed.
    pub open_conversations: usize,
}

impl Default for ModelGuard {
    fn default() -> Self {
        let conversations = Breakers::new(CONVERSATIONS);
        Self(Arc::new(Mutex::new(Guarded { models: HashMap::new(), conversations })))
    }
}

impl ModelGuard {
    /// Admits a call, which must end with [`settle`](Self::settle) or [`withdraw`](Self::withdraw).
    ///
    /// # Errors
    /// Returns the time until the breaker admits the next attempt.
    pub fn admit(&self, call: GuardedCall<'_>, now: Timestamp) -> Result<(), Duration> {
        let mut guarded = self.0.lock();
        guarded.conversations.admit(&call.of_conversation(), now)?;
        let admission = guarded.of_model(call).admit(now);
        if admission.is_err() {
            // The conversation's breaker may have admitted the call as its probe. The probe is not sent, so the breaker
            // must be free to admit another.
            guarded.conversations.withdraw(&call.of_conversation(), now);
        }
        admission
    }

    /// Returns the time until the model's breaker admits a call, or `None` if it does now. Callers check it before they
    /// wait for a slot.
    pub fn wait(&self, call: GuardedCall<'_>, now: Timestamp) -> Option<Duration> {
        self.0.lock().of_model(call).wait(now)
    }

    /// Reports the result of an admitted call to both breakers. `took` is the duration of the call.
    pub fn settle(&self, call: GuardedCall<'_>, failure: Option<&LlmError>, took: Duration, now: Timestamp) {
        let mut guarded = self.0.lock();
        let model = guarded.models.entry(call.of_model()).or_default();
        model.breaker.leave_out_time_of_call(took, now);
        model.breaker.settle(of_server(failure), now);
        model.has_failed = of_server(failure) == CallOutcome::Failed;
        model.refusal = match failure {
            Some(LlmError::Refused { check, .. }) if *check != Check::Request => Some(*check),
            _ => None,
        };
        guarded.conversations.settle(&call.of_conversation(), of_conversation(failure), now);
    }

    /// Returns what an operator has to check if the server refused the last call to the model.
    pub fn refusal(&self, call: GuardedCall<'_>) -> Option<Check> {
        self.0.lock().models.get(&call.of_model())?.refusal
    }

    /// Takes back the admission of a call that has no result, so that another call can be the probe.
    pub fn withdraw(&self, call: GuardedCall<'_>, now: Timestamp) {
        let mut guarded = self.0.lock();
        guarded.of_model(call).withdraw(now);
        guarded.conversations.withdraw(&call.of_conversation(), now);
    }

    /// Returns the state for the model that answers by default.
    pub fn state(&self, model: &str) -> GuardState {
        let guarded = self.0.lock();
        let model = guarded.models.get(&(ModelPurpose::Answer, model.to_owned()));
        GuardState {
            is_closed: model.is_none_or(|model| model.breaker.is_closed()),
            has_failed: model.is_some_and(|model| model.has_failed),
            open_conversations: guarded.conversations.open_count(),
        }
    }
}

impl Guarded {
    fn of_model(&mut self, call: GuardedCall<'_>) -> &mut Breaker {
        &mut self.models.entry(call.of_model()).or_default().breaker
    }
}

impl GuardedCall<'_> {
    fn of_model(self) -> (ModelPurpose, String) {
        (self.purpose, self.model.to_owned())
    }

    fn of_conversation(self) -> (ModelPurpose, Conversation) {
        (self.purpose, self.conversation)
    }
}

/// Rates a result for the conversation's breaker. A prompt that is too long is no failure: it is shortened and sent
/// again.
fn of_conversation(failure: Option<&LlmError>) -> CallOutcome {
    match failure {
        None | Some(LlmError::PromptTooLong) => CallOutcome::Succeeded,
        Some(_) => CallOutcome::Failed,
    }
}

/// Rates a result for the model's breaker. An error about this prompt alone is no failure: the server answered.
fn of_server(failure: Option<&LlmError>) -> CallOutcome {
    match failure {
        None
        | Some(
            LlmError::PromptTooLong
            | LlmError::Filtered
            | LlmError::Empty
            | LlmError::Noise
            | LlmError::OnlyThoughts
            | LlmError::NoRoom,
        ) => CallOutcome::Succeeded,
        Some(_) => CallOutcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use chime_core::ChatKey;

    const FAILED: Option<&LlmError> = Some(&LlmError::TimedOut);

    fn conversation(chat: u32) -> GuardedCall<'static> {
        let conversation = Conversation { chat: ChatKey(chat), forum_topic: None };
        GuardedCall { purpose: ModelPurpose::Answer, model: "usual", conversation }
    }

    fn admits(guard: &ModelGuard, call: GuardedCall<'_>, now: Timestamp) -> bool {
        guard.admit(call, now).is_ok()
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    /// Reports five failures in a row, each in a conversation of its own if `spread`.
    fn fail_five_times(guard: &ModelGuard, spread: bool, failure: Option<&LlmError>) {
        for n in 0..5 {
            let conversation = conversation(if spread { n } else { 0 });
            assert!(admits(guard, conversation, at(n.into())), "{n}");
            guard.settle(conversation, failure, Duration::ZERO, at(n.into()));
        }
    }

    #[test]
    fn a_server_that_fails_everybody_is_left_alone_and_probed_later() {
        let guard = ModelGuard::default();
        fail_five_times(&guard, true, FAILED);
        assert!(!admits(&guard, conversation(9), at(5)));
        assert_eq!(guard.state("usual"), GuardState { is_closed: false, has_failed: true, open_conversations: 0 });
        assert!(admits(&guard, conversation(9), at(40)), "one probe");
        assert!(!admits(&guard, conversation(8), at(40)), "and no second one");
        guard.settle(conversation(9), None, Duration::ZERO, at(41));
        assert!(admits(&guard, conversation(8), at(41)));
    }

    #[test]
    fn a_silent_server_with_one_slot_is_left_alone_although_each_call_takes_minutes() {
        let (guard, took) = (ModelGuard::default(), Duration::from_secs(300));
        for n in 1..=5 {
            assert_eq!(guard.wait(conversation(n as u32), at(n * 300 - 300)), None, "{n}");
            assert!(admits(&guard, conversation(n as u32), at(n * 300 - 300)), "{n}");
            guard.settle(conversation(n as u32), FAILED, took, at(n * 300));
        }
        assert_eq!(guard.wait(conversation(9), at(1501)), Some(Duration::from_secs(29)));
        assert!(admits(&guard, conversation(9), at(1540)), "one probe");
        assert!(guard.wait(conversation(9), at(1600)).is_some(), "and nobody behind it");
    }

    #[test]
    fn a_conversation_that_the_model_refuses_leaves_the_others_alone() {
        let guard = ModelGuard::default();
        fail_five_times(&guard, false, Some(&LlmError::Filtered));
        assert!(!admits(&guard, conversation(0), at(5)));
        assert!(admits(&guard, conversation(1), at(5)));
        assert_eq!(guard.state("usual"), GuardState { is_closed: true, has_failed: false, open_conversations: 1 });
    }

    #[test]
    fn a_model_has_failed_from_the_first_failure_to_the_next_success() {
        let guard = ModelGuard::default();
        for (failure, has_failed) in [(None, false), (FAILED, true), (Some(&LlmError::Empty), false)] {
            assert!(admits(&guard, conversation(0), at(0)));
            guard.settle(conversation(0), failure, Duration::ZERO, at(0));
            assert_eq!(guard.state("usual").has_failed, has_failed, "{failure:?}");
        }
    }

    #[test]
    fn a_probe_that_the_server_has_no_time_for_is_not_lost() {
        let guard = ModelGuard::default();
        fail_five_times(&guard, false, FAILED);
        let later = at(4).plus(Duration::from_secs(30));
        assert!(admits(&guard, conversation(1), later), "another conversation probes the server");
        assert!(!admits(&guard, conversation(0), later));
        guard.settle(conversation(1), None, Duration::ZERO, later);
        assert!(admits(&guard, conversation(0), later), "as soon as the server is well");
    }

    #[test]
    fn background_work_that_fails_leaves_answering_alone() {
        let guard = ModelGuard::default();
        let summary = |n| GuardedCall { purpose: ModelPurpose::Summary, ..conversation(n) };
        for n in 0..5 {
            assert!(admits(&guard, summary(n), at(n.into())));
            guard.settle(summary(n), FAILED, Duration::ZERO, at(n.into()));
        }
        assert_eq!(guard.admit(summary(9), at(5)), Err(Duration::from_secs(29)));
        assert!(admits(&guard, conversation(9), at(5)));
        assert!(guard.state("usual").is_closed);
    }

    #[test]
    fn a_model_that_fails_leaves_the_others_alone() {
        let guard = ModelGuard::default();
        fail_five_times(&guard, true, FAILED);
        let other = GuardedCall { model: "chosen", ..conversation(9) };
        assert!(!admits(&guard, conversation(9), at(5)));
        assert_eq!(guard.wait(other, at(5)), None);
        assert!(admits(&guard, other, at(5)));
    }
}
