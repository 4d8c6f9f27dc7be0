//! Cases with known right answers, and the judgement of answers to them.

mod case;
mod judge;
mod language;
mod table;

pub use case::{Case, CaseError, Kind, Line, read};
pub use judge::{Answer, Judge, Verdict};
pub use language::{Detector, UnknownLanguage};
pub use table::{Answerer, Figures, Judged, table};
