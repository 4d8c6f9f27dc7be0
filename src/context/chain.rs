//! Reply links: a message older than every limit still comes in through one.

use std::collections::{BTreeMap, VecDeque};

use crate::context::pool::{Place, Pool};

/// What is reachable from `members` by reply links, with its distance in links: first their ancestors, then the
/// replies to everything found so far, neither further than `depth` links away. The members themselves are left out.
pub fn linked(pool: &Pool<'_>, members: &[Place], depth: usize) -> BTreeMap<Place, usize> {
    let mut distance: BTreeMap<Place, usize> = members.iter().map(|place| (*place, 0)).collect();
    spread(&mut distance, depth, |place| pool.parent(place).into_iter().collect());
    spread(&mut distance, depth, |place| pool.replies(place).to_vec());
    distance.retain(|_, links| *links > 0);
    distance
}

/// Follows `next` breadth first from everything in `distance`, nearest first.
fn spread(distance: &mut BTreeMap<Place, usize>, depth: usize, next: impl Fn(Place) -> Vec<Place>) {
    let mut start: Vec<(usize, Place)> = distance.iter().map(|(place, links)| (*links, *place)).collect();
    start.sort_unstable();
    let mut queue: VecDeque<Place> = start.into_iter().map(|(_, place)| place).collect();
    while let Some(place) = queue.pop_front() {
        let links = distance.get(&place).map_or(1, |links| links + 1);
        if links > depth {
            continue;
        }
        for found in next(place) {
            let known = distance.entry(found).or_insert(usize::MAX);
            if links < *known {
                *known = links;
                queue.push_back(found);
            }
        }
    }
}
