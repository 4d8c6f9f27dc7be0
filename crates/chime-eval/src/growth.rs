//! Shows how cost grows with the number of messages, as a table and as a plot.

use crate::speed::SpeedFigures;
use chime_core::grouped;

/// Formats one row for each figure and one column for each size.
pub fn table(all: &[SpeedFigures]) -> String {
    type FormatFigure = fn(&SpeedFigures) -> String;
    let rows: [(&str, FormatFigure); 9] = [
        ("messages", |of| grouped(of.messages.into())),
        ("window, p50 / p95", |of| format!("{:.2} / {:.2} ms", of.window_p50_ms, of.window_p95_ms)),
        ("recall, p95", |of| format!("{:.2} ms", of.recall_p95_ms)),
        ("full-text search, p95", |of| format!("{:.2} ms", of.fts_p95_ms)),
        ("window p95, nothing cached", |of| format!("{:.1} ms", of.cold_window_p95_ms)),
        ("messages stored a second", |of| whole(of.ingest_per_s)),
        ("8 KiB synced to this disk", |of| format!("{:.2} ms", of.fsync_ms)),
        ("resident", |of| format!("{:.1} MB", of.rss_mb)),
        ("database file", |of| format!("{:.1} MB", of.db_mb)),
    ];
    let row = |(name, shown): (&str, FormatFigure)| {
        let columns: String = all.iter().map(|of| format!("{:<19}", shown(of))).collect();
        format!("{name:<36}{}\n", columns.trim_end())
    };
    rows.into_iter().map(row).collect()
}

/// Draws each figure as a row of bars, one for each size.
pub fn plot(all: &[SpeedFigures]) -> String {
    /// Length of the longest bar of a figure.
    const LONGEST: f64 = 40.0;
    let mut drawn = String::new();
    for (name, of) in PLOTTED {
        drawn.push_str(&format!("\n{name}\n"));
        let highest = all.iter().map(of).fold(f64::MIN_POSITIVE, f64::max);
        for figures in all {
            let value = of(figures);
            let bar = "#".repeat((LONGEST * value / highest).round() as usize);
            let shown = if value < 100.0 { format!("{value:.1}") } else { whole(value) };
            drawn.push_str(&format!("{:>12}  {bar} {shown}\n", grouped(figures.messages.into())));
        }
    }
    drawn
}

type Figure = fn(&SpeedFigures) -> f64;

/// Figures of the plot, with the aim for a million messages.
const PLOTTED: [(&str, Figure); 4] = [
    ("Choosing the window for a tag, p95, ms (aim: 15)", |of| of.window_p95_ms),
    ("Full-text search in one chat, p95, ms (aim: 15)", |of| of.fts_p95_ms),
    ("Messages stored and committed a second (aim: 5,000)", |of| of.ingest_per_s),
    ("Memory of the whole measurement, MB (aim: 90)", |of| of.rss_mb),
];

fn whole(value: f64) -> String {
    grouped(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(messages: u32, ms: f64) -> SpeedFigures {
        SpeedFigures {
            messages,
            window_p50_ms: ms,
            window_p95_ms: 2.0 * ms,
            recall_p95_ms: ms,
            fts_p95_ms: ms,
            cold_window_p95_ms: 30.0,
            ingest_per_s: 11_000.0,
            fsync_ms: 0.35,
            rss_mb: 80.0,
            db_mb: 4.0,
        }
    }

    #[test]
    fn sizes_stand_side_by_side() {
        let table = table(&[figures(10_000, 2.0), figures(1_000_000, 3.5)]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "messages                            10\u{202f}000             1\u{202f}000\u{202f}000");
        assert_eq!(lines[1], "window, p50 / p95                   2.00 / 4.00 ms     3.50 / 7.00 ms");
    }

    #[test]
    fn bars_are_as_long_as_their_figures() {
        let plot = plot(&[figures(10_000, 2.0), figures(1_000_000, 4.0)]);
        let lines: Vec<&str> = plot.lines().skip(2).take(2).collect();
        assert_eq!(lines[0], format!("      10\u{202f}000  {} 4.0", "#".repeat(20)));
        assert_eq!(lines[1], format!("   1\u{202f}000\u{202f}000  {} 8.0", "#".repeat(40)));
    }
}
