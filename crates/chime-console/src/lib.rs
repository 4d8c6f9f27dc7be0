//! The owners' page: what Chime does, remembers and costs, as HTML made on the server. No script, no request to another
//! host. The same chats are read as JSON by programs with a token ([`reading`], which `chime mcp` shares).
//!
//! Start at [`router`]. `login` decides who sees it, `guard` protects it from other sites; each view is a file
//! that reads what it shows in one call of the store. Views never show messages of members who opted out.

mod api;
mod chart;
mod guard;
mod login;
mod page;
pub mod reading;
pub mod rebuild;
mod threads;
mod views;

use std::sync::Arc;
use std::time::Duration;

use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::serve::Listener;
use axum::{Router, http::header};
use futures::future::BoxFuture;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use chime_access::console_tokens::{ConsoleTokens, SESSION_LIFETIME, hashed};
use chime_core::Timestamp;
use chime_jobs::Base;
use chime_memory::context::FeatureCache;
use chime_memory::recall::Recaller;
use chime_relevance::context::Params;

use crate::reading::ChatReader;
use crate::views::{answer, chat, memory, overview, privacy, settings};

/// Warning or error in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedWarning {
    pub at: Timestamp,
    pub level: &'static str,
    pub text: String,
}

/// State of the daemon that is not in the database.
#[derive(Debug, Clone)]
pub struct DaemonState {
    /// JSON object that `/healthz` returns.
    pub health: Value,
    /// The last warnings and errors in the log, newest first.
    pub warnings: Vec<LoggedWarning>,
}

/// Reads the state of the daemon now.
pub type DaemonStateReader = Arc<dyn Fn() -> BoxFuture<'static, DaemonState> + Send + Sync>;

/// Parts of the daemon that the page shows and uses.
#[derive(Clone)]
pub struct ConsoleParts {
    pub base: Base,
    pub features: Arc<FeatureCache>,
    pub recaller: Arc<Recaller>,
    pub params: Params,
    /// Address by which browsers reach the page.
    pub url: String,
    /// Tokens of the links that `/console` sends.
    pub links: Arc<ConsoleTokens>,
    pub state: DaemonStateReader,
}

/// Parts, open sessions and what is derived from the settings.
struct Console {
    parts: ConsoleParts,
    sessions: ConsoleTokens,
    /// Host name in the page's address.
    host: Option<String>,
    /// `true` if browsers reach the page by TLS.
    has_tls: bool,
    token_hash: Option<String>,
    reader: ChatReader,
    /// One request at a time: reading a page may take long, and answers need the other read connection.
    places: Semaphore,
}

impl Console {
    fn new(parts: ConsoleParts) -> Self {
        let authority = parts.url.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
        Self {
            sessions: ConsoleTokens::new(SESSION_LIFETIME),
            host: authority.and_then(guard::host_of),
            has_tls: parts.url.starts_with("https://"),
            token_hash: parts.base.config.console.token.as_ref().map(|token| hashed(token.expose_secret())),
            reader: ChatReader {
                store: parts.base.store.clone(),
                clock: parts.base.clock.clone(),
                chats: None,
                zone: parts.base.zone(),
                recaller: Arc::clone(&parts.recaller),
            },
            places: Semaphore::new(1),
            parts,
        }
    }
}

type SharedConsole = Arc<Console>;

/// Limits on the connections of a server, so that idle ones do not use up the descriptors of the process.
#[derive(Debug, Clone, Copy)]
struct ConnectionLimits {
    most: usize,
    /// Time for the head of a request, also of the next one of an open connection.
    head: Duration,
    lifetime: Duration,
}

const LIMITS: ConnectionLimits =
    ConnectionLimits { most: 64, head: Duration::from_secs(15), lifetime: Duration::from_secs(120) };

/// Serves `router` until `stop`, without waiting for open connections.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    serve_within(LIMITS, listener, router, stop).await;
}

async fn serve_within(limits: ConnectionLimits, mut listener: TcpListener, router: Router, stop: CancellationToken) {
    let (mut http, mut open) = (http1::Builder::new(), JoinSet::new());
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            Some(_) = open.join_next() => {}
            (stream, _) = Listener::accept(&mut listener), if open.len() < limits.most => {
                let connection = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router.clone()));
                open.spawn(tokio::time::timeout(limits.lifetime, connection));
            }
        }
    }
}

/// Returns the page's requests and what answers them.
pub fn router(parts: ConsoleParts) -> Router {
    let console = &Arc::new(Console::new(parts));
    let for_owners = Router::new()
        .route("/", get(overview::show))
        .route("/jobs/retry", post(overview::retry))
        .route("/chats/{chat}", get(chat::show))
        .route("/chats/{chat}/memory", get(memory::show))
        .route("/chats/{chat}/rebuild", post(memory::rebuild))
        .route("/answers/{answer}", get(answer::show))
        .route("/privacy", get(privacy::show))
        .route("/settings", get(settings::show))
        .route("/logout", post(login::log_out))
        .fallback(async || page::PageError::NotFound)
        .layer(from_fn_with_state(Arc::clone(console), login::require_owner));
    let file = |kind: &'static str, content: &'static str| get(async move || ([(header::CONTENT_TYPE, kind)], content));
    Router::new()
        .route("/login", get(login::confirm).post(login::log_in))
        .route("/style.css", file("text/css; charset=utf-8", page::style()))
        .route("/icon.svg", file("image/svg+xml", page::ICON))
        .route("/api/{tool}", get(api::read))
        .merge(for_owners)
        .layer(from_fn_with_state(Arc::clone(console), guard::guard))
        .with_state(Arc::clone(console))
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn idle_connections_are_closed_and_make_room() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("an address");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().route("/", get(async || "hello"));
        let short = Duration::from_millis(50);
        let limits = ConnectionLimits { most: 2, head: short, lifetime: short * 100 };
        let use_it = async {
            let mut idle = Vec::new();
            for started in ["", "GET / HT"] {
                let mut stream = TcpStream::connect(address).await.expect("a connection");
                stream.write_all(started.as_bytes()).await.expect("a start");
                idle.push(stream);
            }
            let mut third = TcpStream::connect(address).await.expect("a connection");
            third.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("a request");
            let mut response = Vec::new();
            third.read_to_end(&mut response).await.expect("a response");
            assert!(response.ends_with(b"hello"));
            for mut stream in idle {
                let mut response = Vec::new();
                stream.read_to_end(&mut response).await.expect("an end");
            }
        };
        tokio::select! {
            () = serve_within(limits, listener, router, CancellationToken::new()) => {}
            () = use_it => {}
        }
    }
}
