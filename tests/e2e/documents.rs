//! Documents: a question about one is answered from its pages.

#[path = "../../crates/chime-documents/tests/made/mod.rs"]
#[expect(dead_code, reason = "the readers' own tests write more kinds of documents")]
mod made;

use chime_core::texts::texts;
use chime_core::{EntityKind, MessageId};
use chime_sandbox::{ChatMemberStatus, NewMember, Post, PostContent};
use chime_world::World;
use rusqlite::Connection;

use crate::privacy::found_in_files;
use made::{docx, encrypted_pdf, paragraph, pdf};

const RULES: [&str; 3] = [
    "The boat club was founded in 1902 by seven rowers of the town.",
    "The key of the boat shed hangs behind the stove, next to the zqpaddle7xk.",
    "The dues are forty euros a year and are paid in January.",
];

/// Posts a document by a member.
fn post(w: &World, name: &str, file_name: &str, bytes: Vec<u8>) -> MessageId {
    w.telegram.put_file(file_name, bytes);
    let content = PostContent::Document { file_name: file_name.to_owned() };
    w.telegram.say(w.chat, Post::new(w.member(name), "", w.clock.now()).with(content))
}

async fn with_reader(w: &mut World) {
    w.read_documents_with(env!("CARGO_BIN_EXE_chime")).await;
}

/// Returns the number of documents whose text is stored.
fn kept(w: &World) -> i64 {
    let conn = Connection::open(w.database()).expect("the database");
    conn.query_row("SELECT count(*) FROM page", [], |raw| raw.get(0)).expect("a count")
}

#[tokio::test]
async fn a_question_about_a_document_gets_its_page_which_goes_with_the_message() {
    World::run(async |w| {
        with_reader(w).await;
        let posted = post(w, "ann", "rules.pdf", pdf("Rules", &RULES));
        w.say("cat", "my bicycle has a flat tyre again");
        w.model.script(["Behind the stove [source: d1p2].", "Forty euros [d1, p. 3]."]);
        let tag = w.reply("ben", posted, "@bot where does the key of the boat shed hang?");
        let answer = w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        let (page, beginning) = (prompt.find("[d1p2 · Rules] The key"), prompt.find("[d1p1 · Rules] The boat club"));
        assert!(page.is_some() && page < beginning, "{prompt}");
        assert!(answer.text.contains("Document: Rules, p. 2 (ann "), "{}", answer.text);
        let leads =
            |kind: &EntityKind| matches!(kind, EntityKind::TextLink { url } if url.ends_with(&format!("/{posted}")));
        assert!(answer.entities.iter().any(|entity| leads(&entity.kind)), "{:?}", answer.entities);

        // The file is not read again.
        w.telegram.put_file("rules.pdf", "other bytes");
        let tag = w.reply("ben", posted, "@bot and how much are the dues of a year?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.contains("Document: Rules, p. 3 (ann "), "{}", answer.text);
        w.settled().await;
        let marker = ["zqpaddle7xk".to_owned()];
        assert!(kept(w) == 1 && !found_in_files(w, &marker).is_empty());
        let forget = w.reply("ann", posted, "/forget@bot");
        w.answer_to(forget).await;
        w.settled().await;
        assert_eq!(kept(w), 0);
        assert_eq!(found_in_files(w, &marker), Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn a_document_is_found_by_its_name_and_in_the_focus() {
    World::run(async |w| {
        with_reader(w).await;
        post(w, "ann", "boat_rules.pdf", pdf("Rules", &RULES));
        for number in 0..30 {
            w.say("cat", &format!("the shed needs paint number {number} and a brush"));
        }
        w.settled().await;
        w.model.script(["Forty euros.", "A lot of it.", "Twelve chairs."]);
        let tag = w.say("ben", "@bot what does boat_rules.pdf say about the dues?");
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("[d1p3 · Rules] The dues are forty euros"), "{prompt}");
        let tag = w.say("ben", "@bot how much paint does the shed need?");
        w.answer_to(tag).await;
        let prompt = w.prompt(2).await;
        assert!(!prompt.contains("[d1p"), "{prompt}");
        let invitation = docx(&paragraph("Zwölf Stühle stehen am Freitag im Garten."));
        post(w, "dan", "invitation.docx", invitation);
        let tag = w.say("ben", "@bot what does it say?");
        w.answer_to(tag).await;
        let prompt = w.prompt(3).await;
        assert!(prompt.contains("[d2 · invitation.docx] Zwölf Stühle"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn an_answer_says_which_document_could_not_be_read() {
    World::run(async |w| {
        with_reader(w).await;
        let texts = &texts("eng").unread_file;
        for (name, bytes, told) in [
            ("secret.pdf", encrypted_pdf("7731"), &texts.encrypted),
            ("scan.pdf", pdf("Scan", &[""]), &texts.no_text),
            ("half.pdf", b"%PDF-1.7 and no more".to_vec(), &texts.damaged),
            ("game.apk", b"PK\x03\x04".to_vec(), &texts.unsupported),
        ] {
            let posted = post(w, "ann", name, bytes);
            w.model.script(["The ferry leaves at nine."]);
            let tag = w.reply("ben", posted, "@bot what does it say, and when does the ferry leave?");
            let answer = w.answer_to(tag).await;
            assert_eq!(answer.text, format!("The ferry leaves at nine.\n\n{}", told.replace("{file}", name)));
        }
        assert!(w.prompt(1).await.contains("could not be read"));
        assert_eq!(kept(w), 0);
    })
    .await;
}

#[tokio::test]
async fn a_document_is_saved_as_a_note_by_a_reply() {
    World::run(async |w| {
        with_reader(w).await;
        let posted = post(w, "ann", "rules.pdf", pdf("Rules", &RULES));
        let admin = NewMember::named("eve").standing(ChatMemberStatus::Administrator);
        let order = Post::new(w.telegram.add_member(w.chat, admin), "/note@bot", w.clock.now());
        let saved = w.telegram.say(w.chat, order.reply_to(posted));
        w.answer_to(saved).await;
        w.model.script(["Behind the stove."]);
        let tag = w.say("ben", "@bot where does the key of the boat shed hang?");
        w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("[n1 · ") && prompt.contains("hangs behind the stove"), "{prompt}");
    })
    .await;
}
