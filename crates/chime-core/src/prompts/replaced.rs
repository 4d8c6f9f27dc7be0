//! Reads the operator's template files, and checks that they show all required values.

use std::collections::BTreeSet;
use std::path::Path;

use minijinja::Value;
use minijinja::value::Serde;

use super::{PromptError, Prompts, Template};

impl Template {
    /// Returns the values that the template must show. `fence` separates members' text from instructions.
    fn must_show(self) -> &'static [&'static str] {
        match self {
            Self::Role => &[],
            Self::Ask => &["ask", "anchor", "fence"],
            Self::Context | Self::Slot | Self::Concepts | Self::Frame | Self::Recall => &["lines", "fence"],
            Self::Capture => &["ask", "answer", "fence"],
            Self::Tags | Self::InferTopic => &["inventory", "fence"],
            _ => &["fence"],
        }
    }

    /// Replaces the required values of a sample by marks, so that they can be found in the rendered text. Returns the
    /// changed sample, and each replaced value's name with its mark.
    fn marked(self, sample: &Value) -> (Value, Vec<(&'static str, String)>) {
        let mut values = serde_json::to_value(sample).unwrap_or_default();
        let mut marks = Vec::new();
        for (number, name) in (1..).zip(self.must_show()) {
            // The mark has no letters, because a template may change upper and lower case.
            let mark = format!("[[{number}]]");
            if let Some(value) = values.get_mut(*name).filter(|value| value.as_str().is_some_and(|it| !it.is_empty())) {
                *value = mark.as_str().into();
                marks.push((*name, mark));
            }
        }
        (Value::from(Serde(&values)), marks)
    }
}

/// Renders the operator's `template` with each of its samples (example values), and returns what is wrong with it: it
/// is empty, or omits a value that it must show. Such a template is used nevertheless.
///
/// # Errors
/// Fails if the template does not render, or omits the question itself.
pub fn gaps(prompts: &Prompts, template: Template) -> Result<BTreeSet<String>, PromptError> {
    let name = template.name();
    let mut gaps = BTreeSet::new();
    for sample in template.samples() {
        let (values, marks) = template.marked(&sample);
        let text = prompts.render(template, values)?;
        if text.is_empty() {
            gaps.insert(format!("template `{name}` is empty"));
        }
        for (value, _) in marks.iter().filter(|(_, mark)| !text.contains(mark)) {
            if template == Template::Ask && *value == "ask" {
                return Err(PromptError::AskLost { name });
            }
            gaps.insert(format!("template `{name}` does not always show {{{{ {value} }}}}"));
        }
    }
    Ok(gaps)
}

/// Reads the template files in `dir`. A file that matches no template is an error, because its name is probably
/// misspelt.
pub fn replacements(dir: &Path) -> Result<Vec<(Template, String)>, PromptError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| PromptError::Unreadable { path, source }
    };
    let mut found = Vec::new();
    for file in std::fs::read_dir(dir).map_err(unreadable(dir))? {
        let path = file.map_err(unreadable(dir))?.path();
        if path.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let template =
            Template::ALL.into_iter().find(|template| path.file_name().is_some_and(|name| name == template.name()));
        let Some(template) = template else {
            return Err(PromptError::Unknown { path });
        };
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        found.push((template, text));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, expected: Expect) {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join(name), text).expect("a file");
        let described = match Prompts::load(Some(dir.path())) {
            Ok(prompts) => prompts.gaps().join("\n"),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&described);
    }

    #[test]
    fn the_built_in_templates_lack_nothing() {
        let prompts = Prompts::load(None).expect("loads");
        for template in Template::ALL {
            assert_eq!(gaps(&prompts, template).expect("renders"), BTreeSet::new(), "{}", template.name());
        }
    }

    #[test]
    fn an_ask_that_is_lost_is_refused() {
        check(
            "ask.md",
            "Answer.",
            expect!["template `ask.md` does not always show {{ ask }}: the question would be lost"],
        );
        check(
            "ask.md",
            "{% if generic %}<{{ fence }}>{{ anchor }} {{ ask }}{% endif %}",
            expect!["template `ask.md` does not always show {{ ask }}: the question would be lost"],
        );
    }

    #[test]
    fn values_that_are_lost_are_named() {
        check(
            "ask.md",
            "{{ ask|upper }}",
            expect![[r#"
                template `ask.md` does not always show {{ anchor }}
                template `ask.md` does not always show {{ fence }}"#]],
        );
        check("context.md", "These: {{ fence }}", expect!["template `context.md` does not always show {{ lines }}"]);
        check("tags.md", "{{ fence }}", expect!["template `tags.md` does not always show {{ inventory }}"]);
    }

    #[test]
    fn an_empty_template_is_named() {
        check("role.md", "\n", expect!["template `role.md` is empty"]);
        check("role.md", "Be kind.", expect![""]);
    }
}
