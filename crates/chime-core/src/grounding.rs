//! What an answer may rest on, and how sure its author is of it.

/// What answers in a chat may rest on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Grounding {
    /// What the chat said, and what the model knows of the world.
    #[default]
    Open,
    /// Only what the chat said.
    Strict,
}

impl Grounding {
    pub const ALL: [Self; 2] = [Self::Open, Self::Strict];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Strict => "strict",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grounding| grounding.as_str() == raw)
    }
}

/// How unsure the model says that its answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncertainty {
    Low,
    Medium,
    High,
}

impl Uncertainty {
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|uncertainty| uncertainty.as_str().eq_ignore_ascii_case(raw))
    }
}
