//! Compounds: words that a language joins into one, such as "Mietkaution". They are found by their first and last word.

use crate::stems::Language;

/// Minimum number of letters of a compound, as a stem.
const COMPOUND_CHARS: usize = 9;
/// Minimum numbers of letters of the first and of the last word of a compound, as stems ("Kasse" has the stem "kass").
/// Shorter ones begin or end other words by chance: "Rat", "Fahrrad". The first word needs more letters, since more
/// words begin alike: "Karte", "Kartoffel".
const FIRST_CHARS: usize = 5;
const LAST_CHARS: usize = 4;

impl Language {
    /// Returns `true` if the language writes compounds as one word.
    pub fn writes_compounds(self) -> bool {
        matches!(self.code(), "deu" | "nld" | "dan" | "nob" | "swe" | "fin" | "hun" | "est")
    }

    /// Returns `true` if the stem `word` is a compound with the word `part`, also a stem, at its beginning or end.
    pub fn is_compound_with(self, part: &str, word: &str) -> bool {
        let is_met = word.ends_with(part) && part.chars().count() >= LAST_CHARS
            || word.starts_with(part) && part.chars().count() >= FIRST_CHARS
            // Without a stemmer, an ending may follow.
            || !self.has_stemmer() && part.chars().count() >= FIRST_CHARS && word.contains(part);
        is_met && word.len() > part.len() && self.writes_compounds() && is_long(word)
    }

    /// Returns `true` if the stem `word` is the stem `part` or a compound with it.
    pub fn is_word_or_compound(self, part: &str, word: &str) -> bool {
        part == word || self.is_compound_with(part, word)
    }

    /// Returns the term by whose beginning an index finds a compound by its last word: the letters of its stem in
    /// reverse order, after a digit, so that it is no word of a message. Returns `None` if `word` is no compound, and
    /// in languages without a stemmer, where another index finds parts of words.
    pub fn reversed_compound(self, word: &str) -> Option<String> {
        (self.writes_compounds() && self.has_stemmer() && is_long(word)).then(|| reversed(word))
    }

    /// Returns the beginnings of the terms in an index by which compounds with the word `part` are found.
    pub fn compound_prefixes(self, part: &str) -> Vec<String> {
        let letters = if self.writes_compounds() { part.chars().count() } else { 0 };
        let first = (letters >= FIRST_CHARS).then(|| part.to_owned());
        let last = (letters >= LAST_CHARS).then(|| reversed(part));
        first.into_iter().chain(last).collect()
    }
}

fn is_long(word: &str) -> bool {
    word.chars().count() >= COMPOUND_CHARS && word.chars().all(char::is_alphabetic)
}

fn reversed(word: &str) -> String {
    std::iter::once('0').chain(word.chars().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stems::stems;

    #[track_caller]
    fn check(code: &str, part: &str, word: &str, expected: bool) {
        let language = Language::from_code(code);
        let (part, word) = (&stems(part, language)[0], &stems(word, language)[0]);
        assert_eq!(language.is_compound_with(part, word), expected, "{part} in {word}");
        let terms = [language.reversed_compound(word), Some(word.clone())];
        let prefixes = language.compound_prefixes(part);
        let is_found = terms.iter().flatten().any(|term| prefixes.iter().any(|prefix| term.starts_with(prefix)));
        assert!(is_found || !expected || !language.has_stemmer(), "{part} in {word}");
    }

    #[test]
    fn a_compound_is_met_by_its_first_and_last_word_in_any_form() {
        for (code, part, word) in [
            ("deu", "Kaution", "Mietkautionen"),
            ("deu", "Kuchen", "Apfelkuchen"),
            ("deu", "Häuser", "Krankenhaus"),
            ("deu", "Fahrrad", "Fahrradschloss"),
            ("nld", "waarborg", "huurwaarborg"),
            ("swe", "nyckeln", "cykelnyckeln"),
            ("dan", "nøgle", "cykelnøglen"),
            ("nob", "nøkkel", "sykkelnøkkelen"),
            ("fin", "takuu", "vuokratakuun"),
            ("hun", "kulcs", "lakáskulcsot"),
            ("est", "tagatis", "üüritagatist"),
        ] {
            check(code, part, word, true);
        }
    }

    #[test]
    fn short_ends_and_other_languages_are_no_compounds() {
        for (code, part, word) in [
            ("deu", "Rat", "Fahrradrat"),
            ("deu", "Ende", "Wochenende"),
            ("deu", "Karte", "Kartoffel"),
            ("deu", "Messe", "Messer"),
            ("est", "Tallinn", "metallist"),
            ("deu", "Mietkaution", "Kaution"),
            ("deu", "Kaution", "Kautionen"),
            ("eng", "ball", "basketball"),
            ("pol", "kaucja", "superkaucja"),
        ] {
            check(code, part, word, false);
        }
    }
}
