//! Builds every component from the configuration, starts the tasks, and stops them.
//!
//! This is the only module that knows all components. It decides nothing that a component could decide. Start at
//! [`App::start`], then [`App::finished`].

mod backups;
mod components;
mod console;
mod error;
mod jobs;
mod memory;
mod menu;
mod models;
mod service;
mod start;
mod tasks;
mod vectors;
mod watchdog;

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::app::components::AppComponents;
use crate::app::jobs::JobHandlers;
use crate::app::tasks::Tasks;
use crate::app::watchdog::patience;
use crate::health::server::{MonitoredDaemon, router};
use chime_access::ClaimCode;
use chime_access::console_tokens::{ConsoleTokens, LINK_LIFETIME};
use chime_answer::answering::{PageReader, Services, answer_guests};
use chime_answer::voice::worker::{UnderWay, Voice};
use chime_bot::commands::handlers::Commands;
use chime_bot::ingest::intake::{Ingest, PollHealth};
use chime_bot::recap::worker::Recaps;
use chime_core::chat_settings::OperatorDefaults;
use chime_core::config::{Config, ContextConfig, EmbeddingConfig, Redaction, WebSearchConfig};
use chime_core::prompts::Prompts;
use chime_core::{BotIdentity, GuestQuestion, LinkReading, estimate_tokens};
use chime_jobs::Base;
use chime_jobs::worker::Pool;
use chime_links::Fetcher;
use chime_memory::context::FeatureCache;
use chime_memory::recall::{Recaller, VectorIndexer};
use chime_privacy::PrivacyFacts;
use chime_privacy::worker::RetentionWorker;
use chime_relevance::context::{Params, SeedRule};
use chime_runtime::clock::Clock;
use chime_store::Store;

pub use backups::{BackupState, DailyBackups};
pub use error::AppError;

/// Capacity of the queue of questions in chats that the bot is not in.
const GUESTS_WAITING: usize = 16;

pub struct App {
    pub store: Store,
    pub bot: BotIdentity,
    /// Code with which a user becomes the owner, sent to the bot in private; `None` if the bot has an owner.
    pub claim: Option<ClaimCode>,
    tasks: Tasks,
}

impl App {
    /// Opens the store, connects to Telegram, and starts all tasks, which run until `stop`.
    pub async fn start(config: Config, clock: Clock, stop: CancellationToken) -> Result<Self, AppError> {
        let prompts = Arc::new(Prompts::load(config.prompts.dir.as_deref())?);
        for gap in prompts.gaps() {
            tracing::warn!("PROMPTS_DIR: {gap}");
        }
        let store = start::open_store(config.store.path.clone(), &clock).await?;
        start::recover(&store, &clock, &stop).await?;
        let telegram = start::connect(&config)?;
        let gateway = models::gateway(&config, &store, &clock)?;
        let health = PollHealth::new(&clock);
        let backups = DailyBackups::new(&store, &clock, config.store.backups.clone());
        let mut tasks = Tasks::new(stop.clone());
        // Started first, so that monitoring can show why no updates arrive, even if Telegram cannot be reached.
        let monitored = MonitoredDaemon {
            store: store.clone(),
            clock: clock.clone(),
            poll: health.clone(),
            poll_patience: patience(config.telegram.poll_timeout),
            gateway: gateway.clone(),
            backups: backups.clone(),
        };
        if let Some(address) = config.http.address {
            start::serve(&mut tasks, "http", "HTTP_ADDR", address, router(monitored.clone())).await?;
        }
        // Loads the model while connecting, so that a model that cannot be loaded is reported at once.
        let (bot, embedder) = tokio::try_join!(
            start::introduce(&telegram, &clock, &health, &stop),
            start::load_embedder(config.embedding.clone())
        )?;
        if !bot.reads_all_group_messages {
            tracing::warn!(
                "privacy mode is on: in groups where the bot is no admin it does not see plain mentions; \
                 switch it off in @BotFather (/setprivacy), then remove the bot from the group and add it again"
            );
        }
        let claim = start::claim_code(&config, &store).await?;
        let remembering = embedder.clone();
        let features = match &config.embedding {
            EmbeddingConfig::OpenAi(model) => FeatureCache::with_stored_vectors(model.name.clone()),
            EmbeddingConfig::Local | EmbeddingConfig::Off | EmbeddingConfig::Model2Vec(_) => {
                FeatureCache::new(embedder)
            }
        };
        let base = Base::new(store, telegram, clock, bot, config);
        let parts = AppComponents {
            base,
            prompts,
            claim,
            features: Arc::new(features),
            embedder: remembering,
            gateway,
            health,
            backups,
            monitored,
            console_links: Arc::new(ConsoleTokens::new(LINK_LIFETIME)),
        };
        let app = parts.launch(tasks).await?;
        service::ready();
        Ok(app)
    }

    /// Waits until a stop is requested or a task fails, then closes the store. Returns the first failure.
    pub async fn finished(self) -> Result<(), AppError> {
        let outcome = self.tasks.finished().await;
        self.store.close().await;
        outcome
    }
}

impl AppComponents {
    async fn launch(self, mut tasks: Tasks) -> Result<App, AppError> {
        let (Base { store, clock, wake, config, .. }, bot) = (self.base.clone(), self.base.bot());
        self.gateway.recall_tool_refusals().await?;
        let services = self.services()?;
        let handlers = Arc::new(self.handlers(services.clone())?);
        let watching = self.gateway.clone();
        tasks.spawn("facts", |stop| async move {
            tokio::select! {
                () = stop.cancelled() => Ok(()),
                never = watching.watch_server() => match never {},
            }
        });
        if let (Some(address), Some(parts)) = (config.console.address, self.console()) {
            start::serve(&mut tasks, "console", "CONSOLE_ADDR", address, chime_console::router(parts)).await?;
        }
        let (guests, questions) = mpsc::channel(GUESTS_WAITING);
        let ingest = self.ingest(guests);
        tasks.spawn("guests", |stop| async move {
            answer_guests(services, questions, stop).await;
            Ok(())
        });
        tasks.spawn("poll", |stop| async move { ingest.run(stop).await.map_err(AppError::from) });
        let pool = Pool { store: store.clone(), clock: clock.clone(), wake };
        tasks.spawn("work", |stop| async move {
            pool.run(stop, |job| {
                let handlers = Arc::clone(&handlers);
                async move { handlers.work(job).await }
            })
            .await
            .map_err(AppError::from)
        });
        tasks.spawn("menu", |stop| menu::run(self.base, stop));
        tasks.spawn("watchdog", |stop| watchdog::run(self.health, clock, config.telegram.poll_timeout, stop));
        start::tell(&config, &store, bot.username()).await?;
        Ok(App { store, bot: bot.clone(), claim: self.claim, tasks })
    }

    fn ingest(&self, guests: mpsc::Sender<GuestQuestion>) -> Ingest {
        let fetches_vectors = vectors::options(&self.base.config).is_some();
        let (base, health) = (self.base.clone(), self.health.clone());
        Ingest {
            base,
            health,
            guests,
            claim: self.claim.clone(),
            fetches_vectors,
            parked_kinds: std::sync::Mutex::default(),
        }
    }

    fn handlers(&self, services: Services) -> Result<JobHandlers, AppError> {
        let base = &self.base;
        let commands = Commands {
            base: base.clone(),
            privacy_facts: self.privacy_facts(),
            defaults: OperatorDefaults::of(&base.config),
            documents: services.documents.clone(),
            console: self.console_links(),
            has_claim_code: self.claim.is_some(),
        };
        let keeper = RetentionWorker { base: base.clone(), rests_until: parking_lot::Mutex::default() };
        let memory = Arc::new(memory::build(self)?);
        let recaps = Recaps { base: base.clone(), memory: Arc::clone(&memory) };
        let vectors = VectorIndexer::new(base.store.clone(), base.clock.clone(), memory.vectors.clone());
        let backups = self.backups.clone();
        Ok(JobHandlers { services, commands, keeper, backups, memory, recaps, vectors })
    }

    fn services(&self) -> Result<Services, AppError> {
        let config = &self.base.config;
        Ok(Services {
            base: self.base.clone(),
            gateway: self.gateway.clone(),
            prompts: Arc::clone(&self.prompts),
            params: context_params(&config.context),
            features: Arc::clone(&self.features),
            privacy_facts: self.privacy_facts(),
            recaller: Arc::new(Recaller::new(self.embedder.clone())),
            captures_concepts: config.memory.is_on && config.llm.captures_concepts,
            voice: Arc::new(Voice {
                base: self.base.clone(),
                transcriber: models::transcriber(config, &self.base.store, &self.base.clock)?,
                under_way: UnderWay::default(),
            }),
            pages: PageReader {
                fetcher: Fetcher::new(models::address_policy(config)),
                embedder: self.embedder.clone(),
            },
            documents: models::document_reader(config, &self.base.clock)?,
            web: models::web_search(config)?,
            state: Arc::default(),
        })
    }

    fn privacy_facts(&self) -> PrivacyFacts {
        let config = &self.base.config;
        PrivacyFacts {
            username: self.base.bot().username().to_owned(),
            model_hosts: config.llm.hosts(config.embedding.server_model()),
            sends_all: vectors::options(config).is_some(),
            remembers: config.memory.is_on,
            redacts: config.memory.redaction != Redaction::Off,
            opens_links: config.answer.links != LinkReading::Off,
            transcribes: config.llm.transcribes(),
            search_host: config.answer.web.as_ref().and_then(WebSearchConfig::host),
            retention: config.privacy.retention,
            contact: config.privacy.operator_contact.clone(),
        }
    }
}

/// Returns the parameters of context selection, as the operator has configured them.
pub fn context_params(config: &ContextConfig) -> Params {
    Params {
        seed: SeedRule { lookback_limit: config.lookback_limit, time_threshold: config.time_threshold },
        token_budget: config.tokens.or_default(),
        ..Params::new(estimate_tokens)
    }
}
