//! Texts about memory and recaps.

use crate::rows::rows;

rows! {
    /// Texts of `/memory` and `/new`.
    pub struct MemoryTexts {
        pub none_yet: String,
        pub being_made: String,
        /// Heading of a section.
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
    /// Texts of `/recap`.
    pub struct RecapTexts {
        pub head: String,
        /// Part of the heading that names the chat, if the recap is sent to another chat.
        pub of: String,
        pub newest: String,
        pub messages_one: String,
        pub messages_many: String,
        pub members_one: String,
        pub members_many: String,
        pub own_words: String,
        pub nothing: String,
        pub in_private: String,
        /// Shown below a personal recap that could not be sent in private.
        pub could_be_private: String,
        pub reply_not_kept: String,
        pub never_here: String,
        pub only_admins: String,
        pub subscribed: String,
        pub next: String,
        /// Time of the next recap, inserted into `next`, if it is today; `next_on` is for other days.
        pub next_today: String,
        pub next_on: String,
        pub unsubscribed: String,
        pub not_subscribed: String,
        pub how: String,
        pub comes: String,
        pub daily: String,
        pub weekly: String,
        /// The words for "every Monday", "every Tuesday" and so on.
        pub days: [String; 7],
        pub words: RecapWords,
    }
}

rows! {
    /// Words that members type after `/recap`, in lower case.
    pub struct RecapWords {
        pub today: Vec<String>,
        pub yesterday: Vec<String>,
        /// Words for "since", at the beginning or the end.
        pub since: Vec<String>,
        /// Words after "since" for the asker's own last message, as in "since my last message".
        pub mine: Vec<String>,
        pub missed: Vec<String>,
        pub daily: Vec<String>,
        pub weekly: Vec<String>,
        pub off: Vec<String>,
        pub minutes: Vec<String>,
        pub hours: Vec<String>,
        pub days: Vec<String>,
        pub weeks: Vec<String>,
        /// Long and short names of each weekday, from Monday.
        pub weekdays: [Vec<String>; 7],
    }
}
