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
use crate::app::menu::MenuTask;
use crate::app::tasks::Tasks;
use crate::app::watchdog::{Watchdog, patience};
use crate::health::server::MonitoredDaemon;
use chime_access::ClaimCode;
use chime_access::console_tokens::{ConsoleTokens, LINK_LIFETIME};
use chime_access::gateway::ask::Gateway;
use chime_answer::answering::{Introduction, PageReader, Services, answer_guests, note_enricher};
use chime_answer::voice::worker::{UnderWay, Voice};
use chime_bot::commands::handlers::Commands;
use chime_bot::ingest::intake::{Ingest, IntakeSettings, PollHealth};
use chime_core::chat_settings::OperatorDefaults;
use chime_core::config::{Config, ContextConfig, EmbeddingConfig, WebSearchConfig};
use chime_core::prompts::Prompts;
use chime_core::trigger::Languages;
use chime_core::{BotIdentity, Conversation, GuestQuestion, estimate_tokens};
use chime_jobs::worker::{Pool, Wake};
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
        if let Some(server) = start::health_server(&config, &monitored).await? {
            tasks.spawn("http", |stop| async move {
                server.run(stop).await.map_err(|error| AppError::Task(format!("HTTP_ADDR: {error}")))
            });
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
        let (languages, features) = (Languages::shipped(), Arc::new(features));
        let parts = AppComponents {
            config,
            clock,
            prompts,
            store,
            telegram,
            bot,
            claim,
            languages,
            features,
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
        let wake = Wake::default();
        let (health, gateway) = (self.health.clone(), self.gateway.clone());
        gateway.recall_tool_refusals().await?;
        let services = self.services(&wake, &gateway)?;
        let handlers = Arc::new(self.handlers(&wake, &gateway, services.clone())?);
        let watching = gateway.clone();
        tasks.spawn("facts", |stop| async move {
            tokio::select! {
                () = stop.cancelled() => Ok(()),
                never = watching.watch_server() => match never {},
            }
        });
        if let Some(server) = self.console(&wake).await? {
            tasks.spawn("console", |stop| async move {
                server.run(stop).await.map_err(|error| AppError::Task(format!("CONSOLE_ADDR: {error}")))
            });
        }
        let vectors = vectors::spawn(&self.config, &self.store, &self.clock, &mut tasks)?;
        let (guests, questions) = mpsc::channel(GUESTS_WAITING);
        let ingest = self.ingest(&wake, &health, vectors, guests);
        tasks.spawn("guests", |stop| async move {
            answer_guests(services, questions, stop).await;
            Ok(())
        });
        tasks.spawn("poll", |stop| async move { ingest.run(stop).await.map_err(AppError::from) });
        let pool = Pool { store: self.store.clone(), clock: self.clock.clone(), wake };
        tasks.spawn("work", |stop| async move {
            pool.run(stop, |job| {
                let handlers = Arc::clone(&handlers);
                async move { handlers.work(job).await }
            })
            .await
            .map_err(AppError::from)
        });
        let menu = MenuTask {
            store: self.store.clone(),
            telegram: self.telegram.clone(),
            clock: self.clock.clone(),
            bot: self.bot.id,
            privacy_facts: self.privacy_facts(),
        };
        tasks.spawn("menu", |stop| async move { menu.run(stop).await });
        let watchdog = Watchdog { health, clock: self.clock.clone(), poll_timeout: self.config.telegram.poll_timeout };
        tasks.spawn("watchdog", |stop| async move { watchdog.run(stop).await });
        start::tell(&self.config, &self.store, self.bot.username()).await?;
        Ok(App { store: self.store, bot: self.bot, claim: self.claim, tasks })
    }

    fn ingest(
        &self,
        wake: &Wake,
        health: &PollHealth,
        vectors: Option<mpsc::Sender<Conversation>>,
        guests: mpsc::Sender<GuestQuestion>,
    ) -> Ingest {
        Ingest {
            store: self.store.clone(),
            telegram: self.telegram.clone(),
            clock: self.clock.clone(),
            wake: wake.clone(),
            health: health.clone(),
            vectors,
            guests,
            setting: Arc::new(IntakeSettings {
                bot: self.bot.clone(),
                access: self.config.access.clone(),
                claim: self.claim.clone(),
                announces: self.config.privacy.announces,
                languages: self.languages,
                backlog_max_age: self.config.ingest.backlog_max_age,
                rate: self.config.limits.rate,
                transcribes: self.config.llm.transcribes(),
            }),
        }
    }

    fn handlers(&self, wake: &Wake, gateway: &Gateway, services: Services) -> Result<JobHandlers, AppError> {
        let commands = Commands {
            store: self.store.clone(),
            telegram: self.telegram.clone(),
            clock: self.clock.clone(),
            wake: wake.clone(),
            bot: self.bot.clone(),
            access: self.config.access.clone(),
            zone: self.config.time.zone,
            privacy_facts: self.privacy_facts(),
            memory: self.config.memory.clone(),
            defaults: OperatorDefaults::of(&self.config),
            caps: self.config.limits.daily_tokens,
            documents: services.documents.clone(),
            console: self.console_links(),
            has_claim_code: self.claim.is_some(),
        };
        let keeper = RetentionWorker {
            store: self.store.clone(),
            telegram: self.telegram.clone(),
            clock: self.clock.clone(),
            config: self.config.privacy.clone(),
            rests_until: parking_lot::Mutex::default(),
        };
        let memory = Arc::new(memory::build(self, wake, gateway)?);
        let recaps = memory::recaps(self, wake, &memory);
        let source = memory::sources(&self.config, self.embedder.as_ref())?;
        let vectors = VectorIndexer::new(self.store.clone(), self.clock.clone(), source);
        let backups = self.backups.clone();
        Ok(JobHandlers { services, commands, keeper, backups, memory, recaps, vectors })
    }

    fn services(&self, wake: &Wake, gateway: &Gateway) -> Result<Services, AppError> {
        Ok(Services {
            store: self.store.clone(),
            telegram: self.telegram.clone(),
            gateway: gateway.clone(),
            clock: self.clock.clone(),
            wake: wake.clone(),
            prompts: Arc::clone(&self.prompts),
            bot: self.bot.clone(),
            params: context_params(&self.config.context),
            zone: self.config.time.zone,
            features: Arc::clone(&self.features),
            introduction: Introduction {
                privacy_facts: self.privacy_facts(),
                announces: self.config.privacy.announces,
            },
            access: self.config.access.clone(),
            backlog_max_age: self.config.ingest.backlog_max_age,
            deadline: self.config.llm.deadline,
            context_tokens: self.config.context.tokens,
            tool_rounds: self.config.llm.tool_rounds,
            recaller: Arc::new(Recaller::new(self.embedder.clone())),
            enrichers: {
                let notes = note_enricher(self.embedder.clone(), self.config.time.zone);
                memory::enrichers(&self.config.memory, self.config.time.zone).into_iter().chain([notes]).collect()
            },
            streaming: self.config.answer.streaming,
            redaction: self.config.memory.redaction,
            idle: self.config.memory.idle,
            long_threads: memory::long_threads(&self.config.memory),
            captures_concepts: self.config.memory.is_on && self.config.llm.captures_concepts,
            voice: self.voice(wake)?,
            pages: PageReader {
                fetcher: Fetcher::new(models::address_policy(&self.config)),
                embedder: self.embedder.clone(),
                reading: self.config.answer.links,
            },
            documents: models::document_reader(&self.config, &self.clock)?,
            web: models::web_search(&self.config)?,
            state: Arc::default(),
        })
    }

    fn voice(&self, wake: &Wake) -> Result<Arc<Voice>, AppError> {
        Ok(Arc::new(Voice {
            store: self.store.clone(),
            telegram: self.telegram.clone(),
            clock: self.clock.clone(),
            wake: wake.clone(),
            transcriber: models::transcriber(&self.config, &self.store, &self.clock)?,
            remembers: self.config.memory.is_on,
            announces: self.config.privacy.announces,
            access: self.config.access.clone(),
            under_way: UnderWay::default(),
        }))
    }

    fn privacy_facts(&self) -> PrivacyFacts {
        let privacy = &self.config.privacy;
        PrivacyFacts {
            username: self.bot.username().to_owned(),
            model_hosts: self.config.llm.hosts(self.config.embedding.server_model()),
            sends_all: vectors::options(&self.config).is_some(),
            remembers: self.config.memory.is_on,
            transcribes: self.config.llm.transcribes(),
            search_host: self.config.answer.web.as_ref().and_then(WebSearchConfig::host),
            retention: privacy.retention,
            contact: privacy.operator_contact.clone(),
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
