//! Monitoring: the log, `/healthz` and `/metrics`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::TcpListener;
use std::time::Duration;

use chime_core::ChatId;
use chime_runtime::clock::Clock;
use chime_sandbox::faults::{FOREVER, Fault};
use chime_sandbox::{BotAction, Cursor, NewChat, NewMember, Post, Setup};
use chime_testkit::Reply;
use serde_json::Value;

use super::{Machine, PATIENCE};

/// Words in messages, titles, names, model replies and broken updates. None of them may reach the log.
const SAID: [&str; 9] = [
    "zebrasaid",
    "zebracaption",
    "zebraedited",
    "ZebraName",
    "zebra_user",
    "ZebraTitle",
    "zebraanswer",
    "zebracited",
    "zebrabroken",
];
const KEY: &str = "sk-zebrakey1234567890";

/// Returns a free port of the loopback interface, on its second address if there is one. On the first one, servers of
/// other tests took such a port before the daemon did.
pub fn free_address() -> String {
    let listener = ["127.0.0.2:0", "127.0.0.1:0"].into_iter().find_map(|any| TcpListener::bind(any).ok());
    let listener = listener.expect("a free port");
    listener.local_addr().expect("its address").to_string()
}

async fn get(url: &str) -> Option<(u16, String)> {
    // A second installation fails, which is harmless.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let response = reqwest::get(url).await.ok()?;
    let status = response.status().as_u16();
    Some((status, response.text().await.ok()?))
}

/// Requests `url` until the response is as wanted, and returns it.
pub async fn get_until(url: &str, wanted: impl Fn(u16, &str) -> bool) -> String {
    let clock = Clock::system();
    let mut last = None;
    let asking = async {
        loop {
            last = get(url).await;
            match &last {
                Some((status, body)) if wanted(*status, body) => return body.clone(),
                _ => clock.sleep(Duration::from_millis(20)).await,
            }
        }
    };
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(body) => body,
        Err(_) => panic!("{url} does not answer as wanted: {last:?}"),
    }
}

/// Waits until the bot has sent this many messages and finished its other work.
async fn said(machine: &Machine, count: usize) {
    let waiting = async {
        let (mut cursor, mut seen) = (Cursor::default(), 0);
        while seen < count {
            let (action, next) = machine.telegram.next_from_bot(cursor).await;
            cursor = next;
            seen += usize::from(matches!(action, BotAction::Sent(_) | BotAction::Reacted { .. }));
        }
    };
    if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
        let log = std::fs::read_to_string(machine.folder.path().join("stderr")).unwrap_or_default();
        panic!("the bot does not say {count} things: {:#?}\n{log}", machine.telegram.actions_since(Cursor::default()));
    }
}

/// Plays a conversation that brings words into the daemon in every possible way.
async fn talk(machine: &Machine) -> ChatId {
    let telegram = &machine.telegram;
    let clock = Clock::system();
    let chat = telegram.add_chat(NewChat::supergroup("ZebraTitle"));
    let zebra = telegram.add_member(chat, NewMember::named("ZebraName").username("zebra_user"));
    let say = |text: &str| telegram.say(chat, Post::new(zebra, text, clock.now()));
    let first = say("zebrasaid one");
    telegram.edit(chat, first, "zebraedited", clock.now());
    telegram.push_raw(r#"{"message":{"message_id":"zebrabroken","text":"zebrabroken"}}"#);
    telegram.push_raw(r#"{"novelty":{"text":"zebrabroken"}}"#);
    machine.model.script([
        Reply::text("zebraanswer [source: zebracited] [source: m1]"),
        Reply::Status(400, r#"{"error":{"message":"zebraanswer","code":"zebraanswer zebraanswer"}}"#.to_owned()),
        Reply::Filtered,
    ]);
    say("@bot zebrasaid?");
    said(machine, 1).await;
    say("@bot zebrasaid again?");
    said(machine, 2).await;
    say("@bot zebrasaid and now?");
    said(machine, 3).await;
    say("/search@bot zebrasaid");
    said(machine, 4).await;
    // The fifth question within eight seconds is refused, and the sixth only gets a reaction.
    say("@bot zebrasaid once more?");
    said(machine, 5).await;
    say("@bot zebrasaid please?");
    said(machine, 6).await;
    let stranger = telegram.add_chat(NewChat::private("ZebraName"));
    telegram.say(stranger, Post::new(zebra, "zebrasaid in private", clock.now()));
    telegram.all_confirmed().await;
    chat
}

#[tokio::test]
async fn no_word_of_anybody_and_no_secret_reaches_the_log_at_any_level() {
    for (level, format) in [("trace", "json"), ("trace", "human"), ("error", "json")] {
        let mut machine = Machine::new(Setup::default()).await;
        let secret = machine.telegram.token().split_once(':').expect("a token").1.to_owned();
        machine.set("OPENAI_API_KEY", KEY).set("ALLOWED_CHATS", "*").set("MEMORY", "off");
        machine.set("LOG_LEVEL", level).set("LOG_FORMAT", format);
        let mut daemon = machine.start();
        talk(&machine).await;
        assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
        let log = daemon.log();
        assert_eq!(log.contains("chat.retrieval"), level == "trace", "the log is there: {log}");
        for word in SAID.iter().chain([&KEY, &secret.as_str()]) {
            let line = log.lines().find(|line| line.contains(word));
            assert_eq!(line, None, "{word} is in the log");
        }
    }
}

#[tokio::test]
async fn an_answer_can_be_followed_through_the_log_by_its_ids() {
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("ALLOWED_CHATS", "*").set("MEMORY", "off").set("LOG_FORMAT", "json").set("LOG_LEVEL", "debug");
    let mut daemon = machine.start();
    let chat = talk(&machine).await;
    assert_eq!(daemon.stop().await, Some(0));
    let lines: Vec<Value> =
        daemon.log().lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect();
    let of = |event: &str| -> Vec<&Value> {
        lines.iter().filter(|line| line["message"].as_str().is_some_and(|message| message.starts_with(event))).collect()
    };
    for event in ["chat.event", "chat.metrics", "chat.retrieval", "chat.citations", "chat.rate_limit", "chat.error"] {
        assert!(!of(event).is_empty(), "{event} is missing from {lines:#?}");
    }
    assert_eq!(of("chat.rate_limit")[0]["type"], "flood");
    assert_eq!(of("chat.error")[0]["error_type"], "filtered");
    assert_eq!(of("chat.citations")[0]["removed"], r#"["?"]"#);
    let phases: Vec<&str> = of("chat.metrics").iter().filter_map(|line| line["phase"].as_str()).collect();
    assert!(["context", "model", "send"].iter().all(|phase| phases.contains(phase)), "{phases:?}");
    let span_of = |line: &Value, name: &str| {
        let spans = line["spans"].as_array().cloned().unwrap_or_default();
        spans.into_iter().find(|span| span["name"] == name).unwrap_or_default()
    };
    let ready = lines.iter().find(|line| line["message"].as_str().is_some_and(|said| said.starts_with("answered #")));
    let trigger = span_of(ready.expect("an answer is ready"), "trigger");
    assert_eq!(trigger["chat.id"], chat.0);
    assert!(trigger["message.id"].is_i64() && trigger["answer.id"].is_string(), "{trigger}");
    let sent = lines.iter().find(|line| line["type"] == "reply_sent").expect("a reply was sent");
    assert_eq!(span_of(sent, "reply")["answer.id"], trigger["answer.id"]);
}

#[tokio::test]
async fn health_is_green_turns_red_when_polling_is_taken_over_and_recovers() {
    let address = free_address();
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("HTTP_ADDR", &address).set("ALLOWED_CHATS", "*");
    let mut daemon = machine.start();
    let healthz = format!("http://{address}/healthz");
    let green: Value = serde_json::from_str(&get_until(&healthz, |status, _| status == 200).await).expect("JSON");
    assert_eq!(green["status"], "ok", "{green}");
    assert_eq!(green["breaker"], "closed");
    assert_eq!((green["jobs_due"].as_u64(), green["jobs_parked"].as_u64()), (Some(0), Some(0)));
    assert!(green["last_poll_age_s"].is_number() && green["reasons"].as_array().is_some_and(Vec::is_empty));
    let conflict = r#"{"ok":false,"error_code":409,"description":"Conflict: terminated by other getUpdates request"}"#;
    machine.telegram.fault("getUpdates", Fault::Status(409, conflict.to_owned()), FOREVER);
    let red = get_until(&healthz, |status, _| status == 503).await;
    assert!(red.contains("another instance polls"), "{red}");
    machine.telegram.clear_faults();
    get_until(&healthz, |status, _| status == 200).await;
    assert_eq!(daemon.stop().await, Some(0));
}

#[tokio::test]
async fn health_is_told_before_telegram_was_ever_reached() {
    let address = free_address();
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("HTTP_ADDR", &address).set("ALLOWED_CHATS", "*");
    machine.telegram.fault("getMe", Fault::Status(502, String::new()), FOREVER);
    let mut daemon = machine.start();
    let healthz = format!("http://{address}/healthz");
    let ill = get_until(&healthz, |_, body| body.contains(r#""status":"degraded""#)).await;
    assert!(ill.contains("502"), "{ill}");
    machine.telegram.clear_faults();
    get_until(&healthz, |status, body| status == 200 && body.contains(r#""status":"ok""#)).await;
    assert_eq!(daemon.stop().await, Some(0));
}

#[tokio::test]
async fn metrics_count_what_happened() {
    let address = free_address();
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("HTTP_ADDR", &address).set("ALLOWED_CHATS", "*").set("MEMORY", "off").set("PRICE_IN", "1");
    let mut daemon = machine.start();
    talk(&machine).await;
    let metrics = format!("http://{address}/metrics");
    let text = get_until(&metrics, |_, text| text.contains(r#"chime_refusals_total{type="flood"} 2"#)).await;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.starts_with("chime_"), "{line}");
        let value = line.rsplit_once(' ').map(|(_, value)| value.parse::<f64>());
        assert!(matches!(value, Some(Ok(_))), "{line}");
    }
    for part in [
        r#"chime_events_total{type="message_received"} 3"#,
        r#"chime_errors_total{type="filtered"} 1"#,
        r#"chime_phase_seconds_count{phase="model"} 3"#,
        r#"chime_answers_total{vectors="unused"} 1"#,
        "chime_vector_distance_count 0\n",
        // The call that failed is charged too.
        "chime_model_calls_today 2\n",
        "chime_resident_memory_bytes ",
        "chime_disk_free_bytes ",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    assert_eq!(daemon.stop().await, Some(0));
}

#[tokio::test]
async fn metrics_are_named_as_prometheus_recommends() {
    let address = free_address();
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("HTTP_ADDR", &address).set("ALLOWED_CHATS", "*").set("PRICE_IN", "1").set("BACKUP_DIR", "copies");
    let mut daemon = machine.start();
    talk(&machine).await;
    let metrics = format!("http://{address}/metrics");
    let text = get_until(&metrics, |_, text| text.contains(r#"chime_refusals_total{type="flood"} 2"#)).await;
    let names: BTreeSet<&str> = text.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let names: BTreeSet<&str> = names.into_iter().chain(types).collect();
    for file in [include_str!("../../../deploy/alerts.yml"), include_str!("../../../deploy/grafana.json")] {
        let words = file.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let unknown: Vec<&str> = words.filter(|word| word.starts_with("chime_") && !names.contains(word)).collect();
        assert_eq!(unknown, Vec::<&str>::new(), "{text}");
    }
    assert_eq!(lint(&text), Vec::<String>::new(), "{text}");
    assert_eq!(daemon.stop().await, Some(0));
}

/// Applies the rules of `promtool check metrics` to metrics in the text format, and returns what breaks them.
fn lint(text: &str) -> Vec<String> {
    const ABBREVIATIONS: [&str; 15] =
        ["s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d", "bit"];
    const NOT_BASE: [&str; 9] =
        ["milliseconds", "minutes", "hours", "days", "weeks", "kilobytes", "megabytes", "bits", "percent"];
    const TYPES: [&str; 6] = ["counter", "gauge", "histogram", "summary", "untyped", "info"];
    let (mut broken, mut helped, mut types) = (Vec::new(), BTreeSet::new(), BTreeMap::new());
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "HELP", name, help] if !help.trim().is_empty() && helped.insert(name) => {}
            ["#", "TYPE", name, kind] if helped.contains(name) && types.insert(name, kind).is_none() => {
                let parts: Vec<&str> = name.split('_').collect();
                let is_snake = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
                let has = |words: &[&str]| parts.iter().any(|part| words.contains(part));
                let is_summary = matches!(kind, "summary" | "histogram");
                let reserved = ["_count", "_sum", "_bucket"].iter().any(|end| name.ends_with(end));
                let is_named_well = is_snake
                    && (kind == "counter") == name.ends_with("_total")
                    && !has(&ABBREVIATIONS)
                    && !has(&NOT_BASE)
                    && !has(&TYPES)
                    && (is_summary || !reserved);
                if !is_named_well {
                    broken.push(line.to_owned());
                }
            }
            _ if line.starts_with('#') => broken.push(line.to_owned()),
            _ => {
                let name = line.split(['{', ' ']).next().unwrap_or_default();
                let base = name.strip_suffix("_count").or_else(|| name.strip_suffix("_sum"));
                let is_summary = base.is_some_and(|base| types.get(base) == Some(&"summary"));
                if !is_summary && !types.contains_key(name) {
                    broken.push(line.to_owned());
                }
            }
        }
    }
    broken
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let mut machine = Machine::new(Setup::default()).await;
    machine.set("HTTP_ADDR", &address);
    let mut daemon = machine.start();
    assert_eq!(daemon.ended().await, Some(1));
    assert!(daemon.log().contains(&format!("HTTP_ADDR {address} cannot be served")), "{}", daemon.log());
}
