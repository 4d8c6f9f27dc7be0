//! Questions that follow up on a suggestion: "more", "cheaper", "the second one".

use std::time::Duration;

use chime_core::{Evidence, FollowUp, FoundBy, Intent, MessageId, Reset};
use chime_sandbox::SandboxMessage;
use chime_store::{follow_ups, outbox};
use chime_world::World;

use crate::grounding::buttons;
use crate::privacy::found_in_files;

const BOOKS: &str = "1. **The Hobbit** by J.R.R. Tolkien – short, 12 €\n\
                     2. **Dune** by Frank Herbert – long, 15 €\n\
                     3. **Solaris** by Stanisław Lem – strange, 10 €";
const TOLKIEN: &str = "1. **The Hobbit** by J.R.R. Tolkien – short\n2. **Roverandom** by J.R.R. Tolkien – shorter";
const MORE_BOOKS: &str = "1. **Piranesi** by Susanna Clarke – odd\n2. **Hyperion** by Dan Simmons – long";

/// Part of the prompt that says what a question for others asks for, if something was suggested.
const OTHERS: &str = "If it asks for more or for others, what was asked for still holds";

/// Asks as `name`; the model replies with `answer`.
async fn ask(w: &mut World, name: &str, text: &str, answer: &str) -> SandboxMessage {
    w.model.script([answer]);
    let tag = w.say(name, text);
    let sent = w.answer_to(tag).await;
    w.record_of(&sent).await;
    sent
}

/// Replies to a message as `name` with a question; the model replies with `answer`.
async fn ask_back(w: &mut World, name: &str, parent: MessageId, text: &str, answer: &str) -> SandboxMessage {
    w.model.script([answer]);
    let tag = w.reply(name, parent, text);
    let sent = w.answer_to(tag).await;
    w.record_of(&sent).await;
    sent
}

/// Returns the resolution of the question behind an answer.
async fn resolved(w: &World, sent: &SandboxMessage) -> FollowUp {
    let (chat, id) = (sent.chat, sent.id);
    let found = w.read_store(move |conn| {
        let answer = outbox::by_message(conn, chat, id)?.and_then(|part| part.answer);
        answer.map_or(Ok(None), |answer| follow_ups::find(conn, answer))
    });
    found.await.expect("a follow-up is stored")
}

async fn is_resolved(w: &World, sent: &SandboxMessage) -> bool {
    let (chat, id) = (sent.chat, sent.id);
    w.read_store(move |conn| {
        let answer = outbox::by_message(conn, chat, id)?.and_then(|part| part.answer);
        answer.map_or(Ok(false), |answer| Ok(follow_ups::find(conn, answer)?.is_some()))
    })
    .await
}

fn excluded(follow_up: &FollowUp) -> Vec<&str> {
    follow_up.excluded.iter().map(|item| item.title()).collect()
}

fn names(follow_up: &FollowUp) -> Vec<&str> {
    follow_up.frame.people.iter().map(String::as_str).collect()
}

async fn last_prompt(w: &World) -> String {
    w.prompt(w.model.requests().len()).await
}

#[tokio::test]
async fn more_of_what_is_popular_stays_popular_and_repeats_nothing() {
    World::run(async |w| {
        ask(w, "ann", "@bot näita populaarseid raamatuid", "1. „Kevade“ – Oskar Luts\n2. „Rehepapp“ – Andrus Kivirähk")
            .await;
        let more = ask(w, "ann", "@bot näita rohkem", "1. „Truudus“ – Jaan Kross").await;
        let prompt = last_prompt(w).await;
        for line in ["asked for: näita populaarseid raamatuid", "kind: book", "- Kevade", "- Rehepapp"] {
            assert!(prompt.contains(line), "{line} in {prompt}");
        }
        let found = resolved(w, &more).await;
        assert_eq!(found.frame.intent, Intent::More);
        let third = ask(w, "ann", "@bot veel", "Rohkem ma ei tea.").await;
        assert_eq!(excluded(&resolved(w, &third).await), ["Kevade", "Rehepapp", "Truudus"]);
    })
    .await;
}

#[tokio::test]
async fn of_several_authors_the_one_that_the_first_ask_names_first_is_meant() {
    World::run(async |w| {
        let both = "1. „Kääbik“ – J.R.R. Tolkien\n2. „Narnia“ – C.S. Lewis";
        ask(w, "ann", "@bot Näita raamatuid Tolkienilt ja Lewiselt", both).await;
        let more = ask(w, "ann", "@bot näita veel tema raamatuid", "1. „Silmarillion“ – J.R.R. Tolkien").await;
        let found = resolved(w, &more).await;
        assert_eq!((found.frame.intent, names(&found)), (Intent::EntitySearch, vec!["J.R.R. Tolkien"]));
        assert_eq!((found.references[0].by, found.references[0].confidence), (Evidence::Primary, 0.95));
    })
    .await;
}

#[tokio::test]
async fn another_kind_of_thing_forgets_what_was_shown_and_a_narrower_one_does_not() {
    World::run(async |w| {
        ask(w, "ann", "@bot näita raamatuid", BOOKS).await;
        let cards = ask(w, "ann", "@bot näita kinkekaarte", "- **Apollo** – raamatud ja kino").await;
        let found = resolved(w, &cards).await;
        assert_eq!((found.reset, found.excluded.len()), (Some(Reset::KindChanged), 0));
        let prompt = last_prompt(w).await;
        assert!(!prompt.contains("not to be suggested again"), "{prompt}");
        assert!(prompt.contains("kind: gift card"), "{prompt}");
    })
    .await;
    World::run(async |w| {
        ask(w, "ann", "@bot näita kingitusi", "- **Pann** – malmist\n- **Taskulamp** – matkaks").await;
        let books = ask(w, "ann", "@bot näita raamatuid", BOOKS).await;
        let found = resolved(w, &books).await;
        assert_eq!((found.reset, excluded(&found)), (None, vec!["Pann", "Taskulamp"]));
    })
    .await;
}

#[tokio::test]
async fn cheaper_keeps_the_kind_and_takes_thirty_percent_off() {
    World::run(async |w| {
        ask(w, "ann", "@bot raamatud alla 20 euro", BOOKS).await;
        let cheaper = ask(w, "ann", "@bot odavamaid", "1. **Kevade** – 8 €").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("kind: book") && prompt.contains("budget: at most 14 EUR"), "{prompt}");
        let budget = resolved(w, &cheaper).await.frame.budget.expect("a budget");
        assert_eq!(budget.amount.to_string(), "14");
        ask(w, "ann", "@bot veel odavamaid", "Odavamaid ma ei tea.").await;
        assert!(last_prompt(w).await.contains("budget: at most 9 EUR"));
    })
    .await;
}

#[tokio::test]
async fn cheaper_without_a_limit_is_cheaper_than_what_was_shown() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest some books", BOOKS).await;
        ask(w, "ann", "@bot cheaper", "Nothing is.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("wanted: cheaper than 10 to 15 EUR") && !prompt.contains("budget"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn the_only_author_that_was_shown_is_meant_at_once() {
    World::run(async |w| {
        ask(w, "ann", "@bot näita raamatuid", TOLKIEN).await;
        let more = ask(w, "ann", "@bot näita veel tema raamatuid", "1. **Silmarillion** by J.R.R. Tolkien").await;
        let found = resolved(w, &more).await;
        assert_eq!((names(&found), found.references[0].by), (vec!["J.R.R. Tolkien"], Evidence::Only));
        assert_eq!(w.model.requests().len(), 2, "the patterns decide alone");
    })
    .await;
}

#[tokio::test]
async fn a_question_that_names_what_was_shown_is_about_that() {
    World::run(async |w| {
        ask(w, "ann", "@bot näita raamatuid", "1. **Hobbit** by J.R.R. Tolkien\n2. **Kevade** by Oskar Luts").await;
        let answer = ask(w, "ann", "@bot Kas Hobbit sobib lapsele?", "Jah, kümneaastasele.").await;
        let found = resolved(w, &answer).await;
        assert_eq!((found.frame.intent, found.items[0].title()), (Intent::ItemQuestion, "Hobbit"));
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("about the item: 1. Hobbit, J.R.R. Tolkien"), "{prompt}");
        // That answer suggested nothing, so "more" still continues the books.
        let more = ask(w, "ann", "@bot veel", "1. **Silmarillion** by J.R.R. Tolkien").await;
        assert_eq!(resolved(w, &more).await.frame.kind.as_deref(), Some("book"));
    })
    .await;
}

#[tokio::test]
async fn thirty_of_eighty_shown_items_are_excluded_the_newest() {
    World::run(async |w| {
        for round in 0..4 {
            let list: Vec<String> = (1..=20).map(|n| format!("{n}. **Title {}** – fine", round * 20 + n)).collect();
            ask(w, "ann", if round == 0 { "@bot suggest books" } else { "@bot more" }, &list.join("\n")).await;
        }
        let last = ask(w, "ann", "@bot more", "No more.").await;
        let found = resolved(w, &last).await;
        let kept = excluded(&found);
        assert_eq!((kept.len(), kept.first(), kept.last()), (30, Some(&"Title 51"), Some(&"Title 80")));
    })
    .await;
}

#[tokio::test]
async fn places_in_the_list_are_understood() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books", BOOKS).await;
        let second = ask(w, "ann", "@bot what about the second one?", "It is long.").await;
        assert_eq!(resolved(w, &second).await.items[0].title(), "Dune");
        let it = ask(w, "ann", "@bot is that one any good?", "Very.").await;
        let found = resolved(w, &it).await;
        assert_eq!((found.items[0].title(), found.references[0].by), ("Dune", Evidence::Last));
        let same = ask(w, "ann", "@bot something by frank herbert", "1. **Dune Messiah** by Frank Herbert").await;
        assert_eq!(names(&resolved(w, &same).await), ["Frank Herbert"]);
    })
    .await;
}

#[tokio::test]
async fn beside_a_newer_list_more_and_cheaper_are_told_of_both() {
    World::run(async |w| {
        w.say("ann", "I need something to read on the train");
        w.say("ben", "we should eat out on friday");
        ask(w, "ann", "@bot suggest books", BOOKS).await;
        let food = "1. **Noa** – by the sea, 22 €\n2. **Tuljak** – a view, 19 €";
        ask(w, "ben", "@bot suggest restaurants under 30 euros", food).await;
        for (name, question, answer) in [
            ("ann", "@bot more", MORE_BOOKS),
            ("ann", "@bot cheaper", "1. **Kaja** – 12 €"),
            ("ben", "@bot more", "No."),
        ] {
            ask(w, name, question, answer).await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains(OTHERS), "{question}: {prompt}");
            let (noa, dune) = (prompt.find("1. Noa, 22 EUR"), prompt.find("2. Dune, Frank Herbert, 15 EUR"));
            assert!(noa.is_some() && noa < dune, "the newer list is first: {prompt}");
            for fact in ["wanted:", "budget:", "already suggested"] {
                assert!(!prompt.contains(fact), "{question} has no {fact}: {prompt}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn after_any_other_message_no_word_is_said_to_mean_an_item() {
    // What a member says after the list of another, and the other's question.
    let cases: [(&[&str], &str); 9] = [
        (&["two dentist slots left, 9:10 and 11:40"], "@bot when is the second one?"),
        (&["offsite monday or thursday?"], "@bot why the second one?"),
        (&["toner for the printer is 89"], "@bot cheaper?"),
        (&["nana called, she fell again"], "@bot more"),
        (&["lost 3 of the 4 screws"], "@bot and the last one?"),
        (&["been there"], "@bot suggest some more restaurants"),
        (&["the tram stops at Tuljak"], "@bot how far is tuljak?"),
        (&[], "@bot and on the 2nd?"),
        (&[], "@bot and the 1st of may?"),
    ];
    for (talk, question) in cases {
        World::run(async |w| {
            ask(w, "ann", "@bot suggest restaurants", "1. **Noa** – 22 €\n2. **Tuljak** – 19 €").await;
            for text in talk {
                w.say("ben", text);
            }
            let sent = ask(w, "ann", question, "Yes.").await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains("1. Noa, 22 EUR\n2. Tuljak, 19 EUR"), "{question}: {prompt}");
            for fact in ["wanted:", "about the item", "means", "already suggested"] {
                assert!(!prompt.contains(fact), "{question} has no {fact}: {prompt}");
            }
            assert!(!is_resolved(w, &sent).await, "{question}");
        })
        .await;
    }
}

#[tokio::test]
async fn items_have_the_numbers_and_places_that_were_posted() {
    let walk = "Walk along the river to the old mill and have a picnic there with food that everybody brings";
    let list =
        format!("1. {walk}, about 5 £\n2. **Bowling** – about 15 £\n3. Cook a big paella together\n4. **Minigolf**");
    World::run(async |w| {
        ask(w, "ann", "@bot suggest activities", &list).await;
        ask(w, "ann", "@bot how long does the second one take?", "Two hours.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("about the item: 2. Bowling, 15 GBP"), "{prompt}");
        w.say("ben", "the mill is closed on mondays");
        ask(w, "cat", "@bot who does the first?", "Nobody yet.").await;
        let prompt = last_prompt(w).await;
        let told = format!("1. {walk}, 5 GBP\n2. Bowling, 15 GBP\n3. Cook a big paella together\n4. Minigolf");
        assert!(prompt.contains(&told), "{prompt}");
    })
    .await;
    World::run(async |w| {
        let list =
            "For mum:\n1. **Scarf** – 20 £\n2. **Tea set** – 35 £\n\nFor dad:\n1. **Torch** – 25 £\n2. **Cap** – 18 £";
        ask(w, "ann", "@bot suggest presents for mum and dad", list).await;
        ask(w, "ann", "@bot what about the second one?", "Which?").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("2. Tea set, 35 GBP\n1. Torch, 25 GBP") && !prompt.contains("means"), "{prompt}");
        ask(w, "ann", "@bot more", "1. **Map** – 9 £").await;
        assert!(last_prompt(w).await.contains("Torch"), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn what_replaces_a_thing_is_told_before_the_list() {
    World::run(async |w| {
        let meat = "1. **Fraldinha** – R$ 38\n2. **Linguiça** – R$ 22\n3. **Acém** – R$ 30";
        ask(w, "ann", "@bot que carnes, barato", meat).await;
        w.say("ben", "acém não rola");
        ask(w, "ben", "@bot outra no lugar da última", "3. **Copa lombo** – R$ 24").await;
        w.say("ben", "agora sim");
        ask(w, "cat", "@bot quanto custa tudo?", "R$ 84.").await;
        let prompt = last_prompt(w).await;
        let (new, old) =
            (prompt.find("3. Copa lombo, 24 BRL"), prompt.find("1. Fraldinha, 38 BRL\n2. Linguiça, 22 BRL"));
        assert!(new.is_some() && new < old, "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_recipe_is_no_list_to_choose_from() {
    let steps = "**Pancakes**\n1. Whisk 200 g flour with 3 eggs.\n2. Let it rest for 20 minutes.\n3. Fry in butter.";
    for (recipe, question) in [
        ("@bot recipe for pancakes", "@bot without milk"),
        ("@bot give me a recipe for pancakes", "@bot cheaper"),
        ("@bot rezept für pfannkuchen", "@bot ohne eier"),
    ] {
        World::run(async |w| {
            let sent = ask(w, "ann", recipe, steps).await;
            assert!(buttons(&sent).is_empty(), "{recipe}");
            ask(w, "ann", question, "Take water.").await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains("You listed these things") && !prompt.contains(OTHERS), "{question}: {prompt}");
            assert!(prompt.contains("3. Fry in butter"), "{question}: {prompt}");
        })
        .await;
    }
    World::run(async |w| {
        let dishes = "1. **Shakshuka** – eggs in tomato sauce\n2. **Chickpea curry** – with rice";
        let sent = ask(w, "ann", "@bot suggest some dishes for friday", dishes).await;
        assert!(!buttons(&sent).is_empty());
        ask(w, "ann", "@bot more", "1. **Lasagne**").await;
        assert!(last_prompt(w).await.contains("already suggested, not to be suggested again"));
    })
    .await;
}

#[tokio::test]
async fn after_a_night_the_lists_of_the_evening_are_told_the_newest_first() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest restaurants", "1. **Tharavadu**\n2. **Bundobust**").await;
        w.say("ben", "been to all of those");
        ask(w, "ben", "@bot been there, others", "1. **Zaap** – thai\n2. **Sukhothai** – thai").await;
        w.say("cat", "ooh 2");
        w.clock.advance(Duration::from_secs(14 * 3600));
        w.say("ann", "sounds good");
        ask(w, "cat", "@bot is the second one open on sundays?", "Yes.").await;
        let prompt = last_prompt(w).await;
        let (zaap, first) = (prompt.find("1. Zaap\n2. Sukhothai"), prompt.find("1. Tharavadu\n2. Bundobust"));
        assert!(zaap.is_some() && zaap < first, "{prompt}");
        w.clock.advance(Duration::from_hours(4 * 24));
        w.say("ann", "sounds good");
        ask(w, "cat", "@bot is the second one open on sundays?", "Yes.").await;
        let prompt = last_prompt(w).await;
        assert!(!prompt.contains("1. Zaap\n2. Sukhothai"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_long_list_and_the_newest_answer_are_told_whole() {
    World::run(async |w| {
        let films: Vec<String> =
            (1..=15).map(|n| format!("{n}. **Film number {n}** by Wes Anderson – comedy")).collect();
        ask(w, "ann", "@bot suggest 15 films with their directors", &films.join("\n")).await;
        w.say("ben", "10 made me cry");
        w.say("cat", "hm");
        ask(w, "cat", "@bot is the last one long?", "Yes.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("15. Film number 15, Wes Anderson\n"), "{prompt}");
    })
    .await;
    World::run(async |w| {
        let stands: Vec<String> = (1..60).map(|n| format!("Stand {n} sells cake.")).collect();
        let letter = format!("Dear parents,\n\n{}\n\nParking is at the school only.", stands.join(" "));
        ask(w, "ann", "@bot write a long announcement for the fete", &letter).await;
        w.say("ben", "👍");
        ask(w, "ann", "@bot where is the parking?", "At the school.").await;
        assert!(last_prompt(w).await.contains("Parking is at the school only."), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_an_old_suggestion_takes_that_one() {
    World::run(async |w| {
        let books = ask(w, "ann", "@bot suggest books", BOOKS).await;
        ask(w, "ann", "@bot suggest films", "1. **Arrival** – slow\n2. **Moon** – alone").await;
        let more = ask_back(w, "ben", books.id, "more", MORE_BOOKS).await;
        let found = resolved(w, &more).await;
        assert_eq!((found.found_by, found.frame.kind.as_deref()), (Some(FoundBy::Reply), Some("book")));
        let second = ask_back(w, "cat", books.id, "what about the second one?", "Long.").await;
        assert_eq!(resolved(w, &second).await.items[0].title(), "Dune");
    })
    .await;
}

#[tokio::test]
async fn beside_another_list_the_model_decides_which_one_is_meant() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books for my nephew", BOOKS).await;
        ask(w, "ben", "@bot suggest restaurants for zqfriday7xk", "1. **Noa** – sea\n2. **Tuljak** – view").await;
        let asked = ask(w, "cat", "@bot what about the second one?", "Zqreply7xk.").await;
        assert!(!is_resolved(w, &asked).await);
        let prompt = last_prompt(w).await;
        let (ben, ann) = (prompt.find("list for ben"), prompt.find("list for ann"));
        assert!(ben.is_some() && ben < ann, "the newest list is first: {prompt}");
        for line in ["1. Noa", "2. Tuljak", "1. The Hobbit", "2. Dune"] {
            assert!(prompt.contains(line), "{line} in {prompt}");
        }
        // What the answer was told of is forgotten with it.
        let forget = w.say("ben", "/forget@bot me");
        w.answer_to(forget).await;
        w.settled().await;
        let bytes = std::fs::read(w.database()).expect("the database").to_ascii_lowercase();
        let text = String::from_utf8_lossy(&bytes);
        for marker in ["zqfriday7xk", "zqreply7xk"] {
            assert!(!text.contains(marker), "{marker} is still in the file");
        }
    })
    .await;
}

#[tokio::test]
async fn a_question_about_the_last_answer_is_no_bare_tag() {
    World::run(async |w| {
        let reasons: Vec<String> = (1..60).map(|place| format!("reason {place} of the seller's list")).collect();
        let long = format!("Blue, for {} and cheaper.", reasons.join(", "));
        w.say("ann", "the blue sofa or the red one?");
        ask(w, "ann", "@bot which colour?", &long).await;
        ask(w, "cat", "@bot why?", "Of the stains.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("cat asks you:") && prompt.contains("and cheaper."), "{prompt}");
        w.say("ben", "red is loud");
        w.say("dan", "blue then?");
        ask(w, "cat", "@bot thoughts?", "Blue.").await;
        assert!(last_prompt(w).await.contains("cat wants your help with the talk above"));
    })
    .await;
}

#[tokio::test]
async fn short_questions_about_a_list_or_for_ideas_are_no_bare_tags() {
    World::run(async |w| {
        w.say("ann", "dad has his birthday on friday");
        w.say("ben", "he likes fishing, at most 100");
        ask(w, "ann", "@bot dá umas ideias", "1. **Tackle box** – 80 €\n2. **Hat** – 50 €").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("ann asks for ideas about the talk above."), "{prompt}");
        w.say("ann", "forget the box, what about a boat trip?");
        ask(w, "ben", "@bot which one?", "The hat.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("ben asks you:") && prompt.contains("1. Tackle box"), "{prompt}");
        for text in ["the harbour is closed", "until noon?", "no, all day", "who told you?", "the radio", "hm"] {
            w.say("cat", text);
        }
        ask(w, "dan", "@bot which one?", "Yes.").await;
        assert!(last_prompt(w).await.contains("dan wants your help with the talk above"));
    })
    .await;
}

#[tokio::test]
async fn after_the_talk_moved_on_the_model_decides_what_is_meant() {
    // What members say after a list, and a question that follows.
    let cases: [(&[&str], &str); 6] = [
        (&["we got two offers for the hallway", "Meyer 1400, Kolb 1250"], "@bot anything cheaper?"),
        (&["a name for the cat?", "Miso or Nori"], "@bot more ideas?"),
        (&["the blue sofa or the grey one?"], "@bot the first or the second?"),
        (&["the boiler leaks again"], "@bot something else?"),
        (&["@bot tell me a joke"], "@bot another one"),
        (&["@bot what does a boiler cost?"], "@bot cheaper"),
    ];
    for (talk, question) in cases {
        World::run(async |w| {
            ask(w, "ann", "@bot suggest books under 20 euros", BOOKS).await;
            for text in talk {
                if text.starts_with('@') {
                    ask(w, "ben", text, "It was the boiler, 8000 €.").await;
                } else {
                    w.say("ben", text);
                }
            }
            let sent = ask(w, "ben", question, "Yes.").await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains(OTHERS), "{question}: {prompt}");
            assert!(!prompt.contains("Suggest as many"), "{question}: {prompt}");
            assert!(!is_resolved(w, &sent).await, "{question}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_list_of_what_was_said_is_not_told_to_later_questions() {
    World::run(async |w| {
        w.say("ben", "the tent is packed in the red car");
        w.say("cat", "the boat is paid by bank transfer");
        let list = "1. The tent is packed in the red car\n2. The boat is paid by bank transfer";
        ask(w, "ann", "@bot what happened so far?", list).await;
        ask(w, "dan", "@bot who has the keys of the cabin?", "Nobody said that.").await;
        assert!(!last_prompt(w).await.contains("You listed these things"), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn a_list_that_suggests_nothing_is_not_gone_on_with() {
    let cases = [
        ("@bot who does what?", "1. **Tent** – Ana\n2. **Stove** – Ben", "@bot what else?"),
        ("@bot how do I descale the kettle?", "1. **Fill** it.\n2. **Boil** it.", "@bot more"),
    ];
    for (question, list, next) in cases {
        World::run(async |w| {
            w.say("Ana", "hello everybody");
            w.say("Ben", "good morning");
            ask(w, "ann", question, list).await;
            ask(w, "ann", next, "That is all.").await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains("You listed these things") && !prompt.contains(OTHERS), "{next}: {prompt}");
            assert!(!prompt.contains("Suggest as many"), "{next}: {prompt}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_member_in_a_list_is_no_item_of_it() {
    World::run(async |w| {
        w.say("Carlos", "my knee is better");
        w.say("Bruno", "I bring the salad");
        ask(w, "ann", "@bot who brings what?", "1. **Carlos**: meat\n2. **Bruno**: salad").await;
        ask(w, "ann", "@bot what did Carlos write about his knee?", "It is better.").await;
        assert!(!last_prompt(w).await.contains("about the item"), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn who_gets_a_present_is_not_its_maker() {
    for question in ["@bot more, but she is only 6", "@bot another one, she read both", "@bot cheaper, he is broke"] {
        World::run(async |w| {
            let books = ask(w, "ann", "@bot suggest a present for my niece", BOOKS).await;
            let more = ask_back(w, "ann", books.id, question, MORE_BOOKS).await;
            let found = resolved(w, &more).await;
            assert!(found.frame.clarification.is_none() && names(&found).is_empty(), "{question}: {found:?}");
            assert_eq!(excluded(&found), ["The Hobbit", "Dune", "Solaris"], "{question}");
        })
        .await;
    }
}

#[tokio::test]
async fn what_somebody_suggested_is_a_question_about_the_talk() {
    for question in ["@bot what did Tom and Ina suggest?", "@bot do we need a hotel?"] {
        World::run(async |w| {
            w.say("tom", "I can recommend Meyer, he is quick");
            w.say("ina", "Kolb is good too");
            let sent = ask(w, "ann", question, "1. **Meyer** – quick\n2. **Kolb** – good").await;
            assert!(!last_prompt(w).await.contains("Suggest as many"), "{question}");
            assert!(buttons(&sent).is_empty(), "{question}");
        })
        .await;
    }
}

#[tokio::test]
async fn after_the_silence_that_ends_a_session_more_means_no_suggestion_of_others() {
    World::with(&[("SESSION_IDLE", "5m")], async |w| {
        ask(w, "ann", "@bot suggest books", BOOKS).await;
        for n in 0..30 {
            w.say("dan", &format!("the {n}th boat race of the harbour has a winner"));
            w.say("eve", &format!("who sailed number {n} then, and which crew?"));
        }
        w.clock.advance(Duration::from_secs(6 * 60));
        let answer = ask(w, "zoe", "@bot more", "The races are over.").await;
        assert_eq!(answer.text, "The races are over.");
        assert!(!is_resolved(w, &answer).await);
    })
    .await;
}

#[tokio::test]
async fn what_is_not_wanted_is_kept_and_starting_over_forgets_it() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books for my mother under 20 euros", BOOKS).await;
        ask(w, "ann", "@bot more, but no horror", MORE_BOOKS).await;
        let third = ask(w, "ann", "@bot not the first one", "1. **Emma** by Jane Austen").await;
        let found = resolved(w, &third).await;
        assert_eq!(found.references[0].means, "Piranesi");
        let prompt = last_prompt(w).await;
        for wish in ["asked for: suggest books for my mother under 20 euros", "asked for: more, but no horror"] {
            assert!(prompt.contains(wish), "{wish} in {prompt}");
        }
        let over = ask(w, "ann", "@bot start over: suggest films", "1. **Moon** – alone").await;
        let found = resolved(w, &over).await;
        assert_eq!((found.reset, found.frame.budget), (Some(Reset::StartOver), None));
        assert_eq!((found.frame.wanted.len(), found.excluded.len()), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn bare_tags_and_plain_asks_cost_one_call_and_leave_nothing() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books", BOOKS).await;
        for (n, text) in
            ["@bot", "@bot ^", "@bot thoughts?", "@bot ?", "@bot when does the ferry leave?"].iter().enumerate()
        {
            let sent = ask(w, "ann", text, "Yes.").await;
            assert_eq!(w.model.requests().len(), n + 2, "{text}");
            assert!(!last_prompt(w).await.contains("already suggested"), "{text}");
            let _ = sent;
        }
    })
    .await;
    World::run(async |w| {
        let sent = ask(w, "ann", "@bot more", "More of what?").await;
        assert_eq!(w.model.requests().len(), 1);
        assert!(!is_resolved(w, &sent).await);
    })
    .await;
}

#[tokio::test]
async fn why_tells_what_was_resolved_from_where_and_how_sure() {
    World::run(async |w| {
        ask(w, "ann", "@bot näita raamatuid", TOLKIEN).await;
        let more = ask(w, "ann", "@bot näita veel tema raamatuid", "1. **Silmarillion** by J.R.R. Tolkien").await;
        let why = w.reply("ann", more.id, "/why@bot");
        let shown = w.answer_to(why).await.text;
        for part in [
            "otsing nime järgi",
            "jätkuks selle jutuajamise uusimale loendile",
            "Arvan, et „tema raamatuid“ tähendab „J.R.R. Tolkien“: muud see olla ei saanud (kindlus 95 %)",
            "Juba soovitatud, seega ma ei korda: „Roverandom“, „The Hobbit“.",
        ] {
            assert!(shown.contains(part), "{part} in {shown}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_restart_keeps_what_was_suggested() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books", BOOKS).await;
        w.restart().await;
        let more = ask(w, "ann", "@bot more", MORE_BOOKS).await;
        assert_eq!(excluded(&resolved(w, &more).await), ["The Hobbit", "Dune", "Solaris"]);
    })
    .await;
}

#[tokio::test]
async fn without_a_model_what_was_worked_out_is_shown() {
    World::offline(async |w| {
        w.say("ann", "I need something to read");
        let tag = w.say("ann", "@bot suggest books under 20 euros");
        let shown = w.answer_to(tag).await.text;
        assert!(shown.starts_with("I understood this as a request for suggestions (book, at most 20 EUR)."), "{shown}");
    })
    .await;
}

/// Has a model suggest books, and members talk about them; then there is no model.
async fn books_without_model(w: &mut World) {
    w.say("ann", "Carl's birthday is on Sunday, he reads on the train every day");
    ask(w, "ann", "@bot suggest books under 20 euros for Carl's birthday", BOOKS).await;
    w.say("ben", "He has Dune, I saw it on his shelf");
    w.settled().await;
    w.set("OPENAI_BASE_URL", "");
    w.set("MODEL", "");
    w.restart().await;
}

#[tokio::test]
async fn without_a_model_the_suggested_items_that_fit_are_shown() {
    // The question, and the items that the answer shows and does not show.
    let cases: [(&str, &[&str], &[&str]); 15] = [
        ("@bot cheaper", &["The Hobbit", "Solaris"], &["Dune"]),
        ("@bot under 11", &["Solaris"], &["The Hobbit", "Dune"]),
        ("@bot under 5", &["None of these fits:", "Solaris"], &["Carl", "train"]),
        ("@bot how much is the hobbit?", &["The Hobbit", "12 EUR"], &["Solaris"]),
        ("@bot #3", &["Solaris", "10 EUR"], &["Dune"]),
        ("@bot what about #1?", &["The Hobbit"], &["Solaris"]),
        ("@bot what about the second one?", &["Dune"], &["Solaris"]),
        ("@bot something by Tolkien", &["The Hobbit"], &["Solaris"]),
        ("@bot not that one", &["The Hobbit", "Dune", "Solaris"], &[]),
        ("@bot 2?", &["Dune"], &["Solaris"]),
        ("@bot the first two", &["The Hobbit", "Dune", "Solaris"], &["Carl", "train"]),
        ("@bot the hobbit one", &["The Hobbit"], &["Dune", "Carl", "train"]),
        ("@bot something shorter", &["The Hobbit", "Dune", "Solaris"], &["train"]),
        ("@bot for my niece", &["The Hobbit", "Dune", "Solaris"], &["Carl", "train"]),
        ("@bot which one does Carl already own?", &["The Hobbit", "He has Dune"], &["train"]),
    ];
    for (asked, shown, hidden) in cases {
        World::run(async |w| {
            books_without_model(w).await;
            let tag = w.say("ann", asked);
            let answer = w.answer_to(tag).await.text;
            // The reply begins with how the question was understood.
            let list = answer.split_once("No model is configured").map_or("", |(_, list)| list);
            assert!(shown.iter().all(|words| list.contains(words)), "{asked}: {answer}");
            assert!(!hidden.iter().any(|words| list.contains(words)), "{asked}: {answer}");
            assert!(!answer.contains("not again"), "{asked}: {answer}");
        })
        .await;
    }
}

#[tokio::test]
async fn without_a_model_a_question_about_something_else_shows_no_list() {
    World::run(async |w| {
        books_without_model(w).await;
        for asked in ["@bot who has the key?", "@bot when is the birthday?", "@bot does anybody know a good dentist?"] {
            let tag = w.say("ann", asked);
            let answer = w.answer_to(tag).await.text;
            assert!(!answer.contains("Solaris"), "{asked}: {answer}");
        }
    })
    .await;
}

#[tokio::test]
async fn after_starting_over_nothing_of_the_old_suggestion_counts() {
    World::run(async |w| {
        books_without_model(w).await;
        let tag = w.say("ann", "@bot start over");
        w.answer_to(tag).await;
        let tag = w.say("ann", "@bot suggest a book for my niece, she is 9 and likes horses");
        let answer = w.answer_to(tag).await.text;
        for old in ["Carl", "train", "20 eur", "20 EUR", "Hobbit", "Dune"] {
            assert!(!answer.contains(old), "{old}: {answer}");
        }
    })
    .await;
}

#[tokio::test]
async fn forgetting_reaches_frames_items_and_what_was_taken_over() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books about zqsubject7xk", "1. **Zqtitle7xk** by Jane Zqname7xk").await;
        ask(w, "ben", "@bot more", "1. **Other** by Jane Doe").await;
        let forget = w.say("ann", "/forget@bot me");
        w.answer_to(forget).await;
        w.settled().await;
        let bytes = std::fs::read(w.database()).expect("the database").to_ascii_lowercase();
        let text = String::from_utf8_lossy(&bytes);
        for marker in ["zqsubject7xk", "zqtitle7xk", "zqname7xk"] {
            assert!(!text.contains(marker), "{marker} is still in the file");
        }
    })
    .await;
}

/// Returns all stored data about suggestions as one text.
fn of_suggestions(conn: &chime_store::Reader) -> chime_store::Result<String> {
    let sql = "SELECT coalesce(lower(group_concat(resolved || items)), '') FROM follow_up";
    Ok(conn.query_row(sql, [], |row| row.get(0))?)
}

#[tokio::test]
async fn forgetting_reaches_an_answer_far_down_a_chain() {
    World::with(&[("CONTEXT_TOKENS", "600")], async |w| {
        let mut last = ask(w, "ann", "@bot suggest books about zqsubject7xk", "1. **First** by Jane Doe").await;
        for answer in ["1. **Second** by Jane Doe", "1. **Third** by Jane Doe", "1. **Fourth** – on zqsubject7xk"] {
            last = ask_back(w, "ben", last.id, "more", answer).await;
            for number in 0..25 {
                w.say("cat", &format!("the boat number {number} lies at the quay of the island behind the lighthouse"));
            }
            w.settled().await;
        }
        assert!(last_prompt(w).await.contains("asked for: suggest books about zqsubject7xk"));
        let forget = w.say("ann", "/forget@bot me");
        w.answer_to(forget).await;
        w.settled().await;
        assert_eq!(found_in_files(w, &["zqsubject7xk".to_owned()]), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn opting_out_and_retention_reach_frames_items_and_what_was_taken_over() {
    for by in ["/optout", "RETENTION_DAYS"] {
        World::with(&[("RETENTION_DAYS", "30")], async |w| {
            ask(w, "ann", "@bot suggest books about zqsubject7xk", "1. **Zqtitle7xk** by Jane Doe").await;
            ask(w, "ben", "@bot more", "1. **Other** by Jane Doe").await;
            let markers = ["zqsubject7xk", "zqtitle7xk"];
            let stored = w.read_store(of_suggestions).await;
            assert!(markers.iter().all(|marker| stored.contains(marker)), "{stored}");
            if by == "/optout" {
                let out = w.say("ann", "/optout@bot");
                w.answer_to(out).await;
            } else {
                w.clock.advance(Duration::from_secs(31 * 24 * 3600));
            }
            let gone = move |shown: &str| !markers.iter().any(|marker| shown.contains(marker));
            w.until("the words are gone", move |conn| Ok(gone(&of_suggestions(conn)?))).await;
            if by == "RETENTION_DAYS" {
                w.stop().await;
                let markers = markers.map(str::to_owned);
                assert_eq!(found_in_files(w, &markers), Vec::<String>::new());
                w.start().await;
            }
        })
        .await;
    }
}

#[tokio::test]
async fn what_who_opted_out_wants_is_not_kept_and_silences_nobody() {
    World::run(async |w| {
        w.say("ann", "the boat leaves at nine");
        let out = w.say("ben", "/optout@bot");
        w.answer_to(out).await;
        let suggested = ask(w, "ben", "@bot suggest books about zqsubject7xk", BOOKS).await;
        assert!(!is_resolved(w, &suggested).await);
        w.settled().await;
        let kept = found_in_files(w, &["zqsubject7xk".to_owned()]);
        assert_eq!(kept, Vec::<String>::new(), "their words are dropped");
        assert_eq!(ask(w, "ben", "@bot more", MORE_BOOKS).await.text.lines().count(), 2);
        assert_eq!(ask(w, "ann", "@bot cheaper", "There is a library.").await.text, "There is a library.");
        assert!(last_prompt(w).await.contains("\n(2 messages not shown)\n"), "{}", last_prompt(w).await);
        let back = ask_back(w, "ann", suggested.id, "what about the second one?", "It is long.").await;
        assert_eq!(back.text, "It is long.");
    })
    .await;
}

#[tokio::test]
async fn what_is_not_wanted_excludes_nothing_that_was_listed() {
    World::run(async |w| {
        let list = "1. **Miele S1** – 190 €, mit Kabel\n2. **Bosch 6** – 180 €\n3. **Philips Aqua** ohne Kabel – 200 €";
        let sent = ask(w, "ann", "@bot schlag uns einen staubsauger vor", list).await;
        ask_back(w, "ben", sent.id, "ohne kabel", "Der dritte.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("3. Philips Aqua") && !prompt.contains("already suggested"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn each_heading_starts_the_count_of_bullets_again() {
    let plan = "**Friday**\n- Arrive at six\n- Dinner at Zaap\n**Saturday**\n- Museum\n- City walls\n- Boat trip";
    World::run(async |w| {
        ask(w, "ann", "@bot plan the weekend", plan).await;
        ask(w, "ann", "@bot how long is the second thing on saturday?", "An hour.").await;
        let prompt = last_prompt(w).await;
        assert!(!prompt.contains("means") && prompt.contains("1. Museum\n2. City walls\n3. Boat trip"), "{prompt}");
        ask(w, "ann", "@bot how long is the third?", "An hour.").await;
        assert!(last_prompt(w).await.contains("3. Boat trip"), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn a_replaced_thing_is_no_longer_meant_by_its_number() {
    World::run(async |w| {
        let list = ask(w, "kim", "@bot suggest restaurants", "1. **Forno**\n2. **Bao**\n3. **Seoul Kitchen**").await;
        ask_back(w, "kim", list.id, "replace 3", "3. **Umi**").await;
        ask(w, "kim", "@bot how much is the third?", "20.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("3. Umi") && !prompt.contains("about the item: 3. Seoul Kitchen"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_remark_that_names_a_thing_is_no_question_about_it() {
    for remark in ["@bot mum has a scarf already, something else", "@bot scarf is too warm, something else for him"] {
        World::run(async |w| {
            ask(w, "kim", "@bot suggest presents for mum", "1. **Scarf** – 20 £\n2. **Tea set** – 30 £").await;
            ask(w, "kim", remark, "1. **Cap**").await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains("Tea set") && !prompt.contains("about the item"), "{remark}: {prompt}");
        })
        .await;
    }
}

#[tokio::test]
async fn the_last_of_several_sections_is_left_to_the_model() {
    let plan = "**Friday**\n- Dinner at Zaap\n- Cinema\n**Saturday**\n- Museum\n- City walls\n- Boat trip";
    World::run(async |w| {
        ask(w, "ann", "@bot plan the weekend", plan).await;
        ask(w, "ann", "@bot what's the last one?", "The boat.").await;
        assert!(!last_prompt(w).await.contains("means"), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn one_further_thing_is_told_with_the_list_before() {
    World::run(async |w| {
        ask(w, "kim", "@bot suggest hotels", "1. **Dakota** – 120 £\n2. **Ibis** – 80 £").await;
        w.say("dev", "nana called, she fell again");
        ask(w, "kim", "@bot more", "1. **Jurys** – 90 £").await;
        assert!(last_prompt(w).await.contains("kim asks you:"), "{}", last_prompt(w).await);
        w.say("dev", "she is fine now");
        ask(w, "kim", "@bot another one", "1. **Travelodge** – 50 £").await;
        let prompt = last_prompt(w).await;
        for told in ["1. Jurys, 90 GBP", "1. Dakota, 120 GBP", OTHERS] {
            assert!(prompt.contains(told), "{told} in {prompt}");
        }
    })
    .await;
}

#[tokio::test]
async fn of_several_authors_of_one_answer_the_member_chooses() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest fantasy books", "1. **The Hobbit** by J.R.R. Tolkien\n2. **Narnia** by C.S. Lewis")
            .await;
        let tag = w.say("ann", "@bot more of his books");
        let question = w.answer_to(tag).await;
        assert_eq!(
            question.text,
            "Who do you mean? Reply with a name or a number.\n\n1. J.R.R. Tolkien\n2. C.S. Lewis"
        );
        w.record_of(&question).await;
        let more = ask_back(w, "ann", question.id, "Lewis", "1. **Perelandra** by C.S. Lewis").await;
        let found = resolved(w, &more).await;
        assert_eq!((names(&found), found.references[0].by), (vec!["C.S. Lewis"], Evidence::Member));
        assert_eq!((found.frame.intent, found.frame.kind.as_deref()), (Intent::EntitySearch, Some("book")));
    })
    .await;
}

#[tokio::test]
async fn what_the_patterns_leave_open_is_for_the_model_that_answers() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest restaurants", "1. **Noa** – sea\n2. **Tuljak** – view").await;
        ask(w, "ann", "@bot maybe somewhere quieter near the old harbour", "Kaja, for pizza.").await;
        let prompt = last_prompt(w).await;
        for line in [
            "1. Noa",
            "2. Tuljak",
            "If the question is about such a list (the newest is first), its numbers count from it",
        ] {
            assert!(prompt.contains(line), "{line} in {prompt}");
        }
        assert_eq!(w.model.requests().len(), 2, "one call for each answer");
    })
    .await;
}

#[tokio::test]
async fn tags_right_after_each_other_are_questions_of_their_own() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books", BOOKS).await;
        ask(w, "ben", "@bot what about the second one?", "It is long.").await;
        let thoughts = ask(w, "ben", "@bot thoughts?", "Read it.").await;
        assert!(!last_prompt(w).await.contains("about the item"), "the question before is answered");
        assert!(!is_resolved(w, &thoughts).await);
        let more = ask(w, "ben", "@bot more", MORE_BOOKS).await;
        assert_eq!(excluded(&resolved(w, &more).await), ["The Hobbit", "Dune", "Solaris"]);
    })
    .await;
}

#[tokio::test]
async fn a_list_is_a_suggestion_however_it_was_asked_for() {
    World::run(async |w| {
        ask(w, "ann", "@bot where could we have dinner on friday?", "1. **Noa** – 20 €\n2. **Tuljak** – 35 €").await;
        let cheaper = ask(w, "ann", "@bot cheaper", "1. **Kaja** – 12 €").await;
        assert_eq!(excluded(&resolved(w, &cheaper).await), ["Noa", "Tuljak"]);
    })
    .await;
}

#[tokio::test]
async fn a_reply_goes_on_with_a_suggestion_whatever_was_said_since() {
    World::run(async |w| {
        let books = ask(w, "ann", "@bot suggest books under 20 euros", BOOKS).await;
        ask_back(w, "ben", books.id, "@bot more", "Nothing else comes to mind.").await;
        for number in 0..6 {
            w.say("cat", &format!("the boiler makes noise number {number}"));
            w.say("dan", "it is the pump, I called the plumber");
        }
        w.settled().await;
        let asked = ask_back(w, "ben", books.id, "cheaper", "Then take Solaris.").await;
        let before = resolved(w, &asked).await.follows;
        let (chat, id) = (books.chat, books.id);
        let first =
            w.read_store(move |conn| Ok(outbox::by_message(conn, chat, id)?.and_then(|part| part.answer))).await;
        assert_eq!(before, first);
    })
    .await;
}

#[tokio::test]
async fn everyday_wishes_open_a_list() {
    for (question, answer, titles) in [
        (
            "@bot need a dentist near the station",
            "1. **Dr. Tamm** – Kopli 12, two minutes away\n2. **City Dental** – open on Saturdays",
            vec!["Dr. Tamm", "City Dental"],
        ),
        (
            "@bot where could we have dinner on friday? under 30",
            "You could try Lido in the old town, or Da Marco by the river, about 25 €.",
            vec!["Lido", "Da Marco"],
        ),
        ("@bot we're five on saturday and like strategy games", "Concordia: five players, no dice.", vec!["Concordia"]),
        ("@bot a podcast for the drive?", "Try In Our Time from the BBC.", vec!["In Our Time"]),
        (
            "@bot was könnten wir Papa schenken?",
            "Wie wäre es mit einem Tag in der Therme Erding? Oder probiert Bosch Easy.",
            vec!["Tag in der Therme Erding", "Bosch Easy"],
        ),
        ("@bot who has the key?", "Ben has it, Ana saw him on Friday.", vec![]),
        ("@bot how do I mute this chat?", "Open the menu and choose Mute.", vec![]),
    ] {
        World::run(async |w| {
            w.say("ben", "I'm back from the lake");
            let sent = ask(w, "ann", question, answer).await;
            let (chat, id) = (sent.chat, sent.id);
            let found = w.read_store(move |conn| {
                let answer = outbox::by_message(conn, chat, id)?.and_then(|part| part.answer);
                answer.map_or(Ok(Vec::new()), |answer| follow_ups::items_of(conn, answer))
            });
            let found: Vec<String> = found.await.iter().map(|item| item.title().to_owned()).collect();
            assert_eq!(found, titles, "{question}");
            if !titles.is_empty() {
                ask(w, "ann", "@bot not that one, something else", "1. **Azul** – tiles").await;
                let prompt = last_prompt(w).await;
                let is_told = ["not to be suggested again", "nothing listed is suggested again"];
                assert!(prompt.contains(titles[0]) && is_told.iter().any(|it| prompt.contains(it)), "{prompt}");
            }
        })
        .await;
    }
}

#[tokio::test]
async fn the_model_may_ask_who_is_meant() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest a book", "1. **Stoner** – quiet\n2. **Dune** – long").await;
        ask(w, "ann", "@bot more by him", "By whom? Stoner is by John Williams, Dune by Frank Herbert.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("2. Dune") && prompt.contains("If you cannot tell which thing or person"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_refused_maker_is_not_searched() {
    for question in ["@bot more, but nothing by lem", "@bot more but not by lem", "@bot no more lem, something else"] {
        World::run(async |w| {
            ask(w, "ann", "@bot suggest books", BOOKS).await;
            ask(w, "ann", question, MORE_BOOKS).await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains("Solaris") && !prompt.contains("by: "), "{question}: {prompt}");
        })
        .await;
    }
}

#[tokio::test]
async fn names_in_sentences_are_told_and_never_certain() {
    World::run(async |w| {
        w.say("ben", "nopi was great");
        ask(w, "ann", "@bot suggest a restaurant", "Try Nopi, which Ben likes, or Barrafina.").await;
        let second = ask(w, "ann", "@bot what about the second one?", "It is loud.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("1. Nopi\n2. Barrafina") && !prompt.contains("about the item"), "{prompt}");
        assert!(!is_resolved(w, &second).await);
        ask(w, "ann", "@bot make a poll of these", "I can't tell of which.").await;
    })
    .await;
}

#[tokio::test]
async fn a_line_of_names_is_the_newest_list() {
    World::run(async |w| {
        ask(w, "ann", "@bot names for a dog", "1. **Suki** – short\n2. **Tess** – soft").await;
        ask(w, "ann", "@bot and for a cat", "Mocha, Ivy, Juno.").await;
        ask(w, "ann", "@bot which of these is the shortest?", "Ivy.").await;
        let prompt = last_prompt(w).await;
        let (cat, dog) = (prompt.find("1. Mocha\n2. Ivy\n3. Juno"), prompt.find("1. Suki"));
        assert!(cat.is_some() && cat < dog, "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_title_of_common_words_does_not_take_a_question_over() {
    for question in ["@bot when do we meet at the station?", "@bot who is coming on saturday?"] {
        World::run(async |w| {
            ask(w, "ann", "@bot suggest a bar", "1. **The Station** – 18 €\n2. **Saturday** – 12 €").await;
            ask(w, "ann", question, "At six.").await;
            let prompt = last_prompt(w).await;
            assert!(prompt.contains("1. The Station") && !prompt.contains("about the item"), "{question}: {prompt}");
        })
        .await;
    }
}

#[tokio::test]
async fn wishes_are_kept_through_lists_that_were_only_told() {
    World::run(async |w| {
        let dishes = "1. **Lasagne** with spinach\n2. **Mushroom soup** with bread";
        ask(w, "ann", "@bot what shall I cook tomorrow for six? no meat", dishes).await;
        ask(w, "ann", "@bot more", "1. **Falafel**\n2. **Shakshuka**").await;
        ask(w, "ann", "@bot more", "1. **Curry**").await;
        let prompt = last_prompt(w).await;
        for line in ["what shall I cook tomorrow for six? no meat", "Lasagne", "Shakshuka"] {
            assert!(prompt.contains(line), "{line}: {prompt}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_author_of_a_numbered_thing_is_meant() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest books", BOOKS).await;
        let more = ask(w, "ann", "@bot more by the author of the second", "1. **Dune Messiah** by Frank Herbert").await;
        assert_eq!(names(&resolved(w, &more).await), ["Frank Herbert"]);
    })
    .await;
}

#[tokio::test]
async fn who_comes_is_no_list_of_things() {
    World::run(async |w| {
        for name in ["Ana", "Ben", "Carl"] {
            w.say(name, "I come on friday");
        }
        ask(w, "dan", "@bot who comes on friday?", "Ana, Ben, Carl.").await;
        ask(w, "dan", "@bot what else?", "Nothing.").await;
        let prompt = last_prompt(w).await;
        assert!(!prompt.contains("You listed") && !prompt.contains("Suggest as many"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_thing_with_a_members_name_is_suggested_once_and_the_member_may_be_asked_about() {
    World::run(async |w| {
        w.say("Bruno", "hello");
        ask(w, "ann", "@bot suggest a restaurant", "1. **Bruno** – 18 €\n2. **Lido** – 12 €").await;
        ask(w, "ann", "@bot more", "1. **Noa**").await;
        assert!(last_prompt(w).await.contains("- Bruno"), "{}", last_prompt(w).await);
        ask(w, "ann", "@bot where does Bruno live?", "In Tartu.").await;
        assert!(!last_prompt(w).await.contains("about the item"), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn a_place_in_an_earlier_list_is_left_to_the_model() {
    World::run(async |w| {
        ask(w, "ann", "@bot suggest a book", "1. **Stoner** – 12 €\n2. **Dune** – 9 €").await;
        ask(w, "ann", "@bot cheaper", "1. **Emma** – 5 €\n2. **Ivanhoe** – 4 €").await;
        for question in [
            "and the first of the previous list?",
            "the second from your earlier list?",
            "und das erste aus der vorigen liste?",
            "y el primero de antes?",
            "а первая из прошлого списка?",
        ] {
            ask(w, "ann", &format!("@bot {question}"), "A novel.").await;
            let prompt = last_prompt(w).await;
            assert!(!prompt.contains("about the item") && prompt.contains("1. Stoner"), "{question}: {prompt}");
        }
    })
    .await;
}

#[tokio::test]
async fn half_of_what_a_sentence_offers_is_no_certain_list() {
    World::run(async |w| {
        let offer = "Try the terrace at mari's place, or Casa Pepe on the square.";
        ask(w, "ann", "@bot suggest a restaurant for friday", offer).await;
        ask(w, "ann", "@bot is the first one open on mondays?", "Yes.").await;
        assert!(!last_prompt(w).await.contains("about the item"), "{}", last_prompt(w).await);
    })
    .await;
}

#[tokio::test]
async fn after_a_suggestion_that_was_not_read_the_list_before_it_is_only_told() {
    World::run(async |w| {
        let gifts = "1. **Radio plays** – 35 €\n2. **Rain gauge** – 45 €";
        ask(w, "ann", "@bot suggest gifts for dad, under 50 euros", gifts).await;
        ask(w, "ann", "@bot cheaper", "Maybe seed paper cards with wildflowers would be nice.").await;
        ask(w, "ann", "@bot not that, more", "Nothing.").await;
        let prompt = last_prompt(w).await;
        assert!(prompt.contains("You listed") && !prompt.contains("Suggest as many other"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn after_a_question_back_the_list_is_followed() {
    World::run(async |w| {
        let songs = "1. **Blue Monday** by New Order\n2. **Into the Groove** by Madonna";
        ask(w, "ann", "@bot suggest songs", songs).await;
        let unclear = w.say("ann", "@bot more by her");
        assert!(w.words_to(unclear).await.contains("New Order"));
        ask(w, "ben", "@bot more", "1. **Maniac** by Michael Sembello").await;
        assert!(last_prompt(w).await.contains("- Blue Monday"), "{}", last_prompt(w).await);
    })
    .await;
}
