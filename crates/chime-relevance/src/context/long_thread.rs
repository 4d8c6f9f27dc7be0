//! Selects the oldest messages of a long thread, to be replaced by a summary.

use chime_core::Seq;

/// Message of the trigger's thread that may enter the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadMessage {
    pub seq: Seq,
    /// Number of tokens of its text.
    pub tokens: usize,
    /// `true` if a member wrote it.
    pub is_human: bool,
    /// `true` if the trigger replies to it. Such a message is always shown and never summarised.
    pub is_anchor: bool,
}

/// Limits up to which a thread is shown without a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadLimits {
    /// Maximum number of messages, from the setting `MAX_CHAT_HISTORY`.
    pub messages: usize,
    pub tokens: usize,
}

/// Maximum tokens of a thread without a summary, however few messages it has.
pub const MAX_THREAD_TOKENS: usize = 6000;
/// Number of tokens that are reserved for the summary.
const SUMMARY_TOKENS: usize = 180;
/// Number of messages by which a thread with too many messages is shortened further, to leave space for the summary and
/// the trigger.
const ROOM: usize = 2;
/// Number of the newest messages by members that are always shown in full and never summarised.
const KEPT_HUMANS: usize = 2;

/// Returns the messages of `thread` (oldest first) to summarise, so that the others and the summary fit into `limits`;
/// empty if the whole thread fits.
pub fn oldest_part(thread: &[ThreadMessage], limits: ThreadLimits) -> Vec<Seq> {
    let tokens: usize = thread.iter().map(|one| one.tokens).sum();
    if thread.len() <= limits.messages && tokens <= limits.tokens {
        return Vec::new();
    }
    let most = if thread.len() > limits.messages { limits.messages.saturating_sub(ROOM) } else { thread.len() };
    let mut left = if tokens > limits.tokens { limits.tokens.saturating_sub(SUMMARY_TOKENS) } else { usize::MAX };
    let newest = thread.iter().rev().take(most).take_while(|one| {
        let fits = one.tokens <= left;
        left = left.saturating_sub(one.tokens);
        fits
    });
    let kept = newest.count();
    let newest_humans: Vec<Seq> =
        thread.iter().rev().filter(|one| one.is_human).take(KEPT_HUMANS).map(|one| one.seq).collect();
    let oldest = thread[..thread.len() - kept].iter();
    oldest.filter(|one| !one.is_anchor && !newest_humans.contains(&one.seq)).map(|one| one.seq).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMITS: ThreadLimits = ThreadLimits { messages: 60, tokens: MAX_THREAD_TOKENS };

    fn thread(tokens: &[usize]) -> Vec<ThreadMessage> {
        let one = |(seq, tokens): (u32, &usize)| ThreadMessage {
            seq: Seq(seq),
            tokens: *tokens,
            is_human: true,
            is_anchor: false,
        };
        (1..).zip(tokens).map(one).collect()
    }

    #[test]
    fn a_strand_within_its_limits_stays_whole() {
        assert_eq!(oldest_part(&thread(&[100; 60]), LIMITS), []);
    }

    #[test]
    fn beyond_sixty_messages_the_newest_fifty_eight_stay() {
        assert_eq!(oldest_part(&thread(&[10; 61]), LIMITS), [Seq(1), Seq(2), Seq(3)]);
    }

    #[test]
    fn beyond_six_thousand_tokens_the_newest_that_fit_beside_the_summary_stay() {
        let oldest = oldest_part(&thread(&[1000; 7]), LIMITS);
        assert_eq!(oldest, [Seq(1), Seq(2)]);
    }

    #[test]
    fn the_newest_two_of_members_and_the_anchor_stay_whatever_they_take() {
        let mut long = thread(&[9000, 9000, 9000, 9000]);
        long[0].is_anchor = true;
        long[3].is_human = false;
        assert_eq!(oldest_part(&long, LIMITS), [Seq(4)]);
    }

    proptest! {
        #[test]
        fn what_is_left_keeps_the_limits_but_for_what_has_to_stay(
            tokens in prop::collection::vec(0_usize..3000, 0..120),
        ) {
            let thread = thread(&tokens);
            let oldest = oldest_part(&thread, LIMITS);
            let left: Vec<&ThreadMessage> = thread.iter().filter(|one| !oldest.contains(&one.seq)).collect();
            prop_assert!(left.len() <= 60);
            let sum: usize = left.iter().map(|one| one.tokens).sum();
            prop_assert!(sum <= 6000 || left.len() <= KEPT_HUMANS + 1);
            let newest: Vec<Seq> = thread.iter().rev().take(2).map(|one| one.seq).collect();
            prop_assert!(newest.iter().all(|seq| !oldest.contains(seq)));
        }
    }
}
