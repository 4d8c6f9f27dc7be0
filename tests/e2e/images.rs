//! Kills in the middle of background work. After a kill the last commit survives, so the daemon is started on a copy of
//! the database from each commit during a job, and must end in the same state as an undisturbed run.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use chime_core::{Class, JobKind, MessageId};
use chime_sandbox::{ChatMemberStatus, NewMember, Post};
use chime_store::Store;
use chime_store::images::{self, Image};
use chime_testkit::Reply;
use chime_world::World;
use serde_json::Value;

use crate::memory::{DAY, HOUR, ON, talk, told_by_the_program};
use crate::settings::admin;
use crate::voice::speak;

/// Long enough for every periodic job, and shorter than the silence that ends a session.
const A_WHILE: Duration = Duration::from_secs(20 * 60);
/// Long timeouts, since the clock runs ahead of the model.
const PATIENT: [(&str, &str); 2] = [("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")];
const BY_A_SERVER: (&str, &str) = ("EMBEDDING", "openai:letters");

/// Kinds of jobs that each test below is about.
const SUMMARIES: &[JobKind] =
    &[JobKind::Sessions, JobKind::Summary, JobKind::Tags, JobKind::SummaryVector, JobKind::Recent, JobKind::Thread];
const FOLDING: &[JobKind] = &[JobKind::History, JobKind::Recent, JobKind::MemoryUpkeep];
const TOPICS: &[JobKind] = &[JobKind::Topic];
const TOPIC_SUMMARIES: &[JobKind] = &[JobKind::TopicSummary];
const RECAPS: &[JobKind] = &[JobKind::Recaps, JobKind::ChatRecap];
const CONCEPTS: &[JobKind] = &[JobKind::Capture, JobKind::Concepts];
const FORGETTING: &[JobKind] = &[JobKind::Forget, JobKind::Scrub, JobKind::Vectors];
const RETENTION: &[JobKind] = &[JobKind::Retention];
const VOICE: &[JobKind] = &[JobKind::Transcribe];
const AMBIENT: &[JobKind] = &[JobKind::Ambient];

#[test]
fn every_kind_of_background_work_is_killed_in_some_story() {
    let stories =
        [SUMMARIES, FOLDING, TOPICS, TOPIC_SUMMARIES, RECAPS, CONCEPTS, FORGETTING, RETENTION, VOICE, AMBIENT].concat();
    let missing: Vec<&str> = JobKind::ALL
        .into_iter()
        .filter(|kind| kind.policy().class == Class::Background && !stories.contains(kind))
        .map(JobKind::as_str)
        .collect();
    assert_eq!(missing, [] as [&str; 0], "a kind of background work needs a story in this file");
}

/// Returns a plausible model reply: bullets of the lines in the prompt, or an empty JSON object of the requested form.
fn improvised(request: &Value) -> Reply {
    match request["response_format"]["json_schema"]["name"].as_str() {
        Some("tags") => {
            return Reply::text(
                r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"rope","conf":0.7}]}"#,
            );
        }
        Some("concepts") => {
            return Reply::text(
                r#"{"concepts":[{"preferred_label":"Red tent","alternative_labels":[],"definition":"The tent that comes along.","type":"thing"}]}"#,
            );
        }
        Some("topics") => return Reply::text(r#"{"topics":[]}"#),
        Some(_) | None => {}
    }
    let shown = request["messages"].as_array().and_then(|all| all.last()).and_then(|last| last["content"].as_str());
    let lines = shown.unwrap_or_default().lines().filter_map(|line| {
        let (head, text) = line.trim().strip_prefix("[m")?.split_once("] ")?;
        let number: u32 = head.split(' ').next()?.parse().ok()?;
        Some(format!("- {text} [m{number}]"))
    });
    let bullets: Vec<String> = lines.filter(|line| line.len() > 40).take(8).collect();
    Reply::text(if bullets.is_empty() { "The red one.".to_owned() } else { bullets.join("\n") })
}

/// Runs `act` undisturbed, and then from each commit at which a process that works on one of `kinds` may be killed.
async fn killed_in_the_middle_of(
    kinds: &[JobKind],
    settings: &[(&str, &str)],
    prepare: impl AsyncFnOnce(&mut World),
    act: impl AsyncFnOnce(&mut World),
) {
    World::with(&[settings, &PATIENT].concat(), async |w| {
        w.model.improvise(improvised);
        prepare(w).await;
        w.quiet(Duration::ZERO).await;
        let folder = tempfile::tempdir().expect("a folder for the images");
        let clock = w.clock.clone();
        let wanted = kinds.to_vec();
        let is_wanted = move |due: &[JobKind]| wanted.iter().any(|kind| is_worked_on(*kind, due));
        images::start(&w.database(), folder.path(), move || clock.now(), is_wanted);
        act(w).await;
        w.quiet(A_WHILE).await;
        let end = w.clock.now();
        let images = images::stop(&w.database());
        w.stop().await;
        let bot = w.telegram.bot_id().0;
        let undisturbed = rendered(&w.database(), bot).await;
        let chosen = chosen(&images, kinds);
        for place in chosen {
            let Image { file, at, due } = &images[place];
            w.set("DATABASE_PATH", &file.display().to_string());
            w.set_daemon_at(*at);
            w.start().await;
            w.quiet(end.since(*at)).await;
            w.stop().await;
            for (table, rows) in rendered(file, bot).await {
                // Vectors from a server are made only when a trigger needs them, so both runs may have different ones.
                if table == "message_vector" && settings.contains(&BY_A_SERVER) {
                    continue;
                }
                assert_eq!(rows, undisturbed[&table], "{table}, killed at commit {place} while {due:?} was due");
            }
        }
        w.ignore_what_was_sent();
        w.set_daemon_here();
        let database = w.database().display().to_string();
        w.set("DATABASE_PATH", &database);
        w.start().await;
    })
    .await;
}

/// Returns `true` if a process may be killed while jobs `due` include one of this `kind`. Excludes moments with a send,
/// since nobody can know whether it arrived.
fn is_worked_on(kind: JobKind, due: &[JobKind]) -> bool {
    due.contains(&kind) && !due.contains(&JobKind::Send)
}

/// Chooses for each kind the first commit with such a job, the last one before it ended, and one in between. Fails if a
/// kind did not occur.
fn chosen(images: &[Image], kinds: &[JobKind]) -> BTreeSet<usize> {
    let mut chosen = BTreeSet::new();
    for kind in kinds {
        let of_kind: Vec<usize> = (0..images.len()).filter(|place| is_worked_on(*kind, &images[*place].due)).collect();
        let last_before_an_end =
            of_kind.iter().copied().find(|place| images.get(place + 1).is_some_and(|next| !next.due.contains(kind)));
        assert!(!of_kind.is_empty(), "{} was never due: {} commits", kind.as_str(), images.len());
        let between = of_kind[of_kind.len() / 2];
        chosen.extend([of_kind[0], between, last_before_an_end.unwrap_or(between)]);
    }
    chosen
}

/// Tables that may differ after another run of the same work: the job queue, token costs, delivery records, and indexes
/// derived from other tables.
const LEFT_OUT: &[&str] = &[
    "job",
    "token_usage",
    "token_calibration",
    "inbox",
    "reply_stream",
    "reply_use",
    "answer_use",
    "link_cache",
    "vector_due",
    "vector_progress",
];

/// Returns the rows of every table in a form that two runs share: without times of the daemon's clock and without
/// random ids, and with names of tags. Messages of the bot are compared by the outbox, which holds each part of a reply
/// once.
async fn rendered(file: &Path, bot: i64) -> BTreeMap<String, Vec<String>> {
    let store = Store::open_to_read(file).expect("open the database");
    let rendered = store.read(move |conn| {
        let tables: Vec<String> = conn
            .prepare(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'
                     AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_fts%' AND name NOT LIKE '%_index%'
                     AND name NOT LIKE 'vec_%'",
            )?
            .query_map([], |row| row.get(0))?
            .collect::<std::result::Result<_, _>>()?;
        let tags: BTreeMap<i64, String> = conn
            .prepare("SELECT id, name FROM tag")?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<std::result::Result<_, _>>()?;
        let mut all = BTreeMap::new();
        for table in tables.iter().filter(|table| !LEFT_OUT.contains(&table.as_str())) {
            let others = if table == "message" { format!("WHERE user_id IS NOT {bot}") } else { String::new() };
            let mut statement = conn.prepare(&format!("SELECT * FROM {table} {others}"))?;
            let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
            let mut found = Vec::new();
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let cells = columns.iter().enumerate().map(|(place, column)| {
                    let cell = Cell { table, column, value: row.get(place)? };
                    Ok(format!("{column}={}", cell.rendered(&tags)))
                });
                found.push(cells.collect::<chime_store::Result<Vec<_>>>()?.join(" "));
            }
            found.sort();
            all.insert(table.clone(), found);
        }
        let parked =
            conn.query_row("SELECT count(*) FROM job WHERE state = 'parked'", [], |row| row.get::<_, i64>(0))?;
        all.insert("parked jobs".to_owned(), vec![parked.to_string()]);
        Ok(all)
    });
    rendered.await.expect("read the database")
}

struct Cell<'a> {
    table: &'a str,
    column: &'a str,
    value: rusqlite::types::Value,
}

impl Cell<'_> {
    fn rendered(self, tags: &BTreeMap<i64, String>) -> String {
        use rusqlite::types::Value as Sql;
        let shown = match self.value {
            Sql::Null => "-".to_owned(),
            Sql::Integer(number) => number.to_string(),
            Sql::Real(number) => format!("{number:.4}"),
            Sql::Text(text) => without_drawn(&text),
            Sql::Blob(bytes) => {
                let mut hasher = DefaultHasher::new();
                bytes.hash(&mut hasher);
                format!("#{:x}", hasher.finish())
            }
        };
        let is_moment = self.column.ends_with("_at") || self.column == "since";
        match (self.table, self.column) {
            ("session", "started_at" | "ended_at") => shown,
            // Telegram's ids of sent messages, and the number of attempts.
            ("outbox", "id" | "message_id" | "attempts" | "key") | ("tag", "id") | ("answer", "latency_ms") => {
                String::new()
            }
            (_, "tag_id" | "same_as") => {
                shown.parse().ok().and_then(|id: i64| tags.get(&id).cloned()).unwrap_or_default()
            }
            _ if is_moment => (shown != "-").to_string(),
            _ => shown,
        }
    }
}

/// Replaces ULIDs, which contain a time and random bits.
fn without_drawn(text: &str) -> String {
    const LENGTH: usize = 26;
    let is_of_one = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit();
    let words = text.split_inclusive(|letter: char| !is_of_one(letter));
    words
        .map(|word| match word.trim_end_matches(|letter: char| !is_of_one(letter)) {
            drawn if drawn.len() == LENGTH && drawn.starts_with("01") => word.replace(drawn, "ULID"),
            _ => word.to_owned(),
        })
        .collect()
}

#[tokio::test]
async fn killed_while_sessions_are_summarized() {
    let settings = [ON, BY_A_SERVER, ("MAX_CHAT_HISTORY", "10")];
    killed_in_the_middle_of(
        SUMMARIES,
        &settings,
        async |w| {
            let tag = w.say("bob", "@bot which tent?");
            w.answer_to(tag).await;
        },
        async |w| {
            talk(w);
            let mut last: Option<MessageId> = None;
            for number in 1..=14 {
                let text = format!("about the red tent, thought {number}: it has room for {number} of us at the lake");
                last = Some(match last {
                    Some(parent) => w.reply(["ann", "bob", "cat"][number % 3], parent, &text),
                    None => w.say("ann", &text),
                });
            }
            let tag = w.reply("bob", last.expect("a message"), "@bot should we take the red tent?");
            w.answer_to(tag).await;
            w.settled().await;
            w.clock.advance(2 * HOUR);
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_a_voice_message_is_written_down() {
    killed_in_the_middle_of(
        VOICE,
        &[ON, ("MODEL_TRANSCRIBE", "ears")],
        async |w| {
            let tag = w.say("bob", "@bot which tent?");
            w.answer_to(tag).await;
        },
        async |w| {
            w.model.hear_always("the red tent is in the cellar");
            speak(w, "ann");
            speak(w, "cat");
            w.settled().await;
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_a_question_that_nobody_answered_is_answered() {
    killed_in_the_middle_of(
        AMBIENT,
        &[],
        async |w| {
            w.model.improvise(|_| Reply::text("At noon [source: m1]."));
            w.play("10:00 ann#1 the boat to the island leaves the harbour at noon");
            let eve = admin(w, w.chat, "eve");
            let said = w.telegram.say(w.chat, Post::new(eve, "/settings@bot ambient on", w.clock.now()));
            w.answer_to(said).await;
            w.clock.advance(2 * HOUR);
        },
        async |w| {
            w.say("bob", "when does the boat to the island leave the harbour?");
            w.telegram.all_confirmed().await;
            w.quiet(HOUR).await;
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_history_is_folded() {
    killed_in_the_middle_of(
        FOLDING,
        &[ON],
        async |w| {
            talk(w);
            w.settled().await;
            w.quiet(2 * HOUR).await;
            w.clock.advance(20 * DAY);
            talk(w);
            w.settled().await;
            w.quiet(2 * HOUR).await;
        },
        async |w| {
            w.clock.advance(15 * DAY);
            w.quiet(2 * HOUR).await;
        },
    )
    .await;
}

/// Plays a talk that gets summarized, and asks questions about one subject in it.
async fn talk_and_ask(w: &mut World, questions: &[&str]) {
    talk(w);
    w.settled().await;
    w.quiet(2 * HOUR).await;
    for question in questions {
        let tag = w.say("dan", question);
        w.answer_to(tag).await;
        w.settled().await;
    }
}

#[tokio::test]
async fn killed_while_a_topic_is_found() {
    killed_in_the_middle_of(
        TOPICS,
        &[ON],
        async |w| talk_and_ask(w, &["@bot is the tent dry?", "@bot who has the tent?"]).await,
        async |w| {
            let tag = w.say("dan", "@bot how large is the tent?");
            w.answer_to(tag).await;
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_a_topic_is_summed_up() {
    let questions = ["@bot is the tent dry?", "@bot who has the tent?", "@bot how large is the tent?"];
    killed_in_the_middle_of(
        TOPIC_SUMMARIES,
        &[ON],
        async |w| talk_and_ask(w, &questions).await,
        async |w| {
            assert!(told_by_the_program(w, &["--rebuild", "topic:tent"]).contains("made anew"));
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_a_recap_is_told() {
    killed_in_the_middle_of(
        RECAPS,
        &[],
        async |w| {
            let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
            let order = w.telegram.say(w.chat, Post::new(eve, "/recap daily 18:00", w.clock.now()));
            w.answer_to(order).await;
            for _ in 0..3 {
                talk(w);
            }
        },
        async |w| {
            w.clock.advance(DAY);
            w.next_sent().await;
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_concepts_are_captured() {
    killed_in_the_middle_of(
        CONCEPTS,
        &[ON],
        async |w| {
            w.capture_concepts();
            w.restart().await;
        },
        async |w| {
            let tag = w.say("dan", "@bot which tent comes along?");
            w.answer_to(tag).await;
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_a_message_is_forgotten() {
    killed_in_the_middle_of(
        FORGETTING,
        &[ON],
        async |w| {
            talk(w);
            w.settled().await;
            w.quiet(2 * HOUR).await;
        },
        async |w| {
            let forget = w.say("cat", "/forget me");
            w.answer_to(forget).await;
        },
    )
    .await;
}

#[tokio::test]
async fn killed_while_old_messages_are_deleted() {
    killed_in_the_middle_of(
        RETENTION,
        &[ON, ("RETENTION_DAYS", "30")],
        async |w| {
            for _ in 0..8 {
                talk(w);
            }
            w.settled().await;
            w.quiet(2 * HOUR).await;
        },
        async |w| w.clock.advance(32 * DAY),
    )
    .await;
}
