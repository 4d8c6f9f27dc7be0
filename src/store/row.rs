//! Columns to domain values, in one place.

use rusqlite::Row;
use rusqlite::types::FromSql;

use super::{Result, StoreError};

/// Reads a column by name.
pub fn get<T: FromSql>(row: &Row<'_>, column: &'static str) -> rusqlite::Result<T> {
    row.get(column)
}

/// Reads a word that must be one of a known set.
pub fn word<T>(raw: &str, column: &'static str, parse: fn(&str) -> Option<T>) -> Result<T> {
    parse(raw).ok_or_else(|| StoreError::BadValue { column, what: format!("unknown word {raw:?}") })
}

/// Reads a number that must fit the type it is of.
pub fn number<T: TryFrom<i64>>(raw: i64, column: &'static str) -> Result<T> {
    T::try_from(raw).map_err(|_| StoreError::BadValue { column, what: format!("{raw} is out of range") })
}

/// Reads a JSON column.
pub fn json<T: serde::de::DeserializeOwned>(raw: &str, column: &'static str) -> Result<T> {
    serde_json::from_str(raw).map_err(|error| StoreError::BadValue { column, what: error.to_string() })
}

/// Writes a JSON column.
pub fn to_json<T: serde::Serialize>(value: &T, column: &'static str) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::BadValue { column, what: error.to_string() })
}
