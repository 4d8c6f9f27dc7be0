//! Memory of earlier talk: sessions, their summaries, Recent and History.

use std::time::Duration;

use chime_core::texts::texts;
use chime_core::{
    ChatKey, CloseReason, Conversation, EntityKind, MessageId, Rolling, Session, Summary, SummaryMethod, Timestamp,
};
use chime_sandbox::{ChatMemberStatus, NewChat, NewMember, Post};
use chime_store::{answers, chats, jobs, memory, sessions, summaries, tags};
use chime_testkit::Reply;
use chime_world::World;

use crate::budgets::answer_for;
use crate::grounding::{data_of, outcome};
use crate::settings::{admin, by};

pub const ON: (&str, &str) = ("MEMORY", "on");
pub const HOUR: Duration = Duration::from_secs(3600);
pub const DAY: Duration = Duration::from_secs(24 * 3600);
pub const NO_MODEL: [(&str, &str); 2] = [("OPENAI_BASE_URL", ""), ("MODEL", "")];

/// Talk with a decision.
pub const TALK: [(&str, &str); 4] = [
    ("ann", "shall we take the red tent or the green tent to the lake?"),
    ("bob", "the green tent has a hole near the door since the storm in May"),
    ("cat", "then we decided: the red tent comes along, and ann packs 3 ropes"),
    ("ann", "agreed, I'll bring the red tent and the ropes on Friday at 18:30"),
];

pub fn talk(w: &World) {
    for (name, text) in TALK {
        w.say(name, text);
    }
}

pub async fn closed(w: &World) -> Vec<Session> {
    let chat = w.chat;
    w.read_store(move |conn| {
        let key = chats::find(conn, chat)?.map_or(ChatKey(0), |row| row.key);
        sessions::begun_from(
            conn,
            Conversation { chat: key, forum_topic: None },
            (Timestamp::default(), MessageId(i64::MIN)),
            100,
        )
    })
    .await
}

pub async fn summary_of(w: &World, session: &Session) -> Option<Summary> {
    let id = session.id;
    w.read_store(move |conn| summaries::mini(conn, id)).await
}

/// Waits until the newest session has an up-to-date summary, or none for good.
pub async fn until_summarized(w: &World, count: usize) {
    let chat = w.chat;
    w.until("the sessions are summarized", move |conn| {
        let Some(row) = chats::find(conn, chat)? else { return Ok(false) };
        let all = sessions::begun_from(
            conn,
            Conversation { chat: row.key, forum_topic: None },
            (Timestamp::default(), MessageId(i64::MIN)),
            1000,
        )?;
        Ok(all.len() == count && sessions::stale(conn, row.key, 1)?.is_empty())
    })
    .await;
    w.settled().await;
}

/// A small model mixes up who does what, so it answers, and the members' own words are remembered.
#[tokio::test]
async fn a_small_model_answers_and_writes_no_summary() {
    World::with(&[ON, ("MODEL", "tiny-1.5b")], async |w| {
        talk(w);
        w.settled().await;
        w.model.script(["The red tent comes along."]);
        let ask = w.say("cat", "@bot which tent comes along?");
        assert!(w.words_to(ask).await.starts_with("The red tent comes along"));
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let summary = summary_of(w, &closed(w).await.remove(0)).await.expect("a summary");
        assert_eq!(summary.method, SummaryMethod::Extract);
        let ask = w.say("dan", "/recap 1d");
        let recap = w.answer_to(ask).await;
        assert!(recap.text.contains(TALK[3].1), "{}", recap.text);
        assert_eq!(w.model.requests().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn without_a_model_a_session_is_remembered_by_its_own_messages() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let session = closed(w).await.remove(0);
        assert_eq!((session.messages, session.reason), (4, CloseReason::Silence));
        let summary = summary_of(w, &session).await.expect("a summary");
        assert_eq!(summary.method, SummaryMethod::Extract);
        let text: Vec<&str> = summary.bullets.iter().map(|it| it.text.as_str()).collect();
        assert!(text.iter().any(|it| it.contains("the red tent comes along")), "{text:?}");
        let (tags, recent) = w
            .read_store(move |conn| {
                Ok((tags::of_session(conn, session.id)?, summaries::rolling(conn, session.id.chat, Rolling::Recent)?))
            })
            .await;
        assert!(tags.iter().any(|(tag, _)| tag == "tent"), "{tags:?}");
        assert_eq!(recent.expect("Recent").sessions, 1);
    })
    .await;
}

/// Members can make the model write unusable text; this must not disable memory for the chat.
#[tokio::test]
async fn a_session_that_the_model_cannot_summarize_is_remembered_by_its_own_messages() {
    let patient = [ON, ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")];
    World::with(&patient, async |w| {
        w.model.improvise(|_| Reply::text("The red one."));
        talk(w);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.quiet(3 * HOUR).await;
        let session = closed(w).await.remove(0);
        let summary = summary_of(w, &session).await.expect("a summary");
        assert_eq!(summary.method, SummaryMethod::Extract);
        assert!(summary.bullets.iter().any(|it| it.text.contains("the red tent comes along")), "{summary:?}");
        let recent = w.read_store(move |conn| summaries::rolling(conn, session.id.chat, Rolling::Recent)).await;
        assert_eq!(recent.expect("Recent").summary.method, SummaryMethod::Extract);
        // The request is not repeated forever.
        let asked = w.model.requests().len();
        w.quiet(5 * HOUR).await;
        assert_eq!(w.model.requests().len(), asked);
    })
    .await;
}

#[tokio::test]
async fn a_session_whose_tags_the_model_cannot_name_is_found_by_its_rare_words() {
    let patient = [ON, ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")];
    World::with(&patient, async |w| {
        w.model.improvise(|request| match request["response_format"]["json_schema"]["name"].as_str() {
            Some("tags") => Reply::text("Tents, mostly."),
            _ => Reply::text("- The red tent comes along to the lake [m1, m2, m3]"),
        });
        talk(w);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.quiet(3 * HOUR).await;
        let session = closed(w).await.remove(0);
        assert_eq!(summary_of(w, &session).await.expect("a summary").method, SummaryMethod::Model);
        let found = w.read_store(move |conn| tags::of_session(conn, session.id)).await;
        assert!(found.iter().any(|(tag, _)| tag == "tent"), "{found:?}");
        let (_, parked) = w.read_store(jobs::counts).await;
        assert_eq!(parked, 0, "what a model cannot do is not put aside for good");
    })
    .await;
}

#[tokio::test]
async fn a_model_that_is_down_for_hours_summarizes_when_it_is_back() {
    World::with(&[ON, ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")], async |w| {
        talk(w);
        w.model.script(["The red one."]);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.model.always(Reply::Status(503, String::new()));
        for _ in 0..4 * 60 {
            w.clock.advance(Duration::from_secs(60));
            w.clock.sleep(Duration::from_millis(1)).await;
        }
        assert!(w.model.requests().len() > 2, "nobody asked it");
        let (open, parked) = w.read_store(jobs::counts).await;
        assert!(open > 0 && parked == 0, "{open} open, {parked} parked");
        w.model.always("- The red tent comes along to the lake [m1, m2, m3]");
        w.quiet(2 * HOUR).await;
        let session = closed(w).await.remove(0);
        assert_eq!(summary_of(w, &session).await.expect("a summary").method, SummaryMethod::Model);
    })
    .await;
}

#[tokio::test]
async fn a_model_summarizes_where_the_bot_was_asked_and_its_bullets_are_checked() {
    World::with(&[ON], async |w| {
        talk(w);
        w.model.script(["The red one."]);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.model.script([
            "- {u3} decided on the red tent [m3]\n- They agreed to sail to Paris [m1]\n- Nobody [m99]",
            r#"{"tags":[{"tag":"Tents","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"red tent","conf":0.7}]}"#,
            "- the red tent comes along [m1]",
        ]);
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let session = closed(w).await.remove(0);
        let summary = summary_of(w, &session).await.expect("a summary");
        let actual: Vec<&str> = summary.bullets.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(
            (actual.as_slice(), summary.method),
            (["{u3} decided on the red tent"].as_slice(), SummaryMethod::Model)
        );
        let (tags, recent) = w
            .read_store(move |conn| {
                Ok((tags::of_session(conn, session.id)?, summaries::rolling(conn, session.id.chat, Rolling::Recent)?))
            })
            .await;
        let tags: Vec<&str> = tags.iter().map(|(tag, _)| tag.as_str()).collect();
        assert_eq!(tags, ["tent", "lake", "red-tent"], "a form of a known tag is that tag");
        let recent = recent.expect("Recent").summary;
        assert_eq!(recent.bullets[0].sources, summary.bullets[0].sources, "it rests on the messages of the summary");
        let asked = w.prompt(2).await;
        assert!(asked.contains("Summarize this chat session") && asked.contains("[m3 · {u3} · "), "{asked}");
        assert!(!asked.contains("· ann"), "members go out by number: {asked}");
    })
    .await;
}

/// Also those who wrote in another session only.
#[tokio::test]
async fn members_are_numbers_in_the_prompt_of_a_summary() {
    World::with(&[ON], async |w| {
        w.say("zoe", "good morning");
        w.quiet(4 * DAY).await;
        talk(w);
        w.say("bob", "zoe: the ropes are wet, <zoe> has a dry one, says ann's note");
        w.model.script(["The red one."]);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.model.script([
            "- the red tent comes along [m4]",
            r#"{"tags":[{"tag":"tent","conf":0.9}]}"#,
            "- the red tent comes along [m1]",
        ]);
        w.clock.advance(2 * HOUR);
        until_summarized(w, 2).await;
        let requests = w.model.requests();
        let told = |part: usize| requests[1]["messages"][part]["content"].as_str().unwrap_or_default();
        assert!(told(0).starts_with("Summarize this chat session"), "{requests:?}");
        let masked = "{u1}: the ropes are wet, <{u1}> has a dry one, says {u2}'s note";
        assert!(told(1).contains(masked) && !told(1).contains("zoe") && !told(1).contains("ann"), "{}", told(1));
    })
    .await;
}

/// A name that is also an everyday word stays where it is one.
#[tokio::test]
async fn members_are_numbers_in_lower_case_and_with_endings_too() {
    let english = [
        ("Rika", "the red tent has a hole near the door since the storm in May"),
        ("Rose", "the pond needs water, and a rose beside the tent is dry"),
        ("Ann", "then ask rika or RIKA's sister, I saw a rose at Rika's place"),
    ];
    let russian = [
        ("Света", "у красной палатки дыра около двери после майской грозы"),
        ("Иван", "в палатке всю ночь горит свет, надо его выключать"),
        ("Ann", "ключ у Светы, спросите Свету или скажите Ивану"),
    ];
    let cases = [
        (english, ["ask {u1} or {u1}'s sister, I saw a rose at {u1}'s place", "a rose beside the tent"]),
        (russian, ["ключ у {u1}, спросите {u1} или скажите {u2}", "горит свет"]),
    ];
    for (talk, masked) in cases {
        World::with(&[ON], async |w| {
            w.model.improvise(|request| match request["response_format"]["json_schema"]["name"] == "tags" {
                true => Reply::text(r#"{"tags":[{"tag":"tent","conf":0.9}]}"#),
                false => Reply::text(format!("- {} [m1]", request["messages"][1]["content"])),
            });
            for (name, text) in talk {
                w.say(name, text);
            }
            let tag = w.say("Ann", "@bot which tent?");
            w.answer_to(tag).await;
            w.quiet(2 * HOUR).await;
            let asked = w.model.requests().into_iter().map(|request| request["messages"].to_string());
            let told = asked.rev().find(|asked| asked.contains("Summarize this chat session")).expect("a summary");
            assert!(masked.iter().all(|part| told.contains(part)), "{told}");
        })
        .await;
    }
}

/// The server counts half of the estimated tokens, so a summary of more than 300 estimated tokens is not too long.
#[tokio::test]
async fn a_summary_is_measured_as_the_model_counts() {
    World::with(&[ON], async |w| {
        talk(w);
        for name in ["ann", "bob", "cat", "ann", "bob", "cat"] {
            w.model.script([answer_for(60)]);
            let tag = w.say(name, "@bot which tent?");
            w.answer_to(tag).await;
        }
        let line =
            |number| format!("- the red tent comes along to the lake with its poles and rope number {number} [m3]");
        w.model.script([
            (1..=15).map(line).collect::<Vec<_>>().join("\n").as_str(),
            r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"rope","conf":0.7}]}"#,
            "- the red tent comes along [m1]",
        ]);
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let summary = summary_of(w, &closed(w).await.remove(0)).await.expect("a summary");
        assert!(summary.bullets.len() == 15 && summary.tokens > 300, "{summary:?}");
    })
    .await;
}

/// A large model writes the summary, and the rare words stay its tags.
#[tokio::test]
async fn a_small_model_is_not_asked_for_tags() {
    World::with(&[ON, ("MODEL_EXTRACT", "tiny-1.5b")], async |w| {
        talk(w);
        w.model.script(["The red one."]);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.model.script(["- {u3} decided on the red tent [m3]", "- the red tent comes along [m1]"]);
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let session = closed(w).await.remove(0);
        assert_eq!(summary_of(w, &session).await.expect("a summary").method, SummaryMethod::Model);
        let found = w.read_store(move |conn| tags::of_session(conn, session.id)).await;
        assert!(found.iter().any(|(tag, _)| tag == "tent"), "{found:?}");
        assert!(w.model.requests().iter().all(|request| request["model"] != "tiny-1.5b"));
    })
    .await;
}

/// However a model was told not to name any.
#[tokio::test]
async fn no_tag_of_a_session_names_a_member() {
    World::with(&[ON], async |w| {
        talk(w);
        w.model.script(["The red one."]);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.model.script([
            "- {u3} decided on the red tent [m3]",
            r#"{"tags":[{"tag":"Ann's tent","conf":0.9},{"tag":"bob","conf":0.9},{"tag":"u3","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"storm","conf":0.7}]}"#,
            "- the red tent comes along [m1]",
        ]);
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let session = closed(w).await.remove(0).id;
        let found = w.read_store(move |conn| tags::of_session(conn, session)).await;
        assert_eq!(found.iter().map(|(tag, _)| tag.as_str()).collect::<Vec<_>>(), ["tent", "lake", "storm"]);
    })
    .await;
}

#[tokio::test]
async fn what_is_summarized_so_far_is_shown_before_recent_is_made() {
    World::with(&[ON, ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")], async |w| {
        talk(w);
        w.model.script(["The red one."]);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.model.script([
            Reply::text("- {u3} decided on the red tent [m3]"),
            Reply::text(r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"rope","conf":0.7}]}"#),
            Reply::Held("- the red tent comes along [m1]".to_owned()),
        ]);
        w.clock.advance(2 * HOUR);
        w.until("the session is summarized", |conn| {
            Ok(conn.query_row("SELECT count(*) FROM mini_summary", [], |row| row.get::<_, u32>(0))? == 1)
        })
        .await;
        w.prompt(3).await;
        w.clock.advance(Duration::from_secs(10));
        w.prompt(4).await;
        let asked = w.say("ann", "/memory@bot");
        let shown = w.answer_to(asked).await.text;
        assert!(shown.contains("cat decided on the red tent"), "{shown}");
        w.model.always(Reply::text("- the red tent comes along [m1]"));
        w.model.release();
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn nobody_pays_for_a_chat_that_nobody_asks() {
    World::with(&[ON], async |w| {
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let session = closed(w).await.remove(0);
        assert_eq!(summary_of(w, &session).await.expect("a summary").method, SummaryMethod::Extract);
        assert!(w.model.requests().is_empty());
        // The first trigger causes a summary by the model.
        w.model.script([
            "The red one.",
            "- {u3} decided on the red tent [m3]",
            r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"rope","conf":0.7}]}"#,
            "- the red tent comes along [m1]",
        ]);
        let tag = w.say("bob", "@bot which tent?");
        w.answer_to(tag).await;
        w.settled().await;
        w.clock.advance(Duration::from_secs(120));
        let id = session.id;
        w.until("a model's summary", move |conn| {
            Ok(summaries::mini(conn, id)?.is_some_and(|it| it.method == SummaryMethod::Model))
        })
        .await;
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn an_edit_makes_the_summary_anew() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let before = closed(w).await.remove(0);
        let said = w.all_stored(w.chat).await;
        w.telegram.edit(
            w.chat,
            said[2].message.id,
            "then we decided: the blue tent comes along, and ann packs 3 ropes",
            w.clock.now(),
        );
        w.settled().await;
        w.clock.advance(Duration::from_secs(120));
        let id = before.id;
        w.until("the edit is remembered", move |conn| {
            Ok(summaries::mini(conn, id)?.is_some_and(|it| it.bullets.iter().any(|it| it.text.contains("blue tent"))))
        })
        .await;
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_forgotten_message_is_out_of_every_summary_at_once() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let session = closed(w).await.remove(0);
        let said = w.all_stored(w.chat).await;
        let ask = w.say("dan", "/memory");
        let shown = w.answer_to(ask).await;
        assert!(shown.text.contains("then we decided"), "{}", shown.text);
        let forget = w.reply("cat", said[2].message.id, "/forget");
        w.answer_to(forget).await;
        let (chat, id) = (session.id.chat, session.id);
        let (mini, recent) = w
            .read_store(move |conn| Ok((summaries::mini(conn, id)?, summaries::rolling(conn, chat, Rolling::Recent)?)))
            .await;
        let actual = format!("{mini:?}{recent:?}");
        assert!(!actual.contains("decided"), "{actual}");
        w.settled().await;
        w.clock.advance(Duration::from_secs(120));
        until_summarized(w, 1).await;
        let anew = summary_of(w, &session).await;
        assert!(!format!("{anew:?}").contains("decided"), "{anew:?}");
        // Texts shown to members that contained it are deleted too.
        let actual = w.all_stored(w.chat).await;
        assert!(actual.iter().all(|it| !it.message.text.contains("then we decided")), "{actual:#?}");
    })
    .await;
}

#[tokio::test]
async fn aged_sessions_are_folded_once_into_history() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        w.clock.advance(40 * DAY);
        let chat = closed(w).await.remove(0).id.chat;
        w.until("History is folded", move |conn| Ok(summaries::rolling(conn, chat, Rolling::History)?.is_some())).await;
        w.settled().await;
        let (history, recent, left) = w
            .read_store(move |conn| {
                Ok((
                    summaries::rolling(conn, chat, Rolling::History)?,
                    summaries::rolling(conn, chat, Rolling::Recent)?,
                    memory::chats_to_fold(conn, Timestamp::from_millis(i64::MAX))?,
                ))
            })
            .await;
        let history = history.expect("History");
        assert_eq!((history.sessions, recent, left), (1, None, vec![]));
        assert!(history.summary.bullets.iter().any(|it| it.text.contains("red tent")), "{history:?}");
    })
    .await;
}

#[tokio::test]
async fn two_chats_with_the_same_words_remember_apart() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        let other = w.telegram.add_chat(NewChat::supergroup("Another table"));
        for (name, text) in TALK {
            w.say(name, text);
            w.say_in(other, name, text);
        }
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let here = w.chat;
        let (mine, theirs) = w
            .read_store(move |conn| {
                let key = |chat| Ok::<_, chime_store::StoreError>(chats::find(conn, chat)?.map(|row| row.key));
                Ok((key(here)?, key(other)?))
            })
            .await;
        let (mine, theirs) = (mine.expect("a chat"), theirs.expect("a chat"));
        w.until("the other chat's session is summarized", move |conn| {
            Ok(summaries::rolling(conn, theirs, Rolling::Recent)?.is_some())
        })
        .await;
        w.settled().await;
        // Forgetting in one chat does not affect the other.
        let said = w.all_stored(here).await;
        let forget = w.reply("cat", said[2].message.id, "/forget");
        w.answer_to(forget).await;
        let (recent, kept) = w
            .read_store(move |conn| {
                Ok((
                    summaries::rolling(conn, mine, Rolling::Recent)?,
                    summaries::rolling(conn, theirs, Rolling::Recent)?,
                ))
            })
            .await;
        assert!(!format!("{recent:?}").contains("decided") && format!("{kept:?}").contains("decided"));
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn members_see_what_is_remembered_and_admins_switch_it_off() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let ask = w.say("dan", "/memory");
        let shown = w.answer_to(ask).await;
        assert!(shown.text.starts_with("Recent (the last 28 days: 1 conversation, "), "{}", shown.text);
        assert!(shown.text.contains("cat: then we decided: the red tent comes along"), "{}", shown.text);
        let try_it = w.say("dan", "/memory off");
        assert_eq!(w.answer_to(try_it).await.text, "Only admins can turn memory on or off.");
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let off = w.telegram.say(w.chat, Post::new(eve, "/memory off", w.clock.now()));
        let question = w.answer_to(off).await;
        let session = closed(w).await.remove(0);
        assert!(summary_of(w, &session).await.is_some(), "nothing is deleted without a yes");
        for (label, is_kept) in [("Keep memory on", true), ("Memory off", true), ("Delete the summaries", false)] {
            let before = w.telegram.cursor();
            let shown = w.telegram.message(w.chat, question.id).expect("the question");
            let pressed = w.telegram.press(w.chat, question.id, eve, &data_of(&shown, label));
            assert_eq!(outcome(w, before, &pressed).await, None);
            assert_eq!(summary_of(w, &session).await.is_some(), is_kept, "{label}");
        }
        assert_eq!(summary_of(w, &session).await, None);
        let ask = w.say("dan", "/memory");
        assert!(w.answer_to(ask).await.text.starts_with("Memory is off in this chat"));
        // In private, for members of that chat only.
        let link = format!("/memory https://t.me/c/{}/1", -1_000_000_000_000 - w.chat.0);
        let alone = w.telegram.add_chat(NewChat::private("dan"));
        let ask = w.say_in(alone, "dan", &link);
        assert!(w.answer_to(ask).await.text.starts_with("Memory is off in this chat"));
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn memory_is_not_switched_off_without_a_yes_even_if_nothing_is_remembered_yet() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        let eve = admin(w, w.chat, "eve");
        for command in ["/memory off", "/settings@bot memory off"] {
            let question = by(w, eve, command).await;
            assert_eq!(question.text, texts("eng").settings.memory_off_question, "{command}");
            let shown = by(w, eve, "/memory").await.text;
            assert!(!shown.starts_with("Memory is off"), "{command}: {shown}");
        }
        let question = by(w, eve, "/memory off").await;
        let before = w.telegram.cursor();
        let pressed = w.telegram.press(w.chat, question.id, eve, &data_of(&question, "Delete the summaries"));
        assert_eq!(outcome(w, before, &pressed).await, None);
        let shown = by(w, eve, "/memory").await.text;
        assert!(shown.starts_with("Memory is off in this chat"), "{shown}");
        assert_eq!(by(w, eve, "/memory off").await.text, texts("eng").memory.switched_off, "it is off already");
    })
    .await;
}

#[tokio::test]
async fn the_memory_of_a_chat_that_is_no_longer_allowed_is_not_shown() {
    World::with(&[ON], async |w| {
        talk(w);
        w.settled().await;
        let alone = w.telegram.add_chat(NewChat::private("ann"));
        w.stop().await;
        w.set("ALLOWED_CHATS", "-42");
        w.start().await;
        let link = format!("/memory https://t.me/c/{}/1", -1_000_000_000_000 - w.chat.0);
        let ask = w.say_in(alone, "ann", &link);
        assert_eq!(w.answer_to(ask).await.text, texts("eng").memory.only_members);
    })
    .await;
}

#[tokio::test]
async fn a_decision_of_forty_days_ago_is_in_the_prompt_and_its_link_leads_to_the_message() {
    World::with(&[ON], async |w| {
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        let decision = w.all_stored(w.chat).await.remove(2);
        let (chat, seq, id) = (decision.chat, decision.seq, decision.message.id);
        w.clock.advance(40 * DAY);
        w.until("History is folded", move |conn| Ok(summaries::rolling(conn, chat, Rolling::History)?.is_some())).await;
        w.settled().await;
        let source = format!("s{seq}");
        w.model.script([Reply::text(format!("You take the red one [source: {source}]."))]);
        let tag = w.say("bob", "@bot what did we settle for the trip?");
        let answer = w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        let (_, history) = prompt.split_once("What this chat talked about before that:").expect("the slot");
        assert!(history.contains(&format!("[{source} · ")), "{prompt}");
        assert!(history.contains("cat: then we decided: the red tent comes along"), "{prompt}");
        let record = w.record_of(&answer).await;
        assert!(
            record.slots.iter().any(|slot| slot.name == "system.chat.history" && slot.sources.contains(&source)),
            "{:?}",
            record.slots
        );
        assert_eq!(record.sources.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), [source.as_str()]);
        let leads_there =
            |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&format!("/{id}")));
        assert!(answer.entities.iter().any(|entity| leads_there(&entity.kind)), "{:?}", answer.entities);
        // The answer is based on the message behind the summary's line, and is deleted with it.
        let forget = w.reply("cat", id, "/forget");
        w.answer_to(forget).await;
        w.settled().await;
        let left = w.read_store(move |conn| answers::find(conn, record.id)).await;
        assert!(left.is_none_or(|left| !left.text.contains("red one")), "the answer is still there");
    })
    .await;
}

/// Returns the output of `chime memory` for the chat, with these arguments.
pub fn told_by_the_program(w: &World, arguments: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_chime"))
        .args(["memory", &w.chat.to_string()])
        .args(arguments)
        .env_clear()
        .env("DATABASE_PATH", w.database())
        .current_dir(w.database().parent().expect("a folder"))
        .output()
        .expect("run chime");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test]
async fn the_operator_sees_what_is_remembered_and_has_it_made_anew() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        w.quiet(2 * HOUR).await;
        w.clock.advance(40 * DAY);
        w.quiet(2 * HOUR).await;
        talk(w);
        w.settled().await;
        w.quiet(2 * HOUR).await;
        let shown = told_by_the_program(w, &[]);
        assert!(shown.contains("Recent (the last 28 days: 1 conversation, "), "{shown}");
        assert!(shown.contains("History (before that: 1 conversation"), "{shown}");
        assert!(!shown.contains("**") && !shown.contains('\\') && !shown.contains("]("), "{shown}");
        assert!(shown.contains(" (https://t.me/c/"), "{shown}");
        assert!(shown.matches("the red tent comes along").count() >= 2, "{shown}");
        let chat = closed(w).await[0].id.chat;
        let built = move |kind| move |conn: &chime_store::Reader| summaries::rolling(conn, chat, kind);
        for (what, kind) in [("recent", Rolling::Recent), ("history", Rolling::History)] {
            let before = w.read_store(built(kind)).await.expect("there before");
            w.clock.advance(HOUR);
            let actual = told_by_the_program(w, &["--rebuild", what]);
            assert!(actual.contains("made anew in the background"), "{actual}");
            w.quiet(Duration::from_secs(60)).await;
            let after = w.read_store(built(kind)).await.expect("there again");
            assert!(after.summary.built_at > before.summary.built_at, "{what} is as it was");
            assert_eq!(after.summary.bullets, before.summary.bullets, "{what}");
            assert_eq!(after.sessions, before.sessions, "{what}");
        }
        assert_eq!(told_by_the_program(w, &[]), shown, "what it rests on is the same");
    })
    .await;
}
