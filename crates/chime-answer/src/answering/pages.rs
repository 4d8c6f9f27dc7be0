//! Decides which linked pages are read for a question, and opens links and files for the model.

use crate::answering::fetch_text::{link_reading, ranked_lines, read_text, reads_links};
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::posted_texts::{PostedQuestion, PostedText, asked_links, is_document, names_link, page_addresses};
use crate::tools::LookupResult;
use chime_core::{LinkReading, Role, Seq, SourceKind, StoredMessage};
use chime_store::passages::{self, Attachment, Wanted};
use chime_store::{Reader, messages};

/// Maximum number of a chat's links that are compared with the question.
const MOST_LINKS: u32 = 100;

pub(super) async fn posted_pages(services: &Services, question: &QuestionContext) -> Vec<PostedText> {
    let reading = link_reading(services, question);
    if reading == LinkReading::Off {
        return Vec::new();
    }
    let mut posted = Vec::new();
    if names_link(&question.history.ask) {
        let (chat, conversation, before) =
            (question.chat.key, question.trigger().conversation(), question.trigger().seq);
        let wanted = Wanted { chat, conversation: Some(conversation), before, within: None, by: None };
        let newest = move |conn: &Reader| {
            let found = passages::matching(conn, &wanted, Some(Attachment::Link), None, MOST_LINKS)?;
            messages::by_seqs(conn, chat, found.into_iter().map(|(_, seq)| seq))
        };
        posted = services.base.store.read(newest).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "only links in the window are compared with the question");
            Vec::new()
        });
    }
    asked_links(&question.posted(&posted), reading == LinkReading::On)
}

impl QuestionContext {
    /// Returns the question with the messages `posted`, the newest of the chat with a link or a document.
    pub(super) fn posted<'a>(&'a self, posted: &'a [StoredMessage]) -> PostedQuestion<'a> {
        PostedQuestion {
            trigger: self.trigger(),
            ask: &self.history.ask,
            language: self.chat.language,
            zone: self.zone,
            window: &self.window,
            recalled: &self.recalled.messages,
            posted,
        }
    }
}

/// Returns `true` if the model may open files and links: a message that it sees has one, and it was not read before.
pub(super) fn may_open_posted(services: &Services, question: &QuestionContext) -> bool {
    let may_link = reads_links(services, question);
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
        _ => match page_addresses(&stored.message).get(n.unwrap_or(1).saturating_sub(1)) {
            Some(address) => Some(PostedText::page(&stored, address)),
            // Some models number the file too.
            None => is_document(&stored).then(|| PostedText::document(&stored, true)),
        },
    });
    let Some(posted) = posted else { return LookupResult::Nothing("That message has no such file or link.") };
    if posted.kind == SourceKind::Page && !reads_links(services, question) {
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
            LookupResult::Nothing(
                "It could not be read. A sentence below your answer will tell that: answer without it.",
            )
        }
    }
}
