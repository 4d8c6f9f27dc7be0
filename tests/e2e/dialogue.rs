//! Dialogues: who asks, what belongs to the conversation, and the data about members in the prompt.

use std::time::Duration;

use chime_core::Role;
use chime_sandbox::{BotAction, NewChat, NewMember, Post};
use chime_testkit::Reply;
use chime_world::World;

#[tokio::test]
async fn commands_and_what_the_bot_says_of_itself_are_never_fed_as_talk() {
    World::without_daemon(async |w| {
        w.announce();
        w.start().await;
        w.say("ann", "The boiler is loud again");
        for text in ["/help@bot", "/roll 2d6", "/privacy@bot"] {
            w.say("ben", text);
            w.settled().await;
        }
        w.ignore_what_was_sent();
        w.model.script(["Call the plumber.", "He comes on Tuesday."]);
        let tag = w.say("ann", "@bot what do we do about the boiler?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.len() > "Call the plumber.".len() + 20, "the first answer introduces: {}", answer.text);
        w.settled().await;
        let tag = w.say("ann", "@bot and the boiler, when?");
        w.answer_to(tag).await;
        let prompt = w.prompt(2).await;
        assert!(prompt.contains("Call the plumber."), "{prompt}");
        for foreign in ["/help@bot", "/roll", "/privacy@bot", "I read along", "/optout"] {
            assert!(!prompt.contains(foreign), "{foreign} in {prompt}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_digest_and_an_apology_are_shown_and_no_talk() {
    World::offline(async |w| {
        w.say("ann", "who has the key of the shed?");
        w.say("ben", "it hangs behind the door");
        let tag = w.say("cat", "@bot where is the key?");
        let digest = w.answer_to(tag).await;
        w.settled().await;
        let stored = w.stored(w.chat, digest.id).await.expect("a stored reply");
        assert_eq!(stored.message.role, Role::System);
        let second = w.say("cat", "@bot where is the key?");
        let again = w.answer_to(second).await;
        assert!(!again.text.contains("No model is configured, so here is what I would answer from:\n\n• I"));
        assert!(again.text.contains("it hangs behind the door"), "{}", again.text);
    })
    .await;
}

#[tokio::test]
async fn a_question_in_pieces_before_a_bare_tag_is_one_ask() {
    World::run(async |w| {
        w.say("ann", "I painted the fence");
        w.say("ben", "does anybody know a plumber");
        w.say("ben", "the tap in the kitchen drips");
        w.model.script(["Nobody named one."]);
        let tag = w.say("ben", "@bot");
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        let asked = ask_in(&prompt);
        assert!(asked.contains("does anybody know a plumber"), "{prompt}");
        assert!(asked.contains("the tap in the kitchen drips") && !asked.contains("fence"), "{prompt}");
        assert!(!prompt.contains("wants your help"), "{prompt}");
    })
    .await;
}

/// Returns the question in a prompt.
fn ask_in(prompt: &str) -> &str {
    prompt.split(" asks you:\n").nth(1).unwrap_or_default()
}

#[tokio::test]
async fn a_question_right_after_a_bare_tag_takes_its_place() {
    World::run(async |w| {
        w.say("ben", "the plumber comes on thursday");
        w.settled().await;
        w.model.script([Reply::Hang, Reply::text("On thursday.")]);
        w.say("ann", "@bot");
        w.model.wait_for_requests(1).await.expect("the tag is being answered");
        let question = w.say("ann", "when does the plumber come?");
        let answer = w.answer_to(question).await;
        // The connection breaks, and the model is asked again; that answer is not sent.
        w.model.script(["Too late."]);
        w.model.release();
        w.settled().await;
        assert!(answer.text.starts_with("On thursday"), "{}", answer.text);
        let prompt = w.prompt(2).await;
        assert!(ask_in(&prompt).contains("when does the plumber come?"), "{prompt}");
        // The end of the test checks that nothing else was sent.
    })
    .await;
}

#[tokio::test]
async fn a_tagged_question_right_after_a_bare_tag_takes_its_place() {
    World::run(async |w| {
        w.say("ben", "the plumber comes on thursday");
        w.settled().await;
        for (count, words) in (1..).zip(["@bot when does the plumber come?", "/ask when does the plumber come?"]) {
            w.model.script(["On thursday."]);
            w.say("ann", "@bot");
            w.telegram.all_confirmed().await;
            let question = w.say("ann", words);
            w.answer_to(question).await;
            w.settled().await;
            assert_eq!(w.model.requests().len(), count, "{words}");
        }
    })
    .await;
}

#[tokio::test]
async fn what_follows_a_bare_tag_at_once_is_asked_in_one_call() {
    World::run(async |w| {
        w.say("ben", "the plumber comes on thursday");
        w.settled().await;
        for (count, words) in (1..).zip(["when does the plumber come?", "the plumber and his hours"]) {
            w.model.script(["On thursday."]);
            w.say("ann", "@bot");
            w.telegram.all_confirmed().await;
            let question = w.say("ann", words);
            w.answer_to(question).await;
            w.settled().await;
            let prompt = w.prompt(count).await;
            assert!(ask_in(&prompt).contains(words), "{prompt}");
            assert_eq!(w.model.requests().len(), count, "{words}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_second_question_sent_at_once_with_a_tagged_one_is_answered_with_it() {
    World::run(async |w| {
        w.say("ben", "the plumber comes on thursday");
        w.settled().await;
        w.model.script([Reply::Hang, Reply::text("On thursday.")]);
        w.say("ann", "@bot when does the plumber come?");
        w.model.wait_for_requests(1).await.expect("the first half is being answered");
        let question = w.say("ann", "and how much is he?");
        let answer = w.answer_to(question).await;
        // The connection breaks, and the model is asked again; that answer is not sent.
        w.model.script(["Too late."]);
        w.model.release();
        w.settled().await;
        assert!(answer.text.starts_with("On thursday"), "{}", answer.text);
        let prompt = w.prompt(2).await;
        assert!(ask_in(&prompt).contains("when does the plumber come?\n    and how much is he?"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_question_in_pieces_around_a_bare_tag_is_one_ask() {
    World::run(async |w| {
        w.say("ben", "the one by the lake is 45, the other 38");
        w.settled().await;
        w.model.script([Reply::Hang, Reply::text("The other.")]);
        w.say("ann", "which hut");
        w.say("ann", "@bot");
        w.model.wait_for_requests(1).await.expect("the tag is being answered");
        let question = w.say("ann", "is cheaper?");
        let answer = w.answer_to(question).await;
        // The connection breaks, and the model is asked again; that answer is not sent.
        w.model.script(["Too late."]);
        w.model.release();
        w.settled().await;
        assert!(answer.text.contains("The other."), "{}", answer.text);
        let prompt = w.prompt(2).await;
        let asked = ask_in(&prompt);
        assert!(asked.contains("which hut\n    is cheaper?"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_question_in_pieces_after_a_bare_tag_is_one_ask() {
    World::run(async |w| {
        w.say("ben", "the one by the lake is 45, the other 38");
        w.settled().await;
        w.model.script([Reply::Hang, Reply::Hang, Reply::text("The other.")]);
        w.say("ann", "@bot");
        w.model.wait_for_requests(1).await.expect("the tag is being answered");
        w.say("ann", "which hut");
        w.model.wait_for_requests(2).await.expect("the first piece is being answered");
        let question = w.say("ann", "is cheaper?");
        let answer = w.answer_to(question).await;
        // The connection breaks, and the model is asked again; that answer is not sent.
        w.model.script(["Too late.", "Too late."]);
        w.model.release();
        w.settled().await;
        assert!(answer.text.contains("The other."), "{}", answer.text);
        let prompt = w.prompt(3).await;
        assert!(ask_in(&prompt).contains("which hut\n    is cheaper?"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_question_after_the_answer_to_a_bare_tag_is_asked_too_and_only_by_who_tagged() {
    World::run(async |w| {
        w.say("ben", "the plumber comes on thursday");
        w.model.script(["He comes on thursday.", "At nine."]);
        let tag = w.say("ann", "@bot");
        w.answer_to(tag).await;
        w.say("cat", "did anybody see my scarf?");
        w.settled().await;
        let tag = w.say("ann", "@bot");
        w.answer_to(tag).await;
        w.settled().await;
        assert_eq!(w.model.requests().len(), 2, "the question of another member is theirs");
        w.model.script(["On the hook."]);
        let question = w.say("ann", "and where is the scarf?");
        w.answer_to(question).await;
        w.say("ann", "who has the key?");
        w.settled().await;
        assert_eq!(w.model.requests().len(), 3, "one question goes with a tag");
    })
    .await;
}

#[tokio::test]
async fn a_question_for_the_group_right_after_a_bare_tag_is_left_to_the_group() {
    World::run(async |w| {
        w.say("ben", "the plumber comes on thursday");
        w.say("cat", "fine with me");
        w.settled().await;
        let for_the_group = ["who is at home then?", "and does anybody have the key?", "and you, ben?"];
        for (count, question) in (1..).zip(for_the_group) {
            w.model.script(["He comes on thursday."]);
            let tag = w.say("ann", "@bot");
            w.answer_to(tag).await;
            w.say("ann", question);
            w.settled().await;
            assert_eq!(w.model.requests().len(), count, "{question}");
        }
        w.model.script(["He comes on thursday.", "At nine."]);
        let tag = w.say("ann", "@bot");
        w.answer_to(tag).await;
        let question = w.say("ann", "and when exactly?");
        w.answer_to(question).await;
    })
    .await;
}

#[tokio::test]
async fn thanks_with_the_bots_name_get_a_reaction_and_no_model_call() {
    World::run(async |w| {
        let before = w.telegram.cursor();
        for text in ["thanks @bot", "@bot thank you so much!", "danke dir @bot"] {
            let thanks = w.say("ann", text);
            w.settled().await;
            let seen = w.telegram.actions_since(before);
            let is_thanked =
                |action: &BotAction| matches!(action, BotAction::Reacted { message, .. } if *message == thanks);
            assert!(seen.iter().any(is_thanked), "{text}: {seen:?}");
        }
        assert!(w.model.requests().is_empty());
        w.say("ben", "it is all paid");
        w.model.script(["Yes.", "The second."]);
        let tag = w.say("ann", "@bot is that true?");
        w.answer_to(tag).await;
        let emoji = w.say("ben", "@bot ❤️");
        assert_eq!(w.next_reaction().await.0, emoji, "after an answer");
        for text in ["blue?", "or red?", "no, green"] {
            w.say("cat", text);
        }
        let tag = w.say("ben", "@bot 👍");
        w.answer_to(tag).await;
    })
    .await;
}

#[tokio::test]
async fn the_model_knows_the_topic_and_who_is_here() {
    World::run(async |w| {
        let chat = w.telegram.add_chat(NewChat::forum("Club"));
        let topic = w.telegram.create_topic(chat, "Lake trip");
        let anna = w.telegram.add_member(chat, NewMember::named("Anna").username("anna_k"));
        let ben = w.telegram.add_member(chat, "ben");
        let mut at = w.clock.now();
        for (from, text) in [(anna, "I bring the tent"), (ben, "and I the stove")] {
            w.telegram.say(chat, Post::new(from, text, at).in_forum_topic(topic));
            at = at.plus(Duration::from_secs(1));
        }
        w.model.script(["Anna and ben."]);
        let tag = w.telegram.say(chat, Post::new(ben, "@bot who is in this group?", at).in_forum_topic(topic));
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("in its topic \"Lake trip\""), "{prompt}");
        assert!(
            prompt.contains("Members who wrote in the last week, perhaps not all: ben, Anna (@anna_k)."),
            "{prompt}"
        );
    })
    .await;
}
