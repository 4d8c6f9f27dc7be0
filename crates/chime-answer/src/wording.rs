//! Texts of apologies and of `/help`, as Markdown.

use crate::extractive_ranking::{Query, bullets, most_telling};
use crate::sanitize::escape_markdown;
use chime_core::texts::{Notices, Texts, filled};
use chime_relevance::context::ContextWindow;

/// Maximum number of messages quoted in an apology.
const APOLOGY_MESSAGES: usize = 5;

/// Returns the apology for a failed model call, with the messages that the answer would have used. Its citations must
/// still be checked.
pub fn apology(window: &ContextWindow, query: Query<'_>, texts: &Texts) -> String {
    let Notices { sorry, sorry_relevant, sorry_try_again, sorry_if_you_like, .. } = &texts.notices;
    let shown = most_telling(window, query, APOLOGY_MESSAGES);
    if shown.is_empty() {
        return format!("{sorry} {sorry_try_again}");
    }
    format!("{sorry} {sorry_relevant}\n\n{}\n\n{sorry_if_you_like}", bullets(&shown, query.ask, texts))
}

/// Returns the apology for a failure that asking again does not help. It gives the reason, and the relevant messages if
/// there are any.
pub fn apology_for_good(window: &ContextWindow, query: Query<'_>, reason: &str, texts: &Texts) -> String {
    let shown = most_telling(window, query, APOLOGY_MESSAGES);
    if shown.is_empty() {
        return reason.to_owned();
    }
    format!("{reason} {}\n\n{}", texts.notices.sorry_relevant, bullets(&shown, query.ask, texts))
}

/// Returns the text of `/help`. `username` is the bot's own, without `@`.
pub fn help(username: &str, is_private: bool, texts: &Texts) -> String {
    let me = format!("@{}", escape_markdown(username));
    filled(if is_private { &texts.help_private } else { &texts.help }, &[("me", &me)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::testkit::transcript;
    use chime_core::texts::{notices, texts};
    use chime_core::{BotIdentity, Language, UserId};
    use chime_relevance::context::{History, Params, get_smart_context};

    fn bot() -> BotIdentity {
        let (usernames, name) = (vec!["bot".to_owned()], "Bot".to_owned());
        BotIdentity { id: UserId(1), usernames, name, reads_all_group_messages: true }
    }

    #[test]
    fn an_apology_shows_the_relevant_messages() {
        let mut recent = transcript("10:00 ann#1 who drives?\n10:01 bob#2>1 I do\n10:02 cat#3 @bot");
        let trigger = recent.pop().expect("a trigger");
        let window = get_smart_context(&History::new(trigger, recent, Vec::new()), &Params::new(str::len));
        let said =
            apology(&window, Query { ask: "", bot: &bot(), language: Language::DEFAULT, embedder: None }, texts("eng"));
        let list = "\n\n- **ann**: “who drives?” [source: m1]\n- **bob**: “I do” [source: m2]\n\n";
        assert!(said.contains(list) && said.starts_with(&notices("eng").sorry), "{said}");
        assert!(said.ends_with(&notices("eng").sorry_if_you_like), "{said}");
    }

    #[test]
    fn an_apology_with_nothing_to_show_says_what_to_do() {
        let said = apology(
            &ContextWindow::default(),
            Query { ask: "", bot: &bot(), language: Language::DEFAULT, embedder: None },
            texts("eng"),
        );
        assert!(said.ends_with(&notices("eng").sorry_try_again), "{said}");
    }

    #[test]
    fn help_names_the_bot() {
        let rendered = help("chime_bot", false, texts("eng"));
        assert!(rendered.contains("@chime\\_bot") && !rendered.contains('{'), "{rendered}");
    }
}
