//! Purposes of model calls, and their models and answer lengths.

/// Purpose of a model call. Each has its own model and circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelPurpose {
    /// Reply to a member, who waits for it.
    Answer,
    /// Text for the memory, made in the background.
    Summary,
    /// Facts in strict JSON: tags, topics, concepts, frames.
    Extract,
}

chime_core::words!(ModelPurpose { Answer = "answer", Summary = "summary", Extract = "extract" });

impl ModelPurpose {
    /// Returns the maximal length of the model's output, in tokens.
    pub fn max_answer_tokens(self) -> u32 {
        match self {
            // Answers in chats are shorter than this: the limit only stops a model that would write without end.
            Self::Answer => 1500,
            Self::Summary => 2000,
            Self::Extract => 1000,
        }
    }
}

/// Choice between the model of a purpose and its fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelPreference {
    Best,
    /// The fallback model (`MODEL_FALLBACK`), which is cheaper.
    Cheaper,
}
