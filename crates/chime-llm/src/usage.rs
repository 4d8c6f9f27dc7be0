//! Token counts of a call, under the names that different servers give them.

use serde::Deserialize;

use crate::fields::{LenientNumber, lenient};
use chime_core::TokenUse;

/// Timings reported by llama.cpp.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Timings {
    #[serde(deserialize_with = "lenient")]
    pub cache_n: LenientNumber,
}

/// Token usage reported by the server.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Usage {
    #[serde(deserialize_with = "lenient")]
    prompt_tokens: LenientNumber,
    #[serde(deserialize_with = "lenient")]
    completion_tokens: LenientNumber,
    #[serde(deserialize_with = "lenient")]
    input_tokens: LenientNumber,
    #[serde(deserialize_with = "lenient")]
    output_tokens: LenientNumber,
    #[serde(deserialize_with = "lenient")]
    prompt_tokens_details: Details,
    #[serde(deserialize_with = "lenient")]
    cached_tokens: LenientNumber,
    #[serde(deserialize_with = "lenient")]
    prompt_cache_hit_tokens: LenientNumber,
    /// Cached prompt tokens that `input_tokens` does not include. The other prompt counts include their cached tokens.
    #[serde(deserialize_with = "lenient")]
    cache_read_input_tokens: LenientNumber,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    #[serde(deserialize_with = "lenient")]
    cached_tokens: LenientNumber,
}

impl Usage {
    pub fn is_counted(&self) -> bool {
        self.counted().is_some()
    }

    /// Returns the prompt tokens that the server took from its cache.
    pub fn reused(&self) -> LenientNumber {
        let named = self.cached_tokens.0.max(self.prompt_cache_hit_tokens.0).max(self.cache_read_input_tokens.0);
        LenientNumber(named.max(self.prompt_tokens_details.cached_tokens.0))
    }

    /// Returns the tokens of the call, or `None` if the server reports no plausible counts.
    pub fn counted(&self) -> Option<TokenUse> {
        /// Implausible count: no call uses this many tokens.
        const TOO_MANY: f64 = 100_000_000.0;
        let apart = if self.prompt_tokens.0 > 0.0 { 0.0 } else { self.cache_read_input_tokens.0 };
        let (prompt, completion) =
            (self.prompt_tokens.0.max(self.input_tokens.0 + apart), self.completion_tokens.0.max(self.output_tokens.0));
        if prompt.max(completion) >= TOO_MANY {
            return None;
        }
        let tokens = TokenUse { prompt: LenientNumber(prompt).whole(), completion: LenientNumber(completion).whole() };
        (tokens.prompt > 0).then_some(tokens)
    }
}
