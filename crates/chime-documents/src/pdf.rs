//! Reads PDF files.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Object, PlainTextOutput, output_doc_page};

use crate::{Content, DocumentError};

/// Maximum number of pages that are read, enough for a long book.
const MAX_PAGES: usize = 2_000;

/// Reads the text of each page. Pages that the reader cannot handle have no text.
pub(crate) fn read(bytes: &[u8]) -> Result<Content, DocumentError> {
    let mut file = pdf_extract::Document::load_mem(bytes).map_err(|_| DocumentError::Damaged)?;
    // Files with an empty password, which only forbids printing, are already decrypted here.
    if file.trailer.has(b"Encrypt") {
        return Err(DocumentError::Encrypted);
    }
    file.objects.values_mut().for_each(use_known_encoding);
    let pages = file.get_pages();
    let mut content = Content { title: title(&file), is_cut: pages.len() > MAX_PAGES, ..Content::default() };
    let mut is_any_read = false;
    for page in pages.keys().take(MAX_PAGES) {
        let mut text = String::new();
        let mut output = PlainTextOutput::new(&mut text);
        let reading = catch_unwind(AssertUnwindSafe(|| output_doc_page(&file, &mut output, *page)));
        is_any_read |= matches!(reading, Ok(Ok(())));
        content.add(Some(*page), text.trim());
        if content.is_cut {
            break;
        }
    }
    if is_any_read { Ok(content) } else { Err(DocumentError::Damaged) }
}

/// Renames an encoding that the reader does not know to one that has the same letters.
fn use_known_encoding(object: &mut Object) {
    match object {
        Object::Name(name) if name == b"StandardEncoding" => *name = b"WinAnsiEncoding".to_vec(),
        Object::Dictionary(entries) => entries.iter_mut().for_each(|entry| use_known_encoding(entry.1)),
        _ => {}
    }
}

fn title(file: &pdf_extract::Document) -> Option<String> {
    let information = file.trailer.get(b"Info").and_then(|info| file.dereference(info)).ok()?.1.as_dict().ok()?;
    pdf_extract::decode_text_string(information.get(b"Title").ok()?).ok()
}
