//! Sources of each sentence of an answer: adds those that the model left out, moves citations to the message that says it.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::answer::grounding::sentences;
use crate::answer::material::{Material, TAG};
use crate::answer::support::{DOUBTFUL, SUPPORTS, Support, UNRELATED};
use crate::domain::SourceId;

static ONE_TAG: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i){TAG}")));
/// A tag while sentences are told apart: the form that they know.
static HELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"[ \t]*\\\[(?P<place>[0-9]{1,3})\\\]"));

/// `tagged`, an answer with its citations as tags, with the tags that `support` finds.
///
/// A sentence without a tag gets one where a source supports it. A tag whose source does not support its sentence becomes the one
/// that does; where the sentence can be checked and no source says anything of it, the tag goes.
pub fn with_sources(tagged: &str, material: Material<'_>, support: &Support<'_>) -> String {
    let mut tags: Vec<String> = Vec::new();
    let held = ONE_TAG.replace_all(tagged, |tag: &Captures<'_>| {
        tags.push(tag[0].to_owned());
        format!(r"\[{}\]", tags.len() - 1)
    });
    let mut in_code = false;
    let mut last_added: Vec<SourceId> = Vec::new();
    let lines: Vec<String> = held
        .split('\n')
        .map(|line| {
            let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            in_code ^= is_fence;
            let is_prose = !in_code && !is_fence && !line.trim_start().starts_with(['#', '|']);
            if !is_prose {
                return restored(line, &tags);
            }
            sentences(line)
                .iter()
                .map(|sentence| sourced(sentence, &tags, (material, support), &mut last_added))
                .collect()
        })
        .collect();
    let sourced = lines.join("\n");
    let has_code = sourced.contains("```") || sourced.contains("~~~");
    if ONE_TAG.is_match(&sourced) || has_code || tags.iter().any(|tag| !tag.is_empty()) {
        return sourced;
    }
    match support.likely_source_of(&sourced) {
        Some(place) => with_tag(&sourced, &format!("[source: {}]", material.given[place].id)),
        None => sourced,
    }
}

/// `sentence` with the tags that belong to it.
fn sourced(
    sentence: &str,
    tags: &[String],
    (material, support): (Material<'_>, &Support<'_>),
    last_added: &mut Vec<SourceId>,
) -> String {
    let words = HELD.replace_all(sentence, "");
    let has_tags = HELD.is_match(sentence);
    if !has_tags {
        let ids: Vec<SourceId> = support.sources_of(&words).into_iter().map(|place| material.given[place].id).collect();
        // One link is enough for neighbours that rest on the same message.
        if ids.is_empty() || std::mem::replace(last_added, ids.clone()) == ids {
            return sentence.to_owned();
        }
        let ids: Vec<String> = ids.iter().map(SourceId::to_string).collect();
        return with_tag(sentence, &format!("[source: {}]", ids.join(", ")));
    }
    last_added.clear();
    let (mut out, mut from) = (String::new(), 0);
    for held in HELD.captures_iter(sentence) {
        let Some(whole) = held.get(0) else { continue };
        let clause = &sentence[from..whole.start()];
        from = whole.end();
        out += clause;
        let tag = held["place"].parse::<usize>().ok().and_then(|place| tags.get(place)).map_or("", String::as_str);
        // A tag stands for what comes before it: of several, each for its own clause.
        let claim = if support.is_checkable(clause) { clause } else { &words };
        let kept = checked(tag, claim, (material, support));
        if !kept.is_empty() {
            out += &whole.as_str()[..whole.as_str().len() - whole.as_str().trim_start().len()];
            out += &kept;
        }
    }
    out + &sentence[from..]
}

/// `tag` as it may stand behind `words`: as it is, with another source, or empty.
fn checked(tag: &str, words: &str, (material, support): (Material<'_>, &Support<'_>)) -> String {
    let scores = support.scores(words);
    let inside = tag.trim_matches(['[', ']', '【', '】']);
    let inside = inside.split_once(':').map_or(inside, |(_, ids)| ids);
    let ids = inside.split([',', ';']).map(|id| id.trim().trim_start_matches("source:").trim());
    let place = |id: &str| {
        let id = material.source_id(id)?;
        material.given.iter().position(|source| source.id == id)
    };
    let cited: Vec<Option<usize>> = ids.map(place).collect();
    // What was not given is removed with a notice, elsewhere.
    if cited.iter().any(Option::is_none) || !support.is_checkable(words) {
        return tag.to_owned();
    }
    let strongest = cited.iter().flatten().map(|place| scores[*place]).fold(0.0, f64::max);
    match best(&scores) {
        _ if strongest >= DOUBTFUL => tag.to_owned(),
        Some((place, score)) if score >= SUPPORTS => format!("[source: {}]", material.given[place].id),
        Some(_) if strongest < UNRELATED => String::new(),
        Some(_) | None => tag.to_owned(),
    }
}

fn best(scores: &[f64]) -> Option<(usize, f64)> {
    scores.iter().copied().enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// `tag` at the end of `sentence`, before its full stop.
fn with_tag(sentence: &str, tag: &str) -> String {
    let end = sentence.trim_end().len();
    let stop = sentence[..end].trim_end_matches(['.', '!', '…', '。', ':', ';', ',']).len();
    let stop = if stop == 0 { end } else { stop };
    format!("{} {tag}{}", &sentence[..stop], &sentence[stop..])
}

fn restored(line: &str, tags: &[String]) -> String {
    HELD.replace_all(line, |held: &Captures<'_>| {
        let tag = held["place"].parse::<usize>().ok().and_then(|place| tags.get(place));
        format!(
            "{}{}",
            held[0].chars().take_while(|c| c.is_whitespace()).collect::<String>(),
            tag.map_or("", String::as_str)
        )
    })
    .into_owned()
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and every test of this file compiles them")]
fn pattern(raw: &str) -> Regex {
    Regex::new(raw).expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::lines::Labels;
    use crate::domain::{Citable, Seq, Timestamp};

    #[track_caller]
    fn check(tagged: &str, expected: &str) {
        let cite = |(number, (name, text)): (u32, (&str, &str))| Citable {
            id: SourceId::message(number),
            name: name.to_owned(),
            sent_at: Timestamp::default(),
            text: text.to_owned(),
            link: None,
            rests_on: Vec::new(),
        };
        let talk = [
            ("Ana", "when does the ferry to Kihnu leave?"),
            ("Ben", "the ferry leaves at 9:40 from the old harbour"),
            ("Cat", "tickets are 12 euros each, I bought four"),
            ("Chime", "The ferry leaves at 9:40 from the old harbour."),
        ];
        let given: Vec<Citable> = (1..).zip(talk).map(cite).collect();
        let mut labels = Labels::default();
        for (seq, (name, _)) in (1..).zip(talk) {
            labels.assign(Seq(seq), name.to_owned());
        }
        let material = Material { given: &given, labels: &labels, ask: None };
        let support = Support::new(&given, "when does the ferry leave?", "Chime", &|_| Vec::new());
        assert_eq!(with_sources(tagged, material, &support), expected);
    }

    #[test]
    fn a_sentence_without_a_citation_gets_the_message_that_says_it() {
        check("It leaves at 9:40 from the old harbour.", "It leaves at 9:40 from the old harbour [source: m2].");
        check(
            "From the old harbour at 9:40. Four tickets for 12 euros are bought!",
            "From the old harbour at 9:40 [source: m2]. Four tickets for 12 euros are bought [source: m3]!",
        );
    }

    #[test]
    fn a_citation_of_the_wrong_message_is_moved() {
        check("At 9:40 from the old harbour [source: m3].", "At 9:40 from the old harbour [source: m2].");
    }

    #[test]
    fn a_citation_that_fits_stays_and_so_does_one_that_nothing_tells_of() {
        check("At 9:40 [source: m2].", "At 9:40 [source: m2].");
        check("Yes [source: m1].", "Yes [source: m1].");
        check("At 9:40 [source: m99].", "At 9:40 [source: m99].");
    }

    #[test]
    fn a_short_answer_is_read_with_its_question() {
        check("At 9:40.", "At 9:40 [source: m2].");
    }

    #[test]
    fn what_no_message_says_gets_no_source() {
        for text in
            ["Paris is the capital of France.", "The ferry?", "```\nleaves at 9:40 from the old harbour\n```", ""]
        {
            check(text, text);
        }
    }
}
