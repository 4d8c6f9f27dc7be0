//! Text files: encodings, tables, subtitles.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use crate::format::TextKind;
use crate::{Content, MAX_TEXT};

/// Separators of columns, the most common first.
const SEPARATORS: [u8; 4] = [b'|', b'\t', b';', b','];

pub(crate) fn read(bytes: &[u8], kind: TextKind) -> Content {
    let (text, _, _) = encoding(bytes).decode(bytes);
    let end = text.floor_char_boundary(MAX_TEXT);
    let kept = text[..end].replace("\r\n", "\n");
    let mut content = Content::of_text(match kind {
        TextKind::Plain => kept,
        TextKind::Csv => rows(&kept),
        TextKind::Json => indented(&kept).unwrap_or(kept),
        TextKind::Subtitles => spoken(&kept),
    });
    content.is_cut = end < text.len();
    content
}

fn encoding(bytes: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// Writes each row as `column: value; column: value`, so that a piece can be understood without the header.
fn rows(text: &str) -> String {
    let header = text.lines().next().unwrap_or_default();
    let frequency = |separator: &u8| header.bytes().filter(|byte| byte == separator).count();
    let separator = SEPARATORS.into_iter().max_by_key(frequency).unwrap_or(b',');
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).flexible(true).from_reader(text.as_bytes());
    let columns = reader.headers().cloned().unwrap_or_default();
    let row = |record: csv::StringRecord| -> String {
        let cells = record.iter().enumerate().filter(|cell| !cell.1.trim().is_empty());
        let named = cells.map(|(at, value)| match columns.get(at) {
            Some(column) => format!("{column}: {value}"),
            None => value.to_owned(),
        });
        named.collect::<Vec<_>>().join("; ")
    };
    reader.records().filter_map(Result::ok).map(row).collect::<Vec<_>>().join("\n")
}

/// Returns one-line JSON with line breaks and indentation; `None` for other JSON.
fn indented(text: &str) -> Option<String> {
    let is_one_line = text.trim().lines().nth(1).is_none();
    let value: serde_json::Value = serde_json::from_str(text).ok().filter(|_| is_one_line)?;
    serde_json::to_string_pretty(&value).ok()
}

/// Returns the lines of subtitles, each cue after the time at which it begins.
fn spoken(text: &str) -> String {
    let cues = text.split("\n\n").filter_map(|block| {
        let mut lines = block.lines().skip_while(|line| !line.contains("-->"));
        let start = lines.next()?.split([',', '.', ' ']).next()?;
        let words: Vec<String> = lines.map(without_tags).collect();
        Some(format!("[{start}] {}\n", words.join(" ")))
    });
    cues.collect()
}

fn without_tags(line: &str) -> String {
    let mut is_tag = false;
    let visible = line.chars().filter(|c| {
        is_tag |= *c == '<';
        let shown = !is_tag;
        is_tag &= *c != '>';
        shown
    });
    visible.collect()
}
