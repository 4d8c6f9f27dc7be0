//! The fitted numbers of this room, from `weights.json`.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::context::linear::{Row, Term, Terms, place, terms};
use crate::context::matters::{anchor, bridge, circle, kin};

/// Fitted on labelled chats by `cargo bench --bench fit`; the figures that are published of them were measured on chats that
/// they had not seen.
///
/// What a tag is read with (`of_tag`) comes from 94 hand-written groups by several hands; those of one hand are longer and
/// more, so that the others were named two and three times. The bridge has seen slow chats beside them. `far`, `temp`, the
/// slow bias, the price of a token and the thresholds were set, not fitted.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "File")]
pub struct Weights {
    /// Seconds of silence that end a fragment, unless a reply bridges them.
    pub far: f64,
    /// How much a slow chat smooths what the hypotheses say by their mean.
    pub lambda_slow: f64,
    /// A matter less likely than this is no hypothesis.
    pub mass_min: f64,
    pub tag: TagWeights,
    pub remark: RemarkWeights,
}

/// For a trigger that tags the bot.
#[derive(Debug, Clone)]
pub struct TagWeights {
    pub gate: TagGate,
    pub bridge: Bridge,
    /// Where its words say too little to go by, and where they do not.
    pub anchor_bare: Terms<{ anchor::FEATURES }>,
    pub anchor_text: Terms<{ anchor::FEATURES }>,
    pub kinship: Terms<{ kin::FEATURES }>,
    /// For the second and the third look.
    pub again: [Terms<{ circle::FEATURES }>; 2],
}

/// For a trigger that goes on with the talk.
#[derive(Debug, Clone)]
pub struct RemarkWeights {
    pub gate: Gate,
    pub bridge: Bridge,
}

/// Whether a fragment takes up an earlier matter.
#[derive(Debug, Clone)]
pub struct Bridge {
    pub bias: f64,
    /// What a slow chat adds to every score: there matters are taken up more often than new ones begun.
    pub bias_slow: f64,
    terms: [Term; bridge::FEATURES],
    /// What the trigger's own words add to a weight.
    of_trigger: [f64; bridge::FEATURES],
}

/// Whether a trigger takes up anything at all.
#[derive(Debug, Clone, Deserialize)]
pub struct Gate {
    pub bias: f64,
    /// What more likely than this starts something new is given nothing earlier.
    pub threshold: f64,
    terms: HashMap<String, f64>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct TagGate {
    #[serde(flatten)]
    pub gate: Gate,
    /// What a token costs, in F1, that is spent on a tag that starts something new.
    pub price: f64,
}

/// The shipped weights; none when the file is not of the right form, which a test would tell.
static SHIPPED: LazyLock<Option<Weights>> = LazyLock::new(|| serde_json::from_str(Weights::WRITTEN).ok());

impl Weights {
    /// The shipped weights as they are written.
    pub const WRITTEN: &str = include_str!("weights.json");

    pub fn shipped() -> Option<&'static Self> {
        SHIPPED.as_ref()
    }
}

impl Bridge {
    /// Weighs nothing but the feature at `place`, and that as it is.
    pub fn probe(place: usize) -> Self {
        let mut terms = [Term::default(); bridge::FEATURES];
        terms[place] = Term { weight: 1.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        Self { bias: 0.0, bias_slow: 0.0, terms, of_trigger: [0.0; bridge::FEATURES] }
    }

    /// What a feature adds to a score, by its place; `is_trigger` where the words of a trigger are asked about.
    pub fn weigh(&self, place: usize, value: f64, is_trigger: bool) -> f64 {
        let Term { weight, low, high } = self.terms[place];
        let weight = if is_trigger { weight + self.of_trigger[place] } else { weight };
        weight * value.clamp(low, high)
    }
}

impl Gate {
    /// A weight; 0 for what is not asked about.
    pub fn weight(&self, name: &str) -> f64 {
        self.terms.get(name).copied().unwrap_or(0.0)
    }
}

/// The file as it is written.
#[derive(Deserialize)]
struct File {
    far: f64,
    temp: f64,
    bias_slow: f64,
    lambda_slow: f64,
    mass_min: f64,
    of_tag: OfTag,
    of_remark: OfRemark,
}

#[derive(Deserialize)]
struct OfTag {
    gate: TagGate,
    bridge_bias: f64,
    bridge: Vec<Row>,
    anchor_bare: Vec<Row>,
    anchor_text: Vec<Row>,
    kinship_bias: f64,
    kinship: Vec<Row>,
    again: [Look; 2],
}

#[derive(Deserialize)]
struct Look {
    bias: f64,
    terms: Vec<Row>,
}

#[derive(Deserialize)]
struct OfRemark {
    gate: Gate,
    extra: HashMap<String, f64>,
    bridge_bias: f64,
    bridge: Vec<Row>,
}

impl TryFrom<File> for Weights {
    type Error = String;

    fn try_from(file: File) -> Result<Self, String> {
        let OfTag { gate, bridge_bias, bridge, anchor_bare, anchor_text, kinship_bias, kinship, again } = file.of_tag;
        let bridge_of = |bias: f64, rows: &[Row], extra: &HashMap<String, f64>| -> Result<Bridge, String> {
            let mut of_trigger = [0.0; bridge::FEATURES];
            for (name, more) in extra {
                of_trigger[place(name, &bridge::NAMES)?] = *more;
            }
            let mut terms = terms(rows, &bridge::NAMES)?;
            terms.iter_mut().for_each(|term| term.weight /= file.temp);
            Ok(Bridge { bias: bias / file.temp, bias_slow: file.bias_slow, terms, of_trigger })
        };
        let again_of = |look: &Look| Terms::of(look.bias, &look.terms, &circle::NAMES);
        Ok(Self {
            far: file.far,
            lambda_slow: file.lambda_slow,
            mass_min: file.mass_min,
            tag: TagWeights {
                gate,
                bridge: bridge_of(bridge_bias, &bridge, &HashMap::new())?,
                anchor_bare: Terms::of(0.0, &anchor_bare, &anchor::NAMES)?,
                anchor_text: Terms::of(0.0, &anchor_text, &anchor::NAMES)?,
                kinship: Terms::of(kinship_bias, &kinship, &kin::NAMES)?,
                again: [again_of(&again[0])?, again_of(&again[1])?],
            },
            remark: RemarkWeights {
                bridge: bridge_of(file.of_remark.bridge_bias, &file.of_remark.bridge, &file.of_remark.extra)?,
                gate: file.of_remark.gate,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_weights_can_be_read() {
        let weights = Weights::shipped().expect("the file is of the right form");
        let counted = |terms: &[Term]| {
            assert!(terms.iter().all(|term| term.low <= term.high));
            terms.iter().filter(|term| term.weight != 0.0).count()
        };
        let TagWeights { bridge, anchor_bare, anchor_text, kinship, again, .. } = &weights.tag;
        assert_eq!((counted(&bridge.terms), counted(&weights.remark.bridge.terms)), (24, 24));
        assert_eq!((counted(&anchor_bare.terms), counted(&anchor_text.terms), counted(&kinship.terms)), (16, 28, 20));
        assert_eq!(again.each_ref().map(|look| counted(&look.terms)), [29, 29]);
    }
}
