//! Splits text into words, folded for comparison, with their byte ranges.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldedToken {
    /// Lower case, without diacritics and apostrophes.
    pub word: String,
    /// Byte range in the text.
    pub start: usize,
    pub end: usize,
    /// `true` if a comma, full stop or similar sign follows.
    pub ends_clause: bool,
}

impl AsRef<str> for FoldedToken {
    fn as_ref(&self) -> &str {
        &self.word
    }
}

impl FoldedToken {
    pub fn written<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Splits a text into words. Numbers include their separators ("12.99"); currency signs and comparison signs such as
/// `<` are words of their own.
pub fn tokens(text: &str) -> Vec<FoldedToken> {
    let mut found: Vec<FoldedToken> = Vec::new();
    let mut open: Option<usize> = None;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let next = rest.peek().map(|(_, c)| *c);
        if is_part(c) || open.is_some_and(|start| joins(text.get(start..at).unwrap_or_default(), c, next)) {
            open.get_or_insert(at);
            continue;
        }
        let start = open.take();
        // Letters before a dollar sign say of which country: "R$".
        if let Some(start) = start.filter(|start| c == '$' && text[*start..at].chars().all(char::is_alphabetic)) {
            push(&mut found, text, start, at + 1);
            continue;
        }
        if let Some(start) = start {
            push(&mut found, text, start, at);
        }
        if is_sign(c) {
            push(&mut found, text, at, at + c.len_utf8());
        } else if matches!(c, ',' | ';' | ':' | '.' | '!' | '?' | '(' | ')' | '\n' | '–' | '—')
            && let Some(last) = found.last_mut()
        {
            last.ends_clause = true;
        }
    }
    if let Some(start) = open {
        push(&mut found, text, start, text.len());
    }
    found
}

/// Returns the text in lower case without diacritics, its words separated by single spaces.
pub fn fold(text: &str) -> String {
    tokens(text).into_iter().map(|token| token.word).collect::<Vec<_>>().join(" ")
}

fn push(found: &mut Vec<FoldedToken>, text: &str, start: usize, end: usize) {
    let word = folded(text.get(start..end).unwrap_or_default());
    if !word.is_empty() {
        found.push(FoldedToken { word, start, end, ends_clause: false });
    }
}

fn folded(raw: &str) -> String {
    let mut word = String::with_capacity(raw.len());
    for c in raw.nfd().filter(|c| !is_combining_mark(*c)).flat_map(char::to_lowercase) {
        match c {
            '\'' | '’' | '`' | '´' => {}
            'ß' => word.push_str("ss"),
            'æ' => word.push_str("ae"),
            'œ' => word.push_str("oe"),
            'ø' => word.push('o'),
            'ł' => word.push('l'),
            'ı' => word.push('i'),
            // Some Turkish capitals get a combining dot when they are converted to lower case.
            c if is_combining_mark(c) => {}
            c => word.push(c),
        }
    }
    word
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Returns `true` if the sign `c` is part of a word: an apostrophe before a letter, or a separator between digits.
fn joins(before: &str, c: char, next: Option<char>) -> bool {
    match c {
        '\'' | '’' | '`' | '´' => next.is_some_and(char::is_alphabetic),
        '.' | ',' => before.ends_with(|c: char| c.is_ascii_digit()) && next.is_some_and(|c| c.is_ascii_digit()),
        _ => false,
    }
}

fn is_sign(c: char) -> bool {
    matches!(c, '€' | '$' | '£' | '₽' | '₴' | '¥' | '₺' | '<' | '>' | '~' | '≤' | '≥')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_folded_and_numbers_stay_whole() {
        let rendered = |text: &str| fold(text);
        assert_eq!(rendered("Näita RAAMATUID, what's €12.99? d'autres"), "naita raamatuid whats € 12.99 dautres");
        assert_eq!(rendered("тёплый ещё Їжа"), "теплыи еще іжа");
        assert_eq!(rendered("the 2nd, 30€/head. 1,500"), "the 2nd 30 € head 1,500");
    }

    #[test]
    fn a_word_knows_where_it_stands_and_whether_a_clause_ends() {
        let text = "by J.R.R. Tolkien, please";
        let found = tokens(text);
        let rendered: Vec<_> = found.iter().map(|token| (token.written(text), token.ends_clause)).collect();
        assert_eq!(
            rendered,
            [("by", false), ("J", true), ("R", true), ("R", true), ("Tolkien", true), ("please", false)]
        );
    }
}
