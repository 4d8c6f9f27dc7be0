//! Finds the shown item that a question is about: "is The Hobbit good for kids?"

use crate::followup::words::{fold, tokens};
use chime_core::Item;

/// A title of one word is searched in a question only if it has more characters than this.
const SINGLE_WORD_CHARS: usize = 4;
/// A word of a longer title is significant only if it has more characters than this.
const SIGNIFICANT_CHARS: usize = 3;

/// Returns the items whose titles the question mentions. Of titles with a word in common, only those of which it has the
/// most words are returned.
pub fn mentioned<'i>(ask: &str, items: &'i [Item]) -> Vec<&'i Item> {
    let ask = fold(ask);
    let mut found: Vec<(&Item, Vec<String>)> = Vec::new();
    for item in items {
        let Some(words) = mention(&ask, item.title()) else { continue };
        if !found.iter().any(|(other, _)| fold(other.title()) == fold(item.title())) {
            found.push((item, words));
        }
    }
    let is_weaker = |words: &Vec<String>| {
        let shares = |other: &Vec<String>| other.len() > words.len() && words.iter().any(|word| other.contains(word));
        found.iter().any(|(_, other)| shares(other))
    };
    found.iter().filter(|(_, words)| !is_weaker(words)).map(|(item, _)| *item).collect()
}

/// Returns `true` if the question mentions the title of one of the items, or a significant part of it.
pub fn names_items(ask: &str, items: &[Item]) -> bool {
    !mentioned(ask, items).is_empty()
}

/// Returns `true` if the question mentions an item by two significant words of its title, or in capitals: "at the
/// station" need not mean a restaurant named "The Station".
pub fn surely_names_items(ask: &str, items: &[Item]) -> bool {
    let asked = tokens(ask);
    let is_sure = |item: &Item| {
        let words: Vec<&str> =
            item.title().split_whitespace().filter(|word| word.chars().count() > SIGNIFICANT_CHARS).collect();
        let is_said = |word: &&&str| asked.iter().any(|said| said.word == fold(word));
        let is_capital = |word: &&str| word.starts_with(char::is_uppercase) && ask.contains(word);
        words.iter().filter(is_said).count() > 1 || words.iter().any(is_capital)
    };
    mentioned(ask, items).into_iter().any(is_sure)
}

/// Returns the only item whose title has a significant word of the question.
pub fn item_with_word<'i>(ask: &str, items: &'i [Item]) -> Option<&'i Item> {
    let asked = tokens(ask);
    let has = |item: &&Item| {
        let title = tokens(item.title());
        let is_said = |word: &str| word.chars().count() > SIGNIFICANT_CHARS && asked.iter().any(|it| it.word == word);
        title.iter().any(|token| is_said(&token.word))
    };
    let mut found = items.iter().filter(has);
    found.next().filter(|_| found.next().is_none())
}

/// Returns the words of the title in a question, if they are enough to mean it.
fn mention(ask: &str, title: &str) -> Option<Vec<String>> {
    let title = fold(title);
    let words: Vec<&str> = title.split(' ').collect();
    let asked: Vec<&str> = ask.split(' ').collect();
    // Words in the question may have endings: "Hobbiti", "the Hobbit's".
    let has = |word: &str| {
        asked.iter().any(|said| *said == word || word.chars().count() > SINGLE_WORD_CHARS && said.starts_with(word))
    };
    if words.len() > 1 && asked.windows(words.len()).any(|window| window == words) {
        return Some(words.into_iter().map(str::to_owned).collect());
    }
    // A short title alone, such as "Dune" or "It", could be any word.
    let chars = if words.len() == 1 { SINGLE_WORD_CHARS } else { SIGNIFICANT_CHARS };
    let significant: Vec<&str> = words.into_iter().filter(|word| word.chars().count() > chars).collect();
    let is_telling = significant.len() > 1 || significant.iter().any(|word| word.chars().count() > SINGLE_WORD_CHARS);
    let needed = significant.len().min(2).max(significant.len() / 2);
    let hits: Vec<String> = significant.into_iter().filter(|word| has(word)).map(str::to_owned).collect();
    (is_telling && hits.len() >= needed).then_some(hits)
}

/// Returns `true` if the question has words and a question mark.
pub fn has_question_mark(ask: &str) -> bool {
    ask.contains(['?', '？', ';']) && !tokens(ask).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chime_core::{AnswerId, ItemId, Suggested};

    fn items(titles: &[&str]) -> Vec<Item> {
        let id = |position| ItemId { answer: AnswerId(ulid::Ulid(1)), position };
        let item = |(position, title): (u32, &&str)| Item {
            id: id(position),
            shown: Suggested { title: (*title).to_owned(), ..Suggested::default() },
        };
        (1..).zip(titles).map(item).collect()
    }

    fn check(ask: &str, titles: &[&str], expected: &[&str]) {
        let items = items(titles);
        let found: Vec<&str> = mentioned(ask, &items).into_iter().map(Item::title).collect();
        assert_eq!(found, expected, "{ask}");
    }

    #[test]
    fn titles_are_found_as_the_seed_says() {
        let shelf = ["Hobbit", "The Name of the Wind", "Dune", "Sõrmuste isand", "Kevade", "Café Noir"];
        check("Kas Hobbit sobib lapsele?", &shelf, &["Hobbit"]);
        check("kas hobbiti keel on raske?", &shelf, &["Hobbit"]);
        check("is the name of the wind long?", &shelf, &["The Name of the Wind"]);
        check("is that wind name thing finished?", &shelf, &["The Name of the Wind"]);
        check("kas sormuste isand on eesti keeles?", &shelf, &["Sõrmuste isand"]);
        check("how is cafe noir?", &shelf, &["Café Noir"]);
        check("is dune long?", &shelf, &[]);
        check("which day?", &shelf, &[]);
    }

    #[test]
    fn a_full_title_beats_shared_words() {
        check("is Blue Moon Rising good?", &["Blue Moon Rising", "Blue Moon Setting"], &["Blue Moon Rising"]);
    }
}
