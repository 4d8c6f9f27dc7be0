use chime_relevance::context::training::{FocusWeights, NOVELTY_NAMES, PAIR_NAMES};
use chime_relevance::context::{ReplyModel, Scorers};

use crate::learn::{Score, Term};
use crate::written::{Part, Written};

fn shipped() -> Written {
    Written::read(ReplyModel::WRITTEN, FocusWeights::WRITTEN).expect("the shipped files")
}

#[test]
fn what_is_read_is_written_again_letter_by_letter() {
    assert_eq!(shipped().links(), ReplyModel::WRITTEN);
    assert_eq!(shipped().subjects(), FocusWeights::WRITTEN);
}

#[test]
fn what_is_fitted_is_read_back_by_the_selector() {
    let mut written = shipped();
    let term = |place: usize| Term { weight: 0.25 * place as f64, low: -1.0, high: 123.456_789 };
    let score = |count: usize| Score { bias: -1.5, terms: (0..count).map(term).collect() };
    written.set(Part::Pairwise, &score(PAIR_NAMES.len()), &PAIR_NAMES);
    written.set(Part::Novelty, &score(NOVELTY_NAMES.len()), &NOVELTY_NAMES);
    written.set(Part::Links, &score(115), &[]);
    let subjects = written.subjects();
    assert!(subjects.contains(r#"{"name": "same_subject_odds", "w": 0.5, "lo": -1.0, "hi": 123.457}"#), "{subjects}");
    assert!(written.links().contains(r#"[["id", "ldt", 0]], "w": 0.25, "lo": -1.0, "hi": 123.457}"#));
    Scorers::read(&written.links(), &subjects).expect("the selector reads it");
}
