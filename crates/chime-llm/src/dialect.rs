//! Which form of a request a model takes. The default suits most servers, and refusals teach the rest.

use crate::diagnose::{is_about_pictures, is_unexplained, named, sees_nothing};
use crate::transport::Failure;
use crate::{AnswerFormat, Prompt};

/// A form of the request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dialect {
    /// The limit is called `max_completion_tokens`: OpenAI's reasoning models refuse the older name.
    pub completion_limit: bool,
    /// No temperature but the default one is accepted.
    pub default_temperature: bool,
    /// The form of the answer cannot be asked for beside the prompt.
    pub free_form: bool,
    /// A stream cannot be asked to count its tokens.
    pub uncounted_stream: bool,
    /// Tools cannot be offered.
    pub no_tools: bool,
    /// Pictures cannot be shown.
    pub no_pictures: bool,
    /// There is no place for rules but the first message, and speakers alternate.
    pub no_system: bool,
    /// The model's thoughts must come back with the calls that they led to.
    pub wants_thoughts: bool,
    /// A form was asked for and accepted: what fails later has another cause.
    pub takes_forms: bool,
    /// How many optional parameters were left out one by one, since leaving out all of them helped.
    pub suspect: usize,
}

/// A parameter that an answer can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Optional {
    Temperature,
    Format,
    Counting,
    Tools,
}

/// One prompt on its way to a model: the form that is tried, and what refusals of other forms have taught.
#[derive(Debug)]
pub struct Attempts {
    pub dialect: Dialect,
    /// The model takes no picture at all, by the word of its server.
    pub sees_nothing: bool,
    learnt: Dialect,
    /// A refusal that named no reason. All optional parameters were left out after it.
    unexplained: Option<Failure>,
}

impl Optional {
    /// The likelier culprits first.
    const ALL: [Self; 4] = [Self::Temperature, Self::Format, Self::Counting, Self::Tools];

    fn is_in(self, prompt: &Prompt, dialect: Dialect) -> bool {
        match self {
            Self::Temperature => prompt.temperature.is_some() && !dialect.default_temperature,
            Self::Format => prompt.format != AnswerFormat::Text && !dialect.free_form,
            Self::Counting => !dialect.uncounted_stream,
            Self::Tools => prompt.tools.are_offered() && !dialect.no_tools,
        }
    }

    fn left_out(self, dialect: Dialect) -> Dialect {
        match self {
            Self::Temperature => Dialect { default_temperature: true, ..dialect },
            Self::Format => Dialect { free_form: true, ..dialect },
            Self::Counting => Dialect { uncounted_stream: true, ..dialect },
            Self::Tools => Dialect { no_tools: true, ..dialect },
        }
    }
}

impl Attempts {
    /// Begins with what is known of the model. Once leaving out everything optional has helped, one parameter a call is left
    /// out until the one is found that was refused.
    pub fn new(learnt: Dialect, prompt: &Prompt) -> Self {
        let suspect = Optional::ALL.get(learnt.suspect.wrapping_sub(1)).filter(|it| it.is_in(prompt, learnt));
        let dialect = suspect.map_or(learnt, |suspect| suspect.left_out(learnt));
        Self { dialect, sees_nothing: false, learnt, unexplained: None }
    }

    /// Chooses the form to try after `failure`. Ends, because nothing that was left out comes back within one call.
    ///
    /// # Errors
    /// The failure to report, where no other form may help.
    pub fn refused(&mut self, failure: Failure, prompt: &Prompt) -> Result<(), Failure> {
        let spoken = self.dialect;
        if let Some(other) = named(&failure, spoken, prompt) {
            // Another picture may please the model: only one that takes none at all is shown none from now on.
            self.sees_nothing |= is_about_pictures(other, spoken) && sees_nothing(&failure);
            self.dialect = other;
            return Ok(());
        }
        let others = Optional::ALL.into_iter().filter(|it| it.is_in(prompt, spoken));
        let is_about_forms = matches!(&failure, Failure::Refusal(refusal) if refusal.status >= 500);
        let others: Vec<Optional> = others.filter(|it| !is_about_forms || *it == Optional::Format).collect();
        if self.unexplained.is_some() || others.is_empty() || !is_unexplained(&failure, spoken) {
            // The first refusal says more than that of a guess.
            return Err(self.unexplained.take().unwrap_or(failure));
        }
        self.dialect = others.into_iter().fold(spoken, |dialect, optional| optional.left_out(dialect));
        self.unexplained = Some(failure);
        Ok(())
    }

    /// The form to ask in from now on, after this one was accepted.
    pub fn accepted(&self, prompt: &Prompt) -> Dialect {
        let takes_forms = self.dialect.takes_forms || Optional::Format.is_in(prompt, self.dialect);
        let dialect = Dialect { takes_forms, suspect: 0, ..self.dialect };
        let is_in = |it: &Optional| it.is_in(prompt, self.learnt) && !it.is_in(prompt, self.dialect);
        match self.unexplained {
            Some(_) if Optional::ALL.iter().filter(|it| is_in(it)).count() > 1 => {
                let next = (self.learnt.suspect..Optional::ALL.len()).find(|at| is_in(&Optional::ALL[*at]));
                next.map_or(dialect, |next| Dialect { suspect: next + 1, ..self.learnt })
            }
            _ => dialect,
        }
    }
}
