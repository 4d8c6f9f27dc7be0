//! Ends of sessions: each session ends once, whatever happens to the daemon, the chat or the clocks.

use std::time::Duration;

use chime_core::{CloseReason, Conversation, ForumTopicId, MessageId, Session, Timestamp};
use chime_sandbox::{ChatMemberStatus, NewChat, Post};
use chime_store::{chats, jobs, memory, sessions, summaries};
use chime_testkit::Reply;
use chime_world::World;

use crate::memory::{DAY, HOUR, NO_MODEL, ON, TALK, closed, summary_of, talk, until_summarized};

const MINUTES: Duration = Duration::from_secs(120);

async fn closed_in(w: &World, chat: chime_core::ChatId, forum_topic: Option<ForumTopicId>) -> Vec<Session> {
    w.read_store(move |conn| {
        let Some(row) = chats::find(conn, chat)? else { return Ok(Vec::new()) };
        let here = Conversation { chat: row.key, forum_topic };
        sessions::begun_from(conn, here, (Timestamp::default(), MessageId(i64::MIN)), 100)
    })
    .await
}

#[tokio::test]
async fn new_ends_the_talk_there_and_then() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        let new = w.say("ann", "/new@bot");
        assert_eq!(w.answer_to(new).await.text, "A new conversation starts here.");
        talk(w);
        w.settled().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 2).await;
        let found = closed(w).await;
        let shown: Vec<(CloseReason, bool)> = found.iter().map(|it| (it.reason, it.last.1 < new)).collect();
        assert_eq!(shown, [(CloseReason::New, true), (CloseReason::Silence, false)]);
        assert!(found[1].first.1 > new);
    })
    .await;
}

#[tokio::test]
async fn the_closing_of_a_topic_ends_its_session() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let boats = w.telegram.create_topic(club, "Boats");
        for (name, text) in TALK {
            let from = w.telegram.add_member(club, name);
            w.telegram.say(club, Post::new(from, text, w.clock.now()).in_forum_topic(boats));
        }
        w.settled().await;
        w.telegram.close_topic(club, boats);
        w.settled().await;
        w.clock.advance(MINUTES);
        w.until("the session is closed", move |conn| {
            let Some(row) = chats::find(conn, club)? else { return Ok(false) };
            let here = Conversation { chat: row.key, forum_topic: Some(boats) };
            let all = sessions::begun_from(conn, here, (Timestamp::default(), MessageId(i64::MIN)), 9)?;
            Ok(all.len() == 1 && all[0].reason == CloseReason::Topic && sessions::stale(conn, row.key, 1)?.is_empty())
        })
        .await;
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_bot_that_is_removed_summarizes_nothing_until_it_is_back() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        let ann = w.member("ann");
        w.telegram.kick_bot(w.chat);
        w.settled().await;
        w.clock.advance(MINUTES);
        let chat = w.chat;
        w.until("the session is closed", move |conn| {
            let Some(row) = chats::find(conn, chat)? else { return Ok(false) };
            Ok(sessions::stale(conn, row.key, 9)?.len() == 1)
        })
        .await;
        let session = closed(w).await.remove(0);
        assert_eq!((session.reason, summary_of(w, &session).await), (CloseReason::Removed, None));
        w.telegram.add_bot_to(w.chat, ChatMemberStatus::Member, ann);
        w.settled().await;
        w.clock.advance(MINUTES);
        until_summarized(w, 1).await;
        assert!(summary_of(w, &session).await.is_some(), "it returned");
        w.ignore_what_was_sent();
    })
    .await;
}

#[tokio::test]
async fn a_week_switched_off_closes_what_is_due_once() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        w.settled().await;
        w.stop().await;
        w.clock.advance(7 * DAY);
        w.start().await;
        w.clock.advance(MINUTES);
        until_summarized(w, 1).await;
        let session = closed(w).await.remove(0);
        assert_eq!((session.messages, session.reason), (4, CloseReason::Silence));
        let closed_at = session.closed_at;
        w.restart().await;
        w.clock.advance(2 * HOUR);
        until_summarized(w, 1).await;
        assert_eq!(closed(w).await.remove(0).closed_at, closed_at, "it is not closed again");
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_was_ahead_leaves_one_session_behind() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        w.stop().await;
        w.set_daemon_ahead(2 * HOUR);
        w.start().await;
        talk(w);
        until_summarized(w, 1).await;
        assert_eq!(closed(w).await[0].messages, 4, "to a clock that is ahead it looks like silence");
        talk(w);
        w.settled().await;
        w.advance_daemon(MINUTES);
        w.until("the talk is one again", {
            let chat = w.chat;
            move |conn| {
                let Some(row) = chats::find(conn, chat)? else { return Ok(false) };
                let here = Conversation { chat: row.key, forum_topic: None };
                let all = sessions::begun_from(conn, here, (Timestamp::default(), MessageId(i64::MIN)), 9)?;
                Ok(all.len() == 1 && all[0].messages == 8 && sessions::stale(conn, row.key, 1)?.is_empty())
            }
        })
        .await;
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn each_chat_has_its_own_measure_of_silence() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        talk(w);
        let alone = w.telegram.add_chat(NewChat::private("ann"));
        for (_, text) in TALK {
            w.say_in(alone, "ann", text);
            w.next_sent().await;
        }
        w.settled().await;
        // Longer than the fifteen minutes of a private chat, shorter than the hour of a group.
        w.clock.advance(Duration::from_secs(30 * 60));
        w.until("the private session is closed", move |conn| {
            let Some(row) = chats::find(conn, alone)? else { return Ok(false) };
            let here = Conversation { chat: row.key, forum_topic: None };
            Ok(sessions::last_begun_before(conn, here, Timestamp::from_millis(i64::MAX))?.is_some())
        })
        .await;
        w.settled().await;
        assert_eq!(closed_in(w, w.chat, None).await, []);
    })
    .await;
}

/// A chat that got its notice while memory was off gets one about summaries, before its first words go into one.
#[tokio::test]
async fn a_chat_that_was_told_the_old_text_gets_one_new_notice_before_its_first_summary() {
    World::with(&[], async |w| {
        w.stop().await;
        w.announce();
        w.start().await;
        talk(w);
        w.model.script(["The red one."]);
        let tag = w.say("bob", "@bot which tent?");
        assert!(w.answer_to(tag).await.text.contains("For everybody here:"), "it is told what is kept");
        w.settled().await;
        w.stop().await;
        w.set("MEMORY", "on");
        w.start().await;
        // Recent is made from the extract first, then again from the model's summary.
        w.model.script([
            "- the red tent comes along [m1, m2, m3, m4]",
            "- {u3} decided on the red tent [m3]",
            r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"rope","conf":0.7}]}"#,
            "- the red tent comes along [m1]",
        ]);
        w.clock.advance(2 * HOUR);
        let notice = w.next_sent().await;
        assert!(notice.reply_to.is_none() && notice.text.contains("summar"), "{}", notice.text);
        assert_eq!(w.model.requests().len(), 1, "nothing but the answer was asked for so far");
        let chat = w.chat;
        w.until("the chat is told", move |conn| {
            let key = chats::find(conn, chat)?.expect("a chat").key;
            Ok(memory::memory_state(conn, key)?.told_at.is_some())
        })
        .await;
        w.settled().await;
        w.clock.advance(MINUTES);
        w.until("a model's summary", move |conn| {
            let key = chats::find(conn, chat)?.expect("a chat").key;
            let all = memory::extracts_of(conn, key, "scripted", 9)?;
            Ok(all.is_empty()
                && sessions::stale(conn, key, 1)?.is_empty()
                && summaries::rolling(conn, key, chime_core::Rolling::Recent)?.is_some())
        })
        .await;
        w.settled().await;
        assert_eq!(w.telegram.sent_by_bot(w.chat).len(), 2, "and no further notice");
    })
    .await;
}

/// Posts a thread of thirteen messages, each a reply to the previous one. Returns the first and the last.
async fn long_thread(w: &World) -> (MessageId, MessageId) {
    let first = w.say("ann", "shall we hire the big boat for 410 euros?");
    let mut last = first;
    for number in 2..=13 {
        let name = ["ann", "bob", "cat"][number % 3];
        last = w.reply(name, last, &format!("about the big boat, thought {number}: it has room for {number} of us"));
    }
    w.settled().await;
    (first, last)
}

#[tokio::test]
async fn a_summary_stands_for_the_oldest_part_of_a_long_strand() {
    World::with(&[ON, ("MAX_CHAT_HISTORY", "10")], async |w| {
        let (first, last) = long_thread(w).await;
        w.model.script(["Hire it.", "- they want to hire the big boat for 410 euros [m1]"]);
        let tag = w.reply("bob", last, "@bot should we?");
        w.answer_to(tag).await;
        w.settled().await;
        let asked = w.prompt(2).await;
        assert!(asked.starts_with("Summarize conversation so far") && asked.contains("[m1 · {u1} · "), "{asked}");
        assert!(!asked.contains("thought 13"), "the newest stay as they are: {asked}");

        w.model.script(["Yes, hire it."]);
        let tag = w.reply("cat", last, "@bot and now?");
        let answer = w.answer_to(tag).await;
        let prompt = w.prompt(3).await;
        let (fence, slot) =
            prompt.rsplit_once("Do not invent").expect("the rules").1.split_once("<<<chat ").expect("a fence");
        let first_lines: Vec<&str> = slot.lines().skip(1).take(2).map(str::trim).collect();
        assert!(!fence.contains("[m"), "{prompt}");
        assert_eq!(
            first_lines,
            ["[summary of 5 earlier messages of this talk]", "they want to hire the big boat for 410 euros"],
            "{prompt}"
        );
        assert!(!prompt.contains("thought 1\n"), "its messages are left out: {prompt}");
        assert!(prompt.contains("thought 13") && prompt.contains("thought 12"), "{prompt}");

        // The summary is deleted with one of its messages, and so is the answer based on it.
        let record = w.record_of(&answer).await.id;
        let forget = w.reply("ann", first, "/forget");
        w.answer_to(forget).await;
        w.settled().await;
        let left = w.read_store(move |conn| chime_store::answers::find(conn, record)).await;
        assert!(left.is_none_or(|it| it.text.is_empty()), "the answer is still there");
        w.model.script(["No idea.", "- thoughts about the big boat [m2]"]);
        let tag = w.reply("cat", last, "@bot so?");
        w.answer_to(tag).await;
        let prompt = w.prompt(4).await;
        assert!(!prompt.contains("410"), "{prompt}");
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_long_strand_that_the_model_cannot_sum_up_is_told_in_its_own_words() {
    let patient = [ON, ("MAX_CHAT_HISTORY", "10"), ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")];
    World::with(&patient, async |w| {
        w.model.improvise(|_| Reply::text("Hire it."));
        let (_, last) = long_thread(w).await;
        let tag = w.reply("bob", last, "@bot should we?");
        w.answer_to(tag).await;
        w.quiet(HOUR).await;
        let (_, parked) = w.read_store(jobs::counts).await;
        assert_eq!(parked, 0, "what a model cannot do is not put aside for good");
        let asked = w.model.requests().len();
        let tag = w.reply("cat", last, "@bot and now?");
        w.answer_to(tag).await;
        let prompt = w.prompt(asked + 1).await;
        assert!(prompt.contains("[summary of 5 earlier messages of this talk]"), "{prompt}");
        assert!(prompt.contains("shall we hire the big boat for 410 euros?"), "{prompt}");
    })
    .await;
}
