//! Injects faults around the daemon, at random by a seed: in Telegram, the model and the database. Ends of the daemon
//! itself are in `lives.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use chime_core::{Timestamp, UpdateId};
use chime_sandbox::faults::Fault;
use chime_testkit::Reply;
use rusqlite::Connection;

use crate::Outcome;
use crate::stage::Stage;
use chime_eval::synthetic::Random;

/// Pause between two faults of a kind, in milliseconds. Longer than the wait before a lost send is repeated: a send
/// that is lost twice is given up, since nobody knows whether it arrived.
const POLLS_MS: (u64, u64) = (3_000, 12_000);
const SENDS_MS: (u64, u64) = (4_000, 14_000);
const MODEL_MS: (u64, u64) = (4_000, 16_000);
const REDELIVERIES_MS: (u64, u64) = (2_000, 10_000);
/// Number of waiting updates below which earlier faults of polls are over.
const CAUGHT_UP: usize = 100;
/// Duration of a hanging request.
const HANGS_MS: (u64, u64) = (2_000, 12_000);
/// Duration of a lock on the database.
const LOCKED_MS: (u64, u64) = (300, 6_000);

pub struct Mischief {
    random: Random,
    /// Time of the next fault of each kind.
    polls: Timestamp,
    sends: Timestamp,
    model: Timestamp,
    redeliveries: Timestamp,
    locks: Timestamp,
    lock_every_ms: (u64, u64),
    releases: Option<Timestamp>,
    model_releases: Option<Timestamp>,
    locked: Option<(Connection, Timestamp)>,
    /// Number of faults of each kind.
    pub counts: BTreeMap<&'static str, usize>,
}

impl Mischief {
    pub fn new(seed: u64, now: Timestamp, length: Duration) -> Self {
        // A minute apart, less in a short run.
        let apart = u64::try_from(length.as_millis() / 12).unwrap_or(u64::MAX).clamp(6_000, 60_000);
        let lock_every_ms = (apart, apart * 2);
        let mut random = Random(seed ^ 0x5EED);
        let mut first = |apart| after(now, &mut random, apart);
        Self {
            polls: first(POLLS_MS),
            sends: first(SENDS_MS),
            model: first(MODEL_MS),
            redeliveries: first(REDELIVERIES_MS),
            locks: first(lock_every_ms),
            lock_every_ms,
            releases: None,
            model_releases: None,
            locked: None,
            counts: BTreeMap::new(),
            random,
        }
    }

    pub fn is_locked(&self) -> bool {
        self.locked.is_some()
    }

    /// Injects the planned faults. `is_up` says that the daemon runs, so that there is a database to lock.
    pub fn step(&mut self, stage: &Stage, is_up: bool) -> Outcome<()> {
        let now = stage.clock.now();
        if self.polls <= now {
            self.polls = after(now, &mut self.random, POLLS_MS);
            // After more faults the daemon asks less often; if faults piled up, it would never recover.
            if stage.telegram.pending_updates() < CAUGHT_UP {
                self.disturb_polls(stage, now);
            }
        }
        if self.sends <= now {
            self.sends = after(now, &mut self.random, SENDS_MS);
            self.disturb_a_send(stage, now);
        }
        if self.model <= now {
            self.model = after(now, &mut self.random, MODEL_MS);
            self.disturb_the_model(stage, now);
        }
        if self.redeliveries <= now {
            self.redeliveries = after(now, &mut self.random, REDELIVERIES_MS);
            self.count("updates sent again");
            match self.random.below(2) {
                // Sends an update again under its own id, as Telegram may do after a fault of its own.
                0 => drop(stage.telegram.redeliver(UpdateId(stage.telegram.confirmed_offset() - 1))),
                _ => drop(stage.telegram.latest_update().and_then(|latest| stage.telegram.duplicate(latest))),
            }
        }
        if self.locks <= now && is_up && self.locked.is_none() {
            self.locks = after(now, &mut self.random, self.lock_every_ms);
            self.locked = lock(stage)?.map(|lock| (lock, after(now, &mut self.random, LOCKED_MS)));
            self.count("database locks");
        }
        self.let_go(stage, now)
    }

    fn let_go(&mut self, stage: &Stage, now: Timestamp) -> Outcome<()> {
        if self.releases.is_some_and(|at| at <= now) {
            self.releases = None;
            stage.telegram.release();
        }
        if self.model_releases.is_some_and(|at| at <= now) {
            self.model_releases = None;
            stage.model.release();
        }
        if let Some((lock, _)) = self.locked.take_if(|(_, until)| *until <= now) {
            lock.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    pub fn end(&mut self, stage: &Stage) -> Outcome<()> {
        stage.telegram.clear_faults();
        stage.telegram.release();
        stage.model.release();
        if let Some((lock, _)) = self.locked.take() {
            lock.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    fn disturb_polls(&mut self, stage: &Stage, now: Timestamp) {
        self.count("polls disturbed");
        let fault = match self.random.below(9) {
            0 => refusal(500, "Internal Server Error"),
            1 => refusal(409, "Conflict: terminated by other getUpdates request"),
            2 => Fault::Status(502, String::new()),
            3 => Fault::DropBefore,
            4 => Fault::DropAfter,
            5 => Fault::Garbage,
            6 => Fault::Truncated,
            7 => Fault::Throttle(1 + self.random.below(3)),
            _ => self.hang(Fault::Hang, now),
        };
        let times = if fault == Fault::Hang { 1 } else { 1 + self.random.below(3) as usize };
        stage.telegram.fault("getUpdates", fault, times);
    }

    fn disturb_a_send(&mut self, stage: &Stage, now: Timestamp) {
        self.count("sends disturbed");
        let fault = match self.random.below(10) {
            0 => refusal(500, "Internal Server Error"),
            1 => Fault::Status(502, String::new()),
            2 | 3 => Fault::Throttle(1 + self.random.below(5)),
            4 => Fault::DropBefore,
            5 => Fault::DropAfter,
            6 => Fault::Garbage,
            7 => Fault::Truncated,
            8 => Fault::Delay(Duration::from_secs(3)),
            _ => match self.random.below(2) {
                0 => self.hang(Fault::Hang, now),
                _ => self.hang(Fault::HangAfter, now),
            },
        };
        stage.telegram.fault("sendMessage", fault, 1);
    }

    fn disturb_the_model(&mut self, stage: &Stage, now: Timestamp) {
        self.count("model disturbed");
        let reply = match self.random.below(20) {
            0 | 1 => Reply::Status(500, r#"{"error":{"message":"The server had an error"}}"#.to_owned()),
            2 => Reply::Throttle(2),
            3 => Reply::Html502,
            4 => Reply::Html200,
            5 => Reply::Garbage,
            6 => Reply::EmptyChoices,
            7 => Reply::NullChoices,
            8 => Reply::Blank,
            9 => Reply::CutBody,
            10 => Reply::CutJson,
            11 => Reply::Filtered,
            12 => Reply::NoFinish,
            13 => Reply::ErrorIn200,
            14 => Reply::Truncated("They settled on".to_owned()),
            15 => Reply::Huge(9_000),
            16 | 17 => Reply::Slow(Duration::from_millis(500 + self.random.below(8_000)), "Friday.".to_owned()),
            18 => Reply::Held("Friday at seven.".to_owned()),
            _ => Reply::Hang,
        };
        if matches!(reply, Reply::Hang | Reply::Held(_)) {
            self.model_releases = Some(after(now, &mut self.random, HANGS_MS));
        }
        // A single fault is repaired by a retry; several in a row lead to an apology.
        let times = 1 + self.random.below(5) as usize;
        stage.model.script(std::iter::repeat_n(reply, times));
    }

    fn hang(&mut self, fault: Fault, now: Timestamp) -> Fault {
        self.releases = Some(after(now, &mut self.random, HANGS_MS));
        fault
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}

fn after(now: Timestamp, random: &mut Random, (shortest, longest): (u64, u64)) -> Timestamp {
    now.plus(Duration::from_millis(shortest + random.below(longest - shortest)))
}

fn refusal(code: u16, why: &str) -> Fault {
    Fault::Status(code, format!(r#"{{"ok":false,"error_code":{code},"description":"{why}"}}"#))
}

/// Takes the lock as another program would; `None` if it is not available.
fn lock(stage: &Stage) -> Outcome<Option<Connection>> {
    let database = stage.database();
    if !database.exists() {
        return Ok(None);
    }
    let conn = Connection::open(database)?;
    conn.busy_timeout(Duration::from_millis(500))?;
    Ok(conn.execute_batch("BEGIN EXCLUSIVE").is_ok().then_some(conn))
}
