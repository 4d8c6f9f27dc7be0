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
        let more = match (id % 2, usize::try_from(id % ROUND / 2).ok()) {
            (0, Some(place)) => self.special(place, id, secs),
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
    fn special(&self, place: usize, id: i64, secs: i64) -> Value {
        const MEDIA: usize = 17;
        match place {
            0..MEDIA => media(place, id, secs),
            MEDIA..39 => rarer(place - MEDIA, self.chat, secs),
            place => service(place - 39, id),
        }
    }
}

/// Number of messages after which the kinds repeat.
const ROUND: i64 = 128;
/// Placeholder for a key to remove.
const LEFT_OUT: &str = "(left out)";

/// Returns the fields of the common kinds.
fn media(place: usize, id: i64, secs: i64) -> Value {
    let missing = "(File not included. Change data exporting settings to download.)";
    match place {
        0 | 16 => json!({"photo": missing, "width": 640, "height": 480, "text": "look at this"}),
        1 => json!({"file": missing, "media_type": "voice_message", "duration_seconds": 12, "text": ""}),
        2 => json!({"file": "stickers/a.webp", "media_type": "sticker", "sticker_emoji": "🙂", "text": ""}),
        3 => json!({"poll": {"question": "Where to?", "closed": false, "total_voters": 0,
                             "answers": [{"text": "lake", "voters": 0}, {"text": "sea", "voters": 0}]}, "text": ""}),
        4 => {
            json!({"file": "files/report.pdf", "file_name": "report.pdf", "mime_type": "application/pdf", "text": ""})
        }
        5 => by_service(id, json!({"action": "invite_members", "members": ["Zoe"]})),
        6 => by_service(id, json!({"action": "pin_message", "message_id": id - 1})),
        7 => json!({"forwarded_from": "Zoe", "forwarded_from_id": "user6000"}),
        8 => json!({"edited_unixtime": (secs + 30).to_string()}),
        9 => {
            json!({"location_information": {"latitude": 59.4, "longitude": 24.7}, "place_name": "Town hall", "text": ""})
        }
        10 => json!({"contact_information": {"first_name": "Ann", "last_name": "", "phone_number": "0"}, "text": ""}),
        11 => {
            json!({"text": ["see ", {"type": "text_link", "text": "here", "href": "https://example.org"}, " please"]})
        }
        12 => json!({"via_bot": "@gif"}),
        13 => json!({"file": "video.mp4", "media_type": "video_file", "duration_seconds": 61, "text": "our trip"}),
        14 => json!({"game_title": "Lights", "text": ""}),
        _ => json!({"invoice_information": {"title": "Boat", "amount": 1}, "text": ""}),
    }
}

/// Returns the fields of rare kinds, and of variants in older and newer versions of the format.
fn rarer(place: usize, chat: i64, secs: i64) -> Value {
    match place {
        0 => json!({"file": "a.mp4", "media_type": "animation", "mime_type": "video/mp4", "text": ""}),
        1 => json!({"file": "round.mp4", "media_type": "video_message", "duration_seconds": 9, "text": ""}),
        2 => {
            json!({"file": "a.mp3", "media_type": "audio_file", "performer": "Zoe", "title": "Song",
                     "duration_seconds": 181, "text": ""})
        }
        3 => json!({"file": "hologram.bin", "media_type": "hologram", "text": "a kind from the future"}),
        4 => json!({"poll": {"question": {"text": "Ready?"}, "closed": true, "total_voters": 2,
                             "answers": [{"text": [{"type": "bold", "text": "yes"}], "voters": 2, "chosen": true}]}, "text": ""}),
        5 => {
            json!({"todo_list": {"title": "Packing", "answers": [{"id": 1, "text": "rope"}, {"id": 2, "text": "tent"}],
                                  "others_can_append": true}, "text": ""})
        }
        6 => {
            json!({"location_information": {"latitude": 1.0, "longitude": 2.0}, "live_location_period_seconds": 900, "text": ""})
        }
        7 => json!({"dice": {"emoji": "🎲", "value": 5}, "text": ""}),
        8 => json!({"giveaway_information": {"quantity": 3, "months": 6}, "text": ""}),
        9 => json!({"giveaway_results": {"winners_count": 3}, "text": ""}),
        10 => json!({"forwarded_from": null}),
        11 => json!({"forwarded_from": "News", "forwarded_from_id": "channel77", "saved_from": "News"}),
        12 => json!({"reply_to_peer_id": "channel9", "reply_to_message_id": 5}),
        13 => json!({"from": null}),
        14 => json!({"from": "Friday table", "from_id": format!("channel{chat}")}),
        // Before 2022, dates had no Unix time.
        15 => json!({"date_unixtime": LEFT_OUT, "edited": local(secs + 60)}),
        16 => {
            json!({"text": "", "text_entities": [{"type": "plain", "text": "said in "}, {"type": "spoiler", "text": "parts"}]})
        }
        17 => {
            json!({"text": [{"type": "mention", "text": "@zoe"}, " ", {"type": "hashtag", "text": "#lake"}, " ",
                              {"type": "code", "text": "ls"}, {"type": "pre", "text": "a\nb", "language": "sh"},
                              {"type": "blockquote", "text": "as you said", "collapsed": true},
                              {"type": "custom_emoji", "text": "🙂", "document_id": "x.tgs"},
                              {"type": "mention_name", "text": "Ann", "user_id": 5001}, {"type": "phone", "text": "000"}]})
        }
        18 => json!({"reactions": [{"type": "emoji", "count": 2, "emoji": "👍", "recent": []}]}),
        19 => json!({"inline_bot_buttons": [[{"type": "url", "text": "Open", "data": "https://example.org"}]]}),
        20 => {
            json!({"photo": "photos/a.jpg", "media_spoiler": true, "self_destruct_period_seconds": 30, "text": ["look", " twice"]})
        }
        _ => json!({"author": "the editor", "file": "", "media_type": "video_file", "duration_seconds": "unknown"}),
    }
}

/// Returns the fields of service messages, by action.
fn service(place: usize, id: i64) -> Value {
    const ACTIONS: [&str; 25] = [
        "create_group",
        "edit_group_title",
        "edit_group_photo",
        "delete_group_photo",
        "join_group_by_link",
        "join_group_by_request",
        "remove_members",
        "migrate_from_group",
        "set_messages_ttl",
        "group_call",
        "group_call_scheduled",
        "invite_to_group_call",
        "boost_apply",
        "topic_created",
        "topic_edit",
        "score_in_game",
        "phone_call",
        "giveaway_launch",
        "edit_chat_theme",
        "set_chat_wallpaper",
        "todo_completions",
        "proximity_reached",
        "paid_messages_price_change",
        "send_star_gift",
        "an_action_from_the_future",
    ];
    let action = ACTIONS.get(place).copied().unwrap_or("create_group");
    by_service(
        id,
        json!({"action": action, "title": "Friday table", "new_title": "Boats", "members": ["Zoe", null],
                         "duration": 75, "score": 9, "inviter": "Zoe"}),
    )
}

fn by_service(id: i64, more: Value) -> Value {
    let author = id % 7;
    let mut message = json!({
        "type": "service", "actor": format!("Member {author}"), "actor_id": format!("user{}", 5000 + author),
        "from": LEFT_OUT, "from_id": LEFT_OUT, "text": "",
    });
    if let (Some(message), Value::Object(more)) = (message.as_object_mut(), more) {
        message.extend(more);
    }
    message
}

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
