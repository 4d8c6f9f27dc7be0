//! The chats inside the program.

use clap::ValueEnum;

/// A chat to open the demo with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Bundled {
    /// Two matters interleave over three days
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

    /// What the demo asks by itself when people watch.
    pub fn first_question(self) -> &'static str {
        match self {
            Self::Friday => "@bot thoughts?",
            Self::Books => "@bot more",
        }
    }

    /// What may be typed next.
    pub fn closing(self) -> &'static str {
        match self {
            Self::Friday => FRIDAY_CLOSING,
            Self::Books => BOOKS_CLOSING,
        }
    }
}

const FRIDAY_CLOSING: &str = "
Your turn: type @bot with or without a question, `> 22 @bot` to reply to message 22, `Ana: …` to speak as Ana,
`> ID /why` to see what an answer rests on, or `/help`, `/privacy`. `help` shows this again, `quit` ends.
";

const BOOKS_CLOSING: &str = "
Your turn: `@bot cheaper`, `@bot what about the second one?`, `@bot something by the same author`, `> 5 more` to go on
with message 5, `Ana: …` to speak as Ana, or `> ID /why` to see how an ask was read. `help` shows this again, `quit` ends.
";
