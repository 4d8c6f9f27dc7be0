//! Memory on a real database without a model. After any changes of messages, it must equal a memory that is built from
//! the final messages.

mod cut;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::recall::VectorSource;
use chime_access::gateway::ask::{Gateway, GatewayParts, Models};
use chime_access::gateway::{DailyBudget, ModelGuard};
use chime_core::config::{DailyTokens, MemoryConfig, Redaction, SessionIdle};
use chime_core::prompts::Prompts;
use chime_core::testkit::{CHAT, CHAT_KEY, transcript};
use chime_core::{
    Chat, ChatKind, Conversation, Job, JobPayload, Message, MessageId, Rolling, Seq, Session, Timestamp, Zone,
};
use chime_jobs::worker::Wake;
use chime_jobs::{JobError, JobOutcome, JobResult};
use chime_llm::Llm;
use chime_runtime::clock::Clock;
use chime_store::family::Cause;
use chime_store::forget::{ForgetOptions, Replacement};
use chime_store::testkit::write_new_database;
use chime_store::{Priority, Store, chats, forget, jobs, memory as kept, messages, sessions, summaries};

const HOUR: Duration = Duration::from_hours(1);
const HERE: Conversation = Conversation { chat: CHAT_KEY, forum_topic: None };

struct Bench {
    memory: Memory,
    _folder: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Self {
        // A folder in the machine's memory if possible: a simulated year takes thousands of commits.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let clock = Clock::system();
        let path = folder.path().join("chime.db");
        write_new_database(&path).await;
        let (store, _) = Store::open(&path, clock.now()).unwrap();
        let models = Models { answer: Llm::Offline, summary: Llm::Offline, extract: Llm::Offline, listed: Vec::new() };
        let gateway = Gateway::new(GatewayParts {
            store: store.clone(),
            clock: clock.clone(),
            models,
            guard: ModelGuard::default(),
            budget: DailyBudget::default(),
        });
        let config = MemoryConfig {
            is_on: true,
            idle: SessionIdle { in_groups: HOUR, in_private: HOUR },
            max_messages: 20,
            max_history: 60,
            redaction: Redaction::Summaries,
        };
        let model = SummaryModel { gateway, caps: DailyTokens::default(), redaction: Redaction::Summaries };
        let memory = Memory {
            store,
            clock,
            wake: Wake::default(),
            prompts: Arc::new(Prompts::load(None).unwrap()),
            config,
            zone: Zone::UTC,
            model,
            vectors: VectorSource::Off,
            announces: false,
        };
        let bench = Self { memory, _folder: folder };
        let chat = Chat { id: CHAT, kind: ChatKind::Supergroup, title: None, username: None };
        bench.write(move |tx| chats::upsert(tx, &chat).map(drop)).await;
        bench
    }

    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&chime_store::Writer<'_>) -> chime_store::Result<T> + Send + 'static,
    ) -> T {
        self.memory.store.write(Priority::Background, work).await.unwrap()
    }

    /// Stores a message in the same way as the daemon.
    async fn take_in(&self, message: Message) {
        self.write(move |tx| {
            let row = chats::find(tx, CHAT)?.unwrap();
            if !matches!(messages::take_in(tx, &row, &message)?, messages::TakenIn::Known(_)) {
                sessions::note(tx, HERE, message.sent_at)?;
            }
            chats::upsert_member(tx, row.key, &message.sender)
        })
        .await;
    }

    async fn forget(&self, id: MessageId) {
        self.write(move |tx| {
            let Some(stored) = messages::find(tx, CHAT, id)? else { return Ok(()) };
            let options =
                ForgetOptions { replacement: Replacement::Stub, cause: Cause::Forgotten, repeats: |_, _| false };
            forget::messages(tx, &[(stored.chat, stored.seq)], options).map(drop)
        })
        .await;
    }

    /// Divides the conversation, then runs jobs until none is due.
    async fn work(&self) {
        loop {
            assert!(matches!(self.memory.divide().await, Ok(JobOutcome::UntilNextRun)));
            assert!(matches!(self.memory.keep_up().await, Ok(JobOutcome::UntilNextRun)));
            let later = self.memory.clock.now().plus(HOUR);
            let due = self.memory.store.read(move |conn| jobs::due(conn, later, 100, 1000)).await.unwrap();
            if due.is_empty() {
                return;
            }
            for job in due {
                self.do_one(&job).await;
            }
        }
    }

    async fn do_one(&self, job: &Job) {
        loop {
            match self.attempt(job).await {
                Ok(JobOutcome::Finished) => return,
                Ok(JobOutcome::WaitUntil(_)) | Err(JobError::Later(_)) => {}
                failed => panic!("{failed:?}"),
            }
        }
    }

    async fn attempt(&self, job: &Job) -> JobResult {
        match &job.payload {
            JobPayload::Summary { session, .. } => self.memory.summarize(job, *session).await,
            JobPayload::Tags { session, .. } => self.memory.tag(job, *session).await,
            JobPayload::SummaryVector { session, .. } => self.memory.embed(job, *session).await,
            JobPayload::Recent { key, .. } => self.memory.roll_recent(job, *key).await,
            JobPayload::History { chat, key } => self.memory.fold_history(job, *chat, *key).await,
            JobPayload::Thread { key, forum_topic, messages, .. } => {
                let conversation = Conversation { chat: *key, forum_topic: *forum_topic };
                self.memory.summarize_thread(job, conversation, messages).await
            }
            other => panic!("{other:?}"),
        }
    }

    /// Returns the contents of the whole memory as text, for comparison.
    async fn stored_lines(&self) -> Vec<String> {
        self.write(|tx| {
            let all: Vec<Session> =
                sessions::begun_from(tx, HERE, (Timestamp::default(), MessageId(i64::MIN)), 10_000)?;
            let mut stored_lines = Vec::new();
            for session in all {
                let summary = summaries::mini(tx, session.id)?.map(|it| it.bullets);
                stored_lines.push(format!("{} {:?} {} {summary:?}", session.id, session.last, session.is_folded));
            }
            for kind in [Rolling::Recent, Rolling::History] {
                let rolled = summaries::rolling(tx, CHAT_KEY, kind)?.map(|it| (it.summary.bullets, it.sessions));
                stored_lines.push(format!("{kind:?} {rolled:?}"));
            }
            Ok(stored_lines)
        })
        .await
    }

    async fn make_anew(&self) {
        self.write(|tx| kept::forget_chat(tx, CHAT_KEY)).await;
        self.work().await;
    }
}

/// Returns message `number` with the text `words`, sent `minutes` before `now`.
fn message(number: u32, minutes: u32, words: &str, now: Timestamp) -> Message {
    let mut message = transcript(&format!("10:00 ann#{number} {words}")).remove(0).message;
    message.sent_at = Timestamp::from_secs(now.secs() - i64::from(minutes) * 60);
    message
}

#[derive(Debug, Clone)]
enum Happens {
    /// A new message with this number arrives, or the existing one is edited.
    Said {
        number: u32,
        words: usize,
    },
    Forgotten {
        number: u32,
    },
    /// All due jobs run.
    Worked,
    DaysPass {
        days: u32,
    },
}

const WORDS: [&str; 5] = [
    "we decided to take the red tent and 3 ropes to the lake on Friday",
    "I'll book a table for nine people at the thai restaurant near the bridge",
    "the old projector in the club room shows everything in green again",
    "ok",
    "can somebody please bring the blue cable from the cupboard tomorrow at 18:30?",
];

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        6 => (1_u32..40, 0..WORDS.len()).prop_map(|(number, words)| Happens::Said { number, words }),
        1 => (1_u32..40).prop_map(|number| Happens::Forgotten { number }),
        2 => Just(Happens::Worked),
        1 => (1_u32..30).prop_map(|days| Happens::DaysPass { days }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_order_of_late_edited_and_forgotten_messages_ends_with_the_memory_made_from_nothing(
        story in prop::collection::vec(happens(), 5..60), minutes in prop::collection::vec(0_u32..60_000, 40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (lived, anew) = runtime.block_on(async {
            let bench = Bench::new().await;
            let begin = bench.memory.clock.now();
            let mut edits = 0;
            for step in story {
                match step {
                    Happens::Said { number, words } => {
                        edits += 1;
                        let mut said = message(number, minutes[number as usize], WORDS[words], begin);
                        said.edited_at = Some(begin.plus(Duration::from_secs(edits)));
                        bench.take_in(said).await;
                    }
                    Happens::Forgotten { number } => bench.forget(MessageId(number.into())).await,
                    Happens::Worked => bench.work().await,
                    Happens::DaysPass { days } => bench.memory.clock.advance(24 * HOUR * days),
                }
            }
            bench.memory.clock.advance(2 * HOUR);
            bench.work().await;
            let lived = bench.stored_lines().await;
            bench.make_anew().await;
            (lived, bench.stored_lines().await)
        });
        prop_assert_eq!(lived, anew);
    }
}

/// When a message is forgotten, answers that were shown a summary of it are deleted: a summary must not cover too many.
#[tokio::test]
async fn a_talk_that_never_ends_is_summed_up_by_one_summary_after_the_other() {
    const DAYS: u32 = 8;
    const OLDEST: u32 = 140;
    let bench = Bench::new().await;
    let begin = bench.memory.clock.now();
    for day in 0..DAYS {
        bench.write(move |tx| take_in_a_day(tx, begin.plus(24 * HOUR * day), day * 200, 200)).await;
    }
    for first in (1..=DAYS * 200 - OLDEST).step_by(35) {
        let oldest: Vec<Seq> = (first..first + OLDEST).map(Seq).collect();
        let payload = JobPayload::Thread { chat: CHAT, key: CHAT_KEY, forum_topic: None, messages: oldest.clone() };
        let (wanted, now) = (payload.clone(), bench.memory.clock.now());
        let job = bench.write(move |tx| {
            jobs::add_or_move(tx, &payload, now)?;
            jobs::find(tx, &payload)
        });
        bench.do_one(&job.await.unwrap_or_else(|| panic!("no job {wanted:?}"))).await;
        let shown = bench.write(move |tx| {
            let shown = thread_summary(tx, CHAT_KEY, &oldest)?.expect("a summary");
            Ok((shown.sources.len(), oldest.iter().all(|seq| shown.sources.contains(seq))))
        });
        let (count, is_whole) = shown.await;
        assert!(is_whole && count <= 540, "from {first}: stands for {count}");
    }
}

/// Nothing can be shown of lines that are too long and have no end of a sentence, but a model can summarize them.
#[tokio::test]
async fn a_session_without_a_line_to_show_waits_for_a_model_and_later_ones_have_summaries() {
    let bench = Bench::new().await;
    let now = bench.memory.clock.now();
    for number in 1..5 {
        bench.take_in(message(number, 600 - number, &"the lake and the boat and the oars ".repeat(9), now)).await;
    }
    for (number, words) in [(5, WORDS[0]), (6, "Ben brings the gas and the big pan for ten people"), (7, WORDS[0])] {
        bench.take_in(message(number, 300 - number, words, now)).await;
    }
    bench.work().await;
    let extracts = bench.write(|tx| {
        let shown = summaries::minis_between(tx, CHAT_KEY, Timestamp::default(), Timestamp::END, 9)?;
        Ok((kept::extracts_of(tx, CHAT_KEY, "a model", 9)?.len(), shown.len()))
    });
    assert_eq!(extracts.await, (2, 1));
}

/// In half a simulated year of a busy group without a model, sessions, History and the limits are right at every step.
#[tokio::test]
async fn half_a_year_of_a_busy_group_keeps_every_cap() {
    const DAYS: u32 = 180;
    const A_DAY: u32 = 200;
    let mut bench = Bench::new().await;
    bench.memory.config.max_messages = 500;
    let watch = bench.memory.clock.stopwatch();
    let begin = bench.memory.clock.now();
    for day in 0..DAYS {
        let midnight = begin.plus(24 * HOUR * day);
        bench.write(move |tx| take_in_a_day(tx, midnight, day * A_DAY, A_DAY)).await;
        bench.memory.clock.advance(24 * HOUR);
        bench.work().await;
        if day % 30 == 29 {
            bench.check_caps().await;
        }
    }
    let stored_lines = bench.stored_lines().await;
    let (history, recent) = (stored_lines.last().unwrap(), &stored_lines[stored_lines.len() - 2]);
    let folded = stored_lines.iter().filter(|line| line.contains(") true ")).count();
    let is_of_the_talk =
        |summary: &str| ["tent", "table", "projector", "cable"].iter().any(|word| summary.contains(word));
    assert!(is_of_the_talk(history) && is_of_the_talk(recent) && folded > 1000, "{folded} folded: {history}");
    let bytes = bench.memory.store.read(chime_store::size).await.unwrap();
    println!(
        "{DAYS} days of {A_DAY} messages: {} sessions in {:?}, {} bytes for 10,000 messages",
        stored_lines.len() - 2,
        watch.elapsed(),
        bytes * 10_000 / u64::from(DAYS * A_DAY)
    );
}

/// Stores the messages of a day: eight sessions that are two hours apart.
fn take_in_a_day(tx: &chime_store::Writer<'_>, midnight: Timestamp, from: u32, count: u32) -> chime_store::Result<()> {
    let row = chats::find(tx, CHAT)?.unwrap();
    for number in 0..count {
        let mut said = message(from + number + 1, 0, "x", midnight);
        let talk = number / 25;
        said.sent_at = midnight.plus(HOUR * talk * 2).plus(Duration::from_secs(u64::from(number % 25) * 60));
        said.text = format!("{} number {}", WORDS[(from + number) as usize % WORDS.len()], (from + number) / 7);
        messages::take_in(tx, &row, &said)?;
        sessions::note(tx, HERE, said.sent_at)?;
    }
    Ok(())
}

impl Bench {
    async fn check_caps(&self) {
        let until = self.memory.clock.now().minus(crate::policy::RECENT);
        self.write(move |tx| {
            for kind in [Rolling::Recent, Rolling::History] {
                let cap = if kind == Rolling::Recent { 800 } else { 1200 };
                let tokens = summaries::rolling(tx, CHAT_KEY, kind)?.map_or(0, |kept| kept.summary.tokens);
                assert!(tokens <= cap, "{kind:?} has {tokens} tokens");
            }
            for session in sessions::begun_from(tx, HERE, (Timestamp::default(), MessageId(i64::MIN)), 10_000)? {
                assert_eq!(session.is_folded, session.last.0 < until, "{session:?}");
                let summary = summaries::mini(tx, session.id)?.unwrap();
                assert!(summary.tokens <= 300 && summary.bullets.len() <= 15, "{summary:?}");
            }
            Ok(())
        })
        .await;
    }
}
