//! Conversions from columns to domain values.

use std::cell::Cell;

use rusqlite::Row;
use rusqlite::types::FromSql;

use super::{Result, StoreError};
use chime_core::{ChatKey, Seq};

/// Returns the rowid of a message, which also identifies its vectors. The rowids of a chat's messages form one range.
pub fn row_id(chat: ChatKey, seq: Seq) -> i64 {
    i64::from(chat.0) << 32 | i64::from(seq.0)
}

/// Returns the message number that a rowid contains.
pub fn seq_of(id: i64) -> Seq {
    Seq(u32::try_from(id & i64::from(u32::MAX)).unwrap_or(u32::MAX))
}

pub fn get<T: FromSql>(row: &Row<'_>, column: &'static str) -> rusqlite::Result<T> {
    row.get(column)
}

/// Columns of a row, which must be read in the order of the statement. Finding columns by name would take longer than
/// reading them. Debug builds, which all tests use, check the names.
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

/// Parses a column that contains one of a fixed set of words. Any other word is a [`StoreError::BadValue`].
pub fn word<T>(raw: &str, column: &'static str, parse: fn(&str) -> Option<T>) -> Result<T> {
    parse(raw).ok_or_else(|| StoreError::BadValue { column, what: format!("unknown word {raw:?}") })
}

pub fn number<T: TryFrom<i64>>(raw: i64, column: &'static str) -> Result<T> {
    T::try_from(raw).map_err(|_| StoreError::BadValue { column, what: format!("{raw} is out of range") })
}

pub fn json<T: serde::de::DeserializeOwned>(raw: &str, column: &'static str) -> Result<T> {
    serde_json::from_str(raw).map_err(|error| StoreError::BadValue { column, what: error.to_string() })
}

pub fn to_json<T: serde::Serialize>(value: &T, column: &'static str) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::BadValue { column, what: error.to_string() })
}
