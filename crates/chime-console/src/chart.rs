//! Charts as SVG. Pure.

use maud::{Markup, html};

const WIDTH: usize = 600;
const HEIGHT: usize = 120;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// Label below the bar, such as a day.
    pub label: String,
    pub value: u64,
    /// Part of `value` that is drawn darker, such as the answers among the triggers.
    pub part: u64,
    /// Value in words, shown when the bar is pointed at.
    pub caption: String,
}

/// Draws bars with the highest value and the first and last label beside them.
pub fn bars(title: &str, total: &str, bars: &[Bar]) -> Markup {
    let highest = bars.iter().map(|bar| bar.value).max().unwrap_or(0);
    let step = WIDTH / bars.len().max(1);
    let height = |value: u64| scaled(value, highest, HEIGHT);
    let top = bars.iter().find(|bar| bar.value == highest && highest > 0);
    html! {
        figure {
            figcaption { (title) " " strong { (total) } }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 2) } role="img" aria-label={ (title) ": " (total) } preserveAspectRatio="none" {
                line.axis x1="0" x2=(WIDTH) y1=(HEIGHT + 1) y2=(HEIGHT + 1) {}
                @for (place, bar) in bars.iter().enumerate() {
                    g {
                        title { (bar.label) ": " (bar.caption) }
                        rect.hit x=(place * step) y="0" width=(step) height=(HEIGHT) {}
                        rect.bar x=(place * step + 2) y=(HEIGHT - height(bar.value)) width=(step.saturating_sub(4).max(1)) height=(height(bar.value)) {}
                        rect.part x=(place * step + 2) y=(HEIGHT - height(bar.part)) width=(step.saturating_sub(4).max(1)) height=(height(bar.part)) {}
                    }
                }
            }
            p.scale {
                span { (bars.first().map_or("", |bar| &bar.label)) }
                span { @if let Some(top) = top { "most: " (top.caption) } }
                span { (bars.last().map_or("", |bar| &bar.label)) }
            }
        }
    }
}

/// Draws one value of a table as a horizontal bar.
pub fn level(value: u64, highest: u64) -> Markup {
    html! {
        svg.level viewBox="0 0 100 10" aria-hidden="true" preserveAspectRatio="none" {
            rect.bar x="0" y="0" width=(scaled(value, highest, 100)) height="10" {}
        }
    }
}

/// Scales a value so that `highest` becomes `size`. What is not zero is drawn.
fn scaled(value: u64, highest: u64, size: usize) -> usize {
    if value == 0 || highest == 0 {
        return 0;
    }
    let scaled = u128::from(value.min(highest)) * size as u128 / u128::from(highest);
    usize::try_from(scaled).unwrap_or(size).max(1)
}

/// Returns the value below which `percent` of the sorted `values` lie; `None` without values.
pub fn percentile(values: &[u64], percent: usize) -> Option<u64> {
    let place = (values.len() * percent).div_ceil(100).max(1);
    values.get(place - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_the_list() {
        let values: Vec<u64> = (1..=10).collect();
        let of = |percent| percentile(&values, percent);
        assert_eq!((of(50), of(90), of(99), of(0)), (Some(5), Some(9), Some(10), Some(1)));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn what_is_not_zero_is_drawn() {
        let scaled = |value, highest| scaled(value, highest, 100);
        assert_eq!([scaled(0, 9), scaled(1, 1_000_000), scaled(9, 9), scaled(u64::MAX, u64::MAX)], [0, 1, 100, 100]);
        assert_eq!(scaled(3, 0), 0);
    }
}
