//! The figures, as a table and as JSON.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Figures {
    pub append_sync_ms: f64,
    pub overwrite_sync_ms: f64,
    pub start_ms: f64,
    pub reply: Spread,
    /// The same with a loop that stores nothing.
    pub bare: Spread,
    pub updates_per_s: f64,
    pub idle_mb: f64,
    pub after_10k_mb: f64,
    pub program_mb: f64,
    pub filled: Option<Filled>,
}

/// What a past of many messages changes.
#[derive(Debug, Serialize)]
pub struct Filled {
    pub messages: u32,
    pub start_ms: f64,
    pub reply: Spread,
    pub resident_mb: f64,
    pub database_mb: f64,
}

/// Milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
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
        format!("{:.1} / {:.1} / {:.1} ms", self.p50, self.p95, self.max)
    }
}

impl Figures {
    pub fn table(&self) -> String {
        let ms = |value: f64| format!("{value:.2} ms");
        let mb = |value: f64| format!("{value:.1} MB");
        let mut rows = vec![
            ("this disk: 8 KiB appended and synced", ms(self.append_sync_ms)),
            ("this disk: 8 KiB overwritten and synced", ms(self.overwrite_sync_ms)),
            ("mention to reply, p50 / p95 / max", self.reply.told()),
            ("a loop that stores nothing, likewise", self.bare.told()),
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
                ("  mention to reply, p50 / p95 / max", filled.reply.told()),
                ("  resident after these mentions", mb(filled.resident_mb)),
                ("  database file", mb(filled.database_mb)),
            ]);
        }
        rows.iter().map(|(name, value)| format!("{name:<42}{value}\n")).collect()
    }
}
