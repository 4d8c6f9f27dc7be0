//! Login by the link that `/console` sends, sessions, and the token in each form that protects it from other sites.

use axum::extract::{Extension, Form, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;

use chime_access::admission::is_owner;
use chime_access::console_tokens::SESSION_LIFETIME;

use crate::SharedConsole;
use crate::page::{OwnerSession, PageError, bare_page};

const COOKIE: &str = "chime_session";

#[derive(Deserialize)]
pub struct LoginToken {
    #[serde(default)]
    token: String,
}

/// Form that carries nothing but its token.
#[derive(Deserialize)]
pub struct BareForm {
    form_token: String,
}

/// Shows a button that logs in. Opening the link alone does not, since messengers and mail filters open links.
pub async fn confirm(Query(link): Query<LoginToken>) -> Markup {
    let body = html! {
        p { "This link works once." }
        form method="post" action="/login" {
            input type="hidden" name="token" value=(link.token);
            button autofocus { "Log in" }
        }
    };
    bare_page("Log in", &body)
}

pub async fn log_in(State(console): State<SharedConsole>, Form(link): Form<LoginToken>) -> Response {
    let now = console.parts.base.clock.now();
    let user = console.parts.links.take(&link.token, now);
    let Some(session) = user.and_then(|user| console.sessions.issue(user, now)) else {
        tracing::warn!("somebody tried to log in to the console with a link that is not valid");
        return logged_out("The link was used before, or it is older than ten minutes.");
    };
    tracing::info!(r#type = "console_login", "chat.event: an owner logged in to the console");
    let secure = if console.has_tls { "; Secure" } else { "" };
    let life = SESSION_LIFETIME.as_secs();
    let cookie = format!("{COOKIE}={session}; Path=/; Max-Age={life}; HttpOnly; SameSite=Strict{secure}");
    ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}

pub async fn log_out(
    State(console): State<SharedConsole>,
    Extension(session): Extension<OwnerSession>,
    Form(form): Form<BareForm>,
) -> Result<Response, PageError> {
    session.check(&form.form_token)?;
    console.sessions.take(&session.token, console.parts.base.clock.now());
    Ok(logged_out("You are logged out."))
}

/// Lets only sessions of owners pass, and adds the [`OwnerSession`] to the request.
pub async fn require_owner(State(console): State<SharedConsole>, mut request: Request, next: Next) -> Response {
    let cookies = request.headers().get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let named = |cookie: &str| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('=').map(str::to_owned);
    let Some(token) = cookies.flat_map(|cookies| cookies.split(';')).find_map(named) else {
        return logged_out("You are not logged in.");
    };
    let Some(user) = console.sessions.find(&token, console.parts.base.clock.now()) else {
        return logged_out("The session has ended.");
    };
    let access = console.parts.base.config.access.clone();
    // Checked each time: the owner may have been removed since.
    match console.parts.base.store.read(move |conn| is_owner(conn, user, &access)).await {
        Ok(true) => {
            request.extensions_mut().insert(OwnerSession::new(&token));
            // The semaphore is never closed.
            let _place = console.places.acquire().await.ok();
            next.run(request).await
        }
        Ok(false) => logged_out("You no longer own this bot."),
        Err(error) => PageError::Store(error).into_response(),
    }
}

fn logged_out(why: &str) -> Response {
    let body = html! {
        p { (why) }
        p { "Send " code { "/console" } " to the bot in private. It answers its owners with a new link." }
    };
    (StatusCode::UNAUTHORIZED, bare_page("Chime", &body)).into_response()
}
