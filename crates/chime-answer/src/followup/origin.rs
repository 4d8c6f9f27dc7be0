//! Finds the earlier suggestion that a question follows up on.

use std::collections::BTreeSet;

use chime_core::{AnswerId, FoundBy, Seq, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierSuggestion {
    pub answer: AnswerId,
    /// First answer of the chain of suggestions to which this one belongs.
    pub chain: AnswerId,
    /// Members who asked for any suggestion of its chain.
    pub members: BTreeSet<UserId>,
    /// The trigger and the messages of the answer.
    pub messages: BTreeSet<Seq>,
}

/// Facts about a question by which its suggestion is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestionQuery<'a> {
    pub reply: ReplyTo,
    /// The messages of the question's thread.
    pub thread: &'a BTreeSet<Seq>,
}

/// The message that a question replies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyTo {
    Nothing,
    /// A message of the bot that suggests something, or answers a follow-up on this suggestion.
    Suggestion(AnswerId),
    /// An answer of the bot without suggestions: the question is about that answer.
    OtherAnswer,
    Member,
}

/// Returns the suggestion that the question replies to, else the newest one; after a reply to a member, the newest one in
/// the question's thread. `earlier` is sorted newest first.
pub fn origin(earlier: &[EarlierSuggestion], from: &SuggestionQuery<'_>) -> Option<(AnswerId, FoundBy)> {
    let newest = match from.reply {
        ReplyTo::Suggestion(answer) => return Some((answer, FoundBy::Reply)),
        ReplyTo::OtherAnswer => None,
        ReplyTo::Member => earlier.iter().find(|it| !it.messages.is_disjoint(from.thread)),
        ReplyTo::Nothing => earlier.first(),
    }?;
    Some((newest.answer, FoundBy::Thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(number: u128) -> AnswerId {
        AnswerId(ulid::Ulid(number))
    }

    fn earlier(number: u128, member: i64, messages: &[u32]) -> EarlierSuggestion {
        EarlierSuggestion {
            answer: answer(number),
            chain: answer(number),
            members: BTreeSet::from([UserId(member)]),
            messages: messages.iter().map(|seq| Seq(*seq)).collect(),
        }
    }

    #[test]
    fn a_reply_goes_before_the_newest_suggestion() {
        let all = [earlier(3, 30, &[31, 32]), earlier(2, 20, &[21, 22]), earlier(1, 10, &[11, 12])];
        let thread = BTreeSet::from([Seq(21)]);
        let decide = |reply| origin(&all, &SuggestionQuery { reply, thread: &thread });
        assert_eq!(decide(ReplyTo::Suggestion(answer(1))), Some((answer(1), FoundBy::Reply)));
        assert_eq!(decide(ReplyTo::Nothing), Some((answer(3), FoundBy::Thread)));
        assert_eq!(decide(ReplyTo::Member), Some((answer(2), FoundBy::Thread)));
    }

    #[test]
    fn a_reply_to_something_else_is_about_that() {
        let (thread, other) = (BTreeSet::from([Seq(11)]), BTreeSet::new());
        let from = |reply, thread| SuggestionQuery { reply, thread };
        let all = [earlier(1, 10, &[11])];
        assert_eq!(origin(&all, &from(ReplyTo::OtherAnswer, &thread)), None);
        assert_eq!(origin(&all, &from(ReplyTo::Member, &other)), None);
        assert_eq!(origin(&all, &from(ReplyTo::Member, &thread)), Some((answer(1), FoundBy::Thread)));
    }
}
