//! Components that the tasks and job handlers share.

use std::sync::Arc;

use crate::app::DailyBackups;
use crate::health::server::MonitoredDaemon;
use chime_access::ClaimCode;
use chime_access::console_tokens::ConsoleTokens;
use chime_access::gateway::ask::Gateway;
use chime_bot::ingest::intake::PollHealth;
use chime_core::BotIdentity;
use chime_core::config::Config;
use chime_core::embed::Embedder;
use chime_core::prompts::Prompts;
use chime_core::trigger::Languages;
use chime_memory::context::FeatureCache;
use chime_runtime::clock::Clock;
use chime_store::Store;
use chime_telegram::Telegram;

pub struct AppComponents {
    pub config: Config,
    pub clock: Clock,
    pub prompts: Arc<Prompts>,
    pub store: Store,
    pub telegram: Telegram,
    pub bot: BotIdentity,
    pub claim: Option<ClaimCode>,
    pub languages: &'static Languages,
    pub features: Arc<FeatureCache>,
    pub embedder: Option<Arc<Embedder>>,
    pub gateway: Gateway,
    pub health: PollHealth,
    pub backups: DailyBackups,
    pub monitored: MonitoredDaemon,
    pub console_links: Arc<ConsoleTokens>,
}
