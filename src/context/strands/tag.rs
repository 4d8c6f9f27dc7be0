//! What a tag is about in a slow chat: it hangs on one of the messages before it, and who belongs to the matter of that one
//! comes with it.

use std::sync::Arc;

use crate::context::choose::{Guess, best_soft_set, soft_marginals};
use crate::context::explain::Column;
use crate::context::matters::{
    AnchorValues, BestMatch, Circle, Ground, Kinship, Meanings, Scene, Tag, Together, Weights, anchor_columns,
    anchor_features as features, anchors, best_match, starts_new, waste,
};
use crate::context::strands::foreseen::Groups;
use crate::context::strands::{Candidates, Matching, Picked, rivals};

/// Messages that the tag may hang on, the likeliest ones.
const ANCHORS: usize = 12;
/// An anchor that is less likely than this part of the likeliest is none.
const FAINT: f64 = 0.01;

impl Candidates<'_> {
    pub(super) fn of_tag(&self, matching: &Matching<'_>, most: usize, seen: Option<&mut Vec<Column>>) -> Picked {
        let gate = &matching.weights.tag.gate;
        if self.messages.is_empty() {
            return Picked::default();
        }
        let (guesses, best) = self.guesses(matching, seen);
        // What replies takes something up, whatever its words are.
        let opening = Some(matching.opening(0.0, best)).filter(|opening| !opening.is_reply);
        let marginals = soft_marginals(&guesses).into_iter().enumerate().collect();
        if opening.as_ref().is_some_and(|opening| starts_new(opening, &gate.gate)) {
            return Picked { marginals, ..Picked::default() };
        }
        let lengths = self.readings.iter().map(|reading| reading.speech.chars);
        let costs = opening.map_or_else(Vec::new, |opening| waste(&opening, gate, lengths));
        let taken = best_soft_set(&guesses, most, &costs);
        // A tag that is given nothing starts something new: there is nothing else that it may mean.
        let rivals = rivals::of_guesses(&guesses, most).filter(|_| !taken.is_empty());
        Picked { taken, marginals, rivals }
    }

    /// The matters that the tag may be about, one for each message that it may hang on.
    fn guesses(&self, matching: &Matching<'_>, seen: Option<&mut Vec<Column>>) -> (Vec<Guess>, BestMatch) {
        let ground = matching.ground(self.remarks(matching.mentions));
        let foreseen = match &self.foreseen {
            Some(foreseen) => Arc::clone(foreseen),
            None => Arc::new(self.foreseen_in(&self.drawn(), matching.weights)),
        };
        let agreement = Agreement::of(&ground, &foreseen.groups);
        let tag = self.tag(matching);
        let rows = features(&tag, agreement.scene());
        (guesses(&agreement, (&tag, &rows), matching.weights, seen), best_match(&rows))
    }

    pub(super) fn tag<'a>(&self, matching: &Matching<'a>) -> Tag<'a> {
        Tag {
            remark: matching.remark(),
            links: self.linked(matching.links),
            silence: matching.silences.last().copied().unwrap_or_default(),
            is_reply: matching.reply.is_some(),
            is_bare: matching.bare,
        }
    }
}

fn guesses(
    agreement: &Agreement<'_>,
    (tag, rows): (&Tag<'_>, &[AnchorValues]),
    weights: &Weights,
    seen: Option<&mut Vec<Column>>,
) -> Vec<Guess> {
    let slowness = agreement.ground.slowness;
    let anchors = likeliest(&blended(&anchors(tag, rows, &weights.tag), &tag.links, slowness));
    let kinship = agreement.kinship();
    let [second, third] = &weights.tag.again;
    let places: Vec<usize> = anchors.iter().map(|(place, _)| *place).collect();
    let mut circle = Circle::around(&kinship, &places, &weights.tag);
    circle.look(second);
    if let Some(seen) = seen {
        seen.extend(anchor_columns(tag, rows, &weights.tag));
        seen.extend(circle.columns(&weights.tag, third));
    }
    let guess = |((_, weight), members): (&(usize, f64), Vec<f32>)| Guess { weight: *weight as f32, members };
    anchors.iter().zip(circle.of_anchors(third)).map(guess).collect()
}

/// What hangs together among the candidates, over all worlds.
pub(super) struct Agreement<'a> {
    ground: &'a Ground<'a>,
    groups: &'a Groups,
    together: Together,
    meanings: Meanings,
    /// The meanings of whole fragments.
    gathered: Meanings,
}

impl<'a> Agreement<'a> {
    pub(super) fn of(ground: &'a Ground<'a>, groups: &'a Groups) -> Self {
        let together = Together::of(&groups.fragments);
        let meanings = Meanings::of(ground);
        Self { ground, groups, gathered: meanings.gathered(&together), meanings, together }
    }

    pub(super) fn scene(&self) -> Scene<'_> {
        let Self { ground, together, meanings, gathered, .. } = self;
        Scene { ground, together, meanings, gathered }
    }

    pub(super) fn kinship(&self) -> Kinship<'_> {
        let Groups { strands, matters, .. } = self.groups;
        Kinship::new(self.ground, &self.together, (strands, matters), (&self.meanings, &self.gathered))
    }
}

/// Between a slow chat and a busy one, where the links alone decide.
fn blended(anchors: &[f64], links: &[f64], slowness: f64) -> Vec<f64> {
    let sum: f64 = links.iter().sum::<f64>().max(1e-9);
    anchors.iter().zip(links).map(|(anchor, link)| slowness * anchor + (1.0 - slowness) * link / sum).collect()
}

/// The likeliest anchors with weights that sum to 1, the likeliest first and the newest of equals.
fn likeliest(anchors: &[f64]) -> Vec<(usize, f64)> {
    let highest = anchors.iter().copied().fold(0.0, f64::max);
    let mut likeliest: Vec<(usize, f64)> =
        anchors.iter().copied().enumerate().filter(|(_, anchor)| *anchor >= FAINT * highest).collect();
    likeliest.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    likeliest.truncate(ANCHORS);
    let sum: f64 = likeliest.iter().map(|(_, anchor)| anchor).sum();
    likeliest.iter().map(|(place, anchor)| (*place, anchor / sum)).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::context::matters::Remark;
    use crate::context::strands::drawn::World;
    use crate::context::token::Token;
    use crate::domain::UserId;

    /// Cases from hand-made chats as numbers, with what an independent implementation of the same definition makes of them.
    const CASES: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tag/cases.json"));

    /// The weights that they were worked out with.
    const WEIGHTS: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tag/weights.json"));

    #[derive(Deserialize)]
    struct Case {
        name: String,
        slowness: f64,
        bare: bool,
        messages: Vec<Line>,
        tag: Line,
        links: Vec<f64>,
        /// By world.
        antecedents: Vec<Vec<Option<usize>>>,
        chances: Vec<Vec<f32>>,
        expected: Expected,
    }

    #[derive(Deserialize)]
    struct Line {
        at: f64,
        author: i64,
        ours: bool,
        names: Vec<i64>,
        stems: Vec<Token>,
        question: bool,
        greeting: bool,
        chars: usize,
        vector: Vec<f32>,
        reply: Option<usize>,
        silence: f64,
    }

    #[derive(Deserialize)]
    struct Expected {
        /// The messages that the tag may hang on, with their weights.
        anchors: Vec<(usize, f32)>,
        /// How likely each belongs to the matter of the likeliest anchor.
        kin: Vec<f32>,
        marginals: Vec<f32>,
        selected: Vec<usize>,
    }

    fn remark<'a>(line: &'a Line, names: &'a [UserId]) -> Remark<'a> {
        Remark {
            at: line.at,
            author: UserId(line.author),
            is_ours: line.ours,
            mentions: names,
            stems: &line.stems,
            is_question: line.question,
            is_greeting: line.greeting,
            chars: line.chars,
            vector: &line.vector,
            reply: line.reply,
        }
    }

    fn guesses_of(case: &Case) -> Vec<Guess> {
        let named = |line: &Line| line.names.iter().copied().map(UserId).collect();
        let names: Vec<Vec<UserId>> = case.messages.iter().map(named).collect();
        let remarks = case.messages.iter().zip(&names).map(|(line, names)| remark(line, names)).collect();
        let silences: Vec<f64> = case.messages.iter().map(|line| line.silence).collect();
        let ground = Ground::new(remarks, &silences, UserId(case.tag.author), case.slowness);
        let worlds: Vec<World> = (case.antecedents.iter().cloned().zip(case.chances.iter().cloned()))
            .map(|(antecedents, chances)| World { antecedents, chances })
            .collect();
        let tag = Tag {
            remark: remark(&case.tag, &[]),
            links: case.links.clone(),
            silence: case.tag.silence,
            is_reply: case.tag.reply.is_some(),
            is_bare: case.bare,
        };
        let weights = &serde_json::from_str::<Weights>(WEIGHTS).expect("the file is of the right form");
        let groups = Groups::of(&ground, &worlds, weights);
        let agreement = Agreement::of(&ground, &groups);
        let rows = features(&tag, agreement.scene());
        guesses(&agreement, (&tag, &rows), weights, None)
    }

    #[track_caller]
    fn assert_close(case: &str, what: &str, found: &[f32], expected: &[f32]) {
        assert_eq!(found.len(), expected.len(), "{case}: {what}");
        let furthest = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(furthest < 1e-4, "{case}: {what} differ by {furthest}");
    }

    #[test]
    fn anchors_kin_and_choice_are_those_of_an_independent_implementation() {
        let cases: Vec<Case> = serde_json::from_str(CASES).expect("cases");
        assert_eq!(cases.len(), 4);
        for case in &cases {
            let guesses = guesses_of(case);
            let weights: Vec<f32> = guesses.iter().map(|guess| guess.weight).collect();
            let expected: Vec<f32> = case.expected.anchors.iter().map(|(_, weight)| *weight).collect();
            assert_close(&case.name, "anchors", &weights, &expected);
            for (guess, (anchor, _)) in guesses.iter().zip(&case.expected.anchors) {
                assert_eq!(guess.members[*anchor], 1.0, "{}: an anchor is of its own matter", case.name);
            }
            assert_close(&case.name, "kin", &guesses[0].members, &case.expected.kin);
            assert_close(&case.name, "marginals", &soft_marginals(&guesses), &case.expected.marginals);
            let selected: Vec<usize> = best_soft_set(&guesses, 20, &[]).into_iter().map(|taken| taken.place).collect();
            assert_eq!(selected, case.expected.selected, "{}", case.name);
        }
    }
}
