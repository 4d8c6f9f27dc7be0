//! Services and settings that the stages of an answer share.

use std::hash::RandomState;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::answering::traffic::TrafficLog;
use crate::documents::DocumentReader;
use crate::read_text::UnreadMemory;
use crate::voice::worker::Voice;
use chime_access::gateway::ask::Gateway;
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_jobs::Base;
use chime_links::{Fetcher, WebSearch};
use chime_memory::context::FeatureCache;
use chime_memory::recall::Recaller;
use chime_privacy::PrivacyFacts;
use chime_relevance::context::Params;

/// Services and settings that answering needs. Clones share all state.
#[derive(Clone)]
pub struct Services {
    pub base: Base,
    pub gateway: Gateway,
    pub prompts: Arc<Prompts>,
    pub params: Params,
    pub features: Arc<FeatureCache>,
    pub privacy_facts: PrivacyFacts,
    pub recaller: Arc<Recaller>,
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
}

/// State that all answers share.
pub struct AnsweringState {
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
            drafts_refused: AtomicBool::new(false),
            fences: RandomState::new(),
            unread: UnreadMemory::default(),
            traffic: TrafficLog::default(),
        }
    }
}
