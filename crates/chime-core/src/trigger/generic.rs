//! Detects questions without a subject of their own, thanks, and small talk.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::trigger::address::{calls_bot, is_command};
use crate::trigger::languages::{LanguagePhrases, Languages, QUESTION_MARKS};
use crate::trigger::words::words;

/// Largest number of words of a question without a subject. A longer text always has one, so it is not checked.
const LONGEST_GENERIC: usize = 24;

/// Thanks in languages without a file.
const OTHER_THANKS: [&str; 44] = [
    "děkuju",
    "děkuji",
    "díky",
    "dík",
    "moc děkuju",
    "ďakujem",
    "vďaka",
    "mulțumesc",
    "multumesc",
    "mersi",
    "köszönöm",
    "köszi",
    "kösz",
    "hvala",
    "tack",
    "tack så mycket",
    "tak",
    "mange tak",
    "takk",
    "kiitos",
    "kiitti",
    "ačiū",
    "paldies",
    "благодаря",
    "хвала",
    "ευχαριστώ",
    "cảm ơn",
    "terima kasih",
    "makasih",
    "salamat",
    "gràcies",
    "faleminderit",
    "شكرا",
    "شكراً",
    "תודה",
    "ありがとう",
    "ありがとうございます",
    "谢谢",
    "謝謝",
    "감사합니다",
    "고마워",
    "고마워요",
    "ขอบคุณ",
    "धन्यवाद",
];
static PLAIN_THANKS: LazyLock<HashSet<Vec<String>>> = LazyLock::new(|| OTHER_THANKS.into_iter().map(words).collect());

const EMOTICONS: [&str; 16] =
    [":)", ":-)", "(:", ":))", ")", "))", ")))", ";)", ";-)", ":D", ":-D", ":P", ":*", "<3", "+1", "\\o/"];

/// Emoji that refer to a message or ask something. A text with one of them is not thanks.
const POINTING: [char; 18] =
    ['👆', '👇', '👈', '👉', '☝', '⬆', '⬇', '🔼', '🔽', '🔝', '❓', '❔', '⁉', '❗', '🆘', '🤷', '🤔', '👀'];

/// Returns `true` if `ask` has no subject of its own, so that it is about other messages: it is empty, only punctuation
/// and emoji, or only general phrases of one language ("thoughts?", "^^", "can you help us with this pls", "see
/// above").
pub fn is_generic(ask: &str) -> bool {
    let asked = words(ask);
    asked.is_empty() || in_any(&asked, LanguagePhrases::only_points) && !is_about_bot(ask)
}

/// Returns `true` if `ask` is only a question about the bot itself ("who are you?", "what can you do?").
pub fn is_about_bot(ask: &str) -> bool {
    in_any(&words(ask), LanguagePhrases::asks_about_bot)
}

/// Returns `true` if `asked` is short enough to have no subject, and `is_known` holds for it in any language.
fn in_any(asked: &[String], is_known: impl Fn(&LanguagePhrases, &[String]) -> bool) -> bool {
    asked.len() <= LONGEST_GENERIC && Languages::shipped().tables.iter().any(|language| is_known(language, asked))
}

/// Returns `true` if `text` is only thanks, praise or emoji, without a question mark.
pub fn is_thanks(text: &str) -> bool {
    if text.contains('^') || text.contains(QUESTION_MARKS) || text.contains(POINTING) {
        return false;
    }
    let (faces, said): (Vec<&str>, Vec<&str>) = text.split_whitespace().partition(|part| EMOTICONS.contains(part));
    let said = words(&said.join(" "));
    if said.is_empty() {
        return !faces.is_empty() || text.chars().any(is_emoji);
    }
    PLAIN_THANKS.contains(&said) || in_any(&said, LanguagePhrases::only_thanks)
}

/// Returns `true` if `text` is small talk: a greeting, goodbye, wish, thanks, yes or laughter, perhaps with names, or
/// only emoji and punctuation.
pub fn is_small_talk(text: &str) -> bool {
    /// Largest number of words of small talk.
    const LONGEST: usize = 8;
    /// Largest number of other words, such as names, in small talk.
    const NAMES: usize = 2;
    if text.contains("://") {
        return false;
    }
    let (said, asks) = (words(text), text.contains(QUESTION_MARKS));
    let is_only = |language: &LanguagePhrases| match asks {
        true => language.only_courtesies(&said),
        false => language.only_small_talk(&said, NAMES),
    };
    PLAIN_THANKS.contains(&said) || said.len() <= LONGEST && Languages::shipped().tables.iter().any(is_only)
}

/// Returns `true` if `ask` only asks what the member missed ("what did I miss?"). A short remark may follow: "what did I
/// miss? was asleep".
pub fn asks_what_was_missed(ask: &str) -> bool {
    const LONGEST_REMARK: usize = 6;
    let is_remark = |rest: &str| !rest.contains(QUESTION_MARKS) && words(rest).len() <= LONGEST_REMARK;
    let first = ask.split_once(QUESTION_MARKS).filter(|(_, rest)| is_remark(rest)).map(|(question, _)| question);
    in_any(&words(first.filter(|it| !it.trim().is_empty()).unwrap_or(ask)), LanguagePhrases::asks_what_was_missed)
}

/// Returns `true` if `ask` only asks for a summary or for news of the conversation ("summarize", "what's new?").
pub fn asks_for_summary(ask: &str) -> bool {
    in_any(&words(ask), LanguagePhrases::asks_for_summary)
}

/// Returns `true` if a clause of `text`, a message to the other members, asks for a summary or for what was missed:
/// "200 messages! Somebody send me a summary". Its author has probably not read what was said before it.
pub fn asks_others_for_summary(text: &str) -> bool {
    /// One word alone, such as "summary", may be part of a remark.
    const FEWEST_WORDS: usize = 2;
    let asks = |said: &[String]| {
        let is_asked = |it: &LanguagePhrases| it.asks_for_summary(said) || it.asks_what_was_missed(said);
        said.len() >= FEWEST_WORDS && Languages::shipped().tables.iter().any(is_asked)
    };
    // The first word may address somebody. "Thanks for the recap" asks for none.
    let clause_asks = |clause: &str| {
        let said = words(clause);
        let has_asked = asks(&said) || said.split_first().is_some_and(|(_, rest)| asks(rest));
        has_asked && !said.iter().any(|word| is_thanks(word))
    };
    !calls_bot(text) && !is_command(text) && text.split(['.', '!', '?', ',', ';', '…', '\n']).any(clause_asks)
}

/// Returns `true` if `ask` only asks for ideas about what was said ("any ideas?").
pub fn asks_for_ideas(ask: &str) -> bool {
    in_any(&words(ask), LanguagePhrases::asks_for_ideas)
}

/// Returns `true` if `ask` only chooses from things named before ("which one?").
pub fn asks_to_choose(ask: &str) -> bool {
    in_any(&words(ask), LanguagePhrases::asks_to_choose)
}

/// Returns `true` if `ask` only asks for a poll of things named before ("make a poll of these").
pub fn asks_for_poll(ask: &str) -> bool {
    /// "Poll please" is a wish, "any polls?" is none.
    const FEW_WORDS: usize = 2;
    let asked = words(ask);
    let is_short = asked.len() <= FEW_WORDS && !ask.contains('?');
    in_any(&asked, |phrases, asked| phrases.asks_for_poll(asked, is_short))
}

/// Returns `true` if `ask` asks to list or to cancel reminders.
pub(super) fn asks_for_reminders(ask: &str) -> bool {
    in_any(&words(ask), LanguagePhrases::asks_for_reminders)
}

/// Returns `true` if `ask` is about what the bot stores and who reads it, or a wish to be deleted or left alone.
pub(super) fn asks_about_privacy(ask: &str) -> bool {
    in_any(&words(ask), LanguagePhrases::asks_about_privacy)
}

/// Returns `true` if `ask`, in a message that mentions the bot, is thanks. Stricter than [`is_thanks`]: together with
/// the bot's name, an emoji alone refers to other messages unless the bot has just answered, and words that may also ask
/// ("true", "agreed") are a question.
pub fn is_thanks_by_name(ask: &str, is_after_answer: bool) -> bool {
    let said = words(ask);
    let asks = match said.is_empty() {
        true => !is_after_answer,
        false => Languages::shipped().tables.iter().any(|language| language.only_asks(&said)),
    };
    !asks && is_thanks(ask)
}

/// Returns the languages (ISO 639-3) in which `ask` only greets the bot or asks what it is ("hello", "who are you?",
/// "help").
pub fn asks_about_bot(ask: &str) -> Vec<&'static str> {
    let said = words(ask);
    let met = Languages::shipped()
        .tables
        .iter()
        .filter(|language| said.len() <= LONGEST_GENERIC && language.only_meets(&said));
    met.map(|language| language.long_code).collect()
}

/// Returns `true` if `text` agrees to a question ("yes", "ok thanks", 👍). If the bot has asked nothing, such a text is
/// thanks.
pub fn consents(text: &str) -> bool {
    const NODS: [char; 6] = ['👍', '👌', '✅', '✔', '☑', '🆗'];
    let said = words(text);
    text.contains(NODS) || Languages::shipped().tables.iter().any(|language| language.consents(&said))
}

/// Returns `true` for characters in the Unicode blocks that contain nearly all emoji.
fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}')
}

#[cfg(test)]
mod tests;
