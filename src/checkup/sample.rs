//! Made-up chat, a question about it, and the check of the answer. Pure.

use chime_answer::prompt::Style;
use chime_core::prompts::{AskValues, ContextValues, PromptError, Prompts, RoleValues};
use chime_llm::{Prompt, PromptMessage, PromptRole};

/// Authors and texts of the messages. One message has the answer; the others have other numbers, so that guessing
/// fails.
const TALK: [(&str, &str); 8] = [
    ("Ana", "The hostel at the lake answered: they keep a room with 6 beds for us until Sunday evening."),
    ("Ben", "Good, I'd rather sleep there than in the tents again. Last year everything was wet by morning."),
    ("Carla", "What does it cost? I have 90 euros for the whole weekend, with the ferry and the food."),
    ("Ana", "The room is 34 euros a person for both nights. Breakfast is not included, but there is a kitchen."),
    ("Ben", "Fine with me. The ferry leaves at 9:15 on Friday, so let's meet at the harbour at half past eight."),
    ("Dan", "I come by car and can take three of you and the bags. The others go by bus number 7."),
    ("Carla", "Then I take the bus, and I bring the big pot, and coffee for everybody."),
    ("Ana", "I'll write to the hostel tonight that all of us come, and that one of us eats no meat."),
];
/// Number of the message with the answer, counted from 1.
const SOURCE: usize = 4;
/// Number that the answer must contain.
pub const ANSWER: &str = "34";
/// Enough tokens for an answer in words.
const MAX_ANSWER_TOKENS: u32 = 300;
/// Temperature that answers in chats have too.
const TEMPERATURE: f32 = 0.2;
const FENCE: &str = "K7Q2X9";

/// Language in which the question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleLanguage {
    English,
    German,
}

/// Kind of citations in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cited {
    /// The prompt did not ask for citations.
    NotWanted,
    Nothing,
    Source,
    AnotherMessage,
}

impl SampleLanguage {
    fn question(self) -> &'static str {
        match self {
            Self::English => "How much does the room cost for each of us?",
            Self::German => "Was kostet das Zimmer für jeden von uns?",
        }
    }

    /// Returns words that answers in this language probably contain.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::English => {
                &["the", "a", "per", "each", "of", "for", "is", "costs", "cost", "room", "you", "it", "both"]
            }
            Self::German => {
                &["das", "die", "der", "pro", "je", "jeden", "für", "ist", "kostet", "zimmer", "euch", "es"]
            }
        }
    }

    fn language(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "German",
        }
    }
}

/// Builds the prompt for the question, as for an answer in a group. `style` depends on the size of the model.
///
/// # Errors
/// Fails if a template does not render.
pub fn prompt(prompts: &Prompts, style: Style, asked: SampleLanguage) -> Result<Prompt, PromptError> {
    let language = Some(asked.language());
    let numbered = style == Style::Numbered;
    let role = RoleValues {
        bot_name: "Chime",
        place: "group called \"Weekend\"",
        is_private: false,
        fence: FENCE,
        numbered,
        language,
        length: "normal",
    };
    let (system, user) = match style {
        Style::Plain => {
            let talk = TALK.map(|(name, text)| format!("{name}: {text}")).join("\n");
            let user = format!("<<<chat {FENCE}\n{talk}\nQuestion: {}\n{FENCE} chat>>>", asked.question());
            (prompts.plain(&role)?, user)
        }
        Style::Numbered => {
            let line =
                |(number, (name, text)): (usize, (&str, &str))| format!("[{number}] {name} (18:0{number}): {text}");
            let lines: Vec<String> = (1..).zip(TALK).map(line).collect();
            let talk = prompts.context(&ContextValues { fence: FENCE, lines: &lines.join("\n"), earliest: None })?;
            (prompts.role(&role)?, format!("{talk}\n\n{}", ask(prompts, asked)?))
        }
    };
    let message = |role, content| PromptMessage { role, content };
    let messages = vec![message(PromptRole::System, system), message(PromptRole::User, user)];
    Ok(Prompt { temperature: Some(TEMPERATURE), ..Prompt::new(messages, MAX_ANSWER_TOKENS) })
}

fn ask(prompts: &Prompts, asked: SampleLanguage) -> Result<String, PromptError> {
    prompts.ask(&AskValues {
        fence: FENCE,
        today: "Monday 5 January 2026",
        time: "18:12",
        zone: "UTC",
        asker: "Eve",
        ask: &format!("Eve: {}", asked.question()),
        has_words: true,
        language: Some(asked.language()),
        ..AskValues::default()
    })
}

/// Returns `true` if an answer contains the right number and may be in the language of the question.
pub fn is_right(answer: &str, asked: SampleLanguage) -> bool {
    answer.split(|c: char| !c.is_ascii_digit()).any(|number| number == ANSWER) && may_be_in(answer, asked)
}

/// Returns `true` if an answer may be in the language, judged by its frequent words. Language detectors need longer
/// texts.
fn may_be_in(answer: &str, asked: SampleLanguage) -> bool {
    /// An answer with fewer words, such as `34 Euro`, may be in any language.
    const FEW: usize = 3;
    let lower = answer.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    let count = |asked: SampleLanguage| words.iter().filter(|word| asked.words().contains(word)).count();
    let (own, others) = match asked {
        SampleLanguage::English => (count(SampleLanguage::English), count(SampleLanguage::German)),
        SampleLanguage::German => (count(SampleLanguage::German), count(SampleLanguage::English)),
    };
    let is_latin = answer.chars().all(|c| !c.is_alphabetic() || c < '\u{250}');
    is_latin && own >= others && (own > 0 || words.len() < FEW)
}

/// Returns the kind of citations in an answer.
pub fn cited(answer: &str, style: Style) -> Cited {
    let numbers = || (1..=TALK.len()).filter(|number| answer.contains(&format!("[{number}]")));
    match style {
        Style::Plain => Cited::NotWanted,
        Style::Numbered if numbers().any(|number| number == SOURCE) => Cited::Source,
        Style::Numbered if numbers().next().is_some() => Cited::AnotherMessage,
        Style::Numbered => Cited::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(style: Style, asked: SampleLanguage) -> String {
        let prompt = prompt(&Prompts::load(None).expect("templates"), style, asked).expect("a prompt");
        prompt.messages.into_iter().map(|message| message.content).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_question_is_asked_as_in_a_group() {
        let plain = text(Style::Plain, SampleLanguage::German);
        assert!(plain.contains("in German") && plain.contains("\nQuestion: Was kostet"), "{plain}");
        assert!(!plain.contains("[4]"), "{plain}");
        let numbered = text(Style::Numbered, SampleLanguage::English);
        assert!(numbered.contains("\n[4] Ana (18:04): The room is 34 euros"), "{numbered}");
        assert!(numbered.contains("like [4]") && numbered.contains("Eve: How much"), "{numbered}");
        let holding = TALK.iter().filter(|(_, text)| is_right(text, SampleLanguage::English)).count();
        assert_eq!(holding, 1, "one message holds the answer");
        assert!(is_right(TALK[SOURCE - 1].1, SampleLanguage::English));
    }

    #[test]
    fn the_number_makes_an_answer_right_and_its_language_does() {
        for (answer, is_english, is_german) in [
            ("The room costs 34 euros for each of you [4].", true, false),
            ("Das Zimmer kostet 34 Euro pro Person für beide Nächte.", false, true),
            ("Das Zimmer kostet 34 Euro pro Person [4].", false, true),
            ("34 Euro pro Person", false, true),
            ("34 euros a person", true, false),
            ("每人34欧元", false, false),
            ("34 euros.", true, true),
            ("34", true, true),
            ("340 euros.", false, false),
            ("Carla has 90 euros for the weekend.", false, false),
            ("", false, false),
        ] {
            let shown = [SampleLanguage::English, SampleLanguage::German].map(|asked| is_right(answer, asked));
            assert_eq!(shown, [is_english, is_german], "{answer}");
        }
    }

    #[test]
    fn citations_are_told_from_numbers() {
        assert_eq!(cited("34 euros [4].", Style::Numbered), Cited::Source);
        assert_eq!(cited("34 euros [3].", Style::Numbered), Cited::AnotherMessage);
        assert_eq!(cited("34 euros, [see] above.", Style::Numbered), Cited::Nothing);
        assert_eq!(cited("34 euros [4].", Style::Plain), Cited::NotWanted);
    }
}
