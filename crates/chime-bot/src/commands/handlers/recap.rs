//! `/recap`: determines the period of a recap and starts it, and manages the chat's subscription.

use chrono::{Datelike, Days, Weekday};

use crate::commands::handlers::{CommandRequest, Commands, in_plain_words};
use crate::recap::worker::time_of;
use crate::recap::{A_SECOND, LONGEST, RecapArguments, RecapQuestion, RecapTime, wording};
use chime_core::trigger::{Languages, asks_for_summary, asks_others_for_summary, asks_what_was_missed};
use chime_core::{Job, JobPayload, MessageAt, Timestamp, Zone};
use chime_jobs::JobResult;
use chime_relevance::context::by_time_or_member::last_seen;
use chime_store::messages;
use chime_store::recaps::{self, Subscription};

/// Number of a member's newest messages in which their previous visit is searched.
const MOMENTS: usize = 200;

impl Commands {
    pub(super) async fn recap(&self, job: &Job, command: CommandRequest) -> JobResult {
        let zone = command.settings.zone(self.base.zone());
        let asked_at = command.message.message.sent_at;
        let is_summary = asks_for_summary(&command.args);
        let asked_in_words = in_plain_words(job).filter(|_| is_summary && !self.base.config.llm.is_offline());
        if let Some(answer) = asked_in_words {
            return self.hand_on(job, answer).await;
        }
        let languages = [command.chat.speaks(), command.chat.language];
        let asked = RecapQuestion { languages, asked_at, zone, is_reply: command.message.message.reply_to.is_some() };
        let missed_since = Languages::shipped().missed_since(&command.args);
        let is_personal = !missed_since.is_empty();
        let mut periods = missed_since.iter().map(|time| RecapArguments::parse(time, asked));
        let request = if let Some(period) = periods.find(|request| request.is_period()) {
            period
        } else if asks_what_was_missed(&command.args) {
            RecapArguments::SinceSeen
        } else if let Some(answer) = in_plain_words(job).filter(|_| is_personal) {
            return self.hand_on(job, answer).await;
        } else if is_summary {
            RecapArguments::USUAL
        } else {
            RecapArguments::parse(&command.args, asked)
        };
        match request {
            RecapArguments::Span(span) => self.start_recap(job, &command, asked_at.minus(span), is_personal).await,
            RecapArguments::Today => self.start_recap(job, &command, midnight(asked_at, zone, 0), is_personal).await,
            RecapArguments::Yesterday => {
                self.start_recap(job, &command, midnight(asked_at, zone, 1), is_personal).await
            }
            RecapArguments::SinceWeekday(day) => {
                let since = midnight(asked_at, zone, days_since(day, asked_at, zone));
                self.start_recap(job, &command, since, is_personal).await
            }
            RecapArguments::Since(since) => self.start_recap(job, &command, since, is_personal).await,
            RecapArguments::Between(since, until) => {
                let at = MessageAt::of(&command.message);
                self.hand_on(job, JobPayload::Recap { at, since, until: Some(until), personal: is_personal }).await
            }
            RecapArguments::SinceReply => match self.parent_of(&command).await? {
                Some(parent) => self.start_recap(job, &command, parent.message.sent_at, false).await,
                None => self.say(job, &command, &command.texts().recap.reply_not_kept).await,
            },
            RecapArguments::SinceSeen => {
                let (chat, user) = (command.chat.key, command.message.message.sender.id);
                let before = asked_at.minus(A_SECOND);
                let wrote = move |conn: &chime_store::Reader| messages::written_by(conn, chat, user, before, MOMENTS);
                let mut wrote = self.base.store.read(wrote).await?;
                wrote.retain(|(_, text)| !asks_others_for_summary(text));
                let wrote: Vec<Timestamp> = wrote.into_iter().map(|(at, _)| at).collect();
                // A member without an earlier visit gets a recap since their first message.
                match last_seen(asked_at, wrote.iter().copied()).or(wrote.last().copied()) {
                    Some(at) => {
                        let since = at.plus(A_SECOND).max(asked_at.minus(LONGEST));
                        self.start_recap(job, &command, since, true).await
                    }
                    None => self.say(job, &command, &command.texts().recap.never_here).await,
                }
            }
            RecapArguments::Subscribe(time) => self.subscribe(job, &command, time, zone).await,
            RecapArguments::Unsubscribe => self.unsubscribe(job, &command).await,
            RecapArguments::Unclear => {
                let chat = command.chat.key;
                let own = self.base.store.read(move |conn| recaps::of_chat(conn, chat)).await?;
                let own = own.as_ref().and_then(time_of);
                self.say(job, &command, wording::unclear(own, command.texts())).await
            }
        }
    }

    async fn start_recap(&self, job: &Job, command: &CommandRequest, since: Timestamp, personal: bool) -> JobResult {
        let at = MessageAt::of(&command.message);
        self.hand_on(job, JobPayload::Recap { at, since, until: None, personal }).await
    }

    async fn subscribe(&self, job: &Job, command: &CommandRequest, time: RecapTime, zone: Zone) -> JobResult {
        let (user, usual) = (command.message.message.sender.id, &command.texts().recap.only_admins);
        if let Some(refusal) = self.refusal_to_change(&command.chat, user, usual).await? {
            return self.say(job, command, refusal).await;
        }
        let now = self.base.clock.now();
        let subscription = Subscription {
            chat: command.chat.key,
            forum_topic: command.message.message.forum_topic,
            weekday: time.weekday.map(|day| u8::try_from(day.num_days_from_monday()).unwrap_or(0)),
            minute: time.minute,
            since: now,
        };
        let reply = wording::subscribed(time, time.next(now, zone), zone, now, command.texts());
        self.answer(job, command, &reply, move |tx| recaps::set(tx, &subscription)).await
    }

    async fn unsubscribe(&self, job: &Job, command: &CommandRequest) -> JobResult {
        let (user, usual) = (command.message.message.sender.id, &command.texts().recap.only_admins);
        if let Some(refusal) = self.refusal_to_change(&command.chat, user, usual).await? {
            return self.say(job, command, refusal).await;
        }
        let chat = command.chat.key;
        let was_there = self.base.store.read(move |conn| recaps::of_chat(conn, chat)).await?.is_some();
        let reply = wording::unsubscribed(was_there, command.texts());
        self.answer(job, command, &reply, move |tx| recaps::remove(tx, chat).map(drop)).await
    }
}

/// Returns the start of the day that was `days` days before `at`, in `zone`.
fn midnight(at: Timestamp, zone: Zone, days: u64) -> Timestamp {
    let today = zone.local(at).date_naive();
    let day = today.checked_sub_days(Days::new(days)).unwrap_or(today);
    zone.midnight(day)
}

/// Returns how many days ago the last `day` was, 1 to 7. If today is that day, returns 7, since
/// [`RecapArguments::Today`] covers today.
fn days_since(day: Weekday, at: Timestamp, zone: Zone) -> u64 {
    match zone.local(at).weekday().days_since(day) {
        0 => 7,
        days => u64::from(days),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::testkit::moment;

    #[test]
    fn a_weekday_is_the_last_one_before_today() {
        let (at, zone) = (moment("09:30"), Zone::UTC);
        let today = zone.local(at).weekday();
        let ago = |day| at.since(midnight(at, zone, days_since(day, at, zone))).as_secs() / 1800;
        assert_eq!(ago(today.pred()), 24 * 2 + 19);
        assert_eq!(ago(today.succ()), 6 * 24 * 2 + 19);
        assert_eq!(ago(today), 7 * 24 * 2 + 19);
    }
}
