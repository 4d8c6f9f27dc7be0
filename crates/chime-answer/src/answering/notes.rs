//! Finds the notes of a chat that are relevant to a question, for its prompt.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use crate::answering::enrich::{Enricher, EnricherInput};
use crate::grounding::{min_similarity, similarities_by};
use crate::notes::nearest;
use crate::read_text::ReadText;
use chime_core::embed::Embedder;
use chime_core::{ChatKey, Piece, PieceLine, Slot, SourceId, SourceKind, SourceMessage, message_link};
use chime_store::notes::NotePiece;
use chime_store::{Reader, chats, messages, notes};

/// Maximum number of vectors in memory: as many as a chat can have note pieces, a few megabytes.
const KEPT: usize = 4_096;

/// Cache of the embeddings of note pieces, by a hash of their text. Each question is compared with all pieces, which
/// rarely change.
#[derive(Default)]
struct PieceVectors(Mutex<HashMap<u64, Vec<f32>>>);

impl PieceVectors {
    fn of(&self, embedder: &Embedder, text: &str) -> Vec<f32> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let key = hasher.finish();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT && !kept.contains_key(&key) {
            kept.clear();
        }
        kept.entry(key).or_insert_with(|| embedder.embed(text)).clone()
    }
}

pub fn note_enricher(embedder: Option<Arc<Embedder>>) -> Enricher {
    let vectors = PieceVectors::default();
    Enricher::new("notes", move |conn, input| gather(conn, input, embedder.as_deref(), &vectors))
}

fn gather(
    conn: &Reader,
    input: &EnricherInput,
    embedder: Option<&Embedder>,
    vectors: &PieceVectors,
) -> chime_store::Result<Vec<Piece>> {
    let pieces = notes::pieces(conn, input.chat)?;
    if pieces.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<String> = pieces.iter().map(|piece| format!("{}\n{}", piece.title, piece.text)).collect();
    let of_piece = |embedder: &Embedder, text: &str| vectors.of(embedder, text);
    let (found, measure) = similarities_by(&input.ask, &texts, embedder, of_piece);
    let lines = nearest(&found, min_similarity(measure)).into_iter().map(|place| {
        let piece = &pieces[place];
        let note = ReadText {
            id: SourceId::new(SourceKind::Note, piece.number),
            title: piece.title.clone(),
            dated: input.zone.date(piece.saved_at),
            text: String::new(),
            is_cut: false,
            is_asked: false,
            at: piece.saved_at,
            link: None,
            posted: saved_from(conn, input.chat, piece)?,
        };
        Ok(note.line(None, &piece.text))
    });
    let lines: Vec<PieceLine> = lines.collect::<chime_store::Result<_>>()?;
    let piece = Piece { slot: Slot::Recall, topic: None, lines };
    Ok(if piece.lines.is_empty() { Vec::new() } else { vec![piece] })
}

/// Returns the messages that a note was saved from. They also count as sources of the answer.
fn saved_from(conn: &Reader, chat: ChatKey, piece: &NotePiece) -> chime_store::Result<Vec<SourceMessage>> {
    let row = chats::by_key(conn, chat)?;
    let mut rests_on = Vec::new();
    for seq in notes::sources_of(conn, chat, piece.number)? {
        if let (Some(row), Some(stored)) = (&row, messages::by_seq(conn, chat, seq)?) {
            let message = &stored.message;
            let (name, link) = (message.sender.name.clone(), message_link(&row.chat, message));
            rests_on.push(SourceMessage { message: seq, name, sent_at: message.sent_at, link });
        }
    }
    Ok(rests_on)
}
