//! Privacy: who opted out, what forgetting a member would delete, and how long each chat's messages are kept.

use std::time::Duration;

use axum::extract::{Extension, Query, State};
use maud::{Markup, html};
use serde::Deserialize;

use chime_core::{ChatKey, UserId, grouped, span_in_words};
use chime_store::console::{self, Forgettable, ListedOptOut};
use chime_store::{Reader, chats};

use crate::SharedConsole;
use crate::page::{OwnerSession, PageError, chat_title, moment, page};

const OPT_OUTS: u32 = 500;

#[derive(Debug, Default, Deserialize)]
pub struct PrivacyQuery {
    /// Telegram id of a member whose data is counted.
    #[serde(default)]
    user: String,
}

struct PrivacyData {
    opt_outs: Vec<ListedOptOut>,
    forgettable: Option<Forgettable>,
    chats: Vec<ChatRetention>,
}

struct ChatRetention {
    key: ChatKey,
    title: String,
    /// The chat's own setting, if it has one; in it, `None` keeps messages forever.
    own: Option<Option<Duration>>,
}

fn load(conn: &Reader, user: Option<UserId>) -> chime_store::Result<PrivacyData> {
    let mut kept = Vec::new();
    for row in chats::all(conn)? {
        let title = chat_title(&row);
        kept.push(ChatRetention { key: row.key, title, own: chats::own_retention(conn, row.key)? });
    }
    Ok(PrivacyData {
        opt_outs: console::opt_outs(conn, OPT_OUTS)?,
        forgettable: user.map(|user| console::forgettable(conn, None, user)).transpose()?,
        chats: kept,
    })
}

pub async fn show(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
    Query(query): Query<PrivacyQuery>,
) -> Result<Markup, PageError> {
    let user = query.user.trim().parse().ok().map(UserId);
    let data = console.parts.base.store.read(move |conn| load(conn, user)).await?;
    let (zone, usual) = (console.parts.base.zone(), console.parts.base.config.privacy.retention);
    let title = |key: ChatKey| data.chats.iter().find(|chat| chat.key == key).map_or("every chat", |chat| &chat.title);
    let body = html! {
        div.columns {
            section {
                h2 { "Opt-outs" }
                @if data.opt_outs.is_empty() { p { "Nobody has opted out." } }
                @else { div.wide { table {
                    thead { tr { th { "Member" } th { "Where" } th { "Since" } } }
                    tbody { @for one in &data.opt_outs {
                        tr { td { code { (one.user) } } td { bdi { (title(one.chat)) } } td { (moment(one.since, zone)) } }
                    } }
                } } }
                (dry_run(&query, data.forgettable.as_ref()))
            }
            section {
                h2 { "How long messages are kept" }
                div.wide { table {
                    thead { tr { th { "Chat" } th { "Kept for" } th { "By" } } }
                    tbody { @for chat in &data.chats {
                        tr {
                            td { a href={ "/chats/" (chat.key) } dir="auto" { (chat.title) } }
                            td { (span(chat.own.unwrap_or(usual))) }
                            td { @if chat.own.is_some() { "the chat" } @else { code { "RETENTION_DAYS" } } }
                        }
                    } }
                } }
            }
        }
    };
    Ok(page("Privacy", &session, "/privacy", &body))
}

fn span(kept: Option<Duration>) -> String {
    kept.map_or_else(|| "for good".to_owned(), span_in_words)
}

fn dry_run(query: &PrivacyQuery, found: Option<&Forgettable>) -> Markup {
    html! {
        h2 { "Dry run of forgetting" }
        p { "Counts what " code { "/forget me" } " would delete in all chats. Nothing is deleted." }
        form.inline {
            label { "Telegram id of the member " input name="user" inputmode="numeric" value=(query.user); }
            button { "Count" }
        }
        @if let Some(found) = found {
            dl.facts {
                dt { "Messages" } dd { (grouped(found.messages)) }
                dt { "Answers that rest on them" } dd { (grouped(found.answers)) }
                dt { "Summaries of sessions, made anew without them" } dd { (grouped(found.summaries)) }
                dt { "Notes" } dd { (grouped(found.notes)) }
                dt { "Reminders" } dd { (grouped(found.reminders)) }
            }
        }
    }
}
