//! Detects the language of an answer among the languages of the cases.

use whatlang::Lang;

/// A text with fewer letters passes for any language.
const FEWEST_LETTERS: usize = 20;
/// Confidence (0 to 1) below which a text may be in the expected language after all.
const SURE: f64 = 0.4;
/// The same confidence, if English is the only alternative.
const SURE_OF_ENGLISH: f64 = 0.2;

/// ISO 639-1 codes of the languages that the detector knows.
const CODES: &[(&str, Lang)] = &[
    ("cs", Lang::Ces),
    ("de", Lang::Deu),
    ("en", Lang::Eng),
    ("es", Lang::Spa),
    ("et", Lang::Est),
    ("fi", Lang::Fin),
    ("fr", Lang::Fra),
    ("hu", Lang::Hun),
    ("it", Lang::Ita),
    ("nl", Lang::Nld),
    ("pl", Lang::Pol),
    ("pt", Lang::Por),
    ("ro", Lang::Ron),
    ("ru", Lang::Rus),
    ("sv", Lang::Swe),
    ("tr", Lang::Tur),
    ("uk", Lang::Ukr),
];

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("no language has the code {0:?} here")]
pub struct UnknownLanguage(String);

/// Returns `true` if an ISO 639-3 code and an ISO 639-1 code mean the same language.
#[cfg(test)]
pub fn is(three_letters: &str, two_letters: &str) -> bool {
    language(two_letters).is_some_and(|language| language.code() == three_letters)
}

/// Detector for a few languages.
#[derive(Debug)]
pub struct Detector(whatlang::Detector);

impl Detector {
    /// Creates a detector for English and the languages with these ISO 639-1 codes.
    ///
    /// # Errors
    /// Fails if a code is unknown.
    pub fn new<'a>(codes: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownLanguage> {
        let mut languages = vec![Lang::Eng];
        for code in codes {
            let language = language(code).ok_or_else(|| UnknownLanguage(code.to_owned()))?;
            if !languages.contains(&language) {
                languages.push(language);
            }
        }
        Ok(Self(whatlang::Detector::with_allowlist(languages)))
    }

    /// Returns `true` if `text` may be in the language `code`: it is too short to tell, is detected as that language,
    /// or is detected as another one with low confidence.
    pub fn may_be(&self, text: &str, code: &str) -> bool {
        let Some(expected) = language(code) else { return false };
        if text.chars().filter(|c| c.is_alphabetic()).count() < FEWEST_LETTERS {
            return true;
        }
        // Models fall back to English, and English is easier to tell from one language than from many.
        let is_english = whatlang::Detector::with_allowlist(vec![expected, Lang::Eng])
            .detect(text)
            .is_some_and(|found| found.lang() == Lang::Eng && found.confidence() > SURE_OF_ENGLISH);
        if expected != Lang::Eng && is_english {
            return false;
        }
        let Some(found) = self.0.detect(text) else { return true };
        let is_cyrillic = |language: Lang| matches!(language, Lang::Rus | Lang::Ukr);
        let same_script = is_cyrillic(found.lang()) == is_cyrillic(expected);
        found.lang() == expected || same_script && found.confidence() < SURE
    }
}

fn language(code: &str) -> Option<Lang> {
    CODES.iter().find(|(known, _)| *known == code).map(|(_, language)| *language)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: &[(&str, &str, bool)] = &[
        ("de", "Der Schlüssel liegt unter der Fußmatte bei Frau Krüger.", true),
        ("de", "Paul said that the key is under the mat at Mrs Krüger's door.", false),
        ("en", "Paul said that the key is under the mat at Mrs Krüger's door.", true),
        ("en", "La llave está debajo del felpudo, según dijo Pablo ayer por la noche.", false),
        ("es", "La llave está debajo del felpudo, según dijo Pablo ayer por la noche.", true),
        ("fr", "La clé est sous le paillasson, d'après ce que Paul a dit hier soir.", true),
        ("it", "La chiave è sotto lo zerbino, come ha detto Paolo ieri sera.", true),
        ("pt", "A chave está debaixo do tapete, como o Paulo disse ontem à noite.", true),
        ("pl", "Klucz leży pod wycieraczką, jak powiedział wczoraj Paweł.", true),
        ("tr", "Anahtar paspasın altında, Paul dün akşam öyle söyledi.", true),
        ("ru", "Ключ лежит под ковриком, как вчера вечером сказал Павел.", true),
        ("ru", "Klyuch lezhit pod kovrikom", false),
        ("ru", "The key is under the mat, Pavel said so yesterday.", false),
        ("pl", "The key is under the mat, Pavel said so yesterday.", false),
        ("de", "Lindenhof, 12:00.", true),
    ];

    #[test]
    fn an_answer_in_another_language_is_told() {
        let detector = Detector::new(["de", "es", "fr", "it", "pt", "ru", "tr", "pl"]).unwrap();
        let pair = |code| whatlang::Detector::with_allowlist(vec![language(code).unwrap(), Lang::Eng]);
        let wrong: Vec<_> = CASES
            .iter()
            .filter(|(code, text, expected)| detector.may_be(text, code) != *expected)
            .map(|(code, text, _)| (code, text, detector.0.detect(text), pair(code).detect(text)))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        assert_eq!(Detector::new(["xx"]).unwrap_err(), UnknownLanguage("xx".to_owned()));
    }
}
