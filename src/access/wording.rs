//! The answers to `/claim`. All of them Markdown.

/// The answer to `/claim` with the right code, or from an owner.
pub fn claimed() -> String {
    "You own me now. Add me to a group, and I work there; others cannot add me anywhere. What I keep and for how long: \
     /privacy"
        .to_owned()
}

/// The answer to `/claim` with a wrong code.
pub fn wrong_code() -> String {
    "That is not the code. It is shown where `chime run` was started, and it changes with every start.".to_owned()
}

/// The answer to `/claim` in a group.
pub fn claim_in_private() -> String {
    "Send me /claim with the code in private; a group is no place for it.".to_owned()
}
