//! Made-up exports of Telegram Desktop: every kind of message that the format has, as many as are wanted.

use std::io::{self, Write};

use serde_json::{Value, json};

use crate::domain::Timestamp;

/// The export of one group.
#[derive(Debug, Clone, Copy)]
pub struct Export {
    /// As the format has it, without the `-100` of the Bot API.
    pub chat: i64,
    /// `private_supergroup` and its like.
    pub kind: &'static str,
    pub messages: i64,
    /// When the last message was sent; the others came before it, a minute apart.
    pub until: Timestamp,
}

impl Export {
    /// Writes the file, a message at a time.
    ///
    /// # Errors
    /// When it cannot be written.
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

    /// The message of this number. The first dozen kinds come round and round, with plain text between them.
    pub fn message(&self, id: i64) -> Value {
        let secs = self.until.secs() - (self.messages - id) * 60;
        let author = id % 7;
        let mut message = json!({
            "id": id, "type": "message", "date": "2026-01-01T00:00:00", "date_unixtime": secs.to_string(),
            "from": format!("Member {author}"), "from_id": format!("user{}", 5000 + author),
            "text": format!("message {id} says that the boat number {} leaves for the lake", id * 7919 % 1000),
            "text_entities": [],
        });
        let more = match id % 32 {
            0 => {
                json!({"photo": "(File not included. Change data exporting settings to download.)", "width": 640, "height": 480,
                        "text": "look at this"})
            }
            2 => {
                json!({"file": "(File not included.)", "media_type": "voice_message", "duration_seconds": 12, "text": ""})
            }
            4 => json!({"file": "stickers/a.webp", "media_type": "sticker", "sticker_emoji": "🙂", "text": ""}),
            6 => json!({"poll": {"question": "Where to?", "closed": false, "total_voters": 0,
                                 "answers": [{"text": "lake", "voters": 0}, {"text": "sea", "voters": 0}]}, "text": ""}),
            8 => {
                json!({"file": "files/report.pdf", "file_name": "report.pdf", "mime_type": "application/pdf", "text": ""})
            }
            10 => {
                json!({"type": "service", "actor": format!("Member {author}"), "actor_id": format!("user{}", 5000 + author),
                         "action": "invite_members", "members": ["Zoe"], "text": ""})
            }
            12 => {
                json!({"type": "service", "actor": format!("Member {author}"), "actor_id": format!("user{}", 5000 + author),
                         "action": "pin_message", "message_id": id - 1, "text": ""})
            }
            14 => json!({"forwarded_from": "Zoe", "forwarded_from_id": "user6000"}),
            16 => json!({"edited_unixtime": (secs + 30).to_string()}),
            18 => {
                json!({"location_information": {"latitude": 59.4, "longitude": 24.7}, "place_name": "Town hall", "text": ""})
            }
            20 => {
                json!({"contact_information": {"first_name": "Ann", "last_name": "", "phone_number": "0"}, "text": ""})
            }
            22 => {
                json!({"text": ["see ", {"type": "text_link", "text": "here", "href": "https://example.org"}, " please"]})
            }
            24 => json!({"via_bot": "@gif"}),
            26 => json!({"file": "video.mp4", "media_type": "video_file", "duration_seconds": 61, "text": "our trip"}),
            28 => json!({"game_title": "Lights", "text": ""}),
            30 => json!({"invoice_information": {"title": "Boat", "amount": 1}, "text": ""}),
            _ if id > 3 && id % 3 == 0 => json!({"reply_to_message_id": id - 3}),
            _ => json!({}),
        };
        if let (Some(message), Value::Object(more)) = (message.as_object_mut(), more) {
            message.extend(more);
        }
        message
    }
}
