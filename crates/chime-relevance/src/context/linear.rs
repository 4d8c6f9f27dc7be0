//! Linear scores of named features.

use serde::Deserialize;

/// Linear model: the score is the sum of all features, each clamped to its range in training and multiplied by its
/// weight.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "TermsFile")]
pub struct Terms<const N: usize> {
    pub bias: f64,
    pub terms: [Term; N],
}

/// Weight of a feature, and the range of its values in training.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Term {
    #[serde(rename = "w")]
    pub weight: f64,
    #[serde(rename = "lo")]
    pub low: f64,
    #[serde(rename = "hi")]
    pub high: f64,
}

/// Linear model as it is written in the weights file, with the terms in the order of the features.
#[derive(Deserialize)]
struct TermsFile {
    bias: f64,
    terms: Vec<Term>,
}

impl<const N: usize> TryFrom<TermsFile> for Terms<N> {
    type Error = String;

    /// Converts the terms; missing terms at the end get weight 0.
    fn try_from(table: TermsFile) -> Result<Self, String> {
        let mut terms = [Term::default(); N];
        let written = terms.get_mut(..table.terms.len()).ok_or_else(|| format!("more than {N} terms"))?;
        written.copy_from_slice(&table.terms);
        Ok(Self { bias: table.bias, terms })
    }
}

impl<const N: usize> Terms<N> {
    pub fn score(&self, values: &[f64; N]) -> f64 {
        self.bias + self.terms.iter().zip(values).map(|(term, value)| term.weigh(*value)).sum::<f64>()
    }

    /// Returns the amount that each feature adds to the score; the bias is not included.
    pub fn parts(&self, values: &[f64; N]) -> [f64; N] {
        std::array::from_fn(|place| self.terms[place].weigh(values[place]))
    }
}

impl Term {
    pub fn weigh(&self, value: f64) -> f64 {
        self.weight * value.clamp(self.low, self.high)
    }
}

/// Converts log odds to a probability with the logistic function.
pub fn chance(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}
