//! Recorded answers of servers, one file each; `outcomes.txt` lists the result of each.
//!
//! Every body is requested whole and as a stream: some servers always stream, others never do.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde::Deserialize;
use serde_json::Value;

use super::{Log, client, options, prompt, started};
use crate::{AnswerProgress, Completion, LlmError, OpenAi};
use chime_runtime::clock::Clock;
use chime_runtime::resilience::RetryPolicy;
use chime_testkit::{ModelServer, Reply};

/// Bytes per chunk of a response: small, so that chunks end within words and events.
const PIECE: usize = 11;

#[derive(Deserialize)]
struct Refused {
    status: u16,
    headers: serde_json::Map<String, Value>,
    body: Value,
}

fn shapes(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/model").join(kind);
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn pieces(body: &[u8]) -> Vec<Vec<u8>> {
    body.chunks(PIECE).map(<[u8]>::to_vec).collect()
}

fn reply(kind: &str, content: &[u8]) -> Reply {
    match kind {
        "errors" => {
            let Refused { status, headers, body } = serde_json::from_slice(content).unwrap();
            let headers = headers.into_iter().map(|(name, value)| (name, value.as_str().unwrap().to_owned()));
            let body = body.as_str().map_or_else(|| body.to_string(), str::to_owned);
            Reply::Raw { status, headers: headers.collect(), body: pieces(body.as_bytes()) }
        }
        kind => {
            let content_type = if kind == "streams" { "text/event-stream" } else { "application/json" };
            let headers = vec![("content-type".to_owned(), content_type.to_owned())];
            Reply::Raw { status: 200, headers, body: pieces(content) }
        }
    }
}

fn reported(outcome: &Result<Completion, LlmError>) -> String {
    match outcome {
        Ok(answer) => {
            let counted = match answer.tokens_counted {
                true => format!("{} + {}", answer.tokens.prompt, answer.tokens.completion),
                false => "uncounted".to_owned(),
            };
            format!("{:?}, {counted}{}", answer.text, if answer.truncated { ", cut off" } else { "" })
        }
        Err(error) => format!("{error} -> {:?}", error.recovery()),
    }
}

/// Two clients, so that one does not profit from the other's knowledge about the model.
fn clients(server: &ModelServer) -> [OpenAi; 2] {
    let once = RetryPolicy { max_retries: 0, ..super::quick() };
    [(); 2].map(|()| {
        let mut client = client(options(server));
        client.retries = once;
        client
    })
}

/// Requests `content` whole and as a stream; returns both results and the last text shown of the stream.
async fn asked(server: &ModelServer, clients: &[OpenAi; 2], reply: Reply) -> ([String; 2], String) {
    let ([first, second], clock, progress) = (clients, Clock::system(), AnswerProgress::default());
    // The same reply to every request, because a client may repeat its request in another dialect.
    server.always(reply);
    let whole = first.answer(&prompt(), &clock).await;
    let streamed = second.answer_streaming(&prompt(), &progress, &clock).await;
    let shown = progress.watch().borrow().clone();
    ([reported(&whole), reported(&streamed)], shown)
}

#[tokio::test]
async fn every_shape_of_answer_comes_to_the_same_whole_and_streamed() {
    let log = Log::listen();
    let server = started().await;
    let mut outcomes = String::new();
    for (kind, least) in [("responses", 70), ("errors", 24), ("streams", 40)] {
        let files = shapes(kind);
        assert!(files.len() >= least, "{kind}: {} shapes", files.len());
        let clients = clients(&server);
        for file in files {
            let (name, content) = (file.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&file).unwrap());
            let ([whole, streamed], shown) = asked(&server, &clients, reply(kind, &content)).await;
            assert_eq!(whole, streamed, "{kind}/{name}: whole and streamed");
            writeln!(outcomes, "{kind}/{name}: {whole}").unwrap();
            // Reasoning without an opening tag looks like an answer until it ends.
            assert!(!shown.contains("PRIVATE") || name == "r1_without_opening_tag.json", "{name} shows {shown:?}");
            assert!(whole.contains(&shown.replace('"', "\\\"")) || !whole.starts_with('"'), "{name} shows {shown:?}");
        }
    }
    expect_file!["../../../../tests/data/model/outcomes.txt"].assert_eq(&outcomes);
    let log = log.text();
    for words in ["PRIVATE", "settled", "sk-"] {
        assert!(!log.contains(words), "{words} in the log: {log}");
        assert!(!outcomes.lines().any(|line| line.contains("->") && line.contains(words)), "{words} in an error");
    }
    assert!(server.leftover().is_empty() && server.unexpected().is_empty());
}
