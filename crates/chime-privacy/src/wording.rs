//! Texts about privacy as Markdown: the answer to `/privacy`, and replies to opt-outs and requests to forget or export.

use std::time::Duration;

use crate::RequestRefusal;
use crate::facts::{PrivacyFacts, command};
use crate::notice::{PrivacyTerms, terms_in};
use chime_core::texts::{Texts, filled, texts};
use chime_core::{ChatId, ChatKind, grouped, span_in_words};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    ThisChat,
    EveryChat,
}

/// Numbers of the messages and answers that a `/forget` deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub messages: u64,
    /// Answers of the bot that used these messages, deleted with them.
    pub answers: u64,
}

const IN_A_LINE: &str = "Reads its chats, answers when tagged, with links. Keeps what it reads";

/// Returns the bot's short description on its Telegram profile: at most 120 characters, without formatting.
pub fn in_a_line(retention: Option<Duration>) -> String {
    let how_long = retention.map(|span| format!(" for {}", span_in_words(span))).unwrap_or_default();
    format!("{IN_A_LINE}{how_long}: /privacy")
}

/// Returns `true` if a short description is one of [`in_a_line`], with whatever retention period.
pub fn is_in_a_line(description: &str) -> bool {
    description.starts_with(IN_A_LINE) && description.ends_with(": /privacy")
}

/// Renders the answer to `/privacy` for a chat of this `kind`, in the language with this ISO 639-3 `code`. `out` is the
/// opt-out of the asker, if there is one. `is_wish` puts the commands first.
pub fn privacy(
    facts: &PrivacyFacts,
    retention: Option<Duration>,
    out: Option<Reach>,
    kind: ChatKind,
    code: &str,
    is_wish: bool,
) -> String {
    let texts = texts(code);
    let opt_out = out.map(|out| match out {
        Reach::ThisChat => format!("{}\n\n", texts.out_here),
        Reach::EveryChat => format!("{}\n\n", texts.out_everywhere),
    });
    let PrivacyTerms { whereto, how_long, run_by } = terms_in(facts, retention, code);
    let remembers = facts.remembers.then(|| {
        let off = match kind {
            ChatKind::Private => &texts.privacy_memory_off_private,
            ChatKind::Group | ChatKind::Supergroup | ChatKind::Channel => &texts.privacy_memory_off,
        };
        let off = filled(off, &[("memory", &command(facts, "memory"))]);
        let shown = format!("{} {off}", texts.privacy_memory);
        match facts.hosts() {
            Some(_) if facts.redacts => format!("{shown} {} {}", texts.privacy_quiet, texts.privacy_redacted),
            Some(_) => format!("{shown} {}", texts.privacy_quiet),
            None => shown,
        }
    });
    let opens = if facts.opens_links { &texts.privacy_links } else { &texts.privacy_files };
    let items = [Some(whereto), remembers, Some(format!("{how_long} {opens} {}", texts.privacy_raw))]
        .into_iter()
        .chain([Some(texts.privacy_copies.clone()), run_by])
        .flatten();
    let items = items.map(|it| format!("- {it}")).collect::<Vec<_>>().join("\n");
    let commands = [&texts.privacy_forget_me, &texts.privacy_optout, &texts.privacy_forget, &texts.privacy_forget_all];
    let commands = commands.map(|it| format!("- {it}")).join("\n");
    let terms = match is_wish {
        true => format!("{commands}\n\n{}\n\n{items}", texts.privacy),
        false => format!("{}\n\n{items}\n{commands}", texts.privacy),
    };
    format!("{}{terms}", opt_out.unwrap_or_default())
}

pub fn opted_out(reach: Reach, texts: &Texts) -> String {
    match reach {
        Reach::ThisChat => texts.opted_out_here.clone(),
        Reach::EveryChat => texts.opted_out_everywhere.clone(),
    }
}

/// Returns the reply to an opt-in. `still` is an opt-out that remains in force, such as one for every chat. `was_out`
/// is `true` if the opt-in ended an opt-out.
pub fn opted_in(still: Option<Reach>, was_out: bool, texts: &Texts) -> String {
    match (still, was_out) {
        (Some(Reach::ThisChat | Reach::EveryChat), _) => texts.still_out.clone(),
        (None, true) => texts.opted_in.clone(),
        (None, false) => texts.never_out.clone(),
    }
}

pub fn refused(refusal: RequestRefusal, texts: &Texts) -> String {
    match refusal {
        RequestRefusal::NotTheirs => texts.not_theirs.clone(),
        RequestRefusal::NotAdmin => texts.not_admin.clone(),
    }
}

/// Returns the text that the bot sends before it leaves a chat that is no longer allowed but has stored data.
pub fn no_longer_allowed(chat: ChatId, texts: &Texts) -> String {
    filled(&texts.no_longer_allowed, &[("chat", &chat.to_string())])
}

/// Returns the notice that everything in the chat will be forgotten after `wait`.
pub fn announced(wait: Duration, texts: &Texts) -> String {
    filled(&texts.announced, &[("hours", &hours(wait))])
}

/// Returns the notice that an admin will get all data of the chat after `wait`.
pub fn export_announced(wait: Duration, texts: &Texts) -> String {
    filled(&texts.export_announced, &[("hours", &hours(wait))])
}

/// Formats a duration as a number of hours, rounded to the nearest.
fn hours(wait: Duration) -> String {
    const HOUR_SECS: u64 = 60 * 60;
    ((wait.as_secs() + HOUR_SECS / 2) / HOUR_SECS).to_string()
}

/// Returns the reply to `/forget stop`. `was_pending` is `true` if there was an announced request to cancel.
pub fn called_off(was_pending: bool, texts: &Texts) -> String {
    if was_pending { &texts.called_off } else { &texts.nothing_pending }.clone()
}

/// Returns the reply to a `/forget` that was carried out.
pub fn forgotten(counts: Counts, texts: &Texts) -> String {
    let Counts { messages, answers } = counts;
    if messages == 0 && answers == 0 {
        return texts.kept_nothing.clone();
    }
    let more = match answers {
        0 => String::new(),
        1 => texts.more_one.clone(),
        many => filled(&texts.more_many, &[("n", &grouped(many))]),
    };
    let shown = if messages == 1 { &texts.forgotten_one } else { &texts.forgotten_many };
    let deleted = filled(shown, &[("n", &grouped(messages)), ("more", &more)]);
    if answers == 0 { deleted } else { format!("{deleted} {}", texts.posted_stays) }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn what_was_forgotten_is_counted() {
        let shown = |messages, answers| forgotten(Counts { messages, answers }, texts("eng"));
        expect![[r#"
            There was nothing to delete.
            Deleted: 1 message.
            Deleted: 1 204 messages, and 1 answer of mine based on that. What I posted stays in the chat until somebody deletes it there."#]]
        .assert_eq(&[shown(0, 0), shown(1, 0), shown(1204, 1)].join("\n"));
    }

    #[test]
    fn in_private_it_is_the_member_who_switches_memory_off() {
        let facts = PrivacyFacts {
            username: "bot".to_owned(),
            model_hosts: Vec::new(),
            sends_all: false,
            remembers: true,
            redacts: true,
            opens_links: true,
            search_host: None,
            transcribes: false,
            retention: None,
            contact: None,
        };
        let shown = |kind| privacy(&facts, None, None, kind, "eng", false);
        assert!(shown(ChatKind::Group).contains("Admins can turn this off with /memory@bot off."));
        let alone = shown(ChatKind::Private);
        assert!(alone.contains("You can turn this off with /memory@bot off.") && !alone.contains("Admins"), "{alone}");
        let wished = privacy(&facts, None, None, ChatKind::Private, "eng", true);
        assert!(wished.starts_with("- /forget me:") && wished.lines().count() > alone.lines().count(), "{wished}");
    }
}
