//! Numbers about any two of many, and what is worked out from them.

/// As many rows as columns.
#[derive(Debug)]
pub struct Square {
    pub side: usize,
    /// Row after row.
    pub values: Vec<f32>,
}

impl Square {
    pub fn zeros(side: usize) -> Self {
        Self { side, values: vec![0.0; side * side] }
    }

    pub fn row_mut(&mut self, row: usize) -> &mut [f32] {
        &mut self.values[row * self.side..][..self.side]
    }

    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.side..][..self.side]
    }

    /// The same on both sides of the diagonal: `fill` is given each row up to the diagonal and that included, all zeros.
    pub fn symmetric(side: usize, mut fill: impl FnMut(usize, &mut [f32])) -> Self {
        let Self { mut values, .. } = Self::zeros(side);
        for row in 0..side {
            let (above, here) = values.split_at_mut(row * side);
            fill(row, &mut here[..=row]);
            (0..row).for_each(|column| above[column * side + row] = here[column]);
        }
        Self { side, values }
    }

    pub fn diagonal(&self) -> impl Iterator<Item = f32> {
        self.values.iter().step_by(self.side + 1).copied()
    }

    /// Each value by what belongs to its row, and to its column.
    pub fn divided(mut self, by: &[f32]) -> Self {
        for (row, of_row) in self.values.chunks_exact_mut(self.side.max(1)).zip(by) {
            row.iter_mut().zip(by).for_each(|(value, of_column)| *value /= of_row * of_column);
        }
        self
    }

    /// Each value times what belongs to its row, and to its column.
    pub fn multiplied(mut self, by: &[f32]) -> Self {
        for (row, of_row) in self.values.chunks_exact_mut(self.side.max(1)).zip(by) {
            row.iter_mut().zip(by).for_each(|(value, of_column)| *value *= of_row * of_column);
        }
        self
    }

    /// What becomes of each value, where they are the same on both sides of the diagonal.
    pub fn map(&self, of: impl Fn(f32) -> f32) -> Self {
        Self::symmetric(self.side, |row, values| {
            values.iter_mut().zip(self.row(row)).for_each(|(value, from)| *value = of(*from));
        })
    }

    fn transposed(&self) -> Self {
        let mut transposed = Self::zeros(self.side);
        for (row, values) in self.values.chunks_exact(self.side.max(1)).enumerate() {
            let column = transposed.values.iter_mut().skip(row).step_by(self.side);
            column.zip(values).for_each(|(there, value)| *there = *value);
        }
        transposed
    }

    pub fn with_diagonal(mut self, value: f32) -> Self {
        self.values.iter_mut().step_by(self.side + 1).for_each(|own| *own = value);
        self
    }
}

/// A square most of which is zero: of each row, what is not, by its column.
#[derive(Debug)]
pub struct Sparse(pub Vec<Vec<(usize, f32)>>);

impl Sparse {
    /// What is more than `least`.
    pub fn of(square: &Square, least: f32) -> Self {
        let sparse = |row: usize| {
            let mut values = Vec::with_capacity(square.side);
            values.extend(square.row(row).iter().copied().enumerate().filter(|(_, value)| *value > least));
            values
        };
        Self((0..square.side).map(sparse).collect())
    }

    pub fn with_sums_of_one(mut self) -> Self {
        for row in &mut self.0 {
            let sum: f32 = row.iter().map(|(_, value)| value).sum();
            row.iter_mut().for_each(|(_, value)| *value /= sum);
        }
        self
    }

    /// The product with a square.
    pub fn times(&self, square: &Square) -> Square {
        let mut values = vec![0.0; square.values.len()];
        for (row, sum) in self.0.iter().zip(values.chunks_exact_mut(square.side.max(1))) {
            for (middle, share) in row {
                sum.iter_mut().zip(square.row(*middle)).for_each(|(sum, value)| *sum += share * value);
            }
        }
        Square { side: square.side, values }
    }

    /// The product with a square that is the same on both sides of its diagonal, from either side: of any two rows, what
    /// there is between the one and the other.
    pub fn around(&self, square: &Square) -> Square {
        self.times(&self.times(square).transposed())
    }

    pub fn transposed(&self) -> Square {
        let side = self.0.len();
        let mut values = vec![0.0; side * side];
        for (row, of_row) in self.0.iter().enumerate() {
            of_row.iter().for_each(|(column, value)| values[column * side + row] = *value);
        }
        Square { side, values }
    }
}

#[cfg(test)]
impl Square {
    pub fn of_rows(values: &[f32]) -> Self {
        Self { side: values.len().isqrt(), values: values.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_all_that_is_not_zero() {
        let shares = Sparse::of(&Square::of_rows(&[1.0, 0.0, 0.5, 0.5]), 0.0);
        let square = Square::of_rows(&[1.0, 0.2, 0.2, 1.0]);
        assert_eq!(shares.times(&square).values, [1.0, 0.2, 0.6, 0.6]);
        assert_eq!(shares.around(&square).values, [1.0, 0.6, 0.6, 0.6]);
        assert_eq!(shares.transposed().values, [1.0, 0.5, 0.0, 0.5]);
    }

    #[test]
    fn what_belongs_to_row_and_column_divides() {
        let divided = Square::of_rows(&[8.0, 8.0, 8.0, 8.0]).divided(&[1.0, 2.0]);
        assert_eq!(divided.values, [8.0, 4.0, 4.0, 2.0]);
        assert_eq!(divided.diagonal().collect::<Vec<_>>(), [8.0, 2.0]);
    }
}
