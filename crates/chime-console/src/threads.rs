//! Threads of a page of messages: what each message replies to, and where the arcs of replies are drawn.

use std::collections::BTreeMap;

use chime_core::{ForumTopicId, MessageId, StoredMessage};
use chime_memory::context::FeatureCache;
use chime_relevance::context::Antecedents;
use chime_relevance::context::features::message::address;
use chime_store::Reader;

/// Number of colours of threads.
const COLOURS: usize = 8;

/// Link of a message to an earlier one of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyLink {
    /// Place of the earlier message on the page.
    pub parent: usize,
    /// `true` if the message is a reply in Telegram, `false` if the link was guessed.
    pub is_reply: bool,
}

/// Arc between two messages of the page, by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyArc {
    pub from: usize,
    pub to: usize,
    /// Column from 1 (outside) to the number of lanes.
    pub lane: usize,
    pub is_reply: bool,
}

/// Finds what each message of a page replies to: by Telegram's replies, otherwise the likeliest antecedent if that is
/// likelier than a new thread.
pub fn reply_links(
    conn: &Reader,
    messages: &[StoredMessage],
    features: &FeatureCache,
) -> chime_store::Result<Vec<Option<ReplyLink>>> {
    let mut conversations: BTreeMap<Option<ForumTopicId>, Vec<usize>> = BTreeMap::new();
    for (place, stored) in messages.iter().enumerate() {
        conversations.entry(stored.message.forum_topic).or_default().push(place);
    }
    let ids: BTreeMap<MessageId, usize> =
        messages.iter().enumerate().map(|(place, stored)| (stored.message.id, place)).collect();
    let mut links = vec![None; messages.len()];
    for places in conversations.values() {
        let own: Vec<StoredMessage> = places.iter().map(|place| messages[*place].clone()).collect();
        let Some(last) = own.last() else { continue };
        let evidence = features.features(conn, last, &last.message.text, &[], &own)?;
        for (index, place) in places.iter().enumerate() {
            let replied = own[index].message.reply_to.and_then(|id| ids.get(&id)).filter(|parent| *parent < place);
            links[*place] = match replied {
                Some(parent) => Some(ReplyLink { parent: *parent, is_reply: true }),
                None => evidence
                    .antecedents
                    .get(&address(&own[index]))
                    .and_then(|antecedents| likeliest(antecedents))
                    .and_then(|distance| index.checked_sub(distance))
                    .map(|parent| ReplyLink { parent: places[parent], is_reply: false }),
            };
        }
    }
    Ok(links)
}

/// Returns how many messages back the likeliest antecedent is; `None` if a new thread is likelier.
fn likeliest(antecedents: &Antecedents) -> Option<usize> {
    let best = antecedents.0.iter().max_by(|one, other| one.probability.total_cmp(&other.probability))?;
    (best.probability > antecedents.starts_new()).then_some(best.distance)
}

/// Returns the colour of each message, counted from 1; 0 for messages that are alone in their thread.
pub fn colours(links: &[Option<ReplyLink>]) -> Vec<usize> {
    let mut thread: Vec<usize> = Vec::new();
    for (place, link) in links.iter().enumerate() {
        thread.push(link.map_or(place, |link| thread[link.parent]));
    }
    let mut named: BTreeMap<usize, usize> = BTreeMap::new();
    let is_alone = |root: usize| thread.iter().filter(|other| **other == root).count() < 2;
    thread
        .iter()
        .map(|root| {
            if is_alone(*root) {
                return 0;
            }
            let next = named.len();
            *named.entry(*root).or_insert(next) % COLOURS + 1
        })
        .collect()
}

/// Places arcs in lanes so that no two in one lane overlap, short ones nearest to the text. Arcs that fit into no lane,
/// and guessed ones between neighbours, are left out.
pub fn arcs(links: &[Option<ReplyLink>], lanes: usize) -> Vec<ReplyArc> {
    let mut wanted: Vec<(usize, usize, bool)> = (links.iter().enumerate())
        .filter_map(|(to, link)| link.map(|link| (link.parent, to, link.is_reply)))
        .filter(|(from, to, is_reply)| *is_reply || to - from > 1)
        .collect();
    wanted.sort_by_key(|(from, to, is_reply)| (to - from, !is_reply, *from));
    let mut arcs: Vec<ReplyArc> = Vec::new();
    for (from, to, is_reply) in wanted {
        let is_free =
            |lane: &usize| !arcs.iter().any(|other| other.lane == *lane && from < other.to && other.from < to);
        if let Some(lane) = (1..=lanes).rev().find(is_free) {
            arcs.push(ReplyArc { from, to, lane, is_reply });
        }
    }
    arcs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(parent: usize) -> Option<ReplyLink> {
        Some(ReplyLink { parent, is_reply: true })
    }

    fn guess(parent: usize) -> Option<ReplyLink> {
        Some(ReplyLink { parent, is_reply: false })
    }

    #[test]
    fn threads_have_colours_and_single_messages_none() {
        assert_eq!(colours(&[None, None, guess(0), None, reply(2), reply(1)]), [1, 2, 1, 0, 1, 2]);
    }

    #[test]
    fn arcs_that_overlap_are_in_different_lanes() {
        let arc = |from, to, lane, is_reply| ReplyArc { from, to, lane, is_reply };
        let placed = arcs(&[None, reply(0), guess(1), reply(0), guess(1)], 2);
        assert_eq!(placed, [arc(0, 1, 2, true), arc(0, 3, 1, true), arc(1, 4, 2, false)]);
        assert_eq!(arcs(&[None, None, reply(0), reply(1)], 1).len(), 1, "no room for the second");
    }
}
