//! Training examples for the linking of segments: segments with the subjects before them, assigned by their labels.

use crate::context::features::corpus::Corpus;
use crate::context::index_set::IndexSet;
use crate::context::matters::link::{Bond, LinkFeatures, bond, rows};
use crate::context::matters::matter::Matter;
use crate::context::matters::segment::Segment;

/// A segment with the subjects before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// Features of the segment with each subject.
    pub rows: Vec<LinkFeatures>,
    /// Share of each subject's messages that have the segment's label.
    pub shares: Vec<f64>,
    /// `true` if the segment has a label.
    pub is_known: bool,
}

/// Makes the examples from one forest's `segments`, oldest first. `truth` is the label of each message.
pub fn lessons(corpus: &Corpus<'_>, segments: &[IndexSet], truth: &[Option<usize>]) -> Vec<Lesson> {
    let mut matters: Vec<(Option<usize>, Matter)> = Vec::new();
    let mut lessons = Vec::new();
    for members in segments {
        let segment = Segment::new(members.places().collect(), corpus);
        let about = about(members, truth);
        if !matters.is_empty() {
            lessons.push(lesson(corpus, &segment, about, &matters, truth));
        }
        let own = matters.iter_mut().rfind(|(known, _)| about.is_some() && *known == about);
        match own {
            Some((_, matter)) => matter.add(&segment, corpus),
            None => matters.push((about, Matter::begun_by(&segment, corpus))),
        }
    }
    lessons
}

fn lesson(
    corpus: &Corpus<'_>,
    segment: &Segment,
    about: Option<usize>,
    matters: &[(Option<usize>, Matter)],
    truth: &[Option<usize>],
) -> Lesson {
    let bonds: Vec<(Bond, usize)> =
        matters.iter().map(|(_, matter)| (bond(corpus, segment, matter), matter.count)).collect();
    let share = |matter: &Matter| match about {
        None => 0.0,
        about => matter.members.places().filter(|place| truth[*place] == about).count() as f64 / matter.count as f64,
    };
    Lesson {
        rows: rows(&bonds).collect(),
        shares: matters.iter().map(|(_, matter)| share(matter)).collect(),
        is_known: about.is_some(),
    }
}

/// Returns the label of at least half of the messages.
fn about(members: &IndexSet, truth: &[Option<usize>]) -> Option<usize> {
    let matters: Vec<usize> = members.places().filter_map(|place| truth[place]).collect();
    let count = |matter: usize| matters.iter().filter(|other| **other == matter).count();
    // `max_by_key` returns the last of equals, so this order takes the first.
    let most = matters.iter().copied().rev().max_by_key(|matter| count(*matter))?;
    (2 * count(most) >= members.len()).then_some(most)
}
