//! Shows how cost grows with the number of messages, as a table and as a plot.

use std::fmt::Write;

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

/// Plot of one figure by number of messages, with the bound it should keep.
struct Plot {
    title: &'static str,
    lines: &'static [PlotLine],
    bound: Option<f64>,
}

struct PlotLine {
    name: &'static str,
    colour: &'static str,
    of: fn(&SpeedFigures) -> f64,
}

const PANELS: [Plot; 4] = [
    Plot {
        title: "Choosing the window for a tag, ms",
        lines: &[
            PlotLine { name: "p50", colour: "#7fb0d8", of: |of| of.window_p50_ms },
            PlotLine { name: "p95", colour: "#1f6fb2", of: |of| of.window_p95_ms },
        ],
        bound: Some(5.0),
    },
    Plot {
        title: "Full-text search in one chat, p95, ms",
        lines: &[PlotLine { name: "p95", colour: "#1f6fb2", of: |of| of.fts_p95_ms }],
        bound: Some(15.0),
    },
    Plot {
        title: "Messages stored and committed a second",
        lines: &[PlotLine { name: "", colour: "#1f6fb2", of: |of| of.ingest_per_s }],
        bound: Some(6_000.0),
    },
    Plot {
        title: "Memory of the whole measurement, MB",
        lines: &[PlotLine { name: "", colour: "#1f6fb2", of: |of| of.rss_mb }],
        bound: None,
    },
];

/// Pixels: size of a panel, and the area of the lines in it.
const WIDTH: f64 = 400.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 24.0;
const RIGHT: f64 = WIDTH - 64.0;
const TOP: f64 = 52.0;
const BOTTOM: f64 = HEIGHT - 34.0;

/// Draws the figures as SVG, with the number of messages on a logarithmic scale.
pub fn plot(all: &[SpeedFigures]) -> String {
    let (width, height) = (2.0 * WIDTH, 2.0 * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n\
         <title>How cost grows with the number of messages</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#fff\"/>\n"
    );
    for (number, panel) in PANELS.iter().enumerate() {
        let (x, y) = ((number % 2) as f64 * WIDTH, (number / 2) as f64 * HEIGHT);
        let _ = write!(svg, "<g transform=\"translate({x} {y})\">\n{}</g>\n", panel.drawn(all));
    }
    svg.push_str("</svg>\n");
    svg
}

impl Plot {
    fn drawn(&self, all: &[SpeedFigures]) -> String {
        let values = self.lines.iter().flat_map(|line| all.iter().map(line.of));
        let highest = values.chain(self.bound).fold(f64::MIN_POSITIVE, f64::max) * 1.05;
        let y = |value: f64| BOTTOM - (BOTTOM - TOP) * value / highest;
        let x = horizontal(all);
        let mut drawn = format!("<text x=\"{LEFT}\" y=\"28\" font-weight=\"bold\">{}</text>\n", self.title);
        let _ = writeln!(drawn, "<path d=\"M{LEFT} {BOTTOM}H{RIGHT}\" stroke=\"#999\" fill=\"none\"/>");
        for of in all {
            let (x, y) = (x(of), BOTTOM + 18.0);
            let _ = writeln!(
                drawn,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
                shortened(of.messages)
            );
        }
        if let Some(bound) = self.bound {
            let (at, label) = (y(bound), whole(bound));
            let _ = writeln!(
                drawn,
                "<path d=\"M{LEFT} {at:.1}H{RIGHT}\" stroke=\"#c0392b\" stroke-dasharray=\"4 4\" fill=\"none\"/>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#c0392b\">aim {label}</text>",
                RIGHT + 4.0,
                at + 4.0
            );
        }
        self.lines.iter().for_each(|line| line.draw(&mut drawn, all, &x, &y));
        drawn
    }
}

impl PlotLine {
    fn draw(&self, drawn: &mut String, all: &[SpeedFigures], x: &dyn Fn(&SpeedFigures) -> f64, y: &dyn Fn(f64) -> f64) {
        let Self { name, colour, of } = self;
        let points: Vec<String> =
            all.iter().map(|figures| format!("{:.1},{:.1}", x(figures), y(of(figures)))).collect();
        let _ = writeln!(
            drawn,
            "<polyline points=\"{}\" stroke=\"{colour}\" stroke-width=\"2\" fill=\"none\"/>",
            points.join(" ")
        );
        for figures in all {
            let (value, x, y) = (of(figures), x(figures), y(of(figures)));
            let label = if value < 100.0 { format!("{value:.1}") } else { whole(value) };
            let _ = writeln!(
                drawn,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{colour}\">{label}</text>",
                y - 7.0
            );
        }
        if let Some(last) = all.last() {
            let (x, y) = (x(last) + 22.0, y(of(last)) - 7.0);
            let _ = writeln!(drawn, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{name}</text>");
        }
    }
}

/// Returns the x coordinate of a size on a logarithmic scale.
fn horizontal(all: &[SpeedFigures]) -> impl Fn(&SpeedFigures) -> f64 {
    let logarithm = |of: &SpeedFigures| f64::from(of.messages.max(1)).log10();
    let (least, most) =
        all.iter().map(logarithm).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), one| (a.min(one), b.max(one)));
    let margin = 24.0;
    move |of| {
        let share = if most > least { (logarithm(of) - least) / (most - least) } else { 0.5 };
        LEFT + margin + share * (RIGHT - LEFT - 2.0 * margin)
    }
}

fn whole(value: f64) -> String {
    grouped(value.round() as u64)
}

fn shortened(count: u32) -> String {
    match count {
        1_000_000.. if count.is_multiple_of(1_000_000) => format!("{}M", count / 1_000_000),
        1_000.. if count.is_multiple_of(1_000) => format!("{}k", count / 1_000),
        _ => count.to_string(),
    }
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
        assert_eq!(lines[0], "messages                            10,000             1,000,000");
        assert_eq!(lines[1], "window, p50 / p95                   2.00 / 4.00 ms     3.50 / 7.00 ms");
    }

    #[test]
    fn a_picture_has_every_size_on_a_logarithmic_scale() {
        let all = [figures(10_000, 2.0), figures(100_000, 3.0), figures(1_000_000, 4.0)];
        let x = horizontal(&all);
        assert!((x(&all[1]) - x(&all[0]) - (x(&all[2]) - x(&all[1]))).abs() < 1e-9);
        let svg = plot(&all);
        assert!(["10k", "100k", "1M"].iter().all(|size| svg.contains(&format!(">{size}<"))));
        assert_eq!(svg.matches("<polyline").count(), 5);
        assert_eq!((svg.matches("<g ").count(), svg.matches("</g>").count()), (4, 4));
        assert!(!svg.contains("NaN"));
        assert!(!plot(&all[..1]).contains("NaN"), "one size is a picture too");
    }
}
