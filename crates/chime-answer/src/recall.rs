//! Renders the recall slot: old messages and summaries relevant to the question, in addition to the window.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::lines::PromptTranscript;
use crate::sanitize::clean_name;
use crate::support::content_words;
use chime_core::{
    Chat, Chosen, Citable, FoundSource, Reason, RetrieverScores, Seq, Slot, SlotUse, SourceId, SourceMessage,
    StoredMessage, Timestamp, Zone, clip,
};
use chime_relevance::context::{ContextWindow, Entry};
use chime_relevance::retrieval::{Recalled, RecalledMessage, RecalledSession};

/// Maximum number of characters shown of a recalled message.
const SHOWN_CHARS: usize = 600;
/// Tokens reserved per line for its author and time, and for the line with its day or the time of a talk.
const LINE_TOKENS: usize = 24;
/// Tokens reserved for the slot's text before and after the lines.
const FRAME_TOKENS: usize = 90;
/// Maximum share of the slot for summaries. The rest is for messages, by which an answer can be checked.
const SUMMARIES_SHARE: f64 = 0.4;

/// Returns the best results of `found` that fit into `cap` tokens, sorted by time.
pub fn fitting(found: Recalled, cap: usize, estimate: fn(&str) -> usize) -> Recalled {
    let room = cap.saturating_sub(FRAME_TOKENS);
    let mut left = (room as f64 * SUMMARIES_SHARE) as usize;
    let sessions_room = left;
    let fits = |text: &str, left: &mut usize| {
        let tokens = LINE_TOKENS + estimate(text);
        let fits = tokens <= *left;
        *left -= if fits { tokens } else { 0 };
        fits
    };
    let mut sessions: Vec<RecalledSession> =
        found.sessions.into_iter().filter(|one| fits(&labelled_lines(one), &mut left)).collect();
    let mut left = room - (sessions_room - left);
    let mut messages: Vec<RecalledMessage> =
        found.messages.into_iter().filter(|one| fits(&shown(one), &mut left)).collect();
    messages.sort_by_key(|one| moment(&one.message));
    sessions.sort_by_key(|one| (one.started_at, one.id));
    Recalled { messages, sessions }
}

fn shown(one: &RecalledMessage) -> String {
    clip(&one.message.message.rendered(), SHOWN_CHARS).into_owned()
}

fn plain_lines(one: &RecalledSession) -> String {
    one.bullets.iter().map(|one| format!("- {}", one.bullet.text)).collect::<Vec<_>>().join("\n")
}

/// Returns the lines of a summary, each with its kind and state.
fn labelled_lines(one: &RecalledSession) -> String {
    one.bullets.iter().map(|one| format!("- {}", one.state.labelled(&one.bullet))).collect::<Vec<_>>().join("\n")
}

/// Moves those messages of `recalled` into `window` that are not older than its first one, each to its place in time.
/// Messages of other forum topics stay.
pub(super) fn in_place(window: &ContextWindow, recalled: &Recalled) -> (ContextWindow, Recalled) {
    let (mut window, mut recalled) = (window.clone(), recalled.clone());
    let Some(first) = window.entries.first().map(|entry| moment(&entry.message)) else { return (window, recalled) };
    let is_within = |one: &mut RecalledMessage| one.topic.is_none() && moment(&one.message) >= first;
    for one in recalled.messages.extract_if(.., is_within) {
        window.left_out.remove(&one.message.seq);
        let shown = clip(&one.message.message.rendered_with(&one.message.message.text_without_notes()), SHOWN_CHARS)
            .into_owned();
        window.entries.push(Entry { reason: Reason::Query, score: coverage(&one), shown, message: one.message });
    }
    window.entries.sort_by_key(|entry| moment(&entry.message));
    (window, recalled)
}

fn moment(stored: &StoredMessage) -> (Timestamp, Seq) {
    (stored.message.sent_at, stored.seq)
}

/// Returns the lines of the slot: the summaries, then the messages grouped by day. If a line is from another forum
/// topic, the topic is named.
pub(super) fn lines(recalled: &Recalled, transcript: &mut PromptTranscript<'_>) -> String {
    let mut lines = Vec::new();
    for one in &recalled.sessions {
        let place = place(transcript.period(one.started_at, one.ended_at), one.topic.as_deref());
        lines.push(format!("[{}] Summary of a talk, {place}:\n    {}", one.id, transcript.aside(&labelled_lines(one))));
    }
    let messages = recalled.messages.iter().map(|one| (&one.message, one.topic.as_deref(), SHOWN_CHARS));
    lines.push(dated(messages, transcript));
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Formats messages in their order, each day with a heading that also names the forum topic if it is not the trigger's.
/// Each item is a message, its topic and the maximum number of its characters.
pub(super) fn dated<'m>(
    messages: impl Iterator<Item = (&'m StoredMessage, Option<&'m str>, usize)>,
    transcript: &mut PromptTranscript<'_>,
) -> String {
    let mut lines = Vec::new();
    let mut heading = None;
    for (stored, topic, chars) in messages {
        let place = format!("({})", place(transcript.day(stored.message.sent_at), topic));
        if heading.as_ref() != Some(&place) && transcript.has_times() {
            lines.push(place.clone());
            heading = Some(place);
        }
        let said = stored.message.rendered_with(&stored.message.text_without_notes());
        lines.push(transcript.line(stored, &clip(&said, chars)));
    }
    lines.join("\n")
}

fn place(day: String, topic: Option<&str>) -> String {
    match topic {
        Some(topic) => format!("{day}, in the topic \"{}\"", clean_name(topic)),
        None => day,
    }
}

/// Returns the ids of everything in the slot that may be cited.
pub(super) fn sources(recalled: &Recalled) -> impl Iterator<Item = SourceId> + '_ {
    let sessions = recalled.sessions.iter().map(|one| SourceId::summary(one.id.first.0));
    sessions.chain(recalled.messages.iter().map(|one| SourceId::message(one.message.seq.0)))
}

/// Returns the recalled summaries as sources. Each links to its messages.
pub fn citable(recalled: &Recalled, chat: &Chat, zone: Zone) -> Vec<Citable> {
    let cite = |one: &RecalledSession| Citable {
        id: SourceId::summary(one.id.first.0),
        name: format!("Summary, {}", zone.day_in_words(one.started_at)),
        is_own: false,
        sent_at: one.started_at,
        text: plain_lines(one),
        link: None,
        rests_on: one.grounds.iter().map(|stored| SourceMessage::of(chat, stored)).collect(),
    };
    recalled.sessions.iter().map(cite).collect()
}

/// Puts those messages of each recalled summary first that share most words with the answer: its citations link to the
/// first ones.
pub fn put_best_first(given: &mut [Citable], recalled: &Recalled, answer: &str) {
    let said = content_words(answer);
    let grounds = recalled.sessions.iter().flat_map(|one| &one.grounds);
    let shared: BTreeMap<Seq, usize> =
        grounds.map(|stored| (stored.seq, content_words(&stored.message.text).intersection(&said).count())).collect();
    for source in given {
        // The sort is stable: of equal ones, the oldest comes first.
        source.rests_on.sort_by_key(|ground| Reverse(shared.get(&ground.message).copied().unwrap_or(0)));
    }
}

/// Returns the recalled messages in the form that is stored with the answer.
pub fn chosen(recalled: &Recalled) -> Vec<Chosen> {
    let chosen = |one: &RecalledMessage| Chosen {
        seq: one.message.seq,
        id: one.message.message.id,
        reason: Reason::Query,
        score: coverage(one),
    };
    recalled.messages.iter().map(chosen).collect()
}

/// Returns the share of the question's words in a message and its neighbours, 0 to 1.
fn coverage(one: &RecalledMessage) -> f64 {
    one.features.wide_coverage.clamp(0.0, 1.0)
}

/// Adds the score of each recalled source, and the search methods that found it, to the recall slot in `slots`, or to
/// the slot of the window if all sources stand in it.
pub fn note_found(slots: &mut [SlotUse], recalled: &Recalled) {
    let place = |slot: Slot| slots.iter().position(|used| used.name == slot.as_str());
    let Some(place) = place(Slot::Recall).or_else(|| place(Slot::Context)) else { return };
    let slot = &mut slots[place];
    let found =
        |id: SourceId, score: f64, retrieved: RetrieverScores| FoundSource { id: id.to_string(), score, retrieved };
    let sessions =
        recalled.sessions.iter().map(|one| found(SourceId::summary(one.id.first.0), one.score, one.retrieved));
    let messages =
        recalled.messages.iter().map(|one| found(SourceId::message(one.message.seq.0), one.score, one.retrieved));
    slot.found = sessions.chain(messages).collect();
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;

    use super::*;
    use crate::lines::Style;
    use chime_core::testkit::{CHAT, CHAT_KEY, DAY_ONE, transcript};
    use chime_core::{Bullet, BulletKind, ChatKey, ChatKind, ItemState, SessionId, estimate_tokens};
    use chime_relevance::retrieval::{Features, RecalledBullet};

    fn recalled() -> Recalled {
        let chat = transcript(
            "
            10:00 ann#1 the door code is 4711
            10:01 ben#2 thanks
            day 2
            10:02 ann#3 the code changed, it is 4712 now
            ",
        );
        let of = |message| RecalledMessage {
            message,
            topic: None,
            score: 1.0,
            features: Features::default(),
            retrieved: RetrieverScores { words: 2.0, ..RetrieverScores::default() },
        };
        Recalled { messages: chat.into_iter().rev().map(of).collect(), sessions: Vec::new() }
    }

    fn session(chat: ChatKey) -> RecalledSession {
        RecalledSession {
            id: SessionId { chat, first: Seq(1) },
            started_at: DAY_ONE,
            ended_at: DAY_ONE.plus(Duration::from_mins(90)),
            topic: None,
            bullets: [
                (BulletKind::Fact, ItemState::Open, "Ann told the code of the door."),
                (BulletKind::Decision, ItemState::Open, "the code changes in May"),
                (BulletKind::Decision, ItemState::Closed, "the code changes in June"),
                (BulletKind::Task, ItemState::Closed, "Ben oils the lock"),
                (BulletKind::Task, ItemState::Unknown, "Ben paints the door"),
                (BulletKind::Question, ItemState::Open, "who has the spare key?"),
            ]
            .map(|(kind, state, text)| {
                let bullet = Bullet { kind, ..Bullet::fact(text, vec![Seq(1)]) };
                RecalledBullet { bullet, state }
            })
            .into(),
            grounds: Vec::new(),
            score: 1.0,
            retrieved: RetrieverScores { summary: 0.5, ..RetrieverScores::default() },
        }
    }

    #[test]
    fn what_fits_stands_in_order_of_time_under_its_day() {
        let mut transcript = PromptTranscript::new("Chime", "CODE", Zone::UTC, Style::Numbered);
        let shown = lines(&fitting(recalled(), 1_000, estimate_tokens), &mut transcript);
        let heads: Vec<&str> = shown.lines().map(|line| line.split(' ').next().unwrap_or(line)).collect();
        assert_eq!(heads, ["(Monday", "[1]", "[2]", "(Tuesday", "[3]"], "{shown}");
    }

    #[test]
    fn what_is_not_older_than_the_window_stands_at_its_place_there() {
        let found = recalled();
        let window = ContextWindow {
            entries: vec![Entry {
                message: found.messages[1].message.clone(),
                reason: Reason::Nearby,
                score: 1.0,
                shown: "thanks".to_owned(),
            }],
            left_out: [Seq(3)].into(),
            ..ContextWindow::default()
        };
        let older = Recalled { messages: vec![found.messages[0].clone(), found.messages[2].clone()], ..found };
        let (window, left) = in_place(&window, &older);
        let seqs = window.entries.iter().map(|entry| entry.message.seq.0);
        assert_eq!((seqs.collect(), window.left_out.len()), (vec![2, 3], 0));
        assert_eq!(left.messages.iter().map(|one| one.message.seq.0).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn the_best_come_first_where_room_is_short() {
        let fitting = fitting(recalled(), FRAME_TOKENS + LINE_TOKENS + 16, estimate_tokens);
        assert_eq!(fitting.messages.iter().map(|one| one.message.seq.0).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_citation_of_a_summary_leads_to_the_message_that_says_it() {
        let grounds = recalled().messages.into_iter().rev().map(|one| one.message).collect();
        let found = Recalled { sessions: vec![RecalledSession { grounds, ..session(CHAT_KEY) }], ..recalled() };
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        let mut given = citable(&found, &chat, Zone::UTC);
        put_best_first(&mut given, &found, "It is 4712, since the code changed [s1].");
        assert_eq!(given[0].rests_on.iter().map(|ground| ground.message.0).collect::<Vec<_>>(), [3, 1, 2]);
    }

    #[test]
    fn a_summary_stands_before_the_messages_and_each_source_keeps_its_legs() {
        let found = Recalled { sessions: vec![session(CHAT_KEY)], ..recalled() };
        let kept = fitting(found, 1_000, estimate_tokens);
        let shown = lines(&kept, &mut PromptTranscript::new("Chime", "CODE", Zone::UTC, Style::Numbered));
        let (summary, _) = shown.split_once("\n(Monday").expect("the day of the messages");
        expect![[r#"
            [s1] Summary of a talk, Monday 5 January 2026, 00:00-01:30:
                - Ann told the code of the door.
                - decision: the code changes in May
                - decision, replaced later: the code changes in June
                - task, done: Ben oils the lock
                - task: Ben paints the door
                - question, open: who has the spare key?"#]]
        .assert_eq(summary);
        let mut slots =
            [SlotUse { name: Slot::Recall.as_str().to_owned(), tokens: 1, sources: Vec::new(), found: Vec::new() }];
        note_found(&mut slots, &kept);
        let retrieved: Vec<_> =
            slots[0].found.iter().map(|one| (one.id.as_str(), one.retrieved.found().next())).collect();
        assert_eq!(retrieved[..2], [("s1", Some(("summary", 0.5))), ("m1", Some(("words", 2.0)))]);
    }
}
