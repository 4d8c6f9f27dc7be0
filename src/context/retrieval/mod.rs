//! Further back than the candidates: where the matter of a trigger began, if that was before all of them.
//!
//! In a group of five hundred messages a day the last two hundred are one afternoon. What was picked of them, and what was
//! asked, says what is sought (`query`): its words are searched for in all that is older. Where they were said (`passages`) says how much
//! that tells: a word that this chat says once a month is no accident three days back, and is one three years back. The
//! hits are read and compared with it (`rerank`), and of what is accepted the talk around it comes along
//! (`expand`). Precision first: what is not clearly about the same is left where it is.

pub mod archive;
pub mod expand;
pub mod found;
pub mod passages;
pub mod query;
pub mod rerank;
