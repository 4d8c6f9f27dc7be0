//! Extractive summaries of sessions, made without a model: the most central messages verbatim. Deterministic.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use crate::bullets::{cost, tidy};
use crate::policy::{Caps, OPEN_FOR, UNDATED_OPEN_FOR};
use crate::{members, words};
use chime_core::trigger::{Languages, QUESTION_MARKS};
use chime_core::{Bullet, BulletKind, Seq, Timestamp, Zone, sentence_ends, sentences};
use chime_relevance::context::{TalkLine, is_output, is_talk, lasting_worth, ranked};
use chime_relevance::retrieval::{cues, end_of_named_day, names_time};

/// Maximum length of a message in the summary, and of a question before its answer, in characters. Of a longer message
/// the first sentences are shown.
const SHOWN_CHARS: usize = 180;
const QUESTION_CHARS: usize = 120;
/// Minimum number of shared words by which a line counts as the answer to a question, or as the report that a task is
/// done.
const SHARED: usize = 2;
/// Number of lines after a question within which it is answered.
const ANSWERED_WITHIN: usize = 30;
/// Time after a question within which a line that is no reply answers it if it shares words with it.
const ANSWERED_BY_WORDS_WITHIN: Duration = Duration::from_hours(1);
/// Time after a question within which the next line may answer it, although it is no reply.
const NEXT_WITHIN: Duration = Duration::from_mins(30);
/// Times within which the next line answers a question although it shares no word with it, each with the maximum number
/// of content words of such a line.
const SHORT_ANSWERS: [(Duration, usize); 2] = [(Duration::from_mins(1), 5), (Duration::from_mins(5), 1)];
/// Minimum cosine of a question and an answer that is no reply but shares words with it.
const MIN_COSINE: f32 = 0.2;
/// Minimum number of content words of a reply to an answer that is shown with it.
const MORE_WORDS: usize = 3;
/// Maximum number of messages of a session that are ranked.
const MOST_RANKED: usize = 500;

/// Message of a session, prepared for an extract.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryMessage {
    pub seq: Seq,
    pub at: Timestamp,
    /// Text, in which members are markers such as `{u7}`.
    pub text: String,
    /// Text for a model, in which names of members that only occur in it are markers too.
    pub masked: String,
    /// Author; `None` for bots, whose messages are not summarized.
    pub by: Option<u32>,
    /// `true` for a question or command to a bot, which must not become a source.
    pub is_for_bot: bool,
    pub reply_to: Option<Seq>,
    /// Embedding of the text, normalized; empty if unknown.
    pub vector: Vec<f32>,
}

impl SummaryMessage {
    fn is_source(&self) -> bool {
        self.by.is_some() && !self.is_for_bot && is_talk(&members::unnamed(&self.text))
    }
}

/// Selects the best messages of a session as bullets, within the caps, in message order. Leaves out bots, messages to a
/// bot, small talk, and messages that say the same as a better one. A question, its answer and what a reply adds to the
/// answer are one bullet.
pub fn session(lines: &[SummaryMessage], caps: Caps, estimate: fn(&str) -> usize) -> Vec<Bullet> {
    let answers = answers(lines);
    let places: Vec<usize> = (0..lines.len()).filter(|place| lines[*place].is_source()).collect();
    let talk: Vec<TalkLine<'_>> = places.iter().map(|place| talk_line(&lines[*place], lines)).collect();
    let mut chosen: Vec<Bullet> = Vec::new();
    let mut left = caps.tokens;
    let mut order: Vec<usize> = ranked(&talk, MOST_RANKED).into_iter().map(|rank| places[rank]).collect();
    order.sort_by_cached_key(|place| precedence(&lines[*place], exchange_of(*place, &answers), lines));
    for place in order {
        let Some(bullet) = bullet(place, &answers, lines) else { continue };
        let tokens = cost(std::slice::from_ref(&bullet), estimate);
        if chosen.len() < caps.bullets && tokens <= left && !chosen.contains(&bullet) {
            left -= tokens;
            chosen.push(bullet);
        }
    }
    chosen.sort_by(|a, b| a.sources.cmp(&b.sources));
    chosen
}

/// Returns every decision, task and open question of a talk as a bullet, in message order, without those that repeat
/// another.
pub fn items(lines: &[SummaryMessage]) -> Vec<Bullet> {
    let answers = answers(lines);
    // Most lines are none; the test of what is talk is the slowest.
    let may_be_item = |line: &SummaryMessage| {
        let found = cues(&line.text);
        found.settled || found.taken || asks(&line.text)
    };
    let sources = (0..lines.len()).filter(|place| may_be_item(&lines[*place]) && lines[*place].is_source());
    let bullets = sources.filter_map(|place| bullet(place, &answers, lines));
    let found: Vec<Bullet> = bullets.filter(|bullet| bullet.kind != BulletKind::Fact).collect();
    let talk_line = |bullet: &Bullet| TalkLine {
        text: Cow::Owned(members::unnamed(&bullet.text)),
        vector: Cow::Borrowed(&[]),
        replies: 0,
    };
    let talk: Vec<TalkLine<'_>> = found.iter().map(talk_line).collect();
    let mut kept = ranked(&talk, MOST_RANKED);
    kept.sort_unstable();
    still_open(kept.into_iter().map(|place| found[place].clone()).collect(), lines)
}

/// Returns the bullet of a message: with its question or answer, if it is part of an exchange.
fn bullet(place: usize, answers: &[Exchange], lines: &[SummaryMessage]) -> Option<Bullet> {
    match exchange_of(place, answers) {
        Some(it) => answered(&lines[it.question], &it.answers.iter().map(|at| &lines[*at]).collect::<Vec<_>>()),
        None => alone(&lines[place]).map(|bullet| with_subject(bullet, &lines[place], lines)),
    }
}

/// Returns `true` if a promise says what is to be done: it has more words than its verb and a time.
fn says_what(text: &str) -> bool {
    const VERB: usize = 1;
    words::content_words(text).len() > VERB + usize::from(names_time(text))
}

/// Puts the message that a task replies to before it if the task does not say what is to be done ("I'll take it").
fn with_subject(task: Bullet, line: &SummaryMessage, lines: &[SummaryMessage]) -> Bullet {
    if task.kind != BulletKind::Task || says_what(&line.text) {
        return task;
    }
    let parent_of = |line: &&SummaryMessage| lines.iter().find(|it| Some(it.seq) == line.reply_to && it.seq < line.seq);
    let parent = std::iter::successors(parent_of(&line), parent_of).find(|parent| parent.is_source());
    let shown = parent.and_then(|parent| Some((parent, opening(&parent.text, QUESTION_CHARS, |_| true)?)));
    let Some((parent, shown)) = shown else { return task };
    // The task is known by its first source.
    let sources = task.sources.into_iter().chain([parent.seq]).collect();
    Bullet { text: format!("{} – {}", by(parent, &shown), task.text), sources, ..task }
}

fn exchange_of(place: usize, answers: &[Exchange]) -> Option<&Exchange> {
    answers.iter().find(|it| it.question == place || it.answers.contains(&place))
}

/// Leaves out the tasks and questions that a later line shows to be done or answered.
pub fn still_open(mut bullets: Vec<Bullet>, lines: &[SummaryMessage]) -> Vec<Bullet> {
    let done = closed(&bullets, lines);
    let is_done = |bullet: &Bullet| bullet.sources.first().is_some_and(|first| done.contains(first));
    bullets.retain(|bullet| !is_item(bullet) || !is_done(bullet));
    bullets
}

/// Returns `true` if a bullet of `said_at` no longer tells what is open at `now`: it is very old, or a task or a question
/// whose day is over. One that names no day is open for [`UNDATED_OPEN_FOR`].
pub fn is_stale(bullet: &Bullet, said_at: Timestamp, now: Timestamp, zone: Zone) -> bool {
    let text = || members::unnamed(&members::without_authors(&bullet.text));
    let end = || end_of_named_day(&text(), said_at, zone).unwrap_or(said_at.plus(UNDATED_OPEN_FOR));
    now.since(said_at) >= OPEN_FOR || is_item(bullet) && now >= end()
}

/// Returns `true` for a task or a question, which can be done or answered.
pub fn is_item(bullet: &Bullet) -> bool {
    matches!(bullet.kind, BulletKind::Task | BulletKind::Question)
}

/// Returns 0 for what was settled or done, 1 for promises, plans, what lasts and questions that got a reply, 2 for
/// everything else.
fn precedence(line: &SummaryMessage, exchange: Option<&Exchange>, lines: &[SummaryMessage]) -> u8 {
    let (text, found) = (&line.text, cues(&line.text));
    let is_news = || found.taken || found.planned && !found.passing || lasting_worth(&members::unnamed(text)).is_some();
    let is_reply =
        |it: &Exchange| it.answers.first().is_some_and(|at| lines[*at].reply_to == Some(lines[it.question].seq));
    match asks(text) {
        false if found.settled || found.done => 0,
        false if is_news() => 1,
        true | false if exchange.is_some_and(is_reply) => 1,
        true | false => 2,
    }
}

fn talk_line<'a>(line: &'a SummaryMessage, all: &[SummaryMessage]) -> TalkLine<'a> {
    TalkLine {
        text: Cow::Owned(members::unnamed(&line.text)),
        vector: Cow::Borrowed(&line.vector),
        replies: all.iter().filter(|other| other.reply_to == Some(line.seq)).count(),
    }
}

/// Returns a message as a bullet, or `None` if what can be shown of it says nothing.
fn alone(line: &SummaryMessage) -> Option<Bullet> {
    let shown = opening(&line.text, SHOWN_CHARS, |shown| is_talk(&members::unnamed(shown)))?;
    Some(Bullet { kind: kind(&shown, line), text: by(line, &shown), sources: vec![line.seq] })
}

/// Returns a question with its answers as a bullet, or one of them alone if the other is too long or missing.
fn answered(question: &SummaryMessage, answers: &[&SummaryMessage]) -> Option<Bullet> {
    // Not an open question.
    let question_alone = || alone(question).map(|bullet| Bullet { kind: BulletKind::Fact, ..bullet });
    let Some(answer) = answers.first() else { return question_alone() };
    let asked = opening(&question.text, QUESTION_CHARS, |asked| Languages::shipped().is_question(asked));
    let Some(asked) = asked else { return alone(answer) };
    // The question's author is shown, so the answer need not name them.
    let called = question.by.map(members::marker).unwrap_or_default();
    let said = answer.text.strip_prefix(&called).map_or(&*answer.text, |said| said.trim_start_matches([':', ',', ' ']));
    let Some(shown) = opening(said, SHOWN_CHARS, |shown| !shown.is_empty()) else {
        return question_alone();
    };
    let mut text = format!("{} – {}", by(question, &asked), by(answer, &shown));
    let (mut sources, mut of) = (vec![question.seq, answer.seq], kind(&answer.text, answer));
    for more in &answers[1..] {
        if let Some(shown) = opening(&more.text, QUESTION_CHARS, |shown| !shown.is_empty()) {
            text.push_str(&format!(" – {}", by(more, &shown)));
            sources.push(more.seq);
            // The reply may settle what the answer proposes. Decisions come first in the order of kinds.
            of = of.min(kind(&more.text, more));
        }
    }
    Some(Bullet { kind: of, text, sources })
}

/// Returns the first sentences of a text that `is_wanted` accepts, as many as have at most `chars` characters. `None`
/// if the first one is longer, because a part of it cannot be understood alone.
fn opening(text: &str, chars: usize, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let ends = sentence_ends(text);
    let from = |start: usize| {
        let openings = ends.iter().filter(|end| **end > start).map(|end| tidy(&text[start..*end]));
        openings.take_while(|opening| opening.chars().count() <= chars).last()
    };
    // A greeting is left out if it stands before a sentence that leaves no space for it.
    [0].iter().chain(&ends).map_while(|start| from(*start)).find(|opening| is_wanted(opening))
}

/// Returns `true` if a text asks something that another member can answer. Surprise ("Again?? I'll call him") and a
/// question after which its author settles it or takes it on are none. Words such as "what" begin a question without a
/// mark only if the text is one clause: "what a pity, I wanted to come" is none.
fn asks(text: &str) -> bool {
    let (languages, sentences) = (Languages::shipped(), sentences(text));
    let is_marked = |sentence: &&str| sentence.contains(QUESTION_MARKS) && languages.is_question(sentence);
    let Some(last) = sentences.iter().rposition(is_marked) else {
        return sentences.len() == 1
            && !cues(text).tells_outcome()
            && !text.contains([',', '،', '、'])
            && languages.is_question(text);
    };
    let (question, rest) = (sentences[last], &sentences[last + 1..]);
    let marks = question.chars().rev().take_while(|c| QUESTION_MARKS.contains(c) || *c == '!').count();
    let is_surprise = !rest.is_empty() && (marks > 1 || words::stems(question).is_empty());
    let is_own_matter = |sentence: &&str| cues(sentence).tells_outcome();
    !is_surprise && !rest.iter().any(is_own_matter)
}

fn by(line: &SummaryMessage, shown: &str) -> String {
    line.by.map_or_else(|| shown.to_owned(), |number| format!("{}: {shown}", members::marker(number)))
}

/// Returns the kind of a message that nobody answered, of which `text` is shown.
fn kind(text: &str, line: &SummaryMessage) -> BulletKind {
    let found = cues(text);
    // Without a mark, many beginnings of questions begin statements too.
    let is_open = asks(text) && (text.contains(QUESTION_MARKS) || Languages::shipped().is_to_group(text));
    match is_open {
        true => BulletKind::Question,
        false if found.settled => BulletKind::Decision,
        false if found.taken && (line.reply_to.is_some() || says_what(&line.text)) => BulletKind::Task,
        false => BulletKind::Fact,
    }
}

/// Places of a question, of its answer and, after that, of a reply that adds to the answer. Without answers, a line
/// after the question may be its answer or not.
struct Exchange {
    question: usize,
    answers: Vec<usize>,
}

/// Finds the answer to each question that has one: a reply to it, the next line if another member wrote it soon and it
/// [fits], or one soon after with several of its words. Words that begin questions begin answers too ("está en la
/// cocina"), so a reply asks only if it has a question mark, as does the next line after a question with one.
fn answers(lines: &[SummaryMessage]) -> Vec<Exchange> {
    let is_question: Vec<bool> = lines.iter().map(|line| asks(&line.text)).collect();
    let stems: Vec<BTreeSet<String>> = lines.iter().map(|line| words::stems(&members::unnamed(&line.text))).collect();
    let speaks =
        |line: &SummaryMessage| line.by.is_some() && !line.is_for_bot && !is_output(&members::unnamed(&line.text));
    let answer = |question: usize| {
        let asked = &lines[question];
        let is_reply = |place: usize| lines[place].reply_to == Some(asked.seq);
        let is_next = |place: usize| {
            lines[place].reply_to.is_none()
                && lines[place].at.since(asked.at) <= NEXT_WITHIN
                && lines[question..place].iter().all(|between| between.by == asked.by)
                && says_something(&lines[place].text, &asked.text)
        };
        let may_answer = |place: &usize| {
            let line = &lines[*place];
            let is_marked = |line: &SummaryMessage| line.text.contains(QUESTION_MARKS);
            let needs_mark = is_reply(*place) || is_next(*place) && is_marked(asked);
            line.by != asked.by && !(is_question[*place] && (!needs_mark || is_marked(line))) && speaks(line)
        };
        let is_answer = |place: &usize| {
            let shared = stems[question].intersection(&stems[*place]).count();
            let is_soon = lines[*place].at.since(asked.at) <= ANSWERED_BY_WORDS_WITHIN;
            let is_same = || shared >= SHARED && is_soon && is_like(asked, &lines[*place]);
            let is_fit = || is_next(*place) && fits(asked, &lines[*place], shared, stems[*place].len());
            may_answer(place) && (is_reply(*place) || is_same() || is_fit())
        };
        let within = |place: usize| place + 1..lines.len().min(place + ANSWERED_WITHIN);
        let Some(answer) = within(question).find(is_answer) else {
            let is_unsure = within(question).any(|place| is_next(place) && may_answer(&place));
            return is_unsure.then(|| Exchange { question, answers: Vec::new() });
        };
        let adds = |place: &usize| {
            let line = &lines[*place];
            line.reply_to == Some(lines[answer].seq)
                && !is_question[*place]
                && stems[*place].len() >= MORE_WORDS
                && speaks(line)
        };
        let more = within(answer).find(adds);
        Some(Exchange { question, answers: std::iter::once(answer).chain(more).collect() })
    };
    let asked = |place: &usize| is_question[*place] && lines[*place].is_source();
    (0..lines.len()).filter(asked).filter_map(answer).collect()
}

/// Returns `true` if the line after a question, which is no reply, answers it: it shares words and meaning with it, or
/// follows at once with few words.
fn fits(asked: &SummaryMessage, line: &SummaryMessage, shared: usize, words: usize) -> bool {
    let after = line.at.since(asked.at);
    let is_short = SHORT_ANSWERS.iter().any(|(within, most)| after <= *within && words <= *most);
    is_short || shared > 0 && is_like(asked, line)
}

/// Returns `true` if the vectors of two lines are similar, or unknown.
fn is_like(one: &SummaryMessage, other: &SummaryMessage) -> bool {
    let cosine: f32 = one.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
    one.vector.is_empty() || other.vector.is_empty() || cosine >= MIN_COSINE
}

/// Returns `true` if a text can answer `asked`: it has words, or it has a number and `asked` is about an amount.
fn says_something(text: &str, asked: &str) -> bool {
    let text = members::unnamed(text);
    text.contains(char::is_alphabetic) || text.contains(char::is_numeric) && Languages::shipped().asks_for_amount(asked)
}

/// Returns the first sources of those tasks and questions of `items` that a later line of `lines` shows to be done or
/// answered. Such a line is a reply, or shares several words with the item; one word is enough for a member's own
/// task.
pub fn closed(items: &[Bullet], lines: &[SummaryMessage]) -> Vec<Seq> {
    if !items.iter().any(is_item) {
        return Vec::new();
    }
    // Computed once, since a busy chat has hundreds of open items.
    let statements = lines.iter().filter(|line| line.by.is_some() && !asks(&line.text));
    let statements: Vec<(&SummaryMessage, BTreeSet<String>, bool)> =
        statements.map(|line| (line, words::stems(&line.text), cues(&line.text).done)).collect();
    let says_done = statements.iter().any(|(_, _, done)| *done);
    let is_closed = |item: &&Bullet| {
        if !is_item(item) || statements.is_empty() || item.kind == BulletKind::Task && !says_done {
            return false;
        }
        let (stems, by) = (words::stems(&item.text), members::numbers(&item.text));
        statements.iter().any(|(line, said, done)| {
            let is_later = item.sources.iter().all(|source| *source < line.seq);
            let is_reply = line.reply_to.is_some_and(|parent| item.sources.contains(&parent));
            let is_own = line.by.is_some_and(|author| by.contains(&author));
            let shared = said.intersection(&stems).count();
            is_later
                && match item.kind {
                    BulletKind::Task => *done && (is_reply || shared >= SHARED || is_own && shared > 0),
                    _ => !is_own && (is_reply || shared >= SHARED),
                }
        })
    };
    items.iter().filter(is_closed).filter_map(|item| item.sources.first().copied()).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;
    use chime_core::estimate_tokens;
    use chime_core::testkit::moment;
    use chime_core::trigger::{calls_bot, is_for_bot};

    fn caps(tokens: usize) -> Caps {
        Caps { bullets: 15, tokens }
    }

    fn lines(chat: &str) -> Vec<SummaryMessage> {
        chime_core::testkit::transcript(chat)
            .into_iter()
            .map(|stored| SummaryMessage {
                seq: stored.seq,
                at: stored.message.sent_at,
                is_for_bot: is_for_bot(&stored.message),
                text: stored.message.text,
                masked: String::new(),
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
        let rendered: Vec<String> = session(&talk, caps(45), estimate_tokens)
            .iter()
            .map(|it| it.text.split_once(' ').unwrap().1.to_owned())
            .collect();
        expect![[r#"
            going for the thai place then, Friday 19:30
            I'll book a table for six"#]]
        .assert_eq(&rendered.join("\n"));
        assert_eq!(session(&[], caps(300), estimate_tokens), []);
    }

    #[test]
    fn what_was_said_before_is_not_said_again() {
        let talk = lines("10:00 ann#1 the door code is 4711\n10:01 ann#2 the door code is 4711");
        assert_eq!(session(&talk, caps(300), estimate_tokens).len(), 1);
    }

    #[test]
    fn a_long_message_ends_with_a_sentence_or_is_left_out() {
        let endless = "and the shelf by the door ".repeat(10);
        let talk = lines(&format!(
            "
            10:00 ann#1 The key hangs in the shed. {endless}
            10:01 bob#2 {endless}
            10:02 cat#3 where is the gas bottle, {endless}?
            10:03 ann#4>3 The gas bottle stands behind the green boat.
            "
        ));
        let told = session(&talk, caps(300), estimate_tokens);
        let told: Vec<&str> = told.iter().map(|it| it.text.split_once(' ').unwrap().1).collect();
        assert_eq!(told, ["The key hangs in the shed.", "The gas bottle stands behind the green boat."]);
    }

    #[test]
    fn a_greeting_does_not_hide_a_long_sentence() {
        let (plan, asked) =
            ("The bus to the lake leaves at nine ".repeat(5), "Who brings tents to the lake ".repeat(4));
        let talk = lines(&format!(
            "10:00 ann#1 Hello everybody! {plan}.\n10:01 bob#2 Hi all! {asked}?\n10:02 cat#3>2 I bring it on Friday."
        ));
        let told = session(&talk, caps(300), estimate_tokens);
        let sources: Vec<Vec<Seq>> = told.iter().map(|bullet| bullet.sources.clone()).collect();
        assert_eq!(sources, [vec![Seq(1)], vec![Seq(2), Seq(3)]]);
    }

    #[test]
    fn a_question_with_an_answer_that_is_too_long_is_not_open() {
        let endless = "it hangs by the door ".repeat(10);
        let talk = lines(&format!("10:00 ann#1 Where is the key of the shed?\n10:01 bob#2>1 {endless}"));
        let told = session(&talk, caps(300), estimate_tokens);
        assert_eq!(
            told.iter().map(|it| (it.kind, &*it.sources)).collect::<Vec<_>>(),
            [(BulletKind::Fact, &[Seq(1)][..])]
        );
    }

    #[test]
    fn short_questions_stay_and_short_remarks_do_not() {
        let talk = lines(
            "10:00 ann#1 who has the garage key?\n10:01 ann#2 it works for garage too\n10:02 ann#3 strange garage",
        );
        let told = session(&talk, caps(300), estimate_tokens);
        assert_eq!(told.iter().map(|bullet| bullet.kind).collect::<Vec<_>>(), [BulletKind::Question]);
    }

    /// Returns the kinds of the bullets of a talk, each with the numbers of its messages.
    fn kinds(chat: &str) -> Vec<(BulletKind, Vec<u32>)> {
        let told = session(&lines(chat), caps(300), estimate_tokens);
        told.iter().map(|it| (it.kind, it.sources.iter().map(|seq| seq.0).collect())).collect()
    }

    #[test]
    fn surprise_and_a_question_that_its_author_takes_on_are_not_open() {
        let promise = |text: &str| kinds(&format!("10:00 ann#1 {text}"));
        for text in [
            "Again?? I'll call the plumber tomorrow",
            "Schon wieder?? Ich ruf morgen den Hausmeister an",
            "Ancora?? Chiamo domani il portinaio del palazzo",
            "Опять?? Я позвоню завтра сантехнику насчёт трубы",
            "Can somebody order the wood? I'll order the wood on Friday",
        ] {
            assert_eq!(promise(text), [(BulletKind::Task, vec![1])], "{text}");
        }
        assert_eq!(promise("Has anybody seen the cellar keys? Gone again"), [(BulletKind::Question, vec![1])]);
        assert_eq!(promise("does anybody know who has the cellar keys"), [(BulletKind::Question, vec![1])]);
        let told = promise("C'è la Taberna da Rua, fanno anche senza glutine. Prenoto per sabato alle 20:30");
        assert_eq!(told, [(BulletKind::Task, vec![1])]);
    }

    #[test]
    fn what_somebody_says_hours_later_answers_nothing() {
        let told = kinds("10:00 ann#1 can a neighbour water the plants?\n14:00 bob#2 we have to book the whales early");
        assert_eq!(told, [(BulletKind::Question, vec![1]), (BulletKind::Fact, vec![2])]);
    }

    #[test]
    fn the_next_line_answers_a_question_only_if_it_fits() {
        let asked = "10:00 ann#1 Kitesurfen zählt auch?";
        assert_eq!(kinds(&format!("{asked}\n10:01 bob#2 1059 🏔")), [(BulletKind::Question, vec![1])]);
        assert_eq!(kinds(&format!("{asked}\n10:01 bob#2 klar, ohne Motor")), [(BulletKind::Fact, vec![1, 2])]);
        let amount = "10:00 ann#1 how many chairs do we need for the hall?\n10:01 bob#2 14";
        assert_eq!(kinds(amount), [(BulletKind::Fact, vec![1, 2])]);
        // It may be the answer, so the question is not open, or something else, so the two are not joined.
        let told = kinds(
            "10:00 ann#1 does anyone have a van for a double mattress?\n10:06 bob#2 Fire extinguishers in hallways are a hazard in a smoke filled zero-visibility evacuation",
        );
        assert_eq!(told, [(BulletKind::Fact, vec![1]), (BulletKind::Fact, vec![2])]);
    }

    #[test]
    fn a_future_alone_is_no_task() {
        let tasks = |text: &str| kinds(&format!("10:00 ann#1 {text}")).iter().any(|it| it.0 == BulletKind::Task);
        for text in
            ["I'll be heading out to the rebellion in Trafalgar square if anyone wants to join", "I'll knock on Friday"]
        {
            assert!(!tasks(text), "{text}");
        }
        assert!(tasks("I'll ask the caretaker about the heating of the hall"));
    }

    #[test]
    fn an_item_is_stale_when_its_day_is_over_or_after_two_weeks() {
        let said_at = moment("day 1 10:00");
        let task = |text: &str| Bullet { kind: BulletKind::Task, ..Bullet::fact(text, vec![Seq(1)]) };
        let is_stale = |bullet: &Bullet, days: u64| {
            is_stale(bullet, said_at, said_at.plus(Duration::from_secs(days * 24 * 60 * 60)), Zone::UTC)
        };
        let (today, undated) = (task("{u7}: I'll call him in 30 minutes"), task("{u7} orders the wood"));
        assert!(!is_stale(&today, 0) && is_stale(&today, 1));
        assert!(!is_stale(&undated, 13) && is_stale(&undated, 14));
        let decision = Bullet { kind: BulletKind::Decision, ..today.clone() };
        assert!(!is_stale(&decision, 59) && is_stale(&decision, 60));
    }

    #[test]
    fn a_reply_that_adds_to_the_answer_comes_with_it() {
        let told = kinds(
            "
            10:00 ann#1 who has the key of the bike room?
            10:05 bob#2>1 Carl has kept it since Monday
            12:00 carl#3>2 yes, I leave it at the porter's lodge at noon
            12:30 ann#4>3 great, thanks!
            ",
        );
        assert_eq!(told, [(BulletKind::Fact, vec![1, 2, 3])]);
    }

    #[test]
    fn a_reply_that_begins_like_a_question_answers_one() {
        for (asked, said) in [
            ("¿Alguien ha visto mis gafas de sol?", "10:05 bob#2>1 están encima de la nevera"),
            ("Marta, ¿has visto el cargador del móvil?", "10:05 bob#2 está en la cocina"),
            ("Кто пишет release notes к 2.8?", "10:05 bob#2>1 могу я"),
        ] {
            assert_eq!(kinds(&format!("10:00 ann#1 {asked}\n{said}")), [(BulletKind::Fact, vec![1, 2])], "{asked}");
        }
        let told = kinds("10:00 ann#1 who has the key of the shed?\n10:05 bob#2>1 which shed?");
        assert_eq!(told, [(BulletKind::Question, vec![1])]);
    }

    #[test]
    fn a_task_without_a_subject_comes_with_the_message_that_has_it() {
        let told = |chat: &str| {
            let tasks = items(&lines(chat)).into_iter().filter(|bullet| bullet.kind == BulletKind::Task);
            tasks.map(|it| (members::without_authors(&it.text), it.sources)).collect::<Vec<_>>()
        };
        let talk = "
            10:00 ann#1 OPS-421: the worker leaks 200 MB per hour
            10:05 bob#2>1 who takes it?
            10:06 cat#3>2 I'll fix it on Monday";
        let task = "OPS-421: the worker leaks 200 MB per hour – I'll fix it on Monday".to_owned();
        assert_eq!(told(talk), [(task, vec![Seq(3), Seq(1)])]);
        assert_eq!(told(&format!("{talk}\n11:00 cat#4 OPS-421 is fixed. The worker is deployed")), []);
        let russian = told("10:00 ann#1 Алерт на пул нужен к релизу\n10:06 cat#3>1 сделаю до среды");
        assert_eq!(russian[0].0, "Алерт на пул нужен к релизу – сделаю до среды");
        let whole = told("10:00 ann#1 the thai place on Friday?\n10:06 cat#3>1 I'll book a table for six");
        assert_eq!(whole.len(), 1);
    }

    #[test]
    fn a_task_is_closed_by_its_author_in_the_words_of_the_chat() {
        let open = |chat: &str| items(&lines(chat)).iter().filter(|bullet| bullet.kind == BulletKind::Task).count();
        let taken = "10:00 ann#1 OPS-418 возьму на себя, сделаю в среду";
        assert_eq!((open(taken), open(&format!("{taken}\n11:00 ann#2 OPS-418 закрыла, остались тесты"))), (1, 0));
        assert_eq!(open("10:00 ann#1 Die Einladung für die Versammlung schreibe ich"), 1);
    }

    #[test]
    fn a_decision_stays_when_somebody_replies_to_it() {
        let talk = lines(
            "
            10:00 ann#1 Decided: we build the barrier, everybody pays 2500 until 10 December
            10:05 bob#2>1 I will pay 2500 for the barrier today
            10:06 cat#3>1 everybody should get a remote control for the barrier
            ",
        );
        let told = still_open(session(&talk, caps(300), estimate_tokens), &talk);
        assert_eq!(told[0].kind, BulletKind::Decision);
        assert_eq!(items(&talk)[0].kind, BulletKind::Decision);
    }

    #[test]
    fn output_of_programs_and_lists_of_names_are_left_out() {
        let talk = lines(
            "
            10:00 ann#1 [garden] ann closed request #808: water the tomatoes (master...patch)
            10:01 ann#2 garden/master 3a11757 Ann: water the tomatoes
            10:02 bob#3 <div class='tomato'>water = {garden: [1, 2]};</div>
            10:03 bob#4 Anna, Bob, Cat, Dora, Emil, Frida
            10:04 cat#5 12:03:55 tomatoes watered by the pump
            10:05 cat#6 These tomatoes were watered:
            10:06 ann#7 The tomatoes need water each evening, Bob and Cat take turns.
            10:07 ann#8 the hose costs $25 ;)
            10:08 cat#9 the password of the pump is face1234
            10:09 cat#10 [update] the pump ran for 3:45:12 yesterday
            ",
        );
        let told = session(&talk, caps(300), estimate_tokens);
        let sources: Vec<Vec<Seq>> = told.iter().map(|bullet| bullet.sources.clone()).collect();
        assert_eq!(sources, [[Seq(7)], [Seq(8)], [Seq(9)], [Seq(10)]]);
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
            let at = moment(part());
            let author = part().to_owned();
            let reply_to = part().strip_prefix('>').map(|seq| Seq(seq.parse().expect("a number")));
            let place = authors.iter().position(|known| *known == author).unwrap_or_else(|| {
                authors.push(author.clone());
                authors.len() - 1
            });
            let by = (author != "Bot").then_some(place as u32);
            let text = part().to_owned();
            let is_for_bot = calls_bot(&text);
            lines.push(SummaryMessage {
                seq,
                at,
                is_for_bot,
                text,
                masked: String::new(),
                by,
                reply_to,
                vector: Vec::new(),
            });
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
            let bullets = session(&lines, caps(300), estimate_tokens);
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
        fn an_extract_keeps_its_cap(texts in prop::collection::vec("[a-z]{1,9}( [a-z0-9]{1,9}){0,20}", 0..30), cap in 0_usize..300) {
            let talk: Vec<SummaryMessage> = texts.iter().zip(1..).map(|(text, seq)| SummaryMessage {
                seq: Seq(seq), at: Timestamp::default(), text: text.clone(), masked: String::new(), by: Some(1), is_for_bot: false, reply_to: None, vector: Vec::new(),
            }).collect();
            let bullets = session(&talk, caps(cap), estimate_tokens);
            prop_assert!(cost(&bullets, estimate_tokens) <= cap && bullets.len() <= 15);
            prop_assert!(bullets.is_sorted_by_key(|bullet| bullet.sources.clone()));
        }
    }
}
