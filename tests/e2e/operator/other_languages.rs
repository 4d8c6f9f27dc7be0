//! Chats in languages that the bot has no words of: what a question needs is found as plain full text would find it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use chime_core::ChatId;
use chime_core::embed::Embedder;
use chime_eval::baselines::Retriever;
use chime_eval::pack::{Pack, PackMessage};
use chime_eval::pack_file::read_pack;
use chime_eval::recall::{RankingUnit, evaluate};
use chime_runtime::clock::Clock;
use chime_sandbox::{NewChat, Post, Setup};
use chime_testkit::Reply;
use serde_json::{Value, json};

use super::Machine;
use super::archive::run;

/// Questions asked in each chat.
const ASKED: usize = 3;
/// Tokens of the prompt for messages: about a third of a chat.
const TOKENS: &str = "500";

/// Returns an export of a chat whose last message is an hour old.
fn export(chat: ChatId, messages: &[PackMessage]) -> Value {
    let newest = messages.last().map_or(0, |message| message.date);
    let shift = Clock::system().now().secs() - 3_600 - newest;
    let message = |message: &PackMessage| {
        let mut exported = json!({
            "id": message.message_id, "type": "message", "date_unixtime": (message.date + shift).to_string(),
            "from": message.from_name, "from_id": format!("user{}", message.from_id), "text": message.text,
        });
        if let Some(parent) = message.reply_to {
            exported["reply_to_message_id"] = json!(parent);
        }
        exported
    };
    let messages: Vec<Value> = messages.iter().map(message).collect();
    json!({"name": "group", "type": "private_supergroup", "id": -1_000_000_000_000 - chat.0, "messages": messages})
}

/// Returns the messages that BM25 ranks for each question, best first.
async fn by_full_text(pack: &Pack) -> BTreeMap<String, Vec<i64>> {
    let embedder = Arc::new(Embedder::shipped().expect("the embedding model"));
    let ranked = evaluate(pack, Retriever::Bm25, RankingUnit::Turn, &embedder, 20, || ()).await.expect("rank");
    ranked.predictions.into_iter().map(|one| (one.query_id, one.ranked)).collect()
}

#[tokio::test]
async fn what_a_question_needs_is_in_the_prompt_in_languages_without_a_file() {
    let mut pack = read_pack(Path::new("data/languages")).expect("the chats");
    pack.questions.retain(|one| {
        one.ask.query_id.rsplit_once(":r").is_some_and(|(_, n)| n.parse().is_ok_and(|n: usize| n < ASKED))
    });
    let full_text = by_full_text(&pack).await;
    let mut machine = Machine::new(Setup::default()).await;
    let settings = [("ALLOWED_CHATS", "*"), ("CONTEXT_TOKENS", TOKENS), ("MEMORY", "off"), ("RATE_LIMIT", "off")];
    for (name, value) in settings {
        machine.set(name, value);
    }
    let mut chats = BTreeMap::new();
    for (name, messages) in &pack.chats {
        let chat = machine.telegram.add_chat(NewChat::supergroup(name.as_str()));
        let file = machine.folder.path().join(format!("{name}.json"));
        std::fs::write(&file, export(chat, messages).to_string()).expect("write the export");
        let (code, actual) = run(&machine, &["import", &file.display().to_string()]).await;
        assert_eq!(code, Some(0), "{actual}");
        chats.insert(name.as_str(), chat);
    }
    let mut daemon = machine.start();
    let mut cursor = machine.telegram.cursor();
    for _ in &chats {
        cursor = machine.telegram.next_sent(cursor).await.1;
    }
    let mut shares: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for question in &pack.questions {
        let (ask, needed) = (&question.ask, question.gold.context.iter().collect::<BTreeSet<_>>());
        let chat = chats[ask.chat_id.as_str()];
        machine.model.script([Reply::text("OK.")]);
        let zoe = machine.telegram.add_member(chat, "Zoe");
        machine.telegram.say(chat, Post::new(zoe, format!("@bot {}", ask.question), Clock::system().now()));
        cursor = machine.telegram.next_sent(cursor).await.1;
        let prompt = machine.model.requests().last().map(ToString::to_string).unwrap_or_default();
        let is_shown = |message: &&PackMessage| prompt.contains(json!(message.text).to_string().trim_matches('"'));
        let shown: Vec<i64> = pack.chats[&ask.chat_id].iter().filter(is_shown).map(|it| it.message_id).collect();
        let share = |found: &[i64]| found.iter().filter(|id| needed.contains(id)).count() as f64 / needed.len() as f64;
        let ranked = &full_text[&ask.query_id];
        let shares = shares.entry(&ask.chat_id).or_default();
        shares.0 += share(&shown) / ASKED as f64;
        shares.1 += share(&ranked[..shown.len().min(ranked.len())]) / ASKED as f64;
    }
    assert_eq!(daemon.stop().await, Some(0), "{}", daemon.log());
    assert_eq!(shares.len(), 9);
    // Threads are sampled, so single questions differ from run to run: the languages are judged together.
    let mean = |of: fn(&(f64, f64)) -> f64| shares.values().map(of).sum::<f64>() / shares.len() as f64;
    let (in_prompt, by_full_text) = (mean(|of| of.0), mean(|of| of.1));
    assert!(in_prompt >= by_full_text && in_prompt >= 0.8, "{in_prompt}, by full text {by_full_text}: {shares:?}");
    assert!(shares.values().all(|of| of.0 >= 0.3), "a language is lost: {shares:?}");
}
