//! A file that a message came with. Its words are no part of the message: they are fetched where somebody asks for them.

use serde_json::Value;

/// A file as an update names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedFile {
    /// By which Telegram gives it to this bot.
    pub id: String,
    pub name: String,
    pub media_type: String,
    /// As far as it is known.
    pub bytes: Option<u64>,
}

/// The file of the message in an update: its own, or that of the message it replies to. What is kept of the update is
/// enough: a file is no part of any row.
pub fn attached_file(raw: &str) -> Option<AttachedFile> {
    let update: Value = serde_json::from_str(raw).ok()?;
    let said = ["message", "edited_message", "channel_post", "edited_channel_post"]
        .iter()
        .find_map(|kind| update.get(kind))?;
    let document = [&said["document"], &said["reply_to_message"]["document"]].into_iter().find(|it| it.is_object())?;
    let text = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
    Some(AttachedFile {
        id: document["file_id"].as_str()?.to_owned(),
        name: text("file_name"),
        media_type: text("mime_type"),
        bytes: document["file_size"].as_u64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
