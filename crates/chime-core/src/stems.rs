//! Stemming of words, as in the full-text index, and language detection.

use std::borrow::Cow;
use std::cmp::Ordering;

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;
use whatlang::{Lang, Script};

use crate::lang::{LanguageFile, begins_like, languages};
use crate::language_evidence::{is_borne_out, is_more_like_another, other_by_common_words};
use crate::language_names::has_language_name;
use crate::tokenize::{folded, search_words};
use crate::trigger::Languages;
use crate::unless_it_panics;

/// Language of a text. If there is no stemmer for it, its words are not shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Language(Lang);

/// Smallest number of characters from which the language of a chat is detected.
const ENOUGH_TO_JUDGE: usize = 200;

/// Smallest confidence, 0 to 1, at which a detected language is accepted. It is low because a wrong stemmer does little
/// harm: it is applied to texts and queries alike. Switching between two languages does more.
const SURE_ENOUGH: f64 = 0.3;

impl Language {
    pub const DEFAULT: Self = Self(Lang::Eng);

    /// Returns the ISO 639-3 code, as stored.
    pub fn code(self) -> &'static str {
        self.0.code()
    }

    /// Returns the file of the language if it is one of the bot's.
    pub fn file(self) -> Option<&'static LanguageFile> {
        languages().iter().find(|language| language.code == self.code())
    }

    /// Returns the ISO 639-1 code if the language is one of the bot's.
    pub fn short(self) -> Option<&'static str> {
        self.file().map(|file| file.short.as_str())
    }

    /// Parses an ISO 639-3 code. Unknown codes give the default. That loses nothing, because the index can be built
    /// again from the texts.
    pub fn from_code(code: &str) -> Self {
        Lang::from_code(code).map_or(Self::DEFAULT, Self)
    }

    /// Detects the language of a chat from its recent texts. Returns `None` if they are too short or the result is
    /// uncertain. Of a chat in two scripts, the one whose language is certain counts.
    pub fn judge(texts: &[String]) -> Option<Self> {
        let sample = texts.join("\n");
        let is_enough = |text: &str| text.chars().count() >= ENOUGH_TO_JUDGE;
        if !is_enough(&sample) {
            return None;
        }
        let sure = |text: &str| detect(text).filter(|info| info.confidence() >= SURE_ENOUGH);
        let is_certain = |info: &whatlang::Info| {
            info.script() != Script::Latin || is_borne_out(info.lang(), &sample, info.is_reliable())
        };
        let others = in_other_scripts(&sample);
        let of_others = || sure(&others).filter(|_| is_enough(&others)).map(|info| info.lang());
        let told = sure(&sample).filter(is_certain).map(|info| info.lang());
        told.or_else(|| other_by_common_words(&sample)).or_else(of_others).map(Self)
    }

    /// Detects the language of a question. Returns `None` if nothing tells it for certain: the question is then answered
    /// in its own language and script, whatever they are.
    pub fn of_question(question: &str, talk: &str, chat: Self) -> Option<Self> {
        let asked = without_latin_words(question);
        match own_script(&asked) {
            Some(script) => Self::of_words_in(script, &asked, talk, chat),
            None => Self::guess(question, talk, chat)
                .map(|language| language.or_its_like(question, talk))
                .filter(|language| language.is_certain(question, talk, chat)),
        }
    }

    /// Returns Russian or Ukrainian, for either, by what only one of them has: in the question, or else in the messages
    /// around it.
    fn or_its_like(self, question: &str, talk: &str) -> Self {
        match self.0 {
            Lang::Rus | Lang::Ukr => [question, talk].into_iter().find_map(russian_or_ukrainian).map_or(self, Self),
            _ => self,
        }
    }

    /// Returns the language of a question in a script that is neither Latin nor Cyrillic. If several languages are
    /// written in it, the language of the chat or of the surrounding messages counts.
    fn of_words_in(script: Script, question: &str, talk: &str, chat: Self) -> Option<Self> {
        /// Smallest number of letters that distinguishes languages of the same script; a Chinese character
        /// counts as three.
        const ENOUGH: usize = 20;
        let is_han = script == Script::Mandarin;
        let languages: Vec<Lang> = match script {
            Script::Mandarin => vec![Lang::Cmn, Lang::Jpn],
            _ => script.langs().iter().copied().filter(|language| *language != Lang::Yid).collect(),
        };
        if let [only] = languages[..] {
            return Some(Self(only));
        }
        let in_script = |word: &&str| {
            let is_kana = |of| is_han && matches!(of, Script::Hiragana | Script::Katakana);
            own_script(word).is_some_and(|of| of == script || is_kana(of))
        };
        let spoken = talk.split_whitespace().filter(in_script).collect::<Vec<_>>().join(" ");
        let tell = |text: &str| {
            let letters = letters(text) * if is_han { 3 } else { 1 };
            unless_it_panics(|| whatlang::detect_lang(text)).flatten().filter(|_| letters >= ENOUGH).map(Self)
        };
        let of_chat = Some(chat).filter(|_| languages.contains(&chat.0));
        of_chat.or_else(|| tell(&spoken)).or_else(|| tell(question))
    }

    /// Returns `true` if the words of the question or of the messages around it bear out that it is in this language. In
    /// Latin script, letters alone show no language for certain.
    fn is_certain(self, question: &str, talk: &str, chat: Self) -> bool {
        /// Up to this number of words around it, a question is taken to be in the likeliest language.
        const FEW_WORDS: usize = 25;
        /// Letters in another script that tell that it is used.
        const SCRIPT: usize = 20;
        let is_latin = |language: Self| Script::Latin.langs().contains(&language.0);
        let is_usual = self.file().is_some() && (is_latin(chat) || !is_latin(self)) || self == chat;
        let is_short = talk.split_whitespace().count() < FEW_WORDS;
        let is_possible = !is_more_like_another(self.0, question, talk)
            && (!is_short || self.is_possible(&format!("{question}\n{talk}")));
        if !self.is_told_from_its_like(question, talk) && self != chat {
            return false;
        }
        if is_possible && (is_usual && is_short || is_borne_out(self.0, question, false)) {
            return true;
        }
        if !is_latin(self) {
            let is_long = letters(question) > 2 * SCRIPT;
            return letters(question) == 0 || is_long || letters(&in_other_scripts(talk)) >= SCRIPT;
        }
        let latin = talk.split_whitespace().filter(|word| !word.chars().any(is_of_other_script));
        let latin: Vec<&str> = latin.collect();
        latin.len() >= FEW_WORDS && is_borne_out(self.0, &latin.join(" "), false)
    }

    /// Returns `false` for Russian and Ukrainian if the messages around the question are in Cyrillic script, and neither
    /// they nor it have what only one of the two has. A longer text without Ukrainian letters is Russian.
    fn is_told_from_its_like(self, question: &str, talk: &str) -> bool {
        const LONG: usize = 40;
        !matches!(self.0, Lang::Rus | Lang::Ukr)
            || in_other_scripts(talk).is_empty()
            || [question, talk].into_iter().any(|text| russian_or_ukrainian(text).is_some())
            || self.0 == Lang::Rus && letters(question) + letters(talk) >= LONG
    }

    /// Returns `true` if a few lines may be in this language: they have no letters that it lacks, not the common words of
    /// another language, and, unless they are very short, some of its own.
    fn is_possible(self, text: &str) -> bool {
        /// Fewer words may have no common one among them.
        const ENOUGH_WORDS: usize = 5;
        let shipped = Languages::shipped();
        if !Script::Latin.langs().contains(&self.0) {
            let lower = text.to_lowercase();
            let words_of = |one: Lang, other: Lang| shipped.words_of_one(&lower, one.code(), other.code()).len();
            let is_other = |other| words_of(other, self.0) > words_of(self.0, other);
            return !has_foreign_letters(self.0, text) && ![Lang::Rus, Lang::Ukr].into_iter().any(is_other);
        }
        let has_own_words = || {
            self.file().is_none()
                || text.split_whitespace().count() < ENOUGH_WORDS
                || shipped.stop_word_share(text, self.code()) > 0.0
        };
        !has_foreign_accents(self.0, text)
            && other_by_common_words(text).is_none_or(|other| other == self.0)
            && has_own_words()
    }

    /// Guesses the language of a question. A short question is assigned to one of the likely languages if possible: the
    /// language of the surrounding messages (`talk`), the chat's language, or English, unless it has common words of
    /// another language. A question of fewer letters than a word gets the language of `talk`. Returns `None` if neither
    /// has enough letters to tell.
    fn guess(question: &str, talk: &str, chat: Self) -> Option<Self> {
        /// Smallest number of letters from which a language is detected without a list of likely ones.
        const ENOUGH: usize = 40;
        /// A question with fewer letters gets the language of the surrounding messages or of the chat.
        const FEWEST: usize = 4;
        let question = without_latin_words(question);
        let question = question.as_ref();
        let among = |text: &str, languages: &[Lang]| {
            let fitting = languages.iter().copied().filter(|language| !has_foreign_letters(*language, text)).collect();
            unless_it_panics(|| whatlang::Detector::with_allowlist(fitting).detect_lang(text)).flatten()
        };
        // A few lines of chat resemble several of the seventy languages, so a language outside the usual ones must be
        // detected reliably.
        let sure = |text: &str| detect(text).filter(|info| info.is_reliable()).map(|info| info.lang());
        let own = languages().iter().filter_map(|language| Lang::from_code(&language.code));
        let usual: Vec<Lang> = own.chain([chat.0]).collect();
        let usual_for = |text: &str| -> Vec<Lang> {
            usual.iter().copied().filter(|language| !lacks_own_letters(*language, text)).collect()
        };
        let by_words = |text: &str| {
            let best = Self::by_common_words(text, &[chat.0, chat.0, Lang::Eng]).unwrap_or_default();
            if let [one] = best[..] { Some(one) } else { None }
        };
        let told = |text: &str| sure(text).or_else(|| by_words(text)).or_else(|| among(text, &usual_for(text)));
        let of_talk = (letters(talk) >= ENOUGH).then(|| told(talk)).flatten();
        if letters(question) < FEWEST {
            let of_few = || Self::of_script(talk).or_else(|| Self::of_question(talk, "", chat));
            let of_few = || if letters(talk) < FEWEST { None } else { of_few() };
            return of_talk.map(Self).or_else(of_few).or_else(|| (letters(talk) > 0).then_some(chat));
        }
        if letters(question) >= ENOUGH
            && let Some(language) = sure(question)
        {
            return Some(Self(language));
        }
        // English is only the default of a new chat, and its words have no accents.
        let is_english = |language: &Lang| *language == Lang::Eng;
        let is_foreign = of_talk.is_none() && is_english(&chat.0) && has_accents(question);
        let fits = |language: &Lang| !(is_foreign && is_english(language));
        let usual: Vec<Lang> = usual_for(question).into_iter().filter(fits).collect();
        let around = of_talk.unwrap_or(chat.0);
        if let Some(mut best) = Self::by_common_words(question, &[around, chat.0, Lang::Eng]) {
            // A short word such as "da" or "la" may be slang or a name.
            let is_sure = |language: &Lang| {
                [around, chat.0].contains(language) || Self(*language).is_told_by(question, Self(around))
            };
            best.retain(is_sure);
            let likely: Vec<Lang> = usual.iter().copied().filter(|it| best.contains(it)).collect();
            let fits_around = || among(question, &[around]).filter(fits).map(Self);
            let told = match &best[..] {
                [] => None,
                [one] => Some(Self(*one)),
                _ => among(question, &likely).map(Self),
            };
            if let Some(language) = told.or_else(fits_around) {
                return Some(language);
            }
        }
        // A text in another script fits none of the likely languages, so all usual ones are tried next, then all.
        let rendered = among(question, &[around, chat.0, Lang::Eng])
            .filter(fits)
            .or_else(|| among(question, &usual))
            .or_else(|| detect(question).map(|info| info.lang()));
        Some(Self(rendered.or(of_talk).unwrap_or(chat.0)))
    }

    /// Returns the languages that have most of a question's common words and letters of their own. If several are
    /// equal, these are only the first of `likely` that is among them, or all if none is. `None` if the bot has no
    /// words of the first of `likely`.
    fn by_common_words(question: &str, likely: &[Lang; 3]) -> Option<Vec<Lang>> {
        /// Number of common words that a letter of only one language is worth.
        const LETTER: u32 = 2;
        Self(likely[0]).file()?;
        // A capitalised word may be a name from another language.
        let is_word = |(place, word): &(usize, &str)| *place == 0 || !word.starts_with(char::is_uppercase);
        let words = question.split_whitespace().enumerate().filter(is_word).map(|(_, word)| word);
        let lower = words.collect::<Vec<_>>().join(" ").to_lowercase();
        let letters = |code: &str| languages().iter().find(|it| it.code == code).map_or("", |it| it.letters.as_str());
        let count = |(code, words): (&str, u32)| {
            let has_letter = lower.contains(|c| letters(code).contains(c));
            Some((Lang::from_code(code)?, words + if has_letter { LETTER } else { 0 }))
        };
        let known: Vec<_> = Languages::shipped().common_words(question).into_iter().filter_map(count).collect();
        let most = known.iter().map(|(_, count)| *count).max().unwrap_or_default();
        let best: Vec<Lang> =
            known.into_iter().filter(|(_, count)| *count == most).map(|(language, _)| language).collect();
        if let Some(first) = likely.iter().find(|language| best.contains(language)).filter(|_| most > 0) {
            return Some(vec![*first]);
        }
        // A question of one word that is common in another language may be a name.
        let least = if question.split_whitespace().nth(1).is_none() { LETTER } else { 1 };
        Some(if most >= least { best } else { Vec::new() })
    }

    /// Returns `true` if a question has a letter that only this language has, or enough of its common words that are no
    /// words of the language of the messages around it, or if it begins with one that asks.
    fn is_told_by(self, question: &str, around: Self) -> bool {
        /// Letters of these words together: "wo ist" is German, "de flight" may be English.
        const TELLING_LETTERS: usize = 4;
        let lower = question.to_lowercase();
        let has_letter = self.file().is_some_and(|file| lower.contains(|c| file.letters.contains(c)));
        let languages = Languages::shipped();
        let own = languages.words_of_one(&lower, self.code(), around.code());
        let letters: usize = own.iter().map(|word| word.chars().count()).sum();
        has_letter
            || letters >= TELLING_LETTERS
            || languages.asks_in(&lower, self.code())
                && own
                    .first()
                    .is_some_and(|word| lower.trim_start_matches(|c: char| !c.is_alphanumeric()).starts_with(word))
    }

    /// Detects the language of a text in a script that is neither Latin nor Cyrillic, which tells the language even of
    /// a few words. Returns `None` for the other two.
    pub fn of_script(text: &str) -> Option<Self> {
        own_script(text)?;
        unless_it_panics(|| whatlang::detect_lang(text)).flatten().map(Self)
    }

    /// Returns `true` if a question is in another language than `talk`, by its stop words, or if the script of either or the
    /// common words of `talk` show that it is in none of the bot's languages.
    pub fn is_foreign(question: &str, talk: &str) -> bool {
        let (asked, spoken) = (Languages::shipped().likely_codes(question), Languages::shipped().likely_codes(talk));
        [question, talk].into_iter().any(|text| Self::of_script(text).is_some())
            || other_by_common_words(talk).is_some()
            || asked.iter().all(|code| !spoken.contains(code))
    }

    /// Returns the language as a prompt names it. Chinese has two scripts.
    pub fn name_in_prompt(self) -> &'static str {
        if self.0 == Lang::Cmn { "Chinese, in the script of the question" } else { self.english_name() }
    }

    /// Returns the English name, such as `German`.
    pub fn english_name(self) -> &'static str {
        self.0.eng_name()
    }

    /// Returns `true` if `text` names a language or asks for a translation. Then the prompt must not demand another
    /// language for the answer.
    pub fn is_named_in(text: &str) -> bool {
        // The Turkish capital letter, which else becomes two characters.
        let lower = text.replace('İ', "i").to_lowercase();
        has_language_name(&lower) || lower.unicode_words().any(|word| begins_like(word, |it| &it.translate))
    }

    /// Returns `true` if there is a stemmer for the language, so that forms of the same word are found together.
    pub fn has_stemmer(self) -> bool {
        self.0 == Lang::Ara || self.algorithm().is_some()
    }

    fn algorithm(self) -> Option<Algorithm> {
        Some(match self.0 {
            Lang::Ces => Algorithm::Czech,
            Lang::Dan => Algorithm::Danish,
            Lang::Nld => Algorithm::DutchPorter,
            Lang::Eng => Algorithm::English,
            Lang::Fin => Algorithm::Finnish,
            Lang::Fra => Algorithm::French,
            Lang::Deu => Algorithm::German,
            Lang::Ell => Algorithm::Greek,
            Lang::Hin => Algorithm::Hindi,
            Lang::Hun => Algorithm::Hungarian,
            Lang::Ind => Algorithm::Indonesian,
            Lang::Ita => Algorithm::Italian,
            Lang::Nob => Algorithm::Norwegian,
            Lang::Pes => Algorithm::Persian,
            Lang::Pol => Algorithm::Polish,
            Lang::Por => Algorithm::Portuguese,
            Lang::Ron => Algorithm::Romanian,
            Lang::Rus => Algorithm::Russian,
            Lang::Spa => Algorithm::Spanish,
            Lang::Swe => Algorithm::Swedish,
            Lang::Tam => Algorithm::Tamil,
            Lang::Tur => Algorithm::Turkish,
            Lang::Ukr => Algorithm::Ukrainian,
            _ => return None,
        })
    }
}

/// Detects the language of a text. Leaves out languages in Cyrillic script that lack letters of the text, and Ukrainian
/// and Belarusian if the text has hardly any of their own letters.
fn detect(text: &str) -> Option<whatlang::Info> {
    let is_unfit = |language: &Lang| has_foreign_letters(*language, text) || lacks_own_letters(*language, text);
    let unfit = Lang::all().iter().copied().filter(is_unfit).collect();
    unless_it_panics(|| whatlang::Detector::with_denylist(unfit).detect(text)).flatten()
}

/// Returns Russian or Ukrainian, whichever a text has more words of: those with letters and common words that the other
/// does not have. `None` if they are equal.
fn russian_or_ukrainian(text: &str) -> Option<Lang> {
    let lower = text.to_lowercase();
    // Without the endings of numbers, as in "28-го".
    let is_word = |word: &&str| !word.starts_with(|c: char| c.is_ascii_digit());
    let lower = lower.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ");
    let with_letters =
        |letters: &str| lower.split_whitespace().filter(|word| word.contains(|c| letters.contains(c))).count();
    let common = |own: Lang, other: Lang| Languages::shipped().words_of_one(&lower, own.code(), other.code()).len();
    let russian = with_letters("ыэё") + common(Lang::Rus, Lang::Ukr);
    let with_apostrophe = lower.split_whitespace().filter(|word| has_inner_apostrophe(word)).count();
    let ukrainian = with_letters(UKRAINIAN) + with_apostrophe + common(Lang::Ukr, Lang::Rus);
    match russian.cmp(&ukrainian) {
        Ordering::Less => Some(Lang::Ukr),
        Ordering::Equal => None,
        Ordering::Greater => Some(Lang::Rus),
    }
}

/// Returns `true` for a word in Cyrillic script such as `п'ять`.
fn has_inner_apostrophe(word: &str) -> bool {
    let parts = word.split_once(['\'', '’', 'ʼ']);
    parts.is_some_and(|(before, behind)| before.ends_with(is_of_other_script) && behind.starts_with(is_of_other_script))
}

/// Letters of Ukrainian that Russian does not have.
const UKRAINIAN: &str = "іїєґ";

/// Returns `true` if a text has letters that a language in Cyrillic script does not have. Short texts in these
/// languages resemble each other.
fn has_foreign_letters(language: Lang, text: &str) -> bool {
    let foreign = match language {
        Lang::Rus => "іїєґўјљњћђџѓќѕ",
        Lang::Ukr => "ыэёъўјљњћђџѓќѕ",
        Lang::Bel => "иъщїєґјљњћђџѓќѕ",
        // Bulgarian has the soft sign only before "о".
        Lang::Bul => "ыэёіїєґўјљњћђџѓќѕь",
        Lang::Srp | Lang::Mkd => "йщъыьэюяёіїєґў",
        _ => return false,
    };
    match language {
        Lang::Bul => are_usual(foreign, &text.to_lowercase().replace("ьо", "")),
        _ => are_usual(foreign, text),
    }
}

/// Returns `true` if a text has a word, which is no name, with a letter that this language of the bot in Latin script does
/// not have.
fn has_foreign_accents(language: Lang, text: &str) -> bool {
    let own = match language {
        // Including letters of borrowed words, such as "café".
        Lang::Deu => "àäçéèêöüß",
        Lang::Eng => "àâçèéêïñöü",
        Lang::Est => "äöõüšž",
        Lang::Fra => "àâæçéèêëîïôœùûüÿ",
        Lang::Ita => "àèéìíîòóùú",
        Lang::Nld => "àáèéëêíïóöúü",
        Lang::Pol => "ąćęłńóśźż",
        Lang::Por => "àáâãçéêíóôõúü",
        Lang::Spa => "áéíñóúü",
        Lang::Tur => "âçğıîöşûü",
        _ => return false,
    };
    let is_sign = |c: char| matches!(c, 'ª' | 'º' | 'µ');
    let is_foreign = |c: char| c.is_alphabetic() && !c.is_ascii() && is_latin(c) && !is_sign(c) && !own.contains(c);
    text.split_whitespace()
        .any(|word| !word.starts_with(char::is_uppercase) && word.to_lowercase().contains(is_foreign))
}

/// Returns `true` if a text has none of the letters that nearly every sentence of the language has.
fn lacks_own_letters(language: Lang, text: &str) -> bool {
    match language {
        Lang::Ukr => !are_usual(UKRAINIAN, text) && !text.split_whitespace().any(has_inner_apostrophe),
        Lang::Bel => !are_usual("іў", text),
        _ => false,
    }
}

/// Returns `true` if a hundredth of a text's letters or more are among `letters`: a long text may quote another
/// language.
fn are_usual(letters: &str, text: &str) -> bool {
    let lower = text.to_lowercase();
    let count = lower.chars().filter(|c| letters.contains(*c)).count();
    count > 0 && count * 100 >= lower.chars().filter(|c| c.is_alphabetic()).count()
}

/// Returns `true` if a text has a word with an accent that is no name.
fn has_accents(text: &str) -> bool {
    let is_accented = |word: &str| word.chars().any(|c| c.is_alphabetic() && !c.is_ascii());
    text.split_whitespace().any(|word| !word.starts_with(char::is_uppercase) && is_accented(word))
}

/// Stemmer of one language, for words of [`folded`] texts.
pub enum WordStemmer {
    /// Words are not shortened.
    Whole,
    Snowball(Stemmer),
    /// The Snowball stemmer leaves some forms of a word apart.
    Arabic,
    Hebrew,
}

impl WordStemmer {
    pub fn new(language: Language) -> Self {
        match (language.0, language.algorithm()) {
            (Lang::Ara, _) => Self::Arabic,
            (Lang::Heb, _) => Self::Hebrew,
            (_, Some(algorithm)) => Self::Snowball(Stemmer::create(algorithm)),
            (_, None) => Self::Whole,
        }
    }

    pub fn stem<'a>(&self, lower_case: &'a str) -> Cow<'a, str> {
        match self {
            Self::Whole => Cow::Borrowed(lower_case),
            Self::Arabic => Cow::Borrowed(arabic_stem(lower_case)),
            Self::Hebrew => Cow::Borrowed(without_hebrew_prefixes(lower_case)),
            // A word on which a stemmer panics is not shortened, neither in the index nor in queries.
            Self::Snowball(stemmer) => {
                unless_it_panics(|| stemmer.stem(lower_case)).unwrap_or(Cow::Borrowed(lower_case))
            }
        }
    }
}

/// Removes "and", the article and the commonest endings from an Arabic word (the light10 stemmer of Larkey, Ballesteros
/// and Connell, 2007).
fn arabic_stem(word: &str) -> &str {
    const ARTICLES: [&str; 6] = ["ال", "وال", "بال", "کال", "فال", "لل"];
    const ENDINGS: [&str; 8] = ["ها", "ان", "ات", "ون", "ین", "یه", "ه", "ی"];
    let has = |rest: &&str, least: usize| rest.chars().count() >= least;
    let begun = word.strip_prefix('و').filter(|rest| has(rest, 3)).unwrap_or(word);
    let article = ARTICLES.iter().find_map(|article| begun.strip_prefix(article).filter(|rest| has(rest, 2)));
    let without = |rest, ending: &&str| str::strip_suffix(rest, *ending).filter(|left| has(left, 2)).unwrap_or(rest);
    ENDINGS.iter().fold(article.unwrap_or(begun), without)
}

/// Removes "and", "the", "in", "as", "to", "from" and "that" from the beginning of a Hebrew word, of which at least
/// three letters are left. A word that itself begins with one of these letters loses it in all its forms.
fn without_hebrew_prefixes(word: &str) -> &str {
    fn shorter(word: &str) -> Option<&str> {
        let rest = word.strip_prefix(['ו', 'ה', 'ב', 'כ', 'ל', 'מ', 'ש'])?;
        (rest.chars().count() >= 3).then_some(rest)
    }
    std::iter::successors(Some(word), |rest| shorter(rest)).last().unwrap_or(word)
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

fn is_of_other_script(c: char) -> bool {
    c.is_alphabetic() && !is_latin(c)
}

fn is_latin(c: char) -> bool {
    c < '\u{250}' || matches!(c, '\u{1e00}'..='\u{1eff}')
}

/// Returns the words of a text that have a letter that is not Latin.
fn in_other_scripts(text: &str) -> String {
    text.split_whitespace().filter(|word| word.chars().any(is_of_other_script)).collect::<Vec<_>>().join(" ")
}

/// Returns the script of a text unless it is Latin or Cyrillic, which many languages are written in.
fn own_script(text: &str) -> Option<Script> {
    whatlang::detect_script(text).filter(|script| !matches!(script, Script::Latin | Script::Cyrillic))
}

/// Returns the words in another script of a text that begins in one, without names, commands and code among them.
fn without_latin_words(text: &str) -> Cow<'_, str> {
    match text.chars().find(|c| c.is_alphabetic()).is_some_and(|c| !is_latin(c)) {
        true => Cow::Owned(in_other_scripts(text)),
        false => Cow::Borrowed(text),
    }
}

/// Returns the first four characters of a word, without the Arabic article. For texts of an unknown language: with
/// four, the forms of a word have the same stem in all tested languages.
pub fn short_stem(word: &str) -> &str {
    let word = word.strip_prefix("ال").filter(|rest| rest.chars().nth(2).is_some()).unwrap_or(word);
    word.char_indices().nth(4).map_or(word, |(end, _)| &word[..end])
}

/// Returns the lower-case stems of the [`search_words`] of `text`, in order.
pub fn stems(text: &str, language: Language) -> Vec<String> {
    let stemmer = WordStemmer::new(language);
    search_words(&folded(text)).into_iter().map(|word| stemmer.stem(&word.to_lowercase()).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, text: &str, expected: &str) {
        assert_eq!(stems(text, Language::from_code(code)).join(" "), expected);
    }

    #[test]
    fn words_meet_their_other_forms() {
        check("eng", "Booking tables, booked a table!", "book tabl book a tabl");
        check("rus", "Рестораны ресторана", "рестора рестора");
        check("deu", "Häuser", "haus");
    }

    #[test]
    fn a_language_without_a_stemmer_keeps_its_words_whole() {
        check("est", "Lähme restorani", "lähme restorani");
        check("no such code", "cats", "cat");
    }

    #[test]
    fn forms_of_a_word_meet_in_languages_without_a_file() {
        for (code, forms) in [
            ("ara", "الراوتر راوتر"),
            ("ara", "خيمة الخيمة خيمه"),
            ("ara", "سيارة السيارة سيارات والسيارات للسيارة"),
            ("ara", "كتاب كتابي الكتاب بالكتاب"),
            ("ces", "chaty chatu chatě"),
            ("ell", "καλημέρα ΚΑΛΗΜΕΡΑ καλημερα"),
            ("heb", "מקרר המקרר למקרר ומהמקרר"),
            ("heb", "תרמוסטט שהתרמוסטט"),
            ("heb", "בית הבית לבית"),
            ("hin", "टंकी टंकियों"),
            ("ind", "membeli beli"),
            ("pes", "ماشین‌ها ماشينها ماشین"),
        ] {
            let stems = stems(forms, Language::from_code(code));
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn a_short_question_is_told_by_the_talk_around_it() {
        let of = |question: &str, talk: &str, chat: &str| {
            Language::of_question(question, talk, Language::from_code(chat)).map(Language::english_name)
        };
        let german = "Wer hat den Kellerschlüssel? Der liegt unter der Fußmatte bei Frau Krüger.";
        assert_eq!(of("wo ist er?", german, "eng"), Some("German"));
        assert_eq!(of("where is the key?", german, "deu"), Some("English"));
        assert_eq!(of("?", german, "eng"), Some("German"));
        for short in ["Kaution?", "Preis?", "Wann?", "Hilfe", "hallo"] {
            assert_eq!(of(short, german, "deu"), Some("German"), "{short}");
            assert_eq!(of(short, "", "deu"), Some("German"), "{short}");
        }
        assert_eq!(of("when?", german, "deu"), Some("English"));
        assert_eq!(of("caution ?", "", "fra"), Some("French"));
        assert_eq!(of("kablo kaç para?", "", "tur"), Some("Turkish"));
        assert_eq!(of("Ben?", german, "deu"), Some("German"));
        let english = "Who has the key to the cupboard? It is under the plant, as always, next to the door.";
        for (question, expected) in [
            ("wo ist der Schlüssel zum Schrank?", "German"),
            ("¿a qué hora empieza la película?", "Spanish"),
            ("à quelle heure est le film ?", "French"),
            ("quanto podemos gastar por pessoa?", "Portuguese"),
            ("hoe laat begint de film?", "Dutch"),
            ("where is the key to the cupboard?", "English"),
            ("who reserved a table for nine?", "English"),
        ] {
            assert_eq!(of(question, english, "eng"), Some(expected), "{question}");
        }
        assert_eq!(of("where is the key to the cupboard?", german, "deu"), Some("English"));
        assert_eq!(of("wo ist er?", "", "eng"), Some("German"));
        assert_eq!(of("когда репетиция?", "", "eng"), Some("Russian"));
        assert_eq!(of("у кого ключ?", "where is everybody?", "eng"), Some("Russian"));
        assert_eq!(of("де ключі?", "where is everybody?", "eng"), Some("Ukrainian"));
        for (question, expected) in [
            ("що зламалося?", "Ukrainian"),
            ("хто платить?", "Ukrainian"),
            ("в який день ми йдемо до ресторану?", "Ukrainian"),
            ("dolabın anahtarı nerede?", "Turkish"),
            ("kaç kişiyiz?", "Turkish"),
            ("qui a la clé ?", "French"),
            ("wer hat den schlüssel?", "German"),
        ] {
            assert_eq!(of(question, english, "eng"), Some(expected), "{question}");
        }
        let polish = "Widzimy się w piątek, przyniosę ciasto i ktoś musi wziąć klucz od sąsiadów przed południem.";
        for question in ["ile kosztuje nocleg?", "ile kosztuje tort?"] {
            assert_eq!(of(question, polish, "pol"), Some("Polish"), "{question}");
        }
        assert_eq!(of("wieviel nebenkosten pro person", german, "deu"), Some("German"));
        for slang in [
            "wat time is da flight",
            "y porto n not lisbon",
            "la host name",
            "de flight time?",
            "gimme da plan",
            "wots da plan 4 sat",
            "pls tell me da host",
        ] {
            assert_eq!(of(slang, english, "eng"), Some("English"), "{slang}");
        }
        for (question, expected) in [("wer zahlt?", "German"), ("qui paye ?", "French"), ("chi paga?", "Italian")] {
            assert_eq!(of(question, english, "eng"), Some(expected), "{question}");
        }
        let russian = "Кто возьмёт задачу по миграции базы данных? Я возьму её в понедельник утром.";
        assert_eq!(of("объясни этот код: for i in range(10): print(i)", russian, "rus"), Some("Russian"));
        let french = "La porte du garage ne ferme plus, quelqu'un peut appeler le réparateur demain matin ?";
        assert_eq!(of("/etc/passwd", french, "fra"), Some("French"));
        assert_eq!(of("", "", "eng"), None);
        for (question, expected) in [("näita populaarseid raamatuid", "Estonian"), ("show popular cafes", "English")] {
            assert_eq!(of(question, "", "eng"), Some(expected), "{question}");
        }
    }

    /// Checks the language of a bare trigger after a talk of a few lines, in a chat whose language is not known.
    #[test]
    fn a_bare_trigger_is_told_by_a_short_talk() {
        for (talk, expected) in [
            ("Надо скинуться на подарок Маше\nПо сколько?\nПо пятьсот", "Russian"),
            ("когда встречаемся?\nв семь\nлучше в восемь", "Russian"),
            ("где встречаемся завтра перед походом?\nв восемь у вокзала, я куплю билеты", "Russian"),
            ("Купила торт на суботу\nСкільки коштує?\nПівтори тисячі", "Ukrainian"),
            ("В колко часа се срещаме утре?\nВ осем на гарата, ще купя билети\nДобре, ще взема палатката", "Bulgarian"),
            ("明天几点见面？\n八点在车站", "Mandarin"),
            ("明日何時に会いますか？\n八時に駅で会いましょう", "Japanese"),
            ("Chi ha la chiave?\nCredo Pietro\nVa bene, gli scrivo", "Italian"),
            ("Qui a la clé ?\nJe crois que Pierre", "French"),
            ("who has the key?\nI think Pete", "English"),
            ("I take mornings, you're never here before ten\nok both! can we afford both", "English"),
            ("pizza? ok", "English"),
        ] {
            let told = Language::of_question("?", talk, Language::DEFAULT).map(Language::english_name);
            assert_eq!(told, Some(expected), "{talk}");
        }
    }

    #[test]
    fn without_evidence_no_language_is_told() {
        let of = |question: &str, talk: &str, chat: &str| {
            Language::of_question(question, talk, Language::from_code(chat)).map(Language::english_name)
        };
        let english = "Who has the key to the cupboard? It is under the plant, as always, next to the door. We should buy \
                       another one, because it is not easy to find, and I will be late again tomorrow.";
        let hindi = "sagai kab hai yaar, kitne paise dene hai sabko? main bus ki ticket book kar raha hoon kal subah. theek hai \
                     bhai, mummy ne bola hai ki sab log saath mein chalenge, hotel bhi dekh lo";
        let czech = "kdy jedeme na chatu? v patek vecer, jestli nebude prset. ja vezmu klobasy a kdo prinese pivo? kolik to \
                     stoji na osobu a noc? asi pet set, ale jeste se zeptam souseda";
        let greek = "paidia pame thalassa to savvato? nai re pame, pou omws? varkiza h sounio, sounio einai kalytera, stis 10 \
                     apo to metro, poios exei amaksi? egw exw alla thelei venzini";
        for (question, talk, chat, expected) in [
            ("kitne paise", hindi, "eng", None),
            ("lautne ki ticket ka kya status hai", hindi, "hin", None),
            ("?", hindi, "eng", None),
            ("when is the party?", hindi, "hin", Some("English")),
            ("सगाई कब है?", hindi, "hin", Some("Hindi")),
            ("pote pame?", greek, "eng", None),
            ("pote einai to party", "", "ell", None),
            ("kdy jedeme", czech, "ces", Some("Czech")),
            ("berem tuhle?", czech, "ces", None),
            ("מתי", english, "eng", Some("Hebrew")),
            ("چی شد؟", english, "eng", None),
            ("کی میاد؟", english, "pes", Some("Persian")),
            ("鍵", english, "eng", None),
            ("鍵", english, "jpn", Some("Japanese")),
            ("何時ですか", english, "eng", Some("Japanese")),
            ("кога тръгваме", english, "eng", None),
            ("у кого ключ?", english, "eng", Some("Russian")),
            ("wo ist er?", english, "eng", Some("German")),
            ("co koupit na večeři pro děti?", "v pátek jedeme na chatu\nsuper", "eng", None),
            ("ce gătim pentru 6, doi copii", "vineri la mine la cină\naduc vin", "eng", None),
            ("mit főzzek ma este?", "pénteken jöttök?\nigen", "eng", None),
            ("hva skal vi lage til middag", "fredag hos meg", "eng", None),
            ("а на двох вистачить?", "привіт\nвечеря о шостій", "eng", Some("Ukrainian")),
            ("а на двох?", "вечеря в п'ятницю\nпорадь 3 ресторани", "eng", Some("Ukrainian")),
            ("а парковка?", "вечеря в п'ятницю\nпорадь 3 ресторани", "rus", Some("Ukrainian")),
            ("где это?", "вечеря в п'ятницю\nпорадь 3 ресторани", "ukr", Some("Russian")),
            ("коротше", "порадь 3 ресторани", "eng", None),
            ("а парковка?", "ужин в пятницу\nпосоветуй 3 ресторана", "rus", Some("Russian")),
            ("а парковка?", "когда ужин?\nв восемь", "eng", Some("Russian")),
            ("взяла, 28-го о 22:45", "я! але лише верхні", "eng", Some("Ukrainian")),
            ("què puc cuinar avui?", "bon dia", "eng", None),
            ("i sense carn?", "divendres sopar a casa\nporto vi", "eng", None),
            ("sta da kuvam danas?", "cao", "eng", None),
            ("anna resepti", "moi\nmitä laitan tänään ruoaksi?", "eng", None),
            ("e domani?", "ciao", "eng", Some("Italian")),
            ("anna retsept", "tere\nmida täna süüa teha?", "eng", Some("Estonian")),
            ("schreib eine einladung", "fest am samstag um 8", "eng", Some("German")),
        ] {
            assert_eq!(of(question, talk, chat), expected, "{question}");
        }
    }

    #[test]
    fn the_language_of_a_chat_needs_words_that_bear_it_out() {
        let judged = |text: &str| Language::judge(&[text.to_owned()]).map(Language::english_name);
        let greek = "paidia pame thalassa to savvato? nai re pame, pou omws? varkiza h sounio, sounio einai kalytera, ti wra? \
                     stis 10 apo to metro, poios exei amaksi? egw exw alla thelei venzini, tha valoume oloi apo 5 euro";
        let japanese = "ashita doko iku? shibuya de ii yo, nanji? 6ji ni hachiko mae, ok wakatta, gomen okureru kamo, daijoubu da \
                        yo, ie ni kagi wasureta, majide lol, ame futteru kara kasa motte kite ne, densha ga okureteru";
        let czech = "kdy jedeme na chatu? v patek vecer, jestli nebude prset. ja vezmu klobasy a kdo prinese pivo? kolik to \
                     stoji na osobu a noc? asi pet set, ale jeste se zeptam souseda, jestli nam to pujci, a v nedeli se vracime";
        let indonesian = "besok kita jadi ke pantai nggak? jadi dong, jam berapa berangkat? jam 7 pagi aja biar nggak macet. siapa \
                          yang bawa mobil? aku bisa, tapi belum isi bensin. oke nanti kita patungan ya, ada yang mau bawa makan?";
        for (text, expected) in
            [(greek, None), (japanese, None), (czech, Some("Czech")), (indonesian, Some("Indonesian"))]
        {
            assert_eq!(judged(text), expected, "{text}");
        }
    }

    #[test]
    fn every_question_is_foreign_in_a_chat_whose_language_has_no_file() {
        let czech = "tak v pátek v 17 u Kláry? jo, to je dobrý, ale kdo přinese klobásy\nja přinesu pivo a ty maso";
        assert!(Language::is_foreign("kdy je ta grilovačka", czech));
        let english = "so friday at 5 at Clara's? yes, that is good, but who brings the sausages\nI bring beer";
        assert!(!Language::is_foreign("when is the barbecue", english));
    }

    #[test]
    fn a_question_may_say_itself_what_to_answer_in() {
        for text in [
            "translate it to French please",
            "auf Deutsch bitte",
            "auf englisch?",
            "übersetz das",
            "in italiano?",
            "переведи",
            "ответь по-русски",
            "auf kurdisch",
            "y en catalán?",
            "İngilizcesi de lazım",
            "на узбекском",
            "i po litewsku",
        ] {
            assert!(Language::is_named_in(text), "{text}");
        }
        for text in [
            "when does it come?",
            "wo ist der Schlüssel?",
            "who polishes the boat?",
            "quanto já mandaram de pix pras camisas?",
            "was kostet urlaub in italien für 2 im mai?",
        ] {
            assert!(!Language::is_named_in(text), "{text}");
        }
    }

    #[test]
    fn a_few_words_do_not_decide_a_language() {
        assert_eq!(Language::judge(&["пойдём".to_owned()]), None);
        let russian = [
            "Давайте посмотрим ресторан для нашей встречи в пятницу вечером, столик надо заказать заранее.",
            "А сколько нас будет? Мне кажется, что человек девять, если Катя всё-таки приедет из Москвы.",
            "Хорошо, тогда я позвоню туда завтра утром и спрошу, есть ли у них большой стол у окна.",
        ];
        let judged = Language::judge(&russian.map(str::to_owned));
        assert_eq!(judged.map(Language::code), Some("rus"));
    }
}
