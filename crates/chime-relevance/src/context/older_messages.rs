//! Finds messages older than all candidates, for subjects that began before them.
//!
//! In a group with 500 messages a day, the last 200 cover only one afternoon. The question and the picked messages form
//! a query (`query`), the search finds messages with its words, and `rerank` scores them. Messages that clearly share
//! the subject join the focus; the others become surroundings if the budget allows.

pub mod query;
pub mod rerank;
