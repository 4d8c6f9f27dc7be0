//! Failures of HTTP calls to a server.

use std::time::Duration;

/// Largest accepted response body in bytes, so that a server cannot fill our memory.
pub const BODY_LIMIT: usize = 8 * 1024 * 1024;

/// Reason why an HTTP call returned no JSON body.
#[derive(Debug, thiserror::Error)]
pub enum ServerFailure {
    #[error("no answer")]
    Transport(#[source] reqwest::Error),
    #[error("HTTP {}", .0.status)]
    Refusal(ErrorResponse),
    /// A refusal without a known reason, which the shortest prompt gets too.
    #[error("HTTP {}", .0.status)]
    RefusesAll(ErrorResponse),
    #[error("not JSON")]
    NotJson,
    /// Status 200 with a web page. Web interfaces of model servers send one for each address that they do not know.
    #[error("a web page")]
    WebPage,
    #[error("over {BODY_LIMIT} bytes")]
    TooLarge,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorResponse {
    pub status: u16,
    pub retry_after: Option<Duration>,
    /// Error body in the server's own format. May quote the prompt: never log it.
    pub body: String,
}
