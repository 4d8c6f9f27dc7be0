//! Tests the parts of `benches/fit` that could fail silently: learning, gold, and the written files.

#![expect(clippy::expect_used, reason = "a file that cannot be read fails the test that reads it")]

#[expect(dead_code, reason = "the command uses more of it")]
#[path = "../../benches/fit/learn.rs"]
mod learn;
#[expect(dead_code, reason = "the command uses more of it")]
#[path = "../../benches/fit/truth.rs"]
mod truth;
#[expect(dead_code, reason = "the command uses more of it")]
#[path = "../../benches/fit/written.rs"]
mod written;

mod files;
mod gold;
mod learning;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
