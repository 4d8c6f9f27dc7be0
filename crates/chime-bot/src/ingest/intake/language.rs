//! Which language a chat speaks, judged by what is written in it.

use chime_store::chats::ChatRow;
use chime_store::messages::TakenIn;
use chime_store::{Language, Writer, chats, messages, search};

/// A chat's language is judged anew whenever it has grown by this many messages.
const JUDGE_EVERY: u32 = 200;
/// The first judgements come early, as soon as there is enough to go by.
const JUDGE_FIRST: [u32; 5] = [8, 15, 30, 60, 100];
/// With more messages than this the first judgements have surely been made.
const YOUNG: i64 = 30;

/// Judges the language at certain sizes of the chat.
pub fn judge_as_it_grows(tx: &Writer<'_>, row: &ChatRow, taken: &TakenIn) -> chime_store::Result<()> {
    let TakenIn::New(stored) = taken else { return Ok(()) };
    if stored.seq.0 % JUDGE_EVERY != 0 && !JUDGE_FIRST.contains(&stored.seq.0) {
        return Ok(());
    }
    judge(tx, row, &messages::recent_texts(tx, row.key, JUDGE_EVERY as usize)?)
}

/// Judges the language of a young chat that is about to be spoken to: its first answer brings the notice of what is kept,
/// and that is not said twice.
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
