//! Settings: what is set, where it comes from, and what it means.

use axum::extract::{Extension, State};
use maud::{Markup, html};

use crate::SharedConsole;
use crate::page::{OwnerSession, page};

pub async fn show(State(console): State<SharedConsole>, Extension(session): Extension<OwnerSession>) -> Markup {
    let body = html! {
        p { "As read at the start. Settings are changed in the environment or in " code { ".env" } ", then Chime is started again." }
        div.wide { table.settings {
            thead { tr { th { "Name" } th { "Value" } th { "From" } th { "Meaning" } } }
            tbody { @for setting in &console.parts.base.config.in_force {
                tr.set[setting.origin != "default"] {
                    td { code { (setting.key.name) } }
                    td.value { (setting.value.as_deref().unwrap_or("–")) }
                    td { (setting.origin) }
                    td { (setting.key.what) }
                }
            } }
        } }
    };
    page("Settings", &session, "/settings", &body)
}
