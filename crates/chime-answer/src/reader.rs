//! Chooses the form of the prompt by the size of the model.

use crate::lines::Style;

/// Number of parameters below which a model counts as small: it answers worse if it has to cite, and it uses tools
/// badly.
const SMALL: u64 = 5_000_000_000;

/// Returns the style of the prompt for a model, by the number of parameters that its server reports, else by the one in
/// its name.
pub fn style_for(parameters: Option<u64>, model: &str) -> Style {
    style(parameters.or_else(|| parameters_in_name(model)))
}

/// Returns the style for a number of parameters. Unknown models count as large.
fn style(parameters: Option<u64>) -> Style {
    match parameters {
        Some(parameters) if parameters < SMALL => Style::Plain,
        Some(_) | None => Style::Numbered,
    }
}

/// Parses the number of parameters from a model's name, such as `llama3.2:1b`, `Qwen2.5-1.5B-Instruct` or
/// `SmolLM2-135M`; `None` if the name has none.
fn parameters_in_name(name: &str) -> Option<u64> {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words
        .filter_map(|word| {
            let (digits, unit) = word.split_at_checked(word.len().checked_sub(1)?)?;
            let unit = match unit {
                "b" => 1e9,
                "m" => 1e6,
                _ => return None,
            };
            let number: f64 = digits.parse().ok()?;
            (number > 0.0 && number < 5_000.0).then_some((number * unit) as u64)
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_sizes() {
        for (name, expected) in [
            ("llama3.2:1b", Some(1_000_000_000)),
            ("Qwen2.5-1.5B-Instruct", Some(1_500_000_000)),
            ("SmolLM2-135M", Some(135_000_000)),
            ("qwen2.5:72b-instruct-q4_K_M", Some(72_000_000_000)),
            ("gpt-4.1-mini", None),
            ("o3", None),
            ("mistral-small", None),
        ] {
            assert_eq!(parameters_in_name(name), expected, "{name}");
        }
    }

    #[test]
    fn small_models_get_a_plain_prompt() {
        assert_eq!(style(Some(1_500_000_000)), Style::Plain);
        assert_eq!(style(Some(8_000_000_000)), Style::Numbered);
        assert_eq!(style(None), Style::Numbered);
    }
}
