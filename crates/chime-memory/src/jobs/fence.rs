//! Delimiters around untrusted text in a prompt.

/// Returns a random delimiter for untrusted text, unknown to its authors.
pub(super) fn fence() -> String {
    let code = ulid::Ulid::from_parts(0, chime_runtime::resilience::random().into()).to_string();
    code.get(12..).unwrap_or(&code).to_owned()
}

/// Wraps untrusted text in fences, so that no line of it looks like ours.
pub(super) fn fenced(text: &str, fence: &str) -> String {
    format!("<<<chat {fence}\n{}\n{fence} chat>>>", text.replace(fence, ""))
}
