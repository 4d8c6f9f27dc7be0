//! Formats the memory of a chat as lines for the prompt of an answer.

use crate::jobs::load::remembered;
use crate::members;
use crate::wording::Remembered;
use chime_core::{
    Bullet, BulletKind, ChatKey, Citable, Piece, PieceLine, Seq, Slot, SourceId, SourceMessage, Summary, Zone,
};
use chime_store::{Reader, chats, memory};

/// Name under which the sources of an answer list a memory line.
const NAME: &str = "Summary";

/// Returns the bullets of Recent and History as lines for the prompt. An answer can cite each as `s` with a number,
/// which becomes a link to the bullet's first source message.
pub fn pieces(conn: &Reader, chat: ChatKey, zone: Zone) -> chime_store::Result<Vec<Piece>> {
    if memory::is_off(conn, chat)? {
        return Ok(Vec::new());
    }
    let Some(row) = chats::by_key(conn, chat)? else { return Ok(Vec::new()) };
    let remembered = remembered(conn, &row, zone)?;
    let kept = [(Slot::ChatRecent, &remembered.recent), (Slot::ChatHistory, &remembered.history)];
    let piece = |(slot, kept): (Slot, &Option<(Summary, u32)>)| {
        let lines = kept.as_ref()?.0.bullets.iter().filter_map(|bullet| line(bullet, &remembered)).collect();
        Some(Piece { slot, topic: None, lines })
    };
    Ok(kept.into_iter().filter_map(piece).collect())
}

/// Formats a bullet as a line. Returns `None` if none of its source messages can be read any more.
pub(super) fn line(bullet: &Bullet, remembered: &Remembered) -> Option<PieceLine> {
    let grounds = |seq: &Seq| remembered.places.get(seq).cloned();
    let rests_on: Vec<SourceMessage> = bullet.sources.iter().filter_map(grounds).collect();
    let first = rests_on.first()?;
    // The prompt says that later lines hold, so the newest message dates a line.
    let sent_at = rests_on.iter().map(|ground| ground.sent_at).max()?;
    // The number comes from the first source message, so that a bullet has the same number in every prompt.
    let id = SourceId::summary(first.message.0);
    let text = members::named(&bullet.text, &remembered.names);
    let date = remembered.zone.date(sent_at);
    // Of two decisions of a day, the later one holds.
    let date = match bullet.kind {
        BulletKind::Fact => date,
        _ => format!("{date}, {}", remembered.zone.clock_time(sent_at)),
    };
    let shown = format!("[{id} · {date}{}] {text}", bullet.kind.in_head());
    let source = Citable { id, name: NAME.to_owned(), is_own: false, sent_at, text, link: None, rests_on };
    Some(PieceLine { text: shown, source: Some(source) })
}
