//! Finds the messages that support a sentence of an answer, cited by the model or not.
//!
//! A sentence is compared with each source by its words (weighted by their rarity among the sources), its numbers and
//! its embedding, if there is a model. `data/answers/support.jsonl` has labelled sentences; the test below asserts
//! precision and recall.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

use chime_core::lang::tables;
use chime_core::trigger::{Languages, calls_bot, ends_like_question, is_command};
use chime_core::{Citable, is_unspaced};

/// Characters at the start of a word that are compared (its stem). In most languages, the forms of a word share them.
const STEM_CHARS: usize = 5;
/// Minimum number of characters of a word that is compared. Numbers and ideographs may be shorter.
const MIN_WORD_CHARS: usize = 3;
/// Maximum number of letters of a unit behind a number without a space: "7pm", "80eur".
const MAX_UNIT_CHARS: usize = 3;
/// Factor for the weight of words that are also in the question. Every answer repeats some of them, so they prove
/// little.
const ASKED: f64 = 0.3;
/// Minimum probability at which a source counts as support for a sentence.
pub const SUPPORTS: f64 = 0.6;
/// Minimum probability at which a source is assigned to an answer as a whole, if none of its sentences has a source.
const LIKELY: f64 = 0.4;
/// Probability below which a citation counts as wrong, if another source supports the sentence.
pub const DOUBTFUL: f64 = 0.2;
/// Probability below which a source is certainly unrelated to the sentence: it has other numbers, or only asks. No
/// right source of the labelled sentences has less.
pub const UNRELATED: f64 = 0.02;
/// The same for the probability without the numbers, of a source that shares neither words nor meaning.
pub const SHARES_NOTHING: f64 = 0.05;
/// Features of a source for a sentence: a constant; the shares of words found in the source and in its author's name;
/// the cosine of the embeddings; 1 if all numbers differ; the share of equal numbers; 1 if the source is a question.
pub type SupportFeatures = [f64; 7];
/// Weights of the features in a logistic regression, fitted by `cargo bench --bench fit -- --support` and rounded.
pub const WEIGHTS: SupportFeatures = [-3.56, 3.88, 21.36, 3.5, -3.74, 2.71, -5.64];
/// Indexes of the share of words found in the source, of the features about numbers, and of the one that is 1 if the
/// source is a question.
const COVERED: usize = 1;
const OTHER_NUMBERS: usize = 4;
const EQUAL_NUMBERS: usize = 5;
const IS_QUESTION: usize = 6;
/// Maximum number of content words of a message whose meaning depends on others.
const TERSE: usize = 3;
/// Share of a sentence's words in a question, from which the question proposes what the sentence says.
const HALF: f64 = 0.5;
/// Factor of a word found only in the author's name, relative to one in the text.
const NAMES_COUNT: f64 = 0.5;
/// Minimum share of a sentence (by the weight of its words) that a second source must contain and the first does not.
const ADDS: f64 = 0.35;

#[derive(Deserialize)]
struct NumberWords {
    /// Words for 2 to 12, each perhaps several with spaces between, or empty.
    numbers: Vec<String>,
}

/// Digits by the word for them, in all languages.
static NUMBERS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let lists = tables::<NumberWords>("support").into_iter().flat_map(|(_, lists)| (2..).zip(lists.numbers));
    let words = |(number, words): (u32, String)| {
        words.split_whitespace().map(|word| (word.to_owned(), number.to_string())).collect::<Vec<_>>()
    };
    lists.flat_map(words).collect()
});

/// Returns the content words of a text as stems. Numbers are converted to digits and written in one way, so `8:00`, `8` and
/// `eight` are equal.
pub fn content_words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let stem = |word: &str| {
        if let Some(number) = NUMBERS.get(word) {
            return Some(number.clone());
        }
        let is_ideograph = word.chars().all(|c| ('\u{2e80}'..='\u{9fff}').contains(&c));
        let is_telling = is_ideograph
            || word.chars().count() >= MIN_WORD_CHARS && !Languages::shipped().is_stop_word_in(word, &lower);
        is_telling.then(|| word.chars().take(STEM_CHARS).collect())
    };
    // Mentions of members are not content.
    let said = lower.split_whitespace().filter(|word| !word.starts_with('@'));
    let words = said.flat_map(UnicodeSegmentation::unicode_words).filter(|word| !has_ascii_digit(word));
    words.map(without_possessive).filter_map(stem).chain(numbers(&lower)).collect()
}

/// Converts "Ana's" to "Ana".
fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

/// Returns `true` if a text contains a number, in digits or as a word.
pub fn has_number(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.unicode_words().any(|word| NUMBERS.contains_key(word) || word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the numbers of a text: digits with points, commas or colons inside, also before a unit ("7pm"), each as a
/// [`plain_number`]. Other words with digits ("48B12") are returned as they are.
fn numbers(text: &str) -> impl Iterator<Item = String> + '_ {
    let ends_word = |c: char| is_unspaced(c) || !c.is_alphanumeric() && !matches!(c, '.' | ',' | ':');
    let number = |word: &str| {
        let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':'));
        if unit.chars().count() > MAX_UNIT_CHARS || !unit.chars().all(char::is_alphabetic) {
            return word.to_owned();
        }
        let digits = word[..word.len() - unit.len()].trim_end_matches(['.', ',', ':']);
        plain_number(digits).trim_start_matches('0').to_owned()
    };
    text.split(ends_word)
        .map(|word| word.trim_matches(['.', ',', ':']))
        .filter(|word| has_ascii_digit(word))
        .map(number)
        .filter(|number| !number.is_empty())
}

/// Writes a number in one way: `9:40` as `9.40`, `1,500` and `1.500` as `1500`, `20.00` as `20`.
fn plain_number(word: &str) -> String {
    let parts: Vec<&str> = word.split([':', '.', ',']).collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    match parts.as_slice() {
        parts if !parts.iter().all(is_number) => word.replace(':', "."),
        [whole, thousands @ ..] if thousands.iter().all(|part| part.len() == 3) => {
            [&[*whole], thousands].concat().concat()
        }
        [whole, "00"] => (*whole).to_owned(),
        parts => parts.join("."),
    }
}

/// Function that returns the embedding of a text, or an empty vector if there is no embedding model.
pub type Embed<'a> = &'a (dyn Fn(&str) -> Vec<f32> + Sync);

/// Sources prepared for comparison with sentences.
pub struct Support<'a> {
    sources: Vec<PreparedSource>,
    question: String,
    asked: BTreeSet<String>,
    /// Weight of each word: higher if fewer sources contain it.
    weights: HashMap<String, f64>,
    embed: Embed<'a>,
    /// `true` if the model was asked to cite.
    is_of_citing_model: bool,
}

/// Probabilities that a cited source supports a sentence.
#[derive(Debug, Clone, Copy, Default)]
pub struct CitedScore {
    pub all: f64,
    /// The same, but numbers that only the sentence has do not count: it may write them in another way, "4:12 pm" for
    /// "16:12", or count something itself, "two days before".
    pub without_numbers: f64,
}

struct PreparedSource {
    words: BTreeSet<String>,
    has_number: bool,
    /// Words of the author's name: "Ana brings the cake" is supported by Ana's "I bring the cake".
    name: BTreeSet<String>,
    is_question: bool,
    /// `true` for the bot's own messages and summaries of them, which never support a sentence.
    is_own: bool,
    /// `true` for tags of the bot and for commands. They are no source unless the model cites them.
    is_for_bot: bool,
    vector: Vec<f32>,
}

/// Returns `true` for a summary that rests on messages of the bot alone.
fn is_of_bot(source: &Citable) -> bool {
    !source.rests_on.is_empty() && source.rests_on.iter().all(|grounds| grounds.is_own)
}

impl<'a> Support<'a> {
    pub fn new(sources: &[Citable], question: &str, embed: Embed<'a>) -> Self {
        let prepared: Vec<PreparedSource> = sources
            .iter()
            .map(|source| (source, content_words(&source.text)))
            .map(|(source, words)| PreparedSource {
                has_number: words.iter().any(|word| has_ascii_digit(word)),
                words,
                name: content_words(&source.name),
                is_question: ends_like_question(source.text.trim_end()),
                is_own: source.is_own || is_of_bot(source),
                is_for_bot: is_command(&source.text) || calls_bot(&source.text),
                vector: embed(&source.text),
            })
            .collect();
        let mut spread: HashMap<String, f64> = HashMap::new();
        for word in prepared.iter().flat_map(|source| &source.words) {
            *spread.entry(word.clone()).or_default() += 1.0;
        }
        let count = prepared.len() as f64;
        let weights = spread.into_iter().map(|(word, times)| (word, (1.0 + count / times).ln())).collect();
        let (question, asked) = (question.to_owned(), content_words(question));
        Self { sources: prepared, question, asked, weights, embed, is_of_citing_model: false }
    }

    /// Returns the support of an answer by a model that was asked to cite: equal small numbers alone make a message a
    /// source only if it shares a word with the question. "Boil it for ten minutes" is not from "see you on the 10th".
    pub fn of_citing_model(self) -> Self {
        Self { is_of_citing_model: true, ..self }
    }

    /// Returns the probability that each source supports `sentence`, in the order of the sources. All are 0 for a
    /// sentence without content words, and for the bot's own messages.
    pub fn scores(&self, sentence: &str) -> Vec<f64> {
        let features = self.features(sentence);
        let score = |(source, features): (&PreparedSource, &SupportFeatures)| match source.is_own {
            true => 0.0,
            false => probability(features, &WEIGHTS),
        };
        match features.is_empty() {
            true => vec![0.0; self.sources.len()],
            false => self.sources.iter().zip(&features).map(score).collect(),
        }
    }

    /// Returns the probabilities that the source at `place`, which the model cites for `sentence`, supports it.
    pub fn score_of_cited(&self, sentence: &str, place: usize) -> CitedScore {
        let source = &self.sources[place];
        let features = self.features_of(sentence, std::slice::from_ref(source));
        let Some(mut features) = features.into_iter().next().filter(|_| !source.is_own) else {
            return CitedScore::default();
        };
        // A message without a number may stand for one that another message has: "same day".
        if !source.has_number {
            features[OTHER_NUMBERS] = 0.0;
        }
        // "Friday at seven, if they have a table?" proposes something.
        if features[EQUAL_NUMBERS] > 0.0 || features[COVERED] >= HALF {
            features[IS_QUESTION] = 0.0;
        }
        let all = probability(&features, &WEIGHTS);
        features[OTHER_NUMBERS] = 0.0;
        CitedScore { all, without_numbers: probability(&features, &WEIGHTS) }
    }

    /// Returns `true` if the source at `place` has at least half of those words of `sentence` that are no numbers.
    pub fn has_half_of_words(&self, sentence: &str, place: usize) -> bool {
        let words = content_words(sentence);
        let (all, source) = (words.iter().filter(|word| !has_ascii_digit(word)), &self.sources[place]);
        let (held, count) = (all.clone().filter(|word| source.words.contains(*word)).count(), all.count());
        2 * held >= count
    }

    /// Returns `true` if the sources at both places have a word of `sentence` in common that is no number.
    pub fn share_subject(&self, sentence: &str, place: usize, other: usize) -> bool {
        let (source, other) = (&self.sources[place].words, &self.sources[other].words);
        let is_shared = |word: &String| !has_ascii_digit(word) && source.contains(word) && other.contains(word);
        content_words(sentence).iter().any(is_shared)
    }

    /// Returns `true` if the source at `place` has so few words, and no number, that its meaning depends on other
    /// messages: "it is".
    pub fn is_terse(&self, place: usize) -> bool {
        let source = &self.sources[place];
        source.words.len() <= TERSE && !source.has_number && !source.is_own && !source.is_question
    }

    pub fn is_question(&self, place: usize) -> bool {
        self.sources[place].is_question
    }

    /// Returns the indexes of the one or two sources that support `sentence`, strongest first. Empty if none does, or
    /// if the sentence only repeats words of the question.
    pub fn sources_of(&self, sentence: &str) -> Vec<usize> {
        let scores = self.scores(sentence);
        let is_sure = |best: &usize| scores[*best] >= SUPPORTS && self.shares_words(sentence, *best);
        let best = self.best(&scores).filter(is_sure).filter(|_| self.is_checkable(sentence));
        best.map_or_else(Vec::new, |best| std::iter::once(best).chain(self.second(sentence, best)).collect())
    }

    /// Returns the index of the likeliest source of an answer without citations; `None` if no source is likely enough.
    /// The question is compared together with the answer, since an answer may be only a name.
    pub fn likely_source_of(&self, answer: &str) -> Option<usize> {
        let scores = self.scores(&format!("{} {answer}", self.question));
        let best = self.best(&scores).filter(|best| scores[*best] >= LIKELY && self.is_checkable(answer))?;
        let (words, source) = (content_words(answer), &self.sources[best]);
        // What only the question shares with a message does not make it the source of the answer.
        let shares = words.iter().any(|word| source.words.contains(word) || source.name.contains(word));
        let is_enough = if self.is_of_citing_model { self.shares_words(answer, best) } else { shares };
        is_enough.then_some(best)
    }

    /// Returns `true` if the source at `place` has two content words of `sentence`, or a third of them, one of which is no
    /// name of a member. One common number proves little, and names alone may be a signature.
    fn shares_words(&self, sentence: &str, place: usize) -> bool {
        /// To "how many?", "9." is the whole answer.
        const FEW_WORDS: usize = 2;
        let (words, source) = (content_words(sentence), &self.sources[place]);
        let shared = words.iter().filter(|word| source.words.contains(*word) || source.name.contains(*word)).count();
        let is_name = |word: &String| self.sources.iter().any(|source| source.name.contains(word));
        let says_more = words.iter().any(|word| source.words.contains(word) && !is_name(word));
        let is_word = |word: &&String| source.words.contains(*word) && !has_ascii_digit(word);
        // "9:40" and "4712" are hardly equal by chance.
        let is_telling = |word: &String| source.words.contains(word) && has_ascii_digit(word) && word.len() > 2;
        // One small number makes a message no source of a suggestion, nor does one word if the question has none, unless it
        // is the answer.
        let is_about_same = words.iter().any(is_telling)
            || self.asked.iter().any(|word| is_word(&word))
            || (shared > 1 || !self.asked.is_empty()) && words.iter().any(|word| is_word(&word))
            || self.asked.is_empty() && sentence.split_whitespace().count() <= FEW_WORDS;
        says_more && (shared > 1 || 3 * shared >= words.len()) && (is_about_same || !self.is_of_citing_model)
    }

    /// Returns the source that adds most to `first`: it must contain at least the share [`ADDS`] of `sentence` in words
    /// that `first` lacks.
    fn second(&self, sentence: &str, first: usize) -> Option<usize> {
        let words = content_words(sentence);
        let total: f64 = words.iter().map(|word| self.weight(word)).sum();
        let covered = &self.sources.get(first)?.words;
        let rest: Vec<&String> = words.iter().filter(|word| !covered.contains(*word)).collect();
        let adds = |source: &PreparedSource| -> f64 {
            rest.iter().filter(|word| source.words.contains(**word)).map(|word| self.weight(word)).sum()
        };
        (self.sources.iter().enumerate())
            .filter(|(place, source)| *place != first && !source.is_own && !source.is_for_bot && !source.is_question)
            .filter(|(_, source)| rest.iter().filter(|word| source.words.contains(**word)).count() > 1)
            .map(|(place, source)| (place, adds(source)))
            .filter(|(_, share)| *share >= ADDS * total)
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
            .map(|(place, _)| place)
    }

    /// Returns the index of the source with the highest score, without tags of the bot and commands.
    pub fn best(&self, scores: &[f64]) -> Option<usize> {
        let places = (0..scores.len()).filter(|place| !self.sources[*place].is_for_bot);
        places.max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
    }

    /// Returns `true` if `sentence` has content words that the question does not have.
    pub fn is_checkable(&self, sentence: &str) -> bool {
        !content_words(sentence).is_subset(&self.asked)
    }

    /// Returns `true` if `sentence` names the author of the source at `place`: "Ana has them" about Ana's "in my bag".
    pub fn names_author(&self, sentence: &str, place: usize) -> bool {
        !content_words(sentence).is_disjoint(&self.sources[place].name)
    }

    /// Returns the features of each source for `sentence`, in the order of [`WEIGHTS`]; empty for a sentence without
    /// content words.
    pub fn features(&self, sentence: &str) -> Vec<SupportFeatures> {
        self.features_of(sentence, &self.sources)
    }

    fn features_of(&self, sentence: &str, sources: &[PreparedSource]) -> Vec<SupportFeatures> {
        let words = content_words(sentence);
        let total: f64 = words.iter().map(|word| self.weight(word)).sum();
        if total <= 0.0 {
            return Vec::new();
        }
        let numbers: Vec<&String> = words.iter().filter(|word| has_ascii_digit(word)).collect();
        let vector = (self.embed)(sentence);
        let share = |is_counted: &dyn Fn(&String) -> bool| -> f64 {
            words.iter().filter(|word| is_counted(word)).map(|word| self.weight(word)).sum::<f64>() / total
        };
        let of_source = |source: &PreparedSource| {
            let covered = share(&|word| source.words.contains(word));
            let named = share(&|word| source.name.contains(word) && !source.words.contains(word));
            let agreeing = numbers.iter().filter(|number| source.words.contains(**number)).count();
            [
                1.0,
                covered,
                // A source that shares only its author's name with the sentence does not support it.
                if covered > 0.0 { named * NAMES_COUNT } else { 0.0 },
                cosine(&source.vector, &vector),
                f64::from(!numbers.is_empty() && agreeing == 0),
                if numbers.is_empty() { 0.0 } else { agreeing as f64 / numbers.len() as f64 },
                f64::from(source.is_question),
            ]
        };
        sources.iter().map(of_source).collect()
    }

    fn weight(&self, word: &str) -> f64 {
        let rarest = (1.0 + self.sources.len() as f64).ln();
        let weight = self.weights.get(word).copied().unwrap_or(rarest);
        if self.asked.contains(word) { weight * ASKED } else { weight }
    }
}

pub fn probability(features: &SupportFeatures, weights: &SupportFeatures) -> f64 {
    let sum: f64 = features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum();
    1.0 / (1.0 + (-sum).exp())
}

fn has_ascii_digit(word: &str) -> bool {
    word.chars().any(|c| c.is_ascii_digit())
}

/// Returns the cosine of two embeddings, which have length 1; 0 if one is empty.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a * b)).sum()
}

#[cfg(test)]
pub mod tests {
    use serde::Deserialize;

    use super::*;
    use chime_core::embed::Embedder;
    use chime_core::{SourceId, Timestamp};

    const LABELLED: &str = include_str!("../../../data/answers/support.jsonl");

    /// A sentence of an answer, with the indexes of the messages that support it.
    #[derive(Debug, Deserialize)]
    pub struct Labelled {
        id: String,
        pub sentence: String,
        pub messages: Vec<String>,
        pub supports: Vec<usize>,
    }

    pub fn labelled() -> impl Iterator<Item = Labelled> {
        let lines = LABELLED.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| serde_json::from_str(line).expect("a labelled sentence"))
    }

    /// Parses `Ana: text` lines as messages 1, 2, 3 …; those of `Chime` are the bot's.
    pub fn sources(messages: &[String]) -> Vec<Citable> {
        let cite = |(number, line): (u32, &String)| {
            let (name, text) = line.split_once(": ").unwrap_or(("", line));
            Citable {
                id: SourceId::message(number),
                name: name.to_owned(),
                is_own: name == "Chime",
                sent_at: Timestamp::default(),
                text: text.to_owned(),
                link: None,
                rests_on: Vec::new(),
            }
        };
        (1..).zip(messages).map(cite).collect()
    }

    /// Returns three counts of pairs of a sentence and a source: found and labelled, found, labelled.
    fn judged(embed: Embed<'_>, mut show: impl FnMut(&Labelled, &[usize], &[f64])) -> (usize, usize, usize) {
        let (mut hits, mut found, mut right) = (0, 0, 0);
        for labelled in labelled() {
            let sources = sources(&labelled.messages);
            let support = Support::new(&sources, "", embed);
            let chosen = support.sources_of(&labelled.sentence);
            hits += chosen.iter().filter(|place| labelled.supports.contains(place)).count();
            found += chosen.len();
            right += labelled.supports.len();
            show(&labelled, &chosen, &support.scores(&labelled.sentence));
        }
        (hits, found, right)
    }

    #[test]
    fn the_bots_own_messages_support_nothing_however_it_is_called() {
        let mut given = sources(&["Ana: the ferry leaves at 9:40 from the old harbour".to_owned()]);
        for (name, is_own, expected) in [("Chime", false, vec![0]), ("Formerly Chime", true, vec![])] {
            given[0].name = name.to_owned();
            given[0].is_own = is_own;
            let support = Support::new(&given, "", &|_| Vec::new());
            assert_eq!(support.sources_of("The ferry leaves at 9:40 from the old harbour."), expected, "{name}");
        }
    }

    #[test]
    fn equal_numbers_alone_are_no_source_of_a_model_that_has_to_cite() {
        let talk = [
            "Ana: the hall is free on Saturday the 10th, doors open at 6",
            "Ben: I go out for a swim once in a while",
            "Cat: die Fähre geht um 9:40",
        ];
        let given = sources(&talk.map(str::to_owned));
        for (question, answer, expected) in [
            ("how long do you boil an egg", "Six minutes, ten for a hard one.", vec![]),
            ("when do the doors open", "At six.", vec![0]),
            ("when does the ferry leave", "At 9:40.", vec![2]),
        ] {
            let support = Support::new(&given, question, &|_| Vec::new()).of_citing_model();
            assert_eq!(support.sources_of(answer), expected, "{answer}");
        }
        let wine = "how do I get red wine out of a white shirt";
        let support = Support::new(&given, wine, &|_| Vec::new()).of_citing_model();
        assert_eq!(support.likely_source_of("Blot it at once, then use salt and cold water."), None);
    }

    #[test]
    fn one_small_number_is_no_source_of_a_suggestion_but_of_an_answer() {
        let embedder = Embedder::shipped().expect("the model that ships");
        let embed = |text: &str| embedder.embed(text);
        for (message, question, answer, is_source) in [
            ("Zuza: ja przyjdę o 20", "inne", "**Just One** – 20 minut", false),
            ("Zuza: ja przyjdę o 20", "", "**Just One** – 20 minut", false),
            ("Zuza: ja przyjdę o 20", "", "Zuza przyjdzie o 20.", true),
            ("Bob: pizza or thai", "", "Pizza", true),
            ("Bob: we are 9", "how many?", "9.", true),
            ("Bob: pizza or thai", "do we eat thai", "Pizza.", true),
            ("Bob: pizza or thai", "", "Pizza or thai.", true),
        ] {
            let given = sources(&["Ana: where on friday".to_owned(), message.to_owned()]);
            let support = Support::new(&given, question, &embed).of_citing_model();
            assert_eq!(!support.sources_of(answer).is_empty(), is_source, "{question}: {answer}");
        }
    }

    #[test]
    fn a_number_is_the_same_with_and_without_separators() {
        let talk =
            ["Val: wir müssen 10.000 Punkte sammeln", "Rob: bitte alle abstimmen, die schon 10000 Klimmzüge haben"];
        let given = sources(&talk.map(str::to_owned));
        let support = Support::new(&given, "", &|_| Vec::new());
        let answer = "Abstimmen sollen alle, die schon 10.000 Klimmzüge haben.";
        assert_eq!(support.sources_of(answer), vec![1]);
        assert_eq!(content_words("1,500 at 9:00 or 9:40"), content_words("1.500 at 9 or 9.40"));
    }

    #[test]
    fn sources_are_found_as_the_labels_say() {
        let embedder = Embedder::shipped().expect("the model that ships");
        let (hits, found, right) = judged(&|text| embedder.embed(text), |labelled, chosen, scores| {
            if chosen != labelled.supports {
                println!(
                    "{}: {} -> {chosen:?}, not {:?}; {scores:.2?}",
                    labelled.id, labelled.sentence, labelled.supports
                );
            }
        });
        let (precision, recall) = (hits as f64 / found as f64, hits as f64 / right as f64);
        println!("precision {precision:.3}, recall {recall:.3}");
        assert!(precision >= 0.9 && recall >= 0.7, "precision {precision:.3}, recall {recall:.3}");
    }
}
