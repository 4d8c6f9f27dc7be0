//! Figures, as a table and as JSON.

use serde::Serialize;

#[derive(Debug, Default, Serialize)]
pub struct Figures {
    pub reply: Spread,
    /// 8 KiB written and synced between the mentions: the least that a commit costs.
    pub sync: Spread,
    /// The daemon's time for each mention, including the message before it.
    pub processor_ms: f64,
    /// The same for a loop that stores nothing.
    pub bare: Spread,
    pub updates_per_s: f64,
    pub start_ms: f64,
    pub idle_mb: f64,
    pub after_10k_mb: f64,
    pub program_mb: f64,
    pub filled: Option<Filled>,
    pub flood: Option<Flood>,
}

/// Memory in a flood of long messages.
#[derive(Debug, Serialize)]
pub struct Flood {
    pub peak_mb: f64,
    pub resident_mb: f64,
}

/// Figures with many messages in the database.
#[derive(Debug, Serialize)]
pub struct Filled {
    pub messages: usize,
    pub start_ms: f64,
    pub reply: Spread,
    /// From `/search` in the chat with a fifth of the messages to the reply, by what it looks for.
    pub searches: Vec<(&'static str, Spread)>,
    pub sync: Spread,
    pub resident_mb: f64,
    pub database_mb: f64,
}

/// Percentiles in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Spread {
    pub p50: f64,
    pub p95: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |share: f64| values.get((values.len() as f64 * share) as usize).or(values.last()).copied();
        let at = |share| at(share).unwrap_or(f64::NAN);
        Self { p50: at(0.5), p95: at(0.95), max: at(1.0) }
    }

    fn told(self) -> String {
        format!("{:.2} / {:.2} / {:.1} ms", self.p50, self.p95, self.max)
    }
}

impl Figures {
    pub fn table(&self) -> String {
        let ms = |value: f64| format!("{value:.2} ms");
        let mb = |value: f64| format!("{value:.1} MB");
        let mut rows = vec![
            ("mention to reply, p50 / p95 / max", self.reply.told()),
            ("  8 KiB synced to this disk meanwhile", self.sync.told()),
            ("  a loop that stores nothing", self.bare.told()),
            ("  processor time a mention", ms(self.processor_ms)),
            ("updates stored a second", format!("{:.0}", self.updates_per_s)),
            ("start to first poll, new database", ms(self.start_ms)),
            ("resident, idle", mb(self.idle_mb)),
            ("resident, after 10,000 messages", mb(self.after_10k_mb)),
            ("program", mb(self.program_mb)),
        ];
        if let Some(filled) = &self.filled {
            rows.extend([
                ("messages in the database", filled.messages.to_string()),
                ("  start to first poll", ms(filled.start_ms)),
                ("  mention to reply", filled.reply.told()),
                ("  8 KiB synced to this disk meanwhile", filled.sync.told()),
                ("  resident after these mentions", mb(filled.resident_mb)),
                ("  database file", mb(filled.database_mb)),
            ]);
            rows.extend(filled.searches.iter().map(|(name, search)| (*name, search.told())));
        }
        if let Some(flood) = &self.flood {
            rows.push(("5,200 long messages in 20 topics, peak", mb(flood.peak_mb)));
            rows.push(("  resident afterwards", mb(flood.resident_mb)));
        }
        rows.iter().map(|(name, value)| format!("{name:<42}{value}\n")).collect()
    }
}
