//! Pairwise values, and products with a matrix most of which is zero.

/// Row-major values; square where rows and columns are the same set.
#[derive(Debug)]
pub struct Matrix {
    width: usize,
    values: Vec<f32>,
}

impl Matrix {
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self { width, values: vec![0.0; rows * width] }
    }

    /// A square that is the same on both sides of its diagonal, by row and column of its lower half.
    pub fn symmetric(side: usize, value: impl Fn(usize, usize) -> f32) -> Self {
        let mut square = Self::zeros(side, side);
        for row in 0..side {
            for column in 0..=row {
                let value = value(row, column);
                square.values[row * side + column] = value;
                square.values[column * side + row] = value;
            }
        }
        square
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values[row * self.width..][..self.width]
    }

    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.width.max(1))
    }

    /// Each value by what belongs to its row, and to its column.
    pub fn divided(mut self, rows: impl Iterator<Item = f32>, columns: &[f32]) -> Self {
        for (row, of_row) in self.values.chunks_exact_mut(self.width.max(1)).zip(rows) {
            row.iter_mut().zip(columns).for_each(|(value, of_column)| *value /= of_row * of_column);
        }
        self
    }

    fn transposed(&self) -> Self {
        let mut transposed = Self::zeros(self.width, self.rows().len());
        for (row, values) in self.rows().enumerate() {
            values.iter().enumerate().for_each(|(column, value)| transposed.row_mut(column)[row] = *value);
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
        let sparse = |row: &[f32]| row.iter().copied().enumerate().filter(|(_, value)| *value > least).collect();
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
    pub fn times(&self, rows: &[usize], square: &Matrix) -> Matrix {
        let mut product = Matrix::zeros(rows.len(), square.width);
        for (place, row) in rows.iter().enumerate() {
            add_all(product.row_mut(place), &self.0[*row], |middle| square.row(middle));
        }
        product
    }

    /// Some rows of the product, from either side, with a square that is the same on both sides of its diagonal.
    pub fn around(&self, rows: &[usize], square: &Matrix) -> Matrix {
        let half = self.times(&(0..self.0.len()).collect::<Vec<_>>(), square);
        self.times(rows, &half.transposed())
    }

    pub fn transposed(&self) -> Matrix {
        let mut transposed = Matrix::zeros(self.0.len(), self.0.len());
        for (row, of_row) in self.0.iter().enumerate() {
            of_row.iter().for_each(|(column, value)| transposed.row_mut(*column)[row] = *value);
        }
        transposed
    }
}

/// Adds to `sums` each of some rows, times its share. So many columns at a time that their sums stay in the processor.
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
mod tests {
    use super::*;

    fn square(values: &[f32]) -> Matrix {
        Matrix { width: values.len().isqrt(), values: values.to_vec() }
    }

    #[test]
    fn products_are_those_of_all_that_is_not_zero() {
        let shares = SparseMatrix::of(&square(&[1.0, 0.0, 0.5, 0.5]), 0.0);
        let alike = Matrix::symmetric(2, |row, column| if row == column { 1.0 } else { 0.2 });
        assert_eq!(shares.times(&[0, 1], &alike).values, [1.0, 0.2, 0.6, 0.6]);
        assert_eq!(shares.around(&[0, 1], &alike).values, [1.0, 0.6, 0.6, 0.6]);
        assert_eq!(shares.around(&[1], &alike).values, [0.6, 0.6]);
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
        let divided = square(&[8.0, 8.0, 8.0, 8.0]).divided([1.0, 2.0].into_iter(), &[1.0, 2.0]);
        assert_eq!(divided.values, [8.0, 4.0, 4.0, 2.0]);
    }
}
