//! Text that is read for one answer, such as a page, a document or a note: cut to what the question needs, and made a
//! source. A new kind fills a [`ReadText`]; ranking, prompt, citations and links follow from it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::extractive_ranking::{shared_word_count, stem_substring_ratios};
use crate::grounding::{Measure, min_similarity, similarities};
use crate::notes::{nearest, pieces, short_title};
use crate::sanitize::{clean_name, escape_markdown};
use chime_core::embed::Embedder;
use chime_core::texts::{Texts, filled};
use chime_core::{Citable, PieceLine, SourceId, SourceMessage, Timestamp};
use chime_documents::DocumentError;
use chime_links::UnreadablePage;
use chime_store::pages::PostedLink;

/// Maximum number of pieces of a text in the prompt, of about 150 words each.
const MOST_PIECES: usize = 6;
/// Maximum number of pieces that are compared with the question: a long book.
const MOST_COMPARED: usize = 2_500;
/// Character between two pages of a document.
pub const PAGE_BREAK: char = '\u{c}';
/// Maximum number of pages without text that are named.
const MOST_NUMBERS: usize = 10;
/// Time for which a text that could not be read is not tried again.
const RETRY_UNREADABLE_AFTER: Duration = Duration::from_hours(1);
/// Maximum number of such texts in memory; the oldest are removed.
const MOST_UNREAD: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadText {
    /// Id of the text. For a piece of a document with pages, the id includes the page.
    pub id: SourceId,
    pub title: String,
    /// Date of the text in words; empty if there is none.
    pub dated: String,
    /// Form feeds separate the pages of a document.
    pub text: String,
    /// `true` if the text is only the beginning.
    pub is_cut: bool,
    /// `true` if the question is certainly about it. It then gets the beginning too, which tells what the text is
    /// about.
    pub is_asked: bool,
    /// Time shown in the list of sources.
    pub at: Timestamp,
    /// Address of a result of a web search.
    pub link: Option<String>,
    /// Messages that posted it. Citations link to them.
    pub posted: Vec<SourceMessage>,
}

impl ReadText {
    /// Returns the pieces that answer `ask` best, as lines of the prompt.
    pub fn lines(&self, ask: &str, embedder: Option<&Embedder>) -> Vec<PieceLine> {
        let (pages, pieces) = self.pieces();
        let (found, measure) = similarities(ask, &pieces, embedder);
        // Embeddings miss names, and words of languages that the model does not know. In a text that is only in the
        // focus, common words would find too much.
        let by_words = if self.is_asked { stem_substring_ratios(ask, &pieces) } else { Vec::new() };
        let rankings = [nearest(&found, min_similarity(measure)), nearest(&by_words, min_similarity(Measure::Words))];
        let mut places: Vec<usize> = Vec::new();
        for rank in 0..MOST_PIECES {
            for place in rankings.iter().filter_map(|ranking| ranking.get(rank)) {
                if places.len() < MOST_PIECES && !places.contains(place) {
                    places.push(*place);
                }
            }
        }
        if self.is_asked {
            let others: Vec<usize> = (0..pieces.len()).filter(|place| !places.contains(place)).collect();
            places.extend(others.into_iter().take(MOST_PIECES.saturating_sub(places.len())));
        }
        places.into_iter().map(|place| self.line(pages[place], &pieces[place])).collect()
    }

    /// Returns the pieces that have most of the words `sought`, at least `least` of them as whole words, each with its
    /// share of the words.
    pub fn lines_with(&self, sought: &str, least: usize) -> Vec<(f64, PieceLine)> {
        const MOST_WORDS: f64 = 0.6;
        let (pages, pieces) = self.pieces();
        let shares = stem_substring_ratios(sought, &pieces);
        let enough = |share: f64, piece: &str| share >= MOST_WORDS && shared_word_count(sought, piece) >= least;
        let places = (0..pieces.len()).filter(|place| enough(shares[*place], &pieces[*place]));
        places.map(|place| (shares[place], self.line(pages[place], &pieces[place]))).collect()
    }

    /// Returns the pieces of the text, and the page of each if it has pages.
    fn pieces(&self) -> (Vec<Option<u32>>, Vec<String>) {
        let has_pages = self.text.contains(PAGE_BREAK);
        let pages = self.text.split(PAGE_BREAK).zip(1..);
        let of_page =
            |(text, page): (&str, u32)| pieces(text).into_iter().map(move |it| (has_pages.then_some(page), it));
        pages.flat_map(of_page).take(MOST_COMPARED).unzip()
    }

    /// Returns the numbers of the pages on which no text was found, such as `2, 5`, or `None` if there are none.
    pub fn pages_without_text(&self) -> Option<String> {
        let pages = self.text.split(PAGE_BREAK).zip(1_u32..).filter(|page| page.0.trim().is_empty());
        let mut numbers: Vec<String> = pages.map(|page| page.1.to_string()).take(MOST_NUMBERS + 1).collect();
        if let Some(more) = numbers.get_mut(MOST_NUMBERS) {
            *more = "…".to_owned();
        }
        (!numbers.is_empty()).then(|| numbers.join(", "))
    }

    /// Returns a piece as a line of the prompt: `[n3 · Packing list · 14 October 2026] text`.
    pub fn line(&self, page: Option<u32>, text: &str) -> PieceLine {
        let id = SourceId { page, ..self.id };
        let rendered = [self.title.trim(), &self.dated].into_iter().filter(|part| !part.is_empty());
        let head: String = rendered.map(|part| format!(" · {}", clean_name(part))).collect();
        let source = Citable {
            id,
            name: short_title(&self.title),
            is_own: false,
            sent_at: self.at,
            text: text.to_owned(),
            link: self.link.clone(),
            rests_on: self.posted.clone(),
        };
        PieceLine { text: format!("[{id}{head}] {text}"), source: Some(source) }
    }
}

/// Reason why there is no text of a page or a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnreadReason {
    #[error(transparent)]
    Page(#[from] UnreadablePage),
    #[error(transparent)]
    File(#[from] DocumentError),
    #[error("it is not available now")]
    Unavailable,
}

impl UnreadReason {
    /// Returns the sentence for members about the page or file `name`.
    pub fn sentence(self, name: &str, texts: &Texts) -> String {
        let (page, file) = (&texts.unread, &texts.unread_file);
        let text = match self {
            Self::Page(UnreadablePage::TooSlow) => &page.slow,
            // One sentence for both, so that nobody learns which names and addresses this network has.
            Self::Page(UnreadablePage::Unreachable | UnreadablePage::Refused) => &page.unreachable,
            Self::Page(UnreadablePage::TooLarge) => &page.too_large,
            Self::Page(UnreadablePage::NoText) => &page.no_text,
            Self::Page(UnreadablePage::File) => &page.file,
            Self::Page(UnreadablePage::NoPage) => &page.no_page,
            Self::File(DocumentError::Encrypted) => &file.encrypted,
            Self::File(DocumentError::Damaged) => &file.damaged,
            Self::File(DocumentError::TooLarge) => &file.too_large,
            Self::File(DocumentError::NoText) => &file.no_text,
            Self::File(DocumentError::Unsupported) => &file.unsupported,
            Self::File(DocumentError::TooSlow) => &file.slow,
            Self::Unavailable => &file.unavailable,
        };
        let name = escape_markdown(name);
        filled(text, &[("page", &name), ("file", &name)])
    }
}

/// Pages and files that could not be read in the last hour.
#[derive(Debug, Default)]
pub struct UnreadMemory(Mutex<VecDeque<(PostedLink, Timestamp, UnreadReason)>>);

impl UnreadMemory {
    /// Returns the reason if the text of `link` is not to be tried again at `now`.
    pub fn find(&self, link: &PostedLink, now: Timestamp) -> Option<UnreadReason> {
        let unread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &PostedLink| (known.chat, &known.address) == (link.chat, &link.address);
        unread
            .iter()
            .rev()
            .find(|(known, at, _)| is_it(known) && now.since(*at) < RETRY_UNREADABLE_AFTER)
            .map(|(.., why)| *why)
    }

    /// Remembers that the text of `link` could not be read, unless that may change at any time.
    pub fn note(&self, link: PostedLink, now: Timestamp, why: UnreadReason) {
        let mut unread = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if why != UnreadReason::Unavailable {
            unread.push_back((link, now, why));
        }
        if unread.len() > MOST_UNREAD {
            unread.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::SourceKind;

    #[track_caller]
    fn check(text: &str, ask: &str, passage: &str, page: Option<u32>) {
        let read = ReadText {
            id: SourceId::new(SourceKind::Document, 1),
            title: "Rules".to_owned(),
            dated: String::new(),
            text: text.to_owned(),
            is_cut: false,
            is_asked: true,
            at: Timestamp::from_secs(0),
            link: None,
            posted: Vec::new(),
        };
        let embedder = Embedder::shipped().expect("the model in the program");
        for embedder in [Some(&embedder), None] {
            let lines = read.lines(ask, embedder);
            let found = lines.iter().filter_map(|line| line.source.as_ref()).find(|it| it.text.contains(passage));
            assert_eq!(found.map(|source| source.id.page), Some(page), "{ask}: {lines:?}");
            assert!(lines.len() <= MOST_PIECES);
        }
    }

    #[test]
    fn a_late_page_is_found_by_its_meaning_or_its_words() {
        let pages = |sentences: [&str; 8]| sentences.join("\u{c}");
        let lease = pages([
            "Der Mietvertrag beginnt am ersten April und läuft auf unbestimmte Zeit.",
            "Die Küche ist mit Herd, Kühlschrank und Spülmaschine ausgestattet.",
            "Im Treppenhaus dürfen keine Fahrräder und Kinderwagen abgestellt werden.",
            "Musikinstrumente dürfen täglich zwei Stunden gespielt werden.",
            "Der Keller Nummer sieben gehört zur Wohnung und ist trocken zu halten.",
            "Die Kündigungsfrist beträgt drei Monate zum Ende eines Kalendermonats.",
            "Die Kaution beträgt drei Monatsmieten und wird auf ein Sparkonto gelegt.",
            "Haustiere brauchen die schriftliche Zustimmung des Vermieters.",
        ]);
        check(&lease, "wie hoch ist die Kaution?", "drei Monatsmieten", Some(7));
        let paragraph = "Members wear blue caps at the regatta, and the youngest carries the flag to the jetty.\n\n";
        let long = format!("{}The spare sail is in the loft.", paragraph.repeat(200));
        check(&long, "where is the spare sail?", "in the loft", None);
        let rows: String = (1..200).map(|n| format!("Name: Member {n}; Joined: {}\n", 1990 + n % 30)).collect();
        let members = format!("{rows}Name: Zoë Karu; Joined: 2003");
        check(&members, "in which year did Zoë Karu join?", "Zoë Karu; Joined: 2003", None);
    }
}
