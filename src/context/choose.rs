//! Which messages to take: the set with the highest expected F1 over everything the trigger may be about, less what its
//! tokens cost should the trigger start something new.
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

/// What the trigger may be about, where no set of messages is sure.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// How likely it is this; all weights sum to 1.
    pub weight: f32,
    /// How likely each candidate belongs to it.
    pub members: Vec<f32>,
}

/// The same over `guesses`.
pub fn soft_marginals(guesses: &[Guess]) -> Vec<f32> {
    let mut marginals = vec![0.0; guesses.first().map_or(0, |guess| guess.members.len())];
    for guess in guesses {
        marginals.iter_mut().zip(&guess.members).for_each(|(marginal, member)| *marginal += guess.weight * member);
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
    let gains = |shares: &[f32], gains: &mut [f32]| {
        let all: f32 = shares.iter().sum();
        gains.iter_mut().zip(&marginals).for_each(|(gain, marginal)| *gain = smoothing * marginal * all);
        for (hypothesis, share) in hypotheses.iter().zip(shares) {
            for place in hypothesis.members.places() {
                gains[place] += (1.0 - smoothing) * share;
            }
        }
    };
    let hit = |which: usize, place: usize| {
        let is_member = hypotheses[which].members.contains(place);
        if is_member { 1.0 - smoothing + smoothing * marginals[place] } else { smoothing * marginals[place] }
    };
    let bets = hypotheses.iter().map(|hypothesis| Bet::new(hypothesis.weight, size(hypothesis), most)).collect();
    greedy(bets, (&marginals, &[], most), gains, hit)
}

/// The same where it is not known for sure what belongs to what. `costs` is what taking each candidate is expected to waste,
/// in F1; nothing where there are none.
pub fn best_soft_set(guesses: &[Guess], most: usize, costs: &[f32]) -> Vec<Taken> {
    let marginals = soft_marginals(guesses);
    let gains = |shares: &[f32], gains: &mut [f32]| {
        gains.fill(0.0);
        for (guess, share) in guesses.iter().zip(shares) {
            gains.iter_mut().zip(&guess.members).for_each(|(gain, member)| *gain += share * member);
        }
    };
    let hit = |which: usize, place: usize| guesses[which].members[place];
    let bets = guesses.iter().map(|guess| Bet::new(guess.weight, guess.members.iter().sum(), most)).collect();
    greedy(bets, (&marginals, costs, most), gains, hit)
}

/// A set that may be the right one, while candidates are taken.
struct Bet {
    weight: f32,
    /// How many messages it has, within what may be taken.
    size: f32,
    /// How many of those that were taken it has.
    hits: f32,
}

impl Bet {
    fn new(weight: f32, size: f32, most: usize) -> Self {
        Self { weight, size: size.clamp(1.0, most.max(1) as f32), hits: 0.0 }
    }
}

/// Takes candidates while the expected F1 over all `bets` rises by more than they cost, at most `most`. `gains` tells what each candidate adds when
/// a hit in each bet counts so much; `hit` whether a bet has a candidate.
fn greedy(
    mut bets: Vec<Bet>,
    (marginals, costs, most): (&[f32], &[f32], usize),
    gains: impl Fn(&[f32], &mut [f32]),
    hit: impl Fn(usize, usize) -> f32,
) -> Vec<Taken> {
    let mut taken: Vec<Taken> = Vec::new();
    let mut is_taken = vec![false; marginals.len()];
    let (mut shares, mut gained) = (vec![0.0; bets.len()], vec![0.0; marginals.len()]);
    let cost = |place: usize| costs.get(place).copied().unwrap_or(0.0);
    let (mut best, mut spent) = (0.0, 0.0);
    while taken.len() < most {
        let next_size = (taken.len() + 1) as f32;
        shares.iter_mut().zip(&bets).for_each(|(share, bet)| *share = 2.0 * bet.weight / (next_size + bet.size));
        let already: f32 = shares.iter().zip(&bets).map(|(share, bet)| share * bet.hits).sum();
        gains(&shares, &mut gained);
        let worth = |place: usize| gained[place] - cost(place);
        // The newest of equals.
        let next = (0..gained.len())
            .filter(|place| !is_taken[*place] && gained[*place] > 0.0)
            .max_by(|a, b| worth(*a).total_cmp(&worth(*b)).then(a.cmp(b)));
        let Some(place) = next.filter(|place| already - spent + worth(*place) >= best) else { break };
        best = already - spent + worth(place);
        spent += cost(place);
        is_taken[place] = true;
        taken.push(Taken { place, probability: marginals[place] });
        bets.iter_mut().enumerate().for_each(|(which, bet)| bet.hits += hit(which, place));
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::links::{Antecedents, Link};
    use crate::context::worlds::{STRAND_WORLDS, Worlds};
    use crate::domain::{ChatId, MessageId};

    /// Candidates by the distance of their sure antecedent; 0 starts something new.
    fn worlds(distances: &[usize]) -> Worlds {
        let sure = |distance: usize| match distance {
            0 => Antecedents::default(),
            distance => Antecedents(vec![Link { distance, probability: 1.0 }]),
        };
        let antecedents: Vec<Antecedents> = distances.iter().map(|distance| sure(*distance)).collect();
        let ids = (1..).map(|id| (ChatId(-1), MessageId(id)));
        Worlds::draw(STRAND_WORLDS, ids.zip(&antecedents).collect::<Vec<_>>())
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

    #[track_caller]
    fn check_soft(guesses: &[(f32, &[f32])], expected: &[usize]) {
        let guess = |(weight, members): &(f32, &[f32])| Guess { weight: *weight, members: members.to_vec() };
        let guesses: Vec<Guess> = guesses.iter().map(guess).collect();
        let places: Vec<usize> = best_soft_set(&guesses, 20, &[]).into_iter().map(|taken| taken.place).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn what_more_likely_belongs_comes_first_and_the_unlikely_stays_out() {
        check_soft(&[(1.0, &[0.8, 0.05, 1.0, 0.7])], &[2, 0, 3]);
        check_soft(&[(0.9, &[1.0, 0.9, 0.0, 0.0]), (0.1, &[0.0, 0.0, 1.0, 0.9])], &[0, 1]);
        check_soft(&[], &[]);
    }

    #[test]
    fn what_costs_more_than_it_helps_stays_out() {
        let guess = Guess { weight: 1.0, members: vec![0.6, 0.9, 0.9] };
        let taken = |costs: &[f32]| -> Vec<usize> {
            let taken = best_soft_set(std::slice::from_ref(&guess), 20, costs);
            taken.into_iter().map(|taken| taken.place).collect()
        };
        assert_eq!(taken(&[0.0, 0.0, 0.0]), [2, 1, 0]);
        assert_eq!(taken(&[0.0, 0.0, 0.3]), [1, 0]);
        assert!(taken(&[9.0, 9.0, 9.0]).is_empty());
    }

    #[test]
    fn of_equals_the_newest_comes_first() {
        check_soft(&[(1.0, &[0.9, 0.9, 0.9])], &[2, 1, 0]);
    }
}
