//! Searches the web by the service that the operator chose.

use chime_core::config::{WebSearchConfig, WebSearchService};
use reqwest::{Client, RequestBuilder, redirect};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use url::Url;

use crate::fetch::{MOST_BYTES, body_of};
use crate::page::UnreadablePage;

/// Maximum number of results of a search.
const MOST: usize = 5;
/// Maximum number of characters of a title and of a snippet.
const TITLE_CHARS: usize = 120;
const SNIPPET_CHARS: usize = 500;
/// Length of a day in a date, `2026-01-31`.
const DAY_CHARS: usize = 10;

/// Client of a search service. Its address may be a private one, since the operator chose it.
#[derive(Debug, Clone)]
pub struct WebSearch {
    config: WebSearchConfig,
    client: Client,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebResult {
    pub title: String,
    /// Address with `http` or `https`. It is not fetched.
    pub address: String,
    pub snippet: String,
    /// Day of the page, if the service gives it: `2026-01-31`.
    pub day: Option<String>,
}

impl WebSearch {
    pub fn new(config: WebSearchConfig) -> reqwest::Result<Self> {
        let agent = concat!("chime/", env!("CARGO_PKG_VERSION"));
        let client = Client::builder().user_agent(agent).redirect(redirect::Policy::none()).build()?;
        Ok(Self { config, client })
    }

    /// Returns at most `MOST` results, best first. The caller limits the time.
    ///
    /// # Errors
    /// The service is not reached, refuses the request, or does not answer with JSON.
    pub async fn search(&self, query: &str) -> Result<Vec<WebResult>, UnreadablePage> {
        let request = self.request(query).ok_or(UnreadablePage::Unreachable)?;
        let response = request.send().await.map_err(|_| UnreadablePage::Unreachable)?;
        if !response.status().is_success() {
            return Err(UnreadablePage::NoPage);
        }
        let reply =
            serde_json::from_slice(&body_of(response, MOST_BYTES).await?).map_err(|_| UnreadablePage::NoPage)?;
        Ok(results(&reply))
    }

    fn request(&self, query: &str) -> Option<RequestBuilder> {
        let key = self.config.key.as_ref().map_or("", |key| key.expose_secret());
        let get = |base: &str, more: &[(&str, &str)]| {
            let mut url = Url::parse(base).ok()?;
            url.query_pairs_mut().append_pair("q", query).extend_pairs(more);
            Some(self.client.get(url))
        };
        match &self.config.service {
            WebSearchService::SearXng(base) => get(&format!("{base}/search"), &[("format", "json")]),
            WebSearchService::Brave => {
                let address = "https://api.search.brave.com/res/v1/web/search";
                let plain = ("text_decorations", "false");
                Some(get(address, &[("count", "5"), plain])?.header("X-Subscription-Token", key))
            }
            WebSearchService::Tavily => {
                let body = json!({"query": query, "max_results": MOST});
                Some(self.client.post("https://api.tavily.com/search").bearer_auth(key).json(&body))
            }
            WebSearchService::Exa => {
                let contents = json!({"text": {"maxCharacters": SNIPPET_CHARS}});
                let body = json!({"query": query, "numResults": MOST, "contents": contents});
                Some(self.client.post("https://api.exa.ai/search").header("x-api-key", key).json(&body))
            }
        }
    }
}

/// Reads the reply of any of the services: they differ only in the names of the fields.
fn results(reply: &Value) -> Vec<WebResult> {
    let list = reply.pointer("/web/results").or(reply.get("results")).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(result).take(MOST).collect()
}

fn result(given: &Value) -> Option<WebResult> {
    let text = |names: &[&str]| {
        let found = names.iter().filter_map(|name| given[*name].as_str()).map(str::trim);
        found.into_iter().find(|text| !text.is_empty())
    };
    let words = |text: &str, most: usize| {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().take(most).collect::<String>()
    };
    let address = Url::parse(text(&["url"])?).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let snippet = words(text(&["content", "description", "text"])?, SNIPPET_CHARS);
    let title = words(text(&["title"]).or_else(|| address.host_str())?, TITLE_CHARS);
    let day = text(&["publishedDate", "published_date", "page_age"]).and_then(|date| date.get(..DAY_CHARS));
    Some(WebResult { title, snippet, day: day.map(str::to_owned), address: address.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_replies_of_all_services_are_read() {
        for (service, reply) in [
            ("searxng", include_str!("../tests/search/searxng.json")),
            ("brave", include_str!("../tests/search/brave.json")),
            ("tavily", include_str!("../tests/search/tavily.json")),
            ("exa", include_str!("../tests/search/exa.json")),
        ] {
            let results = results(&serde_json::from_str(reply).expect("JSON"));
            let first = results.first().expect("a result");
            assert_eq!(first.title, "Ferry to Kihnu", "{service}");
            assert_eq!(first.address, "https://ferries.example/kihnu", "{service}");
            assert_eq!(first.snippet, "The ferry leaves Munalaid at 9:40 and 17:00.", "{service}");
            assert_eq!(first.day.as_deref(), (service != "tavily").then_some("2026-05-03"), "{service}");
            assert_eq!(results.len(), 2, "{service}: a result without an address or a text is none");
        }
        assert_eq!(results(&json!({"error": "no"})), []);
    }

    #[test]
    fn each_service_is_asked_in_its_way() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        for (service, method, address, header) in [
            (
                WebSearchService::SearXng("http://10.0.0.7:8080".to_owned()),
                "GET",
                "http://10.0.0.7:8080/search?q=ferry+%26+bus&format=json",
                None,
            ),
            (
                WebSearchService::Brave,
                "GET",
                "https://api.search.brave.com/res/v1/web/search?q=ferry+%26+bus&count=5&text_decorations=false",
                Some(("x-subscription-token", "k")),
            ),
            (WebSearchService::Tavily, "POST", "https://api.tavily.com/search", Some(("authorization", "Bearer k"))),
            (WebSearchService::Exa, "POST", "https://api.exa.ai/search", Some(("x-api-key", "k"))),
        ] {
            let config = WebSearchConfig { service, key: Some("k".into()) };
            let search = WebSearch::new(config).expect("a client");
            let request = search.request("ferry & bus").and_then(|it| it.build().ok()).expect("a request");
            assert_eq!((request.method().as_str(), request.url().as_str()), (method, address));
            if let Some((name, value)) = header {
                assert_eq!(request.headers().get(name).and_then(|it| it.to_str().ok()), Some(value));
            }
            let body = request.body().and_then(|body| body.as_bytes()).map(String::from_utf8_lossy);
            assert_eq!(body.is_some_and(|body| body.contains("ferry & bus")), method == "POST");
        }
    }
}
