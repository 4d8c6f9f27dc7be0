//! Writing a batch: raw updates, rows, jobs and the offset in one transaction.

use std::collections::HashSet;
use std::time::Duration;

use crate::access::{Access, ClaimCode};
use crate::config::AccessConfig;
use crate::domain::{
    Arrival, BotIdentity, Chat, ChatId, Event, JobKind, Membership, Message, Migration, Timestamp, message_key,
};
use crate::ingest::run::read::ReadUpdate;
use crate::ingest::run::{door, keep};
use crate::ingest::{Task, task_for};
use crate::privacy::{Keep, strip};
use crate::store::chats::ChatRow;
use crate::store::inbox::Received;
use crate::store::messages::TakenIn;
use crate::store::outbox::Purpose;
use crate::store::{self, Language, Writer, backlog, chats, consent, inbox, jobs, messages, outbox, scrub};
use crate::trigger::{self, Languages, Rules};

/// The line about old triggers waits for this long after the last of them, so that it is one line.
const BACKLOG_SETTLES: Duration = Duration::from_secs(3);
/// A chat's language is judged anew whenever it has grown by this many messages.
const JUDGE_EVERY: u32 = 200;
/// The first judgement comes early, when there is just enough to go by.
const JUDGE_FIRST: u32 = 30;

/// What taking in an update depends on beside the update.
#[derive(Debug)]
pub struct Setting {
    pub bot: BotIdentity,
    pub access: AccessConfig,
    /// Where nobody owns the bot yet.
    pub claim: Option<ClaimCode>,
    /// Whether chats are told what is kept of them.
    pub announces: bool,
    pub languages: &'static Languages,
    pub backlog_max_age: Duration,
}

/// What a batch came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    pub stored: usize,
    pub started: usize,
    /// Kinds and reasons of updates that were parked.
    pub parked: Vec<(String, String)>,
    /// Chats that wrote to us without being allowed.
    pub refused_chats: HashSet<i64>,
}

/// Stores `batch` and moves the offset. Must run inside the one transaction that makes all of it durable.
pub fn apply(
    tx: &Writer<'_>,
    batch: &[ReadUpdate],
    offset: Option<i64>,
    setting: &Setting,
    now: Timestamp,
) -> store::Result<Applied> {
    let mut applied = Applied::default();
    for update in batch {
        if inbox::is_known(tx, update.id, now)? {
            continue;
        }
        let taken = match &update.events {
            Ok(events) => store::in_savepoint(tx, |tx| take_in_all(tx, events, setting, now, &mut applied)),
            Err(why) => Ok(Content::Unread(why.clone())),
        };
        let (may_keep, error) = match taken {
            Ok(Content::Keep) => (update.traces.as_ref().map_or(Ok(false), |it| keep::may_keep_raw(tx, it))?, None),
            Ok(Content::Drop) => (false, None),
            Ok(Content::Unread(why)) => (may_keep_unread(tx, update, setting)?, Some(why)),
            // The update itself is at fault, unless the file is: then the whole batch must come again.
            Err(error) if error.is_fatal() || error.is_passing() => return Err(error),
            Err(error) => (may_keep_unread(tx, update, setting)?, Some(error.to_string())),
        };
        let raw = may_keep.then_some(update.json.as_str());
        if let Some(why) = &error {
            applied.parked.push((update.kind.clone(), why.clone()));
        }
        let received = Received { id: update.id, kind: &update.kind, raw, at: now, error: error.as_deref() };
        inbox::add(tx, &received)?;
        if let (Some(_), Some(traces)) = (raw, &update.traces) {
            inbox::index(tx, &received, &traces.messages)?;
        }
        applied.stored += 1;
    }
    if let Some(offset) = offset {
        inbox::set_next_offset(tx, offset, now)?;
    }
    Ok(applied)
}

fn may_keep_unread(tx: &Writer<'_>, update: &ReadUpdate, setting: &Setting) -> store::Result<bool> {
    update.traces.as_ref().map_or(Ok(false), |traces| keep::may_keep_unread(tx, traces, setting))
}

/// What may be kept of an update's raw text.
enum Content {
    Keep,
    Drop,
    Unread(String),
}

fn take_in_all(
    tx: &Writer<'_>,
    events: &[Event],
    setting: &Setting,
    now: Timestamp,
    applied: &mut Applied,
) -> store::Result<Content> {
    // An update that tells nothing (of a kind we do not use, or not to be stored) leaves no content behind either.
    let mut content = Content::Drop;
    for event in events {
        let kept = match event {
            Event::Message(arrival) | Event::Edit(arrival) => take_in_message(tx, arrival, setting, now, applied)?,
            Event::Membership(membership) => note_membership(tx, membership, setting, now, applied)?,
            Event::Migration(migration) => follow_migration(tx, *migration)?,
            // Reactions and buttons get their uses with the features that need them.
            Event::Reaction(_) | Event::Callback { .. } => Content::Drop,
        };
        if matches!(kept, Content::Keep) {
            content = Content::Keep;
        }
    }
    Ok(content)
}

fn take_in_message(
    tx: &Writer<'_>,
    arrival: &Arrival,
    setting: &Setting,
    now: Timestamp,
    applied: &mut Applied,
) -> store::Result<Content> {
    let Arrival { chat, message, .. } = arrival;
    if door::admit(tx, arrival, setting, now)? == Access::Refused {
        applied.refused_chats.insert(chat.id.0);
        let nameless = Chat { title: None, username: None, ..chat.clone() };
        let row = chats::upsert(tx, &nameless)?;
        messages::insert_stub(tx, &row, message)?;
        door::turn_away(tx, chat.id, now)?;
        applied.started += 1;
        return Ok(Content::Drop);
    }
    let row = chats::upsert(tx, chat)?;
    let kept = strip(arrival, keep::withheld(tx, &row, arrival)?);
    match &kept.parent {
        Some(Keep::Whole(parent)) => messages::take_in(tx, &row, parent).map(drop)?,
        Some(Keep::Stub(parent)) => messages::insert_stub(tx, &row, parent).map(drop)?,
        None => {}
    }
    let (is_news, words) = match &kept.message {
        Keep::Whole(message) => {
            let taken = messages::take_in(tx, &row, message)?;
            chats::upsert_member(tx, row.key, &message.sender)?;
            judge_language(tx, &row, &taken)?;
            (matches!(taken, TakenIn::New(_)), Words::Stored)
        }
        Keep::Stub(message) => (messages::insert_stub(tx, &row, message)?, Words::Held),
    };
    start_work(tx, arrival, (is_news, words), setting, now, applied)?;
    Ok(Content::Keep)
}

/// Where the words are that a job is to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Stored,
    /// Nowhere, since their author opted out: they are held for the one job.
    Held,
}

fn start_work(
    tx: &Writer<'_>,
    arrival: &Arrival,
    (is_news, words): (bool, Words),
    setting: &Setting,
    now: Timestamp,
    applied: &mut Applied,
) -> store::Result<()> {
    let Arrival { chat, message, parent, .. } = arrival;
    let rules = Rules { parent_is_answer: is_answer(tx, parent.as_ref())?, languages: setting.languages };
    let found = trigger::find(message, parent.as_ref(), &setting.bot, chat.kind, &rules);
    let lane = message.chat.0;
    match task_for(found.as_ref(), message.sent_at, is_news, now, setting.backlog_max_age) {
        Task::Nothing => {}
        Task::Start(kind) => {
            let key = message_key(message.chat, message.id);
            let is_new = jobs::add(tx, kind, &key, lane, now)?;
            applied.started += usize::from(is_new);
            if is_new && words == Words::Held {
                consent::hold(tx, message)?;
                // Once they are dropped, nothing of them may stay in unused parts of the file.
                scrub::want(tx, now)?;
            }
            announce(tx, message.chat, setting, now)?;
        }
        Task::CountAsOld => {
            backlog::count_one(tx, message.chat, message.thread)?;
            let due_at = now.plus(BACKLOG_SETTLES);
            jobs::add_or_move(tx, JobKind::Backlog, &message.chat.to_string(), lane, due_at)?;
            applied.started += 1;
        }
    }
    Ok(())
}

/// A chat that was not told yet what is kept of it is told now.
fn announce(tx: &Writer<'_>, chat: ChatId, setting: &Setting, now: Timestamp) -> store::Result<()> {
    let Some(row) = chats::find(tx, chat)? else { return Ok(()) };
    if setting.announces && !chats::is_announced(tx, row.key)? {
        jobs::add_unless_due(tx, JobKind::Announce, &chat.to_string(), chat.0, now)?;
    }
    Ok(())
}

/// Whether the parent is an answer of ours, rather than a notice or the output of a command.
fn is_answer(tx: &Writer<'_>, parent: Option<&Message>) -> store::Result<bool> {
    let Some(parent) = parent else { return Ok(false) };
    Ok(outbox::by_message(tx, parent.chat, parent.id)?.is_some_and(|part| part.purpose == Purpose::Answer))
}

fn judge_language(tx: &Writer<'_>, row: &ChatRow, taken: &TakenIn) -> store::Result<()> {
    let TakenIn::New(stored) = taken else { return Ok(()) };
    if stored.seq.0 % JUDGE_EVERY != 0 && stored.seq.0 != JUDGE_FIRST {
        return Ok(());
    }
    match Language::judge(&messages::recent_texts(tx, row.key, JUDGE_EVERY as usize)?) {
        Some(language) if language != row.language => chats::set_language(tx, row.key, language),
        Some(_) | None => Ok(()),
    }
}

fn note_membership(
    tx: &Writer<'_>,
    membership: &Membership,
    setting: &Setting,
    now: Timestamp,
    applied: &mut Applied,
) -> store::Result<Content> {
    if !membership.is_member {
        if let Some(row) = chats::find(tx, membership.chat.id)? {
            chats::set_removed(tx, row.key, now)?;
            // Nothing can be said there any more.
            jobs::end_all_of(tx, membership.chat.id)?;
        }
        return Ok(Content::Drop);
    }
    applied.started += 1;
    match door::enter(tx, membership, setting, now)? {
        Access::Allowed => {
            if let Some(row) = chats::find(tx, membership.chat.id)? {
                chats::set_present(tx, row.key)?;
                announce(tx, membership.chat.id, setting, now)?;
            }
        }
        Access::Refused => {
            applied.refused_chats.insert(membership.chat.id.0);
        }
    }
    Ok(Content::Drop)
}

fn follow_migration(tx: &Writer<'_>, migration: Migration) -> store::Result<Content> {
    chats::migrate(tx, migration)?;
    outbox::redirect(tx, migration.from, migration.to)?;
    Ok(Content::Keep)
}
