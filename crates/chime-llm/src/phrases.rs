//! Phrases by which refusals of model servers and transcripts of silence are recognised.

use std::sync::LazyLock;

use serde::Deserialize;

/// The lists of `phrases.toml`, which describes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phrases {
    pub too_long: Vec<String>,
    pub no_credit: Vec<String>,
    pub wrong_key: Vec<String>,
    pub unknown_model: Vec<String>,
    pub no_access: Vec<String>,
    pub not_loaded: Vec<String>,
    pub filtered: Vec<String>,
    pub sees_nothing: Vec<String>,
    pub of_pictures: Vec<String>,
    pub no_system: Vec<String>,
    pub before_size: Vec<String>,
    pub silence: Vec<String>,
    pub subtitle_credits: Vec<String>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
pub static PHRASES: LazyLock<Phrases> =
    LazyLock::new(|| toml::from_str(include_str!("phrases.toml")).expect("phrases of the right form"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_phrases_are_read() {
        assert!(PHRASES.too_long.iter().any(|phrase| phrase == "context length"));
    }
}
