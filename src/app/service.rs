//! Reports to the service manager (systemd). Does nothing if there is none.

use sd_notify::NotifyState;

/// Reports that the daemon has started and polls Telegram.
pub fn ready() {
    tell(&[NotifyState::Ready, NotifyState::Status("polling")]);
}

/// Reports that Telegram cannot be reached yet. The daemon counts as started nevertheless: otherwise a machine without
/// a network would wait for it forever while booting.
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
