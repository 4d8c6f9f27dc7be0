//! Contributions of single features to a score, shown by `chime explain`.

/// Maximum number of features that are shown for a message.
const SHOWN: usize = 12;
/// Contributions of at most this size, in log odds, are not shown.
const FAINT: f64 = 1e-3;

#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// Name with a prefix for the kind of score: `tag.` for the candidate as the trigger's target, `pair.` for the
    /// candidate as part of the likeliest target's subject, `beyond.` for a message from further back.
    pub name: String,
    pub value: f64,
    /// Amount that the feature adds to the score, in log odds, less its mean over all candidates.
    pub contribution: f64,
}

pub type ByCandidate = Vec<Vec<Feature>>;

/// Appends the features of one kind of score (`family`) to each candidate in `to`. `rows` holds their values and the
/// amounts that they add to the score.
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

/// Returns the features to show for a candidate, the largest contribution first.
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
