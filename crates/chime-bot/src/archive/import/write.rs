//! Stores imported messages by the same rules as live updates: respects opt-outs and deletions, and stores no message
//! twice.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::archive::import::former_group::{former_group, put_back};
use crate::archive::import::read::ImportBatch;
use crate::archive::{ChatTally, Tally};
use chime_access::Access;
use chime_access::admission::served;
use chime_core::config::AccessConfig;
use chime_core::{Chat, ChatId, ChatKey, Conversation, JobPayload, Language, Message, Timestamp, UserId};
use chime_privacy::{Keep, Withheld, strip_message};
use chime_store::chats::ChatRow;
use chime_store::messages::TakenIn;
use chime_store::{Reader, Writer, chats, consent, jobs, messages, sessions};

/// Maximum time by which a clock may be ahead. A message of a later time is damaged: it would be the newest for ever.
const AHEAD: Duration = Duration::from_hours(24);
/// Minimum number of stored texts for the chat's language to be trusted. With fewer, the import detects the language.
const KNOWN_WELL: usize = 30;

#[derive(Clone)]
pub struct ImportSettings {
    pub access: AccessConfig,
    /// Messages sent before this time are not imported, because their retention is over; `None` to import all.
    pub cutoff: Option<Timestamp>,
    pub now: Timestamp,
}

pub struct BatchCounts {
    chat: ChatId,
    is_served: bool,
    counts: ChatTally,
}

impl BatchCounts {
    fn of(batch: &ImportBatch, row: Option<&ChatRow>, is_served: bool) -> Self {
        let title = row.and_then(|row| row.chat.title.clone()).or_else(|| batch.chat.title.clone());
        let counts = ChatTally { title, unreadable: batch.unreadable, ..ChatTally::default() };
        Self { chat: batch.chat.id, is_served, counts }
    }
}

pub fn add(tally: &mut Tally, BatchCounts { chat, is_served, counts }: BatchCounts) {
    if is_served {
        tally.add(chat, counts);
        return;
    }
    let setting = match chat.0 > 0 {
        true => "PRIVATE_CHATS does not allow this chat".to_owned(),
        false => format!("add {chat} to ALLOWED_CHATS, or let an owner add the bot to the chat"),
    };
    let title = counts.title.filter(|title| !title.is_empty()).unwrap_or_else(|| chat.to_string());
    let left_out = (title, format!("it is not allowed: {setting}"));
    if !tally.left_out.contains(&left_out) {
        tally.left_out.push(left_out);
    }
}

/// Members and a period of a chat whose messages are stored without content.
struct Objections {
    members: HashSet<UserId>,
    /// Time of the last `/forget all`. Messages up to this time are stored without content.
    forgotten_until: Option<Timestamp>,
}

impl Objections {
    fn read(conn: &Reader, chat: ChatKey) -> chime_store::Result<Self> {
        let members = consent::opted_out_of(conn, chat)?.into_iter().collect();
        Ok(Self { members, forgotten_until: consent::forgotten_until(conn, chat)? })
    }

    fn strip(&self, conn: &Reader, chat: ChatKey, message: &Message) -> chime_store::Result<Keep> {
        let withheld = Withheld {
            message: self.members.contains(&message.sender.id)
                || self.forgotten_until.is_some_and(|until| message.sent_at <= until),
            copied: consent::is_author_out(conn, chat, message)?,
            ..Withheld::default()
        };
        Ok(strip_message(message, withheld))
    }
}

pub fn take_in(tx: &Writer<'_>, batch: &ImportBatch, setting: &ImportSettings) -> chime_store::Result<BatchCounts> {
    let found = chats::find(tx, batch.chat.id)?;
    let mut counted = BatchCounts::of(batch, found.as_ref(), is_served(tx, &batch.chat, found.as_ref(), setting)?);
    if !counted.is_served {
        return Ok(counted);
    }
    let row = match found {
        Some(row) => row,
        None => chats::upsert(tx, &batch.chat)?,
    };
    let row = with_language(tx, row, &batch.messages)?;
    let cutoff = cutoff(tx, row.key, setting)?;
    let objections = Objections::read(tx, row.key)?;
    let mut earliest: HashMap<Conversation, Timestamp> = HashMap::new();
    let mut members = HashSet::new();
    let former = former_group(tx, &row)?;
    for message in &batch.messages {
        let message = &put_back(tx, former, message)?;
        if cutoff.is_some_and(|cutoff| message.sent_at < cutoff) {
            counted.counts.expired += 1;
            continue;
        }
        if message.sent_at > setting.now.plus(AHEAD) {
            counted.counts.unreadable += 1;
            continue;
        }
        let is_news = match objections.strip(tx, row.key, message)? {
            Keep::Stub(stub) => {
                let is_news = messages::insert_stub(tx, &row, &stub)?;
                counted.counts.stubs += u64::from(is_news);
                counted.counts.known += u64::from(!is_news);
                continue;
            }
            Keep::Whole(message) => match messages::take_in(tx, &row, &message)? {
                TakenIn::New(_) | TakenIn::Replaced(_) => true,
                TakenIn::Known(_) => false,
            },
        };
        counted.counts.added += u64::from(is_news);
        counted.counts.known += u64::from(!is_news);
        if is_news {
            let conversation = Conversation { chat: row.key, forum_topic: message.forum_topic };
            let at = earliest.entry(conversation).or_insert(message.sent_at);
            *at = (*at).min(message.sent_at);
            if members.insert(message.sender.id) {
                chats::note_member(tx, row.key, &message.sender)?;
            }
        }
    }
    for (conversation, at) in earliest {
        sessions::note(tx, conversation, at)?;
    }
    if counted.counts.added > 0 {
        announce(tx, batch.chat.id, counted.counts.added, setting.now)?;
    }
    Ok(counted)
}

/// Schedules the notice to a chat about `count` more imported messages. If a notice about an earlier
/// import is still waiting, its count is added.
fn announce(tx: &Writer<'_>, chat: ChatId, count: u64, now: Timestamp) -> chime_store::Result<()> {
    let untold = match jobs::find(tx, &JobPayload::Imported { chat, count })?.map(|job| job.payload) {
        Some(JobPayload::Imported { count, .. }) => count,
        _ => 0,
    };
    jobs::add_or_move(tx, &JobPayload::Imported { chat, count: untold + count }, now)
}

fn is_served(conn: &Reader, chat: &Chat, row: Option<&ChatRow>, setting: &ImportSettings) -> chime_store::Result<bool> {
    let known = row.map_or(chat, |row| &row.chat);
    // A private chat has the same id as its user.
    Ok(served(conn, known, UserId(chat.id.0), &setting.access)? == Access::Allowed)
}

/// Returns the time before which messages have expired: by the chat's own retention if it has one, else by the
/// operator's.
fn cutoff(conn: &Reader, chat: ChatKey, setting: &ImportSettings) -> chime_store::Result<Option<Timestamp>> {
    Ok(match chats::own_retention(conn, chat)? {
        Some(span) => span.map(|span| setting.now.minus(span)),
        None => setting.cutoff,
    })
}

/// Detects the language of a chat that has few messages. This must happen before the first message is indexed, because
/// its words are stemmed in that language.
fn with_language(tx: &Writer<'_>, row: ChatRow, said: &[Message]) -> chime_store::Result<ChatRow> {
    if messages::recent_texts(tx, row.key, KNOWN_WELL)?.len() >= KNOWN_WELL {
        return Ok(row);
    }
    let texts: Vec<String> = said.iter().map(|message| message.text.clone()).filter(|text| !text.is_empty()).collect();
    match Language::judge(&texts) {
        Some(language) if language != row.language => {
            chats::set_language(tx, row.key, language)?;
            Ok(ChatRow { language, ..row })
        }
        Some(_) | None => Ok(row),
    }
}
