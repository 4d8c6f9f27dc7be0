//! The content of a message: text and media.

use serde_json::Value;

use crate::dto::{self, Items, filled, full_name, minutes};
use crate::extract::{rich, service};
use crate::files::{is_picture, spoken_extension};
use chime_core::{Entity, EntityKind, FormattedText, Kind, UserId, UserRef, utf16_len};

/// Returns the kind of a message with this text, and its detail.
pub fn kind(wire: &dto::TelegramMessage, text: &str) -> (Kind, Option<String>) {
    match shown(&wire.content) {
        Some(shown) => shown,
        None if !text.is_empty() => (Kind::Text, None),
        // What has no words and no known medium is an event of a newer Bot API.
        None => {
            let event = service::describe(wire).unwrap_or_else(|| "unsupported message".to_owned());
            (Kind::Service, Some(event))
        }
    }
}

/// Formats the content of a replied-to message from another chat as one line: a label, a text, or both.
pub fn in_one_line(wire: &dto::Content) -> String {
    let label = shown(wire).map(|(kind, detail)| match (kind, detail) {
        (Kind::Other, Some(detail)) => format!("[{detail}]"),
        (kind, _) => format!("[{}]", kind.as_str().replace('_', " ")),
    });
    let text = filled(Some(&formatted(wire).text));
    label.into_iter().chain(text).collect::<Vec<_>>().join(" ")
}

/// Returns the text, the caption, or the plain text of a rich message.
pub fn formatted(wire: &dto::Content) -> FormattedText {
    let rich = || wire.rich_message.as_ref().map(rich::plain).unwrap_or_default();
    match (&wire.text, &wire.caption) {
        (Some(text), _) => with_entities(text, wire.entities.as_ref()),
        (None, Some(caption)) => with_entities(caption, wire.caption_entities.as_ref()),
        (None, None) => rich(),
    }
}

fn with_entities(text: &str, wire: Option<&Items<dto::Entity>>) -> FormattedText {
    let length = utf16_len(text);
    let mut entities: Vec<Entity> =
        Items::of(wire).iter().filter_map(entity).filter(|e| e.offset.saturating_add(e.length) <= length).collect();
    entities.sort_by_key(|entity| entity.offset);
    FormattedText { text: text.to_owned(), entities }
}

/// Converts an entity; `None` if its offset or length is invalid. Unknown kinds become [`EntityKind::Other`].
fn entity(wire: &dto::Entity) -> Option<Entity> {
    let offset = usize::try_from(wire.offset?).ok()?;
    let length = usize::try_from(wire.length?).ok().filter(|length| *length > 0)?;
    let kind = match wire.r#type.as_deref().unwrap_or_default() {
        "text_mention" => match wire.user.as_ref().and_then(|user| user.id) {
            Some(id) => EntityKind::TextMention { user: UserRef { id: UserId(id) } },
            None => EntityKind::Other,
        },
        "text_link" => wire.url.clone().map_or(EntityKind::Other, |url| EntityKind::TextLink { url }),
        "pre" => EntityKind::Pre { language: filled(wire.language.as_deref()) },
        simple => serde_json::from_value(Value::from_iter([("type", simple)])).unwrap_or(EntityKind::Other),
    };
    Some(Entity { offset, length, kind })
}

/// Returns the kind of media with its detail. Animations also have a `document` and venues a `location`, so the
/// narrower kind is checked first.
fn shown(wire: &dto::Content) -> Option<(Kind, Option<String>)> {
    let other = |what: String| Some((Kind::Other, Some(what)));
    if let Some(animation) = &wire.animation {
        Some((Kind::Animation, filled(animation.file_name.as_deref())))
    } else if let Some(audio) = &wire.audio {
        let track = joined([audio.performer.as_deref(), audio.title.as_deref()], " – ");
        let track = track.or_else(|| filled(audio.file_name.as_deref()));
        Some((Kind::Audio, joined([length(audio).as_deref(), track.as_deref()], " ")))
    } else if let Some(document) = &wire.document {
        let media_type = document.mime_type.as_deref().unwrap_or_default();
        let name = filled(document.file_name.as_deref());
        match () {
            () if is_picture(media_type) => Some((Kind::Photo, name)),
            () if spoken_extension(media_type).is_some() => Some((Kind::Voice, name)),
            () => Some((Kind::Document, name)),
        }
    } else if let Some(video) = &wire.video {
        Some((Kind::Video, joined([length(video).as_deref(), video.file_name.as_deref()], " ")))
    } else if let Some(video_note) = &wire.video_note {
        Some((Kind::VideoNote, length(video_note)))
    } else if let Some(voice) = &wire.voice {
        Some((Kind::Voice, length(voice)))
    } else if wire.live_photo.is_some() || wire.photo.is_some() {
        Some((Kind::Photo, None))
    } else if let Some(sticker) = &wire.sticker {
        Some((Kind::Sticker, filled(sticker.emoji.as_deref())))
    } else if let Some(poll) = &wire.poll {
        let options = Items::of(poll.options.as_ref()).iter().filter_map(|option| option.text.as_deref());
        Some((Kind::Poll, listed(poll.question.as_deref(), options)))
    } else if let Some(venue) = &wire.venue {
        Some((Kind::Location, joined([venue.title.as_deref(), venue.address.as_deref()], ", ")))
    } else if wire.location.is_some() {
        Some((Kind::Location, None))
    } else if let Some(contact) = &wire.contact {
        let name = full_name(contact.first_name.as_deref(), contact.last_name.as_deref());
        Some((Kind::Contact, joined([name.as_deref(), contact.phone_number.as_deref()], ", ")))
    } else if let Some(dice) = &wire.dice {
        let value = dice.value.map(|value| value.to_string());
        Some((Kind::Dice, full_name(dice.emoji.as_deref(), value.as_deref())))
    } else if let Some(game) = &wire.game {
        Some((Kind::Game, filled(game.title.as_deref())))
    } else if wire.story.is_some() {
        Some((Kind::Story, None))
    } else if let Some(checklist) = &wire.checklist {
        let tasks = Items::of(checklist.tasks.as_ref()).iter().filter_map(|task| task.text.as_deref());
        let items = listed(checklist.title.as_deref(), tasks);
        other(items.map_or_else(|| "checklist".to_owned(), |items| format!("checklist {items}")))
    } else if let Some(invoice) = &wire.invoice {
        other(full_name(Some("invoice"), invoice.title.as_deref())?)
    } else if wire.paid_media.is_some() {
        other("paid media".to_owned())
    } else if wire.giveaway.is_some() || wire.giveaway_winners.is_some() {
        other("giveaway".to_owned())
    } else {
        None
    }
}

/// Joins the parts that are there.
fn joined(parts: [Option<&str>; 2], separator: &str) -> Option<String> {
    let parts: Vec<&str> = parts.into_iter().flatten().filter(|part| !part.trim().is_empty()).collect();
    filled(Some(&parts.join(separator)))
}

fn length(file: &dto::File) -> Option<String> {
    file.duration.map(minutes)
}

fn listed<'a>(title: Option<&str>, items: impl Iterator<Item = &'a str>) -> Option<String> {
    let items = filled(Some(&items.collect::<Vec<_>>().join(" / ")));
    filled(Some(&[filled(title), items].into_iter().flatten().collect::<Vec<_>>().join(": ")))
}
