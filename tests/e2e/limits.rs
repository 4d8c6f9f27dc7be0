//! Rate limits: every refused question gets some reply.

use std::time::Duration;

use chime_core::MessageId;
use chime_sandbox::faults::{FOREVER, Fault};
use chime_sandbox::{BotAction, Cursor, NewChat};
use chime_store::jobs;
use chime_world::World;

const THREE_A_MINUTE: &[(&str, &str)] = &[("RATE_LIMIT", "3/1m")];
const MINUTE: Duration = Duration::from_secs(60);

/// Asks and reads the answer.
async fn ask(w: &mut World, name: &str) {
    w.model.script(["Sure."]);
    let trigger = w.say(name, "@bot thoughts?");
    assert_eq!(w.answer_to(trigger).await.text, "Sure.");
}

/// Waits for the bot's reaction to `message` and returns it.
async fn reaction_to(w: &World, message: MessageId) -> String {
    let waiting = async {
        let mut cursor = Cursor::default();
        loop {
            let (action, next) = w.telegram.next_from_bot(cursor).await;
            cursor = next;
            match action {
                BotAction::Reacted { message: reacted, emoji, .. } if reacted == message => return emoji.concat(),
                _ => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waiting).await.expect("a reaction")
}

#[tokio::test]
async fn the_first_tag_too_many_is_told_when_to_ask_again_and_later_ones_get_a_look() {
    World::with(THREE_A_MINUTE, async |w| {
        for name in ["Ana", "Bob", "Cat"] {
            ask(w, name).await;
        }
        let fourth = w.say("Dan", "@bot and me?");
        let shown = w.answer_to(fourth).await.text;
        assert!(
            shown.starts_with(
                "I have been tagged very often in this conversation in a short time. Please ask again in "
            )
        );
        let fifth = w.say("Ana", "@bot hello?");
        assert_eq!(reaction_to(w, fifth).await, "👀");
        let help = w.say("Ana", "/help");
        assert!(w.answer_to(help).await.text.contains("@bot"), "what only explains is not refused");
        w.clock.advance(MINUTE);
        ask(w, "Dan").await;
    })
    .await;
}

#[tokio::test]
async fn a_setting_of_admins_is_never_refused() {
    World::with(THREE_A_MINUTE, async |w| {
        for name in ["Ana", "Bob", "Cat"] {
            ask(w, name).await;
        }
        let fourth = w.say("Dan", "@bot and me?");
        w.answer_to(fourth).await;
        for command in [
            "/settings@bot",
            "/memory@bot off",
            "/note delete 1",
            "/topics",
            "/export",
            "/recap daily 18:00",
            "/recap off",
            "/decisions",
            "/notes",
        ] {
            let sent = w.say("Dan", command);
            let shown = w.answer_to(sent).await.text;
            assert!(!shown.starts_with("I have been tagged"), "{command}: {shown}");
        }
    })
    .await;
}

#[tokio::test]
async fn commands_without_a_limit_of_their_own_are_refused_in_a_flood() {
    World::with(THREE_A_MINUTE, async |w| {
        for _ in 0..20 {
            let help = w.say("Ana", "/help");
            assert!(w.answer_to(help).await.text.contains("@bot"));
        }
        let refused = w.say("Ana", "/privacy");
        assert!(w.answer_to(refused).await.text.starts_with("You have tagged me very often in a short time."));
        let again = w.say("Ana", "/help");
        assert_eq!(reaction_to(w, again).await, "👀");
        let other = w.say("Bob", "/help");
        assert!(w.answer_to(other).await.text.contains("@bot"));
        ask(w, "Ana").await;
        w.clock.advance(MINUTE);
        let later = w.say("Ana", "/help");
        assert!(w.answer_to(later).await.text.contains("@bot"));
    })
    .await;
}

#[tokio::test]
async fn a_restart_forgives_nothing() {
    World::with(THREE_A_MINUTE, async |w| {
        for name in ["Ana", "Bob", "Cat"] {
            ask(w, name).await;
        }
        w.settled().await;
        w.restart().await;
        let fourth = w.say("Dan", "@bot and me?");
        assert!(w.answer_to(fourth).await.text.contains("tagged very often"));
        w.settled().await;
        w.restart().await;
        let fifth = w.say("Eve", "@bot and me?");
        assert_eq!(reaction_to(w, fifth).await, "👀");
    })
    .await;
}

#[tokio::test]
async fn one_line_stands_in_where_reactions_are_off() {
    World::with(THREE_A_MINUTE, async |w| {
        let refused = r#"{"ok":false,"error_code":400,"description":"Bad Request: REACTION_INVALID"}"#;
        w.telegram.fault("setMessageReaction", Fault::Status(400, refused.to_owned()), FOREVER);
        for name in ["Ana", "Bob", "Cat"] {
            ask(w, name).await;
        }
        let fourth = w.say("Dan", "@bot and me?");
        assert!(w.answer_to(fourth).await.text.contains("tagged very often"));
        let fifth = w.say("Eve", "@bot and me?");
        let line = w.answer_to(fifth).await.text;
        assert!(line.starts_with("I will not answer any more tags until "), "{line}");
        w.say("Fay", "@bot and me?");
        // The end of the test checks that there is no further message.
    })
    .await;
}

#[tokio::test]
async fn a_flood_of_one_member_is_stopped_and_leaves_the_others_alone() {
    World::with(&[("RATE_LIMIT", "on")], async |w| {
        w.model.always("Sure.");
        let flood: Vec<MessageId> = (0..5).map(|_| w.say("Ana", "@bot quick")).collect();
        let other = w.say("Bob", "@bot thoughts?");
        let mut answered = Vec::new();
        let mut refused = Vec::new();
        for _ in 0..6 {
            let message = w.next_sent().await;
            let list = if message.text == "Sure." { &mut answered } else { &mut refused };
            list.push((message.reply_to.expect("a reply"), message.text));
        }
        answered.sort();
        let answered: Vec<MessageId> = answered.into_iter().map(|(id, _)| id).collect();
        assert_eq!(answered, [&flood[..4], &[other]].concat());
        assert_eq!(refused.len(), 1);
        assert_eq!(refused[0].0, flood[4]);
        assert!(
            refused[0].1.starts_with("You are tagging me faster than anybody can read my answers."),
            "{}",
            refused[0].1
        );
    })
    .await;
}

#[tokio::test]
async fn a_member_who_went_over_in_one_chat_is_over_in_all_and_told_in_each() {
    World::with(THREE_A_MINUTE, async |w| {
        let other = w.telegram.add_chat(NewChat::supergroup("Second table"));
        for _ in 0..3 {
            ask(w, "Ana").await;
        }
        let there = w.say_in(other, "Ana", "@bot and here?");
        assert!(w.answer_to(there).await.text.starts_with("You have tagged me very often"));
        w.model.script(["Sure."]);
        let bob = w.say_in(other, "Bob", "@bot thoughts?");
        assert_eq!(w.answer_to(bob).await.text, "Sure.");
    })
    .await;
}

#[tokio::test]
async fn a_backlog_that_arrives_at_once_is_no_flood() {
    World::with(&[("RATE_LIMIT", "on")], async |w| {
        w.stop().await;
        w.model.always("Sure.");
        let mut asked = Vec::new();
        for _ in 0..6 {
            asked.push(w.say("Ana", "@bot thoughts?"));
            w.clock.advance(Duration::from_secs(10));
        }
        w.start().await;
        for _ in &asked {
            assert_eq!(w.next_sent().await.text, "Sure.");
        }
    })
    .await;
}

#[tokio::test]
async fn switched_off_nobody_is_refused() {
    World::with(&[("RATE_LIMIT", "off")], async |w| {
        w.model.always("Sure.");
        for _ in 0..80 {
            w.say("Ana", "@bot thoughts?");
        }
        for _ in 0..80 {
            assert_eq!(w.next_sent().await.text, "Sure.");
        }
    })
    .await;
}

#[tokio::test]
async fn a_refused_trigger_that_comes_again_is_not_told_twice() {
    World::with(&[("RATE_LIMIT", "1/1m")], async |w| {
        ask(w, "Ana").await;
        let second = w.say("Bob", "@bot and me?");
        assert!(w.answer_to(second).await.text.contains("tagged very often"));
        w.clock.advance(MINUTE);
        let update = w.telegram.latest_update().expect("an update");
        w.telegram.duplicate(update);
        w.telegram.edit(w.chat, second, "@bot and me, please?", w.clock.now());
    })
    .await;
}

/// Waits until no job is due now or shortly after, so that the clock can be moved without a call in flight.
async fn work_until_it_has_to_wait(w: &World) {
    w.telegram.all_confirmed().await;
    let clock = w.clock.clone();
    let soon = move || clock.now().plus(Duration::from_millis(250));
    w.until("nothing is due", move |conn| Ok(jobs::due(conn, soon(), 1, 1)?.is_empty())).await;
}

#[tokio::test]
async fn two_hundred_tags_in_a_minute_are_all_answered_or_told_and_every_wait_is_kept() {
    const TAGS: usize = 200;
    const AT_ONCE: usize = 10;
    World::with(&[("RATE_LIMIT", "60/300s"), ("MODEL_TIMEOUT", "1h"), ("ANSWER_DEADLINE", "1h")], async |w| {
        w.telegram.limit_floods(20);
        w.model.always("Sure.");
        let names: Vec<String> = (0..40).map(|n| format!("member {n}")).collect();
        let mut tags = Vec::new();
        for n in 0..TAGS {
            tags.push(w.say(&names[n % names.len()], "@bot thoughts?"));
            if n % AT_ONCE == AT_ONCE - 1 {
                work_until_it_has_to_wait(w).await;
                w.clock.advance(Duration::from_secs(3));
            }
        }
        while w.read_store(jobs::counts).await.0 > 0 {
            w.clock.advance(Duration::from_secs(2));
            work_until_it_has_to_wait(w).await;
        }
        let sent = w.telegram.sent_by_bot(w.chat);
        for _ in &sent {
            w.next_sent().await;
        }
        let mut answered = 0;
        for tag in tags {
            let replies = sent.iter().filter(|message| message.reply_to == Some(tag)).count();
            let reactions = w.telegram.message(w.chat, tag).expect("the tag").reactions;
            let is_seen = reactions.contains_key(&w.telegram.bot_id());
            assert!(replies == 1 || replies == 0 && is_seen, "{tag}: {replies} replies, seen {is_seen}");
            answered += replies;
        }
        assert!(answered >= 60, "{answered} answers");
        assert_eq!(w.telegram.ignored_waits(), 0);
    })
    .await;
}
