//! What may be kept of an arrival, as far as the store knows who objects.

use crate::access::Access;
use crate::access::run::served;
use crate::domain::{Arrival, ChatKind, UserId};
use crate::ingest::run::apply::Setting;
use crate::privacy::{Traces, Withheld};
use crate::store::chats::ChatRow;
use crate::store::{self, Reader, chats, consent, messages};

/// Whose words in `arrival` must not be kept.
pub fn withheld(conn: &Reader, chat: &ChatRow, arrival: &Arrival) -> store::Result<Withheld> {
    Ok(Withheld {
        message: consent::is_withheld(conn, chat.key, &arrival.message)?,
        parent: arrival.parent.as_ref().map_or(Ok(false), |parent| consent::is_withheld(conn, chat.key, parent))?,
        lender: arrival.lender.map_or(Ok(None), |lender| consent::opted_out(conn, chat.key, lender))?.is_some(),
    })
}

/// Whether a raw update holds words of nobody who objects.
pub fn may_keep_raw(conn: &Reader, traces: &Traces) -> store::Result<bool> {
    for (chat, message) in &traces.messages {
        if messages::is_stub(conn, *chat, *message)? {
            return Ok(false);
        }
        let Some(row) = chats::find(conn, *chat)? else { continue };
        for author in &traces.authors {
            if consent::opted_out(conn, row.key, *author)?.is_some() {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether a raw update that could not be read is of chats that are surely served: groups, known and allowed.
pub fn may_keep_unread(conn: &Reader, traces: &Traces, setting: &Setting) -> store::Result<bool> {
    for (chat, _) in &traces.messages {
        let is_served = match chats::find(conn, *chat)? {
            Some(row) if row.chat.kind != ChatKind::Private => {
                served(conn, &row.chat, UserId(0), &setting.access)? == Access::Allowed
            }
            Some(_) | None => false,
        };
        if !is_served {
            return Ok(false);
        }
    }
    may_keep_raw(conn, traces)
}
