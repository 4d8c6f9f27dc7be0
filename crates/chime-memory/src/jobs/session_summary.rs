//! Summarizes a session, then stores its tags and vector, and enqueues updates of Recent and History.

use std::time::Duration;

use crate::bullets;
use crate::extract;
use crate::jobs::delimiters::{fence, fenced};
use crate::jobs::error::StepError;
use crate::jobs::load::SessionRead;
use crate::jobs::memory::Memory;
use crate::jobs::model::ModelOutput;
use crate::jobs::new_summary::{NewSummary, chars, summary_of};
use crate::jobs::{divide, items, tagging};
use crate::lines::{self, NumberedLines};
use crate::policy::{Caps, MINI, RECENT};
use crate::recall::VectorSource;
use chime_access::gateway::ModelPurpose;
use chime_core::prompts::{SummaryValues, Template};
use chime_core::{
    Bullet, Conversation, Job, JobPayload, Seq, Session, SessionId, Summary, SummaryMethod, Timestamp, estimate_tokens,
};
use chime_jobs::{JobOutcome, JobResult};
use chime_store::{
    Priority, Writer, item_marks, jobs, memory, sessions, summaries, summary_vectors, tags as tag_rows, topics,
};

/// Maximum number of tokens of a session per model call. Longer sessions are summarized in parts.
const PART_TOKENS: usize = 6000;
/// Delay before Recent is updated. Several sessions of a chat often end together and then cause a single update.
const SETTLES: Duration = Duration::from_secs(5);

impl Memory {
    pub async fn summarize(&self, job: &Job, id: SessionId) -> JobResult {
        let Some(read) = self.read_session(id).await? else { return self.finish(job).await };
        let conditions = self.conditions(id.chat).await?;
        if conditions.must_be_told() {
            let (announce, now) = (JobPayload::Announce { chat: read.chat.chat.id }, self.clock.now());
            self.store.write(Priority::Background, move |tx| jobs::add_unless_due(tx, &announce, now)).await?;
            self.wake.wake();
        }
        let Some(method) = conditions.method() else { return self.finish(job).await };
        let session = read.session.clone();
        let open = self.store.read(move |conn| items::open_before(conn, &session)).await?;
        if !read.has_substance {
            // Too short for a summary, but the session may report that a task is done.
            let closes = extract::closed(&open, &read.spoken);
            return self.keep(job, read, None, closes).await;
        }
        let extract = || extracted(&read, &open);
        let made = match method {
            SummaryMethod::Model => self.or_extract(job, self.written(&read, &open).await, extract)?,
            SummaryMethod::Extract => extract(),
        };
        let closes = made.closes.clone();
        // An extract without bullets is kept too, so that a model may replace it.
        self.keep(job, read, Some(made), closes).await
    }

    /// Summarizes a session with the model. A long session is summarized in parts, whose summaries are then merged.
    async fn written(&self, read: &SessionRead, open: &[Bullet]) -> Result<NewSummary, StepError> {
        let chat = read.session.id.chat;
        let room = self.model.material_tokens(PART_TOKENS);
        let zone = self.zone_of(Conversation { chat, forum_topic: read.session.forum_topic }).await?;
        let mut parts = lines::parts(&read.spoken, room, estimate_tokens, zone);
        let open = items::touched(open, &read.spoken);
        parts.iter_mut().for_each(|part| part.add_open(&open));
        let (caps, mut merges) = (self.model.limit(MINI), false);
        // Merges the summaries of the parts, in several rounds if they exceed one prompt.
        while parts.len() > 1 {
            let mut found: Vec<Bullet> = Vec::new();
            for part in &parts {
                found.extend(self.bullets_of(chat, Template::Mini, part, caps, merges).await?.bullets);
            }
            let merged = lines::bullet_parts(&found, room, estimate_tokens);
            // Merging does not make them shorter, so it would never end. The caller uses an extract instead.
            if merged.len() >= parts.len() {
                return Err(StepError::Unusable("the parts of a long session do not get shorter".to_owned()));
            }
            (parts, merges) = (merged, true);
        }
        let input = parts.pop().unwrap_or_default();
        let mut made = self.bullets_of(chat, Template::Mini, &input, caps, merges).await?;
        items::close_cited(&mut made, &open);
        Ok(made)
    }

    /// Asks the model for bullets and checks them against their sources. If they exceed the caps, asks once for a
    /// shorter version, and then drops the last bullets.
    pub(super) async fn bullets_of(
        &self,
        chat: chime_core::ChatKey,
        prompt: Template,
        input: &NumberedLines,
        caps: Caps,
        merges: bool,
    ) -> Result<NewSummary, StepError> {
        let mut shorter = false;
        loop {
            let fence = fence();
            let (has_open, topic) = (input.has_open, &*input.topic);
            let values = SummaryValues { fence: &fence, shorter, merges, has_open, topic, inventory: "" };
            let task = self.prompts.summary(prompt, &values)?;
            let written = self
                .model
                .ask(chat, ModelPurpose::Summary, task, &fenced(&input.text, &fence), &self.clock)
                .await
                .map_err(|error| StepError::of_ask(&error))?;
            let found = bullets::parse(&written.text, &input.grounds);
            if found.is_empty() {
                return Err(StepError::Unusable("no bullet of the summary rests on what was given".to_owned()));
            }
            let is_over = found.len() > caps.bullets || bullets::cost(&found, estimate_tokens) > caps.tokens;
            if is_over && !shorter {
                shorter = true;
                continue;
            }
            let bullets = bullets::capped(found, caps.bullets, caps.tokens, estimate_tokens);
            return Ok(NewSummary {
                method: SummaryMethod::Model,
                written: Some(written),
                ..NewSummary::extract(bullets)
            });
        }
    }

    /// Stores the summary with its tags and vector, and ends the job. Stores nothing if the messages have changed since
    /// they were read.
    async fn keep(&self, job: &Job, read: SessionRead, made: Option<NewSummary>, closes: Vec<Seq>) -> JobResult {
        let SessionRead { session, spoken, .. } = read;
        let now = self.clock.now();
        let summary = made.as_ref().map(|made| summary_of(made, now));
        let with_words = summary.as_ref().filter(|summary| !summary.bullets.is_empty());
        let (vector, server_makes_it) = match (&self.vectors, with_words) {
            (VectorSource::Local(embedder), Some(summary)) => {
                (Some((embedder.name().to_owned(), embedder.embed(&tagging::plain(summary)))), false)
            }
            (VectorSource::Server(_), Some(summary)) => (None, summary.method == SummaryMethod::Model),
            (VectorSource::Off, _) | (_, None) => (None, false),
        };
        let (kept, payload, id, ended) = (summary.clone(), job.payload.clone(), session.id, session.clone());
        let tags = match &summary {
            Some(_) => self.rare_words(id.chat, &spoken).await?,
            None => Vec::new(),
        };
        let stored = self
            .store
            .write(Priority::Background, move |tx| {
                let is_kept = !memory::is_off(tx, id.chat)?
                    && divide::is_as_divided(tx, &session)?
                    && match &summary {
                        Some(summary) => summaries::save_mini(tx, &session, summary)?,
                        None => summaries::settle_without(tx, &session)?,
                    };
                if is_kept {
                    tag_rows::save(tx, session.id, &tags)?;
                    item_marks::close(tx, session.id, &closes, session.last.0)?;
                    follow(tx, &session, summary.as_ref(), vector.as_ref(), server_makes_it, now)?;
                }
                jobs::finish(tx, payload.kind(), &payload.key())?;
                Ok(is_kept)
            })
            .await?;
        self.wake.wake();
        if let (true, Some(summary)) = (stored, &kept) {
            report(&ended, summary, made.and_then(|made| made.written).as_ref(), now);
        }
        Ok(JobOutcome::Finished)
    }
}

fn report(session: &Session, summary: &Summary, written: Option<&ModelOutput>, now: Timestamp) {
    macro_rules! log {
        ($level:ident) => {
            tracing::$level!(
                chat = session.id.chat.0, session = %session.id, method = summary.method.as_str(), chars = chars(summary),
                tokens = summary.tokens, model = summary.model,
                latency_ms = written.map(|it| u64::try_from(it.latency.as_millis()).unwrap_or(u64::MAX)),
                used_tokens = written.map(|it| it.tokens.prompt + it.tokens.completion),
                cost_micros = written.and_then(|it| it.cost_micros),
                "MINI_SUMMARY_BUILT",
            )
        };
    }
    if now.since(session.last.0) > divide::LONG_AGO { log!(debug) } else { log!(info) }
}

/// Stores the vector of a session's new summary, and enqueues the jobs that depend on the summary or on its absence.
fn follow(
    tx: &Writer<'_>,
    session: &Session,
    summary: Option<&Summary>,
    vector: Option<&(String, Vec<f32>)>,
    server_makes_it: bool,
    now: Timestamp,
) -> chime_store::Result<()> {
    // Reads the session again, because it may have been merged into History meanwhile.
    let is_folded = sessions::find(tx, session.id)?.is_some_and(|session| session.is_folded);
    if is_folded {
        summaries::reset_history(tx, session.id.chat)?;
    }
    let Some(row) = chime_store::chats::by_key(tx, session.id.chat)? else { return Ok(()) };
    let (chat, key) = (row.chat.id, session.id.chat);
    if let Some(summary) = summary {
        if let Some((model, vector)) = vector {
            summary_vectors::save(tx, session.id, summary.built_at, model, vector)?;
        }
        if summary.method == SummaryMethod::Model {
            jobs::add_or_move(tx, &JobPayload::Tags { chat, session: session.id }, now)?;
        }
        if server_makes_it {
            jobs::add_or_move(tx, &JobPayload::SummaryVector { chat, session: session.id }, now)?;
        }
    }
    topics::touch(tx, session.id)?;
    let is_recent = session.last.0 > now.minus(RECENT);
    // A session that lost its summary when it left the period of Recent may still be in it.
    if is_recent || summary.is_none() {
        jobs::add_or_move(tx, &JobPayload::Recent { chat, key }, now.plus(SETTLES))?;
    }
    if !is_recent || is_folded {
        jobs::add_or_move(tx, &JobPayload::History { chat, key }, now.plus(SETTLES))?;
    }
    Ok(())
}

fn extracted(read: &SessionRead, open: &[Bullet]) -> NewSummary {
    let bullets = extract::session(&read.spoken, MINI, estimate_tokens);
    let items: Vec<Bullet> = open.iter().chain(&bullets).filter(|bullet| extract::is_item(bullet)).cloned().collect();
    let closes = extract::closed(&items, &read.spoken);
    NewSummary { closes, ..NewSummary::extract(bullets) }
}
