//! Summarizes a topic, and formats the summaries of topics for the prompt.

use std::collections::BTreeSet;

use crate::jobs::error::StepError;
use crate::jobs::memory::Memory;
use crate::jobs::memory_lines::line;
use crate::jobs::new_summary::{NewSummary, summary_of};
use crate::jobs::rolling::{CHOSEN_TOKENS, Minis, chosen, extract_of};
use crate::jobs::{divide, load};
use crate::lines::{self, NumberedLines};
use crate::policy::TOPIC_CAPS;
use crate::topics::{self, KEPT};
use crate::wording::Remembered;
use chime_core::config::MemoryConfig;
use chime_core::prompts::Template;
use chime_core::{
    Bullet, ChatKey, Conversation, Job, Piece, Rolling, Session, SessionId, Slot, Summary, SummaryMethod, Timestamp,
    Zone,
};
use chime_jobs::JobResult;
use chime_store::topics::TopicSummary;
use chime_store::{
    Priority, Reader, Writer, chats, memory, sessions, summaries, summary_vectors, tags, topics as rows,
};

/// Maximum number of sessions with the tag, the newest first, from which a topic's summary is made.
const SESSIONS: u32 = 300;
/// Number of attempts per run: if the input changes meanwhile, the summary is made again.
const ATTEMPTS: usize = 2;

/// Sessions and summaries that a topic's summary is made from.
#[derive(PartialEq)]
struct TopicSummaryInput {
    topic: String,
    /// Newest sessions that have the topic's tag.
    carriers: Vec<SessionId>,
    /// Summaries of these sessions and of sessions with similar vectors, oldest first.
    minis: Minis,
}

impl Memory {
    pub async fn sum_up_topic(&self, job: &Job, chat: ChatKey, tag: i64) -> JobResult {
        if let Some(method) = self.conditions(chat).await?.method() {
            self.refresh_topic(Some(job), chat, tag, method).await?;
        }
        self.finish(job).await
    }

    /// Updates the summary of a topic if it is missing, stale or old, or if a model may replace an extract. If the
    /// model's output is unusable, the last attempt of `job` makes an extract. Without a job there is none: the next
    /// check of the topic tries again.
    pub(super) async fn refresh_topic(
        &self,
        job: Option<&Job>,
        chat: ChatKey,
        tag: i64,
        method: SummaryMethod,
    ) -> Result<(), StepError> {
        for _ in 0..ATTEMPTS {
            let (now, model) = (self.clock.now(), self.vectors.model().map(str::to_owned));
            let (kept, input) = self
                .store
                .read(move |conn| Ok((rows::summary(conn, tag)?, load_input(conn, chat, tag, model.as_deref())?)))
                .await?;
            let is_good = |TopicSummary { summary, is_stale, .. }: &TopicSummary| {
                let is_best = summary.method == SummaryMethod::Model
                    || method != SummaryMethod::Model
                    || summary.model == self.summary_model();
                is_best && !is_stale && now.since(summary.built_at) < KEPT
            };
            if kept.as_ref().is_some_and(is_good) || input.minis.is_empty() {
                return Ok(());
            }
            let made = self.topic_made(job, chat, &input, method, now).await?;
            if self.keep_topic(chat, tag, input, made, now).await? {
                return Ok(());
            }
        }
        Err(StepError::Model("its summaries keep changing".to_owned()))
    }

    async fn topic_made(
        &self,
        job: Option<&Job>,
        chat: ChatKey,
        input: &TopicSummaryInput,
        method: SummaryMethod,
        now: Timestamp,
    ) -> Result<NewSummary, StepError> {
        let TopicSummaryInput { topic, minis, .. } = input;
        let zone = self.zone_of(Conversation::whole(chat)).await?;
        let extract = || {
            let all: Vec<Bullet> = minis.iter().flat_map(|(_, summary)| summary.bullets.clone()).collect();
            extract_of(&all, TOPIC_CAPS, Rolling::Recent)
        };
        match method {
            SummaryMethod::Model => {
                let room = self.model.material_tokens(CHOSEN_TOKENS);
                let chosen = chosen(minis, room, now, zone);
                let actual = lines::told_bullets(chosen.iter().map(|(label, bullet)| (label.as_str(), bullet)));
                let actual = NumberedLines { topic: topic.clone(), ..actual };
                let written = self.bullets_of(chat, Template::Topic, &actual, TOPIC_CAPS, false).await;
                match job {
                    Some(job) => self.or_extract(job, written, extract),
                    None => written,
                }
            }
            SummaryMethod::Extract => Ok(extract()),
        }
    }

    /// Stores the summary. Returns `false` without storing it if its input has changed meanwhile: it could contain a
    /// message that was just forgotten.
    async fn keep_topic(
        &self,
        chat: ChatKey,
        tag: i64,
        input: TopicSummaryInput,
        made: NewSummary,
        now: Timestamp,
    ) -> Result<bool, StepError> {
        let summary = summary_of(&made, now);
        let (tokens, source_count, method) = (summary.tokens, input.minis.len(), summary.method);
        let is_kept = self
            .store
            .write(Priority::Background, move |tx| {
                let is_same = !memory::is_off(tx, chat)? && is_as_read(tx, tag, &input)?;
                if is_same {
                    let ids: Vec<SessionId> = input.minis.iter().map(|(session, _)| session.id).collect();
                    rows::save_summary(tx, tag, &summary, &ids)?;
                }
                Ok(is_same)
            })
            .await?;
        let written = made.written.as_ref();
        if is_kept {
            tracing::info!(
                chat = chat.0,
                topic = tag,
                source_count,
                tokens,
                method = method.as_str(),
                model = written.map(|it| it.model.as_str()),
                latency_ms = written.map(|it| u64::try_from(it.latency.as_millis()).unwrap_or(u64::MAX)),
                used_tokens = written.map(|it| it.tokens.prompt + it.tokens.completion),
                cost_micros = written.and_then(|it| it.cost_micros),
                "TOPIC_SUMMARY_BUILT",
            );
        }
        Ok(is_kept)
    }
}

fn load_input(conn: &Reader, chat: ChatKey, tag: i64, model: Option<&str>) -> chime_store::Result<TopicSummaryInput> {
    let carriers = tags::sessions_with(conn, tag, SESSIONS)?;
    let vectors = match model {
        Some(model) if !carriers.is_empty() => summary_vectors::of_chat(conn, chat, model)?,
        Some(_) | None => Vec::new(),
    };
    let neighbours = topics::neighbours(&carriers.iter().copied().collect::<BTreeSet<_>>(), &vectors);
    let mut minis: Vec<(Session, Summary)> = Vec::new();
    for id in carriers.iter().chain(&neighbours) {
        if let (Some(session), Some(summary)) = (sessions::find(conn, *id)?, summaries::mini(conn, *id)?) {
            minis.push((session, summary));
        }
    }
    minis.sort_by_key(|(session, _)| (session.last, session.id));
    Ok(TopicSummaryInput { topic: rows::name(conn, tag)?.unwrap_or_default(), carriers, minis })
}

fn is_as_read(tx: &Writer<'_>, tag: i64, read: &TopicSummaryInput) -> chime_store::Result<bool> {
    if tags::sessions_with(tx, tag, SESSIONS)? != read.carriers {
        return Ok(false);
    }
    for (session, summary) in &read.minis {
        if summaries::mini(tx, session.id)?.as_ref() != Some(summary) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the summaries of a conversation's topics as lines for the prompt. Topics belong to a session, so there are
/// none after its end.
pub fn topic_pieces(
    conn: &Reader,
    conversation: Conversation,
    config: &MemoryConfig,
    zone: Zone,
    now: Timestamp,
) -> chime_store::Result<Vec<Piece>> {
    let shown = remembered_topics(conn, conversation, config, zone, now)?;
    let piece = |(slug, remembered): (String, Remembered)| {
        let (summary, _) = remembered.recent.as_ref()?;
        let lines = summary.bullets.iter().filter_map(|bullet| line(bullet, &remembered)).collect();
        Some(Piece { slot: Slot::ChatTopic, topic: Some(slug), lines })
    };
    Ok(shown.into_iter().filter_map(piece).collect())
}

/// Returns the topics of a conversation by slug, each with its summary in the `recent` field of [`Remembered`], ready
/// for display.
pub fn remembered_topics(
    conn: &Reader,
    conversation: Conversation,
    config: &MemoryConfig,
    zone: Zone,
    now: Timestamp,
) -> chime_store::Result<Vec<(String, Remembered)>> {
    let Some(chat) = chats::by_key(conn, conversation.chat)? else { return Ok(Vec::new()) };
    let mut shown = Vec::new();
    for tag in active_topics(conn, conversation, config, now)? {
        if let (Some(slug), Some(kept)) = (rows::name(conn, tag)?, rows::summary(conn, tag)?) {
            let TopicSummary { summary, sessions, .. } = kept;
            shown.push((slug, load::with_places(conn, &chat, zone, Some((summary, sessions)), None)?));
        }
    }
    Ok(shown)
}

/// Returns the row numbers of the tags that are topics of a conversation at `now`, best first.
pub fn active_topics(
    conn: &Reader,
    conversation: Conversation,
    config: &MemoryConfig,
    now: Timestamp,
) -> chime_store::Result<Vec<i64>> {
    let Some(state) = rows::state(conn, conversation)?.filter(|state| !state.active.is_empty()) else {
        return Ok(Vec::new());
    };
    if memory::is_off(conn, conversation.chat)? {
        return Ok(Vec::new());
    }
    // Without a session, the topic was set by a member and applies to the next one.
    let Some(opener) = state.opener else { return Ok(state.active) };
    let open = divide::open_session(conn, conversation, config, now)?;
    Ok(if open.is_some_and(|open| open.opener == opener) { state.active } else { Vec::new() })
}
