//! Summary that was just made and is not stored yet.

use crate::bullets;
use crate::jobs::model::ModelOutput;
use chime_core::{Bullet, Seq, Summary, SummaryMethod, Timestamp, estimate_tokens};

/// New summary, not stored yet.
pub(super) struct NewSummary {
    pub bullets: Vec<Bullet>,
    pub method: SummaryMethod,
    /// Last answer of the model; `None` for an extract.
    pub written: Option<ModelOutput>,
    /// Model whose output was unusable, so that an extract was made; stored so that this model is not asked again.
    pub given_up_by: Option<String>,
    /// Open items from before that this summary says are done, by their first messages.
    pub closes: Vec<Seq>,
}

impl NewSummary {
    pub fn extract(bullets: Vec<Bullet>) -> Self {
        Self { bullets, method: SummaryMethod::Extract, written: None, given_up_by: None, closes: Vec::new() }
    }

    /// Returns the model that wrote the summary or whose output was unusable. Empty if no model was asked.
    pub fn model(&self) -> String {
        self.written.as_ref().map(|it| it.model.clone()).or(self.given_up_by.clone()).unwrap_or_default()
    }
}

/// Converts a new summary to its stored form.
pub(super) fn summary_of(made: &NewSummary, now: Timestamp) -> Summary {
    Summary {
        tokens: bullets::cost(&made.bullets, estimate_tokens),
        bullets: made.bullets.clone(),
        method: made.method,
        model: made.model(),
        built_at: now,
    }
}

/// Counts the characters of all bullets.
pub(super) fn chars(summary: &Summary) -> usize {
    summary.bullets.iter().map(|bullet| bullet.text.chars().count()).sum()
}
