//! Short notices to members, in the chat's language. The texts are in `notices.toml`.

use std::sync::LazyLock;
use std::time::Duration;

use chime_core::Because;
use chime_core::rows::{read, rows};

rows! {
    struct NoticeCatalogue {
        language: Vec<Notices>,
    }
}

rows! {
    /// The notices in one language. Names in braces are placeholders.
    pub struct Notices {
        /// ISO 639-3.
        code: String,
        pub unknown_button: String,
        pub admins_only: String,
        /// Answer in strict chats if no source is about the question.
        pub guard: String,
        /// Mark for strict chats, in brackets behind a statement without a source.
        pub unsourced: String,
        conversation: String,
        member: String,
        flood: String,
        daily_tokens: String,
        daily_tokens_of_chat: String,
        daily_tokens_of_member: String,
        admins_ask: String,
        ask_again_now: String,
        ask_again: String,
        until_then: String,
        silent: String,
        /// Asks which person the member means; the names follow.
        pub which_person: String,
        /// Asks which suggested item the member means.
        pub which_item: String,
        /// Asks which earlier suggestion the member means.
        pub which_suggestion: String,
        /// Apology: the model gave no answer.
        pub sorry: String,
        /// Introduces the messages that an answer would have used.
        pub sorry_relevant: String,
        pub sorry_try_again: String,
        pub sorry_if_you_like: String,
        missed_one: String,
        missed_many: String,
        imported: String,
        in_a_second: String,
        in_seconds: String,
        in_a_minute: String,
        in_minutes: String,
        in_hours: String,
    }
}

/// Returns the notices for an ISO 639-3 `code`; in English if there are none.
pub fn notices(code: &str) -> &'static Notices {
    static NONE: LazyLock<Notices> = LazyLock::new(Notices::default);
    all().iter().find(|words| words.code == code).or_else(|| all().first()).unwrap_or(&NONE)
}

fn all() -> &'static [Notices] {
    // If the file did not parse, there would be no notices at all; a test ensures that it does.
    static ALL: LazyLock<Vec<Notices>> = LazyLock::new(|| {
        read::<NoticeCatalogue>(include_str!("notices.toml")).map(|file| file.language).unwrap_or_default()
    });
    &ALL
}

impl Notices {
    /// Returns the notice that a question is refused, with the reason and the time after which the member can ask
    /// again.
    pub fn refused(&self, because: Because, wait: Duration) -> String {
        self.refusal(because, wait, &self.ask_again)
    }

    /// Returns the text of [`Self::refused`], and explains that until then refused questions only get the reaction
    /// `eyes`.
    pub fn refused_until(&self, because: Because, wait: Duration, eyes: &str) -> String {
        self.refusal(because, wait, &self.until_then).replace("{eyes}", eyes)
    }

    fn refusal(&self, because: Because, wait: Duration, when: &str) -> String {
        let why = match because {
            Because::Conversation => &self.conversation,
            Because::Member => &self.member,
            Because::Flood => &self.flood,
            Because::DailyTokens => &self.daily_tokens,
            Because::DailyTokensOfChat => &self.daily_tokens_of_chat,
            Because::DailyTokensOfMember => &self.daily_tokens_of_member,
            // Waiting does not help.
            Because::AdminsOnly => return self.admins_ask.clone(),
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

    /// Returns the notice that older messages were imported.
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
    use expect_test::expect;

    use super::*;

    /// Maximum number of characters of a callback answer that Telegram shows.
    const TOAST_CHARS: usize = 200;

    #[test]
    fn every_language_has_every_line_and_fills_in_every_blank() {
        assert_eq!(all().len(), 12);
        let raw: toml::Value = toml::from_str(include_str!("notices.toml")).unwrap();
        for table in raw["language"].as_array().unwrap() {
            let empty = table.as_table().unwrap().iter().find(|(_, line)| line.as_str().is_none_or(str::is_empty));
            assert!(empty.is_none(), "{:?}: {empty:?}", table["code"]);
        }
        for words in all() {
            let waits = [1, 30, 60, 300, 9_000].map(|secs| words.wait(Duration::from_secs(secs)));
            for wait in waits.iter().enumerate() {
                assert!(matches!(wait.0, 0 | 2) || wait.1.contains(|c: char| c.is_ascii_digit()), "{wait:?}");
            }
            let ten_minutes = Duration::from_secs(600);
            let not_them = words.refused_until(Because::AdminsOnly, ten_minutes, "👀");
            let mut said = vec![words.silent_until("10:30"), words.missed(12, "12").unwrap(), not_them];
            assert!(said[0].contains("10:30") && said[1].contains("12"), "{said:?}");
            for because in Because::ALL.into_iter().filter(|because| *because != Because::AdminsOnly) {
                let toast = words.refused(because, ten_minutes);
                assert!(toast.chars().count() <= TOAST_CHARS && toast.contains("10"), "{toast}");
                let told = words.refused_until(because, ten_minutes, "👀");
                assert!(told.contains("👀"), "{told}");
                said.extend([toast, told, words.refused(because, Duration::ZERO)]);
            }
            for line in said.iter().chain(&waits) {
                assert!(!line.contains(['{', '}']), "{line}");
            }
            assert!(words.unknown_button.chars().count() <= TOAST_CHARS, "{}", words.unknown_button);
        }
    }

    #[test]
    fn what_was_missed_is_one_line_and_none_when_nothing_was() {
        let english = notices("eng");
        assert_eq!(english.missed(0, "0"), None);
        expect!["While I was away, I was tagged in a message that I did not answer. Tag me again if it still matters."]
            .assert_eq(&english.missed(1, "1").unwrap());
        expect![
            "While I was away, I was tagged in 1,200 messages that I did not answer. Tag me again if it still matters."
        ]
        .assert_eq(&english.missed(1200, "1,200").unwrap());
    }

    #[test]
    fn a_refusal_says_why_when_to_ask_again_and_what_the_eyes_mean() {
        let refused = |because, secs| notices("eng").refused_until(because, Duration::from_secs(secs), "👀");
        let told = Because::ALL
            .map(|because| refused(because, 150))
            .into_iter()
            .chain([refused(Because::DailyTokensOfMember, 0), notices("eng").silent_until("10:30")]);
        expect![[r#"
            I have been tagged very often in this conversation in a short time. Please ask again in 3 minutes. Until then, 👀 means that I saw your tag but do not answer it.
            You have tagged me very often in a short time. Please ask again in 3 minutes. Until then, 👀 means that I saw your tag but do not answer it.
            You are tagging me faster than anybody can read my answers. Please ask again in 3 minutes. Until then, 👀 means that I saw your tag but do not answer it.
            I have used up my budget for answers today. Please ask again in 3 minutes. Until then, 👀 means that I saw your tag but do not answer it.
            This chat has used up its budget for today. Please ask again in 3 minutes. Until then, 👀 means that I saw your tag but do not answer it.
            You have used up your budget for today. Please ask again in 3 minutes. Until then, 👀 means that I saw your tag but do not answer it.
            In this chat only admins can tag me. They can change that with /settings.
            You have used up your budget for today. Please ask again.
            I will not answer any more tags until 10:30."#]]
        .assert_eq(&told.collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn a_language_without_a_table_is_english() {
        assert_eq!(notices("a language that nobody speaks"), notices("eng"));
        assert_ne!(notices("est"), notices("eng"));
    }

    #[test]
    fn a_wait_is_rounded_up() {
        let waits = [400, 5_200, 60_000, 179_001, 7_199_000, 8 * 3_600_000];
        let told = waits.map(|millis| notices("eng").refused(Because::Member, Duration::from_millis(millis)));
        expect![[r#"
            You have tagged me very often in a short time. Please ask again in a second.
            You have tagged me very often in a short time. Please ask again in 6 seconds.
            You have tagged me very often in a short time. Please ask again in a minute.
            You have tagged me very often in a short time. Please ask again in 3 minutes.
            You have tagged me very often in a short time. Please ask again in 120 minutes.
            You have tagged me very often in a short time. Please ask again in 8 hours."#]]
        .assert_eq(&told.join("\n"));
    }
}
