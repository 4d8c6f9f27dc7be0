//! Faults that tests inject into calls, and the record of all calls.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::http::header::{CONTENT_LENGTH, HeaderValue, RETRY_AFTER};
use axum::response::Response;
use axum::serve::IncomingStream;
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Sandbox;
use crate::connection::StoppableListener;
use crate::params::RequestParams;
use crate::server::json_response;
use chime_core::Timestamp;
use chime_runtime::clock::Clock;

/// Value of `times` for a fault that affects all later calls.
pub const FOREVER: usize = usize::MAX;

/// A fault of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The call is not executed; the response has this status and body.
    Status(u16, String),
    /// The call is not executed; the response is 429 with this `retry_after` in seconds.
    Throttle(u64),
    /// The call is not executed; the connection closes.
    DropBefore,
    /// The call is executed; the connection closes without a response.
    DropAfter,
    /// The call is not executed; the connection stays open until `Sandbox::release`, then closes.
    Hang,
    /// The call is executed; the response waits for `Sandbox::release`.
    HangAfter,
    /// The call is executed; the response is a 200 without JSON.
    Garbage,
    /// The call is executed; half of the response arrives, then the connection closes.
    Truncated,
    /// The call is executed after this time on the sandbox's clock.
    Delay(Duration),
}

/// A call that the server received, with its parameters and time. Calls with a fault are included.
#[derive(Debug, Clone, PartialEq)]
pub struct ReceivedCall {
    /// Method name as the client spells it.
    pub method: String,
    pub params: Value,
    pub at: Timestamp,
}

impl ReceivedCall {
    /// Returns `true` if this is a call of `method`, ignoring case.
    pub fn is(&self, method: &str) -> bool {
        self.method.eq_ignore_ascii_case(method)
    }
}

impl Sandbox {
    /// Injects `fault` into the next `times` calls of `method` (`*` is any). Faults of one method occur in the order of
    /// their injection.
    pub fn fault(&self, method: &str, fault: Fault, times: usize) {
        self.world.faults.lock().rules.push_back(FaultRule { method: method.to_owned(), fault, times });
    }

    /// Limits messages and edits to `most` per minute in each group, as Telegram does.
    pub fn limit_floods(&self, most: usize) {
        self.world.faults.lock().flood = Some(Flood { most, ..Flood::default() });
    }

    /// Returns the number of calls that ignored a 429: they arrived before its delay was over, but more than a second
    /// after it.
    pub fn ignored_waits(&self) -> usize {
        self.world.faults.lock().flood.as_ref().map_or(0, |flood| flood.ignored)
    }

    /// Removes faults that have not occurred yet. Does not release calls that already hang.
    pub fn clear_faults(&self) {
        self.world.faults.lock().rules.clear();
    }

    /// Releases all calls that hang because of [`Fault::Hang`] or [`Fault::HangAfter`].
    pub fn release(&self) {
        self.world.faults.released.send_replace(());
    }

    /// Returns all calls so far, oldest first.
    pub fn calls(&self) -> Vec<ReceivedCall> {
        self.world.faults.lock().calls.clone()
    }

    /// Waits until `method` has been called `times` times since the start, including calls with faults.
    pub async fn called(&self, method: &str, times: usize) {
        let faults = &self.world.faults;
        let mut recorded = faults.recorded.subscribe();
        while faults.lock().calls.iter().filter(|call| call.is(method)).count() < times {
            recorded.changed().await.ok();
        }
    }
}

/// The connection of a call.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    cut: CancellationToken,
}

impl Connected<IncomingStream<'_, StoppableListener>> for Caller {
    fn connect_info(stream: IncomingStream<'_, StoppableListener>) -> Self {
        Self { cut: stream.io().cut.clone() }
    }
}

impl Caller {
    /// Closes the connection before any response is sent.
    fn hang_up(&self) -> Response {
        self.cut.cancel();
        Response::new(Body::empty())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Faults {
    book: Mutex<FaultState>,
    released: watch::Sender<()>,
    recorded: watch::Sender<()>,
}

/// Flood limits for groups.
#[derive(Debug, Default)]
struct Flood {
    most: usize,
    /// State by chat id.
    taken: HashMap<i64, ChatFlood>,
    ignored: usize,
}

/// Recent messages of one chat and its last 429.
#[derive(Debug, Default)]
struct ChatFlood {
    taken: VecDeque<Timestamp>,
    /// Time of the last 429, and the end of its delay.
    announced: Option<(Timestamp, Timestamp)>,
}

impl Flood {
    /// Returns the seconds that the caller has to wait, or `None` if the call is allowed.
    fn wait(&mut self, call: &ReceivedCall) -> Option<u64> {
        const MINUTE: Duration = Duration::from_mins(1);
        const ON_ITS_WAY: Duration = Duration::from_secs(1);
        let chat = call.params.get("chat_id").and_then(Value::as_i64).filter(|chat| *chat < 0)?;
        if !call.is("sendMessage") && !call.is("editMessageText") {
            return None;
        }
        let lane = self.taken.entry(chat).or_default();
        // A call that was sent before the 429 arrived does not count as ignoring it.
        let knew = |(at, until): (Timestamp, Timestamp)| call.at.since(at) > ON_ITS_WAY && call.at < until;
        self.ignored += usize::from(lane.announced.is_some_and(knew));
        while lane.taken.front().is_some_and(|at| call.at.since(*at) >= MINUTE) {
            lane.taken.pop_front();
        }
        if lane.taken.len() < self.most {
            lane.taken.push_back(call.at);
            return None;
        }
        let oldest = lane.taken.front().copied().unwrap_or(call.at);
        let wait = MINUTE.saturating_sub(call.at.since(oldest)).as_secs() + 1;
        lane.announced = Some((call.at, call.at.plus(Duration::from_secs(wait))));
        Some(wait)
    }
}

#[derive(Debug, Default)]
struct FaultState {
    flood: Option<Flood>,
    rules: VecDeque<FaultRule>,
    calls: Vec<ReceivedCall>,
}

#[derive(Debug)]
struct FaultRule {
    method: String,
    fault: Fault,
    times: usize,
}

impl Faults {
    /// Awaits `serving`, which executes the call, unless a fault prevents it. Returns its response or the fault's.
    pub(crate) async fn around(
        &self,
        clock: &Clock,
        caller: &Caller,
        method: &str,
        params: &RequestParams,
        serving: impl Future<Output = Response>,
    ) -> Response {
        let mut released = self.released.subscribe();
        let fault = self.meet(ReceivedCall { method: method.to_owned(), params: params.to_json(), at: clock.now() });
        match fault {
            None => serving.await,
            Some(Fault::Status(code, body)) => json_response(code, body),
            Some(Fault::Throttle(seconds)) => throttled(seconds),
            Some(Fault::DropBefore) => caller.hang_up(),
            Some(Fault::DropAfter) => {
                serving.await;
                caller.hang_up()
            }
            Some(Fault::Hang) => {
                released.changed().await.ok();
                caller.hang_up()
            }
            Some(Fault::HangAfter) => {
                let answer = serving.await;
                released.changed().await.ok();
                answer
            }
            Some(Fault::Garbage) => {
                serving.await;
                json_response(200, "\u{0}\u{fffd}{\"ok\":tru")
            }
            Some(Fault::Truncated) => truncated(serving.await).await,
            Some(Fault::Delay(span)) => {
                clock.sleep(span).await;
                serving.await
            }
        }
    }

    /// Records the call and returns the fault to inject, if any.
    fn meet(&self, call: ReceivedCall) -> Option<Fault> {
        let mut book = self.lock();
        let wait = book.flood.as_mut().and_then(|flood| flood.wait(&call));
        if let Some(seconds) = wait {
            book.calls.push(call);
            self.recorded.send_replace(());
            return Some(Fault::Throttle(seconds));
        }
        let hit = book.rules.iter().position(|rule| rule.method == "*" || call.is(&rule.method));
        book.calls.push(call);
        self.recorded.send_replace(());
        let hit = hit?;
        let rule = book.rules.get_mut(hit)?;
        let fault = rule.fault.clone();
        rule.times -= 1;
        if rule.times == 0 {
            book.rules.remove(hit);
        }
        Some(fault)
    }

    fn lock(&self) -> MutexGuard<'_, FaultState> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn throttled(seconds: u64) -> Response {
    let body = json!({
        "ok": false,
        "error_code": 429,
        "description": format!("Too Many Requests: retry after {seconds}"),
        "parameters": {"retry_after": seconds},
    });
    let mut response = json_response(429, body.to_string());
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Builds a response with the first half of the body of `whole` and the length of all of it.
async fn truncated(whole: Response) -> Response {
    let (mut head, body) = whole.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let half = bytes.slice(..bytes.len() / 2);
    head.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    let end = stream::once(async {
        // Lets the server send the first half before the connection breaks.
        tokio::task::yield_now().await;
        Err::<Bytes, io::Error>(io::ErrorKind::ConnectionReset.into())
    });
    let broken = stream::iter([Ok(half)]).chain(end);
    Response::from_parts(head, Body::from_stream(broken))
}
