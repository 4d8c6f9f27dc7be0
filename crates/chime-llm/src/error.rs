//! Errors of model calls, classified by what the caller can do.

use std::fmt;
use std::time::Duration;

/// A failed model call. Its text is safe to log: it contains no prompt, answer, key or address.
#[derive(Debug, thiserror::Error)]
pub enum LlmError {
    /// Too many calls, or too many tokens per minute.
    #[error("the model server asks us to slow down")]
    Throttled { retry_after: Option<Duration> },
    /// The server is temporarily unable to answer.
    #[error("the model server is out of order (HTTP {status})")]
    Unavailable { status: u16, retry_after: Option<Duration> },
    /// The connection failed, or broke before the answer was complete.
    #[error("the model server cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// No complete answer arrived within the time limit of the call or of all attempts.
    #[error("the model took too long")]
    TimedOut,
    #[error("the prompt is too long for the model")]
    PromptTooLong,
    /// A permanent refusal: an operator must change something.
    #[error("the model server refused ({reason}): check {check}")]
    Refused {
        /// The status and the server's error code, as in `HTTP 401, invalid_api_key`.
        reason: String,
        check: Check,
    },
    #[error("the model's content filter withheld the answer")]
    Filtered,
    /// The model's reasoning used up the token limit of the answer.
    #[error("the model thinks longer than the limit of tokens allows, and gave no answer")]
    NoRoom,
    #[error("the model server's answer broke off")]
    BrokeOff,
    /// The call succeeded without any text.
    #[error("the model answered without text")]
    Empty,
    /// The call succeeded with one character or word that repeats without end, as from broken drivers of a GPU.
    #[error("the model writes only noise: one character or word again and again")]
    Noise,
    /// The call succeeded with reasoning in a field of its own, and without any text.
    #[error("the model server sent the whole answer as reasoning")]
    OnlyThoughts,
    /// The response is not a complete chat completion.
    #[error("the model server's answer cannot be used: {what}")]
    Malformed { what: &'static str },
    /// The settings are unusable for any call.
    #[error("the model is not configured: {0}")]
    NotConfigured(&'static str),
}

/// The setting or account that an operator should check after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Key,
    /// Balance, or a spending limit of the account.
    Credit,
    /// The key is valid but lacks permission.
    Access,
    Model,
    Address,
    /// The server rejected the request for a reason that is none of the others.
    Request,
    /// As [`Request`](Self::Request), and the server rejects the shortest request too.
    EveryRequest,
}

/// Action by which the caller can recover from an [`LlmError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// The same call may succeed later, after the given delay if there is one.
    RetryLater(Option<Duration>),
    /// A shorter prompt may succeed at once.
    ShrinkPrompt,
    /// The same call will fail again.
    GiveUp,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "OPENAI_API_KEY",
            Self::Credit => "the account's credit and limits",
            Self::Access => "that OPENAI_API_KEY may use this model",
            Self::Model => "the model's name and OPENAI_BASE_URL",
            Self::Address => "OPENAI_BASE_URL, which ends in /v1",
            Self::Request => "that this model can chat",
            Self::EveryRequest => "the model's name, the account and the model server's own log",
        })
    }
}

impl LlmError {
    /// Returns `true` if the request itself causes the error: the server works, and other requests may succeed.
    pub fn is_about_the_request(&self) -> bool {
        matches!(
            self,
            Self::PromptTooLong
                | Self::Filtered
                | Self::Empty
                | Self::Noise
                | Self::OnlyThoughts
                | Self::NoRoom
                | Self::Malformed { .. }
                | Self::Refused { check: Check::Request, .. }
        )
    }

    pub fn recovery(&self) -> Recovery {
        match self {
            Self::Throttled { retry_after } | Self::Unavailable { retry_after, .. } => {
                Recovery::RetryLater(*retry_after)
            }
            Self::Unreachable(_) | Self::TimedOut | Self::BrokeOff => Recovery::RetryLater(None),
            Self::PromptTooLong => Recovery::ShrinkPrompt,
            _ => Recovery::GiveUp,
        }
    }

    /// Returns `true` if the server is starting, loading the model or overloaded, and does not say for how long.
    pub(super) fn is_of_busy_server(&self) -> bool {
        let retry_after = match self {
            Self::Throttled { retry_after } | Self::Unavailable { status: 502 | 503, retry_after } => retry_after,
            _ => return false,
        };
        retry_after.is_none()
    }

    /// Returns `true` if the model may have read the prompt, so that the call costs money.
    pub fn may_have_cost(&self) -> bool {
        match self {
            Self::TimedOut
            | Self::BrokeOff
            | Self::Filtered
            | Self::Empty
            | Self::Noise
            | Self::OnlyThoughts
            | Self::NoRoom
            | Self::Malformed { .. } => true,
            Self::Unreachable(error) => !error.is_connect(),
            _ => false,
        }
    }

    /// Returns a one-word name for logs and metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Throttled { .. } => "throttled",
            Self::Unavailable { .. } => "unavailable",
            Self::Unreachable(_) => "unreachable",
            Self::TimedOut => "timed_out",
            Self::PromptTooLong => "prompt_too_long",
            Self::Refused { .. } => "refused",
            Self::Filtered => "filtered",
            Self::Empty => "empty",
            Self::Noise => "noise",
            Self::OnlyThoughts => "only_thoughts",
            Self::NoRoom => "no_room",
            Self::BrokeOff => "broke_off",
            Self::Malformed { .. } => "malformed",
            Self::NotConfigured(_) => "not_configured",
        }
    }

    /// Returns `true` if another model may succeed. It `is_elsewhere` if it has another address or another key.
    pub(super) fn another_model_may_help(&self, is_elsewhere: bool) -> bool {
        match self {
            Self::Refused { check: Check::Key | Check::Address, .. } => is_elsewhere,
            // The caller shortens the prompt, which the primary model can then answer.
            Self::PromptTooLong | Self::NotConfigured(_) => false,
            _ => true,
        }
    }
}
