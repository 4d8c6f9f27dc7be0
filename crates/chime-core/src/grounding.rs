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

words!(Grounding { Open = "open", Strict = "strict" });

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

words!(LinkReading { Off = "off", Asked = "asked", On = "on" });

/// Uncertainty that the model states about its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncertainty {
    Low,
    Medium,
    High,
}

words!(Uncertainty { Low = "low", Medium = "medium", High = "high" });
