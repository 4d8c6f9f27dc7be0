//! Normalises words for comparing phrases, so that accents, repeated letters and punctuation make no difference.

/// Returns the lower-case words of `text` without accents, apostrophes, punctuation and emoji, and with each doubled
/// letter only once.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            // Skips apostrophes, which join a word ("what's"), and combining accents.
            '\'' | '’' | '`' | '´' | '\u{300}'..='\u{36f}' => {}
            c if c.is_alphanumeric() => {
                let c = plain(c);
                if let Some(word) = words.last_mut().filter(|word| !word.ends_with(c) || c.is_numeric()) {
                    word.push(c);
                }
            }
            _ if words.last().is_some_and(|word| !word.is_empty()) => words.push(String::new()),
            _ => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Removes the accent of a letter in the supported languages.
fn plain(c: char) -> char {
    match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ą' => 'a',
        'ç' | 'ć' => 'c',
        'è' | 'é' | 'ê' | 'ë' | 'ę' => 'e',
        'ğ' => 'g',
        'ì' | 'í' | 'î' | 'ï' | 'ı' => 'i',
        'ł' => 'l',
        'ñ' | 'ń' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'š' | 'ş' | 'ß' | 'ś' => 's',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ý' | 'ÿ' => 'y',
        'ž' | 'ź' | 'ż' => 'z',
        'ё' => 'е',
        'й' => 'и',
        'ї' => 'і',
        'ґ' => 'г',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: Expect) {
        let lines: Vec<String> = texts.iter().map(|text| format!("{text:?} -> {}", words(text).join("|"))).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn haste_and_accents_do_not_matter() {
        check(
            &[
                "Whaaat's up?!!",
                "Qué opináis",
                "qu'en penses-tu",
                "ЧТО ДУМАЕШЬ О НЁМ",
                "ne DÜŞÜNÜYORSUN",
                "İyi",
                "Żółta ŚCIĘŻKA",
                "cafe\u{301}",
                "👆🏽 ^^ …",
                "100 + 2",
                "",
            ],
            expect![[r#"
                "Whaaat's up?!!" -> whats|up
                "Qué opináis" -> que|opinais
                "qu'en penses-tu" -> quen|penses|tu
                "ЧТО ДУМАЕШЬ О НЁМ" -> что|думаешь|о|нем
                "ne DÜŞÜNÜYORSUN" -> ne|dusunuyorsun
                "İyi" -> iyi
                "Żółta ŚCIĘŻKA" -> zolta|sciezka
                "cafe\u{301}" -> cafe
                "👆🏽 ^^ …" -> 
                "100 + 2" -> 100|2
                "" -> "#]],
        );
    }
}
