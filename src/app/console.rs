//! Builds the owners' page.

use std::sync::Arc;

use crate::app::components::AppComponents;
use crate::app::{AppError, context_params};
use crate::telemetry::recent_warnings;
use chime_bot::commands::handlers::ConsoleLinks;
use chime_console::{ConsoleParts, ConsoleServer, DaemonState};
use chime_memory::recall::Recaller;

impl AppComponents {
    /// Returns the maker of links to the page; `None` if the page is switched off.
    pub(super) fn console_links(&self) -> Option<ConsoleLinks> {
        let config = &self.base.config.console;
        let url = config.url.clone().or_else(|| Some(format!("http://{}", config.address?)));
        Some(ConsoleLinks { url: url.filter(|_| config.address.is_some())?, tokens: Arc::clone(&self.console_links) })
    }

    /// Opens the port of the page. Returns `None` if it is switched off.
    pub(super) async fn console(&self) -> Result<Option<ConsoleServer>, AppError> {
        let (Some(address), Some(links)) = (self.base.config.console.address, self.console_links()) else {
            return Ok(None);
        };
        let monitored = self.monitored.clone();
        let parts = ConsoleParts {
            base: self.base.clone(),
            features: Arc::clone(&self.features),
            recaller: Arc::new(Recaller::new(self.embedder.clone())),
            params: context_params(&self.base.config.context),
            url: links.url,
            links: links.tokens,
            state: Arc::new(move || {
                let monitored = monitored.clone();
                Box::pin(async move { DaemonState { health: monitored.report().await, warnings: recent_warnings() } })
            }),
        };
        let server = ConsoleServer::bind(address, parts).await;
        server.map(Some).map_err(|source| AppError::Address { key: "CONSOLE_ADDR", address, source })
    }
}
