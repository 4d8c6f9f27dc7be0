//! Parameters of `getUpdates`. The waiting part of the method is in `server`.

use std::time::Duration;

use crate::params::{ApiError, RequestParams};
use crate::state::SandboxState;

/// Longest poll, in seconds: the server ends it regardless of the requested timeout.
const LONGEST_POLL_SECONDS: i64 = 50;
/// Maximum and default number of updates per response.
const LARGEST_BATCH: i64 = 100;

#[derive(Debug, Clone, Copy)]
pub(crate) struct PollRequest {
    pub(crate) offset: i64,
    pub(crate) limit: usize,
    pub(crate) timeout: Duration,
}

impl PollRequest {
    /// Reads the parameters. `allowed_updates` stays in effect until another poll changes it.
    pub(crate) fn read(state: &mut SandboxState, params: &RequestParams) -> Result<Self, ApiError> {
        if let Some(kinds) = params.parsed::<Vec<String>>("allowed_updates")? {
            state.queue.allow(kinds);
        }
        let within = |name, default, range: std::ops::RangeInclusive<i64>| {
            let asked = params.integer(name).unwrap_or(default).clamp(*range.start(), *range.end());
            asked.unsigned_abs()
        };
        let limit = within("limit", LARGEST_BATCH, 1..=LARGEST_BATCH);
        let timeout = within("timeout", 0, 0..=LONGEST_POLL_SECONDS);
        Ok(Self {
            offset: params.integer("offset").unwrap_or(0),
            limit: usize::try_from(limit).unwrap_or(1),
            timeout: Duration::from_secs(timeout),
        })
    }
}
