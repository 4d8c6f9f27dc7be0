//! Table of the vectors of all word pieces, used in place without a copy.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

/// Parsed `safetensors` file with one row (vector) per piece. The model inside the program has int8 values with a
/// weight per row; other models may have f32 values.
#[derive(Debug, Clone)]
pub struct EmbeddingTable {
    rows: EmbeddingRows,
    dimensions: usize,
}

/// Rows as raw little-endian bytes of the file.
#[derive(Debug, Clone)]
enum EmbeddingRows {
    Int8 { rows: &'static [u8], weights: &'static [u8] },
    F32(&'static [u8]),
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl EmbeddingTable {
    /// Parses a file. The error describes what is wrong with it.
    pub fn read(file: &'static [u8]) -> Result<Self, String> {
        let (length, rest) = file.split_first_chunk::<8>().ok_or("too short")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|error| error.to_string())?;
        let (header, data) = rest.split_at_checked(length).ok_or("too short")?;
        let header: HashMap<String, Tensor> = serde_json::from_slice(header).map_err(|error| error.to_string())?;
        let tensor = |name: &str, dtype: &str| {
            let found =
                header.get(name).filter(|tensor| tensor.dtype == dtype).ok_or(format!("no {dtype} `{name}`"))?;
            let range: Range<usize> = found.data_offsets.0..found.data_offsets.1;
            Ok::<_, String>((data.get(range).ok_or("cut short")?, found.shape.as_slice()))
        };
        let (rows, shape) = match tensor("embeddings", "F32") {
            Ok((rows, shape)) => (EmbeddingRows::F32(rows), shape),
            Err(_) => {
                let ((rows, shape), (weights, _)) = (tensor("embeddings", "I8")?, tensor("weights", "F32")?);
                (EmbeddingRows::Int8 { rows, weights }, shape)
            }
        };
        let fits = |count: usize, dimensions: usize| match rows {
            EmbeddingRows::Int8 { rows, weights } => rows.len() == count * dimensions && weights.len() == count * 4,
            EmbeddingRows::F32(rows) => rows.len() == count * dimensions * 4,
        };
        match *shape {
            [count, dimensions] if fits(count, dimensions) => Ok(Self { rows, dimensions }),
            _ => Err("tensors of unlike sizes".to_owned()),
        }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Adds the weighted vector of a piece to `sum`. Returns `false` if the piece has no row.
    pub fn add(&self, piece: u32, sum: &mut [f32]) -> bool {
        let row = piece as usize * self.dimensions..(piece as usize + 1) * self.dimensions;
        match self.rows {
            EmbeddingRows::Int8 { rows, weights } => {
                let weight = weights.get(piece as usize * 4..).and_then(|rest| rest.first_chunk::<4>());
                let (Some(row), Some(weight)) = (rows.get(row), weight) else { return false };
                let weight = f32::from_le_bytes(*weight);
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += f32::from(value.cast_signed()) * weight);
            }
            EmbeddingRows::F32(rows) => {
                let Some(row) = rows.get(row.start * 4..row.end * 4) else { return false };
                let values = row.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
                sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_form_is_refused_with_a_reason() {
        assert_eq!(EmbeddingTable::read(b"short").unwrap_err(), "too short");
        assert_eq!(EmbeddingTable::read(b"\x02\0\0\0\0\0\0\0{}").unwrap_err(), "no I8 `embeddings`");
    }

    #[test]
    fn rows_of_f32_are_read_too() {
        let header = br#"{"embeddings":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
        let values = [1.0_f32, 2.0, 3.0, -4.5].map(f32::to_le_bytes).concat();
        let file = [&(header.len() as u64).to_le_bytes()[..], header, &values].concat();
        let table = EmbeddingTable::read(file.leak()).unwrap();
        let mut sum = vec![0.5, 0.5];
        assert!(table.add(1, &mut sum) && !table.add(2, &mut sum));
        assert_eq!((table.dimensions(), sum), (2, vec![3.5, -4.0]));
    }
}
