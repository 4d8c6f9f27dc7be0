//! Adds missing citations to the sentences of an answer, and replaces wrong ones by the message that supports the
//! sentence.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_segmentation::UnicodeSegmentation;

use crate::citation_basis::{CitationBasis, TAG};
use crate::citation_forms::is_lead;
use crate::grounding::sentences;
use crate::pattern;
use crate::support::{DOUBTFUL, SHARES_NOTHING, SUPPORTS, Support, UNRELATED, content_words};
use chime_core::lang::begins_like;
use chime_core::trigger::{Languages, ends_like_question};
use chime_core::{Fences, SourceId, SourceKind, lower_words};

static ONE_TAG: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"(?i){TAG}")));
/// Matches a placeholder for a citation. It has the form of a checked citation, so that [`sentences`] keeps it with its
/// sentence.
static STAND_IN: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?P<blanks>[ \t]*)\\\[(?P<place>[0-9]{1,3})\\\]"));

/// Maximum number of lines of an answer that may get a source as a whole. A longer text says more than one message.
const SHORT_LINES: usize = 3;
/// Minimum number of lines of prose in a text that was probably written to be copied: a letter, an invitation.
const DRAFT_LINES: usize = 3;

/// Sentences without a citation that get one if a source supports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sourced {
    /// None: the answer is general knowledge, or suggests things.
    None,
    /// All sentences if the answer has no valid citation. A model that cites leaves the other sentences without on purpose.
    IfNoneIsCited,
    /// The same sentences, but their sources are only listed below the text, which was written on request.
    Listed,
    /// All sentences, also of an answer that cites.
    All,
}

/// An answer with its citations as tags.
#[derive(Debug, PartialEq, Eq)]
pub struct Tagged {
    pub text: String,
    /// Sources that are only listed below the text, since it will probably be copied.
    pub listed: Vec<SourceId>,
}

/// Returns `tagged`, an answer with its citations as tags, with tags added and corrected by `support`.
///
/// A tag whose source does not support its sentence is replaced by one that does. If there is none and the cited source
/// is unrelated, the tag is removed. The sentences of `sourced` get a tag if a source supports them.
pub fn with_sources(tagged: &str, basis: CitationBasis<'_>, support: &Support<'_>, sourced: Sourced) -> Tagged {
    let is_given = |id: &str| basis.source_id(id).is_some_and(|id| basis.given.iter().any(|source| source.id == id));
    let cites = ONE_TAG.find_iter(tagged).any(|tag| basis.cited_ids(tag.as_str()).into_iter().any(is_given));
    let adds = match sourced {
        Sourced::None => false,
        Sourced::IfNoneIsCited | Sourced::Listed => !cites,
        Sourced::All => true,
    };
    let text = checked(tagged, Checker { basis, support, adds, may_add: sourced != Sourced::None });
    let is_listed = sourced == Sourced::Listed || sourced == Sourced::IfNoneIsCited && is_draft(tagged);
    if cites || !is_listed {
        return Tagged { text, listed: Vec::new() };
    }
    let tags: Vec<&str> = ONE_TAG.find_iter(&text).map(|tag| tag.as_str()).collect();
    let ids = tags.into_iter().flat_map(|tag| basis.cited_ids(tag)).filter_map(|id| basis.source_id(id));
    Tagged { listed: ids.collect(), text: tagged.to_owned() }
}

/// Returns `true` if a text was probably written to be copied: it has several lines of prose, and begins with a salutation
/// or an announcement.
fn is_draft(text: &str) -> bool {
    let is_prose = |line: &str| !line.trim().is_empty() && !is_heading_or_row(line) && !ENTRY.is_match(line);
    let (mut fences, mut prose) = (Fences::default(), Vec::new());
    for line in text.lines() {
        if !fences.is_code(line) && is_prose(line) {
            prose.push(line);
        }
    }
    let is_opening = |line: &&str| line.trim_end_matches(['*', '_', ' ']).ends_with([',', '!', ':']);
    prose.len() >= DRAFT_LINES && prose.iter().take(DRAFT_LINES).any(is_opening)
}

fn is_heading_or_row(line: &str) -> bool {
    line.trim_start().starts_with(['#', '|'])
}

/// Checks the tags of all lines, and adds some if the checker does.
fn checked(tagged: &str, checker: Checker<'_>) -> String {
    let (mut fences, mut has_code) = (Fences::default(), false);
    let mut last_added: Vec<SourceId> = Vec::new();
    let lines: Vec<String> = tagged
        .split('\n')
        .map(|line| {
            let is_code = fences.is_code(line);
            has_code |= is_code;
            match is_code || is_heading_or_row(line) {
                true => line.to_owned(),
                false => checker.sourced_line(line, &mut last_added),
            }
        })
        .collect();
    let sourced = lines.join("\n");
    let is_long = lines.iter().filter(|line| !line.trim().is_empty()).count() > SHORT_LINES;
    let asks = ends_like_question(sourced.trim_end());
    if !checker.adds || has_code || is_long || asks || ONE_TAG.is_match(tagged) || ONE_TAG.is_match(&sourced) {
        return sourced;
    }
    match checker.support.likely_source_of(&sourced) {
        Some(place) => with_tag(&sourced, &[checker.basis.given[place].id]),
        None => sourced,
    }
}

/// Matches the mark or number of an entry of a list, with the blanks around it.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\A\s*(?:[-*•]|[0-9]{1,3}[.)])\s+"));

/// Checks and adds the tags of one answer.
struct Checker<'a> {
    basis: CitationBasis<'a>,
    support: &'a Support<'a>,
    /// `true` if a sentence without a tag gets one.
    adds: bool,
    /// `true` if a sentence whose tag is invalid gets one, although the model cites elsewhere.
    may_add: bool,
}

impl Checker<'_> {
    /// Adds and corrects the tags of a line of prose.
    fn sourced_line(&self, line: &str, last_added: &mut Vec<SourceId>) -> String {
        let mut tags: Vec<String> = Vec::new();
        // The number of an entry says nothing about the talk.
        let (entry, line) = line.split_at(ENTRY.find(line).map_or(0, |entry| entry.end()));
        let line = ONE_TAG.replace_all(line, |tag: &Captures<'_>| {
            tags.push(tag[0].to_owned());
            format!(r"\[{}\]", tags.len() - 1)
        });
        let sourced = |sentence: &String| match STAND_IN.is_match(sentence) {
            true => {
                last_added.clear();
                self.with_checked_tags(sentence, &tags)
            }
            false => self.with_found_tag(sentence, last_added),
        };
        entry.to_owned() + &sentences(&line).iter().map(sourced).collect::<String>()
    }

    /// Adds a tag to a sentence without one if a source supports it. If the sentence before got the same sources, none
    /// is added, and none to what only announces something ("Bring along:") or asks.
    fn with_found_tag(&self, sentence: &str, last_added: &mut Vec<SourceId>) -> String {
        if !self.adds || sentence.trim_end().ends_with(':') || ends_like_question(sentence.trim_end()) {
            return sentence.to_owned();
        }
        let found = self.support.sources_of(sentence).into_iter();
        let ids: Vec<SourceId> = found.map(|place| self.basis.given[place].id).collect();
        if ids.is_empty() || std::mem::replace(last_added, ids.clone()) == ids {
            return sentence.to_owned();
        }
        with_tag(sentence, &ids)
    }

    /// Checks each tag of a sentence.
    fn with_checked_tags(&self, sentence: &str, tags: &[String]) -> String {
        let words = STAND_IN.replace_all(sentence, "");
        let (mut out, mut from, mut before) = (String::new(), 0, "");
        let is_alone = STAND_IN.find_iter(sentence).count() == 1;
        let mut stand_ins = STAND_IN.captures_iter(sentence).peekable();
        while let Some(stand_in) = stand_ins.next() {
            let Some(whole) = stand_in.get(0) else { continue };
            let between = &sentence[from..whole.start()];
            // Tags side by side stand for the same words.
            before = if between.contains(char::is_alphanumeric) { between } else { before };
            from = whole.end();
            let next = stand_ins.peek().and_then(|next| next.get(0)).map_or(sentence.len(), |next| next.start());
            let is_glued = stand_in["blanks"].is_empty() && between.ends_with(char::is_alphanumeric);
            let claims = Claims { before, after: &sentence[from..next], sentence: &words, is_glued, is_alone };
            out += between;
            let place = stand_in["place"].parse::<usize>().ok();
            let tag = place.and_then(|place| tags.get(place)).map_or("", String::as_str);
            let kept = self.checked(tag, claims, tags);
            if !kept.is_empty() {
                out += &stand_in["blanks"];
                out += &kept;
            }
        }
        out + &sentence[from..]
    }

    /// Returns the right tag for `claims`: `tag` itself, a tag with the message that supports them, or an empty string
    /// if no source is related to them. The model has read the messages, so `tag` is changed only if it is certainly
    /// wrong.
    ///
    /// `tags` are all tags of the line. A source that another tag cites already is not cited twice.
    fn checked(&self, tag: &str, claims: Claims<'_>, tags: &[String]) -> String {
        let Self { basis, support, .. } = self;
        let place = |id: &str| {
            let id = basis.source_id(id)?;
            basis.given.iter().position(|source| source.id == id)
        };
        let cited: Option<Vec<usize>> = basis.cited_ids(tag).into_iter().map(place).collect();
        let checkable: Vec<&str> = claims.all().into_iter().filter(|claim| support.is_checkable(claim)).collect();
        let Some(cited) = cited.filter(|_| !checkable.is_empty()) else {
            return self.with_source_of_invalid(tag, &checkable, tags);
        };
        let scores = cited.iter().flat_map(|place| checkable.iter().map(|claim| support.score_of_cited(claim, *place)));
        let (strongest, without_numbers) = scores.fold((0.0, 0.0), |(all, without_numbers), score| {
            (score.all.max(all), score.without_numbers.max(without_numbers))
        });
        let is_named = |place: usize| checkable.iter().any(|claim| support.names_author(claim, place));
        let is_by_named = cited.iter().any(|place| is_named(*place));
        if strongest >= DOUBTFUL || is_by_named {
            return tag.to_owned();
        }
        // What "it is" or "away" confirms stands in another message.
        let is_terse = cited.iter().any(|place| support.is_terse(*place));
        let is_cited = |at: usize| tags.iter().flat_map(|tag| basis.cited_ids(tag)).any(|id| place(id) == Some(at));
        let claim = checkable[0];
        let scores = support.scores(claim);
        let supporting = support.best(&scores).filter(|place| scores[*place] >= SUPPORTS);
        let may_cite =
            |place: usize| !is_cited(place) && self.is_message(place) && support.has_half_of_words(claim, place);
        let shares_nothing = without_numbers < SHARES_NOTHING;
        // If only the numbers differ, a message that has them must also be about the same as the cited one.
        let is_about_same = |place: usize| cited.iter().any(|other| support.share_subject(claim, *other, place));
        let is_better = |place: usize| is_named(place) || !is_terse && (shares_nothing || is_about_same(place));
        match supporting {
            Some(place) if may_cite(place) && is_better(place) => format!("[source: {}]", basis.given[place].id),
            None if cited.iter().any(|place| self.is_question_behind(*place, claims)) => tag.to_owned(),
            None if shares_nothing && !is_terse && claims.is_other_number(tag) => written_as_number(tag),
            None if shares_nothing && !claims.need_tag() => {
                let has_other_numbers = strongest < UNRELATED && !is_terse;
                // Beside another source, one may confirm what that says.
                let is_unrelated = || claims.is_alone && cited.iter().all(|place| self.is_unrelated(claim, *place));
                if has_other_numbers || is_unrelated() { String::new() } else { tag.to_owned() }
            }
            _ => tag.to_owned(),
        }
    }

    /// Returns `tag`, which has invalid ids and is removed later with a note to the reader, after a tag with the source
    /// that supports the sentence, if there is one.
    fn with_source_of_invalid(&self, tag: &str, checkable: &[&str], tags: &[String]) -> String {
        let cites = |tag: &str, id: SourceId| {
            self.basis.cited_ids(tag).into_iter().any(|cited| self.basis.source_id(cited) == Some(id))
        };
        // The question is no source, and may be cited for what it asks.
        if !self.may_add || self.basis.ask.is_some_and(|ask| cites(tag, ask)) {
            return tag.to_owned();
        }
        let found = checkable.first().map(|claim| self.support.sources_of(claim)).unwrap_or_default();
        let id = found.first().map(|place| self.basis.given[*place].id);
        match id.filter(|id| !tags.iter().any(|tag| cites(tag, *id))) {
            Some(id) => format!("[source: {id}] {tag}"),
            None => tag.to_owned(),
        }
    }

    /// Returns `true` if a claim of several words shares none with the message at `place`, of several words too, and the
    /// messages beside it, which it may sum up, and both are in the same language. A claim may be about the photo or the
    /// page of a message.
    fn is_unrelated(&self, claim: &str, place: usize) -> bool {
        /// Shorter sentences may be said in other words.
        const TELLING: usize = 3;
        let given = self.basis.given;
        let beside = place.saturating_sub(1)..given.len().min(place + 2);
        let shares_word = |at: usize| self.support.share_subject(claim, at, at) || self.support.names_author(claim, at);
        let [codes, others] = [claim, &given[place].text].map(|text| Languages::shipped().likely_codes(text));
        let tells = |text: &str| content_words(text).len() >= TELLING;
        let text = &given[place].text;
        let shows_more = text.starts_with('[') || text.contains("://");
        tells(claim)
            && tells(text)
            && !shows_more
            && !beside.into_iter().any(shares_word)
            && codes.iter().any(|code| others.contains(code))
    }

    /// Returns `true` for a question that a sentence names as open, or that shares a word with it that is no number.
    fn is_question_behind(&self, place: usize, claims: Claims<'_>) -> bool {
        let shares_word = || self.support.share_subject(claims.sentence, place, place);
        self.support.is_question(place) && (says_open(claims.sentence) || shares_word())
    }

    /// Returns `true` for a message. A summary shares words with many sentences.
    fn is_message(&self, place: usize) -> bool {
        self.basis.given[place].id.kind == SourceKind::Message
    }
}

/// Parts of a sentence that a tag in it may stand for.
#[derive(Clone, Copy)]
struct Claims<'s> {
    /// Words between the tag before and this one.
    before: &'s str,
    /// Words between this tag and the next one.
    after: &'s str,
    /// The whole sentence, without tags.
    sentence: &'s str,
    /// `true` if the tag is written without a blank after a word.
    is_glued: bool,
    /// `true` if it is the only tag of the sentence.
    is_alone: bool,
}

impl<'s> Claims<'s> {
    fn all(self) -> [&'s str; 3] {
        [self.before, self.after, self.sentence]
    }

    /// Returns `true` if the brackets of `tag`, inside the sentence, are an index or an interval: "names[2] is", "between
    /// [1, 4] there are".
    fn is_other_number(self, tag: &str) -> bool {
        let is_number = !written_as_number(tag).contains(char::is_alphabetic);
        is_number && self.need_tag() && (self.is_glued || tag.contains(','))
    }

    /// Returns `true` if the tag is a part of the sentence: "as [4] says", "see [4]".
    fn need_tag(self) -> bool {
        let goes_on =
            self.after.trim_start().starts_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | '-' | '–'));
        let last = self.before.unicode_words().next_back().unwrap_or_default().to_lowercase();
        goes_on || is_lead(&last) || Languages::shipped().is_stop_word_in(&last, self.sentence)
    }
}

/// Returns the brackets that a tag was made of: `[1, 4]`.
fn written_as_number(tag: &str) -> String {
    tag.replacen("source: ", "", 1)
}

/// Returns `true` if a sentence says that something is open, missing or asked. Its sources are questions.
fn says_open(sentence: &str) -> bool {
    lower_words(sentence).iter().any(|word| begins_like(word, |language| &language.open))
}

/// Inserts a tag before the punctuation at the end of `sentence`.
fn with_tag(sentence: &str, ids: &[SourceId]) -> String {
    let end = sentence.trim_end().len();
    let stop = sentence[..end].trim_end_matches(['.', '!', '…', '。', ':', ';', ',']).len();
    let stop = if stop == 0 { end } else { stop };
    let ids: Vec<String> = ids.iter().map(SourceId::to_string).collect();
    // In French a blank stands before the exclamation mark.
    let (said, rest) = sentence.split_at(sentence[..stop].trim_end().len());
    format!("{said} [source: {}]{rest}", ids.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Labels;
    use crate::support::tests::{labelled, sources};
    use chime_core::Seq;
    use chime_core::embed::Embedder;

    #[track_caller]
    fn check(tagged: &str, expected: &str) {
        let talk = [
            "Ana: when does the ferry to Kihnu leave?",
            "Ben: the ferry leaves at 9:40 from the old harbour",
            "Cat: tickets are 12 euros each, I bought four",
            "Chime: The ferry leaves at 9:40 from the old harbour.",
            "Dan: @chime_bot dogs are allowed on the upper deck",
            "Eve: they are in my bag",
        ];
        check_in(&talk, tagged, expected);
    }

    #[track_caller]
    fn check_in(talk: &[&str], tagged: &str, expected: &str) {
        let talk: Vec<String> = talk.iter().map(|line| (*line).to_owned()).collect();
        let given = sources(&talk);
        let mut labels = Labels::default();
        for source in &given {
            labels.assign(Seq(source.id.number), source.name.clone());
        }
        let basis = CitationBasis { given: &given, labels: &labels, ask: None };
        let support = Support::new(&given, "when does the ferry leave?", &|_| Vec::new());
        let sourced = with_sources(tagged, basis, &support, Sourced::IfNoneIsCited);
        assert_eq!(sourced, Tagged { text: expected.to_owned(), listed: Vec::new() });
    }

    #[test]
    fn a_sentence_without_a_citation_gets_the_message_that_says_it() {
        check("It leaves at 9:40 from the old harbour.", "It leaves at 9:40 from the old harbour [source: m2].");
        check(
            "From the old harbour at 9:40. Four tickets for 12 euros are bought!",
            "From the old harbour at 9:40 [source: m2]. Four tickets for 12 euros are bought [source: m3]!",
        );
    }

    #[test]
    fn a_citation_of_the_wrong_message_is_moved() {
        check("At 9:40 from the old harbour [source: m3].", "At 9:40 from the old harbour [source: m2].");
    }

    #[test]
    fn a_citation_that_fits_stays_and_so_does_one_that_nothing_tells_of() {
        check("At 9:40 [source: m2].", "At 9:40 [source: m2].");
        check("Yes [source: m1].", "Yes [source: m1].");
        check("Perhaps [source: m99].", "Perhaps [source: m99].");
    }

    #[test]
    fn the_question_behind_what_is_open_stays() {
        let talk = ["Jens: wer hat den schlüssel für die halle?", "Ben: ich komme am sonntag um 15 uhr"];
        for text in [
            "Es fehlt noch der Hallenöffner [source: m1].",
            "Offen ist, wer aufsperrt [source: m1].",
            "Jens sucht seit Tagen vergeblich überall einen Schlüssel [source: m1].",
        ] {
            check_in(&talk, text, text);
        }
        check_in(&talk, "Am Montag regnet es 12 mm [source: m1].", "Am Montag regnet es 12 mm.");
    }

    #[test]
    fn a_citation_inside_a_sentence_is_checked_against_the_whole_sentence() {
        for text in [
            "According to [source: m2], it leaves at 9:40.",
            "Ben [source: m2] says 9:40 and Cat [source: m3] bought four tickets.",
            "Eve has the tickets [source: m6].",
            "As I see in [source: m1], it is free.",
        ] {
            check(text, text);
        }
        check(
            "As [source: m3] says, it leaves at 9:40 from there.",
            "As [source: m2] says, it leaves at 9:40 from there.",
        );
        check("The island is free of cars [source: m1].", "The island is free of cars.");
    }

    #[test]
    fn a_tag_of_the_bot_is_a_source_only_if_it_is_cited() {
        check("Dogs are allowed on the upper deck.", "Dogs are allowed on the upper deck.");
        check("Dogs are allowed on the upper deck [source: m5].", "Dogs are allowed on the upper deck [source: m5].");
    }

    #[test]
    fn a_citation_of_a_message_that_confirms_or_corrects_another_stays() {
        let talk = [
            "Ana: next book is The Salt Path, meet at mine on the 6th",
            "Ben: tahini is sesame, isn't it?",
            "Cat: it is",
            "Dan: the fair is on saturday, so green shirts on saturday",
            "Eve: away!",
            "Ines: Rosalind has a burst pipe so we do it at mine, same day",
            "Fay: Friday at seven, if they have a table for nine?",
        ];
        for text in [
            "And yes, tahini is sesame [source: m3].",
            "No, saturday is away, so the white shirts [source: m5].",
            "It is at Ines's, still on the 6th, because Rosalind has a burst pipe [source: m6].",
            "The Thai place on Friday at seven [source: m4][source: m7].",
        ] {
            check_in(&talk, text, text);
        }
    }

    #[test]
    fn a_number_in_another_form_moves_no_citation() {
        let talk = [
            "Ana: the concert is on 14 dec",
            "Ana: gas is 3 canisters a week, each lasts 2 days",
            "Gus: the van holds nine, we are 11",
            "Dan: bring 2 chairs each",
            "Una: I'll drive my own car, room for three more",
            "Vic: the hostel is 22 a night, two nights",
            "Kit: the door code is 4711",
            "Kit: the code changed, it is 4712 now",
            "Laura: Leon and I hosted May",
            "Laura: I'm hosting, you all come here",
            "Eric: What if you schedule a second reminder to go out Friday at noon and close registration then?",
            "Hugo: today is the day the first email reminder goes out",
        ];
        for text in [
            "Laura hosted that dinner [source: m10].",
            "Eric proposed a second reminder on Friday at noon, with registration closing then [source: m11].",
            "The rehearsal is two days before the concert [source: m1].",
            "You need a second van for two people [source: m3].",
            "Two more fit only in Una's car [source: m5].",
        ] {
            check_in(&talk, text, text);
        }
        check_in(&talk, "The code is 4712 [source: m7].", "The code is 4712 [source: m8].");
    }

    #[test]
    fn the_sources_of_a_draft_are_only_listed() {
        let given = sources(&["Ana: the party is on 14 June at 18:00 in the courtyard".to_owned()]);
        let labels = Labels::default();
        let basis = CitationBasis { given: &given, labels: &labels, ask: None };
        let support = Support::new(&given, "write an invitation", &|_| Vec::new());
        let text = "Dear neighbours!\n\nThe party is on 14 June at 18:00 in the courtyard.\n\nYours,\nAna";
        let listed = |sourced| with_sources(text, basis, &support, sourced).listed.len();
        assert_eq!(with_sources(text, basis, &support, Sourced::IfNoneIsCited).text, text);
        assert_eq!([Sourced::IfNoneIsCited, Sourced::None].map(listed), [1, 0], "and none of general knowledge");
        assert!(with_sources(text, basis, &support, Sourced::All).text.contains("[source: m1]"));
        let short = "Come to the party in the courtyard on 14 June!";
        let made = with_sources(short, basis, &support, Sourced::Listed);
        assert_eq!((made.text.as_str(), made.listed.len()), (short, 1));
    }

    #[test]
    fn a_blank_before_an_exclamation_mark_stays() {
        check("Le ferry part 9:40 harbour leaves !", "Le ferry part 9:40 harbour leaves [source: m2] !");
    }

    #[test]
    fn an_answer_that_cites_gets_no_further_citations() {
        let text = "Four tickets for 12 euros are bought [source: m3]. It leaves at 9:40 from the old harbour.";
        check(text, text);
    }

    #[test]
    fn announcements_and_signatures_get_no_citation() {
        let list = "The ferry leaves from the old harbour:\n- at 9:40 [source: m2]";
        check(list, list);
        let talk = ["Ana: should we ask Dan?", "Cat: then not Dan", "Dan: the boiler has failed again"];
        let letter = "Dear landlord,\n\nwe are cold.\n\nYours,\nCat, Dan and Ana";
        check_in(&talk, letter, letter);
    }

    #[test]
    fn the_number_of_an_entry_proves_nothing() {
        let list = "4. A boat trip\n9. A picnic\n12. The museum";
        check(list, list);
    }

    #[test]
    fn a_citation_stands_outside_of_a_date() {
        let talk = ["Timo: probe ist am 2. mai, auftritt am 4. mai"];
        check_in(&talk, "**2. Mai** Probe\n**4. Mai** Auftritt", "**2. Mai** Probe [source: m1]\n**4. Mai** Auftritt");
    }

    #[test]
    fn a_unit_behind_a_number_ends_a_sentence() {
        let talk = ["Mert: yeni ev arkadaşı lazım, oda 9500", "Selin: sigara içmesin"];
        let text = "Oda kiralık, 9500 TL. Sigara içilmez, kedi olur.";
        check_in(&talk, text, "Oda kiralık, 9500 TL [source: m1]. Sigara içilmez, kedi olur.");
    }

    #[test]
    fn a_citation_of_an_unrelated_message_is_dropped() {
        let talk = [
            "Dan: the weather was lovely all week",
            "Ben: the key is under the plant by the door",
            "Ana: we meet at the old harbour",
            "Ana: yes, take the blue cups and the plates too",
            "Ben: [photo] view from our camp this morning",
        ];
        check_in(&talk, "Paris is the capital of France [source: m2].", "Paris is the capital of France.");
        for kept in [
            "Der Ersatz befindet sich neben dem Blumentopf draußen [source: m2].",
            "Ana wants everybody to bring tableware [source: m4].",
            "It has been sunny [source: m1].",
            "Two elk stand beside an overturned canoe [source: m5].",
            "Dinner gets sorted by whoever arrives first at noon's harbour walk [source: m2].",
        ] {
            check_in(&talk, kept, kept);
        }
    }

    #[test]
    fn a_right_citation_of_the_labelled_sentences_is_never_dropped() {
        let embedder = Embedder::shipped().expect("the model that ships");
        let embed = |text: &str| embedder.embed(text);
        let (mut right, mut dropped) = (0, Vec::new());
        for labelled in labelled() {
            let given = sources(&labelled.messages);
            let mut labels = Labels::default();
            for source in &given {
                labels.assign(Seq(source.id.number), source.name.clone());
            }
            let basis = CitationBasis { given: &given, labels: &labels, ask: None };
            let support = Support::new(&given, "", &embed);
            for place in &labelled.supports {
                let said = labelled.sentence.trim_end_matches('.');
                let tagged = format!("{said} [source: {}].", given[*place].id);
                right += 1;
                if !with_sources(&tagged, basis, &support, Sourced::None).text.contains("[source:") {
                    dropped.push(format!("{tagged} {}", labelled.messages[*place]));
                }
            }
        }
        assert!(right > 50 && dropped.is_empty(), "{right}: {dropped:#?}");
    }

    #[test]
    fn an_index_and_an_interval_stay_as_written() {
        let talk = [
            "Ana: who has the key?",
            "Ben: the spare key lies under the plant by the door",
            "Cat: bring cups",
            "Dan: the big tent needs new poles and ropes",
        ];
        for (text, expected) in [
            ("In Python, names[source: 2] is the third name.", "In Python, names[2] is the third name."),
            (
                "The closed interval [source: 1, 4] contains both ends.",
                "The closed interval [1, 4] contains both ends.",
            ),
            ("It lies under the plant[source: 2] and is wet.", "It lies under the plant[source: 2] and is wet."),
        ] {
            check_in(&talk, text, expected);
        }
    }

    #[test]
    fn a_sentence_with_an_invalid_citation_gets_its_source_too() {
        check(
            "It leaves at 9:40 from the old harbour [source: m99].",
            "It leaves at 9:40 from the old harbour [source: m2] [source: m99].",
        );
        check("Nobody knows the captain's name [source: m99].", "Nobody knows the captain's name [source: m99].");
    }

    #[test]
    fn a_short_answer_is_read_with_its_question() {
        check("At 9:40.", "At 9:40 [source: m2].");
    }

    #[test]
    fn what_no_message_says_gets_no_source() {
        for text in
            ["Paris is the capital of France.", "The ferry?", "```\nleaves at 9:40 from the old harbour\n```", ""]
        {
            check(text, text);
        }
    }
}
