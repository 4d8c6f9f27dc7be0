//! Web search: off unless operator and chat allow it, apart from the chat's sources, and only when it is needed.

use chime_core::EntityKind;
use chime_sandbox::{ChatMemberStatus, NewMember, Post};
use chime_testkit::Reply;
use chime_world::World;
use serde_json::json;

use crate::grounding::{data_of, outcome};
use crate::site::Site;

const SNIPPET: &str = "The ferry leaves Munalaid at 9:40 and 17:00.";

/// Starts a search service that finds one page.
pub fn service() -> Site {
    let found = json!({"results": [{
        "url": "https://ferries.example/kihnu", "title": "Ferry to Kihnu", "content": SNIPPET,
        "publishedDate": "2026-05-03T00:00:00",
    }]});
    Site::start(move |_| ("application/json", found.to_string()))
}

async fn with_service(settings: &[(&str, &str)], test: impl AsyncFnOnce(&mut World, &Site)) {
    let service = service();
    let address = format!("http://{}", service.at);
    let settings: Vec<(&str, &str)> = settings.iter().copied().chain([("WEB_SEARCH", address.as_str())]).collect();
    World::with(&settings, async |w| test(w, &service).await).await;
}

const QUESTION: &str = "@bot when does the ferry to the island leave in the morning, and from which harbour?";

#[tokio::test]
async fn a_model_searches_and_the_web_is_listed_apart_from_the_chat() {
    with_service(&[], async |w, service| {
        w.say("ann", "we meet at nine at the bus station");
        w.settled().await;
        w.model.script([
            Reply::Tools(vec![("search_web", json!({"query": "ferry kihnu timetable"}))]),
            Reply::text("You meet at nine [1]. The ferry leaves Munalaid at 9:40 [source: w1]."),
        ]);
        let tag = w.say("ben", QUESTION);
        let answer = w.answer_to(tag).await;
        let requests = w.model.requests();
        assert!(requests[0].to_string().contains("search_web") && requests[1].to_string().contains(SNIPPET));
        let (chat, web) = answer.text.split_once("\nWeb: ").expect("a line for the web");
        assert!(chat.contains("Sources: [1] ann") && web.starts_with("[2] Ferry to Kihnu"), "{}", answer.text);
        let leads =
            |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url == "https://ferries.example/kihnu");
        assert!(answer.entities.iter().any(|entity| leads(&entity.kind)), "{:?}", answer.entities);
        assert_eq!(service.paths(), ["/search?q=ferry+kihnu+timetable&format=json"]);
        let why = w.reply("ben", answer.id, "/why@bot");
        assert!(w.answer_to(why).await.text.contains("w1: cited"));
    })
    .await;
}

#[tokio::test]
async fn the_web_is_offered_only_where_the_chat_has_no_answer() {
    with_service(&[], async |w, service| {
        w.model.always("At nine.");
        let is_offered = async |w: &mut World, ask: &str| {
            let asked = w.model.requests().len();
            let tag = w.say("ben", ask);
            w.answer_to(tag).await;
            w.model.requests()[asked].to_string().contains("search_web")
        };
        w.say("ann", "we meet at nine at the bus station");
        w.say("cat", "does anybody know when the ferry to the island leaves, and from which harbour in the morning?");
        assert!(is_offered(w, QUESTION).await, "a question answers nothing, nor does what is near it");
        w.say("ann", "the ferry to the island leaves at ten in the morning from the old harbour");
        assert!(!is_offered(w, QUESTION).await, "the chat has the answer");
        assert!(is_offered(w, "@bot what does a ticket for the bus to Tartu cost?").await);
        assert_eq!(service.count(), 0);
        let asked = "@bot search the web for when the ferry to the island leaves in the morning from the old harbour";
        assert!(is_offered(w, asked).await && service.count() == 1, "it is asked for in words");
    })
    .await;
}

#[tokio::test]
async fn a_question_that_plainly_asks_for_the_web_is_searched_without_a_tool() {
    with_service(&[("TOOL_ROUNDS", "0")], async |w, service| {
        w.model.always("At 9:40 [source: w1].");
        let said = w.say("ann", "the ferry to Kihnu, call +372 5555 1234");
        let tag = w.say("ben", "@bot search the web for the ferry to Kihnu");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.contains("Web: [1]"), "{}", answer.text);
        let prompt = w.prompt(1).await;
        assert!(prompt.contains(&format!("[w1 · Ferry to Kihnu · 2026-05-03] {SNIPPET}")), "{prompt}");
        let tag = w.say("ben", QUESTION);
        w.answer_to(tag).await;
        assert_eq!(service.count(), 1, "nothing is searched unasked");
        let tag = w.reply("ben", said, "@bot google this");
        w.answer_to(tag).await;
        let paths = service.paths();
        assert!(paths[1].contains("ferry+to+Kihnu") && !paths[1].contains("5555"), "{paths:?}");
    })
    .await;
}

#[tokio::test]
async fn a_strict_chat_and_one_that_switched_it_off_search_nothing() {
    with_service(&[], async |w, service| {
        w.model.always("At nine [1].");
        w.say("ann", "we meet at nine at the bus station");
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let panel = w.telegram.say(w.chat, Post::new(eve, "/settings@bot", w.clock.now()));
        let panel = w.answer_to(panel).await;
        for label in ["Web search off", "Web search on", "Strict answers"] {
            let before = w.telegram.cursor();
            let pressed = w.telegram.press(w.chat, panel.id, eve, &data_of(&panel, label));
            outcome(w, before, &pressed).await;
            w.settled().await;
            let asked = w.model.requests().len();
            let tag = w.say("ben", QUESTION);
            w.answer_to(tag).await;
            let is_offered = w.model.requests()[asked].to_string().contains("search_web");
            assert_eq!(is_offered, label == "Web search on", "{label}");
            if label != "Web search on" {
                let tag = w.say("ben", "@bot search the web for the ferry to the island in the morning");
                w.answer_to(tag).await;
            }
        }
        assert_eq!(service.count(), 0);
    })
    .await;
}

#[tokio::test]
async fn a_search_that_fails_is_told_and_the_rest_is_answered() {
    World::with(&[("WEB_SEARCH", "http://127.0.0.1:9")], async |w| {
        w.model.script(["I know nothing of it."]);
        let tag = w.say("ben", "@bot search the web for the ferry to Kihnu");
        let answer = w.answer_to(tag).await;
        let rest = answer.text.strip_prefix("I know nothing of it.\n\n").expect("the answer first");
        assert!(!rest.is_empty() && w.prompt(1).await.contains("could not be searched"));
    })
    .await;
}
