//! Adds missing citations to the sentences of an answer, and replaces wrong ones by the message that supports the
//! sentence.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::grounding::sentences;
use crate::material::{CitationMaterial, TAG};
use crate::pattern;
use crate::support::{DOUBTFUL, SUPPORTS, Support, UNRELATED, best};
use chime_core::{Fences, SourceId};

static ONE_TAG: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i){TAG}")));
/// Matches a placeholder for a citation. It has the form of a checked citation, so that [`sentences`] keeps it with its
/// sentence.
static STAND_IN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?P<blanks>[ \t]*)\\\[(?P<place>[0-9]{1,3})\\\]"));

/// Returns `tagged`, an answer with its citations as tags, with tags added and corrected by `support`.
///
/// A sentence without a tag gets one if a source supports it. A tag whose source does not support its sentence is
/// replaced by one that does. If there is none and the cited source is unrelated, the tag is removed.
pub fn with_sources(tagged: &str, material: CitationMaterial<'_>, support: &Support<'_>) -> String {
    let (mut fences, mut has_code) = (Fences::default(), false);
    let mut last_added: Vec<SourceId> = Vec::new();
    let lines: Vec<String> = tagged
        .split('\n')
        .map(|line| {
            let is_code = fences.is_code(line);
            has_code |= is_code;
            match is_code || line.trim_start().starts_with(['#', '|']) {
                true => line.to_owned(),
                false => sourced_line(line, material, support, &mut last_added),
            }
        })
        .collect();
    let sourced = lines.join("\n");
    if has_code || ONE_TAG.is_match(tagged) || ONE_TAG.is_match(&sourced) {
        return sourced;
    }
    match support.likely_source_of(&sourced) {
        Some(place) => with_tag(&sourced, &[material.given[place].id]),
        None => sourced,
    }
}

/// Adds and corrects the tags of a line of prose.
fn sourced_line(
    line: &str,
    material: CitationMaterial<'_>,
    support: &Support<'_>,
    last_added: &mut Vec<SourceId>,
) -> String {
    let mut tags: Vec<String> = Vec::new();
    let line = ONE_TAG.replace_all(line, |tag: &Captures<'_>| {
        tags.push(tag[0].to_owned());
        format!(r"\[{}\]", tags.len() - 1)
    });
    let sourced = |sentence: &String| match STAND_IN.is_match(sentence) {
        true => {
            last_added.clear();
            with_checked_tags(sentence, &tags, material, support)
        }
        false => with_found_tag(sentence, material, support, last_added),
    };
    sentences(&line).iter().map(sourced).collect()
}

/// Adds a tag to a sentence without one if a source supports it. If the sentence before got the same sources, none is
/// added.
fn with_found_tag(
    sentence: &str,
    material: CitationMaterial<'_>,
    support: &Support<'_>,
    last_added: &mut Vec<SourceId>,
) -> String {
    let ids: Vec<SourceId> = support.sources_of(sentence).into_iter().map(|place| material.given[place].id).collect();
    if ids.is_empty() || std::mem::replace(last_added, ids.clone()) == ids {
        return sentence.to_owned();
    }
    with_tag(sentence, &ids)
}

/// Checks each tag of a sentence against the clause before it, or against the whole sentence if that clause has no
/// words of its own.
fn with_checked_tags(sentence: &str, tags: &[String], material: CitationMaterial<'_>, support: &Support<'_>) -> String {
    let words = STAND_IN.replace_all(sentence, "");
    let (mut out, mut from) = (String::new(), 0);
    for stand_in in STAND_IN.captures_iter(sentence) {
        let Some(whole) = stand_in.get(0) else { continue };
        let clause = &sentence[from..whole.start()];
        from = whole.end();
        out += clause;
        let tag = stand_in["place"].parse::<usize>().ok().and_then(|place| tags.get(place)).map_or("", String::as_str);
        let claim = if support.is_checkable(clause) { clause } else { &words };
        let kept = checked(tag, claim, material, support);
        if !kept.is_empty() {
            out += &stand_in["blanks"];
            out += &kept;
        }
    }
    out + &sentence[from..]
}

/// Returns the tag for `claim`: `tag` itself, a tag with the source that supports the claim better, or an empty string
/// if no source is related to it.
fn checked(tag: &str, claim: &str, material: CitationMaterial<'_>, support: &Support<'_>) -> String {
    let place = |id: &str| {
        let id = material.source_id(id)?;
        material.given.iter().position(|source| source.id == id)
    };
    let cited: Option<Vec<usize>> = material.cited_ids(tag).into_iter().map(place).collect();
    // Tags with invalid ids are removed later, with a note to the reader.
    let Some(cited) = cited.filter(|_| support.is_checkable(claim)) else { return tag.to_owned() };
    let scores = support.scores(claim);
    let strongest = cited.iter().map(|place| scores[*place]).fold(0.0, f64::max);
    match best(&scores) {
        _ if strongest >= DOUBTFUL => tag.to_owned(),
        Some(place) if scores[place] >= SUPPORTS => format!("[source: {}]", material.given[place].id),
        _ if strongest < UNRELATED => String::new(),
        _ => tag.to_owned(),
    }
}

/// Inserts a tag before the punctuation at the end of `sentence`.
fn with_tag(sentence: &str, ids: &[SourceId]) -> String {
    let end = sentence.trim_end().len();
    let stop = sentence[..end].trim_end_matches(['.', '!', '…', '。', ':', ';', ',']).len();
    let stop = if stop == 0 { end } else { stop };
    let ids: Vec<String> = ids.iter().map(SourceId::to_string).collect();
    format!("{} [source: {}]{}", &sentence[..stop], ids.join(", "), &sentence[stop..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Labels;
    use crate::support::tests::sources;
    use chime_core::Seq;

    #[track_caller]
    fn check(tagged: &str, expected: &str) {
        let talk = [
            "Ana: when does the ferry to Kihnu leave?",
            "Ben: the ferry leaves at 9:40 from the old harbour",
            "Cat: tickets are 12 euros each, I bought four",
            "Chime: The ferry leaves at 9:40 from the old harbour.",
        ];
        let given = sources(&talk.map(str::to_owned));
        let mut labels = Labels::default();
        for source in &given {
            labels.assign(Seq(source.id.number), source.name.clone());
        }
        let material = CitationMaterial { given: &given, labels: &labels, ask: None };
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
