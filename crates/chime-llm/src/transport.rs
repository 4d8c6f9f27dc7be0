//! HTTP transport to an OpenAI-compatible server.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::multipart::Form;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::failure::{BODY_LIMIT, ErrorResponse, ServerFailure};
use crate::stream::{is_stream, parse};
use crate::{LlmError, LlmOptions};
use chime_core::is_loopback;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Read timeout of a connection, as a multiple of the operator's timeout. It does not depend on the system clock, which
/// may be set back.
const SILENCES: u32 = 20;

#[derive(Debug)]
pub struct Server {
    http: reqwest::Client,
    base_url: String,
    headers: HeaderMap,
    host: String,
    /// Host and port.
    address: String,
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
        let port = url.as_ref().and_then(Url::port_or_known_default).unwrap_or_default();
        let http = http_client(&host, is_https, options.timeout.saturating_mul(SILENCES))?;
        let (address, headers) = (format!("{host}:{port}"), headers(options.api_key.as_ref())?);
        let base_url = options.base_url.trim_end_matches('/').to_owned();
        Ok(Self { http, base_url, headers, host, address })
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns `true` if requests to both go to the same address with the same key.
    pub fn has_account_of(&self, other: &Self) -> bool {
        (&self.base_url, &self.headers) == (&other.base_url, &other.headers)
    }

    /// Sends one request to a path of the API. No retries.
    pub async fn post(&self, path: &str, request: &Value) -> Result<Value, ServerFailure> {
        self.json(self.http.post(self.url(path)).json(request)).await
    }

    /// Sends one recording for transcription. No retries.
    pub async fn transcription(&self, form: Form) -> Result<Value, ServerFailure> {
        self.json(self.http.post(self.url("/audio/transcriptions")).multipart(form)).await
    }

    /// Requests a stream and returns whether the server sends one. Reads it to the end, so that the server sees no
    /// broken connection.
    pub async fn streams(&self, request: &Value) -> Result<bool, ServerFailure> {
        Ok(is_stream(&self.open(request).await?.whole().await?))
    }

    /// Requests a completion and returns its body, which is still being received.
    pub async fn open(&self, request: &Value) -> Result<Incoming, ServerFailure> {
        self.accepted(self.http.post(self.url("/chat/completions")).json(request)).await
    }

    /// Returns `true` if the server is the operator's own: on this machine or in a private network.
    pub fn is_own(&self) -> bool {
        is_own(&self.host)
    }

    /// Fetches a path relative to the root of the server, above `/v1`.
    pub async fn look_up(&self, path: &str, body: Option<&Value>) -> Result<Value, ServerFailure> {
        let url = format!("{}{path}", self.base_url.strip_suffix("/v1").unwrap_or(&self.base_url));
        self.json(match body {
            Some(body) => self.http.post(url).json(body),
            None => self.http.get(url),
        })
        .await
    }

    pub async fn models(&self) -> Result<Value, ServerFailure> {
        self.json(self.http.get(self.url("/models"))).await
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    async fn json(&self, request: reqwest::RequestBuilder) -> Result<Value, ServerFailure> {
        parse(&self.accepted(request).await?.whole().await?).ok_or(ServerFailure::NotJson)
    }

    async fn accepted(&self, request: reqwest::RequestBuilder) -> Result<Incoming, ServerFailure> {
        let response = request.headers(self.headers.clone()).send().await.map_err(transport)?;
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        let mut incoming = Incoming { response, bytes: 0 };
        if status.is_success() {
            return Ok(incoming);
        }
        // An incomplete body counts as empty: the status is enough.
        let body = incoming.whole().await.unwrap_or_default();
        let body = String::from_utf8_lossy(&body).into_owned();
        Err(ServerFailure::Refusal(ErrorResponse { status: status.as_u16(), retry_after, body }))
    }
}

/// Returns `true` if a host is on this machine, in a private network, or a name without dots as containers have.
fn is_own(host: &str) -> bool {
    let ip = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    is_loopback(host)
        || match ip.parse::<IpAddr>() {
            Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
            Err(_) => !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal"),
        }
}

/// The body of a response, read in chunks.
#[derive(Debug)]
pub struct Incoming {
    response: reqwest::Response,
    bytes: usize,
}

impl Incoming {
    /// Returns the next chunk, or `None` at the end. Fails at the start of a web page.
    pub async fn next(&mut self) -> Result<Option<impl AsRef<[u8]>>, ServerFailure> {
        let chunk = self.response.chunk().await.map_err(transport)?;
        // Not by the content type: some servers send answers as HTML too.
        let starts_page = |chunk: &[u8]| chunk.trim_ascii_start().starts_with(b"<");
        if self.bytes == 0 && self.response.status().is_success() && chunk.as_deref().is_some_and(starts_page) {
            return Err(ServerFailure::WebPage);
        }
        self.bytes += chunk.as_ref().map_or(0, |chunk| chunk.len());
        if self.bytes > BODY_LIMIT { Err(ServerFailure::TooLarge) } else { Ok(chunk) }
    }

    async fn whole(&mut self) -> Result<Vec<u8>, ServerFailure> {
        let mut body = Vec::new();
        while let Some(chunk) = self.next().await? {
            body.extend_from_slice(chunk.as_ref());
        }
        Ok(body)
    }
}

fn http_client(host: &str, is_https: bool, silence: Duration) -> Result<reqwest::Client, LlmError> {
    // reqwest panics without a process-wide provider. A second installation is refused and does no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("chime/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // Our own time limits depend on the system clock. This one works even if that clock is set back.
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

fn headers(api_key: Option<&SecretString>) -> Result<HeaderMap, LlmError> {
    // Without the header, some gateways compress what they send.
    let mut headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))]);
    if let Some(key) = api_key.map(ExposeSecret::expose_secret).filter(|key| !key.is_empty()) {
        let mut bearer = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_| LlmError::NotConfigured("OPENAI_API_KEY has characters that no key has"))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(headers)
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
