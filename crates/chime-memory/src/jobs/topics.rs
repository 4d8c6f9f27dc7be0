//! Finds the topic of a conversation: scores the chat's tags by the latest messages, and asks a model if the scores are
//! close.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde_json::json;

use crate::jobs::delimiters::{fence, fenced};
use crate::jobs::divide;
use crate::jobs::error::StepError;
use crate::jobs::memory::Memory;
use crate::jobs::model::{ModelOutput, ModelRequest};
use crate::recall::VectorSource;
use crate::topics::{self, Inferred, Signals, TopicCandidate, TopicDecision};
use crate::words;
use chime_access::gateway::ModelPurpose;
use chime_core::prompts::{SummaryValues, Template};
use chime_core::{ChatKey, Conversation, Job, Role, Seq, SessionId, StoredMessage, SummaryMethod};
use chime_jobs::{JobOutcome, JobResult};
use chime_llm::AnswerFormat;
use chime_store::topics::{TopicState, TopicTag};
use chime_store::{Priority, jobs, messages, summary_vectors, topics as rows};

/// Number of the latest messages by members that decide about the topic.
const LAST_MESSAGES: usize = 5;
/// Number of the latest messages by members of which one must mention the topic for it to stay.
const KEPT_MESSAGES: usize = 10;
/// Maximum number of tags that are scored (the most used), and of sessions per tag (the newest).
const TAGS: u32 = 150;
const SESSIONS_OF_TAG: u32 = 20;
/// Number of tags that a model is shown in addition to the candidates.
const OTHER_TAGS: usize = 40;
/// Delay before retrying if the state changed meanwhile.
const CHANGED: Duration = Duration::from_secs(1);

/// Conversation with everything needed to find its topic.
struct TopicInput {
    /// State as it is stored: the result is discarded if the stored state changes meanwhile.
    before: TopicState,
    /// State to start from, which belongs to the open session.
    state: TopicState,
    opener: Seq,
    turn: u32,
    /// Newest trigger of the session that the bot answered after the last model call; `None` if there is none, and the
    /// model is then not asked.
    answered: Option<Seq>,
    /// The last [`KEPT_MESSAGES`] messages of members.
    said: Vec<StoredMessage>,
    tags: Vec<TopicTag>,
}

impl TopicInput {
    fn latest(&self) -> &[StoredMessage] {
        &self.said[self.said.len().saturating_sub(LAST_MESSAGES)..]
    }

    /// Returns `true` if a topic is no longer talked of: it is not new, and no message mentions it or is much like it.
    fn has_lapsed(&self, tag: i64, candidates: &[TopicCandidate]) -> bool {
        let is_new = self.turn.saturating_sub(self.state.adopted_at) < KEPT_MESSAGES as u32;
        let forms = forms_of(&self.tags, tag);
        let mentions = |one: &StoredMessage| topics::mentions(&words::stems(&one.message.text), forms);
        let is_like = candidates.iter().any(|one| one.tag == tag && topics::is_likely(one));
        !is_new && !is_like && !self.said.iter().any(mentions)
    }
}

/// Scored tags, and the tags that the messages mention.
struct ScoredTags {
    candidates: Vec<TopicCandidate>,
    mentioned: BTreeSet<i64>,
}

impl Memory {
    pub async fn find_topic(&self, job: &Job, conversation: Conversation) -> JobResult {
        let chat = conversation.chat;
        let conditions = self.conditions(chat).await?;
        let set_by_hand = self.store.read(move |conn| set_by_hand(conn, conversation)).await?;
        let is_wanted = conditions.was_asked_lately || !set_by_hand.is_empty();
        let Some(method) = conditions.method().filter(|_| is_wanted) else {
            return self.wait_for_turns(job, conversation).await;
        };
        let Some(talk) = self.talk(conversation).await? else {
            // No session is open: the topic that a member has set applies to the next one. Its summary is made now.
            self.refresh_topics(chat, set_by_hand, method).await;
            return self.wait_for_turns(job, conversation).await;
        };
        let is_due =
            topics::is_due(talk.turn, talk.state.evaluated_at) || talk.state.is_undecided && talk.answered.is_some();
        let is_set = talk.before.opener.is_none() && !talk.state.active.is_empty();
        // No new message came after the stored scoring: the process was probably stopped before it updated the
        // summaries.
        let was_cut_off = talk.turn == talk.state.evaluated_at;
        let state = match (is_set, is_due) {
            (true, _) => TopicState { evaluated_at: talk.turn, adopted_at: talk.turn, ..talk.state.clone() },
            (false, true) => self.evaluated(chat, &talk, method).await?,
            (false, false) => talk.state.clone(),
        };
        let state = TopicState { turns_left: topics::turns_left(talk.turn), ..state };
        let (active, before) = (state.active.clone(), talk.before);
        let is_kept = self
            .store
            .write(Priority::Background, move |tx| {
                let now = rows::state(tx, conversation)?.unwrap_or_default();
                // If a member has set a topic meanwhile, the job starts again. A changed countdown (`turns_left`) does
                // not matter.
                let is_same = TopicState { turns_left: before.turns_left, ..now } == before;
                if is_same {
                    rows::save_state(tx, conversation, &state)?;
                }
                Ok(is_same)
            })
            .await?;
        if !is_kept {
            return Ok(JobOutcome::WaitUntil(self.clock.now().plus(CHANGED)));
        }
        if is_set || is_due || was_cut_off {
            self.refresh_topics(chat, active, method).await;
        }
        self.finish(job).await
    }

    /// Updates the summaries of topics. Errors are only logged: a topic needs no summary, and the next check tries
    /// again.
    async fn refresh_topics(&self, chat: ChatKey, tags: Vec<i64>, method: SummaryMethod) {
        for tag in tags {
            if let Err(error) = self.refresh_topic(None, chat, tag, method).await {
                tracing::warn!(chat = chat.0, topic = tag, %error, "the summary of a topic was not made");
            }
        }
    }

    /// Ends the job without scoring, and restarts the countdown of messages to the next scoring.
    async fn wait_for_turns(&self, job: &Job, conversation: Conversation) -> JobResult {
        let payload = job.payload.clone();
        self.store
            .write(Priority::Background, move |tx| {
                rows::wait(tx, conversation, topics::turns_left(0))?;
                jobs::finish(tx, payload.kind(), &payload.key())
            })
            .await?;
        Ok(JobOutcome::Finished)
    }

    /// Loads the conversation. Returns `None` if no session is open or the chat has no tags.
    async fn talk(&self, conversation: Conversation) -> chime_store::Result<Option<TopicInput>> {
        let (config, now) = (self.config.clone(), self.clock.now());
        self.store
            .read(move |conn| {
                let Some(open) = divide::open_session(conn, conversation, &config, now)? else { return Ok(None) };
                let tags = rows::tags(conn, conversation.chat, TAGS, SESSIONS_OF_TAG)?;
                if tags.is_empty() {
                    return Ok(None);
                }
                let is_human =
                    |stored: &StoredMessage| stored.message.role == Role::User && !stored.message.sender.is_bot;
                let mut said = messages::within(conn, conversation, open.first, open.last)?;
                said.retain(is_human);
                said.drain(..said.len().saturating_sub(KEPT_MESSAGES));
                let before = rows::state(conn, conversation)?.unwrap_or_default();
                let state = match before.opener {
                    Some(opener) if opener == open.opener => before.clone(),
                    // In a new session the topic of the old one no longer applies. A topic without a session was just
                    // set by a member: it does apply.
                    Some(_) => TopicState { opener: Some(open.opener), ..TopicState::default() },
                    None => {
                        TopicState { opener: Some(open.opener), active: before.active.clone(), ..TopicState::default() }
                    }
                };
                let answered = rows::newest_answered(conn, conversation, open.opener)?
                    .filter(|answered| state.asked_for.is_none_or(|asked| *answered > asked));
                Ok(Some(TopicInput { before, state, opener: open.opener, turn: open.turns, answered, said, tags }))
            })
            .await
    }

    /// Scores the tags and decides about the topic. Asks a model only if its scores could change the decision and the
    /// bot has answered here since the last call.
    async fn evaluated(
        &self,
        chat: ChatKey,
        talk: &TopicInput,
        method: SummaryMethod,
    ) -> Result<TopicState, StepError> {
        let ScoredTags { mut candidates, mentioned } = self.scored(chat, talk, method).await?;
        let mut state = TopicState { evaluated_at: talk.turn, is_undecided: false, ..talk.state.clone() };
        let mut written = None;
        let best = topics::ranked(candidates.clone());
        if topics::is_borderline(&best, active_score(talk, &candidates))
            && method == SummaryMethod::Model
            && self.model.can_write(ModelPurpose::Extract).await
        {
            match talk.answered {
                None => state.is_undecided = true,
                Some(answered) => {
                    state.asked_for = Some(answered);
                    match self.inferred(chat, talk, &best).await {
                        Ok((found, by)) => {
                            let forms = |tag| forms_of(&talk.tags, tag);
                            topics::apply(&mut candidates, &found, &mentioned, forms);
                            written = Some(by);
                        }
                        Err(error) => tracing::warn!(chat = chat.0, %error, "the topic is found without the model"),
                    }
                }
            }
        }
        let ranked = topics::ranked(candidates.clone());
        let present = (talk.state.active.as_slice(), active_score(talk, &candidates).unwrap_or(0.0));
        let choice = topics::choose(&ranked, present, talk.state.adopted_at, talk.turn);
        report(chat, talk, &ranked, &choice, written.as_ref());
        Ok(match choice {
            TopicDecision::Keep => {
                state.active.retain(|tag| !talk.has_lapsed(*tag, &candidates));
                state
            }
            TopicDecision::Adopt(active) => TopicState { active, adopted_at: talk.turn, ..state },
        })
    }

    async fn scored(&self, chat: ChatKey, talk: &TopicInput, method: SummaryMethod) -> chime_store::Result<ScoredTags> {
        let stems: Vec<BTreeSet<String>> = talk.latest().iter().map(|one| words::stems(&one.message.text)).collect();
        let text: Vec<&str> = talk.latest().iter().map(|one| one.message.text.as_str()).collect();
        let cosines = self.cosines(chat, &text.join("\n"), method).await?;
        let now = self.clock.now();
        let mut candidates: Vec<TopicCandidate> = talk
            .tags
            .iter()
            .map(|tag| {
                let mentions = stems.iter().filter(|said| topics::mentions(said, &tag.forms)).count();
                let signals = Signals {
                    mentions: u32::try_from(mentions).unwrap_or(u32::MAX),
                    cosine: tag.sessions.iter().filter_map(|(id, _)| cosines.get(id)).copied().fold(0.0, f64::max),
                    tag_overlap: 0.0,
                    age: tag.sessions.first().map_or(Duration::MAX, |(_, ended)| now.since(*ended)),
                };
                let sessions = tag.sessions.iter().map(|(id, _)| id.first.0).collect();
                TopicCandidate { tag: tag.id, signals, score: topics::local_score(&signals), sessions }
            })
            .collect();
        let mentioned = candidates.iter().filter(|one| one.signals.mentions > 0).map(|one| one.tag).collect();
        topics::set_overlap(&mut candidates, &mentioned);
        // Without a model, only a tag that is mentioned becomes the topic.
        for one in candidates.iter_mut().filter(|one| one.signals.mentions == 0) {
            one.signals.tag_overlap = 0.0;
        }
        Ok(ScoredTags { candidates, mentioned })
    }

    /// Returns the cosine of each summary's vector and the vector of `text`. Empty if there are no vectors, or if only
    /// a server could make one and the model may not be asked.
    async fn cosines(
        &self,
        chat: ChatKey,
        text: &str,
        method: SummaryMethod,
    ) -> chime_store::Result<HashMap<SessionId, f64>> {
        let (vector, name) = match &self.vectors {
            VectorSource::Local(embedder) => (embedder.embed(text), embedder.name().to_owned()),
            VectorSource::Server(embeddings) if method == SummaryMethod::Model => {
                let made = embeddings.embed(&[text], &self.clock).await;
                let made = made.inspect_err(
                    |error| tracing::warn!(chat = chat.0, %error, "cannot embed the conversation for its topic"),
                );
                (made.ok().and_then(|made| made.into_iter().next()).unwrap_or_default(), embeddings.model().to_owned())
            }
            VectorSource::Server(_) | VectorSource::Off => return Ok(HashMap::new()),
        };
        let kept = self.store.read(move |conn| summary_vectors::of_chat(conn, chat, &name)).await?;
        if kept.is_empty() || vector.is_empty() {
            tracing::info!(chat = chat.0, "EMBEDDING_MISS");
        }
        Ok(kept.iter().map(|(id, other)| (*id, topics::cosine(&vector, other))).collect())
    }

    async fn inferred(
        &self,
        chat: ChatKey,
        talk: &TopicInput,
        best: &[TopicCandidate],
    ) -> Result<(Vec<Inferred>, ModelOutput), StepError> {
        let name = |one: &TopicCandidate| talk.tags.iter().find(|tag| tag.id == one.tag).map(|tag| tag.name.as_str());
        let likely: Vec<&str> = best.iter().filter_map(name).collect();
        let others = talk.tags.iter().map(|tag| tag.name.as_str()).filter(|name| !likely.contains(name));
        let inventory = likely.iter().copied().chain(others.take(OTHER_TAGS)).collect::<Vec<_>>().join(", ");
        let fence = fence();
        let values = SummaryValues { fence: &fence, inventory: &inventory, ..SummaryValues::default() };
        let task = self.prompts.summary(Template::InferTopic, &values)?;
        let said: Vec<&str> = talk.latest().iter().map(|one| one.message.text.as_str()).collect();
        let format = AnswerFormat::Json { name: "topics", schema: inferred_schema() };
        let material = fenced(&said.join("\n"), &fence);
        let request = ModelRequest {
            conversation: Conversation { chat, forum_topic: None },
            on_behalf_of: None,
            purpose: ModelPurpose::Extract,
            format,
            task,
            material: &material,
        };
        let written = self.model.ask_for(request, &self.clock).await;
        let written = written.map_err(|error| StepError::of_ask(&error))?;
        match topics::parse_inferred(&written.text) {
            Some(found) => Ok((found, written)),
            None => Err(StepError::Model("no topics in the answer".to_owned())),
        }
    }
}

/// Returns the topics that a member has set and that no session uses yet; empty if there are none.
fn set_by_hand(conn: &chime_store::Reader, conversation: Conversation) -> chime_store::Result<Vec<i64>> {
    let state = rows::state(conn, conversation)?.filter(|state| state.opener.is_none());
    Ok(state.map(|state| state.active).unwrap_or_default())
}

fn active_score(talk: &TopicInput, candidates: &[TopicCandidate]) -> Option<f64> {
    let tag = talk.state.active.first()?;
    candidates.iter().find(|one| one.tag == *tag).map(TopicCandidate::final_score)
}

fn forms_of(tags: &[TopicTag], tag: i64) -> &[String] {
    tags.iter().find(|one| one.id == tag).map_or(&[], |one| one.forms.as_slice())
}

/// Logs the decision. Shows tags by their row numbers, since their names are members' words.
fn report(
    chat: ChatKey,
    talk: &TopicInput,
    ranked: &[TopicCandidate],
    choice: &TopicDecision,
    written: Option<&ModelOutput>,
) {
    let ids: Vec<i64> = ranked.iter().map(|one| one.tag).collect();
    let scores: Vec<f64> = ranked.iter().map(|one| (one.final_score() * 100.0).round() / 100.0).collect();
    tracing::info!(
        chat = chat.0, session = %SessionId { chat, first: talk.opener }, turn = talk.turn, best = ids.first(),
        candidates = ?ids, ?scores, adopted = matches!(choice, TopicDecision::Adopt(_)),
        model = written.map(|it| it.model.as_str()),
        latency_ms = written.map(|it| u64::try_from(it.latency.as_millis()).unwrap_or(u64::MAX)),
        used_tokens = written.map(|it| it.tokens.prompt + it.tokens.completion),
        cost_micros = written.and_then(|it| it.cost_micros),
        "TOPIC_INFERRED",
    );
}

fn inferred_schema() -> serde_json::Value {
    let text = || json!({"type": "string"});
    let candidate = json!({
        "type": "object",
        "properties": {"slug": text(), "label": text(), "score": {"type": "number"}, "rationale": text()},
        "required": ["slug", "label", "score", "rationale"],
        "additionalProperties": false,
    });
    json!({
        "type": "object",
        "properties": {"candidates": {"type": "array", "items": candidate}},
        "required": ["candidates"],
        "additionalProperties": false,
    })
}
