//! Finds the earlier suggestion that a question follows up on.

use std::collections::BTreeSet;

use chime_core::{AnswerId, FoundBy, Seq, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierSuggestion {
    pub answer: AnswerId,
    /// First answer of the chain of suggestions to which this one belongs.
    pub chain: AnswerId,
    /// Kind of thing that was wanted.
    pub kind: Option<String>,
    pub asked_by: UserId,
    /// Members who asked for any suggestion of its chain.
    pub members: BTreeSet<UserId>,
    /// The trigger and the messages of the answer.
    pub messages: BTreeSet<Seq>,
    /// `true` if the session in which it was made has not ended.
    pub in_session: bool,
}

/// Facts about a question by which its suggestion is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestionQuery<'a> {
    pub member: UserId,
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

/// Returns the suggestion that the question replies to, else the newest one of the chain in its thread, else the newest of
/// this session that the member asked for or followed up on, else the newest of this session. `earlier` is sorted newest
/// first.
pub fn origin(earlier: &[EarlierSuggestion], from: &SuggestionQuery<'_>) -> Option<(AnswerId, FoundBy)> {
    match from.reply {
        ReplyTo::Suggestion(answer) => return Some((answer, FoundBy::Reply)),
        ReplyTo::OtherAnswer => return None,
        ReplyTo::Nothing | ReplyTo::Member => {}
    }
    let in_thread: Vec<&EarlierSuggestion> =
        earlier.iter().filter(|it| !it.messages.is_disjoint(from.thread)).collect();
    // If several members ask at once, a thread may hold several chains: each member continues the chain they took part
    // in.
    let own_chain = in_thread.iter().find(|it| it.asked_by == from.member).map(|it| it.chain);
    if let Some(found) = in_thread.iter().find(|it| own_chain.is_none_or(|chain| it.chain == chain)) {
        // The thread may lack newer lists of the chain, from which the numbers of a question count.
        let goes_on = |it: &&EarlierSuggestion| {
            it.chain == found.chain && (it.kind == found.kind || it.kind.is_none() || found.kind.is_none())
        };
        let newest = earlier.iter().find(goes_on).filter(|_| from.reply == ReplyTo::Nothing);
        return Some((newest.unwrap_or(found).answer, FoundBy::Thread));
    }
    if from.reply == ReplyTo::Member {
        return None;
    }
    let mut in_session = earlier.iter().filter(|it| it.in_session);
    match in_session.clone().find(|it| it.members.contains(&from.member)) {
        Some(own) => Some((own.answer, FoundBy::Member)),
        None => in_session.next().map(|newest| (newest.answer, FoundBy::Thread)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(number: u128) -> AnswerId {
        AnswerId(ulid::Ulid(number))
    }

    fn earlier(number: u128, asked_by: i64, messages: &[u32], in_session: bool) -> EarlierSuggestion {
        let messages = messages.iter().map(|seq| Seq(*seq)).collect();
        EarlierSuggestion {
            answer: answer(number),
            chain: answer(number),
            kind: None,
            asked_by: UserId(asked_by),
            members: BTreeSet::from([UserId(asked_by)]),
            messages,
            in_session,
        }
    }

    fn decide(
        earlier: &[EarlierSuggestion],
        member: i64,
        replied_to: Option<u128>,
        thread: &[u32],
    ) -> Option<(AnswerId, FoundBy)> {
        let thread: BTreeSet<Seq> = thread.iter().map(|seq| Seq(*seq)).collect();
        let reply = replied_to.map_or(ReplyTo::Nothing, |number| ReplyTo::Suggestion(answer(number)));
        origin(earlier, &SuggestionQuery { member: UserId(member), reply, thread: &thread })
    }

    #[test]
    fn a_reply_goes_before_the_thread_and_the_thread_before_the_member() {
        let all = [earlier(3, 30, &[31, 32], true), earlier(2, 20, &[21, 22], true), earlier(1, 10, &[11, 12], true)];
        assert_eq!(decide(&all, 30, Some(1), &[21]), Some((answer(1), FoundBy::Reply)));
        assert_eq!(decide(&all, 30, None, &[12, 22, 50]), Some((answer(2), FoundBy::Thread)));
        assert_eq!(decide(&all, 10, None, &[50]), Some((answer(1), FoundBy::Member)));
    }

    #[test]
    fn a_member_who_followed_up_on_a_suggestion_goes_on_with_it() {
        let members = BTreeSet::from([UserId(10), UserId(20)]);
        let all = [EarlierSuggestion { members, ..earlier(1, 10, &[11], true) }];
        assert_eq!(decide(&all, 20, None, &[50]), Some((answer(1), FoundBy::Member)));
    }

    #[test]
    fn else_the_newest_suggestion_of_the_session_is_meant() {
        let all = [earlier(2, 20, &[21], true), earlier(1, 20, &[11], false)];
        assert_eq!(decide(&all, 10, None, &[]), Some((answer(2), FoundBy::Thread)));
        assert_eq!(decide(&all[1..], 10, None, &[]), None);
    }

    #[test]
    fn where_members_ask_at_once_each_goes_on_with_the_own_run() {
        let ann = earlier(1, 10, &[11], true);
        let ben = earlier(2, 20, &[21], true);
        let cheaper = EarlierSuggestion { chain: answer(1), ..earlier(3, 30, &[31], true) };
        let all = [cheaper, ben, ann];
        assert_eq!(decide(&all, 10, None, &[11, 21, 31]), Some((answer(3), FoundBy::Thread)));
        assert_eq!(decide(&all, 20, None, &[11, 21, 31]), Some((answer(2), FoundBy::Thread)));
        assert_eq!(decide(&all, 40, None, &[11, 21, 31]), Some((answer(3), FoundBy::Thread)));
    }

    #[test]
    fn the_newest_list_of_the_same_kind_in_the_chain_counts() {
        let newer = |kind: &str| EarlierSuggestion {
            chain: answer(1),
            kind: Some(kind.to_owned()),
            ..earlier(2, 20, &[21], true)
        };
        let first = EarlierSuggestion { kind: Some("book".to_owned()), ..earlier(1, 10, &[11], true) };
        let found = |newer, reply| {
            let thread = BTreeSet::from([Seq(11)]);
            origin(&[newer, first.clone()], &SuggestionQuery { member: UserId(10), reply, thread: &thread })
        };
        assert_eq!(found(newer("book"), ReplyTo::Nothing), Some((answer(2), FoundBy::Thread)));
        assert_eq!(found(newer("restaurant"), ReplyTo::Nothing), Some((answer(1), FoundBy::Thread)));
        assert_eq!(found(newer("book"), ReplyTo::Member), Some((answer(1), FoundBy::Thread)), "under the old list");
    }

    #[test]
    fn after_the_session_ended_only_a_reply_or_the_thread_leads_back() {
        let old = [earlier(1, 10, &[11], false)];
        assert_eq!(decide(&old, 10, None, &[]), None);
        assert_eq!(decide(&old, 10, None, &[11]), Some((answer(1), FoundBy::Thread)));
        assert_eq!(decide(&old, 10, Some(1), &[]), Some((answer(1), FoundBy::Reply)));
    }

    #[test]
    fn a_reply_to_something_else_is_about_that() {
        let (thread, other) = (BTreeSet::from([Seq(11)]), BTreeSet::new());
        let from = |reply, thread| SuggestionQuery { member: UserId(10), reply, thread };
        let all = [earlier(1, 10, &[11], true)];
        assert_eq!(origin(&all, &from(ReplyTo::OtherAnswer, &thread)), None);
        assert_eq!(origin(&all, &from(ReplyTo::Member, &other)), None);
        assert_eq!(origin(&all, &from(ReplyTo::Member, &thread)), Some((answer(1), FoundBy::Thread)));
    }
}
