//! Record of one answer: the messages, sources, tokens and settings it used. `/why` and `chime explain` read it.

use serde::{Deserialize, Serialize};

use super::{AnswerId, ChatKey, MessageId, Seq, ThreadId, Timestamp, Uncertainty, UserId};

/// Reason why a message is in the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Anchor,
    Quoted,
    Chain,
    Cluster,
    Strand,
    Bridge,
    /// Matches the words of the trigger.
    #[serde(alias = "semantic")]
    Query,
    /// Sent at the time, or by the member, that the trigger names, when it asks about nothing else.
    Named,
    /// Cited by an earlier answer that the trigger is about.
    Source,
    /// Close to the focus, not part of it.
    Nearby,
    Tool,
}

/// The two parts of a context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Messages chosen as the subject of the trigger.
    Focus,
    /// Other recent messages of the conversation.
    Surroundings,
}

impl Reason {
    /// Returns `true` if the trigger replies to the message.
    pub fn is_anchor(self) -> bool {
        matches!(self, Self::Anchor | Self::Quoted)
    }

    pub fn part(self) -> Part {
        if self == Self::Nearby { Part::Surroundings } else { Part::Focus }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Quoted => "quoted",
            Self::Chain => "chain",
            Self::Cluster => "cluster",
            Self::Strand => "strand",
            Self::Bridge => "bridge",
            Self::Query => "query",
            Self::Named => "named",
            Self::Source => "source",
            Self::Nearby => "nearby",
            Self::Tool => "tool",
        }
    }
}

/// Message of the context window, with the reason for choosing it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    pub seq: Seq,
    pub id: MessageId,
    pub reason: Reason,
    /// Confidence of the choice, 0 to 1.
    pub score: f64,
}

/// A message that was considered and left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    pub id: MessageId,
    /// Reason in words: `no room`, `before a silence of 26 h`.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotUse {
    pub name: String,
    pub tokens: usize,
    /// Ids as the model may cite them: `m17`.
    pub sources: Vec<String>,
    /// Scores of recalled sources.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundSource>,
}

/// Recalled source with its ranking scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundSource {
    /// Id such as `m17` or `s5`.
    pub id: String,
    pub score: f64,
    pub legs: LegScores,
}

/// Scores that each retriever gave a recalled source; 0 if the retriever did not find it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LegScores {
    /// Idf-weighted share of the question's stems that the source contains.
    pub words: f64,
    /// 1 if the question names the author. If the question has other words, the source must contain one of them.
    pub author: f64,
    /// 1 if the source contains the beginning of a word of the question; used for languages without a stemmer.
    pub trigrams: f64,
    /// Cosine similarity with the message.
    pub vector: f64,
    /// Cosine similarity with the session's summary.
    pub summary: f64,
    /// Confidence of a session tag that the question names.
    pub tags: f64,
    /// 1 if the message was sent, or its session ended, at a time that the question asks about.
    pub date: f64,
}

impl LegScores {
    /// Returns the higher score of each retriever.
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

    /// Returns the retrievers with a score other than 0, by name.
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

/// Citation that was checked against the prompt's sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRef {
    /// Id such as `m17`.
    pub id: String,
    /// Excerpt of the source, at most 160 characters.
    pub text: String,
}

/// Tokens of all model calls of one answer, as counted by the server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUse {
    pub prompt: u64,
    pub completion: u64,
}

/// Tokens spent today, prompt and completion together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub total: u64,
    pub of_chat: u64,
    pub of_member: u64,
    /// Daily cap that the chat's admins chose.
    pub own_cap_of_chat: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerStatus {
    Answered,
    /// No model is configured; a digest of the window was sent.
    Offline,
    /// The model failed permanently; an apology was sent.
    Apologised,
}

impl AnswerStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Offline => "offline",
            Self::Apologised => "apologised",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        [Self::Answered, Self::Offline, Self::Apologised].into_iter().find(|status| status.as_str() == raw)
    }
}

/// One answer with everything it is based on.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRecord {
    pub id: AnswerId,
    pub chat: ChatKey,
    pub thread: Option<ThreadId>,
    /// Number of the trigger message.
    pub trigger: Seq,
    pub asked_by: UserId,
    pub created_at: Timestamp,
    pub status: AnswerStatus,
    /// Model output after its citations were checked.
    pub text: String,
    pub anchor: Option<MessageId>,
    pub window: Vec<Chosen>,
    pub omitted: Vec<Omitted>,
    pub slots: Vec<SlotUse>,
    pub sources: Vec<SourceRef>,
    /// Model name, or `offline`.
    pub model: String,
    pub tokens: TokenUse,
    /// Time from starting the job until the answer was ready to send, in milliseconds.
    pub latency_ms: u64,
    pub uncertainty: Option<Uncertainty>,
    /// `true` if no source was relevant enough in a chat that wants no answers without sources.
    pub guard_used: bool,
}
