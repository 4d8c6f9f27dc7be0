//! The sentences of answers that no model wrote, and of what `/why` tells of a follow-up.

use crate::rows::rows;

rows! {
    /// The answer without a model.
    pub struct DigestTexts {
        /// Goes before the messages that an answer would rest on.
        pub messages: String,
        /// The message that is replied to may not be read.
        pub withheld: String,
        /// No message, and since when messages are kept.
        pub nothing: String,
        pub from_now_on: String,
        /// Behind an answer of a model that broke off.
        pub cut: String,
    }
}

rows! {
    /// How an ask was understood that goes on with what the bot suggested.
    pub struct FollowUpTexts {
        pub taken: String,
        pub suggest: String,
        pub more: String,
        pub cheaper: String,
        pub budget: String,
        pub entity_search: String,
        pub item_question: String,
        pub compare: String,
        pub ask: String,
        pub at_least: String,
        pub at_most: String,
        pub between: String,
        pub by_reply: String,
        pub by_strand: String,
        pub by_member: String,
        pub kept: String,
        pub named: String,
        pub meant: String,
        pub by_position: String,
        pub by_only: String,
        pub by_primary: String,
        pub by_last: String,
        pub by_choice: String,
        pub anew: String,
        pub kind_changed: String,
        pub recipient_changed: String,
        pub occasion_changed: String,
        pub start_over: String,
        pub excluded: String,
        pub and_more: String,
        pub unclear: String,
        /// What an ask can take over, in the order of `answer::followup::preserve::FIELDS`.
        pub fields: [String; 9],
    }
}
