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

/// Words or people with their weights, for each candidate: sparse rows, and the same by word or person.
#[derive(Debug)]
pub struct Rows {
    rows: Lists,
    columns: Lists,
    lengths: Vec<f32>,
}

impl Rows {
    /// `columns` is how many words or people there are.
    fn of(rows: Lists, columns: usize) -> Self {
        let length = |row: usize| rows.list(row).iter().map(|(_, value)| value * value).sum::<f32>().sqrt();
        Self { lengths: (0..rows.count()).map(length).collect(), columns: rows.transposed(columns), rows }
    }

    /// The words of each candidate, the rare ones heavier.
    pub fn words(ground: &Ground<'_>) -> Self {
        let mut rows = Lists::default();
        for stems in &ground.stems {
            rows.push(stems.iter().map(|stem| (*stem as u32, ground.idf[*stem] as f32)));
        }
        Self::of(rows, ground.idf.len())
    }

    /// Who wrote each candidate.
    pub fn people(ground: &Ground<'_>) -> Self {
        let mut rows = Lists::default();
        ground.authors.iter().for_each(|author| rows.push([(*author as u32, 1.0)].into_iter()));
        Self::of(rows, ground.people)
    }

    /// The same, each with those of its fragment.
    pub fn gathered(&self, together: &Together) -> Self {
        let count = self.columns.count();
        let (mut rows, mut sums, mut met) = (Lists::default(), vec![0.0; count], Vec::new());
        for place in 0..self.rows.count() {
            for (other, share) in together.with(place) {
                for (column, value) in self.rows.list(other) {
                    let sum = &mut sums[*column as usize];
                    if *sum == 0.0 {
                        met.push(*column);
                    }
                    *sum += share as f32 * value;
                }
            }
            rows.push(met.drain(..).map(|column| (column, std::mem::take(&mut sums[column as usize]))));
        }
        Self::of(rows, count)
    }

    /// The same for these `places` alone; the others have nothing.
    pub fn only(&self, places: &[usize]) -> Self {
        let mut rows = Lists::default();
        for place in 0..self.rows.count() {
            let list = if places.contains(&place) { self.rows.list(place) } else { &[] };
            rows.push(list.iter().copied());
        }
        Self { columns: rows.transposed(self.columns.count()), rows, lengths: self.lengths.clone() }
    }

    pub fn length(&self, place: usize) -> f32 {
        self.lengths[place]
    }

    /// The candidates that have this word or person.
    pub fn holders(&self, column: usize) -> impl Iterator<Item = usize> {
        self.columns.list(column).iter().map(|(place, _)| *place as usize)
    }

    /// The cosines of a candidate with all others.
    pub fn cosines(&self, one: usize) -> Vec<f32> {
        let mut cosines = vec![0.0; self.lengths.len()];
        for (column, value) in self.rows.list(one) {
            for (place, other) in self.columns.list(*column as usize) {
                cosines[*place as usize] += value * other;
            }
        }
        let own = self.lengths[one].max(1e-6);
        cosines.iter_mut().zip(&self.lengths).for_each(|(cosine, length)| *cosine /= own * length.max(1e-6));
        cosines
    }
}

/// Numbered values, list after list.
#[derive(Debug)]
struct Lists {
    values: Vec<(u32, f32)>,
    /// Where each list begins, and the end.
    starts: Vec<usize>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { values: Vec::new(), starts: vec![0] }
    }
}

impl Lists {
    fn push(&mut self, list: impl Iterator<Item = (u32, f32)>) {
        self.values.extend(list);
        self.starts.push(self.values.len());
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn list(&self, number: usize) -> &[(u32, f32)] {
        &self.values[self.starts[number]..self.starts[number + 1]]
    }

    /// A list for each of `count` numbers: the lists that have it, ascending, each with the value.
    fn transposed(&self, count: usize) -> Self {
        let mut starts = vec![0; count + 1];
        self.values.iter().for_each(|(number, _)| starts[*number as usize + 1] += 1);
        (1..=count).for_each(|number| starts[number] += starts[number - 1]);
        let (mut values, mut next) = (vec![(0, 0.0); self.values.len()], starts.clone());
        for list in 0..self.count() {
            for (number, value) in self.list(list) {
                let place = &mut next[*number as usize];
                values[*place] = (list as u32, *value);
                *place += 1;
            }
        }
        Self { values, starts }
    }
}

fn add(sum: &mut [f32], vector: &[f32], share: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_found_by_their_numbers_too() {
        let mut lists = Lists::default();
        lists.push([(2, 1.0), (0, 3.0)].into_iter());
        lists.push([].into_iter());
        lists.push([(2, 5.0)].into_iter());
        let transposed = lists.transposed(3);
        assert_eq!((transposed.list(0), transposed.list(1)), (&[(0, 3.0)][..], &[][..]));
        assert_eq!(transposed.list(2), [(0, 1.0), (2, 5.0)]);
        assert_eq!(Rows::of(lists, 3).cosines(2), [1.0 / 10_f32.sqrt(), 0.0, 1.0]);
    }
}
