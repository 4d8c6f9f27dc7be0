//! Rule of the first design: a conversation is the run of messages before the trigger without a long silence, and the
//! message that the trigger replies to. It is a baseline for measurements, and gives one feature of candidates.

use std::time::Duration;

use crate::context::history::History;
use chime_core::{StoredMessage, Timestamp};

#[derive(Debug, Clone, Copy)]
pub struct SeedRule {
    /// Maximum messages of a cluster, which is a run of messages without a long silence.
    pub lookback_limit: usize,
    /// Maximum silence inside a cluster; a longer one ends it.
    pub time_threshold: Duration,
}

impl Default for SeedRule {
    fn default() -> Self {
        Self { lookback_limit: 20, time_threshold: Duration::from_hours(1) }
    }
}

impl SeedRule {
    /// Returns the newest run of messages before `from` without a silence longer than the threshold, newest first.
    pub fn cluster<'a>(
        &self,
        newest_first: impl Iterator<Item = &'a StoredMessage>,
        from: Timestamp,
    ) -> impl Iterator<Item = &'a StoredMessage> {
        let mut after = from;
        let threshold = self.time_threshold;
        newest_first.take(self.lookback_limit).take_while(move |stored| {
            let silence = after.since(stored.message.sent_at);
            after = stored.message.sent_at;
            silence <= threshold
        })
    }

    /// Returns the cluster before the trigger, newest first, and then the message that the trigger replies to.
    pub fn select<'a>(&self, history: &'a History) -> Vec<&'a StoredMessage> {
        let mut selected: Vec<&StoredMessage> =
            self.cluster(history.recent.iter().rev(), history.trigger.message.sent_at).collect();
        let is_anchor = |stored: &&StoredMessage| Some(stored.message.id) == history.trigger.message.reply_to;
        let anchor = history.recent.iter().chain(&history.linked).find(is_anchor);
        selected.extend(anchor.filter(|anchor| selected.iter().all(|stored| stored.seq != anchor.seq)));
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::testkit::transcript;

    /// Checks the messages that the rule selects. The last line of `chat` is the trigger.
    #[track_caller]
    fn check(rule: SeedRule, chat: &str, expected: &[i64]) {
        let mut recent = transcript(chat);
        let trigger = recent.pop().expect("a trigger");
        let history = History::new(trigger, recent, Vec::new());
        let mut ids: Vec<i64> = rule.select(&history).iter().map(|stored| stored.message.id.0).collect();
        ids.sort_unstable();
        assert_eq!(ids, expected);
    }

    /// Scenario A of the first design: only message 3 is close enough to the trigger in time.
    #[test]
    fn scenario_a_of_the_seed() {
        for ask in ["@bot", "@bot thoughts?"] {
            let chat = format!(
                "
                -3d 10:00 ann#1 We should look at the restaurant for the gathering
                -2d 10:00 bob#2 Any thoughts?
                10:00 cat#3 The thai restaurant on 10th Ave?
                10:10 dan#4 {ask}
                "
            );
            check(SeedRule::default(), &chat, &[3]);
        }
    }

    #[test]
    fn scenario_b_of_the_seed_a_deep_reply() {
        let chat = "
            -3d 10:00 ann#1 We should look at the restaurant for the gathering
            10:10 dan#4>1 @bot help with this
            ";
        check(SeedRule::default(), chat, &[1]);
    }

    #[test]
    fn the_gap_cuts_when_it_is_longer_than_the_threshold() {
        check(SeedRule::default(), "08:00 ann#1 one\n09:00 bob#2 two\n10:00 cat#3 @bot", &[1, 2]);
        check(SeedRule::default(), "08:00 ann#1 one\n09:00:01 bob#2 two\n10:00 cat#3 @bot", &[2]);
    }

    #[test]
    fn limit_and_threshold_act() {
        let chat = "09:58 ann#1 one\n09:59 bob#2 two\n10:00 cat#3 three\n10:01 dan#4 @bot";
        check(SeedRule { lookback_limit: 2, ..SeedRule::default() }, chat, &[2, 3]);
        check(SeedRule { time_threshold: Duration::from_secs(59), ..SeedRule::default() }, chat, &[]);
    }
}
