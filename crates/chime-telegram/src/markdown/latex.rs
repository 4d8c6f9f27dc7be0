//! Converts common LaTeX to Unicode characters.

/// Deepest nesting of braces to convert. Deeper braces are dropped, and their content stays.
const MAX_DEPTH: usize = 12;
/// Longest run of letters that may be variables; longer ones are words.
const MAX_VARIABLE: usize = 2;

/// Commands, each on a line with what it shows. `◌` stands for each character of the argument.
const COMMANDS: &str = include_str!("latex_commands.txt");
/// Commands that only change the size or position of what follows.
const NOTHING: &[&str] = &["left", "right", "big", "Big", "bigg", "Bigg", "displaystyle", "limits", "hline"];
/// Other commands that show a formula.
const FUNCTIONS: &[&str] =
    &["frac", "dfrac", "tfrac", "binom", "sqrt", "left", "begin", "log", "ln", "sin", "cos", "tan", "lim"];
/// Commands whose argument is a name that is not shown.
const NAMED: &[&str] = &["begin", "end", "label", "tag"];

/// Characters and their forms as superscript or subscript, in the same order.
struct ScriptForms {
    plain: &'static str,
    forms: &'static str,
}

const RAISED: ScriptForms = ScriptForms {
    plain: "0123456789+-=()nixyabcdefghjklmoprstuvwz",
    forms: "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣʸᵃᵇᶜᵈᵉᶠᵍʰʲᵏˡᵐᵒᵖʳˢᵗᵘᵛʷᶻ",
};
const LOWERED: ScriptForms = ScriptForms {
    plain: "0123456789+-=()aehijklmnoprstuvx",
    forms: "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ",
};

/// Converts LaTeX in a text without code to Markdown with Unicode characters. Everything else stays unchanged.
pub(super) fn with_signs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '$']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let previous = out.chars().next_back();
        if let Some((math, behind)) = formula(from) {
            out.push_str(&escaped(signs(math).trim()));
            rest = behind;
        } else if let Some((shown, behind)) = lone_command(from, previous) {
            out.push_str(&escaped(&shown));
            rest = behind;
        } else {
            // Copies a backslash together with the character that it escapes: this character starts no formula.
            let taken: usize = from.chars().take(1 + usize::from(from.starts_with('\\'))).map(char::len_utf8).sum();
            out.push_str(&from[..taken]);
            rest = &from[taken..];
        }
    }
    out.push_str(rest);
    out
}

/// Returns `text` as superscript if every character has a superscript form.
pub(super) fn raised(text: &str) -> Option<String> {
    mapped(text, &RAISED)
}

/// Returns `text` as subscript if every character has a subscript form.
pub(super) fn lowered(text: &str) -> Option<String> {
    mapped(text, &LOWERED)
}

fn mapped(text: &str, script: &ScriptForms) -> Option<String> {
    let form = |c| script.plain.chars().zip(script.forms.chars()).find(|(plain, _)| *plain == c).map(|(_, form)| form);
    text.chars().map(form).collect()
}

/// Returns the formula between delimiters at the start of `text`, and the text after it.
fn formula(text: &str) -> Option<(&str, &str)> {
    for (opening, closing) in [("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")] {
        let Some((math, behind)) = text.strip_prefix(opening).and_then(|inside| inside.split_once(closing)) else {
            continue;
        };
        let is_one = !math.contains("\n\n") && !math.trim().is_empty();
        let is_math = match opening {
            "$" => {
                let touches = !math.starts_with(char::is_whitespace) && !math.ends_with(char::is_whitespace);
                touches && !math.contains('\n') && !behind.starts_with(|c: char| c.is_ascii_digit()) && is_formula(math)
            }
            "\\(" => is_formula(math) || has_index(math) || is_short(math) && math.chars().any(char::is_alphabetic),
            _ => is_formula(math) || has_index(math) || is_short(math) && math.contains('='),
        };
        return (is_one && is_math).then_some((math, behind));
    }
    None
}

/// Returns `true` if a text contains a LaTeX command, or an exponent or index and no words longer than a variable.
fn is_formula(math: &str) -> bool {
    let has_command =
        math.split('\\').skip(1).any(|behind| is_known(word(behind)) || behind.starts_with(['{', ',', ';']));
    has_command || math.contains(['^', '_']) && is_short(math)
}

fn has_index(math: &str) -> bool {
    math.contains("^{") || math.contains("_{")
}

/// Returns `true` if a text consists only of numbers, variables and operators.
fn is_short(math: &str) -> bool {
    let is_of_math = |c: char| c.is_alphanumeric() || " +-*/=<>()^_{},.|!':\n".contains(c);
    let words = math.split(|c: char| !c.is_alphabetic());
    math.chars().all(is_of_math) && words.map(|word| word.chars().count()).all(|letters| letters <= MAX_VARIABLE)
}

fn is_known(command: &str) -> bool {
    form(command).is_some() || FUNCTIONS.contains(&command)
}

fn form(command: &str) -> Option<&'static str> {
    COMMANDS.lines().find_map(|line| line.strip_prefix(command)?.strip_prefix(' '))
}

/// Returns the letters at the start of `text`.
fn word(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len()]
}

/// Converts a known command outside of a formula, as models write it in prose, unless it is part of a path.
fn lone_command(text: &str, previous: Option<char>) -> Option<(String, &str)> {
    let behind = text.strip_prefix('\\')?;
    let command = word(behind);
    if previous.is_some_and(|c| c.is_alphabetic() || matches!(c, ':' | '\\' | '/' | '_' | '.')) {
        return None;
    }
    let rest = &behind[command.len()..];
    let form = form(command);
    let takes = form == Some("◌") || matches!(command, "frac" | "dfrac" | "tfrac" | "sqrt");
    let has_sign = form.is_some_and(|form| !form.starts_with('◌'));
    let goes_on = rest.starts_with(['\\', '/', '_', '.', ':']);
    match (takes && rest.starts_with('{'), has_sign && !goes_on) {
        (false, false) => None,
        _ => {
            let mut reader = LatexReader { rest: behind, depth: 0 };
            let shown = reader.command();
            Some((shown, reader.rest))
        }
    }
}

fn signs(math: &str) -> String {
    let mut reader = LatexReader { rest: math, depth: 0 };
    let shown = reader.until_brace();
    let lines: Vec<String> = shown
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

struct LatexReader<'a> {
    rest: &'a str,
    depth: usize,
}

impl LatexReader<'_> {
    /// Converts everything up to an unmatched closing brace or the end.
    fn until_brace(&mut self) -> String {
        let mut out = String::new();
        while let Some(c) = self.rest.chars().next() {
            self.rest = &self.rest[c.len_utf8()..];
            match c {
                '}' if self.depth > 0 => break,
                '{' if self.depth < MAX_DEPTH => out.push_str(&self.group()),
                '{' | '}' => {}
                '^' | '_' => {
                    let argument = self.argument();
                    let shown = if c == '^' { raised(&argument) } else { lowered(&argument) };
                    out.push_str(&shown.unwrap_or_else(|| match argument.as_str() {
                        // `^\circ` is a degree sign.
                        "∘" if c == '^' => "°".to_owned(),
                        "'" | "′" => argument.clone(),
                        _ if argument.chars().count() > 1 => format!("{c}({argument})"),
                        _ => format!("{c}{argument}"),
                    }));
                }
                '\\' => out.push_str(&self.command()),
                '&' => {}
                '~' => out.push(' '),
                _ => out.push(c),
            }
        }
        out
    }

    /// Converts a group whose opening brace is already consumed.
    fn group(&mut self) -> String {
        self.depth += 1;
        let inside = self.until_brace();
        self.depth -= 1;
        inside
    }

    /// Converts the argument of a command or exponent: a group, a command, or one character.
    fn argument(&mut self) -> String {
        let text = self.rest.trim_start_matches(' ');
        let Some(c) = text.chars().next() else { return String::new() };
        if c == '}' {
            return String::new();
        }
        self.rest = &text[c.len_utf8()..];
        match c {
            '{' if self.depth < MAX_DEPTH => self.group().trim().to_owned(),
            '\\' => self.command(),
            _ => c.to_string(),
        }
    }

    /// Converts the degree of a root, if there is one.
    fn degree(&mut self) -> String {
        let degree = self.rest.strip_prefix('[').and_then(|degree| degree.split_once(']'));
        let Some((degree, rest)) = degree else { return String::new() };
        self.rest = rest;
        raised(degree).unwrap_or_else(|| degree.to_owned())
    }

    /// Converts a command whose backslash is already consumed.
    fn command(&mut self) -> String {
        let name = word(self.rest);
        self.rest = &self.rest[name.len()..];
        if let Some(form) = form(name) {
            return match form.strip_prefix('◌') {
                Some(mark) => self.argument().chars().flat_map(|c| std::iter::once(c).chain(mark.chars())).collect(),
                None => form.to_owned(),
            };
        }
        match name {
            "" => {
                let c = self.rest.chars().next().unwrap_or(' ');
                self.rest = self.rest.get(c.len_utf8()..).unwrap_or_default();
                match c {
                    '\\' => "\n".to_owned(),
                    ',' | ';' | ':' | '!' | ' ' => " ".to_owned(),
                    _ => c.to_string(),
                }
            }
            "frac" | "dfrac" | "tfrac" => {
                let (above, below) = (self.argument(), self.argument());
                // `1/2b` would read as half of b, so a product below the line gets brackets.
                let is_product = below.contains(|c: char| c.is_ascii_digit()) && below.contains(char::is_alphabetic);
                let below = if is_product { format!("({below})") } else { in_brackets(&below) };
                format!("{}/{below}", in_brackets(&above))
            }
            "binom" => format!("C({}, {})", self.argument(), self.argument()),
            "sqrt" => format!("{}√{}", self.degree(), in_brackets(&self.argument())),
            "quad" | "qquad" => " ".to_owned(),
            name if NOTHING.contains(&name) => String::new(),
            name if NAMED.contains(&name) => {
                self.argument();
                String::new()
            }
            name => name.to_owned(),
        }
    }
}

/// Returns a part of a fraction, in brackets if it is a sum or a product.
fn in_brackets(part: &str) -> String {
    let is_whole = part.chars().all(|c| c.is_alphanumeric() || ".,²³√°%".contains(c))
        || part.starts_with('(') && part.ends_with(')');
    if is_whole || part.contains(char::is_whitespace) && part.chars().all(|c| c.is_alphabetic() || c == ' ') {
        part.to_owned()
    } else {
        format!("({part})")
    }
}

fn escaped(shown: &str) -> String {
    let mut out = String::with_capacity(shown.len());
    for c in shown.chars() {
        if matches!(c, '*' | '_' | '[' | ']' | '<' | '>' | '`' | '~' | '\\' | '|' | '#' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    // Without the backslash, a leading `-` or `+` would start a list.
    let begins = shown.starts_with(['-', '+']) && shown[1..].starts_with(' ');
    if begins { format!("\\{out}") } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_on_a_line_with_what_it_shows() {
        let is_one = |line: &str| line.split_once(' ').is_some_and(|(_, form)| (1..=2).contains(&form.chars().count()));
        let other: Vec<&str> = COMMANDS.lines().filter(|line| !is_one(line)).collect();
        assert_eq!(other, [""; 0]);
    }

    #[test]
    fn formulas_become_signs() {
        for (latex, shown) in [
            (r"\(x^2\)", "x²"),
            (r"so \(x\) is $\alpha \le \beta$.", "so x is α ≤ β."),
            (r"\[ \frac{a}{b} = \frac{a+1}{2b^2} \]", "a/b = (a+1)/(2b²)"),
            (r"$$E = mc^2$$", "E = mc²"),
            (r"$x_1 + x_{10}$, $x^{-1}$, $2^{n+1}$, $e^{i\pi}$", "x₁ + x₁₀, x⁻¹, 2ⁿ⁺¹, e^(iπ)"),
            (r"3 \times 4, A \rightarrow B, 2\times3", "3 × 4, A → B, 2×3"),
            (r"\boxed{42} and \text{if so}", "42 and if so"),
            (r"\(\sqrt{2} \approx 1.41\) $\sqrt[3]{27} = 3$", "√2 ≈ 1.41 ³√27 = 3"),
            (r"\(90^\circ\) \(\text{speed} = \frac{\text{way}}{\text{time}}\)", "90° speed = way/time"),
            (r"$\left( a \cdot b \right)$", "( a · b )"),
            (r"\[\begin{aligned} a &= 1 \\ b &= 2 \end{aligned}\]", "a = 1\nb = 2"),
            (r"\(a_{max}\)", "aₘₐₓ"),
            (r"\(\sin x\) \(10\%\,\text{off}\)", "sin x 10% off"),
            (r"\[ - b \pm 1 \]", r"\- b ± 1"),
            (r"\(\bar{x} = \frac{1}{n}\sum x_i\), \(\vec{F}\)", "x\u{304} = 1/n∑ xᵢ, F\u{20d7}"),
            (r"\(\binom{n}{k}\), \(P(A \mid B)\)", "C(n, k), P(A ∣ B)"),
        ] {
            assert_eq!(with_signs(latex), shown, "{latex}");
        }
    }

    #[test]
    fn what_is_no_latex_stays() {
        for text in [
            "$5 and $10",
            "$5-$10, US$3, 5$",
            "from $5 to $10_000 or $20^2",
            r"C:\times\new and C:\text\in D:\to.txt",
            r"\[1\] and \[Ana\]: hello, \*no\*, \_",
            r"\(see above\)",
            "echo $HOME/a_b:$PATH",
            "$x$ 50% ^1 {a}",
            r"a \\ b \n \foo",
            r"\",
            "$",
            "$$",
            r"\(",
            r"\frac",
        ] {
            assert_eq!(with_signs(text), text);
        }
    }

    #[test]
    fn broken_latex_ends() {
        for text in [
            r"\(\frac{a\)",
            r"\({{{{{{{{{{{{{{{{{{{{{x^2}\)",
            r"\(^\)",
            r"\(x^}\)",
            r"\[\sqrt\]",
            r"$\alpha_$",
            r"\(x^2\\)",
        ] {
            with_signs(text);
        }
    }
}
