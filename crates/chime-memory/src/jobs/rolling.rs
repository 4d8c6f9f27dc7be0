//! Updates the summaries of a chat that cover many sessions: Recent (the last 28 days) and History (everything older).

use std::time::Duration;

use crate::bullet_selection;
use crate::bullets::cost;
use crate::jobs::error::StepError;
use crate::jobs::memory::Memory;
use crate::jobs::new_summary::{NewSummary, summary_of};
use crate::lines;
use crate::policy::{Caps, FOLDED_AT_ONCE, FOLDED_BY_A_MODEL, HISTORY_CAPS, RECENT, RECENT_CAPS};
use chime_core::prompts::Template;
use chime_core::{
    Bullet, ChatId, ChatKey, Conversation, Job, JobPayload, Rolling, Session, SessionId, Summary, SummaryMethod,
    Timestamp, Zone, estimate_tokens,
};
use chime_jobs::{JobOutcome, JobResult};
use chime_store::summaries::{self, RollingSummary};
use chime_store::{Priority, Reader, jobs, memory, sessions};

/// Maximum number of sessions that Recent covers: thirty a day for 28 days.
const SESSIONS: u32 = 840;
/// Recent is made from the newest session summaries, up to this many tokens in full, and from the best bullets of the
/// others.
const NEWEST_TOKENS: usize = 4000;
const OTHERS: Caps = Caps { bullets: 30, tokens: 1800 };
/// Maximum number of tokens that Recent is made from.
pub(super) const CHOSEN_TOKENS: usize = NEWEST_TOKENS + OTHERS.tokens;
/// Delay before the next attempt if an input changed meanwhile.
const CHANGED: Duration = Duration::from_secs(1);

pub(super) type Minis = Vec<(Session, Summary)>;

impl Memory {
    pub async fn roll_recent(&self, job: &Job, chat: ChatKey) -> JobResult {
        let now = self.clock.now();
        let Some(method) = self.conditions(chat).await?.method() else { return self.finish(job).await };
        let minis = self.store.read(move |conn| recent_minis(conn, chat, now)).await?;
        let zone = self.zone_of(Conversation::whole(chat)).await?;
        let room = self.model.material_tokens(CHOSEN_TOKENS);
        let chosen = chosen(&minis, room, now, zone);
        let extract = || {
            let all: Vec<Bullet> = minis.iter().flat_map(|(_, summary)| summary.bullets.clone()).collect();
            extract_of(&all, RECENT_CAPS, Rolling::Recent)
        };
        let made = match method {
            SummaryMethod::Model if !chosen.is_empty() => {
                let shown = lines::told_bullets(chosen.iter().map(|(label, bullet)| (label.as_str(), bullet)));
                let written = self.bullets_of(chat, Template::Recent, &shown, RECENT_CAPS, false).await;
                self.or_extract(job, written, extract)?
            }
            SummaryMethod::Model | SummaryMethod::Extract => extract(),
        };
        let rolling = RollingSummary {
            summary: summary_of(&made, now),
            sessions: u32::try_from(minis.len()).unwrap_or(u32::MAX),
        };
        let (payload, kept) = (job.payload.clone(), rolling.clone());
        let made_of: Vec<(SessionId, Timestamp)> =
            minis.iter().rev().map(|(session, summary)| (session.id, summary.built_at)).collect();
        let is_kept = self
            .store
            .write(Priority::Background, move |tx| {
                if summaries::made_between(tx, chat, now.minus(RECENT), Timestamp::END, SESSIONS)? != made_of {
                    return Ok(false);
                }
                if memory::is_off(tx, chat)? {
                    jobs::finish(tx, payload.kind(), &payload.key())?;
                    return Ok(true);
                }
                summaries::save_rolling(tx, chat, Rolling::Recent, &rolling)?;
                jobs::finish(tx, payload.kind(), &payload.key())?;
                Ok(true)
            })
            .await?;
        if !is_kept {
            return Ok(JobOutcome::WaitUntil(now.plus(CHANGED)));
        }
        report(chat, &kept, &made, "RECENT_SUMMARY_UPDATED", kept.sessions);
        Ok(JobOutcome::Finished)
    }

    pub async fn fold_history(&self, job: &Job, telegram: ChatId, chat: ChatKey) -> JobResult {
        let now = self.clock.now();
        let Some(method) = self.conditions(chat).await?.method() else { return self.finish(job).await };
        let until = now.minus(RECENT);
        let (before, minis, newest, folded, waiting) = self
            .store
            .read(move |conn| {
                let before = summaries::rolling(conn, chat, Rolling::History)?;
                let minis = summaries::to_fold(conn, chat, until, FOLDED_AT_ONCE)?;
                let waiting = summaries::count_to_fold(conn, chat, until)?;
                let (newest, folded) = (sessions::newest_folded(conn, chat)?, sessions::count_folded(conn, chat)?);
                Ok((before, minis, newest, folded, waiting))
            })
            .await?;
        let Some((oldest, _)) = minis.first() else { return self.finish(job).await };
        if newest.is_some_and(|newest| oldest.last.0 < newest) {
            // This session is older than one already folded: History is deleted and folded again in order, so that
            // later statements replace earlier ones.
            self.store.write(Priority::Background, move |tx| summaries::reset_history(tx, chat)).await?;
            return Ok(JobOutcome::WaitUntil(now));
        }
        let method = if waiting > FOLDED_BY_A_MODEL { SummaryMethod::Extract } else { method };
        let made = self.folded(job, chat, method, before.as_ref(), &minis, now).await?;
        let sessions = folded + u32::try_from(minis.len()).unwrap_or(0);
        let after = RollingSummary { summary: summary_of(&made, now), sessions };
        let (kept, count) = (after.clone(), minis.len());
        let folded: Vec<Session> = minis.into_iter().map(|(session, _)| session).collect();
        let is_kept = self
            .store
            .write(Priority::Background, move |tx| {
                let is_kept = summaries::fold(tx, chat, &folded, before.as_ref(), &after)?;
                if is_kept {
                    // The sessions are now in History, so Recent must be made again without them.
                    jobs::add_or_move(tx, &JobPayload::Recent { chat: telegram, key: chat }, now.plus(CHANGED))?;
                }
                Ok(is_kept)
            })
            .await?;
        if is_kept {
            report(chat, &kept, &made, "HISTORY_SUMMARY_UPDATED", u32::try_from(count).unwrap_or(u32::MAX));
        }
        // The job runs again at once: there may be more sessions to fold. After a failure it waits, and then may find
        // other sessions.
        Ok(JobOutcome::WaitUntil(if is_kept { now } else { now.plus(CHANGED) }))
    }

    async fn folded(
        &self,
        job: &Job,
        chat: ChatKey,
        method: SummaryMethod,
        before: Option<&RollingSummary>,
        minis: &Minis,
        now: Timestamp,
    ) -> Result<NewSummary, StepError> {
        let zone = self.zone_of(Conversation::whole(chat)).await?;
        let profile =
            before.into_iter().flat_map(|it| &it.summary.bullets).map(|bullet| ("profile".to_owned(), bullet));
        let new = minis.iter().flat_map(|(session, summary)| {
            summary.bullets.iter().map(|bullet| (zone.short_date(session.first.0, now), bullet))
        });
        let all: Vec<(String, &Bullet)> = profile.chain(new).collect();
        let extract = || {
            let all: Vec<Bullet> = all.iter().map(|(_, bullet)| (*bullet).clone()).collect();
            extract_of(&all, HISTORY_CAPS, Rolling::History)
        };
        let room = self.model.material_tokens(usize::MAX);
        match method {
            // The bullets exceed one prompt, so no model is called.
            SummaryMethod::Model
                if all.iter().map(|(_, bullet)| estimate_tokens(&bullet.text) + 12).sum::<usize>() > room =>
            {
                Ok(extract())
            }
            SummaryMethod::Model => {
                let shown = lines::told_bullets(all.iter().map(|(label, bullet)| (label.as_str(), *bullet)));
                let written = self.bullets_of(chat, Template::History, &shown, HISTORY_CAPS, false).await;
                self.or_extract(job, written, extract)
            }
            SummaryMethod::Extract => Ok(extract()),
        }
    }
}

pub(super) fn extract_of(bullets: &[Bullet], caps: Caps, period: Rolling) -> NewSummary {
    NewSummary::extract(bullet_selection::rolled(bullets, caps, period, estimate_tokens))
}

/// Returns the summaries of the sessions of the last 28 days, oldest first.
fn recent_minis(conn: &Reader, chat: ChatKey, now: Timestamp) -> chime_store::Result<Minis> {
    let mut found = summaries::minis_between(conn, chat, now.minus(RECENT), Timestamp::END, SESSIONS)?;
    found.reverse();
    Ok(found)
}

/// Selects the bullets that Recent is made from, oldest first, each with the date of its session.
pub(super) fn chosen(minis: &Minis, room: usize, now: Timestamp, zone: Zone) -> Vec<(String, Bullet)> {
    let mut spent = 0;
    let others = OTHERS.tokens.min(room / 4);
    let whole = minis
        .iter()
        .rev()
        .take_while(|(_, summary)| {
            spent += summary.tokens;
            spent <= NEWEST_TOKENS.min(room - others)
        })
        .count();
    let (older, newest) = minis.split_at(minis.len() - whole);
    let dated = |minis: &[(Session, Summary)]| -> Vec<(String, Bullet)> {
        minis
            .iter()
            .flat_map(|(session, summary)| {
                summary.bullets.iter().map(|bullet| (zone.short_date(session.first.0, now), bullet.clone()))
            })
            .collect()
    };
    let older = dated(older);
    let shown: Vec<Bullet> = older.iter().map(|(_, bullet)| bullet.clone()).collect();
    let kept = bullet_selection::rolled(&shown, Caps { tokens: others, ..OTHERS }, Rolling::Recent, estimate_tokens);
    debug_assert!(cost(&kept, estimate_tokens) <= OTHERS.tokens);
    older.into_iter().filter(|(_, bullet)| kept.contains(bullet)).chain(dated(newest)).collect()
}

fn report(chat: ChatKey, rolling: &RollingSummary, made: &NewSummary, event: &'static str, sessions: u32) {
    let written = made.written.as_ref();
    tracing::info!(
        chat = chat.0,
        tokens = rolling.summary.tokens,
        sessions,
        method = rolling.summary.method.as_str(),
        model = rolling.summary.model,
        latency_ms = written.map(|it| u64::try_from(it.latency.as_millis()).unwrap_or(u64::MAX)),
        used_tokens = written.map(|it| it.tokens.prompt + it.tokens.completion),
        cost_micros = written.and_then(|it| it.cost_micros),
        "{event}",
    );
}
