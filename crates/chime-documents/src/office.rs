//! DOCX and ODT: XML files in a ZIP archive.

use std::borrow::Cow;
use std::io::{Cursor, Read};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::{Content, DocumentError, MAX_TEXT};

/// Maximum number of files in an archive. Each picture of a document is one file.
const MAX_ENTRIES: usize = 10_000;
/// Maximum size of an XML file after decompression. A document with `MAX_TEXT` rarely reaches a third of it.
const MAX_XML: u64 = 50 * 1024 * 1024;
/// Maximum number of elements inside each other. Nested tables and text boxes take some dozens.
const MAX_DEPTH: usize = 250;
const ODT: &str = "application/vnd.oasis.opendocument.text";

type OfficeFile<'a> = ZipArchive<Cursor<&'a [u8]>>;

pub(crate) fn read(bytes: &[u8]) -> Result<Content, DocumentError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|_| DocumentError::Damaged)?;
    if archive.len() > MAX_ENTRIES {
        return Err(DocumentError::TooLarge);
    }
    let docx = docx_parts(&mut archive)?;
    if !docx.is_empty() {
        return content(&docx, entry(&mut archive, "docProps/core.xml")?);
    }
    if entry(&mut archive, "mimetype")?.is_none_or(|kind| kind.trim() != ODT) {
        return Err(DocumentError::Unsupported);
    }
    if entry(&mut archive, "META-INF/manifest.xml")?.is_some_and(|manifest| manifest.contains("encryption-data")) {
        return Err(DocumentError::Encrypted);
    }
    let main = entry(&mut archive, "content.xml")?.ok_or(DocumentError::Damaged)?;
    content(&[main], entry(&mut archive, "meta.xml")?)
}

/// Returns the files with the text of a DOCX in reading order, without repeated headers. Their names may have a number,
/// as in `header2.xml`.
fn docx_parts(archive: &mut OfficeFile<'_>) -> Result<Vec<String>, DocumentError> {
    let mut names: Vec<String> = archive.file_names().flatten().map(Cow::into_owned).collect();
    names.sort();
    let mut parts = Vec::new();
    for part in ["document", "footnotes", "endnotes", "header", "footer"] {
        for name in &names {
            let stem = name.strip_prefix("word/").and_then(|name| name.strip_suffix(".xml")).unwrap_or_default();
            if stem.trim_end_matches(|end: char| end.is_ascii_digit()) == part {
                parts.extend(entry(archive, name)?.filter(|text| !parts.contains(text)));
            }
        }
    }
    Ok(parts)
}

/// Returns a file of the archive, or `None` if there is none of this name.
fn entry(archive: &mut OfficeFile<'_>, name: &str) -> Result<Option<String>, DocumentError> {
    let file = match archive.by_name(name) {
        Ok(file) => file,
        Err(ZipError::FileNotFound) => return Ok(None),
        Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => return Err(DocumentError::Encrypted),
        Err(_) => return Err(DocumentError::Damaged),
    };
    if file.size() > MAX_XML {
        return Err(DocumentError::TooLarge);
    }
    let mut text = String::new();
    // The size in the header may be false.
    let mut bounded = file.take(MAX_XML + 1);
    bounded.read_to_string(&mut text).map_err(|_| DocumentError::Damaged)?;
    if text.len() as u64 > MAX_XML { Err(DocumentError::TooLarge) } else { Ok(Some(text)) }
}

fn content(parts: &[String], metadata: Option<String>) -> Result<Content, DocumentError> {
    let mut content = Content::default();
    for part in parts {
        content.add(None, &text(part, &["w:t", "text:p", "text:h"])?);
    }
    content.title = metadata.and_then(|metadata| text(&metadata, &["dc:title"]).ok());
    Ok(content)
}

/// Returns the text inside the elements `holders`, with footnotes at its end, a little more than `MAX_TEXT` bytes at
/// most. Refuses document type declarations, which can define entities of any size.
fn text(xml: &str, holders: &[&str]) -> Result<String, DocumentError> {
    let mut reader = Reader::from_str(xml);
    let (mut body, mut notes) = (String::new(), String::new());
    let mut open: Vec<String> = Vec::new();
    while body.len() + notes.len() <= MAX_TEXT {
        let is_hidden = open.iter().any(|name| is_hidden(name));
        let is_shown = !is_hidden && open.iter().any(|name| holders.contains(&name.as_str()));
        let in_cell = open.iter().any(|name| is_cell(name));
        let text = if open.iter().any(|name| name == "text:note-body") { &mut notes } else { &mut body };
        match reader.read_event().map_err(|_| DocumentError::Damaged)? {
            Event::Start(element) => {
                open.push(element.name().as_ref().to_owned());
                if open.len() > MAX_DEPTH {
                    return Err(DocumentError::Damaged);
                }
            }
            Event::Empty(element) if !is_hidden => text.push_str(blank(element.name().as_ref(), in_cell)),
            Event::End(element) => {
                open.pop();
                if !is_hidden {
                    text.push_str(blank(element.name().as_ref(), in_cell));
                }
            }
            Event::Text(part) if is_shown => text.push_str(&part.xml10_content()),
            Event::CData(part) if is_shown => text.push_str(&part.xml10_content()),
            Event::GeneralRef(reference) if is_shown => match reference.resolve_char_ref() {
                Ok(Some(character)) => text.push(character),
                _ => text.push_str(resolve_predefined_entity(&reference).unwrap_or_default()),
            },
            Event::DocType(_) => return Err(DocumentError::Damaged),
            Event::Eof if open.is_empty() => break,
            Event::Eof => return Err(DocumentError::Damaged),
            _ => {}
        }
    }
    Ok([body, notes].join("\n\n"))
}

/// Returns `true` for elements whose text a reader does not see: deleted or moved text, comments, a second form of a
/// text box; and for the numbers of footnotes, which would look like a part of the word before them.
fn is_hidden(name: &str) -> bool {
    let hidden = ["w:moveFrom", "text:tracked-changes", "text:note-citation", "office:annotation", "mc:Fallback"];
    hidden.contains(&name)
}

fn is_cell(name: &str) -> bool {
    ["w:tc", "table:table-cell"].contains(&name)
}

/// Returns the white space or separator that an element stands for. Cells of a table stay on one line.
fn blank(name: &str, in_cell: bool) -> &'static str {
    match name {
        "w:tab" | "text:tab" => "\t",
        "w:p" | "text:p" | "text:h" | "w:br" | "w:cr" | "text:line-break" | "text:s" if in_cell => " ",
        "w:p" | "text:p" | "text:h" => "\n\n",
        "w:br" | "w:cr" | "text:line-break" => "\n",
        "text:s" => " ",
        "w:noBreakHyphen" => "-",
        "w:tc" | "table:table-cell" => "| ",
        "w:tr" | "table:table-row" => "\n",
        _ => "",
    }
}
