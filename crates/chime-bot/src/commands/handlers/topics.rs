//! `/topics`: lists the topics of a chat, sets the current topic of a conversation, and merges topics.

use std::collections::BTreeSet;

use crate::commands::handlers::{CommandRequest, Commands};
use crate::commands::topics::{self, ListedTopic, TopicsRequest};
use chime_core::texts::notices;
use chime_core::{ChatKey, Job, JobPayload, Seq};
use chime_jobs::JobResult;
use chime_memory::jobs::active_topics;
use chime_memory::tags::normalized;
use chime_memory::topics::near_pairs;
use chime_store::tags::Tag;
use chime_store::{Reader, Writer, jobs, outbox, summaries, tags, topics as rows};

/// Maximum number of topics in the list.
const LISTED: u32 = 20;
/// Number of tags that are compared to find similar names, and maximum number of pairs that are suggested for merging.
const COMPARED: u32 = 100;
const PAIRS: usize = 3;
/// How many source messages are recorded for a reply with tags, so that forgetting one clears it: sessions of a tag,
/// messages of a session.
const SESSIONS: u32 = 20;
const MESSAGES: u32 = 20;

impl Commands {
    pub(super) async fn topics(&self, job: &Job, command: CommandRequest) -> JobResult {
        match TopicsRequest::parse(&command.args) {
            TopicsRequest::List => self.list_topics(job, &command).await,
            TopicsRequest::Use(slug) => self.use_topic(job, &command, &slug).await,
            TopicsRequest::Merge(from, into) => self.merge_topics(job, &command, &from, &into).await,
            TopicsRequest::Unclear => self.say(job, &command, &command.texts().topics_how).await,
        }
    }

    async fn list_topics(&self, job: &Job, command: &CommandRequest) -> JobResult {
        let (conversation, rules, now) =
            (command.message.conversation(), self.base.config.memory.clone(), self.base.clock.now());
        let (all, active, rests_on) = self
            .base
            .store
            .read(move |conn| {
                let all = tags::inventory(conn, conversation.chat, COMPARED)?;
                let active = active_topics(conn, conversation, &rules, now)?;
                let rests_on = grounds(conn, all.iter().take(LISTED as usize))?;
                Ok((all, active, rests_on))
            })
            .await?;
        let listed: Vec<ListedTopic> = all
            .iter()
            .take(LISTED as usize)
            .map(|tag| ListedTopic {
                slug: tag.name.clone(),
                sessions: tag.sessions,
                is_active: active.contains(&tag.id),
            })
            .collect();
        let slugs: Vec<&str> = all.iter().map(|tag| tag.name.as_str()).collect();
        let markdown = topics::listing(&listed, &near_pairs(&slugs, PAIRS), command.texts());
        self.say_of_tags(job, command, markdown, rests_on, |_| Ok(())).await
    }

    async fn use_topic(&self, job: &Job, command: &CommandRequest, slug: &str) -> JobResult {
        let Some(tag) = self.tag(command.chat.key, slug).await? else {
            return self.say(job, command, &command.texts().topics_unknown).await;
        };
        let (conversation, now) = (command.message.conversation(), self.base.clock.now());
        let find = JobPayload::topic(command.message.message.chat, conversation);
        let (markdown, id) = (topics::set(&tag.name, command.texts()), tag.id);
        let rests_on = self.base.store.read(move |conn| grounds(conn, [&tag])).await?;
        self.say_of_tags(job, command, markdown, rests_on, move |tx| {
            rows::set_by_hand(tx, conversation, id)?;
            jobs::add_or_move(tx, &find, now)
        })
        .await
    }

    async fn merge_topics(&self, job: &Job, command: &CommandRequest, from: &str, into: &str) -> JobResult {
        let (user, usual) = (command.message.message.sender.id, &notices(command.chat.speaks().code()).admins_only);
        if let Some(refusal) = self.refusal_to_change(&command.chat, user, usual).await? {
            return self.say(job, command, refusal).await;
        }
        let (from, into) = (self.tag(command.chat.key, from).await?, self.tag(command.chat.key, into).await?);
        let (Some(from), Some(into)) = (from, into) else {
            return self.say(job, command, &command.texts().topics_unknown).await;
        };
        if from.id == into.id {
            return self.say(job, command, topics::same(&into.name, command.texts())).await;
        }
        let (markdown, ids) = (topics::merged(&from.name, &into.name, command.texts()), (from.id, into.id));
        let rests_on = self.base.store.read(move |conn| grounds(conn, [&from, &into])).await?;
        self.say_of_tags(job, command, markdown, rests_on, move |tx| rows::merge(tx, ids.0, ids.1)).await
    }

    async fn tag(&self, chat: ChatKey, slug: &str) -> chime_store::Result<Option<Tag>> {
        let Some(tag) = normalized(slug, 1.0) else { return Ok(None) };
        self.base.store.read(move |conn| tags::find(conn, chat, &tag.key)).await
    }

    /// Replies with tags, which consist of members' words. The reply's text is deleted when one of the messages with
    /// these words is forgotten.
    async fn say_of_tags<F>(
        &self,
        job: &Job,
        command: &CommandRequest,
        markdown: String,
        rests_on: BTreeSet<Seq>,
        also: F,
    ) -> JobResult
    where
        F: FnOnce(&Writer<'_>) -> chime_store::Result<()> + Send + 'static,
    {
        let (key, chat) = (job.payload.reply_key(), command.chat.key);
        self.answer(job, command, &markdown, move |tx| {
            also(tx)?;
            outbox::note_uses(tx, &key, chat, rests_on)
        })
        .await
    }
}

/// Returns the messages that the tags come from.
fn grounds<'a>(conn: &Reader, named: impl IntoIterator<Item = &'a Tag>) -> chime_store::Result<BTreeSet<Seq>> {
    let mut found = BTreeSet::new();
    for tag in named {
        for session in tags::sessions_with(conn, tag.id, SESSIONS)? {
            found.extend(summaries::grounds(conn, session, MESSAGES)?);
        }
    }
    Ok(found)
}
