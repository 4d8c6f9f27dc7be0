//! Concepts: named things in the scope of a conversation.

use std::time::Duration;

use chime_core::{AnswerId, Captured, ConceptId, ForumTopicId};
use chime_sandbox::{ChatMemberStatus, NewMember, Post, SandboxMessage};
use chime_store::concepts::{self, ContextKey};
use chime_store::{chats, outbox};
use chime_testkit::Reply;
use chime_world::World;

use rusqlite::Connection;
use serde_json::json;

use crate::grounding::{data_of, outcome};
use crate::memory::told_by_the_program;
use crate::privacy::found_in_files;

/// Opens the daemon's database a second time.
fn database(w: &World) -> Connection {
    let conn = Connection::open(w.database()).expect("open the database");
    conn.busy_timeout(Duration::from_secs(5)).expect("a timeout");
    conn
}

async fn ask(w: &mut World, text: &str, answer: &str) -> SandboxMessage {
    w.model.script([answer]);
    let tag = w.say("ann", text);
    let sent = w.answer_to(tag).await;
    w.record_of(&sent).await;
    sent
}

async fn key(w: &World, forum_topic: Option<ForumTopicId>) -> ContextKey {
    let (chat, bot) = (w.chat, w.telegram.bot_id());
    let row = w.read_store(move |conn| chats::find(conn, chat)).await.expect("the chat");
    ContextKey { bot, chat: row.key, forum_topic }
}

async fn answer_of(w: &World, sent: &SandboxMessage) -> AnswerId {
    let (chat, id) = (sent.chat, sent.id);
    let part = w.read_store(move |conn| outbox::by_message(conn, chat, id)).await.expect("a part");
    part.answer.expect("an answer")
}

/// Gets an answer from which a concept is extracted.
async fn capture(w: &World, sent: &SandboxMessage, number: u128, label: &str, definition: &str) -> ConceptId {
    let (key, answer) = (key(w, None).await, answer_of(w, sent).await);
    let id = ConceptId(ulid::Ulid(number));
    let captured = Captured { label: label.to_owned(), definition: definition.to_owned(), ..Captured::default() };
    let mut conn = database(w);
    let tx = conn.transaction().expect("a transaction");
    concepts::capture(&tx, key.chat, answer, id, &captured, w.clock.now()).expect("captured");
    tx.commit().expect("committed");
    id
}

#[tokio::test]
async fn what_an_answer_speaks_of_is_in_scope_of_the_next() {
    World::with(&[("MEMORY", "on")], async |w| {
        let first = ask(w, "@bot what is VAT?", "A tax on goods.").await;
        let vat = capture(w, &first, 1, "VAT", "a tax on goods and services").await;
        ask(w, "@bot and who pays?", "VAT is paid by the buyer.").await;
        let key = key(w, None).await;
        let context = w.read_store(move |conn| concepts::load(conn, key)).await.expect("a context");
        assert_eq!(context.active, [vat]);
        ask(w, "@bot how much is it?", "22 percent.").await;
        let prompt = w.prompt(3).await;
        assert!(prompt.contains("In this conversation, the following concepts are already in scope:"), "{prompt}");
        assert!(prompt.contains("- VAT – a tax on goods and services"), "{prompt}");
        assert!(prompt.contains("Where relevant, prefer grounded explanations that reuse these concepts."), "{prompt}");
        let listing = w.say("ann", "/concepts@bot");
        let shown = w.answer_to(listing).await.text;
        assert_eq!(shown, "Used in this conversation:\n\n• VAT – a tax on goods and services");
    })
    .await;
}

#[tokio::test]
async fn what_the_model_looked_up_is_in_scope_of_the_next_whatever_the_answer_calls_it() {
    World::with(&[("MEMORY", "on")], async |w| {
        w.say("ben", "The VAT return for spring is due on the tenth");
        w.settled().await;
        let first = ask(w, "@bot what is VAT?", "A tax on goods.").await;
        let vat = capture(w, &first, 1, "VAT", "a tax on goods").await;
        capture(w, &first, 2, "Road tax", "a tax on cars").await;
        let search = Reply::Tools(vec![("search_messages", json!({"query": "VAT return"}))]);
        w.model.script([search, Reply::text("On the tenth.")]);
        let tag = w.say("ann", "@bot when is it due?");
        let sent = w.answer_to(tag).await;
        w.record_of(&sent).await;
        let requests = w.model.requests();
        let shown = requests[requests.len() - 1]["messages"].to_string();
        assert!(shown.contains("due on the tenth"), "{shown}");
        let key = key(w, None).await;
        let context = w.read_store(move |conn| concepts::load(conn, key)).await.expect("a context");
        assert_eq!(context.active, [vat]);
    })
    .await;
}

#[tokio::test]
async fn a_search_that_finds_nothing_brings_nothing_into_scope() {
    World::with(&[("MEMORY", "on")], async |w| {
        let first = ask(w, "@bot what is VAT?", "A tax on goods.").await;
        capture(w, &first, 1, "Zzyzx", "a place").await;
        let call = Reply::Tools(vec![("get_session_summaries", json!({"about": "Zzyzx"}))]);
        w.model.script([call, Reply::text("I do not know.")]);
        let tag = w.say("ann", "@bot where is it?");
        let sent = w.answer_to(tag).await;
        w.record_of(&sent).await;
        let key = key(w, None).await;
        assert_eq!(w.read_store(move |conn| concepts::load(conn, key)).await, None);
    })
    .await;
}

#[tokio::test]
async fn a_chat_without_concepts_has_no_paragraph_and_says_so() {
    World::with(&[("MEMORY", "on")], async |w| {
        ask(w, "@bot what is VAT?", "A tax on goods.").await;
        assert!(!w.prompt(1).await.contains("already in scope"));
        let listing = w.say("ann", "/concepts@bot");
        assert!(w.answer_to(listing).await.text.starts_with("I have not noted any concepts in this chat yet."));
    })
    .await;
}

#[tokio::test]
async fn a_context_that_cannot_be_loaded_or_saved_costs_no_answer() {
    World::with(&[("MEMORY", "on")], async |w| {
        let first = ask(w, "@bot what is VAT?", "A tax on goods.").await;
        capture(w, &first, 1, "VAT", "a tax").await;
        database(w)
            .execute_batch("ALTER TABLE conversation_context RENAME TO conversation_context_away")
            .expect("renamed");
        ask(w, "@bot who pays VAT?", "VAT is paid by the buyer.").await;
        assert!(!w.prompt(2).await.contains("already in scope"), "the load failed");
        database(w)
            .execute_batch("ALTER TABLE conversation_context_away RENAME TO conversation_context")
            .expect("renamed");
        let key = key(w, None).await;
        assert_eq!(w.read_store(move |conn| concepts::load(conn, key)).await, None, "the save failed");
        ask(w, "@bot and again?", "VAT, by the buyer.").await;
        assert!(w.read_store(move |conn| concepts::load(conn, key)).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn a_concept_that_is_not_known_any_more_is_left_out() {
    World::with(&[("MEMORY", "on")], async |w| {
        let first = ask(w, "@bot what is VAT?", "A tax on goods.").await;
        capture(w, &first, 1, "VAT", "a tax").await;
        ask(w, "@bot who pays VAT?", "VAT is paid by the buyer.").await;
        database(w).execute_batch("DELETE FROM concept").expect("deleted");
        ask(w, "@bot how much is it?", "22 percent.").await;
        assert!(!w.prompt(3).await.contains("already in scope"));
    })
    .await;
}

#[tokio::test]
async fn forgetting_an_answer_forgets_what_it_captured() {
    World::with(&[("MEMORY", "on")], async |w| {
        let first = ask(w, "@bot what is zqconcept7xk?", "A tax on goods.").await;
        capture(w, &first, 1, "Zqconcept7xk", "a zqdefinition7xk").await;
        ask(w, "@bot who pays zqconcept7xk?", "zqconcept7xk is paid by the buyer.").await;
        let forget = w.say("ann", "/forget@bot me");
        w.answer_to(forget).await;
        w.settled().await;
        let bytes = std::fs::read(w.database()).expect("the database").to_ascii_lowercase();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("zqconcept7xk") && !text.contains("zqdefinition7xk"));
    })
    .await;
}

const VAT: &str = r#"{"concepts":[{"preferred_label":"Value-added tax","alternative_labels":["VAT"],"definition":"A tax on goods.","type":"tax"}]}"#;

/// Waits until so many captures are stored.
async fn captured(w: &World, count: u32) {
    w.until("concepts are captured", move |conn| {
        Ok(conn.query_row("SELECT count(*) FROM concept", [], |row| row.get::<_, u32>(0))? == count)
    })
    .await;
}

#[tokio::test]
async fn concepts_of_an_answer_are_captured_right_after_it_and_resolved_by_their_labels() {
    World::with(&[("MEMORY", "on")], async |w| {
        w.capture_concepts();
        w.restart().await;
        let began = w.clock.now();
        w.model.script(["A tax on goods.", VAT]);
        let tag = w.say("ann", "@bot what is VAT?");
        w.answer_to(tag).await;
        captured(w, 1).await;
        assert!(w.clock.now().since(began) < Duration::from_secs(2), "not by periodic work");
        assert!(w.prompt(2).await.contains("A tax on goods."));

        w.model.script(["The buyer pays the VAT.", VAT]);
        let tag = w.say("ann", "@bot who pays it?");
        let sent = w.answer_to(tag).await;
        assert!(w.prompt(3).await.contains("- Value-added tax (tax) – A tax on goods."));
        captured(w, 2).await;
        w.until("it is captured again as the same one", |conn| {
            let sql = "SELECT count(DISTINCT concept_id) = 1 FROM concept";
            Ok(conn.query_row(sql, [], |row| row.get::<_, bool>(0))?)
        })
        .await;
        let why = w.reply("ben", sent.id, "/why@bot");
        let shown = w.answer_to(why).await.text;
        assert!(shown.lines().any(|line| line.ends_with(": Value-added tax.")), "{shown}");
    })
    .await;
}

#[tokio::test]
async fn what_could_not_be_captured_right_away_is_captured_later() {
    World::with(&[("MEMORY", "on")], async |w| {
        w.capture_concepts();
        w.restart().await;
        let down = || Reply::Status(503, "{}".to_owned());
        w.model.script([Reply::text("A tax on goods."), down(), down(), down()]);
        let tag = w.say("ann", "@bot what is VAT?");
        w.answer_to(tag).await;
        w.prompt(4).await;
        w.settled().await;
        w.model.script([VAT]);
        w.clock.advance(Duration::from_secs(11 * 60));
        captured(w, 1).await;
    })
    .await;
}

#[tokio::test]
async fn nobody_waits_for_the_concepts_of_the_answer_before() {
    World::with(&[("MEMORY", "on")], async |w| {
        w.capture_concepts();
        w.restart().await;
        w.model.script([Reply::text("A tax on goods."), Reply::Held(VAT.to_owned()), Reply::text("On Friday.")]);
        let tag = w.say("ann", "@bot what is VAT?");
        w.answer_to(tag).await;
        w.prompt(2).await;
        let other = w.say("ben", "@bot when do we meet?");
        assert!(w.answer_to(other).await.text.starts_with("On Friday."));
        w.model.always(Reply::text(r#"{"concepts":[]}"#));
        w.model.release();
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn a_context_that_cannot_be_read_is_replaced_by_the_next() {
    World::with(&[("MEMORY", "on")], async |w| {
        let first = ask(w, "@bot what is VAT?", "A tax on goods.").await;
        let vat = capture(w, &first, 1, "VAT", "a tax").await;
        ask(w, "@bot who pays VAT?", "VAT is paid by the buyer.").await;
        database(w).execute_batch("UPDATE conversation_context SET context_json = '{broken'").expect("broken");
        let listing = w.say("ann", "/concepts@bot");
        assert!(w.answer_to(listing).await.text.contains("VAT"));
        ask(w, "@bot when is VAT due?", "VAT is due in May.").await;
        let key = key(w, None).await;
        let context = w.read_store(move |conn| concepts::load(conn, key)).await.expect("a context");
        assert_eq!(context.active, [vat]);
    })
    .await;
}

#[tokio::test]
async fn a_rebuild_makes_the_contexts_anew() {
    World::with(&[("MEMORY", "on")], async |w| {
        let first = ask(w, "@bot what is VAT?", "A tax on goods.").await;
        let vat = capture(w, &first, 1, "VAT", "a tax").await;
        let key = key(w, None).await;
        told_by_the_program(w, &["--rebuild", "concepts"]);
        w.settled().await;
        let context = w.read_store(move |conn| concepts::load(conn, key)).await.expect("a context");
        assert_eq!(context.active, [vat]);
    })
    .await;
}

#[tokio::test]
async fn what_opting_out_and_retention_take_away_is_in_no_concept() {
    for by in ["/optout", "RETENTION_DAYS"] {
        World::with(&[("RETENTION_DAYS", "30")], async |w| {
            let first = ask(w, "@bot what is zqconcept7xk?", "A tax on goods.").await;
            capture(w, &first, 1, "Zqconcept7xk", "a zqdefinition7xk").await;
            if by == "/optout" {
                let out = w.say("ann", "/optout@bot");
                w.answer_to(out).await;
            } else {
                w.clock.advance(Duration::from_secs(31 * 24 * 3600));
            }
            w.until("no concept is left", |conn| {
                Ok(conn.query_row("SELECT count(*) = 0 FROM concept", [], |row| row.get::<_, bool>(0))?)
            })
            .await;
            if by == "RETENTION_DAYS" {
                w.stop().await;
                let markers = ["zqconcept7xk", "zqdefinition7xk"].map(str::to_owned);
                assert_eq!(found_in_files(w, &markers), Vec::<String>::new());
                w.start().await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn nothing_is_captured_in_the_background_where_memory_is_off() {
    World::with(&[("MEMORY", "on")], async |w| {
        let sent = ask(w, "@bot what is an excise?", "A tax on some goods.").await;
        capture(w, &sent, 1, "excise", "a tax on some goods").await;
        w.capture_concepts();
        w.restart().await;
        let cat = w.telegram.add_member(w.chat, NewMember::named("cat").status(ChatMemberStatus::Administrator));
        let off = w.telegram.say(w.chat, Post::new(cat, "/memory@bot off", w.clock.now()));
        let question = w.answer_to(off).await;
        let before = w.telegram.cursor();
        let pressed = w.telegram.press(w.chat, question.id, cat, &data_of(&question, "Delete the summaries"));
        assert_eq!(outcome(w, before, &pressed).await, None);
        let left: i64 = database(w)
            .query_row(
                "SELECT (SELECT count(*) FROM concept) + (SELECT count(*) FROM conversation_context)",
                [],
                |row| row.get(0),
            )
            .expect("a count");
        assert_eq!(left, 0, "concepts are memory");
        ask(w, "@bot what is VAT?", "A tax on goods.").await;
        w.clock.advance(Duration::from_secs(3 * 3600));
        w.settled().await;
        assert_eq!(w.model.requests().len(), 2, "{:?}", w.model.requests());
    })
    .await;
}

#[tokio::test]
async fn a_captured_answer_goes_out_without_personal_data() {
    World::with(&[("MEMORY", "on")], async |w| {
        w.capture_concepts();
        w.restart().await;
        w.model.script(["A tax on goods, says ann.miller@example.org.", r#"{"concepts":[]}"#]);
        let tag = w.say("ann", "@bot what is VAT?");
        w.answer_to(tag).await;
        let prompt = w.prompt(2).await;
        assert!(prompt.contains("A tax on goods, says [email]."), "{prompt}");
    })
    .await;
}
