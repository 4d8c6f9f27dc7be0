//! A matter: segments that take up each other.

use crate::context::features::corpus::Corpus;
use crate::context::index_set::IndexSet;
use crate::context::matters::segment::{Segment, add};
use crate::context::replies::similarity::dot;

/// Made once and used again in every forest: what counts people and words is as wide as the window knows of them.
#[derive(Debug, Clone, Default)]
pub struct Matter {
    /// Matters of the same members have the same number, in whatever forests.
    pub number: u32,
    pub members: IndexSet,
    pub count: usize,
    /// The place that came first.
    pub first: usize,
    /// Messages by author.
    pub authors: Vec<f64>,
    authors_square: f64,
    /// Members by stem.
    pub stems: Vec<u16>,
    stem_count: f64,
    /// ln(1 + stems of all members)
    pub wordiness: f64,
    lexical_square: f64,
    pub vector: Vec<f32>,
    pub vector_length: f32,
}

impl Matter {
    /// Makes it empty, with room for the people and words of `corpus`.
    pub fn clear(&mut self, corpus: &Corpus<'_>) {
        self.authors.clear();
        self.authors.resize(corpus.people, 0.0);
        self.stems.clear();
        self.stems.resize(corpus.spread.len(), 0);
        self.vector.clear();
        let (authors, stems, vector) =
            (std::mem::take(&mut self.authors), std::mem::take(&mut self.stems), std::mem::take(&mut self.vector));
        *self = Self { authors, stems, vector, ..Self::default() };
    }

    pub fn add(&mut self, segment: &Segment, corpus: &Corpus<'_>) {
        if self.count == 0 {
            self.first = segment.start();
        }
        segment.places.iter().for_each(|place| self.members.insert(*place));
        self.count += segment.count();
        for (author, times) in &segment.authors {
            let before = self.authors[*author];
            self.authors_square += times * (2.0 * before + times);
            self.authors[*author] = before + times;
        }
        self.stem_count += segment.stems.iter().map(|used| f64::from(used.here)).sum::<f64>();
        self.wordiness = self.stem_count.ln_1p();
        for used in &segment.stems {
            let (times, idf) = (&mut self.stems[used.stem()], corpus.idf[used.stem()]);
            let before = usize::from(*times);
            let after = before + usize::from(used.here);
            let square = |count: usize| (corpus.logarithms.damped(count) * idf).powi(2);
            self.lexical_square += square(after) - if before > 0 { square(before) } else { 0.0 };
            *times += used.here;
        }
        add(&mut self.vector, &segment.vector);
        self.vector_length = dot(&self.vector, &self.vector).sqrt();
    }

    pub fn authors_length(&self) -> f64 {
        self.authors_square.sqrt()
    }

    /// Length of the stems' weights.
    pub fn lexical_length(&self) -> f64 {
        self.lexical_square.max(0.0).sqrt()
    }
}
