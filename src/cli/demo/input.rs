//! What a typed line means.

/// Who speaks when no name is given.
pub const YOU: &str = "You";

/// The longest name before a colon; beyond it the colon belongs to a sentence.
const MAX_NAME_WORDS: usize = 3;

/// A line as a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said<'a> {
    pub name: &'a str,
    /// The id shown beside the message that this one replies to.
    pub reply_to: Option<i64>,
    pub text: &'a str,
}

/// Reads `text`, `> ID text`, `NAME: text` or `NAME > ID: text`; none for an empty line.
pub fn parse(line: &str) -> Option<Said<'_>> {
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    if let Some((reply_to, text)) = own_reply(line) {
        return Some(Said { name: YOU, reply_to: Some(reply_to), text });
    }
    Some(named(line).unwrap_or(Said { name: YOU, reply_to: None, text: line }))
}

/// `> 12 text`, also `> 12: text`.
fn own_reply(line: &str) -> Option<(i64, &str)> {
    let rest = line.strip_prefix('>')?.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let id = rest[..digits].parse().ok()?;
    let text = rest[digits..].trim_start_matches(':').trim();
    (!text.is_empty()).then_some((id, text))
}

/// `NAME: text` and `NAME > 12: text`.
fn named(line: &str) -> Option<Said<'_>> {
    let (head, text) = line.split_once(": ")?;
    let (name, reply_to) = match head.split_once('>') {
        Some((name, id)) => (name, Some(id.trim().parse().ok()?)),
        None => (head, None),
    };
    let (name, text) = (name.trim(), text.trim());
    let is_name = name.chars().next().is_some_and(char::is_uppercase)
        && name.split_whitespace().count() <= MAX_NAME_WORDS
        && name.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || matches!(c, '\'' | '-' | '.'));
    (is_name && !text.is_empty()).then_some(Said { name, reply_to, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        let read = parse(line).map_or("nothing".to_owned(), |said| {
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
    }

    #[test]
    fn a_name_in_front_speaks() {
        check("Ana: the thai place?", "Ana: the thai place?");
        check("Mary Jane: hi: there", "Mary Jane: hi: there");
    }

    #[test]
    fn an_arrow_replies() {
        check("Ana > 12: which one?", "Ana > 12: which one?");
        check("> 12 /why", "You > 12: /why");
        check("> 12: @bot", "You > 12: @bot");
        check(">12 @bot", "You > 12: @bot");
    }
}
