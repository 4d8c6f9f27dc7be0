//! Texts of answers without a model, and of `/why` for follow-ups.

use crate::rows::rows;

rows! {
    /// Texts of the answer without a model: a digest, which lists messages of the chat.
    pub struct DigestTexts {
        /// Heading of the list of messages.
        pub messages: String,
        /// Shown if the bot may not read the message that the trigger replies to.
        pub withheld: String,
        /// Shown if there is no message to list. Says since when the bot can read the chat.
        pub nothing: String,
        /// Shown instead of `nothing` if the bot has no earlier message at all.
        pub from_now_on: String,
        /// Appended to an answer that the model did not finish.
        pub cut: String,
    }
}

rows! {
    /// Sentences that say why a linked page could not be read. Each has a blank for the page's address.
    pub struct UnreadTexts {
        pub slow: String,
        pub unreachable: String,
        pub refused: String,
        pub too_large: String,
        pub no_text: String,
        pub no_page: String,
    }
}

rows! {
    /// Sentences that say why a file could not be read. Each has a blank for its name.
    pub struct UnreadFileTexts {
        pub encrypted: String,
        pub damaged: String,
        pub too_large: String,
        pub no_text: String,
        pub unsupported: String,
        pub slow: String,
        pub unavailable: String,
    }
}

rows! {
    /// Explanations by `/why` of a question that asks for suggestions or continues them.
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
        /// Names of the inheritable fields, in the order of `FIELDS` in `chime-answer`'s `followup/preserve.rs`.
        pub fields: [String; 9],
    }
}
