//! What each feature added to a score, for whoever wants to know why.

/// Features that are named of a message, the weightiest ones.
const NAMED: usize = 12;

/// A number that was looked at, and what it did.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// `tag.` what a tag may hang on, `pair.` what belongs to the message that it hangs on most likely, `beyond.` what was found
    /// further back.
    pub name: String,
    pub value: f64,
    /// What it added to the score (log odds), above the average of all candidates.
    pub contribution: f64,
}

/// What one feature was worth at every candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub name: String,
    /// Value and contribution, by candidate.
    pub rows: Vec<(f64, f64)>,
}

/// The columns of features with these `names`, from the values and what they add, by candidate.
pub fn columns<const N: usize>(family: &str, names: &[&str; N], rows: &[([f64; N], [f64; N])]) -> Vec<Column> {
    let column = |(place, name): (usize, &&str)| Column {
        name: format!("{family}.{name}"),
        rows: rows.iter().map(|(values, parts)| (values[place], parts[place])).collect(),
    };
    names.iter().enumerate().map(column).collect()
}

/// The features of each of `count` candidates. What a feature adds everywhere decides nothing, so the average is taken off.
pub fn by_candidate(columns: &[Column], count: usize) -> Vec<Vec<Feature>> {
    let means: Vec<f64> = columns
        .iter()
        .map(|column| column.rows.iter().map(|(_, worth)| worth).sum::<f64>() / count.max(1) as f64)
        .collect();
    let features = |place: usize| {
        let mut features: Vec<Feature> = columns
            .iter()
            .zip(&means)
            .filter_map(|(column, mean)| {
                let (value, worth) = column.rows.get(place)?;
                Some(Feature { name: column.name.clone(), value: *value, contribution: worth - mean })
            })
            .filter(|feature| feature.contribution.abs() > 1e-3)
            .collect();
        features.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()).then(a.name.cmp(&b.name)));
        features.truncate(NAMED);
        features
    };
    (0..count).map(features).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_feature_adds_everywhere_decides_nothing() {
        let column = |name: &str, rows: [(f64, f64); 2]| Column { name: name.to_owned(), rows: rows.to_vec() };
        let columns = [column("same", [(1.0, 5.0), (1.0, 5.0)]), column("near", [(2.0, 1.0), (0.0, -1.0)])];
        let feature = |value, contribution| Feature { name: "near".to_owned(), value, contribution };
        assert_eq!(by_candidate(&columns, 2), [vec![feature(2.0, 1.0)], vec![feature(0.0, -1.0)]]);
    }
}
