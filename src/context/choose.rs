//! Which messages to take: the set with the highest expected F1 over everything the trigger may be about.
//!
//! No threshold and no count cuts here: a message comes in for as long as it is expected to help more than it harms.

use crate::context::worlds::Hypothesis;

/// A candidate that was taken, in the order of taking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    pub place: usize,
    /// How likely it belongs to what the trigger is about, 0 to 1.
    pub probability: f32,
}

/// How likely each of `count` candidates belongs to what the trigger is about.
pub fn marginals(hypotheses: &[Hypothesis], count: usize) -> Vec<f32> {
    let mut marginals = vec![0.0; count];
    for hypothesis in hypotheses {
        for place in hypothesis.members.places() {
            marginals[place] += hypothesis.weight;
        }
    }
    marginals
}

/// How a set is chosen.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// Candidates to choose from.
    pub count: usize,
    /// Most that are taken.
    pub most: usize,
    /// 0 believes each hypothesis to the letter; 1 only their mean. Between strands that are taken up again days later
    /// the truth is often a bit of several.
    pub smoothing: f32,
}

/// Takes candidates greedily while the expected F1 rises.
pub fn best_set(hypotheses: &[Hypothesis], choice: Choice) -> Vec<Taken> {
    let Choice { count, most, smoothing } = choice;
    let marginals = marginals(hypotheses, count);
    let expected: f32 = marginals.iter().sum();
    let size = |hypothesis: &Hypothesis| (1.0 - smoothing) * hypothesis.members.len() as f32 + smoothing * expected;
    let sizes: Vec<f32> = hypotheses.iter().map(|hypothesis| size(hypothesis).clamp(1.0, most.max(1) as f32)).collect();
    let mut hits = vec![0.0_f32; hypotheses.len()];
    let mut taken: Vec<Taken> = Vec::new();
    let mut is_taken = vec![false; count];
    let mut best = 0.0;
    while taken.len() < most {
        let next_size = (taken.len() + 1) as f32;
        let shares: Vec<f32> = hypotheses
            .iter()
            .zip(&sizes)
            .map(|(hypothesis, size)| 2.0 * hypothesis.weight / (next_size + size))
            .collect();
        let already: f32 = shares.iter().zip(&hits).map(|(share, hits)| share * hits).sum();
        let Some((place, gain)) = most_gain(hypotheses, &shares, &marginals, &is_taken, smoothing) else { break };
        if already + gain < best {
            break;
        }
        best = already + gain;
        is_taken[place] = true;
        taken.push(Taken { place, probability: marginals[place] });
        for (hypothesis, hits) in hypotheses.iter().zip(&mut hits) {
            let hit = if hypothesis.members.contains(place) { 1.0 - smoothing } else { 0.0 };
            *hits += hit + smoothing * marginals[place];
        }
    }
    taken
}

/// The candidate that adds most, the newest of equals.
fn most_gain(
    hypotheses: &[Hypothesis],
    shares: &[f32],
    marginals: &[f32],
    is_taken: &[bool],
    smoothing: f32,
) -> Option<(usize, f32)> {
    let all: f32 = shares.iter().sum();
    let mut gains: Vec<f32> = marginals.iter().map(|marginal| smoothing * marginal * all).collect();
    for (hypothesis, share) in hypotheses.iter().zip(shares) {
        for place in hypothesis.members.places() {
            gains[place] += (1.0 - smoothing) * share;
        }
    }
    (0..gains.len())
        .filter(|place| !is_taken[*place] && gains[*place] > 0.0)
        .max_by(|a, b| gains[*a].total_cmp(&gains[*b]).then(a.cmp(b)))
        .map(|place| (place, gains[place]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::links::{Antecedents, Link};
    use crate::context::worlds::Worlds;
    use crate::domain::{ChatId, MessageId};

    /// Candidates by the distance of their sure antecedent; 0 starts something new.
    fn worlds(distances: &[usize]) -> Worlds {
        let sure = |distance: usize| match distance {
            0 => Antecedents::default(),
            distance => Antecedents(vec![Link { distance, probability: 1.0 }]),
        };
        let antecedents: Vec<Antecedents> = distances.iter().map(|distance| sure(*distance)).collect();
        let ids = (1..).map(|id| (ChatId(-1), MessageId(id)));
        Worlds::draw(ids.zip(&antecedents).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(distances: &[usize], trigger: &[(usize, f32)], expected: &[usize]) {
        let links =
            trigger.iter().map(|(distance, probability)| Link { distance: *distance, probability: *probability });
        let hypotheses = worlds(distances).hypotheses(&Antecedents(links.collect())).normalised();
        let mut places: Vec<usize> = best_set(&hypotheses, Choice { count: distances.len(), most: 20, smoothing: 0.0 })
            .into_iter()
            .map(|taken| taken.place)
            .collect();
        places.sort_unstable();
        assert_eq!(places, expected);
    }

    #[test]
    fn the_strand_of_the_trigger_is_taken_whole_and_the_other_is_not() {
        // Two strands that interleave: 0 2 4 and 1 3 5.
        check(&[0, 0, 2, 2, 2, 2], &[(2, 0.9)], &[0, 2, 4]);
        check(&[0, 0, 2, 2, 2, 2], &[(1, 0.9)], &[1, 3, 5]);
    }

    #[test]
    fn two_strands_come_when_both_are_likely() {
        check(&[0, 0, 2, 2, 2, 2], &[(1, 0.5), (2, 0.5)], &[0, 1, 2, 3, 4, 5]);
        check(&[0, 0, 2, 2, 2, 2], &[(1, 0.9), (2, 0.1)], &[1, 3, 5]);
    }

    #[test]
    fn nothing_is_taken_without_a_link() {
        check(&[0, 0, 2], &[], &[]);
    }

    #[test]
    fn messages_that_go_on_from_one_before_the_window_belong_together() {
        check(&[3, 0, 5], &[(1, 0.9)], &[0, 2]);
    }
}
