//! What the bot says of itself: apologies, notices, `/why` and `/help`. All of it Markdown.

use std::collections::BTreeMap;

use crate::answer::followup::show;
use crate::answer::notices::Notices;
use crate::answer::plain::{clean_name, escape_markdown};
use crate::answer::telling::{Query, bullets, most_telling};
use crate::context::ContextWindow;
use crate::domain::{
    AnswerRecord, AnswerStatus, Chosen, FollowUp, Matter, Part, Reason, Seq, Timestamp, Zone, grouped,
};

/// Messages that an apology shows.
const APOLOGY_MESSAGES: usize = 5;

/// The last word when the model failed for good: the messages it would have answered from, citations still to be
/// checked.
pub fn apology(window: &ContextWindow, query: Query<'_>, notices: &Notices) -> String {
    let Notices { sorry, sorry_relevant, sorry_try_again, sorry_if_you_like, .. } = notices;
    let shown = most_telling(window, query, APOLOGY_MESSAGES);
    if shown.is_empty() {
        return format!("{sorry} {sorry_try_again}");
    }
    format!("{sorry} {sorry_relevant}\n\n{}\n\n{sorry_if_you_like}", bullets(&shown))
}

/// That there is nothing to go by, and since when the bot reads: the end of a sentence.
pub fn nothing_earlier(earliest: Option<(Timestamp, Zone)>) -> String {
    match earliest {
        Some((at, zone)) => format!(
            "I know of no earlier message this could be about: I can read this chat since {}, {}. \
             Tag me in a reply to the message you mean.",
            zone.day_in_words(at),
            zone.told_time(at)
        ),
        None => "I know of no earlier message this could be about: I can read this chat only from now on. \
                 Tag me in a reply to the message you mean."
            .to_owned(),
    }
}

/// `/help`. `username` is the bot's own, without `@`.
pub fn help(username: &str) -> String {
    let me = format!("@{}", escape_markdown(username));
    format!(
        "I read along and say nothing until you tag me. Then I answer about the conversation at hand, with links to \
         the messages I rest on.\n\n\
         - {me} and a question: I work out which earlier messages it is about.\n\
         - Just {me}, or \"{me} thoughts?\": I look at what you were talking about and help with that.\n\
         - {me} in a reply to a message: I start from that message, however old it is.\n\
         - /why in a reply to one of my answers: which messages I used, and why.\n\n\
         I read a tag, not what follows it: to go on, tag me again or reply to my answer."
    )
}

/// A message that an answer used, as it can be shown now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedMessage {
    pub seq: Seq,
    /// The present name of its author.
    pub name: String,
    pub sent_at: Timestamp,
    /// Its address, where Telegram has one.
    pub link: Option<String>,
}

/// `/why`: each message the answer used with its member, its reason in plain words and its link, what was left out,
/// and what it took. A message of the record that is not among `used` is no longer kept.
pub fn why(record: &AnswerRecord, used: &[UsedMessage], follow_up: Option<&FollowUp>, zone: Zone) -> String {
    let known: BTreeMap<Seq, &UsedMessage> = used.iter().map(|message| (message.seq, message)).collect();
    let mut parts = Vec::new();
    let is_cited = |chosen: &Chosen| record.sources.iter().any(|source| source.id == format!("m{}", chosen.seq));
    let (listed, nearby): (Vec<&Chosen>, Vec<&Chosen>) =
        record.window.iter().partition(|chosen| chosen.reason.part() == Part::Focus || is_cited(chosen));
    if listed.is_empty() {
        parts.push("I used no earlier message for this answer.".to_owned());
    } else {
        let lines: Vec<String> =
            listed.iter().map(|chosen| used_line(record, chosen, known.get(&chosen.seq).copied(), zone)).collect();
        parts.push(format!("I used these messages:\n\n{}", lines.join("\n")));
    }
    match nearby.len() {
        0 => {}
        1 => parts.push("Beside these I could see 1 message said nearby.".to_owned()),
        many => parts.push(format!("Beside these I could see {many} messages said nearby.")),
    }
    parts.extend(follow_up.and_then(show::why));
    parts.extend(meant(record));
    parts.extend(left_out(record));
    if record.guard_used {
        parts.push("Nothing known was relevant enough for a strict answer, so no model was asked.".to_owned());
    }
    if let Some(uncertainty) = record.uncertainty {
        parts.push(format!("The model called its uncertainty {}.", uncertainty.as_str()));
    }
    parts.push(effort(record));
    parts.join("\n\n")
}

fn used_line(record: &AnswerRecord, chosen: &Chosen, message: Option<&UsedMessage>, zone: Zone) -> String {
    let cited = record.sources.iter().any(|source| source.id == format!("m{}", chosen.seq));
    let cited = if cited { ", cited" } else { "" };
    let reason = in_plain_words(chosen.reason);
    let Some(message) = message else {
        return format!("- a message that is no longer kept: {reason}{cited}");
    };
    let name = escape_markdown(&clean_name(&message.name));
    let when = zone.short_time(message.sent_at, record.created_at);
    match &message.link {
        Some(link) => format!("- [{name} {when}]({link}): {reason}{cited}"),
        None => format!("- {name} {when}: {reason}{cited}"),
    }
}

/// Why a message was chosen.
pub fn in_plain_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Anchor => "the message the tag replied to",
        Reason::Quoted => "the message the tag replied to, with a part marked",
        Reason::Chain => "linked by replies",
        Reason::Cluster => "said shortly before or after",
        Reason::Strand => "part of the same talk",
        Reason::Bridge => "an earlier part of the same matter",
        Reason::Query => "about what the tag asks",
        Reason::Source => "an earlier answer rested on it",
        Reason::Nearby => "said nearby",
        Reason::Tool => "looked up for the answer",
    }
}

/// That the tag could have meant another matter, where that was a close call.
fn meant(record: &AnswerRecord) -> Option<String> {
    match (record.matter, &record.alternative) {
        (Matter::Second, _) => Some("This is about the other talk that the tag could have meant.".to_owned()),
        (Matter::First, Some(_)) => {
            Some("The tag could have meant another talk as well; the button below the answer leads there.".to_owned())
        }
        (Matter::First, None) => None,
    }
}

/// `Left out: 3 messages (no room), 20 messages (before a silence of 26 h).`
fn left_out(record: &AnswerRecord) -> Option<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for omitted in &record.omitted {
        match counts.iter_mut().find(|(why, _)| *why == omitted.why) {
            Some((_, count)) => *count += 1,
            None => counts.push((&omitted.why, 1)),
        }
    }
    counts.sort_by_key(|(why, _)| *why != "no room");
    let told: Vec<String> = counts
        .into_iter()
        .map(|(why, count)| {
            format!("{count} {} ({})", if count == 1 { "message" } else { "messages" }, escape_markdown(why))
        })
        .collect();
    (!told.is_empty()).then(|| format!("Left out: {}.", told.join(", ")))
}

/// Model, tokens, time and the answer's id.
fn effort(record: &AnswerRecord) -> String {
    let model = escape_markdown(&record.model);
    let made_by = match record.status {
        AnswerStatus::Answered => format!(
            "Model {model}: {} tokens read, {} written",
            grouped(record.tokens.prompt),
            grouped(record.tokens.completion)
        ),
        AnswerStatus::Offline => "No model".to_owned(),
        AnswerStatus::Apologised => format!("Model {model} gave no usable answer"),
    };
    let (secs, tenths) = (record.latency_ms / 1000, record.latency_ms % 1000 / 100);
    format!("{made_by}, {secs}.{tenths} s. Answer `{}`.", record.id)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::answer::notices::notices;
    use crate::context::{History, Params, get_smart_context};
    use crate::domain::{AnswerId, BotIdentity, ChatKey, MessageId, Omitted, SourceRef, TokenUse, UserId};
    use crate::testkit::{here, moment, transcript};

    fn record() -> AnswerRecord {
        let chosen = |seq: u32, reason| Chosen { seq: Seq(seq), id: MessageId(seq.into()), reason, score: 0.5 };
        let omitted = |id, why: &str| Omitted { id: MessageId(id), why: why.to_owned() };
        AnswerRecord {
            id: AnswerId(ulid::Ulid::from_parts(1, 2)),
            chat: ChatKey(1),
            thread: None,
            trigger: Seq(9),
            matter: Matter::First,
            asked_by: UserId(1),
            created_at: moment("15:00"),
            status: AnswerStatus::Answered,
            text: "Thai.".to_owned(),
            anchor: Some(MessageId(1)),
            window: vec![chosen(1, Reason::Anchor), chosen(4, Reason::Cluster), chosen(5, Reason::Chain)],
            omitted: vec![
                omitted(2, "before a silence of 26 h"),
                omitted(3, "no room"),
                omitted(6, "before a silence of 26 h"),
            ],
            alternative: None,
            slots: Vec::new(),
            sources: vec![SourceRef { id: "m4".to_owned(), text: "The thai one?".to_owned() }],
            model: "some_model-1".to_owned(),
            tokens: TokenUse { prompt: 1204, completion: 88 },
            latency_ms: 2140,
            uncertainty: None,
            guard_used: false,
        }
    }

    fn bot() -> BotIdentity {
        let (usernames, name) = (vec!["bot".to_owned()], "Bot".to_owned());
        BotIdentity { id: UserId(1), usernames, name, reads_all_group_messages: true }
    }

    fn used(seq: u32, name: &str, at: &str, link: Option<&str>) -> UsedMessage {
        UsedMessage { seq: Seq(seq), name: name.to_owned(), sent_at: moment(at), link: link.map(str::to_owned) }
    }

    #[test]
    fn why_names_each_message_its_reason_and_what_was_left_out() {
        let used = [used(1, "Ana*", "-3d 14:02", Some("https://t.me/c/1/1")), used(4, "Bob", "14:05", None)];
        expect![[r#"
            I used these messages:

            - [Ana\* 2 Jan 14:02](https://t.me/c/1/1): the message the tag replied to
            - Bob 14:05: said shortly before or after, cited
            - a message that is no longer kept: linked by replies

            Left out: 1 message (no room), 2 messages (before a silence of 26 h).

            Model some\_model-1: 1,204 tokens read, 88 written, 2.1 s. Answer `00000000010000000000000002`."#]]
        .assert_eq(&why(&record(), &used, None, here()));
    }

    #[test]
    fn why_of_an_answer_from_nothing_says_so() {
        let record = AnswerRecord {
            status: AnswerStatus::Offline,
            window: Vec::new(),
            omitted: Vec::new(),
            latency_ms: 7,
            ..record()
        };
        expect![[r#"
            I used no earlier message for this answer.

            No model, 0.0 s. Answer `00000000010000000000000002`."#]]
        .assert_eq(&why(&record, &[], None, here()));
    }

    #[test]
    fn why_of_an_apology_blames_the_model() {
        let record = AnswerRecord { status: AnswerStatus::Apologised, ..record() };
        assert!(why(&record, &[], None, here()).contains(r"Model some\_model-1 gave no usable answer, 2.1 s."));
    }

    #[test]
    fn an_apology_shows_the_relevant_messages() {
        let mut recent = transcript("10:00 ann#1 who drives?\n10:01 bob#2>1 I do\n10:02 cat#3 @bot");
        let trigger = recent.pop().expect("a trigger");
        let window = get_smart_context(&History::new(trigger, recent, Vec::new()), &Params::clusters(str::len));
        expect![[r#"
            Temporary issue generating response. Here are the relevant messages:

            - **ann**: “who drives?” [source: m1]
            - **bob**: “I do” [source: m2]

            Tag me again in a minute if you like."#]]
        .assert_eq(&apology(&window, Query { ask: "", bot: &bot() }, notices("eng")));
    }

    #[test]
    fn an_apology_with_nothing_to_show_says_what_to_do() {
        assert_eq!(
            apology(&ContextWindow::default(), Query { ask: "", bot: &bot() }, notices("eng")),
            "Temporary issue generating response. Please tag me again in a minute."
        );
    }

    #[test]
    fn help_names_the_bot() {
        expect![[r#"
            I read along and say nothing until you tag me. Then I answer about the conversation at hand, with links to the messages I rest on.

            - @chime\_bot and a question: I work out which earlier messages it is about.
            - Just @chime\_bot, or "@chime\_bot thoughts?": I look at what you were talking about and help with that.
            - @chime\_bot in a reply to a message: I start from that message, however old it is.
            - /why in a reply to one of my answers: which messages I used, and why.

            I read a tag, not what follows it: to go on, tag me again or reply to my answer."#]].assert_eq(&help("chime_bot"));
    }

    #[test]
    fn nothing_earlier_says_since_when() {
        expect!["I know of no earlier message this could be about: I can read this chat since Monday 5 January 2026, 09:30 UTC. Tag me in a reply to the message you mean."].assert_eq(&nothing_earlier(Some((moment("09:30"), Zone::UTC))));
        expect!["I know of no earlier message this could be about: I can read this chat only from now on. Tag me in a reply to the message you mean."].assert_eq(&nothing_earlier(None));
    }
}
