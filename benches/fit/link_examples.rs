//! Training examples for linking segments to subjects: each segment with the subjects before it, as the labels assign
//! them.

use chime_relevance::context::features::corpus::Corpus;
use chime_relevance::context::index_set::IndexSet;
use chime_relevance::context::subjects::link::{LinkFeatures, SegmentPair, rows, segment_pair};
use chime_relevance::context::subjects::segment::Segment;
use chime_relevance::context::subjects::subject::LinkedSubject;

/// Training example: a segment with the subjects before it.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkExample {
    /// Features of the segment with each earlier subject.
    pub rows: Vec<LinkFeatures>,
    /// For each earlier subject, the share of its messages that have the segment's label.
    pub shares: Vec<f64>,
    /// `true` if the segment has a label.
    pub is_known: bool,
}

/// Builds the examples from the `segments` of one forest, oldest first. `truth` holds the label of each message, if
/// known.
pub fn link_examples(corpus: &Corpus<'_>, segments: &[IndexSet], truth: &[Option<usize>]) -> Vec<LinkExample> {
    let mut subjects: Vec<(Option<usize>, LinkedSubject)> = Vec::new();
    let mut link_examples = Vec::new();
    for members in segments {
        let segment = Segment::new(members.places().collect(), corpus);
        let about = about(members, truth);
        if !subjects.is_empty() {
            link_examples.push(link_example(corpus, &segment, about, &subjects, truth));
        }
        let own = subjects.iter_mut().rfind(|(known, _)| about.is_some() && *known == about);
        match own {
            Some((_, subject)) => subject.add(&segment, corpus),
            None => subjects.push((about, LinkedSubject::begun_by(&segment, corpus))),
        }
    }
    link_examples
}

fn link_example(
    corpus: &Corpus<'_>,
    segment: &Segment,
    about: Option<usize>,
    subjects: &[(Option<usize>, LinkedSubject)],
    truth: &[Option<usize>],
) -> LinkExample {
    let bonds: Vec<(SegmentPair, usize)> =
        subjects.iter().map(|(_, subject)| (segment_pair(corpus, segment, subject), subject.count)).collect();
    let share = |subject: &LinkedSubject| match about {
        None => 0.0,
        about => subject.members.places().filter(|place| truth[*place] == about).count() as f64 / subject.count as f64,
    };
    LinkExample {
        rows: rows(&bonds).collect(),
        shares: subjects.iter().map(|(_, subject)| share(subject)).collect(),
        is_known: about.is_some(),
    }
}

/// Returns the most frequent label of a segment's messages; `None` if fewer than half of the messages have it.
fn about(members: &IndexSet, truth: &[Option<usize>]) -> Option<usize> {
    let subjects: Vec<usize> = members.places().filter_map(|place| truth[place]).collect();
    let count = |subject: usize| subjects.iter().filter(|other| **other == subject).count();
    // Of equally frequent labels the first is taken: `max_by_key` returns the last, so the order is reversed.
    let most = subjects.iter().copied().rev().max_by_key(|subject| count(*subject))?;
    (2 * count(most) >= members.len()).then_some(most)
}
