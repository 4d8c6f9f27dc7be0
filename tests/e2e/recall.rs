//! Recall: messages from elsewhere in the chat are found for a question.

use std::time::Duration;

use chime_core::{EntityKind, Part, Reason};
use chime_sandbox::{NewChat, Post};
use chime_store::answers;
use chime_testkit::Reply;
use chime_world::World;
use serde_json::json;

#[tokio::test]
async fn a_message_of_another_topic_is_recalled_by_name_and_cited_by_its_link() {
    World::run(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let (ann, ben) = (w.telegram.add_member(club, "ann"), w.telegram.add_member(club, "ben"));
        let house = w.telegram.create_topic(club, "House");
        let code = w
            .telegram
            .say(club, Post::new(ann, "the code of the front door is 4711", w.clock.now()).in_forum_topic(house));
        w.telegram.say(club, Post::new(ben, "shall we have soup?", w.clock.now()));
        w.settled().await;
        let source = format!("m{}", w.stored(club, code).await.expect("it is stored").seq);
        w.model.script([format!("It is 4711 [source: {source}].").as_str()]);
        let tag = w.telegram.say(club, Post::new(ben, "@bot what is the front door code?", w.clock.now()));
        let answer = w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("in the topic \"House\"") && prompt.contains("front door is 4711"), "{prompt}");
        let record = w.record_of(&answer).await;
        assert!(record.window.iter().any(|chosen| chosen.id == code && chosen.reason == Reason::Query));
        assert!(record.slots.iter().any(|slot| slot.name == "system.recall" && slot.sources == [source.clone()]));
        let found =
            record.slots.iter().flat_map(|slot| &slot.found).find(|found| found.id == source).expect("it is kept");
        assert!(found.score > 0.0 && found.retrieved.words > 0.5, "{found:?}");
        let is_link =
            |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&format!("/{code}")));
        assert!(answer.entities.iter().any(|entity| is_link(&entity.kind)), "{:?}", answer.entities);
    })
    .await;
}

#[tokio::test]
async fn what_was_said_on_a_day_is_asked_for_by_the_day_alone() {
    World::run(async |w| {
        w.say("ann", "the boat is booked for nine people");
        w.say("ben", "and I bring the lanterns");
        w.quiet(Duration::from_secs(86_400)).await;
        for n in 0..220 {
            w.say("cat", &format!("counting stars, number {n}"));
        }
        w.settled().await;
        w.model.script(["A boat was booked [source: m1].", "Lanterns [source: m2]."]);
        let tag = w.say("dan", "@bot what was said yesterday?");
        let answer = w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("booked for nine") && prompt.contains("bring the lanterns"), "{prompt}");
        let why = w.reply("dan", answer.id, "/why");
        let why = w.answer_to(why).await;
        assert!(
            why.text.contains("bring the lanterns”: from the time or the member named in the question"),
            "{}",
            why.text
        );
        let tag = w.say("eve", "@bot what did ben say?");
        w.answer_to(tag).await;
        assert!(w.prompt(1).await.contains("bring the lanterns"));
    })
    .await;
}

#[tokio::test]
async fn a_day_or_a_member_alone_is_about_what_was_said_then_or_by_them() {
    World::run(async |w| {
        let said = w.play(
            "
            -2d 08:47 ben#1 HDMI works! But now there is no sound
            -2d 08:49 dina#2>1 Sound settings, output, pick the projector and not the laptop
            -1d 18:15 dina#3 Who has the key to the cupboard?
            -1d 18:40 ben#4>3 Under the plant. As always
            09:15 carl#5 The thai restaurant on 10th Ave?
            09:22 ana#6>5 Friday at seven, if they have a table for nine?
            ",
        );
        w.settled().await;
        w.model.script(["The key.", "It lies under the plant.", "About sound and a key."]);
        let asks = [
            ("what was said yesterday?", &said[2..4]),
            ("what did ben say yesterday?", &said[3..4]),
            ("what did dina say?", &said[1..3]),
        ];
        for (ask, expected) in asks {
            let tag = w.say("eve", &format!("@bot {ask}"));
            let answer = w.answer_to(tag).await;
            let record = w.record_of(&answer).await;
            let focus =
                record.window.iter().filter(|chosen| chosen.reason.part() == Part::Focus).map(|chosen| chosen.id);
            assert_eq!(focus.collect::<Vec<_>>(), expected, "{ask}");
        }
    })
    .await;
}

#[tokio::test]
async fn of_a_day_the_own_topic_comes_first_and_nobody_who_opted_out() {
    World::run(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let (ann, ben, zoe) = (
            w.telegram.add_member(club, "ann"),
            w.telegram.add_member(club, "ben"),
            w.telegram.add_member(club, "zoe"),
        );
        let house = w.telegram.create_topic(club, "House");
        let in_house = |who, text: &str| Post::new(who, text, w.clock.now()).in_forum_topic(house);
        w.telegram.say(club, in_house(ann, "the chimney sweep was here"));
        w.telegram.say(club, in_house(zoe, "he found a nest of jackdaws"));
        for n in 0..220 {
            w.telegram.say(
                club,
                Post::new(ben, format!("the long and winding story of the football match, part {n}"), w.clock.now()),
            );
        }
        w.settled().await;
        w.telegram.say(club, in_house(zoe, "/optout"));
        w.next_sent().await;
        w.quiet(Duration::from_secs(86_400)).await;
        for n in 0..205 {
            w.telegram.say(
                club,
                Post::new(ann, format!("painting the door, stroke {n}"), w.clock.now()).in_forum_topic(house),
            );
        }
        w.settled().await;
        w.model.script(["The sweep was here.", "Nothing that I may tell."]);
        let tag =
            w.telegram.say(club, Post::new(ben, "@bot what was said yesterday?", w.clock.now()).in_forum_topic(house));
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("chimney sweep") && !prompt.contains("jackdaws"), "{prompt}");
        let tag = w.telegram.say(club, Post::new(ben, "@bot what did zoe say?", w.clock.now()).in_forum_topic(house));
        w.answer_to(tag).await;
        assert!(!w.prompt(1).await.contains("jackdaws"));
    })
    .await;
}

#[tokio::test]
async fn nothing_of_another_chat_is_recalled() {
    World::run(async |w| {
        let other = w.telegram.add_chat(NewChat::forum("Other"));
        let ann = w.telegram.add_member(other, "ann");
        w.telegram.say(other, Post::new(ann, "the code of the front door is 4711", w.clock.now()));
        w.settled().await;
        w.say("ben", "shall we have soup?");
        w.model.script(["Nobody said."]);
        let tag = w.say("cat", "@bot what is the front door code?");
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(!prompt.contains("4711") && !prompt.contains("Older messages of this chat"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn what_was_recalled_is_forgotten_with_the_answer_that_rests_on_it() {
    World::run(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let (ann, ben) = (w.telegram.add_member(club, "ann"), w.telegram.add_member(club, "ben"));
        let house = w.telegram.create_topic(club, "House");
        let said = Post::new(ann, "the code of the front door is 4711", w.clock.now()).in_forum_topic(house);
        let code = w.telegram.say(club, said);
        w.settled().await;
        w.model.script(["It is 4711."]);
        let tag = w.telegram.say(club, Post::new(ben, "@bot what is the front door code?", w.clock.now()));
        let answer = w.answer_to(tag).await;
        let record = w.record_of(&answer).await.id;
        w.settled().await;
        let forget = Post::new(ann, "/forget", w.clock.now()).in_forum_topic(house).reply_to(code);
        w.telegram.say(club, forget);
        w.next_sent().await;
        w.settled().await;
        let left = w.all_stored(club).await;
        assert!(left.iter().all(|stored| !stored.message.text.contains("4711")), "{left:?}");
        let answer = w.read_store(move |conn| answers::find(conn, record)).await;
        assert!(answer.is_none_or(|answer| !answer.text.contains("4711")), "the answer repeats it");
    })
    .await;
}

#[tokio::test]
async fn a_compound_said_long_ago_answers_a_question_with_its_last_word() {
    for (fact, line, question) in [
        (
            "Übrigens, Mietkaution 1.200 Euro",
            "der See ist heute ruhig, das Boot ist alt, und niemand will angeln gehen",
            "@bot wie hoch ist die Kaution?",
        ),
        (
            "Trouwens, huurwaarborg 1200 euro",
            "Wij zijn blij dat jullie morgen bij ons blijven, want er zijn te weinig mensen die willen helpen",
            "@bot hoe hoog is de waarborg?",
        ),
    ] {
        World::with(&[("EMBEDDING", "off")], async |w| {
            for _ in 0..12 {
                w.say("ben", line);
            }
            let said = w.say("ann", fact);
            w.settled().await;
            w.clock.advance(Duration::from_secs(72 * 60 * 60));
            for round in 0..210 {
                w.say("ben", &format!("{round}: {line}"));
            }
            w.settled().await;
            let source = format!("m{}", w.stored(w.chat, said).await.expect("it is stored").seq);
            w.model.script([
                Reply::Tools(vec![("search_messages", json!({"query": question.rsplit(' ').next()}))]),
                Reply::text(format!("1200 [source: {source}].")),
            ]);
            let tag = w.say("cat", question);
            let answer = w.answer_to(tag).await;
            let record = w.record_of(&answer).await;
            assert!(record.window.iter().any(|chosen| chosen.id == said), "{question}");
            assert!(w.prompt(1).await.contains(fact), "{question}");
            assert!(w.model.requests()[1].to_string().contains(fact), "{question}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_name_said_long_ago_is_the_subject_of_a_question_with_hardly_another_word() {
    World::run(async |w| {
        let said = w.say("ann", "TICKET-4005 waits for the new pump, Ben has ordered it");
        w.settled().await;
        w.clock.advance(Duration::from_secs(72 * 60 * 60));
        for n in 0..230 {
            w.say("cat", &format!("counting stars, number {n}"));
        }
        w.settled().await;
        w.model.script(["It waits for the pump [1]."]);
        let tag = w.say("dan", "@bot TICKET-4005?");
        let answer = w.answer_to(tag).await;
        let record = w.record_of(&answer).await;
        assert!(record.window.iter().any(|chosen| chosen.id == said), "{:?}", record.window);
    })
    .await;
}
