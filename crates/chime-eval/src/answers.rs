//! Cases with known right answers, and the judgement of answers to them.

mod case;
mod judge;
mod language;
mod table;

pub use case::{Case, CaseKind, CaseLine, read, read_day};
pub use judge::{AnswerJudgement, CaseAnswer, Judge};
pub use language::{Detector, UnknownLanguage};
pub use table::{AnswerFigures, Answerer, Judged, table};
