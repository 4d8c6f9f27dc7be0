//! Selects the set of messages with the highest expected F1 over all guesses. There is no threshold: a message is taken
//! as long as it raises that value.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    pub place: usize,
    /// Probability that the candidate belongs to the trigger's subject, 0 to 1.
    pub probability: f32,
}

/// Guess at the trigger's subject: one of several possible subjects.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess {
    /// Probability that the guess is right. The weights of all guesses sum to 1.
    pub weight: f32,
    /// Probability of each candidate to belong to the subject, if the guess is right.
    pub members: Vec<f32>,
}

/// Returns the probability that each candidate belongs to the trigger's subject, over all guesses.
pub fn marginals(guesses: &[Guess]) -> Vec<f32> {
    let mut marginals = vec![0.0; guesses.first().map_or(0, |guess| guess.members.len())];
    for guess in guesses {
        marginals.iter_mut().zip(&guess.members).for_each(|(marginal, member)| *marginal += guess.weight * member);
    }
    marginals
}

/// State of one [`Guess`] at the trigger's subject, while messages are selected one after the other.
struct GuessState<'a> {
    guess: &'a Guess,
    /// Expected number of messages of the guessed subject, at least 1 and at most the number that may be selected.
    size: f32,
    /// Expected number of messages of the guessed subject among those selected so far.
    hits: f32,
}

/// Selects at most `most` candidates, one after the other, as long as the expected F1 over all `guesses` rises.
pub fn best_set(guesses: &[Guess], most: usize) -> Vec<Taken> {
    let marginals = marginals(guesses);
    let size = |guess: &Guess| guess.members.iter().sum::<f32>().clamp(1.0, most.max(1) as f32);
    let mut bets: Vec<GuessState<'_>> =
        guesses.iter().map(|guess| GuessState { guess, size: size(guess), hits: 0.0 }).collect();
    let mut taken: Vec<Taken> = Vec::new();
    let mut is_taken = vec![false; marginals.len()];
    let mut best = 0.0;
    while taken.len() < most {
        // Increase of F1 for each message that belongs to the guess, once one more candidate is taken.
        let next_size = (taken.len() + 1) as f32;
        let shares: Vec<f32> = bets.iter().map(|bet| 2.0 * bet.guess.weight / (next_size + bet.size)).collect();
        let already: f32 = shares.iter().zip(&bets).map(|(share, bet)| share * bet.hits).sum();
        let mut gained = vec![0.0; marginals.len()];
        for (bet, share) in bets.iter().zip(&shares) {
            gained.iter_mut().zip(&bet.guess.members).for_each(|(gain, member)| *gain += share * member);
        }
        // Of equally good candidates the newest is taken.
        let next = (0..gained.len())
            .filter(|place| !is_taken[*place] && gained[*place] > 0.0)
            .max_by(|a, b| gained[*a].total_cmp(&gained[*b]).then(a.cmp(b)));
        let Some(place) = next.filter(|place| already + gained[*place] >= best) else { break };
        best = already + gained[place];
        is_taken[place] = true;
        taken.push(Taken { place, probability: marginals[place] });
        bets.iter_mut().for_each(|bet| bet.hits += bet.guess.members[place]);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(guesses: &[(f32, &[f32])], expected: &[usize]) {
        let guess = |(weight, members): &(f32, &[f32])| Guess { weight: *weight, members: members.to_vec() };
        let guesses: Vec<Guess> = guesses.iter().map(guess).collect();
        let places: Vec<usize> = best_set(&guesses, 20).into_iter().map(|taken| taken.place).collect();
        assert_eq!(places, expected);
    }

    #[test]
    fn what_more_likely_belongs_comes_first_and_the_unlikely_stays_out() {
        check(&[(1.0, &[0.8, 0.05, 1.0, 0.7])], &[2, 0, 3]);
        check(&[(0.9, &[1.0, 0.9, 0.0, 0.0]), (0.1, &[0.0, 0.0, 1.0, 0.9])], &[0, 1]);
        check(&[], &[]);
    }

    #[test]
    fn of_equals_the_newest_comes_first() {
        check(&[(1.0, &[0.9, 0.9, 0.9])], &[2, 1, 0]);
    }
}
