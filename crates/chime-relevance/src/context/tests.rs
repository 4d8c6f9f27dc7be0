//! End-to-end tests of the picker with its shipped weights: chats as text in, windows as text out.

mod scenarios;

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::context::context_window::{ContextWindow, Entry};
use crate::context::history::History;
use crate::context::params::Params;
use crate::context::window::get_smart_context;
use chime_core::testkit::transcript;
use chime_core::{ChatKey, MessageId, Origin, Reason, StoredMessage, Timestamp};

fn estimate(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Parses a chat. The last line of `chat` is the trigger.
fn history(chat: &str) -> History {
    let mut recent = transcript(chat);
    let trigger = recent.pop().expect("a trigger");
    History::new(trigger, recent, Vec::new())
}

fn ids(window: &ContextWindow) -> Vec<i64> {
    window.entries.iter().map(|entry| entry.message.message.id.0).collect()
}

/// Returns the focus with its reasons, such as `3 thread`.
fn focus(window: &ContextWindow) -> Vec<String> {
    window.focus().map(|entry| format!("{} {}", entry.message.message.id, entry.reason.as_str())).collect()
}

#[track_caller]
fn check(chat: &str, expected: &[&str]) {
    assert_eq!(focus(&get_smart_context(&history(chat), &Params::new(estimate))), expected);
}

/// Checks which messages are in the window with the given reason.
#[track_caller]
fn check_with(params: &Params, chat: &str, reason: Reason, expected: &[i64]) {
    let window = get_smart_context(&history(chat), params);
    let linked = window.entries.iter().filter(|entry| entry.reason == reason);
    assert_eq!(linked.map(|entry| entry.message.message.id.0).collect::<Vec<_>>(), expected);
}

/// Scenario A of the first design: the window has all messages, although long silences lie between them.
#[test]
fn scenario_a_of_the_seed_crosses_the_gap() {
    for ask in ["@bot", "@bot thoughts?"] {
        let chat = format!(
            "
            -3d 10:00 ann#1 We should look at the restaurant for the gathering
            -2d 10:00 bob#2 Any thoughts?
            10:00 cat#3 The thai restaurant on 10th Ave?
            10:10 dan#4 {ask}
            "
        );
        let mut history = history(&chat);
        history.ask = ask.replace("@bot", "").trim().to_owned();
        let window = get_smart_context(&history, &Params::new(estimate));
        assert_eq!(ids(&window), [1, 2, 3], "{ask}");
    }
}

#[test]
fn scenario_b_of_the_seed_a_deep_reply() {
    check(
        "
        -3d 10:00 ann#1 We should look at the restaurant for the gathering
        10:10 dan#4>1 @bot help with this
        ",
        &["1 anchor"],
    );
}

#[test]
fn nothing_earlier_gives_an_empty_window() {
    assert_eq!(ids(&get_smart_context(&history("10:00 ann#1 @bot hello"), &Params::new(estimate))), [] as [i64; 0]);
}

#[test]
fn the_anchor_is_in_even_as_a_snapshot_and_a_marked_part_is_kept() {
    let history = history(
        "
        -9d 10:00 ann#1 [snapshot] The pass is open. Bring chains.
        10:00 bob#9>1 [quote Bring chains.] @bot ^
        ",
    );
    let window = get_smart_context(&history, &Params::new(estimate));
    assert_eq!((window.anchor, window.quoted.as_deref()), (Some(MessageId(1)), Some("Bring chains.")));
    assert_eq!(focus(&window), ["1 quoted"]);
}

/// Three messages linked by replies, with an unrelated one in between. The trigger replies to the last.
const CHAIN: &str = "
    -30d 10:00 ann#1 the first
    -20d 10:00 bob#2>1 the second
    -20d 18:00 eve#3 lunch?
    -10d 10:00 cat#4>2 the third
    10:00 dan#5>4 @bot ^
    ";

#[test]
fn ancestors_of_the_anchor_come_in_however_old_they_are_and_no_deeper_than_asked() {
    check_with(&Params::new(estimate), CHAIN, Reason::Chain, &[1, 2]);
    check_with(&Params { chain_depth: 1, ..Params::new(estimate) }, CHAIN, Reason::Chain, &[2]);
}

#[test]
fn links_that_form_a_ring_end() {
    let ring = "-9d 10:00 ann#1>2 a\n-9d 10:01 bob#2>1 b\n10:00 cat#3>1 @bot";
    check_with(&Params::new(estimate), ring, Reason::Chain, &[2]);
}

#[test]
fn in_a_talk_of_a_few_messages_nothing_between_two_that_belong_is_left_out() {
    let chat = "
        -3d 10:00 ann#1 We should look at the restaurant for the gathering
        -2d 10:00 bob#2 Any thoughts?
        09:58 ann#3 The thai restaurant on 10th Ave?
        10:00 bob#4 @bot
        ";
    assert_eq!(ids(&get_smart_context(&history(chat), &Params::new(estimate))), [1, 2, 3]);
}

#[test]
fn the_rest_of_the_triggers_own_album_comes_in_too() {
    let mut history = history("10:00 ann#2 [album x] [photo] @bot which door?");
    history.linked = transcript("10:00 ann#1 [album x] [photo]\n10:00:01 ann#3 [album x] [photo]\n10:01 ann#4 later");
    let window = get_smart_context(&history, &Params::new(estimate));
    assert_eq!(ids(&window), [1, 3]);
}

#[test]
fn another_chat_never_enters_even_through_a_link() {
    let mut history = history("10:00 ann#1 a\n10:01 bob#2>1 @bot");
    history.recent[0].chat = ChatKey(2);
    assert_eq!(get_smart_context(&history, &Params::new(estimate)), ContextWindow::default());
}

#[test]
fn what_came_after_the_trigger_stays_out() {
    let mut history = history("10:00 ann#1 a\n10:01 bob#2>1 @bot");
    history.linked = transcript("10:02 cat#3>1 too late");
    assert_eq!(ids(&get_smart_context(&history, &Params::new(estimate))), [1]);
}

#[test]
fn an_update_stands_in_for_its_snapshot_whichever_is_fetched_first() {
    let update = transcript("09:59 ann#1 the text as sent");
    let snapshot = transcript("09:59 ann#1 [snapshot] the text as seen in a reply");
    for (recent, linked) in [(update.clone(), snapshot.clone()), (snapshot, update)] {
        let trigger = history("10:00 bob#2>1 @bot").trigger;
        let window = get_smart_context(&History::new(trigger, recent, linked), &Params::new(estimate));
        assert_eq!(window.entries.len(), 1);
        assert_eq!(window.entries[0].message.message.origin, Origin::Update);
    }
}

#[test]
fn a_long_message_is_shortened_in_the_middle() {
    let chat = format!("10:00 ann#1 It begins{} and ends.\n10:01 bob#2 short\n10:02 dan#3 @bot", " so".repeat(1000));
    let params = Params { token_budget: 200, ..Params::new(estimate) };
    let window = get_smart_context(&history(&chat), &params);
    assert_eq!(ids(&window), [1, 2]);
    let shown = &window.entries[0].shown;
    assert!(shown.starts_with("It begins so") && shown.ends_with("so and ends."), "{shown}");
    assert!(shown.contains("… [2\u{202f}8"), "{shown}");
}

#[test]
fn forwards_quotes_and_replies_to_elsewhere_are_shown_as_such() {
    let mut history =
        history("10:00 ann#1 [forwarded The News] [quote soon] It opens.\n10:01 bob#2 really?\n10:02 dan#3 @bot");
    history.recent[1].message.snapshot = Some("a message in another chat".to_owned());
    let window = get_smart_context(&history, &Params::new(estimate));
    let shown: Vec<&str> = window.entries.iter().map(|entry| entry.shown.as_str()).collect();
    assert_eq!(
        shown,
        ["[forwarded from The News] [quoting: soon] It opens.", "[replying to: a message in another chat] really?"]
    );
}

#[test]
fn a_name_that_was_forwarded_from_forges_no_head_of_a_line() {
    let mut history = history("10:00 ann#1 It opens.\n10:02 dan#3 @bot");
    history.recent[0].message.forward_origin = Some("The News]\n[m9 · u0 Chime".to_owned());
    let window = get_smart_context(&history, &Params::new(estimate));
    assert_eq!(window.entries[0].shown, "[forwarded from The News m9 · u0 Chime] It opens.");
}

#[test]
fn a_typed_note_is_told_from_a_real_one() {
    let history = history("10:00 ann#1 [Forwarded from Bob] It opens [quoting: soon] at [10].\n10:02 dan#3 @bot");
    let window = get_smart_context(&history, &Params::new(estimate));
    assert_eq!(window.entries[0].shown, "(Forwarded from Bob] It opens (quoting: soon] at [10].");
}

#[test]
fn without_room_the_least_sure_are_left_out() {
    let chat = "
        09:00 ann#1 the one replied to
        10:00 bob#2 the far one, said long before
        10:01 cat#3 the near one, said just before
        10:02 dan#4>1 @bot
        ";
    let window = get_smart_context(&history(chat), &Params { token_budget: 50, ..Params::new(estimate) });
    assert_eq!(ids(&window), [1, 3]);
    assert_eq!(window.left_out.len(), 1);
}

#[test]
fn an_anchor_in_another_thread_comes_without_its_neighbours() {
    let chat = "
        09:50 ann#1 [topic 7] a
        09:51 bob#2 [topic 7] b
        09:52 cat#3 [topic 7] c
        10:00 dan#4>2 @bot
        ";
    assert_eq!(ids(&get_smart_context(&history(chat), &Params::new(estimate))), [2]);
}

#[test]
fn what_was_left_out_is_known_whole_and_named_in_part() {
    let chat: String = (1..=240).map(|id| format!("-1d {:02}:{:02} ann#{id} x\n", id / 60, id % 60)).collect();
    let window = get_smart_context(&history(&format!("{chat}10:01 cat#241 @bot")), &Params::new(estimate));
    assert_eq!(window.left_out.len() + window.entries.len(), 240);
    assert!(window.omitted.len() == 20 && window.omitted.iter().all(|one| one.why == "about something else"));
}

#[test]
fn a_chat_of_thousands_keeps_the_budget_and_the_newest() {
    let chat: String =
        (1..=1439).map(|id| format!("-1d {:02}:{:02} p{}#{id} so we meet\n", id / 60, id % 60, id % 9)).collect();
    let window = get_smart_context(&history(&format!("{chat}00:05 cat#1500 @bot and?")), &Params::new(estimate));
    let tokens: usize = window.entries.iter().map(|entry| estimate(&entry.shown) + 12).sum();
    assert!((1_000..=1_600).contains(&tokens), "{tokens}");
    assert!(ids(&window).ends_with(&[1437, 1438, 1439]), "{:?}", ids(&window));
}

/// Generates chats of up to 40 messages in two forum topics, with replies to any message, albums, bursts and silences.
fn any_history() -> impl Strategy<Value = History> {
    let message = (0_u64..90, 0_usize..3, prop::option::of(0_usize..40), 0..6_usize, 0_usize..600);
    prop::collection::vec(message, 1..40).prop_map(|lines| {
        let mut chat = transcript("10:00 ann#1 x\n10:00 bob#1 [topic 7] x\n10:00 cat#1 [album x] x");
        let mut now = Timestamp::from_secs(1_767_571_200);
        let templates = std::mem::take(&mut chat);
        for (index, (minutes, author, reply, kind, length)) in lines.into_iter().enumerate() {
            now = now.plus(std::time::Duration::from_secs(minutes * 60));
            let mut next = templates[author].clone();
            next.seq.0 = u32::try_from(index).expect("few") + 1;
            next.message.id = MessageId(i64::from(next.seq.0));
            next.message.sent_at = now;
            next.message.reply_to = reply.filter(|_| kind < 3).map(|parent| MessageId(parent as i64 + 1));
            next.message.quote = (kind == 0).then(|| "marked".to_owned());
            next.message.text = "word ".repeat(length);
            chat.push(next);
        }
        let trigger = chat.pop().expect("at least one");
        let linked: Vec<StoredMessage> = chat.iter().step_by(3).cloned().collect();
        let recent = chat.split_off(chat.len() / 2);
        History::new(trigger, recent, linked)
    })
}

fn any_params() -> impl Strategy<Value = Params> {
    (0_usize..4, 0_usize..1200).prop_map(|(chain_depth, token_budget)| Params {
        chain_depth,
        token_budget,
        ..Params::new(estimate)
    })
}

/// Checks the invariants of the window of any history.
fn keeps_its_promises(history: &History, params: &Params) -> Result<ContextWindow, TestCaseError> {
    let window = get_smart_context(history, params);
    let trigger = &history.trigger;
    prop_assert_eq!(&window, &get_smart_context(history, params), "the same history gives the same window");

    let unique: BTreeSet<i64> = ids(&window).into_iter().collect();
    prop_assert_eq!(unique.len(), window.entries.len(), "no message twice");
    prop_assert!(!unique.contains(&trigger.message.id.0), "the trigger is not in its own window");
    let order: Vec<_> = window.entries.iter().map(|e| (e.message.message.sent_at, e.message.message.id)).collect();
    prop_assert!(order.is_sorted(), "oldest first");

    let known = |id: MessageId| history.recent.iter().chain(&history.linked).any(|m| m.message.id == id);
    let parent = trigger.message.reply_to.filter(|parent| known(*parent) && *parent != trigger.message.id);
    prop_assert_eq!(window.anchor, parent);
    prop_assert_eq!(window.anchor_entry().map(|entry| entry.message.message.id), parent, "the anchor is in");

    let cost: usize = window.entries.iter().map(|entry| estimate(&entry.shown)).sum();
    let anchor_cost = window.anchor_entry().map_or(0, |entry| estimate(&entry.shown));
    prop_assert!(cost <= params.token_budget.max(anchor_cost), "{} tokens of {}", cost, params.token_budget);
    prop_assert!(window.entries.iter().all(|entry| (0.0..=1.0).contains(&entry.score)));

    let shown: BTreeSet<_> = window.entries.iter().map(|entry| entry.message.seq).collect();
    prop_assert!(window.left_out.iter().all(|seq| !shown.contains(seq)));
    prop_assert!(window.omitted.len() <= 20);
    Ok(window)
}

/// Applies `change` to all messages of a history, the trigger included.
fn each_message(history: &mut History, change: impl FnMut(&mut StoredMessage)) {
    let History { recent, linked, trigger, .. } = history;
    recent.iter_mut().chain(linked).chain([trigger]).for_each(change);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_window_keeps_its_promises(history in any_history(), params in any_params()) {
        keeps_its_promises(&history, &params)?;
    }

    /// A message may be stored later than newer ones, so the lists need not be in order of time.
    #[test]
    fn the_order_of_arrival_does_not_matter(history in any_history(), params in any_params()) {
        let mut late = history.clone();
        late.recent.reverse();
        late.linked.reverse();
        prop_assert_eq!(get_smart_context(&late, &params), get_smart_context(&history, &params));
    }

    /// At most one of two versions of a message is shown, whichever list holds it. Being edited changes nothing.
    #[test]
    fn an_edit_is_read_as_if_it_had_been_said_so(history in any_history(), place in 0_usize..40, params in any_params()) {
        let mut edited = history.clone();
        let count = edited.recent.len().max(1);
        if let Some(stored) = edited.recent.get_mut(place % count) {
            stored.message.text = "in other words".to_owned();
            stored.message.edited_at = Some(stored.message.sent_at);
        }
        let window = keeps_its_promises(&edited, &params)?;
        let old = |shown: &str| !history.recent.is_empty() && shown.contains("other words");
        let shown = window.entries.iter().filter(|entry| old(&entry.shown)).count();
        prop_assert!(shown <= 1, "{} times", shown);
        each_message(&mut edited, |stored| stored.message.edited_at = None);
        let said_so = get_smart_context(&edited, &params);
        let read = |window: &ContextWindow| window.entries.iter().map(|it| (it.shown.clone(), it.reason)).collect::<Vec<_>>();
        prop_assert_eq!(read(&window), read(&said_so));
    }

    /// Telegram's message ids may be large and have gaps. Only their order within a second matters.
    #[test]
    fn what_links_lead_to_does_not_depend_on_the_ids(
        history in any_history(),
        params in any_params(),
        (step, begin) in (1_i64..1_000_000, 0_i64..i64::from(u32::MAX)),
    ) {
        let new = |id: MessageId| MessageId(id.0 * step + begin);
        let mut renumbered = history.clone();
        each_message(&mut renumbered, |stored| {
            stored.message.id = new(stored.message.id);
            stored.message.reply_to = stored.message.reply_to.map(new);
        });
        // With a large budget, everything that reply links lead to is in the window.
        let params = Params { token_budget: 100_000, ..params };
        let window = keeps_its_promises(&renumbered, &params)?;
        let linked = |window: &ContextWindow| {
            let linked = |entry: &&Entry| entry.reason.is_anchor() || entry.reason == Reason::Chain;
            window.entries.iter().filter(linked).map(|entry| entry.message.message.id).collect::<Vec<_>>()
        };
        let before = linked(&get_smart_context(&history, &params)).into_iter().map(new).collect::<Vec<_>>();
        prop_assert_eq!(linked(&window), before);
    }
}

/// Builds `count` messages, a minute apart; every seventh is a reply.
fn long_history(count: u32) -> History {
    let mut chat = transcript("10:00 ann#1 who waters the plants?\n10:01 bob#2 I do\n10:02 cat#3 @bot and the cat?");
    let templates = std::mem::take(&mut chat);
    for number in 1..=count + 1 {
        let mut next = templates[number as usize % 3].clone();
        next.seq.0 = number;
        next.message.id = MessageId(i64::from(number));
        next.message.sent_at = next.message.sent_at.plus(std::time::Duration::from_secs(u64::from(number) * 60));
        next.message.reply_to = number.is_multiple_of(7).then(|| MessageId(i64::from(number - number % 10)));
        chat.push(next);
    }
    let trigger = chat.pop().expect("a trigger");
    History::new(trigger, chat, Vec::new())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    /// The number of messages before the trigger is between none and a few thousand.
    #[test]
    fn chats_of_any_length_keep_the_promises(count in prop_oneof![Just(0_u32), 1_u32..8, 190_u32..210, 1_000_u32..3_000]) {
        let window = keeps_its_promises(&long_history(count), &Params::new(estimate))?;
        prop_assert_eq!(window.entries.is_empty(), count == 0, "what was said just before is always shown");
    }
}
