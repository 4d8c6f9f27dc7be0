//! Machine-readable description of the Bot API as a test oracle: generates updates and validates requests.

mod generate;
mod validate;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

pub use generate::{Dice, generate, mutilate};
pub use validate::validate_request;

#[derive(Debug, Deserialize)]
pub struct BotApi {
    types: BTreeMap<String, Type>,
    methods: BTreeMap<String, ApiFields>,
}

type ApiFields = BTreeMap<String, Field>;

/// Object with fields, or union of other types.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Type {
    OneOf(Vec<Shape>),
    Object(ApiFields),
}

/// Field in the file's notation: `!Integer|String`, `!String=private,group`.
#[derive(Debug, Deserialize)]
#[serde(from = "String")]
struct Field {
    required: bool,
    shapes: Vec<Shape>,
    /// Allowed values; empty if any value is.
    values: Vec<String>,
}

/// Type of a value.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
enum Shape {
    Integer,
    Float,
    Boolean,
    String,
    /// Upload outside the JSON, which holds only its name.
    File,
    Array(Box<Shape>),
    /// Type of this name.
    Named(String),
}

impl BotApi {
    /// Returns the description bundled with the tests, parsed once per process.
    #[expect(clippy::expect_used, reason = "the file is part of the test kit; a broken one must fail every test")]
    pub fn bundled() -> &'static Self {
        static PARSED: LazyLock<BotApi> = LazyLock::new(|| {
            BotApi::parse(include_str!("../../../tests/data/bot_api.json")).expect("bot_api.json is readable")
        });
        &PARSED
    }

    /// Parses a description in the reduced format of `tests/data/bot_api.json`.
    pub fn parse(description: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(description)
    }
}

impl From<String> for Field {
    fn from(text: String) -> Self {
        let (text, required) = match text.strip_prefix('!') {
            Some(rest) => (rest, true),
            None => (text.as_str(), false),
        };
        let (shapes, values) = text.split_once('=').unwrap_or((text, ""));
        Self {
            required,
            shapes: shapes.split('|').map(|shape| Shape::from(shape.to_owned())).collect(),
            values: values.split(',').filter(|value| !value.is_empty()).map(str::to_owned).collect(),
        }
    }
}

impl From<String> for Shape {
    fn from(name: String) -> Self {
        match name.as_str() {
            "Integer" => Self::Integer,
            "Float" => Self::Float,
            "Boolean" => Self::Boolean,
            "String" => Self::String,
            "InputFile" => Self::File,
            other => match other.strip_prefix("Array of ") {
                Some(item) => Self::Array(Box::new(Self::from(item.to_owned()))),
                None => Self::Named(name),
            },
        }
    }
}
