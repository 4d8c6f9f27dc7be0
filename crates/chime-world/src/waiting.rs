//! Waiting for conditions, with a timeout that reports the state of the world.

use std::time::Duration;

use serde_json::Value;

use crate::PATIENCE;
use crate::World;
use chime_core::{Class, Job, MessageId, Timestamp};
use chime_sandbox::{BotAction, SandboxMessage};
use chime_store::{Reader, Result, jobs};

impl World {
    /// Returns the next message that the bot sends in any chat.
    pub async fn next_sent(&mut self) -> SandboxMessage {
        let waited = tokio::time::timeout(PATIENCE, self.telegram.next_sent(self.read)).await;
        let Ok((message, next)) = waited else { panic!("the bot says nothing.\n{}", self.what_was_seen()) };
        self.read = next;
        message
    }

    /// Returns the bot's next message, which must reply to `trigger`.
    pub async fn answer_to(&mut self, trigger: MessageId) -> SandboxMessage {
        let message = self.next_sent().await;
        assert_eq!(message.reply_to, Some(trigger), "the reply is to another message.\n{}", self.what_was_seen());
        message
    }

    /// Returns the text of the answer to `trigger`, without the notice about kept data in a chat's first answer.
    pub async fn words_to(&mut self, trigger: MessageId) -> String {
        let text = self.answer_to(trigger).await.text;
        text.split("\n\nFor everybody here: ").next().unwrap_or_default().to_owned()
    }

    /// Returns the bot's next reaction, skipping its other actions.
    pub async fn next_reaction(&mut self) -> (MessageId, Vec<String>) {
        let reacted = async {
            let mut cursor = self.read;
            loop {
                match self.telegram.next_from_bot(cursor).await {
                    (BotAction::Reacted { message, emoji, .. }, _) => return (message, emoji),
                    (_, next) => cursor = next,
                }
            }
        };
        let waited = tokio::time::timeout(PATIENCE, reacted).await;
        waited.unwrap_or_else(|_| panic!("the bot does not react.\n{}", self.what_was_seen()))
    }

    /// Waits for the `number`th request to the model, counted from 1, and returns all text in its prompt.
    pub async fn prompt(&self, number: usize) -> String {
        self.model.wait_for_requests(number).await.unwrap_or_else(|error| panic!("{error}\n{}", self.what_was_seen()));
        let requests = self.model.requests();
        let messages = requests.get(number - 1).and_then(|request| request["messages"].as_array());
        let words = messages.into_iter().flatten().flat_map(|message| match &message["content"] {
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            content => content.as_str().into_iter().collect::<Vec<_>>(),
        });
        words.collect::<Vec<_>>().join("\n\n")
    }

    /// Waits until every update is stored and every job has ended.
    pub async fn settled(&self) {
        let settling = async {
            self.telegram.all_confirmed().await;
            while self.read_store(jobs::counts).await.0 > 0 {
                self.pass_time().await;
            }
        };
        if tokio::time::timeout(PATIENCE, settling).await.is_err() {
            let open = self.read_store(|conn| jobs::due(conn, Timestamp::END, 100, 100)).await;
            panic!("work does not end: {open:?}\n{}", self.what_was_seen());
        }
    }

    /// Moves the clock by at least `span`, until every job has ended and every periodic job has run again. A test that
    /// uses it should set `MODEL_TIMEOUT` and `ANSWER_DEADLINE` to an hour, since the clock runs ahead of the model.
    pub async fn quiet(&self, span: Duration) {
        /// Step while jobs run: background work starts at a bounded rate.
        const WORKING: Duration = Duration::from_millis(250);
        /// Steps without jobs: much shorter than the silence that ends a session, and few enough for many days.
        const IDLE: [Duration; 2] = [Duration::from_mins(15), Duration::from_hours(1)];
        let idle = (span / 100).clamp(IDLE[0], IDLE[1]);
        let clock = self.daemon_clock.as_ref().unwrap_or(&self.clock);
        let end = clock.now().plus(span);
        let quieting = async {
            self.telegram.all_confirmed().await;
            loop {
                let now = clock.now();
                let look = move |conn: &Reader| {
                    let first = jobs::next_due(conn, Timestamp::from_millis(i64::MIN))?;
                    let is_due = first.is_some_and(|at| at <= now);
                    Ok((is_due, is_due || jobs::counts(conn)?.0 > 0))
                };
                let (is_due, is_open) = self.read_store(look).await;
                if !is_open && now >= end {
                    return;
                }
                let somebody_waits = clock.next_wait();
                clock.advance(if is_due { WORKING } else { idle });
                // A running job may not wait on the clock at all.
                let _ = tokio::time::timeout(Duration::from_millis(1), somebody_waits).await;
            }
        };
        // A day takes a second on a busy machine.
        if tokio::time::timeout(PATIENCE * 4 + span / 50_000, quieting).await.is_err() {
            let open = self.read_store(|conn| jobs::due(conn, Timestamp::END, 100, 100)).await;
            panic!("work does not end: {open:?}\n{}", self.what_was_seen());
        }
    }

    /// Waits until `fact` is true of the database.
    pub async fn until<F>(&self, what: &str, fact: F)
    where
        F: Fn(&Reader) -> Result<bool> + Clone + Send + 'static,
    {
        let waiting = async {
            while !self.read_store(fact.clone()).await {
                self.pass_time().await;
            }
        };
        if tokio::time::timeout(PATIENCE, waiting).await.is_err() {
            panic!("waited in vain until {what}\n{}", self.what_was_seen());
        }
    }

    /// Waits a moment. Background work starts at a bounded rate by the daemon's clock, and some of it is delayed by a
    /// few seconds, so the clock moves faster while nothing else is due, but not so fast that a model times out.
    async fn pass_time(&self) {
        const LOOK: Duration = Duration::from_millis(5);
        const SPED_UP: Duration = Duration::from_millis(50);
        const PUT_OFF: Duration = Duration::from_secs(10);
        if self.daemon.is_some() {
            let clock = self.daemon_clock.as_ref().unwrap_or(&self.clock);
            let now = clock.now();
            let open = self.read_store(move |conn| jobs::due(conn, now.plus(PUT_OFF), 1, 100)).await;
            let is_background = |job: &&Job| job.kind().policy().class == Class::Background;
            match open.iter().find(|job| job.due_at <= now) {
                Some(next) if is_background(&next) => clock.advance(SPED_UP),
                Some(_) => {}
                None => {
                    let put_off = open.iter().filter(is_background).filter(|job| !job.kind().policy().is_periodic());
                    clock.advance(put_off.map(|job| job.due_at.since(now)).min().unwrap_or_default());
                }
            }
        }
        self.clock.sleep(LOOK).await;
    }
}
