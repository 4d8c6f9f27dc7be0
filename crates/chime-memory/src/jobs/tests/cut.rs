//! Kills jobs in the middle: whichever job is killed after whichever step, the memory ends up as after an undisturbed
//! run.

use std::future::{Future, poll_fn};
use std::task::Poll;

use super::*;
use chime_core::{AnswerId, AnswerRecord, AnswerStatus, JobKind, TokenUse, UserId};
use chime_llm::{Embeddings, LlmOptions};
use chime_store::{answers, summary_vectors, tags, thread_summaries};
use chime_testkit::ModelServer;

/// Answer of the scripted model for every summary.
const BULLETS: &str = "- they decided to take the red tent to the lake on Friday \
                       [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12]";
const TAGS: &str = r#"{"tags":[{"tag":"tent","conf":0.9},{"tag":"lake","conf":0.8},{"tag":"rope","conf":0.7}]}"#;
/// Upper bound of the number of steps of a job.
const MOST_STEPS: usize = 500;

struct Scripted {
    bench: Bench,
    _servers: [ModelServer; 2],
}

/// Creates a chat that recently tagged the bot, with two sessions, one of them old enough for History.
async fn scripted(now: Timestamp) -> Scripted {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut bench = Bench::new().await;
    let clock = bench.memory.clock.clone();
    let (writes, tags) =
        (ModelServer::start(clock.clone()).await.unwrap(), ModelServer::start(clock.clone()).await.unwrap());
    writes.always(BULLETS);
    tags.always(TAGS);
    let options = |server: &ModelServer| LlmOptions {
        api_key: None,
        base_url: server.base_url(),
        model: "scripted".to_owned(),
        fallback: None,
        timeout: HOUR,
        deadline: HOUR,
    };
    let models = Models {
        answer: Llm::new(options(&writes)).unwrap(),
        summary: Llm::new(options(&writes)).unwrap(),
        extract: Llm::new(options(&tags)).unwrap(),
        listed: Vec::new(),
    };
    bench.memory.model.gateway = Gateway::new(GatewayParts {
        store: bench.memory.store.clone(),
        clock: clock.clone(),
        models,
        guard: ModelGuard::default(),
        budget: DailyBudget::default(),
    });
    bench.memory.vectors = VectorSource::Server(Arc::new(Embeddings::new(&options(&writes), str::to_owned).unwrap()));
    for number in 1..=12 {
        let days = if number <= 6 { 40 } else { 0 };
        let said = message(number, days * 24 * 60 + 200 - number, WORDS[number as usize % 2], now);
        bench.take_in(said).await;
    }
    bench
        .write(move |tx| {
            answers::save(tx, &asked(now))?;
            let (key, forum_topic, messages) = (CHAT_KEY, None, (1..=5).map(Seq).collect());
            jobs::add(tx, &JobPayload::Thread { chat: CHAT, key, forum_topic, messages }, now).map(drop)
        })
        .await;
    Scripted { bench, _servers: [writes, tags] }
}

fn asked(now: Timestamp) -> AnswerRecord {
    AnswerRecord {
        id: AnswerId(ulid::Ulid(1)),
        chat: CHAT_KEY,
        forum_topic: None,
        trigger: Seq(900),
        asked_by: UserId(1),
        created_at: now,
        status: AnswerStatus::Answered,
        text: "Nine.".to_owned(),
        anchor: None,
        window: vec![],
        omitted: vec![],
        slots: vec![],
        sources: vec![],
        model: "scripted".to_owned(),
        tokens: TokenUse::default(),
        latency_ms: 1,
        guard_used: false,
        removed: Vec::new(),
        uncertainty: None,
    }
}

/// Runs `work` for `steps` steps. Returns its output, or `None` if it has not ended by then, which kills it.
async fn within<F: Future>(work: F, steps: usize) -> Option<F::Output> {
    let mut work = std::pin::pin!(work);
    let mut left = steps;
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(context).map(Some)
    })
    .await
}

impl Bench {
    /// Runs jobs until none is due. Each job of kind `cut` is killed after its first step, started again and killed
    /// after its second, and so on. Returns the number of kills.
    async fn work_in_spite_of(&self, cut: Option<JobKind>) -> usize {
        let mut cuts = 0;
        loop {
            cuts += self.periodic(cut).await;
            let later = self.memory.clock.now().plus(HOUR);
            let due = self.memory.store.read(move |conn| jobs::due(conn, later, 100, 1000)).await.unwrap();
            if due.is_empty() {
                return cuts;
            }
            for job in due {
                let steps = if cut == Some(job.kind()) { 1 } else { MOST_STEPS };
                cuts += self.persist(&job, steps).await;
            }
        }
    }

    async fn periodic(&self, cut: Option<JobKind>) -> usize {
        let mut cuts = 0;
        for kind in [JobKind::Sessions, JobKind::MemoryUpkeep] {
            let mut steps = if cut == Some(kind) { 1 } else { MOST_STEPS };
            loop {
                let outcome = match kind {
                    JobKind::Sessions => within(self.memory.divide(), steps).await,
                    _ => within(self.memory.keep_up(), steps).await,
                };
                match outcome {
                    Some(outcome) => {
                        assert!(matches!(outcome, Ok(JobOutcome::UntilNextRun)), "{outcome:?}");
                        break;
                    }
                    None => (cuts, steps) = (cuts + 1, steps + 1),
                }
                assert!(steps <= MOST_STEPS, "{kind:?} does not end");
            }
        }
        cuts
    }

    async fn persist(&self, job: &Job, mut steps: usize) -> usize {
        let mut cuts = 0;
        loop {
            match within(self.attempt(job), steps).await {
                Some(Ok(JobOutcome::Finished)) => return cuts,
                Some(Ok(JobOutcome::WaitUntil(_)) | Err(JobError::Later(_))) => {}
                Some(failed) => panic!("{job}: {failed:?}"),
                None => (cuts, steps) = (cuts + 1, steps + 1),
            }
            assert!(steps <= MOST_STEPS, "{job} does not end");
            let payload = job.payload.clone();
            // This write waits until the writes of the killed attempt are done.
            if !self.write(move |tx| jobs::is_due(tx, &payload)).await {
                return cuts;
            }
        }
    }

    async fn all_told(&self) -> Vec<String> {
        let mut stored_lines = self.stored_lines().await;
        let rest = self
            .write(|tx| {
                let mut stored_lines = Vec::new();
                for session in sessions::begun_from(tx, HERE, (Timestamp::default(), MessageId(i64::MIN)), 100)? {
                    stored_lines.push(format!("{:?}", tags::of_session(tx, session.id)?));
                }
                let thread = thread_summaries::of_messages(tx, CHAT_KEY, [Seq(1)], usize::MAX)?;
                stored_lines.push(format!("{:?}", thread.map(|it| (it.text, it.sources))));
                stored_lines.push(format!("no vector: {:?}", summary_vectors::missing(tx, "scripted", 9)?));
                stored_lines.push(format!("open and parked: {:?}", jobs::counts(tx)?));
                Ok(stored_lines)
            })
            .await;
        stored_lines.extend(rest);
        stored_lines
    }
}

#[tokio::test]
async fn ended_at_any_step_of_any_kind_of_job_memory_is_the_same() {
    let now = Clock::system().now();
    let undisturbed = scripted(now).await;
    assert_eq!(undisturbed.bench.work_in_spite_of(None).await, 0);
    let whole = undisturbed.bench.all_told().await;
    assert!(whole.iter().filter(|stored_lines| stored_lines.contains("red tent")).count() >= 5, "{whole:#?}");
    assert!(whole.contains(&"no vector: []".to_owned()) && whole.contains(&"open and parked: (0, 0)".to_owned()));
    for kind in [
        JobKind::Sessions,
        JobKind::MemoryUpkeep,
        JobKind::Summary,
        JobKind::Tags,
        JobKind::SummaryVector,
        JobKind::Recent,
        JobKind::History,
        JobKind::Thread,
    ] {
        let disturbed = scripted(now).await;
        let cuts = disturbed.bench.work_in_spite_of(Some(kind)).await;
        assert!(cuts > 0, "no {kind:?} was ended");
        assert_eq!(disturbed.bench.all_told().await, whole, "{kind:?}");
    }
}

/// Job to start, and the number of steps after which it is killed.
#[derive(Debug, Clone, Copy)]
struct Crash {
    job: usize,
    steps: usize,
    /// `true` to continue the job later instead of killing it. Other jobs run in between, and it continues with
    /// outdated input.
    is_late: bool,
}

/// Returns random sequences of kills.
fn crashes() -> impl Strategy<Value = Vec<Crash>> {
    let crash = (0_usize..12, 0_usize..14, prop::bool::weighted(0.2));
    prop::collection::vec(crash.prop_map(|(job, steps, is_late)| Crash { job, steps, is_late }), 0..60)
}

impl Bench {
    /// Starts one of the due jobs, or all periodic jobs, and kills it after some steps.
    async fn crash(&self, crash: Crash) {
        let later = self.memory.clock.now().plus(HOUR);
        let due = self.memory.store.read(move |conn| jobs::due(conn, later, 100, 1000)).await.unwrap();
        match due.get(crash.job) {
            Some(job) => {
                let mut attempt = std::pin::pin!(self.attempt(job));
                if within(attempt.as_mut(), crash.steps).await.is_none() && crash.is_late {
                    self.work().await;
                    drop(attempt.await);
                }
            }
            None if crash.job.is_multiple_of(2) => drop(within(self.memory.divide(), crash.steps).await),
            None => drop(within(self.memory.keep_up(), crash.steps).await),
        }
        self.folded_once().await;
    }

    /// Checks that History covers each folded session exactly once. Returns the number of these sessions.
    async fn folded_once(&self) -> usize {
        let (folded, history) = self
            .write(|tx| {
                let all = sessions::begun_from(tx, HERE, (Timestamp::default(), MessageId(i64::MIN)), 1000)?;
                let folded = all.iter().filter(|session| session.is_folded).count();
                Ok((folded, summaries::rolling(tx, CHAT_KEY, Rolling::History)?))
            })
            .await;
        let counted = history.as_ref().map_or(0, |history| history.sessions as usize);
        assert_eq!(counted, folded, "{history:?}");
        let sources = history.iter().flat_map(|it| &it.summary.bullets).flat_map(|bullet| &bullet.sources);
        let mut seen = std::collections::BTreeSet::new();
        for seq in sources {
            assert!(seen.insert(*seq), "{seq:?} stands in History twice: {history:?}");
        }
        folded
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn folding_twice_is_impossible_over_any_order_of_crashes(crashes in crashes()) {
        /// More sessions than are folded at once.
        const SESSIONS: u32 = 26;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (disturbed, undisturbed) = runtime.block_on(async {
            let now = Clock::system().now();
            let mut stored_lines = Vec::new();
            for crashes in [crashes.as_slice(), &[]] {
                let bench = Bench::new().await;
                for number in 0..SESSIONS * 3 {
                    let minutes = 45 * 24 * 60 - number / 3 * 180 - number % 3;
                    let text = format!("{} number {number}", WORDS[number as usize % 3]);
                    bench.take_in(message(number + 1, minutes, &text, now)).await;
                }
                for crash in crashes {
                    bench.crash(*crash).await;
                }
                bench.work().await;
                assert_eq!(bench.folded_once().await, SESSIONS as usize);
                stored_lines.push(bench.stored_lines().await);
            }
            (stored_lines.remove(0), stored_lines.remove(0))
        });
        prop_assert_eq!(disturbed, undisturbed);
    }
}
