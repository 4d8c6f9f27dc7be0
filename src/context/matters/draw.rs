//! One world after the other: its fragments, and which of them take up the same matter.

use crate::context::matters::bridge::{Bond, Ranks, bond, scores};
use crate::context::matters::fragment::Fragment;
use crate::context::matters::ground::Ground;
use crate::context::matters::matter::Matter;
use crate::context::matters::weights::Bridge;
use crate::context::places::PlaceSet;
use crate::context::token::Quick;

/// Bonds that a window usually has: so many find room without being moved.
const BONDS: usize = 1024;

/// Draws the matters of worlds that share a ground.
pub struct Drawing<'a> {
    ground: &'a Ground<'a>,
    bridge: &'a Bridge,
    /// Whether the trigger's words weigh more than another message's.
    is_asking: bool,
    /// The fragments of all worlds so far: most of them come again.
    fragments: Vec<Fragment>,
    known: Quick<PlaceSet, usize>,
    /// The matters of the world that was drawn last, and room for more.
    matters: Vec<Matter>,
    /// Numbers of the matters of all worlds so far.
    numbers: Quick<PlaceSet, u32>,
    /// By the numbers of fragment and matter.
    bonds: Quick<u64, Bond>,
    /// Room to work in.
    at_hand: Vec<(Bond, usize)>,
    ranks: Ranks,
}

/// A matter of one world.
#[derive(Debug, Clone, Copy)]
pub struct Drawn {
    pub members: PlaceSet,
    /// How likely the trigger's own words take it up; 0 where they do not count.
    pub taken_up: f64,
}

impl<'a> Drawing<'a> {
    pub fn new(ground: &'a Ground<'a>, is_asking: bool, bridge: &'a Bridge) -> Self {
        Self {
            ground,
            bridge,
            is_asking,
            fragments: Vec::new(),
            known: Quick::default(),
            matters: Vec::new(),
            numbers: Quick::default(),
            bonds: Quick::with_capacity_and_hasher(BONDS, Default::default()),
            at_hand: Vec::new(),
            ranks: Ranks::default(),
        }
    }

    /// The matters of one world, the oldest first, from its `fragments`; `chances` decide, one for each candidate. What the
    /// ground holds beyond the candidates is the trigger.
    pub fn world(&mut self, fragments: &[PlaceSet], chances: &[f32]) -> Vec<Drawn> {
        let candidates = chances.len();
        let mut count = 0;
        for members in fragments {
            let number = self.fragment(*members);
            let probabilities = self.likelihoods(number, count, false);
            let fragment = &self.fragments[number];
            let chosen = drawn(&probabilities, f64::from(chances[fragment.start()])).unwrap_or(count);
            if chosen == self.matters.len() {
                self.matters.push(Matter::default());
            }
            if chosen == count {
                self.matters[chosen].clear(self.ground);
                count += 1;
            }
            let matter = &mut self.matters[chosen];
            matter.add(fragment, self.ground);
            let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
            matter.number = *self.numbers.entry(matter.members).or_insert(next);
        }
        let taken_up = if self.ground.remarks.len() > candidates {
            let trigger = self.fragment(PlaceSet::of([candidates]));
            self.likelihoods(trigger, count, self.is_asking)
        } else {
            vec![0.0; count]
        };
        let drawn = self.matters[..count].iter().zip(taken_up);
        drawn.map(|(matter, taken_up)| Drawn { members: matter.members, taken_up }).collect()
    }

    /// The number of a fragment.
    fn fragment(&mut self, members: PlaceSet) -> usize {
        *self.known.entry(members).or_insert_with(|| {
            self.fragments.push(Fragment::new(members.places().collect(), self.ground));
            self.fragments.len() - 1
        })
    }

    /// How likely a fragment takes up each of the first `count` matters; what is missing to 1 is that it begins a new one.
    fn likelihoods(&mut self, fragment: usize, count: usize, is_trigger: bool) -> Vec<f64> {
        let Self { ground, bridge, fragments, matters, bonds, at_hand, ranks, .. } = self;
        at_hand.clear();
        at_hand.extend(matters[..count].iter().map(|matter| {
            let known = bonds.entry((fragment as u64) << 32 | u64::from(matter.number));
            let pair = (&fragments[fragment], matter);
            (*known.or_insert_with(|| bond(ground, pair, is_trigger, bridge)), matter.count)
        }));
        let mut scores = scores(ground, at_hand, is_trigger, bridge, ranks);
        let highest = scores.iter().copied().fold(0.0, f64::max);
        let sum = (-highest).exp() + scores.iter().map(|score| (score - highest).exp()).sum::<f64>();
        scores.iter_mut().for_each(|score| *score = (*score - highest).exp() / sum);
        scores
    }
}

/// Strands of a world, which drew these `antecedents`, cut where a silence is longer than `far` seconds and no reply bridges
/// it; in the order of their first messages.
pub fn fragments(ground: &Ground<'_>, antecedents: &[Option<usize>], far: f64) -> Vec<PlaceSet> {
    let mut fragments: Vec<PlaceSet> = Vec::new();
    let mut of: Vec<usize> = Vec::with_capacity(antecedents.len());
    for (place, antecedent) in antecedents.iter().enumerate() {
        let remark = &ground.remarks[place];
        let joined =
            antecedent.filter(|from| remark.at - ground.remarks[*from].at <= far || remark.reply == Some(*from));
        let fragment = match joined {
            Some(from) => of[from],
            None => {
                fragments.push(PlaceSet::default());
                fragments.len() - 1
            }
        };
        fragments[fragment].insert(place);
        of.push(fragment);
    }
    fragments
}

fn drawn(probabilities: &[f64], chance: f64) -> Option<usize> {
    let mut below = 0.0;
    probabilities.iter().position(|probability| {
        below += probability;
        chance < below
    })
}
