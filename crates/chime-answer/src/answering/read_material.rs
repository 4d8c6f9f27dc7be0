//! Reads the pages and documents that a question is about, searches the web, and adds both to its prompt.

use futures::future::join_all;

use crate::answer_steps::{ModelAttempt, Step};
use crate::answering::draft::Draft;
use crate::answering::fetch_text::{kept_lines, ranked_lines, read_text};
use crate::answering::pages::posted_pages;
use crate::answering::photos::load_photos;
use crate::answering::question::QuestionContext;
use crate::answering::services::Services;
use crate::answering::typing::while_typing;
use crate::answering::web::{asked_web, search_results, web_lines};
use crate::posted_texts::{PostedText, asked_documents};
use crate::read_text::{ReadText, UnreadReason};
use crate::sanitize::escape_markdown;
use chime_core::texts::{Texts, filled, texts};
use chime_core::{MessageAt, Piece, PieceLine, Slot, SourceId, StoredMessage};
use chime_store::{Reader, messages};

/// Maximum number of a chat's documents whose names are compared with the question.
const MOST_NAMES: u32 = 100;

/// Loads the photos that the question is about, and adds to the prompt the pieces of pages, documents and web results
/// that it needs. The answer mentions what could not be read.
pub(super) async fn read_material(services: &Services, question: &mut QuestionContext, first: &Step<Draft>) {
    if matches!(first, Step::Ask(ModelAttempt::USUAL)) && question.gateway.sees_pictures() {
        question.photos = load_photos(services, question).await;
    }
    if !matches!(first, Step::Ask(_) | Step::Digest) {
        return;
    }
    let mut posted = posted_pages(services, question).await;
    posted.extend(posted_documents(services, question).await);
    let searched = asked_web(services, question);
    let is_text_asked = posted.iter().any(|posted| posted.is_asked);
    let (chat, message) = (&question.chat, &question.trigger().message);
    let reading = join_all(posted.iter().map(|posted| read_text(services, chat, posted)));
    let searching = async {
        match &searched {
            Some(query) => Some(search_results(services, query).await),
            None => None,
        }
    };
    let reading = futures::future::join(reading, searching);
    let (read, found) = while_typing(&services.base, message, reading).await;
    // Each line has its rank within its text: if space is short, every text keeps its best pieces.
    let mut lines: Vec<(usize, PieceLine)> = Vec::new();
    for (text, posted) in read.into_iter().zip(posted) {
        match text {
            Ok(text) => {
                if posted.is_asked {
                    lines.extend(question.tell_unread_parts(&posted, &text).into_iter().map(|line| (0, line)));
                }
                lines.extend(ranked_lines(services, question, text).await.into_iter().enumerate());
            }
            Err(why) if posted.is_asked => {
                question.tell_unread(&posted, why);
                let name = posted.name();
                let text =
                    format!("(The text of {name} could not be read. A sentence below your answer will tell why.)");
                lines.push((0, PieceLine { text, source: None }));
            }
            Err(_) => {}
        }
    }
    if let Some(found) = found {
        lines.extend(web_lines(services, question, found).into_iter().enumerate());
    }
    lines.sort_by_key(|(rank, _)| *rank);
    let mut lines: Vec<PieceLine> = lines.into_iter().map(|(_, line)| line).collect();
    if !is_text_asked && !question.generic && matches!(first, Step::Ask(_)) {
        let known: Vec<SourceId> = lines.iter().filter_map(|line| Some(line.source.as_ref()?.id)).collect();
        // One word is too often shared by chance.
        let kept = kept_lines(services, question, &question.history.ask, 2).await;
        lines.extend(kept.into_iter().filter(|line| line.source.as_ref().is_some_and(|it| !known.contains(&it.id))));
    }
    if !lines.is_empty() {
        question.enrichment.pieces.push(Piece { slot: Slot::Material, topic: None, lines });
    }
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
    let (albums, newest) = services.base.store.read(candidates).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "no document is read");
        Default::default()
    });
    asked_documents(&question.posted(&newest), &albums)
}

impl QuestionContext {
    /// Returns the bot's texts in the language of the answer.
    pub(super) fn texts(&self) -> &'static Texts {
        texts(self.language().unwrap_or(self.chat.speaks()).code())
    }

    /// Adds the reason why a text could not be read to the answer.
    pub(super) fn tell_unread(&mut self, posted: &PostedText, why: UnreadReason) {
        self.remark(why.sentence(&posted.name(), self.texts()));
    }

    /// Adds to the answer and to its prompt that a voice message which the question is about is among the
    /// `untranscribed`.
    pub(super) fn tell_untranscribed(&mut self, untranscribed: &[MessageAt]) {
        let focus = self.window.focus().map(|entry| &entry.message).chain([self.trigger()]);
        if focus.map(MessageAt::of).any(|at| untranscribed.contains(&at)) {
            self.remark(self.texts().unread_file.voice.clone());
            let text = "(A voice message that the question is about could not be transcribed.)".to_owned();
            let lines = vec![PieceLine { text, source: None }];
            self.enrichment.pieces.push(Piece { slot: Slot::Material, topic: None, lines });
        }
    }

    /// Adds to the answer which parts of a text could not be read. Returns lines about them for the prompt.
    pub(super) fn tell_unread_parts(&mut self, posted: &PostedText, text: &ReadText) -> Vec<PieceLine> {
        let mut lines = Vec::new();
        let (texts, name) = (self.texts(), posted.name());
        let shown = escape_markdown(&name);
        if text.is_cut {
            self.remark(filled(&texts.unread.cut, &[("page", &shown)]));
            lines.push(format!("(Only the beginning of {name} was read, so it may say more.)"));
        }
        if let Some(pages) = text.pages_without_text() {
            self.remark(filled(&texts.unread_file.pages, &[("file", &shown), ("pages", &pages)]));
            lines.push(format!("(No text could be read on these pages of {name}: {pages}.)"));
        }
        lines.into_iter().map(|text| PieceLine { text, source: None }).collect()
    }

    /// Adds a sentence to the answer, once.
    pub(super) fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}
