//! Protection from other sites: only requests that name our host are served, and browsers get strict rules.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::{Console, SharedConsole};

const HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Refuses requests with a foreign `Host` and sets the headers of all responses.
pub async fn guard(State(console): State<SharedConsole>, request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).and_then(host_of);
    let mut response = if host.is_some_and(|host| console.is_ours(&host)) {
        next.run(request).await
    } else {
        (StatusCode::MISDIRECTED_REQUEST, "This is not the address in CONSOLE_URL.\n").into_response()
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Returns the host of `host:port`, without brackets.
pub fn host_of(authority: &str) -> Option<String> {
    let authority: Authority = authority.parse().ok()?;
    Some(authority.host().trim_matches(['[', ']']).to_ascii_lowercase())
}

impl Console {
    /// Returns `true` for hosts that no other site can own: addresses, `localhost`, and the host of `CONSOLE_URL`. A
    /// name of another site may lead here by DNS rebinding.
    fn is_ours(&self, host: &str) -> bool {
        host == "localhost" || host.parse::<IpAddr>().is_ok() || self.host.as_deref() == Some(host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_without_port_and_brackets() {
        for (authority, host) in [
            ("127.0.0.1:9465", "127.0.0.1"),
            ("[::1]:9465", "::1"),
            ("Chime.Example.org", "chime.example.org"),
            ("localhost:1", "localhost"),
        ] {
            assert_eq!(host_of(authority).as_deref(), Some(host));
        }
        assert_eq!(host_of("a b"), None);
    }
}
