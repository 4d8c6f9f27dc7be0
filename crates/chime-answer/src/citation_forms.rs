//! Converts the forms in which models write citations into the canonical one: `[source: m17]`, `[source: m3, s5]`.
//!
//! Small models use other forms: `[m17]`, `(see m17)`, `【m3, m17】`, `[^m17]`, `[m17 · u3 Ana · 14:02]`. This module
//! does not check if an id is valid.

use std::borrow::Cow;
use std::mem;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use chime_core::SourceId;

/// Words that models write before an id (source, message, see), in the supported languages.
const LEAD: &str = "sources?|src|refs?|references?|citations?|cite|messages?|msgs?|ids?|see|cf\
    |quellen?|nachricht(?:en)?|siehe|fuentes?|mensajes?|véase|ver|voir|fontes?|mensage(?:m|ns)|fonti|messaggi[oi]?|vedi\
    |источники?|сообщени[еяй]|см|джерел[оа]|повідомлення|див|kaynak(?:lar)?|mesaj(?:lar)?|bkz|allika[sd]|sõnum(?:id)?|vt\
    |bron(?:nen)?|bericht(?:en)?|zie|źródł[oa]|wiadomoś(?:ć|ci)|zob";
const ID: &str = SourceId::PATTERN;
const JOINT: &str =
    r"(?:\s*(?:[,;/&+|、，；–—…-]|\.{2,3}|\b(?:to|and|or|und|bis|y|o|et|e|и|та|ve|ja|en|i|do)\b)\s*|\s+)";
/// Text that models put behind an id: the name or the time of the message.
const TAIL: &str = r"(?:\s*[·:|,]\s*[^\[\]【】［］\n]{1,60})?";
/// The same inside round brackets. It is shorter and excludes commas, since round brackets are common in prose.
const SHORT_TAIL: &str = r"(?:\s*[·:|]\s*[^()（）\n]{1,40})?";

/// Patterns of the non-canonical forms. [`canonical`] applies all of them in this order.
static FORMS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let lead = format!(r"(?:\b(?:{LEAD})\b\s*[:：.#]?\s*)?");
    let id = id();
    let ids = format!("{lead}{id}(?:{JOINT}{lead}{id})*");
    [
        format!(r"[\[【［]{{1,2}}\s*{ids}{TAIL}\s*[\]】］]{{1,2}}"),
        format!(r"[(（]\s*{ids}{SHORT_TAIL}\s*[)）]"),
        r"[\[【［(（]\s*sources?\s*[:：=][^\[\]【】［］()（）\n]{1,120}[\]】］)）]".to_owned(),
        format!(r"<(?:source|cite|citation|ref)\b[^<>\n]{{0,20}}>\s*{ids}\s*</\s*(?:source|cite|citation|ref)\s*>"),
        format!(r"[{{<]\s*{ids}\s*/?[}}>]"),
        format!(r"\^\s*{ids}\s*\^"),
    ]
    .iter()
    .map(|raw| pattern(raw))
    .collect()
});
/// Matches a citation in the canonical form, even if its ids do not exist.
const ONE_FORM: &str = r"\[sources?:\s*[A-Za-z0-9_-]+(?:\s*[,;]\s*(?:sources?:\s*)?[A-Za-z0-9_-]+)*\s*\]";
static IS_ONE_FORM: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\A{ONE_FORM}\z")));
/// Matches a range of ids, which the canonical form would parse as one id: `m4-m7`.
static RANGE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\b{ID}\s*[–—-]\s*[msnpd]?[0-9]")));
/// Matches a page behind the id of its document: `d3, p. 4`.
static PAGED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(d[0-9]{1,9})\s*,?\s*(?:pages?|pp?|seite|s|стр|с)(?:\.\s*|\s+)([0-9]{1,5})\b"));
/// Matches a citation that gives a number after a word for a message: `[source: message 2]`.
static NUMBERED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\bsources?\s*[:：=]\s*(?:messages?|msgs?|nachricht|mensaje|message)\s*#?([0-9]{1,9})\b")
});
/// Matches an id of a source: `m17`, `s5`, `d3p4`.
static IDS: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\b{ID}\b")));
/// Matches a Markdown link whose address is an id: `[the boat](m3)`.
static LINKED_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    let id = id();
    pattern(&format!(r"\[([^\[\]\n]{{1,80}})\]\(\s*(?:sources?\s*[:：]\s*)?({id}(?:{JOINT}{id})*)\s*\)"))
});
/// Matches a citation to which the model added an invented web address: `[source: m3](https://…)`.
static ADDRESSED: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"({ONE_FORM})\((?:https?|tg)://[^()\s]*\)")));
/// Matches a block or a span of code.
static CODE: LazyLock<Regex> = LazyLock::new(|| pattern(r"```[\s\S]*?(?:```|\z)|`[^`\n]+`"));
/// Matches text that consists only of citations.
static ONLY_CITES: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\A(?:{ONE_FORM}[ \t,;]*)+\z")));
/// Matches a citation whose ids have backticks around them.
static TICKED: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\[sources?:\s*`(?P<ids>{ID}(?:\s*,\s*{ID})*)`\s*\]")));
/// Matches an answer that is one code block as a whole.
static IN_A_FENCE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\A\s*```(markdown|md|text|txt)?[ \t]*\n([^`]*)\n[ \t]*```\s*\z"));
/// Matches a line in the format of the prompt's messages, which models sometimes copy: `[17] Ana (14:02): text`.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^(?P<list>[ \t>*•-]*)\[(?P<number>[0-9]{1,3})\] (?P<name>[^\n:\[\]()]{1,40})(?: \([^()\n]{1,40}\))?: (?P<text>[^\n]+)$",
    )
});
/// Matches message numbers in brackets, as the prompt shows them: `[4]`, `[4, 7]`, `[messages 4 and 7]`, `[^4]`.
static NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
    let lead = format!(r"(?:\b(?:{LEAD})\b\s*[:：.#]?\s*)?[#^]?");
    pattern(&format!(
        r"[\[【［]\s*{lead}(?P<numbers>[0-9]{{1,3}}(?:{JOINT}{lead}[0-9]{{1,3}})*)\s*[\]】］](?P<link>\()?"
    ))
});
static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[0-9]{1,3}"));

/// Returns `prose` with every citation in the canonical form. Text for which `is_written` returns `true` was written
/// by a member and is not changed.
pub fn canonical(prose: &str, is_written: impl Fn(&str) -> bool) -> String {
    let mut text = LINKED_WORDS
        .replace_all(prose, |found: &Captures<'_>| {
            let is_number = found[1].trim().trim_matches(['^', '#', '[', ']']).chars().all(|c| c.is_ascii_digit());
            let words = if is_number { String::new() } else { format!("{} ", &found[1]) };
            format!("{words}{}", one_form(&found[2]))
        })
        .into_owned();
    for form in FORMS.iter() {
        text = form
            .replace_all(&text, |found: &Captures<'_>| {
                let token = &found[0];
                let is_one = IS_ONE_FORM.is_match(token) && !RANGE.is_match(token) && !PAGED.is_match(token);
                let cites = IDS.is_match(token) || NUMBERED.is_match(token);
                if cites && !is_one && !is_written(token) { one_form(token) } else { token.to_owned() }
            })
            .into_owned();
    }
    ADDRESSED.replace_all(&text, "$1").into_owned()
}

/// Returns the citations in a code block or span, in the canonical form, if it contains only citations. `code` includes
/// the backticks. `None` if it contains anything else: in code, `[m1]` may be an index.
pub fn cited_as_code(code: &str, is_written: impl Fn(&str) -> bool) -> Option<String> {
    let cited = canonical(code.trim_matches('`').trim(), is_written);
    ONLY_CITES.is_match(&cited).then_some(cited)
}

/// A part of a text: prose, in which citations are parsed, or code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkdownPiece<'t> {
    Prose(&'t str),
    /// A block or a span of code, with its marks.
    Code(&'t str),
}

/// Splits `text` into its pieces, which together cover all of it.
pub fn pieces(text: &str) -> impl Iterator<Item = MarkdownPiece<'_>> {
    let ends = CODE.find_iter(text).map(|code| (code.start(), code.end())).chain([(text.len(), text.len())]);
    let pieces = ends.scan(0, |done, (start, end)| {
        let prose = &text[mem::replace(done, end)..start];
        Some([MarkdownPiece::Prose(prose), MarkdownPiece::Code(&text[start..end])])
    });
    pieces.flatten().filter(|piece| !matches!(piece, MarkdownPiece::Prose("") | MarkdownPiece::Code("")))
}

/// Removes the backticks around the ids in citations.
pub fn unticked(answer: &str) -> Cow<'_, str> {
    TICKED.replace_all(answer, "[source: $ids]")
}

/// Removes the code fence around an answer if the whole answer is one code block that contains prose with citations.
pub fn unfenced(answer: &str) -> &str {
    let Some(found) = IN_A_FENCE.captures(answer) else { return answer };
    let text = found.get(2).map_or(answer, |text| text.as_str());
    let is_prose = found.get(1).is_some_and(|language| language.as_str().to_lowercase().starts_with('m'));
    let cites = if is_prose { IDS.is_match(text) } else { text.contains("[source") };
    if cites { text } else { answer }
}

/// Converts message numbers of the prompt into citations: `[4, 7]` becomes `[source: 4, 7]`. Links, and text for which
/// `is_written` returns `true`, are not changed.
pub fn numbers_in_tags(prose: &str, is_written: impl Fn(&str) -> bool) -> String {
    let tagged = NUMBERS.replace_all(prose, |found: &Captures<'_>| {
        if found.name("link").is_some() || is_written(&found[0]) {
            return found[0].to_owned();
        }
        let numbers: Vec<&str> = NUMBER.find_iter(&found["numbers"]).map(|number| number.as_str()).collect();
        format!("[source: {}]", numbers.join(", "))
    });
    tagged.into_owned()
}

/// Removes copies of the prompt's line format: the bot's own name before the answer is deleted, and a repeated message
/// becomes a quote with a citation. `is_member` returns `true` for the name of a member in the prompt.
pub fn without_heads(answer: &str, bot_name: &str, is_member: impl Fn(&str) -> bool) -> String {
    let own = without_name(answer, bot_name);
    HEAD.replace_all(own, |found: &Captures<'_>| match found["name"].trim() {
        name if name == bot_name => found["text"].to_owned(),
        name if is_member(name) => format!("{}{name}: {} [{}]", &found["list"], &found["text"], &found["number"]),
        _ => found[0].to_owned(),
    })
    .into_owned()
}

/// Removes the bot's name before an answer: `Chime: At nine.` becomes `At nine.`
fn without_name<'a>(answer: &'a str, bot_name: &str) -> &'a str {
    let text = answer.trim_start().trim_start_matches('*');
    let rest = text.strip_prefix(bot_name).map(|rest| rest.trim_start_matches('*').trim_start());
    let rest = rest.map(|rest| match rest.strip_prefix('(').and_then(|notes| notes.split_once(')')) {
        Some((_, rest)) => rest,
        None => rest,
    });
    let said = rest.and_then(|rest| rest.strip_prefix(':')).map(|said| said.trim_start_matches('*').trim_start());
    said.filter(|said| !said.is_empty() && !bot_name.is_empty()).unwrap_or(answer)
}

/// Returns the pattern of an id, perhaps marked as a footnote.
fn id() -> String {
    format!(r"[#^]?{ID}\b")
}

fn one_form(cited: &str) -> String {
    let cited = PAGED.replace_all(cited, "${1}p${2}");
    let mut ids: Vec<String> = IDS.find_iter(&cited).map(|id| id.as_str().to_lowercase()).collect();
    if ids.is_empty() {
        ids = NUMBERED.captures_iter(&cited).map(|found| format!("m{}", &found[1])).collect();
    }
    format!("[source: {}]", ids.join(", "))
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and every test of this file compiles them all")]
fn pattern(raw: &str) -> Regex {
    Regex::new(&format!("(?i){raw}")).expect("a valid pattern")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, expected: &str) {
        assert_eq!(canonical(answer, |_| false), expected, "{answer}");
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
            "^m17^",
            "<m17>",
            "{m17}",
            "[M17]",
            "[source m17]",
            "(source: m17)",
            "[source： m17]",
            "[source: message m17]",
            "[src: m17]",
            "[msg m17]",
            "[message m17]",
            "[Quelle: m17]",
            "[fuente: m17]",
            "[источник: m17]",
            "[kaynak: m17]",
            "(see m17)",
            "(siehe m17)",
            "(см. m17)",
            "[m17: Ana]",
            "[m17, Ana]",
            "[m17 · Ana · 14:02]",
            "(m17: Ana)",
            "<source>m17</source>",
            "[source: m17](https://t.me/c/1/2)",
            "[1](m17)",
            "[source: m17 by Ana]",
            "[source=m17]",
            "[source: message 17]",
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
            "[m3-m17]",
            "[m3 m17]",
            "(m3 and m17)",
            "[m3; source: m17]",
            "[m3 und m17]",
            "[messages m3 & m17]",
            "[source: m3-m17]",
            "[source: m3 – m17]",
            "[source: m3 | m17]",
        ] {
            check(&format!("At nine {form}."), "At nine [source: m3, m17].");
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
            "[1] and [4]",
            "```\nlet m = [1];\n```",
            "[the plan](https://example.org/m17)",
        ] {
            check(text, text);
        }
        assert_eq!(canonical("room (m3) is free", |token| token == "(m3)"), "room (m3) is free");
    }

    #[test]
    fn a_page_of_a_document_is_one_source() {
        for form in ["[d3p4]", "[d3, p. 4]", "(source: d3 page 4)", "[d3, S. 4]", "[D3p4 · Minutes, p. 4]"] {
            check(&format!("At nine {form}."), "At nine [source: d3p4].");
        }
        check("At nine [d3p4, d3p5].", "At nine [source: d3p4, d3p5].");
    }

    #[test]
    fn linked_words_keep_their_words() {
        check("See [the boat](m3).", "See the boat [source: m3].");
    }

    #[test]
    fn an_answer_set_as_code_is_none() {
        assert_eq!(unfenced("```markdown\nAt nine [m17].\n```"), "At nine [m17].");
        assert_eq!(unfenced("```\nAt nine [source: m17].\n```"), "At nine [source: m17].");
        for code in ["```\nls -l\n```", "```\nlet x = list[m1];\n```", "```text\nm1\n```"] {
            assert_eq!(unfenced(code), code);
        }
    }

    #[test]
    fn code_is_a_citation_where_it_holds_nothing_else() {
        let cited = |code| cited_as_code(code, |_| false);
        for code in ["`[source: m17]`", "`[m17]`", "``` [m17] ```", "`(see m17)`"] {
            assert_eq!(cited(code).as_deref(), Some("[source: m17]"), "{code}");
        }
        for code in ["`f(m1, m2)`", "`list[m1]`", "`m17`", "`ls`", "``"] {
            assert_eq!(cited(code), None, "{code}");
        }
    }

    #[test]
    fn prose_and_code_are_told_apart() {
        use MarkdownPiece::{Code, Prose};
        let told = |text| pieces(text).collect::<Vec<_>>();
        assert_eq!(told("a `b` c"), [Prose("a "), Code("`b`"), Prose(" c")]);
        assert_eq!(told("a\n```\nb\n```\nc"), [Prose("a\n"), Code("```\nb\n```"), Prose("\nc")]);
        assert_eq!(told("a\n```\nb"), [Prose("a\n"), Code("```\nb")]);
        assert_eq!(told("it's a ` alone"), [Prose("it's a ` alone")]);
        assert_eq!(told(""), []);
    }

    #[track_caller]
    fn headless(answer: &str, expected: &str) {
        assert_eq!(without_heads(answer, "Chime", |name| name == "Ana"), expected);
    }

    #[test]
    fn a_line_of_the_prompt_that_is_repeated_becomes_a_quote() {
        headless("[17] Ana (14:02): At nine.", "Ana: At nine. [17]");
        headless("Two:\n- [17] Ana: a boat\n- a tent", "Two:\n- Ana: a boat [17]\n- a tent");
        headless("[17] Note (old): a boat", "[17] Note (old): a boat");
    }

    #[test]
    fn the_bots_own_head_and_name_go() {
        headless("[9] Chime (you, 10:04): At nine.", "At nine.");
        headless("Chime (you): At nine.", "At nine.");
        headless("Chime: At nine.", "At nine.");
        headless("**Chime:** At nine.", "At nine.");
        headless("Chime is at nine.", "Chime is at nine.");
    }

    #[test]
    fn numbers_in_brackets_are_citations_and_links_are_none() {
        let tagged = |text: &str| numbers_in_tags(text, |token| token == "[7]");
        assert_eq!(tagged("At nine [4], [5, 6] and [#8]."), "At nine [source: 4], [source: 5, 6] and [source: 8].");
        assert_eq!(tagged("[message 4] [Quelle: 4]【4】"), "[source: 4] [source: 4][source: 4]");
        assert_eq!(tagged("[4](https://example.org) [7] [2026] [x]"), "[4](https://example.org) [7] [2026] [x]");
    }
}
