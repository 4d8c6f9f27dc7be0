//! Tells what members write from output of programs, lists and code.

use chime_core::trigger::Languages;

/// Characters of words as in code, paths and output.
const CODE: [char; 17] = ['\\', '/', '_', '$', '<', '>', '{', '}', '[', ']', '=', '*', '|', '`', '+', '~', '^'];
/// Share of brackets and other marks of programs among the characters of a text, and of words before a comma among its
/// words, above which it is no sentence; the least numbers of such marks and words.
const MOST_SYMBOLS: f64 = 0.06;
const SYMBOLS_OF_CODE: usize = 3;
const MOST_LISTED: f64 = 0.6;
const LISTED: usize = 4;
/// A text in which one of this many words is a path or an option is a command or its output.
const PATHS: usize = 6;
/// Number of words at the beginning of an entry of a feed among which the hash of a commit is.
const FEED_WORDS: usize = 2;
/// Number of words from which a text is a list if at most one of `FUNCTION` words is a function word.
const BARE: usize = 10;
const FUNCTION: usize = 16;

/// Returns `true` for output of programs, such as logs and entries of feeds, for lists, and for a text that ends with a
/// colon.
pub fn is_output(text: &str) -> bool {
    const SYMBOLS: &str = r"{}[]<>=|\_`";
    let words: Vec<&str> = text.split_whitespace().collect();
    let chars = words.iter().map(|word| word.chars().count()).sum::<usize>();
    let symbols = text.chars().filter(|c| SYMBOLS.contains(*c)).count();
    let listed = words.iter().filter(|word| word.ends_with([',', '،', '、'])).count();
    let is_tagged = text.starts_with('[') && (text.contains('#') || text.contains("..."));
    symbols >= SYMBOLS_OF_CODE && symbols as f64 > MOST_SYMBOLS * chars as f64
        || listed >= LISTED && listed as f64 > MOST_LISTED * words.len() as f64
        || ["{", "| ", "> ", "$ ", "</"].iter().any(|start| text.starts_with(start))
        || is_tagged
        || is_bare_list(&words, text)
        || text.ends_with([':', '：'])
        || words.first().is_some_and(|word| is_clock_with_seconds(word))
        || words.iter().take(FEED_WORDS).any(|word| is_hash(word) || is_prompt(word))
        || words.iter().any(|word| is_path(word) && word.ends_with(':'))
        || !words.is_empty() && words.iter().filter(|word| is_path(word)).count() * PATHS >= words.len()
}

/// Returns `true` for many words in a row with hardly a function word of any language, such as names and commands.
/// Scripts whose languages have no list of function words are left alone.
fn is_bare_list(words: &[&str], text: &str) -> bool {
    let is_listed_script =
        |c: char| c.is_ascii() || ('\u{80}'..'\u{250}').contains(&c) || ('\u{400}'..'\u{500}').contains(&c);
    let is_function_word = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        Languages::shipped().is_stop_word_in(&word, text)
    };
    words.len() >= BARE
        && text.chars().all(is_listed_script)
        && words.iter().filter(|word| is_function_word(word)).count() * FUNCTION < words.len()
}

/// Returns `true` for the hash of a commit, shortened or not.
fn is_hash(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    (7..=64).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_alphabetic())
}

/// Returns `true` for the prompt of a shell, such as "C:\\Users>" and "ann@host:~$".
fn is_prompt(word: &str) -> bool {
    word.ends_with(['>', '$']) && word.contains(['\\', '/', '~'])
}

/// Returns `true` for a path, and for an option of a command.
fn is_path(word: &str) -> bool {
    if !word.contains(char::is_alphabetic) || word.contains("://") {
        return false;
    }
    // "Pizza/Pasta/Salat" is no path.
    let is_file = word.rsplit(['/', '\\']).next().is_some_and(|file| file.contains('.'));
    let is_deep = word.matches(['/', '\\']).count() >= 2;
    word.starts_with("--") || is_deep && (is_file || word.starts_with(['/', '\\', '.', '~']) || word.contains(":\\"))
}

fn is_clock_with_seconds(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_digit());
    word.split(':').count() == 3 && word.chars().all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'))
}

/// Returns the share of the words of a text that have marks as in code, paths and output.
pub(super) fn share_of_code(text: &str) -> f64 {
    let has_mark = |word: &str| word.contains(CODE) || word.trim_end_matches('.').contains('.');
    // "$25", "5/6" and "3.50" are no code.
    let is_code = |word: &&&str| has_mark(word) && !word.contains(char::is_numeric);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.iter().filter(is_code).count() as f64 / words.len().max(1) as f64
}
