//! Chats that are part of the program.

use clap::ValueEnum;

/// Chat to open the demo with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Bundled {
    /// Two subjects interleave over three days
    #[default]
    Friday,
    /// The bot has suggested books: try "@bot more", "@bot cheaper", "@bot what about the second one?"
    Books,
}

impl Bundled {
    pub fn text(self) -> &'static str {
        match self {
            Self::Friday => include_str!("friday.txt"),
            Self::Books => include_str!("books.txt"),
        }
    }

    /// Returns the question that the demo asks at the start, if it runs in a terminal.
    pub fn first_question(self) -> &'static str {
        match self {
            Self::Friday => "@bot thoughts?",
            Self::Books => "@bot more",
        }
    }

    /// Returns a question in this chat and the answer of a model, as recorded in a demo with that model.
    pub fn recorded_answer(self) -> Option<&'static str> {
        match self {
            Self::Friday => Some(include_str!("friday-answer.txt")),
            Self::Books => None,
        }
    }

    /// Returns examples of lines to type next. `first` is the id of the chat's first message, from which ids in the
    /// examples are counted.
    pub fn closing(self, first: i64) -> String {
        let (text, named) = match self {
            Self::Friday => (FRIDAY_CLOSING, 22),
            Self::Books => (BOOKS_CLOSING, 5),
        };
        text.replace("{named}", &(first - 1 + named).to_string())
    }
}

const FRIDAY_CLOSING: &str = "
Your turn:

  @bot, with or without a question
  > {named} @bot        replies to message {named} and tags the bot
  > ID /why        shows what an answer rests on
  Ana: …           speaks as Ana
  /recap 2d, /note …, /settings, /help work too: you created this chat
  help             shows this again; quit ends
";

const BOOKS_CLOSING: &str = "
Your turn:

  @bot cheaper
  @bot what about the second one?
  @bot something by the same author
  > {named} more         goes on with message {named}
  > ID /why        shows how a question was understood
  Ana: …           speaks as Ana
  help             shows this again; quit ends
";
