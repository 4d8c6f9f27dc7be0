//! Components that the tasks and job handlers share.

use std::sync::Arc;

use crate::app::DailyBackups;
use crate::health::server::MonitoredDaemon;
use chime_access::ClaimCode;
use chime_access::console_tokens::ConsoleTokens;
use chime_access::gateway::ask::Gateway;
use chime_bot::ingest::intake::PollHealth;
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_jobs::Base;
use chime_memory::context::FeatureCache;

pub struct AppComponents {
    pub base: Base,
    pub prompts: Arc<Prompts>,
    pub claim: Option<ClaimCode>,
    pub features: Arc<FeatureCache>,
    pub embedder: Option<Arc<Embedder>>,
    pub gateway: Gateway,
    pub health: PollHealth,
    pub backups: DailyBackups,
    pub monitored: MonitoredDaemon,
    pub console_links: Arc<ConsoleTokens>,
}
