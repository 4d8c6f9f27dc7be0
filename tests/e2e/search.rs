//! `/search`, which needs no model.

use std::time::Duration;

use chime_core::texts::{filled, texts};
use chime_core::{Entity, EntityKind, MessageId};
use chime_sandbox::{ChatMemberStatus, NewChat, NewMember, Post, PostContent, SandboxMessage};
use chime_testkit::Reply;
use chime_world::World;

use crate::grounding::{data_of, outcome};
use crate::languages::{ENGLISH, GERMAN, SPANISH};
use crate::memory::{NO_MODEL, ON};
use crate::settings::{admin, by};

/// Returns the lines of the messages found.
fn lines(sent: &SandboxMessage) -> Vec<&str> {
    sent.text.lines().filter(|line| line.starts_with('•')).collect()
}

fn links(sent: &SandboxMessage) -> Vec<MessageId> {
    let url = |kind: &EntityKind| match kind {
        EntityKind::TextLink { url } => url.rsplit('/').next().and_then(|id| id.parse().ok()).map(MessageId),
        _ => None,
    };
    sent.entities.iter().filter_map(|entity| url(&entity.kind)).collect()
}

#[tokio::test]
async fn a_search_shows_who_when_and_where_ten_a_page() {
    World::offline(async |w| {
        let mut said = Vec::new();
        for number in 0..23 {
            w.clock.advance(Duration::from_secs(600));
            said.push(w.say("ann", &format!("the firewood of pile {number} is dry")));
            w.say("bob", "a fine day for a swim, says everybody here");
        }
        w.settled().await;
        let ask = w.say("cat", "/search firewood");
        let found = w.answer_to(ask).await;
        assert_eq!(lines(&found).len(), 10, "{}", found.text);
        assert!(lines(&found).iter().all(|line| line.contains("ann") && line.contains("firewood")), "{}", found.text);
        let mut seen = links(&found);
        for label in ["11–20 →", "21–23 →"] {
            let shown = w.telegram.message(w.chat, found.id).expect("it is there");
            let (before, data) = (w.telegram.cursor(), data_of(&shown, label));
            let pressed = w.telegram.press(w.chat, found.id, w.member("bob"), &data);
            assert_eq!(outcome(w, before, &pressed).await, None);
            seen.extend(links(&w.telegram.message(w.chat, found.id).expect("it is there")));
        }
        seen.sort_unstable();
        assert_eq!(seen, said, "each message is on one page");
    })
    .await;
}

#[tokio::test]
async fn names_of_files_options_of_polls_and_hosts_are_found() {
    World::offline(async |w| {
        let file = PostContent::Document { file_name: "packing_list.pdf".to_owned() };
        let hut = PostContent::Poll {
            question: "Which hut?".to_owned(),
            options: vec!["Seal Bay hut".to_owned(), "Mill hut".to_owned()],
        };
        let mut said = Vec::new();
        for content in [file, hut] {
            said.push(w.telegram.say(w.chat, Post::new(w.member("ann"), "", w.clock.now()).with(content)));
        }
        said.push(w.say("ben", "did you see https://www.harbornews.net/rents/7 already?"));
        w.say("cat", "the boat needs paint");
        w.settled().await;
        for (words, place) in [
            ("packing_list.pdf", 0),
            ("packing", 0),
            ("has:file list", 0),
            ("seal bay", 1),
            ("hut", 1),
            ("harbornews", 2),
        ] {
            let ask = w.say("dan", &format!("/search {words}"));
            let found = w.answer_to(ask).await;
            assert_eq!(links(&found), [said[place]], "{words}: {}", found.text);
        }
    })
    .await;
}

/// Says a text of which the words from `hidden` on are a spoiler.
fn say_hidden(w: &World, name: &str, text: &str, hidden: &str) -> MessageId {
    let start = text.find(hidden).expect("words of the text");
    let spoiler = Entity { offset: start, length: text.len() - start, kind: EntityKind::Spoiler };
    w.telegram.say(w.chat, Post::new(w.member(name), text, w.clock.now()).entities(vec![spoiler]))
}

#[tokio::test]
async fn hidden_words_are_found_but_not_shown() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        let killer = "The killer in episode five is the butler James";
        let said = say_hidden(w, "bob", killer, "the butler");
        say_hidden(w, "bob", "We decided that the party for Olga is on Friday", "We decided");
        w.say("ann", "We decided that the boat leaves at nine");
        w.settled().await;
        let saved = w.telegram.say(w.chat, Post::new(admin(w, w.chat, "eve"), "/note", w.clock.now()).reply_to(said));
        w.answer_to(saved).await;
        for ask in ["/search butler", "@bot who is the killer in episode five?", "/notes", "/recap 2h", "/decisions"] {
            let ask = w.say("cat", ask);
            let shown = w.answer_to(ask).await.text;
            assert!(!shown.contains("butler") && !shown.contains("Olga"), "{shown}");
            assert!(
                shown.contains("killer in episode five is ▒▒▒") || shown.contains("boat leaves at nine"),
                "{shown}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_model_keeps_hidden_words_hidden() {
    World::run(async |w| {
        let said = say_hidden(w, "bob", "The killer in episode five is the butler James", "the butler");
        w.settled().await;
        let source = w.stored(w.chat, said).await.map(|stored| stored.seq).expect("it is stored");
        w.model.script([Reply::text(format!("It is ||the butler James|| [source: m{source}]."))]);
        let ask = w.say("cat", "@bot who is the killer in episode five?");
        let answer = w.answer_to(ask).await;
        assert!(answer.text.starts_with("It is the butler James [1]"), "{}", answer.text);
        assert!(answer.entities.iter().any(|entity| entity.kind == EntityKind::Spoiler));
        let asked = w.model.requests().pop().expect("a request")["messages"].to_string();
        assert!(asked.contains("is ||the butler James||") && asked.contains("between || and ||"), "{asked}");
    })
    .await;
}

#[tokio::test]
async fn what_was_said_before_the_language_was_known_is_found() {
    World::offline(async |w| {
        for line in [
            "Die Wohnungen sind im dritten Stock, und der Aufzug ist seit gestern wieder kaputt",
            "Dann sollten wir die Kisten lieber am Samstag tragen, wenn alle Zeit haben",
            "Ich kann am Samstag erst ab elf Uhr, vorher muss ich noch einkaufen gehen",
            "Das reicht doch, die meisten Sachen sind ja schon im Keller bei meiner Mutter",
        ] {
            w.say("ann", line);
        }
        let ask = w.say("bob", "/search Wohnung");
        let found = w.answer_to(ask).await;
        assert!(found.text.contains("dritten Stock"), "{}", found.text);
    })
    .await;
}

#[tokio::test]
async fn a_search_in_plain_words_asks_no_model() {
    World::run(async |w| {
        let said = w.say("ann", "the firewood is behind the sauna");
        w.say("bob", "and the boat is in the harbour");
        for ask in ["@bot search firewood", "@bot, search for the firewood", "@bot suche firewood"] {
            let ask = w.say("cat", ask);
            assert_eq!(links(&w.answer_to(ask).await), [said]);
        }
        assert!(w.model.requests().is_empty());
        let note = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let saved = w.telegram.say(w.chat, Post::new(note, "/note The chimney sweep comes in March", w.clock.now()));
        w.answer_to(saved).await;
        let ask = w.say("cat", "/search chimney");
        let found = w.answer_to(ask).await;
        assert!(lines(&found)[0].contains("n1 The chimney sweep"), "{}", found.text);
    })
    .await;
}

#[tokio::test]
async fn a_search_is_asked_and_shown_in_the_language_of_the_chat() {
    for (code, line, said, searches, nothing) in [
        (
            "eng",
            ENGLISH,
            "the firewood is behind the sauna",
            ["@bot search for firewood", "/search firewood on:yesterday", "/search firewood from:ann since:yesterday"],
            "/search firewood on:today",
        ),
        (
            "deu",
            GERMAN,
            "das Brennholz liegt hinter der Sauna",
            [
                "@bot such mal nach Brennholz",
                "/search Brennholz on:gestern",
                "/search Brennholz from:ann since:gestern",
            ],
            "/search Brennholz on:heute",
        ),
        (
            "spa",
            SPANISH,
            "la leña está detrás de la sauna",
            ["@bot busca leña", "/search leña on:ayer", "/search leña from:ann since:ayer"],
            "/search leña on:hoy",
        ),
    ] {
        World::offline(async |w| {
            for _ in 0..12 {
                w.say("bob", line);
            }
            let said = w.say("ann", said);
            w.settled().await;
            w.clock.advance(Duration::from_secs(24 * 60 * 60));
            let texts = &texts(code).search;
            for search in searches {
                let ask = w.say("cat", search);
                let found = w.answer_to(ask).await;
                assert_eq!(links(&found), [said], "{search}: {}", found.text);
                assert!(found.text.starts_with(&filled(&texts.head, &[("n", "1")])), "{search}: {}", found.text);
            }
            let ask = w.say("cat", nothing);
            assert_eq!(w.answer_to(ask).await.text, format!("{} {}", texts.none, texts.only_messages));
            let private = w.telegram.add_chat(NewChat::private("ann"));
            let ask = w.say_in(private, "ann", searches[1]);
            let which = w.answer_to(ask).await;
            let (ann, data) = (w.member("ann"), data_of(&which, "Friday table"));
            let before = w.telegram.cursor();
            let pressed = w.telegram.press(private, which.id, ann, &data);
            assert_eq!(outcome(w, before, &pressed).await, None);
            assert_eq!(links(&w.telegram.message(private, which.id).expect("it is there")), [said]);
        })
        .await;
    }
}

#[tokio::test]
async fn what_is_said_to_the_bot_is_no_source_however_it_is_addressed() {
    World::with(&[NO_MODEL[0], NO_MODEL[1], ("MEMORY", "on")], async |w| {
        let eve = admin(w, w.chat, "eve");
        by(w, eve, "/settings@bot name Chime").await;
        w.say("cat", "good morning to all of you");
        w.clock.advance(Duration::from_secs(2 * 60 * 60));
        let said = w.say("ann", "the ferry to the island leaves at nine, says the harbour master of the island");
        w.say("dan", "then we decided: everybody is at the harbour at half past eight");
        let (mut asked, mut last) = (Vec::new(), MessageId(0));
        for ask in [
            "@bot when does the ferry of the harbour master leave for the island?",
            "Chime, when does the ferry of the harbour master leave for the island?",
            "hey Chime it is decided that the ferry leaves the harbour at nine, is it?",
        ] {
            asked.push(w.say("bob", ask));
            let answer = w.answer_to(*asked.last().expect("a question")).await;
            asked.push(w.reply("bob", answer.id, "and is that ferry back at the harbour by midnight?"));
            last = w.answer_to(*asked.last().expect("a question")).await.id;
        }
        // A correction of an answer is talk.
        let moved = w.reply("bob", last, "no, the ferry was moved to half past nine, we decided that at the harbour");
        w.answer_to(moved).await;
        w.settled().await;
        let search = w.say("cat", "Chime, search ferry");
        assert_eq!(links(&w.answer_to(search).await), [moved, said]);
        for ask in ["Chime, what did I miss?", "/recap 1h"] {
            let ask = w.say("cat", ask);
            let recap = w.answer_to(ask).await;
            let shown = links(&recap);
            assert!(shown.contains(&said) && !shown.iter().any(|id| asked.contains(id)), "{}", recap.text);
        }
    })
    .await;
}

#[tokio::test]
async fn scripts_without_spaces_and_other_spellings_are_searched() {
    World::offline(async |w| {
        for (said, search) in [
            ("楼上漏水了，我家厨房天花板都湿了", "天花板"),
            ("夏休みにキャンプ場へ行く", "キャンプ場"),
            ("노트북을 수리점에 맡겼어", "노트북"),
            ("كتاب‌هاي خوبي بود", "کتاب‌های"),
            ("Η ΤΡΑΠΕΖΑ άνοιξε στις ９", "τράπεζα 9"),
        ] {
            let said = w.say("ann", said);
            w.say("bob", "今天天气很好, 오늘 날씨 좋다");
            let ask = w.say("cat", &format!("/search {search}"));
            assert_eq!(links(&w.answer_to(ask).await).first(), Some(&said), "{search}");
        }
    })
    .await;
}

#[tokio::test]
async fn messages_with_some_characters_of_a_whole_word_are_left_out() {
    World::offline(async |w| {
        w.say("ann", "机票订好了");
        let said = w.say("ann", "办公室的打印机坏了");
        w.say("bob", "打车去机场");
        w.settled().await;
        let ask = w.say("cat", "/search 打印机");
        assert_eq!(links(&w.answer_to(ask).await), [said]);
        let ask = w.say("cat", "/search 飞机");
        assert!(links(&w.answer_to(ask).await).len() > 1, "no message has the whole word");
    })
    .await;
}

#[tokio::test]
async fn filters_narrow_a_search() {
    World::offline(async |w| {
        let old = w.say("ann", "the tent is red, see https://example.com/tent");
        w.clock.advance(Duration::from_secs(2 * 24 * 60 * 60));
        let new = w.say("bob", "the tent is in the attic");
        let photo = PostContent::Photo;
        let shown = w.telegram.say(w.chat, Post::new(w.member("ann"), "the tent", w.clock.now()).with(photo));
        w.settled().await;
        for (search, expected) in [
            ("tent from:ann", vec![old, shown]),
            ("from:bob", vec![new]),
            ("tent has:link", vec![old]),
            ("has:photo", vec![shown]),
            ("tent on:yesterday", vec![]),
            ("tent since:today", vec![new, shown]),
            ("tent until:yesterday", vec![old]),
            ("tent from:zoe", vec![]),
            ("submarine", vec![]),
        ] {
            let ask = w.say("cat", &format!("/search {search}"));
            let mut found = links(&w.answer_to(ask).await);
            found.sort_unstable();
            assert_eq!(found, expected, "{search}");
        }
        let wrong = w.say("cat", "/search has:soul");
        assert!(w.answer_to(wrong).await.text.contains("has:photo"));
    })
    .await;
}

#[tokio::test]
async fn filters_reach_forum_topics_files_and_messages_far_back() {
    World::offline(async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let [boats, music] = ["Boats", "Music"].map(|name| w.telegram.create_topic(club, name));
        let say = |w: &World, topic, name: &str, text: &str| {
            w.telegram.say(club, Post::new(w.member(name), text, w.clock.now()).in_forum_topic(topic))
        };
        let rare = say(w, boats, "ann", "the programme of the regatta is printed");
        let file = Post::new(w.member("ann"), "the programme", w.clock.now()).in_forum_topic(boats);
        let file = w.telegram.say(club, file.with(PostContent::Document { file_name: "plan.pdf".to_owned() }));
        let song = say(w, music, "bob", "the programme of the concert");
        for number in 0..400 {
            say(w, music, "bob", &format!("rehearsal {number} of the programme"));
            if number % 100 == 99 {
                w.settled().await;
            }
        }
        for (search, expected) in [
            ("programme topic:boats", vec![rare, file]),
            ("programme from:ann", vec![rare, file]),
            ("programme has:file", vec![file]),
            ("has:file", vec![file]),
            ("from:ann", vec![rare, file]),
            ("programme topic:garden", vec![]),
        ] {
            let ask = say(w, boats, "cat", &format!("/search {search}"));
            let mut found = links(&w.answer_to(ask).await);
            found.sort_unstable();
            assert_eq!(found, expected, "{search}");
        }
        let ask = say(w, boats, "cat", "/search programme concert from:bob until:today");
        assert_eq!(links(&w.answer_to(ask).await).first(), Some(&song));
        let ask = say(w, boats, "cat", "/search programme topic:here");
        assert_eq!(links(&w.answer_to(ask).await).len(), 2);
    })
    .await;
}

#[tokio::test]
async fn what_is_forgotten_or_opted_out_is_never_found() {
    World::offline(async |w| {
        let mine = w.say("ann", "the firewood is behind the sauna");
        let gone = w.say("bob", "the firewood is wet");
        w.say("dan", "the firewood costs 80");
        let forget = w.reply("bob", gone, "/forget");
        w.answer_to(forget).await;
        let out = w.say("dan", "/optout");
        w.answer_to(out).await;
        w.settled().await;
        let ask = w.say("cat", "/search firewood");
        assert_eq!(links(&w.answer_to(ask).await), [mine]);
    })
    .await;
}

#[tokio::test]
async fn in_private_a_member_searches_their_chats_one_at_a_time() {
    World::offline(async |w| {
        let club = w.telegram.add_chat(NewChat::supergroup("Rowing club"));
        let other = w.telegram.add_chat(NewChat::supergroup("Strangers"));
        let here = w.say("ann", "the firewood is behind the sauna");
        w.say_in(club, "ann", "the firewood of the club is wet");
        w.say_in(other, "bob", "our firewood is secret");
        w.settled().await;
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let ask = w.say_in(private, "ann", "/search firewood");
        let which = w.answer_to(ask).await;
        let labels = which.buttons.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(labels.contains("Friday table") && labels.contains("Rowing club") && !labels.contains("Strangers"));
        let ann = w.member("ann");
        let (before, data) = (w.telegram.cursor(), data_of(&which, "Friday table"));
        let pressed = w.telegram.press(private, which.id, ann, &data);
        assert_eq!(outcome(w, before, &pressed).await, None);
        let shown = w.telegram.message(private, which.id).expect("it is there");
        assert_eq!(links(&shown), [here], "{}", shown.text);

        // Somebody who has left the chat, and a forged chat, get nothing.
        w.telegram.add_member(club, NewMember::named("ann").status(ChatMemberStatus::Left));
        let key = data.split(':').nth(2).and_then(|key| key.parse::<u32>().ok()).expect("a chat");
        for chat in (1..10).filter(|chat| *chat != key) {
            let forged = data.replacen(&format!(":{key}:"), &format!(":{chat}:"), 1);
            let before = w.telegram.cursor();
            let pressed = w.telegram.press(private, which.id, ann, &forged);
            let actual = outcome(w, before, &pressed).await;
            let shown = w.telegram.message(private, which.id).expect("it is there").text;
            assert!(!shown.contains("secret") && !shown.contains("club"), "{chat}: {actual:?} {shown}");
        }
        // In a group, no button leads out of it.
        let before = w.telegram.cursor();
        let ask = w.say("bob", "/search submarine");
        let none = w.answer_to(ask).await;
        let away = format!("search:{}:{}:0", ask.0, key + 1);
        let pressed = w.telegram.press(w.chat, none.id, ann, &away);
        assert!(outcome(w, before, &pressed).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn a_forged_press_changes_no_other_message() {
    World::with(&[], async |w| {
        w.say("ann", "the firewood is dry");
        w.model.script(["It is dry."]);
        let asked = w.say("bob", "@bot is the firewood dry?");
        let answer = w.answer_to(asked).await;
        let ask = w.say("eve", "/search submarine");
        w.answer_to(ask).await;
        let key = (1..10).map(|key| format!("search:{}:{key}:0", ask.0));
        for data in key.chain(["reminder:9999:list".to_owned()]) {
            let before = w.telegram.cursor();
            let pressed = w.telegram.press(w.chat, answer.id, w.member("eve"), &data);
            assert!(outcome(w, before, &pressed).await.is_some(), "{data}");
        }
        assert_eq!(w.telegram.message(w.chat, answer.id).expect("it is there").text, answer.text);
    })
    .await;
}

#[tokio::test]
async fn a_word_is_found_in_compounds_after_the_word_itself() {
    for (line, compound, beginning, other, word) in [
        (
            GERMAN,
            "Die Mietkaution war 1.200 Euro",
            "der Kautionsschutz kostet 5 Euro im Monat",
            "der Rat wohnt in der Altstadt",
            "Kaution",
        ),
        (
            "Wij zijn blij dat jullie morgen bij ons blijven, want er zijn te weinig mensen die willen helpen met het schilderen",
            "De huurwaarborg was 1200 euro",
            "het waarborgfonds betaalt niets terug",
            "er lag een vuur op het strand",
            "waarborg",
        ),
    ] {
        World::offline(async |w| {
            for _ in 0..12 {
                w.say("bob", line);
            }
            let itself = w.say("ann", &format!("{word}?"));
            let (compound, beginning) = (w.say("ann", compound), w.say("ann", beginning));
            w.say("ann", other);
            w.settled().await;
            for search in [format!("/search {word}"), format!("@bot suche {word}")] {
                let ask = w.say("cat", &search);
                assert_eq!(links(&w.answer_to(ask).await), [itself, beginning, compound], "{search}");
            }
            w.clock.advance(Duration::from_secs(60));
            w.telegram.edit(w.chat, beginning, line, w.clock.now());
            let forget = w.reply("ann", compound, "/forget");
            w.answer_to(forget).await;
            w.settled().await;
            let ask = w.say("cat", &format!("/search {word}"));
            assert_eq!(links(&w.answer_to(ask).await), [itself]);
        })
        .await;
    }
}

#[tokio::test]
async fn short_words_and_english_ones_are_not_found_in_longer_ones() {
    World::offline(async |w| {
        for _ in 0..12 {
            w.say("bob", ENGLISH);
        }
        w.say("ann", "the basketball hoop is broken");
        w.settled().await;
        let ask = w.say("cat", "/search ball");
        assert!(w.answer_to(ask).await.text.starts_with(&texts("eng").search.none));
    })
    .await;
    World::offline(async |w| {
        for _ in 0..12 {
            w.say("bob", GERMAN);
        }
        w.say("ann", "das Herrenfahrrad steht im Hof");
        w.settled().await;
        let ask = w.say("cat", "/search Rad");
        assert!(w.answer_to(ask).await.text.starts_with(&texts("deu").search.none));
    })
    .await;
}
