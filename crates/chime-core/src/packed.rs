//! Arithmetic on vectors, and packing of vectors into one signed byte per value.

/// Largest value that a byte can hold, as a multiple of the root mean square value of a unit vector, `1 /
/// sqrt(dimension)`. Larger values are clamped.
const REACH: f32 = 8.0;
const MOST: f32 = 127.0;

/// Packs a vector of about unit length. Returns `None` if all values are packed as 0, or one is not finite.
pub fn pack(vector: &[f32]) -> Option<Vec<u8>> {
    let is_finite = vector.iter().all(|value| value.is_finite());
    let scale = MOST * (vector.len() as f32).sqrt() / REACH;
    let packed: Vec<u8> =
        (vector.iter()).map(|value| ((value * scale).round().clamp(-MOST, MOST) as i8).cast_unsigned()).collect();
    (is_finite && packed.iter().any(|byte| *byte != 0)).then_some(packed)
}

/// Unpacks a vector, scaled to unit length.
pub fn unpack(packed: &[u8]) -> Vec<f32> {
    let length = packed.iter().map(|byte| square(*byte)).sum::<i32>();
    let length = (length as f32).sqrt().max(f32::EPSILON);
    packed.iter().map(|byte| f32::from(byte.cast_signed()) / length).collect()
}

/// Returns the cosine of two packed vectors, or 0 if their dimensions differ.
pub fn packed_cosine(a: &[u8], b: &[u8]) -> f32 {
    if a.len() != b.len() {
        return 0.0;
    }
    let product: i32 = a.iter().zip(b).map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed())).sum();
    let squares = |of: &[u8]| of.iter().map(|byte| square(*byte)).sum::<i32>() as f32;
    product as f32 / (squares(a) * squares(b)).sqrt().max(f32::EPSILON)
}

fn square(byte: u8) -> i32 {
    let value = i32::from(byte.cast_signed());
    value * value
}

/// Returns the dot product of two vectors, 0 if one is empty. Sums in 16 lanes so that the compiler can vectorise it.
// Called in inner loops of other crates, so it must be inlined.
#[inline]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}

/// Adds `share * vector` to `sum`; both have the same length.
#[inline]
pub fn add_share(sum: &mut [f32], vector: &[f32], share: f32) {
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += share * value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_comes_back_nearly_as_it_was() {
        let vector: Vec<f32> = (0..160).map(|place| ((place * 37 % 97) as f32 - 48.0) / 350.0).collect();
        let packed = pack(&vector).unwrap();
        let product: f32 = vector.iter().zip(unpack(&packed)).map(|(a, b)| a * b).sum();
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!(product / length > 0.999, "{product} of {length}");
        assert!((packed_cosine(&packed, &packed) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn what_points_nowhere_is_refused() {
        assert_eq!(pack(&[0.0, 0.0]), None);
        assert_eq!(pack(&[f32::NAN, 1.0]), None);
        assert_eq!(packed_cosine(&[1, 2], &[1]), 0.0);
    }
}
