//! Dense matrices of values for pairs. Many entries are 0, and products skip them.

/// Matrix stored row by row. It is square if rows and columns stand for the same set.
#[derive(Debug)]
pub struct Matrix {
    width: usize,
    values: Vec<f32>,
}

impl Matrix {
    pub fn zeros(rows: usize, width: usize) -> Self {
        Self { width, values: vec![0.0; rows * width] }
    }

    /// Builds a symmetric matrix. `value` is called with row and column of each entry up to the diagonal.
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

    pub fn with_row_sums_of_one(mut self) -> Self {
        for row in self.values.chunks_exact_mut(self.width.max(1)) {
            let sum: f32 = row.iter().sum();
            row.iter_mut().for_each(|value| *value /= sum);
        }
        self
    }

    /// Computes those rows of the product `self * other` that are listed in `rows`.
    pub fn times(&self, rows: &[usize], other: &Self) -> Self {
        let mut product = Self::zeros(rows.len(), other.width);
        for (place, row) in rows.iter().enumerate() {
            for (middle, share) in self.row(*row).iter().enumerate().filter(|(_, share)| **share != 0.0) {
                let sums = product.row_mut(place).iter_mut();
                sums.zip(other.row(middle)).for_each(|(sum, value)| *sum += share * value);
            }
        }
        product
    }

    /// Computes those rows of `self * square * selfᵀ` that are listed in `rows`; `square` must be symmetric.
    pub fn around(&self, rows: &[usize], square: &Self) -> Self {
        let half = self.times(&(0..self.rows().len()).collect::<Vec<_>>(), square);
        self.times(rows, &half.transposed())
    }

    /// Returns the cosine of two vectors, if the matrix holds the dot products of all pairs of vectors (Gram matrix).
    pub fn cosine(&self, one: usize, other: usize) -> f32 {
        let length = |place: usize| self.row(place)[place].sqrt().max(1e-6);
        self.row(one)[other] / (length(one) * length(other))
    }

    fn transposed(&self) -> Self {
        let mut transposed = Self::zeros(self.width, self.rows().len());
        for (row, values) in self.rows().enumerate() {
            values.iter().enumerate().for_each(|(column, value)| transposed.row_mut(column)[row] = *value);
        }
        transposed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_of_the_rows_that_are_asked_for() {
        let shares = Matrix { width: 2, values: vec![2.0, 0.0, 1.0, 1.0] }.with_row_sums_of_one();
        assert_eq!(shares.values, [1.0, 0.0, 0.5, 0.5]);
        let alike = Matrix::symmetric(2, |row, column| if row == column { 1.0 } else { 0.2 });
        assert_eq!(shares.times(&[0, 1], &alike).values, [1.0, 0.2, 0.6, 0.6]);
        assert_eq!(shares.around(&[0, 1], &alike).values, [1.0, 0.6, 0.6, 0.6]);
        assert_eq!(shares.around(&[1], &alike).values, [0.6, 0.6]);
        assert_eq!(Matrix::symmetric(2, |row, column| [[4.0, 3.0], [3.0, 9.0]][row][column]).cosine(0, 1), 0.5);
    }
}
