//! What an answer used, kept with it: `/why` and `chime explain` read it back.

use serde::{Deserialize, Serialize};

use super::{AnswerId, ChatKey, MessageId, Seq, ThreadId, Timestamp, Uncertainty, UserId};

/// Why a message is in a context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Anchor,
    Quoted,
    Chain,
    Cluster,
    Strand,
    Bridge,
    /// The words of the trigger found it.
    #[serde(alias = "semantic")]
    Query,
    /// It was said at the time, or by the member, that the trigger names and asks about nothing else.
    Named,
    /// An earlier answer, which the trigger is about, rested on it.
    Source,
    /// It surrounds the focus.
    Nearby,
    Tool,
}

/// The two parts of a context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What the picker takes as the matter of the trigger.
    Focus,
    /// What else of the conversation the prompt shows.
    Surroundings,
}

impl Reason {
    /// Whether the trigger replies to the message.
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

/// A message of the window, as it was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chosen {
    pub seq: Seq,
    pub id: MessageId,
    pub reason: Reason,
    /// How sure the choice was, 0 to 1.
    pub score: f64,
}

/// A message that was considered and left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Omitted {
    pub id: MessageId,
    /// In plain words: `no room`, `before a silence of 26 h`.
    pub why: String,
}

/// How much of the prompt a slot took, and which sources it showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotUse {
    pub name: String,
    pub tokens: usize,
    /// As the model may cite them: `m17`.
    pub sources: Vec<String>,
    /// Of what was recalled: why each source is here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundSource>,
}

/// A recalled source with what it was ranked by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FoundSource {
    /// `m17` or `s5`.
    pub id: String,
    pub score: f64,
    pub legs: LegScores,
}

/// What each way of looking made of a recalled source; 0 where it did not find it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LegScores {
    /// Share of the question, by idf, whose stems it holds.
    pub words: f64,
    /// 1 where it was written by somebody whom the question names; where the question has words, only if it holds one.
    pub author: f64,
    /// 1 where it holds the beginning of a word, in a language without a stemmer.
    pub trigrams: f64,
    /// Cosine with the message.
    pub vector: f64,
    /// Cosine with the summary of the session.
    pub summary: f64,
    /// Confidence of a tag that the question names.
    pub tags: f64,
    /// 1 where it was sent, or its session ended, at a time that the question names and asks about.
    pub date: f64,
}

impl LegScores {
    /// The higher score of either in each leg.
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

    /// The legs that found something, by name.
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

/// A validated citation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRef {
    /// `m17`.
    pub id: String,
    /// At most 160 characters of the source.
    pub text: String,
}

/// Tokens of all model calls of one answer, as the server counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUse {
    pub prompt: u64,
    pub completion: u64,
}

/// Tokens spent today, read and written together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub total: u64,
    pub of_chat: u64,
    pub of_member: u64,
    /// What the chat lets itself take in a day, where its admins chose a cap.
    pub own_cap_of_chat: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerStatus {
    /// The model answered.
    Answered,
    /// No model is configured: a digest of the window went out.
    Offline,
    /// The model failed for good: an apology went out.
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

/// One answer and everything it rested on.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerRecord {
    pub id: AnswerId,
    pub chat: ChatKey,
    pub thread: Option<ThreadId>,
    /// The trigger's own number.
    pub trigger: Seq,
    pub asked_by: UserId,
    pub created_at: Timestamp,
    pub status: AnswerStatus,
    /// The answer as the model wrote it, after its citations were checked.
    pub text: String,
    pub anchor: Option<MessageId>,
    pub window: Vec<Chosen>,
    pub omitted: Vec<Omitted>,
    pub slots: Vec<SlotUse>,
    pub sources: Vec<SourceRef>,
    /// The model's name, or `offline`.
    pub model: String,
    pub tokens: TokenUse,
    /// From the first look at the job to the answer being ready to send.
    pub latency_ms: u64,
    /// How unsure the model says it is, where it says so.
    pub uncertainty: Option<Uncertainty>,
    /// Nothing known was relevant enough for an answer, and the chat wants none without sources.
    pub guard_used: bool,
}
