//! The sentences about what is remembered of a chat, and about recaps.

use crate::rows::rows;

rows! {
    /// `/memory` and `/new`.
    pub struct MemoryTexts {
        pub none_yet: String,
        pub being_made: String,
        /// The head of a section.
        pub head: String,
        pub recent: String,
        pub recent_when: String,
        pub history: String,
        pub history_when: String,
        pub topic: String,
        pub topic_when: String,
        pub sessions_one: String,
        pub sessions_many: String,
        pub own_words: String,
        pub off_here: String,
        pub off_everywhere: String,
        pub switched_on: String,
        pub switched_off: String,
        pub only_admins: String,
        pub only_members: String,
        pub how: String,
        pub new_talk: String,
    }
}

rows! {
    /// `/recap`.
    pub struct RecapTexts {
        pub head: String,
        /// Within the head, where a recap is shown elsewhere: the chat that it is of.
        pub of: String,
        pub newest: String,
        pub messages_one: String,
        pub messages_many: String,
        pub members_one: String,
        pub members_many: String,
        pub own_words: String,
        pub nothing: String,
        pub in_private: String,
        /// Below a recap for one member that could not go to them in private.
        pub could_be_private: String,
        pub reply_not_kept: String,
        pub never_here: String,
        pub only_admins: String,
        pub subscribed: String,
        pub next: String,
        /// The moment in `next`: of the same day, and of another.
        pub next_today: String,
        pub next_on: String,
        pub unsubscribed: String,
        pub not_subscribed: String,
        pub how: String,
        pub comes: String,
        pub daily: String,
        pub weekly: String,
        /// "every Monday", from Monday on.
        pub days: [String; 7],
        pub words: RecapWords,
    }
}

rows! {
    /// What members type behind `/recap`, in lower case.
    pub struct RecapWords {
        pub today: Vec<String>,
        pub yesterday: Vec<String>,
        /// At the beginning or the end.
        pub since: Vec<String>,
        /// Words of which one tells that "since" is about the asker's own last visit.
        pub mine: Vec<String>,
        pub missed: Vec<String>,
        pub daily: Vec<String>,
        pub weekly: Vec<String>,
        pub off: Vec<String>,
        pub minutes: Vec<String>,
        pub hours: Vec<String>,
        pub days: Vec<String>,
        pub weeks: Vec<String>,
        /// Long and short names of each, from Monday on.
        pub weekdays: [Vec<String>; 7],
    }
}
