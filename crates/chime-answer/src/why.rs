//! Renders `/why` as Markdown: the messages that an answer used, each with a quote and a reason.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::followup::show;
use crate::grounding::resting_on;
use crate::sanitize::{clean_name, escape_markdown, gist, shown_name};
use chime_core::texts::{Texts, WhyTexts, filled};
use chime_core::{
    AnswerRecord, AnswerStatus, Chosen, FollowUp, FoundSource, MessageId, Part, Reason, RetrieverScores, Role, Seq,
    SourceId, SourceKind, Timestamp, Uncertainty, UserId, Zone, grouped,
};
use chime_memory::wording::short_time;

/// Maximum number of characters quoted of a message.
const QUOTED_CHARS: usize = 60;
/// Maximum number of characters quoted of a sentence of the answer.
const SENTENCE_CHARS: usize = 40;
/// Maximum number of messages listed as the origin of a summary.
const PLACES: usize = 6;
/// A message counts as said just before the answer if it is at most this much older.
const JUST_BEFORE: Duration = Duration::from_mins(15);

/// A message that an answer used, with its current name and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsedMessage {
    pub seq: Seq,
    pub id: MessageId,
    pub role: Role,
    /// The author's current name.
    pub name: String,
    pub sent_at: Timestamp,
    pub text: String,
    pub reply_to: Option<MessageId>,
    /// Link to the message, if Telegram has one.
    pub link: Option<String>,
}

/// Data about an answer that its record does not contain.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WhyExtras {
    pub follow_up: Option<Box<FollowUp>>,
    /// Labels of the concepts that the answer referenced.
    pub concepts: Vec<String>,
}

/// The member who sent `/why`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WhyReader {
    pub member: UserId,
    pub zone: Zone,
    /// Texts in the language of the chat.
    pub texts: &'static Texts,
}

impl WhyReader {
    fn time(self, at: Timestamp, now: Timestamp) -> String {
        short_time(at, now, self.zone, self.texts)
    }
}

/// Renders the sources of the answer in `record`: each cited message, then each of the focus, with a quote, the reason
/// and a link; then the surroundings in one line, the hidden messages, and tokens and time. `to` is the member who sent
/// `/why`. A message of the record that is not in `used` is no longer stored.
pub fn why(record: &AnswerRecord, used: &[UsedMessage], extras: &WhyExtras, to: WhyReader) -> String {
    let known: BTreeMap<Seq, &UsedMessage> = used.iter().map(|message| (message.seq, message)).collect();
    let (mut listed, surroundings): (Vec<&Chosen>, Vec<&Chosen>) =
        record.window.iter().partition(|chosen| chosen.reason.part() == Part::Focus || is_cited(record, chosen));
    // A long list would hide them otherwise.
    listed.sort_by_key(|chosen| !is_cited(record, chosen));
    let explained = ExplainedRecord { record, used, to };
    let texts = &to.texts.why;
    let mut parts = Vec::new();
    let messages = listed.iter().map(|chosen| explained.line(chosen, known.get(&chosen.seq).copied()));
    let lines: Vec<String> = messages.chain(explained.notes()).collect();
    if lines.is_empty() {
        parts.push(texts.used_none.clone());
    } else {
        let heading = if record.guard_used { &texts.looked_at } else { &texts.used };
        parts.push(format!("{heading}\n\n{}", lines.join("\n")));
    }
    let kept: Vec<&UsedMessage> = surroundings.iter().filter_map(|chosen| known.get(&chosen.seq).copied()).collect();
    parts.extend(around(&kept, record.created_at, to));
    parts.extend(explained.summaries(&known));
    parts.extend(extras.follow_up.as_ref().and_then(|follow_up| show::why(follow_up, to.texts)));
    parts.extend((!extras.concepts.is_empty()).then(|| {
        let names: Vec<String> = extras.concepts.iter().map(|label| escape_markdown(label)).collect();
        filled(&texts.concepts, &[("names", &names.join(", "))])
    }));
    parts.extend(explained.remembered(&known));
    parts.extend(left_out(record, texts));
    if record.guard_used {
        parts.push(texts.guard.clone());
    }
    if let Some(uncertainty) = record.uncertainty {
        let how = match uncertainty {
            Uncertainty::Low => &texts.low,
            Uncertainty::Medium => &texts.medium,
            Uncertainty::High => &texts.high,
        };
        parts.push(filled(&texts.uncertainty, &[("how", how)]));
    }
    parts.push(effort(record, texts));
    parts.join("\n\n")
}

fn is_cited(record: &AnswerRecord, chosen: &Chosen) -> bool {
    record.sources.iter().any(|source| source.id == format!("m{}", chosen.seq))
}

struct ExplainedRecord<'a> {
    record: &'a AnswerRecord,
    used: &'a [UsedMessage],
    to: WhyReader,
}

impl ExplainedRecord<'_> {
    fn texts(&self) -> &'static WhyTexts {
        &self.to.texts.why
    }

    /// Formats a message: `- [Ana 14:02](link) “The thai restaurant …”: said just before, cited`.
    fn line(&self, chosen: &Chosen, message: Option<&UsedMessage>) -> String {
        let texts = self.texts();
        let cited = self.cited(&format!("m{}", chosen.seq)).map_or_else(String::new, |cited| format!(", {cited}"));
        let Some(message) = message else { return format!("- {}{cited}", texts.not_kept) };
        let name = shown_name(&message.name);
        let when = self.to.time(message.sent_at, self.record.created_at);
        let head = match &message.link {
            Some(link) => format!("[{name} {when}]({link})"),
            None => format!("{name} {when}"),
        };
        let quoted = self.to.texts.quoted(&escape_markdown(&gist(&message.text, QUOTED_CHARS)));
        format!("- {head} {quoted}: {}{cited}", self.reason(chosen.reason, message))
    }

    /// Returns the sentences of the answer that rest on the source `id`: `cited for “It leaves at nine.”`. `None` if it
    /// is not cited. Without a model an answer has no sentences of its own.
    fn cited(&self, id: &str) -> Option<String> {
        let place = self.record.sources.iter().position(|source| source.id == id)?;
        let of_model = Some(&self.record.text).filter(|_| self.record.status == AnswerStatus::Answered);
        let quoted = |sentence: String| {
            let plain = sentence.trim_start_matches(['-', '*', ' ']).replace("**", "");
            self.to.texts.quoted(&escape_markdown(&gist(&plain, SENTENCE_CHARS)))
        };
        let said: Vec<String> = of_model.into_iter().flat_map(|text| resting_on(text, place + 1)).map(quoted).collect();
        Some(match said.is_empty() {
            true => self.texts().cited.clone(),
            false => filled(&self.texts().cited_for, &[("said", &said.join(", "))]),
        })
    }

    /// Formats the cited sources that are no messages or summaries by their numbers: `- n1: cited`. Their text is not
    /// shown, since a note may have been deleted.
    fn notes(&self) -> impl Iterator<Item = String> {
        let is_read = |id: SourceId| !matches!(id.kind, SourceKind::Message | SourceKind::Summary);
        let notes = self.record.sources.iter().filter(move |source| SourceId::parse(&source.id).is_some_and(is_read));
        notes.filter_map(|note| Some(format!("- {}: {}", note.id, self.cited(&note.id)?)))
    }

    fn reason(&self, reason: Reason, message: &UsedMessage) -> String {
        let (texts, asked) = (self.texts(), self.to.member == self.record.asked_by);
        match reason {
            Reason::Anchor if asked => texts.replied_you.clone(),
            Reason::Anchor => texts.replied_tag.clone(),
            Reason::Quoted if asked => texts.marked_you.clone(),
            Reason::Quoted => texts.marked_tag.clone(),
            Reason::Source => texts.used_before.clone(),
            Reason::Named => texts.named.clone(),
            Reason::Tool => texts.looked_up.clone(),
            Reason::Chain | Reason::Cluster | Reason::Thread | Reason::Bridge | Reason::Query | Reason::Nearby => {
                self.link_to_anchor(message).unwrap_or_else(|| self.distance(reason, message))
            }
        }
    }

    /// Names the search methods that found a message; `None` if it was not found by a search.
    fn found(&self, message: &UsedMessage) -> Option<String> {
        let id = format!("m{}", message.seq);
        recalled(self.record)
            .find(|found| found.id == id)
            .map(|found| retrievers_in_words(&found.retrieved, self.texts()))
    }

    /// Returns the reason for a message that is linked by a reply to the anchor, the message that the trigger replied
    /// to. `None` if there is no such link.
    fn link_to_anchor(&self, message: &UsedMessage) -> Option<String> {
        let anchor = self.used.iter().find(|other| Some(other.id) == self.record.anchor)?;
        if message.reply_to == Some(anchor.id) {
            return Some(self.texts().answer_to_it.clone());
        }
        (anchor.reply_to == Some(message.id)).then(|| self.texts().what_it_answered.clone())
    }

    /// Returns the reason for a message, with the time between it and the answer if that is long.
    fn distance(&self, reason: Reason, message: &UsedMessage) -> String {
        let before = self.record.created_at.since(message.sent_at);
        let is_ours = message.role == Role::Assistant;
        let texts = self.texts();
        let with_span = |sentence: &str| filled(sentence, &[("span", &span(before, texts))]);
        match reason {
            Reason::Query => match self.found(message) {
                Some(by) => filled(&texts.found, &[("ways", &by)]),
                None => texts.query.clone(),
            },
            _ if before <= JUST_BEFORE && is_ours => texts.own_just_before.clone(),
            _ if before <= JUST_BEFORE => texts.just_before.clone(),
            _ if is_ours => with_span(&texts.own),
            Reason::Chain => with_span(&texts.chain),
            Reason::Nearby => with_span(&texts.nearby),
            _ => with_span(&texts.same_subject),
        }
    }

    /// Lists the recalled summaries:
    /// `I was also shown summaries of earlier talks: [2 Jan 14:02](link) (found by its meaning), s9 (found by a tag).`
    fn summaries(&self, known: &BTreeMap<Seq, &UsedMessage>) -> Option<String> {
        let texts = self.texts();
        let rendered: Vec<String> = recalled(self.record)
            .filter(|found| found.id.starts_with('s'))
            .map(|found| {
                let place = self.place(&found.id, known).unwrap_or_else(|| found.id.clone());
                filled(
                    &texts.recalled_place,
                    &[("ways", &retrievers_in_words(&found.retrieved, texts)), ("place", &place)],
                )
            })
            .collect();
        (!rendered.is_empty()).then(|| filled(&texts.recalled, &[("list", &rendered.join(", "))]))
    }

    /// Lists the summaries of the chat that the prompt contained, with a link to the first message behind each line:
    /// `Summaries I was given: the topic "tent" (3 lines, 1 cited) from [2 Jan 14:02](link).`
    fn remembered(&self, known: &BTreeMap<Seq, &UsedMessage>) -> Option<String> {
        let texts = self.texts();
        let is_cited = |id: &String| self.record.sources.iter().any(|source| source.id == *id);
        let rendered = self.record.slots.iter().filter_map(|slot| {
            let name = match slot.name.strip_prefix("system.chat.")?.split_once(':') {
                Some((_, topic)) => filled(&texts.topic, &[("topic", &escape_markdown(&clean_name(topic)))]),
                None if slot.name.ends_with("history") => self.to.texts.memory.history.clone(),
                None => self.to.texts.memory.recent.clone(),
            };
            let (cited, others): (Vec<&String>, Vec<&String>) = slot.sources.iter().partition(|id| is_cited(id));
            let form = if slot.sources.len() == 1 { &texts.lines_one } else { &texts.lines_many };
            let (lines, count) = (slot.sources.len().to_string(), cited.len().to_string());
            // The name comes last, since placeholders in members' text must not be filled in.
            let given = filled(form, &[("n", &lines), ("cited", &count), ("name", &name)]);
            let places: Vec<String> =
                cited.iter().chain(&others).filter_map(|id| self.place(id, known)).take(PLACES).collect();
            if places.is_empty() {
                return Some(given);
            }
            Some(filled(&texts.lines_from, &[("places", &places.join(", ")), ("given", &given)]))
        });
        let rendered: Vec<String> = rendered.collect();
        (!rendered.is_empty()).then(|| filled(&texts.summaries_seen, &[("list", &rendered.join(", "))]))
    }

    /// Returns the time of the message with the source id `id`, as a link if it has one; `None` if the message is no
    /// longer stored.
    fn place(&self, id: &str, known: &BTreeMap<Seq, &UsedMessage>) -> Option<String> {
        let message = known.get(&SourceId::message_of(id)?)?;
        let when = self.to.time(message.sent_at, self.record.created_at);
        Some(message.link.as_ref().map_or_else(|| when.clone(), |link| format!("[{when}]({link})")))
    }
}

/// Formats a duration longer than [`JUST_BEFORE`]: `26 h`.
fn span(span: Duration, texts: &WhyTexts) -> String {
    const HOUR: u64 = 60 * 60;
    let (form, n) = match span.as_secs() {
        secs @ ..7200 => (&texts.minutes, secs / 60),
        secs @ ..172_800 => (&texts.hours, secs / HOUR),
        secs => (&texts.days, secs / (24 * HOUR)),
    };
    filled(form, &[("n", &n.to_string())])
}

/// Describes the surroundings: `Around them I was shown 12 more messages, 3 Mar 17:02 to 18:59.`
fn around(surroundings: &[&UsedMessage], now: Timestamp, to: WhyReader) -> Option<String> {
    let (first, last) = (surroundings.first()?, surroundings.last()?);
    let (from, until) = (to.time(first.sent_at, now), to.time(last.sent_at, now));
    let texts = &to.texts.why;
    let form = if surroundings.len() == 1 { &texts.around_one } else { &texts.around_many };
    Some(filled(form, &[("n", &surroundings.len().to_string()), ("from", &from), ("to", &until)]))
}

fn recalled(record: &AnswerRecord) -> impl Iterator<Item = &FoundSource> {
    record.slots.iter().flat_map(|slot| &slot.found)
}

/// Names the search methods that found a source: `its words and its meaning`.
fn retrievers_in_words(retrieved: &RetrieverScores, texts: &WhyTexts) -> String {
    let by_words = retrieved.words > 0.0 || retrieved.trigrams > 0.0;
    let said = [
        (by_words, &texts.words),
        (retrieved.author > 0.0, &texts.author),
        (retrieved.vector > 0.0, &texts.meaning),
        (retrieved.summary > 0.0, &texts.talk_summary),
        (retrieved.tags > 0.0, &texts.talk_tag),
        (retrieved.date > 0.0, &texts.day),
    ];
    let said: Vec<&str> = said.into_iter().filter(|(holds, _)| *holds).map(|(_, said)| said.as_str()).collect();
    match said.as_slice() {
        [] => texts.beside.clone(),
        [one] => (*one).to_owned(),
        [first @ .., last] => filled(&texts.and, &[("first", &first.join(", ")), ("last", last)]),
    }
}

/// Returns the reason for which a message was chosen, in English.
pub fn in_plain_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Anchor => "the message the tag replied to",
        Reason::Quoted => "the message the tag replied to, with a part marked",
        Reason::Chain => "linked by replies",
        Reason::Cluster => "said shortly before or after",
        Reason::Thread => "part of the same talk",
        Reason::Bridge => "an earlier part of the same matter",
        Reason::Query => "about what the tag asks",
        Reason::Named => "said at the time or by the member that the tag names",
        Reason::Source => "an earlier answer rested on it",
        Reason::Nearby => "said nearby",
        Reason::Tool => "looked up for the answer",
    }
}

/// Lists the messages left out of the prompt, by reason: `Left out: 3 messages (no room), 20 messages (about something
/// else).`
fn left_out(record: &AnswerRecord, texts: &WhyTexts) -> Option<String> {
    let reasons = [("no room", &texts.no_room), ("about something else", &texts.something_else)];
    let rendered = reasons.into_iter().filter_map(|(why, words)| {
        let count = record.omitted.iter().filter(|omitted| omitted.why == why).count();
        let form = if count == 1 { &texts.left_one } else { &texts.left_many };
        (count > 0).then(|| filled(form, &[("n", &count.to_string()), ("why", words)]))
    });
    let rendered: Vec<String> = rendered.collect();
    (!rendered.is_empty()).then(|| filled(&texts.left_out, &[("list", &rendered.join(", "))]))
}

/// Returns the line with the model, tokens, time and the answer's id.
fn effort(record: &AnswerRecord, texts: &WhyTexts) -> String {
    let model = escape_markdown(&record.model);
    let made_by = match record.status {
        AnswerStatus::Answered => {
            let (read, written) = (grouped(record.tokens.prompt), grouped(record.tokens.completion));
            filled(&texts.model, &[("read", &read), ("written", &written), ("model", &model)])
        }
        AnswerStatus::Offline => texts.no_model.clone(),
        // No model is named, since the program wrote this text.
        AnswerStatus::Apologised => texts.unusable.clone(),
        AnswerStatus::MadeUp => texts.made_up.clone(),
    };
    let secs = format!("{}.{}", record.latency_ms / 1000, record.latency_ms % 1000 / 100);
    filled(&texts.effort, &[("secs", &secs), ("id", &record.id.to_string()), ("made_by", &made_by)])
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use chime_core::testkit::{here, moment};
    use chime_core::texts::texts;
    use chime_core::{AnswerId, ChatKey, Omitted, SlotUse, SourceRef, TokenUse};

    fn record() -> AnswerRecord {
        let chosen = |seq: u32, reason| Chosen { seq: Seq(seq), id: MessageId(seq.into()), reason, score: 0.5 };
        let omitted = |id, why: &str| Omitted { id: MessageId(id), why: why.to_owned() };
        AnswerRecord {
            id: AnswerId(ulid::Ulid::from_parts(1, 2)),
            chat: ChatKey(1),
            forum_topic: None,
            trigger: Seq(9),
            asked_by: UserId(1),
            created_at: moment("15:00"),
            status: AnswerStatus::Answered,
            text: "Thai \\[1\\]. Or not.\n\nSources: \\[1\\] Dan 14:55".to_owned(),
            anchor: Some(MessageId(1)),
            window: vec![
                chosen(1, Reason::Anchor),
                chosen(2, Reason::Thread),
                chosen(3, Reason::Nearby),
                chosen(4, Reason::Thread),
                chosen(5, Reason::Chain),
            ],
            omitted: vec![
                omitted(2, "about something else"),
                omitted(3, "no room"),
                omitted(6, "about something else"),
            ],
            slots: Vec::new(),
            sources: vec![SourceRef { id: "m4".to_owned(), text: "The thai one?".to_owned() }],
            model: "some_model-1".to_owned(),
            tokens: TokenUse { prompt: 1204, completion: 88 },
            latency_ms: 2140,
            uncertainty: None,
            guard_used: false,
            removed: Vec::new(),
        }
    }

    fn used(seq: u32, reply_to: Option<i64>, at: &str, text: &str) -> UsedMessage {
        UsedMessage {
            seq: Seq(seq),
            id: MessageId(seq.into()),
            role: Role::User,
            name: format!("Member *{seq}"),
            sent_at: moment(at),
            text: text.to_owned(),
            reply_to: reply_to.map(MessageId),
            link: (seq == 1).then(|| "https://t.me/c/1/1".to_owned()),
        }
    }

    fn rendered(member: i64) -> WhyReader {
        WhyReader { member: UserId(member), zone: here(), texts: texts("eng") }
    }

    #[test]
    fn why_quotes_each_message_and_tells_reasons_apart() {
        let used = [
            used(1, None, "-3d 14:02", "Which *restaurant*?"),
            used(2, Some(1), "-3d 14:05", &"the thai one ".repeat(9)),
            used(3, None, "14:40", "lunch"),
            used(4, None, "14:55", "The thai one?"),
        ];
        expect![[r#"
            I used these messages:

            - Member \*4 14:55 “The thai one?”: said just before, cited for “Thai.”
            - [Member \*1 2 Jan 14:02](https://t.me/c/1/1) “Which \*restaurant\*?”: you replied to it
            - Member \*2 2 Jan 14:05 “the thai one the thai one the thai one the thai one the tha…”: a reply to that message
            - a message that is no longer kept

            I also saw 1 more message around them, from 14:40.

            Left out: 1 message (no room), 2 messages (about something else).

            Model some\_model-1: 1 204 tokens read, 88 written, 2.1 s. Answer `00000000010000000000000002`."#]]
        .assert_eq(&why(&record(), &used, &WhyExtras::default(), rendered(1)));
    }

    #[test]
    fn why_names_the_topic_and_the_summaries() {
        let slot = |name: &str, sources: &[&str]| SlotUse {
            name: name.to_owned(),
            tokens: 9,
            sources: sources.iter().map(|id| (*id).to_owned()).collect(),
            found: Vec::new(),
        };
        let record = AnswerRecord {
            slots: vec![
                slot("system.role", &[]),
                slot("system.chat.recent", &["s3", "s9"]),
                slot("system.chat.topic:red-tent", &["s4"]),
            ],
            sources: vec![SourceRef { id: "s4".to_owned(), text: "The red tent".to_owned() }],
            ..record()
        };
        let rendered = why(&record, &[], &WhyExtras::default(), rendered(1));
        let line = "Summaries I saw: Recent (2 lines, 0 cited), the topic “red-tent” (1 line, 1 cited).";
        assert!(rendered.contains(line), "{rendered}");
        let kept = [
            used(9, None, "14:40", "x"),
            UsedMessage { link: Some("https://t.me/c/1/4".to_owned()), ..used(4, None, "14:55", "x") },
        ];
        let rendered = why(
            &record,
            &kept,
            &WhyExtras::default(),
            WhyReader { member: UserId(1), zone: here(), texts: texts("eng") },
        );
        let line = "Summaries I saw: Recent (2 lines, 0 cited) from 14:40, the topic “red-tent” (1 line, 1 cited) from \
                    [14:55](https://t.me/c/1/4).";
        assert!(rendered.contains(line), "{rendered}");
    }

    #[test]
    fn why_is_told_in_the_language_of_the_chat() {
        let used = [used(1, None, "-3d 14:02", "Welches *Restaurant*?"), used(4, None, "14:55", "Das Thai?")];
        let rendered = why(&record(), &used, &WhyExtras::default(), WhyReader { texts: texts("deu"), ..rendered(1) });
        expect![[r#"
            Diese Nachrichten habe ich benutzt:

            - Member \*4 14:55 „Das Thai?“: kurz davor gesagt, Beleg für „Thai.“
            - [Member \*1 2. Jan. 14:02](https://t.me/c/1/1) „Welches \*Restaurant\*?“: du hast darauf geantwortet
            - eine Nachricht, die nicht mehr gespeichert ist
            - eine Nachricht, die nicht mehr gespeichert ist

            Weggelassen: 1 Nachricht (kein Platz), 2 Nachrichten (über etwas anderes).

            Modell some\_model-1: 1 204 Tokens gelesen, 88 geschrieben, 2.1 s. Antwort `00000000010000000000000002`."#]]
        .assert_eq(&rendered);
    }

    #[test]
    fn distances_are_told_in_plain_words() {
        let record = record();
        let all = [used(1, None, "-3d 14:02", ""), used(4, None, "-2d 10:00", "x")];
        let reason = |reason, message: &UsedMessage| {
            ExplainedRecord { record: &record, used: &all, to: rendered(9) }.reason(reason, message)
        };
        assert_eq!(reason(Reason::Anchor, &all[0]), "the question was a reply to it");
        assert_eq!(reason(Reason::Thread, &all[1]), "same subject, 2 days earlier");
        assert_eq!(reason(Reason::Query, &all[1]), "it is about what was asked");
        let ours = UsedMessage { role: Role::Assistant, ..all[1].clone() };
        assert_eq!(reason(Reason::Thread, &ours), "my answer, 2 days earlier");
    }

    #[test]
    fn why_names_what_found_a_recalled_source() {
        let found = |id: &str, retrieved| FoundSource { id: id.to_owned(), score: 2.0, retrieved };
        let record = AnswerRecord {
            anchor: None,
            window: vec![Chosen { seq: Seq(4), id: MessageId(4), reason: Reason::Query, score: 0.5 }],
            slots: vec![SlotUse {
                name: "system.recall".to_owned(),
                tokens: 90,
                sources: vec!["m4".to_owned(), "s7".to_owned()],
                found: vec![
                    found("m4", RetrieverScores { words: 0.4, vector: 0.6, ..RetrieverScores::default() }),
                    found("s7", RetrieverScores { tags: 0.8, ..RetrieverScores::default() }),
                ],
            }],
            ..record()
        };
        let rendered = why(&record, &[used(4, None, "14:40", "The thai one?")], &WhyExtras::default(), rendered(1));
        assert!(
            rendered.contains("it is about what was asked, found by its words and its meaning, cited"),
            "{rendered}"
        );
        assert!(
            rendered.contains("summaries of earlier conversations: s7 (found by a keyword of its conversation)."),
            "{rendered}"
        );
        assert_eq!(retrievers_in_words(&RetrieverScores::default(), &texts("eng").why), "what was said next to it");
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
        .assert_eq(&why(&record, &[], &WhyExtras::default(), rendered(1)));
    }

    #[test]
    fn why_of_an_answer_without_relevant_messages_does_not_say_that_they_were_used() {
        let record = AnswerRecord { guard_used: true, sources: Vec::new(), ..record() };
        let said = why(&record, &[used(1, None, "14:40", "The thai one?")], &WhyExtras::default(), rendered(1));
        assert!(said.starts_with("I looked at these messages:"), "{said}");
    }

    #[test]
    fn why_of_an_apology_names_no_model() {
        let record = AnswerRecord { status: AnswerStatus::Apologised, ..record() };
        assert!(
            why(&record, &[], &WhyExtras::default(), rendered(1)).contains("No model gave a usable answer, 2.1 s.")
        );
    }
}
