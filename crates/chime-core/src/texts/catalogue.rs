//! Names of the texts. `lang/en.toml` explains them.

use std::collections::BTreeMap;

use crate::rows::rows;

rows! {
    /// All texts in one language, as Markdown. Placeholders in braces are filled by [`filled`](super::filled).
    pub struct Texts {
        help, help_private, one_moment, why_what, why_gone, why_recap, out_here, out_everywhere, privacy, privacy_raw,
        privacy_links, privacy_files, privacy_quiet,
        privacy_copies, privacy_memory, privacy_memory_off, privacy_memory_off_private, privacy_redacted,
        privacy_optout, privacy_forget, privacy_forget_me, privacy_forget_all, export_sent, export_who,
        export_anonymous, export_write_first, export_large, export_announced, export_called_off, export_not_pending,
        export_no_longer_admin, opted_out_here, opted_out_everywhere, opted_in, never_out, still_out, anonymous,
        no_longer_allowed, forget_what, not_theirs, not_admin, not_kept, announced, called_off, nothing_pending,
        no_longer_admin, kept_nothing, forgotten_one, forgotten_many, more_one, more_many, posted_stays, wrong_key, wrong_model,
        refused_for_good, no_answer, too_long, made_up, topics_none, topics_head, topics_now, topics_near, topics_how, topics_unknown,
        topics_set, topics_same, topics_merged, quote, date, months: [String; 12], why: WhyTexts, digest: DigestTexts, unread: UnreadTexts,
        unread_file: UnreadFileTexts,
        menu: BTreeMap<String, String>, follow_up: FollowUpTexts, memory: MemoryTexts, recap: RecapTexts,
        notes: NoteTexts, concepts: ConceptTexts, settings: SettingsTexts, access: AccessTexts, search: SearchTexts, reminders: ReminderTexts, items: ItemTexts, usage: UsageTexts, polls: PollTexts, guests: GuestTexts, notices: Notices,
        privacy_notice: PrivacyNoticeTexts, citations: CitationTexts,
    }
}

rows! {
    pub struct WhyTexts {
        used, looked_at, used_none, not_kept, cited, cited_for, replied_you, replied_tag, marked_you, marked_tag, used_before, looked_up, answer_to_it,
        what_it_answered, query, named, found, own_just_before, just_before, own, chain, nearby, same_subject, minutes,
        hours, days, around_one, around_many, recalled, recalled_place, words, author, meaning, talk_summary, talk_tag,
        day, beside, and, summaries_seen, topic, concepts, lines_one, lines_many, lines_from, left_out, left_one, left_many, no_room,
        something_else, guard, uncertainty, low, medium, high, model, no_model, unusable, made_up,
        effort,
    }
}

rows! {
    /// Texts of the answer without a model: a digest, which lists messages of the chat.
    pub struct DigestTexts {
        messages, no_own_task, withheld, nothing, from_now_on, cut, left_out,
    }
}

rows! {
    /// Explanations by `/why` of a question that asks for suggestions or continues them.
    pub struct FollowUpTexts {
        taken, suggest, more, cheaper, budget, entity_search, item_question, ask, at_most, kinds: BTreeMap<String, String>, by_reply, by_thread,
        kept, named, meant, by_position, by_only, by_primary, by_last, by_choice, anew, kind_changed,
        start_over, excluded, and_more, unclear, none_fits,
    }
}

rows! {
    /// Texts of `/memory` and `/new`.
    pub struct MemoryTexts {
        none_yet, being_made, head, recent, recent_when, history, history_when, topic, topic_when, sessions_one,
        sessions_many, own_words, off_here, off_everywhere, switched_on, switched_off, only_admins, only_members, how,
        new_talk,
    }
}

rows! {
    /// Texts of `/recap`.
    pub struct RecapTexts {
        head, since, between, of, newest, messages_one, messages_many, members_one, members_many, own_words, nothing, in_private,
        could_be_private, reply_not_kept, never_here, only_admins, subscribed, next, next_today, next_on, unsubscribed,
        not_subscribed, unclear, how, comes, daily, weekly, days: [String; 7], words: RecapWords,
    }
}

rows! {
    /// Words that members type after `/recap`, in lower case.
    pub struct RecapWords {
        today: Vec<String>, yesterday: Vec<String>, since: Vec<String>, mine: Vec<String>, missed: Vec<String>,
        daily: Vec<String>, weekly: Vec<String>, off: Vec<String>, minutes: Vec<String>, hours: Vec<String>,
        days: Vec<String>, weeks: Vec<String>, weekdays: [Vec<String>; 7],
    }
}

rows! {
    /// Texts for chats and users without access, and for `/claim`.
    pub struct AccessTexts {
        turned_away, only_owners, only_members, your_id, claim, claimed, wrong_code, claim_in_private, console_link,
        console_who, console_off,
    }
}

rows! {
    pub struct NoteTexts {
        only_admins, how, nothing_there, opted_out, full, saved, deleted, no_such, none, head,
    }
}

rows! {
    pub struct ConceptTexts {
        none, here, known, also, and_more,
    }
}

rows! {
    /// Texts and button labels of `/settings`.
    pub struct SettingsTexts {
        head, admins_change, you_change, memory_off_question, memory_off_confirm_button,
        memory_keep_button, unknown, unknown_name, nowhere, no_topic, head_topic, head_of, more_button, back_button, topic_button, whole_button, of: BTreeMap<String, BTreeMap<String, String>>,
    }
}

rows! {
    /// Sentences that say why a linked page could not be read, or only its beginning. Each has a blank for the page's
    /// address.
    pub struct UnreadTexts {
        slow, unreachable, too_large, no_text, file, no_page, cut, no_search,
    }
}

rows! {
    /// Sentences that say why a file or some of its pages could not be read. Each has a blank for its name.
    pub struct UnreadFileTexts {
        encrypted, damaged, too_large, no_text, unsupported, slow, unavailable, pages, voice,
    }
}

rows! {
    /// Texts of `/search`.
    pub struct SearchTexts {
        head, none, only_messages, unread_filter, how, which, here_button, rest,
    }
}

rows! {
    pub struct ReminderTexts {
        set, weekdays: [String; 7], set_daily, set_weekly, last_day, cancel_button, cancelled, only_theirs, due, late, began, none, head, full,
        past, unreadable, unsupported, how, opted_out, list,
    }
}

rows! {
    /// Headings of lists, and texts of `/decisions` and `/open`.
    pub struct ItemTexts {
        decisions, tasks, questions, also, done, no_decisions, none_open, how,
    }
}

rows! {
    /// Texts of `/usage`.
    pub struct UsageTexts {
        head, only_admins, today, today_of, month, cost, members, models, background, others,
    }
}

rows! {
    /// Texts of the poll about a list of suggestions.
    pub struct PollTexts {
        button, question, made,
    }
}

rows! {
    /// Texts in chats that the bot is not in.
    pub struct GuestTexts {
        invitation,
    }
}

rows! {
    /// Short notices to members.
    pub struct Notices {
        unknown_button, admins_only, admins_unknown, guard, unsourced, conversation, member, flood, daily_tokens, daily_tokens_of_chat,
        daily_tokens_of_member, admins_ask, ask_again_now, ask_again, until_then, silent, which_person,
        sorry, sorry_relevant, sorry_try_again, sorry_if_you_like, missed_one, missed_many, imported,
        in_a_second, in_seconds, in_a_minute, in_minutes, in_hours,
    }
}

rows! {
    /// Texts of the message that each chat gets once: what the bot stores.
    pub struct PrivacyNoticeTexts {
        opening, opening_private, goes_to, all_go_to, summaries_too, voice_too, web_too, remembers, remembers_here,
        remembers_private, news, news_voice, goes_nowhere, kept_for, kept_for_good, deleted_in_telegram, run_by,
        hears_little, commands,
    }
}

rows! {
    /// Labels of the lines that list the sources of an answer, of the sources in them, and note about a removed
    /// citation.
    pub struct CitationTexts { sources, removed, web, page, kinds: BTreeMap<String, String> }
}
