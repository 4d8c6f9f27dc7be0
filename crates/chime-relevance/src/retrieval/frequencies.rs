//! Counts in how many messages each stem occurs.

use std::collections::HashMap;

use crate::retrieval::lexicon::Lexicon;
use crate::retrieval::passage::PassageProperties;
use chime_core::is_unspaced;

/// Number of messages of a chat, and for each stem the number of those that have it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frequencies {
    pub messages: f64,
    pub holding: HashMap<String, f64>,
}

impl Frequencies {
    /// Returns the idf of a stem. A stem that no message has gets the highest idf, so that messages without it score
    /// low. In scripts without spaces it gets 0, because most pairs of characters are not a word.
    pub fn idf(&self, stem: &str) -> f64 {
        let holding = self.holding.get(stem).copied().unwrap_or(0.0);
        if holding == 0.0 && stem.starts_with(is_unspaced) {
            return 0.0;
        }
        (1.0 + (self.messages - holding + 0.5).max(0.5) / (holding + 0.5)).ln()
    }

    /// Counts in how many passages each stem occurs. `readings` holds the properties of each passage.
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
