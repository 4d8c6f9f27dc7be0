//! Similarity of two words, from 0 to 1: by their letters, as a part of a compound and, if they have vectors, by
//! meaning.

use crate::retrieval::lexicon::{Lexicon, WordId};
use chime_core::dot;

/// Minimum share of common trigrams at which words are similar. Such words are misspelt or inflected forms of each
/// other.
const MIN_DICE: f64 = 0.45;

/// Similarity of a word to a compound that it begins or ends.
const IN_COMPOUND: f32 = 0.8;

/// Similarities of the words of a question to every word of a lexicon. The row of a word is computed on first use.
pub(super) struct Similarities {
    of: Vec<WordId>,
    by_meaning: bool,
    /// Start of each word's row in `rows`, by the word's number in the lexicon.
    places: Vec<u32>,
    /// Similarities, row after row: a row holds the similarity of one word to each word of the question.
    rows: Vec<f32>,
}

/// Value in `places` for a word whose row is not computed yet.
const NOWHERE: u32 = u32::MAX;

impl Similarities {
    /// Prepares comparisons with the words `of` a question. With `by_meaning`, vectors count too; otherwise only the
    /// forms of words do.
    pub fn new(of: Vec<WordId>, by_meaning: bool) -> Self {
        Self { of, by_meaning, places: Vec::new(), rows: Vec::new() }
    }

    /// Returns, for each word of the question, its highest similarity to any of `words`.
    pub fn best(&mut self, words: &[WordId], lexicon: &Lexicon<'_>) -> Vec<f32> {
        let mut best = vec![0.0_f32; self.of.len()];
        for word in words {
            best.iter_mut().zip(self.row(*word, lexicon)).for_each(|(best, one)| *best = best.max(*one));
        }
        best
    }

    fn row(&mut self, word: WordId, lexicon: &Lexicon<'_>) -> &[f32] {
        let id = word as usize;
        if self.places.len() <= id {
            self.places.resize(lexicon.count().max(id + 1), NOWHERE);
        }
        if self.places[id] == NOWHERE {
            self.places[id] = u32::try_from(self.rows.len()).unwrap_or(NOWHERE);
            let by_meaning = self.by_meaning;
            self.rows.extend(self.of.iter().map(|one| similarity(lexicon, *one, word, by_meaning)));
        }
        let begin = self.places[id] as usize;
        &self.rows[begin..begin + self.of.len()]
    }
}

/// Returns 1 for words of the same stem; otherwise the highest of the similarities by meaning, by letters and of `one`,
/// a word of the question, to a compound.
fn similarity(lexicon: &Lexicon<'_>, one: WordId, other: WordId, by_meaning: bool) -> f32 {
    let (a, b) = (lexicon.word(one), lexicon.word(other));
    if a.outline.may_share_stem(b.outline) && a.stem == b.stem {
        return 1.0;
    }
    let most = a.outline.most_in_common(b.outline);
    let by_letters = if most < MIN_DICE { 0.0 } else { dice(a.trigrams(), b.trigrams()) };
    let by_letters = if by_letters >= MIN_DICE { by_letters as f32 } else { 0.0 };
    let meaning = if by_meaning { dot(lexicon.vector(one), lexicon.vector(other)) } else { 0.0 };
    let is_in_compound = lexicon.language.is_compound_with(&a.stem, &b.stem);
    let as_part = if is_in_compound { IN_COMPOUND } else { 0.0 };
    meaning.max(by_letters).max(as_part).clamp(0.0, 1.0)
}

/// Returns the Dice coefficient of two lists of trigrams, both ascending; 0 if it cannot reach [`MIN_DICE`].
fn dice(a: &[u64], b: &[u64]) -> f64 {
    let all = a.len() + b.len();
    // Even if all of the shorter list were shared, the result would be too low.
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
    use chime_core::Language;

    #[test]
    fn words_are_alike_by_stem_and_by_letters() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        let ids: Vec<WordId> =
            ["booking", "booked", "restaurant", "restuarant", "cat"].map(|word| lexicon.id(word)).to_vec();
        let mut similar = Similarities::new(vec![ids[0], ids[2]], false);
        assert_eq!(similar.best(&[ids[1]], &lexicon)[0], 1.0);
        assert_eq!(similar.best(&[ids[4]], &lexicon), [0.0, 0.0]);
        let misspelt = similar.best(&[ids[3], ids[4]], &lexicon)[1];
        assert!((0.45..1.0).contains(&misspelt), "{misspelt}");
    }

    #[test]
    fn a_word_is_alike_to_a_compound_with_it_in_languages_that_write_compounds() {
        for (code, expected) in [("deu", true), ("eng", false)] {
            let mut lexicon = Lexicon::new(Language::from_code(code), None);
            let ids: Vec<WordId> =
                ["kasse", "getränkekassen", "rat", "fahrradrat"].map(|word| lexicon.id(word)).to_vec();
            let mut similar = Similarities::new(vec![ids[0], ids[2]], false);
            let (compound, chance) = (similar.best(&[ids[1]], &lexicon)[0], similar.best(&[ids[3]], &lexicon)[1]);
            assert_eq!((compound == IN_COMPOUND, chance), (expected, 0.0), "{code}: {compound}");
        }
    }

    #[test]
    fn no_words_have_more_in_common_than_their_outlines_say() {
        let mut lexicon = Lexicon::new(Language::DEFAULT, None);
        let said = "a an as banana bananas anna nana hannah restaurant restuarant restaurants комната комнаты ναι \
                    aaaaaaaa aaaa mississippi missing kalokalokalo kalomiraten tenmiralo qu quqfista stafista";
        let ids: Vec<WordId> = said.split_whitespace().map(|word| lexicon.id(word)).collect();
        for (one, other) in ids.iter().flat_map(|one| ids.iter().map(move |other| (*one, *other))) {
            let (a, b) = (lexicon.word(one), lexicon.word(other));
            let (most, shared) = (a.outline.most_in_common(b.outline), dice(a.trigrams(), b.trigrams()));
            assert!(most >= shared, "{} and {}: {shared}, at most {most}", a.stem, b.stem);
            assert!(a.stem != b.stem || a.outline.may_share_stem(b.outline));
        }
    }
}
