//! Knowledge that answers may use, pages that are read for them, and the uncertainty that the model states.

/// Knowledge that the answers in a chat may use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Grounding {
    /// Chat messages and the model's general knowledge.
    #[default]
    Open,
    /// Chat messages only.
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

/// Cases in which pages that members link to are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LinkReading {
    Off,
    /// If the question is about a link, or the model asks for the page.
    #[default]
    Asked,
    /// If the messages that the question is about have a link.
    On,
}

impl LinkReading {
    pub const ALL: [Self; 3] = [Self::Off, Self::Asked, Self::On];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Asked => "asked",
            Self::On => "on",
        }
    }

    pub fn parse(raw: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reading| reading.as_str() == raw)
    }
}

/// Uncertainty that the model states about its answer.
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
