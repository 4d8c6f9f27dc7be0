//! Buttons below a message of the demo. The user presses one by typing a reply.

use chime_sandbox::SandboxMessage;

/// Start of a reply that presses a button of the message replied to.
const PRESS: &str = "!";

/// Button below a message.
pub struct ShownButton {
    pub label: String,
    pub data: String,
}

impl ShownButton {
    /// Returns `true` if `typed` is the label of this button. An empty text means any button.
    pub fn is_named(&self, typed: &str) -> bool {
        typed.is_empty() || self.words().to_lowercase() == typed.to_lowercase()
    }

    /// Returns the label without the mark of the current choice.
    fn words(&self) -> &str {
        self.label.trim_start_matches("✓ ")
    }
}

/// Returns the label after `!`, which may be empty. Returns `None` if the text does not press a button.
pub fn pressed(text: &str) -> Option<&str> {
    let label = text.strip_prefix(PRESS)?;
    (label.is_empty() || label.starts_with(' ')).then(|| label.trim())
}

/// Returns the rows of buttons below a message.
pub fn below(message: &SandboxMessage) -> Vec<Vec<ShownButton>> {
    let rows = message.buttons.as_ref().and_then(|markup| markup["inline_keyboard"].as_array());
    let read = |button: &serde_json::Value| {
        let (label, data) = (button["text"].as_str()?.to_owned(), button["callback_data"].as_str()?.to_owned());
        Some(ShownButton { label, data })
    };
    let rows = rows.into_iter().flatten().filter_map(|row| row.as_array());
    rows.map(|row| row.iter().filter_map(read).collect()).collect()
}

/// Returns the lines that show the buttons below message `id` and explain how to press them.
pub fn lines(id: i64, rows: &[Vec<ShownButton>]) -> Vec<String> {
    let shown = |row: &Vec<ShownButton>| row.iter().map(|button| format!("[{}]", button.label)).collect::<Vec<_>>();
    let mut lines: Vec<String> = rows.iter().map(|row| format!("            {}", shown(row).join(" "))).collect();
    let buttons: Vec<&ShownButton> = rows.iter().flatten().collect();
    match buttons[..] {
        [] => {}
        [_] => lines.push(format!("            press it with `> {id} {PRESS}`")),
        [first, ..] => lines.push(format!("            press one by its words: `> {id} {PRESS} {}`", first.words())),
    }
    lines
}
