//! Questions after a suggestion: some follow up on it, others are about something else.

use std::time::Duration;

use chime_world::World;
use serde::Deserialize;

use crate::grounding::buttons;

/// Stands for the prompt of a request that sets a reminder, which needs no model.
const REMINDER: &str = "a reminder was set";
const FREE: &str = include_str!("../data/follow_up/free.jsonl");
const FOLLOW: &str = include_str!("../data/follow_up/follow.jsonl");

/// Suggestion, the messages after it, and a question.
#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    ask: String,
    answer: String,
    talk: Vec<Said>,
    minutes: f64,
    asker: String,
    question: String,
    /// "answer", or the index in the talk of the message that the question replies to.
    #[serde(default)]
    reply: Option<serde_json::Value>,
    /// `true` if the answer names things inside its sentences, where only the model finds them.
    #[serde(default)]
    prose: bool,
    /// What the question asks for: "more" or "refine" (others), "item", "list" (a comparison), "other_kind". Empty if
    /// the case does not say.
    #[serde(default)]
    kind: String,
    /// Numbers of the items that the question is about.
    #[serde(default)]
    items: Vec<u32>,
}

impl Case {
    /// Returns the beginning of the answer.
    fn opening(&self) -> &str {
        self.answer.split_at(self.answer.char_indices().nth(20).map_or(self.answer.len(), |(at, _)| at)).0
    }
}

#[derive(Debug, Deserialize)]
struct Said {
    minutes: f64,
    name: String,
    text: String,
}

fn cases(file: &str) -> Vec<Case> {
    file.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Returns the prompt for the question, or the question that the bot asks back.
async fn asked(w: &mut World, case: &Case) -> String {
    w.model.script([case.answer.as_str()]);
    w.model.always("Well.");
    let tag = w.say("zoe", &case.ask);
    let answer = w.answer_to(tag).await;
    w.settled().await;
    let (mut now, mut said) = (0.0, Vec::new());
    let pass = |now: &mut f64, to: f64| {
        w.clock.advance(Duration::from_secs_f64((to - *now).max(0.0) * 60.0));
        *now = now.max(to);
    };
    for one in &case.talk {
        pass(&mut now, one.minutes);
        said.push(w.say(&one.name.to_lowercase(), &one.text));
    }
    pass(&mut now, case.minutes);
    let asker = case.asker.to_lowercase();
    let tag = match &case.reply {
        None | Some(serde_json::Value::Null) => w.say(&asker, &case.question),
        Some(serde_json::Value::Number(at)) => {
            w.reply(&asker, said[at.as_u64().expect("a place") as usize], &case.question)
        }
        Some(_) => w.reply(&asker, answer.id, &case.question),
    };
    let sent = w.answer_to(tag).await;
    let count = w.model.requests().len();
    if buttons(&sent).concat().iter().any(|(_, data)| data.starts_with("reminder:")) {
        return REMINDER.to_owned();
    }
    if count < 2 || sent.text != "Well." { sent.text } else { w.prompt(count).await }
}

/// Returns `true` if the prompt says that the question is about an earlier list, or if the bot asks back which part of
/// it is meant.
fn is_bound(prompt: &str) -> bool {
    ["not listed as suggested already", "seems to be about the items"].iter().any(|words| prompt.contains(words))
        && (prompt.contains("already suggested, not to be suggested again") || prompt.contains("about the item"))
        || !prompt.contains("Answer the last question") && prompt != REMINDER
}

/// Returns `true` if the prompt lists the suggestions.
fn tells_list(prompt: &str) -> bool {
    prompt.contains("You listed these things here before")
}

/// Returns `true` if the prompt names items that the question does not mean, or excludes what it asks about.
fn is_misled(case: &Case, prompt: &str) -> bool {
    let about = prompt.split("about the item: ").skip(1);
    let about: Vec<u32> = about.filter_map(|item| item.split_once('.')?.0.parse().ok()).collect();
    let excludes = prompt.contains("already suggested, not to be suggested again");
    match case.kind.as_str() {
        "item" => excludes || !about.is_empty() && about != case.items,
        "list" => excludes || !about.is_empty(),
        "more" | "refine" => !about.is_empty(),
        "other_kind" => excludes || !about.is_empty(),
        _ => false,
    }
}

/// Plays each case in a chat of its own. Returns the failed cases with their prompts.
async fn missed(cases: &[Case], is_held: impl Fn(&Case, &str) -> bool) -> Vec<String> {
    let mut missed = Vec::new();
    for case in cases {
        let (tell, shown) = std::sync::mpsc::channel();
        World::run(async |w| tell.send(asked(w, case).await).expect("somebody listens")).await;
        let prompt = shown.recv().expect("the prompt");
        if !is_held(case, &prompt) {
            let frame = prompt.split("You listed these things here before").nth(1).unwrap_or(&prompt);
            missed.push(format!("{} {}\n    {:.300}", case.id, case.question, frame.replace('\n', " | ")));
        }
    }
    missed
}

#[tokio::test]
async fn a_later_question_about_something_else_is_not_bound_to_a_suggestion() {
    let cases = cases(FREE);
    let missed = missed(&cases, |_, prompt| !is_bound(prompt)).await;
    assert!(missed.len() * 20 <= cases.len(), "{} of {}:\n{}", missed.len(), cases.len(), missed.join("\n"));
}

#[tokio::test]
async fn a_question_that_goes_on_with_a_suggestion_is_told_of_it() {
    let cases = cases(FOLLOW);
    let is_told = |case: &Case, prompt: &str| tells_list(prompt) || case.prose && prompt.contains(case.opening());
    let missed = missed(&cases, |case, prompt| is_told(case, prompt) && !is_misled(case, prompt)).await;
    assert!(missed.len() * 20 <= cases.len(), "{} of {}:\n{}", missed.len(), cases.len(), missed.join("\n"));
}
