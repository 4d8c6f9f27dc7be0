//! Finds the citations of an answer in one pass and writes each in the canonical form: `[source: 4]`, `[source: m3,
//! s5]`.
//!
//! The prompt shows messages as `[4]` and other sources as `[s5]`, `[n2]`. Models also write lists and ranges, a word
//! before the id, the author behind it, and round or full-width brackets.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::citation_basis::CitationBasis;
use crate::lines::Labels;
use crate::{pattern, pattern_in_any_case};
use chime_core::{SourceId, folded};

/// Words that models write before an id (source, see), besides [`MESSAGE`], in the supported languages.
const LEAD: &str = "sources?|src|refs?|references?|citations?|ids?|see|cf|quellen?|siehe|fuentes?|véase|ver|voir|fontes?\
    |fonti|vedi|источники?|см|джерел[оа]|див|kaynak(?:lar)?|bkz|allika[sd]|vt|bron(?:nen)?|zie|źródł[oa]|zob";
/// Words for a message, in the supported languages.
const MESSAGE: &str = "messages?|msgs?|nachricht(?:en)?|mensajes?|mensage(?:m|ns)|messaggi[oi]?|сообщени[еяйию]|повідомленн[яі]\
    |mesaj(?:lar)?|sõnum(?:id)?|berichten|wiadomoś(?:ć|ci)";
const ID: &str = SourceId::PATTERN;
/// Signs and words between two ids of a list or a range.
const JOINT: &str = r"(?:\s*(?:[,;/&+|،、，；–—…-]|\b(?:to|and|or|und|bis|y|o|et|e|и|та|ve|ja|en|i|do)\b)\s*|\s+)";
/// Regular expression for a block or a span of code.
pub const CODE: &str = r"```[\s\S]*?(?:```|\z)|`[^`\n]+`";

/// Matches what contains no citation (a formula, a LaTeX command with an option, a web address), code, a link whose
/// address is an id (`[the boat](m3)`), or text in brackets, perhaps with a web address that the model invented
/// (`[m3](https://…)`).
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let forms = [
        &format!("(?P<code>{CODE})"),
        r"\$\$[^$]*(?:\\[a-z]|[\w)}]\^|=)[^$]*\$\$|\$[^$\n]*(?:\\[a-z]|[\w)}]\^)[^$\n]*\$",
        r"\\\([^\n]*?\\\)|\\\[(?:[^\\]|\\[^\]])*?(?:\\[a-z]|[=^])(?s:.)*?\\\]|\\[a-z]+\[[^\[\]\n]*\]",
        r"\w+://[^\s\[\]()<>]+(?:(?:\[[^\s\[\]]*\])+[a-z0-9_=&/?#%][^\s\[\]()<>]*)*",
        r"\[(?P<words>[^\[\]\n]{1,80})\]\((?P<to>[^()\n:]{1,40})\)",
        r"[\[【［]{1,2}(?P<square>[^\[\]【】［］\n]{1,200})[\]】］]{1,2}(?P<address>\((?:https?|tg)://(?:[^()\s]|\([^()\s]*\))*\))?",
        r"[(（](?P<round>[^()（）\[\]【】［］\n]{1,80})[)）]",
        &format!(r"\b(?:{MESSAGE})[ \t]+#?(?P<numbers>[0-9]{{1,3}}(?:{JOINT}[0-9]{{1,3}})*)\b"),
    ];
    pattern_in_any_case(&forms.join("|"))
});
/// Matches the text in a pair of brackets if it begins with ids or numbers. The tail is what models put behind an id:
/// the name or the time of the message.
static LIST: LazyLock<Regex> = LazyLock::new(|| {
    let item = format!(r"(?:\b(?:{LEAD}|{MESSAGE})\b\s*[:：.#=]?\s*){{0,2}}[`#^]*(?:{PAGED}|{ID}|[0-9]{{1,3}})\b`?");
    pattern_in_any_case(&format!(
        r"\A\s*(?P<items>{item}(?:{JOINT}{item})*)\s*(?:(?P<tail>[·:|,][^\n]{{1,60}})|\s(?P<author>[^\n]{{1,60}}))?\z"
    ))
});
/// Matches the time of a message behind its id.
static TIME_BEHIND: LazyLock<Regex> =
    LazyLock::new(|| pattern_in_any_case(r"\A(?P<before>[^\n]*?[0-9\w])\s*[·|,]?\s+[0-9]{1,2}:[0-9]{2}\s*\z"));
/// Matches numbers of messages in words, in round brackets.
static IN_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern_in_any_case(&format!(r"\A\s*(?:{MESSAGE})\s+#?(?P<numbers>[0-9]{{1,3}}(?:{JOINT}[0-9]{{1,3}})*)\s*\z"))
});
/// Matches a page behind the id of its document: `d3, p. 4`.
const PAGED: &str = r"(?:d[0-9]{1,9}\s*,?\s*(?:pages?|pp?|seite|s|стр|с)(?:\.\s*|\s+)[0-9]{1,5})";
static ITEM: LazyLock<Regex> = LazyLock::new(|| pattern_in_any_case(&format!(r"\b(?:{PAGED}|{ID}|[0-9]{{1,3}})\b")));
static IDS: LazyLock<Regex> = LazyLock::new(|| pattern_in_any_case(&format!(r"\b{ID}\b")));
/// Matches the text in the brackets of the canonical form, even if the ids do not exist.
static SEED: LazyLock<Regex> = LazyLock::new(|| {
    pattern_in_any_case(r"\Asources?:\s*(?P<ids>[A-Za-z0-9_-]+(?:\s*[,;]\s*(?:sources?:\s*)?[A-Za-z0-9_-]+)*)\s*\z")
});
static SAYS_SOURCE: LazyLock<Regex> = LazyLock::new(|| pattern_in_any_case(r"\A\s*sources?\s*[:：=]"));
/// Matches text that consists only of citations.
static ONLY_CITES: LazyLock<Regex> = LazyLock::new(|| pattern_in_any_case(r"\A(?:\[source: [^\[\]\n]+\][ \t,;]*)+\z"));
/// Matches the start of a footnote with words, or of an address for links that is below the text: `[1]: https://…`.
static DEFINITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^[ \t>]*\[(?P<name>\^[0-9]{1,3})\]:|^[ \t>]*\[(?P<number>[0-9]{1,3})\]:[ \t]*<?\w+://")
});
/// Matches a name that is a list in a programming language: `list[0]`, `list[1] = 2`, `R[1]C[2]`, `list = [1, 2]`.
static INDEXED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?P<name>[\p{L}_][\p{L}\p{N}_]*)(?:\[0[0-9:., -]*\]|\[[0-9]{1,3}\](?:[ \t]*[=+]|[A-Za-z])|[ \t]*=[ \t]*\[)",
    )
});
/// Matches an answer that is one code block as a whole.
static IN_A_FENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern_in_any_case(
        r"\A\s*```(?P<language>markdown|md|text|txt)?[ \t]*\n(?P<text>(?:[^`]|`{1,2}[^`])*`{0,2})\n[ \t]*```\s*\z",
    )
});
/// Matches a number in square brackets, perhaps with the end of a sentence behind it.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[(?P<number>[0-9]{1,3})\](?P<end>[.!?。](?:\s|\z))?"));

/// Matches a word that models write before an id.
static LEADS: LazyLock<Regex> = LazyLock::new(|| pattern_in_any_case(&format!(r"\A(?:{LEAD}|{MESSAGE})\z")));

/// Returns `true` for a word that models write before an id, such as "message".
pub fn is_lead(word: &str) -> bool {
    LEADS.is_match(word)
}

/// Returns `answer` with every citation in the canonical form. What a member wrote in the chat is not changed, nor code
/// that contains anything besides citations.
pub fn canonical(answer: &str, basis: CitationBasis<'_>) -> String {
    let answer = with_ascii_numbers(answer);
    let answer = answer.as_ref();
    let one_form = |found: &Captures<'_>| {
        let text = |name| found.name(name).map(|part| part.as_str());
        if let Some(code) = text("code") {
            return cited_as_code(code, basis);
        }
        if let Some(numbers) = text("numbers") {
            let rest = found.get(0).map_or("", |whole| &answer[whole.end()..]);
            let rest = rest.trim_start_matches([' ', '*']);
            // "I sent the message 10 minutes ago" cites nothing.
            let is_citation = rest.is_empty()
                || rest.starts_with(['.', ',', ';', ')', '!', '?', '\n'])
                || basis.labels.names().any(|name| rest.starts_with(name));
            return cited_in_words(numbers, basis.labels).filter(|_| is_citation);
        }
        let cited = |text, is_square, has_address| cited(text, is_square, has_address, basis.labels);
        let ids = match (text("words"), text("to"), text("square"), text("round")) {
            (.., Some(square), _) => cited(square, true, text("address").is_some()),
            (.., Some(round)) => match IN_WORDS.captures(round) {
                Some(found) => return cited_in_words(&found["numbers"], basis.labels),
                None => cited(round, false, false),
            },
            (Some(_), Some(to), ..) => cited(to, false, false),
            _ => None,
        };
        let is_other = || found.get(0).is_some_and(|whole| is_other_number(answer, whole.range()));
        let ids = ids.filter(|_| !basis.stays_as_written(&found[0]) && !is_other())?;
        let tag = format!("[source: {}]", ids.join(", "));
        Some(match text("words").filter(|words| cited(words, true, false).is_none()) {
            Some(words) => format!("{words} {tag}"),
            None => tag,
        })
    };
    TOKEN
        .replace_all(answer, |found: &Captures<'_>| one_form(found).unwrap_or_else(|| found[0].to_owned()))
        .into_owned()
}

/// Returns `answer` with the digits of other scripts in brackets that hold only numbers as ASCII digits: `[۴۴]` as `[44]`.
pub fn with_ascii_numbers(answer: &str) -> Cow<'_, str> {
    static NUMBERS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"[\[【［]{1,2}[\s,;،、；，–-]*\p{Nd}[\p{Nd}\s,;،、；，–-]{0,60}[\]】］]{1,2}"));
    NUMBERS.replace_all(answer, |found: &Captures<'_>| {
        match found[0].chars().any(|c| c.is_numeric() && !c.is_ascii()) {
            true => folded(&found[0]).into_owned(),
            false => found[0].to_owned(),
        }
    })
}

/// Returns `true` if the brackets at `range` have numbers that cite nothing: the mark of a footnote or an address
/// that the answer has below its text, an index (`a[1] = 2`), or a list of values (`x = [1, 2]`).
fn is_other_number(answer: &str, range: Range<usize>) -> bool {
    let (before, brackets, behind) = (&answer[..range.start], &answer[range.clone()], &answer[range.end..]);
    if brackets.contains(char::is_alphabetic) {
        return false;
    }
    let inside = brackets.trim_matches(['[', ']']);
    let mut definitions =
        DEFINITION.captures_iter(answer).filter_map(|found| found.name("name").or(found.name("number")));
    let word = &before[before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len()..];
    let is_index = || {
        let mut names = INDEXED.captures_iter(answer).filter_map(|found| found.name("name"));
        word.trim_matches('_').contains('_') || names.any(|name| name.as_str() == word)
    };
    let before = before.trim_end_matches(' ');
    let is_list = inside.contains([',', ';', ' ']);
    let is_in_list = brackets.matches('[').count() != brackets.matches(']').count();
    definitions.any(|name| name.as_str() == inside)
        || is_index()
        || before.ends_with(['=', '∈'])
        || behind.starts_with('{')
        || is_list && (is_in_list || before.ends_with(':'))
}

/// Returns the ids that the text in a pair of brackets cites; `None` if it cites nothing. A number without a letter
/// is a citation only in square brackets that no address follows (`[4](https://…)` is a link), alone or with the
/// author or the time of its message. A list or range of them is one only if the prompt has all these messages.
fn cited(text: &str, is_square: bool, has_address: bool, labels: &Labels) -> Option<Vec<String>> {
    let says_source = SAYS_SOURCE.is_match(text);
    let text = TIME_BEHIND.captures(text).and_then(|found| found.name("before")).map_or(text, |before| before.as_str());
    let ids = |list: &str| ITEM.find_iter(list).map(|id| written(id.as_str())).collect::<Vec<String>>();
    let is_author = |ids: &[String], name: &str| {
        ids.iter()
            .all(|id| id.parse().ok().and_then(|number| labels.author(number)).is_some_and(|by| name.contains(by)))
    };
    let has_author =
        |list: &Captures<'_>| list.name("author").is_none_or(|author| is_author(&ids(&list["items"]), author.as_str()));
    let list = LIST.captures(text).filter(has_author);
    let tail = list.as_ref().and_then(|found| found.name("tail")).map_or("", |tail| tail.as_str());
    if let Some(found) = SEED.captures(text).filter(|_| is_square && (list.is_none() || !tail.is_empty())) {
        return Some(vec![found["ids"].to_owned()]);
    }
    let Some(list) = list else {
        let ids: Vec<String> = IDS.find_iter(text).map(|id| id.as_str().to_lowercase()).collect();
        return (says_source && !ids.is_empty()).then_some(ids);
    };
    let items = &list["items"];
    let ids = ids(items);
    let is_known = |id: &String| id.parse().is_ok_and(|number| labels.source(number).is_some());
    let may_be_numbers = items.starts_with(char::is_alphabetic)
        || !ids.iter().any(|id| id.starts_with('0'))
            && (ids.len() == 1 || !items.contains('/') && ids.iter().all(is_known));
    let has_id = ids.iter().any(|id| id.starts_with(char::is_alphabetic)) && (is_square || !tail.starts_with(','));
    let is_number = is_square && !has_address && may_be_numbers && (tail.is_empty() || is_author(&ids, tail));
    (says_source || has_id || is_number).then_some(ids)
}

/// Returns the citation for message numbers in words ("message 4"); `None` if the prompt has no messages with these
/// numbers.
fn cited_in_words(numbers: &str, labels: &Labels) -> Option<String> {
    let ids: Vec<&str> = ITEM.find_iter(numbers).map(|number| number.as_str()).collect();
    let is_known = |id: &&str| id.parse().is_ok_and(|number| labels.source(number).is_some());
    ids.iter().all(is_known).then(|| format!("[source: {}]", ids.join(", ")))
}

/// Converts `D3, p. 4` to `d3p4`.
fn written(id: &str) -> String {
    let digits: Vec<&str> = id.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    match (id.chars().next().filter(|c| c.is_alphabetic()), digits.as_slice()) {
        (Some(_), [document, page]) => format!("d{document}p{page}"),
        _ => id.to_lowercase(),
    }
}

/// Returns the citations in a code block or span, which includes its backticks; `None` if it contains anything else: in
/// code, `[m1]` may be an index.
fn cited_as_code(code: &str, basis: CitationBasis<'_>) -> Option<String> {
    let text = code.trim_matches('`').trim();
    let is_source = SourceId::parse(text).is_some_and(|id| basis.given.iter().any(|source| source.id == id));
    if is_source && !basis.stays_as_written(text) {
        return Some(format!("[source: {text}]"));
    }
    Some(canonical(text, basis)).filter(|cited| ONLY_CITES.is_match(cited))
}

/// Removes the code fence around an answer if the whole answer is one code block that contains prose with citations.
/// In a block of Markdown, any citation shows that it is prose; in others, one at the end of a sentence.
pub fn unfenced<'a>(answer: &'a str, labels: &Labels) -> &'a str {
    let Some(found) = IN_A_FENCE.captures(answer) else { return answer };
    let text = found.name("text").map_or(answer, |text| text.as_str());
    let is_markdown = found.name("language").is_some_and(|language| language.as_str().to_lowercase().starts_with('m'));
    let cites = NUMBER.captures_iter(text).any(|found| {
        let is_known = found["number"].parse().is_ok_and(|number| labels.source(number).is_some());
        is_known && (is_markdown || found.name("end").is_some())
    });
    if cites || text.contains("[source") || is_markdown && IDS.is_match(text) { text } else { answer }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::Seq;

    #[track_caller]
    fn check(answer: &str, expected: &str) {
        let basis = CitationBasis { given: &[], labels: &Labels::default(), ask: None };
        assert_eq!(canonical(answer, basis), expected, "{answer}");
    }

    #[test]
    fn every_form_of_a_citation_becomes_one() {
        for form in [
            "[m17]",
            "(m17)",
            "【m17】",
            "［m17］",
            "[[m17]]",
            "[^m17]",
            "[#m17]",
            "[M17]",
            "[source m17]",
            "(source: m17)",
            "[source： m17]",
            "[source: message m17]",
            "[source: `m17`]",
            "[message m17]",
            "[Quelle: m17]",
            "[источник: m17]",
            "(see m17)",
            "(см. m17)",
            "[m17: Ana]",
            "[m17, Ana]",
            "[m17 · Ana · 14:02]",
            "(m17: Ana)",
            "[source: m17](https://t.me/c/1/2)",
            "[1](m17)",
            "[source: m17 by Ana]",
            "[source=m17]",
            "`[source: m17]`",
            "``` [m17] ```",
            "`(see m17)`",
        ] {
            check(&format!("At nine {form}."), "At nine [source: m17].");
        }
    }

    #[test]
    fn several_in_one_bracket_are_all_cited() {
        for form in [
            "[m3, m17]",
            "(m3/m17)",
            "[m3–m17]",
            "[m3 m17]",
            "(m3 and m17)",
            "[m3; source: m17]",
            "[m3 und m17]",
            "[messages m3 & m17]",
            "[source: m3-m17]",
            "[source: m3 | m17]",
        ] {
            check(&format!("At nine {form}."), "At nine [source: m3, m17].");
        }
    }

    /// Labels of a prompt with 30 messages.
    fn thirty() -> Labels {
        let mut labels = Labels::default();
        for seq in 1..=30 {
            labels.assign(Seq(seq), if seq == 29 { "Ana" } else { "Ben" }.to_owned());
        }
        labels
    }

    #[test]
    fn numbers_in_square_brackets_are_citations() {
        let labels = thirty();
        let basis = CitationBasis { given: &[], labels: &labels, ask: None };
        for (answer, expected) in [
            ("At nine [4], [5, 6] and [#8].", "At nine [source: 4], [source: 5, 6] and [source: 8]."),
            ("[message 4] [Quelle: 4]【4】 [source: message 4]", "[source: 4] [source: 4][source: 4] [source: 4]"),
            ("At nine [4-6].", "At nine [source: 4, 6]."),
            ("Nine[1]. Ten[2][3]", "Nine[source: 1]. Ten[source: 2][source: 3]"),
            ("As said in [1, 2]: nine. So: [3]", "As said in [source: 1, 2]: nine. So: [source: 3]"),
            (
                "**Nine[1]**, _ten[2]_, 9:40[3] ([4], [5])",
                "**Nine[source: 1]**, _ten[source: 2]_, 9:40[source: 3] ([source: 4], [source: 5])",
            ),
            ("船は九時[1]に出ます", "船は九時[source: 1]に出ます"),
            (
                "$5 [3] and $10 [4], ($$) [5] or ($$$) [6]",
                "$5 [source: 3] and $10 [source: 4], ($$) [source: 5] or ($$$) [source: 6]",
            ),
            (
                "https://example.org/a[1][2]. Nine^[3]^",
                "https://example.org/a[source: 1][source: 2]. Nine^[source: 3]^",
            ),
            ("Nine [99] [messages 4, 99].", "Nine [source: 99] [source: 4, 99]."),
        ] {
            assert_eq!(canonical(answer, basis), expected, "{answer}");
        }
    }

    #[test]
    fn numbers_of_code_and_mathematics_are_no_citations() {
        let labels = thirty();
        let basis = CitationBasis { given: &[], labels: &labels, ask: None };
        for text in [
            "Rate it [1-100], x is in [0, 10], at [59, 24].",
            "Step [1/3] is done, [2/3] next.",
            "arr[0] is first and arr[2] last; my_list[3], R[1]C.",
            "a[1] = a[2] + 1; nums = [1, 2, 3] then nums[1]",
            r#"JSON: {"a": [1, 2]} and [[1, 2], [3, 1]]"#,
            "Regex: ^[0-9]{3}$ or [1-9]{3}",
            "https://example.org/?a[1]=2&b[0]=3 [see](https://example.org/[1])",
            r"$$\int_1^3 f = [1, 3]$$ and $x \in [1, 2]$ and $x^2 [1]$",
            r"\sqrt[3]{27}, \(x \in [1, 2]\)",
            "\\[\nx = [1, 2]\n\\]",
            "[1](https://example.org/a_(b)) and [2](https://example.org/x)",
            "Read [this][1] or [1].\n\n[1]: https://example.org/x",
            "At nine[^1].\n\n[^1]: Says the *ferry*.",
        ] {
            assert_eq!(canonical(text, basis), text);
        }
    }

    #[test]
    fn a_number_with_the_author_or_time_of_its_message_is_a_citation() {
        let labels = thirty();
        let basis = CitationBasis { given: &[], labels: &labels, ask: None };
        for form in
            ["[29: Ana]", "[29, Ana]", "[29 Ana]", "[29 · Ana · 18:59]", "[29, 18:59]", "(message 29)", "message #29"]
        {
            assert_eq!(canonical(&format!("At nine {form}."), basis), "At nine [source: 29].", "{form}");
        }
        assert_eq!(
            canonical("See messages 22 and 24, and Nachricht 29", basis),
            "See [source: 22, 24], and [source: 29]"
        );
        for text in [
            "sent the message 10 minutes ago",
            "**Message 1:** Hi",
            "Messages\n1. Ferry",
            "[29: done]",
            "[29 eggs]",
            "message 31",
            "(29)",
            "[3 Ana]",
        ] {
            assert_eq!(canonical(text, basis), text);
        }
    }

    #[test]
    fn the_one_form_and_what_cites_nothing_stay() {
        for text in [
            "At nine [source: m17, x-1; source: 9].",
            "[source: general knowledge]",
            "(source: Wikipedia)",
            "see m17",
            "the m17s (room 4)",
            "(m3, but not today)",
            "[4](https://example.org) [2026] [x] [4: done]",
            "```\nlet m = [1];\n```",
            "`f(m1, m2)` and `list[m1]` and `m17`",
            "[the plan](https://example.org/m17)",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn a_page_of_a_document_is_one_source() {
        for form in ["[d3p4]", "[d3, p. 4]", "(source: d3 page 4)", "[d3, S. 4]", "[D3p4 · Minutes, p. 4]"] {
            check(&format!("At nine {form}."), "At nine [source: d3p4].");
        }
        check("At nine [d3p4, d3p5].", "At nine [source: d3p4, d3p5].");
    }

    #[test]
    fn numbers_in_digits_of_any_script_are_citations() {
        let labels = thirty();
        let basis = CitationBasis { given: &[], labels: &labels, ask: None };
        for form in ["[۲۹]", "[٢٩]", "[२९]", "［２９］", "【29】"] {
            assert_eq!(canonical(&format!("At nine {form}."), basis), "At nine [source: 29].", "{form}");
        }
        assert_eq!(canonical("At nine [۲۲، ۲۴].", basis), "At nine [source: 22, 24].");
    }

    #[test]
    fn linked_words_keep_their_words() {
        check("See [the boat](m3).", "See the boat [source: m3].");
    }

    #[test]
    fn an_answer_set_as_code_is_none() {
        let labels = thirty();
        for (answer, text) in [
            ("```markdown\nAt nine [m17].\n```", "At nine [m17]."),
            ("```\nAt nine [source: m17].\n```", "At nine [source: m17]."),
            (
                "```markdown\n# Plan\n- **Boat** at nine [1]\n- Use `rope`\n```",
                "# Plan\n- **Boat** at nine [1]\n- Use `rope`",
            ),
            ("```\nThe boat leaves at nine [1].\n```", "The boat leaves at nine [1]."),
        ] {
            assert_eq!(unfenced(answer, &labels), text);
        }
        for code in [
            "```\nls -l\n```",
            "```\nlet x = list[m1];\n```",
            "```text\nm1\n```",
            "```\nreturn [1]\n```",
            "```\na = [1].map(f)\n```",
            "```markdown\n# Title\n[99]\n```",
            "```markdown\n[1]\n```\nand\n```\n[1]\n```",
        ] {
            assert_eq!(unfenced(code, &labels), code);
        }
    }
}
