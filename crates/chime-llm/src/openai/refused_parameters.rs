//! Chooses the dialect to try next for a prompt after each refusal.

use crate::diagnose::{is_about_pictures, is_unexplained, named, sees_nothing};
use crate::dialect::Dialect;
use crate::failure::ServerFailure;
use crate::{AnswerFormat, Prompt};

/// A part of a request that can be omitted, or sent in another form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suspect {
    Temperature,
    Format,
    Counting,
    Tools,
    System,
    Limit,
}

/// State of the attempts to send one prompt: the dialect to use, and what the refusals so far showed.
#[derive(Debug)]
pub struct Attempts {
    pub dialect: Dialect,
    /// `true` if the server said that the model accepts no pictures at all.
    pub sees_nothing: bool,
    learnt: Dialect,
    /// The first refusal without a reason. After it, all optional parameters are omitted.
    unexplained: Option<ServerFailure>,
}

impl Suspect {
    /// Likeliest causes of a refusal first.
    const ALL: [Self; 6] = [Self::Temperature, Self::Format, Self::Counting, Self::Tools, Self::System, Self::Limit];

    fn is_in(self, prompt: &Prompt, dialect: Dialect) -> bool {
        match self {
            Self::Temperature => prompt.temperature.is_some() && !dialect.default_temperature,
            Self::Format => prompt.format != AnswerFormat::Text && !dialect.free_form,
            Self::Counting => !dialect.uncounted_stream,
            Self::Tools => prompt.tools.are_offered() && !dialect.no_tools,
            Self::System => prompt.has_system() && !dialect.no_system,
            Self::Limit => !dialect.no_limit,
        }
    }

    fn left_out(self, dialect: Dialect) -> Dialect {
        match self {
            Self::Temperature => Dialect { default_temperature: true, ..dialect },
            Self::Format => Dialect { free_form: true, ..dialect },
            Self::Counting => Dialect { uncounted_stream: true, ..dialect },
            Self::Tools => Dialect { no_tools: true, ..dialect },
            Self::System => Dialect { no_system: true, ..dialect },
            Self::Limit => Dialect { no_limit: true, ..dialect },
        }
    }
}

impl Attempts {
    /// Starts with the known dialect of the model. If omitting all optional parameters helped before, each call omits
    /// one of them until the refused one is found.
    pub fn new(learnt: Dialect, prompt: &Prompt) -> Self {
        let suspect = Suspect::ALL.get(learnt.suspect.wrapping_sub(1)).filter(|it| it.is_in(prompt, learnt));
        let dialect = suspect.map_or(learnt, |suspect| suspect.left_out(learnt));
        Self { dialect, sees_nothing: false, learnt, unexplained: None }
    }

    /// Returns `true` until a refusal without a reason.
    pub fn is_first(&self) -> bool {
        self.unexplained.is_none()
    }

    /// Chooses the dialect to try after `failure`. Terminates, because an omitted parameter never returns within one
    /// call.
    ///
    /// # Errors
    /// The failure to report if no other dialect may help.
    pub fn refused(&mut self, failure: ServerFailure, prompt: &Prompt) -> Result<(), ServerFailure> {
        let spoken = self.dialect;
        if let Some(other) = named(&failure, spoken, prompt) {
            // A refusal of this picture says nothing about others. Later prompts omit pictures only if the model
            // accepts none.
            self.sees_nothing |= is_about_pictures(other, spoken) && sees_nothing(&failure);
            self.dialect = other;
            return Ok(());
        }
        let others = Suspect::ALL.into_iter().filter(|it| it.is_in(prompt, spoken));
        let is_about_forms = matches!(&failure, ServerFailure::Refusal(refusal) if refusal.status >= 500);
        let others: Vec<Suspect> = others.filter(|it| !is_about_forms || *it == Suspect::Format).collect();
        if self.unexplained.is_some() || others.is_empty() || !is_unexplained(&failure, spoken) {
            // Reports the first refusal, of the full request. The later one only concerns our guess.
            return Err(self.unexplained.take().unwrap_or(failure));
        }
        self.dialect = others.into_iter().fold(spoken, |dialect, optional| optional.left_out(dialect));
        self.unexplained = Some(failure);
        Ok(())
    }

    /// Returns the dialect for later prompts, after the server accepted the current one. Starts or continues the search
    /// for the refused parameter if several were omitted.
    pub fn accepted(&self, prompt: &Prompt) -> Dialect {
        let takes_forms = self.dialect.takes_forms || Suspect::Format.is_in(prompt, self.dialect);
        let dialect = Dialect { takes_forms, suspect: 0, ..self.dialect };
        let is_in = |it: &Suspect| it.is_in(prompt, self.learnt) && !it.is_in(prompt, self.dialect);
        match self.unexplained {
            Some(_) if Suspect::ALL.iter().filter(|it| is_in(it)).count() > 1 => {
                let next = (self.learnt.suspect..Suspect::ALL.len()).find(|at| is_in(&Suspect::ALL[*at]));
                next.map_or(dialect, |next| Dialect { suspect: next + 1, ..self.learnt })
            }
            _ => dialect,
        }
    }
}
