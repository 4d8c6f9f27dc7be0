//! Plays the dialogues of `tests/data/dialogues.txt`, which says how they are written.

use std::collections::BTreeMap;
use std::time::Duration;

use chime_core::{ChatId, ForumTopicId, MessageId, Part};
use chime_sandbox::{NewChat, Post, SandboxMessage};
use chime_testkit::Reply;
use chime_world::World;

/// Read when the test runs, so that a change of the dialogues needs no build.
const DIALOGUES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/dialogues.txt");

/// Dialogue that is being played.
struct Stage<'w> {
    w: &'w mut World,
    chat: ChatId,
    topics: BTreeMap<String, ForumTopicId>,
    /// Messages by the order of their lines.
    said: Vec<MessageId>,
    /// Question whose answer comes next.
    trigger: Option<MessageId>,
    answer: Option<SandboxMessage>,
    missed: Vec<String>,
}

impl Stage<'_> {
    /// Plays one line.
    async fn play(&mut self, line: &str) {
        if let Some(span) = line.strip_prefix('+') {
            self.w.settled().await;
            return self.w.clock.advance(span_of(span));
        }
        if let Some(fact) = line.strip_prefix("? ") {
            return self.check(fact).await;
        }
        let (head, text) = line.split_once(": ").unwrap_or((line, ""));
        let (topic, head) = match head.strip_prefix('#').and_then(|head| head.split_once(' ')) {
            Some((topic, head)) => (Some(topic), head),
            None => (None, head),
        };
        let words: Vec<&str> = head.split(' ').collect();
        match words.as_slice() {
            ["bot"] => self.answer().await,
            ["bot", "asks"] => {
                self.answer().await;
                self.check(&format!("says {text}")).await;
            }
            [_, "edits", number] => {
                self.w.settled().await;
                self.w.telegram.edit(self.chat, self.at(number), text, self.w.clock.now());
                self.trigger = Some(self.at(number));
            }
            ["deleted", number] => {
                self.w.settled().await;
                self.w.telegram.delete(self.chat, self.at(number));
            }
            [name] => self.say(name, topic, None, text),
            [name, ">", number] => self.say(name, topic, Some(self.at(number)), text),
            _ => panic!("not a line of a dialogue: {line}"),
        }
    }

    fn at(&self, number: &str) -> MessageId {
        self.said[number.parse::<usize>().expect("a number") - 1]
    }

    fn say(&mut self, name: &str, topic: Option<&str>, parent: Option<MessageId>, text: &str) {
        self.w.clock.advance(Duration::from_secs(20));
        let from = self.w.telegram.add_member(self.chat, name);
        let mut post = Post::new(from, text, self.w.clock.now());
        if let Some(name) = topic {
            let id =
                self.topics.entry(name.to_owned()).or_insert_with(|| self.w.telegram.create_topic(self.chat, name));
            post = post.in_forum_topic(*id);
        }
        if let Some(parent) = parent {
            post = post.reply_to(parent);
        }
        let id = self.w.telegram.say(self.chat, post);
        self.said.push(id);
        self.trigger = Some(id);
    }

    /// Reads the answer to the last message.
    async fn answer(&mut self) {
        let sent = self.w.answer_to(self.trigger.expect("a question")).await;
        self.w.settled().await;
        self.said.push(sent.id);
        self.answer = Some(sent);
    }

    async fn check(&mut self, fact: &str) {
        let (kind, text) = fact.split_once(' ').unwrap_or((fact, ""));
        let prompt = self.w.prompt(self.w.model.requests().len().max(1)).await;
        let sent = self.answer.clone().expect("an answer");
        let is_bound =
            prompt.contains("already suggested, not to be suggested again") || prompt.contains("about the item");
        let focus = || async {
            let record = self.w.record_of(&sent).await;
            record.window.iter().filter(|it| it.reason.part() == Part::Focus).map(|it| it.id).collect::<Vec<_>>()
        };
        let numbers = || text.split(' ').map(|number| self.at(number)).collect::<Vec<_>>();
        let holds = match kind {
            "in" => prompt.contains(text),
            "out" => !prompt.contains(text),
            "bound" => is_bound,
            "free" => !is_bound,
            "list" => prompt.contains("You listed these things here before"),
            "nolist" => !prompt.contains("You listed these things here before"),
            "says" => sent.text.contains(text),
            "focus" => {
                let focus = focus().await;
                numbers().iter().all(|id| focus.contains(id))
            }
            "aside" => {
                let focus = focus().await;
                !numbers().iter().any(|id| focus.contains(id))
            }
            _ => panic!("not a fact of a dialogue: {fact}"),
        };
        if !holds {
            let focus = focus().await;
            self.missed.push(format!("? {fact}\nfocus: {focus:?} of {:?}\nsent: {}\n{prompt}\n", self.said, sent.text));
        }
    }
}

/// Returns the length of a span such as "5m", "3h" or "2d".
fn span_of(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86400,
        _ => panic!("not a span: {text}"),
    };
    Duration::from_secs(number.parse::<u64>().expect("a number") * unit)
}

/// Plays all dialogues, or those whose text contains the environment variable `DIALOGUE`.
#[tokio::test]
async fn members_go_on_in_several_languages() {
    let only = std::env::var("DIALOGUE").unwrap_or_default();
    let dialogues = std::fs::read_to_string(DIALOGUES).expect("the dialogues");
    let chosen: Vec<&str> = dialogues.split("\n== ").skip(1).filter(|it| it.contains(&only)).collect();
    assert!(!chosen.is_empty(), "no dialogue contains {only}");
    let mut missed = Vec::new();
    for dialogue in chosen {
        let (tell, heard) = std::sync::mpsc::channel();
        World::run(async |w| {
            let chat = w.telegram.add_chat(match dialogue.starts_with("private") {
                true => NewChat::private("ann"),
                false => NewChat::forum("Club"),
            });
            // The model answers by this script, in order.
            w.model.script(
                dialogue
                    .lines()
                    .filter_map(|line| line.strip_prefix("bot: "))
                    .map(|it| Reply::text(it.replace(" | ", "\n"))),
            );
            let (topics, said, missed) = Default::default();
            let mut stage = Stage { w, chat, topics, said, trigger: None, answer: None, missed };
            for line in dialogue.lines().skip(1).filter(|line| !line.is_empty()) {
                stage.play(line).await;
            }
            tell.send(stage.missed).expect("somebody listens");
        })
        .await;
        let name = dialogue.lines().next().unwrap_or_default();
        missed.extend(heard.recv().expect("the end").into_iter().map(|it| format!("== {name}\n{it}")));
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
