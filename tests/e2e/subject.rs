//! Dialogues about the subject of a trigger: the subject of an answer continues, and the bot finds subjects named by a
//! word, a day or an old message.

use std::time::Duration;

use chime_core::{AnswerRecord, MessageId, Part, Reason, Timestamp};
use chime_sandbox::SandboxMessage;
use chime_world::World;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Yesterday a plumber was chosen; today the talk is about a jar and a bill.
const BOILER: &str = "
    -1d 18:00 ann#1 the boiler in the club house is dead, no hot water at all
    -1d 18:04 ben#2>1 I can ask Hansen and Krol for an offer
    -1d 18:20 cat#3 who brings cucumbers for the pickles on sunday?
    -1d 18:21 dan#4>3 me, five kilos
    -1d 19:30 ben#5>2 Hansen would do it for 640, Krol wants 820
    -1d 19:41 ann#6>5 then Hansen, he was quick the last time
    -1d 19:43 ben#7 ok, I called him, he comes on thursday at nine
    09:10 cat#8 the jars cost 2.40 each, is that too much?
    09:12 dan#9>8 what does the lid cost, with it or without?
    09:13 cat#10>9 with it. pickles are a costly thing
    09:15 eve#11 did anybody see my scarf?
    09:16 dan#12>11 on the hook by the door
";

/// Indices in [`BOILER`] of the messages about the boiler.
const OF_BOILER: [usize; 5] = [0, 1, 4, 5, 6];

fn part(record: &AnswerRecord, part: Part) -> Vec<MessageId> {
    record.window.iter().filter(|chosen| chosen.reason.part() == part).map(|chosen| chosen.id).collect()
}

/// Returns the focus of an answer, in order of time.
async fn focus(w: &World, answer: &SandboxMessage) -> Vec<MessageId> {
    part(&w.record_of(answer).await, Part::Focus)
}

#[track_caller]
fn check(found: &[MessageId], inside: &[MessageId], outside: &[MessageId]) {
    let missing: Vec<&MessageId> = inside.iter().filter(|id| !found.contains(id)).collect();
    let wrong: Vec<&MessageId> = outside.iter().filter(|id| found.contains(id)).collect();
    assert!(missing.is_empty() && wrong.is_empty(), "missing {missing:?}, wrong {wrong:?}, found {found:?}");
}

/// Splits `said` into the messages at `places` and the others.
fn divided(said: &[MessageId], places: &[usize]) -> (Vec<MessageId>, Vec<MessageId>) {
    let of = |is_in: bool| (0..said.len()).filter(|at| places.contains(at) == is_in).map(|at| said[at]).collect();
    (of(true), of(false))
}

/// Plays the chat and asks about the boiler. Returns the messages about it, the other messages, and the answer.
async fn boiler_answered(w: &mut World) -> (Vec<MessageId>, Vec<MessageId>, SandboxMessage) {
    let said = w.play(BOILER);
    w.settled().await;
    let tag = w.say("ann", "@bot who did we pick for the boiler and what did it cost?");
    let answer = w.answer_to(tag).await;
    let (subject, others) = divided(&said, &OF_BOILER);
    check(&focus(w, &answer).await, &[subject[2], subject[3]], &others);
    (subject, others, answer)
}

#[tokio::test]
async fn a_question_in_words_finds_its_matter_and_not_the_words_it_shares_with_others() {
    World::run(async |w| {
        w.model.script(["Hansen, for 640."]);
        let (subject, _, answer) = boiler_answered(w).await;
        check(&focus(w, &answer).await, &subject, &[]);
    })
    .await;
}

#[tokio::test]
async fn what_follows_an_answer_keeps_its_matter() {
    World::run(async |w| {
        w.model.script(["Hansen, for 640.", "He comes on thursday at nine.", "Yes, thursday."]);
        let (subject, others, first) = boiler_answered(w).await;
        let tag = w.say("ann", "@bot and?");
        let second = w.answer_to(tag).await;
        check(&focus(w, &second).await, &[subject.clone(), vec![first.id]].concat(), &others);
        let tag = w.say("dan", "@bot shorter");
        let third = w.answer_to(tag).await;
        check(&focus(w, &third).await, &[subject, vec![second.id]].concat(), &others);
    })
    .await;
}

#[tokio::test]
async fn a_correction_after_an_answer_is_seen_by_the_next() {
    World::run(async |w| {
        // A reply to an answer is a question to the bot.
        w.model.script(["Hansen, for 640.", "Then it is 690.", "690 then."]);
        let (subject, others, first) = boiler_answered(w).await;
        let corrected = w.reply("ben", first.id, "not quite, Hansen said 690 on the phone, with the new valve");
        w.answer_to(corrected).await;
        let tag = w.say("cat", "@bot and?");
        let second = w.answer_to(tag).await;
        check(&focus(w, &second).await, &[vec![subject[2], first.id, corrected]].concat(), &others);
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_an_answer_two_days_later_is_about_its_matter() {
    World::run(async |w| {
        w.model.script(["Hansen, for 640.", "Yes, thursday at nine."]);
        let (subject, others, first) = boiler_answered(w).await;
        w.clock.advance(DAY * 2);
        let lately: Vec<MessageId> =
            [("cat", "the pickles are in the cellar now"), ("dan", "how many jars did it come to?")]
                .into_iter()
                .map(|(name, text)| w.say(name, text))
                .collect();
        w.settled().await;
        let reply = w.reply("eve", first.id, "and is he still coming?");
        let second = w.answer_to(reply).await;
        check(&focus(w, &second).await, &[subject, vec![first.id]].concat(), &[others, lately].concat());
    })
    .await;
}

#[tokio::test]
async fn a_bare_tag_in_a_talk_that_began_after_an_answer_is_about_that_talk() {
    World::run(async |w| {
        w.model.script(["Hansen, for 640.", "The battery."]);
        let (subject, others, first) = boiler_answered(w).await;
        let mut talk = Vec::new();
        for (name, text) in [
            ("ben", "my laptop battery lasts an hour, new one or new battery?"),
            ("dan", "how old is it?"),
            ("ben", "four years"),
            ("dan", "battery, they are 60 or so"),
        ] {
            w.clock.advance(Duration::from_secs(60));
            talk.push(w.say(name, text));
        }
        w.settled().await;
        let tag = w.say("ann", "@bot thoughts?");
        let second = w.answer_to(tag).await;
        check(&focus(w, &second).await, &talk, &[subject, others, vec![first.id]].concat());
    })
    .await;
}

#[tokio::test]
async fn another_members_matter_is_not_drawn_into_a_cry_for_help() {
    World::run(async |w| {
        w.model.script(["Hansen, for 640.", "Take it to the shop."]);
        let (subject, _, first) = boiler_answered(w).await;
        let trouble = w.say("fay", "my bike makes a grinding noise when I brake");
        let wheel = w.say("fay", "and the back wheel wobbles since yesterday");
        w.settled().await;
        let tag = w.say("fay", "@bot help");
        let second = w.answer_to(tag).await;
        check(&focus(w, &second).await, &[trouble, wheel], &[subject, vec![first.id]].concat());
    })
    .await;
}

#[tokio::test]
async fn a_cry_for_help_right_after_an_answer_to_another_is_about_ones_own_trouble() {
    World::run(async |w| {
        let said = w.play(BOILER);
        let trouble = w.say("fay", "my bike makes a grinding noise when I brake");
        let wheel = w.say("fay", "and the back wheel wobbles since yesterday");
        w.settled().await;
        w.model.script(["Hansen, for 640.", "Take it to the shop."]);
        let tag = w.say("ann", "@bot who did we pick for the boiler and what did it cost?");
        let first = w.answer_to(tag).await;
        w.clock.advance(Duration::from_secs(60));
        let tag = w.say("fay", "@bot help");
        let second = w.answer_to(tag).await;
        let (subject, _) = divided(&said, &OF_BOILER);
        check(&focus(w, &second).await, &[trouble, wheel], &[subject, vec![first.id]].concat());
    })
    .await;
}

#[tokio::test]
async fn a_tag_and_then_the_question_as_the_next_message_are_one_ask() {
    World::run(async |w| {
        let said = w.play(BOILER);
        w.settled().await;
        w.model.script(["On thursday at nine."]);
        let question = w.say("ann", "when does the man for the boiler come?");
        let tag = w.say("ann", "@bot");
        let answer = w.answer_to(tag).await;
        let (subject, others) = divided(&said, &OF_BOILER);
        check(&focus(w, &answer).await, &[vec![question], subject[2..].to_vec()].concat(), &others);
    })
    .await;
}

/// Among other talk the group decided on its compiler version and the features that it allows.
#[tokio::test]
async fn an_allowed_or_decided_question_finds_the_talk_that_decided_it() {
    World::run(async |w| {
        let said = w.play(
            "
            -2d 09:00 mia#1 the docs build is red again since the theme update
            -2d 09:20 tom#2>1 I pinned the theme, should be green now
            -2d 10:05 ida#3 can we bump the msrv to 1.88? debian testing has it
            -2d 10:09 jon#4>3 from me yes, then we could finally use let chains in the parser
            -2d 10:30 mia#5 who is at the meetup in march?
            -2d 10:31 tom#6>5 I am, with the slides of last year
            -2d 11:02 ida#7>4 ok then 1.88 from the next minor release on, I change ci tonight
            -2d 11:10 jon#8>7 nice, but no let chains before the release branch is cut
            -1d 08:55 tom#9 the benchmark machine lost its disk
            -1d 09:10 mia#10>9 again? take the old one
            -1d 14:00 jon#11 the import bug of 0.9 is fixed in main
            -1d 14:20 ida#12>11 backport it please
            08:30 mia#13 good morning, train is late
            08:31 tom#14 coffee is ready
            ",
        );
        w.settled().await;
        w.model.script(["Not before the release branch is cut."]);
        let tag =
            w.say("zed", "@bot are we allowed to use let chains yet or what was decided about the compiler version");
        let answer = w.answer_to(tag).await;
        let (subject, _) = divided(&said, &[2, 3, 6, 7]);
        check(&focus(w, &answer).await, &subject, &[said[0], said[4], said[8], said[9], said[12], said[13]]);
    })
    .await;
}

/// Returns the English name of the day `ahead` days from now.
fn weekday(now: Timestamp, ahead: u32) -> &'static str {
    const NAMES: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    // 1 January 1970 was a Thursday.
    NAMES[(now.plus(DAY * ahead).secs() / 86_400 + 3) as usize % 7]
}

#[tokio::test]
async fn a_question_about_a_day_finds_what_was_said_of_it_under_another_name() {
    World::run(async |w| {
        let (day, other) = (weekday(w.clock.now(), 1), weekday(w.clock.now(), 3));
        let said = w.play(&format!(
            "
            -3d 17:00 ann#1 dinner with the whole lot this week, on {day}?
            -3d 17:05 ben#2>1 {day} works, let us take the noodle place at the station
            -3d 17:20 cat#3>2 booked for seven, eight people
            -3d 20:00 dan#4 the printer needs toner again
            -2d 08:00 ann#5 lunch on {other} with the auditors, at the canteen
            -2d 08:10 eve#6>5 noted, twelve sharp
            -1d 19:00 cat#7>3 they moved us, half past seven it is
            -1d 21:00 dan#8 toner is here
            09:00 eve#9 who took the blue folder?
            09:05 dan#10>9 it is on my desk
            "
        ));
        w.settled().await;
        w.model.script(["At the noodle place, half past seven.", "The same."]);
        let tag = w.say("fay", &format!("@bot where are we eating on {day} and at what time exactly"));
        let answer = w.answer_to(tag).await;
        let (dinner, _) = divided(&said, &[0, 1, 2, 6]);
        let others = [said[3], said[7], said[8], said[9]];
        check(&focus(w, &answer).await, &dinner, &others);
        let tag = w.say("gil", "@bot where do we eat tomorrow?");
        let answer = w.answer_to(tag).await;
        check(&focus(w, &answer).await, &dinner, &others);
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_a_message_with_hundreds_after_it_brings_the_talk_around_it() {
    World::run(async |w| {
        let later: String = (0..230)
            .map(|n| format!("    -1d {:02}:{:02} p{}#{} {} {n}\n", 8 + n / 60, n % 60, n % 7, n + 100, TALK[n % 6]))
            .collect();
        let said = w.play(&format!(
            "
            -9d 10:00 ann#1 the ferry to the island goes at ten past eight
            -9d 10:02 ben#2>1 and the last one back?
            -9d 10:05 ann#3>2 twenty to ten in summer, seven from october on
            -9d 10:06 cat#4 bikes are two euros extra by the way
            -9d 18:00 dan#5 who watered the plants?
            {later}
            "
        ));
        w.settled().await;
        w.model.script(["Yes."]);
        let tag = w.reply("eve", said[2], "@bot is that still so?");
        let answer = w.answer_to(tag).await;
        let record = w.record_of(&answer).await;
        check(&part(&record, Part::Focus), &said[..3], &said[5..]);
        assert_eq!(record.anchor, Some(said[2]));
        assert!(record.window.iter().any(|chosen| chosen.id == said[3]), "the neighbour is shown: {:?}", record.window);
        assert!(record.window.iter().any(|chosen| chosen.id == said[2] && chosen.reason == Reason::Anchor));
    })
    .await;
}

const TALK: [&str; 6] = [
    "who brings the drinks on friday",
    "the coffee machine blinks red",
    "my train is late, start without me",
    "has anybody seen the grey umbrella",
    "lunch at the noodle place",
    "the window in the corridor does not close",
];
