//! The fitted table: every feature is a product of raw features, clamped to what was seen in training, times a weight.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::context::links::features::{RAW, RAW_NAMES};

/// Raised with every change of features or weights: rows of another version are not read.
pub const SCORER_VERSION: u32 = 1;

/// The shipped table. A test reads it, so it cannot fail to be read.
static SHIPPED: LazyLock<LinkModel> =
    LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).unwrap_or_else(|_| LinkModel::empty()));

/// A linear model over products of raw features.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Table")]
pub struct LinkModel {
    bias: f32,
    terms: Vec<Term>,
}

#[derive(Debug, Clone)]
struct Term {
    factors: Vec<Factor>,
    weight: f32,
    /// What was seen in training, nearly all of it: no extrapolation.
    low: f32,
    high: f32,
}

#[derive(Debug, Clone, Copy)]
enum Factor {
    /// x
    Is(usize),
    /// 1 - x
    Not(usize),
    /// max(0, x - c)
    Above(usize, f32),
}

impl LinkModel {
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    fn empty() -> Self {
        Self { bias: 0.0, terms: Vec::new() }
    }

    /// The log odds of an antecedent against "starts something new".
    pub fn score(&self, raw: &[f32; RAW]) -> f32 {
        self.bias + self.terms.iter().map(|term| term.value(raw)).sum::<f32>()
    }
}

impl Term {
    fn value(&self, raw: &[f32; RAW]) -> f32 {
        let product = self.factors.iter().fold(1.0, |product, factor| {
            product
                * match *factor {
                    Factor::Is(index) => raw[index],
                    Factor::Not(index) => 1.0 - raw[index],
                    Factor::Above(index, from) => (raw[index] - from).max(0.0),
                }
        });
        self.weight * product.clamp(self.low, self.high)
    }
}

/// The table as it is written.
#[derive(Deserialize)]
struct Table {
    bias: f32,
    features: Vec<TableRow>,
}

#[derive(Deserialize)]
struct TableRow {
    factors: Vec<TableFactor>,
    w: f32,
    lo: f32,
    hi: f32,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum TableFactor {
    Plain(String, String),
    From(String, String, f32),
}

impl TryFrom<Table> for LinkModel {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let terms = table.features.into_iter().map(term).collect::<Result<_, String>>()?;
        Ok(Self { bias: table.bias, terms })
    }
}

fn term(row: TableRow) -> Result<Term, String> {
    let factors = row.factors.into_iter().map(factor).collect::<Result<_, String>>()?;
    Ok(Term { factors, weight: row.w, low: row.lo, high: row.hi })
}

fn factor(written: TableFactor) -> Result<Factor, String> {
    let (operation, name, from) = match written {
        TableFactor::Plain(operation, name) => (operation, name, 0.0),
        TableFactor::From(operation, name, from) => (operation, name, from),
    };
    let index = RAW_NAMES.iter().position(|raw| *raw == name).ok_or_else(|| format!("no feature `{name}`"))?;
    match operation.as_str() {
        "id" => Ok(Factor::Is(index)),
        "not" => Ok(Factor::Not(index)),
        "hinge" => Ok(Factor::Above(index, from)),
        other => Err(format!("no operation `{other}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_can_be_read() {
        assert!(LinkModel::shipped().terms.len() > 100);
    }
}
