//! Copied words are traced to their origin; opting out and forgetting work in all circumstances.

use std::time::Duration;

use chime_core::{ChatId, MessageId, Role};
use chime_sandbox::{NewChat, NewMember, Post, PostContent, SandboxMessage};
use chime_store::{Reader, chats, consent, messages};
use chime_world::World;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn texts(w: &World, chat: ChatId) -> Vec<String> {
    w.all_stored(chat).await.into_iter().map(|stored| stored.message.text).collect()
}

async fn command_in(w: &mut World, chat: ChatId, name: &str, text: &str) -> SandboxMessage {
    let said = w.say_in(chat, name, text);
    w.answer_to(said).await
}

async fn has_words(w: &World, chat: ChatId, id: MessageId) -> bool {
    w.stored(chat, id).await.is_some_and(|stored| !stored.message.text.is_empty())
}

fn is_out(conn: &Reader, chat: ChatId, user: chime_core::UserId) -> chime_store::Result<bool> {
    let Some(row) = chats::find(conn, chat)? else { return Ok(false) };
    Ok(consent::opted_out(conn, row.key, user)?.is_some())
}

/// Telegram copies each post of a channel into its linked group.
#[tokio::test]
async fn a_post_in_a_channel_and_its_group_is_answered_once_and_an_answer_is_no_source() {
    World::run(async |w| {
        let news = w.telegram.add_chat(NewChat::channel("News"));
        let copy = |w: &World, text: &str, of: MessageId| {
            let copy = Post::new(w.member("ann"), text, w.clock.now());
            w.telegram.say(w.chat, copy.as_chat(news).forward_of(news, of))
        };
        w.model.script(["At noon."]);
        let text = "@bot when does the boat leave?";
        let post = w.telegram.say(news, Post::new(w.member("ann"), text, w.clock.now()));
        copy(w, text, post);
        let answer = w.answer_to(post).await;
        assert_eq!((answer.chat, answer.text.as_str()), (news, "At noon."));
        let copied = copy(w, &answer.text, answer.id);
        w.settled().await;
        assert_eq!(w.model.requests().len(), 1);
        let stored = w.stored(w.chat, copied).await.expect("it is stored").message;
        assert_eq!((stored.sender.id, stored.role), (w.telegram.bot_id(), Role::Assistant));
    })
    .await;
}

#[tokio::test]
async fn a_strangers_forget_touches_no_other_chat_and_tells_nothing_of_it() {
    World::run(async |w| {
        let ben = w.member("ben");
        let saying = "good morning everyone, coffee is ready";
        let forward = w.telegram.say(w.chat, Post::new(ben, saying, w.clock.now()).forwarded_from("Zoe"));
        let other = w.telegram.add_chat(NewChat::supergroup("The lake"));
        let quoting = w.telegram.add_member(other, "cat");
        let original = w.say("ann", "the pass is closed");
        let reply = Post::new(quoting, "is it?", w.clock.now()).reply_elsewhere(w.chat, original).quote(saying);
        let reply = w.telegram.say(other, reply);
        w.settled().await;
        let private = w.telegram.add_chat(NewChat::private("eve"));
        w.model.script(["Good morning."]);
        let said = w.say_in(private, "eve", saying);
        w.words_to(said).await;
        w.settled().await;
        let shown = command_in(w, private, "eve", "/forget me").await.text;
        assert_eq!(shown, "Deleted: 1 message, and 1 answer of mine based on that. What I posted stays in the chat until somebody deletes it there.");
        w.settled().await;
        assert!(has_words(w, w.chat, forward).await, "the same words of another");
        let kept = w.stored(other, reply).await.expect("the reply stays");
        assert!(kept.message.snapshot.is_some_and(|snapshot| snapshot.contains(saying)));
    })
    .await;
}

#[tokio::test]
async fn what_expires_in_one_chat_stays_where_it_was_forwarded_later() {
    World::with(&[("RETENTION_DAYS", "30")], async |w| {
        let ann = w.member("ann");
        let old = w.telegram.say(w.chat, Post::new(ann, "good morning everyone", w.clock.now().minus(DAY * 31)));
        let other = w.telegram.add_chat(NewChat::supergroup("The lake"));
        let ben = w.telegram.add_member(other, "ben");
        let forward = Post::new(ben, "good morning everyone", w.clock.now()).forward_of(w.chat, old);
        let forward = w.telegram.say(other, forward);
        w.settled().await;
        w.clock.advance(HOUR);
        let chat = w.chat;
        w.until("the old message is gone", move |conn| Ok(messages::find_any(conn, chat, old)?.is_none())).await;
        assert!(has_words(w, other, forward).await);
    })
    .await;
}

#[tokio::test]
async fn forwards_and_quotes_elsewhere_go_with_the_message_whatever_they_say_by_now() {
    World::run(async |w| {
        let original = w.say("ann", "zqfirst7xk is the wording");
        w.settled().await;
        let other = w.telegram.add_chat(NewChat::supergroup("The lake"));
        let ben = w.telegram.add_member(other, "ben");
        let forward = Post::new(ben, "zqfirst7xk is the wording", w.clock.now()).forward_of(w.chat, original);
        let forward = w.telegram.say(other, forward);
        let reply = Post::new(ben, "I doubt it", w.clock.now()).reply_elsewhere(w.chat, original).quote("zqfirst7xk");
        let reply = w.telegram.say(other, reply);
        w.telegram.edit(w.chat, original, "another wording", w.clock.now());
        w.settled().await;
        let chat = w.chat;
        assert_eq!(command_in(w, chat, "ann", "/forget me").await.text, "Deleted: 1 message.");
        w.settled().await;
        assert!(!has_words(w, other, forward).await);
        let kept = w.stored(other, reply).await.expect("ben's own words stay").message;
        assert_eq!((kept.text.as_str(), kept.snapshot, kept.quote), ("I doubt it", None, None));
        assert_eq!(crate::privacy::found_in_files(w, &["zqfirst7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_name_goes_from_service_messages_and_from_what_why_showed() {
    World::run(async |w| {
        let marker = ["zqname7xk".to_owned()];
        let ann = w.member("ann");
        let named = w.telegram.add_member(w.chat, NewMember::named("zqname7xk"));
        w.telegram.say(w.chat, Post::new(ann, "", w.clock.now()).with(PostContent::Joined(vec![named])));
        w.say("zqname7xk", "the boat is old");
        let said = w.say("zqname7xk", "and the oars are new");
        w.settled().await;
        let other = w.telegram.add_chat(NewChat::supergroup("The lake"));
        let ben = w.telegram.add_member(other, "ben");
        w.telegram.say(other, Post::new(ben, "and the oars are new", w.clock.now()).forward_of(w.chat, said));
        w.model.script(["The oars are new."]);
        let tag = w.say("ben", "@bot what is new?");
        let answer = w.answer_to(tag).await;
        let why = w.reply("ben", answer.id, "/why");
        assert!(w.answer_to(why).await.text.contains("zqname7xk"));
        w.settled().await;
        assert!(!crate::privacy::found_in_files(w, &marker).is_empty());
        let chat = w.chat;
        let shown = command_in(w, chat, "zqname7xk", "/forget me").await.text;
        assert!(shown.starts_with("Deleted: 2 messages, and 1 answer"), "{shown}");
        w.settled().await;
        w.stop().await;
        assert_eq!(crate::privacy::found_in_files(w, &marker), Vec::<String>::new());
        w.start().await;
    })
    .await;
}

#[tokio::test]
async fn what_an_opted_out_member_wrote_reaches_no_prompt_by_way_of_others() {
    World::run(async |w| {
        let marker = "zqborrow7xk";
        let original = w.say("ann", &format!("{marker} is the code"));
        let ben = w.member("ben");
        let before = Post::new(ben, format!("{marker} is the code"), w.clock.now()).forward_of(w.chat, original);
        let before = w.telegram.say(w.chat, before);
        w.settled().await;
        w.model.script([chime_testkit::Reply::text(format!("The code is {marker}."))]);
        let tag = w.say("ben", "@bot what is the code?");
        let older = w.answer_to(tag).await;
        w.settled().await;
        let chat = w.chat;
        // In one batch: the command holds from the next message on.
        let out = w.telegram.say(chat, Post::new(w.member("ann"), "/optout", w.clock.now()));
        let late = Post::new(w.member("ann"), "zqlate7xk", w.clock.now());
        w.telegram.say(chat, late);
        assert!(w.answer_to(out).await.text.starts_with("From now on"));
        let after = Post::new(ben, format!("{marker} is the code"), w.clock.now()).forward_of(w.chat, original);
        let after = w.telegram.say(w.chat, after);
        for about in [before, after, older.id] {
            w.model.script(["I may not say."]);
            let tag = w.reply("ben", about, "@bot is that so?");
            w.answer_to(tag).await;
            let prompt = w.model.requests().last().map(ToString::to_string).unwrap_or_default();
            assert!(!prompt.contains(marker), "{prompt}");
        }
        w.settled().await;
        assert!(!texts(w, chat).await.iter().any(|text| text.contains("zqlate7xk")));
        let answer = w.all_stored(chat).await.into_iter().find(|stored| stored.message.id == older.id);
        assert_eq!(answer.map(|stored| stored.message.text), Some(String::new()), "the answer that rested on it");
    })
    .await;
}

#[tokio::test]
async fn an_opt_out_from_before_a_downtime_holds_and_is_confirmed() {
    World::run(async |w| {
        w.stop().await;
        let ann = w.member("ann");
        let (chat, long_ago) = (w.chat, w.clock.now().minus(HOUR * 3));
        let out = w.telegram.say(chat, Post::new(ann, "/optout", long_ago));
        w.telegram.say(chat, Post::new(ann, "zqafter7xk", long_ago.plus(Duration::from_secs(9))));
        w.start().await;
        assert!(w.answer_to(out).await.text.starts_with("From now on"));
        w.settled().await;
        assert!(w.read_store(move |conn| is_out(conn, chat, ann)).await);
        assert!(!texts(w, chat).await.iter().any(|text| text.contains("zqafter7xk")));
        // After an opt-in, the opt-out arriving again has no effect.
        assert!(command_in(w, chat, "ann", "/optin").await.text.starts_with("I read what you write again"));
        let last = w.telegram.latest_update().map_or(0, |last| last.0);
        for id in last - 3..=last {
            w.telegram.duplicate(chime_core::UpdateId(id));
        }
        w.settled().await;
        assert!(!w.read_store(move |conn| is_out(conn, chat, ann)).await);
    })
    .await;
}

#[tokio::test]
async fn nobody_asks_too_often_to_be_forgotten() {
    World::with(&[("RATE_LIMIT", "1/1h")], async |w| {
        w.model.script(["Nothing."]);
        let tag = w.say("ann", "@bot what do you know of me?");
        w.words_to(tag).await;
        let chat = w.chat;
        assert!(command_in(w, chat, "ann", "/forget me").await.text.starts_with("Deleted: "));
        assert!(command_in(w, chat, "ann", "/optout").await.text.starts_with("From now on"));
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_is_wrong_does_not_keep_messages_from_being_forgotten() {
    World::run(async |w| {
        w.stop().await;
        w.set_daemon_ahead(DAY * 400);
        w.start().await;
        let chat = w.chat;
        let old = w.say("ann", "of before");
        w.settled().await;
        let said = w.say("ann", "/forget me 1h");
        let shown = w.answer_to(said).await.text;
        assert_eq!(shown, "Deleted: 1 message.");
        assert!(!has_words(w, chat, old).await);
        let out = w.say("ann", "/optout");
        assert!(w.answer_to(out).await.text.starts_with("From now on"));
    })
    .await;
}

#[tokio::test]
async fn a_clock_far_ahead_deletes_nothing() {
    World::run(async |w| {
        let said = w.say("ann", "worth keeping");
        w.settled().await;
        w.stop().await;
        w.set_daemon_ahead(DAY * 400);
        let asked = w.telegram.calls().iter().filter(|call| call.is("getMe")).count();
        w.start().await;
        w.advance_daemon(Duration::from_secs(61));
        // Once for the start, once for the clock change.
        w.telegram.called("getMe", asked + 2).await;
        w.settled().await;
        w.restart().await;
        assert!(has_words(w, w.chat, said).await);
    })
    .await;
}

#[tokio::test]
async fn a_chat_that_speaks_has_not_removed_the_bot() {
    World::run(async |w| {
        let group = w.telegram.add_chat(NewChat::group("Small table"));
        w.say_in(group, "ann", "before");
        w.settled().await;
        w.telegram.kick_bot(group);
        w.telegram.all_confirmed().await;
        let there = move |conn: &Reader| Ok(chats::find(conn, group)?.is_some_and(|row| row.is_present));
        assert!(!w.read_store(there).await);
        let update = format!(
            r#"{{"message":{{"message_id":900,"date":{},"text":"still here","chat":{{"id":{},"type":"group","title":"Small table"}},
                "from":{{"id":5,"is_bot":false,"first_name":"ann"}}}}}}"#,
            w.clock.now().secs(),
            group.0
        );
        w.telegram.push_raw(update);
        w.settled().await;
        assert!(w.read_store(there).await);

        // Left under its id as a basic group.
        let basic = w.telegram.add_chat(NewChat::group("Large table"));
        w.say_in(basic, "ann", "in the group");
        let upgraded = w.telegram.migrate(basic);
        w.say_in(upgraded, "ann", "in the supergroup");
        w.settled().await;
        let left = format!(
            r#"{{"my_chat_member":{{"chat":{{"id":{},"type":"group","title":"Large table"}},"date":{},
                "from":{{"id":5,"is_bot":false,"first_name":"ann"}},
                "old_chat_member":{{"status":"member","user":{{"id":{bot},"is_bot":true,"first_name":"Bot"}}}},
                "new_chat_member":{{"status":"left","user":{{"id":{bot},"is_bot":true,"first_name":"Bot"}}}}}}}}"#,
            basic.0,
            w.clock.now().secs(),
            bot = w.telegram.bot_id().0,
        );
        w.telegram.push_raw(left);
        w.settled().await;
        assert!(w.read_store(move |conn| Ok(chats::find(conn, upgraded)?.is_some_and(|row| row.is_present))).await);
    })
    .await;
}

#[tokio::test]
async fn a_tag_that_waited_through_a_downtime_is_told_of_and_not_answered() {
    World::run(async |w| {
        w.model.script([chime_testkit::Reply::Hang]);
        w.say("ann", "@bot when is dinner?");
        w.model.wait_for_requests(1).await.expect("the model is asked");
        w.stop().await;
        w.model.release();
        w.clock.advance(HOUR);
        w.start().await;
        let shown = w.next_sent().await;
        assert!(shown.reply_to.is_none() && shown.text.starts_with("While I was away"), "{}", shown.text);
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn what_is_asked_in_a_chat_that_is_no_longer_allowed_is_not_answered() {
    World::run(async |w| {
        w.model.script([chime_testkit::Reply::Hang]);
        w.say("ann", "@bot when is dinner?");
        w.model.wait_for_requests(1).await.expect("the model is asked");
        w.stop().await;
        w.model.release();
        w.set("ALLOWED_CHATS", "-1009999999999");
        w.start().await;
        w.settled().await;
        assert_eq!(w.telegram.sent_by_bot(w.chat).len(), 0);
    })
    .await;
}

#[tokio::test]
async fn chats_that_became_one_leave_nothing_under_the_number_that_ended() {
    World::run(async |w| {
        let basic = w.telegram.add_chat(NewChat::group("Large table"));
        w.say_in(basic, "ann", "in the group");
        w.settled().await;
        // The bot hears of the supergroup first, and answers in it.
        let next = ChatId(-1_007_000_000_123);
        let message = |id: i64, text: &str| {
            format!(
                r#"{{"message":{{"message_id":{id},"date":{},"text":"{text}","chat":{{"id":{},"type":"supergroup","title":"Large table"}},
                    "from":{{"id":5,"is_bot":false,"first_name":"ann"}}}}}}"#,
                w.clock.now().secs(),
                next.0
            )
        };
        for (id, text) in [(5, "the lake is warm"), (6, "and the boat is old"), (7, "who has the oars?")] {
            w.telegram.push_raw(message(id, text));
        }
        w.settled().await;
        let ended = w.read_store(move |conn| Ok(chats::find(conn, next)?.expect("a chat of its own").key)).await;
        let migrated = format!(
            r#"{{"message":{{"message_id":8,"date":{},"chat":{{"id":{},"type":"supergroup","title":"Large table"}},
                "from":{{"id":5,"is_bot":false,"first_name":"ann"}},"migrate_from_chat_id":{}}}}}"#,
            w.clock.now().secs(),
            next.0,
            basic.0
        );
        w.telegram.push_raw(migrated);
        w.settled().await;
        let left = w
            .read_store(move |conn| {
                let mut tables = conn.prepare(
                    "SELECT name FROM sqlite_schema AS it WHERE type = 'table'
                         AND EXISTS (SELECT 1 FROM pragma_table_info(it.name) WHERE name = 'chat_key')",
                )?;
                let names: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
                let mut left = Vec::new();
                for name in names {
                    let sql = format!("SELECT count(*) FROM {name} WHERE chat_key = {}", ended.0);
                    let count: i64 = conn.query_row(&sql, [], |row| row.get(0))?;
                    if count > 0 {
                        left.push(name);
                    }
                }
                for name in ["message_vector", "message_name"] {
                    let sql = format!("SELECT count(*) FROM {name} WHERE id >> 32 = {}", ended.0);
                    let count: i64 = conn.query_row(&sql, [], |row| row.get(0))?;
                    if count > 0 {
                        left.push(name.to_owned());
                    }
                }
                Ok(left)
            })
            .await;
        assert_eq!(left, Vec::<String>::new());
        let all = texts(w, next).await;
        assert!(all.iter().any(|text| text == "in the group") && all.iter().any(|text| text == "the lake is warm"));
    })
    .await;
}
