//! Lines of memory that a prompt has already, so that no other part of it repeats them.

use std::collections::BTreeSet;

use crate::words;
use chime_core::{Citable, Seq, SourceKind};

/// Lines of summaries in a prompt, each with its messages and the stems of its words.
#[derive(Debug, Default)]
pub struct ToldLines {
    lines: Vec<(BTreeSet<Seq>, BTreeSet<String>)>,
}

impl ToldLines {
    /// Takes the lines of summaries from the sources of a prompt.
    pub fn of<'a>(sources: impl Iterator<Item = &'a Citable>) -> Self {
        let lines = sources.filter(|source| source.id.kind == SourceKind::Summary);
        let told = |source: &Citable| {
            let messages = source.rests_on.iter().map(|ground| ground.message).collect();
            (messages, words::stems(&source.text))
        };
        Self { lines: lines.map(told).collect() }
    }

    /// Returns `true` if a line rests on all these messages, and has all numbers and most words of `text`. One that rests
    /// on many messages may say little of these.
    pub fn tell<'a>(&self, text: &str, messages: impl Iterator<Item = &'a Seq>) -> bool {
        let (messages, stems): (BTreeSet<Seq>, _) = (messages.copied().collect(), words::stems(text));
        let numbers: BTreeSet<String> = stems.iter().filter(|stem| words::has_digit(stem)).cloned().collect();
        let says = |line: &BTreeSet<String>| {
            numbers.is_subset(line) && 4 * line.intersection(&stems).count() >= 3 * stems.len()
        };
        self.lines.iter().any(|(of, line)| messages.is_subset(of) && says(line))
    }
}
