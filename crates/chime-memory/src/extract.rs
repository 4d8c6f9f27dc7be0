//! Extractive summaries, made without a model: the most central messages of a session verbatim, and the most
//! informative bullets of several summaries. Deterministic.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::bullets::{cost, tidy};
use crate::{members, words};
use chime_core::trigger::{Languages, calls_bot};
use chime_core::{Bullet, BulletKind, Seq, clip};
use chime_relevance::retrieval::cues;

const BULLETS: usize = 15;
/// Maximum length of a message in the summary, in characters; the rest is cut off.
const SHOWN_CHARS: usize = 180;
/// Number of common words by which a line answers a question, or says that a task is done.
const SHARED: usize = 2;
/// Similarity above which a message is left out because a better one says the same.
const SAME: f64 = 0.8;

/// Message of a session, prepared for an extract.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryMessage {
    pub seq: Seq,
    /// Text, in which members are markers such as `{u7}`.
    pub text: String,
    /// Author; `None` for bots, whose messages are not summarized.
    pub by: Option<u32>,
    pub reply_to: Option<Seq>,
    /// Embedding of the text, normalized; empty if unknown.
    pub vector: Vec<f32>,
}

/// Weights of a message's score, set by hand on the sessions of the evaluation.
mod weight {
    /// Weight of the square root of the mean similarity to the other messages of the session.
    pub const CENTRAL: f64 = 1.0;
    /// Added for each reply to the message, up to two.
    pub const REPLY: f64 = 0.25;
    pub const SETTLED: f64 = 0.9;
    pub const TAKEN: f64 = 0.6;
    pub const PLANNED: f64 = 0.4;
    /// Added if the message contains a number, such as a date or price.
    pub const NUMBER: f64 = 0.35;
    /// Added for each distinct content word, up to eight.
    pub const WORD: f64 = 0.07;
    pub const QUESTION: f64 = -0.45;
}

/// Selects the best messages of a session as bullets, up to `cap` tokens together, in message order. Leaves out bots,
/// messages to a bot, and messages that say the same as a better one.
pub fn session(lines: &[SummaryMessage], cap: usize, estimate: fn(&str) -> usize) -> Vec<Bullet> {
    let readings: Vec<LineFeatures> = lines.iter().map(LineFeatures::of).collect();
    let mut ranked: Vec<(f64, usize)> = lines
        .iter()
        .enumerate()
        .filter(|(place, line)| line.by.is_some() && readings[*place].tells_something() && !calls_bot(&line.text))
        .map(|(place, line)| (score(place, line, lines, &readings), place))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut chosen: Vec<(usize, Bullet)> = Vec::new();
    let mut spent = 0;
    for (_, place) in ranked {
        if chosen.len() == BULLETS {
            break;
        }
        if chosen
            .iter()
            .any(|(other, _)| alike(&lines[place], &lines[*other], &readings[place], &readings[*other]) > SAME)
        {
            continue;
        }
        let bullet = Bullet { kind: kind(place, lines, &readings), ..bullet(&lines[place]) };
        let tokens = cost(std::slice::from_ref(&bullet), estimate);
        if spent + tokens <= cap {
            spent += tokens;
            chosen.push((place, bullet));
        }
    }
    chosen.sort_by_key(|(place, _)| *place);
    chosen.into_iter().map(|(_, bullet)| bullet).collect()
}

fn bullet(line: &SummaryMessage) -> Bullet {
    let text = clip(&tidy(&line.text), SHOWN_CHARS).into_owned();
    let text = match line.by {
        Some(number) => format!("{}: {text}", members::marker(number)),
        None => text,
    };
    Bullet::fact(text, vec![line.seq])
}

fn kind(place: usize, lines: &[SummaryMessage], readings: &[LineFeatures]) -> BulletKind {
    let found = cues(&lines[place].text);
    match Languages::shipped().is_question(&lines[place].text) {
        true if answer_to(place, lines, readings).is_none() => BulletKind::Question,
        true => BulletKind::Fact,
        false if found.settled => BulletKind::Decision,
        false if found.taken => BulletKind::Task,
        false => BulletKind::Fact,
    }
}

/// Returns the line that answers the question at `place`: a reply to it, the next line of another member, or a later
/// one with several of its words.
fn answer_to(place: usize, lines: &[SummaryMessage], readings: &[LineFeatures]) -> Option<usize> {
    let asked = &lines[place];
    let is_answer = |other: &usize| {
        let line = &lines[*other];
        let is_reply = line.reply_to == Some(asked.seq);
        let is_next = line.reply_to.is_none() && lines[place..*other].iter().all(|between| between.by == asked.by);
        let is_same = shared(&readings[place], &readings[*other]) >= SHARED;
        line.by.is_some()
            && line.by != asked.by
            && (is_reply || is_next || is_same)
            && !Languages::shipped().is_question(&line.text)
    };
    (place + 1..lines.len()).find(is_answer)
}

fn shared(a: &LineFeatures, b: &LineFeatures) -> usize {
    a.stems.intersection(&b.stems).count()
}

/// Returns the first sources of those `items`, open tasks and questions, that a later line of `lines` shows to be done
/// or answered: a reply, or a line with several words of the item; one word is enough for a member's own task.
pub fn closed(items: &[Bullet], lines: &[SummaryMessage]) -> Vec<Seq> {
    let readings: Vec<LineFeatures> = lines.iter().map(LineFeatures::of).collect();
    let is_closed = |item: &&Bullet| {
        let (own, by) = (LineFeatures::of_text(&item.text), members::numbers(&item.text));
        lines.iter().zip(&readings).any(|(line, reading)| {
            let is_later = item.sources.last().is_some_and(|last| *last < line.seq);
            let is_reply = line.reply_to.is_some_and(|parent| item.sources.contains(&parent));
            let is_own = line.by.is_some_and(|author| by.first() == Some(&author));
            let words = shared(&own, reading);
            let says_so = match item.kind {
                BulletKind::Task => cues(&line.text).done && (is_reply || words >= SHARED || is_own && words > 0),
                _ => !is_own && (is_reply || words >= SHARED),
            };
            is_later && line.by.is_some() && says_so && !Languages::shipped().is_question(&line.text)
        })
    };
    items.iter().filter(is_closed).filter_map(|item| item.sources.first().copied()).collect()
}

struct LineFeatures {
    stems: BTreeSet<String>,
    has_number: bool,
}

impl LineFeatures {
    fn of(line: &SummaryMessage) -> Self {
        Self::of_text(&line.text)
    }

    fn of_text(text: &str) -> Self {
        let stems = words::stems(text);
        let has_number = stems.iter().any(|stem| words::has_digit(stem));
        Self { stems, has_number }
    }

    fn tells_something(&self) -> bool {
        self.stems.len() >= 2
    }
}

fn score(place: usize, line: &SummaryMessage, lines: &[SummaryMessage], readings: &[LineFeatures]) -> f64 {
    let reading = &readings[place];
    let others = lines.len().saturating_sub(1).max(1) as f64;
    let likeness: f64 = (0..lines.len())
        .filter(|other| *other != place)
        .map(|other| alike(line, &lines[other], reading, &readings[other]).max(0.0))
        .sum();
    let replies = lines.iter().filter(|other| other.reply_to == Some(line.seq)).count().min(2) as f64;
    // Without the square root, scores in long sessions would be lower: the mean similarity falls with the number of
    // messages.
    weight::CENTRAL * (likeness / others).sqrt() + weight::REPLY * replies + telling(&line.text, reading)
}

/// Scores a text by its content only: decisions, promises, plans and numbers raise the score, questions lower it.
fn telling(text: &str, reading: &LineFeatures) -> f64 {
    let found = cues(text);
    let flag = |is: bool, weight: f64| if is { weight } else { 0.0 };
    let is_question = Languages::shipped().is_question(text);
    flag(found.settled && !is_question, weight::SETTLED)
        + flag(found.taken && !is_question, weight::TAKEN)
        + flag(found.planned, weight::PLANNED)
        + flag(reading.has_number, weight::NUMBER)
        + weight::WORD * reading.stems.len().min(8) as f64
        + flag(is_question, weight::QUESTION)
}

/// Returns the similarity of two messages, 0 to 1: cosine of their embeddings or overlap of their words, whichever is
/// higher.
fn alike(a: &SummaryMessage, b: &SummaryMessage, first: &LineFeatures, second: &LineFeatures) -> f64 {
    let common = first.stems.intersection(&second.stems).count() as f64;
    let all = first.stems.len() + second.stems.len();
    let by_words = if all == 0 { 0.0 } else { 2.0 * common / all as f64 };
    if a.vector.is_empty() || a.vector.len() != b.vector.len() {
        return by_words;
    }
    let cosine: f64 = a.vector.iter().zip(&b.vector).map(|(a, b)| f64::from(a * b)).sum();
    by_words.max(cosine)
}

/// Cache of the scores and token counts of bullets, by text. Without it, each new session would score a month of
/// bullets again.
#[derive(Debug)]
pub struct Ranking {
    estimate: fn(&str) -> usize,
    /// Score and token count of each text, by the hash of the text.
    known: HashMap<u64, Rank>,
}

#[derive(Debug, Clone, Copy)]
struct Rank {
    worth: f64,
    tokens: usize,
}

impl Ranking {
    /// Number of cached texts at which the cache is emptied: a month of about ten busy chats.
    const MOST: usize = 30_000;

    pub fn new(estimate: fn(&str) -> usize) -> Self {
        Self { estimate, known: HashMap::new() }
    }

    fn rank(&mut self, bullet: &Bullet) -> Rank {
        let mut hasher = DefaultHasher::new();
        bullet.text.hash(&mut hasher);
        let key = hasher.finish();
        if let Some(rank) = self.known.get(&key) {
            return *rank;
        }
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        let rank = Rank { worth: worth(bullet), tokens: cost(std::slice::from_ref(bullet), self.estimate) };
        self.known.insert(key, rank);
        rank
    }
}

/// Selects the `most` best bullets, none longer than its equal share of `cap` tokens, and keeps their order. Selecting
/// from a selection and new bullets gives the same result as selecting from all at once, so a summary may be extended
/// in any number of steps.
pub fn rolled(bullets: &[Bullet], most: usize, cap: usize, ranking: &mut Ranking) -> Vec<Bullet> {
    // Gives each bullet the same limit, so that a bullet is kept or dropped independently of the others.
    let share = cap / most.max(1);
    // If bullets have the same text, the last one is used.
    let last: HashMap<&str, usize> =
        bullets.iter().enumerate().map(|(place, bullet)| (bullet.text.as_str(), place)).collect();
    let mut fitting: Vec<(f64, usize)> = bullets
        .iter()
        .enumerate()
        .filter(|(place, bullet)| last.get(bullet.text.as_str()) == Some(place))
        .map(|(place, bullet)| (ranking.rank(bullet), place))
        .filter(|(rank, _)| rank.tokens <= share)
        .map(|(rank, place)| (rank.worth, place))
        .collect();
    fitting.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(b.cmp(a)));
    fitting.truncate(most);
    fitting.sort_by_key(|(_, place)| *place);
    fitting.into_iter().map(|(_, place)| bullets[place].clone()).collect()
}

/// Selects up to `most` of the best bullets that together have at most `cap` tokens, and keeps their order.
pub fn most_telling(bullets: &[Bullet], most: usize, cap: usize, estimate: fn(&str) -> usize) -> Vec<Bullet> {
    let mut ranked: Vec<(f64, usize)> = bullets.iter().map(worth).zip(0..).collect();
    ranked.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(b.cmp(a)));
    let mut left = cap;
    let mut chosen: Vec<usize> = Vec::new();
    for (_, place) in ranked {
        let tokens = cost(std::slice::from_ref(&bullets[place]), estimate);
        if chosen.len() < most && tokens <= left {
            left -= tokens;
            chosen.push(place);
        }
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|place| bullets[place].clone()).collect()
}

fn worth(bullet: &Bullet) -> f64 {
    telling(&bullet.text, &LineFeatures::of_text(&bullet.text))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use chime_core::estimate_tokens;

    fn lines(chat: &str) -> Vec<SummaryMessage> {
        chime_core::testkit::transcript(chat)
            .into_iter()
            .map(|stored| SummaryMessage {
                seq: stored.seq,
                text: stored.message.text,
                by: Some(stored.message.sender.id.0.rem_euclid(97) as u32),
                reply_to: stored.message.reply_to.map(|id| Seq(id.0 as u32)),
                vector: Vec::new(),
            })
            .collect()
    }

    #[test]
    fn an_extract_holds_what_was_settled_in_the_order_of_the_talk() {
        let talk = lines(
            "
            10:00 ann#1 where do we eat on Friday?
            10:01 bob#2 no idea
            10:02 cat#3 thai place or pizza at the harbour?
            10:03 bob#4 pizza again, hm
            10:04 ann#5>3 going for the thai place then, Friday 19:30
            10:05 cat#6 lol
            10:06 bob#7>5 I'll book a table for six
            ",
        );
        let told: Vec<String> = session(&talk, 45, estimate_tokens)
            .iter()
            .map(|it| it.text.split_once(' ').unwrap().1.to_owned())
            .collect();
        expect![[r#"
            going for the thai place then, Friday 19:30
            I'll book a table for six"#]]
        .assert_eq(&told.join("\n"));
        assert_eq!(session(&[], 300, estimate_tokens), []);
    }

    #[test]
    fn what_was_said_before_is_not_said_again() {
        let talk = lines("10:00 ann#1 the door code is 4711\n10:01 ann#2 the door code is 4711");
        assert_eq!(session(&talk, 300, estimate_tokens).len(), 1);
    }

    /// Parses the sessions of `tests/data/decisions.txt`, each with its name, its messages, and the messages marked as
    /// decisions.
    fn marked() -> Vec<(String, Vec<SummaryMessage>, BTreeSet<Seq>)> {
        let mut found: Vec<(String, Vec<SummaryMessage>, BTreeSet<Seq>)> = Vec::new();
        let mut authors: Vec<String> = Vec::new();
        for line in include_str!("../../../tests/data/decisions.txt").lines().filter(|line| !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix("== ") {
                found.push((name.to_owned(), Vec::new(), BTreeSet::new()));
                continue;
            }
            let (_, lines, marks) = found.last_mut().expect("a session before its messages");
            let is_marked = line.starts_with('!');
            let mut parts = line[1..].splitn(5, ' ');
            let mut part = || parts.next().expect("five parts");
            let seq = Seq(part().parse().expect("a number"));
            let _time = part();
            let author = part().to_owned();
            let reply_to = part().strip_prefix('>').map(|seq| Seq(seq.parse().expect("a number")));
            let place = authors.iter().position(|known| *known == author).unwrap_or_else(|| {
                authors.push(author.clone());
                authors.len() - 1
            });
            let by = (author != "Bot").then_some(place as u32);
            lines.push(SummaryMessage { seq, text: part().to_owned(), by, reply_to, vector: Vec::new() });
            if is_marked {
                marks.insert(seq);
            }
        }
        found
    }

    /// Returns the number of marked decisions that the extracts contain, and the number of all marked decisions.
    fn held(embed: impl Fn(&str) -> Vec<f32>) -> (usize, usize) {
        let (mut held, mut all) = (0, 0);
        for (name, mut lines, marks) in marked() {
            lines.iter_mut().for_each(|line| line.vector = embed(&line.text));
            let bullets = session(&lines, 300, estimate_tokens);
            let shown: BTreeSet<Seq> = bullets.iter().flat_map(|bullet| bullet.sources.iter().copied()).collect();
            let missed: Vec<u32> = marks.difference(&shown).map(|seq| seq.0).collect();
            println!("{name}: {} of {} messages, missed {missed:?}", bullets.len(), lines.len());
            held += marks.intersection(&shown).count();
            all += marks.len();
        }
        println!("{held} of {all}");
        (held, all)
    }

    #[test]
    fn extracts_hold_seven_tenths_of_what_was_settled() {
        let embedder = chime_core::embed::Embedder::shipped().expect("the model loads");
        for (held, all) in [held(|text| embedder.embed(text)), held(|_| Vec::new())] {
            assert!(all >= 25 && held * 10 >= all * 7, "{held} of {all}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn folding_step_by_step_gives_what_folding_at_once_does(
            texts in prop::collection::vec("[a-e]{3,4}( [0-9]{1,2})?( booked)?", 0..40), step in 1_usize..20,
        ) {
            let bullets: Vec<Bullet> = texts.iter().zip(1..)
                .map(|(text, seq)| Bullet::fact(text.clone(), vec![Seq(seq)]))
                .collect();
            let mut ranking = Ranking::new(estimate_tokens);
            let at_once = rolled(&bullets, 5, 100, &mut ranking);
            let in_steps = bullets.chunks(step).fold(Vec::new(), |before: Vec<Bullet>, new| {
                rolled(&[before.as_slice(), new].concat(), 5, 100, &mut ranking)
            });
            prop_assert_eq!(in_steps, at_once);
        }

        #[test]
        fn an_extract_keeps_its_cap(texts in prop::collection::vec("[a-z]{1,9}( [a-z0-9]{1,9}){0,20}", 0..30), cap in 0_usize..300) {
            let talk: Vec<SummaryMessage> = texts.iter().zip(1..).map(|(text, seq)| SummaryMessage {
                seq: Seq(seq), text: text.clone(), by: Some(1), reply_to: None, vector: Vec::new(),
            }).collect();
            let bullets = session(&talk, cap, estimate_tokens);
            prop_assert!(cost(&bullets, estimate_tokens) <= cap && bullets.len() <= BULLETS);
            prop_assert!(bullets.is_sorted_by_key(|bullet| bullet.sources.clone()));
        }
    }
}
