//! What is said around each candidate: its words, people and meaning, and in part those of whoever it hangs together with.

use crate::context::links::dot;
use crate::context::matters::ground::Ground;
use crate::context::matters::together::Together;

/// The candidates' vectors without what is usual in their window: two messages of one chat are alike anyway.
#[derive(Debug)]
pub struct Meanings {
    width: usize,
    usual: Vec<f32>,
    /// One after the other; zeros where a vector is not known.
    vectors: Vec<f32>,
    lengths: Vec<f32>,
}

impl Meanings {
    pub fn of(ground: &Ground<'_>) -> Self {
        /// The mean is that of as many more vectors of zero: of few messages it says little.
        const SHRINK: f32 = 5.0;
        let vectors = || ground.remarks.iter().map(|remark| remark.vector);
        let known = || vectors().filter(|vector| !vector.is_empty());
        let width = known().map(<[f32]>::len).max().unwrap_or(0);
        let mut usual = vec![0.0; width];
        known().for_each(|vector| add(&mut usual, vector, 1.0));
        let count = known().count() as f32 + SHRINK;
        usual.iter_mut().for_each(|value| *value /= count);
        let mut meanings =
            Self { width, usual, vectors: Vec::with_capacity(width * ground.remarks.len()), lengths: Vec::new() };
        for vector in vectors() {
            let centred = meanings.centred(vector);
            meanings.lengths.push(dot(&centred, &centred).sqrt());
            meanings.vectors.extend_from_slice(&centred);
        }
        meanings
    }

    /// A vector without what is usual; zeros for one that is not known.
    pub fn centred(&self, vector: &[f32]) -> Vec<f32> {
        let mut centred = vec![0.0; self.width];
        if !vector.is_empty() {
            add(&mut centred, vector, 1.0);
            add(&mut centred, &self.usual, -1.0);
        }
        centred
    }

    pub fn vector(&self, place: usize) -> &[f32] {
        &self.vectors[place * self.width..][..self.width]
    }

    pub fn length(&self, place: usize) -> f64 {
        f64::from(self.lengths[place])
    }

    /// The same, each with that of its fragment: vectors weighed by how often two were together.
    pub fn gathered(&self, together: &Together) -> Self {
        let Self { width, ref usual, .. } = *self;
        let mut vectors = vec![0.0; self.vectors.len()];
        for (place, sum) in vectors.chunks_exact_mut(width.max(1)).enumerate() {
            for (other, share) in together.with(place).filter(|(other, _)| self.lengths[*other] > 0.0) {
                add(sum, self.vector(other), share as f32);
            }
        }
        let length = |place: usize| {
            let vector = &vectors[place * width..][..width];
            dot(vector, vector).sqrt()
        };
        let lengths = (0..self.lengths.len()).map(length).collect();
        Self { width, usual: usual.clone(), vectors, lengths }
    }

    /// The cosine of two candidates' vectors.
    pub fn cosine(&self, one: usize, other: usize) -> f64 {
        let product = f64::from(dot(self.vector(one), self.vector(other)));
        product / self.length(one).max(1e-6) / self.length(other).max(1e-6)
    }
}

/// Words or people with their weights, for each candidate: sparse rows.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<Vec<(usize, f64)>>,
    lengths: Vec<f64>,
}

impl Rows {
    fn of(rows: Vec<Vec<(usize, f64)>>) -> Self {
        let length = |row: &Vec<(usize, f64)>| row.iter().map(|(_, value)| value * value).sum::<f64>().sqrt();
        Self { lengths: rows.iter().map(length).collect(), rows }
    }

    /// The words of each candidate, the rare ones heavier.
    pub fn words(ground: &Ground<'_>) -> Self {
        let row = |stems: &Vec<usize>| stems.iter().map(|stem| (*stem, ground.idf[*stem])).collect();
        Self::of(ground.stems.iter().map(row).collect())
    }

    /// Who wrote each candidate.
    pub fn people(ground: &Ground<'_>) -> Self {
        Self::of(ground.authors.iter().map(|author| vec![(*author, 1.0)]).collect())
    }

    /// The same, each with those of its fragment. `columns` is how many words or people there are.
    pub fn gathered(&self, together: &Together, columns: usize) -> Self {
        let (mut sums, mut met) = (vec![0.0; columns], Vec::new());
        let mut gather = |place: usize| {
            for (other, share) in together.with(place) {
                for (column, value) in &self.rows[other] {
                    if sums[*column] == 0.0 {
                        met.push(*column);
                    }
                    sums[*column] += share * value;
                }
            }
            met.drain(..).map(|column| (column, std::mem::take(&mut sums[column]))).collect()
        };
        Self::of((0..self.rows.len()).map(&mut gather).collect())
    }

    pub fn length(&self, place: usize) -> f64 {
        self.lengths[place]
    }

    /// The row of one candidate, as wide as there are `columns`.
    pub fn spread(&self, place: usize, columns: usize) -> Vec<f64> {
        let mut wide = vec![0.0; columns];
        self.rows[place].iter().for_each(|(column, value)| wide[*column] = *value);
        wide
    }

    /// The cosine of a candidate with another, whose row is `wide` and has that `length`.
    pub fn cosine(&self, place: usize, wide: &[f64], length: f64) -> f64 {
        // In lanes, as with vectors.
        const LANES: usize = 4;
        let (whole, rest) = self.rows[place].as_chunks::<LANES>();
        let mut lanes = [0.0; LANES];
        for values in whole {
            lanes.iter_mut().zip(values).for_each(|(sum, (column, value))| *sum += value * wide[*column]);
        }
        let rest: f64 = rest.iter().map(|(column, value)| value * wide[*column]).sum();
        let product = lanes.iter().sum::<f64>() + rest;
        product / self.lengths[place].max(1e-6) / length.max(1e-6)
    }
}

fn add(sum: &mut [f32], vector: &[f32], share: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
}
