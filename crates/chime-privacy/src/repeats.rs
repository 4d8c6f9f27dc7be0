//! Detects that a text repeats the words of a forgotten message.

use chime_core::lower_words;

/// Number of equal words in a row that count as a repetition. If the forgotten text is shorter, all its words must
/// occur.
const RUN: usize = 4;
/// Smallest number of letters and digits in these words together. Shorter sequences are too common to reveal anything.
const TELLING_CHARS: usize = 10;

/// Returns `true` if `text` contains so many words of `forgotten` in a row that it reveals the forgotten text.
pub fn repeats(text: &str, forgotten: &str) -> bool {
    let (text, forgotten) = (lower_words(text), lower_words(forgotten));
    let run = RUN.min(forgotten.len());
    if run == 0 {
        return false;
    }
    forgotten
        .windows(run)
        .filter(|window| window.iter().map(|word| word.chars().count()).sum::<usize>() >= TELLING_CHARS)
        .any(|window| text.windows(run).any(|place| place == window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, forgotten: &str, expected: bool) {
        assert_eq!(repeats(text, forgotten), expected, "{text:?} / {forgotten:?}");
    }

    #[test]
    fn four_words_in_a_row_give_a_text_away() {
        let forgotten = "My new door code is 4711, do not tell anybody";
        check("Ann said: “the new door code is 4711”.", forgotten, true);
        check("NEW DOOR CODE IS — yes", forgotten, true);
        check("There is a new door, and a code.", forgotten, false);
    }

    #[test]
    fn a_short_text_is_given_away_by_all_of_it() {
        check("The word was xylophone-4711, twice.", "xylophone-4711", true);
        check("It was a xylophone.", "xylophone-4711", false);
        check("ok then", "ok", false);
        check("anything", "", false);
    }
}
