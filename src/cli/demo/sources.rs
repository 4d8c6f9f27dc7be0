//! Loads the answer that a message of the bot contains, with the messages that it cites.

use crate::cli::demo::screen::ShownSource;
use chime_core::{AnswerRecord, Seq, message_link};
use chime_store::outbox::ReplyPart;
use chime_store::{Reader, Result, answers, chats, messages};

pub fn answer_of(conn: &Reader, part: &ReplyPart) -> Result<Option<(AnswerRecord, Vec<ShownSource>)>> {
    let Some(id) = part.answer else { return Ok(None) };
    let Some(record) = answers::find(conn, id)? else { return Ok(None) };
    let Some(row) = chats::by_key(conn, record.chat)? else { return Ok(None) };
    let mut sources = Vec::new();
    for source in &record.sources {
        let seq = source.id.trim_start_matches('m').parse().map(Seq);
        let Ok(seq) = seq else { continue };
        if let Some(stored) = messages::by_seq(conn, record.chat, seq)? {
            let link = message_link(&row.chat, &stored.message);
            sources.push(ShownSource { id: stored.message.id.0, link, text: source.text.clone() });
        }
    }
    Ok(Some((record, sources)))
}
