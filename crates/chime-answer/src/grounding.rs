//! Rules of strict chats: some source must be about the question, and each statement must have a source.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use crate::extractive_ranking::shared_word_ratio;
use crate::pattern;
use crate::support::content_words;
use chime_core::embed::{Embedder, SHIPPED_NAME};
use chime_core::{Fences, Reason, without_sent_citations};
use chime_relevance::context::{ContextWindow, Entry};

/// Minimum score of a message (its probability of belonging to the question's thread) for the question to count as part
/// of a thread.
const SURE_THREAD: f64 = 0.5;
/// Minimum score of the stretch of the chat that fits a question best. Below it, neither a thread nor a similar message
/// shows that the chat has talked about the question. Set on tags of real chats: see `docs/evaluation.md`.
const MIN_MATCH: f64 = 0.6;
/// Minimum cosine similarity between a question and a text that may answer it, with the shipped embedding model. Fitted
/// on hand-labelled group chats: see `docs/evaluation.md`.
const MIN_SIMILARITY_SHIPPED: f64 = 0.30;
/// Minimum cosine similarity with an embedding model that the operator provides. Its vectors are not centred on their
/// mean, so all similarities are higher.
const MIN_SIMILARITY_OTHER: f64 = 0.40;
/// Minimum share of the question's content words in a text, if there is no embedding model.
const MIN_SHARED_WORDS: f64 = 0.25;
/// Statements with fewer words are not claims: `Yes.`, `Not quite:`.
const CLAIM_WORDS: usize = 3;

/// Method by which similarity is measured: embeddings of the shipped model, of another model, or shared words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Shipped,
    OtherModel,
    Words,
}

/// Evidence that the chat contains an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroundingEvidence {
    /// `true` if the question replies to a message or belongs to a thread.
    pub has_anchor_or_thread: bool,
    /// Similarity of the question to the nearest text; `None` if there is no text.
    pub similarity: Option<f64>,
    pub measure: Measure,
}

/// Reason why a question is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSource {
    NothingKnown,
    LowSimilarity,
}

chime_core::words!(NoSource { NothingKnown = "nothing_known", LowSimilarity = "low_similarity" });

/// Returns the minimum similarity at which a text counts as relevant to a question.
pub fn min_similarity(measure: Measure) -> f64 {
    match measure {
        Measure::Shipped => MIN_SIMILARITY_SHIPPED,
        Measure::OtherModel => MIN_SIMILARITY_OTHER,
        Measure::Words => MIN_SHARED_WORDS,
    }
}

/// Returns the reason why a question is not answered in a strict chat; `None` if it may be answered.
pub fn no_source_reason(evidence: GroundingEvidence) -> Option<NoSource> {
    match evidence.similarity {
        _ if evidence.has_anchor_or_thread => None,
        None => Some(NoSource::NothingKnown),
        Some(similarity) if similarity < min_similarity(evidence.measure) => Some(NoSource::LowSimilarity),
        Some(_) => None,
    }
}

/// Returns `false` if the question starts a new subject, or if the chat was searched for its words and has talked about
/// nothing like it. In a chat that was fetched completely, the messages themselves are compared with the question.
pub fn is_known_subject(window: &ContextWindow) -> bool {
    !window.is_new && (window.known_from.is_none() || window.best_match.is_none_or(|score| score >= MIN_MATCH))
}

/// Returns `true` if `window` holds the message that the question replies to or, if `knows_subject`, a thread that it
/// belongs to.
pub fn has_anchor_or_thread(window: &ContextWindow, knows_subject: bool) -> bool {
    let belongs = |entry: &Entry| match entry.reason {
        Reason::Anchor | Reason::Quoted | Reason::Source | Reason::Named => true,
        Reason::Chain | Reason::Thread | Reason::Bridge => knows_subject && entry.score >= SURE_THREAD,
        Reason::Cluster | Reason::Query | Reason::Nearby | Reason::Tool => false,
    };
    window.anchor.is_some() || window.entries.iter().any(belongs)
}

/// Matches the number of a checked citation in Markdown: `\[1\]`.
static CITED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\\\[[0-9]{1,3}\\\]"));

/// Matches a checked citation in Markdown, with its link.
static CITATION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\s*\[?\\\[(?P<number>[0-9]{1,3})\\\](?:\]\([^()\s]*\))?"));

/// Returns `text` without its citations.
pub fn without_source_links(text: &str) -> String {
    CITATION.replace_all(text, "").into_owned()
}

/// Returns the text of an answer without its citations and source lines.
pub fn without_sources(answer: &str) -> String {
    without_sent_citations(&CITATION.replace_all(answer, " [$number]"))
}

/// Returns the sentences of an answer that cite its source `number`, without the line that lists the sources.
pub fn resting_on(answer: &str, number: usize) -> Vec<String> {
    let (body, _) = answer.rsplit_once("\n\n").unwrap_or_default();
    let tag = format!(r"\[{number}\]");
    let cites = |sentence: &String| sentence.contains(&tag);
    body.lines().flat_map(sentences).filter(cites).map(|sentence| without_source_links(&sentence)).collect()
}

/// Words of everything that the model was given for an answer. Numbers and names in its statements are looked up here.
#[derive(Debug)]
pub struct KnownWords(BTreeSet<String>);

impl KnownWords {
    /// Reads the words of `texts`: everything that the model was given.
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self(texts.into_iter().flat_map(str::lines).flat_map(content_words).collect())
    }

    /// Returns the number of statements in `text` with a number or a name that the model was not given.
    pub fn count_unfounded(&self, text: &str, language: &str) -> usize {
        prose(text).flat_map(sentences).filter(|sentence| self.lacks(sentence, language)).count()
    }

    /// Returns the numbers in `text` that the model was not given. One-digit numbers are ignored, since the model may
    /// have counted something or numbered a list.
    pub fn new_numbers(&self, text: &str) -> BTreeSet<String> {
        let is_long = |number: &String| number.bytes().filter(u8::is_ascii_digit).count() > 1;
        content_words(text).into_iter().filter(is_long).filter(|number| !self.0.contains(number)).collect()
    }

    /// Returns `true` if `sentence` has a [new number](Self::new_numbers) or a name that the model was not given.
    /// German writes all nouns like names, so names are not looked up there.
    fn lacks(&self, sentence: &str, language: &str) -> bool {
        let plain = without_source_links(sentence);
        let is_name = |word: &&str| {
            word.starts_with(char::is_uppercase) && word.len() > 2 && word.chars().all(char::is_alphabetic)
        };
        // The first word of a sentence, a line or a quote has a capital anyway.
        let clauses = plain.split(['.', ':', '"', '“', '„', '«', '*', '(', '-', '–', '!', '?', '\n']);
        let names = clauses.flat_map(|clause| clause.unicode_words().skip(1)).filter(is_name);
        let names = names.filter(|_| language != "deu").flat_map(content_words);
        !self.new_numbers(&plain).is_empty() || names.into_iter().any(|word| !self.0.contains(&word))
    }
}

/// Adds `mark` in brackets behind each statement of `text` without a citation, or with a number or a name that `known`
/// does not contain. The citations must be checked already.
pub fn mark_unsourced(text: &str, mark: &str, known: Option<&KnownWords>, language: &str) -> String {
    if !CITED.is_match(text) {
        return if text.is_empty() { String::new() } else { format!("{text} ({mark})") };
    }
    let is_unsourced = |sentence: &str| {
        is_claim(sentence) && (!CITED.is_match(sentence) || known.is_some_and(|known| known.lacks(sentence, language)))
    };
    let marked = |sentence: String| match is_unsourced(&sentence) {
        true => {
            let end = sentence.trim_end().len();
            format!("{} ({mark}){}", &sentence[..end], &sentence[end..])
        }
        false => sentence,
    };
    let mut fences = Fences::default();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        lines.push(match fences.is_code(line) {
            true => line.to_owned(),
            false => sentences(line).into_iter().map(marked).collect(),
        });
    }
    lines.join("\n")
}

/// Returns the lines of `text` outside code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fences = Fences::default();
    text.lines().filter(move |line| !fences.is_code(line))
}

/// Splits a line into sentences, each with the citations behind it.
pub fn sentences(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for piece in line.split_sentence_bounds() {
        match found.last_mut() {
            Some(before) if goes_on(before, piece) => before.push_str(piece),
            _ => found.push(piece.to_owned()),
        }
    }
    found
}

/// Returns `true` if `piece` belongs to the sentence `before`: as its citation, or because `before` ended only with an
/// abbreviation or a number. A unit behind a number ends a sentence.
fn goes_on(before: &str, piece: &str) -> bool {
    let mut words = before.trim_end().trim_end_matches('.').rsplit(char::is_whitespace);
    // As in "**2. Mai**".
    let last = words.next().unwrap_or_default().trim_start_matches(['*', '_', '(']);
    let mut is_unit = || words.next().is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()));
    let is_number = last.chars().all(|c| c.is_ascii_digit());
    let is_short = is_number || last.chars().count() <= 2 && !is_unit();
    let starts_with_citation = CITED
        .find(piece)
        .is_some_and(|found| piece[..found.start()].chars().all(|c| c.is_whitespace() || matches!(c, '[' | '(' | '.')));
    let is_continued = piece.chars().find(|c| c.is_alphabetic()).is_none_or(char::is_lowercase);
    starts_with_citation || is_continued || before.trim_end().ends_with('.') && is_short
}

fn is_claim(sentence: &str) -> bool {
    let end = sentence.trim_end().trim_end_matches(['*', '_', '"', '”', '»', ')']);
    sentence.unicode_words().count() >= CLAIM_WORDS && !end.ends_with([':', '?', '？', '：'])
}

/// Returns the similarity of each text to `ask`, and the method of measuring: by embeddings, or by shared words if
/// there is no model.
pub fn similarities(ask: &str, texts: &[String], embedder: Option<&Embedder>) -> (Vec<f64>, Measure) {
    let vector = embedder.map(|embedder| embedder.embed(ask)).unwrap_or_default();
    let Some(embedder) = embedder.filter(|_| !vector.is_empty()) else {
        return (texts.iter().map(|text| shared_word_ratio(ask, text)).collect(), Measure::Words);
    };
    let cosine =
        |text: &String| -> f64 { embedder.embed(text).iter().zip(&vector).map(|(a, b)| f64::from(a * b)).sum() };
    let measure = if embedder.name() == SHIPPED_NAME { Measure::Shipped } else { Measure::OtherModel };
    (texts.iter().map(cosine).collect(), measure)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const NOTHING: GroundingEvidence =
        GroundingEvidence { has_anchor_or_thread: false, similarity: None, measure: Measure::Shipped };

    #[test]
    fn an_ask_that_nothing_known_is_about_is_not_answered() {
        assert_eq!(no_source_reason(NOTHING), Some(NoSource::NothingKnown));
        let similar = |similarity| no_source_reason(GroundingEvidence { similarity: Some(similarity), ..NOTHING });
        assert_eq!(similar(MIN_SIMILARITY_SHIPPED - 0.01), Some(NoSource::LowSimilarity));
        assert_eq!(similar(MIN_SIMILARITY_SHIPPED), None);
        assert_eq!(no_source_reason(GroundingEvidence { has_anchor_or_thread: true, ..NOTHING }), None);
    }

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let known = KnownWords::of(["the boat trip on 3 Oct leaves at 9:40", "Ann steers it and brings bread"]);
        expected.assert_eq(&mark_unsourced(text, "no source", Some(&known), "eng"));
    }

    #[test]
    fn a_number_or_a_name_that_nobody_gave_is_marked_in_spite_of_a_citation() {
        check(
            r"It leaves at 9.40 with Ann [\[1\]](https://t.me/c/1/99). It leaves at 10:15 \[1\]. Then Bruno steers it \[1\].",
            expect![[
                r"It leaves at 9.40 with Ann [\[1\]](https://t.me/c/1/99). It leaves at 10:15 \[1\]. (no source) Then Bruno steers it \[1\]. (no source)"
            ]],
        );
        let known = KnownWords::of(["die Fähre geht um 9:40"]);
        assert_eq!(
            known.count_unfounded("Die Fähre geht um 9.40 vom Hafen. Sie kostet 12 Euro.\n```\n77\n```", "deu"),
            1
        );
    }

    #[test]
    fn the_sentences_that_rest_on_a_source_are_found() {
        let answer = "At nine [\\[1\\]](https://t.me/c/1/2). Bring bread \\[2\\].\n\nSources: [\\[1\\]](https://t.me/c/1/2) Ana · \\[2\\] Ben";
        assert_eq!(resting_on(answer, 1), ["At nine. "]);
        assert_eq!(resting_on(answer, 3), [] as [&str; 0]);
    }

    #[test]
    fn a_statement_without_a_source_is_marked() {
        check(
            r"The boat leaves at nine [\[1\]](https://t.me/c/1/1). It is a red boat. Who steers?",
            expect![[
                r"The boat leaves at nine [\[1\]](https://t.me/c/1/1). It is a red boat. (no source) Who steers?"
            ]],
        );
    }

    #[test]
    fn a_citation_behind_the_full_stop_belongs_to_its_sentence() {
        check(
            r"It leaves at nine. \[1\] Ann steers it. \[2\]",
            expect![[r"It leaves at nine. \[1\] Ann steers it. \[2\]"]],
        );
    }

    #[test]
    fn lists_abbreviations_lead_ins_and_code_are_read_as_they_are() {
        check(
            "They chose:\n\n1. The 3. Oct. trip, e.g. by boat \\[1\\]\n2. Bread and cheese for all\n\n```\nlet a = b; // no claim here\n```",
            expect![[r#"
                They chose:

                1. The 3. Oct. trip, e.g. by boat \[1\]
                2. Bread and cheese for all (no source)

                ```
                let a = b; // no claim here
                ```"#]],
        );
    }

    #[test]
    fn an_answer_without_any_source_is_marked_once() {
        check("It is a boat. It is red.", expect!["It is a boat. It is red. (no source)"]);
        check("", expect![""]);
    }
}
