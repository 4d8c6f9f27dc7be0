//! Names of languages, by which a question asks to be answered in another one.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_segmentation::UnicodeSegmentation;
use whatlang::Lang;

/// Shorter names, such as "Thai", usually mean something else of that country.
const SHORTEST: usize = 5;
const NAMES_BY_LANGUAGE: &str = include_str!("../../../lang/cldr/language_names.toml");

struct LanguageNames {
    whole: HashSet<String>,
    beginnings: Vec<&'static str>,
}

static NAMES: LazyLock<LanguageNames> = LazyLock::new(|| {
    let lines = NAMES_BY_LANGUAGE.lines().filter_map(|line| line.split_once(" = "));
    let words = lines.flat_map(|(_, words)| words.trim_matches('"').split(' '));
    let (beginnings, whole): (Vec<&str>, Vec<&str>) = words.partition(|word| word.ends_with('*'));
    let own = Lang::all().iter().flat_map(|lang| [lang.eng_name().to_lowercase(), lang.name().to_lowercase()]);
    LanguageNames {
        whole: own
            .filter(|name| name.chars().count() >= SHORTEST)
            .chain(whole.into_iter().map(str::to_owned))
            .collect(),
        beginnings: beginnings.into_iter().map(|word| word.trim_end_matches('*')).collect(),
    }
});

/// Returns `true` if a lower-case text has the name of a language.
pub fn has_language_name(lower: &str) -> bool {
    lower
        .unicode_words()
        .any(|word| NAMES.whole.contains(word) || NAMES.beginnings.iter().any(|beginning| word.starts_with(beginning)))
}
