//! Lenient deserialization of response fields, whose types differ between servers.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Deserializes a field; `null` or an unexpected type counts as absent.
pub fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(field: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(field)?).unwrap_or_default())
}

/// A number, possibly sent as a string. 0 if it is neither.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(from = "Value")]
pub struct LenientNumber(pub f64);

impl From<Value> for LenientNumber {
    fn from(value: Value) -> Self {
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok());
        Self(number.filter(|number| number.is_finite()).unwrap_or_default())
    }
}

impl LenientNumber {
    /// Returns the number without its fraction. Negative numbers become 0.
    pub fn whole(self) -> u64 {
        self.0 as u64
    }
}
