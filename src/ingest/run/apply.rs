//! Writing a batch: raw updates, rows, jobs and the offset in one transaction.

use std::collections::HashSet;
use std::time::Duration;

use crate::access::{Access, chat_access};
use crate::config::{AccessConfig, RateLimit};
use crate::domain::{
    Arrival, Because, BotIdentity, Chat, ChatId, ChatKind, Conversation, Event, Job, JobKind, Membership, Message,
    Migration, Timestamp,
};
use crate::ingest::run::admission::{self, Start};
use crate::ingest::run::read::ReadUpdate;
use crate::ingest::{Task, task_for};
use crate::store::chats::ChatRow;
use crate::store::inbox::Received;
use crate::store::messages::TakenIn;
use crate::store::outbox::Purpose;
use crate::store::{self, Language, StoreError, Writer, backlog, chats, inbox, jobs, messages, outbox};
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
    pub languages: &'static Languages,
    pub backlog_max_age: Duration,
    /// None: nobody asks too often.
    pub rate: Option<RateLimit>,
}

/// What a batch came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    pub stored: usize,
    /// Jobs that are due now.
    pub started: Vec<Job>,
    /// Whether a job was put off until later.
    pub postponed: bool,
    /// Kinds and reasons of updates that were parked.
    pub parked: Vec<(String, String)>,
    /// Triggers that were one too many.
    pub refused: Vec<(ChatId, Because)>,
    /// Chats that wrote to us without being allowed.
    pub refused_chats: HashSet<i64>,
    /// Where something was said.
    pub heard: HashSet<Conversation>,
}

/// Stores `batch` and moves the offset. Must run inside the one transaction that makes all of it durable.
pub fn apply(
    tx: &Writer<'_>,
    batch: &[ReadUpdate],
    offset: Option<i64>,
    setting: &Setting,
    now: Timestamp,
) -> store::Result<Applied> {
    // A savepoint for each update would write the full-text index out for each: only a batch that holds a bad one pays.
    let together = store::in_savepoint(tx, |tx| apply_each(tx, batch, setting, now, take_in_all));
    let applied = match together {
        Err(error) if !blames_the_file(&error) => apply_each(tx, batch, setting, now, take_in_apart)?,
        together => together?,
    };
    if let Some(offset) = offset {
        inbox::set_next_offset(tx, offset, now)?;
    }
    Ok(applied)
}

/// Whether the whole batch must come again, since it is not an update that is at fault.
fn blames_the_file(error: &StoreError) -> bool {
    error.is_fatal() || error.is_passing()
}

/// Takes in what one update tells.
type TakeIn = fn(&Writer<'_>, &[Event], &Setting, Timestamp, &mut Applied) -> store::Result<Content>;

fn apply_each(
    tx: &Writer<'_>,
    batch: &[ReadUpdate],
    setting: &Setting,
    now: Timestamp,
    take_in: TakeIn,
) -> store::Result<Applied> {
    let mut applied = Applied::default();
    for update in batch {
        if inbox::is_known(tx, update.id, now)? {
            continue;
        }
        let content = match &update.events {
            Ok(events) => take_in(tx, events, setting, now, &mut applied)?,
            Err(why) => Content::Unread(why.clone()),
        };
        let (raw, error) = match content {
            Content::Keep => (Some(update.json.as_str()), None),
            Content::Drop => (None, None),
            Content::Unread(why) => (Some(update.json.as_str()), Some(why)),
        };
        if let Some(why) = &error {
            applied.parked.push((update.kind.clone(), why.clone()));
        }
        let received = Received { id: update.id, kind: &update.kind, raw, at: now, error: error.as_deref() };
        inbox::add(tx, &received)?;
        applied.stored += 1;
    }
    Ok(applied)
}

/// As [`take_in_all`], where one of the batch is known to fail: it takes nothing of the others with it.
fn take_in_apart(
    tx: &Writer<'_>,
    events: &[Event],
    setting: &Setting,
    now: Timestamp,
    applied: &mut Applied,
) -> store::Result<Content> {
    match store::in_savepoint(tx, |tx| take_in_all(tx, events, setting, now, applied)) {
        Err(error) if !blames_the_file(&error) => Ok(Content::Unread(error.to_string())),
        taken => taken,
    }
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
            Event::Membership(membership) => note_membership(tx, membership)?,
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
    let Arrival { chat, message, parent } = arrival;
    let known_member = chat.kind == ChatKind::Private && chats::is_known_member(tx, message.sender.id)?;
    if chat_access(chat, message.sender.id, &setting.access, known_member) == Access::Refused {
        applied.refused_chats.insert(chat.id.0);
        let nameless = Chat { title: None, username: None, ..chat.clone() };
        let row = chats::upsert(tx, &nameless)?;
        messages::insert_stub(tx, &row, message)?;
        return Ok(Content::Drop);
    }
    let row = chats::upsert(tx, chat)?;
    if let Some(parent) = parent {
        messages::take_in(tx, &row, parent)?;
    }
    let taken = messages::take_in(tx, &row, message)?;
    applied.heard.insert(taken.message().conversation());
    chats::upsert_member(tx, row.key, &message.sender)?;
    judge_language(tx, &row, &taken)?;
    start_work(tx, arrival, &taken, setting, now, applied)?;
    Ok(Content::Keep)
}

fn start_work(
    tx: &Writer<'_>,
    arrival: &Arrival,
    taken: &TakenIn,
    setting: &Setting,
    now: Timestamp,
    applied: &mut Applied,
) -> store::Result<()> {
    let Arrival { chat, message, parent } = arrival;
    let rules = Rules { parent_is_answer: is_answer(tx, parent.as_ref())?, languages: setting.languages };
    let found = trigger::find(message, parent.as_ref(), &setting.bot, chat.kind, &rules);
    let is_news = matches!(taken, TakenIn::New(_));
    let lane = message.chat.0;
    match task_for(found.as_ref(), message.sent_at, is_news, now, setting.backlog_max_age) {
        Task::Nothing => {}
        Task::Start(kind) => match admission::start(tx, kind, taken.message(), setting.rate, now)? {
            Start::Known => {}
            Start::Started(job) => applied.started.push(job),
            Start::Refused(because, job) => {
                applied.started.push(job);
                applied.refused.push((message.chat, because));
            }
        },
        Task::CountAsOld => {
            backlog::count_one(tx, message.chat, message.thread)?;
            let due_at = now.plus(BACKLOG_SETTLES);
            jobs::add_or_move(tx, JobKind::Backlog, &message.chat.to_string(), lane, due_at)?;
            applied.postponed = true;
        }
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

fn note_membership(tx: &Writer<'_>, membership: &Membership) -> store::Result<Content> {
    match chats::find(tx, membership.chat.id)? {
        Some(row) => {
            chats::set_membership(tx, row.key, membership.is_member)?;
            Ok(Content::Keep)
        }
        None => Ok(Content::Drop),
    }
}

fn follow_migration(tx: &Writer<'_>, migration: Migration) -> store::Result<Content> {
    chats::migrate(tx, migration)?;
    outbox::redirect(tx, migration.from, migration.to)?;
    Ok(Content::Keep)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Settings};
    use crate::domain::{ChatId, MessageId, UserId};
    use crate::ingest::run::read::read_batch;
    use crate::store::{Priority, Store};
    use crate::telegram::RawUpdate;

    const NOW: Timestamp = Timestamp::from_secs(1_750_000_000);

    fn setting() -> Setting {
        let read = |name: &str| match name {
            "TELEGRAM_BOT_TOKEN" => Some("7:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned()),
            "ALLOWED_CHATS" => Some("*".to_owned()),
            _ => None,
        };
        let config = Config::load(&Settings::new(read)).unwrap();
        Setting {
            bot: BotIdentity {
                id: UserId(7),
                usernames: vec!["bot".to_owned()],
                name: "Bot".to_owned(),
                reads_all_group_messages: true,
            },
            access: config.access,
            languages: Languages::shipped(),
            backlog_max_age: config.ingest.backlog_max_age,
            rate: config.limits.rate,
        }
    }

    fn batch(texts: &[&str]) -> Vec<ReadUpdate> {
        let update = |(id, text): (usize, &&str)| {
            RawUpdate::parse(&format!(
                r#"{{"update_id":{id},"message":{{"message_id":{id},"date":1750000000,"text":"{text}",
                    "chat":{{"id":-100,"type":"supergroup","title":"Deploys"}},"from":{{"id":1,"first_name":"ann"}},
                    "entities":[{{"type":"mention","offset":0,"length":4}}]}}}}"#
            ))
        };
        read_batch((1..).zip(texts).map(update).collect(), UserId(7))
    }

    #[tokio::test]
    async fn an_update_that_cannot_be_stored_takes_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = Store::open(&folder.path().join("chime.db"), NOW).unwrap();
        let applied = store
            .write(Priority::Answering, |tx| {
                tx.execute_batch(
                    "CREATE TRIGGER poison BEFORE INSERT ON message WHEN new.text = 'poison'
                     BEGIN SELECT RAISE(FAIL, 'cannot be stored'); END",
                )?;
                apply(tx, &batch(&["first", "poison", "@bot last"]), Some(4), &setting(), NOW)
            })
            .await
            .unwrap();
        assert_eq!((applied.stored, applied.started.len(), applied.parked.len()), (3, 1, 1));
        let kept = store
            .read(|conn| {
                let text = |id| messages::find(conn, ChatId(-100), MessageId(id));
                let texts = [text(1)?, text(2)?, text(3)?];
                Ok((texts.map(|found| found.map(|stored| stored.message.text)), inbox::counts(conn)?))
            })
            .await
            .unwrap();
        assert_eq!(kept, ([Some("first".to_owned()), None, Some("@bot last".to_owned())], (3, 1)));
    }
}
