//! Parameters of requests, as JSON or as a multipart form, and the server's refusals.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use chime_core::ChatId;

/// A refusal with the real server's error code and description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) code: u16,
    pub(super) description: String,
    pub(super) migrate_to: Option<ChatId>,
}

impl ApiError {
    pub(super) fn bad_request(what: impl AsRef<str>) -> Self {
        Self { code: 400, description: format!("Bad Request: {}", what.as_ref()), migrate_to: None }
    }

    pub(super) fn forbidden(what: impl AsRef<str>) -> Self {
        Self { code: 403, description: format!("Forbidden: {}", what.as_ref()), migrate_to: None }
    }

    pub(super) fn conflict() -> Self {
        let description =
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
        Self { code: 409, description: description.to_owned(), migrate_to: None }
    }

    pub(super) fn not_found() -> Self {
        Self { code: 404, description: "Not Found".to_owned(), migrate_to: None }
    }

    pub(super) fn unauthorized() -> Self {
        Self { code: 401, description: "Unauthorized".to_owned(), migrate_to: None }
    }

    pub(super) fn upgraded(to: ChatId) -> Self {
        let error = Self::bad_request("group chat was upgraded to a supergroup chat");
        Self { migrate_to: Some(to), ..error }
    }

    /// Returns the `parameters` of the response, if any.
    pub(super) fn parameters(&self) -> Option<Value> {
        self.migrate_to.map(|chat| serde_json::json!({"migrate_to_chat_id": chat}))
    }
}

/// The `result` of a method, or a refusal.
pub(super) type MethodResult = Result<Value, ApiError>;

/// Parameters of a request by name. In a multipart form, which contains a file, every other value is a string.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RequestParams(Map<String, Value>);

impl RequestParams {
    /// Decodes the body. The error is the real server's message about invalid JSON.
    pub(super) fn decode(content_type: &str, body: &[u8]) -> Result<Self, ApiError> {
        let mut all = match content_type.strip_prefix("multipart/form-data; boundary=") {
            Some(boundary) => multipart(boundary, body),
            None if body.is_empty() => Map::new(),
            None => serde_json::from_slice(body).map_err(|_| ApiError::bad_request("can't parse JSON object"))?,
        };
        all.retain(|_, value| !value.is_null());
        Ok(Self(all))
    }

    #[cfg(feature = "testkit")]
    pub(super) fn to_json(&self) -> Value {
        // The Bot API's schema, against which tests check recorded calls, describes a file as a string.
        let is_file = |value: &Value| value.get("file_name").is_some();
        let shown = |(name, value): (&String, &Value)| {
            let value = if is_file(value) { "attach://file".into() } else { value.clone() };
            (name.clone(), value)
        };
        Value::Object(self.0.iter().map(shown).collect())
    }

    pub(super) fn integer(&self, name: &str) -> Option<i64> {
        match self.0.get(name)? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns the name and content of an uploaded file.
    pub(super) fn file(&self, name: &str) -> Option<(&str, &str)> {
        let file = self.0.get(name)?;
        Some((file.get("file_name")?.as_str()?, file.get("text")?.as_str()?))
    }

    /// Parses an object or array.
    pub(super) fn parsed<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ApiError> {
        let parsed = self.0.get(name).map(|value| serde_json::from_value(value.clone())).transpose();
        parsed.map_err(|_| ApiError::bad_request(format!("can't parse {name}")))
    }
}

/// Parses a multipart form, reading files as text.
fn multipart(boundary: &str, body: &[u8]) -> Map<String, Value> {
    let body = String::from_utf8_lossy(body);
    let mut all = Map::new();
    for part in body.split(&format!("--{boundary}")) {
        let Some((head, text)) = part.split_once("\r\n\r\n") else { continue };
        let quoted = |name: &str| Some(head.split_once(&format!(" {name}=\""))?.1.split('"').next()?.to_owned());
        let Some(name) = quoted("name") else { continue };
        let text = text.strip_suffix("\r\n").unwrap_or(text);
        let value = match quoted("filename") {
            Some(file_name) => serde_json::json!({"file_name": file_name, "text": text}),
            None => text.into(),
        };
        all.insert(name, value);
    }
    all
}
