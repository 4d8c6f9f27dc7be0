//! Detects the language of a chat from its messages.

use chime_store::chats::ChatRow;
use chime_store::messages::TakenIn;
use chime_store::{Language, Writer, chats, messages, search};

/// The language is detected again each time the chat has this many more messages.
const JUDGE_EVERY: u32 = 200;
/// Numbers of messages at which it is detected in a new chat.
const JUDGE_FIRST: [u32; 5] = [8, 15, 30, 60, 100];
/// Number of messages up to which the language is also detected before an answer.
const YOUNG: i64 = 30;

/// Detects the language if the new message brings the chat to one of these numbers of messages.
pub fn judge_as_it_grows(tx: &Writer<'_>, row: &ChatRow, taken: &TakenIn) -> chime_store::Result<()> {
    let TakenIn::New(stored) = taken else { return Ok(()) };
    if stored.seq.0 % JUDGE_EVERY != 0 && !JUDGE_FIRST.contains(&stored.seq.0) {
        return Ok(());
    }
    set(tx, row, Language::judge(&messages::recent_texts(tx, row.key, JUDGE_EVERY as usize)?))
}

/// Detects the language of a new chat before its first answer, also from a few words. That answer contains the privacy
/// notice, which is sent only once and must be in the right language.
pub fn judge_before_answering(tx: &Writer<'_>, row: &ChatRow) -> chime_store::Result<()> {
    if search::newest(tx, row.key)? > YOUNG {
        return Ok(());
    }
    let texts = messages::recent_texts(tx, row.key, JUDGE_EVERY as usize)?;
    // A few words say more than the default, but not more than the language of an app.
    let of_few_words = || Language::of_question("", &texts.join("\n"), row.language);
    let is_default = row.language == Language::DEFAULT;
    set(tx, row, Language::judge(&texts).or_else(|| if is_default { of_few_words() } else { None }))
}

fn set(tx: &Writer<'_>, row: &ChatRow, judged: Option<Language>) -> chime_store::Result<()> {
    match judged {
        Some(language) if language != row.language => {
            chats::set_language(tx, row.key, language)?;
            // A search compares stems of its own language with the stems in the index.
            messages::index_in(tx, row.key, language, JUDGE_EVERY)
        }
        Some(_) | None => Ok(()),
    }
}
