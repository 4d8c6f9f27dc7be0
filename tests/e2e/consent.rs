//! Data that must not be kept of an objecting member, apart from their own words: quotes in other chats, names, and
//! names of topics. Also their rights in a chat that is no longer served.

use std::time::Duration;

use chime_core::{ChatId, Conversation, ForumTopicId, MessageId};
use chime_sandbox::{NewChat, Post};
use chime_store::{chats, topic_names};
use chime_world::World;

use crate::privacy::found_in_files;

/// Sends a command and waits for its reply.
async fn command(w: &mut World, chat: ChatId, name: &str, text: &str) -> String {
    let said = w.say_in(chat, name, text);
    w.answer_to(said).await.text
}

/// Posts a quote of a group message in `chat`, by `name`.
fn quote(w: &World, chat: ChatId, name: &str, (of, part): (MessageId, &str)) -> MessageId {
    let by = w.telegram.add_member(chat, name);
    w.telegram.say(chat, Post::new(by, "look here", w.clock.now()).reply_elsewhere(w.chat, of).quote(part))
}

#[tokio::test]
async fn what_a_member_says_where_they_opted_out_is_not_kept_where_it_is_quoted() {
    World::run(async |w| {
        let other = w.telegram.add_chat(NewChat::supergroup("The lake"));
        let before = w.say("ann", "zqbefore7xk, said before");
        let quoted = quote(w, other, "ben", (before, "zqbefore7xk"));
        w.settled().await;
        let snapshot = w.stored(other, quoted).await.and_then(|stored| stored.message.snapshot);
        assert!(snapshot.is_some_and(|snapshot| snapshot.contains("zqbefore7xk")));

        command(w, w.chat, "ann", "/optout").await;
        let after = w.say("ann", "zqafter7xk, said afterwards");
        let quoting = quote(w, other, "ben", (after, "zqafter7xk"));
        w.settled().await;
        let kept = w.stored(other, quoting).await.expect("the words of who quotes are kept");
        assert_eq!((kept.message.text.as_str(), kept.message.snapshot), ("look here", None));
        let kept = w.stored(other, quoted).await.expect("kept");
        assert_eq!((kept.message.quote, kept.message.snapshot), (None, None), "a quote from before goes");
        w.stop().await;
        assert_eq!(found_in_files(w, &["zqafter7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

async fn title(w: &World, chat: ChatId) -> Option<String> {
    w.read_store(move |conn| Ok(chats::find(conn, chat)?.and_then(|row| row.chat.title))).await
}

#[tokio::test]
async fn a_private_chat_is_nameless_once_its_member_objects() {
    World::run(async |w| {
        let private = w.telegram.add_chat(NewChat::private("zqname7xk"));
        command(w, private, "zqname7xk", "/privacy").await;
        assert_eq!(title(w, private).await.as_deref(), Some("zqname7xk"));
        command(w, private, "zqname7xk", "/optout").await;
        assert_eq!(title(w, private).await, None);
        command(w, private, "zqname7xk", "/privacy").await;
        assert_eq!(title(w, private).await, None, "nor is the name written again");
        command(w, private, "zqname7xk", "/optin").await;
        command(w, private, "zqname7xk", "/privacy").await;
        assert!(title(w, private).await.is_some());
        command(w, private, "zqname7xk", "/forget me").await;
        assert_eq!(title(w, private).await, None);
    })
    .await;
}

async fn member_names(w: &World) -> Vec<String> {
    w.read_store(|conn| {
        let mut names = conn.prepare("SELECT name FROM member WHERE name IN ('ann', 'ben') ORDER BY name")?;
        Ok(names.query_map([], |row| row.get("name"))?.collect::<Result<_, _>>()?)
    })
    .await
}

#[tokio::test]
async fn who_says_nothing_but_that_they_opt_out_is_no_member_with_a_name() {
    World::run(async |w| {
        w.say("ben", "hello");
        for name in ["ann", "ben"] {
            command(w, w.chat, name, "/optout").await;
        }
        assert_eq!(member_names(w).await, ["ben"], "of ben more is kept, until it is forgotten");
        command(w, w.chat, "ann", "/optin").await;
        w.say("ann", "here I am");
        w.settled().await;
        assert_eq!(member_names(w).await, ["ann", "ben"]);
    })
    .await;
}

/// Returns the name of a topic after a message in it.
async fn name_after_talk(w: &World, chat: ChatId, topic: ForumTopicId) -> Option<String> {
    let ben = w.telegram.add_member(chat, "ben");
    w.telegram.say(chat, Post::new(ben, "in the topic", w.clock.now()).in_forum_topic(topic));
    w.settled().await;
    w.read_store(move |conn| {
        let Some(row) = chats::find(conn, chat)? else { return Ok(None) };
        topic_names::find(conn, Conversation { chat: row.key, forum_topic: Some(topic) })
    })
    .await
}

#[tokio::test]
async fn a_topic_is_not_called_what_somebody_called_it_who_objects() {
    World::run(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let (ann, cat) = (w.telegram.add_member(club, "ann"), w.telegram.add_member(club, "cat"));
        let first = w.telegram.create_topic_by(club, "Zqfirst7xk", ann);
        let second = w.telegram.create_topic_by(club, "Zqsecond7xk", cat);
        assert_eq!(name_after_talk(w, club, first).await.as_deref(), Some("Zqfirst7xk"));
        assert_eq!(name_after_talk(w, club, second).await.as_deref(), Some("Zqsecond7xk"));

        command(w, club, "ann", "/optout").await;
        assert_eq!(name_after_talk(w, club, first).await, None, "what was named before");
        let third = w.telegram.create_topic_by(club, "Zqthird7xk", ann);
        assert_eq!(name_after_talk(w, club, third).await, None, "what is named afterwards");

        command(w, club, "cat", "/forget me").await;
        assert_eq!(name_after_talk(w, club, second).await, None, "what was forgotten does not come back");
        w.stop().await;
        let names = ["zqsecond7xk", "zqthird7xk"].map(str::to_owned);
        assert_eq!(found_in_files(w, &names), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn in_a_chat_that_is_no_longer_served_members_still_have_their_words_forgotten() {
    World::with(&[], async |w| {
        w.say("ann", "zqann7xk, kept while it was allowed");
        w.say("ben", "zqben7xk, kept too");
        w.settled().await;
        w.stop().await;
        w.set("ALLOWED_CHATS", "-42");
        w.set("OWNER_IDS", "4711");
        w.start().await;
        let shown = command(w, w.chat, "ann", "/forget me").await;
        assert!(shown.starts_with("Deleted: 1 message"), "{shown}");
        assert!(command(w, w.chat, "ben", "/optout").await.starts_with("From now on I keep nothing"));
        w.clock.advance(Duration::from_secs(5));
        let notice = w.next_sent().await.text;
        assert!(
            notice.starts_with("I am no longer allowed") && notice.contains("will be deleted after 30 days"),
            "{notice}"
        );
        w.settled().await;
        let kept = w.all_stored(w.chat).await;
        let said = kept.iter().map(|stored| &stored.message).filter(|message| !message.sender.is_bot);
        let words: Vec<&str> = said.map(|message| message.text.as_str()).filter(|text| !text.is_empty()).collect();
        assert_eq!(words, ["zqben7xk, kept too"], "nothing of the commands is kept");
    })
    .await;
}

/// Members who hide their account are forwarded with their name only.
#[tokio::test]
async fn a_forward_that_has_only_the_name_of_who_opted_out_is_not_kept_or_used() {
    World::run(async |w| {
        let markers = ["zqearly7xk", "zqlater7xk", "zqthere7xk", "zqnamed7xk"].map(str::to_owned);
        let [early, later, there, named] = &markers;
        let other = w.telegram.add_chat(NewChat::supergroup("The lake"));
        let (cat, cat_there) = (w.member("cat"), w.telegram.add_member(other, "cat"));
        let pass_on = |w: &World, name: &str, text: &str| {
            w.telegram.say(w.chat, Post::new(cat, text, w.clock.now()).forwarded_from(name))
        };
        w.say("ben", "good morning");
        let stored_early = pass_on(w, "Ben ", early);
        let of_dan = pass_on(w, "dan", "zqofdan7xk");
        w.settled().await;
        assert!(w.stored(w.chat, stored_early).await.is_some());

        let private = w.telegram.add_chat(NewChat::private("ben"));
        command(w, private, "ben", "/optout").await;
        let namesake = w.telegram.add_member(other, "Ben");
        let own = w.telegram.say(other, Post::new(namesake, named.as_str(), w.clock.now()));
        let stored_later = pass_on(w, "ben", later);
        w.telegram.say(other, Post::new(cat_there, there.as_str(), w.clock.now()).forwarded_from("BEN"));
        w.settled().await;
        assert_eq!(w.stored(w.chat, stored_early).await, None, "one from before is not read");
        assert_eq!(w.stored(w.chat, stored_later).await, None);
        assert!(w.stored(w.chat, of_dan).await.is_some());
        assert!(w.stored(other, own).await.is_some(), "a namesake's own words stay");
        w.stop().await;
        assert_eq!(found_in_files(w, &markers[1..3]), Vec::<String>::new());
        w.start().await;

        command(w, private, "ben", "/forget me").await;
        w.settled().await;
        w.stop().await;
        assert_eq!(found_in_files(w, &markers[..3]), Vec::<String>::new());
        w.start().await;
        assert!(w.stored(w.chat, of_dan).await.is_some() && w.stored(other, own).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn a_forward_with_the_name_and_time_of_a_message_is_forgotten_with_it() {
    World::run(async |w| {
        w.say("ben", "zqpassed7xk is the code");
        let cat = w.member("cat");
        let post = Post::new(cat, "zqpassed7xk is the code", w.clock.now());
        w.telegram.say(w.chat, post.forwarded_from("Ben"));
        w.settled().await;
        w.clock.advance(Duration::from_secs(5));
        command(w, w.chat, "ben", "/forget me").await;
        w.settled().await;
        w.stop().await;
        assert_eq!(found_in_files(w, &["zqpassed7xk".to_owned()]), Vec::<String>::new());
        w.start().await;
    })
    .await;
}
