//! Polls about the suggestions in an answer.

use chime_core::texts::texts;
use chime_core::{ForumTopicId, MessageId};
use chime_sandbox::{NewChat, Post, PostContent, SandboxMessage};
use chime_world::World;
use serde_json::json;

use crate::grounding::{buttons, outcome};
use crate::privacy::found_in_files;

const BOOKS: &str = "1. **Dune** – long\n2. **Solaris** – strange\n3. **Kevade** – warm";

/// Returns label and data of the only button below a list of suggestions.
fn poll_button(sent: &SandboxMessage) -> (String, String) {
    let rows = buttons(sent);
    assert_eq!((rows.len(), rows[0].len()), (1, 1), "{rows:?}");
    rows[0][0].clone()
}

/// Tells the bot how many voted for each option.
fn vote(w: &World, poll: &SandboxMessage, votes: &[u32], is_closed: bool) {
    let PostContent::Poll { question, options } = &poll.content else { panic!("{poll:?} is no poll") };
    let option = |(text, votes): (&String, &u32)| json!({"persistent_id": text, "text": text, "voter_count": votes});
    let options: Vec<_> = options.iter().zip(votes).map(option).collect();
    let id = format!("file-{}-{}", poll.chat, poll.id);
    let poll = json!({"id": id, "question": question, "options": options, "is_closed": is_closed, "is_anonymous": true,
        "total_voter_count": votes.iter().sum::<u32>(), "type": "regular", "allows_multiple_answers": false});
    w.telegram.push_raw(json!({ "poll": poll }).to_string());
}

async fn stored_text(w: &World, id: MessageId) -> String {
    w.settled().await;
    w.stored(w.chat, id).await.expect("it is stored").message.text
}

#[tokio::test]
async fn a_list_of_suggestions_becomes_a_poll_whose_result_can_be_found_and_cited() {
    for (code, line, ask) in [
        ("eng", "I would really like to read a good book on the ferry this summer", "@bot suggest some books"),
        (
            "deu",
            "Ich würde im Sommer auf der Fähre wirklich gern ein gutes Buch lesen",
            "@bot schlag ein paar Bücher vor",
        ),
        ("spa", "Me gustaría mucho leer un buen libro en el barco durante este verano", "@bot recomienda unos libros"),
        ("por", "Eu gostaria muito de ler um bom livro no barco durante este verão", "@bot dá umas ideias"),
    ] {
        World::run(async |w| {
            for _ in 0..12 {
                w.say("ann", line);
            }
            w.settled().await;
            w.model.script([BOOKS]);
            let ask = w.say("ann", ask);
            let list = w.answer_to(ask).await;
            let (label, data) = poll_button(&list);
            assert_eq!(label, texts(code).polls.button);
            let bob = w.member("bob");
            let before = w.telegram.cursor();
            let press = w.telegram.press(w.chat, list.id, bob, &data);
            assert_eq!(outcome(w, before, &press).await, None);
            let poll = w.answer_to(list.id).await;
            let options = ["Dune", "Solaris", "Kevade"].map(str::to_owned).to_vec();
            assert_eq!(poll.content, PostContent::Poll { question: texts(code).polls.question.clone(), options });
            let before = w.telegram.cursor();
            let again = w.telegram.press(w.chat, list.id, bob, &data);
            assert_eq!(outcome(w, before, &again).await.as_deref(), Some(texts(code).polls.made.as_str()));

            vote(w, &poll, &[1, 0, 2], false);
            assert!(stored_text(w, poll.id).await.contains("Kevade: 2"));
            vote(w, &poll, &[3, 0, 2], true);
            let text = stored_text(w, poll.id).await;
            assert!(text.contains("Dune: 3") && text.contains("Kevade: 2") && !text.contains("ann"), "{text}");
            let search = w.say("cat", "/search solaris");
            assert!(w.answer_to(search).await.text.contains("Dune: 3"));
            w.model.script(["Dune won [2]."]);
            let tag = w.reply("cat", poll.id, "@bot who won?");
            w.answer_to(tag).await;
            assert!(w.prompt(2).await.contains("Dune: 3"), "{}", w.prompt(2).await);
        })
        .await;
    }
}

#[tokio::test]
async fn a_poll_stays_in_its_topic_and_goes_with_the_question_behind_it() {
    World::run(async |w| {
        w.chat = w.telegram.add_chat(NewChat::forum("Readers"));
        let ann = w.member("ann");
        let ForumTopicId(topic) = w.telegram.create_topic(w.chat, "Books");
        let post = Post::new(ann, "@bot suggest some books about zqmarker7xk", w.clock.now());
        w.model.script(["1. **Dune zqdune7xk** – long\n2. **Solaris** – strange"]);
        let ask = w.telegram.say(w.chat, post.in_forum_topic(ForumTopicId(topic)));
        let list = w.answer_to(ask).await;
        let (_, data) = poll_button(&list);
        let before = w.telegram.cursor();
        let press = w.telegram.press(w.chat, list.id, ann, &data);
        assert_eq!(outcome(w, before, &press).await, None);
        let poll = w.answer_to(list.id).await;
        assert_eq!(poll.forum_topic, Some(ForumTopicId(topic)));
        vote(w, &poll, &[2, 1], false);
        assert!(stored_text(w, poll.id).await.contains("zqdune7xk: 2"));
        let forget = w.telegram.say(w.chat, Post::new(ann, "/forget", w.clock.now()).reply_to(ask));
        w.answer_to(forget).await;
        // A vote after that brings nothing back.
        vote(w, &poll, &[3, 1], true);
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqdune7xk".to_owned()]), Vec::<String>::new());
        let before = w.telegram.cursor();
        let press = w.telegram.press(w.chat, list.id, ann, &data);
        assert!(outcome(w, before, &press).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn a_wish_for_a_poll_of_a_list_is_fulfilled_without_the_model() {
    World::run(async |w| {
        w.model.script([BOOKS, "Four is a list.", BOOKS]);
        let ask = w.say("ann", "@bot suggest some books");
        let list = w.answer_to(ask).await;
        let options = ["Dune", "Solaris", "Kevade"].map(str::to_owned).to_vec();
        let expected = PostContent::Poll { question: texts("eng").polls.question.clone(), options };
        w.settled().await;
        let tag = w.say("bob", "@bot make a poll of these");
        assert_eq!(w.answer_to(tag).await.content, expected, "right after the list");
        w.settled().await;
        w.telegram.edit(w.chat, tag, "@bot make a poll of these, please", w.clock.now());
        w.telegram.edit(w.chat, tag, "@bot which of these is the longest?", w.clock.now());
        w.settled().await;
        w.say("bob", "I am late, start without me");
        let tag = w.reply("bob", list.id, "@bot Umfrage draus machen");
        assert_eq!(w.answer_to(tag).await.content, expected, "in a reply to it");
        assert_eq!(w.model.requests().len(), 1);
        // No list is meant, and in private there are no polls.
        w.say("bob", "I am late, start without me");
        let tag = w.say("bob", "@bot make a poll of these");
        assert_eq!(w.answer_to(tag).await.text, "Four is a list.");
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let ask = w.say_in(private, "ann", "suggest some books");
        let list = w.next_sent().await;
        assert_eq!(list.reply_to, Some(ask));
        w.settled().await;
        w.model.script(["I cannot."]);
        let tag = w.say_in(private, "ann", "make a poll of these");
        assert_eq!(w.answer_to(tag).await.text, "I cannot.");
    })
    .await;
}

#[tokio::test]
async fn an_answer_of_another_chat_and_a_private_one_make_no_poll() {
    World::run(async |w| {
        w.model.script([BOOKS, BOOKS]);
        let ask = w.say("ann", "@bot suggest some books");
        let (_, data) = poll_button(&w.answer_to(ask).await);
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let ask = w.say_in(private, "ann", "suggest some books");
        let list = w.answer_to(ask).await;
        assert!(buttons(&list).is_empty());
        let ann = w.member("ann");
        for forged in [data.as_str(), "poll:x", "poll:01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            let before = w.telegram.cursor();
            let press = w.telegram.press(private, list.id, ann, forged);
            assert!(outcome(w, before, &press).await.is_some(), "{forged}");
        }
    })
    .await;
}
