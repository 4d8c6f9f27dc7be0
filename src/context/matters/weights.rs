//! The fitted numbers of this room, from `weights.json`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::context::matters::kinship::{FEATURES, NAMES};

/// Fitted on labelled chats; every chat was judged by weights that had not seen it.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "File")]
pub struct Weights {
    /// Seconds of silence that end a fragment, unless a reply bridges them.
    pub far: f64,
    /// What a slow chat adds to every score: there matters are taken up more often than new ones begun.
    pub bias_slow: f64,
    /// How much a slow chat smooths what the hypotheses say by their mean.
    pub lambda_slow: f64,
    /// What is left of a link when the trigger has words of its own and replies to nothing.
    pub rho: f64,
    /// A matter less likely than this is no hypothesis.
    pub mass_min: f64,
    pub bias: f64,
    /// Each with its weight and the range seen in training.
    pub terms: [(f64, f64, f64); FEATURES],
    /// What the trigger's own words add to a weight.
    pub of_trigger: [f64; FEATURES],
    pub gate: HashMap<String, f64>,
    pub gate_bias: f64,
    pub gate_threshold: f64,
}

/// The shipped weights; none when the file is not of the right form, which a test would tell.
static SHIPPED: LazyLock<Option<Weights>> = LazyLock::new(|| serde_json::from_str(include_str!("weights.json")).ok());

impl Weights {
    pub fn shipped() -> Option<&'static Self> {
        SHIPPED.as_ref()
    }

    /// What a feature adds to a score, by its place; `is_trigger` where the words of a trigger are asked about.
    pub fn weigh(&self, place: usize, value: f64, is_trigger: bool) -> f64 {
        let (weight, low, high) = self.terms[place];
        let weight = if is_trigger { weight + self.of_trigger[place] } else { weight };
        weight * value.clamp(low, high)
    }

    /// A weight of the gate.
    pub fn gate(&self, name: &str) -> f64 {
        self.gate.get(name).copied().unwrap_or(0.0)
    }
}

/// The file as it is written.
#[derive(Deserialize)]
struct File {
    far: f64,
    temp: f64,
    bias_slow: f64,
    lambda_slow: f64,
    rho: f64,
    mass_min: f64,
    bridge_bias: f64,
    bridge: Vec<Row>,
    #[serde(rename = "extra_M")]
    extra_m: HashMap<String, f64>,
    gate: HashMap<String, f64>,
    gate_bias: f64,
    gate_threshold: f64,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    w: f64,
    lo: f64,
    hi: f64,
}

impl TryFrom<File> for Weights {
    type Error = String;

    fn try_from(file: File) -> Result<Self, String> {
        let place =
            |name: &str| NAMES.iter().position(|known| *known == name).ok_or_else(|| format!("no feature `{name}`"));
        let mut terms = [(0.0, 0.0, 0.0); FEATURES];
        for row in &file.bridge {
            terms[place(&row.name)?] = (row.w / file.temp, row.lo, row.hi);
        }
        let mut of_trigger = [0.0; FEATURES];
        for (name, extra) in &file.extra_m {
            of_trigger[place(name)?] = *extra;
        }
        Ok(Self {
            far: file.far,
            bias_slow: file.bias_slow,
            lambda_slow: file.lambda_slow,
            rho: file.rho,
            mass_min: file.mass_min,
            bias: file.bridge_bias / file.temp,
            terms,
            of_trigger,
            gate: file.gate,
            gate_bias: file.gate_bias,
            gate_threshold: file.gate_threshold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights = Weights::shipped().expect("the file is of the right form");
        assert!(weights.terms.iter().all(|(_, low, high)| low <= high));
        assert!(weights.terms.iter().filter(|(weight, ..)| *weight != 0.0).count() > 20);
    }
}
