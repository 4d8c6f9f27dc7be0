//! Services and settings that answering needs.

use std::sync::Arc;
use std::time::Duration;

use crate::answering::enrich::Enricher;
use crate::answering::introduction::Introduction;
use crate::answering::long_thread::LongThreads;
use crate::answering::traffic::Lanes;
use crate::documents::DocumentReader;
use crate::voice::worker::Voice;
use chime_access::gateway::ask::Gateway;
use chime_core::config::{AccessConfig, ContextTokens, RateLimit, Redaction, SessionIdle, Streaming};
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_core::trigger::Languages;
use chime_core::{BotIdentity, LinkReading, Zone};
use chime_jobs::worker::Wake;
use chime_links::{Fetcher, WebSearch};
use chime_memory::context::FeatureCache;
use chime_memory::recall::Recaller;
use chime_relevance::context::Params;
use chime_runtime::clock::Clock;
use chime_store::Store;
use chime_telegram::Telegram;

/// Reads linked pages for answers.
pub struct PageReader {
    pub fetcher: Fetcher,
    pub embedder: Option<Arc<Embedder>>,
    /// The operator's setting.
    pub reading: LinkReading,
}

/// Services and settings that answering needs.
pub struct AnsweringParts {
    pub store: Store,
    pub telegram: Telegram,
    pub gateway: Gateway,
    pub clock: Clock,
    pub wake: Wake,
    pub prompts: Arc<Prompts>,
    pub bot: BotIdentity,
    pub languages: &'static Languages,
    pub params: Params,
    /// Time zone of chats that have set none.
    pub zone: Zone,
    pub features: Arc<FeatureCache>,
    /// Limit on questions per member and conversation; `None` if there is none.
    pub rate: Option<RateLimit>,
    pub introduction: Introduction,
    pub access: AccessConfig,
    pub backlog_max_age: Duration,
    /// Time limit for tools: later than this after the start of an answer, the model gets no more tools.
    pub deadline: Duration,
    pub context_tokens: ContextTokens,
    /// Maximum number of rounds of tool calls for one answer.
    pub tool_rounds: usize,
    pub enrichers: Vec<Enricher>,
    pub recaller: Arc<Recaller>,
    /// Kinds of chats in which an answer is shown while it is written.
    pub streaming: Streaming,
    pub lanes: Lanes,
    /// Purposes whose personal data is masked before it goes to a model.
    pub redaction: Redaction,
    pub idle: SessionIdle,
    /// Summaries of the oldest parts of long threads. `None`: threads are never summarised.
    pub long_threads: Option<LongThreads>,
    /// `true` if a model extracts the concepts of each answer.
    pub captures_concepts: bool,
    /// Transcribes the voice messages that a question is about.
    pub voice: Arc<Voice>,
    /// Reads the pages that a question is about.
    pub pages: PageReader,
    /// Reads the documents that a question is about.
    pub documents: DocumentReader,
    /// Searches the web; `None` if the operator has chosen no service.
    pub web: Option<WebSearch>,
}
