//! Generated exports of Telegram Desktop, of any length, with every kind of message in the format.

use std::io::{self, Write};

use serde_json::{Value, json};

use chime_core::Timestamp;

#[derive(Debug, Clone, Copy)]
pub struct Export {
    /// Chat id in the format, without the `-100` prefix of the Bot API.
    pub chat: i64,
    /// Chat type, such as `private_supergroup`.
    pub kind: &'static str,
    pub messages: i64,
    /// Date of the last message; the others precede it, one minute apart.
    pub until: Timestamp,
}

impl Export {
    /// Writes the file message by message.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "{{\n \"name\": \"Friday table\",\n \"type\": \"{}\",\n \"id\": {},\n \"messages\": [",
            self.kind, self.chat
        )?;
        for id in 1..=self.messages {
            let separator = if id == 1 { "\n" } else { ",\n" };
            write!(out, "{separator}{}", self.message(id))?;
        }
        out.write_all(b"\n ]\n}\n")?;
        out.flush()
    }

    /// Returns message `id`. Odd ones are plain text; even ones cycle through the other kinds.
    pub fn message(&self, id: i64) -> Value {
        let secs = self.until.secs() - (self.messages - id) * 60;
        let author = id % 7;
        let mut message = json!({
            "id": id, "type": "message", "date": local(secs), "date_unixtime": secs.to_string(),
            "from": format!("Member {author}"), "from_id": format!("user{}", 5000 + author),
            "text": format!("message {id} says that the boat number {} leaves for the lake{}", id * 7919 % 1000, more_words(id)),
            "text_entities": [],
        });
        let kinds: Vec<&str> = KINDS.lines().collect();
        let more = match id % 2 {
            0 => self.special(kinds[usize::try_from(id / 2).unwrap_or_default() % kinds.len()], id, secs),
            _ if id > 3 && id % 3 == 0 => json!({"reply_to_message_id": id - 3}),
            _ => json!({}),
        };
        if let (Some(message), Value::Object(more)) = (message.as_object_mut(), more) {
            message.extend(more);
            message.retain(|_, value| *value != json!(LEFT_OUT));
        }
        message
    }

    /// Returns the fields that differ from plain text.
    #[expect(clippy::expect_used, reason = "the file is part of the test kit")]
    fn special(&self, kind: &str, id: i64, secs: i64) -> Value {
        let fields = kind
            .replace("{author}", &(id % 7).to_string())
            .replace("{user}", &(5000 + id % 7).to_string())
            .replace("{before}", &(id - 1).to_string())
            .replace("{chat}", &self.chat.to_string())
            .replace("{edited}", &(secs + 30).to_string())
            .replace("{local}", &local(secs + 60));
        serde_json::from_str(&fields).expect("the fields of a message")
    }
}

/// Fields of each kind of message that is not plain text, also of rare kinds, of variants in older and newer versions of
/// the format (before 2022, dates had no Unix time), and of service messages. One kind per line, with placeholders.
const KINDS: &str = include_str!("exports/kinds.txt");
/// Placeholder for a key to remove.
const LEFT_OUT: &str = "(left out)";

fn local(secs: i64) -> String {
    chrono::DateTime::from_timestamp(secs, 0).map_or_else(String::new, |at| at.format("%Y-%m-%dT%H:%M:%S").to_string())
}

/// Returns up to twelve more words, because texts in groups vary in length.
fn more_words(id: i64) -> String {
    const WORDS: [&str; 24] = [
        "harbour", "ticket", "tomorrow", "rain", "cheese", "ladder", "minutes", "cousin", "printer", "garden",
        "signal", "price", "candle", "bridge", "weekend", "battery", "market", "guitar", "window", "doctor", "ferry",
        "paint", "recipe", "key",
    ];
    let count = usize::try_from(id * 31 % 13).unwrap_or_default();
    let start = usize::try_from(id * 7).unwrap_or_default();
    (0..count).map(|step| format!(" {}", WORDS[(start + step * (1 + start % 5)) % WORDS.len()])).collect()
}
