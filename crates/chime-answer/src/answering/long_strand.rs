//! Long strands: a summary stands for their oldest part. It is made after the first answer that meets such a strand.

use std::collections::BTreeSet;
use std::sync::Arc;

use chime_core::{Chat, ChatKey, JobPayload, Piece, PieceLine, Seq, Slot, StoredMessage, Timestamp};
use chime_relevance::context::{StrandLimits, StrandMessage, Summarized, oldest_part};
use chime_store::strand_summaries::StrandSummary;
use chime_store::{Reader, Writer, jobs};

/// So many messages that a summary does not stand for yet are worth making it anew.
const WORTH_EXTENDING: usize = 8;

type Read = dyn Fn(&Reader, ChatKey, &[Seq]) -> chime_store::Result<Option<StrandSummary>> + Send + Sync;

/// Where the summaries of long strands come from.
#[derive(Clone)]
pub struct LongStrands {
    limits: StrandLimits,
    read: Arc<Read>,
}

/// The oldest part of the trigger's strand, where that is long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OldestPart {
    messages: Vec<Seq>,
    summary: Option<StrandSummary>,
}

impl LongStrands {
    pub fn new<F>(limits: StrandLimits, read: F) -> Self
    where
        F: Fn(&Reader, ChatKey, &[Seq]) -> chime_store::Result<Option<StrandSummary>> + Send + Sync + 'static,
    {
        Self { limits, read: Arc::new(read) }
    }

    /// What is known of the oldest part of `strand`. It only enriches: where it cannot be read, the strand
    /// is taken as it is.
    pub fn find(&self, conn: &Reader, chat: ChatKey, strand: &[StrandMessage]) -> OldestPart {
        let messages = oldest_part(strand, self.limits);
        if messages.is_empty() {
            return OldestPart::default();
        }
        let summary = (self.read)(conn, chat, &messages).unwrap_or_else(|error| {
            tracing::warn!(%error, "answering without the summary of a long strand");
            None
        });
        OldestPart { messages, summary }
    }
}

impl OldestPart {
    /// What the window leaves out because the summary stands for it.
    pub fn summarized(&self, estimate: fn(&str) -> usize) -> Option<Summarized> {
        let lines = self.piece()?.lines;
        let tokens = lines.iter().map(|line| estimate(&line.text)).sum();
        Some(Summarized { messages: self.stood_for(), tokens })
    }

    /// The summary as the first line of the context slot.
    pub fn piece(&self) -> Option<Piece> {
        let summary = self.summary.as_ref()?;
        let head = format!("[summary of {} earlier messages of this talk]", summary.sources.len());
        let text = format!("{head}\n{}", summary.text);
        Some(Piece { slot: Slot::Context, topic: None, lines: vec![PieceLine { text, source: None }] })
    }

    /// The messages that the answer rests on because of the summary.
    pub fn stood_for(&self) -> BTreeSet<Seq> {
        self.summary.as_ref().map(|summary| summary.sources.clone()).unwrap_or_default()
    }

    /// Has the summary made or extended where that is worth it. Gives whether there is such a job now.
    pub fn see_to(
        &self,
        tx: &Writer<'_>,
        chat: &Chat,
        trigger: &StoredMessage,
        now: Timestamp,
    ) -> chime_store::Result<bool> {
        let stood_for = self.stood_for();
        let open = self.messages.iter().filter(|seq| !stood_for.contains(seq)).count();
        if open == 0 || (self.summary.is_some() && open < WORTH_EXTENDING) {
            return Ok(false);
        }
        let conversation = trigger.conversation();
        let job = JobPayload::Strand {
            chat: chat.id,
            key: conversation.chat,
            thread: conversation.thread,
            messages: self.messages.clone(),
        };
        jobs::add_or_move(tx, &job, now)?;
        Ok(true)
    }
}
