//! Parses the lines that a user types into the demo.

use std::io::IsTerminal;

use rustyline::DefaultEditor;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

/// Author of a typed line that names no author.
pub const YOU: &str = "You";

/// Maximum number of words in a name before a colon. With more words, the colon is part of a sentence.
const MAX_NAME_WORDS: usize = 3;

/// Typed line, parsed as a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedMessage<'a> {
    pub name: &'a str,
    /// Id of the message that this one replies to.
    pub reply_to: Option<i64>,
    pub text: &'a str,
}

/// Source of typed lines.
pub enum Input {
    /// Editor with a history of earlier lines; `None` while it waits for one.
    Terminal(Option<DefaultEditor>),
    Piped(Lines<BufReader<Stdin>>),
}

impl Input {
    /// Uses an editor if a person types in a terminal. A program that reads JSON writes plain lines.
    pub fn new(is_json: bool) -> Self {
        let is_watched = !is_json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        match is_watched.then(DefaultEditor::new) {
            Some(Ok(editor)) => Self::Terminal(Some(editor)),
            _ => Self::Piped(BufReader::new(tokio::io::stdin()).lines()),
        }
    }

    /// Waits for the next line; a pasted text may have several. Returns `None` at the end of the input.
    pub async fn next(&mut self) -> std::io::Result<Option<String>> {
        let editor = match self {
            Self::Piped(lines) => return lines.next_line().await,
            Self::Terminal(editor) => editor,
        };
        let Some(mut waiting) = editor.take() else { return Ok(None) };
        let reading = tokio::task::spawn_blocking(move || {
            let line = waiting.readline("> ").ok();
            if let Some(line) = line.as_ref().filter(|line| !line.trim().is_empty()) {
                let _ = waiting.add_history_entry(line);
            }
            (waiting, line)
        });
        let Ok((waiting, line)) = reading.await else { return Ok(None) };
        *editor = Some(waiting);
        Ok(line)
    }
}

/// Command that the demo handles itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemoCommand {
    Quit,
    Help,
}

/// Returns the demo command for words that people type to quit or to get help. Returns `None` for any other line.
pub fn order(line: &str) -> Option<DemoCommand> {
    match line.trim().to_lowercase().as_str() {
        "exit" | "quit" | "q" | ":q" | ":q!" | ":wq" | "/quit" | "/exit" | "bye" => Some(DemoCommand::Quit),
        "help" | "?" | "h" | ":help" => Some(DemoCommand::Help),
        _ => None,
    }
}

/// Adds the bot's name to a command if the text has none. The bot is the only one in this chat, so it must be meant.
pub fn addressed(text: &str, bot: &str) -> String {
    let (command, rest) = text.split_once(char::is_whitespace).map_or((text, ""), |(first, rest)| (first, rest));
    let is_named = text.to_lowercase().contains(&format!("@{bot}"));
    match command.strip_prefix('/').filter(|_| !is_named) {
        Some(name) if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
            format!("{command}@{bot} {rest}").trim_end().to_owned()
        }
        _ => text.to_owned(),
    }
}

/// Parses a line with a message: `text`, `> ID text`, `NAME: text` or `NAME > ID: text`. A name that `is_known` may have
/// any form. Returns `None` for an empty line.
pub fn parse(line: &str, is_known: impl Fn(&str) -> bool) -> Option<TypedMessage<'_>> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    if let Some((reply_to, text)) = own_reply(line) {
        return Some(TypedMessage { name: YOU, reply_to: Some(reply_to), text });
    }
    Some(named(line, is_known).unwrap_or(TypedMessage { name: YOU, reply_to: None, text: line }))
}

/// Parses a reply without a name: `> 12 text` or `> 12: text`. The text is empty if nothing follows the id.
fn own_reply(line: &str) -> Option<(i64, &str)> {
    let rest = line.strip_prefix('>')?.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let id = rest[..digits].parse().ok()?;
    Some((id, rest[digits..].trim_start_matches(':').trim()))
}

/// Parses a message with its author: `NAME: text` or `NAME > 12: text`.
fn named(line: &str, is_known: impl Fn(&str) -> bool) -> Option<TypedMessage<'_>> {
    let (head, text) = line.split_once(": ")?;
    let (name, reply_to) = match head.split_once('>') {
        Some((name, id)) => (name, Some(id.trim().parse().ok()?)),
        None => (head, None),
    };
    let (name, text) = (name.trim(), text.trim());
    // Many scripts have no capital letters, and names with digits often have none.
    let is_uncased = |c: char| c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase();
    let is_handle = name.chars().next().is_some_and(char::is_alphabetic)
        && name.contains(char::is_numeric)
        && !name.contains(char::is_whitespace);
    let begins_name = name.chars().next().is_some_and(|c| c.is_uppercase() || is_uncased(c)) || is_handle;
    let is_name = begins_name
        && name.chars().any(|c| c.is_lowercase() || is_uncased(c))
        && name.split_whitespace().count() <= MAX_NAME_WORDS
        && name.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '\'' | '-' | '.'));
    ((is_name || is_known(name)) && !text.is_empty()).then_some(TypedMessage { name, reply_to, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_leave_and_ask_for_help_in_many_words() {
        assert_eq!(
            [":q", "Quit ", "exit", "help", "?"].map(order).map(|it| it == Some(DemoCommand::Quit)),
            [true, true, true, false, false]
        );
        assert_eq!(order("help me with the projector"), None);
    }

    #[test]
    fn a_command_is_for_the_bot() {
        assert_eq!(addressed("/forget me 1h", "bot"), "/forget@bot me 1h");
        assert_eq!(addressed("/help", "bot"), "/help@bot");
        assert_eq!(addressed("/help@bot", "bot"), "/help@bot");
        assert_eq!(addressed("see /tmp/x", "bot"), "see /tmp/x");
        assert_eq!(addressed("/tmp is full, @Bot why?", "bot"), "/tmp is full, @Bot why?");
    }

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let read = parse(line, |name| name == "erika_m").map_or("nothing".to_owned(), |said| {
            let reply = said.reply_to.map_or(String::new(), |id| format!(" > {id}"));
            format!("{}{reply}: {}", said.name, said.text)
        });
        assert_eq!(read, expected);
    }

    #[test]
    fn plain_text_is_you() {
        check("@bot thoughts?", "You: @bot thoughts?");
        check("  ", "nothing");
        check("look at https://example.org: nice", "You: look at https://example.org: nice");
        check("so: what now", "You: so: what now");
        check("5 > 3", "You: 5 > 3");
        check("TODO: buy wine", "You: TODO: buy wine");
    }

    #[test]
    fn a_name_in_front_speaks() {
        check("Ana: the thai place?", "Ana: the thai place?");
        check("Mary Jane: hi: there", "Mary Jane: hi: there");
        check("سارا: @bot", "سارا: @bot");
        check("sudden6: @bot thoughts?", "sudden6: @bot thoughts?");
        check("erika_m: @bot thoughts?", "erika_m: @bot thoughts?");
    }

    #[test]
    fn an_arrow_replies() {
        check("Ana > 12: which one?", "Ana > 12: which one?");
        check("> 12 /why", "You > 12: /why");
        check("> 12: @bot", "You > 12: @bot");
        check(">12 @bot", "You > 12: @bot");
        check("> 12", "You > 12: ");
        check("> twelve", "You: > twelve");
    }
}
