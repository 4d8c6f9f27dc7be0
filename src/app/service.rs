//! What a service manager is told. Without one, nothing happens.

use sd_notify::NotifyState;

/// Updates are coming in.
pub fn ready() {
    tell(&[NotifyState::Ready, NotifyState::Status("polling")]);
}

/// The daemon waits for Telegram.
pub fn waiting() {
    tell(&[NotifyState::Status("waiting for Telegram")]);
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
