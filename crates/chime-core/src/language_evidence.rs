//! Evidence by common words that a text in Latin script is in a language. Frequencies of letters, by which a language is
//! detected, give some language for every text, also for Hindi or Greek in Latin letters.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use whatlang::Lang;

use crate::lang::languages;
use crate::tokenize::{split_words, without_accents};
use crate::trigger::{Languages, share};

/// Share of stop words that a chat has at least in one of the bot's languages. Measured in `data/chats`: 0.32 to 0.54; in
/// chats of other languages (`data/further_languages`) at most 0.27.
const SHARE: f64 = 0.25;
/// The same for languages with more endings and fewer stop words, and for mixed chats that resemble the language by their
/// letters too. Measured: 0.18 to 0.36; 0.13 in other languages.
const SHARE_WITH_ENDINGS: f64 = 0.15;
const WITH_ENDINGS: [Lang; 2] = [Lang::Tur, Lang::Est];
/// Share of common words that a text has at least in a language without a file.
const SHARE_OF_OTHERS: f64 = 0.12;

#[expect(clippy::panic, reason = "the file is compiled in, and a test reads it")]
static OTHERS: LazyLock<HashMap<Lang, HashSet<&str>>> = LazyLock::new(|| {
    let file = include_str!("../../../lang/cldr/common_words.toml");
    let lines = file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parse = |line: &'static str| {
        let (code, words) = line.split_once(" = ")?;
        Some((Lang::from_code(code)?, words.trim_matches('"').split(' ').collect()))
    };
    lines.map(|line| parse(line).unwrap_or_else(|| panic!("common_words.toml: {line}"))).collect()
});

/// Returns `true` if the words of a text in Latin script show that it is in `language`.
pub fn is_borne_out(language: Lang, text: &str, is_alike: bool) -> bool {
    if OTHERS.contains_key(&language) {
        return other_by_common_words(text) == Some(language);
    }
    let least = if is_alike || WITH_ENDINGS.contains(&language) { SHARE_WITH_ENDINGS } else { SHARE };
    Languages::shipped().stop_word_share(text, language.code()) > least
}

/// Returns the language without a file that a text in Latin script has most common words of, if they are enough and more
/// than the stop words of each of the bot's languages.
pub fn other_by_common_words(text: &str) -> Option<Lang> {
    let (best, share) = best_other(text)?;
    let shipped = Languages::shipped();
    let is_most = || languages().iter().all(|file| shipped.stop_word_share(text, &file.code) < share);
    (share > SHARE_OF_OTHERS && is_most()).then_some(best)
}

/// Returns `true` if another language has a larger share of common words than `language`, which has a file, in a question
/// together with the messages around it (`talk`), and the question alone has none of either or more of another's.
pub fn is_more_like_another(language: Lang, question: &str, talk: &str) -> bool {
    let shares = |text: &str| {
        let of = |code: &str| Languages::shipped().stop_word_share(text, code);
        let shipped = languages().iter().filter(|file| file.code != language.code()).map(|file| of(&file.code));
        let others = shipped.chain(best_other(text).map(|(_, share)| share));
        (of(language.code()), others.fold(0.0, f64::max))
    };
    let (own, of_another) = shares(question);
    if OTHERS.contains_key(&language) || own > 0.0 && own >= of_another {
        return false;
    }
    let (own, of_another) = shares(&format!("{question}\n{talk}"));
    of_another > own
}

/// Returns the language without a file that a text has the largest share of common words of, and this share.
fn best_other(text: &str) -> Option<(Lang, f64)> {
    let words: Vec<String> = split_words(text).map(|word| plain(&word.to_lowercase())).collect();
    let share_of =
        |common: &HashSet<&str>| share(words.iter().filter(|word| common.contains(word.as_str())).count(), words.len());
    let shares = OTHERS.iter().map(|(language, common)| (*language, share_of(common)));
    shares.max_by(|one, other| one.1.total_cmp(&other.1).then_with(|| other.0.code().cmp(one.0.code())))
}

fn plain(word: &str) -> String {
    without_accents(word).replace('đ', "d").replace('ı', "i").replace('ł', "l")
}
