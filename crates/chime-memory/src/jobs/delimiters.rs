//! Delimiters around members' text in a prompt, so that the model can tell it from instructions.

/// Returns a random delimiter, which the authors of messages cannot know and so cannot imitate.
pub(super) fn fence() -> String {
    let code = ulid::Ulid::from_parts(0, chime_runtime::resilience::random().into()).to_string();
    code.get(12..).unwrap_or(&code).to_owned()
}

/// Puts delimiters around members' text, after removing `fence` from it.
pub(super) fn fenced(text: &str, fence: &str) -> String {
    format!("<<<chat {fence}\n{}\n{fence} chat>>>", text.replace(fence, ""))
}
