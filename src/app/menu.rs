//! Sets the bot's command menu and short description on Telegram.

use std::hash::{DefaultHasher, Hash, Hasher};

use tokio_util::sync::CancellationToken;

use crate::app::error::AppError;
use chime_core::texts;
use chime_jobs::Base;
use chime_privacy::wording;
use chime_runtime::resilience::{Backoff, random};
use chime_store::{Priority, menus};
use chime_telegram::TelegramError;

/// Sets the command menus and the description once, and tries again until it succeeds. No other task needs them.
pub async fn run(base: Base, stop: CancellationToken) -> Result<(), AppError> {
    let mut backoff = Backoff::default();
    while let Err(error) = introduce(&base).await {
        tracing::info!(%error, "command menu and description could not be set");
        if error.is_lasting() {
            break;
        }
        tokio::select! {
            () = stop.cancelled() => return Ok(()),
            () = base.clock.sleep(backoff.failed(random())) => {}
        }
    }
    // The daemon stops when any task ends, so this one stays until the stop.
    stop.cancelled().await;
    Ok(())
}

/// Sets the menus that have changed since they were last set, then the description.
async fn introduce(base: &Base) -> Result<(), TelegramError> {
    // If the database cannot be read, all menus are set, now and at the next start.
    let known = base.store.read(menus::hashes).await.unwrap_or_default();
    let (mut set, mut done) = (Vec::new(), Ok(()));
    for menu in texts::menus() {
        let mut hasher = DefaultHasher::new();
        (base.bot().id, &menu).hash(&mut hasher);
        let hash = hasher.finish().cast_signed();
        if !known.contains(&hash) {
            done = base.telegram.set_commands(&menu).await;
        }
        if done.is_err() {
            break;
        }
        set.push(hash);
    }
    set.sort_unstable();
    if set != known
        && let Err(error) = base.store.write(Priority::Background, move |tx| menus::replace(tx, &set)).await
    {
        tracing::info!(%error, "the command menus could not be recorded, they will be set again");
    }
    done?;
    describe(base).await
}

/// Sets the description, unless the operator has written one. One with a former retention period is replaced.
async fn describe(base: &Base) -> Result<(), TelegramError> {
    let (shown, wanted) = (base.telegram.short_description().await?, wording::in_a_line(base.config.privacy.retention));
    let is_of_operator = !shown.is_empty() && !wording::is_in_a_line(&shown);
    if is_of_operator || shown == wanted { Ok(()) } else { base.telegram.set_short_description(&wanted).await }
}
