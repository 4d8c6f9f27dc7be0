//! Checks the citations of an answer and adds its sources.
//!
//! A valid citation becomes a numbered link to its message; an invalid one is removed, with a note. One line at the
//! end lists the sources. `citation_forms` finds the citations, `sources` adds
//! missing ones and corrects wrong ones.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::citation_basis::{CitationBasis, TAG};
use crate::citation_forms::{CODE, canonical, unfenced};
use crate::code_blocks::closed;
use crate::extractive_ranking::shared_word_count;
use crate::grounding::{KnownWords, mark_unsourced};
use crate::pattern;
use crate::sanitize::{clean_name, escape_markdown, one_line, shown_name, unlinked};
use crate::source_lists;
use crate::sources::{Sourced, with_sources};
use crate::support::Support;
use chime_core::texts::{Texts, filled, texts};
use chime_core::{Citable, SourceId, SourceKind, SourceRef, Timestamp, Zone, sentences, source_labels};
use chime_memory::wording::short_time;

/// Maximum number of characters of a source's text that are stored with the answer.
const SOURCE_CHARS: usize = 160;
/// Maximum number of characters that the source line quotes from a source without a link.
const QUOTE_CHARS: usize = 60;
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Markdown, with links and the source line.
    pub text: String,
    /// The valid citations, in the order of their numbers.
    pub sources: Vec<SourceRef>,
    /// Every id that the model cited, in order, without repeats.
    pub generated: Vec<String>,
    /// The cited ids that were in the prompt.
    pub valid: Vec<String>,
    /// The cited ids that were not in the prompt. Their citations were removed.
    pub removed: Vec<String>,
    /// Number of statements with a number or a name that occurs nowhere in the text given to the model.
    pub unfounded: usize,
}

/// Matches code, or adjacent citations in the canonical form ([`TAG`]), with the blanks before them.
static TAGS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)(?P<code>{CODE})|(?P<blanks>[ \t]*)(?P<tags>{TAG}(?:[ \t]*{TAG})*)")));
static ONE_TAG: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i)[ \t]*{TAG}")));

/// Returns `answer` with its valid citations as numbered links and without the invalid ones: the text of [`check`]
/// without the note and the source line below it.
pub fn linked(answer: &str, basis: CitationBasis<'_>) -> String {
    link(answer, basis, None, Sourced::None).0
}

/// Returns `true` if [`check`] finds a source for a sentence of `answer`.
pub fn has_source(answer: &str, basis: CitationBasis<'_>, support: &Support<'_>) -> bool {
    !link(answer, basis, Some(support), Sourced::IfNoneIsCited).1.valid.is_empty()
}

#[derive(Debug, Clone, Copy)]
pub struct CitationWords<'a> {
    /// ISO 639-3 code of the answer's language.
    pub language: &'a str,
    /// Text in brackets behind each statement without a source; `None` if the chat is not strict.
    pub mark: Option<&'a str>,
    /// Words of everything that the model was given, in which numbers and names are looked up; `None` for a text that
    /// no model wrote.
    pub known: Option<&'a KnownWords>,
    /// Sentences without a citation that get one, unless the chat is strict.
    pub sourced: Sourced,
    /// Sentences below the answer that need no source, such as that a page could not be read.
    pub remarks: &'a [String],
}

/// Checks the citations of `answer` against the sources in `basis`. With `support`, a sentence without a citation
/// may get one, if a source supports it. In the source line, times from another day than `now` include the day.
pub fn check(
    answer: &str,
    basis: CitationBasis<'_>,
    support: Option<&Support<'_>>,
    now: Timestamp,
    zone: Zone,
    words: CitationWords<'_>,
) -> Checked {
    let sourced = if words.mark.is_some() { Sourced::All } else { words.sourced };
    let (linked, ledger) = link(answer, basis, support, sourced);
    let (sources_label, removed_note) = source_labels(words.language);
    let unfounded = words.known.map_or(0, |known| known.count_unfounded(&linked, words.language));
    let mut parts = vec![match words.mark {
        Some(mark) => mark_unsourced(&linked, mark, words.known, words.language),
        None => linked,
    }];
    parts.extend_from_slice(words.remarks);
    if !ledger.removed.is_empty() {
        parts.push(removed_note.to_owned());
    }
    let texts = texts(words.language);
    let lists = [(sources_label, false), (texts.citations.web.as_str(), true)].map(|(label, is_web)| {
        let listed = (1..).zip(&ledger.valid).filter(|(_, source)| (source.id.kind == SourceKind::Web) == is_web);
        let items: Vec<String> =
            listed.map(|(number, source)| source_item(number, source, answer, now, zone, texts)).collect();
        if items.is_empty() { String::new() } else { format!("{label}{}", items.join(" · ")) }
    });
    parts.push(lists.join("\n").trim().to_owned());
    parts.retain(|part| !part.is_empty());
    Checked {
        text: parts.join("\n\n"),
        sources: ledger.valid.iter().map(|source| source_ref(source)).collect(),
        valid: ledger.valid.iter().map(|source| source.id.to_string()).collect(),
        generated: ledger.generated,
        removed: ledger.removed,
        unfounded,
    }
}

/// Returns `answer` with its citations as links, and the record of all its citations.
fn link<'a>(
    answer: &str,
    basis: CitationBasis<'a>,
    support: Option<&Support<'_>>,
    sourced: Sourced,
) -> (String, Ledger<'a>) {
    let (body, mut listed) = source_lists::split(answer);
    let mut ledger = Ledger { basis, generated: Vec::new(), valid: Vec::new(), removed: Vec::new() };
    let tagged = canonical(&closed(unfenced(&body, basis.labels)), basis);
    let tagged = match support.map(|support| with_sources(&tagged, basis, support, sourced)) {
        Some(tagged) => {
            listed.extend(tagged.listed.iter().map(SourceId::to_string));
            tagged.text
        }
        None => tagged,
    };
    let linked = TAGS.replace_all(&tagged, |found: &Captures<'_>| {
        if let Some(code) = found.name("code") {
            return ONE_TAG.replace_all(code.as_str(), |tag: &Captures<'_>| ledger.note(&tag[0])).into_owned();
        }
        match &found["tags"] {
            tags if basis.stays_as_written(tags) => found[0].to_owned(),
            tags => ledger.render(&found["blanks"], tags),
        }
    });
    // Ids that the model cites only in its own list of sources are citations too.
    let linked = linked.trim().to_owned();
    ledger.enter(listed.iter().map(String::as_str));
    (linked, ledger)
}

/// Returns the links to `source`: its own, and for a summary or a note the links to the messages it is based on.
pub fn links(source: &Citable) -> impl Iterator<Item = &str> {
    source.link.as_deref().into_iter().chain(source.rests_on.iter().filter_map(|grounds| grounds.link.as_deref()))
}

/// Record of the citations found in an answer so far.
struct Ledger<'a> {
    basis: CitationBasis<'a>,
    generated: Vec<String>,
    /// Valid sources; the number of a source is its position, counted from 1.
    valid: Vec<&'a Citable>,
    removed: Vec<String>,
}

impl<'a> Ledger<'a> {
    /// Records the citations in `tags`, and returns numbered links to the valid ones after `blanks`; empty if none is
    /// valid.
    fn render(&mut self, blanks: &str, tags: &str) -> String {
        let numbers = self.enter(self.basis.cited_ids(tags).into_iter());
        if numbers.is_empty() {
            return String::new();
        }
        let links: String = numbers.into_iter().map(|number| numbered(number, self.valid[number - 1])).collect();
        format!("{blanks}{links}")
    }

    /// Records the citations in `tags` and returns an empty replacement: inside code, Markdown links do not work.
    fn note(&mut self, tags: &str) -> String {
        self.enter(self.basis.cited_ids(tags).into_iter());
        String::new()
    }

    /// Records all `ids`, and returns the numbers of the valid ones in the source line, without repeats.
    fn enter<'t>(&mut self, ids: impl Iterator<Item = &'t str>) -> Vec<usize> {
        let mut numbers = Vec::new();
        for id in ids.map(str::to_lowercase) {
            if let Some(number) = self.number(&id).filter(|number| !numbers.contains(number)) {
                numbers.push(number);
            }
            push_new(&mut self.generated, id);
        }
        numbers
    }

    fn number(&mut self, id: &str) -> Option<usize> {
        let parsed = self.basis.source_id(id);
        if parsed.is_some() && parsed == self.basis.ask {
            return None;
        }
        if let Some(known) = self.valid.iter().position(|source| Some(source.id) == parsed) {
            return Some(known + 1);
        }
        let Some(source) = self.basis.given.iter().find(|source| Some(source.id) == parsed) else {
            push_new(&mut self.removed, id.to_owned());
            return None;
        };
        self.valid.push(source);
        Some(self.valid.len())
    }
}

fn numbered(number: usize, source: &Citable) -> String {
    match links(source).next() {
        Some(link) => format!(r"[\[{number}\]]({link})"),
        None => format!(r"\[{number}\]"),
    }
}

/// Returns what members read about a source: `Ana`, `Document: Rules, p. 2`. A summary has no name of its own.
fn source_name(source: &Citable, texts: &Texts) -> String {
    let kind = source.id.kind;
    let label = texts.citations.kinds.get(kind.letter()).map_or("", String::as_str);
    if kind == SourceKind::Summary {
        return label.to_owned();
    }
    let page = source.id.page.map(|page| filled(&texts.citations.page, &[("n", &page.to_string())]));
    let name = clean_name(&source.name);
    let name = if source.id.kind == SourceKind::Message { unlinked(&name) } else { name };
    format!("{label}{name}{}", page.unwrap_or_default())
}

/// Formats a source for the source line: `[1] Ana 14:02`, with the day if it is not today, and with a quote if there is
/// no link. For a summary or a note, the messages it is based on are listed.
fn source_item(number: usize, source: &Citable, answer: &str, now: Timestamp, zone: Zone, texts: &Texts) -> String {
    /// Maximum number of messages listed for a summary or a note.
    const MOST_GROUNDS: usize = 3;
    let number = numbered(number, source);
    let name = escape_markdown(&source_name(source, texts));
    let when = short_time(source.sent_at, now, zone, texts);
    let grounds = source.rests_on.iter().take(MOST_GROUNDS).map(|grounds| {
        let when = short_time(grounds.sent_at, now, zone, texts);
        let rendered = format!("{} {when}", shown_name(&grounds.name));
        grounds.link.as_ref().map_or(rendered.clone(), |link| format!("[{rendered}]({link})"))
    });
    let rendered = match source.rests_on.is_empty() {
        true => format!("{number} {name} {when}"),
        false => format!("{number} {name} ({})", grounds.collect::<Vec<_>>().join(", ")),
    };
    match links(source).next() {
        Some(_) => rendered,
        None => {
            let said = one_line(said_again(&source.text, answer), QUOTE_CHARS);
            format!("{rendered} {}", texts.quoted(&escape_markdown(&said)))
        }
    }
}

/// Returns the sentence of a text that shares most words with an answer, the first of several; the whole text if none
/// shares any.
fn said_again<'a>(text: &'a str, answer: &str) -> &'a str {
    let shared = sentences(text).into_iter().map(|sentence| (shared_word_count(answer, sentence), sentence));
    let best = shared.rev().max_by_key(|(count, _)| *count);
    best.filter(|(count, _)| *count > 0).map_or(text, |(_, sentence)| sentence)
}

fn source_ref(source: &Citable) -> SourceRef {
    SourceRef { id: source.id.to_string(), text: one_line(&source.text, SOURCE_CHARS) }
}

fn push_new(list: &mut Vec<String>, id: String) {
    if !list.contains(&id) {
        list.push(id);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    use super::*;

    const ENGLISH: CitationWords<'static> =
        CitationWords { language: "eng", mark: None, known: None, sourced: Sourced::IfNoneIsCited, remarks: &[] };
    use crate::lines::Labels;
    use chime_core::testkit::{here, moment};
    use chime_core::{Seq, SourceId, SourceMessage};

    fn given() -> Vec<Citable> {
        let citable = |id: &str, name: &str, at: &str, text: &str| Citable {
            id: SourceId::parse(id).expect("an id"),
            name: name.to_owned(),
            is_own: false,
            sent_at: moment(at),
            text: text.to_owned(),
            link: Some(format!("https://t.me/c/1/{}", &id[1..])),
            rests_on: Vec::new(),
        };
        vec![
            citable("m1", "Ana", "14:02", "We should look at the restaurant"),
            citable("m2", "Bob [x]", "-3d 14:05", "The *thai* one?\nOn 10th Ave"),
            Citable {
                link: None,
                ..citable("m3", "Cat", "14:07", "Closed on Mondays, as far as I know, and on Sundays too")
            },
        ]
    }

    /// Labels of a prompt in which the sources have the numbers 1, 2 and 3.
    fn labels() -> Labels {
        let mut labels = Labels::default();
        for (seq, name) in [(1, "Ana"), (2, "Bob"), (3, "Cat")] {
            labels.assign(Seq(seq), name.to_owned());
        }
        labels
    }

    #[track_caller]
    fn check_text(answer: &str, expected: Expect) {
        expected.assert_eq(&checked(answer, &given()).text);
    }

    fn checked(answer: &str, given: &[Citable]) -> Checked {
        check(answer, CitationBasis { given, labels: &labels(), ask: None }, None, moment("15:00"), here(), ENGLISH)
    }

    #[test]
    fn a_citation_becomes_a_numbered_link_and_a_source() {
        check_text(
            "It is Thai [source: m2], she said [source:m1].",
            expect![[r#"
            It is Thai [\[1\]](https://t.me/c/1/2), she said [\[2\]](https://t.me/c/1/1).

            Sources: [\[1\]](https://t.me/c/1/2) Bob x 2 Jan 14:05 · [\[2\]](https://t.me/c/1/1) Ana 14:02"#]],
        );
    }

    #[test]
    fn numbers_follow_the_first_mention_and_stay() {
        check_text(
            "A [source: m1]. B [source: m2]. C [source: m1].",
            expect![[r#"
            A [\[1\]](https://t.me/c/1/1). B [\[2\]](https://t.me/c/1/2). C [\[1\]](https://t.me/c/1/1).

            Sources: [\[1\]](https://t.me/c/1/1) Ana 14:02 · [\[2\]](https://t.me/c/1/2) Bob x 2 Jan 14:05"#]],
        );
    }

    #[test]
    fn lists_and_neighbouring_tags_are_one_group_without_repeats() {
        check_text(
            "A [source: m1, m2]. B [source: m1][source: m2] [source: m1]. C [Sources: m2; source: m1]",
            expect![[r#"
                A [\[1\]](https://t.me/c/1/1)[\[2\]](https://t.me/c/1/2). B [\[1\]](https://t.me/c/1/1)[\[2\]](https://t.me/c/1/2). C [\[2\]](https://t.me/c/1/2)[\[1\]](https://t.me/c/1/1)

                Sources: [\[1\]](https://t.me/c/1/1) Ana 14:02 · [\[2\]](https://t.me/c/1/2) Bob x 2 Jan 14:05"#]],
        );
    }

    #[test]
    fn every_way_in_which_models_write_a_citation_is_read() {
        let first = r"[\[1\]](https://t.me/c/1/1)";
        for tag in ["[m1]", "(m1)", "【m1】", "[source: 1]", "[source:m1;m1]", "[m1, m1]", "[M1]", "【source: m1】"]
        {
            let text = checked(&format!("Thai {tag}."), &given()).text;
            assert!(text.starts_with(&format!("Thai {first}.")), "{tag}: {text}");
        }
        for tag in ["[m9]", "(m9)", "【m9】", "[source: 9]", "[m9; m8]", "[s4]", "[n2]"] {
            let found = checked(&format!("Thai {tag}."), &given());
            assert_eq!(found.text, "Thai.\n\n(Removed invalid citation)", "{tag}");
        }
    }

    #[test]
    fn what_somebody_wrote_is_no_citation() {
        let mut given = given();
        given[0].text = "the bolts are m2, and room (m3) is free".to_owned();
        let text = "Take m2 bolts to (m3).";
        assert_eq!(checked(text, &given).text, text);
    }

    #[test]
    fn nobody_switches_citations_off_by_writing_them() {
        let mut given = given();
        given[1].text = "the format is [source: 1] and [m3] you know".to_owned();
        let text = checked("Nine [source: 1]. Parking [m3]. More [m9].", &given).text;
        assert!(text.starts_with(r"Nine [\[1\]](https://t.me/c/1/1). Parking \[2\]. More."), "{text}");
    }

    #[test]
    fn no_number_of_the_prompt_is_left() {
        let (given, labels) = (given(), labels());
        let basis = CitationBasis { given: &given, labels: &labels, ask: SourceId::parse("m7") };
        for (answer, text) in [
            ("Thai [3].", r"Thai \[1\]."),
            ("Thai [source: 3; 9].", r"Thai \[1\]."),
            ("Thai [^3] [messages 3 and 1].", r"Thai \[1\][\[2\]]"),
            ("Thai [9].", "Thai.\n\n(Removed invalid citation)"),
            ("Thai [3](https://example.org).", "Thai [3](https://example.org)."),
            ("Thai [m3 · Ana · 14:02].", r"Thai \[1\]."),
            ("Thai [source: m3, Ana].", r"Thai \[1\]."),
            ("Thai [source: `m3`].", r"Thai \[1\]."),
            ("You ask for Thai [source: m7].", "You ask for Thai."),
            ("20 m2, 3 €/m3", "20 m2, 3 €/m3"),
        ] {
            let found = check(answer, basis, None, moment("15:00"), here(), ENGLISH).text;
            assert!(found.starts_with(text), "{answer}: {found}");
        }
    }

    #[test]
    fn what_stands_below_an_open_block_of_code_is_not_in_it() {
        check_text(
            "Look [source: m1]:\n```python\ndef f():",
            expect![[r#"
                Look [\[1\]](https://t.me/c/1/1):
                ```python
                def f():
                ```

                Sources: [\[1\]](https://t.me/c/1/1) Ana 14:02"#]],
        );
    }

    #[test]
    fn a_citation_in_code_is_taken_out_of_it() {
        check_text(
            "Run `ls -l [source: m3]`:\n```\nls [source: m3]\n```",
            expect![[r#"
                Run `ls -l`:
                ```
                ls
                ```

                Sources: \[1\] Cat 14:07 “Closed on Mondays, as far as I know, and on Sundays too”"#]],
        );
    }

    #[test]
    fn code_stays_what_it_is() {
        let (given, labels) = (given(), labels());
        let basis = CitationBasis { given: &given, labels: &labels, ask: None };
        for code in ["`f(n1, n2)`", "`a[m1]`", "`m12 = u3`", "```rust\nlet m10 = list[m1];\nfor u3 in m2 {}\n```"] {
            let text = format!("Write {code} there.");
            assert_eq!(check(&text, basis, None, moment("15:00"), here(), ENGLISH).text, text);
        }
        for (code, linked) in [("`m1`", r"[\[1\]](https://t.me/c/1/1)"), ("`[m3]`", r"\[1\]")] {
            let text = check(&format!("So {code} says."), basis, None, moment("15:00"), here(), ENGLISH).text;
            assert!(text.starts_with(&format!("So {linked} says.")), "{text}");
        }
    }

    #[test]
    fn a_summary_leads_to_the_messages_it_rests_on() {
        let grounds = |name: &str, id: u32| SourceMessage {
            message: Seq(id),
            name: name.to_owned(),
            is_own: false,
            sent_at: moment("-3d 10:00"),
            link: Some(format!("https://t.me/c/1/{id}")),
        };
        let summary = Citable {
            id: SourceId::summary(5),
            name: "Summary".to_owned(),
            is_own: false,
            sent_at: moment("-3d 11:00"),
            text: "They chose the lake.".to_owned(),
            link: None,
            rests_on: vec![grounds("Ana", 41), grounds("Bob", 42)],
        };
        expect![[r#"
            The lake [\[1\]](https://t.me/c/1/41).

            Sources: [\[1\]](https://t.me/c/1/41) Summary ([Ana 2 Jan 10:00](https://t.me/c/1/41), [Bob 2 Jan 10:00](https://t.me/c/1/42))"#]]
        .assert_eq(&checked("The lake [source: s5].", &[summary]).text);
    }

    #[test]
    fn sources_are_named_in_the_language_of_the_chat() {
        for (language, expected) in [
            (
                "eng",
                expect![
                    "Sources: [1] Rules 4 Jan 10:00 “a” · [2] Summary 4 Jan 10:00 “a” · [3] Note: Rules 4 Jan 10:00 “a” · [4] Page: Rules 4 Jan 10:00 “a” · [5] Document: Rules, p. 2 4 Jan 10:00 “a”"
                ],
            ),
            (
                "deu",
                expect![
                    "Quellen: [1] Rules 4. Jan. 10:00 „a“ · [2] Zusammenfassung 4. Jan. 10:00 „a“ · [3] Notiz: Rules 4. Jan. 10:00 „a“ · [4] Seite: Rules 4. Jan. 10:00 „a“ · [5] Dokument: Rules, S. 2 4. Jan. 10:00 „a“"
                ],
            ),
            (
                "rus",
                expect![
                    "Источники: [1] Rules 4 янв. 10:00 «a» · [2] Сводка 4 янв. 10:00 «a» · [3] Заметка: Rules 4 янв. 10:00 «a» · [4] Страница: Rules 4 янв. 10:00 «a» · [5] Документ: Rules, стр. 2 4 янв. 10:00 «a»"
                ],
            ),
        ] {
            let given = ["m1", "s1", "n1", "p1", "d1p2"].map(|id| Citable {
                id: SourceId::parse(id).expect("an id"),
                name: "Rules".to_owned(),
                is_own: false,
                sent_at: moment("-1d 10:00"),
                text: "a".to_owned(),
                link: None,
                rests_on: Vec::new(),
            });
            let basis = CitationBasis { given: &given, labels: &labels(), ask: None };
            let words = CitationWords { language, ..ENGLISH };
            let answer = "A [source: m1, s1, n1, p1, d1p2].";
            let text = check(answer, basis, None, moment("15:00"), here(), words).text.replace('\\', "");
            expected.assert_eq(text.lines().last().unwrap_or_default());
        }
    }

    #[test]
    fn a_source_without_a_link_is_named_and_quoted() {
        check_text(
            "Closed today [source: m3].",
            expect![[r#"
            Closed today \[1\].

            Sources: \[1\] Cat 14:07 “Closed on Mondays, as far as I know, and on Sundays too”"#]],
        );
    }

    #[test]
    fn a_long_source_without_a_link_is_quoted_where_it_says_the_same() {
        let text = "LEASE between Mrs E. Osterwald and the tenants. The deposit is 2,300 euros. Pets need consent.";
        assert_eq!(said_again(text, "The deposit: 2,300 euros"), "The deposit is 2,300 euros.");
        assert_eq!(said_again(text, "Yes"), text);
    }

    #[test]
    fn invalid_citations_are_removed_and_that_is_said_once() {
        check_text(
            "A [source: m9]. B [source: x-1, m1]. C [source: m8].",
            expect![[r#"
            A. B [\[1\]](https://t.me/c/1/1). C.

            (Removed invalid citation)

            Sources: [\[1\]](https://t.me/c/1/1) Ana 14:02"#]],
        );
    }

    #[test]
    fn an_answer_without_citations_stays_as_it_is() {
        check_text(
            "Nothing to cite [1], not even [sources].",
            expect![[r#"
            Nothing to cite [\[1\]](https://t.me/c/1/1), not even [sources].

            Sources: [\[1\]](https://t.me/c/1/1) Ana 14:02"#]],
        );
    }

    #[test]
    fn a_list_of_sources_made_by_the_model_is_replaced_by_ours() {
        check_text(
            "A [source: m1].\n\nSources: m1, m2",
            expect![[r#"
            A [\[1\]](https://t.me/c/1/1).

            Sources: [\[1\]](https://t.me/c/1/1) Ana 14:02 · [\[2\]](https://t.me/c/1/2) Bob x 2 Jan 14:05"#]],
        );
        check_text(
            "A [source: m1].\n\n**Sources:**\n- [source: m1]\n- [m2]\n",
            expect![[r#"
                A [\[1\]](https://t.me/c/1/1).

                Sources: [\[1\]](https://t.me/c/1/1) Ana 14:02 · [\[2\]](https://t.me/c/1/2) Bob x 2 Jan 14:05"#]],
        );
        check_text(
            "Sources: [source: m3]",
            expect![[r#"Sources: \[1\] Cat 14:07 “Closed on Mondays, as far as I know, and on Sundays too”"#]],
        );
    }

    #[test]
    fn a_last_line_that_only_begins_like_a_list_stays() {
        check_text(
            "A.\nSources: the town hall says so",
            expect![[r#"
            A.
            Sources: the town hall says so"#]],
        );
        check_text(
            "A.\nSources:",
            expect![[r#"
            A.
            Sources:"#]],
        );
    }

    #[test]
    fn the_log_gets_generated_valid_and_removed_ids_and_the_row_gets_short_texts() {
        let mut given = given();
        given[1].text = "long ".repeat(100);
        let found = checked("A [source: M2, m9] [source: m1] [source: m2]", &given);
        assert_eq!(found.generated, ["m2", "m9", "m1"]);
        assert_eq!(found.valid, ["m2", "m1"]);
        assert_eq!(found.removed, ["m9"]);
        assert_eq!(
            found.sources[1],
            SourceRef { id: "m1".to_owned(), text: "We should look at the restaurant".to_owned() }
        );
        assert!(found.sources[0].text.chars().count() <= 160 && found.sources[0].text.ends_with('…'));
    }

    proptest! {
        #[test]
        fn only_what_was_given_is_ever_a_source(answer in r"(A |\[source: m[0-9]\]|\[source: m1, m[0-9]\]|\n|Sources: m[0-9]){0,12}") {
            let found = checked(&answer, &given());
            prop_assert!(found.valid.iter().all(|id| ["m1", "m2", "m3"].contains(&id.as_str())));
            prop_assert!(found.removed.iter().all(|id| !["m1", "m2", "m3"].contains(&id.as_str())));
            prop_assert!(!TAGS.is_match(&found.text), "{}", found.text);
            prop_assert_eq!(found.text.matches(source_labels("eng").1).count(), usize::from(!found.removed.is_empty()));
            prop_assert_eq!(found.generated.len(), found.valid.len() + found.removed.len());
        }
    }
}
