//! Reads the pages and documents that a question is about, searches the web, and adds both to its prompt.

use std::time::Duration;

use futures::future::join_all;

use crate::answering::pages::posted_pages;
use crate::answering::photos::load_photos;
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::answering::typing::while_typing;
use crate::answering::web::{asked_web, search_results, web_lines};
use crate::job::Backend;
use crate::plain::escape_markdown;
use crate::posted_texts::{PostedText, asked_documents};
use crate::read_text::{ReadText, UnreadReason};
use chime_core::texts::{Texts, filled, texts};
use chime_core::{Grounds, Piece, PieceLine, Slot, SourceId, SourceKind, StoredMessage, message_link};
use chime_links::UnreadablePage;
use chime_runtime::resilience::within;
use chime_store::chats::ChatRow;
use chime_store::pages::{self, PostedLink, StoredPage};
use chime_store::{Priority, Reader, messages};

/// Maximum time for a page with all its redirects.
const PATIENCE: Duration = Duration::from_secs(10);
/// A page that was read longer ago is fetched again.
const KEPT: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Maximum number of a chat's documents whose names are compared with the question.
const MOST_NAMES: u32 = 100;
/// Length of a day in a page's date, `2026-01-31`.
const DAY_CHARS: usize = 10;

/// Loads the photos that the question is about, and adds to the prompt what it needs of pages, documents and the web.
/// What cannot be read is noted for the answer.
pub(super) async fn read_material(services: &Services, question: &mut QuestionContext, backend: &Backend) {
    if *backend == Backend::Model && question.gateway.sees_pictures() {
        question.photos = load_photos(services, question).await;
    }
    if !matches!(backend, Backend::Model | Backend::Thrifty | Backend::Offline) {
        return;
    }
    let mut posted = posted_pages(services, question);
    posted.extend(posted_documents(services, question).await);
    let searched = asked_web(services, question);
    if posted.is_empty() && searched.is_none() {
        return;
    }
    let (chat, message) = (&question.chat, &question.trigger().message);
    let reading = join_all(posted.iter().map(|posted| read_text(services, chat, posted)));
    let searching = async {
        match &searched {
            Some(query) => Some(search_results(services, query).await),
            None => None,
        }
    };
    let reading = futures::future::join(reading, searching);
    let (read, found) = while_typing(&services.telegram, &services.clock, message, reading).await;
    // Each line with its rank in its text: if space is short, each text keeps its best pieces.
    let mut lines: Vec<(usize, PieceLine)> = Vec::new();
    for (text, posted) in read.into_iter().zip(posted) {
        match text {
            Ok(text) => {
                if text.is_cut && posted.is_asked {
                    let name = escape_markdown(&posted.name());
                    question.remark(filled(&question.texts().unread.cut, &[("page", &name)]));
                }
                lines.extend(ranked_lines(services, question, text).await.into_iter().enumerate());
            }
            Err(why) if posted.is_asked => {
                question.tell_unread(&posted, why);
                let text = format!("(The text of {} could not be read.)", posted.name());
                lines.push((0, PieceLine { text, source: None }));
            }
            Err(_) => {}
        }
    }
    if let Some(found) = found {
        lines.extend(web_lines(services, question, found).into_iter().enumerate());
    }
    lines.sort_by_key(|(rank, _)| *rank);
    let lines: Vec<PieceLine> = lines.into_iter().map(|(_, line)| line).collect();
    if !lines.is_empty() {
        question.enrichment.pieces.push(Piece { slot: Slot::Material, topic: None, lines });
    }
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

async fn posted_documents(services: &Services, question: &QuestionContext) -> Vec<PostedText> {
    let (chat, before) = (question.chat.key, question.trigger().seq);
    let anchor = question.window.anchor_entry().map(|entry| &entry.message);
    let album = |stored: &StoredMessage| Some((stored.message.chat, stored.message.album.clone()?));
    let albums: Vec<_> = [Some(question.trigger()), anchor].into_iter().flatten().filter_map(album).collect();
    let candidates = move |conn: &Reader| {
        let mut of_albums = Vec::new();
        for (chat, album) in albums {
            of_albums.extend(messages::album(conn, chat, &album)?);
        }
        Ok((of_albums, messages::documents(conn, chat, before, MOST_NAMES)?))
    };
    let (albums, newest) = services.store.read(candidates).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "no document is read");
        Default::default()
    });
    asked_documents(question.trigger(), &question.history.ask, &question.window, &albums, &newest)
}

/// Returns the text of a page or document: the one that is kept, or a new one.
pub(super) async fn read_text(
    services: &Services,
    chat: &ChatRow,
    posted: &PostedText,
) -> Result<ReadText, UnreadReason> {
    let stored = &posted.stored;
    let link = PostedLink { chat: stored.chat, posted: stored.seq, address: posted.address.clone() };
    if let Some(why) = services.state.unread.find(&link, services.clock.now()) {
        return Err(why);
    }
    let kept = match kept_page(services, &link).await {
        Ok(None) => match fetch_text(services, posted).await {
            Ok(page) => keep_page(services, link, page).await,
            Err(why) => {
                tracing::info!(error_type = ?why, "a text was not read");
                services.state.unread.note(link, services.clock.now(), why);
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
    Ok(ReadText {
        id: SourceId::new(posted.kind, page.number),
        title: if page.title.is_empty() { posted.name() } else { page.title },
        dated: page.published.map_or_else(String::new, |date| date.chars().take(DAY_CHARS).collect()),
        text: page.text,
        is_cut: page.is_cut,
        is_asked: posted.is_asked,
        at: stored.message.sent_at,
        link: None,
        posted: vec![Grounds {
            message: stored.seq,
            name: stored.message.sender.name.clone(),
            sent_at: stored.message.sent_at,
            link: message_link(&chat.chat, &stored.message),
        }],
    })
}

/// Fetches a page from the web, or a document from Telegram.
async fn fetch_text(services: &Services, posted: &PostedText) -> Result<StoredPage, UnreadReason> {
    if posted.kind == SourceKind::Document {
        let read = services.documents.fetch(&services.telegram, &posted.stored.message).await?;
        let (text, is_cut) = (read.text(), read.is_cut);
        return Ok(StoredPage { number: 0, text, title: read.title, published: None, is_cut });
    }
    let fetching = services.pages.fetcher.read(&posted.address);
    let read = within(&services.clock, PATIENCE, fetching).await.unwrap_or(Err(UnreadablePage::TooSlow))?;
    Ok(StoredPage { number: 0, title: read.title, published: read.published, text: read.text, is_cut: read.is_cut })
}

async fn kept_page(services: &Services, link: &PostedLink) -> chime_store::Result<Option<StoredPage>> {
    let (since, looked_for) = (services.clock.now().minus(KEPT), link.clone());
    let found = services.store.read(move |conn| pages::find(conn, &looked_for, since)).await?;
    if found.is_some() {
        let link = link.clone();
        services.store.write(Priority::Answering, move |tx| pages::add_source(tx, &link)).await?;
    }
    Ok(found)
}

/// Stores a text, unless its message was forgotten while it was read.
async fn keep_page(services: &Services, link: PostedLink, page: StoredPage) -> chime_store::Result<Option<StoredPage>> {
    let now = services.clock.now();
    let save = move |tx: &chime_store::Writer<'_>| match messages::by_seq(tx, link.chat, link.posted)? {
        Some(_) => pages::save(tx, &link, page, now).map(Some),
        None => Ok(None),
    };
    services.store.write(Priority::Answering, save).await
}

impl QuestionContext {
    /// Returns the bot's texts in the language of the answer.
    pub(super) fn texts(&self) -> &'static Texts {
        texts(self.language().unwrap_or(self.chat.speaks()).code())
    }

    /// Adds the reason why a text could not be read to the answer.
    pub(super) fn tell_unread(&mut self, posted: &PostedText, why: UnreadReason) {
        self.remark(why.told(&posted.name(), self.texts()));
    }

    /// Adds a sentence to the answer, once.
    pub(super) fn remark(&mut self, told: String) {
        if !self.remarks.contains(&told) {
            self.remarks.push(told);
        }
    }
}
