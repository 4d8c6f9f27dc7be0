//! Notifications to the service manager; without one, nothing happens.

use sd_notify::NotifyState;

/// Reports that polling works.
pub fn ready() {
    tell(&[NotifyState::Ready, NotifyState::Status("polling")]);
}

/// Reports that Telegram cannot be reached yet. This counts as started and alive; otherwise a machine without a network
/// would never finish its own start.
pub fn waiting() {
    tell(&[NotifyState::Ready, NotifyState::Watchdog, NotifyState::Status("waiting for Telegram")]);
}

pub fn alive() {
    tell(&[NotifyState::Watchdog]);
}

pub fn stopping() {
    tell(&[NotifyState::Stopping]);
}

fn tell(state: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(state) {
        tracing::debug!(%error, "the service manager cannot be told");
    }
}
