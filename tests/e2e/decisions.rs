//! Decisions, tasks and open questions: from the talk, with a model and without, until they are done.

use chime_core::texts::texts;
use chime_core::{EntityKind, MessageId, Seq, Zone};
use chime_sandbox::{ChatMemberStatus, NewMember, Post, SandboxMessage};
use chime_store::{chats, item_marks};
use chime_testkit::Reply;
use chime_world::World;
use rusqlite::Connection;

use crate::grounding::{data_of, outcome};
use crate::memory::{DAY, HOUR, NO_MODEL, ON, until_summarized};

/// Returns the messages that the lines with `words` lead to.
fn links(sent: &SandboxMessage, words: &str) -> Vec<MessageId> {
    let units: Vec<u16> = sent.text.encode_utf16().collect();
    let link = |entity: &chime_core::Entity| {
        let EntityKind::TextLink { url } = &entity.kind else { return None };
        let before = String::from_utf16_lossy(&units[..entity.offset]);
        let line = sent.text.lines().nth(before.matches('\n').count()).unwrap_or_default();
        line.contains(words).then(|| MessageId(url.rsplit('/').next().and_then(|id| id.parse().ok()).expect("a link")))
    };
    sent.entities.iter().filter_map(link).collect()
}

/// Returns the part of a list before the items that are done.
fn open_part<'a>(list: &'a SandboxMessage, done: &str) -> &'a str {
    list.text.split(done).next().unwrap_or_default()
}

/// Returns the last prompt of an answer.
fn last_prompt(w: &World) -> String {
    let prompts = w.model.requests().into_iter().map(|request| request.to_string());
    prompts.rev().find(|prompt| prompt.contains("It is now ")).expect("a question")
}

/// Returns `true` if a list says that it is in the members' own words.
fn is_in_own_words(list: &SandboxMessage) -> bool {
    ["eng", "deu", "rus"].iter().any(|code| list.text.contains(&texts(code).recap.own_words))
}

async fn press(w: &World, list: &SandboxMessage, name: &str, label: &str) -> SandboxMessage {
    let (before, data) = (w.telegram.cursor(), data_of(list, label));
    let pressed = w.telegram.press(w.chat, list.id, w.member(name), &data);
    assert_eq!(outcome(w, before, &pressed).await, None);
    w.telegram.message(w.chat, list.id).expect("it is there")
}

/// A talk in one language: a decision, a promise, a question that nobody answers, and a day later the promise kept.
struct Talk {
    decision: &'static str,
    task: &'static str,
    question: &'static str,
    kept: &'static str,
    /// Other messages, so that the session is worth a summary.
    around: [&'static str; 2],
    ask_decisions: &'static str,
    ask_open: &'static str,
    ask_own: &'static str,
    /// Words of the items, and the heading of those that are done.
    words: [&'static str; 3],
    done: &'static str,
}

const TALKS: [Talk; 3] = [
    Talk {
        decision: "we decided: the red tent comes along to the lake, not the green tent",
        task: "I'll order the firewood from the sawmill by Friday",
        question: "does anybody know whether the campsite allows dogs?",
        kept: "I ordered the firewood, the sawmill delivers on Thursday",
        around: [
            "the green tent has a hole near the door since the storm in May",
            "and it takes two people to carry it",
        ],
        ask_decisions: "@bot what did we decide about the tent?",
        ask_open: "@bot what is still open?",
        ask_own: "@bot what do I have to do?",
        words: ["red tent", "firewood", "campsite"],
        done: "Done recently",
    },
    Talk {
        decision: "wir haben entschieden: das rote Zelt kommt mit an den See, nicht das grüne Zelt",
        task: "ich bestelle das Brennholz beim Sägewerk bis Freitag, mach ich gern",
        question: "weiß jemand, ob der Zeltplatz Hunde erlaubt?",
        kept: "das Brennholz beim Sägewerk ist bestellt, sie liefern am Donnerstag",
        around: [
            "das grüne Zelt hat seit dem Sturm im Mai ein Loch neben der Tür",
            "und man braucht zwei Leute zum Tragen",
        ],
        ask_decisions: "@bot was haben wir zum Zelt entschieden?",
        ask_open: "@bot welche Aufgaben sind offen?",
        ask_own: "@bot was muss ich noch tun?",
        words: ["rote Zelt", "Brennholz", "Zeltplatz"],
        done: "Kürzlich erledigt",
    },
    Talk {
        decision: "мы решили: на озеро едет красная палатка, а не зелёная палатка",
        task: "я закажу дрова на лесопилке до пятницы, это я беру на себя",
        question: "кто-нибудь знает, можно ли в кемпинг с собаками?",
        kept: "дрова на лесопилке заказал, привезут в четверг утром",
        around: ["у зелёной палатки дыра около двери после майской грозы", "и нести её приходится вдвоём, она тяжёлая"],
        ask_decisions: "@bot что мы решили насчёт палатки?",
        ask_open: "@bot какие задачи ещё не сделаны?",
        ask_own: "@bot что мне нужно сделать?",
        words: ["красная палатка", "дрова", "кемпинг"],
        done: "Недавно сделано",
    },
];

/// Has the members talk. Returns the ids of the decision, the task and the question.
async fn first_talk(w: &World, talk: &Talk) -> [MessageId; 3] {
    w.say("cat", talk.around[0]);
    w.say("bob", talk.around[1]);
    let said = [w.say("ann", talk.decision), w.say("bob", talk.task), w.say("cat", talk.question)];
    w.settled().await;
    w.clock.advance(2 * HOUR);
    said
}

#[tokio::test]
async fn without_a_model_items_are_the_members_own_words_until_the_talk_says_they_are_done() {
    for talk in &TALKS {
        World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
            let said = first_talk(w, talk).await;
            until_summarized(w, 1).await;
            let ask = w.say("dan", "/decisions");
            let decisions = w.answer_to(ask).await;
            assert_eq!(links(&decisions, talk.words[0]), [said[0]], "{}", decisions.text);
            assert!(!decisions.text.contains(talk.words[1]), "{}", decisions.text);
            let ask = w.say("dan", "/open");
            let open = w.answer_to(ask).await;
            assert_eq!(links(&open, talk.words[1]), [said[1]], "{}", open.text);
            assert_eq!(links(&open, talk.words[2]), [said[2]], "{}", open.text);
            assert!(is_in_own_words(&open), "{}", open.text);
            for (ask, word) in [(talk.ask_decisions, talk.words[0]), (talk.ask_open, talk.words[1])] {
                let asked = w.say("dan", ask);
                let answer = w.answer_to(asked).await;
                assert!(answer.text.contains(word), "{ask}: {}", answer.text);
            }
            // The promise is kept in a later session, and somebody else answers the question there.
            w.clock.advance(DAY);
            w.say("bob", talk.kept);
            w.reply("ann", said[2], talk.around[1]);
            w.say("cat", talk.around[0]);
            w.settled().await;
            w.clock.advance(2 * HOUR);
            // The tags between them belong to the second one.
            until_summarized(w, 2).await;
            let ask = w.say("dan", "/open");
            let open = w.answer_to(ask).await;
            let before = open_part(&open, talk.done);
            assert!(!before.contains(talk.words[1]) && !before.contains(talk.words[2]), "{}", open.text);
            assert!(open.text.contains(talk.done) && !links(&open, talk.words[1]).is_empty(), "{}", open.text);
        })
        .await;
    }
}

#[tokio::test]
async fn without_a_model_a_member_without_tasks_is_told_so_with_the_talk_that_names_them() {
    for (talk, code, named) in [
        (&TALKS[0], "eng", "dan has the key of the hut, it hangs on his bike"),
        (&TALKS[1], "deu", "dan hat den Schlüssel der Hütte, er hängt an seinem Rad"),
        (&TALKS[2], "rus", "dan взял ключ от домика, он висит на велосипеде"),
    ] {
        World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
            first_talk(w, talk).await;
            until_summarized(w, 1).await;
            let none = &texts(code).digest.no_own_task;
            let asked = w.say("dan", talk.ask_own);
            let answer = w.answer_to(asked).await.text;
            assert_eq!(&answer, none);
            let asked = w.say("bob", talk.ask_own);
            let answer = w.answer_to(asked).await.text;
            assert!(answer.contains(talk.words[1]) && !answer.contains(none), "{answer}");
            w.say("ann", named);
            let asked = w.say("dan", talk.ask_own);
            let answer = w.answer_to(asked).await.text;
            assert!(answer.starts_with(none) && answer.contains(named) && !answer.contains(talk.words[0]), "{answer}");
        })
        .await;
    }
}

#[tokio::test]
async fn without_a_model_items_are_listed_before_the_talk_has_a_summary() {
    for talk in &TALKS {
        World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
            w.say("cat", talk.around[0]);
            let said = [w.say("ann", talk.decision), w.say("bob", talk.task), w.say("cat", talk.question)];
            w.reply("bob", said[0], talk.around[1]);
            let ask = w.say("dan", "/recap 3d");
            let recap = w.answer_to(ask).await;
            assert_eq!(links(&recap, talk.words[0]), [said[0]], "{}", recap.text);
            let ask = w.say("dan", "/decisions");
            let decisions = w.answer_to(ask).await;
            assert_eq!(links(&decisions, talk.words[0]), [said[0]], "{}", decisions.text);
            let ask = w.say("dan", "/open");
            let open = w.answer_to(ask).await;
            assert_eq!(links(&open, talk.words[1]), [said[1]], "{}", open.text);
            assert_eq!(links(&open, talk.words[2]), [said[2]], "{}", open.text);
            let after = press(w, &open, "bob", "1").await;
            assert!(!open_part(&after, talk.done).contains(talk.words[1]), "{}", after.text);
            let asked = w.say("dan", talk.ask_decisions);
            let answer = w.answer_to(asked).await;
            assert!(answer.text.contains(talk.words[0]), "{}", answer.text);
            // Neither a list nor an answer keeps what is forgotten.
            let forget = w.reply("ann", said[0], "/forget");
            w.answer_to(forget).await;
            let ask = w.say("dan", "/decisions");
            assert!(!w.answer_to(ask).await.text.contains(talk.words[0]));
            w.settled().await;
            let kept = w.all_stored(w.chat).await;
            assert!(!kept.iter().any(|one| one.message.text.contains(talk.words[0])));
        })
        .await;
    }
}

#[tokio::test]
async fn summaries_in_place_of_recent_mark_no_tasks() {
    World::with(&[ON], async |w| {
        let talk = &TALKS[0];
        first_talk(w, talk).await;
        until_summarized(w, 1).await;
        w.settled().await;
        // As long as sessions wait for their summary, for example after an import, there is no Recent.
        let conn = Connection::open(w.database()).expect("the database");
        conn.execute("DELETE FROM rolling_summary", []).expect("a row");
        w.model.always("Fine.");
        let tag = w.say("dan", "@bot hello, how are you?");
        w.answer_to(tag).await;
        let prompt = last_prompt(w);
        let line = prompt.split("\\n").find(|line| line.starts_with("[s") && line.contains(talk.words[1]));
        let line = line.expect("a line of the summary");
        assert!(!line.contains("· task]"), "it may be done or over: {line}");
    })
    .await;
}

/// Scripts a model that finds a decision, a task and a question in the first session, and in the second that the task
/// is done. It answers questions with what the prompt has.
fn improvise(w: &World) {
    w.model.improvise(|request| {
        let prompt = request["messages"].to_string();
        let talk = TALKS.iter().find(|talk| prompt.contains(talk.around[0])).unwrap_or(&TALKS[0]);
        if request["response_format"]["json_schema"]["name"] == "tags" {
            return Reply::text(
                r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"wood","conf":0.8},{"tag":"lake","conf":0.7}]}"#,
            );
        }
        if !prompt.contains("8–15 concise bullet points") {
            let found = talk.words.iter().filter(|word| prompt.contains(**word)).copied().collect::<Vec<_>>();
            return Reply::text(format!("- {} [m3, m4, m5]", found.join(" - ")));
        }
        let number = |words: &str| {
            let before = prompt.find(words).map(|at| &prompt[..at])?;
            let number = before[before.rfind("[m")? + 2..].split(|c: char| !c.is_ascii_digit()).next()?;
            Some(number.to_owned())
        };
        let line = |kind: &str, words: &str| Some(format!("- {kind}{words} [m{}]", number(words)?));
        let lines = match (number(talk.kept), number(&format!("open task] {}", talk.task))) {
            (Some(kept), Some(open)) => vec![Some(format!("- done: {} [m{kept}, m{open}]", talk.kept))],
            _ => vec![
                line("decision: ", talk.decision),
                line("**Task:** ", talk.task),
                line("question: ", talk.question),
                line("", talk.around[0]),
            ],
        };
        Reply::text(lines.into_iter().flatten().collect::<Vec<_>>().join("\n"))
    });
}

#[tokio::test]
async fn with_a_model_items_are_listed_closed_by_later_summaries_and_known_to_answers() {
    for talk in &TALKS {
        World::with(&[ON], async |w| {
            improvise(w);
            let tag = w.say("dan", "@bot which tent?");
            w.answer_to(tag).await;
            let said = first_talk(w, talk).await;
            w.quiet(HOUR).await;
            let ask = w.say("dan", "/open");
            let open = w.answer_to(ask).await;
            assert_eq!(links(&open, talk.words[1]), [said[1]], "{}", open.text);
            assert_eq!(links(&open, talk.words[2]), [said[2]], "{}", open.text);
            let asked = w.say("dan", talk.ask_open);
            w.answer_to(asked).await;
            let prompt = last_prompt(w);
            assert!(prompt.contains("· task]") && prompt.contains("· question]"), "{prompt}");
            for (name, has_task) in [("bob", true), ("dan", false)] {
                let asked = w.say(name, talk.ask_own);
                w.answer_to(asked).await;
                let prompt = last_prompt(w);
                assert_eq!((prompt.contains("· task]"), prompt.contains("· question]")), (has_task, false), "{prompt}");
            }
            let asked = w.say("dan", talk.ask_decisions);
            w.answer_to(asked).await;
            assert!(last_prompt(w).contains("· decision]"));
            w.quiet(DAY).await;
            w.say("bob", talk.kept);
            for text in [talk.around[0], talk.around[1], talk.decision, talk.ask_open] {
                w.say("cat", text.trim_start_matches("@bot "));
            }
            w.quiet(3 * HOUR).await;
            let ask = w.say("dan", "/open");
            let open = w.answer_to(ask).await;
            let before = open_part(&open, talk.done);
            assert!(!before.contains(talk.words[1]) && before.contains(talk.words[2]), "{}", open.text);
            // What the talk has closed wrongly is opened again.
            let again = press(w, &open, "ann", "↩ 2").await;
            assert!(open_part(&again, talk.done).contains(talk.words[1]), "{}", again.text);
            // A member's own words stand beside what a model wrote.
            w.say("ann", talk.task);
            let ask = w.say("dan", "/open");
            let open = w.answer_to(ask).await;
            assert_eq!(links(&open, talk.words[1]).len(), 2, "{}", open.text);
            assert!(!is_in_own_words(&open), "{}", open.text);
        })
        .await;
    }
}

/// Also where both talks were summarized without a model first.
#[tokio::test]
async fn a_decision_that_a_later_talk_replaces_is_no_longer_listed() {
    World::with(&[ON], async |w| {
        w.model.improvise(|request| {
            let prompt = request["messages"].to_string();
            if request["response_format"]["json_schema"]["name"] == "tags" {
                return Reply::text(r#"{"tags":[{"tag":"fete","conf":0.9}]}"#);
            }
            let number = |words: &str| {
                let before = prompt.find(words).map(|at| &prompt[..at])?;
                before[before.rfind("[m")? + 2..].split(|c: char| !c.is_ascii_digit()).next()
            };
            let line =
                match (number("] Saturday the 13th"), number("] no, Sunday"), number("earlier decision] the fete")) {
                    (Some(new), None, _) => format!("decision: the fete is on Saturday the 13th [m{new}]"),
                    (_, Some(new), Some(old)) => format!("decision: the fete is on Sunday the 14th [m{new}, m{old}]"),
                    _ => "the fete is in June [m1, m2, m3]".to_owned(),
                };
            Reply::text(format!("- {line}"))
        });
        for day in
            ["Saturday the 13th from three o'clock suits the whole garden", "no, Sunday the 14th, for the church"]
        {
            w.say("ann", "which day suits you for the summer fete in the garden behind the church?");
            w.say("bob", day);
            w.say("cat", "fine, then the fete has a day and the posters can go to the printer");
            w.say("ann", "the band of the fire brigade wants two months of notice, so I write to them this evening");
            w.quiet(DAY).await;
        }
        until_summarized(w, 2).await;
        assert_eq!(w.model.requests().len(), 0);
        let tag = w.say("dan", "@bot hello?");
        w.answer_to(tag).await;
        w.quiet(HOUR).await;
        let ask = w.say("dan", "/decisions");
        let listed = w.answer_to(ask).await.text;
        assert!(listed.contains("Sunday the 14th") && !listed.contains("Saturday"), "{listed}");
    })
    .await;
}

#[tokio::test]
async fn without_a_model_only_what_was_decided_about_the_subject_is_shown() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        for text in [
            "we decided: the red tent comes along to the lake",
            "we decided: dinner is at the harbour on Sunday",
            "the boat has a new sail, 45 square metres of it",
        ] {
            w.say("ann", text);
        }
        w.settled().await;
        let asked = w.say("dan", "@bot what did we decide about the sail?");
        let about_sail = w.answer_to(asked).await.text;
        assert!(about_sail.contains("new sail"), "it was no decision, but the chat spoke of it: {about_sail}");
        for (ask, shown, hidden) in [
            ("@bot what did we decide about the tent?", "red tent", "dinner"),
            ("@bot what did we decide?", "dinner", "new sail"),
        ] {
            let tag = w.say("dan", ask);
            let answer = w.answer_to(tag).await.text;
            assert!(answer.contains(shown) && !answer.contains(hidden), "{ask} {answer}");
        }
    })
    .await;
}

#[tokio::test]
async fn decisions_are_listed_since_a_day() {
    for (talk, code, yesterday) in
        [(&TALKS[0], "eng", "since yesterday"), (&TALKS[1], "deu", "seit gestern"), (&TALKS[2], "rus", "с вчера")]
    {
        World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
            let date = Zone::UTC.local(w.clock.now()).date_naive();
            first_talk(w, talk).await;
            until_summarized(w, 1).await;
            let is_listed = async |w: &mut World, since: &str| {
                let ask = w.say("dan", &format!("/decisions {since}"));
                let shown = w.answer_to(ask).await.text;
                assert!(shown.contains(talk.words[0]) || shown == texts(code).items.no_decisions, "{since}: {shown}");
                shown.contains(talk.words[0])
            };
            assert!(is_listed(w, yesterday).await);
            w.clock.advance(3 * DAY);
            assert!(!is_listed(w, yesterday).await);
            assert!(is_listed(w, &date.to_string()).await && is_listed(w, "").await);
            let ask = w.say("dan", "/decisions xyzzy");
            assert_eq!(w.answer_to(ask).await.text, texts(code).items.how);
        })
        .await;
    }
}

#[tokio::test]
async fn a_button_marks_an_item_as_done_and_opens_it_again() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        let talk = &TALKS[0];
        first_talk(w, talk).await;
        until_summarized(w, 1).await;
        let ask = w.say("dan", "/open");
        let open = w.answer_to(ask).await;
        let after = press(w, &open, "cat", "1").await;
        assert!(!open_part(&after, talk.done).contains(talk.words[1]), "{}", after.text);
        assert!(after.text.contains(talk.done), "{}", after.text);
        let again = press(w, &after, "bob", "↩ 2").await;
        assert_eq!(open_part(&again, talk.done), again.text, "nothing is done");
        assert!(again.text.contains(talk.words[1]), "{}", again.text);
        // Where only admins may tag the bot, only they may press.
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let asked = w.telegram.say(w.chat, Post::new(eve, "/settings@bot", w.clock.now()));
        let panel = w.answer_to(asked).await;
        let pressed = w.telegram.press(w.chat, panel.id, eve, &data_of(&panel, "Only admins"));
        w.settled().await;
        assert!(!pressed.is_empty());
        let (before, data) = (w.telegram.cursor(), data_of(&again, "1"));
        let pressed = w.telegram.press(w.chat, again.id, w.member("cat"), &data);
        assert!(outcome(w, before, &pressed).await.is_some());
    })
    .await;
}

#[tokio::test]
async fn forgetting_and_opting_out_reach_items_and_lists() {
    World::with(&[ON, NO_MODEL[0], NO_MODEL[1]], async |w| {
        let talk = &TALKS[0];
        let said = first_talk(w, talk).await;
        until_summarized(w, 1).await;
        let ask = w.say("dan", "/decisions");
        assert!(w.answer_to(ask).await.text.contains(talk.words[0]));
        let ask = w.say("dan", "/open");
        let open = w.answer_to(ask).await;
        press(w, &open, "cat", "1").await;
        let forget = w.reply("ann", said[0], "/forget");
        w.answer_to(forget).await;
        w.settled().await;
        let kept = w.all_stored(w.chat).await;
        assert!(!kept.iter().any(|one| one.message.text.contains(talk.words[0])), "neither the message nor the list");
        let out = w.say("bob", "/optout");
        w.answer_to(out).await;
        w.clock.advance(3 * HOUR);
        w.settled().await;
        for command in ["/decisions", "/open"] {
            let ask = w.say("dan", command);
            let shown = w.answer_to(ask).await;
            assert!(!shown.text.contains(talk.words[0]) && !shown.text.contains(talk.words[1]), "{}", shown.text);
        }
        let forget = w.say("bob", "/forget me");
        w.answer_to(forget).await;
        w.settled().await;
        let chat = w.chat;
        let marks = w
            .read_store(move |conn| {
                let key = chats::find(conn, chat)?.map_or(chime_core::ChatKey(0), |row| row.key);
                item_marks::done(conn, key, None)
            })
            .await;
        assert_eq!(marks.keys().collect::<Vec<&Seq>>(), Vec::<&Seq>::new());
    })
    .await;
}

#[tokio::test]
async fn a_recap_groups_its_points_by_kind() {
    World::run(async |w| {
        let post = |name: &str, text: &str| w.telegram.say(w.chat, Post::new(w.member(name), text, w.clock.now()));
        let said = [
            post("ann", "the ferry leaves at 7:15 from the northern harbour"),
            post("bob", "we take the red tent, agreed"),
            post("cat", "I bring the grill"),
        ];
        w.settled().await;
        let mut seqs = Vec::new();
        for id in said {
            seqs.push(w.stored(w.chat, id).await.expect("it is stored").seq);
        }
        let points = format!(
            "- The ferry leaves at 7:15 [m{}]\n- task: {{u3}} brings the grill [m{}]\n- decision: the red tent [m{}]",
            seqs[0], seqs[2], seqs[1]
        );
        w.model.script([points.as_str()]);
        let ask = w.say("dan", "/recap 1h");
        let recap = w.answer_to(ask).await;
        let place = |words: &str| recap.text.find(words).unwrap_or_else(|| panic!("{words}: {}", recap.text));
        let order = ["Decisions", "red tent", "Tasks", "the grill", "Also", "The ferry"].map(place);
        assert!(order.is_sorted(), "{}", recap.text);
    })
    .await;
}
