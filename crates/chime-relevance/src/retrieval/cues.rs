//! Recognises by their phrases that a text tells of a decision, a task, a plan or something finished. The phrases are
//! in the table `cues` of each language.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use chime_core::lang::{LanguageFile, tables};
use chime_core::trigger::Languages;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CueLists {
    settled: Vec<String>,
    taken: Vec<String>,
    states: Vec<String>,
    planned: Vec<String>,
    done: Vec<String>,
    passing: Vec<String>,
    guesses: Vec<String>,
    momentary: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cues {
    /// `true` if the text tells of a choice that was made.
    pub settled: bool,
    /// `true` if somebody took on a task.
    pub taken: bool,
    /// `true` if there is a plan, a rule or a date.
    pub planned: bool,
    /// `true` if something is finished.
    pub done: bool,
    /// `true` if the text begins like one about its author's moment, or about the message before.
    pub passing: bool,
    /// `true` if the text depends on its moment: on its author or reader, on a guess, or on what is seen.
    pub momentary: bool,
}

impl Cues {
    /// Returns `true` if something was settled, taken on or finished.
    pub fn tells_outcome(self) -> bool {
        self.settled || self.taken || self.done
    }
}

/// Regular expressions, one for each list.
struct Patterns {
    settled: Regex,
    taken: Regex,
    /// Forms of `taken` that promise nothing; `None` if the language has none.
    states: Option<Regex>,
    planned: Regex,
    done: Regex,
    passing: Regex,
    guesses: Regex,
    momentary: Regex,
}

pub fn cues(text: &str) -> Cues {
    static PATTERNS: LazyLock<Vec<(&str, Patterns)>> = LazyLock::new(|| {
        let of = |(language, lists): (&'static LanguageFile, CueLists)| (language.short.as_str(), Patterns::of(&lists));
        tables("cues").into_iter().map(of).collect()
    });
    // German "fix" is a decision, English "fix" is not.
    let likely = Languages::shipped().likely_codes(text);
    let text = padded(text);
    let patterns: Vec<&Patterns> =
        PATTERNS.iter().filter(|(code, _)| likely.contains(code)).map(|(_, patterns)| patterns).collect();
    let any = |of: fn(&Patterns) -> &Regex| patterns.iter().any(|patterns| of(patterns).is_match(&text));
    Cues {
        settled: patterns.iter().any(|it| it.tells_choice(&text)),
        taken: patterns.iter().any(|it| it.tells_promise(&text)),
        planned: any(|it| &it.planned),
        done: any(|it| &it.done),
        passing: any(|it| &it.passing),
        momentary: any(|it| &it.momentary) || any(|it| &it.guesses),
    }
}

impl Patterns {
    fn of(lists: &CueLists) -> Self {
        let CueLists { settled, taken, states, planned, done, passing, guesses, momentary } = lists;
        let anywhere = |cues| any_of(cues, " ");
        Self {
            settled: anywhere(settled),
            taken: anywhere(taken),
            states: (!states.is_empty()).then(|| anywhere(states)),
            planned: anywhere(planned),
            done: anywhere(done),
            passing: any_of(passing, r"\A "),
            guesses: anywhere(guesses),
            momentary: anywhere(momentary),
        }
    }

    fn tells_choice(&self, text: &str) -> bool {
        text.lines().any(|sentence| self.settled.is_match(sentence) && !self.guesses.is_match(sentence))
    }

    fn tells_promise(&self, text: &str) -> bool {
        let told = self.states.as_ref().map_or(text.into(), |states| states.replace_all(text, " "));
        self.taken.is_match(&told)
    }
}

/// Builds a pattern that matches any cue after `start`, or at the start of a sentence if the cue begins with `^`.
/// Without a dot at its end, a cue matches with any ending of that word.
#[expect(clippy::expect_used, reason = "the cues are escaped, and the tests compile them")]
fn any_of(cues: &[String], start: &str) -> Regex {
    let one = |cue: &String| {
        let (start, cue) = cue.strip_prefix('^').map_or((start, cue.as_str()), |cue| ("(?m:^) ", cue));
        match cue.strip_suffix('.') {
            Some(whole) => format!("{start}{} ", regex::escape(whole)),
            None => format!("{start}{}", regex::escape(cue)),
        }
    };
    Regex::new(&cues.iter().map(one).collect::<Vec<_>>().join("|")).expect("a valid pattern")
}

/// Converts a text to lower-case words, with one space before, between and after them, and each sentence on a line.
fn padded(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let sentence = |sentence: &str| {
        let words: Vec<&str> =
            sentence.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty()).collect();
        format!(" {} ", words.join(" "))
    };
    lower.split(['.', '!', '?', '\n']).map(sentence).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, settled: bool, taken: bool, planned: bool) {
        let expected = Cues { settled, taken, planned, ..Cues::default() };
        assert_eq!(Cues { done: false, passing: false, momentary: false, ..cues(text) }, expected, "{text}");
    }

    #[test]
    fn texts_about_the_moment_or_the_message_before_are_recognised() {
        let passing = |text| cues(text).passing;
        assert!(passing("I'm on the train") && passing("Ich bin gleich da") && passing("я сейчас в метро"));
        assert!(cues("The train is late, maybe").momentary && !cues("The train is late").momentary);
        assert!(!passing("The train leaves from platform 4") && !passing("Der Zug fährt von Gleis 4"));
    }

    #[test]
    fn english_participles_are_choices_only_as_what_somebody_did() {
        check("Booked the thai place", true, false, false);
        check("the thai place is booked", true, false, false);
        check("an ordered list of signed integers", false, false, false);
        check("cherry picked the change, see the approved list", false, false, false);
    }

    #[test]
    fn what_is_bought_or_paid_is_done_and_no_choice() {
        for text in [
            "We bought the big tent",
            "I paid the deposit",
            "Ich habe das Zelt gekauft",
            "Ya compré la tienda",
            "Я купил палатку",
            "Я купила палатку",
            "Ho comprato la tenda",
        ] {
            assert!(cues(text).done && !cues(text).settled, "{text}");
        }
    }

    #[test]
    fn choices_tasks_and_plans_are_told_apart_in_several_languages() {
        check("Going for foghorns.", true, false, false);
        check("I’ll bring the tent", false, true, false);
        check("We decided to meet today", true, false, false);
        check("Do we decide today?", false, false, false);
        check("Составлю жалобу", false, true, false);
        check("wir nehmen den grünen", true, false, false);
        check("Hääletame reedeni", true, false, true);
        check("Maybe we picked it up", false, false, false);
        check("Vielleicht gebucht, ich weiß nicht", false, false, false);
        check("Maybe it rains. We booked the hut", true, false, false);
        check("I'll be heading out in an hour", false, false, false);
        check("We'll be late, I'll bring the bread", false, true, false);
        check("finally some rain", false, false, false);
        check("the weather is nice", false, false, false);
    }

    #[test]
    fn what_is_announced_as_decided_is_a_choice_in_every_language() {
        for text in [
            "Decided: the barrier comes, 2500 each until 10 December",
            "Entschieden: Die Schranke kommt, 2500 pro Wohnung bis 10. Dezember",
            "Decidido: la barrera se pone, 2500 por piso hasta el 10 de diciembre",
            "Otsustatud: tõkkepuu tuleb, 2500 korteri kohta kuni 10. detsembrini",
            "Décidé : la barrière vient, 2500 par appartement jusqu'au 10 décembre",
            "Deciso: la sbarra si mette, 2500 a testa fino al 10 dicembre",
            "Besloten: de slagboom komt er, 2500 per woning tot 10 december",
            "Postanowione: szlaban będzie, po 2500 od mieszkania do 10 grudnia",
            "Fica decidido: a cancela vem, 2500 por casa até 10 de dezembro",
            "Решили: шлагбаум ставим, по 2500 с квартиры до 10 декабря",
            "Karar verildi: bariyer kurulacak, 10 Aralık'a kadar daire başı 2500",
            "Вирішили: шлагбаум ставимо, по 2500 з квартири до 10 грудня",
        ] {
            assert!(cues(text).settled, "{text}");
        }
    }

    #[test]
    fn a_promise_of_two_words_begins_a_sentence() {
        check("On it!", false, true, false);
        check("Ok. On it.", false, true, false);
        check("I'm on it.", false, true, false);
        check("hands on it.", false, false, false);
        check("Let us focus on it.", false, false, false);
    }
}
