//! Sends many long messages in many topics at once: the daemon's memory must not depend on who writes the most.

use chime_core::{ForumTopicId, UserId};
use chime_sandbox::{NewChat, Post};

use crate::Outcome;
use crate::daemon::Daemon;
use crate::figures::Flood;
use crate::scene::Scene;

const TOPICS: usize = 20;
const MESSAGES: usize = 260;
/// Near Telegram's limit for a message.
const CHARS: usize = 4_000;

/// Measures the daemon's memory while the messages arrive and each topic asks once, and afterwards.
pub async fn flood(scene: &Scene, daemon: &Daemon) -> Outcome<Flood> {
    let forum = scene.telegram.add_chat(NewChat::forum("Long talks"));
    let people: Vec<UserId> = ["Gil", "Hana", "Ivo"].map(|name| scene.telegram.add_member(forum, name)).to_vec();
    let topics: Vec<ForumTopicId> =
        (0..TOPICS).map(|number| scene.telegram.create_topic(forum, &format!("Topic {number}"))).collect();
    for number in 0..MESSAGES {
        let post = |(place, topic): (usize, &ForumTopicId)| {
            let from = people[(number + place) % people.len()];
            Post::new(from, long_text(number * TOPICS + place), scene.clock.now()).in_forum_topic(*topic)
        };
        scene.telegram.say_many(forum, topics.iter().enumerate().map(post));
    }
    scene.telegram.all_confirmed().await;
    for topic in topics {
        let cursor = scene.telegram.cursor();
        let mention = Post::new(people[0], "@bot what did we settle on?", scene.clock.now()).in_forum_topic(topic);
        scene.telegram.say(forum, mention);
        scene.telegram.next_sent(cursor).await;
    }
    Ok(Flood { peak_mb: daemon.process.memory_mb("VmHWM:")?, resident_mb: daemon.process.resident_mb()? })
}

/// Returns a text whose words hardly occur in other messages.
fn long_text(number: usize) -> String {
    let mut state = number as u64 + 1;
    let mut text = String::with_capacity(CHARS + 12);
    while text.len() < CHARS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut letters = state >> 20;
        for _ in 0..2 + (state >> 60) % 4 {
            text.push(char::from(b'a' + (letters % 26) as u8));
            letters /= 26;
        }
        text.push(' ');
    }
    text
}
