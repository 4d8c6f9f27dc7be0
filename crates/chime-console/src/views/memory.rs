//! What is remembered of a chat: Recent, History, summaries of sessions, topics, concepts and notes.

use axum::extract::{Extension, Form, Path, State};
use axum::response::Redirect;
use maud::{Markup, html};
use serde::Deserialize;

use chime_core::{Concept, Seq, Session, Summary, SummaryMethod, Timestamp, Zone, clip, grouped};
use chime_memory::jobs::{ItemList, items, remembered};
use chime_memory::wording::Remembered;
use chime_store::chats::ChatRow;
use chime_store::notes::{Note, NotePiece};
use chime_store::tags::Tag;
use chime_store::{Priority, Reader, chats, concepts, console, notes, summaries, tags};

use crate::SharedConsole;
use crate::page::{OwnerSession, PageError, chat_of, chat_tabs, form_token, message_place, moment, page};
use crate::rebuild::{self, Rebuilt};
use crate::views::chat::{bullets, tag_list};

const SUMMARIES: u32 = 30;
const TOPICS: u32 = 50;
const NOTE_CHARS: usize = 600;

struct MemoryData {
    row: ChatRow,
    title: String,
    zone: Zone,
    remembered: Remembered,
    decisions: Remembered,
    open: Remembered,
    sessions: Vec<(Session, Summary)>,
    tags: Vec<Tag>,
    /// `None` until the concepts of a member who opted out are deleted.
    concepts: Option<Vec<Concept>>,
    notes: Vec<(Note, String)>,
}

fn load(conn: &Reader, chat: u32, operators: Zone, now: Timestamp) -> chime_store::Result<Option<MemoryData>> {
    let Some((row, title, zone)) = chat_of(conn, chat, operators)? else { return Ok(None) };
    let (first, last) = (Timestamp::from_secs(0), Timestamp::END);
    let pieces = notes::pieces(conn, row.key)?;
    let text = |note: &Note| {
        let own = pieces.iter().filter(|piece: &&NotePiece| piece.number == note.number);
        own.map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n")
    };
    let is_withheld = console::are_concepts_withheld(conn, row.key)?;
    Ok(Some(MemoryData {
        remembered: remembered(conn, &row, zone)?,
        decisions: items(conn, &row, zone, ItemList::Decisions(first))?,
        open: items(conn, &row, zone, ItemList::Open(now))?,
        sessions: summaries::minis_between(conn, row.key, first, last, SUMMARIES)?,
        tags: tags::inventory(conn, row.key, TOPICS)?,
        concepts: if is_withheld { None } else { Some(concepts::of_chat(conn, row.key)?) },
        notes: notes::of_chat(conn, row.key)?.into_iter().map(|note| (note.clone(), text(&note))).collect(),
        row,
        title,
        zone,
    }))
}

pub async fn show(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
    Path(chat): Path<u32>,
) -> Result<Markup, PageError> {
    let (operators, now) = (console.parts.base.zone(), console.parts.base.clock.now());
    let data = console.parts.base.store.read(move |conn| load(conn, chat, operators, now)).await?;
    let data = data.ok_or(PageError::NotFound)?;
    let body = html! {
        (chat_tabs(&data.row, "Memory"))
        div.columns {
            section {
                (rolling(&data, "Recent", data.remembered.recent.as_ref()))
                (rebuild_button(&data, &session, "recent"))
                (rolling(&data, "History", data.remembered.history.as_ref()))
                (rebuild_button(&data, &session, "history"))
            }
            section {
                (item_lists(&data))
                h2 { "Topics" }
                (tag_list(&data.tags))
                (concept_list(&data)) (rebuild_button(&data, &session, "concepts"))
                (note_list(&data, data.zone))
            }
        }
        section { h2 { "Sessions" } (session_list(&data, data.zone)) }
    };
    Ok(page(&data.title, &session, "", &body))
}

fn rolling(data: &MemoryData, name: &str, kept: Option<&(Summary, u32)>) -> Markup {
    html! {
        h2 { (name) }
        @match kept {
            Some((summary, sessions)) => {
                p { small { (sessions) " session" @if *sessions != 1 { "s" } ", " (grouped(summary.tokens as u64)) " tokens, " (method(summary)) } }
                (bullets(&data.row, summary, &data.remembered.names))
            }
            None => p { @if data.remembered.is_being_made { "It is being made." } @else { "Nothing yet." } },
        }
    }
}

fn item_lists(data: &MemoryData) -> Markup {
    let (decisions, open) = (&data.decisions, &data.open);
    let lists = [("Decisions", &decisions.recent), ("Open", &open.recent), ("Done recently", &open.history)];
    html! {
        h2 { "Decisions and tasks" }
        @if lists.iter().all(|(_, kept)| kept.is_none()) { p { "None." } }
        @for (title, kept) in lists {
            @if let Some((summary, _)) = kept { h3 { (title) } (bullets(&data.row, summary, &data.remembered.names)) }
        }
    }
}

fn method(summary: &Summary) -> String {
    match summary.method {
        SummaryMethod::Model => format!("by {}", summary.model),
        SummaryMethod::Extract => "messages word for word, no model".to_owned(),
    }
}

fn rebuild_button(data: &MemoryData, session: &OwnerSession, what: &str) -> Markup {
    html! {
        form method="post" action={ "/chats/" (data.row.key) "/rebuild" } {
            (form_token(session))
            input type="hidden" name="what" value=(what);
            button aria-label={ "Rebuild " (what) } { "Rebuild" }
        }
    }
}

fn session_list(data: &MemoryData, zone: Zone) -> Markup {
    html! {
        @if data.sessions.is_empty() { p { "No session has a summary yet." } }
        @for (session, summary) in &data.sessions {
            details {
                summary { (moment(session.first.0, zone)) ", " (session.messages) " messages, " (method(summary)) }
                (bullets(&data.row, summary, &data.remembered.names))
            }
        }
    }
}

fn concept_list(data: &MemoryData) -> Markup {
    html! {
        h2 { "Concepts" }
        @match &data.concepts {
            None => p { "What comes from a member who opted out is being deleted." },
            Some(concepts) if concepts.is_empty() => p { "None yet." },
            Some(concepts) => dl.facts { @for concept in concepts {
                dt dir="auto" { (concept.label) }
                dd dir="auto" { (concept.definition) @if !concept.alt_labels.is_empty() { " (" (concept.alt_labels.join(", ")) ")" } }
            } },
        }
    }
}

fn note_list(data: &MemoryData, zone: Zone) -> Markup {
    html! {
        h2 { "Notes" }
        @if data.notes.is_empty() { p { "None." } }
        @for (note, text) in &data.notes {
            details {
                summary { "n" (note.number) " " bdi { (note.title) } }
                p { small { (moment(note.saved_at, zone)) @for seq in &note.sources { " " (message_place(&data.row, Seq(seq.0))) } } }
                p.text dir="auto" { (clip(text, NOTE_CHARS)) }
            }
        }
    }
}

#[derive(Deserialize)]
pub struct RebuildForm {
    form_token: String,
    what: String,
}

pub async fn rebuild(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
    Path(chat): Path<u32>,
    Form(form): Form<RebuildForm>,
) -> Result<Redirect, PageError> {
    session.check(&form.form_token)?;
    let what: Rebuilt = form.what.parse().map_err(|_| PageError::NotFound)?;
    let now = console.parts.base.clock.now();
    let rebuilding = move |tx: &chime_store::Writer<'_>| match chats::by_key(tx, chime_core::ChatKey(chat))? {
        Some(row) => rebuild::rebuild(tx, &row, &what, now),
        None => Ok(false),
    };
    if !console.parts.base.store.write(Priority::Background, rebuilding).await? {
        return Err(PageError::NotFound);
    }
    console.parts.base.wake.wake();
    Ok(Redirect::to(&format!("/chats/{chat}/memory")))
}
