//! Time as a value. Only `clock.rs` in `chime-runtime` reads the clock; all other code receives a [`Timestamp`].

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

/// Moment in UTC with millisecond resolution. Telegram's dates are whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Latest possible moment.
    pub const END: Self = Self(i64::MAX);

    /// Creates a timestamp from unix seconds, as Telegram sends them.
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1000))
    }

    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns whole unix seconds, rounded down.
    pub const fn secs(self) -> i64 {
        self.0.div_euclid(1000)
    }

    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns an id that begins with this time, so that ids are sorted by time. With 0 for `random`, the least one.
    pub fn ulid(self, random: u128) -> Ulid {
        Ulid::from_parts(self.0.max(0).cast_unsigned(), random)
    }

    /// Returns the number of UTC days since 1 January 1970.
    pub const fn day(self) -> i64 {
        self.0.div_euclid(86_400_000)
    }

    #[must_use]
    pub const fn next_day(self) -> Self {
        Self((self.day() + 1).saturating_mul(86_400_000))
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Adds `span`. A result out of range becomes the latest possible moment.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Subtracts `span`. A result out of range becomes the earliest possible moment.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Converts to chrono's type for formatting. Moments that chrono cannot represent become 1 January 1970.
    pub fn to_utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.0).unwrap_or_default()
    }
}
