//! Overview: what happened in the last 30 days, health, jobs and the last warnings.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::extract::{Extension, Form, State};
use axum::response::Redirect;
use maud::{Markup, html};
use serde::Deserialize;

use chime_core::{ChatKey, JobId, JobKind, Timestamp, Zone, grouped};
use chime_store::console::{self, ChatDay, DayCounts};
use chime_store::jobs::ParkedJob;
use chime_store::{Priority, Reader, chats, feedback, jobs};

use crate::chart::{Bar, bars, level, percentile};
use crate::page::{OwnerSession, PageError, chat_title, date, form_token, moment, money, page};
use crate::{DaemonState, SharedConsole};

const DAYS: i64 = 30;
const PARKED: u32 = 50;

struct OverviewData {
    /// First UTC day of the charts.
    first: i64,
    days: BTreeMap<i64, DayCounts>,
    chats: Vec<ChatTotals>,
    /// Sorted milliseconds.
    answer_times: Vec<u64>,
    thumbs: (u64, u64),
    kinds: Vec<(JobKind, u64, u64)>,
    parked: Vec<ParkedJob>,
}

struct ChatTotals {
    key: ChatKey,
    title: String,
    is_present: bool,
    newest: Option<Timestamp>,
    counts: DayCounts,
}

fn load(conn: &Reader, now: Timestamp) -> chime_store::Result<OverviewData> {
    let from = now.minus(Duration::from_secs(86_400 * (DAYS.unsigned_abs() - 1)));
    let mut days: BTreeMap<i64, DayCounts> = (from.day()..=now.day()).map(|day| (day, DayCounts::default())).collect();
    let mut of_chats: BTreeMap<ChatKey, DayCounts> = BTreeMap::new();
    for ChatDay { chat, day, counts } in console::activity(conn, from)? {
        // Messages may be dated in the future by a wrong clock.
        days.entry(day.min(now.day())).or_default().add(&counts);
        of_chats.entry(chat).or_default().add(&counts);
    }
    let newest: BTreeMap<ChatKey, Timestamp> = console::newest_messages(conn)?.into_iter().collect();
    let mut totals = Vec::new();
    for row in chats::all(conn)? {
        totals.push(ChatTotals {
            key: row.key,
            title: chat_title(&row),
            is_present: row.is_present,
            newest: newest.get(&row.key).copied(),
            counts: of_chats.get(&row.key).copied().unwrap_or_default(),
        });
    }
    totals.sort_by_key(|chat| std::cmp::Reverse((chat.counts.tokens, chat.counts.messages, chat.newest)));
    Ok(OverviewData {
        first: from.day(),
        days,
        chats: totals,
        answer_times: console::answer_times(conn, from)?,
        thumbs: feedback::counts(conn)?,
        kinds: jobs::counts_by_kind(conn)?,
        parked: jobs::parked(conn, PARKED)?,
    })
}

pub async fn show(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
) -> Result<Markup, PageError> {
    let now = console.parts.base.clock.now();
    let data = console.parts.base.store.read(move |conn| load(conn, now)).await?;
    let state = (console.parts.state)().await;
    let zone = console.parts.base.zone();
    let body = html! {
        div.columns {
            section { h2 { "Last " (DAYS) " days" } (charts(&data, zone)) (answer_times(&data)) }
            section { h2 { "Health" } (health(&state)) h2 { "Jobs" } (job_table(&data, &session)) }
        }
        section { h2 { "Chats" } (chat_table(&data, zone)) }
        section { h2 { "Last warnings" } (warnings(&state, zone)) }
    };
    Ok(page("Overview", &session, "/", &body))
}

fn charts(data: &OverviewData, zone: Zone) -> Markup {
    let mut sum = DayCounts::default();
    data.days.values().for_each(|counts| sum.add(counts));
    let chart = |title: &str, total: &str, value: fn(&DayCounts) -> (u64, u64), caption: fn(u64) -> String| {
        let drawn: Vec<Bar> = (data.days.range(data.first..))
            .map(|(at, counts)| {
                let (value, part) = value(counts);
                Bar { label: date(*at, zone), value, part, caption: caption(value) }
            })
            .collect();
        bars(title, total, &drawn)
    };
    let answered = format!("{}, {} answered by a model", grouped(sum.triggers), grouped(sum.answers));
    html! {
        div.charts {
            (chart("Messages", &grouped(sum.messages), |it| (it.messages, 0), grouped))
            (chart("Triggers", &answered, |it| (it.triggers, it.answers), grouped))
            (chart("Tokens", &grouped(sum.tokens), |it| (it.tokens, 0), grouped))
            @if sum.cost_micros > 0 { (chart("Money", &money(sum.cost_micros), |it| (it.cost_micros, 0), money)) }
        }
    }
}

fn answer_times(data: &OverviewData) -> Markup {
    let seconds = |percent| {
        percentile(&data.answer_times, percent)
            .map_or_else(|| "–".to_owned(), |ms| format!("{}.{} s", ms / 1000, ms % 1000 / 100))
    };
    let (good, bad) = data.thumbs;
    html! {
        dl.tiles {
            @for percent in [50, 90, 99] {
                div { dt { (percent) " % of answers took at most" } dd { (seconds(percent)) } }
            }
            div { dt { "Thumbs up and down" } dd { (good) " / " (bad) } }
        }
    }
}

fn health(state: &DaemonState) -> Markup {
    let value = |name: &str| &state.health[name];
    let status = value("status").as_str().unwrap_or("unknown");
    let seconds = |name: &str| {
        let age = value(name).as_f64();
        age.map_or_else(|| "–".to_owned(), |age| chime_core::span_in_words(Duration::from_secs_f64(age.max(0.0))))
    };
    let reasons = value("reasons").as_array().into_iter().flatten().filter_map(|reason| reason.as_str());
    html! {
        p { span.status.(status) { (status) } }
        ul { @for reason in reasons { li { (reason) } } }
        dl.facts {
            dt { "Last poll" } dd { (seconds("last_poll_age_s")) " ago" }
            dt { "Clock ahead of Telegram's" } dd { (value("clock_skew_s").as_i64().map_or_else(|| "–".to_owned(), |ahead| format!("{ahead} s"))) }
            dt { "Newest backup" } dd { @if value("backup_age_s").is_null() { "none" } @else { (seconds("backup_age_s")) " old" } }
            dt { "Model server" } dd { @if value("breaker") == "open" { "left alone after failures" } @else { "in use" } }
        }
    }
}

fn job_table(data: &OverviewData, session: &OwnerSession) -> Markup {
    html! {
        div.wide { table {
            thead { tr { th { "Kind" } th.number { "To do" } th.number { "Parked" } } }
            tbody { @for (kind, due, parked) in &data.kinds {
                tr { td { (kind.as_str()) } td.number { (due) } td.number { (parked) } }
            } }
        } }
        @if !data.parked.is_empty() {
            h3 { "Parked" }
            @for job in &data.parked {
                div.parked {
                    p { strong { (job.kind) } " " small { "job " (job.id) ", " (job.attempts) " attempts" } }
                    p { (job.last_error.as_deref().unwrap_or("no error is known")) }
                    form method="post" action="/jobs/retry" {
                        (form_token(session))
                        input type="hidden" name="job" value=(job.id.0);
                        button aria-label={ "Try job " (job.id) " again" } { "Try again" }
                    }
                }
            }
        }
    }
}

fn chat_table(data: &OverviewData, zone: Zone) -> Markup {
    let highest = data.chats.iter().map(|chat| chat.counts.tokens).max().unwrap_or(0);
    html! {
        div.wide { table {
            thead { tr {
                th { "Chat" } th.number { "Messages" } th.number { "Triggers" } th.number { "Answers" }
                th.number { "Tokens" } th { span.hidden { "Share of tokens" } } th.number { "Money" } th { "Newest message" }
            } }
            tbody { @for chat in &data.chats {
                tr {
                    td { a href={ "/chats/" (chat.key) } dir="auto" { (chat.title) } @if !chat.is_present { " " small { "left" } } }
                    td.number { (grouped(chat.counts.messages)) }
                    td.number { (grouped(chat.counts.triggers)) }
                    td.number { (grouped(chat.counts.answers)) }
                    td.number { (grouped(chat.counts.tokens)) }
                    td { (level(chat.counts.tokens, highest)) }
                    td.number { (money(chat.counts.cost_micros)) }
                    td { @if let Some(newest) = chat.newest { (moment(newest, zone)) } }
                }
            } }
        } }
    }
}

fn warnings(state: &DaemonState, zone: Zone) -> Markup {
    html! {
        @if state.warnings.is_empty() { p { "None since the start." } }
        ul.log { @for warning in &state.warnings {
            li { (moment(warning.at, zone)) " " span.(warning.level) { (warning.level) } " " (warning.text) }
        } }
    }
}

#[derive(Deserialize)]
pub struct RetryForm {
    form_token: String,
    job: i64,
}

pub async fn retry(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
    Form(form): Form<RetryForm>,
) -> Result<Redirect, PageError> {
    session.check(&form.form_token)?;
    let now = console.parts.base.clock.now();
    let unparking = move |tx: &chime_store::Writer<'_>| jobs::unpark(tx, Some(JobId(form.job)), now);
    console.parts.base.store.write(Priority::Background, unparking).await?;
    console.parts.base.wake.wake();
    Ok(Redirect::to("/"))
}
