//! Structs that are read from a table of a data file, with one key for each field.
//!
//! They do not derive `Deserialize`, whose code for so many fields took half a minute to compile, a seventh of the
//! whole build.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error};
use toml::Table;

/// Table that is being read: the keys not read yet, and the problems so far.
#[derive(Debug)]
pub struct Rows {
    left: Table,
    wrong: Vec<String>,
}

impl Rows {
    pub fn of<'de, D: Deserializer<'de>>(table: D) -> Result<Self, D::Error> {
        Ok(Self { left: Table::deserialize(table)?, wrong: Vec::new() })
    }

    pub fn take<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        let read = match self.left.remove(name) {
            Some(value) => value.try_into().map_err(|error| format!("{name}: {error}")),
            None => Err(format!("{name} is missing")),
        };
        read.unwrap_or_else(|error| {
            self.wrong.push(error);
            T::default()
        })
    }

    /// Returns an error with all problems, if there are any. A key that no field read is a problem.
    pub fn end<E: Error>(mut self) -> Result<(), E> {
        self.wrong.extend(self.left.keys().map(|name| format!("{name} is unknown")));
        if self.wrong.is_empty() { Ok(()) } else { Err(E::custom(self.wrong.join(", "))) }
    }
}

/// Declares a struct that is read from a table with one key per field. Fields without a type are texts. Every key is
/// required, and no others are allowed.
#[macro_export]
macro_rules! rows {
    (@kind) => { ::std::string::String };
    (@kind $kind:ty) => { $kind };
    ($(#[$about:meta])* $vis:vis struct $name:ident { $($(#[$says:meta])* $field:ident $(: $kind:ty)?),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Default, PartialEq, Eq)]
        $vis struct $name { $($(#[$says])* $vis $field: $crate::rows!(@kind $($kind)?),)+ }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(table: D) -> ::std::result::Result<Self, D::Error> {
                let mut rows = $crate::rows::Rows::of(table)?;
                let read = Self { $($field: rows.take(stringify!($field)),)+ };
                rows.end().map(|()| read)
            }
        }
    };
}
pub use rows;

#[cfg(test)]
mod tests {
    rows! { struct Few { said, days: [String; 2] } }

    #[test]
    fn what_is_wrong_with_a_table_is_named() {
        let read = |table: &str| toml::from_str::<Few>(table);
        let few = read("said = 'x'\ndays = ['a', 'b']").unwrap();
        assert_eq!((few.said.as_str(), few.days.join(" ")), ("x", "a b".to_owned()));
        for (table, wrong) in [
            ("days = ['a', 'b']", "said is missing"),
            ("said = 1\ndays = ['a', 'b']", "said: invalid type"),
            ("said = 'x'\ndays = ['a']", "days: invalid length 1"),
            ("said = 'x'\ndays = ['a', 'b']\nsaying = 'y'", "saying is unknown"),
        ] {
            let error = read(table).unwrap_err().to_string();
            assert!(error.contains(wrong), "{error}");
        }
    }
}
