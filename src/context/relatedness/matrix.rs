//! Numbers about any two of many, and what is worked out from them.

/// Of some with everybody, a row each. A square where the some are everybody.
#[derive(Debug)]
pub struct Matrix {
    /// Columns.
    pub width: usize,
    /// Row after row.
    pub values: Vec<f32>,
}

impl Matrix {
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self { width, values: vec![0.0; rows * width] }
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values[row * self.width..][..self.width]
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }

    pub fn rows(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.width.max(1))
    }

    fn rows_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.values.chunks_exact_mut(self.width.max(1))
    }

    /// A square that is the same on both sides of its diagonal: `fill` is given each row up to the diagonal and that
    /// included, all zeros.
    pub fn symmetric(side: usize, mut fill: impl FnMut(usize, &mut [f32])) -> Self {
        let Self { mut values, width } = Self::zeros(side, side);
        for row in 0..side {
            let (above, here) = values.split_at_mut(row * side);
            fill(row, &mut here[..=row]);
            (0..row).for_each(|column| above[column * side + row] = here[column]);
        }
        Self { width, values }
    }

    /// What becomes of each value of a square that is the same on both sides of its diagonal.
    pub fn map(&self, of: impl Fn(f32) -> f32) -> Self {
        Self::symmetric(self.width, |row, values| {
            values.iter_mut().zip(self.row(row)).for_each(|(value, from)| *value = of(*from));
        })
    }

    pub fn diagonal(&self) -> impl Iterator<Item = f32> {
        self.values.iter().step_by(self.width + 1).copied()
    }

    pub fn with_diagonal(mut self, value: f32) -> Self {
        self.values.iter_mut().step_by(self.width + 1).for_each(|own| *own = value);
        self
    }

    /// Each value by what belongs to its row, and to its column.
    pub fn divided(mut self, rows: impl Iterator<Item = f32>, columns: &[f32]) -> Self {
        for (row, of_row) in self.rows_mut().zip(rows) {
            row.iter_mut().zip(columns).for_each(|(value, of_column)| *value /= of_row * of_column);
        }
        self
    }

    /// Each value of a square times what belongs to its row, and to its column.
    pub fn multiplied(mut self, by: &[f32]) -> Self {
        for (row, of_row) in self.rows_mut().zip(by) {
            row.iter_mut().zip(by).for_each(|(value, of_column)| *value *= of_row * of_column);
        }
        self
    }

    fn transposed(&self) -> Self {
        let height = self.values.len() / self.width.max(1);
        let mut transposed = Self::zeros(self.width, height);
        for (row, values) in self.rows().enumerate() {
            let column = transposed.values.iter_mut().skip(row).step_by(height);
            column.zip(values).for_each(|(there, value)| *there = *value);
        }
        transposed
    }
}

/// A square most of which is zero: of each row, what is not, by its column.
#[derive(Debug)]
pub struct SparseMatrix(pub Vec<Vec<(usize, f32)>>);

impl SparseMatrix {
    /// What is more than `least`.
    pub fn of(square: &Matrix, least: f32) -> Self {
        let sparse = |row: &[f32]| {
            let mut values = Vec::with_capacity(row.len());
            values.extend(row.iter().copied().enumerate().filter(|(_, value)| *value > least));
            values
        };
        Self(square.rows().map(sparse).collect())
    }

    pub fn with_sums_of_one(mut self) -> Self {
        for row in &mut self.0 {
            let sum: f32 = row.iter().map(|(_, value)| value).sum();
            row.iter_mut().for_each(|(_, value)| *value /= sum);
        }
        self
    }

    /// Some rows of the product with a square.
    pub fn times(&self, rows: impl ExactSizeIterator<Item = usize>, square: &Matrix) -> Matrix {
        let mut product = Matrix::zeros(rows.len(), square.width);
        for (row, sums) in rows.zip(product.rows_mut()) {
            add_all(sums, &self.0[row], |middle| square.row(middle));
        }
        product
    }

    /// The product, from either side, with a square that is the same on both sides of its diagonal: what there is between
    /// each of `rows` and everybody, and between everybody and itself.
    pub fn around(&self, rows: &[usize], square: &Matrix) -> (Matrix, Vec<f32>) {
        let half = self.times(0..self.0.len(), square);
        let own =
            |(shares, half): (&Vec<(usize, f32)>, &[f32])| shares.iter().map(|(at, share)| share * half[*at]).sum();
        let own = self.0.iter().zip(half.rows()).map(own).collect();
        (self.times(rows.iter().copied(), &half.transposed()), own)
    }

    pub fn transposed(&self) -> Matrix {
        let side = self.0.len();
        let mut transposed = Matrix::zeros(side, side);
        for (row, of_row) in self.0.iter().enumerate() {
            of_row.iter().for_each(|(column, value)| transposed.values[column * side + row] = *value);
        }
        transposed
    }
}

/// Adds to `sums` as many values of each of some rows, each row times its share. So many columns at a time that their sums
/// stay in the processor meanwhile.
pub fn add_all<'a>(sums: &mut [f32], shares: &[(usize, f32)], row: impl Fn(usize) -> &'a [f32]) {
    const AT_ONCE: usize = 32;
    let (blocks, rest) = sums.as_chunks_mut::<AT_ONCE>();
    let from = blocks.len() * AT_ONCE;
    for (place, block) in blocks.iter_mut().enumerate() {
        let mut lanes = *block;
        for (middle, share) in shares {
            let values = &row(*middle).as_chunks::<AT_ONCE>().0[place];
            lanes.iter_mut().zip(values).for_each(|(sum, value)| *sum += share * value);
        }
        *block = lanes;
    }
    for (middle, share) in shares {
        rest.iter_mut().zip(&row(*middle)[from..]).for_each(|(sum, value)| *sum += share * value);
    }
}

#[cfg(test)]
impl Matrix {
    pub fn of_rows(values: &[f32]) -> Self {
        Self { width: values.len().isqrt(), values: values.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_all_that_is_not_zero() {
        let shares = SparseMatrix::of(&Matrix::of_rows(&[1.0, 0.0, 0.5, 0.5]), 0.0);
        let square = Matrix::of_rows(&[1.0, 0.2, 0.2, 1.0]);
        assert_eq!(shares.times(0..2, &square).values, [1.0, 0.2, 0.6, 0.6]);
        let (of_rows, own) = shares.around(&[0, 1], &square);
        assert_eq!((of_rows.values, own), (vec![1.0, 0.6, 0.6, 0.6], vec![1.0, 0.6]));
        let (of_rows, own) = shares.around(&[1], &square);
        assert_eq!((of_rows.values, own), (vec![0.6, 0.6], vec![1.0, 0.6]));
        assert_eq!(shares.transposed().values, [1.0, 0.5, 0.0, 0.5]);
    }

    #[test]
    fn wide_rows_are_added_whole() {
        let row: Vec<f32> = (0..70_u8).map(f32::from).collect();
        let mut sums = vec![1.0; 70];
        add_all(&mut sums, &[(0, 2.0), (0, 1.0)], |_| &row);
        let expected: Vec<f32> = row.iter().map(|value| 1.0 + 3.0 * value).collect();
        assert_eq!(sums, expected);
    }

    #[test]
    fn what_belongs_to_row_and_column_divides() {
        let divided = Matrix::of_rows(&[8.0, 8.0, 8.0, 8.0]).divided([1.0, 2.0].into_iter(), &[1.0, 2.0]);
        assert_eq!(divided.values, [8.0, 4.0, 4.0, 2.0]);
        assert_eq!(divided.diagonal().collect::<Vec<_>>(), [8.0, 2.0]);
    }
}
