//! Text that is read for one answer, such as a linked page or a document: cut to what the question needs, and made a source. A new kind
//! fills a [`ReadText`]; ranking, prompt, citations and links follow from it.

use crate::answering::similarities;
use crate::grounding::min_similarity;
use crate::notes::{line, nearest, pieces, short_title};
use chime_core::embed::Embedder;
use chime_core::{Citable, Grounds, Piece, PieceLine, Slot, SourceId, SourceKind};

/// Maximum number of pieces of a text in the prompt, of about 150 words each.
const MOST_PIECES: usize = 6;
/// Maximum number of pieces that are compared with the question: a long book.
const MOST_COMPARED: usize = 2_500;
/// Character between two pages of a document.
const PAGE_BREAK: char = '\u{c}';

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadText {
    /// Pieces of a document with pages have their page in the id too.
    pub id: SourceId,
    /// Kind for the source line: `Page`.
    pub kind: &'static str,
    pub title: String,
    /// Date that the text gives itself; empty if there is none.
    pub dated: String,
    /// Form feeds separate the pages of a document.
    pub text: String,
    /// `true` if the question is certainly about it. It then gets the beginning too, which tells what the text is about.
    pub is_asked: bool,
    /// Message that posted it. Citations link to it.
    pub posted: Grounds,
}

impl ReadText {
    /// Returns the pieces that answer `ask` best, as sources.
    pub fn sources(&self, ask: &str, embedder: Option<&Embedder>) -> Vec<Citable> {
        let has_pages = self.id.kind == SourceKind::Document && self.text.contains(PAGE_BREAK);
        let pages = self.text.split(PAGE_BREAK).zip(1..);
        let pieces = pages.flat_map(|(text, page)| pieces(text).into_iter().map(move |piece| (page, piece)));
        let (pages, pieces): (Vec<u32>, Vec<String>) = pieces.take(MOST_COMPARED).unzip();
        let (found, measure) = similarities(ask, &pieces, embedder);
        let mut places = nearest(&found, min_similarity(measure));
        if self.is_asked {
            let others: Vec<usize> = (0..pieces.len()).filter(|place| !places.contains(place)).collect();
            places.extend(others.into_iter().take(MOST_PIECES.saturating_sub(places.len())));
        }
        places.into_iter().map(|place| self.citable(has_pages.then_some(pages[place]), &pieces[place])).collect()
    }

    fn citable(&self, page: Option<u32>, text: &str) -> Citable {
        let on_page = page.map_or_else(String::new, |page| format!(", p. {page}"));
        Citable {
            id: SourceId { page, ..self.id },
            name: format!("{}: {}{on_page}", self.kind, short_title(&self.title)),
            sent_at: self.posted.sent_at,
            text: text.to_owned(),
            link: None,
            rests_on: vec![self.posted.clone()],
        }
    }

    pub fn lines(&self, ask: &str, embedder: Option<&Embedder>) -> Vec<PieceLine> {
        let line = |source: Citable| PieceLine {
            text: line(source.id, &self.title, &self.dated, &source.text),
            source: Some(source),
        };
        self.sources(ask, embedder).into_iter().map(line).collect()
    }
}

/// Puts lines of read texts into their slot of the prompt.
pub fn material(lines: Vec<PieceLine>) -> Piece {
    Piece { slot: Slot::Material, topic: None, lines }
}
