//! Splits notes into pieces, and ranks the pieces for a question.

use crate::sanitize::one_line;

/// Maximum number of characters of a piece: a paragraph or two.
const PIECE_CHARS: usize = 900;
const TITLE_CHARS: usize = 60;
/// Maximum number of characters of a title in the source line.
const SHORT_CHARS: usize = 26;
/// Maximum number of pieces added for a question.
const TOP: usize = 3;
/// Maximum number of pieces if the best ones are about equally similar, so that it is unclear which one answers the
/// question.
const TOP_OF_EQUALS: usize = 5;
/// If the best and the third similarity differ by less than this, they count as about equal.
const SPREAD: f64 = 0.05;

/// Returns the title of a note: its first line that has words, shortened.
pub fn title(text: &str) -> String {
    let first = text.lines().find(|line| line.chars().any(char::is_alphanumeric)).unwrap_or(text);
    one_line(first.trim_start_matches(['#', '*', '-', ' ']), TITLE_CHARS)
}

/// Shortens a title for the source line, at a word boundary.
pub fn short_title(title: &str) -> String {
    if title.chars().count() <= SHORT_CHARS {
        return title.to_owned();
    }
    let mut short = String::new();
    for word in title.split_whitespace() {
        if short.chars().count() + word.chars().count() + 2 > SHORT_CHARS {
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    match short.as_str() {
        "" => one_line(title, SHORT_CHARS),
        whole => format!("{}…", whole.trim_end_matches([',', ';', ':', '…'])),
    }
}

/// Splits a note into pieces.
pub fn pieces(text: &str) -> Vec<String> {
    chime_documents::pieces(text, PIECE_CHARS)
}

/// Returns the indexes of the highest similarities that are at least `least`, highest first.
pub fn nearest(similarities: &[f64], least: f64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..similarities.len()).filter(|place| similarities[*place] >= least).collect();
    places.sort_by(|a, b| similarities[*b].total_cmp(&similarities[*a]));
    let spread = match (places.first(), places.get(TOP - 1)) {
        (Some(first), Some(third)) => similarities[*first] - similarities[*third],
        _ => f64::INFINITY,
    };
    places.truncate(if spread < SPREAD { TOP_OF_EQUALS } else { TOP });
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_paragraphs_and_words() {
        let paragraph = "word ".repeat(100);
        let text = format!("{paragraph}\n\n{paragraph}\n\nend");
        let cut = pieces(&text);
        assert_eq!(cut.iter().map(|piece| piece.chars().count()).collect::<Vec<_>>(), [499, 505]);
        let long = pieces(&"word ".repeat(1000));
        assert!(
            long.len() == 6
                && long.iter().all(|piece| piece.chars().count() <= PIECE_CHARS && piece.starts_with("word"))
        );
        assert!(pieces(" \n\n ").is_empty());
        assert!(pieces(&"x".repeat(5000)).iter().all(|piece| piece.chars().count() <= PIECE_CHARS));
    }

    #[test]
    fn more_pieces_are_taken_where_the_best_are_alike() {
        assert_eq!(nearest(&[0.9, 0.2, 0.5, 0.4, 0.3], 0.25), [0, 2, 3]);
        assert_eq!(nearest(&[0.50, 0.49, 0.48, 0.47, 0.46, 0.45], 0.25), [0, 1, 2, 3, 4]);
        assert_eq!(nearest(&[0.1, 0.2], 0.25), [0_usize; 0]);
    }

    #[test]
    fn a_long_title_is_cut_between_words() {
        assert_eq!(short_title("The hut code is 7731"), "The hut code is 7731");
        assert_eq!(short_title("The hut code is 7731, and the key is out"), "The hut code is 7731, and…");
        assert_eq!(short_title(&"x".repeat(60)).chars().count(), SHORT_CHARS);
    }

    #[test]
    fn a_title_is_the_first_line_with_words() {
        assert_eq!(title("\n# Packing list\n- sail"), "Packing list");
        assert_eq!(title(&"long ".repeat(40)).chars().count(), TITLE_CHARS);
    }
}
