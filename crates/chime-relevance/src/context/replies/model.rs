//! Score of a message as a reply to another: a linear model over products of raw features, clamped to their range in
//! training.

use serde::Deserialize;

use crate::context::replies::pairs::{RAW, RAW_NAMES};

/// Linear model that scores one message as a reply to another, fitted by `cargo bench --bench fit`.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "ReplyModelFile")]
pub struct ReplyModel {
    bias: f32,
    terms: Vec<ProductTerm>,
    /// Index of the raw feature x and bound of each hinge, a factor max(0, x - bound).
    hinges: Vec<(usize, f32)>,
}

#[derive(Debug, Clone)]
struct ProductTerm {
    /// Indices into [`FactorValues`]; index 0 stands for the factor 1.
    factors: [u8; FACTORS],
    weight: f32,
    /// Range that the product had in training, without outliers.
    low: f32,
    high: f32,
}

const FACTORS: usize = 3;
/// Values of all factors: 1, each raw feature x, each 1 - x, and the hinges. The array has 256 entries, so that a `u8`
/// index needs no bounds check.
pub struct FactorValues([f32; 256]);
/// Index in [`FactorValues`] of the first x (`IS`), of the first 1 - x (`NOT`) and of the first hinge (`ABOVE`).
const IS: usize = 1;
const NOT: usize = IS + RAW;
const ABOVE: usize = NOT + RAW;

impl Default for FactorValues {
    fn default() -> Self {
        Self([1.0; 256])
    }
}

impl ReplyModel {
    pub const WRITTEN: &str = include_str!("weights.json");

    /// Returns the log odds of this antecedent against "starts something new". `values` is memory that is reused
    /// between calls; its contents do not matter.
    pub fn score(&self, raw: &[f32; RAW], values: &mut FactorValues) -> f32 {
        self.fill(raw, values);
        let weigh = |term: &ProductTerm| term.weight * term.product(values).max(term.low).min(term.high);
        self.bias + self.terms.iter().map(weigh).sum::<f32>()
    }

    /// Returns the products, not clamped, in the order of the weights file.
    pub fn products(&self, raw: &[f32; RAW], values: &mut FactorValues) -> Vec<f32> {
        self.fill(raw, values);
        self.terms.iter().map(|term| term.product(values)).collect()
    }

    fn fill(&self, raw: &[f32; RAW], values: &mut FactorValues) {
        let FactorValues(values) = values;
        for (place, value) in raw.iter().enumerate() {
            values[IS + place] = *value;
            values[NOT + place] = 1.0 - value;
        }
        for (place, (feature, bound)) in self.hinges.iter().enumerate() {
            values[ABOVE + place] = (raw[*feature] - bound).max(0.0);
        }
    }
}

impl ProductTerm {
    fn product(&self, FactorValues(values): &FactorValues) -> f32 {
        self.factors.iter().fold(1.0, |product, factor| product * values[usize::from(*factor)])
    }
}

/// Contents of the weights file.
#[derive(Deserialize)]
struct ReplyModelFile {
    bias: f32,
    features: Vec<TableRow>,
}

#[derive(Deserialize)]
struct TableRow {
    /// Factors of the product, each an operation (`id`: x, `not`: 1 - x, `hinge`: max(0, x - bound)), the name of the
    /// raw feature x, and the bound of a hinge.
    factors: Vec<(String, String, f32)>,
    w: f32,
    lo: f32,
    hi: f32,
}

impl TryFrom<ReplyModelFile> for ReplyModel {
    type Error = String;

    fn try_from(table: ReplyModelFile) -> Result<Self, String> {
        let mut model = Self { bias: table.bias, terms: Vec::new(), hinges: Vec::new() };
        for row in table.features {
            let mut factors = [0; FACTORS];
            if row.factors.len() > FACTORS {
                return Err(format!("more than {FACTORS} factors"));
            }
            for (place, (operation, name, bound)) in factors.iter_mut().zip(row.factors) {
                *place = model.factor(&operation, &name, bound)?;
            }
            model.terms.push(ProductTerm { factors, weight: row.w, low: row.lo, high: row.hi });
        }
        Ok(model)
    }
}

impl ReplyModel {
    /// Returns the index of a factor in [`FactorValues`]. A hinge is added to the model. Fails for an unknown name or
    /// operation, or if there are too many hinges.
    fn factor(&mut self, operation: &str, name: &str, bound: f32) -> Result<u8, String> {
        let index = RAW_NAMES.iter().position(|raw| *raw == name).ok_or_else(|| format!("no feature `{name}`"))?;
        let place = match operation {
            "id" => IS + index,
            "not" => NOT + index,
            "hinge" => {
                self.hinges.push((index, bound));
                ABOVE + self.hinges.len() - 1
            }
            other => return Err(format!("no operation `{other}`")),
        };
        u8::try_from(place).map_err(|_| "too many hinges".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_table_can_be_read() {
        let shipped: ReplyModel = serde_json::from_str(ReplyModel::WRITTEN).expect("a table of the right form");
        assert!(shipped.terms.len() > 100);
    }

    #[test]
    fn a_term_is_a_clamped_product_of_its_factors() {
        let table = r#"{"bias": 0.5, "features": [
            {"name": "x", "factors": [["id", "ld", 0], ["not", "same", 0]], "w": 2.0, "lo": 0.0, "hi": 3.0},
            {"name": "y", "factors": [["hinge", "ld", 1.5]], "w": 1.0, "lo": 0.0, "hi": 9.0}]}"#;
        let model: ReplyModel = serde_json::from_str(table).unwrap();
        let mut raw = [0.0; RAW];
        raw[RAW_NAMES.iter().position(|name| *name == "ld").unwrap()] = 2.0;
        assert_eq!(model.score(&raw, &mut FactorValues::default()), 0.5 + 4.0 + 0.5);
        raw[RAW_NAMES.iter().position(|name| *name == "same").unwrap()] = 1.0;
        assert_eq!(model.score(&raw, &mut FactorValues::default()), 0.5 + 0.0 + 0.5);
        let unknown = table.replace("\"ld\"", "\"no such\"");
        assert!(serde_json::from_str::<ReplyModel>(&unknown).is_err());
    }
}
