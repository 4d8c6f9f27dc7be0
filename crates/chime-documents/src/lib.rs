//! Readers of the documents that members post. Every file is untrusted: the readers limit how much they read, and
//! the program runs them in a separate process with limited memory and time, since a damaged PDF may still crash it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::format::Format;
pub use crate::format::is_readable;
pub use crate::pieces::pieces;

mod format;
mod office;
mod pdf;
mod pieces;
mod text;

/// Maximum size of a file: what bots may download from Telegram.
pub const MAX_BYTES: usize = 20 * 1024 * 1024;
/// Maximum time for a document, in seconds. The member who asked is waiting.
pub const MAX_SECONDS: u64 = 10;
/// Maximum bytes of text that are kept: a book of 700 pages.
const MAX_TEXT: usize = 2_000_000;
/// Maximum characters of a piece: about 200 words in European languages.
const PIECE_CHARS: usize = 1_200;

/// Facts about a file that its sender claims.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRequest {
    pub file_name: String,
    pub mime_type: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// Title from the document's metadata, else the file name, by which members know it.
    pub title: String,
    /// Text in reading order, in pieces of about 200 words that do not cross pages. A page without text is an empty
    /// piece.
    pub pieces: Vec<DocumentPiece>,
    /// `true` if the document was cut to the maximum length.
    pub is_cut: bool,
}

impl Document {
    /// Returns the whole text, with a form feed between two pages.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut last = 1;
        for piece in &self.pieces {
            let page = piece.page.unwrap_or(last);
            let breaks = page.saturating_sub(last) as usize;
            match breaks {
                0 if !text.is_empty() => text.push_str("\n\n"),
                breaks => text.push_str(&"\u{c}".repeat(breaks)),
            }
            text.push_str(&piece.text);
            last = page;
        }
        text
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentPiece {
    /// Page from 1, or `None` if the format has no fixed pages.
    pub page: Option<u32>,
    pub text: String,
}

/// Reason why a document cannot be read, in English for the log. Members get a text in their language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum DocumentError {
    #[error("it is encrypted")]
    Encrypted,
    #[error("it is damaged")]
    Damaged,
    #[error("it is too large")]
    TooLarge,
    /// A scan, or an empty document.
    #[error("it has no text, such as a scan")]
    NoText,
    #[error("files of this type are not read")]
    Unsupported,
    #[error("reading it takes too long")]
    TooSlow,
}

/// Text of a document, as the reader of its format returns it.
#[derive(Default)]
struct Content {
    title: Option<String>,
    /// Sections with their pages.
    sections: Vec<Section>,
    is_cut: bool,
}

/// Ligatures as PDFs have them, soft hyphens and null characters, with what stands for them.
const REPLACED: [(char, &str); 9] = [
    ('\u{FB00}', "ff"),
    ('\u{FB01}', "fi"),
    ('\u{FB02}', "fl"),
    ('\u{FB03}', "ffi"),
    ('\u{FB04}', "ffl"),
    ('\u{FB05}', "st"),
    ('\u{FB06}', "st"),
    ('\u{AD}', ""),
    ('\0', ""),
];

struct Section {
    page: Option<u32>,
    text: String,
}

impl Content {
    /// Adds a section, up to `MAX_TEXT` bytes in total. Replaces characters by which a search would miss its words.
    fn add(&mut self, page: Option<u32>, text: &str) {
        let text = REPLACED.iter().fold(text.to_owned(), |text, (from, to)| text.replace(*from, to));
        let used: usize = self.sections.iter().map(|section| section.text.len()).sum();
        let end = text.floor_char_boundary(MAX_TEXT.saturating_sub(used));
        self.is_cut |= end < text.len();
        self.sections.push(Section { page, text: text[..end].to_owned() });
    }
}

/// Reads a document. Its type follows from its content, then from its name, then from the MIME type. A panic of a
/// reader is [`DocumentError::Damaged`].
pub fn read(bytes: &[u8], request: &ReadRequest) -> Result<Document, DocumentError> {
    if bytes.len() > MAX_BYTES {
        return Err(DocumentError::TooLarge);
    }
    let reading = || match Format::of(bytes, request)? {
        Format::Pdf => pdf::read(bytes),
        Format::Zip => office::read(bytes),
        Format::Text(kind) => Ok(text::read(bytes, kind)),
    };
    let content = catch_unwind(AssertUnwindSafe(reading)).unwrap_or(Err(DocumentError::Damaged))?;
    let mut found = Vec::new();
    for Section { page, text } in content.sections {
        let texts = pieces(&text, PIECE_CHARS);
        if texts.is_empty() && page.is_some() {
            found.push(DocumentPiece { page, text: String::new() });
        }
        found.extend(texts.into_iter().map(|text| DocumentPiece { page, text }));
    }
    if !found.iter().any(|piece: &DocumentPiece| piece.text.contains(char::is_alphanumeric)) {
        return Err(DocumentError::NoText);
    }
    let title = content.title.map(|title| title.trim().to_owned()).filter(|title| is_title(title));
    Ok(Document { title: title.unwrap_or_else(|| request.file_name.clone()), pieces: found, is_cut: content.is_cut })
}

/// Returns `false` for what programs write where nobody gave a title.
fn is_title(title: &str) -> bool {
    let title = title.to_lowercase();
    let starts = ["untitled", "(anonymous)", "microsoft word - ", "powerpoint presentation", "slide 1"];
    let ends = [".doc", ".docx", ".odt", ".indd", ".dvi", ".pdf"];
    let is_written = starts.iter().any(|start| title.starts_with(start)) || ends.iter().any(|end| title.ends_with(end));
    !title.is_empty() && !is_written
}
