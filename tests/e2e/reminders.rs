//! Reminders: each one that is confirmed arrives once, in time or late.

use std::time::Duration;

use chime_core::texts::{filled, texts};
use chime_core::{ChatId, EntityKind, MessageId, Zone};
use chime_sandbox::faults::Fault;
use chime_sandbox::{ChatMemberStatus, NewChat, NewMember, Post, SandboxMessage};
use chime_store::reminders;
use chime_world::World;

use crate::faults::refused;
use crate::grounding::{data_of, outcome};
use crate::languages::{ENGLISH, GERMAN, SPANISH};
use crate::recap::next_change;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const NO_MODEL: [(&str, &str); 2] = [("OPENAI_BASE_URL", ""), ("MODEL", "")];

/// Returns the link below a reminder.
fn link(sent: &SandboxMessage) -> Option<MessageId> {
    let url = |kind: &EntityKind| match kind {
        EntityKind::TextLink { url } => url.rsplit('/').next().and_then(|id| id.parse().ok()).map(MessageId),
        _ => None,
    };
    sent.entities.iter().find_map(|entity| url(&entity.kind))
}

fn by_the_bot(w: &World, chat: ChatId) -> Vec<SandboxMessage> {
    w.telegram.messages(chat).into_iter().filter(|message| message.from == w.telegram.bot_id()).collect()
}

async fn count(w: &World) -> usize {
    w.read_store(|conn| {
        let rows = chime_store::chats::all(conn)?;
        rows.iter().try_fold(0, |sum, row| Ok(sum + reminders::of_chat(conn, row.key)?.len()))
    })
    .await
}

#[tokio::test]
async fn a_time_or_a_date_that_does_not_exist_is_refused_and_the_list_has_two_names() {
    World::with(&NO_MODEL, async |w| {
        for ask in [
            "/remind tomorrow at 25:00 test",
            "/remind el lunes a las 26 prueba",
            "@bot remind me tomorrow at 9:75",
            "/remind le 31 février à 9h dentiste",
            "@bot remind me on february 31 at 9 test",
        ] {
            let asked = w.say("ann", ask);
            let refused = w.answer_to(asked).await.text;
            assert!(refused.starts_with(&texts("eng").reminders.unreadable), "{ask}: {refused}");
        }
        assert_eq!(count(w).await, 0);
        let asked = w.say("ann", "/remind in 1 minute tea");
        w.answer_to(asked).await;
        let list = w.say("ann", "/remind list");
        let list = w.answer_to(list).await.text;
        assert!(list.starts_with(&texts("eng").reminders.head) && list.ends_with("tea"), "{list}");
        assert!(!list.contains("minute"), "{list}");
        w.clock.advance(MINUTE);
        let due = w.answer_to(asked).await.text;
        assert!(due.contains("tea") && !due.contains("minute"), "{due}");
    })
    .await;
}

#[tokio::test]
async fn a_reminder_of_a_closed_topic_comes_in_private() {
    World::with(&NO_MODEL, async |w| {
        let club = w.telegram.add_chat(NewChat::forum("Club"));
        let boats = w.telegram.create_topic(club, "Boats");
        let private = w.telegram.add_chat(NewChat::private("ann"));
        let hello = w.say_in(private, "ann", "/help");
        w.answer_to(hello).await;
        let remind = Post::new(w.member("ann"), "/remind in 1 minute tea", w.clock.now()).in_forum_topic(boats);
        let asked = w.telegram.say(club, remind);
        w.answer_to(asked).await;
        w.telegram.close_topic(club, boats);
        w.settled().await;
        // The new address is stored with the link, so both outlast a wait.
        w.telegram.fault("sendMessage", refused("TOPIC_CLOSED"), 1);
        w.telegram.fault("sendMessage", Fault::Throttle(1), 1);
        w.clock.advance(MINUTE);
        let due = w.next_sent().await;
        assert_eq!((due.chat, link(&due)), (private, Some(asked)));
        assert!(due.text.contains("tea"), "{}", due.text);
    })
    .await;
}

#[tokio::test]
async fn a_reminder_is_confirmed_sent_once_and_leads_to_where_it_began() {
    World::with(&[NO_MODEL[0], NO_MODEL[1], ("TIME_ZONE", "Europe/Berlin")], async |w| {
        let zone = Zone::parse("Europe/Berlin").expect("a zone");
        let tomorrow = zone.local(w.clock.now()).date_naive().succ_opt().and_then(|day| day.and_hms_opt(9, 0, 0));
        let due = zone.moment(tomorrow.expect("a day"));
        let began = w.say("bob", "somebody has to order the wood");
        let ask = w.reply("ann", began, "@bot remind us tomorrow at nine, please");
        let shown = w.answer_to(ask).await;
        assert!(shown.text.contains("09:00") && shown.text.contains("Europe/Berlin"), "{}", shown.text);
        assert!(shown.text.contains(&zone.local(due).format("%-d").to_string()), "{}", shown.text);
        assert!(shown.text.contains(&zone.local(due).format("%A").to_string()), "{}", shown.text);
        w.clock.advance(due.minus(MINUTE).since(w.clock.now()));
        w.settled().await;
        w.clock.advance(MINUTE);
        let sent = w.answer_to(ask).await;
        assert!(sent.text.contains("ann") && sent.text.contains("remind us tomorrow"), "{}", sent.text);
        assert!(!sent.text.contains("@bot"), "{}", sent.text);
        assert_eq!(link(&sent), Some(began));
        assert!(w.clock.now() < due.plus(MINUTE));
        w.clock.advance(24 * HOUR);
        w.settled().await;
        assert_eq!((by_the_bot(w, w.chat).len(), count(w).await), (2, 0));
    })
    .await;
}

#[tokio::test]
async fn an_edited_request_moves_its_reminder() {
    World::with(&NO_MODEL, async |w| {
        let ask = w.say("ann", "@bot remind us in 20 minutes to turn off the oven");
        w.answer_to(ask).await;
        w.telegram.edit(w.chat, ask, "@bot remind us in 40 minutes to turn off the oven", w.clock.now());
        let moved = w.answer_to(ask).await;
        assert!(moved.text.starts_with("I will remind you"), "{}", moved.text);
        let silent = w.telegram.cursor();
        // Telegram may deliver an edit twice.
        w.telegram.edit(w.chat, ask, "@bot remind us in 40 minutes to turn off the oven", w.clock.now());
        w.settled().await;
        w.clock.advance(21 * MINUTE);
        w.settled().await;
        assert_eq!((w.telegram.cursor(), count(w).await), (silent, 1));
        w.clock.advance(20 * MINUTE);
        let due = w.answer_to(ask).await;
        assert!(due.text.contains("in 40 minutes to turn off the oven"), "{}", due.text);
        let daily = w.say("ann", "@bot remind us every day at 8:00 to water the plants");
        w.answer_to(daily).await;
        w.clock.advance(24 * HOUR);
        w.answer_to(daily).await;
        w.telegram.edit(w.chat, daily, "@bot remind us every day at 10:00 to water the plants", w.clock.now());
        let moved = w.answer_to(daily).await;
        assert!(moved.text.contains("every day at 10:00"), "{}", moved.text);
        // Words without a time leave the reminder as it is.
        let ask = w.say("ann", "@bot remind us in 20 minutes to call");
        w.answer_to(ask).await;
        w.telegram.edit(w.chat, ask, "@bot remind us to call", w.clock.now());
        w.settled().await;
        assert_eq!(count(w).await, 2);
    })
    .await;
}

#[tokio::test]
async fn reminders_are_listed_and_cancelled_by_those_who_set_them_and_by_admins() {
    World::offline(async |w| {
        let ask = w.say("ann", "/remind in 20 minutes: turn off the oven");
        let shown = w.answer_to(ask).await;
        let daily = w.say("bob", "@bot remind us every day at 8:00 until 2099-01-01 to water the plants");
        w.answer_to(daily).await;
        let data = data_of(&shown, "Cancel");
        let before = w.telegram.cursor();
        let pressed = w.telegram.press(w.chat, shown.id, w.member("bob"), &data);
        assert!(outcome(w, before, &pressed).await.is_some(), "it is not bob's");
        let list = w.say("cat", "/reminders");
        let listed = w.answer_to(list).await;
        assert!(listed.text.contains("oven") && listed.text.contains("plants"), "{}", listed.text);
        let (first, second) = listed.text.split_once("2. ").expect("two reminders");
        assert!(second.contains(", daily at 08:00 – 1 Jan 2099: ") && !first.contains("daily"), "{}", listed.text);
        for ask in ["@bot which reminders are set?", "@bot annule le rappel du four"] {
            let asked = w.say("cat", ask);
            let again = w.answer_to(asked).await;
            assert_eq!((&again.text, &again.buttons), (&listed.text, &listed.buttons), "{ask}");
        }
        let asked = w.say("cat", "@bot cancel the oven reminder");
        let named = w.answer_to(asked).await.text;
        assert!(named.contains("oven") && !named.contains("plants"), "{named}");
        let before = w.telegram.cursor();
        let pressed = w.telegram.press(w.chat, shown.id, w.member("ann"), &data);
        assert_eq!(outcome(w, before, &pressed).await, None);
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let before = w.telegram.cursor();
        let pressed = w.telegram.press(w.chat, listed.id, eve, &data_of(&listed, "Cancel 2"));
        assert_eq!(outcome(w, before, &pressed).await, None);
        w.clock.advance(24 * HOUR);
        w.settled().await;
        assert_eq!((by_the_bot(w, w.chat).len(), count(w).await), (6, 0), "nothing is sent");
    })
    .await;
}

#[tokio::test]
async fn a_reminder_is_set_shown_and_cancelled_in_the_language_of_the_chat() {
    for (code, line, once, repeated, errand, other) in [
        (
            "eng",
            ENGLISH,
            "@bot remind us in two hours to order the firewood",
            "/remind every monday 9:00 until 1 June: water the tomatoes",
            "firewood",
            "tomatoes",
        ),
        (
            "deu",
            GERMAN,
            "@bot erinnere uns in zwei Stunden, das Brennholz zu bestellen",
            "/remind jeden Montag um 9:00 bis 1. Juni: die Tomaten gießen",
            "Brennholz",
            "Tomaten",
        ),
        (
            "spa",
            SPANISH,
            "@bot recuérdanos en dos horas pedir la leña",
            "/remind cada lunes a las 9:00 hasta el 1 de junio: regar los tomates",
            "leña",
            "tomates",
        ),
    ] {
        World::offline(async |w| {
            for _ in 0..12 {
                w.say("bob", line);
            }
            w.settled().await;
            let own = &texts(code).reminders;
            let begins = |text: &str| text.split('{').next().unwrap_or_default().to_owned();
            let asked = w.say("ann", once);
            let set = w.answer_to(asked).await.text;
            assert!(own.weekdays.iter().any(|day| set.contains(day)) && set.starts_with(&begins(&own.set)), "{set}");
            let weekly = w.say("bob", repeated);
            let set = w.answer_to(weekly).await;
            assert!(set.text.starts_with(&begins(&own.set_weekly)), "{}", set.text);
            assert!(set.text.contains(&begins(&own.last_day)) && set.text.contains("09:00"), "{}", set.text);
            let list = w.say("cat", "/reminders");
            let list = w.answer_to(list).await;
            assert!(list.text.starts_with(&own.head) && list.text.contains(errand), "{}", list.text);
            let data = data_of(&set, &own.cancel_button);
            for (name, expected) in [("cat", Some(own.only_theirs.as_str())), ("bob", None)] {
                let before = w.telegram.cursor();
                let pressed = w.telegram.press(w.chat, set.id, w.member(name), &data);
                assert_eq!(outcome(w, before, &pressed).await.as_deref(), expected, "{name}");
            }
            assert_eq!(w.telegram.message(w.chat, set.id).expect("it is there").text, own.cancelled);
            w.clock.advance(2 * HOUR);
            let sent = w.answer_to(asked).await.text;
            let due = filled(&own.due, &[("name", "ann"), ("words", "")]);
            assert!(sent.starts_with(&due) && sent.contains(errand) && !sent.contains(other), "{sent}");
            w.settled().await;
            let list = w.say("cat", "/reminders");
            assert_eq!(w.answer_to(list).await.text, own.none);
        })
        .await;
    }
}

#[tokio::test]
async fn a_demoted_admin_cancels_only_their_own_reminders() {
    World::offline(async |w| {
        let ask = w.say("ann", "@bot remind us in an hour to lock the boat");
        let shown = w.answer_to(ask).await;
        let eve = w.telegram.add_member(w.chat, NewMember::named("eve").status(ChatMemberStatus::Administrator));
        let asked =
            w.telegram.say(w.chat, Post::new(eve, "@bot remind us in 3 hours to fetch the keys", w.clock.now()));
        let own = w.answer_to(asked).await;
        w.telegram.add_member(w.chat, NewMember::named("eve"));
        for (shown, is_refused) in [(&shown, true), (&own, false)] {
            let before = w.telegram.cursor();
            let pressed = w.telegram.press(w.chat, shown.id, eve, &data_of(shown, "Cancel"));
            assert_eq!(outcome(w, before, &pressed).await.is_some(), is_refused);
        }
        assert_eq!(count(w).await, 1);
        w.clock.advance(HOUR);
        assert!(w.answer_to(ask).await.text.contains("lock the boat"));
    })
    .await;
}

#[tokio::test]
async fn a_question_that_names_no_time_is_answered() {
    World::run(async |w| {
        w.say("bob", "we order the wood from the mill");
        w.model.script(["From the mill.", "At the mill."]);
        for ask in ["@bot remind me what we decided about the wood?", "@bot remind me about the wood"] {
            let ask = w.say("ann", ask);
            assert!(w.answer_to(ask).await.text.contains("mill"));
        }
        let how = w.say("ann", "/remind me");
        assert!(w.answer_to(how).await.text.contains("/remind"));
        assert_eq!(count(w).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_reminder_for_a_past_time_is_refused_in_one_line() {
    World::offline(async |w| {
        w.say("bob", "we order the wood from the mill");
        for ask in
            ["@bot remind us on 2020-01-01 to order the wood", "@bot remind me yesterday", "/remind 2020-01-01 wood"]
        {
            let ask = w.say("ann", ask);
            let text = w.answer_to(ask).await.text;
            assert!(text.starts_with(&texts("eng").reminders.past) && text.contains("/remind"), "{text}");
        }
        // What would come only once is not confirmed.
        let ask = w.say("ann", "@bot remind us every two weeks at nine to order the wood");
        let own = &texts("eng").reminders;
        assert_eq!(w.answer_to(ask).await.text, format!("{} {}", own.unsupported, own.how));
        assert_eq!(count(w).await, 0);
    })
    .await;
}

#[tokio::test]
async fn clocks_that_change_in_spring_and_autumn_move_no_reminder() {
    let zone = Zone::parse("Europe/Berlin").expect("a zone");
    let settings = [NO_MODEL[0], NO_MODEL[1], ("TIME_ZONE", "Europe/Berlin"), ("RETENTION_DAYS", "0")];
    World::with(&settings, async |w| {
        for _ in 0..2 {
            let change = next_change(zone, w.clock.now());
            let eve = zone.local(change).date_naive().pred_opt().and_then(|day| day.and_hms_opt(12, 0, 0));
            let eve = zone.moment(eve.expect("a day"));
            w.clock.advance(eve.since(w.clock.now()));
            let ask = w.say("ann", "@bot remind me tomorrow at 9:00 to wind the clock");
            w.answer_to(ask).await;
            let due = zone.local(change).date_naive().and_hms_opt(9, 0, 0).map(|due| zone.moment(due)).expect("a time");
            assert_ne!(due.since(eve), 21 * HOUR);
            let known = by_the_bot(w, w.chat).len();
            w.clock.advance(due.minus(MINUTE).since(w.clock.now()));
            w.settled().await;
            assert_eq!(by_the_bot(w, w.chat).len(), known, "not before nine");
            w.clock.advance(MINUTE);
            let sent = w.answer_to(ask).await;
            assert!(sent.text.contains("wind the clock"));
            w.settled().await;
            w.clock.advance(2 * 24 * HOUR);
        }
    })
    .await;
}

#[tokio::test]
async fn a_restart_at_the_very_minute_loses_and_doubles_nothing() {
    World::offline(async |w| {
        let ask = w.say("ann", "@bot remind us in 20 minutes to call the harbour");
        w.answer_to(ask).await;
        w.settled().await;
        w.clock.advance(20 * MINUTE);
        w.restart().await;
        assert!(w.answer_to(ask).await.text.contains("harbour"));
        w.restart().await;
        w.clock.advance(HOUR);
        w.settled().await;
        assert_eq!(by_the_bot(w, w.chat).len(), 2);
        // After a downtime it comes late, with the time for which it was meant; missed times of a repetition come once.
        let daily = w.say("ann", "@bot remind us every day at 7:15 to feed the cat");
        w.answer_to(daily).await;
        w.settled().await;
        w.stop().await;
        w.clock.advance(5 * 24 * HOUR);
        w.start().await;
        let late = w.answer_to(daily).await;
        assert!(late.text.contains("07:15") && late.text.contains("feed the cat"), "{}", late.text);
        w.settled().await;
        assert_eq!((by_the_bot(w, w.chat).len(), count(w).await), (4, 1));
    })
    .await;
}

#[tokio::test]
async fn a_chat_with_a_new_id_gets_its_reminders_there() {
    World::offline(async |w| {
        let group = w.telegram.add_chat(NewChat::group("Allotment"));
        let ask = w.say_in(group, "ann", "@bot remind us in 2 hours to close the gate");
        w.answer_to(ask).await;
        w.settled().await;
        let new = w.telegram.migrate(group);
        w.say_in(new, "ann", "so this is the new place");
        w.settled().await;
        w.clock.advance(2 * HOUR);
        let sent = w.next_sent().await;
        assert!(sent.chat == new && sent.text.contains("close the gate"), "{sent:?}");
    })
    .await;
}

#[tokio::test]
async fn a_member_who_left_and_a_bot_that_was_away_are_no_reason_to_lose_a_reminder() {
    World::offline(async |w| {
        let ask = w.say("ann", "@bot remind us in an hour to lock the boat");
        w.answer_to(ask).await;
        let later = w.say("bob", "@bot remind us in 3 hours to fetch the keys");
        w.answer_to(later).await;
        w.telegram.add_member(w.chat, NewMember::named("ann").status(ChatMemberStatus::Left));
        w.clock.advance(HOUR);
        assert!(w.answer_to(ask).await.text.contains("lock the boat"));
        w.settled().await;
        w.telegram.kick_bot(w.chat);
        w.settled().await;
        w.clock.advance(5 * HOUR);
        w.settled().await;
        assert_eq!(count(w).await, 1, "it waits");
        let bob = w.member("bob");
        w.telegram.add_bot_to(w.chat, ChatMemberStatus::Member, bob);
        w.telegram.all_confirmed().await;
        w.clock.advance(MINUTE);
        assert!(w.next_sent().await.text.contains("fetch the keys"));
    })
    .await;
}

#[tokio::test]
async fn forgetting_and_opting_out_reach_reminders() {
    World::offline(async |w| {
        let gone = w.say("ann", "@bot remind us in an hour to sell the boat");
        w.answer_to(gone).await;
        let out = w.say("bob", "@bot remind us in an hour to paint the boat");
        w.answer_to(out).await;
        let forget = w.reply("ann", gone, "/forget");
        w.answer_to(forget).await;
        let optout = w.say("bob", "/optout");
        w.answer_to(optout).await;
        w.settled().await;
        assert_eq!(count(w).await, 0);
        let again = w.say("bob", "@bot remind us in an hour to paint the boat");
        w.answer_to(again).await;
        w.settled().await;
        let sent = by_the_bot(w, w.chat).len();
        w.clock.advance(2 * HOUR);
        w.settled().await;
        assert_eq!((by_the_bot(w, w.chat).len(), count(w).await), (sent, 0));
    })
    .await;
}

#[tokio::test]
async fn a_thousand_at_once_arrive_once_each_under_flood_limits() {
    const CHATS: usize = 10;
    const MEMBERS: usize = 5;
    World::with(&[NO_MODEL[0], NO_MODEL[1], ("RATE_LIMIT", "off")], async |w| {
        let chats: Vec<ChatId> =
            (0..CHATS).map(|n| w.telegram.add_chat(NewChat::supergroup(format!("Chat {n}")))).collect();
        for number in 0..1000 {
            let (chat, name) = (chats[number % CHATS], format!("member{}", number % (CHATS * MEMBERS)));
            w.say_in(chat, &name, &format!("/remind in 2 days: errand {number}e"));
            if number % 100 == 99 {
                w.settled().await;
            }
        }
        let full = w.say_in(chats[0], "member0", "/remind in 2 days: one too many");
        w.settled().await;
        let shown = by_the_bot(w, chats[0]).pop().expect("an answer");
        assert!(shown.reply_to == Some(full) && shown.text.contains("20"), "{shown:?}");
        // `quiet` moves the clock by a quarter of an hour while a chat is held, so the last ones wait for over an hour.
        w.telegram.limit_floods(20);
        let known: Vec<usize> = chats.iter().map(|chat| by_the_bot(w, *chat).len()).collect();
        w.clock.advance(48 * HOUR);
        w.quiet(HOUR).await;
        let mut sent: Vec<usize> = Vec::new();
        for (chat, known) in chats.iter().zip(known) {
            let errand = |text: &str| text.split("errand ").nth(1)?.split('e').next()?.parse::<usize>().ok();
            let texts = by_the_bot(w, *chat).into_iter().skip(known).map(|message| message.text);
            sent.extend(texts.map(|text| errand(&text).unwrap_or_else(|| panic!("{text}"))));
        }
        sent.sort_unstable();
        assert_eq!(sent, (0..1000).collect::<Vec<_>>());
        assert_eq!((w.telegram.ignored_waits(), count(w).await), (0, 0));
        w.ignore_what_was_sent();
    })
    .await;
}

#[tokio::test]
async fn a_clock_that_is_set_back_doubles_and_loses_nothing() {
    World::offline(async |w| {
        let soon = w.say("ann", "@bot remind us in 30 minutes to turn off the oven");
        w.answer_to(soon).await;
        let later = w.say("bob", "@bot remind us in 2 hours to fetch the bread");
        w.answer_to(later).await;
        w.clock.advance(30 * MINUTE);
        assert!(w.answer_to(soon).await.text.contains("oven"));
        w.settled().await;
        w.set_daemon_back(HOUR);
        w.clock.advance(HOUR);
        w.settled().await;
        assert_eq!(count(w).await, 1, "the one that came does not come again, the other waits");
        w.clock.advance(2 * HOUR);
        assert!(w.answer_to(later).await.text.contains("bread"));
        w.settled().await;
        w.clock.advance(3 * HOUR);
        w.settled().await;
        assert_eq!((by_the_bot(w, w.chat).len(), count(w).await), (4, 0));
    })
    .await;
}
