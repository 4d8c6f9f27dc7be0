//! Text that is read for one answer, such as a linked page: cut to what the question needs, and made a source. A new kind
//! fills a [`ReadText`]; ranking, prompt, citations and links follow from it.

use crate::answering::similarities;
use crate::grounding::min_similarity;
use crate::notes::{line, nearest, pieces, short_title};
use chime_core::embed::Embedder;
use chime_core::{Citable, Grounds, Piece, PieceLine, Slot, SourceId};

/// Maximum number of pieces of a text in the prompt, of about 150 words each.
const MOST_PIECES: usize = 6;
/// Maximum number of pieces that are compared with the question.
const MOST_COMPARED: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadText {
    pub id: SourceId,
    /// Kind for the source line: `Page`.
    pub kind: &'static str,
    pub title: String,
    /// Date that the text gives itself; empty if there is none.
    pub dated: String,
    pub text: String,
    /// Message that posted it. Citations link to it.
    pub posted: Grounds,
}

impl ReadText {
    /// Returns the pieces that answer `ask` best, as sources. A question without words of its own gets the beginning.
    pub fn sources(&self, ask: &str, embedder: Option<&Embedder>) -> Vec<Citable> {
        let mut pieces = pieces(&self.text);
        pieces.truncate(MOST_COMPARED);
        let (found, measure) = similarities(ask, &pieces, embedder);
        let mut places = nearest(&found, min_similarity(measure));
        // The beginning tells what the text is about.
        let others: Vec<usize> = (0..pieces.len()).filter(|place| !places.contains(place)).collect();
        places.extend(others);
        places.truncate(MOST_PIECES);
        places.into_iter().map(|place| self.citable(&pieces[place])).collect()
    }

    fn citable(&self, text: &str) -> Citable {
        Citable {
            id: self.id,
            name: format!("{}: {}", self.kind, short_title(&self.title)),
            sent_at: self.posted.sent_at,
            text: text.to_owned(),
            link: None,
            rests_on: vec![self.posted.clone()],
        }
    }

    pub fn lines(&self, ask: &str, embedder: Option<&Embedder>) -> Vec<PieceLine> {
        let line = |source: Citable| PieceLine {
            text: line(self.id, &self.title, &self.dated, &source.text),
            source: Some(source),
        };
        self.sources(ask, embedder).into_iter().map(line).collect()
    }
}

/// Puts lines of read texts into their slot of the prompt.
pub fn material(lines: Vec<PieceLine>) -> Piece {
    Piece { slot: Slot::Material, topic: None, lines }
}
