//! Answer without a model: a list of the messages that fit the question best.

use crate::extractive_ranking::{Query, bullets, is_said, is_tag, most_telling, says_something, stem_substring_ratios};
use crate::sanitize::{clean_name, escape_markdown, one_line};
use chime_core::texts::{DigestTexts, Texts, filled};
use chime_core::{BotIdentity, Citable, Enrichment, Seq, Slot, SourceKind, Timestamp, Zone};
use chime_relevance::context::ContextWindow;
use chime_relevance::retrieval::names_time;

/// Maximum number of messages in a digest.
const DIGEST_MESSAGES: usize = 6;
/// Minimum share of a question's words in a decision or task that is about it.
const ABOUT: f64 = 0.5;
/// Maximum number of characters of a piece of a page, document or note.
const PIECE_CHARS: usize = 900;

/// Returns Markdown that lists the most relevant messages of `window`. Its citations must still be checked.
///
/// `earliest` is the time of the first message that the bot has. It is mentioned if there is nothing to list.
///
/// `piece` is the piece of a page, document or note that answers the question best. It comes first.
pub fn digest(
    window: &ContextWindow,
    query: Query<'_>,
    earliest: Option<(Timestamp, Zone)>,
    piece: Option<&Citable>,
    texts: &Texts,
) -> String {
    let DigestTexts { messages, withheld, .. } = &texts.digest;
    let shown = most_telling(window, query, DIGEST_MESSAGES);
    if window.anchor_withheld {
        return if shown.is_empty() {
            withheld.clone()
        } else {
            format!("{withheld}\n\n{}", bullets(&shown, query.ask, texts))
        };
    }
    let piece = piece.map(|piece| {
        let name = clean_name(&piece.name);
        let quote = texts.quoted(&escape_markdown(&one_line(&piece.text, PIECE_CHARS)));
        // The title of a short note is its text.
        match piece.text.starts_with(name.trim_end_matches('…')) {
            true => format!("- {quote} [source: {}]", piece.id),
            false => format!("- **{}**: {quote} [source: {}]", escape_markdown(&name), piece.id),
        }
    });
    let lines: Vec<String> =
        piece.into_iter().chain((!shown.is_empty()).then(|| bullets(&shown, query.ask, texts))).collect();
    if lines.is_empty() {
        return nothing_earlier(earliest, texts);
    }
    format!("{messages}\n\n{}", lines.join("\n"))
}

/// Lists what members said after the message `last`, without questions to the bot.
pub fn after(window: &ContextWindow, last: Seq, bot: &BotIdentity, texts: &Texts) -> String {
    let later = window.entries.iter().filter(|entry| entry.message.seq > last);
    let said: Vec<_> =
        later.filter(|entry| says_something(entry) && !is_tag(entry, bot)).take(DIGEST_MESSAGES).collect();
    bullets(&said, "", texts)
}

/// Returns the decisions or open tasks that the question asks for, as a list with citations: those about its `subject`,
/// or all if it has none. They are the only summaries among the pieces of [`Slot::Recall`].
///
/// Returns `None` if there are none, or if none is about the subject and messages of the `window` are.
pub fn items(enrichment: &Enrichment, subject: &str, window: &ContextWindow, query: Query<'_>) -> Option<String> {
    let mut items: Vec<&Citable> = found_items(enrichment).collect();
    if !names_time(subject) {
        let texts: Vec<String> = items.iter().map(|item| item.text.clone()).collect();
        let fits: Vec<bool> = stem_substring_ratios(subject, &texts).into_iter().map(|share| share >= ABOUT).collect();
        if fits.contains(&true) {
            let mut fits = fits.into_iter();
            items.retain(|_| fits.next().unwrap_or_default());
        } else if is_said(window, Query { ask: subject, embedder: None, ..query }) {
            return None;
        }
    }
    let line = |it: &&Citable| format!("- {} [source: {}]", escape_markdown(&it.text), it.id);
    let lines: Vec<String> = items.iter().take(DIGEST_MESSAGES).map(line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn found_items(enrichment: &Enrichment) -> impl Iterator<Item = &Citable> {
    let pieces = enrichment.pieces.iter().filter(|piece| piece.slot == Slot::Recall);
    let sources = pieces.flat_map(|piece| &piece.lines).filter_map(|line| line.source.as_ref());
    sources.filter(|source| source.id.kind == SourceKind::Summary)
}

/// Returns `true` if the chat has decisions or tasks of the kind that the question asks for.
pub fn has_items(enrichment: &Enrichment) -> bool {
    found_items(enrichment).next().is_some()
}

/// Returns the answer to a member who asks for their tasks and has none: says so, and lists the most telling messages
/// of `window`, of which the caller has kept only those with a word of the member's name.
pub fn no_own_task(window: &ContextWindow, query: Query<'_>, texts: &Texts) -> String {
    let DigestTexts { no_own_task, messages, .. } = &texts.digest;
    let shown = most_telling(window, query, DIGEST_MESSAGES);
    match shown.is_empty() {
        true => no_own_task.clone(),
        false => format!("{no_own_task} {messages}\n\n{}", bullets(&shown, query.ask, texts)),
    }
}

/// Returns the notice that no earlier message was found, with the time from which the bot has messages.
fn nothing_earlier(earliest: Option<(Timestamp, Zone)>, texts: &Texts) -> String {
    let Some((at, zone)) = earliest else { return texts.digest.from_now_on.clone() };
    let since = format!("{}, {}", texts.date_of(at, zone), zone.told_time(at));
    filled(&texts.digest.nothing, &[("since", &since)])
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use chime_core::testkit::{moment, transcript};
    use chime_core::texts::texts;
    use chime_core::{Language, Reason, UserId};
    use chime_relevance::context::{History, Params, get_smart_context};

    fn identity() -> BotIdentity {
        BotIdentity {
            id: UserId(1),
            usernames: vec!["bot".to_owned()],
            name: "Bot".to_owned(),
            reads_all_group_messages: true,
        }
    }

    #[track_caller]
    fn check(chat: &str, expected: Expect) {
        let mut recent = transcript(chat);
        let trigger = recent.pop().expect("a trigger");
        let history = History::new(trigger, recent, Vec::new());
        let mut window = get_smart_context(&history, &Params::new(str::len));
        // Marks all other messages as related to the subject, newer ones with a higher score.
        let others = window.entries.iter_mut().rev().filter(|entry| !entry.reason.is_anchor());
        for (entry, age) in others.zip(0..) {
            (entry.reason, entry.score) = (Reason::Thread, 0.85 * 0.95_f64.powi(age));
        }
        let bot = identity();
        let query = Query {
            ask: history.ask.trim_start_matches("@bot").trim(),
            bot: &bot,
            language: Language::DEFAULT,
            embedder: None,
        };
        expected.assert_eq(&digest(&window, query, Some((moment("-1d 09:30"), Zone::UTC)), None, texts("eng")));
    }

    #[test]
    fn where_the_matter_is_only_tags_what_was_said_around_them_is_shown() {
        let mut recent = transcript(
            "10:00 ann#1 the boat leaks\n10:01 bob#2 I have tar\n10:02 cat#3 @bot hm\n10:03 cat#4 @bot and hers",
        );
        let trigger = recent.pop().expect("a trigger");
        let history = History::new(trigger, recent, Vec::new());
        let mut window = get_smart_context(&history, &Params::new(str::len));
        for entry in &mut window.entries {
            let is_tag = entry.message.message.text.starts_with("@bot");
            entry.reason = if is_tag { Reason::Thread } else { Reason::Nearby };
        }
        let bot = identity();
        let rendered = digest(
            &window,
            Query { ask: "and hers", bot: &bot, language: Language::DEFAULT, embedder: None },
            None,
            None,
            texts("eng"),
        );
        assert!(rendered.ends_with("leaks” [source: m1]\n- **bob**: “I have tar” [source: m2]"), "{rendered}");
    }

    #[test]
    fn a_question_that_was_asked_before_in_vain_is_no_answer() {
        check(
            "
            10:00 ann#1 who has the key?
            10:01 bob#2>1 under the plant
            10:20 cat#3 who has the key now?
            10:21 cat#4 @bot who has the key?
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **ann**: “who has the key?” [source: m1]
                - **bob**: “under the plant” [source: m2]"#]],
        );
    }

    #[test]
    fn a_short_window_is_shown_whole_in_order_of_time() {
        check(
            "
            10:00 ann#1 who can drive to the *lake*?
            10:01 bob#2>1 I can
                | two seats
            10:02 cat#3 [voice 0:12]
            10:03 dan#4 @bot
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **ann**: “who can drive to the \*lake\*?” [source: m1]
                - **bob**: “I can two seats” [source: m2]
                - **cat**: “\[voice 0:12\]” [source: m3]"#]],
        );
    }

    #[test]
    fn of_a_long_window_the_most_telling_six_are_shown() {
        check(
            "
            10:00 ann#1 who can drive to the lake?
            10:01 eve#2 hm
            10:02 bob#3>1 I can, but I have only two seats, and one of them is broken since the trip in the summer
            10:03 eve#4 ok
            10:04 cat#5>1 me too
            10:05 eve#6 nice
            10:06 chime#7 [assistant] You asked me this before.
            10:07 ann#8 when do we leave?
            10:08 eve#9 ah
            10:09 cat#10 the weather is said to turn on Saturday afternoon
            10:10 bob#11 then early
            10:11 dan#12>4 @bot
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **ann**: “who can drive to the lake?” [source: m1]
                - **bob**: “I can, but I have only two seats, and one of them is broken since the trip in the summer” [source: m3]
                - **eve**: “ok” [source: m4]
                - **ann**: “when do we leave?” [source: m8]
                - **cat**: “the weather is said to turn on Saturday afternoon” [source: m10]
                - **bob**: “then early” [source: m11]"#]],
        );
    }

    #[test]
    fn an_earlier_answer_of_the_bot_is_shown_only_where_it_is_replied_to() {
        check(
            "
            10:00 chime#1 [assistant] At *noon* [1].
                |
                | Sources: [1] ann 09:00
            10:01 chime#2 [assistant] Or later.
            10:02 bob#3>1 @bot sure?
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **chime**: “At \*noon\*.” [source: m1]"#]],
        );
    }

    #[test]
    fn the_answer_to_what_is_asked_comes_with_its_question_and_earlier_tags_do_not() {
        check(
            "
            10:00 dina#1 Who has the key to the cupboard? Somebody locked it
            10:02 ben#2>1 Under the plant. As always
            10:03 ann#3 @bot where is the key?
            10:04 ann#4 Good morning everyone
            10:05 carl#5 The thai restaurant on 10th Ave?
            10:06 ann#6 They have a garden
            10:07 carl#7 @bot where is the key?
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **dina**: “Who has the key to the cupboard? Somebody locked it” [source: m1]
                - **ben**: “Under the plant. As always” [source: m2]"#]],
        );
    }

    #[test]
    fn tags_and_commands_are_not_shown_and_a_path_is() {
        check(
            "
            10:00 ann#1 @bot suggest books under 20 euros for a birthday of my brother
            10:01 dina#2 something with dragons or spaceships
            10:02 ann#3 /решения birthday brother books
            10:03 ben#4 /srv/books has a list for the birthday
            10:04 ann#5 @bot who buys books for the birthday of my brother
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **ben**: “/srv/books has a list for the birthday” [source: m4]"#]],
        );
    }

    #[test]
    fn a_question_about_something_else_shows_none_of_the_talk() {
        let talk = "10:00 ann#1 who can drive to the lake?\n10:01 bob#2>1 I can, I have two seats\n10:02 cat#3 @bot ";
        for ask in ["how tall is Everest?", "kuinka korkea on Everest?", "who invented the telephone?", "OPS-999?"] {
            check(
                &format!("{talk}{ask}"),
                expect![
                    "No model is configured, and I found no earlier message this could be about. I can read this chat since 4 Jan 2026, 09:30 UTC. Tag me in a reply to the message you mean."
                ],
            );
        }
        check(
            &format!("{talk}what shall we bring along?"),
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **ann**: “who can drive to the lake?” [source: m1]
                - **bob**: “I can, I have two seats” [source: m2]"#]],
        );
    }

    #[test]
    fn a_question_for_a_time_shows_the_time_of_the_current_talk() {
        let talk = "
            10:00 ann#1 shall we eat together again?
            10:01 bob#2>1 Friday at seven, if they have a table?
            10:02 cat#3>2 fine with me
            10:03 dan#4 @bot ";
        for ask in ["wann treffen wir uns?", "¿a qué hora quedamos?", "ne zaman buluşuyoruz?"] {
            check(
                &format!("{talk}{ask}"),
                expect![[r#"
                    No model is configured, so here is what I would answer from:

                    - **bob**: “Friday at seven, if they have a table?” [source: m2]
                    - **cat**: “fine with me” [source: m3]"#]],
            );
        }
        check(
            &format!("{talk}when was the moon landing?"),
            expect![
                "No model is configured, and I found no earlier message this could be about. I can read this chat since 4 Jan 2026, 09:30 UTC. Tag me in a reply to the message you mean."
            ],
        );
    }

    #[test]
    fn a_tag_without_words_shows_the_answer_to_the_open_question() {
        let talk = "
            10:00 ann#1 rehearsal is on thursday at seven
            10:01 bob#2 my bike is broken
            10:02 cat#3 again?
            10:03 bob#4>3 the chain
            10:04 cat#5 I have a spare one
            10:05 bob#6>5 thanks a lot
            10:06 ann#7 it rains here
            10:07 dan#8 what time is rehearsal?
            10:08 dan#9 my phone is nearly dead";
        for tag in ["10:09 bob#10 @bot ?", "10:09 bob#10>8 @bot"] {
            check(
                &format!("{talk}\n{tag}"),
                expect![[r#"
                    No model is configured, so here is what I would answer from:

                    - **ann**: “rehearsal is on thursday at seven” [source: m1]
                    - **cat**: “I have a spare one” [source: m5]
                    - **bob**: “thanks a lot” [source: m6]
                    - **ann**: “it rains here” [source: m7]
                    - **dan**: “what time is rehearsal?” [source: m8]
                    - **dan**: “my phone is nearly dead” [source: m9]"#]],
            );
        }
    }

    #[test]
    fn what_may_change_a_value_is_shown_with_it() {
        check(
            "
            10:00 ann#1 the handover is on march 28, with Mr Petersen
            10:01 bob#2 my bike is broken
            10:02 cat#3 the tram takes 20 minutes
            10:03 ann#4 Mr Petersen called: he can only come on march 30
            10:04 bob#5 my sister comes on march 31
            10:05 cat#6 and the cat needs food
            10:06 bob#7 @bot when is the handover?
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **ann**: “the handover is on march 28, with Mr Petersen” [source: m1]
                - **ann**: “Mr Petersen called: he can only come on march 30” [source: m4]
                - **bob**: “my sister comes on march 31” [source: m5]
                - **cat**: “and the cat needs food” [source: m6]"#]],
        );
    }

    #[test]
    fn what_is_replied_to_an_answer_comes_with_it() {
        check(
            "
            10:00 ines#1 Does anybody have the key of the bike room?
            10:12 lea#2>1 Karim has kept it since Monday
            10:30 hugo#3 The film begins at eight
            11:30 karim#4>2 Yes, I have it, I leave it at the porter's lodge at noon
            11:35 ines#5>4 Great, thanks!
            11:40 ann#6 @bot who has the key of the bike room?
            ",
            expect![[r#"
                No model is configured, so here is what I would answer from:

                - **ines**: “Does anybody have the key of the bike room?” [source: m1]
                - **lea**: “Karim has kept it since Monday” [source: m2]
                - **karim**: “Yes, I have it, I leave it at the porter's lodge at noon” [source: m4]"#]],
        );
    }

    #[test]
    fn with_nothing_to_show_it_says_so_and_since_when_it_reads() {
        check(
            "10:00 ann#1 @bot hello",
            expect![
                "No model is configured, and I found no earlier message this could be about. I can read this chat since 4 Jan 2026, 09:30 UTC. Tag me in a reply to the message you mean."
            ],
        );
    }
}
