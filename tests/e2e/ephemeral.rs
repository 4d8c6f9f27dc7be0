//! Answers that one member alone sees, and what happens where Telegram has none.

use std::time::Duration;

use chime_core::texts::texts;
use chime_core::{ChatId, MessageId, UserId};
use chime_sandbox::{ChatMemberStatus, NewChat, NewMember, Post, SandboxMessage};
use chime_world::World;

use crate::grounding::{buttons, data_of, outcome};
use crate::languages::{ENGLISH, GERMAN, SPANISH};
use crate::memory::NO_MODEL;
use crate::privacy::found_in_files;

const HOUR: Duration = Duration::from_secs(3600);

/// Makes the bot an admin of the group.
async fn promote(w: &World) {
    let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Creator));
    w.telegram.add_bot_to(w.chat, ChatMemberStatus::Administrator, eve);
    w.settled().await;
}

/// Sends a command that only the bot sees.
fn whisper(w: &World, name: &str, command: &str) -> MessageId {
    w.telegram.say(w.chat, Post::new(w.member(name), command, w.clock.now()).ephemeral())
}

/// Returns the number of messages that were tried for one member alone.
fn tried(w: &World) -> usize {
    w.telegram.calls().iter().filter(|call| call.params.get("ephemeral_message_parameters").is_some()).count()
}

async fn stored_texts(w: &World) -> Vec<String> {
    w.all_stored(w.chat).await.into_iter().map(|stored| stored.message.text).collect()
}

/// Returns the beginning of a text, without blanks to fill in.
fn beginning(text: &str) -> &str {
    text.split(['{', '*', '\n']).find(|part| !part.trim().is_empty()).unwrap_or_default()
}

#[tokio::test]
async fn where_the_bot_is_an_admin_the_asker_alone_sees_what_is_for_them() {
    let talks = [
        ("eng", ENGLISH, "what did I miss?"),
        ("deu", GERMAN, "was habe ich verpasst?"),
        ("spa", SPANISH, "¿qué me perdí?"),
    ];
    for (code, line, missed) in talks {
        World::with(&[NO_MODEL[0], NO_MODEL[1], ("MEMORY", "on")], async |w| {
            promote(w).await;
            w.say("ann", line);
            w.settled().await;
            w.clock.advance(2 * HOUR);
            for _ in 0..12 {
                w.say("bob", line);
            }
            w.settled().await;
            let ann = w.member("ann");
            let known = w.all_stored(w.chat).await.len();
            for command in ["/why", "/memory", "/search", "/settings@bot", "/reminders", "/privacy@bot"] {
                let ask = w.say("ann", command);
                let actual = w.answer_to(ask).await;
                assert_eq!((actual.receiver, actual.chat), (Some(ann), w.chat), "{command}");
                if command.starts_with("/privacy") {
                    let begins = beginning(&texts(code).privacy);
                    assert!(actual.text.starts_with(begins), "{begins:?} in {}", actual.text);
                }
            }
            let ask = w.say("ann", &format!("@bot {missed}"));
            assert_eq!(w.answer_to(ask).await.receiver, Some(ann));
            w.settled().await;
            // Only the questions are new in the group.
            assert_eq!(w.all_stored(w.chat).await.len(), known + 7, "{:?}", stored_texts(w).await);
            // Everybody is told what changes something for them.
            let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Creator));
            let ask = w.telegram.say(w.chat, Post::new(eve, "/memory on", w.clock.now()));
            assert_eq!(w.answer_to(ask).await.receiver, None);
        })
        .await;
    }
}

#[tokio::test]
async fn what_one_member_sees_is_no_source_and_no_recap() {
    World::run(async |w| {
        promote(w).await;
        let said = w.say("ann", "the firewood is behind the sauna");
        w.settled().await;
        let ask = w.say("bob", "/search firewood");
        let found = w.answer_to(ask).await;
        assert!(found.text.contains("behind the sauna") && found.receiver.is_some());
        w.model.script(["Behind the sauna.", "- The firewood is behind the sauna [m1]"]);
        let ask = w.say("cat", "@bot where is the firewood?");
        w.answer_to(ask).await;
        assert_eq!(w.prompt(1).await.matches("behind the sauna").count(), 1, "{}", w.prompt(1).await);
        let recap = w.say("cat", "/recap 1h");
        w.answer_to(recap).await;
        assert_eq!(w.prompt(2).await.matches("behind the sauna").count(), 1, "{}", w.prompt(2).await);
        // Forgetting reaches what was shown.
        let forget = w.reply("ann", said, "/forget");
        w.answer_to(forget).await;
        w.settled().await;
        assert_eq!(found_in_files(w, &["behind the sauna".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_command_that_the_group_does_not_see_leaves_no_words_and_is_answered_alone() {
    World::offline(async |w| {
        // The bot is no admin: it may answer such a command all the same.
        for number in 0..12 {
            w.say("ann", &format!("pile {number} of the firewood is behind the sauna"));
        }
        w.settled().await;
        let ask = whisper(w, "bob", "/search firewood zqsecret7xk");
        let actual = w.answer_to(ask).await;
        assert!(actual.receiver == Some(w.member("bob")) && actual.text.contains("pile"), "{actual:?}");
        assert!(buttons(&actual).is_empty(), "its words are not kept for another page");
        assert!(actual.text.ends_with(&texts("eng").search.rest), "{}", actual.text);
        let ask = whisper(w, "bob", "/settings@bot");
        assert_eq!(w.answer_to(ask).await.receiver, Some(w.member("bob")));
        // What is no command to the bot is none of its business.
        whisper(w, "bob", "@bot zqsecret7xk?");
        w.settled().await;
        assert!(!stored_texts(w).await.iter().any(|text| text.contains("zqsecret7xk") || text.contains("/settings")));
        assert_eq!(found_in_files(w, &["zqsecret7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn an_ephemeral_command_that_is_answered_too_late_is_answered_to_nobody_else() {
    World::offline(async |w| {
        w.say("ann", "the firewood is behind the sauna");
        w.settled().await;
        for is_open in [false, true] {
            if is_open {
                let private = w.telegram.add_chat(NewChat::private("bob"));
                let hello = w.say_in(private, "bob", "/help");
                w.answer_to(hello).await;
            }
            w.stop().await;
            whisper(w, "bob", "/search firewood");
            w.clock.advance(Duration::from_secs(30));
            w.start().await;
            if is_open {
                assert_eq!(w.next_sent().await.chat, ChatId(w.member("bob").0));
            }
            w.settled().await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_ephemeral_command_in_a_group_that_moves_is_answered_to_nobody_else() {
    World::offline(async |w| {
        let group = w.telegram.add_chat(NewChat::group("Sauna"));
        w.say_in(group, "ann", "the firewood is behind the sauna");
        w.settled().await;
        w.stop().await;
        let bob = w.member("bob");
        w.telegram.say(group, Post::new(bob, "/search firewood", w.clock.now()).ephemeral());
        w.telegram.migrate(group);
        w.clock.advance(Duration::from_secs(30));
        w.start().await;
        w.settled().await;
        let calls = w.telegram.calls();
        let to_all = calls.iter().filter(|call| call.params.get("ephemeral_message_parameters").is_none());
        assert!(!to_all.map(|call| format!("{:?}", call.params)).any(|params| params.contains("firewood")));
    })
    .await;
}

#[tokio::test]
async fn an_ephemeral_command_of_an_anonymous_admin_is_answered_to_nobody_else() {
    World::offline(async |w| {
        promote(w).await;
        w.say("ann", "the firewood is behind the sauna");
        w.settled().await;
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Creator));
        for command in ["/search firewood", "/recap 1h", "/settings@bot"] {
            w.telegram.say(w.chat, Post::new(eve, command, w.clock.now()).as_chat(w.chat).ephemeral());
            w.settled().await;
        }
        assert!(w.telegram.sent_by_bot(w.chat).is_empty());
    })
    .await;
}

#[tokio::test]
async fn ephemeral_commands_have_the_limit_of_all_others_and_start_no_answer() {
    World::with(&[("RATE_LIMIT", "2/300s")], async |w| {
        promote(w).await;
        w.say("ann", "the firewood is behind the sauna");
        w.settled().await;
        for number in 0..4 {
            let ask = whisper(w, "bob", "/search firewood");
            if number < 2 {
                w.answer_to(ask).await;
            }
            w.settled().await;
        }
        whisper(w, "ann", "/ask where is the firewood?");
        w.settled().await;
        assert_eq!((tried(w), w.model.requests().len()), (2, 0));
    })
    .await;
}

#[tokio::test]
async fn a_refusal_is_answered_as_before_and_remembered_for_a_day() {
    World::offline(async |w| {
        w.say("ann", "the firewood is behind the sauna");
        for round in 0..2 {
            let ask = w.say("bob", "/search firewood");
            assert_eq!(w.answer_to(ask).await.receiver, None, "round {round}");
            assert_eq!(tried(w), 1);
        }
        // Somebody with a private chat gets it there, but for buttons, which act on the chat that they are in.
        let private = w.telegram.add_chat(NewChat::private("cat"));
        let hello = w.say_in(private, "cat", "/help");
        w.answer_to(hello).await;
        w.say("cat", "/search firewood");
        let actual = w.next_sent().await;
        assert!(actual.chat == private && actual.text.contains("behind the sauna"), "{actual:?}");
        let cat = w.telegram.add_member(w.chat, NewMember::named("cat").status(ChatMemberStatus::Administrator));
        let ask = w.telegram.say(w.chat, Post::new(cat, "/settings@bot", w.clock.now()));
        assert!(!buttons(&w.answer_to(ask).await).is_empty());
        assert_eq!(tried(w), 1);
        w.clock.advance(25 * HOUR);
        w.say("cat", "/search firewood");
        assert_eq!((w.next_sent().await.chat, tried(w)), (private, 2));
        w.settled().await;
        // An admin may be allowed more.
        promote(w).await;
        let ask = w.say("cat", "/search firewood");
        assert!(w.answer_to(ask).await.receiver.is_some());
    })
    .await;
}

#[tokio::test]
async fn an_older_server_shows_it_to_everybody_as_before() {
    World::offline(async |w| {
        promote(w).await;
        w.telegram.become_older();
        w.say("ann", "the firewood is behind the sauna");
        let ask = w.say("bob", "/search firewood");
        let actual = w.answer_to(ask).await;
        assert!(actual.receiver.is_none() && actual.id.0 > 0);
        w.settled().await;
        assert!(w.stored(w.chat, actual.id).await.is_some(), "it is a message of the group");
        let ask = w.say("bob", "/search firewood");
        w.answer_to(ask).await;
        assert_eq!(tried(w), 1);
    })
    .await;
}

/// Presses a button below an ephemeral message and returns what its receiver then sees.
async fn pressed(w: &World, shown: &SandboxMessage, by: UserId, label: &str) -> SandboxMessage {
    let before = w.telegram.cursor();
    let press = w.telegram.press(w.chat, shown.id, by, &data_of(shown, label));
    assert_eq!(outcome(w, before, &press).await, None);
    w.telegram.message(w.chat, shown.id).expect("it is there")
}

#[tokio::test]
async fn buttons_work_for_the_one_who_sees_them_and_only_for_admins_where_admins_are_needed() {
    World::offline(async |w| {
        promote(w).await;
        for number in 0..12 {
            w.say("ann", &format!("pile {number} of the firewood is behind the sauna"));
        }
        w.settled().await;
        let (bob, eve) =
            (w.member("bob"), w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Creator)));
        let ask = w.say("bob", "/search firewood");
        let first = w.answer_to(ask).await;
        let second = pressed(w, &first, bob, "11–12 →").await;
        assert!(second.text != first.text && second.receiver == Some(bob), "{}", second.text);
        let ask = w.say("bob", "/settings@bot");
        assert!(buttons(&w.answer_to(ask).await).is_empty(), "bob is no admin");
        let ask = w.telegram.say(w.chat, Post::new(eve, "/settings@bot", w.clock.now()));
        let panel = w.answer_to(ask).await;
        let strict = pressed(w, &panel, eve, "Strict answers").await;
        assert!(strict.text != panel.text && strict.receiver == Some(eve), "{}", strict.text);
        // A press by somebody who is no admin any more changes nothing.
        w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Member));
        let before = w.telegram.cursor();
        let press = w.telegram.press(w.chat, panel.id, eve, &data_of(&panel, "Strict answers"));
        assert!(outcome(w, before, &press).await.is_some());
    })
    .await;
}
