//! What the weights of a bridge are fitted on: fragments with the matters before them, put together by somebody who knows.

use crate::context::matters::bridge::{self, Bond, Ranks, bond, scores};
use crate::context::matters::fragment::Fragment;
use crate::context::matters::ground::Ground;
use crate::context::matters::matter::Matter;
use crate::context::matters::weights::Bridge;
use crate::context::places::PlaceSet;

/// A fragment, the matters that it may take up, and which of them it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The features of the fragment with each matter.
    pub rows: Vec<[f64; bridge::FEATURES]>,
    /// The share of each matter that is of the fragment's own.
    pub shares: Vec<f64>,
    /// Whether the fragment is known to be about anything.
    pub is_known: bool,
}

/// Goes through the `fragments` of one world, oldest first. `truth` is what each message of the ground is about.
pub fn lessons(ground: &Ground<'_>, fragments: &[PlaceSet], truth: &[Option<usize>]) -> Vec<Lesson> {
    let probes: Vec<Bridge> = (0..bridge::FEATURES).map(Bridge::probe).collect();
    let mut matters: Vec<(Option<usize>, Matter)> = Vec::new();
    let mut lessons = Vec::new();
    for members in fragments {
        let fragment = Fragment::new(members.places().collect(), ground);
        let about = about(members, truth);
        if !matters.is_empty() {
            lessons.push(lesson(ground, (&fragment, about), &matters, truth, &probes));
        }
        let own = matters.iter_mut().rfind(|(known, _)| about.is_some() && *known == about);
        match own {
            Some((_, matter)) => matter.add(&fragment, ground),
            None => {
                let mut matter = Matter::default();
                matter.clear(ground);
                matter.add(&fragment, ground);
                matters.push((about, matter));
            }
        }
    }
    lessons
}

fn lesson(
    ground: &Ground<'_>,
    (fragment, about): (&Fragment, Option<usize>),
    matters: &[(Option<usize>, Matter)],
    truth: &[Option<usize>],
    probes: &[Bridge],
) -> Lesson {
    let mut rows = vec![[0.0; bridge::FEATURES]; matters.len()];
    for (place, probe) in probes.iter().enumerate() {
        let bonds: Vec<(Bond, usize)> = (matters.iter())
            .map(|(_, matter)| (bond(ground, (fragment, matter), false, probe), matter.count))
            .collect();
        let values = scores(ground, &bonds, false, probe, &mut Ranks::default());
        rows.iter_mut().zip(values).for_each(|(row, value)| row[place] = value);
    }
    let share = |matter: &Matter| match about {
        None => 0.0,
        about => matter.members.places().filter(|place| truth[*place] == about).count() as f64 / matter.count as f64,
    };
    Lesson { rows, shares: matters.iter().map(|(_, matter)| share(matter)).collect(), is_known: about.is_some() }
}

/// What at least half of the messages are about.
fn about(members: &PlaceSet, truth: &[Option<usize>]) -> Option<usize> {
    let matters: Vec<usize> = members.places().filter_map(|place| truth[place]).collect();
    let count = |matter: usize| matters.iter().filter(|other| **other == matter).count();
    // The first of equals.
    let most = matters.iter().copied().rev().max_by_key(|matter| count(*matter))?;
    (2 * count(most) >= members.len()).then_some(most)
}
