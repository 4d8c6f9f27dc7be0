//! Fetches what the pure part needs: one read of the store, no network, no model.

use std::collections::HashSet;

use crate::context::{ContextWindow, History, Params, window};
use crate::domain::{MessageId, StoredMessage};
use crate::store::{self, Reader, Store, messages};

/// Messages before the trigger that are looked at. More than a window holds, so that what was left out can be told.
const RECENT: usize = 200;
/// Replies to one message that are looked at.
const REPLIES: usize = 20;

/// Picks the messages that `trigger` is about.
pub async fn get_smart_context(store: &Store, trigger: StoredMessage, params: Params) -> store::Result<ContextWindow> {
    store.read(move |conn| pick(conn, trigger, &params)).await
}

/// The same on a connection at hand.
pub fn pick(conn: &Reader, mut trigger: StoredMessage, params: &Params) -> store::Result<ContextWindow> {
    let anchor_withheld = match trigger.message.reply_to {
        Some(parent) => messages::is_withheld(conn, trigger.message.chat, parent)?,
        None => false,
    };
    if anchor_withheld {
        // A part of words that are not kept is not kept either.
        trigger.message.quote = None;
    }
    let window = window::get_smart_context(&gather(conn, trigger, params)?, params);
    Ok(ContextWindow { anchor_withheld, ..window })
}

/// Fetches the trigger's recent messages and everything that reply links lead to.
fn gather(conn: &Reader, trigger: StoredMessage, params: &Params) -> store::Result<History> {
    let moment = (trigger.message.sent_at, trigger.message.id);
    let recent = messages::before(conn, trigger.conversation(), moment, RECENT)?;
    let mut links = Links::new(&trigger, &recent);
    links.follow_up(conn, &trigger, params.chain_depth)?;
    let anchor = links.found.first().cloned();
    if let Some(anchor) = &anchor {
        links.add_neighbours(conn, anchor, params.lookback_limit)?;
        links.add_all(messages::replies_to(conn, anchor.message.chat, anchor.message.id, REPLIES)?);
    }
    // Only what can be in the window can pull its ancestors in.
    for member in recent.iter().rev().take(params.lookback_limit) {
        links.follow_up(conn, member, params.chain_depth)?;
    }
    links.complete_albums(conn, &recent, params.lookback_limit)?;
    Ok(History { trigger, recent, linked: links.found })
}

/// What links led to, each message once and never one that is recent anyway, unless it is the anchor.
struct Links {
    seen: HashSet<MessageId>,
    found: Vec<StoredMessage>,
}

impl Links {
    fn new(trigger: &StoredMessage, recent: &[StoredMessage]) -> Self {
        let mut seen: HashSet<_> = recent.iter().map(|stored| stored.message.id).collect();
        seen.insert(trigger.message.id);
        Self { seen, found: Vec::new() }
    }

    fn add(&mut self, stored: StoredMessage) {
        if self.seen.insert(stored.message.id) {
            self.found.push(stored);
        }
    }

    fn add_all(&mut self, stored: Vec<StoredMessage>) {
        stored.into_iter().for_each(|one| self.add(one));
    }

    /// Adds the ancestors of `from` by reply links.
    fn follow_up(&mut self, conn: &Reader, from: &StoredMessage, depth: usize) -> store::Result<()> {
        let mut parent = from.message.reply_to;
        for _ in 0..depth {
            let Some(id) = parent else { break };
            let Some(stored) = messages::find(conn, from.message.chat, id)? else { break };
            parent = stored.message.reply_to;
            self.add(stored);
        }
        Ok(())
    }

    /// Adds what was said around an old anchor.
    fn add_neighbours(&mut self, conn: &Reader, anchor: &StoredMessage, limit: usize) -> store::Result<()> {
        let moment = (anchor.message.sent_at, anchor.message.id);
        self.add_all(messages::before(conn, anchor.conversation(), moment, limit)?);
        self.add_all(messages::after(conn, anchor.conversation(), moment, limit)?);
        Ok(())
    }

    fn complete_albums(&mut self, conn: &Reader, recent: &[StoredMessage], limit: usize) -> store::Result<()> {
        let near = recent.iter().rev().take(limit).chain(&self.found);
        let albums: HashSet<_> =
            near.filter_map(|stored| Some((stored.message.chat, stored.message.album.clone()?))).collect();
        for (chat, album) in albums {
            self.add_all(messages::album(conn, chat, &album)?);
        }
        Ok(())
    }
}
