//! Detects the output of a model that repeats itself in a loop, and cuts it after the first repeated unit.

use std::ops::Range;

use crate::code::{SENTENCE_ENDS, code_ranges, is_in};

/// Minimum number of words in a loop: fewer are emphasis, as in "no, no, no".
const FEWEST_WORDS: usize = 12;
/// Number of consecutive repetitions at the end of a text that make a loop.
const TIMES: usize = 4;
/// Number of repetitions that make a loop of short lines, which verse and lists repeat on purpose.
const TIMES_OF_LINES: usize = 8;
/// Number of repetitions that make a loop of table rows or lines of code.
const TIMES_OF_ROWS: usize = 16;
/// A repeated line of at least this many words has no special limit, since nobody repeats a long line on purpose.
const LONG_LINE: usize = 6;
/// Number of characters in a run of one unit within a word that make a loop. Lines of dashes and a number such as 10^100
/// have fewer.
const NOISE: usize = 160;
/// Number of such characters in code and rows of tables, and of emoji, which members may ask for.
const NOISE_WITH_REASON: usize = 4 * NOISE;
/// Maximum number of characters in a unit that repeats within a word: `!`, `ha`, `<unk>`.
const LONGEST_UNIT: usize = 8;
/// Factor by which a loop in a streamed text is longer than it must be, so that it is certain.
const PATIENCE: usize = 3;

/// A word, or a single character in scripts without spaces.
struct Word<'a> {
    /// Text of the word; `#` for the number of a list item, so that items that differ only by number are equal.
    text: &'a str,
    at: Range<usize>,
    begins_line: bool,
}

/// Sequence of words (unit) that stands several times in a row at the end of a text.
struct Repetition {
    /// Index of its first word.
    start: usize,
    /// Words per unit.
    period: usize,
    times: usize,
}

/// Returns `text` up to the end of the first repeated unit, or all of it if nothing repeats. Cuts a whole text where
/// the same text would have been cut while it was streamed, even if something else follows the loop.
pub fn without_loop(text: &str) -> &str {
    /// Bytes between the places at which the text is checked.
    const STEP: usize = 256;
    let mut begun = (STEP..text.len()).step_by(STEP).map(|at| &text[..text.floor_char_boundary(at)]);
    let looping = begun.find(|begun| ends_in_loop(begun));
    without_final_loop(looping.map_or(text, str::trim_end))
}

/// Like [`without_loop`], but finds only a loop at the end of `text`, as in an answer that is still being streamed.
pub fn without_final_loop(text: &str) -> &str {
    if let Some(before) = before_noise(text, 1) {
        return before;
    }
    let words = words(text);
    let code = code_ranges(text);
    let is_loop = |run: &Repetition| run.times >= times_allowed(&words, run, |word| is_in(&code, word.at.start));
    let Some(run) = runs(&words).find(is_loop) else { return text };
    let last = run.start + run.period - 1;
    // The repetition may start in the middle of a sentence: the text is kept up to the end of that sentence.
    let ends =
        |at: usize| words[at].text.ends_with(SENTENCE_ENDS) || words.get(at + 1).is_none_or(|next| next.begins_line);
    let end = (last..last + run.period).find(|at| ends(*at)).unwrap_or(last);
    text[..words[end].at.end].trim_end()
}

/// Returns `true` if a streamed text has repeated itself so often that it is certainly a loop, which
/// [`without_final_loop`] cuts, or if it ends with endless blanks.
pub fn ends_in_loop(text: &str) -> bool {
    /// Bytes at the end of the text to check. Bounds the work, because the check runs for every event of the stream.
    const TAIL: usize = 4_000;
    const MOST_BLANKS: usize = 400;
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..];
    let words = words(tail);
    let is_certain = |run: &Repetition| run.times >= PATIENCE * times_allowed(&words, run, |_| false);
    let blanks = tail.len() - tail.trim_end().len();
    blanks > MOST_BLANKS
        || before_noise(text, PATIENCE).is_some()
        || runs(&words).any(|run| is_certain(&run)) && without_final_loop(text).len() < text.trim_end().len()
}

/// Returns `text` without the run of one repeated unit that ends its last word, or `None` if there is no run that is
/// `patience` times as long as a loop must be. Broken servers write `!!!!…` or `GGGG…`. One unit stays where the run is
/// part of a word or follows it, as in `Nooo…`.
fn before_noise(text: &str, patience: usize) -> Option<&str> {
    let text = text.trim_end();
    let start = text.rfind(char::is_whitespace).map_or(0, |at| text.ceil_char_boundary(at + 1));
    let (before, word) = text.split_at(start);
    if word.len() < NOISE {
        return None;
    }
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let (first, period) = (1..=LONGEST_UNIT.min(chars.len())).find_map(|period| {
        let equal = (period..chars.len()).rev().take_while(|at| chars[*at].1 == chars[at - period].1).count();
        (equal + period >= NOISE * patience).then(|| (chars.len() - equal - period, period))
    })?;
    let unit = &chars[first..first + period];
    let is_emoji = |c: char| matches!(c, '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}');
    let has_reason =
        unit.iter().any(|(_, c)| is_emoji(*c)) || word.starts_with('|') || is_in(&code_ranges(text), start);
    if has_reason && chars.len() - first < NOISE_WITH_REASON * patience {
        return None;
    }
    let (head, tail) = word.split_at(chars[first].0);
    let is_apart = head.is_empty() || head.ends_with(SENTENCE_ENDS);
    let kept = if is_apart { 0 } else { unit.iter().map(|(_, c)| c.len_utf8()).sum() };
    Some(text[..before.len() + head.len() + kept.min(tail.len())].trim_end())
}

fn times_allowed<'a>(words: &[Word<'a>], run: &Repetition, is_code: impl Fn(&Word<'a>) -> bool) -> usize {
    let unit = &words[run.start..run.start + run.period];
    let has_lines = words[run.start + 1..=run.start + run.period].iter().any(|word| word.begins_line);
    match () {
        () if is_code(&unit[0]) || unit.iter().any(|word| word.text.starts_with('|')) => TIMES_OF_ROWS,
        () if has_lines && run.period < LONG_LINE => TIMES_OF_LINES,
        () => TIMES,
    }
}

/// Finds repetitions at the end of `words`, those with the shortest unit first.
fn runs(words: &[Word<'_>]) -> impl Iterator<Item = Repetition> {
    let last = words.len().saturating_sub(1);
    (1..=(words.len() / TIMES)).filter_map(move |period| {
        // The last word may be incomplete, so it only has to be a prefix of the earlier word.
        let is_same = |at: &usize| {
            let (earlier, word) = (&words[at - period], &words[*at]);
            let is_begun = *at == last && earlier.text.starts_with(word.text);
            // The first word of a text always begins a line.
            (earlier.begins_line == word.begins_line || *at == period) && (is_begun || earlier.text == word.text)
        };
        let equal = (period..words.len()).rev().take_while(is_same).count();
        let (total, times) = (equal + period, (equal + period) / period);
        (total >= FEWEST_WORDS && times >= TIMES).then_some(Repetition { start: words.len() - total, period, times })
    })
}

fn words(text: &str) -> Vec<Word<'_>> {
    let (mut words, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let mut begins_line = true;
        for word in line.split_whitespace() {
            // `word` is a slice of `line`, so the difference of addresses is its offset.
            let start = at + (word.as_ptr().addr() - line.as_ptr().addr());
            for piece in pieces(word) {
                let at = start + piece.start..start + piece.end;
                let number = word.trim_end_matches(['.', ')']);
                let is_item = begins_line && !number.is_empty() && number.len() < word.len();
                let is_number = is_item && number.bytes().all(|b| b.is_ascii_digit());
                words.push(Word { text: if is_number { "#" } else { &word[piece] }, at, begins_line });
                begins_line = false;
            }
        }
        at += line.len();
    }
    words
}

/// Splits a word into characters if its script has no spaces, else returns it whole.
fn pieces(word: &str) -> impl Iterator<Item = Range<usize>> {
    let has_no_blanks = |c| matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}');
    let each = word.chars().any(has_no_blanks);
    let chars = word.char_indices().map(|(at, c)| at..at + c.len_utf8()).filter(move |_| each);
    chars.chain((!each).then_some(0..word.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_loop(text), expected);
    }

    #[test]
    fn a_loop_is_cut_behind_its_first_time() {
        check(&format!("It is {}", "the moment: ".repeat(300)), "It is the moment:");
        check(
            &format!("Yes. {}", "The dinner is on Friday at seven. ".repeat(4)),
            "Yes. The dinner is on Friday at seven.",
        );
        check(&format!("Ana said: see you. {}", "I will see you. ".repeat(9)), "Ana said: see you. I will see you.");
        check(&"They agreed on Friday at seven o'clock.\n".repeat(4), "They agreed on Friday at seven o'clock.");
        let numbered: String = (1..40).map(|n| format!("{n}. Bring the tent and the stove.\n")).collect();
        check(&numbered, "1. Bring the tent and the stove.");
        let cut_off = format!("{}The dinner is on Fri", "The dinner is on Friday. ".repeat(6));
        check(&cut_off, "The dinner is on Friday.");
        check(&"晚饭在星期五七点。".repeat(5), "晚饭在星期五七点。");
        check(&format!("It is {}Done.", "the moment: ".repeat(300)), "It is the moment:");
        check(&format!("It is {}the moment.", "the moment: ".repeat(300)), "It is the moment:");
        let paragraph = (1..90).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        check(&format!("{paragraph}.\n\n").repeat(8), &format!("{paragraph}."));
        let long = (1..50).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        check(&format!("{long}. {long}. {long}. {long}."), &format!("{long}."));
    }

    #[test]
    fn what_repeats_itself_with_reason_stays() {
        for text in [
            "No, no, no, no: that was Thursday.",
            "Let it be\nLet it be\nLet it be\nLet it be",
            "Row, row, row your boat\nGently down the stream\nMerrily, merrily, merrily, merrily\nLife is but a dream",
            "Happy birthday to you\nHappy birthday to you\nHappy birthday, dear Ana\nHappy birthday to you",
            "1. Yes\n2. Yes\n3. Yes\n4. Yes\n5. Yes",
            "- Ana: yes\n- Ben: yes\n- Cem: yes\n- Dan: yes\n- Eva: yes",
            "| day | who |\n| --- | --- |\n| | |\n| | |\n| | |\n| | |\n| | |",
            "| a | b | c | d | e | f | g | h |\n| --- | --- | --- | --- | --- | --- | --- | --- |",
            "```\nx = [\n    [0, 0, 0, 0, 0, 0],\n    [0, 0, 0, 0, 0, 0],\n    [0, 0, 0, 0, 0, 0],\n    [0, 0, 0, 0, 0, 0]\n]\n```",
            "```\na();\na();\na();\na();\na();\na();\n```",
            "哈哈哈哈哈",
            "----------------------------------------------------------------------------------------------------------------",
            "The dinner is on Friday. The dinner is on Friday. The dinner is on Friday, as I said.",
            &format!("```\n{}```\nDone.", "    a();\n".repeat(15)),
            format!("```\n{}", "0 0 0 0 0 0 0 0 0 0 0 0\n".repeat(12)).trim_end(),
            "",
        ] {
            check(text, text);
            assert!(!ends_in_loop(text), "{text}");
        }
    }

    #[test]
    fn noise_of_one_unit_within_a_word_is_cut() {
        for unit in ["!", "G", "@", "?", "0", "▅", "of", "ha", "<unk>", "\u{FFFD}"] {
            let noise = unit.repeat(900);
            check(&noise, "");
            check(&format!("It is on Friday. {noise}"), "It is on Friday.");
            check(&format!("It is on Friday.{noise}"), "It is on Friday.");
            check(&format!("{noise} It is on Friday."), "");
            assert!(ends_in_loop(&noise) && !ends_in_loop(&unit.repeat(20)), "{unit}");
        }
        check(&format!("N{}", "o".repeat(900)), "No");
        check(&format!("Yes{}", "!".repeat(900)), "Yes!");
        check(&format!("```\n{}", "A".repeat(900)), "```");
    }

    #[test]
    fn a_long_word_with_a_reason_stays() {
        for text in [
            format!("A googol is 1{}.", "0".repeat(100)),
            "ha".repeat(30),
            "❤️".repeat(100),
            format!("Here you are: {}", "🎉".repeat(200)),
            format!("It sc{}reams.", "a".repeat(150)),
            format!("{}\nTitle\n{}", "=".repeat(120), "=".repeat(120)),
            format!("```\n{}\n```", "A".repeat(400)),
            format!("| day | who |\n|{}", "---|".repeat(60)),
            "https://a.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".to_owned(),
            "x".repeat(80) + &"y".repeat(80),
        ] {
            check(&text, &text);
            assert!(!ends_in_loop(&text), "{text}");
        }
    }

    #[test]
    fn a_loop_is_certain_soon_enough_to_save_the_rest() {
        assert!(ends_in_loop(&"the moment: ".repeat(40)) && !ends_in_loop(&"the moment: ".repeat(4)));
        assert!(
            ends_in_loop(&"The dinner is on Friday at seven. ".repeat(12))
                && ends_in_loop(&"晚饭在星期五七点。".repeat(12))
        );
        assert!(!ends_in_loop(&"The dinner is on Friday at seven. ".repeat(5)));
        assert!(!ends_in_loop(&"Let it be\n".repeat(16)) && !ends_in_loop(&"| | |\n".repeat(40)));
        assert!(ends_in_loop(&format!("Friday.{}", "\n".repeat(500))));
    }
}
