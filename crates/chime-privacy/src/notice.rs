//! Privacy notice: a message that each chat gets once and that says what the bot stores.

use std::time::Duration;

use crate::facts::{PrivacyFacts, command};
use chime_core::escape_marks;
use chime_core::lang::languages;
use chime_core::texts::{PrivacyNoticeTexts, texts};

const DAY_SECS: u64 = 24 * 60 * 60;

/// Reason for sending the notice, which decides how it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeKind {
    /// The chat has had no notice yet.
    Everything,
    /// The chat had its notice before conversations were summarized.
    Memory,
    /// The chat had its notice before voice messages were transcribed.
    Voice,
}

/// Renders the notice as Markdown in the language with this ISO 639-3 `code`, or in English if there is no translation.
/// `retention` is the chat's retention period; `None` means that messages are never deleted for their age.
pub fn group_notice(facts: &PrivacyFacts, retention: Option<Duration>, kind: NoticeKind, code: &str) -> String {
    notice(facts, retention, code, |words| match kind {
        NoticeKind::Everything => &words.opening,
        NoticeKind::Memory => &words.news,
        NoticeKind::Voice => &words.news_voice,
    })
}

/// Like [`group_notice`], for a private chat.
pub fn private_notice(facts: &PrivacyFacts, retention: Option<Duration>, code: &str) -> String {
    let words = &texts(code).privacy_notice;
    in_words(facts, retention, words, &words.opening_private, words.remembers_private.clone())
}

fn notice(
    facts: &PrivacyFacts,
    retention: Option<Duration>,
    code: &str,
    opening: impl Fn(&PrivacyNoticeTexts) -> &String,
) -> String {
    let words = &texts(code).privacy_notice;
    let remembers = match facts.hosts() {
        Some(hosts) => words.remembers.replace("{host}", &hosts),
        None => words.remembers_here.clone(),
    };
    in_words(facts, retention, words, opening(words), remembers)
}

fn in_words(
    facts: &PrivacyFacts,
    retention: Option<Duration>,
    words: &PrivacyNoticeTexts,
    opening: &str,
    remembers: String,
) -> String {
    let remembers = facts.remembers.then(|| remembers.replace("{memory}", &command(facts, "memory")));
    let commands = words.commands.replace("{privacy}", &command(facts, "privacy"));
    let PrivacyTerms { whereto, how_long, run_by } = terms(facts, retention, words);
    let items: Vec<String> = [Some(whereto), remembers, Some(how_long), run_by, Some(commands)]
        .into_iter()
        .flatten()
        .map(|it| format!("- {it}"))
        .collect();
    format!("{opening}\n\n{}", items.join("\n"))
}

/// Sentences about the data of a chat: where it goes, how long it is kept, who runs the bot.
#[derive(Debug)]
pub(super) struct PrivacyTerms {
    pub whereto: String,
    pub how_long: String,
    pub run_by: Option<String>,
}

pub(super) fn terms_in(facts: &PrivacyFacts, retention: Option<Duration>, code: &str) -> PrivacyTerms {
    terms(facts, retention, &texts(code).privacy_notice)
}

fn terms(facts: &PrivacyFacts, retention: Option<Duration>, words: &PrivacyNoticeTexts) -> PrivacyTerms {
    let (text, voice) = match facts.hosts() {
        Some(hosts) => {
            let text = match (facts.sends_all, facts.remembers) {
                (true, _) => &words.all_go_to,
                (false, true) => &words.summaries_too,
                (false, false) => &words.goes_to,
            };
            (text.replace("{host}", &hosts), facts.transcribes.then(|| words.voice_too.clone()))
        }
        None => (words.goes_nowhere.clone(), None),
    };
    // Without a model nothing is searched.
    let search = facts.search_host.as_ref().filter(|_| !facts.model_hosts.is_empty());
    let web = search.map(|host| words.web_too.replace("{host}", &format!("`{host}`")));
    let whereto = [Some(text), voice, web].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let how_long = match retention {
        Some(span) => words.kept_for.replace("{days}", &(span.as_secs() / DAY_SECS).to_string()),
        None => words.kept_for_good.clone(),
    };
    let how_long = format!("{how_long} {}", words.deleted_in_telegram);
    let run_by = facts.contact.as_ref().map(|contact| words.run_by.replace("{contact}", &escape_marks(contact)));
    PrivacyTerms { whereto, how_long, run_by }
}

/// Converts Telegram's `language_code`, such as `de` or `pt-br`, to ISO 639-3. Returns `None` if there is no notice in
/// that language.
pub fn language_of_app(telegram: &str) -> Option<&'static str> {
    let main = telegram.split('-').next().unwrap_or(telegram);
    languages().iter().find(|language| language.short == main).map(|language| language.code.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(DAY_SECS);

    fn facts() -> PrivacyFacts {
        PrivacyFacts {
            username: "chime_bot".to_owned(),
            model_hosts: vec!["api.example.org".to_owned()],
            sends_all: false,
            remembers: false,
            redacts: true,
            opens_links: true,
            transcribes: false,
            search_host: None,
            retention: Some(DAY * 365),
            contact: Some("@ann_o".to_owned()),
        }
    }

    #[test]
    fn each_fact_is_an_item_of_the_notice() {
        let items = |facts: &PrivacyFacts, retention| {
            let said = group_notice(facts, retention, NoticeKind::Everything, "eng");
            said.lines().filter(|line| line.starts_with("- ")).count()
        };
        let quiet = PrivacyFacts { model_hosts: Vec::new(), contact: None, ..facts() };
        assert_eq!((items(&facts(), facts().retention), items(&quiet, None)), (4, 3));
        assert_eq!(items(&PrivacyFacts { remembers: true, ..facts() }, None), 5);
        let words = &texts("eng").privacy_notice;
        let text = group_notice(&quiet, None, NoticeKind::Everything, "a language that nobody speaks");
        assert!(text.contains(&words.goes_nowhere) && text.contains(&words.kept_for_good), "{text}");
    }

    #[test]
    fn a_model_on_this_machine_is_no_place_to_which_messages_go() {
        let told = |hosts: &[&str], search_host: Option<&str>| {
            let model_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            let facts = PrivacyFacts { model_hosts, search_host: search_host.map(str::to_owned), ..facts() };
            terms_in(&facts, None, "eng").whereto
        };
        let words = &texts("eng").privacy_notice;
        assert_eq!(told(&["127.0.0.1", "localhost"], None), words.goes_nowhere);
        let web = words.web_too.replace("{host}", "`search.example.org`");
        assert_eq!(told(&["[::1]"], Some("search.example.org")), format!("{} {web}", words.goes_nowhere));
        let both = told(&["127.0.0.1", "api.example.org", "b.example.org"], None);
        assert_eq!(both, words.goes_to.replace("{host}", "`api.example.org`, `b.example.org`"));
    }

    #[test]
    fn it_says_that_talks_are_summarized_and_how_that_is_stopped() {
        let facts = PrivacyFacts { remembers: true, ..facts() };
        for language in languages() {
            let words = &texts(&language.code).privacy_notice;
            let text = group_notice(&facts, facts.retention, NoticeKind::Memory, &language.code);
            assert!(text.starts_with(&words.news) && text.contains("/memory@chime\\_bot off"), "{text}");
        }
        let here = group_notice(
            &PrivacyFacts { model_hosts: Vec::new(), ..facts.clone() },
            None,
            NoticeKind::Everything,
            "deu",
        );
        assert!(here.contains("/memory@chime\\_bot off") && !here.contains("{host}"), "{here}");
    }

    #[test]
    fn it_says_that_voice_messages_are_written_down_where_they_are() {
        for language in languages() {
            let words = &texts(&language.code).privacy_notice;
            let text = |transcribes| {
                group_notice(&PrivacyFacts { transcribes, ..facts() }, None, NoticeKind::Voice, &language.code)
            };
            assert!(text(true).starts_with(&words.news_voice));
            assert!(text(true).contains(&words.voice_too) && !text(false).contains(&words.voice_too), "{}", text(true));
        }
    }

    #[test]
    fn every_language_fills_in_every_blank() {
        for (language, sends_all) in languages().iter().flat_map(|it| [(it, false), (it, true)]) {
            let facts = PrivacyFacts { sends_all, remembers: sends_all, ..facts() };
            let said = group_notice(&facts, facts.retention, NoticeKind::Everything, &language.code);
            for part in ["api.example.org", "365", "@ann\\_o", "/optout", "/forget me", "/privacy@chime\\_bot"] {
                assert!(said.contains(part), "{}: no {part} in {said}", language.code);
            }
            assert!(!said.contains(['{', '}']), "{said}");
        }
    }

    #[test]
    fn a_private_chat_is_not_addressed_as_a_group() {
        let facts = PrivacyFacts { remembers: true, ..facts() };
        for language in languages() {
            let words = &texts(&language.code).privacy_notice;
            let text = private_notice(&facts, facts.retention, &language.code);
            assert!(text.starts_with(&words.opening_private) && !text.contains('{'), "{text}");
        }
    }

    #[test]
    fn the_language_of_an_app_is_known_without_its_region() {
        assert_eq!(
            [language_of_app("pt-br"), language_of_app("et"), language_of_app("xx")],
            [Some("por"), Some("est"), None]
        );
    }
}
