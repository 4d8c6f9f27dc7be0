//! Words for service messages without details, such as "pinned a message".

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Words by the names of an event: a field of the Bot API, or an action of an export.
static WORDS: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let lines = include_str!("service_events.txt").lines().filter_map(|line| line.split_once(": "));
    lines.flat_map(|(words, names)| names.split(' ').map(move |name| (name, words))).collect()
});

/// Returns the words to put after the sender's name for the event `name`, or `None` if it is no event without details.
pub fn event_words(name: &str) -> Option<&'static str> {
    WORDS.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TOPIC_CLOSED;

    #[test]
    fn events_of_updates_and_of_exports_have_the_same_words() {
        assert_eq!(event_words("forum_topic_closed"), Some(TOPIC_CLOSED));
        assert_eq!(event_words("pin_message"), event_words("pinned_message"));
        assert_eq!(event_words("text"), None);
    }
}
