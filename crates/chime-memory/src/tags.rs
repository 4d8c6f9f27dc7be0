//! Tags: short names for the subjects of a session, in the words of its chat.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::words;
use chime_core::split_words;
use chime_core::trigger::Languages;
use chime_relevance::retrieval::is_time_word;
use chime_store::tags::NewTag;

/// Maximum number of tags of a session.
const MOST: usize = 10;
const TAG_CHARS: usize = 40;
/// Minimum length of a word that becomes a tag without a model, and minimum number of lines that contain it.
const TAG_WORD_CHARS: usize = 4;
const TAG_LINES: usize = 2;
/// Maximum number of words in a tag.
const PARTS: usize = 4;

/// Reason why a model's answer has no usable tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    #[error("the answer is not the JSON that was asked for")]
    Form,
    #[error("the answer holds no usable tag")]
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TagsAnswer {
    tags: Vec<AnswerTag>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerTag {
    tag: String,
    conf: f32,
}

/// Members' names in lower case. No tag may contain one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberNames {
    /// Words that name a member alone.
    words: BTreeSet<String>,
    /// Words that name a member only together, such as `news` and `feed` of "News-Feed".
    wholes: BTreeSet<Vec<String>>,
}

impl MemberNames {
    /// Collects names. Of each name only the part before the first digit or symbol is used, since members decorate their
    /// names: `Ana 🌊 surfer` gives `ana`. Each of its words names the member. Words with hyphens and names of bots, which
    /// may be subjects of the chat, count as a whole, and so do names of more than two words and their first word.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let is_of_name = |c: char| c.is_alphabetic() || c.is_whitespace() || matches!(c, '-' | '\'' | '’' | '.');
        let mut found = Self::default();
        for name in names {
            if name.to_lowercase().ends_with("bot") {
                found.add(name);
            } else if let Some(worn) = name.split(|c: char| !is_of_name(c)).find(|part| !part.trim().is_empty()) {
                let words: Vec<&str> = worn.split_whitespace().collect();
                let alone = if words.len() > 2 { 1 } else { words.len() };
                words[..alone].iter().for_each(|word| found.add(word));
                found.add(worn);
            }
        }
        found
    }

    /// Adds a name that counts as a whole.
    fn add(&mut self, name: &str) {
        let words = split_words(name).filter(|word| word.chars().count() >= 2).map(str::to_lowercase);
        match words.collect::<Vec<_>>() {
            words if words.len() > 1 => self.wholes.insert(words),
            words => words.into_iter().any(|word| self.words.insert(word)),
        };
    }

    /// Removes from the words of a tag those that together name a member.
    fn take_out(&self, tag: &mut Vec<&str>) {
        for whole in &self.wholes {
            while let Some(at) = tag.windows(whole.len()).position(|words| words == whole.as_slice()) {
                tag.drain(at..at + whole.len());
            }
        }
    }

    /// Returns `true` if a word of a tag refers to a member: a name, a name with `s`, or a member's marker such as
    /// `u7`.
    fn has(&self, part: &str) -> bool {
        let is_number = part.strip_prefix('u').is_some_and(|digits| digits.parse::<u32>().is_ok());
        is_number || self.words.contains(part) || part.strip_suffix('s').is_some_and(|name| self.words.contains(name))
    }
}

/// Parses a model's answer `{"tags":[{"tag":"invoices","conf":0.92}, …]}`, with or without a code fence around it.
/// Removes members' names from the tags, and returns at most ten tags of the highest confidence.
///
/// # Errors
/// Fails if the answer has any other form, a confidence outside 0 to 1, or no usable tag.
pub fn parse(answer: &str, names: &MemberNames) -> Result<Vec<NewTag>, TagError> {
    let json = answer.trim();
    let json = json.strip_prefix("```json").or_else(|| json.strip_prefix("```")).unwrap_or(json);
    let json = json.strip_suffix("```").unwrap_or(json).trim();
    let answer: TagsAnswer = serde_json::from_str(json).map_err(|_| TagError::Form)?;
    if answer.tags.iter().any(|tag| !(0.0..=1.0).contains(&tag.conf)) {
        return Err(TagError::Form);
    }
    let mut found: Vec<NewTag> = Vec::new();
    for AnswerTag { tag, conf } in answer.tags {
        let Some(tag) = impersonal(&tag, conf, names) else { continue };
        if !found.iter().any(|other| other.key == tag.key) {
            found.push(tag);
        }
    }
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    found.truncate(MOST);
    if found.is_empty() { Err(TagError::None) } else { Ok(found) }
}

/// Normalizes a tag after removing the words that refer to members. Returns `None` if no content word is left.
fn impersonal(raw: &str, confidence: f32, names: &MemberNames) -> Option<NewTag> {
    let lower = raw.to_lowercase();
    let all: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let mut kept = all.clone();
    names.take_out(&mut kept);
    kept.retain(|part| !names.has(part));
    if kept.len() < all.len() {
        // A removed name may leave the `s` of its genitive.
        kept.retain(|part| part.chars().count() > 1);
    }
    normalized(&kept.join(" "), confidence)
}

/// Normalizes a tag: lower case, at most four words, joined by hyphens. Returns `None` if it has no content word
/// or is too long.
pub fn normalized(raw: &str, confidence: f32) -> Option<NewTag> {
    let lower = raw.to_lowercase();
    let parts: Vec<&str> = split_words(&lower).take(PARTS).collect();
    let name = parts.join("-");
    let is_stop_word = |part: &str| Languages::shipped().is_stop_word_in(part, &lower);
    let is_telling = parts.iter().any(|part| part.chars().any(char::is_alphabetic) && !is_stop_word(part));
    if !is_telling || name.chars().count() > TAG_CHARS {
        return None;
    }
    let key = parts.iter().map(|part| singular(part)).collect::<Vec<_>>().join("-");
    Some(NewTag { name, key, confidence })
}

/// Removes an English plural ending. Forms in other languages remain different tags, which members can join with
/// `/topics merge`.
fn singular(word: &str) -> String {
    let stem = |ending: &str| word.strip_suffix(ending).filter(|stem| stem.chars().count() >= 2);
    if let Some(stem) = stem("ies") {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if stem(ending).is_some() {
            return word[..word.len() - 2].to_owned();
        }
    }
    match stem("s") {
        Some(stem) if !stem.ends_with(['s', 'u', 'i']) => stem.to_owned(),
        Some(_) | None => word.to_owned(),
    }
}

/// Returns tags made without a model: words in at least two lines of a session. `rarity` maps a word and its stem to 0
/// if it is too common for a tag, and up to 1 if no other session contains it.
pub fn extracted(lines: &[&str], names: &MemberNames, rarity: impl Fn(&str, &str) -> f64) -> Vec<NewTag> {
    // The shortest form of each stem, since it is closest to the dictionary form, and the number of lines with it.
    let mut candidates: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for line in lines {
        let mut seen = BTreeSet::new();
        for (word, stem) in words::content_words(line) {
            let is_name = word.split('_').any(|part| names.has(part));
            let is_no_subject = words::has_digit(&word) || words::is_everyday_verb(&word, line);
            if is_no_subject || word.chars().count() < TAG_WORD_CHARS || is_name {
                continue;
            }
            let known = candidates.entry(stem.clone()).or_insert_with(|| (word.clone(), 0));
            if word.chars().count() < known.0.chars().count() {
                known.0 = word;
            }
            known.1 += usize::from(seen.insert(stem));
        }
    }
    let weighed =
        |(stem, (word, count)): (String, (String, usize))| ((count as f64).sqrt() * rarity(&word, &stem), word, count);
    let mut weighed: Vec<(f64, String, usize)> = candidates.into_iter().map(weighed).collect();
    weighed.retain(|(weight, word, count)| *count >= TAG_LINES && *weight > 0.0 && !is_time_word(word));
    weighed.sort_by(|(a, one, _), (b, other, _)| b.total_cmp(a).then_with(|| one.cmp(other)));
    let best = weighed.first().map_or(1.0, |(weight, ..)| *weight);
    weighed.iter().take(MOST).filter_map(|(weight, word, _)| normalized(word, (0.8 * weight / best) as f32)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: Expect) {
        let rendered = match parse(answer, &MemberNames::of(["Ana Müller 🎸 (Boat club)", "Tom | drums"])) {
            Ok(tags) => {
                tags.iter().map(|it| format!("{}={} {}", it.name, it.key, it.confidence)).collect::<Vec<_>>().join(", ")
            }
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&rendered);
    }

    #[test]
    fn tags_are_strict_json_in_one_form() {
        check(
            r#"{"tags":[{"tag":"Invoices","conf":0.92},{"tag":"invoice","conf":0.5},{"tag":"thai place","conf":1},{"tag":"boxes","conf":0.3}]}"#,
            expect!["thai-place=thai-place 1, invoices=invoice 0.92, boxes=box 0.3"],
        );
        check("```json\n{\"tags\":[{\"tag\":\"a1 b\",\"conf\":0}]}\n```", expect!["a1-b=a1-b 0"]);
        check(r#"{"tags":[{"tag":"Ana","conf":1}]}"#, expect!["the answer holds no usable tag"]);
        check(
            r#"{"tags":[{"tag":"anas birthday","conf":0.9},{"tag":"tom-müller","conf":0.8},{"tag":"u7","conf":0.8},{"tag":"drums","conf":0.7},{"tag":"boat","conf":0.6}]}"#,
            expect!["birthday=birthday 0.9, drums=drum 0.7, boat=boat 0.6"],
        );
        check("tags: invoices", expect!["the answer is not the JSON that was asked for"]);
        check(r#"{"tags":[{"tag":"a","conf":2}]}"#, expect!["the answer is not the JSON that was asked for"]);
        check(r#"{"tags":[],"note":"none"}"#, expect!["the answer is not the JSON that was asked for"]);
    }

    #[test]
    fn a_name_of_several_words_is_no_tag_and_its_words_may_be() {
        let names =
            MemberNames::of(["qTox-Blog", "Garden Helper Bot", "garden_helper_bot", "Club of Ghent", "Ana-Maria Ek"]);
        let tag = |raw: &str| impersonal(raw, 1.0, &names).map(|tag| tag.name).unwrap_or_default();
        assert_eq!(
            ["qtox-1.7", "blog-post", "garden-tools", "ghent"].map(tag),
            ["qtox-1-7", "blog-post", "garden-tools", "ghent"]
        );
        assert_eq!(
            ["qtox-blog", "garden-helper-bot", "club-of-ghent fees", "ana-maria", "ek", "clubs"].map(tag),
            ["", "", "fees", "", "", ""]
        );
    }

    #[test]
    fn plurals_share_a_key() {
        let key = |word: &str| normalized(word, 1.0).unwrap().key;
        assert_eq!(
            ["berries", "classes", "buses", "class", "status", "tables"].map(key),
            ["berry", "class", "buse", "class", "status", "table"]
        );
        assert_eq!(normalized("the", 1.0), None);
        assert_eq!(normalized("2026", 1.0), None);
    }

    #[test]
    fn without_a_model_rare_words_of_several_lines_are_tags() {
        let lines = [
            "the boiler shows F28, and I’ll call Derek tomorrow",
            "boilers again? Derek comes tomorrow, anyways",
            "anyways, see https://boilers.example/manual for the manual",
            "the manual says that the boiler’s valve is stuck",
            "I will bring the spare valve, and Derek brings the tools",
            "could you bring the torch too?",
        ];
        let rarity = |_: &str, stem: &str| if stem.starts_with("any") { 0.0 } else { 1.0 };
        let tags: Vec<String> =
            extracted(&lines, &MemberNames::of(["Derek"]), rarity).into_iter().map(|it| it.name).collect();
        assert_eq!(tags.join(" "), "boiler manual valve");
    }
}
