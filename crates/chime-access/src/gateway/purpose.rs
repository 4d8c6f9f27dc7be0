//! What a model is asked for.

/// What an answer is for. Each purpose has its own model, breaker and deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A reply to a member, who waits for it.
    Answer,
    /// A text for the memory, made in the background.
    Summary,
    /// Facts in strict JSON: tags, topics, concepts, frames.
    Extract,
}

impl Purpose {
    pub const ALL: [Self; 3] = [Self::Answer, Self::Summary, Self::Extract];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Summary => "summary",
            Self::Extract => "extract",
        }
    }

    /// The most tokens that an answer for this purpose may have.
    pub fn max_answer_tokens(self) -> u32 {
        match self {
            // Chats want short answers; this only stops a model that does not end.
            Self::Answer => 1500,
            Self::Summary => 2000,
            Self::Extract => 1000,
        }
    }
}

/// Which of the two models of a purpose is asked first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Economy {
    #[default]
    Best,
    /// The fallback, which is the cheaper one.
    Cheaper,
}
