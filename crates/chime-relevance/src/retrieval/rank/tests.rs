use super::*;
use crate::retrieval::question::QuestionFacts;
use crate::retrieval::weights::Weights;
use chime_core::embed::Embedder;
use chime_core::{Language, Member, Timestamp, UserId, Zone};

const ANN: UserId = UserId(1);
const BEN: UserId = UserId(2);

/// Builds messages that Ann and Ben write in turn, a minute apart; each is the neighbour of the next.
fn passages<'a>(texts: &'a [&'a str], vectors: &'a [Vec<f32>]) -> Vec<Passage<'a>> {
    (texts.iter().enumerate())
        .map(|(place, text)| Passage {
            author: if place % 2 == 0 { ANN } else { BEN },
            sent_at: Timestamp::from_secs(1_700_000_000 + 60 * place as i64),
            text,
            vector: &vectors[place],
            is_own: false,
            before: place.checked_sub(1),
            after: (place + 1 < texts.len()).then_some(place + 1),
            replies_to: None,
        })
        .collect()
}

#[track_caller]
fn best(question: &str, texts: &[&str]) -> Vec<usize> {
    let embedder = Embedder::shipped().unwrap();
    let vectors: Vec<Vec<f32>> = texts.iter().map(|text| embedder.embed(text)).collect();
    let people = [(ANN, "Ann"), (BEN, "Ben")].map(|(id, name)| Member { id, name: name.to_owned(), username: None });
    let now = Timestamp::from_secs(1_700_100_000);
    let asked = QuestionFacts { language: Language::DEFAULT, now, zone: Zone::UTC, by: None, people: &people };
    let question = ParsedQuestion::read(question, &asked);
    let mut lexicon = Lexicon::new(Language::DEFAULT, Some(&embedder));
    let ranked = rank(&question, &passages(texts, &vectors), None, &mut lexicon, &Weights::shipped().message);
    ranked.iter().map(|one| one.index).collect()
}

const CHAT: [&str; 8] = [
    "shall we book the thai place for friday?",
    "the one on 10th ave has room for eight",
    "my bike was stolen again",
    "oh no. where was it?",
    "in front of the office, lock and all",
    "what does the new projector cost?",
    "two hundred with the screen",
    "we should paint the kitchen",
];

#[test]
fn the_message_that_says_it_is_first() {
    assert_eq!(best("which restaurant did we book?", &CHAT)[0], 0);
    assert_eq!(best("kitchen colour", &CHAT)[0], 7);
}

#[test]
fn an_answer_is_found_by_the_question_before_it() {
    let ranked = best("how much is the projector", &CHAT);
    assert_eq!(
        {
            let mut first = ranked[..2].to_vec();
            first.sort_unstable();
            first
        },
        [5, 6]
    );
}

#[test]
fn everything_is_ranked_once() {
    let mut ranked = best("where was the bicycle of Ann stolen?", &CHAT);
    ranked.sort_unstable();
    assert_eq!(ranked, (0..CHAT.len()).collect::<Vec<_>>());
}

#[test]
fn nothing_to_rank_and_nothing_asked() {
    assert_eq!(best("anything?", &[]), [] as [usize; 0]);
    assert_eq!(best("", &CHAT).len(), CHAT.len());
}
