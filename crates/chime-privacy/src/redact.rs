//! Redacts personal data and secrets from a text before it leaves the process.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Kind of sensitive data. [`label`](Self::label) returns the text that replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SensitiveData {
    Secret,
    Wallet,
    Email,
    Iban,
    Card,
    Phone,
}

impl SensitiveData {
    fn label(self) -> &'static str {
        match self {
            Self::Secret => "[secret]",
            Self::Wallet => "[wallet]",
            Self::Email => "[email]",
            Self::Iban => "[iban]",
            Self::Card => "[card]",
            Self::Phone => "[phone]",
        }
    }
}

/// Test of a match, for patterns that also match harmless text, such as the check digit of a card number.
type MatchTest = fn(&str) -> bool;

/// Pattern of one kind of sensitive data. Text that matches is replaced only if `holds` also accepts it.
struct RedactionRule {
    what: SensitiveData,
    pattern: Regex,
    holds: MatchTest,
}

/// Rules whose `\b` and `\d` know only ASCII: in `邮箱ana@example.org发` the address must be found, but a Unicode `\b`
/// sees no word boundary there. Unicode also makes `regex` many times slower on such text.
static RULES: LazyLock<Vec<RedactionRule>> =
    LazyLock::new(|| rules(|rule| rule.replace(r"\b", r"(?-u:\b)").replace(r"\d", "[0-9]")));
/// The same rules with Unicode `\b` and `\d`, for texts with digits of other scripts.
static RULES_OF_ALL_DIGITS: LazyLock<Vec<RedactionRule>> = LazyLock::new(|| rules(str::to_owned));

/// Words beside which 40 hexadecimal characters are the name of a commit.
static COMMIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:commits?|bisect|revert(?:s|ed)?|checkout|cherry-pick(?:ed)?|rebased?|revision)\b").ok()
});
/// Hosts of code, whose addresses contain names of commits and gists.
const CODE_HOSTS: [&str; 5] = ["github.com", "gist.github.com", "gitlab.com", "bitbucket.org", "codeberg.org"];
/// Words that announce a secret.
static SECRECY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)key|token|secret|passw|credential|\bo?auth\b|hook|/(?:session|invite|reset|login)").ok()
});

/// Returns the rules for `text`: those for ASCII, and the Unicode ones if it has digits of other scripts.
fn rules_for(text: &str) -> impl Iterator<Item = &'static RedactionRule> {
    let has_other_digits = text.chars().any(|c| c.is_numeric() && !c.is_ascii());
    RULES.iter().chain(has_other_digits.then(|| RULES_OF_ALL_DIGITS.iter()).into_iter().flatten())
}

/// Builds the rules in the order in which they apply: the longest and most certain patterns first. `adapted` changes
/// each pattern before it is compiled.
fn rules(adapted: impl Fn(&str) -> String) -> Vec<RedactionRule> {
    let all: &[(SensitiveData, &str, MatchTest)] = &[
        (
            SensitiveData::Secret,
            r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
            always,
        ),
        // JSON Web Tokens.
        (SensitiveData::Secret, r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", always),
        // Tokens of Telegram bots.
        (SensitiveData::Secret, r"\b\d{6,12}:[A-Za-z0-9_-]{30,}", always),
        (SensitiveData::Secret, r"\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}", always),
        (
            SensitiveData::Secret,
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,})",
            always,
        ),
        (
            SensitiveData::Secret,
            r"\b(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,})",
            always,
        ),
        (SensitiveData::Secret, r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", always),
        (SensitiveData::Secret, r"\bAIza[A-Za-z0-9_-]{30,}", always),
        (SensitiveData::Secret, r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}=*", always),
        (SensitiveData::Email, r"(?i)\b[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\b", always),
        (SensitiveData::Iban, r"(?i)\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,3})?\b", is_iban),
        (SensitiveData::Wallet, r"\b0x[0-9a-fA-F]{40}\b", always),
        (SensitiveData::Wallet, r"\b(?:bc1|tb1|ltc1)[02-9ac-hj-np-z]{25,87}\b", always),
        (SensitiveData::Wallet, r"\bT[1-9A-HJ-NP-Za-km-z]{33}\b", is_mixed),
        (SensitiveData::Wallet, r"\b[13][1-9A-HJ-NP-Za-km-z]{25,34}\b", is_mixed),
        (SensitiveData::Wallet, r"\b(?:EQ|UQ)[A-Za-z0-9_-]{46}", always),
        // A long mix of upper case, lower case and digits is probably a key.
        (SensitiveData::Secret, r"\b[A-Za-z0-9_-]{32,}\b", is_random),
        (SensitiveData::Card, r"\b\d(?:[ -]?\d){12,18}\b", is_card),
        (SensitiveData::Phone, r"(?:\+|\b00)\d(?:[ ()./-]{0,2}\d){7,14}\b", always),
        (SensitiveData::Phone, r"(?:\(\d{2,5}\)|\b0\d{1,4}|\b8)[ /-]{0,2}\d(?:[ ./-]?\d){5,10}\b", is_phone),
        (SensitiveData::Phone, r"\b\d{3}[ .-]\d{3}[ .-]\d{4}\b", always),
    ];
    // A pattern that does not compile is skipped; a test prevents that.
    all.iter()
        .filter_map(|(what, pattern, holds)| {
            let pattern = Regex::new(&adapted(pattern)).ok()?;
            Some(RedactionRule { what: *what, pattern, holds: *holds })
        })
        .collect()
}

/// Replaces what the rules find in `text` by what `label` returns for it.
fn replaced(text: &str, mut label: impl FnMut(SensitiveData, &str) -> String) -> String {
    let rules = rules_for(text);
    let mut text = text.to_owned();
    for rule in rules {
        let replace = |found: &Captures<'_>| match found.get(0) {
            Some(found) if (rule.holds)(found.as_str()) && !is_name(&text, found.range()) => {
                label(rule.what, found.as_str())
            }
            _ => found[0].to_owned(),
        };
        if rule.pattern.is_match(&text) {
            text = rule.pattern.replace_all(&text, replace).into_owned();
        }
    }
    text
}

/// Returns `true` if hexadecimal characters name something public: 32 to 40 in the path of an address of a host of code,
/// or a commit, if the path or a word near it says so. Words such as "token" near them make them a secret.
fn is_name(text: &str, range: Range<usize>) -> bool {
    const MOST_HEX: usize = 40;
    let found = &text[range.clone()];
    if !(32..=MOST_HEX).contains(&found.len()) || !found.chars().all(|c| c.is_ascii_hexdigit()) {
        return false;
    }
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    let (before, after) = (near_end(&text[start..range.start]), near_start(&text[range.end..end]));
    let has = |words: &Option<Regex>, text: &str| words.as_ref().is_some_and(|words| words.is_match(text));
    let address = text[start..range.start].rsplit(char::is_whitespace).next().unwrap_or_default();
    let path = address.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    if let Some((host, path)) = path {
        let is_of_code = CODE_HOSTS.contains(&host) || found.len() == MOST_HEX && has(&COMMIT, path);
        return is_of_code && !path.contains(['?', '#', '=']) && !has(&SECRECY, address);
    }
    let is_secret = has(&SECRECY, before) || has(&SECRECY, after);
    found.len() == MOST_HEX && !is_secret && (has(&COMMIT, before) || has(&COMMIT, after))
}

/// Number of characters that are read beside a text.
const NEAR: usize = 40;

fn near_end(text: &str) -> &str {
    text.char_indices().nth_back(NEAR - 1).map_or(text, |(at, _)| &text[at..])
}

fn near_start(text: &str) -> &str {
    text.char_indices().nth(NEAR).map_or(text, |(at, _)| &text[..at])
}

/// Replaces e-mail addresses, phone and card numbers, IBANs, keys, tokens and wallet addresses with labels in brackets.
pub fn redact(text: &str) -> String {
    replaced(text, |what, _| what.label().to_owned())
}

/// Numbered labels with the original texts that they replace. The model sees the labels, and its answer gets the
/// originals back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Masks(Vec<(String, String)>);

impl Masks {
    /// Like [`redact`], but each distinct text gets its own numbered label, such as `[email 2]`, and is remembered for
    /// [`unmask`](Self::unmask).
    pub fn mask(&mut self, text: &str) -> String {
        replaced(text, |what, word| self.mask_of(what, word))
    }

    fn mask_of(&mut self, what: SensitiveData, word: &str) -> String {
        if let Some((mask, _)) = self.0.iter().find(|(_, known)| known == word) {
            return mask.clone();
        }
        let mask = format!("{} {}]", what.label().trim_end_matches(']'), self.0.len() + 1);
        self.0.push((mask.clone(), word.to_owned()));
        mask
    }

    /// Replaces the numbered labels in `text` with the original texts.
    pub fn unmask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (mask, word)| text.replace(mask, word))
    }
}

fn always(_: &str) -> bool {
    true
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// Checks length and Luhn check digit of a card number.
fn is_card(text: &str) -> bool {
    let digits = digits(text);
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    (13..=19).contains(&digits.len()) && sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != 0)
}

/// Checks length and check digits of an IBAN (ISO 7064, modulo 97).
fn is_iban(text: &str) -> bool {
    let plain: String = text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_uppercase()).collect();
    if !(15..=34).contains(&plain.len()) || !plain.is_ascii() {
        return false;
    }
    let (head, tail) = plain.split_at(4);
    let rest = tail.chars().chain(head.chars()).try_fold(0_u32, |rest, c| {
        let value = c.to_digit(36)?;
        Some(if value < 10 { (rest * 10 + value) % 97 } else { (rest * 100 + value) % 97 })
    });
    rest == Some(1)
}

/// Returns `true` for 7 to 12 digits that do not look like a date.
fn is_phone(text: &str) -> bool {
    let looks_like_a_date = text.matches(['.', '/']).count() == 2 && digits(text).len() <= 8
        || text.matches('-').count() == 2 && digits(text).len() <= 8;
    (7..=12).contains(&digits(text).len()) && !looks_like_a_date
}

fn is_mixed(text: &str) -> bool {
    let has = |is: fn(&char) -> bool| text.chars().any(|c| is(&c));
    has(char::is_ascii_digit) && has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase)
}

/// Returns `true` if a string looks like a random key: it has a digit, and either it is all hexadecimal, or the kind of
/// character (digit, upper case, other) changes at least once in four characters on average. Words and file names
/// change less often.
fn is_random(text: &str) -> bool {
    let kind = |c: char| {
        if c.is_ascii_digit() {
            0
        } else if c.is_ascii_uppercase() {
            1
        } else {
            2
        }
    };
    let kinds: Vec<u8> = text.chars().filter(char::is_ascii_alphanumeric).map(kind).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let is_hex = text.chars().all(|c| c.is_ascii_hexdigit()) && text.chars().any(|c| c.is_ascii_digit());
    is_hex || changes * 4 >= kinds.len() && text.chars().any(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn masked_words_come_back_where_a_mask_is_repeated() {
        let mut masks = Masks::default();
        let text = "mail ann@example.org or ben@example.org, then ann@example.org; call +44 20 7946 0958";
        let masked = masks.mask(text);
        assert_eq!(masked, "mail [email 1] or [email 2], then [email 1]; call [phone 3]");
        assert_eq!(masks.mask("ben@example.org"), "[email 2]");
        assert_eq!(masks.unmask(&masked), text);
        assert_eq!(masks.unmask("write to [email 2], not to [email 9]"), "write to ben@example.org, not to [email 9]");
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!((RULES.len(), RULES_OF_ALL_DIGITS.len()), (21, 21));
    }

    #[test]
    fn personal_data_and_secrets_go() {
        // Keys are assembled at run time, so that secret scanners do not report this file.
        let key = |prefix: &str| format!("{prefix}{}", "aB3dE6gH9jK2mN5pQ8sT1vW4");
        let lines = [
            "mail ana.k+list@example.co.uk today".to_owned(),
            "call +372 5555 1234 or 0049 (30) 1234567".to_owned(),
            "ring 030/1234567, 8 (495) 123-45-67 or 555-123-4567".to_owned(),
            "card 4111 1111 1111 1111, not 4111 1111 1111 1112".to_owned(),
            "to DE89 3704 0044 0532 0130 00 please, not DE89 3704 0044 0532 0130 01".to_owned(),
            format!("use {} or {} or {}", key("sk-proj-"), key("ghp_"), key("xoxb-1-")),
            format!("bot 123456789:{}{}", key("AA"), "aB3dE6gH9j"),
            format!("Authorization: Bearer {}", key("")),
            "0x52908400098527886E0F7030069857D2E4169EE7 and bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq".to_owned(),
            format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", key("eyJ"), key("")),
            "d41d8cd98f00b204e9800998ecf8427e".to_owned(),
        ];
        let notice: Vec<String> = lines.iter().map(|line| redact(line)).collect();
        expect![[r#"
            mail [email] today
            call [phone] or [phone]
            ring [phone], 8 [phone] or [phone]
            card [card], not 4111 1111 1111 1112
            to [iban] please, not DE89 [card]
            use [secret] or [secret] or [secret]
            bot [secret]
            Authorization: [secret]
            [wallet] and [wallet]
            [secret]
            [secret]"#]]
        .assert_eq(&notice.join("\n"));
    }

    #[test]
    fn personal_data_between_letters_of_other_scripts_goes() {
        assert_eq!(redact("邮箱ana@example.com发"), "邮箱[email]发");
        assert_eq!(redact("карта4111 1111 1111 1111да"), "карта[card]да");
        assert_eq!(redact("é555-123-4567è"), "é[phone]è");
        assert_eq!(redact("اتصل +٣٧٢ ٥٥٥٥ ١٢٣٤ الآن"), "اتصل [phone] الآن");
    }

    #[test]
    fn what_people_talk_about_stays() {
        for plain in [
            "see you on 2026-01-05 at 19:30, 08.01.2026 or 05/01/2026",
            "we pay 1,450 of 10 000 000 by 15.8.",
            "the build took 12345678 ms, version 1.24.0-rc.2",
            "@ana_k and @bob, m17, {u7}, flight BA2490",
            "supercalifragilisticexpialidocious-antidisestablishmentarianism",
            "https://example.org/some/long/path/to/a/page",
            "12 12 12 12",
            "Donaudampfschifffahrtsgesellschaftskapitän",
        ] {
            assert_eq!(redact(plain), plain);
        }
    }

    #[test]
    fn hexadecimal_names_stay_and_hexadecimal_secrets_go() {
        let (short, long) = ("d41d8cd98f00b204e9800998ecf8427e", "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        for (text, stays) in [
            (format!("see https://gist.github.com/zetok/{short}"), true),
            (format!("https://github.com/qTox/qTox/commits/{long}?w=1, merge?"), true),
            (format!("[m1 · {{u2}} · 10:00] git bisect bad {long}"), true),
            (format!("{long} is the first bad commit"), true),
            (format!("https://git.example.org/chime/commit/{long}"), true),
            (format!("https://example.org/reset-password/{short}"), false),
            (format!("https://docs.example.org/shared/{short}"), false),
            (format!("git clone with {long}"), false),
            (format!("https://example.org/{short}?token={long}"), false),
            (format!("https://example.org/data?id={short}"), false),
            (format!("commit it\n{long}"), false),
            (format!("the git token is {long}"), false),
            (format!("commit with API key {long}"), false),
            (format!("git {short}"), false),
            (format!("commit {long}{long}"), false),
        ] {
            assert_eq!(redact(&text) == text, stays, "{text}");
        }
        assert_eq!(
            redact(&format!("https://github.com/{short}?token={long}")),
            format!("https://github.com/{short}?token=[secret]")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_card_with_a_right_check_digit_goes(start in prop::collection::vec(0_u32..10, 15), dash in any::<bool>()) {
            let number = |last: u32| start.iter().chain([&last]).map(u32::to_string).collect::<String>();
            let valid = (0..10).map(number).find(|text| is_card(text)).expect("one digit of ten is right");
            let groups: Vec<&str> = (0..4).map(|group| &valid[group * 4..group * 4 + 4]).collect();
            let written = groups.join(if dash { "-" } else { " " });
            prop_assert!(!redact(&format!("pay with {written} now")).contains(&written), "{}", written);
        }

        #[test]
        fn any_text_is_taken(text in any::<String>()) {
            redact(&text);
        }

        #[test]
        fn an_address_goes_whatever_stands_around_it(before in "[ a-z(,]{0,10}", after in "[ ,.)!]{0,5}") {
            let text = format!("{before} x.y@mail.example.org{after}");
            prop_assert!(!redact(&text).contains("mail.example"), "{}", text);
        }
    }
}
