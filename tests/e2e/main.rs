//! The whole daemon against an embedded Telegram and a scripted model: what members and operators see.

#![expect(clippy::expect_used, clippy::panic, reason = "a step that fails is the test failing")]

mod budgets;
mod limits;
mod operator;
