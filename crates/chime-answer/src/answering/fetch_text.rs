//! Reads a page or document: from the database, the web or Telegram.

use std::collections::HashSet;
use std::time::Duration;

use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::documents::FileError;
use crate::posted_texts::PostedText;
use crate::read_text::{PAGE_BREAK, ReadText, UnreadReason};
use chime_core::chat_settings::LINKS;
use chime_core::{LinkReading, PieceLine, SourceId, SourceKind, SourceMessage};
use chime_documents::ReadRequest;
use chime_links::{PageText, UnreadablePage, WebContent};
use chime_runtime::resilience::within;
use chime_store::chats::ChatRow;
use chime_store::pages::{self, KeptPage, PostedLink, StoredPage};
use chime_store::{Priority, messages};

/// Maximum time for a page with all its redirects.
const PATIENCE: Duration = Duration::from_secs(10);
/// A page that was read longer ago is fetched again.
const KEPT: Duration = Duration::from_hours(14 * 24);
/// Maximum number of kept texts that are searched: those read last.
const MOST_KEPT: u32 = 50;
/// Maximum length of these texts together, in bytes.
const MOST_KEPT_BYTES: u32 = 4 * 1024 * 1024;
/// Maximum number of pieces of kept texts that are found.
const MOST_FOUND: usize = 3;
/// Length of a day in a page's date, `2026-01-31`.
const DAY_CHARS: usize = 10;

/// Returns when linked pages are read in the chat of the question.
pub(super) fn link_reading(services: &Services, question: &QuestionContext) -> LinkReading {
    match services.base.config.answer.links {
        LinkReading::Off => LinkReading::Off,
        operators => question.settings.get(LINKS).unwrap_or(operators),
    }
}

/// Returns `true` if the chat allows to read linked pages.
pub(super) fn reads_links(services: &Services, question: &QuestionContext) -> bool {
    link_reading(services, question) != LinkReading::Off
}

/// Returns the text of a page or document: the one that is kept, or a new one.
pub(super) async fn read_text(
    services: &Services,
    chat: &ChatRow,
    posted: &PostedText,
) -> Result<ReadText, UnreadReason> {
    let stored = &posted.stored;
    let link = PostedLink { chat: stored.chat, posted: stored.seq, address: posted.address.clone() };
    if let Some(why) = services.state.unread.find(&link, services.base.clock.now()) {
        return Err(why);
    }
    let kept = match kept_page(services, &link).await {
        Ok(None) => match fetch_text(services, posted).await {
            Ok(page) => keep_page(services, link, page).await,
            Err(why) => {
                tracing::info!(error_type = ?why, "a text was not read");
                services.state.unread.note(link, services.base.clock.now(), why);
                return Err(why);
            }
        },
        kept => kept,
    };
    let kept = kept.unwrap_or_else(|error| {
        tracing::warn!(%error, "a text that was read cannot be kept");
        None
    });
    let page = kept.ok_or(UnreadReason::Unavailable)?;
    Ok(text_of(chat, posted, page))
}

fn text_of(chat: &ChatRow, posted: &PostedText, page: StoredPage) -> ReadText {
    // A linked PDF is cited by its pages, as one that was posted.
    let kind = if page.text.contains(PAGE_BREAK) { SourceKind::Document } else { posted.kind };
    ReadText {
        id: SourceId::new(kind, page.number),
        title: if page.title.is_empty() { posted.name() } else { page.title },
        dated: page.published.map_or_else(String::new, |date| date.chars().take(DAY_CHARS).collect()),
        text: page.text,
        is_cut: page.is_cut,
        is_asked: posted.is_asked,
        at: posted.stored.message.sent_at,
        link: None,
        posted: vec![SourceMessage::of(&chat.chat, &posted.stored)],
    }
}

/// Returns the pieces that have most of the words `sought`, at least `least` of them, of the texts that were read for
/// earlier answers and are kept.
pub(super) async fn kept_lines(
    services: &Services,
    question: &QuestionContext,
    sought: &str,
    least: usize,
) -> Vec<PieceLine> {
    let (chat, before, since) = (question.chat.clone(), question.trigger().seq, services.base.clock.now().minus(KEPT));
    let reads_pages = reads_links(services, question);
    let load = move |conn: &chime_store::Reader| {
        let mut texts = Vec::new();
        for KeptPage { link, page } in pages::kept(conn, chat.key, before, since, MOST_KEPT, MOST_KEPT_BYTES)? {
            let Some(stored) = messages::by_seq(conn, chat.key, link.posted)? else { continue };
            let posted = PostedText::kept(stored, link.address);
            if reads_pages || posted.kind == SourceKind::Document {
                texts.push(text_of(&chat, &posted, page));
            }
        }
        Ok(texts)
    };
    let texts: chime_store::Result<Vec<ReadText>> = services.base.store.read(load).await;
    let texts = texts.inspect_err(|error| tracing::warn!(%error, "cannot search kept texts")).unwrap_or_default();
    let read: HashSet<SourceId> = question.material().map(|source| SourceId { page: None, ..source.id }).collect();
    let sought = sought.to_owned();
    let compared = tokio::task::spawn_blocking(move || {
        let unread = texts.iter().filter(|text| !read.contains(&text.id));
        let mut found: Vec<(f64, PieceLine)> = unread.flat_map(|text| text.lines_with(&sought, least)).collect();
        // The sort is stable: of equal pieces, those that were read last come first.
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        found.into_iter().map(|(_, line)| line).take(MOST_FOUND).collect()
    });
    compared.await.unwrap_or_default()
}

/// Fetches a page or a PDF from the web, or a document from Telegram.
async fn fetch_text(services: &Services, posted: &PostedText) -> Result<StoredPage, UnreadReason> {
    let document = if posted.kind == SourceKind::Document {
        services.documents.fetch(&services.base.telegram, &posted.stored.message).await?
    } else {
        let fetching = services.pages.fetcher.read(&posted.address);
        match within(&services.base.clock, PATIENCE, fetching).await.unwrap_or(Err(UnreadablePage::TooSlow))? {
            WebContent::Page(PageText { title, published, text, is_cut }) => {
                return Ok(StoredPage { number: 0, title, published, text, is_cut });
            }
            WebContent::Pdf(bytes) => {
                let nameless = ReadRequest { file_name: String::new(), mime_type: None };
                services.documents.read(bytes, &nameless).await.map_err(FileError::from)??
            }
        }
    };
    let (text, is_cut) = (document.text(), document.is_cut);
    Ok(StoredPage { number: 0, text, title: document.title, published: None, is_cut })
}

async fn kept_page(services: &Services, link: &PostedLink) -> chime_store::Result<Option<StoredPage>> {
    let (since, looked_for) = (services.base.clock.now().minus(KEPT), link.clone());
    let found = services.base.store.read(move |conn| pages::find(conn, &looked_for, since)).await?;
    if found.is_some() {
        let link = link.clone();
        services.base.store.write(Priority::Answering, move |tx| pages::add_source(tx, &link)).await?;
    }
    Ok(found)
}

/// Stores a text, unless its message was forgotten while it was read.
async fn keep_page(services: &Services, link: PostedLink, page: StoredPage) -> chime_store::Result<Option<StoredPage>> {
    let now = services.base.clock.now();
    let save = move |tx: &chime_store::Writer<'_>| match messages::by_seq(tx, link.chat, link.posted)? {
        Some(_) => pages::save(tx, &link, page, now).map(Some),
        None => Ok(None),
    };
    services.base.store.write(Priority::Answering, save).await
}

/// Compares the pieces of a text with the question. A book takes too long for a thread of the async runtime.
pub(super) async fn ranked_lines(services: &Services, question: &QuestionContext, text: ReadText) -> Vec<PieceLine> {
    let (ask, embedder) = (question.history.ask.clone(), services.pages.embedder.clone());
    let lines = tokio::task::spawn_blocking(move || text.lines(&ask, embedder.as_deref()));
    lines.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a text could not be compared with the question");
        Vec::new()
    })
}
