//! `chime check` and `chime retry`.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use chime_core::{ChatId, JobId, JobPayload, MessageAt, MessageId, ParsedTrigger};
use chime_runtime::clock::Clock;
use chime_sandbox::faults::Fault;
use chime_sandbox::{ChatMemberStatus, Setup};
use chime_store::{Priority, jobs};
use chime_testkit::{ModelServer, Reply};
use expect_test::expect;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::Machine;
use crate::site::Site;
use crate::web_search::service;

fn tool_call() -> Reply {
    let call = json!({"id": "1", "type": "function", "function": {"name": "ping", "arguments": "{}"}});
    Reply::Body(json!({
        "id": "c1", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [call]}}],
    }))
}

fn stream() -> Reply {
    Reply::Status(200, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n".to_owned())
}

#[tokio::test]
async fn a_machine_on_which_all_is_well() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("BACKUP_DIR", "copies");
    machine.with_groups(&[("Friday table", ChatMemberStatus::Member)]).await;
    machine.model.script([Reply::text("ready"), tool_call(), stream()]);
    machine.model.script(["34 euros for each of you [4].", "Das Zimmer kostet 34 Euro pro Person [4]."]);
    machine
        .check(
            &[],
            expect![[r#"
                ok config: every setting is valid
                ok database: chime.db is sound, version N N KiB
                (the disk of this machine)
                ok jobs: N open, none parked
                ok vectors: N of N messages and N of N summaries have one
                ok backups: none yet in copies; the first follows a minute after the start
                ok access: owners: N allowed chats: N
                ok telegram: the token belongs to @bot
                ok clock: agrees with Telegram's
                ok webhook: none is set, so chime may poll
                ok privacy: privacy mode is off: the bot reads its groups
                ok model: scripted answers in N
                ok tools: the model calls tools
                ok streaming: the server streams
                ok answers: from the talk: yes, in German too; cites: yes; N tokens read and N written in N s; it is given about N N tokens of talk; context: the server does not tell
                exit Some(0)"#]],
        )
        .await;
    assert!(machine.telegram.unexpected().is_empty());
}

/// Returns the line about answers, for a model with this answer and these server facts.
async fn answers<R: Into<Reply>>(machine: &Machine, said: impl IntoIterator<Item = R>) -> String {
    machine.model.script([Reply::text("ready"), tool_call(), stream()]);
    machine.model.script(said);
    let output = machine.run(&["check"]).await;
    assert_eq!(output.status.code(), Some(0), "a poor answer is no failure");
    assert!(machine.model.leftover().is_empty() && machine.model.unexpected().is_empty());
    let shown = String::from_utf8(output.stdout).expect("text");
    machine.steady(shown.lines().find(|line| line.contains(" answers: ")).expect("a line about it"))
}

#[tokio::test]
async fn a_small_model_is_asked_plainly_and_may_be_wrong() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("MODEL", "qwen2.5:1.5b").set("CONTEXT_TOKENS", "700");
    machine.model.tell_of_itself(json!({"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1}));
    let shown = answers(&machine, ["Carla has 90 euros."]).await;
    expect![[r#"warn answers: from the talk: no, "Carla has N euros." instead of N euros; cites: no, Chime adds sources; N tokens read and N written in N s; it is given N tokens of talk (CONTEXT_TOKENS); context: N N tokens; do: run chime check again; if that stays so, set MODEL to a larger one (docs/operating.md)"#]].assert_eq(&shown);
    let asked = machine.model.requests().last().map(ToString::to_string).unwrap_or_default();
    assert!(asked.contains("Question: How much does the room cost") && !asked.contains("[4]"), "{asked}");
    let shown = answers(&machine, ["34 euros.", "It is 34 euros for each of you, for both nights."]).await;
    expect!["ok answers: from the talk: yes, in German no; cites: no, Chime adds sources; N tokens read and N written in N s; it is given N tokens of talk (CONTEXT_TOKENS); context: N N tokens"].assert_eq(&shown);
}

#[tokio::test]
async fn summaries_in_the_members_own_words_go_by_the_model_that_would_write_them() {
    let mut machine = Machine::new(Setup::default()).await;
    let mut of_summaries = Vec::new();
    for (model, summary_model) in [("qwen2.5:1.5b", ""), ("qwen2.5:1.5b", "qwen2.5:72b"), ("scripted", "qwen2.5:1.5b")]
    {
        machine.set("MODEL", model).set("MODEL_SUMMARY", summary_model);
        machine.model.always(Reply::Status(500, "out of order".to_owned()));
        let output = String::from_utf8(machine.run(&["check"]).await.stdout).expect("text");
        of_summaries.push(output.lines().find(|line| line.contains(" summaries: ")).map(str::to_owned));
    }
    let extracts = "ok summaries: in the members' own words, since qwen2.5:1.5b is a small model".to_owned();
    assert_eq!(of_summaries, [Some(extracts.clone()), None, Some(extracts)]);
}

/// Builds a streamed answer of a server that measures its reading speed.
fn measured(said: &str) -> Reply {
    let piece = json!({"choices": [{"index": 0, "delta": {"content": said}, "finish_reason": "stop"}],
                       "timings": {"prompt_n": 336, "prompt_per_second": 251.3}});
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    Reply::Raw { status: 200, headers, body: vec![format!("data: {piece}\n\ndata: [DONE]\n\n").into_bytes()] }
}

#[tokio::test]
async fn how_fast_a_model_reads_says_how_much_it_is_given() {
    let machine = Machine::new(Setup::default()).await;
    machine.model.script([Reply::text("ready"), tool_call(), stream(), measured("34 euros."), measured("34 Euro.")]);
    let shown = String::from_utf8(machine.run(&["check"]).await.stdout).expect("text");
    assert!(shown.contains("reads about 251 tokens a second, so it is given about 1 410 tokens of talk"), "{shown}");
}

#[tokio::test]
async fn a_model_that_does_not_answer_about_a_talk_is_told_of() {
    let machine = Machine::new(Setup::default()).await;
    machine.model.script([Reply::text("ready"), tool_call(), stream(), Reply::Filtered]);
    let output = machine.run(&["check"]).await;
    let shown = String::from_utf8(output.stdout).expect("text");
    let line = shown.lines().last().expect("a line");
    assert!(line.starts_with("warn answers: none to a question about eight messages:"), "{shown}");
    assert_eq!(output.status.code(), Some(0));
}

#[tokio::test]
async fn a_server_that_is_to_make_vectors_is_asked_for_one() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("EMBEDDING", "openai:letters");
    machine.model.always(Reply::text("ready"));
    let shown = async || {
        let output = String::from_utf8(machine.run(&["check"]).await.stdout).expect("text");
        output.lines().filter(|line| line.contains("embedding")).map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    let made = shown().await;
    assert!(made.starts_with("ok embedding: letters makes vectors of 26 numbers in "), "{made}");
    machine.model.refuse_to_embed(true);
    let refused = shown().await;
    assert!(refused.starts_with("warn embedding: letters: the model server is out of order"), "{refused}");
}

/// Returns the lines about model servers and the web search.
async fn servers(machine: &Machine) -> Vec<String> {
    let output = String::from_utf8(machine.run(&["check"]).await.stdout).expect("text");
    let names = [" model: ", " embedding: ", " voice: ", " web search: "];
    output.lines().filter(|line| names.iter().any(|name| line.contains(name))).map(str::to_owned).collect()
}

#[tokio::test]
async fn servers_of_single_tasks_are_asked_with_their_own_keys() {
    let mut machine = Machine::new(Setup::default()).await;
    let other = ModelServer::start(Clock::system()).await.expect("start another model server");
    for (key, model) in [
        ("MODEL_SUMMARY", "digest"),
        ("MODEL_FALLBACK", "spare"),
        ("MODEL_TRANSCRIBE", "ears"),
        ("EMBEDDING", "openai:letters"),
    ] {
        machine.set(key, &format!("{model}@{}", other.base_url())).set(&format!("{key}_KEY"), &format!("sk-{key}"));
    }
    machine.model.always(Reply::text("ready"));
    other.always(Reply::text("ready"));
    other.hear_always("");
    let shown = servers(&machine).await;
    for begins in [
        "ok embedding: letters makes vectors of 26 numbers in ",
        "ok voice: ears transcribes, ",
        "ok model: digest answers in ",
        "ok model: scripted answers in ",
        "ok model: spare answers in ",
    ] {
        assert!(shown.iter().any(|line| line.starts_with(begins)), "{begins}: {shown:#?}");
    }
    let asked = |server: &ModelServer| -> Vec<(String, Option<String>)> {
        let models = server.requests().into_iter().map(|it| it["model"].as_str().unwrap_or_default().to_owned());
        models.zip(server.authorizations()).collect()
    };
    let with_key = |model: &str, key: &str| (model.to_owned(), Some(format!("Bearer sk-{key}")));
    assert_eq!(asked(&other), [with_key("digest", "MODEL_SUMMARY"), with_key("spare", "MODEL_FALLBACK")]);
    assert!(asked(&machine.model).iter().all(|(model, _)| model == "scripted"));
    assert!(other.embedded().len() == 1 && other.recordings().len() == 1);
    assert!(machine.model.embedded().is_empty() && machine.model.recordings().is_empty());
    drop(other);
    let shown = servers(&machine).await;
    let ill: Vec<&str> =
        shown.iter().filter(|line| !line.starts_with("ok")).filter_map(|it| it.split(": ").nth(1)).collect();
    assert_eq!(ill, ["letters", "ears", "digest", "spare"], "{shown:#?}");
}

#[tokio::test]
async fn a_search_service_is_asked_for_one_word() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.model.always(Reply::text("ready"));
    let (works, fails) = (service(), Site::of_pages("no results here"));
    let mut shown = Vec::new();
    for address in [works.at.to_string(), fails.at.to_string(), "127.0.0.1:9".to_owned()] {
        machine.set("WEB_SEARCH", &format!("http://{address}"));
        shown.extend(servers(&machine).await.into_iter().filter(|line| line.contains("web search")));
    }
    assert!(shown[0].starts_with("ok web search: 127.0.0.1 answers in ") && shown[0].ends_with(": 1"), "{shown:#?}");
    let ill =
        ["warn web search: 127.0.0.1 answers without results; do: ", "warn web search: 127.0.0.1: the server cannot"];
    assert!(shown[1..].iter().zip(ill).all(|(line, begins)| line.starts_with(begins)), "{shown:#?}");
    assert_eq!(works.count(), 1);
}

#[tokio::test]
async fn a_folder_without_an_embedding_model_is_named_and_nothing_starts() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("EMBEDDING", "model2vec:/srv/none");
    let output = String::from_utf8(machine.run(&["check", "--offline"]).await.stdout).expect("text");
    let line = output.lines().find(|line| line.contains("embedding")).expect("a line about it");
    assert!(line.starts_with("FAIL embedding: /srv/none/"), "{line}");
    let started = machine.run(&["run"]).await;
    assert_eq!(started.status.code(), Some(78), "{}", String::from_utf8_lossy(&started.stderr));
}

#[tokio::test]
async fn a_fresh_machine_without_a_model_is_told_what_comes_next() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("OPENAI_BASE_URL", "").set("MODEL", "").set("OWNER_IDS", "");
    machine.check(&[], expect![[r#"
        ok config: every setting is valid
        warn database: there is none at chime.db yet; do: start chime run, or set DATABASE_PATH
        (the disk of this machine)
        warn backups: none are made; do: set BACKUP_DIR to a folder, best on another disk
        warn access: there is no owner and no allowed chat, so nobody can use the bot; do: start `chime run` and send the bot the /claim line that it shows, or set OWNER_IDS to your Telegram id, or ALLOWED_CHATS to the ids of your groups
        ok telegram: the token belongs to @bot
        ok clock: agrees with Telegram's
        ok webhook: none is set, so chime may poll
        ok privacy: privacy mode is off: the bot reads its groups
        warn model: none is set: answers are digests of the conversation; do: set OPENAI_BASE_URL or OPENAI_API_KEY, and MODEL
        exit Some(0)"#]]).await;
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once_with_its_remedy() {
    let setup = Setup { reads_all: false, ..Setup::default() };
    let mut machine = Machine::new(setup).await;
    machine
        .with_groups(&[("Friday table", ChatMemberStatus::Member), ("Board", ChatMemberStatus::Administrator)])
        .await;
    let hook = r#"{"ok":true,"result":{"url":"https://hooks.example.org/secret/path","pending_update_count":3}}"#;
    machine.telegram.fault("getWebhookInfo", Fault::Status(200, hook.to_owned()), 1);
    machine.model.script([Reply::Status(401, r#"{"error":{"code":"invalid_api_key"}}"#.to_owned())]);
    machine.set("LOOKBACK_LIMIT", "many");
    machine.check(&[], expect![[r#"
        FAIL config: LOOKBACK_LIMIT is `many`; do: set a whole number from N to N for example LOOKBACK_LIMIT=20
        ok database: chime.db is sound, version N N KiB
        (the disk of this machine)
        ok jobs: N open, none parked
        ok vectors: N of N messages and N of N summaries have one
        warn backups: none are made; do: set BACKUP_DIR to a folder, best on another disk
        ok access: owners: N allowed chats: N
        ok telegram: the token belongs to @bot
        ok clock: agrees with Telegram's
        FAIL webhook: updates go to a webhook at hooks.example.org instead of chime; do: open https://api.telegram.org/bot<TOKEN>/deleteWebhook once, with your token in it
        FAIL privacy: privacy mode is on and the bot is no admin in "Friday table" (-1001000000001): it sees no plain mentions there; do: send /setprivacy to @BotFather, choose Disable, then remove the bot from the group and add it again; or make it an admin there
        FAIL model: scripted: the server refuses (HTTP N invalid_api_key); do: set OPENAI_API_KEY to a key of this server
        exit Some(69)"#]]).await;
}

#[tokio::test]
async fn a_refused_token_and_a_dead_model_server() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("TELEGRAM_BOT_TOKEN", "1:wrong").set("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    machine.check(&[], expect![[r#"
        ok config: every setting is valid
        warn database: there is none at chime.db yet; do: start chime run, or set DATABASE_PATH
        (the disk of this machine)
        warn backups: none are made; do: set BACKUP_DIR to a folder, best on another disk
        ok access: owners: N allowed chats: N
        FAIL telegram: Telegram refuses the bot token: it is wrong or was revoked; do: copy it from @BotFather (/token) and set TELEGRAM_BOT_TOKEN
        ok clock: agrees with Telegram's
        FAIL model: scripted: the model server cannot be reached; do: start the model server, or correct OPENAI_BASE_URL
        exit Some(69)"#]]).await;
}

#[tokio::test]
async fn a_refused_token_ends_the_start_at_once_and_says_what_to_do() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("TELEGRAM_BOT_TOKEN", "1:wrong");
    let mut daemon = machine.start();
    assert_eq!(daemon.ended().await, Some(78));
    let log = daemon.log();
    assert!(log.contains("Telegram refuses the bot token") && log.contains("@BotFather"), "{log}");
    assert!(!log.contains("cannot be reached"), "it was reached: {log}");
}

#[tokio::test]
async fn offline_nobody_is_asked_and_scripts_read_json() {
    let machine = Machine::new(Setup::default()).await;
    std::fs::write(machine.database(), b"not a database at all, and long enough to be looked at").expect("write");
    let output = machine.run(&["check", "--offline", "--json"]).await;
    assert_eq!(output.status.code(), Some(69));
    let findings: Vec<Value> = String::from_utf8(output.stdout)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect();
    let names: Vec<&str> = findings.iter().filter_map(|finding| finding["name"].as_str()).collect();
    assert_eq!(names, ["config", "database", "disk", "backups", "access"]);
    assert_eq!(findings[1]["verdict"], "FAIL");
    assert!(machine.telegram.calls().is_empty());
    assert!(machine.model.requests().is_empty());
}

#[tokio::test]
async fn parked_jobs_are_shown_and_retried_while_somebody_holds_the_database() {
    let machine = Machine::new(Setup::default()).await;
    let (store, _) = machine.store();
    let now = Clock::system().now();
    store
        .write(Priority::Answering, move |tx| {
            for message in [MessageId(1), MessageId(2)] {
                let at = MessageAt { chat: ChatId(1), message };
                jobs::add(tx, &JobPayload::Answer { at, parsed: ParsedTrigger::default() }, now)?;
            }
            jobs::park(tx, JobId(1), "the prompt cannot be rendered")?;
            jobs::park(tx, JobId(2), "panicked")
        })
        .await
        .expect("park two jobs");
    let offline = machine.run(&["check", "--offline"]).await;
    let shown = String::from_utf8(offline.stdout).expect("text");
    assert!(shown.contains("2 parked: #1 answer (attempt 1: the prompt cannot be rendered), #2"), "{shown}");
    assert!(shown.contains("do: chime retry JOB"), "{shown}");
    assert_eq!(machine.run(&["retry", "9"]).await.status.code(), Some(1));
    assert_eq!(machine.run(&["retry", "1"]).await.status.code(), Some(0));
    assert_eq!(store.read(jobs::counts).await.expect("counts"), (1, 1));
    assert_eq!(machine.run(&["retry", "all"]).await.status.code(), Some(0));
    assert_eq!(store.read(jobs::counts).await.expect("counts"), (2, 0));
    assert_eq!(machine.run(&["retry", "some"]).await.status.code(), Some(2));
}

#[test]
fn a_folder_is_no_database() {
    assert!(chime_store::inspect(Path::new("/")).is_err());
}

/// Telegram under a name that only the proxy can resolve.
#[tokio::test]
async fn a_socks_proxy_is_used() {
    let mut machine = Machine::new(Setup::default()).await;
    let there = machine.telegram.api_url().trim_start_matches("http://").to_owned();
    let (_, port) = there.rsplit_once(':').expect("a port");
    let proxy = socks_proxy(there.clone());
    machine.set("TELEGRAM_API_URL", &format!("http://telegram.invalid:{port}"));
    machine.set("ALL_PROXY", &format!("socks5h://{proxy}"));
    let output = machine.run(&["check"]).await;
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("the token belongs to @bot"), "{shown}");
}

/// A SOCKS5 proxy that leads everywhere to `there`. Returns its address.
fn socks_proxy(there: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let there = there.clone();
            thread::spawn(move || lead(client, &there));
        }
    });
    address
}

fn lead(mut client: TcpStream, there: &str) -> io::Result<()> {
    let mut greeting = [0; 2];
    client.read_exact(&mut greeting)?;
    client.read_exact(&mut vec![0; greeting[1].into()])?;
    client.write_all(&[5, 0])?;
    // Version, command, a zero, the kind of address: 3 is a name.
    let mut request = [0; 5];
    client.read_exact(&mut request)?;
    assert_eq!(request[3], 3, "the name is for the proxy to resolve");
    client.read_exact(&mut vec![0; usize::from(request[4]) + 2])?;
    client.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0])?;
    let mut server = TcpStream::connect(there)?;
    let (mut from_client, mut to_server) = (client.try_clone()?, server.try_clone()?);
    thread::spawn(move || io::copy(&mut from_client, &mut to_server));
    io::copy(&mut server, &mut client).map(drop)
}

#[tokio::test]
async fn a_database_of_a_newer_version_fails_the_check() {
    let machine = Machine::new(Setup::default()).await;
    machine.store().0.close().await;
    Connection::open(machine.database())
        .and_then(|conn| conn.pragma_update(None, "user_version", 99))
        .expect("make it newer");
    let output = machine.run(&["check", "--offline"]).await;
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = shown.lines().find(|line| line.starts_with("FAIL database")).unwrap_or_else(|| panic!("{shown}"));
    assert!(line.contains("version 99") && line.contains("install the newer chime"), "{line}");
    assert_eq!(output.status.code(), Some(69));
}
