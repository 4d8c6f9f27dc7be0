//! Record of one answer: the messages and sources in its prompt, the citations, the tokens used. `/why` and `chime
//! explain` show it.

use serde::{Deserialize, Serialize};

use super::{AnswerId, ChatKey, ForumTopicId, MessageId, Seq, Timestamp, Uncertainty, UserId};

/// Reason for which a message was put into the context window, the list of chat messages in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Anchor,
    Quoted,
    Chain,
    Cluster,
    Thread,
    Bridge,
    /// The message contains words of the trigger, or is similar in meaning.
    #[serde(alias = "semantic")]
    Query,
    /// The trigger names a time or a member and nothing else, and the message was sent at that time or by that member.
    Named,
    /// The trigger is about an earlier answer, which cited the message.
    Source,
    /// The message was sent near the messages of the focus, but is not part of it.
    Nearby,
    Tool,
}

/// The two parts of a context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Messages chosen because the trigger is about them.
    Focus,
    /// Other recent messages of the conversation.
    Surroundings,
}

words!(Reason {
    Anchor = "anchor", Quoted = "quoted", Chain = "chain", Cluster = "cluster", Thread = "thread", Bridge = "bridge",
    Query = "query", Named = "named", Source = "source", Nearby = "nearby", Tool = "tool",
});

impl Reason {
    /// Returns `true` if the message was chosen because the trigger replies to it.
    pub fn is_anchor(self) -> bool {
        matches!(self, Self::Anchor | Self::Quoted)
    }

    pub fn part(self) -> Part {
        if self == Self::Nearby { Part::Surroundings } else { Part::Focus }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    pub seq: Seq,
    pub id: MessageId,
    pub reason: Reason,
    /// Confidence of the choice, 0 to 1.
    pub score: f64,
}

/// Message that was considered for the context window and left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    pub id: MessageId,
    /// Reason in English: `no room` (the token limit) or `about something else`.
    pub why: String,
}

/// Part of a prompt (slot), with the sources that it contained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotUse {
    pub name: String,
    pub tokens: usize,
    /// Ids of the sources in this part, such as `m17`, which the model may cite.
    pub sources: Vec<String>,
    /// For the part with recalled sources: the scores of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundSource>,
}

/// Old message or summary that recall found, with its ranking scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundSource {
    /// Id such as `m17` or `s5`.
    pub id: String,
    pub score: f64,
    pub retrieved: RetrieverScores,
}

/// Scores of a recalled source, one for each way of searching (retriever); 0 if that search did not find the source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetrieverScores {
    /// Share of the question's word stems that the source contains, 0 to 1. Rare stems weigh more (inverse document
    /// frequency).
    pub words: f64,
    /// 1 if the question names the source's author. If the question also has other words, the source must contain at
    /// least one of them.
    pub author: f64,
    /// 1 if the source contains a word with the same beginning as a word of the question. Replaces stems in languages
    /// without a stemmer.
    pub trigrams: f64,
    /// Cosine similarity of the embeddings of the question and the message.
    pub vector: f64,
    /// Cosine similarity of the embeddings of the question and the session's summary.
    pub summary: f64,
    /// Confidence, 0 to 1, of a tag of the session that the question names.
    pub tags: f64,
    /// 1 if the message was sent, or its session ended, at a time that the question asks about.
    pub date: f64,
}

impl RetrieverScores {
    /// Returns the higher of both scores for each retriever.
    pub fn merged(self, other: Self) -> Self {
        Self {
            words: self.words.max(other.words),
            author: self.author.max(other.author),
            trigrams: self.trigrams.max(other.trigrams),
            vector: self.vector.max(other.vector),
            summary: self.summary.max(other.summary),
            tags: self.tags.max(other.tags),
            date: self.date.max(other.date),
        }
    }

    /// Returns the names and scores of the retrievers whose score is not 0.
    pub fn found(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = [
            ("words", self.words),
            ("author", self.author),
            ("trigrams", self.trigrams),
            ("vector", self.vector),
            ("summary", self.summary),
            ("tags", self.tags),
            ("date", self.date),
        ];
        all.into_iter().filter(|(_, score)| *score != 0.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRef {
    /// Id such as `m17`.
    pub id: String,
    /// Excerpt of the source, at most 160 characters.
    pub text: String,
}

/// Tokens of one or more model calls, as counted by the server, or an estimate if it does not count them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUse {
    pub prompt: u64,
    pub completion: u64,
}

/// Tokens used today (UTC), prompts and completions together, that count against a budget.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub total: u64,
    pub of_chat: u64,
    pub of_member: u64,
    /// Daily cap of the chat that its admins chose, if any.
    pub own_cap_of_chat: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerStatus {
    Answered,
    /// No model was used; the reply lists messages of the context window.
    Offline,
    /// The model failed permanently; the reply is an apology.
    Apologised,
    /// No message supports the answer of a small model; the reply lists messages of the context window instead.
    MadeUp,
}

words!(AnswerStatus { Answered = "answered", Offline = "offline", Apologised = "apologised", MadeUp = "made_up" });

/// Answer with the messages, sources and settings on which it is based.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRecord {
    pub id: AnswerId,
    pub chat: ChatKey,
    pub forum_topic: Option<ForumTopicId>,
    pub trigger: Seq,
    pub asked_by: UserId,
    pub created_at: Timestamp,
    pub status: AnswerStatus,
    /// Output of the model, after its citations were checked.
    pub text: String,
    pub anchor: Option<MessageId>,
    pub window: Vec<Chosen>,
    pub omitted: Vec<Omitted>,
    pub slots: Vec<SlotUse>,
    pub sources: Vec<SourceRef>,
    pub model: String,
    pub tokens: TokenUse,
    /// Milliseconds from the start of the job until the answer was ready to send.
    pub latency_ms: u64,
    pub uncertainty: Option<Uncertainty>,
    /// `true` if the chat allows only answers with sources (`Grounding::Strict`) and no source was relevant enough.
    pub guard_used: bool,
    /// Ids that the model cited although they were not in the prompt; `?` for words that are no id.
    pub removed: Vec<String>,
}
