//! Builds the owners' page.

use std::sync::Arc;

use crate::app::components::AppComponents;
use crate::app::context_params;
use crate::telemetry::recent_warnings;
use chime_bot::commands::handlers::ConsoleLinks;
use chime_console::{ConsoleParts, DaemonState};
use chime_memory::recall::Recaller;

impl AppComponents {
    /// Returns the maker of links to the page; `None` if the page is switched off.
    pub(super) fn console_links(&self) -> Option<ConsoleLinks> {
        let config = &self.base.config.console;
        let url = config.url.clone().or_else(|| Some(format!("http://{}", config.address?)));
        Some(ConsoleLinks { url: url.filter(|_| config.address.is_some())?, tokens: Arc::clone(&self.console_links) })
    }

    /// Returns the parts of the page; `None` if it is switched off.
    pub(super) fn console(&self) -> Option<ConsoleParts> {
        let links = self.console_links()?;
        let monitored = self.monitored.clone();
        Some(ConsoleParts {
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
        })
    }
}
