//! Links that members post: the addresses behind words, messages of the chat that are linked to, and pages that are
//! read.

use std::time::Duration;

use chime_core::{ChatId, Entity, EntityKind, MessageId, Reason, utf16_len};
use chime_sandbox::{BotAction, ChatMemberStatus, Cursor, NewChat, NewMember, Post};
use chime_testkit::Reply;
use chime_world::World;
use rusqlite::Connection;
use serde_json::json;

use crate::site::Site;

const DAY: Duration = Duration::from_secs(24 * 3600);
const HOURS: &str = "The pizzeria is open from Wednesday to Sunday, from six to eleven in the evening.";

/// Returns `true` if a file of the database has the page's words.
fn is_in_files(w: &World) -> bool {
    let database = w.database();
    let folder = std::fs::read_dir(database.parent().expect("a folder")).expect("a folder");
    let files = folder.filter_map(|entry| std::fs::read(entry.ok()?.path()).ok());
    files.into_iter().any(|bytes| bytes.windows(HOURS.len()).any(|part| part == HOURS.as_bytes()))
}

/// Starts the daemon again so that it reaches a site.
async fn with_site(w: &mut World) -> Site {
    let site = Site::of_pages(HOURS);
    w.add_site("volcano.example", site.at);
    w.restart().await;
    site
}

async fn until_asked(w: &World, site: &Site, count: usize) {
    let site = site.clone();
    w.until("the page is asked for", move |_| Ok(site.count() >= count)).await;
}

fn pages_of(w: &World) -> i64 {
    let path = w.database();
    let conn = Connection::open(path).expect("the database");
    conn.query_row("SELECT count(*) FROM page", [], |raw| raw.get(0)).expect("a count")
}

/// Posts `text` by `name`, with `words` of it linked to `url`.
fn say_linked(w: &World, name: &str, text: &str, words: &str, url: &str) -> MessageId {
    let offset = utf16_len(&text[..text.find(words).expect("words of the text")]);
    let link = Entity { offset, length: utf16_len(words), kind: EntityKind::TextLink { url: url.to_owned() } };
    // Given entities replace those that Telegram finds.
    let called = text.starts_with("@bot").then_some(Entity { offset: 0, length: 4, kind: EntityKind::Mention });
    w.telegram.say(
        w.chat,
        Post::new(w.member(name), text, w.clock.now()).entities(called.into_iter().chain([link]).collect()),
    )
}

#[tokio::test]
async fn an_address_behind_a_word_is_shown_and_found() {
    World::run(async |w| {
        w.model.always("Noted.");
        say_linked(
            w,
            "ann",
            "🍕 we could take the menu for Friday",
            "the menu",
            "https://pizzeria-volcano.example/menu",
        );
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
        w.model.always("Noted.");
        let said = w.say("ann", "shall we lend the boat to the club in July?");
        for number in 0..30 {
            w.say("cat", &format!("the shed needs paint number {number} and a brush"));
        }
        w.settled().await;
        let place = format!("https://t.me/c/{}/{said}", -1_000_000_000_000 - w.chat.0);
        for is_hidden in [false, true] {
            let tag = match is_hidden {
                false => w.say("ben", &format!("@bot what came of {place}?")),
                true => say_linked(w, "ben", "@bot what came of this?", "this", &place),
            };
            let answer = w.answer_to(tag).await;
            let record = w.record_of(&answer).await;
            let anchor = record.window.iter().find(|chosen| chosen.reason.is_anchor());
            assert_eq!(anchor.map(|chosen| (chosen.id, chosen.reason)), Some((said, Reason::Anchor)));
        }
    })
    .await;
}

#[tokio::test]
async fn a_page_that_a_question_is_about_is_a_source_and_goes_with_its_message() {
    World::run(async |w| {
        let site = with_site(w).await;
        let posted = w.say("ann", &format!("look {}", site.address("/menu")));
        w.say("cat", "my bicycle has a flat tyre again");
        w.model.script(["From Wednesday to Sunday, from six to eleven [source: p1]."]);
        let tag = w.reply("ben", posted, "@bot when are they open?");
        let answer = w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("[p1 · Volcano]") && prompt.contains(HOURS), "{prompt}");
        assert!(answer.text.contains("[1]") && answer.text.contains("Page: Volcano (ann "), "{}", answer.text);
        let leads =
            |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&format!("/{posted}")));
        assert!(answer.entities.iter().any(|entity| leads(&entity.kind)), "{:?}", answer.entities);
        w.model.script(["From Wednesday on [source: p1]."]);
        let tag = w.reply("ben", posted, "@bot and what days?");
        w.answer_to(tag).await;
        assert_eq!(site.count(), 1, "a page is kept");
        w.settled().await;
        assert_eq!(pages_of(w), 1);
        assert!(is_in_files(w), "the page is kept");
        let forget = w.reply("ann", posted, "/forget@bot");
        w.answer_to(forget).await;
        w.settled().await;
        assert_eq!(pages_of(w), 0);
        assert!(!is_in_files(w));
    })
    .await;
}

#[tokio::test]
async fn a_model_opens_a_link_by_the_number_of_its_message() {
    World::run(async |w| {
        let site = with_site(w).await;
        w.say("ann", &format!("for Friday maybe {}", site.address("/menu")));
        w.say("cat", "my bicycle has a flat tyre again");
        w.say("dan", "mine too, and the pump is at the club");
        w.settled().await;
        w.model.script([
            Reply::Tools(vec![("open_link_or_file", json!({"id": 1}))]),
            Reply::text("From Wednesday to Sunday [source: p1]."),
        ]);
        let tag = w.say("ben", "@bot on which days of the week could all of us go and eat at that place together?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.contains("Page: Volcano"), "{}", answer.text);
        let requests = w.model.requests();
        assert!(requests[0].to_string().contains("open_link_or_file") && requests[1].to_string().contains(HOURS));
        assert_eq!(site.count(), 1);
    })
    .await;
}

#[tokio::test]
async fn of_several_links_the_one_by_the_named_member_and_of_the_named_day_is_read() {
    World::run(async |w| {
        let site = Site::start(|path| ("text/html", format!("<title>{path}</title><p>{HOURS} This is {path}.</p>")));
        w.add_site("volcano.example", site.at);
        w.restart().await;
        w.model.always("Noted.");
        w.say("ben", &format!("about showers: {}", site.address("/showers")));
        w.settled().await;
        w.clock.advance(2 * DAY);
        w.say("ben", &format!("look at this {}", site.address("/flat")));
        w.say("ann", &format!("and a tent {}", site.address("/tent")));
        for number in 0..40 {
            w.say("cat", &format!("the shed needs paint number {number} and a brush"));
        }
        w.say("ann", &format!("one more {}", site.address("/stove")));
        w.settled().await;
        for (question, page) in [
            ("summarise the link Ben sent", "/flat"),
            ("open the website that Ben posted: when is the viewing?", "/flat"),
            ("tl;dr of the link Ben sent two days ago", "/showers"),
            ("what does the link from ann with the tent say about its size?", "/tent"),
            ("fass den Link von Ben zusammen", "/flat"),
        ] {
            let tag = w.say("dan", &format!("@bot {question}"));
            w.answer_to(tag).await;
            let prompt = w.prompt(w.model.requests().len()).await;
            let read: Vec<&str> = ["/showers", "/flat", "/tent", "/stove"]
                .into_iter()
                .filter(|path| prompt.contains(&format!("This is {path}.")))
                .collect();
            assert_eq!(read, [page], "{question}: {prompt}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_answer_says_what_could_not_be_read() {
    World::run(async |w| {
        let site = with_site(w).await;
        w.model.script(["I know nothing about the place."]);
        let tag = w.say("ben", &format!("@bot what does {} say?", site.address("/slow")));
        until_asked(w, &site, 1).await;
        w.clock.advance(Duration::from_secs(11));
        // A message holds the place of the answer, since reading took more than eight seconds.
        let held = w.answer_to(tag).await;
        w.settled().await;
        let answer = w.telegram.message(w.chat, held.id).expect("the answer");
        assert!(answer.text.starts_with("I know nothing about the place.\n\n"), "{}", answer.text);
        assert!(answer.text.contains(&site.address("/slow")), "{}", answer.text);
        assert!(w.prompt(1).await.contains("could not be read"));
        // For an hour, it is not tried again.
        w.model.always("Nor now.");
        for (wait, count) in [(0, 1), (3600, 2)] {
            w.clock.advance(Duration::from_secs(wait));
            let tag = w.say("ben", &format!("@bot what does {} say?", site.address("/slow")));
            until_asked(w, &site, count).await;
            if count == 2 {
                w.clock.advance(Duration::from_secs(11));
            }
            let held = w.answer_to(tag).await;
            w.settled().await;
            let answer = w.telegram.message(w.chat, held.id).expect("the answer");
            assert!(answer.text.contains(&site.address("/slow")), "{}", answer.text);
            assert_eq!(site.count(), count);
        }

        let tag = w.say("ben", "@bot what does http://169.254.169.254/latest/meta-data say?");
        assert!(w.answer_to(tag).await.text.contains("169.254.169.254"));
    })
    .await;
}

#[tokio::test]
async fn a_page_goes_with_an_opt_out_and_after_two_weeks() {
    World::run(async |w| {
        let site = with_site(w).await;
        w.model.always("From Wednesday on.");
        let posted = w.say("ann", &site.address("/menu"));
        let ask = async |w: &mut World| {
            let tag = w.reply("ben", posted, "@bot when are they open?");
            w.answer_to(tag).await;
            w.settled().await;
        };
        ask(w).await;
        w.clock.advance(15 * DAY);
        ask(w).await;
        assert_eq!(site.count(), 2, "a page is read again after two weeks");
        w.clock.advance(15 * DAY);
        w.quiet(DAY).await;
        assert_eq!(pages_of(w), 0, "it is not kept longer");
        ask(w).await;
        let out = w.say("ann", "/optout");
        w.answer_to(out).await;
        w.settled().await;
        assert_eq!(pages_of(w), 0);
        assert!(!is_in_files(w));
    })
    .await;
}

/// Returns the file that the creator of the chat gets.
pub async fn exported(w: &mut World) -> serde_json::Value {
    let cat = w.telegram.add_member(w.chat, NewMember::named("cat").status(ChatMemberStatus::Creator));
    w.telegram.add_chat(NewChat::private("cat"));
    let asked = w.telegram.say(w.chat, Post::new(cat, "/export", w.clock.now()));
    while w.next_sent().await.reply_to != Some(asked) {}
    let mut files = w.telegram.actions_since(Cursor::default()).into_iter().filter_map(|action| match action {
        BotAction::Uploaded { text, .. } => Some(text),
        _ => None,
    });
    serde_json::from_str(&files.next_back().expect("a file")).expect("JSON")
}

#[tokio::test]
async fn an_export_has_the_pages_that_are_kept() {
    World::run(async |w| {
        let site = with_site(w).await;
        w.model.always("From Wednesday on.");
        let posted = w.say("ann", &site.address("/menu"));
        let tag = w.reply("ben", posted, "@bot when are they open?");
        w.answer_to(tag).await;
        w.settled().await;
        let file = exported(w).await;
        assert_eq!((&file["pages"][0]["title"], &file["pages"][0]["text"]), (&json!("Volcano"), &json!(HOURS)));
    })
    .await;
}

#[tokio::test]
async fn without_a_model_a_page_answers_with_its_best_piece() {
    World::offline(async |w| {
        let site = with_site(w).await;
        let posted = w.say("ann", &site.address("/menu"));
        let tag = w.reply("ben", posted, "@bot when is the pizzeria open?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.contains(HOURS) && answer.text.contains("Page: Volcano (ann "), "{}", answer.text);
        // The answer goes with the message from which it has the words.
        w.settled().await;
        let forget = w.reply("ann", posted, "/forget@bot");
        w.answer_to(forget).await;
        w.settled().await;
        assert!(!is_in_files(w));
    })
    .await;
}

#[tokio::test]
async fn a_chat_has_its_own_pages_and_may_have_none() {
    World::with(&[("LINKS", "off")], async |w| {
        let site = with_site(w).await;
        w.model.always("Noted.");
        let posted = w.say("ann", &site.address("/menu"));
        let tag = w.reply("ben", posted, "@bot what does it say?");
        w.answer_to(tag).await;
        assert_eq!(site.count(), 0);
    })
    .await;
    World::run(async |w| {
        let site = with_site(w).await;
        w.model.always("Noted.");
        let other: ChatId = w.telegram.add_chat(NewChat::supergroup("Rowers"));
        for chat in [w.chat, other] {
            let tag = w.say_in(chat, "ben", &format!("@bot what does {} say?", site.address("/menu")));
            w.answer_to(tag).await;
        }
        assert_eq!(site.count(), 2, "nothing crosses chats");
    })
    .await;
}
