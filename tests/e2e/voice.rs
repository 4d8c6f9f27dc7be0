//! Voice messages and video notes: transcripts are read like other messages.

use std::time::Duration;

use chime_core::{ChatId, MessageId, UserId};
use chime_sandbox::{NewChat, NewMember, Post, PostContent};
use chime_store::{chats, usage};
use chime_world::World;

const LISTENS: &[(&str, &str)] = &[("MODEL_TRANSCRIBE", "ears"), ("MEMORY", "on")];
const MINUTE: Duration = Duration::from_secs(60);

/// Posts a voice message of 12 seconds by a member.
pub fn speak(w: &World, name: &str) -> MessageId {
    speak_in(w, w.chat, name)
}

fn speak_in(w: &World, chat: ChatId, name: &str) -> MessageId {
    record_in(w, chat, name, b"OggS, and what is heard")
}

fn record_in(w: &World, chat: ChatId, name: &str, recording: &[u8]) -> MessageId {
    w.telegram.put_file("voice.oga", recording);
    let member = w.telegram.add_member(chat, NewMember::named(name));
    w.telegram.say(chat, Post::new(member, "", w.clock.now()).with(PostContent::Voice { seconds: 12 }))
}

async fn until_heard(w: &World, chat: ChatId, id: MessageId) {
    w.until("the voice message has words", move |conn| {
        Ok(chime_store::messages::find(conn, chat, id)?.is_some_and(|stored| !stored.message.text.is_empty()))
    })
    .await;
}

#[tokio::test]
async fn what_is_spoken_is_read_in_the_question_after_it() {
    World::with(LISTENS, async |w| {
        // No transcription in a chat in which nobody has asked.
        let early = speak(w, "ann");
        w.settled().await;
        w.quiet(MINUTE).await;
        assert!(w.model.recordings().is_empty(), "{:?}", w.model.recordings());
        w.model.always("Noted.");
        w.model.hear(["See you all at the boat house"]);
        let tag = w.reply("ben", early, "@bot what is that about?");
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("[voice 0:12] See you all at the boat house"), "{prompt}");
        // From now on messages are transcribed as they arrive.
        w.model.hear(["The key is under the plant"]);
        let said = speak(w, "ann");
        until_heard(w, w.chat, said).await;
        let sent = w.model.recordings();
        assert_eq!(sent.len(), 2, "{sent:?}");
        assert!(sent[1].contains("OggS, and what is heard") && sent[1].contains("voice.ogg"), "{sent:?}");
        assert!(sent[1].contains("ears"), "{sent:?}");
        for name in ["cat", "dan", "eve"] {
            w.say(name, "pizza on friday?");
        }
        let tag = w.say("ben", "@bot where is the key?");
        w.answer_to(tag).await;
        let prompt = w.prompt(2).await;
        assert!(prompt.contains("[voice 0:12] The key is under the plant"), "{prompt}");
        let chat = w.chat;
        let now = w.clock.now();
        let spent = w
            .read_store(move |conn| {
                let key = chats::find(conn, chat)?.expect("the chat").key;
                usage::spent(conn, now, key, UserId(0))
            })
            .await;
        assert!(spent.of_member >= 120, "what nobody asked for is counted for nobody: {spent:?}");
    })
    .await;
}

#[tokio::test]
async fn a_spoken_question_in_private_is_answered() {
    World::with(LISTENS, async |w| {
        let private = w.telegram.add_chat(NewChat::private("ann"));
        w.model.always("At eight.");
        w.model.hear(["When does the ferry leave on Friday?"]);
        let asked = speak_in(w, private, "ann");
        assert!(w.answer_to(asked).await.text.starts_with("At eight."));
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("When does the ferry leave on Friday?"), "{prompt}");
        assert!(!prompt.contains("points at the conversation"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn what_nobody_understands_costs_no_answer() {
    World::with(LISTENS, async |w| {
        let said = speak(w, "ann");
        w.model.script(["I cannot hear it."]);
        let tag = w.reply("ben", said, "@bot what does she say?");
        let answer = w.answer_to(tag).await.text;
        assert!(answer.starts_with("I cannot hear it.") && answer.contains("not transcribe"), "{answer}");
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("[voice 0:12]") && prompt.contains("could not be transcribed"), "{prompt}");
        assert_eq!(w.model.recordings().len(), 2, "tried once more");
        // The next question causes the transcription.
        w.model.hear(["Bring the blue rope"]);
        w.model.script(["A rope."]);
        let tag = w.reply("ben", said, "@bot and now?");
        w.answer_to(tag).await;
        let prompt = w.prompt(2).await;
        assert!(prompt.contains("[voice 0:12] Bring the blue rope"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_summary_of_what_nobody_understands_is_not_of_a_page() {
    World::with(LISTENS, async |w| {
        let said = speak(w, "ann");
        w.model.script(["I cannot hear it."]);
        let tag = w.reply("ben", said, "@bot tldr");
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("wants a summary of this message") && !prompt.contains("page or file"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn where_memory_is_off_only_what_is_asked_about_is_listened_to() {
    World::with(&[("MODEL_TRANSCRIBE", "ears")], async |w| {
        w.model.always("Noted.");
        let tag = w.say("ben", "@bot hello?");
        w.answer_to(tag).await;
        let said = speak(w, "ann");
        w.settled().await;
        w.quiet(MINUTE).await;
        assert!(w.model.recordings().is_empty());
        w.model.hear(["Bring the blue rope"]);
        let tag = w.reply("ben", said, "@bot ^");
        w.answer_to(tag).await;
        assert!(w.prompt(2).await.contains("Bring the blue rope"));
    })
    .await;
}

#[tokio::test]
async fn what_is_forgotten_is_gone_with_its_words_and_who_opted_out_is_not_heard() {
    World::with(LISTENS, async |w| {
        w.model.always("Noted.");
        let tag = w.say("ben", "@bot hello?");
        w.answer_to(tag).await;
        w.model.hear(["The code is 4711"]);
        let said = speak(w, "ann");
        until_heard(w, w.chat, said).await;
        let forget = w.reply("ann", said, "/forget@bot");
        w.answer_to(forget).await;
        w.settled().await;
        assert!(w.all_stored(w.chat).await.iter().all(|stored| !stored.message.text.contains("4711")));
        let out = w.say("ann", "/optout@bot");
        w.answer_to(out).await;
        let said = speak(w, "ann");
        let tag = w.reply("ben", said, "@bot what does she say?");
        w.answer_to(tag).await;
        w.settled().await;
        assert_eq!(w.model.recordings().len(), 1, "nobody listens to who opted out");
    })
    .await;
}

#[tokio::test]
async fn members_are_told_that_a_server_on_this_machine_keeps_their_voice_here() {
    World::with(LISTENS, async |w| {
        let asked = w.say("ann", "/privacy@bot");
        let shown = w.answer_to(asked).await.text;
        assert!(shown.contains("No message leaves the machine I run on."), "{shown}");
        assert!(!shown.contains("Voice messages go there too"), "{shown}");
    })
    .await;
}

#[tokio::test]
async fn a_recording_that_is_refused_is_sent_once() {
    World::with(LISTENS, async |w| {
        w.model.always("Noted.");
        w.model.refuse_to_hear();
        let said = speak(w, "ann");
        for _ in 0..2 {
            let tag = w.reply("ben", said, "@bot what does she say?");
            w.answer_to(tag).await;
        }
        w.settled().await;
        assert_eq!(w.model.recordings().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_is_still_heard() {
    World::with(LISTENS, async |w| {
        let group = w.telegram.add_chat(NewChat::group("Before"));
        let said = speak_in(w, group, "ann");
        w.settled().await;
        let supergroup = w.telegram.migrate(group);
        w.model.always("Noted.");
        w.model.hear(["The key is under the plant"]);
        for name in ["ben", "cat"] {
            let tag = w.say_in(supergroup, name, "@bot what did ann say?");
            w.answer_to(tag).await;
        }
        w.settled().await;
        assert_eq!(w.model.recordings().len(), 1, "it is bought once");
        let kept = w.stored(group, said).await.expect("the voice message").message.text;
        assert_eq!(kept, "The key is under the plant");
    })
    .await;
}

#[tokio::test]
async fn a_chat_is_told_before_it_is_listened_to() {
    World::with(&[("MEMORY", "on")], async |w| {
        w.stop().await;
        w.announce();
        w.start().await;
        w.model.always("Noted.");
        let tag = w.say("ben", "@bot hello?");
        let first = w.answer_to(tag).await.text;
        assert!(
            first.contains("I read this chat and keep its messages") && !first.contains("Voice messages"),
            "{first}"
        );
        w.settled().await;
        w.set("MODEL_TRANSCRIBE", "ears");
        w.restart().await;
        w.ignore_what_was_sent();
        w.model.hear(["The key is under the plant"]);
        speak(w, "ann");
        let shown = w.next_sent().await.text;
        assert!(shown.starts_with("News for everybody here: from now on I turn voice messages into text."), "{shown}");
        w.settled().await;
        assert!(w.model.recordings().is_empty());
        let said = speak(w, "ann");
        until_heard(w, w.chat, said).await;
    })
    .await;
}

#[tokio::test]
async fn a_recording_sent_as_a_file_is_heard_and_silence_is_nobodys_words() {
    World::with(LISTENS, async |w| {
        w.model.always("Noted.");
        w.telegram.put_file("memo.m4a", "what is heard".repeat(1000));
        let content = PostContent::Document { file_name: "memo.m4a".to_owned() };
        let memo = w.telegram.say(w.chat, Post::new(w.member("ann"), "", w.clock.now()).with(content));
        w.model.hear(["The key is under the plant"]);
        let tag = w.reply("ben", memo, "@bot where is it?");
        w.answer_to(tag).await;
        assert!(w.prompt(1).await.contains("[voice memo.m4a] The key is under the plant"), "{}", w.prompt(1).await);
        assert!(w.model.recordings()[0].contains("voice.m4a"));
        let silent = speak(w, "cat");
        w.model.hear(["Thank you for watching!"]);
        let tag = w.reply("ben", silent, "@bot what did she say?");
        w.answer_to(tag).await;
        assert!(!w.prompt(2).await.contains("watching"));
    })
    .await;
}

#[tokio::test]
async fn words_for_a_recording_without_sound_are_nobodys() {
    World::with(LISTENS, async |w| {
        w.model.always("Noted.");
        w.model.hear_always("The key is under the plant");
        for (question, recording) in [(1, "muted"), (2, "quiet_room"), (3, "quiet_speech")] {
            let bytes = std::fs::read(format!("tests/data/recordings/{recording}.ogg")).expect("a recording");
            let said = record_in(w, w.chat, "ann", &bytes);
            let tag = w.reply("ben", said, "@bot what does she say?");
            w.answer_to(tag).await;
            let prompt = w.prompt(question).await;
            assert_eq!(
                prompt.contains("The key is under the plant"),
                recording == "quiet_speech",
                "{recording}: {prompt}"
            );
        }
    })
    .await;
}
