//! Photos: a question about one shows it to the model.

use std::time::Duration;

use chime_core::MessageId;
use chime_sandbox::faults::Fault;
use chime_sandbox::{NewChat, Post, PostContent};
use chime_testkit::Reply;
use chime_world::World;
use serde_json::{Value, json};

/// Posts a photo by a member, possibly with a caption and as part of an album.
fn show(w: &World, name: &str, caption: &str, album: Option<&str>) -> MessageId {
    w.telegram.put_file("photo.jpg", "what is seen");
    let post = Post::new(w.member(name), caption, w.clock.now()).with(PostContent::Photo);
    let post = match album {
        Some(album) => post.in_album(album),
        None => post,
    };
    w.telegram.say(w.chat, post)
}

/// Returns the parts of the last message in the `number`th request, counted from 1: texts, and image URLs.
async fn parts(w: &World, number: usize) -> Vec<String> {
    w.prompt(number).await;
    let requests = w.model.requests();
    let content = &requests[number - 1]["messages"][1]["content"];
    let part =
        |part: &Value| part["image_url"]["url"].as_str().or(part["text"].as_str()).unwrap_or_default().to_owned();
    content.as_array().map_or_else(|| vec![content.to_string()], |parts| parts.iter().map(part).collect())
}

const SEEN: &str = "data:image/jpeg;base64,d2hhdCBpcyBzZWVu";

#[tokio::test]
async fn a_question_about_a_photo_shows_it() {
    World::run(async |w| {
        w.model.script(["A boat.", "Two boats.", "Friday."]);
        let photo = show(w, "ann", "look at that", None);
        let tag = w.reply("ben", photo, "@bot what is it?");
        assert!(w.answer_to(tag).await.text.starts_with("A boat."));
        let shown = parts(w, 1).await;
        assert_eq!(&shown[1..], ["[1]", SEEN], "{shown:?}");
        assert!(shown[0].contains("Below are the photos of [1]"), "{}", shown[0]);
        // The question's own photo with its album, and the one from the talk before.
        show(w, "ann", "@bot and these?", Some("a"));
        show(w, "ann", "", Some("a"));
        w.answer_to(MessageId(photo.0 + 3)).await;
        let shown = parts(w, 2).await;
        assert_eq!(shown.iter().filter(|part| *part == SEEN).count(), 3, "{shown:?}");
        // A question about something else gets no photos.
        let said = w.say("dan", "the ferry leaves on friday at eight");
        let tag = w.reply("ben", said, "@bot when does the ferry leave?");
        w.answer_to(tag).await;
        assert_eq!(parts(w, 3).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_question_about_something_else_shows_no_photo() {
    World::run(async |w| {
        w.model.always("Noted.");
        show(w, "ann", "the new fence, red or green?", None);
        show(w, "ben", "my boat", None);
        w.say("cat", "the plumber comes at nine to the house");
        w.say("dan", "then let us meet there at eight");
        for (number, (question, photos)) in (1..).zip([
            ("where exactly do we meet?", 0),
            ("what colour does the fence have?", 1),
            ("describe the photos", 2),
        ]) {
            let tag = w.say("eve", &format!("@bot {question}"));
            w.answer_to(tag).await;
            let shown = parts(w, number).await;
            assert_eq!(shown.iter().filter(|part| *part == SEEN).count(), photos, "{question}: {shown:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_a_photo_in_another_topic_shows_it() {
    World::run(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let (boats, tents) = (w.telegram.create_topic(club, "Boats"), w.telegram.create_topic(club, "Tents"));
        w.telegram.put_file("photo.jpg", "what is seen");
        let photo = Post::new(w.member("ann"), "", w.clock.now()).with(PostContent::Photo).in_forum_topic(boats);
        let photo = w.telegram.say(club, photo);
        w.settled().await;
        w.model.script(["A boat."]);
        let ask = Post::new(w.member("ben"), "@bot what is on it?", w.clock.now()).in_forum_topic(tents);
        let ask = w.telegram.say(club, ask.reply_elsewhere(club, photo));
        w.answer_to(ask).await;
        assert_eq!(parts(w, 1).await.last().map(String::as_str), Some(SEEN));
        let forget = Post::new(w.member("ann"), "/forget", w.clock.now()).in_forum_topic(tents);
        let forget = w.telegram.say(club, forget.reply_elsewhere(club, photo));
        w.answer_to(forget).await;
        w.settled().await;
        assert!(w.stored(club, photo).await.is_none());
    })
    .await;
}

/// A Bot API server in local mode names files by their place on its disk, in a folder that is named after the token.
#[tokio::test]
async fn a_photo_of_a_local_server_is_read_from_its_folder_and_nothing_else_is() {
    World::run(async |w| {
        let disk = tempfile::tempdir().expect("a folder");
        let of_bot = disk.path().join(w.telegram.token());
        std::fs::create_dir(&of_bot).expect("a folder of the bot");
        for (folder, shown) in [(of_bot.as_path(), 1), (disk.path(), 0)] {
            let file = folder.join("photo.jpg");
            std::fs::write(&file, "what is seen").expect("a photo");
            let named = json!({"ok": true, "result": {"file_id": "f", "file_path": file}});
            w.telegram.fault("getFile", Fault::Status(200, named.to_string()), 1);
            w.model.script(["A boat."]);
            let photo = show(w, "ann", "look at that", None);
            let tag = w.reply("ben", photo, "@bot what is it?");
            w.answer_to(tag).await;
            let asked = w.model.requests().len();
            let parts = parts(w, asked).await;
            assert_eq!(parts.iter().filter(|part| *part == SEEN).count(), shown, "{parts:?}");
        }
        w.telegram.clear_faults();
    })
    .await;
}

#[tokio::test]
async fn a_model_that_sees_nothing_is_asked_without_from_then_on() {
    World::run(async |w| {
        let refusal = r#"{"error":{"message":"image_url is only supported by certain models","code":"invalid"}}"#;
        w.model.script([Reply::Status(400, refusal.to_owned()), Reply::text("I cannot see it."), Reply::text("No.")]);
        let photo = show(w, "ann", "look at that", None);
        let tag = w.reply("ben", photo, "@bot what is it?");
        assert!(w.answer_to(tag).await.text.starts_with("I cannot see it."));
        assert_eq!((parts(w, 1).await.len(), parts(w, 2).await.len()), (3, 1));
        let tag = w.reply("ben", photo, "@bot and now?");
        w.answer_to(tag).await;
        assert_eq!(parts(w, 3).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_old_photo_is_shown_and_an_album_of_photos_and_files_keeps_its_order() {
    World::run(async |w| {
        let photo = show(w, "ann", "look at that", None);
        w.settled().await;
        w.clock.advance(Duration::from_secs(20 * 24 * 3600));
        w.quiet(Duration::from_secs(24 * 3600)).await;
        assert_eq!(w.inbox().await.0, 0, "received updates are gone");
        w.model.script(["A boat.", "A boat, a plan, a boat."]);
        let tag = w.reply("ben", photo, "@bot what is it?");
        w.answer_to(tag).await;
        assert_eq!(&parts(w, 1).await[1..], ["[1]", SEEN]);
        let first = show(w, "ann", "all of these", Some("b"));
        w.telegram.put_file("plan.png", b"\x89PNG seen".to_vec());
        let plan = PostContent::Document { file_name: "plan.png".to_owned() };
        w.telegram.say(w.chat, Post::new(w.member("ann"), "", w.clock.now()).with(plan).in_album("b"));
        show(w, "ann", "", Some("b"));
        let tag = w.reply("ben", first, "@bot what are these?");
        w.answer_to(tag).await;
        let shown = parts(w, 2).await;
        let shown: Vec<&str> = shown.iter().map(String::as_str).filter(|part| part.starts_with("data:")).collect();
        assert_eq!(shown, [SEEN, "data:image/png;base64,iVBORyBzZWVu", SEEN]);
    })
    .await;
}

#[tokio::test]
async fn where_all_that_leaves_is_redacted_no_photo_does() {
    World::with(&[("REDACT", "all")], async |w| {
        w.model.script(["A boat."]);
        let photo = show(w, "ann", "look at that", None);
        let tag = w.reply("ben", photo, "@bot what is it?");
        w.answer_to(tag).await;
        assert_eq!(parts(w, 1).await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn an_image_sent_as_a_file_is_a_photo() {
    World::run(async |w| {
        w.telegram.put_file("plan.png", b"\x89PNG seen".to_vec());
        let content = PostContent::Document { file_name: "plan.png".to_owned() };
        let plan = w.telegram.say(w.chat, Post::new(w.member("ann"), "the plan", w.clock.now()).with(content));
        w.model.script(["A house."]);
        let tag = w.reply("ben", plan, "@bot what is on it?");
        w.answer_to(tag).await;
        let shown = parts(w, 1).await;
        assert_eq!(&shown[1..], ["[1]", "data:image/png;base64,iVBORyBzZWVu"], "{shown:?}");
        assert!(shown[0].contains("[photo] plan.png the plan"), "{}", shown[0]);
    })
    .await;
}
