//! Reads the final database without the daemon's own code, so that a bug in it cannot hide itself.

use std::collections::{BTreeMap, HashMap};

use chime_core::{ChatId, Class, JobKind, MessageId};
use rusqlite::{Connection, OpenFlags};

use crate::Outcome;
use crate::ledger::Id;
use crate::stage::Stage;

type PartsByMessage = HashMap<Id, Vec<Part>>;

pub struct Kept {
    pub messages: HashMap<Id, Row>,
    /// Parts of replies, by the message replied to.
    pub replies: PartsByMessage,
    /// Commands that were answered in the member's private chat, by the message there.
    pub answered_in_private: HashMap<Id, Id>,
    /// Chat, state and count of each notice about triggers that were too old.
    pub backlog: Vec<(ChatId, String, usize)>,
    /// Answers of the bot, by message.
    pub answers: HashMap<Id, usize>,
    /// Number of jobs by kind.
    pub jobs: BTreeMap<String, usize>,
    /// Open jobs that a member waits for.
    pub open_jobs: usize,
    /// Open jobs of memory, which are not urgent.
    pub background_jobs: usize,
    pub parked_jobs: Vec<String>,
    pub updates: usize,
    pub parked_updates: usize,
    pub apologies: usize,
    pub integrity: String,
}

pub struct Row {
    pub is_stub: bool,
    pub text: String,
}

#[derive(Debug, Clone)]
pub struct Part {
    pub key: String,
    pub state: String,
    pub unknown_sends: usize,
    /// `true` if its words were forgotten.
    pub is_blank: bool,
}

impl Kept {
    pub fn read(stage: &Stage) -> Outcome<Self> {
        let conn = Connection::open_with_flags(stage.database(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let count = |sql: &str| -> Outcome<usize> { Ok(conn.query_row(sql, [], |row| row.get(0))?) };
        let (replies, answered_in_private) = replies(&conn)?;
        Ok(Self {
            messages: messages(&conn)?,
            replies,
            answered_in_private,
            backlog: backlog(&conn)?,
            answers: answers(&conn)?,
            jobs: jobs(&conn)?,
            open_jobs: count(&open_of(Class::Answering))?,
            background_jobs: count(&open_of(Class::Background))?,
            parked_jobs: parked(&conn)?,
            updates: count("SELECT count(*) FROM inbox")?,
            parked_updates: count("SELECT count(*) FROM inbox WHERE state = 'parked'")?,
            apologies: count("SELECT count(*) FROM answer WHERE status = 'apologised'")?,
            integrity: conn.query_row("PRAGMA integrity_check", [], |row| row.get(0))?,
        })
    }
}

/// Returns the number of open jobs that a member waits for, while the daemon runs.
pub fn open_jobs(stage: &Stage) -> Outcome<usize> {
    let conn = Connection::open_with_flags(stage.database(), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    Ok(conn.query_row(&open_of(Class::Answering), [], |row| row.get(0))?)
}

/// Returns SQL that counts waiting and running jobs. Periodic jobs never end and are not counted.
fn open_of(class: Class) -> String {
    let kinds = JobKind::sql_list(|policy| policy.class == class && !policy.is_periodic());
    format!("SELECT count(*) FROM job WHERE state = 'due' AND kind IN ({kinds})")
}

fn messages(conn: &Connection) -> Outcome<HashMap<Id, Row>> {
    let mut statement = conn.prepare("SELECT telegram_chat_id, message_id, is_stub, text FROM message")?;
    let rows = statement.query_map([], |row| Ok((id(row)?, Row { is_stub: row.get(2)?, text: row.get(3)? })))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the parts of replies, by the message replied to, and the commands that were answered in a private chat, by
/// the message there. Such a reply refers to no message; its key names the command.
fn replies(conn: &Connection) -> Outcome<(PartsByMessage, HashMap<Id, Id>)> {
    let mut statement = conn.prepare(
        "SELECT telegram_chat_id, reply_to_id, message_id, reply_key, state, unknown_sends, text = '' FROM outbox
         WHERE reply_to_id IS NOT NULL OR reply_key LIKE 'command:%'",
    )?;
    let rows = statement.query_map([], |row| {
        let (chat, to, sent): (i64, Option<i64>, Option<i64>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let part = Part { key: row.get(3)?, state: row.get(4)?, unknown_sends: row.get(5)?, is_blank: row.get(6)? };
        Ok((ChatId(chat), to.map(MessageId), sent.map(MessageId), part))
    })?;
    let (mut replies, mut private) = (PartsByMessage::new(), HashMap::new());
    for row in rows {
        let (chat, to, sent, part) = row?;
        let to = to.map(|to| (chat, to)).or_else(|| command(&part.key)).ok_or_else(|| format!("key {}", part.key))?;
        if to.0 != chat {
            private.extend(sent.map(|sent| ((chat, sent), to)));
        }
        replies.entry(to).or_default().push(part);
    }
    Ok((replies, private))
}

/// Parses the key of a reply to a command: `command:<chat>:<message>`.
fn command(key: &str) -> Option<Id> {
    let (chat, message) = key.strip_prefix("command:")?.split_once(':')?;
    Some((ChatId(chat.parse().ok()?), MessageId(message.parse().ok()?)))
}

fn backlog(conn: &Connection) -> Outcome<Vec<(ChatId, String, usize)>> {
    let mut statement =
        conn.prepare("SELECT telegram_chat_id, state, text FROM outbox WHERE reply_key LIKE 'backlog:%'")?;
    let rows = statement.query_map([], |row| {
        let text: String = row.get(2)?;
        Ok((ChatId(row.get(0)?), row.get(1)?, counted(&text)))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the number in a notice about old triggers; "a message" is one.
fn counted(text: &str) -> usize {
    let number = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    number.and_then(|word| word.replace(',', "").parse().ok()).unwrap_or(1)
}

fn answers(conn: &Connection) -> Outcome<HashMap<Id, usize>> {
    let mut statement = conn.prepare(
        "SELECT telegram_chat_id, message_id, count(*) FROM outbox
         WHERE purpose = 'answer' AND message_id IS NOT NULL GROUP BY 1, 2",
    )?;
    let rows = statement.query_map([], |row| Ok((id(row)?, row.get(2)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn jobs(conn: &Connection) -> Outcome<BTreeMap<String, usize>> {
    let mut statement = conn.prepare("SELECT kind, count(*) FROM job GROUP BY kind")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn parked(conn: &Connection) -> Outcome<Vec<String>> {
    let mut statement =
        conn.prepare("SELECT kind || ' ' || key || ': ' || coalesce(last_error, '') FROM job WHERE state = 'parked'")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Builds a map from the first two columns.
fn id(row: &rusqlite::Row<'_>) -> rusqlite::Result<Id> {
    Ok((ChatId(row.get(0)?), MessageId(row.get(1)?)))
}
