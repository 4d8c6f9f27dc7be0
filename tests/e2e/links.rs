//! Links that members post: the addresses behind words, and messages of the chat that are linked to.

use chime_core::{Entity, EntityKind, MessageId, Reason, utf16_len};
use chime_sandbox::Post;
use chime_world::World;

/// Posts `text` by `name`, with `words` of it linked to `url`.
fn say_linked(w: &World, name: &str, text: &str, words: &str, url: &str) -> MessageId {
    let offset = utf16_len(&text[..text.find(words).expect("words of the text")]);
    let link = Entity { offset, length: utf16_len(words), kind: EntityKind::TextLink { url: url.to_owned() } };
    w.telegram.say(w.chat, Post::new(w.member(name), text, w.clock.now()).entities(vec![link]))
}

#[tokio::test]
async fn an_address_behind_a_word_is_shown_and_found() {
    World::run(async |w| {
        say_linked(w, "ann", "🍕 we could take the menu for Friday", "the menu", "https://pizzeria-volcano.example/menu");
        w.settled().await;
        let tag = w.say("ben", "@bot what would we eat?");
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("take the menu (https://pizzeria-volcano.example/menu) for Friday"), "{prompt}");
        for number in 0..250 {
            w.say("cat", &format!("the boat needs paint number {number} and a rope"));
        }
        let tag = w.say("ben", "@bot who posted something of the pizzeria volcano?");
        w.answer_to(tag).await;
        let prompt = w.prompt(2).await;
        assert!(prompt.contains("ann") && prompt.contains("pizzeria-volcano.example/menu"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_link_to_a_message_of_the_chat_is_a_reply_to_it() {
    World::run(async |w| {
        let said = w.say("ann", "shall we lend the boat to the club in July?");
        for number in 0..30 {
            w.say("cat", &format!("the shed needs paint number {number} and a brush"));
        }
        w.settled().await;
        let place = format!("https://t.me/c/{}/{said}", -1_000_000_000_000 - w.chat.0);
        let shown = w.say("ben", &format!("@bot what came of {place}?"));
        let hidden = say_linked(w, "ben", "@bot what came of this?", "this", &place);
        for tag in [shown, hidden] {
            let answer = w.answer_to(tag).await;
            let record = w.record_of(&answer).await;
            let anchor = record.window.iter().find(|chosen| chosen.reason.is_anchor());
            assert_eq!(anchor.map(|chosen| (chosen.id, chosen.reason)), Some((said, Reason::Anchor)));
        }
    })
    .await;
}
