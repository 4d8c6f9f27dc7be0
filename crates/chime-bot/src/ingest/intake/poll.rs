//! Polls Telegram for updates and stores them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::ingest::intake::apply::apply;
use crate::ingest::intake::batch::{Applied, BothClocks};
use crate::ingest::intake::read::{offset_after, read_batch};
use crate::ingest::intake::settings::IntakeSettings;
use chime_access::ClaimCode;
use chime_core::{GuestQuestion, Timestamp};
use chime_jobs::Base;
use chime_runtime::clock::{Clock, Stopwatch};
use chime_runtime::resilience::{Backoff, random};
use chime_store::{Priority, StoreError, inbox};
use chime_telegram::{RawUpdate, TelegramError};

/// Age after which the stored offset (the id of the next update) is not used any more. After a week without updates,
/// Telegram continues with a random id; this is a day less.
const OFFSET_LIVES: Duration = Duration::from_hours(6 * 24);

/// Worker that polls for updates until it is stopped.
pub struct Ingest {
    pub base: Base,
    pub health: PollHealth,
    /// Gets the questions in chats that the bot is not in.
    pub guests: mpsc::Sender<GuestQuestion>,
    /// Code with which a user becomes the owner; `None` if the bot has an owner.
    pub claim: Option<ClaimCode>,
    /// `true` if a server makes the vectors of messages.
    pub fetches_vectors: bool,
    /// Kinds of updates of which one could not be stored since the start.
    pub parked_kinds: Mutex<HashSet<String>>,
}

/// Health of polling: the time of the last response, and the current problem if there is one.
#[derive(Debug, Clone)]
pub struct PollHealth(Arc<Mutex<PollingState>>);

#[derive(Debug, Clone)]
struct PollingState {
    /// Measured by the monotonic clock: a jump of the system clock must not look like silence.
    last_sign: Stopwatch,
    /// Time after the last response in which Telegram asked not to be polled.
    pause: Duration,
    trouble: Option<(TroubleKind, String, Stopwatch)>,
    /// Milliseconds by which this machine's clock is ahead of Telegram's; `None` before the first response.
    ahead_ms: Option<i64>,
}

/// Problem that prevents updates from being received or stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollTrouble {
    pub kind: TroubleKind,
    pub what: String,
    /// Time since the problem began.
    pub lasting: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// Telegram cannot be reached or answers with an error.
    Polling,
    /// Another process polls with the same bot token, which Telegram does not allow.
    Conflict,
    /// The database cannot store the updates.
    Storing,
}

impl PollHealth {
    pub fn new(clock: &Clock) -> Self {
        Self(Arc::new(Mutex::new(PollingState {
            last_sign: clock.stopwatch(),
            pause: Duration::ZERO,
            trouble: None,
            ahead_ms: None,
        })))
    }

    /// Returns the time since the last poll ended, with or without success. A pause that Telegram asked for does not
    /// count.
    pub fn silent_for(&self) -> Duration {
        let state = self.state();
        state.last_sign.elapsed().saturating_sub(state.pause)
    }

    /// Returns the current problem, if there is one.
    pub fn trouble(&self) -> Option<PollTrouble> {
        let (kind, what, since) = self.state().trouble.clone()?;
        Some(PollTrouble { kind, what, lasting: since.elapsed() })
    }

    /// Returns the seconds by which this machine's clock is ahead of Telegram's, negative if it is behind. `None` if
    /// unknown.
    pub fn ahead_s(&self) -> Option<i64> {
        self.state().ahead_ms.map(|ms| ms / 1000)
    }

    /// Compares this machine's clock with Telegram's, `there`. Must be called as soon as a response arrives.
    fn compare(&self, here: Timestamp, there: Option<Timestamp>) {
        if let Some(there) = there {
            self.state().ahead_ms = Some(here.millis().saturating_sub(there.millis()));
        }
    }

    /// Records that a poll ended, and the problem if it failed. If the same kind of problem continues, its start time
    /// is kept.
    pub fn note(&self, clock: &Clock, trouble: Option<(TroubleKind, String)>) {
        let mut state = self.state();
        let now = clock.stopwatch();
        let trouble = trouble.map(|(kind, what)| match &state.trouble {
            Some((before, _, since)) if *before == kind => (kind, what, *since),
            Some(_) | None => (kind, what, now),
        });
        *state = PollingState { last_sign: now, pause: Duration::ZERO, trouble, ahead_ms: state.ahead_ms };
    }

    /// Records that Telegram asked for a pause after the last poll.
    fn pause(&self, pause: Duration) {
        self.state().pause = pause;
    }

    fn state(&self) -> MutexGuard<'_, PollingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason why polling ended for good.
#[derive(Debug, thiserror::Error)]
pub enum PollEnd {
    #[error(
        "Telegram refuses the bot token: it is wrong or was revoked; copy it from @BotFather (/token) and set TELEGRAM_BOT_TOKEN"
    )]
    TokenRefused,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Ingest {
    /// Polls until `stop`. After an error it tries again, unless the token is refused or the database cannot be used.
    pub async fn run(self, stop: CancellationToken) -> Result<(), PollEnd> {
        let now = self.base.clock.now();
        let mut offset = self.base.store.read(move |conn| inbox::next_offset(conn, now, OFFSET_LIVES)).await?;
        let mut backoff = Backoff::default();
        loop {
            let polled = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                polled = self.base.telegram.get_updates(offset) => polled,
            };
            let pause = match polled {
                Ok(batch) => {
                    self.health.note(&self.base.clock, None);
                    self.health.compare(self.base.clock.now(), self.base.telegram.server_date());
                    let progress = offset_after(&batch).filter(|next| Some(*next) != offset);
                    let stuck = !batch.is_empty() && progress.is_none();
                    if !batch.is_empty() && !self.take_in(batch, progress, &stop).await? {
                        return Ok(());
                    }
                    offset = progress.or(offset);
                    if !stuck {
                        backoff.succeeded();
                        continue;
                    }
                    // No update in the batch has an id, so the batch cannot be confirmed and will come again at once.
                    // Waits before the next poll.
                    backoff.failed(random())
                }
                Err(error) => {
                    let is_revoked = tokio::select! {
                        () = stop.cancelled() => return Ok(()),
                        is_revoked = self.is_revoked(&error) => is_revoked,
                    };
                    if is_revoked {
                        return Err(PollEnd::TokenRefused);
                    }
                    self.pause_after(&error, &mut backoff)
                }
            };
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.base.clock.sleep(pause) => {}
            }
        }
    }

    /// Stores a batch of updates. Tries again until it succeeds, since updates may be confirmed to Telegram only after
    /// the commit. Returns `false` if stopped before that.
    async fn take_in(
        &self,
        batch: Vec<RawUpdate>,
        offset: Option<i64>,
        stop: &CancellationToken,
    ) -> Result<bool, StoreError> {
        let setting = Arc::new(IntakeSettings {
            bot: self.base.bot(),
            config: Arc::clone(&self.base.config),
            claim: self.claim.clone(),
            fetches_vectors: self.fetches_vectors,
        });
        let batch = Arc::new(read_batch(batch, setting.bot.id));
        let mut backoff = Backoff::default();
        loop {
            let now = self.base.clock.now();
            let at = BothClocks { now, there: self.base.telegram.server_date().unwrap_or(now) };
            let (batch, setting) = (Arc::clone(&batch), Arc::clone(&setting));
            let written =
                self.base.store.write(Priority::Answering, move |tx| apply(tx, &batch, offset, &setting, at)).await;
            match written {
                Ok(applied) => {
                    self.health.note(&self.base.clock, None);
                    self.report(applied);
                    // The jobs of this batch begin before the next poll.
                    tokio::task::yield_now().await;
                    return Ok(true);
                }
                Err(error) if error.is_fatal() => return Err(error),
                Err(error) => {
                    tracing::error!(%error, "updates cannot be stored; polling waits and confirms nothing");
                    self.health.note(&self.base.clock, Some((TroubleKind::Storing, error.to_string())));
                }
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(false),
                () = self.base.clock.sleep(backoff.failed(random())) => {}
            }
        }
    }

    fn report(&self, applied: Applied) {
        for question in applied.guests {
            // If the queue is full, the question is dropped: nobody would wait that long for an answer.
            let _ = self.guests.try_send(question);
        }
        if applied.postponed || applied.started > 0 {
            self.base.wake.wake();
        }
        for (kind, why) in applied.parked {
            let is_news = self.parked_kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(kind.clone());
            // A metric counts these log events. The first of each kind is a warning, the others are for debugging.
            match is_news {
                true => {
                    tracing::warn!(r#type = kind, "update.parked: an update of kind {kind} cannot be stored: {why}")
                }
                false => tracing::debug!(r#type = kind, "update.parked"),
            }
        }
        for (chat, because) in &applied.refused {
            tracing::info!(chat.id = chat.0, r#type = because.as_str(), "chat.rate_limit");
        }
        for is_good in &applied.feedback {
            tracing::info!(r#type = if *is_good { "good" } else { "bad" }, "chat.feedback");
        }
        for chat in &applied.refused_chats {
            tracing::info!(chat.id = chat, "chat {chat} is not allowed: nothing of it was kept");
        }
    }

    /// Returns `true` if Telegram refuses the token for two different requests. One refusal is not enough, because the
    /// daemon then ends.
    async fn is_revoked(&self, error: &TelegramError) -> bool {
        matches!(error, TelegramError::Unauthorized)
            && matches!(self.base.telegram.get_me().await, Err(TelegramError::Unauthorized))
    }

    fn pause_after(&self, error: &TelegramError, backoff: &mut Backoff) -> Duration {
        let kind = match error {
            TelegramError::Conflict { .. } => TroubleKind::Conflict,
            _ => TroubleKind::Polling,
        };
        self.health.note(&self.base.clock, Some((kind, error.to_string())));
        match error {
            TelegramError::Throttled { retry_after } => {
                tracing::warn!(retry_after_s = retry_after.as_secs(), "Telegram asks to poll later");
                self.health.pause(*retry_after);
                return *retry_after;
            }
            TelegramError::Conflict { .. } => tracing::error!(
                "somebody else polls with this bot's token: stop the other instance, or delete its webhook; \
                 trying again"
            ),
            error => tracing::warn!(%error, "polling failed, trying again"),
        }
        backoff.failed(random())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_that_telegram_asked_for_is_no_silence() {
        let clock = Clock::system();
        let health = PollHealth::new(&clock);
        health.note(&clock, Some((TroubleKind::Polling, "too many requests".to_owned())));
        assert_ne!(health.silent_for(), Duration::ZERO);
        health.pause(Duration::from_secs(600));
        assert_eq!(health.silent_for(), Duration::ZERO);
        health.note(&clock, None);
        assert_ne!(health.silent_for(), Duration::ZERO);
    }
}
