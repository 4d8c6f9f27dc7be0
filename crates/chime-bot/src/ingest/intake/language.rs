//! Detects the language of a chat from its messages.

use chime_store::chats::ChatRow;
use chime_store::messages::TakenIn;
use chime_store::{Language, Writer, chats, messages, search};

/// Number of new messages after which the language is detected again.
const JUDGE_EVERY: u32 = 200;
/// Sizes of the first detections, which come early, as soon as there is enough text.
const JUDGE_FIRST: [u32; 5] = [8, 15, 30, 60, 100];
/// Chat size, in messages, above which the first detections are done.
const YOUNG: i64 = 30;

/// Detects the language at certain sizes of the chat.
pub fn judge_as_it_grows(tx: &Writer<'_>, row: &ChatRow, taken: &TakenIn) -> chime_store::Result<()> {
    let TakenIn::New(stored) = taken else { return Ok(()) };
    if stored.seq.0 % JUDGE_EVERY != 0 && !JUDGE_FIRST.contains(&stored.seq.0) {
        return Ok(());
    }
    judge(tx, row, &messages::recent_texts(tx, row.key, JUDGE_EVERY as usize)?)
}

/// Detects the language of a new chat before its first answer, since the notice about kept data comes with that answer
/// and is sent only once.
pub fn judge_before_answering(tx: &Writer<'_>, row: &ChatRow) -> chime_store::Result<()> {
    if search::newest(tx, row.key)? > YOUNG {
        return Ok(());
    }
    judge(tx, row, &messages::recent_texts(tx, row.key, JUDGE_EVERY as usize)?)
}

fn judge(tx: &Writer<'_>, row: &ChatRow, texts: &[String]) -> chime_store::Result<()> {
    match Language::judge(texts) {
        Some(language) if language != row.language => chats::set_language(tx, row.key, language),
        Some(_) | None => Ok(()),
    }
}
