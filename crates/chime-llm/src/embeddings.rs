//! Client for OpenAI's `/embeddings`.

use std::time::Duration;

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::diagnose::diagnose;
use crate::transport::Server;
use crate::{LlmError, LlmOptions};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::within;

#[derive(Debug)]
pub struct Embeddings {
    server: Server,
    model: String,
    timeout: Duration,
    prepare: Prepare,
}

/// Transformation of a text before it is sent.
pub type Prepare = fn(&str) -> String;

/// Characters of a text that are sent: the same limit as for the built-in model.
const WITHIN: usize = 1500;
/// Characters down to which a refused text is shortened, before [`BLANK`] is sent in its place.
const SHORTEST: usize = 200;
/// Text sent for one without words: servers reject empty texts.
const BLANK: &str = "-";

#[derive(Debug, Deserialize)]
struct EmbeddingsBody {
    data: Vec<EmbeddingRow>,
}

#[derive(Debug, Deserialize)]
struct EmbeddingRow {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Embeddings {
    /// Builds a client for `options.model`. There is no fallback: vectors of two models cannot be compared.
    pub fn new(options: &LlmOptions, prepare: Prepare) -> Result<Self, LlmError> {
        Ok(Self { server: Server::new(options)?, model: options.model.clone(), timeout: options.timeout, prepare })
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// Returns the vectors of `texts`, of length 1 and equal dimension, in the order of `texts`. Makes one call without
    /// retries, or more with parts of the texts if the server does not take them all: servers limit the number of texts
    /// and the length of each, and some models fail at certain texts.
    ///
    /// # Errors
    /// As for a completion; [`LlmError::Malformed`] when a vector is missing, zero, or of another dimension.
    pub async fn embed(&self, texts: &[&str], clock: &Clock) -> Result<Vec<Vec<f32>>, LlmError> {
        // `prepare` gets the whole text: it would not recognize a pattern that the cut splits.
        let prepared = texts.iter().map(|text| within_limits((self.prepare)(text), WITHIN)).collect();
        let (mut waiting, mut vectors): (Vec<Vec<String>>, _) = (vec![prepared], Vec::new());
        while let Some(mut batch) = waiting.pop() {
            match self.request(&batch, clock).await {
                Ok(made) => vectors.extend(made),
                Err(error) if !may_take_less(&error) => return Err(error),
                Err(_) if batch.len() > 1 => {
                    waiting.push(batch.split_off(batch.len() / 2));
                    waiting.push(batch);
                }
                Err(error) => {
                    let text = batch.pop().filter(|text| text != BLANK).ok_or(error)?;
                    let chars = text.chars().count();
                    waiting.push(vec![within_limits(text, if chars > SHORTEST { chars / 2 } else { 0 })]);
                }
            }
        }
        Ok(vectors)
    }

    async fn request(&self, texts: &[String], clock: &Clock) -> Result<Vec<Vec<f32>>, LlmError> {
        let request = json!(CreateEmbeddingRequest {
            model: self.model.clone(),
            input: EmbeddingInput::StringArray(texts.to_vec()),
            ..CreateEmbeddingRequest::default()
        });
        let call = self.server.post("/embeddings", &request);
        let body = within(clock, self.timeout, call).await.ok_or(LlmError::TimedOut)?.map_err(diagnose)?;
        read(body, texts.len())
    }
}

/// Returns the beginning of a text, of at most this many characters; [`BLANK`] if there is nothing but space.
fn within_limits(text: String, chars: usize) -> String {
    let text: String = text.chars().take(chars).collect();
    if text.trim().is_empty() { BLANK.to_owned() } else { text }
}

/// Returns `true` if a server may accept a part of the texts that it refused.
fn may_take_less(error: &LlmError) -> bool {
    error.is_about_the_request() || matches!(error, LlmError::Unavailable { status: 500, .. })
}

fn read(body: Value, count: usize) -> Result<Vec<Vec<f32>>, LlmError> {
    let malformed = |what| LlmError::Malformed { what };
    let answer: EmbeddingsBody = serde_json::from_value(body).map_err(|_| malformed("no list of embeddings"))?;
    let mut rows = answer.data;
    // Some servers give each vector the index 0: then the vectors are in the order of the texts.
    rows.sort_by_key(|row| row.index);
    let dimension = rows.first().map_or(0, |row| row.embedding.len());
    if rows.len() != count || rows.iter().any(|row| row.embedding.len() != dimension) {
        return Err(malformed("embeddings are missing, or of several dimensions"));
    }
    let vectors = rows.into_iter().map(|row| normalised(row.embedding));
    vectors.collect::<Option<_>>().ok_or_else(|| malformed("an embedding that points nowhere"))
}

/// Scales a vector to length 1; `None` if it is zero or not finite.
fn normalised(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if !length.is_finite() || length <= f32::EPSILON {
        return None;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: Value, expected: Result<Vec<Vec<f32>>, &str>) {
        let found = read(body, 2).map_err(|error| error.to_string());
        match expected {
            Ok(vectors) => assert_eq!(found, Ok(vectors)),
            Err(what) => assert!(found.as_ref().is_err_and(|error| error.contains(what)), "{found:?}"),
        }
    }

    #[test]
    fn vectors_come_back_in_the_order_of_the_texts_at_length_one() {
        check(
            json!({"object": "list", "data": [
                {"object": "embedding", "index": 1, "embedding": [0.0, 2.0]},
                {"object": "embedding", "index": 0, "embedding": [3.0, 4.0]},
            ], "model": "m", "usage": {"prompt_tokens": 5, "total_tokens": 5}}),
            Ok(vec![vec![0.6, 0.8], vec![0.0, 1.0]]),
        );
        check(
            json!({"data": [{"index": 0, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [3.0, 4.0]}]}),
            Ok(vec![vec![0.0, 1.0], vec![0.6, 0.8]]),
        );
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        check(json!({"error": "x"}), Err("no list"));
        check(json!({"data": [{"index": 0, "embedding": [1.0]}]}), Err("missing"));
        check(json!({"data": [{"embedding": [1.0]}, {"embedding": [1.0, 0.0]}]}), Err("several dimensions"));
        check(json!({"data": [{"embedding": [0.0]}, {"embedding": [1.0]}]}), Err("points nowhere"));
        check(json!({"data": [{"index": 7, "embedding": [1.0]}]}), Err("missing"));
    }
}
