//! Notices to members that are put together from several texts.

use std::time::Duration;

use super::{Notices, texts};
use crate::RefusalReason;

/// Returns the notices for an ISO 639-3 `code`; in English if there are none.
pub fn notices(code: &str) -> &'static Notices {
    &texts(code).notices
}

impl Notices {
    /// Returns the notice that a question is refused, with the reason and the time after which the member can ask
    /// again.
    pub fn refused(&self, because: RefusalReason, wait: Duration) -> String {
        self.refusal(because, wait, &self.ask_again)
    }

    /// Returns the text of [`Self::refused`], with the explanation that until then refused questions only get the
    /// reaction `eyes`.
    pub fn refused_until(&self, because: RefusalReason, wait: Duration, eyes: &str) -> String {
        self.refusal(because, wait, &self.until_then).replace("{eyes}", eyes)
    }

    fn refusal(&self, because: RefusalReason, wait: Duration, when: &str) -> String {
        let why = match because {
            RefusalReason::Conversation => &self.conversation,
            RefusalReason::Member => &self.member,
            RefusalReason::Flood => &self.flood,
            RefusalReason::DailyTokens => &self.daily_tokens,
            RefusalReason::DailyTokensOfChat => &self.daily_tokens_of_chat,
            RefusalReason::DailyTokensOfMember => &self.daily_tokens_of_member,
            // Waiting does not help.
            RefusalReason::AdminsOnly => return self.admins_ask.clone(),
        };
        match wait {
            Duration::ZERO => format!("{why} {}", self.ask_again_now),
            wait => format!("{why} {}", when.replace("{wait}", &self.wait(wait))),
        }
    }

    /// Returns the notice that further questions are ignored until `time`, in the chat's time zone. For chats without
    /// reactions.
    pub fn silent_until(&self, time: &str) -> String {
        self.silent.replace("{time}", time)
    }

    /// Returns the notice that `count` triggers from a downtime are too old to answer; `None` if `count` is 0. `shown`
    /// is `count` as text.
    pub fn missed(&self, count: usize, shown: &str) -> Option<String> {
        match count {
            0 => None,
            1 => Some(self.missed_one.clone()),
            _ => Some(self.missed_many.replace("{count}", shown)),
        }
    }

    pub fn imported(&self, count: &str) -> String {
        self.imported.replace("{count}", count)
    }

    /// Formats a wait, rounded up so that nobody asks too early.
    fn wait(&self, wait: Duration) -> String {
        let secs = wait.as_millis().div_ceil(1000);
        let counted = |words: &str, n: u128| words.replace("{n}", &n.to_string());
        match secs {
            0 | 1 => self.in_a_second.clone(),
            2..60 => counted(&self.in_seconds, secs),
            60 => self.in_a_minute.clone(),
            ..7200 => counted(&self.in_minutes, secs.div_ceil(60)),
            _ => counted(&self.in_hours, secs.div_ceil(3600)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::all;

    /// Maximum number of characters of a callback answer that Telegram shows.
    const TOAST_CHARS: usize = 200;

    #[test]
    fn every_language_fills_in_every_blank() {
        for (_, texts) in all() {
            let words = &texts.notices;
            let waits = [1, 30, 60, 300, 9_000].map(|secs| words.wait(Duration::from_secs(secs)));
            for wait in waits.iter().enumerate() {
                assert!(matches!(wait.0, 0 | 2) || wait.1.contains(|c: char| c.is_ascii_digit()), "{wait:?}");
            }
            let ten_minutes = Duration::from_secs(600);
            let not_them = words.refused_until(RefusalReason::AdminsOnly, ten_minutes, "👀");
            let mut said = vec![words.silent_until("10:30"), words.missed(12, "12").unwrap(), not_them];
            assert!(said[0].contains("10:30") && said[1].contains("12"), "{said:?}");
            for because in RefusalReason::ALL.into_iter().filter(|because| *because != RefusalReason::AdminsOnly) {
                let toast = words.refused(because, ten_minutes);
                assert!(toast.chars().count() <= TOAST_CHARS && toast.contains("10"), "{toast}");
                let rendered = words.refused_until(because, ten_minutes, "👀");
                assert!(rendered.contains("👀"), "{rendered}");
                said.extend([toast, rendered, words.refused(because, Duration::ZERO)]);
            }
            for line in said.iter().chain(&waits) {
                assert!(!line.contains(['{', '}']), "{line}");
            }
            assert!(words.unknown_button.chars().count() <= TOAST_CHARS, "{}", words.unknown_button);
        }
    }

    #[test]
    fn missed_questions_are_counted_from_two_on() {
        let english = notices("eng");
        assert_eq!(english.missed(0, "0"), None);
        assert_eq!(english.missed(1, "1").as_ref(), Some(&english.missed_one));
        assert!(english.missed(1200, "1,200").is_some_and(|rendered| rendered.contains("1,200")));
    }

    #[test]
    fn a_wait_is_rounded_up() {
        let waits = [400, 5_200, 60_000, 179_001, 7_199_000, 8 * 3_600_000];
        let rendered = waits.map(|millis| notices("eng").refused(RefusalReason::Member, Duration::from_millis(millis)));
        let numbers = rendered.map(|rendered| rendered.chars().filter(char::is_ascii_digit).collect::<String>());
        assert_eq!(numbers, ["", "6", "", "3", "120", "8"]);
    }
}
