//! Tags: short names for the subjects of a session, in the words of its chat.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::words::{self, ContentWord, NounSigns};
use chime_core::trigger::Languages;
use chime_core::{Language, WordStemmer, split_words};
use chime_relevance::context::is_output;
use chime_relevance::retrieval::is_time_word;
use chime_store::tags::NewTag;

/// Maximum number of tags of a session, with and without a model.
const MOST: usize = 10;
const MOST_EXTRACTED: usize = 8;
const TAG_CHARS: usize = 40;
/// Minimum length of a word that becomes a tag without a model, and minimum number of lines that contain it.
const TAG_WORD_CHARS: usize = 4;
const TAG_LINES: usize = 2;
/// A word is a noun if at least one in this many of its uses stands like one.
const NOUN_USES: usize = 3;
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
    /// Language whose endings names may have.
    language: Option<Language>,
}

impl MemberNames {
    /// Collects names. Of each name only the part before the first digit or symbol is used, since members decorate their
    /// names: `Ana 🌊 surfer` gives `ana`. Each of its words names the member. Words with hyphens and names of bots, which
    /// may be subjects of the chat, count as a whole, and so do names of more than two words, not all with a capital, and
    /// their first word.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let is_of_name = |c: char| c.is_alphabetic() || c.is_whitespace() || matches!(c, '-' | '\'' | '’' | '.');
        let mut found = Self::default();
        for name in names {
            if name.to_lowercase().ends_with("bot") {
                found.add(name);
            } else if let Some(worn) = name.split(|c: char| !is_of_name(c)).find(|part| !part.trim().is_empty()) {
                let words: Vec<&str> = worn.split_whitespace().collect();
                let is_of_a_person = words.len() <= 2 || words.iter().all(|word| word.starts_with(char::is_uppercase));
                let alone = if is_of_a_person { words.len() } else { 1 };
                words[..alone].iter().for_each(|word| found.add(word));
                found.add(worn);
            }
        }
        found
    }

    /// Also recognises the names with the endings of `language`: "анны" in Russian.
    pub fn inflected_in(self, language: Language) -> Self {
        Self { language: Some(language).filter(|language| words::inflects_names(*language)), ..self }
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
        let is_name = |name: &str| self.words.contains(name);
        is_number || is_name(part) || part.strip_suffix('s').is_some_and(is_name) || self.has_form(part)
    }

    fn has_form(&self, part: &str) -> bool {
        /// With an ending, shorter names could be any word.
        const NAME_CHARS: usize = 4;
        let Some(stemmer) = self.language.map(WordStemmer::new) else { return false };
        let stem = stemmer.stem(part);
        // A name longer than the word is skipped: "свет" (light) is the stem of the name "Света", but no form of it.
        let is_long = |name: &&String| (NAME_CHARS..=part.chars().count()).contains(&name.chars().count());
        self.words.iter().filter(is_long).any(|name| stem == **name || stem == stemmer.stem(name))
    }
}

/// Parses a model's answer `{"tags":[{"tag":"invoices","conf":0.92}, …]}`, with or without a code fence around it.
/// Removes members' names from the tags, and returns at most ten tags of the highest confidence.
///
/// # Errors
/// Fails if the answer has any other form, a confidence outside 0 to 1, or tags of which none is usable.
pub fn parse(answer: &str, names: &MemberNames) -> Result<Vec<NewTag>, TagError> {
    let json = answer.trim();
    let json = json.strip_prefix("```json").or_else(|| json.strip_prefix("```")).unwrap_or(json);
    let json = json.strip_suffix("```").unwrap_or(json).trim();
    let answer: TagsAnswer = serde_json::from_str(json).map_err(|_| TagError::Form)?;
    if answer.tags.iter().any(|tag| !(0.0..=1.0).contains(&tag.conf)) {
        return Err(TagError::Form);
    }
    let (mut found, has_tags): (Vec<NewTag>, bool) = (Vec::new(), !answer.tags.is_empty());
    for AnswerTag { tag, conf } in answer.tags {
        let Some(tag) = impersonal(&tag, conf, names) else { continue };
        if !found.iter().any(|other| other.key == tag.key) {
            found.push(tag);
        }
    }
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    found.truncate(MOST);
    if found.is_empty() && has_tags { Err(TagError::None) } else { Ok(found) }
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

/// Returns tags made without a model: nouns, and pairs of neighbouring words, in at least two lines of a session. Also
/// `before`, what the chat said earlier, shows which words are nouns. `rarity` maps a word and its stem to 0 if it is too common for a
/// tag, and up to 1 if no other session contains it.
pub fn extracted<'a>(
    lines: &[&'a str],
    before: impl Iterator<Item = &'a str>,
    names: &MemberNames,
    rarity: impl Fn(&str, &str) -> f64,
) -> Vec<NewTag> {
    let signs = NounSigns::of(&lines.join("\n"));
    // By the stems of a word or of a pair.
    let mut candidates: BTreeMap<String, TagCandidate> = BTreeMap::new();
    for line in lines {
        let (mut seen, is_talk) = (BTreeSet::new(), !is_output(line));
        let mut last: Option<ContentWord> = None;
        for term in signs.terms(line) {
            let is_name = term.word.split('_').any(|part| names.has(part));
            if is_name || words::has_digit(&term.word) || is_time_word(&term.word) {
                last = None;
                continue;
            }
            let known = candidates.entry(term.stem.clone()).or_default();
            known.add(seen.insert(term.stem.clone()), is_talk);
            known.add_form(&term.word, term.is_noun);
            known.count(&term);
            if let Some(before) = last.filter(|_| term.ends_name) {
                let key = format!("{} {}", before.stem, term.stem);
                let known = candidates.entry(key.clone()).or_default();
                known.add(seen.insert(key), is_talk);
                known.add_form(&format!("{} {}", before.word, term.word), term.is_noun);
                known.count(&term);
            }
            last = Some(term);
        }
    }
    for term in before.flat_map(|line| signs.terms(line)) {
        if let Some(known) = candidates.get_mut(&term.stem) {
            known.count(&term);
        }
    }
    let counts: BTreeMap<String, usize> = candidates.iter().map(|(key, it)| (key.clone(), it.lines)).collect();
    // "Bouncy castle" is a tag instead of its words if no line has one of them alone.
    let is_whole = |key: &str| {
        let lines = |stem: &str| counts.get(stem).copied().unwrap_or_default();
        key.contains(' ') && key.split(' ').all(|stem| lines(stem) == lines(key))
    };
    let parts: BTreeSet<&str> = counts.keys().filter(|key| is_whole(key)).flat_map(|key| key.split(' ')).collect();
    let is_shown = |key: &str| if key.contains(' ') { is_whole(key) } else { !parts.contains(key) };
    let mut weighed: Vec<(f64, &str)> = Vec::new();
    for (key, it) in &candidates {
        let rarities = it.word.split(' ').zip(key.split(' ')).map(|(word, stem)| rarity(word, stem));
        let weight = (it.lines as f64).sqrt() * rarities.fold(0.0, f64::max);
        let is_long = it.word.chars().count() >= TAG_WORD_CHARS;
        if it.lines >= TAG_LINES && weight > 0.0 && is_long && it.is_noun() && is_shown(key) {
            weighed.push((weight, &it.word));
        }
    }
    weighed.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.cmp(other)));
    let best = weighed.first().map_or(1.0, |(weight, ..)| *weight);
    weighed
        .iter()
        .take(MOST_EXTRACTED)
        .filter_map(|(weight, word)| normalized(word, (0.8 * weight / best) as f32))
        .collect()
}

/// Word or pair of words that may become a tag.
#[derive(Default)]
struct TagCandidate {
    /// Its shortest form that stood like a noun, else its shortest form, which is closest to the dictionary form.
    word: String,
    is_noun_form: bool,
    /// Number of lines with it.
    lines: usize,
    /// `true` if one of them is not the output of a program.
    is_said: bool,
    /// Number of its uses: as a noun, as a noun or a word that describes one, and all.
    nouns: usize,
    in_phrases: usize,
    all: usize,
}

impl TagCandidate {
    fn add_form(&mut self, word: &str, is_noun: bool) {
        let is_shorter = self.word.is_empty() || word.chars().count() < self.word.chars().count();
        if is_noun && !self.is_noun_form || is_noun == self.is_noun_form && is_shorter {
            (self.word, self.is_noun_form) = (word.to_owned(), is_noun);
        }
    }

    fn add(&mut self, is_new_line: bool, is_said: bool) {
        self.lines += usize::from(is_new_line);
        self.is_said |= is_said;
    }

    fn count(&mut self, term: &ContentWord) {
        self.nouns += usize::from(term.is_noun);
        self.in_phrases += usize::from(term.is_in_phrase);
        self.all += 1;
    }

    fn is_noun(&self) -> bool {
        self.is_said && self.nouns > 0 && self.in_phrases * NOUN_USES >= self.all
    }
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
        check(r#"{"tags":[]}"#, expect![""]);
        check("tags: invoices", expect!["the answer is not the JSON that was asked for"]);
        check(r#"{"tags":[{"tag":"a","conf":2}]}"#, expect!["the answer is not the JSON that was asked for"]);
        check(r#"{"tags":[],"note":"none"}"#, expect!["the answer is not the JSON that was asked for"]);
    }

    #[test]
    fn a_name_with_an_ending_is_no_tag() {
        let answer = r#"{"tags":[{"tag":"дача анны","conf":0.9},{"tag":"свет","conf":0.8}]}"#;
        let names = MemberNames::of(["Анна", "Света"]).inflected_in(Language::from_code("rus"));
        let tags = parse(answer, &names).expect("tags");
        assert_eq!(tags.iter().map(|tag| tag.name.as_str()).collect::<Vec<_>>(), ["дача", "свет"]);
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
        let tags: Vec<String> = extracted(&lines, std::iter::empty(), &MemberNames::of(["Derek"]), rarity)
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(tags.join(" "), "boiler manual valve");
    }

    #[test]
    fn a_tag_has_the_form_of_a_noun_and_a_capital_after_an_emoji_makes_none() {
        let lines = [
            "can they accommodate ten?",
            "no, the accommodation is full 🙏 Appreciate it",
            "an accommodation in Cork then\nAppreciate your help",
        ];
        let tags = extracted(&lines, std::iter::empty(), &MemberNames::default(), |_, _| 1.0);
        assert_eq!(tags.into_iter().map(|it| it.name).collect::<Vec<_>>(), ["accommodation"]);
    }

    #[test]
    fn greetings_and_verbs_are_no_tags_and_neighbouring_words_are_one() {
        let lines = [
            "hello everyone, we anticipate rain, so the bouncy castle needs a roof",
            "hello! I anticipate that a bouncy castle is booked out in June",
            "thanks, then Juan Pablo asks for the bouncy castle, Pablo has a friend there",
            "the pump is new, its pump too",
        ];
        let names = MemberNames::of(["Juan Pablo Tosso"]);
        let tags = extracted(&lines, std::iter::empty(), &names, |_, _| 1.0);
        assert_eq!(tags.into_iter().map(|it| it.name).collect::<Vec<_>>(), ["bouncy-castle"]);
    }
}
