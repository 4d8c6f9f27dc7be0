//! The update queue and its offsets, as on Telegram's server.

use std::collections::VecDeque;
use std::sync::Arc;

use chime_core::UpdateId;

/// Id of the first update. Any number would do, since the real server starts at random.
const FIRST_ID: i64 = 500_000_001;
/// Largest distance of a valid offset above the next id. The server ignores a larger offset and sends all pending
/// updates.
const FUTURE_TOLERANCE: i64 = 10;
/// Largest distance of a valid offset below the next id, with the same effect: twice the server's longest queue.
const PAST_TOLERANCE: i64 = 200_000;
/// Number of confirmed updates to keep for [`UpdateQueue::redeliver`].
const REMEMBERED: usize = 10_000;

/// Kinds of updates that a bot must request by name.
const ONLY_ON_REQUEST: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

#[derive(Debug, Clone)]
struct Update {
    id: i64,
    /// The whole update as JSON, serialized once.
    body: Arc<str>,
}

/// Update that is delivered again. Its id is already confirmed, so no offset can confirm it again: after its delivery,
/// the next poll removes it.
#[derive(Debug)]
struct Echo {
    body: Arc<str>,
    delivered: bool,
}

/// Queue of unconfirmed updates. Also keeps the latest confirmed ones, for redelivery.
#[derive(Debug)]
pub(super) struct UpdateQueue {
    /// Sorted by id.
    pending: VecDeque<Update>,
    confirmed: VecDeque<Update>,
    echoes: Vec<Echo>,
    next_id: i64,
    allowed: Vec<String>,
    latest_poll: PollNumber,
    /// Id below which all updates were delivered at least once.
    handed_out: i64,
}

/// Number of a `getUpdates` request. A later request ends earlier ones that still wait for updates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PollNumber(u64);

/// Result of a poll at the moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Polled {
    /// A JSON array of updates.
    Updates(String),
    Nothing,
    /// Another poll started meanwhile.
    Terminated,
}

impl Default for UpdateQueue {
    fn default() -> Self {
        Self {
            pending: VecDeque::new(),
            confirmed: VecDeque::new(),
            echoes: Vec::new(),
            next_id: FIRST_ID,
            allowed: Vec::new(),
            latest_poll: PollNumber::default(),
            handed_out: 0,
        }
    }
}

impl UpdateQueue {
    /// Queues `payload` (JSON) as an update of `kind`, if the bot currently receives that kind.
    pub(super) fn push(&mut self, kind: &str, payload: &str) {
        if self.listens_to(kind) {
            let id = self.next_id;
            self.append(id, format!(r#"{{"update_id":{id},"{kind}":{payload}}}"#).into());
        }
    }

    /// Queues any text. Adds a missing `update_id` if the text is an object.
    pub(super) fn push_raw(&mut self, raw: &str) {
        #[derive(serde::Deserialize)]
        struct Numbered {
            update_id: i64,
        }
        let raw = raw.trim();
        match serde_json::from_str::<Numbered>(raw) {
            Ok(Numbered { update_id }) if update_id < self.next_id => self.echo(raw.into()),
            Ok(Numbered { update_id }) => self.append(update_id, raw.into()),
            Err(_) => {
                let body = self.numbered(raw).unwrap_or_else(|| raw.to_owned());
                self.append(self.next_id, body.into());
            }
        }
    }

    /// Delivers an earlier update again with the same id. Returns `false` if it is no longer stored.
    pub(super) fn redeliver(&mut self, id: UpdateId) -> bool {
        let body = self.find(id);
        body.into_iter().map(|body| self.echo(body)).count() > 0
    }

    /// Delivers an earlier update again with a new id. `None` if it is no longer stored.
    pub(super) fn duplicate(&mut self, id: UpdateId) -> Option<UpdateId> {
        let body = self.find(id)?;
        let payload = body.strip_prefix(&format!(r#"{{"update_id":{id},"#))?;
        let new_id = self.next_id;
        self.append(new_id, format!(r#"{{"update_id":{new_id},{payload}"#).into());
        Some(UpdateId(new_id))
    }

    /// Drops all updates and continues with id `next`: after a week without updates, the real server continues with a
    /// random id.
    pub(super) fn restart_ids(&mut self, next: UpdateId) {
        self.pending.clear();
        self.echoes.clear();
        self.confirmed.clear();
        self.next_id = next.0;
    }

    pub(super) fn allow(&mut self, kinds: Vec<String>) {
        self.allowed = kinds;
    }

    /// Starts a poll: confirms updates below `offset` and ends an earlier poll that waits.
    pub(super) fn begin_poll(&mut self, offset: i64) -> PollNumber {
        self.echoes.retain(|echo| !echo.delivered);
        let first_wanted = self.resolve(offset);
        while self.pending.front().is_some_and(|update| update.id < first_wanted) {
            self.confirmed.extend(self.pending.pop_front());
        }
        let forgotten = self.confirmed.len().saturating_sub(REMEMBERED);
        self.confirmed.drain(..forgotten);
        self.latest_poll = PollNumber(self.latest_poll.0 + 1);
        self.latest_poll
    }

    /// Returns at most `limit` updates for the poll with number `turn`.
    pub(super) fn take(&mut self, turn: PollNumber, limit: usize) -> Polled {
        if turn != self.latest_poll {
            return Polled::Terminated;
        }
        if self.len() == 0 {
            return Polled::Nothing;
        }
        let mut batch = String::from("[");
        let echoes = self.echoes.iter_mut().map(|echo| {
            echo.delivered = true;
            &echo.body
        });
        for body in echoes.chain(self.pending.iter().map(|update| &update.body)).take(limit) {
            if batch.len() > 1 {
                batch.push(',');
            }
            batch.push_str(body);
        }
        batch.push(']');
        let room = limit.saturating_sub(self.echoes.len());
        let last = self.pending.iter().take(room).next_back();
        self.handed_out = last.map_or(self.handed_out, |update| update.id + 1);
        Polled::Updates(batch)
    }

    /// Returns `true` if every update was delivered, confirmed or not.
    pub(super) fn is_handed_out(&self) -> bool {
        self.echoes.iter().all(|echo| echo.delivered)
            && self.pending.back().is_none_or(|update| update.id < self.handed_out)
    }

    /// Returns the number of unconfirmed updates.
    pub(super) fn len(&self) -> usize {
        self.pending.len() + self.echoes.len()
    }

    /// Returns the id below which all updates are confirmed.
    pub(super) fn confirmed_offset(&self) -> i64 {
        self.pending.front().map_or(self.next_id, |update| update.id)
    }

    pub(super) fn latest(&self) -> Option<UpdateId> {
        self.pending.back().or(self.confirmed.back()).map(|update| UpdateId(update.id))
    }

    /// Returns the id of the first update that a poll with `offset` leaves unconfirmed.
    fn resolve(&self, offset: i64) -> i64 {
        let head = self.confirmed_offset();
        match offset {
            0 => head,
            ..0 => head.max(self.next_id.saturating_add(offset)),
            _ if offset > self.next_id + FUTURE_TOLERANCE || offset < self.next_id - PAST_TOLERANCE => head,
            _ => offset,
        }
    }

    fn listens_to(&self, kind: &str) -> bool {
        if self.allowed.is_empty() {
            return !ONLY_ON_REQUEST.contains(&kind);
        }
        self.allowed.iter().any(|allowed| allowed == kind)
    }

    fn numbered(&self, raw: &str) -> Option<String> {
        let rest = raw.strip_prefix('{')?.trim_start();
        let comma = if rest.starts_with('}') { "" } else { "," };
        (!rest.contains(r#""update_id""#)).then(|| format!(r#"{{"update_id":{}{comma}{rest}"#, self.next_id))
    }

    fn append(&mut self, id: i64, body: Arc<str>) {
        self.pending.push_back(Update { id, body });
        self.next_id = id.saturating_add(1);
    }

    fn echo(&mut self, body: Arc<str>) {
        self.echoes.push(Echo { body, delivered: false });
    }

    fn find(&self, id: UpdateId) -> Option<Arc<str>> {
        self.pending
            .iter()
            .chain(&self.confirmed)
            .find(|update| update.id == id.0)
            .map(|update| Arc::clone(&update.body))
    }
}
