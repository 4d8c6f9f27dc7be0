//! Short chats, each with the focus that a member expects.
//!
//! Every fit of the weights must pass these clear cases: some messages have to be in the focus, and some must not be.
//! `chime-eval context` measures the less clear cases.

use std::sync::{Arc, LazyLock};

use crate::context::candidate_features::CandidateFeatures;
use crate::context::candidates::CandidateSet;
use crate::context::context_window::ContextWindow;
use crate::context::features::message::{MessageFeatures, address};
use crate::context::history::{History, Sources};
use crate::context::params::Params;
use crate::context::tests::{estimate, ids};
use crate::context::window::{get_smart_context, is_about};
use chime_core::embed::Embedder;
use chime_core::testkit::transcript;
use chime_core::{Chosen, MessageId, Reason, Seq, StoredMessage};

fn embedder() -> Arc<Embedder> {
    static SHIPPED: LazyLock<Arc<Embedder>> =
        LazyLock::new(|| Arc::new(Embedder::shipped().expect("the model inside the binary")));
    Arc::clone(&SHIPPED)
}

fn reading(stored: &StoredMessage, text: &str) -> Arc<MessageFeatures> {
    Arc::new(MessageFeatures::of(&stored.message, text, embedder().embed(text)))
}

fn window(chat: &str) -> ContextWindow {
    get_smart_context(&history(chat), &Params::new(estimate))
}

/// Parses a chat. The last line of `chat` is the trigger.
fn history(chat: &str) -> History {
    let mut all = transcript(chat);
    let trigger = all.pop().expect("a trigger");
    let ask = trigger.message.text.replace("@bot", "").trim().to_owned();
    let (recent, linked) =
        all.into_iter().partition(|stored| stored.message.forum_topic == trigger.message.forum_topic);
    let mut evidence = CandidateFeatures { embedder: Some(embedder()), ..CandidateFeatures::default() };
    let recent: Vec<StoredMessage> = recent;
    for stored in &recent {
        evidence.readings.insert(address(stored), reading(stored, &stored.message.text));
    }
    evidence.readings.insert(address(&trigger), reading(&trigger, &ask));
    History { ask, is_tag: true, evidence: Arc::new(evidence), ..History::new(trigger, recent, linked) }
}

fn focus(window: &ContextWindow) -> Vec<i64> {
    window.focus().map(|entry| entry.message.message.id.0).collect()
}

/// Checks a chat. Its last line lists the messages that must and must not be in the focus: `in: 1 2; out: 3`.
#[track_caller]
fn check(chat: &str) {
    let (chat, expected) = chat.rsplit_once("in: ").expect("an expectation");
    let (inside, outside) = expected.split_once("; out: ").unwrap_or((expected, ""));
    let picked = focus(&window(chat));
    let ids = |list: &str| list.split_whitespace().map(|id| id.parse().expect("an id")).collect::<Vec<i64>>();
    let missing: Vec<i64> = ids(inside).into_iter().filter(|id| !picked.contains(id)).collect();
    let wrong: Vec<i64> = ids(outside).into_iter().filter(|id| picked.contains(id)).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "missing {missing:?}, wrong {wrong:?}, picked {picked:?}");
}

#[test]
fn the_beginning_of_a_matter_comes_back_after_days_and_the_joke_between_stays_out() {
    check(
        "
        -3d 17:00 ann#1 We should look at the restaurant for the gathering
        -2d 17:10 ben#2>1 Any thoughts?
        -1d 20:00 cat#3 Did you see the match yesterday?
        -1d 20:01 dan#4>3 our keeper could not catch a cold
        -1d 20:02 cat#5 haha
        10:00 cat#6>2 The thai restaurant on 10th Ave?
        10:10 ann#7 @bot
        in: 1 2 6; out: 3 4 5
        ",
    );
}

/// Two subjects over three days; the trigger is about one of them.
#[test]
fn replies_lead_back_to_monday_and_leave_the_projector_there() {
    check(
        "
        -2d 17:02 ana#1 We should find a restaurant for the gathering
        -2d 17:06 ben#2 The projector is dead again, everything is green
        -2d 17:31 carl#3>1 There will be nine of us, so they need a big table
        -2d 17:33 dina#4>2 That is the cable. There is another one in the cupboard
        18:51 carl#5>3 The Thai place on 10th Ave?
        18:53 ana#6>5 They have a garden, and half of the menu is without meat
        18:55 you#7 @bot thoughts?
        in: 1 3 5 6; out: 2 4
        ",
    );
}

#[test]
fn of_two_pairs_that_talk_at_once_the_one_that_is_replied_to_counts() {
    check(
        "
        10:00 ann#1 does anybody have a ladder for saturday?
        10:00 ben#2 the invoice of the printer is wrong again
        10:01 cat#3>1 I have one, three metres
        10:01 dan#4>2 how much did they take this time?
        10:02 ann#5>3 that is enough for the gutter
        10:02 ben#6>4 340 instead of 240
        10:03 dan#7>6 @bot what now?
        in: 2 4 6; out: 1 3 5
        ",
    );
}

#[test]
fn of_two_pairs_that_talk_at_once_the_taggers_own_counts() {
    check(
        "
        10:00 ann#1 does anybody have a ladder for saturday?
        10:00 ben#2 the invoice of the printer is wrong again
        10:01 cat#3>1 I have one, three metres
        10:01 dan#4>2 how much did they take this time?
        10:02 ann#5>3 is that enough for the gutter?
        10:02 ben#6>4 340 instead of 240
        10:03 ann#7 @bot
        in: 1 3 5
        ",
    );
}

/// Two pairs of members talk at the same time. When both conversations have ended, another member asks the bot.
const TWO_TALKS: &str = "
    10:00 ann#1 does anybody have a ladder for saturday?
    10:00:20 cat#2 the invoice of the printer is wrong again
    10:00:50 ben#3>1 I have one, three metres
    10:01:10 dan#4>2 how much did they take this time?
    10:01:40 ann#5>3 is three metres enough for the gutter?
    10:02 cat#6>4 340 instead of 240 for the printer
    10:02:30 ben#7>5 for the gutter it should be enough
    10:02:50 dan#8>6 then call the printer people
    10:03:10 ann#9>7 can you bring the ladder?
    10:03:20 cat#10>8 they never pick up
    10:40 eve#11 @bot
";

#[test]
fn one_word_is_enough_to_point_at_a_matter() {
    for (word, inside) in [("printer?", [2, 6, 8]), ("the ladder?", [1, 3, 5])] {
        let focus = focus(&window(&TWO_TALKS.replace("eve#11 @bot", &format!("eve#11 @bot {word}"))));
        let other = |id: &i64| id % 2 != inside[0] % 2;
        assert!(inside.iter().all(|id| focus.contains(id)) && !focus.iter().any(other), "{word}: {focus:?}");
    }
}

#[test]
fn what_was_given_is_what_the_window_is_about() {
    let mut history = history(TWO_TALKS);
    let chosen = |id: i64| Chosen {
        seq: Seq(u32::try_from(id).expect("small")),
        id: MessageId(id),
        reason: Reason::Thread,
        score: 0.5,
    };
    history.given = Some([2, 4, 99].map(chosen).to_vec());
    let window = get_smart_context(&history, &Params::new(estimate));
    assert_eq!(focus(&window), vec![2, 4]);
}

#[test]
fn a_bystander_who_tags_means_what_was_just_said() {
    check(
        "
        -2d 09:00 ann#1 the choir needs new chairs
        -2d 09:02 ben#2>1 forty of them, the old ones squeak
        10:00 cat#3 who takes the bus to the concert?
        10:01 dan#4 I would, if it leaves after six
        10:02 cat#5>4 it leaves at half past six
        10:04 eve#6 @bot thoughts?
        in: 3 4 5; out: 1 2
        ",
    );
}

#[test]
fn a_question_in_words_finds_its_matter_behind_a_fresher_one() {
    check(
        "
        -2d 09:00 ann#1 the boiler makes that noise again, the plumber wants 180 for looking at the boiler
        -2d 09:05 ben#2>1 the plumber from last time took 120
        -2d 09:06 ann#3>2 then call him about the boiler please
        10:00 cat#4 cake or pie for sunday?
        10:01 dan#5>4 pie
        10:02 cat#6>5 apple pie it is
        10:02 dan#7>6 with cream
        10:03 cat#8>7 naturally
        10:04 eve#9 @bot how much does the plumber want for the boiler?
        in: 1 2; out: 4 5 6 7 8
        ",
    );
}

#[test]
fn a_reply_to_an_old_message_is_about_that_message() {
    check(
        "
        -5d 09:00 ann#1 rule for the kitchen: whoever cooks does not wash up
        -5d 09:01 ben#2>1 agreed
        10:00 cat#3 the wifi is down
        10:01 dan#4>3 restart the router
        10:02 cat#5>4 works
        10:05 eve#6>1 @bot still true?
        in: 1 2; out: 3 4 5
        ",
    );
}

#[test]
fn a_reply_in_a_busy_chat_is_about_the_whole_matter_of_its_message() {
    check(
        "
        10:00 ann#1 shall we get thai for sunday lunch?
        10:00 ben#2 the thai place is closed on sundays
        10:01 cat#3 did anyone fix the printer
        10:01 dan#4 no, and it eats paper
        10:02 cat#5 I pulled the cable, nothing
        10:02 dan#6 try the other tray
        10:03 cat#7 the other tray it is, it prints
        10:03 dan#8 all forty tickets?
        10:04 cat#9 thirty so far
        10:05 ben#10 pizza for sunday lunch then, at the corner?
        10:05 dan#11 the rest of the tickets tonight
        10:06 ann#12 pizza on sunday is fine, I book a table
        10:06 cat#13 tickets are all printed
        10:07 eve#14>10 @bot ^
        in: 1 2 10 12; out: 3 4 5 6 7 8 9 11 13
        ",
    );
}

#[test]
fn a_tag_that_starts_something_new_gets_nothing() {
    check(
        "
        -2d 09:00 ann#1 the boiler makes that noise again
        -2d 09:05 ben#2>1 the plumber comes on friday
        -1d 10:00 cat#3 cake or pie for sunday?
        -1d 10:01 dan#4>3 pie
        18:00 eve#5 @bot what is the capital of Mongolia?
        in: ; out: 1 2 3 4
        ",
    );
}

#[test]
fn nothing_earlier_is_nothing() {
    assert_eq!(window("10:00 ann#1 @bot hello?").entries, []);
}

#[test]
fn another_thread_stays_out() {
    check(
        "
        [topic 7]
        10:00 ann#1 who can drive on friday?
        10:01 ben#2>1 I can drive
        [topic 8]
        10:00 cat#3 the poster for the concert is too dark
        10:02 dan#4>3 brighter, and a larger date
        10:03 cat#5 @bot
        in: 3 4; out: 1 2
        ",
    );
}

#[test]
fn the_pictures_of_an_album_stay_together() {
    check(
        "
        10:00 ann#1 which door do we paint?
        10:01 ben#2 [album x] [photo] the front door
        10:01 ben#3 [album x] [photo]
        10:01 ben#4 [album x] [photo]
        10:02 ann#5>2 @bot which one is worse?
        in: 2 3 4
        ",
    );
}

#[test]
fn what_one_author_writes_in_pieces_stays_together() {
    check(
        "
        10:00 ann#1 so about friday
        10:00:08 ann#2 the hall is free from six
        10:00:15 ann#3 but only until nine
        10:00:21 ann#4 do we take it?
        10:01 ben#5 @bot
        in: 1 2 3 4
        ",
    );
}

#[test]
fn the_bots_own_answer_goes_on() {
    check(
        "
        10:00 ann#1 who brings the grill on saturday?
        10:01 ben#2>1 I bring the grill, you bring the coal
        10:02 cat#3>2 @bot who brings what?
        10:02:05 bot#4>3 [assistant] Ben brings the grill, Ann the coal.
        10:04 ann#5>4 @bot and the salad?
        in: 1 2 4
        ",
    );
}

#[test]
fn an_answer_of_the_bot_brings_back_what_it_rests_on() {
    let chat = "
        -9d 10:00 ann#1 the key of the cabin is with Olga
        -9d 10:05 ben#2 and the map is in the blue folder
        -8d 10:00 cat#3 the choir sings on sunday
        10:00 cat#4 who has time on friday?
        10:05 bot#5 [assistant] Olga has it, and the map is in the blue folder.
        10:20 dan#6>5 @bot sure?
    ";
    let mut history = history(chat);
    let chosen = |window: &ContextWindow| -> Vec<(i64, &'static str)> {
        window.focus().map(|entry| (entry.message.message.id.0, entry.reason.as_str())).collect()
    };
    history.sources = Some(Sources { of: MessageId(5), used: vec![(Seq(1), true), (Seq(2), false), (Seq(77), true)] });
    let params = Params::new(estimate);
    let with = get_smart_context(&history, &params);
    for expected in [(1, "source"), (2, "source"), (5, "anchor")] {
        assert!(chosen(&with).contains(&expected), "{:?}", chosen(&with));
    }
    let tight = get_smart_context(&history, &Params { token_budget: 60, ..params.clone() });
    assert!(chosen(&tight).contains(&(5, "anchor")) && chosen(&tight).len() < chosen(&with).len());

    history.sources = Some(Sources { of: MessageId(4), used: vec![(Seq(1), true)] });
    assert!(!chosen(&get_smart_context(&history, &params)).contains(&(1, "source")), "of another message");
}

#[test]
fn a_question_with_words_of_its_own_is_about_an_answer_only_if_it_shares_one() {
    let is_about_answer = |ask: &str| {
        let history = history(&format!(
            "
            -9d 10:00 ann#1 the key of the cabin is in the drawer
            10:10 cat#2 @bot ann, who has the cabin key?
            10:10:05 bot#3>2 [assistant] It is in the drawer, says ann.
            10:20 cat#4 {ask}
            "
        ));
        let pool = CandidateSet::new(&history, &[]);
        is_about(&pool, &history, pool.conversation[2])
    };
    let asks = [
        "@bot are you sure?",
        "@bot how does one get from the village to this cabin by bike?",
        "@bot why did somebody get upset about the new rule for the bicycles?",
        "@bot which film about the mountains did ann want to see next month?",
        "@bot what was ann complaining about?",
    ];
    assert_eq!(asks.map(is_about_answer), [true, true, false, false, false]);
}

#[test]
fn a_talk_since_the_answer_is_what_a_tag_without_words_is_about() {
    check(
        "
        -2d 17:02 ida#1 We need a hall for the concert in june
        -2d 17:06 jon#2 the coffee machine leaks again
        -2d 17:31 kim#3>1 ninety people will come, so not the small one
        -2d 17:33 lea#4>2 that is the seal, there is a new one in the drawer
        18:51 kim#5>3 the old brewery on Mill Street?
        18:53 ida#6>5 it has a stage, and the rent is low
        18:55 max#7 @bot thoughts?
        18:55:06 bot#8>7 [assistant] The old brewery fits: it has a stage, and room for ninety.
        18:57 kim#9 did anyone measure the new shed for the bikes?
        18:58 jon#10 it is 2.60 wide
        18:58:40 kim#11 then six bikes fit
        18:59 jon#12 or five with the cargo bike
        19:00 max#13 @bot thoughts?
        in: 9 10 11 12; out: 1 3 5 6
        ",
    );
}

#[test]
fn two_languages_in_one_matter_are_one_matter() {
    check(
        "
        10:00 ann#1 когда встречаемся на вокзале?
        10:01 ben#2>1 the train leaves at 9:40
        10:02 ann#3>2 тогда в девять у входа
        10:03 ben#4>3 nine at the entrance, ok
        10:04 ann#5 @bot
        in: 1 2 3 4
        ",
    );
}

#[test]
fn emoji_alone_neither_break_a_talk_nor_draw_another_in() {
    check(
        "
        -1d 20:00 dan#1 good night all
        -1d 20:01 eve#2 😴
        10:00 ann#3 the venue wants a deposit of 200 by friday
        10:01 ben#4>3 👍
        10:02 cat#5>3 who pays it?
        10:03 ann#6>5 I do, you pay me back
        10:04 ben#7 @bot ^
        in: 3 5 6; out: 1 2
        ",
    );
}

#[test]
fn a_thanks_before_does_not_hide_the_matter() {
    check(
        "
        10:00 ann#1 can somebody water my plants from the 3rd to the 9th?
        10:02 ben#2>1 I can until the 6th
        10:03 cat#3>1 and I from the 7th
        10:04 ann#4 thanks you two!
        10:05 ann#5 @bot
        in: 1 2 3
        ",
    );
}

#[test]
fn a_matter_that_rested_overnight_is_still_the_matter() {
    check(
        "
        -1d 21:00 ann#1 which tent do we take to the lake, the old one or the new one?
        -1d 21:02 ben#2>1 the new one, the old one leaks
        -1d 21:04 cat#3>2 the new one sleeps only three
        08:30 ann#4>3 then both tents
        08:31 ben#5 @bot thoughts?
        in: 1 2 3 4
        ",
    );
}

#[test]
fn names_that_are_called_hold_a_talk_together() {
    check(
        "
        10:00 ann#1 @ben did the parcel arrive?
        10:00 cat#2 @dan your bike stands in the way
        10:01 ben#3 @ann yes, it is with the neighbour
        10:01 dan#4 @cat moved it
        10:02 ann#5 @ben which neighbour?
        10:03 ben#6 @bot
        in: 1 3 5
        ",
    );
}

#[test]
fn a_crowd_of_fifty_does_not_drown_the_two_who_talk() {
    let noise: String = (0..46).map(|n| format!("09:{:02} p{n}#{} good morning from number {n}\n", n, n + 1)).collect();
    check(&format!(
        "{noise}
            10:00 ann#60 who has the key of the hall?
            10:01 ben#61>60 Carla has the key
            10:02 ann#62>61 and when is she there?
            10:03 ann#63>62 @bot
            in: 60 61 62; out: 1 10 20 30
            "
    ));
}

#[test]
fn the_question_itself_is_never_among_what_it_is_about() {
    let window = window("10:00 ann#1 tea or coffee?\n10:01 ben#2>1 tea\n10:02 ann#3>2 @bot");
    assert!(window.entries.iter().all(|entry| entry.message.message.id.0 != 3));
}

#[test]
fn the_same_chat_gives_the_same_window() {
    let chat = "
        -1d 10:00 ann#1 the hedge has to be cut before may
        -1d 10:01 ben#2>1 I have the shears
        10:00 cat#3 pizza today?
        10:01 dan#4>3 always
        10:02 ann#5 @bot who has the shears?
    ";
    assert_eq!(window(chat), window(chat));
}

#[test]
fn where_everything_fits_everything_is_shown_and_only_the_matter_is_the_focus() {
    let window = window(
        "
        -3d 17:00 ann#1 We should look at the restaurant for the gathering
        -2d 17:10 ben#2>1 Any thoughts?
        -1d 20:00 cat#3 Did you see the match yesterday?
        -1d 20:01 dan#4>3 our keeper could not catch a cold
        10:00 cat#6>2 The thai restaurant on 10th Ave?
        10:10 ann#7 @bot
        ",
    );
    assert_eq!(ids(&window), [1, 2, 3, 4, 6]);
    assert_eq!(window.focus().count(), 3);
}

#[test]
fn a_tag_that_starts_something_new_is_shown_what_was_said_lately_and_no_more_than_that() {
    let long: String = (0..60)
        .map(|n| {
            format!(
                "day {}\n10:{n:02} ann#{} the {n}th plank of the jetty is rotten and has to go\n",
                1 + n / 20,
                n + 1
            )
        })
        .collect();
    let window = window(&format!("{long}day 9\n10:00 eve#99 @bot what is the capital of Mongolia?"));
    assert_eq!(window.focus().count(), 0);
    let tokens: usize = window.entries.iter().map(|entry| entry.shown.len().div_ceil(4) + 12).sum();
    assert!((200..=400).contains(&tokens), "{tokens}");
}

#[test]
fn questions_about_the_world_take_no_talk_along() {
    let talk = "
        10:00 ann#1 the boat leaves at nine, who brings the bread?
        10:01 ben#2>1 me, and good night everyone
        10:03 cat#3>1 I can take two of you in the car, a few seats are left on the bus
        10:04 dan#4 good night!
        ";
    for ask in ["what is 17 times 23?", "how tall is Everest?", "translate good night to Finnish", "tell me a joke"] {
        let window = window(&format!("{talk}\n10:06 eve#9 @bot {ask}"));
        assert_eq!((focus(&window), window.is_new), (Vec::new(), true), "{ask}");
    }
    let german = "
        10:00 ann#1 das Boot fährt um neun, wer bringt das Brot mit?
        10:01 ben#2>1 ich, und gute Nacht zusammen
        10:06 eve#9 @bot wie hoch ist der Mont Blanc?";
    assert!(window(german).is_new);
    for ask in ["who brings it?", "is it settled?", "sum up the last hour", "write ann a friendly answer"] {
        let window = window(&format!("{talk}\n10:06 eve#9 @bot {ask}"));
        assert!(!window.is_new && !focus(&window).is_empty(), "{ask}");
    }
}

#[test]
fn what_was_said_in_the_last_minutes_is_shown_whatever_it_is_about() {
    let long: String =
        (0..80).map(|n| format!("-2d 10:{:02} ann#{} plank {n} of the jetty is rotten\n", n % 60, n + 1)).collect();
    let chat = format!(
        "{long}
        09:40 cat#90 who saw my keys?
        09:52 ben#91 the blue ones?
        09:54 dan#92 under the sofa
        09:56 eve#93 lunch?
        10:00 eve#99>5 @bot which planks?"
    );
    let params = Params { token_budget: 300, ..Params::new(estimate) };
    let window = get_smart_context(&history(&chat), &params);
    for id in [91, 92, 93] {
        assert!(ids(&window).contains(&id), "{:?}", ids(&window));
    }
}

#[test]
fn a_large_window_shows_the_talk_of_today_whatever_words_it_has() {
    let older: String = (0..120)
        .map(|n| {
            format!(
                "-{}d 10:00 p{}#{} the december dinner needs chairs, and somebody who cooks\n",
                9 - n / 20,
                n % 7,
                n + 1
            )
        })
        .collect();
    let today: String =
        (0..12).map(|n| format!("09:{n:02} q{n}#{} we can do it at ours, number {n}\n", n + 201)).collect();
    let chat = format!("{older}{today}10:00 eve#300 @bot draft the invitation for the december dinner");
    let window = get_smart_context(&history(&chat), &Params { token_budget: 2600, ..Params::new(estimate) });
    let shown = ids(&window);
    assert!(window.entries.len() < 132 && (201..213).all(|id| shown.contains(&id)), "{shown:?}");
}

#[test]
fn when_room_is_short_the_surroundings_go_first() {
    let sizes = |token_budget: usize| {
        let params = Params { token_budget, ..Params::new(estimate) };
        let window = get_smart_context(&history(TWO_TALKS), &params);
        let focus = window.focus().count();
        (focus, window.entries.len() - focus)
    };
    let (all, _) = sizes(1600);
    for budget in (20..400).step_by(20) {
        let (focus, surroundings) = sizes(budget);
        assert!(focus == all || surroundings <= 3, "{budget} tokens: {focus} of {all}, and {surroundings}");
    }
}

#[test]
fn of_a_short_chat_everything_is_shown_whoever_replied_to_whom() {
    let gathering = window(
        "
        -3d 10:00 ann#1 We should look at the restaurant for the gathering
        -2d 10:00 ben#2 Any thoughts?
        10:00 cat#3 The thai restaurant on 10th Ave?
        10:10 dan#4 @bot
        ",
    );
    assert_eq!(ids(&gathering), [1, 2, 3]);
    let two = window("10:00 ann#1 which key opens the shed?\n10:05 ben#2>1 the long one\n18:00 cat#3 @bot");
    assert_eq!(ids(&two), [1, 2]);
    let five = window(
        "
        -1d 09:00 ann#1 the shed needs a new lock
        -1d 09:05 ben#2>1 and a new roof
        -1d 19:00 cat#3 who takes the dog on sunday?
        10:00 dan#4 pizza or soup tonight?
        10:01 eve#5 soup
        10:05 ann#6 @bot what else?
        ",
    );
    assert_eq!(ids(&five), [1, 2, 3, 4, 5]);
}

#[test]
fn of_one_long_matter_the_newest_are_shown() {
    let talk: String = (1..=35)
        .map(|n| format!("10:{n:02} {}#{n} the roof of the shed needs {n} more boards\n", ["ann", "ben", "cat"][n % 3]))
        .collect();
    let window = window(&format!("{talk}10:50 dan#36 @bot so how many?"));
    assert!((30..=35).all(|id| ids(&window).contains(&id)), "{:?}", ids(&window));
}

/// Builds a chat of several days: `before` unrelated messages, a decision, `after` unrelated messages, and `ask` as the
/// trigger.
fn weeks(before: usize, decision: &str, after: usize, ask: &str) -> String {
    const TALK: [&str; 6] = [
        "who brings the drinks on friday?",
        "the coffee machine blinks red again",
        "my train is late, start without me",
        "has anybody seen the grey umbrella?",
        "lunch at the noodle place?",
        "the window in the corridor does not close",
    ];
    let people = ["ann", "ben", "cat", "dan"];
    let mut chat = String::from("day 1\n");
    let mut id = 0;
    let mut day = 1;
    let mut say = |chat: &mut String, text: &str| {
        id += 1;
        if id % 25 == 0 {
            day += 1;
            chat.push_str(&format!("day {day}\n"));
        }
        let minute = id % 25 * 20;
        let space = if text.starts_with('>') { "" } else { " " };
        let (hour, minute) = (9 + minute / 60, minute % 60);
        chat.push_str(&format!("{hour:02}:{minute:02} {}#{id}{space}{text}\n", people[id % 4]));
    };
    (0..before).for_each(|n| say(&mut chat, TALK[n % 6]));
    decision.lines().for_each(|line| say(&mut chat, line.trim()));
    (0..after).for_each(|n| say(&mut chat, TALK[n * 5 % 6]));
    format!("{chat}day 99\n10:00 eve#999{ask}")
}

#[test]
fn a_question_of_its_own_finds_what_was_decided_days_ago() {
    let chat = weeks(
        20,
        "shall we raise the minimum toolchain to 1.88?\nyes, then if-let chains work everywhere\n\
         decided: 1.88 from the next release on",
        60,
        " @bot may we write let chains by now, or what came out about the minimum toolchain?",
    );
    let window = window(&chat);
    let focus = focus(&window);
    assert!([21, 22, 23].iter().all(|id| focus.contains(id)), "{focus:?}");
}

#[test]
fn an_old_anchor_brings_its_talk_though_more_than_two_hundred_messages_came_since() {
    let chat = weeks(
        30,
        "the ferry to the island goes at 8:10\n>31 and the last one back?\n>32 21:40 in summer, 19:00 from october",
        230,
        ">32 @bot is that still so?",
    );
    let all = transcript(&chat);
    let old: Vec<StoredMessage> =
        all.iter().filter(|stored| (20..=45).contains(&stored.message.id.0)).cloned().collect();
    let mut history = history(&chat);
    let recent = history.recent.split_off(history.recent.len() - 200);
    history.recent = recent;
    history.linked = old;
    let window = get_smart_context(&history, &Params::new(estimate));
    assert!([31, 32, 33].iter().all(|id| ids(&window).contains(id)), "{:?}", ids(&window));
    assert!(window.entries.iter().all(|entry| entry.message.message.id.0 != 5), "nothing that was not fetched");
}
