//! The summary of a topic, and its slot in the prompt.

use std::collections::BTreeSet;

use crate::jobs::mini::{Made, summary_of};
use crate::jobs::rolling::{CHOSEN_TOKENS, Minis, chosen, extract_of};
use crate::jobs::slots::line;
use crate::jobs::{Memory, StepError, SummaryVectors, divide, reading};
use crate::lines;
use crate::policy::{Means, TOPIC_CAPS};
use crate::topics::{self, KEPT};
use crate::wording::Remembered;
use chime_core::config::MemoryConfig;
use chime_core::prompts::SummaryPrompt;
use chime_core::{
    Bullet, ChatKey, Conversation, Job, Piece, Session, SessionId, Slot, Summary, SummaryMethod, Timestamp, Zone,
};
use chime_jobs::worker::Outcome;
use chime_store::topics::TopicSummary;
use chime_store::{
    Priority, Reader, Writer, chats, memory, sessions, summaries, summary_vectors, tags, topics as rows,
};

/// Sessions with the tag whose summaries a topic's own is made from, the newest.
const SESSIONS: u32 = 300;
/// Attempts in one go, where what it is made from changes meanwhile.
const ATTEMPTS: usize = 2;

/// What the summary of a topic is made from.
#[derive(PartialEq)]
struct Material {
    /// The newest sessions that carry the tag.
    carriers: Vec<SessionId>,
    /// Their summaries and those of their neighbours, oldest first.
    minis: Minis,
}

impl Memory {
    /// Works on a `topic_summary` job.
    pub async fn sum_up_topic(&self, job: &Job, chat: ChatKey, tag: i64) -> Outcome {
        self.outcome(job, self.topic_summed_up(job, chat, tag).await)
    }

    async fn topic_summed_up(&self, job: &Job, chat: ChatKey, tag: i64) -> Result<Outcome, StepError> {
        let means = self.standing(chat).await?.means();
        if means != Means::Nothing {
            self.refresh_topic(Some(job), chat, tag, means).await?;
        }
        self.finish(job).await
    }

    /// Makes the summary of a topic anew where it is missing, stale or old, or a model may now replace an extract.
    /// On the last attempt of a `job` an extract stands in; without one the next look at the topic tries again.
    pub(super) async fn refresh_topic(
        &self,
        job: Option<&Job>,
        chat: ChatKey,
        tag: i64,
        means: Means,
    ) -> Result<(), StepError> {
        for _ in 0..ATTEMPTS {
            let (now, model) = (self.clock.now(), self.vector_model());
            let (kept, material) = self
                .store
                .read(move |conn| Ok((rows::summary(conn, tag)?, material(conn, chat, tag, model.as_deref())?)))
                .await?;
            let is_good = |TopicSummary { summary, is_stale, .. }: &TopicSummary| {
                let is_best = summary.method == SummaryMethod::Model
                    || means != Means::Model
                    || summary.model == self.summary_model();
                is_best && !is_stale && now.since(summary.built_at) < KEPT
            };
            if kept.as_ref().is_some_and(is_good) || material.minis.is_empty() {
                return Ok(());
            }
            let made = self.topic_made((job, chat), &material.minis, means, now).await?;
            if self.keep_topic(chat, tag, material, made, now).await? {
                return Ok(());
            }
        }
        Err(StepError::Model("its summaries keep changing".to_owned()))
    }

    async fn topic_made(
        &self,
        (job, chat): (Option<&Job>, ChatKey),
        minis: &Minis,
        means: Means,
        now: Timestamp,
    ) -> Result<Made, StepError> {
        let zone = self.zone_of(chat).await?;
        let extract = || {
            let all: Vec<Bullet> = minis.iter().flat_map(|(_, summary)| summary.bullets.clone()).collect();
            extract_of(&all, TOPIC_CAPS, &mut self.ranking())
        };
        match means {
            Means::Model => {
                let room = self.model.material_tokens(CHOSEN_TOKENS);
                let chosen = chosen(minis, room, (now, zone), &mut self.ranking());
                let told = lines::told_bullets(chosen.iter().map(|(label, bullet)| (label.as_str(), bullet)));
                let written = self.bullets_of(chat, SummaryPrompt::Topic, &told, TOPIC_CAPS, false).await;
                match job {
                    Some(job) => self.or_extract(job, written, extract),
                    None => written,
                }
            }
            Means::Extract | Means::Nothing => Ok(extract()),
        }
    }

    /// False where what it was made from has changed meanwhile: what was forgotten does not come back.
    async fn keep_topic(
        &self,
        chat: ChatKey,
        tag: i64,
        material: Material,
        made: Made,
        now: Timestamp,
    ) -> Result<bool, StepError> {
        let summary = summary_of(&made, now);
        let (tokens, source_count, method) = (summary.tokens, material.minis.len(), summary.method);
        let is_kept = self
            .store
            .write(Priority::Background, move |tx| {
                let is_same = !memory::is_off(tx, chat)? && is_as_read(tx, tag, &material)?;
                if is_same {
                    let ids: Vec<SessionId> = material.minis.iter().map(|(session, _)| session.id).collect();
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

    fn vector_model(&self) -> Option<String> {
        match &self.vectors {
            SummaryVectors::Off => None,
            SummaryVectors::Local { name, .. } => Some(name.clone()),
            SummaryVectors::Server(embeddings) => Some(embeddings.model().to_owned()),
        }
    }
}

fn material(conn: &Reader, chat: ChatKey, tag: i64, model: Option<&str>) -> chime_store::Result<Material> {
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
    Ok(Material { carriers, minis })
}

fn is_as_read(tx: &Writer<'_>, tag: i64, read: &Material) -> chime_store::Result<bool> {
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

/// The summaries of the topics of a conversation, as slots of a prompt: none where the session that they were found in has
/// ended.
pub fn topic_pieces(
    conn: &Reader,
    conversation: Conversation,
    rules: (&MemoryConfig, Zone),
    now: Timestamp,
) -> chime_store::Result<Vec<Piece>> {
    let shown = remembered_topics(conn, conversation, rules, now)?;
    let piece = |(slug, remembered): (String, Remembered)| {
        let (summary, _) = remembered.recent.as_ref()?;
        let lines = summary.bullets.iter().filter_map(|bullet| line(bullet, &remembered)).collect();
        Some(Piece { slot: Slot::ChatTopic, topic: Some(slug), lines })
    };
    Ok(shown.into_iter().filter_map(piece).collect())
}

/// The topics of a conversation by their slugs, with their summaries ready to be shown as that of `recent`.
pub fn remembered_topics(
    conn: &Reader,
    conversation: Conversation,
    (config, zone): (&MemoryConfig, Zone),
    now: Timestamp,
) -> chime_store::Result<Vec<(String, Remembered)>> {
    let Some(chat) = chats::by_key(conn, conversation.chat)? else { return Ok(Vec::new()) };
    let mut shown = Vec::new();
    for tag in active_topics(conn, conversation, config, now)? {
        if let (Some(slug), Some(kept)) = (rows::name(conn, tag)?, rows::summary(conn, tag)?) {
            let TopicSummary { summary, sessions, .. } = kept;
            shown.push((slug, reading::with_places(conn, &chat, zone, (Some((summary, sessions)), None))?));
        }
    }
    Ok(shown)
}

/// The tags that a conversation is about at `now`, the best first.
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
    // What a member set counts for the session that comes, too.
    let Some(opener) = state.opener else { return Ok(state.active) };
    let open = divide::open_session(conn, conversation, config, now)?;
    Ok(if open.is_some_and(|open| open.opener == opener) { state.active } else { Vec::new() })
}
