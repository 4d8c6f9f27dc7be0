//! Health and metrics of the daemon for other programs: `/healthz` and `/metrics`. Both are read-only and show no
//! members' text.
//!
//! [`server::HealthServer`] serves the requests, and `report.rs` builds the responses.

mod report;
pub mod server;

pub use report::{Health, Status, Vitals};
