//! Topics of a conversation, and their summaries.

use chime_core::{ChatKey, Conversation, EntityKind, SessionId, SummaryMethod};
use chime_sandbox::{ChatMemberStatus, NewMember, Post};
use chime_store::topics::{self, TopicState};
use chime_store::{chats, jobs, sessions, tags};
use chime_testkit::Reply;
use chime_world::World;

use crate::memory::{DAY, HOUR, NO_MODEL, ON, told_by_the_program, until_summarized};
use crate::process::Process;

const TENT: [(&str, &str); 4] = crate::memory::TALK;
const BOILER: [(&str, &str); 4] = [
    ("ann", "the boiler in the kitchen shows F28 again, no hot water at all"),
    ("bob", "I call Derek, he repaired that boiler last winter for 90"),
    ("cat", "we decided: Derek repairs the boiler on Monday at 9:00"),
    ("ann", "good, I stay at home on Monday and let Derek in"),
];

async fn here(w: &World) -> Conversation {
    let chat = w.chat;
    let key = w.read_store(move |conn| Ok(chats::find(conn, chat)?.map_or(ChatKey(0), |row| row.key))).await;
    Conversation { chat: key, forum_topic: None }
}

/// Plays the `count`th talk, which is then closed and summarized.
async fn remembered(w: &World, talk: &[(&str, &str)], count: usize) {
    for (name, text) in talk {
        w.say(name, text);
    }
    w.settled().await;
    w.clock.advance(2 * HOUR);
    until_summarized(w, count).await;
}

async fn state(w: &World) -> TopicState {
    let here = here(w).await;
    w.read_store(move |conn| topics::state(conn, here)).await.unwrap_or_default()
}

async fn topic_now(w: &World) -> Vec<String> {
    let active = state(w).await.active;
    w.read_store(move |conn| active.iter().filter_map(|tag| topics::name(conn, *tag).transpose()).collect()).await
}

/// Asks and waits until all jobs have ended.
async fn ask(w: &mut World, text: &str) {
    let tag = w.say("dan", text);
    w.answer_to(tag).await;
    w.settled().await;
}

#[tokio::test]
async fn three_tags_on_a_matter_adopt_its_topic_and_the_next_answer_has_its_facts() {
    World::with(&[ON], async |w| {
        remembered(w, &TENT, 1).await;
        w.model.script([
            "Yes.",
            "Ann has it.",
            "For two.",
            "- The red tent comes along to the lake [m1, m2, m3]\n- They sail to Paris [m1]",
        ]);
        for text in ["@bot is the tent dry?", "@bot who has the tent?", "@bot how large is the tent?"] {
            ask(w, text).await;
        }
        assert_eq!(topic_now(w).await, ["tent"]);
        let tag = state(w).await.active[0];
        let kept = w.read_store(move |conn| topics::summary(conn, tag)).await.expect("a summary").summary;
        assert_eq!(kept.bullets.len(), 1, "{kept:?}");
        let names_it = |request: &serde_json::Value| {
            let task = request["messages"][0]["content"].as_str().unwrap_or_default();
            task.contains("what is known of the topic \"tent\"") && task.contains("not about \"tent\"")
        };
        assert!(w.model.requests().iter().any(names_it));
        let source = format!("s{}", kept.bullets[0].sources[0].0);
        w.model.script([Reply::text(format!("The red one comes along [source: {source}]."))]);
        let next = w.say("dan", "@bot and which one do we take?");
        let answer = w.answer_to(next).await;
        let prompt = w.prompt(5).await;
        assert!(prompt.contains("What is remembered of the topic at hand, \"tent\""), "{prompt}");
        assert!(prompt.contains(&format!("[{source} · ")), "{prompt}");
        assert!(prompt.contains("The red tent comes along to the lake"), "{prompt}");
        let record = w.record_of(&answer).await;
        let slot = record.slots.iter().find(|slot| slot.name == "system.chat.topic:tent").expect("the topic's slot");
        assert!(slot.sources.contains(&source), "{slot:?}");
        assert_eq!(record.sources.iter().map(|it| it.id.clone()).collect::<Vec<_>>(), [source]);
        let why = w.reply("dan", answer.id, "/why");
        let actual = w.answer_to(why).await;
        assert!(actual.text.contains("the topic “tent” (1 line, 1 cited) from "), "{}", actual.text);
        let said = w.all_stored(w.chat).await[0].message.id;
        let is_link =
            |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&format!("/{said}")));
        assert!(actual.entities.iter().any(|entity| is_link(&entity.kind)), "{:?}", actual.entities);
    })
    .await;
}

#[tokio::test]
async fn a_pivot_swaps_the_slot_at_the_next_window_and_not_before() {
    World::with(&[ON], async |w| {
        remembered(w, &TENT, 1).await;
        remembered(w, &BOILER, 2).await;
        let slot = |topic: &str| format!("What is remembered of the topic at hand, \"{topic}\"");
        w.model.script(["Yes.", "Ann.", "For two.", "- The red tent comes along to the lake [m1, m2, m3]"]);
        for text in ["@bot is the tent dry?", "@bot who has the tent?", "@bot how large is the tent?"] {
            ask(w, text).await;
        }
        assert_eq!(topic_now(w).await, ["tent"]);
        for text in ["the boiler is out again", "that boiler!", "boiler, boiler"] {
            w.say("ann", text);
        }
        w.model.script(["Soon."]);
        ask(w, "@bot what about the boiler?").await;
        let prompt = w.prompt(5).await;
        assert!(prompt.contains(&slot("tent")) && !prompt.contains(&slot("boiler")), "{prompt}");
        assert_eq!((topic_now(w).await, state(w).await.evaluated_at), (vec!["tent".to_owned()], 3));
        // The eighth turn, without a question to the bot.
        w.model.script(["- Derek repairs the boiler on Monday at 9:00 [m1, m2, m3, m4]"]);
        w.say("ann", "the boiler again");
        w.until("topics are scored again", {
            let here = here(w).await;
            move |conn| Ok(topics::state(conn, here)?.is_some_and(|state| state.evaluated_at == 8))
        })
        .await;
        w.settled().await;
        assert_eq!((topic_now(w).await, state(w).await.adopted_at), (vec!["boiler".to_owned()], 8));
        w.model.script(["On Monday."]);
        ask(w, "@bot so when?").await;
        let prompt = w.prompt(7).await;
        assert!(prompt.contains(&slot("boiler")) && !prompt.contains(&slot("tent")), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_close_call_asks_the_model_once_an_answer_and_without_personal_data() {
    World::with(&[ON, ("EMBEDDING", "off")], async |w| {
        remembered(w, &TENT, 1).await;
        w.model.script([
            "Yes.",
            "Done.",
            "Maybe.",
            r#"{"candidates":[{"slug":"tent","label":"Tent","score":0.95,"rationale":"says tent"}]}"#,
            "- The red tent comes along to the lake [m1, m2, m3]",
        ]);
        for text in ["@bot is the tent dry?", "@bot write to ann@example.org about it", "@bot and tomorrow?"] {
            ask(w, text).await;
        }
        let prompt = w.prompt(4).await;
        assert!(prompt.contains("Which of its topics is this group chat about now?"), "{prompt}");
        assert!(prompt.contains("is the tent dry?") && !prompt.contains("ann@example.org"), "{prompt}");
        assert_eq!(topic_now(w).await, ["tent"]);
    })
    .await;
}

#[tokio::test]
async fn a_summary_that_fails_is_made_at_the_next_window_and_the_answer_goes_out() {
    World::with(&[ON], async |w| {
        remembered(w, &TENT, 1).await;
        w.model.script(["Yes.", "Ann.", "For two.", "I cannot help with that.", "Four.", "Five.", "Six.", "Seven."]);
        for text in [
            "@bot is the tent dry?",
            "@bot who has the tent?",
            "@bot how large is the tent?",
            "@bot is the tent new?",
            "@bot is the tent red?",
            "@bot is the tent old?",
            "@bot is the tent wet?",
        ] {
            ask(w, text).await;
        }
        let tag = state(w).await.active[0];
        assert_eq!(w.read_store(move |conn| topics::summary(conn, tag)).await, None);
        w.model.script(["Eight.", "- The red tent comes along to the lake [m1, m2, m3]"]);
        ask(w, "@bot is the tent heavy?").await;
        assert!(w.read_store(move |conn| topics::summary(conn, tag)).await.is_some());
        assert_eq!(topic_now(w).await, ["tent"], "the same topic stays");
    })
    .await;
}

#[tokio::test]
async fn synonyms_count_as_one_and_a_topic_is_set_by_hand_until_its_session_ends() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        remembered(w, &TENT, 1).await;
        remembered(w, &BOILER, 2).await;
        let list = w.say("dan", "/topics");
        let listed = w.answer_to(list).await.text;
        assert!(listed.contains("tent (1)") && listed.contains("boiler (1)"), "{listed}");
        let no = w.say("dan", "/topics merge boiler tent");
        assert_eq!(w.answer_to(no).await.text, "Only admins of this chat can change this.");
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let merge = w.telegram.say(w.chat, Post::new(eve, "/topics merge boiler tent", w.clock.now()));
        assert!(w.answer_to(merge).await.text.starts_with("From now on boiler counts as tent"));
        let list = w.say("dan", "/topics");
        let listed = w.answer_to(list).await.text;
        assert!(listed.contains("tent (2)") && !listed.contains("boiler"), "{listed}");
        let here = here(w).await;
        let carried = w
            .read_store(move |conn| {
                let tag = tags::find(conn, here.chat, "boiler")?.map_or(0, |tag| tag.id);
                Ok(tags::sessions_with(conn, tag, 10)?.len())
            })
            .await;
        assert_eq!(carried, 2, "stored tags count too");
        w.say("dan", "good morning");
        w.settled().await;
        let set = w.say("dan", "/topics use Boilers");
        assert!(w.answer_to(set).await.text.starts_with("The topic is now tent. It ends "));
        w.settled().await;
        assert_eq!(topic_now(w).await, ["tent"]);
        let list = w.say("dan", "/topics");
        let listed = w.answer_to(list).await.text;
        assert!(listed.contains("tent (2), the topic now"), "{listed}");
        let none = w.say("dan", "/topics use submarines");
        assert_eq!(w.answer_to(none).await.text, "I don't know that topic. /topics lists the topics.");
        let opener = state(w).await.opener.expect("the session it is of");
        w.clock.advance(2 * HOUR);
        w.until("the session is closed", move |conn| {
            Ok(sessions::find(conn, SessionId { chat: here.chat, first: opener })?.is_some())
        })
        .await;
        w.settled().await;
        assert_eq!(topic_now(w).await, [""; 0], "another session begins without a topic");
    })
    .await;
}

#[tokio::test]
async fn a_topic_that_is_set_in_silence_is_that_of_the_session_that_comes() {
    World::with(&[ON], async |w| {
        remembered(w, &TENT, 1).await;
        let set = w.say("dan", "/topics use tent");
        assert!(w.answer_to(set).await.text.starts_with("The topic is now tent."));
        w.settled().await;
        let tag = state(w).await.active[0];
        let kept = w.read_store(move |conn| topics::summary(conn, tag)).await.expect("made at once").summary;
        assert_eq!(kept.method, SummaryMethod::Extract, "nobody asked here yet");
        w.model.script(["The red one.", "- The red tent comes along to the lake [m1, m2, m3]"]);
        ask(w, "@bot and which one do we take?").await;
        let prompt = w.prompt(1).await;
        assert!(!prompt.contains("What is remembered of the topic at hand"), "Recent has the same lines: {prompt}");
        let kept = w.read_store(move |conn| topics::summary(conn, tag)).await.expect("a summary").summary;
        assert_eq!(kept.method, SummaryMethod::Model, "made anew when a model may be asked");
        let found = state(w).await;
        assert!(found.opener.is_some() && found.adopted_at == 1, "{found:?}");
        let memory = w.say("dan", "/memory");
        let shown = w.answer_to(memory).await.text;
        assert!(shown.contains("Topic tent (of this conversation: 1 conversation, "), "{shown}");
        // The operator requests a rebuild.
        w.model.script(["- The red tent comes along, the green one has a hole [m1, m2, m3]"]);
        told_by_the_program(w, &["--rebuild", "topic:tents"]);
        w.restart().await;
        w.settled().await;
        let kept = w.read_store(move |conn| topics::summary(conn, tag)).await.expect("a summary").summary;
        assert!(kept.bullets[0].text.contains("has a hole"), "{kept:?}");
    })
    .await;
}

#[tokio::test]
async fn a_topic_that_the_model_cannot_sum_up_is_told_in_the_words_of_its_sessions() {
    World::with(&[ON, ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")], async |w| {
        remembered(w, &TENT, 1).await;
        w.model.improvise(|_| Reply::text("The red one."));
        ask(w, "@bot which one do we take?").await;
        let here = here(w).await;
        let tag = w.read_store(move |conn| tags::find(conn, here.chat, "tent")).await.expect("a tag").id;
        told_by_the_program(w, &["--rebuild", "topic:tent"]);
        w.restart().await;
        w.quiet(HOUR).await;
        let kept = w.read_store(move |conn| topics::summary(conn, tag)).await.expect("a summary").summary;
        assert_eq!(kept.method, SummaryMethod::Extract);
        let (_, parked) = w.read_store(jobs::counts).await;
        assert_eq!(parked, 0, "what a model cannot do is not put aside for good");
    })
    .await;
}

#[tokio::test]
async fn what_is_remembered_of_a_topic_goes_with_the_messages_behind_it() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        let mut talk = TENT;
        talk[2].1 = "then we decided: the red tent comes along, its lock opens with zqtopic7xk";
        remembered(w, &talk, 1).await;
        let set = w.say("dan", "/topics use tent");
        w.answer_to(set).await;
        w.settled().await;
        let tag = state(w).await.active[0];
        let kept = w.read_store(move |conn| topics::summary(conn, tag)).await.expect("a summary");
        assert!(format!("{kept:?}").contains("zqtopic7xk"), "{kept:?}");
        let said = w.all_stored(w.chat).await;
        let forget = w.reply("cat", said[2].message.id, "/forget");
        w.answer_to(forget).await;
        assert_eq!(w.read_store(move |conn| topics::summary(conn, tag)).await, None);
        w.settled().await;
        w.stop().await;
        let file = std::fs::read(w.database()).expect("read the database");
        assert!(!String::from_utf8_lossy(&file).contains("zqtopic7xk"), "it is in the file");
        w.start().await;
    })
    .await;
}

#[tokio::test]
async fn who_opts_out_is_in_no_topic() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        remembered(w, &TENT, 1).await;
        let set = w.say("dan", "/topics use tent");
        w.answer_to(set).await;
        w.settled().await;
        let tag = state(w).await.active[0];
        assert!(w.read_store(move |conn| topics::summary(conn, tag)).await.is_some());
        let out = w.say("cat", "/optout");
        w.answer_to(out).await;
        assert_eq!(w.read_store(move |conn| topics::summary(conn, tag)).await, None);
    })
    .await;
}

#[tokio::test]
async fn what_is_remembered_of_a_topic_is_made_anew_after_seven_days() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        remembered(w, &TENT, 1).await;
        let mut made = Vec::new();
        for days in [0, 6, 2] {
            w.clock.advance(days * DAY);
            let set = w.say("dan", "/topics use tent");
            assert!(w.answer_to(set).await.text.starts_with("The topic is now tent."));
            w.settled().await;
            let tag = state(w).await.active[0];
            let kept = w.read_store(move |conn| topics::summary(conn, tag)).await.expect("a summary").summary;
            made.push(kept.built_at);
            // Recent has the same lines, so the topic does not repeat them.
            let asked = w.say("dan", "@bot which tent do we take?");
            let answer = w.answer_to(asked).await;
            let slots = w.record_of(&answer).await.slots;
            assert!(slots.iter().any(|slot| slot.name == "system.chat.recent" && slot.tokens > 0), "{slots:?}");
            assert!(!slots.iter().any(|slot| slot.name == "system.chat.topic:tent"), "{slots:?}");
            w.settled().await;
        }
        assert_eq!(made[0], made[1], "kept for seven days");
        assert!(made[2].since(made[0]) > 7 * DAY, "{made:?}");
    })
    .await;
}

/// If the embedding model has no vector for a text, topics are compared by words, and the log says so.
#[tokio::test]
async fn a_talk_without_a_vector_is_an_event_of_the_log() {
    World::without_daemon(async |w| {
        for (name, value) in [ON, NO_MODEL[0], NO_MODEL[1]] {
            w.set(name, value);
        }
        for (name, text) in TENT {
            let said = Post::new(w.member(name), text, w.clock.now().minus(3 * HOUR));
            w.telegram.say(w.chat, said);
        }
        let first = Process::start(w).await;
        w.telegram.all_confirmed().await;
        first.kill();
        // After a start the daemon checks which talks have ended.
        let mut daemon = Process::start(w).await;
        daemon.logged("MINI_SUMMARY_BUILT").await;
        for text in ["金曜日に行きましょうか", "どのテントですか"] {
            w.say("ann", text);
        }
        let tag = w.say("dan", "@bot どこですか");
        w.answer_to(tag).await;
        daemon.logged("EMBEDDING_MISS").await;
        daemon.logged("TOPIC_INFERRED").await;
        assert!(!daemon.log().contains("テント"), "words of members are in the log");
    })
    .await;
}
