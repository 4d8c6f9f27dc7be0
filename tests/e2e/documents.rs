//! Documents: a question about one is answered from its pages.

#[path = "../../crates/chime-documents/tests/made/mod.rs"]
mod made;

use std::time::Duration;

use chime_core::texts::texts;
use chime_core::{EntityKind, MessageId};
use chime_sandbox::{ChatMemberStatus, NewMember, Post, PostContent};
use chime_testkit::Reply;
use chime_world::World;
use rusqlite::Connection;
use serde_json::json;

use crate::links::exported;
use crate::privacy::found_in_files;
use crate::site::Site;
use made::{docx, encrypted_pdf, odt, paragraph, pdf, zip};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const RULES: [&str; 3] = [
    "The boat club was founded in 1902 by seven rowers of the town.",
    "The key of the boat shed hangs behind the stove, next to the zqpaddle7xk.",
    "The dues are forty euros a year and are paid in January.",
];

/// Posts a document by a member.
fn post(w: &World, name: &str, file_name: &str, bytes: impl Into<Vec<u8>>) -> MessageId {
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
async fn a_document_is_in_the_export_and_goes_after_two_weeks_and_with_an_opt_out() {
    World::run(async |w| {
        with_reader(w).await;
        w.model.always("Behind the stove.");
        let marker = ["zqpaddle7xk".to_owned()];
        let posted = post(w, "ann", "rules.pdf", pdf("Rules", &RULES));
        let ask = async |w: &mut World| {
            let tag = w.reply("ben", posted, "@bot where does the key of the boat shed hang?");
            w.answer_to(tag).await;
            w.settled().await;
        };
        ask(w).await;
        let page = exported(w).await["pages"][0].clone();
        assert!(page["title"] == "Rules" && page["text"].as_str().is_some_and(|text| text.contains(&marker[0])));
        w.clock.advance(15 * DAY);
        w.quiet(DAY).await;
        assert_eq!(kept(w), 0, "it is not kept longer");
        ask(w).await;
        assert_eq!(kept(w), 1);
        let out = w.say("ann", "/optout");
        w.answer_to(out).await;
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
        for (name, bytes, shown) in [
            ("secret.pdf", encrypted_pdf("7731"), &texts.encrypted),
            ("scan.pdf", pdf("Scan", &[""]), &texts.no_text),
            ("half.pdf", b"%PDF-1.7 and no more".to_vec(), &texts.damaged),
            ("game.apk", b"PK\x03\x04".to_vec(), &texts.unsupported),
        ] {
            let posted = post(w, "ann", name, bytes);
            w.model.script(["The ferry leaves at nine."]);
            let tag = w.reply("ben", posted, "@bot what does it say, and when does the ferry leave?");
            let answer = w.answer_to(tag).await;
            assert_eq!(answer.text, format!("The ferry leaves at nine.\n\n{}", shown.replace("{file}", name)));
        }
        assert!(w.prompt(1).await.contains("could not be read"));
        assert_eq!(kept(w), 0);
    })
    .await;
}

#[tokio::test]
async fn a_linked_pdf_is_read_as_a_document() {
    World::run(async |w| {
        let site = Site::start(|path| match path {
            "/rules" => ("application/pdf", pdf("Rules", &RULES)),
            "/scan" => ("application/octet-stream", pdf("Scan", &[""])),
            _ => ("application/zip", b"PK\x03\x04".to_vec()),
        });
        w.add_site("volcano.example", site.at);
        with_reader(w).await;
        w.model.script(["Behind the stove [source: d1p2].", "No idea.", "No idea."]);
        let posted = w.say("ann", &site.address("/rules"));
        let tag = w.reply("ben", posted, "@bot where does the key of the boat shed hang?");
        let answer = w.answer_to(tag).await;
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("[d1p2 · Rules] The key"), "{prompt}");
        assert!(answer.text.contains("Document: Rules, p. 2 (ann "), "{}", answer.text);
        let texts = texts("eng");
        for (path, shown) in [("/scan", &texts.unread_file.no_text), ("/game", &texts.unread.file)] {
            let address = site.address(path);
            let posted = w.say("ann", &address);
            let tag = w.reply("ben", posted, "@bot what does it say?");
            let answer = w.answer_to(tag).await.text;
            assert!(answer.ends_with(&shown.replace("{file}", &address).replace("{page}", &address)), "{answer}");
        }
        assert_eq!(kept(w), 1);
    })
    .await;
}

#[tokio::test]
async fn a_document_is_saved_as_a_note_by_a_reply() {
    World::run(async |w| {
        with_reader(w).await;
        let posted = post(w, "ann", "rules.pdf", pdf("Rules", &RULES));
        let admin = NewMember::named("eve").status(ChatMemberStatus::Administrator);
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

const ENGLISH: [&str; 9] = [
    "The boat club was founded in 1902 by seven rowers of the town, who met in the back room of the bakery.",
    "Members wear blue caps at the regatta, and the youngest of each crew carries the flag to the jetty.",
    "The dues are forty euros a year, paid to the treasurer in January; students pay half of that.",
    "Dogs may come aboard on a lead, but must not sleep in the cabins or on the cushions.",
    "In winter the boats lie upside down in the northern shed, covered with the grey tarpaulins.",
    "The key of the boat shed hangs behind the stove in the kitchen, next to the calendar.",
    "Whoever breaks an oar tells the warden the same evening and writes it into the red book.",
    "The summer party is on the second Saturday of July, with grilled herring and a brass band.",
    "The general meeting elects the board every second year, by raised hands unless somebody objects.",
];
const GERMAN: [&str; 8] = [
    "Der Mietvertrag beginnt am ersten April und läuft auf unbestimmte Zeit.",
    "Die Küche ist mit Herd, Kühlschrank und Spülmaschine ausgestattet.",
    "Im Treppenhaus dürfen keine Fahrräder und Kinderwagen abgestellt werden.",
    "Musikinstrumente dürfen täglich zwei Stunden gespielt werden, nicht nach acht Uhr abends.",
    "Der Keller Nummer sieben gehört zur Wohnung und ist trocken zu halten.",
    "Die Kündigungsfrist beträgt drei Monate zum Ende eines Kalendermonats.",
    "Die Kaution beträgt drei Monatsmieten und wird auf ein Sparkonto gelegt.",
    "Haustiere brauchen die schriftliche Zustimmung des Vermieters.",
];
const SPANISH: [&str; 8] = [
    "La asociación nació en 1987 en el barrio del puerto.",
    "Las reuniones son el primer martes de cada mes en la biblioteca.",
    "La cuota anual es de treinta euros y se paga en marzo.",
    "El huerto se riega por la noche para no gastar agua.",
    "Las herramientas se guardan en el armario verde del garaje.",
    "El perro del vecino no puede entrar en el gallinero.",
    "La fiesta de la vendimia se celebra el último domingo de septiembre.",
    "El presidente se elige cada cuatro años por mayoría simple.",
];
const RUSSIAN: [&str; 8] = [
    "Договор аренды дачи заключён на летний сезон.",
    "Баню топят по субботам, дрова лежат под навесом.",
    "Вода из колодца пригодна для питья после кипячения.",
    "Ключ от сарая висит за печкой на кухне.",
    "Оплата вносится до пятого числа каждого месяца.",
    "Собаку нельзя пускать в теплицу к помидорам.",
    "Мусор вывозят по средам от ворот посёлка.",
    "Гости могут оставаться не дольше трёх ночей подряд.",
];

/// A document with a question about it, and the passage that answers it with its page.
struct DocumentQuestion {
    name: &'static str,
    bytes: Vec<u8>,
    question: &'static str,
    page: Option<usize>,
    passage: &'static str,
}

fn in_pdf(name: &'static str, pages: &[&'static str], question: &'static str, page: usize) -> DocumentQuestion {
    DocumentQuestion { name, bytes: pdf(name, pages), question, page: Some(page), passage: pages[page - 1] }
}

fn in_docx(name: &'static str, paragraphs: &[&'static str], question: &'static str, place: usize) -> DocumentQuestion {
    let body: String = paragraphs.iter().map(|text| paragraph(text)).collect();
    DocumentQuestion { name, bytes: docx(&body), question, page: None, passage: paragraphs[place - 1] }
}

fn in_odt(name: &'static str, paragraphs: &[&'static str], question: &'static str, place: usize) -> DocumentQuestion {
    let body: String = paragraphs.iter().map(|text| format!("<text:p>{text}</text:p>")).collect();
    DocumentQuestion { name, bytes: odt(&body, "<m/>"), question, page: None, passage: paragraphs[place - 1] }
}

fn in_text(name: &'static str, text: &str, question: &'static str, passage: &'static str) -> DocumentQuestion {
    DocumentQuestion { name, bytes: text.as_bytes().to_vec(), question, page: None, passage }
}

fn asked() -> Vec<DocumentQuestion> {
    let rows: String = (1..200).map(|n| format!("Member {n},{n}@example.org,{}\n", 1990 + n % 30)).collect();
    let members = format!("Name,Mail,Joined\n{rows}Zoë Karu,zoe@example.org,2003\n");
    let long = ENGLISH.join("\n\n").repeat(20);
    vec![
        in_pdf("rules.pdf", &ENGLISH, "where does the key of the boat shed hang?", 6),
        in_pdf("dues.pdf", &ENGLISH, "how much are the dues of a year?", 3),
        in_pdf("party.pdf", &ENGLISH, "when is the summer party?", 8),
        in_pdf("oar.pdf", &ENGLISH, "what does somebody do who breaks an oar?", 7),
        in_pdf("board.pdf", &ENGLISH, "how is the board elected?", 9),
        in_pdf("winter.pdf", &ENGLISH, "where do the boats lie in winter?", 5),
        in_pdf("Mietvertrag.pdf", &GERMAN, "wie lang ist die Kündigungsfrist?", 6),
        in_pdf("Kaution.pdf", &GERMAN, "wie hoch ist die Kaution?", 7),
        in_pdf("Hausordnung.pdf", &GERMAN, "sind Haustiere erlaubt, und wer stimmt zu?", 8),
        in_pdf("estatutos.pdf", &SPANISH, "¿cuándo es la fiesta de la vendimia?", 7),
        in_pdf("presidente.pdf", &SPANISH, "¿cómo se elige el presidente?", 8),
        in_pdf("договор.pdf", &RUSSIAN, "когда вывозят мусор?", 7),
        in_pdf("гости.pdf", &RUSSIAN, "как долго могут оставаться гости?", 8),
        in_docx("caps.docx", &ENGLISH, "what do members wear at the regatta?", 2),
        in_docx("dogs.docx", &ENGLISH, "where must dogs not sleep?", 4),
        in_docx("Keller.docx", &GERMAN, "welcher Keller gehört zur Wohnung?", 5),
        in_docx("herramientas.docx", &SPANISH, "¿dónde se guardan las herramientas?", 5),
        in_docx("баня.docx", &RUSSIAN, "когда топят баню?", 2),
        in_odt("founded.odt", &ENGLISH, "who founded the boat club?", 1),
        in_odt("Musik.odt", &GERMAN, "wie lange darf man Musikinstrumente spielen?", 4),
        in_odt("оплата.odt", &RUSSIAN, "до какого числа вносится оплата?", 5),
        in_text(
            "list.csv",
            &members,
            "in which year did Zoë Karu join?",
            "Name: Zoë Karu; Mail: zoe@example.org; Joined: 2003",
        ),
        in_text(
            "prices.tsv",
            "Boat\tPrice\nKayak\t12 euros\nGig\t90 euros",
            "what does the gig cost?",
            "Price: 90 euros",
        ),
        in_text("notes.md", "# Trip\n\n- Tent: Ana\n- Stove: Ben", "who brings the stove on the trip?", "Stove: Ben"),
        in_text(
            "long.txt",
            &format!("{long}\n\nThe spare sail is in the loft."),
            "where is the spare sail?",
            "in the loft",
        ),
        in_text("config.json", r#"{"server":{"port":8443,"name":"heron"}}"#, "which port does the server use?", "8443"),
        in_text(
            "main.rs",
            "/// Opens the lock.\nfn open(code: u32) { lock(7731) }",
            "which code is in the file?",
            "7731",
        ),
        in_text(
            "talk.srt",
            "1\n00:01:05,000 --> 00:01:09,000\nThe bridge opens in May.",
            "when does the bridge open?",
            "in May",
        ),
        in_text(
            "film.vtt",
            "WEBVTT\n\n02:10.000 --> 02:12.000\nMeet me at the mill.",
            "where does she meet him?",
            "at the mill",
        ),
        in_text("page.html", "<h1>Hours</h1><p>Open from six to nine.</p>", "when is it open?", "from six to nine"),
    ]
}

#[tokio::test]
async fn thirty_documents_are_asked_and_the_right_page_is_in_the_prompt() {
    World::run(async |w| {
        with_reader(w).await;
        w.model.always("Noted.");
        let mut wrong = Vec::new();
        let asked = asked();
        assert_eq!(asked.len(), 30);
        for (number, DocumentQuestion { name, bytes, question, page, passage }) in (1..).zip(asked) {
            let posted = post(w, "ann", name, bytes);
            let tag = w.reply("ben", posted, &format!("@bot {question}"));
            w.answer_to(tag).await;
            let prompt = w.prompt(number).await;
            let id = page.map_or_else(|| format!("[d{number} · "), |page| format!("[d{number}p{page} · "));
            if !prompt.split("\n[").any(|piece| piece.starts_with(&id[1..]) && piece.contains(passage)) {
                wrong.push(format!("{name}: no {id} {passage}"));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn eight_hostile_documents_are_told_and_the_rest_is_answered() {
    World::run(async |w| {
        with_reader(w).await;
        w.model.always("The ferry leaves at nine.");
        let bomb = docx(&" ".repeat(60_000_000));
        let circle = made::pdf_of(
            &[
                "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
                "<</Type/Pages/Count 9/Kids[2 0 R 2 0 R]/Parent 2 0 R>>".to_owned(),
            ],
            "",
        );
        for (name, bytes) in [
            ("bomb.docx", bomb),
            ("circle.pdf", circle),
            ("locked.pdf", encrypted_pdf("7731")),
            ("cut.pdf", b"%PDF-1.7 and no more".to_vec()),
            ("no-entries.docx", zip(&[("readme", "nothing")])),
            ("cut.docx", b"PK\x03\x04 and no more".to_vec()),
            ("scan.pdf", pdf("Scan", &[""])),
            ("empty.txt", Vec::new()),
        ] {
            let posted = post(w, "ann", name, bytes);
            let tag = w.reply("ben", posted, "@bot what does it say, and when does the ferry leave?");
            let answer = w.answer_to(tag).await;
            let shown = answer.text.strip_prefix("The ferry leaves at nine.\n\n");
            assert!(shown.is_some_and(|shown| shown.contains(name)), "{name}: {}", answer.text);
        }
        assert_eq!(kept(w), 0);
    })
    .await;
}

#[tokio::test]
async fn a_long_document_is_cut_and_the_answer_says_so() {
    World::run(async |w| {
        with_reader(w).await;
        w.model.script(["Noted."]);
        let posted = post(w, "ann", "book.txt", "A long sentence of a long book. ".repeat(70_000));
        let tag = w.reply("ben", posted, "@bot what does it say?");
        let answer = w.answer_to(tag).await;
        let shown = answer.text.strip_prefix("Noted.\n\n").expect("the answer first");
        assert!(shown.contains("book.txt"), "{shown}");
    })
    .await;
}

#[tokio::test]
async fn pages_without_text_are_told_to_the_model_and_below_the_answer() {
    World::run(async |w| {
        with_reader(w).await;
        w.model.script(["Forty euros [source: d1p3]."]);
        let posted = post(w, "ann", "rules.pdf", pdf("Rules", &["", RULES[0], RULES[2], ""]));
        let tag = w.reply("ben", posted, "@bot how much are the dues?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.contains("rules.pdf: 1, 4."), "{}", answer.text);
        let prompt = w.prompt(1).await;
        assert!(prompt.contains("(No text could be read on these pages of rules.pdf: 1, 4.)"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn an_old_document_and_an_album_are_read() {
    World::run(async |w| {
        with_reader(w).await;
        let posted = post(w, "ann", "rules.pdf", pdf("Rules", &RULES));
        w.settled().await;
        w.clock.advance(Duration::from_secs(20 * 24 * 3600));
        w.quiet(Duration::from_secs(24 * 3600)).await;
        assert_eq!(w.inbox().await.0, 0, "received updates are gone");
        w.model.script(["Forty euros.", "Twelve chairs."]);
        let tag = w.reply("ben", posted, "@bot how much are the dues?");
        w.answer_to(tag).await;
        assert!(w.prompt(1).await.contains("[d1p3 · Rules] The dues"));
        let mut first = None;
        for (name, text) in [("menu.docx", "Soup and bread"), ("seats.docx", "Twelve chairs in the garden")] {
            w.telegram.put_file(name, docx(&paragraph(text)));
            let content = PostContent::Document { file_name: name.to_owned() };
            let said = Post::new(w.member("ann"), "", w.clock.now()).with(content).in_album("party");
            first = first.or(Some(w.telegram.say(w.chat, said)));
        }
        let tag = w.reply("ben", first.expect("an album"), "@bot how many chairs do we need?");
        w.answer_to(tag).await;
        let prompt = w.prompt(2).await;
        let (menu, seats) = (prompt.find("· menu.docx] Soup"), prompt.find("· seats.docx] Twelve"));
        assert!(menu.is_some() && menu < seats, "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_model_opens_a_file_by_the_number_of_its_message() {
    World::with(&[("EMBEDDING", "off")], async |w| {
        with_reader(w).await;
        w.telegram.put_file("packing.txt", "Two litres of water each.\n\nThe key box opens with 4471.");
        let content = PostContent::Document { file_name: "packing.txt".to_owned() };
        let said = Post::new(w.member("ann"), "packing list, print it", w.clock.now()).with(content);
        let posted = w.telegram.say(w.chat, said);
        for number in 0..210 {
            w.say("cat", &format!("the shed needs paint number {number} and a brush"));
        }
        w.settled().await;
        let id = format!("m{}", w.stored(w.chat, posted).await.expect("it is stored").seq);
        w.model.script([
            Reply::Tools(vec![("search_messages", json!({"query": "packing"}))]),
            Reply::Tools(vec![("open_link_or_file", json!({"id": id}))]),
            Reply::text("It opens with 4471 [source: d1]."),
        ]);
        let tag = w.say("ben", "@bot by which code can we get into the cottage tomorrow night?");
        let answer = w.answer_to(tag).await;
        assert!(answer.text.contains("Document: packing.txt (ann "), "{}", answer.text);
        let requests: Vec<String> = w.model.requests().iter().map(ToString::to_string).collect();
        // It is offered as soon as the model sees a message with a file.
        assert!(!requests[0].contains("open_link_or_file\"") && requests[1].contains("open_link_or_file"));
        assert!(!requests[1].contains("4471") && requests[2].contains("opens with 4471"), "{}", requests[2]);

        // Nobody reads the file of a member who opted out.
        let out = w.say("ann", "/optout");
        w.answer_to(out).await;
        w.settled().await;
        post(w, "dan", "menu.txt", "Soup and bread.");
        w.model.script([Reply::Tools(vec![("open_link_or_file", json!({"id": id}))]), Reply::text("I do not know.")]);
        let tag = w.say("ben", "@bot by which code can we get into the cottage at the weekend?");
        w.answer_to(tag).await;
        assert!(!w.model.requests().last().expect("a request").to_string().contains("opens with 4471"));
    })
    .await;
}

#[tokio::test]
async fn a_question_reads_the_document_that_it_means() {
    World::run(async |w| {
        with_reader(w).await;
        w.model.always("Noted.");
        let talk = |w: &World, count: usize| {
            for number in 0..count {
                w.say("cat", &format!("the shed needs paint number {number} and a brush"));
            }
        };
        let budget = |food: u32| docx(&paragraph(&format!("Food per person costs {food} euros.")));
        for (file, bytes, between, question, meant) in [
            (
                "expenses.csv",
                b"What,Who\nlight bulbs,Ben".to_vec(),
                0,
                "who paid for the light bulbs and how much, see the csv",
                "Who: Ben",
            ),
            ("budget.docx", budget(30), 0, "how much is the food per person in the budget?", "costs 30 euros"),
            ("budget_v2.docx", budget(34), 1, "and how much does the budget have for food by now?", "costs 34 euros"),
            (
                "packing.txt",
                b"Two litres of water each.".to_vec(),
                40,
                "what does the txt say about the water that we need?",
                "Two litres",
            ),
            (
                "einkauf.md",
                "Die Gasflasche kostete 91 Euro.".into(),
                1,
                "wie viel hat die Gasflasche laut der Liste gekostet?",
                "91 Euro",
            ),
            (
                "lease.pdf",
                pdf("Lease", &["No pets, but goldfish."]),
                40,
                "what does the lease pdf say about pets and guests?",
                "goldfish",
            ),
        ] {
            post(w, "ann", file, bytes);
            talk(w, between);
            w.settled().await;
            let tag = w.say("ben", &format!("@bot {question}"));
            w.answer_to(tag).await;
            let prompt = w.prompt(w.model.requests().len()).await;
            assert!(prompt.contains(meant), "{question}: {prompt}");
            // Of versions of a document, both are read.
            assert_eq!(prompt.contains("costs 30 euros"), file.contains("budget"), "{question}: {prompt}");
        }
        // The newest file that is shown is not read in place of the named one.
        post(w, "dan", "menu.txt", "Soup and bread.");
        let tag = w.say("ben", "@bot who posted the lease pdf, and when was that?");
        w.answer_to(tag).await;
        let prompt = w.prompt(w.model.requests().len()).await;
        assert!(prompt.contains("goldfish") && !prompt.contains("Soup and bread"), "{prompt}");
    })
    .await;
}

#[tokio::test]
async fn a_text_that_was_read_once_is_found_by_its_words_until_it_is_forgotten() {
    World::with(&[("EMBEDDING", "off")], async |w| {
        with_reader(w).await;
        let posted = post(
            w,
            "ann",
            "lease.pdf",
            pdf("Lease", &["The rent is 900 euros.", "Quiet hours in the flat begin at ten."]),
        );
        w.model.always("Noted.");
        let tag = w.reply("ben", posted, "@bot how much is the rent?");
        w.answer_to(tag).await;
        for number in 0..210 {
            w.say("cat", &format!("the shed needs paint number {number} and a brush"));
        }
        w.settled().await;
        w.model.script(["At ten [source: d1p2]."]);
        let tag = w.say("dan", "@bot when do the quiet hours begin?");
        let answer = w.answer_to(tag).await;
        assert!(w.prompt(2).await.contains("[d1p2 · Lease] Quiet hours in the flat"), "{}", w.prompt(2).await);
        assert!(answer.text.contains("Document: Lease, p. 2 (ann "), "{}", answer.text);

        let search = |query: &str| Reply::Tools(vec![("search_messages", json!({"query": query}))]);
        w.model.script([search("quiet hours"), search("zeppelin"), Reply::text("At ten [source: d1p2].")]);
        let tag = w.say("dan", "@bot from which time on must nobody make noise?");
        w.answer_to(tag).await;
        let requests: Vec<String> = w.model.requests().iter().map(ToString::to_string).collect();
        let results: Vec<bool> = requests.iter().rev().take(2).rev().map(|it| it.contains("begin at ten")).collect();
        assert_eq!(results, [true, true]);
        // A search that finds nothing says that files are not searched, and names them.
        assert!(
            requests.last().expect("a request").contains("were not searched")
                && requests.last().expect("a request").contains("lease.pdf")
        );

        let forget = w.reply("ann", posted, "/forget@bot");
        w.answer_to(forget).await;
        w.settled().await;
        let tag = w.say("eve", "@bot when do the quiet hours begin then?");
        w.answer_to(tag).await;
        assert!(!w.model.requests().last().expect("a request").to_string().contains("in the flat"));
    })
    .await;
}
