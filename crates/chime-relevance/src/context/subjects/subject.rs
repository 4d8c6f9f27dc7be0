//! Subject: segments about the same thing, with sums over their messages.

use crate::context::features::corpus::Corpus;
use crate::context::features::lexical::damped;
use crate::context::index_set::IndexSet;
use crate::context::subjects::segment::{Segment, add};
use chime_core::dot;

#[derive(Debug, Clone, Default)]
pub struct LinkedSubject {
    pub members: IndexSet,
    pub count: usize,
    /// Index of its first message.
    pub first: usize,
    /// Number of messages by author number.
    pub authors: Vec<f64>,
    authors_square: f64,
    /// Number of messages by stem number. `stem_count` is the sum of these numbers.
    pub stems: Vec<u16>,
    pub stem_count: f64,
    lexical_square: f64,
    pub vector: Vec<f32>,
    pub vector_length: f32,
}

impl LinkedSubject {
    pub fn begun_by(segment: &Segment, corpus: &Corpus<'_>) -> Self {
        let (authors, stems) = (vec![0.0; corpus.spoken.len()], vec![0; corpus.spread.len()]);
        let mut subject = Self { first: segment.start(), authors, stems, ..Self::default() };
        subject.add(segment, corpus);
        subject
    }

    pub fn add(&mut self, segment: &Segment, corpus: &Corpus<'_>) {
        segment.places.iter().for_each(|place| self.members.insert(*place));
        self.count += segment.count();
        for (author, times) in &segment.authors {
            let before = self.authors[*author];
            self.authors_square += times * (2.0 * before + times);
            self.authors[*author] = before + times;
        }
        for used in &segment.stems {
            let (times, idf) = (&mut self.stems[used.stem as usize], corpus.idf[used.stem as usize]);
            let square = |count: u16| (damped(f64::from(count)) * idf).powi(2);
            self.lexical_square += square(*times + used.here) - square(*times);
            *times += used.here;
            self.stem_count += f64::from(used.here);
        }
        add(&mut self.vector, &segment.vector);
        self.vector_length = dot(&self.vector, &self.vector).sqrt();
    }

    pub fn authors_length(&self) -> f64 {
        self.authors_square.sqrt()
    }

    /// Returns the norm of the stem weights (damped count times idf).
    pub fn lexical_length(&self) -> f64 {
        self.lexical_square.max(0.0).sqrt()
    }
}
