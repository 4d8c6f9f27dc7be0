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

    /// Returns a model's answer to the first question, for users without a model. It was written by hand.
    pub fn example_answer(self) -> &'static str {
        match self {
            Self::Friday => FRIDAY_EXAMPLE,
            Self::Books => BOOKS_EXAMPLE,
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

const FRIDAY_EXAMPLE: &str = "
With a model the same tag gets an answer in sentences. An example, written for this demo;
in Telegram each number opens its message:

            The thai restaurant on 10th Ave [1] suits you: it has a garden, and half of the menu is without meat [2],
            which Carl's sister needs [3]. Lunch with a drink was 24 [4], so dinner may stay under 30 a head [5], but
            nobody knows yet. Friday at seven is fine with Carl [6]; somebody has to ask for a table for nine.

            Sources: [1] Carl #22 · [2] Ana #24 · [3] Ana #7 · [4] Carl #26 · [5] Carl #11 · [6] Carl #30";

const BOOKS_EXAMPLE: &str = "
With a model the same tag gets more suggestions, none of them twice. An example, written for this demo:

            1. The Last Unicorn by Peter S. Beagle – a unicorn, a harpy and a bull of fire, 11 €
            2. The Dispossessed by Ursula K. Le Guin – spaceships, and much to think about on a train, 12 €
            3. Binti by Nnedi Okorafor – a spaceship, and short, 9 €";

const FRIDAY_CLOSING: &str = "
Your turn: type @bot with or without a question, `> {named} @bot` to reply to message {named}, `Ana: …` to speak as Ana,
`> ID /why` to see what an answer rests on. You created this chat: `/recap 2d`, `/note …`, `/settings`, `/help` work too.
`help` shows this again, `quit` ends.
";

const BOOKS_CLOSING: &str = "
Your turn: `@bot cheaper`, `@bot what about the second one?`, `@bot something by the same author`, `> {named} more` to go on
with message {named}, `Ana: …` to speak as Ana, or `> ID /why` to see how an ask was read. `help` shows this again, `quit` ends.
";
