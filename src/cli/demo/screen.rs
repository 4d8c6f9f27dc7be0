//! Prints the demo: as text for people, or as one JSON object per line.

use std::io::{self, IsTerminal, Write};

use serde_json::{Value, json};

use chime_core::{AnswerRecord, Timestamp, Zone};
use chime_sandbox::SandboxMessage;

/// Number of columns before the name, as in `#12 18:40  `. The later lines of a text are indented by `INDENT`.
const HEAD_WIDTH: usize = 13;
const INDENT: &str = "            ";
/// Maximum width of a line, also used if the terminal does not report its width, and minimum width.
const MOST_COLUMNS: usize = 110;
const FEWEST_COLUMNS: usize = 40;

/// Returns the number of columns for a line.
fn width() -> usize {
    let described = rustix::termios::tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    let described = if described == 0 { MOST_COLUMNS } else { described };
    described.clamp(FEWEST_COLUMNS, MOST_COLUMNS)
}

/// Breaks `text` between words so that its lines have at most `width` columns. `taken` columns of the first line are in
/// use already.
fn wrapped(text: &str, width: usize, taken: usize) -> String {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in paragraph.split(' ') {
            let used = if lines.is_empty() { taken } else { INDENT.len() } + line.chars().count();
            if !line.is_empty() && used + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            } else if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join(&format!("\n{INDENT}"))
}

/// Source of an answer, with the id that the demo shows for it.
pub struct ShownSource {
    pub id: i64,
    pub link: Option<String>,
    pub text: String,
}

/// Output of the demo. Ignores errors of writing, which mean that the reader closed the pipe.
pub struct Screen {
    form: Form,
    last_day: Option<String>,
    zone: Zone,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Plain,
    Coloured,
}

impl Screen {
    pub fn new(json: bool, zone: Zone) -> Self {
        let form = match (json, io::stdout().is_terminal()) {
            (true, _) => Form::Json,
            (false, true) => Form::Coloured,
            (false, false) => Form::Plain,
        };
        Self { form, last_day: None, zone }
    }

    pub fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Prints text that is not part of the chat. JSON output does not have it.
    pub fn say(&self, text: &str) {
        if !self.is_json() {
            self.line(text);
        }
    }

    pub fn message(&mut self, message: &SandboxMessage, from: &str) {
        if self.is_json() {
            return self.object(&json!({
                "event": "message", "id": message.id, "date": message.date.secs(), "from": from,
                "reply_to": message.reply_to, "text": message.text,
            }));
        }
        self.spoken(message, from);
    }

    pub fn answer(&mut self, message: &SandboxMessage, from: &str, record: &AnswerRecord, sources: &[ShownSource]) {
        if self.is_json() {
            let sources: Vec<Value> = sources
                .iter()
                .map(|source| json!({ "id": source.id, "link": source.link, "text": source.text }))
                .collect();
            let window: Vec<Value> = record
                .window
                .iter()
                .map(|chosen| {
                    json!({
                        "id": chosen.id, "part": chosen.reason.part(), "reason": chosen.reason, "score": chosen.score,
                    })
                })
                .collect();
            return self.object(&json!({
                "event": "answer", "id": message.id, "reply_to": message.reply_to, "text": message.text,
                "sources": sources, "window": window, "model": record.model, "ms": record.latency_ms,
            }));
        }
        self.spoken(message, from);
        let cited: Vec<String> = sources.iter().map(|source| format!("#{}", source.id)).collect();
        let cited = if cited.is_empty() { String::new() } else { format!("cites {} · ", cited.join(" ")) };
        self.line(&self.dim(&format!("{INDENT}{cited}{} · {} ms", record.model, record.latency_ms)));
    }

    pub fn notice(&mut self, message: &SandboxMessage, from: &str) {
        if self.is_json() {
            return self.object(&json!({
                "event": "notice", "id": message.id, "reply_to": message.reply_to, "text": message.text,
            }));
        }
        self.spoken(message, from);
    }

    pub fn reaction(&self, id: i64, emoji: &str) {
        match self.form {
            Form::Json => self.object(&json!({ "event": "notice", "reply_to": id, "text": emoji })),
            Form::Plain | Form::Coloured => self.line(&self.dim(&format!("            {emoji} on #{id}"))),
        }
    }

    pub fn error(&self, text: &str) {
        match self.form {
            Form::Json => self.object(&json!({ "event": "error", "text": text })),
            Form::Plain | Form::Coloured => self.line(text),
        }
    }

    fn day(&mut self, at: Timestamp) {
        let day = self.zone.day_in_words(at);
        if self.last_day.as_ref() != Some(&day) {
            self.line("");
            self.line(&self.dim(&format!("            {day}")));
            self.last_day = Some(day);
        }
    }

    /// Prints a message as `#12 18:40  Ana > #9  text`, below the day if it is another one. The later lines of the text
    /// are indented.
    fn spoken(&mut self, message: &SandboxMessage, from: &str) {
        self.day(message.date);
        let reply = message.reply_to.map_or(String::new(), |id| format!(" > #{id}"));
        let head = self.dim(&format!("{:>5} {}  ", format!("#{}", message.id), self.zone.clock_time(message.date)));
        let taken = HEAD_WIDTH + from.chars().count() + reply.len() + 2;
        let text = match self.form {
            Form::Coloured => wrapped(&message.text, width(), taken),
            Form::Json | Form::Plain => message.text.replace('\n', "\n            "),
        };
        self.line(&format!("{head}{}{}  {text}", self.bold(from), self.dim(&reply)));
    }

    fn bold(&self, text: &str) -> String {
        if self.form == Form::Coloured { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn dim(&self, text: &str) -> String {
        if self.form == Form::Coloured { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }

    fn object(&self, object: &Value) {
        self.line(&object.to_string());
    }

    fn line(&self, text: &str) {
        let mut out = io::stdout().lock();
        let _ = writeln!(out, "{text}").and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_keep_their_indent() {
        assert_eq!(wrapped("one two three", 20, 13), "one two\n            three");
        assert_eq!(wrapped("a\nb", 40, 13), "a\n            b");
        assert_eq!(wrapped("unbreakable-and-long", 15, 13), "unbreakable-and-long");
    }
}
