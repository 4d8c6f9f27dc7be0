//! Figures of the run, as a table and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::memory::MemoryFigures;
use crate::verdict::Counts;

#[derive(Debug, Serialize)]
pub struct Report {
    pub seed: u64,
    pub minutes: f64,
    pub counts: Counts,
    pub faults: BTreeMap<&'static str, usize>,
    pub kills: usize,
    pub stops: usize,
    pub slowest_stop_s: f64,
    pub reply_p50_ms: f64,
    pub reply_p95_ms: f64,
    pub slowest_reply_s: f64,
    /// Seconds from the end of the load until all work was done.
    pub drain_s: f64,
    pub memory: MemoryFigures,
    pub database_mb: f64,
    /// Share of one processor.
    pub processor_percent: f64,
    /// Log lines at the level error.
    pub errors_logged: usize,
    pub wrong: Vec<String>,
}

impl Report {
    pub fn table(&self) -> String {
        let Counts { messages, rows, stubs, asks, answered, apologised, .. } = self.counts;
        let Counts { commands, thanks, counted, shown_twice, given_up, in_two, .. } = self.counts;
        let memory = &self.memory;
        let mut lines = vec![
            ("seed", self.seed.to_string()),
            ("load, minutes", format!("{:.1}", self.minutes)),
            ("messages in Telegram / rows / of these stubs", format!("{messages} / {rows} / {stubs}")),
            ("  a second", format!("{:.1}", messages as f64 / self.minutes / 60.0)),
            ("updates", self.counts.updates.to_string()),
            ("asks / answered / by an apology", format!("{asks} / {answered} / {apologised}")),
            ("asks that came as a tag and a question", in_two.to_string()),
            ("commands, thanks, old tags counted", format!("{commands}, {thanks}, {counted}")),
            ("jobs of memory still open in the end", self.counts.background_jobs.to_string()),
            ("lost on the way: shown twice / given up", format!("{shown_twice} / {given_up}")),
        ];
        lines.extend(self.faults.iter().map(|(what, count)| (*what, count.to_string())));
        lines.extend([
            ("kill -9 / SIGTERM, slowest", format!("{} / {}, {:.1} s", self.kills, self.stops, self.slowest_stop_s)),
            ("reply, p50 / p95", format!("{:.0} / {:.0} ms", self.reply_p50_ms, self.reply_p95_ms)),
            ("slowest reply", format!("{:.1} s", self.slowest_reply_s)),
            ("until all was done in the end", format!("{:.1} s", self.drain_s)),
            (
                "resident, 2nd / last quarter",
                format!("{:.1} / {:.1} MB", memory.second_quarter_mb, memory.last_quarter_mb),
            ),
            (
                "  last life, middle / end",
                format!("{:.1} / {:.1} MB", memory.last_life_middle_mb, memory.last_life_end_mb),
            ),
            ("  tenths of the run", memory.tenths_mb.iter().map(|mb| format!("{mb:.0} ")).collect()),
            ("  highest of all samples", format!("{:.1} MB of {}", memory.highest_mb, memory.samples)),
            ("database", format!("{:.1} MB", self.database_mb)),
            ("processor", format!("{:.1} %", self.processor_percent)),
            ("errors logged", self.errors_logged.to_string()),
        ]);
        lines.iter().map(|(name, value)| format!("{name:<46}{value}\n")).collect()
    }
}
