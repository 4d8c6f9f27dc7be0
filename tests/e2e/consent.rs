//! What must not be kept of somebody who objects, beside their own words: quotes in other chats.

use chime::domain::{ChatId, MessageId};
use chime::sandbox::{NewChat, Post};
use chime::testkit::World;

use crate::privacy::found_in_files;

/// Sends a command and waits for what it comes to.
async fn command(w: &mut World, chat: ChatId, name: &str, text: &str) -> String {
    let said = w.say_in(chat, name, text);
    w.answer_to(said).await.text
}

/// `name` quotes a message of the group in `chat`.
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
