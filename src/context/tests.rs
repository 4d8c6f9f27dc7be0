//! Chats as text in, windows as text out.

mod scenarios;

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use crate::context::{ContextWindow, History, Params, get_smart_context};
use crate::domain::{ChatKey, MessageId, Origin, StoredMessage, Timestamp};
use crate::testkit::transcript;

fn estimate(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// The last line of `chat` is the trigger, the others came before it.
fn history(chat: &str) -> History {
    let mut recent = transcript(chat);
    let trigger = recent.pop().expect("a trigger");
    History::new(trigger, recent, Vec::new())
}

fn told(window: &ContextWindow) -> String {
    let entries = window
        .entries
        .iter()
        .map(|entry| format!("{} {} {:.2}\n", entry.message.message.id, entry.reason.as_str(), entry.score));
    let omitted = window.omitted.iter().map(|omitted| format!("{} left out: {}\n", omitted.id, omitted.why));
    entries.chain(omitted).collect()
}

fn ids(window: &ContextWindow) -> Vec<i64> {
    window.entries.iter().map(|entry| entry.message.message.id.0).collect()
}

#[track_caller]
fn check(chat: &str, expected: Expect) {
    expected.assert_eq(&told(&get_smart_context(&history(chat), &Params::clusters(estimate))));
}

#[track_caller]
fn check_with(params: &Params, chat: &str, expected: Expect) {
    expected.assert_eq(&told(&get_smart_context(&history(chat), params)));
}

#[test]
fn scenario_a_of_the_seed_with_a_bare_tag() {
    check(
        "
        -3d 10:00 ann#1 We should look at the restaurant for the gathering
        -2d 10:00 bob#2 Any thoughts?
        10:00 cat#3 The thai restaurant on 10th Ave?
        10:10 dan#4 @bot
        ",
        expect![[r#"
            3 cluster 0.85
            1 left out: before a silence of 2 days
            2 left out: before a silence of 2 days
        "#]],
    );
}

#[test]
fn scenario_a_of_the_seed_with_thoughts() {
    check(
        "
        -3d 10:00 ann#1 We should look at the restaurant for the gathering
        -2d 10:00 bob#2 Any thoughts?
        10:00 cat#3 The thai restaurant on 10th Ave?
        10:10 dan#4 @bot thoughts?
        ",
        expect![[r#"
            3 cluster 0.85
            1 left out: before a silence of 2 days
            2 left out: before a silence of 2 days
        "#]],
    );
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
fn scenario_b_of_the_seed_a_deep_reply() {
    check(
        "
        -3d 10:00 ann#1 We should look at the restaurant for the gathering
        10:10 dan#4>1 @bot help with this
        ",
        expect![[r#"
            1 anchor 1.00
        "#]],
    );
}

#[test]
fn a_deep_reply_leaves_out_what_lies_between_two_silences() {
    check(
        "
        -3d 10:00 ann#1 We should look at the restaurant for the gathering
        -2d 10:00 bob#2 Any thoughts?
        10:10 dan#4>1 @bot is this still open?
        ",
        expect![[r#"
            1 anchor 1.00
            2 left out: before a silence of 2 days
        "#]],
    );
}

#[test]
fn a_silence_of_exactly_the_threshold_does_not_cut() {
    check(
        "08:00 ann#1 one\n09:00 bob#2 two\n10:00 cat#3 @bot",
        expect![[r#"
        1 cluster 0.81
        2 cluster 0.85
    "#]],
    );
}

#[test]
fn a_silence_longer_than_the_threshold_cuts() {
    check(
        "08:00 ann#1 one\n09:00:01 bob#2 two\n10:00 cat#3 @bot",
        expect![[r#"
        2 cluster 0.85
        1 left out: before a silence of 60 min
    "#]],
    );
}

#[test]
fn nothing_earlier_gives_an_empty_window() {
    check("10:00 ann#1 @bot hello", expect![[""]]);
}

#[test]
fn the_anchor_is_in_even_as_a_snapshot_and_a_marked_part_is_kept() {
    let history = history(
        "
        -9d 10:00 ann#1 [snapshot] The pass is open. Bring chains.
        10:00 bob#9>1 [quote Bring chains.] @bot ^
        ",
    );
    let window = get_smart_context(&history, &Params::clusters(estimate));
    assert_eq!((window.anchor, window.quoted.as_deref()), (Some(MessageId(1)), Some("Bring chains.")));
    expect![[r#"
        1 quoted 1.00
    "#]]
    .assert_eq(&told(&window));
}

#[test]
fn the_bots_own_answer_may_be_the_anchor() {
    check(
        "
        -1d 10:00 ann#1 @bot which pass?
        -1d 10:01 chime#2>1 [assistant] The northern one.
        10:00 bob#3>2 and by train?
        ",
        expect![[r#"
            1 chain 0.90
            2 anchor 1.00
        "#]],
    );
}

#[test]
fn ancestors_of_the_anchor_come_in_however_old_they_are() {
    check(
        "
        -30d 10:00 ann#1 the first
        -20d 10:00 bob#2>1 the second
        -20d 18:00 eve#3 lunch?
        -10d 10:00 cat#4>2 the third
        10:00 dan#5>4 @bot ^
        ",
        expect![[r#"
            1 chain 0.87
            2 chain 0.90
            4 anchor 1.00
            3 left out: before a silence of 10 days
        "#]],
    );
}

#[test]
fn a_chain_is_followed_to_its_depth_and_no_further() {
    let params = Params { chain_depth: 1, ..Params::clusters(estimate) };
    check_with(
        &params,
        "
        -30d 10:00 ann#1 the first
        -20d 10:00 bob#2>1 the second
        -10d 10:00 cat#4>2 the third
        10:00 dan#5>4 @bot ^
        ",
        expect![[r#"
            2 chain 0.90
            4 anchor 1.00
            1 left out: before a silence of 10 days
        "#]],
    );
}

#[test]
fn replies_to_the_anchor_come_in_and_replies_to_them() {
    check(
        "
        -9d 10:00 ann#1 who can drive?
        -8d 10:00 bob#2>1 I can
        -7d 10:00 eve#3 lunch?
        -6d 10:00 cat#4>2 thanks!
        10:00 dan#5>1 @bot so who drives?
        ",
        expect![[r#"
            1 anchor 1.00
            2 chain 0.90
            4 chain 0.87
            3 left out: before a silence of 6 days
        "#]],
    );
}

#[test]
fn a_recent_reply_brings_its_old_parent_along() {
    check(
        "
        -9d 10:00 ann#1 who can drive?
        -8d 10:00 eve#2 lunch?
        09:50 bob#3>1 I can
        10:00 dan#4 @bot thoughts?
        ",
        expect![[r#"
            1 chain 0.90
            3 cluster 0.85
            2 left out: before a silence of 7 days
        "#]],
    );
}

#[test]
fn links_that_form_a_ring_end() {
    check(
        "-9d 10:00 ann#1>2 a\n-9d 10:01 bob#2>1 b\n10:00 cat#3>1 @bot",
        expect![[r#"
            1 anchor 1.00
            2 chain 0.90
        "#]],
    );
}

#[test]
fn an_old_anchor_brings_what_was_said_around_it() {
    check(
        "
        -2d 08:00 eve#1 good morning
        -2d 10:00 ann#2 who can drive?
        -2d 10:05 bob#3 to where?
        -2d 10:06 cat#4 the lake
        -2d 20:00 eve#5 good night
        10:00 dan#6>3 @bot ^
        ",
        expect![[r#"
            2 cluster 0.81
            3 anchor 1.00
            4 cluster 0.85
            1 left out: before a silence of 38 h
            5 left out: before a silence of 38 h
        "#]],
    );
}

#[test]
fn around_an_old_anchor_the_nearest_messages_are_kept() {
    let params = Params { lookback_limit: 2, ..Params::clusters(estimate) };
    check_with(
        &params,
        "
        -2d 10:00 ann#1 a
        -2d 10:20 bob#2 b
        -2d 10:30 cat#3 c
        -2d 10:35 ann#4 d
        -2d 11:00 bob#5 e
        10:00 dan#6>3 @bot ^
        ",
        expect![[r#"
            2 cluster 0.81
            3 anchor 1.00
            4 cluster 0.85
            1 left out: before a silence of 47 h
            5 left out: before a silence of 47 h
        "#]],
    );
}

#[test]
fn the_lookback_limit_cuts_and_says_so() {
    let params = Params { lookback_limit: 2, ..Params::clusters(estimate) };
    check_with(
        &params,
        "10:00 ann#1 a\n10:01 bob#2 b\n10:02 cat#3 c\n10:03 ann#4 d\n10:04 dan#5 @bot",
        expect![[r#"
            3 cluster 0.81
            4 cluster 0.85
            1 left out: further back than the newest 2
            2 left out: further back than the newest 2
        "#]],
    );
}

#[test]
fn the_limit_does_not_cut_into_what_one_author_wrote_in_pieces() {
    let params = Params { lookback_limit: 2, ..Params::clusters(estimate) };
    check_with(
        &params,
        "10:00 ann#1 a\n10:01 bob#2 b\n10:02 bob#3 c\n10:03 bob#4 d\n10:04 dan#5 @bot",
        expect![[r#"
            2 cluster 0.77
            3 cluster 0.81
            4 cluster 0.85
            1 left out: further back than the newest 2
        "#]],
    );
}

#[test]
fn an_album_comes_in_whole() {
    let params = Params { lookback_limit: 1, ..Params::clusters(estimate) };
    check_with(
        &params,
        "
        10:00 ann#1 [album x] [photo]
        10:00 bob#2 meanwhile
        10:00 ann#3 [album x] [photo] the door
        10:04 dan#4 @bot
        ",
        expect![[r#"
            1 cluster 0.85
            3 cluster 0.85
            2 left out: further back than the newest 1
        "#]],
    );
}

#[test]
fn the_rest_of_the_triggers_own_album_comes_in_too() {
    let mut history = history("10:00 ann#2 [album x] [photo] @bot which door?");
    history.linked = transcript("10:00 ann#1 [album x] [photo]\n10:00:01 ann#3 [album x] [photo]\n10:01 ann#4 later");
    let window = get_smart_context(&history, &Params::clusters(estimate));
    assert_eq!(ids(&window), [1, 3]);
}

#[test]
fn another_thread_enters_only_through_a_link() {
    check(
        "
        09:50 ann#1 in the main thread
        [thread 7]
        09:51 bob#2 who can drive?
        [thread none]
        09:52 cat#3 [thread 8] unlinked
        09:53 cat#4>2 I can
        10:00 dan#5 @bot
        ",
        expect![[r#"
            1 cluster 0.81
            2 chain 0.90
            4 cluster 0.85
        "#]],
    );
}

#[test]
fn an_anchor_in_another_thread_comes_without_its_neighbours() {
    check(
        "
        09:50 ann#1 [thread 7] a
        09:51 bob#2 [thread 7] b
        09:52 cat#3 [thread 7] c
        10:00 dan#4>2 @bot
        ",
        expect![[r#"
            2 anchor 1.00
        "#]],
    );
}

#[test]
fn another_chat_never_enters_even_through_a_link() {
    let mut history = history("10:00 ann#1 a\n10:01 bob#2>1 @bot");
    history.recent[0].chat = ChatKey(2);
    assert_eq!(get_smart_context(&history, &Params::clusters(estimate)), ContextWindow::default());
}

#[test]
fn what_came_after_the_trigger_stays_out() {
    let mut history = history("10:00 ann#1 a\n10:01 bob#2>1 @bot");
    history.linked = transcript("10:02 cat#3>1 too late");
    assert_eq!(ids(&get_smart_context(&history, &Params::clusters(estimate))), [1]);
}

#[test]
fn an_update_stands_in_for_its_snapshot_whichever_is_fetched_first() {
    let update = transcript("09:59 ann#1 the text as sent");
    let snapshot = transcript("09:59 ann#1 [snapshot] the text as seen in a reply");
    for (recent, linked) in [(update.clone(), snapshot.clone()), (snapshot, update)] {
        let trigger = history("10:00 bob#2>1 @bot").trigger;
        let window = get_smart_context(&History::new(trigger, recent, linked), &Params::clusters(estimate));
        assert_eq!(window.entries.len(), 1);
        assert_eq!(window.entries[0].message.message.origin, Origin::Update);
    }
}

#[test]
fn without_room_the_least_sure_are_left_out_and_named() {
    let params = Params { token_budget: 50, ..Params::clusters(estimate) };
    check_with(
        &params,
        "
        09:00 ann#1 the one replied to
        10:00 bob#2 the far one, said long before
        10:01 cat#3 the near one, said just before
        10:02 dan#4>1 @bot
        ",
        expect![[r#"
            1 anchor 1.00
            3 cluster 0.85
            2 left out: no room
        "#]],
    );
}

#[test]
fn a_long_message_is_shortened_in_the_middle() {
    let chat = format!("10:00 ann#1 It begins{} and ends.\n10:01 bob#2 short\n10:02 dan#3 @bot", " so".repeat(1000));
    let params = Params { token_budget: 200, ..Params::clusters(estimate) };
    let window = get_smart_context(&history(&chat), &params);
    assert_eq!(ids(&window), [1, 2]);
    let shown = &window.entries[0].shown;
    assert!(shown.starts_with("It begins so") && shown.ends_with("so and ends."), "{shown}");
    assert!(shown.contains("… [2,8"), "{shown}");
}

#[test]
fn forwards_quotes_and_replies_to_elsewhere_are_shown_as_such() {
    let mut history =
        history("10:00 ann#1 [forwarded The News] [quote soon] It opens.\n10:01 bob#2 really?\n10:02 dan#3 @bot");
    history.recent[1].message.snapshot = Some("a message in another chat".to_owned());
    let window = get_smart_context(&history, &Params::clusters(estimate));
    let shown: Vec<&str> = window.entries.iter().map(|entry| entry.shown.as_str()).collect();
    assert_eq!(
        shown,
        ["[forwarded from The News] [quoting: soon] It opens.", "[replying to: a message in another chat] really?"]
    );
}

#[test]
fn what_was_left_out_is_known_whole_and_named_in_part() {
    let mut chat: String = (1..=40).map(|id| format!("-1d 10:{id} ann#{id} x\n")).collect();
    chat.push_str("10:00 bob#41 y\n10:01 cat#42 @bot");
    let window = get_smart_context(&history(&chat), &Params::clusters(estimate));
    assert_eq!(window.left_out.len(), 40);
    assert_eq!(window.omitted.len(), 20);
    assert_eq!(window.omitted[0].id, MessageId(21));
    assert_eq!(window.omitted[0].why, "before a silence of 23 h");
}

/// A chat of up to 40 messages in two threads, with replies to anywhere, albums, bursts and silences.
fn any_history() -> impl Strategy<Value = History> {
    let message = (0_u64..90, 0_usize..3, prop::option::of(0_usize..40), 0..6_usize, 0_usize..600);
    prop::collection::vec(message, 1..40).prop_map(|lines| {
        let mut chat = transcript("10:00 ann#1 x\n10:00 bob#1 [thread 7] x\n10:00 cat#1 [album x] x");
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
    (0_usize..12, 0_usize..4, 0_usize..1200).prop_map(|(lookback_limit, chain_depth, token_budget)| Params {
        lookback_limit,
        chain_depth,
        token_budget,
        ..Params::new(estimate)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_window_keeps_its_promises(history in any_history(), params in any_params()) {
        let window = get_smart_context(&history, &params);
        let trigger = &history.trigger;

        prop_assert_eq!(&window, &get_smart_context(&history, &params), "the same history gives the same window");

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
        prop_assert!(window.left_out.is_sorted() && window.left_out.iter().all(|seq| !shown.contains(seq)));
        prop_assert!(window.omitted.len() <= 20);
    }
}
