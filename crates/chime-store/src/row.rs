//! Columns to domain values, in one place.

use std::cell::Cell;

use rusqlite::Row;
use rusqlite::types::FromSql;

use super::{Result, StoreError};

/// Reads a column by name.
pub fn get<T: FromSql>(row: &Row<'_>, column: &'static str) -> rusqlite::Result<T> {
    row.get(column)
}

/// The columns of a row, read one after the other in the order in which the statement names them. Comparing names for each of
/// two dozen columns takes longer than reading them, so that only a debug build does: every test is one.
pub struct Columns<'row> {
    row: &'row Row<'row>,
    next: Cell<usize>,
}

impl<'row> Columns<'row> {
    pub fn of(row: &'row Row<'row>) -> Self {
        Self { row, next: Cell::new(0) }
    }

    pub fn get<T: FromSql>(&self, column: &'static str) -> rusqlite::Result<T> {
        self.row.get(self.place(column))
    }

    /// A word that must be one of a known set.
    pub fn word<T>(&self, column: &'static str, parse: fn(&str) -> Option<T>) -> Result<T> {
        let raw = self.row.get_ref(self.place(column))?;
        word(raw.as_str().map_err(rusqlite::Error::from)?, column, parse)
    }

    fn place(&self, column: &'static str) -> usize {
        let place = self.next.replace(self.next.get() + 1);
        debug_assert_eq!(self.row.as_ref().column_name(place), Ok(column), "columns are read in their order");
        place
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
