//! Services and settings that the stages of an answer share.

use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::answering::enrich::Enricher;
use crate::answering::introduction::Introduction;
use crate::answering::long_thread::LongThreads;
use crate::answering::traffic::TrafficLog;
use crate::documents::DocumentReader;
use crate::read_text::UnreadMemory;
use crate::voice::worker::Voice;
use chime_access::gateway::ask::Gateway;
use chime_core::config::{AccessConfig, ContextTokens, Redaction, SessionIdle, Streaming};
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_core::{BotIdentity, LinkReading, Zone};
use chime_jobs::worker::Wake;
use chime_links::{Fetcher, WebSearch};
use chime_memory::context::FeatureCache;
use chime_memory::recall::Recaller;
use chime_relevance::context::Params;
use chime_runtime::clock::Clock;
use chime_store::Store;
use chime_telegram::Telegram;

/// Maximum number of questions analysed at the same time. Each analysis occupies two threads and ends before the model
/// is asked.
const ANALYSED_AT_ONCE: usize = 8;

/// Services and settings that answering needs. Clones share all state.
#[derive(Clone)]
pub struct Services {
    pub store: Store,
    pub telegram: Telegram,
    pub gateway: Gateway,
    pub clock: Clock,
    pub wake: Wake,
    pub prompts: Arc<Prompts>,
    pub bot: BotIdentity,
    pub params: Params,
    /// Time zone of chats that have set none.
    pub zone: Zone,
    pub features: Arc<FeatureCache>,
    pub introduction: Introduction,
    pub access: AccessConfig,
    /// Age beyond which a trigger is not answered but counted in a notice.
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
    /// Purposes whose personal data is masked before it goes to a model.
    pub redaction: Redaction,
    pub idle: SessionIdle,
    /// Summaries of the oldest parts of long threads. `None`: threads are never summarised.
    pub long_threads: Option<LongThreads>,
    /// `true` if a model extracts the concepts of each answer.
    pub captures_concepts: bool,
    pub voice: Arc<Voice>,
    pub pages: PageReader,
    pub documents: DocumentReader,
    /// `None` if the operator has chosen no search service.
    pub web: Option<WebSearch>,
    pub state: Arc<AnsweringState>,
}

/// Reads linked pages for answers.
#[derive(Clone)]
pub struct PageReader {
    pub fetcher: Fetcher,
    pub embedder: Option<Arc<Embedder>>,
    /// The operator's setting.
    pub reading: LinkReading,
}

/// State that all answers share.
pub struct AnsweringState {
    /// Limits the number of questions that are analysed at the same time.
    pub(super) places: Semaphore,
    /// `true` after the Bot API server refused a draft: older servers do not support drafts.
    pub(super) drafts_refused: AtomicBool,
    /// Random keys of this process, from which the delimiters around untrusted text are made.
    pub(super) fences: RandomState,
    /// Pages and documents that could not be read lately.
    pub(super) unread: UnreadMemory,
    pub(super) traffic: TrafficLog,
}

impl Default for AnsweringState {
    fn default() -> Self {
        Self {
            places: Semaphore::new(ANALYSED_AT_ONCE),
            drafts_refused: AtomicBool::new(false),
            fences: RandomState::new(),
            unread: UnreadMemory::default(),
            traffic: TrafficLog::default(),
        }
    }
}
