//! Files attached to messages. Their content is not part of the message and is downloaded only on request.

use serde_json::Value;

use chime_core::MessageAt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedFile {
    /// Telegram's id of the file, valid only for this bot.
    pub id: String,
    /// Id that stays the same when the file is sent again.
    pub unique_id: String,
    pub name: String,
    pub media_type: String,
    /// Size in bytes, if known.
    pub bytes: Option<u64>,
}

/// A voice message or a video note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Telegram's id of the file, valid only for this bot.
    pub id: String,
    pub seconds: u32,
    /// Size in bytes, if known.
    pub bytes: Option<u64>,
    /// Extension of its format, if Telegram gives its type.
    pub extension: Option<&'static str>,
}

/// Parses the recording in message `of` from the stored update `raw`. `None` unless `of` is the update's message or the
/// one that it replies to.
pub fn recording(raw: &str, of: MessageAt) -> Option<Recording> {
    let update: Value = serde_json::from_str(raw).ok()?;
    let said = message_in(&update, of)?;
    let recorded = |file: &&Value| file.is_object();
    let (file, seconds) = match [&said["voice"], &said["video_note"]].into_iter().find(recorded) {
        Some(file) => (file, file["duration"].as_u64()?),
        // A document has no duration.
        None => {
            let file = Some(&said["document"]).filter(recorded)?;
            spoken_extension(file["mime_type"].as_str()?)?;
            (file, file["file_size"].as_u64()? / BYTES_A_SECOND)
        }
    };
    Some(Recording {
        id: file["file_id"].as_str()?.to_owned(),
        seconds: u32::try_from(seconds).ok()?,
        bytes: file["file_size"].as_u64(),
        extension: file["mime_type"].as_str().and_then(spoken_extension),
    })
}

/// Size of a second of compressed speech in bytes, for files whose duration is not known.
const BYTES_A_SECOND: u64 = 8_000;

/// Returns the file name extension of a recording sent as a file; `None` for other types.
pub fn spoken_extension(media_type: &str) -> Option<&'static str> {
    match media_type {
        "audio/ogg" | "audio/opus" => Some("ogg"),
        "audio/mpeg" | "audio/mp3" => Some("mp3"),
        "audio/mp4" | "audio/m4a" | "audio/x-m4a" => Some("m4a"),
        "audio/wav" | "audio/x-wav" => Some("wav"),
        "audio/flac" | "audio/x-flac" => Some("flac"),
        "audio/webm" => Some("webm"),
        _ => None,
    }
}

/// Returns `true` for the types of images that models read.
pub fn is_picture(media_type: &str) -> bool {
    matches!(media_type, "image/jpeg" | "image/png" | "image/webp" | "image/gif")
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Photo {
    /// Telegram's id of the file, valid only for this bot.
    pub id: String,
}

/// Parses the photo in message `of` from the stored update `raw`. `None` unless `of` is the update's message or the one
/// that it replies to. Of its sizes, chooses the largest of at most `most_dots` pixels in width and height, else the
/// smallest. An image sent as a file has one size.
pub fn photo(raw: &str, of: MessageAt, most_dots: u64) -> Option<Photo> {
    let update: Value = serde_json::from_str(raw).ok()?;
    let said = message_in(&update, of)?;
    let dots = |size: &Value| size["width"].as_u64().unwrap_or(0).max(size["height"].as_u64().unwrap_or(0));
    let document = &said["document"];
    if document["mime_type"].as_str().is_some_and(is_picture) {
        return Some(Photo { id: document["file_id"].as_str()?.to_owned() });
    }
    let sizes = said["photo"].as_array()?;
    let fitting = sizes.iter().filter(|size| dots(size) <= most_dots).max_by_key(|size| dots(size));
    let size = fitting.or_else(|| sizes.iter().min_by_key(|size| dots(size)))?;
    Some(Photo { id: size["file_id"].as_str()?.to_owned() })
}

/// Parses the document of an update's message, or else of the message that it replies to. `raw` is the stored update,
/// because no table holds files.
pub fn attached_file(raw: &str) -> Option<AttachedFile> {
    let update: Value = serde_json::from_str(raw).ok()?;
    let said = message_of(&update)?;
    let document = [&said["document"], &said["reply_to_message"]["document"]].into_iter().find(|it| it.is_object())?;
    file(document)
}

/// Parses the document in message `of` from the stored update `raw`. `None` unless `of` is the update's message or the
/// one that it replies to.
pub fn document(raw: &str, of: MessageAt) -> Option<AttachedFile> {
    let update: Value = serde_json::from_str(raw).ok()?;
    file(&message_in(&update, of)?["document"])
}

fn file(document: &Value) -> Option<AttachedFile> {
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    let id = document["file_id"].as_str()?;
    Some(AttachedFile {
        id: id.to_owned(),
        unique_id: document["file_unique_id"].as_str().unwrap_or(id).to_owned(),
        name: text("file_name"),
        media_type: text("mime_type"),
        bytes: document["file_size"].as_u64(),
    })
}

/// Returns the update's message or the one that it replies to, whichever has these ids: an update may also contain a
/// file of another message.
fn message_in(update: &Value, of: MessageAt) -> Option<&Value> {
    let message = message_of(update)?;
    let is_it = |said: &&Value| {
        said["message_id"].as_i64() == Some(of.message.0) && said["chat"]["id"].as_i64() == Some(of.chat.0)
    };
    [message, &message["reply_to_message"]].into_iter().find(is_it)
}

fn message_of(update: &Value) -> Option<&Value> {
    ["message", "edited_message", "channel_post", "edited_channel_post"].iter().find_map(|kind| update.get(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{ChatId, MessageId};

    fn at(chat: i64, message: i64) -> MessageAt {
        MessageAt { chat: ChatId(chat), message: MessageId(message) }
    }

    #[test]
    fn a_photo_comes_in_the_largest_size_that_is_wanted() {
        let raw = r#"{"message":{"message_id":8,"chat":{"id":-1},"photo":[{"file_id":"s","width":90,"height":60},
            {"file_id":"x","width":1280,"height":960},{"file_id":"w","width":2560,"height":1920}],
            "reply_to_message":{"message_id":7,"chat":{"id":-1},"photo":[{"file_id":"b","width":2000,"height":90}]}}}"#;
        let found = |message, dots| photo(raw, at(-1, message), dots).map(|photo| photo.id);
        assert_eq!(found(8, 1280).as_deref(), Some("x"));
        assert_eq!(found(8, 5000).as_deref(), Some("w"));
        assert_eq!(found(8, 10).as_deref(), Some("s"));
        assert_eq!(found(7, 1280).as_deref(), Some("b"));
        assert_eq!(photo(r#"{"message":{"message_id":8,"chat":{"id":-1},"photo":[]}}"#, at(-1, 8), 1280), None);
    }

    #[test]
    fn a_recording_is_that_of_the_very_message() {
        let raw = r#"{"message":{"message_id":8,"chat":{"id":-1},"video_note":{"file_id":"a","duration":7,"file_size":9},
            "external_reply":{"message_id":4,"chat":{"id":-3},"voice":{"file_id":"c","duration":3}},
            "reply_to_message":{"message_id":7,"chat":{"id":-1},"voice":{"file_id":"b","duration":12}}}}"#;
        let found = |raw, at| recording(raw, at).map(|it| (it.id, it.seconds, it.bytes));
        assert_eq!(found(raw, at(-1, 8)), Some(("a".to_owned(), 7, Some(9))));
        assert_eq!(found(raw, at(-1, 7)), Some(("b".to_owned(), 12, None)));
        assert_eq!(found(raw, at(-2, 8)), None, "another chat's");
        assert_eq!(found(raw, at(-3, 4)), None, "one that is only quoted");
        for other in [
            "",
            r#"{"message":{"text":"x"}}"#,
            r#"{"message":{"voice":{"file_id":"a","duration":1}}}"#,
            r#"{"message":{"message_id":8,"chat":{"id":-1},"voice":{"file_id":"a","duration":-1}}}"#,
        ] {
            assert_eq!(found(other, at(-1, 8)), None, "{other}");
        }
    }

    #[test]
    fn the_file_is_the_messages_own_or_that_of_the_one_it_replies_to() {
        let own = r#"{"message":{"message_id":7,"document":{"file_id":"a","file_name":"x.md","file_size":9}}}"#;
        let file = attached_file(own).expect("a file");
        assert_eq!((file.id.as_str(), file.name.as_str(), file.bytes), ("a", "x.md", Some(9)));
        let reply = r#"{"message":{"reply_to_message":{"document":{"file_id":"b"}}}}"#;
        assert_eq!(attached_file(reply).map(|file| file.id).as_deref(), Some("b"));
        for other in [
            "",
            "[]",
            r#"{"message":{"text":"x"}}"#,
            r#"{"message":{"document":[]}}"#,
            r#"{"message":{"document":{}}}"#,
        ] {
            assert_eq!(attached_file(other), None, "{other}");
        }
    }
}
