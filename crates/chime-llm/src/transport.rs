//! HTTP transport to an OpenAI-compatible server.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::multipart::Form;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::failure::{BODY_LIMIT, ErrorResponse, ServerFailure};
use crate::stream::{is_stream, joined, parse};
use crate::{LlmError, LlmOptions};
use chime_core::is_loopback;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Read timeout of a connection, as a multiple of the operator's timeout. It works even if the system clock is set
/// back.
const SILENCES: u32 = 20;

/// HTTP client of one server.
#[derive(Debug)]
pub struct Server {
    http: reqwest::Client,
    endpoint: Endpoint,
    host: String,
}

impl Server {
    /// Builds the client without opening a connection.
    ///
    /// # Errors
    /// [`LlmError::NotConfigured`] for an invalid address or a key that cannot be sent.
    pub fn new(options: &LlmOptions) -> Result<Self, LlmError> {
        let url = Url::parse(&options.base_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let is_https = url.as_ref().is_some_and(|url| url.scheme() == "https");
        let host = url.as_ref().and_then(Url::host_str).map(str::to_owned);
        let host = host.ok_or(LlmError::NotConfigured("OPENAI_BASE_URL is not an http or https address"))?;
        let endpoint = Endpoint::new(&options.base_url, options.api_key.clone())?;
        let http = http_client(&host, is_https, options.timeout.saturating_mul(SILENCES))?;
        Ok(Self { http, endpoint, host })
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    /// Sends one chat completion request. No retries.
    pub async fn post(&self, request: &Value) -> Result<Value, ServerFailure> {
        let body = self.send("/chat/completions", request).await?;
        // Some servers send a stream although none was requested.
        if is_stream(&body) { joined(&body) } else { parse(&body) }.ok_or(ServerFailure::NotJson)
    }

    /// Sends one embeddings request. No retries.
    pub async fn embeddings(&self, request: &Value) -> Result<Value, ServerFailure> {
        let body = self.send("/embeddings", request).await?;
        serde_json::from_slice(&body).map_err(|_| ServerFailure::NotJson)
    }

    /// Sends one recording for transcription. No retries.
    pub async fn transcription(&self, form: Form) -> Result<Value, ServerFailure> {
        let sending = self.http.post(self.endpoint.url("/audio/transcriptions"));
        let body = read_body(&mut self.not_refused(sending.multipart(form)).await?).await?;
        serde_json::from_slice(&body).map_err(|_| ServerFailure::NotJson)
    }

    /// Requests a stream and returns whether the server sends one. Reads it to the end, so that the server sees no
    /// broken connection.
    pub async fn streams(&self, request: &Value) -> Result<bool, ServerFailure> {
        Ok(is_stream(&self.send("/chat/completions", request).await?))
    }

    /// Requests a stream and returns its body, which is still being received.
    pub async fn open(&self, request: &Value) -> Result<Incoming, ServerFailure> {
        let response = self.accepted("/chat/completions", request).await?;
        Ok(Incoming { response, bytes: 0 })
    }

    /// Returns whether the server is the operator's own: on this machine or in a private network.
    pub fn is_own(&self) -> bool {
        is_own(&self.host)
    }

    /// Fetches a path relative to the root of the server, above `/v1`.
    pub async fn look_up(&self, path: &str, body: Option<&Value>) -> Result<Value, ServerFailure> {
        let root = self.endpoint.base_url.strip_suffix("/v1").unwrap_or(&self.endpoint.base_url);
        let url = format!("{root}{path}");
        let sending = match body {
            Some(body) => self.http.post(url).json(body),
            None => self.http.get(url),
        };
        let body = read_body(&mut self.not_refused(sending).await?).await?;
        serde_json::from_slice(&body).map_err(|_| ServerFailure::NotJson)
    }

    pub async fn models(&self) -> Result<Value, ServerFailure> {
        let body = read_body(&mut self.not_refused(self.http.get(self.endpoint.url("/models"))).await?).await?;
        serde_json::from_slice(&body).map_err(|_| ServerFailure::NotJson)
    }

    /// Sends a request and returns the body of a success.
    async fn send(&self, path: &str, request: &Value) -> Result<Vec<u8>, ServerFailure> {
        read_body(&mut self.accepted(path, request).await?).await
    }

    async fn accepted(&self, path: &str, request: &Value) -> Result<reqwest::Response, ServerFailure> {
        self.not_refused(self.http.post(self.endpoint.url(path)).json(request)).await
    }

    async fn not_refused(&self, sending: reqwest::RequestBuilder) -> Result<reqwest::Response, ServerFailure> {
        let mut response = sending.headers(self.endpoint.headers.clone()).send().await.map_err(transport)?;
        if response.status().is_success() { Ok(response) } else { Err(refusal(&mut response).await) }
    }
}

/// Returns whether a host is on this machine, in a private network, or a name without dots as containers have.
fn is_own(host: &str) -> bool {
    let ip = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    is_loopback(host)
        || match ip.parse::<IpAddr>() {
            Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
            Err(_) => !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal"),
        }
}

/// The body of a success, read in chunks.
#[derive(Debug)]
pub struct Incoming {
    response: reqwest::Response,
    bytes: usize,
}

impl Incoming {
    /// Returns the next chunk, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<impl AsRef<[u8]>>, ServerFailure> {
        let chunk = self.response.chunk().await.map_err(transport)?;
        self.bytes += chunk.as_ref().map_or(0, |chunk| chunk.len());
        if self.bytes > BODY_LIMIT { Err(ServerFailure::TooLarge) } else { Ok(chunk) }
    }
}

fn http_client(host: &str, is_https: bool, silence: Duration) -> Result<reqwest::Client, LlmError> {
    // reqwest panics without a process-wide provider. A second installation is refused and does no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("chime/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // Our own time limits depend on the clock. This one works even if the system clock is set back.
        .read_timeout(silence)
        .tcp_nodelay(true)
        // Following a redirect would turn the POST into a GET and hide a wrong address.
        .redirect(reqwest::redirect::Policy::none());
    // A model on this machine is never behind a proxy.
    let builder = if is_loopback(host) { builder.no_proxy() } else { builder };
    // Without TLS, the certificates of the machine need not be read.
    let builder = if is_loopback(host) && !is_https { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|_| LlmError::NotConfigured("no HTTPS client: are CA certificates installed?"))
}

/// Address and credentials.
#[derive(Debug)]
struct Endpoint {
    base_url: String,
    headers: HeaderMap,
}

impl Endpoint {
    fn new(base_url: &str, api_key: Option<SecretString>) -> Result<Self, LlmError> {
        let mut headers = HeaderMap::new();
        if let Some(api_key) = api_key.filter(|key| !key.expose_secret().is_empty()) {
            let mut bearer = HeaderValue::try_from(format!("Bearer {}", api_key.expose_secret()))
                .map_err(|_| LlmError::NotConfigured("OPENAI_API_KEY has characters that no key has"))?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        Ok(Self { base_url: base_url.trim_end_matches('/').to_owned(), headers })
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }
}

async fn refusal(response: &mut reqwest::Response) -> ServerFailure {
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    // An incomplete body counts as empty: the status is enough.
    let body = read_body(response).await.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    ServerFailure::Refusal(ErrorResponse { status, retry_after, body })
}

async fn read_body(response: &mut reqwest::Response) -> Result<Vec<u8>, ServerFailure> {
    if response.content_length().is_some_and(|announced| announced > BODY_LIMIT as u64) {
        return Err(ServerFailure::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(transport)? {
        if body.len() + chunk.len() > BODY_LIMIT {
            return Err(ServerFailure::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Parses `Retry-After` in seconds or as a date, or OpenAI's `retry-after-ms` in milliseconds.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str| text(name)?.parse::<f64>().ok();
    let date = |name: &str| chrono::DateTime::parse_from_rfc2822(text(name)?).ok();
    if let Some(millis) = number("retry-after-ms") {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    if let Some(secs) = number(RETRY_AFTER.as_str()) {
        return Duration::try_from_secs_f64(secs).ok();
    }
    // Compared with the `Date` of the response, because the server's clock may differ from ours.
    let span = date(RETRY_AFTER.as_str())?.signed_duration_since(date(DATE.as_str())?);
    Some(span.to_std().unwrap_or_default())
}

/// Removes the address from an error before it is logged: some addresses contain a key.
fn transport(error: reqwest::Error) -> ServerFailure {
    ServerFailure::Transport(error.without_url())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(headers: &[(&'static str, &str)], expected_ms: Option<u64>) {
        let headers = headers.iter().map(|(name, value)| {
            (reqwest::header::HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"))
        });
        assert_eq!(retry_after(&headers.collect()), expected_ms.map(Duration::from_millis));
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        check(&[], None);
        check(&[("retry-after", "20")], Some(20_000));
        check(&[("retry-after", "1.5")], Some(1_500));
        check(&[("retry-after", "1"), ("retry-after-ms", "250")], Some(250));
        check(
            &[("date", "Fri, 20 Nov 2026 10:00:00 GMT"), ("retry-after", "Fri, 20 Nov 2026 10:00:07 GMT")],
            Some(7_000),
        );
        check(&[("date", "Fri, 20 Nov 2026 10:00:00 GMT"), ("retry-after", "Fri, 20 Nov 2026 09:00:00 GMT")], Some(0));
    }

    #[test]
    fn own_servers_are_told_from_hosted_ones() {
        for host in ["127.0.0.1", "localhost", "192.168.1.7", "10.0.0.2", "[fd00::1]", "ollama", "gpu.local"] {
            assert!(is_own(host), "{host}");
        }
        for host in ["api.openai.com", "8.8.8.8", "[2001:db8::1]", "models.example"] {
            assert!(!is_own(host), "{host}");
        }
    }

    #[test]
    fn a_nonsensical_retry_after_is_none() {
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "-3")], None);
        check(&[("retry-after", "NaN")], None);
        check(&[("retry-after", "1e300")], None);
    }
}
