//! Removes the characters from a text that Telegram removes.

use chime_core::{Entity, FormattedText, utf16_len};

/// Returns `true` if Telegram removes a character: carriage returns, direction overrides, and three combining marks.
fn is_removed(c: char) -> bool {
    matches!(c, '\r' | '\u{30A}' | '\u{333}' | '\u{33F}' | '\u{2028}'..='\u{202E}')
}

/// Returns `text` as Telegram stores it, with adjusted entities: without the characters of `is_removed`, and with
/// blanks instead of all other control characters except line breaks.
pub fn cleaned(text: &str, entities: Vec<Entity>) -> FormattedText {
    let mut kept = String::with_capacity(text.len());
    // Positions of the removed characters in UTF-16 units.
    let mut removed: Vec<usize> = Vec::new();
    let mut units = 0;
    for c in text.chars() {
        match c {
            c if is_removed(c) => removed.push(units),
            '\n' => kept.push(c),
            c if c.is_ascii_control() => kept.push(' '),
            c => kept.push(c),
        }
        units += utf16_len(c.encode_utf8(&mut [0; 4]));
    }
    let moved = |at: usize| at - removed.iter().take_while(|gone| **gone < at).count();
    let entities = entities.into_iter().filter_map(|entity| {
        let (start, end) = (moved(entity.offset), moved(entity.offset + entity.length));
        (end > start).then_some(Entity { offset: start, length: end - start, kind: entity.kind })
    });
    let entities = entities.collect();
    FormattedText { text: kept, entities }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::EntityKind;

    #[test]
    fn what_stood_around_a_removed_mark_stands_together() {
        let bold = |offset, length| Entity { offset, length, kind: EntityKind::Bold };
        let cleaned = cleaned("@\u{30A}bob\t\u{202E}🎉\u{333}!", vec![bold(0, 5), bold(7, 3), bold(1, 1)]);
        let expected = FormattedText { text: "@bob 🎉!".to_owned(), entities: vec![bold(0, 4), bold(5, 2)] };
        assert_eq!(cleaned, expected);
    }
}
