//! Divides conversations into sessions, and enqueues jobs for missing or outdated summaries.

use std::time::Duration;

use crate::division::{ConversationPart, Division, divide, unsettled};
use crate::jobs::memory::Memory;
use crate::policy::RECENT;
use crate::{OpenSession, SessionRules, fingerprint};
use chime_access::gateway::ModelPurpose;
use chime_core::chat_settings::SESSION_IDLE;
use chime_core::config::MemoryConfig;
use chime_core::{ChatId, ChatKey, ChatKind, Conversation, JobPayload, MessageId, Session, SummaryMethod, Timestamp};
use chime_jobs::{JobOutcome, JobResult};
use chime_store::sessions::NOTE_SPAN;
use chime_store::{Priority, Reader, Writer, chat_settings, chats, jobs, memory, sessions, summaries, topics};

/// Maximum number of changed conversations that a query returns.
const CONVERSATIONS_AT_ONCE: u32 = 64;
/// Maximum number of summary jobs that a chat gets per run; the other sessions get theirs in the next runs.
const JOBS_AT_ONCE: u32 = 20;
/// Maximum number of a chat's extracts per run that a model replaces by summaries of its own.
const UPGRADES_AT_ONCE: u32 = 5;
/// Delay from the end of a session to the check, so that the check does not run too early.
const MOMENT: Duration = Duration::from_secs(1);

/// Sessions that ended longer ago are logged at debug level only: an import or a long downtime closes many at once.
pub(super) const LONG_AGO: Duration = Duration::from_hours(24);

/// Result of dividing one page of messages of a conversation.
struct DividedPage {
    closed: Vec<Session>,
    /// Earliest time from which messages must still be divided; `None` if the conversation is done.
    goes_on_at: Option<Timestamp>,
}

impl Memory {
    /// Runs the periodic `sessions` job: divides changed conversations into sessions and enqueues summaries.
    pub async fn divide(&self) -> JobResult {
        loop {
            let now = self.clock.now();
            let noted = self.store.read(move |conn| sessions::noted(conn, now, CONVERSATIONS_AT_ONCE)).await?;
            if noted.is_empty() {
                break;
            }
            for conversation in noted {
                self.divide_one(conversation).await?;
            }
        }
        self.see_to_summaries().await?;
        Ok(JobOutcome::UntilNextRun)
    }

    async fn divide_one(&self, conversation: Conversation) -> chime_store::Result<()> {
        // A page holds two sessions of maximum length, so each round closes at least one.
        let mut page = self.config.max_messages.saturating_mul(2).saturating_add(100);
        let mut went_on_at = None;
        loop {
            let (config, now) = (self.config.clone(), self.clock.now());
            let look = move |tx: &Writer<'_>| look(tx, conversation, &config, page, now);
            let looked = self.store.write(Priority::Background, look).await?;
            looked.closed.iter().for_each(|session| report(session, now));
            if looked.goes_on_at.is_none() {
                return Ok(());
            }
            if looked.goes_on_at == went_on_at {
                // No progress: more messages have the same second than a page holds.
                page = page.saturating_mul(2);
            }
            went_on_at = looked.goes_on_at;
        }
    }

    /// Enqueues a job for every session without an up-to-date summary, and for extracts that a model may replace.
    async fn see_to_summaries(&self) -> chime_store::Result<()> {
        if !self.config.is_on {
            return Ok(());
        }
        let chats = self.store.read(memory::chats_to_summarize).await?;
        let model = self.summary_model();
        let may_upgrade = if self.model.can_write(ModelPurpose::Summary).await {
            let model = model.clone();
            self.store.read(move |conn| memory::chats_with_extracts(conn, &model)).await?
        } else {
            Vec::new()
        };
        for chat in may_upgrade.iter().filter(|chat| !chats.contains(chat)).chain(&chats) {
            let (chat, now) = (*chat, self.clock.now());
            let conditions = self.conditions(chat).await?;
            let Some(method) = conditions.method() else { continue };
            let upgrades = (method == SummaryMethod::Model).then(|| model.clone());
            self.store.write(Priority::Background, move |tx| enqueue(tx, chat, upgrades.as_deref(), now)).await?;
        }
        self.wake.wake();
        Ok(())
    }
}

impl Memory {
    /// Runs the periodic `memory_upkeep` job: enqueues updates of Recent and History for chats with sessions older than
    /// 28 days, and makes summary vectors that are missing in the current model.
    pub async fn keep_up(&self) -> JobResult {
        if !self.config.is_on {
            return Ok(JobOutcome::UntilNextRun);
        }
        let from = self.clock.now().minus(RECENT);
        for chat in self.store.read(move |conn| memory::chats_to_fold(conn, from)).await? {
            self.roll(chat, |chat, key| JobPayload::History { chat, key }).await?;
        }
        for chat in self.store.read(move |conn| memory::chats_without_recent(conn, from)).await? {
            self.roll(chat, |chat, key| JobPayload::Recent { chat, key }).await?;
        }
        self.fill_in_vectors().await?;
        self.wake.wake();
        Ok(JobOutcome::UntilNextRun)
    }

    /// Enqueues a job that updates a chat's rolling summary, if the chat wants summaries.
    async fn roll(&self, key: ChatKey, job: fn(ChatId, ChatKey) -> JobPayload) -> chime_store::Result<()> {
        if self.conditions(key).await?.method().is_none() {
            return Ok(());
        }
        let now = self.clock.now();
        let add = move |tx: &Writer<'_>| match chats::by_key(tx, key)? {
            Some(row) => jobs::add_again(tx, &job(row.chat.id, key), now),
            None => Ok(()),
        };
        self.store.write(Priority::Background, add).await
    }
}

fn report(session: &Session, now: Timestamp) {
    macro_rules! log {
        ($level:ident) => {
            tracing::$level!(
                chat = session.id.chat.0, session = %session.id, reason = session.reason.as_str(),
                duration_s = session.last.0.since(session.first.0).as_secs(), messages = session.messages,
                "SESSION_CLOSED",
            )
        };
    }
    if now.since(session.last.0) > LONG_AGO { log!(debug) } else { log!(info) }
}

/// Enqueues summary jobs of a chat: for sessions without a summary, or if there are none, for extracts that the model
/// `upgrades` may replace. `None` replaces none.
fn enqueue(tx: &Writer<'_>, chat: ChatKey, upgrades: Option<&str>, now: Timestamp) -> chime_store::Result<()> {
    let Some(row) = chats::by_key(tx, chat)? else { return Ok(()) };
    let mut waiting = sessions::stale(tx, chat, JOBS_AT_ONCE)?;
    if let Some(model) = upgrades.filter(|_| waiting.is_empty()) {
        for session in memory::extracts_of(tx, chat, model, UPGRADES_AT_ONCE)? {
            summaries::unsettle(tx, session.id)?;
            waiting.push(session);
        }
    }
    for (place, session) in (0..).zip(waiting) {
        // The jobs run in this order.
        let due_at = now.plus(Duration::from_millis(place));
        jobs::add_again(tx, &JobPayload::Summary { chat: row.chat.id, session: session.id }, due_at)?;
    }
    Ok(())
}

/// Divides the part of a conversation around its first change note (a stored time at which messages changed) into
/// sessions. Runs in one transaction, so that a message that arrives meanwhile leaves a new note.
fn look(
    tx: &Writer<'_>,
    conversation: Conversation,
    config: &MemoryConfig,
    page: u32,
    now: Timestamp,
) -> chime_store::Result<DividedPage> {
    let notes = sessions::notes_of(tx, conversation)?;
    let Some(noted) = notes.first().copied() else { return Ok(DividedPage { closed: Vec::new(), goes_on_at: None }) };
    let rules = rules(tx, conversation, config)?;
    let part = read_part(tx, conversation, noted, noted.plus(NOTE_SPAN), page)?;
    let division = divide(&part, conversation, rules, now);
    let closed = write(tx, conversation, &part, &division)?;
    sessions::clear_notes(tx, conversation, &notes)?;
    let left = unsettled(&notes, NOTE_SPAN, &division);
    for at in &left {
        sessions::note_until(tx, conversation, *at, Timestamp::default())?;
    }
    if let Some(open) = &division.open {
        sessions::note_until(tx, conversation, open.first.0, open.ends_at.plus(MOMENT))?;
    }
    Ok(DividedPage { closed, goes_on_at: left.first().copied() })
}

fn read_part(
    conn: &Reader,
    conversation: Conversation,
    noted: Timestamp,
    noted_until: Timestamp,
    page: u32,
) -> chime_store::Result<ConversationPart> {
    let base = sessions::last_begun_before(conn, conversation, noted)?;
    let from = base.map_or((Timestamp::from_secs(0), MessageId(i64::MIN)), |session| session.first);
    let mut messages = sessions::moments(conn, conversation, from, page + 1)?;
    let is_all = messages.len() <= page as usize;
    messages.truncate(page as usize);
    Ok(ConversationPart {
        is_all,
        cuts: sessions::cuts_from(conn, conversation, from.0)?,
        kept: sessions::begun_from(conn, conversation, from, page)?,
        messages,
        noted_until,
    })
}

/// Stores the changes of a division. Returns the sessions that were not stored before.
fn write(
    tx: &Writer<'_>,
    conversation: Conversation,
    part: &ConversationPart,
    division: &Division,
) -> chime_store::Result<Vec<Session>> {
    for session in &division.remove {
        memory::remove_session(tx, session)?;
    }
    let mut closed = Vec::new();
    for session in &division.save {
        sessions::save(tx, session)?;
        if !part.kept.iter().any(|kept| kept.id == session.id) {
            topics::end_session(tx, conversation, session.id.first)?;
            closed.push(session.clone());
        }
    }
    Ok(closed)
}

/// Returns the rules that end sessions in this conversation.
pub(super) fn rules(
    conn: &Reader,
    conversation: Conversation,
    config: &MemoryConfig,
) -> chime_store::Result<SessionRules> {
    let kind = chats::by_key(conn, conversation.chat)?.map_or(ChatKind::Group, |row| row.chat.kind);
    let idle = chat_settings::get(conn, conversation, SESSION_IDLE)?.unwrap_or_else(|| config.idle.in_chats_of(kind));
    Ok(SessionRules { idle, max_messages: config.max_messages })
}

/// Returns the session that is still open at `now`, or `None`.
pub(super) fn open_session(
    conn: &Reader,
    conversation: Conversation,
    config: &MemoryConfig,
    now: Timestamp,
) -> chime_store::Result<Option<OpenSession>> {
    let rules = rules(conn, conversation, config)?;
    let noted = sessions::last_begun_before(conn, conversation, Timestamp::END)?
        .map_or(Timestamp::default(), |session| session.last.0);
    let end = Timestamp::END;
    let part = read_part(conn, conversation, noted, end, rules.max_messages.saturating_mul(2))?;
    Ok(divide(&part, conversation, rules, now).open)
}

/// Returns `true` if the session's messages are unchanged since it was divided.
pub(super) fn is_as_divided(conn: &Reader, session: &Session) -> chime_store::Result<bool> {
    let conversation = Conversation { chat: session.id.chat, forum_topic: session.forum_topic };
    let messages = sessions::moments(conn, conversation, session.first, session.messages)?;
    Ok(fingerprint(&messages) == session.fingerprint)
}
