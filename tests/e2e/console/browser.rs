//! Browser without a screen for the stories: keeps the cookie and fills in the token of forms.

use reqwest::header::{COOKIE, HOST, HeaderMap};
use reqwest::{Client, RequestBuilder};

pub struct Browser {
    client: Client,
    base: String,
    pub cookie: String,
}

pub struct Response {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

impl Browser {
    /// Opens a browser at the site that `link` leads to.
    pub fn new(link: &str) -> Self {
        // A second installation fails, which is harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(0)
            .build()
            .expect("a client");
        let base = link.split("/login").next().expect("an address").to_owned();
        Self { client, base, cookie: String::new() }
    }

    async fn send(&self, request: RequestBuilder) -> Response {
        let response = request.header(COOKIE, &self.cookie).send().await.expect("a response");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Response { status, headers, body: response.text().await.expect("a text") }
    }

    /// Gets a path, or a whole address.
    pub async fn get(&self, path: &str) -> Response {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}{path}", self.base) };
        self.send(self.client.get(url)).await
    }

    /// Gets a path, as if the browser had found the site under the name `host`.
    pub async fn get_from(&self, host: &str, path: &str) -> Response {
        self.send(self.client.get(format!("{}{path}", self.base)).header(HOST, host)).await
    }

    pub async fn post_raw(&self, path: &str, fields: &[(&str, &str)]) -> Response {
        let form =
            fields.iter().fold(url::form_urlencoded::Serializer::new(String::new()), |mut form, (name, value)| {
                form.append_pair(name, value);
                form
            });
        let mut form = form;
        let request = self.client.post(format!("{}{path}", self.base)).body(form.finish());
        self.send(request.header("content-type", "application/x-www-form-urlencoded")).await
    }

    /// Posts a form with the token of the session.
    pub async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let page = self.get("/").await.body;
        let token = page.split(r#"name="form_token" value=""#).nth(1).and_then(|rest| rest.split('"').next());
        let token = token.unwrap_or_default().to_owned();
        self.post_raw(path, &[fields, &[("form_token", &token)]].concat()).await
    }

    /// Presses the button of the page that a link leads to.
    pub async fn log_in(&mut self, link: &str) -> Response {
        let token = link.split_once("token=").expect("a token").1;
        let response = self.post_raw("/login", &[("token", token)]).await;
        if let Some(cookie) = response.headers.get("set-cookie") {
            let cookie = cookie.to_str().expect("a cookie").split(';').next();
            self.cookie = cookie.unwrap_or_default().to_owned();
        }
        response
    }

    pub async fn api(&self, token: &str, call: &str) -> Response {
        self.send(self.client.get(format!("{}/api/{call}", self.base)).bearer_auth(token)).await
    }
}
