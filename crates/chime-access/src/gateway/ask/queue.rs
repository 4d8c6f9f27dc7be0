//! Queue for calls to the model server: limits the parallel calls to the server's slots, and lets answers go first.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use chime_core::Timestamp;

/// A slow server is free for background work if no answer was requested for this time.
const QUIET: Duration = Duration::from_secs(120);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// A member waits for the answer.
    Answer,
    /// Nobody waits. The call is cancelled if an answer needs its slot.
    Background,
}

/// Calls that wait for a slot, and calls in flight. Clones share one queue.
#[derive(Debug, Clone, Default)]
pub struct CallQueue(Arc<QueueShared>);

#[derive(Debug, Default)]
struct QueueShared {
    line: Mutex<QueueState>,
    changed: Notify,
}

/// State of the queue; its methods do no IO.
#[derive(Debug, Default)]
struct QueueState {
    slots: usize,
    next: u64,
    waiting: Vec<(u64, Urgency)>,
    running: Vec<RunningCall>,
    last_answer: Option<Timestamp>,
}

#[derive(Debug)]
struct RunningCall {
    ticket: u64,
    urgency: Urgency,
    called_off: CancellationToken,
}

/// Place in the queue, and later a slot of the server. Dropping it frees the place or the slot.
#[derive(Debug)]
pub struct ServerSlot {
    queue: CallQueue,
    ticket: u64,
}

impl CallQueue {
    /// Sets the number of parallel calls, at least one.
    pub fn set_slots(&self, slots: usize) {
        self.0.line.lock().slots = slots.max(1);
        self.0.changed.notify_waiters();
    }

    /// Returns how long background work must wait before it may call a slow server, or `None` if it may call now.
    pub fn until_quiet(&self, now: Timestamp) -> Option<Duration> {
        self.0.line.lock().until_quiet(now)
    }

    /// Waits for a slot. If the future is dropped, the call leaves the queue. `called_off` is cancelled if an answer
    /// needs the slot of a background call.
    pub async fn enter(&self, urgency: Urgency, now: Timestamp, called_off: &CancellationToken) -> ServerSlot {
        let ticket = self.0.line.lock().join(urgency, now);
        let slot = ServerSlot { queue: self.clone(), ticket };
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            // Starts to listen before the check below, so that a change between the check and the wait is noticed.
            changed.as_mut().enable();
            if self.0.line.lock().start(ticket, called_off) {
                return slot;
            }
            changed.await;
        }
    }
}

impl Drop for ServerSlot {
    fn drop(&mut self) {
        self.queue.0.line.lock().leave(self.ticket);
        self.queue.0.changed.notify_waiters();
    }
}

impl QueueState {
    fn join(&mut self, urgency: Urgency, now: Timestamp) -> u64 {
        self.next += 1;
        self.waiting.push((self.next, urgency));
        if urgency == Urgency::Answer {
            self.last_answer = Some(now);
        }
        self.call_off();
        self.next
    }

    /// Starts the call and returns `true` if it is next and a slot is free.
    fn start(&mut self, ticket: u64, called_off: &CancellationToken) -> bool {
        let first = |urgency| self.waiting.iter().find(|one| one.1 == urgency);
        let Some((next, urgency)) = first(Urgency::Answer).or(first(Urgency::Background)).copied() else {
            return false;
        };
        // Cancelled calls hold their slot until they end, so they count as running.
        if next != ticket || self.running.len() >= self.slots.max(1) {
            return false;
        }
        self.waiting.retain(|one| one.0 != ticket);
        self.running.push(RunningCall { ticket, urgency, called_off: called_off.clone() });
        true
    }

    fn leave(&mut self, ticket: u64) {
        self.waiting.retain(|one| one.0 != ticket);
        self.running.retain(|one| one.ticket != ticket);
    }

    /// Cancels as many running background calls, the newest first, as waiting answers need slots.
    fn call_off(&mut self) {
        let answers = self.waiting.iter().filter(|one| one.1 == Urgency::Answer).count();
        let is_ending = |one: &&RunningCall| one.called_off.is_cancelled();
        let free = self.slots.max(1).saturating_sub(self.running.len()) + self.running.iter().filter(is_ending).count();
        let in_the_way = self
            .running
            .iter()
            .rev()
            .filter(|one| one.urgency == Urgency::Background && !one.called_off.is_cancelled());
        in_the_way.take(answers.saturating_sub(free)).for_each(|one| one.called_off.cancel());
    }

    fn until_quiet(&self, now: Timestamp) -> Option<Duration> {
        let mut is_answering = self.waiting.iter().map(|one| one.1).chain(self.running.iter().map(|one| one.urgency));
        if is_answering.any(|urgency| urgency == Urgency::Answer) {
            return Some(QUIET);
        }
        // Never waits longer than `QUIET`, even if the clock was set back after the last answer.
        let left = self.last_answer?.plus(QUIET).since(now).min(QUIET);
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1000);

    fn line(slots: usize) -> QueueState {
        QueueState { slots, ..QueueState::default() }
    }

    fn starts(line: &mut QueueState, ticket: u64) -> bool {
        line.start(ticket, &CancellationToken::new())
    }

    #[test]
    fn no_more_calls_run_than_there_are_slots_and_the_first_is_next() {
        let mut line = line(2);
        let tickets: Vec<u64> = (0..4).map(|_| line.join(Urgency::Answer, NOW)).collect();
        assert!(!starts(&mut line, tickets[1]), "not before the first");
        assert!(starts(&mut line, tickets[0]) && starts(&mut line, tickets[1]));
        assert!(!starts(&mut line, tickets[2]));
        line.leave(tickets[0]);
        assert!(!starts(&mut line, tickets[3]) && starts(&mut line, tickets[2]));
        line.leave(tickets[3]);
        assert!(line.waiting.is_empty(), "who gives up while waiting is forgotten");
    }

    #[test]
    fn an_answer_goes_before_background_work_and_calls_it_off() {
        let mut line = line(1);
        let (summary, tags) = (line.join(Urgency::Background, NOW), line.join(Urgency::Background, NOW));
        let called_off = CancellationToken::new();
        assert!(line.start(summary, &called_off), "nobody else is there");
        assert!(!called_off.is_cancelled());
        let answer = line.join(Urgency::Answer, NOW);
        assert!(called_off.is_cancelled());
        assert!(!starts(&mut line, answer), "its slot is not free yet");
        line.leave(summary);
        assert!(!starts(&mut line, tags));
        assert!(starts(&mut line, answer));
        let second = line.join(Urgency::Answer, NOW);
        line.leave(answer);
        assert!(!starts(&mut line, tags) && starts(&mut line, second));
    }

    #[test]
    fn no_more_is_called_off_than_is_needed() {
        let mut line = line(3);
        let running = [CancellationToken::new(), CancellationToken::new()];
        for token in &running {
            let ticket = line.join(Urgency::Background, NOW);
            assert!(line.start(ticket, token));
        }
        let called_off = || running.each_ref().map(CancellationToken::is_cancelled);
        line.join(Urgency::Answer, NOW);
        assert_eq!(called_off(), [false, false], "a slot is free");
        line.join(Urgency::Answer, NOW);
        assert_eq!(called_off(), [false, true], "the newest has lost least");
        line.join(Urgency::Answer, NOW);
        assert_eq!(called_off(), [true, true]);
    }

    #[test]
    fn a_slow_server_is_left_to_answers_for_two_minutes() {
        let mut line = line(1);
        assert_eq!(line.until_quiet(NOW), None);
        let answer = line.join(Urgency::Answer, NOW);
        assert_eq!(line.until_quiet(NOW.plus(QUIET * 2)), Some(QUIET), "it is still under way");
        line.leave(answer);
        assert_eq!(line.until_quiet(NOW.plus(QUIET / 2)), Some(QUIET / 2));
        assert_eq!(line.until_quiet(NOW.plus(QUIET)), None);
        assert_eq!(line.until_quiet(NOW.minus(QUIET * 9)), Some(QUIET), "the clock was set back");
    }

    #[tokio::test]
    async fn whoever_waits_starts_as_soon_as_a_slot_is_free() {
        let queue = CallQueue::default();
        queue.set_slots(1);
        let (never, called_off) = (CancellationToken::new(), CancellationToken::new());
        let first = queue.enter(Urgency::Answer, NOW, &never).await;
        let second = queue.enter(Urgency::Background, NOW, &called_off);
        let ((), second) = tokio::join!(async { drop(first) }, second);
        let third = queue.enter(Urgency::Answer, NOW, &never);
        let ((), _third) = tokio::join!(
            async {
                called_off.cancelled().await;
                drop(second);
            },
            third
        );
    }
}
