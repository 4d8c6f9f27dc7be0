//! Summarizes the oldest part of long threads: after the first answer about such a thread, and again when more messages
//! have become too old for the prompt.

use std::collections::BTreeSet;

use crate::bullets::cost;
use crate::extract::SummaryMessage;
use crate::jobs::error::StepError;
use crate::jobs::memory::Memory;
use crate::jobs::new_summary::NewSummary;
use crate::lines;
use crate::policy::THREAD_CAPS;
use crate::{bullet_selection, extract, members};
use chime_core::prompts::Template;
use chime_core::{Bullet, ChatKey, Conversation, Job, Seq, StoredMessage, SummaryMethod, estimate_tokens};
use chime_jobs::JobResult;
use chime_store::thread_summaries::{self, Extension, ThreadSummary};
use chime_store::{Priority, Reader, memory, messages, summaries};

/// Maximum number of tokens of messages that a summary is extended by at once.
const PART_TOKENS: usize = 6000;
/// A summary of this many messages is not extended: the next messages get a summary of their own. When a message is
/// forgotten, every answer that shows a summary of it is deleted, so a summary must not cover too many messages.
const MOST_MESSAGES: usize = 400;
/// No limit on the number of messages that a summary covers.
const ANY: usize = usize::MAX;

/// Messages of a thread that are not summarized yet, with the summary to extend.
struct ThreadPart {
    before: Option<ThreadSummary>,
    /// Bullets of the summary so far; empty if a model replaces an extract.
    so_far: Vec<Bullet>,
    messages: Vec<StoredMessage>,
}

impl Memory {
    /// Runs a `thread` job, which summarizes the oldest part of a thread.
    pub async fn summarize_thread(&self, job: &Job, conversation: Conversation, oldest: &[Seq]) -> JobResult {
        loop {
            let conditions = self.conditions(conversation.chat).await?;
            let Some(method) = conditions.method() else { return self.finish(job).await };
            let (chat, wanted, model) = (conversation.chat, oldest.to_vec(), self.summary_model());
            let by = (method == SummaryMethod::Model).then_some(model);
            let room = self.model.material_tokens(PART_TOKENS);
            let part = self.store.read(move |conn| next_part(conn, chat, &wanted, room, by.as_deref())).await?;
            let Some(part) = part else { return self.finish(job).await };
            if !self.extend_by(job, conversation, part, method).await? {
                // The messages have changed meanwhile. The next answer about the thread starts the job again.
                return self.finish(job).await;
            }
        }
    }

    async fn extend_by(
        &self,
        job: &Job,
        conversation: Conversation,
        part: ThreadPart,
        method: SummaryMethod,
    ) -> Result<bool, StepError> {
        let ThreadPart { before, so_far, messages } = part;
        let chat = conversation.chat;
        let spoken = self.summary_lines(chat, messages.clone()).await?;
        let made = match method {
            SummaryMethod::Model => {
                let input = lines::thread(&so_far, &spoken, self.zone_of(conversation).await?);
                let caps = self.model.limit(THREAD_CAPS);
                let written = self.bullets_of(chat, Template::Thread, &input, caps, false).await;
                self.or_extract(job, written, || extracted(so_far, &spoken))?
            }
            SummaryMethod::Extract => extracted(so_far, &spoken),
        };
        let text: Vec<&str> = made.bullets.iter().map(|bullet| bullet.text.as_str()).collect();
        let written = made.written.as_ref();
        let extension = Extension {
            of: before,
            text: text.join("\n"),
            tokens: cost(&made.bullets, estimate_tokens),
            method: made.method,
            model: made.model(),
            built_at: self.clock.now(),
            added: messages.iter().map(|stored| stored.seq).collect(),
        };
        let kept = extension.clone();
        let id = self
            .store
            .write(Priority::Background, move |tx| {
                if memory::is_off(tx, chat)? || !are_as_read(tx, chat, &messages)? {
                    return Ok(None);
                }
                thread_summaries::extend(tx, conversation, &extension)
            })
            .await?;
        if let Some(id) = id {
            tracing::info!(
                chat = chat.0,
                summary_id = id,
                replaced_count = kept.added.len(),
                tokens = kept.tokens,
                method = kept.method.as_str(),
                model = kept.model,
                latency_ms = written.map(|it| u64::try_from(it.latency.as_millis()).unwrap_or(u64::MAX)),
                used_tokens = written.map(|it| it.tokens.prompt + it.tokens.completion),
                cost_micros = written.and_then(|it| it.cost_micros),
                "chat.summary",
            );
        }
        Ok(id.is_some())
    }
}

/// Returns the summary that covers the greatest part of `oldest`, with the members' current names. Returns `None`
/// without memory or summary.
pub fn thread_summary(conn: &Reader, chat: ChatKey, oldest: &[Seq]) -> chime_store::Result<Option<ThreadSummary>> {
    if memory::is_off(conn, chat)? {
        return Ok(None);
    }
    let Some(found) = thread_summaries::of_messages(conn, chat, oldest.iter().copied(), ANY)? else { return Ok(None) };
    let names = summaries::member_names(conn, chat)?;
    Ok(Some(ThreadSummary { text: members::named(&found.text, &names), ..found }))
}

/// Returns the next messages to summarize, up to `room` tokens, or `None` if all of `oldest` are summarized. If the
/// model `by` is given, it replaces an extract from the start, unless its output was already unusable for it.
fn next_part(
    conn: &Reader,
    chat: ChatKey,
    oldest: &[Seq],
    room: usize,
    by: Option<&str>,
) -> chime_store::Result<Option<ThreadPart>> {
    let stands_for = |below| thread_summaries::of_messages(conn, chat, oldest.iter().copied(), below);
    let is_full =
        |it: &ThreadSummary| it.sources.len() >= MOST_MESSAGES && !oldest.iter().all(|seq| it.sources.contains(seq));
    let before = match stands_for(ANY)? {
        Some(full) if is_full(&full) => stands_for(MOST_MESSAGES)?,
        other => other,
    };
    let is_kept = |it: &&ThreadSummary| it.method == SummaryMethod::Model || by.is_none_or(|model| it.model == model);
    let so_far = before.as_ref().filter(is_kept);
    let known = so_far.map(|it| it.sources.clone()).unwrap_or_default();
    let stood_for = before.iter().flat_map(|it| it.sources.iter().copied());
    let wanted: BTreeSet<Seq> = oldest.iter().copied().chain(stood_for).filter(|seq| !known.contains(seq)).collect();
    let (mut messages, mut spent) = (Vec::new(), 0);
    for seq in wanted {
        let Some(stored) = messages::by_seq(conn, chat, seq)? else { continue };
        spent += estimate_tokens(&stored.message.rendered());
        if spent > room && !messages.is_empty() {
            break;
        }
        messages.push(stored);
    }
    let bullet = |line: &str| Bullet::fact(line, Vec::new());
    let so_far = so_far.map(|it| it.text.lines().map(bullet).collect()).unwrap_or_default();
    Ok((!messages.is_empty()).then_some(ThreadPart { before, so_far, messages }))
}

fn are_as_read(conn: &Reader, chat: ChatKey, read: &[StoredMessage]) -> chime_store::Result<bool> {
    for stored in read {
        if messages::by_seq(conn, chat, stored.seq)?.as_ref() != Some(stored) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn extracted(so_far: Vec<Bullet>, spoken: &[SummaryMessage]) -> NewSummary {
    let new = extract::session(spoken, THREAD_CAPS, estimate_tokens);
    let all: Vec<Bullet> = so_far.into_iter().chain(new).collect();
    let bullets = bullet_selection::most_telling(&all, THREAD_CAPS, estimate_tokens);
    NewSummary::extract(bullets)
}
