//! `/export`: a chat's own data for its creator.

use chime::domain::ChatId;
use chime::sandbox::{BotAction, Cursor, NewChat, NewMember, Post, Standing};
use chime::testkit::World;
use serde_json::Value;

fn uploads(w: &World) -> Vec<(ChatId, String)> {
    let actions = w.telegram.actions_since(Cursor::default());
    let file = |action: BotAction| match action {
        BotAction::Uploaded { chat, text, .. } => Some((chat, text)),
        _ => None,
    };
    actions.into_iter().filter_map(file).collect()
}

#[tokio::test]
async fn the_creator_of_a_group_gets_all_that_is_kept_of_it_in_private() {
    World::run(async |w| {
        w.say("ann", "the boat is at the lake");
        w.say("ben", "and the key under the plant");
        let refused = w.say("ben", "/export");
        assert_eq!(w.answer_to(refused).await.text, "Only the creator of this chat can have it exported.");
        let cat = w.telegram.add_member(w.chat, NewMember::named("cat").standing(Standing::Creator));
        let asked = w.telegram.say(w.chat, Post::new(cat, "/export", w.clock.now()));
        let told = "I cannot write to you yet. Open a private chat with me, press Start, and ask here again.";
        assert_eq!(w.answer_to(asked).await.text, told);
        assert_eq!(uploads(w), []);
        let private = w.telegram.add_chat(NewChat::private("cat"));
        let asked = w.telegram.say(w.chat, Post::new(cat, "/export", w.clock.now()));
        while w.next_sent().await.reply_to != Some(asked) {}
        let [(chat, text)] = &uploads(w)[..] else { panic!("one file") };
        assert_eq!(*chat, private);
        let file: Value = serde_json::from_str(text).expect("the file is JSON");
        assert_eq!(file["messages"][0]["text"], "the boat is at the lake");
        assert_eq!(file["chat"]["id"], w.chat.0);
    })
    .await;
}
