//! Fits a linear score to choices.
//!
//! Every part of the selector is a choice: one of these rows, or none of them. A choice with one row is a yes or no.
//! The probability of a row is the softmax of the scores; the fit maximises the probability of the right rows.

/// Choices with their feature rows.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    width: usize,
    values: Vec<f32>,
    /// Target of each row, from 0 (wrong) to 1 (right).
    targets: Vec<f32>,
    /// Addend to the score of each row: the logarithm of the number of left-out rows that it represents.
    offsets: Vec<f32>,
    choices: Vec<Choice>,
}

#[derive(Debug, Clone, Copy)]
struct Choice {
    /// End of its rows; they start at the end of the previous choice.
    end: usize,
    /// Target of choosing none; `None` if one of the rows must be chosen.
    none: Option<f32>,
    weight: f32,
    /// Fold of the choice; fits that leave it out do not see the choice.
    fold: usize,
}

/// Properties of a choice to add.
#[derive(Debug, Clone, Copy)]
pub struct Weighed {
    pub none: Option<f32>,
    pub weight: f32,
    pub fold: usize,
}

impl Examples {
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds a row to the choice that the next [`Self::close`] ends.
    pub fn row(&mut self, values: impl IntoIterator<Item = f32>, target: f32, offset: f32) {
        self.values.extend(values);
        self.targets.push(target);
        self.offsets.push(offset);
        assert_eq!(self.values.len(), self.width * self.targets.len(), "a row is as wide as the others");
    }

    /// Ends a choice of the rows added since the last call.
    pub fn close(&mut self, Weighed { none, weight, fold }: Weighed) {
        let begin = self.choices.last().map_or(0, |choice| choice.end);
        if self.targets.len() > begin {
            self.choices.push(Choice { end: self.targets.len(), none, weight, fold });
        }
    }

    pub fn len(&self) -> usize {
        self.choices.len()
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the mean of a feature over all rows.
    pub fn mean(&self, column: usize) -> f64 {
        let sum: f64 = self.values.iter().skip(column).step_by(self.width).map(|value| f64::from(*value)).sum();
        sum / self.targets.len().max(1) as f64
    }

    /// Returns the choices of all folds but one.
    fn without(&self, fold: Option<usize>) -> Self {
        let mut kept = Self::new(self.width);
        let mut begin = 0;
        for choice in &self.choices {
            if Some(choice.fold) != fold {
                kept.values.extend_from_slice(&self.values[begin * self.width..choice.end * self.width]);
                kept.targets.extend_from_slice(&self.targets[begin..choice.end]);
                kept.offsets.extend_from_slice(&self.offsets[begin..choice.end]);
                kept.choices.push(Choice { end: kept.targets.len(), ..*choice });
            }
            begin = choice.end;
        }
        kept
    }
}

/// Regularisation of a fit.
#[derive(Debug, Clone, Copy)]
pub struct Restraint {
    /// Cost of a squared weight, for a feature of unit variance.
    pub ridge: f64,
    /// `true` if features are clamped to the range without the outermost thousandth of the rows at each end.
    pub is_clamped: bool,
    pub iterations: usize,
}

/// Fitted score: a bias and a weight for each clamped feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    pub bias: f64,
    pub terms: Vec<Term>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    pub weight: f64,
    pub low: f64,
    pub high: f64,
}

impl Score {
    /// Returns the score with all weights and the bias divided by a number.
    pub fn divided_by(&self, by: f64) -> Self {
        let term = |term: &Term| Term { weight: term.weight / by, ..*term };
        Self { bias: self.bias / by, terms: self.terms.iter().map(term).collect() }
    }
}

/// Fits a score to the choices of all folds but `left_out`.
pub fn fit(examples: &Examples, left_out: Option<usize>, restraint: Restraint) -> Score {
    Fitted::to(examples, left_out, restraint, &[]).score()
}

/// Fit that can be repeated without some of the features.
pub struct Fitted {
    /// Examples standardised to mean 0 and variance 1.
    examples: Examples,
    spans: Vec<Span>,
    restraint: Restraint,
    /// Weights of the standardised features, followed by the bias.
    found: Vec<f64>,
}

impl Fitted {
    /// Fits a score to the choices of all folds but `left_out`. Features that are `dropped` get weight 0.
    pub fn to(examples: &Examples, left_out: Option<usize>, restraint: Restraint, dropped: &[bool]) -> Self {
        let mut examples = examples.without(left_out);
        let spans = standardise(&mut examples, restraint.is_clamped);
        // Starts with a low bias, since most rows are wrong.
        let mut start = vec![0.0; examples.width + 1];
        start[examples.width] = -2.0;
        let found = found(&examples, start, restraint, dropped);
        Self { examples, spans, restraint, found }
    }

    /// Fits again without more of the features, starting from this fit, in fewer iterations.
    pub fn without(&self, dropped: &[bool]) -> Score {
        const ITERATIONS: usize = 40;
        let start = self.found.iter().zip(dropped.iter().chain([&false]));
        let start = start.map(|(weight, is_dropped)| if *is_dropped { 0.0 } else { *weight }).collect();
        let restraint = Restraint { iterations: ITERATIONS.min(self.restraint.iterations), ..self.restraint };
        score(&self.spans, &found(&self.examples, start, restraint, dropped))
    }

    pub fn score(&self) -> Score {
        score(&self.spans, &self.found)
    }

    /// Returns the effect of a feature of unit variance on the score.
    pub fn importance(&self, feature: usize) -> f64 {
        self.found[feature].abs()
    }
}

fn found(examples: &Examples, start: Vec<f64>, restraint: Restraint, dropped: &[bool]) -> Vec<f64> {
    descend(start, restraint.iterations, |weights, slope| {
        let cost = cost(examples, weights, restraint.ridge, slope);
        slope.iter_mut().zip(dropped).filter(|(_, is_dropped)| **is_dropped).for_each(|(slope, _)| *slope = 0.0);
        cost
    })
}

fn score(spans: &[Span], found: &[f64]) -> Score {
    let weight = |(span, weight): (&Span, &f64)| weight / span.deviation;
    let terms: Vec<Term> = (spans.iter().zip(found))
        .map(|(span, found)| Term { weight: weight((span, found)), low: span.low, high: span.high })
        .collect();
    let shift: f64 = spans.iter().zip(&terms).map(|(span, term)| term.weight * span.mean).sum();
    Score { bias: found[spans.len()] - shift, terms }
}

/// Statistics of a feature column.
struct Span {
    low: f64,
    high: f64,
    mean: f64,
    deviation: f64,
}

/// Clamps every column and standardises it to mean 0 and variance 1.
fn standardise(examples: &mut Examples, is_clamped: bool) -> Vec<Span> {
    let (width, count) = (examples.width, examples.targets.len());
    let spans: Vec<Span> = (0..width).map(|column| span(examples, column, is_clamped)).collect();
    for row in 0..count {
        for (value, span) in examples.values[row * width..][..width].iter_mut().zip(&spans) {
            let clamped = f64::from(*value).clamp(span.low, span.high);
            *value = ((clamped - span.mean) / span.deviation) as f32;
        }
    }
    spans
}

fn span(examples: &Examples, column: usize, is_clamped: bool) -> Span {
    /// Most rows from which the range is computed, evenly spread.
    const READ: usize = 200_000;
    /// Share of the rows cut off at each end.
    const TAIL: f64 = 0.001;
    let all = || examples.values.iter().skip(column).step_by(examples.width).map(|value| f64::from(*value));
    let count = examples.targets.len();
    let mut sorted: Vec<f64> = all().step_by(count.div_ceil(READ).max(1)).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |part: f64| sorted.get((part * (sorted.len().max(1) - 1) as f64).round() as usize).copied().unwrap_or(0.0);
    let (low, high) = if is_clamped { (at(TAIL), at(1.0 - TAIL)) } else { (f64::MIN, f64::MAX) };
    let (mut sum, mut square) = (0.0, 0.0);
    for value in all().map(|value| value.clamp(low, high)) {
        sum += value;
        square += value * value;
    }
    let mean = sum / count.max(1) as f64;
    let deviation = (square / count.max(1) as f64 - mean * mean).max(0.0).sqrt();
    Span { low, high, mean, deviation: if deviation < 1e-6 { 1.0 } else { deviation } }
}

/// Returns the cost of the weights (the last is the bias): the negative log-likelihood plus the ridge penalty. Writes
/// its gradient.
fn cost(examples: &Examples, weights: &[f64], ridge: f64, slope: &mut [f64]) -> f64 {
    /// Least probability, so that no single example dominates the logarithm.
    const LEAST: f64 = 1e-9;
    let width = examples.width;
    let narrow: Vec<f32> = weights[..width].iter().map(|weight| *weight as f32).collect();
    slope[..width].iter_mut().zip(weights).for_each(|(slope, weight)| *slope = ridge * weight);
    slope[width] = 0.0;
    let mut cost: f64 = 0.5 * ridge * weights[..width].iter().map(|weight| weight * weight).sum::<f64>();
    let (mut begin, mut scores, mut pulled) = (0, Vec::new(), vec![0.0_f32; width]);
    for choice in &examples.choices {
        let rows = begin..choice.end;
        begin = choice.end;
        let bias = if choice.none.is_some() { weights[width] } else { 0.0 };
        scores.clear();
        scores.extend(rows.clone().map(|row| {
            let product = dot(&examples.values[row * width..][..width], &narrow);
            f64::from(product) + bias + f64::from(examples.offsets[row])
        }));
        let floor = if choice.none.is_some() { 0.0 } else { f64::NEG_INFINITY };
        let highest = scores.iter().copied().fold(floor, f64::max);
        let none = choice.none.map_or((0.0, 0.0), |right| ((-highest).exp(), f64::from(right) * (-highest).exp()));
        scores.iter_mut().for_each(|score| *score = (*score - highest).exp());
        let all = none.0 + scores.iter().sum::<f64>();
        let targets = rows.clone().map(|row| f64::from(examples.targets[row]));
        let right = none.1 + LEAST * all + scores.iter().zip(targets.clone()).map(|(e, right)| e * right).sum::<f64>();
        let weight = f64::from(choice.weight);
        cost += weight * (all.ln() - right.ln());
        pulled.fill(0.0);
        for ((row, e), target) in rows.zip(&scores).zip(targets) {
            let pull = weight * (e / all - e * target / right);
            if choice.none.is_some() {
                slope[width] += pull;
            }
            let values = &examples.values[row * width..][..width];
            pulled.iter_mut().zip(values).for_each(|(sum, value)| *sum += pull as f32 * value);
        }
        slope.iter_mut().zip(&pulled).for_each(|(slope, pulled)| *slope += f64::from(*pulled));
    }
    cost
}

/// Returns the dot product, computed in lanes so that the compiler can use SIMD.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    lanes.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// Number of past steps from which the direction is computed.
const REMEMBERED: usize = 10;
/// Least relative improvement of the cost; a smaller one ends the search.
const ENOUGH: f64 = 1e-8;

/// Minimises `cost`, which writes its gradient, by limited-memory BFGS with step halving.
pub fn descend(start: Vec<f64>, iterations: usize, mut cost: impl FnMut(&[f64], &mut [f64]) -> f64) -> Vec<f64> {
    let mut here = start;
    let mut slope = vec![0.0; here.len()];
    let mut height = cost(&here, &mut slope);
    let mut past: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
    for _ in 0..iterations {
        let mut direction = downhill(&slope, &past);
        if inner(&direction, &slope) >= 0.0 {
            past.clear();
            direction = slope.iter().map(|slope| -slope).collect();
        }
        let descent = inner(&direction, &slope);
        // Before the first step the scale is unknown.
        let mut length = if past.is_empty() { 1.0 / inner(&slope, &slope).sqrt().max(1.0) } else { 1.0 };
        let (mut next, mut next_slope) = (here.clone(), slope.clone());
        let mut next_height = f64::INFINITY;
        for _ in 0..30 {
            next.iter_mut().zip(here.iter().zip(&direction)).for_each(|(next, (here, by))| *next = here + length * by);
            next_height = cost(&next, &mut next_slope);
            if next_height <= height + 1e-4 * length * descent {
                break;
            }
            length *= 0.5;
        }
        if next_height >= height {
            break;
        }
        let moved: Vec<f64> = next.iter().zip(&here).map(|(next, here)| next - here).collect();
        let turned: Vec<f64> = next_slope.iter().zip(&slope).map(|(next, here)| next - here).collect();
        if inner(&moved, &turned) > 1e-12 {
            past.push((moved, turned));
            past.drain(..past.len().saturating_sub(REMEMBERED));
        }
        let gained = height - next_height;
        (here, slope, height) = (next, next_slope, next_height);
        if gained <= ENOUGH * height.abs().max(1.0) {
            break;
        }
    }
    here
}

/// Returns the direction of the next step from the last steps and the changes of the gradient.
fn downhill(slope: &[f64], past: &[(Vec<f64>, Vec<f64>)]) -> Vec<f64> {
    let mut direction: Vec<f64> = slope.iter().map(|slope| -slope).collect();
    let mut shares = Vec::with_capacity(past.len());
    for (moved, turned) in past.iter().rev() {
        let share = inner(moved, &direction) / inner(moved, turned);
        direction.iter_mut().zip(turned).for_each(|(direction, turned)| *direction -= share * turned);
        shares.push(share);
    }
    if let Some((moved, turned)) = past.last() {
        let scale = inner(moved, turned) / inner(turned, turned);
        direction.iter_mut().for_each(|direction| *direction *= scale);
    }
    for ((moved, turned), share) in past.iter().zip(shares.iter().rev()) {
        let back = share - inner(turned, &direction) / inner(moved, turned);
        direction.iter_mut().zip(moved).for_each(|(direction, moved)| *direction += back * moved);
    }
    direction
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
