//! Decisions, tasks and open questions: bullets of session summaries, with marks for those that are done.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::extract::{self, SummaryMessage};
use crate::jobs::load::{is_human, seqs, summary_lines, with_places};
use crate::jobs::memory_lines::line;
use crate::jobs::new_summary::NewSummary;
use crate::members;
use crate::policy::OPEN_FOR;
use crate::wording::Remembered;
use crate::words;
use chime_core::{
    Bullet, BulletKind, ChatKey, Piece, Seq, Session, Slot, Summary, SummaryMethod, Timestamp, UserId, Zone,
};
use chime_relevance::retrieval::{ItemQuestion, cues, item_question};
use chime_store::chats::ChatRow;
use chime_store::{Reader, chats, item_marks, memory, messages, summaries};

/// Maximum number of sessions that are read, the newest first.
const SESSIONS: u32 = 2000;
/// Time for which items that are done are still shown.
const SHOWN_DONE: Duration = Duration::from_hours(7 * 24);
/// Maximum number of items in a list, of done items in it, and of items in a prompt.
const MOST: usize = 20;
const MOST_DONE: usize = 5;
const IN_PROMPT: usize = 12;
/// Maximum number of open items, and of decisions, that a model is shown with a session.
const WITH_SESSION: usize = 8;
/// Number of newest messages that are searched for items. Those that a summary covers are skipped.
const WITHOUT_SUMMARY: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemList {
    /// The newest decisions from this time on.
    Decisions(Timestamp),
    /// Tasks and questions that are open at this time.
    Open(Timestamp),
}

impl ItemList {
    fn kinds(self) -> &'static [BulletKind] {
        match self {
            Self::Decisions(_) => &[BulletKind::Decision],
            Self::Open(_) => &[BulletKind::Task, BulletKind::Question],
        }
    }

    fn from(self) -> Timestamp {
        match self {
            Self::Decisions(since) => since,
            Self::Open(now) => now.minus(OPEN_FOR),
        }
    }
}

/// Returns the items of a list by kind, then oldest first, in the `recent` field of [`Remembered`], and in `history`
/// those that were done lately. Items without a message that can still be read are left out.
pub fn items(conn: &Reader, chat: &ChatRow, zone: Zone, list: ItemList) -> chime_store::Result<Remembered> {
    items_of(conn, chat, zone, list, None)
}

/// Like [`items`]. With an `owner`, only the items of this member are returned.
fn items_of(
    conn: &Reader,
    chat: &ChatRow,
    zone: Zone,
    list: ItemList,
    owner: Option<UserId>,
) -> chime_store::Result<Remembered> {
    if memory::is_off(conn, chat.key)? {
        return Ok(Remembered::default());
    }
    let minis = summaries::minis_between(conn, chat.key, list.from(), Timestamp::END, SESSIONS)?;
    let newer = not_summarized(conn, chat.key, list, minis.iter().map(|(session, _)| session))?;
    let marks = marks(conn, chat.key, list, &minis)?;
    let mut bullets = of_kinds(minis, list.kinds());
    bullets.extend(newer.bullets);
    bullets.sort_by(|one, other| one.sources.cmp(&other.sources));
    let (done, mut open): (Vec<Bullet>, Vec<Bullet>) =
        bullets.into_iter().partition(|bullet| done_at(bullet, &marks).is_some());
    open.sort_by_key(|bullet| bullet.kind);
    let found = with_places(conn, chat, zone, summary(open), summary(done))?;
    let is_late = |bullet: &Bullet| match list {
        ItemList::Decisions(_) => false,
        ItemList::Open(now) => done_at(bullet, &marks).is_some_and(|at| now.since(at) < SHOWN_DONE),
    };
    let readable = |kept: Option<(Summary, u32)>| -> Vec<Bullet> {
        let is_readable = |bullet: &Bullet| bullet.sources.iter().any(|seq| found.places.contains_key(seq));
        kept.into_iter().flat_map(|(summary, _)| summary.bullets).filter(is_readable).collect()
    };
    let mut open = readable(found.recent.clone());
    if let ItemList::Open(now) = list {
        let said_at =
            |bullet: &Bullet| bullet.sources.iter().find_map(|seq| found.places.get(seq)).map(|it| it.sent_at);
        open.retain(|bullet| said_at(bullet).is_some_and(|at| !extract::is_stale(bullet, at, now, zone)));
    }
    if let Some(owner) = owner {
        let number = newer.numbers.get(&owner);
        let mut own = Vec::new();
        for bullet in open {
            if is_of(conn, chat.key, &bullet, owner, number)? {
                own.push(bullet);
            }
        }
        open = own;
    }
    let recent = summary(newest_of_kinds(open, MOST));
    let mut done = readable(found.history.clone());
    done.retain(is_late);
    let history = summary(last(done, MOST_DONE));
    let names = newer.names.into_iter().chain(found.names).collect();
    Ok(Remembered { recent, history, names, ..found })
}

/// Returns the newest `most` of `bullets`, in which each kind is sorted by time. If both kinds are too many, a third is
/// for questions.
fn newest_of_kinds(bullets: Vec<Bullet>, most: usize) -> Vec<Bullet> {
    let is_question = |bullet: &Bullet| bullet.kind == BulletKind::Question;
    let (questions, mut kept): (Vec<Bullet>, Vec<Bullet>) = bullets.into_iter().partition(is_question);
    let for_questions = questions.len().min((most / 3).max(most.saturating_sub(kept.len())));
    kept = last(kept, most - for_questions);
    kept.extend(last(questions, for_questions));
    kept
}

fn last(mut bullets: Vec<Bullet>, most: usize) -> Vec<Bullet> {
    bullets.drain(..bullets.len().saturating_sub(most));
    bullets
}

/// Items of messages that have no summary yet, with the names of their authors.
#[derive(Default)]
struct NewerItems {
    bullets: Vec<Bullet>,
    names: BTreeMap<u32, String>,
    /// Numbers of all members in these items and in summaries.
    numbers: BTreeMap<UserId, u32>,
}

/// Returns `true` if an item is about `owner`, who has `number` in its text, or if it names nobody and rests on a message by
/// `owner`.
fn is_of(
    conn: &Reader,
    chat: ChatKey,
    bullet: &Bullet,
    owner: UserId,
    number: Option<&u32>,
) -> chime_store::Result<bool> {
    let named = members::numbers(&bullet.text);
    if !named.is_empty() {
        return Ok(number.is_some_and(|number| named.contains(number)));
    }
    let Some(first) = bullet.sources.first() else { return Ok(false) };
    Ok(messages::by_seq(conn, chat, *first)?.is_some_and(|stored| stored.message.sender.id == owner))
}

/// Extracts the items of a list from the newest messages outside `summarized`. Members without a number get one for
/// this list only.
fn not_summarized<'a>(
    conn: &Reader,
    chat: ChatKey,
    list: ItemList,
    summarized: impl Iterator<Item = &'a Session> + Clone,
) -> chime_store::Result<NewerItems> {
    let mut said = messages::newest_between(conn, chat, list.from(), Timestamp::END, WITHOUT_SUMMARY)?;
    said.reverse();
    said.retain(|stored| {
        let at = (stored.message.sent_at, stored.message.id);
        let has = |it: &Session| it.forum_topic == stored.message.forum_topic && it.first <= at && at <= it.last;
        is_human(stored) && !summarized.clone().any(has)
    });
    let (mut numbers, mut highest) = summaries::member_numbers(conn, chat)?;
    let mut names = BTreeMap::new();
    for sender in said.iter().map(|stored| &stored.message.sender) {
        let number = *numbers.entry(sender.id).or_insert(highest + 1);
        highest = highest.max(number);
        names.insert(number, sender.name.clone());
    }
    let people = chats::members(conn, chat)?;
    // Each forum topic is a conversation of its own.
    said.sort_by_key(|stored| stored.message.forum_topic);
    let mut bullets = Vec::new();
    for said in said.chunk_by(|one, next| one.message.forum_topic == next.message.forum_topic) {
        bullets.extend(extract::items(&summary_lines(said, &people, &numbers, &seqs(conn, said)?, None)));
    }
    bullets.retain(|bullet| list.kinds().contains(&bullet.kind));
    Ok(NewerItems { bullets, names, numbers })
}

fn summary(bullets: Vec<Bullet>) -> Option<(Summary, u32)> {
    let method = SummaryMethod::Extract;
    let kept = Summary { bullets, tokens: 0, method, model: String::new(), built_at: Timestamp::default() };
    (!kept.bullets.is_empty()).then_some((kept, 0))
}

/// Returns the items of a list that are done, or decisions that later ones replaced, with the time. A mark on a message
/// with both a decision and a task is of the task.
fn marks(
    conn: &Reader,
    chat: ChatKey,
    list: ItemList,
    minis: &[(Session, Summary)],
) -> chime_store::Result<BTreeMap<Seq, Timestamp>> {
    let mut marks = item_marks::done(conn, chat, None)?;
    if let ItemList::Decisions(_) = list {
        let items = minis.iter().flat_map(|(_, mini)| &mini.bullets).filter(|bullet| extract::is_item(bullet));
        for first in items.filter_map(|item| item.sources.first()) {
            marks.remove(first);
        }
    }
    Ok(marks)
}

fn done_at(bullet: &Bullet, marks: &BTreeMap<Seq, Timestamp>) -> Option<Timestamp> {
    bullet.sources.first().and_then(|first| marks.get(first)).copied()
}

/// Returns the bullets of some kinds from summaries of sessions, oldest first.
fn of_kinds(minis: Vec<(Session, Summary)>, kinds: &[BulletKind]) -> Vec<Bullet> {
    let bullets = minis.into_iter().rev().flat_map(|(_, mini)| mini.bullets);
    bullets.filter(|bullet| kinds.contains(&bullet.kind)).collect()
}

/// Returns the tasks and questions that were not done, and the decisions that stood, when a session began.
pub(super) fn open_before(conn: &Reader, session: &Session) -> chime_store::Result<Vec<Bullet>> {
    let (chat, start) = (session.id.chat, session.first.0);
    let kinds = [BulletKind::Decision, BulletKind::Task, BulletKind::Question];
    let minis = summaries::minis_between(conn, chat, ItemList::Open(start).from(), start, SESSIONS)?;
    let mut open = of_kinds(minis, &kinds);
    // The session's own marks come from an earlier summary, which the new one replaces.
    let marks = item_marks::done(conn, chat, Some(session.id))?;
    open.retain(|item| done_at(item, &marks).is_none());
    Ok(open)
}

/// Returns the open items and the decisions that a session may be about: those that share a word with it or that it
/// replies to, the newest of them.
pub(super) fn touched(open: &[Bullet], said: &[SummaryMessage]) -> Vec<Bullet> {
    let stems: BTreeSet<String> = said.iter().flat_map(|line| words::stems(&line.text)).collect();
    let parents: BTreeSet<Seq> = said.iter().filter_map(|line| line.reply_to).collect();
    let is_touched = |item: &&Bullet| {
        item.sources.iter().any(|seq| parents.contains(seq)) || !words::stems(&item.text).is_disjoint(&stems)
    };
    let newest = |decisions: bool| {
        let of_kind = open.iter().rev().filter(move |item| (item.kind == BulletKind::Decision) == decisions);
        of_kind.filter(is_touched).take(WITH_SESSION)
    };
    let mut found: Vec<Bullet> = newest(false).chain(newest(true)).cloned().collect();
    found.reverse();
    found
}

/// Moves the items that bullets cite to `closes`: such a bullet says that they are done, or replaces them. A fact that
/// cites an open one only repeats it, and is removed. Only a decision replaces a decision.
pub(super) fn close_cited(made: &mut NewSummary, open: &[Bullet]) {
    let first_of = |item: &Bullet| item.sources.first().copied();
    let items: BTreeSet<Seq> = open.iter().filter(|item| extract::is_item(item)).filter_map(first_of).collect();
    let known: BTreeSet<Seq> = open.iter().filter_map(first_of).collect();
    let mut bullets = std::mem::take(&mut made.bullets);
    bullets.retain_mut(|bullet| {
        let (mut cited, own): (Vec<Seq>, Vec<Seq>) = bullet.sources.iter().partition(|seq| known.contains(seq));
        if bullet.kind != BulletKind::Decision {
            cited.retain(|seq| items.contains(seq));
        }
        let repeats = bullet.kind == BulletKind::Fact && !cues(&bullet.text).done;
        if own.is_empty() || !cited.is_empty() && repeats {
            return false;
        }
        bullet.sources = own;
        made.closes.extend(cited);
        true
    });
    made.bullets = bullets;
}

/// Returns the decisions, or the open tasks and questions, that the member `asker` asks for with `ask`, as lines for
/// the prompt: those that share most words with it first, then the newest.
pub fn item_pieces(
    conn: &Reader,
    chat: ChatKey,
    ask: &str,
    asker: UserId,
    zone: Zone,
    now: Timestamp,
) -> chime_store::Result<Vec<Piece>> {
    let Some(row) = chats::by_key(conn, chat)? else { return Ok(Vec::new()) };
    let Some(question) = item_question(ask, row.language) else { return Ok(Vec::new()) };
    let list = match question {
        ItemQuestion::Decisions => ItemList::Decisions(Timestamp::from_secs(0)),
        ItemQuestion::Open | ItemQuestion::OwnOpen => ItemList::Open(now),
    };
    let owner = (question == ItemQuestion::OwnOpen).then_some(asker);
    let found = items_of(conn, &row, zone, list, owner)?;
    let asked = words::stems(ask);
    let bullets = found.recent.iter().flat_map(|(summary, _)| &summary.bullets);
    let mut ranked: Vec<(usize, &Bullet)> =
        bullets.map(|bullet| (words::stems(&bullet.text).intersection(&asked).count(), bullet)).rev().collect();
    ranked.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    let lines = ranked.iter().take(IN_PROMPT).filter_map(|(_, bullet)| line(bullet, &found)).collect();
    Ok(vec![Piece { slot: Slot::Recall, topic: None, lines }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_both_kinds_are_listed() {
        let listed = |tasks: u32, questions: u32| {
            let of = |kind, count| (1..=count).map(move |seq| Bullet { kind, ..Bullet::fact("x", vec![Seq(seq)]) });
            let bullets = of(BulletKind::Task, tasks).chain(of(BulletKind::Question, questions)).collect();
            let kept = newest_of_kinds(bullets, 4).into_iter();
            kept.map(|bullet| format!("{:.1}{}", bullet.kind.as_str(), bullet.sources[0].0)).collect::<Vec<_>>()
        };
        assert_eq!(listed(5, 3), ["t3", "t4", "t5", "q3"]);
        assert_eq!(listed(1, 5), ["t1", "q3", "q4", "q5"]);
        assert_eq!(listed(2, 1), ["t1", "t2", "q1"]);
    }
}
