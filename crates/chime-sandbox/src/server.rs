//! HTTP server: `<url>/bot<token>/<method>`, GET or POST.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, State};
use axum::http::header::{CONTENT_TYPE, DATE, HeaderMap};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::any;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::connection::StoppableListener;
use crate::faults::Caller;
use crate::methods::{PollRequest, call, file_content, is_polling};
use crate::params::{ApiError, RequestParams};
use crate::queue::Polled;
use crate::shared::SharedState;

/// Starts to serve `world` on a free port of the loopback interface, until `stop`. Returns the address.
pub(super) async fn serve(world: Arc<SharedState>, stop: CancellationToken) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    let router = Router::new()
        .route("/{bot}/{method}", any(answer))
        .route("/file/{bot}/{*path}", any(file))
        .fallback(elsewhere)
        .with_state(world);
    let service = router.into_make_service_with_connect_info::<Caller>();
    let served = axum::serve(StoppableListener::new(listener, stop.clone()), service)
        .with_graceful_shutdown(stop.cancelled_owned());
    #[expect(clippy::disallowed_methods, reason = "owned by the sandbox's handle, whose drop cuts every line")]
    tokio::spawn(served.into_future());
    Ok(address)
}

async fn answer(
    State(world): State<Arc<SharedState>>,
    ConnectInfo(caller): ConnectInfo<Caller>,
    Path((bot, method)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if bot.strip_prefix("bot") != Some(world.token.as_str()) {
        return respond(Err(ApiError::unauthorized()));
    }
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let params = match RequestParams::decode(content_type, &body) {
        Ok(params) => params,
        Err(error) => {
            world.change(|state| state.note_unexpected(format!("unreadable parameters of {method}")));
            return respond(Err(error));
        }
    };
    let serving = async {
        if is_polling(&method) {
            return respond(poll(&world, &params).await);
        }
        let now = world.clock.now();
        respond(world.change(|state| call(state, &method, &params, now)).map(|result| result.to_string()))
    };
    let mut response = world.faults.around(&world.clock, &caller, &method, &params, serving).await;
    // The time of the sandbox's clock, which also dates the messages, and which tests may move.
    let date = world.clock.now().to_utc().format("%a, %d %b %Y %H:%M:%S GMT").to_string();
    if let Ok(date) = HeaderValue::from_str(&date) {
        response.headers_mut().insert(DATE, date);
    }
    response
}

/// Handles `getUpdates`: responds as soon as there are updates, or with none after the timeout.
async fn poll(world: &SharedState, params: &RequestParams) -> Result<String, ApiError> {
    let (request, turn) = world.change(|state| {
        let request = PollRequest::read(state, params)?;
        Ok((request, state.queue.begin_poll(request.offset)))
    })?;
    let something = world.wait_for(|state| match state.queue.take(turn, request.limit) {
        Polled::Updates(batch) => Some(Ok(batch)),
        Polled::Terminated => Some(Err(ApiError::conflict())),
        Polled::Nothing => None,
    });
    tokio::select! {
        biased;
        outcome = something => {
            // Wakes callers that wait until all updates are delivered.
            world.change(|_| ());
            outcome
        }
        () = world.clock.sleep(request.timeout) => Ok("[]".to_owned()),
    }
}

/// Responds with the content of a file at a path returned by `getFile`.
async fn file(State(world): State<Arc<SharedState>>, Path((bot, path)): Path<(String, String)>) -> Response {
    let is_ours = bot.strip_prefix("bot") == Some(world.token.as_str());
    match world.read(|state| file_content(state, &path)).filter(|_| is_ours) {
        Some(bytes) => Response::new(Body::from(bytes)),
        None => respond(Err(ApiError::not_found())),
    }
}

async fn elsewhere(State(world): State<Arc<SharedState>>) -> Response {
    world.change(|state| state.note_unexpected("a request to a path that is no method"));
    respond(Err(ApiError::not_found()))
}

/// Wraps a JSON `result` or an error in Telegram's envelope.
fn respond(result: Result<String, ApiError>) -> Response {
    match result {
        Ok(result) => json_response(200, format!(r#"{{"ok":true,"result":{result}}}"#)),
        Err(error) => {
            let mut envelope = json!({"ok": false, "error_code": error.code, "description": error.description});
            if let (Some(envelope), Some(parameters)) = (envelope.as_object_mut(), error.parameters()) {
                envelope.insert("parameters".to_owned(), parameters);
            }
            json_response(error.code, Value::to_string(&envelope))
        }
    }
}

pub(super) fn json_response(status: u16, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
