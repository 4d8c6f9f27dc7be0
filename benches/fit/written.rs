//! Weight files of the selector: reads them, replaces parts, and writes them in the same form.

use serde::{Deserialize, Serialize};

use crate::learn::{Score, Term};

/// Divisor of the segment link weights, which sharpens the sampling of forests.
const TEMPERATURE: f64 = 0.7;

/// Content of both weight files.
#[derive(Debug, Clone)]
pub struct Written {
    links: Links,
    subjects: Subjects,
}

/// Part of the weights that is fitted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Links,
    SegmentLink,
    FocusBare,
    FocusText,
    Pairwise,
    /// Second (0) or third (1) pass of pairwise.
    Refine(usize),
    Novelty,
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
struct Subjects {
    far: f64,
    segment_link: SegmentLink,
    novelty: Novelty,
    focus_bare: Table,
    focus_text: Table,
    pairwise: Table,
    refine: Vec<Table>,
}

#[derive(Debug, Clone, Deserialize)]
struct SegmentLink {
    slow: f64,
    #[serde(flatten)]
    table: Table,
}

#[derive(Debug, Clone, Deserialize)]
struct Novelty {
    threshold: f64,
    #[serde(flatten)]
    table: Table,
    meaning: Vec<f64>,
    usual_meaning: f64,
}

#[derive(Debug, Clone, Deserialize)]
struct Table {
    bias: f64,
    terms: Vec<Row>,
}

#[derive(Debug, Clone, Deserialize)]
struct Row {
    name: String,
    w: f64,
    lo: f64,
    hi: f64,
}

impl Written {
    pub fn read(links: &str, subjects: &str) -> serde_json::Result<Self> {
        Ok(Self { links: serde_json::from_str(links)?, subjects: serde_json::from_str(subjects)? })
    }

    pub fn link_count(&self) -> usize {
        self.links.features.len()
    }

    /// Replaces the weights of a part. `names` are the features of `score`; the links keep their own names.
    pub fn set(&mut self, part: Part, score: &Score, names: &[&str]) {
        let table = match part {
            Part::Links => {
                self.links.bias = score.bias;
                for (row, Term { weight, low, high }) in self.links.features.iter_mut().zip(&score.terms) {
                    (row.w, row.lo, row.hi) = (*weight, *low, *high);
                }
                return;
            }
            Part::SegmentLink => {
                self.subjects.segment_link.table = Table::of(&score.divided_by(TEMPERATURE), names);
                return;
            }
            Part::FocusBare => &mut self.subjects.focus_bare,
            Part::FocusText => &mut self.subjects.focus_text,
            Part::Pairwise => &mut self.subjects.pairwise,
            Part::Refine(look) => &mut self.subjects.refine[look],
            Part::Novelty => {
                let novelty = &mut self.subjects.novelty;
                novelty.meaning = score.terms[names.len()..].iter().map(|term| term.weight).collect();
                &mut novelty.table
            }
        };
        *table = Table::of(score, names);
    }

    /// Sets the probability from which a trigger starts a new subject.
    pub fn set_threshold(&mut self, threshold: f64) {
        self.subjects.novelty.threshold = threshold;
    }

    /// Sets what the embedding of a trigger with the mean of all embeddings adds to the score of a new subject.
    pub fn set_usual_meaning(&mut self, mean: &[f64]) {
        let novelty = &mut self.subjects.novelty;
        novelty.usual_meaning = novelty.meaning.iter().zip(mean).map(|(weight, mean)| weight * mean).sum();
    }

    /// Formats the links file.
    pub fn links(&self) -> String {
        let row = |LinkRow { name, factors, w, lo, hi }: &LinkRow| {
            let factors = spaced(factors);
            let numbers = format!("\"w\": {}, \"lo\": {}, \"hi\": {}", short(*w), short(*lo), short(*hi));
            format!("  {{\"name\": {}, \"factors\": {factors}, {numbers}}}", quoted(name))
        };
        let rows: Vec<String> = self.links.features.iter().map(row).collect();
        format!("{{\"bias\": {},\n \"features\": [\n{}\n ]}}\n", short(self.links.bias), rows.join(",\n"))
    }

    /// Formats the subjects file.
    pub fn subjects(&self) -> String {
        let Subjects { far, segment_link, novelty, focus_bare, focus_text, pairwise, refine } = &self.subjects;
        let meaning: Vec<String> = novelty.meaning.iter().map(|weight| short(*weight)).collect();
        let set = format!(
            "\"threshold\": {}, \"usual_meaning\": {},\n  \"meaning\": [{}],\n  ",
            short(novelty.threshold),
            short(novelty.usual_meaning),
            meaning.join(", ")
        );
        let drawn = format!("\"slow\": {}, ", short(segment_link.slow));
        let parts = [
            format!("\"far\": {}", short(*far)),
            format!("\"segment_link\": {{{drawn}{}}}", segment_link.table.written()),
            format!("\"novelty\": {{{set}{}}}", novelty.table.written()),
            format!("\"focus_bare\": {{{}}}", focus_bare.written()),
            format!("\"focus_text\": {{{}}}", focus_text.written()),
            format!("\"pairwise\": {{{}}}", pairwise.written()),
            format!(
                "\"refine\": [{}]",
                refine.iter().map(|it| format!("{{{}}}", it.written())).collect::<Vec<_>>().join(", ")
            ),
        ];
        format!("{{\n {}\n}}\n", parts.join(",\n "))
    }
}

/// Formats the file for messages from before the window.
pub fn beyond(score: &Score, threshold: f64, names: &[&str]) -> String {
    format!("{{\n \"threshold\": {}, {}\n}}\n", short(threshold), Table::of(score, names).written())
}

impl Table {
    fn of(score: &Score, names: &[&str]) -> Self {
        let row = |(name, term): (&&str, &Term)| Row {
            name: (*name).to_owned(),
            w: term.weight,
            lo: term.low,
            hi: term.high,
        };
        Self { bias: score.bias, terms: names.iter().zip(&score.terms).map(row).collect() }
    }

    fn written(&self) -> String {
        let row = |Row { name, w, lo, hi }: &Row| {
            let name = quoted(name);
            format!("  {{\"name\": {name}, \"w\": {}, \"lo\": {}, \"hi\": {}}}", short(*w), short(*lo), short(*hi))
        };
        let rows: Vec<String> = self.terms.iter().map(row).collect();
        format!("\"bias\": {}, \"terms\": [\n{}\n ]", short(self.bias), rows.join(",\n"))
    }
}

/// Rounds to six significant digits; more is noise.
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

/// Formats compact JSON with a blank after each comma.
fn spaced(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default().replace(',', ", ")
}
