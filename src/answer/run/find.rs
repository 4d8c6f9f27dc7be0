//! From a job to its question: what is read of the store, and what is worked out of it in between.

use std::sync::Arc;

use anyhow::Context;

use crate::answer::run::Answering;
use crate::answer::run::question::{Found, Gathered, Question, Reading, Windowed};
use crate::context::run::window_around;
use crate::context::{Focused, History, Params};
use crate::domain::{Job, MessageAt, ParsedTrigger};
use crate::gateway::Purpose;
use crate::retrieval::Recalled;

impl Answering {
    pub(super) async fn find(
        &self,
        job: &Job,
        at: MessageAt,
        parsed: &ParsedTrigger,
    ) -> anyhow::Result<Found<Question>> {
        let reading = Arc::new(self.reading());
        let (first, matter, parsed) = (Arc::clone(&reading), job.payload.matter(), parsed.clone());
        let found = self.parts.store.read(move |conn| first.gather(conn, at, &parsed, matter)).await?;
        let gathered: Arc<Gathered> = match found {
            Found::Ready(gathered) => Arc::from(gathered),
            Found::Gone => return Ok(Found::Gone),
            Found::Answered => return Ok(Found::Answered),
            Found::Old(trigger) => return Ok(Found::Old(trigger)),
        };
        let windowed = self.windowed(Arc::clone(&reading), Arc::clone(&gathered));
        let (second, about) = (Arc::clone(&reading), Arc::clone(&gathered));
        let beside = self.parts.store.read(move |conn| second.beside(conn, &about));
        let (windowed, beside) = tokio::join!(windowed, beside);
        let (windowed, beside) = (windowed?, beside?);
        let gathered = Arc::unwrap_or_clone(gathered);
        let question = move |conn: &_| reading.complete(conn, gathered, windowed, beside);
        let question = self.parts.store.read(question).await?;
        Ok(Found::Ready(Box::new(question)))
    }

    /// Picks what the trigger is about, and makes the window around it.
    async fn windowed(&self, reading: Arc<Reading>, gathered: Arc<Gathered>) -> anyhow::Result<Windowed> {
        let focused = picked(Arc::clone(&gathered.history), gathered.params.clone()).await?;
        Ok(self.parts.store.read(move |conn| Ok(reading.window(conn, &gathered, focused))).await?)
    }

    fn reading(&self) -> Reading {
        let now = self.parts.clock.now();
        Reading {
            params: self.parts.params.clone(),
            zone: self.parts.zone,
            strands: self.parts.strands.clone(),
            model: self.parts.gateway.model_name(Purpose::Answer).to_owned(),
            bot: self.parts.bot.id,
            idle: self.parts.idle,
            readings: Arc::clone(&self.parts.readings),
            recaller: Arc::clone(&self.parts.recaller),
            enrichers: self.parts.enrichers.clone(),
            introduction: self.parts.introduction.clone(),
            access: self.parts.access.clone(),
            max_age: self.parts.backlog_max_age,
            now,
            there: self.parts.telegram.server_date().unwrap_or(now),
        }
    }

    /// The same question with half of the room for its window.
    pub(super) async fn halve(&self, question: &mut Question) -> anyhow::Result<()> {
        let params = Params { token_budget: question.room / 2, ..self.parts.params.clone() };
        let summarized = question.oldest_part.summarized(params.estimate);
        let history = Arc::clone(&question.history);
        let focused = picked(Arc::clone(&history), params.clone()).await?;
        let recaller = Arc::clone(&self.parts.recaller);
        let window = move |conn: &_| Ok(window_around(conn, (&history, focused), &params, &recaller, |_| summarized));
        question.window = self.parts.store.read(window).await?;
        // What was recalled gives way first.
        question.recalled = Recalled::default();
        Ok(())
    }
}

/// Picks what a trigger is about. It takes longer than all reading, and no reader of the store waits for it.
async fn picked(history: Arc<History>, params: Params) -> anyhow::Result<Focused> {
    tokio::task::spawn_blocking(move || Focused::of(&history, &params))
        .await
        .context("picking what the trigger is about")
}
