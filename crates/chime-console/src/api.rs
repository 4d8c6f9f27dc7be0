//! Chats as JSON for programs: `GET /api/search?chat=…&query=…`, `/api/read?chat=…&since=…&until=…&limit=…`,
//! `/api/recap?chat=…`, `/api/decisions?chat=…&since=…`, with the header `Authorization: Bearer CONSOLE_TOKEN`.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use chime_access::console_tokens::hashed;

use crate::SharedConsole;
use crate::reading::{ReadingTool, RefusedCall, ToolArguments};

pub async fn read(
    State(console): State<SharedConsole>,
    Path(tool): Path<String>,
    headers: HeaderMap,
    arguments: Query<ToolArguments>,
) -> Response {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    // Hashes are compared, so that the time of the comparison tells nothing about the token.
    if given.is_none() || given.map(hashed) != console.token_hash {
        return refused(StatusCode::UNAUTHORIZED, "send the header `Authorization: Bearer` with CONSOLE_TOKEN");
    }
    let Some(tool) = ReadingTool::parse(&tool) else {
        return refused(StatusCode::NOT_FOUND, &RefusedCall::Tool.to_string());
    };
    let _place = console.places.acquire().await.ok();
    match console.reader.call(tool, arguments.0).await {
        Ok(found) => Json(found).into_response(),
        Err(error @ RefusedCall::Store(_)) => refused(StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        Err(error) => refused(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

fn refused(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}
