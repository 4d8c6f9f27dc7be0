//! Baseline for the latency: a loop that polls, asks the model and sends, without storing anything.

use std::time::Duration;

use serde_json::{Value, json};

use crate::figures::Spread;
use crate::scene::Scene;
use crate::{Outcome, measure};

/// Runs the daemon's measurement with the bare loop instead of the daemon.
pub async fn replies(mentions: usize) -> Outcome<Spread> {
    let scene = Scene::set(&std::env::temp_dir()).await?;
    let echo = echo(&scene);
    tokio::select! {
        answered = measure::replies(&scene, mentions, Scene::mention) => Ok(answered?.reply),
        failed = echo => Err(failed.err().unwrap_or_else(|| "the bare loop ended".into())),
    }
}

async fn echo(scene: &Scene) -> Outcome<()> {
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(30)).build()?;
    let base = format!("{}/bot{}", scene.telegram.api_url(), scene.telegram.token());
    let call = async |url: String, body: Value| -> Outcome<Value> {
        Ok(client.post(url).json(&body).send().await?.json().await?)
    };
    let mut offset = 0;
    loop {
        let news = call(format!("{base}/getUpdates"), json!({"offset": offset, "timeout": 10})).await?;
        for update in news["result"].as_array().into_iter().flatten() {
            offset = update["update_id"].as_i64().unwrap_or(0) + 1;
            let message = &update["message"];
            let text = message["text"].as_str().unwrap_or_default();
            if !text.contains("@bot") {
                continue;
            }
            let ask = json!({"model": "at-once", "messages": [{"role": "user", "content": text}]});
            let answer = call(format!("{}/chat/completions", scene.model.base_url()), ask).await?;
            let reply = json!({
                "chat_id": message["chat"]["id"],
                "text": answer["choices"][0]["message"]["content"],
                "reply_parameters": {"message_id": message["message_id"]},
            });
            call(format!("{base}/sendMessage"), reply).await?;
        }
    }
}
