//! Reads documents that members posted, for the questions that are about them.

use futures::future::join_all;

use crate::answering::Answering;
use crate::answering::pages::posted;
use crate::answering::question::QuestionContext;
use crate::answering::typing::while_typing;
use crate::documents::FileError;
use crate::plain::one_line;
use crate::posted_documents::{PostedDocument, asked_documents};
use crate::read_text::{ReadText, material};
use chime_core::texts::texts;
use chime_core::{MessageAt, PieceLine, SourceId, StoredMessage};
use chime_store::chats::ChatRow;
use chime_store::pages::{PostedLink, StoredPage};
use chime_store::{Reader, inbox, messages};
use chime_telegram::{AttachedFile, document};

/// Maximum number of a chat's documents whose names are compared with the question.
const MOST_NAMES: u32 = 100;
/// Maximum number of characters shown of a file name.
const NAME_CHARS: usize = 60;

/// Document with its file at Telegram, whose id is known as long as the update with it is kept.
struct FoundDocument {
    posted: PostedDocument,
    file: Option<AttachedFile>,
}

impl Answering {
    /// Adds the documents that the question is about to its prompt. Documents that cannot be read are noted for the
    /// answer.
    pub(super) async fn read_documents(&self, question: &mut QuestionContext) {
        let found = self.find_documents(question).await;
        if found.is_empty() {
            return;
        }
        let reading = join_all(found.iter().map(|found| self.document(&question.chat, found)));
        let message = &question.trigger().message;
        let read = while_typing(&self.parts.telegram, &self.parts.clock, message, reading).await;
        let mut lines = Vec::new();
        for (document, found) in read.into_iter().zip(found) {
            match document {
                Ok(document) => lines.extend(self.pieces_of(question, document).await),
                Err(error) if found.posted.is_asked => {
                    let name = one_line(found.posted.stored.message.detail.as_deref().unwrap_or("…"), NAME_CHARS);
                    let language = question.language().unwrap_or(question.chat.speaks());
                    question.tell_unread(error.told(&name, &texts(language.code()).unread_file));
                    let text = format!("(The document {name} could not be read.)");
                    lines.push(PieceLine { text, source: None });
                }
                Err(_) => {}
            }
        }
        if !lines.is_empty() {
            question.enrichment.pieces.push(material(lines));
        }
    }

    /// Compares the pieces of a document with the question. A book takes too long for a thread of the async runtime.
    async fn pieces_of(&self, question: &QuestionContext, document: ReadText) -> Vec<PieceLine> {
        let (ask, embedder) = (question.history.ask.clone(), self.parts.pages.embedder.clone());
        let pieces = tokio::task::spawn_blocking(move || document.lines(&ask, embedder.as_deref()));
        pieces.await.unwrap_or_else(|error| {
            tracing::warn!(%error, "a document could not be compared with the question");
            Vec::new()
        })
    }

    async fn find_documents(&self, question: &QuestionContext) -> Vec<FoundDocument> {
        let (chat, before) = (question.chat.key, question.trigger().seq);
        let newest = move |conn: &Reader| messages::documents(conn, chat, before, MOST_NAMES);
        let newest = self.parts.store.read(newest).await.unwrap_or_else(unread);
        let asked = asked_documents(question.trigger(), &question.history.ask, &question.window, &newest);
        if asked.is_empty() {
            return Vec::new();
        }
        let files = move |conn: &Reader| {
            let found = |posted: PostedDocument| Ok(FoundDocument { file: file_of(conn, &posted.stored)?, posted });
            asked.into_iter().map(found).collect()
        };
        self.parts.store.read(files).await.unwrap_or_else(unread)
    }

    /// Returns the text of a document, from the store or from Telegram.
    async fn document(&self, chat: &ChatRow, found: &FoundDocument) -> Result<ReadText, FileError> {
        let (FoundDocument { posted: PostedDocument { stored, is_asked }, file }, parts) = (found, &self.parts);
        let file = file.as_ref().ok_or(FileError::Unavailable)?;
        let address = format!("file:{}", file.unique_id);
        let reading = async {
            let read = parts.documents.fetch(&parts.telegram, file).await;
            let read = read.inspect_err(|error| tracing::info!(%error, "a document was not read"))?;
            Ok::<_, FileError>(StoredPage { number: 0, text: read.text(), title: read.title, published: None })
        };
        let link = PostedLink { chat: stored.chat, posted: stored.seq, address };
        let kept = self.kept_or_read(link, reading).await?.ok_or(FileError::Unavailable)?;
        Ok(ReadText {
            id: SourceId::document(kept.number, None),
            kind: "Document",
            title: kept.title,
            dated: String::new(),
            text: kept.text,
            is_asked: *is_asked,
            posted: posted(chat, stored),
        })
    }
}

/// Returns the file of a message: Telegram's id of it is in the raw update of the message, or of a reply to it.
fn file_of(conn: &Reader, stored: &StoredMessage) -> chime_store::Result<Option<AttachedFile>> {
    let raws = inbox::that_hold(conn, stored.message.chat, stored.message.id)?;
    Ok(raws.iter().find_map(|raw| document(raw, MessageAt::of(stored))))
}

fn unread<T>(error: chime_store::StoreError) -> Vec<T> {
    tracing::warn!(%error, "no document is read");
    Vec::new()
}
