//! What each feature added to a score: `chime explain` shows it.

/// The most features that are shown of a message.
const SHOWN: usize = 12;
/// Contributions smaller than this, in log odds, are not shown.
const FAINT: f64 = 1e-3;

/// A feature of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// `tag.` the score of being pointed at, `pair.` the score of belonging to the likeliest target's matter, `beyond.` the score
    /// of a message from further back.
    pub name: String,
    pub value: f64,
    /// What it added to the score, in log odds above the mean of all candidates.
    pub contribution: f64,
}

/// The features of each candidate.
pub type ByCandidate = Vec<Vec<Feature>>;

/// Adds the features of a `family` to those of each candidate, from their values and what these add to its score.
pub fn add<const N: usize>(to: &mut ByCandidate, family: &str, names: &[&str; N], rows: &[([f64; N], [f64; N])]) {
    let mean = |at: usize| rows.iter().map(|(_, parts)| parts[at]).sum::<f64>() / rows.len().max(1) as f64;
    let means: [f64; N] = std::array::from_fn(mean);
    to.resize_with(rows.len(), Vec::new);
    for (features, (values, parts)) in to.iter_mut().zip(rows) {
        features.extend(names.iter().enumerate().map(|(at, name)| Feature {
            name: format!("{family}.{name}"),
            value: values[at],
            contribution: parts[at] - means[at],
        }));
    }
}

/// The features that are shown of a candidate, the weightiest first.
pub fn shown(mut features: Vec<Feature>) -> Vec<Feature> {
    features.retain(|feature| feature.contribution.abs() > FAINT);
    features.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()).then(a.name.cmp(&b.name)));
    features.truncate(SHOWN);
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_feature_adds_everywhere_decides_nothing() {
        let mut features = ByCandidate::new();
        let rows = [([1.0, 2.0], [5.0, 1.0]), ([1.0, 0.0], [5.0, -1.0])];
        add(&mut features, "pair", &["same", "near"], &rows);
        let near = |value, contribution| vec![Feature { name: "pair.near".to_owned(), value, contribution }];
        assert_eq!(features.into_iter().map(shown).collect::<Vec<_>>(), [near(2.0, 1.0), near(0.0, -1.0)]);
    }
}
