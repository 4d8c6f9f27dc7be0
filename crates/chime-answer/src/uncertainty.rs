//! Parses the estimate of its own uncertainty that a model adds at the end of an answer as a tag. Members do not see
//! the tag.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern_in_any_case;
use chime_core::Uncertainty;

/// Names of the tag: models translate it to the language of the answer.
const NAME: &str = "uncertainty|unsicherheit|incertidumbre|incertitude|incerteza|incertezza|неопредел[её]нность|неуверенность\
    |невизначеність|невпевненість|belirsizlik|ebakindlus|määramatus|onzekerheid|niepewność|osäkerhet|usikkerhed|usikkerhet\
    |epävarmuus|nejistota|neistota|bizonytalanság|αβεβαιότητα|不确定性?|不确定度|不確實性|不確実性|불확실성|عدم اليقين|ความไม่แน่นอน";
const LOW: &str = "low|niedrig|gering|baj[oa]|faible|baixa?|bass[oa]|низк[аои][яйе]?|низька|düşük|madal|laag|nisk[aoi]e?|låg|lav|matala\
    |nízk[áý]|低|낮음|منخفض|ต่ำ";
const MEDIUM: &str = "medium|moderate|mittel|medi[oa]|média|moyenne?|средн[яее]{1,2}|середня|orta|keskmine|gemiddeld|middel\
    |średni[aoe]?|medelhög|keskitaso|střední|中等?|중간|متوسط|ปานกลาง";
const HIGH: &str = "high|hoch|alt[oa]|élevée?|haute|высок[аои][яйе]?|висока|yüksek|kõrge|hoog|wysok[aoi]e?|hög|høj|høy|korkea|vysok[áý]\
    |高|높음|مرتفع|สูง";
/// Matches `[uncertainty: low - no date given]` with the line break before it, even if it is cut off, or the same
/// without brackets as the last line. Includes a reason after the level.
static TAG: LazyLock<Regex> = LazyLock::new(tag);

/// Returns `answer` without such tags, and the level in the last one; `None` if there is none.
pub fn split(answer: &str) -> (String, Option<Uncertainty>) {
    let said = TAG.captures_iter(answer).last().map(|found| {
        let is = |name: &str| found.name(name).is_some();
        match (is("low") || is("low_line"), is("high") || is("high_line")) {
            (true, _) => Uncertainty::Low,
            (false, true) => Uncertainty::High,
            (false, false) => Uncertainty::Medium,
        }
    });
    (TAG.replace_all(answer, "").trim().to_owned(), said)
}

fn tag() -> Regex {
    let level = |line: &str| format!("(?:(?P<low{line}>{LOW})|(?P<medium{line}>{MEDIUM})|(?P<high{line}>{HIGH}))");
    let said = |line: &str| {
        format!(
            r"(?:{NAME})(?:[ \t]+level)?[ \t`*_]*[:：=–-]?[ \t`*_]*(?:very[ \t]+|rather[ \t]+)?{}\b[`*_]*",
            level(line)
        )
    };
    let reason = r"(?:[ \t]*[^\[\]()\w\s][^\[\]\n]{0,120})?";
    let bracketed =
        format!(r"\s*[`*_]*[\[(【]\s*{}{reason}\s*(?:[\])】]|\z)[`*_]*(?:[ \t]*\([^()\n]*\)[ \t.]*\z)?", said(""));
    let last_line = format!(r"(?:\A|\n)[ \t>*_-]*{}(?:[ \t]*[(–—,;-][^\n]{{0,160}})?[ \t.*_]*\z", said("_line"));
    pattern_in_any_case(&format!("(?:{bracketed}|{last_line})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: &str, text: &str, said: Option<Uncertainty>) {
        assert_eq!(split(answer), (text.to_owned(), said));
    }

    #[test]
    fn the_tag_is_read_and_taken_out() {
        check("On Friday [source: m1].\n[uncertainty: low]", "On Friday [source: m1].", Some(Uncertainty::Low));
        check("On Friday. (Uncertainty: **HIGH**)", "On Friday.", Some(Uncertainty::High));
        check("On Friday.\n**Uncertainty:** medium", "On Friday.", Some(Uncertainty::Medium));
        check("On Friday. [uncertainty low].", "On Friday..", Some(Uncertainty::Low));
        check("Am Freitag.\n[Unsicherheit: niedrig]", "Am Freitag.", Some(Uncertainty::Low));
        check("В пятницу.\n[неопределённость: высокая]", "В пятницу.", Some(Uncertainty::High));
        check("A. [uncertainty: low]\n\nB. `[uncertainty: medium]`", "A.\n\nB.", Some(Uncertainty::Medium));
        check("在星期五。\n[不确定性：低]", "在星期五。", Some(Uncertainty::Low));
        check("På fredag.\n[osäkerhet: låg]", "På fredag.", Some(Uncertainty::Low));
    }

    #[test]
    fn what_stands_beside_the_level_goes_with_it() {
        for tag in [
            "[uncertainty: medium - no date given]",
            "Uncertainty: medium (no date given)",
            "[uncertainty: medium/high]",
            "[Uncertainty level: medium]",
            "[uncertainty: medium",
            "[uncertainty: medium] (the messages agree)",
        ] {
            check(&format!("On Friday.\n{tag}"), "On Friday.", Some(Uncertainty::Medium));
        }
        check("On Friday. [uncertainty: very low]", "On Friday.", Some(Uncertainty::Low));
    }

    #[test]
    fn other_words_stay() {
        check(
            "There is some uncertainty: low tide is at nine.",
            "There is some uncertainty: low tide is at nine.",
            None,
        );
        check("[uncertainty: perhaps]", "[uncertainty: perhaps]", None);
    }
}
