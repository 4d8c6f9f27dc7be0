//! Weights as they are written: the two files of the selector, read, changed in part, and written again in the same form.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::learn::{Score, Term};

/// Both files.
#[derive(Debug, Clone)]
pub struct Written {
    links: Links,
    matters: Matters,
}

/// A part of the weights that is fitted by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Links,
    Bridge,
    AnchorBare,
    AnchorText,
    Kinship,
    /// The second look at kinship, 0, or the third, 1.
    Again(usize),
    Gate,
}

#[derive(Debug, Clone, Deserialize)]
struct Links {
    bias: f64,
    features: Vec<LinkRow>,
}

#[derive(Debug, Clone, Deserialize)]
struct LinkRow {
    name: String,
    factors: serde_json::Value,
    w: f64,
    lo: f64,
    hi: f64,
}

#[derive(Debug, Clone, Deserialize)]
struct Matters {
    far: f64,
    temp: f64,
    bias_slow: f64,
    lambda_slow: f64,
    mass_min: f64,
    of_tag: OfTag,
    /// What is not fitted here stays as it was, letter by letter.
    of_remark: Box<RawValue>,
}

#[derive(Debug, Clone, Deserialize)]
struct OfTag {
    gate: Gate,
    bridge_bias: f64,
    bridge: Vec<Row>,
    anchor_bare: Vec<Row>,
    anchor_text: Vec<Row>,
    kinship_bias: f64,
    kinship: Vec<Row>,
    again: Vec<Look>,
}

#[derive(Debug, Clone, Deserialize)]
struct Look {
    bias: f64,
    terms: Vec<Row>,
}

#[derive(Debug, Clone, Deserialize)]
struct Gate {
    bias: f64,
    threshold: f64,
    price: f64,
    #[serde(deserialize_with = "in_order")]
    terms: Vec<(String, f64)>,
}

#[derive(Debug, Clone, Deserialize)]
struct Row {
    name: String,
    w: f64,
    lo: f64,
    hi: f64,
}

impl Written {
    pub fn read(links: &str, matters: &str) -> serde_json::Result<Self> {
        Ok(Self { links: serde_json::from_str(links)?, matters: serde_json::from_str(matters)? })
    }

    /// How many features the links have.
    pub fn link_count(&self) -> usize {
        self.links.features.len()
    }

    /// Puts a fitted score in the place of what is there. `names` are those of its terms; the links keep theirs.
    pub fn set(&mut self, part: Part, score: &Score, names: &[&str]) {
        let tag = &mut self.matters.of_tag;
        let rows = || names.iter().zip(&score.terms).map(|(name, term)| Row::of(name, *term)).collect();
        match part {
            Part::Links => {
                self.links.bias = score.bias;
                for (row, Term { weight, low, high }) in self.links.features.iter_mut().zip(&score.terms) {
                    (row.w, row.lo, row.hi) = (*weight, *low, *high);
                }
            }
            Part::Bridge => (tag.bridge_bias, tag.bridge) = (score.bias, rows()),
            Part::AnchorBare => tag.anchor_bare = rows(),
            Part::AnchorText => tag.anchor_text = rows(),
            Part::Kinship => (tag.kinship_bias, tag.kinship) = (score.bias, rows()),
            Part::Again(look) => {
                if let Some(known) = tag.again.get_mut(look) {
                    *known = Look { bias: score.bias, terms: rows() };
                }
            }
            Part::Gate => {
                tag.gate.bias = score.bias;
                tag.gate.terms =
                    names.iter().zip(&score.terms).map(|(name, term)| ((*name).to_owned(), term.weight)).collect();
            }
        }
    }

    /// Sets the likelihood from which on a tag starts something new.
    pub fn set_threshold(&mut self, threshold: f64) {
        self.matters.of_tag.gate.threshold = threshold;
    }

    /// The file of the links.
    pub fn links(&self) -> String {
        let row = |LinkRow { name, factors, w, lo, hi }: &LinkRow| {
            let factors = spaced(factors);
            let numbers = format!("\"w\": {}, \"lo\": {}, \"hi\": {}", short(*w), short(*lo), short(*hi));
            format!("  {{\"name\": {}, \"factors\": {factors}, {numbers}}}", quoted(name))
        };
        let rows: Vec<String> = self.links.features.iter().map(row).collect();
        format!("{{\"bias\": {},\n \"features\": [\n{}\n ]}}\n", short(self.links.bias), rows.join(",\n"))
    }

    /// The file of what is taken up across silences.
    pub fn matters(&self) -> String {
        let Matters { far, temp, bias_slow, lambda_slow, mass_min, of_tag, of_remark } = &self.matters;
        let scalars = [
            ("far", far),
            ("temp", temp),
            ("bias_slow", bias_slow),
            ("lambda_slow", lambda_slow),
            ("mass_min", mass_min),
        ]
        .map(|(name, value)| format!(" \"{name}\": {},\n", short(*value)));
        let terms: Vec<String> =
            of_tag.gate.terms.iter().map(|(name, weight)| format!("{}: {}", quoted(name), short(*weight))).collect();
        let Gate { bias, threshold, price, .. } = &of_tag.gate;
        let tag = [
            format!(
                "  \"gate\": {{\"bias\": {}, \"threshold\": {}, \"price\": {}, \"terms\": {{{}}}}}",
                short(*bias),
                short(*threshold),
                short(*price),
                terms.join(", ")
            ),
            format!("  \"bridge_bias\": {}", short(of_tag.bridge_bias)),
            table("bridge", &of_tag.bridge),
            table("anchor_bare", &of_tag.anchor_bare),
            table("anchor_text", &of_tag.anchor_text),
            format!("  \"kinship_bias\": {}", short(of_tag.kinship_bias)),
            table("kinship", &of_tag.kinship),
            format!("  \"again\": [\n{}\n  ]", of_tag.again.iter().map(look).collect::<Vec<_>>().join(",\n")),
        ];
        let tag = tag.join(",\n");
        format!("{{\n{} \"of_tag\": {{\n{tag}\n }},\n \"of_remark\": {}\n}}\n", scalars.concat(), of_remark.get())
    }
}

/// The file of what is taken from further back.
pub fn beyond(score: &Score, threshold: f64, names: &[&str]) -> String {
    let rows: Vec<Row> = names.iter().zip(&score.terms).map(|(name, term)| Row::of(name, *term)).collect();
    let bias = short(score.bias);
    format!("{{\n  \"threshold\": {},\n  \"bias\": {bias},\n{}\n}}\n", short(threshold), table("terms", &rows))
}

impl Row {
    fn of(name: &str, Term { weight, low, high }: Term) -> Self {
        Self { name: name.to_owned(), w: weight, lo: low, hi: high }
    }
}

fn look(Look { bias, terms }: &Look) -> String {
    format!("   {{\"bias\": {},\n{}}}", short(*bias), table("terms", terms))
}

fn table(name: &str, rows: &[Row]) -> String {
    let row = |Row { name, w, lo, hi }: &Row| {
        let name = quoted(name);
        format!("   {{\"name\": {name}, \"w\": {}, \"lo\": {}, \"hi\": {}}}", short(*w), short(*lo), short(*hi))
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("  \"{name}\": [\n{}\n  ]", rows.join(",\n"))
}

/// Six digits that count: more is noise.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if rounded == 0.0 {
        return "0.0".to_owned();
    }
    let is_whole_setting = rounded.fract() == 0.0 && rounded.abs() >= 100.0;
    if is_whole_setting { format!("{rounded}") } else { format!("{rounded:?}") }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Compact, with a blank after each comma.
fn spaced(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().replace(',', ", ")
}

/// A map as pairs in the order in which it is written.
fn in_order<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, f64)>, D::Error> {
    struct Pairs;
    impl<'de> serde::de::Visitor<'de> for Pairs {
        type Value = Vec<(String, f64)>;

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a map of weights")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut pairs = Vec::new();
            while let Some(pair) = map.next_entry()? {
                pairs.push(pair);
            }
            Ok(pairs)
        }
    }
    deserializer.deserialize_map(Pairs)
}
