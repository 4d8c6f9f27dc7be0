//! Compares both sides at the end: the messages sent, Telegram's chats, and the database.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use chime_core::{ChatId, MessageId, Timestamp, UserId};
use chime_sandbox::{BotAction, Cursor, PostContent, SandboxMessage};
use chime_testkit::updates::{BotApi, validate_request};

use crate::kept::{Kept, Part};
use crate::ledger::{Due, Id, Ledger, Said};
use crate::stage::Stage;

/// Longest time between a mention without words and its author's question.
const QUESTION_WITHIN: Duration = Duration::from_mins(1);
/// Most examples listed for one kind of mistake.
const EXAMPLES: usize = 5;

/// Counts of messages and outcomes.
#[derive(Debug, Default, serde::Serialize)]
pub struct Counts {
    /// Messages in Telegram, including those of the bot.
    pub messages: usize,
    pub rows: usize,
    /// Messages forgotten or written by somebody who had opted out.
    pub stubs: usize,
    pub updates: usize,
    pub asks: usize,
    pub answered: usize,
    pub apologised: usize,
    pub commands: usize,
    pub thanks: usize,
    /// Triggers that were too old and counted in a notice.
    pub counted: usize,
    /// Replies shown twice, since it was unknown whether the first one had arrived.
    pub shown_twice: usize,
    /// Replies given up after it was unknown twice whether they had arrived.
    pub given_up: usize,
    /// Questions joined with an earlier mention without words.
    pub in_two: usize,
    /// Jobs of memory that were still open.
    pub background_jobs: usize,
}

pub struct Verdict {
    pub counts: Counts,
    /// Time from a question to its visible outcome, in milliseconds.
    pub replies_ms: Vec<f64>,
    pub wrong: Vec<String>,
}

/// Input of the judgement, and its results so far.
struct Court<'a> {
    stage: &'a Stage,
    ledger: &'a Ledger,
    kept: &'a Kept,
    /// Messages of the bot, by the message replied to.
    replies: HashMap<Id, Vec<SandboxMessage>>,
    /// Question that was answered for each mention without words, by the mention.
    questions: HashMap<Id, Id>,
    counts: Counts,
    replies_ms: Vec<f64>,
    wrong: BTreeMap<&'static str, Vec<String>>,
}

/// Judges the run. `updates` is the number of updates that Telegram had for the daemon.
pub fn judge(stage: &Stage, ledger: &Ledger, kept: &Kept, updates: usize) -> Verdict {
    let mut court = Court {
        stage,
        ledger,
        kept,
        replies: HashMap::new(),
        questions: HashMap::new(),
        counts: Counts { updates, rows: kept.messages.len(), apologised: kept.apologies, ..Counts::default() },
        replies_ms: Vec::new(),
        wrong: BTreeMap::new(),
    };
    court.collect_replies();
    court.collect_questions();
    court.compare_messages();
    court.weigh_triggers();
    court.look_for_leftovers();
    court.look_at_calls();
    let told = court.wrong.into_iter().map(|(what, cases)| match cases.len() {
        0..=EXAMPLES => format!("{what}: {}", cases.join("; ")),
        count => format!("{what}: {}; and {} more", cases[..EXAMPLES].join("; "), count - EXAMPLES),
    });
    Verdict { wrong: told.collect(), counts: court.counts, replies_ms: court.replies_ms }
}

/// Expected content of a stored message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Whole,
    Stub,
    /// Either is right: the message was sent while an opt-out or opt-in was being handled.
    Either,
}

impl Court<'_> {
    fn blame(&mut self, what: &'static str, case: impl Into<String>) {
        self.wrong.entry(what).or_default().push(case.into());
    }

    fn expect(&mut self, what: &'static str, expected: usize, found: usize) {
        if expected != found {
            self.blame(what, format!("{expected} expected, {found} found"));
        }
    }

    fn collect_replies(&mut self) {
        for place in &self.stage.places {
            for message in self.stage.telegram.sent_by_bot(place.chat) {
                let to = match message.reply_to {
                    Some(to) => (place.chat, to),
                    None => self.answered_in_private(&message).unwrap_or((place.chat, MessageId(0))),
                };
                self.replies.entry(to).or_default().push(message);
            }
        }
    }

    /// Returns the command that a message in a private chat answers. The message may also be a copy: one whose sending
    /// ended unknown, so that it was sent again.
    fn answered_in_private(&self, message: &SandboxMessage) -> Option<Id> {
        let known = &self.kept.answered_in_private;
        let is_copy = |((chat, sent), command): &(&Id, &Id)| {
            *chat == message.chat
                && self.parts(**command).iter().any(|part| part.unknown_sends > 0)
                && self.stage.telegram.message(*chat, *sent).is_some_and(|first| first.text == message.text)
        };
        let copied = || known.iter().find(is_copy).map(|(_, command)| *command);
        known.get(&(message.chat, message.id)).copied().or_else(copied)
    }

    /// Collects answered questions that followed a mention without words: the author's next message there, within a
    /// minute.
    fn collect_questions(&mut self) {
        let tags = self.ledger.said.iter().filter(|said| said.due == Due::AnswerToEither);
        for tag in tags {
            let all = self.stage.telegram.messages(tag.id.0);
            let Some(at) = all.iter().position(|message| message.id == tag.id.1) else { continue };
            let is_next =
                |message: &&SandboxMessage| message.from == tag.from && message.forum_topic == all[at].forum_topic;
            let Some(next) = all[at + 1..].iter().find(is_next) else { continue };
            let id = (next.chat, next.id);
            let is_in_time = next.date.since(all[at].date) <= QUESTION_WITHIN;
            let is_answered = self.replies.contains_key(&id) || !self.parts(id).is_empty();
            // An edit may have turned it into a mention too.
            let is_no_other_ask = self.ledger.find(id).is_none_or(|said| matches!(said.due, Due::AnswerIfKnown(_)));
            let are_two_asks = self.is_ask_of_its_own(id) && !self.parts(tag.id).is_empty();
            if is_in_time && is_answered && is_no_other_ask && !are_two_asks {
                self.questions.insert(tag.id, id);
            }
        }
    }

    fn compare_messages(&mut self) {
        let rules = Rules::of(self);
        let mut known = HashSet::new();
        for place in &self.stage.places {
            for message in self.stage.telegram.messages(place.chat) {
                self.counts.messages += 1;
                known.insert((message.chat, message.id));
                self.compare(&message, &rules);
            }
        }
        let phantoms: Vec<Id> = self.kept.messages.keys().filter(|id| !known.contains(id)).copied().collect();
        for id in phantoms {
            self.blame("rows that Telegram does not have", told(id));
        }
    }

    fn compare(&mut self, message: &SandboxMessage, rules: &Rules) {
        let id = (message.chat, message.id);
        let is_own = message.from == self.stage.telegram.bot_id();
        let Some(row) = self.kept.messages.get(&id) else {
            if !is_own || !self.may_be_unknown(message) {
                self.blame("messages without a row", told(id));
            }
            return;
        };
        self.counts.stubs += usize::from(row.is_stub);
        // An answer is deleted with its sources.
        if is_own {
            return;
        }
        match (rules.left(message), row.is_stub) {
            (Left::Whole, true) => self.blame("messages kept as stubs that nobody had forgotten", told(id)),
            (Left::Stub, false) => self.blame("words kept that must not be", told(id)),
            (Left::Whole, false) if message.content == PostContent::Text && row.text != message.text => {
                self.blame("rows with other words", told(id));
            }
            (Left::Whole | Left::Either, _) | (Left::Stub, true) => {}
        }
    }

    /// Returns `true` if the daemon cannot know that this message of its own was sent.
    fn may_be_unknown(&self, message: &SandboxMessage) -> bool {
        match message.reply_to {
            Some(to) => self.parts((message.chat, to)).iter().any(|part| part.unknown_sends > 0),
            // A notice about old triggers.
            None => true,
        }
    }

    fn parts(&self, to: Id) -> &[Part] {
        self.kept.replies.get(&to).map_or(&[], Vec::as_slice)
    }

    fn weigh_triggers(&mut self) {
        let reacted = reacted(self.stage);
        let mut old: BTreeMap<ChatId, usize> = BTreeMap::new();
        for said in &self.ledger.said {
            match self.resolved(said) {
                Some(Due::AnswerToEither) if self.questions.contains_key(&said.id) => {
                    let question = self.questions[&said.id];
                    self.counts.in_two += 1;
                    if !self.is_ask_of_its_own(question) {
                        self.counts.asks += 1;
                        self.weigh_reply(&Said { id: question, ..*said });
                    }
                }
                Some(Due::Answer | Due::AnswerToEither) => {
                    self.counts.asks += 1;
                    self.weigh_reply(said);
                }
                Some(Due::Words | Due::OptOut | Due::OptIn | Due::Forget(_)) => {
                    self.counts.commands += 1;
                    self.weigh_reply(said);
                }
                Some(Due::Reaction) => {
                    self.counts.thanks += 1;
                    if !reacted.contains(&said.id) {
                        self.blame("thanks without a reaction", told(said.id));
                    }
                }
                Some(Due::Counted) => *old.entry(said.id.0).or_default() += 1,
                Some(Due::AnswerIfKnown(_) | Due::ReactionIfKnown(_)) | None => {
                    if self.replies.contains_key(&said.id) {
                        self.blame("replies to what was not for the bot", told(said.id));
                    }
                }
            }
        }
        self.weigh_backlog(&old);
        let jobs = |kind: &str| self.kept.jobs.get(kind).copied().unwrap_or(0);
        let (answers, commands, thanks) = (jobs("answer"), jobs("command"), jobs("thank"));
        // The question's job replaces the mention's job, whose row stays.
        self.expect("answer jobs", self.counts.asks + self.counts.in_two, answers);
        self.expect("command jobs", self.counts.commands, commands);
        self.expect("jobs of thanks", self.counts.thanks, thanks);
    }

    /// Returns the expected outcome, where it depends on the daemon's knowledge; `None` for no outcome.
    fn resolved(&self, said: &Said) -> Option<Due> {
        let is_known = |parent: MessageId| self.kept.answers.contains_key(&(said.id.0, parent));
        match said.due {
            Due::AnswerIfKnown(parent) => is_known(parent).then_some(Due::Answer),
            Due::ReactionIfKnown(parent) => is_known(parent).then_some(Due::Reaction),
            due => Some(due),
        }
    }

    /// Returns `true` if this replies to an answer that the daemon knows, and is counted as such.
    fn is_ask_of_its_own(&self, id: Id) -> bool {
        self.ledger.find(id).and_then(|said| self.resolved(said)) == Some(Due::Answer)
    }

    fn weigh_reply(&mut self, said: &Said) {
        let shown = self.replies.get(&said.id).cloned().unwrap_or_default();
        let parts = self.parts(said.id).to_vec();
        let keys: HashSet<&str> = parts.iter().map(|part| part.key.as_str()).collect();
        let sent = parts.iter().filter(|part| part.state == "sent").count();
        let unknown: usize = parts.iter().map(|part| part.unknown_sends).sum();
        let case = || format!("{} ({:?}, {} shown, {parts:?})", told(said.id), said.due, shown.len());
        if let Some(first) = shown.iter().map(|message| message.date).min() {
            self.replies_ms.push(first.since(said.at).as_secs_f64() * 1000.0);
        }
        if keys.len() > 1 {
            self.blame("triggers with two replies", case());
        }
        if shown.len() < sent {
            self.blame("replies that Telegram does not have", case());
        }
        if shown.len() > parts.len() {
            self.counts.shown_twice += 1;
            if shown.len() > sent + unknown || shown.len() > parts.len() * 2 {
                self.blame("replies shown more than once for no reason", case());
            }
        }
        match (shown.len(), unknown) {
            (0, 0) if parts.iter().all(|part| part.is_blank) && !parts.is_empty() => {
                self.blame("replies that were forgotten before they were out", case());
            }
            (0, 0) => self.blame("triggers without a reply", case()),
            (0, _) => self.counts.given_up += 1,
            (_, _) if said.is_ask() => self.counts.answered += 1,
            (_, _) => {}
        }
        let place = self.stage.telegram.message(said.id.0, said.id.1).and_then(|message| message.forum_topic);
        if shown.iter().any(|message| message.chat == said.id.0 && message.forum_topic != place) {
            self.blame("replies in another topic", case());
        }
    }

    fn weigh_backlog(&mut self, old: &BTreeMap<ChatId, usize>) {
        for place in &self.stage.places {
            let lines: Vec<_> = self.kept.backlog.iter().filter(|(chat, ..)| *chat == place.chat).collect();
            let counted = lines.iter().map(|(_, _, count)| count).sum();
            let sent = lines.iter().filter(|(_, state, _)| state == "sent").count();
            let shown = self.replies.get(&(place.chat, MessageId(0))).map_or(0, Vec::len);
            self.counts.counted += counted;
            self.expect("old tags counted", old.get(&place.chat).copied().unwrap_or(0), counted);
            if shown < sent {
                self.blame("lines about old tags that Telegram does not have", format!("{shown} of {sent}"));
            }
        }
        let questions: HashSet<Id> = self.questions.values().copied().collect();
        let strange: Vec<Id> = self
            .replies
            .iter()
            .filter(|(to, _)| !questions.contains(to))
            .filter(|((chat, to), said)| match self.ledger.find((*chat, *to)) {
                Some(said) => said.due == Due::Counted,
                None => *to != MessageId(0) || said.iter().any(|line| !line.text.starts_with("While I was away")),
            })
            .map(|(to, _)| *to)
            .collect();
        for to in strange {
            self.blame("said without being asked", told(to));
        }
    }

    fn look_for_leftovers(&mut self) {
        self.expect("updates in the inbox", self.counts.updates, self.kept.updates);
        self.expect("parked updates", 0, self.kept.parked_updates);
        self.expect("open jobs that a member waits for", 0, self.kept.open_jobs);
        self.counts.background_jobs = self.kept.background_jobs;
        for job in &self.kept.parked_jobs {
            self.wrong.entry("parked jobs").or_default().push(job.clone());
        }
        if self.kept.integrity != "ok" {
            self.blame("integrity_check", self.kept.integrity.clone());
        }
    }

    fn look_at_calls(&mut self) {
        for what in self.stage.telegram.unexpected() {
            self.blame("Telegram did not expect", what);
        }
        for what in self.stage.model.unexpected() {
            self.blame("the model did not expect", what);
        }
        let api = BotApi::bundled();
        for call in self.stage.telegram.calls() {
            if let Err(why) = validate_request(api, &call.method, &call.params) {
                self.blame("requests that Telegram would not understand", why);
            }
        }
    }
}

/// Messages of which nothing may be stored.
struct Rules {
    /// Forgotten messages; `true` if the member was told so.
    forgotten: HashMap<Id, bool>,
    /// Commands to forget, which are deleted with their target.
    commands: HashSet<Id>,
    /// Opt-outs and opt-ins in order, with the times of the command and of its reply.
    changes: HashMap<(ChatId, UserId), Vec<Change>>,
}

struct Change {
    is_out: bool,
    said_at: Timestamp,
    done_by: Option<Timestamp>,
    command: MessageId,
}

impl Rules {
    fn of(court: &Court<'_>) -> Self {
        let mut rules = Self { forgotten: HashMap::new(), commands: HashSet::new(), changes: HashMap::new() };
        for said in &court.ledger.said {
            let replied = court.replies.get(&said.id).and_then(|replies| replies.iter().map(|reply| reply.date).min());
            match said.due {
                Due::Forget(target) => {
                    rules.forgotten.insert((said.id.0, target), replied.is_some());
                    rules.commands.insert(said.id);
                }
                Due::OptOut | Due::OptIn => {
                    let change = Change {
                        is_out: said.due == Due::OptOut,
                        said_at: said.at,
                        done_by: replied,
                        command: said.id.1,
                    };
                    rules.changes.entry((said.id.0, said.from)).or_default().push(change);
                }
                _ => {}
            }
        }
        rules
    }

    fn left(&self, message: &SandboxMessage) -> Left {
        let id = (message.chat, message.id);
        if self.commands.contains(&id) {
            return Left::Either;
        }
        if let Some(is_told) = self.forgotten.get(&id) {
            return if *is_told { Left::Stub } else { Left::Either };
        }
        let changes = self.changes.get(&(message.chat, message.from));
        let last = changes.and_then(|changes| changes.iter().rfind(|change| change.said_at <= message.date));
        match last {
            None => Left::Whole,
            Some(change) if change.command == message.id => Left::Either,
            Some(change) if change.done_by.is_none_or(|done| message.date <= done) => Left::Either,
            Some(change) if change.is_out => Left::Stub,
            Some(_) => Left::Whole,
        }
    }
}

fn reacted(stage: &Stage) -> HashSet<Id> {
    let actions = stage.telegram.actions_since(Cursor::default());
    let reactions = actions.into_iter().filter_map(|action| match action {
        BotAction::Reacted { chat, message, emoji } if !emoji.is_empty() => Some((chat, message)),
        _ => None,
    });
    reactions.collect()
}

fn told((chat, message): Id) -> String {
    format!("{chat}:{message}")
}
