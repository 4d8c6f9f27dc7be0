//! Text files: encodings, tables, subtitles.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use csv::StringRecord;
use encoding_rs::Encoding;

use crate::format::TextKind;
use crate::{Content, MAX_TEXT};

/// Separators of columns. Of two that fit equally well the later one is used: commas are also in prices and names.
const SEPARATORS: [u8; 4] = [b'|', b',', b'\t', b';'];
/// Number of records by which the separator and the header are found.
const SAMPLE: usize = 10;

pub(crate) fn read(bytes: &[u8], kind: TextKind) -> Content {
    let (text, _, _) = encoding(bytes).decode(bytes);
    let end = text.floor_char_boundary(MAX_TEXT);
    let kept = text[..end].replace("\r\n", "\n");
    let shown = match kind {
        TextKind::Plain => kept,
        TextKind::Csv => rows(&kept),
        TextKind::Json => indented(&kept).unwrap_or(kept),
        TextKind::Subtitles => spoken(&kept),
    };
    let mut content = Content { is_cut: end < text.len(), ..Content::default() };
    content.add(None, &shown);
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

/// Writes each row as `column: value; column: value`, so that a piece can be understood without the header. The header,
/// which may be a row like the others, and what stands above it are written as they are.
fn rows(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    // Excel writes and reads such a line.
    let (named, text) = match first.trim_matches(['"', ' ']).strip_prefix("sep=").map(str::as_bytes) {
        Some(&[separator]) => (Some(separator), rest),
        _ => (None, text),
    };
    let fitting = || SEPARATORS.into_iter().max_by_key(|separator| usual_width(text, *separator).0);
    let separator = named.or_else(fitting).unwrap_or(b',');
    let width = usual_width(text, separator).1;
    let mut columns: Option<StringRecord> = None;
    let mut rows = String::new();
    for record in records(text, separator) {
        rows.push_str(&row(&record, columns.as_ref()));
        rows.push('\n');
        if columns.is_none() && record.len() == width {
            columns = Some(record);
        }
    }
    rows
}

fn records(text: &str, separator: u8) -> impl Iterator<Item = StringRecord> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.delimiter(separator).has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.into_records().filter_map(Result::ok)
}

/// Returns the most common number of columns, after the number of records that have it.
fn usual_width(text: &str, separator: u8) -> (usize, usize) {
    let widths: Vec<usize> = records(text, separator).take(SAMPLE).map(|record| record.len()).collect();
    let counted = widths.iter().filter(|width| **width > 1).map(|width| {
        let count = widths.iter().filter(|other| *other == width).count();
        (count, *width)
    });
    counted.max().unwrap_or((0, 1))
}

fn row(record: &StringRecord, columns: Option<&StringRecord>) -> String {
    let mut cells = Vec::new();
    for (at, value) in record.iter().enumerate().filter(|cell| !cell.1.trim().is_empty()) {
        let column = columns.and_then(|columns| columns.get(at)).filter(|column| !column.is_empty());
        cells.push(column.map_or_else(|| value.to_owned(), |column| format!("{column}: {value}")));
    }
    cells.join("; ").replace('\n', " ")
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
