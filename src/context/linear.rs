//! Linear scores: the form of the fitted numbers that are shared by the rooms that choose.

use serde::Deserialize;

/// A linear score: each feature clamped to the range seen in training, times its weight.
#[derive(Debug, Clone)]
pub struct Terms<const N: usize> {
    pub bias: f64,
    pub terms: [Term; N],
}

/// What one feature adds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Term {
    pub weight: f64,
    pub low: f64,
    pub high: f64,
}

/// A term as it is written.
#[derive(Deserialize)]
pub struct Row {
    pub name: String,
    pub w: f64,
    pub lo: f64,
    pub hi: f64,
}

impl<const N: usize> Terms<N> {
    /// Rows by the places of their `names`; a feature without a row counts nothing.
    pub fn of(bias: f64, rows: &[Row], names: &[&str; N]) -> Result<Self, String> {
        let mut terms = [Term::default(); N];
        for Row { name, w, lo, hi } in rows {
            let place = names.iter().position(|known| known == name).ok_or_else(|| format!("no feature `{name}`"))?;
            terms[place] = Term { weight: *w, low: *lo, high: *hi };
        }
        Ok(Self { bias, terms })
    }

    pub fn score(&self, values: &[f64; N]) -> f64 {
        self.bias + self.terms.iter().zip(values).map(|(term, value)| term.weigh(*value)).sum::<f64>()
    }

    /// What each feature adds to the score.
    pub fn parts(&self, values: &[f64; N]) -> [f64; N] {
        std::array::from_fn(|place| self.terms[place].weigh(values[place]))
    }
}

impl Term {
    pub fn weigh(&self, value: f64) -> f64 {
        self.weight * value.clamp(self.low, self.high)
    }
}

/// What log odds say.
pub fn chance(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}
