//! Characters that Telegram removes or does not show.

/// Returns `true` if the text has no visible character. Telegram rejects such a message as empty.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_removed(c) || is_invisible(c))
}

/// Returns `true` for characters that Telegram removes from every text before it looks for mentions and commands. Such
/// a character does not separate words: `/he` and `lp` around it become `/help`. Includes control characters other than
/// line break and tab.
pub fn is_removed(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{30A}' | '\u{333}' | '\u{33F}' | '\u{2028}'..='\u{202E}')
}

/// Returns `true` for characters that show nothing, or only change how their neighbours are drawn.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180E}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFFC}' | '\u{E0000}'..='\u{E0FFF}')
}
