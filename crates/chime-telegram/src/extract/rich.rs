//! Rich messages: extracts words and mentions from a tree of blocks and styled text.

use serde_json::{Map, Value};

use chime_core::{Entity, EntityKind, FormattedText, UserId, UserRef, utf16_len};

/// Returns the text of a rich message, one line per block. Of the entities, only mentions, commands, links and code
/// are kept.
pub fn plain(message: &Value) -> FormattedText {
    let mut text = Text::default();
    text.blocks(message.get("blocks"));
    text.finish()
}

#[derive(Default)]
struct Text {
    text: String,
    /// Length of `text` in UTF-16 units.
    length: usize,
    entities: Vec<Entity>,
}

impl Text {
    fn blocks(&mut self, blocks: Option<&Value>) {
        for block in blocks.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
            self.new_line();
            self.block(block);
        }
    }

    /// Writes a block of any type: looks for fields with text by their names, and ignores the block's type.
    fn block(&mut self, block: &Map<String, Value>) {
        for name in ["summary", "expression", "text"] {
            self.styled(block.get(name));
        }
        self.blocks(block.get("blocks"));
        for item in block.get("items").and_then(Value::as_array).into_iter().flatten() {
            self.item(item);
        }
        for row in block.get("cells").and_then(Value::as_array).into_iter().flatten() {
            self.new_line();
            self.row(row);
        }
        for name in ["caption", "credit"] {
            self.new_line();
            self.styled(block.get(name));
        }
    }

    /// Writes an item; its first block continues the line of its label.
    fn item(&mut self, item: &Value) {
        self.new_line();
        self.styled(item.get("label"));
        self.push(" ");
        let mut blocks =
            item.get("blocks").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
        if let Some(first) = blocks.next() {
            self.block(first);
        }
        for block in blocks {
            self.new_line();
            self.block(block);
        }
    }

    fn row(&mut self, row: &Value) {
        for (column, cell) in row.as_array().into_iter().flatten().enumerate() {
            if column > 0 {
                self.push(" | ");
            }
            self.styled(cell.get("text"));
        }
    }

    /// Writes a string, a list of styled texts, or an object that contains one.
    fn styled(&mut self, text: Option<&Value>) {
        match text {
            Some(Value::String(text)) => self.push(text),
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.styled(Some(part))),
            Some(Value::Object(fields)) => {
                let offset = self.length;
                for name in ["text", "expression", "alternative_text", "credit"] {
                    self.styled(fields.get(name));
                }
                let length = self.length - offset;
                self.entities.extend(entity(fields).filter(|_| length > 0).map(|kind| Entity { offset, length, kind }));
            }
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.length += utf16_len(text);
    }

    fn new_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.push("\n");
        }
    }

    fn finish(mut self) -> FormattedText {
        self.text.truncate(self.text.trim_end_matches('\n').len());
        let length = utf16_len(&self.text);
        self.entities.retain(|entity| entity.offset + entity.length <= length);
        self.entities.sort_by_key(|entity| entity.offset);
        FormattedText { text: self.text, entities: self.entities }
    }
}

fn entity(fields: &Map<String, Value>) -> Option<EntityKind> {
    Some(match fields.get("type")?.as_str()? {
        "mention" => EntityKind::Mention,
        "text_mention" => {
            EntityKind::TextMention { user: UserRef { id: UserId(fields.get("user")?.get("id")?.as_i64()?) } }
        }
        "bot_command" => EntityKind::BotCommand,
        "url" => EntityKind::TextLink { url: fields.get("url")?.as_str()?.to_owned() },
        "code" => EntityKind::Code,
        _ => return None,
    })
}
