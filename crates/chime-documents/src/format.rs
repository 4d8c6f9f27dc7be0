//! Recognition of formats: by content first, then by file name, then by the claimed type.

use crate::{DocumentError, ReadRequest};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Pdf,
    /// DOCX or ODT.
    Zip,
    Text(TextKind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// Text, Markdown, code.
    Plain,
    Csv,
    Json,
    Subtitles,
}

/// Number of bytes at the beginning of a file by which its format is recognised.
const HEAD: usize = 1_024;
/// Office files of before 2007, and the containers of encrypted DOCX files.
const COMPOUND_FILE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";
/// Name of the stream that holds an encrypted DOCX, in UTF-16.
const ENCRYPTED_STREAM: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0";

/// Endings of the names of files that are worth downloading, besides those with a type of text: documents, tables,
/// data, subtitles, code.
const ENDINGS: [&str; 67] = [
    "pdf", "docx", "odt", "txt", "text", "md", "markdown", "rst", "tex", "org", "log", "csv", "tsv", "json", "jsonl",
    "xml", "yaml", "yml", "toml", "ini", "cfg", "conf", "srt", "vtt", "ics", "vcf", "gpx", "geojson", "html", "htm",
    "css", "js", "mjs", "ts", "jsx", "tsx", "vue", "py", "rs", "go", "c", "h", "cc", "cpp", "hpp", "cs", "java", "kt",
    "swift", "m", "rb", "php", "pl", "lua", "r", "jl", "sh", "bash", "ps1", "bat", "sql", "scala", "hs", "ex", "diff",
    "patch", "eml",
];
/// Types of files that are worth downloading, besides those with an ending above.
const TYPES: [&str; 5] = [
    "application/pdf",
    "application/json",
    "application/xml",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/vnd.oasis.opendocument.text",
];

/// Returns `true` if a file may have a format that is read, by its name and type.
pub fn is_readable(request: &ReadRequest) -> bool {
    let is_type = |claimed: &str| claimed.starts_with("text/") || TYPES.contains(&claimed);
    let ending = request.file_name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase());
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) || request.mime_type.as_deref().is_some_and(is_type)
}

impl Format {
    pub(crate) fn of(bytes: &[u8], request: &ReadRequest) -> Result<Self, DocumentError> {
        let head = &bytes[..bytes.len().min(HEAD)];
        // Other bytes may come first, but not the words of a text about the format.
        let begins = |part: &[u8]| part.ends_with(b"%PDF-") && !matches!(part[0], b' '..=b'~');
        if head.trim_ascii_start().starts_with(b"%PDF-") || head.windows(6).any(begins) {
            return Ok(Self::Pdf);
        }
        if head.starts_with(b"PK\x03\x04") {
            return Ok(Self::Zip);
        }
        if head.starts_with(COMPOUND_FILE) {
            let is_encrypted = contains(bytes, ENCRYPTED_STREAM);
            return Err(if is_encrypted { DocumentError::Encrypted } else { DocumentError::Unsupported });
        }
        if is_binary(head) || head.starts_with(b"{\\rtf") {
            return Err(DocumentError::Unsupported);
        }
        let ending = request.file_name.rsplit_once('.').map(|(_, ending)| ending);
        let subtype = request.mime_type.as_deref().and_then(|claimed| claimed.rsplit('/').next());
        Ok(Self::Text(match ending.or(subtype).unwrap_or_default().to_ascii_lowercase().as_str() {
            "csv" | "tsv" => TextKind::Csv,
            "json" => TextKind::Json,
            "srt" | "vtt" | "x-subrip" => TextKind::Subtitles,
            _ => TextKind::Plain,
        }))
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Returns `true` if there is a zero byte, as every binary format has some and texts may have any other control
/// character. UTF-16 has zero bytes; it is text if it begins with a byte order mark.
fn is_binary(head: &[u8]) -> bool {
    let is_utf16 = head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF");
    !is_utf16 && head.contains(&0)
}
