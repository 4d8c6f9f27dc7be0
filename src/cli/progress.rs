//! Progress bar on stderr.

use std::io::{IsTerminal, Write};

/// Progress bar that is shown on a terminal only.
pub struct ProgressBar {
    is_shown: bool,
    /// Percentage that was shown last.
    shown: Option<u64>,
}

impl ProgressBar {
    const WIDTH: u64 = 30;

    pub fn start() -> Self {
        Self { is_shown: std::io::stderr().is_terminal(), shown: None }
    }

    /// Shows that `done` of `total` are done, with `note` behind the bar, if the percentage has changed.
    pub fn show(&mut self, done: u64, total: u64, note: &str) {
        let percent = (done * 100).checked_div(total).unwrap_or(100).min(100);
        if !self.is_shown || self.shown == Some(percent) {
            return;
        }
        self.shown = Some(percent);
        let full = percent * Self::WIDTH / 100;
        let bar: String = (0..Self::WIDTH).map(|place| if place < full { '#' } else { '.' }).collect();
        let _ = write!(std::io::stderr(), "\r[{bar}] {percent:3} %  {note}");
    }

    pub fn end(&self) {
        if self.shown.is_some() {
            let _ = writeln!(std::io::stderr());
        }
    }
}
