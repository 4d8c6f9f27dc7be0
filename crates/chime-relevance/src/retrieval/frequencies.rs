//! Numbers of messages that hold each stem.

use std::collections::HashMap;

use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::PassageProperties;

/// Number of messages of a chat in which each stem occurs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frequencies {
    pub messages: f64,
    pub holding: HashMap<String, f64>,
}

impl Frequencies {
    /// Returns the idf of a stem. Unknown stems count as the rarest, so that a message without them scores low.
    pub fn idf(&self, stem: &str) -> f64 {
        let holding = self.holding.get(stem).copied().unwrap_or(0.0);
        (1.0 + (self.messages - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
    }

    /// Counts the stems of the passages with these properties.
    pub(super) fn count(readings: &[PassageProperties], lexicon: &Lexicon<'_>) -> Self {
        let mut holding: HashMap<String, f64> = HashMap::new();
        for reading in readings {
            let mut stems: Vec<&str> = reading.words.iter().map(|id| &*lexicon.word(*id).stem).collect();
            stems.sort_unstable();
            stems.dedup();
            for stem in stems {
                match holding.get_mut(stem) {
                    Some(count) => *count += 1.0,
                    None => drop(holding.insert(stem.to_owned(), 1.0)),
                }
            }
        }
        Self { messages: readings.len() as f64, holding }
    }
}
