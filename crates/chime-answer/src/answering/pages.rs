//! Reads pages that members linked to, for the questions that are about them.

use std::time::Duration;

use futures::future::join_all;

use crate::answering::Answering;
use crate::answering::question::QuestionContext;
use crate::answering::typing::while_typing;
use crate::linked_pages::{asked_links, page_addresses};
use crate::plain::{escape_markdown, one_line};
use crate::read_text::{ReadText, material};
use crate::tools::LookupResult;
use chime_core::chat_settings::LINKS;
use chime_core::texts::{filled, texts};
use chime_core::{Grounds, LinkReading, PieceLine, Role, Seq, Slot, SourceId, StoredMessage, message_link};
use chime_links::UnreadablePage;
use chime_runtime::resilience::within;
use chime_store::chats::ChatRow;
use chime_store::pages::{self, PostedLink, StoredPage};
use chime_store::{Priority, messages};

/// Maximum time for a page with all its redirects.
const PATIENCE: Duration = Duration::from_secs(10);
/// A page that was read longer ago is fetched again.
const KEPT: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Maximum number of characters shown of an address.
const ADDRESS_CHARS: usize = 60;
/// Length of a day in a page's date, `2026-01-31`.
const DAY_CHARS: usize = 10;

impl Answering {
    /// Adds the pages that the question is about to its prompt. Pages that cannot be read are noted for the answer.
    pub(super) async fn read_pages(&self, question: &mut QuestionContext) {
        let reading = self.link_reading(question);
        if reading == LinkReading::Off {
            return;
        }
        let reads_focus = reading == LinkReading::On;
        let links = asked_links(question.trigger(), &question.history.ask, &question.window, reads_focus);
        if links.is_empty() {
            return;
        }
        let reading = join_all(links.iter().map(|(stored, address)| self.page(&question.chat, stored, address)));
        let message = &question.trigger().message;
        let read = while_typing(&self.parts.telegram, &self.parts.clock, message, reading).await;
        let mut lines = Vec::new();
        for (page, (_, address)) in read.into_iter().zip(&links) {
            match page {
                Ok(page) => lines.extend(page.lines(&question.history.ask, self.parts.pages.embedder.as_deref())),
                Err(why) => {
                    question.note_unread(address, why);
                    let text = format!("(The page {} could not be read.)", one_line(address, ADDRESS_CHARS));
                    lines.push(PieceLine { text, source: None });
                }
            }
        }
        question.enrichment.pieces.push(material(lines));
    }

    fn link_reading(&self, question: &QuestionContext) -> LinkReading {
        match self.parts.pages.reading {
            LinkReading::Off => LinkReading::Off,
            operators => question.chat.settings.get(LINKS).unwrap_or(operators),
        }
    }

    /// Returns `true` if the model may open links: the prompt shows some, and none was opened without it.
    pub(super) fn may_read_links(&self, question: &QuestionContext) -> bool {
        let shown = question.window.entries.iter().map(|entry| &entry.message).chain([question.trigger()]);
        let is_read = question.enrichment.pieces.iter().any(|piece| piece.slot == Slot::Material);
        self.link_reading(question) != LinkReading::Off
            && !is_read
            && shown
                .filter(|stored| stored.message.role == Role::User)
                .any(|it| !page_addresses(&it.message).is_empty())
    }

    /// Reads the `n`-th link of a message for the model.
    pub(super) async fn read_link(&self, question: &mut QuestionContext, message: Seq, n: usize) -> LookupResult {
        let (chat, before) = (question.chat.key, question.trigger().seq);
        let found = self.parts.store.read(move |conn| messages::by_seq(conn, chat, message)).await;
        let found = found.ok().flatten().filter(|stored| stored.seq <= before && stored.message.role == Role::User);
        let address = found.as_ref().and_then(|stored| {
            page_addresses(&stored.message).get(n.saturating_sub(1)).map(|address| (*address).to_owned())
        });
        let (Some(stored), Some(address)) = (found, address) else {
            return LookupResult::Nothing("That message has no such link.");
        };
        if self.link_reading(question) == LinkReading::Off {
            return LookupResult::Nothing("Links are not opened in this chat.");
        }
        match self.page(&question.chat, &stored, &address).await {
            Ok(page) => {
                LookupResult::Sources(page.sources(&question.history.ask, self.parts.pages.embedder.as_deref()))
            }
            Err(why) => {
                question.note_unread(&address, why);
                LookupResult::Nothing("The page could not be read. Answer without it.")
            }
        }
    }

    /// Returns the page of a link, from the store or the web.
    async fn page(&self, chat: &ChatRow, stored: &StoredMessage, address: &str) -> Result<ReadText, UnreadablePage> {
        let link = PostedLink { chat: stored.chat, posted: stored.seq, address: address.to_owned() };
        let reading = async {
            let fetching = self.parts.pages.fetcher.read(address);
            let read = within(&self.parts.clock, PATIENCE, fetching).await.unwrap_or(Err(UnreadablePage::TooSlow));
            let read = read.inspect_err(|why| tracing::info!(error_type = ?why, "a linked page was not read"))?;
            Ok(StoredPage { number: 0, title: read.title, published: read.published, text: read.text })
        };
        let page = self.kept_or_read(link, reading).await?.ok_or(UnreadablePage::NoPage)?;
        let title = if page.title.is_empty() { one_line(address, ADDRESS_CHARS) } else { page.title };
        Ok(ReadText {
            id: SourceId::page(page.number),
            kind: "Page",
            title,
            dated: page.published.map_or_else(String::new, |date| date.chars().take(DAY_CHARS).collect()),
            text: page.text,
            is_asked: true,
            posted: posted(chat, stored),
        })
    }

    /// Returns the text of `link` that is kept, or keeps what `reading` returns. `None` if it cannot be kept.
    pub(super) async fn kept_or_read<E>(
        &self,
        link: PostedLink,
        reading: impl Future<Output = Result<StoredPage, E>>,
    ) -> Result<Option<StoredPage>, E> {
        let kept = match self.stored_page(&link).await {
            Ok(Some(page)) => return Ok(Some(page)),
            Ok(None) => self.keep_page(link, reading.await?).await,
            Err(error) => Err(error),
        };
        Ok(kept.unwrap_or_else(|error| {
            tracing::warn!(%error, "a text that was read cannot be kept");
            None
        }))
    }

    async fn stored_page(&self, link: &PostedLink) -> chime_store::Result<Option<StoredPage>> {
        let (since, looked_for) = (self.parts.clock.now().minus(KEPT), link.clone());
        let found = self.parts.store.read(move |conn| pages::find(conn, &looked_for, since)).await?;
        if found.is_some() {
            let link = link.clone();
            self.parts.store.write(Priority::Answering, move |tx| pages::add_source(tx, &link)).await?;
        }
        Ok(found)
    }

    /// Stores a page, unless its message was forgotten while it was read.
    async fn keep_page(&self, link: PostedLink, page: StoredPage) -> chime_store::Result<Option<StoredPage>> {
        let now = self.parts.clock.now();
        let save = move |tx: &chime_store::Writer<'_>| match messages::by_seq(tx, link.chat, link.posted)? {
            Some(_) => pages::save(tx, &link, page, now).map(Some),
            None => Ok(None),
        };
        self.parts.store.write(Priority::Answering, save).await
    }
}

/// Returns the message that posted a text, as the basis of its citations.
pub(super) fn posted(chat: &ChatRow, stored: &StoredMessage) -> Grounds {
    Grounds {
        message: stored.seq,
        name: stored.message.sender.name.clone(),
        sent_at: stored.message.sent_at,
        link: message_link(&chat.chat, &stored.message),
    }
}

impl QuestionContext {
    /// Adds the reason why a page could not be read to the answer.
    fn note_unread(&mut self, address: &str, why: UnreadablePage) {
        let language = self.language().unwrap_or(self.chat.speaks());
        let words = &texts(language.code()).unread;
        let text = match why {
            UnreadablePage::TooSlow => &words.slow,
            UnreadablePage::Unreachable => &words.unreachable,
            UnreadablePage::Refused => &words.refused,
            UnreadablePage::TooLarge => &words.too_large,
            UnreadablePage::NoText => &words.no_text,
            UnreadablePage::NoPage => &words.no_page,
        };
        self.tell_unread(filled(text, &[("page", &escape_markdown(&one_line(address, ADDRESS_CHARS)))]));
    }

    pub(super) fn tell_unread(&mut self, told: String) {
        if !self.unread.contains(&told) {
            self.unread.push(told);
        }
    }
}
