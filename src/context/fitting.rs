//! What weights are fitted on, by the code that chooses: rows of features, and the weights as they are written.
//!
//! The daemon does not come here: `benches/fit` does, which knows the right answers.

pub use crate::context::beyond::{
    About, BESIDE, FEATURES as BEYOND_FEATURES, MOST_OF_A_WORD, NAMES as BEYOND_NAMES, ReadSpan, Said, Sought, Span,
    Weights as BeyondWeights, Word, around, beside, compared, spans,
};
pub use crate::context::matters::{
    AGAIN_NAMES, ANCHOR_NAMES, BRIDGE_NAMES, GATE_NAMES, GATE_OF_TAG, KIN_NAMES, Lesson, Weights,
};
pub use crate::context::strands::Asking;
pub use crate::context::strands::rows::{TagRows, again_rows, bridge_lessons, link_rows, tag_rows};
