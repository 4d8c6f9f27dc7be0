//! Describes the media of an exported message with the same words as a live update.

use serde_json::Value;

use chime_core::Kind;
use chime_telegram::{filled, minutes};

/// Returns the kind and detail of a message's media, or `None` for plain text.
pub fn shown(message: &Value) -> Option<(Kind, Option<String>)> {
    let word = |name: &str| filled(message[name].as_str());
    let length = || u32::try_from(message["duration_seconds"].as_i64()?).ok().map(minutes);
    let after_length =
        |name: Option<String>| filled(Some(&length().into_iter().chain(name).collect::<Vec<_>>().join(" ")));
    if let Some(media) = message["media_type"].as_str() {
        return Some(match media {
            "sticker" => (Kind::Sticker, word("sticker_emoji")),
            "animation" => (Kind::Animation, file_name(message)),
            "voice_message" => (Kind::Voice, length()),
            "video_message" => (Kind::VideoNote, length()),
            "video_file" => (Kind::Video, after_length(file_name(message))),
            "audio_file" => {
                let track: Vec<String> = ["performer", "title"].into_iter().filter_map(word).collect();
                (Kind::Audio, after_length(filled(Some(&track.join(" – "))).or_else(|| file_name(message))))
            }
            _ => (Kind::Document, file_name(message)),
        });
    }
    if message["photo"].is_string() {
        return Some((Kind::Photo, None));
    }
    if message["file"].is_string() {
        return Some((Kind::Document, file_name(message)));
    }
    if let Some(poll) = message["poll"].as_object() {
        let title = poll.get("question").and_then(text_of);
        return Some((Kind::Poll, listed(title, poll.get("answers"))));
    }
    if let Some(list) = message["todo_list"].as_object() {
        let items = listed(list.get("title").and_then(text_of), list.get("answers").or_else(|| list.get("tasks")));
        return Some((Kind::Other, Some(items.map_or_else(|| "checklist".to_owned(), |it| format!("checklist {it}")))));
    }
    if let Some(contact) = message["contact_information"].as_object() {
        let part =
            |name: &str| contact.get(name).and_then(Value::as_str).map(str::trim).and_then(|it| filled(Some(it)));
        let names: Vec<String> = ["first_name", "last_name"].into_iter().filter_map(part).collect();
        let shown: Vec<String> = filled(Some(&names.join(" "))).into_iter().chain(part("phone_number")).collect();
        return Some((Kind::Contact, filled(Some(&shown.join(", ")))));
    }
    if message["location_information"].is_object() {
        let place: Vec<String> = ["place_name", "address"].into_iter().filter_map(word).collect();
        return Some((Kind::Location, filled(Some(&place.join(", ")))));
    }
    if message["game_title"].is_string() {
        return Some((Kind::Game, word("game_title")));
    }
    if let Some(invoice) = message["invoice_information"].as_object() {
        let title = invoice.get("title").and_then(Value::as_str).and_then(|it| filled(Some(it)));
        return Some((Kind::Other, Some(title.map_or_else(|| "invoice".to_owned(), |it| format!("invoice {it}")))));
    }
    if message["giveaway_information"].is_object() || message["giveaway_results"].is_object() {
        return Some((Kind::Other, Some("giveaway".to_owned())));
    }
    let dice = message["dice"].as_object()?;
    let part = |name: &str| dice.get(name).map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    let parts: Vec<String> = [part("emoji"), part("value")].into_iter().flatten().collect();
    Some((Kind::Dice, filled(Some(&parts.join(" ")))))
}

/// Returns the name of the attached file. If the file was not exported, the export has a note in parentheses as its
/// path, which is ignored.
fn file_name(message: &Value) -> Option<String> {
    let of_path = |path: &str| (!path.starts_with('(')).then(|| path.rsplit('/').next().map(str::to_owned)).flatten();
    filled(message["file_name"].as_str()).or_else(|| message["file"].as_str().and_then(of_path))
}

/// Formats a list as `title: a / b / c`.
fn listed(title: Option<String>, items: Option<&Value>) -> Option<String> {
    let items: Vec<String> =
        items.and_then(Value::as_array).into_iter().flatten().filter_map(|item| text_of(&item["text"])).collect();
    let items = filled(Some(&items.join(" / ")));
    filled(Some(&[title, items].into_iter().flatten().collect::<Vec<_>>().join(": ")))
}

fn text_of(value: &Value) -> Option<String> {
    filled(Some(&super::text::formatted(Some(value)).text))
}
