//! Request dialects: the request parameters that a model does not accept in their default form. Learned from refusals.

/// Deviations of a model from the default request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialect {
    /// `true` if the limit is named `max_completion_tokens`: OpenAI's reasoning models refuse the older name.
    pub completion_limit: bool,
    /// Largest limit that the server accepts, if it named one when it refused a larger one.
    pub most_tokens: Option<u32>,
    /// `true` if the limit is refused by either name, so that requests contain none.
    pub no_limit: bool,
    /// `true` if only the default temperature is accepted, so that requests contain none.
    pub default_temperature: bool,
    /// `true` if `response_format` is refused, so that only the prompt can ask for a format.
    pub free_form: bool,
    /// `true` if `stream_options` is refused, so that streams report no token counts.
    pub uncounted_stream: bool,
    pub no_tools: bool,
    pub no_pictures: bool,
    /// `true` if there is no system role and roles must alternate: instructions go into the first user message.
    pub no_system: bool,
    /// `true` if requests with earlier tool calls must also contain the model's reasoning before these calls.
    pub wants_thoughts: bool,
    /// `true` if the model accepted a `response_format` before. A status 500 then has another cause.
    pub takes_forms: bool,
    /// Search for the refused parameter: position in `Suspect::ALL`, counted from 1, of the one to omit in the next
    /// call. 0 if no search is under way.
    pub suspect: usize,
}

impl Dialect {
    /// Returns the limit of an answer that may have `wanted` tokens.
    pub fn answer_tokens(self, wanted: u32) -> u32 {
        self.most_tokens.map_or(wanted, |most| wanted.min(most))
    }
}
