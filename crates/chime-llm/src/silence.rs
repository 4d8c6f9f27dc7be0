//! Removes what transcription models write for silence and noise: credits of subtitles, thanks for watching, loops.

use serde_json::Value;

use crate::phrases::PHRASES;
use crate::repetition::without_loop;

/// A part is dropped from this probability of silence on, if the model was also unsure of its words.
const SILENT: f64 = 0.6;
/// A part is dropped from this probability of silence on, however sure the model was of its words.
const SURELY_SILENT: f64 = 0.9;
/// Mean log probability of the words below which the model was unsure of them.
const UNSURE: f64 = -0.5;
/// Maximum number of characters in a second of speech; more cannot have been spoken.
const FASTEST: usize = 40;
/// In recordings up to this length (in seconds), the number of characters per second does not show if the text was
/// spoken.
const SHORT_SECONDS: u32 = 3;

/// Returns the words of a transcript that somebody spoke, without the segments that the server marks as silence.
/// Returns an empty text if a recording of `seconds` cannot contain the transcript.
pub fn spoken(text: &str, body: &Value, seconds: u32) -> String {
    let text = match judged_segments(body) {
        Some(segments) => {
            let said = segments.iter().filter(|segment| !is_silent(segment)).filter_map(|it| it["text"].as_str());
            said.map(str::trim).filter(|part| !is_stock(part)).collect::<Vec<_>>().join(" ")
        }
        None => text.to_owned(),
    };
    let cut = without_loop(&text);
    let is_loop = cut.len() * 2 < text.len();
    let most = FASTEST * usize::try_from(seconds.max(1)).unwrap_or(usize::MAX);
    let is_too_fast = seconds > SHORT_SECONDS && text.chars().count() > most;
    if is_loop || is_too_fast || is_stock(&text) { String::new() } else { cut.to_owned() }
}

/// Returns `true` if the server says how probable silence is.
pub fn is_judged(body: &Value) -> bool {
    judged_segments(body).is_some()
}

fn judged_segments(body: &Value) -> Option<&Vec<Value>> {
    body["segments"].as_array().filter(|segments| segments.iter().any(|it| it["no_speech_prob"].is_f64()))
}

fn is_silent(segment: &Value) -> bool {
    let silence = segment["no_speech_prob"].as_f64().unwrap_or(0.0);
    let sure = segment["avg_logprob"].as_f64().unwrap_or(0.0);
    silence >= SURELY_SILENT || silence >= SILENT && sure < UNSURE
}

fn is_stock(text: &str) -> bool {
    let text = text.to_lowercase();
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    PHRASES.silence.iter().any(|stock| stock == bare)
        || PHRASES.subtitle_credits.iter().any(|credit| text.contains(credit))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nobody_said_is_removed() {
        let said = |text: &str| spoken(text, &json!({}), 12);
        for text in [
            "Thank you for watching!",
            "[BLANK_AUDIO]",
            "(silence)",
            "Untertitel der Amara.org-Community",
            "Субтитры сделал DimaTorzok",
            "Продолжение следует...",
            &"so we go ".repeat(40),
            &"word after word ".repeat(90),
        ] {
            assert_eq!(said(text), "", "{text}");
        }
        for text in ["Thank you for watching my dog on Friday.", "No, no, no, not there.", "The music was too loud."] {
            assert_eq!(said(text), text);
        }
    }

    #[test]
    fn the_servers_word_on_silence_counts() {
        let segment =
            |text: &str, silence: f64, sure: f64| json!({"text": text, "no_speech_prob": silence, "avg_logprob": sure});
        let body = json!({"segments": [segment(" See you at eight.", 0.02, -0.2), segment(" Bye.", 0.7, -0.9), segment(" You", 0.95, -0.1)]});
        assert_eq!(spoken("See you at eight. Bye. You", &body, 12), "See you at eight.");
        let unsaid = json!({"segments": [{"text": " See you at eight."}]});
        assert_eq!(spoken("See you at eight.", &unsaid, 12), "See you at eight.");
    }
}
