//! Tests of the sandbox over HTTP.

mod chats;
mod faults;
mod polling;
mod sending;

use serde_json::{Value, json};

use crate::{NewChat, Post, Sandbox, Setup};
use chime_core::{ChatId, Timestamp};
use chime_runtime::clock::Clock;

/// Time of the events in these tests.
const NOON: Timestamp = Timestamp::from_secs(1_750_000_000);

/// A sandbox and a client that acts as its bot.
struct Desk {
    sandbox: Sandbox,
    clock: Clock,
    client: reqwest::Client,
}

impl Desk {
    async fn open() -> Self {
        Self::with(Setup::default()).await
    }

    async fn with(setup: Setup) -> Self {
        // Fails if another test has installed a provider before, which does no harm.
        rustls::crypto::ring::default_provider().install_default().ok();
        let clock = setup.clock.clone();
        Self { sandbox: Sandbox::start(setup).await.unwrap(), clock, client: reqwest::Client::new() }
    }

    fn url(&self, method: &str) -> String {
        format!("{}/bot{}/{method}", self.sandbox.api_url(), self.sandbox.token())
    }

    /// Returns the response, or the connection error.
    async fn try_call(&self, method: &str, params: Value) -> reqwest::Result<Value> {
        self.client.post(self.url(method)).json(&params).send().await?.json().await
    }

    async fn call(&self, method: &str, params: Value) -> Value {
        self.try_call(method, params).await.unwrap()
    }

    /// Returns the `result` of a successful call.
    #[track_caller]
    fn result(answer: &Value) -> &Value {
        assert_eq!(answer["ok"], true, "{answer}");
        &answer["result"]
    }

    /// Returns the error code and description of a failed call.
    async fn refusal(&self, method: &str, params: Value) -> String {
        let answer = self.call(method, params).await;
        assert_eq!(answer["ok"], false, "{answer}");
        format!("{} {}", answer["error_code"], answer["description"].as_str().unwrap())
    }

    async fn poll(&self, params: Value) -> Vec<Value> {
        Self::result(&self.call("getUpdates", params).await).as_array().unwrap().clone()
    }

    async fn texts(&self, params: Value) -> Vec<String> {
        let updates = self.poll(params).await;
        updates.iter().map(|update| update["message"]["text"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// Adds a supergroup in which ann posts `texts`.
    fn group_saying(&self, texts: &[&str]) -> ChatId {
        let chat = self.sandbox.add_chat(NewChat::supergroup("Deploys"));
        let ann = self.sandbox.add_member(chat, "ann");
        self.sandbox.say_many(chat, texts.iter().map(|text| Post::new(ann, *text, NOON)));
        chat
    }

    async fn send(&self, chat: ChatId, text: &str) -> Value {
        Self::result(&self.call("sendMessage", json!({"chat_id": chat, "text": text})).await).clone()
    }

    #[track_caller]
    fn expect_nothing_unexpected(&self) {
        assert_eq!(self.sandbox.unexpected(), Vec::<String>::new());
    }
}
