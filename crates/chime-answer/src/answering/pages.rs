//! Decides which linked pages are read for a question, and opens links for the model.

use crate::answering::fetch_text::{ranked_lines, read_text};
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::posted_texts::{PostedText, asked_links, page_addresses};
use crate::tools::LookupResult;
use chime_core::chat_settings::LINKS;
use chime_core::{LinkReading, Role, Seq, Slot};
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

/// Returns `true` if the model may open links: the prompt shows some, and none was opened without it.
pub(super) fn may_read_links(services: &Services, question: &QuestionContext) -> bool {
    let shown = question.window.entries.iter().map(|entry| &entry.message).chain([question.trigger()]);
    let is_read = question.enrichment.pieces.iter().any(|piece| piece.slot == Slot::Material);
    link_reading(services, question) != LinkReading::Off
        && !is_read
        && shown.filter(|stored| stored.message.role == Role::User).any(|it| !page_addresses(&it.message).is_empty())
}

/// Reads the `n`-th link of a message for the model.
pub(super) async fn read_link(
    services: &Services,
    question: &mut QuestionContext,
    message: Seq,
    n: usize,
) -> LookupResult {
    if link_reading(services, question) == LinkReading::Off {
        return LookupResult::Nothing("Links are not opened in this chat.");
    }
    let (chat, before) = (question.chat.key, question.trigger().seq);
    let found = services.base.store.read(move |conn| messages::by_seq(conn, chat, message)).await;
    let found = found.ok().flatten().filter(|stored| stored.seq <= before && stored.message.role == Role::User);
    let posted = found.and_then(|stored| {
        let address = *page_addresses(&stored.message).get(n.saturating_sub(1))?;
        Some(PostedText::page(&stored, address))
    });
    let Some(posted) = posted else { return LookupResult::Nothing("That message has no such link.") };
    match read_text(services, &question.chat, &posted).await {
        Ok(page) => {
            let lines = ranked_lines(services, question, page).await;
            LookupResult::Sources(lines.into_iter().filter_map(|line| line.source).collect())
        }
        Err(why) => {
            question.tell_unread(&posted, why);
            LookupResult::Nothing("The page could not be read. Answer without it.")
        }
    }
}
