//! Decides which linked pages are read for a question, and opens links and files for the model.

use crate::answering::fetch_text::{ranked_lines, read_text};
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::posted_texts::{PostedText, asked_links, is_document, page_addresses};
use crate::tools::LookupResult;
use chime_core::chat_settings::LINKS;
use chime_core::{LinkReading, Role, Seq, SourceKind, StoredMessage};
use chime_store::messages;

pub(super) fn posted_pages(services: &Services, question: &QuestionContext) -> Vec<PostedText> {
    match link_reading(services, question) {
        LinkReading::Off => Vec::new(),
        reading => {
            let reads_focus = reading == LinkReading::On;
            asked_links(question.trigger(), &question.history.ask, &question.window, reads_focus)
        }
    }
}

fn link_reading(services: &Services, question: &QuestionContext) -> LinkReading {
    match services.base.config.answer.links {
        LinkReading::Off => LinkReading::Off,
        operators => question.settings.get(LINKS).unwrap_or(operators),
    }
}

/// Returns `true` if the model may open files and links: a message that it sees has one, and it was not read before.
pub(super) fn may_open_posted(services: &Services, question: &QuestionContext) -> bool {
    let may_link = link_reading(services, question) != LinkReading::Off;
    let is_open = |stored: &&StoredMessage| {
        let message = &stored.message;
        let has_link = may_link && message.role == Role::User && !page_addresses(message).is_empty();
        let is_read = || question.material().flat_map(|source| &source.rests_on).any(|it| it.message == stored.seq);
        (has_link || is_document(stored)) && !is_read()
    };
    question.shown().chain([question.trigger()]).any(|stored| is_open(&stored))
}

/// Reads the file or the `n`-th link of a message for the model.
pub(super) async fn open_posted(
    services: &Services,
    question: &mut QuestionContext,
    message: Seq,
    n: Option<usize>,
) -> LookupResult {
    let (chat, before) = (question.chat.key, question.trigger().seq);
    let found = services.base.store.read(move |conn| messages::by_seq(conn, chat, message)).await;
    let found = found.ok().flatten().filter(|stored| stored.seq <= before && stored.message.role == Role::User);
    let posted = found.and_then(|stored| match n {
        None if is_document(&stored) => Some(PostedText::document(&stored, true)),
        _ => {
            let address = *page_addresses(&stored.message).get(n.unwrap_or(1).saturating_sub(1))?;
            Some(PostedText::page(&stored, address))
        }
    });
    let Some(posted) = posted else { return LookupResult::Nothing("That message has no such file or link.") };
    if posted.kind == SourceKind::Page && link_reading(services, question) == LinkReading::Off {
        return LookupResult::Nothing("Links are not opened in this chat.");
    }
    match read_text(services, &question.chat, &posted).await {
        Ok(text) => {
            let mut lines = question.tell_unread_parts(&posted, &text);
            lines.extend(ranked_lines(services, question, text).await);
            LookupResult::Text(lines)
        }
        Err(why) => {
            question.tell_unread(&posted, why);
            LookupResult::Nothing("It could not be read. A sentence below your answer will tell that: answer without it.")
        }
    }
}
