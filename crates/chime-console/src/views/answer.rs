//! An answer: its question, the prompt by slots, the messages chosen for it and its sources. The messages can be chosen
//! once more with another number of tokens.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::{Extension, Path, Query, State};
use maud::{Markup, html};
use serde::Deserialize;
use ulid::Ulid;

use chime_answer::answering::format_own;
use chime_answer::explain::{ContextExplanation, described, explain_choice};
use chime_answer::why::in_plain_words;
use chime_core::{
    AnswerId, AnswerRecord, Chosen, MessagePlace, Part, Seq, SourceId, StoredMessage, Zone, clip, grouped, message_link,
};
use chime_relevance::context::{Entry, Params};
use chime_store::chats::ChatRow;
use chime_store::{Reader, answers, console, messages};

use crate::SharedConsole;
use crate::chart::level;
use crate::page::{OwnerSession, PageError, chat_of, message_place, moment, page, timeline_at};

const LINE_CHARS: usize = 200;
/// Number of omitted messages that are listed.
const OMITTED: usize = 30;

#[derive(Debug, Default, Deserialize)]
pub struct AnswerQuery {
    /// Messages are chosen once more with this `CONTEXT_TOKENS`.
    context_tokens: Option<usize>,
}

struct AnswerData {
    row: ChatRow,
    title: String,
    zone: Zone,
    record: AnswerRecord,
    trigger: Option<StoredMessage>,
    /// Messages of the window and those that sources name, by their numbers.
    used: BTreeMap<Seq, StoredMessage>,
    again: Option<ContextExplanation>,
}

pub async fn show(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
    Path(answer): Path<String>,
    Query(query): Query<AnswerQuery>,
) -> Result<Markup, PageError> {
    let id = Ulid::from_str(&answer).map(AnswerId).map_err(|_| PageError::NotFound)?;
    let (shared, tokens) = (console.clone(), query.context_tokens);
    let data = console.parts.base.store.read(move |conn| load(conn, id, tokens, &shared)).await?;
    let data = data.ok_or(PageError::NotFound)?;
    let zone = data.zone;
    let usual = query.context_tokens.unwrap_or(console.parts.params.token_budget);
    let body = html! {
        p { a href=(timeline_at(&data.row, data.record.trigger)) dir="auto" { (data.title) } ", " (moment(data.record.created_at, zone)) }
        div.columns {
            section { (words(&data)) (facts(&data)) (sources(&data)) }
            section { h2 { "Prompt" } (slots(&data)) }
        }
        section {
            h2 { "Messages in the prompt" }
            (chosen(&data, Part::Focus, "Focus", zone)) (chosen(&data, Part::Surroundings, "Surroundings", zone))
            (omitted(&data))
        }
        section #again {
            h2 { "Select again" }
            p { "Chooses messages as today's program and settings would. No model is asked." }
            form.inline action="#again" {
                label { "CONTEXT_TOKENS " input type="number" name="context_tokens" min="100" max="20000" value=(usual); }
                button { "Select" }
            }
            @if let Some(again) = &data.again { (selected_again(&data, again)) }
        }
    };
    Ok(page("Answer", &session, "", &body))
}

fn load(
    conn: &Reader,
    id: AnswerId,
    context_tokens: Option<usize>,
    console: &SharedConsole,
) -> chime_store::Result<Option<AnswerData>> {
    const MOST_TOKENS: usize = 20_000;
    let Some(record) = answers::find(conn, id)? else { return Ok(None) };
    if console::is_answer_withheld(conn, record.chat, id)? {
        return Ok(None);
    }
    let Some((row, title, zone)) = chat_of(conn, record.chat.0, console.parts.base.zone())? else { return Ok(None) };
    let cited = record.sources.iter().filter_map(|source| SourceId::message_of(&source.id));
    let used = messages::by_seqs(conn, record.chat, record.window.iter().map(|chosen| chosen.seq).chain(cited))?;
    let used: BTreeMap<Seq, StoredMessage> = used.into_iter().map(|stored| (stored.seq, stored)).collect();
    let trigger = messages::by_seq(conn, record.chat, record.trigger)?;
    let again = match (&trigger, context_tokens) {
        (Some(trigger), Some(tokens)) => {
            let parts = &console.parts;
            let params = Params { token_budget: tokens.min(MOST_TOKENS), ..parts.params.clone() };
            let place = MessagePlace::Ids(trigger.message.chat, trigger.message.id);
            explain_choice(conn, &place, &params, parts.base.zone(), &parts.features, &parts.recaller)?
        }
        _ => None,
    };
    Ok(Some(AnswerData { row, title, zone, record, trigger, used, again }))
}

fn words(data: &AnswerData) -> Markup {
    html! {
        h2 { "Question" }
        @match &data.trigger {
            Some(trigger) => p.text dir="auto" { bdi.name { (trigger.message.sender.name) } ": " (trigger.message.rendered()) },
            None => p { "The question is no longer kept." },
        }
        h2 { "Answer" }
        p.text dir="auto" { @for part in format_own(&data.record.text) { (part.text) } }
    }
}

fn facts(data: &AnswerData) -> Markup {
    let record = &data.record;
    html! {
        dl.facts {
            dt { "Status" } dd { (record.status.as_str()) @if record.guard_used { ", no source was relevant enough" } }
            dt { "Model" } dd { (record.model) }
            dt { "Tokens read and written" } dd { (grouped(record.tokens.prompt)) " + " (grouped(record.tokens.completion)) }
            dt { "Time" } dd { (grouped(record.latency_ms)) " ms" }
            @if let Some(uncertainty) = record.uncertainty { dt { "Uncertainty" } dd { (uncertainty.as_str()) } }
            dt { "Removed from the model's answer" }
            dd {
                @if record.removed.is_empty() { "nothing" }
                @else { "citations of what was not in the prompt: " (record.removed.join(", ")) }
            }
            dt { "Id" } dd { code { (record.id.0) } }
        }
    }
}

fn sources(data: &AnswerData) -> Markup {
    html! {
        h2 { "Sources" }
        @if data.record.sources.is_empty() { p { "The answer cites nothing." } }
        ol.lines { @for source in &data.record.sources {
            @let message = SourceId::message_of(&source.id).and_then(|seq| data.used.get(&seq));
            li {
                @match message {
                    Some(stored) => {
                        a href=(timeline_at(&data.row, stored.seq)) { (source.id) } " "
                        @if let Some(link) = message_link(&data.row.chat, &stored.message) { a href=(link) rel="noreferrer" { "in Telegram" } " " }
                    }
                    None => { (source.id) " " }
                }
                bdi { (source.text) }
            }
        } }
    }
}

fn slots(data: &AnswerData) -> Markup {
    let highest = data.record.slots.iter().map(|slot| slot.tokens).max().unwrap_or(0) as u64;
    html! {
        div.wide { table {
            thead { tr { th { "Slot" } th.number { "Tokens" } th { span.hidden { "Share" } } th.number { "Sources" } } }
            tbody { @for slot in &data.record.slots {
                tr { td { bdi { (slot.name) } } td.number { (grouped(slot.tokens as u64)) } td { (level(slot.tokens as u64, highest)) } td.number { (slot.sources.len()) } }
            } }
        } }
    }
}

fn chosen(data: &AnswerData, part: Part, title: &str, zone: Zone) -> Markup {
    let of_part: Vec<&Chosen> = data.record.window.iter().filter(|chosen| chosen.reason.part() == part).collect();
    html! {
        h3 { (title) ", " (of_part.len()) " messages" }
        div.wide { table.choice {
            thead { tr { th { "Message" } th.number { "Probability" } th { span.hidden { "Bar" } } th { "Reason" } th { "Said" } } }
            tbody { @for chosen in of_part {
                tr {
                    td { (message_place(&data.row, chosen.seq)) }
                    td.number { (format!("{:.2}", chosen.score)) }
                    td { (level(share(chosen.score), 100)) }
                    td { (in_plain_words(chosen.reason)) }
                    td { @match data.used.get(&chosen.seq) {
                        Some(stored) => { (moment(stored.message.sent_at, zone)) " " (said(stored)) },
                        None => "no longer kept",
                    } }
                }
            } }
        } }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 100 after the clamp")]
fn share(score: f64) -> u64 {
    (score.clamp(0.0, 1.0) * 100.0) as u64
}

fn said(stored: &StoredMessage) -> Markup {
    html! { bdi.name { (stored.message.sender.name) } ": " bdi { (clip(&stored.message.rendered(), LINE_CHARS)) } }
}

fn omitted(data: &AnswerData) -> Markup {
    let omitted = &data.record.omitted;
    html! {
        @if !omitted.is_empty() {
            details {
                summary { "Left out, " (omitted.len()) " messages" }
                ul.lines { @for one in omitted.iter().take(OMITTED) { li { "#" (one.id) ": " (one.why) } } }
            }
        }
    }
}

fn selected_again(data: &AnswerData, again: &ContextExplanation) -> Markup {
    let before: BTreeMap<Seq, Part> =
        data.record.window.iter().map(|chosen| (chosen.seq, chosen.reason.part())).collect();
    let row = |entry: &Entry| {
        let seq = entry.message.seq;
        html! {
            tr {
                td { (message_place(&data.row, seq)) }
                td.number { (format!("{:.2}", entry.score)) }
                td { (level(share(entry.score), 100)) }
                td { (in_plain_words(entry.reason)) br; small { (described(&again.features(entry))) } }
                td { (said(&entry.message)) }
                td { @match before.get(&seq) { None => "new", Some(part) if *part != entry.part() => "moved", Some(_) => "as before" } }
            }
        }
    };
    html! {
        @for (part, title) in [(Part::Focus, "Focus"), (Part::Surroundings, "Surroundings")] {
            @let entries: Vec<&Entry> = again.window.entries.iter().filter(|entry| entry.part() == part).collect();
            h3 { (title) ", " (entries.len()) " messages" }
            div.wide { table.choice {
                thead { tr {
                    th { "Message" } th.number { "Probability" } th { span.hidden { "Bar" } } th { "Reason, and what weighed most" }
                    th { "Said" } th { "Before" }
                } }
                tbody { @for entry in entries { (row(entry)) } }
            } }
        }
        @if !again.window.omitted.is_empty() {
            details {
                summary { "Left out, " (again.window.omitted.len()) " messages" }
                ul.lines { @for one in again.window.omitted.iter().take(OMITTED) {
                    li { "#" (one.id) " " bdi { (again.said(one.id)) } ": " (one.why)
                        @if let Some(candidate) = again.candidate(one.id) { ", " (format!("{:.2}", candidate.probability)) } }
                } }
            }
        }
    }
}
