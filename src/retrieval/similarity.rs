//! Similarity of two words by their letters and, where there are vectors, by meaning: from 0 to 1.

use crate::domain::dot;
use crate::retrieval::lexicon::{Lexicon, Word, WordId};

/// Words whose trigrams overlap less are unlike. Above it they are misspelt or inflected forms.
const MIN_DICE: f64 = 0.45;

/// One question word against every word of a lexicon, each worked out when it is first asked for.
pub(super) struct WordSimilarity {
    of: WordId,
    by_meaning: bool,
    known: Vec<f32>,
}

impl WordSimilarity {
    pub fn new(of: WordId) -> Self {
        Self { of, by_meaning: true, known: Vec::new() }
    }

    /// By the forms of words alone.
    pub fn by_form(of: WordId) -> Self {
        Self { by_meaning: false, ..Self::new(of) }
    }

    pub fn with(&mut self, other: WordId, lexicon: &Lexicon<'_>) -> f32 {
        let place = other as usize;
        if self.known.len() <= place {
            self.known.resize(lexicon.count().max(place + 1), f32::NAN);
        }
        if self.known[place].is_nan() {
            self.known[place] = similarity(lexicon.word(self.of), lexicon.word(other), self.by_meaning);
        }
        self.known[place]
    }
}

/// 1 for the same stem; otherwise by meaning where the model knows both, or by their letters.
fn similarity(a: &Word, b: &Word, by_meaning: bool) -> f32 {
    if a.stem == b.stem {
        return 1.0;
    }
    let by_letters = dice(&a.trigrams, &b.trigrams);
    let by_letters = if by_letters >= MIN_DICE { by_letters as f32 } else { 0.0 };
    let meaning = if by_meaning { dot(&a.vector, &b.vector) } else { 0.0 };
    meaning.max(by_letters).clamp(0.0, 1.0)
}

/// Share of trigrams in common. Both ascend.
fn dice(a: &[u64], b: &[u64]) -> f64 {
    let all = a.len() + b.len();
    // Too unlike in length to reach the least.
    if 2.0 * a.len().min(b.len()) as f64 / (all as f64) < MIN_DICE {
        return 0.0;
    }
    let (mut i, mut j, mut shared) = (0, 0, 0_u32);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        shared += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    2.0 * f64::from(shared) / all as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Language;

    #[test]
    fn words_are_alike_by_stem_and_by_letters() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        let ids: Vec<WordId> =
            ["booking", "booked", "restaurant", "restuarant", "cat"].map(|word| lexicon.id(word.to_owned())).to_vec();
        let mut of_first = WordSimilarity::new(ids[0]);
        assert_eq!((of_first.with(ids[1], &lexicon), of_first.with(ids[4], &lexicon)), (1.0, 0.0));
        let misspelt = WordSimilarity::new(ids[2]).with(ids[3], &lexicon);
        assert!((0.45..1.0).contains(&misspelt), "{misspelt}");
    }
}
