//! Summaries that replace the oldest part of a long thread in the prompt. One is made in the background after the first
//! answer about such a thread.

use std::collections::BTreeSet;

use chime_core::config::MemoryConfig;
use chime_core::{Chat, ChatKey, JobPayload, Piece, PieceLine, Seq, Slot, StoredMessage, Timestamp};
use chime_memory::jobs::thread_summary;
use chime_relevance::context::{MAX_THREAD_TOKENS, Summarized, ThreadLimits, ThreadMessage, oldest_part};
use chime_store::thread_summaries::ThreadSummary;
use chime_store::{Reader, Writer, jobs};

/// The summary is extended if it lacks at least this many messages of the oldest part.
const WORTH_EXTENDING: usize = 8;

/// Oldest part of the trigger's thread; empty if the thread is not long.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OldestPart {
    messages: Vec<Seq>,
    summary: Option<ThreadSummary>,
}

impl OldestPart {
    /// Returns the oldest part of `thread` and its summary; empty if memory is off. If the summary cannot be read, the
    /// error is logged and the thread is used without one.
    pub fn find(conn: &Reader, config: &MemoryConfig, chat: ChatKey, thread: &[ThreadMessage]) -> Self {
        let limits = ThreadLimits { messages: config.max_history, tokens: MAX_THREAD_TOKENS };
        let messages = if config.is_on { oldest_part(thread, limits) } else { Vec::new() };
        if messages.is_empty() {
            return Self::default();
        }
        let summary = thread_summary(conn, chat, &messages).unwrap_or_else(|error| {
            tracing::warn!(%error, "answering without the summary of a long thread");
            None
        });
        Self { messages, summary }
    }

    /// Returns the messages that the window leaves out because the summary replaces them, and the tokens of the
    /// summary. `None` without a summary.
    pub fn summarized(&self, estimate: fn(&str) -> usize) -> Option<Summarized> {
        let lines = self.piece()?.lines;
        let tokens = lines.iter().map(|line| estimate(&line.text)).sum();
        Some(Summarized { messages: self.stood_for(), tokens })
    }

    /// Returns the summary as a piece for the context slot; `None` without a summary.
    pub fn piece(&self) -> Option<Piece> {
        let summary = self.summary.as_ref()?;
        let head = format!("[summary of {} earlier messages of this talk]", summary.sources.len());
        let text = format!("{head}\n{}", summary.text);
        Some(Piece { slot: Slot::Context, topic: None, lines: vec![PieceLine { text, source: None }] })
    }

    /// Returns the messages that the summary replaces, which are sources of the answer.
    pub fn stood_for(&self) -> BTreeSet<Seq> {
        self.summary.as_ref().map(|summary| summary.sources.clone()).unwrap_or_default()
    }

    /// Adds a job that makes the summary, or extends it if at least `WORTH_EXTENDING` messages are missing from it.
    /// Returns `true` if it added one.
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
        let job = JobPayload::Thread {
            chat: chat.id,
            key: conversation.chat,
            forum_topic: conversation.forum_topic,
            messages: self.messages.clone(),
        };
        jobs::add_or_move(tx, &job, now)?;
        Ok(true)
    }
}
