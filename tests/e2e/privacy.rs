//! Consent, and forgetting down to the last byte.

use std::path::Path;
use std::time::Duration;

use chime_core::texts::texts;
use chime_core::{ChatId, ChatKey, Rolling, Timestamp, UserId};
use chime_sandbox::faults::Fault;
use chime_sandbox::{ChatMemberStatus, NewChat, NewMember, Post, PostContent, SandboxMessage};
use chime_store::{Reader, Store, backups, chats, consent, jobs, memory, messages, summaries};
use chime_testkit::Reply;
use chime_world::World;
use rusqlite::Connection;

use crate::faults::refused;
use crate::process::Process;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn last_prompt(w: &World) -> String {
    w.model.requests().last().map(ToString::to_string).unwrap_or_default()
}

fn ago(w: &World, span: Duration) -> Timestamp {
    w.clock.now().minus(span)
}

/// Returns the markers found anywhere in the files of the database's folder.
pub fn found_in_files(w: &World, markers: &[String]) -> Vec<String> {
    let folder = w.database().parent().map(Path::to_path_buf).expect("the database is in a folder");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("read the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            continue;
        }
        let bytes = std::fs::read(&path).expect("read a file").to_ascii_lowercase();
        // Invalid UTF-8 becomes a character that no marker has, so no marker is lost.
        let text = String::from_utf8_lossy(&bytes);
        for marker in markers {
            if text.contains(marker.as_str()) {
                found.push(format!("{marker} in {}", path.file_name().unwrap_or_default().to_string_lossy()));
            }
        }
    }
    found
}

fn words_left(conn: &Reader, chat: ChatId) -> chime_store::Result<usize> {
    let Some(row) = chats::find(conn, chat)? else { return Ok(0) };
    let all = messages::all_of(conn, row.key)?;
    Ok(all.iter().filter(|stored| stored.message.text.contains("zqkill7xk")).count())
}

/// Sends a command and waits for its reply.
async fn command(w: &mut World, name: &str, text: &str) -> SandboxMessage {
    let said = w.say(name, text);
    w.answer_to(said).await
}

/// Makes a copy of the database as before a migration.
async fn copy_before_migration(w: &World) {
    let to = backups::before_migration(&w.database(), 99, w.clock.now());
    w.read_store(move |conn| chime_store::copy_to(conn, &to).map(drop)).await;
}

fn stand(w: &World, name: &str, status: ChatMemberStatus) -> UserId {
    w.telegram.add_member(w.chat, NewMember::named(name).status(status))
}

/// Like [`command`], for a member with a given standing in the group.
async fn order(w: &mut World, from: UserId, text: &str) -> SandboxMessage {
    let said = w.telegram.say(w.chat, Post::new(from, text, w.clock.now()));
    w.answer_to(said).await
}

#[tokio::test]
async fn a_wish_to_be_forgotten_is_answered_with_the_command_first() {
    World::offline(async |w| {
        let texts = texts("eng");
        let place = |reply: &str, part: &str| reply.find(part.split(':').next().expect("a part"));
        for (ask, is_wish) in [("@bot forget me", true), ("@bot what do you store?", false), ("/privacy@bot", false)] {
            let reply = command(w, "ann", ask).await.text;
            let (wish, terms) = (place(&reply, &texts.privacy_forget_me), place(&reply, &texts.privacy));
            assert!(wish.is_some() && terms.is_some() && (wish < terms) == is_wish, "{ask}: {reply}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_was_forgotten_is_in_no_byte_of_any_file() {
    World::run(async |w| {
        let names = ["plain", "caption", "former", "edited", "quoted", "answered", "forwarded", "asked", "noted"];
        let markers: Vec<String> = names.map(|name| format!("zq{name}7xk")).to_vec();
        let [plain, caption, former, edited, quoted, answered, forwarded, asked, noted] = &markers[..] else {
            panic!("nine markers")
        };
        let ann = w.member("ann");
        // Other messages around it, enough for pages of the file to split.
        for round in 0..40 {
            w.say("ben", &format!("round {round}: {}", "the lake is calm and the boat is old ".repeat(round % 9 + 1)));
            w.say("ann", &format!("note {round} {plain} {}", "with a long tail of words ".repeat(round % 7)));
        }
        let saved = w.say("ann", &format!("the code of the gate is {noted}"));
        let cat = w.telegram.add_member(w.chat, NewMember::named("cat").status(ChatMemberStatus::Administrator));
        let save = w.telegram.say(w.chat, Post::new(cat, "/note", w.clock.now()).reply_to(saved));
        w.answer_to(save).await;
        let list = w.say("ben", "/notes@bot");
        assert!(w.answer_to(list).await.text.contains(noted), "the list shows the note");
        let photo = Post::new(ann, format!("look at {caption}"), w.clock.now()).with(PostContent::Photo);
        w.telegram.say(w.chat, photo);
        let changed = w.say("ann", &format!("first it said {former} here"));
        // Stored before the edit, so that its words are in the file.
        w.settled().await;
        w.telegram.edit(w.chat, changed, &format!("now it says {edited}"), w.clock.now());
        let secret = w.say("ann", &format!("the code is {quoted} and nothing else"));
        let ben = w.member("ben");
        let quoting = Post::new(ben, "is it?", w.clock.now()).reply_to(secret).quote(quoted.as_str());
        w.telegram.say(w.chat, quoting);
        let actual = format!("pass on {forwarded} to all");
        let passed_on = w.say("ann", &actual);
        w.telegram.say(w.chat, Post::new(ben, actual, w.clock.now()).forward_of(w.chat, passed_on));
        w.settled().await;
        let source = w.stored(w.chat, secret).await.expect("it is stored").seq;
        w.model.script([Reply::text(format!("She wrote {answered}, and the code {quoted} [source: m{source}]."))]);
        let asking = w.reply("ben", secret, "@bot what is the code?");
        let answer = w.answer_to(asking).await;
        w.settled().await;
        w.reply("ben", answer.id, "thanks!");
        w.model.script([Reply::text(format!("You asked about {asked}."))]);
        let own = w.say("ann", &format!("@bot what about {asked}?"));
        w.answer_to(own).await;
        w.settled().await;
        copy_before_migration(w).await;
        let before = found_in_files(w, &markers);
        // The words from before an edit are in no row, and must be nowhere else.
        for marker in markers.iter().filter(|marker| !marker.starts_with("zqformer")) {
            assert!(before.iter().any(|found| found.starts_with(marker)), "{marker} was never stored: {before:?}");
        }
        assert!(before.iter().any(|found| found.contains("before-v99")), "the copy holds it too");

        // A forward is identified by its author and its second, so the command must differ.
        w.clock.advance(Duration::from_secs(5));
        let done = command(w, "ann", "/forget me").await;
        assert!(done.text.starts_with("Deleted: 46 messages, and 2 answers"), "{}", done.text);
        w.settled().await;
        assert_eq!(found_in_files(w, &markers), Vec::<String>::new());
        w.stop().await;
        assert_eq!(found_in_files(w, &markers), Vec::<String>::new(), "after the end");
        w.start().await;
        let others = w.all_stored(w.chat).await;
        let ben_said = others.iter().filter(|one| one.message.text.contains("the lake is calm")).count();
        assert_eq!(ben_said, 40, "what others wrote stays");
    })
    .await;
}

/// Summaries contain members' words: they are in every table of memory, and deleted with the message.
#[tokio::test]
async fn what_memory_made_of_a_forgotten_message_is_in_no_byte_of_any_file() {
    World::with(&[("MEMORY", "on"), ("MAX_CHAT_HISTORY", "10")], async |w| {
        let markers: Vec<String> =
            ["mini", "tag", "recent", "thread", "topic"].map(|name| format!("zq{name}7xk")).to_vec();
        let [mini, tag, recent, thread, topic] = &markers[..] else { panic!("five markers") };
        w.say("ann", "the old boat lies at the lake, and its red rope is behind the door of the shed");
        w.say("ann", "who takes it out on Friday has to bring the key of the shed back before Sunday");
        w.say("ben", "the lake is calm this week, and there is a second key at the bakery in the village");
        w.model.script(["At the lake."]);
        let asking = w.say("ben", "@bot where is the boat?");
        w.answer_to(asking).await;
        w.settled().await;
        let tags = format!(
            r#"{{"tags":[{{"tag":"{tag}","conf":0.9}},{{"tag":"lake","conf":0.8}},{{"tag":"boat","conf":0.7}}]}}"#
        );
        let minis = format!("- {{u1}} said that the boat {mini} lies at the lake [m1, m2]");
        w.model.script([minis, tags, format!("- {recent}: the boat [m1]")].map(Reply::text));
        w.clock.advance(Duration::from_secs(2 * 3600));
        let chat = w.chat;
        let is_kept = move |kind| {
            move |conn: &Reader| match chats::find(conn, chat)? {
                Some(row) => Ok(summaries::rolling(conn, row.key, kind)?.is_some()),
                None => Ok(false),
            }
        };
        w.until("Recent is made", is_kept(Rolling::Recent)).await;
        w.settled().await;
        copy_before_migration(w).await;
        let met = found_in_files(w, &markers);
        for marker in [mini, tag, recent] {
            assert!(met.iter().any(|found| found.starts_with(marker.as_str())), "{marker} was never stored: {met:?}");
        }
        w.clock.advance(40 * DAY);
        w.until("History is folded", is_kept(Rolling::History)).await;
        w.settled().await;
        let mut last = w.say("ann", "what do we pay for the big boat?");
        for number in 2..=13 {
            last = w.reply("ann", last, &format!("about the big boat, thought {number}: we are {number}"));
        }
        // The thread and its topic are summarized in any order; each summary keeps the line whose sources it was given.
        let summed_up =
            format!("- {thread} about the big boat [m5, m6, m7]\n- {topic}: the key of the old boat [m1, m2]");
        w.model.script(["Nothing yet.".to_owned(), summed_up.clone(), summed_up].map(Reply::text));
        let asking = w.reply("ben", last, "@bot well?");
        w.answer_to(asking).await;
        w.settled().await;
        let met = found_in_files(w, &markers);
        for marker in [thread, topic] {
            assert!(met.iter().any(|found| found.starts_with(marker.as_str())), "{marker} was never stored: {met:?}");
        }

        let done = command(w, "ann", "/forget me").await;
        assert!(done.text.starts_with("Deleted: "), "{}", done.text);
        w.settled().await;
        assert_eq!(found_in_files(w, &markers), Vec::<String>::new());
        w.stop().await;
        assert_eq!(found_in_files(w, &markers), Vec::<String>::new(), "after the end");
        w.start().await;
    })
    .await;
}

#[tokio::test]
async fn who_opts_out_is_in_no_summary_from_then_on() {
    World::with(&[("MEMORY", "on"), ("OPENAI_BASE_URL", ""), ("MODEL", "")], async |w| {
        w.say("ann", "we decided: the red zqtent7xk comes along to the lake, and 3 ropes with it");
        w.say("ben", "I'll bring the blue cable from the cupboard and the projector on Friday at 18:30");
        w.say("cat", "then I book a table for nine people at the thai restaurant near the bridge");
        w.say("ben", "the old projector shows everything in green, so somebody has to look at it before");
        w.settled().await;
        w.clock.advance(Duration::from_secs(2 * 3600));
        let actual = |conn: &Reader| -> chime_store::Result<String> {
            let recent = summaries::rolling(conn, ChatKey(1), Rolling::Recent)?;
            Ok(format!("{recent:?}{:?}", memory::newest_texts(conn, ChatKey(1), 9)?))
        };
        w.until("the talk is summarized", move |conn| Ok(actual(conn)?.matches("zqtent7xk").count() >= 2)).await;
        w.settled().await;
        command(w, "ann", "/optout").await;
        let at_once = w.read_store(actual).await;
        assert!(!at_once.contains("zqtent7xk"), "{at_once}");
        w.settled().await;
        w.clock.advance(Duration::from_secs(2 * 3600));
        w.until("it is summarized anew", move |conn| Ok(actual(conn)?.contains("projector"))).await;
        w.settled().await;
        assert!(!w.read_store(actual).await.contains("zqtent7xk"));
    })
    .await;
}

#[tokio::test]
async fn what_is_remembered_goes_with_the_last_message_behind_it() {
    World::with(&[("MEMORY", "on"), ("RETENTION_DAYS", "60"), ("OPENAI_BASE_URL", ""), ("MODEL", "")], async |w| {
        let talk = |w: &World, what: &str| {
            w.say("ann", &format!("we decided: the red {what} comes along to the lake, and 3 ropes with it"));
            w.say("ben", "I'll bring the blue cable from the cupboard and the projector on Friday at 18:30");
            w.say("cat", "then I book a table for nine people at the thai restaurant near the bridge");
        };
        let actual = |conn: &Reader| -> chime_store::Result<String> {
            let history = summaries::rolling(conn, ChatKey(1), Rolling::History)?;
            Ok(format!("{history:?}{:?}", memory::newest_texts(conn, ChatKey(1), 9)?))
        };
        talk(w, "zqold7xk");
        w.settled().await;
        w.clock.advance(20 * DAY);
        talk(w, "zqnew7xk");
        w.settled().await;
        w.clock.advance(35 * DAY);
        let has_both = move |text: &str| ["zqold7xk", "zqnew7xk"].iter().all(|it| text.matches(it).count() >= 2);
        w.until("both are in History", move |conn| Ok(has_both(&actual(conn)?))).await;
        w.settled().await;
        w.clock.advance(10 * DAY);
        w.until("the older one has expired", move |conn| Ok(!actual(conn)?.contains("zqold7xk"))).await;
        w.settled().await;
        w.clock.advance(Duration::from_secs(2 * 3600));
        w.until("History is folded anew without it", move |conn| Ok(actual(conn)?.matches("zqnew7xk").count() >= 2))
            .await;
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_reply_does_not_bring_a_forgotten_message_back() {
    World::run(async |w| {
        let said = w.say("ann", "zqgone7xk was here");
        w.settled().await;
        let forgetting = w.reply("ann", said, "/forget");
        assert_eq!(w.answer_to(forgetting).await.text, "Deleted: 1 message.");
        let tag = w.reply("ben", said, "@bot what did it say?");
        w.model.script(["I may not read that."]);
        w.answer_to(tag).await;
        w.telegram.edit(w.chat, said, "zqgone7xk once more", w.clock.now());
        w.settled().await;
        assert!(last_prompt(w).contains("you cannot read"), "{}", last_prompt(w));
        assert!(!last_prompt(w).contains("zqgone7xk"));
        assert_eq!(found_in_files(w, &["zqgone7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn who_may_have_what_forgotten() {
    World::run(async |w| {
        let dan = stand(w, "dan", ChatMemberStatus::Administrator);
        let (first, second) = (w.say("ann", "one of mine"), w.say("ann", "another of mine"));
        let forgetting = w.reply("ben", first, "/forget");
        assert!(w.answer_to(forgetting).await.text.starts_with("That message is not yours"));
        let forgetting = w.telegram.say(w.chat, Post::new(dan, "/forget", w.clock.now()).reply_to(first));
        assert_eq!(w.answer_to(forgetting).await.text, "Deleted: 1 message.");
        let link = format!("https://t.me/c/{}/{second}", -1_000_000_000_000 - w.chat.0);
        assert_eq!(command(w, "ann", &format!("/forget {link}")).await.text, "Deleted: 1 message.");
        assert_eq!(command(w, "ann", &format!("/forget {link}0")).await.text, "I don't have that message.");
        assert!(command(w, "ann", "/forget").await.text.starts_with("Reply to a message with /forget"));
        assert!(command(w, "ben", "/forget all").await.text.starts_with("Only admins"));

        // In another chat nobody learns that a message exists.
        let elsewhere = w.say("ann", "a third of mine");
        w.settled().await;
        let link = format!("https://t.me/c/{}/{elsewhere}", -1_000_000_000_000 - w.chat.0);
        let private = w.telegram.add_chat(NewChat::private("eve"));
        let asking = w.say_in(private, "eve", &format!("/forget {link}"));
        assert_eq!(w.answer_to(asking).await.text, "I don't have that message.");
    })
    .await;
}

#[tokio::test]
async fn forget_me_reaches_as_far_back_as_was_said_and_in_private_everywhere() {
    World::run(async |w| {
        let ann = w.member("ann");
        let old = w.telegram.say(w.chat, Post::new(ann, "of yesterday", ago(w, DAY)));
        let new = w.say("ann", "of today");
        w.settled().await;
        let told = command(w, "bob", "@bot delete everything I wrote").await.text;
        assert!(told.contains("/forget me") && told.contains("/optout"), "{told}");
        assert!(w.all_stored(w.chat).await.iter().any(|one| one.message.text.contains("delete everything")));
        assert_eq!(command(w, "ann", "/forget me 1h").await.text, "Deleted: 1 message.");
        assert!(w.stored(w.chat, old).await.is_some() && w.stored(w.chat, new).await.is_none());

        let other = w.telegram.add_chat(NewChat::supergroup("The lake"));
        w.say_in(other, "ann", "in another group");
        w.say_in(other, "ben", "mine stays");
        w.settled().await;
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let asking = w.say_in(private, "ann", "/forget me");
        assert_eq!(w.answer_to(asking).await.text, "Deleted: 2 messages.");
        let is_bens = |text: String| text == "mine stays";
        assert!(w.all_stored(other).await.into_iter().any(|one| is_bens(one.message.text)));
        assert!(w.stored(w.chat, old).await.is_none());
        assert!(w.read_store(move |conn| Ok(!chats::is_known_member(conn, ann)?)).await, "the name goes too");
    })
    .await;
}

#[tokio::test]
async fn forget_all_is_the_creators_at_once_and_an_admins_after_a_day() {
    World::run(async |w| {
        let cat = stand(w, "cat", ChatMemberStatus::Creator);
        let dan = stand(w, "dan", ChatMemberStatus::Administrator);
        let said = w.say("ann", "zqall7xk for everybody");
        w.settled().await;
        assert!(order(w, dan, "/forget all").await.text.starts_with("In 24 h I will delete everything"));
        w.clock.advance(HOUR);
        assert!(order(w, dan, "/forget all").await.text.starts_with("In 23 h"), "asking twice changes nothing");
        assert!(order(w, cat, "/forget stop").await.text.starts_with("Cancelled"));
        assert!(order(w, cat, "/forget stop").await.text.starts_with("No deletion is planned"));
        w.settled().await;
        w.clock.advance(DAY * 2);
        assert!(w.stored(w.chat, said).await.is_some(), "what was called off does not happen");

        assert!(order(w, dan, "/forget all").await.text.starts_with("In 24 h"));
        w.clock.advance(DAY);
        assert!(w.next_sent().await.text.starts_with("Deleted: "));
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqall7xk".to_owned()]), Vec::<String>::new());

        let again = w.say("ann", "zqall7xk once more");
        assert!(order(w, cat, "/forget all").await.text.starts_with("Deleted: "));
        w.reply("ann", again, "do you still know this?");
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqall7xk".to_owned()]), Vec::<String>::new(), "a reply brings nothing back");
    })
    .await;
}

#[tokio::test]
async fn an_admin_who_is_none_any_more_cannot_empty_the_chat() {
    World::run(async |w| {
        let dan = stand(w, "dan", ChatMemberStatus::Administrator);
        let said = w.say("ann", "worth keeping");
        assert!(order(w, dan, "/forget all").await.text.starts_with("In 24 h"));
        stand(w, "dan", ChatMemberStatus::Member);
        w.clock.advance(DAY);
        assert!(w.next_sent().await.text.starts_with("The person who asked me"));
        assert!(w.stored(w.chat, said).await.is_some());
    })
    .await;
}

/// A request is done in the end, however long Telegram cannot be reached.
#[tokio::test]
async fn a_deletion_outlasts_a_telegram_that_does_not_answer() {
    /// More attempts than those after which a job is parked.
    const FAILURES: usize = 10;
    World::run(async |w| {
        let dan = stand(w, "dan", ChatMemberStatus::Administrator);
        w.say("ann", "zqout7xk is gone tomorrow");
        assert!(order(w, dan, "/forget all").await.text.starts_with("In 24 h"));
        let asked = w.telegram.calls().iter().filter(|call| call.is("getChatMember")).count();
        w.telegram.fault("getChatMember", Fault::Status(502, "no gateway".to_owned()), FAILURES);
        w.clock.advance(DAY);
        for number in 1..=FAILURES {
            w.telegram.called("getChatMember", asked + number).await;
            let clock = w.clock.clone();
            w.until("it waits", move |conn| Ok(jobs::due(conn, clock.now(), 1, 1)?.is_empty())).await;
            w.clock.advance(Duration::from_secs(3));
        }
        assert!(w.next_sent().await.text.starts_with("Deleted: "));
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqout7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn of_who_opted_out_nothing_is_kept_not_even_where_others_quote_it() {
    World::run(async |w| {
        let markers = ["zqold7xk", "zqout7xk", "zqedit7xk", "zqask7xk"].map(str::to_owned).to_vec();
        let old = w.say("ann", "zqold7xk from before");
        w.settled().await;
        assert!(command(w, "ann", "/optout").await.text.starts_with("From now on I keep nothing"));
        let out = w.say("ann", "zqout7xk is private");
        w.telegram.edit(w.chat, out, "zqedit7xk is private", w.clock.now());
        let ben = w.member("ben");
        w.telegram.say(w.chat, Post::new(ben, "really?", w.clock.now()).reply_to(out).quote("zqedit7xk"));

        // Neither as an anchor nor in a window, whenever it was written.
        for (about, answer) in [(out, "That one I may not read."), (old, "Nor that one.")] {
            w.model.script([answer]);
            let tag = w.reply("ben", about, "@bot is that true?");
            w.answer_to(tag).await;
            let prompt = last_prompt(w);
            assert!(prompt.contains("a message that you cannot read"), "{prompt}");
            assert!(!markers.iter().any(|marker| prompt.contains(marker)), "{prompt}");
        }

        // Their own question is answered, and its words are deleted afterwards.
        w.model.script(["Yes."]);
        let own = w.say("ann", "@bot is zqask7xk fine?");
        w.answer_to(own).await;
        assert!(last_prompt(w).contains("zqask7xk") && !last_prompt(w).contains("zqout7xk"), "{}", last_prompt(w));
        w.settled().await;
        w.stop().await;
        assert_eq!(found_in_files(w, &markers[1..3]), Vec::<String>::new(), "neither in rows nor in the inbox");
        assert_eq!(
            found_in_files(w, &markers[3..]),
            Vec::<String>::new(),
            "the request was held only until its answer"
        );
        w.start().await;
        assert!(command(w, "ann", "/privacy@bot").await.text.contains("You opted out in this chat"));

        assert!(command(w, "ann", "/optin").await.text.starts_with("I read what you write again"));
        assert!(command(w, "ben", "/optin").await.text.starts_with("You have not opted out"));
        let back = w.say("ann", "zqback7xk, hello");
        w.reply("ben", out, "still secret?");
        w.settled().await;
        assert!(w.stored(w.chat, back).await.is_some());
        assert_eq!(w.stored(w.chat, out).await, None, "what was written in between stays unread");
        assert_eq!(found_in_files(w, &markers[1..3]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn an_opt_out_in_private_holds_everywhere_and_ends_where_it_began() {
    World::run(async |w| {
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let asking = w.say_in(private, "ann", "/optout");
        assert!(w.answer_to(asking).await.text.contains("in any chat"));
        let said = w.say("ann", "not for keeping");
        w.settled().await;
        assert_eq!(w.stored(w.chat, said).await, None);
        assert!(command(w, "ann", "/optin").await.text.starts_with("You opted out in every chat"));
        let asking = w.say_in(private, "ann", "/optin");
        assert!(w.answer_to(asking).await.text.starts_with("I read what you write again"));
        let said = w.say("ann", "for keeping");
        w.settled().await;
        assert!(w.stored(w.chat, said).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn what_was_forgotten_while_the_model_thinks_is_in_no_answer() {
    World::run(async |w| {
        let said = w.say("ann", "zqrace7xk is the word");
        w.settled().await;
        w.model.script([Reply::Hang]);
        let tag = w.say("ben", "@bot what is the word?");
        w.model.wait_for_requests(1).await.expect("the model is asked");
        let forgetting = w.reply("ann", said, "/forget");
        assert_eq!(w.answer_to(forgetting).await.text, "Deleted: 1 message.");
        w.model.always("I do not know the word.");
        w.model.release();
        assert_eq!(w.answer_to(tag).await.text, "I do not know the word.");
        assert!(!last_prompt(w).contains("zqrace7xk"), "{}", last_prompt(w));
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqrace7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn an_answer_whose_ground_is_forgotten_before_it_is_out_is_made_anew() {
    World::run(async |w| {
        let said = w.say("ann", "zqrace7xk is the word");
        w.settled().await;
        w.model.script(["The word is zqrace7xk.", "I do not know the word."]);
        w.telegram.fault("sendMessage", Fault::Throttle(2), 1);
        let tag = w.say("ben", "@bot what is the word?");
        w.telegram.called("sendMessage", 1).await;
        let forgetting = w.reply("ann", said, "/forget");
        let (first, second) = (w.next_sent().await, w.next_sent().await);
        let mut words = [(first.reply_to, first.text), (second.reply_to, second.text)];
        words.sort();
        assert_eq!(words[0], (Some(tag), "I do not know the word.".to_owned()));
        let actual = "Deleted: 1 message, and 1 answer of mine based on that. What I posted stays in the chat until somebody deletes it there.".to_owned();
        assert_eq!(words[1], (Some(forgetting), actual));
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqrace7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn of_a_forgotten_answer_nobody_is_told_why_it_is_gone() {
    World::run(async |w| {
        let said = w.say("ann", "7788 is the code of the door");
        w.settled().await;
        w.model.script(["It is 7788 [m1].", "I cannot read that any more."]);
        let tag = w.say("ben", "@bot what is the code of the door?");
        let answer = w.answer_to(tag).await;
        w.settled().await;
        let forget = w.reply("ann", said, "/forget");
        assert!(w.answer_to(forget).await.text.starts_with("Deleted: 1 message"));
        w.settled().await;
        let why = w.reply("ben", answer.id, "/why");
        assert!(w.answer_to(why).await.text.starts_with("I no longer keep that answer"));
        let sure = w.reply("ben", answer.id, "@bot are you sure?");
        w.answer_to(sure).await;
        let prompt = last_prompt(w);
        assert!(prompt.contains("replies to a message that you cannot read") && !prompt.contains("7788"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn what_a_command_shows_is_made_anew_where_it_is_forgotten_before_it_is_out() {
    World::run(async |w| {
        let said = w.say("ann", "zqrace7xk is the word");
        w.model.script(["zqrace7xk, says Ann [source: m1]."]);
        let tag = w.say("ben", "@bot what is the word?");
        let answer = w.answer_to(tag).await;
        let sent = w.telegram.calls().iter().filter(|call| call.is("sendMessage")).count();
        w.telegram.fault("sendMessage", Fault::Throttle(2), 1);
        let why = w.reply("ben", answer.id, "/why");
        w.telegram.called("sendMessage", sent + 1).await;
        w.reply("ann", said, "/forget");
        let (first, second) = (w.next_sent().await, w.next_sent().await);
        let shown = [first, second].into_iter().find(|sent| sent.reply_to == Some(why)).expect("a reply to /why");
        assert!(!shown.text.contains("zqrace7xk"), "{}", shown.text);
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqrace7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

/// A member who opted out gets an answer to their own question, however often it must be made again.
#[tokio::test]
async fn the_question_of_who_opted_out_is_held_until_its_answer_is_out() {
    World::run(async |w| {
        assert!(command(w, "ben", "/optout").await.text.starts_with("From now on I keep nothing"));
        let said = w.say("ann", "zqrace7xk is the word");
        w.settled().await;
        w.model.script(["The word is zqrace7xk.", "I do not know the word."]);
        let sent = w.telegram.calls().iter().filter(|call| call.is("sendMessage")).count();
        w.telegram.fault("sendMessage", Fault::Throttle(2), 1);
        let tag = w.say("ben", "@bot what is the zqheld7xk word?");
        w.telegram.called("sendMessage", sent + 1).await;
        w.reply("ann", said, "/forget");
        let (first, second) = (w.next_sent().await, w.next_sent().await);
        let answer = [first, second].into_iter().find(|sent| sent.reply_to == Some(tag)).expect("an answer");
        assert_eq!(answer.text, "I do not know the word.");
        assert!(last_prompt(w).contains("zqheld7xk"), "{}", last_prompt(w));
        w.settled().await;
        w.stop().await;
        assert_eq!(found_in_files(w, &["zqrace7xk", "zqheld7xk"].map(str::to_owned)), Vec::<String>::new());
        w.start().await;
    })
    .await;
}

#[tokio::test]
async fn the_question_of_who_opted_out_leaves_the_files_while_the_daemon_works() {
    World::run(async |w| {
        command(w, "ben", "/optout").await;
        w.model.script(["I do not know."]);
        let tag = w.say("ben", "@bot what is the zqheld7xk word?");
        w.answer_to(tag).await;
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqheld7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

/// Telegram may add fields at any time.
#[tokio::test]
async fn fields_of_an_update_that_are_not_known_are_not_kept() {
    World::run(async |w| {
        w.telegram.push_raw(format!(
            r#"{{"message":{{"message_id":900,"date":{now},"chat":{{"id":{chat},"type":"supergroup"}},
            "from":{{"id":{ann},"is_bot":false,"first_name":"ann"}},"text":"zqread7xk","novelty":{{"words":"zqnovel7xk"}}}}}}"#,
            now = w.clock.now().secs(),
            chat = w.chat,
            ann = w.member("ann"),
        ));
        w.telegram.all_confirmed().await;
        assert!(!found_in_files(w, &["zqread7xk".to_owned()]).is_empty());
        assert_eq!(found_in_files(w, &["zqnovel7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

/// An unreadable update became no row by which it could be found.
#[tokio::test]
async fn updates_that_could_not_be_read_are_forgotten_with_their_author() {
    World::run(async |w| {
        w.say("ann", "something that can be read");
        w.settled().await;
        let (ann, now) = (w.member("ann"), w.clock.now().secs());
        let push_broken = async |w: &World| {
            for broken in [r#""date":"today""#, &format!(r#""date":{now},"text":["no text"]"#)] {
                w.telegram.push_raw(format!(
                    r#"{{"message":{{"message_id":900,"chat":{{"id":{chat},"type":"supergroup"}},
                    "from":{{"id":{ann},"is_bot":false,"first_name":"ann"}},"caption":"zqparked7xk",{broken}}}}}"#,
                    chat = w.chat,
                ));
            }
            w.telegram.all_confirmed().await;
        };
        let words = ["zqparked7xk".to_owned()];
        push_broken(w).await;
        assert!(!found_in_files(w, &words).is_empty(), "what cannot be read is kept for a later version");
        command(w, "ann", "/forget me").await;
        w.settled().await;
        assert_eq!(found_in_files(w, &words), Vec::<String>::new());
        command(w, "ann", "/optout").await;
        push_broken(w).await;
        assert_eq!(found_in_files(w, &words), Vec::<String>::new(), "nothing of who opted out");
    })
    .await;
}

#[tokio::test]
async fn who_opts_out_while_the_model_thinks_still_gets_the_answer() {
    World::run(async |w| {
        w.say("ann", "There will be nine of us");
        w.settled().await;
        w.model.script([Reply::Held("Nine.".to_owned())]);
        let tag = w.say("ben", "@bot how many?");
        w.prompt(1).await;
        assert!(command(w, "ben", "/optout").await.text.starts_with("From now on I keep nothing"));
        w.model.release();
        assert!(w.words_to(tag).await.starts_with("Nine"));
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_that_is_forgotten_while_it_is_sent_leaves_no_words() {
    World::run(async |w| {
        let said = w.say("ann", "zqrace7xk is the word");
        w.settled().await;
        w.model.script(["The word is zqrace7xk."]);
        w.telegram.fault("sendMessage", Fault::HangAfter, 1);
        let tag = w.say("ben", "@bot what is the word?");
        let answer = w.answer_to(tag).await;
        let forgetting = w.reply("ann", said, "/forget");
        w.answer_to(forgetting).await;
        w.telegram.release();
        w.settled().await;
        let (chat, id) = (answer.chat, answer.id);
        assert!(w.read_store(move |conn| messages::is_stub(conn, chat, id)).await, "it is known that it is out");
        assert_eq!(found_in_files(w, &["zqrace7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn the_rest_of_a_long_answer_stays_where_it_is_once_its_ground_is_forgotten() {
    World::run(async |w| {
        let said = w.say("ann", "zqrest7xk is the word");
        w.settled().await;
        let story = "It is a long story. ".repeat(210);
        w.model.script([Reply::text(format!("{story}\n\nThe word is zqrest7xk."))]);
        w.telegram.fault("sendMessage", Fault::HangAfter, 1);
        let tag = w.say("ben", "@bot what is the word?");
        w.answer_to(tag).await;
        let forgetting = w.reply("ann", said, "/forget");
        w.answer_to(forgetting).await;
        w.telegram.release();
        w.settled().await;
        assert!(w.telegram.sent_by_bot(w.chat).iter().all(|message| !message.text.contains("zqrest7xk")));
        assert_eq!(found_in_files(w, &["zqrest7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn messages_go_after_the_days_that_were_promised() {
    World::with(&[("RETENTION_DAYS", "30")], async |w| {
        let ann = w.member("ann");
        let old = w.telegram.say(w.chat, Post::new(ann, "zqaged7xk", ago(w, DAY * 31)));
        let gone = w.member("zqname7xk");
        w.telegram.say(w.chat, Post::new(gone, "and I went", ago(w, DAY * 31)));
        let young = w.telegram.say(w.chat, Post::new(ann, "of last week", ago(w, DAY * 7)));
        w.settled().await;
        w.clock.advance(HOUR);
        let chat = w.chat;
        w.until("the old message is gone", move |conn| Ok(messages::find_any(conn, chat, old)?.is_none())).await;
        assert!(w.stored(chat, young).await.is_some());
        w.clock.advance(DAY * 15);
        w.until("received updates are gone", |conn| Ok(chime_store::inbox::counts(conn)?.0 == 0)).await;
        w.stop().await;
        let markers = ["zqaged7xk", "zqname7xk"].map(str::to_owned);
        assert_eq!(found_in_files(w, &markers), Vec::<String>::new());
        w.start().await;
    })
    .await;
}

#[tokio::test]
async fn jobs_counts_of_tokens_and_empty_chats_go_with_the_messages() {
    World::with(&[("RETENTION_DAYS", "30")], async |w| {
        let private = w.telegram.add_chat(NewChat::private("ann"));
        w.model.script(["On Friday."]);
        let asked = w.say_in(private, "ann", "when do we leave?");
        w.answer_to(asked).await;
        w.settled().await;
        let left = |conn: &Reader| -> chime_store::Result<[i64; 3]> {
            let count = |sql: &str| conn.query_row(sql, [], |raw| raw.get(0));
            Ok([
                count("SELECT count(*) FROM job WHERE state = 'done'")?,
                count("SELECT count(*) FROM token_usage")?,
                count("SELECT count(*) FROM chat WHERE kind = 'private'")?,
            ])
        };
        let before = w.read_store(left).await;
        assert!(before.iter().all(|count| *count > 0), "{before:?}");
        w.clock.advance(DAY * 62);
        w.until("jobs and counts are gone", move |conn| Ok(left(conn)?[..2] == [0, 0])).await;
        // A chat is deleted by the run after the one for its usage counts.
        w.clock.advance(DAY);
        w.until("the chat is gone", move |conn| Ok(left(conn)? == [0, 0, 0])).await;
    })
    .await;
}

#[tokio::test]
async fn a_month_after_the_bot_was_removed_nothing_of_the_chat_is_left() {
    World::run(async |w| {
        let said = w.say("ann", "zqleft7xk stays here");
        w.settled().await;
        assert!(command(w, "ann", "/optout").await.text.starts_with("From now on"));
        w.telegram.kick_bot(w.chat);
        w.telegram.all_confirmed().await;
        let chat = w.chat;
        w.clock.advance(DAY * 29);
        w.settled().await;
        assert!(w.read_store(move |conn| Ok(messages::find_any(conn, chat, said)?.is_some())).await);
        w.clock.advance(DAY * 2);
        w.until("everything is gone", move |conn| {
            let Some(row) = chats::find(conn, chat)? else { return Ok(false) };
            Ok(messages::all_of(conn, row.key)?.is_empty() && row.chat.title.is_none())
        })
        .await;
        let ann = w.member("ann");
        let is_out = move |conn: &chime_store::Reader| {
            let row = chats::find(conn, chat)?.expect("the chat's number stays");
            Ok(consent::opted_out(conn, row.key, ann)?.is_some())
        };
        assert!(w.read_store(is_out).await, "who opted out is not forgotten to be forgotten");
    })
    .await;
}

/// Waits for the notice on joining and checks it.
async fn notice(w: &mut World, chat: ChatId) {
    let actual = w.next_sent().await;
    assert!(actual.chat == chat && actual.text.starts_with("For everybody here"), "{}", actual.text);
    for word in ["No message leaves the machine", "90 days", "@ann_o", "/optout", "/forget me", "/privacy@bot"] {
        assert!(actual.text.contains(word), "{word} is not in {}", actual.text);
    }
}

#[tokio::test]
async fn of_two_first_answers_one_tells_what_is_kept() {
    World::run(async |w| {
        w.announce();
        w.restart().await;
        w.model.script([Reply::Held("At nine.".to_owned()), Reply::Text("By boat.".to_owned())]);
        w.say("ann", "@bot when do we leave?");
        w.model.wait_for_requests(1).await.expect("it is asked");
        w.say("bob", "@bot and how?");
        let first = w.next_sent().await.text;
        w.model.release();
        let actual = [first, w.next_sent().await.text];
        assert_eq!(actual.iter().filter(|text| text.contains("For everybody here")).count(), 1, "{actual:?}");
    })
    .await;
}

#[tokio::test]
async fn a_group_is_told_if_privacy_mode_hides_its_messages_from_the_bot() {
    World::run(async |w| {
        w.telegram.set_privacy_mode();
        w.announce();
        w.restart().await;
        for status in [ChatMemberStatus::Member, ChatMemberStatus::Administrator] {
            let joined = w.telegram.add_chat(NewChat::supergroup("The lake").with_bot(ChatMemberStatus::Left));
            let ann = w.telegram.add_member(joined, "ann");
            w.telegram.add_bot_to(joined, status, ann);
            let notice = w.next_sent().await.text;
            assert_eq!(notice.contains("/setprivacy at @BotFather"), status == ChatMemberStatus::Member, "{notice}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_chat_of_a_few_lines_is_told_in_its_language() {
    World::run(async |w| {
        w.announce();
        w.restart().await;
        w.say("ann", "мы поедем на озеро в субботу утром");
        w.say("ben", "я возьму палатку и лодку");
        w.settled().await;
        w.model.script(["В субботу."]);
        let tag = w.say("cat", "@bot когда едем?");
        let answer = w.answer_to(tag).await.text;
        assert!(answer.contains(&texts("rus").privacy_notice.opening), "{answer}");
    })
    .await;
}

#[tokio::test]
async fn a_chat_is_told_once_what_is_kept_of_it() {
    World::with(&[("RETENTION_DAYS", "90"), ("OPERATOR_CONTACT", "@ann_o")], async |w| {
        w.announce();
        w.restart().await;
        let joined = w.telegram.add_chat(NewChat::supergroup("The lake").with_bot(ChatMemberStatus::Left));
        let ann = w.telegram.add_member(joined, "ann");
        w.telegram.add_bot_to(joined, ChatMemberStatus::Member, ann);
        notice(w, joined).await;
        w.telegram.add_bot_to(joined, ChatMemberStatus::Administrator, ann);
        w.settled().await;

        // The bot's joining was not seen here, so the notice comes with the first answer.
        w.say("ann", "who brings the boat?");
        w.settled().await;
        w.model.script(["Ben.", "Still Ben."]);
        let tag = w.say("cat", "@bot who?");
        let first = w.answer_to(tag).await;
        assert!(first.text.starts_with("Ben.\n\nFor everybody here: I read this chat"), "{}", first.text);
        let tag = w.say("cat", "@bot and now?");
        assert_eq!(w.answer_to(tag).await.text, "Still Ben.");
    })
    .await;
}

#[tokio::test]
async fn an_interrupted_forgetting_is_finished_after_the_restart() {
    World::run(async |w| {
        for number in 0..60 {
            w.say("ann", &format!("zqcut7xk number {number}"));
        }
        w.settled().await;
        let said = w.say("ann", "/forget me");
        w.telegram.all_confirmed().await;
        w.restart().await;
        let done = w.answer_to(said).await;
        assert_eq!(done.text, "Deleted: 60 messages.");
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqcut7xk".to_owned()]), Vec::<String>::new());
        assert!(Store::open_to_read(&w.database()).is_ok());
    })
    .await;
}

/// Killed three times in the middle, with half of the words deleted.
#[tokio::test]
async fn forgetting_outlasts_kills() {
    const SAID: usize = 300;
    World::without_daemon(async |w| {
        let process = Process::start(w).await;
        for number in 0..SAID {
            w.say("ann", &format!("zqkill7xk number {number}"));
        }
        w.settled().await;
        let chat = w.chat;
        let said = w.say("ann", "/forget me");
        let mut process = process;
        for left in [SAID - 1, SAID * 3 / 4, SAID / 2] {
            w.until("some of it is gone", move |conn| Ok(words_left(conn, chat)? <= left)).await;
            process.kill();
            process = Process::start(w).await;
        }
        assert_eq!(w.answer_to(said).await.text, format!("Deleted: {SAID} messages."));
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqkill7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_program_that_reads_all_the_time_does_not_keep_anybody_from_being_forgotten() {
    World::run(async |w| {
        w.say("ann", "the code is zqheld7xk");
        w.settled().await;
        // An open read transaction, like Litestream's, keeps the write-ahead log from being emptied.
        let replicator = Connection::open(w.database()).expect("open the database");
        replicator.execute_batch("BEGIN").expect("begin");
        let seen: i64 = replicator.query_row("SELECT count(*) FROM message", [], |row| row.get(0)).expect("read");
        assert_eq!(seen, 1);
        let done = command(w, "ann", "/forget me").await;
        assert!(done.text.starts_with("Deleted: 1 message"), "{}", done.text);
        drop(replicator);
        w.stop().await;
        assert_eq!(found_in_files(w, &["zqheld7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn replies_of_commands_do_not_keep_what_their_member_wrote() {
    World::run(async |w| {
        let markers = ["zqrecap7xk", "zqset7xk", "zqzone7xk", "zqdaily7xk", "zqname7xk", "zqout7xk"].map(str::to_owned);
        let eve = stand(w, "eve", ChatMemberStatus::Administrator);
        for text in [
            "/recap zqrecap7xk",
            "/recap daily zqdaily7xk",
            "/settings@bot zqset7xk on",
            "/settings@bot timezone zqzone7xk",
            "/settings@bot language zqzone7xk",
            "/settings@bot name zqname7xk",
        ] {
            order(w, eve, text).await;
        }
        w.settled().await;
        assert!(!found_in_files(w, &markers).is_empty());
        w.clock.advance(Duration::from_secs(5));
        assert!(order(w, eve, "/forget me").await.text.starts_with("Deleted: "));
        w.settled().await;
        order(w, eve, "/optout").await;
        order(w, eve, "/recap zqout7xk").await;
        let refused = order(w, eve, "/settings@bot name zqout7xk").await;
        assert!(!refused.text.contains("zqout7xk"), "{}", refused.text);
        w.settled().await;
        w.stop().await;
        assert_eq!(found_in_files(w, &markers), Vec::<String>::new());
        w.start().await;
    })
    .await;
}

#[tokio::test]
async fn what_telegram_repeats_in_a_refusal_is_not_kept() {
    World::run(async |w| {
        w.telegram.fault("sendMessage", refused("can't parse \u{201c}zqecho7xk we decided\u{201d}"), 9);
        w.model.script(["**Nine** of them."]);
        let tag = w.say("ann", "@bot how many?");
        assert_eq!(w.next_reaction().await, (tag, vec!["😢".to_owned()]));
        w.settled().await;
        w.stop().await;
        assert_eq!(found_in_files(w, &["zqecho7xk".to_owned()]), Vec::<String>::new());
        w.start().await;
    })
    .await;
}

#[tokio::test]
async fn the_token_counts_of_a_forgotten_member_are_nobodys() {
    World::run(async |w| {
        w.model.script(["On Friday.", "At noon."]);
        for _ in 0..2 {
            let asked = w.say("ann", "@bot when do we leave?");
            w.answer_to(asked).await;
            w.clock.advance(DAY);
        }
        let asked = w.say("ann", "/forget me");
        w.answer_to(asked).await;
        w.quiet(DAY).await;
        let counts = |conn: &Reader| -> chime_store::Result<(i64, i64)> {
            let sql = "SELECT count(*) FILTER (WHERE user_id <> 0), sum(calls) FROM token_usage";
            Ok(conn.query_row(sql, [], |raw| Ok((raw.get(0)?, raw.get(1)?)))?)
        };
        assert_eq!(w.read_store(counts).await, (0, 2));
    })
    .await;
}
