//! `chime run`: the daemon.

use std::io::Write;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::cli::database;
use crate::cli::exit::{CommandResult, Exit};
use crate::telemetry;
use chime_core::config::Config;
use chime_runtime::clock::Clock;

pub async fn run() -> CommandResult {
    let environment = database::environment()?;
    let config = Config::load(&environment.settings())?;
    telemetry::start(&config.log);
    for warning in config.warnings.iter().chain(&environment.warnings()) {
        tracing::warn!("{warning}; {}", warning.remedy);
    }
    let stop = CancellationToken::new();
    stop_on_signals(&stop)?;
    let app = App::start(config, Clock::system(), stop).await?;
    if let Some(code) = &app.claim {
        // The claim code is printed but never logged, since anybody who reads it can become the owner.
        let _ = writeln!(
            std::io::stdout(),
            "Nobody owns this bot yet. To own it, send it in private:\n\n  /claim {}\n",
            code.shown()
        );
    }
    app.finished().await?;
    tracing::info!("stopped");
    Ok(Exit::Done)
}

/// Cancels `stop` when the process gets SIGTERM or ctrl-c.
#[expect(clippy::disallowed_methods, reason = "waits for a signal before there are any tasks to own it")]
fn stop_on_signals(stop: &CancellationToken) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        stop.cancel();
    });
    Ok(())
}
