//! Finds the lines from memory that an answer uses. When the messages behind them are deleted, the answer is deleted
//! too.

use std::collections::BTreeSet;

use crate::support::content_words;
use chime_core::{Citable, Seq};

/// Minimum share of a line's content words in an answer at which the answer counts as repeating the line.
const SAME_WORDS: f64 = 0.5;
const FEWEST_WORDS: usize = 2;

/// Returns the messages behind those lines of `given` that `answer` uses: it cites them (their ids are in `valid`) or
/// repeats their words.
pub fn used(answer: &str, valid: &[String], given: &[Citable]) -> Vec<Seq> {
    let said = content_words(answer);
    let is_used =
        |source: &&Citable| valid.contains(&source.id.to_string()) || repeats(&said, &content_words(&source.text));
    let grounds = given.iter().filter(is_used).flat_map(|source| source.rests_on.iter().map(|it| it.message));
    grounds.collect::<BTreeSet<Seq>>().into_iter().collect()
}

fn repeats(said: &BTreeSet<String>, line: &BTreeSet<String>) -> bool {
    let common = said.intersection(line).count();
    common >= FEWEST_WORDS && common as f64 >= SAME_WORDS * line.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{SourceId, SourceMessage, Timestamp};

    #[test]
    fn a_line_is_used_where_it_is_cited_or_said_again() {
        let line = |number: u32, text: &str| Citable {
            id: SourceId::summary(number),
            name: "Summary".to_owned(),
            is_own: false,
            sent_at: Timestamp::default(),
            text: text.to_owned(),
            link: None,
            rests_on: vec![SourceMessage {
                message: Seq(number),
                name: "Ana".to_owned(),
                is_own: false,
                sent_at: Timestamp::default(),
                link: None,
            }],
        };
        let given = [line(1, "Ana: the red tent comes along"), line(2, "the thai place is closed on Mondays")];
        let used = |answer: &str, valid: &[&str]| -> Vec<u32> {
            let valid: Vec<String> = valid.iter().map(|id| (*id).to_owned()).collect();
            used(answer, &valid, &given).into_iter().map(|seq| seq.0).collect()
        };
        assert_eq!(used("It was settled [1].", &["s1"]), [1]);
        assert_eq!(used("Take the red tent.", &[]), [1]);
        assert_eq!(used("The Thai place? Closed Monday.", &["s1"]), [1, 2]);
        assert_eq!(used("Bring a tent.", &[]), [0_u32; 0]);
    }
}
