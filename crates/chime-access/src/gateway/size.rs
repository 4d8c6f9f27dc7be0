//! Sizes of prompts and answers, computed from the facts about the model server. Pure functions.

use crate::gateway::ModelPurpose;
use chime_llm::{MANY_SLOTS, ServerFacts};

/// Time in seconds that the server may take to read a prompt, if `CONTEXT_TOKENS` is `auto`.
const READING: f64 = 8.0;
/// Usual number of tokens of a prompt without the chat messages: instructions, memory, question.
const FIXED: usize = 600;
/// Smallest number of tokens for chat messages in a prompt, if `CONTEXT_TOKENS` is `auto`.
const LEAST_TALK: usize = 600;
/// Largest number of tokens for chat messages, if `CONTEXT_TOKENS` is `auto`.
const MOST_TALK: usize = 6000;
/// Number of tokens for chat messages if the server's reading speed is unknown.
const TALK: usize = 1600;
/// Divisor: chat messages take at most a third of the model's context.
const SHARE_OF_TALK: usize = 3;
/// A prompt that leaves fewer tokens than this for the answer is too long.
const LEAST_ANSWER: usize = 100;
/// Tokens that the server's chat template adds to a prompt.
const TEMPLATE: usize = 32;

/// Returns how many tokens the chat messages in a prompt may have, if `CONTEXT_TOKENS` is `auto`: as many as the server
/// reads in eight seconds along with the rest of the prompt.
pub fn talk_tokens(facts: ServerFacts) -> usize {
    let read = |speed: f64| ((speed * READING) as usize).saturating_sub(FIXED).clamp(LEAST_TALK, MOST_TALK);
    let wanted = facts.reads_per_second.map_or(TALK, read);
    facts.context.map_or(wanted, |context| wanted.min(context / SHARE_OF_TALK))
}

/// Returns how many of the operator's `CONTEXT_TOKENS` the chat messages may have: as many as the model's context holds
/// along with the rest of the prompt and an answer.
pub fn fitting_talk(tokens: usize, facts: ServerFacts) -> usize {
    let rest = |room: usize, context: usize| room.saturating_sub(FIXED).max(context / SHARE_OF_TALK);
    let room = room_for_prompt(answer_tokens(ModelPurpose::Answer, facts), facts.context);
    room.zip(facts.context).map_or(tokens, |(room, context)| tokens.min(rest(room, context)))
}

/// Returns the maximal length of an answer in tokens. It is lower for small or slow models, because a member would wait
/// minutes for one that writes without end.
pub fn answer_tokens(purpose: ModelPurpose, facts: ServerFacts) -> u32 {
    let most = purpose.max_answer_tokens();
    match purpose {
        ModelPurpose::Answer if facts.is_weak() => most.min(500),
        ModelPurpose::Summary | ModelPurpose::Extract if facts.is_weak() => most.min(400),
        ModelPurpose::Answer | ModelPurpose::Summary | ModelPurpose::Extract => most,
    }
}

/// Returns the number of tokens for the answer: `wanted`, or less if the context leaves less. Returns `None` if it
/// leaves too few, that is, the prompt is too long.
pub fn room_for_answer(prompt_tokens: usize, wanted: u32, context: Option<usize>) -> Option<u32> {
    let Some(context) = context else { return Some(wanted) };
    let left = context.saturating_sub(prompt_tokens + TEMPLATE);
    let least = LEAST_ANSWER.min(wanted as usize);
    (left >= least).then(|| wanted.min(u32::try_from(left).unwrap_or(wanted)))
}

/// Returns the number of tokens for a prompt, so that an answer of `answer` tokens fits beside it, or `None` if the
/// context size is unknown.
pub fn room_for_prompt(answer: u32, context: Option<usize>) -> Option<usize> {
    // Reserves at most a quarter of a small context for the answer.
    context.map(|context| context - (answer as usize).min(context / 4) - TEMPLATE.min(context / 4))
}

/// Returns the number of calls that the server may get at once. If it does not report its slots, the operator's own
/// server (`is_own`) gets one call at a time, a hosted one several.
pub fn slots(facts: ServerFacts, is_own: bool) -> usize {
    /// Upper bound, in case a server reports an absurd number.
    const MOST: usize = 64;
    facts.slots.unwrap_or(if is_own { 1 } else { MANY_SLOTS }).clamp(1, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(context: Option<usize>, reads_per_second: Option<f64>) -> ServerFacts {
        ServerFacts { context, reads_per_second, ..ServerFacts::default() }
    }

    #[test]
    fn the_talk_is_what_is_read_in_eight_seconds() {
        for (context, speed, tokens) in [
            (None, None, 1600),
            (None, Some(110.0), 600),
            (None, Some(300.0), 1800),
            (None, Some(20_000.0), 6000),
            (Some(4096), Some(20_000.0), 1365),
            (Some(2048), None, 682),
            (Some(1024), Some(20.0), 341),
            (Some(131_072), None, 1600),
        ] {
            assert_eq!(talk_tokens(facts(context, speed)), tokens, "{context:?} {speed:?}");
        }
    }

    #[test]
    fn more_talk_than_the_context_holds_is_left_out() {
        for (context, tokens) in [(None, 6000), (Some(2048), 904), (Some(8192), 6000), (Some(1024), 341)] {
            assert_eq!(fitting_talk(6000, facts(context, None)), tokens, "{context:?}");
        }
        assert_eq!(fitting_talk(400, facts(Some(2048), None)), 400);
    }

    #[test]
    fn answers_of_weak_models_are_short() {
        let slow = facts(None, Some(100.0));
        let small = ServerFacts { parameters: Some(1_500_000_000), ..ServerFacts::default() };
        for weak in [slow, small] {
            assert_eq!(ModelPurpose::ALL.map(|purpose| answer_tokens(purpose, weak)), [500, 400, 400]);
        }
        let unknown = ModelPurpose::ALL.map(|purpose| answer_tokens(purpose, ServerFacts::default()));
        assert_eq!(unknown, ModelPurpose::ALL.map(ModelPurpose::max_answer_tokens));
    }

    #[test]
    fn prompt_and_answer_fit_into_the_context_together() {
        assert_eq!(room_for_answer(9000, 1500, None), Some(1500));
        assert_eq!(room_for_answer(1000, 1500, Some(8192)), Some(1500));
        assert_eq!(room_for_answer(3500, 1500, Some(4096)), Some(564));
        assert_eq!(room_for_answer(4000, 1500, Some(4096)), None);
        assert_eq!(room_for_answer(5000, 1500, Some(4096)), None);
        assert_eq!(room_for_answer(4050, 10, Some(4096)), Some(10));
        for context in [1024, 4096, 8192] {
            let prompt = room_for_prompt(1500, Some(context)).expect("it is known");
            let answer = room_for_answer(prompt, 1500, Some(context)).expect("it fits");
            assert!(prompt + answer as usize + TEMPLATE <= context, "{prompt} + {answer} of {context}");
        }
        assert_eq!(room_for_prompt(1500, None), None);
    }

    #[test]
    fn own_servers_work_on_one_call_until_they_tell_of_more() {
        let reported = ServerFacts { slots: Some(4), ..ServerFacts::default() };
        assert_eq!((slots(reported, true), slots(reported, false)), (4, 4));
        assert_eq!((slots(ServerFacts::default(), true), slots(ServerFacts::default(), false)), (1, 8));
    }
}
