//! Finds prompt pieces in the memory of the chat and in its notes. If one source fails, the answer is made without it.

use crate::answering::services::Services;
use crate::grounding::{min_similarity, similarities};
use crate::notes::nearest;
use crate::read_text::ReadText;
use chime_core::embed::Embedder;
use chime_core::{
    ChatKey, Citable, Enrichment, Piece, PieceLine, Seq, Slot, SourceId, SourceKind, SourceMessage, Timestamp, Zone,
};
use chime_memory::jobs::{item_pieces, pieces, topic_pieces};
use chime_memory::told::ToldLines;
use chime_relevance::context::History;
use chime_store::notes::NotePiece;
use chime_store::{Reader, chats, messages, notes};

/// Returns the pieces for a question: summaries, the topic, decisions and tasks if memory is on, and notes. If a source
/// fails, its error is logged and its pieces are missing.
pub fn enrich(conn: &Reader, services: &Services, history: &History, zone: Zone, now: Timestamp) -> Enrichment {
    let History { trigger, ask, .. } = history;
    let (chat, config) = (trigger.chat, &services.base.config.memory);
    let mut sources = Vec::new();
    if config.is_on {
        sources.push(("memory", pieces(conn, chat, zone)));
        sources.push(("topic", topic_pieces(conn, trigger.conversation(), config, zone, now)));
        sources.push(("items", item_pieces(conn, chat, ask, trigger.message.sender.id, zone, now)));
    }
    sources.push(("notes", note_pieces(conn, chat, ask, zone, services.pages.embedder.as_deref())));
    let mut enrichment = Enrichment::default();
    for (name, found) in sources {
        match found {
            Ok(pieces) => enrichment.pieces.extend(pieces),
            Err(error) => tracing::warn!(%error, "answering without what `{name}` knows"),
        }
    }
    without_repeats(&mut enrichment.pieces);
    enrichment
}

/// Removes the lines of topics that Recent or History has too. These stay whole although they are less specific: they
/// are the same for all questions of a chat, so model servers can reuse the prompt up to their end.
fn without_repeats(pieces: &mut [Piece]) {
    let rolling = pieces.iter().filter(|piece| matches!(piece.slot, Slot::ChatRecent | Slot::ChatHistory));
    let told = ToldLines::of(rolling.flat_map(|piece| &piece.lines).filter_map(|line| line.source.as_ref()));
    let is_news = |line: &PieceLine| {
        let messages = |source: &Citable| source.rests_on.iter().map(|ground| ground.message).collect::<Vec<Seq>>();
        line.source.as_ref().is_none_or(|source| !told.tell(&source.text, messages(source).iter()))
    };
    for topic in pieces.iter_mut().filter(|piece| piece.slot == Slot::ChatTopic) {
        topic.lines.retain(is_news);
    }
}

/// Returns the pieces of the chat's notes that are most similar to the question `ask`.
fn note_pieces(
    conn: &Reader,
    chat: ChatKey,
    ask: &str,
    zone: Zone,
    embedder: Option<&Embedder>,
) -> chime_store::Result<Vec<Piece>> {
    let pieces = notes::pieces(conn, chat)?;
    let texts: Vec<String> = pieces.iter().map(|piece| format!("{}\n{}", piece.title, piece.text)).collect();
    let (found, measure) = similarities(ask, &texts, embedder);
    let lines = nearest(&found, min_similarity(measure)).into_iter().map(|place| {
        let piece = &pieces[place];
        let note = ReadText {
            id: SourceId::new(SourceKind::Note, piece.number),
            title: piece.title.clone(),
            dated: zone.date(piece.saved_at),
            text: String::new(),
            is_cut: false,
            is_asked: false,
            at: piece.saved_at,
            link: None,
            posted: saved_from(conn, chat, piece)?,
        };
        Ok(note.line(None, &piece.text))
    });
    let lines: Vec<PieceLine> = lines.collect::<chime_store::Result<_>>()?;
    let piece = Piece { slot: Slot::Recall, topic: None, lines };
    Ok(if piece.lines.is_empty() { Vec::new() } else { vec![piece] })
}

/// Returns the messages that a note was saved from. They also count as sources of the answer.
fn saved_from(conn: &Reader, chat: ChatKey, piece: &NotePiece) -> chime_store::Result<Vec<SourceMessage>> {
    let Some(row) = chats::by_key(conn, chat)? else { return Ok(Vec::new()) };
    let stored = messages::by_seqs(conn, chat, notes::sources_of(conn, chat, piece.number)?)?;
    Ok(stored.iter().map(|stored| SourceMessage::of(&row.chat, stored)).collect())
}
