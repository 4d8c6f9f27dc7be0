//! Simulates members: they write in bursts and lulls, edit, send albums, mention the bot in every way, and use its
//! commands.
//!
//! The same seed gives the same sequence of acts. Their timing relative to the daemon's work varies.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::Duration;

use chime_core::{ChatId, ForumTopicId, MessageId, Timestamp, UserId};
use chime_sandbox::{BotAction, Cursor, Post, PostContent};

use crate::ledger::{Due, Ledger, Said};
use crate::stage::{Place, Stage};
use crate::words::{ASKS, CHATTER, pick};
use chime_eval::synthetic::Random;

/// Messages per second in a burst, in a lull and in between, each with its share in percent.
const RATES: [(u64, f64); 5] = [(15, 0.0), (25, 6.0), (35, 22.0), (20, 50.0), (5, 120.0)];
/// Duration of such a phase, in milliseconds.
const PHASE_MS: (u64, u64) = (2_000, 12_000);
/// Number of latest messages of a chat that replies and edits refer to.
const RECENT: usize = 60;
/// Wait before replying to an answer, so that the daemon has surely recorded it as sent, however long the file was
/// locked.
const SETTLED: Duration = Duration::from_secs(20);
/// Longest wait for the reply to an opt-out or opt-in before the next one.
const FICKLE_PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy)]
enum Act {
    Talk,
    Reply,
    Edit,
    Album,
    Media,
    Forward,
    Ask,
    BareTag,
    TagInReply,
    TaggedAlbum,
    TagByEdit,
    EditedAsk,
    FollowUp,
    Thanks,
    Why,
    AskCommand,
    Privacy,
    OldTag,
    Fickle,
    Consent,
    Forget,
}

/// Frequencies of acts in a group, per thousand.
const ACTS: [(u64, Act); 21] = [
    (570, Act::Talk),
    (160, Act::Reply),
    (45, Act::Edit),
    (16, Act::Album),
    (60, Act::Media),
    (12, Act::Forward),
    (22, Act::Ask),
    (8, Act::BareTag),
    (6, Act::TagInReply),
    (2, Act::TaggedAlbum),
    (4, Act::TagByEdit),
    (3, Act::EditedAsk),
    (8, Act::FollowUp),
    (4, Act::Thanks),
    (4, Act::Why),
    (4, Act::AskCommand),
    (3, Act::Privacy),
    (3, Act::OldTag),
    (60, Act::Fickle),
    (4, Act::Consent),
    (2, Act::Forget),
];

/// Message that others may refer to.
#[derive(Debug, Clone, Copy)]
struct Recent {
    id: MessageId,
    from: UserId,
    is_ask: bool,
}

/// Answer of the bot.
#[derive(Debug, Clone, Copy)]
struct Answer {
    chat: ChatId,
    id: MessageId,
    at: Timestamp,
}

/// Consent state of a member who opts out and in.
#[derive(Debug, Clone, Copy)]
struct Mind {
    is_out: bool,
    command: MessageId,
    at: Timestamp,
}

#[derive(Default)]
pub struct Load {
    pub ledger: Ledger,
    /// Number of messages and edits sent.
    pub acts: u64,
    seed: u64,
    pace: Random,
    phase_ends: Duration,
    rate: f64,
    owed: f64,
    stepped: Duration,
    recent: BTreeMap<ChatId, VecDeque<Recent>>,
    answers: VecDeque<Answer>,
    seen: HashSet<(ChatId, MessageId)>,
    minds: BTreeMap<(ChatId, UserId), Mind>,
    heard: Cursor,
}

impl Load {
    pub fn new(seed: u64) -> Self {
        Self { seed, pace: Random(seed), ..Self::default() }
    }

    /// Performs the acts planned until `at`, counted from the beginning.
    pub fn step(&mut self, stage: &Stage, at: Duration) {
        self.listen(stage);
        if at >= self.phase_ends {
            let (shortest, longest) = PHASE_MS;
            self.phase_ends = at + Duration::from_millis(shortest + self.pace.below(longest - shortest));
            self.rate = *pick(&RATES, self.pace.below(100));
        }
        self.owed += (at - self.stepped).as_secs_f64() * self.rate;
        self.stepped = at;
        while self.owed >= 1.0 {
            self.owed -= 1.0;
            self.acts += 1;
            // Each act has its own random generator, so that one act does not change the next.
            let mut random = Random(self.seed ^ self.acts.wrapping_mul(0xD6E8_FEB8_6659_FD93));
            self.act(&mut Scene { stage, random: &mut random, now: stage.clock.now() });
        }
    }

    /// Records new messages of the bot.
    pub fn listen(&mut self, stage: &Stage) {
        let next = stage.telegram.cursor();
        // Messages that arrive meanwhile are seen twice, which is harmless.
        for action in stage.telegram.actions_since(self.heard) {
            let BotAction::Sent(message) = action else { continue };
            let Some(parent) = message.reply_to else { continue };
            if !self.seen.insert((message.chat, message.id)) {
                continue;
            }
            self.ledger.note_reply((message.chat, parent));
            if self.ledger.find((message.chat, parent)).is_some_and(Said::is_ask) {
                self.answers.push_back(Answer { chat: message.chat, id: message.id, at: message.date });
            }
        }
        let excess = self.answers.len().saturating_sub(200);
        self.answers.drain(..excess);
        self.heard = next;
    }

    fn act(&mut self, scene: &mut Scene<'_>) {
        let share = scene.random.below(1_000);
        let places = &scene.stage.places;
        let mut sum = 0;
        let place = places.iter().find(|place| {
            sum += place.share;
            share < sum
        });
        let Some(place) = place.or(places.first()) else { return };
        if place.is_private {
            return self.act_in_private(scene, place);
        }
        let act = *pick(&ACTS, scene.random.below(1_000));
        match act {
            Act::Talk => self.talk(scene, place),
            Act::Reply => self.reply(scene, place),
            Act::Edit | Act::TagByEdit | Act::EditedAsk => self.edit(scene, place, act),
            Act::Album | Act::TaggedAlbum => self.album(scene, place, matches!(act, Act::TaggedAlbum)),
            Act::Media => self.media(scene, place),
            Act::Forward => {
                let post = scene.post(place, scene.chatter(self.acts)).forwarded_from("Somebody");
                scene.say(place, post);
            }
            Act::Ask | Act::BareTag | Act::TagInReply | Act::AskCommand => self.ask(scene, place, act),
            Act::FollowUp | Act::Thanks | Act::Why => self.answer_back(scene, place, act),
            Act::Privacy => {
                let command = ["/privacy@bot", "/help@bot"][scene.random.below(2) as usize];
                let post = scene.post(place, command.to_owned());
                self.say(scene, place, post, Due::Words);
            }
            Act::OldTag => self.old_tag(scene, place),
            Act::Fickle => self.fickle_talk(scene, place),
            Act::Consent => self.change_mind(scene, place),
            Act::Forget => self.forget(scene, place),
        }
    }

    /// In private every message is for the bot.
    fn act_in_private(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let (text, due) = match scene.random.below(20) {
            0 => ("/privacy".to_owned(), Due::Words),
            1 => ("/help".to_owned(), Due::Words),
            2 => ("thanks!".to_owned(), Due::Reaction),
            3 => ("/ask who comes on Friday?".to_owned(), Due::Answer),
            _ => (scene.chatter(self.acts), Due::Answer),
        };
        let post = scene.post(place, text);
        self.say(scene, place, post, due);
    }

    fn talk(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let post = scene.post(place, scene.chatter(self.acts));
        let from = post.from;
        let id = scene.say(place, post);
        self.remember(place, Recent { id, from, is_ask: false });
    }

    fn reply(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let Some(parent) = self.some_recent(scene, place, false) else { return self.talk(scene, place) };
        let post = scene.post(place, scene.chatter(self.acts));
        let from = post.from;
        let id = scene.say(place, Post { forum_topic: None, ..post }.reply_to(parent.id));
        self.remember(place, Recent { id, from, is_ask: false });
    }

    fn edit(&mut self, scene: &mut Scene<'_>, place: &Place, act: Act) {
        let wants_ask = matches!(act, Act::EditedAsk);
        let Some(target) = self.some_recent(scene, place, wants_ask) else { return self.talk(scene, place) };
        let text = match act {
            Act::Edit => format!("{} (edited)", scene.chatter(self.acts)),
            Act::TagByEdit => format!("{}, @bot?", scene.chatter(self.acts)),
            _ => format!("@bot I mean, {}", scene.chatter(self.acts)),
        };
        scene.stage.telegram.edit(place.chat, target.id, &text, scene.now);
        if matches!(act, Act::TagByEdit) {
            self.forget_recent(place, target.id);
            self.note(scene, place, target.id, target.from, Due::Answer);
            self.remember(place, Recent { is_ask: true, ..target });
        }
    }

    fn album(&mut self, scene: &mut Scene<'_>, place: &Place, is_tagged: bool) {
        let first = scene.post(place, String::new()).with(PostContent::Photo).in_album(format!("album-{}", self.acts));
        let caption = match is_tagged {
            true => "@bot where was this?".to_owned(),
            false => scene.chatter(self.acts),
        };
        let posts = (0..2 + scene.random.below(3)).map(|number| match number {
            0 => Post { text: caption.clone(), ..first.clone() },
            _ => first.clone(),
        });
        let posts: Vec<Post> = posts.collect();
        let ids = scene.stage.telegram.say_many(place.chat, posts);
        if let Some(id) = ids.first().filter(|_| is_tagged) {
            self.note(scene, place, *id, first.from, Due::Answer);
        }
    }

    fn media(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let content = match scene.random.below(7) {
            0 => PostContent::Sticker { emoji: "🎉".to_owned() },
            1 => PostContent::Voice { seconds: 7 },
            2 => PostContent::Video { seconds: 12 },
            3 => PostContent::Document { file_name: "route.gpx".to_owned() },
            4 => {
                PostContent::Poll { question: "Where?".to_owned(), options: vec!["Lake".to_owned(), "Hill".to_owned()] }
            }
            5 => PostContent::Location,
            _ => PostContent::Photo,
        };
        let text = match content {
            PostContent::Photo | PostContent::Video { .. } | PostContent::Document { .. } => scene.chatter(self.acts),
            _ => String::new(),
        };
        let post = scene.post(place, text).with(content);
        scene.say(place, post);
    }

    fn ask(&mut self, scene: &mut Scene<'_>, place: &Place, act: Act) {
        let parent = match act {
            Act::TagInReply => self.some_recent(scene, place, false),
            _ => None,
        };
        let text = match act {
            Act::Ask => scene.one_of(&ASKS).to_owned(),
            Act::AskCommand => "/ask who brings what?".to_owned(),
            _ => "@bot".to_owned(),
        };
        let mut post = scene.post(place, text);
        if let Some(parent) = parent {
            post = Post { forum_topic: None, ..post }.reply_to(parent.id);
        }
        let (from, is_ask) = (post.from, matches!(act, Act::Ask));
        let due = due_to(&post);
        let id = self.say(scene, place, post, due);
        if is_ask {
            self.remember(place, Recent { id, from, is_ask });
        }
    }

    /// Replies to an answer of the bot.
    fn answer_back(&mut self, scene: &mut Scene<'_>, place: &Place, act: Act) {
        let known: Vec<Answer> =
            self.answers.iter().filter(|answer| is_settled(answer, place, scene)).copied().collect();
        let Some(answer) = scene.some(&known) else { return self.talk(scene, place) };
        let (text, due) = match act {
            Act::FollowUp => (scene.chatter(self.acts), Due::AnswerIfKnown(answer.id)),
            Act::Thanks => ("thanks!".to_owned(), Due::ReactionIfKnown(answer.id)),
            _ => ("/why".to_owned(), Due::Words),
        };
        let post = Post { forum_topic: None, ..scene.post(place, text) }.reply_to(answer.id);
        self.say(scene, place, post, due);
    }

    /// Sends a trigger that Telegram delivers long after it was sent.
    fn old_tag(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let age = Duration::from_secs(16 * 60 + scene.random.below(1_800));
        let post = Post { at: scene.now.minus(age), ..scene.post(place, "@bot are we still on?".to_owned()) };
        self.say(scene, place, post, Due::Counted);
    }

    /// Members who may have opted out write and ask like the others.
    fn fickle_talk(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let text = scene.chatter(self.acts);
        let Some(from) = scene.some(&scene.stage.fickle.clone()) else { return };
        let asks = scene.random.below(30) == 0;
        let post = Post { from, ..scene.post(place, text) };
        match asks {
            true => {
                let ask = Post { text: scene.one_of(&ASKS).to_owned(), ..post };
                let due = due_to(&ask);
                self.say(scene, place, ask, due);
            }
            false => drop(scene.say(place, post)),
        }
    }

    fn change_mind(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let Some(from) = scene.some(&scene.stage.fickle.clone()) else { return };
        let mind = self.minds.get(&(place.chat, from)).copied();
        let is_settled = mind.is_none_or(|mind| {
            self.ledger.is_replied((place.chat, mind.command)) || scene.now.since(mind.at) > FICKLE_PATIENCE
        });
        if !is_settled {
            return;
        }
        let is_out = !mind.is_some_and(|mind| mind.is_out);
        let (text, due) = if is_out { ("/optout", Due::OptOut) } else { ("/optin", Due::OptIn) };
        let post = Post { from, ..scene.post(place, text.to_owned()) };
        let command = self.say(scene, place, post, due);
        self.minds.insert((place.chat, from), Mind { is_out, command, at: scene.now });
    }

    /// Requests to forget a member's own message; nobody refers to it afterwards.
    fn forget(&mut self, scene: &mut Scene<'_>, place: &Place) {
        let Some(target) = self.some_recent(scene, place, false) else { return };
        self.forget_recent(place, target.id);
        let post = Post { from: target.from, forum_topic: None, ..scene.post(place, "/forget".to_owned()) };
        self.say(scene, place, post.reply_to(target.id), Due::Forget(target.id));
    }

    fn say(&mut self, scene: &Scene<'_>, place: &Place, post: Post, due: Due) -> MessageId {
        let from = post.from;
        let id = scene.say(place, post);
        self.note(scene, place, id, from, due);
        id
    }

    fn note(&mut self, scene: &Scene<'_>, place: &Place, id: MessageId, from: UserId, due: Due) {
        self.ledger.note(Said { id: (place.chat, id), from, due, at: scene.now });
    }

    fn remember(&mut self, place: &Place, recent: Recent) {
        let recents = self.recent.entry(place.chat).or_default();
        recents.push_back(recent);
        if recents.len() > RECENT {
            recents.pop_front();
        }
    }

    fn forget_recent(&mut self, place: &Place, id: MessageId) {
        self.recent.entry(place.chat).or_default().retain(|recent| recent.id != id);
    }

    fn some_recent(&mut self, scene: &mut Scene<'_>, place: &Place, is_ask: bool) -> Option<Recent> {
        let recents = self.recent.get(&place.chat)?;
        let fitting: Vec<Recent> = recents.iter().filter(|recent| recent.is_ask == is_ask).copied().collect();
        scene.some(&fitting)
    }
}

/// Returns the expected outcome. A mention without words waits for its author's question, unless it is a reply.
fn due_to(ask: &Post) -> Due {
    let has_words = ask.text.replace("@bot", "").contains(char::is_alphanumeric);
    if has_words || ask.reply_to.is_some() { Due::Answer } else { Due::AnswerToEither }
}

fn is_settled(answer: &Answer, place: &Place, scene: &Scene<'_>) -> bool {
    answer.chat == place.chat && scene.now.since(answer.at) > SETTLED
}

/// Time and author of one act.
struct Scene<'a> {
    stage: &'a Stage,
    random: &'a mut Random,
    now: Timestamp,
}

impl Scene<'_> {
    fn post(&mut self, place: &Place, text: String) -> Post {
        let from = self.some(&place.people).unwrap_or(UserId(0));
        let topic = self.random.below(place.topics.len() as u64 + 1) as usize;
        let forum_topic: Option<ForumTopicId> = place.topics.get(topic).copied();
        Post { forum_topic, ..Post::new(from, text, self.now) }
    }

    fn say(&self, place: &Place, post: Post) -> MessageId {
        self.stage.telegram.say(place.chat, post)
    }

    /// Returns a text that was not used before.
    fn chatter(&self, number: u64) -> String {
        format!("{} ({number})", CHATTER[(number.wrapping_mul(7) % CHATTER.len() as u64) as usize])
    }

    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.random.below(texts.len() as u64) as usize]
    }

    fn some<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        let index = self.random.below(of.len().max(1) as u64);
        of.get(index as usize).copied()
    }
}
