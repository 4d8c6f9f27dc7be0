//! Splits texts into pieces.

/// Splits `text` into pieces of at most `max_chars` characters: of whole paragraphs if they fit, else of lines, words
/// or parts of words.
pub fn pieces(text: &str, max_chars: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let mut length = 0;
    for unit in units(text, max_chars) {
        let more = unit.chars().count();
        if length + more > max_chars {
            pieces.push(std::mem::take(&mut piece));
            length = 0;
        }
        piece.push_str(unit);
        length += more;
    }
    pieces.push(piece);
    pieces.iter().map(|piece| piece.trim().to_owned()).filter(|piece| !piece.is_empty()).collect()
}

/// Splits `text` into the largest units that have at most `max_chars` characters.
fn units(text: &str, max_chars: usize) -> Vec<&str> {
    let fits = |unit: &str| unit.chars().nth(max_chars).is_none();
    let mut units = Vec::new();
    for paragraph in text.split_inclusive("\n\n") {
        if fits(paragraph) {
            units.push(paragraph);
            continue;
        }
        for line in paragraph.split_inclusive('\n') {
            if fits(line) {
                units.push(line);
                continue;
            }
            for word in line.split_inclusive(char::is_whitespace) {
                let mut rest = word;
                while let Some((at, _)) = rest.char_indices().nth(max_chars) {
                    let (part, after) = rest.split_at(at);
                    units.push(part);
                    rest = after;
                }
                units.push(rest);
            }
        }
    }
    units
}
