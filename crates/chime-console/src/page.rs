//! Frame of the pages, and parts that several views use.

use std::fmt::Write;
use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, html};

use chime_access::console_tokens::hashed;
use chime_core::{ChatKey, Conversation, Seq, Timestamp, Zone, grouped};
use chime_store::chats::ChatRow;
use chime_store::{Reader, StoreError, chat_settings, chats};

/// Number of messages on a page of the timeline.
pub const PAGE: usize = 100;
/// Number of columns for arcs beside the timeline.
pub const LANES: usize = 6;

pub const ICON: &str = r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#2f6f5e"/><path d="M16 6a7 7 0 0 0-7 7v6l-2 3h18l-2-3v-6a7 7 0 0 0-7-7zm-3 17a3 3 0 0 0 6 0z" fill="#fff"/></svg>"##;

#[derive(Clone)]
pub struct OwnerSession {
    pub token: String,
    /// Token that each form of the session sends, against forms on other sites (CSRF).
    pub form_token: String,
}

impl OwnerSession {
    pub fn new(token: &str) -> Self {
        Self { token: token.to_owned(), form_token: hashed(&format!("form {token}")) }
    }

    /// Checks the token of a form.
    pub fn check(&self, form_token: &str) -> Result<(), PageError> {
        if form_token == self.form_token { Ok(()) } else { Err(PageError::ForeignForm) }
    }
}

/// Returns the stylesheet. The rules that place messages and arcs in the grid of the timeline are made here, since
/// style attributes are forbidden by our own policy.
pub fn style() -> &'static str {
    static STYLE: LazyLock<String> = LazyLock::new(|| {
        let mut style = include_str!("style.css").to_owned();
        for row in 1..=PAGE {
            let _ = write!(style, ".r{row}{{grid-row-start:{row}}}.e{row}{{grid-row-end:{row}}}");
        }
        for lane in 1..=LANES {
            let _ = write!(style, ".l{lane}{{grid-column:{lane}/{}}}", LANES + 1);
        }
        style
    });
    &STYLE
}

/// Reason for which a page is not shown.
#[derive(Debug)]
pub enum PageError {
    NotFound,
    /// The form's token is missing or of another session.
    ForeignForm,
    Store(StoreError),
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, why) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "There is nothing here, or no longer.".to_owned()),
            Self::ForeignForm => {
                (StatusCode::FORBIDDEN, "This form is not from your session. Load the page again.".to_owned())
            }
            Self::Store(error) => {
                tracing::warn!(%error, "the console cannot read the database");
                (StatusCode::SERVICE_UNAVAILABLE, "The database cannot be read now.".to_owned())
            }
        };
        (status, bare_page("Chime", &html! { p { (why) } p { a href="/" { "Overview" } } })).into_response()
    }
}

/// Page without navigation.
pub fn bare_page(title: &str, body: &Markup) -> Markup {
    document(title, &html! { main.bare { h1 { (title) } (body) } })
}

/// Page with navigation. `here` is the address of its entry there.
pub fn page(title: &str, session: &OwnerSession, here: &str, body: &Markup) -> Markup {
    let entries = [("/", "Overview"), ("/privacy", "Privacy"), ("/settings", "Settings")];
    let body = html! {
        a.skip href="#main" { "Skip to the content" }
        header {
            nav aria-label="Pages" {
                @for (address, name) in entries {
                    a href=(address) aria-current=[(address == here).then_some("page")] { (name) }
                }
            }
            form method="post" action="/logout" { (form_token(session)) button.plain { "Log out" } }
        }
        main #main tabindex="-1" { h1 dir="auto" { (title) } (body) }
    };
    document(title, &body)
}

fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Chime" }
                link rel="icon" href="/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/style.css";
            }
            body { (body) }
        }
    }
}

/// Hidden field that each form needs, against forms on other sites.
pub fn form_token(session: &OwnerSession) -> Markup {
    html! { input type="hidden" name="form_token" value=(session.form_token); }
}

/// Returns the title of a chat, or its kind and id. An opt-out removes the title of a private chat, a member's name.
pub fn chat_title(row: &ChatRow) -> String {
    let untitled = || format!("{} chat {}", row.chat.kind.as_str(), row.chat.id);
    row.chat.title.clone().filter(|title| !title.is_empty()).unwrap_or_else(untitled)
}

/// Loads a chat by the number in a page's address, with its title and its time zone.
pub fn chat_of(conn: &Reader, key: u32, operators: Zone) -> chime_store::Result<Option<(ChatRow, String, Zone)>> {
    let Some(row) = chats::by_key(conn, ChatKey(key))? else { return Ok(None) };
    let (title, zone) = (chat_title(&row), chat_settings::zone(conn, Conversation::whole(row.key), operators)?);
    Ok(Some((row, title, zone)))
}

/// Links between the views of a chat. `here` is the name of the current one.
pub fn chat_tabs(row: &ChatRow, here: &str) -> Markup {
    let timeline = format!("/chats/{}", row.key);
    html! {
        nav.tabs aria-label="Chat" {
            @for (address, name) in [(timeline.clone(), "Timeline"), (format!("{timeline}/memory"), "Memory")] {
                a href=(address) aria-current=[(name == here).then_some("page")] { (name) }
            }
        }
    }
}

/// Formats a time as `26 Nov 2026 21:12`.
pub fn moment(at: Timestamp, zone: Zone) -> Markup {
    html! { time { (zone.date(at)) " " (zone.clock_time(at)) } }
}

/// Formats a UTC day, in days since 1970-01-01.
pub fn date(day: i64, zone: Zone) -> String {
    zone.date(Timestamp::from_secs(day * 86_400 + 43_200))
}

/// Link to a message in its chat's timeline.
pub fn message_place(row: &ChatRow, seq: Seq) -> Markup {
    html! { a href=(timeline_at(row, seq)) { "m" (seq) } }
}

pub fn timeline_at(row: &ChatRow, seq: Seq) -> String {
    format!("/chats/{}?around={seq}#m{seq}", row.key)
}

/// Formats millionths of a currency: `12.50`, or `0.0125` below one unit.
pub fn money(micros: u64) -> String {
    match (micros / 1_000_000, micros % 1_000_000) {
        (0, part) => format!("0.{:04}", part / 100),
        (whole, part) => format!("{}.{:02}", grouped(whole), part / 10_000),
    }
}
