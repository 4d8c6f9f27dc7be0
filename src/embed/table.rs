//! The vectors of the pieces: int8, read where they lie in the program, so that loading copies nothing.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

/// A `safetensors` file with a row of int8 for each piece and its weight.
#[derive(Debug)]
pub struct Table {
    /// Little-endian f32, one a row.
    weights: &'static [u8],
    rows: &'static [u8],
    dimensions: usize,
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl Table {
    /// Finds both in the file; otherwise what is wrong with it.
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
        let (weights, _) = tensor("weights", "F32")?;
        let (rows, shape) = tensor("embeddings", "I8")?;
        match *shape {
            [count, dimensions] if rows.len() == count * dimensions && weights.len() == count * 4 => {
                Ok(Self { weights, rows, dimensions })
            }
            _ => Err("tensors of unlike sizes".to_owned()),
        }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Adds the weighted vector of a piece to `sum`; whether there is one.
    pub fn add(&self, piece: u32, sum: &mut [f32]) -> bool {
        let place = piece as usize;
        let row = self.rows.get(place * self.dimensions..(place + 1) * self.dimensions);
        let weight = self.weights.get(place * 4..).and_then(|rest| rest.first_chunk::<4>());
        let (Some(row), Some(weight)) = (row, weight) else { return false };
        let weight = f32::from_le_bytes(*weight);
        for (sum, value) in sum.iter_mut().zip(row) {
            *sum += f32::from(value.cast_signed()) * weight;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_form_is_refused_with_a_reason() {
        assert_eq!(Table::read(b"short").unwrap_err(), "too short");
        assert_eq!(Table::read(b"\x02\0\0\0\0\0\0\0{}").unwrap_err(), "no F32 `weights`");
    }
}
