//! Recaps for members who were away.

use std::time::Duration;

use chime_core::{EntityKind, MessageId, Timestamp, UserId, Zone};
use chime_sandbox::faults::Fault;
use chime_sandbox::{ChatMemberStatus, NewChat, NewMember, Post, SandboxMessage};
use chime_store::recaps;
use chime_testkit::Reply;
use chime_world::World;

const HOUR: Duration = Duration::from_secs(3600);
const MINUTE: Duration = Duration::from_secs(60);
const NO_MODEL: [(&str, &str); 2] = [("OPENAI_BASE_URL", ""), ("MODEL", "")];

/// Decisions of a day, with the number of small-talk messages before each.
const DECISIONS: [&str; 6] = [
    "we decided: the red tent comes along to the lake",
    "Bob pays the deposit of 410 for the campsite tomorrow",
    "the ferry leaves at 7:15 from the northern harbour",
    "Cat brings the grill and the charcoal",
    "nobody swims behind the buoy, that is settled",
    "we meet on Friday at 18:30 in front of the bakery",
];

/// Posts two hundred messages within ten hours. Returns the ids of the decisions.
async fn a_day(w: &World) -> Vec<MessageId> {
    let people = ["ann", "bob", "cat", "dan"];
    let mut decisions = Vec::new();
    for number in 0..200 {
        w.clock.advance(3 * MINUTE);
        let name = people[number % people.len()];
        let id = match (number % 33, DECISIONS.get(number / 33)) {
            (20, Some(decision)) => {
                let id = w.say(name, decision);
                decisions.push(id);
                id
            }
            _ => w.say(name, &format!("small talk number {number} about soup, rain and whatever else there was")),
        };
        assert!(id.0 > 0);
    }
    w.settled().await;
    decisions
}

/// Returns the messages that a text links to, each with the line of the link.
fn links(sent: &SandboxMessage) -> Vec<(MessageId, String)> {
    let units: Vec<u16> = sent.text.encode_utf16().collect();
    let mut found = Vec::new();
    for entity in &sent.entities {
        let EntityKind::TextLink { url } = &entity.kind else { continue };
        let id = url.rsplit('/').next().and_then(|id| id.parse().ok()).expect("a link to a message");
        let before = String::from_utf16_lossy(&units[..entity.offset]);
        let line = sent.text.lines().nth(before.matches('\n').count()).unwrap_or_default();
        found.push((MessageId(id), line.to_owned()));
    }
    found
}

async fn seq_of(w: &World, id: MessageId) -> u32 {
    w.stored(w.chat, id).await.expect("it is stored").seq.0
}

#[tokio::test]
async fn a_day_of_two_hundred_messages_in_which_every_link_leads_to_the_message_that_says_it() {
    World::run(async |w| {
        let decisions = a_day(w).await;
        let mut points = vec!["- They agreed to sail to Paris [m1]".to_owned(), "- Nobody knows".to_owned()];
        for (decision, id) in DECISIONS.iter().zip(&decisions) {
            let seq = seq_of(w, *id).await;
            // The second message is cited but does not support the point.
            points.push(format!("- {decision} [m{seq}, m{}]", seq + 1));
            points.push(format!("- {decision} [m9999]"));
        }
        let part = points.join("\n");
        let merged: Vec<String> =
            (1..).zip(DECISIONS).map(|(number, decision)| format!("- {decision} [m{number}]")).collect();
        // Parts and one merge; the number of parts depends on the length of the day.
        w.model.script([Reply::text(&*part), Reply::text(&*part), Reply::text(merged.join("\n"))]);
        let ask = w.say("eve", "/recap 24h");
        let recap = w.answer_to(ask).await;
        assert!(
            recap.text.starts_with("Recap since ") && recap.text.contains("200 messages by 4 members"),
            "{}",
            recap.text
        );
        let links = links(&recap);
        assert_eq!(links.len(), DECISIONS.len(), "{}", recap.text);
        for (id, line) in links {
            let said = w.stored(w.chat, id).await.expect("it is there").message.text;
            assert!(line.contains(&said), "{line} leads to {said}");
        }
        assert!(!recap.text.contains("Paris") && !recap.text.contains("Nobody knows"), "{}", recap.text);
        let prompts = w.model.requests().len();
        assert_eq!(prompts, 3);
        assert!(!w.prompt(1).await.contains("· ann"), "members go out by number");

        // A recap is deleted with its sources.
        let forget = w.reply("ann", decisions[0], "/forget");
        let who = w.answer_to(forget).await;
        assert!(who.text.starts_with("Deleted") || who.text.starts_with("That message is not yours"), "{}", who.text);
    })
    .await;
}

#[tokio::test]
async fn what_a_model_puts_around_its_words_is_in_no_recap() {
    World::run(async |w| {
        let ids = w.play("10:00 ann#1 shall we take the red tent?\n10:01 bob#2>1 agreed, the red tent it is");
        w.settled().await;
        w.model.script(["- **Decision:** {u2} agreed to the `red` tent [m1-m2]"]);
        let ask = w.say("cat", "/recap 24h");
        let recap = w.answer_to(ask).await;
        assert!(recap.text.contains("Decisions\n\n• bob agreed to the red tent"), "{}", recap.text);
        assert_eq!(links(&recap).into_iter().map(|(id, _)| id).collect::<Vec<_>>(), ids, "{}", recap.text);
    })
    .await;
}

#[tokio::test]
async fn each_line_of_a_recap_has_one_time_in_parentheses() {
    for (code, text) in [("eng", "/recap 3d"), ("rus", "/recap 3d"), ("tur", "/recap 3d")] {
        World::with(&NO_MODEL, async |w| {
            let (asked, answered, decided) = match code {
                "rus" => (
                    "у кого ключ от подвала?",
                    "ключи у консьержки, я вчера отдал",
                    "Решили: шлагбаум ставим, по 2500 с квартиры",
                ),
                "tur" => (
                    "depo anahtarı kimde?",
                    "anahtar kapıcı Hasan Bey'de duruyor",
                    "Karar verildi: bariyer kurulacak, daire başı 2500",
                ),
                _ => (
                    "who has the cellar key?",
                    "the concierge has it since yesterday",
                    "Decided: we build the barrier, 2500 each",
                ),
            };
            let question = w.say("ann", asked);
            w.reply("bob", question, answered);
            w.say("ann", decided);
            let ask = w.say("cat", text);
            let recap = w.answer_to(ask).await.text;
            assert!(recap.contains(decided), "{recap}");
            for line in recap.lines().filter(|line| line.starts_with('•')) {
                let (said, place) = line.rsplit_once(" (").expect("a time");
                assert!(!said.contains("UTC") && place.ends_with(')') && place.matches(':').count() == 1, "{line}");
            }
            assert!(recap.lines().next().is_some_and(|head| !head.contains("UTC:")), "{recap}");
        })
        .await;
    }
}

#[tokio::test]
async fn without_a_model_a_recap_is_made_of_the_messages_themselves() {
    World::with(&NO_MODEL, async |w| {
        a_day(w).await;
        let ask = w.say("eve", "/recap today");
        let today = w.answer_to(ask).await;
        let ask = w.say("eve", "/recap 1d");
        let recap = w.answer_to(ask).await;
        assert!(recap.text.contains("In the members' own words"), "{}", recap.text);
        for sent in [&today, &recap] {
            for (id, line) in links(sent) {
                let said = w.stored(w.chat, id).await.expect("it is there").message.text;
                assert!(line.contains(&said), "{line} leads to {said}");
            }
        }
        assert!(recap.text.contains("the red tent comes along") && recap.text.contains("18:30"), "{}", recap.text);
        let quiet = w.say("eve", "/recap what is this");
        let reply = w.answer_to(quiet).await.text;
        assert!(!reply.contains("what is this") && reply.contains(" /recap 2h, /recap today"), "{reply}");
    })
    .await;
}

#[tokio::test]
async fn a_recap_goes_with_a_message_that_it_shows_and_with_whoever_opts_out() {
    World::with(&NO_MODEL, async |w| {
        for (name, text) in
            [("ann", "we decided: the code of the shed is zqshed7xk"), ("bob", "we decided: bob buys zqrope7xk")]
        {
            w.say(name, text);
        }
        w.settled().await;
        let ask = w.say("eve", "/recap 2h");
        let recap = w.answer_to(ask).await;
        assert!(recap.text.contains("zqshed7xk") && recap.text.contains("zqrope7xk"), "{}", recap.text);
        w.settled().await;
        let out = w.say("bob", "/optout");
        w.answer_to(out).await;
        w.settled().await;
        let kept = w.all_stored(w.chat).await;
        let repeats = |word: &str| kept.iter().filter(|one| one.message.text.contains(word)).count();
        assert_eq!((repeats("zqshed7xk"), repeats("zqrope7xk")), (1, 1), "their own messages, and no recap");
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_a_recap_is_an_ask_and_one_to_another_command_is_none() {
    World::run(async |w| {
        let said = w.say("ann", "we decided: the red tent comes along to the lake");
        w.say("bob", "I pay the deposit of 410 for the campsite tomorrow");
        w.settled().await;
        w.model.script(["- {u1} decided on the red tent [m1]", "Bob pays it [source: m2]."]);
        let ask = w.reply("cat", said, "/recap");
        let recap = w.answer_to(ask).await;
        w.settled().await;
        let more = w.reply("cat", recap.id, "and who pays?");
        assert!(w.answer_to(more).await.text.starts_with("Bob pays it [1]."));
        let prompt = w.prompt(2).await;
        assert!(prompt.contains("User is replying to this specific message") && prompt.contains("Recap"), "{prompt}");
        let topics = w.say("cat", "/topics");
        let listed = w.answer_to(topics).await;
        w.settled().await;
        w.reply("cat", listed.id, "ok then");
        w.settled().await;
    })
    .await;
}

#[tokio::test]
async fn who_wrote_only_just_now_is_told_what_came_since() {
    World::with(&NO_MODEL, async |w| {
        w.say("eve", "hello, may I ask something?");
        w.settled().await;
        w.clock.advance(Duration::from_secs(60));
        w.say("ann", "we decided: the red tent comes along to the lake");
        w.say("bob", "I pay the deposit of 410 for the campsite tomorrow");
        w.settled().await;
        let ask = w.say("eve", "/recap since I was here");
        assert!(w.answer_to(ask).await.text.contains("red tent"));
        let ask = w.say("zoe", "/recap since I was here");
        assert!(w.answer_to(ask).await.text.starts_with("I don't know of anything you wrote here before."));
    })
    .await;
}

#[tokio::test]
async fn who_opted_out_gets_the_recap_that_they_ask_for() {
    World::with(&NO_MODEL, async |w| {
        let out = w.say("eve", "/optout");
        w.answer_to(out).await;
        w.settled().await;
        w.clock.advance(HOUR);
        w.say("ann", "we decided: the red tent comes along to the lake");
        w.say("bob", "I pay the deposit of 410 for the campsite tomorrow");
        w.settled().await;
        for asked in ["/recap 2h", "@bot what did I miss?", "/recap since I was here"] {
            let ask = w.say("eve", asked);
            let recap = w.answer_to(ask).await;
            assert!(recap.text.contains("red tent"), "{asked}: {}", recap.text);
            w.settled().await;
        }
    })
    .await;
}

#[tokio::test]
async fn what_one_member_missed_goes_to_them_in_private_where_they_allow_it() {
    World::with(&NO_MODEL, async |w| {
        let start = w.say("eve", "hello, I am off to the sauna");
        w.settled().await;
        w.clock.advance(2 * HOUR);
        w.say("ann", "we decided: the red tent comes along to the lake");
        w.say("bob", "I pay the deposit of 410 for the campsite tomorrow");
        w.settled().await;
        // There is no private chat, so the recap comes here.
        let ask = w.say("eve", "/recap since I was here");
        let here = w.answer_to(ask).await;
        assert!(here.text.contains("red tent") && here.text.contains("Start a private chat with me"), "{}", here.text);
        assert!(!here.text.contains("sauna") || start.0 > 0, "{}", here.text);

        let alone = w.telegram.add_chat(NewChat::private("eve"));
        let hello = w.say_in(alone, "eve", "/help");
        w.answer_to(hello).await;
        w.settled().await;
        w.clock.advance(2 * HOUR);
        w.say("ann", "the ferry leaves at 7:15 from the northern harbour");
        w.settled().await;
        let ask = w.say("eve", "@bot hey, what did I miss here?");
        let (first, second) = (w.next_sent().await, w.next_sent().await);
        let (private, pointer) = if first.chat == alone { (first, second) } else { (second, first) };
        assert_eq!((pointer.chat, pointer.reply_to), (w.chat, Some(ask)));
        assert_eq!(pointer.text, "I sent it to you in private.");
        assert!(private.chat == alone && private.text.contains("Recap of Friday table"), "{}", private.text);
        assert!(private.text.contains("ferry leaves") && !private.text.contains("red tent"), "{}", private.text);
        assert!(!private.text.contains("what did I miss"), "{}", private.text);
        // The same in another language, as a command.
        w.settled().await;
        w.clock.advance(2 * HOUR);
        w.say("bob", "the boat has to be back by noon on Sunday, says the man at the harbour");
        w.settled().await;
        w.say("eve", "/recap was hab ich verpasst");
        let (first, second) = (w.next_sent().await, w.next_sent().await);
        let private = if first.chat == alone { first } else { second };
        assert!(private.text.contains("back by noon") && !private.text.contains("ferry"), "{}", private.text);
    })
    .await;
}

#[tokio::test]
async fn what_who_blocked_the_bot_missed_comes_where_they_ask() {
    World::with(&NO_MODEL, async |w| {
        let alone = w.telegram.add_chat(NewChat::private("eve"));
        let hello = w.say_in(alone, "eve", "/help");
        w.answer_to(hello).await;
        w.say("eve", "hello, I am off to the sauna");
        w.settled().await;
        w.clock.advance(2 * HOUR);
        w.say("ann", "we decided: the red tent comes along to the lake");
        w.settled().await;
        // The bot does not know that it is blocked. The first typing action is in the group.
        let blocked = r#"{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}"#;
        w.telegram.fault("sendChatAction", Fault::Status(403, blocked.to_owned()), 2);
        let ask = w.say("eve", "/recap since I was here");
        let here = w.answer_to(ask).await;
        assert!(here.text.contains("red tent") && here.text.contains("Start a private chat with me"), "{}", here.text);
    })
    .await;
}

/// Returns the hour before the next change of clocks in `zone`.
pub fn next_change(zone: Zone, from: Timestamp) -> Timestamp {
    let mut at = from;
    while zone.ahead_secs(at) == zone.ahead_secs(at.plus(24 * HOUR)) {
        at = at.plus(24 * HOUR);
    }
    while zone.ahead_secs(at) == zone.ahead_secs(at.plus(HOUR)) {
        at = at.plus(HOUR);
    }
    at
}

#[tokio::test]
async fn a_subscription_keeps_its_hour_over_a_change_of_clocks_and_sends_none_twice() {
    let zone = Zone::parse("Europe/Berlin").expect("a zone");
    World::with(&[NO_MODEL[0], NO_MODEL[1], ("TIME_ZONE", "Europe/Berlin"), ("RETENTION_DAYS", "0")], async |w| {
        let dan = w.telegram.add_member(w.chat, NewMember::named("dan").status(ChatMemberStatus::Administrator));
        let change = next_change(zone, w.clock.now());
        // The evening before the change.
        let evening = zone.local(change).date_naive().pred_opt().and_then(|day| day.and_hms_opt(18, 0, 0));
        let first = zone.moment(evening.expect("an evening"));
        w.clock.advance(first.minus(2 * HOUR).since(w.clock.now()));
        let no = w.say("ann", "/recap daily 18:00");
        assert_eq!(w.answer_to(no).await.text, "Only admins can change the recaps of this chat.");
        let subscribe = w.telegram.say(w.chat, Post::new(dan, "/recap daily 18:00", w.clock.now()));
        let shown = w.answer_to(subscribe).await;
        assert!(shown.text.contains("daily at 18:00 (Europe/Berlin)"), "{}", shown.text);
        w.say("ann", "we decided: the red tent comes along to the lake");
        w.settled().await;

        w.clock.advance(first.plus(MINUTE).since(w.clock.now()));
        let recap = w.next_sent().await;
        assert!(recap.text.contains("red tent") && recap.reply_to.is_none(), "{}", recap.text);
        w.restart().await;
        w.settled().await;
        w.say("bob", "the ferry leaves at 7:15 from the northern harbour");
        w.settled().await;

        // Twenty-three or twenty-five hours later it is 18:00 again.
        let second = zone.moment(
            zone.local(first).date_naive().succ_opt().and_then(|day| day.and_hms_opt(18, 0, 0)).expect("a day"),
        );
        assert_ne!(second.since(first), 24 * HOUR);
        w.clock.advance(second.minus(5 * MINUTE).since(w.clock.now()));
        w.settled().await;
        let key = w.all_stored(w.chat).await[0].chat;
        let since = w.read_store(move |conn| recaps::of_chat(conn, key)).await.expect("a subscription").since;
        assert_eq!(since, first, "not before 18:00");
        w.clock.advance(6 * MINUTE);
        let recap = w.next_sent().await;
        assert!(recap.text.contains("ferry") && !recap.text.contains("red tent"), "{}", recap.text);
        // No recap on a day without messages, and none after unsubscribing.
        w.clock.advance(24 * HOUR);
        w.until("the quiet day is over", move |conn| {
            Ok(recaps::of_chat(conn, key)?.is_some_and(|kept| kept.since > second))
        })
        .await;
        w.settled().await;
        let off = w.telegram.say(w.chat, Post::new(UserId(dan.0), "/recap off", w.clock.now()));
        assert_eq!(w.answer_to(off).await.text, "I will send no more recaps here on my own.");
        assert_eq!(w.read_store(move |conn| recaps::of_chat(conn, key)).await, None);
    })
    .await;
}

#[tokio::test]
async fn a_period_in_which_nothing_was_said_is_named() {
    World::offline(async |w| {
        let asked = w.say("eve", "/recap 2h");
        let reply = w.answer_to(asked).await.text;
        let two_hours_ago = Zone::UTC.clock_time(w.clock.now().minus(2 * HOUR));
        assert!(reply.contains("since") && reply.contains(&two_hours_ago), "{reply}");
    })
    .await;
}

#[tokio::test]
async fn a_summary_asked_for_in_plain_words_is_a_recap_where_there_is_no_model() {
    World::with(&NO_MODEL, async |w| {
        a_day(w).await;
        for ask in
            ["@bot summarize", "@bot fasse zusammen", "@bot résume la discussion", "@bot resumo", "@bot what's new?"]
        {
            let asked = w.say("eve", ask);
            let recap = w.answer_to(asked).await.text;
            assert!(recap.starts_with("Recap since ") && recap.contains("the red tent comes along"), "{ask}: {recap}");
        }
        let asked = w.say("eve", "@bot summarize");
        let recap = w.answer_to(asked).await;
        let why = w.reply("eve", recap.id, "/why");
        assert!(w.answer_to(why).await.text.starts_with("That is a recap"));
        let asked = w.say("eve", "@bot what did I miss since yesterday?");
        let recap = w.answer_to(asked).await.text;
        assert!(recap.starts_with("Recap since ") && recap.contains("the red tent comes along"), "{recap}");
    })
    .await;
    World::run(async |w| {
        w.say("ann", "we take the red tent");
        w.model.script(["Ann takes the red tent."]);
        let asked = w.say("eve", "@bot summarize");
        let answer = w.answer_to(asked).await.text;
        assert!(answer.starts_with("Ann takes the red tent [1]."), "the model answers: {answer}");
        assert!(w.prompt(1).await.contains("eve wants a summary of what was said above"));
    })
    .await;
}
