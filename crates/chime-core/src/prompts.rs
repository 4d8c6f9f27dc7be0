//! Prompt templates. They are compiled into the program, and an operator can replace each with a file.
//!
//! [`Prompts::load`] renders every template with sample values, so that errors show at start. Values are inserted as
//! plain text and never parsed as templates. Other crates decide which content goes into a prompt.

mod replaced;
mod samples;

use std::path::{Path, PathBuf};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};
use serde::Serialize;

/// Largest number of instructions of the template engine for one rendering, so that an endless loop in a template fails
/// instead of blocking an answer.
const FUEL: u64 = 50_000;

/// All prompt templates. Checked when they are loaded.
#[derive(Debug)]
pub struct Prompts {
    templates: Environment<'static>,
    gaps: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    #[error("template `{name}`, line {line}: {problem}")]
    Template { name: &'static str, line: usize, problem: String },
    #[error("cannot read {path}")]
    Unreadable { path: PathBuf, source: std::io::Error },
    #[error("{path} replaces no template: there are {}", names())]
    Unknown { path: PathBuf },
    #[error("template `{name}` does not always show {{{{ ask }}}}: the question would be lost")]
    AskLost { name: &'static str },
    #[error("the template engine refuses its settings")]
    Engine(#[source] minijinja::Error),
}

/// Values for `role.md`, `plain.md` and `strict.md`. They are the first part of the prompt, which rarely changes, so
/// that model servers can cache it.
#[derive(Debug, Serialize)]
pub struct RoleValues<'a> {
    pub bot_name: &'a str,
    /// Description of the chat: `group`, `group called "The lake"`, `private chat`.
    pub place: &'a str,
    pub is_private: bool,
    /// Random delimiter around untrusted text.
    pub fence: &'a str,
    /// `true` if messages have numbers for the answer to cite.
    pub numbered: bool,
    /// Language to answer in, such as `German`.
    pub language: Option<&'a str>,
    /// Length of the answer: `short`, `normal` or `long`.
    pub length: &'a str,
}

#[derive(Debug, Serialize)]
pub struct RecallValues<'a> {
    pub fence: &'a str,
    /// Old messages, one per line.
    pub lines: &'a str,
}

#[derive(Debug, Serialize)]
pub struct ContextValues<'a> {
    pub fence: &'a str,
    /// Messages, one per line; empty if there are none.
    pub lines: &'a str,
    /// Start of the period that the bot can read, if known.
    pub earliest: Option<&'a str>,
}

#[derive(Debug, Default, Serialize)]
pub struct AskValues<'a> {
    pub fence: &'a str,
    /// Date such as `Monday 5 January 2026`.
    pub today: &'a str,
    /// Time such as `14:02`.
    pub time: &'a str,
    /// Time zone such as `Europe/Berlin`.
    pub zone: &'a str,
    /// Members that the question names: `Ana (@ana_k), Ben`.
    pub people: Option<&'a str>,
    /// Message that the trigger replies to: its line, or the part that is known.
    pub anchor: Option<&'a str>,
    /// Number by which the answer may cite this message. `None` if it is not a message of this chat.
    pub anchor_number: Option<usize>,
    /// `true` if the trigger replies to a message that the bot may not read.
    pub anchor_withheld: bool,
    /// Part of this message that the member selected when replying.
    pub quoted: Option<&'a str>,
    /// `true` if a message contains a spoiler.
    pub spoilers: bool,
    /// Numbers of the messages whose photos are sent with the prompt: `[3], [5]`.
    pub photos: Option<&'a str>,
    /// Name of the member who asks: `Ana`.
    pub asker: &'a str,
    /// Question with its author: `Ana: when does it come?`
    pub ask: &'a str,
    /// `true` if the trigger contains more than the bot's name.
    pub has_words: bool,
    /// `true` if the question is empty or only refers to other messages ("thoughts?").
    pub generic: bool,
    /// `true` if the question asks for ideas about the conversation.
    pub ideas: bool,
    /// `true` if the question asks for a summary of the conversation.
    pub summary: bool,
    /// `true` if the prompt has texts of pages or files.
    pub opened: bool,
    /// Numbers of the messages that it most likely refers to, if the prompt shows others too: `[3], [5]`.
    pub focus: Option<&'a str>,
    /// `true` if there are no other messages to which it could refer.
    pub nothing_known: bool,
    /// `true` if the question is about the bot itself ("who are you?").
    pub about_bot: bool,
    /// Language to answer in, such as `German`.
    pub language: Option<&'a str>,
}

/// Values for `slot.md`, the part of the prompt for one slot of summaries or recalled sources.
#[derive(Debug, Serialize)]
pub struct SlotValues<'a> {
    /// Slot name such as `system.recall`.
    pub slot: &'a str,
    /// For `system.chat.topic`: name of the topic.
    pub topic: Option<&'a str>,
    pub fence: &'a str,
    pub lines: &'a str,
}

#[derive(Debug, Serialize)]
pub struct FrameValues<'a> {
    pub fence: &'a str,
    /// Facts about earlier suggestions and what the question means by them, one per line; empty without an earlier one.
    pub lines: &'a str,
    /// `true` if the answer should suggest items.
    pub suggests: bool,
    /// `true` if the question is about suggested items.
    pub about_items: bool,
    /// `true` if it is unclear whether the question continues a suggestion.
    pub is_open: bool,
    /// `true` if a list in `lines` suggests things, unlike lists of tasks or steps.
    pub is_offer: bool,
}

#[derive(Debug, Serialize)]
pub struct ConceptsValues<'a> {
    pub fence: &'a str,
    /// Concepts that the conversation referred to, with their definitions, one per line.
    pub lines: &'a str,
}

/// Values for `capture.md`, which asks a model for the concepts in an answer.
#[derive(Debug, Serialize)]
pub struct CaptureValues<'a> {
    pub fence: &'a str,
    pub ask: &'a str,
    pub answer: &'a str,
}

/// Values for the summary templates. The text to summarize follows the template, between fences.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct SummaryValues<'a> {
    pub fence: &'a str,
    /// `true` if the model's previous attempt was too long.
    pub shorter: bool,
    /// For `mini_summary.md`: `true` if the text to summarize consists of summaries of the parts of a long session.
    pub merges: bool,
    /// For `mini_summary.md`: `true` if there are lines of items of earlier sessions.
    pub has_open: bool,
    /// For `tags.md` and `infer_topic.md`: the tags that the chat already has, such as `invoices, thai-place`.
    pub inventory: &'a str,
    /// For `topic.md`: the tag to write about, such as `thai-place`.
    pub topic: &'a str,
}

/// Declares the templates with their files and, where one kind of values belongs to one template, the function of
/// [`Prompts`] that renders it.
macro_rules! templates {
    ($($(#[$doc:meta])* $template:ident = $file:literal $(, fn $render:ident($values:ident))?;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Template {
            $($(#[$doc])* $template,)+
        }

        impl Template {
            const ALL: [Self; [$($file),+].len()] = [$(Self::$template),+];

            fn name(self) -> &'static str {
                match self {
                    $(Self::$template => $file,)+
                }
            }

            fn built_in(self) -> &'static str {
                match self {
                    $(Self::$template => include_str!(concat!("../../../prompts/", $file)),)+
                }
            }
        }

        /// # Errors
        /// All functions that render a template fail if it cannot be rendered with these values, although it could with
        /// the sample values.
        impl Prompts {
            $($(pub fn $render(&self, values: &$values<'_>) -> Result<String, PromptError> {
                self.render(Template::$template, Value::from(Serde(values)))
            })?)+
        }
    };
}

templates! {
    /// Standard instructions, the first part of an answer's prompt.
    Role = "role.md", fn role(RoleValues);
    /// Instructions for a small model, used instead of the standard ones.
    Plain = "plain.md", fn plain(RoleValues);
    /// Instructions for a chat that wants no answers without sources, used instead of the standard ones.
    Strict = "strict.md", fn strict(RoleValues);
    Slot = "slot.md", fn slot(SlotValues);
    Concepts = "concepts.md", fn concepts(ConceptsValues);
    Capture = "capture.md", fn capture(CaptureValues);
    Frame = "frame.md", fn frame(FrameValues);
    Recall = "recall.md", fn recall(RecallValues);
    Context = "context.md", fn context(ContextValues);
    Ask = "ask.md", fn ask(AskValues);
    Mini = "mini_summary.md";
    Tags = "tags.md";
    Recent = "recent.md";
    History = "history.md";
    Recap = "recap.md";
    /// Summary of the oldest part of a long thread.
    Thread = "thread.md";
    /// Summary of all sessions about one topic.
    Topic = "topic.md";
    /// Choice of the topic that a chat is talking about now.
    InferTopic = "infer_topic.md";
}

impl Prompts {
    /// Loads the built-in templates, replacing those that have a file of the same name in `dir`.
    ///
    /// # Errors
    /// Fails if a file is unreadable, has an unknown name, does not render with the sample values, or omits the
    /// question.
    pub fn load(dir: Option<&Path>) -> Result<Self, PromptError> {
        let mut prompts = Self { templates: engine()?, gaps: Vec::new() };
        for template in Template::ALL {
            prompts.add(template, template.built_in().to_owned())?;
        }
        let mut replaced = Vec::new();
        for (template, text) in dir.map_or(Ok(Vec::new()), replaced::replacements)? {
            prompts.add(template, text)?;
            replaced.push(template);
        }
        for template in Template::ALL {
            for sample in template.samples() {
                prompts.render(template, sample)?;
            }
        }
        for template in replaced {
            prompts.gaps.extend(replaced::gaps(&prompts, template)?);
        }
        Ok(prompts)
    }

    /// Returns the defects of the operator's templates: required values that they do not show.
    pub fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// Renders one of the templates that summarize.
    pub fn summary(&self, template: Template, values: &SummaryValues<'_>) -> Result<String, PromptError> {
        self.render(template, Value::from(Serde(values)))
    }

    fn add(&mut self, template: Template, text: String) -> Result<(), PromptError> {
        self.templates.add_template_owned(template.name(), text).map_err(|error| template.error(&error))
    }

    fn render(&self, template: Template, values: Value) -> Result<String, PromptError> {
        let text = self.templates.get_template(template.name()).and_then(|found| found.render(values));
        text.map(|text| text.trim().to_owned()).map_err(|error| template.error(&error))
    }
}

impl Template {
    fn error(self, error: &minijinja::Error) -> PromptError {
        let problem = match error.detail() {
            Some(detail) => format!("{}: {detail}", error.kind()),
            None => error.kind().to_string(),
        };
        PromptError::Template { name: self.name(), line: error.line().unwrap_or(0), problem }
    }
}

fn engine() -> Result<Environment<'static>, PromptError> {
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(PromptError::Engine)?;
    let mut engine = Environment::new();
    engine.set_syntax(syntax);
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    // Prompts are plain text: members' text must not be HTML-escaped.
    engine.set_auto_escape_callback(|_| AutoEscape::None);
    engine.set_fuel(Some(FUEL));
    // In debug mode, errors would contain the values and so members' text, which must not be logged.
    engine.set_debug(false);
    Ok(engine)
}

fn names() -> String {
    Template::ALL.map(Template::name).join(", ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check_refused(name: &str, text: &str, expected: Expect) {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join(name), text).expect("a file");
        let error = Prompts::load(Some(dir.path())).expect_err("refused");
        expected.assert_eq(&error.to_string().replace(&dir.path().display().to_string(), "<dir>"));
    }

    fn role(prompts: &Prompts, bot_name: &str) -> String {
        let values = RoleValues {
            bot_name,
            place: "group",
            is_private: false,
            fence: "CODE",
            numbered: true,
            language: None,
            length: "normal",
        };
        prompts.role(&values).expect("renders")
    }

    #[test]
    fn the_built_in_templates_render() {
        let prompts = Prompts::load(None).expect("loads");
        assert!(role(&prompts, "Chime").starts_with("You are Chime, a member of a Telegram group."));
    }

    #[test]
    fn a_file_replaces_its_template_and_no_other() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("role.md"), "I am {{ bot_name }}.\n").expect("a file");
        fs::write(dir.path().join("notes.txt"), "{{ not a template }}").expect("a file");
        let prompts = Prompts::load(Some(dir.path())).expect("loads");
        assert_eq!(role(&prompts, "Chime"), "I am Chime.");
        let context = ContextValues { fence: "CODE", lines: "a line", earliest: None };
        assert!(prompts.context(&context).expect("renders").contains("<<<chat CODE\na line\nCODE chat>>>"));
    }

    #[test]
    fn what_members_write_is_never_read_as_a_template() {
        let prompts = Prompts::load(None).expect("loads");
        assert!(role(&prompts, "{{ 7 * 7 }} <b>").contains("You are {{ 7 * 7 }} <b>, a member"));
    }

    #[test]
    fn an_unknown_value_is_refused_with_its_line() {
        check_refused("role.md", "You are\n{{ bot_nmae }}.", expect!["template `role.md`, line 2: undefined value"]);
    }

    #[test]
    fn a_syntax_error_is_refused_with_its_line() {
        check_refused(
            "ask.md",
            "{% if anchor %}\nnever closed",
            expect!["template `ask.md`, line 2: syntax error: unexpected end of input, expected end of block"],
        );
    }

    #[test]
    fn an_unknown_filter_is_found_at_start_even_in_a_branch() {
        check_refused(
            "ask.md",
            "{% if quoted %}\n\n{{ quoted|shout }}{% endif %}",
            expect!["template `ask.md`, line 3: unknown filter: filter shout is unknown"],
        );
    }

    #[test]
    fn a_runaway_loop_is_stopped() {
        check_refused(
            "context.md",
            "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}",
            expect!["template `context.md`, line 1: engine ran out of fuel"],
        );
    }

    #[test]
    fn a_misspelt_file_is_refused() {
        check_refused(
            "rule.md",
            "You are Chime.",
            expect![
                "<dir>/rule.md replaces no template: there are role.md, plain.md, strict.md, slot.md, concepts.md, capture.md, frame.md, recall.md, context.md, ask.md, mini_summary.md, tags.md, recent.md, history.md, recap.md, thread.md, topic.md, infer_topic.md"
            ],
        );
    }

    #[test]
    fn a_missing_folder_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let error = Prompts::load(Some(&dir.path().join("absent"))).expect_err("refused");
        assert!(matches!(error, PromptError::Unreadable { .. }), "{error}");
    }
}
