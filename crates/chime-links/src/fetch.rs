//! Fetches a page within limits on time, size, redirects and addresses.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Response, redirect};
use tokio::sync::Semaphore;
use url::{Host, Url};

use crate::page::{PageText, UnreadablePage, page_text, refresh};
use crate::policy::AddressPolicy;

/// Maximum number of redirects that are followed, by the server or by the page.
const REDIRECTS: usize = 5;
/// Maximum size of a page in bytes, as sent and as decompressed.
pub(crate) const MOST_BYTES: usize = 5 * 1024 * 1024;
/// Maximum size of a PDF in bytes, as of one that a member posts.
const MOST_PDF_BYTES: usize = 20 * 1024 * 1024;
/// First bytes of compressed data, and of a PDF.
const GZIP: &[u8] = b"\x1F\x8B";
const PDF: &[u8] = b"%PDF-";
/// Maximum number of pages parsed at the same time. A slow page counts until its thread ends, even if the caller has
/// given up.
const READ_AT_ONCE: usize = 2;
/// Stack of the thread that reads HTML, in bytes: the reader descends into nested elements.
const STACK: usize = 8 * 1024 * 1024;

/// Content of a web address that has text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebContent {
    Page(PageText),
    /// The bytes of a PDF, which this crate does not read.
    Pdf(Vec<u8>),
}

/// Client for web pages. It keeps no connections and no cookies.
#[derive(Clone)]
pub struct Fetcher {
    policy: Arc<AddressPolicy>,
    readers: Arc<Semaphore>,
}

impl Fetcher {
    pub fn new(policy: AddressPolicy) -> Self {
        Self { policy: Arc::new(policy), readers: Arc::new(Semaphore::new(READ_AT_ONCE)) }
    }

    /// Fetches the page at `address`, as a member wrote it, and returns its text, or the PDF there. The caller limits the
    /// time.
    ///
    /// # Errors
    /// All but [`UnreadablePage::TooSlow`].
    pub async fn read(&self, address: &str) -> Result<WebContent, UnreadablePage> {
        let (media_type, body, at) = self.fetch(address).await?;
        if body.starts_with(PDF) {
            return Ok(WebContent::Pdf(body));
        }
        let permit = Arc::clone(&self.readers).acquire_owned().await.map_err(|_| UnreadablePage::NoText)?;
        let (done, read) = tokio::sync::oneshot::channel();
        let reading = std::thread::Builder::new().name("page".to_owned()).stack_size(STACK).spawn(move || {
            let _permit = permit;
            // The caller may have given up.
            let page = page_text(&body, media_type.as_deref(), at.as_str(), &|| !done.is_closed());
            let _ = done.send(page);
        });
        reading.map_err(|_| UnreadablePage::NoText)?;
        // A reader that panics closes the channel.
        read.await.unwrap_or(Err(UnreadablePage::NoText)).map(WebContent::Page)
    }

    async fn fetch(&self, address: &str) -> Result<(Option<String>, Vec<u8>, Url), UnreadablePage> {
        let client = self.client().map_err(|_| UnreadablePage::Unreachable)?;
        let mut at = parsed(address).ok_or(UnreadablePage::Refused)?;
        for redirects in 0..=REDIRECTS {
            self.check(&at)?;
            let response = client.get(at.clone()).send().await.map_err(|error| reason(&error))?;
            let status = response.status();
            let next = response.headers().get(LOCATION).filter(|_| status.is_redirection());
            let Some(next) = next else {
                if !status.is_success() {
                    return Err(UnreadablePage::NoPage);
                }
                let header = |name| response.headers().get(name).and_then(|it: &HeaderValue| it.to_str().ok());
                let media_type = header(CONTENT_TYPE).map(str::to_owned);
                let encoding = header(CONTENT_ENCODING).unwrap_or_default().trim().to_lowercase();
                let is_pdf = media_type.as_ref().is_some_and(|it| it.trim_start().starts_with("application/pdf"));
                let most = if is_pdf { MOST_PDF_BYTES } else { MOST_BYTES };
                let body = decompressed(body_of(response, most).await?, &encoding, most)?;
                let next = refresh(&body).and_then(|next| at.join(&next).ok());
                match next.filter(|next| *next != at && redirects < REDIRECTS) {
                    Some(next) => at = next,
                    None => return Ok((media_type, body, at)),
                }
                continue;
            };
            // Some servers send other characters than ASCII as they are.
            let next = String::from_utf8(next.as_bytes().to_vec())
                .unwrap_or_else(|_| next.as_bytes().iter().map(|byte| char::from(*byte)).collect());
            at = at.join(&next).map_err(|_| UnreadablePage::NoPage)?;
        }
        Err(UnreadablePage::NoPage)
    }

    fn client(&self) -> reqwest::Result<Client> {
        let headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("text/html, application/xhtml+xml, text/*;q=0.9, */*;q=0.1")),
            (ACCEPT_ENCODING, HeaderValue::from_static("gzip")),
        ]);
        Client::builder()
            .user_agent(concat!("chime/", env!("CARGO_PKG_VERSION"), " (reads a link that a chat member asked about)"))
            .default_headers(headers)
            // A proxy would resolve names itself, and reach servers that we refuse.
            .no_proxy()
            .referer(false)
            .redirect(redirect::Policy::none())
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(CheckedNames(Arc::clone(&self.policy))))
            .build()
    }

    /// Checks what can be known before names are resolved. Numbers in any notation are addresses here: the URL parser
    /// reads `0x7f.1` and `2130706433` as 127.0.0.1.
    fn check(&self, at: &Url) -> Result<(), UnreadablePage> {
        let is_allowed = match at.host() {
            _ if !matches!(at.scheme(), "http" | "https") => false,
            Some(Host::Domain(name)) => self.policy.allows_host(name),
            Some(Host::Ipv4(ip)) => self.policy.allows_ip(IpAddr::V4(ip)),
            Some(Host::Ipv6(ip)) => self.policy.allows_ip(IpAddr::V6(ip)),
            None => false,
        };
        if is_allowed { Ok(()) } else { Err(UnreadablePage::Refused) }
    }
}

/// Parses an address without a password. Telegram's apps open one without a scheme by `http`.
fn parsed(address: &str) -> Option<Url> {
    let mut url =
        if address.contains("://") { Url::parse(address) } else { Url::parse(&format!("http://{address}")) }.ok()?;
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

fn reason(error: &reqwest::Error) -> UnreadablePage {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if let Some(reason) = error.downcast_ref::<UnreadablePage>() {
            return *reason;
        }
        cause = error.source();
    }
    UnreadablePage::Unreachable
}

/// Reads a body of at most `most` bytes.
pub(crate) async fn body_of(mut response: Response, most: usize) -> Result<Vec<u8>, UnreadablePage> {
    if response.content_length().is_some_and(|length| length > most as u64) {
        return Err(UnreadablePage::TooLarge);
    }
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| reason(&error))? {
        if body.len() + part.len() > most {
            return Err(UnreadablePage::TooLarge);
        }
        body.extend_from_slice(&part);
    }
    Ok(body)
}

/// Decompresses a body by its first bytes, since servers also name gzip where there is none. A small file can
/// decompress to any size, so it stops at `most` bytes.
fn decompressed(body: Vec<u8>, encoding: &str, most: usize) -> Result<Vec<u8>, UnreadablePage> {
    if ["br", "zstd", "deflate", "compress"].contains(&encoding) {
        return Err(UnreadablePage::NoText);
    }
    if !body.starts_with(GZIP) {
        return Ok(body);
    }
    let mut whole = Vec::new();
    // As in browsers, a damaged end takes nothing from what comes before it.
    let _ = flate2::read::MultiGzDecoder::new(body.as_slice()).take(most as u64 + 1).read_to_end(&mut whole);
    if whole.len() > most { Err(UnreadablePage::TooLarge) } else { Ok(whole) }
}

/// DNS resolver that returns only allowed addresses. The client connects to exactly these, without a second lookup.
struct CheckedNames(Arc<AddressPolicy>);

impl Resolve for CheckedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str();
            let found: Vec<SocketAddr> = match policy.test_address(host) {
                Some(address) => vec![address],
                None => tokio::net::lookup_host((host, 0)).await?.collect(),
            };
            // A single private address is enough to refuse the name: a public site has none, so the name was made to
            // reach this network.
            if found.is_empty() || !found.iter().all(|address| policy.allows(*address)) {
                return Err(UnreadablePage::Refused.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
