//! What a service manager is told. Without one, nothing happens.

use sd_notify::NotifyState;

/// Updates are coming in.
pub fn ready() {
    tell(&[NotifyState::Ready, NotifyState::Status("polling")]);
}

/// Telegram cannot be reached yet. That counts as started, and as alive: otherwise a machine without a network would
/// never come to the end of its own start.
pub fn waiting() {
    tell(&[NotifyState::Ready, NotifyState::Watchdog, NotifyState::Status("waiting for Telegram")]);
}

/// A sign of life.
pub fn alive() {
    tell(&[NotifyState::Watchdog]);
}

/// The stop has begun.
pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "the service manager cannot be told");
    }
}
