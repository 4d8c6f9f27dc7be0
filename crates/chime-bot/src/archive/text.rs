//! Parses a text of an export, which is a string or a list of plain and formatted pieces.

use serde_json::Value;

use chime_core::{Entity, EntityKind, FormattedText, UserId, UserRef, utf16_len};

pub fn formatted(value: Option<&Value>) -> FormattedText {
    let mut text = FormattedText::default();
    match value {
        Some(Value::String(plain)) => plain.clone_into(&mut text.text),
        Some(Value::Array(pieces)) => pieces.iter().for_each(|piece| add(&mut text, piece)),
        Some(_) | None => {}
    }
    text
}

fn add(text: &mut FormattedText, piece: &Value) {
    let (said, kind) = match piece {
        Value::String(plain) => (plain.as_str(), None),
        piece => (piece["text"].as_str().unwrap_or_default(), kind(piece)),
    };
    let length = utf16_len(said);
    if let Some(kind) = kind.filter(|_| length > 0) {
        text.entities.push(Entity { offset: utf16_len(&text.text), length, kind });
    }
    text.text.push_str(said);
}

/// Returns the kind of formatting of a piece. Exports use other names than the Bot API for some kinds.
fn kind(piece: &Value) -> Option<EntityKind> {
    Some(match piece["type"].as_str()? {
        "mention" => EntityKind::Mention,
        "mention_name" => EntityKind::TextMention { user: UserRef { id: UserId(piece["user_id"].as_i64()?) } },
        "text_link" => EntityKind::TextLink { url: piece["href"].as_str()?.to_owned() },
        "bot_command" => EntityKind::BotCommand,
        "bold" => EntityKind::Bold,
        "italic" => EntityKind::Italic,
        "underline" => EntityKind::Underline,
        "strikethrough" => EntityKind::Strikethrough,
        "spoiler" => EntityKind::Spoiler,
        "code" => EntityKind::Code,
        "pre" => {
            EntityKind::Pre { language: piece["language"].as_str().filter(|name| !name.is_empty()).map(str::to_owned) }
        }
        "blockquote" => EntityKind::Blockquote,
        "link" => EntityKind::Url,
        "email" => EntityKind::Email,
        "hashtag" => EntityKind::Hashtag,
        "plain" => return None,
        _ => EntityKind::Other,
    })
}
