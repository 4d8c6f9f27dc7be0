//! Two subjects are open: the bot answers about one of them, and a button leads to the other.

use chime_core::{MessageId, Part, UserId};
use chime_sandbox::{BotAction, Cursor, NewChat, Post, SandboxMessage};
use chime_world::World;

/// Two pairs have talked at the same time; a bystander mentions the bot after both talks have paused.
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

/// Plays the chat and returns the ambiguous trigger with its answer.
async fn open_answer(w: &mut World) -> (MessageId, SandboxMessage) {
    let tag = w.play(TWO_TALKS).pop().expect("a tag");
    let answer = w.answer_to(tag).await;
    w.record_of(&answer).await;
    (tag, answer)
}

/// Returns the label and the data of the button below a message.
fn button(message: &SandboxMessage) -> Option<(String, String)> {
    let button = &message.buttons.as_ref()?["inline_keyboard"][0][0];
    Some((button["text"].as_str()?.to_owned(), button["callback_data"].as_str()?.to_owned()))
}

fn press(w: &World, answer: &SandboxMessage, by: UserId) -> String {
    let (_, data) = button(answer).expect("a button");
    w.telegram.press(w.chat, answer.id, by, &data)
}

/// Returns the text shown to the user who pressed; `None` if the press is only confirmed.
async fn outcome(w: &World, from: Cursor, press: &str) -> Option<String> {
    let mut cursor = from;
    loop {
        let (action, next) = w.telegram.next_from_bot(cursor).await;
        match action {
            BotAction::PressAnswered { press: answered, text } if answered == press => return text,
            _ => cursor = next,
        }
    }
}

#[tokio::test]
async fn a_press_gets_an_answer_about_the_other_matter_and_a_second_press_a_notice() {
    World::run(async |w| {
        w.model.script(["About the ladder: yes.", "About the printer: call again."]);
        let (tag, first) = open_answer(w).await;
        assert_eq!(button(&first).expect("a button").0, "Another conversation");
        let record = w.record_of(&first).await;
        let open = record.alternative.expect("two matters");
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("It may mean one of two talks. Answer about messages ["), "{prompt}");

        let before = w.telegram.cursor();
        let pressed = press(w, &first, w.member("ann"));
        let second = w.answer_to(tag).await;
        assert_eq!((second.text.starts_with("About the printer: call again"), button(&second)), (true, None));
        assert_eq!(outcome(w, before, &pressed).await, None);
        let prompt = w.prompt(2).await;
        assert!(prompt.contains("You answered this before about another talk"), "{prompt}");
        let record = w.record_of(&second).await;
        let focus = record.window.iter().filter(|chosen| chosen.reason.part() == Part::Focus);
        let used: Vec<MessageId> = focus.map(|chosen| chosen.id).collect();
        assert_eq!(used, open.other.iter().map(|chosen| chosen.id).collect::<Vec<_>>());
        assert_eq!(record.asked_by, w.member("ann"));

        let before = w.telegram.cursor();
        let again = press(w, &first, w.member("ben"));
        assert_eq!(
            outcome(w, before, &again).await.as_deref(),
            Some("I have already answered about the other conversation.")
        );
        w.restart().await;
        let why = w.reply("eve", second.id, "/why@bot");
        assert!(w.answer_to(why).await.text.starts_with("I used these messages:"));
    })
    .await;
}

#[tokio::test]
async fn two_presses_at_once_are_one_answer() {
    World::run(async |w| {
        w.model.script(["About the ladder.", "About the printer."]);
        let (tag, first) = open_answer(w).await;
        let before = w.telegram.cursor();
        let presses = ["ann", "ben", "cat"].map(|name| press(w, &first, w.member(name)));
        w.answer_to(tag).await;
        let mut told = Vec::new();
        for pressed in presses {
            told.extend(outcome(w, before, &pressed).await);
        }
        assert_eq!(told.len(), 2, "{told:?}");
    })
    .await;
}

#[tokio::test]
async fn what_was_forgotten_strangers_and_unknown_buttons_get_a_kind_notice() {
    World::run(async |w| {
        w.model.script(["About the ladder."]);
        let (_, first) = open_answer(w).await;
        let before = w.telegram.cursor();
        let unknown = w.telegram.press(w.chat, first.id, w.member("ann"), "settings:1");
        assert_eq!(
            outcome(w, before, &unknown).await.as_deref(),
            Some("I no longer know this button. Please tag me again.")
        );
        let elsewhere = w.telegram.add_chat(chime_sandbox::NewChat::supergroup("Elsewhere"));
        let stranger = w.telegram.add_member(elsewhere, "zoe");
        let outside = press(w, &first, stranger);
        assert_eq!(outcome(w, before, &outside).await.as_deref(), Some("Only members of this chat can ask me here."));
        let forget = w.say("eve", "/forget@bot me");
        w.answer_to(forget).await;
        w.settled().await;
        let gone = press(w, &first, w.member("ann"));
        assert_eq!(outcome(w, before, &gone).await.as_deref(), Some("I no longer have what this button leads to."));
    })
    .await;
}

#[tokio::test]
async fn a_press_counts_as_a_tag() {
    World::with(&[("RATE_LIMIT", "1/5m")], async |w| {
        w.model.script(["About the ladder."]);
        let (_, first) = open_answer(w).await;
        let before = w.telegram.cursor();
        let refused = press(w, &first, w.member("ann"));
        let told = outcome(w, before, &refused).await.expect("a notice");
        assert!(told.starts_with("I have been tagged very often in this conversation in a short time."), "{told}");
    })
    .await;
}

#[tokio::test]
async fn a_reply_to_a_message_from_elsewhere_is_about_that_and_has_no_button() {
    World::run(async |w| {
        let talks = TWO_TALKS.trim_end().rsplit_once('\n').expect("the tag comes last").0;
        w.play(talks);
        w.settled().await;
        let elsewhere = w.telegram.add_chat(NewChat::supergroup("Elsewhere"));
        let said = w.say_in(elsewhere, "zoe", "the train leaves at nine");
        w.settled().await;
        w.clock.advance(std::time::Duration::from_secs(36 * 60));
        w.model.script(["It leaves at nine."]);
        let eve = w.member("eve");
        let tag = Post::marked_up(eve, "@bot", w.clock.now()).reply_elsewhere(elsewhere, said).quote("leaves at nine");
        let tag = w.telegram.say(w.chat, tag);
        let answer = w.answer_to(tag).await;
        assert_eq!(button(&answer), None);
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("which is from elsewhere") && !prompt.contains("one of two talks"), "{prompt}");
    })
    .await;
}
