//! Statements: one method for each use of a statement, and the types that its parameters and columns may have.
//!
//! `chime-core` knows nothing of SQLite, so its ids, times and words implement [`Param`] and [`Column`] here instead of
//! the traits of rusqlite.

use std::cell::Cell;

use chime_core::{
    AnswerId, AnswerStatus, ChatId, ChatKey, ChatKind, CloseReason, ConceptId, ForumTopicId, JobId, JobKind, Kind,
    Language, MessageId, Origin, RefusalNotice, RefusalReason, Role, Rolling, Seq, SessionId, SummaryMethod, Timestamp,
    Uncertainty, UpdateId, UserId,
};
use rusqlite::types::{FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::row::{row_id, seq_of};
use super::{Result, StoreError};

pub trait Param {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>>;
}

pub trait Column: Sized {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self>;
}

/// Value of the row of a query: a column, a tuple of columns in their order, or a struct.
pub trait FromRow: Sized {
    fn from_row(row: &Columns<'_>) -> Result<Self>;
}

pub type Params<'a> = &'a [(&'a str, &'a dyn ToSql)];

/// Makes the [`Params`] of a statement from names and values: `params! { ":chat": chat }`.
macro_rules! params {
    ($($name:literal: $value:expr),* $(,)?) => {
        &[$(($name, &$crate::sql::BoundParam(&$value) as &dyn rusqlite::ToSql)),*]
    };
}
pub(crate) use params;

/// Implements [`FromRow`] for structs whose fields are columns. The column has the name of the field unless another is
/// given: `rows! { Note { number, trigger = "trigger_seq" } }`.
macro_rules! rows {
    (@column $field:ident) => { stringify!($field) };
    (@column $field:ident $column:literal) => { $column };
    ($($type:ident { $($field:ident $(= $column:literal)?),+ $(,)? })+) => {
        $(impl $crate::sql::FromRow for $type {
            fn from_row(row: &$crate::sql::Columns<'_>) -> $crate::Result<Self> {
                Ok(Self { $($field: row.get($crate::sql::rows!(@column $field $($column)?))?),+ })
            }
        })+
    };
}
pub(crate) use rows;

/// Adapts a [`Param`] to rusqlite.
pub struct BoundParam<'a, T: ?Sized>(pub &'a T);

impl<T: Param + ?Sized> ToSql for BoundParam<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

/// Uses of a statement, which is compiled once per connection. A [`Writer`](super::Writer) has these methods too.
pub trait Statements {
    fn run(&self, sql: &str, params: Params<'_>) -> Result<()> {
        self.changed(sql, params).map(drop)
    }

    /// Runs a statement that changes rows, and returns their number.
    fn changed(&self, sql: &str, params: Params<'_>) -> Result<usize>;

    fn any(&self, sql: &str, params: Params<'_>) -> Result<bool>;

    fn one<T: FromRow>(&self, sql: &str, params: Params<'_>) -> Result<T> {
        self.first(sql, params)?.ok_or(StoreError::Sql(rusqlite::Error::QueryReturnedNoRows))
    }

    fn first<T: FromRow>(&self, sql: &str, params: Params<'_>) -> Result<Option<T>> {
        self.map_first(sql, params, T::from_row)
    }

    fn all<T: FromRow>(&self, sql: &str, params: Params<'_>) -> Result<Vec<T>> {
        self.map(sql, params, T::from_row)
    }

    fn map_first<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        read: impl FnOnce(&Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>>;

    /// Returns the results of `read` for all rows.
    fn map<T>(&self, sql: &str, params: Params<'_>, read: impl FnMut(&Columns<'_>) -> Result<T>) -> Result<Vec<T>>;
}

impl Statements for Connection {
    fn changed(&self, sql: &str, params: Params<'_>) -> Result<usize> {
        Ok(self.prepare_cached(sql)?.execute(params)?)
    }

    fn any(&self, sql: &str, params: Params<'_>) -> Result<bool> {
        Ok(self.prepare_cached(sql)?.exists(params)?)
    }

    fn map_first<T>(
        &self,
        sql: &str,
        params: Params<'_>,
        read: impl FnOnce(&Columns<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.prepare_cached(sql)?.query_row(params, |row| Ok(read(&Columns::of(row)))).optional()?.transpose()
    }

    fn map<T>(&self, sql: &str, params: Params<'_>, mut read: impl FnMut(&Columns<'_>) -> Result<T>) -> Result<Vec<T>> {
        self.prepare_cached(sql)?.query_and_then(params, |row| read(&Columns::of(row)))?.collect()
    }
}

/// Columns of a row. Reading them in the order of the statement is fastest, because no column has to be searched by
/// name.
pub struct Columns<'row> {
    row: &'row rusqlite::Row<'row>,
    next: Cell<usize>,
}

impl<'row> Columns<'row> {
    fn of(row: &'row rusqlite::Row<'row>) -> Self {
        Self { row, next: Cell::new(0) }
    }

    /// Returns the column `name`, or a [`StoreError::BadValue`] if its value is not one of `T`.
    pub fn get<T: Column>(&self, name: &str) -> Result<T> {
        let statement = self.row.as_ref();
        let next = self.next.get();
        let is_next = statement.column_name(next).is_ok_and(|found| found == name);
        self.at(if is_next { next } else { statement.column_index(name)? })
    }

    pub fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        self.get(name).map(|Json(value)| value)
    }

    /// Returns the column `name` as it is stored.
    pub fn value(&self, name: &str) -> Result<ValueRef<'_>> {
        Ok(self.row.get_ref(name)?)
    }

    fn at<T: Column>(&self, place: usize) -> Result<T> {
        self.next.set(place + 1);
        T::from_sql(self.row.get_ref(place)?).map_err(|error| StoreError::BadValue {
            column: self.row.as_ref().column_name(place).unwrap_or_default().to_owned(),
            what: error.to_string(),
        })
    }
}

impl<T: Column> FromRow for T {
    fn from_row(row: &Columns<'_>) -> Result<Self> {
        row.at(0)
    }
}

macro_rules! tuples {
    ($($($type:ident $place:literal),+;)+) => {
        $(impl<$($type: Column),+> FromRow for ($($type,)+) {
            fn from_row(row: &Columns<'_>) -> Result<Self> {
                Ok(($(row.at($place)?,)+))
            }
        })+
    };
}
tuples! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
}

impl<T: Param + ?Sized> Param for &T {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        (**self).to_sql()
    }
}

impl<T: Param> Param for Option<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_ref().map_or_else(|| Ok(rusqlite::types::Null.into()), Param::to_sql)
    }
}

impl<T: Column> Column for Option<T> {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
        if value == ValueRef::Null { Ok(None) } else { T::from_sql(value).map(Some) }
    }
}

macro_rules! as_in_rusqlite {
    ($($type:ty),+; only parameters: $($param:ty),+) => {
        $(impl Column for $type {
            fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
                rusqlite::types::FromSql::column_result(value)
            }
        })+
        as_in_rusqlite!($($type),+, $($param),+);
    };
    ($($type:ty),+) => {
        $(impl Param for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                ToSql::to_sql(self)
            }
        })+
    };
}
as_in_rusqlite!(bool, i64, f32, f64, String, Vec<u8>; only parameters: str, [u8]);

/// Integers that SQLite stores as `i64`. A parameter beyond that, such as a limit, becomes the largest `i64`.
macro_rules! integers {
    ($($type:ty),+) => {
        $(impl Param for $type {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(i64::try_from(*self).unwrap_or(i64::MAX).into())
            }
        }
        impl Column for $type {
            fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let raw = value.as_i64()?;
                raw.try_into().map_err(|_| FromSqlError::OutOfRange(raw))
            }
        })+
    };
}
integers!(i32, u8, u16, u32, u64, usize);

macro_rules! ids {
    ($($id:ident),+) => {
        $(impl Param for $id {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Param::to_sql(&self.0)
            }
        }
        impl Column for $id {
            fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Column::from_sql(value).map(Self)
            }
        })+
    };
}
ids!(ChatId, ChatKey, JobId, MessageId, Seq, ForumTopicId, UpdateId, UserId);

/// Types that are stored as text, with their conversions to and from it.
macro_rules! texts {
    ($($type:ident: $write:expr, $read:expr;)+) => {
        $(impl $crate::sql::Param for $type {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok($write(*self).into())
            }
        }
        impl $crate::sql::Column for $type {
            fn from_sql(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
                let raw = value.as_str()?;
                $read(raw).ok_or_else(|| rusqlite::types::FromSqlError::Other("unknown word".into()))
            }
        })+
    };
    (words: $($type:ident),+) => {
        $crate::sql::texts! { $($type: $type::as_str, $type::parse;)+ }
    };
}
pub(crate) use texts;

texts! { words: AnswerStatus, RefusalReason, ChatKind, CloseReason, JobKind, Kind, Origin, Role, Rolling, SummaryMethod, RefusalNotice, Uncertainty }
texts! {
    AnswerId: |id: AnswerId| id.0.to_string(), |raw: &str| raw.parse().ok().map(AnswerId);
    ConceptId: |id: ConceptId| id.0.to_string(), |raw: &str| raw.parse().ok().map(ConceptId);
    Language: Language::code, |code| Some(Language::from_code(code));
}

/// Milliseconds. Columns with whole seconds, which Telegram uses, are converted where they are read and written.
impl Param for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.millis().into())
    }
}

impl Column for Timestamp {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self::from_millis)
    }
}

impl Column for Vec<f32> {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_blob().map(chime_core::unpack)
    }
}

/// A session is stored under the row id of its first message.
impl Param for SessionId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(row_id(self.chat, self.first).into())
    }
}

impl Column for SessionId {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let id = value.as_i64()?;
        let chat = u32::try_from(id >> 32).map_err(|_| FromSqlError::OutOfRange(id))?;
        Ok(Self { chat: ChatKey(chat), first: seq_of(id) })
    }
}

pub struct Json<T>(pub T);

impl<T: Serialize> Param for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let json = serde_json::to_string(&self.0);
        json.map(Into::into).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl<T: DeserializeOwned> Column for Json<T> {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(|error| FromSqlError::Other(chime_core::json_fault(&error).into()))
    }
}
