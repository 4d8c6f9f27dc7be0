//! Makes the tags and vectors of session summaries.

use std::collections::HashSet;

use crate::extract::SummaryMessage;
use crate::jobs::delimiters::{fence, fenced};
use crate::jobs::error::{StepError, is_given_up};
use crate::jobs::memory::Memory;
use crate::recall::VectorSource;
use crate::tags::{self, MemberNames};
use crate::{members, words};
use chime_access::gateway::ModelPurpose;
use chime_core::embed::Embedder;
use chime_core::prompts::{SummaryValues, Template};
use chime_core::{Bullet, ChatKey, Job, JobPayload, SessionId, Summary, SummaryMethod};
use chime_jobs::{JobOutcome, JobResult};
use chime_store::tags::{self as tag_rows, NewTag};
use chime_store::{Priority, Reader, Writer, chats, jobs, memory, summaries, summary_vectors, topics};

/// Number of a chat's newest summaries among which a word must be rare to become a tag.
const TEXTS: u32 = 200;
/// Minimum number of summaries for [`SPREAD`]: from then on, a word in more than this share of them does not name a
/// topic.
const SPREAD_TEXTS: usize = 12;
const SPREAD: f64 = 0.1;
/// Rarity below which a word is too ordinary for a tag, see [`Embedder::rarity`].
const ORDINARY: f64 = 0.2;
/// Maximum number of missing vectors made per run.
const FILLED_AT_ONCE: u32 = 500;
/// Number of the chat's most used tags that a model is shown, so that it uses them again.
const INVENTORY: u32 = 40;

impl Memory {
    /// Returns tags made without a model: words that several lines of a session share, and that are rare in the chat's
    /// newest summaries.
    pub(super) async fn rare_words(&self, chat: ChatKey, said: &[SummaryMessage]) -> chime_store::Result<Vec<NewTag>> {
        let (texts, names) =
            self.store.read(move |conn| Ok((memory::newest_texts(conn, chat, TEXTS)?, names_of(conn, chat)?))).await?;
        let lines: Vec<&str> = said.iter().filter(|it| it.by.is_some()).map(|it| it.text.as_str()).collect();
        let embedder = match &self.vectors {
            VectorSource::Local(embedder) => Some(&**embedder),
            VectorSource::Server(_) | VectorSource::Off => None,
        };
        Ok(extracted(&lines, &names, &texts, embedder))
    }

    pub async fn tag(&self, job: &Job, id: SessionId) -> JobResult {
        if !self.model.can_write(ModelPurpose::Extract).await {
            return self.finish(job).await;
        }
        let found = self
            .store
            .read(move |conn| {
                let inventory = tag_rows::inventory(conn, id.chat, INVENTORY)?;
                Ok((summaries::mini(conn, id)?, inventory, names_of(conn, id.chat)?))
            })
            .await?;
        let (Some(summary), inventory, members) = found else { return self.finish(job).await };
        let names: Vec<String> = inventory.into_iter().map(|tag| tag.name).collect();
        let (fence, inventory) = (fence(), names.join(", "));
        let values = SummaryValues { fence: &fence, inventory: &inventory, ..SummaryValues::default() };
        let task = self.prompts.summary(Template::Tags, &values)?;
        let text: Vec<&str> = summary.bullets.iter().map(|bullet| bullet.text.as_str()).collect();
        let written = self
            .model
            .ask(id.chat, ModelPurpose::Extract, task, &fenced(&text.join("\n"), &fence), &self.clock)
            .await
            .map_err(|error| StepError::of_ask(&error));
        let parsed = |text: &str| tags::parse(text, &members).map_err(|error| StepError::Unusable(error.to_string()));
        let tags = match written.and_then(|written| parsed(&written.text)) {
            Err(StepError::Unusable(why)) if is_given_up(job) => {
                tracing::warn!(job.id = job.id.0, why, "job {}: the rare words stay the tags of a session", job.id);
                return self.finish(job).await;
            }
            tags => tags?,
        };
        let payload = job.payload.clone();
        self.store
            .write(Priority::Background, move |tx| {
                // If the summary has changed since it was read, its tags are not stored: the newer one has a job of its
                // own.
                if summaries::mini(tx, id)?.as_ref() == Some(&summary) {
                    tag_rows::save(tx, id, &tags)?;
                    topics::touch(tx, id)?;
                }
                jobs::finish(tx, payload.kind(), &payload.key())
            })
            .await?;
        Ok(JobOutcome::Finished)
    }

    /// Runs a `summary_vector` job: requests the vector of a summary from the server and stores it. (A local model
    /// makes the vector together with the summary.)
    pub async fn embed(&self, job: &Job, id: SessionId) -> JobResult {
        let found = self.store.read(move |conn| summaries::mini(conn, id)).await?;
        let (Some(summary), VectorSource::Server(embeddings)) = (found, &self.vectors) else {
            return self.finish(job).await;
        };
        let text = plain(&summary);
        let made =
            embeddings.embed(&[&text], &self.clock).await.map_err(|error| StepError::Model(error.to_string()))?;
        let vector = made.into_iter().next().unwrap_or_default();
        let (payload, model) = (job.payload.clone(), embeddings.model().to_owned());
        let is_kept = self
            .store
            .write(Priority::Background, move |tx| {
                let is_kept = summary_vectors::save(tx, id, summary.built_at, &model, &vector)?;
                jobs::finish(tx, payload.kind(), &payload.key())?;
                Ok(is_kept)
            })
            .await?;
        if !is_kept {
            tracing::info!(chat = id.chat.0, session = %id, "EMBEDDING_MISS");
        }
        Ok(JobOutcome::Finished)
    }
}

impl Memory {
    /// Makes summary vectors that are missing for the current model, newest first. A local model makes them at once;
    /// for a server this enqueues jobs.
    pub async fn fill_in_vectors(&self) -> chime_store::Result<()> {
        let Some(model) = self.vectors.model().map(str::to_owned) else { return Ok(()) };
        let name = model.clone();
        let missing = self.store.read(move |conn| summary_vectors::missing(conn, &name, FILLED_AT_ONCE)).await?;
        for id in missing {
            match &self.vectors {
                VectorSource::Local(embedder) => {
                    let Some(summary) = self.store.read(move |conn| summaries::mini(conn, id)).await? else { continue };
                    let (vector, model) = (embedder.embed(&plain(&summary)), model.clone());
                    let save = move |tx: &Writer<'_>| summary_vectors::save(tx, id, summary.built_at, &model, &vector);
                    self.store.write(Priority::Background, save).await?;
                }
                VectorSource::Server(_) => {
                    let conditions = self.conditions(id.chat).await?;
                    let now = self.clock.now();
                    let enqueue = move |tx: &Writer<'_>| match chats::by_key(tx, id.chat)? {
                        Some(row) => {
                            jobs::add_again(tx, &JobPayload::SummaryVector { chat: row.chat.id, session: id }, now)
                        }
                        None => Ok(()),
                    };
                    if conditions.method() == Some(SummaryMethod::Model) {
                        self.store.write(Priority::Background, enqueue).await?;
                    }
                }
                VectorSource::Off => {}
            }
        }
        Ok(())
    }
}

/// Returns the text of a summary without members' names, as input of the embedding model.
pub(super) fn plain(summary: &Summary) -> String {
    let line = |bullet: &Bullet| members::unnamed(&members::without_authors(&bullet.text));
    summary.bullets.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns the words of the members' names and usernames, which must not become tags.
fn names_of(conn: &Reader, chat: ChatKey) -> chime_store::Result<MemberNames> {
    let members = chats::members(conn, chat)?;
    let names = members.iter().flat_map(|member| [Some(member.name.as_str()), member.username.as_deref()]);
    let names = MemberNames::of(names.flatten());
    Ok(match chats::by_key(conn, chat)? {
        Some(chat) => names.inflected_in(chat.language),
        None => names,
    })
}

/// Returns tags made without a model. A word is rare if few of `texts`, the chat's newest summaries, contain it.
/// With an embedding model, words of everyday talk count less.
fn extracted(lines: &[&str], names: &MemberNames, texts: &[String], embedder: Option<&Embedder>) -> Vec<NewTag> {
    let met: Vec<HashSet<String>> = texts.iter().map(|text| words::all_stems(text)).collect();
    let all = (met.len() + 1) as f64;
    let rarity = |word: &str, stem: &str| {
        let with_it = met.iter().filter(|stems| stems.contains(stem)).count() as f64;
        let is_spread = met.len() >= SPREAD_TEXTS && with_it > SPREAD * met.len() as f64;
        let of_word = embedder.map_or(1.0, |embedder| embedder.rarity(word));
        if is_spread || of_word < ORDINARY {
            0.0
        } else {
            of_word * ((all + 1.0) / (with_it + 1.0)).ln() / (all + 1.0).ln()
        }
    };
    let before =
        texts.iter().flat_map(|text| text.lines()).map(|line| line.split_once(": ").map_or(line, |(_, said)| said));
    tags::extracted(lines, before, names, rarity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{Seq, Timestamp};

    #[test]
    fn plain_text_lacks_names_and_keeps_the_words_of_members() {
        let bullets = vec![Bullet::fact("{u7}: somebody buys gas with {u8}", vec![Seq(1)])];
        let (method, built_at) = (SummaryMethod::Extract, Timestamp::default());
        let summary = Summary { bullets, tokens: 9, method, model: String::new(), built_at };
        assert_eq!(plain(&summary), "somebody buys gas with @");
    }
}
