//! Columns to domain values, in one place.

use std::cell::Cell;

use rusqlite::Row;
use rusqlite::types::FromSql;

use super::{Result, StoreError};

/// Reads a column by name.
pub fn get<T: FromSql>(row: &Row<'_>, column: &'static str) -> rusqlite::Result<T> {
    row.get(column)
}

/// The columns of a row, read by name. A name is looked for first where the column before it ended: comparing all names
/// for each of two dozen columns takes longer than reading them.
pub struct Columns<'row> {
    row: &'row Row<'row>,
    next: Cell<usize>,
}

impl<'row> Columns<'row> {
    pub fn of(row: &'row Row<'row>) -> Self {
        Self { row, next: Cell::new(0) }
    }

    pub fn get<T: FromSql>(&self, column: &'static str) -> rusqlite::Result<T> {
        let (statement, expected) = (self.row.as_ref(), self.next.get());
        let place = match statement.column_name(expected) {
            Ok(name) if name == column => expected,
            _ => statement.column_index(column)?,
        };
        self.next.set(place + 1);
        self.row.get(place)
    }
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
