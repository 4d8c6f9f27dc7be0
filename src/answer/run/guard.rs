//! Whether the model is asked at all: a breaker for each conversation, and one for the server behind all of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{Conversation, Timestamp};
use crate::llm::LlmError;
use crate::resilience::{Admission, Breaker, Breakers, Outcome};

/// Conversations that can fail at once without one of them being forgotten.
const CONVERSATIONS: usize = 1024;

/// Keeps calls away from a model that keeps failing. Clones are the same one.
#[derive(Debug, Clone)]
pub struct ModelGuard(Arc<Mutex<Guarded>>);

#[derive(Debug)]
struct Guarded {
    server: Breaker,
    conversations: Breakers<Conversation>,
}

/// What an operator sees of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuardState {
    /// The model server as a whole answers.
    pub is_closed: bool,
    /// Conversations whose calls keep failing.
    pub open_conversations: usize,
}

impl Default for ModelGuard {
    fn default() -> Self {
        let conversations = Breakers::new(CONVERSATIONS);
        Self(Arc::new(Mutex::new(Guarded { server: Breaker::default(), conversations })))
    }
}

impl ModelGuard {
    /// Whether the model may be asked. Who is let through must [`settle`](Self::settle).
    pub fn admits(&self, conversation: Conversation, now: Timestamp) -> bool {
        let mut guarded = self.lock();
        if guarded.conversations.admit(&conversation, now) != Admission::Go {
            return false;
        }
        let (server, admission) = std::mem::take(&mut guarded.server).admit(now);
        guarded.server = server;
        if admission == Admission::Go {
            return true;
        }
        // Should this have been the conversation's probe: it was not made.
        guarded.conversations.withdraw(&conversation, now);
        false
    }

    /// Takes in how the call ended.
    pub fn settle(&self, conversation: Conversation, failure: Option<&LlmError>, now: Timestamp) {
        let mut guarded = self.lock();
        let server = std::mem::take(&mut guarded.server);
        guarded.server = server.settle(of_server(failure), now);
        guarded.conversations.settle(&conversation, of_conversation(failure), now);
    }

    pub fn state(&self) -> GuardState {
        let guarded = self.lock();
        GuardState { is_closed: guarded.server.is_closed(), open_conversations: guarded.conversations.open_count() }
    }

    fn lock(&self) -> MutexGuard<'_, Guarded> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A prompt that is too long is cut and asked again: the model is well.
fn of_conversation(failure: Option<&LlmError>) -> Outcome {
    match failure {
        None | Some(LlmError::PromptTooLong) => Outcome::Succeeded,
        Some(_) => Outcome::Failed,
    }
}

/// A server that answers is well, whatever it thinks of the prompt.
fn of_server(failure: Option<&LlmError>) -> Outcome {
    match failure {
        None | Some(LlmError::PromptTooLong | LlmError::Filtered | LlmError::Empty) => Outcome::Succeeded,
        Some(_) => Outcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::ChatKey;

    const FAILED: Option<&LlmError> = Some(&LlmError::TimedOut);

    fn conversation(chat: u32) -> Conversation {
        Conversation { chat: ChatKey(chat), thread: None }
    }

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_secs(secs)
    }

    /// Five failures in a row, each in a conversation of its own if `spread`.
    fn fail_five_times(guard: &ModelGuard, spread: bool, failure: Option<&LlmError>) {
        for n in 0..5 {
            let conversation = conversation(if spread { n } else { 0 });
            assert!(guard.admits(conversation, at(n.into())), "{n}");
            guard.settle(conversation, failure, at(n.into()));
        }
    }

    #[test]
    fn a_server_that_fails_everybody_is_left_alone_and_probed_later() {
        let guard = ModelGuard::default();
        fail_five_times(&guard, true, FAILED);
        assert!(!guard.admits(conversation(9), at(5)));
        assert_eq!(guard.state(), GuardState { is_closed: false, open_conversations: 0 });
        assert!(guard.admits(conversation(9), at(40)), "one probe");
        assert!(!guard.admits(conversation(8), at(40)), "and no second one");
        guard.settle(conversation(9), None, at(41));
        assert!(guard.admits(conversation(8), at(41)));
    }

    #[test]
    fn a_conversation_that_the_model_refuses_leaves_the_others_alone() {
        let guard = ModelGuard::default();
        fail_five_times(&guard, false, Some(&LlmError::Filtered));
        assert!(!guard.admits(conversation(0), at(5)));
        assert!(guard.admits(conversation(1), at(5)));
        assert_eq!(guard.state(), GuardState { is_closed: true, open_conversations: 1 });
    }

    #[test]
    fn a_probe_that_the_server_has_no_time_for_is_not_lost() {
        let guard = ModelGuard::default();
        fail_five_times(&guard, false, FAILED);
        let later = at(4).plus(Duration::from_secs(30));
        assert!(guard.admits(conversation(1), later), "another conversation probes the server");
        assert!(!guard.admits(conversation(0), later));
        guard.settle(conversation(1), None, later);
        assert!(guard.admits(conversation(0), later), "as soon as the server is well");
    }
}
