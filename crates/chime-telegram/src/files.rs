//! Files attached to messages. Their content is not part of the message and is downloaded only on request.

use crate::dto::{self, Items};
use chime_core::MessageFile;

/// Size of a second of compressed speech in bytes, for files whose duration is not known.
const BYTES_A_SECOND: u64 = 8_000;
/// Maximum width and height of a photo, in pixels. Small print on a photo can be read at this size, and a larger photo
/// costs more tokens.
const MAX_SIDE: u64 = 1_280;

/// Returns the file of a message if an answer may need it: a document, a recording, or a photo in the largest size of
/// at most [`MAX_SIDE`] pixels in width and height, else in the smallest.
pub fn file_of(content: &dto::Content) -> Option<MessageFile> {
    let sizes = Items::of(content.photo.as_ref());
    let side = |size: &&dto::File| size.width.unwrap_or(0).max(size.height.unwrap_or(0));
    let fitting = sizes.iter().filter(|size| side(size) <= MAX_SIDE).max_by_key(side);
    let photo = fitting.or_else(|| sizes.iter().min_by_key(side));
    // The document of an animation is the animation itself.
    let document = content.document.as_ref().filter(|_| content.animation.is_none());
    let file = document.or(content.voice.as_ref()).or(content.video_note.as_ref()).or(photo)?;
    let media_type = file.mime_type.clone().unwrap_or_default();
    let guessed = || Some(file.file_size.filter(|_| spoken_extension(&media_type).is_some())? / BYTES_A_SECOND);
    let seconds = file.duration.or_else(|| u32::try_from(guessed()?).ok());
    let id = file.file_id.clone()?;
    let unique_id = file.file_unique_id.clone().unwrap_or_else(|| id.clone());
    Some(MessageFile { id, unique_id, media_type, bytes: file.file_size, seconds })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: &str, expected: Option<(&str, Option<u32>, Option<u64>)>) {
        let file = file_of(&serde_json::from_str(content).expect("an object"));
        let found = file.as_ref().map(|file| (file.id.as_str(), file.seconds, file.bytes));
        assert_eq!(found, expected, "{content}");
    }

    #[test]
    fn a_photo_comes_in_the_largest_size_that_is_wanted() {
        let size = |id: &str, width: u32| format!(r#"{{"file_id":"{id}","width":{width},"height":60}}"#);
        let photo = |sizes: &[String]| format!(r#"{{"photo":[{}]}}"#, sizes.join(","));
        let (s, x, w) = (size("s", 90), size("x", 1280), size("w", 2560));
        check(&photo(&[s, x, w.clone()]), Some(("x", None, None)));
        check(&photo(&[w, size("v", 3000)]), Some(("w", None, None)));
        check(r#"{"photo":[]}"#, None);
    }

    #[test]
    fn documents_and_recordings_have_a_file() {
        check(r#"{"voice":{"file_id":"a","duration":7,"file_size":9}}"#, Some(("a", Some(7), Some(9))));
        check(r#"{"voice":{"file_id":"a","duration":-1}}"#, Some(("a", None, None)));
        check(
            r#"{"document":{"file_id":"b","mime_type":"audio/ogg","file_size":80000}}"#,
            Some(("b", Some(10), Some(80_000))),
        );
        check(r#"{"document":{"file_id":"c","file_size":80000}}"#, Some(("c", None, Some(80_000))));
        for other in [r#"{"text":"x"}"#, r#"{"document":[]}"#, r#"{"document":{}}"#] {
            check(other, None);
        }
        check(r#"{"animation":{"file_id":"a"},"document":{"file_id":"a"}}"#, None);
    }
}
