//! The state with its lock, and notification of tasks that wait for a change.

use std::sync::{Mutex, PoisonError};

use tokio::sync::watch;

use crate::faults::Faults;
use crate::state::SandboxState;
use chime_runtime::clock::Clock;

/// State shared by the server and the handle. The lock is never held across an await.
#[derive(Debug)]
pub(super) struct SharedState {
    pub(super) clock: Clock,
    pub(super) token: String,
    pub(super) faults: Faults,
    state: Mutex<SandboxState>,
    changed: watch::Sender<()>,
}

impl SharedState {
    pub(super) fn new(state: SandboxState, token: String, clock: Clock) -> Self {
        Self { clock, token, faults: Faults::default(), state: Mutex::new(state), changed: watch::Sender::new(()) }
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&SandboxState) -> T) -> T {
        look(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the state and wakes all waiting callers.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut SandboxState) -> T) -> T {
        let outcome = change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.send_replace(());
        outcome
    }

    /// Waits until `look` returns a value.
    pub(super) async fn wait_for<T>(&self, mut look: impl FnMut(&mut SandboxState) -> Option<T>) -> T {
        let mut changed = self.changed.subscribe();
        loop {
            let seen = look(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
            if let Some(seen) = seen {
                return seen;
            }
            // The sender lives as long as `self`, so this returns only after a change.
            changed.changed().await.ok();
        }
    }
}
