//! Parser for the program's data files: reads TOML into a struct with one field per key.
//!
//! It does not use serde, whose generated code for so many fields took half a minute to compile, a seventh of the whole
//! build.

use std::collections::BTreeMap;

use toml::Table;
pub use toml::Value;

/// Type that can be read from a TOML value.
pub trait Fill {
    /// Stores `value` in `self`. The error describes what is wrong with `value`.
    fn fill(&mut self, value: Value) -> Result<(), String>;
}

/// TOML table that is being read: the keys not read yet, and the problems so far.
#[derive(Debug)]
pub struct Rows {
    left: Table,
    wrong: Vec<String>,
}

impl Rows {
    pub fn of(value: Value) -> Result<Self, String> {
        match value {
            Value::Table(left) => Ok(Self { left, wrong: Vec::new() }),
            other => Err(other_than("rows", &other)),
        }
    }

    pub fn take(&mut self, name: &str, field: &mut dyn Fill) {
        let filled = match self.left.remove(name) {
            Some(value) => field.fill(value),
            None => Err("is missing".to_owned()),
        };
        self.wrong.extend(filled.err().map(|error| format!("{name} {error}")));
    }

    /// Returns an error with all problems, if there are any. A key that no field read is a problem.
    pub fn end(mut self) -> Result<(), String> {
        self.wrong.extend(self.left.keys().map(|name| format!("{name} is unknown")));
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong.join(", ")) }
    }
}

/// Parses a whole file. The error names each key that is missing, unknown or of the wrong type.
pub fn read<T: Fill + Default>(file: &str) -> Result<T, String> {
    let table: Table = toml::from_str(file).map_err(|error| error.to_string())?;
    let mut read = T::default();
    read.fill(Value::Table(table))?;
    Ok(read)
}

fn other_than(wanted: &str, value: &Value) -> String {
    format!("is no {wanted} but of type {}", value.type_str())
}

impl Fill for String {
    fn fill(&mut self, value: Value) -> Result<(), String> {
        match value {
            Value::String(text) => *self = text,
            other => return Err(other_than("text", &other)),
        }
        Ok(())
    }
}

impl<T: Fill + Default> Fill for Vec<T> {
    fn fill(&mut self, value: Value) -> Result<(), String> {
        let Value::Array(values) = value else { return Err(other_than("list", &value)) };
        for value in values {
            let mut one = T::default();
            one.fill(value)?;
            self.push(one);
        }
        Ok(())
    }
}

impl<T: Fill + Default, const N: usize> Fill for [T; N] {
    fn fill(&mut self, value: Value) -> Result<(), String> {
        let mut all: Vec<T> = Vec::new();
        all.fill(value)?;
        let found = all.len();
        *self = all.try_into().map_err(|_| format!("has {found} entries, not {N}"))?;
        Ok(())
    }
}

impl<T: Fill + Default> Fill for BTreeMap<String, T> {
    fn fill(&mut self, value: Value) -> Result<(), String> {
        let Value::Table(table) = value else { return Err(other_than("rows", &value)) };
        for (key, value) in table {
            self.entry(key).or_default().fill(value)?;
        }
        Ok(())
    }
}

/// Declares a struct that is read from a TOML table with one key per field. Every key is required, and no others are
/// allowed.
#[macro_export]
macro_rules! rows {
    ($(#[$about:meta])* $vis:vis struct $name:ident { $($(#[$says:meta])* $field_vis:vis $field:ident: $kind:ty,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Default, PartialEq, Eq)]
        $vis struct $name { $($(#[$says])* $field_vis $field: $kind,)+ }

        impl $crate::rows::Fill for $name {
            fn fill(&mut self, value: $crate::rows::Value) -> ::std::result::Result<(), ::std::string::String> {
                let mut rows = $crate::rows::Rows::of(value)?;
                $(rows.take(stringify!($field), &mut self.$field);)+
                rows.end()
            }
        }
    };
}
pub use rows;

#[cfg(test)]
mod tests {
    use super::*;

    rows! {
        struct Few {
            said: String,
            days: [String; 2],
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named() {
        let read = |file| read::<Few>(file).map(|few| (few.said, few.days.join(" ")));
        assert_eq!(read("said = 'x'\ndays = ['a', 'b']"), Ok(("x".to_owned(), "a b".to_owned())));
        for (file, wrong) in [
            ("days = ['a', 'b']", "said is missing"),
            ("said = 1\ndays = ['a', 'b']", "said is no text but of type integer"),
            ("said = 'x'\ndays = ['a']", "days has 1 entries, not 2"),
            ("said = 'x'\ndays = ['a', 'b']\nsaying = 'y'", "saying is unknown"),
        ] {
            assert_eq!(read(file), Err(wrong.to_owned()));
        }
    }
}
