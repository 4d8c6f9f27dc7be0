//! Documents that try to crash, exhaust or hold up their reader, read by the program as the daemon does it.

#![expect(clippy::expect_used, reason = "a reader that cannot be started fails its test")]

#[path = "../crates/chime-documents/tests/made/mod.rs"]
#[expect(dead_code, reason = "the readers' own tests write more kinds of documents")]
mod made;

use chime_answer::documents::DocumentReader;
use chime_documents::{Document, DocumentError, ReadRequest};
use chime_runtime::clock::Clock;

use made::{docx, paragraph, pdf, pdf_of, stream};

const CATALOG: &str = "<</Type/Catalog/Pages 2 0 R>>";
const PAGES: &str = "<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 595 842]>>";
/// A page that shows the form `X`, object 5.
const PAGE: &str = "<</Type/Page/Parent 2 0 R/Resources<</XObject<</X 5 0 R>>>>/Contents 4 0 R>>";

#[tokio::test]
async fn documents_are_read_by_a_process_of_their_own() {
    let document = read("minutes.pdf", pdf("Minutes", &["First", "The shed is green."])).await.expect("a PDF");
    assert_eq!(document.title, "Minutes");
    assert_eq!((document.pieces[1].page, document.pieces[1].text.as_str()), (Some(2), "The shed is green."));
    let document = read("note.docx", docx(&paragraph("Zwölf Stühle"))).await.expect("a DOCX");
    assert_eq!(document.pieces[0].text, "Zwölf Stühle");
}

#[tokio::test]
async fn hostile_documents_end_with_a_reason() {
    for (name, bytes, expected) in hostile() {
        let result = read(name, bytes).await.map(|document| document.pieces.len());
        assert!(result.is_err_and(|error| expected.contains(&error)), "{name}: {result:?}");
    }
}

fn hostile() -> Vec<(&'static str, Vec<u8>, &'static [DocumentError])> {
    let file = |objects: &[&str], trailer| {
        pdf_of(&objects.iter().map(|object| (*object).to_owned()).collect::<Vec<_>>(), trailer)
    };
    let draws_itself = stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>", "/X Do");
    let deep = format!("{}{}", "[".repeat(2_000_000), "]".repeat(2_000_000));
    let show = stream("", "/X Do");
    let chain: Vec<String> = (0..200_000).map(|at| format!("{} 0 R", at + 2)).collect();
    vec![
        (
            "pages-in-a-circle.pdf",
            file(&[CATALOG, "<</Type/Pages/Count 9/Kids[2 0 R 2 0 R]/Parent 2 0 R>>"], ""),
            &UNREADABLE,
        ),
        ("draws-itself.pdf", file(&[CATALOG, PAGES, PAGE, &show, &draws_itself], ""), &UNREADABLE),
        ("deep.pdf", file(&[CATALOG, PAGES, PAGE, &show, &deep], ""), &UNREADABLE),
        ("endless-chain.pdf", pdf_of(&chain, ""), &UNREADABLE),
        ("earlier-table-in-a-circle.pdf", file(&[CATALOG, PAGES], "/Prev 9"), &UNREADABLE),
        (
            "length-of-itself.pdf",
            file(&[CATALOG, PAGES, PAGE, "<</Length 4 0 R>>\nstream\nBT ET\nendstream"], ""),
            &UNREADABLE,
        ),
        ("inflates.docx", docx(&" ".repeat(60_000_000)), &[DocumentError::TooLarge]),
    ]
}

/// A reader may notice what is wrong, run out of stack, memory or time, or find no text.
const UNREADABLE: [DocumentError; 4] =
    [DocumentError::Damaged, DocumentError::TooLarge, DocumentError::TooSlow, DocumentError::NoText];

async fn read(name: &str, bytes: Vec<u8>) -> Result<Document, DocumentError> {
    let reader = DocumentReader::new(env!("CARGO_BIN_EXE_chime").into(), Clock::system());
    let request = ReadRequest { file_name: name.to_owned(), mime_type: None };
    reader.read(bytes, &request).await.expect("start the program")
}
