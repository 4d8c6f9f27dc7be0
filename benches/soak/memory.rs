//! Checks that memory stays flat.

use std::time::Duration;

use crate::Outcome;
use crate::process::Process;

/// Interval of measurements; shorter in a short run.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// Shortest run that can show leaks. In shorter ones caches are still filling.
const TELLING: Duration = Duration::from_mins(30);
/// Largest ratio of the fourth quarter to the second. Its database is more than twice as large and fills more of the
/// page caches (8 MB per connection). Losing a kilobyte with every message would double the memory.
const MOST_BETWEEN_LIVES: f64 = 1.25;
/// Largest growth of one process after its first two thirds.
const MOST_WITHIN_A_LIFE: f64 = 1.10;

#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Duration,
    life: usize,
    mb: f64,
}

pub struct Memory {
    length: Duration,
    next: Duration,
    life: usize,
    samples: Vec<Sample>,
}

/// Medians of the samples, in MB.
#[derive(Debug, Clone, serde::Serialize)]
pub struct MemoryFigures {
    /// Medians of the two quarters with one process each.
    pub second_quarter_mb: f64,
    pub last_quarter_mb: f64,
    /// Medians within the last process: its second and last third.
    pub last_life_middle_mb: f64,
    pub last_life_end_mb: f64,
    pub highest_mb: f64,
    /// Medians of the tenths of the run. Every process warms up, so the line is not straight.
    pub tenths_mb: Vec<f64>,
    pub samples: usize,
    /// `true` if the run was long enough to judge.
    pub is_telling: bool,
}

impl Memory {
    pub fn new(length: Duration) -> Self {
        Self { length, next: Duration::ZERO, life: 0, samples: Vec::new() }
    }

    pub fn begin_life(&mut self) {
        self.life += 1;
    }

    pub fn look(&mut self, process: &Process, at: Duration) -> Outcome<()> {
        if at < self.next || at > self.length {
            return Ok(());
        }
        self.next = at + LOOK_EVERY.min(self.length / 120);
        // Between the end of a process and its detection there is no memory to read.
        if let Ok(mb) = process.resident_mb() {
            self.samples.push(Sample { at, life: self.life, mb });
        }
        Ok(())
    }

    pub fn figures(&self) -> MemoryFigures {
        let quarter = self.length / 4;
        let between = |from: Duration, to: Duration| {
            median(self.samples.iter().filter(|sample| from <= sample.at && sample.at < to).map(|sample| sample.mb))
        };
        let last_life: Vec<Sample> = self.samples.iter().filter(|sample| sample.life == self.life).copied().collect();
        let third = last_life.len() / 3;
        let of_life = |from: usize, to: usize| median(last_life[from..to].iter().map(|sample| sample.mb));
        MemoryFigures {
            second_quarter_mb: between(quarter, quarter * 2),
            last_quarter_mb: between(quarter * 3, self.length),
            last_life_middle_mb: of_life(third, third * 2),
            last_life_end_mb: of_life(third * 2, last_life.len()),
            highest_mb: self.samples.iter().map(|sample| sample.mb).fold(0.0, f64::max),
            tenths_mb: (0..10).map(|tenth| between(self.length * tenth / 10, self.length * (tenth + 1) / 10)).collect(),
            samples: self.samples.len(),
            is_telling: self.length >= TELLING,
        }
    }
}

impl MemoryFigures {
    /// Returns the failed expectations.
    pub fn wrong(&self) -> Vec<String> {
        let grown = |what: &str, before: f64, after: f64, most: f64| {
            let is_flat = !self.is_telling || after <= before * most;
            (!is_flat).then(|| format!("memory grew {what}: {before:.1} MB, then {after:.1} MB"))
        };
        [
            grown("between the quarters", self.second_quarter_mb, self.last_quarter_mb, MOST_BETWEEN_LIVES),
            grown("within the last life", self.last_life_middle_mb, self.last_life_end_mb, MOST_WITHIN_A_LIFE),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
