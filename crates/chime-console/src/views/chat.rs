//! A chat: its messages with threads and replies, triggers and answers, sessions beside them, and search.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::extract::{Extension, Path, Query, State};
use chrono::NaiveDate;
use maud::{Markup, html};
use serde::Deserialize;

use chime_core::{
    AnswerId, ForumTopicId, Role, Seq, StoredMessage, Summary, Timestamp, Zone, clip, grouped, message_link,
};
use chime_memory::members::named;
use chime_store::chats::ChatRow;
use chime_store::console::{self, ListedSession, TopicDay};
use chime_store::tags::Tag;
use chime_store::{Reader, messages, outbox, search, summaries, tags, topic_names};

use crate::chart::{Bar, bars};
use crate::page::{
    LANES, OwnerSession, PAGE, PageError, chat_of, chat_tabs, date, message_place, moment, page, timeline_at,
};
use crate::threads::{ReplyArc, arcs, colours, reply_links};
use crate::{SharedConsole, reading};

/// Maximum number of characters of a message on the timeline, and of a line in a list.
const SHOWN_CHARS: usize = 2000;
const LINE_CHARS: usize = 160;
const SESSIONS: u32 = 20;
const TOPICS: u32 = 12;
/// Number of topics with a chart, of weeks in a chart, and of days in a week.
const CHARTS: usize = 4;
const WEEKS: usize = 12;
const WEEK: i64 = 7;

/// Part of the timeline that is shown. Without any field, its end.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct TimelineQuery {
    before: Option<u32>,
    after: Option<u32>,
    around: Option<u32>,
    #[serde(default)]
    day: String,
    /// Words to search for instead.
    #[serde(default)]
    q: String,
}

struct ChatData {
    row: ChatRow,
    title: String,
    zone: Zone,
    newest: i64,
    messages: Vec<StoredMessage>,
    colours: Vec<usize>,
    arcs: Vec<ReplyArc>,
    /// Answers by the messages that they answer, and by the bot's messages that contain them.
    answers: BTreeMap<Seq, AnswerId>,
    topics: BTreeMap<ForumTopicId, String>,
    sessions: Vec<SessionShown>,
    names: BTreeMap<u32, String>,
    tags: Vec<Tag>,
    /// The UTC day of the request.
    today: i64,
    topic_days: Vec<TopicDay>,
    found: Vec<StoredMessage>,
}

struct SessionShown {
    session: ListedSession,
    summary: Option<Summary>,
    tags: Vec<(String, f32)>,
}

pub async fn show(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
    Path(chat): Path<u32>,
    Query(query): Query<TimelineQuery>,
) -> Result<Markup, PageError> {
    let (shared, wanted) = (console.clone(), query.clone());
    let data = console.parts.base.store.read(move |conn| load(conn, chat, &wanted, &shared)).await?;
    let data = data.ok_or(PageError::NotFound)?;
    let zone = data.zone;
    let body = html! {
        (chat_tabs(&data.row, "Timeline"))
        (forms(&data, &query))
        @if !query.q.trim().is_empty() { (found(&data, zone)) }
        div.with-aside {
            section aria-label="Timeline" { (pages(&data)) (timeline(&data, zone)) (pages(&data)) }
            aside { (aside(&data, zone)) }
        }
    };
    Ok(page(&data.title, &session, "", &body))
}

fn load(
    conn: &Reader,
    chat: u32,
    query: &TimelineQuery,
    console: &SharedConsole,
) -> chime_store::Result<Option<ChatData>> {
    let parts = &console.parts;
    let Some((row, title, zone)) = chat_of(conn, chat, parts.base.zone())? else { return Ok(None) };
    let messages = page_of(conn, &row, query, zone)?;
    let links = reply_links(conn, &messages, &parts.features)?;
    let today = parts.base.clock.now().day();
    let mut data = ChatData {
        title,
        zone,
        newest: search::newest(conn, row.key)?,
        colours: colours(&links),
        arcs: arcs(&links, LANES),
        answers: BTreeMap::new(),
        topics: BTreeMap::new(),
        sessions: Vec::new(),
        names: summaries::member_names(conn, row.key)?,
        tags: tags::inventory(conn, row.key, TOPICS)?,
        topic_days: console::topic_days(conn, row.key, first_day(today))?,
        today,
        found: Vec::new(),
        messages,
        row,
    };
    if let (Some(first), Some(last)) = (data.messages.first(), data.messages.last()) {
        let (first, last) = (first.seq, last.seq);
        data.answers = console::answers_between(conn, data.row.key, first, last)?.into_iter().collect();
        for session in console::sessions_between(conn, data.row.key, first, last, SESSIONS)? {
            let (summary, tags) = (summaries::mini(conn, session.id)?, tags::of_session(conn, session.id)?);
            data.sessions.push(SessionShown { session, summary, tags });
        }
    }
    for stored in &data.messages {
        if stored.message.role == Role::Assistant {
            let part = outbox::by_message(conn, stored.message.chat, stored.message.id)?;
            data.answers.extend(part.and_then(|part| part.answer).map(|answer| (stored.seq, answer)));
        }
        if let Some(forum_topic) =
            stored.message.forum_topic.filter(|forum_topic| !data.topics.contains_key(forum_topic))
        {
            let name = topic_names::find(conn, stored.conversation())?;
            data.topics.insert(forum_topic, name.unwrap_or_else(|| format!("topic {forum_topic}")));
        }
    }
    let words = query.q.trim();
    if !words.is_empty() {
        data.found = reading::search(conn, &data.row, words, &parts.recaller, parts.base.clock.now(), zone)?;
    }
    Ok(Some(data))
}

/// Returns the messages of a page, oldest first.
fn page_of(conn: &Reader, row: &ChatRow, query: &TimelineQuery, zone: Zone) -> chime_store::Result<Vec<StoredMessage>> {
    let half = u32::try_from(PAGE / 2).unwrap_or(0);
    let day = query.day.parse::<NaiveDate>().ok().map(|day| zone.moment(day.into()));
    let since = day.map_or(Ok(None), |at: Timestamp| console::first_since(conn, row.key, at))?;
    match (query.after, since, query.around, query.before) {
        (Some(after), ..) => messages::page(conn, row.key, Seq(after), PAGE),
        (_, Some(first), ..) => messages::page(conn, row.key, Seq(first.0.saturating_sub(1)), PAGE),
        (_, _, Some(around), _) => messages::page_before(conn, row.key, Seq(around.saturating_add(half)), PAGE),
        (.., before) => messages::page_before(conn, row.key, Seq(before.unwrap_or(u32::MAX)), PAGE),
    }
}

fn forms(data: &ChatData, query: &TimelineQuery) -> Markup {
    html! {
        form.inline role="search" {
            label { "Search " input type="search" name="q" value=(query.q); }
            button { "Search" }
        }
        form.inline {
            label { "Day " input type="date" name="day" value=(query.day); }
            button { "Go" }
        }
        p { small { (grouped(data.newest.max(0).cast_unsigned())) " messages so far, id " (data.row.chat.id) } }
    }
}

fn found(data: &ChatData, zone: Zone) -> Markup {
    html! {
        section {
            h2 { "Found" }
            @if data.found.is_empty() { p { "Nothing was found." } }
            ul.lines { @for stored in &data.found {
                li {
                    a href=(timeline_at(&data.row, stored.seq)) { (moment(stored.message.sent_at, zone)) }
                    " " bdi { (stored.message.sender.name) } ": " bdi { (clip(&stored.message.rendered(), LINE_CHARS)) }
                }
            } }
        }
    }
}

fn pages(data: &ChatData) -> Markup {
    let (Some(first), Some(last)) = (data.messages.first(), data.messages.last()) else {
        return html! { p { "There are no messages here." } };
    };
    let here = format!("/chats/{}", data.row.key);
    html! {
        nav.pages aria-label="Pages of the timeline" {
            @if first.seq.0 > 1 { a href={ (here) "?before=" (first.seq) } { "← Older" } }
            @if i64::from(last.seq.0) < data.newest {
                a href={ (here) "?after=" (last.seq) } { "Newer →" }
                a href=(here) { "Newest" }
            }
        }
    }
}

fn timeline(data: &ChatData, zone: Zone) -> Markup {
    html! {
        div.timeline role="list" {
            @for arc in &data.arcs {
                span aria-hidden="true" class={
                    "arc r" (arc.from + 1) " e" (arc.to + 1) " l" (arc.lane) " t" (data.colours[arc.to]) @if !arc.is_reply { " guess" }
                } {}
            }
            @for (place, stored) in data.messages.iter().enumerate() { (message(data, place, stored, zone)) }
        }
    }
}

fn message(data: &ChatData, place: usize, stored: &StoredMessage, zone: Zone) -> Markup {
    let message = &stored.message;
    let answer = data.answers.get(&stored.seq);
    let mark = match message.role {
        Role::Assistant => "answer",
        Role::User => "trigger",
        Role::System | Role::SystemSummary => "command",
    };
    html! {
        article role="listitem" id={ "m" (stored.seq) } class={
            "message r" (place + 1) " t" (data.colours[place])
            @if answer.is_some() || message.role != Role::User { " " (mark) }
        } {
            p.head {
                bdi.name { (message.sender.name) } " "
                a href={ "#m" (stored.seq) } { (moment(message.sent_at, zone)) }
                @if let Some(topic) = message.forum_topic.and_then(|forum_topic| data.topics.get(&forum_topic)) { " " bdi.tag { (topic) } }
                @if message.edited_at.is_some() { " " small { "edited" } }
                @if let Some(answer) = answer { " " a.tag href={ "/answers/" (answer.0) } { (mark) } }
                @if let Some(link) = message_link(&data.row.chat, message) { " " a href=(link) rel="noreferrer" { "in Telegram" } }
            }
            @if let Some(quote) = &message.quote { blockquote dir="auto" { (clip(quote, LINE_CHARS)) } }
            p.text dir="auto" { (clip(&message.rendered(), SHOWN_CHARS)) }
        }
    }
}

fn aside(data: &ChatData, zone: Zone) -> Markup {
    html! {
        h2 { "Sessions" }
        @if data.sessions.is_empty() { p { "None of those that began here has ended." } }
        @for shown in &data.sessions {
            details open[data.sessions.len() < 4] {
                summary { (moment(shown.session.started_at, zone)) ", " (shown.session.messages) " messages" }
                p { a href={ "#m" (shown.session.id.first) } { "Its beginning" } " until " (moment(shown.session.ended_at, zone)) }
                p { @for (tag, _) in &shown.tags { bdi.tag { (tag) } " " } }
                @if let Some(summary) = &shown.summary { (bullets(&data.row, summary, &data.names)) }
            }
        }
        h2 { "Topics" }
        (tag_list(&data.tags))
        (topic_charts(data, zone))
    }
}

/// Returns the UTC day on which the charts of topics begin.
fn first_day(today: i64) -> i64 {
    today + 1 - WEEK * WEEKS as i64
}

/// Charts of the topics with the most sessions in the last weeks.
fn topic_charts(data: &ChatData, zone: Zone) -> Markup {
    let mut topics: BTreeMap<&str, [u64; WEEKS]> = BTreeMap::new();
    for TopicDay { topic, day, sessions } in &data.topic_days {
        // Sessions may end in the future by a wrong clock.
        let week = (day - first_day(data.today)) / WEEK;
        let week = usize::try_from(week).unwrap_or(0).min(WEEKS - 1);
        topics.entry(topic).or_default()[week] += sessions;
    }
    let mut topics: Vec<(&str, u64, [u64; WEEKS])> =
        topics.into_iter().map(|(topic, weeks)| (topic, weeks.iter().sum(), weeks)).collect();
    topics.sort_by_key(|(_, sessions, _)| Reverse(*sessions));
    let sessions = |count: u64| format!("{count} session{}", if count == 1 { "" } else { "s" });
    let bar = |(week, count): (usize, &u64)| Bar {
        label: date(first_day(data.today) + WEEK * week as i64, zone),
        value: *count,
        part: 0,
        caption: sessions(*count),
    };
    html! {
        @if !topics.is_empty() { h3 { "The last " (WEEKS) " weeks" } }
        @for (topic, count, weeks) in topics.iter().take(CHARTS) {
            (bars(topic, &sessions(*count), &weeks.iter().enumerate().map(bar).collect::<Vec<_>>()))
        }
    }
}

/// Tags with their numbers of sessions.
pub fn tag_list(tags: &[Tag]) -> Markup {
    html! {
        @if tags.is_empty() { p { "None yet." } }
        p { @for tag in tags { bdi.tag title={ (tag.sessions) " sessions" } { (tag.name) " " small { (tag.sessions) } } " " } }
    }
}

/// Lines of a summary, each with the messages that it rests on.
pub fn bullets(row: &ChatRow, summary: &Summary, names: &BTreeMap<u32, String>) -> Markup {
    html! {
        ul { @for bullet in &summary.bullets {
            li dir="auto" {
                (named(&bullet.text, names))
                @for seq in &bullet.sources { " " (message_place(row, *seq)) }
            }
        } }
    }
}
