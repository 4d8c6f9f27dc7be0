use crate::learn::{Examples, Restraint, Score, Weighed, descend, fit};

const LOOSE: Restraint = Restraint { ridge: 1e-3, is_clamped: false, iterations: 200 };

/// Returns numbers from -1 to 1, the same in every run.
fn noise() -> impl FnMut() -> f64 {
    let mut state = 7_u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 30) - 1.0
    }
}

#[track_caller]
fn assert_near(found: &Score, bias: f64, weights: &[f64]) {
    let found: Vec<f64> = found.terms.iter().map(|term| term.weight).chain([found.bias]).collect();
    for (found, expected) in found.iter().zip(weights.iter().chain([&bias])) {
        assert!((found - expected).abs() < 0.15, "{found} is not {expected}");
    }
}

#[test]
fn the_weights_behind_yes_and_no_are_found() {
    let (mut next, mut examples) = (noise(), Examples::new(2));
    for _ in 0..20_000 {
        let x = [3.0 * next(), next()];
        let likely = 1.0 / (1.0 + (-(0.5 + x[0] - 2.0 * x[1])).exp());
        let is = f32::from(u8::from((next() + 1.0) / 2.0 < likely));
        examples.row(x.map(|x| x as f32), is, 0.0);
        examples.close(Weighed { none: Some(1.0 - is), weight: 1.0, fold: 0 });
    }
    assert_near(&fit(&examples, None, LOOSE), 0.5, &[1.0, -2.0]);
}

#[test]
fn the_weights_behind_a_choice_are_found_and_another_fold_is_not_seen() {
    let (mut next, mut examples) = (noise(), Examples::new(2));
    for which in 0..20_000 {
        let rows: Vec<[f64; 2]> = (0..4).map(|_| [2.0 * next(), next()]).collect();
        let scores: Vec<f64> = rows.iter().map(|row| (1.5 * row[0] - row[1]).exp()).collect();
        let mut chance = (next() + 1.0) / 2.0 * scores.iter().sum::<f64>();
        let chosen = scores.iter().position(|score| {
            chance -= score;
            chance < 0.0
        });
        // The choices of the second fold are wrong on purpose.
        let fold = which % 2;
        for (place, row) in rows.iter().enumerate() {
            let is = if fold == 1 { place == 0 } else { Some(place) == chosen };
            examples.row(row.map(|x| x as f32), f32::from(u8::from(is)), 0.0);
        }
        examples.close(Weighed { none: None, weight: 1.0, fold });
    }
    let found = fit(&examples, Some(1), LOOSE);
    assert_near(&Score { bias: 0.0, ..found }, 0.0, &[1.5, -1.0]);
}

#[test]
fn a_ridge_makes_weights_small_and_the_range_is_that_of_the_rows() {
    let mut examples = Examples::new(1);
    for place in 0..1000 {
        let is = f32::from(u8::from(place >= 500));
        examples.row([place as f32], is, 0.0);
        examples.close(Weighed { none: Some(1.0 - is), weight: 1.0, fold: 0 });
    }
    let steep = |ridge| fit(&examples, None, Restraint { ridge, is_clamped: true, iterations: 100 }).terms[0];
    assert!(steep(100.0).weight < 0.5 * steep(1.0).weight);
    assert_eq!((steep(1.0).low, steep(1.0).high), (1.0, 998.0));
}

#[test]
fn the_lowest_point_of_a_valley_is_found() {
    let found = descend(vec![-1.2, 1.0], 500, |at, slope| {
        let (x, y) = (at[0], at[1]);
        slope[0] = -400.0 * x * (y - x * x) - 2.0 * (1.0 - x);
        slope[1] = 200.0 * (y - x * x);
        100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2)
    });
    assert!((found[0] - 1.0).abs() < 0.01 && (found[1] - 1.0).abs() < 0.02, "{found:?}");
}
