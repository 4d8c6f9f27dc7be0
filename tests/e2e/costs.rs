//! Cost of queries in a chat of 100,000 messages: none reads more than it needs.

use std::time::Duration;

use chime_core::{ChatId, ChatKey};
use chime_sandbox::{Post, PostContent};
use chime_store::chats;
use chime_store::watch::{self, Costs};
use chime_world::World;
use rusqlite::Connection;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MESSAGES: i64 = 100_000;
/// Most steps of SQLite's virtual machine per statement. A window of some hundred messages takes about 30,000; scanning
/// the chat takes more than 500,000.
const MOST_STEPS: i64 = 120_000;
/// Tables that grow with messages, questions and updates.
const LARGE: [&str; 11] = [
    "message",
    "inbox",
    "answer",
    "answer_use",
    "outbox",
    "reply_use",
    "job",
    "message_vector",
    "token_usage",
    "session",
    "follow_up",
];

/// Runs `test` in a group with a long history, with statistics of the daemon's statements.
async fn in_a_large_chat(settings: &[(&str, &str)], test: impl AsyncFnOnce(&mut World)) {
    World::with(settings, async |w| {
        w.say("ann", "hello");
        w.settled().await;
        let chat = w.chat;
        let key = w.read_store(move |conn| Ok(chats::find(conn, chat)?.map(|row| row.key))).await.expect("a chat");
        w.stop().await;
        fill(w, key, chat);
        watch::start(&w.database());
        w.start().await;
        watch::costs(&w.database());
        test(w).await;
    })
    .await;
}

/// Writes messages a minute apart, as ingest would: with replies, albums, names and the full-text index.
fn fill(w: &World, key: ChatKey, chat: ChatId) {
    let conn = Connection::open(w.database()).expect("open");
    let last = w.clock.now().secs() - 600;
    let (key, chat) = (key.0, chat.0);
    conn.execute_batch(&format!(
        "BEGIN;
         INSERT INTO message (id, chat_key, seq, telegram_chat_id, message_id, user_id, sender_name, role, is_bot, ts, kind,
             text, reply_to_id, media_group_id, source, stem_language)
         WITH RECURSIVE said(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM said WHERE n < {MESSAGES})
         SELECT ({key} << 32) | (n + 100), {key}, n + 100, {chat}, -n, 900 + n % 20, 'member' || (n % 20), 'user', 0,
             {last} - ({MESSAGES} - n) * 60, 'text', 'word' || (n % 50) || ' place' || (n % 997) || ' thing' || n,
             CASE WHEN n % 3 = 0 THEN 1 - n END, CASE WHEN n % 10 = 0 THEN 'album' || (n / 30) END, 'update', 'eng'
         FROM said;
         INSERT INTO message_fts (rowid, text, author)
         SELECT id, text, sender_name FROM message WHERE chat_key = {key} AND seq > 100;
         UPDATE chat SET next_seq = {MESSAGES} + 101 WHERE chat_key = {key};
         COMMIT;"
    ))
    .expect("fill");
}

/// Returns every statement of `costs` that scans a large table or takes too many steps.
fn too_dear(w: &World, costs: &Costs) -> Vec<String> {
    let conn = Connection::open(w.database()).expect("open");
    let partial: Vec<String> = {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'";
        let mut statement = conn.prepare(sql).expect("prepare");
        statement.query_map([], |raw| raw.get(0)).expect("rows").map(|name| name.expect("a name")).collect()
    };
    let walks = |sql: &str| -> Vec<String> {
        // Other statements have no query plan.
        let Ok(mut statement) = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")) else { return Vec::new() };
        let lines: Vec<String> =
            statement.raw_query().mapped(|raw| raw.get("detail")).collect::<Result<_, _>>().unwrap_or_default();
        let is_walk = |line: &&String| {
            let mut words = line.split(' ');
            words.next() == Some("SCAN")
                && words.next().is_some_and(|table| LARGE.contains(&table))
                && !partial.iter().any(|index| line.ends_with(&format!("INDEX {index}")))
        };
        lines.iter().filter(is_walk).cloned().collect()
    };
    let mut found = Vec::new();
    for (sql, steps) in costs {
        let walked = walks(sql);
        if !walked.is_empty() || *steps > MOST_STEPS {
            found.push(format!("{steps} steps, {walked:?}: {sql}"));
        }
    }
    found
}

#[tokio::test]
async fn no_query_of_the_answering_path_walks_the_chat() {
    in_a_large_chat(&[], async |w| {
        let (ann, clock) = (w.member("ann"), w.clock.clone());
        w.model.script(["It is place 7.", "The picture.", "Place 8.", "Much.", "This.", "That.", "See above."]);
        // With an album, with words, as a reply to an old message, and without words.
        let photo = |text: &str| Post::new(ann, text, clock.now()).with(PostContent::Photo).in_album("new");
        w.telegram.say(w.chat, photo(""));
        w.telegram.say(w.chat, photo("the lake"));
        let tag = w.say("ben", "@bot which is place7 of word3?");
        w.answer_to(tag).await;
        let tag = w.say("ben", "@bot");
        let answer = w.answer_to(tag).await;
        let tag = w.reply("ann", answer.id, "@bot and place8 yesterday?");
        let answer = w.answer_to(tag).await;
        for ask in
            ["@bot what was said yesterday?", "@bot what did member7 say?", "@bot what did member7 say last month?"]
        {
            let tag = w.say("ben", ask);
            w.answer_to(tag).await;
        }
        let why = w.reply("ann", answer.id, "/why");
        w.answer_to(why).await;
        let tag = w.telegram.say(w.chat, photo("@bot what is it?"));
        w.answer_to(tag).await;
        w.settled().await;
        let costs = watch::costs(&w.database());
        assert!(costs.keys().any(|sql| sql.contains("media_group_id = :album")), "an album is looked for");
        assert!(costs.len() > 60, "{} statements were seen", costs.len());
        assert_eq!(too_dear(w, &costs), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn what_keeps_house_at_work_walks_nothing() {
    in_a_large_chat(&[("RETENTION_DAYS", "365")], async |w| {
        let say = w.say("ann", "to be forgotten");
        w.settled().await;
        let forget = w.reply("ann", say, "/forget");
        w.answer_to(forget).await;
        w.settled().await;
        w.clock.advance(DAY + HOUR);
        w.settled().await;
        w.restart().await;
        w.settled().await;
        let costs = watch::costs(&w.database());
        assert!(costs.keys().any(|sql| sql.contains("AND state = 'sending'")), "nothing was sent again");
        let walking: Vec<String> = too_dear(w, &costs).into_iter().filter(|shown| !shown.contains(", []:")).collect();
        assert_eq!(walking, Vec::<String>::new());
    })
    .await;
}
