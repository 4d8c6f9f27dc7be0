//! Long messages are shortened in the middle, never dropped silently.

use unicode_segmentation::UnicodeSegmentation;

use crate::domain::grouped;

/// `text` in at most `max_tokens` by `estimate`, with a note where the middle was. Cuts on graphemes.
///
/// The note itself is always there: below its own size `max_tokens` cannot be kept.
pub fn shorten(text: &str, max_tokens: usize, estimate: fn(&str) -> usize) -> String {
    let tokens = estimate(text);
    if tokens <= max_tokens {
        return text.to_owned();
    }
    let graphemes: Vec<&str> = text.graphemes(true).collect();
    let mut kept = graphemes.len() * max_tokens / tokens.max(1);
    loop {
        let shortened = without_middle(&graphemes, kept);
        if kept == 0 || estimate(&shortened) <= max_tokens {
            return shortened;
        }
        kept = kept * 9 / 10;
    }
}

/// The first and the last of `graphemes`, `kept` in all. The beginning of a message says more than its end.
fn without_middle(graphemes: &[&str], kept: usize) -> String {
    let head = kept * 3 / 5;
    let tail = kept - head;
    let (head, rest) = graphemes.split_at(head);
    let (middle, tail) = rest.split_at(rest.len() - tail);
    let note = format!("… [{} characters not shown] …", grouped(middle.len() as u64));
    [head.concat().trim_end(), &note, tail.concat().trim_start()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    #[test]
    fn a_text_that_fits_stays_as_it_is() {
        assert_eq!(shorten("one two three", 3, words), "one two three");
    }

    #[test]
    fn the_middle_goes_and_says_how_much_it_was() {
        let text = format!("The beginning{} the end", " x".repeat(700));
        let shortened = shorten(&text, 20, words);
        assert!(shortened.starts_with("The beginning x"), "{shortened}");
        assert!(shortened.contains("… [1,381 characters"), "{shortened}");
        assert!(shortened.ends_with("x the end"), "{shortened}");
    }

    #[test]
    fn with_no_room_at_all_only_the_note_is_left() {
        assert_eq!(shorten("one two three", 0, words), "… [13 characters not shown] …");
    }

    proptest! {
        #[test]
        fn a_shortened_text_fits_and_graphemes_stay_whole(text in "(👨‍👩‍👧|é|x| ){0,400}", max in 6_usize..60) {
            let bytes = |text: &str| text.len().div_ceil(8);
            let shortened = shorten(&text, max, bytes);
            prop_assert!(bytes(&shortened) <= max);
            let whole: BTreeSet<&str> = text.graphemes(true).collect();
            let (head, rest) = shortened.split_once("… [").unwrap_or((&shortened, ""));
            let tail = rest.split_once("] …").map_or("", |(_, tail)| tail);
            prop_assert!(head.trim().graphemes(true).all(|grapheme| whole.contains(grapheme)));
            prop_assert!(tail.trim().graphemes(true).all(|grapheme| whole.contains(grapheme)));
        }
    }
}
