//! `/note` and `/notes`: texts that a chat saves so that answers can use them.

use crate::commands::handlers::note_file::FileText;
use crate::commands::handlers::{CommandRequest, Commands, Shown};
use chime_answer::notes::{pieces, title};
use chime_answer::sanitize::escape_markdown;
use chime_core::texts::{Texts, filled};
use chime_core::trigger::Languages;
use chime_core::{Job, Role, Seq, Zone, without_sent_citations};
use chime_jobs::JobResult;
use chime_store::notes::{NewNote, Note};
use chime_store::{consent, notes};

/// Maximum number of notes in a chat.
const MOST_NOTES: usize = 200;
/// Maximum number of pieces of all notes in a chat, since every question is compared with each piece.
const MOST_PIECES: usize = 4_000;

/// Arguments of `/note`.
#[derive(Debug, PartialEq, Eq)]
enum NoteArguments {
    /// Saves the message that the command replies to as a note.
    SaveParent,
    Save(String),
    Delete(u32),
    Unclear,
}

fn request(args: &str, is_reply: bool, chat_language: &str) -> NoteArguments {
    let languages = Languages::shipped();
    match args.trim() {
        "" if is_reply => NoteArguments::SaveParent,
        "" => NoteArguments::Unclear,
        text => languages.without_delete(text).and_then(deletion).unwrap_or_else(|| {
            let text = languages.without_add(text, chat_language).unwrap_or(text);
            NoteArguments::Save(text.to_owned())
        }),
    }
}

/// Returns `true` if the arguments of `/notes` save or delete a note, as the arguments of `/note` do.
fn changes_notes(args: &str, chat_language: &str) -> bool {
    Languages::shipped().without_add(args, chat_language).is_some()
        || matches!(request(args, false, chat_language), NoteArguments::Delete(_) | NoteArguments::Unclear if !args.trim().is_empty())
}

/// Parses the text beside “delete”, which should be a note's number. Anything but one number is unclear. Returns `None`
/// if there are other words: the text only begins with “delete” and is saved as a note.
fn deletion(named: &str) -> Option<NoteArguments> {
    /// Maximum number of words before "n3" that may mean "the note" in some language.
    const NOUN_WORDS: usize = 2;
    let words = named.split(|c: char| c.is_whitespace() || c == ',').map(|word| word.trim_matches(['#', '.', '!']));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let number = |word: &&str| word.trim_start_matches(['n', 'N']).parse().ok();
    let is_known = |word: &&str| ["all", "and", "everything", "it", "note", "notes", "this"].contains(word);
    let unknown = words.iter().filter(|word| number(word).is_none() && !is_known(word)).count();
    // "The 3 old mails" is no note, "la nota n3" is one.
    let ends_in_name = words.last().is_some_and(|word| word.starts_with(['n', 'N']) && number(word).is_some());
    if unknown > 0 && !(ends_in_name && unknown <= NOUN_WORDS) {
        return None;
    }
    let numbers: Vec<u32> = words.iter().filter_map(number).collect();
    match numbers.as_slice() {
        [number] => Some(NoteArguments::Delete(*number)),
        _ => Some(NoteArguments::Unclear),
    }
}

impl Commands {
    pub(super) async fn note(&self, job: &Job, command: CommandRequest) -> JobResult {
        let message = &command.message.message;
        let usual = &command.texts().notes.only_admins;
        if let Some(refusal) = self.refusal_to_change(&command.chat, message.sender.id, usual).await? {
            return self.say(job, &command, refusal).await;
        }
        let request = request(&command.args, message.reply_to.is_some(), command.chat.speaks().code());
        if matches!(request, NoteArguments::Unclear | NoteArguments::SaveParent) && command.args.trim().is_empty() {
            match self.text_of_file(&command).await? {
                FileText::NoFile => {}
                FileText::Text(text) => {
                    let parent = self.parent_of(&command).await?.map(|parent| parent.seq);
                    let sources = parent.into_iter().chain([command.message.seq]).collect();
                    return self.save_note(job, &command, text, sources).await;
                }
                FileText::Unusable(reply) => return self.say(job, &command, &reply).await,
            }
        }
        match request {
            NoteArguments::Unclear => self.say(job, &command, &command.texts().notes.how).await,
            NoteArguments::Delete(number) => self.delete_note(job, &command, number).await,
            NoteArguments::Save(text) => self.save_note(job, &command, text, vec![command.message.seq]).await,
            NoteArguments::SaveParent => {
                match self.parent_of(&command).await?.filter(|parent| !parent.message.text.trim().is_empty()) {
                    Some(parent) => {
                        let sources = vec![parent.seq, command.message.seq];
                        let text = match parent.message.role {
                            Role::Assistant => without_sent_citations(&parent.message.marked_text()),
                            Role::User | Role::System | Role::SystemSummary => {
                                parent.message.marked_text().into_owned()
                            }
                        };
                        self.save_note(job, &command, text, sources).await
                    }
                    None => self.say(job, &command, &command.texts().notes.nothing_there).await,
                }
            }
        }
    }

    async fn save_note(&self, job: &Job, command: &CommandRequest, text: String, sources: Vec<Seq>) -> JobResult {
        let (chat, sender) = (command.chat.key, command.message.message.sender.id);
        let (count, in_pieces, out) = self
            .base
            .store
            .read(move |conn| {
                let out = consent::opted_out(conn, chat, sender)?;
                Ok((notes::count(conn, chat)?, notes::count_pieces(conn, chat)?, out))
            })
            .await?;
        let pieces = pieces(&text);
        if out.is_some() {
            return self.say(job, command, &command.texts().notes.opted_out).await;
        }
        if count >= MOST_NOTES || in_pieces + pieces.len() > MOST_PIECES {
            return self.say(job, command, &command.texts().notes.full).await;
        }
        let note = NewNote { chat, title: title(&text), saved_at: self.base.clock.now(), sources, pieces };
        // The number that the note will get can be read before writing: nothing else writes notes of this chat at this
        // time.
        let next = self.base.store.read(move |conn| notes::next_number(conn, chat)).await?;
        let reply = filled(&command.texts().notes.saved, &[("n", &next.to_string())]);
        self.answer(job, command, &reply, move |tx| notes::add(tx, &note).map(drop)).await
    }

    async fn delete_note(&self, job: &Job, command: &CommandRequest, number: u32) -> JobResult {
        let chat = command.chat.key;
        let found = self.base.store.read(move |conn| notes::of_chat(conn, chat)).await?;
        let reply = match found.iter().any(|note| note.number == number) {
            true => &command.texts().notes.deleted,
            false => &command.texts().notes.no_such,
        };
        let reply = filled(reply, &[("n", &number.to_string())]);
        self.answer(job, command, &reply, move |tx| notes::remove(tx, chat, number).map(drop)).await
    }

    pub(super) async fn list_notes(&self, job: &Job, command: CommandRequest) -> JobResult {
        if changes_notes(&command.args, command.chat.speaks().code()) {
            return self.note(job, command).await;
        }
        let chat = command.chat.key;
        let found = self.base.store.read(move |conn| notes::of_chat(conn, chat)).await?;
        let rests_on = found.iter().flat_map(|note| note.sources.iter().copied()).collect();
        if found.is_empty() {
            let texts = &command.texts().notes;
            return self.say(job, &command, format!("{} {}", texts.none, texts.how)).await;
        }
        let markdown = listing(&found, command.settings.zone(self.base.zone()), command.texts());
        self.answer_showing(job, &command, Shown { markdown, rests_on, ..Shown::of_chat(chat) }).await
    }
}

fn listing(notes: &[Note], zone: Zone, texts: &Texts) -> String {
    let date = |note: &Note| texts.date_of(note.saved_at, zone);
    let line = |note: &Note| format!("- n{} {} ({})", note.number, escape_markdown(&note.title), date(note));
    format!("{}\n\n{}", texts.notes.head, notes.iter().map(line).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(args: &str, is_reply: bool) -> NoteArguments {
        super::request(args, is_reply, "eng")
    }

    #[test]
    fn a_note_is_a_text_a_reply_or_a_number_to_delete() {
        assert_eq!(request("the code is 4711", false), NoteArguments::Save("the code is 4711".to_owned()));
        assert_eq!(request("", true), NoteArguments::SaveParent);
        assert_eq!(request("", false), NoteArguments::Unclear);
        assert_eq!(request("delete n3", false), NoteArguments::Delete(3));
        assert_eq!(request("delete 12", true), NoteArguments::Delete(12));
        assert_eq!(request("delete", true), NoteArguments::Unclear);
        assert_eq!(request("delete note n3.", false), NoteArguments::Delete(3));
        assert_eq!(request("delete #3", false), NoteArguments::Delete(3));
        for unclear in ["delete all", "delete n1 n2", "delete n1, n2 and n3", "delete all notes!", "delete it"] {
            assert_eq!(request(unclear, false), NoteArguments::Unclear, "{unclear}");
        }
        for (chat, args) in [
            ("ita", "elimina n1"),
            ("ita", "cancella la nota n1"),
            ("deu", "lösche n1"),
            ("deu", "Notiz n1 löschen"),
            ("spa", "borrar n1"),
            ("spa", "elimina 1"),
            ("fra", "supprimer n1"),
            ("fra", "efface la note n1"),
            ("por", "apagar n1"),
            ("por", "Excluir n1"),
            ("nld", "verwijder n1"),
            ("pol", "usuń n1"),
            ("rus", "удали n1"),
            ("ukr", "видали n1"),
            ("tur", "n1 sil"),
            ("est", "kustuta n1"),
        ] {
            for chat in [chat, "eng"] {
                assert_eq!(super::request(args, false, chat), NoteArguments::Delete(1), "{chat}: {args}");
            }
        }
        for kept in ["elimina il vecchio armadio", "löschen: die 3 alten Mails", "delete the key of room n3 today"] {
            assert_eq!(request(kept, false), NoteArguments::Save(kept.to_owned()));
        }
        assert_eq!(request("elimina", false), NoteArguments::Unclear);
        assert_eq!(super::request("añadir sal", false, "spa"), NoteArguments::Save("sal".to_owned()));
        let text = "delete the 3 old mails";
        assert_eq!(request(text, false), NoteArguments::Save(text.to_owned()));
        assert_eq!(request("add the code is 4711", false), NoteArguments::Save("the code is 4711".to_owned()));
        assert_eq!(request("add", false), NoteArguments::Save("add".to_owned()));
        assert_eq!(request("lisa has the key", false), NoteArguments::Save("lisa has the key".to_owned()));
        let changes = |args: &str| changes_notes(args, "est");
        assert!(changes("add x") && changes("lisa x") && changes("delete n3") && !changes("") && !changes("boat"));
        assert!(!changes_notes("lisa x", "eng"));
        assert_eq!(request("delete the old shed", false), NoteArguments::Save("delete the old shed".to_owned()));
    }
}
