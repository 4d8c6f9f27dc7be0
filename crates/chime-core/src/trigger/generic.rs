//! Asks without a subject of their own, and thanks.

use crate::trigger::languages::Languages;
use crate::trigger::words::words;

/// Longer asks always say something. Keeps the cost of a wall of text at nothing.
const LONGEST_GENERIC: usize = 24;

/// Faces typed with punctuation.
const EMOTICONS: [&str; 16] =
    [":)", ":-)", "(:", ":))", ")", "))", ")))", ";)", ";-)", ":D", ":-D", ":P", ":*", "<3", "+1", "\\o/"];

/// Emoji that point or ask, and so are no thanks.
const POINTING: [char; 16] =
    ['👆', '👇', '👈', '👉', '☝', '⬆', '⬇', '🔼', '🔽', '🔝', '❓', '❔', '⁉', '❗', '🆘', '🤷'];

/// Whether `ask` only points at the conversation: empty, nothing but marks and emoji, or made of general phrases of one
/// language ("thoughts?", "^^", "can you help us with this pls", "see above").
pub fn is_generic(ask: &str, languages: &Languages) -> bool {
    let asked = words(ask);
    asked.is_empty()
        || (asked.len() <= LONGEST_GENERIC && languages.tables.iter().any(|language| language.only_points(&asked)))
}

/// Whether `text` is only thanks, praise or emoji, so that a reaction is reply enough. A question mark asks for more.
pub fn is_thanks(text: &str, languages: &Languages) -> bool {
    if text.contains(['?', '^']) || text.contains(POINTING) {
        return false;
    }
    let (faces, said): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|part| EMOTICONS.contains(part));
    let said = words(&said.join(" "));
    if said.is_empty() {
        return !faces.is_empty() || text.chars().any(is_emoji);
    }
    said.len() <= LONGEST_GENERIC && languages.tables.iter().any(|language| language.only_thanks(&said))
}

/// Whether `text` is small talk: a greeting, goodbye, wish, thanks, yes or laughter, perhaps to somebody by name, or nothing but
/// emoji and marks.
pub fn is_small_talk(text: &str, languages: &Languages) -> bool {
    /// Words of the longest such message, and names in it.
    const LONGEST: usize = 8;
    const NAMES: usize = 2;
    if text.contains('?') || text.contains("://") {
        return false;
    }
    let said = words(text);
    said.len() <= LONGEST && languages.tables.iter().any(|language| language.only_small_talk(&said, NAMES))
}

/// Whether `ask` is only what somebody asks who was away ("what did I miss?").
pub fn asks_what_was_missed(ask: &str, languages: &Languages) -> bool {
    let asked = words(ask);
    asked.len() <= LONGEST_GENERIC && languages.tables.iter().any(|language| language.asks_what_was_missed(&asked))
}

/// Whether `ask`, of somebody who names the bot, is thanks. Narrower than [`is_thanks`]: a bare emoji points at the talk
/// above, and what can ask as well ("true", "agreed") asks.
pub fn is_thanks_by_name(ask: &str, languages: &Languages) -> bool {
    let said = words(ask);
    !said.is_empty() && is_thanks(ask, languages) && !languages.tables.iter().any(|language| language.only_asks(&said))
}

/// Returns whether `ask` only greets the bot or asks what it is ("hello", "who are you?", "help").
pub fn asks_about_bot(ask: &str, languages: &Languages) -> bool {
    let said = words(ask);
    said.len() <= LONGEST_GENERIC && languages.tables.iter().any(|language| language.only_meets(&said))
}

/// Whether `text`, which would be thanks elsewhere, agrees to a question ("yes", "ok thanks", 👍).
pub fn consents(text: &str, languages: &Languages) -> bool {
    const NODS: [char; 6] = ['👍', '👌', '✅', '✔', '☑', '🆗'];
    let said = words(text);
    text.contains(NODS) || languages.tables.iter().any(|language| language.consents(&said))
}

/// The blocks in which nearly all emoji are: pictographs, symbols and dingbats, stars and squares.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}')
}

#[cfg(test)]
mod tests;
